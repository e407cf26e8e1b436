//! Faces halved at a side, together with the face on the other side: long triangles along folds, short ones across
//! (B14-15).
//!
//! A half is a face like any other and can be halved at any of its sides. All faces at a side are halved with it and put back with
//! it, so that there are never cracks. Where the mesh is finer leaves the surface where it was; only putting back
//! moves it.

use super::lattice;
use super::tree::{Node, ascending, depth_first, half, halved, midpoints};
use super::{Change, Closure, Counts, Face, Levels, LevelsError, Mark, NONE, Wishes, transfer};
use crate::mesh::shapes::MAX_FACES;
use std::collections::{BTreeMap, BTreeSet};

impl Node {
    /// The two halves of this face, which is number `own`, as leaves.
    pub(super) fn halved(&self, own: Face, side: u8) -> [Node; 2] {
        let k = usize::from(side);
        let spots = halved(self.spots, k, midpoints(self.spots, lattice::midpoint)[k]);
        let rest = halved(self.rest, k, midpoints(self.rest, half)[k]);
        [0, 1].map(|k| Node {
            level: self.level + 1,
            mark: Mark::Split,
            parent: own,
            children: [NONE; 4],
            side: 0,
            spots: spots[k],
            rest: rest[k],
            // Numbered when the forest is complete.
            corners: [NONE; 3],
            ..*self
        })
    }

    /// Makes it a face split into those from `first` on; the side is that of halves.
    pub(super) fn set_children(&mut self, first: Face, side: u8) {
        let count = if self.halves { 2 } else { 4 };
        self.side = side;
        self.children = [0, 1, 2, 3].map(|k| if k < count { first + k } else { NONE });
    }

    /// The ends of a side.
    pub(super) fn ends(&self, k: usize) -> [u32; 2] {
        ascending(self.corners[k], self.corners[(k + 1) % 3])
    }

    /// Which side has these ends.
    pub(super) fn side_of(&self, ends: [u32; 2]) -> Option<usize> {
        (0..3).find(|&k| self.ends(k) == ends)
    }
}

/// Ticks within which what was put back and is halved again was put back too early, and how often that is counted.
const SOON: u64 = 60;
pub(super) const MOST_AGAIN: u8 = 8;

/// A forest being halved. Old faces and vertices keep their numbers, new ones are appended.
pub(super) struct Halving<'a> {
    levels: &'a Levels,
    nodes: Vec<Node>,
    /// How often each face may have been split in the end.
    limits: Vec<u32>,
    /// Sides of new faces.
    sides: BTreeMap<[u32; 2], Vec<Face>>,
    vertices: u32,
    counts: Counts,
}

impl Halving<'_> {
    /// Nothing halved yet; no face is to be halved more than `times` times.
    pub(super) fn of(levels: &Levels, times: u32) -> Halving<'_> {
        let (vertices, deepest) = (levels.numbers.vertices() as u32, levels.ground.deepest());
        let (nodes, counts) = (levels.nodes.clone(), levels.counts);
        let limits = nodes.iter().map(|node| node.level.saturating_add(times).min(deepest)).collect();
        Halving { levels, nodes, limits, sides: BTreeMap::new(), vertices, counts }
    }

    /// Lets a leaf be as it is.
    pub(super) fn keep(&mut self, leaf: Face) {
        self.limits[leaf as usize] = 0;
    }

    /// The leaves at a side.
    pub(super) fn around(&self, side: [u32; 2]) -> Vec<Face> {
        let new = self.sides.get(&side).into_iter().flatten().copied();
        let leaf = |f: &Face| !self.nodes[*f as usize].is_split();
        self.levels.sharing(side).chain(new).filter(leaf).collect()
    }

    /// How long a side is at rest, in the first of its faces [m]; `None` where it cannot be halved.
    pub(super) fn length(&self, side: [u32; 2]) -> Option<f64> {
        let around = self.around(side);
        let may = |f: &Face| self.nodes[*f as usize].level < self.limits[*f as usize];
        let node = &self.nodes[*around.first().filter(|_| around.iter().all(may))? as usize];
        let k = node.side_of(side)?;
        Some((node.rest[k] - node.rest[(k + 1) % 3]).length())
    }

    /// Halves all faces at a side. Returns the new sides; the vertex in its middle is the next one.
    pub(super) fn halve(&mut self, side: [u32; 2]) -> Result<Vec<[u32; 2]>, LevelsError> {
        let (around, middle) = (self.around(side), self.vertices);
        if self.length(side).is_none() {
            return Err(LevelsError::NoSide { ends: side });
        }
        let mut new = side.map(|end| [end, middle]).to_vec();
        for face in around {
            let first = self.nodes.len() as Face;
            let node = &mut self.nodes[face as usize];
            let Some(k) = node.side_of(side) else { continue };
            if node.mark == Mark::Cancelled {
                let soon = self.levels.now.saturating_sub(node.since) < SOON;
                node.again = if soon { MOST_AGAIN.min(node.again + 1) } else { 0 };
            }
            let corners = node.corners;
            let mut halves = node.halved(face, k as u8);
            for (node, corners) in halves.iter_mut().zip(halved(corners, k, middle)) {
                (node.corners, node.since) = (corners, self.levels.now);
            }
            for (half, face) in halves.iter().zip(first..) {
                (0..3).for_each(|k| self.sides.entry(half.ends(k)).or_default().push(face));
            }
            new.push([corners[(k + 2) % 3], middle]);
            self.nodes.extend(halves);
            self.limits.extend([self.limits[face as usize]; 2]);
            let node = &mut self.nodes[face as usize];
            node.set_children(first, k as u8);
            node.since = self.levels.now;
            self.counts.performed += 1;
        }
        self.vertices += 1;
        Ok(new)
    }

    /// Puts a halved face back, with those that were halved with it, if none of their halves is halved again.
    fn cancel(&mut self, face: Face) {
        let node = &self.nodes[face as usize];
        if !node.is_split() {
            return;
        }
        let ends = node.ends(usize::from(node.side));
        let all = self.levels.together(face, ends);
        let whole = |f: &Face| {
            let below = self.nodes[*f as usize].below();
            below.iter().all(|half| !self.nodes[*half as usize].is_split())
        };
        if !all.iter().all(whole) {
            self.counts.refused += 1;
            return;
        }
        for face in all {
            let node = &mut self.nodes[face as usize];
            (node.children, node.side, node.mark) = ([NONE; 4], 0, Mark::Cancelled);
            node.since = self.levels.now;
            self.counts.cancelled += 1;
        }
    }
}

impl Levels {
    /// Halves the faces at `sides`, one after the other, and then puts back the halved faces `cancel` with those that were halved
    /// with them; all at once or nothing. A side is named by its ends; the vertex that the k-th of them gets in its middle
    /// goes by the number of vertices plus k. A face stays halved where [`Counts::refused`] says so.
    pub fn halve(&mut self, sides: &[[u32; 2]], cancel: &[Face]) -> Result<Change, LevelsError> {
        if self.ground.closure != Closure::Halves {
            return Err(LevelsError::Halves);
        }
        self.check_split(cancel)?;
        let mut draft = Halving::of(self, u32::MAX);
        for &[a, b] in sides {
            draft.halve(ascending(a, b))?;
        }
        let leaves = draft.nodes.iter().filter(|node| !node.is_split()).count();
        if leaves > MAX_FACES {
            return Err(LevelsError::TooMany { faces: leaves, limit: MAX_FACES });
        }
        // The finest first: what they free can be put back in turn.
        let mut order: Vec<(std::cmp::Reverse<u32>, Face)> =
            cancel.iter().map(|&f| (std::cmp::Reverse(self.nodes[f as usize].level), f)).collect();
        order.sort_unstable();
        for (_, face) in order {
            draft.cancel(face);
        }
        let (nodes, counts) = (depth_first(&draft.nodes), draft.counts);
        let next = Levels::grown(self.ground.clone(), nodes, counts, self.now)?;
        let change = transfer::between(self, &next);
        *self = next;
        Ok(change)
    }

    /// Wishes after which no side is longer at rest than half the longest one is now.
    pub fn halves_of_all(&self) -> Wishes {
        let mesh = self.mesh();
        let longest = mesh.edges().iter().map(|edge| mesh.rest_length(edge)).fold(0.0, f64::max);
        let mut draft = Halving::of(self, u32::MAX);
        let wait = |side: [u32; 2], draft: &Halving| {
            let length = draft.length(side).filter(|length| *length > 0.5 * longest);
            length.map(|length| (length.to_bits(), std::cmp::Reverse(side)))
        };
        let mut waiting: BTreeSet<_> =
            mesh.edges().iter().filter_map(|edge| wait(edge.ends, &draft)).collect();
        let mut wishes = Wishes::default();
        while let Some((_, std::cmp::Reverse(side))) = waiting.pop_last() {
            let Ok(new) = draft.halve(side) else { continue };
            wishes.halve.push(side);
            waiting.extend(new.into_iter().filter_map(|[a, b]| wait(ascending(a, b), &draft)));
        }
        wishes
    }

    /// A halved face and those that were halved with it, at the side with these ends.
    pub(super) fn together(&self, face: Face, ends: [u32; 2]) -> Vec<Face> {
        let is_there = |f: &Face| {
            let node = &self.nodes[*f as usize];
            node.is_split() && node.ends(usize::from(node.side)) == ends
        };
        let mut all: Vec<Face> = self.sharing(ends).filter(is_there).collect();
        if !all.contains(&face) {
            all.push(face);
        }
        all
    }

    /// Whether no vertex lies on a side of a leaf that is halved elsewhere.
    pub(super) fn is_whole(&self) -> bool {
        if self.ground.closure != Closure::Halves {
            return true;
        }
        let free = |node: &Node| {
            node.level >= self.ground.deepest()
                || midpoints(node.spots, lattice::midpoint)
                    .iter()
                    .all(|spot| self.numbers.of(self.ground.place(node.base, *spot)).is_none())
        };
        self.nodes.iter().filter(|node| !node.is_split()).all(free)
    }
}
