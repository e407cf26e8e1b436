//! V00-3: unsymmetric, symmetrised and mass form, with every Krylov method, operator and preconditioner, on a
//! sheet with pinned, line- and plane-bound particles.

use crate::material::{PATTERNS, border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use toile::mesh::shapes;
use toile::solve::Integrator;
use toile::testing::laws::shake;
use toile::testing::solvers::every_solver;
use toile::{Air, Bending, Fabric, Freedom, Grip, PinDown, Probe, Setup, SolverSettings, World};

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let n = if session.full { 40 } else { 16 };
    // As far as rounding lets every method come: forces here are some thousand weights.
    let (reference, _) = step(
        n,
        SolverSettings { integrator: Integrator::LinearEuler, tolerance: 1e-11, ..SolverSettings::default() },
    )?;
    let size = reference.iter().map(|v| v.length()).fold(0.0, f64::max);
    let (mut rows, mut worst, mut leak) = (Vec::new(), 0.0f64, 0.0f64);
    let mut curve = Vec::new();
    for (k, (name, settings)) in every_solver(1e-11).into_iter().enumerate() {
        let (v, iterations) = step(n, settings)?;
        let off = v.iter().zip(&reference).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max) / size;
        let out = leakage(&v);
        rows.push(format!("{name},{off:e},{out:e},{iterations}"));
        curve.push((k as f64, off.max(1e-17)));
        worst = worst.max(off);
        leak = leak.max(out);
    }
    session.info("combinations", rows.len() as f64, "");
    session.at_most("largest difference of velocities", worst, "relative", 1e-10);
    session.at_most("velocity out of lines and planes", leak / size, "relative", 1e-14);
    session.csv(
        "forms",
        "form method operator preconditioner,relative difference,leak [m/s],iterations",
        &rows,
    )?;
    session.plot(
        "forms",
        Chart {
            title: "Difference from the reference, by combination".into(),
            x: "combination".into(),
            y: "relative difference".into(),
            log: (false, true),
            curves: vec![Curve { name: "largest velocity difference".into(), points: curve }],
        },
    )
}

const LINE: DVec3 = DVec3::new(0.6, 0.0, 0.8);
const PLANE: DVec3 = DVec3::new(0.0, 0.6, 0.8);
const ON_LINE: u32 = 40;
const IN_PLANE: u32 = 60;

fn step(n: usize, solver: SolverSettings) -> Result<(Vec<DVec3>, u64), LabError> {
    let shape = shapes::sheet(1.0, 1.0, n, n, PATTERNS[4].1)?;
    let fabric = Fabric { stretch: [900.0.into(), 500.0.into()], damping: 2e-3, ..Fabric::default() };
    let mut sheet = cloth("sheet", &shape, fabric)?;
    // Forces here are large; plain BiCGStab loses its residual to rounding on the wider rows of exact bending.
    sheet.bending = Bending::Hinge;
    for (i, p) in sheet.positions.iter_mut().enumerate() {
        *p += shake(3, i, 0.02 / n as f64);
    }
    sheet.air = Air { drag: 0.1, normal: 0.4, quadratic: 0.3 };
    let slide = |vertex, freedom| PinDown { grip: Grip::Hard(freedom), ..PinDown::fixed(0, vec![vertex]) };
    let pins = vec![
        PinDown::fixed(0, border(&shape, "left")?),
        slide(ON_LINE, Freedom::Line(LINE)),
        slide(IN_PLANE, Freedom::Plane(PLANE)),
    ];
    let mut world = World::new(Setup { cloths: vec![sheet], pins, solver, substeps: 1, ..Setup::default() })?;
    let mut probe = Probe::default();
    world.step(1.0 / 60.0, &mut probe)?;
    Ok((world.velocities(0), probe.counters.iterations))
}

fn leakage(v: &[DVec3]) -> f64 {
    let on_line = v[ON_LINE as usize];
    (on_line - LINE * LINE.dot(on_line)).length().max(PLANE.dot(v[IN_PLANE as usize]).abs())
}
