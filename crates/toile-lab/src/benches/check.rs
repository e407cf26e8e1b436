//! What the exact checker costs: on a sheet folded like an accordion into layers 2 mm apart, waving by 1 mm from frame to
//! frame; the same in slow motion; and on a sheet that hangs in folds over a ball and sways slowly. By a checker made for
//! one frame, and in steady state by one that is kept.

use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use std::time::Instant;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Distance, Kind};
use toile::mesh::{Pattern, Shape, shapes};

const FRAMES: usize = 20;

/// Where a sheet is at a time.
type Cloth = fn(&Shape, f64) -> Vec<DVec3>;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for (name, distance, cloth, pace) in [
        ("intersections", Distance::Off, accordion as Cloth, 0.05),
        ("intersections, slow", Distance::Off, accordion, 0.005),
        ("intersections, draped", Distance::Off, drape, 0.02),
        ("intersections and distance", Distance::Exact, accordion, 0.05),
        ("intersections and distance, draped", Distance::Exact, drape, 0.02),
    ] {
        let mut points = Vec::new();
        for n in [100, 158, 224] {
            let shape = shapes::sheet(1.0, 1.0, n, n, Pattern::Structured)?;
            let frame = |k: usize| cloth(&shape, pace * k as f64);
            let (times, once, bad) = pool.install(|| measure(&shape, frame, distance))?;
            let vertices = shape.positions.len();
            let label = format!("{name}, {vertices} vertices, one thread");
            session.time(format!("{label}: frame, steady state"), "ms", &times);
            session.time(format!("{label}: frame, one shot"), "ms", &once);
            session.equal(
                format!("{label}: clean frames that fail, or judged otherwise by a new checker"),
                bad,
                "",
                0.0,
            );
            let median = |times: &[f64]| {
                let mut sorted = times.to_vec();
                sorted.sort_by(f64::total_cmp);
                sorted[sorted.len() / 2]
            };
            let (median, single) = (median(&times), median(&once));
            rows.push(format!("{name},{vertices},{},{median},{single}", shape.faces.len()));
            points.push((vertices as f64, median));
        }
        curves.push(Curve { name: name.into(), points });
    }
    session.csv("check", "what,vertices,faces,ms per frame,ms in one shot", &rows)?;
    session.plot(
        "check",
        Chart {
            title: "The exact checker on folded cloth, one thread".into(),
            x: "vertices".into(),
            y: "ms per frame".into(),
            log: (true, true),
            curves,
        },
    )
}

/// Milliseconds of each frame after the first, and with a new checker for each; and how many frames fail.
fn measure(
    shape: &Shape,
    pose: impl Fn(usize) -> Vec<DVec3>,
    distance: Distance,
) -> Result<(Vec<f64>, Vec<f64>, f64), LabError> {
    let options = CheckOptions { distance, ..CheckOptions::default() };
    let make = || {
        let surface = CheckSurface::new("cloth", Kind::Cloth, shape.positions.len(), shape.faces.clone());
        Checker::new(vec![surface], options).map_err(|error| LabError(error.to_string()))
    };
    let mut checker = make()?;
    let (mut times, mut once, mut bad) = (Vec::new(), Vec::new(), 0.0);
    for frame in 0..=FRAMES {
        let x = pose(frame);
        let start = Instant::now();
        let verdict = checker.check(&[&x]);
        if frame > 0 {
            times.push(1e3 * start.elapsed().as_secs_f64());
        }
        bad += f64::from(!verdict.pass());
        if frame % 4 == 0 {
            let start = Instant::now();
            let same = make()?.check(&[&x]) == verdict;
            once.push(1e3 * start.elapsed().as_secs_f64());
            bad += f64::from(!same);
        }
    }
    Ok((times, once, bad))
}

pub fn accordion(shape: &Shape, time: f64) -> Vec<DVec3> {
    let (straight, radius) = (0.2, 0.001);
    let period = straight + std::f64::consts::PI * radius;
    let fold = |p: &DVec3| {
        let (layer, along) = ((p.x / period).floor(), p.x % period);
        let bend = ((along - straight) / radius).max(0.0);
        let x = along.min(straight) + radius * bend.sin();
        let y = 2.0 * radius * layer + radius * (1.0 - bend.cos());
        let x = if layer % 2.0 == 0.0 { x } else { straight - x };
        DVec3::new(x, y + 0.02 * (12.0 * x + 9.0 * p.z + time).sin(), p.z)
    };
    shape.positions.iter().map(fold).collect()
}

/// A sheet over a ball: smooth on top, and hanging from the equator in deep folds that bulge towards one another, to
/// less than 3 cm.
fn drape(shape: &Shape, time: f64) -> Vec<DVec3> {
    let (ball, folds) = (0.25, 12.0);
    let hang = |p: &DVec3| {
        let (x, z) = (p.x - 0.5, p.z - 0.5);
        let (out, turn) = (x.hypot(z), z.atan2(x));
        let on = out.min(ball * std::f64::consts::FRAC_PI_2);
        let depth = ((out - on) / 0.1).min(1.0);
        let wave = folds * turn + 0.3 * time.sin();
        let radius = ball * (on / ball).sin() + 0.05 * depth * (1.0 + wave.sin());
        // Flanks that lean back over one another.
        let turn = turn - 1.8 * depth * (2.0 * wave).sin() / folds;
        let sway = 0.002 * (time + 3.0 * turn).sin();
        DVec3::new(radius * turn.cos(), ball * (on / ball).cos() - (out - on) + sway, radius * turn.sin())
    };
    shape.positions.iter().map(hang).collect()
}
