//! A tree of boxes over all faces, four to a node, refitted from frame to frame.
//!
//! Faces lie in *slots*, four slots to a block, as [`Pieces`] cuts the meshes. Boxes are f32, rounded outward, and lie lane by lane, so that one is
//! compared with four others at once: a quarter of the work, and no pair lost.

use super::arrange::Pieces;
use glam::{BVec4A, DVec3, Vec3A, Vec4};

/// Rebuild when the boxes have grown by this factor, relative to the faces, since the tree was built.
const DEGRADED: f64 = 1.4;
/// Boxes of a block, and children of a node.
const WIDTH: usize = 4;
/// A child that is no node but a block.
const BLOCK: u32 = 1 << 31;
/// A slot without a face.
pub(super) const NO_FACE: u32 = u32::MAX;
/// More than three waiting nodes for each of the 13 levels of the largest mesh; many separate pieces may need more.
const STACK: usize = 128;

/// An axis-aligned box [m].
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    min: Vec3A,
    max: Vec3A,
}

impl Extent {
    /// Meets nothing, and adds nothing to a union.
    pub const EMPTY: Extent = Extent { min: Vec3A::INFINITY, max: Vec3A::NEG_INFINITY };

    /// The smallest f32 box around a point.
    #[inline]
    pub fn point(p: DVec3) -> Extent {
        let near = p.as_vec3a();
        let back = DVec3::new(near.x.into(), near.y.into(), near.z.into());
        if back == p {
            // Stored frames are f32: nothing to round.
            return Extent { min: near, max: near };
        }
        Extent::outward(p, p)
    }

    #[inline]
    fn outward(min: DVec3, max: DVec3) -> Extent {
        let down = |x: f64| if f64::from(x as f32) > x { (x as f32).next_down() } else { x as f32 };
        let up = |x: f64| if f64::from(x as f32) < x { (x as f32).next_up() } else { x as f32 };
        Extent {
            min: Vec3A::new(down(min.x), down(min.y), down(min.z)),
            max: Vec3A::new(up(max.x), up(max.y), up(max.z)),
        }
    }

    #[inline]
    pub fn union(self, other: &Extent) -> Extent {
        Extent { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box grown by a margin [m] on all sides; an empty one stays empty.
    #[inline]
    fn grown(&self, margin: f64) -> Extent {
        if margin == 0.0 || self.is_empty() {
            return *self;
        }
        // Each rounding is below 2^-24 of its result; four times that is given to both.
        let margin = Vec3A::splat((margin as f32).next_up());
        let (min, max) = (self.min - margin, self.max + margin);
        let more = |x: Vec3A| x.abs() * 2.4e-7 + Vec3A::splat(1e-37);
        Extent { min: min - more(min), max: max + more(max) }
    }

    #[inline]
    pub fn overlaps(&self, other: &Extent) -> bool {
        (self.min.cmple(other.max) & other.min.cmple(self.max)).all()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.min.x > self.max.x
    }

    /// The middle [m]; the origin when empty.
    pub fn centre(&self) -> Vec3A {
        if self.is_empty() { Vec3A::ZERO } else { 0.5 * self.min + 0.5 * self.max }
    }

    /// The longest side [m]; 0 when empty.
    pub fn longest(&self) -> f32 {
        (self.max - self.min).max(Vec3A::ZERO).max_element()
    }

    /// Half the surface of the box [m²], 0 when empty.
    fn half_area(&self) -> f64 {
        let size = (self.max - self.min).max(Vec3A::ZERO).as_dvec3();
        size.x * size.y + size.y * size.z + size.z * size.x
    }
}

/// Four boxes, lane by lane.
#[derive(Clone, Copy)]
struct Four {
    min: [Vec4; 3],
    max: [Vec4; 3],
}

impl Four {
    fn new(boxes: &[Extent; WIDTH]) -> Four {
        let lanes = |of: &dyn Fn(&Extent) -> Vec3A, k: usize| {
            Vec4::new(of(&boxes[0])[k], of(&boxes[1])[k], of(&boxes[2])[k], of(&boxes[3])[k])
        };
        Four { min: [0, 1, 2].map(|k| lanes(&|b| b.min, k)), max: [0, 1, 2].map(|k| lanes(&|b| b.max, k)) }
    }

    /// Which of the four overlap a box, as bits.
    #[inline]
    fn overlapping(&self, other: &Extent) -> u32 {
        let (low, high) = (other.min, other.max);
        let side = |k: usize, low: f32, high: f32| -> BVec4A {
            self.min[k].cmple(Vec4::splat(high)) & self.max[k].cmpge(Vec4::splat(low))
        };
        (side(0, low.x, high.x) & side(1, low.y, high.y) & side(2, low.z, high.z)).bitmask()
    }
}

/// Four neighbouring slots.
#[derive(Clone, Copy)]
struct Block {
    boxes: Four,
    all: Extent,
    /// Slots whose face matters by itself, as bits.
    judged: u32,
}

/// Up to four children.
#[derive(Clone, Copy)]
struct Node {
    boxes: Four,
    all: Extent,
    children: [u32; WIDTH],
    /// One past the last block below each child; 0 where there is none.
    until: [u32; WIDTH],
    /// Children with a judged face below, as bits.
    judged: u32,
}

/// Pairs of slots of a block and another, not before it: bit 4 i + j for slots i and j.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Barred {
    home: u32,
    other: u32,
    bits: u32,
}

/// The tree.
#[derive(Default)]
pub(super) struct Tree {
    /// Faces that matter by themselves; a pair counts when one of its faces does.
    judged: Vec<bool>,
    nodes: Vec<Node>,
    blocks: Vec<Block>,
    homes: Vec<u32>,
    /// The face of each slot.
    order: Vec<u32>,
    /// Pairs of slots that are never visited, one bit for each two of two blocks; ranges by the first block.
    barred: Vec<Barred>,
    barred_from: Vec<u32>,
    quality: f64,
}

impl Tree {
    pub fn new(judged: Vec<bool>) -> Tree {
        Tree { judged, quality: -1.0, ..Tree::default() }
    }

    /// The face of each slot, [`NO_FACE`] for none.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// The nodes that hold blocks, as handles for the walk; neighbours in this list are near one another.
    pub fn homes(&self) -> &[u32] {
        &self.homes
    }

    /// Whether the faces of two slots count as a pair.
    pub fn counts(&self, a: u32, b: u32) -> bool {
        let judged = |slot: u32| {
            let face = self.order[slot as usize];
            face != NO_FACE && self.judged[face as usize]
        };
        judged(a) || judged(b)
    }

    /// Whether the tree has been built once.
    pub fn built(&self) -> bool {
        self.quality >= 0.0
    }

    /// Chooses new slots for all faces, whose boxes are given by face.
    pub fn build(&mut self, extents: &[Extent], pieces: &Pieces) {
        self.nodes.clear();
        self.blocks.clear();
        self.homes.clear();
        self.order.clear();
        let mut faces: Vec<u32> = (0..extents.len() as u32).collect();
        if !faces.is_empty() {
            self.add_node(&mut faces, extents, pieces);
        }
        self.barred.clear();
        self.barred_from.clear();
        self.barred_from.resize(self.blocks.len() + 1, 0);
        self.quality = f64::INFINITY;
    }

    /// Appends the node over some faces: halves of halves.
    fn add_node(&mut self, faces: &mut [u32], extents: &[Extent], pieces: &Pieces) -> u32 {
        let at = self.nodes.len();
        let boxes = Four::new(&[Extent::EMPTY; WIDTH]);
        let (children, until) = ([0; WIDTH], [0; WIDTH]);
        self.nodes.push(Node { boxes, all: Extent::EMPTY, children, until, judged: 0 });
        let halve =
            |faces: &mut [u32]| if faces.len() > WIDTH { pieces.halve(faces, extents, WIDTH) } else { 0 };
        let middle = halve(faces);
        let (left, right) = faces.split_at_mut(middle);
        let ends = [0, halve(left), middle, middle + halve(right), faces.len()];
        for (k, ends) in ends.windows(2).enumerate().filter(|(_, ends)| ends[0] < ends[1]) {
            let part = &mut faces[ends[0]..ends[1]];
            let child =
                if part.len() <= WIDTH { self.add_block(part) } else { self.add_node(part, extents, pieces) };
            self.nodes[at].children[k] = child;
            self.nodes[at].until[k] = self.blocks.len() as u32;
        }
        if self.nodes[at].children.iter().any(|child| child & BLOCK != 0) {
            self.homes.push(at as u32);
        }
        at as u32
    }

    fn add_block(&mut self, faces: &[u32]) -> u32 {
        let judged = faces.iter().enumerate().map(|(i, &f)| u32::from(self.judged[f as usize]) << i).sum();
        let boxes = Four::new(&[Extent::EMPTY; WIDTH]);
        self.blocks.push(Block { boxes, all: Extent::EMPTY, judged });
        self.order.extend(faces);
        self.order.resize(WIDTH * self.blocks.len(), NO_FACE);
        (self.blocks.len() as u32 - 1) | BLOCK
    }

    /// Leaves these pairs of slots out of all walks, until the next build.
    pub fn bar(&mut self, pairs: impl Iterator<Item = (u32, u32)>) {
        let of = |(a, b): (u32, u32)| {
            let (a, b, width) = (a.min(b), a.max(b), WIDTH as u32);
            Barred { home: a / width, other: b / width, bits: 1 << (width * (a % width) + b % width) }
        };
        self.barred.clear();
        self.barred.extend(pairs.map(of));
        self.barred.sort_unstable();
        self.barred.dedup_by(|next, first| {
            let same = (next.home, next.other) == (first.home, first.other);
            if same {
                first.bits |= next.bits;
            }
            same
        });
        self.barred_from.fill(0);
        self.barred.iter().for_each(|b| self.barred_from[b.home as usize + 1] += 1);
        (0..self.blocks.len()).for_each(|b| self.barred_from[b + 1] += self.barred_from[b]);
    }

    /// Fits the tree to new boxes, one per slot. Says whether it has become loose since it was built and should be
    /// built again; results never depend on it.
    pub fn refit(&mut self, extents: &[Extent]) -> bool {
        let mut faces = 0.0;
        for (block, of) in self.blocks.iter_mut().zip(extents.as_chunks::<WIDTH>().0) {
            block.boxes = Four::new(of);
            block.all = of[0].union(&of[1]).union(&of[2].union(&of[3]));
            faces += block.all.half_area();
        }
        // What a walk costs: the surface of all nodes, relative to that of the blocks at their best.
        let mut nodes = 0.0;
        for at in (0..self.nodes.len()).rev() {
            let node = &self.nodes[at];
            let (mut boxes, mut judged) = ([Extent::EMPTY; WIDTH], 0);
            for (k, child) in node.children.iter().enumerate().filter(|&(k, _)| node.until[k] > 0) {
                let (all, some) = if child & BLOCK != 0 {
                    let block = &self.blocks[(child ^ BLOCK) as usize];
                    (block.all, block.judged)
                } else {
                    let below = &self.nodes[*child as usize];
                    (below.all, below.judged)
                };
                boxes[k] = all;
                judged |= u32::from(some != 0) << k;
            }
            let all = boxes[0].union(&boxes[1]).union(&boxes[2].union(&boxes[3]));
            nodes += all.half_area();
            let node = &mut self.nodes[at];
            (node.boxes, node.all, node.judged) = (Four::new(&boxes), all, judged);
        }
        let own: f64 = extents.iter().map(Extent::half_area).sum();
        let looseness = if own > 0.0 { (nodes + faces) / own } else { 0.0 };
        if self.quality == f64::INFINITY {
            self.quality = looseness;
        }
        looseness > DEGRADED * self.quality
    }

    /// Visits every pair of slots, one in a block of `home`, the other in the same block or one behind it, that counts
    /// and whose boxes (as given to the refit) overlap when one is grown by `margin` [m], unless they are barred or
    /// their blocks are `apart`.
    #[inline]
    pub fn walk(
        &self,
        home: u32,
        extents: &[Extent],
        margin: f64,
        apart: impl Fn(u32, u32) -> bool,
        mut visit: impl FnMut(u32, u32),
    ) {
        let home = &self.nodes[home as usize];
        let around = home.all.grown(margin);
        let own = |k: usize| if home.children[k] & BLOCK != 0 { home.children[k] ^ BLOCK } else { u32::MAX };
        let own: [u32; WIDTH] = std::array::from_fn(own);
        let first = own[0].min(own[1]).min(own[2]).min(own[3]);
        let mut meet_all = |other: u32| {
            let near = self.blocks[other as usize].all.grown(margin);
            let mut bits = home.boxes.overlapping(&near);
            while bits != 0 {
                let block = own[bits.trailing_zeros() as usize];
                bits &= bits - 1;
                if block <= other {
                    self.meet(block, other, extents, margin, &apart, &mut visit);
                }
            }
        };
        let (mut stack, mut waiting) = ([0_u32; STACK], 1);
        while waiting > 0 {
            waiting -= 1;
            let node = &self.nodes[stack[waiting] as usize];
            let mut bits = node.boxes.overlapping(&around);
            if home.judged == 0 {
                bits &= node.judged;
            }
            while bits != 0 {
                let k = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let child = node.children[k];
                if child & BLOCK != 0 {
                    meet_all(child ^ BLOCK);
                } else if node.until[k] > first {
                    stack[waiting] = child;
                    waiting += 1;
                }
            }
        }
    }

    /// Visits the pairs of two blocks.
    #[inline]
    fn meet(
        &self,
        block: u32,
        other: u32,
        extents: &[Extent],
        margin: f64,
        apart: &impl Fn(u32, u32) -> bool,
        visit: &mut impl FnMut(u32, u32),
    ) {
        let (home, there) = (&self.blocks[block as usize], &self.blocks[other as usize]);
        let barred = self.barred_from[block as usize] as usize..self.barred_from[block as usize + 1] as usize;
        let barred = self.barred[barred].iter().find(|b| b.other == other);
        let barred = barred.map_or(0, |b| b.bits);
        if (home.judged | there.judged) == 0 || (barred == 0 && apart(block, other)) {
            return;
        }
        for (i, extent) in extents.as_chunks::<WIDTH>().0[block as usize].iter().enumerate() {
            let mut bits = there.boxes.overlapping(&extent.grown(margin)) & !(barred >> (WIDTH * i));
            if home.judged >> i & 1 == 0 {
                bits &= there.judged;
            }
            if other == block {
                bits &= !0 << (i + 1);
            }
            while bits != 0 {
                let j = bits.trailing_zeros();
                bits &= bits - 1;
                visit(block * WIDTH as u32 + i as u32, other * WIDTH as u32 + j);
            }
        }
    }
}
