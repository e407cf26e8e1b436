//! The studio: live cloth in a browser.
//!
//! | module | what |
//! |---|---|
//! | [`protocol`] | what page and server say to each other |
//! | [`typescript`] | the same for the page |
//! | [`wire`] | geometry as bytes |
//! | [`live`] | a scene that people change while it moves: edits in, the same cloth for the same edits, no clock |

pub mod live;
pub mod protocol;
pub mod typescript;
pub mod wire;
