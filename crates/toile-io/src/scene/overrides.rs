//! `--set path=value`: one field of a scene changed from the command line.
//!
//! The override is spliced into the text itself, so comments survive, the copy kept with a run is
//! exactly what was simulated, and errors can underline what the override wrote.

use super::document::{Document, Node, SceneError, SceneErrors, Value, nearest};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// The text with overrides applied, and which bytes came from which override.
#[derive(Clone, Debug)]
pub(crate) struct Patched {
    pub(crate) text: String,
    patches: Vec<(Range<usize>, String)>,
}

impl Patched {
    /// Applies overrides in order; a later one may change what an earlier one wrote.
    pub(crate) fn new(text: &str, source_name: &str, overrides: &[&str]) -> Result<Patched, SceneErrors> {
        let mut patched = Patched { text: text.to_string(), patches: Vec::new() };
        for set in overrides {
            patched.apply(set).map_err(|problem| {
                let mut errors = SceneErrors::whole(source_name, problem.message, problem.help);
                errors.errors[0].from_override = Some((*set).to_string());
                errors
            })?;
        }
        Ok(patched)
    }

    /// The override that wrote any of these bytes.
    pub(crate) fn origin(&self, span: &Range<usize>) -> Option<&str> {
        let overlaps = |r: &Range<usize>| span.start < r.end && r.start < span.end.max(span.start + 1);
        self.patches.iter().rev().find(|(range, _)| overlaps(range)).map(|(_, set)| set.as_str())
    }

    /// Marks the errors that overrides caused.
    pub(crate) fn attribute(&self, errors: &mut [SceneError]) {
        for error in errors {
            error.from_override = self.origin(&error.span).map(str::to_string);
        }
    }

    fn apply(&mut self, set: &str) -> Result<(), Problem> {
        let Some((path, value)) = set.split_once('=') else {
            return problem(
                format!("--set {set} has no \"=\""),
                "write --set path=value, for example --set solver.substeps=4",
            );
        };
        let path = split_path(path.trim());
        if path.iter().any(String::is_empty) {
            return problem(
                format!("--set {set} has an empty name in its path"),
                "write names joined by dots: cloth.0.fabric.density",
            );
        }
        // A broken file is reported by the caller in full: there is nothing to override yet.
        let Ok(doc) = Document::parse(&self.text) else { return Ok(()) };
        let value = value_text(value.trim());
        let edit = locate(&doc, &path, &value, set)?;
        let candidate = splice(&self.text, &edit);
        if DeTable::parse(&candidate).is_err() {
            return problem(
                format!("--set {set} does not fit into the file"),
                "give the path of a single value, as written in the file",
            );
        }
        let (removed, added) = (edit.at.len(), edit.text.len());
        for (range, _) in &mut self.patches {
            if range.start >= edit.at.end {
                *range = range.start - removed + added..range.end - removed + added;
            }
        }
        let own = edit.at.start + edit.own.start..edit.at.start + edit.own.end;
        self.patches.push((own, set.to_string()));
        self.text = candidate;
        Ok(())
    }
}

struct Problem {
    message: String,
    help: String,
}

fn problem<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, Problem> {
    Err(Problem { message: message.into(), help: help.into() })
}

/// Replace `at` by `text`; `own` is the part of `text` that the user wrote.
struct Edit {
    at: Range<usize>,
    text: String,
    own: Range<usize>,
}

fn splice(text: &str, edit: &Edit) -> String {
    format!("{}{}{}", &text[..edit.at.start], edit.text, &text[edit.at.end..])
}

/// Splits at dots outside quotes: `cloth."my sheet".fabric`.
fn split_path(path: &str) -> Vec<String> {
    let mut segments = vec![String::new()];
    let mut quoted = false;
    for c in path.chars() {
        match c {
            '"' => quoted = !quoted,
            '.' if !quoted => segments.push(String::new()),
            _ => {
                if let Some(last) = segments.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    segments
}

/// The value as TOML: itself if it parses alone, else as text.
fn value_text(value: &str) -> String {
    let single = !value.contains('\n') && !value.contains('#') && DeValue::parse(value).is_ok();
    if single && !value.is_empty() { value.to_string() } else { quote(value) }
}

fn quote(text: &str) -> String {
    // JSON's escapes are a subset of TOML's, and stay on one line.
    serde_json::Value::from(text).to_string()
}

fn key_text(segment: &str) -> String {
    let bare =
        !segment.is_empty() && segment.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if bare { segment.to_string() } else { quote(segment) }
}

/// The element of a list that a segment means: a position, a name, or the only one there is.
/// The flag says whether the segment was consumed.
fn element<'a>(items: &'a [Node], segment: &str, list: &str, set: &str) -> Result<(&'a Node, bool), Problem> {
    let names: Vec<Option<&str>> = items
        .iter()
        .map(|item| match item.child("name").map(|n| &n.value) {
            Some(Value::Text(name)) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    if let Some(i) = names.iter().position(|n| *n == Some(segment)) {
        return Ok((&items[i], true));
    }
    if let Some(item) = segment.parse::<usize>().ok().and_then(|i| items.get(i)) {
        return Ok((item, true));
    }
    let tables = items.iter().all(|i| matches!(i.value, Value::Table(_)));
    if let [only] = items
        && tables
        && segment.parse::<usize>().is_err()
    {
        return Ok((only, false));
    }
    let known: Vec<String> =
        names.iter().enumerate().map(|(i, n)| n.map_or(i.to_string(), |n| format!("{n} ({i})"))).collect();
    let help = match nearest(segment, names.iter().flatten().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => {
            format!("{list} has {}", if known.is_empty() { "no elements".into() } else { known.join(", ") })
        }
    };
    problem(format!("--set {set}: there is no {list} \"{segment}\""), help)
}

/// Where and how the override enters the text.
fn locate(doc: &Document, path: &[String], value: &str, set: &str) -> Result<Edit, Problem> {
    let mut node = &doc.root;
    // The innermost table that has its own place in the text, and the path from there on.
    let mut home = (&doc.root, 0);
    let mut i = 0;
    while i < path.len() {
        if has_place(doc, node) {
            home = (node, i);
        }
        node = match &node.value {
            Value::List(items) => {
                let list = if i > 0 { path[i - 1].as_str() } else { "list" };
                let (item, consumed) = element(items, &path[i], list, set)?;
                i += usize::from(consumed);
                item
            }
            Value::Table(_) => match node.child(&path[i]) {
                Some(child) => {
                    i += 1;
                    child
                }
                None => return insert(doc, home.0, &path[home.1..], value, set),
            },
            // `fabric = "cotton"` is short for `fabric = { preset = "cotton" }`.
            Value::Text(preset) if path[i - 1] == "fabric" => {
                let keys: Vec<String> = path[i..].iter().map(|s| key_text(s)).collect();
                let before = format!("{{ preset = {}, ", quote(preset));
                let own = format!("{} = {value}", keys.join("."));
                let range = before.len()..before.len() + own.len();
                return Ok(Edit { at: node.span.clone(), text: format!("{before}{own} }}"), own: range });
            }
            _ => {
                let message =
                    format!("--set {set}: \"{}\" is {}, it has no fields", path[i - 1], node.kind());
                return problem(message, format!("stop the path at \"{}\"", path[i - 1]));
            }
        };
    }
    replace(doc, node, value, set)
}

fn written<'a>(doc: &'a Document, node: &Node) -> &'a str {
    doc.text.get(node.span.clone()).unwrap_or_default()
}

/// Root, `[header]` and `{ inline }` tables have a place where a key can be added; tables that only
/// exist through dotted keys do not.
fn has_place(doc: &Document, node: &Node) -> bool {
    let table = matches!(node.value, Value::Table(_));
    table && (std::ptr::eq(node, &doc.root) || written(doc, node).starts_with(['[', '{']))
}

fn replace(doc: &Document, node: &Node, value: &str, set: &str) -> Result<Edit, Problem> {
    let text = written(doc, node);
    let whole = match &node.value {
        Value::Table(_) => text.starts_with('{'),
        // A list of [[header]] tables shares its place with the first of them.
        Value::List(items) => items.first().is_none_or(|first| first.span.start != node.span.start),
        _ => true,
    };
    if !whole {
        return problem(
            format!("--set {set}: this is {}, not a single value", node.kind()),
            "set one of its fields: add its name to the path",
        );
    }
    Ok(Edit { at: node.span.clone(), text: value.to_string(), own: 0..value.len() })
}

fn insert(doc: &Document, home: &Node, path: &[String], value: &str, set: &str) -> Result<Edit, Problem> {
    let key: Vec<String> = path.iter().map(|s| key_text(s)).collect();
    if key.iter().any(|k| k.parse::<usize>().is_ok()) {
        return problem(
            format!("--set {set}: there is no element to set"),
            "overrides change or add fields; add the [[table]] to the file first",
        );
    }
    let line = format!("{} = {value}", key.join("."));
    let length = line.len();
    let text = written(doc, home);
    let edit = if std::ptr::eq(home, &doc.root) {
        let start = if doc.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Edit { at: start..start, text: format!("{line}\n"), own: 0..length }
    } else if let Some(inside) = text.strip_prefix('{') {
        let empty = inside.trim_start().starts_with('}');
        let at = home.span.start + 1;
        Edit { at: at..at, text: format!(" {line}{}", if empty { " " } else { "," }), own: 1..length + 1 }
    } else {
        let end = doc.text[home.span.end..].find('\n').map_or(doc.text.len(), |i| home.span.end + i);
        Edit { at: end..end, text: format!("\n{line}"), own: 1..length + 1 }
    };
    Ok(edit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
toile = 1 # version
gravity = [0, -9.81, 0]
[[cloth]]
name = \"my sheet\"
fabric = { density = 0.2 } # cotton
spring.blend = 0.1
[[cloth]]
shape = {}
[render.camera]
yaw = 3
";

    fn set(overrides: &[&str]) -> String {
        Patched::new(TEXT, "t", overrides).map(|p| p.text).unwrap_or_else(|e| panic!("{e}"))
    }

    fn refused(set: &str) -> String {
        Patched::new(TEXT, "t", &[set]).map(|p| p.text).expect_err("must be refused").render()
    }

    #[test]
    fn values_are_replaced_in_place() {
        assert!(set(&["cloth.0.fabric.density=0.3"]).contains("{ density = 0.3 } # cotton"));
        assert!(set(&["cloth.my sheet.fabric.density=0.3"]).contains("density = 0.3"));
        assert!(set(&["cloth.\"my sheet\".fabric.density=0.3"]).contains("density = 0.3"));
        assert!(set(&["gravity.1=-1.62"]).contains("[0, -1.62, 0]"));
        assert!(set(&["gravity=[0,0,0]"]).contains("gravity = [0,0,0]\n"));
        assert!(set(&["cloth.0.name=silk scarf"]).contains("name = \"silk scarf\""));
        assert!(set(&["cloth.0.name=a\nb # c"]).contains(r#"name = "a\nb # c""#));
    }

    #[test]
    fn fields_are_added_where_toml_allows() {
        assert!(set(&["seed=7"]).starts_with("seed = 7\n"));
        assert!(set(&["cloth.0.fabric.bend=1e-5"]).contains("{ bend = 1e-5, density"));
        assert!(set(&["cloth.1.shape.kind=sheet"]).contains("shape = { kind = \"sheet\" }"));
        assert!(set(&["cloth.0.spring.tangent=paper"]).contains("[[cloth]]\nspring.tangent = \"paper\"\n"));
        assert!(set(&["cloth.1.fabric.bend=2"]).contains("[[cloth]]\nfabric.bend = 2\nshape"));
        assert!(set(&["render.camera.pitch=4"]).contains("[render.camera]\npitch = 4\nyaw"));
        assert!(set(&["render.every=4"]).starts_with("render.every = 4\n"));
        let both = set(&["solver.substeps=4", "solver.method=bicg", "solver.substeps=8"]);
        assert!(both.contains("solver.method = \"bicg\"") && both.contains("solver.substeps = 8"), "{both}");
    }

    #[test]
    fn a_named_fabric_makes_room_for_overrides() {
        let text = "[[cloth]]\nfabric = \"cotton\" # soft\n";
        let sets = ["cloth.0.fabric.density=0.3", "cloth.fabric.poisson=0.1"];
        let patched = Patched::new(text, "t", &sets).map(|p| p.text).unwrap_or_else(|e| panic!("{e}"));
        let want = "fabric = { poisson = 0.1, preset = \"cotton\", density = 0.3 } # soft\n";
        assert!(patched.ends_with(want), "{patched}");
    }

    #[test]
    fn errors_name_the_override_and_a_fix() {
        assert!(refused("substeps").contains("no \"=\""));
        assert!(refused("cloth.my shet.name=x").contains("did you mean \"my sheet\""));
        assert!(refused("cloth.7.name=x").contains("my sheet (0), 1"));
        assert!(refused("cloth.0=x").contains("not a single value"));
        assert!(refused("toile.x=1").contains("has no fields"));
        assert!(refused("a..b=1").contains("empty name"));
        assert!(refused("pin.0.border=left").contains("no element"));
    }

    #[test]
    fn origins_follow_later_edits() {
        let p = Patched::new(TEXT, "t", &["cloth.0.fabric.density=-1", "seed=123456789"]).expect("fits");
        let at = p.text.find("-1 }").expect("value");
        assert_eq!(p.origin(&(at..at + 2)), Some("cloth.0.fabric.density=-1"));
        assert_eq!(p.origin(&(0..4)), Some("seed=123456789"));
        let name = p.text.find("my sheet").expect("name");
        assert_eq!(p.origin(&(name..name + 3)), None);
    }
}
