//! V00-X1: how much motion the λ-midpoint keeps without collisions; with them, nothing intersects (`meeting.rs`).

use crate::hang::Hang;
use crate::material::cloth;
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use rayon::prelude::*;
use toile::drive::Motion;
use toile::forces::Attach;
use toile::forces::attach::Hold;
use toile::freedom::Freedom;
use toile::interaction::ForceModel;
use toile::mesh::{Pattern, shapes};
use toile::model::Model;
use toile::solve::{Integrator, LambdaRhs};
use toile::state::State;
use toile::step::Island;
use toile::{Fabric, PinDown, Probe, Setup, SolverSettings, World};

const LAMBDAS: [f64; 4] = [0.0, 0.5, 0.8, 0.9];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    decays(session, "oscillator", &mut rows, &|lambda| Ok(oscillator(lambda, LambdaRhs::Corrected)))?;
    let printed = oscillator(0.8, LambdaRhs::Printed) / oscillator(0.0, LambdaRhs::Printed);
    session.info("oscillator, right-hand side as printed, λ = 0.8: decay over that of λ = 0", printed, "");
    decays(session, "strip at 5°", &mut rows, &strip)?;
    session.csv("v00-x1-decay", "what,λ,decay of energy [1/s],over that of λ = 0,theory", &rows)?;
    sheet(session)?;
    super::meeting::hanging(session)
}

/// Judges the decay of every λ against (1 − λ)/(1 + λ).
fn decays(
    session: &mut Session,
    what: &str,
    rows: &mut Vec<String>,
    decay: &dyn Fn(f64) -> Result<f64, LabError>,
) -> Result<(), LabError> {
    let first = decay(0.0)?;
    for lambda in LAMBDAS {
        let rate = decay(lambda)?;
        let theory = (1.0 - lambda) / (1.0 + lambda);
        rows.push(format!("{what},{lambda},{rate},{},{theory}", rate / first));
        let name = format!("{what}, λ = {lambda}: decay over theory's share of λ = 0");
        session.at_most(name, (rate / first / theory - 1.0).abs(), "", 0.1);
    }
    Ok(())
}

fn settings(lambda: f64, rhs: LambdaRhs) -> SolverSettings {
    SolverSettings {
        integrator: Integrator::LambdaMidpoint,
        lambda,
        lambda_rhs: rhs,
        tolerance: 1e-10,
        ..SolverSettings::default()
    }
}

/// Decay rate of the energy [1/s] of a particle that swings once per second, at 200 steps per period.
fn oscillator(lambda: f64, rhs: LambdaRhs) -> f64 {
    let omega = std::f64::consts::TAU;
    let hold = Hold {
        origin: DVec3::ZERO,
        motion: Motion::still(),
        active: f64::NEG_INFINITY..f64::INFINITY,
        stiffness: omega * omega,
        damping: 0.0,
    };
    let forces: Vec<Box<dyn ForceModel>> = vec![Box::new(Attach::elements(1, &[[0]], vec![hold]))];
    let model = Model {
        mass: vec![1.0],
        freedom: vec![Freedom::Free],
        forces,
        start: vec![DVec3::X],
        edge: 1.0,
        size: 1.0,
        ..Model::default()
    };
    let now = State { x: vec![DVec3::X], v: vec![DVec3::ZERO], ..State::default() };
    let mut island = Island::alone(model, now);
    let (dt, steps) = (1.0 / 200.0, 4000);
    for k in 0..steps {
        if island.advance(&settings(lambda, rhs), k as f64 * dt, dt, &mut Probe::default()).is_err() {
            return f64::NAN;
        }
    }
    let energy = island.now.v[0].length_squared() / (omega * omega) + island.now.x[0].length_squared();
    -energy.ln() / (steps as f64 * dt)
}

/// Decay rate [1/s] of the first mode of a hanging strip at 5°, projected on its shape J₀(2.405 √(s/L)).
fn strip(lambda: f64) -> Result<f64, LabError> {
    let (n, wide, ratio) = (24, 2, 5e3);
    let shape = shapes::sheet(1.0, 0.1, n, wide, Pattern::Structured)?;
    let fabric =
        Fabric { stretch: [(0.2 * ratio).into(); 2], poisson: 0.0, bend: 1e-7.into(), ..Fabric::default() };
    let mut hanging = cloth("strip", &shape, fabric)?;
    // x runs from the held end to the free one; s is the distance from the free end.
    let zero = 2.404825557695773;
    let mode = |s: f64| libm::j0(zero * s.max(0.0).sqrt());
    let amplitude = 5f64.to_radians().sin();
    let steps = 2000;
    let ds = 1.0 / steps as f64;
    // Heights of the bent strip, unstretched, summed from the top.
    let mut height = vec![0.0];
    for k in 0..steps {
        let s = 1.0 - k as f64 * ds;
        let slope = amplitude * (mode(s - ds) - mode(s)) / ds;
        height.push(height[k] - ds * (1.0 - slope * slope).sqrt());
    }
    for p in &mut hanging.positions {
        let from_top = p.x;
        let place = (from_top * steps as f64).round() as usize;
        // Stretched as it hangs, so that it does not bounce.
        let sag = 9.81 / ratio * (from_top - 0.5 * from_top * from_top);
        *p = DVec3::new(amplitude * mode(1.0 - from_top), height[place] - sag, p.z);
    }
    let rest: Vec<f64> = shape.positions.iter().map(|p| mode(1.0 - p.x)).collect();
    let pins = vec![PinDown::fixed(0, crate::material::border(&shape, "left")?)];
    let setup = Setup {
        cloths: vec![hanging],
        pins,
        substeps: 1,
        solver: settings(lambda, LambdaRhs::Corrected),
        ..Setup::default()
    };
    let mut world = World::new(setup)?;
    let area = world.cloths()[0].mesh.vertex_area();
    let omega = 0.5 * zero * 9.81f64.sqrt();
    let energy = |world: &World| {
        let on_mode = |field: &[DVec3]| -> f64 {
            field.iter().zip(&rest).zip(&area).map(|((f, m), a)| f.x * m * a).sum()
        };
        let (a, b) = (on_mode(&world.positions(0)), on_mode(&world.velocities(0)) / omega);
        a * a + b * b
    };
    let (dt, period) = (1.0 / 100.0, std::f64::consts::TAU / omega);
    // The straight line through the logarithm of the energy over three periods, averaged within each.
    let (mut sum, mut count, mut means) = (0.0, 0, Vec::new());
    let mut ends = period;
    for k in 1..=(3.0 * period / dt) as usize {
        world.step(dt, &mut Probe::default())?;
        if k as f64 * dt > ends {
            means.push(sum / f64::from(count));
            (sum, count) = (0.0, 0);
            ends += period;
        }
        sum += energy(&world).ln();
        count += 1;
    }
    means.push(sum / f64::from(count));
    Ok((means[0] - means[means.len() - 1]) / (period * (means.len() - 1) as f64))
}

/// 5000 triangles released from horizontal: energy above rest after ten swings, for every λ.
fn sheet(session: &mut Session) -> Result<(), LabError> {
    // Ten swings of 1.67 s. Longer steps break the scheme down at once: it linearises once.
    let dt = 1.0 / 160.0;
    let frames = (10.0 * 1.67 / dt) as usize;
    let lambdas = [0.0, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0];
    let falls: Result<Vec<Swung>, LabError> =
        lambdas.par_iter().map(|lambda| swings(*lambda, dt, frames)).collect();
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    let mut kept: Vec<(f64, f64)> = Vec::new();
    let mut broken = f64::NAN;
    for (lambda, Swung { points, blown }) in lambdas.into_iter().zip(falls?) {
        let end = points[points.len() - 1].1;
        rows.push(format!("{lambda},{end},{blown}"));
        session.info(format!("sheet, λ = {lambda}: energy above rest in the end"), end, "m g L");
        curves.push(Curve { name: format!("λ = {lambda}"), points });
        let grows = kept.last().is_none_or(|(_, before)| end >= *before);
        if broken.is_nan() && !blown && grows {
            kept.push((lambda, end));
        } else if broken.is_nan() {
            broken = lambda;
        }
    }
    let of = |lambda: f64| kept.iter().find(|(l, _)| *l == lambda).map_or(f64::NAN, |(_, e)| *e);
    session.at_least("sheet: energy kept at λ = 0.8 over that at λ = 0", of(0.8) / of(0.0), "", 3.0);
    // Energy grows with λ up to here by definition; beyond it falls again or blows up.
    let last = kept.last().map_or(f64::NAN, |(lambda, _)| *lambda);
    session.at_least("sheet: largest λ before break-down", last, "", 0.8);
    match broken.is_nan() {
        true => session.note("sheet: no λ up to 1 broke down"),
        false => session
            .note(format!("sheet: breaks down at λ = {broken}: energy falls again or grows past all bounds")),
    }
    session.csv("v00-x1-sheet", "λ,energy above rest at the end [m g L],broke down", &rows)?;
    session.plot(
        "v00-x1",
        Chart {
            title: "hang: energy above rest".into(),
            x: "time [s]".into(),
            y: "m g L".into(),
            log: (false, false),
            curves,
        },
    )
}

/// A sheet after its swings.
struct Swung {
    /// Time [s] and energy above rest [m g L].
    points: Vec<(f64, f64)>,
    /// Whether a step was refused or the energy grew: an outcome, not an error.
    blown: bool,
}

fn swings(lambda: f64, dt: f64, frames: usize) -> Result<Swung, LabError> {
    let hang = Hang {
        solver: SolverSettings { tolerance: 1e-3, ..settings(lambda, LambdaRhs::Corrected) },
        ..Hang::new(50, Integrator::LambdaMidpoint, 1)
    };
    let (mut world, _) = hang.world()?;
    let rest = -0.5 - 0.5 * 9.81 / (3.0 * hang.ratio);
    let (mass, _, _) = world.momentum();
    let above = |world: &World| world.energies().total() / (9.81 * mass) - rest;
    let start = above(&world);
    let mut points = vec![(0.0, start)];
    for frame in 1..=frames {
        if world.step(dt, &mut Probe::default()).is_err() || above(&world) > 1.5 * start {
            return Ok(Swung { points, blown: true });
        }
        points.push((frame as f64 * dt, above(&world)));
    }
    Ok(Swung { points, blown: false })
}
