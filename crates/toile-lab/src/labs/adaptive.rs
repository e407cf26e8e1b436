//! What refinement is worth: error against a uniformly fine mesh over the time it takes, on a cloth that falls on a ball and
//! on a dress that falls round a cylinder; and draping from coarse to fine.
//!
//! The error is the distance of the vertices of the coarsest mesh, which every mesh has, from where the finest uniform mesh
//! has them, as a root mean square over them and over the frames. The time that a uniform mesh would take for the error of a
//! refined one is read from the line through the uniform ones, both logarithmic.

use crate::material::{border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::{body, told};
use glam::DVec3;
use std::time::Instant;
use toile::collide::collider::Form;
use toile::drive::Transform;
use toile::mesh::levels::Sizing;
use toile::mesh::{Closure, Levels, Mesh, Pattern, Shape, shapes};
use toile::solve::{DrapeSettings, Integrator};
use toile::{
    Air, Cloth, ContactSettings, Criterion, Every, Fabric, PinDown, Probe, Refine, Setup, SolverSettings,
    World,
};

const FRAME: f64 = 1.0 / 60.0;

/// Where every vertex of the coarsest mesh is, frame by frame, and what it took.
struct Run {
    places: Vec<Vec<DVec3>>,
    seconds: f64,
    faces: usize,
}

impl Run {
    /// Root mean square distance from another run [m].
    fn off(&self, other: &Run) -> f64 {
        let pairs = self.places.iter().zip(&other.places).flat_map(|(a, b)| a.iter().zip(b));
        let (mut sum, mut count) = (0.0, 0);
        for (p, q) in pairs {
            (sum, count) = (sum + p.distance_squared(*q), count + 1);
        }
        (sum / f64::from(count)).sqrt()
    }
}

/// A cloth whose faces were all split so many times.
fn split(shape: &Shape, times: u32) -> Result<Shape, LabError> {
    let base = Mesh::new(shape.positions.len(), shape.faces.clone(), shape.rest.clone())?;
    let mut levels = told(Levels::new(base, times, Closure::RedGreen))?;
    let mut x = shape.positions.clone();
    for _ in 0..times {
        let all: Vec<u32> = levels.leaves().collect();
        let change = told(levels.change(&all, &[]))?;
        x = change.edited.remap.carry(&x);
    }
    let mesh = levels.mesh();
    let mut fine =
        Shape { positions: x, faces: mesh.faces().to_vec(), rest: mesh.rest().to_vec(), ..shape.clone() };
    fine.groups.clear();
    Ok(fine)
}

/// A scene: its coarsest mesh and what becomes of one.
struct Scene {
    name: &'static str,
    shape: Shape,
    /// Names of held borders of the coarsest mesh.
    held: &'static str,
    fabric: Fabric,
    form: Form,
    stand: DVec3,
    frames: usize,
}

impl Scene {
    fn setup(&self, mut garment: Cloth) -> Result<Setup, LabError> {
        garment.air = Air { drag: 4.0 * self.fabric.density, ..Air::default() };
        // Of a finer mesh, what lies where the border of the coarsest does.
        let mut held = Vec::new();
        if !self.held.is_empty() {
            let ring = border(&self.shape, self.held)?;
            let height = self.shape.positions[ring[0] as usize].y;
            held.extend(
                (0..).zip(&garment.positions).filter(|(_, p)| (p.y - height).abs() < 1e-9).map(|(v, _)| v),
            );
        }
        let pins = if held.is_empty() { vec![] } else { vec![PinDown::fixed(0, held)] };
        let stand = Transform { offset: self.stand, ..Transform::IDENTITY };
        let bodies = vec![body("body", self.form, stand, 1e-3)?];
        let contact = ContactSettings::default();
        Ok(Setup { cloths: vec![garment], bodies, pins, contact, ..Setup::default() })
    }

    fn run(&self, garment: Cloth) -> Result<Run, LabError> {
        let mut world = World::new(self.setup(garment)?)?;
        let known = self.shape.positions.len();
        let (mut places, mut seconds) = (Vec::new(), 0.0);
        for _ in 0..self.frames {
            let start = Instant::now();
            world.step(FRAME, &mut Probe::default())?;
            seconds += start.elapsed().as_secs_f64();
            places.push(world.positions(0)[..known].to_vec());
        }
        Ok(Run { places, seconds, faces: world.cloths()[0].mesh.faces().len() })
    }

    fn uniform(&self, times: u32) -> Result<Run, LabError> {
        self.run(cloth("cloth", &split(&self.shape, times)?, self.fabric)?)
    }

    fn refined(&self, turn: f64, most: u32) -> Result<Run, LabError> {
        let mut garment = cloth("cloth", &self.shape, self.fabric)?;
        let criterion = Criterion::Sizing(Sizing { turn, ..Sizing::default() });
        garment.refine = Some(Refine { criterion, most, every: Every::Frames(EVERY), ..Refine::default() });
        self.run(garment)
    }
}

/// Frames between looks.
const EVERY: u32 = 4;

/// Turns that are tried [rad].
const TURNS: [f64; 2] = [0.3, 0.6];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let fabric = Fabric {
        density: 0.2,
        bend: 2e-5.into(),
        damping: 0.005,
        ..Fabric::isotropic(0.2, 1000.0, 0.3, 2e-5)
    };
    let mut sheet = shapes::sheet(1.0, 1.0, 13, 13, Pattern::Delaunay { seed: 9 })?;
    sheet.positions.iter_mut().for_each(|p| *p += DVec3::new(-0.5, 0.1, -0.5));
    let tube = shapes::tube_of(0.30, 0.16, 0.9, 400, 14)?;
    let scenes = [
        Scene {
            name: "sphere",
            shape: sheet,
            held: "",
            fabric,
            form: Form::Sphere { radius: 0.3 },
            stand: DVec3::NEG_Y * 0.3,
            frames: 60,
        },
        Scene {
            name: "tube",
            shape: tube,
            held: "upper",
            fabric,
            form: Form::Cylinder { radius: 0.14, height: 2.4 },
            stand: DVec3::ZERO,
            frames: 60,
        },
    ];
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    for scene in &scenes {
        let finest = scene.uniform(3)?;
        let mut line = Vec::new();
        for times in 0..3 {
            let run = scene.uniform(times)?;
            let off = run.off(&finest);
            rows.push(format!("{},uniform {times},{},{off},{}", scene.name, run.faces, run.seconds));
            session.info(format!("{}, uniform, {} faces: error", scene.name, run.faces), 1e3 * off, "mm");
            session.time(format!("{}, uniform, {} faces", scene.name, run.faces), "s", &[run.seconds]);
            line.push((off, run.seconds));
        }
        session.time(
            format!("{}, uniform, {} faces: the reference", scene.name, finest.faces),
            "s",
            &[finest.seconds],
        );
        let mut points = Vec::new();
        let mut best = 0.0_f64;
        for turn in TURNS {
            let run = scene.refined(turn, 3)?;
            let off = run.off(&finest);
            rows.push(format!("{},turn {turn},{},{off},{}", scene.name, run.faces, run.seconds));
            session.info(
                format!("{}, refined, turn {turn}: faces at the end", scene.name),
                run.faces as f64,
                "",
            );
            session.info(format!("{}, refined, turn {turn}: error", scene.name), 1e3 * off, "mm");
            session.time(format!("{}, refined, turn {turn}", scene.name), "s", &[run.seconds]);
            let uniform = time_for(&line, off);
            session.info(
                format!("{}, turn {turn}: uniform time over refined, at its error", scene.name),
                uniform / run.seconds,
                "",
            );
            best = best.max(uniform / run.seconds);
            points.push((run.seconds, off));
        }
        // Times are told, not judged.
        session.info(
            format!("{}: how much faster than uniform, at equal error, at least 3", scene.name),
            best,
            "x",
        );
        let uniform = line.iter().map(|(off, seconds)| (*seconds, *off)).collect();
        curves.push(Curve { name: format!("{}, uniform", scene.name), points: uniform });
        curves.push(Curve { name: format!("{}, refined", scene.name), points });
    }
    drape(session)?;
    session.csv("adaptive", "scene,mesh,faces,error [m],time [s]", &rows)?;
    let (title, x, y) = ("error against time".into(), "time [s]".into(), "error [m]".into());
    session.plot("adaptive", Chart { title, x, y, log: (true, true), curves })
}

/// The time at which the line through points of error and time has an error, on logarithmic axes, straight on beyond its ends.
fn time_for(line: &[(f64, f64)], error: f64) -> f64 {
    let logs: Vec<(f64, f64)> = line.iter().map(|(e, t)| (libm::log(*e), libm::log(*t))).collect();
    let at = libm::log(error);
    // Errors fall along the line: the last stretch whose start is still above.
    let k = (1..logs.len() - 1).filter(|k| logs[*k].0 > at).max().unwrap_or(0);
    let [(e0, t0), (e1, t1)] = [logs[k], logs[k + 1]];
    libm::exp(t0 + (t1 - t0) * (at - e0) / (e1 - e0))
}

/// Levels of the hammock.
const LEVELS: u32 = 2;

/// A hammock of 24 × 24 × 2 × 16 triangles, held by two borders, draped without motion to 10⁻⁵ N: at once, and from coarse to
/// fine.
fn drape(session: &mut Session) -> Result<(), LabError> {
    let shape = shapes::sheet(1.0, 1.0, 24, 24, Pattern::Structured)?;
    let fabric = Fabric { bend: 5e-5.into(), ..Fabric::default() };
    let place = |p: &DVec3| DVec3::new(0.7 * p.x, -0.3 * p.x * (1.0 - p.x), p.z);
    let hammock = |shape: &Shape, refine: Option<Refine>| -> Result<World, LabError> {
        let mut sheet = cloth("hammock", shape, fabric)?;
        let ends = |p: &DVec3| p.x.abs() < 1e-9 || (p.x - 1.0).abs() < 1e-9;
        let held = (0..).zip(&shape.positions).filter(|(_, p)| ends(p)).map(|(v, _)| v).collect();
        sheet.positions.iter_mut().for_each(|p| *p = place(p));
        sheet.refine = refine;
        let drape = DrapeSettings { residual: 1e-5, max_solves: 4000, ..SolverSettings::default().drape };
        let solver =
            SolverSettings { integrator: Integrator::QuasiStatic, drape, ..SolverSettings::default() };
        let pins = vec![PinDown::fixed(0, held)];
        Ok(World::new(Setup { cloths: vec![sheet], pins, solver, substeps: 1, ..Setup::default() })?)
    };
    let mut fine = hammock(&split(&shape, LEVELS)?, None)?;
    let mut coarse = hammock(&shape, Some(Refine { most: LEVELS, ..Refine::default() }))?;
    let mut found = Vec::new();
    for world in [&mut fine, &mut coarse] {
        let mut probe = Probe::default();
        let start = Instant::now();
        let end = world.drape(1.0, 1e-5, 1, &mut probe)?;
        found.push((start.elapsed().as_secs_f64(), end, probe.counters.solves));
    }
    for ((seconds, end, solves), name) in found.iter().zip(["at once", "coarse to fine"]) {
        session.at_most(format!("drape {name}: force left"), end.force, "N", 1e-5);
        session.info(format!("drape {name}: solves"), *solves as f64, "");
        session.time(format!("drape {name}"), "s", &[*seconds]);
    }
    let faces = [&fine, &coarse].map(|world| world.cloths()[0].mesh.faces().len());
    session.equal("drape: faces at the end, more than at once", faces[1] as f64 - faces[0] as f64, "", 0.0);
    session.info("drape: how much faster from coarse to fine, at least 5", found[0].0 / found[1].0, "x");
    Ok(())
}
