//! What a tailor can be told.

use super::Vector;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A change of the mesh of a cloth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum Job {
    /// Cuts along straight lines in the material from point to point, through the faces on the way.
    Cut {
        /// Two points or more.
        line: Vec<Spot>,
    },
    /// Opens the cloth along edges.
    Slit {
        /// Vertices, each joined to the next by an edge.
        path: Vec<u32>,
    },
    /// Takes faces away.
    Trim {
        /// The faces.
        faces: Vec<u32>,
    },
    /// Takes a piece away that is joined to the rest no more.
    Discard {
        /// A face of the piece.
        face: u32,
    },
    /// Makes cloth larger or smaller at rest under a brush.
    Resize {
        /// Middle of the brush.
        at: Spot,
        /// How far it reaches over the cloth at rest [m].
        radius: f64,
        /// Part of the radius within which it works fully, 0 to 1.
        hardness: f64,
        /// What lengths are multiplied by, 0.5 to 2.
        factor: f64,
        /// What stays.
        keep: Kept,
    },
    /// Draws vertices of borders together and makes each pair one when they have met.
    Seam {
        /// The pairs.
        pairs: Vec<[u32; 2]>,
    },
    /// Fills a hole with cloth.
    Fill {
        /// A vertex of its border.
        vertex: u32,
    },
}

/// A point on cloth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct Spot {
    /// The face it lies in.
    pub face: u32,
    /// Weights of the corners of the face, with sum 1.
    pub weights: Vector,
}

/// What stays when cloth changes its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// The mass: larger cloth is thinner.
    Mass,
    /// The mass per area: larger cloth is heavier.
    Density,
}
