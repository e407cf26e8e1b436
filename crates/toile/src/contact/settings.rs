//! How cloth meets itself and bodies: what a scene can say about it.

use crate::solve::named_choices;

named_choices! {
    /// What pushes surfaces apart.
    Response {
        /// Quadratic gauges inside the solve: stiff, unilateral, with friction that holds. The default.
        Gauge = "gauge",
        /// V00's constraint-based response: the force that brings a contact to its distance in two steps, with its
        /// derivatives in the solve (V00-18, V00-19).
        Constraint = "constraint",
        /// V97's immediate correction of position and velocity, and of forces (V97-11 A and B).
        Correction = "correction",
        /// B14's projection onto bodies (B14-11); cloth does not meet cloth.
        Projection = "projection",
        /// Springs of a given stiffness, which V00 rejects (V00-22).
        Penalty = "penalty",
        /// Nothing: only the guarantee, if it is on.
        None = "none",
    }
}

/// How cloth meets itself, other cloth and bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactSettings {
    /// Whether cloth meets cloth, itself included.
    pub cloth: bool,
    /// Whether cloth meets bodies.
    pub bodies: bool,
    /// What pushes surfaces apart.
    pub response: Response,
    /// Whether every accepted step is free of intersections, whatever the response did.
    pub guarantee: bool,
    /// Distance [m] that surfaces keep; pairs of fabrics thicker than this on average keep their mean thickness.
    pub gap: f64,
    /// Stiffness of [`Response::Gauge`], as a multiple of (mass that meets)/h².
    pub stiffness: f64,
    /// Stiffness of [`Response::Penalty`] [N/m].
    pub penalty: f64,
    /// How much of its speed [`Response::Constraint`] takes from a contact: 1.5 as V00 has it, or 1.
    pub gain: f64,
    /// Features that are compared: all, or vertices with faces only, as systems did before M03.
    pub vertices_only: bool,
    /// Most passes of the guarantee in a substep.
    pub passes: u32,
    /// Friction where no pair says otherwise.
    pub friction: [Friction; 2],
    /// Friction between two objects, counted cloths first, then bodies; where two are named twice, the first counts.
    pub pairs: Vec<([usize; 2], Friction)>,
}

/// Coulomb's law between two materials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction {
    /// Largest tangential force that holds, over the normal force [-].
    pub still: f64,
    /// Tangential force while sliding, over the normal force [-].
    pub sliding: f64,
}

impl Friction {
    /// The same coefficient at rest and sliding.
    pub const fn of(coefficient: f64) -> Friction {
        Friction { still: coefficient, sliding: coefficient }
    }

    /// No friction.
    pub const NONE: Friction = Friction::of(0.0);
}

impl Default for ContactSettings {
    fn default() -> Self {
        ContactSettings {
            cloth: true,
            bodies: true,
            response: Response::Gauge,
            guarantee: true,
            gap: 1e-3,
            stiffness: 30.0,
            penalty: 1e3,
            gain: 1.5,
            vertices_only: false,
            passes: 8,
            // G-6: nominal, no source.
            friction: [Friction::of(0.2), Friction::of(0.3)],
            pairs: Vec::new(),
        }
    }
}

impl ContactSettings {
    /// No contact at all: cloth passes through everything.
    pub fn off() -> ContactSettings {
        ContactSettings { cloth: false, bodies: false, ..ContactSettings::default() }
    }

    /// Whether anything can meet.
    pub fn is_off(&self) -> bool {
        !(self.cloth || self.bodies)
    }

    /// Friction between objects `a` and `b`, counted cloths first; `body` if one of them is one.
    pub fn friction(&self, a: usize, b: usize, body: bool) -> Friction {
        let named = self.pairs.iter().find(|(pair, _)| *pair == [a, b] || *pair == [b, a]);
        named.map_or(self.friction[usize::from(body)], |(_, friction)| *friction)
    }
}
