//! The scenes that come with the program, and what a scene argument means.

use super::document::nearest;
use crate::error::{FileError, FileErrorKind};
use std::path::{Path, PathBuf};

/// A scene inside the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows, in a line.
    pub summary: &'static str,
    /// Its `scene.toml`.
    pub text: &'static str,
}

macro_rules! builtins {
    ($($name:literal: $summary:literal),+ $(,)?) => {
        /// Every scene inside the program.
        pub const BUILTINS: &[Builtin] = &[$(Builtin {
            name: $name,
            summary: $summary,
            text: include_str!(concat!("../../../../scenes/", $name, "/scene.toml")),
        }),+];
    };
}

builtins! {
    "canopy": "two metres of silk held at the corners, filled by a gust",
    "hang": "a square metre of cloth held along one border swings down",
    "flag": "a flag on its pole in a gusty wind",
    "curtain": "a wide curtain on hooks is gathered into pleats",
    "sphere": "a square metre of cloth falls on a ball",
    "sphere-adaptive": "the same on coarse triangles, which are split where it folds",
    "garment-cylinder": "a dress round a cylinder, refined where it folds",
    "tablecloth": "72 triangles fall on a round table: edges meet edges",
    "sheets": "four sheets fall on a ball, a cone and a box",
    "tape": "four metres of tape run into a bowl",
    "stack": "sixteen sheets fall on a ball on a floor",
    "stack4": "four sheets fall on a ball on a floor",
    "twist": "the ends of a sheet turn against each other",
    "ball": "a ball at 50 m/s hits a held sheet",
    "drape": "the Cusick drape test on a real disc",
    "cubes": "128 stiff cubes pile up on a held cloth and lie still",
    "pinch": "two balls close on a cloth until they overlap, and open again",
    "tangled": "five starts that intersect, each undone within a second",
    "funnel": "a sheet is drawn through a funnel",
    "ring": "a sheet is drawn through a ring a twelfth of its width",
    "press": "sixteen layers are pressed between plates and let go",
    "knot": "a ribbon in a knot is pulled tight",
    "spike": "sheets slide off a needle and the edge of a box",
    "scissors": "a sheet is cut, holed, gathered, made larger and smaller, and sewn while it moves",
    "cards": "a house of cards, and cards on a ramp that hold and slide",
}

/// What a scene argument means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// A scene inside the program.
    Builtin(Builtin),
    /// A scene file.
    File(PathBuf),
}

/// The built-in scenes, for messages.
pub(crate) fn known() -> String {
    let names: Vec<&str> = BUILTINS.iter().map(|b| b.name).collect();
    format!("give a scene.toml, a folder that holds one, or a built-in scene: {}", names.join(", "))
}

/// What `argument` means: the name of a built-in scene, a folder holding `scene.toml`, or a file.
/// A bare name that is built in is the built-in scene; write `./hang` for a folder of that name.
pub fn resolve(argument: &str) -> Result<Resolved, FileError> {
    if let Some(b) = BUILTINS.iter().find(|b| b.name == argument) {
        return Ok(Resolved::Builtin(*b));
    }
    let path = Path::new(argument);
    if path.is_dir() {
        let inside = path.join("scene.toml");
        return if inside.is_file() {
            Ok(Resolved::File(inside))
        } else {
            let message = "this folder holds no scene.toml";
            Err(FileError::new(FileErrorKind::Missing, path, message, known()))
        };
    }
    if path.exists() {
        return Ok(Resolved::File(path.to_path_buf()));
    }
    let help = match nearest(argument, BUILTINS.iter().map(|b| b.name)) {
        Some(near) => format!("did you mean the built-in scene \"{near}\"?"),
        None => known(),
    };
    Err(FileError::new(FileErrorKind::Missing, path, "there is no such scene, file or folder", help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Scene;

    #[test]
    fn every_builtin_loads_without_a_note() {
        for b in BUILTINS {
            let scene = Scene::open(&Resolved::Builtin(*b), &[]).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(scene.name, b.name);
            assert_eq!(scene.notes, []);
        }
    }

    #[test]
    fn arguments_are_names_folders_or_files() {
        let dir = tempfile::tempdir().expect("tempdir");
        let file = dir.path().join("scene.toml");
        let arg = |p: &Path| p.to_string_lossy().into_owned();
        assert!(resolve(&arg(dir.path())).expect_err("empty").message.contains("no scene.toml"));
        std::fs::write(&file, BUILTINS[0].text).expect("write");
        assert_eq!(resolve(&arg(dir.path())), Ok(Resolved::File(file.clone())));
        assert_eq!(resolve(&arg(&file)), Ok(Resolved::File(file)));
        assert!(matches!(resolve("flag"), Ok(Resolved::Builtin(b)) if b.name == "flag"));
        assert!(resolve("falg").expect_err("typo").help.contains("\"flag\""));
    }
}
