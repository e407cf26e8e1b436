//! Round numbers along a legend, or names.

use crate::colour::Kind;

/// A labelled place on a legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    /// 0 at the low end, 1 at the high end.
    pub(crate) position: f32,
    pub(crate) text: String,
}

/// The numbers shown along a range, and the power of ten taken out of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticks {
    pub(crate) marks: Vec<Mark>,
    pub(crate) exponent: i32,
}

impl Ticks {
    /// A name in the middle of the band that each kind has on the bar; the first and the last have half a band.
    pub(crate) fn named(kinds: &[Kind]) -> Ticks {
        let last = kinds.len().saturating_sub(1).max(1) as f32;
        let edge = |at: f32| (at / last).clamp(0.0, 1.0);
        let middle = |k: f32| 0.5 * (edge(k - 0.5) + edge(k + 0.5));
        let mark = |(k, kind): (usize, &Kind)| Mark { position: middle(k as f32), text: kind.name.into() };
        Ticks { marks: kinds.iter().enumerate().map(mark).collect(), exponent: 0 }
    }

    /// Four to nine multiples of 1, 2 or 5 that lie inside the range. A range without length shows its one
    /// value.
    pub(crate) fn new([low, high]: [f32; 2]) -> Ticks {
        let (a, b) = (f64::from(low.min(high)), f64::from(low.max(high)));
        if !(low.is_finite() && high.is_finite()) {
            return Ticks { marks: Vec::new(), exponent: 0 };
        }
        let largest = a.abs().max(b.abs());
        let exponent = shared_exponent(largest);
        let scale = power10(-exponent);
        if b - a <= largest * 1e-6 {
            let text = signed(format!("{:.3}", a * scale));
            return Ticks { marks: vec![Mark { position: 0.5, text }], exponent };
        }
        let step = nice_step((b - a) / 5.0);
        let decimals = (-libm::log10(step * scale * (1.0 + 1e-9)).floor()).max(0.0) as usize;
        let slack = 1e-6 * (b - a);
        let first = ((a - slack) / step).ceil() as i64;
        let last = ((b + slack) / step).floor() as i64;
        let position = |value: f64| {
            let up = ((value - a) / (b - a)).clamp(0.0, 1.0) as f32;
            if low <= high { up } else { 1.0 - up }
        };
        let mark = |i: i64| {
            let value = i as f64 * step;
            Mark { position: position(value), text: signed(format!("{:.*}", decimals, value * scale)) }
        };
        Ticks { marks: (first..=last).map(mark).collect(), exponent }
    }

    /// The unit, with the power of ten taken out of the numbers.
    pub(crate) fn unit_text(&self, unit: &str) -> String {
        let power = match self.exponent {
            0 => String::new(),
            n => format!("×10{}", superscript(n)),
        };
        match (power.is_empty(), unit.is_empty()) {
            (true, true) => String::new(),
            (true, false) => format!("[{unit}]"),
            (false, true) => power,
            (false, false) => format!("[{power} {unit}]"),
        }
    }
}

/// A multiple of three that brings numbers from 0.01 up to 10 000 range unless they are there already.
fn shared_exponent(largest: f64) -> i32 {
    if largest == 0.0 || (1e-2..1e5).contains(&largest) {
        return 0;
    }
    3 * (libm::log10(largest) / 3.0).floor() as i32
}

/// The multiple of 1, 2 or 5 times a power of ten next to `rough`.
pub(crate) fn nice_step(rough: f64) -> f64 {
    let power = power10(libm::log10(rough).floor() as i32);
    let factor = match rough / power {
        f if f < 1.5 => 1.0,
        f if f < 3.5 => 2.0,
        f if f < 7.5 => 5.0,
        _ => 10.0,
    };
    factor * power
}

fn power10(n: i32) -> f64 {
    libm::pow(10.0, f64::from(n))
}

/// A typographic minus, and none on zero.
fn signed(number: String) -> String {
    let Some(digits) = number.strip_prefix('-') else { return number };
    let zero = digits.chars().all(|c| c == '0' || c == '.');
    if zero { digits.to_owned() } else { format!("−{digits}") }
}

fn superscript(n: i32) -> String {
    let raised = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = n.unsigned_abs().to_string();
    let minus = if n < 0 { "⁻" } else { "" };
    let raise = |c: char| raised[c.to_digit(10).unwrap_or(0) as usize];
    minus.to_owned() + &digits.chars().map(raise).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::{Colour, ColourMap, MapTable};

    fn texts(range: [f32; 2]) -> Vec<String> {
        Ticks::new(range).marks.into_iter().map(|m| m.text).collect()
    }

    #[test]
    fn ticks_are_round_numbers_with_equal_decimals() {
        assert_eq!(texts([0.0, 1.0]), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts([-0.1, 0.1]), ["−0.10", "−0.05", "0.00", "0.05", "0.10"]);
        assert_eq!(texts([0.0, 37.0]), ["0", "5", "10", "15", "20", "25", "30", "35"]);
        assert_eq!(texts([0.0, 2500.0]), ["0", "500", "1000", "1500", "2000", "2500"]);
    }

    #[test]
    fn kinds_stand_where_the_bar_has_their_colour() {
        let kinds =
            ["a", "b", "c", "d"].map(|name| Kind { name, colour: Colour::hex(name.as_bytes()[0].into()) });
        let kinds: &'static [Kind] = kinds.to_vec().leak();
        let table = MapTable::new(ColourMap::Kinds(kinds));
        for (mark, kind) in Ticks::named(kinds).marks.iter().zip(kinds) {
            assert_eq!(mark.text, kind.name);
            assert_eq!(table.at(mark.position), kind.colour.linear(), "{}", kind.name);
        }
        // Where values are drawn.
        for (k, kind) in kinds.iter().enumerate() {
            assert_eq!(table.at(k as f32 / 3.0), kind.colour.linear());
        }
    }

    #[test]
    fn very_large_and_small_numbers_share_a_power_of_ten() {
        let ticks = Ticks::new([0.0, 2.5e6]);
        assert_eq!(ticks.exponent, 6);
        assert_eq!(ticks.unit_text("Pa"), "[×10⁶ Pa]");
        assert_eq!(ticks.marks[1].text, "0.5");
        let ticks = Ticks::new([-2e-4, 2e-4]);
        assert_eq!((ticks.exponent, ticks.unit_text("").as_str()), (-6, "×10⁻⁶"));
        assert_eq!(ticks.marks[0].text, "−200");
    }

    #[test]
    fn marks_lie_on_the_bar_in_order() {
        for range in [[0.13, 0.97], [-3.0, 11.0], [1e-5, 9e-5], [5.0, -5.0], [1000.0, 1000.5]] {
            let marks = Ticks::new(range).marks;
            assert!((2..=8).contains(&marks.len()), "{range:?} {marks:?}");
            assert!(marks.iter().all(|m| (0.0..=1.0).contains(&m.position)));
        }
        let upside_down = Ticks::new([5.0, -5.0]).marks;
        assert_eq!((upside_down[0].text.as_str(), upside_down[0].position), ("−4", 0.9));
    }

    #[test]
    fn degenerate_ranges_show_one_value_or_nothing() {
        assert_eq!(texts([2.0, 2.0]), ["2.000"]);
        assert_eq!(texts([0.0, 0.0]), ["0.000"]);
        assert!(texts([f32::NAN, 1.0]).is_empty());
        assert!(texts([0.0, f32::INFINITY]).is_empty());
    }
}
