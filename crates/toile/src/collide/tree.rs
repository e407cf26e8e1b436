//! A hierarchy of k-DOPs over the faces of one surface: refit, lazy update, edits.
//!
//! Every quantity of a node (box, cone) is made of its children's, so one routine, [`Tree::ascend`], serves all. The
//! tree is cut into *blocks*, subtrees of a few hundred faces: blocks are refitted in parallel, each writing its own
//! run of nodes, then the nodes above them. A lazy update skips whole blocks (M03-8).

use super::build::{Node, Shape, build};
use super::kdop::Kdop;
use super::quad::Quads;
use super::shell::{Groups, NONE};

/// Most faces in a block.
const BLOCK: u32 = 256;

/// A subtree that is refitted, or skipped, as one.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Its root, which is refitted with the nodes above.
    pub root: u32,
    /// Its descendants: the nodes from `from` up to `to`.
    pub from: u32,
    /// See `from`.
    pub to: u32,
}

/// A tree over the faces of one surface.
#[derive(Clone, Debug, Default)]
pub struct Tree<const S: usize> {
    shape: Shape,
    boxes: Vec<Kdop<S>>,
    /// The same boxes, those of siblings side by side.
    quads: Quads<S>,
    /// Leaf of each face.
    leaf: Vec<u32>,
    blocks: Vec<Block>,
    /// Nodes outside every block, ascending.
    top: Vec<u32>,
    /// Nodes from here on were added by edits.
    body: usize,
    /// Which blocks the current refit leaves alone.
    skip: Vec<bool>,
}

impl<const S: usize> Tree<S> {
    /// A tree over faces with the given boxes; `arity` is 2, 4 or 8.
    pub fn new(boxes: &[Kdop<S>], groups: &Groups, arity: usize) -> Tree<S> {
        let shape = build(boxes, groups, arity);
        let mut leaf = vec![NONE; boxes.len()];
        for (n, node) in shape.nodes.iter().enumerate().filter(|(_, node)| node.len == 0) {
            leaf[node.first as usize] = n as u32;
        }
        let body = shape.nodes.len();
        let (blocks, top) = cut(&shape);
        let skip = vec![false; blocks.len()];
        let mut tree = Tree {
            boxes: vec![Kdop::EMPTY; body],
            quads: Quads::new(&shape.nodes),
            shape,
            leaf,
            blocks,
            top,
            body,
            skip,
        };
        tree.refit(|face| boxes[face as usize]);
        tree
    }

    /// Its nodes; the root comes first, and there is none over no faces.
    pub fn nodes(&self) -> &[Node] {
        &self.shape.nodes
    }

    /// The box of each node.
    pub fn boxes(&self) -> &[Kdop<S>] {
        &self.boxes
    }

    /// The boxes of siblings, four at a time.
    pub fn quads(&self) -> &Quads<S> {
        &self.quads
    }

    /// Group to which all faces below a node belong, or [`NONE`].
    pub fn group(&self, node: u32) -> u32 {
        self.shape.group[node as usize]
    }

    /// Parent of a node; [`NONE`] for the root.
    pub fn parent(&self, node: u32) -> u32 {
        self.shape.parent[node as usize]
    }

    /// Leaf that holds a face.
    pub fn leaf(&self, face: u32) -> u32 {
        self.leaf[face as usize]
    }

    /// Levels below the root.
    pub fn depth(&self) -> u32 {
        self.shape.depth
    }

    /// The blocks, in order of their nodes.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Makes all boxes anew, bottom-up (M03-5). Returns the number of nodes refitted.
    pub fn refit(&mut self, leaf: impl Fn(u32) -> Kdop<S> + Sync) -> usize {
        self.skip.fill(false);
        self.refit_some(leaf)
    }

    /// Makes the boxes anew except in blocks for which `still` holds (M03-8).
    pub fn refit_lazily(
        &mut self,
        still: impl Fn(usize) -> bool,
        leaf: impl Fn(u32) -> Kdop<S> + Sync,
    ) -> usize {
        for (b, skip) in self.skip.iter_mut().enumerate() {
            // Nodes added by edits are outside of blocks: nothing is skipped while there are any.
            *skip = still(b) && self.body == self.shape.nodes.len();
        }
        self.refit_some(leaf)
    }

    fn refit_some(&mut self, leaf: impl Fn(u32) -> Kdop<S> + Sync) -> usize {
        let mut boxes = std::mem::take(&mut self.boxes);
        let refitted = self.climb(&mut boxes, &leaf, &|a, b| a.union(b), &Kdop::EMPTY, &self.skip);
        self.quads.update(&boxes);
        self.boxes = boxes;
        refitted
    }

    /// Sets `data` of every node from its faces up: `leaf(face)` at leaves, `join` of the children above, `empty` where
    /// a face was removed.
    pub fn ascend<T: Copy + Send + Sync>(
        &self,
        data: &mut [T],
        leaf: &(impl Fn(u32) -> T + Sync),
        join: &(impl Fn(&T, &T) -> T + Sync),
        empty: &T,
    ) {
        self.climb(data, leaf, join, empty, &[]);
    }

    /// [`Tree::ascend`] that leaves blocks alone which `skip` marks. Returns the number of nodes visited.
    fn climb<T: Copy + Send + Sync>(
        &self,
        data: &mut [T],
        leaf: &(impl Fn(u32) -> T + Sync),
        join: &(impl Fn(&T, &T) -> T + Sync),
        empty: &T,
        skip: &[bool],
    ) -> usize {
        debug_assert_eq!(data.len(), self.shape.nodes.len());
        let nodes = &self.shape.nodes;
        let (body, tail) = data.split_at_mut(self.body);
        let value = |n: usize, own: &[T], offset: usize, tail: &[T]| {
            let node = nodes[n];
            if node.len == 0 {
                return if node.first == NONE { *empty } else { leaf(node.first) };
            }
            let first = node.first as usize;
            let children = if first >= self.body {
                &tail[first - self.body..][..node.len as usize]
            } else {
                &own[first - offset..][..node.len as usize]
            };
            children[1..].iter().fold(children[0], |sum, child| join(&sum, child))
        };
        for n in (self.body..nodes.len()).rev() {
            tail[n - self.body] = value(n, &[], 0, tail);
        }
        let tail = &*tail;
        let run = |b: usize, own: &mut [T], offset: usize| {
            if skip.get(b) == Some(&true) {
                return;
            }
            let block = self.blocks[b];
            for n in (block.from as usize..block.to as usize).rev() {
                own[n - offset] = value(n, own, offset, tail);
            }
        };
        self.over_blocks(0..self.blocks.len(), body, 0, &run);
        for &n in self.top.iter().rev() {
            body[n as usize] = value(n as usize, body, 0, tail);
        }
        let skipped: u32 =
            self.blocks.iter().zip(skip).filter(|(_, skip)| **skip).map(|(b, _)| b.to - b.from).sum();
        nodes.len() - skipped as usize
    }

    /// Runs over the blocks `range`, whose nodes lie in `own` (which starts at node `offset`), on all threads.
    fn over_blocks<T: Send>(
        &self,
        range: std::ops::Range<usize>,
        own: &mut [T],
        offset: usize,
        run: &(impl Fn(usize, &mut [T], usize) + Sync),
    ) {
        match range.len() {
            0 => {}
            1 => run(range.start, own, offset),
            len => {
                let middle = range.start + len / 2;
                let cut = self.blocks[middle].from as usize;
                let (left, right) = own.split_at_mut(cut - offset);
                if len < 8 {
                    self.over_blocks(range.start..middle, left, offset, run);
                    self.over_blocks(middle..range.end, right, cut, run);
                } else {
                    rayon::join(
                        || self.over_blocks(range.start..middle, left, offset, run),
                        || self.over_blocks(middle..range.end, right, cut, run),
                    );
                }
            }
        }
    }

    /// Follows an edit of the mesh without building anew (M03-20): `from[f]` is the old face that new face f came out of.
    /// A face that stayed, or was only renumbered, keeps its leaf; several faces out of one become the children of
    /// its leaf; a face from which nothing came leaves an empty leaf. The caller refits.
    ///
    /// Returns false, with the tree unchanged, when so much has changed that building anew pays.
    pub fn edit(&mut self, from: &[u32]) -> bool {
        let old = self.leaf.len();
        let mut order: Vec<u32> = (0..from.len() as u32).collect();
        order.sort_by_key(|f| from[*f as usize]);
        let heirs = order.chunk_by(|a, b| from[*a as usize] == from[*b as usize]);
        let (mut added, mut kept) = (0, 0);
        for heirs in heirs.clone() {
            if from[heirs[0] as usize] as usize >= old {
                return false;
            }
            kept += 1;
            added += if heirs.len() > 1 { heirs.len() } else { 0 };
        }
        let dead = self.shape.nodes.iter().filter(|n| n.len == 0 && n.first == NONE).count() + old - kept;
        let tail = self.shape.nodes.len() - self.body + added;
        if 4 * tail > self.body + 64 || 2 * dead > from.len() + 16 {
            return false;
        }
        for leaf in &self.leaf {
            self.shape.nodes[*leaf as usize].first = NONE;
        }
        let mut leaf = vec![NONE; from.len()];
        for heirs in heirs {
            let parent = self.leaf[from[heirs[0] as usize] as usize];
            if heirs.len() == 1 {
                self.shape.nodes[parent as usize].first = heirs[0];
                leaf[heirs[0] as usize] = parent;
                continue;
            }
            let first = self.shape.nodes.len() as u32;
            self.shape.nodes[parent as usize] = Node { first, len: heirs.len() as u32 };
            let group = self.shape.group[parent as usize];
            for (k, heir) in heirs.iter().enumerate() {
                leaf[*heir as usize] = first + k as u32;
                self.shape.push(Node { first: *heir, len: 0 }, parent, group);
            }
        }
        self.leaf = leaf;
        self.boxes.resize(self.shape.nodes.len(), Kdop::EMPTY);
        self.quads = Quads::new(&self.shape.nodes);
        true
    }

    /// Renames the groups of all nodes after an edit: `of_face` is the new group of each face.
    pub fn relabel(&mut self, of_face: &[u32]) {
        let mut group = std::mem::take(&mut self.shape.group);
        // EMPTY says "nothing below", NONE "more than one group".
        const EMPTY: u32 = NONE - 1;
        let join = |a: &u32, b: &u32| match (*a, *b) {
            (EMPTY, x) | (x, EMPTY) => x,
            (x, y) if x == y => x,
            _ => NONE,
        };
        self.ascend(&mut group, &|face| of_face[face as usize], &join, &EMPTY);
        group.iter_mut().filter(|g| **g == EMPTY).for_each(|g| *g = NONE);
        self.shape.group = group;
    }
}

/// Cuts a tree into blocks of at most [`BLOCK`] faces, and the nodes above.
fn cut(shape: &Shape) -> (Vec<Block>, Vec<u32>) {
    let count = shape.nodes.len();
    // Faces below each node and where its descendants end.
    let mut faces = vec![1u32; count];
    let mut end = vec![0u32; count];
    for n in (0..count).rev() {
        let node = shape.nodes[n];
        if node.len > 0 {
            let children = node.first as usize..(node.first + node.len) as usize;
            faces[n] = faces[children.clone()].iter().sum();
            // Only the last child with descendants tells; leaves end where they are.
            end[n] = end[children.clone()].iter().copied().max().unwrap_or(0).max(children.end as u32);
        }
    }
    let (mut blocks, mut top) = (Vec::new(), Vec::new());
    let mut open = if count > 0 { vec![0] } else { vec![] };
    while let Some(n) = open.pop() {
        top.push(n);
        let node = shape.nodes[n as usize];
        if node.len == 0 {
            continue;
        }
        if faces[n as usize] <= BLOCK {
            blocks.push(Block { root: n, from: node.first, to: end[n as usize] });
        } else {
            open.extend((node.first..node.first + node.len).rev());
        }
    }
    top.sort_unstable();
    blocks.sort_unstable_by_key(|b| b.from);
    (blocks, top)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::shell::{Role, Shell};
    use crate::math::{DVec3, random};

    fn sheet(n: u32) -> (Shell, Vec<DVec3>) {
        let at = |i, j| i * (n + 1) + j;
        let cell = |c: u32| {
            let (i, j) = (c / n, c % n);
            [[at(i, j), at(i + 1, j), at(i, j + 1)], [at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]]
        };
        let faces = (0..n * n).flat_map(cell).collect();
        let place = |v: u32| {
            DVec3::new(f64::from(v / (n + 1)), 0.3 * random::unit(1, v.into()), f64::from(v % (n + 1)))
        };
        let x = (0..(n + 1) * (n + 1)).map(place).collect::<Vec<_>>();
        (Shell::new(x.len(), faces, Role::Cloth).expect("sound"), x)
    }

    fn leaf_box(surface: &Shell, x: &[DVec3], face: u32) -> Kdop<9> {
        let corners =
            surface.faces()[face as usize].map(|v| Kdop::around(x[v as usize], &[0.0; 9], &[0.0; 9]));
        corners[0].union(&corners[1]).union(&corners[2])
    }

    fn check(tree: &Tree<9>, faces: usize, fresh: impl Fn(u32) -> Kdop<9>) {
        let mut seen = vec![0; faces];
        for (n, node) in tree.nodes().iter().enumerate() {
            if node.len == 0 {
                if node.first != NONE {
                    seen[node.first as usize] += 1;
                    assert_eq!(tree.leaf(node.first), n as u32);
                    assert_eq!(tree.boxes()[n], fresh(node.first));
                }
                continue;
            }
            let children = node.first..node.first + node.len;
            let union = children.clone().fold(Kdop::EMPTY, |b, c| b.union(&tree.boxes()[c as usize]));
            assert_eq!(tree.boxes()[n], union, "node {n}");
            assert!(children.clone().all(|c| tree.parent(c) == n as u32 && c > n as u32));
        }
        assert!(seen.iter().all(|s| *s == 1), "each face in one leaf");
    }

    #[test]
    fn trees_of_every_arity_hold_each_face_once() {
        let (surface, x) = sheet(40);
        let mut depths = Vec::new();
        for arity in [2, 4, 8] {
            let boxes: Vec<_> = (0..3200).map(|f| leaf_box(&surface, &x, f)).collect();
            let tree = Tree::new(&boxes, surface.groups(), arity);
            check(&tree, 3200, |f| boxes[f as usize]);
            assert!(tree.nodes().iter().all(|n| n.len as usize <= arity && n.len != 1));
            depths.push(tree.depth());
        }
        assert!(depths[0] > depths[1] && depths[1] > depths[2], "{depths:?}");
    }

    #[test]
    fn refit_is_the_same_on_any_number_of_threads() {
        let (surface, mut x) = sheet(64);
        let boxes: Vec<_> = (0..8192).map(|f| leaf_box(&surface, &x, f)).collect();
        let mut tree = Tree::new(&boxes, surface.groups(), 4);
        x.iter_mut().enumerate().for_each(|(i, p)| p.y += random::signed(2, i as u64));
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
            pool.install(|| tree.refit(|f| leaf_box(&surface, &x, f)));
            check(&tree, 8192, |f| leaf_box(&surface, &x, f));
        }
    }

    #[test]
    fn a_pile_on_one_spot_and_strange_places_make_a_tree() {
        for x in [DVec3::ONE, DVec3::splat(f64::NAN), DVec3::splat(f64::INFINITY)] {
            let boxes = vec![Kdop::<9>::around(x, &[0.1; 9], &[0.1; 9]); 5000];
            let faces: Vec<[u32; 3]> = (0..5000).map(|f| [3 * f, 3 * f + 1, 3 * f + 2]).collect();
            let surface = Shell::new(15_000, faces, Role::Cloth).expect("sound");
            let tree = Tree::new(&boxes, surface.groups(), 2);
            assert!(tree.depth() < 20, "{}", tree.depth());
        }
        // Each face half as far as the one before: midpoint splits would go 900 levels deep.
        let place = |f: u32| DVec3::X * libm::exp2(-f64::from(f) / 8.0);
        let boxes: Vec<_> = (0..1000).map(|f| Kdop::<9>::around(place(f), &[0.0; 9], &[0.0; 9])).collect();
        let faces: Vec<[u32; 3]> = (0..1000).map(|f| [3 * f, 3 * f + 1, 3 * f + 2]).collect();
        let surface = Shell::new(3000, faces, Role::Cloth).expect("sound");
        assert!(Tree::new(&boxes, surface.groups(), 2).depth() < 90);
    }

    #[test]
    fn edits_keep_the_tree_whole() {
        let (surface, x) = sheet(20);
        let boxes: Vec<_> = (0..800).map(|f| leaf_box(&surface, &x, f)).collect();
        let mut tree = Tree::new(&boxes, surface.groups(), 4);
        // Face 10 becomes four, faces 20 and 21 go, the rest moves up.
        let kept = (0..800).filter(|f| ![10, 20, 21].contains(f));
        let from: Vec<u32> = kept.chain([10; 4]).collect();
        assert!(tree.edit(&from));
        tree.refit(|f| boxes[from[f as usize] as usize]);
        check(&tree, from.len(), |f| boxes[from[f as usize] as usize]);
        tree.relabel(&vec![7; from.len()]);
        assert!(
            (0..tree.nodes().len() as u32)
                .filter(|n| tree.nodes()[*n as usize].first != NONE)
                .all(|n| tree.group(n) == 7)
        );
        assert!(!tree.edit(&vec![0; 801]), "building anew pays");
        assert!(!tree.edit(&[9999]), "no such face");
    }
}
