//! What is fixed while cloth moves: masses, freedoms, forces, pins.

use crate::collide::collider::Collider;
use crate::contact::gauges::Gauges;
use crate::contact::{ContactSettings, Outing};
use crate::drive::Motion;
use crate::forces::{WindField, halfway};
use crate::freedom::{Freedom, Mobility};
use crate::interaction::{ForceModel, Interactions, Memory, Mix, Moment, Outside};
use crate::math::{DMat3, DVec3};
use crate::rigid::Rigid;
use crate::solve::{Bodies, Course, Net, Place, families};
use crate::state::State;
use std::ops::Range;

/// What cloth meets during a step.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// How it meets.
    pub contact: &'a ContactSettings,
    /// Bodies.
    pub bodies: &'a [&'a Collider],
}

/// Particles held, whatever pulls at them.
#[derive(Clone, Debug)]
pub struct Pin {
    /// Which particles of the island.
    pub particles: Vec<u32>,
    /// What is left of their freedom while held.
    pub freedom: Freedom,
    /// How the pin moves.
    pub motion: Motion,
    /// Which of the world's pins it is part of.
    pub source: usize,
    /// When it holds [s]: grips the particles where they are at the start, lets go at the end.
    pub active: Range<f64>,
}

/// Everything about an island that a step reads and does not change. The default is no particles in no field.
#[derive(Default)]
pub struct Model {
    /// Mass of each particle [kg].
    pub mass: Vec<f64>,
    /// Freedom of each particle, pins apart.
    pub freedom: Vec<Freedom>,
    /// Forces between particles and with the air.
    pub forces: Vec<Box<dyn ForceModel>>,
    /// Particles that keep their shape.
    pub rigid: Vec<Rigid>,
    /// Particles that stay half way between two others, and those two.
    pub hanging: Vec<[u32; 3]>,
    /// Hard pins.
    pub pins: Vec<Pin>,
    /// Gravity [m/s²].
    pub gravity: DVec3,
    /// Wind.
    pub wind: WindField,
    /// Edges that corrections act on; none for particles that are no mesh.
    pub net: Net,
    /// Where the particles started [m].
    pub start: Vec<DVec3>,
    /// Which of the forces are contacts, if any.
    pub gauges: Option<usize>,
    /// Mean edge at rest [m].
    pub edge: f64,
    /// Square root of the area at rest [m].
    pub size: f64,
}

impl Model {
    /// Sum of all forces on each particle [N].
    pub fn forces_at(&self, state: &State) -> Vec<DVec3> {
        let mut sum: Vec<DVec3> = self.mass.iter().map(|m| self.gravity * *m).collect();
        let mut answer = Interactions::default();
        for (force, memory) in families(&self.forces, &state.memory) {
            force.respond(Moment { x: &state.x, v: &state.v, memory }, Mix::NONE, &[], &mut answer);
            force.coupling().scatter(&answer.force, &mut sum);
        }
        sum
    }

    /// Forces of contacts on each particle [N]: pushes and friction of the pairs of the last substep.
    pub(crate) fn contact_forces_at(&self, state: &State) -> Vec<DVec3> {
        let mut sum = vec![DVec3::ZERO; self.mass.len()];
        if let Some(force) = self.gauges.and_then(|at| self.forces.get(at)) {
            let mut answer = Interactions::default();
            force.respond(Moment::new(&state.x, &state.v), Mix::NONE, &[], &mut answer);
            force.coupling().scatter(&answer.force, &mut sum);
        }
        sum
    }

    /// The two sides of every pair that pushes in `state` [m].
    pub(crate) fn contact_places(&self, state: &State) -> Vec<[DVec3; 2]> {
        let contacts = self.gauges.and_then(|at| self.forces.get(at));
        contacts.map_or(Vec::new(), |contacts| contacts.pushes(Moment::new(&state.x, &state.v)))
    }

    /// Takes or lets go what pins hold during the substep from `time` to `time + dt`, and fills `mobility`.
    pub fn begin(&self, now: &mut State, time: f64, dt: f64, mobility: &mut Mobility) {
        let mut freedom = self.freedom.clone();
        for (pin, grip) in self.pins.iter().zip(&mut now.grips) {
            if !pin.active.contains(&(time + 0.5 * dt)) {
                *grip = None;
                continue;
            }
            grip.get_or_insert_with(|| {
                let before = pin.motion.at(time);
                pin.particles.iter().map(|p| before.undo(now.x[*p as usize])).collect()
            });
            for p in &pin.particles {
                freedom[*p as usize] = pin.freedom;
            }
        }
        mobility.inverse_mass.clear();
        mobility.inverse_mass.extend(self.mass.iter().map(|m| 1.0 / m));
        mobility.projectors.clear();
        let bound = freedom.iter().enumerate().filter(|(_, f)| **f != Freedom::Free);
        mobility.projectors.extend(bound.map(|(i, f)| (i as u32, f.projector())));
    }

    /// Lets the elements of `next` remember the step that ended there, with pins and targets where they are now.
    pub fn remember(&self, next: &mut State) {
        if self.forces.iter().all(|force| force.remembering() == 0) {
            return;
        }
        let before = std::mem::take(&mut next.memory);
        next.memory.resize(self.forces.len(), Vec::new());
        let State { x, v, memory, .. } = next;
        for ((force, before), memory) in families(&self.forces, &before).zip(memory) {
            force.remember(Moment { x, v, memory: before }, memory);
        }
    }

    /// Lets what is rigid be so again, and what hangs half way.
    pub(crate) fn settle(&self, mobility: &Mobility, next: &mut State) {
        for thing in &self.rigid {
            thing.settle(&self.mass, &mut next.x, &mut next.v);
        }
        self.close_cracks(mobility, next);
    }

    /// Puts what hangs half way between its ends.
    pub(crate) fn close_cracks(&self, mobility: &Mobility, next: &mut State) {
        let project = |gains: &mut [DVec3]| mobility.project(gains);
        halfway::close(&self.hanging, &self.mass, project, &mut next.x);
        halfway::close(&self.hanging, &self.mass, project, &mut next.v);
    }

    /// Accelerations without contacts [m/s²].
    pub(crate) fn pull(&mut self, state: &State) -> Vec<DVec3> {
        if let Some(gauges) =
            self.gauges.and_then(|at| self.forces.get_mut(at)?.as_any()?.downcast_mut::<Gauges>())
        {
            gauges.set(state.x.len(), Vec::new(), 0.0, 1.0);
        }
        self.forces_at(state).iter().zip(&self.mass).map(|(f, m)| *f / *m).collect()
    }

    /// The contacts among the forces, and what they must know of a substep.
    pub(crate) fn outing<'a>(
        &'a mut self,
        around: Surroundings<'a>,
        mobility: &'a Mobility,
        places: &'a [Place],
        (v, pull, owed): (&'a [DVec3], &'a [DVec3], &'a [DVec3]),
        (time, dt, last, feels): (f64, f64, bool, bool),
    ) -> Option<(Outing<'a>, &'a mut Gauges)> {
        let at = self.gauges?;
        let gauges = self.forces.get_mut(at)?.as_any()?.downcast_mut::<Gauges>()?;
        let outing = Outing {
            settings: around.contact,
            bodies: around.bodies,
            mass: &self.mass,
            rigid: &self.rigid,
            gravity: self.gravity,
            mobility,
            places,
            edge: self.edge,
            time,
            dt,
            v,
            pull,
            feels,
            last,
            owed,
        };
        Some((outing, gauges))
    }

    /// Brings pins, wind and moving targets to `time`, the end of a step of `dt`.
    pub(crate) fn go_to(
        &mut self,
        grips: &[Option<Vec<DVec3>>],
        time: f64,
        dt: f64,
        places: &mut Vec<Place>,
    ) {
        let outside = Outside { time, dt, air: self.wind.at(time) };
        for force in &mut self.forces {
            force.drive(&outside);
        }
        places.clear();
        for (pin, grip) in self.pins.iter().zip(grips) {
            let Some(held) = grip else { continue };
            let pose = pin.motion.at(time);
            let blocked = DMat3::IDENTITY - pin.freedom.projector();
            let lead = |(p, origin): (&u32, &DVec3)| Place { particle: *p, blocked, at: pose.apply(*origin) };
            places.extend(pin.particles.iter().zip(held).map(lead));
        }
    }
}

/// A model on its way through a substep.
pub struct Journey<'a> {
    /// The model.
    pub model: &'a mut Model,
    /// What its pins hold.
    pub grips: &'a [Option<Vec<DVec3>>],
    /// What its forces remember of the steps before.
    pub memory: &'a [Vec<Memory>],
    /// Inverse masses during the substep.
    pub mobility: &'a Mobility,
    /// Where led particles must be.
    pub places: &'a mut Vec<Place>,
    /// Particles that may be struck; nothing where nothing can meet.
    pub struck: Option<&'a [u32]>,
}

impl Course for Journey<'_> {
    fn go_to(&mut self, time: f64, dt: f64) {
        self.model.go_to(self.grips, time, dt, self.places);
    }

    fn bodies(&self) -> Bodies<'_> {
        Bodies {
            mass: &self.model.mass,
            forces: &self.model.forces,
            memory: self.memory,
            gravity: self.model.gravity,
            mobility: self.mobility,
            places: self.places,
            net: &self.model.net,
            start: &self.model.start,
            edge: self.model.edge,
            size: self.model.size,
            struck: self.struck,
        }
    }
}
