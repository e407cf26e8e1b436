//! Edges split at their middles, and collapsed to one of their ends.

use super::draft::{Draft, Ends, ends};
use super::layout::{carried, turning};
use super::{EditError, Edited, Origin};
use crate::math::DVec2;
use crate::mesh::Mesh;
use crate::mesh::topology::doubled_area;
use std::collections::{BTreeMap, BTreeSet};

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
        middles.entry(ends).or_insert_with(|| draft.add_vertex(Origin::Edge(ends, 0.5)));
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

/// The least height of a face that collapsing changes, as a part of its longest side: below, its angles are under 3°.
const LEAST_HEIGHT: f64 = 0.05;

/// Collapses edges, one after the other, each to one of its ends, where the cloth stays as it is: the end on a border if
/// there is one, else the first named, else the second. The faces beside the edge go, those round the other end reach
/// to the one that stays.
///
/// Edges that earlier ones have collapsed are left out. Refused is what would join cloth that is apart (the link
/// condition) and what would turn or flatten a face at rest.
pub fn weld(mesh: &Mesh, edges: &[[u32; 2]]) -> Result<Edited, EditError> {
    let what = "the list of edges to weld";
    if edges.is_empty() {
        return Err(EditError::TooFew { what, given: 0, least: 1 });
    }
    let draft = Draft::unbranched(mesh, "weld")?;
    let mut welder = Welder {
        became: (0..mesh.vertices() as u32).collect(),
        gone: vec![false; mesh.faces().len()],
        draft,
    };
    for &edge in edges {
        if let Some(&vertex) = edge.iter().find(|&&v| v as usize >= mesh.vertices()) {
            return Err(EditError::NoVertex { what, vertex, vertices: mesh.vertices() });
        }
        if mesh.edges_between(edge).is_empty() {
            return Err(EditError::NoEdge { what, edge });
        }
        let [a, b] = edge.map(|v| welder.now(v));
        if a != b {
            welder.collapse(edge, a, b)?;
        }
    }
    let gone: Vec<bool> = (0..mesh.vertices()).map(|v| welder.became[v] != v as u32).collect();
    welder.draft.finish_without(&welder.gone, &gone)
}

struct Welder {
    draft: Draft,
    /// The vertex each was welded onto; itself if it is there.
    became: Vec<u32>,
    gone: Vec<bool>,
}

/// A face and what a corner of it becomes: number, corner, rest triangle.
type Moved = (u32, usize, [DVec2; 3]);

impl Welder {
    /// The vertex that one has become, with paths halved on the way.
    fn now(&mut self, mut v: u32) -> u32 {
        while self.became[v as usize] != v {
            self.became[v as usize] = self.became[self.became[v as usize] as usize];
            v = self.became[v as usize];
        }
        v
    }

    /// Collapses the edge between `a` and `b`, which the caller knows as `edge`.
    fn collapse(&mut self, edge: [u32; 2], a: u32, b: u32) -> Result<(), EditError> {
        let faces = self.draft.beside(a, b);
        let borders = [a, b].map(|v| self.draft.on_border(v));
        self.check_link(edge, a, b, &faces, borders)?;
        let ways: &[[u32; 2]] = match borders {
            [true, false] => &[[a, b]],
            [false, true] => &[[b, a]],
            _ => &[[a, b], [b, a]],
        };
        let mut refused = None;
        for &[stays, goes] in ways {
            match self.moved(edge, stays, goes, &faces) {
                Ok(moved) => {
                    self.apply(stays, goes, &faces, moved);
                    return Ok(());
                }
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        refused.map_or(Ok(()), Err)
    }

    /// Nothing but the faces beside the edge may join its ends.
    fn check_link(
        &self,
        edge: [u32; 2],
        a: u32,
        b: u32,
        faces: &[u32],
        borders: [bool; 2],
    ) -> Result<(), EditError> {
        for v in [a, b] {
            if self.draft.fans(v, &BTreeSet::new()).len() > 1 {
                return Err(EditError::Pinched { what: "weld", vertex: v });
            }
        }
        let near = self.draft.spokes(a);
        let common: Vec<u32> = self
            .draft
            .spokes(b)
            .into_iter()
            .filter(|(v, _)| near.binary_search_by_key(v, |spoke| spoke.0).is_ok())
            .map(|(v, _)| v)
            .collect();
        let beside = |v: u32| faces.iter().any(|&f| self.draft.corner(f, v).is_some());
        if let Some(&vertex) = common.iter().find(|&&v| !beside(v)) {
            return Err(EditError::Link { edge, vertex });
        }
        if faces.is_empty() || (borders == [true; 2] && faces.len() == 2) {
            return Err(EditError::Link { edge, vertex: a });
        }
        // Two ends round the same third edge are the two sides of one triangle: a tetrahedron, or what is left of it.
        let opposite = |v: u32| {
            let star = self.draft.star[v as usize].iter().filter(|f| !faces.contains(f));
            let mut others: Vec<[u32; 3]> = star
                .map(|&f| {
                    let mut face = self.draft.faces[f as usize].map(|x| if x == v { u32::MAX } else { x });
                    face.sort_unstable();
                    face
                })
                .collect();
            others.sort_unstable();
            others
        };
        let (round_a, round_b) = (opposite(a), opposite(b));
        let shared = round_b.iter().find(|face| round_a.binary_search(face).is_ok());
        if shared.is_some() || (round_a.is_empty() && round_b.is_empty()) {
            return Err(EditError::Link { edge, vertex: shared.map_or(a, |face| face[0]) });
        }
        Ok(())
    }

    /// The faces round `goes` once it is where `stays` is: laid out one after the other round it, each reaching to where
    /// that is in its own chart.
    fn moved(&self, edge: [u32; 2], stays: u32, goes: u32, faces: &[u32]) -> Result<Vec<Moved>, EditError> {
        let mut moved = Vec::new();
        for &first in faces {
            let mut here = first;
            let Some(mut by) = self.third(here, stays, goes) else { continue };
            let Some(mut place) = self.at(here, stays) else { continue };
            while let Some(next) = self.draft.across(here, goes, by).filter(|f| !faces.contains(f)) {
                let (from, onto) = (self.ends_at(here, goes, by), self.ends_at(next, goes, by));
                let (Some(from), Some(onto), Some(k)) = (from, onto, self.draft.corner(next, goes)) else {
                    break;
                };
                let side =
                    turning(&self.draft.rest[here as usize]) * turning(&self.draft.rest[next as usize]);
                place = carried(place, from, onto, side);
                let mut rest = self.draft.rest[next as usize];
                rest[k] = place;
                self.check_shape(edge, next, &rest)?;
                moved.push((next, k, rest));
                let Some(third) = self.third(next, goes, by) else { break };
                (here, by) = (next, third);
            }
            if !moved.is_empty() {
                // Round one side is round all.
                break;
            }
        }
        Ok(moved)
    }

    fn check_shape(&self, edge: [u32; 2], face: u32, rest: &[DVec2; 3]) -> Result<(), EditError> {
        let area = doubled_area(rest) * turning(&self.draft.rest[face as usize]);
        let longest = (0..3).map(|k| (rest[k] - rest[(k + 1) % 3]).length_squared()).fold(0.0, f64::max);
        let height = area / longest;
        if height >= LEAST_HEIGHT {
            return Ok(());
        }
        let face = self.draft.parent[face as usize];
        Err(EditError::Flattens { edge, face, height, limit: LEAST_HEIGHT })
    }

    fn apply(&mut self, stays: u32, goes: u32, faces: &[u32], moved: Vec<Moved>) {
        for &face in faces {
            self.gone[face as usize] = true;
            for v in self.draft.faces[face as usize] {
                self.draft.star[v as usize].retain(|&f| f != face);
            }
        }
        for (face, corner, rest) in moved {
            self.draft.faces[face as usize][corner] = stays;
            self.draft.rest[face as usize] = rest;
            self.draft.star[stays as usize].push(face);
        }
        self.draft.star[goes as usize].clear();
        self.became[goes as usize] = stays;
    }

    fn third(&self, face: u32, a: u32, b: u32) -> Option<u32> {
        self.draft.faces[face as usize].into_iter().find(|&v| v != a && v != b)
    }

    fn at(&self, face: u32, vertex: u32) -> Option<DVec2> {
        self.draft.corner(face, vertex).map(|k| self.draft.rest[face as usize][k])
    }

    fn ends_at(&self, face: u32, a: u32, b: u32) -> Option<[DVec2; 2]> {
        Some([self.at(face, a)?, self.at(face, b)?])
    }
}
