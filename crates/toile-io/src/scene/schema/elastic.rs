//! `[[elastic]]`: what is drawn to what, how quickly, and when.

use super::{Interpolation, KeyFile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Particles drawn to others, or to a place, smoothly and whatever they weigh (V97-14). Exactly one of `to` and `place` says
/// where to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElasticFile {
    /// Name of the cloth. Default: the only cloth of the scene.
    pub cloth: Option<String>,
    /// Numbers of the particles that are drawn, counted from 0, in the order of the mesh.
    pub indices: Vec<u32>,
    /// The particles they are drawn to, one for each. Both ends move.
    pub to: Option<EndFile>,
    /// The place that all of them are drawn to [units].
    pub place: Option<[f64; 3]>,
    /// Time constant [s]: what starts at rest is within a hundredth of its way after 6.6 of them, and never beyond. Default 0.1.
    #[serde(default = "tenth")]
    pub time: f64,
    /// First frame in which it pulls. Default: from the start.
    pub from: Option<u32>,
    /// Last frame in which it pulls. Default: to the end.
    pub until: Option<u32>,
    /// Keys of the place's motion, in order of frame. Default: no motion.
    #[serde(default)]
    pub motion: Vec<KeyFile>,
    /// Motion between keys. Default "linear".
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Centre of the keys' rotation and scale [units]. Default: the place.
    pub pivot: Option<[f64; 3]>,
}

fn tenth() -> f64 {
    0.1
}

/// The other end of an elastic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndFile {
    /// Name of the cloth. Default: the only cloth of the scene.
    pub cloth: Option<String>,
    /// Particle numbers, counted from 0: as many as are drawn, in the same order.
    pub indices: Vec<u32>,
}
