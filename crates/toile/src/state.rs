//! What moves.

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
}

impl State {
    /// Takes over the values of `other` without allocating.
    pub fn copy_from(&mut self, other: &State) {
        self.x.clone_from(&other.x);
        self.v.clone_from(&other.v);
        self.grips.clone_from(&other.grips);
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
