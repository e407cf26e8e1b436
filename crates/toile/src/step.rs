//! The substep, in order. Whoever reads this has understood the program.

use crate::freedom::Mobility;
use crate::math::{DMat3, DVec3};
use crate::model::Model;
use crate::probe::{Probe, Stage};
use crate::solve::{ImplicitEuler, SolverSettings, Task};
use crate::state::{State, StepError};

/// Halvings of a substep before it is given up: 2⁻¹⁰ of it is tried last.
const DEEPEST: u32 = 10;

/// Storage that a substep uses and throws away.
#[derive(Default)]
pub(crate) struct Scratch {
    mobility: Mobility,
    places: Vec<(u32, DMat3, DVec3)>,
    integrator: ImplicitEuler,
}

/// Particles joined by forces, with all that moves them. Stopping, retries and substeps are decided per
/// island, so nothing unrelated changes a bit of it.
pub(crate) struct Island {
    /// Which cloth it belongs to.
    pub cloth: usize,
    /// Vertex of the cloth that each particle is.
    pub vertices: Vec<u32>,
    pub model: Model,
    pub now: State,
    next: State,
    saved: State,
    scratch: Scratch,
}

impl Island {
    pub fn new(cloth: usize, vertices: Vec<u32>, model: Model, now: State) -> Island {
        Island {
            cloth,
            vertices,
            model,
            next: now.clone(),
            saved: now.clone(),
            now,
            scratch: Scratch::default(),
        }
    }

    /// Advances by one substep. Each stage reads the previous stage's output only; on an error the state is
    /// as it was.
    fn step(
        &mut self,
        settings: &SolverSettings,
        time: f64,
        dt: f64,
        probe: &mut Probe,
    ) -> Result<(), StepError> {
        let Island { model, now, next, saved, scratch, .. } = self;
        probe.start();
        saved.copy_from(now);
        model.drive(now, time, dt, &mut scratch.mobility, &mut scratch.places); // pins, air at time + dt
        probe.lap(Stage::Drive);
        let task = Task { bodies: model.bodies(), mobility: &scratch.mobility, settings, dt };
        let outcome = scratch.integrator.advance(task, now, next, probe);
        put_in_place(&scratch.places, next);
        let sound = next.check_finite().and(outcome.check(now));
        std::mem::swap(now, if sound.is_ok() { next } else { saved });
        probe.counters.substeps += 1;
        probe.lap(Stage::Update);
        sound
    }

    /// Advances by `dt`, in two halves if that cannot be done at once, and so on. Returns the length of the
    /// smallest substep tried with the error if nothing helps.
    pub fn advance(
        &mut self,
        settings: &SolverSettings,
        time: f64,
        dt: f64,
        depth: u32,
        probe: &mut Probe,
    ) -> Result<(), (StepError, f64)> {
        match self.step(settings, time, dt, probe) {
            Ok(()) => Ok(()),
            Err(error) if depth == DEEPEST => Err((error, dt)),
            Err(_) => {
                probe.counters.retries += 1;
                let half = 0.5 * dt;
                self.advance(settings, time, half, depth + 1, probe)?;
                self.advance(settings, time + half, half, depth + 1, probe)
            }
        }
    }
}

/// Held particles end exactly in their places: x + h v only comes within rounding of them.
fn put_in_place(places: &[(u32, DMat3, DVec3)], next: &mut State) {
    for (p, blocked, place) in places {
        let p = *p as usize;
        let off = *place - next.x[p];
        next.x[p] = if *blocked == DMat3::IDENTITY { *place } else { next.x[p] + *blocked * off };
    }
}
