//! Things that keep their shape: mass, motion, and how they meet cloth.

use glam::{DMat3, DVec2, DVec3};
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Kind};
use toile::mesh::{Mesh, Pattern, shapes};
use toile::{Air, Cloth, ContactSettings, Fabric, Friction, PinDown, Probe, Setup, World};

const DENSITY: f64 = 200.0;
const EDGE: f64 = 0.06;

/// A closed surface with its faces at rest as they are.
fn surface(faces: Vec<[u32; 3]>, x: &[DVec3]) -> Mesh {
    let rest = faces.iter().map(|f| {
        let [a, b, c] = f.map(|v| x[v as usize]);
        let u = (b - a).normalize();
        let v = (c - a).reject_from(u);
        [DVec2::ZERO, DVec2::new((b - a).length(), 0.0), DVec2::new((c - a).dot(u), v.length())]
    });
    let rest = rest.collect();
    Mesh::new(x.len(), faces, rest).expect("a closed surface")
}

/// A brick of these sides, turned and placed.
fn brick(name: &str, sides: DVec3, turn: DMat3, at: DVec3) -> Cloth {
    let corner = |k: u32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) - 0.5;
    let x: Vec<DVec3> = (0..8).map(|k| turn * (corner(k) * sides) + at).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let faces = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    let mass = DENSITY * sides.x * sides.y * sides.z;
    Cloth::rigid(name, &surface(faces, &x), &x, mass).expect("a solid")
}

fn turned(angle: f64) -> DMat3 {
    let (s, c) = (libm::sin(angle), libm::cos(angle));
    DMat3::from_cols(DVec3::new(c, s, 0.0), DVec3::new(-s, c, 0.0), DVec3::Z)
}

/// Largest change of a distance between two vertices, over the distance.
fn strain(now: &[DVec3], start: &[DVec3]) -> f64 {
    let mut worst = 0.0f64;
    for a in 0..now.len() {
        for b in 0..a {
            let rest = start[a].distance(start[b]);
            worst = worst.max((now[a].distance(now[b]) / rest - 1.0).abs());
        }
    }
    worst
}

#[test]
fn masses_are_those_of_the_solid() {
    let sides = DVec3::new(0.04, 0.06, 0.1);
    let at = DVec3::new(0.3, 0.2, -0.1);
    let thing = brick("brick", sides, DMat3::IDENTITY, at);
    let masses = &thing.braces.masses;
    assert_eq!(masses.len(), 9);
    let mass: f64 = masses.iter().map(|(_, m)| m).sum();
    let solid = DENSITY * sides.x * sides.y * sides.z;
    assert!((mass / solid - 1.0).abs() < 1e-9, "{mass} against {solid}");
    for axis in 0..3 {
        let along = |v: u32| (thing.positions[v as usize] - at)[axis];
        let first: f64 = masses.iter().map(|(v, m)| m * along(*v)).sum();
        let second: f64 = masses.iter().map(|(v, m)| m * along(*v) * along(*v)).sum();
        assert!(first.abs() < 1e-9 * solid, "centre along {axis}");
        // A brick's second moment along a side a is m a²/12.
        let right = solid * sides[axis] * sides[axis] / 12.0;
        assert!((second / right - 1.0).abs() < 1e-6, "{second} against {right} along {axis}");
    }
}

#[test]
fn surfaces_without_an_inside_are_no_solids() {
    let sheet = shapes::sheet(1.0, 1.0, 2, 2, Pattern::Structured).expect("a sheet");
    let mesh = Mesh::new(sheet.positions.len(), sheet.faces.clone(), sheet.rest.clone()).expect("a mesh");
    assert!(Cloth::rigid("sheet", &mesh, &sheet.positions, 1.0).is_none());
}

#[test]
fn a_brick_that_spins_keeps_its_shape_and_its_momenta() {
    let thing = brick("brick", DVec3::new(0.04, 0.06, 0.1), turned(0.3), DVec3::ZERO);
    let (start, masses) = (thing.positions.clone(), thing.braces.masses.clone());
    let setup = Setup { cloths: vec![thing], gravity: DVec3::ZERO, ..Setup::default() };
    let mut world = World::new(setup).expect("a world");
    let spin = DVec3::new(2.0, 5.0, 1.0);
    for (vertex, p) in start.iter().enumerate() {
        let velocity = spin.cross(*p) + DVec3::X;
        world.edit(&toile::Edit::Velocity { cloth: 0, vertex: vertex as u32, velocity }).expect("a vertex");
    }
    let momenta = |world: &World| {
        let (x, v) = (world.positions(0), world.velocities(0));
        let centre = masses.iter().fold(DVec3::ZERO, |s, (k, m)| s + x[*k as usize] * *m);
        let centre = centre / masses.iter().map(|(_, m)| m).sum::<f64>();
        masses.iter().fold((DVec3::ZERO, DVec3::ZERO), |(p, l), (k, m)| {
            let (x, v) = (x[*k as usize] - centre, v[*k as usize]);
            (p + v * *m, l + x.cross(v) * *m)
        })
    };
    let (p, l) = momenta(&world);
    for _ in 0..60 {
        world.step(1.0 / 60.0, &mut Probe::default()).expect("a frame");
    }
    let (p2, l2) = momenta(&world);
    assert!(strain(&world.positions(0), &start) < 1e-12);
    assert!((p2 - p).length() < 1e-9 * p.length(), "momentum {p} → {p2}");
    assert!((l2 - l).length() < 0.02 * l.length(), "angular momentum {l} → {l2}");
}

#[test]
fn a_cube_falls_on_held_cloth_and_lies_still() {
    let sheet = shapes::sheet(0.4, 0.4, 12, 12, Pattern::Structured).expect("a sheet");
    let mesh = Mesh::new(sheet.positions.len(), sheet.faces.clone(), sheet.rest.clone()).expect("a mesh");
    let fabric = Fabric { density: 0.2, bend: 2e-5.into(), damping: 5e-3, ..Fabric::default() };
    let mut below = Cloth::new("sheet", mesh, sheet.positions.clone(), fabric);
    below.air = Air { drag: 0.8, ..Air::default() };
    let border = below.mesh.border();
    let cube = brick("cube", DVec3::splat(EDGE), turned(0.4), DVec3::new(0.2, 0.08, 0.2));
    let (start, weight) = (cube.positions.clone(), 9.81 * DENSITY * EDGE * EDGE * EDGE);
    let contact = ContactSettings { friction: [Friction::of(0.4); 2], ..ContactSettings::default() };
    let mut world = World::new(Setup {
        cloths: vec![below, cube],
        pins: vec![PinDown::fixed(0, border)],
        contact,
        ..Setup::default()
    })
    .expect("a world");
    let surface = |cloth: &Cloth| {
        CheckSurface::new(cloth.name.clone(), Kind::Cloth, cloth.positions.len(), cloth.mesh.faces().to_vec())
    };
    let surfaces = world.cloths().iter().map(surface).collect();
    let mut checker = Checker::new(surfaces, CheckOptions::default()).expect("a checker");
    for frame in 0..240 {
        world.step(1.0 / 60.0, &mut Probe::default()).expect("a frame");
        let verdict = checker.check(&[&world.positions(0), &world.positions(1)]);
        assert!(verdict.pass(), "frame {frame}: {verdict:?}");
    }
    assert!(strain(&world.positions(1), &start) < 1e-12);
    let fastest = world.velocities(1).iter().fold(0.0f64, |most, v| most.max(v.length()));
    assert!(fastest < 1e-4, "{fastest} m/s after 4 s");
    let carried = world.contact_forces(1).iter().fold(DVec3::ZERO, |sum, f| sum + *f);
    assert!((carried.y / weight - 1.0).abs() < 1e-3, "{carried} N against {weight}");
    // What bears it is moved by it.
    let lowest = world.positions(0).iter().fold(f64::INFINITY, |least, p| least.min(p.y));
    assert!(lowest < -0.01, "{lowest}");
}
