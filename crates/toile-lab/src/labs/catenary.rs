//! A strip hung by both ends: its sag and its pull against the catenary, at several spans.
//!
//! Lengths are in L = 1 m. The strip stretches by 1e-5 and bends over c = (D/σg)^⅓ = 5 mm, a tenth of the
//! sharpest radius. It starts folded at the middle into two straight halves and is draped from there.

use crate::material::{border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use toile::mesh::{Pattern, shapes};
use toile::solve::{DrapeSettings, Integrator};
use toile::{Fabric, PinDown, Probe, Setup, SolverSettings, World};

const SPANS: [f64; 7] = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.95];
const WIDTH: f64 = 0.05;
const SEGMENTS: usize = 80;
const DENSITY: f64 = 0.2;
const GRAVITY: f64 = 9.81;
/// Stretch stiffness over density [m²/s²].
const RATIO: f64 = 5e5;
/// D/(σ g L³).
const BENDING: f64 = 1.25e-7;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    cross_check(session);
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    let (mut sag_off, mut pull_off, mut left) = (0.0f64, 0.0f64, 0.0f64);
    for span in SPANS {
        let found = hang(span)?;
        let a = parameter(span);
        let (sag, pull) = (found.sag / sag_of(span) - 1.0, found.pull / a - 1.0);
        (sag_off, pull_off) = (sag_off.max(sag.abs()), pull_off.max(pull.abs()));
        left = left.max(found.residual);
        rows.push(format!(
            "{span},{:.7},{:.7},{sag:.2e},{:.7},{a:.7},{pull:.2e}",
            found.sag,
            sag_of(span),
            found.pull
        ));
        if [0.3, 0.6, 0.95].contains(&span) {
            curves.push(Curve { name: format!("strip, span {span}"), points: found.line });
            let low = a * (0.5 / a * span).cosh();
            let at = |k: usize| span * (k as f64 / 100.0 - 0.5);
            let points = (0..=100).map(|k| (at(k), a * (at(k) / a).cosh() - low)).collect();
            curves.push(Curve { name: format!("catenary, span {span}"), points });
        }
    }
    session.at_most("sag", sag_off, "relative", 0.005);
    session.at_most("horizontal pull", pull_off, "relative", 0.01);
    session.at_most("largest force left, over the weight of a particle", left, "", 1e-3);
    session.csv("catenary", "span/L,sag/L,exact,error,pull over weight,exact,error", &rows)?;
    session.plot(
        "catenary",
        Chart {
            title: "a strip hung by both ends".into(),
            x: "m".into(),
            y: "m".into(),
            log: (false, false),
            curves,
        },
    )
}

/// a/L of the catenary y = a cosh(x/a): 2 a sinh(span/2a) = L, by Newton's method on u = span/2a, sinh(u)/u = L/span.
fn parameter(span: f64) -> f64 {
    // From above: the function is convex, so steps never pass the root.
    let mut u = 10.0f64;
    for _ in 0..100 {
        u -= (u.sinh() - u / span) / (u.cosh() - 1.0 / span);
    }
    0.5 * span / u
}

fn sag_of(span: f64) -> f64 {
    let a = parameter(span);
    a * ((0.5 * span / a).cosh() - 1.0)
}

fn cross_check(session: &mut Session) {
    let Some(text) = session.reference("validation/catenary.csv") else { return };
    let mut met = 0;
    let mut worst = 0.0f64;
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').filter_map(|cell| cell.parse().ok()).collect();
        if let [span, a, sag, ..] = cells[..] {
            met += 1;
            worst = worst.max((parameter(span) / a - 1.0).abs()).max((sag_of(span) / sag - 1.0).abs());
        }
    }
    session.at_least("rows of the reference table met", f64::from(met), "", SPANS.len() as f64);
    session.at_most("catenary against the reference table", worst, "relative", 1e-8);
}

struct Hung {
    /// Depth of the lowest point over L.
    sag: f64,
    /// Horizontal force on a support over the weight of the strip.
    pull: f64,
    /// Largest force left on a particle over its weight.
    residual: f64,
    /// One long side [m].
    line: Vec<(f64, f64)>,
}

fn hang(span: f64) -> Result<Hung, LabError> {
    let mut shape = shapes::sheet(1.0, WIDTH, SEGMENTS, 2, Pattern::Structured)?;
    let weight = DENSITY * GRAVITY * WIDTH;
    let stretch = RATIO * DENSITY;
    let fabric = Fabric {
        density: DENSITY,
        stretch: [stretch.into(); 2],
        shear: (0.5 * stretch).into(),
        poisson: 0.0,
        bend: (BENDING * DENSITY * GRAVITY).into(),
        ..Fabric::default()
    };
    let side: Vec<usize> = (0..shape.positions.len()).filter(|i| shape.positions[*i].z == 0.0).collect();
    let drop = (1.0 - span * span).sqrt();
    for p in &mut shape.positions {
        *p = DVec3::new(span * (p.x - 0.5), -drop * p.x.min(1.0 - p.x), p.z);
    }
    let particle = weight / shape.positions.len() as f64;
    let drape = DrapeSettings { residual: 1e-4 * particle, ..SolverSettings::default().drape };
    let solver = SolverSettings { integrator: Integrator::QuasiStatic, drape, ..SolverSettings::default() };
    let [left, right] = [border(&shape, "left")?, border(&shape, "right")?];
    let pins = vec![PinDown::fixed(0, left.clone()), PinDown::fixed(0, right)];
    let cloths = vec![cloth("strip", &shape, fabric)?];
    let mut world = World::new(Setup { cloths, pins, solver, substeps: 1, ..Setup::default() })?;
    let mut probe = Probe::default();
    for _ in 0..10 {
        probe = Probe::default();
        world.step(1.0, &mut probe)?;
        if probe.counters.unconverged == 0 {
            break;
        }
    }
    let x = world.positions(0);
    let forces = world.forces(0);
    let pull: f64 = left.iter().map(|v| forces[*v as usize].x).sum();
    let line: Vec<(f64, f64)> = side.iter().map(|i| (x[*i].x, x[*i].y)).collect();
    let sag = line.iter().map(|p| -p.1).fold(0.0, f64::max);
    Ok(Hung { sag, pull: pull / weight, residual: probe.counters.residual / particle, line })
}
