//! Who may speak to the studio, and what it bears.

mod common;

use common::{PATIENCE, Page, Random, bearer, get, origin, post, raw, start};
use futures_util::SinkExt;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;
use toile_studio::protocol::{Format, FromPage, FromServer};
use toile_studio::server::{Options, Server, token_from};
use tokio_tungstenite::tungstenite::Message;

const ROUTES: [&str; 12] = [
    "/",
    "/r/studio",
    "/assets/index.js",
    "/healthz",
    "/launch",
    "/launch?code=0",
    "/ws/studio",
    "/api/scenes/hang/picture.png",
    "/api/frame.obj",
    "/api/replay",
    "/api/meshes",
    "/nowhere",
];

fn upgrade(server: &Server, lines: &[String]) -> u16 {
    let mut all = vec![
        bearer(server),
        "Connection: Upgrade".into(),
        "Upgrade: websocket".into(),
        "Sec-WebSocket-Version: 13".into(),
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==".into(),
    ];
    all.extend_from_slice(lines);
    get(server, "/ws/studio", &all).status
}

#[test]
fn sockets_open_for_our_own_page_only() {
    let server = start(|_| {});
    let address = server.address();
    assert_eq!(upgrade(&server, &[]), 403);
    let foreign = [
        "null".to_string(),
        "http://evil.example".into(),
        format!("https://{address}"),
        format!("http://{address}.evil.example"),
        format!("http://evil@{address}"),
        format!("HTTP://{address}"),
        format!("http://{address}/"),
        "http://127.0.0.1".into(),
        format!("http://localhost:{}", address.port()),
    ];
    for origin in foreign {
        assert_eq!(upgrade(&server, &[format!("Origin: {origin}")]), 403, "{origin}");
    }
    assert_eq!(upgrade(&server, &[origin(&server)]), 101);
}

#[test]
fn posts_need_our_own_origin_too() {
    let server = start(|_| {});
    for origin in ["", "Origin: null\r\n", "Origin: http://evil.example\r\n"] {
        let head = format!(
            "POST /api/meshes HTTP/1.1\r\nHost: {}\r\n{}\r\n{origin}Content-Length: 0\r\n\r\n",
            server.address(),
            bearer(&server)
        );
        assert_eq!(raw(&server, head.as_bytes()).status, 403, "{origin}");
    }
}

#[test]
fn foreign_hosts_are_refused_on_every_route() {
    let server = start(|_| {});
    let (port, token) = (server.address().port(), bearer(&server));
    for path in ROUTES {
        for host in [
            "evil.example".to_string(),
            format!("evil.example:{port}"),
            "127.0.0.1".into(),
            format!("127.0.0.1:{}", port.wrapping_add(1)),
            format!("127.0.0.1.evil.example:{port}"),
            format!("127.0.0.2:{port}"),
            format!("[::1]:{port}"),
            String::new(),
        ] {
            let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{token}\r\n\r\n");
            assert_eq!(raw(&server, request.as_bytes()).status, 403, "{path} as {host}");
        }
        let twice = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: evil\r\n{token}\r\n\r\n");
        assert!([400, 403].contains(&raw(&server, twice.as_bytes()).status), "{path}");
        let absolute = format!("GET http://evil{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{token}\r\n\r\n");
        assert_eq!(raw(&server, absolute.as_bytes()).status, 403, "{path}");
    }
    let local = format!("GET / HTTP/1.1\r\nHost: localhost:{port}\r\n{token}\r\n\r\n");
    assert_eq!(raw(&server, local.as_bytes()).status, 200);
}

#[test]
fn nothing_but_health_and_launch_is_open() {
    let server = start(|_| {});
    let token = server.token().to_string();
    let wrong = [
        None,
        Some("Authorization: Bearer ".to_string()),
        Some(format!("Authorization: Bearer {}", &token[1..])),
        Some(format!("Authorization: Bearer {}0", &token[..63])).filter(|_| !token.ends_with('0')),
        Some(format!("Authorization: Basic {token}")),
        Some(format!("Authorization: Bearer {token} ")).filter(|_| false),
        Some(format!("Cookie: toile_{}={token}", server.address().port())),
        Some(format!("X-Token: {token}")),
    ];
    for path in ROUTES.iter().filter(|path| **path != "/healthz" && !path.starts_with("/launch")) {
        for line in &wrong {
            let mut lines: Vec<String> = line.iter().cloned().collect();
            lines.push(origin(&server));
            assert_eq!(get(&server, path, &lines).status, 401, "{path} with {line:?}");
        }
        assert_eq!(get(&server, &format!("{path}?token={token}"), &[origin(&server)]).status, 401, "{path}");
    }
    assert_eq!(get(&server, "/healthz", &[]).status, 200);
    assert_eq!(get(&server, "/", &[bearer(&server)]).status, 200);
}

#[test]
fn a_launch_link_works_once_and_leaves_no_trace() {
    let server = start(|_| {});
    let link = server.launch().expect("link");
    let path = &link[server.base().len()..];
    assert_eq!(get(&server, "/launch?code=0123", &[]).status, 401);
    let first = get(&server, path, &[]);
    assert_eq!((first.status, first.header("location")), (302, Some("/")));
    let cookie = first.header("set-cookie").expect("cookie").to_string();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Path=/"));
    let code = path.rsplit('=').next().expect("code");
    assert!(!first.head.contains(code) && !first.head.contains(server.token()));
    assert_eq!(get(&server, path, &[]).status, 401, "a second time");
    let pair = cookie.split(';').next().expect("pair");
    assert_eq!(get(&server, "/", &[format!("Cookie: a=b; {pair}")]).status, 200);
    let invited = post(&server, "/api/invite?room=two", b"").text();
    let invited: serde_json::Value = serde_json::from_str(&invited).expect("json");
    let second = get(&server, invited["path"].as_str().expect("path"), &[]);
    assert_eq!((second.status, second.header("location")), (302, Some("/r/two")));
}

#[test]
fn no_answer_tells_a_secret() {
    let server = start(|_| {});
    let link = server.launch().expect("link");
    let code = link.rsplit('=').next().expect("code");
    for path in ROUTES {
        for lines in [vec![], vec![bearer(&server)]] {
            let answer = get(&server, path, &lines);
            let all = answer.head.clone() + &answer.text();
            assert!(!all.contains(server.token()) && !all.contains(code), "{path}");
        }
    }
}

#[test]
fn every_answer_has_the_headers() {
    let server = start(|_| {});
    for path in ROUTES {
        for lines in [vec![], vec![bearer(&server)], vec!["Origin: http://evil.example".into()]] {
            let answer = get(&server, path, &lines);
            let policy = answer.header("content-security-policy").unwrap_or_default();
            assert!(policy.starts_with("default-src 'self'; connect-src 'self' ws://127.0.0.1:"), "{path}");
            assert!(policy.contains("frame-ancestors 'none'"));
            for (name, value) in [
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
                ("cross-origin-resource-policy", "same-origin"),
                ("cross-origin-opener-policy", "same-origin"),
            ] {
                assert_eq!(answer.header(name), Some(value), "{path}");
            }
            assert!(!answer.head.to_lowercase().contains("access-control-"), "{path}");
        }
    }
}

#[test]
fn other_machines_need_a_token() {
    let refused = |token: Option<&str>| {
        let mut options = Options::new(common::tiny());
        options.host = Ipv4Addr::UNSPECIFIED.into();
        options.token = token.map(String::from);
        Server::start(options).err()
    };
    assert!(refused(None).is_some_and(|text| text.contains("--token-file")));
    assert!(refused(Some("secret")).is_some_and(|text| text.contains("at least 32")));
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("token");
    let made = token_from(&file).expect("made");
    assert_eq!((made.len(), token_from(&file)), (64, Ok(made.clone())));
    assert!(refused(Some(&made)).is_none());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |m| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(m)).expect("mode");
        assert_eq!(std::fs::metadata(&file).expect("file").permissions().mode() & 0o777, 0o600);
        mode(0o644);
        assert!(token_from(&file).is_err_and(|text| text.contains("chmod 600")));
    }
}

#[test]
fn no_name_leads_out_of_the_program() {
    let server = start(|_| {});
    let ups = [
        "../",
        "..%2f",
        "..%2F",
        "%2e%2e/",
        "%2e%2e%2f",
        "..\\",
        "..%5c",
        "....//",
        "..;/",
        "%c0%ae%c0%ae/",
        "..%252f",
        "..%00/",
        "/",
        "//",
        "%2f",
        "C:/",
        "C:%5c",
        "%5c%5c%3f%5cC:%5c",
        "file:///",
        "~/",
        "./../",
        "%ef%bc%8e%ef%bc%8e/",
    ];
    let goals = ["etc/passwd", "Cargo.toml", "proc/self/environ", "scene.toml", "hang/scene.toml"];
    let places = ["/assets/", "/api/scenes/", "/r/", "/ws/", "/"];
    let mut tried = 0;
    for place in places {
        for up in ups {
            for goal in goals {
                for depth in [1, 6] {
                    let path = format!("{place}{}{goal}", up.repeat(depth));
                    let answer = get(&server, &path, &[bearer(&server), origin(&server)]);
                    assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
                    let text = answer.text();
                    assert!(
                        !text.contains("root:") && !text.contains("[package]") && !text.contains("toile = 1")
                    );
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 1000);
    for name in ["hang/picture.png/..", "HANG", "hang%00", "hang ", "con", "nul", "."] {
        assert_eq!(
            get(&server, &format!("/api/scenes/{name}/picture.png"), &[bearer(&server)]).status / 100,
            4
        );
    }
    let picture = get(&server, "/api/scenes/hang/picture.png", &[bearer(&server)]);
    assert_eq!((picture.status, picture.header("content-type")), (200, Some("image/png")));
}

#[test]
fn meshes_are_bounded_and_read_before_they_are_believed() {
    let server = start(|options| options.limits.upload = 4 << 20);
    let large = post(&server, "/api/meshes", &vec![b'v'; (4 << 20) + 1]);
    assert_eq!(large.status, 413);
    // Without a length, the bytes are counted as they come.
    let mut chunked = format!(
        "POST /api/meshes HTTP/1.1\r\nHost: {}\r\n{}\r\n{}\r\nTransfer-Encoding: chunked\r\n\r\n",
        server.address(),
        bearer(&server),
        origin(&server)
    )
    .into_bytes();
    for _ in 0..80 {
        chunked.extend_from_slice(b"10000\r\n");
        chunked.extend_from_slice(&[b'#'; 0x10000]);
        chunked.extend_from_slice(b"\r\n");
    }
    assert_eq!(raw(&server, &chunked).status, 413);
    let many = "v 0 0 0\n".repeat(200_001) + "f 1 2 3\n";
    assert_eq!(post(&server, "/api/meshes", many.as_bytes()).status, 422);
    for bad in
        [&b""[..], b"hello", b"v 0 0\nf 1 2 3\n", b"\xff\xfe\x00", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"]
    {
        assert_eq!(post(&server, "/api/meshes", bad).status, 422, "{bad:?}");
    }
    assert_eq!(post(&server, "/api/meshes?room=nobody", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").status, 404);
    assert_eq!(get(&server, "/healthz", &[]).status, 200);
}

#[test]
fn a_room_takes_sixteen_meshes() {
    let server = start(|_| {});
    let cube = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
                f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    for number in 1..=16 {
        let answer = post(&server, "/api/meshes", cube.as_bytes());
        assert_eq!((answer.status, answer.text()), (200, format!("{{\"id\":\"m{number}\"}}")));
    }
    assert_eq!(post(&server, "/api/meshes", cube.as_bytes()).status, 422);
}

#[test]
fn two_hundred_half_open_connections_hurt_nobody() {
    let server = start(|options| options.limits.head = Duration::from_secs(2));
    let mut idle: Vec<TcpStream> = (0..200)
        .map(|k| {
            let mut stream = TcpStream::connect(server.address()).expect("connect");
            // Half of them say nothing at all, half begin a request and never end it.
            if k % 2 == 0 {
                stream.write_all(b"GET / HTTP/1.1\r\nHost: ").expect("write");
            }
            stream
        })
        .collect();
    for _ in 0..20 {
        assert_eq!(get(&server, "/healthz", &[]).status, 200);
    }
    // And they are closed in the end.
    for stream in &mut idle {
        stream.set_read_timeout(Some(PATIENCE)).expect("timeout");
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 4"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn large_messages_and_floods_end_a_page_but_not_the_server() {
    let server = start(|_| {});
    let mut page = Page::join(&server, "studio", Format::F32).await;
    let large = format!("\"{}\"", "x".repeat(1 << 20));
    page.socket.send(Message::text(large)).await.expect("send");
    assert_eq!(page.closed().await, Some(1009));
    let mut page = Page::join(&server, "studio", Format::F32).await;
    for _ in 0..2000 {
        if page.socket.feed(Message::text("{\"say\":\"ack\",\"serial\":9}")).await.is_err() {
            break;
        }
    }
    let _ = page.socket.flush().await;
    assert_eq!(page.closed().await, Some(1008));
    let mut page = Page::join(&server, "studio", Format::F32).await;
    page.socket.send(Message::binary(vec![1, 2, 3])).await.expect("send");
    assert_eq!(page.closed().await, Some(1003));
    let mut page = Page::join(&server, "studio", Format::F32).await;
    page.text("{\"say\":").await;
    page.until(|said| matches!(said, FromServer::Note { .. }).then_some(())).await;
    page.say(&FromPage::Step).await;
    assert!(page.stats(1).await.certificate.pass);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_must_greet_in_the_right_protocol() {
    let server = start(|options| options.limits.hello = Duration::from_millis(300));
    for text in
        ["{\"say\":\"play\"}", "{\"say\":\"hello\",\"protocol\":99,\"format\":\"f32\",\"name\":\"x\"}", "{}"]
    {
        let mut socket = common::connect(&server, "studio").await.expect("connect");
        socket.send(Message::text(text)).await.expect("send");
        assert_eq!(close_code(&mut socket).await, Some(1008), "{text}");
    }
    let mut silent = common::connect(&server, "studio").await.expect("connect");
    assert_eq!(close_code(&mut silent).await, Some(1008));
}

async fn close_code<S>(socket: &mut tokio_tungstenite::WebSocketStream<S>) -> Option<u16>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    use futures_util::StreamExt;
    loop {
        match tokio::time::timeout(PATIENCE, socket.next()).await.expect("in time") {
            Some(Ok(Message::Close(frame))) => return frame.map(|frame| frame.code.into()),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return None,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_and_rooms_are_counted() {
    let server = start(|options| options.limits.pages = 2);
    let _one = Page::join(&server, "studio", Format::F32).await;
    let two = Page::join(&server, "studio", Format::F32).await;
    let refused = common::connect(&server, "studio").await.expect_err("a third page");
    assert!(matches!(refused, tokio_tungstenite::tungstenite::Error::Http(ref r) if r.status() == 503));
    drop(two);
    for _ in 0..600 {
        if common::connect(&server, "studio").await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let server = start(|_| {});
    let mut random = Random(1);
    let mut pages = Vec::new();
    for _ in 0..7 {
        pages.push(Page::join(&server, &format!("room-{}", random.next()), Format::F32).await);
    }
    let refused = common::connect(&server, "one-too-many").await.expect_err("a ninth room");
    assert!(matches!(refused, tokio_tungstenite::tungstenite::Error::Http(ref r) if r.status() == 503));
    for name in ["UPPER", "under_score", "a.b", &"x".repeat(33)] {
        assert!(common::connect(&server, name).await.is_err(), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_answer_is_given_up() {
    let server = start(|options| {
        options.limits.ping = Duration::from_millis(100);
        options.limits.silence = Duration::from_millis(500);
    });
    let mut other = Page::join(&server, "studio", Format::F32).await;
    let _silent = Page::join(&server, "studio", Format::F32).await;
    other.room(|room| room.people.len() == 2).await;
    // The first one reads, and so answers pings; the second does not.
    other.room(|room| room.people.len() == 1).await;
}
