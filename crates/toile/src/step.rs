//! The substep, in order. Whoever reads this has understood the program.

use crate::freedom::Mobility;
use crate::math::DVec3;
use crate::model::{Journey, Model};
use crate::probe::{Probe, Stage};
use crate::solve::{Course, Integrator, Place, SolverSettings, Span, Stepper, stability};
use crate::state::{State, StepError};

/// Halvings of a substep before it is given up: 2⁻¹⁰ of it is tried last.
const DEEPEST: u32 = 10;

/// Storage that a substep uses and throws away.
#[derive(Default)]
struct Scratch {
    mobility: Mobility,
    places: Vec<Place>,
    stepper: Stepper,
}

/// Particles joined by forces, with all that moves them. Stopping, retries and substeps are decided per
/// island, so nothing unrelated changes a bit of it.
pub struct Island {
    /// Which cloth it belongs to.
    pub(crate) cloth: usize,
    /// Vertex of the cloth that each particle is.
    pub(crate) vertices: Vec<u32>,
    /// What is fixed.
    pub model: Model,
    /// What moves.
    pub now: State,
    next: State,
    saved: State,
    scratch: Scratch,
}

impl Island {
    /// An island that belongs to no cloth: any particles with any forces.
    pub fn alone(model: Model, now: State) -> Island {
        Island::new(0, Vec::new(), model, now)
    }

    pub(crate) fn new(cloth: usize, vertices: Vec<u32>, model: Model, now: State) -> Island {
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

    /// Puts a particle somewhere by hand. Its past means nothing then, and stress is foreseen anew.
    pub(crate) fn place(&mut self, particle: usize, position: DVec3) {
        self.now.x[particle] = position;
        self.forget(particle);
    }

    /// Gives a particle another velocity.
    pub(crate) fn push(&mut self, particle: usize, velocity: DVec3) {
        self.now.v[particle] = velocity;
        self.forget(particle);
    }

    fn forget(&mut self, particle: usize) {
        let restart = &mut self.now.past.restart;
        if let Err(at) = restart.binary_search(&(particle as u32)) {
            restart.insert(at, particle as u32);
        }
        self.now.stress.clear();
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
        model.begin(now, time, dt, &mut scratch.mobility); // pins take hold or let go
        let mut journey = Journey {
            model,
            grips: &now.grips,
            memory: &now.memory,
            mobility: &scratch.mobility,
            places: &mut scratch.places,
        };
        let span = Span { settings, time, dt, solves: settings.newton.max_solves };
        let sound = match scratch.stepper.advance(&mut journey, span, now, next, probe) {
            true => next.check_finite(),
            false => Err(now.fastest()),
        };
        if sound.is_ok() {
            model.remember(next);
        }
        std::mem::swap(now, if sound.is_ok() { next } else { saved });
        probe.counters.substeps += 1;
        probe.lap(Stage::Update);
        sound
    }

    /// The longest stable step of `integrator` from here [s]; infinity if it is implicit.
    pub fn longest_step(&mut self, integrator: Integrator, time: f64, dt: f64) -> f64 {
        if !integrator.is_explicit() {
            return f64::INFINITY;
        }
        let Island { model, now, scratch, .. } = self;
        let mut held = now.clone();
        model.begin(&mut held, time, dt, &mut scratch.mobility);
        let mut journey = Journey {
            model,
            grips: &held.grips,
            memory: &held.memory,
            mobility: &scratch.mobility,
            places: &mut scratch.places,
        };
        journey.go_to(time, -dt);
        integrator.longest_step(stability::fastest(journey.bodies(), &held.x, &held.v))
    }

    /// Advances by `dt`, in two halves if that cannot be done at once, and so on. Returns the length of the
    /// smallest substep tried with the error if nothing helps.
    pub fn advance(
        &mut self,
        settings: &SolverSettings,
        time: f64,
        dt: f64,
        probe: &mut Probe,
    ) -> Result<(), (StepError, f64)> {
        // An explicit step is as long as it was asked to be, or follows its own error: blowing up is an answer.
        let halvings = if settings.integrator.is_explicit() { 0 } else { DEEPEST };
        self.advance_within(settings, time, dt, halvings, probe)
    }

    fn advance_within(
        &mut self,
        settings: &SolverSettings,
        time: f64,
        dt: f64,
        halvings: u32,
        probe: &mut Probe,
    ) -> Result<(), (StepError, f64)> {
        match self.step(settings, time, dt, probe) {
            Ok(()) => Ok(()),
            Err(error) if halvings == 0 => Err((error, dt)),
            Err(_) => {
                probe.counters.retries += 1;
                let half = 0.5 * dt;
                self.advance_within(settings, time, half, halvings - 1, probe)?;
                self.advance_within(settings, time + half, half, halvings - 1, probe)
            }
        }
    }
}
