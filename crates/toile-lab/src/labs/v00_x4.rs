//! V00-X4: does a stiff, finely meshed sheet fall at all with large steps? Drop of the centre of mass in half a second
//! against converged steps a quarter as long, for the papers' steps and ours. An explicit method needs steps so short
//! that it takes half as many cells each way here; `--full` gives it all of them.

use crate::hang::Hang;
use crate::material::cloth;
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use toile::Probe;
use toile::forces::{Membrane, Strain};
use toile::interaction::{ForceModel, Interactions, Mix, Moment};
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
        ("hybrid", Integrator::Hybrid, 0.0),
    ];
    for (name, integrator, lambda) in schemes {
        let mut points = Vec::new();
        // The hybrid chooses its own steps within these.
        let counts: &[u32] = if integrator == Integrator::Hybrid { &[60] } else { &[15, 30, 60] };
        for &steps in counts {
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
    let (explicit, steps) = runge_kutta(cells)?;
    let same = if session.full { right } else { drop(Hang::new(cells, Integrator::Bdf2, 120))? };
    session.info(format!("runge-kutta 4, {cells} × {cells}: steps it needs"), steps as f64, "");
    session.at_most(
        format!("runge-kutta 4, {cells} × {cells}: drop off that of bdf2 at 4.2 ms"),
        (explicit / same - 1.0).abs(),
        "",
        0.02,
    );
    rows.push(format!("runge-kutta 4,{},{}", TIME / steps as f64, explicit / same));
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

/// The same with the classical explicit method at 0.7 of its limit, and how many steps that takes. The membrane alone:
/// bending is 1e-5 of it here.
fn runge_kutta(cells: usize) -> Result<(f64, usize), LabError> {
    let hang = Hang { ratio: RATIO, ..Hang::new(cells, Integrator::Bdf2, 1) };
    let shape = hang.shape()?;
    let sheet = cloth("sheet", &shape, hang.fabric())?;
    let mass: Vec<f64> = sheet.mesh.vertex_area().iter().map(|a| a * hang.density).collect();
    let membrane = Membrane::elements(&sheet.mesh, &sheet.fabric, Strain::Green);
    let mut held = vec![false; mass.len()];
    shape.group("left").unwrap_or_default().iter().for_each(|v| held[*v as usize] = true);
    let mut answer = Interactions::default();
    let mut pull = |x: &[DVec3], v: &[DVec3]| -> Vec<DVec3> {
        let mut a = vec![DVec3::ZERO; x.len()];
        membrane.respond(Moment::new(x, v), Mix::NONE, &[], &mut answer);
        membrane.coupling().scatter(&answer.force, &mut a);
        for i in 0..a.len() {
            a[i] = if held[i] { DVec3::ZERO } else { a[i] / mass[i] + DVec3::NEG_Y * 9.81 };
        }
        a
    };
    // Fastest wave across the smallest cell: ω ≤ √(8 E/ρ)/Δx and a little more for shear; the limit is 2.8/ω.
    let omega = (8.5 * RATIO).sqrt() * cells as f64;
    let steps = (TIME * omega / (0.7 * 2.8)).ceil() as usize;
    let h = TIME / steps as f64;
    let add = |a: &[DVec3], s: f64, b: &[DVec3]| -> Vec<DVec3> {
        a.iter().zip(b).map(|(a, b)| *a + s * *b).collect()
    };
    let (mut x, mut v) = (shape.positions.clone(), vec![DVec3::ZERO; mass.len()]);
    for _ in 0..steps {
        let a1 = pull(&x, &v);
        let v2 = add(&v, 0.5 * h, &a1);
        let a2 = pull(&add(&x, 0.5 * h, &v), &v2);
        let v3 = add(&v, 0.5 * h, &a2);
        let a3 = pull(&add(&x, 0.5 * h, &v2), &v3);
        let v4 = add(&v, h, &a3);
        let a4 = pull(&add(&x, h, &v3), &v4);
        for i in 0..x.len() {
            x[i] += h / 6.0 * (v[i] + 2.0 * v2[i] + 2.0 * v3[i] + v4[i]);
            v[i] += h / 6.0 * (a1[i] + 2.0 * a2[i] + 2.0 * a3[i] + a4[i]);
        }
    }
    let total: f64 = mass.iter().sum();
    let height: f64 = mass.iter().zip(&x).map(|(m, x)| m * x.y).sum::<f64>() / total;
    Ok((-height, steps))
}
