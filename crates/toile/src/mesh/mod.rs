//! Meshes.
pub mod shapes;
