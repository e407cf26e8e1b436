//! `toile studio` and `toile replay` as commands.

mod common;

use common::Desk;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

#[test]
fn a_studio_for_other_machines_needs_a_token() {
    let desk = Desk::new();
    desk.toile("studio tablecloth --host 0.0.0.0 --no-open").exits(3).says("--token-file");
}

#[cfg(unix)]
#[test]
fn a_studio_prints_its_link_keeps_its_token_and_ends_on_a_signal() {
    let folder = tempfile::tempdir().expect("folder");
    let token = folder.path().join("token");
    let mut child = Command::new(env!("CARGO_BIN_EXE_toile"))
        .args(["studio", "tablecloth", "--no-open", "--token-file"])
        .arg(&token)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start");
    let mut out = BufReader::new(child.stdout.take().expect("stdout"));
    let mut link = String::new();
    out.read_line(&mut link).expect("a link");
    let address = link.strip_prefix("http://").and_then(|rest| rest.split('/').next()).expect("an address");
    let secret = std::fs::read_to_string(&token).expect("a token");
    let mut stream = TcpStream::connect(address).expect("connect");
    let ask = format!(
        "GET /api/replay HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {secret}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(ask.as_bytes()).expect("ask");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let log = answer.split_once("\r\n\r\n").expect("a body").1;
    let file = folder.path().join("replay.jsonl");
    std::fs::write(&file, log).expect("write");
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(signal.success());
    assert!(child.wait().expect("an end").success());
    let (mut rest, mut err) = (String::new(), String::new());
    out.read_to_string(&mut rest).expect("rest");
    child.stderr.take().expect("stderr").read_to_string(&mut err).expect("stderr");
    assert!(!link.contains(&secret) && !rest.contains(&secret) && !err.contains(&secret));

    let desk = Desk::new();
    let replay = |more: &str| desk.toile(&format!("replay {} {more}", file.display()));
    assert_eq!(replay("--json").exits(0).json()["agrees"], true);
    let end = log.lines().last().expect("an end");
    let wrong = log.replace(end, "{\"end\":0,\"fingerprint\":\"0000000000000000\"}");
    std::fs::write(&file, wrong).expect("write");
    replay("").exits(1);
    std::fs::write(&file, "{}").expect("write");
    replay("").exits(3).says("not a line of a replay");
    desk.toile("replay nowhere.jsonl").exits(4);
}
