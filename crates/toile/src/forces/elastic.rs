//! Elastics: vertices drawn together, or to a place, smoothly and whatever they weigh (V97-14, V00-20).
//!
//! The way q between the ends follows q̈ = −q/τ² − 2q̇/τ, which comes from rest to within a hundredth in 6.6 τ and never
//! overshoots. The rate p that this asks for is kept from step to step, and a force far stronger than inertia, 30 M/h of
//! the masses that meet, sees that the ends have it: so what they are sewn to, other forces and contacts, cannot make it
//! swing.

use crate::drive::Motion;
use crate::interaction::{Elements, Law, Memory, Outside, Response, Sample};
use crate::math::DVec3;
use crate::math::matrix::scaled_identity;
use std::ops::Range;

/// How much stronger than inertia the rate is held.
const FIRMNESS: f64 = 30.0;

/// One elastic of an island.
#[derive(Clone, Debug)]
pub struct Pull {
    /// Time constant τ [s].
    pub time: f64,
    /// When it pulls [s].
    pub active: Range<f64>,
    /// Mass that meets: 1/(1/m₁ + 1/m₂) [kg].
    pub mass: f64,
    /// How near is near enough [m]: what cannot touch is not pressed together.
    pub near: f64,
    /// Which of the world's elastics it is.
    pub source: usize,
    /// Where its second end is, if that is a place and no particle [m], and how it moves.
    pub place: Option<(DVec3, Motion)>,
}

/// The law of elastics.
pub struct Elastic {
    pulls: Vec<Pull>,
    /// Length of the substep [s], where places are, how fast they move, and who pulls.
    dt: f64,
    targets: Vec<Option<(DVec3, DVec3)>>,
}

impl Elastic {
    /// Elastics between the first and second of `members`, the second being the first where a place takes its part.
    pub fn elements(particles: usize, members: &[[u32; 2]], pulls: Vec<Pull>) -> Elements<2, 1, Elastic> {
        let weights: Vec<[[f64; 2]; 1]> = pulls
            .iter()
            .map(|pull| if pull.place.is_some() { [[1.0, 0.0]] } else { [[1.0, -1.0]] })
            .collect();
        let targets = vec![None; pulls.len()];
        Elements::new(particles, members, &weights, Elastic { pulls, dt: 1.0, targets })
    }

    /// The rate to have at the end of the step at way `q`: implicit Euler of the smooth approach.
    fn rate(&self, element: usize, q: DVec3, memory: Memory) -> DVec3 {
        let Pull { time: tau, near, .. } = self.pulls[element];
        let h = self.dt;
        let q = if near > 0.0 { q - q.clamp_length_max(near) } else { q };
        (DVec3::from_array(memory) - q * (h / (tau * tau))) / (1.0 + 2.0 * h / tau)
    }
}

impl Law<2, 1> for Elastic {
    fn name(&self) -> &'static str {
        "elastic"
    }

    fn is_lossy(&self) -> bool {
        true
    }

    fn respond(&self, element: usize, at: &Sample<2, 1>) -> Response<1> {
        let Some((place, velocity)) = self.targets[element] else { return Response::ZERO };
        let pull = &self.pulls[element];
        let firm = FIRMNESS * pull.mass / self.dt;
        let wanted = self.rate(element, at.gauge[0] - place, at.memory);
        let force = (at.rate[0] - velocity - wanted) * -firm;
        let (tau, h) = (pull.time, self.dt);
        Response {
            energy: 0.0,
            force: [force],
            lossy: [force],
            stiffness: [[scaled_identity(firm * h / (tau * tau) / (1.0 + 2.0 * h / tau))]],
            damping: [[scaled_identity(firm)]],
        }
    }

    fn remembers(&self) -> bool {
        true
    }

    fn remember(&self, element: usize, at: &Sample<2, 1>) -> Memory {
        match self.targets[element] {
            Some((place, _)) => self.rate(element, at.gauge[0] - place, at.memory).to_array(),
            None => Memory::default(),
        }
    }

    fn lead(&mut self, source: usize, way: [DVec3; 2], span: [f64; 2]) {
        let led = |pull: &&mut Pull| pull.source == source && pull.place.is_some();
        for pull in self.pulls.iter_mut().filter(led) {
            pull.place = Some((way[0], Motion::straight(way, span)));
        }
    }

    fn drive(&mut self, outside: &Outside) {
        let Outside { time, dt, .. } = *outside;
        // Looking ahead from the start of a step has a negative length.
        self.dt = dt.abs().max(f64::MIN_POSITIVE);
        for (target, pull) in self.targets.iter_mut().zip(&self.pulls) {
            let at = |time: f64| match &pull.place {
                Some((origin, motion)) => motion.at(time).apply(*origin),
                None => DVec3::ZERO,
            };
            // Half a substep back: a bound that falls on the end of a substep is met despite rounding.
            let holds = pull.active.contains(&(time - 0.5 * dt));
            *target = holds.then(|| (at(time), (at(time) - at(time - self.dt)) / self.dt));
        }
    }
}
