//! `toile check` on caches with planted faults.

mod common;

use common::{Desk, decode_png};

/// Two sheets' worth of faces: a square, and a triangle that pierces it.
const PIERCED: &str = "o rag\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n\
                       v 0.6 0.3 -1\nv 0.7 0.3 1\nv 2 0.3 0\nf 5 6 7\n";
const SQUARE: &str = "o rag\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n";

/// A point cache of the square with one sample per list of positions.
fn pc2(samples: &[[[f32; 3]; 4]]) -> Vec<u8> {
    let mut bytes = b"POINTCACHE2\0".to_vec();
    for word in [1, 4] {
        bytes.extend_from_slice(&i32::to_le_bytes(word));
    }
    for number in [1.0f32, 1.0] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&(samples.len() as i32).to_le_bytes());
    samples.iter().flatten().flatten().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
    bytes
}

const FLAT: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];

#[test]
fn a_self_intersection_is_named_and_drawn() {
    let desk = Desk::new();
    desk.write("rag.obj", PIERCED);
    let done = desk.toile("check rag.obj --picture a.png --json").exits(1).says("FAIL  1 of 1 frame");
    let certificate = done.json();
    assert_eq!((&certificate["pass"], &certificate["first_bad"]), (&false.into(), &1.into()));
    let findings = certificate["bad"][0]["findings"].to_string();
    assert!(findings.contains("rag edge 1-2 (face 0) crosses rag face 2"), "{findings}");
    assert_eq!(decode_png(&desk.read("a.png")), (960, 720));
}

#[test]
fn values_that_are_not_numbers_are_named() {
    let desk = Desk::new();
    desk.write("rag.obj", SQUARE);
    let mut broken = FLAT;
    broken[2][1] = f32::NAN;
    desk.write("rag.pc2", pc2(&[FLAT, broken, FLAT]));
    let done = desk.toile("check rag.pc2 --mesh rag.obj --json").exits(1).says("FAIL  1 of 3 frames");
    let certificate = done.json();
    assert_eq!(certificate["first_bad"], 2);
    let findings = certificate["bad"][0]["findings"].to_string();
    assert!(findings.contains("rag vertex 2") && findings.contains("NaN"), "{findings}");
    desk.toile("check rag.pc2 --mesh rag.obj --frames 3").exits(0).says("PASS  1 frame ");
}

#[test]
fn faces_that_lie_on_each_other_are_named() {
    let desk = Desk::new();
    desk.write("twice.obj", format!("{SQUARE}f 2 3 1\n"));
    desk.toile("check twice.obj").exits(1).says("copy of twice face 2");
    // The last corner folded onto the first triangle: the two faces overlap in their plane.
    desk.write("rag.obj", SQUARE);
    let mut folded = FLAT;
    folded[3] = [0.9, 0.1, 0.0];
    desk.write("rag.pc2", pc2(&[FLAT, folded]));
    desk.toile("check rag.pc2 --mesh rag.obj").exits(1).says("frame 2").says("rag").says("face 0");
    let mut line = FLAT;
    line[3] = [0.5, 0.5, 0.0];
    desk.write("rag.pc2", pc2(&[line]));
    desk.toile("check rag.pc2 --mesh rag.obj").exits(1).says("rag face 1 has no area");
}

#[test]
fn bodies_are_judged_against_the_cloth_and_on_request_by_themselves() {
    let desk = Desk::new();
    desk.write("rag.obj", SQUARE);
    desk.write("post.obj", "o post\nv 0.6 0.3 -1\nv 0.7 0.3 1\nv 2 0.3 0\nf 1 2 3\n");
    desk.write("away.obj", "o away\nv 0 0 5\nv 1 0 5\nv 0 1 5\nf 1 2 3\n");
    desk.toile("check rag.obj --body away.obj").exits(0).says("PASS");
    desk.toile("check rag.obj --body away.obj --body post.obj").exits(1).says("post").says("rag");
    desk.write("odd.obj", shifted(PIERCED));
    desk.toile("check rag.obj --body odd.obj").exits(0).says("PASS");
    desk.toile("check rag.obj --body odd.obj --bodies").exits(1).says("odd edge").says("crosses odd face 2");
}

/// The mesh five metres further along z, under another name.
fn shifted(obj: &str) -> String {
    let line = |l: &str| match l.split_whitespace().collect::<Vec<_>>()[..] {
        ["v", x, y, z] => format!("v {x} {y} {}\n", z.parse::<f64>().expect("number") + 5.0),
        ["o", _] => "o odd\n".into(),
        _ => format!("{l}\n"),
    };
    obj.lines().map(line).collect()
}

#[test]
fn the_closest_place_is_measured_in_the_given_unit() {
    let desk = Desk::new();
    desk.write("rag.obj", SQUARE);
    desk.write("near.obj", "o near\nv 0 0 0.5\nv 1 0 0.5\nv 0 1 0.5\nf 1 2 3\n");
    let gap = |unit: &str| {
        let done = desk.toile(&format!("check rag.obj --body near.obj --units {unit} --json")).exits(0);
        done.json()["min_distance"].as_f64().expect("distance")
    };
    assert!((gap("m") - 0.5).abs() < 1e-12);
    assert!((gap("cm") - 0.005).abs() < 1e-12);
    let none = desk.toile("check rag.obj --body near.obj --no-distance --json").exits(0).json();
    assert!(none["min_distance"].is_null());
    desk.toile("check rag.obj --frames 7").exits(3).says("no frame to check");
    desk.toile("check rag.obj --frames x-y").exits(3).says("10-20");
}

#[test]
fn a_damaged_frame_fails_and_the_others_are_judged() {
    let desk = Desk::new();
    desk.toile("run rag.toml --no-picture -q").exits(0);
    desk.toile("check out/rag --picture p.png").exits(0).says("PASS  12 frames").says("wrote p.png");
    assert_eq!(decode_png(&desk.read("p.png")), (960, 720));
    let name = "out/rag/frames/000007.toile";
    let mut bytes = desk.read(name);
    bytes[200] ^= 1;
    desk.write(name, bytes);
    let done = desk.toile("check out/rag --json").exits(1).says("checksum");
    assert_eq!((&done.json()["frames"], &done.json()["first_bad"]), (&12.into(), &7.into()));
    desk.toile("check out/rag --picture q.png").exits(1);
}

/// Below the square in one frame, above it in the next; both frames are clean.
#[test]
fn what_changes_sides_between_frames_is_named() {
    let desk = Desk::new();
    desk.write("rag.obj", SQUARE);
    let post = |z: f64| format!("o post\nv 0.4 0.4 {z}\nv 0.5 0.4 {z}\nv 0.4 0.5 {z}\nf 1 2 3\n");
    desk.write("rag.pc2", pc2(&[FLAT; 4]));
    for (frame, z) in [(1, -0.3), (2, -0.1), (3, 0.1), (4, 0.3)] {
        desk.write(&format!("post_{frame:04}.obj"), post(z));
    }
    let check = "check rag.pc2 --mesh rag.obj --body post_####.obj";
    let done =
        desk.toile(&format!("{check} --json")).exits(1).says("since frame 2: post vertex 0 went through rag");
    let certificate = done.json();
    assert_eq!((&certificate["first_bad"], &certificate["passages"]), (&3.into(), &3.into()));
    assert_eq!(certificate["by_frame"][2]["passages"], 3);
    assert!(certificate["by_frame"][0]["passages"].is_null(), "nothing is known before the first frame");
    desk.toile(&format!("{check} --no-sides")).exits(0).says("PASS  4 frames");
    let audited =
        desk.toile(&format!("{check} --no-sides --audit --json")).exits(0).says("may have met").json();
    assert_eq!((&audited["audit"]["steps"], &audited["audit"]["steps_met"]), (&3.into(), &1.into()));
}

#[test]
fn every_frame_has_its_line() {
    let desk = Desk::new();
    desk.toile("run rag.toml --no-picture -q").exits(0);
    let certificate = desk.json("out/rag/certificate.json");
    let lines = certificate["by_frame"].as_array().expect("lines");
    assert_eq!(lines.len(), 12);
    assert!(lines.iter().all(|line| line["pass"] == true && line["strain_max"].is_number()));
    assert!(lines.iter().all(|line| line["residual"].is_number() && line["pinched"] == 0));
    assert_eq!(lines[11]["hash"], certificate["hash"]);
    let again = desk.toile("check out/rag --json").exits(0).json();
    assert_eq!(again["hash"], certificate["hash"]);
    // Two vertices let through in frame 3, of which one counts again in frame 6; one comes and goes within frame 8.
    let line = |frame: u32, vertex: u32, through: bool| {
        let time = f64::from(frame - 1) / 60.0;
        format!(
            "{}\n",
            serde_json::json!({ "frame": frame, "time": time, "cloth": "rag", "vertex": vertex, "through": through })
        )
    };
    let lines = [(3, 1, true), (3, 2, true), (6, 1, false), (8, 5, true), (8, 5, false)];
    desk.write("out/rag/releases.jsonl", lines.map(|(f, v, through)| line(f, v, through)).concat());
    let released = desk.toile("check out/rag --json").exits(0).json();
    let of = |name: &str| -> Vec<u64> {
        let lines = released["by_frame"].as_array().expect("lines");
        lines.iter().map(|line| line[name].as_u64().expect("a count")).collect()
    };
    assert_eq!(of("pinched"), [0, 0, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(of("released"), [0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
}
