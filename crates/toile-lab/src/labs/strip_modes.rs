//! A hanging strip swings in its modes: their frequencies, and how fast each integrator makes them die away.
//!
//! Between rope and beam one number decides, ε = D/(σgL³). In units of L, σ and √(L/g) a small displacement w
//! obeys ẅ = ((1 − s) w')' − ε w'''', with w = 0 at the top, w' = 0 too if it is clamped, and the end free. The
//! reference is that eigenproblem with cubic finite elements; for ε = 0 it is the rope of Bernoulli, whose
//! frequencies are half the zeros of J₀.
//!
//! A mode of frequency ω is an oscillator, so its amplitude after a step is |A(ωh)| times that before, A being
//! the root near exp(iωh) of the integrator's characteristic polynomial.

use crate::material::{border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use crate::statics::Symmetric;
use faer::c64;
use glam::DVec3;
use std::f64::consts::TAU;
use toile::mesh::{Pattern, Shape, shapes};
use toile::solve::{DrapeSettings, Integrator, NewtonSettings};
use toile::{Edit, Fabric, PinDown, Probe, Setup, SolverSettings, World};

const GRAVITY: f64 = 9.81;
const DENSITY: f64 = 0.2;
/// Stretch stiffness over density [m²/s²]: stretched by 1e-5.
const RATIO: f64 = 5e5;
const SEGMENTS: usize = 40;
/// Displacement of the lower end [m].
const AMPLITUDE: f64 = 1e-4;
const MODES: usize = 3;
/// Half the zeros of J₀.
const ROPE: [f64; MODES] = [1.202_412_779, 2.760_039_055, 4.326_863_956];

#[derive(Clone, Copy)]
struct Case {
    clamped: bool,
    /// D/(σgL³).
    eps: f64,
}

const CASES: [Case; 4] = [
    Case { clamped: false, eps: 1e-5 },
    Case { clamped: false, eps: 1e-3 },
    Case { clamped: true, eps: 1e-3 },
    Case { clamped: true, eps: 1e-2 },
];

/// Steps ωh at which decay is measured. Implicit Euler would leave nothing to see of longer ones.
const DECAYS: [(Integrator, [f64; 3]); 3] = [
    (Integrator::Bdf2, [0.2, 0.5, 1.0]),
    (Integrator::TrBdf2, [0.2, 0.5, 1.0]),
    (Integrator::ImplicitEuler, [0.05, 0.1, 0.2]),
];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    check_reference(session)?;
    check_amplification(session);
    let mut rows = Vec::new();
    let mut found = [0.0; MODES];
    for case in CASES {
        let strip = Strip::new(case)?;
        let mut worst = 0.0f64;
        for (number, mode) in modes(case, case.elements())?.iter().enumerate() {
            let omega = mode.omega * GRAVITY.sqrt();
            let swing = strip.swing(mode, Integrator::TrBdf2, 0.1 / omega, omega)?;
            let error = swing.omega / omega - 1.0;
            worst = worst.max(error.abs());
            let in_units = swing.omega / GRAVITY.sqrt();
            rows.push(format!("\"{case}\",{},{in_units:.6},{:.6},{error:.2e}", number + 1, mode.omega));
            // Without what the steps themselves add.
            found[number] = swing.omega * 0.1 / amplification(Integrator::TrBdf2, 0.1).arg();
        }
        session.at_most(format!("{case}: first three frequencies"), worst, "relative", 0.01);
    }
    session.csv("frequencies", "strip,mode,omega √(L/g),exact,error", &rows)?;
    decay(session, found)
}

/// Decay per step of the last case, whose modes have the frequencies `found` [rad/s].
fn decay(session: &mut Session, found: [f64; MODES]) -> Result<(), LabError> {
    let case = CASES[CASES.len() - 1];
    let strip = Strip::new(case)?;
    let modes = modes(case, case.elements())?;
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for (integrator, steps) in DECAYS {
        let name = integrator.name();
        let (mut worst, mut shifted) = (0.0f64, 0.0f64);
        let mut points = Vec::new();
        for theta in steps {
            let kept = amplification(integrator, theta);
            for (number, (mode, omega)) in modes.iter().zip(found).enumerate() {
                let swing = strip.swing(mode, integrator, theta / omega, omega)?;
                let (lost, expected) = (-swing.kept.ln(), -kept.norm().ln());
                worst = worst.max((lost / expected - 1.0).abs());
                let shift = swing.omega / omega / (kept.arg() / theta) - 1.0;
                shifted = shifted.max(shift.abs());
                rows.push(format!("{name},{theta},{},{lost:.4e},{expected:.4e},{shift:.2e}", number + 1));
                if number == 0 {
                    points.push((theta, lost));
                }
            }
        }
        session.at_most(
            format!("{name}: decay per step of three modes at three steps"),
            worst,
            "relative",
            0.1,
        );
        session.at_most(format!("{name}: frequency at these steps"), shifted, "relative", 0.01);
        curves.push(Curve { name: format!("{name}, mode 1"), points });
        let (low, high) = (steps[0], steps[2]);
        let at = |k: usize| low * (high / low).powf(k as f64 / 40.0);
        let theory = (0..=40).map(|k| (at(k), -amplification(integrator, at(k)).norm().ln())).collect();
        curves.push(Curve { name: format!("{name}, theory"), points: theory });
    }
    session.csv("decay", "scheme,omega h,mode,-ln|A|,theory,frequency off theory", &rows)?;
    session.plot(
        "decay",
        Chart {
            title: format!("decay per step of a hanging strip ({case})"),
            x: "ωh".into(),
            y: "−ln |A|".into(),
            log: (true, true),
            curves,
        },
    )
}

/// A(ωh): the factor of one step on exp(iωt).
fn amplification(integrator: Integrator, theta: f64) -> c64 {
    let z = c64::new(0.0, theta);
    let one = c64::new(1.0, 0.0);
    match integrator {
        // (3/2 − z) A² − 2A + 1/2 = 0: the root that is 1 at z = 0.
        Integrator::Bdf2 => (2.0 * one + (one + 2.0 * z).sqrt()) / (3.0 * one - 2.0 * z),
        Integrator::TrBdf2 => {
            let gamma = 2.0 - std::f64::consts::SQRT_2;
            let middle = (one + 0.5 * gamma * z) / (one - 0.5 * gamma * z);
            let old = (1.0 - gamma) * (1.0 - gamma);
            (middle - old) / (gamma * (2.0 - gamma)) / (one - (1.0 - gamma) / (2.0 - gamma) * z)
        }
        _ => one / (one - z),
    }
}

fn check_amplification(session: &mut Session) {
    let Some(text) = session.reference("validation/integrator_amplification.csv") else { return };
    let columns = [(1, Integrator::ImplicitEuler), (5, Integrator::Bdf2), (7, Integrator::TrBdf2)];
    let mut worst = 0.0f64;
    let mut met = 0;
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').filter_map(|cell| cell.parse().ok()).collect();
        for (column, integrator) in columns.iter().filter(|(column, _)| cells.len() > column + 1) {
            let own = amplification(*integrator, cells[0]);
            // The table gives the angle of a conjugate pair.
            let phase = own.arg().abs() / cells[0];
            worst = worst.max((own.norm() - cells[*column]).abs()).max((phase - cells[column + 1]).abs());
            met += 1;
        }
    }
    session.at_least("amplifications of the reference table met", f64::from(met), "", 18.0);
    session.at_most("amplification against the reference table", worst, "", 1e-9);
}

fn check_reference(session: &mut Session) -> Result<(), LabError> {
    let rope = Case { clamped: false, eps: 0.0 };
    let rope = modes(rope, rope.elements())?;
    let off = |(mode, exact): (&Mode, f64)| (mode.omega / exact - 1.0).abs();
    let worst = rope.iter().zip(ROPE).map(off).fold(0.0, f64::max);
    session.at_most("eigenproblem without bending: zeros of J₀", worst, "relative", 1e-6);
    let mut change = 0.0f64;
    for case in CASES {
        let (fine, finer) = (modes(case, case.elements())?, modes(case, 2 * case.elements())?);
        change = fine.iter().zip(&finer).map(|(a, b)| (a.omega / b.omega - 1.0).abs()).fold(change, f64::max);
    }
    session.at_most("eigenproblem: change when refined", change, "relative", 1e-6);
    let Some(text) = session.reference("validation/hanging_strip_modes.csv") else { return Ok(()) };
    let mut worst = 0.0f64;
    let mut met = 0;
    for line in text.lines().skip(1) {
        let mut cells = line.split(',');
        let clamped = cells.next().is_some_and(|top| top.starts_with("clamped"));
        let cells: Vec<f64> = cells.filter_map(|cell| cell.parse().ok()).collect();
        if let [eps, omega @ ..] = &cells[..] {
            let case = Case { clamped, eps: *eps };
            let own = modes(case, case.elements())?;
            for (own, omega) in own.iter().zip(omega) {
                worst = worst.max((own.omega / omega - 1.0).abs());
                met += 1;
            }
        }
    }
    session.equal("frequencies of the reference table met", f64::from(met), "", 33.0);
    session.at_most("eigenproblem against the reference table", worst, "relative", 1e-6);
    Ok(())
}

impl Case {
    /// Elements of the reference: half as long as the layer √ε that turns at a clamp, and several in each segment.
    fn elements(&self) -> usize {
        let needed = 2.0 / self.eps.sqrt() / SEGMENTS as f64;
        SEGMENTS * needed.ceil().clamp(5.0, 16.0) as usize
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} top, eps {:.0e}", if self.clamped { "clamped" } else { "hinged" }, self.eps)
    }
}

/// A mode of the reference.
struct Mode {
    /// ω √(L/g).
    omega: f64,
    /// Displacement at the ends of the strip's segments, top first, 1 at the bottom.
    shape: Vec<f64>,
}

/// The first modes with `count` cubic elements, by inverse iteration.
fn modes(case: Case, count: usize) -> Result<Vec<Mode>, LabError> {
    let beam = Beam::new(case, count);
    let stiffness = beam.stiffness();
    let mut found: Vec<Vec<f64>> = Vec::new();
    let mut modes = Vec::new();
    for number in 1..=MODES {
        let mut w: Vec<f64> = (0..beam.size).map(|i| (1.0 + (i * number) as f64).sin()).collect();
        for _ in 0..60 {
            for other in &found {
                let part = dot(&beam.mass_times(&w), other);
                w.iter_mut().zip(other).for_each(|(w, o)| *w -= part * o);
            }
            w = stiffness.solve(&beam.mass_times(&w))?;
            let norm = dot(&beam.mass_times(&w), &w).sqrt();
            w.iter_mut().for_each(|w| *w /= norm);
        }
        let tip = beam.at(&w, 2 * count);
        let shape = (0..=SEGMENTS).map(|k| beam.at(&w, 2 * k * count / SEGMENTS) / tip).collect();
        modes.push(Mode { omega: beam.energy(&w).sqrt(), shape });
        found.push(w);
    }
    Ok(modes)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The reference's finite elements. Number 2i is the displacement of node i, 2i + 1 its slope; those held at the top
/// are left out of vectors.
struct Beam {
    held: usize,
    size: usize,
    eps: f64,
    points: Vec<Point>,
}

/// A point of quadrature, with what the four numbers from `first` on contribute there.
struct Point {
    first: usize,
    weight: f64,
    tension: f64,
    value: [f64; 4],
    slope: [f64; 4],
    curvature: [f64; 4],
}

impl Beam {
    fn new(case: Case, count: usize) -> Beam {
        let held = if case.clamped { 2 } else { 1 };
        let h = 1.0 / count as f64;
        // Gauss–Legendre with four points: exact for the mass, of degree 6.
        let (a, b) = ((3.0 - 2.0 * 1.2f64.sqrt()) / 7.0, (3.0 + 2.0 * 1.2f64.sqrt()) / 7.0);
        let (p, q) = ((18.0 + 30f64.sqrt()) / 72.0, (18.0 - 30f64.sqrt()) / 72.0);
        let gauss = [(a.sqrt(), p), (-a.sqrt(), p), (b.sqrt(), q), (-b.sqrt(), q)];
        let point = |e: usize, (place, weight): (f64, f64)| {
            let t = 0.5 + 0.5 * place;
            let u = 1.0 - t;
            Point {
                first: 2 * e,
                weight: weight * h,
                tension: 1.0 - (e as f64 + t) * h,
                value: [u * u * (1.0 + 2.0 * t), h * t * u * u, t * t * (1.0 + 2.0 * u), -h * t * t * u],
                slope: [-6.0 * t * u / h, u * (1.0 - 3.0 * t), 6.0 * t * u / h, t * (1.0 - 3.0 * u)],
                curvature: [6.0 * (t - u) / h, 2.0 * (t - 2.0 * u), 6.0 * (u - t) / h, 2.0 * (2.0 * t - u)]
                    .map(|c| c / h),
            }
        };
        let points = (0..count).flat_map(|e| gauss.map(|g| point(e, g))).collect();
        Beam { held, size: 2 * count + 2 - held, eps: case.eps, points }
    }

    /// Number `i` of the nodes.
    fn at(&self, w: &[f64], i: usize) -> f64 {
        i.checked_sub(self.held).map_or(0.0, |i| w[i])
    }

    fn sample(&self, w: &[f64], first: usize, by: &[f64; 4]) -> f64 {
        (0..4).map(|i| by[i] * self.at(w, first + i)).sum()
    }

    fn stiffness(&self) -> Symmetric {
        let mut matrix = Symmetric::new(self.size);
        for Point { first, weight, tension, slope, curvature, .. } in &self.points {
            for i in (0..4).filter(|i| first + i >= self.held) {
                for j in (0..4).filter(|j| first + j >= self.held) {
                    let both = tension * slope[i] * slope[j] + self.eps * curvature[i] * curvature[j];
                    matrix.add(first + i - self.held, first + j - self.held, weight * both);
                }
            }
        }
        matrix
    }

    fn mass_times(&self, w: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.size];
        for Point { first, weight, value, .. } in &self.points {
            let here = weight * self.sample(w, *first, value);
            for i in (0..4).filter(|i| first + i >= self.held) {
                out[first + i - self.held] += here * value[i];
            }
        }
        out
    }

    /// Twice the energy, as a sum of squares: the matrix would lose it to rounding in short elements.
    fn energy(&self, w: &[f64]) -> f64 {
        let of = |p: &Point| {
            let (slope, bend) = (self.sample(w, p.first, &p.slope), self.sample(w, p.first, &p.curvature));
            p.weight * (p.tension * slope * slope + self.eps * bend * bend)
        };
        self.points.iter().map(of).sum()
    }
}

/// The strip, hanging at rest.
struct Strip {
    case: Case,
    /// Its positions are those at rest under its weight.
    shape: Shape,
    /// Segment end at which each vertex is.
    row: Vec<usize>,
}

/// What is seen of a mode.
struct Swing {
    /// [rad/s]
    omega: f64,
    /// Amplitude after a step over that before.
    kept: f64,
}

impl Strip {
    fn new(case: Case) -> Result<Strip, LabError> {
        let mut shape = shapes::sheet(1.0, 0.05, SEGMENTS, 2, Pattern::Structured)?;
        let row = shape.positions.iter().map(|p| (p.x * SEGMENTS as f64).round() as usize).collect();
        for p in &mut shape.positions {
            *p = DVec3::new(0.0, -p.x, p.z);
        }
        let mut strip = Strip { case, shape, row };
        let drape = DrapeSettings { residual: 1e-11, ..SolverSettings::default().drape };
        let solver =
            SolverSettings { integrator: Integrator::QuasiStatic, drape, ..SolverSettings::default() };
        let mut world = strip.world(solver)?;
        world.step(1.0, &mut Probe::default())?;
        strip.shape.positions = world.positions(0);
        Ok(strip)
    }

    fn world(&self, solver: SolverSettings) -> Result<World, LabError> {
        let stretch = RATIO * DENSITY;
        let fabric = Fabric {
            density: DENSITY,
            stretch: [stretch.into(); 2],
            shear: (0.5 * stretch).into(),
            poisson: 0.0,
            bend: (self.case.eps * DENSITY * GRAVITY).into(),
            ..Fabric::default()
        };
        let top = PinDown { clamp: self.case.clamped, ..PinDown::fixed(0, border(&self.shape, "left")?) };
        let cloths = vec![cloth("strip", &self.shape, fabric)?];
        Ok(World::new(Setup { cloths, pins: vec![top], solver, substeps: 1, ..Setup::default() })?)
    }

    /// Lets it go from a small displacement in `mode` and follows it in steps of `dt` [s]; `omega` [rad/s] is about
    /// its frequency.
    fn swing(&self, mode: &Mode, integrator: Integrator, dt: f64, omega: f64) -> Result<Swing, LabError> {
        let newton = NewtonSettings { step: 1e-9, residual: 1e-6, max_solves: 30 };
        let solver = SolverSettings { integrator, newton, tolerance: 1e-7, ..SolverSettings::default() };
        let mut world = self.world(solver)?;
        // Lifted by as much as leaving the vertical shortens it, so that nothing is stretched.
        let mut lift = vec![0.0];
        for pair in mode.shape.windows(2) {
            let aside = AMPLITUDE * (pair[1] - pair[0]);
            lift.push(lift[lift.len() - 1] + 0.5 * aside * aside * SEGMENTS as f64);
        }
        for (i, row) in self.row.iter().enumerate().filter(|(_, row)| **row > 0) {
            let position =
                self.shape.positions[i] + DVec3::new(AMPLITUDE * mode.shape[*row], lift[*row], 0.0);
            world.edit(&Edit::Place { cloth: 0, vertex: i as u32, position })?;
        }
        // Two windows of four periods, far enough apart for the decay to show.
        let kept = amplification(integrator, omega * dt);
        let period = TAU / kept.arg();
        let window = (4.0 * period).round() as usize;
        let apart = ((-1.0 / kept.norm().ln()).clamp(4.0 * period, 30.0 * period)).round() as usize;
        let mut path = Vec::with_capacity(window + apart);
        let mut probe = Probe::default();
        for _ in 0..window + apart {
            world.step(dt, &mut probe)?;
            let x = world.positions(0);
            path.push(self.row.iter().zip(&x).map(|(row, x)| mode.shape[*row] * x.x).sum::<f64>());
        }
        // The carrier is taken off and a Hann window sees to it that other modes are not heard.
        let hear = |from: usize| {
            (0..window).fold(c64::new(0.0, 0.0), |sum, k| {
                let weight = 1.0 - (TAU * (k as f64 + 0.5) / window as f64).cos();
                let carrier = c64::from_polar(weight, -kept.arg() * (from + k) as f64);
                sum + carrier * path[from + k]
            })
        };
        let ratio = hear(apart) / hear(0);
        let per_step = 1.0 / apart as f64;
        let kept_phase = kept.arg() + ratio.arg() * per_step;
        Ok(Swing { omega: kept_phase / dt, kept: ratio.norm().powf(per_step) })
    }
}
