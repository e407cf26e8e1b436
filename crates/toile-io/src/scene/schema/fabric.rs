//! `fabric = …`: measured properties, as scenes and fabric files write them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toile::{Bend, Curve, Yield};

/// The fabric of a cloth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FabricChoice {
    /// A preset, or a fabric file.
    Named(String),
    /// Quantities, on top of a preset if it names one.
    Table(Box<Fabric>),
}

impl Default for FabricChoice {
    fn default() -> Self {
        FabricChoice::Table(Box::default())
    }
}

impl FabricChoice {
    /// The preset or file it starts from.
    pub fn preset(&self) -> Option<&str> {
        match self {
            FabricChoice::Named(name) => Some(name),
            FabricChoice::Table(table) => table.preset.as_deref(),
        }
    }

    /// Its own quantities.
    pub fn table(&self) -> Option<&Fabric> {
        match self {
            FabricChoice::Named(_) => None,
            FabricChoice::Table(table) => Some(table),
        }
    }
}

/// Measured properties of a fabric, per unit of area or width, always in SI units. `fabric = "cotton"` takes a
/// preset as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fabric {
    /// Where to start: a preset ("cotton", "linen", "silk", "wool", "denim", "jersey"; `toile fabric list`) or a fabric
    /// file relative to the scene's folder ("my.toml"). The other fields override it. Default: the values below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Mass per area [kg/m²]: 0.05 chiffon, 0.15 shirt cotton, 0.4 denim. Default 0.2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Stretch stiffness [N/m]: force per width at 100 % strain, or a curve; one for both directions or [warp, weft].
    /// Default 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stretch: Option<Pair>,
    /// Shear stiffness [N/m]: shear force per width and radian, or a curve. Default: that of the isotropic sheet,
    /// mean stretch / (2 (1 + poisson)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shear: Option<Stiffness>,
    /// Contraction along weft per stretch along warp [-]. Below sqrt(warp / weft) in size. Default 0.3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<f64>,
    /// Bending stiffness [N·m]: moment per width and curvature; cloth has 1e-6 to 1e-4. One number, [warp, weft] or
    /// [warp, weft, bias], as strips cut in those directions have it. Default 1e-5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bend: Option<BendFile>,
    /// How bending along warp bends the weft: D12 / sqrt(D11 D22) [-], between -1 and 1. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bend_poisson: Option<f64>,
    /// Internal damping as a time [s]: viscosity = damping × stiffness. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
    /// Internal damping of bending as a time [s]. Default: `damping`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bend_damping: Option<f64>,
    /// Folds that stay: the rest curvature follows where cloth is bent beyond `yield` [1/m], a radius of 1 / yield. Needs
    /// bending = "recon". Default: cloth springs back from every fold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crease: Option<YieldFile>,
    /// Lengths that stay: the rest length follows where cloth is strained beyond `yield` [-]. Needs model = "springs".
    /// Default: cloth springs back from every stretch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<YieldFile>,
    /// Friction between yarns in bending [N]: width of the loop of moment per width, 2HB of KES (0.01 gf·cm/cm is 9.8e-5).
    /// One number or [warp, weft]. Needs bending = "recon". Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bend_hysteresis: Option<ByYarn>,
    /// Curvature over which that friction builds up [1/m]. Default 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bend_onset: Option<f64>,
    /// Friction between yarns in shear [N/m]: width of the loop of shear force per width, 2HG of KES (1 gf/cm is 0.98). Needs
    /// model = "membrane". Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shear_hysteresis: Option<f64>,
    /// Shear angle over which that friction builds up [rad]. Default 0.01.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shear_onset: Option<f64>,
    /// Thickness [m], always in metres. Default 0.0004.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
    /// Friction of the fabric on itself and on fabrics that say theirs [-]: one number, or [static, kinetic]. Default: as
    /// `[contact]` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<Friction>,
}

/// Where cloth gives way: `crease = { yield = 300, hardening = 0.1 }`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct YieldFile {
    /// How far from rest [1/m for curvature, - for strain] before the rest follows.
    #[serde(rename = "yield")]
    pub limit: f64,
    /// Share of the stiffness that is left beyond [-], from 0 to below 1. Default 0.
    #[serde(default)]
    pub hardening: f64,
}

impl From<YieldFile> for Yield {
    fn from(file: YieldFile) -> Yield {
        Yield { limit: file.limit, hardening: file.hardening }
    }
}

impl From<Yield> for YieldFile {
    fn from(give: Yield) -> YieldFile {
        YieldFile { limit: give.limit, hardening: give.hardening }
    }
}

/// One number, or one along warp and one along weft.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ByYarn {
    /// The same along warp and weft.
    One(f64),
    /// [warp, weft].
    Two([f64; 2]),
}

impl ByYarn {
    /// [warp, weft].
    pub fn both(&self) -> [f64; 2] {
        match *self {
            ByYarn::One(x) => [x, x],
            ByYarn::Two(pair) => pair,
        }
    }
}

/// A stiffness along warp and weft.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Pair {
    /// The same number along warp and weft.
    One(f64),
    // Before the curve: serde would take any list for one.
    /// [warp, weft].
    Two([Stiffness; 2]),
    /// The same curve along warp and weft.
    Curve(CurveFile),
}

impl Pair {
    /// [warp, weft].
    pub fn both(&self) -> [Stiffness; 2] {
        match self {
            Pair::One(x) => [Stiffness::Number(*x), Stiffness::Number(*x)],
            Pair::Curve(curve) => [Stiffness::Curve(curve.clone()), Stiffness::Curve(curve.clone())],
            Pair::Two(pair) => pair.clone(),
        }
    }
}

/// A number [N/m], or a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Stiffness {
    /// The same at every strain [N/m].
    Number(f64),
    /// Changes with strain.
    Curve(CurveFile),
}

/// A stiffness that changes with strain: `{ initial, knee, second }` or `{ points }`. In compression it is what it is at
/// no strain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CurveFile {
    /// Stiffness up to the knee [N/m].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<f64>,
    /// Strain where the stiffness changes [-]: 0.02 is 2 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knee: Option<f64>,
    /// Stiffness beyond the knee [N/m].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<f64>,
    /// Instead: up to 12 points [strain [-], tension [N/m]], straight in between, from (0, 0).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<[f64; 2]>>,
}

impl Stiffness {
    /// The engine's curve, or what is wrong: the field it is about, what, and a fix.
    pub fn curve(&self) -> Result<Curve, (&'static str, String, String)> {
        let file = match self {
            Stiffness::Number(x) => return Ok(Curve::linear(*x)),
            Stiffness::Curve(file) => file,
        };
        match (file.initial, file.knee, file.second, &file.points) {
            (Some(initial), Some(knee), Some(second), None) => Ok(Curve::bilinear(initial, knee, second)),
            (None, None, None, Some(points)) => Curve::through(points).map_err(|error| {
                let text = error.to_string();
                let (what, fix) = text.split_once("; ").unwrap_or((&text, "see `toile schema --markdown`"));
                ("points", format!("has {what}"), fix.to_string())
            }),
            (.., Some(_)) => Err((
                "points",
                "and initial, knee or second are both given".into(),
                "keep the points, or initial, knee and second".into(),
            )),
            _ => Err((
                "",
                "is not a whole curve".into(),
                "write { initial = 500, knee = 0.02, second = 8000 } or { points = [[0.02, 10], [0.05, 250]] }".into(),
            )),
        }
    }
}

impl From<&Curve> for Stiffness {
    fn from(curve: &Curve) -> Stiffness {
        match curve.knees() {
            [] => Stiffness::Number(curve.initial()),
            [knee] => Stiffness::Curve(CurveFile {
                initial: Some(curve.initial()),
                knee: Some(knee.strain),
                second: Some(knee.modulus),
                points: None,
            }),
            knees => {
                let mut points: Vec<[f64; 2]> = Vec::new();
                let [mut strain, mut tension, mut slope] = [0.0, 0.0, curve.initial()];
                for knee in knees {
                    tension += slope * (knee.strain - strain);
                    (strain, slope) = (knee.strain, knee.modulus);
                    points.push([strain, tension]);
                }
                // One more point says how steeply it ends.
                let last = 1.5 * strain;
                points.push([last, tension + slope * (last - strain)]);
                Stiffness::Curve(CurveFile { points: Some(points), ..CurveFile::default() })
            }
        }
    }
}

/// Bending stiffness: one number, or a list by direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BendFile {
    /// The same in every direction [N·m].
    One(f64),
    /// [warp, weft] or [warp, weft, bias] [N·m].
    Each(#[schemars(length(min = 2, max = 3))] Vec<f64>),
}

impl BendFile {
    /// The engine's bending, given the coupling.
    pub fn bend(&self, poisson: f64) -> Bend {
        let bend = match self {
            BendFile::One(x) => Bend::from(*x),
            BendFile::Each(list) => match list[..] {
                [warp, weft, bias, ..] => Bend { warp, weft, bias, poisson },
                [warp, weft] => Bend::of(warp, weft),
                [x] => Bend::from(x),
                [] => Bend::from(0.0),
            },
        };
        Bend { poisson, ..bend }
    }
}

/// Friction: one number, or [static, kinetic].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Friction {
    /// Static and kinetic alike [-].
    One(f64),
    /// [static, kinetic] [-].
    Two([f64; 2]),
}

impl Friction {
    /// [static, kinetic].
    pub fn values(&self) -> [f64; 2] {
        match self {
            Friction::One(x) => [*x, *x],
            Friction::Two(pair) => *pair,
        }
    }
}

choice! {
    /// How far a quantity can be trusted.
    Status {
        /// Measured on this very fabric; the source says by whom and how.
        Measured,
        /// Chosen within the band of published measurements on fabrics of this kind.
        Estimate,
        /// A round number of the right size.
        #[default]
        Nominal,
    }
}

/// Where a quantity comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Origin {
    /// "measured", "estimate" or "nominal". Default "nominal".
    pub status: Status,
    /// Who measured it, or what the estimate follows.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// At which load, strain or curvature it holds.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub load: String,
    /// Root mean square of what the fit leaves, over the largest value [-].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
    /// Standard deviation over the mean, of repeated readings [-].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
}

/// The origin of each group of quantities.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Origins {
    /// Of `density`.
    pub density: Origin,
    /// Of `stretch` and `set`.
    pub stretch: Origin,
    /// Of `shear` and its hysteresis.
    pub shear: Origin,
    /// Of `poisson`.
    pub poisson: Origin,
    /// Of `bend`, `bend_poisson`, `crease` and the hysteresis of bending.
    pub bend: Origin,
    /// Of `damping` and `bend_damping`.
    pub damping: Origin,
    /// Of `thickness`.
    pub thickness: Origin,
    /// Of `friction`.
    pub friction: Origin,
}

impl Origins {
    /// Each group with its name.
    pub fn each(&self) -> [(&'static str, &Origin); 8] {
        [
            ("density", &self.density),
            ("thickness", &self.thickness),
            ("stretch", &self.stretch),
            ("shear", &self.shear),
            ("poisson", &self.poisson),
            ("bend", &self.bend),
            ("damping", &self.damping),
            ("friction", &self.friction),
        ]
    }
}

/// A fabric in a file of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FabricFile {
    /// Version of the format: 1.
    pub toile: u32,
    /// Name.
    pub name: String,
    /// What it is, in a line.
    #[serde(default)]
    pub about: String,
    /// Its quantities, as in a scene.
    pub fabric: Fabric,
    /// Where they come from.
    #[serde(default)]
    pub origin: Origins,
}
