//! Scene files, meshes and caches: the only crate that knows bytes.
pub mod atomic;
pub mod axes;
pub mod build;
pub mod container;
pub mod error;
pub mod obj;
pub mod scene;
