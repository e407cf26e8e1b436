//! Triangle meshes: what is joined to what, the shape at rest, surfaces to ask, bodies to collide with.

pub mod shapes;
pub mod surface;
pub mod topology;

pub use shapes::{Pattern, Shape, ShapeError};
pub use surface::{Surface, SurfaceError};
pub use topology::{Edge, Mesh, MeshError, MeshProblem, NONE};
