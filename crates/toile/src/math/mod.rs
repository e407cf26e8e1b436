//! Arithmetic whose result never depends on the number of threads.

pub mod matrix;
pub mod parallel;
pub mod random;
pub mod reduce;
pub mod rotation;
pub mod symmetric;

pub use glam::{DMat3, DQuat, DVec2, DVec3};
pub use symmetric::Symmetric;
