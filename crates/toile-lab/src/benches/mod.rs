//! The benchmarks.

pub mod check;
pub mod hang;
