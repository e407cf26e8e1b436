//! Triangle meshes: what is joined to what, the shape at rest, surfaces to ask, bodies to collide with, curved surfaces to look at,
//! edits that change what is joined, levels of detail.

pub mod edit;
pub mod levels;
pub mod shapes;
pub mod smooth;
pub mod surface;
pub mod topology;

pub use edit::{EditError, Edited, Origin, Remap};
pub use levels::{Closure, Levels, LevelsError};
pub use shapes::{Pattern, Shape, ShapeError};
pub use smooth::{SmoothError, Smoothed, Smoother, Subdivision};
pub use surface::{Surface, SurfaceError};
pub use topology::{Edge, Mesh, MeshError, MeshProblem, NONE};
