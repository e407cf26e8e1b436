//! Every scene in which cloth meets something, from many starts: every frame is judged by the exact checker and the side
//! test, and whatever bodies were let through is counted.

use super::rest::COARSE;
use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::{Watched, surfaces};
use glam::DVec3;
use std::time::Instant;
use toile::Edit;
use toile::collide::certify::SideTest;
use toile::math::random;

/// A scene with the settings of a short run and its frames; whole, it has those of its file.
pub(super) struct Case {
    pub(super) scene: &'static str,
    pub(super) short: &'static [&'static str],
    pub(super) frames: usize,
    pub(super) whole: usize,
    /// Runs from starts that are a little different.
    pub(super) starts: u64,
}

const CASES: [Case; 10] = [
    Case { scene: "tablecloth", short: &[], frames: 120, whole: 300, starts: 1 },
    Case { scene: "sheets", short: &[], frames: 60, whole: 300, starts: 1 },
    Case { scene: "tape", short: &[], frames: 60, whole: 240, starts: 1 },
    Case { scene: "hang", short: &["cloth.sheet.shape.resolution=24"], frames: 60, whole: 100, starts: 1 },
    Case { scene: "ball", short: &[], frames: 12, whole: 61, starts: 1 },
    Case { scene: "drape", short: &[], frames: 40, whole: 300, starts: 1 },
    Case { scene: "stack4", short: &[], frames: 40, whole: 300, starts: 1 },
    Case { scene: "sphere", short: &["cloth.sheet.shape.resolution=24"], frames: 60, whole: 300, starts: 10 },
    Case { scene: "twist", short: &["cloth.sheet.shape.resolution=20"], frames: 120, whole: 241, starts: 10 },
    Case { scene: "stack", short: &COARSE, frames: 40, whole: 300, starts: 10 },
];

/// How far starts differ [m].
const JITTER: f64 = 2e-4;

/// What became of a run.
#[derive(Default)]
pub(super) struct Outcome {
    frames: usize,
    bad_frames: u64,
    passages: usize,
    released: usize,
    not_finite: usize,
    /// Milliseconds of each frame, and of a step in it on average.
    times: Vec<f64>,
    steps: Vec<f64>,
    kept: f64,
}

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let mut points = Vec::new();
    for case in &CASES {
        let slowest = certify(session, case, &mut rows, &mut |_, _, _| {})?;
        points.push((points.len() as f64 + 1.0, slowest));
    }
    session.csv("certified", COLUMNS, &rows)?;
    session.plot(
        "certified",
        Chart {
            title: "Slowest frame over the median, scene by scene".into(),
            x: "scene".into(),
            y: "x".into(),
            log: (false, false),
            curves: vec![Curve { name: "slowest".into(), points }],
        },
    )
}

/// What an experiment looks at itself: the start, the frame and the world after it.
pub(super) type Look<'a> = dyn FnMut(u64, usize, &Watched) + 'a;

/// Columns of the rows that [`certify`] adds.
pub(super) const COLUMNS: &str = "scene,start,frames,frames that intersect,points that changed sides,let through,not finite,kept motion,slowest frame over the median";

/// Runs a case from all its starts and records what must hold; the slowest frame over the median.
pub(super) fn certify(
    session: &mut Session,
    case: &Case,
    rows: &mut Vec<String>,
    look: &mut Look<'_>,
) -> Result<f64, LabError> {
    let (mut slowest, mut slowest_step) = (0.0f64, 0.0f64);
    let mut sum = Outcome::default();
    for start in 0..case.starts {
        let found = watch(case, start, session.full, &mut |frame, watched| look(start, frame, watched))?;
        let ratio = over_median(&found.times);
        slowest = slowest.max(ratio);
        slowest_step = slowest_step.max(over_median(&found.steps));
        rows.push(format!(
            "{},{start},{},{},{},{},{},{},{ratio}",
            case.scene,
            found.frames,
            found.bad_frames,
            found.passages,
            found.released,
            found.not_finite,
            found.kept
        ));
        sum.frames += found.frames;
        sum.bad_frames += found.bad_frames;
        sum.passages += found.passages;
        sum.released += found.released;
        sum.not_finite += found.not_finite;
    }
    let name = case.scene;
    session.info(format!("{name}: starts"), case.starts as f64, "");
    session.info(format!("{name}: frames"), sum.frames as f64, "");
    session.equal(format!("{name}: frames that intersect"), sum.bad_frames as f64, "", 0.0);
    session.equal(format!("{name}: points that changed sides"), sum.passages as f64, "", 0.0);
    session.equal(format!("{name}: vertices that bodies were let through"), sum.released as f64, "", 0.0);
    session.equal(format!("{name}: places that are no numbers"), sum.not_finite as f64, "", 0.0);
    session.info(format!("{name}: slowest step over the median, at most 20"), slowest_step, "x");
    session.info(format!("{name}: slowest frame over the median"), slowest, "x");
    Ok(slowest)
}

fn watch(
    case: &Case,
    start: u64,
    full: bool,
    look: &mut dyn FnMut(usize, &Watched),
) -> Result<Outcome, LabError> {
    let (set, frames) = if full { (&[][..], case.whole) } else { (case.short, case.frames) };
    let mut watched = Watched::scene(case.scene, set)?;
    jitter(&mut watched, start)?;
    let mut sides = SideTest::new(&surfaces(&watched.world));
    let mut outcome = Outcome { frames, ..Outcome::default() };
    for frame in 1..=frames {
        let before = Instant::now();
        let counted = watched.step()?;
        let time = 1e3 * before.elapsed().as_secs_f64();
        outcome.times.push(time);
        // Steps that are redone in halves count as those that were taken.
        outcome.steps.push(time / counted.substeps.max(1) as f64);
        let places = watched.places();
        let places: Vec<&[DVec3]> = places.iter().map(Vec::as_slice).collect();
        outcome.not_finite += places.iter().flat_map(|p| p.iter()).filter(|p| !p.is_finite()).count();
        outcome.passages += sides.step(&places).passages.len();
        look(frame, &watched);
        outcome.released += watched.world.take_releases().iter().filter(|release| release.through).count();
    }
    outcome.bad_frames = watched.bad_frames;
    outcome.kept = watched.counters.kept / watched.counters.wished;
    Ok(outcome)
}

/// The largest over the median.
fn over_median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() - 1] / sorted[sorted.len() / 2]
}

/// Moves every vertex inside the cloths by a little, the same for the same `start`; 0 leaves the scene as it is.
fn jitter(watched: &mut Watched, start: u64) -> Result<(), LabError> {
    if start == 0 {
        return Ok(());
    }
    for cloth in 0..watched.world.cloths().len() {
        let mesh = &watched.world.cloths()[cloth].mesh;
        let mut border = vec![false; mesh.vertices()];
        for edge in mesh.edges().iter().filter(|edge| edge.is_border()) {
            edge.ends.iter().for_each(|v| border[*v as usize] = true);
        }
        let places = watched.world.positions(cloth);
        for (vertex, place) in places.into_iter().enumerate().filter(|(v, _)| !border[*v]) {
            let die = |axis: u64| random::signed(100 * start + cloth as u64, 3 * vertex as u64 + axis);
            let position = place + JITTER * DVec3::new(die(0), die(1), die(2));
            watched.world.edit(&Edit::Place { cloth, vertex: vertex as u32, position })?;
        }
    }
    Ok(())
}
