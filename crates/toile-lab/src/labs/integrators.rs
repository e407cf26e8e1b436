//! Work and precision of every integrator on three scenes: error of the free edge against linear solves, evaluations of
//! forces, and time.
//!
//! Solves are the unit of work that judges because they are most of the time of an implicit step and the same on every
//! machine; what has no solves is seen beside them by its time. Schemes run with their usual limits, as a user would have
//! them; the reference is TR-BDF2 with 64 steps per frame and tight limits. Solvers that know only springs are held
//! against a reference of springs.

use crate::hang::{FRAME, Hang};
use crate::material::border;
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
        let mut sweep = Sweep { session, scene, rows: &mut rows, times: Vec::new() };
        let curves: Vec<(Integrator, Points)> = SCHEMES
            .into_iter()
            .map(|integrator| {
                let hangs = SUBSTEPS.map(|substeps| sweep.settled(&hang, integrator, substeps));
                (integrator, sweep.points(integrator, &hangs, &reference, Work::Solves))
            })
            .collect();
        for integrator in [Integrator::Rosenbrock, Integrator::Hybrid] {
            let hangs = TOLERANCES.map(|tolerance| {
                let mut hang = sweep.settled(&hang, integrator, 1);
                hang.solver.rosenbrock_tolerance = tolerance;
                hang
            });
            sweep.points(integrator, &hangs, &reference, Work::Solves);
        }
        let springs = Hang { springs: true, ..hang };
        let same = scene.run(&springs.reference(REFERENCE))?;
        for integrator in [Integrator::K02, Integrator::Precomputed] {
            let hangs = [16, 64, 256].map(|substeps| sweep.settled(&springs, integrator, substeps));
            sweep.points(integrator, &hangs, &same, Work::Steps);
        }
        let verlet = sweep.settled(&hang, Integrator::Verlet, 1);
        let longest = scene.world(&verlet)?.0.longest_step();
        let mut explicit = Vec::new();
        for integrator in EXPLICIT {
            let hangs = [1, 2, 3].map(|halving| {
                let substeps = (FRAME / longest * f64::from(1 << halving)).ceil() as u32;
                sweep.settled(&hang, integrator, substeps)
            });
            let points = sweep.points(integrator, &hangs, &reference, Work::Evaluations);
            explicit.push(shown((integrator, points)));
        }
        let times = std::mem::take(&mut sweep.times);
        judge(session, scene, &curves);
        let plots = [
            ("", "linear solves", curves.into_iter().map(shown).collect()),
            ("-explicit", "evaluations of all forces", explicit),
            ("-time", "time on one machine [ms]", times),
        ];
        for (name, x, curves) in plots {
            session.plot(
                &format!("{}{name}", scene.file),
                Chart {
                    title: format!("{}: error against work", scene.name),
                    x: x.into(),
                    y: "free edge off the limit h → 0, rms to 0.47 s [m]".into(),
                    log: (true, true),
                    curves,
                },
            )?;
        }
    }
    session.csv("integrators", "scene,scheme,step [ms] or tolerance [m],error [m],work,unit,time [ms]", &rows)
}

/// Explicit schemes start from half of Verlet's longest stable step. Heun and midpoint, which grow at any step, are lost
/// at the longer ones; the literal reading converges to a fall at g/2.
const EXPLICIT: [Integrator; 6] = [
    Integrator::Verlet,
    Integrator::Symplectic,
    Integrator::Heun,
    Integrator::Midpoint,
    Integrator::Rk4,
    Integrator::Literal,
];

/// Errors that steps which choose their own length may have [m].
const TOLERANCES: [f64; 3] = [1e-4, 1e-5, 1e-6];

/// Work and error [m] of each run.
type Points = Vec<(f64, f64)>;

/// What a scheme's work is counted in.
#[derive(Clone, Copy)]
enum Work {
    Solves,
    Evaluations,
    Steps,
}

fn shown((integrator, points): (Integrator, Points)) -> Curve {
    let points = points.into_iter().filter(|(_, error)| *error < FAILED).collect();
    Curve { name: integrator.name().into(), points }
}

/// All runs of a scene.
struct Sweep<'a> {
    session: &'a mut Session,
    scene: &'a Scene,
    rows: &'a mut Vec<String>,
    /// Error against milliseconds of every scheme.
    times: Vec<Curve>,
}

impl Sweep<'_> {
    fn settled(&self, hang: &Hang, integrator: Integrator, substeps: u32) -> Hang {
        Hang { solver: SolverSettings { integrator, ..SolverSettings::default() }, substeps, ..*hang }
    }

    /// Work and error of a scheme, from coarse to fine.
    fn points(&mut self, integrator: Integrator, hangs: &[Hang], reference: &Run, work: Work) -> Points {
        let (mut points, mut clock, mut each) = (Vec::new(), Vec::new(), Vec::new());
        let name = format!("{}, {}", self.scene.name, integrator.name());
        let unit = match work {
            Work::Solves => "solve",
            Work::Evaluations => "evaluation",
            Work::Steps => "step",
        };
        for hang in hangs {
            let adaptive = matches!(integrator, Integrator::Rosenbrock | Integrator::Hybrid);
            let knob = match adaptive {
                true => hang.solver.rosenbrock_tolerance,
                false => 1e3 * FRAME / f64::from(hang.substeps),
            };
            match self.scene.run(hang) {
                Ok(run) => {
                    let error = apart(&run, reference);
                    let amount = match work {
                        Work::Solves => run.solves,
                        Work::Evaluations => run.evaluations,
                        Work::Steps => f64::from(hang.substeps) * FRAMES as f64,
                    };
                    let scene = self.scene.name.replace(',', "");
                    self.rows.push(format!(
                        "{scene},{},{knob:.3e},{error:.6},{amount},{unit},{:.1}",
                        integrator.name(),
                        run.milliseconds
                    ));
                    each.push(run.milliseconds / amount);
                    clock.push((run.milliseconds, error));
                    points.push((amount, error));
                }
                Err(error) => {
                    self.session.note(format!("{name}, {knob:.3e}: failed ({})", error.0));
                    points.push((f64::NAN, f64::INFINITY));
                }
            }
        }
        self.session.time(format!("{name}: time per {unit}"), "ms", &each);
        self.times.push(shown((integrator, clock)));
        points
    }
}

/// Both schemes of second order against both of Euler's, at equal steps and at equal work.
fn judge(session: &mut Session, scene: &Scene, curves: &[(Integrator, Points)]) {
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
        let mut sheet = hang.cloth(&shape)?;
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
