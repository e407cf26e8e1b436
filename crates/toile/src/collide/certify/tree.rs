//! A flat tree of boxes over all faces, refitted from frame to frame.
//!
//! Nodes lie in depth-first order and know where to go on when their box is of no interest, so a walk needs no stack;
//! and everything behind a leaf in that order lies outside its ancestors, so walking on from a leaf meets every other
//! leaf once per pair. Boxes are plain f64 extents: exact, hence never inflated.

use glam::DVec3;

/// Faces per leaf: few enough that testing all pairs of two leaves stays cheap.
const LEAF: usize = 4;
/// Rebuild when the boxes have grown by this factor, relative to the faces, since the tree was built.
const DEGRADED: f64 = 1.4;

/// An axis-aligned box [m].
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub min: DVec3,
    pub max: DVec3,
}

impl Extent {
    /// Meets nothing, and adds nothing to a union.
    pub const EMPTY: Extent = Extent { min: DVec3::INFINITY, max: DVec3::NEG_INFINITY };

    pub fn of(corners: &[DVec3; 3]) -> Extent {
        let [a, b, c] = *corners;
        Extent { min: a.min(b).min(c), max: a.max(b).max(c) }
    }

    pub fn union(&self, other: &Extent) -> Extent {
        Extent { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    #[inline]
    pub fn overlaps(&self, other: &Extent) -> bool {
        (self.min.cmple(other.max) & other.min.cmple(self.max)).all()
    }

    /// Squared distance between two boxes [m²], 0 where they overlap.
    #[inline]
    pub fn gap_squared(&self, other: &Extent) -> f64 {
        (self.min - other.max).max(other.min - self.max).max(DVec3::ZERO).length_squared()
    }

    /// Half the surface of the box [m²], 0 when empty.
    fn half_area(&self) -> f64 {
        let size = (self.max - self.min).max(DVec3::ZERO);
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

/// The tree.
#[derive(Default)]
pub(super) struct Tree {
    /// Faces that matter by themselves; a pair counts when one of its faces does.
    judged: Vec<bool>,
    nodes: Vec<Node>,
    leaves: Vec<u32>,
    order: Vec<u32>,
    quality: f64,
}

impl Tree {
    pub fn new(judged: Vec<bool>) -> Tree {
        Tree { judged, ..Tree::default() }
    }

    /// Fits the tree to new extents, one per face; rebuilds it when it has become loose. Results never depend on
    /// which of the two happened.
    pub fn fit(&mut self, extents: &[Extent]) {
        if !self.nodes.is_empty() {
            self.refit(extents);
            if self.looseness(extents) <= DEGRADED * self.quality {
                return;
            }
        }
        self.build(extents);
        self.quality = self.looseness(extents);
    }

    /// Leaves, as handles for the walks; adjacent leaves are near one another.
    pub fn leaves(&self) -> &[u32] {
        &self.leaves
    }

    /// Visits every pair of faces (a < b, one in `leaf`, the other in it or behind it) that counts and whose boxes,
    /// and all boxes around them, are `close`.
    pub fn walk(
        &self,
        leaf: u32,
        extents: &[Extent],
        close: impl Fn(&Extent, &Extent) -> bool,
        mut visit: impl FnMut(u32, u32),
    ) {
        let home = &self.nodes[leaf as usize];
        let here = self.faces(home);
        let mut pairs = |a: u32, others: &[u32]| {
            for &b in others {
                let counts = self.judged[a as usize] || self.judged[b as usize];
                if counts && close(&extents[a as usize], &extents[b as usize]) {
                    visit(a.min(b), a.max(b));
                }
            }
        };
        (0..here.len()).for_each(|i| pairs(here[i], &here[i + 1..]));
        let mut at = leaf as usize + 1;
        while let Some(node) = self.nodes.get(at) {
            if !(home.judged || node.judged) || !close(&home.extent, &node.extent) {
                at = node.skip as usize;
                continue;
            }
            if node.leaf {
                here.iter().for_each(|&a| pairs(a, self.faces(node)));
            }
            at += 1;
        }
    }

    fn faces(&self, node: &Node) -> &[u32] {
        &self.order[node.begin as usize..node.end as usize]
    }

    fn build(&mut self, extents: &[Extent]) {
        self.nodes.clear();
        self.leaves.clear();
        self.order = (0..extents.len() as u32).collect();
        let mut order = std::mem::take(&mut self.order);
        if !order.is_empty() {
            self.split(&mut order, 0, extents);
        }
        self.order = order;
    }

    /// Appends the subtree of `faces`, which start at `begin` in the order: halves along the longest side.
    fn split(&mut self, faces: &mut [u32], begin: u32, extents: &[Extent]) {
        let centre = |f: u32| extents[f as usize].min + extents[f as usize].max;
        let at = self.nodes.len();
        let extent = faces.iter().fold(Extent::EMPTY, |all, &f| all.union(&extents[f as usize]));
        let end = begin + faces.len() as u32;
        let leaf = faces.len() <= LEAF;
        let judged = faces.iter().any(|&f| self.judged[f as usize]);
        self.nodes.push(Node { extent, skip: 0, begin, end, leaf, judged });
        if leaf {
            self.leaves.push(at as u32);
        } else {
            let (low, high) = faces.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &f| {
                if extents[f as usize].min.x.is_finite() {
                    (low.min(centre(f)), high.max(centre(f)))
                } else {
                    (low, high)
                }
            });
            let axis = longest(high - low);
            let middle = faces.len() / 2;
            // The index breaks ties, so the order is total; unjudged faces (empty boxes, NaN centres) sort last.
            let key = |f: u32| centre(f).to_array()[axis];
            faces.select_nth_unstable_by(middle, |&f, &g| key(f).total_cmp(&key(g)).then(f.cmp(&g)));
            let (left, right) = faces.split_at_mut(middle);
            self.split(left, begin, extents);
            self.split(right, begin + middle as u32, extents);
        }
        self.nodes[at].skip = self.nodes.len() as u32;
    }

    fn refit(&mut self, extents: &[Extent]) {
        for at in (0..self.nodes.len()).rev() {
            let node = &self.nodes[at];
            self.nodes[at].extent = if node.leaf {
                self.faces(node).iter().fold(Extent::EMPTY, |all, &f| all.union(&extents[f as usize]))
            } else {
                let left = &self.nodes[at + 1];
                left.extent.union(&self.nodes[left.skip as usize].extent)
            };
        }
    }

    /// Box surface of all nodes relative to that of the faces: what a walk costs.
    fn looseness(&self, extents: &[Extent]) -> f64 {
        let faces: f64 = extents.iter().map(Extent::half_area).sum();
        let nodes: f64 = self.nodes.iter().map(|node| node.extent.half_area()).sum();
        if faces > 0.0 { nodes / faces } else { 0.0 }
    }
}

fn longest(size: DVec3) -> usize {
    if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    }
}
