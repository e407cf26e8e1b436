//! V00-16 and V00-23: the order of the linearly implicit Runge–Kutta step and of its hybrid, error in proportion to the
//! tolerance, and what the hybrid saves.

use crate::bob::{bob, exact};
use crate::hang::Hang;
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use toile::solve::{Integrator, SolverSettings};
use toile::{Probe, World};

const TIME: f64 = 0.4;

/// A soft sheet, so that short steps show their order before rounding does.
fn soft(integrator: Integrator, steps: u32) -> Hang {
    let solver = SolverSettings { rosenbrock_tolerance: 1e3, ..exact(integrator) };
    Hang { ratio: 50.0, solver, ..Hang::new(4, integrator, steps) }
}

fn fallen(hang: &Hang) -> Result<(Vec<DVec3>, u64), LabError> {
    let (mut world, _): (World, _) = hang.world()?;
    let mut probe = Probe::default();
    world.step(TIME, &mut probe)?;
    Ok((world.positions(0), probe.counters.solves))
}

fn distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    (a.iter().zip(b).map(|(a, b)| a.distance_squared(*b)).sum::<f64>() / a.len() as f64).sqrt()
}

/// The sheet by TR-BDF2 at ever shorter steps would not do: the reference is the scheme itself at eight times the steps,
/// checked against TR-BDF2's.
fn reference(session: &mut Session) -> Result<Vec<DVec3>, LabError> {
    let (right, _) = fallen(&soft(Integrator::Rosenbrock, 6400))?;
    let (other, _) = fallen(&soft(Integrator::TrBdf2, 6400))?;
    session.at_most(
        "sheet: reference against tr-bdf2 at the same steps",
        distance(&right, &other),
        "m",
        1e-6,
    );
    Ok(right)
}

/// Observed order with tangents that are not exact, then error against tolerance.
pub fn run(session: &mut Session) -> Result<(), LabError> {
    let right = reference(session)?;
    let mut curves = vec![order(session, Integrator::Rosenbrock, &right, 3.0)?];
    let mut points = Vec::new();
    for tolerance in [1e-3, 1e-4, 1e-5, 1e-6, 1e-7] {
        let mut hang = soft(Integrator::Rosenbrock, 1);
        hang.solver.rosenbrock_tolerance = tolerance;
        let (x, solves) = fallen(&hang)?;
        let error = distance(&x, &right);
        session.info(format!("tolerance {tolerance:e}: error"), error, "m");
        session.info(format!("tolerance {tolerance:e}: linear solves"), solves as f64, "");
        points.push((tolerance, error));
    }
    let span = |p: &[(f64, f64)]| (p[p.len() - 1].1 / p[0].1).ln() / (p[p.len() - 1].0 / p[0].0).ln();
    let slope = span(&points[1..]);
    session.at_least("error against tolerance, 1e-4 to 1e-7: power", slope, "", 0.8);
    session.at_most("error against tolerance, 1e-4 to 1e-7: power ", slope, "", 1.2);
    let rows: Vec<String> = points.iter().map(|(t, e)| format!("{t:e},{e:e}")).collect();
    session.csv("rosenbrock", "tolerance [m],error [m]", &rows)?;
    bob_order(session)?;
    curves.push(Curve { name: "error against tolerance".into(), points });
    let (x, y) = ("step [s] or tolerance [m]".into(), "error [m]".into());
    session.plot("rosenbrock", Chart { title: "rosenbrock".into(), x, y, log: (true, true), curves })
}

/// The bob against itself at eight times the steps.
fn bob_order(session: &mut Session) -> Result<(), LabError> {
    let settings = SolverSettings { rosenbrock_tolerance: 1e3, ..exact(Integrator::Rosenbrock) };
    let end = |n: usize| -> Result<DVec3, LabError> {
        let mut island = bob(40.0, DVec3::new(0.9, -0.8, 0.0), DVec3::new(0.0, 0.5, 1.5));
        let dt = 1.0 / n as f64;
        for k in 0..n {
            let step = island.advance(&settings, k as f64 * dt, dt, &mut Probe::default());
            step.map_err(|(error, _)| LabError(format!("the bob was lost: {error:?}")))?;
        }
        Ok(island.now.x[1])
    };
    let right = end(6400)?;
    let (a, b) = (end(400)?.distance(right), end(800)?.distance(right));
    session.at_most("bob: order off 3", ((a / b).log2() - 3.0).abs(), "", 0.15);
    Ok(())
}

fn order(
    session: &mut Session,
    integrator: Integrator,
    right: &[DVec3],
    ideal: f64,
) -> Result<Curve, LabError> {
    let mut points = Vec::new();
    for steps in [50, 100, 200, 400] {
        let (x, _) = fallen(&soft(integrator, steps))?;
        points.push((TIME / f64::from(steps), distance(&x, right)));
    }
    let orders: Vec<f64> = points.windows(2).map(|p| (p[0].1 / p[1].1).log2()).collect();
    let name = integrator.name();
    for (k, order) in orders.iter().enumerate() {
        session.info(format!("sheet, {name}: order from {} to {} steps", 50 << k, 100 << k), *order, "");
    }
    session.at_most(format!("sheet, {name}: order off {ideal}"), (orders[2] - ideal).abs(), "", 0.25);
    Ok(Curve { name: format!("{name}, error against step"), points })
}

/// The hybrid: the same order with bending, drag and gravity left out of the matrix, and the matrix it leaves.
pub fn hybrid(session: &mut Session) -> Result<(), LabError> {
    let right = reference(session)?;
    let curves = vec![
        order(session, Integrator::Hybrid, &right, 3.0)?,
        order(session, Integrator::Rosenbrock, &right, 3.0)?,
    ];
    let mut rows = Vec::new();
    // The usual hang: error of the free edge at equal steps, and the time of a step.
    let track = Hang::new(24, Integrator::TrBdf2, 64).reference(64).fall(12)?;
    for integrator in [Integrator::Hybrid, Integrator::Rosenbrock, Integrator::LinearEuler, Integrator::Bdf2]
    {
        for substeps in [8, 16, 32] {
            let mut hang = Hang::new(24, integrator, substeps);
            hang.solver.rosenbrock_tolerance = 1e3;
            let clock = std::time::Instant::now();
            let (name, fell) = (integrator.name(), hang.fall(12));
            let seconds = clock.elapsed().as_secs_f64();
            match fell {
                Ok(fell) => {
                    let off = fell.edge_distance(&track, 12);
                    session.info(
                        format!("hang, {name}, {substeps} steps per frame: free edge off"),
                        off,
                        "m rms",
                    );
                    rows.push(format!("{name},{substeps},{off:e},{seconds}"));
                }
                Err(error) => session.note(format!("hang, {name}, {substeps} steps per frame: {error}")),
            }
        }
    }
    session.csv("hybrid", "integrator,steps per frame,free edge off [m rms],wall time [s]", &rows)?;
    let (x, y) = ("step [s]".into(), "error [m]".into());
    session.plot("hybrid", Chart { title: "hybrid: soft sheet".into(), x, y, log: (true, true), curves })
}
