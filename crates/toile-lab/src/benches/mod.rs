//! The benchmarks.

pub mod hang;
