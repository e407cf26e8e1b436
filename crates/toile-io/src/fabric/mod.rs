//! Fabrics with a name: the presets inside the program, and files that `toile fabric fit` or people write.
//!
//! A fabric file is TOML: `toile = 1`, a `name`, the quantities as `[fabric]`, just as scenes have them, and where each of
//! them comes from as `[origin.…]`. Presets are such files too.

pub mod readings;
mod table;
mod write;

pub use crate::scene::schema::{Fabric as FabricTable, Origin, Origins, Status};

use crate::atomic::read_capped;
use crate::scene::schema::{FabricChoice, FabricFile};
use crate::scene::{
    Document, InputFile, SceneError, SceneErrors, Schema, Start, nearest, quoted_list, structure_check,
    validate_fabric,
};
use std::path::Path;
use std::sync::LazyLock;
use toile::Fabric;

/// Largest fabric file [bytes].
const MAX_BYTES: u64 = 1 << 20;

macro_rules! presets {
    ($($name:literal),+ $(,)?) => {
        /// Names and texts of the fabrics inside the program.
        const PRESETS: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../../../fabrics/", $name, ".toml")))),+];
    };
}

presets!("cotton", "linen", "silk", "wool", "denim", "jersey");

/// A fabric with its name and where its numbers come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Name.
    pub name: String,
    /// What it is, in a line.
    pub about: String,
    /// The quantities.
    pub fabric: Fabric,
    /// Where they come from.
    pub origin: Origins,
}

static SCHEMA: LazyLock<Schema> =
    LazyLock::new(|| Schema::of::<FabricFile>("toile fabric", "the fabric file"));

/// The names of the presets.
pub fn preset_names() -> Vec<&'static str> {
    PRESETS.iter().map(|(name, _)| *name).collect()
}

/// Whether a preset's place in a scene names a file.
pub(crate) fn is_file(name: &str) -> bool {
    name.ends_with(".toml") || name.contains(['/', '\\'])
}

/// Why there is no preset of this name, and what to do.
pub(crate) fn no_preset(name: &str) -> (String, String) {
    let names = preset_names();
    let all = quoted_list(&names, "and");
    let help = match nearest(name, names.iter().copied()) {
        Some(near) => {
            format!("did you mean \"{near}\"? There are {all}, or give a fabric file such as \"my.toml\"")
        }
        None => format!("there are {all}, or give a fabric file such as \"my.toml\""),
    };
    (format!("there is no fabric \"{name}\""), help)
}

impl Sheet {
    /// The preset of this name.
    pub fn preset(name: &str) -> Option<Sheet> {
        let (name, text) = PRESETS.iter().find(|(known, _)| *known == name)?;
        Sheet::parse(text, &format!("<preset>/{name}.toml")).ok()
    }

    /// A preset by its name, or a fabric file by its path.
    pub fn find(argument: &str) -> Result<Sheet, SceneErrors> {
        match Sheet::preset(argument) {
            Some(sheet) => Ok(sheet),
            None if is_file(argument) || Path::new(argument).is_file() => Sheet::load(Path::new(argument)),
            None => {
                let (message, help) = no_preset(argument);
                Err(SceneErrors::whole(argument, message, help))
            }
        }
    }

    /// Reads a fabric file.
    pub fn load(path: &Path) -> Result<Sheet, SceneErrors> {
        let shown = path.display().to_string();
        let bytes =
            read_capped(path, MAX_BYTES).map_err(|e| SceneErrors::whole(&shown, e.message, e.help))?;
        Sheet::from_bytes(&bytes, &shown)
    }

    /// Reads the content of a fabric file.
    pub(crate) fn from_bytes(bytes: &[u8], source_name: &str) -> Result<Sheet, SceneErrors> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Sheet::parse(text, source_name),
            Err(_) => Err(SceneErrors::whole(source_name, "the file is not UTF-8 text", "save it as UTF-8")),
        }
    }

    /// Reads a fabric from text.
    pub fn parse(text: &str, source_name: &str) -> Result<Sheet, SceneErrors> {
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
        let file: FabricFile = toml::from_str(text).map_err(|e| {
            SceneErrors::whole(source_name, e.message(), "see docs/fabrics.md for the format")
        })?;
        let start = match &file.fabric.preset {
            None => None,
            Some(name) => match Sheet::preset(name) {
                Some(sheet) => Some(sheet.fabric),
                None => {
                    let (message, help) = no_preset(name);
                    return Err(report(vec![doc.error("fabric.preset", message, help)]));
                }
            },
        };
        let mut errors = Vec::new();
        if file.toile != 1 {
            let message = format!("toile is {}, this program reads version 1", file.toile);
            errors.push(doc.error("toile", message, "write toile = 1, or use a newer toile"));
        }
        let (fabric, found) = validate_fabric(&doc, "fabric", &file.fabric, start);
        errors.extend(found);
        if !errors.is_empty() {
            return Err(report(errors));
        }
        Ok(Sheet { name: file.name, about: file.about, fabric, origin: file.origin })
    }

    /// The least trusted status among its quantities of stretch, shear and bending: what a table of fabrics shows.
    pub fn status(&self) -> Status {
        let main = [&self.origin.stretch, &self.origin.shear, &self.origin.bend];
        let rank = |s: Status| match s {
            Status::Measured => 0,
            Status::Estimate => 1,
            Status::Nominal => 2,
        };
        main.map(|o| o.status).into_iter().max_by_key(|s| rank(*s)).unwrap_or_default()
    }
}

/// Why a scene cannot have the fabric it names.
pub(crate) enum Unfit {
    /// There is none: what and what to do, for the place that names it.
    Named { message: String, help: String },
    /// Its file is wrong.
    Inside(SceneErrors),
}

/// What the fabric of a cloth starts from.
pub(crate) fn start(choice: &FabricChoice, folder: Option<&Path>) -> Result<Start, Unfit> {
    let Some(name) = choice.preset() else { return Ok(Start::default()) };
    if !is_file(name) {
        let (message, help) = match Sheet::preset(name) {
            Some(sheet) => return Ok(Start { fabric: Some(sheet.fabric), input: None }),
            None => no_preset(name),
        };
        return Err(Unfit::Named { message, help });
    }
    let unfit = |what: &str, help: String| Unfit::Named { message: format!("\"{name}\": {what}"), help };
    if Path::new(name).is_absolute() {
        return Err(unfit(
            "it must be a relative path",
            "write the path relative to the scene's folder".into(),
        ));
    }
    let Some(folder) = folder else {
        let help = "save the scene as a file, or take a preset";
        return Err(unfit("this scene has no folder to look in", help.into()));
    };
    let path = folder.join(name);
    let bytes = read_capped(&path, MAX_BYTES)
        .map_err(|e| unfit(&e.message, format!("{} (looked for {})", e.help, path.display())))?;
    let sheet = Sheet::from_bytes(&bytes, &path.display().to_string()).map_err(Unfit::Inside)?;
    Ok(Start { fabric: Some(sheet.fabric), input: Some(InputFile::of(name, &bytes)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_reads_and_is_a_cloth() {
        for name in preset_names() {
            let text = PRESETS.iter().find(|(n, _)| *n == name).map(|(_, t)| *t).unwrap_or_default();
            let sheet = Sheet::parse(text, name).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(sheet.name, name);
            assert!(!sheet.about.is_empty());
            for (group, origin) in sheet.origin.each() {
                assert!(!origin.source.is_empty(), "{name} does not say where its {group} comes from");
            }
            assert!(!sheet.origin.stretch.load.is_empty(), "{name} does not say at which load it holds");
            assert!(!sheet.origin.bend.load.is_empty(), "{name} does not say how it was bent");
            // Folds of apparel are 10 to 40 mm wide; sound travels at 20 to 400 m/s along its yarns.
            for length in sheet.fabric.bending_length(9.81) {
                assert!((0.010..0.040).contains(&length), "{name}: bending length {length} m");
            }
            for curve in sheet.fabric.stretch {
                let speed = (curve.initial() / sheet.fabric.density).sqrt();
                assert!((15.0..250.0).contains(&speed), "{name}: {speed} m/s");
            }
            assert!(sheet.fabric.bending_stiffness()[3] > 0.0, "{name} twists for nothing");
        }
    }

    #[test]
    fn linen_is_stiffest_and_silk_softest_of_the_three() {
        let get = |name: &str| Sheet::preset(name).expect("a preset").fabric;
        let [linen, cotton, silk] = ["linen", "cotton", "silk"].map(get);
        for (a, b) in [(&linen, &cotton), (&cotton, &silk)] {
            assert!(a.bend.mean() > b.bend.mean() && a.mean_stretch() > b.mean_stretch());
            assert!(a.density > b.density && a.shear.initial() > b.shear.initial());
        }
    }

    #[test]
    fn unknown_names_get_a_suggestion() {
        let error = Sheet::find("coton").expect_err("unknown").to_string();
        assert!(
            error.contains("there is no fabric \"coton\"") && error.contains("did you mean \"cotton\""),
            "{error}"
        );
        assert!(Sheet::find("nowhere.toml").expect_err("missing").to_string().contains("no such file"));
    }

    #[test]
    fn what_is_written_reads_back() {
        for name in preset_names() {
            let sheet = Sheet::preset(name).expect("a preset");
            let again = Sheet::parse(&sheet.to_toml(), name).unwrap_or_else(|e| panic!("{e}"));
            for strain in [-0.05, 0.003, 0.02, 0.05, 0.2] {
                for k in 0..2 {
                    let [a, b] = [&sheet, &again].map(|s| s.fabric.stretch[k].at(strain).tension);
                    assert!((a - b).abs() <= 1e-6 * a.abs(), "{name} {strain} {a} {b}");
                }
            }
            assert_eq!((sheet.origin, sheet.fabric.bend), (again.origin, again.fabric.bend));
            assert_eq!(
                (sheet.fabric.density, sheet.fabric.friction),
                (again.fabric.density, again.fabric.friction)
            );
        }
    }

    #[test]
    fn broken_files_are_refused_with_place_and_fix() {
        let good = Sheet::preset("cotton").expect("a preset").to_toml();
        let cases: &[(&str, &str, &str)] = &[
            ("toile = 1", "toile = 2", "this program reads version 1"),
            ("toile = 1\n", "", "does not say its format version"),
            ("[fabric]", "[fabrik]", "did you mean \"fabric\""),
            ("density = ", "densty = ", "did you mean \"density\""),
            ("density = 0.1503", "density = -0.1503", "fabric.density is -0.1503 kg/m², it must be above 0"),
            ("density = 0.1503", "density = \"0.1503\"", "without quotes"),
            ("density = 0.1503", "preset = \"cottn\"", "did you mean \"cotton\""),
            ("poisson = 0.243", "poisson = 3.0", "its size must be below"),
            ("status = \"measured\"", "status = \"guessed\"", "cannot be \"guessed\""),
            ("knee = 0.012", "knee = -0.012", "knee is -0.012, it must be above 0"),
            ("knee = 0.012, ", "", "is not a whole curve"),
        ];
        for (from, to, want) in cases {
            assert!(good.contains(from), "{from} is not in\n{good}");
            let error =
                Sheet::parse(&good.replacen(from, to, 1), "f").map(|s| s.name).expect_err(to).render();
            assert!(error.contains(want), "{to}: {error}");
        }
    }
}
