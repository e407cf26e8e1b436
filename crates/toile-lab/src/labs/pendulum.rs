//! A pendulum: its period against its amplitude, at 400 steps per period.
//!
//! The spring is so stiff that the bob's weight stretches it by 1e-5. The reference is the complete elliptic
//! integral by the arithmetic–geometric mean: T = 2π √(L/g) / agm(1, cos ½θ).
//!
//! Steps are taken in x and y, where even a steady turn on a circle is an oscillation that BDF2 damps. It loses a
//! little height in every passage through the lowest point; at 150°, where the bob passes at 3° a step and the period
//! depends steeply on the height, that shows.

use crate::bob::{GRAVITY, bob, exact};
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use std::f64::consts::TAU;
use toile::Probe;
use toile::solve::Integrator;

const STIFFNESS: f64 = 1e6;
const STEPS: usize = 400;
const DEGREES: [f64; 9] = [5.0, 10.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0, HIGHEST];
/// So near the top that the period depends steeply on the amplitude.
const HIGHEST: f64 = 150.0;
const SCHEMES: [Integrator; 2] = [Integrator::Bdf2, Integrator::TrBdf2];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    cross_check(session);
    let mut rows = Vec::new();
    let exact = DEGREES.iter().map(|d| (*d, slowness(*d))).collect();
    let mut curves = vec![Curve { name: "elliptic integral".into(), points: exact }];
    for integrator in SCHEMES {
        let name = integrator.name();
        let mut worst = 0.0f64;
        let mut points = Vec::new();
        for degrees in DEGREES {
            let found = swing(integrator, degrees, STEPS)?;
            let error = found / slowness(degrees) - 1.0;
            worst = worst.max(error.abs());
            rows.push(format!("{name},{degrees},{found:.9},{:.9},{error:.3e}", slowness(degrees)));
            points.push((degrees, found));
        }
        session.at_most(format!("{name}: period, 5° to 150°"), worst, "relative", 0.005);
        let half = swing(integrator, HIGHEST, STEPS / 2)? / slowness(HIGHEST) - 1.0;
        session.info(format!("{name}: period, 150°, half as many steps"), half.abs(), "relative");
        curves.push(Curve { name: name.into(), points });
    }
    session.csv("pendulum", "scheme,amplitude [°],period over that of small swings,exact,error", &rows)?;
    session.plot(
        "pendulum",
        Chart {
            title: format!("pendulum, {STEPS} steps per period"),
            x: "amplitude [°]".into(),
            y: "period over that of small swings".into(),
            log: (false, false),
            curves,
        },
    )
}

/// Exact period over 2π √(L/g).
fn slowness(degrees: f64) -> f64 {
    let (mut a, mut b) = (1.0, (0.5 * degrees.to_radians()).cos());
    for _ in 0..10 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    1.0 / a
}

fn cross_check(session: &mut Session) {
    let Some(text) = session.reference("validation/pendulum_period.csv") else { return };
    let rows = text.lines().skip(1).filter_map(|line| {
        let (degrees, ratio) = line.split_once(',')?;
        Some((degrees.parse::<f64>().ok()?, ratio.parse::<f64>().ok()?))
    });
    let errors: Vec<f64> = rows.map(|(degrees, ratio)| (slowness(degrees) / ratio - 1.0).abs()).collect();
    session.at_least("rows of the reference table met", errors.len() as f64, "", DEGREES.len() as f64);
    let worst = errors.into_iter().fold(0.0, f64::max);
    session.at_most("elliptic integral against the reference table", worst, "relative", 1e-8);
}

/// Time between the first two passages in the same direction through the lowest point, in units of 2π √(L/g).
fn swing(integrator: Integrator, degrees: f64, steps: usize) -> Result<f64, LabError> {
    let settings = exact(integrator);
    let unit = TAU / GRAVITY.sqrt();
    let dt = unit * slowness(degrees) / steps as f64;
    let (sin, cos) = degrees.to_radians().sin_cos();
    let mut island = bob(STIFFNESS, DVec3::new(sin, -cos, 0.0), DVec3::ZERO);
    let mut passages = Vec::new();
    let mut before = degrees.to_radians();
    for k in 0..2 * steps {
        let time = k as f64 * dt;
        let step = island.advance(&settings, time, dt, &mut Probe::default());
        step.map_err(|(error, _)| LabError(format!("the pendulum was lost at {time} s: {error:?}")))?;
        let angle = island.now.x[1].x.atan2(-island.now.x[1].y);
        if before * angle <= 0.0 && before != 0.0 {
            passages.push(time + dt * before / (before - angle));
        }
        before = angle;
    }
    match passages[..] {
        [first, _, third, ..] => Ok((third - first) / unit),
        _ => Err(LabError(format!("the pendulum at {degrees}° did not swing"))),
    }
}
