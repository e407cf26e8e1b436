//! The command as its users meet it: what it writes, says and returns.

mod common;

use common::{Desk, TINY, decode_png};
use serde_json::Value;
use std::collections::BTreeSet;
use toile_io::pc2::Pc2Reader;
use toile_io::run::RunFolder;

const FORMATS: &str = include_str!("../../../docs/formats.md");
const CLI: &str = include_str!("../../../docs/cli.md");

fn lines(desk: &Desk, name: &str) -> Vec<Value> {
    desk.text(name).lines().map(|l| serde_json::from_str(l).expect("JSON")).collect()
}

fn keys(value: &Value) -> Vec<String> {
    value.as_object().expect("object").keys().cloned().collect()
}

#[test]
fn a_run_leaves_everything_the_documents_promise() {
    let desk = Desk::new();
    let done = desk.toile("run rag.toml --animate --json").exits(0).says("PASS");
    let last = done.json();
    assert_eq!((&last["status"], &last["frame"]), (&"ok".into(), &12.into()));
    assert_eq!(last["certificate"]["pass"], true);
    let run = "out/rag";
    assert_eq!(desk.files(&format!("{run}/frames")).len(), 12);
    assert_eq!(desk.files(&format!("{run}/checkpoints")).len(), 2);
    for name in ["run.json", "scene.toml", "topology.toile", "stats.jsonl"] {
        assert!(!desk.read(&format!("{run}/{name}")).is_empty(), "{name} is empty");
    }
    assert_eq!(decode_png(&desk.read("out/rag/picture.png")), (120, 90));
    assert_eq!(decode_png(&desk.read("out/rag/animation.png")), (120, 90));
    let outcome = desk.json("out/rag/outcome.json");
    assert_eq!((&outcome["status"], &outcome["reason"]), (&"ok".into(), &"done".into()));
    let certificate = desk.json("out/rag/certificate.json");
    assert_eq!((&certificate["pass"], &certificate["frames"]), (&true.into(), &12.into()));
    let stats = lines(&desk, "out/rag/stats.jsonl");
    let numbers: Vec<u64> = stats.iter().filter_map(|l| l["frame"].as_u64()).collect();
    assert_eq!(numbers, (1..=12).collect::<Vec<u64>>());
    assert_eq!(stats[11]["fingerprint"], last["fingerprint"]);
}

/// Names in the first column of the table that follows a heading.
fn documented(heading: &str) -> Vec<String> {
    let from = FORMATS.split_once(&format!("{heading}\n")).unwrap_or_else(|| panic!("no {heading}")).1;
    let section = from.split("\n## ").next().unwrap_or(from);
    let names = section.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next());
    let mut names: Vec<String> = names.map(String::from).collect();
    names.sort();
    names
}

#[test]
fn the_documents_list_the_keys_that_are_written() {
    // Everything that stores energy or stands in the table for another reason.
    let soft = "[[pin]]\nindices = [40]\nkind = \"soft\"\nstiffness = 1";
    let desk = Desk::with(&format!("{TINY}\n{soft}\n[wind]\nvelocity = [1, 0, 0]\n[air]\ndrag = 0.1\n"));
    desk.toile("run rag.toml --no-picture -q").exits(0);
    let stats = &lines(&desk, "out/rag/stats.jsonl")[5];
    let mut found = keys(stats);
    for part in ["energy", "stages"] {
        found.extend(keys(&stats[part]).iter().map(|key| format!("{part}.{key}")));
        found.retain(|key| key != part);
    }
    found.sort();
    assert_eq!(found, documented("## stats.jsonl"));
    for name in ["run.json", "outcome.json", "certificate.json"] {
        let found = keys(&desk.json(&format!("out/rag/{name}")));
        assert_eq!(found, documented(&format!("## {name}")), "{name}");
    }
}

#[test]
fn the_documents_name_every_command_and_exit_code() {
    let desk = Desk::new();
    let help = desk.toile("--help").exits(0).out();
    let commands = help.split_once("Commands:\n").expect("commands").1.split("\n\n").next().expect("end");
    let names: Vec<&str> = commands.lines().filter_map(|l| l.split_whitespace().next()).collect();
    assert!(names.len() >= 10, "{names:?}");
    for name in names.iter().filter(|n| **n != "help") {
        assert!(CLI.contains(&format!("## toile {name}")), "docs/cli.md lacks toile {name}");
    }
    for code in [0, 1, 2, 3, 4, 5, 28, 130] {
        assert!(CLI.contains(&format!("| {code} |")), "docs/cli.md lacks exit code {code}");
    }
}

/// A scene in a folder is named by the folder; the two spellings and all options of a run.
#[test]
fn frames_fields_and_folders_can_be_chosen() {
    let desk = Desk::new();
    desk.toile("run rag.toml --frames 3 --out a --no-picture --no-check -q").exits(0);
    assert_eq!(desk.files("a/frames").len(), 3);
    assert!(!desk.path("a/picture.png").exists() && !desk.path("a/certificate.json").exists());
    desk.toile("run rag.toml --frames 5-6 --out b --no-picture -q").exits(0);
    let names: Vec<String> = desk.files("b/frames").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["000005.toile", "000006.toile"]);
    let set = "--set cloth.rag.shape.resolution=4 --set output.velocities=true";
    desk.toile(&format!("run rag.toml --frames 2 --out c --no-picture -q {set}")).exits(0);
    let frame = RunFolder::open(&desk.path("c")).expect("run").read_frame(2).expect("frame");
    assert_eq!((frame.positions.len(), frame.velocities.map(|v| v.len())), (25, Some(25)));
    assert!(desk.text("c/scene.toml").contains("resolution = 4"));
    let wrong = desk.toile("run rag.toml --set cloth.rag.shape.resolutoin=4").exits(3);
    wrong.says("resolutoin").says("did you mean \"resolution\"");
    desk.toile("run rag.toml --frames many").exits(3).says("many");
}

#[test]
fn nothing_is_overwritten_unasked() {
    let desk = Desk::new();
    let run = "run rag.toml --frames 2 --no-picture -q";
    desk.toile(run).exits(0);
    desk.toile(run).exits(0);
    assert!(desk.path("out/rag-2/outcome.json").exists(), "the second run takes the next number");
    desk.toile(&format!("{run} --out out/rag")).exits(4).says("already holds a run").says("help:");
    desk.toile("run rag.toml --frames 3 --no-picture --no-check -q --out out/rag --force").exits(0);
    assert_eq!(desk.files("out/rag/frames").len(), 3);
    assert!(!desk.path("out/rag/certificate.json").exists(), "a verdict on other frames stayed");
    std::fs::create_dir(desk.path("mine")).expect("folder");
    desk.write("mine/thesis.txt", "years");
    desk.toile(&format!("{run} --out mine --force")).exits(4).says("thesis.txt");
    assert_eq!(desk.files("mine").len(), 1);
}

#[test]
fn threads_do_not_change_a_bit() {
    let desk = Desk::new();
    let set = "--frames 3 --set cloth.rag.shape.resolution=46 --no-picture --no-check -q --json";
    let fingerprint = |threads: u32| {
        let line = format!("run rag.toml {set} --threads {threads} --out t{threads}");
        desk.toile(&line).exits(0).json()["fingerprint"].as_str().expect("fingerprint").to_string()
    };
    assert_eq!(fingerprint(1), fingerprint(3));
    assert_eq!(desk.files("t1/frames"), desk.files("t3/frames"));
}

#[test]
fn point_caches_hold_the_frames_bit_for_bit() {
    let desk = Desk::new();
    desk.toile("run rag.toml --no-picture -q").exits(0);
    let files = desk.toile("convert out/rag --to pc2 --json").exits(0).json();
    assert_eq!(files["status"], "ok");
    let run = RunFolder::open(&desk.path("out/rag")).expect("run");
    let mut cache = Pc2Reader::open(&desk.path("out/rag/pc2/rag.pc2")).expect("PC2");
    assert_eq!((cache.samples, cache.points), (12, 81));
    let bits = |points: &[[f32; 3]]| points.as_flattened().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for sample in 0..12 {
        let frame = run.read_frame(sample + 1).expect("frame");
        assert_eq!(bits(&cache.read(sample).expect("sample")), bits(&frame.positions), "sample {sample}");
    }
    desk.toile("check out/rag/pc2/rag.pc2 --mesh out/rag/pc2/rag.obj").exits(0).says("PASS  12 frames");
    desk.toile("convert out/rag --to obj --out objs").exits(0).says("12 files");
    assert_eq!(desk.files("objs").len(), 12);
    desk.toile("check objs").exits(0).says("PASS  12 frames");
    desk.toile("check objs/frame_######.obj --frames 3-5").exits(0).says("PASS  3 frames");
}

#[test]
fn pictures_of_a_run() {
    let desk = Desk::new();
    desk.toile("run rag.toml --no-picture -q").exits(0);
    for (option, name) in [
        ("--frame 3", "a.png"),
        ("--colour strain", "b.png"),
        ("--colour speed --quality draft", "c.png"),
        ("--wire", "d.png"),
    ] {
        desk.toile(&format!("render out/rag {option} --size 80x60 --out {name}")).exits(0).says(name);
        assert_eq!(decode_png(&desk.read(name)), (80, 60), "{option}");
    }
    let pictures = ["a.png", "b.png", "c.png", "d.png"].map(|name| desk.read(name));
    assert_eq!(BTreeSet::from(pictures).len(), 4, "options that change nothing");
    desk.toile("render out/rag --animate --every 6 --out m.png -q").exits(0);
    assert!(desk.read("m.png").windows(4).any(|w| w == b"acTL"), "not animated");
    decode_png(&desk.read("m.png"));
    desk.toile("render out/rag --animate --every 6 --out m.gif -q").exits(0);
    assert!(desk.read("m.gif").starts_with(b"GIF89a"));
    desk.toile("render out/rag --frame 99 --out n.png").exits(4).says("frame 99").says("help:");
    desk.toile("render nowhere").exits(4).says("nowhere").says("help:");
    desk.toile("render out/rag --size 0x9").exits(2).says("0x9");
}

#[test]
fn cloth_is_smoothed_for_display_only() {
    let desk = Desk::new();
    let note = "smoothed for display; the certificate is of the simulated mesh";
    let set = "--set render.smooth=3 --set cloth.rag.shape.resolution=4";
    let done =
        desk.toile(&format!("run rag.toml {set} --json")).exits(0).says(&format!("pictures are {note}"));
    assert_eq!(done.json()["note"], note);
    desk.toile("run rag.toml --set cloth.rag.shape.resolution=4 --out flat --json").exits(0);
    assert_eq!(desk.files("out/rag/frames"), desk.files("flat/frames"), "the simulation knows nothing of it");
    assert_eq!(desk.json("out/rag/certificate.json"), desk.json("flat/certificate.json"));
    assert_ne!(desk.read("out/rag/picture.png"), desk.read("flat/picture.png"));

    for (option, name) in [
        ("--smooth 1", "picture-smooth-1.png"),
        ("--smooth 4", "picture-smooth-4.png"),
        ("--smooth 4 --colour strain", "picture-smooth-4-strain.png"),
        ("--smooth 4 --colour speed --wire", "picture-smooth-4-speed.png"),
    ] {
        let done = desk.toile(&format!("render flat {option} --size 80x60 --json")).exits(0).says(name);
        assert_eq!(done.json()["note"] == note, !option.starts_with("--smooth 1"), "{option}");
        assert_eq!(decode_png(&desk.read(&format!("flat/{name}"))), (80, 60), "{option}");
    }
    desk.toile("render flat --size 80x60 --out plain.png").exits(0);
    assert_eq!(desk.read("plain.png"), desk.read("flat/picture-smooth-1.png"), "1 is off");

    // 25 vertices, 2 on each of 56 edges, 1 inside each of 32 faces
    desk.toile("convert flat --to pc2 --smooth 3 --json").exits(0).says(note);
    let mut fine = Pc2Reader::open(&desk.path("flat/pc2-smooth-3/rag.pc2")).expect("PC2");
    assert_eq!((fine.samples, fine.points), (12, 25 + 2 * 56 + 32));
    desk.toile("convert flat --to pc2 -q").exits(0);
    let mut coarse = Pc2Reader::open(&desk.path("flat/pc2/rag.pc2")).expect("PC2");
    let bits = |points: &[[f32; 3]]| points.as_flattened().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for sample in 0..12 {
        let (fine, coarse) = (fine.read(sample).expect("fine"), coarse.read(sample).expect("coarse"));
        assert_eq!(bits(&fine[..25]), bits(&coarse), "sample {sample}");
    }
    desk.toile("check flat/pc2-smooth-3/rag.pc2 --mesh flat/pc2-smooth-3/rag.obj").exits(0);
    desk.toile("convert flat --to obj --smooth 2 --out objs").exits(0).says("12 files").says(note);
    assert!(desk.text("objs/frame_000012.obj").contains(&format!("# {note}")));
    desk.toile("check objs").exits(0).says("PASS  12 frames");

    for wrong in ["0", "9", "-1", "two"] {
        for command in ["render flat", "convert flat --to obj"] {
            let line = format!("{command} --smooth={wrong}");
            desk.toile(&line).exits(2).says(wrong).says("--smooth").says("1 (off) to 8");
        }
    }
    let refused = desk.toile("run rag.toml --set render.smooth=9").exits(3);
    refused.says("smooth is 9, it must lie between 1 and 8").says("1 is off");
    desk.toile("render flat --smooth 2 --hierarchy 1").exits(2).says("cannot be used with");
}

#[test]
fn experiments_keep_their_contract() {
    let desk = Desk::new();
    let list = desk.toile("lab list").exits(0).out();
    assert!(list.contains("v00-x3") && list.lines().count() >= 5, "{list}");
    let report = desk.toile("lab v00-x3 --json --out lab").exits(0).json();
    for key in ["id", "pass", "figures", "timing", "files", "seconds"] {
        assert!(!report[key].is_null(), "{key}");
    }
    assert_eq!((&report["id"], &report["pass"]), (&"v00-x3".into(), &true.into()));
    let figures = report["figures"].as_array().expect("figures");
    assert!(!figures.is_empty());
    for figure in figures {
        let mut expected = ["name", "value", "unit", "limit", "op", "pass"].map(String::from).to_vec();
        expected.sort();
        assert_eq!(keys(figure), expected);
        assert!(["<=", ">=", "==", "info"].contains(&figure["op"].as_str().expect("op")));
        assert_eq!(figure["limit"].is_null(), figure["op"] == "info");
    }
    for file in report["files"].as_array().expect("files") {
        assert!(desk.path(file.as_str().expect("path")).exists(), "{file}");
    }
    desk.toile("lab v00-x9").exits(3).says("v00-x9").says("v00-x3").says("freefall");
    desk.toile("bench nothing").exits(3).says("hang");
}

#[test]
fn small_commands() {
    let desk = Desk::new();
    let scenes = desk.toile("scenes").exits(0).out();
    for name in ["canopy", "hang", "flag", "curtain"] {
        assert!(scenes.lines().any(|l| l.starts_with(name)), "{name} in {scenes}");
    }
    let schema: Value = serde_json::from_str(&desk.toile("schema").exits(0).out()).expect("JSON");
    assert!(schema["properties"]["cloth"].is_object());
    for shell in ["bash", "zsh", "fish"] {
        assert!(desk.toile(&format!("completions {shell}")).exits(0).out().contains("resume"), "{shell}");
    }
    desk.toile("--version").exits(0).says("toile");
    desk.toile("dance").exits(2).says("dance");
    desk.toile("run").exits(2).says("<SCENE>");
    desk.toile("run falg").exits(4).says("did you mean the built-in scene \"flag\"");
}
