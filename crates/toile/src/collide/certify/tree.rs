//! A flat tree of boxes over all faces, refitted from frame to frame.
//!
//! Nodes lie in depth-first order and know where to go on when their box is of no interest, so a walk needs no stack;
//! and everything behind a leaf in that order lies outside its ancestors, so walking on from a leaf meets every other
//! leaf once per pair. Boxes are f32, rounded outward: half the memory, four comparisons at once, and no pair lost.

use glam::{DVec3, Vec4};

/// Faces per leaf: few enough that testing all pairs of two leaves stays cheap.
const LEAF: usize = 6;
/// Rebuild when the boxes have grown by this factor, relative to the faces, since the tree was built.
const DEGRADED: f64 = 1.4;

/// An axis-aligned box [m]; the fourth lane is always 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    min: Vec4,
    max: Vec4,
}

impl Extent {
    /// Meets nothing, and adds nothing to a union.
    pub const EMPTY: Extent = Extent {
        min: Vec4::new(f32::INFINITY, f32::INFINITY, f32::INFINITY, 0.0),
        max: Vec4::new(f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY, 0.0),
    };

    #[inline]
    pub fn of(corners: &[DVec3; 3]) -> Extent {
        let [a, b, c] = *corners;
        Extent::outward(a.min(b).min(c), a.max(b).max(c))
    }

    /// The smallest f32 box around an f64 one.
    #[inline]
    fn outward(min: DVec3, max: DVec3) -> Extent {
        let down = |x: f64| if f64::from(x as f32) > x { (x as f32).next_down() } else { x as f32 };
        let up = |x: f64| if f64::from(x as f32) < x { (x as f32).next_up() } else { x as f32 };
        Extent {
            min: Vec4::new(down(min.x), down(min.y), down(min.z), 0.0),
            max: Vec4::new(up(max.x), up(max.y), up(max.z), 0.0),
        }
    }

    fn union(self, other: &Extent) -> Extent {
        Extent { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box grown by a margin [m] on all sides; an empty one stays empty.
    fn grown(&self, margin: f64) -> Extent {
        if self.is_empty() {
            return *self;
        }
        let (min, max) = (self.min.truncate().as_dvec3(), self.max.truncate().as_dvec3());
        Extent::outward(min - margin, max + margin)
    }

    #[inline]
    pub fn overlaps(&self, other: &Extent) -> bool {
        (self.min.cmple(other.max) & other.min.cmple(self.max)).all()
    }

    pub fn is_empty(&self) -> bool {
        self.min.x > self.max.x
    }

    /// The middle [m]; the origin when empty.
    fn centre(&self) -> Vec4 {
        if self.is_empty() { Vec4::ZERO } else { 0.5 * self.min + 0.5 * self.max }
    }

    /// Half the surface of the box [m²], 0 when empty.
    fn half_area(&self) -> f64 {
        let size = (self.max - self.min).max(Vec4::ZERO).truncate().as_dvec3();
        size.x * size.y + size.y * size.z + size.z * size.x
    }
}

struct Node {
    extent: Extent,
    /// Where to go on when the subtree is of no interest.
    skip: u32,
    /// The faces below, as a range of `Tree::order`.
    begin: u32,
    end: u32,
    leaf: bool,
    /// Whether any face below is judged.
    judged: bool,
}

impl Node {
    fn faces(&self) -> std::ops::Range<usize> {
        self.begin as usize..self.end as usize
    }
}

/// The tree.
#[derive(Default)]
pub(super) struct Tree {
    /// Faces that matter by themselves; a pair counts when one of its faces does.
    judged: Vec<bool>,
    nodes: Vec<Node>,
    leaves: Vec<u32>,
    /// Faces in the order of the leaves, and their boxes in the same order.
    order: Vec<u32>,
    extents: Vec<Extent>,
    quality: f64,
}

impl Tree {
    pub fn new(judged: Vec<bool>) -> Tree {
        Tree { judged, ..Tree::default() }
    }

    /// Fits the tree to new extents, one per face; rebuilds it when it has become loose. Results never depend on
    /// which of the two happened.
    pub fn fit(&mut self, extents: &[Extent]) {
        if self.nodes.is_empty() {
            self.build(extents);
        }
        self.refit(extents);
        if self.looseness() > DEGRADED * self.quality {
            self.build(extents);
            self.refit(extents);
            self.quality = self.looseness();
        }
    }

    /// Leaves, as handles for the walks; adjacent leaves are near one another.
    pub fn leaves(&self) -> &[u32] {
        &self.leaves
    }

    /// Visits every pair of faces (a < b, one in `leaf`, the other in it or behind it) that counts and whose boxes,
    /// one of them grown by `margin` [m], overlap.
    pub fn walk(&self, leaf: u32, margin: f64, mut visit: impl FnMut(u32, u32)) {
        let home = &self.nodes[leaf as usize];
        let around = home.extent.grown(margin);
        let mut near = [Extent::EMPTY; LEAF];
        for (grown, extent) in near.iter_mut().zip(&self.extents[home.faces()]) {
            *grown = extent.grown(margin);
        }
        let mut meet = |from: usize, until: usize, others: std::ops::Range<usize>| {
            for j in others {
                let (b, other) = (self.order[j], &self.extents[j]);
                for i in (from..until.min(j)).filter(|&i| near[i - from].overlaps(other)) {
                    let a = self.order[i];
                    if self.judged[a as usize] || self.judged[b as usize] {
                        visit(a.min(b), a.max(b));
                    }
                }
            }
        };
        let (from, until) = (home.begin as usize, home.end as usize);
        meet(from, until, home.faces());
        let mut at = leaf as usize + 1;
        while let Some(node) = self.nodes.get(at) {
            if !(home.judged || node.judged) || !around.overlaps(&node.extent) {
                at = node.skip as usize;
                continue;
            }
            if node.leaf {
                meet(from, until, node.faces());
            }
            at += 1;
        }
    }

    /// Visits every pair of faces of one leaf that counts.
    pub fn walk_leaf(&self, leaf: u32, mut visit: impl FnMut(u32, u32)) {
        let here = &self.order[self.nodes[leaf as usize].faces()];
        for (i, &a) in here.iter().enumerate() {
            for &b in here[i + 1..].iter().filter(|&&b| self.judged[a as usize] || self.judged[b as usize]) {
                visit(a.min(b), a.max(b));
            }
        }
    }

    fn build(&mut self, extents: &[Extent]) {
        self.nodes.clear();
        self.leaves.clear();
        let mut order: Vec<u32> = (0..extents.len() as u32).collect();
        if !order.is_empty() {
            self.split(&mut order, 0, extents);
        }
        self.order = order;
    }

    /// Appends the subtree of `faces`, which start at `begin` in the order: halves along the longest side.
    fn split(&mut self, faces: &mut [u32], begin: u32, extents: &[Extent]) {
        let at = self.nodes.len();
        let leaf = faces.len() <= LEAF;
        let judged = faces.iter().any(|&f| self.judged[f as usize]);
        let end = begin + faces.len() as u32;
        self.nodes.push(Node { extent: Extent::EMPTY, skip: 0, begin, end, leaf, judged });
        if leaf {
            self.leaves.push(at as u32);
        } else {
            let centre = |f: u32| extents[f as usize].centre();
            let start = (Vec4::INFINITY, Vec4::NEG_INFINITY);
            let (low, high) =
                faces.iter().fold(start, |(low, high), &f| (low.min(centre(f)), high.max(centre(f))));
            let axis = longest(high - low);
            let middle = faces.len() / 2;
            // The number breaks ties: a total order, the same for every run.
            let key = |f: u32| centre(f).to_array()[axis];
            faces.select_nth_unstable_by(middle, |&f, &g| key(f).total_cmp(&key(g)).then(f.cmp(&g)));
            let (left, right) = faces.split_at_mut(middle);
            self.split(left, begin, extents);
            self.split(right, begin + middle as u32, extents);
        }
        self.nodes[at].skip = self.nodes.len() as u32;
    }

    fn refit(&mut self, extents: &[Extent]) {
        self.extents.clear();
        self.extents.extend(self.order.iter().map(|&f| extents[f as usize]));
        for at in (0..self.nodes.len()).rev() {
            let node = &self.nodes[at];
            self.nodes[at].extent = if node.leaf {
                self.extents[node.faces()].iter().fold(Extent::EMPTY, Extent::union)
            } else {
                let left = &self.nodes[at + 1];
                left.extent.union(&self.nodes[left.skip as usize].extent)
            };
        }
    }

    /// Box surface of all nodes relative to that of the faces: what a walk costs.
    fn looseness(&self) -> f64 {
        let faces: f64 = self.extents.iter().map(Extent::half_area).sum();
        let nodes: f64 = self.nodes.iter().map(|node| node.extent.half_area()).sum();
        if faces > 0.0 { nodes / faces } else { 0.0 }
    }
}

fn longest(size: Vec4) -> usize {
    if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    }
}
