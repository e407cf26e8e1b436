//! Suites that new laws can be held to, exported behind the feature `testing`.

pub mod conformance;
pub mod eigen;
pub mod hostile;
pub mod laws;
pub mod solvers;
pub mod tangles;
