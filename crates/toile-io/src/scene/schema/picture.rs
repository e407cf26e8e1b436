//! `[[body]]` and `[render]`: what is shown around and of the cloth.

use super::unit;
use crate::axes::{Units, Up};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A body around the cloth: a `shape`, or a mesh `file`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BodyFile {
    /// Name, unique in the scene. Default: "body", then "body2", …
    pub name: Option<String>,
    /// A generated shape. Give this or `file`.
    pub shape: Option<BodyShape>,
    /// OBJ mesh, relative to the scene's folder. Give this or `shape`.
    pub file: Option<String>,
    /// Unit of the mesh file's lengths. Default: the scene's `units`.
    pub file_units: Option<Units>,
    /// Up axis of the mesh file. Default: the scene's `up`.
    pub file_up: Option<Up>,
    /// Position added after scale and rotation [units]. Default [0, 0, 0].
    #[serde(default)]
    pub translate: [f64; 3],
    /// Rotation [degrees] about the fixed x axis, then y, then z, in the file's axes. Default [0, 0, 0].
    #[serde(default)]
    pub rotate: [f64; 3],
    /// Uniform size factor, applied first [-]. Default 1.
    #[serde(default = "unit")]
    pub scale: f64,
    /// How far the triangles of a generated shape may be from the shape itself [units]. Default: 1 mm. A "sphere" says it
    /// by its subdivisions; planes and boxes are exact.
    pub tolerance: Option<f64>,
}

/// A generated body, centred on the origin, its axis up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum BodyShape {
    /// A ball.
    Sphere {
        /// Radius [units].
        radius: f64,
        /// Subdivisions of an icosahedron: 20·4ⁿ faces. Default 4.
        #[serde(default = "four")]
        subdivisions: u32,
    },
    /// A horizontal rectangle facing up.
    Plane {
        /// Extents along x and away from the viewer [units].
        size: [f64; 2],
    },
    /// A box.
    Box {
        /// Extents along the file's axes [units].
        size: [f64; 3],
    },
    /// All within a radius of a vertical segment: a cylinder with round ends.
    Capsule {
        /// Radius [units].
        radius: f64,
        /// Length of the segment [units].
        height: f64,
    },
    /// An upright cylinder.
    Cylinder {
        /// Radius [units].
        radius: f64,
        /// Height [units].
        height: f64,
    },
    /// An upright cone, or part of one.
    Cone {
        /// Radius of the lower end [units].
        radius: f64,
        /// Radius of the upper end [units]. Default 0.
        #[serde(default)]
        top: f64,
        /// Height [units].
        height: f64,
    },
    /// A lying ring.
    Torus {
        /// Radius of the ring [units].
        radius: f64,
        /// Radius of the tube [units].
        tube: f64,
    },
    /// Balls that melt into each other (V00-21): the body is where Σ weight (1 − r²/radius²)² is above the threshold.
    Metaballs {
        /// The balls.
        balls: Vec<Metaball>,
        /// Threshold [-]. Default 0.3.
        #[serde(default = "threshold")]
        threshold: f64,
    },
}

/// One of the balls of "metaballs".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metaball {
    /// Centre [units].
    pub centre: [f64; 3],
    /// Distance at which its influence ends [units].
    pub radius: f64,
    /// Influence at its centre [-]. Default 1.
    #[serde(default = "unit")]
    pub weight: f64,
}

fn threshold() -> f64 {
    0.3
}

fn four() -> u32 {
    4
}

/// Pictures and animations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RenderFile {
    /// Width and height [pixels]. Default [960, 720].
    pub size: [u32; 2],
    /// What colours show. Default "material".
    pub colour: Colour,
    /// How the cloth looks.
    pub look: Look,
    /// Where the picture is taken from. Default: the whole scene from the front, slightly above.
    pub camera: CameraFile,
    /// A ground: true (just below the scene), false, or its height [units]. Default true.
    pub ground: Ground,
    /// The animation shows every n-th frame. Default 1.
    pub every: u32,
    /// Draw cloth as curved triangles (K02-11), each split into n² flat ones: 1 (off) to 8. Default 1. For display only: what is
    /// simulated, stored and certified is the mesh as it is.
    pub smooth: u32,
}

impl Default for RenderFile {
    fn default() -> Self {
        Self {
            size: [960, 720],
            colour: Colour::default(),
            look: Look::default(),
            camera: CameraFile::default(),
            ground: Ground::Shown(true),
            every: 1,
            smooth: 1,
        }
    }
}

choice! {
    /// What colours show.
    Colour {
        /// The cloth's own look.
        #[default]
        Material,
        /// Largest principal strain of each face: red stretched, white at rest, blue shortened in every direction.
        Strain,
        /// Speed: distance to the frame before (on the first frame: after) over the time between.
        Speed,
    }
}

/// How cloth looks in pictures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Look {
    /// Colour of the front, "#rrggbb". Default "#c8553d".
    pub front: String,
    /// Colour of the back, "#rrggbb". Default "#e8c4a0".
    pub back: String,
    /// Pattern printed along warp and weft. Default "weave".
    pub pattern: Print,
    /// Size of one repeat of the pattern [m], always in metres. Default 0.1, for a weave 0.005.
    pub repeat: Option<f64>,
}

impl Default for Look {
    fn default() -> Self {
        Self { front: "#c8553d".into(), back: "#e8c4a0".into(), pattern: Print::default(), repeat: None }
    }
}

choice! {
    /// Pattern printed on cloth in pictures.
    Print {
        /// Fine threads along warp and weft.
        #[default]
        Weave,
        /// A chessboard.
        Checker,
        /// Stripes along warp.
        Stripes,
        /// One colour.
        Plain,
    }
}

/// Where a picture is taken from: `eye` and `target`, or `yaw` and `pitch` around the whole scene.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CameraFile {
    /// Position of the camera [units]. Needs `target`.
    pub eye: Option<[f64; 3]>,
    /// The point looked at [units]. Needs `eye`.
    pub target: Option<[f64; 3]>,
    /// Vertical opening angle [degrees]. Default 35.
    pub fov: Option<f64>,
    /// Direction around the up axis [degrees]: 0 is the front, positive to the right. Default 30.
    pub yaw: Option<f64>,
    /// Height of the view above the horizon [degrees]. Default 15.
    pub pitch: Option<f64>,
}

/// true, false, or a height.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Ground {
    /// Whether a ground is shown, just below the lowest point of the scene.
    Shown(bool),
    /// Height along the up axis [units].
    Height(f64),
}
