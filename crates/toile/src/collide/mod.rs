//! Detection and certification.
mod apart;
pub mod brute;
pub mod build;
pub mod certify;
pub mod coherence;
pub mod cones;
pub mod contour;
pub mod detect;
mod engine;
pub mod flatness;
pub mod gjk;
pub mod kdop;
mod object;
pub mod proximity;
pub mod quad;
pub mod surface;
pub mod traverse;
pub mod tree;
pub mod trial;

pub use coherence::Tracking;
pub use detect::{
    Contact, Counters, DetectError, Detector, Features, Inflation, Kind, Motion, Query, Report, Settings,
};
pub use flatness::Curvature;
pub use kdop::Dop;
pub use surface::{Role, Surface};

#[cfg(test)]
mod tests;
