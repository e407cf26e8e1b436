//! Coulomb friction: where a sheet begins to slide, how little it creeps before, how fast it slides after, the strip
//! that hangs over the edge of a table, and contact forces against the weight.

use super::slide::{downhill, on_body, slide};
use crate::material::{PATTERNS, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::{GRAVITY, Watched, body};
use glam::{DMat3, DVec3};
use rayon::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI};
use toile::collide::collider::Form;
use toile::drive::Transform;
use toile::mesh::shapes::Shape;
use toile::mesh::{Pattern, shapes};
use toile::{ContactSettings, Fabric, Friction, PinDown, Setup, World};

const FRAME: f64 = 1.0 / 60.0;
const COEFFICIENTS: [f64; 2] = [0.3, 0.6];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for mu in COEFFICIENTS {
        curves.push(threshold(session, mu, &mut rows)?);
        creep(session, mu, &mut rows)?;
        sliding(session, mu, &mut rows)?;
    }
    weight(session)?;
    overhang(session, &mut rows)?;
    session.csv("friction", "what,coefficient,at,found,expected", &rows)?;
    session.plot(
        "threshold",
        Chart {
            title: "Speed gained in a second down an incline".into(),
            x: "angle less atan μ [°]".into(),
            y: "mm/s".into(),
            log: (false, false),
            curves,
        },
    )
}

/// Between the steepest incline that holds and the flattest that does not.
fn threshold(session: &mut Session, mu: f64, rows: &mut Vec<String>) -> Result<Curve, LabError> {
    let exact = mu.atan().to_degrees();
    let offsets: Vec<f64> = (-6..=6).map(|k| 0.15 * f64::from(k)).collect();
    let moved: Result<Vec<f64>, LabError> = offsets
        .par_iter()
        .map(|offset| {
            let degrees = exact + offset;
            let mut watched = Watched::of(on_body(degrees, PATTERNS[5].1, Friction::of(mu))?, FRAME)?;
            gains(&mut watched, downhill(degrees))
        })
        .collect();
    let moved = moved?;
    let slips = |gained: f64| gained > SLIPS;
    let steepest =
        offsets.iter().zip(&moved).filter(|(_, w)| !slips(**w)).map(|(o, _)| *o).fold(-9.0, f64::max);
    let flattest =
        offsets.iter().zip(&moved).filter(|(_, w)| slips(**w)).map(|(o, _)| *o).fold(9.0, f64::min);
    between(session, &format!("μ = {mu}: incline, beyond atan μ"), "°", [steepest, flattest, 0.0, 0.5]);
    for (offset, way) in offsets.iter().zip(&moved) {
        rows.push(format!("speed gained [m/s],{mu},{},{way},", exact + offset));
    }
    let points = offsets.iter().zip(&moved).map(|(o, w)| (*o, 1e3 * w)).collect();
    Ok(Curve { name: format!("μ = {mu}"), points })
}

/// Judges where holding ends: half way from the most that holds to the least that slips, which must be in that order.
fn between(session: &mut Session, name: &str, unit: &'static str, [holds, slips, exact, limit]: [f64; 4]) {
    session.info(format!("{name}: most that holds"), holds, unit);
    session.info(format!("{name}: least that slips"), slips, unit);
    session.at_least(format!("{name}: least that slips less most that holds"), slips - holds, unit, 0.0);
    session.at_most(
        format!("{name}: threshold off the right one"),
        (0.5 * (holds + slips) - exact).abs(),
        unit,
        limit,
    );
}

/// Speed gained that counts as slipping [m/s]. What is put down without a force between it and the ground slips a little
/// until there is one; then it stops below the threshold, and only beyond it goes faster and faster.
const SLIPS: f64 = 2e-3;

/// Speed gained along `way` in a second, after one in which friction sets in [m/s].
fn gains(watched: &mut Watched, way: DVec3) -> Result<f64, LabError> {
    let speed = |watched: &Watched| {
        let (mass, _, momentum) = watched.world.momentum();
        momentum.dot(way) / mass
    };
    watched.run(1.0)?;
    let before = speed(watched);
    watched.run(1.0)?;
    Ok(speed(watched) - before)
}

/// Half a degree below the threshold nothing creeps.
fn creep(session: &mut Session, mu: f64, rows: &mut Vec<String>) -> Result<(), LabError> {
    let degrees = mu.atan().to_degrees() - 0.5;
    let mut watched = Watched::of(on_body(degrees, PATTERNS[5].1, Friction::of(mu))?, FRAME)?;
    watched.run(1.0)?;
    let start = watched.positions();
    watched.run(10.0)?;
    let crept = crate::watched::farthest(&start, &watched.positions());
    session.at_most(format!("μ = {mu}, atan μ − 0.5°: creep in 10 s"), 1e3 * crept, "mm", 0.1);
    session.equal(format!("μ = {mu}: frames that intersect"), watched.bad_frames as f64, "", 0.0);
    rows.push(format!("creep in 10 s [m],{mu},{degrees},{crept},0"));
    Ok(())
}

/// Five degrees above it, it slides as it should.
fn sliding(session: &mut Session, mu: f64, rows: &mut Vec<String>) -> Result<(), LabError> {
    let degrees = mu.atan().to_degrees() + 5.0;
    let (s, c) = degrees.to_radians().sin_cos();
    let exact = GRAVITY * (s - mu * c);
    let found = slide(on_body(degrees, PATTERNS[5].1, Friction::of(mu))?, degrees)?;
    let off = (found.acceleration / exact - 1.0).abs();
    session.at_most(format!("μ = {mu}, atan μ + 5°: acceleration off g (sin θ − μ cos θ)"), off, "", 0.02);
    rows.push(format!("acceleration [m/s²],{mu},{degrees},{},{exact}", found.acceleration));
    Ok(())
}

/// Contact forces of a sheet at rest, on the level and on an incline that holds it.
fn weight(session: &mut Session) -> Result<(), LabError> {
    for degrees in [0.0f64, 10.0] {
        let mut watched = Watched::of(on_body(degrees, PATTERNS[5].1, Friction::of(0.6))?, FRAME)?;
        watched.run(2.0)?;
        let touches = watched.world.snapshot().touches;
        let push: f64 = touches.iter().flatten().map(|touch| touch.push).sum();
        let exact = watched.weight() * degrees.to_radians().cos();
        session.at_most(
            format!("{degrees}°: normal contact forces off the weight across the incline"),
            (push / exact - 1.0).abs(),
            "",
            1e-3,
        );
    }
    Ok(())
}

/// Length of the strip [m], its width, and its cells across.
const LENGTH: f64 = 0.4;
const WIDTH: f64 = 0.008;
const ACROSS: usize = 2;
/// Length of its cells [m] on the table and below, and around the roller: a polygon catches on it by about an eighth of
/// its side over the radius.
const COARSE: f64 = 4e-3;
const FINE: f64 = 2.5e-4;
/// Radius of the roller [m].
const ROLLER: f64 = 2e-3;

/// A strip over the edge of a table, which is a roller without friction.
fn overhang(session: &mut Session, rows: &mut Vec<String>) -> Result<(), LabError> {
    for mu in COEFFICIENTS {
        let exact = mu / (1.0 + mu);
        let tried: Vec<f64> = (-4..=4).map(|k| 1.0 + 0.015 * f64::from(k)).collect();
        let slid: Result<Vec<(f64, bool, u64)>, LabError> =
            tried.par_iter().map(|part| hangs(mu, part * exact)).collect();
        let slid = slid?;
        let (mut holds, mut slips) = (0.0f64, f64::MAX);
        for (fraction, slipped, bad) in &slid {
            rows.push(format!("overhang slips,{mu},{fraction},{slipped},{exact}"));
            if *slipped {
                slips = slips.min(*fraction)
            } else {
                holds = holds.max(*fraction)
            }
            session.equal(
                format!("μ = {mu}, {fraction:.4} over the edge: frames that intersect"),
                *bad as f64,
                "",
                0.0,
            );
        }
        let name = format!("μ = {mu}: overhang over μ/(1 + μ)");
        between(session, &name, "", [holds / exact, slips / exact, 1.0, 0.03]);
    }
    Ok(())
}

/// The part of a strip that hangs over the edge, whether it slips within a second, and frames that intersect.
///
/// Without friction on the roller, the pull at its top is that of the height hanging below it; so parts are counted as
/// height below the top against length on the table.
fn hangs(mu: f64, fraction: f64) -> Result<(f64, bool, u64), LabError> {
    let contact = ContactSettings::default();
    let round = ROLLER + contact.gap;
    // A quarter of a circle is longer than it is high.
    let extra = round * (FRAC_PI_2 - 1.0);
    let table = (LENGTH - extra) * (1.0 - fraction);
    let shape = strip_fine_at(table - 8e-3, table + round * FRAC_PI_2 + 8e-3)?;
    let fabric = Fabric { damping: 5e-3, ..Fabric::isotropic(0.2, 1000.0, 0.3, 1e-8) };
    let mut strip = cloth("strip", &shape, fabric)?;
    for p in &mut strip.positions {
        let along = p.x - table;
        let place = if along <= 0.0 {
            (along, contact.gap)
        } else if along < round * FRAC_PI_2 {
            let (s, c) = (along / round).sin_cos();
            (round * s, round * c - ROLLER)
        } else {
            (round, -ROLLER - (along - round * FRAC_PI_2))
        };
        *p = DVec3::new(place.0, place.1, p.z - 0.5 * WIDTH);
    }
    let level = Transform { matrix: DMat3::IDENTITY, offset: DVec3::new(-0.5 * LENGTH - ROLLER, -0.01, 0.0) };
    let size = DVec3::new(LENGTH + ROLLER, 0.02, 0.1);
    let lying = Transform { matrix: DMat3::from_rotation_x(FRAC_PI_2), offset: DVec3::NEG_Y * ROLLER };
    let sagitta = ROLLER * (1.0 - (PI / 48.0).cos()) * (1.0 + 1e-6);
    let bodies = vec![
        body("table", Form::Box { size }, level, 1e-3)?,
        body("roller", Form::Cylinder { radius: ROLLER, height: 0.1 }, lying, sagitta)?,
    ];
    let pairs = vec![([0, 1], Friction::of(mu)), ([0, 2], Friction::NONE)];
    let contact = ContactSettings { pairs, ..contact };
    let tail = shape.group("left").unwrap_or_default().to_vec();
    let pins = vec![PinDown { active: 0.0..0.25, ..PinDown::fixed(0, tail) }];
    let setup = Setup { cloths: vec![strip], bodies, contact, pins, substeps: 2, ..Setup::default() };
    let mut watched = Watched::of(World::new(setup)?, FRAME)?;
    watched.run(0.25)?;
    let tail = |watched: &Watched| watched.world.positions(0)[0].x;
    let x = watched.world.positions(0);
    let low = x.iter().fold(f64::INFINITY, |low, p| low.min(p.y));
    let (below, on) = (contact_top() - low, -tail(&watched));
    let moving = |watched: &Watched| watched.world.velocities(0)[0].x;
    watched.run(0.5)?;
    let before = moving(&watched);
    watched.run(0.5)?;
    // Let go, it slips a little until friction has taken over; it stops there, or goes on faster.
    let slipped = moving(&watched) > before.max(0.0) + SLIPS;
    Ok((below / (below + on), slipped, watched.bad_frames))
}

/// A strip whose cells are short between two places along it.
fn strip_fine_at(from: f64, to: f64) -> Result<Shape, LabError> {
    let mut along = vec![0.0];
    for (end, cell) in [(from, COARSE), (to, FINE), (LENGTH, COARSE)] {
        let start = along[along.len() - 1];
        let cells = ((end - start) / cell).ceil();
        along.extend((1..=cells as usize).map(|k| start + (end - start) * k as f64 / cells));
    }
    let cells = along.len() - 1;
    let mut shape = shapes::sheet(LENGTH, WIDTH, cells, ACROSS, Pattern::Alternating)?;
    let at = |x: f64| along[(x / LENGTH * cells as f64).round() as usize];
    shape.positions.iter_mut().for_each(|p| p.x = at(p.x));
    shape.rest.iter_mut().flatten().for_each(|p| p.x = at(p.x));
    Ok(shape)
}

/// Height at which the strip lies on the table [m].
fn contact_top() -> f64 {
    ContactSettings::default().gap
}
