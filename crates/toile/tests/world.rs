//! The world: the same bits whatever runs it, exact resume, islands that do not feel each other, constraints
//! that hold, and forms that agree.

use glam::DVec3;
use toile::collide::collider::{self, Body, Collider};
use toile::drive::{Key, Motion, Transform};
use toile::mesh::{Mesh, Pattern, shapes};
use toile::solve::Form;
use toile::testing::solvers::every_solver;
use toile::{
    Air, Cloth, ContactSettings, Edit, Fabric, Freedom, Friction, Grip, Obstacle, PinDown, Probe, Setup,
    SolverSettings, Stretching, WindField, World,
};

fn sheet(name: &str, n: usize, shift: DVec3) -> (Cloth, Vec<u32>) {
    let shape = shapes::sheet(1.0, 1.0, n, n, Pattern::Jittered { amount: 0.2, seed: 5 }).expect("shape");
    let held = shape.group("left").expect("border").to_vec();
    let positions: Vec<DVec3> = shape.positions.iter().map(|p| *p + shift).collect();
    let mesh = Mesh::new(positions.len(), shape.faces, shape.rest).expect("mesh");
    let fabric = Fabric { damping: 1e-3, ..Fabric::default() };
    (
        Cloth {
            air: Air { normal: 0.3, quadratic: 0.4, drag: 0.1 },
            ..Cloth::new(name, mesh, positions, fabric)
        },
        held,
    )
}

fn hanging(n: usize, solver: SolverSettings) -> Setup {
    let (cloth, held) = sheet("sheet", n, DVec3::ZERO);
    let wind = WindField { velocity: DVec3::new(1.0, 0.3, 2.0), gust: 0.3, frequency: 1.0, seed: 4 };
    Setup {
        cloths: vec![cloth],
        pins: vec![PinDown::fixed(0, held)],
        wind,
        solver,
        substeps: 2,
        ..Setup::default()
    }
}

fn run(world: &mut World, frames: usize) -> u64 {
    for _ in 0..frames {
        world.step(1.0 / 60.0, &mut Probe::default()).expect("step");
    }
    world.fingerprint()
}

#[test]
fn same_bits_for_any_number_of_threads() {
    // Large enough that loops and reductions really run in parallel.
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        pool.install(|| run(&mut World::new(hanging(60, SolverSettings::default())).expect("world"), 4))
    };
    let one = on(1);
    for threads in [2, 3, 4, 8] {
        assert_eq!(on(threads), one, "{threads} threads");
    }
}

#[test]
fn resuming_in_the_middle_changes_no_bit() {
    let setup = hanging(12, SolverSettings::default());
    let mut whole = World::new(setup.clone()).expect("world");
    run(&mut whole, 10);
    let middle = whole.snapshot();
    let end = run(&mut whole, 10);
    let mut resumed = World::new(setup).expect("world");
    resumed.restore(middle).expect("same world");
    assert_eq!(run(&mut resumed, 10), end);
    let (other, _) = sheet("other", 5, DVec3::ZERO);
    let mut other = World::new(Setup { cloths: vec![other], ..Setup::default() }).expect("world");
    assert!(other.restore(whole.snapshot()).is_err(), "a snapshot of another world is refused");
}

/// A sheet between two blocks, of which the upper goes where it has no room and stays there, and another sheet
/// that falls past them.
fn pressed() -> Setup {
    let shape = shapes::sheet(0.2, 0.2, 4, 4, Pattern::Structured).expect("shape");
    let mesh = Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("mesh");
    let at = |shift: DVec3| -> Vec<DVec3> { shape.positions.iter().map(|p| *p + shift).collect() };
    let plate = |name: &str, height: f64, keys: Vec<Key>| {
        let body = Body::Form(collider::Form::Box { size: DVec3::splat(0.2) });
        let stand = Transform { offset: DVec3::new(0.1, height, 0.1), ..Transform::IDENTITY };
        let motion = Motion { keys, ..Motion::still() };
        Obstacle { name: name.into(), collider: Collider::standing(body, stand, motion, 1e-3).expect("body") }
    };
    let key =
        |time: f64, y: f64| Key { time, translate: DVec3::Y * y, rotate: DVec3::ZERO, scale: DVec3::ONE };
    Setup {
        cloths: vec![
            Cloth::new("pressed", mesh.clone(), at(DVec3::ZERO), Fabric::default()),
            Cloth::new("past", mesh, at(DVec3::new(0.205, 0.3, 0.0)), Fabric::default()),
        ],
        bodies: vec![
            plate("upper", 0.13, vec![key(0.0, 0.0), key(0.18, -0.06)]),
            plate("lower", -0.12, vec![]),
        ],
        contact: ContactSettings::default(),
        substeps: 2,
        ..Setup::default()
    }
}

#[test]
fn what_bodies_are_let_through_is_known_logged_once_and_resumes() {
    let setup = pressed();
    let mut world = World::new(setup.clone()).expect("world");
    let mut through = std::collections::BTreeSet::new();
    let (mut islands, mut snapshot) = (Vec::new(), world.snapshot());
    for frame in 1..=26 {
        let start = world.time();
        run(&mut world, 1);
        for release in world.take_releases() {
            assert!((start..=world.time()).contains(&release.time), "{release:?}");
            let vertex = [release.cloth, release.vertex];
            let new = if release.through { through.insert(vertex) } else { through.remove(&vertex) };
            assert!(new, "said twice: {release:?}");
        }
        // The other sheet comes by, and both are solved as one for a while.
        if !through.is_empty() {
            islands.push(world.islands());
        }
        if frame == 14 {
            snapshot = world.snapshot();
        }
        assert!(through.iter().copied().eq(world.let_through()), "the log and the state differ");
    }
    islands.dedup();
    assert_eq!(islands.get(..2), Some(&[2, 1][..]), "islands while bodies are let through something");
    assert!(through.iter().all(|[cloth, _]| *cloth == 0) && !snapshot.let_through.is_empty());
    let last = world.fingerprint();
    let resume = |snapshot: &toile::Snapshot| {
        let mut other = World::new(setup.clone()).expect("world");
        other.restore(snapshot.clone()).expect("same world");
        run(&mut other, 12)
    };
    assert_eq!(resume(&snapshot), last);
    // Without it the cloth would be held: it is there, and it matters.
    snapshot.let_through.clear();
    assert_ne!(resume(&snapshot), last);
}

#[test]
fn an_unrelated_cloth_changes_no_bit() {
    let alone = {
        let mut world = World::new(hanging(14, SolverSettings::default())).expect("world");
        run(&mut world, 8);
        world.positions(0)
    };
    let mut setup = hanging(14, SolverSettings::default());
    let (other, held) = sheet("other", 33, DVec3::new(5.0, 0.0, 0.0));
    setup.cloths.insert(0, other);
    setup.pins[0].cloth = 1;
    setup.pins.push(PinDown::fixed(0, held));
    let mut world = World::new(setup).expect("world");
    assert_eq!(world.islands(), 2);
    run(&mut world, 8);
    assert_eq!(world.positions(1), alone);
}

#[test]
fn all_forms_and_methods_agree_on_a_constrained_sheet() {
    let mut reference: Option<Vec<DVec3>> = None;
    for (name, settings) in every_solver(1e-13) {
        let mut setup = hanging(8, settings);
        let slide =
            |vertex, freedom| PinDown { grip: Grip::Hard(freedom), ..PinDown::fixed(0, vec![vertex]) };
        setup.pins.push(slide(40, Freedom::Line(DVec3::new(0.6, 0.0, 0.8))));
        setup.pins.push(slide(60, Freedom::Plane(DVec3::new(0.0, 0.6, 0.8))));
        let mut world = World::new(setup).expect("world");
        world.step(1.0 / 60.0, &mut Probe::default()).expect("step");
        let v = world.velocities(0);
        let reference = reference.get_or_insert_with(|| v.clone());
        let size = reference.iter().map(|v| v.length()).fold(0.0, f64::max);
        let off = v.iter().zip(reference.iter()).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
        assert!(off < 1e-10 * size, "{name}: {off:e} of {size}");
    }
}

#[test]
fn constrained_particles_stay_on_their_line_and_plane() {
    let mut setup = hanging(8, SolverSettings::default());
    let (line, plane) = (DVec3::new(0.6, 0.0, 0.8), DVec3::new(0.0, 0.6, 0.8));
    let slide = |vertex, freedom| PinDown { grip: Grip::Hard(freedom), ..PinDown::fixed(0, vec![vertex]) };
    setup.pins = vec![slide(40, Freedom::Line(line)), slide(60, Freedom::Plane(plane))];
    let mut world = World::new(setup).expect("world");
    let start = world.positions(0);
    run(&mut world, 60);
    let now = world.positions(0);
    let moved = now[40] - start[40];
    assert!((moved - line * line.dot(moved)).length() < 1e-13 && moved.length() > 1e-3, "{moved}");
    let moved = now[60] - start[60];
    assert!(plane.dot(moved).abs() < 1e-13 && moved.length() > 0.01, "{moved}");
}

#[test]
fn pins_arrive_exactly_hold_and_let_go() {
    let key = |time, lift| Key { time, translate: DVec3::Y * lift, rotate: DVec3::ZERO, scale: DVec3::ONE };
    let mut setup = hanging(6, SolverSettings::default());
    setup.pins[0].motion = Motion { keys: vec![key(0.0, 0.0), key(0.25, 0.5)], ..Motion::still() };
    setup.pins[0].active = f64::NEG_INFINITY..0.5;
    let corner = setup.pins[0].vertices[0] as usize;
    let mut world = World::new(setup).expect("world");
    let start = world.positions(0)[corner];
    run(&mut world, 30);
    assert_eq!(world.positions(0)[corner], start + DVec3::Y * 0.5, "held in its place, to the last bit");
    run(&mut world, 30);
    assert!(world.positions(0)[corner].y < start.y, "let go, it falls");
}

#[test]
fn a_late_pin_grips_where_the_cloth_is() {
    let mut setup = hanging(6, SolverSettings::default());
    setup.pins.push(PinDown { active: 0.25..9.0, ..PinDown::fixed(0, vec![48]) });
    let mut world = World::new(setup).expect("world");
    run(&mut world, 15);
    let gripped = world.positions(0)[48];
    assert!(gripped.y < -0.1);
    run(&mut world, 15);
    assert_eq!(world.positions(0)[48], gripped);
}

#[test]
fn soft_pins_carry_the_cloth() {
    let mut setup = hanging(6, SolverSettings::default());
    setup.pins[0].grip = Grip::Soft { stiffness: 200.0, damping: 0.5 };
    setup.wind = WindField::default();
    let held = setup.pins[0].vertices.clone();
    let mut world = World::new(setup).expect("world");
    run(&mut world, 600);
    let (mass, _, _) = world.momentum();
    let start = &world.cloths()[0].positions;
    let pull: f64 =
        held.iter().map(|v| 200.0 * (start[*v as usize] - world.positions(0)[*v as usize]).y).sum();
    assert!((pull / (mass * 9.81) - 1.0).abs() < 1e-2, "springs carry {pull} N of {} N", mass * 9.81);
}

#[test]
fn edits_act_and_bad_ones_are_refused() {
    let mut world = World::new(hanging(6, SolverSettings::default())).expect("world");
    let place = DVec3::new(0.9, 0.2, 0.9);
    world.edit(&Edit::Place { cloth: 0, vertex: 48, position: place }).expect("edit");
    world.edit(&Edit::Freedom { cloth: 0, vertex: 48, freedom: Freedom::Fixed }).expect("edit");
    world.edit(&Edit::Velocity { cloth: 0, vertex: 48, velocity: DVec3::ZERO }).expect("edit");
    world.edit(&Edit::Gravity(DVec3::new(0.0, -1.0, 0.0))).expect("edit");
    run(&mut world, 10);
    assert_eq!(world.positions(0)[48], place);
    let before = world.fingerprint();
    assert!(world.edit(&Edit::Place { cloth: 0, vertex: 999, position: place }).is_err());
    assert!(world.edit(&Edit::Place { cloth: 0, vertex: 1, position: DVec3::NAN }).is_err());
    assert!(world.edit(&Edit::Velocity { cloth: 7, vertex: 1, velocity: place }).is_err());
    assert!(world.edit(&Edit::Gravity(DVec3::INFINITY)).is_err());
    assert_eq!(world.fingerprint(), before);
}

#[test]
fn a_frame_that_cannot_be_done_leaves_the_world_as_it_was() {
    let mut world = World::new(hanging(6, SolverSettings::default())).expect("world");
    run(&mut world, 2);
    world.edit(&Edit::Velocity { cloth: 0, vertex: 30, velocity: DVec3::splat(1e300) }).expect("edit");
    let before = world.fingerprint();
    let error = world.step(1.0 / 60.0, &mut Probe::default()).expect_err("overflows");
    assert_eq!(world.fingerprint(), before);
    let text = error.to_string();
    assert!(text.contains("`sheet`") && text.contains("substeps"), "{text}");
}

#[test]
fn impossible_setups_are_refused_with_every_reason() {
    let mut setup = hanging(4, SolverSettings { form: Form::Unsymmetric, ..SolverSettings::default() });
    setup.cloths[0].fabric.density = -1.0;
    setup.cloths[0].positions[3].y = f64::NAN;
    setup.pins[0].vertices.push(1000);
    setup.substeps = 0;
    let (twin, _) = sheet("sheet", 2, DVec3::ZERO);
    setup.cloths.push(twin);
    let error = World::new(setup).err().expect("refused");
    assert_eq!(error.problems.len(), 6, "{error}");
}

#[test]
fn impossible_contacts_are_refused_by_name() {
    let refused = |contact: ContactSettings| {
        let error = World::new(Setup { contact, ..pressed() }).err().expect("refused");
        assert_eq!(error.problems.len(), 1, "{error}");
        error.to_string()
    };
    let plain = ContactSettings::default;
    let text = refused(ContactSettings { gap: -1e-3, ..plain() });
    assert!(text.contains("gap of contact [m] is -0.001") && text.contains("above 0"), "{text}");
    let text = refused(ContactSettings { friction: [Friction::of(0.2), Friction::of(-0.3)], ..plain() });
    assert!(text.contains("cloth on bodies is -0.3"), "{text}");
    let pair = |a, b, still, sliding| ContactSettings {
        pairs: vec![([a, b], Friction { still, sliding })],
        ..plain()
    };
    let text = refused(pair(0, 2, 0.1, 0.2));
    assert!(text.contains("between `pressed` and `upper` is 0.1 at rest and 0.2 sliding"), "{text}");
    let text = refused(pair(0, 2, f64::NAN, 0.0));
    assert!(text.contains("NaN"), "{text}");
    let text = refused(pair(0, 4, 0.2, 0.2));
    assert!(text.contains("objects 0 and 4; there are 4"), "{text}");
    let text = refused(pair(3, 2, 0.2, 0.2));
    assert!(text.contains("`lower` and `upper`, two bodies"), "{text}");
    World::new(Setup { contact: pair(1, 3, 0.5, 0.0), ..pressed() }).expect("a cloth and a body");
}

#[test]
fn bodies_carry_what_lies_on_them() {
    let mut setup = pressed();
    let body = Body::Form(collider::Form::Plane { size: 2.0 });
    let collider = Collider::new(body, Motion::still(), 1e-3).expect("body");
    setup.bodies = vec![Obstacle { name: "ground".into(), collider }];
    setup.cloths.truncate(1);
    for p in &mut setup.cloths[0].positions {
        p.y = 1.5e-3;
    }
    let mut world = World::new(setup).expect("world");
    assert_eq!(world.contact_forces(0), vec![DVec3::ZERO; 25], "nothing is known before the first step");
    run(&mut world, 90);
    let forces = world.contact_forces(0);
    let total = forces.iter().fold(DVec3::ZERO, |sum, f| sum + *f);
    let weight = 9.81 * world.momentum().0;
    assert!((total - DVec3::Y * weight).length() < 1e-3 * weight, "{total} N carries {weight} N");
    assert!(forces.iter().all(|f| f.y >= 0.0), "the ground pulls: {forces:?}");
    // Nothing is left over for any vertex: contact is one of the forces.
    let left = world.forces(0).iter().fold(0.0f64, |most, f| most.max(f.length()));
    assert!(left < 0.01 * weight / 25.0, "{left} N left on a vertex that weighs {} N", weight / 25.0);
}

/// Springs fitted to a fabric strain about as the membrane of that fabric does, on every mesh.
#[test]
fn springs_hang_too() {
    let strain = |stretching, pattern| {
        let mut setup = hanging(10, SolverSettings::default());
        let shape = shapes::sheet(1.0, 1.0, 10, 10, pattern).expect("shape");
        let mesh = Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("mesh");
        let plain = setup.cloths[0].clone();
        setup.cloths[0] = Cloth { mesh: mesh.into(), positions: shape.positions, stretching, ..plain };
        let mut world = World::new(setup).expect("world");
        run(&mut world, 60);
        let mut strains = world.strains(0);
        strains.sort_by(f64::total_cmp);
        (strains[strains.len() / 2], strains[strains.len() - 1])
    };
    let springs = Stretching::Springs(toile::forces::Tangent::Safe);
    let membrane = Stretching::Membrane(toile::forces::Strain::Green);
    for pattern in
        [Pattern::Structured, Pattern::Jittered { amount: 0.2, seed: 5 }, Pattern::Delaunay { seed: 5 }]
    {
        let (ours, theirs) = (strain(springs, pattern), strain(membrane, pattern));
        assert!((0.7..1.5).contains(&(ours.0 / theirs.0)), "median strain {ours:?} for {theirs:?}");
        assert!(ours.1 < 2.5 * theirs.1, "largest strain {ours:?} for {theirs:?}");
    }
}

#[test]
fn branches_stay_joined_and_doubles_are_where_the_other_is() {
    // Three pages at the edge 0–1, the first two in line; 5 doubles 0, and 6 belongs to nothing.
    let x = [[0.0, 0.0], [1.0, 0.0], [0.5, 1.0], [0.5, -1.0]].map(|[u, v]| DVec3::new(u, 0.0, v));
    let mut positions = x.to_vec();
    positions.extend([DVec3::new(0.5, 1.0, 0.0), DVec3::ONE, DVec3::splat(3.0)]);
    let faces = vec![[0, 2, 1], [0, 1, 3], [0, 1, 4]];
    let flat = [glam::DVec2::ZERO, glam::DVec2::X, glam::DVec2::new(0.5, 1.0)];
    let rest = vec![[flat[0], flat[2], flat[1]], [flat[0], flat[1], -flat[2] + glam::DVec2::X], flat];
    let mesh = Mesh::branched(7, faces, rest, vec![[0, 1]]).expect("sound");
    let cloth =
        Cloth { doubles: vec![[5, 0]].into(), ..Cloth::new("book", mesh, positions, Fabric::default()) };
    let pins = vec![PinDown::fixed(0, vec![2])];
    let setup = Setup { cloths: vec![cloth], pins, contact: ContactSettings::default(), ..Setup::default() };
    let mut world = World::new(setup.clone()).expect("world");
    assert_eq!(world.islands(), 1, "one piece");
    for _ in 0..30 {
        world.step(1.0 / 30.0, &mut Probe::default()).expect("step");
    }
    let x = world.positions(0);
    assert_eq!((x[5], x[6]), (x[0], DVec3::splat(3.0)));
    assert!(x[0].y < -0.1 && x[4].y < 0.9, "it swings down: {x:?}");
    assert!(world.strains(0).iter().all(|s| s.abs() < 0.05), "all pages hang on: {:?}", world.strains(0));
    assert_eq!(world.velocities(0)[5], world.velocities(0)[0]);
    let mut bad = setup;
    bad.cloths[0].doubles = vec![[5, 70]].into();
    assert!(World::new(bad).err().expect("refused").to_string().contains("vertex 70"));
}
