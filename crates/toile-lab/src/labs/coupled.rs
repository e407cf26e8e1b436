//! V97's coupled edges: how a stretched square narrows (V97-X1), what they cost (V97-X5), and how its correction takes
//! scrambled cloth (V97-X6).

use crate::material::{border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use glam::{DMat3, DVec2, DVec3};
use std::time::Instant;
use toile::drive::{Key, Motion};
use toile::forces::{CoupledOptions, Membrane, Spring, Strain, Tangent, TriangleSpring};
use toile::interaction::{ForceModel, Interactions, Law, Moment};
use toile::math::random;
use toile::mesh::{Mesh, Pattern, shapes};
use toile::solve::{Corrections, Integrator};
use toile::{Air, Bending, Edit, Fabric, PinDown, Probe, Setup, SolverSettings, Stretching, World};

const ALPHAS: [f64; 5] = [0.0, 0.6, 0.9, 1.0, 1.2];

/// Cells along a side; Young's modulus [N/m], so that k = 1; density [kg/m²].
const CELLS: usize = 12;
const YOUNG: f64 = 2.0;
const DENSITY: f64 = 1.0;

/// Time to stretch and to settle [s]; drag [1/s] lets it come to rest.
const PULLING: f64 = 30.0;
const SETTLING: f64 = 45.0;
const DRAG: f64 = 1.0;

pub fn stretched(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for symmetric in [false, true] {
        let law = if symmetric { "symmetric" } else { "as printed" };
        let mut widths = Vec::new();
        for alpha in ALPHAS {
            let outcome = stretch(alpha, symmetric)?;
            let name = format!("{law}, alpha {alpha}");
            let ended = outcome.track.last().map_or(1.0, |(stretch, _)| *stretch);
            session.info(format!("{name}: length reached, of the first"), ended, "");
            match outcome.lost {
                Some(why) => session.note(format!("{name}: {why}")),
                None => {
                    let width = outcome.track.last().map_or(f64::NAN, |(_, width)| *width);
                    session.info(format!("{name}: width in the middle, of the first"), width, "");
                    session.info(format!("{name}: speed left"), outcome.speed, "m/s");
                    widths.push((alpha, width));
                }
            }
            rows.extend(outcome.track.iter().map(|(s, w)| format!("{law},{alpha},{s:.3},{w:.5}")));
            curves.push(Curve { name, points: outcome.track });
        }
        let rises = widths.windows(2).map(|w| w[1].1 - w[0].1).fold(f64::INFINITY, f64::min);
        session.at_least(format!("{law}: width grows with alpha, least rise"), rises, "", 0.0);
        session.at_most(format!("{law}: width at alpha 0"), widths[0].1, "", 0.9);
        for (alpha, width) in widths.iter().filter(|(alpha, _)| *alpha >= 0.9) {
            session.at_least(format!("{law}: width at alpha {alpha}"), *width, "", 0.97);
        }
    }
    for alpha in ALPHAS {
        let off = (poisson(alpha)? - (1.0 - alpha) / 3.0).abs();
        session.at_most(format!("equilateral, alpha {alpha}: ν off (1 − α)/3"), off, "", 0.02);
    }
    session.note("published (V97 Fig. 4, by eye): alpha 0 necks, 1 hardly, 1.2 buckles across");
    session.csv("v97-x1", "law,alpha,length,width", &rows)?;
    let (x, y) = ("length over the first".into(), "width in the middle over the first".into());
    let title = "a square stretched to four times its length".into();
    session.plot("v97-x1", Chart { title, x, y, log: (false, false), curves })
}

/// What became of a stretched square: (length, width) over the first as it was pulled.
struct Outcome {
    track: Vec<(f64, f64)>,
    speed: f64,
    lost: Option<String>,
}

fn stretch(alpha: f64, symmetric: bool) -> Result<Outcome, LabError> {
    let shape = shapes::sheet(1.0, 1.0, CELLS, CELLS, Pattern::Alternating)?;
    let mut square = cloth("square", &shape, Fabric::isotropic(DENSITY, YOUNG, 0.0, 0.0))?;
    square.stretching =
        Stretching::Coupled(CoupledOptions { alpha: Some(alpha), symmetric, ..CoupledOptions::default() });
    square.bending = Bending::None;
    square.air = Air { drag: DRAG * DENSITY, ..Air::default() };
    let key = |time, x| Key { time, translate: DVec3::X * x, rotate: DVec3::ZERO, scale: DVec3::ONE };
    let keys = vec![key(0.0, 0.0), key(PULLING, 3.0)];
    let motion = Motion { keys, basis: DMat3::IDENTITY, ..Motion::still() };
    let pins = vec![
        PinDown::fixed(0, border(&shape, "left")?),
        PinDown { motion, ..PinDown::fixed(0, border(&shape, "right")?) },
    ];
    let solver = SolverSettings { integrator: Integrator::Verlet, ..SolverSettings::default() };
    let setup =
        Setup { cloths: vec![square], pins, solver, gravity: DVec3::ZERO, substeps: 50, ..Setup::default() };
    let mut world = World::new(setup)?;
    let middle: Vec<usize> =
        (0..shape.positions.len()).filter(|i| (shape.positions[*i].x - 0.5).abs() < 1e-9).collect();
    let mut outcome = Outcome { track: vec![(1.0, 1.0)], speed: 0.0, lost: None };
    let frame = 0.25;
    let mut probe = Probe::default();
    for k in 1..=((PULLING + SETTLING) / frame) as usize {
        let length = 1.0 + 3.0 * (k as f64 * frame / PULLING).min(1.0);
        if let Err(error) = world.step(frame, &mut probe) {
            outcome.lost = Some(format!("lost at length {length:.2}: {error}"));
            break;
        }
        let x = world.positions(0);
        let (low, high) =
            middle.iter().fold((f64::MAX, f64::MIN), |(low, high), i| (low.min(x[*i].z), high.max(x[*i].z)));
        if high - low > 5.0 {
            outcome.lost = Some(format!("exploded sideways at length {length:.2}: {:.1} m wide", high - low));
            break;
        }
        outcome.track.push((length, high - low));
    }
    outcome.speed = world.velocities(0).iter().map(|v| v.length()).fold(0.0, f64::max);
    Ok(outcome)
}

/// Poisson's ratio of an equilateral triangle at small strain, from its forces.
fn poisson(alpha: f64) -> Result<f64, LabError> {
    let rest = [DVec2::ZERO, DVec2::new(1.0, 0.0), DVec2::new(0.5, 0.75f64.sqrt())];
    let mesh = Mesh::new(3, vec![[0, 1, 2]], vec![rest])?;
    let options = CoupledOptions { alpha: Some(alpha), ..CoupledOptions::default() };
    let law = TriangleSpring::elements(&mesh, &Fabric::isotropic(0.1, 2.0, 0.0, 0.0), options);
    // Stress along x and y for strains along x and y: ν is their coupling over the direct one.
    let stress = |along: DVec2| {
        let x = rest.map(|p| DVec3::new(p.x * (1.0 + along.x), 0.0, p.y * (1.0 + along.y)));
        let at = Moment::new(&x, &[DVec3::ZERO; 3]);
        let [a, b] = law.law.respond(0, &law.sample(0, at)).force;
        let f = [-a - b, a, b];
        let sum = |c: fn(DVec3) -> f64| -(0..3).map(|i| c(f[i]) * c(x[i])).sum::<f64>();
        DVec2::new(sum(|p| p.x), sum(|p| p.z))
    };
    let h = 1e-6;
    let slope = (stress(DVec2::X * h) - stress(DVec2::X * -h)) / (2.0 * h);
    Ok(slope.y / slope.x)
}

pub fn cost(session: &mut Session) -> Result<(), LabError> {
    let shape = shapes::sheet(1.0, 1.0, 50, 50, Pattern::Delaunay { seed: 4 })?;
    let mesh = Mesh::new(shape.positions.len(), shape.faces, shape.rest)?;
    let fabric = Fabric::default();
    let coupled = |symmetric| {
        TriangleSpring::elements(&mesh, &fabric, CoupledOptions { symmetric, ..CoupledOptions::default() })
    };
    let laws: [(&str, Box<dyn ForceModel>); 4] = [
        ("springs along edges", Box::new(Spring::elements(&mesh, &fabric, Tangent::Safe))),
        ("coupled edges as printed", Box::new(coupled(false))),
        ("coupled edges, symmetric", Box::new(coupled(true))),
        ("finite elements", Box::new(Membrane::elements(&mesh, &fabric, Strain::Green))),
    ];
    let shaken = |i: usize, p: DVec3| p + DVec3::Y * (0.003 * random::signed(9, i as u64));
    let x: Vec<DVec3> = shape.positions.iter().enumerate().map(|(i, p)| shaken(i, *p)).collect();
    let v = vec![DVec3::ZERO; x.len()];
    let mut samples = vec![Vec::new(); laws.len()];
    // In turns and on one thread, so that whatever else the machine does falls on all alike.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        let (mut answer, mut total) = (Interactions::default(), vec![DVec3::ZERO; x.len()]);
        for _ in 0..60 {
            for ((_, law), samples) in laws.iter().zip(&mut samples) {
                let start = Instant::now();
                for _ in 0..10 {
                    law.push(Moment::new(&x, &v), &mut answer);
                    law.coupling().scatter(&answer.force, &mut total);
                }
                samples.push(1e3 * start.elapsed().as_secs_f64() / 10.0);
            }
        }
    });
    let mut costs = Vec::new();
    for ((name, _), samples) in laws.iter().zip(&samples) {
        session.time(format!("{name}: forces of {} faces", mesh.faces().len()), "ms", samples);
        costs.push(samples.iter().copied().fold(f64::INFINITY, f64::min));
    }
    for (k, (name, _)) in laws.iter().enumerate().skip(1) {
        let published = if k == 1 { " (published: about 2; wanted within 1.2–2.5)" } else { "" };
        session.info(format!("{name} over springs{published}"), costs[k] / costs[0], "");
    }
    Ok(())
}

/// Scrambles, and how far each moves a particle, in edges.
const SCRAMBLES: usize = 10_000;
const AMOUNTS: [f64; 4] = [0.1, 0.5, 1.0, 3.0];

pub fn scrambled(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let mut refused = 0u64;
    let mut worst = [0.0f64; AMOUNTS.len()];
    let mut work = [0.0f64; AMOUNTS.len()];
    let mut beside = [f64::MIN; AMOUNTS.len()];
    let mut with = fuzz_world(true)?;
    let mut without = fuzz_world(false)?;
    let start = with.snapshot();
    for trial in 0..SCRAMBLES {
        let kind = trial % AMOUNTS.len();
        for world in [&mut with, &mut without] {
            world.restore(start.clone())?;
            scramble(world, trial as u64, AMOUNTS[kind])?;
        }
        let mut probe = Probe::default();
        for _ in 0..3 {
            let before = with.energies().total();
            without.restore(with.snapshot())?;
            let stepped = (with.step(STEP, &mut probe), without.step(STEP, &mut Probe::default()));
            let (Ok(()), Ok(())) = stepped else {
                refused += 1;
                break;
            };
            let (corrected, plain) = (with.energies().total(), without.energies().total());
            let gain = (corrected - plain.max(before)) / before.max(plain);
            worst[kind] = worst[kind].max(gain);
            work[kind] += (corrected - plain) / plain;
            beside[kind] = beside[kind].max((corrected - plain) / plain);
        }
        if trial % 100 < AMOUNTS.len() {
            let energy = with.energies().total();
            rows.push(format!("{trial},{},{energy:e},{}", AMOUNTS[kind], probe.counters.rejected));
        }
    }
    session.equal("trials that ended in no numbers, or in none small enough", refused as f64, "", 0.0);
    for (k, amount) in AMOUNTS.iter().enumerate() {
        let name = format!("scrambled by {amount} edges: largest gain of energy in a corrected step");
        session.at_most(name, worst[k].max(0.0), "of the energy", 0.0);
        let name = format!("scrambled by {amount} edges: largest change beside the same step uncorrected");
        session.info(name, beside[k], "of the energy");
        let mean = work[k] / (3.0 * SCRAMBLES as f64 / AMOUNTS.len() as f64);
        session.info(
            format!("scrambled by {amount} edges: mean change by the correction"),
            mean,
            "of the energy",
        );
    }
    session.csv("v97-x6", "trial,scramble [edges],energy after [J],steps redone", &rows)
}

/// Length of a step [s]; most are divided by their error.
const STEP: f64 = 5e-4;

fn fuzz_world(kinematic: bool) -> Result<World, LabError> {
    let shape = shapes::sheet(0.5, 0.5, 5, 5, Pattern::Delaunay { seed: 6 })?;
    let mut sheet =
        cloth("sheet", &shape, Fabric { damping: 1e-5, ..Fabric::isotropic(0.2, 200.0, 0.2, 0.0) })?;
    sheet.stretching = Stretching::Coupled(CoupledOptions::default());
    sheet.bending = Bending::None;
    let solver = SolverSettings {
        integrator: Integrator::Rk4,
        error_limit: 1e-3,
        corrections: Corrections { kinematic, ..Corrections::default() },
        ..SolverSettings::default()
    };
    let setup = Setup { cloths: vec![sheet], solver, gravity: DVec3::ZERO, substeps: 1, ..Setup::default() };
    Ok(World::new(setup)?)
}

fn scramble(world: &mut World, seed: u64, amount: f64) -> Result<(), LabError> {
    for (i, p) in world.positions(0).into_iter().enumerate() {
        let entry = |axis: u64| amount * 0.1 * random::signed(1000 + seed, 3 * i as u64 + axis);
        let position = p + DVec3::new(entry(0), entry(1), entry(2));
        world.edit(&Edit::Place { cloth: 0, vertex: i as u32, position })?;
    }
    Ok(())
}
