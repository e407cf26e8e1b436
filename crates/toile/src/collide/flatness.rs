//! Which parts of a surface cannot meet themselves, from how their normals spread (M03-9 to M03-11).
//!
//! A connected patch whose normals all lie within a cone of apex angle below π has no two layers over each other,
//! unless its outline winds round into itself (M03 Fig. 5). So the criterion is applied to groups of faces, small
//! connected patches: to a group, to two groups that share an edge, and inside a group to nodes whose faces hang
//! together. Nodes of faces that do not hang together are never taken for flat: layers one and three of an S-shaped
//! fold have the same normals.
//!
//! What is left out is therefore exactly defined, and [`Flatness::omits`] says it pair by pair.

use super::cones::{Cone, ConeMerge, positive_vector};
use super::contour::{outline, winds_clear};
use super::detect::Counters;
use super::shell::{NONE, Shell};
use super::tree::Tree;
use crate::math::{DVec3, parallel};

/// How flat parts are recognised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curvature {
    /// Not at all: neighbours on the surface are reported as well, wherever they are within the contact distance.
    Off,
    /// By cones of normals (M03-9).
    Cones {
        /// How cones are merged.
        merge: ConeMerge,
        /// Apex angle [rad] below which a patch is flat, at most π; 150° by default (G-12).
        apex: f64,
    },
    /// By a direction from which every face of a patch is seen from its front, and an outline which, seen from there,
    /// does not come within the contact distance of itself (M03-10, G-13). Finds concave outlines inside groups too.
    Exact,
}

impl Default for Curvature {
    fn default() -> Curvature {
        Curvature::Cones { merge: ConeMerge::Tight, apex: 150.0_f64.to_radians() }
    }
}

/// Which groups, pairs of neighbouring groups and nodes are flat at the moment.
#[derive(Clone, Debug, Default)]
pub struct Flatness {
    /// Whether the faces below a node hang together; nodes of several groups do not count as such.
    connected: Vec<bool>,
    /// Topmost node of each group.
    roots: Vec<u32>,
    cones: Vec<Cone>,
    /// Per node: connected and flat.
    node: Vec<bool>,
    /// Per entry of the groups' lists of neighbours: the union is flat.
    pair: Vec<bool>,
}

impl Flatness {
    /// Looks at the surface as it is now. `clearance` [m] is what an outline must keep from itself.
    pub fn update<const S: usize>(
        &mut self,
        surface: &Shell,
        tree: &Tree<S>,
        x: &[DVec3],
        curvature: Curvature,
        clearance: f64,
    ) {
        if self.connected.len() != tree.nodes().len() {
            self.prepare(surface, tree);
        }
        match curvature {
            Curvature::Off => {
                self.node.fill(false);
                self.pair.fill(false);
            }
            Curvature::Cones { merge, apex } => self.by_cones(surface, tree, x, merge, apex),
            Curvature::Exact => self.by_outline(surface, x, clearance),
        }
    }

    /// Whether it has looked at the surface since the last edit.
    pub(super) fn is_ready(&self) -> bool {
        !self.connected.is_empty()
    }

    /// Forgets what depends on the faces; to be called after an edit.
    pub fn forget(&mut self) {
        self.connected.clear();
    }

    fn prepare<const S: usize>(&mut self, surface: &Shell, tree: &Tree<S>) {
        let count = tree.nodes().len();
        let groups = surface.groups();
        self.cones = vec![Cone::EMPTY; count];
        self.node = vec![false; count];
        self.pair = vec![false; groups.near.len()];
        self.roots = vec![NONE; groups.len()];
        for n in (0..count as u32).rev() {
            let group = tree.group(n);
            if group != NONE {
                self.roots[group as usize] = n;
            }
        }
        let mut connected = vec![false; count];
        parallel::fill(&mut connected, |n| {
            tree.group(n as u32) != NONE && hangs_together(surface, &faces_below(tree, n as u32))
        });
        self.connected = connected;
    }

    fn by_cones<const S: usize>(
        &mut self,
        surface: &Shell,
        tree: &Tree<S>,
        x: &[DVec3],
        merge: ConeMerge,
        apex: f64,
    ) {
        let apex = apex.min(std::f64::consts::PI);
        let normal = |face| Cone::of(surface.normal(face, x));
        let mut cones = std::mem::take(&mut self.cones);
        tree.ascend(&mut cones, &normal, &|a, b| a.merge(b, merge), &Cone::EMPTY);
        self.cones = cones;
        let Flatness { connected, roots, cones, node, pair } = self;
        parallel::fill(node, |n| connected[n] && cones[n].within(apex));
        let groups = surface.groups();
        for group in 0..groups.len() as u32 {
            let root = roots[group as usize];
            for at in groups.neighbour_range(group) {
                let other = roots[groups.near[at] as usize];
                let whole = connected[root as usize] && connected[other as usize];
                let (low, high) = (root.min(other) as usize, root.max(other) as usize);
                pair[at] = whole && cones[low].merge(&cones[high], merge).within(apex);
            }
        }
    }

    fn by_outline(&mut self, surface: &Shell, x: &[DVec3], clearance: f64) {
        let groups = surface.groups();
        self.node.fill(false);
        for group in 0..groups.len() as u32 {
            for at in groups.neighbour_range(group) {
                let other = groups.near[at];
                // In one order for both, so that the two answers cannot differ.
                let mut faces = groups.members(group.min(other)).to_vec();
                if other != group {
                    faces.extend_from_slice(groups.members(group.max(other)));
                }
                let normals: Vec<DVec3> =
                    faces.iter().map(|f| surface.normal(*f, x).normalize_or_zero()).collect();
                let clear = |axis| {
                    outline(surface, &faces).is_some_and(|outline| winds_clear(&outline, x, axis, clearance))
                };
                self.pair[at] = positive_vector(&normals).is_some_and(clear);
            }
        }
    }

    /// Whether a node cannot meet itself.
    #[inline]
    pub(super) fn alone<const S: usize>(
        &self,
        surface: &Shell,
        tree: &Tree<S>,
        n: u32,
        counters: &mut Counters,
    ) -> bool {
        let group = tree.group(n);
        if group == NONE {
            return false;
        }
        counters.cone_tests += 1;
        self.node[n as usize] || self.flag(surface, group, group)
    }

    /// Whether two nodes of one surface cannot meet.
    #[inline]
    pub(super) fn pair<const S: usize>(
        &self,
        surface: &Shell,
        tree: &Tree<S>,
        [a, b]: [u32; 2],
        counters: &mut Counters,
    ) -> bool {
        let (a, b) = (tree.group(a), tree.group(b));
        if a == NONE || b == NONE {
            return false;
        }
        counters.cone_tests += 1;
        self.flag(surface, a, b)
    }

    #[inline]
    fn flag(&self, surface: &Shell, a: u32, b: u32) -> bool {
        let groups = surface.groups();
        let range = groups.neighbour_range(a);
        match groups.near[range.clone()].binary_search(&b) {
            Ok(at) => self.pair[range.start + at],
            Err(_) => false,
        }
    }

    /// Whether the features that two faces own are left out against each other: the definition that walks follow.
    pub fn omits<const S: usize>(&self, surface: &Shell, tree: &Tree<S>, a: u32, b: u32) -> bool {
        let of_face = &surface.groups().of_face;
        let group = of_face[a as usize];
        if self.flag(surface, group, of_face[b as usize]) {
            return true;
        }
        // A flat node of the same group that holds both.
        let (mut n, mut m) = (tree.leaf(a), tree.leaf(b));
        while n != m {
            if n < m { m = tree.parent(m) } else { n = tree.parent(n) }
        }
        while n != NONE && tree.group(n) == group {
            if self.node[n as usize] {
                return true;
            }
            n = tree.parent(n);
        }
        false
    }
}

/// Faces below a node, ascending.
fn faces_below<const S: usize>(tree: &Tree<S>, n: u32) -> Vec<u32> {
    let (mut open, mut faces) = (vec![n], Vec::new());
    while let Some(n) = open.pop() {
        let node = tree.nodes()[n as usize];
        match node.len {
            0 if node.first == NONE => {}
            0 => faces.push(node.first),
            len => open.extend(node.first..node.first + len),
        }
    }
    faces.sort_unstable();
    faces
}

/// Whether one can walk from any of the faces to any other across shared edges.
fn hangs_together(surface: &Shell, faces: &[u32]) -> bool {
    let mut sides: Vec<(u32, u32)> = Vec::with_capacity(3 * faces.len());
    for (k, f) in faces.iter().enumerate() {
        sides.extend(surface.face_edges()[*f as usize].map(|e| (e, k as u32)));
    }
    sides.sort_unstable();
    let mut root: Vec<u32> = (0..faces.len() as u32).collect();
    let find = |root: &mut [u32], mut k: u32| {
        while root[k as usize] != k {
            root[k as usize] = root[root[k as usize] as usize];
            k = root[k as usize];
        }
        k
    };
    let mut parts = faces.len();
    for pair in sides.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let (a, b) = (find(&mut root, pair[0].1), find(&mut root, pair[1].1));
        if a != b {
            root[a.max(b) as usize] = a.min(b);
            parts -= 1;
        }
    }
    parts <= 1
}
