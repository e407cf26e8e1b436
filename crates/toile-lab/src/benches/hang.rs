//! `hang n`: 1 m × 1 m, n × n quads, held by one edge, released from horizontal; 0.2 kg/m², 1000 N/m.

use crate::material::{border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use std::time::Instant;
use toile::mesh::{Pattern, shapes};
use toile::probe::{Probe, Stage};
use toile::{Fabric, PinDown, Setup, World};

/// Length of a frame [s] and substeps in it.
const FRAME: f64 = 0.0316;
const SUBSTEPS: u32 = 2;

/// Where the centre is after ten frames, in the limit of fine meshes and short steps (`toile lab fall`) [m].
const RIGHT: f64 = -0.3474;

/// Wall time [s] after which a size is left with the frames it has.
const BUDGET: f64 = 20.0;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let mut curves: Vec<Curve> = Vec::new();
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let mut points = Vec::new();
        for n in [16, 50, 100, 158, 224] {
            let found = pool.install(|| measure(n, session.full))?;
            let label = format!("n = {n}, {threads} thread{}", if threads > 1 { "s" } else { "" });
            let median = report(session, &label, &found);
            points.push(((2 * n * n) as f64, median));
            rows.push(row(n, threads, median, &found));
        }
        curves.push(Curve { name: format!("{threads} threads"), points });
    }
    let stages: Vec<&str> = Stage::ALL.iter().map(|s| s.name()).collect();
    let header = format!(
        "n,triangles,threads,frames,ms per frame,solves per step,iterations per solve,substeps redone,{}",
        stages.join(",")
    );
    session.csv("hang", &header, &rows)?;
    session.plot(
        "hang",
        Chart {
            title: "hang: time per 31.6 ms frame".into(),
            x: "triangles".into(),
            y: "ms per frame".into(),
            log: (true, true),
            curves,
        },
    )
}

struct Found {
    /// Milliseconds of each frame.
    frames: Vec<f64>,
    probe_seconds: [f64; Stage::ALL.len()],
    solves: f64,
    iterations: f64,
    guarded: f64,
    /// Height of the centre after ten frames [m], if it got there.
    centre: Option<f64>,
}

fn measure(n: usize, full: bool) -> Result<Found, LabError> {
    let shape = shapes::sheet(1.0, 1.0, n, n, Pattern::Structured)?;
    let fabric = Fabric::isotropic(0.2, 1000.0, 0.3, 1e-5);
    let pins = vec![PinDown::fixed(0, border(&shape, "left")?)];
    let cloths = vec![cloth("sheet", &shape, fabric)?];
    let mut world = World::new(Setup { cloths, pins, substeps: SUBSTEPS, ..Setup::default() })?;
    let origin = Instant::now();
    let clock = || origin.elapsed().as_secs_f64();
    let mut probe = Probe::with_clock(&clock);
    let mut frames = Vec::new();
    let mut centre = None;
    let most = if full { 100 } else { 30 };
    while frames.len() < most && clock() < BUDGET {
        let start = clock();
        world.step(FRAME, &mut probe)?;
        frames.push(1e3 * (clock() - start));
        if frames.len() == 10 {
            centre = Some(world.momentum().1.y);
        }
    }
    let counters = probe.counters;
    Ok(Found {
        probe_seconds: counters.seconds,
        solves: counters.solves as f64 / counters.stages as f64,
        iterations: counters.iterations as f64 / counters.solves as f64,
        guarded: counters.guarded as f64,
        centre,
        frames,
    })
}

fn report(session: &mut Session, label: &str, found: &Found) -> f64 {
    session.time(format!("{label}: frame of 31.6 ms"), "ms", &found.frames);
    session.at_most(format!("{label}: solves per step"), found.solves, "", 5.0);
    session.info(format!("{label}: iterations per solve"), found.iterations, "");
    session.info(format!("{label}: substeps redone carefully"), found.guarded, "");
    if let Some(centre) = found.centre {
        let off = (centre / RIGHT - 1.0).abs();
        session.at_most(format!("{label}: centre at 0.316 s off the right fall"), off, "", 0.01);
    }
    let total = found.probe_seconds.iter().fold(0.0, |sum, s| sum + s).max(f64::MIN_POSITIVE);
    for (stage, seconds) in Stage::ALL.iter().zip(found.probe_seconds) {
        session.info(format!("{label}: share of {}", stage.name()), seconds / total, "");
    }
    let mut sorted = found.frames.clone();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn row(n: usize, threads: usize, median: f64, found: &Found) -> String {
    let total = found.probe_seconds.iter().fold(0.0, |sum, s| sum + s).max(f64::MIN_POSITIVE);
    let shares: Vec<String> = found.probe_seconds.iter().map(|s| format!("{:.4}", s / total)).collect();
    format!(
        "{n},{},{threads},{},{median},{:.2},{:.2},{},{}",
        2 * n * n,
        found.frames.len(),
        found.solves,
        found.iterations,
        found.guarded,
        shares.join(",")
    )
}
