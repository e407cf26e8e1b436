//! `[render]`: what pictures show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
        /// Size of each face at rest, the side of a triangle with equal sides and its area: levels of detail.
        Size,
        /// What refinement did to each face: red split, green split and put back, grey neither (B14-16).
        Marks,
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
