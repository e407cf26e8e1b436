//! Broken scenes and meshes through the command: each is refused with the object, the place, the value and a fix.

mod common;

use common::{Desk, Done};

/// A valid scene that uses most of the format.
const GOOD: &str = r##"toile = 1
units = "m"
up = "y"
frames = "1-4"
fps = 24
gravity = [0, -9.81, 0]

[solver]
substeps = 2
tolerance = 1e-3

[[cloth]]
name = "sheet"
shape = { kind = "sheet", size = [1.0, 2.0], resolution = [3, 6] }

[cloth.fabric]
density = 0.2
stretch = [1000.0, 500.0]
poisson = 0.3
bend = 1e-5

[[cloth]]
name = "round"
shape = { kind = "disc", radius = 0.5 }
translate = [3, 0, 0]

[[pin]]
cloth = "sheet"
border = "left"
motion = [{ frame = 1 }, { frame = 3, translate = [0.1, 0, 0] }]

[[pin]]
cloth = "sheet"
indices = [3]
kind = "soft"
stiffness = 100

[wind]
velocity = [1, 0, 0]
drag = 0.5

[[body]]
shape = { kind = "sphere", radius = 0.2 }
translate = [9, 0, 0]

[render]
look = { front = "#ff0000" }
"##;

/// A scene around the mesh file `m.obj`.
const AROUND: &str =
    "toile = 1\nunits = \"m\"\nup = \"y\"\nframes = 2\n\n[[cloth]]\nname = \"coat\"\nfile = \"m.obj\"\n";

/// What is replaced in the good scene, what the refusal says, and a piece of the line it points at.
const SCENES: &[(&str, &str, &str, &str)] = &[
    ("fps = 24", "fps = ", "not valid TOML", "fps"),
    ("up = \"y\"", "up = y", "not valid TOML", "up = y"),
    ("fps = 24", "fps = 24\nfps = 25", "duplicate key", "fps"),
    ("[solver]", "[solver", "not valid TOML", "[solver"),
    ("units = \"m\"", "units = \"metre\"", "units cannot be \"metre\"", "metre"),
    ("units = \"m\"\n", "", "does not say its units", "toile"),
    ("up = \"y\"\n", "", "does not say its up", "toile"),
    ("density = 0.2", "densty = 0.2", "cloth \"sheet\": fabric has no field \"densty\"", "densty"),
    ("substeps = 2", "substeps = 2.0", "must be a whole number", "2.0"),
    ("substeps = 2", "substeps = -2", "is -2, it must be 0 or more", "-2"),
    ("density = 0.2", "density = \"0.2\"", "must be a number, not text", "\"0.2\""),
    ("density = 0.2", "density = nan", "is NaN, it must be a finite number", "nan"),
    ("density = 0.2", "density = inf", "is inf, it must be a finite number", "inf"),
    ("density = 0.2", "density = -0.2", "cloth \"sheet\": fabric.density is -0.2 kg/m²", "-0.2"),
    ("stretch = [1000.0, 500.0]", "stretch = [1000.0, -500.0]", "fabric.stretch.1 is -500 N/m", "-500"),
    ("bend = 1e-5", "bend = -1e-5", "cannot be negative", "-1e-5"),
    ("poisson = 0.3", "poisson = 1.5", "below sqrt(warp / weft)", "1.5"),
    ("gravity = [0, -9.81, 0]", "gravity = [0, -9.81]", "gravity has 2 values, it needs 3", "gravity"),
    ("kind = \"disc\"", "kind = \"disk\"", "has no kind \"disk\"", "disk"),
    ("fps = 24", "fps = 0", "fps is 0 frames per second", "fps = 0"),
    ("frames = \"1-4\"", "frames = \"4-1\"", "ends (1) before it starts (4)", "4-1"),
    ("frames = \"1-4\"", "frames = 0", "frames is empty", "frames = 0"),
    ("frames = \"1-4\"", "frames = 2000000", "the limit is 1000000", "2000000"),
    ("size = [1.0, 2.0]", "size = [1.0, 0]", "shape.size.1 is 0, it must be above 0", "[1.0, 0]"),
    ("resolution = [3, 6]", "resolution = 100000", "faces, the limit is 50000000", "100000"),
    ("name = \"round\"", "name = \"sheet\"", "the name \"sheet\" is used twice", "\"sheet\""),
    ("cloth = \"sheet\"\nborder", "cloth = \"shet\"\nborder", "there is no such cloth", "shet"),
    ("cloth = \"sheet\"\nborder", "border", "does not say which cloth it holds", "[[pin]]"),
    ("border = \"left\"", "group = \"hem\"", "group does not exist on a sheet", "hem"),
    ("indices = [3]", "indices = [28]", "is 28, the cloth has particles 0 to 27", "28"),
    ("stiffness = 100\n", "", "\"soft\" without a stiffness", "soft"),
    ("{ frame = 3,", "{ frame = 1,", "motion.1.frame is 1, not after", "motion"),
    ("drag = 0.5", "drag = -0.5", "wind.drag is -0.5", "-0.5"),
    ("shape = { kind = \"sphere\", radius = 0.2 }", "file = \"/abs.obj\"", "relative path", "/abs.obj"),
    ("#ff0000", "red", "\"red\", which is not a colour", "red"),
    ("toile = 1", "toile = 2", "this program reads version 1", "toile = 2"),
];

/// Text of the mesh, the line it is refused on, and what is said.
const MESHES: &[(&str, Option<u32>, &str)] = &[
    ("", None, "holds no vertices"),
    ("v 0 0 0\nv 1 0 0\n", None, "2 vertices but no faces"),
    ("v 0 0\nf 1 1 1\n", Some(1), "the z coordinate is missing"),
    ("v 0 0 0\nv 0 nan 0\n", Some(2), "the y coordinate is \"nan\""),
    ("v 0 0 0\nv 0 0 -inf\n", Some(2), "the z coordinate is \"-inf\""),
    ("v 0 0 1e30\n", Some(1), "1e30, the limit is 1e12"),
    ("v 0 0,5 0\n", Some(1), "\"0,5\", not a number"),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", Some(4), "vertex 4 does not exist: the file has 3"),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", Some(4), "vertex 0 does not exist"),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", Some(4), "at least 3 corners"),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 a\n", Some(4), "\"a\" is not a face corner"),
    ("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3 1 4\n", Some(5), "goes through vertex 1 twice"),
    // Faces without area: readable, but no cloth.
    ("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", None, "area"),
    ("v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n", None, "area"),
];

/// What every refusal of a scene has; returns the problems found.
fn faults(done: &Done, message: &str) -> Vec<String> {
    let err = done.err();
    let mut faults = Vec::new();
    let mut need = |ok: bool, what: &str| {
        if !ok {
            faults.push(what.to_string());
        }
    };
    need(done.code() == Some(3), &format!("exit code {:?}", done.code()));
    need(err.contains(message), &format!("does not say {message:?}"));
    need(err.contains("help: "), "no help");
    need(!err.contains("panicked"), "panicked");
    if !faults.is_empty() {
        faults.push(err);
    }
    faults
}

/// The lines of `text` that a message points at.
fn pointed<'a>(err: &str, text: &'a str) -> Vec<&'a str> {
    let places = err.split("rag.toml:").skip(1);
    let numbers = places.filter_map(|p| p.split(':').next()?.parse::<usize>().ok());
    numbers.filter_map(|n| text.lines().nth(n - 1)).collect()
}

#[test]
fn the_good_scene_runs() {
    Desk::with(GOOD).toile("run rag.toml --no-picture -q").exits(0);
}

#[test]
fn broken_scenes_are_refused_with_place_and_fix() {
    let mut wrong = Vec::new();
    for (from, to, message, place) in SCENES {
        assert!(GOOD.contains(from), "the good scene lacks {from:?}");
        let text = GOOD.replacen(from, to, 1);
        let desk = Desk::with(&text);
        let done = desk.toile("run rag.toml");
        let mut faults = faults(&done, message);
        if !pointed(&done.err(), &text).iter().any(|line| line.contains(place)) {
            faults.push(format!("does not point at {place:?}:\n{}", done.err()));
        }
        if desk.path("out").exists() {
            faults.push("left a folder behind".into());
        }
        wrong.extend(faults.into_iter().map(|f| format!("{to:?}: {f}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn broken_meshes_are_refused_with_object_line_and_fix() {
    let mut wrong = Vec::new();
    for (mesh, line, message) in MESHES {
        let desk = Desk::with(AROUND);
        desk.write("m.obj", mesh);
        let done = desk.toile("run rag.toml --no-picture");
        let mut faults = faults(&done, message);
        let place = line.map_or("coat".into(), |l| format!("cloth \"coat\": file \"m.obj\":{l}: "));
        if !done.err().contains(&place) {
            faults.push(format!("does not say {place:?}:\n{}", done.err()));
        }
        wrong.extend(faults.into_iter().map(|f| format!("{mesh:?}: {f}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(SCENES.len() + MESHES.len() >= 50);
}

#[test]
fn files_that_are_not_scenes_are_refused() {
    let desk = Desk::with(AROUND);
    desk.toile("run rag.toml").exits(3).says("\"m.obj\": no such file").says("rag.toml:8:").says("help: ");
    desk.write("picture.toml", [0x89, b'P', 0xff, 0x00, 0x0a]);
    desk.toile("run picture.toml").exits(3).says("UTF-8").says("help: ");
    desk.write("empty.toml", "");
    desk.toile("run empty.toml").exits(3).says("help: ");
    std::fs::create_dir(desk.path("folder")).expect("folder");
    desk.toile("run folder").exits(4).says("no scene.toml").says("help: ");
    desk.toile("run nothing.toml").exits(4).says("nothing.toml").says("help: ");
    desk.toile("run hang --set cloth").exits(3).says("--set cloth").says("help: ");
    desk.toile("run hang --set cloth.9.name=x").exits(3).says("cloth.9").says("help: ");
    desk.toile("run hang --set solver.substeps=0").exits(3).says("substeps").says("help: ");
    desk.write("out", "a file where the folder of runs should be");
    desk.toile("run hang --frames 1").exits(4).says("out").says("help: ");
}

#[test]
fn broken_caches_are_refused() {
    let desk = Desk::new();
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    desk.write("m.obj", mesh);
    let header = |points: i32, samples: i32| {
        let mut bytes = b"POINTCACHE2\0\x01\0\0\0".to_vec();
        bytes.extend_from_slice(&points.to_le_bytes());
        bytes.extend_from_slice(&[0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f]);
        bytes.extend_from_slice(&samples.to_le_bytes());
        bytes
    };
    let cases: [(Vec<u8>, &str); 6] = [
        (b"POINTCACHE1\0".to_vec(), "PC2"),
        (header(3, 1)[..20].to_vec(), "short"),
        (header(3, 1), "short"),
        (header(4, 0), ""),
        (header(-1, 1), "-1"),
        (header(i32::MAX, i32::MAX), ""),
    ];
    for (bytes, message) in cases {
        desk.write("a.pc2", &bytes);
        desk.toile("check a.pc2 --mesh m.obj").exits(4).says("a.pc2").says(message).says("help: ");
    }
    let mut four = header(4, 1);
    four.resize(four.len() + 48, 0);
    desk.write("a.pc2", four);
    desk.toile("check a.pc2 --mesh m.obj").exits(4).says("4").says("3").says("help: ");
    desk.toile("check a.pc2").exits(4).says("--mesh").says("help: ");
    desk.toile("check m.obj --body none.obj").exits(4).says("none.obj").says("help: ");
    desk.write("cut.obj", "v 0 0 0\nv 1 0\n");
    desk.toile("check cut.obj").exits(4).says("cut.obj:2: ").says("help: ");
}
