//! The studio: live cloth in a browser.
//!
//! | module | what |
//! |---|---|
//! | [`protocol`] | what page and server say to each other |
//! | [`typescript`] | the same for the page |
//! | [`wire`] | geometry as bytes |
//! | [`live`] | a scene that people change while it moves: edits in, the same cloth for the same edits, no clock |
//! | [`show`] | a live scene as pages see it, and the verdict on it |
//! | [`recording`] | the log that makes a session again, and the frames that can be shown again |
//! | [`mailbox`] | what waits for one page: bounded, the newest wins |
//! | [`room`] | a live scene and the people who share it, without a thread |
//! | [`rooms`] | rooms on their own threads, paced |
//! | [`gallery`] | cards and pictures of the built-in scenes |
//! | [`assets`] | the page's files |
//! | [`server`] | HTTP and WebSockets, and who may use them |

pub mod assets;
pub mod gallery;
pub mod live;
pub mod mailbox;
pub mod protocol;
pub mod recording;
pub mod room;
pub mod rooms;
pub mod server;
pub mod show;
pub mod typescript;
pub mod wire;
mod words;
