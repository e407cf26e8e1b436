//! `[[elastic]]`: what is drawn arrives smoothly, contact stops it, and mistakes are told by name.

use glam::DVec3;
use toile::{Probe, World};
use toile_io::build::build;
use toile_io::scene::Scene;

/// Two sheets of 16 quads, one a decimetre above the other, in no gravity; `more` says what happens to them.
fn scene(more: &str) -> String {
    format!(
        "toile = 1\nunits = \"cm\"\nup = \"y\"\nframes = \"1-120\"\nfps = 60\ngravity = 0\n\
         [[cloth]]\nname = \"upper\"\nshape = {{ kind = \"sheet\", size = [20, 20], resolution = 4, plane = \"flat\" }}\n\
         translate = [0, 10, 0]\n\
         [[cloth]]\nname = \"lower\"\nshape = {{ kind = \"sheet\", size = [20, 20], resolution = 4, plane = \"flat\" }}\n\
         {more}"
    )
}

fn world(more: &str) -> World {
    let scene = Scene::parse(&scene(more), "elastics").expect("scene");
    build(&scene).expect("world").world
}

fn step(world: &mut World) {
    world.step(1.0 / 60.0, &mut Probe::default()).expect("step");
}

/// From the lower to the upper sheet, vertex by vertex.
fn ways(world: &World) -> Vec<DVec3> {
    let [upper, lower] = [0, 1].map(|cloth| world.positions(cloth));
    upper.iter().zip(&lower).map(|(a, b)| *a - *b).collect()
}

const CORNERS: &str = "[[elastic]]\ncloth = \"upper\"\nindices = [0, 4, 20, 24]\n\
     to = { cloth = \"lower\", indices = [0, 4, 20, 24] }\ntime = 0.1\n";

#[test]
fn an_elastic_closes_the_distance_and_never_overshoots() {
    let mut world = world(&format!("[contact]\ncloth = false\n{CORNERS}"));
    let before = ways(&world);
    let mut last = [1.0; 25];
    for frame in 1..=60 {
        step(&mut world);
        let now = ways(&world);
        for k in [0, 4, 20, 24] {
            let left = now[k].dot(before[k]) / before[k].length_squared();
            assert!(left > -1e-3, "frame {frame}: corner {k} went {:.2e} of its way beyond", -left);
            assert!(left < last[k] + 1e-3, "frame {frame}: corner {k} goes back, {left} after {}", last[k]);
            last[k] = left;
        }
        let last = last[0];
        if frame == 6 {
            assert!(last > 0.5, "after one time constant {last} of the way is left: it is not smooth");
        }
        // After 6.6 time constants by the law; in steps of a twelfth of one it is a little later.
        if frame >= 42 {
            assert!(last.abs() < 0.01, "frame {frame}: {last} of the way is left");
        }
    }
}

#[test]
fn an_elastic_that_contact_stops_ends_at_the_contact_distance() {
    let all: Vec<String> = (0..25).map(|v| v.to_string()).collect();
    let all = all.join(", ");
    let mut world = world(&format!(
        "[contact]\ngap = 0.2\n[[elastic]]\ncloth = \"upper\"\nindices = [{all}]\n\
         to = {{ cloth = \"lower\", indices = [{all}] }}\ntime = 0.1\n"
    ));
    for _ in 0..120 {
        step(&mut world);
        assert!(ways(&world).iter().all(|way| way.y > 0.0), "one sheet went through the other");
    }
    for (k, way) in ways(&world).iter().enumerate() {
        // What touches is held where it is, from three quarters of the distance on.
        let distance = 1.5e-3..2.1e-3;
        assert!(distance.contains(&way.length()), "vertices {k} are {} m apart", way.length());
    }
}

#[test]
fn a_place_moves_and_draws_between_its_frames() {
    let place = "[[elastic]]\ncloth = \"upper\"\nindices = [12]\nplace = [0, 10, 0]\ntime = 0.05\nuntil = 61\n\
         motion = [{ frame = 1 }, { frame = 31, translate = [0, 5, 0] }]\n";
    let mut world = world(&format!("[contact]\ncloth = false\n{place}"));
    for _ in 0..60 {
        step(&mut world);
    }
    let there = world.positions(0)[12];
    assert!(there.distance(DVec3::new(0.0, 0.15, 0.0)) < 1e-3, "at {there}, drawn to 15 cm");
    assert!(world.positions(1)[12].length() < 1e-12, "the other sheet is left alone");
    let text = scene(place).replace("until = 61", "from = 90");
    let mut late = build(&Scene::parse(&text, "late").expect("scene")).expect("world").world;
    for _ in 0..60 {
        step(&mut late);
    }
    let moved = late.positions(0)[12].distance(DVec3::new(0.0, 0.1, 0.0));
    assert!(moved < 1e-12, "it pulls before its first frame: {moved} m");
}

#[test]
fn elastics_that_make_no_sense_are_refused_by_name() {
    let to = "to = { cloth = \"lower\", indices = [0] }\n";
    for (wrong, message, help) in [
        (
            format!("cloth = \"uper\"\nindices = [0]\n{to}"),
            "elastic 0: cloth is \"uper\"",
            "did you mean \"upper\"?",
        ),
        (format!("indices = [0]\n{to}"), "does not say which cloth it draws", "\"upper\" or \"lower\""),
        (
            format!("cloth = \"upper\"\nindices = [25]\n{to}"),
            "is 25, the cloth has particles 0 to 24",
            "from 0",
        ),
        (format!("cloth = \"upper\"\nindices = []\n{to}"), "indices is empty", "at least one"),
        (
            "cloth = \"upper\"\nindices = [0]\nto = { cloth = \"lower\", indices = [99] }\n".into(),
            "elastic 0: to.indices.0 is 99",
            "from 0",
        ),
        (
            format!("cloth = \"upper\"\nindices = [0, 1]\n{to}"),
            "has 1 particles for the 2 that are drawn",
            "one for each",
        ),
        (
            "cloth = \"upper\"\nindices = [3]\nto = { cloth = \"upper\", indices = [3] }\n".into(),
            "draws particle 3 to itself",
            "another particle",
        ),
        ("cloth = \"upper\"\nindices = [0]\n".into(), "does not say where it draws to", "place = [0, 1, 0]"),
        (
            format!("cloth = \"upper\"\nindices = [0]\nplace = [0, 0, 0]\n{to}"),
            "and to are both given",
            "keep one",
        ),
        (
            format!("cloth = \"upper\"\nindices = [0]\n{to}motion = [{{ frame = 1 }}]\n"),
            "moves a place",
            "add place",
        ),
        (
            format!("cloth = \"upper\"\nindices = [0]\n{to}time = 0\n"),
            "time is 0 s, it must be above 0",
            "0.1",
        ),
        (
            format!("cloth = \"upper\"\nindices = [0]\n{to}from = 9\nuntil = 8\n"),
            "before from = 9",
            "the elastic acts",
        ),
        (format!("cloth = \"upper\"\nindices = [0]\n{to}strength = 3\n"), "strength", "indices"),
    ] {
        let text = scene(&format!("[[elastic]]\n{wrong}"));
        let error = Scene::parse(&text, "wrong").expect_err(&wrong).render();
        assert!(error.contains(message) && error.contains(help), "{wrong}\n{error}");
    }
}

#[test]
fn gaps_wider_than_edges_are_noted() {
    let notes = |gap: f64| {
        let text = scene(&format!("[contact]\ngap = {gap}\n"));
        build(&Scene::parse(&text, "gap").expect("scene")).expect("world").notes.join("\n")
    };
    // Sides of 5 cm and diagonals of 7.
    let wide = notes(7.0);
    assert!(wide.contains("cloth `upper`: it keeps 70.00 mm") && wide.contains("contact.gap"), "{wide}");
    assert!(!notes(1.0).contains("it keeps"));
}
