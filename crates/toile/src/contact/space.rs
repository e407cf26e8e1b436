//! Everything an island can meet, in one numbering: its particles first, then the vertices of the bodies.

use super::crossing::{self, Boxes};
use crate::collide::proximity::{edge_edge, vertex_face};
use crate::collide::shell::NONE;
use crate::collide::{Contact, Detector, Kind, Motion, Query, Role, Settings, Shell};
use crate::math::DVec3;
use std::sync::Arc;

/// A surface and what contact must know of it.
#[derive(Debug)]
pub struct Shape {
    surface: Shell,
    /// Where the neighbours of each vertex start.
    start: Vec<u32>,
    neighbours: Vec<u32>,
    /// The vertices across each edge; any number of faces may share one.
    across_start: Vec<u32>,
    across: Vec<u32>,
}

impl Shape {
    /// The shape of a sound mesh.
    pub fn new(vertices: usize, faces: Vec<[u32; 3]>, role: Role) -> Option<Shape> {
        let surface = Shell::new(vertices, faces, role).ok()?;
        let mut around: Vec<Vec<u32>> = vec![Vec::new(); vertices];
        for [a, b] in surface.edges() {
            around[*a as usize].push(*b);
            around[*b as usize].push(*a);
        }
        let mut opposite: Vec<Vec<u32>> = vec![Vec::new(); surface.edges().len()];
        for (face, sides) in surface.faces().iter().zip(surface.face_edges()) {
            for k in 0..3 {
                opposite[sides[k] as usize].push(face[(k + 2) % 3]);
            }
        }
        let (start, neighbours) = flatten(around);
        let (across_start, across) = flatten(opposite);
        Some(Shape { surface, start, neighbours, across_start, across })
    }

    /// The surface.
    pub fn surface(&self) -> &Shell {
        &self.surface
    }

    /// Vertices that an edge joins to one.
    pub(super) fn neighbours(&self, vertex: usize) -> &[u32] {
        &self.neighbours[self.start[vertex] as usize..self.start[vertex + 1] as usize]
    }

    /// Vertices that an edge has a face with.
    pub(super) fn across(&self, ends: [u32; 2]) -> &[u32] {
        let ends = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        match self.surface.edges().binary_search(&ends) {
            Ok(e) => &self.across[self.across_start[e] as usize..self.across_start[e + 1] as usize],
            Err(_) => &[],
        }
    }
}

fn flatten(lists: Vec<Vec<u32>>) -> (Vec<u32>, Vec<u32>) {
    let mut start = vec![0];
    for list in &lists {
        start.push(start[start.len() - 1] + list.len() as u32);
    }
    (start, lists.concat())
}

/// One object of a space.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its number in the world: cloths first, then bodies.
    pub number: u32,
    /// What its vertices are called in the world; empty if they are called 0, 1, 2…
    pub names: Vec<u32>,
    /// Whether it is a body.
    pub is_body: bool,
    /// Whether it keeps its shape, nearly or wholly.
    pub stiff: bool,
    /// Thickness [m].
    pub thickness: f64,
    /// Its first point in the space.
    pub first: usize,
    /// Its shape.
    pub shape: Arc<Shape>,
}

/// What an island can meet. Points are its particles, then the vertices of bodies.
pub struct Space {
    detector: Detector,
    objects: Vec<Object>,
    points: usize,
    particles: usize,
    found: Vec<Contact>,
    /// For each point the sides of tangles it is on, as twice the tangle's number and the side; empty without tangles.
    marks: Vec<Vec<u32>>,
}

/// Where points may go: each its way, give or take its reach.
#[derive(Clone, Debug, Default)]
pub struct Range {
    /// Way of each point [m].
    pub way: Vec<DVec3>,
    /// Reach of each point [m].
    pub reach: Vec<f64>,
}

/// Two features that may touch.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The points concerned: those of the first feature, then those of the second.
    pub points: [u32; 4],
    /// Points of the first feature: 1 or 2.
    pub first: u32,
    /// Objects of the two features.
    pub objects: [u32; 2],
    /// Signed weights: Σ w x points from the second feature to the first.
    pub weights: [f64; 4],
    /// Unit vector from the second to the first; zero if they touch.
    pub normal: DVec3,
    /// Distance [m].
    pub distance: f64,
}

/// Sine of the angle at an edge up to which it lies flat in its surface.
const FLAT: f64 = 0.02;

/// Weights below this are a corner, not the inside of an edge or a face.
pub const CORNER: f64 = 1e-7;

/// Unit vector from the second feature of a pair to the first; zero if they touch.
fn direction(points: [u32; 4], weights: [f64; 4], x: &[DVec3]) -> DVec3 {
    // Differences of the vertices have more digits than the sum of weighted places.
    let origin = x[points[0] as usize];
    let gap = (0..4).fold(DVec3::ZERO, |sum, k| sum + (x[points[k] as usize] - origin) * weights[k]);
    let length = gap.length();
    if length > 0.0 { gap / length } else { DVec3::ZERO }
}

impl Space {
    /// A space of objects placed at `x`, particles of cloths first.
    pub fn new(objects: Vec<Object>, x: &[DVec3]) -> Space {
        let mut detector = Detector::new(Settings::default());
        let mut space_objects = Vec::with_capacity(objects.len());
        let (mut points, mut particles) = (0, 0);
        for mut object in objects {
            let len = object.shape.surface.vertices();
            object.first = points;
            // The lengths agree by construction, which is all that can be refused.
            let added = detector.add(object.shape.surface.clone(), &x[points..points + len]);
            debug_assert!(added.is_ok());
            points += len;
            if !object.is_body {
                particles = points;
            }
            space_objects.push(object);
        }
        Space { detector, objects: space_objects, points, particles, found: Vec::new(), marks: Vec::new() }
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.points
    }

    /// Number of particles: the points that are cloth.
    pub fn particles(&self) -> usize {
        self.particles
    }

    /// Its objects.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// All pairs at `x` that may come within `epsilon` [m], sorted: those no farther apart than that, the reaches of two points
    /// and the difference of their ways, for some point on either side.
    pub fn pairs(
        &mut self,
        x: &[DVec3],
        range: &Range,
        epsilon: f64,
        vertices_only: bool,
        out: &mut Vec<Pair>,
    ) {
        let motions: Vec<Motion> = self
            .objects
            .iter()
            .map(|o| {
                let own = o.first..o.first + o.shape.surface.vertices();
                let (reach, way) = (Some(&range.reach[own.clone()]), Some(&range.way[own.clone()]));
                Motion { x: &x[own], v: None, reach, way }
            })
            .collect();
        let features = match vertices_only {
            true => crate::collide::Features::VerticesOnly,
            false => crate::collide::Features::All,
        };
        let query = Query { epsilon, features, ..Query::default() };
        out.clear();
        if self.detector.detect(&motions, &query, &mut self.found).is_err() {
            debug_assert!(false, "lists agree by construction");
            return;
        }
        let objects = &self.objects;
        out.extend(self.found.iter().map(|c| {
            let first = if c.kind == Kind::EdgeEdge { 2 } else { 1 };
            let mut points = [0; 4];
            for k in 0..4 {
                let object = &objects[c.objects[usize::from(k >= first)] as usize];
                points[k] = object.first as u32 + c.vertices[k];
            }
            let normal = direction(points, c.weights, x);
            Pair {
                points,
                first: first as u32,
                objects: c.objects,
                weights: c.weights,
                normal,
                distance: c.distance,
            }
        }));
        if !self.marks.is_empty() {
            out.retain(|pair| !self.is_exempt(pair));
        }
    }

    /// From now on, pairs with a point on either side of one of these tangles are left out.
    pub fn exempt<'a>(&mut self, tangles: impl Iterator<Item = &'a [Vec<u32>; 2]>) {
        self.marks.clear();
        for (number, sides) in tangles.enumerate() {
            self.marks.resize(self.points, Vec::new());
            for (side, points) in sides.iter().enumerate() {
                points.iter().for_each(|p| self.marks[*p as usize].push((2 * number + side) as u32));
            }
        }
    }

    /// Whether the two features of a pair have points on both sides of a tangle.
    fn is_exempt(&self, pair: &Pair) -> bool {
        let (first, second) = pair.points.split_at(pair.first as usize);
        let mut marks = first.iter().flat_map(|p| &self.marks[*p as usize]);
        marks.any(|mark| second.iter().any(|q| self.marks[*q as usize].contains(&(mark ^ 1))))
    }

    /// Brings the closest points of a pair up to date with points at `x`.
    pub fn measure(&self, x: &[DVec3], pair: &mut Pair) {
        let [a, b, c, d] = pair.points.map(|p| x[p as usize]);
        let closest = match pair.first {
            1 => vertex_face(a, [b, c, d]),
            _ => edge_edge([a, b], [c, d]),
        };
        let s = closest.weights;
        pair.weights = match pair.first {
            1 => [s[0], -s[1], -s[2], -s[3]],
            _ => [s[0], s[1], -s[2], -s[3]],
        };
        pair.distance = closest.squared.sqrt();
        pair.normal = direction(pair.points, pair.weights, x);
    }

    /// Whether the direction of a pair lies in the normal cones of both features: contacts across the inside of a
    /// surface would hold it back sideways. `slack` is the sine by which it may be beside them.
    pub fn faces_out(&self, pair: &Pair, slack: f64, x: &[DVec3]) -> bool {
        let split = pair.first as usize;
        if self.adjoin(pair) {
            // The two sides of a sharp fold: they lean against each other beside the edge they share.
            return true;
        }
        let in_cone = |object: u32, range: std::ops::Range<usize>, away: DVec3| {
            self.in_cone(object, (&pair.points[range.clone()], &pair.weights[range]), (away, slack), x)
        };
        // A vertex above the inside of a face needs no cone of its own.
        in_cone(pair.objects[1], split..4, pair.normal)
            && (split == 1 || in_cone(pair.objects[0], 0..split, -pair.normal))
    }

    /// The direction of a pair, made that of the surface where an edge of a stiff thing lies flat in it: the diagonals of a
    /// cube's faces are edges of its mesh. Two edges that cross have a direction across both, which leans as the other one does,
    /// and would push a thing along a face that can only carry it.
    pub fn upright(&self, pair: &Pair, normal: DVec3, x: &[DVec3]) -> DVec3 {
        let split = pair.first as usize;
        [(0, 0..split), (1, split..4)].into_iter().fold(normal, |normal, (side, range)| {
            let object = &self.objects[pair.objects[side] as usize];
            let mut on = range.filter(|k| pair.weights[*k].abs() > CORNER).map(|k| pair.points[k]);
            let ends = [on.next(), on.next(), on.next()];
            let (true, [Some(a), Some(b), None]) = (object.stiff, ends) else { return normal };
            let local = |p: u32| p - object.first as u32;
            let (at, end) = (x[a as usize], x[b as usize]);
            let along = (end - at).normalize_or_zero();
            let inward = |v: &u32| {
                let e = (x[object.first + *v as usize] - at).reject_from_normalized(along);
                e.normalize_or_zero()
            };
            let [p, q] = object.shape.across([local(a), local(b)]) else { return normal };
            let (p, q) = (inward(p), inward(q));
            match (p + q).length() < FLAT {
                true => normal.reject_from_normalized(p).normalize_or(normal),
                false => normal,
            }
        })
    }

    /// Whether an edge joins the two features: they are beside each other in the same cloth.
    fn adjoin(&self, pair: &Pair) -> bool {
        let [a, b] = pair.objects;
        let object = &self.objects[a as usize];
        let split = pair.first as usize;
        a == b
            && pair.points[..split].iter().any(|p| {
                let near = object.shape.neighbours(*p as usize - object.first);
                pair.points[split..].iter().any(|q| near.contains(&(*q - object.first as u32)))
            })
    }

    /// Whether `away`, pointing away from a feature, leaves all that surrounds it behind.
    fn in_cone(
        &self,
        object: u32,
        (points, weights): (&[u32], &[f64]),
        (away, slack): (DVec3, f64),
        x: &[DVec3],
    ) -> bool {
        let object = &self.objects[object as usize];
        let local = |p: u32| p - object.first as u32;
        let mut on = [NONE; 3];
        let mut count = 0;
        for (p, w) in points.iter().zip(weights) {
            if w.abs() > CORNER {
                on[count] = *p;
                count += 1;
            }
        }
        let at = |v: u32| x[object.first + v as usize];
        match count {
            1 => {
                let centre = x[on[0] as usize];
                object.shape.neighbours(local(on[0]) as usize).iter().all(|v| {
                    let e = at(*v) - centre;
                    away.dot(e) <= slack * e.length()
                })
            }
            2 => {
                let (a, b) = (x[on[0] as usize], x[on[1] as usize]);
                let along = (b - a).normalize_or_zero();
                object.shape.across([local(on[0]), local(on[1])]).iter().all(|v| {
                    let e = (at(*v) - a).reject_from_normalized(along);
                    away.dot(e) <= slack * e.length()
                })
            }
            _ => true,
        }
    }

    /// Which features touch, the same for every pair that stands for them: a vertex and an edge are met by two faces.
    /// Nothing where an edge is met at its end, which a vertex answers for.
    pub fn signature(&self, pair: &Pair) -> Option<[u64; 4]> {
        let on = |k: usize| pair.weights[k].abs() > CORNER;
        (pair.first == 1 || (0..4).all(on)).then(|| self.names(pair, on))
    }

    /// Which pair it is, wherever on its features it is nearest.
    pub fn identity(&self, pair: &Pair) -> [u64; 4] {
        self.names(pair, |_| true)
    }

    /// Names of those points of a pair that are `on`, in one order.
    fn names(&self, pair: &Pair, on: impl Fn(usize) -> bool) -> [u64; 4] {
        let mut name = [u64::MAX; 4];
        for k in (0..4).filter(|k| on(*k)) {
            name[k] = self.name(pair.objects[usize::from(k >= pair.first as usize)], pair.points[k]);
        }
        if pair.first == 2 {
            name[..2].sort_unstable();
            name[2..].sort_unstable();
            if name[2..] < name[..2] {
                name.swap(0, 2);
                name.swap(1, 3);
            }
            return name;
        }
        name[1..].sort_unstable();
        // Two vertices are met by the faces of both.
        if name[2] == u64::MAX && name[1] < name[0] {
            name.swap(0, 1);
        }
        name
    }

    /// Particles of faces with `released` corners that are not clear of bodies by `margin` [m]. A body may be through a face
    /// and touch neither its corners nor its sides.
    pub fn crossed(&self, released: &[bool], x: &[DVec3], margin: f64) -> Vec<bool> {
        let of = |bodies: bool| {
            self.objects.iter().filter(move |object| object.is_body == bodies).flat_map(|object| {
                let own = |v: u32| object.first as u32 + v;
                object.shape.surface.faces().iter().map(move |face| face.map(own))
            })
        };
        let let_through = |face: &[u32; 3]| face.iter().any(|p| released[*p as usize]);
        let faces: Vec<[u32; 3]> = of(false).filter(let_through).collect();
        let bodies: Vec<[u32; 3]> = of(true).collect();
        let tree = Boxes::new(&bodies, x);
        let mut crossed = vec![false; self.particles()];
        for [face, _] in crossing::meeting(&faces, (&bodies, &tree), x, margin) {
            faces[face as usize].iter().for_each(|p| crossed[*p as usize] = true);
        }
        crossed
    }

    /// Points that an edge joins to a particle.
    pub fn beside(&self, particle: usize) -> impl Iterator<Item = usize> {
        let object = &self.objects[self.object_of(particle)];
        object.shape.neighbours(particle - object.first).iter().map(|v| object.first + *v as usize)
    }

    /// All points of the object that a particle belongs to.
    pub fn fellows(&self, particle: usize) -> std::ops::Range<usize> {
        let object = &self.objects[self.object_of(particle)];
        object.first..object.first + object.shape.surface.vertices()
    }

    fn object_of(&self, point: usize) -> usize {
        self.objects.partition_point(|o| o.first <= point).saturating_sub(1)
    }

    /// Number in the world and vertex of a particle.
    pub fn named(&self, particle: usize) -> (u32, u32) {
        let at = self.object_of(particle);
        let name = self.name(at as u32, particle as u32);
        ((name >> 32) as u32, name as u32)
    }

    /// What a point is called in the world.
    pub fn name(&self, object: u32, point: u32) -> u64 {
        let object = &self.objects[object as usize];
        let local = point as usize - object.first;
        let vertex = object.names.get(local).copied().unwrap_or(local as u32);
        u64::from(object.number) << 32 | u64::from(vertex)
    }
}
