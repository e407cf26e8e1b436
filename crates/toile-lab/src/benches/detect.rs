//! What detection costs: a sheet folded like an accordion into layers 2 mm apart, waving from frame to frame.

use crate::benches::check::accordion;
use crate::session::{Chart, Curve, LabError, Session};
use std::time::Instant;
use toile::collide::{Curvature, Detector, Motion, Query, Role, Settings, Surface};
use toile::mesh::{Pattern, Shape, shapes};

const FRAMES: usize = 9;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let sizes: &[usize] = if session.full { &[50, 158, 500] } else { &[50, 158] };
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let mut points = Vec::new();
        for &n in sizes {
            let shape = shapes::sheet(1.0, 1.0, n, n, Pattern::Structured)?;
            let times = pool.install(|| measure(&shape))?;
            let faces = shape.faces.len();
            for (what, times) in ["build", "refit", "refit and query", "with curvature"].iter().zip(&times) {
                session.time(format!("{faces} faces, {threads} threads: {what}"), "ms", times);
                let mut sorted = times.clone();
                sorted.sort_by(f64::total_cmp);
                let median = sorted[sorted.len() / 2];
                rows.push(format!("{faces},{threads},{what},{median}"));
                if *what == "refit and query" {
                    points.push((faces as f64, median));
                }
            }
        }
        curves.push(Curve { name: format!("{threads} threads"), points });
    }
    session.csv("detect", "faces,threads,what,ms", &rows)?;
    session.plot(
        "detect",
        Chart {
            title: "Self-contacts of folded cloth".into(),
            x: "faces".into(),
            y: "ms per frame".into(),
            log: (true, true),
            curves,
        },
    )
}

/// Milliseconds of build, refit, refit and query, and the same with the curvature criterion.
fn measure(shape: &Shape) -> Result<[Vec<f64>; 4], LabError> {
    let mut times: [Vec<f64>; 4] = Default::default();
    let refuse = |error: &dyn std::fmt::Display| LabError(error.to_string());
    let start = Instant::now();
    let surface =
        Surface::new(shape.positions.len(), shape.faces.clone(), Role::Cloth).map_err(|e| refuse(&e))?;
    let mut detector = Detector::new(Settings::default());
    detector.add(surface, &accordion(shape, 0.0)).map_err(|e| refuse(&e))?;
    times[0].push(1e3 * start.elapsed().as_secs_f64());
    let query = Query { epsilon: 1e-3, ..Query::default() };
    let flat = Query { curvature: Curvature::default(), ..query };
    let mut contacts = Vec::new();
    for frame in 0..=FRAMES {
        let x = accordion(shape, 0.05 * frame as f64);
        let motions = [Motion::still(&x)];
        let mut clock = |k: usize, start: Instant| {
            if frame > 0 {
                times[k].push(1e3 * start.elapsed().as_secs_f64());
            }
        };
        let start = Instant::now();
        detector.update(&motions, &query).map_err(|e| refuse(&e))?;
        clock(1, start);
        let start = Instant::now();
        detector.detect(&motions, &query, &mut contacts).map_err(|e| refuse(&e))?;
        clock(2, start);
        let start = Instant::now();
        detector.detect(&motions, &flat, &mut contacts).map_err(|e| refuse(&e))?;
        clock(3, start);
    }
    Ok(times)
}
