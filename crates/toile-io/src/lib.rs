//! Scene files, meshes and caches: the only crate that knows bytes.
pub mod atomic;
pub mod axes;
pub mod build;
pub mod cache;
pub mod container;
pub mod convert;
pub mod error;
pub mod obj;
pub mod pc2;
pub mod run;
pub mod scene;
pub mod sequence;
