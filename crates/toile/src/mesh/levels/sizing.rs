//! The default criterion: how large triangles should be, in metres, and what follows from it.
//!
//! Each face of the mesh gets a size from four observations, the smallest counts:
//! * the angle to its neighbours over the distance between their middles: how much the cloth turns per metre;
//! * the curvature of bodies it touches, which it will have to take;
//! * compression: a straight piece of cloth as long as an arc that turns by θ is shorter by θ²/24 of its length when it
//!   follows the chord. Where triangles are compressed by ε, the cloth would turn by √(24 ε) over one of them if it had
//!   vertices to bend at: it is split before it buckles, not after;
//! * the difference of strain to neighbours, per metre.
//!
//! A leaf is split where its longest side is longer than its size. Four children are put back when each has a size so
//! much larger than its sides that the parent fits too with a margin, when the parent itself stands at no angle that would
//! split it again, and when they have been there for some time. So nothing is split and cancelled in turns.

use super::neighbours::{angle, normal};
use super::{Closure, Face, Levels, LevelsError};
use crate::math::DVec3;
use std::cmp::Reverse;

/// What a criterion may look at. Lists of another length than the mesh asks for are refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen<'a> {
    /// Position of each vertex [m].
    pub positions: &'a [DVec3],
    /// Curvature of the bodies that each vertex touches [1/m], the larger of the two directions; 0 where it touches
    /// nothing. Empty: no bodies.
    pub touching: &'a [f64],
    /// The two principal strains of each face of the mesh [-], negative where it is compressed. Empty: not looked at.
    pub strains: &'a [[f64; 2]],
    /// π² D/E of the fabric [m²]: cloth of length ℓ that is compressed by more than this over ℓ² buckles (Euler).
    pub buckling: f64,
}

impl Seen<'_> {
    pub(super) fn check(&self, levels: &Levels) -> Result<(), LevelsError> {
        let (vertices, faces) = (levels.mesh().vertices(), levels.mesh().faces().len());
        Levels::check_count("positions", self.positions.len(), vertices)?;
        if !self.touching.is_empty() {
            Levels::check_count("curvatures of bodies", self.touching.len(), vertices)?;
        }
        if !self.strains.is_empty() {
            Levels::check_count("pairs of strains", self.strains.len(), faces)?;
        }
        Ok(())
    }
}

/// What a criterion asks for: arguments of [`Levels::change`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Leaves to split.
    pub split: Vec<Face>,
    /// Sides to halve instead, see [`Levels::halve`].
    pub halve: Vec<[u32; 2]>,
    /// Faces to make leaves again.
    pub cancel: Vec<Face>,
}

impl Wishes {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.split.is_empty() && self.halve.is_empty() && self.cancel.is_empty()
    }

    /// As many of the splits, the first ones first, as leave the mesh with no more than `budget` faces if all is done.
    pub fn within(mut self, levels: &Levels, budget: usize) -> Result<Wishes, LevelsError> {
        if levels.closure() == Closure::Halves {
            // A side has two faces, as a rule.
            self.halve.truncate(budget.saturating_sub(levels.leaf_count()) / 2);
            return Ok(self);
        }
        let faces = |splits: usize| levels.faces_after(&self.split[..splits], &self.cancel);
        if faces(self.split.len())? <= budget {
            return Ok(self);
        }
        // More splits never give fewer faces, so the limit is found by halving.
        let (mut fits, mut exceeds) = (0, self.split.len());
        while fits + 1 < exceeds {
            let middle = (fits + exceeds) / 2;
            if faces(middle)? <= budget { fits = middle } else { exceeds = middle }
        }
        self.split.truncate(fits);
        Ok(self)
    }
}

/// Sizes of triangles from what the cloth does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizing {
    /// How far cloth may turn over one triangle [rad].
    pub turn: f64,
    /// How much strain may change over one triangle [-].
    pub strain_step: f64,
    /// No triangle is split to get sides below this [m].
    pub smallest: f64,
    /// Every triangle with longer sides is split [m].
    pub largest: f64,
    /// Children are put back when their sides times this are below their size. 2 would be just enough for the parent.
    pub hysteresis: f64,
    /// And when they have been there for as many ticks, see [`Levels::pass`].
    pub patience: u64,
}

impl Default for Sizing {
    fn default() -> Sizing {
        Sizing {
            turn: 0.3,
            strain_step: 0.05,
            smallest: 0.0,
            largest: f64::INFINITY,
            hysteresis: 2.5,
            patience: 10,
        }
    }
}

impl Sizing {
    /// What to split, the most urgent first, and what to cancel.
    pub fn wishes(&self, levels: &Levels, seen: &Seen) -> Result<Wishes, LevelsError> {
        self.check()?;
        seen.check(levels)?;
        let beside = levels.beside();
        let mut wanted = self.wanted(levels, seen, &beside);
        spread(levels, &beside, &mut wanted);
        let sizes = self.sizes_below(levels, &self.with_compression(levels, seen, &wanted));
        // As far away as the parents of these faces would look.
        spread(levels, &beside, &mut wanted);
        let calm = self.sizes_below(levels, &self.with_compression(levels, seen, &wanted));
        let cancel = self.cancelled(levels, seen, &beside, &calm);
        let mut urgent: Vec<(Reverse<u64>, Face)> = Vec::new();
        for face in levels.leaves().filter(|&f| levels.nodes[f as usize].level < levels.most()) {
            let side = levels.nodes[face as usize].longest();
            let size = sizes[face as usize];
            if side > size && 0.5 * side >= self.smallest {
                // Positive numbers are ordered as their bits are.
                urgent.push((Reverse((side / size).to_bits()), face));
            }
        }
        urgent.sort_unstable();
        let split = urgent.into_iter().map(|(_, face)| face).collect();
        Ok(Wishes { split, cancel, ..Wishes::default() })
    }

    /// The size wanted of the triangles in each face of the mesh [m].
    pub fn sizes(&self, levels: &Levels, seen: &Seen) -> Result<Vec<f64>, LevelsError> {
        self.check()?;
        seen.check(levels)?;
        let beside = levels.beside();
        let mut wanted = self.wanted(levels, seen, &beside);
        spread(levels, &beside, &mut wanted);
        let wanted = self.with_compression(levels, seen, &wanted);
        Ok(wanted.into_iter().map(|per_metre| self.size(per_metre)).collect())
    }

    /// Refuses numbers that make no sense.
    pub fn check(&self) -> Result<(), LevelsError> {
        let sound = [
            ("turn [rad]", self.turn, self.turn > 0.0, "above 0"),
            ("strain_step [-]", self.strain_step, self.strain_step > 0.0, "above 0"),
            ("largest [m]", self.largest, self.largest > 0.0, "above 0"),
            ("smallest [m]", self.smallest, self.smallest >= 0.0, "0 or more"),
            ("hysteresis", self.hysteresis, self.hysteresis >= 2.0, "2 or more"),
        ];
        match sound.into_iter().find(|(_, _, sound, _)| !sound) {
            Some((what, value, _, limit)) => Err(LevelsError::Setting { what, value, limit }),
            None => Ok(()),
        }
    }

    /// The size that goes with a number of triangles wanted per metre.
    fn size(&self, per_metre: f64) -> f64 {
        (1.0 / per_metre.max(0.0)).min(self.largest)
    }

    /// Triangles per metre wanted by each face of the mesh for what curves it and strains it unevenly.
    fn wanted(&self, levels: &Levels, seen: &Seen, beside: &[[u32; 2]]) -> Vec<f64> {
        let mesh = levels.mesh();
        let touched = |v: &u32| seen.touching.get(*v as usize).copied().unwrap_or(0.0);
        let bodies = |face: &[u32; 3]| face.iter().map(touched).fold(0.0, f64::max) / self.turn;
        let mut wanted: Vec<f64> = mesh.faces().iter().map(bodies).collect();
        let normals: Vec<DVec3> = mesh.faces().iter().map(|&face| normal(face, seen.positions)).collect();
        for pair in beside {
            let [f, g] = pair.map(|face| face as usize);
            let mut change = angle(normals[f], normals[g]) / self.turn;
            if let (Some(e), Some(d)) = (seen.strains.get(f), seen.strains.get(g)) {
                let step = (e[0] - d[0]).abs().max((e[1] - d[1]).abs());
                change = change.max(step / self.strain_step);
            }
            let per_metre = change / apart(levels.owner(f).longest(), levels.owner(g).longest());
            // `max` leaves out what is not a number.
            (wanted[f], wanted[g]) = (wanted[f].max(per_metre), wanted[g].max(per_metre));
        }
        wanted
    }

    /// And for compression. It asks for a part of the face's own side, so neighbours of another size have no use for it.
    fn with_compression(&self, levels: &Levels, seen: &Seen, wanted: &[f64]) -> Vec<f64> {
        let mut all = wanted.to_vec();
        for (f, strains) in seen.strains.iter().enumerate() {
            let compressed = (-strains[0].min(strains[1])).max(0.0);
            all[f] = all[f].max((24.0 * compressed).sqrt() / (self.turn * levels.owner(f).longest()));
        }
        all
    }

    /// The size wanted in each face of the forest [m]; of split ones, the least below them.
    fn sizes_below(&self, levels: &Levels, wanted: &[f64]) -> Vec<f64> {
        let most =
            |span: [u32; 2]| wanted[span[0] as usize..span[1] as usize].iter().copied().fold(0.0, f64::max);
        levels.nodes.iter().map(|node| self.size(most(node.span))).collect()
    }

    /// The faces whose four children can go.
    fn cancelled(&self, levels: &Levels, seen: &Seen, beside: &[[u32; 2]], sizes: &[f64]) -> Vec<Face> {
        let roomy = |f: Face| levels.nodes[f as usize].longest() * self.hysteresis <= sizes[f as usize];
        let ready = |f: &Face| {
            let old = levels.age(*f).is_some_and(|age| age >= self.patience);
            old && levels
                .children(*f)
                .is_some_and(|all| all.iter().all(|&c| levels.children(c).is_none() && roomy(c)))
        };
        let candidates: Vec<Face> = (0..levels.nodes.len() as Face).filter(ready).collect();
        if candidates.is_empty() {
            return candidates;
        }
        let around = levels.leaves_beside(beside);
        candidates.into_iter().filter(|&f| self.lies_flat(levels, seen, &around, f)).collect()
    }

    /// Whether a split face, were it whole, would fit its size with the margin of the hysteresis.
    fn lies_flat(&self, levels: &Levels, seen: &Seen, around: &[[u32; 2]], face: Face) -> bool {
        let node = &levels.nodes[face as usize];
        let own = normal(node.corners, seen.positions);
        let longest = 0.5 * self.hysteresis * node.longest();
        node.children[..3].iter().all(|&child| {
            let first = around.partition_point(|pair| pair[0] < child);
            let others = around[first..].iter().take_while(|pair| pair[0] == child).map(|pair| pair[1]);
            others.filter(|other| !node.children.contains(other)).all(|other| {
                let beyond = &levels.nodes[other as usize];
                let turn = angle(own, normal(beyond.corners, seen.positions));
                longest <= self.size(turn / apart(node.longest(), beyond.longest()) / self.turn)
            })
        })
    }
}

/// How far two neighbours are from each other [m], from the longest sides of their leaves: as the middles of equilateral
/// triangles would be, the larger on both sides. Middles themselves are no better: the normal of a triangle is that of a
/// sphere through its corners above the centre of their circle, and for the slender triangles between levels that centre
/// is as far away as for the leaf they were cut from. Children are similar to their parent, so that what is wrong with this is
/// as wrong at every level.
fn apart(a: f64, b: f64) -> f64 {
    a.max(b) / 3.0_f64.sqrt()
}

/// Gives every face the most that one beside it, or with a common vertex, wants. A face sees curvature only across its own
/// edges, and may see little of it; and folds arrive from the side.
fn spread(levels: &Levels, beside: &[[u32; 2]], wanted: &mut [f64]) {
    let faces = levels.mesh().faces();
    let mut most = vec![0.0_f64; levels.mesh().vertices()];
    for (face, &wish) in faces.iter().zip(&*wanted) {
        face.iter().for_each(|&v| most[v as usize] = most[v as usize].max(wish));
    }
    let before = wanted.to_vec();
    for (face, wish) in faces.iter().zip(&mut *wanted) {
        *wish = face.iter().map(|&v| most[v as usize]).fold(*wish, f64::max);
    }
    // Across cracks neighbours need not share a vertex.
    for pair in beside {
        let [f, g] = pair.map(|face| face as usize);
        (wanted[f], wanted[g]) = (wanted[f].max(before[g]), wanted[g].max(before[f]));
    }
}
