//! Levels of detail: faces split into four by the midpoints of their sides, as often as wanted, and put back.
//!
//! B14's polyhedral scheme (B14-12, B14-13) over any base mesh. A face that is not split is a leaf; leaves, with what
//! closes the cracks between levels, are the mesh. Everything about that mesh (its faces, its rest triangles, the numbers of
//! its vertices) follows from which faces are split and from nothing else: whoever splits and cancels gets the same bits
//! back. `docs/refinement.md` says how levels, closures and criteria work together.
//!
//! * [`Levels::change`] splits and cancels, and says where everything in the new mesh came from;
//! * [`Levels::halve`] halves faces at their sides instead, so that triangles can be long where cloth is straight;
//! * [`Paper`], [`Sizing`] and [`Folds`] say what to split and cancel, from positions;
//! * [`Change::transfer`] carries velocities over without losing momentum.

mod close;
mod folds;
mod forest;
mod halves;
mod lattice;
mod neighbours;
mod paper;
mod sizing;
#[cfg(test)]
mod tests;
mod transfer;
mod tree;

pub use folds::Folds;
pub use forest::{Forest, Standing};
pub use paper::{Flat, Paper};
pub use sizing::{Seen, Sizing, Wishes};
pub use transfer::{Change, Region, lumped};

use super::{Mesh, MeshError, NONE};
use close::Closed;
use lattice::{Place, Spot};
use std::fmt;
use std::sync::Arc;
use tree::Node;

/// Times a face can be split, at most: a million triangles from one.
pub const DEEPEST: u32 = 10;

/// A face of the forest, split or not, by its number. Base faces and all below them are numbered depth first, a face before its
/// children; the numbers hold until the next change.
pub type Face = u32;

/// How faces are split, and what becomes of the cracks where neighbours have different levels (G-2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closure {
    /// They stay, as in B14: a midpoint that only one side knows moves freely, and the edge opens.
    None,
    /// They stay in the mesh, but such midpoints are listed for the solver to hold half way between the ends.
    Midpoint,
    /// There are none: a face next to finer ones is cut in two, three or four without being split. Levels of neighbours
    /// differ by one at most; what that takes is split too, and what would break it is not cancelled.
    #[default]
    RedGreen,
    /// There are none: a face is not split into four but halved at a side, together with the face on the other side.
    /// Triangles can be long along folds and short across (B14-15). Two halvings count as one split into four.
    Halves,
}

/// What happened to a leaf, as B14's Fig. 11 colours it (B14-16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nothing: a base face.
    Plain,
    /// It came from splitting its parent: red.
    Split,
    /// It was split, and that was cancelled: green.
    Cancelled,
}

/// What happened so far (B14-14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Faces split, the forced ones included.
    pub performed: u64,
    /// Splits cancelled.
    pub cancelled: u64,
    /// Faces split only because a neighbour would have been two levels finer.
    pub forced: u64,
    /// Cancellations asked for and not done: a child is split, a neighbour would have been two levels finer, or the cloth
    /// would have met something.
    pub refused: u64,
}

/// What never changes.
#[derive(Debug, PartialEq)]
struct Ground {
    base: Mesh,
    /// Whether edges of the base mesh have more than two faces.
    branched: bool,
    most: u32,
    closure: Closure,
}

impl Ground {
    /// Parts that the sides of base faces can be cut into.
    fn parts(&self) -> u32 {
        1 << self.deepest()
    }

    /// How often a base face can be split.
    fn deepest(&self) -> u32 {
        if self.closure == Closure::Halves { 2 * self.most } else { self.most }
    }

    /// The place of a spot of a base face.
    fn place(&self, face: u32, spot: Spot) -> Place {
        lattice::place(self.parts(), face, self.base.faces()[face as usize], spot)
    }
}

/// The numbers of vertices.
#[derive(Clone, Debug, PartialEq)]
struct Numbers {
    /// Vertices of the base mesh.
    first: usize,
    /// Those after them, ascending.
    places: Vec<Place>,
}

impl Numbers {
    /// The number of the vertex at a place, if some leaf has it.
    fn of(&self, place: Place) -> Option<u32> {
        self.places.binary_search(&place).ok().map(|rank| (self.first + rank) as u32)
    }

    fn vertices(&self) -> usize {
        self.first + self.places.len()
    }
}

/// A base mesh whose faces are split to levels.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    ground: Arc<Ground>,
    /// Depth first.
    nodes: Vec<Node>,
    numbers: Numbers,
    /// Sides of all faces, split ones too, by the numbers of their ends; sorted.
    sides: Vec<([u32; 2], Face)>,
    closed: Closed,
    counts: Counts,
    now: u64,
}

impl Levels {
    /// Levels over `base`, nothing split yet; faces may be split `most` times.
    pub fn new(base: Mesh, most: u32, closure: Closure) -> Result<Levels, LevelsError> {
        Levels::check_most(most)?;
        // In a branching mesh several edges have the same ends.
        let branched = base.edges().windows(2).any(|pair| pair[0].ends == pair[1].ends);
        let ground = Ground { base, branched, most, closure };
        let nodes = tree::roots(&ground);
        Levels::grown(Arc::new(ground), nodes, Counts::default(), 0)
    }

    /// Refuses more levels than faces can have.
    pub fn check_most(most: u32) -> Result<(), LevelsError> {
        if most > DEEPEST { Err(LevelsError::TooDeep { most }) } else { Ok(()) }
    }

    /// Splits the leaves `split` into four and makes the faces `cancel` leaves again, all at once or nothing.
    ///
    /// Splits go first. A face listed in `cancel` stays split where [`Counts::refused`] says so. A face and its children may be
    /// cancelled together; naming a face twice does no harm.
    pub fn change(&mut self, split: &[Face], cancel: &[Face]) -> Result<Change, LevelsError> {
        let (nodes, counts) = self.drafted(split, cancel)?;
        let next = Levels::grown(self.ground.clone(), nodes, counts, self.now)?;
        let change = transfer::between(self, &next);
        *self = next;
        Ok(change)
    }

    /// Does what is wished for, whichever way faces are split.
    pub fn fulfil(&mut self, wishes: &Wishes) -> Result<Change, LevelsError> {
        match self.ground.closure {
            Closure::Halves => self.halve(&wishes.halve, &wishes.cancel),
            _ => self.change(&wishes.split, &wishes.cancel),
        }
    }

    /// Faces the mesh would have after a change.
    pub fn faces_after(&self, split: &[Face], cancel: &[Face]) -> Result<usize, LevelsError> {
        let (mut nodes, _) = self.drafted(split, cancel)?;
        Ok(close::count(&self.ground, &tree::number(&self.ground, &mut nodes), &nodes))
    }

    /// Lets time pass, for criteria that wait before they cancel.
    pub fn pass(&mut self, ticks: u64) {
        self.now = self.now.saturating_add(ticks);
    }

    /// Counts cancellations that whoever moves the cloth could not do.
    pub fn refuse(&mut self, count: u64) {
        self.counts.refused += count;
    }

    /// Lets split faces that could not be put back wait as long as if they had been split now.
    pub fn postpone(&mut self, faces: &[Face]) {
        for &face in faces {
            if let Some(node) = self.nodes.get_mut(face as usize) {
                node.since = self.now;
            }
        }
    }

    /// Ticks that passed so far.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The mesh that the leaves make, closed.
    pub fn mesh(&self) -> &Mesh {
        &self.closed.mesh
    }

    /// Of [`Closure::Midpoint`], each vertex that must stay half way between two others, and those two. A vertex comes
    /// after the ends it hangs between, should they hang themselves. Empty for the other closures.
    pub fn hanging(&self) -> &[[u32; 3]] {
        &self.closed.hanging
    }

    /// The mesh that nothing was split of.
    pub fn base(&self) -> &Mesh {
        &self.ground.base
    }

    /// Times a face may be split.
    pub fn most(&self) -> u32 {
        self.ground.most
    }

    /// What closes the cracks.
    pub fn closure(&self) -> Closure {
        self.ground.closure
    }

    /// What happened so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Number of faces, split ones included.
    pub fn faces(&self) -> usize {
        self.nodes.len()
    }

    /// The leaves, ascending.
    pub fn leaves(&self) -> impl Iterator<Item = Face> + '_ {
        (0..self.nodes.len() as Face).filter(|&f| !self.nodes[f as usize].is_split())
    }

    /// Number of leaves: base faces and three for each face split, one for each that is halved.
    pub fn leaf_count(&self) -> usize {
        self.nodes.iter().filter(|node| !node.is_split()).count()
    }

    /// Triangles as B14's Table 1 counts them, with every split face beside its four children: base + 4 (performed −
    /// cancelled) (E29).
    pub fn paper_count(&self) -> usize {
        self.nodes.len()
    }

    /// How often the base face was split to get this one. As all that ask for one face, `None` where there is no such face.
    pub fn level(&self, face: Face) -> Option<u32> {
        self.node(face).map(|node| node.level)
    }

    /// The face that this one came from, [`NONE`] for a base face.
    pub fn parent(&self, face: Face) -> Option<Face> {
        self.node(face).map(|node| node.parent)
    }

    /// The base face that this one lies in.
    pub fn origin(&self, face: Face) -> Option<u32> {
        self.node(face).map(|node| node.base)
    }

    /// The children: those at the three corners, then the one in the centre; or the two halves. `None` also of a leaf.
    pub fn children(&self, face: Face) -> Option<&[Face]> {
        self.node(face).filter(|node| node.is_split()).map(Node::below)
    }

    /// The corners, as vertices of the mesh.
    pub fn corners(&self, face: Face) -> Option<[u32; 3]> {
        self.node(face).map(|node| node.corners)
    }

    /// What happened to a face.
    pub fn mark(&self, face: Face) -> Option<Mark> {
        self.node(face).map(|node| node.mark)
    }

    /// How many times in a row a face, or what it is a part of, was put back and soon afterwards halved again. Who puts it back should wait
    /// longer each time.
    pub fn again(&self, face: Face) -> Option<u8> {
        self.node(face).map(|node| node.again)
    }

    /// Ticks since a face was split, or since it became a leaf.
    pub fn age(&self, face: Face) -> Option<u64> {
        self.node(face).map(|node| self.now.saturating_sub(node.since))
    }

    /// For each face of the mesh, the leaf it is, or is a part of.
    pub fn owners(&self) -> &[Face] {
        &self.closed.owners
    }

    /// What happened to each face of the mesh: to the leaf it is, or is a part of (B14-16).
    pub fn marks(&self) -> Vec<Mark> {
        (0..self.closed.owners.len()).map(|face| self.owner(face).mark).collect()
    }

    /// The leaf of a face of the mesh.
    fn owner(&self, face: usize) -> &Node {
        &self.nodes[self.closed.owners[face] as usize]
    }

    fn node(&self, face: Face) -> Option<&Node> {
        self.nodes.get(face as usize)
    }

    /// Refuses a list that does not have one entry for each of something.
    fn check_count(what: &'static str, given: usize, wanted: usize) -> Result<(), LevelsError> {
        if given == wanted { Ok(()) } else { Err(LevelsError::Count { what, given, wanted }) }
    }
}

/// Why levels refused something.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named by the variant's own sentence")]
pub enum LevelsError {
    /// More levels are asked for than faces can have.
    TooDeep { most: u32 },
    /// There is no such face.
    NoFace { face: Face, faces: usize },
    /// A face to split is split already.
    NotLeaf { face: Face },
    /// A face to split has the highest level.
    Deepest { face: Face, most: u32 },
    /// A face to cancel is not split.
    NotSplit { face: Face },
    /// The mesh would have too many faces.
    TooMany { faces: usize, limit: usize },
    /// Faces to split into four are named where faces are halved.
    Halves,
    /// There is no such side to halve, or no face at it may be split again.
    NoSide { ends: [u32; 2] },
    /// A list does not have one entry for each vertex or face.
    Count { what: &'static str, given: usize, wanted: usize },
    /// A number of a criterion makes no sense.
    Setting { what: &'static str, value: f64, limit: &'static str },
    /// A forest does not end with the last of its base faces.
    Forest { faces: usize },
    /// What closes the cracks would not be a sound mesh.
    Mesh(MeshError),
}

impl fmt::Display for LevelsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooDeep { most } => {
                write!(f, "{most} levels, at most {DEEPEST}; start from a finer mesh")
            }
            Self::NoFace { face, faces } => {
                write!(
                    f,
                    "face {face} does not exist, there are {faces}; numbers change with every change, ask again"
                )
            }
            Self::NotLeaf { face } => write!(f, "face {face} is split already; split its children"),
            Self::Deepest { face, most } => {
                write!(f, "face {face} has the highest level, {most}; leave it, or allow more levels")
            }
            Self::NotSplit { face } => write!(f, "face {face} is not split; cancel its parent instead"),
            Self::TooMany { faces, limit } => {
                write!(f, "{faces} faces, at most {limit}; split fewer of them")
            }
            Self::Halves => write!(f, "these faces are halved at their sides; name sides to halve"),
            Self::NoSide { ends: [a, b] } => {
                write!(
                    f,
                    "no side from vertex {a} to {b} can be halved; numbers change with every change, ask again"
                )
            }
            Self::Count { what, given, wanted } => {
                write!(f, "{given} {what}, must be {wanted}; give one for each")
            }
            Self::Forest { faces } => {
                write!(
                    f,
                    "the forest of {faces} faces is not one over this base mesh; use the mesh it was made of"
                )
            }
            Self::Setting { what, value, limit } => write!(f, "{what} is {value}, must be {limit}"),
            Self::Mesh(error) => write!(f, "the faces are too slender to be cut: {error}"),
        }
    }
}

impl std::error::Error for LevelsError {}
