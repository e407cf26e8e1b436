//! The scene reference as Markdown, written from the schema: the doc comments of the fields are the only source.

use super::scene_schema;
use serde_json::Value as Json;
use std::fmt::Write;

/// Tables in the order a reader meets them: heading, definition in the schema.
const TABLES: &[(&str, &str)] = &[
    ("[solver]", "Solver"),
    ("[[cloth]]", "ClothFile"),
    ("shape = { … }", "Shape"),
    ("fabric = { … }", "Fabric"),
    ("spring = { … }", "Spring"),
    ("[[pin]]", "PinFile"),
    ("motion = [{ … }]", "KeyFile"),
    ("[wind]", "WindFile"),
    ("gusts = { … }", "Gusts"),
    ("[air]", "Air"),
    ("[[body]]", "BodyFile"),
    ("body: shape = { … }", "BodyShape"),
    ("[render]", "RenderFile"),
    ("look = { … }", "Look"),
    ("camera = { … }", "CameraFile"),
    ("[output]", "Output"),
];

/// Every field of a scene file with its meaning, unit, default and choices.
pub fn scene_reference() -> String {
    let schema = scene_schema();
    let mut out = String::from("# Scene files\n\n");
    out.push_str("Written by `toile schema --markdown` from the program itself. Lengths are in the file's `units`, vectors in its axes, everything else in SI units.\n");
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
    fn every_table_is_on_the_page() {
        let schema = scene_schema();
        let text = scene_reference();
        for (name, table) in schema["$defs"].as_object().expect("definitions") {
            let is_table = table["properties"].is_object();
            assert!(
                !is_table || name == "Ball" || TABLES.iter().any(|(_, t)| t == name),
                "{name} is missing"
            );
        }
        assert!(
            text.contains("`fabric`") && text.contains("**(required)**") && text.contains("`\"membrane\"`")
        );
    }
}
