//! Broken scenes: each must be refused with the right words, the right place and a fix.

use toile_io::scene::{Scene, SceneErrors};

/// A valid scene that uses most of the format.
const GOOD: &str = r##"toile = 1
name = "test"
units = "m"
up = "y"
frames = "1-250"
fps = 24
gravity = [0, -9.81, 0]

[solver]
substeps = 2
tolerance = 1e-3

[[cloth]]
name = "sheet"
shape = { kind = "sheet", size = [1.0, 2.0], resolution = [10, 20] }
model = "springs"
spring = { blend = 0.1, tangent = "blend" }

[cloth.fabric]
density = 0.2
stretch = [1000.0, 500.0]
poisson = 0.3
bend = 1e-5

[[cloth]]
name = "round"
shape = { kind = "disc", radius = 0.5 }

[[pin]]
cloth = "sheet"
border = "left"
motion = [{ frame = 1 }, { frame = 20, translate = [1, 0, 0] }]

[[pin]]
cloth = "sheet"
indices = [0, 3]
kind = "soft"
stiffness = 100

[wind]
velocity = [1, 0, 0]
drag = 0.5

[[body]]
shape = { kind = "sphere", radius = 0.2 }

[render]
look = { front = "#ff0000" }
camera = { eye = [1, 1, 1], target = [0, 0, 0] }
"##;

/// Replace `from` by `to` in the good scene; expect a message, the underlined text, and a help text.
struct Case {
    from: &'static str,
    to: &'static str,
    message: &'static str,
    under: &'static str,
    help: &'static str,
}

const fn case(
    from: &'static str,
    to: &'static str,
    message: &'static str,
    under: &'static str,
    help: &'static str,
) -> Case {
    Case { from, to, message, under, help }
}

const CASES: &[Case] = &[
    // syntax
    case("fps = 24", "fps = ", "not valid TOML", "=", "write a value after"),
    case("up = \"y\"", "up = y", "not valid TOML", "y", "text between quotes"),
    case("fps = 24", "fps = 24\nfps = 25", "duplicate key", "fps", "keep one"),
    case("[solver]", "[solver", "not valid TOML", "[solver", "close the bracket"),
    // structure
    case("units = \"m\"\n", "", "does not say its units", "toile", "add units = \"m\""),
    case("up = \"y\"\n", "", "does not say its up", "toile", "the axis that points up"),
    case("toile = 1\n", "", "does not say its format version", "name", "toile = 1"),
    case(
        "units = \"m\"",
        "units = \"metre\"",
        "units cannot be \"metre\"",
        "\"metre\"",
        "\"m\", \"cm\", \"mm\" or \"inch\"",
    ),
    case("units = \"m\"", "units = 1", "units must be one of", "1", "write \"m\""),
    case(
        "density = 0.2",
        "densty = 0.2",
        "cloth \"sheet\": fabric has no field \"densty\"",
        "densty",
        "did you mean \"density\"",
    ),
    case(
        "name = \"sheet\"",
        "name = \"sheet\"\ndensity = 1",
        "cloth \"sheet\" has no field \"density\"",
        "density",
        "belongs to cloth.fabric",
    ),
    case("substeps = 2", "gravity = 3", "solver has no field \"gravity\"", "gravity", "top of the file"),
    case(
        "substeps = 2",
        "substeps = 2.0",
        "solver.substeps must be a whole number, not a number",
        "2.0",
        "write 2 without a point",
    ),
    case("substeps = 2", "substeps = -2", "is -2, it must be 0 or more", "-2", "without a sign"),
    case(
        "substeps = 2",
        "substeps = 99999999999",
        "the largest value is 4294967295",
        "99999999999",
        "smaller",
    ),
    case(
        "density = 0.2",
        "density = \"0.2\"",
        "must be a number, not text",
        "\"0.2\"",
        "write 0.2 without quotes",
    ),
    case("density = 0.2", "density = nan", "is NaN, it must be a finite number", "nan", "ordinary number"),
    case("density = 0.2", "density = inf", "is inf, it must be a finite number", "inf", "ordinary number"),
    case(
        "gravity = [0, -9.81, 0]",
        "gravity = [0, -9.81]",
        "gravity has 2 values, it needs 3",
        "[0, -9.81]",
        "a list of 3 numbers",
    ),
    case(
        "gravity = [0, -9.81, 0]",
        "gravity = true",
        "must be a number or a list of 3 numbers, not true or false",
        "true",
        "write a number",
    ),
    case("kind = \"disc\"", "kind = \"disk\"", "has no kind \"disk\"", "\"disk\"", "did you mean \"disc\""),
    case("kind = \"disc\", ", "", "does not say its kind", "{ radius = 0.5 }", "add kind = \"sheet\""),
    case(
        "tangent = \"blend\"",
        "tangent = \"bland\"",
        "cannot be \"bland\"",
        "\"bland\"",
        "did you mean \"blend\"",
    ),
    case("radius = 0.5", "size = [1, 1]", "has no field \"size\"", "size", "belongs to"),
    case(
        "[[pin]]\ncloth = \"sheet\"\nborder",
        "[pin]\ncloth = \"sheet\"\nborder",
        "duplicate key",
        "pin",
        "keep one",
    ),
    case("[[body]]", "[body]", "body must be a list of tables, not a table", "[body]", "double brackets"),
    case("velocity = [1, 0, 0]\n", "", "wind does not say its velocity", "[wind]", "a list of 3 numbers"),
    // values
    case("toile = 1", "toile = 2", "toile is 2, this program reads version 1", "2", "newer toile"),
    case(
        "density = 0.2",
        "density = -0.2",
        "cloth \"sheet\": fabric.density is -0.2 kg/m², it must be above 0",
        "-0.2",
        "0.15",
    ),
    case("density = 0.2", "density = 0", "it must be above 0", "0", "0.15"),
    case(
        "stretch = [1000.0, 500.0]",
        "stretch = [1000.0, -500.0]",
        "fabric.stretch.1 is -500 N/m",
        "-500.0",
        "500 to 5000",
    ),
    case("bend = 1e-5", "bend = -1e-5", "cannot be negative", "-1e-5", "1e-6"),
    case("poisson = 0.3", "poisson = 1.5", "below sqrt(warp / weft) = 1.4142", "1.5", "0 to 0.3"),
    case("fps = 24", "fps = 0", "fps is 0 frames per second, it must be above 0", "0", "film has 24"),
    case("fps = 24", "fps = 24\nframe_time = 0.01", "frame_time and fps are both given", "0.01", "keep one"),
    case(
        "frames = \"1-250\"",
        "frames = \"250-1\"",
        "ends (1) before it starts (250)",
        "\"250-1\"",
        "\"1-250\"",
    ),
    case(
        "frames = \"1-250\"",
        "frames = \"1 to 250\"",
        "is not a range of frames",
        "\"1 to 250\"",
        "first-last",
    ),
    case("frames = \"1-250\"", "frames = 0", "frames is empty", "0", "at least one frame"),
    case(
        "frames = \"1-250\"",
        "frames = 2000000",
        "has 2000000 frames, the limit is 1000000",
        "2000000",
        "split",
    ),
    case(
        "size = [1.0, 2.0]",
        "size = [1.0, 0]",
        "shape.size.1 is 0, it must be above 0",
        "0",
        "scene's units",
    ),
    case("resolution = [10, 20]", "resolution = [10, 0]", "resolution is 0", "[10, 0]", "20 is the default"),
    case(
        "resolution = [10, 20]",
        "resolution = 100000",
        "faces, the limit is 50000000",
        "100000",
        "lower resolution",
    ),
    case(
        "kind = \"disc\", radius = 0.5",
        "kind = \"tube\", radius = 0.5, length = 1, resolution = [2, 9]",
        "has 2 quads around",
        "[2, 9]",
        "3 or more",
    ),
    case("blend = 0.1", "blend = 1.1", "must lie between 0 and 1", "1.1", "0.05"),
    case(
        "tolerance = 1e-3",
        "form = \"unsymmetric\"",
        "conjugate gradients cannot solve",
        "\"unsymmetric\"",
        "bicgstab",
    ),
    case(
        "name = \"round\"",
        "name = \"sheet\"",
        "the name \"sheet\" is used twice",
        "\"sheet\"",
        "its own name",
    ),
    case(
        "cloth = \"sheet\"\nborder",
        "cloth = \"shet\"\nborder",
        "is \"shet\", there is no such cloth",
        "\"shet\"",
        "did you mean \"sheet\"",
    ),
    case(
        "cloth = \"sheet\"\nborder",
        "border",
        "does not say which cloth it holds",
        "[[pin]]",
        "\"sheet\" or \"round\"",
    ),
    case(
        "cloth = \"sheet\"\nborder",
        "cloth = \"round\"\nborder",
        "border does not exist on a disc",
        "\"left\"",
        "all",
    ),
    case("border = \"left\"\n", "", "does not say which particles", "[[pin]]", "border, corners, group"),
    case(
        "border = \"left\"",
        "border = \"left\"\nall = true",
        "selects particles in 2 ways: border, all",
        "true",
        "several [[pin]]",
    ),
    case("border = \"left\"", "group = \"hem\"", "group does not exist on a sheet", "\"hem\"", "mesh files"),
    case(
        "indices = [0, 3]",
        "indices = [0, 231]",
        "is 231, the cloth has particles 0 to 230",
        "231",
        "from 0",
    ),
    case("stiffness = 100\n", "", "\"soft\" without a stiffness", "\"soft\"", "add stiffness"),
    case("kind = \"soft\"\n", "", "stiffness only applies to soft pins", "100", "kind = \"soft\""),
    case(
        "kind = \"soft\"",
        "kind = \"soft\"\nfreedom = \"line\"\ndirection = [1, 0, 0]",
        "freedom only applies to hard pins",
        "\"line\"",
        "kind = \"soft\"",
    ),
    case(
        "border = \"left\"",
        "border = \"left\"\nfreedom = \"line\"",
        "freedom needs a direction",
        "\"line\"",
        "direction =",
    ),
    case(
        "border = \"left\"",
        "border = \"left\"\nfrom = 9\nuntil = 3",
        "until is 3, before from = 9",
        "3",
        "last frame",
    ),
    case("{ frame = 20,", "{ frame = 1,", "motion.1.frame is 1, not after", "1", "in order"),
    case("drag = 0.5", "drag = -0.5", "wind.drag is -0.5", "-0.5", "default"),
    case(
        "shape = { kind = \"sphere\", radius = 0.2 }",
        "file = \"/abs.obj\"",
        "must be a relative path",
        "\"/abs.obj\"",
        "scene's folder",
    ),
    case(
        "shape = { kind = \"sphere\", radius = 0.2 }",
        "",
        "neither a shape nor a file",
        "[[body]]",
        "mesh.obj",
    ),
    case("#ff0000", "red", "\"red\", which is not a colour", "\"red\"", "#rrggbb"),
    case("look = {", "smooth = 9\nlook = {", "smooth is 9, it must lie between 1 and 8", "9", "1 is off"),
    case(", target = [0, 0, 0]", "", "eye is given without target", "[1, 1, 1]", "add target"),
];

fn refuse(text: &str) -> SceneErrors {
    match Scene::parse(text, "broken/scene.toml") {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(e) => e,
    }
}

#[test]
fn the_good_scene_is_good() {
    let scene = Scene::parse(GOOD, "good/scene.toml").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scene.cloths.len(), 2);
    assert!(scene.notes.is_empty(), "{:?}", scene.notes);
}

#[test]
fn every_broken_scene_is_refused_with_place_and_fix() {
    let mut wrong = Vec::new();
    for c in CASES {
        assert!(GOOD.contains(c.from), "the good scene lacks {:?}", c.from);
        let text = GOOD.replacen(c.from, c.to, 1);
        let errors = refuse(&text);
        let hit = errors.errors.iter().any(|e| {
            e.message.contains(c.message)
                && &errors.text[e.span.clone()] == c.under
                && e.help.contains(c.help)
        });
        if !hit {
            wrong.push(format!("{:?} → {:?}, {:?}:\n{}", c.to, c.message, c.under, errors.render()));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n\n{}", wrong.len(), wrong.join("\n"));
    assert!(CASES.len() >= 40);
}

#[test]
fn all_problems_are_reported_at_once() {
    let text = GOOD
        .replace("density = 0.2", "density = -1")
        .replace("fps = 24", "fps = -1")
        .replace("drag = 0.5", "drag = -1");
    let errors = refuse(&text).errors;
    assert_eq!(errors.len(), 3);
    assert!(errors.windows(2).all(|w| w[0].span.start <= w[1].span.start), "in the order of the text");
    let text = GOOD
        .replace("density", "densty")
        .replace("fps", "fbs")
        .replace("border = \"left\"", "border = \"lef\"");
    assert_eq!(refuse(&text).errors.len(), 3);
}

#[test]
fn the_plain_text_shows_line_underline_and_help() {
    let text = GOOD.replace("density = 0.2", "density = -0.2 # light");
    let shown = refuse(&text).render();
    let expected = "\
error: cloth \"sheet\": fabric.density is -0.2 kg/m², it must be above 0
  --> broken/scene.toml:20:11
   |
20 | density = -0.2 # light
   |           ^^^^
  = help: a cotton shirt has 0.15
";
    assert_eq!(shown, expected);
}

#[test]
fn errors_in_overrides_name_the_override() {
    let e = Scene::parse_with(GOOD, "g", &["cloth.sheet.fabric.density=-3"]).expect_err("negative");
    assert_eq!(e.errors[0].from_override.as_deref(), Some("cloth.sheet.fabric.density=-3"));
    assert!(e.render().contains("(--set cloth.sheet.fabric.density=-3)"), "{e}");
    let e = Scene::parse_with(GOOD, "g", &["solver.substep=3"]).expect_err("unknown");
    assert!(e.errors[0].help.contains("substeps") && e.errors[0].from_override.is_some());
    let e = Scene::parse_with(GOOD, "g", &["units=feet"]).expect_err("unknown unit");
    assert!(e.errors[0].message.contains("\"feet\"") && e.errors[0].from_override.is_some());
    // an error elsewhere is not blamed on the override
    let e = Scene::parse_with(&GOOD.replace("fps = 24", "fps = 0"), "g", &["seed=3"]).expect_err("fps");
    assert_eq!(e.errors[0].from_override, None);
}

#[test]
fn a_very_long_line_is_shown_in_part() {
    let indices: Vec<String> = (0..5000).map(|i| (i % 200).to_string()).collect();
    let text = GOOD.replace("indices = [0, 3]", &format!("indices = [{}, -1]", indices.join(", ")));
    let shown = refuse(&text).render();
    assert!(shown.len() < 1000, "{} bytes", shown.len());
    let line = shown.lines().nth(3).expect("source line");
    let marks = shown.lines().nth(4).expect("underline");
    let at = marks.find('^').expect("mark");
    assert_eq!(&line[at..at + 2], "-1");
}

#[test]
fn a_hopeless_file_is_refused_soon_and_shortly() {
    let text = format!("{GOOD}\n[[pin]]\nindices = [{}]\n", "-1, ".repeat(20_000));
    let errors = refuse(&text);
    assert_eq!(errors.errors.len(), 100);
    assert!(errors.render().len() < 64 << 10);
}
