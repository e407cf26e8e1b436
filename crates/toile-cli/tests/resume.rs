//! Runs that are stopped, killed, damaged or out of space, and what `toile resume` makes of them.

mod common;

use common::{Desk, TINY, signal, wait_for};
use std::process::Command;
use std::time::Duration;

/// Long enough to be caught in the middle: every frame waits for the disk.
const FRAMES: u32 = 60;
const RUN: &str = "run rag.toml --no-picture --no-check -q --out";

fn desk() -> Desk {
    let scene = TINY.replace("frames = \"1-12\"", &format!("frames = \"1-{FRAMES}\""));
    Desk::with(&format!("{scene}\n[output]\ncheckpoint_every = 7\nvelocities = true\n"))
}

/// Everything of a run that must not depend on how often it stopped.
fn result(desk: &Desk, run: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = desk.files(&format!("{run}/frames"));
    files.push(("topology".into(), desk.read(&format!("{run}/topology.toile"))));
    let stats = desk.text(&format!("{run}/stats.jsonl"));
    // Times differ from run to run; frames and fingerprints do not.
    let lines = stats.lines().map(|l| serde_json::from_str::<serde_json::Value>(l).expect("JSON"));
    let lines = lines.map(|l| format!("{} {} {}", l["frame"], l["fingerprint"], l["energy"]));
    files.push(("stats".into(), lines.collect::<Vec<_>>().join("\n").into_bytes()));
    files
}

fn assert_same(desk: &Desk, run: &str, reference: &[(String, Vec<u8>)], story: &str) {
    let result = result(desk, run);
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|f| f.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&result), names(reference), "{story}");
    for (a, b) in result.iter().zip(reference) {
        assert!(a == b, "{story}: {} differs", a.0);
    }
    assert_eq!(desk.json(&format!("{run}/outcome.json"))["status"], "ok", "{story}");
}

fn frame(run: &str, number: u32) -> String {
    format!("{run}/frames/{number:06}.toile")
}

#[test]
fn an_interrupted_run_ends_tidily_and_resumes_to_the_same_bytes() {
    let desk = desk();
    desk.toile(&format!("{RUN} whole")).exits(0);
    let reference = result(&desk, "whole");
    let mut child = desk.start(&format!("{RUN} cut"));
    wait_for(&mut child, &desk.path(&frame("cut", 5)));
    signal(&child, "-INT");
    assert_eq!(child.wait().expect("end").code(), Some(130));
    let outcome = desk.json("cut/outcome.json");
    assert_eq!((&outcome["status"], &outcome["reason"]), (&"interrupted".into(), &"signal".into()));
    let last = outcome["frame"].as_u64().expect("frame");
    assert!(last < u64::from(FRAMES), "the run was over before it was interrupted");
    assert_eq!(desk.files("cut/frames").len() as u64, last);
    let done = desk.toile("resume cut --no-picture --json").exits(0).json();
    assert_eq!((&done["status"], &done["frame"]), (&"ok".into(), &FRAMES.into()));
    assert_same(&desk, "cut", &reference, "interrupted");
    desk.toile("resume cut --no-picture").exits(0).says("complete");
    assert_same(&desk, "cut", &reference, "resumed once too often");
}

#[test]
fn cloth_that_remembers_resumes_to_the_same_bytes() {
    let plain = TINY.replace("frames = \"1-12\"", "frames = \"1-20\"");
    let memory = "crease = { yield = 0.2, hardening = 0.1 }, bend_hysteresis = 2e-5, bend_onset = 0.2, \
        shear_hysteresis = 0.02, shear_onset = 2e-4";
    let scene = plain.replacen("name = \"rag\"", &format!("name = \"rag\"\nfabric = {{ {memory} }}"), 1);
    assert_ne!(scene, plain, "the scene has a rag");
    let desk = Desk::with(&format!("{scene}\n[output]\ncheckpoint_every = 7\nvelocities = true\n"));
    desk.toile(&format!("{RUN} whole")).exits(0);
    let reference = result(&desk, "whole");
    let mut child = desk.start(&format!("{RUN} cut"));
    wait_for(&mut child, &desk.path(&frame("cut", 9)));
    child.kill().expect("kill -9");
    child.wait().expect("end");
    desk.toile("resume cut --no-picture").exits(0);
    assert_same(&desk, "cut", &reference, "cut with a memory");
    // Without its memory, the same cloth moves on otherwise: it is there, and it matters.
    let without = Desk::with(&format!("{plain}\n[output]\ncheckpoint_every = 7\nvelocities = true\n"));
    without.toile(&format!("{RUN} whole")).exits(0);
    assert!(result(&without, "whole") != reference);
}

/// A plate closes on another with the rag between them, goes where it has no room, and opens again.
const PRESS: &str = r#"toile = 1
units = "m"
up = "y"
frames = "1-40"
fps = 60

[[cloth]]
name = "rag"
shape = { kind = "sheet", size = [0.2, 0.2], resolution = 4, plane = "flat" }

[[body]]
name = "upper"
shape = { kind = "box", size = [0.1, 0.02, 0.1] }
translate = [0, 0.04, 0]
motion = [{ frame = 1 }, { frame = 12, translate = [0, -0.06, 0] }, { frame = 24 }]

[[body]]
name = "lower"
shape = { kind = "box", size = [0.1, 0.02, 0.1] }
translate = [0, -0.03, 0]

[solver]
substeps = 2

[output]
checkpoint_every = 5
"#;

#[test]
fn what_bodies_are_let_through_is_logged_and_resumes_to_the_same_bytes() {
    let desk = Desk::with(PRESS);
    let whole = desk.toile("run rag.toml --no-picture --out whole").exits(0).says("bodies were let through");
    let log = desk.text("whole/releases.jsonl");
    let lines: Vec<serde_json::Value> = log.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let first = &lines[0];
    assert_eq!((&first["cloth"], &first["through"]), (&"rag".into(), &true.into()));
    let (number, time) = (first["frame"].as_u64().expect("frame"), first["time"].as_f64().expect("time"));
    assert!((8..=13).contains(&number), "the plates have no room left in frame {number}");
    let within = number as f64 - 2.0..number as f64 - 1.0;
    assert!(within.contains(&(60.0 * time)), "{time} s is not in frame {number}");
    whole.says(&format!("vertex {} in frame {number} at {time:.3} s", first["vertex"]));
    // The certificate counts whoever is let through, frame by frame, as the log has it.
    let certificate = desk.json("whole/certificate.json");
    for line in certificate["by_frame"].as_array().expect("lines") {
        let until = lines.iter().filter(|l| l["frame"].as_u64() <= line["frame"].as_u64());
        let mut through: Vec<&serde_json::Value> = Vec::new();
        for l in until {
            through.retain(|vertex| **vertex != l["vertex"]);
            through.extend((l["through"] == true).then_some(&l["vertex"]));
        }
        assert_eq!(line["pinched"], through.len(), "frame {}", line["frame"]);
    }
    assert!(
        certificate["by_frame"][10]["pinched"].as_u64() > Some(0),
        "frame 11 is checkpointed with the plates closed"
    );
    // Killed while vertices are let through, and resumed from a checkpoint that knows them.
    let reference = result(&desk, "whole");
    let mut child = desk.start(&format!("{RUN} cut"));
    wait_for(&mut child, &desk.path(&frame("cut", 12)));
    child.kill().expect("kill -9");
    child.wait().expect("end");
    desk.toile("resume cut --no-picture --no-check").exits(0).says("bodies were let through");
    assert_same(&desk, "cut", &reference, "cut while vertices were let through");
    assert_eq!(desk.text("cut/releases.jsonl"), log);
    // Where nothing is let through there is nothing to read.
    let free = Desk::with(&PRESS.replace("-0.06", "-0.03"));
    let done = free.toile("run rag.toml --no-picture --no-check --out free").exits(0);
    assert!(!done.err().contains("let through"), "{}", done.err());
    assert!(!free.path("free/releases.jsonl").exists());
}

#[test]
fn a_killed_run_resumes_to_the_same_bytes_wherever_it_was_hit() {
    let desk = desk();
    desk.toile(&format!("{RUN} whole")).exits(0);
    let reference = result(&desk, "whole");
    let mut cut = 0;
    for (k, number) in [1, 2, 7, 8, 19, 33].into_iter().enumerate() {
        let run = format!("killed{k}");
        let mut child = desk.start(&format!("{RUN} {run}"));
        wait_for(&mut child, &desk.path(&frame(&run, number)));
        // Different moments between two frames: while stepping, writing, renaming.
        std::thread::sleep(Duration::from_micros(700 * k as u64));
        child.kill().expect("kill -9");
        child.wait().expect("end");
        cut += u32::from(!desk.path(&format!("{run}/outcome.json")).exists());
        let files = desk.files(&format!("{run}/frames"));
        let whole = files.iter().filter(|(name, _)| !name.starts_with('.'));
        for (name, bytes) in whole {
            let expected = reference.iter().find(|(n, _)| n == name).expect("a frame of the run");
            assert!(bytes == &expected.1, "{run}: {name} is visible but not whole");
        }
        desk.toile(&format!("resume {run} --no-picture --no-check")).exits(0);
        assert_same(&desk, &run, &reference, &format!("killed after frame {number}"));
    }
    assert!(cut >= 1, "no run was killed before its end");
}

#[test]
fn damage_is_noticed_and_simulated_again() {
    let desk = desk();
    desk.toile(&format!("{RUN} whole")).exits(0);
    let reference = result(&desk, "whole");
    let newest = || desk.files("whole/checkpoints").pop().expect("a checkpoint");
    let (name, bytes) = newest();
    desk.write(&format!("whole/checkpoints/{name}"), &bytes[..bytes.len() / 2]);
    let line = "resume whole --no-picture --no-check";
    desk.toile(line).exits(0).says(&format!("checkpoint of frame {FRAMES} cannot be used"));
    assert_same(&desk, "whole", &reference, "truncated checkpoint");
    for (name, mut bytes) in desk.files("whole/checkpoints") {
        bytes[100] ^= 0x10;
        desk.write(&format!("whole/checkpoints/{name}"), bytes);
    }
    desk.toile(line).exits(0);
    assert_same(&desk, "whole", &reference, "both checkpoints corrupt");
    std::fs::remove_file(desk.path(&frame("whole", 23))).expect("delete");
    desk.toile(line).exits(0);
    assert_same(&desk, "whole", &reference, "a frame deleted");
    let mut bytes = desk.read(&frame("whole", 58));
    bytes[300] ^= 1;
    desk.write(&frame("whole", 58), bytes);
    desk.toile(line).exits(0);
    assert_same(&desk, "whole", &reference, "a frame damaged after the last but one checkpoint");
}

#[test]
fn a_full_disk_is_said_and_survived() {
    let desk = desk();
    desk.toile(&format!("{RUN} whole")).exits(0);
    let reference = result(&desk, "whole");
    // The shell's limit on file sizes stands for a disk that fills up while stats.jsonl grows (blocks of 512 bytes
    // or 1 KiB, by shell).
    let toile = env!("CARGO_BIN_EXE_toile");
    let line = format!("trap '' XFSZ; ulimit -f 16; exec '{toile}' {RUN} full --json");
    let output = Command::new("sh").args(["-c", &line]).current_dir(desk.root()).output().expect("sh");
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(28), "{said}");
    assert!(said.contains("help:") && !said.contains("panicked"), "{said}");
    let json = said.lines().filter(|l| l.starts_with('{')).collect::<Vec<_>>();
    assert!(json.len() == 1 && json[0].contains("\"disk-full\""), "{said}");
    assert_eq!(desk.json("full/outcome.json")["status"], "failed");
    assert_eq!(desk.json("full/outcome.json")["reason"], "disk-full");
    let names: Vec<String> = desk.files("full/frames").into_iter().map(|(name, _)| name).collect();
    assert!(names.len() < FRAMES as usize && names.iter().all(|n| !n.ends_with(".tmp")), "{names:?}");
    desk.toile("resume full --no-picture --no-check").exits(0);
    assert_same(&desk, "full", &reference, "after a full disk");
}

#[test]
fn two_runs_cannot_share_a_folder_and_scenes_cannot_be_swapped() {
    let desk = desk();
    let mut child = desk.start(&format!("{RUN} busy"));
    wait_for(&mut child, &desk.path(&frame("busy", 2)));
    signal(&child, "-STOP");
    desk.toile("resume busy").exits(4).says("is running in this folder").says("help:");
    desk.toile(&format!("{RUN} busy --force")).exits(4).says(&child.id().to_string());
    signal(&child, "-CONT");
    child.kill().expect("kill");
    child.wait().expect("end");
    let changed = desk.text("busy/scene.toml").replace("1.0, 1.0", "1.0, 2.0");
    desk.write("busy/scene.toml", changed);
    desk.toile("resume busy").exits(4).says("has changed since this run started").says("help:");
    desk.toile("resume nowhere").exits(4).says("nowhere").says("help:");
}
