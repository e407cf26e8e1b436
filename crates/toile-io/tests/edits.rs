//! Edits of scenes: done in the pattern, said, resumed to the bit; frames whose meshes change.

use glam::DVec3;
use std::path::Path;
use toile::{Probe, World};
use toile_io::axes::Axes;
use toile_io::build::build;
use toile_io::cache::{Cache, CacheOptions};
use toile_io::convert::{to_obj_sequence, to_pc2};
use toile_io::obj::Polygons;
use toile_io::pc2::Pc2Reader;
use toile_io::run::{
    Existing, Frame, Role, RunFolder, Topology, TopologyObject, load_snapshot, save_snapshot,
    single_precision,
};
use toile_io::scene::Scene;
use toile_io::tailor::{EditLine, EditOutcome, Tailor};

fn parse(text: &str) -> Scene {
    Scene::parse(text, "test").unwrap_or_else(|e| panic!("{e}"))
}

fn head(edits: &str) -> String {
    let cloth = "[[cloth]]\nname = \"sheet\"\nshape = { kind = \"sheet\", size = [1, 1], resolution = 8 }\n";
    format!(
        "toile = 1\nunits = \"m\"\nup = \"y\"\nframes = \"1-60\"\n{cloth}[[pin]]\nborder = \"top\"\n{edits}"
    )
}

const CUT_AND_SEAM: &str = "[[edit]]\nframe = 5\ncut = [[0.3, 0.5], [0.7, 0.5]]\n[[edit]]\nframe = 8\nremove = { polygon = [[0.4, 0.7], [0.6, 0.7], [0.6, 0.9], [0.4, 0.9]] }\n[[edit]]\nframe = 12\nseam = { along = [[0.3, 0.5], [0.7, 0.5]] }\n";

/// Steps from one frame to another; what became of edits.
fn go(
    world: &mut World,
    tailor: &mut Tailor,
    scene: &Scene,
    frames: std::ops::RangeInclusive<u32>,
) -> Vec<EditLine> {
    let mut lines = Vec::new();
    for frame in frames {
        lines.extend(tailor.work(world, frame));
        world.step(scene.frame_time, &mut Probe::default()).expect("a frame");
        lines.extend(tailor.sewn(world, frame));
    }
    lines
}

#[test]
fn the_page_on_tailoring_shows_a_scene_that_works() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tailoring.md"))
        .expect("a page");
    let text = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let scene = parse(text);
    let mut world = build(&scene).expect("a world").world;
    let mut tailor = Tailor::new(&scene, &[], &world);
    let lines = go(&mut world, &mut tailor, &scene, 2..=240);
    let done = lines.iter().filter(|line| line.edit.is_some() && line.outcome == EditOutcome::Done).count();
    assert_eq!((done, tailor.left()), (scene.edits.len(), 0), "{lines:?}");
    assert!(lines.iter().any(|line| line.what == "sew"), "sewn by the end: {:?}", world.seams());
}

#[test]
fn edits_that_cannot_be_are_said_and_the_run_goes_on() {
    let scene = parse(&head(
        "[[edit]]\nframe = 3\ncut = [[5, 5], [6, 6]]\n[[edit]]\nframe = 3\nseam = { along = [[0.2, 0.5], [0.8, 0.5]] }\n[[edit]]\nframe = 3\nremove = { circle = { centre = [0.5, 0.5], radius = 0.001 } }\n[[edit]]\nframe = 3\nseam = { from = [[0, 0], [1, 0]], to = [[0, 0], [0, 0.4]] }\n[[edit]]\nframe = 4\ncut = [[-0.01, 0.25], [0.5, 0.25]]\n",
    ));
    let mut world = build(&scene).expect("a world").world;
    let mut tailor = Tailor::new(&scene, &[], &world);
    let lines = go(&mut world, &mut tailor, &scene, 2..=6);
    let outcomes: Vec<EditOutcome> = lines.iter().map(|line| line.outcome).collect();
    use EditOutcome::{Done, Impossible};
    assert_eq!(outcomes, [Impossible, Impossible, Impossible, Impossible, Done], "{lines:?}");
    assert!(lines[0].message.contains("(5.0000, 5.0000)"), "{}", lines[0].message);
    assert!(lines[3].message.contains("have 9 and 4 vertices"), "{}", lines[3].message);
    // What is done is not done again.
    let again = Tailor::new(&scene, &lines, &world);
    assert_eq!(again.left(), 0);
}

#[test]
fn mistakes_in_edits_are_underlined() {
    for (edit, says) in [
        ("frame = 3", "edit 0 does not say what it does"),
        ("frame = 3\nfill = [0, 0]\ncut = [[0, 0], [1, 1]]", "is one of 2 things to do"),
        ("frame = 3\ncut = [[0, 0]]", "has 1 points, it needs 2"),
        ("frame = 3\ncut = [[0, 0], [0, 0]]", "is the point before it again"),
        ("frame = 3\nremove = {}", "does not say where"),
        (
            "frame = 3\nresize = { centre = [0, 0], radius = 0.1, factor = 3 }",
            "is 3, it must lie between 0.5 and 2",
        ),
        ("frame = 3\nseam = { from = [[0, 0], [1, 1]] }", "needs the line of a cut, or two borders"),
        ("frame = 3\ncloth = \"shet\"\nfill = [0, 0]", "did you mean \"sheet\"?"),
        ("fill = [0, 0]", "frame"),
    ] {
        let error = Scene::parse(&head(&format!("[[edit]]\n{edit}\n")), "test").expect_err(edit).to_string();
        assert!(error.contains(says), "{edit}: {error}");
    }
}

fn object(world: &World) -> TopologyObject {
    let cloth = &world.cloths()[0];
    let narrow = |all: &[[glam::DVec2; 3]]| all.iter().map(|t| t.map(|p| p.as_vec2().to_array())).collect();
    TopologyObject {
        name: cloth.name.clone(),
        role: Role::Cloth,
        moves: true,
        vertex_count: cloth.positions.len() as u32,
        triangles: cloth.mesh.faces().to_vec(),
        polygons: Polygons::default(),
        texcoords: Vec::new(),
        triangle_texcoords: Vec::new(),
        start: single_precision(&cloth.positions),
        chart: narrow(cloth.chart()),
        rest: if cloth.chart.is_empty() { Vec::new() } else { narrow(cloth.mesh.rest()) },
        marks: Vec::new(),
    }
}

fn frame(world: &World, number: u32, topology: &Topology) -> Frame {
    Frame {
        frame: number,
        time: world.time(),
        topology: topology.id(),
        counts: vec![world.cloths()[0].positions.len() as u32],
        positions: world.positions_f32(0),
        velocities: None,
        bodies: Vec::new(),
    }
}

#[test]
fn a_run_resumed_after_a_cut_and_within_a_seam_has_the_same_bits() {
    let scene = parse(&head(CUT_AND_SEAM));
    let folder = tempfile::tempdir().expect("folder");
    let mut built = build(&scene).expect("a world");
    let run =
        RunFolder::create(&folder.path().join("run"), &scene, &built.inputs, Existing::Refuse).expect("run");
    let mut tailor = Tailor::new(&scene, &[], &built.world);
    let mut lines = Vec::new();
    for (from, to) in [(2, 6), (7, 14), (15, 30)] {
        lines.extend(go(&mut built.world, &mut tailor, &scene, from..=to));
        save_snapshot(&run, to, &built.world.snapshot()).expect("saved");
        let checkpoint = run.newest_checkpoint(to).expect("a checkpoint");
        let snapshot = load_snapshot(&run, &checkpoint).expect("read");
        let mut other = build(&scene).expect("a world").world;
        other.restore(snapshot).expect("the same scene");
        assert_eq!(other.fingerprint(), built.world.fingerprint(), "frame {to}");
        assert_eq!(other.seams(), built.world.seams());
        let mut resumed = Tailor::new(&scene, &lines, &other);
        let mut whole = build(&scene).expect("a world").world;
        whole.restore(built.world.snapshot()).expect("the same scene");
        let mut again = Tailor::new(&scene, &lines, &whole);
        go(&mut other, &mut resumed, &scene, to + 1..=to + 8);
        go(&mut whole, &mut again, &scene, to + 1..=to + 8);
        let mut went = Tailor::new(&scene, &lines, &built.world);
        let before = built.world.snapshot();
        go(&mut built.world, &mut went, &scene, to + 1..=to + 8);
        assert_eq!(other.fingerprint(), built.world.fingerprint(), "8 frames after {to}");
        assert_eq!(whole.fingerprint(), built.world.fingerprint());
        built.world.restore(before).expect("its own");
    }
}

#[test]
fn caches_read_and_convert_meshes_that_change() {
    let scene = parse(&head("[[edit]]\nframe = 3\ncut = [[0.5, 0], [0.5, 0.6]]\n"));
    let folder = tempfile::tempdir().expect("folder");
    let mut built = build(&scene).expect("a world");
    let root = folder.path().join("run");
    let run = RunFolder::create(&root, &scene, &built.inputs, Existing::Refuse).expect("run");
    let topology = |world: &World| Topology {
        objects: vec![object(world)],
        frame_time: scene.frame_time,
        axes: Axes::SI,
    };
    let first = topology(&built.world);
    run.write_topology(&first).expect("written");
    run.write_frame(&frame(&built.world, 1, &first)).expect("written");
    let mut tailor = Tailor::new(&scene, &[], &built.world);
    for number in 2..=6 {
        let lines = go(&mut built.world, &mut tailor, &scene, number..=number);
        assert!(lines.iter().all(|line| line.outcome == EditOutcome::Done), "{lines:?}");
        let now = topology(&built.world);
        if now.id() != first.id() {
            run.write_later_topology(&now).expect("written");
        }
        run.write_frame(&frame(&built.world, number, &now)).expect("written");
    }
    let mut cache = Cache::open(&root, &CacheOptions::default()).expect("a cache");
    let counts: Vec<usize> =
        (0..6).map(|i| cache.read(i).expect("a frame").objects[0].vertex_count).collect();
    assert_eq!(counts[..2], [81, 81]);
    assert!(counts[2] > 81 && counts[2..].iter().all(|n| *n == counts[2]), "{counts:?}");
    assert_eq!(
        to_obj_sequence(&mut cache, &folder.path().join("obj"), "f", Axes::SI, 1, false).expect("obj"),
        6
    );
    let vertices = |path: &Path| {
        std::fs::read_to_string(path).expect("obj").lines().filter(|l| l.starts_with("v ")).count()
    };
    assert_eq!(vertices(&folder.path().join("obj/f_000006.obj")), counts[5]);
    let pc2 = folder.path().join("first.pc2");
    let (_, followed) = to_pc2(&mut cache, 0, &pc2, Axes::SI, 1, None).expect("pc2");
    assert_eq!(followed, 4);
    // Vertices that the cut did not touch are where they are in the mesh of the frame.
    let last = Pc2Reader::open(&pc2).expect("pc2").read(5).expect("frame 6");
    let x = built.world.positions_f32(0);
    let off = |v: usize| (DVec3::from(last[v].map(f64::from)) - DVec3::from(x[v].map(f64::from))).length();
    assert_eq!(last.len(), 81);
    let moved = (0..81).filter(|v| off(*v) > 1e-5).count();
    assert!(moved <= 12, "{moved} vertices are elsewhere");
    assert!((0..81).all(|v| off(v) < 2e-3), "none is farther than the cut was opened");
    let later = folder.path().join("later.pc2");
    let (_, followed) = to_pc2(&mut cache, 0, &later, Axes::SI, 1, Some(6)).expect("pc2");
    assert_eq!((followed, Pc2Reader::open(&later).expect("pc2").points as usize), (2, counts[5]));
}
