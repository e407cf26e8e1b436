//! Bodies that cloth meets: each a triangle mesh within a stated tolerance, which is what the certificate judges, and,
//! where it has one, a formula for distance and normal, which is what the response feels.
//!
//! A [`Collider`] is a [`Body`] with a [`Motion`]. [`Collider::place`] puts it where it is at a time; then
//! [`Collider::positions`] and [`Collider::velocities`] are those of its mesh, and [`Collider::touch`] answers how far
//! a point is from it, which way is out and how fast the surface moves there.

mod error;
mod facets;
mod field;
mod form;
mod hull;
mod polygonise;

use crate::drive::{Motion, Transform};
use crate::math::{DMat3, DVec3};
use crate::mesh::Surface;

pub use error::ColliderError;
pub use facets::{Facets, MAX_FACES, lathe};
pub use field::{Ball, Grid, Metaballs};
pub use form::{Form, Near};
pub use hull::convex_hull;

use field::Field;

/// Speed [m/s] above which a body does not go from one key or frame to the next but is there from one moment to the
/// other: nothing is swept on the way. Cloth is tested with 50 m/s.
pub const JUMP: f64 = 500.0;

/// Times nearer than this are the same [s]: substeps end at sums of their lengths.
const INSTANT: f64 = 1e-9;

/// What a collider is, in its own frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A shape with a formula.
    Form(Form),
    /// The convex hull of points [m].
    Hull(Vec<DVec3>),
    /// A triangle mesh, the same at all times or moving through frames.
    Mesh {
        /// Corners of each face.
        faces: Vec<[u32; 3]>,
        /// Positions [m] at times [s], ascending; linear between frames, constant before and after. One frame does not
        /// move.
        frames: Vec<Frame>,
        /// Whether the surface has an inside (by its winding number, so holes and overlaps do no harm); a surface
        /// without one pushes away from both of its sides.
        solid: bool,
    },
    /// Distances on a grid.
    Grid(Grid),
    /// Metaballs.
    Metaballs(Metaballs),
}

/// A mesh at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// When [s].
    pub time: f64,
    /// Where each vertex is [m].
    pub positions: Vec<DVec3>,
}

/// What a point feels of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Signed distance [m], negative inside.
    pub distance: f64,
    /// The nearest point of the surface [m].
    pub point: DVec3,
    /// Unit vector out of the body there.
    pub normal: DVec3,
    /// How fast the surface moves there [m/s].
    pub velocity: DVec3,
}

/// A body in motion.
#[derive(Clone, Debug)]
pub struct Collider {
    body: Body,
    motion: Motion,
    facets: Facets,
    /// For bodies without a formula: their triangles in their own frame, and how fast each vertex moves there [m/s].
    surface: Option<(Surface, Vec<DVec3>)>,
    /// From its own frame to where it stands before any motion.
    stand: Transform,
    placed: Transform,
    rate: Transform,
    positions: Vec<DVec3>,
    velocities: Vec<DVec3>,
    /// When it stands still, and at the end of which it is elsewhere [s]; ascending.
    jumps: Vec<[f64; 2]>,
}

impl Collider {
    /// Checks a body, and makes its mesh within `tolerance` [m] where it has none of its own. Stands at time 0.
    pub fn new(body: Body, motion: Motion, tolerance: f64) -> Result<Collider, ColliderError> {
        Collider::standing(body, Transform::IDENTITY, motion, tolerance)
    }

    /// Like [`Collider::new`], turned and shifted by `stand` before it moves. Motions turn about a pivot in space, so
    /// they cannot say how a body stands.
    pub fn standing(
        body: Body,
        stand: Transform,
        motion: Motion,
        tolerance: f64,
    ) -> Result<Collider, ColliderError> {
        // Distances are measured in the body's own frame: one that is stretched would measure wrong.
        let skew = stand.matrix * stand.matrix.transpose() - DMat3::IDENTITY;
        let turned = skew.to_cols_array().iter().all(|x| x.abs() < 1e-9) && stand.matrix.determinant() > 0.0;
        if !(turned && stand.offset.is_finite()) {
            return Err(ColliderError::NotStanding);
        }
        if let Some(key) = motion.keys.iter().position(|key| key.scale != DVec3::ONE) {
            return Err(ColliderError::NotRigid { key });
        }
        let facets = facets_of(&body, tolerance)?;
        let surface = match &body {
            Body::Hull(_) | Body::Mesh { .. } => {
                let surface = Surface::new(facets.positions.clone(), facets.faces.clone())?;
                Some((surface, vec![DVec3::ZERO; facets.positions.len()]))
            }
            _ => None,
        };
        let (positions, velocities) = (facets.positions.clone(), vec![DVec3::ZERO; facets.positions.len()]);
        let (placed, rate) = (Transform::IDENTITY, Transform::IDENTITY);
        let jumps = jumps(&body, &motion);
        let mut collider =
            Collider { body, motion, facets, surface, stand, placed, rate, positions, velocities, jumps };
        collider.place(0.0)?;
        Ok(collider)
    }

    /// Goes where it is at `time` [s].
    pub fn place(&mut self, time: f64) -> Result<(), ColliderError> {
        let held = self.jump(time, -INSTANT);
        let time = held.unwrap_or(time);
        (self.placed, self.rate) = (self.after(self.motion.at(time)), self.after(self.motion.rate(time)));
        if let (Body::Mesh { frames, .. }, Some((surface, local))) = (&self.body, &mut self.surface)
            && frames.len() > 1
        {
            animate(frames, time, &mut self.facets.positions, local);
            surface.set_positions(&self.facets.positions)?;
        }
        if held.is_some() {
            self.rate = Transform { matrix: DMat3::ZERO, offset: DVec3::ZERO };
            self.surface.iter_mut().for_each(|(_, velocities)| velocities.fill(DVec3::ZERO));
        }
        for (v, x) in self.facets.positions.iter().enumerate() {
            let local = self.surface.as_ref().map_or(DVec3::ZERO, |(_, velocity)| velocity[v]);
            self.positions[v] = self.placed.apply(*x);
            self.velocities[v] = self.rate.apply(*x) + self.placed.matrix * local;
        }
        Ok(())
    }

    /// A map of its motion, taken after how it stands.
    fn after(&self, map: Transform) -> Transform {
        let matrix = map.matrix * self.stand.matrix;
        Transform { matrix, offset: map.matrix * self.stand.offset + map.offset }
    }

    /// When it stands still at `time` [s], since when. At the end of a jump it is there already if `early` is negative,
    /// and not yet if it is positive.
    fn jump(&self, time: f64, early: f64) -> Option<f64> {
        let next = self.jumps.partition_point(|jump| jump[1] + early <= time);
        self.jumps.get(next).filter(|jump| jump[0] + early <= time).map(|jump| jump[0])
    }

    /// Times at which it is elsewhere from one moment to the other [s].
    pub fn jumps(&self) -> impl Iterator<Item = f64> {
        self.jumps.iter().map(|jump| jump[1])
    }

    /// Appends where the vertices of its mesh are from `time` [s] on, wherever it stands now.
    pub fn pose(&self, time: f64, out: &mut Vec<DVec3>) {
        self.pose_at(self.jump(time, -INSTANT).unwrap_or(time), out);
    }

    /// Like [`Collider::pose`], up to `time`: they differ where it jumps.
    pub fn pose_until(&self, time: f64, out: &mut Vec<DVec3>) {
        self.pose_at(self.jump(time, INSTANT).unwrap_or(time), out);
    }

    fn pose_at(&self, time: f64, out: &mut Vec<DVec3>) {
        let placed = self.after(self.motion.at(time));
        match &self.body {
            Body::Mesh { frames, .. } if frames.len() > 1 => {
                let (a, b, part) = between(frames, time);
                let at = |v: usize| a.positions[v] + (b.positions[v] - a.positions[v]) * part;
                out.extend((0..a.positions.len()).map(|v| placed.apply(at(v))));
            }
            _ => out.extend(self.facets.positions.iter().map(|x| placed.apply(*x))),
        }
    }

    /// Whether it is ever elsewhere than at the start.
    pub fn moves(&self) -> bool {
        let keys = &self.motion.keys;
        let travels = keys.iter().any(|k| k.translate != keys[0].translate || k.rotate != keys[0].rotate);
        travels || matches!(&self.body, Body::Mesh { frames, .. } if frames.len() > 1)
    }

    /// What it is.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Its mesh in its own frame: faces, and the tolerance it keeps [m].
    pub fn facets(&self) -> &Facets {
        &self.facets
    }

    /// Where the vertices of its mesh are [m].
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// How fast they move [m/s].
    pub fn velocities(&self) -> &[DVec3] {
        &self.velocities
    }

    /// What a point feels of it, if it is nearer than `within` [m]. Inside always counts.
    pub fn touch(&self, x: DVec3, within: f64) -> Option<Touch> {
        let back = self.placed.matrix.transpose();
        let local = back * (x - self.placed.offset);
        let (near, own) = match &self.body {
            Body::Form(form) => (form.near(local), DVec3::ZERO),
            Body::Grid(grid) => (grid.near(local), DVec3::ZERO),
            Body::Metaballs(balls) => (balls.near(local), DVec3::ZERO),
            Body::Hull(_) => self.near_mesh(local, within, true)?,
            Body::Mesh { solid, .. } => self.near_mesh(local, within, *solid)?,
        };
        let velocity = self.rate.apply(near.point) + self.placed.matrix * own;
        (near.distance <= within).then_some(Touch {
            distance: near.distance,
            point: self.placed.apply(near.point),
            normal: self.placed.matrix * near.normal,
            velocity,
        })
    }

    /// Whether a point is inside. Surfaces that are not solid have no inside.
    pub fn contains(&self, x: DVec3) -> bool {
        let local = self.placed.matrix.transpose() * (x - self.placed.offset);
        match (&self.body, &self.surface) {
            (Body::Form(form), _) => form.near(local).distance < 0.0,
            (Body::Grid(grid), _) => grid.value(local) < 0.0,
            (Body::Metaballs(balls), _) => balls.value(local) < 0.0,
            (Body::Mesh { solid: false, .. }, _) | (_, None) => false,
            (_, Some((surface, _))) => surface.contains(local),
        }
    }

    /// The nearest point of the triangles, and how fast it moves in the body's own frame.
    fn near_mesh(&self, x: DVec3, within: f64, solid: bool) -> Option<(Near, DVec3)> {
        let (surface, velocity) = self.surface.as_ref()?;
        let inside = solid && surface.contains(x);
        let foot = surface.nearest(x, if inside { f64::INFINITY } else { within })?;
        let sign = if inside { -1.0 } else { 1.0 };
        let size = foot.point.abs().max_element().max(1e-3);
        // On the surface the difference has no digits; there the face's own normal serves.
        let normal = if foot.distance > 1e-12 * size {
            (x - foot.point) * (sign / foot.distance)
        } else {
            surface.normal(foot.face)
        };
        let corners = surface.faces()[foot.face as usize];
        let own = (0..3).fold(DVec3::ZERO, |sum, k| sum + velocity[corners[k] as usize] * foot.weights[k]);
        Some((Near { distance: sign * foot.distance, point: foot.point, normal }, own))
    }
}

fn facets_of(body: &Body, tolerance: f64) -> Result<Facets, ColliderError> {
    match body {
        Body::Form(form) => form.facets(tolerance),
        Body::Hull(points) => convex_hull(points),
        Body::Mesh { faces, frames, .. } => {
            let first = frames.first().ok_or(ColliderError::NoFrames)?;
            for (frame, here) in frames.iter().enumerate() {
                let (positions, vertices) = (here.positions.len(), first.positions.len());
                if positions != vertices {
                    return Err(ColliderError::FrameCount { frame, positions, vertices });
                }
                let previous = if frame > 0 { frames[frame - 1].time } else { f64::NEG_INFINITY };
                if !(here.time > previous && here.time.is_finite()) {
                    return Err(ColliderError::FrameTime { frame, time: here.time, previous });
                }
                let bad = |p: &DVec3| !(p.is_finite() && p.abs().max_element() <= error::LARGEST);
                if let Some(element) = here.positions.iter().position(bad) {
                    return Err(ColliderError::NotFinite { shape: "mesh", element });
                }
            }
            Ok(Facets { positions: first.positions.clone(), faces: faces.clone(), tolerance: 0.0 })
        }
        Body::Grid(grid) => {
            grid.check()?;
            polygonise::polygonise("grid", grid, tolerance)
        }
        Body::Metaballs(balls) => {
            balls.check()?;
            polygonise::polygonise("metaballs", balls, tolerance)
        }
    }
}

/// When a body would be faster than [`JUMP`], by its keys or its frames.
fn jumps(body: &Body, motion: &Motion) -> Vec<[f64; 2]> {
    let fast = |way: f64, [a, b]: [f64; 2]| (way > JUMP * (b - a)).then_some([a, b]);
    let keys = motion.keys.windows(2);
    let mut all: Vec<[f64; 2]> =
        keys.filter_map(|k| fast(k[0].translate.distance(k[1].translate), [k[0].time, k[1].time])).collect();
    if let Body::Mesh { frames, .. } = body {
        let way = |a: &Frame, b: &Frame| {
            a.positions.iter().zip(&b.positions).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max)
        };
        all.extend(frames.windows(2).filter_map(|f| fast(way(&f[0], &f[1]), [f[0].time, f[1].time])));
    }
    all.sort_by(|a, b| a[1].total_cmp(&b[1]));
    all
}

/// The frames before and after `time`, of two or more, and how far it is between them.
fn between(frames: &[Frame], time: f64) -> (&Frame, &Frame, f64) {
    let after = frames.partition_point(|frame| frame.time <= time).clamp(1, frames.len() - 1);
    let (a, b) = (&frames[after - 1], &frames[after]);
    (a, b, ((time - a.time) / (b.time - a.time)).clamp(0.0, 1.0))
}

/// Positions and velocities of a mesh between its frames.
fn animate(frames: &[Frame], time: f64, positions: &mut [DVec3], velocities: &mut [DVec3]) {
    let (a, b, part) = between(frames, time);
    let span = b.time - a.time;
    let moving = if time >= a.time && time < b.time { 1.0 } else { 0.0 };
    for v in 0..positions.len() {
        let way = b.positions[v] - a.positions[v];
        positions[v] = a.positions[v] + way * part;
        velocities[v] = way * (moving / span);
    }
}

#[cfg(test)]
mod tests;
