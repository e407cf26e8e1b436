//! Detection and certification.
pub mod build;
pub mod certify;
pub mod cones;
pub mod kdop;
pub mod proximity;
pub mod surface;
pub mod tree;
