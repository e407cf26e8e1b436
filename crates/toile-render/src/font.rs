//! A small sans-serif drawn with round pen strokes, so text needs no font file and scales to any size.
//!
//! A glyph is a path: `M` moves, `L` draws a line, `Q` a curve towards its first point. Units are a
//! fourteenth of the capital height; the baseline is y = 0, small letters are 10 high.

use crate::colour::Colour;
use crate::image::{Image, distance_to_segment, edge};
use glam::Vec2;

/// Space between glyphs and width of a blank, in glyph units.
const TRACKING: f32 = 3.7;
const BLANK: f32 = 2.6;
/// Pen width in glyph units.
const PEN: f32 = 1.75;
/// Straight pieces a curve is drawn with: at 100 px capitals the error is still below a tenth of a pixel.
const PIECES: usize = 8;
const UNITS: f32 = 14.0;

/// A style of text.
#[derive(Clone, Copy)]
pub(crate) struct Pen {
    /// Height of a capital letter [px].
    pub(crate) size: f32,
    pub(crate) colour: Colour,
    /// Colour drawn around the letters so that they can be read on anything.
    pub(crate) halo: Option<Colour>,
}

/// Width of a line of text [px] for capitals of `size` px.
pub(crate) fn width(text: &str, size: f32) -> f32 {
    let total: f32 = text.chars().map(advance).sum();
    (total - TRACKING).max(0.0) * size / UNITS
}

/// Draws one line of text with its baseline starting at `at` [px].
pub(crate) fn draw(image: &mut Image, text: &str, at: Vec2, pen: &Pen) {
    if !(pen.size.is_finite() && pen.size > 0.0) {
        return;
    }
    let scale = pen.size / UNITS;
    // Below a certain width strokes turn grey; small text gets a relatively stronger pen.
    let stroke = (PEN * scale).max(1.15);
    let mut strokes = Vec::new();
    let mut x = at.x;
    for c in text.chars() {
        strokes.push(segments(c, Vec2::new(x, at.y), scale));
        x += advance(c) * scale;
    }
    if let Some(halo) = pen.halo {
        strokes.iter().for_each(|s| ink(image, s, stroke + 0.36 * pen.size, halo, 0.85));
    }
    strokes.iter().for_each(|s| ink(image, s, stroke, pen.colour, 1.0));
}

fn ink(image: &mut Image, segments: &[(Vec2, Vec2)], width: f32, colour: Colour, alpha: f32) {
    let Some(first) = segments.first() else { return };
    let (mut low, mut high) = (first.0, first.0);
    for (a, b) in segments {
        low = low.min(*a).min(*b);
        high = high.max(*a).max(*b);
    }
    let reach = Vec2::splat(0.5 * width + 1.0);
    // One distance over the whole glyph: strokes that meet do not darken each other.
    image.paint(low - reach, high + reach, colour, |p| {
        let distance = segments.iter().fold(f32::MAX, |d, (a, b)| d.min(distance_to_segment(p, *a, *b)));
        alpha * edge(0.5 * width - distance)
    });
}

fn advance(c: char) -> f32 {
    match superscript(c) {
        Some(base) => advance(base) * 0.62,
        None if c == ' ' => BLANK + TRACKING,
        None => glyph(c).0 + TRACKING,
    }
}

/// The pen lines of a character placed at `at`, in pixels.
fn segments(c: char, at: Vec2, scale: f32) -> Vec<(Vec2, Vec2)> {
    if let Some(base) = superscript(c) {
        return segments(base, at - Vec2::Y * (6.6 * scale), scale * 0.62);
    }
    if c == ' ' {
        return Vec::new();
    }
    let place = |p: Vec2| at + Vec2::new(p.x, -p.y) * scale;
    flatten(glyph(c).1).into_iter().map(|(a, b)| (place(a), place(b))).collect()
}

/// The character a raised one is made from.
fn superscript(c: char) -> Option<char> {
    const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻";
    const PLAIN: &str = "0123456789−";
    let index = RAISED.chars().position(|raised| raised == c)?;
    PLAIN.chars().nth(index)
}

/// Straight pieces of a path, in glyph units.
fn flatten(path: &str) -> Vec<(Vec2, Vec2)> {
    let starts: Vec<usize> = path.match_indices(['M', 'L', 'Q']).map(|(i, _)| i).collect();
    let ends = starts.iter().copied().skip(1).chain([path.len()]);
    let mut pieces = Vec::new();
    let mut at = Vec2::ZERO;
    for (start, end) in starts.iter().copied().zip(ends) {
        let (kind, numbers) = path[start..end].split_at(1);
        let n: Vec<f32> = numbers.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        match (kind, n.as_slice()) {
            ("M", &[x, y]) => at = Vec2::new(x, y),
            ("L", &[x, y]) => {
                pieces.push((at, Vec2::new(x, y)));
                at = Vec2::new(x, y);
            }
            ("Q", &[cx, cy, x, y]) => {
                let (from, control, to) = (at, Vec2::new(cx, cy), Vec2::new(x, y));
                for i in 1..=PIECES {
                    let t = i as f32 / PIECES as f32;
                    let next = from.lerp(control, t).lerp(control.lerp(to, t), t);
                    pieces.push((at, next));
                    at = next;
                }
            }
            _ => {}
        }
    }
    pieces
}

/// Width and path of a glyph; an empty box for characters the font does not have.
fn glyph(c: char) -> (f32, &'static str) {
    match c {
        'A' => (11.0, "M0 0L5.5 14L11 0M2 5L9 5"),
        'B' => {
            (9.4, "M0 0L0 14L5 14Q8.9 14 8.9 10.8Q8.9 7.5 5 7.5L0 7.5M5 7.5Q9.4 7.5 9.4 3.8Q9.4 0 5 0L0 0")
        }
        'C' => (10.0, "M10 11.2Q8.6 14 5.6 14Q0 14 0 7Q0 0 5.6 0Q8.6 0 10 2.8"),
        'D' => (10.0, "M0 0L0 14L4.4 14Q10 14 10 7Q10 0 4.4 0L0 0"),
        'E' => (7.8, "M7.8 14L0 14L0 0L7.8 0M0 7.3L6.8 7.3"),
        'F' => (7.6, "M7.6 14L0 14L0 0M0 7.3L6.6 7.3"),
        'G' => (10.8, "M10.2 11.4Q8.7 14 5.7 14Q0 14 0 7Q0 0 5.7 0Q10.8 0 10.8 6.6L6.4 6.6"),
        'H' => (10.0, "M0 0L0 14M10 0L10 14M0 7.3L10 7.3"),
        'I' => (0.4, "M0.2 0L0.2 14"),
        'J' => (6.6, "M6.6 14L6.6 4Q6.6 0 3.4 0Q0.6 0 0 3"),
        'K' => (9.4, "M0 0L0 14M9 14L0 5.2M3.4 8.5L9.4 0"),
        'L' => (7.4, "M0 14L0 0L7.4 0"),
        'M' => (12.0, "M0 0L0 14L6 4.6L12 14L12 0"),
        'N' => (10.0, "M0 0L0 14L10 0L10 14"),
        'O' => (11.4, "M5.7 14Q0 14 0 7Q0 0 5.7 0Q11.4 0 11.4 7Q11.4 14 5.7 14"),
        'P' => (9.0, "M0 0L0 14L5 14Q9 14 9 10.2Q9 6.4 5 6.4L0 6.4"),
        'Q' => (11.4, "M5.7 14Q0 14 0 7Q0 0 5.7 0Q11.4 0 11.4 7Q11.4 14 5.7 14M7.2 3.8L11.4 -0.8"),
        'R' => (9.4, "M0 0L0 14L5 14Q9 14 9 10.2Q9 6.4 5 6.4L0 6.4M5 6.4L9.4 0"),
        'S' => (
            9.2,
            "M8.6 11.3Q7.6 14 4.7 14Q0.5 14 0.5 10.6Q0.5 8 4.6 7.2Q9.2 6.3 9.2 3.6Q9.2 0 4.8 0Q1.2 0 0 3",
        ),
        'T' => (10.0, "M0 14L10 14M5 14L5 0"),
        'U' => (10.0, "M0 14L0 5Q0 0 5 0Q10 0 10 5L10 14"),
        'V' => (11.0, "M0 14L5.5 0L11 14"),
        'W' => (15.6, "M0 14L3.9 0L7.8 12L11.7 0L15.6 14"),
        'X' => (10.0, "M0 14L10 0M10 14L0 0"),
        'Y' => (10.0, "M0 14L5 6.8L10 14M5 6.8L5 0"),
        'Z' => (9.4, "M0 14L9.4 14L0 0L9.4 0"),
        'a' => (
            7.4,
            "M0.6 8.2Q1.6 10 3.9 10Q7.4 10 7.4 6.8L7.4 0M7.4 5.8L4 5.6Q0 5.3 0 2.7Q0 0 3.2 0Q7.4 0 7.4 4",
        ),
        'b' => (8.4, "M0 14.5L0 0M0 5Q0 10 4.2 10Q8.4 10 8.4 5Q8.4 0 4.2 0Q0 0 0 5"),
        'c' => (7.2, "M7.2 8Q6.2 10 4.2 10Q0 10 0 5Q0 0 4.2 0Q6.2 0 7.2 2"),
        'd' => (8.4, "M8.4 14.5L8.4 0M8.4 5Q8.4 10 4.2 10Q0 10 0 5Q0 0 4.2 0Q8.4 0 8.4 5"),
        'e' => (8.2, "M0 5.3L8.2 5.3Q8.2 10 4.2 10Q0 10 0 5Q0 0 4.3 0Q6.8 0 7.9 2"),
        'f' => (4.6, "M4.8 14.4Q1.8 14.9 1.8 11.6L1.8 0M0 9.8L4.4 9.8"),
        'g' => (
            8.4,
            "M8.4 10L8.4 0Q8.4 -4 4.2 -4Q1.4 -4 0.5 -2.2M8.4 5Q8.4 10 4.2 10Q0 10 0 5Q0 0 4.2 0Q8.4 0 8.4 5",
        ),
        'h' => (7.8, "M0 14.5L0 0M0 5.6Q0 10 4.1 10Q7.8 10 7.8 6L7.8 0"),
        'i' => (0.6, "M0.3 10L0.3 0M0.3 13.7L0.3 13.9"),
        'j' => (2.0, "M2 10L2 -1.6Q2 -4 -0.6 -4M2 13.7L2 13.9"),
        'k' => (7.4, "M0 14.5L0 0M7 10L0 3.6M2.7 6.1L7.4 0"),
        'l' => (0.6, "M0.3 14.5L0.3 0"),
        'm' => (
            12.8,
            "M0 10L0 0M0 5.8Q0 10 3.4 10Q6.4 10 6.4 6.4L6.4 0M6.4 5.8Q6.4 10 9.8 10Q12.8 10 12.8 6.4L12.8 0",
        ),
        'n' => (7.8, "M0 10L0 0M0 5.6Q0 10 4.1 10Q7.8 10 7.8 6L7.8 0"),
        'o' => (8.6, "M4.3 10Q0 10 0 5Q0 0 4.3 0Q8.6 0 8.6 5Q8.6 10 4.3 10"),
        'p' => (8.4, "M0 10L0 -4M0 5Q0 10 4.2 10Q8.4 10 8.4 5Q8.4 0 4.2 0Q0 0 0 5"),
        'q' => (8.4, "M8.4 10L8.4 -4M8.4 5Q8.4 10 4.2 10Q0 10 0 5Q0 0 4.2 0Q8.4 0 8.4 5"),
        'r' => (4.4, "M0 10L0 0M0 5.4Q0 10 4.4 9.8"),
        's' => (
            6.8,
            "M6.4 8.2Q5.6 10 3.4 10Q0.4 10 0.4 7.5Q0.4 5.8 3.4 5.3Q6.8 4.7 6.8 2.6Q6.8 0 3.6 0Q0.9 0 0 2",
        ),
        't' => (4.6, "M1.8 13L1.8 2.6Q1.8 -0.1 4.6 0.2M0 9.8L4.4 9.8"),
        'u' => (7.8, "M0 10L0 4Q0 0 3.7 0Q7.8 0 7.8 4.4M7.8 10L7.8 0"),
        'v' => (8.0, "M0 10L4 0L8 10"),
        'w' => (12.4, "M0 10L3.1 0L6.2 9L9.3 0L12.4 10"),
        'x' => (7.6, "M0 10L7.6 0M7.6 10L0 0"),
        'y' => (8.0, "M0 10L4 0M8 10L3.4 -2Q2.6 -4 0.4 -4"),
        'z' => (7.2, "M0 10L7.2 10L0 0L7.2 0"),
        '0' => (8.8, "M4.4 14Q0 14 0 7Q0 0 4.4 0Q8.8 0 8.8 7Q8.8 14 4.4 14"),
        '1' => (8.8, "M1.6 11L5.4 14L5.4 0"),
        '2' => (8.8, "M0.4 10.4Q0.8 14 4.4 14Q8.4 14 8.4 10.4Q8.4 8 5.6 5.2L0.2 0L8.8 0"),
        '3' => (
            8.8,
            "M0.6 11.6Q1.6 14 4.3 14Q8.2 14 8.2 10.8Q8.2 7.5 3.6 7.5M4 7.5Q8.8 7.5 8.8 3.8Q8.8 0 4.3 0Q0.9 0 0 2.8",
        ),
        '4' => (8.8, "M6.6 0L6.6 14L0 4L8.8 4"),
        '5' => (8.8, "M8 14L1.4 14L0.7 7.6Q2 9 4.4 9Q8.8 9 8.8 4.5Q8.8 0 4.3 0Q1 0 0 2.6"),
        '6' => (8.8, "M7.8 12.4Q6.8 14 4.8 14Q0 14 0 6Q0 0 4.5 0Q8.8 0 8.8 4.5Q8.8 8.8 4.6 8.8Q0.6 8.8 0 5"),
        '7' => (8.8, "M0 14L8.8 14L3 0"),
        '8' => (
            8.8,
            "M4.4 7.6Q0.7 7.6 0.7 10.8Q0.7 14 4.4 14Q8.1 14 8.1 10.8Q8.1 7.6 4.4 7.6Q0 7.6 0 3.8Q0 0 4.4 0Q8.8 0 8.8 3.8Q8.8 7.6 4.4 7.6",
        ),
        '9' => (8.8, "M1 1.6Q2 0 4 0Q8.8 0 8.8 8Q8.8 14 4.3 14Q0 14 0 9.5Q0 5.2 4.2 5.2Q8.2 5.2 8.8 9"),
        '.' => (0.6, "M0.3 0.2L0.3 0.4"),
        ',' => (1.0, "M0.9 0.6L0.1 -2.4"),
        ':' => (0.6, "M0.3 0.6L0.3 0.8M0.3 8.6L0.3 8.8"),
        ';' => (1.0, "M0.9 0.6L0.1 -2.4M0.9 8.6L0.9 8.8"),
        '!' => (0.6, "M0.3 14L0.3 4.4M0.3 0.2L0.3 0.4"),
        '?' => (7.4, "M0 11Q0.8 14 3.8 14Q7.4 14 7.4 10.8Q7.4 8.6 5.2 7.4Q3.6 6.4 3.6 4.2M3.6 0.2L3.6 0.4"),
        '-' => (4.6, "M0 5.4L4.6 5.4"),
        '−' => (8.8, "M0.4 6L8.4 6"),
        '–' => (7.0, "M0 5.4L7 5.4"),
        '—' => (12.0, "M0 5.4L12 5.4"),
        '+' => (8.8, "M0.4 6L8.4 6M4.4 10L4.4 2"),
        '±' => (8.8, "M0.4 7.4L8.4 7.4M4.4 11.4L4.4 3.4M0.4 0.4L8.4 0.4"),
        '=' => (8.8, "M0.4 8L8.4 8M0.4 4L8.4 4"),
        '≈' => (8.8, "M0.4 7.6Q2.4 10 4.4 8.4Q6.4 6.8 8.4 9.2M0.4 3.2Q2.4 5.6 4.4 4Q6.4 2.4 8.4 4.8"),
        '~' => (8.8, "M0.4 5.4Q2.4 7.8 4.4 6.2Q6.4 4.6 8.4 7"),
        '<' => (8.0, "M8 10.4L0.4 6L8 1.6"),
        '>' => (8.0, "M0 10.4L7.6 6L0 1.6"),
        '≤' => (8.0, "M8 11.6L0.4 7.6L8 3.6M0.4 0.6L8 0.6"),
        '≥' => (8.0, "M0 11.6L7.6 7.6L0 3.6M0 0.6L7.6 0.6"),
        '×' => (7.0, "M0.2 9.3L6.8 2.7M6.8 9.3L0.2 2.7"),
        '/' => (6.0, "M0 -2L6 15"),
        '\\' => (6.0, "M6 -2L0 15"),
        '|' => (0.4, "M0.2 -3L0.2 15.5"),
        '(' => (3.4, "M3.4 15.5Q0 12 0 6.2Q0 0.4 3.4 -3"),
        ')' => (3.4, "M0 15.5Q3.4 12 3.4 6.2Q3.4 0.4 0 -3"),
        '[' => (3.2, "M3.2 15.4L0 15.4L0 -3L3.2 -3"),
        ']' => (3.2, "M0 15.4L3.2 15.4L3.2 -3L0 -3"),
        '{' => {
            (4.2, "M4.2 15.4Q1.8 15.4 1.8 12.6L1.8 9Q1.8 6.2 0 6.2Q1.8 6.2 1.8 3.4L1.8 -0.2Q1.8 -3 4.2 -3")
        }
        '}' => (4.2, "M0 15.4Q2.4 15.4 2.4 12.6L2.4 9Q2.4 6.2 4.2 6.2Q2.4 6.2 2.4 3.4L2.4 -0.2Q2.4 -3 0 -3"),
        '\'' => (0.6, "M0.3 14.4L0.3 10.6"),
        '’' => (1.0, "M0.9 14.4L0.2 11"),
        '"' => (3.4, "M0.3 14.4L0.3 10.6M3.1 14.4L3.1 10.6"),
        '`' => (2.0, "M0 14.4L2 11.6"),
        '^' => (6.4, "M0 9.6L3.2 14L6.4 9.6"),
        '_' => (8.8, "M0 -2.4L8.8 -2.4"),
        '*' => (6.6, "M3.3 14.4L3.3 7.6M0.3 12.7L6.3 9.3M6.3 12.7L0.3 9.3"),
        '#' => (10.0, "M3.4 14L1.6 0M8.4 14L6.6 0M0.6 9.6L10 9.6M0 4.4L9.4 4.4"),
        '&' => (
            10.4,
            "M10.2 0L2.6 9.2Q0.8 14 4.4 14Q8 14 7 10.6Q6.4 9 3.4 7.4Q0 5.6 0 3.4Q0 0 4 0Q8.4 0 9.6 6.4",
        ),
        '@' => (
            13.4,
            "M9.2 8.6Q8.4 9.8 6.8 9.8Q3.8 9.8 3.8 6Q3.8 2.4 6.4 2.4Q9.2 2.4 9.2 6.2M9.2 9.6L9.2 5Q9.2 2.4 11 2.4Q13.4 2.6 13.4 6.4Q13.4 13.6 6.8 13.6Q0 13.6 0 6Q0 -2 7 -2Q9.4 -2 11 -1.2",
        ),
        '$' => (
            9.2,
            "M8.6 11.3Q7.6 14 4.7 14Q0.5 14 0.5 10.6Q0.5 8 4.6 7.2Q9.2 6.3 9.2 3.6Q9.2 0 4.8 0Q1.2 0 0 3M4.7 16L4.7 -2",
        ),
        '%' => (
            13.0,
            "M2.8 14Q0 14 0 10.8Q0 7.6 2.8 7.6Q5.6 7.6 5.6 10.8Q5.6 14 2.8 14M10.4 14L2.6 0M10.2 6.4Q7.4 6.4 7.4 3.2Q7.4 0 10.2 0Q13 0 13 3.2Q13 6.4 10.2 6.4",
        ),
        '°' => (5.0, "M2.5 14.4Q0 14.4 0 11.9Q0 9.4 2.5 9.4Q5 9.4 5 11.9Q5 14.4 2.5 14.4"),
        '·' => (0.6, "M0.3 6L0.3 6.2"),
        '•' => (1.6, "M0.8 5.6L0.8 6.6M0.3 6.1L1.3 6.1"),
        '…' => (8.6, "M0.3 0.2L0.3 0.4M4.3 0.2L4.3 0.4M8.3 0.2L8.3 0.4"),
        '→' => (11.0, "M0 6L11 6M7 10L11 6L7 2"),
        '←' => (11.0, "M11 6L0 6M4 10L0 6L4 2"),
        '∞' => (
            13.0,
            "M6.5 6Q4.6 9.4 2.8 9.4Q0 9.4 0 6Q0 2.6 2.8 2.6Q4.6 2.6 6.5 6Q8.4 9.4 10.2 9.4Q13 9.4 13 6Q13 2.6 10.2 2.6Q8.4 2.6 6.5 6",
        ),
        'µ' | 'μ' => (8.0, "M0 10L0 -4M0 4Q0 0 3.7 0Q7.6 0 7.6 4.4M7.6 10L7.6 1.4Q7.6 0 9 0.2"),
        'α' => (8.8, "M8.6 10Q7.6 0 3.9 0Q0 0 0 5Q0 10 3.9 10Q7.2 10 8.8 0"),
        'ε' => (
            6.8,
            "M6.6 8.4Q5.6 10 3.6 10Q0.6 10 0.6 7.7Q0.6 5.4 4.2 5.4M3.6 5.4Q0 5.4 0 2.7Q0 0 3.6 0Q6 0 6.8 1.7",
        ),
        'θ' => (8.0, "M4 14Q0 14 0 7Q0 0 4 0Q8 0 8 7Q8 14 4 14M0 7L8 7"),
        'κ' => (7.4, "M0 10L0 0M7 10L0 3.8M2.7 6.2L7.4 0"),
        'λ' => (8.4, "M0 14.2Q2.4 14.8 3.4 11.6L7.2 1.2Q7.8 -0.2 8.8 0.2M4.4 8.2L0.4 0"),
        'ρ' => (8.4, "M0 -4L0 5Q0 10 4.2 10Q8.4 10 8.4 5Q8.4 0 4.2 0Q0 0 0 4.6"),
        'σ' => (9.0, "M9.2 9.8L4.2 9.8Q0 9.8 0 4.9Q0 0 4.2 0Q8.4 0 8.4 4.9Q8.4 8.4 6 9.8"),
        'τ' => (8.0, "M0 9.8L8 9.8M4 9.8L4 2.4Q4 0 6.4 0.2"),
        'Δ' => (11.4, "M0 0L5.7 14L11.4 0L0 0"),
        'Ω' => (11.4, "M0 0L3.8 0Q0.4 3 0.4 8Q0.4 14 5.7 14Q11 14 11 8Q11 3 7.6 0L11.4 0"),
        _ => (8.0, "M0 0L8 0L8 14L0 14L0 0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const SIGNS: &str = ".,:;!?-−–+±=<>≤≥×/|()[]{}'\"_*#&@%°·…→µ²³εσκΔ⁻⁶";

    #[test]
    fn every_glyph_parses_and_stays_in_its_cell() {
        for c in LETTERS.chars().chain(SIGNS.chars()) {
            assert_ne!(glyph(superscript(c).unwrap_or(c)).1, glyph('\u{1}').1, "{c} is missing");
            let lines = segments(c, Vec2::ZERO, 1.0);
            assert!(!lines.is_empty(), "{c}");
            for p in lines.iter().flat_map(|(a, b)| [*a, *b]) {
                assert!(p.x >= -1.0 && p.x <= advance(c) && p.y >= -16.0 && p.y <= 4.5, "{c} {p}");
            }
        }
    }

    #[test]
    fn glyphs_differ_from_each_other() {
        let mut paths: Vec<&str> = LETTERS.chars().map(|c| glyph(c).1).collect();
        paths.sort_unstable();
        let all = paths.len();
        paths.dedup();
        assert_eq!(paths.len(), all);
    }

    #[test]
    fn text_marks_pixels_and_knows_its_width() {
        let mut image = Image::new(200, 40, Colour::WHITE);
        let pen = Pen { size: 12.0, colour: Colour::hex(0), halo: None };
        draw(&mut image, "frame 48", Vec2::new(10.0, 25.0), &pen);
        let dark = |x: usize| (0..40).any(|y| image.pixels()[y * 200 + x][0] < 128);
        let last = (0..200).rev().find(|x| dark(*x)).expect("something was drawn");
        let end = 10.0 + width("frame 48", 12.0);
        assert!((last as f32 - end).abs() < 3.0, "{last} {end}");
        assert_eq!(width("", 12.0), 0.0);
    }
}
