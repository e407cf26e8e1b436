//! Detection and certification.
pub mod certify;
