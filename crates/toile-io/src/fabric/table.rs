//! Readings as a table: a header line with the names of the columns, then one reading per line.
//!
//! Lines with the same `test`, `direction` and `specimen` are one test; empty cells mean "not here".

use super::readings::{BiasStrip, Direction, Mass, Overhang, Readings, Slide, Strip, Thickness, Trellis};
use crate::scene::{SceneError, nearest, quoted_list};
use std::collections::BTreeMap;
use std::ops::Range;

/// Columns with numbers.
const NUMBERS: [&str; 15] = [
    "length_mm",
    "width_mm",
    "mass_g",
    "density_g_m2",
    "thickness_mm",
    "pressure_kpa",
    "overhang_mm",
    "angle_deg",
    "gauge_mm",
    "side_mm",
    "load_N",
    "extension_mm",
    "narrowing_mm",
    "start_deg",
    "keep_deg",
];
/// Columns with words.
const WORDS: [&str; 3] = ["test", "direction", "specimen"];
/// Kinds of tests.
const TESTS: [&str; 7] = ["mass", "thickness", "cantilever", "strip", "bias_strip", "trellis", "slide"];

/// A line of the table.
struct Row<'a> {
    span: Range<usize>,
    words: BTreeMap<&'a str, &'a str>,
    numbers: BTreeMap<&'a str, f64>,
}

/// Where each test starts, by its path (`strip.0`).
type Places = BTreeMap<String, Range<usize>>;

fn problem(span: Range<usize>, message: String, help: impl Into<String>) -> SceneError {
    SceneError { message, help: help.into(), span, path: String::new(), from_override: None }
}

/// Cells of a line with their places.
fn cells(line: &str, start: usize, separator: char) -> impl Iterator<Item = (&str, Range<usize>)> {
    let mut at = start;
    line.split(separator).map(move |cell| {
        let from = at + (cell.len() - cell.trim_start().len());
        at += cell.len() + separator.len_utf8();
        let text = cell.trim();
        (text, from..from + text.len())
    })
}

/// Every line with content, with its place. A line that starts with # is a remark.
fn lines(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut at = text.len() - text.trim_start_matches('\u{feff}').len();
    text[at..].split('\n').filter_map(move |line| {
        let start = at;
        at += line.len() + 1;
        let line = line.trim_end_matches('\r');
        (!line.trim().is_empty() && !line.trim_start().starts_with('#')).then_some((line, start))
    })
}

/// Reads a table, and where its tests are.
pub(super) fn read(text: &str) -> Result<(Readings, Places), Vec<SceneError>> {
    let mut lines = lines(text);
    let Some((header, start)) = lines.next() else {
        let help = "write a header line such as test,direction,overhang_mm";
        return Err(vec![problem(0..0, "the table is empty".into(), help)]);
    };
    let separator = if header.contains(';') { ';' } else { ',' };
    let columns: Vec<(&str, Range<usize>)> = cells(header, start, separator).collect();
    let mut errors = Vec::new();
    let all: Vec<&str> = WORDS.iter().chain(&NUMBERS).copied().collect();
    for (name, span) in columns.iter().filter(|(name, _)| !all.contains(name)) {
        let help = match nearest(name, all.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("the columns are {}", all.join(", ")),
        };
        errors.push(problem(span.clone(), format!("there is no column \"{name}\""), help));
    }
    if !columns.iter().any(|(name, _)| *name == "test") {
        let help = format!("its cells are {}", quoted_list(&TESTS, "or"));
        errors.push(problem(start..start + header.len(), "the table has no column \"test\"".into(), help));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let rows: Vec<Row> =
        lines.map(|(line, start)| row(line, start, separator, &columns, &mut errors)).collect();
    if !errors.is_empty() {
        errors.truncate(100);
        return Err(errors);
    }
    Ok(collect(&rows))
}

fn row<'a>(
    line: &'a str,
    start: usize,
    separator: char,
    columns: &[(&'a str, Range<usize>)],
    errors: &mut Vec<SceneError>,
) -> Row<'a> {
    let span = start..start + line.len();
    let mut row = Row { span: span.clone(), words: BTreeMap::new(), numbers: BTreeMap::new() };
    let count = line.split(separator).count();
    if count > columns.len() {
        let message = format!("the line has {count} cells, the header has {}", columns.len());
        errors.push(problem(span.clone(), message, "numbers have a decimal point, not a comma"));
        return row;
    }
    for ((cell, place), (name, _)) in cells(line, start, separator).zip(columns) {
        if cell.is_empty() {
        } else if WORDS.contains(name) {
            row.words.insert(name, cell);
        } else {
            match cell.parse::<f64>() {
                Ok(x) if x.is_finite() => {
                    row.numbers.insert(name, x);
                }
                _ => {
                    let help = "write a plain number with a decimal point, without its unit";
                    errors.push(problem(place, format!("{name} is \"{cell}\", which is not a number"), help));
                }
            }
        }
    }
    let word = |name: &str| row.words.get(name).copied().unwrap_or_default();
    let refuse = |what: &str, word: &str, known: &[&str]| {
        let help = match nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("write {}", quoted_list(known, "or")),
        };
        problem(span.clone(), format!("{what} cannot be \"{word}\""), help)
    };
    if !TESTS.contains(&word("test")) {
        errors.push(refuse("test", word("test"), &TESTS));
    } else {
        let directions: &[&str] = match word("test") {
            "cantilever" => &["warp", "weft", "bias"],
            "strip" => &["warp", "weft"],
            _ => return row,
        };
        if !directions.contains(&word("direction")) {
            errors.push(refuse("direction", word("direction"), directions));
        }
    }
    row
}

/// Groups lines into tests.
fn collect(rows: &[Row]) -> (Readings, Places) {
    let mut readings = Readings { toile: 1, ..Readings::default() };
    let mut places = Places::new();
    let mut groups: Vec<([&str; 3], Vec<&Row>)> = Vec::new();
    for row in rows {
        let key = WORDS.map(|name| row.words.get(name).copied().unwrap_or_default());
        // Each weighed piece is a test by itself.
        match groups.iter_mut().find(|(k, _)| *k == key && key[0] != "mass") {
            Some((_, group)) => group.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    for ([test, direction, _], group) in groups {
        let direction = match direction {
            "weft" => Direction::Weft,
            "bias" => Direction::Bias,
            _ => Direction::Warp,
        };
        let first = |name: &str| group.iter().find_map(|row| row.numbers.get(name).copied());
        let list = |name: &str| -> Vec<f64> {
            group.iter().filter_map(|row| row.numbers.get(name).copied()).collect()
        };
        let number = match test {
            "mass" => {
                readings.mass.push(Mass {
                    length_mm: first("length_mm"),
                    width_mm: first("width_mm"),
                    mass_g: first("mass_g"),
                    density_g_m2: first("density_g_m2"),
                });
                readings.mass.len()
            }
            "thickness" => {
                let thickness_mm = list("thickness_mm");
                readings.thickness.push(Thickness { thickness_mm, pressure_kpa: first("pressure_kpa") });
                readings.thickness.len()
            }
            "cantilever" => {
                let overhang_mm = list("overhang_mm");
                readings.cantilever.push(Overhang { direction, overhang_mm, angle_deg: first("angle_deg") });
                readings.cantilever.len()
            }
            "strip" => {
                readings.strip.push(Strip {
                    direction,
                    width_mm: first("width_mm").unwrap_or_default(),
                    gauge_mm: first("gauge_mm").unwrap_or_default(),
                    load: list("load_N"),
                    extension_mm: list("extension_mm"),
                    narrowing_mm: Some(list("narrowing_mm")).filter(|list| !list.is_empty()),
                    ..Strip::default()
                });
                readings.strip.len()
            }
            "bias_strip" => {
                readings.bias_strip.push(BiasStrip {
                    width_mm: first("width_mm").unwrap_or_default(),
                    gauge_mm: first("gauge_mm").unwrap_or_default(),
                    load: list("load_N"),
                    extension_mm: list("extension_mm"),
                });
                readings.bias_strip.len()
            }
            "trellis" => {
                readings.trellis.push(Trellis {
                    side_mm: first("side_mm").unwrap_or_default(),
                    load: list("load_N"),
                    extension_mm: list("extension_mm"),
                    ..Trellis::default()
                });
                readings.trellis.len()
            }
            _ => {
                readings.slide.push(Slide { start_deg: list("start_deg"), keep_deg: list("keep_deg") });
                readings.slide.len()
            }
        };
        if let Some(row) = group.first() {
            places.insert(format!("{test}.{}", number - 1), row.span.clone());
        }
    }
    (readings, places)
}
