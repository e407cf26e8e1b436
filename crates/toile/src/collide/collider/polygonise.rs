//! Triangles of a field's zero set: marching tetrahedra.
//!
//! Each cube of a grid is cut into six tetrahedra round its diagonal (Kuhn), in which the sign of the field at the four
//! corners leaves no choice (Payne and Toga 1990), so the mesh is closed and every edge has two faces, whatever the
//! field does. Vertices are kept off the ends of their grid edges, which avoids slivers, and then pulled
//! onto the surface.

use super::error::ColliderError;
use super::facets::{Facets, check_tolerance};
use super::field::Field;
use crate::math::{DVec3, parallel, reduce};

/// Most grid points.
const MAX_POINTS: usize = 16_000_000;
/// How near to the end of a grid edge a vertex may start, as a part of the edge.
const MARGIN: f64 = 0.06;
/// Corners of the six tetrahedra as steps along x (1), y (2) and z (4).
const TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];

/// The zero set of `field` within `tolerance` [m], measured on the middles of faces and edges.
pub(super) fn polygonise(
    shape: &'static str,
    field: &impl Field,
    tolerance: f64,
) -> Result<Facets, ColliderError> {
    check_tolerance(shape, tolerance)?;
    let (low, high) = field.bounds();
    let extent = (high - low).max_element();
    let mut cell = field.detail().min(extent / 12.0);
    loop {
        let lattice = Lattice::new(low, high, cell);
        if lattice.points() > MAX_POINTS {
            return Err(ColliderError::TooFine { shape, tolerance, limit: MAX_POINTS });
        }
        let mut facets = lattice.triangles(field);
        if facets.faces.is_empty() {
            return Err(ColliderError::EmptyField { shape });
        }
        let worst = worst_gap(field, &facets);
        if worst <= 0.8 * tolerance {
            facets.tolerance = tolerance;
            return Ok(facets);
        }
        // The gap of a chord falls with the square of its length.
        cell *= (0.8 * tolerance / worst).sqrt().clamp(0.4, 0.85);
    }
}

/// Largest distance of the middles of faces and of edges from the surface [m].
fn worst_gap(field: &impl Field, facets: &Facets) -> f64 {
    let gap = |x: DVec3| (field.pull(x, 3) - x).length();
    reduce::max(facets.faces.len(), |f| {
        let [a, b, c] = facets.faces[f].map(|v| facets.positions[v as usize]);
        let middles = [(a + b + c) / 3.0, (a + b) * 0.5, (b + c) * 0.5, (c + a) * 0.5];
        middles.into_iter().map(gap).fold(0.0, f64::max)
    })
}

/// Grid points round a box, one cell beyond it on every side.
struct Lattice {
    origin: DVec3,
    cell: f64,
    size: [usize; 3],
}

impl Lattice {
    fn new(low: DVec3, high: DVec3, cell: f64) -> Lattice {
        let count = ((high - low) / cell).ceil() + 3.0;
        // Centred, half a cell off any symmetry of the body: grid points on the surface are rare.
        let origin =
            (low + high) * 0.5 - (count - 1.0) * (0.5 * cell) + DVec3::new(0.013, 0.029, 0.041) * cell;
        Lattice { origin, cell, size: count.to_array().map(|n| n as usize) }
    }

    fn points(&self) -> usize {
        self.size.iter().fold(1_usize, |product, &n| product.saturating_mul(n))
    }

    fn place(&self, n: usize) -> DVec3 {
        let [nx, ny, _] = self.size;
        self.origin + DVec3::new((n % nx) as f64, (n / nx % ny) as f64, (n / (nx * ny)) as f64) * self.cell
    }

    fn triangles(&self, field: &impl Field) -> Facets {
        let mut values = vec![0.0; self.points()];
        parallel::fill(&mut values, |n| field.value(self.place(n)));
        let mut corners: Vec<[(u32, u32); 3]> = Vec::new();
        let [nx, ny, nz] = self.size;
        for k in 0..nz - 1 {
            for j in 0..ny - 1 {
                for i in 0..nx - 1 {
                    let base = i + nx * (j + ny * k);
                    let at = |c: usize| base + (c & 1) + nx * ((c >> 1 & 1) + ny * (c >> 2));
                    let inside = (0..8).filter(|&c| values[at(c)] < 0.0).count();
                    if inside == 0 || inside == 8 {
                        continue;
                    }
                    for corner in TETRAHEDRA {
                        tetrahedron(&corner.map(at), &values, &mut corners);
                    }
                }
            }
        }
        let mut edges: Vec<(u32, u32)> = corners.iter().flatten().copied().collect();
        edges.sort_unstable();
        edges.dedup();
        let number = |edge: &(u32, u32)| edges.binary_search(edge).map_or(0, |n| n as u32);
        let faces = corners.iter().map(|face| std::array::from_fn(|c| number(&face[c]))).collect();
        let mut positions = vec![DVec3::ZERO; edges.len()];
        parallel::fill(&mut positions, |n| self.vertex(field, edges[n], &values));
        Facets { positions, faces, tolerance: 0.0 }
    }

    /// The point of the surface on, or near, a grid edge.
    fn vertex(&self, field: &impl Field, (a, b): (u32, u32), values: &[f64]) -> DVec3 {
        let (start, end) = (self.place(a as usize), self.place(b as usize));
        let (inside, outside) = if values[a as usize] < 0.0 { (start, end) } else { (end, start) };
        let crossing = field.cross(inside, outside);
        let part = (crossing - start).length() / (end - start).length();
        let kept = start + (end - start) * part.clamp(MARGIN, 1.0 - MARGIN);
        let pulled = field.pull(kept, 4);
        // Where the gradient misleads, the crossing itself is on the surface.
        if (pulled - kept).length() < 1.5 * MARGIN * self.cell { pulled } else { crossing }
    }
}

/// The part of the surface in one tetrahedron (positively oriented corners), front outward.
fn tetrahedron(corner: &[usize; 4], values: &[f64], faces: &mut Vec<[(u32, u32); 3]>) {
    let inside = corner.map(|n| values[n] < 0.0);
    let edge = |i: usize, j: usize| {
        let (a, b) = (corner[i] as u32, corner[j] as u32);
        (a.min(b), a.max(b))
    };
    let count = inside.iter().filter(|i| **i).count();
    // Even permutations that bring the odd one, or the two inside, to the front.
    let order = |first: usize| [[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]][first];
    match count {
        1 | 3 => {
            let lone = (0..4).find(|&i| inside[i] == (count == 1)).unwrap_or(0);
            let [a, b, c, d] = order(lone);
            let face = [edge(a, b), edge(a, c), edge(a, d)];
            faces.push(if count == 1 { face } else { [face[0], face[2], face[1]] });
        }
        2 => {
            let [a, b, c, d] = match inside {
                [true, true, _, _] => [0, 1, 2, 3],
                [true, _, true, _] => [0, 2, 3, 1],
                [true, _, _, true] => [0, 3, 1, 2],
                [_, true, true, _] => [1, 2, 0, 3],
                [_, true, _, true] => [1, 3, 2, 0],
                _ => [2, 3, 0, 1],
            };
            let quad = [edge(a, c), edge(a, d), edge(b, d), edge(b, c)];
            faces.push([quad[0], quad[1], quad[2]]);
            faces.push([quad[0], quad[2], quad[3]]);
        }
        _ => {}
    }
}
