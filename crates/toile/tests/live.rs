//! Worlds that are changed while they move, and what acts on their vertices.

use glam::DVec3;
use toile::collide::collider::{Body, Collider, Form};
use toile::drive::{Motion, Transform};
use toile::mesh::{Mesh, Pattern, shapes};
use toile::{
    Account, Air, Anchor, Cloth, ContactSettings, Edit, ElasticBetween, Fabric, Heritage, Obstacle, PinDown,
    Probe, Setup, World,
};

const FRAME: f64 = 1.0 / 60.0;

fn sheet(name: &str, cells: usize, height: f64) -> Cloth {
    let shape = shapes::sheet(0.5, 0.5, cells, cells, Pattern::Structured).expect("a sheet");
    let mesh = Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("sound");
    let positions = shape.positions.iter().map(|p| *p + DVec3::new(-0.25, height, -0.25)).collect();
    let mut cloth = Cloth::new(name, mesh, positions, Fabric { damping: 5e-3, ..Fabric::default() });
    cloth.air = Air { drag: 0.4, ..Air::default() };
    cloth
}

fn ball(radius: f64) -> Obstacle {
    let stand = Transform { offset: DVec3::NEG_Y * radius, ..Transform::IDENTITY };
    let collider = Collider::standing(Body::Form(Form::Sphere { radius }), stand, Motion::still(), 2e-3);
    Obstacle { name: "ball".into(), collider: collider.expect("a ball") }
}

fn setup(cells: usize) -> Setup {
    Setup {
        cloths: vec![sheet("sheet", cells, 0.01)],
        bodies: vec![ball(0.15)],
        contact: ContactSettings::default(),
        ..Setup::default()
    }
}

fn run(world: &mut World, frames: usize) {
    for _ in 0..frames {
        world.step(FRAME, &mut Probe::default()).expect("a frame");
    }
}

#[test]
fn a_world_revised_to_what_it_is_goes_on_as_it_did() {
    let mut plain = World::new(setup(12)).expect("a world");
    let mut revised = World::new(setup(12)).expect("a world");
    run(&mut plain, 12);
    run(&mut revised, 12);
    let now = revised.setup();
    let heritage = Heritage::all(&now);
    revised.revise(now, &heritage).expect("the same");
    assert_eq!(revised.fingerprint(), plain.fingerprint());
    assert_eq!(revised.snapshot().touches, plain.snapshot().touches);
    run(&mut plain, 6);
    run(&mut revised, 6);
    assert_eq!(revised.fingerprint(), plain.fingerprint(), "to the bit");
}

#[test]
fn pins_are_added_and_taken_away_in_motion() {
    let mut world = World::new(setup(8)).expect("a world");
    run(&mut world, 10);
    let corner = world.positions(0)[0];
    let mut now = world.setup();
    now.pins.push(PinDown::fixed(0, vec![0, 8]));
    let heritage = Heritage { pins: vec![None], ..Heritage::all(&now) };
    world.revise(now, &heritage).expect("a pin");
    run(&mut world, 10);
    assert_eq!(world.positions(0)[0], corner, "held where it was");
    let mut now = world.setup();
    now.pins[0].vertices.retain(|v| *v != 0);
    let heritage = Heritage::all(&now);
    let other = world.positions(0)[8];
    world.revise(now, &heritage).expect("one vertex less");
    run(&mut world, 5);
    assert_eq!(world.positions(0)[8], other, "the other is held as before");
    assert!(world.positions(0)[0].distance(corner) > 1e-3, "let go it moves");
}

#[test]
fn cloths_come_and_go_and_the_others_keep_their_motion_and_contacts() {
    let mut world = World::new(setup(8)).expect("a world");
    run(&mut world, 20);
    let (before, touches) = (world.positions(0), world.snapshot().touches);
    assert!(touches.iter().flatten().next().is_some(), "it lies on the ball");
    let mut now = world.setup();
    now.cloths.push(sheet("guest", 4, 0.2));
    let heritage = Heritage { cloths: vec![Some(0), None], ..Heritage::all(&now) };
    world.revise(now, &heritage).expect("a guest");
    assert_eq!(world.positions(0), before);
    // The body's number is one more now; the pairs are the same.
    let counted = |world: &World| world.snapshot().touches.iter().map(Vec::len).sum::<usize>();
    assert_eq!(counted(&world), 2 * touches.iter().map(Vec::len).sum::<usize>(), "known to both islands");
    run(&mut world, 1);
    assert!(world.positions(1)[0].y < 0.2, "the guest falls");
    let before = world.positions(0);
    let mut now = world.setup();
    now.cloths.pop();
    let heritage = Heritage::all(&now);
    world.revise(now, &heritage).expect("without the guest");
    assert_eq!((world.cloths().len(), world.positions(0)), (1, before));
    run(&mut world, 2);
}

#[test]
fn a_revision_that_cannot_be_changes_nothing() {
    let mut world = World::new(setup(6)).expect("a world");
    run(&mut world, 3);
    let print = world.fingerprint();
    let mut now = world.setup();
    now.cloths[0].fabric.density = -1.0;
    let heritage = Heritage::all(&now);
    assert!(world.revise(now, &heritage).is_err());
    assert_eq!(world.fingerprint(), print);
    run(&mut world, 1);
}

#[test]
fn a_hand_leads_what_it_holds_and_carries_the_whole_cloth() {
    let mut base = setup(10);
    base.bodies.clear();
    base.elastics.push(ElasticBetween {
        from: (0, 60),
        to: Anchor::Place(base.cloths[0].positions[60], Motion::still()),
        time: 0.03,
        active: 0.0..f64::INFINITY,
        carries: Some(0.05),
    });
    let mut world = World::new(base).expect("a world");
    let to = DVec3::new(0.1, 0.4, 0.1);
    let start = world.positions(0)[60];
    for k in 1..=30 {
        let part = f64::from(k) / 30.0;
        world.edit(&Edit::Lead { elastic: 0, to: start.lerp(to, part), time: FRAME }).expect("a way");
        run(&mut world, 1);
    }
    run(&mut world, 20);
    let missed = world.positions(0)[60].distance(to);
    assert!(missed < 2e-3, "{missed} m from the hand");
    assert!(world.edit(&Edit::Lead { elastic: 1, to, time: FRAME }).is_err());
    assert!(world.edit(&Edit::Lead { elastic: 0, to: DVec3::NAN, time: FRAME }).is_err());
}

/// Largest part of the forces at a vertex that they leave unexplained, and the largest such force over the mean weight.
fn unexplained(world: &World, cloth: usize) -> f64 {
    let (mass, ..) = world.momentum();
    let vertices = world.cloths()[cloth].positions.len() as u32;
    let weight = 9.81 * mass / f64::from(vertices);
    (0..vertices)
        .map(|vertex| world.account(cloth, vertex).expect("known").residual().length() / weight)
        .fold(0.0, f64::max)
}

#[test]
fn forces_by_source_sum_to_mass_times_acceleration() {
    let mut world = World::new(setup(10)).expect("a world");
    let mut now = world.setup();
    now.pins.push(PinDown::fixed(0, vec![0]));
    let heritage = Heritage { pins: vec![None], ..Heritage::all(&now) };
    world.revise(now, &heritage).expect("a pin");
    for frames in [1, 10, 20] {
        run(&mut world, frames);
        let mut probe = Probe::default();
        world.step(FRAME, &mut probe).expect("a frame");
        let (found, left) = (unexplained(&world, 0), probe.counters.residual_ratio);
        assert!(found <= 1.5 * left + 1e-9, "{found} against {left} of a weight");
    }
    let names = |account: &Account| account.forces.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let account = world.account(0, 0).expect("known");
    for source in ["gravity", "stretch", "shear", "bend", "drag", "contact", "friction", "pin", "filter"] {
        assert!(names(&account).contains(&source), "{source} in {:?}", names(&account));
    }
    let pin = account.forces.iter().find(|(name, _)| *name == "pin").expect("a pin").1;
    assert!(pin.y > 0.0, "the pin holds up what hangs from it");
    let free = world.account(0, 60).expect("known");
    let pin = free.forces.iter().find(|(name, _)| *name == "pin").expect("listed").1;
    assert_eq!(pin, DVec3::ZERO);
}
