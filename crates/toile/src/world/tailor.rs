//! What a tailor does to a cloth while it moves: cut, remove, resize, fill, sew at once or by a seam that closes.

use super::{ReshapeError, World};
use crate::mesh::edit::{self, Keep, Place};
use crate::mesh::{EditError, Edited, Remap};
use crate::setup::Seam;
use std::fmt;

/// One change of a cloth between two frames, in the numbers of the mesh that it has then.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named by the variant's own sentence")]
pub enum Tailoring {
    /// Cuts along straight lines in the material from point to point, through the faces on the way.
    Cut { line: Vec<Place> },
    /// Opens the cloth along a path of vertices joined by edges.
    CutAlong { path: Vec<u32> },
    /// Takes faces away.
    Remove { faces: Vec<u32> },
    /// Multiplies lengths at rest by `factor` within `radius` [m] of a point, fully within `hardness` (0–1) of that.
    Resize { at: Place, radius: f64, hardness: f64, factor: f64, keep: Keep },
    /// Fills the hole whose border runs through a vertex.
    Fill { start: u32 },
    /// Makes each pair of vertices one, wherever they are.
    Sew { pairs: Vec<[u32; 2]> },
    /// Draws pairs of vertices together, smoothly, and makes each one when all have met (see [`World::seams`]).
    Seam { pairs: Vec<[u32; 2]> },
    /// Takes away a seam of this cloth that has not closed, by its place in [`World::seams`].
    Unpick { seam: usize },
}

/// Why a cloth is not changed. The world is as it was.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named by the variant's own sentence")]
pub enum TailorError {
    /// The mesh does not allow it.
    Edit(EditError),
    /// The world does not.
    Reshape(ReshapeError),
    /// The cloth has no such seam.
    NoSeam { cloth: String, seam: usize, seams: usize },
}

impl fmt::Display for TailorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edit(error) => error.fmt(f),
            Self::Reshape(error) => error.fmt(f),
            Self::NoSeam { cloth, seam, seams } => write!(
                f,
                "seam {seam} is none of cloth `{cloth}`, in a world of {seams}: name one that has not closed yet"
            ),
        }
    }
}

impl std::error::Error for TailorError {}

impl From<EditError> for TailorError {
    fn from(error: EditError) -> Self {
        Self::Edit(error)
    }
}

impl From<ReshapeError> for TailorError {
    fn from(error: ReshapeError) -> Self {
        Self::Reshape(error)
    }
}

impl World {
    /// Changes a cloth as a tailor would; everything goes on from where it is (see [`World::reshape`]). Returns where all in
    /// the new mesh came from.
    pub fn tailor(&mut self, cloth: usize, job: &Tailoring) -> Result<Remap, TailorError> {
        let cloths = self.cloths.len();
        let own = self.cloths.get(cloth).ok_or(ReshapeError::NoCloth { cloth, cloths })?;
        let mesh = &*own.mesh;
        let edited: Edited = match job {
            Tailoring::Cut { line } => edit::cut(mesh, line)?.edited,
            Tailoring::CutAlong { path } => edit::cut_along(mesh, path)?,
            Tailoring::Remove { faces } => edit::remove(mesh, faces)?,
            Tailoring::Resize { at, radius, hardness, factor, keep } => {
                edit::resize(mesh, &edit::brush(mesh, *at, *radius, *factor, *hardness)?, *keep)?
            }
            Tailoring::Fill { start } => edit::fill(mesh, &self.positions(cloth), *start)?,
            Tailoring::Sew { pairs } => edit::sew(mesh, pairs)?,
            Tailoring::Seam { pairs } => return self.seam(cloth, pairs, Seam::TIME),
            Tailoring::Unpick { seam } => return self.unpick(cloth, *seam),
        };
        self.reshape(cloth, &edited, None)?;
        Ok(edited.remap)
    }
}
