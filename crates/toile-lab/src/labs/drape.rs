//! The Cusick drape test by stiffness, mesh and unevenness of the specimen, and the same cloth as a strip.
//!
//! The drape coefficient is the part of the overhanging ring that lies in the specimen's shadow. Nothing is fitted to it:
//! stiffness is what the cantilever measures, and published coefficients stand beside the result only.

use super::cantilever::elastica;
use crate::cusick::{Draped, GRAVITY, Shadow, Specimen};
use crate::material::{border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use rayon::prelude::*;
use toile::mesh::{Pattern, shapes};
use toile::solve::{DrapeSettings, Integrator};
use toile::{Fabric, PinDown, Probe, Setup, SolverSettings, World};
use toile_io::fabric::{Sheet, preset_names};
use toile_render as draw;

/// Bending stiffnesses [N·m], softest first.
const SWEEP: [f64; 6] = [2e-6, 5e-6, 1e-5, 2e-5, 4e-5, 1e-4];
/// Those tried on every mesh.
const TRIED: [f64; 2] = [1e-5, 4e-5];
/// Mesh edges [m], coarsest first.
const EDGES: [f64; 3] = [0.012, 0.008, 0.006];
const SEEDS: u64 = 5;
const KINDS: [(&str, Pattern); 3] = [
    ("rings", Pattern::Equilateral),
    ("jittered", Pattern::Jittered { amount: 0.25, seed: 11 }),
    ("delaunay", Pattern::Delaunay { seed: 12 }),
];

/// A light woven cloth of this bending stiffness [N·m].
fn fabric(bend: f64) -> Fabric {
    Fabric { density: 0.15, poisson: 0.0, bend: bend.into(), damping: 2e-3, ..Fabric::default() }
}

/// One specimen and its name in the table.
struct Case {
    group: String,
    bend: f64,
    kind: &'static str,
    specimen: Specimen,
}

impl Case {
    fn new(bend: f64, edge: f64, (kind, pattern): (&'static str, Pattern), seed: u64) -> Case {
        let specimen = Specimen { fabric: fabric(bend), edge, pattern, seed };
        Case { group: group_of(bend), bend, kind, specimen }
    }

    /// A preset, whose stiffness was measured on strips.
    fn preset(name: &str) -> Option<Case> {
        let fabric = Sheet::preset(name)?.fabric;
        let specimen = Specimen { fabric, edge: EDGES[1], pattern: KINDS[2].1, seed: 0 };
        Some(Case { group: name.into(), bend: fabric.bend.mean(), kind: KINDS[2].0, specimen })
    }

    fn row(&self, found: &Draped) -> String {
        format!(
            "{},{:e},{},{},{},{:.2},{},{:.2},{},{:.2},{:.5}",
            self.group,
            self.bend,
            self.specimen.edge * 1e3,
            self.kind,
            self.specimen.seed,
            100.0 * found.shadow.coefficient(),
            found.shadow.folds(),
            100.0 * found.fallen.coefficient(),
            found.waited,
            1e3 * found.speed,
            found.carried
        )
    }
}

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut cases = cases(session.full);
    cases.extend(preset_names().into_iter().filter_map(Case::preset));
    let results: Result<Vec<Draped>, LabError> = cases.par_iter().map(|case| case.specimen.drape()).collect();
    let results: Vec<(&Case, Draped)> = cases.iter().zip(results?).collect();
    for bend in TRIED {
        on_all_meshes(session, bend, &results);
        strip(session, bend)?;
    }
    let sweep = by_stiffness(session, &results);
    presets(session, &results);
    published(session);
    at_rest(session, &results);
    let rows: Vec<String> = results.iter().map(|(case, found)| case.row(found)).collect();
    session.csv(
        "drape",
        "specimen,D [N·m],edge [mm],mesh,seed,drape coefficient [%],folds,after the fall [%],time to rest [s],speed [mm/s],carried over weight",
        &rows,
    )?;
    session.plot(
        "drape",
        Chart {
            title: "Drape coefficient at 0.15 kg/m²".into(),
            x: "bending stiffness [N·m]".into(),
            y: "%".into(),
            log: (true, false),
            curves: vec![Curve { name: "coefficient".into(), points: sweep }],
        },
    )?;
    outlines(session, &results)?;
    pictures(session, &results)
}

/// One stiffness by mesh and unevenness: neither may matter.
fn on_all_meshes(session: &mut Session, bend: f64, results: &[(&Case, Draped)]) {
    let own = results.iter().filter(|(case, _)| case.group == group_of(bend));
    let group: Vec<Found> = own.map(|(case, found)| Found::of(case, &found.shadow)).collect();
    let name = format!("D = {bend:.0e}, {} specimens", group.len());
    let spread = Spread::of(&group);
    spread.tell(session, &name);
    session.at_most(format!("{name}: farthest from the mean"), spread.apart, "points", 4.0);
    session.info(format!("{name}: half the spread"), spread.half, "points");
    // Within one of a common number.
    session.at_most(format!("{name}: most folds less fewest"), spread.most - spread.fewest, "", 2.0);
}

/// How still all specimens lie, and on what.
fn at_rest(session: &mut Session, results: &[(&Case, Draped)]) {
    let worst = |of: &dyn Fn(&Draped) -> f64| results.iter().map(|(_, found)| of(found)).fold(0.0, f64::max);
    let moved = |found: &Draped| 100.0 * (found.shadow.coefficient() - found.fallen.coefficient()).abs();
    session.info("largest change from the end of the fall to rest", worst(&moved), "points");
    session.info("longest time to rest", worst(&|found| found.waited), "s");
    session.info("largest speed at the end", 1e3 * worst(&|found| found.speed), "mm/s");
    session.info("farthest that cloth slid", 1e3 * worst(&|found| found.slid), "mm");
    session.info("largest error of the weight carried", worst(&|found| (found.carried - 1.0).abs()), "");
    session.at_most("frames with intersections", worst(&|found| found.bad_frames as f64), "", 0.0);
}

/// Every axis of the grid from one middle case, or the whole grid.
fn cases(full: bool) -> Vec<Case> {
    let middle = EDGES[1];
    let mut all: Vec<Case> = SWEEP
        .iter()
        .filter(|bend| !TRIED.contains(bend))
        .map(|bend| Case::new(*bend, middle, KINDS[2], 0))
        .collect();
    all.extend(TRIED.into_iter().flat_map(|bend| on_every_mesh(bend, full)));
    all
}

/// Every size and kind of mesh. Coarse ones are cheap: they take every seed in the short version too.
fn on_every_mesh(bend: f64, full: bool) -> Vec<Case> {
    let mut all = Vec::new();
    for edge in EDGES {
        for kind in KINDS {
            let seeds = if full || edge == EDGES[0] { SEEDS } else { 1 };
            all.extend((0..seeds).map(|seed| Case::new(bend, edge, kind, seed)));
        }
    }
    all
}

/// What became of a specimen: edge of its mesh [m], coefficient [%], folds.
struct Found {
    edge: f64,
    coefficient: f64,
    folds: f64,
}

impl Found {
    fn of(case: &Case, shadow: &Shadow) -> Found {
        let (coefficient, folds) = (100.0 * shadow.coefficient(), shadow.folds() as f64);
        Found { edge: case.specimen.edge, coefficient, folds }
    }
}

/// How much mesh and unevenness matter: the coefficient and the folds must not be theirs.
struct Spread {
    /// Mean coefficient by size of mesh [%].
    sizes: [f64; EDGES.len()],
    /// Their mean: every size weighs alike, however many seeds it was given [%].
    mean: f64,
    /// Farthest from it [points].
    apart: f64,
    /// Half of the largest less the smallest [points].
    half: f64,
    fewest: f64,
    most: f64,
}

impl Spread {
    fn of(group: &[Found]) -> Spread {
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
            sum / count
        };
        let sizes = EDGES
            .map(|edge| mean(&mut group.iter().filter(|found| found.edge == edge).map(|f| f.coefficient)));
        let centre = mean(&mut sizes.into_iter());
        let apart = group.iter().map(|found| (found.coefficient - centre).abs()).fold(0.0, f64::max);
        let folds = || group.iter().map(|found| found.folds);
        let (fewest, most) = (folds().fold(f64::MAX, f64::min), folds().fold(0.0, f64::max));
        let coefficients = || group.iter().map(|found| found.coefficient);
        let half = 0.5 * (coefficients().fold(0.0, f64::max) - coefficients().fold(f64::MAX, f64::min));
        Spread { sizes, mean: centre, apart, half, fewest, most }
    }

    fn tell(&self, session: &mut Session, name: &str) {
        session.info(format!("{name}: mean coefficient"), self.mean, "%");
        for (edge, size) in EDGES.iter().zip(self.sizes) {
            session.info(format!("{name}: mean at h = {} mm", edge * 1e3), size, "%");
        }
        session.info(format!("{name}: fewest folds"), self.fewest, "");
        session.info(format!("{name}: most folds"), self.most, "");
    }
}

/// Coefficient [%] by stiffness [N·m] on the same kind of mesh: it must grow.
fn by_stiffness(session: &mut Session, results: &[(&Case, Draped)]) -> Vec<(f64, f64)> {
    let of = |bend: f64| {
        let same = |case: &Case| {
            let Specimen { edge, seed, .. } = case.specimen;
            case.group == group_of(bend) && edge == EDGES[1] && seed == 0 && case.kind == KINDS[2].0
        };
        results
            .iter()
            .find(|(case, _)| same(case))
            .map(|(_, found)| (bend, 100.0 * found.shadow.coefficient(), found.shadow.folds() as f64))
    };
    let found: Vec<(f64, f64, f64)> = SWEEP.into_iter().filter_map(of).collect();
    for (bend, coefficient, folds) in &found {
        session.info(format!("D = {bend:.0e}: coefficient"), *coefficient, "%");
        session.info(format!("D = {bend:.0e}: folds"), *folds, "");
    }
    let least = found.windows(2).map(|pair| pair[1].1 - pair[0].1).fold(f64::MAX, f64::min);
    session.at_least("least growth of the coefficient from one stiffness to the next", least, "points", 0.0);
    found.into_iter().map(|(bend, coefficient, _)| (bend, coefficient)).collect()
}

/// What the presets do, by their own stiffness.
fn presets(session: &mut Session, results: &[(&Case, Draped)]) {
    let names = preset_names();
    for (case, found) in results.iter().filter(|(case, _)| names.contains(&case.group.as_str())) {
        session.info(format!("{}: coefficient", case.group), 100.0 * found.shadow.coefficient(), "%");
        session.info(format!("{}: folds", case.group), found.shadow.folds() as f64, "");
    }
}

fn group_of(bend: f64) -> String {
    format!("D = {bend:.0e}")
}

/// A strip of the same cloth, 10 cm long with edges of a quarter of its bending length, against the elastica.
fn strip(session: &mut Session, bend: f64) -> Result<(), LabError> {
    let fabric = fabric(bend);
    let length = 0.1;
    let [c, _, _] = fabric.bending_length(GRAVITY);
    let cells = (4.0 * length / c).ceil() as usize;
    let shape = shapes::strip(length, 0.025, cells, Pattern::Structured)?;
    let drape = DrapeSettings { residual: 1e-9, ..SolverSettings::default().drape };
    let solver = SolverSettings { integrator: Integrator::QuasiStatic, drape, ..SolverSettings::default() };
    let mut world = World::new(Setup {
        cloths: vec![cloth("strip", &shape, fabric)?],
        pins: vec![PinDown::clamped(0, border(&shape, "left")?)],
        gravity: DVec3::NEG_Y * GRAVITY,
        solver,
        ..Setup::default()
    })?;
    world.step(1.0, &mut Probe::default())?;
    let x = world.positions(0);
    let tip = border(&shape, "right")?.iter().fold(DVec3::ZERO, |sum, v| sum + x[*v as usize]);
    let exact = elastica((length / c).powi(3), 20_000).ratio();
    let error = (-tip.y / tip.x / exact - 1.0).abs();
    session.at_most(format!("D = {bend:.0e}: H/W of a strip, h ≤ c/4"), error, "relative", 0.035);
    Ok(())
}

/// What others found, to read beside.
fn published(session: &mut Session) {
    for (file, name, value) in [
        ("validation/drape_coefficients_published.csv", 0, 4),
        ("validation/drape_targets_ppf.csv", 0, 1),
        ("validation/drape_targets_ppf.csv", 0, 2),
    ] {
        let Some(text) = session.reference(file) else { continue };
        let label = text.lines().next().and_then(|head| head.split(',').nth(value)).unwrap_or("").to_string();
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            if let Some(percent) = cells.get(value).and_then(|cell| cell.parse().ok()) {
                session.info(format!("published: {}, {label}", cells[name]), percent, "%");
            }
        }
    }
}

/// The outline of the two tried stiffnesses on the finest mesh.
fn outlines(session: &mut Session, results: &[(&Case, Draped)]) -> Result<(), LabError> {
    let shown = |case: &Case| case.specimen.edge == EDGES[2] && case.specimen.seed == 0;
    let curves = results.iter().filter(|(case, _)| shown(case)).map(|(case, found)| {
        let degrees = 360.0 / found.shadow.radius.len() as f64;
        let at = |(k, r): (usize, &f64)| (k as f64 * degrees, 100.0 * r);
        let points = found.shadow.radius.iter().enumerate().map(at).collect();
        Curve { name: format!("{}, {}", case.group, case.kind), points }
    });
    let chart = Chart {
        title: format!("Outline of the shadow, h = {} mm", EDGES[2] * 1e3),
        x: "direction [°]".into(),
        y: "radius [cm]".into(),
        log: (false, false),
        curves: curves.collect(),
    };
    session.plot("outline", chart)
}

/// The tried stiffnesses on the finest Delaunay mesh.
fn pictures(session: &mut Session, results: &[(&Case, Draped)]) -> Result<(), LabError> {
    let shown = |case: &Case| {
        let Specimen { edge, seed, .. } = case.specimen;
        edge == EDGES[2] && seed == 0 && case.kind == KINDS[2].0
    };
    for (case, found) in results.iter().filter(|(case, _)| shown(case)) {
        let name = format!("specimen-{:.0e}.png", case.bend);
        picture(session, &name, &case.group, &found.x, &found.faces)?;
    }
    Ok(())
}

/// Cloth from above one side.
fn picture(
    session: &mut Session,
    name: &str,
    caption: &str,
    x: &[DVec3],
    faces: &[[u32; 3]],
) -> Result<(), LabError> {
    let look = draw::Look::Cloth {
        front: draw::Colour::hex(0xc8553d),
        back: draw::Colour::hex(0xe0a890),
        pattern: draw::Pattern::Plain,
    };
    let shown: Vec<_> = x.iter().map(|p| p.as_vec3()).collect();
    let surfaces = vec![draw::Surface::new(&shown, faces, look)];
    let scene = draw::Scene { surfaces, caption: Some(caption.to_string()), ..draw::Scene::default() };
    let options = draw::Options { width: 800, height: 600, ..draw::Options::default() };
    let aspect = options.width as f32 / options.height as f32;
    let framing = draw::Framing { aspect, pitch: 0.6, ..draw::Framing::default() };
    let camera = draw::Camera::frame_points(&shown, &framing);
    let image = draw::render(&scene, &camera, &options).image;
    session.write(name, &draw::encode_png(&image)?)?;
    Ok(())
}
