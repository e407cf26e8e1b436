//! Draws back what started on the wrong side, substep by substep, and lets it count again once it is clear.
//!
//! While a tangle lasts, no pair with a point on either of its sides pushes or is filtered. Instead every point of the first side
//! that is not yet the contact distance before the second is drawn there, at a bounded speed, along the faces' own
//! normals; and so is the end of every edge that still goes through a face. Where nothing says which side is right, edges go the way in which
//! the curve of intersection becomes shorter (Volino and Magnenat-Thalmann 2006, *Resolving Surface Collisions through
//! Intersection Contour Minimization*, eq. 1).

use super::crossing::{self, APART, Boxes, pierce};
use super::gauges::{Gauge, Given};
use super::settings::Friction;
use super::space::{Object, Space};
use super::tangle::{Tangle, WHOLE};
use crate::collide::collider::Collider;
use crate::math::DVec3;
use crate::mesh::Surface;
use std::collections::{BTreeMap, BTreeSet};

/// Fastest that anything is drawn [m/s].
const FASTEST: f64 = 0.4;

/// Time in which what is left of the way would be gone at the speed it is drawn with [s].
const TIME: f64 = 0.03;

/// How far things are drawn apart, over the distance that they keep. What is drawn gives way to its weight, by g h [`TIME`] /
/// [`FIRMNESS`], most of that distance: drawn no farther it would lie on what it came through and never be clear of it.
const BEYOND: f64 = 3.0;

/// How firmly speeds are held, as a multiple of (mass that is drawn)/h.
const FIRMNESS: f64 = 2.0;

/// Cosine below which a point is beside the faces it should be drawn through, not behind them.
const BESIDE: f64 = 0.5;

/// Change of the curve's length per way of an edge below which it says nothing.
const LEVEL: f64 = 0.1;

/// A tangle among the points of an island.
struct Active {
    tangle: Tangle,
    points: [Vec<u32>; 2],
    faces: [Vec<[u32; 3]>; 2],
    /// The body that is the second side as a whole, by its place in the island's list.
    body: Option<usize>,
}

/// All tangles of an island.
#[derive(Default)]
pub struct Untangle {
    active: Vec<Active>,
}

/// What is known of the points of a substep.
pub struct Instant<'a> {
    /// Where they are [m].
    pub x: &'a [DVec3],
    /// How fast particles are [m/s].
    pub v: &'a [DVec3],
    /// Where bodies end [m]; particles anywhere.
    pub ends: &'a [DVec3],
    /// Inverse masses [1/kg]; 0 where led.
    pub inverse: &'a [f64],
    /// Bodies of the island, where they stand at the start.
    pub bodies: &'a [Collider],
    /// Distance that cloth keeps [m].
    pub distance: f64,
    /// Length of the substep [s].
    pub dt: f64,
}

impl Instant<'_> {
    /// Distance to reach [m].
    fn aim(&self) -> f64 {
        BEYOND * self.distance
    }
}

impl Untangle {
    /// Takes over those tangles that are here with both sides.
    pub fn set(&mut self, space: &mut Space, tangles: &[Tangle]) {
        self.active = tangles.iter().filter_map(|tangle| Active::new(space, tangle)).collect();
        self.mark(space);
    }

    /// Tells the space which pairs are exempt.
    fn mark(&self, space: &mut Space) {
        space.exempt(self.active.iter().map(|active| &active.points));
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// What is left.
    pub fn tangles(&self) -> impl Iterator<Item = &Tangle> {
        self.active.iter().map(|active| &active.tangle)
    }

    /// Everything that draws in a substep.
    pub fn pulls(&self, now: &Instant) -> Vec<Gauge> {
        let mut out = Vec::new();
        for active in &self.active {
            match active.body {
                Some(body) => active.out_of(&now.bodies[body], now, &mut out),
                None if active.tangle.sign != 0 => active.through_faces(now, &mut out),
                None => {}
            }
            active.edges(now, &mut out);
        }
        out
    }

    /// Lets what is clear by `margin` [m] at `x` count again.
    pub fn rearm(&mut self, space: &mut Space, x: &[DVec3], bodies: &[Collider], margin: f64) {
        let before: usize = self.active.iter().map(|active| active.points[0].len()).sum();
        for active in &mut self.active {
            active.rearm(space, x, bodies, margin);
        }
        self.active.retain(|active| !active.points[0].is_empty());
        if self.active.iter().map(|active| active.points[0].len()).sum::<usize>() < before {
            self.mark(space);
        }
    }
}

/// Points that are called so in a space; nothing if one is not there.
fn points_of(space: &Space, names: &[[u32; 2]]) -> Option<Vec<u32>> {
    let mut points = Vec::with_capacity(names.len());
    for [number, vertex] in names {
        let own: Vec<&Object> = space.objects().iter().filter(|o| o.number == *number).collect();
        let all = |o: &Object| o.first as u32..(o.first + o.shape.surface().vertices()) as u32;
        let find = |o: &&Object| match (o.names.is_empty(), o.names.binary_search(vertex)) {
            (true, _) => all(o).nth(*vertex as usize),
            (false, found) => found.ok().map(|at| (o.first + at) as u32),
        };
        if *vertex == WHOLE {
            points.extend(own.first().map(|o| all(o))?);
        } else {
            points.push(own.iter().find_map(find)?);
        }
    }
    points.sort_unstable();
    Some(points)
}

/// All faces of a space with a point among `points`.
fn faces_of(space: &Space, points: &[u32]) -> Vec<[u32; 3]> {
    let mut faces = Vec::new();
    for object in space.objects() {
        let first = object.first as u32;
        let last = first + object.shape.surface().vertices() as u32;
        let from = points.partition_point(|p| *p < first);
        if points.get(from).is_none_or(|p| *p >= last) {
            continue;
        }
        let all = object.shape.surface().faces().iter().map(|face| face.map(|v| v + first));
        faces.extend(all.filter(|face| face.iter().any(|p| points.binary_search(p).is_ok())));
    }
    faces
}

/// A point of an edge that should come out of a face, and which way.
struct Thorn {
    point: u32,
    face: [u32; 3],
    weights: [f64; 3],
    along: DVec3,
}

impl Active {
    fn new(space: &Space, tangle: &Tangle) -> Option<Active> {
        let points = [points_of(space, &tangle.sides[0])?, points_of(space, &tangle.sides[1])?];
        let faces = [faces_of(space, &points[0]), faces_of(space, &points[1])];
        let whole = tangle.sides[1].iter().find(|[_, vertex]| *vertex == WHOLE);
        let body = whole.and_then(|[number, _]| {
            space.objects().iter().filter(|o| o.is_body).position(|o| o.number == *number)
        });
        Some(Active { tangle: tangle.clone(), points, faces, body })
    }

    /// Draws points out of a body along its own distance.
    fn out_of(&self, body: &Collider, now: &Instant, out: &mut Vec<Gauge>) {
        for &p in &self.points[0] {
            let place = now.x[p as usize];
            if let Some(touch) = body.touch(place, now.aim()) {
                let outside = [-touch.point, -(touch.point + touch.velocity * now.dt)];
                pull([p; 4], [1.0, 0.0, 0.0, 0.0], (touch.normal, outside), now, out);
            }
        }
    }

    /// Draws points of the first side before the faces of the second.
    fn through_faces(&self, now: &Instant, out: &mut Vec<Gauge>) {
        let normals = self.normals(now.x);
        let mut corners: Vec<u32> = self.faces[1].concat();
        corners.sort_unstable();
        corners.dedup();
        let local = |p: u32| corners.partition_point(|q| *q < p) as u32;
        let places = corners.iter().map(|p| now.x[*p as usize]).collect();
        let Ok(surface) = Surface::new(places, self.faces[1].iter().map(|f| f.map(local)).collect()) else {
            return;
        };
        let sign = f64::from(self.tangle.sign);
        for &p in &self.points[0] {
            let place = now.x[p as usize];
            let Some(foot) = surface.nearest(place, f64::INFINITY) else { return };
            let face = self.faces[1][foot.face as usize];
            let smooth = (0..3).fold(DVec3::ZERO, |sum, k| sum + normals[&face[k]] * foot.weights[k]);
            let along = smooth.normalize_or_zero() * sign;
            let (way, depth) = (place - foot.point, along.dot(place - foot.point));
            let beside = foot.distance > now.distance && depth.abs() < BESIDE * way.length();
            if face.contains(&p) || along == DVec3::ZERO || depth >= now.aim() || beside {
                continue;
            }
            self.draw(&Thorn { point: p, face, weights: foot.weights, along }, now, out);
        }
    }

    /// Normals at the corners of the second side's faces, by their area.
    fn normals(&self, x: &[DVec3]) -> BTreeMap<u32, DVec3> {
        let mut sums: BTreeMap<u32, DVec3> = BTreeMap::new();
        for face in &self.faces[1] {
            let normal = normal_of(*face, x);
            face.iter().for_each(|p| *sums.entry(*p).or_default() += normal);
        }
        sums.values_mut().for_each(|normal| *normal = normal.normalize_or_zero());
        sums
    }

    /// Draws the ends of edges out of the faces they go through.
    fn edges(&self, now: &Instant, out: &mut Vec<Gauge>) {
        let met = crossing::meeting(
            &self.faces[0],
            (&self.faces[1], &Boxes::new(&self.faces[1], now.x)),
            now.x,
            APART,
        );
        if met.is_empty() {
            return;
        }
        let normals = self.normals(now.x);
        let mut seen = BTreeSet::new();
        for [f, g] in met {
            let faces = [self.faces[0][f as usize], self.faces[1][g as usize]];
            for whose in 0..2 {
                let (own, face) = (faces[whose], faces[1 - whose]);
                for k in 0..3 {
                    let edge = [own[k].min(own[(k + 1) % 3]), own[k].max(own[(k + 1) % 3])];
                    if edge.iter().any(|p| face.contains(p)) || !seen.insert((edge, face)) {
                        continue;
                    }
                    let [a, b] = edge.map(|p| now.x[p as usize]);
                    let Some((t, weights)) = pierce(a, b, face.map(|p| now.x[p as usize])) else { continue };
                    let through = normal_of(face, now.x).normalize_or_zero();
                    let along = match (self.tangle.sign, whose) {
                        (0, _) => self.shorter(whose, edge, (a + (b - a) * t, through), now.x),
                        (sign, 0) => through * f64::from(sign),
                        // An edge of the second side goes the other way.
                        (sign, _) => {
                            (normals[&edge[0]] + normals[&edge[1]]).normalize_or_zero() * -f64::from(sign)
                        }
                    };
                    // The end that is behind comes out.
                    let ahead = along.dot(b - a);
                    if along != DVec3::ZERO && ahead != 0.0 {
                        let point = if ahead > 0.0 { edge[0] } else { edge[1] };
                        self.draw(&Thorn { point, face, weights, along }, now, out);
                    }
                }
            }
        }
    }

    /// Which way an edge that goes through a face at a place must go so that the curve of intersection becomes shorter: along
    /// the normal of the face or against it, or nowhere.
    fn shorter(&self, whose: usize, edge: [u32; 2], (at, through): (DVec3, DVec3), x: &[DVec3]) -> DVec3 {
        let mut ways = DVec3::ZERO;
        for own in self.faces[whose].iter().filter(|own| edge.iter().all(|p| own.contains(p))) {
            let Some(far) = own.iter().find(|p| !edge.contains(p)) else { continue };
            let line = normal_of(*own, x).cross(through).normalize_or_zero();
            ways += if line.dot(x[*far as usize] - at) < 0.0 { -line } else { line };
        }
        let e = (x[edge[1] as usize] - x[edge[0] as usize]).normalize_or_zero();
        let gain = ways.dot(e);
        if gain.abs() < LEVEL { DVec3::ZERO } else { through * -(gain * through.dot(e)).signum() }
    }

    /// Draws a point along a direction against a face.
    fn draw(&self, thorn: &Thorn, now: &Instant, out: &mut Vec<Gauge>) {
        let n = now.v.len();
        let all = [thorn.point, thorn.face[0], thorn.face[1], thorn.face[2]];
        let signed = [1.0, -thorn.weights[0], -thorn.weights[1], -thorn.weights[2]];
        let Some(stand_in) = all.iter().copied().find(|p| (*p as usize) < n) else { return };
        let (mut members, mut weights, mut outside) = ([stand_in; 4], [0.0; 4], [DVec3::ZERO; 2]);
        for k in 0..4 {
            let p = all[k] as usize;
            if p < n {
                (members[k], weights[k]) = (all[k], signed[k]);
            } else {
                outside = [outside[0] + now.x[p] * signed[k], outside[1] + now.ends[p] * signed[k]];
            }
        }
        pull(members, weights, (thorn.along, outside), now, out);
    }

    /// Drops the points that are clear of the second side, or all once everything is.
    fn rearm(&mut self, space: &Space, x: &[DVec3], bodies: &[Collider], margin: f64) {
        let Some(body) = self.body else {
            let tree = Boxes::new(&self.faces[1], x);
            if crossing::meeting(&self.faces[0], (&self.faces[1], &tree), x, margin).is_empty() {
                self.points[0].clear();
            }
            return;
        };
        let none = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let corners = self.faces[0].iter().flatten().map(|p| x[*p as usize]);
        let [low, high] = corners.fold(none, |[low, high], p| [low.min(p), high.max(p)]);
        let near = |face: &&[u32; 3]| {
            let [l, h] = crossing::bounds_of(**face, x);
            let margin = DVec3::splat(margin);
            (l - margin).cmple(high).all() && (h + margin).cmpge(low).all()
        };
        let others: Vec<[u32; 3]> = self.faces[1].iter().filter(near).copied().collect();
        let met = crossing::meeting(&self.faces[0], (&others, &Boxes::new(&others, x)), x, margin);
        let met: BTreeSet<u32> = met.iter().flat_map(|[f, _]| self.faces[0][*f as usize]).collect();
        let before = self.points[0].len();
        self.points[0].retain(|p| met.contains(p) || bodies[body].contains(x[*p as usize]));
        if self.points[0].len() < before {
            self.faces[0] = faces_of(space, &self.points[0]);
            self.tangle.sides[0] = self.points[0].iter().map(|p| space.named(*p as usize).into()).collect();
        }
    }
}

/// Normal of a face, twice its area long [m²].
fn normal_of(face: [u32; 3], x: &[DVec3]) -> DVec3 {
    let [a, b, c] = face.map(|p| x[p as usize]);
    (b - a).cross(c - a)
}

/// Draws Σ w x along a normal until it is the distance long, at a bounded speed: a force that falls off with the speed.
fn pull(
    members: [u32; 4],
    weights: [f64; 4],
    (normal, outside): (DVec3, [DVec3; 2]),
    now: &Instant,
    out: &mut Vec<Gauge>,
) {
    let sum = |start: DVec3, values: &[DVec3]| {
        (0..4).fold(start, |sum, k| sum + values[members[k] as usize] * weights[k])
    };
    let give = (0..4).fold(0.0, |sum, k| sum + weights[k] * weights[k] * now.inverse[members[k] as usize]);
    let (start, rate) = (sum(outside[0], now.x), sum((outside[1] - outside[0]) / now.dt, now.v));
    let missing = now.aim() - normal.dot(start);
    if give == 0.0 || missing <= 0.0 {
        return;
    }
    let speed = (missing / TIME).min(FASTEST);
    let damping = FIRMNESS / (give * now.dt);
    let given = Given {
        push: damping * (speed - normal.dot(rate)),
        hold: DVec3::ZERO,
        rate,
        stiffness: 0.0,
        damping,
        holds: true,
    };
    out.push(Gauge {
        members,
        weights,
        normal,
        // For those that correct after the step: no farther than the speed allows.
        distance: normal.dot(start) + speed * now.dt,
        stiffness: damping / now.dt,
        outside,
        start,
        push: 0.0,
        load: 0.0,
        slip: DVec3::ZERO,
        friction: Friction::NONE,
        given: Some(given),
    });
}
