//! Cloth that remembers: loops of bending and shear as KES draws them, and what is left of a fold (V97-20, B14-7).

use crate::material::{border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use glam::{DMat3, DVec3};
use std::f64::consts::PI;
use toile::drive::{Key, Motion};
use toile::forces::bending::{Clamp, Recon, ReconOptions, Rigidity};
use toile::interaction::{ForceModel, Memory, Moment, Outside};
use toile::mesh::{Mesh, Pattern, Shape, shapes};
use toile::solve::{DrapeSettings, Integrator};
use toile::{Bending, Fabric, Freedom, Grip, PinDown, Probe, Setup, SolverSettings, World, Yield};

/// The strip between the jaws [m], as long as KES's; its cells along and across.
const LENGTH: f64 = 0.01;
const WIDTH: f64 = 0.003;
const CELLS: [usize; 2] = [20, 6];

/// B [N·m], 2HB [N] and its onset [1/m]; G [N/m], 2HG [N/m] and its onset [rad]: a plain cotton.
const B: f64 = 8e-6;
const HYSTERESIS: f64 = 6e-4;
const ONSET: f64 = 25.0;
const G: f64 = 60.0;
const SHEAR_HYSTERESIS: f64 = 1.2;
const SHEAR_ONSET: f64 = 0.01;

/// Ends of KES's cycles: 2.5 1/cm and 8°.
const TIGHTEST: f64 = 250.0;
const STEEPEST: f64 = 8.0;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    bending(session)?;
    shear(session)?;
    folds(session)
}

/// Stops of a cycle 0 → 1 → −1 → 1 with `steps` per unit.
fn cycle(steps: usize) -> Vec<f64> {
    let n = steps as f64;
    let leg = |from: f64, to: f64, steps: usize| {
        (1..=steps).map(move |k| from + (to - from) * k as f64 / steps as f64)
    };
    let rounded = |x: f64| (x * n).round() / n;
    [leg(0.0, 1.0, steps), leg(1.0, -1.0, 2 * steps), leg(-1.0, 1.0, 2 * steps)]
        .into_iter()
        .flatten()
        .map(rounded)
        .collect()
}

/// A spring beside friction that sticks like a spring and slides at ±`friction`: what a loop should be.
struct Reference {
    stiffness: f64,
    friction: f64,
    onset: f64,
    at: f64,
    rubbing: f64,
}

impl Reference {
    fn go_to(&mut self, strain: f64) -> f64 {
        let stuck = self.rubbing + self.friction / self.onset * (strain - self.at);
        (self.at, self.rubbing) = (strain, stuck.clamp(-self.friction, self.friction));
        self.stiffness * strain + self.rubbing
    }
}

/// A loop as measured, (strain, stress, stress as it should be) at each stop.
struct Loop(Vec<[f64; 3]>);

impl Loop {
    /// Judges its width at some parts of its range, its slope, its shape and its area.
    fn judge(&self, session: &mut Session, name: &str, width: f64, unit: &'static str, limit: f64) {
        let steps = self.0.len() / 5;
        let (down, up) = (&self.0[steps..3 * steps], &self.0[3 * steps..]);
        let most = self.0.iter().map(|p| p[2].abs()).fold(0.0, f64::max);
        let range = self.0.iter().map(|p| p[0].abs()).fold(0.0, f64::max);
        for part in [-0.4, 0.0, 0.4] {
            let at = |branch: &[[f64; 3]]| {
                branch.iter().find(|p| (p[0] - part * range).abs() < 1e-6 * range).map_or(f64::NAN, |p| p[1])
            };
            let found = at(up) - at(down);
            session.info(format!("{name}: width at {part} of the range"), found, unit);
            let off = (found / width - 1.0).abs();
            session.at_most(format!("{name}: off the width asked for, at {part}"), off, "", limit);
        }
        let off = self.0.iter().map(|p| (p[1] - p[2]).abs()).fold(0.0, f64::max) / most;
        session.at_most(
            format!("{name}: largest distance from the analytic loop"),
            off,
            "of the largest",
            limit,
        );
        // Both ends of the closed part are the same point; the area between is what a cycle costs.
        let area = |k: usize| {
            let closed = &self.0[steps - 1..];
            closed.windows(2).map(|w| 0.5 * (w[0][k] + w[1][k]) * (w[1][0] - w[0][0])).sum::<f64>()
        };
        session.at_least(format!("{name}: work lost in a cycle"), area(1), "J/m²", 0.0);
        session.at_most(
            format!("{name}: that off the analytic loop"),
            (area(1) / area(2) - 1.0).abs(),
            "",
            limit,
        );
    }

    fn curves(&self, name: &str) -> Vec<Curve> {
        let points = |k: usize| self.0.iter().map(|p| (p[0], p[k])).collect();
        vec![
            Curve { name: format!("{name}, simulated"), points: points(1) },
            Curve { name: "analytic".into(), points: points(2) },
        ]
    }
}

fn fabric() -> Fabric {
    Fabric { stretch: [1000.0.into(); 2], shear: G.into(), poisson: 0.0, bend: B.into(), ..Fabric::default() }
}

fn solver() -> SolverSettings {
    let drape = DrapeSettings { residual: 1e-8, max_solves: 2000, ..SolverSettings::default().drape };
    SolverSettings { integrator: Integrator::QuasiStatic, drape, ..SolverSettings::default() }
}

fn strip() -> Result<Shape, LabError> {
    Ok(shapes::sheet(LENGTH, WIDTH, CELLS[0], CELLS[1], Pattern::Jittered { amount: 0.2, seed: 7 })?)
}

/// A strip whose right jaw rolls it to each curvature [1/m] in turn, one per second; with `let_go` the jaw only
/// seems to be there, and the end is free.
fn rolling(fabric: Fabric, stops: &[f64], let_go: bool) -> Result<World, LabError> {
    let shape = strip()?;
    let key = |(n, curvature): (usize, f64)| {
        let angle = curvature * LENGTH;
        let (x, y) = match curvature == 0.0 {
            true => (LENGTH, 0.0),
            false => (angle.sin() / curvature, (1.0 - angle.cos()) / curvature),
        };
        Key {
            time: n as f64,
            translate: DVec3::new(x - LENGTH, y, 0.0),
            rotate: DVec3::Z * angle.to_degrees(),
            scale: DVec3::ONE,
        }
    };
    let keys = std::iter::once(0.0).chain(stops.iter().copied()).enumerate().map(key).collect();
    let motion = Motion { keys, pivot: DVec3::X * LENGTH, basis: DMat3::IDENTITY, smooth: false };
    let right = border(&shape, "right")?;
    let jaw = match let_go {
        false => PinDown { motion, ..PinDown::clamped(0, right) },
        true => PinDown { active: -2.0..-1.0, ..PinDown::fixed(0, right) },
    };
    let pins = vec![PinDown::clamped(0, border(&shape, "left")?), jaw];
    let cloths = vec![cloth("strip", &shape, fabric)?];
    let setup =
        Setup { cloths, pins, solver: solver(), gravity: DVec3::ZERO, substeps: 1, ..Setup::default() };
    Ok(World::new(setup)?)
}

/// Moment per width [N] that the right jaw holds: how the energy grows as it alone turns, `angle` [rad] being where
/// it is.
fn jaw_moment(sheets: &mut [Recon], x: &[DVec3], memory: &[Vec<Memory>], angle: f64) -> f64 {
    let still = vec![DVec3::ZERO; x.len()];
    let turn = 1e-5f64;
    let mut energy = |angle: f64| {
        sheets.iter_mut().zip(memory).fold(0.0, |sum, (sheet, memory)| {
            sheet.drive(&Outside { time: angle, dt: 1.0, air: DVec3::ZERO });
            sum + ForceModel::energy(sheet, Moment { x, v: &still, memory })
        })
    };
    (energy(angle + turn) - energy(angle - turn)) / (2.0 * turn * WIDTH)
}

/// The sheets of a rolled strip, elastic and rubbing, with jaws that are turned by their "time" in radians.
fn sheets(fabric: &Fabric) -> Result<Vec<Recon>, LabError> {
    let shape = strip()?;
    let mesh = Mesh::new(shape.positions.len(), shape.faces.clone(), shape.rest.clone())?;
    let key = |angle: f64| Key {
        time: angle,
        translate: DVec3::ZERO,
        rotate: DVec3::Z * angle.to_degrees(),
        scale: DVec3::ONE,
    };
    let turning = Motion { keys: vec![key(-4.0), key(4.0)], basis: DMat3::IDENTITY, ..Motion::still() };
    let at = |x: f64| move |e: &[u32; 2], p: &[DVec3]| e.iter().all(|v| (p[*v as usize].x - x).abs() < 1e-12);
    let mut clamps = Vec::new();
    for edge in mesh.edges().iter().filter(|e| e.is_border()).map(|e| e.ends) {
        if at(0.0)(&edge, &shape.positions) {
            clamps.push(Clamp { edge, direction: DVec3::X, motion: Motion::still() });
        } else if at(LENGTH)(&edge, &shape.positions) {
            clamps.push(Clamp { edge, direction: DVec3::NEG_X, motion: turning.clone() });
        }
    }
    let sheet = |[warp, weft, coupling, twist]: [f64; 4], give: Option<Yield>| {
        let options = ReconOptions { clamps: clamps.clone(), give, ..ReconOptions::default() };
        Recon::new(&mesh, Rigidity { warp, weft, coupling, twist }, &options)
    };
    let mut all = vec![sheet(fabric.bending_stiffness(), fabric.creasing())];
    all.extend(fabric.bending_friction().map(|(stiffness, give)| sheet(stiffness, Some(give))));
    Ok(all)
}

fn bending(session: &mut Session) -> Result<(), LabError> {
    let fabric = Fabric { bend_hysteresis: [HYSTERESIS; 2], bend_onset: ONSET, ..fabric() };
    let stops: Vec<f64> = cycle(25).iter().map(|part| part * TIGHTEST).collect();
    let mut world = rolling(fabric, &stops, false)?;
    let mut sheets = sheets(&fabric)?;
    let mut reference =
        Reference { stiffness: B, friction: 0.5 * HYSTERESIS, onset: ONSET, at: 0.0, rubbing: 0.0 };
    let mut probe = Probe::default();
    let mut points = Vec::new();
    for curvature in stops {
        world.step(1.0, &mut probe)?;
        let memory = world.snapshot().states.swap_remove(0).memory;
        let moment = jaw_moment(&mut sheets, &world.positions(0), &memory[1..], curvature * LENGTH);
        points.push([curvature, moment, reference.go_to(curvature)]);
    }
    session.info("bending: stops that did not settle", probe.counters.unconverged as f64, "");
    let rows: Vec<String> = points.iter().map(|p| format!("{:.1},{:.6e},{:.6e}", p[0], p[1], p[2])).collect();
    session.csv("memory-bending", "curvature [1/m],moment per width [N],analytic [N]", &rows)?;
    let cycle = Loop(points);
    cycle.judge(session, "bending ±250 1/m, 2HB = 6e-4 N", HYSTERESIS, "N", 0.01);
    let (x, y) = ("curvature [1/m]".into(), "moment per width [N]".into());
    let title = "pure bending of a strip between jaws".into();
    session.plot(
        "memory-bending",
        Chart { title, x, y, log: (false, false), curves: cycle.curves("2HB = 6e-4 N") },
    )
}

/// Radius and height of the tube that is twisted [m]: no free edges, so the same shear everywhere.
const RADIUS: f64 = 0.1;
const HEIGHT: f64 = 0.02;

fn shear(session: &mut Session) -> Result<(), LabError> {
    let shape = shapes::tube(RADIUS, RADIUS, HEIGHT, 120, 1, Pattern::Structured)?;
    let fabric = Fabric { shear_hysteresis: SHEAR_HYSTERESIS, shear_onset: SHEAR_ONSET, ..fabric() };
    let stops: Vec<f64> = cycle(40).iter().map(|part| part * STEEPEST.to_radians()).collect();
    // The upper ring may come down: then warp and weft keep their lengths, and shear is the way over the height.
    let twist = |shear: f64| 2.0 * (0.5 * shear * HEIGHT / RADIUS).asin();
    let key = |(n, shear): (usize, f64)| Key {
        time: n as f64,
        translate: DVec3::ZERO,
        rotate: DVec3::Y * twist(shear).to_degrees(),
        scale: DVec3::ONE,
    };
    let keys = std::iter::once(0.0).chain(stops.iter().copied()).enumerate().map(key).collect();
    let motion = Motion { keys, basis: DMat3::IDENTITY, ..Motion::still() };
    let upper = border(&shape, "upper")?;
    let slides = Grip::Hard(Freedom::Line(DVec3::Y));
    let pins = vec![
        PinDown::fixed(0, border(&shape, "lower")?),
        PinDown { motion, grip: slides, ..PinDown::fixed(0, upper.clone()) },
    ];
    let mut tube = cloth("tube", &shape, fabric)?;
    tube.bending = Bending::None;
    let setup = Setup {
        cloths: vec![tube],
        pins,
        solver: solver(),
        gravity: DVec3::ZERO,
        substeps: 1,
        ..Setup::default()
    };
    let mut world = World::new(setup)?;
    let friction = 0.5 * SHEAR_HYSTERESIS;
    let mut reference = Reference { stiffness: G, friction, onset: SHEAR_ONSET, at: 0.0, rubbing: 0.0 };
    let mut probe = Probe::default();
    let mut points = Vec::new();
    for shear in stops {
        world.step(1.0, &mut probe)?;
        let (x, f) = (world.positions(0), world.forces(0));
        let torque: f64 = upper.iter().map(|v| x[*v as usize].cross(-f[*v as usize]).y).sum();
        points.push([shear, torque / (2.0 * PI * RADIUS * RADIUS), reference.go_to(shear)]);
    }
    session.info("shear: stops that did not settle", probe.counters.unconverged as f64, "");
    let rows: Vec<String> = points.iter().map(|p| format!("{:.5},{:.6e},{:.6e}", p[0], p[1], p[2])).collect();
    session.csv("memory-shear", "shear [rad],force per width [N/m],analytic [N/m]", &rows)?;
    let cycle = Loop(points);
    cycle.judge(session, "shear ±8°, 2HG = 1.2 N/m", SHEAR_HYSTERESIS, "N/m", 0.01);
    let (x, y) = ("shear [rad]".into(), "force per width [N/m]".into());
    let title = "simple shear of a tube that is twisted".into();
    session.plot(
        "memory-shear",
        Chart { title, x, y, log: (false, false), curves: cycle.curves("2HG = 1.2 N/m") },
    )
}

/// Curvature at which folds begin to stay [1/m].
const YIELD: f64 = 100.0;

/// A strip rolled to some curvature and let go keeps the angle (1 − h)(κ − κ_y) L, or none. Without hardening it would
/// keep as much, but anywhere: a strip that carries the same moment at every curvature may fold at one place alone.
fn folds(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for hardening in [0.05, 0.1, 0.4] {
        let (mut found, mut wanted) = (Vec::new(), Vec::new());
        for tightest in [60.0, 95.0, 150.0, 220.0, 290.0] {
            let fabric = Fabric { crease: Some(Yield { limit: YIELD, hardening }), ..fabric() };
            let stops: Vec<f64> = (1..=20).map(|k| tightest * f64::from(k) / 20.0).collect();
            let mut held = rolling(fabric, &stops, false)?;
            let mut free = rolling(fabric, &stops, true)?;
            for _ in &stops {
                held.step(1.0, &mut Probe::default())?;
            }
            free.restore(held.snapshot())?;
            let mut probe = Probe::default();
            for _ in 0..3 {
                free.step(1.0, &mut probe)?;
            }
            // The turn from the left jaw to the last row of cells, whose middle is half a cell short of the end.
            let angle = end_angle(&strip()?, &free.positions(0));
            let cell = LENGTH / CELLS[0] as f64;
            let want = (1.0 - hardening) * (tightest - YIELD).max(0.0) * (LENGTH - 0.5 * cell);
            let name = format!("rolled to {tightest} 1/m, hardening {hardening}");
            session.info(format!("{name}: angle left"), angle, "rad");
            session.at_most(format!("{name}: off the analytic angle"), (angle - want).abs(), "rad", 0.01);
            rows.push(format!("{hardening},{tightest},{angle:.5},{want:.5},{}", probe.counters.unconverged));
            found.push((tightest, angle));
            wanted.push((tightest, want));
        }
        curves.push(Curve { name: format!("hardening {hardening}, simulated"), points: found });
        curves.push(Curve { name: "analytic".into(), points: wanted });
    }
    session.csv(
        "memory-folds",
        "hardening,rolled to [1/m],angle left [rad],analytic [rad],unsettled",
        &rows,
    )?;
    let (x, y) = ("curvature it was rolled to [1/m]".into(), "angle left [rad]".into());
    let title = "a strip rolled and let go: yield at 100 1/m".into();
    session.plot("memory-folds", Chart { title, x, y, log: (false, false), curves })
}

/// Angle of the last row of cells against the x axis [rad], from the mean of its vertices on either side.
fn end_angle(shape: &Shape, x: &[DVec3]) -> f64 {
    let mean = |from: f64, to: f64| {
        let inside = |i: &usize| (from..to).contains(&shape.positions[*i].x);
        let all: Vec<DVec3> = (0..x.len()).filter(inside).map(|i| x[i]).collect();
        all.iter().copied().sum::<DVec3>() / all.len() as f64
    };
    let cell = LENGTH / CELLS[0] as f64;
    let (a, b) = (mean(LENGTH - 1.5 * cell, LENGTH - 0.5 * cell), mean(LENGTH - 0.5 * cell, LENGTH + cell));
    (b - a).y.atan2((b - a).x)
}
