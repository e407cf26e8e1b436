//! The built-in scenes give the same bits everywhere: in debug and release builds, on any number of threads, and
//! after a stop in the middle. `TOILE_GOLDEN=write cargo test -p toile-cli --test golden` renews the files after a
//! deliberate change of a result.

use std::fmt::Write;
use std::path::PathBuf;
use toile::{Probe, World};
use toile_io::build::build;
use toile_io::run::{Existing, RunFolder, load_snapshot, save_snapshot};
use toile_io::scene::{BUILTINS, Resolved, Scene, resolve};
use toile_io::tailor::Tailor;

/// Pools that must agree; more threads than cores is a case of its own.
const THREADS: [usize; 5] = [1, 2, 3, 4, 8];

/// How much of a scene is run, so that the whole file stays below a minute in a debug build.
struct Short {
    scene: &'static str,
    /// Makes the scene smaller; every scene but the flag stays above the 2048 particles where loops go parallel.
    set: &'static [&'static str],
    /// Frames whose fingerprint is kept; the last one ends the run.
    frames: &'static [u32],
}

const SHORTS: &[Short] = &[
    Short { scene: "canopy", set: &["cloth.canopy.shape.resolution=46"], frames: &[2, 4, 6] },
    Short { scene: "hang", set: &["cloth.sheet.shape.resolution=46"], frames: &[2, 4, 6] },
    Short { scene: "flag", set: &[], frames: &[2, 6, 12] },
    Short { scene: "curtain", set: &[], frames: &[2, 4, 6] },
    Short { scene: "sphere", set: &["cloth.sheet.shape.resolution=16"], frames: &[10, 13] },
    Short { scene: "sphere-adaptive", set: &["cloth.sheet.shape.resolution=8"], frames: &[16, 21] },
    Short { scene: "garment-cylinder", set: &[], frames: &[4, 9] },
    Short { scene: "tablecloth", set: &[], frames: &[5, 20, 40] },
    Short { scene: "sheets", set: &[], frames: &[4, 11] },
    Short { scene: "tape", set: &[], frames: &[5, 16] },
    Short { scene: "stack", set: &[], frames: &[1, 2] },
    Short { scene: "stack4", set: &[], frames: &[4, 11] },
    Short { scene: "twist", set: &["cloth.sheet.shape.resolution=16"], frames: &[5, 10] },
    Short { scene: "ball", set: &["cloth.sheet.shape.resolution=16"], frames: &[2, 3] },
    Short { scene: "drape", set: &[], frames: &[2, 3] },
    Short { scene: "cubes", set: &["thing.cube.copies.count=30"], frames: &[10, 20] },
    Short { scene: "pinch", set: &["cloth.sheet.shape.resolution=[10,16]"], frames: &[36, 40] },
    Short { scene: "tangled", set: SMALL_TANGLES, frames: &[2] },
    Short { scene: "funnel", set: &["cloth.sheet.shape.resolution=12"], frames: &[2, 5] },
    Short { scene: "ring", set: &["cloth.sheet.shape.resolution=12"], frames: &[10, 20] },
    Short { scene: "press", set: &[], frames: &[2] },
    Short { scene: "knot", set: &["cloth.ribbon.shape.resolution=[100, 2]"], frames: &[10, 20] },
    Short { scene: "spike", set: &["cloth.pricked.shape.resolution=12"], frames: &[5, 10] },
    Short { scene: "scissors", set: EARLY_EDITS, frames: &[5, 12] },
    Short { scene: "cards", set: &[], frames: &[5, 20] },
];

/// The scene of tangled starts with few particles.
const SMALL_TANGLES: &[&str] = &[
    "cloth.tube.shape.resolution=[14,4]",
    "cloth.torso.shape.resolution=[16,6]",
    "cloth.lining.shape.resolution=7",
    "cloth.coat.shape.resolution=7",
    "cloth.front.shape.resolution=7",
    "cloth.back.shape.resolution=7",
    "cloth.sheet.shape.resolution=8",
    "cloth.flap.shape.resolution=5",
];

/// Larger, smaller, cut, holed, and a seam that begins to close.
const EARLY_EDITS: &[&str] =
    &["edit.0.frame=3", "edit.1.frame=3", "edit.2.frame=4", "edit.3.frame=6", "edit.4.frame=8"];

/// Scenes in which cloth meets something: their goldens are compared where they have been written.
const CONTACT: &[&str] = &[
    "sphere",
    "sphere-adaptive",
    "garment-cylinder",
    "tablecloth",
    "sheets",
    "tape",
    "stack",
    "stack4",
    "twist",
    "ball",
    "drape",
    "cubes",
    "pinch",
    "tangled",
    "funnel",
    "ring",
    "press",
    "knot",
    "spike",
    "cards",
    "scissors",
];

fn short(name: &str) -> &'static Short {
    SHORTS.iter().find(|s| s.scene == name).unwrap_or_else(|| panic!("scene {name} has no entry in SHORTS"))
}

fn open(name: &str, set: &[&str]) -> Scene {
    let source: Resolved = resolve(name).unwrap_or_else(|e| panic!("{e}"));
    Scene::open(&source, set).unwrap_or_else(|e| panic!("{e}"))
}

fn world(scene: &Scene) -> World {
    build(scene).unwrap_or_else(|e| panic!("{e}")).world
}

/// Steps from the state of frame `from` to that of frame `to`.
fn advance(world: &mut World, scene: &Scene, from: u32, to: u32) {
    let mut tailor = Tailor::after(scene, from, world);
    for frame in from..to {
        tailor.work(world, frame + 1);
        let step = world.step(scene.frame_time, &mut Probe::default());
        step.unwrap_or_else(|e| panic!("frame {}: {e}", frame + 1));
    }
}

/// The text of a golden file as this build computes it.
fn golden(short: &Short) -> String {
    let scene = open(short.scene, short.set);
    let mut world = world(&scene);
    let with: Vec<String> = short.set.iter().map(|s| format!(" --set {s}")).collect();
    let mut text = format!("# frame and fingerprint of `toile run {}{}`\n", short.scene, with.concat());
    let mut at = scene.frames.first;
    for &frame in short.frames {
        advance(&mut world, &scene, at, frame);
        at = frame;
        writeln!(text, "{frame} {:016x}", world.fingerprint()).expect("text");
    }
    text
}

fn on<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(work)
}

fn compare(name: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name).join("golden.txt");
    if std::env::var_os("TOILE_GOLDEN").is_some_and(|v| v == "write") {
        std::fs::write(&path, on(1, || golden(short(name)))).expect("write");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}/golden.txt: {e}"));
    assert!(expected.lines().count() > 1, "{name}/golden.txt holds no fingerprint");
    for threads in THREADS {
        assert_eq!(on(threads, || golden(short(name))), expected, "{name} on {threads} threads");
    }
}

#[test]
fn canopy_is_golden() {
    compare("canopy");
}

#[test]
fn hang_is_golden() {
    compare("hang");
}

#[test]
fn flag_is_golden() {
    compare("flag");
}

#[test]
fn curtain_is_golden() {
    compare("curtain");
}

/// `cargo xtask tidy` asks for the files that are missing.
#[test]
fn scenes_in_contact_are_golden() {
    let scenes = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let write = std::env::var_os("TOILE_GOLDEN").is_some_and(|v| v == "write");
    for name in CONTACT {
        if write || scenes.join(name).join("golden.txt").exists() {
            compare(name);
        }
    }
}

#[test]
fn every_scene_is_compared_and_many_run_parallel() {
    let names: Vec<&str> = BUILTINS.iter().map(|b| b.name).collect();
    let compared: Vec<&str> = SHORTS.iter().map(|s| s.scene).collect();
    assert_eq!(names, compared);
    let particles =
        |s: &Short| world(&open(s.scene, s.set)).cloths().iter().map(|c| c.positions.len()).sum::<usize>();
    assert!(SHORTS.iter().filter(|s| particles(s) > 2048).count() >= 4);
}

/// Stops a scene in the middle, goes through a checkpoint file, and ends in the same state.
#[test]
fn a_stop_in_the_middle_changes_no_bit() {
    for (name, set) in [("flag", "frames=7"), ("canopy", "cloth.canopy.shape.resolution=16")] {
        let scene = open(name, &[set]);
        let mut whole = world(&scene);
        advance(&mut whole, &scene, 1, 7);
        let dir = tempfile::tempdir().expect("tempdir");
        let run = RunFolder::create(dir.path(), &scene, &[], Existing::Refuse).expect("folder");
        let mut first = world(&scene);
        advance(&mut first, &scene, 1, 4);
        save_snapshot(&run, 4, &first.snapshot()).expect("save");
        let checkpoint = run.newest_checkpoint(4).expect("checkpoint");
        let mut second = world(&scene);
        second.restore(load_snapshot(&run, &checkpoint).expect("load")).expect("same scene");
        assert_eq!(second.fingerprint(), first.fingerprint());
        advance(&mut second, &scene, 4, 7);
        assert_eq!(second.fingerprint(), whole.fingerprint(), "{name}");
        assert_ne!(first.fingerprint(), whole.fingerprint(), "{name} does not move");
    }
}
