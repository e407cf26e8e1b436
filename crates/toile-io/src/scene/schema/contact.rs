//! `[contact]`: how cloth meets itself, other cloth and bodies.

use super::FrictionFile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `contact = false`, or a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ContactChoice {
    /// false: cloth passes through everything; true: the defaults.
    Switch(bool),
    /// Quantities.
    Table(Box<Contact>),
}

impl Default for ContactChoice {
    fn default() -> Self {
        ContactChoice::Switch(true)
    }
}

impl ContactChoice {
    /// The table, if it is one.
    pub fn table(&self) -> Option<&Contact> {
        match self {
            ContactChoice::Switch(_) => None,
            ContactChoice::Table(table) => Some(table),
        }
    }
}

/// How cloth meets itself, other cloth and bodies. `contact = false` in place of the table switches all of it off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Contact {
    /// Whether cloth meets cloth, itself included. Default true.
    pub cloth: bool,
    /// Whether cloth meets bodies. Default true.
    pub bodies: bool,
    /// What pushes surfaces apart. Default "gauge".
    pub response: Response,
    /// Whether every accepted step is free of intersections, whatever the response did. Default true.
    pub guarantee: bool,
    /// Distance that surfaces keep [units]; pairs of fabrics thicker than this on average keep their mean thickness.
    /// Default: 1 mm.
    pub gap: Option<f64>,
    /// Stiffness of "gauge", as a multiple of (mass that meets) / (time step)² [-]. Default 30.
    pub stiffness: f64,
    /// Stiffness of "penalty" [N/m]. Default 1000.
    pub penalty: f64,
    /// How much of its speed "constraint" takes from a contact, V00's collision gain [-]: 1.5 as the paper has it, or 1.
    /// Default 1.5.
    pub gain: f64,
    /// Compare vertices with faces only, as systems did before M03: blind where edges cross. Default false.
    pub vertices_only: bool,
    /// Most passes of the guarantee in a substep. Default 8.
    pub passes: u32,
    /// Friction of cloth on cloth. Default: what the fabrics say where all that meet say it, their mean if they differ, else
    /// 0.2.
    pub friction: Option<FrictionFile>,
    /// Friction of cloth on bodies that do not say their own. Default 0.3.
    pub body_friction: Option<FrictionFile>,
    /// Friction between two objects by their names, before everything else.
    pub pair: Vec<PairFile>,
}

impl Default for Contact {
    fn default() -> Self {
        let engine = toile::ContactSettings::default();
        Contact {
            cloth: engine.cloth,
            bodies: engine.bodies,
            response: Response::default(),
            guarantee: engine.guarantee,
            gap: None,
            stiffness: engine.stiffness,
            penalty: engine.penalty,
            gain: engine.gain,
            vertices_only: engine.vertices_only,
            passes: engine.passes,
            friction: None,
            body_friction: None,
            pair: Vec::new(),
        }
    }
}

/// Friction between two objects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairFile {
    /// Names of a cloth and a cloth or body; twice the same cloth means it with itself.
    pub between: [String; 2],
    /// Their friction.
    pub friction: FrictionFile,
}

choice! {
    /// What pushes surfaces apart.
    Response {
        /// Quadratic gauges inside the solve: stiff, unilateral, with friction that holds.
        #[default]
        Gauge,
        /// V00's constraint-based response: the force that brings a contact to its distance in two steps, with its
        /// derivatives in the solve (V00-18, V00-19).
        Constraint,
        /// V97's immediate correction of position and velocity, and of forces (V97-11 A and B).
        Correction,
        /// B14's projection onto bodies (B14-11); cloth does not meet cloth.
        Projection,
        /// Springs of stiffness `penalty`, which V00 rejects (V00-22).
        Penalty,
        /// Nothing: only the guarantee, if it is on.
        None,
    }
}
