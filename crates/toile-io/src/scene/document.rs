//! A scene's text with the place of every key and value, and errors that point into it.
//!
//! Paths are written as `--set` takes them: keys and list positions joined by dots,
//! `cloth.0.fabric.density`.

use std::fmt;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Largest scene file accepted [bytes].
pub const MAX_SCENE_BYTES: usize = 8 << 20;

/// Most problems reported at once: beyond, a file is not a scene with mistakes but something else.
pub(crate) const MAX_ERRORS: usize = 100;

/// One problem in a scene, with its place and one fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneError {
    /// What is wrong: object, value, limit.
    pub message: String,
    /// One thing to do about it.
    pub help: String,
    /// Bytes of the text to underline.
    pub span: Range<usize>,
    /// Path of the field, as `--set` takes it; empty for the whole file.
    pub path: String,
    /// The `--set` override that wrote the underlined text, if one did.
    pub from_override: Option<String>,
}

/// Every problem found in one scene, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneErrors {
    /// Name of the file, as the user knows it.
    pub source_name: String,
    /// The text the spans point into, overrides applied.
    pub text: String,
    /// The problems; never empty.
    pub errors: Vec<SceneError>,
}

impl SceneErrors {
    /// A single error about the file as a whole.
    pub(crate) fn whole(source_name: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        let error = SceneError {
            message: message.into(),
            help: help.into(),
            span: 0..0,
            path: String::new(),
            from_override: None,
        };
        Self { source_name: source_name.into(), text: String::new(), errors: vec![error] }
    }

    /// The errors as plain text: message, place, the line with the value underlined, and the fix.
    pub fn render(&self) -> String {
        let mut out = String::new();
        for (i, error) in self.errors.iter().enumerate() {
            if i > 0 {
                out.push('\n');
            }
            render_one(&mut out, &self.source_name, &self.text, error);
        }
        out
    }
}

impl fmt::Display for SceneErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render())
    }
}

impl std::error::Error for SceneErrors {}

/// Line and column (in characters) of a byte offset, both counted from 1, and the line's byte range.
pub(crate) fn line_of(text: &str, offset: usize) -> (usize, usize, Range<usize>) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let start = text[..offset].rfind('\n').map_or(0, |i| i + 1);
    let end = text[offset..].find('\n').map_or(text.len(), |i| offset + i);
    let line = text[..start].matches('\n').count() + 1;
    let column = text[start..offset].chars().count() + 1;
    (line, column, start..end.max(start))
}

fn render_one(out: &mut String, name: &str, text: &str, error: &SceneError) {
    use fmt::Write;
    let (line, column, range) = line_of(text, error.span.start);
    let _ = writeln!(out, "error: {}", error.message);
    if !text.is_empty() {
        let shown = text[range.clone()].trim_end().replace('\t', " ");
        let end = error.span.end.clamp(error.span.start, range.end.max(error.span.start));
        let width = text.get(error.span.start..end).map_or(1, |s| s.trim_end().chars().count()).max(1);
        let gutter = line.to_string().len();
        let _ = write!(out, "{:gutter$}--> {name}:{line}:{column}", "");
        if let Some(set) = &error.from_override {
            let _ = write!(out, " (--set {set})");
        }
        let _ = writeln!(out, "\n{:gutter$} |", "");
        let _ = writeln!(out, "{line} | {}", elide(&shown, column, width));
        let _ = writeln!(
            out,
            "{:gutter$} | {:pad$}{}",
            "",
            "",
            "^".repeat(width.min(MAX_LINE)),
            pad = shift(column, shown.chars().count())
        );
    } else {
        let _ = writeln!(out, " --> {name}");
    }
    if !error.help.is_empty() {
        let _ = writeln!(out, "  = help: {}", error.help);
    }
}

/// Longest line shown whole: a list of 10,000 indices must not fill the terminal.
const MAX_LINE: usize = 160;

fn shift(column: usize, line_length: usize) -> usize {
    let before = column.saturating_sub(1);
    if line_length <= MAX_LINE { before } else { before.min(20) }
}

fn elide(line: &str, column: usize, width: usize) -> String {
    let length = line.chars().count();
    if length <= MAX_LINE {
        return line.to_string();
    }
    let skip = (column.saturating_sub(1)).saturating_sub(20);
    let keep = MAX_LINE.max(width.min(MAX_LINE) + 40);
    line.chars().skip(skip).take(keep).collect()
}

/// A value of the document.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(Option<i64>),
    Float(f64),
    Bool,
    Date,
    List(Vec<Node>),
    /// Entries in the order of the text: key, place of the key, value.
    Table(Vec<(String, Range<usize>, Node)>),
}

/// A value with its place. A table written as `[header]` has the header's place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) value: Value,
}

/// A scene's text, parsed but not yet interpreted.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) text: String,
    pub(crate) root: Node,
}

impl Document {
    /// Parses TOML, reporting every syntax error.
    pub(crate) fn parse(text: &str) -> Result<Document, Vec<SceneError>> {
        let (table, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let mut errors: Vec<SceneError> = errors.iter().map(|e| syntax_error(text, e)).collect();
            errors.sort_by_key(|e| e.span.start);
            // One mistake often makes the parser complain again further down: the first few are the useful ones.
            errors.truncate(3);
            return Err(errors);
        }
        let root = Node { span: 0..0, value: convert_table(table.get_ref()) };
        Ok(Document { text: text.to_string(), root })
    }

    /// The value at a path, if the text has one.
    pub(crate) fn find(&self, path: &str) -> Option<&Node> {
        path.split('.').filter(|s| !s.is_empty()).try_fold(&self.root, |node, segment| node.child(segment))
    }

    /// What to underline for a path: the value, or else its nearest written ancestor.
    pub(crate) fn span_of(&self, path: &str) -> Range<usize> {
        let mut node = &self.root;
        for segment in path.split('.').filter(|s| !s.is_empty()) {
            match node.child(segment) {
                Some(child) => node = child,
                None => break,
            }
        }
        if node.span == (0..0) { self.first_key() } else { node.span.clone() }
    }

    /// The place of the first key: where "this file lacks …" points.
    pub(crate) fn first_key(&self) -> Range<usize> {
        match &self.root.value {
            Value::Table(entries) => entries.first().map_or(0..0, |(_, span, _)| span.clone()),
            _ => 0..0,
        }
    }

    /// A problem at a path.
    pub(crate) fn error(&self, path: &str, message: String, help: impl Into<String>) -> SceneError {
        SceneError {
            message,
            help: help.into(),
            span: self.span_of(path),
            path: path.to_string(),
            from_override: None,
        }
    }

    /// A path as people say it: `cloth "sheet": fabric.density` for `cloth.0.fabric.density`.
    pub(crate) fn label(&self, path: &str) -> String {
        let segments: Vec<&str> = path.split('.').filter(|s| !s.is_empty()).collect();
        let (Some(first), Some(index)) = (segments.first(), segments.get(1)) else { return path.to_string() };
        if index.parse::<usize>().is_err() || !matches!(*first, "cloth" | "pin" | "elastic" | "edit" | "body")
        {
            return path.to_string();
        }
        let name = match self.find(&format!("{first}.{index}.name")).map(|n| &n.value) {
            Some(Value::Text(name)) => format!("{first} \"{name}\""),
            _ => format!("{first} {index}"),
        };
        match segments.get(2..) {
            Some(rest) if !rest.is_empty() => format!("{name}: {}", rest.join(".")),
            _ => name,
        }
    }
}

impl Node {
    /// The child called `segment`: a key of a table or a position in a list.
    pub(crate) fn child(&self, segment: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|(key, _, _)| key == segment).map(|(_, _, n)| n),
            Value::List(items) => segment.parse::<usize>().ok().and_then(|i| items.get(i)),
            _ => None,
        }
    }

    /// What kind of value this is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number",
            Value::Bool => "true or false",
            Value::Date => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

fn syntax_error(text: &str, error: &toml::de::Error) -> SceneError {
    let mut span = error.span().unwrap_or(0..0);
    span.start = span.start.min(text.len());
    span.end = span.end.clamp(span.start, text.len());
    // An error at the end of a line is easier to see under the last thing written there.
    if span.is_empty() {
        let (_, _, line) = line_of(text, span.start);
        let written = text[line.clone()].trim_end();
        let start = line.start + written.trim_end_matches(|c: char| !c.is_whitespace()).len();
        if line.start + written.len() <= span.start && !written.is_empty() {
            span = start..line.start + written.len();
        } else {
            span.end = text[span.start..].chars().next().map_or(span.start, |c| span.start + c.len_utf8());
        }
    }
    let message = error.message();
    let help = if message.contains("duplicate key") {
        "keep one of the two lines"
    } else if message.contains("quoted") {
        "write a value after \"=\", and text between quotes: up = \"y\""
    } else if message.contains("unclosed") {
        "close the bracket or quote that was opened before"
    } else {
        "the file is TOML: key = value lines under [table] headings"
    };
    SceneError {
        message: format!("not valid TOML: {message}"),
        help: help.into(),
        span,
        path: String::new(),
        from_override: None,
    }
}

fn convert_table(table: &DeTable<'_>) -> Value {
    let mut entries: Vec<_> = table
        .iter()
        .map(|(key, value)| (key.get_ref().to_string(), key.span(), convert(value.get_ref(), value.span())))
        .collect();
    entries.sort_by_key(|(_, span, _)| span.start);
    Value::Table(entries)
}

fn convert(value: &DeValue<'_>, span: Range<usize>) -> Node {
    let value = match value {
        DeValue::String(s) => Value::Text(s.to_string()),
        DeValue::Integer(i) => Value::Integer(i64::from_str_radix(i.as_str(), i.radix()).ok()),
        DeValue::Float(x) => Value::Float(x.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(_) => Value::Bool,
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::List(items.iter().map(|v| convert(v.get_ref(), v.span())).collect()),
        DeValue::Table(table) => convert_table(table),
    };
    Node { span, value }
}

/// The choice nearest to `word`, if it is near enough to be a misspelling.
pub(crate) fn nearest<'a>(word: &str, choices: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match word.chars().count() {
        0..=3 => 1,
        4..=6 => 2,
        _ => 3,
    };
    let word = word.to_lowercase();
    let choices: Vec<&str> = choices.into_iter().collect();
    // A beginning of at least three letters is an abbreviation, not a misspelling.
    let begins = |c: &&&str| word.chars().count() >= 3 && c.to_lowercase().starts_with(&word);
    if let Some(longer) = choices.iter().find(begins) {
        return Some(longer);
    }
    choices
        .into_iter()
        .map(|c| (edit_distance(&word, &c.to_lowercase()), c))
        .filter(|(d, c)| *d <= limit && *d < c.chars().count())
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let width = b.len() + 1;
    let mut d = vec![0; (a.len() + 1) * width];
    (0..width).for_each(|j| d[j] = j);
    for i in 1..=a.len() {
        d[i * width] = i;
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (d[(i - 1) * width + j] + 1)
                .min(d[i * width + j - 1] + 1)
                .min(d[(i - 1) * width + j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(d[(i - 2) * width + j - 2] + 1);
            }
            d[i * width + j] = best;
        }
    }
    d[a.len() * width + b.len()]
}

/// Names as a readable list: `"a", "b" or "c"`.
pub(crate) fn quoted_list<S: AsRef<str>>(names: &[S], joiner: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("\"{}\"", n.as_ref())).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} {joiner} {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_near() {
        assert_eq!(nearest("densty", ["density", "stretch"]), Some("density"));
        assert_eq!(nearest("dnesity", ["density", "stretch"]), Some("density"));
        assert_eq!(nearest("banana", ["density", "stretch"]), None);
        assert_eq!(nearest("Y", ["y", "z"]), Some("y"));
    }

    #[test]
    fn lines_and_columns_count_characters() {
        let text = "a = 1\né = \"ü\"\n";
        let (line, column, range) = line_of(text, text.find('"').expect("quote"));
        assert_eq!((line, column), (2, 5));
        assert_eq!(&text[range], "é = \"ü\"");
        for offset in 0..text.len() + 5 {
            line_of(text, offset);
        }
    }

    #[test]
    fn paths_lead_to_values_headers_and_labels() {
        let text = "toile = 1\n[[cloth]]\nname = \"sheet\"\n[cloth.fabric]\ndensity = 2\n";
        let doc = Document::parse(text).expect("valid");
        let under = |path: &str| &text[doc.span_of(path)];
        assert_eq!(under("cloth.0.fabric.density"), "2");
        assert_eq!(under("cloth.0.fabric.bend"), "[cloth.fabric]");
        assert_eq!(under("cloth.0.shape"), "[[cloth]]");
        assert_eq!(under("units"), "toile");
        assert_eq!(doc.label("cloth.0.fabric.density"), "cloth \"sheet\": fabric.density");
        assert_eq!(doc.label("solver.substeps"), "solver.substeps");
    }
}
