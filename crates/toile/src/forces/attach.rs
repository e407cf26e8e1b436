//! Soft pins: springs from particles to places in the world (V00 eq. 8 with a stiffness).

use crate::drive::Motion;
use crate::interaction::{Elements, Law, Outside, Response, Sample};
use crate::math::DVec3;
use crate::math::matrix::scaled_identity;

/// One soft pin: some particles pulled towards places that may move.
#[derive(Clone, Debug)]
pub struct Hold {
    /// Where the place of each particle is before any motion [m].
    pub origin: DVec3,
    /// How the places move.
    pub motion: Motion,
    /// When it holds [s].
    pub active: std::ops::Range<f64>,
    /// Stiffness [N/m].
    pub stiffness: f64,
    /// Viscosity [N·s/m].
    pub damping: f64,
}

/// The law of soft pins.
pub struct Attach {
    holds: Vec<Hold>,
    /// Place and velocity of each hold now; `None` while it does not hold.
    targets: Vec<Option<(DVec3, DVec3)>>,
}

impl Attach {
    /// One hold per listed particle, among `particles` particles.
    pub fn elements(particles: usize, members: &[[u32; 1]], holds: Vec<Hold>) -> Elements<1, 1, Attach> {
        let targets = holds.iter().map(|h| h.target(0.0, 0.0)).collect();
        Elements::new(particles, members, &vec![[[1.0]]; members.len()], Attach { holds, targets })
    }
}

impl Hold {
    fn target(&self, time: f64, dt: f64) -> Option<(DVec3, DVec3)> {
        // Half a substep back: a bound that falls on the end of a substep is met despite rounding.
        if !self.active.contains(&(time - 0.5 * dt)) {
            return None;
        }
        let place = self.motion.at(time).apply(self.origin);
        let before = self.motion.at(time - dt).apply(self.origin);
        Some((place, if dt != 0.0 { (place - before) / dt } else { DVec3::ZERO }))
    }
}

impl Law<1, 1> for Attach {
    fn name(&self) -> &'static str {
        "attach"
    }

    fn is_lossy(&self) -> bool {
        self.holds.iter().any(|h| h.damping > 0.0)
    }

    fn respond(&self, element: usize, at: &Sample<1, 1>) -> Response<1> {
        let Some((place, velocity)) = self.targets[element] else { return Response::ZERO };
        let hold = &self.holds[element];
        let away = at.gauge[0] - place;
        let viscous = (at.rate[0] - velocity) * -hold.damping;
        Response {
            energy: 0.5 * hold.stiffness * away.length_squared(),
            force: [away * -hold.stiffness + viscous],
            lossy: [viscous],
            stiffness: [[scaled_identity(hold.stiffness)]],
            damping: [[scaled_identity(hold.damping)]],
        }
    }

    fn drive(&mut self, outside: &Outside) {
        for (target, hold) in self.targets.iter_mut().zip(&self.holds) {
            *target = hold.target(outside.time, outside.dt);
        }
    }
}
