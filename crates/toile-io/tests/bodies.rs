//! Bodies and contact of scenes: placed, moved, animated, met, and refused with words that help.

use glam::DVec3;
use std::path::Path;
use toile::{ContactSettings, Friction, Response};
use toile_io::build::{Built, build};
use toile_io::pc2::Pc2Writer;
use toile_io::scene::Scene;

const HEAD: &str = "toile = 1\nunits = \"m\"\nup = \"y\"\nframes = \"1-11\"\nfps = 10\n[[cloth]]\nname = \"sheet\"\n\
    shape = { kind = \"sheet\", size = [1, 1], resolution = 2 }\ntranslate = [0, 5, 0]\n";

fn scene(more: &str) -> Scene {
    Scene::parse(&format!("{HEAD}{more}"), "test").unwrap_or_else(|e| panic!("{e}"))
}

fn built(more: &str) -> Built {
    build(&scene(more)).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(more: &str) -> String {
    Scene::parse(&format!("{HEAD}{more}"), "test").expect_err("refused").render()
}

/// Mean of the positions of a body at a time [s].
fn centre(built: &mut Built, body: usize, time: f64) -> DVec3 {
    built.place(time).expect("placed");
    let x = built.bodies[body].collider.positions();
    x.iter().fold(DVec3::ZERO, |sum, p| sum + *p) / x.len() as f64
}

#[test]
fn bodies_are_met_unless_the_scene_says_otherwise_and_are_the_mesh_that_is_drawn() {
    let built = built(
        "[[body]]\nname = \"ball\"\nshape = { kind = \"sphere\", radius = 0.3 }\n\
         [[body]]\nname = \"ghost\"\nshape = { kind = \"box\", size = [1, 2, 3] }\ncollide = false\n\
         [[body]]\nname = \"floor\"\nshape = { kind = \"plane\", size = [4, 2] }\ntranslate = [0, -1, 0]\n\
         [[body]]\nname = \"stone\"\nshape = { kind = \"hull\", points = [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[0.1,0.1,0.1]] }\nscale = 0.5\n",
    );
    let names = |bodies: &[toile::Obstacle]| bodies.iter().map(|b| b.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&built.bodies), ["ball", "ghost", "floor", "stone"]);
    assert_eq!(names(built.world.bodies()), ["ball", "floor", "stone"]);
    assert_eq!(*built.world.contact(), ContactSettings::default(), "on by default");
    let faces = |n: usize| built.bodies[n].collider.facets().faces.len();
    assert_eq!([faces(0), faces(1), faces(2), faces(3)], [5120, 12, 2, 4]);
    assert!(built.bodies[2].collider.positions().iter().all(|p| p.y == -1.0 && p.x.abs() == 2.0));
    assert!(built.bodies[0].collider.contains(DVec3::ZERO), "a ball has an inside");
    assert!(!built.bodies[2].collider.contains(DVec3::new(0.0, -1.1, 0.0)), "a plane is a finite rectangle");
    assert!(built.bodies.iter().all(|b| !b.collider.moves()));
}

#[test]
fn keys_move_bodies_about_their_own_origin_in_the_axes_of_the_file() {
    let moving = "[[body]]\nshape = { kind = \"box\", size = [0.2, 0.4, 0.6] }\ntranslate = [1, 0, 0]\nrotate = [0, 0, 30]\n\
        interpolation = \"smooth\"\nmotion = [{ frame = 1 }, { frame = 11, translate = [0, 2, 0], rotate = [0, 90, 0] }]\n";
    let mut one = built(moving);
    assert!(one.bodies[0].collider.moves());
    for (time, want) in [(0.0, 0.0), (0.25, 0.3125), (0.5, 1.0), (1.0, 2.0), (3.0, 2.0)] {
        let at = centre(&mut one, 0, time);
        assert!(at.abs_diff_eq(DVec3::new(1.0, want, 0.0), 1e-12), "{time}: {at}");
    }
    // Written in centimetres with Z up, it is the same body at the same places.
    let text = "toile = 1\nunits = \"cm\"\nup = \"z\"\nframes = \"1-11\"\nfps = 10\n[[cloth]]\nshape = { kind = \"sheet\", size = [1, 1] }\n\
        [[body]]\nshape = { kind = \"box\", size = [20, 60, 40] }\ntranslate = [100, 0, 0]\nrotate = [0, -30, 0]\n\
        interpolation = \"smooth\"\nmotion = [{ frame = 1 }, { frame = 11, translate = [0, 0, 200], rotate = [0, 0, 90] }]\n";
    let mut other = build(&Scene::parse(text, "z").unwrap_or_else(|e| panic!("{e}"))).expect("world");
    for time in [0.0, 0.3, 1.0] {
        one.place(time).expect("placed");
        other.place(time).expect("placed");
        let sorted = |built: &Built| {
            let mut x: Vec<[i64; 3]> = built.bodies[0]
                .collider
                .positions()
                .iter()
                .map(|p| (*p * 1e7).to_array().map(|v| v.round() as i64))
                .collect();
            x.sort_unstable();
            x
        };
        assert_eq!(sorted(&one), sorted(&other), "at {time} s");
    }
    assert!(refused(&moving.replace("rotate = [0, 90, 0]", "scale = 2")).contains("size of a body"));
    assert!(refused(&moving.replace("frame = 11", "frame = 1")).contains("not after the key before it"));
}

const TETRA: &str = "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

fn tetra(shift: f64) -> String {
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let line = |p: &[f64; 3]| format!("v {} {} {}\n", p[0] + shift, p[1], p[2]);
    corners.iter().map(line).collect::<String>() + TETRA
}

fn load(folder: &Path, body: &str) -> Result<Built, String> {
    std::fs::write(folder.join("scene.toml"), format!("{HEAD}[[body]]\n{body}")).expect("scene");
    let scene = Scene::load(folder).map_err(|e| e.render())?;
    build(&scene).map_err(|e| e.to_string())
}

#[test]
fn sequences_and_caches_move_a_mesh() {
    let dir = tempfile::tempdir().expect("tempdir");
    let put = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("write");
    for (n, shift) in [(7, 0.0), (8, 1.0), (10, 2.0)] {
        put(&format!("walk_{n:04}.obj"), &tetra(shift));
    }
    let mut walk = load(dir.path(), "file = \"walk_####.obj\"\nfps = 5\nstart = 3\nscale = 2\n")
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(walk.inputs.len(), 3, "a resumed run must find every file as it was");
    // Frame 3 of the scene is at 0.2 s; files are 0.2 s apart, the third comes two frames after the second.
    for (time, x) in [(0.0, 0.0), (0.2, 0.0), (0.3, 1.0), (0.4, 2.0), (0.6, 3.0), (0.8, 4.0), (9.0, 4.0)] {
        let at = centre(&mut walk, 0, time);
        assert!((at.x - (0.5 + x)).abs() < 1e-12, "{time} s: {at}");
    }
    walk.place(0.3).expect("placed");
    assert!(walk.bodies[0].collider.contains(DVec3::new(1.2, 0.2, 0.2)), "closed, so solid");
    let mut cache = Pc2Writer::create(&dir.path().join("walk.pc2"), 4, 1.0, 1.0).expect("cache");
    for k in 0..3 {
        let x: Vec<[f32; 3]> = (0..4).map(|v| [k as f32, v as f32, if v == 3 { 1.0 } else { 0.0 }]).collect();
        cache.push(&x).expect("sample");
    }
    cache.finish().expect("cache");
    let mut points = load(dir.path(), "file = \"walk_0007.obj\"\ncache = \"walk.pc2\"\nsolid = false\n")
        .unwrap_or_else(|e| panic!("{e}"));
    assert!((centre(&mut points, 0, 0.15).x - 1.5).abs() < 1e-6, "at the scene's own rate");
    assert!(!points.bodies[0].collider.contains(DVec3::new(1.5, 1.0, 0.1)));

    let refused = |body: &str| load(dir.path(), body).err().expect("refused");
    put("walk_0011.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    assert!(refused("file = \"walk_####.obj\"\n").contains("differ from the first file"));
    put("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    let error = refused("file = \"flat.obj\"\ncache = \"walk.pc2\"\n");
    assert!(error.contains("4 points") && error.contains("has 3"), "{error}");
    assert!(refused("file = \"flat.obj\"\nfps = 24\n").contains("only applies to an animated mesh"));
    assert!(
        refused("cache = \"walk.pc2\"\nshape = { kind = \"sphere\", radius = 1 }\n")
            .contains("no mesh to move")
    );
    assert!(refused("file = \"run_####.obj\"\n").contains("run_####.obj"));
}

#[test]
fn contact_is_what_the_table_says() {
    // Keys of the file's top come before its tables.
    let text = |line: &str| HEAD.replace("fps = 10\n", &format!("fps = 10\n{line}\n"));
    let off = Scene::parse(&text("contact = false"), "test").unwrap_or_else(|e| panic!("{e}"));
    assert!(off.contact.is_off());
    let on = Scene::parse(&text("contact = true"), "test").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(on.contact, ContactSettings::default());
    let scene = scene(
        "[contact]\ncloth = false\nresponse = \"constraint\"\nguarantee = false\ngap = 0.002\nstiffness = 10\npenalty = 5\n\
         gain = 1\nvertices_only = true\npasses = 3\nfriction = 0.1\nbody_friction = { still = 0.5, sliding = 0.4 }\n",
    );
    let want = ContactSettings {
        cloth: false,
        bodies: true,
        response: Response::Constraint,
        guarantee: false,
        gap: 0.002,
        stiffness: 10.0,
        penalty: 5.0,
        gain: 1.0,
        vertices_only: true,
        passes: 3,
        friction: [Friction::of(0.1), Friction { still: 0.5, sliding: 0.4 }],
        pairs: Vec::new(),
    };
    assert_eq!(scene.contact, want);
    let modes = scene.paper_modes().join("\n");
    assert!(
        modes.contains("contact.response") && modes.contains("vertices_only") && modes.contains("guarantee")
    );
    let cm = format!("{}[contact]\ngap = 0.2\n", HEAD.replace("units = \"m\"", "units = \"cm\""));
    assert!((Scene::parse(&cm, "cm").expect("scene").contact.gap - 2e-3).abs() < 1e-15);
}

#[test]
fn the_nearest_word_on_friction_counts() {
    let more = "[[cloth]]\nname = \"shirt\"\nshape = { kind = \"sheet\", size = [1, 1] }\nfabric = \"cotton\"\n\
        [[cloth]]\nname = \"coat\"\nshape = { kind = \"sheet\", size = [1, 1] }\nfabric = { friction = [0.9, 0.6] }\n\
        [[body]]\nname = \"hidden\"\nshape = { kind = \"sphere\", radius = 1 }\ncollide = false\n\
        [[body]]\nname = \"ice\"\nshape = { kind = \"sphere\", radius = 1 }\nfriction = 0.02\n\
        [[body]]\nname = \"wood\"\nshape = { kind = \"sphere\", radius = 1 }\n";
    let pair = "[[contact.pair]]\nbetween = [\"ice\", \"coat\"]\nfriction = { still = 0.3, sliding = 0.2 }\n";
    let contact = scene(&format!("{more}{pair}")).contact;
    // Cloths 0 sheet, 1 shirt, 2 coat, then bodies 3 ice, 4 wood: what is not met does not count.
    for (a, b, body, want) in [
        (2, 3, true, Friction { still: 0.3, sliding: 0.2 }),
        (0, 3, true, Friction::of(0.02)),
        (3, 1, true, Friction::of(0.02)),
        (1, 4, true, Friction::of(0.3)),
        (0, 0, false, Friction::of(0.2)),
        (1, 1, false, Friction { still: 0.5, sliding: 0.4 }),
        (2, 1, false, Friction { still: 0.7, sliding: 0.5 }),
        (0, 1, false, Friction::of(0.2)),
    ] {
        assert_eq!(contact.friction(a, b, body), want, "{a} on {b}");
    }
    let slippery = scene(&format!("{more}[contact]\nfriction = 0\nbody_friction = 0\n")).contact;
    assert_eq!(slippery.friction(1, 2, false), Friction::NONE, "the table's word is before the fabric's");
    assert_eq!(slippery.friction(1, 3, true), Friction::of(0.02), "a body's own before the table's");
    for (wrong, message, help) in [
        (
            "between = [\"ice\", \"caot\"]\nfriction = 1\n",
            "\"caot\", no cloth or body",
            "did you mean \"coat\"? There are \"sheet\"",
        ),
        ("between = [\"hidden\", \"coat\"]\nfriction = 1\n", "cloth does not meet", "collide = true"),
        ("between = [\"ice\", \"wood\"]\nfriction = 1\n", "names two bodies", "at least one cloth"),
        ("between = [\"ice\", \"coat\"]\nfriction = -1\n", "cannot be negative", "0.2 to 0.5"),
        (
            "between = [\"ice\", \"coat\"]\nfriction = { still = 0.1, sliding = 0.2 }\n",
            "cannot exceed",
            "exchange",
        ),
        ("between = [\"ice\"]\nfriction = 1\n", "has 1 values, it needs 2", "a list of 2"),
    ] {
        let error = refused(&format!("{more}[[contact.pair]]\n{wrong}"));
        assert!(error.contains(message) && error.contains(help), "{error}");
    }
    assert!(refused(&format!("{more}{pair}{pair}")).contains("as an earlier pair does"));
}

#[test]
fn bodies_and_contact_that_make_no_sense_are_refused() {
    let body = |shape: &str| format!("[[body]]\nshape = {{ {shape} }}\n");
    for (more, message) in [
        (body("kind = \"bowl\", curvature = 0, radius = 1"), "which is flat"),
        (body("kind = \"hull\", points = [[0,0,0]]"), "has 1 points"),
        (body("kind = \"cylinder\", radius = 1, height = 1, segments = 3"), "between 8 and 100000"),
        (body("kind = \"sphere\", radius = 1") + "solid = true\n", "only applies to a mesh file"),
        ("[contact]\ngap = 0\n".into(), "must be above 0"),
        ("[contact]\ngain = 3\n".into(), "not above 2"),
        ("[contact]\npasses = 0\n".into(), "1 or more"),
        ("[contact]\nresponse = \"spring\"\n".into(), "contact.response cannot be \"spring\""),
        ("[contact]\nfriciton = 1\n".into(), "did you mean \"friction\""),
    ] {
        let error = refused(&more);
        assert!(error.contains(message), "{error}");
    }
    let pinched = body("kind = \"torus\", radius = 0.1, tube = 0.2");
    let error = build(&scene(&pinched)).err().expect("refused").to_string();
    assert!(error.contains("body `body`: torus") && error.contains("less than the ring radius"), "{error}");
}
