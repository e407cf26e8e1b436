//! V00-14: draping without motion, to a residual in newtons, at every regularising time h; and the shape it ends
//! in against that of cloth which swung until it rested.

use crate::hang::Hang;
use crate::material::cloth;
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use toile::mesh::{Pattern, shapes};
use toile::solve::{DrapeSettings, Integrator};
use toile::{Air, Fabric, PinDown, Probe, Setup, SolverSettings, World};

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for (ratio, limit) in [(5e3, 100.0), (5e5, 100.0), (5e7, 150.0)] {
        let mut points = Vec::new();
        for h in [0.01, 0.03, 0.1, 0.3, 1.0, 10.0, 100.0] {
            let (solves, residual) = drape(ratio, h)?;
            rows.push(format!("{ratio:e},{h},{solves},{residual:e}"));
            points.push((h, solves));
            let name = format!("k/rho = {ratio:.0e}, h = {h} s: solves to 1e-6 N");
            // V00's h below the time in which cloth falls its own size only slows draping down.
            match h >= 0.3 {
                true => session.at_most(name, solves, "", limit),
                false => session.info(name, solves, ""),
            }
            session.at_most(
                format!("k/rho = {ratio:.0e}, h = {h} s: force left on a particle"),
                residual,
                "N",
                1e-6,
            );
        }
        curves.push(Curve { name: format!("k/rho = {ratio:.0e}"), points });
    }
    let apart = rest_shapes(session)?;
    session.at_most("hammock: draped off the shape in which it came to rest", apart, "of its size", 0.01);
    session.csv("quasistatic", "k/rho [m²/s²],h [s],solves,residual [N]", &rows)?;
    session.plot(
        "quasistatic",
        Chart {
            title: "Draping from horizontal to 1e-6 N".into(),
            x: "h [s]".into(),
            y: "linear solves".into(),
            log: (true, true),
            curves,
        },
    )
}

/// Solves until no particle of `hang` feels more than 1e-6 N, and what it feels in the end [N].
fn drape(ratio: f64, h: f64) -> Result<(f64, f64), LabError> {
    let drape = DrapeSettings { step: h, residual: 1e-6, max_solves: 20_000 };
    let solver = SolverSettings { integrator: Integrator::QuasiStatic, drape, ..SolverSettings::default() };
    let hang = Hang { ratio, solver, ..Hang::new(16, Integrator::QuasiStatic, 1) };
    let (mut world, shape) = hang.world()?;
    let mut probe = Probe::default();
    world.step(1.0, &mut probe)?;
    let held = crate::material::border(&shape, "left")?;
    let force = world.forces(0);
    let free = (0..force.len()).filter(|i| !held.contains(&(*i as u32)));
    Ok((probe.counters.solves as f64, free.map(|i| force[i].length()).fold(0.0, f64::max)))
}

/// A hammock, a square held by two opposite borders 0.7 m apart: largest distance between its shape after draping
/// and after swinging in thick air until it rests, over its size. (Cloth with folds has many equilibria; this has one.)
fn rest_shapes(session: &mut Session) -> Result<f64, LabError> {
    let settle = |integrator: Integrator, frames: usize, dt: f64| -> Result<(World, f64), LabError> {
        let shape = shapes::sheet(1.0, 1.0, 24, 24, Pattern::Structured)?;
        let fabric = Fabric { bend: 5e-5.into(), damping: 0.01, ..Fabric::default() };
        let mut sheet = cloth("sheet", &shape, fabric)?;
        sheet.air = Air { drag: 0.4, normal: 0.4, quadratic: 0.0 };
        for p in &mut sheet.positions {
            *p = DVec3::new(0.7 * p.x, -1.3 * p.x * (1.0 - p.x), p.z);
        }
        let mut held = crate::material::border(&shape, "left")?;
        held.extend(crate::material::border(&shape, "right")?);
        let drape = DrapeSettings { max_solves: 2000, ..SolverSettings::default().drape };
        let solver = SolverSettings { integrator, drape, ..SolverSettings::default() };
        let setup = Setup {
            cloths: vec![sheet],
            pins: vec![PinDown::fixed(0, held)],
            solver,
            substeps: 1,
            ..Setup::default()
        };
        let mut world = World::new(setup)?;
        for _ in 0..frames {
            world.step(dt, &mut Probe::default())?;
        }
        let fastest = world.velocities(0).iter().map(|v| v.length()).fold(0.0, f64::max);
        Ok((world, fastest))
    };
    let (draped, _) = settle(Integrator::QuasiStatic, 1, 1.0)?;
    let (rested, speed) = settle(Integrator::ImplicitEuler, 600, 1.0 / 30.0)?;
    session.at_most("hammock: fastest particle when it rests", speed, "m/s", 1e-3);
    let (a, b) = (draped.positions(0), rested.positions(0));
    Ok(a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max))
}
