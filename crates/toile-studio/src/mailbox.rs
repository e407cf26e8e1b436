//! What waits to be sent to one page.
//!
//! Nothing here grows with time: of everything that is replaced by its successor (scene, panels, room, figures, frames)
//! only the newest waits, at most [`CREDITS`] frames are under way, and the queue of answers is bounded. A page that
//! reads nothing therefore costs two frames and [`QUEUE_BYTES`]; one that lets its answers overflow is let go.

use crate::protocol::{Format, FromServer, Scalar};
use crate::show::{Picture, Stage};
use axum::body::Bytes;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Most frames that are sent and not acknowledged.
pub const CREDITS: usize = 2;
/// Most answers that wait.
const QUEUE: usize = 1024;
/// Most bytes of answers that wait.
pub const QUEUE_BYTES: usize = 1 << 20;

/// Close codes of WebSockets that the studio uses.
pub mod code {
    /// The server ends.
    pub const AWAY: u16 = 1001;
    /// Something that is not text came.
    pub const NOT_TEXT: u16 = 1003;
    /// Too many messages, or not what was asked for.
    pub const POLICY: u16 = 1008;
    /// A message was too large.
    pub const TOO_BIG: u16 = 1009;
    /// The page reads too slowly, or not at all.
    pub const LATER: u16 = 1013;
}

/// Something to send.
#[derive(Debug)]
pub enum Parcel {
    /// A text message.
    Text(Arc<str>),
    /// A binary message.
    Binary(Bytes),
    /// The end, with code and reason.
    Close(u16, String),
}

/// What waits for one page.
pub struct Mailbox {
    format: Format,
    inside: Mutex<Inside>,
    ready: Notify,
}

#[derive(Default)]
struct Inside {
    answers: VecDeque<Arc<str>>,
    answer_bytes: usize,
    scene: Option<Arc<Stage>>,
    /// Second half of a scene whose text is sent.
    key: Option<Bytes>,
    panels: Option<Arc<str>>,
    room: Option<Arc<str>>,
    stats: Option<Arc<str>>,
    frame: Option<(Arc<Picture>, bool)>,
    scalar: Option<Scalar>,
    contacts: bool,
    serial: u32,
    /// Serial numbers and sizes of frames under way.
    unacknowledged: VecDeque<(u32, usize)>,
    end: Option<(u16, String)>,
    ended: bool,
}

impl Mailbox {
    /// An empty one for a page that wants places in `format`.
    pub fn new(format: Format) -> Mailbox {
        Mailbox { format, inside: Mutex::default(), ready: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        // Nothing here is left half done, whoever panicked.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, change: impl FnOnce(&mut Inside)) {
        change(&mut self.lock());
        self.ready.notify_one();
    }

    /// An answer: none is lost; a page that lets too many wait is let go.
    pub fn answer(&self, message: &FromServer) {
        let text = text_of(message);
        self.put(|inside| {
            inside.answer_bytes += text.len();
            inside.answers.push_back(text);
            if inside.answers.len() > QUEUE || inside.answer_bytes > QUEUE_BYTES {
                inside.answers.clear();
                inside.answer_bytes = 0;
                let reason = "this page does not read what it is told; open it again";
                inside.end.get_or_insert((code::LATER, reason.into()));
            }
        });
    }

    /// The scene; frames of another one are dropped.
    pub fn scene(&self, stage: &Arc<Stage>) {
        self.put(|inside| {
            inside.scene = Some(Arc::clone(stage));
            inside.key = None;
            inside.frame = None;
        });
    }

    /// The panels.
    pub fn panels(&self, text: &Arc<str>) {
        self.put(|inside| inside.panels = Some(Arc::clone(text)));
    }

    /// Who does what.
    pub fn room(&self, text: &Arc<str>) {
        self.put(|inside| inside.room = Some(Arc::clone(text)));
    }

    /// Figures of the newest frame.
    pub fn stats(&self, text: &Arc<str>) {
        self.put(|inside| inside.stats = Some(Arc::clone(text)));
    }

    /// The newest frame: it takes the place of one that still waits.
    pub fn frame(&self, picture: &Arc<Picture>, recorded: bool) {
        self.put(|inside| inside.frame = Some((Arc::clone(picture), recorded)));
    }

    /// What frames shall say besides places.
    pub fn show(&self, scalar: Scalar, contacts: bool) {
        let mut inside = self.lock();
        inside.scalar = (scalar != Scalar::None).then_some(scalar);
        inside.contacts = contacts;
    }

    /// What frames say besides places.
    pub fn shown(&self) -> (Option<Scalar>, bool) {
        let inside = self.lock();
        (inside.scalar, inside.contacts)
    }

    /// A frame was drawn, and so were those before it.
    pub fn acknowledge(&self, serial: u32) {
        self.put(|inside| {
            if inside.unacknowledged.iter().any(|(sent, _)| *sent == serial) {
                while inside.unacknowledged.pop_front().is_some_and(|(sent, _)| sent != serial) {}
            }
        });
    }

    /// Ends the connection after what waits now, with code and reason.
    pub fn close(&self, code: u16, reason: &str) {
        self.put(|inside| {
            inside.end.get_or_insert((code, reason.into()));
        });
    }

    /// Bytes that this page alone keeps busy: frames under way and answers. What waits besides is shared with the room.
    pub fn held(&self) -> usize {
        let inside = self.lock();
        inside.unacknowledged.iter().map(|(_, bytes)| bytes).sum::<usize>() + inside.answer_bytes
    }

    /// What to send next, when there is something.
    pub async fn next(&self) -> Parcel {
        loop {
            if let Some(parcel) = self.take() {
                return parcel;
            }
            self.ready.notified().await;
        }
    }

    /// What to send next, or nothing: answers, then the scene, then what hangs on it, then a frame if there is credit.
    pub fn take(&self) -> Option<Parcel> {
        let mut inside = self.lock();
        if let Some(text) = inside.answers.pop_front() {
            inside.answer_bytes -= text.len();
            return Some(Parcel::Text(text));
        }
        if let Some((code, reason)) = inside.end.clone().filter(|_| !inside.ended) {
            inside.ended = true;
            return Some(Parcel::Close(code, reason));
        }
        if inside.ended {
            return None;
        }
        if let Some(key) = inside.key.take() {
            return Some(Parcel::Binary(key));
        }
        if let Some(stage) = inside.scene.take() {
            inside.key = Some(stage.key.clone());
            return Some(Parcel::Text(Arc::clone(&stage.text)));
        }
        let Inside { panels, room, stats, .. } = &mut *inside;
        if let Some(text) = panels.take().or_else(|| room.take()).or_else(|| stats.take()) {
            return Some(Parcel::Text(text));
        }
        if inside.unacknowledged.len() >= CREDITS {
            return None;
        }
        let (picture, recorded) = inside.frame.take()?;
        let serial = inside.serial;
        inside.serial = serial.wrapping_add(1);
        let (scalar, contacts) = (inside.scalar, inside.contacts);
        // Counted before it is made, so that nobody takes a third meanwhile.
        let size = picture.size(self.format, scalar, contacts);
        inside.unacknowledged.push_back((serial, size));
        drop(inside);
        Some(Parcel::Binary(picture.encode(serial, self.format, scalar, contacts, recorded).into()))
    }
}

/// A message as text.
pub fn text_of(message: &FromServer) -> Arc<str> {
    match serde_json::to_string(message) {
        Ok(text) => text.into(),
        // No type of the protocol can fail to be written; a page still gets something it can read.
        Err(error) => format!(r#"{{"say":"note","level":"error","text":{:?}}}"#, error.to_string()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Level;

    fn picture(tick: u64) -> Arc<Picture> {
        Arc::new(Picture { revision: 1, tick, time: 0.0, objects: Vec::new(), contacts: None })
    }

    fn tick_of(parcel: Option<Parcel>) -> Option<u8> {
        match parcel {
            Some(Parcel::Binary(bytes)) => Some(bytes[12]),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn two_frames_are_under_way_and_the_newest_waits() {
        let mailbox = Mailbox::new(Format::F32);
        for tick in 0..2 {
            mailbox.frame(&picture(tick), false);
            assert_eq!(tick_of(mailbox.take()), Some(tick as u8));
        }
        for tick in 2..100 {
            mailbox.frame(&picture(tick), false);
            assert!(mailbox.take().is_none());
        }
        assert_eq!(mailbox.held(), 2 * 36);
        mailbox.acknowledge(7);
        assert!(mailbox.take().is_none(), "that was never sent");
        mailbox.acknowledge(1);
        assert_eq!(tick_of(mailbox.take()), Some(99));
        assert!(mailbox.take().is_none());
    }

    #[test]
    fn answers_that_nobody_reads_end_the_page() {
        let mailbox = Mailbox::new(Format::F32);
        let note = FromServer::Note { level: Level::Info, text: "x".repeat(1000) };
        for _ in 0..2000 {
            mailbox.answer(&note);
            assert!(mailbox.held() <= QUEUE_BYTES + 1100);
        }
        let ends = std::iter::from_fn(|| mailbox.take()).any(|p| matches!(p, Parcel::Close(code::LATER, _)));
        assert!(ends);
    }
}
