//! One fingerprint, whatever runs the world: any number of threads, and after resuming in the middle.

use crate::material::{PATTERNS, border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use toile::mesh::shapes;
use toile::{Air, Fabric, PinDown, Probe, Setup, WindField, World};

const THREADS: [usize; 6] = [1, 2, 3, 4, 7, 8];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let frames = if session.full { 60 } else { 12 };
    let mut rows = Vec::new();
    let mut differing = 0.0;
    let mut first = None;
    for threads in THREADS {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let print = pool.install(|| -> Result<u64, LabError> { run_world(&mut setup()?, frames) })?;
        differing += f64::from(*first.get_or_insert(print) != print);
        rows.push(format!("{threads} threads,{print:016x}"));
    }
    let mut whole = setup()?;
    run_world(&mut whole, frames / 2)?;
    let mut resumed = setup()?;
    resumed.restore(whole.snapshot())?;
    let print = run_world(&mut resumed, frames - frames / 2)?;
    differing += f64::from(first != Some(print));
    rows.push(format!("resumed,{print:016x}"));
    session.info("runs", rows.len() as f64, "");
    session.equal("runs with another fingerprint", differing, "", 0.0);
    session.csv("fingerprints", "run,fingerprint", &rows)?;
    let points = THREADS.iter().map(|t| (*t as f64, differing)).collect();
    session.plot(
        "fingerprints",
        Chart {
            title: "Runs whose fingerprint differs".into(),
            x: "threads".into(),
            y: "differing".into(),
            log: (false, false),
            curves: vec![Curve { name: "differing".into(), points }],
        },
    )
}

fn setup() -> Result<World, LabError> {
    let shape = shapes::sheet(1.0, 1.0, 60, 60, PATTERNS[4].1)?;
    let mut sheet = cloth("sheet", &shape, Fabric { damping: 1e-3, ..Fabric::default() })?;
    sheet.air = Air { drag: 0.1, normal: 0.3, quadratic: 0.4 };
    let wind = WindField { velocity: DVec3::new(1.0, 0.3, 2.0), gust: 0.3, frequency: 1.0, seed: 4 };
    let pins = vec![PinDown::fixed(0, border(&shape, "left")?)];
    Ok(World::new(Setup { cloths: vec![sheet], pins, wind, substeps: 2, ..Setup::default() })?)
}

fn run_world(world: &mut World, frames: usize) -> Result<u64, LabError> {
    for _ in 0..frames {
        world.step(1.0 / 60.0, &mut Probe::default())?;
    }
    Ok(world.fingerprint())
}
