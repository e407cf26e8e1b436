//! Bodies on the command line: stored where they are in every frame, resumed, judged, and close to cloth.

mod common;

use common::Desk;

/// A sheet at rest in no gravity, and a ball that comes up to it and stops 0.5 mm below.
const MEETING: &str = r#"toile = 1
units = "m"
up = "y"
frames = "1-5"
fps = 50
gravity = 0

[[cloth]]
name = "rag"
shape = { kind = "sheet", size = [0.4, 0.4], resolution = 4, plane = "flat" }

[[pin]]
all = true

[[body]]
name = "ball"
shape = { kind = "box", size = [0.2, 0.2, 0.2] }
translate = [0, -0.5, 0]
motion = [{ frame = 1 }, { frame = 5, translate = [0, 0.3995, 0] }]

[[body]]
name = "ghost"
shape = { kind = "plane", size = [1, 1] }
translate = [0, 0.0001, 0]
collide = false

[render]
size = [120, 90]
"#;

#[test]
fn moving_bodies_are_in_the_frames_and_a_stop_changes_none() {
    let desk = Desk::with(MEETING);
    desk.toile("run rag.toml --out whole --quiet").exits(0);
    let read = |folder: &str, frame: u32| {
        let path = desk.path(&format!("{folder}/frames/{frame:06}.toile"));
        toile_io::run::Frame::read(&path).unwrap_or_else(|e| panic!("{e}"))
    };
    for frame in 1..=5 {
        let stored = read("whole", frame);
        assert_eq!(stored.bodies.len(), 8, "the box; the plane does not move");
        let lowest = stored.bodies.iter().map(|p| p[1]).fold(f32::MAX, f32::min);
        let want = -0.6 + 0.3995 * (frame - 1) as f32 / 4.0;
        assert!((lowest - want).abs() < 1e-6, "frame {frame}: {lowest}");
    }
    desk.toile("run rag.toml --out part --quiet --no-picture").exits(0);
    std::fs::remove_file(desk.path("part/frames/000004.toile")).expect("frame");
    desk.toile("resume part --quiet").exits(0);
    assert_eq!(read("part", 4), read("whole", 4));
    assert_eq!(read("part", 5), read("whole", 5));
    desk.toile("render whole --frame 3 --out third.png --quiet").exits(0);
    assert_ne!(desk.read("whole/picture.png"), desk.read("third.png"));
    let verdict = desk.toile("check whole --json").exits(0).json();
    // The plane that cloth does not meet is still a body to the checker.
    assert!(verdict["min_distance"].as_f64().is_some_and(|d| (d - 1e-4).abs() < 1e-6), "{verdict}");
    desk.toile("convert whole --to obj --bodies --quiet").exits(0);
    let obj = desk.text("whole/obj/frame_000005.obj");
    assert!(obj.contains("o rag") && obj.contains("o ball") && obj.contains("-0.2005"), "{obj}");
    desk.toile("convert whole --to pc2 --bodies --quiet").exits(0);
    let names: Vec<String> = desk.files("whole/pc2").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["ball.obj", "ball.pc2", "ghost.obj", "ghost.pc2", "rag.obj", "rag.pc2"]);
}

#[test]
fn contacts_are_listed_with_every_option() {
    let desk = Desk::with(MEETING);
    desk.toile("run rag.toml --out out --quiet --no-picture").exits(0);
    desk.toile("contacts out --frame 3").exits(0).says("frame 3: 0 pairs within 1 mm");
    let done = desk.toile("contacts out").exits(0).says("frame 5:").says("rag with ball").says("0.5000 mm");
    assert!(!done.out().contains("ghost"), "{}", done.out());
    let count = |more: &str| {
        let line = desk.toile(&format!("contacts out --frames all --json {more}")).exits(0).json();
        let frames = line["frames"].as_array().expect("frames").clone();
        assert_eq!(frames.len(), 5);
        let last = &frames[4];
        assert!(last["counters"]["narrow_calls"].is_u64() && last["objects"][0]["between"][1] == "ball");
        last["count"].as_u64().expect("count")
    };
    let all = count("");
    assert!(all > 0);
    for more in [
        "--search trees --kdop 18 --tree 8",
        "--search trees --kdop 26 --tree 2 --lazy 1mm",
        "--search trees --inflation oriented",
        "--inflation swept",
        "--inflation isotropic --search trees",
        "--tracking separations",
        "--tracking coherent --margin 2mm --restart 3",
    ] {
        assert_eq!(count(more), all, "{more}");
    }
    assert!(count("--features vertices-only") < all);
    assert!(count("--features virtual") > count("--features vertices-only"));
    let curved = desk.toile("contacts out --distance 15cm --json").exits(0).json();
    let spared = desk.toile("contacts out --distance 15cm --curvature cones --json").exits(0).json();
    assert!(spared["frames"][0]["count"].as_u64() < curved["frames"][0]["count"].as_u64());
    desk.toile("contacts out --inflation oriented-as-printed").exits(0).says("misses pairs");
    // Between frames 4 and 5 the box comes within reach; at frame 4 it is 10 cm away.
    desk.toile("contacts out --frame 4 --report end").exits(0).says("rag with ball");
    desk.toile("contacts rag.toml --distance 0.5m").exits(0).says("frame 1:").says("rag with itself");
    desk.toile("contacts sphere --quiet").exits(0).says("frame 1: 0 pairs");
    desk.toile("contacts out --frame 9").exits(3).says("frames 1–5");
    desk.toile("contacts out --kdop 7").exits(2).says("6, 8, 12, 14, 18 or 26");
    desk.toile("contacts out --search bvh").exits(2).says("patches");
    desk.toile("contacts out --distance far").exits(2).says("1mm");
    desk.toile("contacts nothing.obj").exits(4).says("nothing.obj");
}

#[test]
fn the_detect_table_is_where_the_options_start() {
    let desk = Desk::with(&format!(
        "{MEETING}\n[detect]\nsearch = \"trees\"\nkdop = 14\ntree = 8\ntracking = \"coherent\"\nmargin = 0.002\n"
    ));
    let line = desk.toile("contacts rag.toml --json --kdop 8").exits(0).json();
    assert_eq!((&line["detect"]["kdop"], &line["detect"]["tree"]), (&8.into(), &8.into()));
    assert_eq!((&line["detect"]["tracking"], &line["detect"]["margin"]), (&"coherent".into(), &0.002.into()));
    for (field, message) in [
        ("kdop=7", "no such k-DOP"),
        ("tree=3", "2, 4 and 8"),
        ("apex=200", "not above 180"),
        ("restart=0", "1 or more"),
        ("lazy=-1", "cannot be negative"),
        ("search=bvh", "cannot be \"bvh\""),
    ] {
        desk.toile(&format!("run rag.toml --set detect.{field}")).exits(3).says(message);
    }
}
