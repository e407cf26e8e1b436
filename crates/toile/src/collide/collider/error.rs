//! Why a collider was refused.

use crate::mesh::SurfaceError;
use std::fmt;

/// Why a collider was refused.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named by the variant's own sentence")]
pub enum ColliderError {
    /// A measure is out of range.
    Parameter { shape: &'static str, what: &'static str, value: f64, limit: &'static str },
    /// A point, ball or sample is not a finite number, or beyond 1e6 m.
    NotFinite { shape: &'static str, element: usize },
    /// The points of a hull span less than space: 0 for a point, 1 for a line, 2 for a plane.
    FlatHull { points: usize, dimensions: u8 },
    /// The triangles make no surface.
    Surface(SurfaceError),
    /// An animation has no frame.
    NoFrames,
    /// A frame has more or fewer positions than the first.
    FrameCount { frame: usize, positions: usize, vertices: usize },
    /// A frame does not come after the one before.
    FrameTime { frame: usize, time: f64, previous: f64 },
    /// A grid has more or fewer samples than its size says.
    GridCount { samples: usize, expected: usize },
    /// The surface of a field leaves its grid: a sample on the border is not outside.
    GridOpen { sample: usize, value: f64 },
    /// A field has no inside.
    EmptyField { shape: &'static str },
    /// The mesh of the tolerance asked for would be too large.
    TooFine { shape: &'static str, tolerance: f64, limit: usize },
    /// A key of the motion changes the size: an analytic distance would be wrong.
    NotRigid { key: usize },
    /// Where it stands is not a turn and a shift.
    NotStanding,
}

impl fmt::Display for ColliderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter { shape, what, value, limit } => {
                write!(f, "{shape}: {what} is {value}, must be {limit}")
            }
            Self::NotFinite { shape, element } => {
                write!(
                    f,
                    "{shape}: element {element} is not a finite number within 1e6 m; repair or remove it"
                )
            }
            Self::FlatHull { points, dimensions } => {
                let all = ["in one place", "on a line", "in a plane"][usize::from(*dimensions).min(2)];
                write!(f, "hull: all {points} points lie {all}; add a point off it, or use a mesh")
            }
            Self::Surface(error) => write!(f, "mesh: {error}"),
            Self::NoFrames => write!(f, "animation: there is no frame; give at least one"),
            Self::FrameCount { frame, positions, vertices } => {
                write!(
                    f,
                    "animation: frame {frame} has {positions} positions, the first has {vertices}; export it with the same vertices"
                )
            }
            Self::FrameTime { frame, time, previous } => {
                write!(
                    f,
                    "animation: frame {frame} is at {time} s, not after the {previous} s before it; sort the frames"
                )
            }
            Self::GridCount { samples, expected } => {
                write!(f, "grid: {samples} samples, its size says {expected}; correct one of them")
            }
            Self::GridOpen { sample, value } => {
                write!(
                    f,
                    "grid: sample {sample} on the border is {value}, must be positive (outside); enlarge the grid"
                )
            }
            Self::EmptyField { shape } => {
                write!(f, "{shape}: nothing is inside; lower the threshold or move the balls")
            }
            Self::TooFine { shape, tolerance, limit } => {
                write!(
                    f,
                    "{shape}: a mesh within {tolerance} m needs more than {limit} faces or cells; allow a larger tolerance"
                )
            }
            Self::NotStanding => {
                write!(
                    f,
                    "a body stands turned and shifted, neither stretched nor mirrored; scale the shape itself"
                )
            }
            Self::NotRigid { key } => {
                write!(f, "motion: key {key} changes the size; colliders keep theirs, scale the shape itself")
            }
        }
    }
}

impl std::error::Error for ColliderError {}

impl From<SurfaceError> for ColliderError {
    fn from(error: SurfaceError) -> ColliderError {
        ColliderError::Surface(error)
    }
}

/// Largest length [m] of anything in a collider.
pub(super) const LARGEST: f64 = 1e6;

/// A length that must be positive.
pub(super) fn positive(shape: &'static str, what: &'static str, value: f64) -> Result<(), ColliderError> {
    if (1e-6..=LARGEST).contains(&value) {
        return Ok(());
    }
    Err(ColliderError::Parameter { shape, what, value, limit: "from 1e-6 to 1e6 m" })
}
