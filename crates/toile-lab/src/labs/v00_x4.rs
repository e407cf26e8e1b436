//! V00-X4: does a stiff, finely meshed sheet fall at all with large steps? Drop of the centre of mass in half a second
//! against converged steps a quarter as long, for the papers' steps and ours. Methods that are explicit in part or whole
//! need steps so short that they take half as many cells each way here; `--full` gives them all.

use crate::hang::Hang;
use crate::session::{Chart, Curve, LabError, Session};
use toile::Probe;
use toile::mesh::Pattern;
use toile::solve::Integrator;

/// Cells along a side, stretch stiffness over density [m²/s²] (4 kN/m at 0.2 kg/m²) and time [s].
const CELLS: usize = 100;
const RATIO: f64 = 2e4;
const TIME: f64 = 0.5;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let right = drop(Hang::new(CELLS, Integrator::Bdf2, 120))?;
    session.info("drop in 0.5 s, bdf2 at 4.2 ms", right, "m");
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    let schemes = [
        ("linear-euler (λ = 0)", Integrator::LinearEuler, 0.0),
        ("lambda-midpoint (λ = 0.8)", Integrator::LambdaMidpoint, 0.8),
        ("bdf2, converged", Integrator::Bdf2, 0.0),
    ];
    for (name, integrator, lambda) in schemes {
        let mut points = Vec::new();
        for steps in [15, 30, 60] {
            let start = std::time::Instant::now();
            let mut hang = Hang::new(CELLS, integrator, steps);
            hang.solver.lambda = lambda;
            let dt = TIME / f64::from(steps);
            let dropped = drop(hang);
            session.time(format!("{name}, {steps} steps"), "s", &[start.elapsed().as_secs_f64()]);
            match dropped {
                Ok(drop) => {
                    session.info(
                        format!("{name}, steps of {:.1} ms: drop over the true one", 1e3 * dt),
                        drop / right,
                        "",
                    );
                    rows.push(format!("{name},{dt},{}", drop / right));
                    points.push((dt, drop / right));
                }
                Err(error) => session.note(format!("{name}, steps of {:.1} ms: {error}", 1e3 * dt)),
            }
        }
        if integrator == Integrator::Bdf2 {
            let off = points.last().map_or(f64::NAN, |p| (p.1 - 1.0).abs());
            session.at_most("bdf2, converged, steps of 8.3 ms: off the true drop", off, "", 0.02);
        }
        curves.push(Curve { name: name.into(), points });
    }
    let cells = if session.full { CELLS } else { CELLS / 2 };
    let same = if session.full { right } else { drop(Hang::new(cells, Integrator::Bdf2, 120))? };
    let short = explicit_steps(cells)?;
    // The hybrid chooses its own steps within these.
    for (name, integrator, steps) in
        [("hybrid", Integrator::Hybrid, 60), ("runge-kutta 4", Integrator::Rk4, short)]
    {
        let start = std::time::Instant::now();
        let part = drop(Hang::new(cells, integrator, steps))? / same;
        let name = format!("{name}, {cells} × {cells}");
        session.time(&name, "s", &[start.elapsed().as_secs_f64()]);
        let label = format!("{name}: drop over that of bdf2 at 4.2 ms");
        match integrator {
            Integrator::Rk4 => session.at_most(format!("{label}, less 1"), (part - 1.0).abs(), "", 0.02),
            // As near as the error it is allowed in each step, 1e-5 m, adds up to.
            _ => session.info(label, part, ""),
        }
        rows.push(format!("{name},{},{part}", TIME / f64::from(steps)));
    }
    session.info(format!("runge-kutta 4, {cells} × {cells}: steps it needs"), f64::from(short), "");
    session.csv("v00-x4", "scheme,step [s],drop over the true one", &rows)?;
    let (x, y) = ("step [s]".into(), "drop over the true one".into());
    session.plot(
        "v00-x4",
        Chart { title: "V00-X4: stiff sheets and large steps".into(), x, y, log: (false, false), curves },
    )
}

/// Drop of the centre of mass [m].
fn drop(hang: Hang) -> Result<f64, LabError> {
    let hang = Hang { ratio: RATIO, pattern: Pattern::Structured, ..hang };
    let (mut world, _) = hang.world()?;
    let before = world.momentum().1.y;
    world.step(TIME, &mut Probe::default())?;
    Ok(before - world.momentum().1.y)
}

/// Steps of the classical explicit method at 0.7 of its longest.
fn explicit_steps(cells: usize) -> Result<u32, LabError> {
    let hang = Hang { ratio: RATIO, ..Hang::new(cells, Integrator::Rk4, 1) };
    let longest = hang.world()?.0.longest_step();
    Ok((TIME / (0.7 * longest)).ceil() as u32)
}
