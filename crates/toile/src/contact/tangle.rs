//! Starts that intersect: which faces go through which, and who must give way to whom.
//!
//! Faces that intersect meet along curves. Where such a curve cuts a cloth in two, the smaller part is on the wrong side of
//! the other cloth (Baraff, Witkin and Kass 2003, *Untangling Cloth*, section 4) and is what `untangle.rs` draws back.
//! A part counts as larger the less the faces agree that it is drawn across: what is inside a sleeve cannot come out through all of its
//! wall at once. Nor does what pins hold come. Layers, where they are known, decide instead. For bodies with an inside its winding number decides.
//!
//! A tangle has two sides, each a set of points: the part that is drawn back with a ring around it, and what it is drawn through. All
//! pairs of features with a point on either side are exempt; sets only ever lose points.

use super::crossing::{self, APART, Boxes, pierce};
use super::space::Object;
use crate::math::{DVec3, parallel};
use std::collections::BTreeMap;

/// Sign, the points of the two sides, and the number of the body if the second is one.
type Sides = (i8, [Vec<u32>; 2], Option<u32>);

/// A tangle of two surfaces, in the names of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tangle {
    /// Its number, for logs.
    pub number: u32,
    /// 1 if the first side belongs before the faces of the second, −1 behind them, 0 if nothing says which.
    pub sign: i8,
    /// Vertices of the two sides as numbers of object and vertex, ascending. The first side is cloth and is drawn back.
    /// A body that has an inside is on the second side as a whole, with [`WHOLE`] for its vertex.
    pub sides: [Vec<[u32; 2]>; 2],
}

impl Tangle {
    /// The same with other numbers of objects; nothing if one of them is gone.
    pub fn renumbered(&self, object: impl Fn(u32) -> Option<u32>) -> Option<Tangle> {
        let mut new = self.clone();
        for name in new.sides.iter_mut().flatten() {
            name[0] = object(name[0])?;
        }
        Some(new)
    }

    /// Whether an object has vertices in it.
    pub fn concerns(&self, object: u32) -> bool {
        self.sides.iter().flatten().any(|name| name[0] == object)
    }

    /// Whether a feature of the first side and one of the second, given by the names of their vertices, may meet: one has a
    /// vertex on either side.
    pub fn excuses(&self, a: &[[u32; 2]], b: &[[u32; 2]]) -> bool {
        let on = |feature: &[[u32; 2]], side: usize| {
            let named = |name: &[u32; 2]| {
                self.sides[side].binary_search(name).is_ok()
                    || self.sides[side].binary_search(&[name[0], WHOLE]).is_ok()
            };
            feature.iter().any(named)
        };
        on(a, 0) && on(b, 1) || on(a, 1) && on(b, 0)
    }
}

/// Stands for all vertices of an object.
pub const WHOLE: u32 = u32::MAX;

/// Everything that intersects, by object (cloths first, then bodies) and element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tangles {
    /// Pairs of faces, each as numbers of object and face, ascending.
    pub pairs: Vec<[[u32; 2]; 2]>,
    /// Vertices of cloth inside bodies: cloth, vertex, number of the body among all objects.
    pub inside: Vec<[u32; 3]>,
}

impl Tangles {
    /// Whether nothing intersects.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.inside.is_empty()
    }
}

/// What a surface is to its tangles.
pub struct Standing<'a> {
    /// Its layer, if it has one; higher ones are outside, where the faces of lower ones look.
    pub layer: Option<u32>,
    /// For bodies: tells whether a point is inside, if it has an inside that its faces enclose.
    pub contains: Option<&'a (dyn Fn(DVec3) -> bool + Sync)>,
    /// For bodies: whether its faces look outward though they enclose nothing.
    pub faces_out: bool,
}

/// Minority of votes up to which a part of a cloth is on one side.
const DECIDED: f64 = 0.25;

/// Least agreement of directions to draw something in [-].
const AGREED: f64 = 0.3;

/// How much larger than it is a part counts that pins hold, or whose directions do not agree.
const HARD: f64 = 1e3;

/// Rings of vertices around what is drawn back, and around what it is drawn through.
const RINGS: [usize; 2] = [1, 2];

/// Two faces that intersect, by object and face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crossed {
    /// Objects.
    pub objects: [u32; 2],
    /// Faces in them.
    pub faces: [u32; 2],
}

/// Surfaces in place.
pub struct Scene<'a> {
    /// Objects, cloths first, each with its first point.
    pub objects: &'a [Object],
    /// Of each.
    pub standing: &'a [Standing<'a>],
    /// Where all points are [m].
    pub x: &'a [DVec3],
    /// Points that pins hold, ascending.
    pub held: &'a [u32],
}

impl Scene<'_> {
    /// Corners of the faces of an object, as points.
    fn faces(&self, object: usize) -> Vec<[u32; 3]> {
        let Object { first, shape, .. } = &self.objects[object];
        shape.surface().faces().iter().map(|face| face.map(|v| v + *first as u32)).collect()
    }

    /// Corners of a face of an object, as points.
    pub fn face(&self, object: u32, face: u32) -> [u32; 3] {
        let Object { first, shape, .. } = &self.objects[object as usize];
        shape.surface().faces()[face as usize].map(|v| v + *first as u32)
    }

    /// All faces that intersect, in order; bodies do not meet bodies.
    pub fn crossed(&self) -> Vec<Crossed> {
        let faces: Vec<Vec<[u32; 3]>> = (0..self.objects.len()).map(|o| self.faces(o)).collect();
        let whole: Vec<[DVec3; 2]> = self.objects.iter().map(|o| self.bounds(o)).collect();
        let overlap = |a: usize, b: usize| {
            let ([al, ah], [bl, bh]) = (whole[a], whole[b]);
            al.cmple(bh).all() && bl.cmple(ah).all()
        };
        let mut found = Vec::new();
        for b in 0..self.objects.len() {
            let others = |a: &usize| *a <= b && !self.objects[*a].is_body && overlap(*a, b);
            let others: Vec<usize> = (0..self.objects.len()).filter(others).collect();
            if others.is_empty() {
                continue;
            }
            let tree = Boxes::new(&faces[b], self.x);
            for a in others {
                let pairs = crossing::meeting(&faces[a], (&faces[b], &tree), self.x, APART);
                let own = pairs.into_iter().filter(|[f, g]| a != b || f < g);
                found.extend(own.map(|faces| Crossed { objects: [a as u32, b as u32], faces }));
            }
        }
        found.sort_unstable();
        found
    }

    fn bounds(&self, object: &Object) -> [DVec3; 2] {
        let own = &self.x[object.first..object.first + object.shape.surface().vertices()];
        let none = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        own.iter().fold(none, |[low, high], p| [low.min(*p), high.max(*p)])
    }

    /// Points of cloth inside each body that has an inside, as (point, body), ascending by body.
    pub fn inside(&self) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let particles = self.objects.iter().filter(|o| !o.is_body);
        let particles = particles.fold(0, |sum, o| sum + o.shape.surface().vertices());
        for (b, standing) in self.standing.iter().enumerate() {
            let Some(contains) = standing.contains else { continue };
            let mut within = vec![false; particles];
            parallel::fill_heavy(&mut within, |p| contains(self.x[p]));
            found.extend((0..particles).filter(|p| within[*p]).map(|p| (p as u32, b as u32)));
        }
        found
    }

    /// The object of a point.
    pub fn object_of(&self, point: u32) -> usize {
        self.objects.partition_point(|o| o.first <= point as usize).saturating_sub(1)
    }

    /// What a point is called in the world.
    pub fn name(&self, point: u32) -> [u32; 2] {
        let object = &self.objects[self.object_of(point)];
        let local = point as usize - object.first;
        [object.number, object.names.get(local).copied().unwrap_or(local as u32)]
    }

    /// Tangles of all that intersects, numbered from `next`.
    pub fn analyse(&self, crossed: &[Crossed], inside: &[(u32, u32)], next: u32) -> Vec<Tangle> {
        let mut found: Vec<Sides> = Vec::new();
        let crossing = crossed.iter().filter(|c| self.standing[c.objects[1] as usize].contains.is_some());
        let faces = crossing.flat_map(|c| self.face(c.objects[0], c.faces[0]).map(|p| (p, c.objects[1])));
        let mut caught: BTreeMap<(usize, u32), Vec<u32>> = BTreeMap::new();
        for (point, body) in faces.chain(inside.iter().copied()) {
            caught.entry((self.object_of(point), body)).or_default().push(point);
        }
        for ((_, body), points) in caught {
            let sides = [self.grow(points, RINGS[0]), Vec::new()];
            found.push((1, sides, Some(self.objects[body as usize].number)));
        }
        let mut pairs = crossed.to_vec();
        pairs.retain(|c| self.standing[c.objects[1] as usize].contains.is_none());
        for group in pairs.chunk_by(|a, b| a.objects == b.objects) {
            let cut = Cut::new(self, group);
            let contours = contours(self, group);
            let together = group[0].objects[0] != group[0].objects[1] && contours.len() > 1;
            let all = together.then(|| contours.concat()).and_then(|all| cut.choose(&all).map(|c| (all, c)));
            match all {
                Some((all, choice)) => found.push(cut.sides(&all, Some(choice))),
                None => found.extend(contours.iter().map(|own| cut.sides(own, cut.choose(own)))),
            }
        }
        let named = |(k, (sign, sides, body)): (usize, Sides)| {
            let mut sides = sides.map(|points| points.iter().map(|p| self.name(*p)).collect::<Vec<_>>());
            sides.iter_mut().for_each(|side| side.sort_unstable());
            sides[1].extend(body.map(|number| [number, WHOLE]));
            Tangle { number: next + k as u32, sign, sides }
        };
        found.into_iter().enumerate().map(named).collect()
    }

    /// Points with so many rings of neighbours, ascending.
    fn grow(&self, mut points: Vec<u32>, rings: usize) -> Vec<u32> {
        points.sort_unstable();
        points.dedup();
        for _ in 0..rings {
            let around = points.iter().flat_map(|p| {
                let Object { first, shape, .. } = &self.objects[self.object_of(*p)];
                shape.neighbours(*p as usize - first).iter().map(move |v| v + *first as u32)
            });
            let around: Vec<u32> = around.collect();
            points.extend(around);
            points.sort_unstable();
            points.dedup();
        }
        points
    }
}

/// One pair along a curve of intersection: its number, and whether its second face is on the first side.
type Link = (usize, bool);

/// The curves along which the faces of one or two objects intersect. Next to each other are pairs that share a face
/// while their others are neighbours.
pub fn contours(scene: &Scene, pairs: &[Crossed]) -> Vec<Vec<Link>> {
    let mut by_face: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for (k, pair) in pairs.iter().enumerate() {
        (0..2).for_each(|s| by_face.entry((pair.objects[s], pair.faces[s])).or_default().push(k));
    }
    let neighbours = |a: (u32, u32), b: (u32, u32)| {
        let corners = scene.face(b.0, b.1);
        a.0 == b.0 && scene.face(a.0, a.1).iter().any(|p| corners.contains(p))
    };
    let name = |k: usize, s: usize| (pairs[k].objects[s], pairs[k].faces[s]);
    let mut seen = vec![false; pairs.len()];
    let mut all = Vec::new();
    for start in 0..pairs.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut curve: Vec<Link> = vec![(start, false)];
        let mut at = 0;
        while at < curve.len() {
            let (k, flipped) = curve[at];
            for s in 0..2 {
                let (shared, other) = (name(k, s), name(k, 1 - s));
                for &next in &by_face[&shared] {
                    let t = usize::from(name(next, 1) == shared);
                    if !seen[next] && neighbours(name(next, 1 - t), other) {
                        seen[next] = true;
                        curve.push((next, flipped ^ (s != t)));
                    }
                }
            }
            at += 1;
        }
        all.push(curve);
    }
    all
}

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// An edge through a face.
struct Through {
    pair: usize,
    /// Which face of the pair the edge belongs to.
    whose: usize,
    edge: [u32; 2],
    at: DVec3,
}

/// Objects cut along their curves.
struct Cut<'a> {
    scene: &'a Scene<'a>,
    pairs: &'a [Crossed],
    through: Vec<Through>,
    /// Part of its object that a point is in.
    part: BTreeMap<u32, u32>,
    /// Area of each part [m²].
    area: Vec<f64>,
}

/// Who gives way.
struct Choice {
    /// Which side of the curve, and the sign that its part has now.
    moving: usize,
    sign: i8,
    parts: Vec<u32>,
}

impl<'a> Cut<'a> {
    fn new(scene: &'a Scene<'a>, pairs: &'a [Crossed]) -> Cut<'a> {
        let mut through = Vec::new();
        for (pair, crossed) in pairs.iter().enumerate() {
            let faces = [0, 1].map(|s| scene.face(crossed.objects[s], crossed.faces[s]));
            for whose in 0..2 {
                let other = faces[1 - whose];
                for k in 0..3 {
                    let edge = [faces[whose][k], faces[whose][(k + 1) % 3]];
                    let [a, b] = edge.map(|p| scene.x[p as usize]);
                    let corners = other.map(|p| scene.x[p as usize]);
                    if let Some((t, _)) =
                        pierce(a, b, corners).filter(|_| edge.iter().all(|p| !other.contains(p)))
                    {
                        through.push(Through { pair, whose, edge, at: a + (b - a) * t });
                    }
                }
            }
        }
        let mut cut = Cut { scene, pairs, through, part: BTreeMap::new(), area: Vec::new() };
        let mut cuts: Vec<[u32; 2]> = cut.through.iter().map(|t| sorted(t.edge)).collect();
        cuts.extend(cut.beyond_ends());
        cuts.sort_unstable();
        let [a, b] = pairs[0].objects;
        cut.fill(a, &cuts);
        if b != a {
            cut.fill(b, &cuts);
        }
        cut
    }

    /// Edges that would be cut if curves went on from where they end inside a face to the border, along the plane of the face
    /// whose border ends them: else parts that a hem crosses at a slant would hang together at its end.
    fn beyond_ends(&self) -> Vec<[u32; 2]> {
        let mut own: BTreeMap<(u32, u32), Vec<&Through>> = BTreeMap::new();
        let mut others: BTreeMap<(u32, u32), Vec<&Through>> = BTreeMap::new();
        for through in &self.through {
            let Crossed { objects, faces } = self.pairs[through.pair];
            let (s, t) = (through.whose, 1 - through.whose);
            own.entry((objects[s], faces[s])).or_default().push(through);
            others.entry((objects[t], faces[t])).or_default().push(through);
        }
        let mut cuts = Vec::new();
        for (face, through) in own {
            let entry = sorted(through[0].edge);
            if through.iter().any(|t| sorted(t.edge) != entry) {
                continue;
            }
            // The last face of the other side is the one with an edge through this face that is its border.
            let ends = others.get(&face).into_iter().flatten().find(|t| self.is_border(t));
            let (at, last) = ends.map_or((through[0].at, through[0]), |t| (t.at, *t));
            let other = ends.map_or(1 - last.whose, |t| t.whose);
            let Crossed { objects, faces } = self.pairs[last.pair];
            let plane = (at, self.normal(self.scene.face(objects[other], faces[other])));
            cuts.extend(self.walk(face, entry, plane));
        }
        cuts
    }

    fn is_border(&self, through: &Through) -> bool {
        let object = &self.scene.objects[self.pairs[through.pair].objects[through.whose] as usize];
        object.shape.across(through.edge.map(|p| p - object.first as u32)).len() == 1
    }

    /// Edges that a plane crosses on the way from one edge of a face through it and on to the border.
    fn walk(
        &self,
        (object, face): (u32, u32),
        entry: [u32; 2],
        (at, normal): (DVec3, DVec3),
    ) -> Vec<[u32; 2]> {
        let Object { first, shape, .. } = &self.scene.objects[object as usize];
        let first = *first as u32;
        let before = |p: u32| normal.dot(self.scene.x[p as usize] - at) > 0.0;
        let mut edge = entry;
        let mut next = self.scene.face(object, face).into_iter().find(|p| !entry.contains(p));
        let mut cuts = Vec::new();
        while let Some(far) = next {
            let [a, b] = edge;
            if before(a) == before(b) || cuts.len() > shape.surface().faces().len() {
                break;
            }
            let (kept, left) = if before(a) == before(far) { (b, a) } else { (a, b) };
            edge = sorted([kept, far]);
            cuts.push(edge);
            let beyond = shape.across(edge.map(|p| p - first)).iter().map(|v| v + first);
            next = beyond.into_iter().find(|p| *p != left);
        }
        cuts
    }

    /// Finds the parts of an object that no edge joins but those that are cut.
    fn fill(&mut self, object: u32, cuts: &[[u32; 2]]) {
        let Object { first, shape, .. } = &self.scene.objects[object as usize];
        let first = *first as u32;
        let count = shape.surface().vertices();
        let mut of = vec![u32::MAX; count];
        let from = self.area.len() as u32;
        let mut next = from;
        for start in 0..count {
            if of[start] != u32::MAX {
                continue;
            }
            let mut stack = vec![start];
            of[start] = next;
            while let Some(v) = stack.pop() {
                for &w in shape.neighbours(v) {
                    let (p, q) = (v as u32 + first, w + first);
                    if of[w as usize] == u32::MAX && cuts.binary_search(&sorted([p, q])).is_err() {
                        of[w as usize] = next;
                        stack.push(w as usize);
                    }
                }
            }
            next += 1;
        }
        self.area.resize(next as usize, 0.0);
        for face in shape.surface().faces() {
            let [a, b, c] = face.map(|v| self.scene.x[(v + first) as usize]);
            let third = (b - a).cross(c - a).length() / 6.0;
            face.iter().for_each(|v| self.area[of[*v as usize] as usize] += third);
        }
        self.part.extend((0..count).map(|v| (v as u32 + first, of[v])));
    }

    /// Corners of the face of a pair that is on one side of its curve.
    fn on_side(&self, (pair, flipped): Link, side: usize) -> [u32; 3] {
        let s = side ^ usize::from(flipped);
        self.scene.face(self.pairs[pair].objects[s], self.pairs[pair].faces[s])
    }

    fn normal(&self, face: [u32; 3]) -> DVec3 {
        let [a, b, c] = face.map(|p| self.scene.x[p as usize]);
        (b - a).cross(c - a).normalize_or_zero()
    }

    /// On which side of the other surface the parts of one side of a curve are, by what its edges say: votes for each sign.
    fn votes(&self, curve: &[Link], side: usize) -> BTreeMap<u32, [u32; 2]> {
        let flipped: BTreeMap<usize, bool> = curve.iter().copied().collect();
        let mut votes: BTreeMap<u32, [u32; 2]> = BTreeMap::new();
        for through in &self.through {
            let Some(f) = flipped.get(&through.pair) else { continue };
            if through.whose != side ^ usize::from(*f) {
                continue;
            }
            let normal = self.normal(self.on_side((through.pair, *f), 1 - side));
            for p in through.edge {
                let before = normal.dot(self.scene.x[p as usize] - through.at) > 0.0;
                votes.entry(self.part[&p]).or_default()[usize::from(!before)] += 1;
            }
        }
        votes
    }

    /// The part of either side that gives way most easily, if the curve cuts off any.
    fn choose(&self, curve: &[Link]) -> Option<Choice> {
        let mut best: Option<(f64, Choice)> = None;
        for (moving, sign) in [(0, 1), (0, -1), (1, 1), (1, -1)] {
            if !self.may_move(curve, moving, sign) {
                continue;
            }
            let votes = self.votes(curve, moving);
            let decided = |v: &[u32; 2]| f64::from(v[0].min(v[1])) <= DECIDED * f64::from(v[0] + v[1]);
            let is = |v: &[u32; 2], sign: i8| (v[0] > v[1]) == (sign > 0);
            let parts: Vec<u32> = votes.iter().filter(|(_, v)| is(v, sign)).map(|(part, _)| *part).collect();
            if !votes.values().all(decided) || parts.is_empty() || parts.len() == votes.len() {
                continue;
            }
            let normals = curve.iter().map(|link| self.normal(self.on_side(*link, 1 - moving)));
            let agreed = normals.fold(DVec3::ZERO, |sum, n| sum + n).length() / curve.len() as f64;
            let area = parts.iter().fold(0.0, |sum, part| sum + self.area[*part as usize]);
            let held = self.scene.held.iter().filter_map(|p| self.part.get(p)).any(|p| parts.contains(p));
            let hard =
                [agreed < AGREED, held].into_iter().filter(|hard| *hard).fold(1.0, |cost, _| cost * HARD);
            let cost = area / (agreed.max(0.01) * agreed.max(0.01)) * hard;
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, Choice { moving, sign, parts }));
            }
        }
        best.map(|(_, choice)| choice)
    }

    /// Objects on the two sides of a curve.
    fn objects(&self, curve: &[Link]) -> [usize; 2] {
        let (pair, flipped) = curve[0];
        let [a, b] = self.pairs[pair].objects.map(|o| o as usize);
        if flipped { [b, a] } else { [a, b] }
    }

    /// Whether a part may be what is wrong, with this sign to the other side: bodies stay, what has a layer belongs before the
    /// faces of lower ones.
    fn may_move(&self, curve: &[Link], moving: usize, sign: i8) -> bool {
        let objects = self.objects(curve);
        let (own, other) = (objects[moving], objects[1 - moving]);
        let (a, b) = (&self.scene.standing[own], &self.scene.standing[other]);
        let layers = match (a.layer, b.layer) {
            (Some(own), Some(other)) if own > other => sign < 0,
            (Some(own), Some(other)) if own < other => sign > 0,
            _ => true,
        };
        !self.scene.objects[own].is_body && layers && (!b.faces_out || sign < 0)
    }

    /// The two sides of a tangle, the one that moves first.
    fn sides(&self, curve: &[Link], choice: Option<Choice>) -> (i8, [Vec<u32>; 2], Option<u32>) {
        let objects = self.objects(curve);
        let Some(Choice { moving, sign, parts }) = choice else {
            let layer = |side: usize| self.scene.standing[objects[side]].layer.unwrap_or(0);
            let second = self.scene.objects[objects[0]].is_body || layer(1) > layer(0);
            let moving = usize::from(second);
            let known = layer(0) != layer(1) || self.scene.standing[objects[1 - moving]].faces_out;
            let side = |side: usize| curve.iter().flat_map(|link| self.on_side(*link, side)).collect();
            let sides = [moving, 1 - moving].map(|s| self.scene.grow(side(s), RINGS[1]));
            return (i8::from(known), sides, None);
        };
        let within = |parts: &[u32], object: usize| -> Vec<u32> {
            let Object { first, shape, .. } = &self.scene.objects[object];
            let own = *first as u32..(*first + shape.surface().vertices()) as u32;
            own.filter(|p| self.part.get(p).is_some_and(|part| parts.contains(part))).collect()
        };
        let mut first: Vec<u32> = curve.iter().flat_map(|link| self.on_side(*link, moving)).collect();
        first.extend(within(&parts, objects[moving]));
        let mut second: Vec<u32> = curve.iter().flat_map(|link| self.on_side(*link, 1 - moving)).collect();
        let beside = within(&self.beside(curve, moving, &parts), objects[1 - moving]);
        second.extend(self.around(&first, beside));
        let sides = [self.scene.grow(first, RINGS[0]), self.scene.grow(second, RINGS[1])];
        (-sign, sides, None)
    }

    /// Those of `points` in the box of some others, made larger by a quarter of its diagonal: what is farther away need not be
    /// exempt.
    fn around(&self, others: &[u32], mut points: Vec<u32>) -> Vec<u32> {
        let none = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let places = others.iter().map(|p| self.scene.x[*p as usize]);
        let [low, high] = places.fold(none, |[low, high], p| [low.min(p), high.max(p)]);
        let more = DVec3::splat(0.25 * (high - low).length());
        points.retain(|p| {
            let place = self.scene.x[*p as usize];
            place.cmpge(low - more).all() && place.cmple(high + more).all()
        });
        points
    }

    /// Parts of the other side that lie beside those that move: seen from the curve both go the same way. Where none does,
    /// the smallest.
    fn beside(&self, curve: &[Link], moving: usize, parts: &[u32]) -> Vec<u32> {
        let others: Vec<u32> = self.votes(curve, 1 - moving).into_keys().collect();
        if others.len() < 2 {
            return Vec::new();
        }
        let toward = |face: [u32; 3], is: &dyn Fn(u32) -> bool| {
            let (mut sums, mut counts) = ([DVec3::ZERO; 2], [0.0; 2]);
            for p in face {
                let side = usize::from(is(self.part[&p]));
                sums[side] += self.scene.x[p as usize];
                counts[side] += 1.0;
            }
            let both = counts[0] > 0.0 && counts[1] > 0.0;
            both.then(|| (sums[1] / counts[1] - sums[0] / counts[0]).normalize_or_zero())
        };
        let along = |other: u32| {
            let (mut sum, mut count) = (0.0, 0.0);
            for link in curve {
                let own = toward(self.on_side(*link, moving), &|part| parts.contains(&part));
                let its = toward(self.on_side(*link, 1 - moving), &|part| part == other);
                if let (Some(own), Some(its)) = (own, its) {
                    sum += own.dot(its);
                    count += 1.0;
                }
            }
            sum / f64::max(count, 1.0)
        };
        let mut beside: Vec<u32> = others.iter().copied().filter(|other| along(*other) > AGREED).collect();
        if beside.is_empty() {
            let area = |part: &u32| self.area[*part as usize];
            beside.extend(others.iter().min_by(|a, b| area(a).total_cmp(&area(b))));
        }
        beside
    }
}
