//! Meshes cut, sewn, split, filled and resized, with tables that say where everything came from.
//!
//! Every edit looks at a mesh and returns another; nothing is changed in place, so an edit that is refused leaves
//! nothing behind. Faces and vertices that an edit does not touch keep their order and their numbers: new ones are
//! appended, and only [`remove`], [`sew`] and [`weld`] close the gaps of what they take away. The same arguments give
//! the same bits.
//!
//! Meshes that branch ([`Mesh::branched`]) can be cut along their edges, resized and have faces removed; the other
//! edits refuse them, since an edge of three faces has no two sides to work on.

mod draft;
mod edges;
mod error;
mod fill;
mod layout;
mod line;
mod patch;
mod remap;
mod seams;
mod size;
mod strip;
mod trace;

#[cfg(test)]
mod tests;

pub use edges::{split, weld};
pub use error::EditError;
pub use fill::{MOST_RIM, fill};
pub use line::{LEAST_ANGLE, SNAP, Scored, Snap, cut, score};
pub use seams::{cut_along, remove, sew};
pub use size::{Keep, LARGEST_FACTOR, SMALLEST_FACTOR, brush, resize};

use super::Mesh;

/// A point on the cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The face it lies in.
    pub face: u32,
    /// Weights of the corners of the face, none negative, with sum 1.
    pub weights: [f64; 3],
}

/// Where a vertex of an edited mesh comes from. What belongs to vertices (positions, velocities) follows by the weights.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// It is an old vertex, or one of its copies along a cut.
    Old(u32),
    /// It lies between two old vertices, as a rule on an edge, this part of the way from the first to the second.
    Edge([u32; 2], f64),
    /// It lies between three old vertices, as a rule the corners of a face, with these weights.
    Face([u32; 3], [f64; 3]),
    /// It lies between more old vertices, ascending, each with its weight: what several edits in a row can make.
    Mix(Vec<(u32, f64)>),
    /// It is several old vertices sewn into one, ascending.
    Joined(Vec<u32>),
}

/// Where the vertices and faces of an edited mesh come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Remap {
    /// For each new vertex.
    pub vertices: Vec<Origin>,
    /// For each new face, the old face it lies in; [`super::NONE`] for cloth that was not there.
    pub faces: Vec<u32>,
    /// For each new face, the mass of its cloth per area at rest over that of the old face.
    pub density: Vec<f64>,
}

/// A mesh after an edit.
#[derive(Clone, Debug)]
pub struct Edited {
    /// The new mesh.
    pub mesh: Mesh,
    /// Where everything in it came from.
    pub remap: Remap,
}
