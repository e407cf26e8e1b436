//! Hostile input: every prefix, garbled bytes, random garbage. Nothing may panic.

use proptest::prelude::*;
use std::path::Path;
use toile_io::container;
use toile_io::obj::{Limits, Obj};
use toile_io::pc2::Pc2Reader;
use toile_io::run::{Frame, Topology, read_stats};
use toile_io::scene::{BUILTINS, Scene};

const MESH: &str = "o a\nv 0 0 0\nv 1 0 0.5\nv 1 1 0\nv 0 1 -1e-3\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n\
                    g left right\nf 1/1 2/2 3/3 4/4\nf -1//-1 1/1/1 2\nl 1 2 \\\n 3\n";

fn parse_mesh(bytes: &[u8]) -> bool {
    let obj = Obj::parse(bytes, Path::new("x.obj"), &Limits::default());
    if let Ok(mut obj) = obj {
        obj.triangulate();
        obj.orient_faces();
        return true;
    }
    false
}

#[test]
fn every_prefix_of_every_scene() {
    for b in BUILTINS {
        for end in (0..b.text.len()).filter(|&e| b.text.is_char_boundary(e)) {
            if let Err(e) = Scene::parse(&b.text[..end], "prefix") {
                assert!(!e.errors.is_empty() && !e.render().is_empty());
                let inside = |s: &std::ops::Range<usize>| s.start <= s.end && s.end <= e.text.len();
                assert!(e.errors.iter().all(|e| inside(&e.span)));
            }
        }
    }
}

#[test]
fn every_prefix_of_every_binary_and_text_format() {
    let dir = tempfile::tempdir().expect("tempdir");
    assert!(parse_mesh(MESH.as_bytes()));
    for end in 0..MESH.len() {
        parse_mesh(&MESH.as_bytes()[..end]);
    }
    let path = dir.path().join("x");
    let stats = b"{\"frame\":1}\n{\"frame\":2}\n";
    for end in 0..stats.len() {
        std::fs::write(&path, &stats[..end]).expect("write");
        let (lines, _) = read_stats(&path).expect("a cut log is readable");
        assert_eq!(lines.len(), stats[..end].iter().filter(|&&b| b == b'\n').count());
    }
}

/// Reads bytes with every binary reader.
fn read_everything(bytes: &[u8], path: &Path) {
    let _ = container::decode(bytes);
    std::fs::write(path, bytes).expect("write");
    let _ = Frame::read(path);
    let _ = Topology::read(path);
    if let Ok(mut r) = Pc2Reader::open(path) {
        let _ = r.read(0);
    }
    let _ = read_stats(path);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn garbage_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let dir = tempfile::tempdir().expect("tempdir");
        read_everything(&bytes, &dir.path().join("x"));
        parse_mesh(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        let _ = Scene::parse(&text, "garbage").map_err(|e| e.render());
    }

    #[test]
    fn garbage_with_a_valid_head(head in 0usize..3, bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let dir = tempfile::tempdir().expect("tempdir");
        let mut all: Vec<u8> = match head {
            0 => b"\x89TOILE\r\n\x01\0\0\0\x03\0\0\0frame\0\0\0".to_vec(),
            1 => b"POINTCACHE2\0\x01\0\0\0".to_vec(),
            _ => b"{\"frame\": 1}\n".to_vec(),
        };
        all.extend(bytes);
        if head == 0 && all.len() >= 40 {
            // right length and checksum, so that the directory itself is attacked
            let n = all.len() as u64;
            all[24..32].copy_from_slice(&n.to_le_bytes());
            let at = all.len() - 8;
            let sum = xxhash_rust::xxh3::xxh3_64(&all[..at]);
            all[at..].copy_from_slice(&sum.to_le_bytes());
        }
        read_everything(&all, &dir.path().join("x"));
    }

    #[test]
    fn garbled_meshes(edits in proptest::collection::vec((0usize..MESH.len(), any::<u8>()), 1..6)) {
        let mut bytes = MESH.as_bytes().to_vec();
        for (at, byte) in edits {
            bytes[at] = byte;
        }
        parse_mesh(&bytes);
    }

    #[test]
    fn mesh_words(words in proptest::collection::vec(
        prop_oneof![Just("v"), Just("vt"), Just("f"), Just("l"), Just("g"), Just("o"), Just("\n"), Just("\\\n"),
            Just("1"), Just("-1"), Just("2/1"), Just("3//2"), Just("9"), Just("0"), Just("0.5"), Just("nan"),
            Just("99999999999999999999"), Just("1e400"), Just("#")], 0..60)) {
        parse_mesh(words.join(" ").as_bytes());
        parse_mesh(format!("{MESH}{}", words.join(" ")).as_bytes());
    }

    #[test]
    fn garbled_scenes(which in 0usize..3, edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5)) {
        let mut bytes = BUILTINS[which].text.as_bytes().to_vec();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Err(e) = Scene::parse(&text, "garbled") {
            e.render();
        }
    }

    #[test]
    fn scene_values(path in prop_oneof![Just("fps"), Just("gravity"), Just("frames"), Just("cloth.0.shape.size"),
            Just("cloth.0.shape.resolution"), Just("cloth.0.fabric.stretch"), Just("cloth.0.fabric.poisson"),
            Just("pin.0.indices"), Just("pin.0.motion"), Just("render.size"), Just("cloth"), Just("units"), Just("seed")],
        value in prop_oneof![Just("0"), Just("-1"), Just("1e308"), Just("1e-308"), Just("nan"), Just("inf"),
            Just("9223372036854775807"), Just("99999999999999999999"), Just("[]"), Just("[0, 0]"), Just("[1e308, 1e-308]"),
            Just("[4294967295, 4294967295]"), Just("[{}]"), Just("{}"), Just("\"4294967295-4294967295\""), Just("\"0-0\""),
            Just("\"-\""), Just("[[1]]"), Just("1979-05-27"), Just("true"), Just(""), Just("=")]) {
        let set = format!("{path}={value}");
        if let Err(e) = Scene::parse_with(BUILTINS[0].text, "set", &[&set]) {
            e.render();
        }
    }

    #[test]
    fn override_paths(set in "[a-z0-9.\"\\[\\]= #\\n]{0,24}") {
        if let Err(e) = Scene::parse_with(BUILTINS[0].text, "set", &[&set]) {
            e.render();
        }
    }
}
