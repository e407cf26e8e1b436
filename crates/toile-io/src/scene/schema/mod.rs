//! The scene file as it is written: one struct per table, one doc comment per field.
//!
//! These comments are the user's reference: they become the descriptions of the JSON schema that
//! editors read, so each says the unit in brackets and the default. Lengths are in the file's
//! `units` and vectors in its axes; every other quantity is SI. [`crate::scene::Scene`] is the same
//! content checked, defaulted and converted to metres, Y up.

/// Defines a choice written as text in the scene file.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$vdoc])* $variant),+ }
    };
}

mod body;
mod cloth;
mod contact;
mod detect;
mod edit;
mod elastic;
mod fabric;
mod picture;
mod pin;
mod solver;
mod thing;

pub use body::*;
pub use cloth::*;
pub use contact::*;
pub use detect::*;
pub use edit::*;
pub use elastic::*;
pub use fabric::*;
pub use picture::*;
pub use pin::*;
pub use solver::*;
pub use thing::*;

use crate::axes::{Units, Up};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A toile scene: what is simulated, shown and written. Lengths are in `units`, vectors in the
/// file's own axes, every other quantity in SI units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneFile {
    /// Version of the scene format: 1.
    pub toile: u32,
    /// Name used in messages and output folders. Default: the name of the scene's folder or file.
    pub name: Option<String>,
    /// Unit of every length in this file: "m", "cm", "mm" or "inch". Required: guessing it is the
    /// most common way to be wrong by a factor of 100.
    pub units: Units,
    /// The axis that points up in this file and in its vectors: "y" or "z". Required.
    pub up: Up,
    /// Frames to simulate, both included: "1-250", "1001-1100", or a number of frames counted from 1.
    /// The first frame is the starting state. Default "1-250".
    #[serde(default)]
    pub frames: Frames,
    /// Frames per second [1/s]. Default 60. Give this or `frame_time`.
    pub fps: Option<f64>,
    /// Duration of one frame [s], for scenes defined by their step. Give this or `fps`.
    pub frame_time: Option<f64>,
    /// Acceleration of gravity [m/s²]: a number pulls down, a list of 3 is a vector in the file's axes. Default 9.81.
    #[serde(default)]
    pub gravity: Gravity,
    /// Seed of every random choice (irregular meshes, gusts). The same seed gives the same bits. Default 1.
    #[serde(default = "one")]
    pub seed: u64,
    /// How time is stepped and the equations are solved.
    #[serde(default)]
    pub solver: Solver,
    /// Pieces of cloth, at least one.
    #[serde(default)]
    pub cloth: Vec<ClothFile>,
    /// Particles held or moved by the scene.
    #[serde(default)]
    pub pin: Vec<PinFile>,
    /// What draws particles to others or to a place.
    #[serde(default)]
    pub elastic: Vec<ElasticFile>,
    /// What is done to cloths while they move, in this order where frames are the same.
    #[serde(default)]
    pub edit: Vec<EditFile>,
    /// Moving air. Default: none.
    pub wind: Option<WindFile>,
    /// Resistance of the air.
    #[serde(default)]
    pub air: Air,
    /// Bodies that cloth meets; pictures and `toile check` know them too.
    #[serde(default)]
    pub body: Vec<BodyFile>,
    /// Solids that fall on cloth and are moved by what they meet.
    #[serde(default)]
    pub thing: Vec<ThingFile>,
    /// How cloth meets itself, other cloth and bodies; false switches it off. Default: on.
    #[serde(default)]
    pub contact: ContactChoice,
    /// How `toile contacts` finds pairs that are close.
    #[serde(default)]
    pub detect: Detect,
    /// Pictures and animations.
    #[serde(default)]
    pub render: RenderFile,
    /// What a run writes.
    #[serde(default)]
    pub output: Output,
}

fn one() -> u64 {
    1
}

fn unit() -> f64 {
    1.0
}

/// A number of frames counted from 1, or "first-last" with both included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Frames {
    /// A number of frames: 250 means 1-250.
    Count(u32),
    /// First and last frame, both included: "1001-1100".
    Range(String),
}

impl Default for Frames {
    fn default() -> Self {
        Frames::Range("1-250".into())
    }
}

/// A number pulling down along the up axis, or a vector in the file's axes [m/s²].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Gravity {
    /// Strength [m/s²], downwards along the file's up axis.
    Down(f64),
    /// Acceleration [m/s²] in the file's axes.
    Vector([f64; 3]),
}

impl Default for Gravity {
    fn default() -> Self {
        Gravity::Down(9.81)
    }
}

/// Moving air. It pushes each face along its normal: force per area = (drag + ½·1.2 kg/m³·drag_coefficient·|w|) w,
/// where w is the normal part of the wind's velocity relative to the face.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindFile {
    /// Mean velocity of the air [m/s].
    pub velocity: [f64; 3],
    /// Linear normal drag [N·s/m³]. Default 1.
    #[serde(default = "unit")]
    pub drag: f64,
    /// Quadratic drag coefficient C_D [-]; a flat plate has about 1.2. Default 0.
    #[serde(default)]
    pub drag_coefficient: f64,
    /// Changes of speed and direction. Default: steady.
    pub gusts: Option<Gusts>,
}

/// Smooth random changes of the wind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gusts {
    /// Size of the velocity changes [m/s].
    pub amplitude: f64,
    /// Changes per second [Hz]. Default 0.5.
    #[serde(default = "half")]
    pub frequency: f64,
    /// Seed. Default: the scene's `seed`.
    pub seed: Option<u64>,
}

fn half() -> f64 {
    0.5
}

/// Resistance of the air to cloth that moves through it. With wind, relative to the wind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Air {
    /// Drag in every direction as a rate [1/s]: force = −drag × mass × velocity. Default 0.
    pub drag: f64,
    /// Drag along the normal of each face [N·s/m³]: force per area = −normal_drag × normal velocity. Default 0.
    pub normal_drag: f64,
}

/// What a run writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Write velocities beside positions in every frame. Default false.
    pub velocities: bool,
    /// Frames between two checkpoints from which a run can resume; 0 writes none. Default 10.
    pub checkpoint_every: u32,
}

impl Default for Output {
    fn default() -> Self {
        Self { velocities: false, checkpoint_every: 10 }
    }
}
