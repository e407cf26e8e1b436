//! The cloth engine.
pub mod collide;
pub mod drive;
pub mod error;
pub mod forces;
pub mod interaction;
pub mod math;
pub mod mesh;
pub mod model;
pub mod probe;
pub mod solve;
pub mod state;
mod step;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod world;
