//! Top-down construction of a hierarchy (M03-6, M03-7).
//!
//! A set is split by the face pair of greatest distance of its k-DOP: the plane through the middle, parallel to that
//! pair. What straddles the plane goes to the side that holds fewer. Quad- and oct-trees come from two and three
//! splits in a row. Groups of faces are kept together: the upper tree has groups for leaves, each group a tree of
//! its own, so that every lower node belongs to one group.
//!
//! Where the paper gives each straddling polygon a node of its own, we halve the set, and we halve when a split is
//! very uneven: a thousand faces on one spot would otherwise make one node of a thousand children.

use super::kdop::Kdop;
use super::shell::{Groups, NONE};

/// One node: `len` children from `first` on, or a leaf (`len` = 0) that holds face `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// First child, or the face of a leaf; [`NONE`] for a leaf whose face was removed.
    pub first: u32,
    /// Number of children.
    pub len: u32,
}

/// The shape of a tree. Siblings lie side by side, descendants of a node in one run after it, parents before children.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// The nodes; the root comes first.
    pub nodes: Vec<Node>,
    /// Parent of each node.
    pub parent: Vec<u32>,
    /// Group to which all faces below a node belong, or [`NONE`].
    pub group: Vec<u32>,
    /// Levels below the root.
    pub depth: u32,
}

/// Splits past this depth halve by count, so that no input makes a tree deeper than about 100.
const DEEP: u32 = 64;

/// A set smaller than this part of the whole does not count as a split.
const UNEVEN: usize = 32;

/// A set still to be split: `units[from..to]` are faces (of a group) or groups.
struct Open {
    node: u32,
    from: usize,
    to: usize,
    level: u32,
    group: u32,
}

/// Builds a tree over faces with the given boxes, `arity` (2, 4 or 8) children per node.
pub fn build<const S: usize>(boxes: &[Kdop<S>], groups: &Groups, arity: usize) -> Shape {
    let mut shape = Shape::default();
    if boxes.is_empty() {
        return shape;
    }
    let mut wholes = Vec::with_capacity(groups.len());
    for group in 0..groups.len() as u32 {
        let join = |sum: Kdop<S>, face: &u32| sum.union(&boxes[*face as usize]);
        wholes.push(groups.members(group).iter().fold(Kdop::EMPTY, join));
    }
    let mut faces = groups.faces.clone();
    let mut order: Vec<u32> = (0..groups.len() as u32).collect();
    let mut spare = Vec::new();
    shape.push(Node { first: NONE, len: 0 }, NONE, NONE);
    let mut open = vec![Open { node: 0, from: 0, to: order.len(), level: 0, group: NONE }];
    let mut cuts = Vec::new();
    while let Some(mut set) = open.pop() {
        if set.group == NONE && set.to - set.from == 1 {
            // One group is left: from here on its faces are split.
            let group = order[set.from];
            let range = (groups.starts[group as usize], groups.starts[group as usize + 1]);
            set = Open { from: range.0 as usize, to: range.1 as usize, group, ..set };
        }
        shape.group[set.node as usize] = set.group;
        shape.depth = shape.depth.max(set.level);
        if set.group != NONE && set.to - set.from == 1 {
            shape.nodes[set.node as usize] = Node { first: faces[set.from], len: 0 };
            continue;
        }
        if set.group == NONE {
            split(&mut order[set.from..set.to], &wholes, arity, set.level, &mut spare, &mut cuts);
        } else {
            split(&mut faces[set.from..set.to], boxes, arity, set.level, &mut spare, &mut cuts);
        }
        let first = shape.nodes.len() as u32;
        let len = cuts.len() as u32 - 1;
        shape.nodes[set.node as usize] = Node { first, len };
        for _ in 0..len {
            shape.push(Node { first: NONE, len: 0 }, set.node, NONE);
        }
        // Last child first, so that the first child's descendants come next.
        for k in (0..len).rev() {
            let (from, to) = (set.from + cuts[k as usize], set.from + cuts[k as usize + 1]);
            open.push(Open { node: first + k, from, to, level: set.level + 1, group: set.group });
        }
    }
    shape
}

impl Shape {
    pub(super) fn push(&mut self, node: Node, parent: u32, group: u32) {
        self.nodes.push(node);
        self.parent.push(parent);
        self.group.push(group);
    }
}

/// Orders `units` so that the parts between `cuts` are the children: up to `arity` of them, by successive halving.
fn split<const S: usize>(
    units: &mut [u32],
    boxes: &[Kdop<S>],
    arity: usize,
    level: u32,
    spare: &mut Vec<u32>,
    cuts: &mut Vec<usize>,
) {
    cuts.clear();
    cuts.extend([0, units.len()]);
    let mut parts = 1;
    while parts < arity {
        parts *= 2;
        let mut at = 0;
        while at + 1 < cuts.len() {
            let (from, to) = (cuts[at], cuts[at + 1]);
            if to - from > 1 {
                cuts.insert(at + 1, from + halve(&mut units[from..to], boxes, level, spare));
                at += 1;
            }
            at += 1;
        }
    }
}

/// Splits a set of two or more in two; returns where.
fn halve<const S: usize>(units: &mut [u32], boxes: &[Kdop<S>], level: u32, spare: &mut Vec<u32>) -> usize {
    let whole = units.iter().fold(Kdop::EMPTY, |sum: Kdop<S>, u| sum.union(&boxes[*u as usize]));
    let (axis, middle) = whole.widest();
    let side = |u: u32| {
        let b = &boxes[u as usize];
        i32::from(b.lo[axis] >= middle) - i32::from(b.hi[axis] <= middle)
    };
    let count = units.len();
    let below = units.iter().filter(|u| side(**u) < 0).count();
    let above = units.iter().filter(|u| side(**u) > 0).count();
    let straddling_go = if below <= above { -1 } else { 1 };
    let left = if straddling_go < 0 { count - above } else { below };
    if left.min(count - left) <= count / UNEVEN || level > DEEP {
        let centre = |u: u32| boxes[u as usize].lo[axis] + boxes[u as usize].hi[axis];
        if level <= DEEP {
            units.sort_unstable_by(|a, b| centre(*a).total_cmp(&centre(*b)).then(a.cmp(b)));
        }
        return count / 2;
    }
    spare.clear();
    let goes = |u: u32| if side(u) == 0 { straddling_go } else { side(u) };
    spare.extend(units.iter().filter(|u| goes(**u) < 0));
    spare.extend(units.iter().filter(|u| goes(**u) > 0));
    units.copy_from_slice(spare);
    left
}
