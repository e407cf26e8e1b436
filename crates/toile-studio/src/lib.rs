//! The studio: live cloth in a browser.
//!
//! | module | what |
//! |---|---|
//! | [`assets`] | files of the page, carried inside the program |
//! | [`protocol`] | what page and server say to each other |
//! | [`wire`] | geometry as bytes |
//! | [`live`] | a scene that people change while it moves: edits in, the same cloth for the same edits, no clock |

pub mod assets;
pub mod live;
pub mod protocol;
pub mod wire;
