//! The studio: how many frames a second it makes, and how long an edit takes to come back as a frame, for one page, for
//! four, and beside one that reads nothing.
//!
//! The smallest cloth is there to see the way alone: its frames take the engine so little time that what a page waits is
//! the server's doing, and a neighbour that reads nothing would be seen in it.
//!
//! An edit's way back: a hand is dragged and a change that must be refused is sent after it; the answer to that says
//! after which tick both took place, and the first frame after it shows the drag. The time is the page's own, from
//! sending to that frame.
//!
//! Tokens that are wrong are refused as fast whether their first or their last character differs: 10,000 of them, in turn.

use crate::session::{LabError, Session};
use crate::watched::told;
use futures_util::{SinkExt, StreamExt};
use std::io::{Read, Write};
use std::time::{Duration, Instant};
use toile_io::scene::{Scene, resolve};
use toile_studio::protocol::{Edit, Format, FromPage, FromServer, Level, PROTOCOL};
use toile_studio::server::{Options, Server};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// How long each case is watched, or until one edit came back: large cloth takes seconds a frame.
const WATCHED: Duration = Duration::from_secs(5);
/// How long a page waits for anything at all.
const PATIENCE: Duration = Duration::from_secs(240);
/// Wrong tokens of each kind.
const REFUSALS: usize = 5000;
/// A hand that holds nothing: what it does is refused, and the refusal says when.
const NO_HAND: u32 = 15;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let mut rows = Vec::new();
    for resolution in [16, 70, 141, 223] {
        let set = format!("cloth.sheet.shape.resolution={resolution}");
        let scene = told(Scene::open(&told(resolve("hang"))?, &[&set]))?;
        let mut options = Options::new(scene);
        // A page that reads nothing answers no ping either; here it is to be watched, not let go.
        options.limits.silence = PATIENCE;
        let server = Server::start(options).map_err(LabError)?;
        for (label, pages, stalled) in
            [("1 page", 1, false), ("4 pages", 4, false), ("4 pages and one that reads nothing", 4, true)]
        {
            // Large cloth takes so long a frame that two cases say enough.
            if resolution > 100 && pages == 4 && !stalled && !session.full {
                continue;
            }
            let seen = runtime.block_on(watch(&server, pages, stalled));
            let seen =
                seen.map_err(|error| LabError(format!("resolution {resolution}, {label}: {error}")))?;
            let name = format!("{} vertices, {label}", seen.vertices);
            session.info(format!("{name}: frames simulated per second"), seen.rate, "1/s");
            session.at_least(
                format!("{name}: edits that came back as frames"),
                seen.ways.len() as f64,
                "",
                1.0,
            );
            session.time(format!("{name}: from a drag to the frame that shows it"), "ms", &seen.ways);
            session.time(format!("{name}: between two frames of a page"), "ms", &seen.gaps);
            if let Some((frames, held)) = seen.stalled {
                let frame = 44 + 12 * seen.vertices;
                let bound = (2 * frame + (1 << 20)) as f64;
                session.at_most(format!("{name}: bytes held for that one"), held as f64, "B", bound);
                session.at_most(format!("{name}: frames sent to that one"), frames as f64, "", 2.0);
            }
            rows.push(format!(
                "{},{pages},{},{},{},{}",
                seen.vertices,
                u8::from(stalled),
                seen.rate,
                middle(&seen.ways),
                middle(&seen.gaps)
            ));
        }
    }
    let server =
        Server::start(Options::new(told(Scene::open(&told(resolve("hang"))?, &[]))?)).map_err(LabError)?;
    let [first, last] = refusals(&server)?;
    session.time("a token whose first character is wrong: refused after", "µs", &first);
    session.time("a token whose last character is wrong: refused after", "µs", &last);
    session.info("medians of these, last over first", middle(&last) / middle(&first), "");
    session.note("frames are made as fast as they can be, at most eight times as fast as they pass");
    session.csv(
        "studio",
        "vertices,pages,stalled,frames per second,ms from drag to frame,ms between frames",
        &rows,
    )
}

fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Microseconds until wrong tokens are refused, by turns: those whose first and those whose last character is wrong.
fn refusals(server: &Server) -> Result<[Vec<f64>; 2], LabError> {
    let other = |c: u8| if c == b'0' { b'1' } else { b'0' };
    let wrong = |at: usize| {
        let mut token = server.token().as_bytes().to_vec();
        token[at] = other(token[at]);
        let address = server.address();
        let head = format!("GET /api/scenes HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer ");
        [head.as_bytes(), &token, b"\r\n\r\n"].concat()
    };
    let requests = [wrong(0), wrong(server.token().len() - 1)];
    let mut stream = std::net::TcpStream::connect(server.address())?;
    stream.set_nodelay(true)?;
    let (mut times, mut answer) = ([Vec::new(), Vec::new()], Vec::new());
    for round in 0..REFUSALS {
        for turn in 0..2 {
            // Neither is always the one that comes after the other.
            let kind = (round + turn) % 2;
            let sent = Instant::now();
            stream.write_all(&requests[kind])?;
            answer.clear();
            let mut chunk = [0; 4096];
            while !whole(&answer) {
                match stream.read(&mut chunk)? {
                    0 => return Err(LabError("the server closed instead of refusing".into())),
                    n => answer.extend_from_slice(&chunk[..n]),
                }
            }
            times[kind].push(1e6 * sent.elapsed().as_secs_f64());
            if !answer.starts_with(b"HTTP/1.1 401 ") {
                return Err(LabError("a wrong token was not refused".into()));
            }
        }
    }
    Ok(times)
}

/// Whether an answer has come with all of its body.
fn whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

/// What was seen in one case.
struct Seen {
    vertices: usize,
    /// Frames simulated per second.
    rate: f64,
    /// Milliseconds from drags to frames.
    ways: Vec<f64>,
    /// Milliseconds between frames.
    gaps: Vec<f64>,
    /// Frames and bytes that are held for the page that reads nothing.
    stalled: Option<(usize, usize)>,
}

async fn watch(server: &Server, pages: usize, stalled: bool) -> Result<Seen, LabError> {
    let silent = if stalled { Some(Page::join(server).await?) } else { None };
    let mut first = Page::join(server).await?;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let mut others = Vec::new();
    for _ in 1..pages {
        others.push(tokio::spawn(Page::join(server).await?.watch(stopped.clone())));
    }
    first.say(&FromPage::Speed { factor: 8.0 }).await?;
    // Far from the border that is held, and moved by centimetres: a hand at work, not a tear.
    let (vertex, [x, y, z]) = first.held;
    let grab = Edit::Grab { hand: 0, object: 0, vertex, to: [x, y, z] };
    first.say(&FromPage::Edit { id: 1, edit: grab }).await?;
    first.say(&FromPage::Play).await?;
    let (begun, mut ways, mut drags) = (Instant::now(), Vec::new(), 0u32);
    // Each drag waits for the frame that shows it.
    let start = (Instant::now(), first.tick);
    while begun.elapsed() < WATCHED || ways.is_empty() {
        drags += 1;
        let to = [x, y + 0.01 * f64::from(drags % 5), z];
        let sent = Instant::now();
        first.say(&FromPage::Edit { id: 2 * drags, edit: Edit::Drag { hand: 0, to } }).await?;
        first.say(&FromPage::Edit { id: 2 * drags + 1, edit: Edit::Release { hand: NO_HAND } }).await?;
        let after = first.edited(2 * drags + 1).await?;
        first.frame_after(after).await?;
        ways.push(1e3 * sent.elapsed().as_secs_f64());
    }
    let rate = (first.tick - start.1) as f64 / start.0.elapsed().as_secs_f64();
    let held = silent.map(|silent| {
        let list = tokio::task::block_in_place(|| server.held("studio"));
        let bytes = list.iter().find(|(you, _)| *you == silent.you).map_or(0, |(_, bytes)| *bytes);
        (bytes / (44 + 12 * first.vertices), bytes)
    });
    // The next case goes on from here.
    first.say(&FromPage::Pause).await?;
    first.say(&FromPage::Edit { id: 0, edit: Edit::Release { hand: 0 } }).await?;
    // Everybody else is still there to hear it.
    let _ = stop.send(true);
    let mut gaps = first.gaps;
    for other in others {
        gaps.extend(told(other.await)?);
    }
    Ok(Seen { vertices: first.vertices, rate, ways, gaps, stalled: held })
}

/// A page.
struct Page {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    you: u32,
    vertices: usize,
    /// A vertex to take hold of, and where it is [m].
    held: (u32, [f64; 3]),
    /// Tick of the newest frame.
    tick: u64,
    seen: Option<Instant>,
    gaps: Vec<f64>,
}

impl Page {
    async fn join(server: &Server) -> Result<Page, LabError> {
        let address = server.address();
        let mut request = told(format!("ws://{address}/ws/studio").into_client_request())?;
        let headers = request.headers_mut();
        headers.insert("Authorization", told(format!("Bearer {}", server.token()).parse())?);
        headers.insert("Origin", told(format!("http://{address}").parse())?);
        let (socket, _) = told(connect_async(request).await)?;
        let held = (0, [0.0; 3]);
        let mut page = Page { socket, you: 0, vertices: 0, held, tick: 0, seen: None, gaps: Vec::new() };
        page.say(&FromPage::Hello { protocol: PROTOCOL, format: Format::F32, name: "bench".into() }).await?;
        while page.vertices == 0 || page.held.0 == 0 {
            match page.hear(false).await? {
                Some(FromServer::Welcome { you, .. }) => page.you = you,
                Some(FromServer::Scene(info)) => {
                    page.vertices = info.objects.iter().map(|object| object.vertices as usize).sum();
                }
                _ => {}
            }
        }
        Ok(page)
    }

    async fn say(&mut self, message: &FromPage) -> Result<(), LabError> {
        told(self.socket.send(Message::text(told(serde_json::to_string(message))?)).await)
    }

    /// What is said next, or nothing if that is geometry; frames are acknowledged if wished.
    async fn hear(&mut self, acknowledge: bool) -> Result<Option<FromServer>, LabError> {
        loop {
            let next = tokio::time::timeout(PATIENCE, self.socket.next()).await;
            let Some(message) = told(next)? else {
                return Err(LabError("the server closed the connection".into()));
            };
            match told(message)? {
                Message::Text(text) => match told(serde_json::from_str(&text))? {
                    FromServer::Note { level: Level::Error, text } => return Err(LabError(text)),
                    said => return Ok(Some(said)),
                },
                Message::Binary(bytes) if bytes.len() >= 36 && bytes[0] == 2 => {
                    let word = |at: usize| {
                        u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
                    };
                    self.tick = u64::from(word(12)) | u64::from(word(16)) << 32;
                    if acknowledge {
                        self.say(&FromPage::Ack { serial: word(4) }).await?;
                    }
                    let now = Instant::now();
                    if let Some(before) = self.seen.replace(now) {
                        self.gaps.push(1e3 * (now - before).as_secs_f64());
                    }
                    return Ok(None);
                }
                Message::Binary(bytes) if bytes.len() > 24 => {
                    let word = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
                    // Three quarters through the sheet, in the middle of its row.
                    let vertices = u32::from_le_bytes(word(12));
                    let row = f64::from(vertices).sqrt() as u32;
                    let vertex = row * (3 * row / 4) + row / 2;
                    let place = [0, 4, 8].map(|k| f32::from_le_bytes(word(24 + 12 * vertex as usize + k)));
                    self.held = (vertex, place.map(f64::from));
                    return Ok(None);
                }
                Message::Close(frame) => return Err(LabError(format!("the server closed: {frame:?}"))),
                _ => {}
            }
        }
    }

    /// The tick after which an edit was made or refused.
    async fn edited(&mut self, id: u32) -> Result<u64, LabError> {
        loop {
            if let Some(FromServer::Edited { id: named, tick, .. }) = self.hear(true).await?
                && named == id
            {
                return Ok(tick);
            }
        }
    }

    async fn frame_after(&mut self, tick: u64) -> Result<(), LabError> {
        while self.tick <= tick {
            self.hear(true).await?;
        }
        Ok(())
    }

    /// Looks on until told to stop; the times between frames.
    async fn watch(mut self, mut stop: tokio::sync::watch::Receiver<bool>) -> Vec<f64> {
        loop {
            tokio::select! {
                heard = self.hear(true) => if heard.is_err() { break },
                _ = stop.changed() => break,
            }
        }
        self.gaps
    }
}
