//! Cloth that refines itself while it moves (B14-12, B14-13, SPEC 6.2 test 11).

use glam::DVec3;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Distance, Kind};
use toile::collide::collider::{Body, Collider, Form};
use toile::drive::{Motion, Transform};
use toile::mesh::levels::{Flat, Folds, Paper, Sizing};
use toile::mesh::{Closure, Levels, Mesh, Pattern, shapes};
use toile::solve::{Corrections, Integrator, PositionCorrection};
use toile::{
    Air, Cloth, ContactSettings, Criterion, Edit, Every, Fabric, Obstacle, PinDown, Probe, Refine, Response,
    Setup, SolverSettings, World,
};

const FRAME: f64 = 1.0 / 60.0;

fn sheet(cells: usize, height: f64) -> Cloth {
    let shape = shapes::sheet(0.5, 0.5, cells, cells, Pattern::Delaunay { seed: 5 }).expect("a sheet");
    let mesh = Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("sound");
    let positions = shape.positions.iter().map(|p| *p + DVec3::new(-0.25, height, -0.25)).collect();
    let mut cloth = Cloth::new("sheet", mesh, positions, Fabric { damping: 5e-3, ..Fabric::default() });
    cloth.air = Air { drag: 0.4, ..Air::default() };
    cloth
}

fn ball(radius: f64) -> Obstacle {
    let stand = Transform { offset: DVec3::NEG_Y * radius, ..Transform::IDENTITY };
    let collider = Collider::standing(Body::Form(Form::Sphere { radius }), stand, Motion::still(), 2e-3);
    Obstacle { name: "ball".into(), collider: collider.expect("a ball") }
}

/// A small cloth that falls on a ball and is refined where it bends.
fn drop(every: Every) -> Setup {
    let mut cloth = sheet(8, 0.01);
    let sizing = Sizing { turn: 0.35, patience: 4, ..Sizing::default() };
    cloth.refine = Some(Refine { criterion: Criterion::Sizing(sizing), every, ..Refine::default() });
    Setup {
        cloths: vec![cloth],
        bodies: vec![ball(0.15)],
        contact: ContactSettings::default(),
        ..Setup::default()
    }
}

/// The same with triangles that are halved along folds.
fn fold() -> Setup {
    let mut setup = drop(Every::Frames(1));
    let folds = Folds { sag: 5e-4, patience: 4, ..Folds::default() };
    setup.cloths[0].refine = Some(Refine::folds(folds, 2));
    setup
}

/// Both ways to split.
fn drops() -> [Setup; 2] {
    [drop(Every::Frames(2)), fold()]
}

/// Free fall with a spin.
fn spinning(refine: Option<Refine>, integrator: Integrator) -> World {
    let mut cloth = sheet(6, 0.0);
    cloth.refine = refine;
    cloth.air = Air::default();
    let x = cloth.positions.clone();
    let solver = SolverSettings { integrator, ..SolverSettings::default() };
    let mut world = World::new(Setup { cloths: vec![cloth], solver, ..Setup::default() }).expect("a world");
    for (vertex, p) in (0..).zip(&x) {
        let velocity = DVec3::new(0.5, 1.0, 0.0) + DVec3::new(0.3, 1.0, -0.2).cross(*p);
        world.edit(&Edit::Velocity { cloth: 0, vertex, velocity }).expect("an edit");
    }
    world
}

fn run(world: &mut World, frames: usize) {
    (0..frames).for_each(|_| world.step(FRAME, &mut Probe::default()).expect("a frame"));
}

fn intersections(world: &World) -> usize {
    let cloth = &world.cloths()[0];
    let facets = world.bodies()[0].collider.facets();
    let surfaces = vec![
        CheckSurface::new("sheet", Kind::Cloth, cloth.mesh.vertices(), cloth.mesh.faces().to_vec()),
        CheckSurface::new("ball", Kind::Body, facets.positions.len(), facets.faces.clone()),
    ];
    let options = CheckOptions { distance: Distance::Off, ..CheckOptions::default() };
    let (x, body) = (world.positions(0), world.bodies()[0].collider.positions());
    let verdict = Checker::new(surfaces, options).expect("a checker").check(&[&x, body]);
    verdict.intersections().max(usize::from(!verdict.pass()))
}

fn counts(world: &World) -> toile::mesh::levels::Counts {
    world.levels(0).expect("levels").counts()
}

#[test]
fn a_cloth_on_a_ball_is_refined_where_it_bends_and_never_meets_anything() {
    for (setup, more) in drops().into_iter().zip([3, 1]) {
        let mut world = World::new(setup).expect("a world");
        let base = world.cloths()[0].mesh.faces().len();
        let (mass, ..) = world.momentum();
        for frame in 0..60 {
            run(&mut world, 1);
            assert_eq!(intersections(&world), 0, "frame {frame}");
            assert!((world.momentum().0 / mass - 1.0).abs() < 1e-12, "mass in frame {frame}");
        }
        let levels = world.levels(0).expect("levels");
        let seen = levels.counts();
        let faces = world.cloths()[0].mesh.faces().len();
        assert!(faces > 2 * base, "{faces} faces of {base}");
        assert_eq!(levels.leaf_count(), base + more * (seen.performed - seen.cancelled) as usize);
        assert!(more > 1 || seen.cancelled > 0, "{seen:?}");
        assert_eq!(world.cloths()[0].mesh.faces(), levels.mesh().faces());
    }
}

#[test]
fn a_ball_pushed_into_held_cloth_is_refined_around() {
    let shape = shapes::sheet(1.0, 1.0, 13, 13, Pattern::Delaunay { seed: 9 }).expect("a sheet");
    let mesh = Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("sound");
    let positions = shape.positions.iter().map(|p| *p + DVec3::new(-0.5, 0.1, -0.5)).collect();
    let fabric = Fabric { damping: 5e-3, ..Fabric::isotropic(0.2, 1000.0, 0.3, 1e-4) };
    let mut cloth = Cloth::new("sheet", mesh, positions, fabric);
    cloth.air = Air { drag: 0.8, ..Air::default() };
    let sizing = Sizing { turn: 0.4, strain_step: 10.0, ..Sizing::default() };
    let criterion = Criterion::Sizing(sizing);
    cloth.refine = Some(Refine { criterion, most: 3, every: Every::Frames(1), ..Refine::default() });
    let border = |p: &DVec3| p.x.abs().max(p.z.abs()) > 0.5 - 1e-9;
    let held = (0..).zip(&cloth.positions).filter(|(_, p)| border(p)).map(|(v, _)| v).collect();
    let radius = 0.04;
    let stand = Transform { offset: DVec3::Y * 0.05, ..Transform::IDENTITY };
    let motion = Motion { smooth: true, ..Motion::straight([DVec3::ZERO, DVec3::Y * 0.15], [0.0, 0.6]) };
    let collider = Collider::standing(Body::Form(Form::Sphere { radius }), stand, motion, 1e-3);
    let bodies = vec![Obstacle { name: "ball".into(), collider: collider.expect("a ball") }];
    let pins = vec![PinDown::fixed(0, held)];
    let contact = ContactSettings::default();
    let setup = Setup { cloths: vec![cloth], bodies, pins, contact, ..Setup::default() };
    let mut world = World::new(setup).expect("a world");
    for frame in 0..30 {
        run(&mut world, 1);
        assert_eq!(intersections(&world), 0, "frame {frame}");
    }
    // Above the ball triangles are as small as its curvature wants them, though cuts between levels lay across it.
    let (x, mesh) = (world.positions(0), world.cloths()[0].mesh.clone());
    let near = |p: DVec3| world.bodies()[0].collider.touch(p, 3e-3).is_some();
    let touching: Vec<usize> =
        (0..mesh.faces().len()).filter(|f| mesh.faces()[*f].iter().all(|v| near(x[*v as usize]))).collect();
    assert!(touching.len() >= 8, "{} faces lie on the ball", touching.len());
    let side = |f: usize| (4.0 / 3.0_f64.sqrt() * mesh.area()[f]).sqrt();
    let largest = touching.into_iter().map(side).fold(0.0, f64::max);
    assert!(largest <= 0.4 * radius * 1.3, "a triangle of {largest} m on the ball");
}

#[test]
fn going_back_across_changes_of_the_mesh_gives_the_same_bits() {
    for setup in drops() {
        goes_back(setup);
    }
}

fn goes_back(setup: Setup) {
    let mut whole = World::new(setup.clone()).expect("a world");
    let start = whole.snapshot();
    run(&mut whole, 5);
    let (middle, faces) = (whole.snapshot(), whole.cloths()[0].mesh.faces().len());
    let print = whole.fingerprint();
    run(&mut whole, 25);
    assert!(whole.cloths()[0].mesh.faces().len() != faces, "{faces} faces all the time");
    let end = (whole.fingerprint(), counts(&whole));
    // In the same world, in a new one, and back to before anything was split.
    let mut fresh = World::new(setup).expect("a world");
    for world in [&mut whole, &mut fresh] {
        world.restore(middle.clone()).expect("the same scene");
        assert_eq!((world.fingerprint(), world.cloths()[0].mesh.faces().len()), (print, faces));
        run(world, 25);
        assert_eq!((world.fingerprint(), counts(world)), end);
        assert!(world.snapshot().form.is_some());
    }
    whole.restore(start).expect("the same scene");
    run(&mut whole, 30);
    assert_eq!((whole.fingerprint(), counts(&whole)), end);
    // As files keep levels: as numbers.
    let levels = whole.levels(0).expect("levels");
    let again = Levels::of(levels.base().clone(), levels.most(), levels.closure(), &levels.forest());
    assert_eq!(&again.expect("a forest"), levels);
    let mut other = World::new(Setup { cloths: vec![sheet(4, 0.0)], ..Setup::default() }).expect("a world");
    assert!(other.restore(middle).is_err(), "another scene is refused");
}

#[test]
fn refinement_gives_the_same_bits_on_any_number_of_threads() {
    for setup in drops() {
        let prints = [1, 2, 3, 8].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| {
                let mut world = World::new(setup.clone()).expect("a world");
                run(&mut world, 24);
                (world.fingerprint(), counts(&world))
            })
        });
        assert!(prints.iter().all(|print| *print == prints[0]), "{prints:?}");
        assert!(prints[0].1.performed > 0);
    }
}

#[test]
fn split_and_cancelled_is_the_same_cloth_to_the_bit() {
    for closure in [Closure::RedGreen, Closure::Midpoint, Closure::None] {
        // Everything larger than 5 cm is split at once; afterwards nothing is wanted.
        let fine = Sizing { largest: 0.05, patience: 0, ..Sizing::default() };
        let coarse = Sizing { turn: 50.0, strain_step: 50.0, patience: 0, ..Sizing::default() };
        let refine = |sizing| {
            let every = Every::Frames(1_000_000);
            Refine { criterion: Criterion::Sizing(sizing), closure, every, ..Refine::default() }
        };
        let mut world = spinning(Some(refine(fine)), Integrator::Bdf2);
        run(&mut world, 3);
        let mesh = world.cloths()[0].mesh.clone();
        let (mass, centre, momentum) = world.momentum();
        let faces = mesh.faces().len();
        assert!(world.refine(0) && world.refine(0), "twice");
        let after = world.momentum();
        assert!(world.cloths()[0].mesh.faces().len() > 4 * faces);
        assert!((after.0 / mass - 1.0).abs() < 1e-12 && after.1.distance(centre) < 1e-12);
        assert!((after.2 - momentum).length() < 1e-12 * momentum.length(), "momentum");
        let mut setup = world.setup();
        setup.cloths[0].refine = Some(refine(coarse));
        world.revise(setup.clone(), &toile::Heritage::all(&setup)).expect("another criterion");
        while world.refine(0) {}
        let now = &world.cloths()[0];
        assert_eq!((now.mesh.faces(), now.mesh.rest()), (mesh.faces(), mesh.rest()), "{closure:?}");
        let after = world.momentum();
        assert_eq!(after.0, mass, "mass to the bit");
        assert!((after.2 - momentum).length() < 1e-12 * momentum.length(), "momentum");
        let seen = counts(&world);
        assert_eq!(seen.performed, seen.cancelled);
    }
}

#[test]
fn falling_and_turning_cloth_does_not_feel_that_it_is_refined() {
    let every = Every::Frames(1);
    for integrator in [
        Integrator::Bdf2,
        Integrator::TrBdf2,
        Integrator::ImplicitEuler,
        Integrator::LinearEuler,
        Integrator::LambdaMidpoint,
        Integrator::Rosenbrock,
    ] {
        for closure in [Closure::RedGreen, Closure::Midpoint, Closure::Halves] {
            // Half of the cloth is split, then more of it: what is larger than 9 cm, then 5 cm.
            let largest = Sizing { largest: 0.09, ..Sizing::default() };
            let criterion = match closure {
                Closure::Halves => Criterion::Folds(Folds { largest: 0.09, ..Folds::default() }),
                _ => Criterion::Sizing(largest),
            };
            let refine = Refine { criterion, closure, every, ..Refine::default() };
            let mut plain = spinning(None, integrator);
            let mut refined = spinning(Some(refine), integrator);
            run(&mut plain, 8);
            run(&mut refined, 8);
            let name = integrator.name();
            assert!(counts(&refined).performed > 0, "{name}");
            let (a, b) = (plain.momentum(), refined.momentum());
            assert!(a.1.distance(b.1) < 1e-9, "{name} {closure:?}: centre {} m apart", a.1.distance(b.1));
            assert!((a.2 - b.2).length() < 1e-8 * a.2.length(), "{name} {closure:?}: momentum");
            let (x, y) = (plain.positions(0), refined.positions(0));
            let off = x.iter().zip(&y).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
            assert!(off < 2e-4, "{name} {closure:?}: {off} m");
        }
    }
}

#[test]
fn cracks_are_held_shut_half_way() {
    let every = Every::Frames(1);
    for integrator in [Integrator::Bdf2, Integrator::Verlet] {
        let mut cloth = sheet(5, 0.0);
        let criterion = Criterion::Sizing(Sizing { turn: 0.2, patience: 2, ..Sizing::default() });
        cloth.refine = Some(Refine { criterion, closure: Closure::Midpoint, every, ..Refine::default() });
        let pins = vec![PinDown::fixed(0, vec![0, 5])];
        let solver = SolverSettings { integrator, ..SolverSettings::default() };
        // Soft, so that an explicit step of 0.2 ms is stable on the finest triangles.
        cloth.fabric = Fabric::isotropic(0.2, 20.0, 0.3, 1e-6);
        let substeps = if integrator == Integrator::Verlet { 80 } else { 4 };
        let setup = Setup { cloths: vec![cloth], pins, solver, substeps, ..Setup::default() };
        let mut world = World::new(setup).expect("a world");
        let mut hung = 0;
        for _ in 0..20 {
            run(&mut world, 1);
            let x = world.positions(0);
            let hanging = world.cloths()[0].hanging.clone();
            hung += hanging.len();
            for [m, a, b] in hanging.iter().map(|three| three.map(|v| x[v as usize])) {
                assert_eq!(m, 0.5 * (a + b));
            }
        }
        assert!(hung > 0, "{}: there were cracks", integrator.name());
    }
}

#[test]
fn pins_and_hands_keep_what_they_hold() {
    let refine = |sizing| {
        let (criterion, every) = (Criterion::Sizing(sizing), Every::Frames(1));
        Some(Refine { criterion, most: 1, every, ..Refine::default() })
    };
    let mut cloth = sheet(4, 0.0);
    let edge = cloth.positions.iter().map(|p| p.x).fold(f64::MAX, f64::min);
    let border: Vec<u32> =
        (0..).zip(&cloth.positions).filter(|(_, p)| p.x < edge + 1e-9).map(|(v, _)| v).collect();
    cloth.refine = refine(Sizing { largest: 0.1, ..Sizing::default() });
    let pins = vec![PinDown::fixed(0, border.clone())];
    let mut world = World::new(Setup { cloths: vec![cloth], pins, ..Setup::default() }).expect("a world");
    run(&mut world, 3);
    let held = world.setup().pins[0].vertices.clone();
    assert_eq!(held.len(), 2 * border.len() - 1, "the midpoints of held edges are held");
    let (x, start) = (world.positions(0), world.cloths()[0].positions.clone());
    assert!(held.iter().all(|v| x[*v as usize].distance(start[*v as usize]) < 1e-12));
    // A midpoint that is held on its own stays; the others go.
    let mut setup = world.setup();
    let free = |v: &u32| !held.contains(v);
    let alone = (25..x.len() as u32).rev().find(free).expect("a midpoint");
    setup.pins.push(PinDown::fixed(0, vec![alone]));
    setup.cloths[0].refine =
        refine(Sizing { turn: 50.0, strain_step: 50.0, patience: 0, ..Sizing::default() });
    let heritage = toile::Heritage { pins: vec![Some(0), None], ..toile::Heritage::all(&setup) };
    world.revise(setup, &heritage).expect("a pin");
    let at = world.positions(0)[alone as usize];
    run(&mut world, 4);
    let seen = counts(&world);
    assert!(seen.cancelled > 0 && seen.cancelled < seen.performed, "{seen:?}");
    let setup = world.setup();
    assert_eq!(setup.pins[1].vertices.len(), 1);
    assert_eq!(world.positions(0)[setup.pins[1].vertices[0] as usize], at);
    assert!(setup.pins[0].vertices.len() < held.len());
}

/// A small dress in paper mode.
fn paper_dress(angle: f64) -> World {
    let shape = shapes::tube_of(0.30, 0.16, 0.9, 300, 14).expect("a tube");
    let mesh = Mesh::new(shape.positions.len(), shape.faces.clone(), shape.rest.clone()).expect("sound");
    let mut cloth =
        Cloth::new("dress", mesh, shape.positions.clone(), Fabric::isotropic(0.15, 200.0, 0.2, 0.0));
    cloth.air = Air { drag: 0.3, ..Air::default() };
    let paper = Paper::new(angle, 5.0, 0.5 * angle, Flat::All).expect("angles");
    cloth.refine = Some(Refine::paper(paper, 2));
    let form = Form::Cylinder { radius: 0.14, height: 2.0 };
    let collider = Collider::new(Body::Form(form), Motion::still(), 2e-3).expect("a cylinder");
    let corrections =
        Corrections { position: PositionCorrection::Fixed, threshold: 1e-3, ..Corrections::default() };
    let contact = ContactSettings {
        cloth: false,
        guarantee: false,
        response: Response::Projection,
        ..ContactSettings::default()
    };
    let solver = SolverSettings { integrator: Integrator::Verlet, corrections, ..SolverSettings::default() };
    let bodies = vec![Obstacle { name: "cylinder".into(), collider }];
    World::new(Setup { cloths: vec![cloth], bodies, contact, solver, substeps: 5, ..Setup::default() })
        .expect("a world")
}

#[test]
fn the_papers_pipeline_counts_as_its_table_does() {
    let mut world = paper_dress(30.0);
    for _ in 0..20 {
        world.step(5e-3, &mut Probe::default()).expect("a frame");
        let (levels, seen) = (world.levels(0).expect("levels"), counts(&world));
        assert_eq!(levels.paper_count() as u64, 300 + 4 * (seen.performed - seen.cancelled));
    }
    let seen = counts(&world);
    assert!(seen.performed > 0 && seen.forced == 0, "{seen:?}");
    // A substep that fails takes back the whole frame, meshes and all.
    let (print, faces) = (world.fingerprint(), world.cloths()[0].mesh.faces().len());
    assert!(world.step(1e3, &mut Probe::default()).is_err(), "far too long for an explicit step");
    assert_eq!((world.fingerprint(), world.cloths()[0].mesh.faces().len()), (print, faces));
}

#[test]
fn folds_and_halves_go_together_or_are_refused() {
    for (criterion, closure) in [
        (Criterion::Folds(Folds::default()), Closure::RedGreen),
        (Criterion::Sizing(Sizing::default()), Closure::Halves),
    ] {
        let mut cloth = sheet(4, 0.0);
        cloth.refine = Some(Refine { criterion, closure, ..Refine::default() });
        let refused = World::new(Setup { cloths: vec![cloth], ..Setup::default() }).err().expect("refused");
        assert!(refused.to_string().contains("folds go with halves"), "{refused}");
    }
}
