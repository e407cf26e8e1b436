//! The benchmarks.

pub mod check;
pub mod contact;
pub mod detect;
pub mod hang;
pub mod studio;
