mod tailoring;

use super::*;
use crate::protocol::{ContactPanel, Dropped, FabricSettings, SolverPanel, WindSettings};
use toile_io::scene::{Scene, resolve};

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n";

fn live(name: &str, set: &[&str]) -> Live {
    let scene = Scene::open(&resolve(name).expect("a scene"), set).expect("sound");
    Live::new(scene).expect("a room")
}

fn small() -> Live {
    live("sphere", &["cloth.sheet.shape.resolution=10"])
}

fn run(live: &mut Live, frames: usize) {
    for _ in 0..frames {
        live.step(&mut Probe::default()).expect("a frame");
    }
}

fn all_edits() -> Vec<Edit> {
    vec![
        Edit::Pin { object: 0, vertices: vec![0, 10] },
        Edit::Grab { hand: 3, object: 0, vertex: 60, to: [0.0, 0.45, 0.0] },
        Edit::Drag { hand: 3, to: [0.05, 0.5, 0.1] },
        Edit::Wind(WindSettings { velocity: [3.0, 0.0, 1.0], gust: 0.5, frequency: 1.0 }),
        Edit::Gust { velocity: [0.0, 2.0, 0.0], seconds: 0.2 },
        Edit::Drop { form: Dropped::Cube, size: 0.08, mass: 0.05, at: [0.2, 0.8, 0.2], velocity: [0.0; 3] },
        Edit::Fabric {
            object: 0,
            fabric: FabricSettings { preset: Some("denim".into()), ..Default::default() },
        },
        Edit::Unpin { object: 0, vertices: vec![0] },
        Edit::Contact(ContactPanel {
            gap: 2e-3,
            friction_cloth: 0.1,
            friction_body: 0.1,
            cloth: true,
            bodies: true,
            guarantee: true,
        }),
        Edit::Gravity { gravity: [0.0, -5.0, 0.0] },
        Edit::Solver(SolverPanel { integrator: "implicit-euler".into(), substeps: 2 }),
        Edit::Release { hand: 3 },
        Edit::Undo,
        Edit::Undo,
        Edit::Redo,
    ]
}

#[test]
fn the_same_edits_before_the_same_ticks_are_the_same_cloth() {
    let play = || {
        let mut live = small();
        for edit in all_edits() {
            live.apply(&edit).unwrap_or_else(|error| panic!("{edit:?}: {error}"));
            run(&mut live, 3);
        }
        live.world().fingerprint()
    };
    assert_eq!(play(), play());
}

#[test]
fn a_hand_draws_cloth_along_and_lets_it_go() {
    let mut live = live("hang", &["cloth.sheet.shape.resolution=12"]);
    run(&mut live, 5);
    let pinned = live.panels().pinned;
    let free =
        (0..169u32).rev().find(|v| !pinned.iter().any(|(_, held)| held.contains(v))).expect("a free vertex");
    let at = live.world().positions(0)[free as usize];
    live.apply(&Edit::Grab { hand: 1, object: 0, vertex: free, to: at.to_array() }).expect("held");
    let to = at + DVec3::new(0.0, 0.25, 0.05);
    live.apply(&Edit::Drag { hand: 1, to: to.to_array() }).expect("drawn");
    run(&mut live, 60);
    let missed = live.world().positions(0)[free as usize].distance(to);
    assert!(missed < 0.01, "{missed} m from the hand");
    let told = live.explain(0, free).expect("an account");
    assert!(told.forces.iter().any(|(source, _)| source == "hand"), "{:?}", told.forces);
    assert!(told.sentence.contains("hand"), "{}", told.sentence);
    live.apply(&Edit::Release { hand: 1 }).expect("let go");
    assert!(live.apply(&Edit::Drag { hand: 1, to: [0.0; 3] }).is_err(), "an empty hand");
    run(&mut live, 20);
    assert!(live.world().positions(0)[free as usize].distance(to) > 0.05, "it falls");
}

#[test]
fn undo_takes_back_what_was_changed_and_redo_makes_it_again() {
    let mut live = small();
    run(&mut live, 2);
    let before = (live.panels(), live.info().objects.len());
    live.apply(&Edit::Pin { object: 0, vertices: vec![5] }).expect("a pin");
    let drop =
        Edit::Drop { form: Dropped::Ball, size: 0.1, mass: 0.1, at: [0.0, 0.7, 0.0], velocity: [0.0; 3] };
    live.apply(&drop).expect("a ball");
    let density = FabricSettings { density: Some(0.4), ..FabricSettings::default() };
    live.apply(&Edit::Fabric { object: 0, fabric: density }).expect("heavier");
    let after = (live.panels(), live.info().objects.len());
    assert_ne!(before, after);
    assert_eq!(live.undoable()[0].as_deref(), Some("change the fabric of `sheet`"));
    for _ in 0..3 {
        live.apply(&Edit::Undo).expect("taken back");
    }
    assert_eq!((live.panels(), live.info().objects.len()), before);
    assert!(live.apply(&Edit::Undo).is_err(), "nothing is left");
    for _ in 0..3 {
        live.apply(&Edit::Redo).expect("made again");
    }
    assert_eq!((live.panels(), live.info().objects.len()), after);
    run(&mut live, 2);
    live.apply(&Edit::Reset).expect("from the start");
    assert_eq!((live.panels(), live.info().objects.len()), before);
    assert_eq!((live.world().time(), live.tick()), (0.0, 4));
}

#[test]
fn what_is_dropped_keeps_its_shape_and_both_feel_it() {
    let mut live = small();
    run(&mut live, 40);
    for (form, x) in [(Dropped::Ball, 0.02), (Dropped::Cube, -0.1)] {
        let at = [x, 0.6, 0.0];
        live.apply(&Edit::Drop { form, size: 0.08, mass: 0.1, at, velocity: [0.0; 3] }).expect("room");
    }
    let info = live.info();
    assert!(info.objects.iter().filter(|o| o.guest).count() == 2);
    let (mut lowest, mut last) = (f64::INFINITY, [0.0; 2]);
    for _ in 0..30 {
        run(&mut live, 1);
        for cloth in 1..3 {
            let x = live.world().positions(cloth);
            let middle = x.iter().fold(DVec3::ZERO, |sum, p| sum + *p) / x.len() as f64;
            lowest = lowest.min(middle.y);
            let strain = live.world().strains(cloth).iter().fold(0.0f64, |most, s| most.max(s.abs()));
            assert!(strain < 0.05, "a blow strains a face of cloth {cloth} by {strain}");
            last[cloth - 1] = strain;
        }
    }
    assert!(lowest < 0.45, "they fell: {lowest}");
    assert!(last.iter().all(|strain| *strain < 5e-3), "and kept their shape: {last:?}");
    assert!(live.world().let_through().is_empty());
}

#[test]
fn guests_need_room_and_come_back_where_they_were() {
    let mut live = small();
    // Inside the ball of the scene: it is lifted out.
    live.apply(&Edit::Drop {
        form: Dropped::Ball,
        size: 0.1,
        mass: 0.1,
        at: [0.0, 0.2, 0.0],
        velocity: [0.0; 3],
    })
    .expect("lifted");
    let id = live.info().objects.iter().find(|o| o.guest).expect("a guest").id;
    assert!(live.world().positions(1).iter().all(|p| p.y > 0.3));
    run(&mut live, 5);
    let there = live.world().positions(1);
    live.apply(&Edit::Remove { object: id }).expect("gone");
    assert!(live.apply(&Edit::Remove { object: id }).is_err());
    assert!(live.apply(&Edit::Remove { object: 0 }).is_err(), "the scene's own stays");
    live.apply(&Edit::Undo).expect("back");
    assert_eq!(live.world().positions(1), there);
    assert_eq!(live.info().objects.iter().find(|o| o.guest).map(|o| o.id), Some(id));
}

#[test]
fn meshes_come_in_as_cloth_or_as_bodies() {
    let mut live = small();
    live.keep_mesh("m", TRIANGLE).expect("a mesh");
    for (role, at) in [(Role::Cloth, [0.9, 0.9, 0.0]), (Role::Body, [-0.9, 0.9, 0.0])] {
        live.apply(&Edit::Import { mesh: "m".into(), role, at, scale: 0.3 }).expect("room");
    }
    let info = live.info();
    assert_eq!(info.objects.iter().filter(|o| o.guest).count(), 2);
    run(&mut live, 2);
    let refused = |live: &mut Live, mesh: &str, scale: f64| {
        let (mesh, at) = (mesh.to_string(), [0.0, 2.0, 0.0]);
        live.apply(&Edit::Import { mesh, role: Role::Cloth, at, scale }).expect_err("refused")
    };
    assert!(refused(&mut live, "x", 1.0).contains("send it again"));
    assert!(refused(&mut live, "m", 1e9).contains("scale"));
    assert!(live.keep_mesh("n", "v 0 0 nan\n").is_err());
    assert!(live.keep_mesh("n", "v 0 0 0\n").is_err(), "no faces");
}

#[test]
fn refused_edits_change_nothing_and_say_what_to_do() {
    let mut live = small();
    run(&mut live, 2);
    let before = (live.world().fingerprint(), live.panels(), live.info(), live.undoable());
    let drop = |size: f64, mass: f64| Edit::Drop {
        form: Dropped::Ball,
        size,
        mass,
        at: [0.0; 3],
        velocity: [0.0; 3],
    };
    let fabric = |fabric: FabricSettings| Edit::Fabric { object: 0, fabric };
    for edit in [
        Edit::Pin { object: 0, vertices: vec![u32::MAX] },
        Edit::Pin { object: 0, vertices: vec![] },
        Edit::Pin { object: 1, vertices: vec![0] },
        Edit::Pin { object: 77, vertices: vec![0] },
        Edit::Unpin { object: 0, vertices: vec![0] },
        Edit::Grab { hand: 0, object: 0, vertex: 9999, to: [0.0; 3] },
        Edit::Grab { hand: 0, object: 0, vertex: 0, to: [f64::NAN; 3] },
        Edit::Drag { hand: 9, to: [0.0; 3] },
        Edit::Release { hand: 9 },
        drop(f64::INFINITY, 1.0),
        drop(0.1, -1.0),
        Edit::Wind(WindSettings { velocity: [1e300; 3], gust: 0.0, frequency: 0.0 }),
        Edit::Gust { velocity: [1.0; 3], seconds: f64::NAN },
        Edit::Gravity { gravity: [0.0, 1e9, 0.0] },
        fabric(FabricSettings { preset: Some("<b>gold</b>".into()), ..Default::default() }),
        fabric(FabricSettings { density: Some(0.0), ..Default::default() }),
        Edit::Solver(SolverPanel { integrator: "k02".into(), substeps: 4 }),
        Edit::Solver(SolverPanel { integrator: "nothing".into(), substeps: 4 }),
        Edit::Solver(SolverPanel { integrator: "bdf2".into(), substeps: 0 }),
        Edit::Remove { object: 12345 },
        Edit::Undo,
        Edit::Redo,
    ] {
        let error = live.apply(&edit).expect_err(&format!("{edit:?}"));
        assert!(error.len() > 10, "{edit:?}: {error}");
        assert_eq!(
            (live.world().fingerprint(), live.panels(), live.info(), live.undoable()),
            before,
            "{edit:?}"
        );
    }
}

#[test]
fn explanations_name_what_holds() {
    let mut live = live("sphere", &["cloth.sheet.shape.resolution=12", "air.drag=20.0"]);
    run(&mut live, 60);
    let middle = live.explain(0, 84).expect("the middle");
    assert!(middle.sentence.contains("lies on"), "{} {:?}", middle.sentence, middle.forces);
    let sum = middle.forces.iter().fold(DVec3::ZERO, |sum, (_, f)| sum + DVec3::from(*f));
    let left = (DVec3::from(middle.inertia) - sum - DVec3::from(middle.residual)).length();
    assert!(left < 1e-12);
    live.apply(&Edit::Pin { object: 0, vertices: vec![0] }).expect("a pin");
    run(&mut live, 5);
    assert!(live.explain(0, 0).expect("pinned").sentence.contains("pin"));
    assert!(live.explain(0, 1 << 20).is_err() && live.explain(9, 0).is_err());
}

#[test]
fn wind_moves_cloth_whose_scene_has_none() {
    let calm = |gust: bool| {
        let mut live = live("hang", &["cloth.sheet.shape.resolution=8"]);
        if gust {
            live.apply(&Edit::Gust { velocity: [0.0, 0.0, 8.0], seconds: 0.4 }).expect("wind");
        }
        run(&mut live, 12);
        live.world().momentum().1
    };
    let moved = calm(true) - calm(false);
    assert!(moved.length() > 5e-3, "{moved}");
}
