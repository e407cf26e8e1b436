//! Observed order of convergence of every integrator, on two smooth nonlinear problems.
//!
//! The bob swings in space on a soft spring, against Runge–Kutta with steps so short that rounding is all that is
//! left. The sheet is soft cloth held by one edge, against Runge–Kutta with eight times the steps; halfway some of it is
//! moved and pushed by hand, which breaks the past of two-step schemes.
//!
//! V00's λ-midpoint has the error of implicit Euler times (1 − λ)/(1 + λ), up to second order.

use crate::bob::{GRAVITY, bob, exact};
use crate::hang::Hang;
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use toile::solve::Integrator;
use toile::{Edit, Probe, SolverSettings};

/// Spring [N/m], start [m], velocity [m/s] and time [s] of the bob.
const SPRING: f64 = 40.0;
const START: DVec3 = DVec3::new(0.9, -0.8, 0.0);
const PUSH: DVec3 = DVec3::new(0.0, 0.5, 1.5);
const TIME: f64 = 1.0;

/// Time [s], mesh and stretch stiffness over density [m²/s²] of the sheet.
const SHEET_TIME: f64 = 0.4;
const SHEET: usize = 4;
const SOFT: f64 = 50.0;

/// An integrator, λ, and its order.
#[derive(Clone, Copy)]
struct Scheme {
    integrator: Integrator,
    lambda: f64,
    order: f64,
}

const fn scheme(integrator: Integrator, lambda: f64, order: f64) -> Scheme {
    Scheme { integrator, lambda, order }
}

const SCHEMES: [Scheme; 13] = [
    scheme(Integrator::Bdf2, 0.0, 2.0),
    scheme(Integrator::TrBdf2, 0.0, 2.0),
    scheme(Integrator::ImplicitEuler, 0.0, 1.0),
    scheme(Integrator::LinearEuler, 0.0, 1.0),
    scheme(Integrator::LambdaMidpoint, 0.5, 1.0),
    scheme(Integrator::LambdaMidpoint, 0.8, 1.0),
    scheme(Integrator::LambdaMidpoint, 0.9, 1.0),
    scheme(Integrator::LambdaMidpoint, 1.0, 2.0),
    scheme(Integrator::Verlet, 0.0, 2.0),
    scheme(Integrator::Heun, 0.0, 2.0),
    scheme(Integrator::Symplectic, 0.0, 1.0),
    scheme(Integrator::Midpoint, 0.0, 2.0),
    scheme(Integrator::Rk4, 0.0, 4.0),
];

impl Scheme {
    fn name(&self) -> String {
        match self.integrator {
            Integrator::LambdaMidpoint => format!("lambda-midpoint {}", self.lambda),
            other => other.name().to_string(),
        }
    }

    fn settings(&self) -> SolverSettings {
        SolverSettings { lambda: self.lambda, ..exact(self.integrator) }
    }
}

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let euler = swinging(session, &mut rows)?;
    constants(session, euler)?;
    start(session)?;
    for edited in [false, true] {
        cloth(session, edited, &mut rows)?;
    }
    session.csv("orders", "problem,scheme,step [s],error [m]", &rows)
}

/// The bob with every scheme; returns the error of one linearisation at the shortest step [m].
fn swinging(session: &mut Session, rows: &mut Vec<String>) -> Result<f64, LabError> {
    let right = runge_kutta(TIME, 20_000);
    let check = right.distance(runge_kutta(TIME, 10_000));
    session.at_most("bob: change of the reference when refined", check, "m", 1e-12);
    let mut curves = Vec::new();
    let mut euler = 0.0;
    for scheme in SCHEMES {
        // Fourth order soon meets rounding.
        let counts = if scheme.order > 2.0 { [10, 20, 40, 80, 160, 320] } else { HALVINGS };
        let points = counts
            .iter()
            .map(|n| Ok((TIME / *n as f64, swing(&scheme, TIME, *n)?.distance(right))))
            .collect::<Result<Vec<_>, LabError>>()?;
        judge(session, "bob", &scheme, &points, true);
        rows.extend(points.iter().map(|(dt, error)| format!("bob,{},{dt},{error:e}", scheme.name())));
        if scheme.integrator == Integrator::LinearEuler {
            euler = points[points.len() - 1].1;
        }
        curves.push(Curve { name: scheme.name(), points });
    }
    session.plot("bob", chart("a bob on a soft spring", curves))?;
    Ok(euler)
}

/// Steps of the bob's runs.
const HALVINGS: [usize; 6] = [100, 200, 400, 800, 1600, 3200];

/// Errors of λ-midpoint over that of λ = 0.
fn constants(session: &mut Session, euler: f64) -> Result<(), LabError> {
    let right = runge_kutta(TIME, 20_000);
    let n = HALVINGS[HALVINGS.len() - 1];
    for lambda in [0.5, 0.8, 0.9] {
        let error = swing(&scheme(Integrator::LambdaMidpoint, lambda, 1.0), TIME, n)?.distance(right);
        let theory = (1.0 - lambda) / (1.0 + lambda);
        let off = (error / euler / theory - 1.0).abs();
        session.info(format!("lambda {lambda}: error over that of lambda 0"), error / euler, "");
        session.at_most(format!("lambda {lambda}: off (1 − λ)/(1 + λ)"), off, "relative", 0.1);
    }
    Ok(())
}

/// The first step of BDF2, on which its order stands: an error of third order.
fn start(session: &mut Session) -> Result<(), LabError> {
    let bdf2 = scheme(Integrator::Bdf2, 0.0, 2.0);
    let error = |dt: f64| Ok::<f64, LabError>(swing(&bdf2, dt, 1)?.distance(runge_kutta(dt, 1000)));
    let order = (error(0.01)? / error(0.005)?).log2();
    session.at_least("bdf2: order of its first step", order, "", 2.85);
    Ok(())
}

/// The sheet, moved and pushed halfway or left alone.
fn cloth(session: &mut Session, edited: bool, rows: &mut Vec<String>) -> Result<(), LabError> {
    let counts = [100, 200, 400, 800];
    let problem = if edited { "sheet, edited halfway" } else { "sheet" };
    let right = fall(&scheme(Integrator::Rk4, 0.0, 4.0), 8 * counts[counts.len() - 1], edited)?;
    let mut curves = Vec::new();
    for scheme in SCHEMES {
        let mut points = Vec::new();
        for n in counts {
            let found = fall(&scheme, n, edited)?;
            let squares = found.iter().zip(&right).map(|(a, b)| a.distance_squared(*b)).sum::<f64>();
            points.push((SHEET_TIME / n as f64, (squares / right.len() as f64).sqrt()));
        }
        // With one linearisation the order also depends on the tangent, which is made safe in compression.
        judge(session, problem, &scheme, &points, !scheme.integrator.linearises_once());
        rows.extend(
            points.iter().map(|(dt, error)| format!("\"{problem}\",{},{dt},{error:e}", scheme.name())),
        );
        curves.push(Curve { name: scheme.name(), points });
    }
    session.plot(if edited { "edited" } else { "sheet" }, chart(problem, curves))
}

/// The order between the two shortest steps.
fn judge(session: &mut Session, problem: &str, scheme: &Scheme, points: &[(f64, f64)], strict: bool) {
    let [.., a, b] = points else { return };
    let order = (a.1 / b.1).log2() / (a.0 / b.0).log2();
    let name = format!("{problem}, {}", scheme.name());
    session.info(format!("{name}: order"), order, "");
    if strict {
        session.at_most(
            format!("{name}: order off {}", scheme.order),
            (order - scheme.order).abs(),
            "",
            0.15,
        );
    }
}

fn chart(title: &str, curves: Vec<Curve>) -> Chart {
    let (x, y) = ("step [s]".into(), "error [m]".into());
    Chart { title: format!("order of convergence: {title}"), x, y, log: (true, true), curves }
}

/// Where the bob is after `time` [s] in `n` steps [m].
fn swing(scheme: &Scheme, time: f64, n: usize) -> Result<DVec3, LabError> {
    let settings = scheme.settings();
    let dt = time / n as f64;
    let mut island = bob(SPRING, START, PUSH);
    for k in 0..n {
        let step = island.advance(&settings, k as f64 * dt, dt, &mut Probe::default());
        step.map_err(|(error, _)| LabError(format!("the bob was lost with {}: {error:?}", scheme.name())))?;
    }
    Ok(island.now.x[1])
}

/// The same by the classical Runge–Kutta method.
fn runge_kutta(time: f64, n: usize) -> DVec3 {
    let h = time / n as f64;
    let pull = |x: DVec3| DVec3::NEG_Y * GRAVITY - SPRING * (x.length() - 1.0) * x.normalize();
    let (mut x, mut v) = (START, PUSH);
    for _ in 0..n {
        let (a, va) = (pull(x), v);
        let (b, vb) = (pull(x + 0.5 * h * va), v + 0.5 * h * a);
        let (c, vc) = (pull(x + 0.5 * h * vb), v + 0.5 * h * b);
        let (d, vd) = (pull(x + h * vc), v + h * c);
        x += h / 6.0 * (va + 2.0 * vb + 2.0 * vc + vd);
        v += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
    }
    x
}

/// Where the sheet is at the end, in `n` steps [m].
fn fall(scheme: &Scheme, n: usize, edited: bool) -> Result<Vec<DVec3>, LabError> {
    let hang =
        Hang { ratio: SOFT, solver: scheme.settings(), ..Hang::new(SHEET, scheme.integrator, n as u32 / 2) };
    let (mut world, shape) = hang.world()?;
    for half in 0..2 {
        if half == 1 && edited {
            let (x, v) = (world.positions(0), world.velocities(0));
            for i in (0..x.len()).filter(|i| shape.positions[*i].x > 0.6) {
                let (vertex, aside) = (i as u32, DVec3::Z * (shape.positions[i].x - 0.6));
                world.edit(&Edit::Place { cloth: 0, vertex, position: x[i] + 0.02 * aside })?;
                world.edit(&Edit::Velocity { cloth: 0, vertex, velocity: v[i] + aside })?;
            }
        }
        world.step(0.5 * SHEET_TIME, &mut Probe::default())?;
    }
    Ok(world.positions(0))
}
