//! The experiments.

pub mod aligned_springs;
pub mod bending_patch;
pub mod cantilever;
pub mod drape;
pub mod fall;
pub mod forms;
pub mod freefall;
pub mod laws;
pub mod patch;
pub mod same_bits;
pub mod solver;
