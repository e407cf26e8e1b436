//! `[[thing]]`: what falls on cloth and is moved by it.

use super::unit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A solid that cloth and things meet and move: a stone, a box, a ball. Bodies go where they are told; things go where they are pushed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThingFile {
    /// Name, unique in the scene; copies are called "name 1", "name 2", … Default: "thing", then "thing2", …
    pub name: Option<String>,
    /// Its shape, centred on the origin.
    pub shape: ThingShape,
    /// Mass of each [kg].
    pub mass: f64,
    /// How it holds together. Default "rigid".
    #[serde(default)]
    pub hold: HoldTogether,
    /// Stiffness of the springs of hold = "springs" [N/m]. Default 2000.
    #[serde(default = "firm")]
    pub stiffness: f64,
    /// Viscosity of these springs, as a time constant [s]. Default 0.004.
    #[serde(default = "dull")]
    pub damping: f64,
    /// Position added after scale and rotation [units]. Default [0, 0, 0].
    #[serde(default)]
    pub translate: [f64; 3],
    /// Rotation [degrees] about the fixed x axis, then y, then z, in the file's axes. Default [0, 0, 0].
    #[serde(default)]
    pub rotate: [f64; 3],
    /// Uniform size factor, applied first [-]. Default 1.
    #[serde(default = "unit")]
    pub scale: f64,
    /// Starting velocity [m/s]. Default [0, 0, 0].
    #[serde(default)]
    pub velocity: [f64; 3],
    /// More of the same, in rows.
    pub copies: Option<Copies>,
}

/// Rows of the same thing, centred on where one would be but for the first one's height.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Copies {
    /// How many in all; rows are filled along the first axis, then the second, then up.
    pub count: u32,
    /// How many along the two level axes before the next layer begins.
    pub row: [u32; 2],
    /// From one to the next along the two level axes, and from layer to layer [units].
    pub pitch: [f64; 3],
    /// How far each is moved sideways at random, at most [units]. Default 0.
    #[serde(default)]
    pub jitter: f64,
    /// How far each is turned about the vertical at random, at most, and a third of that about a level axis [degrees]. Default 0.
    #[serde(default)]
    pub turn: f64,
}

/// The shape of a thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ThingShape {
    /// A box of eight vertices.
    Box {
        /// Its sides along x, y and z of the file's axes [units].
        size: [f64; 3],
    },
    /// A ball.
    Ball {
        /// Radius [units].
        radius: f64,
        /// How often an icosahedron is refined: 1 gives 80 triangles, 2 gives 320. Default 2.
        #[serde(default = "two")]
        subdivisions: u32,
    },
}

choice! {
    /// How a thing holds together.
    HoldTogether {
        /// It keeps its shape to the last digit.
        #[default]
        Rigid,
        /// Springs along edges, face and space diagonals (V00-25): it gives a little.
        Springs,
    }
}

fn firm() -> f64 {
    2000.0
}

fn dull() -> f64 {
    4e-3
}

fn two() -> u32 {
    2
}
