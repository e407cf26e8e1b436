//! The cloth engine.
pub mod collide;
pub mod mesh;
