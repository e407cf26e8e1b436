//! Fabrics as scenes name them.

use std::fs;
use toile::{Bend, Curve, Yield};
use toile_io::fabric::Sheet;
use toile_io::scene::Scene;
use toile_io::scene::schema::Strain;

const SCENE: &str =
    "toile = 1\nunits = \"cm\"\nup = \"y\"\n[[cloth]]\nshape = { kind = \"sheet\", size = [30, 30] }\n";

fn scene(fabric: &str) -> Scene {
    Scene::parse(&format!("{SCENE}{fabric}\n"), "t").unwrap_or_else(|e| panic!("{e}"))
}

fn refused(fabric: &str) -> String {
    Scene::parse(&format!("{SCENE}{fabric}\n"), "t").map(|s| s.name).expect_err(fabric).render()
}

#[test]
fn a_name_takes_a_preset_and_a_table_overrides_it() {
    let cotton = Sheet::preset("cotton").expect("a preset").fabric;
    assert_eq!(scene("fabric = \"cotton\"").cloths[0].fabric, cotton);
    assert_eq!(scene("[cloth.fabric]\npreset = \"cotton\"").cloths[0].fabric, cotton);
    let changed =
        scene("fabric = { preset = \"cotton\", density = 0.2, bend = [9e-6, 4e-6] }").cloths[0].fabric;
    assert_eq!((changed.density, changed.bend), (0.2, Bend::of(9e-6, 4e-6)));
    assert_eq!(
        (changed.stretch, changed.friction, changed.shear),
        (cotton.stretch, cotton.friction, cotton.shear)
    );
}

#[test]
fn every_form_of_every_quantity_is_read() {
    let written = "fabric = { stretch = [500, { initial = 100, knee = 0.1, second = 900 }], \
        shear = { points = [[0.2, 5], [0.4, 40]] }, bend = [3e-5, 2e-5, 2e-5], bend_poisson = 0.1, \
        damping = 0.01, bend_damping = 0.02, thickness = 0.0007, friction = 0.5 }";
    let fabric = scene(written).cloths[0].fabric;
    assert_eq!(fabric.stretch, [Curve::linear(500.0), Curve::bilinear(100.0, 0.1, 900.0)]);
    assert_eq!(fabric.shear, Curve::through(&[[0.2, 5.0], [0.4, 40.0]]).expect("a curve"));
    assert_eq!(fabric.bend, Bend { warp: 3e-5, weft: 2e-5, bias: 2e-5, poisson: 0.1 });
    assert_eq!((fabric.damping, fabric.bending_damping(), fabric.thickness), (0.01, 0.02, 0.0007));
    assert_eq!((fabric.friction, fabric.density, fabric.poisson), ([0.5, 0.5], 0.2, 0.3));
    let both = scene("fabric = { stretch = { initial = 100, knee = 0.1, second = 900 } }").cloths[0].fabric;
    assert_eq!(both.stretch, [Curve::bilinear(100.0, 0.1, 900.0); 2]);
}

#[test]
fn cloth_that_remembers_is_read_and_written() {
    let written = "fabric = { crease = { yield = 250, hardening = 0.1 }, set = { yield = 0.04 }, \
        bend_hysteresis = [5e-4, 3e-4], bend_onset = 30, shear_hysteresis = 0.9, shear_onset = 0.02 }";
    let fabric = scene(written).cloths[0].fabric;
    assert_eq!(fabric.crease, Some(Yield { limit: 250.0, hardening: 0.1 }));
    assert_eq!(fabric.set, Some(Yield { limit: 0.04, hardening: 0.0 }));
    assert_eq!((fabric.bend_hysteresis, fabric.bend_onset), ([5e-4, 3e-4], 30.0));
    assert_eq!((fabric.shear_hysteresis, fabric.shear_onset), (0.9, 0.02));
    let sheet = Sheet { fabric, ..Sheet::preset("cotton").expect("a preset") };
    let again = Sheet::parse(&sheet.to_toml(), "again").unwrap_or_else(|e| panic!("{e}")).fabric;
    assert_eq!((again.crease, again.set), (fabric.crease, fabric.set));
    assert_eq!((again.bend_hysteresis, again.bend_onset), (fabric.bend_hysteresis, fabric.bend_onset));
    assert_eq!((again.shear_hysteresis, again.shear_onset), (fabric.shear_hysteresis, fabric.shear_onset));
    let one = scene("fabric = { bend_hysteresis = 4e-4 }").cloths[0].fabric;
    assert_eq!((one.bend_hysteresis, one.bend_onset), ([4e-4; 2], 20.0));
    assert!(!Sheet::preset("cotton").expect("a preset").to_toml().contains("hysteresis"));
    for (more, note) in [
        ("model = \"springs\"", "without model = \"membrane\""),
        ("bending = \"hinge\"", "without bending = \"recon\""),
        ("", "without model = \"springs\""),
    ] {
        let notes = scene(&format!("{written}\n{more}")).notes;
        assert!(notes.iter().any(|n| n.message.contains(note)), "{more}: {notes:?}");
    }
}

#[test]
fn curves_are_drawn_over_engineering_strain() {
    assert_eq!(scene("fabric = \"cotton\"").cloths[0].strain, Strain::Engineering);
    assert_eq!(scene("fabric = { stretch = 800 }").cloths[0].strain, Strain::Green);
    assert_eq!(scene("fabric = \"cotton\"\nstrain = \"green\"").cloths[0].strain, Strain::Green);
}

#[test]
fn wrong_fabrics_are_refused_with_a_fix() {
    for (fabric, what, fix) in [
        ("fabric = \"coton\"", "there is no fabric \"coton\"", "did you mean \"cotton\""),
        ("fabric = { preset = \"tweed\" }", "there is no fabric \"tweed\"", "\"cotton\", \"linen\""),
        ("fabric = \"my.toml\"", "\"my.toml\": this scene has no folder", "take a preset"),
        ("fabric = \"/my.toml\"", "must be a relative path", "relative to the scene's folder"),
        ("fabric = 3", "fabric must be text or a table", "write text or a table"),
        ("fabric = { bend = [1e-5] }", "bend has 1 values, it needs 2 to 3", "list of"),
        ("fabric = { bend = [1e-5, 1e-5, 1e-6] }", "has bias 1e-6 N·m", "for the bias, or leave it out"),
        ("fabric = { bend = [1e-5, -1e-5] }", "bend.1 is -0.00001 N·m", "1e-6 to 1e-4"),
        ("fabric = { bend_poisson = 1.5 }", "bend_poisson is 1.5", "between -1 and 1"),
        ("fabric = { friction = [0.3, 0.4] }", "cannot exceed static friction, 0.3", "the larger first"),
        ("fabric = { crease = { yield = 0 } }", "crease.yield is 0 per metre, it must be above 0", "3 mm"),
        (
            "fabric = { crease = { yield = 90, hardening = 1 } }",
            "hardening is 1, it must be from 0",
            "a tenth",
        ),
        ("fabric = { crease = { hardening = 0.1 } }", "yield", "yield"),
        ("fabric = { set = { yield = -0.1 } }", "set.yield is -0.1, it must be above 0", "5 %"),
        ("fabric = { bend_hysteresis = [1e-4, -1e-4] }", "bend_hysteresis.1 is -0.0001 N", "gf·cm/cm"),
        ("fabric = { shear_hysteresis = -1 }", "shear_hysteresis is -1 N/m", "gf/cm"),
        ("fabric = { bend_onset = 0 }", "bend_onset is 0 per metre, it must be above 0", "20 is"),
        ("fabric = { thickness = -1 }", "thickness is -1 m", "0.0004"),
        ("fabric = { stretch = { initial = 5, knee = 0.1 } }", "is not a whole curve", "second = "),
        ("fabric = { stretch = { knee = 0.1, points = [[0.1, 1]] } }", "both given", "keep the points"),
        ("fabric = { stretch = { points = [[0.1, 9], [0.2, 8]] } }", "up to point 1", "grows with strain"),
        ("fabric = { shear = { points = [] } }", "no points", "at least one"),
        (
            "fabric = { stretch = [400, { initial = -1, knee = 0.1, second = 2 }] }",
            "initial is -1 N/m",
            "500 to",
        ),
        ("fabric = { preset = \"cotton\", stretch = [1, 50000] }", "its size must be below sqrt", "0 to 0.3"),
        ("fabric = { stretch = [1, 2, 3] }", "stretch has 3 values, it needs 2", "list of 2"),
        ("fabric = { presett = \"cotton\" }", "no field \"presett\"", "did you mean \"preset\""),
    ] {
        let text = refused(fabric);
        assert!(text.contains(what) && text.contains(fix), "{fabric}\n{text}");
    }
}

#[test]
fn suspicious_units_get_a_note() {
    for (fabric, note) in [
        ("fabric = { density = 150 }", "150 g/m² is 0.15"),
        ("fabric = { thickness = 0.4 }", "0.4 mm is 0.0004"),
        ("fabric = { bend = 0.08 }", "98.07e-6"),
        ("fabric = { bend_hysteresis = 0.05 }", "9.807e-3"),
    ] {
        let notes = scene(fabric).notes;
        assert!(notes.iter().any(|n| n.help.contains(note)), "{fabric}: {notes:?}");
    }
    assert!(scene("fabric = \"denim\"").notes.is_empty());
}

#[test]
fn a_fabric_file_is_found_beside_the_scene_and_belongs_to_its_inputs() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut silk = Sheet::preset("silk").expect("a preset");
    silk.fabric.density = 0.07;
    fs::write(folder.path().join("my.toml"), silk.to_toml()).expect("written");
    let path = folder.path().join("scene.toml");
    fs::write(&path, format!("{SCENE}fabric = \"my.toml\"\n")).expect("written");
    let scene = Scene::load(&path).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(scene.cloths[0].fabric.density, 0.07);
    let inputs = scene.read_meshes().expect("no meshes").inputs;
    assert_eq!(inputs.iter().map(|i| i.path.as_str()).collect::<Vec<_>>(), ["my.toml"]);

    fs::write(&path, format!("{SCENE}fabric = \"your.toml\"\n")).expect("written");
    let error = Scene::load(&path).expect_err("missing").render();
    assert!(error.contains("\"your.toml\": no such file") && error.contains("looked for"), "{error}");

    fs::write(folder.path().join("your.toml"), silk.to_toml().replace("density", "densty")).expect("written");
    let error = Scene::load(&path).expect_err("broken").render();
    assert!(error.contains("your.toml:") && error.contains("did you mean \"density\""), "{error}");
}
