//! A kilogram on a spring one metre long: the smallest thing that swings.

use glam::DVec3;
use toile::forces::{Spring, Tangent};
use toile::freedom::Freedom;
use toile::interaction::Elements;
use toile::model::Model;
use toile::solve::{Integrator, NewtonSettings, SolverSettings};
use toile::state::State;
use toile::step::Island;

/// Gravity, along −y [m/s²].
pub const GRAVITY: f64 = 9.81;

/// The bob at `x` [m] with the velocity `v` [m/s], on a spring of `stiffness` [N/m] hung at the origin. It is
/// particle 1.
pub fn bob(stiffness: f64, x: DVec3, v: DVec3) -> Island {
    let law = Spring {
        stiffness: vec![stiffness],
        rest_length: vec![1.0],
        damping: 0.0,
        tangent: Tangent::Exact,
        give: None,
    };
    let start = vec![DVec3::ZERO, x];
    let model = Model {
        mass: vec![1.0; 2],
        freedom: vec![Freedom::Fixed, Freedom::Free],
        forces: vec![Box::new(Elements::new(2, &[[0, 1]], &[[[1.0, -1.0]]], law))],
        gravity: DVec3::NEG_Y * GRAVITY,
        start: start.clone(),
        edge: 1.0,
        size: 1.0,
        ..Model::default()
    };
    Island::alone(model, State { x: start, v: vec![DVec3::ZERO, v], ..State::default() })
}

/// Steps of `integrator`, each solved so finely that only the length of the step is left to see.
pub fn exact(integrator: Integrator) -> SolverSettings {
    let newton = NewtonSettings { step: 1e-10, residual: 1e-7, max_solves: 30 };
    SolverSettings { integrator, newton, tolerance: 1e-9, ..SolverSettings::default() }
}
