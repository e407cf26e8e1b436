//! What integrators see of an island.

use super::correct::Net;
use crate::freedom::Mobility;
use crate::interaction::ForceModel;
use crate::math::{DMat3, DVec3};

/// What is moved, and by what.
#[derive(Clone, Copy)]
pub struct Bodies<'a> {
    /// Mass of each particle [kg].
    pub mass: &'a [f64],
    /// Forces between particles and with the air.
    pub forces: &'a [Box<dyn ForceModel>],
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
