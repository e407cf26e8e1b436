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

    /// How far each of the four is from a box, at least, along some axis [m]; not positive where they overlap.
    #[inline]
    fn gaps(&self, other: &Extent) -> Vec4 {
        let (low, high) = (other.min, other.max);
        let side = |k: usize, low: f32, high: f32| -> Vec4 {
            (self.min[k] - Vec4::splat(high)).max(Vec4::splat(low) - self.max[k])
        };
        side(0, low.x, high.x).max(side(1, low.y, high.y)).max(side(2, low.z, high.z)) * 0.9999
    }
}

/// Two blocks whose boxes are near one another.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    pub home: u32,
    pub other: u32,
    /// Pairs of their slots that count: bit 4 i + j for slots i and j.
    pub pairs: u16,
    /// Whether pairs are barred: blocks with common vertices.
    pub joined: bool,
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

    /// Fits the blocks to new boxes, one per slot.
    pub fn refit_blocks(&mut self, extents: &[Extent]) {
        for (block, of) in self.blocks.iter_mut().zip(extents.as_chunks::<WIDTH>().0) {
            block.boxes = Four::new(of);
            block.all = of[0].union(&of[1]).union(&of[2].union(&of[3]));
        }
    }

    /// Fits the nodes to the blocks, for the next walk. Says whether the tree has become loose since it was built and
    /// should be built again; results never depend on it.
    pub fn refit_nodes(&mut self, extents: &[Extent]) -> bool {
        let faces: f64 = self.blocks.iter().map(|block| block.all.half_area()).sum();
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

    /// Visits every two blocks, one of `home` and the same or one behind it, that hold pairs to judge and whose boxes (as
    /// given to the refit) overlap when one is grown by `margin` [m].
    #[inline]
    pub fn walk(&self, home: u32, margin: f64, mut visit: impl FnMut(Blocks)) {
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
                    let blocks = self.two(block, other);
                    if blocks.pairs != 0 {
                        visit(blocks);
                    }
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

    /// Two blocks and which pairs of their slots count.
    #[inline]
    fn two(&self, home: u32, other: u32) -> Blocks {
        let (here, there) = (self.blocks[home as usize].judged, self.blocks[other as usize].judged);
        let range = self.barred_from[home as usize] as usize..self.barred_from[home as usize + 1] as usize;
        let barred = self.barred[range].iter().find(|b| b.other == other).map_or(0, |b| b.bits);
        let row = |i: usize| {
            let judged = if here >> i & 1 == 0 { there } else { 0b1111 };
            let behind = if home == other { 0b1110 << i } else { 0b1111 };
            (judged & behind & 0b1111) << (WIDTH * i)
        };
        let pairs = (row(0) | row(1) | row(2) | row(3)) & !barred;
        Blocks { home, other, pairs: pairs as u16, joined: barred != 0 }
    }

    /// How far apart the boxes of two blocks (as given to the refit) are at least [m]; not positive where they overlap.
    #[inline]
    pub fn gap(&self, blocks: &Blocks) -> f32 {
        let (here, there) = (&self.blocks[blocks.home as usize].all, &self.blocks[blocks.other as usize].all);
        0.9999 * (there.min - here.max).max(here.min - there.max).max_element()
    }

    /// Which of the pairs of two blocks have boxes (as given to the refit) no farther apart than `reach` [m], and how far
    /// apart all others are at least [m].
    #[inline]
    pub fn near(&self, blocks: &Blocks, extents: &[Extent], reach: f32) -> (u16, f32) {
        let there = &self.blocks[blocks.other as usize].boxes;
        // What is empty, or no pair, is infinitely far, and never near.
        let reach = Vec4::splat(reach.min(f32::MAX));
        let (mut near, mut least) = (0, Vec4::INFINITY);
        for (i, extent) in extents.as_chunks::<WIDTH>().0[blocks.home as usize].iter().enumerate() {
            let row = usize::from(blocks.pairs >> (WIDTH * i) & 0b1111);
            let gaps = there.gaps(extent).max(LIFT[row]);
            let within = gaps.cmple(reach);
            near |= within.bitmask() << (WIDTH * i);
            least = least.min(Vec4::select(within, Vec4::INFINITY, gaps));
        }
        (near as u16, least.min_element())
    }
}

/// For every four bits, what lifts the lanes without a bit above everything, and leaves the others.
const LIFT: [Vec4; 16] = {
    let mut lift = [Vec4::INFINITY; 16];
    let mut bits = 0;
    while bits < 16 {
        lift[bits] = Vec4::new(lane(bits, 0), lane(bits, 1), lane(bits, 2), lane(bits, 3));
        bits += 1;
    }
    lift
};

const fn lane(bits: usize, k: u32) -> f32 {
    if bits >> k & 1 == 0 { f32::INFINITY } else { f32::NEG_INFINITY }
}

/// Calls with the slots of each pair, as bits of two blocks.
#[inline]
pub(super) fn each_pair(blocks: &Blocks, mut pairs: u16, mut visit: impl FnMut(u32, u32)) {
    while pairs != 0 {
        let (i, j) = (pairs.trailing_zeros() / 4, pairs.trailing_zeros() % 4);
        pairs &= pairs - 1;
        visit(4 * blocks.home + i, 4 * blocks.other + j);
    }
}
