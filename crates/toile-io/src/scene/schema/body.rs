//! `[[body]]`: what stands and moves around the cloth.

use super::{Interpolation, KeyFile, unit};
use crate::axes::{Units, Up};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A body that cloth meets: a `shape`, a mesh `file`, or an animated mesh. It may move by `motion` besides. Bodies have no
/// thickness: cloth keeps the gap of `[contact]` from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BodyFile {
    /// Name, unique in the scene. Default: "body", then "body2", …
    pub name: Option<String>,
    /// A generated shape. Give this or `file`.
    pub shape: Option<BodyShape>,
    /// OBJ mesh, relative to the scene's folder, or a numbered sequence of them with the same vertices and faces:
    /// "walk_####.obj". Give this or `shape`.
    pub file: Option<String>,
    /// PC2 cache of how the vertices of `file` move, relative to the scene's folder, in the unit and axes of `file`.
    pub cache: Option<String>,
    /// Frames per second of a sequence or cache [1/s]. Between its frames the mesh moves straight. Default: the scene's.
    pub fps: Option<f64>,
    /// Frame of the scene at which a sequence or cache starts; before it and after its end the mesh stands still.
    /// Default: the first.
    pub start: Option<f64>,
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
    /// by its subdivisions, a "cylinder" may by its segments; planes, boxes and hulls are exact.
    pub tolerance: Option<f64>,
    /// Keys of the motion, in order of frame, after the body is placed. Before the first key and after the last the pose is
    /// kept. Bodies keep their size: keys have no scale. Default: no motion.
    #[serde(default)]
    pub motion: Vec<KeyFile>,
    /// Motion between keys. Default "linear".
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Centre of the keys' rotation [units]. Default: the body's own origin, which is its `translate`.
    pub pivot: Option<[f64; 3]>,
    /// Whether cloth meets it; without, it is only shown. Default true.
    #[serde(default = "yes")]
    pub collide: bool,
    /// Whether a mesh has an inside that cloth is kept out of; without, it pushes away from both of its sides. Default: true
    /// for a mesh without borders. Generated shapes know.
    pub solid: Option<bool>,
    /// Friction of every cloth on this body. Default: `contact.body_friction`.
    pub friction: Option<FrictionFile>,
}

fn yes() -> bool {
    true
}

/// Friction [-]: one number, or `{ still = 0.4, sliding = 0.3 }`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FrictionFile {
    /// The same at rest and sliding.
    One(f64),
    /// Each.
    Each(FrictionTable),
}

/// Coulomb's law between two materials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrictionTable {
    /// Largest tangential force that holds, over the normal force [-].
    pub still: f64,
    /// Tangential force while sliding, over the normal force [-]; at most `still`.
    pub sliding: f64,
}

impl FrictionFile {
    /// What the engine takes.
    pub fn values(self) -> toile::Friction {
        match self {
            FrictionFile::One(x) => toile::Friction::of(x),
            FrictionFile::Each(FrictionTable { still, sliding }) => toile::Friction { still, sliding },
        }
    }
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
    /// An upright cylinder; a short one is a disc or a round table.
    Cylinder {
        /// Radius [units].
        radius: f64,
        /// Height [units].
        height: f64,
        /// Sides of the mesh around. Default: as many as `tolerance` asks for.
        segments: Option<u32>,
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
    /// An open bowl, its lowest point at the origin: height = curvature × (distance from the axis)². Cloth is kept on the
    /// side it starts on.
    Bowl {
        /// How it rises [1/units].
        curvature: f64,
        /// Radius of the rim [units].
        radius: f64,
    },
    /// A profile turned round the axis: a funnel, a vase, a bell. One that goes from axis to axis, or ends where it begins, is
    /// solid; any other is a surface that cloth is kept on its side of.
    Lathe {
        /// Points of the profile, in order: distance from the axis and height [units].
        profile: Vec<[f64; 2]>,
    },
    /// The convex hull of points.
    Hull {
        /// The points, at least four, not in one plane [units].
        points: Vec<[f64; 3]>,
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
