//! Triangle meshes: what is joined to what, and the shape at rest.

pub mod shapes;
pub mod topology;

pub use shapes::{Pattern, Shape, ShapeError};
pub use topology::{Edge, Mesh, MeshError, MeshProblem, NONE};
