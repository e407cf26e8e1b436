//! The scene reference as Markdown, written from the schema: the doc comments of the fields are the only source.

use super::scene_schema;
use serde_json::Value as Json;
use std::fmt::Write;

/// Tables in the order a reader meets them: heading, definition in the schema.
const TABLES: &[(&str, &str)] = &[
    ("[solver]", "Solver"),
    ("solver: k02 = { … }", "K02"),
    ("solver: accuracy = { … }", "Accuracy"),
    ("correct = { … }", "Correct"),
    ("[[cloth]]", "ClothFile"),
    ("shape = { … }", "Shape"),
    ("fabric = { … }", "Fabric"),
    ("stretch = { … }, shear = { … }", "CurveFile"),
    ("crease = { … }, set = { … }", "YieldFile"),
    ("spring = { … }", "Spring"),
    ("refine = { … }", "Refine"),
    ("coupled = { … }", "Coupled"),
    ("[[pin]]", "PinFile"),
    ("sphere = { … }", "Ball"),
    ("motion = [{ … }]", "KeyFile"),
    ("[[elastic]]", "ElasticFile"),
    ("elastic: to = { … }", "EndFile"),
    ("[[edit]]", "EditFile"),
    ("edit: remove = { … }", "RegionFile"),
    ("circle = { … }", "CircleFile"),
    ("edit: resize = { … }", "ResizeFile"),
    ("edit: seam = { … }", "SeamFile"),
    ("[wind]", "WindFile"),
    ("gusts = { … }", "Gusts"),
    ("[air]", "Air"),
    ("[[body]]", "BodyFile"),
    ("body: shape = { … }", "BodyShape"),
    ("balls = [{ … }]", "Metaball"),
    ("[[thing]]", "ThingFile"),
    ("thing: shape = { … }", "ThingShape"),
    ("copies = { … }", "Copies"),
    ("friction = { … }", "FrictionTable"),
    ("[contact]", "Contact"),
    ("[[contact.pair]]", "PairFile"),
    ("[detect]", "Detect"),
    ("[render]", "RenderFile"),
    ("look = { … }", "Look"),
    ("camera = { … }", "CameraFile"),
    ("[output]", "Output"),
];

/// A scene to start from; a test builds it.
const EXAMPLE: &str = r#"toile = 1
units = "m"
up = "y"
frames = "1-120"
fps = 30

[[cloth]]
name = "towel"
shape = { kind = "sheet", size = [0.5, 1.0], resolution = 40 }
translate = [0, 1.2, 0]
fabric = { density = 0.3, stretch = [800, 600], shear = 80, bend = 4e-5, damping = 0.005 }

[[pin]]                              # two corners follow a line to and fro
corners = ["top-left", "top-right"]
interpolation = "smooth"
motion = [{ frame = 1 }, { frame = 40, translate = [0, 0, 0.3] }, { frame = 80 }]

[[pin]]                              # for a second, something also holds the middle
sphere = { centre = [0, 1.2, 0], radius = 0.05 }
kind = "soft"
stiffness = 20
until = 30

[[body]]                             # a ball pushes it from behind
name = "ball"
shape = { kind = "sphere", radius = 0.12 }
translate = [0, 1.0, -0.5]
motion = [{ frame = 30 }, { frame = 60, translate = [0, 0, 0.4] }]

[[edit]]                             # scissors: a slit across, a hand above the lower end
frame = 70
cut = [[0.15, 0.1], [0.35, 0.1]]

[[edit]]                             # and sewn up again
frame = 90
seam = { along = [[0.15, 0.1], [0.35, 0.1]] }

[contact]
gap = 0.0015
body_friction = { still = 0.4, sliding = 0.3 }

[wind]
velocity = [1, 0, 0.5]
drag = 0.4
"#;

/// Every field of a scene file with its meaning, unit, default and choices.
pub fn scene_reference() -> String {
    let schema = scene_schema();
    let mut out = String::from("# Scene files\n\n");
    out.push_str("Written by `toile schema --markdown` from the program itself. Lengths are in the file's `units`, vectors in its axes, everything else in SI units.\n");
    let _ = write!(out, "\n```toml\n{EXAMPLE}```\n");
    section(&mut out, &schema, "The file", &schema);
    for (heading, name) in TABLES {
        section(&mut out, &schema, &format!("`{heading}`"), &schema["$defs"][name]);
    }
    out
}

fn section(out: &mut String, schema: &Json, heading: &str, table: &Json) {
    let _ = write!(out, "\n## {heading}\n\n{}\n", sentence(&table["description"]));
    match table["oneOf"].as_array() {
        None => fields(out, schema, table),
        Some(kinds) => {
            for kind in kinds {
                let name = kind["properties"]["kind"]["const"].as_str().unwrap_or_default();
                let _ = write!(out, "\n### `kind = \"{name}\"`\n\n{}\n", sentence(&kind["description"]));
                fields(out, schema, kind);
            }
        }
    }
}

fn fields(out: &mut String, schema: &Json, table: &Json) {
    let Some(properties) = table["properties"].as_object() else { return };
    let required = |name: &str| table["required"].as_array().is_some_and(|r| r.iter().any(|x| x == name));
    out.push_str("\n| field | meaning |\n|---|---|\n");
    for (name, field) in properties.iter().filter(|(_, field)| field.get("const").is_none()) {
        let mut text = sentence(&field["description"]).replace('|', "\\|");
        let choices = choices(schema, field);
        if !choices.is_empty() {
            let _ = write!(text, " Choices: {}.", choices.join("; "));
        }
        let mark = if required(name) { " **(required)**" } else { "" };
        let _ = writeln!(out, "| `{name}`{mark} | {text} |");
    }
}

/// The named choices of a field, each with what it means.
fn choices(schema: &Json, field: &Json) -> Vec<String> {
    let direct = field["$ref"].as_str().or_else(|| field["items"]["$ref"].as_str());
    let Some(name) = direct.and_then(|r| r.rsplit('/').next()) else { return Vec::new() };
    let Some(options) = schema["$defs"][name]["oneOf"].as_array() else { return Vec::new() };
    options
        .iter()
        .filter_map(|option| Some((option["const"].as_str()?, sentence(&option["description"]))))
        .map(|(name, text)| format!("`\"{name}\"` {}", text.trim_end_matches('.')))
        .collect()
}

fn sentence(text: &Json) -> String {
    text.as_str().unwrap_or_default().replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_what_the_program_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scene.md");
        let page = std::fs::read_to_string(path).unwrap_or_default();
        assert!(page == scene_reference(), "write it anew: toile schema --markdown > docs/scene.md");
    }

    #[test]
    fn the_example_can_be_built() {
        let scene = crate::scene::Scene::parse(EXAMPLE, "example").expect("scene");
        let built = crate::build::build(&scene).expect("world");
        let others = built.notes.iter().filter(|note| !note.contains(crate::build::COARSE));
        assert!(others.count() == 0 && scene.notes.is_empty(), "{:?}", built.notes);
    }

    #[test]
    fn every_table_is_on_the_page() {
        let schema = scene_schema();
        let text = scene_reference();
        for (name, table) in schema["$defs"].as_object().expect("definitions") {
            let is_table = table["properties"].is_object();
            assert!(!is_table || TABLES.iter().any(|(_, t)| t == name), "{name} is missing");
        }
        assert!(
            text.contains("`fabric`") && text.contains("**(required)**") && text.contains("`\"membrane\"`")
        );
    }
}
