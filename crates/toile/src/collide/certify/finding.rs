//! What a check can find, by object and element.

use std::fmt;

use super::sides::Passage;
use glam::DVec3;

/// A vertex of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VertexId {
    /// Index of the surface in the checker.
    pub surface: u32,
    /// Index of the vertex in the surface.
    pub vertex: u32,
}

/// A face of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FaceId {
    /// Index of the surface in the checker.
    pub surface: u32,
    /// Index of the face in the surface.
    pub face: u32,
}

/// An edge of a surface, with one of its faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EdgeId {
    /// Index of the surface in the checker.
    pub surface: u32,
    /// A face the edge belongs to.
    pub face: u32,
    /// Its two vertices, as indices in the surface.
    pub vertices: [u32; 2],
}

/// How two faces meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meeting {
    /// The inside of an edge passes through the inside of a face.
    Crossing,
    /// A vertex lies exactly on a face, or an edge exactly on an edge; nothing passes strictly through.
    Touching,
    /// Both lie in one plane and overlap or touch.
    Coplanar,
    /// They share an edge and lie on one another.
    FoldedFlat,
    /// They have the same three corners: the same vertices, or others at exactly the same places.
    Duplicate,
}

/// One reason why a frame fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Finding {
    /// The number of positions given for a surface is not its number of vertices, or there is no such surface, or no
    /// positions for it. Faces without positions are not judged.
    WrongCount {
        /// Index of the surface in the checker.
        surface: u32,
        /// Vertices the surface was declared with.
        expected: usize,
        /// Positions given.
        given: usize,
    },
    /// A coordinate is not a number or infinite. Its faces are not judged further.
    NonFinite {
        /// The vertex.
        vertex: VertexId,
        /// Its position [m].
        value: DVec3,
    },
    /// A coordinate exceeds 1e30 m: the motion exploded. Its faces are not judged further.
    OutOfRange {
        /// The vertex.
        vertex: VertexId,
        /// Its position [m].
        value: DVec3,
    },
    /// A face names a vertex the surface does not have. It is not judged further.
    BadIndex {
        /// The face.
        face: FaceId,
        /// The index it names.
        index: u32,
    },
    /// A face names the same vertex twice. It is not judged further.
    RepeatedIndex {
        /// The face.
        face: FaceId,
    },
    /// The three corners of a face lie exactly on a line. It is not judged further.
    ZeroArea {
        /// The face.
        face: FaceId,
    },
    /// Two faces meet elsewhere than in shared vertices.
    Intersection {
        /// How.
        kind: Meeting,
        /// An edge of one face that meets the other (for folded-flat faces, the shared edge).
        edge: EdgeId,
        /// The other face.
        face: FaceId,
    },
}

/// The closest two features that share no vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Their distance [m].
    pub distance: f64,
    /// Which they are.
    pub pair: ClosePair,
}

/// Two features near one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClosePair {
    /// A vertex and a face it does not belong to.
    VertexFace(VertexId, FaceId),
    /// Two edges without a common vertex.
    EdgeEdge(EdgeId, EdgeId),
}

/// A finding or a close pair with the names of the surfaces, for people.
pub struct Named<'a, T> {
    pub(super) names: &'a [String],
    pub(super) item: T,
}

impl<T> Named<'_, T> {
    fn name(&self, surface: u32) -> &str {
        self.names.get(surface as usize).map_or("?", String::as_str)
    }

    fn face(&self, id: FaceId) -> String {
        format!("{} face {}", self.name(id.surface), id.face)
    }

    fn vertex(&self, id: VertexId) -> String {
        format!("{} vertex {}", self.name(id.surface), id.vertex)
    }

    fn edge(&self, id: EdgeId) -> String {
        let [a, b] = id.vertices;
        format!("{} edge {a}-{b} (face {})", self.name(id.surface), id.face)
    }
}

impl fmt::Display for Named<'_, Finding> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.item {
            Finding::WrongCount { surface, expected, given } => {
                write!(f, "{} has {expected} vertices but {given} positions", self.name(surface))
            }
            Finding::NonFinite { vertex, value } => {
                write!(f, "{} is not finite: {value}", self.vertex(vertex))
            }
            Finding::OutOfRange { vertex, value } => {
                write!(f, "{} is beyond 1e30 m: {value}", self.vertex(vertex))
            }
            Finding::BadIndex { face, index } => {
                write!(f, "{} names vertex {index}, which does not exist", self.face(face))
            }
            Finding::RepeatedIndex { face } => write!(f, "{} names a vertex twice", self.face(face)),
            Finding::ZeroArea { face } => write!(f, "{} has no area", self.face(face)),
            Finding::Intersection { kind, edge, face } => {
                let verb = match kind {
                    Meeting::Crossing => "crosses",
                    Meeting::Touching => "touches",
                    Meeting::Coplanar => "overlaps in its plane",
                    Meeting::FoldedFlat => "is the fold that lies flat on",
                    Meeting::Duplicate => "belongs to a copy of",
                };
                write!(f, "{} {verb} {}", self.edge(edge), self.face(face))
            }
        }
    }
}

impl fmt::Display for Named<'_, Closest> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pair = Named { names: self.names, item: self.item.pair };
        write!(f, "{:.3e} m between {pair}", self.item.distance)
    }
}

impl fmt::Display for Named<'_, ClosePair> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.item {
            ClosePair::VertexFace(vertex, face) => {
                write!(f, "{} and {}", self.vertex(vertex), self.face(face))
            }
            ClosePair::EdgeEdge(a, b) => write!(f, "{} and {}", self.edge(a), self.edge(b)),
        }
    }
}

impl fmt::Display for Named<'_, Passage> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Passage { vertex, surface, .. } = self.item;
        write!(f, "{} went through {}", self.vertex(vertex), self.name(surface))
    }
}
