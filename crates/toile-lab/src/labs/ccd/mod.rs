//! Continuous detection against exact arithmetic.
//!
//! Ten million queries are decided by interval arithmetic; what it leaves open, and 100,000 others, by integers. No
//! pair that touches may be called clear, and no reported time may be later than the first touch. The same with a
//! separation, where a missed pair is convicted by an exact distance at one time. The shared query sets, whose answers
//! were computed by others, judge the exact arithmetic as well as the engine.

mod cases;
mod distance;
mod exact;
mod interval;
mod polynomial;

use crate::session::{Chart, Curve, LabError, Session};
use cases::{FAMILIES, Query, family, query};
use exact::Kind;
use glam::DVec3;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rayon::prelude::*;
use std::path::Path;
use std::time::Instant;
use toile::collide::ccd::{Effort, Passage, edge_edge, vertex_face};
use toile::math::random;

const SEED: u64 = 20;
const QUERIES: u64 = 10_000_000;
const SEPARATED: u64 = 1_000_000;
/// Of so many queries one goes to exact arithmetic whatever the filter says.
const SPOT: u64 = 100;
/// Stretches of time that the interval filter looks at before it leaves a query open.
const STRETCHES: u32 = 40;
const CHUNK: u64 = 4096;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    shared_sets(session)?;
    touching(session)?;
    separated(session)?;
    timing(session);
    Ok(())
}

fn passage(q: &Query, separation: f64) -> Passage {
    match q.kind {
        Kind::VertexFace => vertex_face(&q.start, &q.end, separation, Effort::default()),
        Kind::EdgeEdge => edge_edge(&q.start, &q.end, separation, Effort::default()),
    }
}

fn first_touch(q: &Query) -> Option<polynomial::Root> {
    let values: [f64; 24] = std::array::from_fn(|n| {
        let (i, k) = (n / 3, n % 3);
        if i < 4 { q.start[i][k] } else { q.end[i - 4][k] }
    });
    let all = exact::integers(&values);
    let points =
        |from: usize| std::array::from_fn(|i| std::array::from_fn(|k| all[from + 3 * i + k].clone()));
    exact::first_touch(q.kind, &points(0), &points(12))
}

/// What became of some queries, by family.
#[derive(Clone, Copy, Default)]
struct Tally {
    queries: u64,
    touching: u64,
    cleared: u64,
    /// Decided by integers.
    exact: u64,
    /// Of these, left open by intervals.
    open: u64,
    /// Intervals and integers disagree.
    disagree: u64,
    missed: u64,
    false_alarms: u64,
    late: u64,
    /// Largest time by which a report is early.
    early: f64,
}

impl Tally {
    fn add(&mut self, o: &Tally) {
        self.queries += o.queries;
        self.touching += o.touching;
        self.cleared += o.cleared;
        self.exact += o.exact;
        self.open += o.open;
        self.disagree += o.disagree;
        self.missed += o.missed;
        self.false_alarms += o.false_alarms;
        self.late += o.late;
        self.early = self.early.max(o.early);
    }

    fn judge(&mut self, q: &Query, spot: bool) {
        let found = passage(q, 0.0);
        let filtered = interval::touches(
            q.kind,
            &q.start.map(|p| p.to_array()),
            &q.end.map(|p| p.to_array()),
            STRETCHES,
        );
        self.queries += 1;
        self.cleared += u64::from(found.is_clear());
        let mut touches = filtered.unwrap_or(false);
        if filtered.is_none() || spot {
            let first = first_touch(q);
            touches = first.is_some();
            self.exact += 1;
            self.open += u64::from(filtered.is_none());
            self.disagree += u64::from(filtered.is_some_and(|f| f != touches));
            if let (Some(first), Passage::Meets { time }) = (first, found) {
                // `high` is at most 2^-60 above the true time, and rounds by as little.
                self.late += u64::from(time > first.high.to_f64().next_up());
                self.early = self.early.max(first.low.to_f64() - time);
            }
        }
        self.touching += u64::from(touches);
        self.missed += u64::from(touches && found.is_clear());
        self.false_alarms += u64::from(!touches && !found.is_clear());
    }
}

/// Touching without a separation.
fn touching(session: &mut Session) -> Result<(), LabError> {
    let chunks: Vec<[Tally; 8]> = (0..QUERIES.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let mut tallies = [Tally::default(); 8];
            for n in chunk * CHUNK..((chunk + 1) * CHUNK).min(QUERIES) {
                let spot = random::bits(SEED + 1, n).is_multiple_of(SPOT);
                tallies[family(n)].judge(&query(SEED, n), spot);
            }
            tallies
        })
        .collect();
    let mut families = [Tally::default(); 8];
    for chunk in &chunks {
        families.iter_mut().zip(chunk).for_each(|(sum, part)| sum.add(part));
    }
    let mut total = Tally::default();
    families.iter().for_each(|part| total.add(part));
    session.at_least("queries", total.queries as f64, "", QUERIES as f64);
    session.info("queries that touch", total.touching as f64, "");
    session.info("left open by intervals", total.open as f64, "");
    session.at_least("decided in integers", total.exact as f64, "", 100_000.0);
    session.equal("intervals against integers: disagreements", total.disagree as f64, "", 0.0);
    session.equal("missed", total.missed as f64, "", 0.0);
    session.equal("reported later than the first touch", total.late as f64, "", 0.0);
    session.info("largest advance of a report before the touch", total.early, "of the motion");
    let generic = families[0].false_alarms as f64 / (families[0].queries - families[0].touching) as f64;
    session.at_most("false alarms, uniform queries", generic, "of those apart", 1e-6);
    session.info("false alarms, all queries", total.false_alarms as f64, "");
    let rows: Vec<String> = FAMILIES.iter().zip(&families).map(|(name, t)| row(name, t)).collect();
    session.csv("families", "family,queries,touching,open,integers,missed,false alarms,late", &rows)?;
    let bar = |value: fn(&Tally) -> u64| {
        families.iter().enumerate().map(|(n, t)| (n as f64, value(t).max(1) as f64)).collect()
    };
    session.plot(
        "families",
        Chart {
            title: "Queries, those that touch and false alarms by family (rows of families.csv)".into(),
            x: "family".into(),
            y: "queries".into(),
            log: (false, true),
            curves: vec![
                Curve { name: "all".into(), points: bar(|t| t.queries) },
                Curve { name: "touching".into(), points: bar(|t| t.touching) },
                Curve { name: "false alarms".into(), points: bar(|t| t.false_alarms) },
            ],
        },
    )
}

fn row(name: &str, t: &Tally) -> String {
    format!(
        "{name},{},{},{},{},{},{},{}",
        t.queries, t.touching, t.open, t.exact, t.missed, t.false_alarms, t.late
    )
}

/// With a separation: what is called clear must not come within it at any sampled time, nor what is reported before
/// its time.
fn separated(session: &mut Session) -> Result<(), LabError> {
    let judge = |n: u64| -> [u64; 5] {
        let q = query(SEED + 2, n);
        let size = q
            .start
            .iter()
            .zip(&q.end)
            .map(|(a, b)| (*a - q.start[0]).length().max((*b - q.start[0]).length()));
        let size = size.fold(0.0, f64::max);
        let separation = size * libm::exp10(-6.0 * random::unit(SEED + 3, n));
        let found = passage(&q, separation);
        let until = match found {
            Passage::Clear => 1.0,
            Passage::Meets { time } => time,
        };
        // The way up to the reported time, ends rounded: a time within it is judged on the way itself.
        let cut = Query { end: std::array::from_fn(|i| q.start[i] + (q.end[i] - q.start[i]) * until), ..q };
        let (least, part) = distance::closest(&cut);
        let time = part * until;
        let doubtful = least < separation * (1.0 + 1e-9) && until > 0.0 && time < until;
        let within = (doubtful || (found.is_clear() && least < separation * (1.0 + 1e-9)))
            && distance::within(&q, time, separation);
        let clear = found.is_clear();
        let apart = !clear && distance::closest(&q).0 > separation * (1.0 + 1e-6);
        [1, u64::from(clear), u64::from(within && clear), u64::from(within && !clear), u64::from(apart)]
    };
    let chunks: Vec<[u64; 5]> = (0..SEPARATED.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(SEPARATED);
            range.map(judge).fold([0; 5], |sum, part| std::array::from_fn(|k| sum[k] + part[k]))
        })
        .collect();
    let [queries, clear, missed, late, apart] =
        chunks.iter().fold([0; 5], |sum, part| std::array::from_fn(|k| sum[k] + part[k]));
    session.info("queries with a separation", queries as f64, "");
    session.info("cleared with a separation", clear as f64, "");
    session.equal("missed with a separation", missed as f64, "", 0.0);
    session.equal("within the separation before the reported time", late as f64, "", 0.0);
    session.info("false alarms with a separation, by more than 1e-6 of it", apart as f64, "");
    Ok(())
}

/// The query sets of others, with their answers.
fn shared_sets(session: &mut Session) -> Result<(), LabError> {
    let Some(folder) = session.data.as_ref().map(|data| data.join("ccd")).filter(|folder| folder.is_dir())
    else {
        session.note("cross-check with ccd skipped: not under $TOILE_DATA");
        return Ok(());
    };
    let mut rows = Vec::new();
    let mut total = [0_u64; 6];
    for set in sorted(&folder)?.into_iter().filter(|path| path.is_dir()) {
        for (name, kind) in [("vertex-face", Kind::VertexFace), ("edge-edge", Kind::EdgeEdge)] {
            let files = sorted(&set.join(name)).unwrap_or_default();
            let mut sum = [0_u64; 6];
            for file in files.iter().filter(|path| path.extension().is_some_and(|e| e == "csv")) {
                judge_file(&std::fs::read_to_string(file)?, kind, &mut sum)?;
            }
            let label = format!("{}/{name}", set.file_name().unwrap_or_default().to_string_lossy());
            rows.push(format!("{label},{},{},{},{}", sum[0], sum[1], sum[2], sum[3]));
            (0..6).for_each(|k| total[k] += sum[k]);
        }
    }
    session.info("shared queries", total[0] as f64, "");
    session.info("shared queries that touch", total[1] as f64, "");
    session.equal("shared queries missed", total[2] as f64, "", 0.0);
    session.info("shared queries, false alarms", total[3] as f64, "");
    session.equal("shared queries on which our integers differ", total[4] as f64, "", 0.0);
    session.equal("shared coordinates that are no f64", total[5] as f64, "", 0.0);
    session.csv("shared", "set,queries,touching,missed,false alarms", &rows)
}

fn sorted(folder: &Path) -> Result<Vec<std::path::PathBuf>, LabError> {
    let mut paths = std::fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

/// Adds queries, touching, missed, false alarms, differing and inexact.
fn judge_file(text: &str, kind: Kind, sum: &mut [u64; 6]) -> Result<(), LabError> {
    let bad = |line: &str| LabError(format!("not a row of a query: {line}"));
    let mut points = Vec::new();
    for line in text.lines() {
        let cells: Vec<BigInt> =
            line.split(',').map(|c| c.trim().parse()).collect::<Result<_, _>>().map_err(|_| bad(line))?;
        let [xn, xd, yn, yd, zn, zd, answer] = &cells[..] else { return Err(bad(line)) };
        let truth = *answer == BigInt::from(1);
        let coordinates = [(xn, xd), (yn, yd), (zn, zd)].map(|(numerator, denominator)| {
            let value = numerator.to_f64().unwrap_or(f64::NAN) / denominator.to_f64().unwrap_or(f64::NAN);
            // value = m·2^e exactly when m·denominator = numerator·2^-e.
            let [one, v] = exact::integers(&[1.0, value]);
            sum[5] += u64::from(v * denominator != numerator * one);
            value
        });
        points.push(DVec3::from_array(coordinates));
        if points.len() == 8 {
            let q = Query {
                kind,
                start: std::array::from_fn(|i| points[i]),
                end: std::array::from_fn(|i| points[i + 4]),
            };
            let clear = passage(&q, 0.0).is_clear();
            sum[0] += 1;
            sum[1] += u64::from(truth);
            sum[2] += u64::from(truth && clear);
            sum[3] += u64::from(!truth && !clear);
            sum[4] += u64::from(first_touch(&q).is_some() != truth);
            points.clear();
        }
    }
    Ok(())
}

/// Nanoseconds per query on one thread, by family.
fn timing(session: &mut Session) {
    for (name, wanted) in FAMILIES.iter().zip(0..) {
        let queries: Vec<Query> =
            (0..).filter(|&n| family(n) == wanted).take(4000).map(|n| query(SEED + 4, n)).collect();
        let samples: Vec<f64> = (0..5)
            .map(|_| {
                let start = Instant::now();
                let clear = queries.iter().filter(|q| passage(q, 0.0).is_clear()).count();
                std::hint::black_box(clear);
                start.elapsed().as_secs_f64() * 1e9 / queries.len() as f64
            })
            .collect();
        session.time(format!("a query, {name}"), "ns", &samples);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_experiment_holds() {
        let mut families = [Tally::default(); 8];
        for n in 0..40_000 {
            families[family(n)].judge(&query(SEED + 5, n), n % 10 == 0);
        }
        for (name, t) in FAMILIES.iter().zip(&families) {
            println!("{}, early {:e}", row(name, t), t.early);
            assert_eq!((t.missed, t.late, t.disagree), (0, 0, 0), "{name}");
            assert!(t.queries > 0 && t.cleared > 0 && t.touching > 0, "{name} is one-sided");
        }
    }
}
