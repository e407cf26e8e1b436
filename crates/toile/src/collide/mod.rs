//! Detection and certification.
pub mod ccd;
pub mod certify;
pub mod collider;
