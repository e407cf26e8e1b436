//! A server, pages and plain requests for tests.
#![allow(dead_code, missing_docs, reason = "each test file uses its part, and tests have no readers outside")]

use futures_util::{SinkExt, StreamExt};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use toile_io::scene::{Scene, resolve};
use toile_studio::protocol::{Edit, Format, FromPage, FromServer, PROTOCOL, RoomInfo, Scalar, Stats};
use toile_studio::server::{Options, Server};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// Long enough for any machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A sheet of 5 × 5 vertices held by one border.
pub fn tiny() -> Scene {
    let source = resolve("hang").expect("built in");
    Scene::open(&source, &["cloth.sheet.shape.resolution=4"]).expect("a scene")
}

pub fn start(change: impl FnOnce(&mut Options)) -> Server {
    let mut options = Options::new(tiny());
    change(&mut options);
    Server::start(options).expect("a server")
}

/// An answer to a plain request.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Sends bytes as they are and reads the answer.
pub fn raw(server: &Server, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(server.address()).expect("connect");
    stream.set_read_timeout(Some(PATIENCE)).expect("timeout");
    // A server that refuses early may close before everything is written.
    let _ = stream.write_all(request);
    let mut bytes = Vec::new();
    let mut buffer = [0; 65536];
    let mut end = None;
    loop {
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
            let length = head
                .lines()
                .find_map(|l| l.to_lowercase().strip_prefix("content-length: ")?.parse::<usize>().ok());
            end = Some(at + 4 + length.unwrap_or(0));
        }
        if end.is_some_and(|end| bytes.len() >= end) {
            break;
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
        }
    }
    let at = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or(bytes.len());
    let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    Answer { status, head, body: bytes.get(at + 4..).unwrap_or_default().to_vec() }
}

/// A request with the right host and these lines besides.
pub fn get(server: &Server, path: &str, lines: &[String]) -> Answer {
    let host = server.address();
    let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    raw(server, format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n").as_bytes())
}

pub fn bearer(server: &Server) -> String {
    format!("Authorization: Bearer {}", server.token())
}

pub fn origin(server: &Server) -> String {
    format!("Origin: http://{}", server.address())
}

pub fn post(server: &Server, path: &str, body: &[u8]) -> Answer {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\n{}\r\n{}\r\nContent-Length: {}\r\n\r\n",
        server.address(),
        bearer(server),
        origin(server),
        body.len()
    );
    raw(server, &[head.as_bytes(), body].concat())
}

/// What a page hears.
#[derive(Debug)]
pub enum Heard {
    Said(FromServer),
    Key { revision: u32 },
    Frame(Frame),
    Closed(Option<u16>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub serial: u32,
    pub revision: u32,
    pub tick: u64,
    pub flags: u32,
    pub bytes: Vec<u8>,
}

/// A page in a room.
pub struct Page {
    pub socket: WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>,
    pub you: u32,
    next: u32,
}

pub async fn connect(
    server: &Server,
    room: &str,
) -> Result<WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>, Error> {
    let address = server.address();
    let mut request = format!("ws://{address}/ws/{room}").into_client_request().expect("request");
    let headers = request.headers_mut();
    headers.insert("Authorization", format!("Bearer {}", server.token()).parse().expect("header"));
    headers.insert("Origin", format!("http://{address}").parse().expect("header"));
    connect_async(request).await.map(|(socket, _)| socket)
}

impl Page {
    pub async fn join(server: &Server, room: &str, format: Format) -> Page {
        let socket = connect(server, room).await.expect("connect");
        let mut page = Page { socket, you: 0, next: 1 };
        page.say(&FromPage::Hello { protocol: PROTOCOL, format, name: "test".into() }).await;
        page.you = page
            .until(|said| match said {
                FromServer::Welcome { you, .. } => Some(*you),
                _ => None,
            })
            .await;
        page
    }

    pub async fn say(&mut self, message: &FromPage) {
        self.text(&serde_json::to_string(message).expect("json")).await;
    }

    pub async fn text(&mut self, text: &str) {
        self.socket.send(Message::text(text)).await.expect("send");
    }

    pub async fn edit(&mut self, edit: Edit) -> u32 {
        let id = self.next;
        self.next += 1;
        self.say(&FromPage::Edit { id, edit }).await;
        id
    }

    pub async fn show(&mut self, scalar: Scalar, contacts: bool) {
        self.say(&FromPage::Show { scalar, contacts }).await;
    }

    /// The next message, whatever it is.
    pub async fn hear(&mut self) -> Heard {
        loop {
            let message =
                tokio::time::timeout(PATIENCE, self.socket.next()).await.expect("a message in time");
            match message {
                Some(Ok(Message::Text(text))) => {
                    return Heard::Said(serde_json::from_str(&text).expect("a message of the protocol"));
                }
                Some(Ok(Message::Binary(bytes))) => return binary(&bytes),
                Some(Ok(Message::Close(frame))) => {
                    return Heard::Closed(frame.map(|frame| frame.code.into()));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Heard::Closed(None),
            }
        }
    }

    /// Waits for something that is said; acknowledges frames on the way.
    pub async fn until<T>(&mut self, mut wanted: impl FnMut(&FromServer) -> Option<T>) -> T {
        loop {
            match self.hear().await {
                Heard::Said(said) => {
                    if let Some(found) = wanted(&said) {
                        return found;
                    }
                }
                Heard::Frame(frame) => self.say(&FromPage::Ack { serial: frame.serial }).await,
                Heard::Key { .. } => {}
                Heard::Closed(code) => panic!("closed with {code:?}"),
            }
        }
    }

    /// The next frame, acknowledged.
    pub async fn frame(&mut self) -> Frame {
        loop {
            match self.hear().await {
                Heard::Frame(frame) => {
                    self.say(&FromPage::Ack { serial: frame.serial }).await;
                    return frame;
                }
                Heard::Closed(code) => panic!("closed with {code:?}"),
                _ => {}
            }
        }
    }

    pub async fn stats(&mut self, tick: u64) -> Stats {
        self.until(|said| match said {
            FromServer::Stats(stats) if stats.tick >= tick => Some(stats.clone()),
            _ => None,
        })
        .await
    }

    pub async fn room(&mut self, mut fits: impl FnMut(&RoomInfo) -> bool) -> RoomInfo {
        self.until(|said| match said {
            FromServer::Room(room) if fits(room) => Some(room.clone()),
            _ => None,
        })
        .await
    }

    /// Whether an edit was refused.
    pub async fn answer(&mut self, id: u32) -> Option<String> {
        self.until(|said| match said {
            FromServer::Edited { id: named, error, .. } if *named == id => Some(error.clone()),
            _ => None,
        })
        .await
    }

    /// The code that the connection is closed with.
    pub async fn closed(&mut self) -> Option<u16> {
        loop {
            if let Heard::Closed(code) = self.hear().await {
                return code;
            }
        }
    }
}

fn binary(bytes: &[u8]) -> Heard {
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    assert_eq!(bytes[1], 1, "version");
    match bytes[0] {
        1 => Heard::Key { revision: word(4) },
        2 => Heard::Frame(Frame {
            serial: word(4),
            revision: word(8),
            tick: u64::from(word(12)) | u64::from(word(16)) << 32,
            flags: word(20),
            bytes: bytes.to_vec(),
        }),
        other => panic!("a binary message of kind {other}"),
    }
}

/// Numbers without a pattern, the same every time.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
