//! The experiments.

pub mod aligned_springs;
pub mod bending_patch;
pub mod cantilever;
pub mod catenary;
pub mod fall;
pub mod forms;
pub mod freefall;
pub mod integrators;
pub mod laws;
pub mod orders;
pub mod patch;
pub mod pendulum;
pub mod same_bits;
pub mod solver;
pub mod strip_modes;
