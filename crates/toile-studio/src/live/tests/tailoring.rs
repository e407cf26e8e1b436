use super::*;
use crate::protocol::{Job, Kept, SeamInfo, Spot};
use glam::DVec2;
use toile::mesh::Mesh;

/// The point of a sheet at these coordinates of its material [m].
fn spot(mesh: &Mesh, at: [f64; 2]) -> Spot {
    let at = DVec2::from(at);
    for (face, [a, b, c]) in mesh.rest().iter().enumerate() {
        let whole = (*b - *a).perp_dot(*c - *a);
        let part = |p: DVec2, q: DVec2| (p - at).perp_dot(q - at) / whole;
        let weights = [part(*b, *c), part(*c, *a), part(*a, *b)];
        if weights.iter().all(|w| *w >= -1e-9) {
            let weights = weights.map(|w| w.max(0.0));
            let sum: f64 = weights.iter().sum();
            return Spot { face: face as u32, weights: weights.map(|w| w / sum) };
        }
    }
    panic!("{at} is not on the sheet");
}

fn mesh(live: &Live) -> &Mesh {
    &live.world().cloths()[0].mesh
}

/// Corners of the sheet's material [m].
fn corners(live: &Live) -> [DVec2; 2] {
    let all = || mesh(live).rest().iter().flatten().copied();
    [all().fold(DVec2::INFINITY, DVec2::min), all().fold(DVec2::NEG_INFINITY, DVec2::max)]
}

/// The point at these parts of the way from corner to corner.
fn part(live: &Live, [u, v]: [f64; 2]) -> Spot {
    let [low, high] = corners(live);
    spot(mesh(live), [low.x + u * (high.x - low.x), low.y + v * (high.y - low.y)])
}

fn tailor(live: &mut Live, job: Job) -> Result<(), String> {
    let mesh = live.info().objects[0].mesh;
    live.apply(&Edit::Tailor { object: 0, mesh, job })
}

/// Faces around a point of the material.
fn around(live: &Live, at: [f64; 2], radius: f64) -> Vec<u32> {
    let [low, high] = corners(live);
    let at = low + (high - low) * DVec2::from(at);
    let middle = |rest: &[DVec2; 3]| (rest[0] + rest[1] + rest[2]) / 3.0;
    let near = |f: &usize| middle(&mesh(live).rest()[*f]).distance(at) < radius;
    (0..mesh(live).faces().len()).filter(near).map(|f| f as u32).collect()
}

fn across(live: &Live) -> Job {
    Job::Cut { line: vec![part(live, [0.0, 0.53]), part(live, [1.0, 0.53])] }
}

fn resize(live: &Live, factor: f64) -> Job {
    Job::Resize { at: part(live, [0.5, 0.5]), radius: 0.2, hardness: 0.5, factor, keep: Kept::Mass }
}

/// All that hangs on a mesh fits it.
fn check(live: &Live) {
    let setup = live.world().setup();
    let held =
        |pins: &[PinDown]| -> Vec<_> { pins.iter().map(|pin| (pin.cloth, pin.vertices.clone())).collect() };
    assert_eq!(held(&setup.pins), held(&live.stage.pins));
    assert_eq!(
        (live.stage.pins.len(), live.stage.looks.len()),
        (live.stage.pin_ids.len(), setup.cloths.len())
    );
    for (k, cloth) in setup.cloths.iter().enumerate() {
        let vertices = cloth.mesh.vertices();
        let looks = &live.stage.looks[k];
        assert!(std::sync::Arc::ptr_eq(&cloth.mesh, &live.stage.cloths[k].mesh));
        assert_eq!((cloth.positions.len(), live.stage.cloths[k].positions.len()), (vertices, vertices));
        assert!(looks.uv.is_empty() || looks.uv.len() == vertices);
        assert!(looks.groups.iter().flat_map(|(_, all)| all).all(|v| (*v as usize) < vertices));
        assert!(live.positions(k).iter().flatten().all(|x| x.is_finite()));
    }
    let info = live.info();
    assert_eq!(info.objects[0].vertices as usize, live.positions(0).len());
    assert_eq!(info.objects[0].faces as usize, live.faces(0).len());
}

#[test]
fn every_job_is_undone_to_the_bit_and_made_again() {
    let mut live = small();
    live.apply(&Edit::Pin { object: 0, vertices: (0..11).collect() }).expect("a border");
    run(&mut live, 4);
    let jobs: [fn(&Live) -> Job; 6] = [
        across,
        |_| Job::Slit { path: vec![36, 47, 58, 69] },
        |live| Job::Trim { faces: around(live, [0.5, 0.5], 0.12) },
        |live| resize(live, 1.5),
        |live| resize(live, 0.6),
        |live| Job::Cut { line: vec![part(live, [0.3, 0.3]), part(live, [0.7, 0.45])] },
    ];
    for job in jobs {
        let job = job(&live);
        let before = (live.world().fingerprint(), live.panels(), live.faces(0), live.uv(0), live.undoable());
        let revision = live.revision();
        tailor(&mut live, job.clone()).unwrap_or_else(|error| panic!("{job:?}: {error}"));
        check(&live);
        assert!(live.revision() > revision);
        let after = (live.world().fingerprint(), live.faces(0));
        live.apply(&Edit::Undo).expect("mended");
        check(&live);
        let back = (live.world().fingerprint(), live.panels(), live.faces(0), live.uv(0));
        assert_eq!(back, (before.0, before.1, before.2, before.3), "{job:?}");
        assert_eq!(live.undoable()[0], before.4[0]);
        live.apply(&Edit::Redo).expect("again");
        check(&live);
        assert_eq!((live.world().fingerprint(), live.faces(0)), after, "{job:?}");
        run(&mut live, 3);
        check(&live);
        live.apply(&Edit::Undo).expect("mended later");
        check(&live);
        assert_eq!(live.faces(0), back.2);
        run(&mut live, 1);
    }
}

#[test]
fn what_lies_below_a_job_in_the_list_of_changes_is_still_undone() {
    let mut live = small();
    let start = (live.panels(), live.world().fingerprint(), live.faces(0));
    live.apply(&Edit::Pin { object: 0, vertices: vec![0, 5, 60] }).expect("pins");
    let job = across(&live);
    tailor(&mut live, job).expect("a cut");
    live.apply(&Edit::Pin { object: 0, vertices: vec![121, 3] }).expect("a vertex of the cut");
    let faces = around(&live, [0.2, 0.2], 0.1);
    tailor(&mut live, Job::Trim { faces }).expect("a hole");
    live.apply(&Edit::Unpin { object: 0, vertices: vec![0] }).expect("one pin less");
    check(&live);
    let end = (live.panels(), live.faces(0));
    for _ in 0..5 {
        live.apply(&Edit::Undo).expect("taken back");
        check(&live);
    }
    assert_eq!((live.panels(), live.world().fingerprint(), live.faces(0)), start);
    for _ in 0..5 {
        live.apply(&Edit::Redo).expect("made again");
        check(&live);
    }
    assert_eq!((live.panels(), live.faces(0)), end);
    run(&mut live, 2);
}

#[test]
fn a_piece_that_is_cut_off_falls_and_can_be_removed() {
    let mut live = live("hang", &["cloth.sheet.shape.resolution=10"]);
    run(&mut live, 5);
    let one = tailor(&mut live, Job::Discard { face: 0 }).expect_err("all of it");
    assert!(one.contains("one piece"), "{one}");
    let job = across(&live);
    tailor(&mut live, job).expect("a cut");
    let pieces = mesh(&live).components();
    assert_eq!(pieces.len(), 2);
    run(&mut live, 20);
    let held = live.panels().pinned[0].1[0];
    let vertices =
        |piece: &Vec<u32>| piece.iter().flat_map(|f| mesh(&live).faces()[*f as usize]).collect::<Vec<u32>>();
    let off = pieces.iter().find(|piece| !vertices(piece).contains(&held)).expect("a loose piece");
    let (face, off) = (off[0], vertices(off));
    let lowest =
        |live: &Live| off.iter().map(|v| live.world().positions(0)[*v as usize].y).fold(9.0, f64::min);
    let fallen = lowest(&live);
    run(&mut live, 10);
    assert!(lowest(&live) < fallen - 0.1, "it falls");
    tailor(&mut live, Job::Discard { face }).expect("gone");
    assert_eq!(mesh(&live).components().len(), 1);
    check(&live);
    run(&mut live, 2);
}

#[test]
fn brushes_change_the_area_and_what_stays_is_the_mass() {
    let mut live = small();
    let (area, mass) = (mesh(&live).total_area(), live.world().momentum().0);
    let job = resize(&live, 1.5);
    tailor(&mut live, job).expect("larger");
    let larger = mesh(&live).total_area();
    assert!(larger > area + 0.5 * 0.03, "{area} m² became {larger}");
    assert!((live.world().momentum().0 / mass - 1.0).abs() < 1e-12);
    let Job::Resize { at, radius, hardness, .. } = resize(&live, 1.5) else { panic!() };
    let heavier = Job::Resize { at, radius, hardness, factor: 1.2, keep: Kept::Density };
    tailor(&mut live, heavier).expect("larger still");
    assert!(live.world().momentum().0 > 1.001 * mass);
}

#[test]
fn holes_are_filled() {
    let mut live = small();
    run(&mut live, 2);
    let faces = around(&live, [0.5, 0.5], 0.12);
    tailor(&mut live, Job::Trim { faces: faces.clone() }).expect("a hole");
    let whole = mesh(&live).total_area();
    let middle = mesh(&live)
        .border()
        .into_iter()
        .filter(|v| !live.stage.looks[0].groups.iter().any(|g| g.1.contains(v)));
    let vertex = middle.collect::<Vec<_>>()[0];
    tailor(&mut live, Job::Fill { vertex }).expect("filled");
    assert!(mesh(&live).total_area() > whole);
    check(&live);
    run(&mut live, 3);
    let pinned = (0..mesh(&live).vertices() as u32).collect();
    live.apply(&Edit::Pin { object: 0, vertices: pinned }).expect("new vertices are vertices");
}

#[test]
fn hands_keep_hold_of_cut_cloth_and_lose_what_is_removed() {
    let mut live = live("hang", &["cloth.sheet.shape.resolution=10"]);
    run(&mut live, 3);
    let pinned = live.panels().pinned[0].1.clone();
    let x = live.world().positions(0);
    let low =
        (0..x.len() as u32).min_by(|a, b| x[*a as usize].y.total_cmp(&x[*b as usize].y)).expect("a vertex");
    assert!(!pinned.contains(&low));
    let at = x[low as usize];
    live.apply(&Edit::Grab { hand: 1, object: 0, vertex: low, to: at.to_array() }).expect("held");
    let job = across(&live);
    tailor(&mut live, job).expect("a cut");
    live.apply(&Edit::Undo).expect("mended in the hand");
    live.apply(&Edit::Redo).expect("cut in the hand");
    let to = at + DVec3::new(0.1, 0.1, 0.0);
    live.apply(&Edit::Drag { hand: 1, to: to.to_array() }).expect("still held");
    run(&mut live, 40);
    let near = live.world().positions(0).iter().map(|p| p.distance(to)).fold(9.0, f64::min);
    assert!(near < 0.02, "{near} m from the hand");
    let (_, vertex, _) = live.holding(0)[0];
    let face = mesh(&live).faces().iter().position(|f| f.contains(&vertex)).expect("a face") as u32;
    tailor(&mut live, Job::Discard { face }).expect("what is held goes");
    assert!(live.apply(&Edit::Drag { hand: 1, to: [0.0; 3] }).is_err(), "an empty hand");
    run(&mut live, 2);
}

#[test]
fn undo_waits_while_something_is_in_the_way_and_moves_nothing_else() {
    let set = ["cloth.sheet.shape.resolution=10", "cloth.sheet.translate=[0, 1.2, 0]"];
    let mut live = live("sphere", &set);
    let border = mesh(&live).border();
    live.apply(&Edit::Pin { object: 0, vertices: border }).expect("held all round");
    let height = live.world().positions(0)[0].y;
    let drop = Edit::Drop {
        form: Dropped::Cube,
        size: 0.06,
        mass: 0.05,
        at: [0.0, height + 0.12, 0.0],
        velocity: [0.0; 3],
    };
    live.apply(&drop).expect("room");
    let faces = around(&live, [0.5, 0.5], 0.16);
    tailor(&mut live, Job::Trim { faces }).expect("a hole");
    let middle = |live: &Live| {
        let x = live.world().positions(1);
        x.iter().fold(DVec3::ZERO, |sum, p| sum + *p) / x.len() as f64
    };
    while middle(&live).y > height + 0.005 {
        run(&mut live, 1);
        assert!(live.world().time() < 1.0, "it falls through the hole");
    }
    let before = (live.world().fingerprint(), live.faces(0), live.undoable());
    let error = live.apply(&Edit::Undo).expect_err("in the way");
    assert!(error.contains("in the way") || error.contains("come back"), "{error}");
    assert_eq!((live.world().fingerprint(), live.faces(0), live.undoable()), before);
    while middle(&live).y > height - 0.15 {
        run(&mut live, 1);
    }
    let cube = (live.world().positions(1), live.world().velocities(1));
    live.apply(&Edit::Undo).expect("clear again");
    assert_eq!((live.world().positions(1), live.world().velocities(1)), cube);
    check(&live);
    run(&mut live, 2);
}

#[test]
fn refused_jobs_change_nothing_and_say_what_to_do() {
    let mut live = small();
    run(&mut live, 2);
    let drop =
        Edit::Drop { form: Dropped::Ball, size: 0.1, mass: 0.1, at: [0.9, 0.9, 0.9], velocity: [0.0; 3] };
    live.apply(&drop).expect("a ball");
    let ball = live.info().objects.iter().find(|o| o.guest).expect("a ball").id;
    let before = (live.world().fingerprint(), live.panels(), live.info(), live.undoable());
    let bad = Spot { face: 0, weights: [2.0, -1.0, 0.0] };
    let far = Spot { face: u32::MAX, weights: [1.0, 0.0, 0.0] };
    let good = part(&live, [0.5, 0.5]);
    let brush = |at, radius, hardness, factor| Job::Resize { at, radius, hardness, factor, keep: Kept::Mass };
    let jobs = [
        Job::Cut { line: vec![] },
        Job::Cut { line: vec![good] },
        Job::Cut { line: vec![good, bad] },
        Job::Cut { line: vec![good, far] },
        Job::Cut { line: vec![good; 501] },
        Job::Slit { path: vec![0, 60] },
        Job::Slit { path: vec![0, u32::MAX] },
        Job::Trim { faces: vec![] },
        Job::Trim { faces: vec![u32::MAX] },
        Job::Trim { faces: (0..mesh(&live).faces().len() as u32).collect() },
        Job::Discard { face: u32::MAX },
        brush(good, f64::INFINITY, 0.5, 1.5),
        brush(good, 1e-9, 0.5, 1.5),
        brush(good, 0.1, -1.0, 1.5),
        brush(good, 0.1, 0.5, 1e9),
        brush(far, 0.1, 0.5, 1.5),
        Job::Seam { pairs: vec![] },
        Job::Seam { pairs: vec![[0, u32::MAX]] },
        Job::Fill { vertex: 60 },
        Job::Fill { vertex: u32::MAX },
    ];
    let edits = jobs.map(|job| Edit::Tailor { object: 0, mesh: 0, job });
    let other = |object, mesh| Edit::Tailor { object, mesh, job: Job::Slit { path: vec![36, 47, 58, 69] } };
    for edit in edits.into_iter().chain([other(0, 1), other(77, 0), other(1, 0), other(ball, 0)]) {
        let error = live.apply(&edit).expect_err(&format!("{edit:?}"));
        assert!(error.len() > 20, "{edit:?}: {error}");
        let after = (live.world().fingerprint(), live.panels(), live.info(), live.undoable());
        assert_eq!(after, before, "{edit:?}");
    }
    live.apply(&other(0, 0)).expect("the same in the right numbers");
}

/// A sheet that hangs, cut across, and the pairs that would sew it again.
fn cut_across() -> (Live, Vec<[u32; 2]>) {
    let mut live = live("hang", &["cloth.sheet.shape.resolution=10"]);
    live.apply(&Edit::Gravity { gravity: [0.0; 3] }).expect("nothing falls");
    let job = across(&live);
    tailor(&mut live, job).expect("a cut");
    let x = live.world().positions(0);
    let pieces = mesh(&live).components();
    let border = mesh(&live).border();
    let has = |k: usize, v: &u32| pieces[k].iter().any(|f| mesh(&live).faces()[*f as usize].contains(v));
    let [one, other] = [0, 1].map(|k| border.iter().filter(|v| has(k, v)).collect::<Vec<_>>());
    let close = |a: u32, b: u32| x[a as usize].distance(x[b as usize]) < 2e-3;
    let pair = |v: &&u32| Some([**v, **other.iter().find(|w| close(**v, ***w))?]);
    let pairs: Vec<[u32; 2]> = one.iter().filter_map(pair).collect();
    assert!(pairs.len() > 8, "{pairs:?}");
    (live, pairs)
}

#[test]
fn seams_close_by_themselves_and_everything_follows() {
    let (mut live, pairs) = cut_across();
    let vertices = mesh(&live).vertices();
    live.apply(&Edit::Pin { object: 0, vertices: vec![vertices as u32 - 1] }).expect("a pin");
    let before = (live.world().fingerprint(), live.faces(0));
    tailor(&mut live, Job::Seam { pairs: pairs.clone() }).expect("a seam");
    assert_eq!((live.world().fingerprint(), live.faces(0)), before, "nothing has closed yet");
    // A pin and a change of fabric while it closes: seams go on.
    live.apply(&Edit::Pin { object: 0, vertices: vec![60] }).expect("a pin");
    let density = FabricSettings { density: Some(0.3), ..FabricSettings::default() };
    live.apply(&Edit::Fabric { object: 0, fabric: density }).expect("heavier");
    assert_eq!(live.world().seams().len(), 1);
    let revision = live.revision();
    assert_eq!((live.seams()[0].object, live.seams()[0].pairs as usize), (0, pairs.len()));
    for _ in 0..200 {
        run(&mut live, 1);
        if live.world().seams().is_empty() {
            break;
        }
    }
    assert!(live.seams().is_empty());
    assert_eq!((mesh(&live).components().len(), mesh(&live).vertices()), (1, vertices - pairs.len()));
    assert!(live.revision() > revision);
    check(&live);
    let sewn = live.panels().pinned;
    // What was changed while the seam closed is undone on the cloth that is sewn.
    live.apply(&Edit::Undo).expect("lighter");
    check(&live);
    assert_eq!(mesh(&live).components().len(), 1);
    live.apply(&Edit::Undo).expect("unpinned");
    check(&live);
    assert_ne!(live.panels().pinned, sewn);
    live.apply(&Edit::Undo).expect("unsewn");
    check(&live);
    assert_eq!((live.world().seams().len(), live.faces(0)), (0, before.1));
    live.apply(&Edit::Redo).expect("sewn again");
    assert_eq!(live.world().seams().len(), 1);
    run(&mut live, 5);
    check(&live);
}

#[test]
fn a_hand_goes_on_holding_what_a_seam_makes_one() {
    let (mut live, pairs) = cut_across();
    let [_, vertex] = pairs[4];
    let at = live.world().positions(0)[vertex as usize];
    live.apply(&Edit::Grab { hand: 2, object: 0, vertex, to: at.to_array() }).expect("held");
    tailor(&mut live, Job::Seam { pairs }).expect("a seam");
    for _ in 0..200 {
        run(&mut live, 1);
    }
    assert!(live.world().seams().is_empty());
    check(&live);
    let to = at + DVec3::new(0.0, 0.15, 0.0);
    live.apply(&Edit::Drag { hand: 2, to: to.to_array() }).expect("still held");
    run(&mut live, 40);
    let near = live.world().positions(0).iter().map(|p| p.distance(to)).fold(9.0, f64::min);
    assert!(near < 0.02, "{near} m from the hand");
}

/// Steps until the one open seam is stuck; what is said then, and after how long [s].
fn stuck(live: &mut Live) -> (String, f64) {
    let begin = live.world().time();
    loop {
        run(live, 1);
        let waited = live.world().time() - begin;
        assert!(waited < 6.0, "{:?}", live.seams());
        if let [SeamInfo { stuck: Some(why), .. }] = &live.seams()[..] {
            return (why.clone(), waited);
        }
    }
}

#[test]
fn a_seam_that_pins_keep_open_says_so_until_they_let_go() {
    let (mut live, pairs) = cut_across();
    live.apply(&Edit::Gravity { gravity: [0.0, -9.81, 0.0] }).expect("the lower part falls");
    run(&mut live, 6);
    live.apply(&Edit::Gravity { gravity: [0.0; 3] }).expect("no more");
    let vertices = pairs.as_flattened().to_vec();
    live.apply(&Edit::Pin { object: 0, vertices: vertices.clone() }).expect("both sides held");
    tailor(&mut live, Job::Seam { pairs: pairs.clone() }).expect("a seam");
    let open = live.seams()[0].distance;
    assert!(open > 0.05, "{open} m");
    let (why, waited) = stuck(&mut live);
    assert!(why.contains("pins hold") && why.contains("unpin"), "{why}");
    assert!(waited > 1.0, "no sooner than a seam needs: {waited} s");
    assert_eq!(live.seams()[0].distance, open);
    live.apply(&Edit::Unpin { object: 0, vertices }).expect("let go");
    let mut before = open;
    for _ in 0..25 {
        run(&mut live, 1);
        let SeamInfo { distance, stuck, .. } = &live.seams()[0];
        assert!(stuck.is_none(), "it is given time anew: {stuck:?}");
        assert!(*distance < before, "{distance} m after {before} m");
        before = *distance;
    }
    assert!(before < 0.2 * open, "{before} m of {open}");
}

/// One metre wide.
const OCTAHEDRON: &str = "v 0.5 0 0\nv -0.5 0 0\nv 0 0.5 0\nv 0 -0.5 0\nv 0 0 0.5\nv 0 0 -0.5\n\
    f 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n";

#[test]
fn a_seam_with_something_between_says_so() {
    let (mut live, pairs) = cut_across();
    let x = live.world().positions(0);
    let [a, b] = pairs[pairs.len() / 2].map(|v| x[v as usize]);
    let top =
        live.info().objects[0].groups.iter().find(|group| group.name == "top").cloned().expect("a border");
    live.apply(&Edit::Pin { object: 0, vertices: top.vertices }).expect("held at both ends");
    live.apply(&Edit::Gravity { gravity: [0.0, -9.81, 0.0] }).expect("both parts swing down");
    run(&mut live, 12);
    // A body where the cut was: the cloth is too short to meet round it.
    live.keep_mesh("m1", OCTAHEDRON).expect("a mesh");
    let at = (0.5 * (a + b)).to_array();
    live.apply(&Edit::Import { mesh: "m1".into(), role: Role::Body, at, scale: 0.4 }).expect("room for it");
    tailor(&mut live, Job::Seam { pairs }).expect("a seam");
    let (why, _) = stuck(&mut live);
    assert!(why.contains("between") && why.contains("move it away"), "{why}");
    let SeamInfo { distance, sewn_at, .. } = live.seams()[0];
    assert!(distance > 20.0 * sewn_at, "{distance} m of {sewn_at} m");
}

/// The scene of scissors, all its edits within a few frames.
const SOON: [&str; 6] = [
    "edit.0.frame=3",
    "edit.1.frame=3",
    "edit.2.frame=4",
    "edit.3.frame=6",
    "edit.4.frame=8",
    "edit.5.frame=30",
];

#[test]
fn a_scene_cuts_itself_as_a_run_of_it_does_to_the_bit() {
    let mut live = live("scissors", &SOON);
    let scene = live.scene().clone();
    let mut world = build(&scene).expect("a world").world;
    let mut plan = Plan::new(&scene, &[], &world);
    let mut meshes = vec![mesh(&live).faces().len()];
    for frame in scene.frames.first..34 {
        plan.work(&mut world, frame + 1);
        world.step(scene.frame_time, &mut Probe::default()).expect("a frame");
        run(&mut live, 1);
        check(&live);
        assert_eq!(live.world().fingerprint(), world.fingerprint(), "frame {}", frame + 1);
        meshes.push(mesh(&live).faces().len());
    }
    assert_eq!((plan.left(), live.plan.left(), live.take_said()), (0, 0, vec![]));
    live.apply(&Edit::Reset).expect("the start");
    run(&mut live, 34 - scene.frames.first as usize);
    assert_eq!(live.world().fingerprint(), world.fingerprint(), "and again");
    meshes.dedup();
    assert!(meshes.len() >= 4, "cut, holed and filled: {meshes:?}");
}

#[test]
fn what_a_hand_took_away_the_scene_cannot_cut_and_the_room_goes_on() {
    let mut live = live("scissors", &SOON);
    run(&mut live, 3);
    let faces = around(&live, [0.5, 0.75], 0.2);
    tailor(&mut live, Job::Trim { faces }).expect("a hole before the scene's");
    let vertex = mesh(&live).faces()[0][0];
    let to = live.world().positions(0)[vertex as usize].to_array();
    live.apply(&Edit::Grab { hand: 1, object: 0, vertex, to }).expect("held while the scene cuts");
    run(&mut live, 12);
    check(&live);
    let said = live.take_said();
    assert!(
        said.len() == 1 && said[0].contains("remove of `sheet`") && said[0].contains("left out"),
        "{said:?}"
    );
    assert!(live.take_said().is_empty(), "told once");
    assert_eq!(live.holding(0).len(), 1);
    // What was done by hand is taken back, and time goes on.
    live.apply(&Edit::Undo).expect("mended");
    run(&mut live, 3);
    check(&live);
}
