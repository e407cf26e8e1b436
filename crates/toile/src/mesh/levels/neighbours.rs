//! Who is beside whom: across the edges of the mesh, and across the cracks between levels.

use super::lattice;
use super::tree::ascending;
use super::{Closure, Levels};
use crate::math::DVec3;

impl Levels {
    /// All pairs of faces of the mesh on either side of an edge, or of a part of one.
    pub(super) fn beside(&self) -> Vec<[u32; 2]> {
        let inner = self.mesh().edges().iter().filter(|edge| !edge.is_border());
        let mut pairs: Vec<[u32; 2]> = inner.map(|edge| edge.faces).collect();
        if self.ground.closure != Closure::RedGreen {
            self.leaves().for_each(|leaf| self.across_cracks(leaf, &mut pairs));
        }
        pairs
    }

    /// The finer leaves along the sides of a leaf. Without cuts between levels, leaves are faces of the mesh.
    fn across_cracks(&self, leaf: u32, pairs: &mut Vec<[u32; 2]>) {
        let node = &self.nodes[leaf as usize];
        let corner = |k: usize| (node.corners[k % 3], node.spots[k % 3]);
        let mut waiting: Vec<_> = (0..3).map(|k| (node.level, corner(k), corner(k + 1))).collect();
        while let Some((level, p, q)) = waiting.pop() {
            let middle = lattice::midpoint(p.1, q.1);
            let found = || self.numbers.of(self.ground.place(node.base, middle));
            let Some(m) = (level < self.ground.most).then(found).flatten() else { continue };
            for (p, q) in [(p, (m, middle)), ((m, middle), q)] {
                waiting.push((level + 1, p, q));
                let fine = self.sharing(ascending(p.0, q.0)).map(|f| &self.nodes[f as usize]);
                pairs.extend(fine.filter(|fine| !fine.is_split()).map(|fine| [node.span[0], fine.span[0]]));
            }
        }
    }

    /// The leaves beside each leaf, in pairs of their own and the other's face number, both ways; sorted.
    pub(super) fn leaves_beside(&self, beside: &[[u32; 2]]) -> Vec<[u32; 2]> {
        let owner = |f: u32| self.closed.owners[f as usize];
        let pair = |faces: &[u32; 2]| faces.map(owner);
        let both = |[a, b]: [u32; 2]| [[a, b], [b, a]];
        let mut pairs: Vec<[u32; 2]> =
            beside.iter().map(pair).filter(|[a, b]| a != b).flat_map(both).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

/// The normal of a triangle, as long as twice its area.
pub(super) fn normal(corners: [u32; 3], positions: &[DVec3]) -> DVec3 {
    let [a, b, c] = corners.map(|v| positions[v as usize]);
    (b - a).cross(c - a)
}

/// The angle between two normals [rad], 0 to π; 0 where a triangle has no area. Exact for small angles too, unlike that of
/// their cosine.
pub(super) fn angle(m: DVec3, n: DVec3) -> f64 {
    libm::atan2(m.cross(n).length(), m.dot(n))
}
