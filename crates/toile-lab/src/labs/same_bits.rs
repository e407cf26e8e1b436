//! One fingerprint, whatever runs the world: any number of threads, after resuming in the middle, in air and wind and
//! among many contacts, and with something unrelated far away.

use crate::labs::slide::lying;
use crate::material::{PATTERNS, border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::told;
use glam::DVec3;
use toile::mesh::shapes;
use toile::{Air, Fabric, PinDown, Probe, Setup, WindField, World};
use toile_io::build::build;
use toile_io::scene::{Scene, resolve};

const THREADS: [usize; 6] = [1, 2, 3, 4, 7, 8];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let frames = if session.full { 60 } else { 12 };
    let differing = whatever(&mut rows, "wind", &windy, frames, frames / 2)?;
    session.equal("wind: runs with another fingerprint", differing, "", 0.0);
    // Cloth on cloth on a ball by then, in thousands of pairs.
    let frames = if session.full { 60 } else { 24 };
    let alone = || stack(false);
    let dense = whatever(&mut rows, "contact", &alone, frames, frames - 4)?;
    session.equal("contact: runs with another fingerprint", dense, "", 0.0);
    let mut probe = Probe::default();
    let mut world = stack(false)?;
    let mut beside = stack(true)?;
    let mut apart = 0.0;
    for _ in 0..frames {
        probe.counters = Default::default();
        world.step(1.0 / 60.0, &mut probe)?;
        beside.step(1.0 / 60.0, &mut Probe::default())?;
        apart += f64::from(related(&world, 4) != related(&beside, 4));
    }
    session.at_least("contact: pairs that might push in a step", probe.counters.contacts as f64, "", 1000.0);
    session.equal("contact: frames changed by an unrelated cloth far away", apart, "", 0.0);
    session.info("runs", rows.len() as f64, "");
    session.csv("fingerprints", "scene,run,fingerprint", &rows)?;
    let points = |count: f64| THREADS.iter().map(|t| (*t as f64, count)).collect();
    session.plot(
        "fingerprints",
        Chart {
            title: "Runs whose fingerprint differs".into(),
            x: "threads".into(),
            y: "differing".into(),
            log: (false, false),
            curves: vec![
                Curve { name: "wind".into(), points: points(differing) },
                Curve { name: "contact".into(), points: points(dense) },
            ],
        },
    )
}

/// Runs that end elsewhere than the first: by threads, and resumed after `half` frames.
fn whatever(
    rows: &mut Vec<String>,
    name: &str,
    make: &(dyn Fn() -> Result<World, LabError> + Sync),
    frames: usize,
    half: usize,
) -> Result<f64, LabError> {
    let mut differing = 0.0;
    let mut first = None;
    for threads in THREADS {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let print = pool.install(|| -> Result<u64, LabError> { run_world(&mut make()?, frames) })?;
        differing += f64::from(*first.get_or_insert(print) != print);
        rows.push(format!("{name},{threads} threads,{print:016x}"));
    }
    let mut whole = make()?;
    run_world(&mut whole, half)?;
    let mut resumed = make()?;
    resumed.restore(whole.snapshot())?;
    let print = run_world(&mut resumed, frames - half)?;
    differing += f64::from(first != Some(print));
    rows.push(format!("{name},resumed,{print:016x}"));
    Ok(differing)
}

fn windy() -> Result<World, LabError> {
    let shape = shapes::sheet(1.0, 1.0, 60, 60, PATTERNS[4].1)?;
    let mut sheet = cloth("sheet", &shape, Fabric { damping: 1e-3, ..Fabric::default() })?;
    sheet.air = Air { drag: 0.1, normal: 0.3, quadratic: 0.4 };
    let wind = WindField { velocity: DVec3::new(1.0, 0.3, 2.0), gust: 0.3, frequency: 1.0, seed: 4 };
    let pins = vec![PinDown::fixed(0, border(&shape, "left")?)];
    Ok(World::new(Setup { cloths: vec![sheet], pins, wind, substeps: 2, ..Setup::default() })?)
}

/// The stack of four, perhaps with a sheet that falls a hundred metres away.
fn stack(beside: bool) -> Result<World, LabError> {
    let scene = told(Scene::open(&told(resolve("stack4"))?, &[]))?;
    let built = told(build(&scene))?.world;
    let mut setup = Setup {
        cloths: built.cloths().to_vec(),
        bodies: built.bodies().to_vec(),
        contact: built.contact().clone(),
        substeps: scene.substeps(),
        ..Setup::default()
    };
    // Close enough to be on the ball and on each other within the run.
    for (k, sheet) in setup.cloths.iter_mut().enumerate() {
        let drop = 0.08 + 0.045 * k as f64;
        sheet.positions.iter_mut().for_each(|p| p.y -= drop);
    }
    if beside {
        let mut other = lying("other", (0.4, 0.4), 9, PATTERNS[5].1, 20.0, 0.0)?;
        other.positions.iter_mut().for_each(|p| p.x += 100.0);
        setup.cloths.push(other);
    }
    Ok(World::new(setup)?)
}

/// Bits of the places and velocities of the first `cloths`.
fn related(world: &World, cloths: usize) -> Vec<u64> {
    let all = (0..cloths).flat_map(|c| world.positions(c).into_iter().chain(world.velocities(c)));
    all.flat_map(|p| p.to_array().map(f64::to_bits)).collect()
}

fn run_world(world: &mut World, frames: usize) -> Result<u64, LabError> {
    for _ in 0..frames {
        world.step(1.0 / 60.0, &mut Probe::default())?;
    }
    Ok(world.fingerprint())
}
