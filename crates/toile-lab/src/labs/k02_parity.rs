//! Growth per step of K sweeps of block Jacobi on the linear model: odd K never grows, even K does.
//!
//! The map of a step is the engine's own, taken column by column as central differences about a flat sheet at rest of
//! 9 × 9 particles; its largest eigenvalue is the growth. Uniform motion is an eigenvector to 1 twice over, whose
//! pair rounding splits by its square root: 1e-4 is as near to 1 as a growth of 1 comes out.

use crate::session::{LabError, Session};
use glam::DVec3;
use toile::forces::{Spring, Tangent};
use toile::freedom::Freedom;
use toile::interaction::Elements;
use toile::mesh::{Mesh, Pattern, shapes};
use toile::model::Model;
use toile::solve::jacobi::{Jacobian, Parity};
use toile::solve::{Integrator, K02Settings};
use toile::state::State;
use toile::step::Island;
use toile::{Probe, SolverSettings};

/// Step [s]; masses are 1 kg, so springs of r/h² make h²κ/m = r.
const STEP: f64 = 0.01;
const PARTICLES: usize = 81;

/// r, and the growth for K = 0…5 as a dense eigenvalue solver gives them.
const TABLE: [(f64, [f64; 6]); 5] = [
    (1.0, [1.3250, 1.0, 1.0, 1.0, 1.0, 1.0]),
    (10.0, [2.2628, 1.0, 2.1208, 1.0, 1.9886, 1.0]),
    (100.0, [2.3983, 1.0, 2.3825, 1.0, 2.3668, 1.0]),
    (1000.0, [2.4126, 1.0, 2.4110, 1.0, 2.4094, 1.0]),
    (10000.0, [2.4141, 1.0, 2.4139, 1.0, 2.4137, 1.0]),
];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    for (r, expected) in TABLE {
        let mut found = [0.0; 6];
        for (k, expected) in expected.iter().enumerate() {
            found[k] = growth(k as u32, r)?;
            if k % 2 == 1 {
                session.at_most(format!("r = {r}, K = {k}: growth less 1"), found[k] - 1.0, "", 1e-4);
            } else {
                session.at_most(
                    format!("r = {r}, K = {k}: off {expected}"),
                    (found[k] - expected).abs(),
                    "",
                    1e-3,
                );
            }
        }
        rows.push(format!("{r},{}", found.map(|g| format!("{g:.4}")).join(",")));
    }
    for r in [1.0, 10.0, 100.0] {
        for k in [1, 3, 11] {
            session.info(format!("free fall, r = {r}, K = {k}: part of g"), fall(k, r)?, "");
        }
    }
    session.note("free fall: long waves, rigid motion included, get only 1 − (1 − μ)^(K+1) of their update");
    session.csv("k02-parity", "h²κ/m,K = 0,K = 1,K = 2,K = 3,K = 4,K = 5", &rows)
}

fn settings(iterations: u32) -> SolverSettings {
    let k02 =
        K02Settings { iterations, parity: Parity::Free, jacobian: Jacobian::Rank1, ..K02Settings::default() };
    SolverSettings { integrator: Integrator::K02, k02, ..SolverSettings::default() }
}

/// A flat free sheet at rest.
fn sheet(r: f64, gravity: DVec3) -> Result<Island, LabError> {
    let shape = shapes::sheet(0.8, 0.8, 8, 8, Pattern::Structured)?;
    let mesh = Mesh::new(PARTICLES, shape.faces, shape.rest)?;
    let ends: Vec<[u32; 2]> = mesh.edges().iter().map(|e| e.ends).collect();
    let law = Spring {
        stiffness: vec![r / (STEP * STEP); ends.len()],
        rest_length: mesh.edges().iter().map(|e| mesh.rest_length(e)).collect(),
        damping: 0.0,
        tangent: Tangent::Paper,
        give: None,
    };
    let start = shape.positions;
    let model = Model {
        mass: vec![1.0; PARTICLES],
        freedom: vec![Freedom::Free; PARTICLES],
        forces: vec![Box::new(Elements::new(PARTICLES, &ends, &vec![[[1.0, -1.0]]; ends.len()], law))],
        gravity,
        start: start.clone(),
        edge: 0.1,
        size: 0.8,
        ..Model::default()
    };
    Ok(Island::alone(model, State { x: start, v: vec![DVec3::ZERO; PARTICLES], ..State::default() }))
}

/// Largest modulus of an eigenvalue of the map (x, h v) ↦ (x⁺, h v⁺).
fn growth(iterations: u32, r: f64) -> Result<f64, LabError> {
    let settings = settings(iterations);
    let mut island = sheet(r, DVec3::ZERO)?;
    let rest = island.now.clone();
    let half = 3 * PARTICLES;
    // Out of the plane a displacement d stiffens springs by (d/l)²/2: small enough for that, large enough for digits.
    let nudge = 5e-8;
    let mut step = |column: usize, sign: f64| -> Result<Vec<f64>, LabError> {
        island.now = rest.clone();
        let (place, axis) = ((column % half) / 3, column % 3);
        match column < half {
            true => island.now.x[place][axis] += sign * nudge,
            false => island.now.v[place][axis] += sign * nudge / STEP,
        }
        let stepped = island.advance(&settings, 0.0, STEP, &mut Probe::default());
        stepped.map_err(|(error, _)| LabError(format!("a step was lost: {error:?}")))?;
        let x = island.now.x.iter().zip(&rest.x).flat_map(|(a, b)| (*a - *b).to_array());
        Ok(x.chain(island.now.v.iter().flat_map(|v| (*v * STEP).to_array())).collect())
    };
    let mut columns = Vec::with_capacity(2 * half);
    for column in 0..2 * half {
        let (ahead, behind) = (step(column, 1.0)?, step(column, -1.0)?);
        columns.push(ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * nudge)).collect::<Vec<f64>>());
    }
    let map = faer::Mat::from_fn(2 * half, 2 * half, |i, j| columns[j][i]);
    let values = map.eigenvalues().map_err(|_| LabError("the eigenvalues did not converge".into()))?;
    Ok(values.iter().map(|z| z.re.hypot(z.im)).fold(0.0, f64::max))
}

/// Speed after one step of free fall over g h.
fn fall(iterations: u32, r: f64) -> Result<f64, LabError> {
    let mut island = sheet(r, DVec3::NEG_X * 9.81)?;
    let stepped = island.advance(&settings(iterations), 0.0, STEP, &mut Probe::default());
    stepped.map_err(|(error, _)| LabError(format!("a step was lost: {error:?}")))?;
    let mean = island.now.v.iter().map(|v| -v.x).sum::<f64>() / PARTICLES as f64;
    Ok(mean / (9.81 * STEP))
}
