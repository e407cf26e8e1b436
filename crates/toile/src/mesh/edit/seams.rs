//! Cloth opened along edges, faces taken away, vertices sewn into one.

use super::draft::{Draft, Ends, ends, fans_of, find};
use super::{EditError, Edited, Origin};
use crate::mesh::Mesh;
use std::collections::{BTreeMap, BTreeSet};

/// Opens the cloth along a path of vertices joined by edges, each of which becomes one for each side of the cut.
///
/// Ends of the path inside the cloth stay one vertex, so the cut is a slit; ends on a border open it; a closed path cuts
/// a piece out. Paths may meet earlier cuts and cross themselves. Edges of a border have nothing to open: a path of
/// nothing else is refused, and so is a single edge with both ends inside the cloth. A vertex of the path that joins
/// faces without an edge between them is parted too.
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

/// Makes each pair of vertices one; pairs may chain, and a pair of one vertex with itself, as at the tip of a slit, is
/// nothing to do. The lowest number of a group stays and the others go.
///
/// Refused is what would leave no manifold cloth with one front: pairs that join corners of one face, three faces at an
/// edge, faces wound against each other, a face upon a face, or cloth at a mere point.
pub fn sew(mesh: &Mesh, pairs: &[[u32; 2]]) -> Result<Edited, EditError> {
    let what = "the list of pairs to sew";
    if pairs.is_empty() {
        return Err(EditError::TooFew { what, given: 0, least: 1 });
    }
    if let Some(&vertex) = pairs.iter().flatten().find(|&&v| v as usize >= mesh.vertices()) {
        return Err(EditError::NoVertex { what, vertex, vertices: mesh.vertices() });
    }
    let mut draft = Draft::unbranched(mesh, "sew")?;
    let mut root: Vec<usize> = (0..mesh.vertices()).collect();
    for &[a, b] in pairs {
        let (a, b) = (find(&mut root, a as usize), find(&mut root, b as usize));
        root[a.max(b)] = a.min(b);
    }
    let kept: Vec<u32> = (0..mesh.vertices()).map(|v| find(&mut root, v) as u32).collect();
    let groups = groups(&kept);
    if groups.is_empty() {
        return Err(EditError::NothingToSew { pairs: pairs.len() });
    }
    let touched: BTreeSet<u32> =
        groups.values().flatten().flat_map(|&v| draft.star[v as usize].iter().copied()).collect();
    let faces: Vec<[u32; 3]> = mesh.faces().iter().map(|face| face.map(|v| kept[v as usize])).collect();
    check_faces(mesh, &faces, &touched)?;
    check_edges(&faces, &groups)?;
    check_fans(&draft, &faces, &groups)?;
    let gone: Vec<bool> = kept.iter().enumerate().map(|(v, &k)| v as u32 != k).collect();
    for (first, group) in groups {
        draft.origin[first as usize] = Origin::Joined(group);
    }
    draft.faces = faces;
    draft.finish_without(&vec![false; mesh.faces().len()], &gone)
}

/// Groups of more than one vertex by the one that stays.
fn groups(kept: &[u32]) -> BTreeMap<u32, Vec<u32>> {
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (v, &first) in kept.iter().enumerate().filter(|(v, first)| **first != *v as u32) {
        groups.entry(first).or_insert_with(|| vec![first]).push(v as u32);
    }
    groups
}

fn check_faces(mesh: &Mesh, faces: &[[u32; 3]], touched: &BTreeSet<u32>) -> Result<(), EditError> {
    let mut seen: BTreeMap<[u32; 3], u32> = BTreeMap::new();
    for &f in touched {
        let (new, old) = (faces[f as usize], mesh.faces()[f as usize]);
        if let Some(k) = (0..3).find(|&k| new[k] == new[(k + 1) % 3]) {
            return Err(EditError::Collapses { face: f, corners: [old[k], old[(k + 1) % 3]] });
        }
        let mut sorted = new;
        sorted.sort_unstable();
        if let Some(&first) = seen.get(&sorted) {
            return Err(EditError::SameFace { faces: [first, f] });
        }
        seen.insert(sorted, f);
    }
    Ok(())
}

/// Looks at all edges with an end that is sewn. Errors name the vertices that stay.
fn check_edges(faces: &[[u32; 3]], groups: &BTreeMap<u32, Vec<u32>>) -> Result<(), EditError> {
    let mut sides: Vec<(Ends, u32, bool)> = Vec::new();
    for (f, face) in faces.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (face[k], face[(k + 1) % 3]);
            if groups.contains_key(&a) || groups.contains_key(&b) {
                sides.push((ends(a, b), f as u32, a < b));
            }
        }
    }
    sides.sort_unstable();
    for edge in sides.chunk_by(|a, b| a.0 == b.0) {
        match edge {
            [(at, f, up), (_, g, other)] if up == other => {
                return Err(EditError::AgainstWinding { edge: *at, faces: [*f, *g] });
            }
            [_] | [_, _] => {}
            many => {
                let faces = many.iter().map(|side| side.1).collect();
                return Err(EditError::ThreeFaces { edge: many[0].0, faces });
            }
        }
    }
    Ok(())
}

/// No vertex may join more fans of faces than one of those it is made of did.
fn check_fans(draft: &Draft, faces: &[[u32; 3]], groups: &BTreeMap<u32, Vec<u32>>) -> Result<(), EditError> {
    for (&vertex, group) in groups {
        let mut around: Vec<u32> =
            group.iter().flat_map(|&v| draft.star[v as usize].iter().copied()).collect();
        around.sort_unstable();
        let fans = fans_of(faces, &around, vertex, |_| false).len();
        let before = group.iter().map(|&v| draft.fans(v, &BTreeSet::new()).len()).max().unwrap_or(0);
        if fans > before.max(1) {
            return Err(EditError::Pinches { vertex, fans });
        }
    }
    Ok(())
}
