//! Cuts along edges, and faces taken away.

use super::draft::{Draft, Ends, ends};
use super::{EditError, Edited};
use crate::mesh::Mesh;
use std::collections::BTreeSet;

/// Opens the cloth along a path of vertices joined by edges, each of which becomes one for each side of the cut.
///
/// Ends of the path inside the cloth stay one vertex, so the cut is a slit; ends on a border open it; a closed path cuts
/// a piece out. Paths may meet earlier cuts and cross themselves. Edges of a border have nothing to open: a path of
/// nothing else is refused, and so is a single edge with both ends inside the cloth.
pub fn cut_along(mesh: &Mesh, path: &[u32]) -> Result<Edited, EditError> {
    let what = "the path of the cut";
    if path.len() < 2 {
        return Err(EditError::TooFew { what, given: path.len(), least: 2 });
    }
    if let Some(&vertex) = path.iter().find(|&&v| v as usize >= mesh.vertices()) {
        return Err(EditError::NoVertex { what, vertex, vertices: mesh.vertices() });
    }
    let mut cut: BTreeSet<Ends> = BTreeSet::new();
    for pair in path.windows(2) {
        let edge = [pair[0], pair[1]];
        match mesh.edges_between(edge).len() {
            0 => return Err(EditError::NoEdge { what, edge }),
            1 => cut.insert(ends(edge[0], edge[1])),
            _ => return Err(EditError::Branches { what, edge }),
        };
    }
    let mut draft = Draft::new(mesh);
    if draft.open(&cut) == 0 {
        return Err(EditError::NothingToOpen { edges: cut.len() });
    }
    draft.finish()
}

/// Takes faces away. Vertices that lose their last face go too, and the others move up; a vertex left between faces that
/// share no edge becomes one for each fan of them, the copies appended.
pub fn remove(mesh: &Mesh, faces: &[u32]) -> Result<Edited, EditError> {
    let what = "the list of faces to remove";
    let count = mesh.faces().len();
    if faces.is_empty() {
        return Err(EditError::TooFew { what, given: 0, least: 1 });
    }
    let mut gone = vec![false; count];
    for &face in faces {
        *gone.get_mut(face as usize).ok_or(EditError::NoFace { what, face, faces: count })? = true;
    }
    if gone.iter().all(|&gone| gone) {
        return Err(EditError::NothingLeft { faces: count });
    }
    let mut draft = Draft::new(mesh);
    let touched: BTreeSet<u32> =
        mesh.faces().iter().zip(&gone).filter(|(_, gone)| **gone).flat_map(|(face, _)| *face).collect();
    let mut empty = Vec::new();
    for &v in &touched {
        draft.star[v as usize].retain(|&f| !gone[f as usize]);
        let fans = draft.fans(v, &BTreeSet::new());
        if fans.is_empty() {
            empty.push(v);
        } else {
            draft.part(v, fans);
        }
    }
    let mut without = vec![false; draft.origin.len()];
    for v in empty {
        without[v as usize] = true;
    }
    draft.finish_without(&gone, &without)
}
