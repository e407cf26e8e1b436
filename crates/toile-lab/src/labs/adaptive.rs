//! What refinement is worth: error against a uniformly fine mesh over the time it takes, on a cloth that falls on a ball, on
//! a dress that falls round a cylinder, and on a held cloth that a small ball is pushed into; and draping from coarse to
//! fine.
//!
//! Where cloth folds, which way it folds goes by the mesh, and after a second no two meshes have a vertex in the same place.
//! So the error is that of the profile: the mean height and the mean distance from the axis of each ring of the cloth, a root
//! mean square over rings and frames. How far single vertices are from where the finest uniform mesh has them is told beside it.
//! Vertices are those of the coarsest mesh, which every mesh has, and count by the cloth that they stand for. Of the cloth that
//! falls on the ball the last of three seconds is judged, in which it has come to rest; the error of its whole motion is told
//! beside it. How many folds come to be there is chance, even on fine meshes: two meshes fall (three with `--full`), each against its own
//! finest, and errors are root mean squares over them. The time that a uniform mesh would take for the error of a refined one is read from
//! the line through the uniform ones, both logarithmic; where none of them is as exact, the time of the finest that was timed stands for
//! it, which is too little.

use crate::material::cloth;
use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::told;
use glam::{DVec2, DVec3};
use std::time::Instant;
use toile::collide::collider::{Body, Collider, Form};
use toile::drive::{Motion, Transform};
use toile::mesh::levels::{Folds, Sizing};
use toile::mesh::{Closure, Levels, Mesh, Pattern, Shape, shapes};
use toile::solve::{DrapeSettings, Integrator};
use toile::{
    Air, Cloth, ContactSettings, Criterion, Every, Fabric, Obstacle, PinDown, Probe, Refine, Setup,
    SolverSettings, World,
};

const FRAME: f64 = 1.0 / 60.0;

/// Frames between looks at what is split into four.
const EVERY: u32 = 2;

/// The turn at which faces are split into four [rad].
const TURN: f64 = 0.6;

/// Times that the finest uniform mesh is split.
const FINEST: u32 = 3;

/// The meshes that fall on the ball; the last only with `--full`.
const SEEDS: [u64; 3] = [9, 10, 11];

/// Times that a face is split into four at the most: as fine as the halves would take minutes.
const QUARTERED: u32 = 2;

/// Width of a ring [m].
const RING: f64 = 0.1;

/// Where every vertex of the coarsest mesh is, frame by frame, and what it took.
struct Run {
    places: Vec<Vec<DVec3>>,
    seconds: f64,
    faces: usize,
}

impl Run {
    /// Root mean square distance of vertices from those of another run from a frame on [m], by the area of each [m²].
    fn off(&self, other: &Run, areas: &[f64], first: usize) -> f64 {
        let (mut sum, mut all) = (0.0, 0.0);
        for (a, b) in self.places.iter().zip(&other.places).skip(first) {
            for ((p, q), area) in a.iter().zip(b).zip(areas) {
                (sum, all) = (sum + area * p.distance_squared(*q), all + area);
            }
        }
        (sum / all).sqrt()
    }

    /// The same of the profiles [m]; `rings` has the ring and the area of each vertex.
    fn profile_off(&self, other: &Run, rings: &[(usize, f64)], first: usize) -> f64 {
        let (mut sum, mut all) = (0.0, 0.0);
        for (a, b) in self.places.iter().zip(&other.places).skip(first) {
            for ((p, area), (q, _)) in profile(a, rings).into_iter().zip(profile(b, rings)) {
                (sum, all) = (sum + area * p.distance_squared(q), all + area);
            }
        }
        (sum / all).sqrt()
    }
}

/// The mean distance from the axis and the mean height of each ring [m], and its area [m²].
fn profile(places: &[DVec3], rings: &[(usize, f64)]) -> Vec<(DVec2, f64)> {
    let mut all = vec![(DVec2::ZERO, 0.0); rings.iter().map(|(ring, _)| ring + 1).max().unwrap_or(0)];
    for (p, (ring, area)) in places.iter().zip(rings) {
        all[*ring].0 += *area * DVec2::new(p.x.hypot(p.z), p.y);
        all[*ring].1 += area;
    }
    all.into_iter().filter(|(_, area)| *area > 0.0).map(|(sum, area)| (sum / area, area)).collect()
}

/// A triangle in a plane of its own [m].
fn flat([a, b, c]: [DVec3; 3]) -> [DVec2; 3] {
    let along = (b - a).normalize();
    let foot = along.dot(c - a);
    [DVec2::ZERO, DVec2::X * a.distance(b), DVec2::new(foot, (c - a - along * foot).length())]
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

/// A scene: its coarsest meshes and what becomes of one.
struct Scene {
    name: &'static str,
    shapes: Vec<Shape>,
    /// Which places at the start are held.
    held: Box<dyn Fn(&DVec3) -> bool>,
    /// How far along the rings go a place at the start is [m].
    along: Box<dyn Fn(&DVec3) -> f64>,
    form: Form,
    stand: DVec3,
    motion: Motion,
    /// Frames of a run, and the first that is judged.
    frames: [usize; 2],
    /// Sags that are tried [m].
    sags: &'static [f64],
}

impl Scene {
    fn all(full: bool) -> Result<[Scene; 3], LabError> {
        let seeds = if full { &SEEDS[..] } else { &SEEDS[..SEEDS.len() - 1] };
        let sheet = |seed: u64| {
            let mut sheet = shapes::sheet(1.0, 1.0, 13, 13, Pattern::Delaunay { seed })?;
            sheet.positions.iter_mut().for_each(|p| *p += DVec3::new(-0.5, 0.1, -0.5));
            Ok::<_, LabError>(sheet)
        };
        let mut tube = shapes::tube_of(0.30, 0.16, 0.9, 400, 14)?;
        // Chords of the cone are shorter than its arcs: cut like this, the dress would begin by springing open, on every mesh
        // in another way.
        let lengths = |face: &[u32; 3]| flat(face.map(|v| tube.positions[v as usize]));
        tube.rest = tube.faces.iter().map(lengths).collect();
        let top = tube.positions.iter().map(|p| p.y).fold(f64::NEG_INFINITY, f64::max);
        let across = |p: &DVec3| p.x.hypot(p.z);
        Ok([
            Scene {
                name: "sphere",
                shapes: seeds.iter().map(|seed| sheet(*seed)).collect::<Result<_, _>>()?,
                held: Box::new(|_| false),
                along: Box::new(across),
                form: Form::Sphere { radius: 0.3 },
                stand: DVec3::NEG_Y * 0.3,
                motion: Motion::still(),
                frames: [180, 120],
                sags: &[5e-3, 8e-3, 12e-3],
            },
            Scene {
                name: "tube",
                shapes: vec![tube],
                held: Box::new(move |p| p.y > top - 1e-9),
                along: Box::new(move |p| top - p.y),
                form: Form::Cylinder { radius: 0.14, height: 2.4 },
                stand: DVec3::ZERO,
                motion: Motion::still(),
                frames: [60, 0],
                sags: &[1e-3, 1.4e-3, 2e-3],
            },
            Scene {
                name: "dent",
                shapes: vec![sheet(SEEDS[0])?],
                held: Box::new(|p| p.x.abs().max(p.z.abs()) > 0.5 - 1e-9),
                along: Box::new(across),
                form: Form::Sphere { radius: 0.04 },
                stand: DVec3::Y * 0.05,
                motion: Motion {
                    smooth: true,
                    ..Motion::straight([DVec3::ZERO, DVec3::Y * 0.15], [0.0, 0.6])
                },
                frames: [60, 0],
                sags: &[0.5e-3, 1e-3],
            },
        ])
    }

    /// The ring and the area [m²] of each vertex of a coarsest mesh.
    fn rings(&self, shape: &Shape) -> Vec<(usize, f64)> {
        let ring = |p: &DVec3| (((self.along)(p) / RING) as usize, 0.0);
        let mut all: Vec<(usize, f64)> = shape.positions.iter().map(ring).collect();
        for (face, [a, b, c]) in shape.faces.iter().zip(&shape.rest) {
            let third = (*b - *a).perp_dot(*c - *a).abs() / 6.0;
            face.iter().for_each(|v| all[*v as usize].1 += third);
        }
        all
    }

    fn setup(&self, mut garment: Cloth) -> Result<Setup, LabError> {
        garment.air = Air { drag: 4.0 * garment.fabric.density, ..Air::default() };
        let places = (0..).zip(&garment.positions);
        let held: Vec<u32> = places.filter(|(_, p)| (self.held)(p)).map(|(v, _)| v).collect();
        let pins = if held.is_empty() { vec![] } else { vec![PinDown::fixed(0, held)] };
        let stand = Transform { offset: self.stand, ..Transform::IDENTITY };
        let collider = told(Collider::standing(Body::Form(self.form), stand, self.motion.clone(), 1e-3))?;
        let bodies = vec![Obstacle { name: "body".into(), collider }];
        let contact = ContactSettings::default();
        Ok(Setup { cloths: vec![garment], bodies, pins, contact, ..Setup::default() })
    }

    fn run(&self, shape: &Shape, garment: Cloth) -> Result<Run, LabError> {
        let mut world = World::new(self.setup(garment)?)?;
        let known = shape.positions.len();
        let (mut places, mut seconds) = (Vec::new(), 0.0);
        // What is curved at the start is refined before it moves.
        let start = Instant::now();
        world.refine(0);
        seconds += start.elapsed().as_secs_f64();
        for _ in 0..self.frames[0] {
            let start = Instant::now();
            world.step(FRAME, &mut Probe::default())?;
            seconds += start.elapsed().as_secs_f64();
            places.push(world.positions(0)[..known].to_vec());
        }
        Ok(Run { places, seconds, faces: world.cloths()[0].mesh.faces().len() })
    }

    fn uniform(&self, shape: &Shape, times: u32) -> Result<Run, LabError> {
        self.run(shape, cloth("cloth", &split(shape, times)?, fabric())?)
    }

    fn refined(&self, shape: &Shape, refine: Refine) -> Result<Run, LabError> {
        let mut garment = cloth("cloth", shape, fabric())?;
        garment.refine = Some(refine);
        self.run(shape, garment)
    }
}

/// What the finest meshes of a scene do, and how far others are off.
struct Judge {
    finest: Vec<Run>,
    rings: Vec<Vec<(usize, f64)>>,
    first: usize,
}

/// How one way of meshing does: root mean squares over meshes, and mean seconds.
struct Verdict {
    /// Of the profile that is judged, of that of the whole motion, of vertices [m].
    errors: [f64; 3],
    seconds: f64,
    faces: usize,
}

impl Judge {
    fn of(scene: &Scene) -> Result<Judge, LabError> {
        let finest =
            scene.shapes.iter().map(|shape| scene.uniform(shape, FINEST)).collect::<Result<_, _>>()?;
        let rings = scene.shapes.iter().map(|shape| scene.rings(shape)).collect();
        Ok(Judge { finest, rings, first: scene.frames[1] })
    }

    /// Of runs of the first meshes.
    fn judge(&self, runs: &[Run]) -> Verdict {
        let mut squares = [0.0; 3];
        for ((run, finest), rings) in runs.iter().zip(&self.finest).zip(&self.rings) {
            let areas: Vec<f64> = rings.iter().map(|(_, area)| *area).collect();
            let errors = [
                run.profile_off(finest, rings, self.first),
                run.profile_off(finest, rings, 0),
                run.off(finest, &areas, self.first),
            ];
            squares = [0, 1, 2].map(|k| squares[k] + errors[k] * errors[k]);
        }
        let count = runs.len() as f64;
        let seconds = runs.iter().map(|run| run.seconds).sum::<f64>() / count;
        let faces = runs.iter().map(|run| run.faces).sum::<usize>() / runs.len();
        Verdict { errors: squares.map(|square| (square / count).sqrt()), seconds, faces }
    }
}

/// Heavy cotton.
fn fabric() -> Fabric {
    Fabric { damping: 0.005, ..Fabric::isotropic(0.2, 1000.0, 0.3, 1e-4) }
}

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    for scene in Scene::all(session.full)? {
        let name = scene.name;
        let judge = Judge::of(&scene)?;
        let took: Vec<f64> = judge.finest.iter().map(|run| run.seconds).collect();
        let faces = judge.finest[0].faces;
        session.time(format!("{name}, uniform, {faces} faces: the reference"), "s", &took);
        let mut tell = |kind: String, runs: &[Run]| {
            let verdict = judge.judge(runs);
            let Verdict { errors: [error, moving, off], seconds, faces } = verdict;
            session.info(format!("{name}, {kind}, {faces} faces: profile off by"), 1e3 * error, "mm");
            if judge.first > 0 {
                session.info(format!("{name}, {kind}: from the start"), 1e3 * moving, "mm");
            }
            session.info(format!("{name}, {kind}: vertices off by"), 1e3 * off, "mm");
            let each: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
            session.time(format!("{name}, {kind}"), "s", &each);
            rows.push(format!("{name},{kind},{faces},{error},{moving},{off},{seconds}"));
            verdict
        };
        let mut line = Vec::new();
        for times in 0..FINEST {
            let all = scene.shapes.iter().map(|shape| scene.uniform(shape, times));
            line.push(tell(format!("uniform {times}"), &all.collect::<Result<Vec<_>, _>>()?));
        }
        // By each of the errors.
        let times = |found: &Verdict| {
            [0, 1, 2].map(|k| {
                let line: Vec<(f64, f64)> = line.iter().map(|u| (u.errors[k], u.seconds)).collect();
                time_for(&line, found.errors[k]) / found.seconds
            })
        };
        let criterion = Criterion::Sizing(Sizing { turn: TURN, ..Sizing::default() });
        let quarters =
            Refine { criterion, most: QUARTERED, every: Every::Frames(EVERY), ..Refine::default() };
        // Of one mesh only: it takes long.
        let run = scene.refined(&scene.shapes[0], quarters)?;
        let split = times(&tell(format!("split into four, turn {TURN}"), &[run]));
        let (mut points, mut faster) = (Vec::new(), Vec::new());
        for sag in scene.sags {
            let refine = Refine::folds(Folds { sag: *sag, ..Folds::default() }, FINEST);
            let all = scene.shapes.iter().map(|shape| scene.refined(shape, refine));
            let found = tell(format!("halved, sag {} mm", 1e3 * sag), &all.collect::<Result<Vec<_>, _>>()?);
            faster.push(times(&found));
            points.push((found.seconds, found.errors[0]));
        }
        // Times are told, not judged.
        let best = |k: usize| faster.iter().map(|times| times[k]).fold(0.0, f64::max);
        session.info(
            format!("{name}: how much faster than uniform, at equal error, at least 3"),
            best(0),
            "x",
        );
        let least = faster.iter().map(|times| times[0]).fold(f64::INFINITY, f64::min);
        session.info(format!("{name}: the least of the sags that were tried"), least, "x");
        if judge.first > 0 {
            session.info(format!("{name}: by the error from the start"), best(1), "x");
        }
        session.info(format!("{name}: by the error of vertices"), best(2), "x");
        session.info(format!("{name}: split into four"), split[0], "x");
        let uniform = line.iter().map(|u| (u.seconds, u.errors[0])).collect();
        curves.push(Curve { name: format!("{name}, uniform"), points: uniform });
        curves.push(Curve { name: format!("{name}, halved"), points });
    }
    drape(session)?;
    let columns = "scene,mesh,faces,profile off [m],from the start [m],vertices off [m],time [s]";
    session.csv("adaptive", columns, &rows)?;
    let (title, x, y) = ("error of the profile against time".into(), "time [s]".into(), "error [m]".into());
    session.plot("adaptive", Chart { title, x, y, log: (true, true), curves })
}

/// The time at which the line through points of error and time, the coarsest first, comes down to an error, on logarithmic
/// axes; that of its end if it never does.
fn time_for(line: &[(f64, f64)], error: f64) -> f64 {
    let crossed = line.windows(2).find(|ends| ends[1].0 <= error);
    let Some([(e0, t0), (e1, t1)]) = crossed else { return line.last().map_or(0.0, |(_, time)| *time) };
    let along = libm::log(error / e0) / libm::log(e1 / e0);
    libm::exp(libm::log(*t0) + libm::log(t1 / t0) * along)
}

/// Levels of the hammock, and how often each way is timed.
const LEVELS: u32 = 3;
const REPEATS: usize = 5;

/// A hammock of 12 × 12 × 2 × 64 triangles, held by two borders, draped without motion to 10⁻⁵ N: at once, and from coarse to
/// fine.
fn drape(session: &mut Session) -> Result<(), LabError> {
    let shape = shapes::sheet(1.0, 1.0, 12, 12, Pattern::Structured)?;
    let fabric = Fabric { bend: 5e-5.into(), ..Fabric::default() };
    let place = |p: &DVec3| DVec3::new(0.7 * p.x, -0.5 * p.x * (1.0 - p.x), p.z);
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
    let fine = split(&shape, LEVELS)?;
    let refine = Refine { most: LEVELS, ..Refine::default() };
    let ways = [("at once", &fine, None), ("coarse to fine", &shape, Some(refine))];
    let (mut took, mut faces) = ([const { Vec::new() }; 2], [0.0; 2]);
    for repeat in 0..REPEATS {
        for (k, (name, shape, refine)) in ways.into_iter().enumerate() {
            let (mut world, mut probe) = (hammock(shape, refine)?, Probe::default());
            let start = Instant::now();
            let end = world.drape(1.0, 1e-5, 1, &mut probe)?;
            took[k].push(start.elapsed().as_secs_f64());
            if repeat == 0 {
                session.at_most(format!("drape {name}: force left"), end.force, "N", 1e-5);
                session.info(format!("drape {name}: solves"), probe.counters.solves as f64, "");
                faces[k] = world.cloths()[0].mesh.faces().len() as f64;
            }
        }
    }
    for (way, times) in ways.iter().zip(&mut took) {
        session.time(format!("drape {}", way.0), "s", times);
        times.sort_by(f64::total_cmp);
    }
    session.equal("drape: faces at the end, more than at once", faces[1] - faces[0], "", 0.0);
    let faster = took[0][REPEATS / 2] / took[1][REPEATS / 2];
    session.info("drape: how much faster from coarse to fine, at least 5", faster, "x");
    Ok(())
}
