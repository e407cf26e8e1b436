//! Edges split at their middles.

use super::draft::{Draft, Ends, ends};
use super::{EditError, Edited, Origin};
use crate::mesh::Mesh;
use std::collections::BTreeMap;

/// Splits edges at their middles, and the faces beside them into two, three or four, so that no vertex lies on an edge.
///
/// One part of each face keeps its number, the others are appended. Edges named twice are split once.
pub fn split(mesh: &Mesh, edges: &[[u32; 2]]) -> Result<Edited, EditError> {
    let what = "the list of edges to split";
    if edges.is_empty() {
        return Err(EditError::TooFew { what, given: 0, least: 1 });
    }
    let mut draft = Draft::unbranched(mesh, "split")?;
    let mut middles: BTreeMap<Ends, u32> = BTreeMap::new();
    for &edge in edges {
        if let Some(&vertex) = edge.iter().find(|&&v| v as usize >= mesh.vertices()) {
            return Err(EditError::NoVertex { what, vertex, vertices: mesh.vertices() });
        }
        if mesh.edges_between(edge).is_empty() {
            return Err(EditError::NoEdge { what, edge });
        }
        let ends = ends(edge[0], edge[1]);
        if !middles.contains_key(&ends) {
            let middle = draft.add_vertex(Origin::Edge(ends, 0.5));
            middles.insert(ends, middle);
        }
    }
    for face in 0..mesh.faces().len() {
        split_face(&mut draft, face, &middles);
    }
    draft.finish()
}

/// Splits a face at the middles of those of its edges that have one.
fn split_face(draft: &mut Draft, face: usize, middles: &BTreeMap<Ends, u32>) {
    let (v, r) = (draft.faces[face], draft.rest[face]);
    // The middle opposite to each corner.
    let middle = [0, 1, 2].map(|k| middles.get(&ends(v[(k + 1) % 3], v[(k + 2) % 3])).copied());
    let place = [0, 1, 2].map(|k| 0.5 * (r[(k + 1) % 3] + r[(k + 2) % 3]));
    // Corners 0–2, middles 3–5 by the corner opposite.
    let vertex = |i: usize| if i < 3 { v[i] } else { middle[i - 3].unwrap_or(v[i - 3]) };
    let at = |i: usize| if i < 3 { r[i] } else { place[i - 3] };
    let count = middle.iter().flatten().count();
    let parts: Vec<[usize; 3]> = match count {
        0 => return,
        1 => {
            let k = middle.iter().position(|m| m.is_some()).unwrap_or(0);
            let (a, b) = ((k + 1) % 3, (k + 2) % 3);
            vec![[k, a, 3 + k], [k, 3 + k, b]]
        }
        2 => {
            let k = middle.iter().position(|m| m.is_none()).unwrap_or(0);
            let (a, b) = ((k + 1) % 3, (k + 2) % 3);
            // The middle next to corner a is opposite to b. The shorter diagonal parts the rest.
            let (to_a, to_b) = (at(3 + a) - r[a], at(3 + b) - r[b]);
            let mut parts = vec![[k, 3 + b, 3 + a]];
            if to_a.length_squared() <= to_b.length_squared() {
                parts.extend([[3 + b, a, 3 + a], [a, b, 3 + a]]);
            } else {
                parts.extend([[3 + b, a, b], [3 + b, b, 3 + a]]);
            }
            parts
        }
        _ => vec![[3, 4, 5], [0, 5, 4], [5, 1, 3], [4, 3, 2]],
    };
    for (n, part) in parts.into_iter().enumerate() {
        let (corners, rest) = (part.map(vertex), part.map(at));
        if n == 0 {
            draft.faces[face] = corners;
            draft.rest[face] = rest;
        } else {
            draft.add_face(corners, rest, face as u32);
        }
    }
}
