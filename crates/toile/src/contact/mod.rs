//! Cloth against cloth and bodies: what pushes them apart, and what never lets them through.

pub mod settings;

pub use settings::{ContactSettings, Friction, Response};
