//! Stiff cubes dropped on a cloth held along its borders (V00-X2): the pile must come to perfect rest.

use crate::material::{border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::{GRAVITY, Watched, told};
use glam::{DMat3, DVec2, DVec3};
use std::sync::Arc;
use std::time::Instant;
use toile::math::random;
use toile::mesh::{Mesh, Pattern, shapes};
use toile::probe::{Counters, Stage};
use toile::{
    Air, Braces, Cloth, ContactSettings, Fabric, Friction, PinDown, Probe, Response, RestShape, Setup, World,
};
use toile_render as draw;

/// Edge [m] and mass [kg] of a cube; stiffness [N/m] of its springs and their viscosity [s].
pub const EDGE: f64 = 0.06;
pub const MASS: f64 = 0.02;
const FIRM: f64 = 2e3;
const DULL: f64 = 4e-3;
const FRAME: f64 = 1.0 / 60.0;

/// Cubes in the pile, and in that which is compared.
const MOST: usize = 128;
const FEW: usize = 20;
/// Time that a pile has to come to rest, and that it is watched then [s].
const SETTLING: f64 = 10.0;
const WATCHED: f64 = 5.0;
/// Frames that are timed.
const RATED: usize = 90;

/// How many cubes, as V00 reports.
const COUNTS: [usize; 6] = [8, 16, 20, 32, 64, 128];

/// A cube of eight particles: its surface, and springs along edges, face and space diagonals.
pub fn cube(name: &str, at: DVec3, turn: DMat3) -> Result<Cloth, LabError> {
    let corner = |k: u32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) - 0.5;
    let flat: Vec<DVec3> = (0..8).map(|k| corner(k) * EDGE).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let faces: Vec<[u32; 3]> = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    let rest = faces.iter().map(|f| {
        let [a, b, c] = f.map(|v| flat[v as usize]);
        let u = (b - a).normalize();
        let v = (c - a).reject_from(u).normalize();
        [DVec2::ZERO, DVec2::new((b - a).dot(u), 0.0), DVec2::new((c - a).dot(u), (c - a).dot(v))]
    });
    let mesh = told(Mesh::new(8, faces.clone(), rest.collect()))?;
    let fabric = Fabric {
        damping: DULL,
        thickness: 0.0,
        ..Fabric::isotropic(MASS / (6.0 * EDGE * EDGE), FIRM, 0.3, 0.0)
    };
    let braces = Braces::across(&mesh, &flat, FIRM, DULL);
    let positions = flat.iter().map(|p| turn * *p + at).collect();
    let mut cube = Cloth::new(name, mesh, positions, fabric);
    cube.braces = Arc::new(braces);
    cube.rest_shape = RestShape::Start;
    Ok(cube)
}

/// Cubes over a sheet of a square metre that is held along its borders.
fn world(count: usize, contact: ContactSettings) -> Result<World, LabError> {
    let sheet = shapes::sheet(1.0, 1.0, 20, 20, Pattern::Structured)?;
    let held = border(&sheet, "border")?;
    let fabric = Fabric { density: 0.2, bend: 2e-5.into(), damping: 5e-3, ..Fabric::default() };
    let mut below = cloth("sheet", &sheet, fabric)?;
    below.positions.iter_mut().for_each(|p| *p -= DVec3::new(0.5, 0.0, 0.5));
    below.air = Air { drag: 4.0 * fabric.density, ..Air::default() };
    let mut cloths = vec![below];
    let across = if count <= 32 { 3 } else { 5 };
    for k in 0..count {
        let (layer, place) = (k / (across * across), k % (across * across));
        let die = |n: u64| random::signed(5, 8 * k as u64 + n);
        let pitch = 1.9 * EDGE;
        let shift = 0.5 * (across as f64 - 1.0);
        let at = DVec3::new(
            ((place % across) as f64 - shift) * pitch + 0.1 * EDGE * die(0),
            EDGE * (1.2 + 1.6 * layer as f64),
            ((place / across) as f64 - shift) * pitch + 0.1 * EDGE * die(1),
        );
        let turn = DMat3::from_rotation_y(die(2)) * DMat3::from_rotation_x(0.3 * die(3));
        cloths.push(cube(&format!("cube {k}"), at, turn)?);
    }
    let pins = vec![PinDown::fixed(0, held)];
    Ok(World::new(Setup { cloths, pins, contact, ..Setup::default() })?)
}

pub fn run(session: &mut Session) -> Result<(), LabError> {
    rates(session)?;
    let found = pile(MOST, contact(), session)?;
    session.at_most("at rest: largest speed in 5 s", 1e3 * found.fastest, "mm/s", 1.0);
    session.at_most("at rest: largest kinetic energy of a cube over m g edge", found.energy, "", 1e-6);
    session.at_most("at rest: largest strain of a spring", found.strain, "", 0.01);
    session.at_most("at rest: rms speed at the end over that at the start of the 5 s", found.growth, "", 1.0);
    session.equal("frames that intersect", found.bad as f64, "", 0.0);
    // V97's correction of states alone, as systems did before: with fewer cubes, which only helps it.
    let ours = pile(FEW, contact(), session)?;
    let corrected = ContactSettings { response: Response::Correction, guarantee: false, ..contact() };
    let theirs = pile(FEW, corrected, session)?;
    session.info(format!("{FEW} cubes: kinetic energy of a cube over m g edge"), ours.energy, "");
    session.info(format!("{FEW} cubes, states corrected: the same"), theirs.energy, "");
    session.info(format!("{FEW} cubes, states corrected: frames that intersect"), theirs.bad as f64, "");
    let ratio = theirs.energy / ours.energy.max(1e-300);
    session.at_least(format!("{FEW} cubes: energy with corrected states over ours"), ratio, "", 10.0);
    Ok(())
}

fn contact() -> ContactSettings {
    ContactSettings { friction: [Friction::of(0.4); 2], ..ContactSettings::default() }
}

/// What a pile does in its last five seconds.
struct Pile {
    fastest: f64,
    energy: f64,
    strain: f64,
    growth: f64,
    bad: u64,
}

/// Lets cubes fall and come to rest, then watches them.
fn pile(count: usize, contact: ContactSettings, session: &mut Session) -> Result<Pile, LabError> {
    let name = if contact.guarantee { format!("{count}") } else { format!("{count} corrected") };
    let mut watched = Watched::of(world(count, contact)?, FRAME)?;
    let mut found = Pile { fastest: 0.0, energy: 0.0, strain: 0.0, growth: 0.0, bad: 0 };
    let (mut rows, mut speeds) = (Vec::new(), Vec::new());
    let frames = ((SETTLING + WATCHED) / FRAME).round() as usize;
    for frame in 1..=frames {
        watched.step()?;
        let time = frame as f64 * FRAME;
        let speed = rms(&watched, count);
        if frame % 6 == 0 {
            rows.push(format!("{time:.2},{:e}", speed));
        }
        if time <= SETTLING {
            continue;
        }
        speeds.push(speed);
        for cube in 1..=count {
            let v = watched.world.velocities(cube);
            found.fastest = v.iter().fold(found.fastest, |most, v| most.max(v.length()));
            let kinetic = v.iter().map(|v| 0.5 * MASS / 8.0 * v.length_squared()).sum::<f64>();
            found.energy = found.energy.max(kinetic / (MASS * GRAVITY * EDGE));
            let x = watched.world.positions(cube);
            for brace in &watched.world.cloths()[cube].braces.springs {
                let [a, b] = brace.ends.map(|v| x[v as usize]);
                found.strain = found.strain.max((a.distance(b) / brace.rest_length - 1.0).abs());
            }
        }
    }
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let second = (1.0 / FRAME) as usize;
    found.growth = mean(&speeds[speeds.len() - second..]) / mean(&speeds[..second]).max(1e-300);
    found.bad = watched.bad_frames;
    session.csv(&format!("pile {name}").replace(' ', "-"), "time [s],rms speed of the cubes [m/s]", &rows)?;
    if count == MOST {
        picture(session, &watched)?;
    }
    Ok(found)
}

/// Root mean square speed of the corners of all cubes [m/s].
fn rms(watched: &Watched, count: usize) -> f64 {
    let sum: f64 = (1..=count).flat_map(|c| watched.world.velocities(c)).map(|v| v.length_squared()).sum();
    (sum / (8 * count) as f64).sqrt()
}

/// Frames per second and the share of detection while cubes fall and pile up, beside what V00 reports.
pub fn rates(session: &mut Session) -> Result<(), LabError> {
    let (mut points, mut rows) = (Vec::new(), Vec::new());
    for count in COUNTS {
        let mut watched = Watched::of(world(count, contact())?, FRAME)?;
        let begun = Instant::now();
        let clock = || begun.elapsed().as_secs_f64();
        let mut sum = Counters::default();
        for _ in 0..RATED {
            let mut probe = Probe::with_clock(&clock);
            watched.step_with(&mut probe)?;
            sum.merge(&probe.counters);
        }
        let rate = RATED as f64 / clock();
        let all: f64 = sum.seconds.iter().sum();
        let share = |stages: &[Stage]| stages.iter().map(|s| sum.seconds[*s as usize]).sum::<f64>() / all;
        let detection = share(&[Stage::Detect, Stage::Contact, Stage::Filter]);
        session.info(format!("{count} cubes: frames per second while they pile up"), rate, "1/s");
        session.info(
            format!("{count} cubes: share of finding, choosing and guarding contacts"),
            detection,
            "",
        );
        session.equal(format!("{count} cubes: frames that intersect"), watched.bad_frames as f64, "", 0.0);
        rows.push(format!("{count},{rate},{detection}"));
        points.push((count as f64, rate));
    }
    session.info("published for 128 cubes on a workstation of 2000: frames per second above", 1.0, "1/s");
    session.info("published: cubes in real time, below", 20.0, "");
    session.csv("rates", "cubes,frames per second,share of contact", &rows)?;
    session.plot(
        "rates",
        Chart {
            title: "Frames per second while cubes pile up".into(),
            x: "cubes".into(),
            y: "1/s".into(),
            log: (true, true),
            curves: vec![Curve { name: "frames per second".into(), points }],
        },
    )
}

/// The pile at rest.
fn picture(session: &mut Session, watched: &Watched) -> Result<(), LabError> {
    let narrow = |x: Vec<DVec3>| x.iter().map(|p| p.as_vec3()).collect::<Vec<_>>();
    let places: Vec<_> = (0..=MOST).map(|c| narrow(watched.world.positions(c))).collect();
    let look = |front: u32| draw::Look::Cloth {
        front: draw::Colour::hex(front),
        back: draw::Colour::hex(front),
        pattern: draw::Pattern::Plain,
    };
    let looks = [0xc8553d, 0x3d6b5c, 0xd9a441, 0x4a6fa5];
    let surfaces = watched.world.cloths().iter().zip(&places).enumerate();
    let surfaces = surfaces.map(|(k, (cloth, x))| {
        let colour = if k == 0 { 0xd8c8a8 } else { looks[k % 4] };
        draw::Surface::new(x, cloth.mesh.faces(), look(colour))
    });
    let scene = draw::Scene { surfaces: surfaces.collect(), ..draw::Scene::default() };
    let options = draw::Options { width: 800, height: 600, ..draw::Options::default() };
    let aspect = options.width as f32 / options.height as f32;
    let framing = draw::Framing { aspect, pitch: 0.5, ..draw::Framing::default() };
    let all: Vec<_> = places.iter().flatten().copied().collect();
    let camera = draw::Camera::frame_points(&all, &framing);
    session.write("pile.png", &draw::encode_png(&draw::render(&scene, &camera, &options).image)?)?;
    Ok(())
}
