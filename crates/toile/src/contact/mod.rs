//! Cloth against cloth and bodies: what pushes them apart, and what never lets them through.

mod balance;
pub mod filter;
pub mod gauges;
pub mod meeting;
pub mod response;
pub mod settings;
pub mod space;

pub use meeting::{Meeting, Outing, Release, TooLong, Touch};
pub use settings::{ContactSettings, Friction, Response};
