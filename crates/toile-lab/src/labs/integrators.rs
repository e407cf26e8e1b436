//! Work and precision of every integrator on three scenes: error of the free edge against linear solves.
//!
//! Solves are the unit of work because they are most of the time of a step and the same on every machine. Schemes run
//! with their usual limits, as a user would have them; the reference is TR-BDF2 with 64 steps per frame and tight
//! limits.

use crate::hang::{FRAME, Hang};
use crate::material::{border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use std::time::Instant;
use toile::mesh::Shape;
use toile::solve::Integrator;
use toile::{Air, PinDown, Probe, Setup, SolverSettings, WindField, World};

/// Frames of 31.6 ms: to 0.474 s.
const FRAMES: usize = 15;
const SIZE: usize = 16;
const SUBSTEPS: [u32; 5] = [1, 2, 4, 8, 16];
const REFERENCE: u32 = 64;
/// A free edge farther off than this [m] says no more than that the scheme has failed.
const FAILED: f64 = 1.0;

const SCHEMES: [Integrator; 5] = [
    Integrator::Bdf2,
    Integrator::TrBdf2,
    Integrator::ImplicitEuler,
    Integrator::LinearEuler,
    Integrator::LambdaMidpoint,
];

struct Scene {
    name: &'static str,
    file: &'static str,
    /// Stretch stiffness over density [m²/s²].
    ratio: f64,
    /// Held by two corners in the wind, not by an edge in still air.
    wind: bool,
}

const SCENES: [Scene; 3] = [
    Scene { name: "hang, k/rho 5e3", file: "hang-soft", ratio: 5e3, wind: false },
    Scene { name: "hang, k/rho 5e5", file: "hang-stiff", ratio: 5e5, wind: false },
    Scene { name: "two corners in the wind, k/rho 5e3", file: "wind", ratio: 5e3, wind: true },
];

/// One run: free edge per frame, solves and milliseconds.
struct Run {
    edge: Vec<Vec<DVec3>>,
    solves: f64,
    evaluations: f64,
    milliseconds: f64,
}

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    for scene in &SCENES {
        let hang = Hang { ratio: scene.ratio, ..Hang::new(SIZE, Integrator::TrBdf2, 1) };
        let reference = scene.run(&hang.reference(REFERENCE))?;
        let half = scene.run(&hang.reference(REFERENCE / 2))?;
        session.info(
            format!("{}: reference off that with half the steps", scene.name),
            apart(&half, &reference),
            "m",
        );
        let mut curves = Vec::new();
        for integrator in SCHEMES {
            let (mut points, mut times) = (Vec::new(), Vec::new());
            for substeps in SUBSTEPS {
                let solver = SolverSettings { integrator, ..SolverSettings::default() };
                let label = format!("{}, {}, {substeps} per frame", scene.name, integrator.name());
                match scene.run(&Hang { solver, substeps, ..hang }) {
                    Ok(run) => {
                        let error = apart(&run, &reference);
                        let cells = (1e3 * FRAME / f64::from(substeps), error, run.solves);
                        let name = scene.name.replace(',', "");
                        rows.push(format!(
                            "{name},{},{:.3},{:.6},{}",
                            integrator.name(),
                            cells.0,
                            cells.1,
                            cells.2
                        ));
                        times.push(run.milliseconds / run.solves);
                        points.push((run.solves, error));
                    }
                    Err(error) => {
                        session.note(format!("{label}: failed ({})", error.0));
                        points.push((f64::NAN, f64::INFINITY));
                    }
                }
            }
            let label = format!("{}, {}: time per solve", scene.name, integrator.name());
            session.time(label, "ms", &times);
            curves.push((integrator, points));
        }
        explicit(session, scene, &hang, &reference, &mut rows)?;
        judge(session, scene, &curves);
        let shown = |(integrator, points): (Integrator, Vec<(f64, f64)>)| Curve {
            name: integrator.name().into(),
            points: points.into_iter().filter(|(_, error)| *error < FAILED).collect(),
        };
        session.plot(
            scene.file,
            Chart {
                title: format!("{}: error against work, 31.6 ms to 2 ms", scene.name),
                x: "linear solves".into(),
                y: "free edge off the limit h → 0, rms to 0.47 s [m]".into(),
                log: (true, true),
                curves: curves.into_iter().map(shown).collect(),
            },
        )?;
    }
    session.csv("integrators", "scene,scheme,step [ms],error [m],linear solves", &rows)
}

const EXPLICIT: [Integrator; 5] =
    [Integrator::Verlet, Integrator::Symplectic, Integrator::Heun, Integrator::Midpoint, Integrator::Rk4];

/// Explicit schemes from half Verlet's longest stable step down; their work is in evaluations of all forces. Heun and
/// midpoint, which grow at any step, are lost at the longer ones.
fn explicit(
    session: &mut Session,
    scene: &Scene,
    hang: &Hang,
    reference: &Run,
    rows: &mut Vec<String>,
) -> Result<(), LabError> {
    let mut curves = Vec::new();
    let verlet = SolverSettings { integrator: Integrator::Verlet, ..SolverSettings::default() };
    let longest = scene.world(&Hang { solver: verlet, ..*hang })?.0.longest_step();
    for integrator in EXPLICIT {
        let solver = SolverSettings { integrator, ..verlet };
        let (mut points, mut times) = (Vec::new(), Vec::new());
        for halving in 1..4 {
            let substeps = (FRAME / longest * f64::from(1 << halving)).ceil() as u32;
            match scene.run(&Hang { solver, substeps, ..*hang }) {
                Ok(run) => {
                    let (step, error) = (1e3 * FRAME / f64::from(substeps), apart(&run, reference));
                    let name = scene.name.replace(',', "");
                    rows.push(format!(
                        "{name},{},{step:.4},{error:.6},{}",
                        integrator.name(),
                        run.evaluations
                    ));
                    times.push(run.milliseconds / run.evaluations);
                    points.push((run.evaluations, error));
                }
                Err(error) => session.note(format!("{}, {}: {}", scene.name, integrator.name(), error.0)),
            }
        }
        session.time(format!("{}, {}: time per evaluation", scene.name, integrator.name()), "ms", &times);
        if let Some((work, error)) = points.first() {
            let label =
                format!("{}, {} at the longest of its steps that held", scene.name, integrator.name());
            session.info(format!("{label}: error"), *error, "m");
            session.info(format!("{label}: evaluations"), *work, "");
        }
        curves.push(Curve { name: integrator.name().into(), points });
    }
    session.plot(
        &format!("{}-explicit", scene.file),
        Chart {
            title: format!("{}: error against work, explicit", scene.name),
            x: "evaluations of all forces".into(),
            y: "free edge off the limit h → 0, rms to 0.47 s [m]".into(),
            log: (true, true),
            curves,
        },
    )
}

/// Both schemes of second order against both of Euler's, at equal steps and at equal work.
fn judge(session: &mut Session, scene: &Scene, curves: &[(Integrator, Vec<(f64, f64)>)]) {
    let of = |wanted: Integrator| curves.iter().find(|(i, _)| *i == wanted).map_or(&[][..], |(_, p)| &p[..]);
    for second in [Integrator::Bdf2, Integrator::TrBdf2] {
        for first in [Integrator::ImplicitEuler, Integrator::LinearEuler] {
            let pairs = of(second).iter().zip(of(first));
            let equal_steps = pairs.map(|(a, b)| a.1 / b.1).fold(0.0, f64::max);
            let name = format!("{}: error of {} over that of {}", scene.name, second.name(), first.name());
            if scene.ratio >= 5e5 {
                session.at_most(format!("{name}, equal steps, at worst"), equal_steps, "", 1.0);
            } else {
                session.info(format!("{name}, equal steps, at worst"), equal_steps, "");
            }
            let ratios = of(second).iter().filter_map(|a| Some(a.1 / error_at(of(first), a.0)?));
            // Without a common range there is nothing to show.
            let equal_work = ratios.reduce(f64::max).unwrap_or(f64::INFINITY);
            if scene.ratio >= 5e5 {
                session.at_most(format!("{name}, equal solves, at worst"), equal_work, "", 1.0);
            } else {
                session.info(format!("{name}, equal solves, at worst"), equal_work, "");
            }
        }
    }
}

/// Error of a scheme at this many solves, between those measured.
fn error_at(points: &[(f64, f64)], solves: f64) -> Option<f64> {
    points.windows(2).find_map(|pair| {
        let [a, b] = [pair[0], pair[1]].map(|p| (p.0.ln(), p.1.ln()));
        let part = (solves.ln() - a.0) / (b.0 - a.0);
        (0.0..=1.0).contains(&part).then(|| (a.1 + part * (b.1 - a.1)).exp())
    })
}

/// Root mean square distance of two free edges over all frames [m].
fn apart(a: &Run, b: &Run) -> f64 {
    let pairs = a.edge.iter().flatten().zip(b.edge.iter().flatten());
    let (sum, count) = pairs.fold((0.0, 0.0), |(sum, n), (a, b)| (sum + a.distance_squared(*b), n + 1.0));
    f64::sqrt(sum / count)
}

impl Scene {
    fn world(&self, hang: &Hang) -> Result<(World, Shape), LabError> {
        if !self.wind {
            return hang.world();
        }
        let shape = hang.shape()?;
        let left = border(&shape, "left")?;
        let corners =
            left.into_iter().filter(|v| [0.0, 1.0].contains(&shape.positions[*v as usize].z)).collect();
        let mut sheet = cloth("sheet", &shape, hang.fabric())?;
        sheet.air = Air { normal: 0.5, ..Air::default() };
        let setup = Setup {
            cloths: vec![sheet],
            pins: vec![PinDown::fixed(0, corners)],
            wind: WindField { velocity: DVec3::new(2.0, 1.0, 0.5), ..WindField::default() },
            substeps: hang.substeps,
            solver: hang.solver,
            ..Setup::default()
        };
        Ok((World::new(setup)?, shape))
    }

    fn run(&self, hang: &Hang) -> Result<Run, LabError> {
        let (mut world, shape) = self.world(hang)?;
        let free = border(&shape, "right")?;
        let mut probe = Probe::default();
        let mut edge = Vec::new();
        let start = Instant::now();
        for _ in 0..FRAMES {
            world.step(FRAME, &mut probe)?;
            let x = world.positions(0);
            edge.push(free.iter().map(|v| x[*v as usize]).collect());
        }
        let milliseconds = 1e3 * start.elapsed().as_secs_f64();
        let (solves, evaluations) = (probe.counters.solves as f64, probe.counters.evaluations as f64);
        Ok(Run { edge, solves, evaluations, milliseconds })
    }
}
