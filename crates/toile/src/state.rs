//! What moves.

use crate::interaction::{Memory, Stress};
use crate::math::DVec3;

/// A particle farther away [m] has left every scene, and too few digits for cloth.
pub const FARTHEST: f64 = 1e6;

/// A particle faster than this [m/s] is an error, not a motion.
pub const FASTEST: f64 = 1e9;

/// Positions, velocities and what the pins hold, of one island.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Positions [m].
    pub x: Vec<DVec3>,
    /// Velocities [m/s].
    pub v: Vec<DVec3>,
    /// For each pin that holds: where its particles were when it took hold, with its motion undone.
    pub grips: Vec<Option<Vec<DVec3>>>,
    /// What an integrator remembers of the step before.
    pub past: Past,
    /// Stress foreseen for the elements of each family of forces, if the integrator keeps it.
    pub stress: Vec<Vec<Stress>>,
    /// What the elements of each family of forces remember; empty if none does or nothing happened yet.
    pub memory: Vec<Vec<Memory>>,
}

/// What an integrator remembers of the step before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Past {
    /// Length of that step [s]; of the step to try next, if the integrator chooses its own.
    pub dt: f64,
    /// Positions before it [m]; empty if not needed.
    pub x: Vec<DVec3>,
    /// Velocities before it [m/s].
    pub v: Vec<DVec3>,
    /// Accelerations at its end [m/s²]; empty if not needed.
    pub a: Vec<DVec3>,
    /// Particles put elsewhere since, ascending: their past means nothing.
    pub restart: Vec<u32>,
}

impl Past {
    /// Whether a two-step scheme can go on from it with steps of `dt`.
    pub fn continues(&self, dt: f64) -> bool {
        self.restart.is_empty() && self.connects(dt)
    }

    /// The same, for the particles whose past means something.
    pub fn connects(&self, dt: f64) -> bool {
        // Frames are divided into substeps by floating-point division: equal but for rounding is equal.
        !self.x.is_empty() && (self.dt - dt).abs() <= 1e-9 * dt
    }

    fn copy_from(&mut self, other: &Past) {
        self.dt = other.dt;
        self.x.clone_from(&other.x);
        self.v.clone_from(&other.v);
        self.a.clone_from(&other.a);
        self.restart.clone_from(&other.restart);
    }
}

impl State {
    /// Takes over the values of `other` without allocating.
    pub fn copy_from(&mut self, other: &State) {
        self.x.clone_from(&other.x);
        self.v.clone_from(&other.v);
        self.grips.clone_from(&other.grips);
        self.past.copy_from(&other.past);
        self.stress.clone_from(&other.stress);
        self.memory.clone_from(&other.memory);
    }

    /// The fastest particle, to name where numbers were lost.
    pub fn fastest(&self) -> StepError {
        let speed = |i: &usize| self.v[*i].abs().max_element();
        let particle = (0..self.v.len()).max_by(|a, b| speed(a).total_cmp(&speed(b))).unwrap_or(0);
        StepError { particle, what: "force", value: self.v[particle] }
    }

    /// Refuses a state with a value that is not a number or beyond all use.
    pub fn check_finite(&self) -> Result<(), StepError> {
        for (what, values, limit) in [("position", &self.x, FARTHEST), ("velocity", &self.v, FASTEST)] {
            // Written so that NaN fails the comparison.
            let bad = |value: &DVec3| !(value.is_finite() && value.abs().max_element() <= limit);
            if let Some(particle) = values.iter().position(bad) {
                return Err(StepError { particle, what, value: values[particle] });
            }
        }
        Ok(())
    }
}

/// A substep whose result cannot be accepted. The state before it is untouched.
#[derive(Clone, Debug, PartialEq)]
pub struct StepError {
    /// First particle concerned, counted within its island.
    pub particle: usize,
    /// What about it.
    pub what: &'static str,
    /// Its value.
    pub value: DVec3,
}
