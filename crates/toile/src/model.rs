//! What is fixed while cloth moves: masses, freedoms, forces, pins.

use crate::drive::Motion;
use crate::forces::WindField;
use crate::freedom::{Freedom, Mobility};
use crate::interaction::{ForceModel, Interactions, Mix, Moment, Outside};
use crate::math::{DMat3, DVec3};
use crate::solve::Bodies;
use crate::state::State;
use std::ops::Range;

/// Particles held, whatever pulls at them.
#[derive(Clone, Debug)]
pub struct Pin {
    /// Which particles of the island.
    pub particles: Vec<u32>,
    /// What is left of their freedom while held.
    pub freedom: Freedom,
    /// How the pin moves.
    pub motion: Motion,
    /// When it holds [s]: grips the particles where they are at the start, lets go at the end.
    pub active: Range<f64>,
}

/// Everything about an island that a step reads and does not change.
pub struct Model {
    /// Mass of each particle [kg].
    pub mass: Vec<f64>,
    /// Freedom of each particle, pins apart.
    pub freedom: Vec<Freedom>,
    /// Forces between particles and with the air.
    pub forces: Vec<Box<dyn ForceModel>>,
    /// Hard pins.
    pub pins: Vec<Pin>,
    /// Gravity [m/s²].
    pub gravity: DVec3,
    /// Wind.
    pub wind: WindField,
}

impl Model {
    /// What an integrator needs to see.
    pub fn bodies(&self) -> Bodies<'_> {
        Bodies { mass: &self.mass, forces: &self.forces, gravity: self.gravity }
    }

    /// Sum of all forces on each particle [N].
    pub fn forces_at(&self, state: &State) -> Vec<DVec3> {
        let mut sum: Vec<DVec3> = self.mass.iter().map(|m| self.gravity * *m).collect();
        let mut answer = Interactions::default();
        for force in &self.forces {
            force.respond(Moment { x: &state.x, v: &state.v }, Mix::NONE, &mut answer);
            force.stencil().scatter(&answer.force, &mut sum);
        }
        sum
    }

    /// Brings pins, wind and moving targets to the end of a substep: velocities of held particles become
    /// those that lead to their places. Fills `mobility` and the `places` of particles that are led.
    pub fn drive(
        &mut self,
        now: &mut State,
        time: f64,
        dt: f64,
        mobility: &mut Mobility,
        places: &mut Vec<(u32, DMat3, DVec3)>,
    ) {
        let end = time + dt;
        let outside = Outside { time: end, dt, air: self.wind.at(end) };
        for force in &mut self.forces {
            force.drive(&outside);
        }
        let mut freedom = self.freedom.clone();
        places.clear();
        for (pin, grip) in self.pins.iter().zip(&mut now.grips) {
            if !pin.active.contains(&(time + 0.5 * dt)) {
                *grip = None;
                continue;
            }
            let held = grip.get_or_insert_with(|| {
                let before = pin.motion.at(time);
                pin.particles.iter().map(|p| before.undo(now.x[*p as usize])).collect()
            });
            let pose = pin.motion.at(end);
            let blocked = DMat3::IDENTITY - pin.freedom.projector();
            for (p, origin) in pin.particles.iter().zip(held) {
                freedom[*p as usize] = pin.freedom;
                places.push((*p, blocked, pose.apply(*origin)));
            }
        }
        mobility.inverse_mass.clear();
        mobility.inverse_mass.extend(self.mass.iter().map(|m| 1.0 / m));
        mobility.projectors.clear();
        let bound = freedom.iter().enumerate().filter(|(_, f)| **f != Freedom::Free);
        mobility.projectors.extend(bound.map(|(i, f)| (i as u32, f.projector())));
        mobility.project(&mut now.v);
        for (p, blocked, place) in places.iter() {
            let p = *p as usize;
            now.v[p] += *blocked * ((*place - now.x[p]) / dt);
        }
    }
}
