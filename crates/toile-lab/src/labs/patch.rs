//! Patch tests: homogeneous deformation of an orthotropic sheet must come out exactly, whatever the mesh.
//!
//! Closed forms, with F the deformation gradient, ε the strain, S = E ε and P the nominal stress
//! (force per reference width) [N/m]:
//! Green strain, tension: ε₁ = ½(λ² − 1), P = λ Y₁ ε₁, transverse stretch √(1 − ν(λ² − 1));
//! engineering strain: P = Y₁ (λ − 1), transverse 1 − ν(λ − 1); simple shear γ: P = F S.

use crate::material::{PATTERNS, border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use glam::{DMat2, DVec2, DVec3};
use toile::drive::{Key, Motion};
use toile::forces::Strain;
use toile::mesh::{Pattern, Shape, shapes};
use toile::solve::Integrator;
use toile::testing::laws::shake;
use toile::{Bending, Fabric, Freedom, Grip, PinDown, Probe, Setup, SolverSettings, Stretching, World};

/// The fabric of the reference tables: warp 1, weft 0.5, ν 0.3, shear 0.05, in units of 1000 N/m.
const SCALE: f64 = 1000.0;

fn fabric() -> Fabric {
    Fabric {
        density: 0.2,
        stretch: [SCALE.into(), (0.5 * SCALE).into()],
        shear: (0.05 * SCALE).into(),
        poisson: 0.3,
        bend: 0.0.into(),
        ..Fabric::default()
    }
}

/// Steps so long that inertia is nothing: each is a Newton step towards equilibrium.
const LONG: f64 = 100.0;
const STEPS: usize = 60;

const WIDTH: f64 = 0.3;
const HEIGHT: f64 = 0.2;

fn sheet(pattern: Pattern, turned: bool) -> Result<Shape, LabError> {
    let mut shape = shapes::sheet(WIDTH, HEIGHT, 6, 4, pattern)?;
    if turned {
        // The weft along x: turn the material coordinates by a quarter.
        for p in shape.rest.iter_mut().flatten() {
            *p = DVec2::new(p.y, -p.x);
        }
    }
    Ok(shape)
}

/// Lets the sheet find its equilibrium under `pins` from a start disturbed by some metres within its plane.
fn relax(
    shape: &Shape,
    strain: Strain,
    pins: Vec<PinDown>,
    free: &[u32],
    disturbed: f64,
) -> Result<World, LabError> {
    let mut sheet = cloth("patch", shape, fabric())?;
    sheet.stretching = Stretching::Membrane(strain);
    sheet.bending = Bending::None;
    for &v in free {
        let mut off = shake(9, v as usize, disturbed);
        off.y = 0.0;
        sheet.positions[v as usize] += off;
    }
    let solver = SolverSettings {
        integrator: Integrator::LinearEuler,
        tolerance: 1e-12,
        max_iterations: 3000,
        ..SolverSettings::default()
    };
    let gravity = DVec3::ZERO;
    let mut world =
        World::new(Setup { cloths: vec![sheet], pins, gravity, solver, substeps: 1, ..Setup::default() })?;
    for _ in 0..STEPS {
        world.step(LONG, &mut Probe::default())?;
    }
    Ok(world)
}

/// Mean nominal stress Σ f ⊗ X over the area [N/m], from the forces that hold the border. Rows are x and z in
/// space, columns x and z at rest.
fn nominal_stress(world: &World, shape: &Shape) -> DMat2 {
    let forces = world.forces(0);
    let mut sum = DMat2::ZERO;
    for (force, at) in forces.iter().zip(&shape.positions) {
        let f = DVec2::new(-force.x, -force.z);
        sum += DMat2::from_cols(f * at.x, f * at.z);
    }
    sum * (1.0 / (WIDTH * HEIGHT))
}

pub fn tension(session: &mut Session) -> Result<(), LabError> {
    let stretches = [0.95, 0.98, 1.005, 1.01, 1.02, 1.05, 1.1, 1.15, 1.2, 1.3];
    let reference = session.reference("validation/uniaxial_tension_orthotropic.csv");
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    let (mut crossed, mut cross_worst) = (0, 0.0f64);
    for (law, strain) in [("green", Strain::Green), ("engineering", Strain::Engineering)] {
        for turned in [false, true] {
            let axis = if turned { "weft" } else { "warp" };
            let (mut force_error, mut width_error) = (0.0f64, 0.0f64);
            let mut points = Vec::new();
            for stretch in stretches {
                let (force, transverse) = closed_tension(strain, turned, stretch);
                for (name, pattern) in PATTERNS {
                    let (got_force, got_transverse) = pull(strain, turned, pattern, stretch)?;
                    let error = (got_force / force - 1.0).abs();
                    force_error = force_error.max(error);
                    width_error = width_error.max((got_transverse - transverse).abs());
                    rows.push(format!(
                        "{law},{axis},{name},{stretch},{got_force},{force},{got_transverse},{transverse}"
                    ));
                }
                points.push((stretch, force));
                if let Some((f, w)) = table_tension(reference.as_deref(), law, axis, stretch) {
                    crossed += 1;
                    cross_worst =
                        cross_worst.max((force / SCALE / f - 1.0).abs()).max((transverse - w).abs());
                }
            }
            session.at_most(format!("{law}, {axis}: force"), force_error, "relative", 1e-6);
            session.at_most(format!("{law}, {axis}: transverse stretch"), width_error, "", 1e-6);
            curves.push(Curve { name: format!("{law}, {axis}"), points });
        }
    }
    if reference.is_some() {
        session.at_least("rows of the reference table met", f64::from(crossed), "", 20.0);
        session.at_most("closed form against the reference table", cross_worst, "relative", 1e-8);
    }
    let header = "law,axis,pattern,stretch,force [N/m],closed form [N/m],transverse stretch,closed form";
    session.csv("tension", header, &rows)?;
    session.plot(
        "tension",
        Chart {
            title: "Uniaxial tension of an orthotropic sheet".into(),
            x: "stretch".into(),
            y: "force per reference width [N/m]".into(),
            log: (false, false),
            curves,
        },
    )
}

fn closed_tension(strain: Strain, turned: bool, stretch: f64) -> (f64, f64) {
    let [warp, weft] = fabric().stretch.map(|curve| curve.initial());
    let (young, poisson) = if turned { (weft, 0.3 * weft / warp) } else { (warp, 0.3) };
    match strain {
        Strain::Green => {
            let green = 0.5 * (stretch * stretch - 1.0);
            (stretch * young * green, (1.0 - 2.0 * poisson * green).sqrt())
        }
        Strain::Engineering => (young * (stretch - 1.0), 1.0 - poisson * (stretch - 1.0)),
    }
}

/// Force per reference width [N/m] and transverse stretch of a sheet pulled along x.
fn pull(strain: Strain, turned: bool, pattern: Pattern, stretch: f64) -> Result<(f64, f64), LabError> {
    let shape = sheet(pattern, turned)?;
    let moved = Key {
        time: LONG,
        translate: DVec3::X * (WIDTH * (stretch - 1.0)),
        rotate: DVec3::ZERO,
        scale: DVec3::ONE,
    };
    // The first step takes the right end there; both ends slide within their planes.
    let start = Key { time: 0.0, translate: DVec3::ZERO, ..moved };
    let (left, right) = (border(&shape, "left")?, border(&shape, "right")?);
    let slide = |vertices: &[u32], motion: Motion| PinDown {
        grip: Grip::Hard(Freedom::Plane(DVec3::X)),
        motion,
        ..PinDown::fixed(0, vertices.to_vec())
    };
    let corner = *left
        .iter()
        .min_by(|a, b| {
            let z = |v: &u32| shape.positions[*v as usize].z;
            z(a).total_cmp(&z(b))
        })
        .ok_or_else(|| LabError("no left border".into()))?;
    let first = Motion { keys: vec![start, moved], ..Motion::still() };
    let mut pins = vec![slide(&left, Motion::still()), slide(&right, first)];
    pins.push(PinDown::fixed(0, vec![corner]));
    let held: Vec<u32> = [left, right].concat();
    let free: Vec<u32> = (0..shape.positions.len() as u32).filter(|v| !held.contains(v)).collect();
    // A warp compressed by 5 % is past shear buckling (its stress nears the shear stiffness): disturbed, it
    // would rightly leave the homogeneous state that the closed form describes.
    let disturbed = if stretch < 1.0 { 0.0 } else { 0.002 };
    let world = relax(&shape, strain, pins, &free, disturbed)?;
    let force = nominal_stress(&world, &shape).x_axis.x;
    let x = world.positions(0);
    let z = |name: &str| -> Result<f64, LabError> {
        let group = border(&shape, name)?;
        Ok(group.iter().map(|v| x[*v as usize].z).sum::<f64>() / group.len() as f64)
    };
    Ok((force, (z("top")? - z("bottom")?) / HEIGHT))
}

/// Force over Y₁ and transverse stretch from the reference table.
fn table_tension(text: Option<&str>, law: &str, axis: &str, stretch: f64) -> Option<(f64, f64)> {
    let key = if law == "green" { "StVK" } else { "linear" };
    for line in text?.lines().skip(1) {
        let (case, rest) = line.trim_start_matches('"').split_once("\",")?;
        let cells: Vec<f64> = rest.split(',').take(3).filter_map(|cell| cell.parse().ok()).collect();
        if case.starts_with(key) && case.ends_with(axis) && cells.len() == 3 && cells[0] == stretch {
            return Some((cells[2], cells[1]));
        }
    }
    None
}

pub fn shear(session: &mut Session) -> Result<(), LabError> {
    let reference = session.reference("validation/simple_shear.csv");
    let mut rows = Vec::new();
    let (mut stress_error, mut affine_error, mut points) = (0.0f64, 0.0f64, Vec::new());
    let (mut crossed, mut cross_worst) = (0, 0.0f64);
    for gamma in [0.01, 0.05, 0.1, 0.2, 0.3] {
        let stress = closed_shear(gamma);
        for (name, pattern) in PATTERNS {
            let shape = sheet(pattern, false)?;
            let (got, off) = sheared(&shape, gamma)?;
            let error = (got - stress).abs();
            let error = error.x_axis.max_element().max(error.y_axis.max_element());
            stress_error = stress_error.max(error / stress.y_axis.x.abs());
            affine_error = affine_error.max(off);
            rows.push(format!("{name},{gamma},{},{},{}", got.y_axis.x, stress.y_axis.x, off));
        }
        points.push((gamma, stress.y_axis.x));
        if let Some(table) = table_shear(reference.as_deref(), gamma) {
            crossed += 1;
            let ours = [stress.y_axis.x, stress.y_axis.y, stress.x_axis.x, stress.x_axis.y];
            for (mine, theirs) in ours.iter().zip(table) {
                cross_worst = cross_worst.max((mine / SCALE / theirs - 1.0).abs());
            }
        }
    }
    session.at_most("nominal stress", stress_error, "relative to P₁₂", 1e-6);
    session.at_most("interior off the affine map", affine_error, "m", 1e-9);
    if reference.is_some() {
        session.at_least("rows of the reference table met", f64::from(crossed), "", 5.0);
        session.at_most("closed form against the reference table", cross_worst, "relative", 1e-8);
    }
    session.csv("shear", "pattern,gamma,P12 [N/m],closed form [N/m],off the affine map [m]", &rows)?;
    session.plot(
        "shear",
        Chart {
            title: "Simple shear of an orthotropic sheet".into(),
            x: "shear".into(),
            y: "shear stress P12 [N/m]".into(),
            log: (false, false),
            curves: vec![Curve { name: "closed form".into(), points }],
        },
    )
}

/// P of F = [[1, γ], [0, 1]], columns warp and weft.
fn closed_shear(gamma: f64) -> DMat2 {
    let [_, e22, e12, e33] = fabric().stiffness();
    let green = 0.5 * gamma * gamma;
    let s = DMat2::from_cols(DVec2::new(e12 * green, e33 * gamma), DVec2::new(e33 * gamma, e22 * green));
    DMat2::from_cols(DVec2::X, DVec2::new(gamma, 1.0)) * s
}

/// Nominal stress, and how far the interior is from the affine map [m].
fn sheared(shape: &Shape, gamma: f64) -> Result<(DMat2, f64), LabError> {
    let mut shape = shape.clone();
    let rest = shape.positions.clone();
    let image: Vec<DVec3> = rest.iter().map(|p| *p + DVec3::X * (gamma * p.z)).collect();
    shape.positions = image.clone();
    let held = border(&shape, "border")?;
    let free: Vec<u32> = (0..rest.len() as u32).filter(|v| !held.contains(v)).collect();
    let world = relax(&shape, Strain::Green, vec![PinDown::fixed(0, held)], &free, 0.002)?;
    let x = world.positions(0);
    let off = x.iter().zip(&image).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
    shape.positions = rest;
    Ok((nominal_stress(&world, &shape), off))
}

/// P₁₂, P₂₂, P₁₁, P₂₁ over Y₁ from the reference table.
fn table_shear(text: Option<&str>, gamma: f64) -> Option<[f64; 4]> {
    let rows = text?
        .lines()
        .skip(1)
        .map(|line| -> Vec<f64> { line.split(',').filter_map(|cell| cell.parse().ok()).collect() });
    rows.into_iter().find(|row| row.len() == 5 && row[0] == gamma).map(|row| [row[1], row[2], row[3], row[4]])
}
