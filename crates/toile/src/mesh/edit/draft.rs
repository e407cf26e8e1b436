//! A mesh while it is edited: faces that split, vertices that part, and where they came from.

use super::{EditError, Edited, Origin, Remap};
use crate::math::DVec2;
use crate::mesh::{Mesh, NONE};
use std::collections::{BTreeMap, BTreeSet};

/// An edge by its ends, the smaller first.
pub(super) type Ends = [u32; 2];

/// The ends of an edge in order.
pub(super) fn ends(a: u32, b: u32) -> Ends {
    [a.min(b), a.max(b)]
}

/// Faces under construction. Vertices and faces are only ever appended until [`Draft::finish`].
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub faces: Vec<[u32; 3]>,
    pub rest: Vec<[DVec2; 3]>,
    /// Where each vertex comes from.
    pub origin: Vec<Origin>,
    /// The old face each face lies in.
    pub parent: Vec<u32>,
    pub density: Vec<f64>,
    /// Faces round each vertex.
    pub star: Vec<Vec<u32>>,
    /// Faces that old faces were split into, besides the one which kept the number.
    kin: BTreeMap<u32, Vec<u32>>,
    bent: Vec<[u32; 2]>,
    /// Whether the old mesh branched, so that the new one may.
    branched: bool,
}

impl Draft {
    pub fn new(mesh: &Mesh) -> Draft {
        let identity = Remap::identity(mesh.vertices(), mesh.faces().len());
        let mut star = vec![Vec::new(); mesh.vertices()];
        for (f, face) in mesh.faces().iter().enumerate() {
            for &v in face {
                star[v as usize].push(f as u32);
            }
        }
        Draft {
            faces: mesh.faces().to_vec(),
            rest: mesh.rest().to_vec(),
            origin: identity.vertices,
            parent: identity.faces,
            density: identity.density,
            star,
            kin: BTreeMap::new(),
            bent: mesh.bent().to_vec(),
            branched: branching(mesh).is_some(),
        }
    }

    /// Like [`Draft::new`], refusing meshes that branch.
    pub fn unbranched(mesh: &Mesh, what: &'static str) -> Result<Draft, EditError> {
        match branching(mesh) {
            Some(edge) => Err(EditError::Branches { what, edge }),
            None => Ok(Draft::new(mesh)),
        }
    }

    /// The corner (0–2) of a face at a vertex.
    pub fn corner(&self, face: u32, vertex: u32) -> Option<usize> {
        self.faces[face as usize].iter().position(|&v| v == vertex)
    }

    /// Faces with an edge between these vertices, ascending.
    pub fn beside(&self, a: u32, b: u32) -> Vec<u32> {
        let (few, other) =
            if self.star[a as usize].len() <= self.star[b as usize].len() { (a, b) } else { (b, a) };
        let mut faces: Vec<u32> =
            self.star[few as usize].iter().copied().filter(|&f| self.corner(f, other).is_some()).collect();
        faces.sort_unstable();
        faces
    }

    /// The face on the other side of an edge.
    pub fn across(&self, face: u32, a: u32, b: u32) -> Option<u32> {
        self.beside(a, b).into_iter().find(|&f| f != face)
    }

    /// Vertices joined to one by an edge, ascending, each with the number of faces at the edge.
    pub fn spokes(&self, vertex: u32) -> Vec<(u32, usize)> {
        let around = self.star[vertex as usize].iter().flat_map(|&f| self.faces[f as usize]);
        let mut others: Vec<u32> = around.filter(|&v| v != vertex).collect();
        others.sort_unstable();
        others.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect()
    }

    /// Whether an edge at a vertex has one face.
    pub fn on_border(&self, vertex: u32) -> bool {
        self.spokes(vertex).iter().any(|spoke| spoke.1 == 1)
    }

    /// Faces that lie in an old face.
    pub fn within(&self, old: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::once(old).chain(self.kin.get(&old).into_iter().flatten().copied())
    }

    /// The rest triangles that the faces beside an edge would become if it were split this part of the way from `a` to `b`.
    pub fn halves(&self, a: u32, b: u32, t: f64) -> Vec<[DVec2; 3]> {
        let mut halves = Vec::with_capacity(4);
        for face in self.beside(a, b) {
            if let (Some(i), Some(j)) = (self.corner(face, a), self.corner(face, b)) {
                let whole = self.rest[face as usize];
                let middle = whole[i] + (whole[j] - whole[i]) * t;
                let (mut near, mut far) = (whole, whole);
                near[j] = middle;
                far[i] = middle;
                halves.extend([near, far]);
            }
        }
        halves
    }

    /// Splits an edge this part of the way from `a` to `b`, and the faces beside it; the halves at `a` keep their numbers.
    /// Returns the new vertex.
    pub fn split_edge(&mut self, a: u32, b: u32, t: f64) -> u32 {
        let origin = Origin::between(&self.origin[a as usize], &self.origin[b as usize], t);
        let middle = self.add_vertex(origin);
        for face in self.beside(a, b) {
            let (Some(i), Some(j)) = (self.corner(face, a), self.corner(face, b)) else { continue };
            let whole = self.rest[face as usize];
            let place = whole[i] + (whole[j] - whole[i]) * t;
            let (mut far, mut far_rest) = (self.faces[face as usize], whole);
            far[i] = middle;
            far_rest[i] = place;
            self.faces[face as usize][j] = middle;
            self.rest[face as usize][j] = place;
            self.star[b as usize].retain(|&f| f != face);
            self.star[middle as usize].push(face);
            self.add_face(far, far_rest, face);
        }
        middle
    }

    /// Splits a face into three round a new vertex with these weights of its corners, and returns it.
    pub fn split_face(&mut self, face: u32, weights: [f64; 3]) -> u32 {
        let (corners, rest) = (self.faces[face as usize], self.rest[face as usize]);
        let place = rest[0] * weights[0] + rest[1] * weights[1] + rest[2] * weights[2];
        let parts = (0..3).flat_map(|k| {
            let origin = &self.origin[corners[k] as usize];
            origin.weights().into_iter().map(move |(v, w)| (v, w * weights[k]))
        });
        let origin = Origin::of_weights(parts.collect());
        let middle = self.add_vertex(origin);
        for k in 1..3 {
            let (mut part, mut part_rest) = (corners, rest);
            part[k] = middle;
            part_rest[k] = place;
            self.add_face(part, part_rest, face);
        }
        self.star[corners[0] as usize].retain(|&f| f != face);
        self.faces[face as usize][0] = middle;
        self.rest[face as usize][0] = place;
        self.star[middle as usize].push(face);
        middle
    }

    /// Appends a vertex without faces.
    pub fn add_vertex(&mut self, origin: Origin) -> u32 {
        self.origin.push(origin);
        self.star.push(Vec::new());
        self.origin.len() as u32 - 1
    }

    /// Appends a part of a face.
    pub fn add_face(&mut self, corners: [u32; 3], rest: [DVec2; 3], part_of: u32) {
        let face = self.faces.len() as u32;
        let parent = self.parent[part_of as usize];
        self.faces.push(corners);
        self.rest.push(rest);
        self.parent.push(parent);
        self.density.push(self.density[part_of as usize]);
        self.kin.entry(parent).or_default().push(face);
        for v in corners {
            self.star[v as usize].push(face);
        }
    }

    /// The faces round a vertex in fans: joined by edges that are not cut. Each ascending, by their first face.
    pub fn fans(&self, vertex: u32, cut: &BTreeSet<Ends>) -> Vec<Vec<u32>> {
        let mut faces = self.star[vertex as usize].clone();
        faces.sort_unstable();
        fans_of(&self.faces, &faces, vertex, |x| cut.contains(&ends(vertex, x)))
    }

    /// Parts the cloth along edges: each of their ends becomes one vertex for each fan of faces that is left round it. The
    /// fan with the lowest face keeps the number. Returns how many vertices were added.
    pub fn open(&mut self, cut: &BTreeSet<Ends>) -> usize {
        let touched: BTreeSet<u32> = cut.iter().flatten().copied().collect();
        // All fans before any vertex is copied: the cut names edges by the numbers they have now.
        let parted: Vec<(u32, Vec<Vec<u32>>)> =
            touched.into_iter().map(|v| (v, self.fans(v, cut))).filter(|(_, fans)| fans.len() > 1).collect();
        parted.into_iter().map(|(v, fans)| self.part(v, fans)).sum()
    }

    /// Gives every fan but the first its own copy of a vertex. Returns the number of copies.
    pub fn part(&mut self, vertex: u32, fans: Vec<Vec<u32>>) -> usize {
        let copies = fans.len().saturating_sub(1);
        for fan in fans.into_iter().skip(1) {
            let copy = self.add_vertex(self.origin[vertex as usize].clone());
            for &face in &fan {
                for v in &mut self.faces[face as usize] {
                    if *v == vertex {
                        *v = copy;
                    }
                }
            }
            self.star[vertex as usize].retain(|f| fan.binary_search(f).is_err());
            self.star[copy as usize] = fan;
        }
        copies
    }

    /// The mesh of all faces, checked.
    pub fn finish(self) -> Result<Edited, EditError> {
        let limit = NONE as usize;
        for (what, count) in [("vertices", self.origin.len()), ("faces", self.faces.len())] {
            if count >= limit {
                return Err(EditError::TooMany { what, count, limit });
            }
        }
        let mesh = if self.branched {
            Mesh::branched(self.origin.len(), self.faces, self.rest, self.bent)
        } else {
            Mesh::new(self.origin.len(), self.faces, self.rest)
        }?;
        let remap = Remap { vertices: self.origin, faces: self.parent, density: self.density };
        Ok(Edited { mesh, remap })
    }

    /// The mesh without some faces and vertices; the others move up, in order. No face that stays may use a vertex that goes.
    pub fn finish_without(self, gone_faces: &[bool], gone_vertices: &[bool]) -> Result<Edited, EditError> {
        let renumber = |gone: &[bool]| -> Vec<u32> {
            let mut next = 0;
            let mut number = |&gone: &bool| if gone { NONE } else { (next, next += 1).0 };
            gone.iter().map(&mut number).collect()
        };
        let (vertex, face) = (renumber(gone_vertices), renumber(gone_faces));
        let stays = |f: &usize| !gone_faces[*f];
        let kept: Vec<usize> = (0..self.faces.len()).filter(stays).collect();
        let bent = self.bent.iter().map(|pair| pair.map(|f| face.get(f as usize).copied().unwrap_or(NONE)));
        let origins = self.origin.iter().zip(gone_vertices).filter(|(_, gone)| !**gone);
        Draft {
            faces: kept.iter().map(|&f| self.faces[f].map(|v| vertex[v as usize])).collect(),
            rest: kept.iter().map(|&f| self.rest[f]).collect(),
            origin: origins.map(|(origin, _)| origin.clone()).collect(),
            parent: kept.iter().map(|&f| self.parent[f]).collect(),
            density: kept.iter().map(|&f| self.density[f]).collect(),
            star: Vec::new(),
            kin: BTreeMap::new(),
            bent: bent.filter(|pair| !pair.contains(&NONE)).collect(),
            branched: self.branched,
        }
        .finish()
    }
}

/// An edge where the mesh branches, if there is one.
pub(super) fn branching(mesh: &Mesh) -> Option<Ends> {
    mesh.edges().windows(2).find(|pair| pair[0].ends == pair[1].ends).map(|pair| pair[0].ends)
}

/// Groups faces round a vertex that share an edge to another vertex `x`, unless `cut(x)`. `around` is ascending.
pub(super) fn fans_of(
    faces: &[[u32; 3]],
    around: &[u32],
    vertex: u32,
    cut: impl Fn(u32) -> bool,
) -> Vec<Vec<u32>> {
    let mut spokes: Vec<(u32, usize)> = Vec::with_capacity(2 * around.len());
    for (place, &face) in around.iter().enumerate() {
        let others = faces[face as usize].into_iter().filter(|&v| v != vertex);
        spokes.extend(others.map(|x| (x, place)));
    }
    spokes.sort_unstable();
    let mut root: Vec<usize> = (0..around.len()).collect();
    for pair in spokes.windows(2).filter(|pair| pair[0].0 == pair[1].0 && !cut(pair[0].0)) {
        let (a, b) = (find(&mut root, pair[0].1), find(&mut root, pair[1].1));
        root[a.max(b)] = a.min(b);
    }
    let mut fans: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for (place, &face) in around.iter().enumerate() {
        fans.entry(find(&mut root, place)).or_default().push(face);
    }
    fans.into_values().collect()
}

/// The representative of a set, with paths halved on the way.
pub(super) fn find(root: &mut [usize], mut i: usize) -> usize {
    while root[i] != i {
        root[i] = root[root[i]];
        i = root[i];
    }
    i
}
