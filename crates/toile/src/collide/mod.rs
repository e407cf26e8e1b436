//! Detection and certification.
//!
//! Detection takes surfaces in motion and reports features that are close: each pair once, sorted, the same bits on any
//! number of threads. In the order of a step:
//!
//! By default, over patches of sixteen faces:
//!
//! 1. `patches` holds them (`partition` cut them) and gives their faces, edges and vertices boxes in f32, eight side by side
//!    (`lanes`), inflated by the contact distance and their motion.
//! 2. `meet` walks down to pairs of patches, leaves out those that a slab keeps apart, and compares the boxes of their
//!    features.
//! 3. `cull` drops what is surely apart, four pairs at a time; [`proximity`] computes the closest points of the rest; `engine`
//!    sorts what was found.
//!
//! Over M03's trees, for the questions that patches do not answer, and as a second opinion:
//!
//! 1. `object` gives every vertex and face a box ([`kdop`]) that holds everything it may touch, inflated by the
//!    contact distance and its motion ([`cones`]); [`tree`] joins them upwards, block by block ([`build`] made the tree).
//! 2. [`flatness`] finds the parts of a surface that cannot meet themselves ([`contour`] for the exact criterion).
//! 3. `traverse` walks down pairs of trees, four children at a time ([`quad`]), to pairs of faces; a plane between
//!    them (`apart`) or boxes of features end most of these.
//! 4. [`proximity`] computes closest points ([`gjk`] those of polygons); `engine` sorts what was found.
//!
//! [`level`] shows what a hierarchy looks like. [`coherence`] starts from the step before. [`brute`] is the oracle, [`trial`] compares the two on random scenes.
//! [`collider`] holds the bodies that cloth meets, [`ccd`] settles what happens between two places of a pair.
//! [`certify`] is the exact checker and shares nothing with any of this.

mod apart;
pub mod brute;
pub mod build;
pub mod ccd;
pub mod certify;
pub mod coherence;
pub mod collider;
pub mod cones;
pub mod contour;
mod cull;
pub mod detect;
mod engine;
pub mod flatness;
pub mod gjk;
pub mod kdop;
mod lanes;
pub mod level;
mod meet;
mod object;
mod partition;
mod patches;
pub mod proximity;
pub mod quad;
pub mod shell;
mod traverse;
pub mod tree;
pub mod trial;

pub use coherence::Tracking;
pub use detect::{
    Contact, Counters, DetectError, Detector, Features, Inflation, Kind, Motion, Query, Report, Search,
    Settings,
};
pub use flatness::Curvature;
pub use kdop::Dop;
pub use shell::{Role, Shell};

#[cfg(test)]
mod tests;
