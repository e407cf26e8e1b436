//! Raw readings of a textile laboratory: what was cut, hung, pulled and weighed, in the units of its instruments.

use super::table;
use crate::atomic::read_capped;
use crate::scene::{Document, SceneError, SceneErrors, Schema, structure_check};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::LazyLock;

/// Largest file of readings [bytes].
const MAX_BYTES: u64 = 16 << 20;

static SCHEMA: LazyLock<Schema> =
    LazyLock::new(|| Schema::of::<Readings>("toile fabric readings", "the file of readings"));

/// Everything measured on one fabric. Field names end in the unit of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Readings {
    /// Version of the format: 1.
    pub toile: u32,
    /// Name of the fabric.
    pub name: String,
    /// What it is, in a line.
    #[serde(default)]
    pub about: String,
    /// The preset that stands in for what was not measured. Default: round numbers.
    pub like: Option<String>,
    /// Mass per area.
    #[serde(default)]
    pub mass: Vec<Mass>,
    /// Thickness.
    #[serde(default)]
    pub thickness: Vec<Thickness>,
    /// Strips pushed over an edge.
    #[serde(default)]
    pub cantilever: Vec<Overhang>,
    /// Strips pulled along warp or weft.
    #[serde(default)]
    pub strip: Vec<Strip>,
    /// Strips pulled along the bias.
    #[serde(default)]
    pub bias_strip: Vec<BiasStrip>,
    /// Squares sheared in a frame of four hinged bars.
    #[serde(default)]
    pub trellis: Vec<Trellis>,
    /// Slopes on which cloth slides.
    #[serde(default)]
    pub slide: Vec<Slide>,
}

/// A weighed rectangle, or weights per area from elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mass {
    /// Length [mm].
    pub length_mm: Option<f64>,
    /// Width [mm].
    pub width_mm: Option<f64>,
    /// Mass [g].
    pub mass_g: Option<f64>,
    /// Instead: mass per area [g/m²].
    pub density_g_m2: Option<f64>,
}

/// Thickness under a presser foot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Thickness {
    /// Readings [mm].
    pub thickness_mm: Vec<f64>,
    /// Pressure [kPa].
    pub pressure_kpa: Option<f64>,
}

/// Where a strip is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Along the warp.
    #[default]
    Warp,
    /// Along the weft.
    Weft,
    /// At 45°.
    Bias,
}

impl Direction {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Warp => "warp",
            Direction::Weft => "weft",
            Direction::Bias => "bias",
        }
    }
}

/// Strips pushed over a horizontal edge until the line from edge to tip has a given slope.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Overhang {
    /// "warp", "weft" or "bias".
    pub direction: Direction,
    /// Overhanging lengths [mm], one per reading.
    pub overhang_mm: Vec<f64>,
    /// Slope of the line from edge to tip [°], for all readings. Default 41.5, as the standard tester has it.
    #[serde(default)]
    pub angle_deg: Option<f64>,
}

/// A strip pulled along warp or weft.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Strip {
    /// "warp" or "weft".
    pub direction: Direction,
    /// Width [mm].
    pub width_mm: f64,
    /// Length between the jaws [mm].
    pub gauge_mm: f64,
    /// Loads [N].
    #[serde(rename = "load_N")]
    pub load: Vec<f64>,
    /// Extensions [mm] at these loads.
    pub extension_mm: Vec<f64>,
    /// How much narrower the middle got at these loads [mm], if that was measured.
    #[serde(default)]
    pub narrowing_mm: Option<Vec<f64>>,
    /// How to describe it. Default "auto".
    #[serde(default)]
    pub fit: Fit,
}

/// A strip cut and pulled at 45°.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BiasStrip {
    /// Width [mm].
    pub width_mm: f64,
    /// Length between the jaws [mm], at least twice the width.
    pub gauge_mm: f64,
    /// Loads [N].
    #[serde(rename = "load_N")]
    pub load: Vec<f64>,
    /// Extensions [mm] at these loads.
    pub extension_mm: Vec<f64>,
}

/// A square between four hinged bars, pulled along its diagonal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trellis {
    /// Length of a bar, between hinges [mm].
    pub side_mm: f64,
    /// Loads along the diagonal [N], without the weight and friction of the frame.
    #[serde(rename = "load_N")]
    pub load: Vec<f64>,
    /// How much longer the diagonal got [mm].
    pub extension_mm: Vec<f64>,
    /// How to describe it. Default "auto".
    #[serde(default)]
    pub fit: Fit,
}

/// A board tilted until cloth on cloth slides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slide {
    /// Slopes at which it starts to slide [°].
    pub start_deg: Vec<f64>,
    /// Slopes at which it keeps sliding without getting faster [°].
    #[serde(default)]
    pub keep_deg: Vec<f64>,
}

/// How a load–extension curve is described.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fit {
    /// The simplest that leaves less than 2 % of the largest load.
    #[default]
    Auto,
    /// One modulus.
    Linear,
    /// Two moduli and a knee.
    Bilinear,
    /// Straight pieces.
    Curve,
}

impl Readings {
    /// Reads a file: TOML, or a table if its name ends in `.csv`.
    pub fn load(path: &Path) -> Result<Readings, SceneErrors> {
        let shown = path.display().to_string();
        let bytes =
            read_capped(path, MAX_BYTES).map_err(|e| SceneErrors::whole(&shown, e.message, e.help))?;
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(SceneErrors::whole(&shown, "the file is not UTF-8 text", "save it as UTF-8"));
        };
        let is_table = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
        if is_table {
            let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
            Readings::from_table(&text, &shown, &name)
        } else {
            Readings::parse(&text, &shown)
        }
    }

    /// Reads TOML.
    pub fn parse(text: &str, source_name: &str) -> Result<Readings, SceneErrors> {
        let report = |errors: Vec<SceneError>| SceneErrors {
            source_name: source_name.into(),
            text: text.into(),
            errors,
        };
        let doc = Document::parse(text).map_err(report)?;
        let errors = structure_check(&doc, &SCHEMA);
        if !errors.is_empty() {
            return Err(report(errors));
        }
        let readings: Readings = toml::from_str(text).map_err(|e| {
            SceneErrors::whole(source_name, e.message(), "see docs/fabrics.md for the format")
        })?;
        let mut check = Check::default();
        if readings.toile != 1 {
            let what = format!("is {}, this program reads version 1", readings.toile);
            check.fail("toile".into(), what, "write toile = 1, or use a newer toile".into());
        }
        readings.check(&mut check);
        let errors = check.errors.into_iter();
        let errors: Vec<SceneError> =
            errors.map(|(path, what, help)| doc.error(&path, format!("{path} {what}"), help)).collect();
        if errors.is_empty() { Ok(readings) } else { Err(report(errors)) }
    }

    /// Reads a table: a header line, then one reading per line. See docs/fabrics.md.
    pub fn from_table(text: &str, source_name: &str, name: &str) -> Result<Readings, SceneErrors> {
        let report = |errors: Vec<SceneError>| SceneErrors {
            source_name: source_name.into(),
            text: text.into(),
            errors,
        };
        let (mut readings, places) = table::read(text).map_err(report)?;
        readings.name = name.to_string();
        let mut check = Check::default();
        readings.check(&mut check);
        let errors = check.errors.into_iter().map(|(path, what, help)| {
            let test = path.split('.').take(2).collect::<Vec<_>>().join(".");
            let span = places.get(&test).cloned().unwrap_or(0..0);
            SceneError { message: format!("{path} {what}"), help, span, path, from_override: None }
        });
        let errors: Vec<SceneError> = errors.collect();
        if errors.is_empty() { Ok(readings) } else { Err(report(errors)) }
    }

    fn check(&self, check: &mut Check) {
        if let Some(like) = &self.like
            && !super::preset_names().contains(&like.as_str())
        {
            let (what, help) = super::no_preset(like);
            check.fail("like".into(), format!("is \"{like}\": {what}"), help);
        }
        for (n, mass) in self.mass.iter().enumerate() {
            mass.check(&format!("mass.{n}"), check);
        }
        for (n, thickness) in self.thickness.iter().enumerate() {
            let at = format!("thickness.{n}.thickness_mm");
            check.all(&at, &thickness.thickness_mm, 0.02..=30.0, "mm", "cloth has 0.1 to 5 mm");
        }
        for (n, cantilever) in self.cantilever.iter().enumerate() {
            let at = |field: &str| format!("cantilever.{n}.{field}");
            check.all(
                &at("overhang_mm"),
                &cantilever.overhang_mm,
                3.0..=1000.0,
                "mm",
                "overhangs are 20 to 200 mm",
            );
            if let Some(angle) = cantilever.angle_deg {
                check.one(&at("angle_deg"), angle, 2.0..=85.0, "°", "the standard tester has 41.5");
            }
        }
        for (n, strip) in self.strip.iter().enumerate() {
            let path = format!("strip.{n}");
            if strip.direction == Direction::Bias {
                let help = "put it under [[bias_strip]], which gives shear".into();
                check.fail(format!("{path}.direction"), "is \"bias\"".into(), help);
            }
            check.size(&path, "width_mm", strip.width_mm);
            check.size(&path, "gauge_mm", strip.gauge_mm);
            check.pull(&path, &strip.load, &strip.extension_mm, strip.gauge_mm);
            if let Some(narrowing) = &strip.narrowing_mm {
                let at = format!("{path}.narrowing_mm");
                check.same_length(&at, narrowing.len(), strip.load.len());
                if let Some(x) = narrowing.iter().find(|x| x.abs() > 0.9 * strip.width_mm) {
                    let what = format!("has {x} mm, more than the strip is wide");
                    check.fail(at, what, "it is the loss of width, in millimetres".into());
                }
            }
        }
        for (n, strip) in self.bias_strip.iter().enumerate() {
            let path = format!("bias_strip.{n}");
            check.size(&path, "width_mm", strip.width_mm);
            check.size(&path, "gauge_mm", strip.gauge_mm);
            check.pull(&path, &strip.load, &strip.extension_mm, strip.gauge_mm);
        }
        for (n, trellis) in self.trellis.iter().enumerate() {
            let path = format!("trellis.{n}");
            check.size(&path, "side_mm", trellis.side_mm);
            // The diagonal grows from √2 to 2 sides.
            check.pull(&path, &trellis.load, &trellis.extension_mm, 0.0);
            if let Some(x) = trellis.extension_mm.iter().find(|x| **x > 0.55 * trellis.side_mm) {
                let what = format!("has {x} mm, the frame closes at {:.1} mm", 0.586 * trellis.side_mm);
                check.fail(format!("{path}.extension_mm"), what, "it is the growth of the diagonal".into());
            }
        }
        for (n, slide) in self.slide.iter().enumerate() {
            let at = |field: &str| format!("slide.{n}.{field}");
            check.all(&at("start_deg"), &slide.start_deg, 1.0..=85.0, "°", "cotton on cotton slides at 25°");
            if !slide.keep_deg.is_empty() {
                check.all(
                    &at("keep_deg"),
                    &slide.keep_deg,
                    1.0..=85.0,
                    "°",
                    "cotton on cotton keeps sliding at 20°",
                );
            }
        }
        if self.is_empty() && check.errors.is_empty() {
            let help = "add [[mass]], [[cantilever]], [[strip]], [[bias_strip]], [[trellis]], [[thickness]] or [[slide]]";
            check.fail("name".into(), format!("\"{}\" has no readings", self.name), help.into());
        }
    }

    fn is_empty(&self) -> bool {
        self.mass.is_empty()
            && self.thickness.is_empty()
            && self.cantilever.is_empty()
            && self.strip.is_empty()
            && self.bias_strip.is_empty()
            && self.trellis.is_empty()
            && self.slide.is_empty()
    }
}

impl Mass {
    /// Mass per area [kg/m²].
    pub fn density(&self) -> f64 {
        match (self.density_g_m2, self.mass_g, self.length_mm, self.width_mm) {
            (Some(x), ..) => 1e-3 * x,
            (None, Some(mass), Some(length), Some(width)) => 1e-3 * mass / (1e-6 * length * width),
            _ => f64::NAN,
        }
    }

    fn check(&self, path: &str, check: &mut Check) {
        let parts = [("length_mm", self.length_mm), ("width_mm", self.width_mm), ("mass_g", self.mass_g)];
        match self.density_g_m2 {
            Some(_) if parts.iter().any(|(_, x)| x.is_some()) => {
                let help = "keep one of the two".to_string();
                return check.fail(path.into(), "has both a weighed piece and density_g_m2".into(), help);
            }
            Some(_) => {}
            None => {
                for (field, _) in parts.iter().filter(|(_, x)| x.is_none()) {
                    let help = "give length_mm, width_mm and mass_g, or density_g_m2".to_string();
                    check.fail(path.into(), format!("does not say its {field}"), help);
                }
                for (field, x) in parts.iter().filter_map(|(field, x)| Some((field, (*x)?))) {
                    if x <= 0.0 {
                        let help = "write what was measured".to_string();
                        check.fail(format!("{path}.{field}"), format!("is {x}, it must be above 0"), help);
                    }
                }
            }
        }
        let density = 1e3 * self.density();
        if density.is_finite() && !(5.0..=5000.0).contains(&density) {
            let what = format!("gives {density:.4} g/m², cloth has 10 to 2000");
            check.fail(path.into(), what, "lengths are in millimetres, the mass in grams".into());
        }
    }
}

/// Problems by path: what, and one fix.
#[derive(Default)]
struct Check {
    errors: Vec<(String, String, String)>,
}

impl Check {
    fn fail(&mut self, path: String, what: String, help: String) {
        self.errors.push((path, what, help));
    }

    fn one(&mut self, path: &str, x: f64, range: std::ops::RangeInclusive<f64>, unit: &str, help: &str) {
        if range.contains(&x) {
            return;
        }
        let thousand = if x > 0.0 && range.contains(&(1000.0 * x)) && unit == "mm" {
            format!("; is it in metres? Then write {}", 1000.0 * x)
        } else {
            String::new()
        };
        let what = format!("is {x} {unit}, it must lie between {} and {}", range.start(), range.end());
        self.fail(path.into(), what, format!("{help}{thousand}"));
    }

    fn all(
        &mut self,
        path: &str,
        list: &[f64],
        range: std::ops::RangeInclusive<f64>,
        unit: &str,
        help: &str,
    ) {
        if list.is_empty() {
            self.fail(path.into(), "has no readings".into(), "give at least one, or remove the test".into());
        }
        for (n, x) in list.iter().enumerate() {
            self.one(&format!("{path}.{n}"), *x, range.clone(), unit, help);
        }
    }

    fn size(&mut self, path: &str, field: &str, x: f64) {
        self.one(
            &format!("{path}.{field}"),
            x,
            5.0..=2000.0,
            "mm",
            "strips are 25 to 100 mm wide, 50 to 300 mm long",
        );
    }

    fn same_length(&mut self, path: &str, count: usize, loads: usize) {
        if count != loads {
            let what = format!("has {count} values, there are {loads} loads");
            self.fail(path.into(), what, "give one for each load".into());
        }
    }

    /// Loads and extensions of a strip of some gauge length [mm], or of none in particular.
    fn pull(&mut self, path: &str, load: &[f64], extension: &[f64], gauge: f64) {
        self.same_length(&format!("{path}.extension_mm"), extension.len(), load.len());
        let mut moved = 0;
        for (n, (f, x)) in load.iter().zip(extension).enumerate() {
            if *f < 0.0 {
                let help = "count loads from the slack strip".to_string();
                self.fail(format!("{path}.load_N.{n}"), format!("is {f} N, it cannot be negative"), help);
            }
            if *x < 0.0 {
                let help = "count extensions from the slack strip".to_string();
                self.fail(
                    format!("{path}.extension_mm.{n}"),
                    format!("is {x} mm, it cannot be negative"),
                    help,
                );
            }
            if gauge > 0.0 && *x > 3.0 * gauge {
                let help = "extensions are in millimetres, not per cent".to_string();
                self.fail(
                    format!("{path}.extension_mm.{n}"),
                    format!("is {x} mm of a strip of {gauge} mm"),
                    help,
                );
            }
            moved += usize::from(*f > 0.0 && *x > 0.0);
        }
        if moved < 2 && load.len() == extension.len() {
            let what = format!("has {moved} readings with load and extension above 0, a curve needs 2");
            self.fail(format!("{path}.load_N"), what, "add readings".into());
        }
    }
}
