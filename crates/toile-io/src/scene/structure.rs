//! The document against the schema: unknown fields, missing fields, wrong types, unknown choices.
//!
//! Serde stops at its first error; a person fixing a file wants all of them. The JSON schema made
//! from the very same types knows every field, so walking the document along the schema finds every
//! mistake in one pass, with its place, and the schema is exercised by every scene that loads.

use super::document::{Document, MAX_ERRORS, Node, SceneError, Value, nearest, quoted_list};
use super::schema::SceneFile;
use schemars::JsonSchema;
use serde_json::Value as Json;
use std::ops::Range;
use std::sync::LazyLock;

/// What a kind of file may contain.
pub(crate) struct Schema {
    root: Json,
    /// What the file is, in messages.
    what: &'static str,
}

impl Schema {
    /// The schema of files that become a `T`.
    pub(crate) fn of<T: JsonSchema>(title: &str, what: &'static str) -> Schema {
        let mut root = serde_json::to_value(schemars::schema_for!(T)).unwrap_or(Json::Null);
        if let Some(object) = root.as_object_mut() {
            object.insert("title".into(), title.into());
        }
        drop_null(&mut root);
        Schema { root, what }
    }
}

/// What scene files may contain.
pub(crate) static SCENE: LazyLock<Schema> =
    LazyLock::new(|| Schema::of::<SceneFile>("toile scene", "the scene"));

/// The JSON schema of scene files, for editors and other programs. Every property is described,
/// with its unit and default.
pub fn scene_schema() -> Json {
    SCENE.root.clone()
}

/// TOML has no null: an optional field is simply not required.
fn drop_null(schema: &mut Json) {
    match schema {
        Json::Object(map) => {
            if let Some(Json::Array(types)) = map.get_mut("type") {
                types.retain(|t| t != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    map.insert("type".into(), only);
                }
            }
            if let Some(Json::Array(options)) = map.get_mut("anyOf") {
                options.retain(|o| o.get("type").is_none_or(|t| t != "null"));
                if let [only] = options.as_slice()
                    && let Some(reference) = only.get("$ref").cloned()
                {
                    map.remove("anyOf");
                    map.insert("$ref".into(), reference);
                }
            }
            map.retain(|key, value| !(key == "default" && value.is_null()));
            map.values_mut().for_each(drop_null);
        }
        Json::Array(items) => items.iter_mut().for_each(drop_null),
        _ => {}
    }
}

/// Every structural problem of a document, in the order of the text.
pub(crate) fn check(doc: &Document, schema: &Schema) -> Vec<SceneError> {
    let mut walk = Walk { doc, schema, errors: Vec::new() };
    walk.node(&schema.root, &doc.root, "");
    walk.errors.sort_by_key(|e| e.span.start);
    walk.errors
}

struct Walk<'a> {
    doc: &'a Document,
    schema: &'a Schema,
    errors: Vec<SceneError>,
}

fn type_name(schema: &Json) -> &str {
    schema.get("type").and_then(Json::as_str).unwrap_or_default()
}

fn constant(schema: &Json) -> Option<&str> {
    schema.get("const").and_then(Json::as_str)
}

/// The value of a table's `kind` that selects this alternative.
fn tag(schema: &Json) -> Option<&str> {
    schema.get("properties").and_then(|p| p.get("kind")).and_then(constant)
}

fn keys(schema: &Json) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Json::as_object);
    properties.map_or(Vec::new(), |p| p.keys().map(String::as_str).collect())
}

fn accepts(schema: &Json, node: &Node) -> bool {
    matches!(
        (type_name(schema), &node.value),
        ("string", Value::Text(_))
            | ("number", Value::Float(_) | Value::Integer(_))
            | ("integer", Value::Integer(_))
            | ("boolean", Value::Bool)
            | ("array", Value::List(_))
            | ("object", Value::Table(_))
    )
}

fn join(path: &str, segment: &str) -> String {
    if path.is_empty() { segment.to_string() } else { format!("{path}.{segment}") }
}

impl Walk<'_> {
    fn fail(&mut self, span: Range<usize>, path: &str, message: String, help: String) {
        self.errors.push(SceneError { message, help, span, path: path.to_string(), from_override: None });
    }

    fn full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    fn node(&mut self, schema: &Json, node: &Node, path: &str) {
        if self.full() {
            return;
        }
        let rules = self.schema;
        let schema = rules.resolve(schema);
        let options = rules.alternatives(schema);
        if options.iter().all(|o| constant(o).is_some()) {
            return self.choice(&options, node, path);
        }
        if options.len() > 1 && options.iter().all(|o| tag(o).is_some()) && accepts(options[0], node) {
            return self.tagged(&options, node, path);
        }
        // Between a list and a number the written value itself says which alternative was meant.
        match options.iter().find(|o| accepts(o, node)) {
            Some(option) => self.typed(option, node, path),
            None => self.wrong_type(schema, node, path),
        }
    }

    fn typed(&mut self, schema: &Json, node: &Node, path: &str) {
        match &node.value {
            Value::Table(entries) => self.table(schema, node, entries, path),
            Value::List(items) => self.list(schema, node, items, path),
            Value::Float(x) if !x.is_finite() => {
                let label = self.doc.label(path);
                let message = format!("{label} is {x}, it must be a finite number");
                self.fail(node.span.clone(), path, message, "write an ordinary number".into());
            }
            Value::Integer(i) => self.integer(schema, node, *i, path),
            _ => {}
        }
    }

    fn integer(&mut self, schema: &Json, node: &Node, value: Option<i64>, path: &str) {
        let unsigned = schema.get("minimum").and_then(Json::as_f64) == Some(0.0);
        let largest = match schema.get("format").and_then(Json::as_str) {
            Some("uint32") => i64::from(u32::MAX),
            _ => i64::MAX,
        };
        match value {
            Some(i) if unsigned && i < 0 => {
                let message = format!("{} is {i}, it must be 0 or more", self.doc.label(path));
                self.fail(node.span.clone(), path, message, "write a whole number without a sign".into());
            }
            Some(i) if i <= largest => {}
            _ => {
                let (label, written) = (self.doc.label(path), &self.doc.text[node.span.clone()]);
                let message = format!("{label} is {written}, the largest value is {largest}");
                self.fail(node.span.clone(), path, message, "write a smaller number".into());
            }
        }
    }

    fn choice(&mut self, options: &[&Json], node: &Node, path: &str) {
        let names: Vec<&str> = options.iter().filter_map(|o| constant(o)).collect();
        let label = self.doc.label(path);
        let all = quoted_list(&names, "or");
        match &node.value {
            Value::Text(text) if names.contains(&text.as_str()) => {}
            Value::Text(text) => {
                let help = match nearest(text, names.iter().copied()) {
                    Some(near) => format!("did you mean \"{near}\"? The choices are {all}"),
                    None => format!("the choices are {all}"),
                };
                self.fail(node.span.clone(), path, format!("{label} cannot be \"{text}\""), help);
            }
            _ => {
                let message = format!("{label} must be one of {all}, not {}", node.kind());
                self.fail(
                    node.span.clone(),
                    path,
                    message,
                    format!("write {}", quoted_list(&names[..1], "")),
                );
            }
        }
    }

    fn tagged(&mut self, options: &[&Json], node: &Node, path: &str) {
        let names: Vec<&str> = options.iter().filter_map(|o| tag(o)).collect();
        let all = quoted_list(&names, "or");
        let label = self.doc.label(path);
        match node.child("kind").map(|k| (&k.value, k)) {
            Some((Value::Text(kind), at)) => match options.iter().find(|o| tag(o) == Some(kind)) {
                Some(option) => self.typed(option, node, path),
                None => {
                    let help = match nearest(kind, names.iter().copied()) {
                        Some(near) => format!("did you mean \"{near}\"? The choices are {all}"),
                        None => format!("the choices are {all}"),
                    };
                    let message = format!("{label} has no kind \"{kind}\"");
                    self.fail(at.span.clone(), &join(path, "kind"), message, help);
                }
            },
            Some((_, at)) => {
                let message = format!("{label}: kind must be text");
                self.fail(at.span.clone(), &join(path, "kind"), message, format!("the choices are {all}"));
            }
            None => {
                let message = format!("{label} does not say its kind");
                self.fail(node.span.clone(), path, message, format!("add kind = {all}"));
            }
        }
    }

    fn wrong_type(&mut self, schema: &Json, node: &Node, path: &str) {
        let wanted = self.schema.describe(schema);
        let label = self.doc.label(path);
        let help = match &node.value {
            Value::Text(text) if wanted.contains("number") && text.trim().parse::<f64>().is_ok() => {
                format!("write {} without quotes", text.trim())
            }
            Value::Float(x) if x.fract() == 0.0 && x.abs() < 1e15 => format!("write {x:.0} without a point"),
            Value::Table(_) if wanted.starts_with("a list of tables") => {
                let key = path.rsplit('.').next().unwrap_or_default();
                format!("write [[{key}]] with double brackets: a scene can have several")
            }
            _ if wanted == "a table" => {
                format!("write {} = {{ … }}", path.rsplit('.').next().unwrap_or_default())
            }
            _ => format!("write {wanted}"),
        };
        let message = format!("{label} must be {wanted}, not {}", node.kind());
        self.fail(node.span.clone(), path, message, help);
    }

    fn list(&mut self, schema: &Json, node: &Node, items: &[Node], path: &str) {
        let count = |key| schema.get(key).and_then(Json::as_u64);
        let n = items.len() as u64;
        if count("minItems").is_some_and(|min| n < min) || count("maxItems").is_some_and(|max| n > max) {
            let wanted = match (count("minItems"), count("maxItems")) {
                (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
                (least, most) => most.or(least).unwrap_or(0).to_string(),
            };
            let label = self.doc.label(path);
            let message = format!("{label} has {n} values, it needs {wanted}");
            self.fail(node.span.clone(), path, message, format!("write {}", self.schema.describe(schema)));
        }
        if let Some(item) = schema.get("items") {
            for (i, child) in items.iter().enumerate() {
                self.node(item, child, &join(path, &i.to_string()));
            }
        }
    }

    fn table(&mut self, schema: &Json, node: &Node, entries: &[(String, Range<usize>, Node)], path: &str) {
        let properties = schema.get("properties");
        for (key, span, child) in entries {
            match properties.and_then(|p| p.get(key)) {
                Some(property) => self.node(property, child, &join(path, key)),
                None if self.full() => return,
                None => self.unknown_field(schema, key, span.clone(), path),
            }
        }
        let required = schema.get("required").and_then(Json::as_array);
        for key in required.into_iter().flatten().filter_map(Json::as_str) {
            if node.child(key).is_none() {
                self.missing_field(schema, key, path);
            }
        }
    }

    fn unknown_field(&mut self, schema: &Json, key: &str, span: Range<usize>, path: &str) {
        let fields = keys(schema);
        let place = if path.is_empty() { self.schema.what.to_string() } else { self.doc.label(path) };
        let help = match (nearest(key, fields.iter().copied()), self.schema.home_of(key)) {
            (Some(near), _) => format!("did you mean \"{near}\"?"),
            (None, Some(home)) => format!("\"{key}\" belongs to {home}"),
            (None, None) => format!("the fields are {}", fields.join(", ")),
        };
        let message = format!("{place} has no field \"{key}\"");
        self.fail(span, &join(path, key), message, help);
    }

    fn missing_field(&mut self, schema: &Json, key: &str, path: &str) {
        let place = if path.is_empty() { self.schema.what.to_string() } else { self.doc.label(path) };
        let property = schema.get("properties").and_then(|p| p.get(key));
        let help = match (path, key) {
            ("", "toile") => "add toile = 1, the version of the format".to_string(),
            ("", "units") => {
                "add units = \"m\" (or \"cm\", \"mm\", \"inch\"): the unit of every length in this file"
                    .to_string()
            }
            ("", "up") => "add up = \"y\" (or \"z\"): the axis that points up in this file".to_string(),
            _ => format!("add {key} = {}", property.map(|p| self.schema.describe(p)).unwrap_or_default()),
        };
        let what = if join(path, key) == "toile" { "format version" } else { key };
        let message = format!("{place} does not say its {what}");
        self.fail(self.doc.span_of(path), &join(path, key), message, help);
    }
}

impl Schema {
    /// Follows `$ref` into the schema's definitions.
    fn resolve<'a>(&'a self, schema: &'a Json) -> &'a Json {
        match schema.get("$ref").and_then(Json::as_str) {
            Some(reference) => {
                let name = reference.rsplit('/').next().unwrap_or_default();
                self.root.get("$defs").and_then(|defs| defs.get(name)).unwrap_or(schema)
            }
            None => schema,
        }
    }

    /// The alternatives of a schema, or the schema itself.
    fn alternatives<'a>(&'a self, schema: &'a Json) -> Vec<&'a Json> {
        match schema.get("oneOf").or(schema.get("anyOf")).and_then(Json::as_array) {
            Some(options) => options.iter().map(|option| self.resolve(option)).collect(),
            None => vec![schema],
        }
    }

    /// What a schema accepts, in words.
    fn describe(&self, schema: &Json) -> String {
        let options = self.alternatives(self.resolve(schema));
        let mut words: Vec<String> = Vec::new();
        if options.iter().all(|o| constant(o).is_some()) {
            let names: Vec<&str> = options.iter().filter_map(|o| constant(o)).collect();
            return quoted_list(&names, "or");
        }
        for option in options {
            let word = match type_name(option) {
                "number" => "a number".to_string(),
                "integer" => "a whole number".to_string(),
                "string" => "text".to_string(),
                "boolean" => "true or false".to_string(),
                "array" => self.describe_list(option),
                _ => "a table".to_string(),
            };
            if !words.contains(&word) {
                words.push(word);
            }
        }
        words.join(" or ")
    }

    fn describe_list(&self, schema: &Json) -> String {
        let items = schema.get("items").map(|items| self.resolve(items));
        let of = match items.map(|i| (type_name(i), i.get("maxItems").and_then(Json::as_u64))) {
            Some(("number", _)) => "numbers".to_string(),
            Some(("integer", _)) => "whole numbers".to_string(),
            Some(("array", Some(n))) => format!("lists of {n} numbers"),
            Some(("object", _)) => "tables".to_string(),
            _ => "values".to_string(),
        };
        match schema.get("maxItems").and_then(Json::as_u64) {
            Some(n) => format!("a list of {n} {of}"),
            None => format!("a list of {of}"),
        }
    }

    /// Where a field that is unknown here would be known: `density` → `cloth.fabric`.
    fn home_of(&self, key: &str) -> Option<String> {
        if self.root.get("properties").is_some_and(|p| p.get(key).is_some()) {
            return Some("the top of the file, above the first [heading]".into());
        }
        self.search(&self.root, key, "", 5)
    }

    fn search(&self, schema: &Json, key: &str, path: &str, depth: usize) -> Option<String> {
        if depth == 0 {
            return None;
        }
        let schema = self.resolve(schema);
        let schema = if type_name(schema) == "array" { self.resolve(schema.get("items")?) } else { schema };
        for option in self.alternatives(schema) {
            let Some(properties) = option.get("properties").and_then(Json::as_object) else { continue };
            if properties.contains_key(key) {
                return Some(path.to_string());
            }
            for (name, property) in properties {
                if let Some(found) = self.search(property, key, &join(path, name), depth - 1) {
                    return Some(found);
                }
            }
        }
        None
    }
}
