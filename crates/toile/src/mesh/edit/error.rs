//! Why edits are refused.

use crate::mesh::MeshError;
use std::fmt;

/// Why a mesh was not edited. Faces, vertices and points count from 0, in the numbers of the mesh that was given.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named by the variant's own sentence")]
pub enum EditError {
    /// The list of what to edit is empty, or too short.
    TooFew { what: &'static str, given: usize, least: usize },
    /// A list has not one entry for each element.
    Count { what: &'static str, given: usize, wanted: usize },
    /// A vertex is named that does not exist.
    NoVertex { what: &'static str, vertex: u32, vertices: usize },
    /// A face is named that does not exist.
    NoFace { what: &'static str, face: u32, faces: usize },
    /// Two vertices are named that no edge joins.
    NoEdge { what: &'static str, edge: [u32; 2] },
    /// A number is outside of what is accepted.
    BadNumber { what: &'static str, index: usize, value: f64, limit: &'static str },
    /// The mesh branches at an edge, and this edit needs two sides.
    Branches { what: &'static str, edge: [u32; 2] },
    /// The mesh is pinched: a vertex joins faces that share no edge.
    Pinched { what: &'static str, vertex: u32 },
    /// A cut has nothing to open: it runs along borders, or is one edge with both ends inside the cloth.
    NothingToOpen { edges: usize },
    /// Two points of a line lie on pieces that are not joined.
    NotJoined { points: [usize; 2], faces: [u32; 2] },
    /// No face would be left.
    NothingLeft { faces: usize },
    /// Nothing would be sewn: every pair names one vertex twice.
    NothingToSew { pairs: usize },
    /// Sewing would make two corners of a face one.
    Collapses { face: u32, corners: [u32; 2] },
    /// Sewing would make an edge of more than two faces.
    ThreeFaces { edge: [u32; 2], faces: Vec<u32> },
    /// Sewing would join faces wound against each other.
    AgainstWinding { edge: [u32; 2], faces: [u32; 2] },
    /// Sewing would lay one face upon another.
    SameFace { faces: [u32; 2] },
    /// Sewing would join faces at a vertex without an edge between them.
    Pinches { vertex: u32, fans: usize },
    /// A hole is named by a vertex that is not on a border.
    NotOnBorder { vertex: u32 },
    /// A hole has too many border vertices.
    LargeHole { vertex: u32, rim: usize, limit: usize },
    /// A hole cannot be filled: its border lies on a line, or all that could span it is joined already.
    CannotSpan { vertex: u32, rim: usize },
    /// An edge cannot be collapsed without joining cloth that is apart.
    Link { edge: [u32; 2], vertex: u32 },
    /// Collapsing an edge would turn or flatten a face at rest.
    Flattens { edge: [u32; 2], face: u32, height: f64, limit: f64 },
    /// The edit would need more elements than can be numbered.
    TooMany { what: &'static str, count: usize, limit: usize },
    /// The edited mesh is not sound.
    Unsound(MeshError),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { what, given, least } => {
                write!(f, "{what} has {given} entries, at least {least} are needed; give more")
            }
            Self::Count { what, given, wanted } => {
                write!(f, "{what} has {given} entries for {wanted}; give one for each")
            }
            Self::NoVertex { what, vertex, vertices } => write!(
                f,
                "{what} names vertex {vertex}, but there are {vertices} (0–{}); use one of these",
                vertices.saturating_sub(1)
            ),
            Self::NoFace { what, face, faces } => write!(
                f,
                "{what} names face {face}, but there are {faces} (0–{}); use one of these",
                faces.saturating_sub(1)
            ),
            Self::NoEdge { what, edge: [a, b] } => {
                write!(
                    f,
                    "{what} goes from vertex {a} to vertex {b}, which no edge joins; follow the edges of the mesh"
                )
            }
            Self::BadNumber { what, index, value, limit } => {
                write!(f, "{what} {index} is {value}, must be {limit}; change it")
            }
            Self::Branches { what, edge: [a, b] } => write!(
                f,
                "{what} needs edges with at most 2 faces, but the mesh branches at edge {a}–{b}; take the panels apart there first"
            ),
            Self::Pinched { what, vertex } => write!(
                f,
                "{what} meets vertex {vertex}, which joins faces that share no edge; remove a face there, which parts them"
            ),
            Self::NothingToOpen { edges } => write!(
                f,
                "the {edges} edges of the cut open nothing: they lie on borders or are a single one inside the cloth; \
                 cut along two edges or more, or from a border"
            ),
            Self::NotJoined { points: [p, q], faces: [g, h] } => write!(
                f,
                "points {p} and {q} of the line lie on faces {g} and {h}, which are not joined; end the line between them"
            ),
            _ => self.fmt_result(f),
        }
    }
}

impl EditError {
    /// Refusals for what the edit would lead to.
    fn fmt_result(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingLeft { faces } => {
                write!(f, "all {faces} faces would be removed, 1 must stay; remove the whole cloth instead")
            }
            Self::NothingToSew { pairs } => {
                write!(f, "the {pairs} pairs to sew name one vertex twice each; pair vertices that are apart")
            }
            Self::Collapses { face, corners: [a, b] } => write!(
                f,
                "sewing makes corners {a} and {b} of face {face} one, a face needs 3; leave the pairs that join them out"
            ),
            Self::ThreeFaces { edge: [a, b], faces } => write!(
                f,
                "sewing joins {} faces {faces:?} at edge {a}–{b}, at most 2 can be simulated; leave the pairs of its ends out",
                faces.len()
            ),
            Self::AgainstWinding { edge: [a, b], faces: [g, h] } => write!(
                f,
                "sewing joins faces {g} and {h} wound against each other at edge {a}–{b}; pair the border the other way round"
            ),
            Self::SameFace { faces: [g, h] } => {
                write!(f, "sewing lays face {h} upon face {g}; leave one pair of their corners out")
            }
            Self::Pinches { vertex, fans } => write!(
                f,
                "sewing joins {fans} fans of faces at vertex {vertex} by no edge, at most 1 may be there; \
                 pair a neighbour of it on the border too"
            ),
            Self::NotOnBorder { vertex } => {
                write!(f, "vertex {vertex} is on no border, so there is no hole; name a vertex on its border")
            }
            Self::LargeHole { vertex, rim, limit } => write!(
                f,
                "the hole at vertex {vertex} has {rim} border vertices, at most {limit} can be spanned; sew parts of it first"
            ),
            Self::CannotSpan { vertex, rim } => write!(
                f,
                "the hole of {rim} border vertices at vertex {vertex} cannot be spanned: they lie on a line or are joined \
                 already; move them apart"
            ),
            Self::Link { edge: [a, b], vertex } => write!(
                f,
                "welding edge {a}–{b} would join cloth that is apart at vertex {vertex}; split the edges there first"
            ),
            Self::Flattens { edge: [a, b], face, height, limit } => write!(
                f,
                "welding edge {a}–{b} leaves face {face} a height of {height:.3} of its longest side, the least is {limit}; \
                 weld another edge of it"
            ),
            Self::TooMany { what, count, limit } => {
                write!(f, "the edit makes {count} {what}, at most {limit} can be numbered; edit less")
            }
            Self::Unsound(error) => write!(f, "the edited mesh is not sound: {error}"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for EditError {}

impl From<MeshError> for EditError {
    fn from(error: MeshError) -> EditError {
        EditError::Unsound(error)
    }
}
