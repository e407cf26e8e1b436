//! `[[edit]]`: what is done to a cloth while it moves, and when.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A change of a cloth while it moves: exactly one of `cut`, `remove`, `resize`, `seam`, `fill`. Points are [u, v] in the cloth's pattern,
/// however it hangs: on generated shapes u runs along the width and v along the height from the lower left corner, on mesh files with rest =
/// "uv" they are its texture coordinates. Lengths are in `units`. An edit after which something would intersect waits for the next frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditFile {
    /// The first frame that shows it.
    pub frame: u32,
    /// Name of the cloth. Default: the only cloth of the scene.
    pub cloth: Option<String>,
    /// Cuts along a line from point to point [units], through triangles. Ends inside the cloth leave a slit; ends less than an edge
    /// beyond the border are taken as on it; a line that ends where it began cuts a piece out.
    pub cut: Option<Vec<[f64; 2]>>,
    /// Takes away the triangles whose middles are in a region.
    pub remove: Option<RegionFile>,
    /// Makes cloth larger or smaller round a point, as a brush does.
    pub resize: Option<ResizeFile>,
    /// Draws two borders together, and makes them one when they have met.
    pub seam: Option<SeamFile>,
    /// Fills the hole whose border comes nearest to this point [units].
    pub fill: Option<[f64; 2]>,
}

/// A region of a pattern: exactly one of `circle` and `polygon`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegionFile {
    /// A circle.
    pub circle: Option<CircleFile>,
    /// Corners of a polygon [units], at least three.
    pub polygon: Option<Vec<[f64; 2]>>,
}

/// A circle in a pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CircleFile {
    /// Centre [units].
    pub centre: [f64; 2],
    /// Radius [units].
    pub radius: f64,
}

/// A brush that changes lengths at rest (G-19).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResizeFile {
    /// Its middle [units].
    pub centre: [f64; 2],
    /// Its radius along the cloth at rest [units].
    pub radius: f64,
    /// What lengths are multiplied by: 0.5 to 2.
    pub factor: f64,
    /// Part of the radius within which the factor is full; it fades to the rim. Default 0.5.
    #[serde(default = "half")]
    pub hardness: f64,
    /// What stays the same. Default "mass".
    #[serde(default)]
    pub keep: KeepFile,
}

fn half() -> f64 {
    0.5
}

choice! {
    /// What stays the same when cloth is made larger or smaller.
    KeepFile {
        /// The mass: it gets thinner or thicker.
        #[default]
        Mass,
        /// The mass per area: it gets heavier or lighter.
        Density,
    }
}

/// A seam: `along` an earlier cut, or `from` one line `to` another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeamFile {
    /// The two sides of a cut along this line [units].
    pub along: Option<Vec<[f64; 2]>>,
    /// The first border, point by point [units].
    pub from: Option<Vec<[f64; 2]>>,
    /// The border that it is sewn to, in the same order [units]; it must have as many particles.
    pub to: Option<Vec<[f64; 2]>>,
    /// Time constant of the elastics that draw it together [s]. Default 0.15.
    pub time: Option<f64>,
}
