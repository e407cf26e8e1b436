//! The scenes that come with the program, as cards to choose from.

use crate::protocol::SceneCard;
use std::sync::OnceLock;
use toile_io::scene::schema::Integrator;
use toile_io::scene::{BUILTINS, Resolved, Scene};

macro_rules! pictures {
    ($($name:literal),+ $(,)?) => {
        const PICTURES: &[(&str, &[u8])] =
            &[$(($name, include_bytes!(concat!("../../../scenes/", $name, "/picture.png")))),+];
    };
}

pictures!(
    "canopy",
    "hang",
    "flag",
    "curtain",
    "sphere",
    "sphere-adaptive",
    "garment-cylinder",
    "tablecloth",
    "sheets",
    "tape",
    "stack",
    "stack4",
    "twist",
    "ball",
    "drape",
    "cubes",
    "pinch",
    "tangled",
    "funnel",
    "ring",
    "press",
    "knot",
    "spike",
    "scissors",
    "cards"
);

/// The picture of a scene, as PNG.
pub fn picture(name: &str) -> Option<&'static [u8]> {
    PICTURES.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
}

/// A card for every scene. Counting their vertices takes a moment the first time.
pub fn cards() -> &'static [SceneCard] {
    static CARDS: OnceLock<Vec<SceneCard>> = OnceLock::new();
    CARDS.get_or_init(|| {
        let card = |builtin: &toile_io::scene::Builtin| SceneCard {
            name: builtin.name.into(),
            title: builtin.summary.into(),
            vertices: vertices(*builtin).unwrap_or(0),
        };
        BUILTINS.iter().map(card).collect()
    })
}

fn vertices(builtin: toile_io::scene::Builtin) -> Option<u32> {
    let scene = Scene::open(&Resolved::Builtin(builtin), &[]).ok()?;
    let built = toile_io::build::build(&scene).ok()?;
    Some(built.world.cloths().iter().map(|cloth| cloth.positions.len() as u32).sum())
}

/// The integrators that any scene can be given, by name.
pub fn integrators() -> Vec<String> {
    use Integrator::{Bdf2, ImplicitEuler, LambdaMidpoint, LinearEuler, QuasiStatic, TrBdf2};
    let all = [Bdf2, TrBdf2, ImplicitEuler, LinearEuler, LambdaMidpoint, QuasiStatic];
    let name = |integrator| serde_json::to_value(integrator).ok()?.as_str().map(str::to_string);
    all.into_iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_has_its_picture() {
        for builtin in BUILTINS {
            let bytes = picture(builtin.name).unwrap_or_else(|| panic!("{} has no picture", builtin.name));
            assert_eq!(&bytes[1..4], b"PNG");
        }
        assert_eq!(PICTURES.len(), BUILTINS.len());
        assert!(picture("../hang").is_none());
    }
}
