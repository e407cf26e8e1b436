//! A scene is the same scene in any unit, turned, and far away: how far its cloth then is from where it should be.
//!
//! Two things are not: which cloths are solved together goes by boxes along the axes, and what the guarantee cuts from an
//! impact goes by the motion of those; and an edge that lies along another touches it anywhere. Scenes of either kind
//! (`sheets`, `cards`) are off by 1e-4 of their size when turned, and are not judged here.

use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::{Watched, farthest, told};
use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;
use toile_io::build::build;
use toile_io::scene::{Scene, resolve};
use toml::Value;

/// Frames after which places are compared.
const FRAMES: usize = 10;

/// Scenes that can be turned as they are: bodies at rest, pins where cloth starts. Cloth starts where it meets something
/// in the last of the frames: from then on every difference grows about tenfold in a frame, for cloth that is bent over
/// something must buckle, and buckles this way or that by what differs. It starts askew: where edges are parallel, the point
/// at which they touch is anywhere.
const CASES: [(&str, &[&str]); 6] = [
    (
        "sphere",
        &[
            "cloth.sheet.shape.resolution=24",
            "cloth.sheet.translate=[0.013, 0.365, 0.007]",
            "cloth.sheet.rotate=[1.3, 17, -0.8]",
        ],
    ),
    (
        "stack4",
        &[
            "cloth.sheet1.translate=[0.013, 0.375, 0.007]",
            "cloth.sheet2.translate=[0.005, 0.380, 0.009]",
            "cloth.sheet3.translate=[-0.006, 0.385, 0.004]",
            "cloth.sheet4.translate=[0.002, 0.390, -0.011]",
            "cloth.sheet1.rotate=[0.1, 3, -0.07]",
            "cloth.sheet2.rotate=[-0.1, -5, 0.07]",
            "cloth.sheet3.rotate=[-0.08, 7, -0.07]",
            "cloth.sheet4.rotate=[0.13, -2, 0.03]",
        ],
    ),
    ("tablecloth", &["cloth.cloth.translate=[0.007, 0.015, 0.004]", "cloth.cloth.rotate=[0.7, 11, -0.4]"]),
    ("hang", &["cloth.sheet.shape.resolution=30"]),
    (
        "spike",
        &[
            "cloth.pricked.shape.resolution=16",
            "cloth.ridden.shape.resolution=16",
            "cloth.pricked.translate=[-0.38, 0.09, 0.03]",
            "cloth.ridden.translate=[0.52, 0.09, 0.003]",
            "cloth.pricked.rotate=[0.7, 11, -0.4]",
            "cloth.ridden.rotate=[-0.7, 7, -0.4]",
        ],
    ),
    ("tape", &["cloth.tape.translate=[0.011, 2.075, 0.1795]"]),
];

/// What steps leave undone is another in every frame of reference: here it is less than what is asked for.
const EXACT: [&str; 3] = ["solver.newton_step=1e-9", "solver.newton_residual=1e-6", "solver.max_solves=200"];

/// Units with their lengths per metre.
const UNITS: [(&str, f64); 3] = [("mm", 1e3), ("cm", 1e2), ("inch", 1.0 / 0.0254)];

/// Fields that are lengths in the file's unit, wherever they stand outside `render`.
const LENGTHS: [&str; 18] = [
    "size",
    "translate",
    "radius",
    "length",
    "width",
    "height",
    "top",
    "tube",
    "profile",
    "path",
    "points",
    "centre",
    "pivot",
    "place",
    "box",
    "gap",
    "tolerance",
    "margin",
];

/// The field that is the inverse of a length.
const CURVATURE: &str = "curvature";

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let found: Result<Vec<Found>, LabError> = CASES.par_iter().map(compare).collect();
    let mut rows = Vec::new();
    let mut curves: Vec<Curve> = Vec::new();
    for (case, ((name, _), found)) in CASES.iter().zip(found?).enumerate() {
        // All but the cloth that hangs meet something.
        if *name != "hang" {
            session.at_least(format!("{name}: pairs that might push"), found.contacts as f64, "", 1.0);
        }
        for (k, (how, limit, off)) in found.off.iter().enumerate() {
            session.at_most(
                format!("{name}, {how}: off after {FRAMES} frames, over its size"),
                *off,
                "",
                *limit,
            );
            rows.push(format!("{name},{how},{off:e}"));
            if case == 0 {
                curves.push(Curve { name: how.clone(), points: Vec::new() });
            }
            curves[k].points.push((case as f64 + 1.0, off.max(1e-18)));
        }
    }
    session.csv("anywhere", "scene,how,off after 10 frames over its size", &rows)?;
    session.plot(
        "anywhere",
        Chart {
            title: "How far the same scene is off when told otherwise".into(),
            x: "scene".into(),
            y: "of its size".into(),
            log: (false, true),
            curves,
        },
    )
}

/// What a scene told otherwise came to.
struct Found {
    contacts: u64,
    /// How, the limit, and how far off, over the size of the scene.
    off: Vec<(String, f64, f64)>,
}

fn compare((name, set): &(&str, &[&str])) -> Result<Found, LabError> {
    let set = [*set, &EXACT].concat();
    let scene = told(Scene::open(&told(resolve(name))?, &set))?;
    let (true_places, contacts) = places(&scene, DAffine3::IDENTITY)?;
    let low = true_places.iter().fold(DVec3::INFINITY, |low, p| low.min(*p));
    let high = true_places.iter().fold(DVec3::NEG_INFINITY, |high, p| high.max(*p));
    let size = (high - low).length();
    let mut off = Vec::new();
    let mut add = |how: String, limit: f64, scene: &Scene, map: DAffine3| -> Result<(), LabError> {
        let (found, _) = places(scene, map)?;
        off.push((how, limit, farthest(&found, &true_places) / size));
        Ok(())
    };
    for (unit, per_metre) in UNITS {
        let other = told(Scene::parse(&in_unit(&scene.text, unit, per_metre)?, name))?;
        add(unit.to_string(), 1e-9, &other, DAffine3::IDENTITY)?;
    }
    let axis = DVec3::new(0.3, 1.0, -0.5).normalize();
    let turn = DMat3::from_axis_angle(axis, 37f64.to_radians());
    let shift = DVec3::new(600.0, -480.0, 640.0);
    for (how, matrix3, translation) in [
        ("turned by 37°", turn, DVec3::ZERO),
        ("moved by 1 km", DMat3::IDENTITY, shift),
        ("turned by 37° and moved by 1 km", turn, shift),
    ] {
        let map = DAffine3 { matrix3, translation };
        add(how.to_string(), 1e-6, &moved(&scene, map), map)?;
    }
    Ok(Found { contacts, off })
}

/// Where all particles are after [`FRAMES`], brought back by the inverse of `map`, and how many pairs might push.
fn places(scene: &Scene, map: DAffine3) -> Result<(Vec<DVec3>, u64), LabError> {
    let mut watched = Watched::of(told(build(scene))?.world, scene.frame_time)?;
    let back = map.inverse();
    let mut contacts = 0;
    for _ in 0..FRAMES {
        contacts = watched.step()?.contacts.max(contacts);
    }
    if watched.bad_frames > 0 {
        return Err(LabError(format!("{}: {} frames intersect", scene.name, watched.bad_frames)));
    }
    Ok((watched.positions().iter().map(|p| back.transform_point3(*p)).collect(), contacts))
}

/// The scene with everything turned and shifted, gravity too.
fn moved(scene: &Scene, map: DAffine3) -> Scene {
    let mut scene = scene.clone();
    scene.gravity = map.matrix3 * scene.gravity;
    for cloth in &mut scene.cloths {
        cloth.placement = map * cloth.placement;
        cloth.velocity = map.matrix3 * cloth.velocity;
    }
    scene.bodies.iter_mut().for_each(|body| body.placement = map * body.placement);
    scene
}

/// The text of a scene written in metres, in another unit.
fn in_unit(text: &str, unit: &str, per_metre: f64) -> Result<String, LabError> {
    let mut value: Value = told(text.parse::<toml::Table>().map(Value::Table))?;
    if let Some(table) = value.as_table_mut() {
        table.insert("units".into(), Value::String(unit.into()));
        table.remove("render");
    }
    rescale(&mut value, per_metre, None);
    told(toml::to_string(&value))
}

/// Multiplies every number that is a length by `factor`, and every curvature by its inverse; `own` is what the field that
/// `value` stands in is multiplied by, if at all.
fn rescale(value: &mut Value, factor: f64, own: Option<f64>) {
    match (value, own) {
        (Value::Float(x), Some(own)) => *x *= own,
        (value @ Value::Integer(_), Some(own)) => {
            *value = Value::Float(value.as_integer().unwrap_or_default() as f64 * own)
        }
        (Value::Array(items), _) => items.iter_mut().for_each(|item| rescale(item, factor, own)),
        (Value::Table(table), _) => {
            for (key, item) in table.iter_mut() {
                let own = match key.as_str() {
                    CURVATURE => Some(1.0 / factor),
                    key => LENGTHS.contains(&key).then_some(factor),
                };
                rescale(item, factor, own);
            }
        }
        _ => {}
    }
}
