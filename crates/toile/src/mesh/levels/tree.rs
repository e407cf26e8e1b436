//! The forest of faces: what is split into what, and how a change grows and prunes it. `halves.rs` has the other way to
//! split.

use super::close::close;
use super::lattice::{self, Spot};
use super::{Closure, Counts, Face, Ground, Levels, LevelsError, Mark, NONE, Numbers};
use crate::math::DVec2;
use crate::mesh::shapes::MAX_FACES;
use std::sync::Arc;

/// A face, split or not.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// The base face it lies in.
    pub(super) base: u32,
    pub(super) level: u32,
    pub(super) mark: Mark,
    /// When it was split, or became a leaf.
    pub(super) since: u64,
    /// See [`Levels::again`].
    pub(super) again: u8,
    pub(super) parent: Face,
    /// At the three corners, then the centre; all [`NONE`] for a leaf. Of a face that is halved there are two.
    pub(super) children: [Face; 4],
    /// Whether it is halved where it is split, and the side at which.
    pub(super) halves: bool,
    pub(super) side: u8,
    /// One past the last face below it.
    pub(super) end: Face,
    /// Corners in the lattice of the base face.
    pub(super) spots: [Spot; 3],
    /// Corners by number.
    pub(super) corners: [u32; 3],
    /// Material coordinates [m] of the corners.
    pub(super) rest: [DVec2; 3],
    /// The faces of the mesh it consists of: the first, and one past the last.
    pub(super) span: [u32; 2],
}

impl Node {
    pub(super) fn is_split(&self) -> bool {
        self.children[0] != NONE
    }

    /// The faces it is split into; none of a leaf.
    pub(super) fn below(&self) -> &[Face] {
        let count = self.children.iter().take_while(|child| **child != NONE).count();
        &self.children[..count]
    }

    /// Whether it is split as another is.
    pub(super) fn split_like(&self, other: &Node) -> bool {
        self.below().len() == other.below().len() && self.side == other.side
    }

    /// The four children of this face, which is number `own`, as leaves.
    pub(super) fn quartered(&self, own: Face) -> [Node; 4] {
        let spots = quarters(self.spots, midpoints(self.spots, lattice::midpoint));
        let rest = quarters(self.rest, midpoints(self.rest, half));
        [0, 1, 2, 3].map(|k| Node {
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

    /// Longest side at rest [m].
    pub(super) fn longest(&self) -> f64 {
        (0..3).map(|k| (self.rest[k] - self.rest[(k + 1) % 3]).length()).fold(0.0, f64::max)
    }
}

/// The corners of the four children from those of the parent; the centre is the parent turned by half a circle and halved.
/// A child at a corner has that corner in the same position.
pub(super) fn quarters<T: Copy>([a, b, c]: [T; 3], [ab, bc, ca]: [T; 3]) -> [[T; 3]; 4] {
    [[a, ab, ca], [ab, b, bc], [ca, bc, c], [bc, ca, ab]]
}

/// The corners of the two children of a face that is halved at the middle of its side `k`.
pub(super) fn halved<T: Copy>(corners: [T; 3], k: usize, middle: T) -> [[T; 3]; 2] {
    let [a, b, c] = [0, 1, 2].map(|turn| corners[(k + turn) % 3]);
    [[a, middle, c], [middle, b, c]]
}

/// The midpoints of the sides: of corners 0 and 1, 1 and 2, 2 and 0.
pub(super) fn midpoints<T: Copy>(corners: [T; 3], half: impl Fn(T, T) -> T) -> [T; 3] {
    [0, 1, 2].map(|k| half(corners[k], corners[(k + 1) % 3]))
}

/// Half way, the same whichever end comes first.
pub(super) fn half(a: DVec2, b: DVec2) -> DVec2 {
    0.5 * (a + b)
}

pub(super) fn ascending(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// The base faces, nothing split.
pub(super) fn roots(ground: &Ground) -> Vec<Node> {
    let node = |f: usize| Node {
        base: f as u32,
        level: 0,
        mark: Mark::Plain,
        since: 0,
        again: 0,
        parent: NONE,
        children: [NONE; 4],
        halves: ground.closure == Closure::Halves,
        side: 0,
        end: f as Face + 1,
        spots: lattice::corners(ground.parts()),
        corners: ground.base.faces()[f],
        rest: ground.base.rest()[f],
        span: [0; 2],
    };
    (0..ground.base.faces().len()).map(node).collect()
}

/// A forest being changed. Old faces keep their numbers, new ones are appended; what is cut off stays behind.
struct Draft<'a> {
    levels: &'a Levels,
    nodes: Vec<Node>,
    /// Which faces are to be split, as asked.
    asked: Vec<bool>,
    counts: Counts,
}

impl Draft<'_> {
    /// Splits a leaf, and before it what would be two levels coarser than its children. Goes up one level with each call of
    /// itself, so a few deep at most.
    fn split(&mut self, leaf: Face) {
        if self.nodes[leaf as usize].is_split() {
            return;
        }
        if self.levels.ground.closure == Closure::RedGreen {
            for turn in [1, 2] {
                // Where the mesh branches there are several.
                while let Some(neighbour) = self.coarser(leaf, turn) {
                    self.split(neighbour);
                }
            }
        }
        let first = self.nodes.len() as Face;
        let parent = &mut self.nodes[leaf as usize];
        parent.children = [0, 1, 2, 3].map(|k| first + k);
        parent.since = self.levels.now;
        let children = parent.quartered(leaf);
        self.nodes.extend(children);
        self.counts.performed += 1;
        self.counts.forced += u64::from(!self.asked[leaf as usize]);
    }

    /// A leaf one level coarser on the other side of one of the two sides that a leaf has in common with its parent.
    fn coarser(&self, leaf: Face, turn: usize) -> Option<Face> {
        let own = self.nodes[leaf as usize].parent;
        let parent = self.levels.node(own)?;
        // The child in the centre touches no side of its parent.
        let k = parent.children[..3].iter().position(|&child| child == leaf)?;
        let side = ascending(parent.corners[k], parent.corners[(k + turn) % 3]);
        self.levels.sharing(side).find(|&f| f != own && !self.nodes[f as usize].is_split())
    }

    /// Makes a split face a leaf again, if its children are leaves and its neighbours not too fine.
    fn cancel(&mut self, face: Face) {
        let node = &self.nodes[face as usize];
        let leaves = node.below().iter().all(|&c| !self.nodes[c as usize].is_split());
        if !leaves || (self.levels.ground.closure == Closure::RedGreen && self.has_finer(face)) {
            self.counts.refused += 1;
            return;
        }
        let node = &mut self.nodes[face as usize];
        node.children = [NONE; 4];
        node.mark = Mark::Cancelled;
        node.since = self.levels.now;
        self.counts.cancelled += 1;
    }

    /// Whether half a side of a split face is split once more on the other side.
    fn has_finer(&self, face: Face) -> bool {
        let children = &self.nodes[face as usize].children;
        (0..3).any(|k| {
            let corners = self.nodes[children[k] as usize].corners;
            [1, 2].iter().any(|turn| {
                let side = ascending(corners[k], corners[(k + turn) % 3]);
                self.levels.sharing(side).any(|f| self.nodes[f as usize].is_split())
            })
        })
    }
}

impl Levels {
    /// The faces, split or not, with these ends of a side.
    pub(super) fn sharing(&self, side: [u32; 2]) -> impl Iterator<Item = Face> + '_ {
        let first = self.sides.partition_point(|(ends, _)| *ends < side);
        self.sides[first..].iter().take_while(move |(ends, _)| *ends == side).map(|(_, face)| *face)
    }

    /// The forest after a change, depth first, and what will have happened.
    pub(super) fn drafted(
        &self,
        split: &[Face],
        cancel: &[Face],
    ) -> Result<(Vec<Node>, Counts), LevelsError> {
        self.check(split, cancel)?;
        let mut asked = vec![false; self.nodes.len()];
        split.iter().for_each(|&face| asked[face as usize] = true);
        let mut draft = Draft { levels: self, nodes: self.nodes.clone(), asked, counts: self.counts };
        for &face in split {
            draft.split(face);
        }
        let leaves = self.leaf_count() + 3 * (draft.counts.performed - self.counts.performed) as usize;
        if leaves > MAX_FACES {
            return Err(LevelsError::TooMany { faces: leaves, limit: MAX_FACES });
        }
        // The finest first: what they free can be cancelled in turn.
        let mut order: Vec<(u32, Face)> =
            cancel.iter().map(|&face| (self.ground.most - self.nodes[face as usize].level, face)).collect();
        order.sort_unstable();
        order.dedup();
        for (_, face) in order {
            draft.cancel(face);
        }
        Ok((depth_first(&draft.nodes), draft.counts))
    }

    fn check(&self, split: &[Face], cancel: &[Face]) -> Result<(), LevelsError> {
        if self.ground.closure == Closure::Halves && !split.is_empty() {
            return Err(LevelsError::Halves);
        }
        for &face in split {
            let node = self.node(face).ok_or(LevelsError::NoFace { face, faces: self.nodes.len() })?;
            if node.is_split() {
                return Err(LevelsError::NotLeaf { face });
            }
            if node.level >= self.ground.most {
                return Err(LevelsError::Deepest { face, most: self.ground.most });
            }
        }
        self.check_split(cancel)
    }

    /// Refuses faces that are not split.
    pub(super) fn check_split(&self, faces: &[Face]) -> Result<(), LevelsError> {
        for &face in faces {
            let node = self.node(face).ok_or(LevelsError::NoFace { face, faces: self.nodes.len() })?;
            if !node.is_split() {
                return Err(LevelsError::NotSplit { face });
            }
        }
        Ok(())
    }

    /// Levels of a forest: vertices numbered, cracks closed.
    pub(super) fn grown(
        ground: Arc<Ground>,
        mut nodes: Vec<Node>,
        counts: Counts,
        now: u64,
    ) -> Result<Levels, LevelsError> {
        let numbers = number(&ground, &mut nodes);
        let sides = sides(&nodes);
        let closed = close(&ground, &numbers, &mut nodes)?;
        Ok(Levels { ground, nodes, numbers, sides, closed, counts, now })
    }
}

/// Numbers the vertices and gives faces their corners.
pub(super) fn number(ground: &Ground, nodes: &mut [Node]) -> Numbers {
    let middles =
        |node: &Node| midpoints(node.spots, lattice::midpoint).map(|spot| ground.place(node.base, spot));
    let halves = ground.closure == Closure::Halves;
    let of = |node: &Node| {
        let only = usize::from(node.side);
        (0..3).zip(middles(node)).filter(move |(k, _)| !halves || *k == only).map(|(_, place)| place)
    };
    let mut places: Vec<_> = nodes.iter().filter(|node| node.is_split()).flat_map(of).collect();
    places.sort_unstable();
    places.dedup();
    let numbers = Numbers { first: ground.base.vertices(), places };
    // Parents come before their children.
    for f in 0..nodes.len() {
        if !nodes[f].is_split() {
            continue;
        }
        let (own, side) = (nodes[f].corners, usize::from(nodes[f].side));
        let middle = middles(&nodes[f]).map(|place| numbers.of(place).unwrap_or(NONE));
        let corners = match halves {
            true => halved(own, side, middle[side]).to_vec(),
            false => quarters(own, middle).to_vec(),
        };
        for (child, corners) in nodes[f].children.into_iter().zip(corners) {
            nodes[child as usize].corners = corners;
        }
    }
    numbers
}

/// The sides of all faces by their ends, sorted.
fn sides(nodes: &[Node]) -> Vec<([u32; 2], Face)> {
    let of = |(f, node): (usize, &Node)| {
        let c = node.corners;
        [0, 1, 2].map(|k| (ascending(c[k], c[(k + 1) % 3]), f as Face))
    };
    let mut sides: Vec<_> = nodes.iter().enumerate().flat_map(of).collect();
    sides.sort_unstable();
    sides
}

/// What is reached from the base faces, each face before its children, renumbered.
pub(super) fn depth_first(nodes: &[Node]) -> Vec<Node> {
    // Base faces stand in order: a change appends, it does not move.
    let mut waiting: Vec<(Face, Face)> =
        (0..nodes.len()).filter(|&f| nodes[f].parent == NONE).map(|f| (f as Face, NONE)).collect();
    waiting.reverse();
    let mut sorted: Vec<Node> = Vec::with_capacity(nodes.len());
    while let Some((old, parent)) = waiting.pop() {
        let node = &nodes[old as usize];
        let new = sorted.len() as Face;
        sorted.push(Node { parent, ..node.clone() });
        if node.is_split() {
            waiting.extend(node.below().iter().rev().map(|&child| (child, new)));
        }
    }
    link(&mut sorted);
    sorted
}

/// Children and ends of faces that stand depth first and know their parents.
fn link(nodes: &mut [Node]) {
    for f in (0..nodes.len()).rev() {
        if !nodes[f].is_split() {
            nodes[f].end = f as Face + 1;
            continue;
        }
        let mut child = f as Face + 1;
        for k in 0..nodes[f].below().len() {
            nodes[f].children[k] = child;
            child = nodes[child as usize].end;
        }
        nodes[f].end = child;
    }
}
