//! Runs on disk: frames, checkpoints, folders, caches and conversions, whole and damaged.

use glam::{DVec2, DVec3};
use std::fs;
use std::path::Path;
use toile_io::axes::{Axes, Units, Up};
use toile_io::cache::{Cache, CacheOptions, TrackPath};
use toile_io::container::ArrayRef;
use toile_io::convert::{to_obj_sequence, to_pc2};
use toile_io::error::FileErrorKind;
use toile_io::obj::{self, Obj, Polygons, Precision};
use toile_io::run::*;
use toile_io::scene::{InputFile, Scene, resolve};

fn hang() -> Scene {
    Scene::open(&resolve("hang").expect("built in"), &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// A quad and a triangle of cloth, and a body of one triangle.
fn topology() -> Topology {
    let polygons = Polygons::from_counts(&[4, 3], vec![0, 1, 2, 3, 2, 1, 4], vec![0, 1, 2, 3, 2, 1, 4]);
    let cloth = TopologyObject {
        name: "sheet".into(),
        role: Role::Cloth,
        moves: true,
        vertex_count: 5,
        triangles: vec![[0, 1, 2], [0, 2, 3], [2, 1, 4]],
        polygons: polygons.expect("adds up"),
        texcoords: vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 0.5]],
        triangle_texcoords: vec![[0, 1, 2], [0, 2, 3], [2, 1, 4]],
        start: positions(0),
        chart: Vec::new(),
        rest: Vec::new(),
        marks: vec![0, 1, 2],
    };
    let body = TopologyObject {
        name: "floor".into(),
        role: Role::Body,
        moves: false,
        vertex_count: 3,
        triangles: vec![[0, 1, 2]],
        polygons: Polygons::default(),
        texcoords: Vec::new(),
        triangle_texcoords: Vec::new(),
        start: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        chart: Vec::new(),
        rest: Vec::new(),
        marks: Vec::new(),
    };
    // Bodies may stand before cloths: frames hold cloths only.
    let axes = Axes { units: Units::Cm, up: Up::Z };
    Topology { objects: vec![body, cloth], frame_time: 1.0 / 24.0, axes }
}

fn positions(frame: u32) -> Vec<[f32; 3]> {
    let f = frame as f32 * 0.1;
    vec![[0.1, f, -0.0], [1.0, f * f, 1e-20], [1.0, 1.0, f], [0.0, 1.0 / 3.0, -f], [2.0, 0.5, 1e7]]
}

fn frame(number: u32) -> Frame {
    Frame {
        frame: number,
        time: f64::from(number - 1) / 24.0,
        topology: topology().id(),
        counts: vec![5],
        positions: positions(number),
        velocities: number.is_multiple_of(2).then(|| positions(number + 1)),
        bodies: Vec::new(),
    }
}

fn write_run(root: &Path, frames: std::ops::RangeInclusive<u32>) -> RunFolder {
    let run = RunFolder::create(root, &hang(), &[], Existing::Refuse).unwrap_or_else(|e| panic!("{e}"));
    run.write_topology(&topology()).expect("topology");
    for n in frames {
        run.write_frame(&frame(n)).expect("frame");
    }
    run
}

#[test]
fn frames_and_topology_come_back_bit_for_bit() {
    let dir = tempfile::tempdir().expect("tempdir");
    let run = write_run(&dir.path().join("out"), 1..=4);
    for n in 1..=4 {
        let (got, want) = (run.read_frame(n).expect("frame"), frame(n));
        assert_eq!(got, want);
        let bits = |f: &Frame| f.positions.as_flattened().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&got), bits(&want));
    }
    assert_eq!(run.frames(), [1, 2, 3, 4]);
    let read = run.read_topology().expect("topology");
    assert_eq!(read, topology());
    assert_eq!(read.id(), topology().id());
    let mut other = topology();
    other.objects[1].triangles[0] = [1, 2, 0];
    assert_ne!(other.id(), topology().id());
}

#[test]
fn bodies_that_move_are_where_they_were_in_every_frame() {
    let dir = tempfile::tempdir().expect("tempdir");
    let root = dir.path().join("out");
    let run = RunFolder::create(&root, &hang(), &[], Existing::Refuse).unwrap_or_else(|e| panic!("{e}"));
    let mut topology = topology();
    let ball = TopologyObject { name: "ball".into(), moves: true, ..topology.objects[0].clone() };
    topology.objects.push(ball);
    run.write_topology(&topology).expect("topology");
    let place = |n: u32| vec![[n as f32, 0.0, 0.0], [1.0, n as f32, 0.0], [0.0, 0.0, 1.0]];
    for n in 1..=3 {
        let frame = Frame { topology: topology.id(), bodies: place(n), ..frame(n) };
        run.write_frame(&frame).expect("frame");
    }
    assert_eq!(run.read_topology().expect("topology"), topology);
    let mut cache = Cache::open(&root, &CacheOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<&str> = cache.objects.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["sheet", "floor", "ball"]);
    for n in 1..=3 {
        let frame = cache.read(n as usize - 1).expect("frame");
        assert_eq!(frame.positions[1][1], DVec3::X, "the floor stays");
        assert_eq!(frame.positions[2][0], DVec3::X * f64::from(n), "the ball moves");
    }
    let mut wrong = Frame { topology: topology.id(), ..frame(2) };
    run.write_frame(&wrong).expect("without the body");
    assert!(cache.read(1).expect_err("no ball").message.contains("another mesh"));
    wrong.bodies = vec![[f32::INFINITY; 3]];
    let error = run.write_frame(&wrong).expect_err("not finite");
    assert!(error.message.contains("moving bodies' vertex 0 is not finite"), "{error}");
}

#[test]
fn frames_that_must_not_exist_are_refused() {
    let dir = tempfile::tempdir().expect("tempdir");
    let path = dir.path().join("000001.toile");
    let mut nan = frame(1);
    nan.positions[3][1] = f32::NAN;
    let e = nan.write(&path).expect_err("NaN");
    assert!(e.message.contains("position of particle 3 is not finite"), "{e}");
    let mut short = frame(1);
    short.positions.pop();
    assert!(short.write(&path).expect_err("short").message.contains("4 particles where 5"));
    assert!(!path.exists());
}

#[test]
fn every_flipped_bit_and_every_cut_of_a_frame_is_detected() {
    let dir = tempfile::tempdir().expect("tempdir");
    let path = dir.path().join("000002.toile");
    frame(2).write(&path).expect("write");
    let good = fs::read(&path).expect("bytes");
    let mut bad = good.clone();
    for bit in 0..good.len() * 8 {
        bad[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &bad).expect("write");
        assert!(Frame::read(&path).is_err(), "bit {bit} went unseen");
        bad[bit / 8] = good[bit / 8];
    }
    for length in 0..good.len() {
        fs::write(&path, &good[..length]).expect("write");
        let e = Frame::read(&path).expect_err("cut");
        assert!(matches!(e.kind, FileErrorKind::Corrupt | FileErrorKind::Format), "cut at {length}: {e}");
    }
    fs::write(&path, &good).expect("write");
    assert_eq!(Frame::read(&path).expect("whole again"), frame(2));
}

#[test]
fn swapped_and_foreign_frames_are_named() {
    let dir = tempfile::tempdir().expect("tempdir");
    let root = dir.path().join("out");
    let run = write_run(&root, 1..=3);
    fs::copy(run.frame_path(1), run.frame_path(2)).expect("swap");
    assert!(run.read_frame(2).expect_err("swapped").message.contains("holds frame 1, its name says 2"));
    fs::copy(root.join("topology.toile"), run.frame_path(2)).expect("other kind");
    assert!(run.read_frame(2).expect_err("kind").message.contains("toile topology file, a frame file"));
    let mut foreign = frame(3);
    foreign.topology ^= 1;
    run.write_frame(&foreign).expect("write");
    let mut cache = Cache::open(&root, &CacheOptions::default()).expect("cache");
    let results: Vec<bool> = cache.iter().map(|f| f.is_ok()).collect();
    assert_eq!(results, [true, false, false], "intact frames stay readable");
    assert!(cache.read(2).expect_err("foreign").message.contains("another mesh"));
}

#[test]
fn checkpoints_keep_two_and_fall_back() {
    let dir = tempfile::tempdir().expect("tempdir");
    let run = write_run(&dir.path().join("out"), 1..=1);
    assert!(run.newest_checkpoint(100).is_none());
    for n in [10u32, 20, 30] {
        let x = [f64::from(n) * 0.1, f64::MIN_POSITIVE, -0.0];
        run.save_checkpoint(n, &[("x", ArrayRef::F64(&x)), ("step", ArrayRef::U64(&[u64::from(n)]))])
            .expect("save");
    }
    let folder = run.root().join("checkpoints");
    assert_eq!(fs::read_dir(&folder).expect("folder").count(), 2);
    let newest = run.newest_checkpoint(100).expect("newest");
    assert_eq!((newest.frame, newest.notes.len()), (30, 0));
    assert_eq!(newest.state.f64s("x").expect("x")[0].to_bits(), (30.0f64 * 0.1).to_bits());
    assert_eq!(run.newest_checkpoint(29).expect("older").frame, 20);
    let path = folder.join("000030.toile");
    let mut bytes = fs::read(&path).expect("bytes");
    bytes[100] ^= 4;
    fs::write(&path, bytes).expect("damage");
    let back = run.newest_checkpoint(100).expect("previous");
    assert_eq!(back.frame, 20);
    assert!(back.notes[0].contains("frame 30") && back.notes[0].contains("checksum"), "{:?}", back.notes);
}

#[test]
fn a_folder_is_never_overwritten_by_mistake() {
    let dir = tempfile::tempdir().expect("tempdir");
    let root = dir.path().join("photos");
    fs::create_dir(&root).expect("mkdir");
    fs::write(root.join("wedding.jpg"), "precious").expect("write");
    for existing in [Existing::Refuse, Existing::Replace, Existing::Resume] {
        let e = RunFolder::create(&root, &hang(), &[], existing).expect_err("not ours");
        assert_eq!(e.kind, FileErrorKind::Refused);
        assert!(e.message.contains("wedding.jpg"), "{e}");
    }
    assert_eq!(fs::read_dir(&root).expect("folder").count(), 1);

    let root = dir.path().join("out");
    let e = RunFolder::create(&root, &hang(), &[], Existing::Resume).expect_err("nothing to resume");
    assert!(e.message.contains("no run to resume") && !root.exists());
    let run = write_run(&root, 1..=3);
    let e = RunFolder::create(&root, &hang(), &[], Existing::Replace).expect_err("in use");
    assert_eq!(e.kind, FileErrorKind::Locked);
    drop(run);
    let e = RunFolder::create(&root, &hang(), &[], Existing::Refuse).expect_err("exists");
    assert!(e.message.contains("already holds a run of \"hang\""), "{e}");
    fs::write(root.join("my notes.txt"), "mine").expect("write");
    fs::write(root.join("frames/preview.png"), "mine").expect("write");
    let run = RunFolder::create(&root, &hang(), &[], Existing::Replace).expect("replace");
    assert_eq!(run.frames(), [] as [u32; 0]);
    assert!(root.join("my notes.txt").exists() && root.join("frames/preview.png").exists());
    assert_eq!(fs::read_to_string(root.join("scene.toml")).expect("scene"), hang().text);
    assert_eq!(run.info().scene, "hang");
}

#[test]
fn a_run_resumes_only_with_the_same_inputs() {
    let dir = tempfile::tempdir().expect("tempdir");
    let root = dir.path().join("out");
    let input = InputFile { path: "shirt.obj".into(), bytes: 7, xxh3: "00".into() };
    let create = |scene: &Scene, input: &InputFile, existing| {
        RunFolder::create(&root, scene, std::slice::from_ref(input), existing)
    };
    let run = create(&hang(), &input, Existing::Refuse).expect("create");
    let again = run.scene().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((again.name, again.text, again.cloths), (hang().name, hang().text, hang().cloths));
    drop(run);
    drop(create(&hang(), &input, Existing::Resume).expect("resume"));
    let changed = InputFile { xxh3: "01".into(), ..input.clone() };
    let e = create(&hang(), &changed, Existing::Resume).expect_err("changed");
    assert!(e.message.contains("\"shirt.obj\" has changed"), "{e}");
    let scene = Scene::open(&resolve("hang").expect("built in"), &["seed=5"]).expect("scene");
    let e = create(&scene, &input, Existing::Resume).expect_err("changed");
    assert!(e.message.contains("the scene has changed"), "{e}");
}

#[test]
fn statistics_survive_a_kill_and_a_rewind() {
    let dir = tempfile::tempdir().expect("tempdir");
    let run = write_run(&dir.path().join("out"), 1..=5);
    let mut stats = run.stats().expect("open");
    for n in 1..=5 {
        stats.append(&serde_json::json!({ "frame": n, "iterations": 10 * n })).expect("append");
        assert_eq!(run.read_stats().expect("read").0.len(), n, "a line is readable as soon as it is written");
    }
    let path = run.root().join("stats.jsonl");
    let whole = fs::read(&path).expect("bytes");
    fs::write(&path, &whole[..whole.len() - 4]).expect("cut");
    let (lines, cut) = run.read_stats().expect("tolerated");
    assert_eq!((lines.len(), cut), (4, true));
    run.write_outcome(&outcome(Status::Interrupted)).expect("outcome");
    run.rewind(Some(3)).expect("rewind");
    assert_eq!(run.frames(), [1, 2, 3]);
    assert_eq!(run.outcome().expect("none"), None);
    let (lines, cut) = run.read_stats().expect("read");
    assert_eq!((lines.len(), cut), (3, false));
    run.stats().expect("open").append(&serde_json::json!({ "frame": 4 })).expect("append");
    assert_eq!(run.read_stats().expect("read").0[3]["frame"], 4);
    fs::write(&path, "{\"frame\": 1}\nnonsense\n{\"frame\": 3}\n").expect("damage");
    assert_eq!(run.read_stats().expect_err("damaged").line, Some(2));
}

#[test]
fn releases_are_there_only_when_something_was_let_through() {
    let dir = tempfile::tempdir().expect("tempdir");
    let run = write_run(&dir.path().join("out"), 1..=5);
    let path = run.root().join("releases.jsonl");
    run.append_releases(&[]).expect("nothing");
    assert!(!path.exists() && run.read_releases().expect("none").is_empty());
    let line = |frame: u32, through: bool| ReleaseLine {
        frame,
        time: 0.1 * f64::from(frame),
        cloth: "rag".into(),
        vertex: 7,
        through,
    };
    run.append_releases(&[line(2, true)]).expect("append");
    run.append_releases(&[line(4, false), line(5, true)]).expect("append");
    assert_eq!(run.read_releases().expect("read"), [line(2, true), line(4, false), line(5, true)]);
    let pinched = |frame: i64| run.figures().of(frame).get("pinched").cloned();
    assert_eq!((pinched(2), pinched(4), pinched(5)), (Some(1.into()), Some(0.into()), Some(1.into())));
    run.rewind(Some(4)).expect("rewind");
    assert_eq!(run.read_releases().expect("read"), [line(2, true), line(4, false)]);
    run.rewind(Some(1)).expect("rewind");
    assert!(!path.exists(), "an empty log would say that something was let through");
    fs::write(&path, "{\"frame\": 1}\n").expect("damage");
    assert_eq!(run.read_releases().expect_err("no vertex").line, Some(1));
}

fn outcome(status: Status) -> Outcome {
    Outcome {
        status,
        reason: "signal".into(),
        message: "stopped by Ctrl-C".into(),
        frame: Some(3),
        seed: 1,
        toile: VERSION.into(),
        input_hash: "0123".into(),
        paper_modes: vec!["as printed".into()],
        notes: vec!["cloth `sheet`: 2 polygons repeat another".into()],
        seconds: 1.5,
    }
}

#[test]
fn the_outcome_is_json_that_comes_back() {
    let dir = tempfile::tempdir().expect("tempdir");
    let path = dir.path().join("outcome.json");
    outcome(Status::Failed).write(&path).expect("write");
    assert!(fs::read_to_string(&path).expect("text").contains("\"status\": \"failed\""));
    assert_eq!(Outcome::read(&path).expect("read"), outcome(Status::Failed));
    fs::write(&path, "{}").expect("damage");
    assert_eq!(Outcome::read(&path).expect_err("damaged").kind, FileErrorKind::Corrupt);
}

#[test]
fn a_run_becomes_pc2_and_obj_and_comes_back_exactly() {
    let dir = tempfile::tempdir().expect("tempdir");
    let root = dir.path().join("out");
    drop(write_run(&root, 1001..=1004));
    let mut cache = Cache::open(&root, &CacheOptions::default()).expect("cache");
    assert_eq!(cache.frames(), [1001, 1002, 1003, 1004]);
    let names: Vec<&str> = cache.objects.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["sheet", "floor"], "cloths first");
    let original: Vec<_> = cache.iter().map(|f| f.expect("frame")).collect();
    assert_eq!(original[0].time, Some(1000.0 / 24.0));
    assert_eq!(original[3].positions[1][1], DVec3::X);

    let si = CacheOptions { axes: Axes::SI, ..CacheOptions::default() };
    let pc2 = dir.path().join("sheet.pc2");
    let (mesh, _) = to_pc2(&mut cache, 0, &pc2, Axes::SI, 1, None).expect("pc2");
    let options = CacheOptions { mesh: Some(mesh.clone()), ..si.clone() };
    let mut back = Cache::open(&pc2, &options).expect("pc2 cache");
    assert_eq!(back.frames(), cache.frames());
    assert_eq!(back.objects[0].polygons.counts(), [4, 3], "original polygons");
    assert_eq!(back.objects[0].faces, cache.objects[0].faces);
    assert_eq!(back.objects[0].texcoords, cache.objects[0].texcoords);
    for (got, want) in back.iter().zip(&original) {
        assert_eq!(got.expect("sample").positions[0], want.positions[0]);
    }

    let folder = dir.path().join("sequence");
    assert_eq!(to_obj_sequence(&mut cache, &folder, "sheet", Axes::SI, 1, false).expect("sequence"), 4);
    for path in [folder.clone(), folder.join("sheet_######.obj"), folder.join("sheet_%06d.obj")] {
        let mut back = Cache::open(&path, &si).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(back.frames(), cache.frames());
        for (got, want) in back.iter().zip(&original) {
            let got =
                got.expect("frame").positions[0].iter().map(|p| p.as_vec3().to_array()).collect::<Vec<_>>();
            let want = want.positions[0].iter().map(|p| p.as_vec3().to_array()).collect::<Vec<_>>();
            let bits = |v: &[[f32; 3]]| v.as_flattened().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&got), bits(&want));
        }
    }

    // in centimetres, Z up, as the scene was written: the same points to f32 precision
    let axes = cache.axes;
    let (mesh, _) = to_pc2(&mut cache, 0, &pc2, axes, 1, None).expect("pc2");
    let mut back =
        Cache::open(&pc2, &CacheOptions { mesh: Some(mesh.clone()), axes, bodies: vec![] }).expect("cm");
    let got = back.read(2).expect("sample");
    for (p, q) in got.positions[0].iter().zip(&original[2].positions[0]) {
        assert!((*p - *q).abs().max_element() <= 1e-7 * q.abs().max_element(), "{p} {q}");
    }
    let raw = Obj::read(&mesh).expect("mesh").positions[1];
    assert_eq!(raw.x, 100.0, "the mesh itself is in centimetres");
}

/// Smoothed files come back as what was written, the simulated vertices among it untouched, and say what they are.
#[test]
fn a_smoothed_run_comes_back_with_its_own_vertices_first() {
    let dir = tempfile::tempdir().expect("tempdir");
    let root = dir.path().join("out");
    drop(write_run(&root, 1..=3));
    let mut cache = Cache::open(&root, &CacheOptions::default()).expect("cache");
    let original: Vec<_> = cache.iter().map(|f| f.expect("frame")).collect();
    let coarse = cache.objects[0].clone();
    let smoother = toile::mesh::Smoother::new(5, &coarse.faces, 3).expect("sound");
    let fine = smoother.subdivision();
    // 5 vertices, 2 on each of 7 edges, 1 inside each of 3 faces
    assert_eq!((fine.vertices(), fine.faces().len()), (5 + 2 * 7 + 3, 27));

    let pc2 = dir.path().join("sheet.pc2");
    let (mesh, _) = to_pc2(&mut cache, 0, &pc2, Axes::SI, 3, None).expect("pc2");
    let folder = dir.path().join("sequence");
    assert_eq!(to_obj_sequence(&mut cache, &folder, "sheet", Axes::SI, 3, false).expect("sequence"), 3);
    for file in [mesh.clone(), folder.join("sheet_000002.obj")] {
        let text = fs::read_to_string(file).expect("text");
        assert!(
            text.contains("# smoothed for display; the certificate is of the simulated mesh\n"),
            "{text}"
        );
    }
    let si = CacheOptions { axes: Axes::SI, ..CacheOptions::default() };
    let with_mesh = CacheOptions { mesh: Some(mesh), ..si.clone() };
    for (path, options) in [(&pc2, &with_mesh), (&folder, &si)] {
        let mut back = Cache::open(path, options).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(back.objects[0].faces, fine.faces());
        for (got, want) in back.iter().zip(&original) {
            let got = got.expect("frame").positions.swap_remove(0);
            // An OBJ holds the shortest text of an f32.
            let single = |p: &[DVec3]| p.iter().map(|p| p.as_vec3()).collect::<Vec<_>>();
            let whole = smoother.surface(&want.positions[0]).positions;
            assert_eq!(single(&got), single(&whole));
            assert_eq!(single(&got[..5]), single(&want.positions[0]), "the simulated vertices");
        }
        // The chart is a square and a triangle in the plane: split texture coordinates stay on it.
        let object = &back.objects[0];
        let of = |v: u32| coarse.texcoords[v as usize];
        for k in 0..object.polygons.len() {
            let corners = coarse.faces[fine.coarse_face(k)].map(of);
            let area = |[a, b, c]: [DVec2; 3]| (b - a).perp_dot(c - a);
            let [a, b, c] = [0, 1, 2].map(|i| object.texcoords[object.polygons.texcoords(k)[i] as usize]);
            assert!((area([a, b, c]) - area(corners) / 9.0).abs() < 1e-6, "triangle {k}");
        }
        assert_eq!(object.texcoords.len(), fine.vertices(), "shared along edges, as in the coarse chart");
    }
    let error = to_pc2(&mut cache, 0, &pc2, Axes::SI, 9, None).expect_err("too fine");
    assert_eq!(error.kind, FileErrorKind::Refused);
    assert!(error.message.contains("sheet cannot be smoothed: smooth is 9"), "{error}");
    assert!(error.message.contains("between 1 and 8"), "{error}");
}

#[test]
fn foreign_caches_are_checked_against_their_mesh_and_bodies() {
    let dir = tempfile::tempdir().expect("tempdir");
    let at = |name: &str| dir.path().join(name);
    let put = |name: &str, text: &str| fs::write(at(name), text).expect("write");
    put("c_1.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    put("c_2.obj", "v 0 0 1\nv 1 0 1\nv 0 1 1\nf 1 2 3\n");
    put("c_4.obj", "v 0 0 1\nv 1 0 1\nv 0 1 1\nf 1 2 3\n");
    put("body.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    let body = |name: &str| CacheOptions {
        bodies: vec![TrackPath { path: at(name), mesh: None }],
        ..CacheOptions::default()
    };
    let mut cache = Cache::open(&at("c_#.obj"), &body("body.obj")).expect("cache");
    assert!(cache.notes[0].contains("1 frames are missing, the first of them is 3"), "{:?}", cache.notes);
    let frames: Vec<_> = cache.iter().map(|f| f.expect("frame")).collect();
    assert_eq!(frames.iter().map(|f| f.number).collect::<Vec<_>>(), [1, 2, 4]);
    assert_eq!(frames[2].positions[1], frames[0].positions[1]);
    assert_eq!(cache.objects[0].name, "c");
    put("b_1.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    put("b_2.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    let e = Cache::open(&at("c_#.obj"), &body("b_#.obj")).expect_err("short body");
    assert!(e.message.contains("frame 4 of the cloth has no frame of this body"), "{e}");
    // topology changes half-way
    put("c_2.obj", "v 0 0 1\nv 1 0 1\nv 0 1 1\nf 1 3 2\n");
    put("c_4.obj", "v 0 0 1\nv 1 0 1\nv 0 1 1\nv 5 5 5\nf 1 2 3\n");
    let mut cache = Cache::open(&at("c_#.obj"), &CacheOptions::default()).expect("cache");
    assert!(cache.read(1).expect_err("turned").message.contains("faces differ"));
    let e = cache.read(2).expect_err("grown");
    assert!(e.message.contains("4 vertices, the first frame has 3") && e.path.ends_with("c_4.obj"), "{e}");
    // a single mesh is a cache of one frame
    let mut one = Cache::open(&at("body.obj"), &CacheOptions::default()).expect("one");
    assert_eq!((one.frames().to_vec(), one.objects[0].name.as_str()), (vec![1], "body"));
    assert_eq!(one.read(0).expect("frame").positions[0].len(), 3);
    // PC2 with the wrong mesh, or none
    let mut w = toile_io::pc2::Pc2Writer::create(&at("p.pc2"), 4, 0.0, 1.0).expect("create");
    w.push(&[[0.0; 3]; 4]).expect("push");
    w.finish().expect("finish");
    let e = Cache::open(&at("p.pc2"), &CacheOptions::default()).expect_err("no mesh");
    assert!(e.help.contains("OBJ mesh"), "{e}");
    let wrong = CacheOptions { mesh: Some(at("body.obj")), ..CacheOptions::default() };
    assert!(Cache::open(&at("p.pc2"), &wrong).expect_err("wrong").message.contains("4 points, the mesh"));
    assert!(Cache::open(&at("nothing.obj"), &CacheOptions::default()).is_err());
    assert!(Cache::open(&at("empty"), &CacheOptions::default()).is_err());
}

#[test]
fn meshes_keep_order_polygons_groups_and_bits() {
    let dir = tempfile::tempdir().expect("tempdir");
    let path = dir.path().join("a.obj");
    let text = "v 0.1 0.2 0.30000000000000004\nv 1e-300 -0 1\nv 2 0 0\nv 3 1 1e9\nv 0 1 5\nvt 0.1 0.7\nvt 1 1\n\
                g a b\nf 1/1 2/2 3/1 4/2\ng b\nf 3 4 5\ng\nf 1 2 5\nl 1 5\n";
    let obj = Obj::parse(text.as_bytes(), &path, &obj::Limits::default()).expect("valid");
    obj::write(&path, &[obj.as_object("")], Precision::Double).expect("write");
    let mut back = Obj::read(&path).expect("read");
    back.ignored.clone_from(&obj.ignored);
    assert_eq!(back, obj);
    let bits = |o: &Obj| o.positions.iter().flat_map(|p| p.to_array().map(f64::to_bits)).collect::<Vec<_>>();
    assert_eq!(bits(&back), bits(&obj));
}

#[test]
fn a_real_mesh_with_many_groups_round_trips() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/bodies/makehuman/base.obj");
    if !path.exists() {
        eprintln!("skipped: {} is not here", path.display());
        return;
    }
    let obj = Obj::read(&path).expect("MakeHuman base");
    assert!(obj.positions.len() > 19_000 && obj.groups.len() > 100);
    assert!(obj.group_vertices("helper-tights").is_some_and(|v| v.len() > 1000));
    let triangles = obj.triangulate();
    // two quads of the lips are folded so far that no view of them is simple
    assert!(triangles.doubtful.len() == 2 && triangles.faces.len() == 2 * obj.polygons.len());
    let text = obj::encode(&[obj.as_object("")], Precision::Double);
    let back = Obj::parse(&text, &path, &obj::Limits::default()).expect("read back");
    assert_eq!((back.positions, back.polygons), (obj.positions, obj.polygons));
}
