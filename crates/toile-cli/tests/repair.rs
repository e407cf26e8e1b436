//! Meshes that are not sound on the command line: reported, repaired, refused, and written in their own vertices.

mod common;

use common::Desk;
use std::fmt::Write;

const SCENE: &str = r#"toile = 1
units = "m"
up = "y"
frames = "1-8"
fps = 30

[[cloth]]
name = "rag"
file = "soup.obj"
translate = [0, 0.2, 0]

[[body]]
name = "ball"
shape = { kind = "sphere", radius = 0.15, subdivisions = 2 }

[render]
size = [80, 60]
"#;

/// 4 × 4 quads of 0.1 m, each with vertices of its own; the last is there twice, the sixth is turned, and there is one
/// without area and one vertex alone.
fn soup() -> String {
    let mut text = String::new();
    let mut faces = String::new();
    for q in 0..17u32 {
        let (i, j) = (f64::from(q.min(15) % 4) - 2.0, f64::from(q.min(15) / 4) - 2.0);
        for (u, v) in [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)] {
            let _ = writeln!(text, "v {} 0 {}", 0.1 * (i + u), 0.1 * (j + v));
        }
        let n = [1, 2, 3, 4].map(|k| 4 * q + k);
        let _ = match q {
            5 => writeln!(faces, "f {} {} {} {}", n[3], n[2], n[1], n[0]),
            _ => writeln!(faces, "f {} {} {} {}", n[0], n[1], n[2], n[3]),
        };
    }
    text + "v 3 3 3\n" + &faces + "f 1 1 2\n"
}

fn desk() -> Desk {
    let desk = Desk::with(SCENE);
    std::fs::write(desk.path("soup.obj"), soup()).expect("mesh");
    desk
}

#[test]
fn the_report_says_what_where_and_by_how_much() {
    let desk = desk();
    let line = desk.toile("repair soup.obj clean.obj --json").exits(0).json();
    assert_eq!(line["status"], "repaired");
    assert_eq!((line["vertices"].as_u64(), line["polygons"].as_u64()), (Some(69), Some(18)));
    assert_eq!((line["triangles"].as_u64(), line["doubles"].as_u64()), (Some(32), Some(68 - 25)));
    let findings = line["findings"].as_array().expect("findings");
    let one =
        |code: &str| findings.iter().find(|f| f["fault"] == code).unwrap_or_else(|| panic!("{code}: {line}"));
    assert_eq!(one("duplicate")["first"][0][0], 17);
    assert!((one("duplicate")["area"].as_f64().expect("m²") - 0.01).abs() < 1e-9);
    assert_eq!(one("flipped")["first"][0][0], 6);
    assert_eq!(one("coincident")["count"], 43);
    assert_eq!((&one("no-area")["first"][0][0], &one("isolated")["first"][0][0]), (&18.into(), &69.into()));
    let again = desk.toile("repair clean.obj").exits(0);
    assert!(again.out().contains("69 vertices, 32 polygons, 32 triangles: sound"), "{}", again.out());
    let words = desk.toile("repair soup.obj").exits(0);
    assert!(
        words
            .out()
            .contains("[duplicate] polygons that repeat another: 1 (polygon 17); they are not simulated"),
        "{}",
        words.out()
    );
    std::fs::write(desk.path("line.obj"), "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n").expect("mesh");
    let refused = desk.toile("repair line.obj").exits(3);
    assert!(refused.err().contains("[nothing-left]"), "{}", refused.err());
    desk.toile("repair missing.obj").exits(4);
}

#[test]
fn runs_are_written_in_the_vertices_and_polygons_that_came_in() {
    let desk = desk();
    let line = desk.toile("run rag.toml --out soup --no-picture --json").exits(0).json();
    assert_eq!(line["certificate"]["pass"], true, "{line}");
    let notes = line["notes"].as_array().expect("notes");
    assert!(
        notes.iter().any(|n| n.as_str().is_some_and(
            |n| n.contains("cloth `rag`: [coincident] vertices where another is: 43 (vertex 5,")
        ))
    );
    let outcome: serde_json::Value = desk.json("soup/outcome.json");
    assert_eq!(outcome["notes"], line["notes"], "the run folder says it too");
    desk.toile("convert soup --to obj --out objs").exits(0);
    desk.toile("convert soup --to pc2 --out pc2").exits(0);
    desk.toile("convert soup --to obj --smooth 2 --out smooth").exits(0);
    let last = String::from_utf8(desk.read("objs/frame_000008.obj")).expect("text");
    let lines = |keyword: &str| last.lines().filter(|l| l.starts_with(keyword)).collect::<Vec<_>>();
    assert_eq!((lines("v ").len(), lines("f ").len()), (69, 18));
    assert_eq!(lines("f ")[17], "f 1 1 2");
    // Corners that were one place still are, and the vertex alone has not moved.
    assert_eq!(lines("v ")[3], lines("v ")[4]);
    assert_eq!(lines("v ")[68], "v 3 3.2 3");
    assert_eq!(lines("v ")[60..64], lines("v ")[64..68], "the repeated polygon goes with the first");
    desk.toile("check soup").exits(0);
}

#[test]
fn dirty_meshes_are_refused_where_the_scene_says_so() {
    let desk = desk();
    let refused = desk.toile("run rag.toml --set cloth.rag.repair=false --out no").exits(3);
    let text = refused.err();
    assert!(
        text.contains("cloth `rag`: [coincident] vertices where another is: 43, the first is vertex 5"),
        "{text}"
    );
    assert!(text.contains("help: repair the mesh (toile repair)"), "{text}");
}

/// A plane of 2 × 2 quads that rises, as numbered files; frame 4 has a vertex that is no number.
#[test]
fn a_broken_frame_of_a_body_is_held_and_said_in_the_outcome() {
    let body = "[[body]]\nname = \"lift\"\nfile = \"lift_##.obj\"\n";
    let desk = Desk::with(
        &SCENE
            .replace(
                "file = \"soup.obj\"",
                "shape = { kind = \"sheet\", size = [0.3, 0.3], resolution = 4, plane = \"flat\" }",
            )
            .replace("[render]", &format!("{body}[render]")),
    );
    for k in 1..=8u32 {
        let mut text = String::new();
        for v in 0..9u32 {
            let y =
                if (k, v) == (4, 7) { "nan".to_string() } else { format!("{}", -0.4 + 0.01 * f64::from(k)) };
            let _ = writeln!(text, "v {} {y} {}", 0.2 * f64::from(v % 3) - 0.2, 0.2 * f64::from(v / 3) - 0.2);
        }
        text += "f 1 4 5 2\nf 2 5 6 3\nf 4 7 8 5\nf 5 8 9 6\n";
        std::fs::write(desk.path(&format!("lift_{k:02}.obj")), text).expect("mesh");
    }
    desk.toile("run rag.toml --out held --no-picture").exits(0);
    let outcome: serde_json::Value = desk.json("held/outcome.json");
    assert_eq!(outcome["status"], "ok");
    let notes = outcome["notes"].as_array().expect("notes");
    let held = "body `lift`: [held] in frame 4 (lift_04.obj) vertex 8 is at";
    assert!(notes.iter().any(|note| note.as_str().is_some_and(|n| n.contains(held))), "{outcome}");
    let frame = |k: u32| {
        let path = desk.path(&format!("held/frames/{k:06}.toile"));
        toile_io::run::Frame::read(&path).unwrap_or_else(|e| panic!("{e}"))
    };
    assert_eq!(frame(4).bodies, frame(3).bodies);
    assert!(frame(5).bodies[0][1] > frame(4).bodies[0][1]);
}
