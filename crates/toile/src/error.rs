//! Errors people can act on: object, element, value, limit, one fix.

use crate::forces::FabricError;
use crate::math::DVec3;
use std::fmt;

/// A frame that could not be finished, however small its substeps. The world is as it was before the frame.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameError {
    /// Name of the cloth.
    pub cloth: String,
    /// Vertex of the cloth.
    pub vertex: u32,
    /// What about it.
    pub what: &'static str,
    /// Its value.
    pub value: DVec3,
    /// Time at the start of the frame [s].
    pub time: f64,
    /// The smallest substep tried [s].
    pub smallest: f64,
    /// The longest stable step of an explicit integrator at the start of the frame [s]; infinity if it is implicit.
    pub longest: f64,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FrameError { cloth, what, vertex, value, time, smallest, longest } = self;
        write!(
            f,
            "cloth `{cloth}`: the {what} of vertex {vertex} became {value} in the frame after {time:.6} s"
        )?;
        if longest.is_finite() {
            return write!(
                f,
                " with explicit substeps of {smallest:.2e} s; before the frame they were stable up to about \
                 {longest:.2e} s: raise solver.substeps, or use an implicit integrator such as \"bdf2\""
            );
        }
        write!(
            f,
            ", also with substeps of {smallest:.2e} s; \
             look for an extreme force, stiffness or pin motion there, or raise solver.substeps"
        )
    }
}

impl std::error::Error for FrameError {}

/// Why a world cannot be built; each names the object and the element.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named by the variant's own sentence")]
pub enum SetupProblem {
    /// The world has no cloth.
    NoCloth,
    /// Two cloths have the same name.
    DuplicateName { cloth: String },
    /// A pin holds a rigid thing, which moves as a whole or not at all.
    RigidPinned { cloth: String },
    /// The number of positions differs from the number of vertices.
    PositionCount { cloth: String, vertices: usize, positions: usize },
    /// A position is not a number or is beyond all use.
    BadPosition { cloth: String, vertex: usize, value: DVec3 },
    /// The fabric is impossible.
    Fabric { cloth: String, error: FabricError },
    /// A pin or an edit names a cloth that does not exist.
    UnknownCloth { index: usize, cloths: usize },
    /// A pin or an edit names a vertex that does not exist.
    UnknownVertex { cloth: String, vertex: u32, vertices: usize },
    /// Friction is said between objects of which one does not exist.
    UnknownObject { pair: [usize; 2], objects: usize },
    /// Friction is said between two bodies, which do not meet.
    TwoBodies { names: [String; 2] },
    /// Friction that is negative, not a number, or grows when it slides.
    Friction { between: String, still: f64, sliding: f64 },
    /// A cloth cannot be refined like this.
    Refinement { cloth: String, what: String, fix: &'static str },
    /// The integrator knows no such law.
    Unfit { cloth: String, integrator: &'static str, what: &'static str, fix: &'static str },
    /// A quantity is out of its range.
    OutOfRange { what: &'static str, value: f64, limit: &'static str },
}

impl fmt::Display for SetupProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCloth => write!(f, "there is no cloth; add one"),
            Self::RigidPinned { cloth } => write!(
                f,
                "`{cloth}` is rigid and a pin holds it; leave out the pin, or make it a body, which goes where it is told"
            ),
            Self::DuplicateName { cloth } => {
                write!(f, "two cloths are called `{cloth}`; rename one of them")
            }
            Self::PositionCount { cloth, vertices, positions } => {
                write!(f, "cloth `{cloth}` has {vertices} vertices but {positions} positions; give one each")
            }
            Self::BadPosition { cloth, vertex, value } => write!(
                f,
                "vertex {vertex} of cloth `{cloth}` is at {value}; coordinates must be finite and within ±1e6 m"
            ),
            Self::Fabric { cloth, error } => write!(f, "cloth `{cloth}`: {error}"),
            Self::UnknownCloth { index, cloths } => {
                write!(f, "cloth number {index} does not exist; there are {cloths}, counted from 0")
            }
            Self::UnknownVertex { cloth, vertex, vertices } => write!(
                f,
                "vertex {vertex} of cloth `{cloth}` does not exist; it has {vertices}, counted from 0"
            ),
            Self::UnknownObject { pair: [a, b], objects } => write!(
                f,
                "friction is said between objects {a} and {b}; there are {objects}, counted from 0, cloths first"
            ),
            Self::TwoBodies { names: [a, b] } => {
                write!(
                    f,
                    "friction is said between `{a}` and `{b}`, two bodies, which do not meet; name a cloth"
                )
            }
            Self::Friction { between, still, sliding } => write!(
                f,
                "friction {between} is {still} at rest and {sliding} sliding; it must be 0 or more, and not more \
                 sliding than at rest"
            ),
            Self::Refinement { cloth, what, fix } => {
                write!(f, "cloth `{cloth}` cannot be refined: {what}; {fix}")
            }
            Self::Unfit { cloth, integrator, what, fix } => {
                write!(f, "cloth `{cloth}`: the integrator {integrator} cannot step {what}; {fix}")
            }
            Self::OutOfRange { what, value, limit } => write!(f, "{what} is {value}; it must be {limit}"),
        }
    }
}

/// Everything that keeps a world from being built, or an edit from being made.
#[derive(Clone, Debug, PartialEq)]
pub struct SetupError {
    /// Each problem.
    pub problems: Vec<SetupProblem>,
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if n > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for SetupError {}
