//! Free fall of a crumpled cloth: whatever the solver leaves undone, momentum is kept and nothing drifts.

use crate::material::{PATTERNS, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use toile::forces::{Strain, Tangent};
use toile::mesh::shapes;
use toile::testing::laws::shake;
use toile::testing::solvers::every_solver;
use toile::{Fabric, Probe, Setup, SolverSettings, Stretching, World};

const FRAMES: usize = 30;
const DT: f64 = 1.0 / 60.0;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let laws = [
        ("membrane", Stretching::Membrane(Strain::Green)),
        ("engineering", Stretching::Membrane(Strain::Engineering)),
        ("springs", Stretching::Springs(Tangent::Safe)),
    ];
    let (mut rows, mut momentum, mut drift, mut late) = (Vec::new(), 0.0f64, 0.0f64, 0.0f64);
    let mut curve = Vec::new();
    for (law, stretching) in laws {
        // The default tolerance: conservation must not depend on solving precisely.
        for (name, settings) in every_solver(1e-3) {
            let found = fall(stretching, settings)?;
            rows.push(format!("{law},{name},{:e},{:e},{:e}", found.momentum, found.sideways, found.height));
            curve.push((curve.len() as f64, found.sideways.max(1e-18)));
            momentum = momentum.max(found.momentum);
            drift = drift.max(found.sideways);
            late = late.max(found.height);
        }
    }
    session.info("combinations of law and solver", rows.len() as f64, "");
    session.at_most("momentum off m g t", momentum, "relative", 1e-12);
    session.at_most("sideways drift of the centre", drift, "m", 1e-13);
    session.at_most("height off the discrete parabola", late, "m", 1e-12);
    session.csv("freefall", "law,solver,momentum error,sideways drift [m],height error [m]", &rows)?;
    session.plot(
        "freefall",
        Chart {
            title: "Sideways drift after half a second of free fall".into(),
            x: "combination of law and solver".into(),
            y: "drift [m]".into(),
            log: (false, true),
            curves: vec![Curve { name: "drift".into(), points: curve }],
        },
    )
}

struct Fall {
    momentum: f64,
    sideways: f64,
    height: f64,
}

fn fall(stretching: Stretching, solver: SolverSettings) -> Result<Fall, LabError> {
    let shape = shapes::sheet(0.5, 0.5, 10, 10, PATTERNS[5].1)?;
    let mut sheet = cloth("sheet", &shape, Fabric { damping: 1e-3, ..Fabric::default() })?;
    sheet.stretching = stretching;
    for (i, p) in sheet.positions.iter_mut().enumerate() {
        *p += shake(21, i, 0.01);
    }
    let mut world = World::new(Setup { cloths: vec![sheet], solver, substeps: 1, ..Setup::default() })?;
    let (mass, start, _) = world.momentum();
    for _ in 0..FRAMES {
        world.step(DT, &mut Probe::default())?;
    }
    let (_, end, momentum) = world.momentum();
    let time = FRAMES as f64 * DT;
    let fallen = mass * 9.81 * time;
    // Implicit Euler falls g h² n(n+1)/2, a little more than ½ g t².
    let expected = -9.81 * DT * DT * (FRAMES * (FRAMES + 1)) as f64 / 2.0;
    let moved = end - start;
    Ok(Fall {
        momentum: (momentum - DVec3::new(0.0, -fallen, 0.0)).length() / fallen,
        sideways: moved.x.abs().max(moved.z.abs()),
        height: (moved.y - expected).abs(),
    })
}
