//! What an experiment found.

use serde::Serialize;
use std::fmt;

/// How a value is compared with its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Op {
    /// At most.
    #[serde(rename = "<=")]
    AtMost,
    /// At least.
    #[serde(rename = ">=")]
    AtLeast,
    /// Equal.
    #[serde(rename = "==")]
    Equal,
    /// Reported, not judged.
    #[serde(rename = "info")]
    Info,
}

/// A number, and what it must be.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// What.
    pub name: String,
    /// How much.
    pub value: f64,
    /// Of what.
    pub unit: &'static str,
    /// Bound; absent for figures that are only reported.
    pub limit: Option<f64>,
    /// Comparison.
    pub op: Op,
    /// Whether it holds.
    pub pass: bool,
}

impl Figure {
    /// Judges `value`. A value that is not a number never passes.
    pub fn new(name: impl Into<String>, value: f64, unit: &'static str, op: Op, limit: f64) -> Figure {
        let pass = match op {
            Op::AtMost => value <= limit,
            Op::AtLeast => value >= limit,
            Op::Equal => value == limit,
            Op::Info => true,
        };
        Figure { name: name.into(), value, unit, limit: (op != Op::Info).then_some(limit), op, pass }
    }
}

/// A time, with its spread over repetitions. Times never decide.
#[derive(Clone, Debug, Serialize)]
pub struct Timing {
    /// What.
    pub name: String,
    /// Median [ms] (or the unit given).
    pub median: f64,
    /// Smallest.
    pub least: f64,
    /// Largest.
    pub most: f64,
    /// Unit.
    pub unit: &'static str,
    /// Repetitions.
    pub samples: usize,
}

impl Timing {
    /// Summary of `samples`.
    pub fn of(name: impl Into<String>, unit: &'static str, samples: &[f64]) -> Timing {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |k: usize| sorted.get(k).copied().unwrap_or(f64::NAN);
        Timing {
            name: name.into(),
            median: at(sorted.len() / 2),
            least: at(0),
            most: at(sorted.len().saturating_sub(1)),
            unit,
            samples: sorted.len(),
        }
    }
}

/// The end of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Which one.
    pub id: String,
    /// Whether every figure holds.
    pub pass: bool,
    /// What was found.
    pub figures: Vec<Figure>,
    /// How long things took.
    pub timing: Vec<Timing>,
    /// Files written.
    pub files: Vec<String>,
    /// Things a reader should know, such as a comparison that was left out and why.
    pub notes: Vec<String>,
    /// Wall time of the whole [s].
    pub seconds: f64,
}

impl Report {
    /// The line for machines.
    pub fn json(&self) -> String {
        // Non-finite numbers become null: JSON has no word for them, and `pass` is false for those already.
        serde_json::to_string(self).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.figures.iter().map(|x| x.name.chars().count()).max().unwrap_or(0);
        for x in &self.figures {
            let op = match x.op {
                Op::AtMost => "≤",
                Op::AtLeast => "≥",
                Op::Equal => "=",
                Op::Info => "",
            };
            let limit = x.limit.map_or(String::new(), |limit| format!("  {op} {}", number(limit)));
            let mark = if x.op == Op::Info {
                " "
            } else if x.pass {
                "✓"
            } else {
                "✗"
            };
            let pad = width - x.name.chars().count();
            writeln!(f, "{mark} {}{}  {} {}{limit}", x.name, " ".repeat(pad), number(x.value), x.unit)?;
        }
        for t in &self.timing {
            let span = format!("{}–{}", number(t.least), number(t.most));
            writeln!(f, "  {}: {} {} ({span}, {} samples)", t.name, number(t.median), t.unit, t.samples)?;
        }
        for note in &self.notes {
            writeln!(f, "  note: {note}")?;
        }
        for file in &self.files {
            writeln!(f, "  wrote {file}")?;
        }
        write!(f, "{} {} in {:.1} s", self.id, if self.pass { "passes" } else { "FAILS" }, self.seconds)
    }
}

fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e6).contains(&size) {
        let text = format!("{value:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        format!("{value:.3e}")
    }
}
