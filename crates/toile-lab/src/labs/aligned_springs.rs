//! V00-X3: a particle between two nearly aligned springs, pulled sideways (V00 Fig. 1 and 2a).
//!
//! The tangent k n nᵀ knows nothing of sideways stiffness, so one implicit step with a large time step flies
//! far past the equilibrium; a blend of b = 0.1 lands near it.

use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use toile::forces::{Spring, Tangent};
use toile::freedom::Freedom;
use toile::interaction::{Elements, ForceModel};
use toile::model::Model;
use toile::probe::Probe;
use toile::solve::{Integrator, SolverSettings};
use toile::state::State;
use toile::step::Island;

/// Stiffness [N/m], mass [kg], sideways load [N], rest length [m] and how far off the line it starts [m].
const STIFFNESS: f64 = 100.0;
const MASS: f64 = 0.01;
const LOAD: f64 = 10.0;
const LENGTH: f64 = 1.0;
const OFFSET: f64 = 0.03;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let equilibrium = equilibrium();
    session.info("equilibrium", equilibrium, "m");
    let choices = [
        ("paper", Tangent::Paper),
        ("blend 0.1", Tangent::Blend(0.1)),
        ("isotropic", Tangent::Blend(1.0)),
        ("safe", Tangent::Safe),
        ("exact", Tangent::Exact),
    ];
    let mut rows = Vec::new();
    for (name, tangent) in choices {
        let landing = steps(tangent, 10.0, 1)[0] / equilibrium;
        rows.push(format!("{name},{landing}"));
        match name {
            "paper" => session.at_least("one large step, tangent k n nᵀ: overshoot", landing, "×", 10.0),
            "blend 0.1" => {
                session.at_most("one large step, blend 0.1: landing", landing, "×", 2.0);
                session.at_least("one large step, blend 0.1: landing, from below", landing, "×", 0.5);
            }
            _ => session.info(format!("one large step, {name}: landing"), landing, "×"),
        }
    }
    session.csv("landing", "tangent,landing over equilibrium", &rows)?;

    let mut curves = Vec::new();
    for (name, tangent) in choices {
        let path = steps(tangent, 0.02, 400);
        let far = path.iter().map(|y| y.abs()).fold(0.0, f64::max) / equilibrium;
        let settled = (path[399] / equilibrium - 1.0).abs();
        session.at_most(format!("400 steps of 20 ms, {name}: farthest"), far, "×", 3.0);
        session.at_most(format!("400 steps of 20 ms, {name}: off at the end"), settled, "", 0.02);
        let points = path.iter().take(100).enumerate().map(|(k, y)| (0.02 * (k + 1) as f64, *y)).collect();
        curves.push(Curve { name: name.to_string(), points });
    }
    session.plot(
        "motion",
        Chart {
            title: "Two nearly aligned springs, sideways load, 20 ms steps".into(),
            x: "time [s]".into(),
            y: "sideways position [m]".into(),
            log: (false, false),
            curves,
        },
    )
}

/// Where the springs balance the load: 2 k (1 − L/l) y = load, by bisection.
fn equilibrium() -> f64 {
    let balance = |y: f64| 2.0 * STIFFNESS * (1.0 - LENGTH / (LENGTH * LENGTH + y * y).sqrt()) * y - LOAD;
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if balance(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Sideways position after each of `count` steps of `dt`.
fn steps(tangent: Tangent, dt: f64, count: usize) -> Vec<f64> {
    let law = Spring {
        stiffness: vec![STIFFNESS; 2],
        rest_length: vec![LENGTH; 2],
        damping: 0.0,
        tangent,
        give: None,
    };
    let springs = Elements::new(3, &[[0, 1], [2, 1]], &[[[1.0, -1.0]]; 2], law);
    let forces: Vec<Box<dyn ForceModel>> = vec![Box::new(springs)];
    let mut freedom = vec![Freedom::Fixed; 3];
    freedom[1] = Freedom::Free;
    // Gravity sideways on the one free particle is the load.
    let gravity = DVec3::Y * (LOAD / MASS);
    let x = vec![DVec3::X * -LENGTH, DVec3::Y * OFFSET, DVec3::X * LENGTH];
    let model = Model {
        mass: vec![MASS; 3],
        freedom,
        forces,
        gravity,
        start: x.clone(),
        edge: LENGTH,
        size: LENGTH,
        ..Model::default()
    };
    let now = State { x, v: vec![DVec3::ZERO; 3], ..State::default() };
    let integrator = Integrator::LinearEuler;
    let settings = SolverSettings { integrator, tolerance: 1e-9, ..SolverSettings::default() };
    let mut island = Island::alone(model, now);
    let mut path = Vec::with_capacity(count);
    for k in 0..count {
        // Lost numbers would show in the path.
        let _ = island.advance(&settings, k as f64 * dt, dt, &mut Probe::default());
        path.push(island.now.x[1].y);
    }
    path
}
