//! Meshes cut, sewn, split, filled and resized, with tables that say where everything came from.

use super::Mesh;

/// Where a vertex of an edited mesh comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// It is an old vertex, or one of its copies along a cut.
    Old(u32),
    /// It lies on an old edge, this part of the way from the first end to the second.
    Edge([u32; 2], f64),
    /// It lies in an old face, with these weights of its corners.
    Face(u32, [f64; 3]),
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
