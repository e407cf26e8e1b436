//! Good scenes: what they mean in metres, Y up, and what editors are told about them.

use glam::DVec3;
use serde_json::Value as Json;
use toile_io::axes::{Axes, Units, Up};
use toile_io::scene::schema::{Pattern, Plane, Resolution, Shape};
use toile_io::scene::*;

fn parse(text: &str) -> Scene {
    Scene::parse(text, "folder/test/scene.toml").unwrap_or_else(|e| panic!("{e}"))
}

const HEAD: &str = "toile = 1\nunits = \"m\"\nup = \"y\"\n";
const SHEET: &str = "[[cloth]]\nshape = { kind = \"sheet\", size = [2, 1] }\n";

#[test]
fn the_smallest_scene_has_documented_defaults() {
    let scene = parse(&format!("{HEAD}{SHEET}"));
    assert_eq!(scene.name, "test");
    assert_eq!((scene.frames.first, scene.frames.last, scene.frames.count()), (1, 250, 250));
    assert_eq!(scene.frame_time, 1.0 / 60.0);
    assert_eq!(scene.gravity, DVec3::new(0.0, -9.81, 0.0));
    assert_eq!(scene.cloths[0].name, "cloth");
    let ClothSource::Shape(Shape::Sheet { size, resolution, pattern, seed, plane, .. }) =
        &scene.cloths[0].source
    else {
        panic!("not a sheet")
    };
    assert_eq!((*size, resolution, *pattern), ([2.0, 1.0], &Resolution::Two([20, 10]), Pattern::Structured));
    assert_eq!((*seed, *plane), (Some(1), Plane::Upright));
    let fabric = &scene.cloths[0].fabric;
    assert_eq!((fabric.density, fabric.stretch, fabric.bend), (0.2, [1000.0.into(); 2], 1e-5.into()));
    assert!((fabric.shear.initial() - 1000.0 / 2.6).abs() < 1e-12);
    assert_eq!(scene.substeps(), 4, "steps of at most 1/240 s with contact at 60 frames per second");
    assert_eq!(scene.output.checkpoint_every, 10);
    assert_eq!(scene.time_of(1), 0.0);
    assert_eq!(scene.time_of(61), 1.0);
}

/// One scene in every unit and both up axes.
fn in_axes(units: &str, up: &str) -> Scene {
    let k = match units {
        "cm" => 100.0,
        "mm" => 1000.0,
        "inch" => 1.0 / 0.0254,
        _ => 1.0,
    };
    let v = |x: f64, y: f64, z: f64| match up {
        "z" => format!("[{}, {}, {}]", x, -z, y),
        _ => format!("[{x}, {y}, {z}]"),
    };
    let p = |x: f64, y: f64, z: f64| v(x * k, y * k, z * k);
    // A turn about the up axis is about y or z; about x it is the same in both.
    let spin = if up == "z" { "[0, 0, 30]" } else { "[0, 30, 0]" };
    parse(&format!(
        "toile = 1\nunits = \"{units}\"\nup = \"{up}\"\ngravity = {}\n\
         [[cloth]]\nshape = {{ kind = \"tube\", radius = {}, length = {}, resolution = [8, 4] }}\n\
         translate = {}\nrotate = {spin}\nscale = 2\nvelocity = {}\n\
         [[pin]]\nbox = [{}, {}]\nfreedom = \"line\"\ndirection = {}\n\
         motion = [{{ frame = 1 }}, {{ frame = 11, rotate = {spin}, translate = {}, scale = 0.5 }}]\n\
         [[pin]]\nsphere = {{ centre = {}, radius = {} }}\n\
         [wind]\nvelocity = {}\n[[body]]\nshape = {{ kind = \"box\", size = {} }}\n\
         [render]\nground = {}\ncamera = {{ eye = {}, target = {} }}\n",
        v(1.0, -9.0, 2.0),
        0.2 * k,
        1.5 * k,
        p(1.0, 2.0, 3.0),
        v(0.1, 0.2, 0.3),
        p(-1.0, 0.0, 4.0),
        p(1.0, 3.0, 2.0),
        v(0.0, 2.0, 0.0),
        p(0.0, 1.0, 0.0),
        p(0.1, 0.2, 0.3),
        0.7 * k,
        v(3.0, 0.0, -1.0),
        match up {
            "z" => format!("[{}, {}, {}]", k, 3.0 * k, 2.0 * k),
            _ => format!("[{}, {}, {}]", k, 2.0 * k, 3.0 * k),
        },
        -0.3 * k,
        p(0.0, 1.0, 5.0),
        p(0.0, 0.0, 0.0),
    ))
}

#[test]
fn units_and_axes_describe_the_same_scene() {
    let near = |a: DVec3, b: DVec3| (a - b).length() < 1e-12;
    let want = in_axes("m", "y");
    let Select::Box { min, max } = want.pins[0].select else { panic!("box") };
    assert_eq!((min, max), (DVec3::new(-1.0, 0.0, 2.0), DVec3::new(1.0, 3.0, 4.0)));
    for units in ["m", "cm", "mm", "inch"] {
        for up in ["y", "z"] {
            let got = in_axes(units, up);
            let at = format!("{units} {up}");
            assert!(near(got.gravity, want.gravity), "{at}");
            let (a, b) = (&got.cloths[0], &want.cloths[0]);
            let (ClothSource::Shape(Shape::Tube { radius, length, .. }), probe) =
                (&a.source, DVec3::new(0.3, 0.5, -0.7))
            else {
                panic!("tube")
            };
            assert!((radius - 0.2).abs() < 1e-12 && (length - 1.5).abs() < 1e-12, "{at}");
            assert!(near(a.placement.transform_point3(probe), b.placement.transform_point3(probe)), "{at}");
            assert!(near(a.velocity, b.velocity), "{at}");
            let Select::Box { min: lo, max: hi } = got.pins[0].select else { panic!("box") };
            assert!(near(lo, min) && near(hi, max), "{at}");
            assert_eq!(got.pins[0].slide, Slide::Line(DVec3::Y), "{at}");
            for frame in [0.0, 1.0, 3.7, 11.0, 99.0] {
                let centre = DVec3::new(0.1, 0.4, 0.2);
                let moved = |s: &Scene| s.pins[0].motion.for_engine(|f| f, centre).at(frame).apply(probe);
                assert!(near(moved(&got), moved(&want)), "{at} frame {frame}");
            }
            let Select::Ball { centre, radius } = got.pins[1].select else { panic!("ball") };
            assert!(near(centre, DVec3::new(0.1, 0.2, 0.3)) && (radius - 0.7).abs() < 1e-12, "{at}");
            assert!(near(got.wind.as_ref().expect("wind").velocity, DVec3::new(3.0, 0.0, -1.0)), "{at}");
            let BodySource::Shape(schema::BodyShape::Box { size }) = got.bodies[0].source else {
                panic!("box")
            };
            assert!(near(DVec3::from(size), DVec3::new(1.0, 2.0, 3.0)), "{at}");
            let Camera::LookAt { eye, .. } = got.render.camera else { panic!("camera") };
            assert!(near(eye, DVec3::new(0.0, 1.0, 5.0)), "{at}");
            assert!(matches!(got.render.ground, Floor::Height(h) if (h + 0.3).abs() < 1e-12), "{at}");
        }
    }
}

#[test]
fn motion_holds_ends_turns_many_times_and_can_be_smooth() {
    let pin = "[[pin]]\nborder = \"left\"\npivot = [1, 0, 0]\n";
    let keys = "motion = [{ frame = 10 }, { frame = 20, rotate = [0, 0, 3600], translate = [0, 2, 0] }]\n";
    let scene = parse(&format!("{HEAD}{SHEET}{pin}{keys}"));
    let motion = &scene.pins[0].motion;
    let at = |f: f64, p: DVec3| motion.for_engine(|f| f, DVec3::ZERO).at(f).apply(p);
    let p = DVec3::new(2.0, 0.0, 0.0);
    assert_eq!(at(-5.0, p), p);
    assert_eq!(at(10.0, p), p);
    // a quarter turn after 1/40 of the ten turns
    assert!((at(10.25, p) - DVec3::new(1.0, 1.05, 0.0)).length() < 1e-12);
    assert!((at(20.0, p) - DVec3::new(2.0, 2.0, 0.0)).length() < 1e-12);
    assert_eq!(at(20.0, p), at(1000.0, p));
    let smooth = parse(&format!("{HEAD}{SHEET}{pin}{keys}interpolation = \"smooth\"\n"));
    let smooth = smooth.pins[0].motion.for_engine(|f| f, DVec3::ZERO);
    let shift = |f: f64| smooth.at(f).apply(DVec3::X).y;
    assert!((shift(15.0) - 1.0).abs() < 1e-12);
    assert!((shift(12.5) - 2.0 * (3.0 / 16.0 - 2.0 / 64.0)).abs() < 1e-12);
    assert!(shift(10.01) < 1e-4);
    assert!(parse(&format!("{HEAD}{SHEET}[[pin]]\nall = true\n")).pins[0].motion.is_still());
}

#[test]
fn frames_time_and_gravity_in_all_their_forms() {
    let scene = |line: &str| parse(&format!("{HEAD}{line}\n{SHEET}"));
    assert_eq!(scene("frames = \"1001-1100\"").frames, FrameRange { first: 1001, last: 1100 });
    assert_eq!(scene("frames = 24").frames, FrameRange { first: 1, last: 24 });
    assert_eq!(scene("frames = \"5 - 5\"").frames.count(), 1);
    assert_eq!(scene("fps = 24").frame_time, 1.0 / 24.0);
    assert_eq!(scene("frame_time = 0.0316").frame_time, 0.0316);
    assert_eq!(scene("gravity = 1.62").gravity, DVec3::new(0.0, -1.62, 0.0));
    let z = Scene::parse(&format!("{HEAD}{SHEET}").replace("up = \"y\"", "up = \"z\""), "t").expect("z up");
    assert_eq!(z.gravity, DVec3::new(0.0, -9.81, 0.0));
    assert_eq!(z.axes, Axes { units: Units::M, up: Up::Z });
    let s = scene("frames = \"1001-1100\"\nfps = 25\nsolver.substeps = 4");
    assert_eq!((s.time_of(1026), s.step()), (1.0, 0.01));
}

#[test]
fn suspicious_sizes_and_idle_fields_are_noted() {
    let notes = |text: String| {
        parse(&text).notes.into_iter().map(|n| format!("{} {}", n.message, n.help)).collect::<Vec<_>>()
    };
    let big = notes(format!(
        "{HEAD}[[cloth]]\nname = \"gown\"\nshape = {{ kind = \"tube\", radius = 20, length = 172 }}\n"
    ));
    assert!(big[0].contains("cloth \"gown\" is 172 m tall") && big[0].contains("in cm?"), "{big:?}");
    let small = notes(format!("{HEAD}[[cloth]]\nshape = {{ kind = \"sheet\", size = [0.001, 0.001] }}\n"));
    assert!(small[0].contains("only 1.00 mm"), "{small:?}");
    let idle =
        notes(format!("{HEAD}{SHEET}spring = {{ blend = 0 }}\n[wind]\nvelocity = [1, 0, 0]\ndrag = 0\n"));
    assert_eq!(idle.len(), 2, "{idle:?}");
}

#[test]
fn overrides_change_the_scene_and_its_text() {
    let hang = resolve("hang").expect("built in");
    let scene = Scene::open(
        &hang,
        &["cloth.sheet.shape.resolution=100", "cloth.sheet.fabric.bend=1e-6", "solver.substeps=8"],
    )
    .unwrap_or_else(|e| panic!("{e}"));
    let ClothSource::Shape(Shape::Sheet { resolution, .. }) = &scene.cloths[0].source else {
        panic!("sheet")
    };
    assert_eq!(resolution, &Resolution::Two([100, 100]));
    assert_eq!(scene.cloths[0].fabric.bend, 1e-6.into());
    assert_eq!(scene.substeps(), 8);
    // the text that a run keeps is the scene that ran
    let again = Scene::parse(&scene.text, &scene.source_name).expect("resolved text");
    assert_eq!(again, scene);
}

#[test]
fn mesh_files_are_found_checked_and_converted() {
    let dir = tempfile::tempdir().expect("tempdir");
    let put = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("write");
    let mesh = "o panel\nv 0 0 0\nv 100 0 0\nv 100 0 50\nv 0 0 50\nvt 0 0\nvt 100 0\nvt 100 50\nvt 0 50\ng hem\nf 1/1 2/2 3/3 4/4\n";
    put("panel.obj", mesh);
    let text = format!(
        "{HEAD}[[cloth]]\nfile = \"panel.obj\"\nfile_units = \"cm\"\nfile_up = \"z\"\nrest = \"uv\"\n[[pin]]\ngroup = \"hem\"\n"
    );
    put("scene.toml", &text);
    let scene = Scene::load(dir.path()).unwrap_or_else(|e| panic!("{e}"));
    assert!(scene.notes.is_empty(), "{:?}", scene.notes);
    let ClothSource::File(file, rest) = &scene.cloths[0].source else { panic!("file") };
    assert_eq!((file.axes, *rest), (Axes { units: Units::Cm, up: Up::Z }, schema::Rest::Uv));
    let meshes = scene.read_meshes().expect("meshes");
    let obj = meshes.get(file).expect("panel");
    assert_eq!(obj.positions[2], DVec3::new(1.0, 0.5, 0.0));
    assert_eq!(obj.texcoords[2], glam::DVec2::new(1.0, 0.5));
    assert_eq!(meshes.inputs.len(), 1);
    assert_eq!(meshes.inputs[0].bytes, mesh.len() as u64);

    let refused = |sets: &[&str]| Scene::load_with(dir.path(), sets).expect_err("refused").render();
    let missing = refused(&["cloth.0.file=shirt.obj"]);
    assert!(
        missing.contains("no such file") && missing.contains("--set cloth.0.file=shirt.obj"),
        "{missing}"
    );
    assert!(refused(&["pin.0.group=hemm"]).contains("did you mean \"hem\""));
    put("bare.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 9 9 9\nf 1 2 3\n");
    let bare = refused(&["cloth.0.file=bare.obj"]);
    assert!(bare.contains("not every corner") && bare.contains("no group"), "{bare}");
    put("scene.toml", &text.replace("rest = \"uv\"\n", "").replace("group = \"hem\"", "indices = [0]"));
    let loose = Scene::load_with(dir.path(), &["cloth.0.file=bare.obj"]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(loose.notes.len(), 1, "{:?}", loose.notes);
    assert!(loose.notes[0].message.contains("the first is number 4"));
    put("scene.toml", &text);
    put("cut.obj", "v 0 0 0\nv 1 0\n");
    assert!(refused(&["cloth.0.file=cut.obj"]).contains("\"cut.obj\":2: the z coordinate is missing"));
    let pinned = text.replace("group = \"hem\"", "indices = [1, 4]");
    put("scene.toml", &pinned);
    assert!(refused(&[]).contains("index 4 is out of range, the mesh has vertices 0 to 3"));
    put("scene.toml", &text.replace("file_units = \"cm\"\n", ""));
    let scene = Scene::load(dir.path()).unwrap_or_else(|e| panic!("{e}"));
    assert!(scene.notes[0].message.contains("is 100 m wide"), "{:?}", scene.notes);
    put("panel.obj", &mesh.replace("vt 100", "vt 1"));
    let scene = Scene::load_with(dir.path(), &["cloth.0.file_units=cm"]).unwrap_or_else(|e| panic!("{e}"));
    assert!(scene.notes[0].message.contains("flat pattern (vt) is 0.1"), "{:?}", scene.notes);
}

/// Every property anywhere in the schema, with its path.
fn properties(schema: &Json, path: &str, out: &mut Vec<(String, Json)>) {
    match schema {
        Json::Object(map) => {
            if let Some(Json::Object(p)) = map.get("properties") {
                out.extend(p.iter().map(|(k, v)| (format!("{path}.{k}"), v.clone())));
            }
            map.iter().for_each(|(k, v)| properties(v, &format!("{path}/{k}"), out));
        }
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| properties(v, &format!("{path}/{i}"), out))
        }
        _ => {}
    }
}

#[test]
fn the_schema_describes_every_field() {
    let schema = scene_schema();
    let mut all = Vec::new();
    properties(&schema, "", &mut all);
    for (path, property) in &all {
        let tag = property.get("const").is_some();
        let described = property.get("description").and_then(Json::as_str).is_some_and(|d| d.len() > 3);
        assert!(tag || described, "{path} has no description");
    }
    let text = schema.to_string();
    assert!(!text.contains("\"null\""), "TOML has no null");
    for field in [
        "toile",
        "name",
        "units",
        "up",
        "frames",
        "fps",
        "frame_time",
        "gravity",
        "seed",
        "solver",
        "cloth",
        "pin",
        "wind",
        "air",
        "body",
        "render",
        "output",
    ] {
        assert!(schema["properties"].get(field).is_some(), "{field}");
    }
    let required: Vec<&str> =
        schema["required"].as_array().expect("required").iter().filter_map(Json::as_str).collect();
    assert_eq!(required, ["toile", "units", "up"]);
    for name in ["substeps", "density", "poisson", "motion", "pivot", "checkpoint_every", "drag_coefficient"]
    {
        assert!(all.iter().any(|(p, _)| p.ends_with(&format!(".{name}"))), "{name}");
    }
    assert!(all.len() > 110, "{}", all.len());
    assert_eq!(schema["properties"]["units"]["$ref"], "#/$defs/Units");
}

/// The solvers of single papers are reached from scenes, and refuse what they cannot step with a way out.
#[test]
fn solvers_of_the_papers() {
    let scene = |solver: &str, cloth: &str| {
        format!(
            "toile = 1\nunits = \"cm\"\nup = \"z\"\n[solver]\n{solver}\n[[cloth]]\n{cloth}\n\
             shape = {{ kind = \"sheet\", size = [100, 100], resolution = 4 }}\n"
        )
    };
    let springs = "model = \"springs\"\nbending = \"none\"";
    let full = "integrator = \"k02\"\nk02 = { iterations = 2, parity = \"free\", jacobian = \"blend\", blend = 0.3, \
                damping = \"model-b\", damping_form = \"paper\", coefficient = 0.1 }";
    let accuracy = "preconditioner = \"accuracy\"\naccuracy = { min = [0, 0, 0], max = [100, -50, 10] }";
    for (solver, cloth) in [
        (full, springs),
        ("integrator = \"precomputed\"\ninverse_iterations = 6", springs),
        ("integrator = \"rosenbrock\"\nrosenbrock_tolerance = 1e-5", ""),
        ("integrator = \"hybrid\"", ""),
        (accuracy, ""),
    ] {
        let mut world = toile_io::build::build(&parse(&scene(solver, cloth))).expect(solver).world;
        world.step(0.01, &mut toile::Probe::default()).expect(solver);
    }
    for (solver, cloth, words) in [
        ("integrator = \"k02\"", "", "cannot step"),
        ("integrator = \"k02\"", "model = \"springs\"\nbending = \"hinge\"", "write bending = \"none\""),
        ("integrator = \"precomputed\"", "", "write model = \"springs\""),
        ("k02 = { blend = 1.5 }", "", "between 0 and 1"),
        ("rosenbrock_tolerance = 0", "", "above 0"),
        ("preconditioner = \"accuracy\"", "", "no accuracy is given"),
    ] {
        let text = scene(solver, cloth);
        let refused = Scene::parse(&text, "test.toml").err().map(|e| e.to_string()).unwrap_or_default();
        assert!(refused.contains(words), "{solver}: {refused}");
    }
}

/// Every switch of V97 and B14 that concerns mechanics reaches the engine; what is as printed, unsafe or without effect
/// is told.
#[test]
fn the_papers_mechanics_are_reachable() {
    let scene = |cloth: &str, solver: &str| {
        let text = format!("{HEAD}{SHEET}{cloth}\n[solver]\nsubsteps = 20\n{solver}\n");
        Scene::parse(&text, "folder/test/scene.toml").map_err(|errors| errors.to_string())
    };
    for integrator in ["verlet", "heun", "symplectic", "literal", "midpoint", "rk4"] {
        for position in ["off", "paper", "fixed", "relative"] {
            for strain in ["off", "provot", "strict"] {
                let solver = format!(
                    "integrator = \"{integrator}\"\nerror_limit = 1e-4\n\
                     correct = {{ position = \"{position}\", strain = \"{strain}\", kinematic = true, damping_time = 0.1 }}"
                );
                let cloth =
                    "model = \"coupled\"\ncoupled = { mass = \"full\", symmetric = false, alpha = 0.6 }";
                let scene = scene(cloth, &solver).unwrap_or_else(|e| panic!("{e}"));
                let mut world = toile_io::build::build(&scene).expect("a world").world;
                world.step(1e-3, &mut toile::Probe::default()).expect("a step");
                let told = |path: &str| scene.notes.iter().any(|note| note.path == path);
                assert!(told("cloth.0.coupled.symmetric"));
                assert_eq!(told("solver.integrator"), integrator == "literal");
                assert!(position != "paper" || told("solver.correct.position"));
                // Results say what is a paper's: the integrator, the model, and what is as printed.
                let modes = scene.paper_modes();
                assert_eq!(modes.len(), 2 + usize::from(position == "paper"), "{modes:?}");
                assert!(modes[0].contains(integrator));
            }
        }
    }
    assert!(scene("", "").expect("the default").paper_modes().is_empty());
    let refused = |cloth: &str, solver: &str| scene(cloth, solver).expect_err("refused");
    let high = "model = \"coupled\"\ncoupled.alpha = 1.2";
    assert!(refused(high, "").contains("force = true"), "{}", refused(high, ""));
    assert!(scene(&format!("{high}\ncoupled.force = true"), "").is_ok());
    let error = refused("", "correct.kinematic = true");
    assert!(error.contains("integrator = \"rk4\""), "{error}");
    assert!(refused("", "correct.threshold = 0").contains("threshold"));
    // A step that is too long is told before the run, with its limit.
    let stiff = "fabric = { density = 0.2, stretch = [1e6, 1e6], shear = 6e4, bend = 1e-5 }";
    let long = scene(stiff, "integrator = \"verlet\"").expect("a scene");
    let built = toile_io::build::build(&long).expect("a world");
    let step = built.notes.iter().find(|note| note.contains("longest stable")).cloned();
    assert!(step.clone().is_some_and(|note| note.contains("solver.substeps = ")), "{step:?}");
}
