//! What integrators see of an island.

use super::correct::Net;
use crate::freedom::Mobility;
use crate::interaction::{ForceModel, Memory};
use crate::math::{DMat3, DVec3};

/// What is moved, and by what.
#[derive(Clone, Copy)]
pub struct Bodies<'a> {
    /// Mass of each particle [kg].
    pub mass: &'a [f64],
    /// Forces between particles and with the air.
    pub forces: &'a [Box<dyn ForceModel>],
    /// What each family of forces remembers; empty if none does.
    pub memory: &'a [Vec<Memory>],
    /// Gravity [m/s²].
    pub gravity: DVec3,
    /// Inverse masses, with what pins allow.
    pub mobility: &'a Mobility,
    /// Where led particles must be.
    pub places: &'a [Place],
    /// Edges that corrections act on.
    pub net: &'a Net,
    /// Where the particles started [m]: how the direct solver orders them.
    pub start: &'a [DVec3],
    /// Mean edge at rest [m].
    pub edge: f64,
    /// Size at rest, the square root of the area [m].
    pub size: f64,
    /// Particles, ascending, that something may push in the coming step at one blow: schemes that look back take them
    /// by implicit Euler. Nothing where nothing can meet.
    pub struck: Option<&'a [u32]>,
}

impl<'a> Bodies<'a> {
    /// Each family of forces with what it remembers.
    pub fn families(&self) -> impl Iterator<Item = (&'a dyn ForceModel, &'a [Memory])> + use<'a> {
        families(self.forces, self.memory)
    }
}

/// Each of `forces` with its part of `memory`, which is empty if nothing is remembered.
pub fn families<'a>(
    forces: &'a [Box<dyn ForceModel>],
    memory: &'a [Vec<Memory>],
) -> impl Iterator<Item = (&'a dyn ForceModel, &'a [Memory])> {
    let of = |k: usize| memory.get(k).map_or(&[][..], |memory| &memory[..]);
    forces.iter().enumerate().map(move |(k, force)| (force.as_ref(), of(k)))
}

/// Where a led particle must be.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Which particle.
    pub particle: u32,
    /// Projector on the directions in which it is led.
    pub blocked: DMat3,
    /// Where [m].
    pub at: DVec3,
}

impl Place {
    /// How far a particle at `x` is from its place, along the directions in which it is led.
    pub fn away(&self, x: DVec3) -> DVec3 {
        self.blocked * (self.at - x)
    }

    /// `x` with the led directions exactly in place.
    pub fn settle(&self, x: DVec3) -> DVec3 {
        if self.blocked == DMat3::IDENTITY { self.at } else { x + self.away(x) }
    }
}

/// The course of the outside world through a substep: pins, air and moving targets, at any instant of it.
pub trait Course {
    /// Brings them to `time` [s], as the end of a step of `dt` [s].
    fn go_to(&mut self, time: f64, dt: f64);

    /// The island at the instant last gone to.
    fn bodies(&self) -> Bodies<'_>;
}
