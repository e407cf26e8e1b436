//! One page: what it says goes to its room, what its mailbox holds goes to it.

use super::{Limits, Shared};
use crate::mailbox::{Mailbox, Parcel, code};
use crate::protocol::{FromPage, FromServer, Level, PROTOCOL};
use crate::rooms::Order;
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{interval, timeout};

/// Kibibytes of messages of one page that may wait for its room; each counts for one at least.
const WAITING: usize = 2048;
/// How long one message may take to go out.
const SENDING: Duration = Duration::from_secs(30);
/// How long a page may take to hear that it is closed.
const PARTING: Duration = Duration::from_millis(500);

/// Serves a page until it goes.
pub async fn serve(socket: WebSocket, room: String, shared: Arc<Shared>) {
    let (mut sink, mut stream) = socket.split();
    let limits = shared.limits;
    let mut bucket = Bucket::new(&limits);
    let (mailbox, name) = match timeout(limits.hello, hello(&mut stream, &mut bucket)).await {
        Ok(Ok(greeting)) => greeting,
        Ok(Err((code, reason))) => return close(&mut sink, code, &reason).await,
        Err(_) => return close(&mut sink, code::POLICY, "nothing was said; begin with hello").await,
    };
    let (reply, you) = oneshot::channel();
    let joined = shared.rooms.tell(&room, Order::Join { name, mailbox: Arc::clone(&mailbox), reply });
    let you = match (joined, you.await) {
        (true, Ok(you)) => you,
        _ => return close(&mut sink, code::LATER, "the room has just ended; open it again").await,
    };
    let heard = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    let mut writer = tokio::spawn(write(sink, Arc::clone(&mailbox), limits, Arc::clone(&heard), begun));
    let page = Page { you, room: &room, shared: &shared, mailbox: &mailbox, heard: &heard, begun };
    let (broke, written) = tokio::select! {
        broke = page.read(&mut stream, &mut bucket) => (broke, false),
        _ = &mut writer => (false, true),
    };
    shared.rooms.tell(&room, Order::Leave(you));
    mailbox.close(code::AWAY, "");
    if !written && timeout(Duration::from_secs(2), &mut writer).await.is_err() {
        writer.abort();
    }
    // Closing at once while the page still sends would lose our last word on the way.
    let rest = async { while let Some(Ok(_)) = stream.next().await {} };
    let _ = timeout(PARTING, rest).await;
    if broke {
        tokio::time::sleep(PARTING).await;
    }
}

type End = (u16, String);

/// The first message.
async fn hello(
    stream: &mut SplitStream<WebSocket>,
    bucket: &mut Bucket,
) -> Result<(Arc<Mailbox>, String), End> {
    loop {
        let text = match stream.next().await {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {
                bucket.take()?;
                continue;
            }
            Some(Ok(Message::Binary(_))) => return Err((code::NOT_TEXT, "begin with hello".into())),
            Some(Err(error)) => return Err(end_of(&error)),
            Some(Ok(Message::Close(_))) | None => return Err((code::AWAY, String::new())),
        };
        return match serde_json::from_str(&text) {
            Ok(FromPage::Hello { protocol: PROTOCOL, format, name }) => {
                Ok((Arc::new(Mailbox::new(format)), name))
            }
            Ok(FromPage::Hello { protocol, .. }) => Err((
                code::POLICY,
                format!("the page speaks protocol {protocol}, the server {PROTOCOL}; load it again"),
            )),
            _ => Err((code::POLICY, "begin with hello".into())),
        };
    }
}

/// A page that is in its room.
struct Page<'a> {
    you: u32,
    room: &'a str,
    shared: &'a Shared,
    mailbox: &'a Arc<Mailbox>,
    heard: &'a AtomicU64,
    begun: Instant,
}

impl Page<'_> {
    /// Hears the page out until it goes or misbehaves; whether it still sends what cannot be read.
    async fn read(&self, stream: &mut SplitStream<WebSocket>, bucket: &mut Bucket) -> bool {
        let waiting = Arc::new(Semaphore::new(WAITING));
        while let Some(message) = stream.next().await {
            let message = match message {
                Ok(message) => message,
                Err(error) => {
                    let (code, reason) = end_of(&error);
                    self.mailbox.close(code, &reason);
                    return true;
                }
            };
            if let Err((code, reason)) = bucket.take() {
                self.mailbox.close(code, &reason);
                break;
            }
            match message {
                Message::Text(text) => match serde_json::from_str(&text) {
                    // The room need not know: credit is between page and mailbox.
                    Ok(FromPage::Ack { serial }) => self.mailbox.acknowledge(serial),
                    Ok(message) => {
                        let cost = (text.len() / 1024 + 1).min(WAITING) as u32;
                        let Ok(permit) = Arc::clone(&waiting).acquire_many_owned(cost).await else { break };
                        if !self.shared.rooms.tell(self.room, Order::Say(self.you, message, permit)) {
                            self.mailbox.close(code::AWAY, "the room has ended; open it again");
                            break;
                        }
                    }
                    Err(error) => {
                        let text = format!("a message is not understood: {error}; load the page again");
                        self.mailbox.answer(&FromServer::Note { level: Level::Error, text });
                    }
                },
                Message::Binary(_) => {
                    self.mailbox.close(code::NOT_TEXT, "pages speak in text");
                    break;
                }
                Message::Pong(_) => {
                    self.heard.store(self.begun.elapsed().as_millis() as u64, Ordering::Relaxed);
                }
                Message::Ping(_) => {}
                Message::Close(_) => break,
            }
        }
        false
    }
}

/// Sends what the mailbox holds, and asks now and then whether anybody is there.
async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mailbox: Arc<Mailbox>,
    limits: Limits,
    heard: Arc<AtomicU64>,
    begun: Instant,
) {
    let mut beat = interval(limits.ping);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            parcel = mailbox.next() => match parcel {
                Parcel::Text(text) => Message::text(&*text),
                Parcel::Binary(bytes) => Message::Binary(bytes),
                Parcel::Close(code, reason) => return close(&mut sink, code, &reason).await,
            },
            _ = beat.tick() => {
                let silence = begun.elapsed().saturating_sub(Duration::from_millis(heard.load(Ordering::Relaxed)));
                if silence > limits.silence {
                    return close(&mut sink, code::LATER, "nobody answered; open the page again").await;
                }
                Message::Ping(Vec::new().into())
            }
        };
        match timeout(SENDING.min(limits.silence), sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
    }
}

async fn close(sink: &mut SplitSink<WebSocket, Message>, code: u16, reason: &str) {
    // A reason has at most 123 bytes.
    let mut end = reason.len().min(120);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    let frame = CloseFrame { code, reason: reason[..end].into() };
    // Whoever does not read this is closed anyway.
    let _ = timeout(Duration::from_secs(2), sink.send(Message::Close(Some(frame)))).await;
}

/// What an error of the connection means.
fn end_of(error: &axum::Error) -> End {
    let text = error.to_string();
    if text.contains("too long") || text.contains("Space limit") {
        return (code::TOO_BIG, "a message is larger than 1 MiB; send meshes by POST /api/meshes".into());
    }
    (code::POLICY, "the connection broke the rules of WebSockets".into())
}

/// Lets so many messages through per second, and some at once.
struct Bucket {
    tokens: f64,
    rate: f64,
    burst: f64,
    last: Instant,
}

impl Bucket {
    fn new(limits: &Limits) -> Bucket {
        Bucket { tokens: limits.burst, rate: limits.rate, burst: limits.burst, last: Instant::now() }
    }

    fn take(&mut self) -> Result<(), End> {
        let now = Instant::now();
        self.tokens = (self.tokens + self.rate * (now - self.last).as_secs_f64()).min(self.burst) - 1.0;
        self.last = now;
        if self.tokens >= 0.0 {
            return Ok(());
        }
        Err((code::POLICY, format!("more than {} messages a second; send fewer", self.rate)))
    }
}
