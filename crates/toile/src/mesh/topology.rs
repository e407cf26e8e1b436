//! A triangle mesh of any irregular topology with material coordinates, checked once on construction.

use crate::math::DVec2;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

/// Marks the absent second face of a border edge.
pub const NONE: u32 = u32::MAX;

/// Rest triangles whose area is below this part of their longest side squared count as collapsed: their
/// weights would lose more than half of the digits.
const COLLAPSED: f64 = 1e-9;

/// An edge, its ends in ascending order, and the faces on its two sides. Where a mesh branches there are several with the
/// same ends, see [`Mesh::branched`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Vertices, the smaller first.
    pub ends: [u32; 2],
    /// Faces on either side, the smaller first; the second is [`NONE`] on a border.
    pub faces: [u32; 2],
}

impl Edge {
    /// Whether only one face uses the edge.
    pub fn is_border(&self) -> bool {
        self.faces[1] == NONE
    }
}

/// Faces over numbered vertices, with each face's shape at rest in material coordinates.
///
/// Material coordinates belong to face corners, not to vertices: two panels sewn together share vertices
/// but not a chart. The warp runs along u and the weft along v.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    vertices: usize,
    faces: Vec<[u32; 3]>,
    rest: Vec<[DVec2; 3]>,
    area: Vec<f64>,
    edges: Vec<Edge>,
    /// Faces that bend as one across an edge where the mesh branches.
    bent: Vec<[u32; 2]>,
}

impl Mesh {
    /// Builds and checks a mesh. `rest[f]` are the material coordinates [m] of the corners of face f.
    ///
    /// All problems are returned at once, each naming its element.
    pub fn new(vertices: usize, faces: Vec<[u32; 3]>, rest: Vec<[DVec2; 3]>) -> Result<Mesh, MeshError> {
        Mesh::checked(vertices, faces, rest, None)
    }

    /// Like [`Mesh::new`] for a mesh that branches: edges may have more than two faces, or two that disagree about the
    /// front. All stay joined there by their particles. Of each such edge, the pairs of faces in `bent`, wound alike, bend
    /// across it as across any other; the others end there as at a border, and turn freely about it.
    pub fn branched(
        vertices: usize,
        faces: Vec<[u32; 3]>,
        rest: Vec<[DVec2; 3]>,
        bent: Vec<[u32; 2]>,
    ) -> Result<Mesh, MeshError> {
        Mesh::checked(vertices, faces, rest, Some(bent))
    }

    fn checked(
        vertices: usize,
        faces: Vec<[u32; 3]>,
        rest: Vec<[DVec2; 3]>,
        bent: Option<Vec<[u32; 2]>>,
    ) -> Result<Mesh, MeshError> {
        let mut problems = Vec::new();
        if faces.is_empty() {
            problems.push(MeshProblem::NoFaces);
        }
        if faces.len() != rest.len() {
            problems.push(MeshProblem::RestCount { faces: faces.len(), rest: rest.len() });
        }
        let sound = check_faces(vertices, &faces, &mut problems);
        check_rest(&rest, &mut problems);
        let edges = connect(&faces, &sound, bent.as_deref(), &mut problems);
        if !problems.is_empty() {
            return Err(MeshError { problems });
        }
        let area = rest.iter().map(|r| 0.5 * doubled_area(r).abs()).collect();
        Ok(Mesh { vertices, faces, rest, area, edges, bent: bent.unwrap_or_default() })
    }

    /// Number of vertices, including those no face uses.
    pub fn vertices(&self) -> usize {
        self.vertices
    }

    /// Corner vertices of each face.
    pub fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// Material coordinates [m] of the corners of each face.
    pub fn rest(&self) -> &[[DVec2; 3]] {
        &self.rest
    }

    /// Area at rest of each face [m²].
    pub fn area(&self) -> &[f64] {
        &self.area
    }

    /// All edges, sorted by their ends.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Places in [`Mesh::edges`] of the edges with these ends: one at most, unless the mesh branches there.
    pub fn edges_between(&self, [a, b]: [u32; 2]) -> Range<usize> {
        let ends = [a.min(b), a.max(b)];
        let first = self.edges.partition_point(|edge| edge.ends < ends);
        first..first + self.edges[first..].partition_point(|edge| edge.ends == ends)
    }

    /// Pairs of faces that bend as one across edges where the mesh branches.
    pub fn bent(&self) -> &[[u32; 2]] {
        &self.bent
    }

    /// Total area at rest [m²].
    pub fn total_area(&self) -> f64 {
        self.area.iter().fold(0.0, |sum, a| sum + a)
    }

    /// A third of the area of the faces round each vertex [m²]; zero where no face is.
    pub fn vertex_area(&self) -> Vec<f64> {
        let mut area = vec![0.0; self.vertices];
        for (face, a) in self.faces.iter().zip(&self.area) {
            for &v in face {
                area[v as usize] += a / 3.0;
            }
        }
        area
    }

    /// Length at rest [m] of the side of `face` opposite to its corner `corner`.
    pub fn rest_side(&self, face: usize, corner: usize) -> f64 {
        let r = &self.rest[face];
        (r[(corner + 2) % 3] - r[(corner + 1) % 3]).length()
    }

    /// The corner (0–2) of `face` which is not an end of `edge`.
    pub fn apex(&self, face: u32, edge: &Edge) -> usize {
        let corners = &self.faces[face as usize];
        corners.iter().position(|v| !edge.ends.contains(v)).unwrap_or(0)
    }

    /// Length at rest [m] of an edge, averaged over its faces (they differ where cloth is gathered).
    pub fn rest_length(&self, edge: &Edge) -> f64 {
        let side = |face: u32| self.rest_side(face as usize, self.apex(face, edge));
        if edge.is_border() { side(edge.faces[0]) } else { 0.5 * (side(edge.faces[0]) + side(edge.faces[1])) }
    }

    /// Mean edge length at rest [m].
    pub fn mean_edge(&self) -> f64 {
        self.edges.iter().fold(0.0, |sum, e| sum + self.rest_length(e)) / self.edges.len() as f64
    }

    /// Vertices on a border, ascending.
    pub fn border(&self) -> Vec<u32> {
        let ends: BTreeSet<u32> = self.edges.iter().filter(|e| e.is_border()).flat_map(|e| e.ends).collect();
        ends.into_iter().collect()
    }

    /// Connected parts as lists of faces, ascending, ordered by their first face.
    pub fn components(&self) -> Vec<Vec<u32>> {
        let mut root: Vec<u32> = (0..self.vertices as u32).collect();
        for face in &self.faces {
            for k in 1..3 {
                let (a, b) = (find(&mut root, face[0]), find(&mut root, face[k]));
                root[a.max(b) as usize] = a.min(b);
            }
        }
        let mut parts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (f, face) in self.faces.iter().enumerate() {
            parts.entry(find(&mut root, face[0])).or_default().push(f as u32);
        }
        let mut parts: Vec<Vec<u32>> = parts.into_values().collect();
        parts.sort_by_key(|faces| faces[0]);
        parts
    }
}

/// Twice the signed area of a rest triangle.
pub(crate) fn doubled_area(r: &[DVec2; 3]) -> f64 {
    (r[1] - r[0]).perp_dot(r[2] - r[0])
}

fn find(root: &mut [u32], mut v: u32) -> u32 {
    while root[v as usize] != v {
        root[v as usize] = root[root[v as usize] as usize];
        v = root[v as usize];
    }
    v
}

/// Reports bad faces and returns which ones are sound enough to look at their edges.
fn check_faces(vertices: usize, faces: &[[u32; 3]], problems: &mut Vec<MeshProblem>) -> Vec<bool> {
    let mut sound = vec![true; faces.len()];
    let mut seen: BTreeMap<[u32; 3], usize> = BTreeMap::new();
    for (f, face) in faces.iter().enumerate() {
        for &index in face {
            if index as usize >= vertices {
                problems.push(MeshProblem::IndexOutOfRange { face: f, index, vertices });
                sound[f] = false;
            }
        }
        let mut sorted = *face;
        sorted.sort_unstable();
        if sorted[0] == sorted[1] || sorted[1] == sorted[2] {
            problems.push(MeshProblem::RepeatedVertex { face: f, vertex: sorted[1] });
            sound[f] = false;
        } else if let Some(&first) = seen.get(&sorted) {
            problems.push(MeshProblem::DuplicateFace { face: f, first });
            sound[f] = false;
        } else {
            seen.insert(sorted, f);
        }
    }
    sound
}

fn check_rest(rest: &[[DVec2; 3]], problems: &mut Vec<MeshProblem>) {
    for (f, r) in rest.iter().enumerate() {
        if let Some(corner) = r.iter().position(|p| !p.is_finite()) {
            problems.push(MeshProblem::NonFiniteRest { face: f, corner });
            continue;
        }
        let longest = (0..3).map(|k| (r[k] - r[(k + 1) % 3]).length_squared()).fold(0.0, f64::max);
        let area = 0.5 * doubled_area(r).abs();
        if area <= COLLAPSED * longest || area == 0.0 || !longest.is_finite() {
            problems.push(MeshProblem::CollapsedRest { face: f, area, limit: COLLAPSED * longest });
        }
    }
}

/// One use of an edge by a face, and whether the face runs from the lower end to the higher.
type Side = ([u32; 2], u32, bool);

/// Edges of the sound faces. Where `bent` is given the mesh may branch; without, edges of more than two faces and neighbours
/// wound against each other are reported.
fn connect(
    faces: &[[u32; 3]],
    sound: &[bool],
    bent: Option<&[[u32; 2]]>,
    problems: &mut Vec<MeshProblem>,
) -> Vec<Edge> {
    let mut sides: Vec<Side> = Vec::with_capacity(3 * faces.len());
    for (f, face) in faces.iter().enumerate().filter(|(f, _)| sound[*f]) {
        for k in 0..3 {
            let (a, b) = (face[k], face[(k + 1) % 3]);
            sides.push(([a.min(b), a.max(b)], f as u32, a < b));
        }
    }
    sides.sort_unstable();
    let mut edges = Vec::with_capacity(sides.len() / 2 + 1);
    for group in sides.chunk_by(|a, b| a.0 == b.0) {
        let ends = group[0].0;
        match (group, bent) {
            ([(_, f, _)], _) => edges.push(Edge { ends, faces: [*f, NONE] }),
            ([(_, f, up), (_, g, up2)], _) if up != up2 => edges.push(Edge { ends, faces: [*f, *g] }),
            (_, Some(bent)) => branch(group, bent, &mut edges),
            ([(_, f, _), (_, g, _)], None) => {
                problems.push(MeshProblem::OppositeWinding { edge: ends, faces: [*f, *g] });
            }
            (many, None) => problems.push(MeshProblem::NonManifoldEdge {
                edge: ends,
                faces: many.iter().map(|side| side.1).collect(),
            }),
        }
    }
    edges
}

/// The edges that one becomes where the mesh branches: first come the pairs that bend, then the faces that end there.
fn branch(group: &[Side], bent: &[[u32; 2]], edges: &mut Vec<Edge>) {
    let ends = group[0].0;
    let mut free = vec![true; group.len()];
    for &[f, g] in bent {
        let place = |face: u32| group.iter().position(|side| side.1 == face);
        if let (Some(i), Some(j)) = (place(f), place(g))
            && free[i]
            && free[j]
            && group[i].2 != group[j].2
        {
            (free[i], free[j]) = (false, false);
            edges.push(Edge { ends, faces: [f.min(g), f.max(g)] });
        }
    }
    let alone = group.iter().zip(&free).filter(|(_, free)| **free);
    edges.extend(alone.map(|(side, _)| Edge { ends, faces: [side.1, NONE] }));
}

/// Everything wrong with a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshError {
    /// Each problem, in order of faces and then edges.
    pub problems: Vec<MeshProblem>,
}

/// One thing wrong with a mesh, by element. Faces, vertices and corners count from 0.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named by the variant's own sentence")]
pub enum MeshProblem {
    /// The mesh has no face.
    NoFaces,
    /// There are more or fewer rest triangles than faces.
    RestCount { faces: usize, rest: usize },
    /// A face names a vertex that does not exist.
    IndexOutOfRange { face: usize, index: u32, vertices: usize },
    /// A face names a vertex twice.
    RepeatedVertex { face: usize, vertex: u32 },
    /// A face joins the same three vertices as an earlier one.
    DuplicateFace { face: usize, first: usize },
    /// More than two faces meet in an edge.
    NonManifoldEdge { edge: [u32; 2], faces: Vec<u32> },
    /// Two neighbours disagree about which side is the front.
    OppositeWinding { edge: [u32; 2], faces: [u32; 2] },
    /// A material coordinate is not a number.
    NonFiniteRest { face: usize, corner: usize },
    /// A face has (nearly) no area in material coordinates.
    CollapsedRest { face: usize, area: f64, limit: f64 },
}

impl fmt::Display for MeshProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFaces => write!(f, "the mesh has no face; give it at least one triangle"),
            Self::RestCount { faces, rest } => {
                write!(f, "{faces} faces but {rest} rest triangles; give one rest triangle per face")
            }
            Self::IndexOutOfRange { face, index, vertices } => write!(
                f,
                "face {face} names vertex {index}, but there are {vertices} (0–{}); renumber or remove the face",
                vertices.saturating_sub(1)
            ),
            Self::RepeatedVertex { face, vertex } => {
                write!(f, "face {face} names vertex {vertex} twice; remove the face")
            }
            Self::DuplicateFace { face, first } => {
                write!(f, "face {face} joins the same vertices as face {first}; remove one of them")
            }
            Self::NonManifoldEdge { edge: [a, b], faces } => write!(
                f,
                "edge {a}–{b} belongs to {} faces {faces:?}, at most 2 can be simulated; split the vertices there",
                faces.len()
            ),
            Self::OppositeWinding { edge: [a, b], faces: [g, h] } => write!(
                f,
                "faces {g} and {h} are wound against each other at edge {a}–{b}; turn one of them round"
            ),
            Self::NonFiniteRest { face, corner } => {
                write!(f, "corner {corner} of face {face} has a material coordinate that is not a number")
            }
            Self::CollapsedRest { face, area, limit } => write!(
                f,
                "face {face} has rest area {area:.3e} m², the least is {limit:.3e} m²; \
                 spread its material coordinates or remove it"
            ),
        }
    }
}

impl fmt::Display for MeshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = 20;
        for (n, problem) in self.problems.iter().take(shown).enumerate() {
            write!(f, "{}{problem}", if n > 0 { "\n" } else { "" })?;
        }
        if self.problems.len() > shown {
            write!(f, "\nand {} more problems", self.problems.len() - shown)?;
        }
        Ok(())
    }
}

impl std::error::Error for MeshError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn right_triangle() -> [DVec2; 3] {
        [DVec2::ZERO, DVec2::X, DVec2::Y]
    }

    #[test]
    fn a_quad_has_five_edges_and_one_hinge() {
        let mesh = Mesh::new(4, vec![[0, 1, 2], [0, 2, 3]], vec![right_triangle(); 2]).expect("sound");
        assert_eq!(mesh.edges().len(), 5);
        assert_eq!(mesh.edges().iter().filter(|e| !e.is_border()).count(), 1);
        assert_eq!(mesh.border(), vec![0, 1, 2, 3]);
        assert!((mesh.vertex_area().iter().sum::<f64>() - mesh.total_area()).abs() < 1e-15);
        assert_eq!(mesh.components(), vec![vec![0, 1]]);
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let faces = vec![[0, 1, 2], [2, 1, 0], [0, 0, 1], [0, 1, 9], [0, 1, 3], [1, 0, 4], [5, 6, 7]];
        let mut rest = vec![right_triangle(); 7];
        rest[6] = [DVec2::ZERO, DVec2::X, DVec2::X * 2.0];
        rest[5][1].x = f64::NAN;
        let problems = Mesh::new(8, faces, rest).expect_err("broken").problems;
        let has = |wanted: fn(&MeshProblem) -> bool| problems.iter().any(wanted);
        assert!(has(|p| matches!(p, MeshProblem::DuplicateFace { face: 1, first: 0 })));
        assert!(has(|p| matches!(p, MeshProblem::RepeatedVertex { face: 2, vertex: 0 })));
        assert!(has(|p| matches!(p, MeshProblem::IndexOutOfRange { face: 3, index: 9, .. })));
        assert!(has(|p| matches!(p, MeshProblem::NonManifoldEdge { edge: [0, 1], .. })));
        assert!(has(|p| matches!(p, MeshProblem::NonFiniteRest { face: 5, corner: 1 })));
        assert!(has(|p| matches!(p, MeshProblem::CollapsedRest { face: 6, .. })));
        assert_eq!(problems.len(), 6, "{problems:?}");
    }

    #[test]
    fn neighbours_must_agree_on_the_front() {
        let error = Mesh::new(4, vec![[0, 1, 2], [0, 2, 3]], vec![right_triangle(); 2]);
        assert!(error.is_ok(), "edge 0–2 is used in opposite directions");
        let error = Mesh::new(4, vec![[0, 1, 2], [2, 3, 0]], vec![right_triangle(); 2]);
        assert!(error.is_ok());
        let error =
            Mesh::new(4, vec![[0, 1, 2], [3, 0, 1]], vec![right_triangle(); 2]).expect_err("same side");
        assert!(matches!(error.problems[..], [MeshProblem::OppositeWinding { edge: [0, 1], .. }]));
    }

    #[test]
    fn branched_meshes_keep_their_pairs() {
        // Four faces at edge 0–1; the first two and the last two are wound alike.
        let faces = vec![[0, 1, 2], [1, 0, 3], [0, 1, 4], [1, 0, 5]];
        let rest = vec![right_triangle(); 4];
        assert!(Mesh::new(6, faces.clone(), rest.clone()).is_err());
        let at_edge = |bent: Vec<[u32; 2]>| {
            let mesh = Mesh::branched(6, faces.clone(), rest.clone(), bent).expect("sound");
            assert_eq!(mesh.components().len(), 1, "joined by their particles");
            mesh.edges()[mesh.edges_between([1, 0])].iter().map(|e| e.faces).collect::<Vec<_>>()
        };
        assert_eq!(at_edge(vec![[0, 3], [2, 1]]), [[0, 3], [1, 2]]);
        assert_eq!(at_edge(vec![[1, 2]]), [[1, 2], [0, NONE], [3, NONE]]);
        assert_eq!(at_edge(vec![[0, 2]]).len(), 4, "wound against each other: no pair");
        assert_eq!(at_edge(vec![[0, 1], [0, 3]]), [[0, 1], [2, NONE], [3, NONE]]);
        assert_eq!(at_edge(vec![[7, 9]]).len(), 4);
        // Two faces that disagree about the front end where they meet.
        let mesh = Mesh::branched(4, vec![[0, 1, 2], [3, 0, 1]], vec![right_triangle(); 2], Vec::new());
        assert_eq!(mesh.expect("sound").border().len(), 4);
        // Everything else is refused as ever.
        assert!(Mesh::branched(3, vec![[0, 1, 1]], vec![right_triangle()], Vec::new()).is_err());
    }

    #[test]
    fn separate_parts_are_found() {
        let mesh = Mesh::new(9, vec![[6, 7, 8], [0, 1, 2], [3, 4, 5], [1, 3, 2]], vec![right_triangle(); 4])
            .expect("sound");
        assert_eq!(mesh.components(), vec![vec![0], vec![1, 2, 3]]);
    }
}
