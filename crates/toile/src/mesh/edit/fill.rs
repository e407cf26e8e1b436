//! Holes spanned by new cloth.

use super::draft::{Draft, ends};
use super::patch::{Patch, height};
use super::{EditError, Edited, Origin};
use crate::math::DVec3;
use crate::mesh::{Mesh, NONE};
use std::collections::BTreeMap;

/// The longest border of a hole that is filled, in vertices: the work grows with its cube.
pub const MOST_RIM: usize = 500;
/// How much a fold counts against long edges: enough that no triangle is laid back over the cloth to save one.
const FOLD: f64 = 10.0;
/// Triangles with a smaller height than this part of their longest side span nothing.
const FLAT: f64 = 1e-6;

/// Fills the hole whose border runs through the vertex `start`, in the shape it has at `positions` [m], one for each
/// vertex, with faces of about the size of those round it.
///
/// The hole is spanned by the triangles of its border with the shortest edges and the weakest folds, then refined with
/// vertices on these triangles: their [`Origin`] are the corners, old vertices all, with weights, so that positions and
/// velocities follow. New faces lie in no old one ([`crate::mesh::NONE`]) and are at rest as they are, the warp going on
/// from the cloth beside them.
pub fn fill(mesh: &Mesh, positions: &[DVec3], start: u32) -> Result<Edited, EditError> {
    let vertices = mesh.vertices();
    if positions.len() != vertices {
        return Err(EditError::Count {
            what: "the list of positions",
            given: positions.len(),
            wanted: vertices,
        });
    }
    if start as usize >= vertices {
        return Err(EditError::NoVertex { what: "the hole", vertex: start, vertices });
    }
    let mut draft = Draft::unbranched(mesh, "fill")?;
    let rim = rim(mesh, start)?;
    for &v in &rim.vertices {
        let p = positions[v as usize];
        if !(p.is_finite() && p.abs().max_element() < 1e30) {
            let value = if p.is_finite() { p.abs().max_element() } else { f64::NAN };
            let (what, limit) = ("the position of vertex", "finite and below 1e30 m");
            return Err(EditError::BadNumber { what, index: v as usize, value, limit });
        }
    }
    let cannot = EditError::CannotSpan { vertex: start, rim: rim.vertices.len() };
    let span = Span::new(mesh, positions, &rim).triangles().ok_or(cannot)?;
    let sizes = rim.vertices.iter().map(|&v| local_size(&draft, positions, v)).collect();
    let points = rim.vertices.iter().map(|&v| positions[v as usize]).collect();
    let joined = |i: usize, j: usize| !mesh.edges_between([rim.vertices[i], rim.vertices[j]]).is_empty();
    let mut patch = Patch::new(points, sizes, span);
    patch.refine(&joined);
    add(&mut draft, mesh, &rim, &patch);
    draft.finish()
}

/// The border of a hole, in the order in which its new faces go round, and the face of the cloth at the edge after each
/// vertex.
struct Rim {
    vertices: Vec<u32>,
    faces: Vec<u32>,
}

fn rim(mesh: &Mesh, start: u32) -> Result<Rim, EditError> {
    let mut after: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for edge in mesh.edges().iter().filter(|edge| edge.is_border()) {
        let face = mesh.faces()[edge.faces[0] as usize];
        let apex = mesh.apex(edge.faces[0], edge);
        // The hole goes against the face.
        let (to, from) = (face[(apex + 1) % 3], face[(apex + 2) % 3]);
        after.entry(from).or_default().push((to, edge.faces[0]));
    }
    let mut rim = Rim { vertices: Vec::new(), faces: Vec::new() };
    let mut here = start;
    loop {
        match after.get(&here).map(Vec::as_slice) {
            None => return Err(EditError::NotOnBorder { vertex: here }),
            Some([(to, face)]) => {
                rim.vertices.push(here);
                rim.faces.push(*face);
                here = *to;
            }
            Some(_) => return Err(EditError::Pinched { what: "fill", vertex: here }),
        }
        if here == start {
            break;
        }
    }
    let count = rim.vertices.len();
    if count > MOST_RIM {
        return Err(EditError::LargeHole { vertex: start, rim: count, limit: MOST_RIM });
    }
    Ok(rim)
}

/// The mean length [m] of the edges of the cloth at a vertex.
fn local_size(draft: &Draft, positions: &[DVec3], vertex: u32) -> f64 {
    let spokes = draft.spokes(vertex);
    let length = |v: u32| (positions[v as usize] - positions[vertex as usize]).length();
    let sound = spokes.iter().map(|spoke| length(spoke.0)).filter(|l| l.is_finite());
    let (sum, count) = sound.fold((0.0, 0), |(sum, count), l| (sum + l, count + 1));
    if count == 0 { 0.0 } else { sum / count as f64 }
}

/// The best way to span each stretch of the border from vertex i to vertex j: what it costs, by which third vertex, and
/// which way the triangle at i–j looks.
struct Span<'a> {
    count: usize,
    points: Vec<DVec3>,
    cost: Vec<f64>,
    by: Vec<usize>,
    normal: Vec<DVec3>,
    mesh: &'a Mesh,
    vertices: &'a [u32],
}

impl<'a> Span<'a> {
    fn new(mesh: &'a Mesh, positions: &[DVec3], rim: &'a Rim) -> Span<'a> {
        let count = rim.vertices.len();
        let mut span = Span {
            count,
            points: rim.vertices.iter().map(|&v| positions[v as usize]).collect(),
            cost: vec![f64::INFINITY; count * count],
            by: vec![usize::MAX; count * count],
            normal: vec![DVec3::ZERO; count * count],
            mesh,
            vertices: &rim.vertices,
        };
        for i in 0..count {
            let j = (i + 1) % count;
            let place = i.min(j) * count + i.max(j);
            span.normal[place] = normal(mesh.faces()[rim.faces[i] as usize].map(|v| positions[v as usize]));
            if j > i {
                span.cost[place] = 0.0;
            }
        }
        span
    }

    /// Triangles of border vertices; none if nothing can span them.
    fn triangles(mut self) -> Option<Vec<[usize; 3]>> {
        let n = self.count;
        if n < 3 || (n == 3 && self.is_face()) {
            return None;
        }
        for width in 2..n {
            for i in 0..n - width {
                self.best(i, i + width);
            }
        }
        let mut triangles = Vec::with_capacity(n - 2);
        let mut open = vec![(0, n - 1)];
        while let Some((i, j)) = open.pop() {
            if j > i + 1 {
                let m = self.by[i * n + j];
                if m >= n {
                    return None;
                }
                triangles.push([i, m, j]);
                open.extend([(i, m), (m, j)]);
            }
        }
        triangles.sort_unstable();
        Some(triangles)
    }

    /// Whether the only triangle there could be is a face already.
    fn is_face(&self) -> bool {
        let edge = self.mesh.edges_between([self.vertices[0], self.vertices[1]]);
        let faces = self.mesh.edges()[edge].iter().flat_map(|edge| edge.faces).filter(|&f| f != NONE);
        faces.into_iter().any(|f| self.mesh.faces()[f as usize].contains(&self.vertices[2]))
    }

    fn best(&mut self, i: usize, j: usize) {
        let n = self.count;
        let closing = i == 0 && j == n - 1;
        if !closing && !self.mesh.edges_between([self.vertices[i], self.vertices[j]]).is_empty() {
            return;
        }
        let outside = if closing { self.normal[j] } else { DVec3::ZERO };
        for m in i + 1..j {
            let below = self.cost[i * n + m] + self.cost[m * n + j];
            if below >= self.cost[i * n + j] {
                continue;
            }
            let corners = [i, m, j].map(|k| self.points[k]);
            let sides = [0, 1, 2].map(|k| (corners[(k + 1) % 3] - corners[k]).length_squared());
            // Not a number where all three are one point.
            if height(corners) <= FLAT || height(corners).is_nan() {
                continue;
            }
            let up = normal(corners);
            let fold = |other: DVec3, side: f64| {
                if other == DVec3::ZERO { 0.0 } else { FOLD * side * (1.0 - up.dot(other)) }
            };
            let folds = fold(self.normal[i * n + m], sides[0])
                + fold(self.normal[m * n + j], sides[1])
                + fold(outside, sides[2]);
            let cost = below + sides[0] + sides[1] + sides[2] + folds;
            if cost < self.cost[i * n + j] {
                self.cost[i * n + j] = cost;
                self.by[i * n + j] = m;
                if !closing {
                    self.normal[i * n + j] = up;
                }
            }
        }
    }
}

/// The unit normal of a triangle; zero if it has none.
pub(super) fn normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

/// Puts a patch into the mesh.
fn add(draft: &mut Draft, mesh: &Mesh, rim: &Rim, patch: &Patch) {
    let mut number = rim.vertices.clone();
    for (corners, weights) in patch.inner() {
        let parts = (0..3).map(|k| (rim.vertices[corners[k]], weights[k]));
        number.push(draft.add_vertex(Origin::of_weights(parts.collect())));
    }
    let mut beside = BTreeMap::new();
    for (i, &face) in rim.faces.iter().enumerate() {
        let j = (i + 1) % rim.faces.len();
        let corner = |v: u32| mesh.faces()[face as usize].iter().position(|&c| c == v).unwrap_or(0);
        let rest = &mesh.rest()[face as usize];
        let at = [rest[corner(rim.vertices[i])], rest[corner(rim.vertices[j])]];
        let turned = i > j;
        beside.insert(
            ends(i as u32, j as u32),
            (if turned { [at[1], at[0]] } else { at }, super::layout::turning(rest)),
        );
    }
    for (corners, rest) in patch.faces().iter().zip(patch.charts(beside)) {
        draft.faces.push(corners.map(|i| number[i]));
        draft.rest.push(rest);
        draft.parent.push(NONE);
        draft.density.push(1.0);
    }
}
