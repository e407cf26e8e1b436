//! A criterion for halves: short triangles across folds, long ones along them.
//!
//! A chord of an arc of curvature κ and length ℓ is off by the sag κ ℓ²/8. At each vertex a metric says how many times the
//! sag allowed goes into that of a side in any direction, from
//! * how the cloth is curved there: angles at edges, times their lengths, over the area round the vertex, as a tensor
//!   across the edges;
//! * the curvature of bodies it touches, which it will have to take, in every direction;
//!
//! and how many times the force goes into its compression at which cloth as long as the side would buckle if it had a vertex to
//! bend at: Euler's π² D/ℓ² per width. Cloth that is compressed by more cannot fold on its triangles. It is halved across the
//! folds to come, and not beyond their size: the shorter the side, the more it may carry.
//!
//! Sides longer than 1 in that metric are halved, the longest first. The longest side of all is the longest of the faces at it, so
//! that triangles stay well shaped in the metric, however they began (Rivara). Four triangles are put back into two where the
//! side that they would have fits with a margin, and the vertex that goes is not farther from its middle than that margin
//! allows.

use super::halves::Halving;
use super::neighbours::normal;
use super::{Closure, Face, Levels, LevelsError, Seen, Wishes};
use crate::math::matrix::{outer, scaled_identity};
use crate::math::{DMat3, DVec3};
use crate::mesh::Edge;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Times that a face is halved at a look, at most. An edge that is bent sharply is the harder to bend the shorter the triangles beside it
/// are: they must have time to take part in the fold.
const AT_ONCE: u32 = 2;

/// Faces that an edge bends by more than this [rad] are left alone: between wings that are nearly closed there is no room for vertices, which
/// must keep their distance from the other wing.
const SHARP: f64 = 2.0;

/// Less than one in so many faces is split every so many ticks only, and put back one time in so many that it is looked for.
const FEW: usize = 50;
const WAIT: u64 = 4;

/// Sides of triangles from how far chords may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Folds {
    /// How far the middle of a side may be from the cloth that it stands for [m].
    pub sag: f64,
    /// Times the force under which cloth as long as a side buckles that compresses it at the most.
    pub load: f64,
    /// How many times longer along a fold than across it triangles may be.
    pub slender: f64,
    /// No side is halved to get shorter ones [m].
    pub smallest: f64,
    /// Every longer side is halved [m].
    pub largest: f64,
    /// What is put back must fit with this part of the sag and the load.
    pub margin: f64,
    /// And have been there for as many ticks, see [`Levels::pass`]; four times as many each time that it was halved again soon
    /// after. So often it is looked for.
    pub patience: u64,
}

impl Default for Folds {
    fn default() -> Folds {
        let (smallest, largest) = (0.0, f64::INFINITY);
        Folds { sag: 4e-3, load: 8.0, slender: 4.0, smallest, largest, margin: 0.8, patience: 3 }
    }
}

/// What is known of a vertex, or of one to be.
#[derive(Clone, Copy)]
struct Spot {
    place: DVec3,
    /// Squared lengths of sides, in those that would just do: for their sag and for their load.
    metrics: [DMat3; 2],
    /// Whether it touches something curved.
    touches: bool,
}

impl Spot {
    fn between(a: &Spot, b: &Spot) -> Spot {
        Spot {
            place: 0.5 * (a.place + b.place),
            metrics: [0, 1].map(|k| (a.metrics[k] + b.metrics[k]) * 0.5),
            touches: a.touches && b.touches,
        }
    }
}

impl Folds {
    /// Refuses numbers that make no sense.
    pub fn check(&self) -> Result<(), LevelsError> {
        let sound = [
            ("sag [m]", self.sag, self.sag > 0.0, "above 0"),
            ("load", self.load, self.load > 0.0, "above 0"),
            ("slender", self.slender, self.slender >= 1.0, "1 or more"),
            ("largest [m]", self.largest, self.largest > 0.0, "above 0"),
            ("smallest [m]", self.smallest, self.smallest >= 0.0, "0 or more"),
            ("margin", self.margin, self.margin >= 0.0 && self.margin < 1.0, "at least 0 and below 1"),
        ];
        match sound.into_iter().find(|(_, _, sound, _)| !sound) {
            Some((what, value, _, limit)) => Err(LevelsError::Setting { what, value, limit }),
            None => Ok(()),
        }
    }

    /// The sides to halve, one after the other, and what to put back.
    pub fn wishes(&self, levels: &Levels, seen: &Seen) -> Result<Wishes, LevelsError> {
        self.check()?;
        seen.check(levels)?;
        if levels.closure() != Closure::Halves {
            return Err(LevelsError::Halves);
        }
        let edges = edges(levels, seen.positions);
        let spots = self.spots(levels, seen, &edges);
        // What can go goes together: putting back takes a look at everything that it might meet.
        let due = levels.now().is_multiple_of(self.patience.max(1));
        let mut cancel = if due { self.cancelled(levels, &spots) } else { Vec::new() };
        // A new mesh costs as much for one side as for many: a few wait.
        let wait = |count: usize, ticks: u64| {
            count * FEW < levels.leaf_count() && !levels.now().is_multiple_of(ticks)
        };
        if wait(cancel.len(), WAIT * self.patience.max(1)) {
            cancel.clear();
        }
        let sharp = edges.iter().filter(|bent| bent.angle.abs() > SHARP).flat_map(|bent| bent.faces);
        let sharp: Vec<Face> = sharp.map(|face| levels.owners()[face as usize]).collect();
        let mut halve = self.halved(levels, spots, &sharp);
        if wait(halve.len(), WAIT) {
            halve.clear();
        }
        Ok(Wishes { halve, cancel, ..Wishes::default() })
    }

    /// The square of how long a side is, in sides that would just do.
    fn length(&self, a: &Spot, b: &Spot) -> f64 {
        let side = a.place - b.place;
        let [sag, load] = Spot::between(a, b).metrics.map(|metric| side.dot(metric * side));
        sag.max(load).max(side.length_squared() / (self.largest * self.largest))
    }

    /// The sides to halve.
    fn halved(&self, levels: &Levels, mut spots: Vec<Spot>, sharp: &[Face]) -> Vec<[u32; 2]> {
        let mut draft = Halving::of(levels, AT_ONCE);
        sharp.iter().for_each(|leaf| draft.keep(*leaf));
        // The longest last; of equal ones the one with the lower numbers.
        let mut waiting: BTreeSet<(u64, Reverse<[u32; 2]>)> = BTreeSet::new();
        let wait = |side: [u32; 2], draft: &Halving, spots: &[Spot]| {
            let length = self.length(&spots[side[0] as usize], &spots[side[1] as usize]);
            let may = || draft.length(side).is_some_and(|rest| 0.5 * rest >= self.smallest);
            // Positive numbers are ordered as their bits are.
            (length > 1.0 && length.is_finite() && may()).then(|| (length.to_bits(), Reverse(side)))
        };
        waiting.extend(levels.mesh().edges().iter().filter_map(|edge| wait(edge.ends, &draft, &spots)));
        let mut halved = Vec::new();
        while let Some((_, Reverse(side))) = waiting.pop_last() {
            // A face at it may be as deep as can be by now.
            let Ok(new) = draft.halve(side) else { continue };
            halved.push(side);
            spots.push(Spot::between(&spots[side[0] as usize], &spots[side[1] as usize]));
            waiting.extend(new.into_iter().filter_map(|[a, b]| wait([a.min(b), a.max(b)], &draft, &spots)));
        }
        halved
    }

    /// Whether a face has been halved for long enough: four times as long after each time that this was too early.
    fn is_due(&self, levels: &Levels, face: Face) -> bool {
        let wait = self.patience.saturating_mul(1 << (2 * levels.again(face).unwrap_or(0)));
        levels.age(face).is_some_and(|age| age >= wait)
    }

    /// The halved faces to put back, one of those at each side.
    fn cancelled(&self, levels: &Levels, spots: &[Spot]) -> Vec<Face> {
        let at = |v: u32| &spots[v as usize];
        let ready = |face: &Face| {
            let node = &levels.nodes[*face as usize];
            if !node.is_split() {
                return false;
            }
            let ends = node.ends(usize::from(node.side));
            let all = levels.together(*face, ends);
            let whole =
                |f: &Face| levels.nodes[*f as usize].below().iter().all(|c| levels.children(*c).is_none());
            if all.iter().min() != Some(face)
                || !all.iter().all(|face| whole(face) && self.is_due(levels, *face))
            {
                return false;
            }
            let middle = at(levels.nodes[node.below()[0] as usize].corners[1]);
            let [a, b] = ends.map(at);
            // The middle may know of a fold that the ends are not aware of.
            let [from, to] = [a, b].map(|end| Spot { place: end.place, ..*middle });
            let long = self.length(a, b).max(self.length(&from, &to));
            let off = (middle.place - 0.5 * (a.place + b.place)).length();
            // A chord would go into what it touches.
            !middle.touches && long.max(off / self.sag) <= self.margin
        };
        (0..levels.nodes.len() as Face).filter(ready).collect()
    }

    /// What is known of each vertex.
    fn spots(&self, levels: &Levels, seen: &Seen, edges: &[Bent]) -> Vec<Spot> {
        let x = seen.positions;
        let curved = curvatures(levels, x, edges);
        let squeezed = compressions(levels, x);
        let per_load = 1.0 / (self.load * seen.buckling.max(f64::MIN_POSITIVE));
        let per_sag = 1.0 / (8.0 * self.sag);
        let metric = |(v, (normal, [xx, xy, yy])): (usize, &(DVec3, [f64; 3]))| {
            // The larger curvature, by size, and its direction.
            let (along, across) = normal.any_orthonormal_pair();
            let (mean, half) = (0.5 * (xx + yy), 0.5 * (xx - yy));
            let radius = (half * half + xy * xy).sqrt();
            let (first, second) =
                if mean >= 0.0 { (mean + radius, mean - radius) } else { (mean - radius, mean + radius) };
            // Either of two forms is far from zero.
            let [p, q] = [[first - yy, *xy], [*xy, first - xx]];
            let [p, q] = if p[0].abs() + p[1].abs() > q[0].abs() + q[1].abs() { p } else { q };
            let direction = (along * p + across * q).normalize_or_zero();
            let body = seen.touching.get(v).copied().unwrap_or(0.0);
            let most = first.abs().max(body);
            let least = second.abs().max(body).max(most / (self.slender * self.slender));
            scaled_identity(least * per_sag) + outer(direction, direction) * ((most - least) * per_sag)
        };
        let metrics: Vec<DMat3> = curved.iter().enumerate().map(metric).collect();
        let metrics = smoothed(levels, &metrics);
        let spot = |v: usize| Spot {
            place: x[v],
            metrics: [metrics[v], squeezed[v] * per_load],
            touches: seen.touching.get(v).is_some_and(|curvature| *curvature > 0.0),
        };
        (0..x.len()).map(spot).collect()
    }
}

/// Every vertex with the mean of its own and, half as much each, of those beside it.
fn smoothed(levels: &Levels, own: &[DMat3]) -> Vec<DMat3> {
    let mut all: Vec<(DMat3, f64)> = own.iter().map(|m| (*m, 1.0)).collect();
    for [a, b] in levels.mesh().edges().iter().map(|edge| edge.ends.map(|v| v as usize)) {
        for (to, from) in [(a, b), (b, a)] {
            all[to].0 += own[from] * 0.5;
            all[to].1 += 0.5;
        }
    }
    all.into_iter().map(|(sum, weight)| sum * (1.0 / weight)).collect()
}

/// An edge between two faces.
struct Bent {
    ends: [u32; 2],
    faces: [u32; 2],
    /// Length [m].
    length: f64,
    /// How far the cloth turns there [rad], and the direction across.
    angle: f64,
    across: DVec3,
}

fn edges(levels: &Levels, x: &[DVec3]) -> Vec<Bent> {
    let mesh = levels.mesh();
    let normals: Vec<DVec3> = mesh.faces().iter().map(|&face| normal(face, x)).collect();
    let inner = mesh.edges().iter().filter(|edge| !edge.is_border());
    let bent = |edge: &Edge| {
        let [m, n] = edge.faces.map(|f| normals[f as usize]);
        let side = x[edge.ends[1] as usize] - x[edge.ends[0] as usize];
        let along = side.normalize_or_zero();
        let face = mesh.faces()[edge.faces[0] as usize];
        let forward = (0..3).any(|k| face[k] == edge.ends[0] && face[(k + 1) % 3] == edge.ends[1]);
        let turned = m.cross(n).dot(along) * if forward { 1.0 } else { -1.0 };
        let across = along.cross((m.normalize_or_zero() + n.normalize_or_zero()).normalize_or_zero());
        let angle = libm::atan2(turned, m.dot(n));
        Bent { ends: edge.ends, faces: edge.faces, length: side.length(), angle, across }
    };
    inner.map(bent).collect()
}

/// The normal at each vertex and how the cloth is curved there [1/m], as a symmetric tensor in the plane across the normal: angles at the
/// edges that end there, times half their lengths, over the area that belongs to it (Cohen-Steiner and Morvan).
fn curvatures(levels: &Levels, x: &[DVec3], edges: &[Bent]) -> Vec<(DVec3, [f64; 3])> {
    let mesh = levels.mesh();
    let (mut up, mut area) = (vec![DVec3::ZERO; x.len()], vec![0.0; x.len()]);
    for face in mesh.faces() {
        let n = normal(*face, x);
        for v in face.map(|v| v as usize) {
            up[v] += n;
            area[v] += n.length() / 6.0;
        }
    }
    let mut all: Vec<(DVec3, [f64; 3])> = up.iter().map(|n| (n.normalize_or(DVec3::Y), [0.0; 3])).collect();
    for bent in edges {
        for v in bent.ends.map(|v| v as usize) {
            let (a, b) = all[v].0.any_orthonormal_pair();
            let (p, q) = (bent.across.dot(a), bent.across.dot(b));
            let much = 0.5 * bent.angle * bent.length / area[v].max(f64::MIN_POSITIVE);
            let tensor = &mut all[v].1;
            *tensor = [tensor[0] + much * p * p, tensor[1] + much * p * q, tensor[2] + much * q * q];
        }
    }
    all
}

/// How much shorter cloth is than at rest round each vertex, along the direction in which each face is shortest.
fn compressions(levels: &Levels, x: &[DVec3]) -> Vec<DMat3> {
    let mesh = levels.mesh();
    let (mut all, mut area) = (vec![DMat3::ZERO; x.len()], vec![0.0; x.len()]);
    for ((face, rest), size) in mesh.faces().iter().zip(mesh.rest()).zip(mesh.area()) {
        let [p, q] = [1, 2].map(|k| x[face[k] as usize] - x[face[0] as usize]);
        let [r, s] = [1, 2].map(|k| rest[k] - rest[0]);
        let twice = r.perp_dot(s);
        // The images of warp and weft, and Green's strain.
        let (u, v) = ((p * s.y - q * r.y) / twice, (q * r.x - p * s.x) / twice);
        let (xx, yy, xy) = (0.5 * (u.dot(u) - 1.0), 0.5 * (v.dot(v) - 1.0), 0.5 * u.dot(v));
        let (mean, half) = (0.5 * (xx + yy), 0.5 * (xx - yy));
        let low = mean - (half * half + xy * xy).sqrt();
        let [p, q] = [[low - yy, xy], [xy, low - xx]];
        let [p, q] = if p[0].abs() + p[1].abs() > q[0].abs() + q[1].abs() { p } else { q };
        let direction = (u * p + v * q).normalize_or_zero();
        for v in face.map(|v| v as usize) {
            all[v] += outer(direction, direction) * ((-low).max(0.0) * size);
            area[v] += size;
        }
    }
    all.iter().zip(&area).map(|(sum, area)| *sum * (1.0 / area.max(f64::MIN_POSITIVE))).collect()
}
