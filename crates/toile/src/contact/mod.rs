//! Cloth against cloth and bodies: what pushes them apart, and what never lets them through.

mod balance;
mod crossing;
mod drawn;
pub mod filter;
pub mod gauges;
mod heirs;
pub mod meeting;
pub mod response;
pub mod settings;
pub mod space;
pub mod tangle;
mod untangle;

pub use heirs::Touch;
pub use meeting::{Meeting, Outing, Release, TooLong};
pub use settings::{ContactSettings, Friction, Response};
pub use tangle::{Tangle, Tangles};
