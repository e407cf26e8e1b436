//! V00-12/13: the constant matrix of isotropic springs, its inverse cut off after K iterations per column, against
//! conjugate gradients on the same matrix.

use crate::material::cloth;
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use std::time::Instant;
use toile::forces::{Spring, Tangent};
use toile::freedom::{Freedom, Mobility};
use toile::interaction::{ConstantTangent, ForceModel};
use toile::math::random;
use toile::mesh::{Pattern, shapes};
use toile::solve::inverse::{Inverse, Isotropic};
use toile::solve::{Bodies, Integrator, Net};
use toile::{Bending, Fabric, PinDown, Probe, Setup, SolverSettings, Stretching, World};

/// Cells along a side.
const CELLS: usize = 40;

/// Steps [s]: h²κ/m is some 5 and some 500.
const STEPS: [f64; 2] = [0.001, 0.01];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    for step in STEPS {
        curves.push(cut(session, step, &mut rows)?);
    }
    motion(session)?;
    session.csv(
        "inverse",
        "step [s],K,entries per column,error,making [ms],applying [ms],error of K iterations of CG,K iterations of CG [ms]",
        &rows,
    )?;
    let (x, y) = ("K".into(), "relative error".into());
    session
        .plot("inverse", Chart { title: "inverse cut off after K".into(), x, y, log: (false, true), curves })
}

/// The inverse of a step, whole and cut off.
fn cut(session: &mut Session, step: f64, rows: &mut Vec<String>) -> Result<Curve, LabError> {
    let name = format!("steps of {} ms", 1e3 * step);
    let matrix = sheet(step)?;
    let n = matrix.start.len() - 1;
    let b: Vec<DVec3> =
        (0..n as u64).map(|i| DVec3::from_array([1, 2, 3].map(|lane| random::unit(lane, i) - 0.5))).collect();
    let start = Instant::now();
    let whole = Inverse::new(&matrix, 0);
    session.time(format!("{name}: making the whole inverse"), "ms", &[1e3 * start.elapsed().as_secs_f64()]);
    let mut right = vec![DVec3::ZERO; n];
    whole.apply(&b, &mut right);
    let left = (0..n).map(|i| matrix.row_times(i, &right).distance(b[i])).fold(0.0, f64::max);
    session.at_most(format!("{name}, whole inverse: largest residual"), left, "", 1e-10);
    session.info(format!("{name}, whole inverse: entries per column"), whole.entries() as f64 / n as f64, "");
    let (mut entries, mut errors) = (Vec::new(), Vec::new());
    let mut falls = true;
    for k in 1..=16 {
        let start = Instant::now();
        let cut = Inverse::new(&matrix, k);
        let making = 1e3 * start.elapsed().as_secs_f64();
        let mut x = vec![DVec3::ZERO; n];
        let applying = best_of(20, || cut.apply(&b, &mut x));
        let error = relative(&x, &right);
        let (by_cg, iterating) = conjugate_gradients(&matrix, &b, k);
        let (per_column, by_cg) = (cut.entries() as f64 / n as f64, relative(&by_cg, &right));
        rows.push(format!("{step},{k},{per_column},{error:e},{making},{applying},{by_cg:e},{iterating}"));
        falls &= errors.last().is_none_or(|(_, before)| error < *before);
        entries.push(per_column);
        errors.push((k as f64, error));
        if [1, 2, 4, 8, 16].contains(&k) {
            session.info(format!("{name}, K = {k}: entries per column"), per_column, "");
            session.info(format!("{name}, K = {k}: error"), error, "relative");
            session.info(format!("{name}, K = {k}: error of {k} iterations of CG"), by_cg, "relative");
            session.info(format!("{name}, K = {k}: time of applying over CG's"), applying / iterating, "");
        }
    }
    session.equal(format!("{name}: every further iteration errs less"), f64::from(u8::from(falls)), "", 1.0);
    // On a surface ring k holds 6 k particles, so K − 1 rings 3 K²; borders cut some off.
    let off = ((entries[7] / entries[3]).log2() - 2.0).abs();
    session.at_most(format!("{name}: growth of entries off K², from K = 4 to 8"), off, "power", 0.3);
    Ok(Curve { name, points: errors })
}

/// The world's own step with it: the fall of a sheet held by one edge, whole and cut off.
fn motion(session: &mut Session) -> Result<(), LabError> {
    let fall = |integrator: Integrator, iterations: usize| -> Result<f64, LabError> {
        let shape = shapes::sheet(1.0, 1.0, 16, 16, Pattern::Structured)?;
        let mut sheet = cloth("sheet", &shape, Fabric::default())?;
        (sheet.stretching, sheet.bending) = (Stretching::Springs(Tangent::Safe), Bending::None);
        let held = shape.group("left").unwrap_or_default().to_vec();
        let solver =
            SolverSettings { integrator, inverse_iterations: iterations, ..SolverSettings::default() };
        let setup = Setup {
            cloths: vec![sheet],
            pins: vec![PinDown::fixed(0, held)],
            solver,
            substeps: 1,
            ..Setup::default()
        };
        let mut world = World::new(setup)?;
        let before = world.momentum().1.y;
        for _ in 0..50 {
            world.step(0.01, &mut Probe::default())?;
        }
        Ok(before - world.momentum().1.y)
    };
    let whole = fall(Integrator::Precomputed, 0)?;
    session.info("sheet held by one edge: drop in 0.5 s with the whole inverse", whole, "m");
    for k in [4, 8, 16] {
        session.info(
            format!("the same cut off at K = {k}, over the whole one's"),
            fall(Integrator::Precomputed, k)? / whole,
            "",
        );
    }
    session.info(
        "the same solved to convergence (bdf2): isotropic derivatives over-damp",
        fall(Integrator::Bdf2, 0)?,
        "m",
    );
    Ok(())
}

/// H of a sheet of isotropic springs held by two corners.
fn sheet(step: f64) -> Result<ConstantTangent, LabError> {
    let shape = shapes::sheet(1.0, 1.0, CELLS, CELLS, Pattern::Structured)?;
    let plain = cloth("sheet", &shape, Fabric::default())?;
    let density = plain.fabric.density;
    let mass: Vec<f64> = plain.mesh.vertex_area().iter().map(|a| a * density).collect();
    let forces: Vec<Box<dyn ForceModel>> =
        vec![Box::new(Spring::elements(&plain.mesh, &plain.fabric, Tangent::Paper))];
    let mut fixed = vec![false; mass.len()];
    let corners = shape.group("corners").unwrap_or_default();
    corners.iter().take(2).for_each(|c| fixed[*c as usize] = true);
    let freedom = Freedom::Fixed.projector();
    let mobility = Mobility {
        inverse_mass: mass.iter().map(|m| 1.0 / m).collect(),
        projectors: corners.iter().take(2).map(|c| (*c, freedom)).collect(),
    };
    let bodies = Bodies {
        mass: &mass,
        forces: &forces,
        memory: &[],
        gravity: DVec3::ZERO,
        mobility: &mobility,
        places: &[],
        net: &Net::default(),
        start: &shape.positions,
        edge: 1.0 / CELLS as f64,
        size: 1.0,
        struck: None,
    };
    Ok(Isotropic::new(bodies).matrix(step, &mass, &fixed))
}

fn best_of(times: usize, mut work: impl FnMut()) -> f64 {
    let mut once = || {
        let start = Instant::now();
        work();
        1e3 * start.elapsed().as_secs_f64()
    };
    (0..times).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn relative(x: &[DVec3], right: &[DVec3]) -> f64 {
    let off: f64 = x.iter().zip(right).map(|(a, b)| a.distance_squared(*b)).sum();
    (off / right.iter().map(|b| b.length_squared()).sum::<f64>()).sqrt()
}

/// The solution after `k` plain iterations, and the time of them [ms].
fn conjugate_gradients(matrix: &ConstantTangent, b: &[DVec3], k: usize) -> (Vec<DVec3>, f64) {
    let n = b.len();
    let mut x = vec![DVec3::ZERO; n];
    let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
    let time = best_of(5, || {
        x.fill(DVec3::ZERO);
        let (mut r, mut t) = (b.to_vec(), b.to_vec());
        let mut ht = vec![DVec3::ZERO; n];
        let mut alpha = dot(&r, &r);
        for _ in 0..k {
            (0..n).for_each(|i| ht[i] = matrix.row_times(i, &t));
            let step = alpha / dot(&t, &ht);
            for i in 0..n {
                x[i] += step * t[i];
                r[i] -= step * ht[i];
            }
            let next = dot(&r, &r);
            let turn = next / alpha;
            alpha = next;
            (0..n).for_each(|i| t[i] = r[i] + turn * t[i]);
        }
    });
    (x, time)
}
