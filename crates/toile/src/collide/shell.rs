//! What detection must know of a surface besides where it is: edges, owners of features, groups of faces.
//! (`mesh::Surface` is another thing: triangles in place, to ask for nearest points, rays and winding numbers.)

use crate::math::DVec3;
use std::fmt;

/// Marks "none" among indices.
pub const NONE: u32 = u32::MAX;

/// Faces per group (M03-11, G-12), unless said otherwise.
pub const GROUP_SIZE: usize = 96;

/// What a surface takes part in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Meets itself and everything else.
    #[default]
    Cloth,
    /// Meets cloth only: bodies do not meet themselves or each other.
    Body,
}

/// A triangle surface of any topology. Faces may be degenerate, edges may have any number of faces.
///
/// Each vertex and each edge is *owned* by the lowest of its faces. A pair of faces answers for the features it
/// owns, so every pair of features is met exactly once and nothing is removed afterwards. Vertices without a face
/// are owned by nobody and never reported.
#[derive(Clone, Debug)]
pub struct Shell {
    vertices: usize,
    faces: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    face_edges: Vec<[u32; 3]>,
    /// Per face: bits 0–2 own corners, bits 3–5 own sides (corner k to k + 1).
    owned: Vec<u8>,
    role: Role,
    groups: Groups,
}

/// Connected patches of faces and which of them touch (M03-11).
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// Group of each face.
    pub of_face: Vec<u32>,
    /// Faces sorted by group; group g is `faces[starts[g]..starts[g + 1]]`.
    pub faces: Vec<u32>,
    /// See `faces`.
    pub starts: Vec<u32>,
    /// Groups that share an edge with group g, ascending, itself included: `near[near_starts[g]..near_starts[g + 1]]`.
    pub near: Vec<u32>,
    /// See `near`.
    pub near_starts: Vec<u32>,
}

/// Why a surface was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellError {
    /// A face names a vertex that does not exist.
    IndexOutOfRange {
        /// The face.
        face: usize,
        /// What it names.
        index: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// More features than 32-bit indices can name.
    TooLarge {
        /// How many faces or vertices.
        count: usize,
    },
}

impl fmt::Display for ShellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IndexOutOfRange { face, index, vertices } => {
                write!(f, "face {face} names vertex {index}, but there are {vertices}; remove the face")
            }
            Self::TooLarge { count } => {
                write!(f, "{count} elements, at most {} can be indexed; split the surface", NONE / 4)
            }
        }
    }
}

impl std::error::Error for ShellError {}

impl Shell {
    /// A surface of `vertices` vertices, in groups of about [`GROUP_SIZE`] faces.
    pub fn new(vertices: usize, faces: Vec<[u32; 3]>, role: Role) -> Result<Shell, ShellError> {
        Shell::with_groups(vertices, faces, role, GROUP_SIZE)
    }

    /// Like [`Shell::new`], with groups of about `group_size` faces.
    pub fn with_groups(
        vertices: usize,
        faces: Vec<[u32; 3]>,
        role: Role,
        group_size: usize,
    ) -> Result<Shell, ShellError> {
        let count = vertices.max(faces.len());
        if count > (NONE / 4) as usize {
            return Err(ShellError::TooLarge { count });
        }
        for (face, corners) in faces.iter().enumerate() {
            if let Some(&index) = corners.iter().find(|v| **v as usize >= vertices) {
                return Err(ShellError::IndexOutOfRange { face, index, vertices });
            }
        }
        let (edges, face_edges) = connect(&faces);
        let owned = owners(vertices, &faces, &face_edges, edges.len());
        let groups = Groups::grow(vertices, &faces, group_size.max(1));
        Ok(Shell { vertices, faces, edges, face_edges, owned, role, groups })
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.vertices
    }

    /// Corners of each face.
    pub fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// All edges, each once, sorted; lower vertex first.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// Index of each side of each face among the edges; side k runs from corner k to the next.
    pub fn face_edges(&self) -> &[[u32; 3]] {
        &self.face_edges
    }

    /// Which corners (bits 0–2) and sides (bits 3–5) each face answers for.
    pub fn owned(&self) -> &[u8] {
        &self.owned
    }

    /// What it takes part in.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Its groups of faces.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    pub(super) fn regroup(&mut self, groups: Groups) {
        self.groups = groups;
    }

    /// Un-normalised normal of a face; twice its area long [m²].
    pub fn normal(&self, face: u32, x: &[DVec3]) -> DVec3 {
        let [a, b, c] = self.faces[face as usize].map(|v| x[v as usize]);
        (b - a).cross(c - a)
    }
}

impl Groups {
    /// Number of groups.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Faces of a group.
    pub fn members(&self, group: u32) -> &[u32] {
        &self.faces[self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize]
    }

    /// Groups that share an edge with a group, itself included.
    pub fn neighbours(&self, group: u32) -> &[u32] {
        &self.near[self.neighbour_range(group)]
    }

    /// Where the neighbours of a group are in `near`.
    pub fn neighbour_range(&self, group: u32) -> std::ops::Range<usize> {
        self.near_starts[group as usize] as usize..self.near_starts[group as usize + 1] as usize
    }

    /// Grows patches breadth first across shared edges, from the lowest face not yet taken, up to `size` faces.
    fn grow(vertices: usize, faces: &[[u32; 3]], size: usize) -> Groups {
        let (starts, around) = incidence(vertices, faces);
        let mut of_face = vec![NONE; faces.len()];
        let mut order = Vec::with_capacity(faces.len());
        let mut group_starts = vec![0];
        // Each group starts beside the previous ones: borders left behind are where fragments would form.
        let mut border = std::collections::VecDeque::new();
        let mut next = 0;
        while order.len() < faces.len() {
            let seed = loop {
                let face = border.pop_front().unwrap_or_else(|| {
                    next += 1;
                    next - 1
                });
                if of_face[face as usize] == NONE {
                    break face;
                }
            };
            let group = group_starts.len() as u32 - 1;
            let first = order.len();
            of_face[seed as usize] = group;
            order.push(seed);
            let mut done = first;
            while done < order.len() {
                let face = faces[order[done] as usize];
                done += 1;
                for k in 0..3 {
                    let (a, b) = (face[k] as usize, face[(k + 1) % 3]);
                    for &other in &around[starts[a] as usize..starts[a + 1] as usize] {
                        if a as u32 == b
                            || of_face[other as usize] != NONE
                            || !faces[other as usize].contains(&b)
                        {
                            continue;
                        }
                        if order.len() - first < size {
                            of_face[other as usize] = group;
                            order.push(other);
                        } else {
                            border.push_back(other);
                        }
                    }
                }
            }
            group_starts.push(order.len() as u32);
        }
        let mut groups =
            Groups { of_face, faces: order, starts: group_starts, near: vec![], near_starts: vec![0] };
        groups.meet(&starts, &around, faces);
        groups
    }

    /// The same partition carried over to other faces: `of_face[f]` is the group of face f.
    pub(super) fn from_labels(vertices: usize, faces: &[[u32; 3]], of_face: Vec<u32>) -> Groups {
        let mut order: Vec<u32> = (0..faces.len() as u32).collect();
        order.sort_by_key(|f| of_face[*f as usize]);
        // Labels are made dense again: a group may have lost all its faces.
        let mut labels = vec![0; faces.len()];
        let mut starts = vec![0];
        for at in 0..order.len() {
            if at > 0 && of_face[order[at] as usize] != of_face[order[at - 1] as usize] {
                starts.push(at as u32);
            }
            labels[order[at] as usize] = starts.len() as u32 - 1;
        }
        if !order.is_empty() {
            starts.push(order.len() as u32);
        }
        let mut groups = Groups { of_face: labels, faces: order, starts, near: vec![], near_starts: vec![0] };
        let (starts, around) = incidence(vertices, faces);
        groups.meet(&starts, &around, faces);
        groups
    }

    /// Finds which groups share an edge.
    fn meet(&mut self, starts: &[u32], around: &[u32], faces: &[[u32; 3]]) {
        let mut met = Vec::new();
        for group in 0..self.len() as u32 {
            met.clear();
            for &face in self.members(group) {
                let face = faces[face as usize];
                for k in 0..3 {
                    let (a, b) = (face[k] as usize, face[(k + 1) % 3]);
                    let ring = &around[starts[a] as usize..starts[a + 1] as usize];
                    let across = ring.iter().filter(|f| a as u32 != b && faces[**f as usize].contains(&b));
                    met.extend(across.map(|f| self.of_face[*f as usize]).filter(|g| *g != group));
                }
            }
            met.push(group);
            met.sort_unstable();
            met.dedup();
            self.near.extend_from_slice(&met);
            self.near_starts.push(self.near.len() as u32);
        }
    }
}

/// Faces round each vertex: `around[starts[v]..starts[v + 1]]`, ascending.
fn incidence(vertices: usize, faces: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0; vertices + 1];
    for v in faces.iter().flatten() {
        starts[*v as usize + 1] += 1;
    }
    for v in 0..vertices {
        starts[v + 1] += starts[v];
    }
    let mut place = starts.clone();
    let mut around = vec![0; 3 * faces.len()];
    for (f, face) in faces.iter().enumerate() {
        for v in face {
            around[place[*v as usize] as usize] = f as u32;
            place[*v as usize] += 1;
        }
    }
    (starts, around)
}

/// Edges, each once, and the edge of each side of each face.
fn connect(faces: &[[u32; 3]]) -> (Vec<[u32; 2]>, Vec<[u32; 3]>) {
    let side = |f: usize, k: usize| {
        let (a, b) = (faces[f][k], faces[f][(k + 1) % 3]);
        [a.min(b), a.max(b)]
    };
    let mut sides: Vec<([u32; 2], u32)> =
        (0..3 * faces.len()).map(|s| (side(s / 3, s % 3), s as u32)).collect();
    sides.sort_unstable();
    let mut edges: Vec<[u32; 2]> = Vec::with_capacity(sides.len() / 2 + 1);
    let mut face_edges = vec![[0; 3]; faces.len()];
    for (ends, side) in sides {
        if edges.last() != Some(&ends) {
            edges.push(ends);
        }
        face_edges[side as usize / 3][side as usize % 3] = edges.len() as u32 - 1;
    }
    (edges, face_edges)
}

fn owners(vertices: usize, faces: &[[u32; 3]], face_edges: &[[u32; 3]], edges: usize) -> Vec<u8> {
    let (mut vertex_taken, mut edge_taken) = (vec![false; vertices], vec![false; edges]);
    let mut owned = vec![0; faces.len()];
    for f in 0..faces.len() {
        for k in 0..3 {
            if !std::mem::replace(&mut vertex_taken[faces[f][k] as usize], true) {
                owned[f] |= 1 << k;
            }
            if !std::mem::replace(&mut edge_taken[face_edges[f][k] as usize], true) {
                owned[f] |= 8 << k;
            }
        }
    }
    owned
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A strip of 2n faces.
    fn strip(n: u32) -> Vec<[u32; 3]> {
        (0..n).flat_map(|i| [[2 * i, 2 * i + 1, 2 * i + 2], [2 * i + 2, 2 * i + 1, 2 * i + 3]]).collect()
    }

    #[test]
    fn every_feature_has_one_owner() {
        let surface = Shell::new(22, strip(10), Role::Cloth).expect("sound");
        let count =
            |bits: u8| surface.owned().iter().map(|o| (o & bits).count_ones() as usize).sum::<usize>();
        assert_eq!(count(7), surface.vertices());
        assert_eq!(count(56), surface.edges().len());
        assert_eq!(surface.edges().len(), 41);
    }

    #[test]
    fn groups_are_patches_that_know_their_neighbours() {
        let surface = Shell::with_groups(202, strip(100), Role::Cloth, 20).expect("sound");
        let groups = surface.groups();
        assert_eq!(groups.len(), 10);
        assert_eq!(groups.neighbours(0), [0, 1]);
        assert_eq!(groups.neighbours(5), [4, 5, 6]);
        let all: usize = (0..groups.len() as u32).map(|g| groups.members(g).len()).sum();
        assert_eq!(all, 200);
        let again = Groups::from_labels(202, surface.faces(), groups.of_face.iter().map(|g| 3 * g).collect());
        assert_eq!(again.near, groups.near);
    }

    #[test]
    fn odd_surfaces_are_taken_and_bad_ones_refused() {
        let odd = Shell::new(4, vec![[0, 0, 1], [1, 2, 3], [3, 2, 1], [2, 2, 2]], Role::Body).expect("odd");
        assert_eq!(odd.owned().iter().map(|o| (o & 7).count_ones()).sum::<u32>(), 4);
        assert!(Shell::new(0, vec![], Role::Cloth).expect("nothing").groups().is_empty());
        let error = Shell::new(3, vec![[0, 1, 3]], Role::Cloth).expect_err("no vertex 3");
        assert_eq!(error.to_string(), "face 0 names vertex 3, but there are 3; remove the face");
    }
}
