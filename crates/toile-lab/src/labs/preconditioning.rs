//! V00-10: half of a sheet is wanted ten times more accurately. How much does its error fall when conjugate
//! gradients on D H D stop early, and what does the other half pay?

use crate::hang::Hang;
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use toile::Probe;
use toile::solve::{Accuracy, Integrator, PreconditionerKind};

const CELLS: usize = 40;
const STEP: f64 = 0.01;
const WEIGHT: f64 = 10.0;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let (start, right) = step(PreconditionerKind::Cholesky, 20_000)?;
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    let counts = [5, 10, 20, 40, 80];
    let mut found = Vec::new();
    for kind in [PreconditionerKind::None, PreconditionerKind::Accuracy] {
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        for iterations in counts {
            let (_, v) = step(kind, iterations)?;
            let error = |wanted: bool| {
                let part = (0..v.len()).filter(|i| (start[*i].z <= 0.5) == wanted);
                let (sum, n) =
                    part.fold((0.0, 0), |(sum, n), i| (sum + v[i].distance_squared(right[i]), n + 1));
                (sum / f64::from(n)).sqrt()
            };
            let pair = [error(true), error(false)];
            rows.push(format!("{},{iterations},{:e},{:e}", kind.name(), pair[0], pair[1]));
            if [10, 20, 40].contains(&iterations) {
                let name = format!("{}, {iterations} iterations", kind.name());
                session.info(format!("{name}: error where wanted"), pair[0], "m/s rms");
                session.info(format!("{name}: error elsewhere"), pair[1], "m/s rms");
            }
            inside.push((f64::from(iterations as u32), pair[0]));
            outside.push((f64::from(iterations as u32), pair[1]));
            found.push((kind, iterations, pair));
        }
        curves.push(Curve { name: format!("{}, where wanted", kind.name()), points: inside });
        curves.push(Curve { name: format!("{}, elsewhere", kind.name()), points: outside });
    }
    let of = |kind, iterations| {
        found.iter().find(|f| (f.0, f.1) == (kind, iterations)).map_or([f64::NAN; 2], |f| f.2)
    };
    for iterations in [10, 20, 40] {
        let (plain, weighted) =
            (of(PreconditionerKind::None, iterations), of(PreconditionerKind::Accuracy, iterations));
        let shift = (weighted[1] / weighted[0]) / (plain[1] / plain[0]);
        session.at_least(
            format!("{iterations} iterations: error elsewhere over that where wanted, gained by D"),
            shift,
            "",
            1.0,
        );
        session.info(
            format!("{iterations} iterations: error where wanted over that without D"),
            weighted[0] / plain[0],
            "",
        );
    }
    session.note(
        "D changes which error goes first, not what conjugate gradients minimise: the half that is wanted converges as it \
         would without D, the other half waits; what is gained is that the stop can look at the wanted half alone",
    );
    session.csv(
        "preconditioning",
        "preconditioner,iterations,error where wanted [m/s],error elsewhere [m/s]",
        &rows,
    )?;
    let (x, y) = ("iterations of conjugate gradients".into(), "m/s rms".into());
    session.plot(
        "preconditioning",
        Chart {
            title: "half of the sheet wanted ten times more accurately".into(),
            x,
            y,
            log: (false, true),
            curves,
        },
    )
}

/// Velocities after a step of at most `iterations` from a state in motion, and where the particles started.
fn step(kind: PreconditionerKind, iterations: usize) -> Result<(Vec<DVec3>, Vec<DVec3>), LabError> {
    let mut hang = Hang::new(CELLS, Integrator::LinearEuler, 1);
    hang.solver.tolerance = 1e-12;
    let (mut world, shape) = hang.world()?;
    for _ in 0..20 {
        world.step(STEP, &mut Probe::default())?;
    }
    let moving = world.snapshot();
    hang.solver.preconditioner = kind;
    hang.solver.max_iterations = iterations;
    let (min, max) = (DVec3::new(-1.0, -1.0, -1.0), DVec3::new(2.0, 1.0, 0.5));
    hang.solver.accuracy = Accuracy { min, max, weight: WEIGHT };
    let (mut world, _) = hang.world()?;
    world.restore(moving)?;
    world.step(STEP, &mut Probe::default())?;
    Ok((shape.positions, world.velocities(0)))
}
