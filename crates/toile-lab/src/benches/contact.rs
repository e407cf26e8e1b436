//! Cloth that meets cloth and bodies: milliseconds per frame and where they go, every frame judged by the exact checker,
//! beside what Blender 5.0.1 took on scenes of the same definition.

use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::Watched;
use std::time::Instant;
use toile::probe::{Counters, Probe, Stage};

/// A scene and what Blender did with it.
struct Case {
    name: &'static str,
    scene: &'static str,
    set: &'static [&'static str],
    /// Wall time [s] after which it is left with the frames it has.
    budget: f64,
    /// Blender's milliseconds per frame of 31.6 ms, and its intersecting pairs in the worst frame.
    blender: (f64, f64),
}

const CASES: [Case; 7] = [
    Case { name: "sphere 50", scene: "sphere", set: &[], budget: 45.0, blender: (354.0, 4.0) },
    Case {
        name: "sphere 100",
        scene: "sphere",
        set: &["cloth.sheet.shape.resolution=100"],
        budget: 50.0,
        blender: (1569.0, 268.0),
    },
    Case {
        name: "sphere 158",
        scene: "sphere",
        set: &["cloth.sheet.shape.resolution=158"],
        budget: 70.0,
        blender: (2884.0, 249.0),
    },
    Case { name: "stack 4", scene: "stack4", set: &[], budget: 30.0, blender: (217.0, f64::NAN) },
    Case { name: "stack 16", scene: "stack", set: &[], budget: 60.0, blender: (811.0, 6910.0) },
    Case { name: "tape", scene: "tape", set: &[], budget: 25.0, blender: (143.0, 442.0) },
    Case { name: "tablecloth", scene: "tablecloth", set: &[], budget: 5.0, blender: (3.2, 0.0) },
];

/// Most frames of a case: two seconds.
const FRAMES: usize = 120;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for case in &CASES {
        let found = measure(case)?;
        let name = case.name;
        let median = report(session, name, &found);
        // Frames here are 16.7 ms long and Blender's 31.6 ms: compared by simulated time.
        let per_second = median / (1e3 * found.dt);
        let blender = case.blender.0 / 31.6;
        session.info(format!("{name}: ours, wall time over simulated time"), per_second, "x");
        session.info(format!("{name}: Blender 5.0.1, wall time over simulated time"), blender, "x");
        session.info(format!("{name}: Blender 5.0.1, frame of 31.6 ms"), case.blender.0, "ms");
        if case.blender.1.is_finite() {
            session.info(
                format!("{name}: Blender 5.0.1, intersecting pairs in its worst frame"),
                case.blender.1,
                "",
            );
        }
        rows.push(row(case, &found, median));
        ours.push((found.triangles as f64, per_second));
        theirs.push((found.triangles as f64, blender));
    }
    session.note(
        "Blender's figures are those of BENCH.md (5.0.1, default settings, two cores, November 2026), not of this run",
    );
    let stages: Vec<&str> = Stage::ALL.iter().map(|s| s.name()).collect();
    let header = format!(
        "scene,triangles,frames,ms per frame,ms least,ms most,intersecting frames,kept motion,Blender ms per 31.6 ms,{}",
        stages.join(",")
    );
    session.csv("contact", &header, &rows)?;
    for curve in [&mut ours, &mut theirs] {
        curve.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    session.plot(
        "contact",
        Chart {
            title: "Contact: wall time over simulated time".into(),
            x: "triangles".into(),
            y: "x".into(),
            log: (true, true),
            curves: vec![
                Curve { name: "toile".into(), points: ours },
                Curve { name: "Blender 5.0.1".into(), points: theirs },
            ],
        },
    )
}

struct Found {
    triangles: usize,
    dt: f64,
    /// Milliseconds of each frame.
    frames: Vec<f64>,
    counters: Counters,
    bad_frames: u64,
}

fn measure(case: &Case) -> Result<Found, LabError> {
    let mut watched = Watched::scene(case.scene, case.set)?;
    let triangles = watched.world.cloths().iter().map(|c| c.mesh.faces().len()).sum();
    let origin = Instant::now();
    let clock = || origin.elapsed().as_secs_f64();
    let mut probe = Probe::with_clock(&clock);
    let mut frames = Vec::new();
    while frames.len() < FRAMES && clock() < case.budget {
        let start = clock();
        watched.world.step(watched.dt, &mut probe)?;
        frames.push(1e3 * (clock() - start));
        // The judge's time is not counted.
        watched.bad_frames += u64::from(watched.intersections() > 0);
    }
    let counters = probe.counters;
    Ok(Found { triangles, dt: watched.dt, frames, counters, bad_frames: watched.bad_frames })
}

fn report(session: &mut Session, name: &str, found: &Found) -> f64 {
    session.time(format!("{name}: frame of 1/60 s"), "ms", &found.frames);
    session.info(format!("{name}: frames run"), found.frames.len() as f64, "");
    session.equal(format!("{name}: frames that intersect"), found.bad_frames as f64, "", 0.0);
    let counters = &found.counters;
    session.info(format!("{name}: kept motion"), counters.kept / counters.wished, "");
    session.info(format!("{name}: most contacts in a step"), counters.contacts as f64, "");
    session.info(format!("{name}: substeps halved"), counters.halved as f64, "");
    let mut sorted = found.frames.clone();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    session.info(format!("{name}: slowest frame over the median"), sorted[sorted.len() - 1] / median, "x");
    let total = counters.seconds.iter().fold(0.0, |sum, s| sum + s).max(f64::MIN_POSITIVE);
    for (stage, seconds) in Stage::ALL.iter().zip(counters.seconds) {
        session.info(format!("{name}: share of {}", stage.name()), seconds / total, "");
    }
    median
}

fn row(case: &Case, found: &Found, median: f64) -> String {
    let counters = &found.counters;
    let total = counters.seconds.iter().fold(0.0, |sum, s| sum + s).max(f64::MIN_POSITIVE);
    let shares: Vec<String> = counters.seconds.iter().map(|s| format!("{:.4}", s / total)).collect();
    let least = found.frames.iter().copied().fold(f64::INFINITY, f64::min);
    let most = found.frames.iter().copied().fold(0.0, f64::max);
    format!(
        "{},{},{},{median},{least},{most},{},{:.4},{},{}",
        case.name,
        found.triangles,
        found.frames.len(),
        found.bad_frames,
        counters.kept / counters.wished,
        case.blender.0,
        shares.join(",")
    )
}
