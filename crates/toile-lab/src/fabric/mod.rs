//! A small textile laboratory: from raw readings to a fabric, and curves to look at.

mod charts;
mod describe;
mod fit;

pub use charts::{panels, read_panels};
pub use describe::{Described, describe};
pub use fit::{Fitted, Found, fit};

/// Standard gravity [m/s²].
pub const GRAVITY: f64 = 9.80665;

#[cfg(test)]
mod tests;
