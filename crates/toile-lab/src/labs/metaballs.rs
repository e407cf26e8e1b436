//! Metaballs as a field against the mesh of them (V00-21, G-22): what contact costs and how far off it is.
//!
//! Particles within 5 cm of a body of nine balls ask how far it is and which way is out: of the field, by its nearest
//! point; of the field, by one step Φ/|∇Φ|, as V00-21 has it; and of meshes of several tolerances. The field's foot is nearest among its
//! neighbours, which is checked on a lone ball, a sphere; in a crease another fold may be nearer, which only a
//! mesh sees. So a mesh is wrong by what the field's foot is nearer, or by what no point of the surface is as near.

use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use std::time::Instant;
use toile::collide::collider::{Ball, Body, Collider, ColliderError, Frame, Metaballs, Touch};
use toile::drive::Motion;
use toile::math::random;

const PARTICLES: usize = 20_000;
/// How near particles are [m].
const REACH: f64 = 0.05;
const TOLERANCES: [f64; 4] = [0.02, 0.01, 0.005, 0.002];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    lone_ball(session)?;
    let balls = figure();
    let field = collider(Body::Metaballs(balls.clone()), TOLERANCES[0])?;
    let particles = particles(&field);
    let exact = ask(session, "field, nearest point", &field, &particles);
    one_step(session, &balls, &particles, &exact);
    let mut rows = Vec::new();
    let mut curve = Vec::new();
    for tolerance in TOLERANCES {
        let start = Instant::now();
        let facets = collider(Body::Metaballs(balls.clone()), tolerance)?.facets().clone();
        session.time(format!("meshing within {tolerance} m"), "ms", &[start.elapsed().as_secs_f64() * 1e3]);
        let faces = facets.faces.len();
        let frames = vec![Frame { time: 0.0, positions: facets.positions }];
        let mesh = collider(Body::Mesh { faces: facets.faces, frames, solid: true }, tolerance)?;
        let found = ask(session, &format!("mesh within {tolerance} m, {faces} faces"), &mesh, &particles);
        let (mut worst, mut tilt, mut same, mut wrong) = (0.0_f64, 0.0, 0.0, 0);
        for ((a, b), x) in exact.iter().zip(&found).zip(&particles) {
            let confirmed =
                field.touch(b.point, f64::INFINITY).map_or(f64::INFINITY, |t| (t.point - *x).length());
            worst = worst.max(b.distance.abs() - a.distance.abs()).max(confirmed - b.distance.abs());
            if a.distance.abs() <= b.distance.abs() + tolerance {
                tilt += libm::acos(a.normal.dot(b.normal).clamp(-1.0, 1.0)).to_degrees();
                same += 1.0;
            }
            wrong += i32::from(a.distance.abs() > tolerance && (a.distance < 0.0) != (b.distance < 0.0));
        }
        session.at_most(format!("mesh within {tolerance} m: distance"), worst, "m", tolerance);
        session.equal(format!("mesh within {tolerance} m: on the wrong side"), f64::from(wrong), "", 0.0);
        session.info(format!("mesh within {tolerance} m: mean tilt of normals"), tilt / same, "°");
        let lost = 1.0 - same / PARTICLES as f64;
        session.info(
            format!("mesh within {tolerance} m: feet of the field that are not nearest"),
            lost,
            "of all",
        );
        curve.push((tolerance, worst));
        rows.push(format!("{tolerance},{faces},{worst:e},{}", tilt / same));
    }
    session.csv(
        "meshes",
        "tolerance [m],faces,largest error of distance [m],mean tilt of normals [°]",
        &rows,
    )?;
    let bound = TOLERANCES.iter().map(|t| (*t, *t)).collect();
    session.plot(
        "meshes",
        Chart {
            title: "Distance to metaballs by their mesh".into(),
            x: "tolerance [m]".into(),
            y: "largest error [m]".into(),
            log: (true, true),
            curves: vec![
                Curve { name: "mesh".into(), points: curve },
                Curve { name: "tolerance".into(), points: bound },
            ],
        },
    )
}

/// A trunk, two arms and two legs, about a metre tall.
fn figure() -> Metaballs {
    let ball = |x: f64, y: f64, radius: f64| Ball { centre: DVec3::new(x, y, 0.02 * y), radius, weight: 1.0 };
    let balls = vec![
        ball(0.0, 0.75, 0.28),
        ball(0.0, 0.5, 0.3),
        ball(-0.22, 0.72, 0.18),
        ball(0.22, 0.72, 0.18),
        ball(0.36, 0.66, 0.16),
        ball(-0.36, 0.66, 0.16),
        ball(-0.12, 0.22, 0.26),
        ball(0.12, 0.22, 0.26),
        ball(0.0, 1.02, 0.22),
    ];
    Metaballs { balls, threshold: 0.25 }
}

fn collider(body: Body, tolerance: f64) -> Result<Collider, LabError> {
    Collider::new(body, Motion::still(), tolerance)
        .map_err(|error: ColliderError| LabError(error.to_string()))
}

/// Points scattered to both sides of the surface.
fn particles(body: &Collider) -> Vec<DVec3> {
    let (faces, vertices) = (&body.facets().faces, body.positions());
    (0..PARTICLES as u64)
        .map(|n| {
            let face = faces[(random::bits(31, n) % faces.len() as u64) as usize];
            let [a, b, c] = face.map(|v| vertices[v as usize]);
            let out = (b - a).cross(c - a).normalize_or_zero();
            (a + b + c) / 3.0 + out * (REACH * random::signed(32, n))
        })
        .collect()
}

/// What each particle is told, and how long that takes on one thread.
fn ask(session: &mut Session, name: &str, body: &Collider, particles: &[DVec3]) -> Vec<Touch> {
    let mut answers = Vec::new();
    let samples: Vec<f64> = (0..3)
        .map(|_| {
            let start = Instant::now();
            answers = particles.iter().filter_map(|x| body.touch(*x, f64::INFINITY)).collect();
            start.elapsed().as_secs_f64() * 1e9 / particles.len() as f64
        })
        .collect();
    session.time(format!("a particle: {name}"), "ns", &samples);
    answers
}

/// V00-21: the depth is taken as Φ/|∇Φ| and the way out as −∇Φ/|∇Φ|.
fn one_step(session: &mut Session, balls: &Metaballs, particles: &[DVec3], exact: &[Touch]) {
    let start = Instant::now();
    let guesses: Vec<(f64, DVec3)> = particles
        .iter()
        .map(|x| {
            let slope = balls.slope(*x);
            (-balls.potential(*x) / slope.length(), -slope.normalize_or_zero())
        })
        .collect();
    let time = start.elapsed().as_secs_f64() * 1e9 / particles.len() as f64;
    session.time("a particle: field, one step", "ns", &[time]);
    for (name, near) in [("5 mm", 0.005), ("2 cm", 0.02)] {
        let (mut worst, mut tilt, mut count) = (0.0_f64, 0.0, 0.0);
        for ((distance, out), touch) in guesses.iter().zip(exact).filter(|(_, t)| t.distance.abs() <= near) {
            worst = worst.max((distance - touch.distance).abs());
            tilt += libm::acos(out.dot(touch.normal).clamp(-1.0, 1.0)).to_degrees();
            count += 1.0;
        }
        session.at_most(format!("one step, particles within {name}: distance"), worst / near, "of it", 1.0);
        session.info(format!("one step, particles within {name}: mean tilt of normals"), tilt / count, "°");
    }
}

/// A lone ball is a sphere of radius R √(1 − √(T/w)).
fn lone_ball(session: &mut Session) -> Result<(), LabError> {
    let ball = Ball { centre: DVec3::new(0.1, 0.0, -0.2), radius: 0.5, weight: 1.0 };
    let body = collider(Body::Metaballs(Metaballs { balls: vec![ball], threshold: 0.25 }), 0.01)?;
    let radius = 0.5 * 0.5_f64.sqrt();
    let mut worst = 0.0_f64;
    for n in 0..2000 {
        let at = |k: u64| random::signed(33, 3 * n + k);
        let x = ball.centre + DVec3::new(at(0), at(1), at(2)) * 0.7;
        if let Some(touch) = body.touch(x, f64::INFINITY) {
            worst = worst.max((touch.distance - ((x - ball.centre).length() - radius)).abs());
        }
    }
    session.at_most("nearest point of a lone ball: distance", worst, "m", 1e-7);
    Ok(())
}
