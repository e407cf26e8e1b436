//! The world: the same bits whatever runs it, exact resume, islands that do not feel each other, constraints
//! that hold, and forms that agree.

use glam::DVec3;
use toile::drive::{Key, Motion};
use toile::mesh::{Mesh, Pattern, shapes};
use toile::solve::Form;
use toile::testing::solvers::every_solver;
use toile::{
    Air, Cloth, Edit, Fabric, Freedom, Grip, PinDown, Probe, Setup, SolverSettings, Stretching, WindField,
    World,
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

/// Springs fitted to a fabric strain about as the membrane of that fabric does, on every mesh.
#[test]
fn springs_hang_too() {
    let strain = |stretching, pattern| {
        let mut setup = hanging(10, SolverSettings::default());
        let shape = shapes::sheet(1.0, 1.0, 10, 10, pattern).expect("shape");
        let mesh = Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("mesh");
        let plain = setup.cloths[0].clone();
        setup.cloths[0] = Cloth { mesh, positions: shape.positions, stretching, ..plain };
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
