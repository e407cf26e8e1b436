//! Seams that close: drawn together smoothly, sewn when they have met, and nothing ever passes through.

use glam::DVec3;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Distance, Kind};
use toile::mesh::{Mesh, Pattern, shapes};
use toile::{Cloth, ContactSettings, Fabric, PinDown, Probe, Seam, Setup, TailorError, Tailoring, World};

const FRAME: f64 = 1.0 / 60.0;

fn sheet(cells: usize) -> Cloth {
    let shape = shapes::sheet(0.4, 0.4, cells, cells, Pattern::Structured).expect("a sheet");
    let mesh = Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("a mesh");
    Cloth::new("sheet", mesh, shape.positions, Fabric::isotropic(0.2, 500.0, 0.3, 1e-5))
}

fn world(cloth: Cloth, pins: Vec<PinDown>) -> World {
    let contact = ContactSettings::default();
    World::new(Setup { cloths: vec![cloth], pins, contact, ..Setup::default() }).expect("a world")
}

fn run(world: &mut World, frames: usize) {
    (0..frames).for_each(|_| world.step(FRAME, &mut Probe::default()).expect("a frame"));
}

/// Where a sheet starts on its corners, rounded to where its vertices may be.
fn at(cloth: &Cloth, x: f64, z: f64) -> u32 {
    let (low, high) = cloth
        .positions
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| (l.min(*p), h.max(*p)));
    let place = DVec3::new(low.x + x * (high.x - low.x), low.y, low.z + z * (high.z - low.z));
    let off = |v: &u32| cloth.positions[*v as usize].distance(place);
    (0..cloth.positions.len() as u32).min_by(|a, b| off(a).total_cmp(&off(b))).expect("vertices")
}

fn line(cloth: &Cloth, cells: usize, from: [f64; 2], to: [f64; 2]) -> Vec<u32> {
    let part = |k: usize| k as f64 / cells as f64;
    let place = |k: usize, i: usize| from[i] + (to[i] - from[i]) * part(k);
    (0..=cells).map(|k| at(cloth, place(k, 0), place(k, 1))).collect()
}

fn certified(world: &World) -> bool {
    let cloth = &world.cloths()[0];
    let surface = CheckSurface::new("sheet", Kind::Cloth, cloth.mesh.vertices(), cloth.mesh.faces().to_vec());
    let options = CheckOptions { distance: Distance::Off, ..CheckOptions::default() };
    Checker::new(vec![surface], options).expect("a checker").check(&[&world.positions(0)]).pass()
}

/// Runs until no seam is left, with every frame certified; returns the distances, frame by frame.
fn close(world: &mut World, most: usize) -> Vec<f64> {
    let mut distances = vec![world.seams()[0].distance];
    let mesh = world.cloths()[0].mesh.clone();
    while let Some(closing) = world.seams().first() {
        assert!(distances.len() < most, "still {} m open after {most} frames", closing.distance);
        let (before, distance) = (closing.sewn_at, closing.distance);
        run(world, 1);
        assert!(certified(world), "frame {}", distances.len());
        match world.seams().first() {
            Some(now) => distances.push(now.distance),
            None => assert!(distance < 10.0 * before, "sewn from {distance} m"),
        }
    }
    assert!(!std::sync::Arc::ptr_eq(&mesh, &world.cloths()[0].mesh), "callers can tell");
    distances
}

#[test]
fn two_borders_of_a_sheet_on_a_line_become_a_tube() {
    let cells = 12;
    let cloth = sheet(cells);
    let pairs: Vec<[u32; 2]> = line(&cloth, cells, [0.0, 0.0], [0.0, 1.0])
        .into_iter()
        .zip(line(&cloth, cells, [1.0, 0.0], [1.0, 1.0]))
        .map(|(a, b)| [a, b])
        .collect();
    let held = line(&cloth, cells, [0.5, 0.0], [0.5, 1.0]);
    let mut world = world(cloth, vec![PinDown::fixed(0, held)]);
    let (vertices, mass) = (world.cloths()[0].mesh.vertices(), world.momentum().0);
    run(&mut world, 20);
    world.tailor(0, &Tailoring::Seam { pairs: pairs.clone() }).expect("a seam");
    let distances = close(&mut world, 180);
    let mesh = &world.cloths()[0].mesh;
    assert_eq!(mesh.vertices(), vertices - pairs.len());
    assert!((world.momentum().0 / mass - 1.0).abs() < 1e-12, "masses are added");
    let borders = mesh.edges().iter().filter(|edge| edge.is_border()).count();
    assert_eq!(borders, 2 * cells, "two rims are left");
    // Smooth and never past its end: what the cloth's own swing does is small against the way.
    let way = distances[0];
    let back = distances.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
    assert!(back < 0.02 * way, "it opened again by {back} m of {way} m");
    for frame in 0..30 {
        run(&mut world, 1);
        assert!(certified(&world), "frame {frame} after");
    }
}

#[test]
fn a_slit_is_sewn_up_again() {
    let cells = 12;
    let cloth = sheet(cells);
    let path: Vec<u32> = line(&cloth, cells, [0.0, 0.5], [1.0, 0.5])[3..10].to_vec();
    let held = line(&cloth, cells, [0.0, 0.0], [1.0, 0.0]);
    let mut world = world(cloth, vec![PinDown::fixed(0, held)]);
    let whole = world.cloths()[0].mesh.clone();
    run(&mut world, 20);
    let remap = world.tailor(0, &Tailoring::CutAlong { path: path.clone() }).expect("a cut");
    run(&mut world, 20);
    let heirs = remap.heirs(whole.vertices());
    let pairs: Vec<[u32; 2]> = path.iter().filter_map(|v| heirs[*v as usize][..].try_into().ok()).collect();
    assert_eq!(pairs.len(), path.len() - 2, "both ends are one vertex");
    world.tailor(0, &Tailoring::Seam { pairs }).expect("a seam");
    close(&mut world, 120);
    let sewn = &world.cloths()[0].mesh;
    assert_eq!((sewn.vertices(), sewn.edges().len()), (whole.vertices(), whole.edges().len()));
}

#[test]
fn seams_are_refused_taken_away_and_follow_other_edits() {
    let cells = 8;
    let cloth = sheet(cells);
    let left = line(&cloth, cells, [0.0, 0.0], [0.0, 1.0]);
    let right = line(&cloth, cells, [1.0, 0.0], [1.0, 1.0]);
    let pairs: Vec<[u32; 2]> = left.iter().zip(&right).map(|(a, b)| [*a, *b]).collect();
    let corner = at(&cloth, 0.0, 0.0);
    let mut world = world(cloth, vec![]);
    let error = world.tailor(0, &Tailoring::Seam { pairs: vec![[left[0], left[1]]] }).expect_err("one face");
    assert!(matches!(error, TailorError::Edit(_)), "{error}");
    let error = world.tailor(0, &Tailoring::Unpick { seam: 0 }).expect_err("none");
    assert!(error.to_string().contains("seam 0 is none of cloth `sheet`"), "{error}");
    let error = world.seam(0, &pairs, -1.0).expect_err("no time");
    assert!(error.to_string().contains("time constant of a seam"), "{error}");
    assert!(world.seams().is_empty(), "nothing was changed");
    world.tailor(0, &Tailoring::Seam { pairs: pairs.clone() }).expect("a seam");
    run(&mut world, 5);
    // Faces at one corner go, and with them a vertex of a pair.
    let faces: Vec<u32> = world.cloths()[0]
        .mesh
        .faces()
        .iter()
        .enumerate()
        .filter(|(_, face)| face.contains(&corner))
        .map(|(f, _)| f as u32)
        .collect();
    let before: Vec<Vec<DVec3>> = vec![world.positions(0)];
    world.tailor(0, &Tailoring::Remove { faces }).expect("removed");
    let x = world.positions(0);
    let seam = world.seams()[0].seam.clone();
    assert_eq!(seam.pairs.len(), pairs.len() - 1);
    for ([a, b], [c, d]) in seam.pairs.iter().zip(pairs.iter().filter(|pair| !pair.contains(&corner))) {
        assert_eq!(x[*a as usize], before[0][*c as usize]);
        assert_eq!(x[*b as usize], before[0][*d as usize]);
    }
    world.tailor(0, &Tailoring::Unpick { seam: 0 }).expect("unpicked");
    assert!(world.seams().is_empty());
    // A world may start with seams.
    let mut setup = world.setup();
    setup.seams = vec![Seam { cloth: 0, pairs: vec![[0, u32::MAX]], time: Seam::TIME }];
    let error = World::new(setup).err().expect("refused");
    assert!(error.to_string().contains("4294967295"), "{error}");
}
