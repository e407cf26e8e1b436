//! What panels show and change, with the ranges that make sense.

use super::place;
use super::stage::Stage;
use crate::protocol::{ContactPanel, FabricSettings, Panels, SolverPanel, Vector, WindSettings};
use toile::math::DVec3;
use toile::solve::Integrator;
use toile::{Fabric, Friction, WindField};
use toile_io::fabric::{Sheet, preset_names};

/// Strongest wind [m/s].
pub const FASTEST_WIND: f64 = 60.0;

/// What panels show.
pub fn show(stage: &Stage) -> Panels {
    let fabric =
        |(k, id): (usize, &u32)| (*id, settings(&stage.cloths[k].fabric, stage.looks[k].preset.clone()));
    let pinned = stage.cloth_ids.iter().enumerate().map(|(k, id)| (*id, stage.held(k)));
    Panels {
        wind: WindSettings {
            velocity: stage.wind.velocity.to_array(),
            gust: stage.wind.gust,
            frequency: stage.wind.frequency,
        },
        gravity: stage.gravity.to_array(),
        contact: ContactPanel {
            gap: stage.contact.gap,
            friction_cloth: stage.contact.friction[0].sliding,
            friction_body: stage.contact.friction[1].sliding,
            cloth: stage.contact.cloth,
            bodies: stage.contact.bodies,
            guarantee: stage.contact.guarantee,
        },
        solver: SolverPanel { integrator: stage.solver.integrator.name().into(), substeps: stage.substeps },
        fabrics: stage.cloth_ids.iter().enumerate().map(fabric).collect(),
        pinned: pinned.filter(|(_, held)| !held.is_empty()).collect(),
    }
}

fn settings(fabric: &Fabric, preset: Option<String>) -> FabricSettings {
    FabricSettings {
        preset,
        density: Some(fabric.density),
        stretch_warp: Some(fabric.stretch[0].initial()),
        stretch_weft: Some(fabric.stretch[1].initial()),
        shear: Some(fabric.shear.initial()),
        bend: Some(fabric.bend.mean()),
        damping: Some(fabric.damping),
        thickness: Some(fabric.thickness),
        friction: Some(fabric.friction[1]),
    }
}

/// A value within its limits, or what to do.
fn within(what: &str, value: f64, [low, high]: [f64; 2], unit: &str) -> Result<f64, String> {
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    Err(format!("{what} is {value} {unit}: give {low} to {high} {unit}"))
}

/// A vector no longer than a limit.
pub fn limited(vector: Vector, what: &str, limit: f64, unit: &str) -> Result<DVec3, String> {
    let vector = place(vector)?;
    within(what, vector.length(), [0.0, limit], unit)?;
    Ok(vector)
}

pub fn set_wind(stage: &mut Stage, wind: &WindSettings) -> Result<String, String> {
    let velocity = limited(wind.velocity, "the wind", FASTEST_WIND, "m/s")?;
    let gust = within("the strength of gusts", wind.gust, [0.0, FASTEST_WIND], "m/s")?;
    let frequency = within("the frequency of gusts", wind.frequency, [0.0, 20.0], "Hz")?;
    stage.wind = WindField { velocity, gust, frequency, ..stage.wind };
    if velocity != DVec3::ZERO || gust > 0.0 {
        stage.catch_wind();
    }
    Ok("change the wind".into())
}

pub fn set_contact(stage: &mut Stage, panel: &ContactPanel) -> Result<String, String> {
    let gap = within("the gap", panel.gap, [2e-4, 0.02], "m")?;
    let mut friction = stage.contact.friction;
    for (k, what, value) in [
        (0, "friction of cloth on cloth", panel.friction_cloth),
        (1, "friction of cloth on bodies", panel.friction_body),
    ] {
        let value = within(what, value, [0.0, 2.0], "")?;
        if value != friction[k].sliding {
            friction[k] = Friction::of(value);
            // The panel has the last word: what the scene said about single pairs of this kind no longer counts.
            let (cloths, body) = (stage.cloth_ids.clone(), k == 1);
            stage.frictions.retain(|(pair, _)| pair.iter().all(|id| cloths.contains(id)) == body);
        }
    }
    stage.contact.gap = gap;
    stage.contact.friction = friction;
    stage.contact.cloth = panel.cloth;
    stage.contact.bodies = panel.bodies;
    stage.contact.guarantee = panel.guarantee;
    Ok("change contact".into())
}

pub fn set_solver(stage: &mut Stage, panel: &SolverPanel) -> Result<String, String> {
    let Some(integrator) = Integrator::from_name(&panel.integrator) else {
        let all: Vec<&str> = Integrator::ALL.iter().map(|i| i.name()).collect();
        return Err(format!("there is no integrator of this name: choose one of {}", all.join(", ")));
    };
    if !(1..=256).contains(&panel.substeps) {
        return Err(format!("{} substeps: give 1 to 256", panel.substeps));
    }
    stage.solver.integrator = integrator;
    stage.substeps = panel.substeps;
    Ok("change the solver".into())
}

pub fn set_fabric(stage: &mut Stage, object: u32, wanted: &FabricSettings) -> Result<String, String> {
    let (cloth, name) = stage.cloth(object)?;
    let before = stage.cloths[cloth].fabric;
    let mut fabric = match &wanted.preset {
        None => before,
        Some(preset) => match Sheet::preset(preset) {
            Some(sheet) => sheet.fabric,
            None => {
                return Err(format!("there is no such fabric: choose one of {}", preset_names().join(", ")));
            }
        },
    };
    let set = |what: &str, value: Option<f64>, limits: [f64; 2], unit: &str| {
        value.map(|value| within(what, value, limits, unit)).transpose()
    };
    if let Some(value) = set("density", wanted.density, [5e-3, 20.0], "kg/m²")? {
        fabric.density = value;
    }
    for (k, what, value) in [
        (0, "stretch along the warp", wanted.stretch_warp),
        (1, "stretch along the weft", wanted.stretch_weft),
    ] {
        if let Some(value) = set(what, value, [1.0, 1e6], "N/m")? {
            fabric.stretch[k] = value.into();
        }
    }
    if let Some(value) = set("shear", wanted.shear, [0.1, 1e5], "N/m")? {
        fabric.shear = value.into();
    }
    if let Some(value) = set("bend", wanted.bend, [0.0, 0.1], "N·m")? {
        fabric.bend = value.into();
    }
    if let Some(value) = set("damping", wanted.damping, [0.0, 1.0], "s")? {
        fabric.damping = value;
    }
    if let Some(value) = set("thickness", wanted.thickness, [0.0, 0.02], "m")? {
        fabric.thickness = value;
    }
    if let Some(value) = set("friction", wanted.friction, [0.0, 2.0], "")? {
        fabric.friction = [value; 2];
    }
    if fabric.friction != before.friction {
        let [still, sliding] = fabric.friction;
        stage.frictions.retain(|(pair, _)| *pair != [object; 2]);
        stage.frictions.insert(0, ([object; 2], Friction { still, sliding }));
    }
    fabric.check().map_err(|error| error.to_string())?;
    let plain = FabricSettings { preset: wanted.preset.clone(), ..FabricSettings::default() } == *wanted;
    stage.looks[cloth].preset = wanted.preset.clone().filter(|_| plain);
    // Drag is given per mass in scenes.
    stage.cloths[cloth].air.drag *= fabric.density / before.density;
    stage.cloths[cloth].fabric = fabric;
    Ok(match stage.looks[cloth].preset.clone() {
        Some(preset) => format!("make `{name}` of {preset}"),
        None => format!("change the fabric of `{name}`"),
    })
}
