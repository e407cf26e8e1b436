//! Cloth with another mesh while it moves.

use glam::{DVec2, DVec3};
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Distance, Kind};
use toile::mesh::edit::{self, Keep, Place};
use toile::mesh::{Closure, Levels, Pattern, shapes};
use toile::{Cloth, ContactSettings, Fabric, PinDown, Probe, ReshapeError, Setup, World};

const FRAME: f64 = 1.0 / 60.0;

fn sheet(cells: usize) -> Cloth {
    let shape = shapes::sheet(0.4, 0.4, cells, cells, Pattern::Delaunay { seed: 5 }).expect("a sheet");
    let mesh = toile::mesh::Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("a mesh");
    Cloth::new("sheet", mesh, shape.positions, Fabric::isotropic(0.2, 500.0, 0.3, 1e-5))
}

fn world(cloth: Cloth, pins: Vec<PinDown>, gravity: f64) -> World {
    let contact = ContactSettings::default();
    let setup =
        Setup { cloths: vec![cloth], pins, contact, gravity: DVec3::NEG_Y * gravity, ..Setup::default() };
    World::new(setup).expect("a world")
}

/// A world in which nothing meets.
fn alone(cloth: Cloth) -> World {
    let contact = ContactSettings::off();
    World::new(Setup { cloths: vec![cloth], contact, gravity: DVec3::NEG_Y * 9.81, ..Setup::default() })
        .expect("a world")
}

fn run(world: &mut World, frames: usize) {
    (0..frames).for_each(|_| world.step(FRAME, &mut Probe::default()).expect("a frame"));
}

fn intersections(world: &World) -> usize {
    let cloth = &world.cloths()[0];
    let surface = CheckSurface::new("sheet", Kind::Cloth, cloth.mesh.vertices(), cloth.mesh.faces().to_vec());
    let options = CheckOptions { distance: Distance::Off, ..CheckOptions::default() };
    let verdict = Checker::new(vec![surface], options).expect("a checker").check(&[&world.positions(0)]);
    verdict.intersections().max(usize::from(!verdict.pass()))
}

/// A line straight across the middle, from border to border.
fn across(world: &World) -> Vec<Place> {
    let mesh = &world.cloths()[0].mesh;
    // Half way along the border edges: where, and the place.
    let halfway = mesh.edges().iter().filter(|edge| edge.is_border()).map(|edge| {
        let (face, apex) = (edge.faces[0], mesh.apex(edge.faces[0], edge));
        let weights = [0, 1, 2].map(|k| if k == apex { 0.0 } else { 0.5 });
        let rest = &mesh.rest()[face as usize];
        (0.5 * (rest[(apex + 1) % 3] + rest[(apex + 2) % 3]), Place { face, weights })
    });
    let all: Vec<(DVec2, Place)> = halfway.collect();
    let centre = all.iter().fold(DVec2::ZERO, |sum, (p, _)| sum + *p) / all.len() as f64;
    let side = |sign: f64| {
        let off = |p: DVec2| (p - centre - DVec2::X * sign * 0.2).length();
        all.iter().min_by(|(p, _), (q, _)| off(*p).total_cmp(&off(*q))).expect("a border").1
    };
    vec![side(-1.0), side(1.0)]
}

#[test]
fn refining_a_falling_cloth_changes_neither_mass_nor_momentum_nor_its_fall() {
    let mut cloth = sheet(8);
    let spin = DVec3::new(0.3, 1.0, -0.2);
    cloth.velocity = DVec3::new(0.5, 1.0, 0.0);
    let mut plain = alone(cloth.clone());
    let mut refined = alone(cloth.clone());
    for (v, p) in cloth.positions.iter().enumerate() {
        let velocity = cloth.velocity + spin.cross(*p);
        for world in [&mut plain, &mut refined] {
            world.edit(&toile::Edit::Velocity { cloth: 0, vertex: v as u32, velocity }).expect("an edit");
        }
    }
    run(&mut plain, 3);
    run(&mut refined, 3);
    let mut levels = Levels::new((*cloth.mesh).clone(), 2, Closure::RedGreen).expect("levels");
    let before = refined.momentum();
    let split: Vec<u32> = levels.leaves().step_by(7).collect();
    let change = levels.change(&split, &[]).expect("a change");
    let density = cloth.fabric.density;
    let masses =
        [&*cloth.mesh, levels.mesh()].map(|m| m.area().iter().map(|a| a * density).collect::<Vec<_>>());
    let velocities =
        change.transfer(&cloth.mesh, [&masses[0], &masses[1]], &refined.velocities(0)).expect("velocities");
    refined.reshape(0, &change.edited, Some(&velocities)).expect("a refined cloth");
    let after = refined.momentum();
    assert!(refined.cloths()[0].mesh.faces().len() > cloth.mesh.faces().len() + 3 * split.len() - 1);
    assert!((after.0 / before.0 - 1.0).abs() < 1e-12, "mass {} {}", before.0, after.0);
    assert!(
        (after.2 - before.2).length() < 1e-12 * before.2.length(),
        "momentum {:?} {:?}",
        before.2,
        after.2
    );
    run(&mut plain, 6);
    run(&mut refined, 6);
    let centre = |world: &World| world.momentum().1;
    assert!(centre(&plain).distance(centre(&refined)) < 1e-9, "{} {}", centre(&plain), centre(&refined));
    // Vertices that were there before are where they would have been: it turns and falls, and hardly bends.
    let (a, b) = (plain.positions(0), refined.positions(0));
    let off = a.iter().zip(&b).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
    assert!(off < 1e-4, "{off} m");
}

#[test]
fn split_and_put_back_is_the_same_cloth_to_the_bit() {
    let cloth = sheet(6);
    let mut world = alone(cloth.clone());
    run(&mut world, 3);
    let (x, v, momentum) = (world.positions(0), world.velocities(0), world.momentum());
    let mut levels = Levels::new((*cloth.mesh).clone(), 2, Closure::RedGreen).expect("levels");
    let split: Vec<u32> = levels.leaves().step_by(5).collect();
    let there = levels.change(&split, &[]).expect("a change");
    world.reshape(0, &there.edited, None).expect("refined");
    let parents: Vec<u32> = (0..levels.faces() as u32).filter(|f| levels.children(*f).is_some()).collect();
    let back = levels.change(&[], &parents).expect("a change");
    world.reshape(0, &back.edited, None).expect("put back");
    let now = &world.cloths()[0].mesh;
    assert_eq!((now.faces(), now.rest()), (cloth.mesh.faces(), cloth.mesh.rest()));
    assert_eq!((world.positions(0), world.velocities(0)), (x, v));
    assert_eq!(world.momentum(), momentum);
}

#[test]
fn cut_through_the_middle_the_lower_half_falls_and_nothing_ever_meets() {
    let cloth = sheet(10);
    let top = cloth.positions.iter().map(|p| p.z).fold(f64::MIN, f64::max);
    let held: Vec<u32> =
        (0..cloth.positions.len() as u32).filter(|v| cloth.positions[*v as usize].z > top - 1e-9).collect();
    let mut world = world(cloth, vec![PinDown::fixed(0, held.clone())], 9.81);
    run(&mut world, 30);
    let mass = world.momentum().0;
    let scored = edit::cut(&world.cloths()[0].mesh, &across(&world)).expect("a cut");
    world.reshape(0, &scored.edited, None).expect("cut");
    let mesh = world.cloths()[0].mesh.clone();
    assert_eq!(intersections(&world), 0, "after the cut");
    assert_eq!(mesh.components().len(), 2);
    assert!((world.momentum().0 / mass - 1.0).abs() < 1e-12);
    assert_eq!(world.setup().pins[0].vertices.len(), held.len(), "pins hold what they held");
    for frame in 0..30 {
        run(&mut world, 1);
        assert_eq!(intersections(&world), 0, "frame {frame} after the cut");
    }
    let x = world.positions(0);
    let lowest = |faces: &[u32]| {
        let corners = faces.iter().flat_map(|f| mesh.faces()[*f as usize]);
        corners.map(|v| x[v as usize].y).fold(f64::MIN, f64::max)
    };
    let mut tops: Vec<f64> = mesh.components().iter().map(|faces| lowest(faces)).collect();
    tops.sort_by(f64::total_cmp);
    // Half a second of free fall.
    assert!(tops[1] - tops[0] > 0.5, "{tops:?}");
}

#[test]
fn what_is_resized_keeps_its_mass_and_grows() {
    let mut cloth = sheet(8);
    cloth.fabric.damping = 0.02;
    let mut world = alone(cloth);
    let mesh = world.cloths()[0].mesh.clone();
    let (mass, area) = (world.momentum().0, mesh.total_area());
    let edited = edit::resize(&mesh, &vec![1.5; mesh.faces().len()], Keep::Mass).expect("resized");
    world.reshape(0, &edited, None).expect("resized");
    assert!((world.momentum().0 / mass - 1.0).abs() < 1e-12);
    assert!((world.cloths()[0].mesh.total_area() / area - 2.25).abs() < 1e-9);
    run(&mut world, 60);
    let x = world.positions(0);
    let grown: f64 = mesh
        .faces()
        .iter()
        .map(|f| {
            let [a, b, c] = f.map(|v| x[v as usize]);
            0.5 * (b - a).cross(c - a).length()
        })
        .sum();
    assert!((grown / area / 2.25 - 1.0).abs() < 0.05, "{}", grown / area);
}

#[test]
fn what_is_sewn_keeps_its_momentum() {
    let mut world = alone(sheet(6));
    let mesh = world.cloths()[0].mesh.clone();
    let scored = edit::cut(&mesh, &across(&world)).expect("a cut");
    world.reshape(0, &scored.edited, None).expect("cut");
    for v in 0..world.positions(0).len() as u32 {
        let velocity = DVec3::new(f64::from(v % 3), 0.1, f64::from(v % 5));
        world.edit(&toile::Edit::Velocity { cloth: 0, vertex: v, velocity }).expect("an edit");
    }
    let before = world.momentum();
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    for [[a, b], [c, d]] in &scored.line {
        pairs.extend([[*a, *c], [*b, *d]]);
    }
    pairs.iter_mut().for_each(|pair| pair.sort_unstable());
    pairs.retain(|[a, b]| a != b);
    pairs.sort_unstable();
    pairs.dedup();
    let sewn = edit::sew(&world.cloths()[0].mesh, &pairs).expect("a seam");
    world.reshape(0, &sewn, None).expect("sewn");
    let after = world.momentum();
    assert_eq!(world.cloths()[0].mesh.components().len(), 1);
    assert!((after.0 / before.0 - 1.0).abs() < 1e-12);
    assert!((after.2 - before.2).length() < 1e-12 * before.2.length(), "{:?} {:?}", before.2, after.2);
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let mut world = world(sheet(6), vec![], 9.81);
    run(&mut world, 2);
    let before = world.fingerprint();
    let other = sheet(5);
    let edited = edit::remove(&other.mesh, &[0]).expect("an edit");
    let refused = world.reshape(1, &edited, None);
    assert!(matches!(refused, Err(ReshapeError::NoCloth { cloth: 1, cloths: 1 })), "{refused:?}");
    let mut wrong = edit::remove(&world.cloths()[0].mesh, &[0]).expect("an edit");
    wrong.remap.density.pop();
    let refused = world.reshape(0, &wrong, None);
    assert!(matches!(refused, Err(ReshapeError::OtherMesh { what: "densities", .. })), "{refused:?}");
    assert_eq!(world.fingerprint(), before);
}
