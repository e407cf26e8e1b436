//! Generated cloth.
