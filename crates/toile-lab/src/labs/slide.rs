//! Sliding without friction: a sheet on an incline, and two sheets over one another. A contact that glues shows here.

use crate::material::{PATTERNS, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::{GRAVITY, Watched, body};
use glam::{DMat3, DVec3};
use toile::collide::collider::Form;
use toile::drive::Transform;
use toile::mesh::{Pattern, shapes};
use toile::{Cloth, ContactSettings, Fabric, Friction, PinDown, Setup, World};

/// Time over which the acceleration is measured [s].
const FROM: f64 = 0.2;
const TO: f64 = 0.6;
const FRAME: f64 = 1.0 / 60.0;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for degrees in [10.0, 20.0, 35.0] {
        for (name, pattern) in [PATTERNS[0], PATTERNS[5]] {
            let found = slide(on_body(degrees, pattern, Friction::NONE)?, degrees)?;
            let off = found.acceleration / (GRAVITY * degrees.to_radians().sin()) - 1.0;
            session.at_most(
                format!("{degrees}° on a body, {name}: acceleration off g sin θ"),
                off.abs(),
                "",
                0.02,
            );
            session.equal(
                format!("{degrees}° on a body, {name}: frames that intersect"),
                found.bad_frames,
                "",
                0.0,
            );
            session.info(format!("{degrees}° on a body, {name}: kept motion"), found.kept, "");
            rows.push(format!("body,{degrees},{name},{},{off},{}", found.acceleration, found.kept));
            if pattern == PATTERNS[0].1 {
                curves.push(Curve { name: format!("{degrees}° on a body"), points: found.speed });
            }
        }
    }
    for degrees in [10.0, 20.0] {
        let found = slide(on_cloth(degrees)?, degrees)?;
        let off = found.acceleration / (GRAVITY * degrees.to_radians().sin()) - 1.0;
        session.at_most(
            format!("{degrees}°, a sheet over another: acceleration off g sin θ"),
            off.abs(),
            "",
            0.02,
        );
        session.equal(
            format!("{degrees}°, a sheet over another: frames that intersect"),
            found.bad_frames,
            "",
            0.0,
        );
        session.info(format!("{degrees}°, a sheet over another: kept motion"), found.kept, "");
        rows.push(format!("cloth,{degrees},structured,{},{off},{}", found.acceleration, found.kept));
        curves.push(Curve { name: format!("{degrees}° on cloth"), points: found.speed });
    }
    session.csv("slide", "on,angle [°],mesh,acceleration [m/s²],off g sin θ,kept motion", &rows)?;
    session.plot(
        "slide",
        Chart {
            title: "Speed down a frictionless incline".into(),
            x: "time [s]".into(),
            y: "m/s".into(),
            log: (false, false),
            curves,
        },
    )
}

/// What a slide did.
pub struct Slid {
    /// Mean acceleration down the incline [m/s²].
    pub acceleration: f64,
    /// Frames that intersect.
    pub bad_frames: f64,
    /// Part of the motion that the guarantee kept.
    pub kept: f64,
    /// Speed over time.
    pub speed: Vec<(f64, f64)>,
}

/// The way down an incline of `degrees`.
pub fn downhill(degrees: f64) -> DVec3 {
    let (s, c) = degrees.to_radians().sin_cos();
    DVec3::new(c, -s, 0.0)
}

/// Turns what lies flat onto an incline of `degrees`.
pub fn tilt(degrees: f64) -> DMat3 {
    DMat3::from_rotation_z(-degrees.to_radians())
}

/// Lets the last cloth of `world` slide.
pub fn slide(world: World, degrees: f64) -> Result<Slid, LabError> {
    let last = world.cloths().len() - 1;
    let mut watched = Watched::of(world, FRAME)?;
    let mut speed = Vec::new();
    let of = |watched: &Watched| {
        let v = watched.world.velocities(last);
        v.iter().fold(0.0, |sum, v| sum + v.dot(downhill(degrees))) / v.len() as f64
    };
    for frame in 1..=(TO / FRAME).round() as usize {
        watched.step()?;
        speed.push((frame as f64 * FRAME, of(&watched)));
    }
    let at = |time: f64| speed[(time / FRAME).round() as usize - 1];
    let ((t0, v0), (t1, v1)) = (at(FROM), at(TO));
    Ok(Slid {
        acceleration: (v1 - v0) / (t1 - t0),
        bad_frames: watched.bad_frames as f64,
        kept: watched.counters.kept / watched.counters.wished,
        speed,
    })
}

/// A sheet of 30 cm just above an incline.
pub fn on_body(degrees: f64, pattern: Pattern, friction: Friction) -> Result<World, LabError> {
    let contact = ContactSettings { friction: [friction; 2], ..ContactSettings::default() };
    let gap = contact.gap;
    let sheet = lying("sheet", (0.3, 0.3), 12, pattern, degrees, gap)?;
    let stand = Transform { matrix: tilt(degrees), offset: DVec3::ZERO };
    let bodies = vec![body("incline", Form::Plane { size: 6.0 }, stand, 1e-3)?];
    Ok(World::new(Setup { cloths: vec![sheet], bodies, contact, substeps: 2, ..Setup::default() })?)
}

/// A sheet on an incline that is a sheet itself, held everywhere.
fn on_cloth(degrees: f64) -> Result<World, LabError> {
    let contact = ContactSettings { friction: [Friction::NONE; 2], ..ContactSettings::default() };
    let gap = contact.gap;
    let mut below = lying("below", (1.6, 0.5), 24, Pattern::Structured, degrees, 0.0)?;
    let shift = downhill(degrees) * 0.4;
    below.positions.iter_mut().for_each(|p| *p += shift);
    let above = lying("above", (0.3, 0.3), 10, PATTERNS[5].1, degrees, gap)?;
    let held = (0..below.positions.len() as u32).collect();
    let setup = Setup {
        cloths: vec![below, above],
        pins: vec![PinDown::fixed(0, held)],
        contact,
        substeps: 2,
        ..Setup::default()
    };
    Ok(World::new(setup)?)
}

/// A sheet on an incline through the origin, `height` above it.
pub fn lying(
    name: &str,
    (width, depth): (f64, f64),
    cells: usize,
    pattern: Pattern,
    degrees: f64,
    height: f64,
) -> Result<Cloth, LabError> {
    let across = ((cells as f64 * depth / width).round() as usize).max(1);
    let shape = shapes::sheet(width, depth, cells, across, pattern)?;
    let fabric = Fabric { damping: 5e-3, ..Fabric::isotropic(0.2, 1000.0, 0.3, 2e-5) };
    let mut sheet = cloth(name, &shape, fabric)?;
    let centre = DVec3::new(0.5 * width, -height, 0.5 * depth);
    sheet.positions.iter_mut().for_each(|p| *p = tilt(degrees) * (*p - centre));
    Ok(sheet)
}
