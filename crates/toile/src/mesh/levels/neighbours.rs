//! Who is beside whom: across the edges of the mesh, and across the cracks between levels.

use super::lattice;
use super::tree::ascending;
use super::{Closure, Levels};
use crate::math::DVec3;

/// Two faces of the mesh on either side of an edge, or of a part of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Beside {
    /// Faces of the mesh.
    pub(super) faces: [u32; 2],
    /// Their heights at rest [m] above the edge.
    pub(super) heights: [f64; 2],
}

impl Beside {
    /// From the middle of one face to that of the other, square to the edge [m].
    pub(super) fn distance(&self) -> f64 {
        (self.heights[0] + self.heights[1]) / 3.0
    }
}

/// The height of a triangle above one of its sides [m].
pub(super) fn height(area: f64, side: f64) -> f64 {
    if side > 0.0 { 2.0 * area / side } else { 0.0 }
}

impl Levels {
    /// All pairs of neighbours.
    pub(super) fn beside(&self) -> Vec<Beside> {
        let mesh = self.mesh();
        let mut pairs: Vec<Beside> = Vec::with_capacity(mesh.edges().len());
        for edge in mesh.edges().iter().filter(|edge| !edge.is_border()) {
            let above =
                |f: u32| height(mesh.area()[f as usize], mesh.rest_side(f as usize, mesh.apex(f, edge)));
            pairs.push(Beside { faces: edge.faces, heights: edge.faces.map(above) });
        }
        if self.ground.closure != Closure::RedGreen {
            self.leaves().for_each(|leaf| self.across_cracks(leaf, &mut pairs));
        }
        pairs
    }

    /// The finer leaves along the sides of a leaf. Without cuts between levels, leaves are faces of the mesh.
    fn across_cracks(&self, leaf: u32, pairs: &mut Vec<Beside>) {
        let node = &self.nodes[leaf as usize];
        let coarse = node.span[0];
        let mesh = self.mesh();
        for k in 0..3 {
            let corner = |k: usize| (node.corners[k % 3], node.spots[k % 3]);
            let above = height(mesh.area()[coarse as usize], mesh.rest_side(coarse as usize, (k + 2) % 3));
            let mut waiting = vec![(node.level, corner(k), corner(k + 1))];
            while let Some((level, p, q)) = waiting.pop() {
                let middle = lattice::midpoint(p.1, q.1);
                let found = || self.numbers.of(self.ground.place(node.base, middle));
                let Some(m) = (level < self.ground.most).then(found).flatten() else { continue };
                for (p, q) in [(p, (m, middle)), ((m, middle), q)] {
                    waiting.push((level + 1, p, q));
                    for fine in
                        self.sharing(ascending(p.0, q.0)).filter(|&f| !self.nodes[f as usize].is_split())
                    {
                        let f = self.nodes[fine as usize].span[0];
                        let corners = mesh.faces()[f as usize];
                        let apex = corners.iter().position(|&v| v != p.0 && v != q.0).unwrap_or(0);
                        let over = height(mesh.area()[f as usize], mesh.rest_side(f as usize, apex));
                        pairs.push(Beside { faces: [coarse, f], heights: [above, over] });
                    }
                }
            }
        }
    }

    /// The leaves beside each leaf, in pairs of their own and the other's face number, both ways; sorted.
    pub(super) fn leaves_beside(&self, beside: &[Beside]) -> Vec<[u32; 2]> {
        let owner = |f: u32| self.closed.owners[f as usize];
        let pair = |b: &Beside| [owner(b.faces[0]), owner(b.faces[1])];
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
