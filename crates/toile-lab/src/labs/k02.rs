//! K02's experiments: cost against size, the flag, the 3025-triangle disc, blocks against scalars.

use crate::material::{border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use std::time::Instant;
use toile::forces::Tangent;
use toile::mesh::{Pattern, shapes};
use toile::solve::jacobi::{Damping, Jacobian};
use toile::solve::{Integrator, K02Settings};
use toile::{
    Air, Bending, Cloth, Fabric, PinDown, Probe, Setup, SolverSettings, Stretching, WindField, World,
};

/// K02's Table 4: vertices, edges, triangles, milliseconds per step on its machine.
const TABLE_4: [([usize; 3], f64); 4] =
    [([148, 404, 257], 0.8), ([405, 1161, 757], 2.3), ([1566, 4590, 3025], 10.8), ([2128, 6231, 4104], 15.8)];

fn springs(plain: Cloth) -> Cloth {
    Cloth { stretching: Stretching::Springs(Tangent::Safe), bending: Bending::None, ..plain }
}

fn solver(k02: K02Settings) -> SolverSettings {
    SolverSettings { integrator: Integrator::K02, k02, ..SolverSettings::default() }
}

/// A disc of `v` vertices and `t` faces, 1 m across, that hangs from one place of its rim.
fn hanging_disc(v: usize, t: usize) -> Result<(World, [usize; 3]), LabError> {
    let shape = shapes::disc_of(0.5, v, 2 * v - 2 - t)?;
    let disc = springs(cloth("disc", &shape, Fabric::default())?);
    let counts = [disc.mesh.vertices(), disc.mesh.edges().len(), disc.mesh.faces().len()];
    let setup = Setup {
        cloths: vec![disc],
        pins: vec![PinDown::fixed(0, vec![0, 1, 2])],
        solver: solver(K02Settings::default()),
        substeps: 1,
        ..Setup::default()
    };
    Ok((World::new(setup)?, counts))
}

/// K02-X1: the same work per vertex and edge at every size.
pub fn x1(session: &mut Session) -> Result<(), LabError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let large = [100_000, 300_000, 1_000_000];
    let large = large.map(|v: usize| (v, 2 * v - 2 - (3.7 * (v as f64).sqrt()) as usize));
    let sizes = TABLE_4.iter().map(|([v, _, t], _)| (*v, *t)).chain(large);
    let (mut rows, mut points) = (Vec::new(), Vec::new());
    for (k, (v, t)) in sizes.enumerate() {
        let (mut world, [vertices, edges, faces]) = hanging_disc(v, t)?;
        let printed = TABLE_4.get(k);
        if let Some(([v, e, t], _)) = printed {
            session.equal(format!("disc {}: vertices", k + 1), vertices as f64, "", *v as f64);
            session.equal(format!("disc {}: edges", k + 1), edges as f64, "", *e as f64);
            session.equal(format!("disc {}: triangles", k + 1), faces as f64, "", *t as f64);
        }
        // One thread, as in 2002: waking a second one pays from some size on, which would bend the line.
        let count = if v < 10_000 { 200 } else { 5 };
        let samples = pool.install(|| time_steps(&mut world, 1.0 / 120.0, count))?;
        // Others use the machine too: the least time is the nearest to the method's own.
        let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
        session.time(format!("step of {vertices} vertices and {edges} edges"), "ms", &samples);
        if let Some((_, then)) = printed {
            session.info(
                format!("{vertices} vertices: times faster than the paper's {then} ms"),
                then / least,
                "",
            );
        }
        points.push(((vertices + edges) as f64, least));
        rows.push(format!("{vertices},{edges},{faces},{least},{}", printed.map_or(f64::NAN, |(_, ms)| *ms)));
    }
    for (what, part) in [("four published sizes", &points[..4]), ("all sizes", &points[..])] {
        let (fit, slope) = (line_fit(part), log_slope(part));
        session.info(format!("{what}: R² of time against v + e (asked for: ≥ 0.99)"), fit, "");
        session.info(format!("{what}: log-log slope (asked for: 0.95 to 1.15)"), slope, "");
    }
    session.note("times are the machine's, not the method's: they are reported and do not decide");
    session.csv("k02-x1", "vertices,edges,triangles,step [ms],published [ms]", &rows)?;
    let published = TABLE_4.iter().map(|([v, e, _], ms)| ((v + e) as f64, *ms)).collect();
    let curves = vec![
        Curve { name: "here".into(), points },
        Curve { name: "published (2002)".into(), points: published },
    ];
    session.plot(
        "k02-x1",
        Chart {
            title: "K02-X1: time of a step".into(),
            x: "vertices + edges".into(),
            y: "ms".into(),
            log: (true, true),
            curves,
        },
    )
}

/// Milliseconds of `count` steps, without what a frame costs besides (a copy to go back to, waking the threads).
fn time_steps(world: &mut World, dt: f64, count: usize) -> Result<Vec<f64>, LabError> {
    let start = Instant::now();
    let clock = || start.elapsed().as_secs_f64();
    world.step(dt, &mut Probe::default())?;
    (0..count)
        .map(|_| {
            let mut probe = Probe::with_clock(&clock);
            world.step(dt, &mut probe)?;
            Ok(1e3 * probe.counters.seconds.iter().sum::<f64>())
        })
        .collect()
}

fn middle(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Slope and intercept of the least-squares line.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let slope = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>()
        / points.iter().map(|p| (p.0 - mx) * (p.0 - mx)).sum::<f64>();
    (slope, my - slope * mx)
}

fn line_fit(points: &[(f64, f64)]) -> f64 {
    let (slope, offset) = line(points);
    let mean = points.iter().map(|p| p.1).sum::<f64>() / points.len() as f64;
    let left: f64 = points.iter().map(|p| (p.1 - offset - slope * p.0).powi(2)).sum();
    1.0 - left / points.iter().map(|p| (p.1 - mean).powi(2)).sum::<f64>()
}

fn log_slope(points: &[(f64, f64)]) -> f64 {
    line(&points.iter().map(|p| (p.0.ln(), p.1.ln())).collect::<Vec<_>>()).0
}

/// K02's flag: 32 × 32 quads, 2048 triangles, held by its left edge in a gusty wind.
fn flag(k02: K02Settings) -> Result<(World, Vec<u32>), LabError> {
    let shape = shapes::sheet(1.5, 1.0, 32, 32, Pattern::Structured)?;
    let plain = cloth("flag", &shape, Fabric::default())?;
    let upright = plain.positions.iter().map(|p| DVec3::new(p.x, p.z, 0.0)).collect();
    let air = Air { normal: 0.5, quadratic: 0.6, drag: 0.0 };
    let wind = WindField { velocity: DVec3::new(6.0, 0.0, 1.0), gust: 2.0, frequency: 0.7, seed: 5 };
    let setup = Setup {
        cloths: vec![Cloth { positions: upright, air, ..springs(plain) }],
        pins: vec![PinDown::fixed(0, border(&shape, "left")?)],
        wind,
        solver: solver(k02),
        substeps: 1,
        ..Setup::default()
    };
    Ok((World::new(setup)?, border(&shape, "right")?))
}

/// Step of the flag [s] (K02 §5).
const FLAG_STEP: f64 = 1.0 / 300.0;

/// What a flag did.
struct Flown {
    /// Time [s] and energy above the start [J], ten times a second.
    energy: Vec<(f64, f64)>,
    /// Lengths of edges over their rest lengths less 1, ten times a second after the first one.
    strains: Vec<f64>,
    /// Root mean square speed of the free edge [m/s], after the first second.
    tip: f64,
    /// Wall time [s].
    wall: f64,
    /// When it was lost [s].
    lost: Option<f64>,
}

fn fly(k02: K02Settings, seconds: usize) -> Result<Flown, LabError> {
    let (mut world, tips) = flag(k02)?;
    let start = world.energies().total();
    let mut flown = Flown { energy: Vec::new(), strains: Vec::new(), tip: 0.0, wall: 0.0, lost: None };
    let (mut squares, mut count) = (0.0, 0);
    for tenth in 1..=10 * seconds {
        let clock = Instant::now();
        for _ in 0..30 {
            if world.step(FLAG_STEP, &mut Probe::default()).is_err() {
                flown.lost = Some(world.time());
                return Ok(flown);
            }
        }
        flown.wall += clock.elapsed().as_secs_f64();
        flown.energy.push((world.time(), world.energies().total() - start));
        if tenth > 10 {
            let v = world.velocities(0);
            squares += tips.iter().map(|t| v[*t as usize].length_squared()).sum::<f64>();
            count += tips.len();
            let (x, mesh) = (world.positions(0), &world.cloths()[0].mesh);
            flown.strains.extend(mesh.edges().iter().map(|e| {
                let [a, b] = e.ends.map(|v| x[v as usize]);
                a.distance(b) / mesh.rest_length(e) - 1.0
            }));
        }
    }
    flown.tip = (squares / f64::from(count.max(1) as u32)).sqrt();
    Ok(flown)
}

/// K02-X2: a minute of the flag.
pub fn x2(session: &mut Session) -> Result<(), LabError> {
    let seconds = 60;
    let mut flown = fly(K02Settings::default(), seconds)?;
    session.equal("steps that lost their numbers", f64::from(u8::from(flown.lost.is_some())), "", 0.0);
    flown.strains.iter_mut().for_each(|s| *s = s.abs());
    flown.strains.sort_by(f64::total_cmp);
    let at = |part: f64| flown.strains.get((part * flown.strains.len() as f64) as usize).copied();
    session.at_most("strain of edges, 95th percentile", at(0.95).unwrap_or(f64::NAN), "", 0.1);
    session.info("strain of edges, median", at(0.5).unwrap_or(f64::NAN), "");
    session.info("strain of edges, largest", flown.strains.last().copied().unwrap_or(f64::NAN), "");
    let most = |part: &[(f64, f64)]| part.iter().map(|p| p.1.abs()).fold(0.0, f64::max);
    let half = flown.energy.len() / 2;
    let grown = most(&flown.energy[half..]) / most(&flown.energy[..half]);
    session.at_most("largest energy of the second half minute over that of the first", grown, "", 1.5);
    session.info("times real time (wanted: 1)", seconds as f64 / flown.wall, "");
    session.info("speed of the free edge", flown.tip, "m/s rms");
    let rows: Vec<String> = flown.energy.iter().map(|(t, e)| format!("{t},{e}")).collect();
    session.csv("k02-x2", "time [s],energy above the start [J]", &rows)?;
    let curves = vec![Curve { name: "energy above the start".into(), points: flown.energy }];
    session.plot(
        "k02-x2",
        Chart {
            title: "K02-X2: a minute of the flag".into(),
            x: "time [s]".into(),
            y: "J".into(),
            log: (false, false),
            curves,
        },
    )
}

/// K02-X3: 3025 triangles at 1/120 s.
pub fn x3(session: &mut Session) -> Result<(), LabError> {
    let ([v, _, t], published) = TABLE_4[2];
    let (mut world, counts) = hanging_disc(v, t)?;
    session.equal("triangles", counts[2] as f64, "", t as f64);
    let samples = time_steps(&mut world, 1.0 / 120.0, 1200)?;
    let wall = samples.iter().sum::<f64>() * 1e-3;
    session.time("step", "ms", &samples);
    session.info("times real time over ten seconds (published: 0.77; wanted: 1)", 10.0 / wall, "");
    session.info("times faster than the paper", published / middle(&samples), "");
    Ok(())
}

/// K02-X5: what the block keeps of the motion that a scalar kills.
pub fn x5(session: &mut Session) -> Result<(), LabError> {
    let own = |jacobian| K02Settings { jacobian, ..K02Settings::default() };
    let scalar = fly(own(Jacobian::Scalar), 20)?;
    session.info("free edge with scalars", scalar.tip, "m/s rms");
    let mut rows = vec![format!("scalar,none,{}", scalar.tip)];
    for jacobian in [Jacobian::Safe, Jacobian::Blend, Jacobian::Rank1] {
        let name = jacobian.name();
        let flown = fly(own(jacobian), 20)?;
        rows.push(format!("{name},none,{}", flown.tip));
        if let Some(time) = flown.lost {
            session.note(format!("{name}, undamped: lost after {time:.2} s (its remedy is damping)"));
            continue;
        }
        session.info(format!("free edge with {name}"), flown.tip, "m/s rms");
        let over = flown.tip / scalar.tip;
        match jacobian {
            Jacobian::Safe => session.at_least(format!("{name} over scalar"), over, "", 1.5),
            _ => session.info(format!("{name} over scalar"), over, ""),
        }
    }
    // The paper's own block with its own remedy, and scalars with the same.
    let damped = |jacobian| K02Settings { damping: Damping::ModelB, coefficient: 0.02, ..own(jacobian) };
    let (block, scalar) = (fly(damped(Jacobian::Rank1), 20)?, fly(damped(Jacobian::Scalar), 20)?);
    match block.lost {
        Some(time) => session.note(format!("rank1 with model B, C_d = 0.02 N·s/m: lost after {time:.2} s")),
        None => {
            session.info("rank1 over scalar, both with model B, C_d = 0.02 N·s/m", block.tip / scalar.tip, "")
        }
    }
    rows.push(format!("rank1,model-b,{}", block.tip));
    rows.push(format!("scalar,model-b,{}", scalar.tip));
    session.csv("k02-x5", "jacobian,damping,speed of the free edge [m/s rms]", &rows)
}
