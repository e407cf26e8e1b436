//! `[[pin]]`: what is held, how, when, and along which motion.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Particles held or moved; where pins overlap, the later one holds. Exactly one of `border`, `corners`, `group`, `indices`, `box`, `sphere`, `all` says which.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinFile {
    /// Name of the cloth. Default: the only cloth of the scene.
    pub cloth: Option<String>,
    /// A border of a generated shape.
    pub border: Option<Border>,
    /// Corners of a generated sheet or strip.
    pub corners: Option<Vec<Corner>>,
    /// Every particle of a named group (g or o) of the mesh file.
    pub group: Option<String>,
    /// Particle numbers, counted from 0, in the order of the mesh.
    pub indices: Option<Vec<u32>>,
    /// Particles that start inside a box, given by two opposite corners [units].
    #[serde(rename = "box")]
    pub inside_box: Option<[[f64; 3]; 2]>,
    /// Particles that start inside a sphere.
    pub sphere: Option<Ball>,
    /// true: every particle of the cloth.
    pub all: Option<bool>,
    /// "hard" holds exactly, "soft" pulls by a spring of `stiffness`. Default "hard".
    #[serde(default)]
    pub kind: PinKind,
    /// Stiffness of each particle's spring, for soft pins [N/m].
    pub stiffness: Option<f64>,
    /// Damping of each particle's spring, for soft pins [N·s/m]. Default 0.
    pub damping: Option<f64>,
    /// How a held particle may still move. Default "fixed".
    #[serde(default)]
    pub freedom: Freedom,
    /// The line, or the normal of the plane, that a sliding pin may move along; any length. Needed by "line" and "plane".
    pub direction: Option<[f64; 3]>,
    /// true: holds the slope too. Border edges held by both ends leave the pin in the direction in which they
    /// start, turned by its motion; with freedom = "plane", along the plane's normal, which makes a plane of
    /// symmetry. For pins that hold from the start to the end, with bending = "recon". Default false.
    #[serde(default)]
    pub clamp: bool,
    /// First frame that is held. Default: from the start.
    pub from: Option<u32>,
    /// Last frame that is held; the particles are released after it. Default: to the end.
    pub until: Option<u32>,
    /// Keys of the motion, in order of frame. Before the first key and after the last the pose is kept. Default: no motion.
    #[serde(default)]
    pub motion: Vec<KeyFile>,
    /// Motion between keys. Default "linear".
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Centre of the keys' rotation and scale [units]. Default: the mean of the pinned particles at the start.
    pub pivot: Option<[f64; 3]>,
}

choice! {
    /// A border of a generated shape.
    Border {
        /// Lowest u.
        #[default]
        Left,
        /// Highest u.
        Right,
        /// Lowest v; the lower end of a tube.
        Bottom,
        /// Highest v; the upper end of a tube.
        Top,
        /// Every border particle; also for mesh files and discs.
        All,
    }
}

choice! {
    /// A corner of a sheet or strip.
    Corner {
        /// Lowest u, highest v.
        #[default]
        TopLeft,
        /// Highest u, highest v.
        TopRight,
        /// Lowest u, lowest v.
        BottomLeft,
        /// Highest u, lowest v.
        BottomRight,
    }
}

choice! {
    /// How a pin holds.
    PinKind {
        /// Exactly: the particles have no freedom left but the pin's.
        #[default]
        Hard,
        /// By a spring per particle.
        Soft,
    }
}

choice! {
    /// How a held particle may still move.
    Freedom {
        /// Not at all.
        #[default]
        Fixed,
        /// Along the line of `direction`.
        Line,
        /// In the plane whose normal is `direction`.
        Plane,
    }
}

choice! {
    /// Motion between two keys.
    Interpolation {
        /// At constant rate.
        #[default]
        Linear,
        /// Starting and ending at rest (3t² − 2t³).
        Smooth,
    }
}

/// A ball of space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ball {
    /// Centre [units].
    pub centre: [f64; 3],
    /// Radius [units].
    pub radius: f64,
}

/// The pose of a pin or body at one frame, relative to the start. Scale first, then rotation, both about the pivot, then translation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyFile {
    /// Frame of the key; parts of a frame are allowed.
    pub frame: f64,
    /// Translation [units]. Default [0, 0, 0].
    #[serde(default)]
    pub translate: [f64; 3],
    /// Rotation [degrees] about x, then y, then z. Angles are interpolated as numbers: 3600 is ten turns. Default [0, 0, 0].
    #[serde(default)]
    pub rotate: [f64; 3],
    /// Scale along the file's axes [-]: one number or three. Default 1.
    #[serde(default)]
    pub scale: Scale,
}

/// One factor, or one per axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Scale {
    /// The same factor along every axis.
    One(f64),
    /// Factors along x, y and z of the file.
    Three([f64; 3]),
}

impl Default for Scale {
    fn default() -> Self {
        Scale::One(1.0)
    }
}

impl Scale {
    /// Factors along x, y and z.
    pub fn values(&self) -> [f64; 3] {
        match self {
            Scale::One(x) => [*x; 3],
            Scale::Three(v) => *v,
        }
    }
}
