//! The benchmarks.

pub mod check;
pub mod detect;
pub mod hang;
