//! Tangled starts: found, drawn back, exempt as long as they last, and nothing else.

use glam::DVec3;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Distance, Finding, Kind as Role};
use toile::mesh::{Mesh, Pattern, shapes};
use toile::testing::tangles::{Kind, start, world};
use toile::{Air, Cloth, ContactSettings, Edit, Fabric, PinDown, Probe, Setup, World};

fn checker(world: &World) -> Checker {
    let cloths = world.cloths().iter().map(|cloth| {
        CheckSurface::new(cloth.name.clone(), Role::Cloth, cloth.mesh.vertices(), cloth.mesh.faces().to_vec())
    });
    let bodies = world.bodies().iter().map(|body| {
        let facets = body.collider.facets();
        CheckSurface::new(body.name.clone(), Role::Body, facets.positions.len(), facets.faces.clone())
    });
    let options = CheckOptions { distance: Distance::Off, ..CheckOptions::default() };
    Checker::new(cloths.chain(bodies).collect(), options).expect("checker")
}

fn places(world: &World) -> Vec<Vec<DVec3>> {
    let cloths = (0..world.cloths().len()).map(|c| world.positions(c));
    cloths.chain(world.bodies().iter().map(|body| body.collider.positions().to_vec())).collect()
}

/// Pairs of faces that intersect by the exact checker, and how many of them no tangle excuses.
fn judged(checker: &mut Checker, world: &World) -> (Vec<[[u32; 2]; 2]>, usize) {
    let all = places(world);
    let mut verdict = checker.check(&all.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let pair = |finding: &Finding| {
        let Finding::Intersection { edge, face, .. } = finding else { panic!("{finding:?}") };
        let mut pair = [[edge.surface, edge.face], [face.surface, face.face]];
        pair.sort_unstable();
        pair
    };
    let mut pairs: Vec<_> = verdict.findings.iter().map(pair).collect();
    pairs.sort_unstable();
    checker.excuse_tangled(&mut verdict, |edge, face| {
        let (edge, face) = (edge.map(|v| [v.surface, v.vertex]), face.map(|v| [v.surface, v.vertex]));
        world.tangled().iter().any(|tangle| tangle.excuses(&edge, &face))
    });
    (pairs, verdict.findings.len())
}

fn run(world: &mut World, frames: usize) -> u64 {
    for _ in 0..frames {
        world.step(1.0 / 60.0, &mut Probe::default()).expect("step");
    }
    world.fingerprint()
}

#[test]
fn every_kind_is_found_as_the_checker_finds_it() {
    for kind in Kind::ALL {
        let world = world(kind, 7).expect("start");
        let found = world.tangles();
        let (pairs, unexcused) = judged(&mut checker(&world), &world);
        assert!(!pairs.is_empty(), "{}", kind.name());
        assert_eq!(found.pairs, pairs, "{}", kind.name());
        assert_eq!(unexcused, 0, "{}", kind.name());
        assert_eq!(found.inside.is_empty(), kind != Kind::InBody, "{}", kind.name());
        let clean = world.cloths().len() as u32 - 1;
        assert!(world.tangled().iter().flat_map(|t| t.sides.iter().flatten()).all(|name| name[0] != clean));
    }
}

#[test]
fn a_clean_start_has_no_tangles() {
    let mut setup = start(Kind::Corner, 1).expect("start");
    setup.cloths[1].positions.iter_mut().for_each(|p| p.y += 0.2);
    let world = World::new(setup).expect("world");
    assert!(world.tangled().is_empty() && world.tangles().is_empty());
}

#[test]
fn the_corner_gives_way_and_not_the_sheet() {
    let world = world(Kind::Corner, 1).expect("start");
    let [tangle] = world.tangled() else { panic!("one curve, one tangle") };
    let (sheet, flap) = (0, 1);
    assert!(tangle.sides[0].iter().all(|[object, _]| *object == flap));
    assert!(tangle.sides[1].iter().all(|[object, _]| *object == sheet));
    // It came from above, where the faces of the sheet look.
    assert_eq!(tangle.sign, 1);
    // All that is below the sheet is drawn back, and not much more.
    let below = |v: &usize| world.positions(1)[*v].y < 0.0;
    let all: Vec<usize> = (0..world.positions(1).len()).filter(below).collect();
    assert!(all.len() > 3);
    assert!(all.iter().all(|v| tangle.sides[0].contains(&[flap, *v as u32])));
    assert!(tangle.sides[0].len() < world.positions(1).len() / 2);
}

#[test]
fn layers_decide_against_size() {
    // Most of the coat is under the lining: without layers, and pins, the borders that are right would give way.
    let mut setup = start(Kind::Swapped, 2).expect("start");
    setup.pins.clear();
    let with = World::new(setup.clone()).expect("world");
    assert!(with.tangled().iter().all(|tangle| tangle.sign != 0));
    setup.cloths.iter_mut().for_each(|cloth| cloth.layer = None);
    let without = World::new(setup).expect("world");
    assert_ne!(with.tangled(), without.tangled());
}

#[test]
fn what_is_exempt_shrinks_is_cleared_and_counts_again() {
    for kind in [Kind::InBody, Kind::Corner, Kind::CrossedHem] {
        let mut world = world(kind, 1).expect("start");
        let mut checker = checker(&world);
        let mut before = world.tangled().to_vec();
        for frame in 0..60 {
            run(&mut world, 1);
            let (pairs, unexcused) = judged(&mut checker, &world);
            assert_eq!(unexcused, 0, "{} in frame {frame}: what is not exempt intersects", kind.name());
            for tangle in world.tangled() {
                let old = before.iter().find(|old| old.number == tangle.number).expect("no new tangle");
                let within = |s: usize| tangle.sides[s].iter().all(|name| old.sides[s].contains(name));
                assert!(within(0) && within(1), "{} in frame {frame}: it spreads", kind.name());
            }
            if world.tangled().is_empty() {
                assert!(pairs.is_empty(), "{} in frame {frame}", kind.name());
            }
            before = world.tangled().to_vec();
        }
        assert!(before.is_empty() && world.tangles().is_empty(), "{}: not cleared", kind.name());
    }
}

#[test]
fn a_tangle_resumes_to_the_same_bits_on_any_number_of_threads() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        pool.install(|| {
            let mut whole = world(Kind::CrossedHem, 1).expect("start");
            run(&mut whole, 3);
            let middle = whole.snapshot();
            assert!(!middle.tangles.is_empty(), "still tangled");
            let end = run(&mut whole, 12);
            let mut resumed = world(Kind::CrossedHem, 1).expect("start");
            resumed.restore(middle.clone()).expect("same world");
            assert_eq!(run(&mut resumed, 12), end, "{threads} threads");
            let mut forgetful = world(Kind::CrossedHem, 1).expect("start");
            forgetful.restore(toile::Snapshot { tangles: Vec::new(), ..middle }).expect("same world");
            assert_ne!(run(&mut forgetful, 12), end, "tangles are part of the state");
            end
        })
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn what_cannot_be_undone_stays_exempt_and_is_listed() {
    // The deepest vertices are held inside the body.
    let mut setup = start(Kind::InBody, 1).expect("start");
    let inside = World::new(setup.clone()).expect("world").tangles().inside;
    let held: Vec<u32> = inside.iter().map(|[_, vertex, _]| *vertex).take(40).collect();
    setup.pins.push(PinDown::fixed(0, held.clone()));
    let mut world = World::new(setup).expect("world");
    let (start, _) = judged(&mut checker(&world), &world);
    run(&mut world, 8);
    let (pairs, unexcused) = judged(&mut checker(&world), &world);
    assert_eq!(unexcused, 0);
    assert_eq!(world.tangles().pairs, pairs);
    let still = world.tangles().inside;
    assert!(held.iter().all(|v| still.iter().any(|[_, vertex, _]| vertex == v)), "held where they were");
    assert!(still.len() < inside.len(), "the others came out: {} of {}", still.len(), inside.len());
    assert!(pairs.len() <= 3 * start.len());
}

#[test]
fn vertices_placed_by_hand_may_tangle_too() {
    let mut setup = start(Kind::Corner, 1).expect("start");
    setup.cloths[1].positions.iter_mut().for_each(|p| p.y += 0.04);
    let mut world = World::new(setup).expect("world");
    assert!(world.tangles().is_empty());
    let places = world.positions(1);
    let tip = (0..places.len()).min_by(|a, b| places[*a].y.total_cmp(&places[*b].y)).expect("vertices");
    let position = DVec3::new(places[tip].x, -0.01, places[tip].z);
    world.edit(&Edit::Place { cloth: 1, vertex: tip as u32, position }).expect("edit");
    assert!(!world.tangles().is_empty() && world.tangled().is_empty() && world.snapshot().placed);
    run(&mut world, 30);
    assert!(world.tangled().is_empty() && world.tangles().is_empty() && !world.snapshot().placed);
}

/// A coat pinned along one side whose other half starts under the lining that it lies on when it is clear.
#[test]
fn layers_that_lie_on_each_other_are_cleared_against_their_weight() {
    let sheet = |name: &str, size: f64, cells: usize, layer: u32, turn: f64, up: f64| {
        let shape = shapes::sheet(size, size, cells, cells, Pattern::Jittered { amount: 0.2, seed: 0 })
            .expect("a sheet");
        let (sin, cos) = (libm::sin(turn), libm::cos(turn));
        let place = |p: &DVec3| {
            let (x, z) = (p.x - 0.5 * size, p.z - 0.5 * size);
            DVec3::new(cos * x - p.y * sin, sin * x + p.y * cos + up, z)
        };
        let positions = shape.positions.iter().map(place).collect();
        let mesh = Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("sound");
        let mut cloth = Cloth::new(name, mesh, positions, Fabric::default());
        cloth.layer = Some(layer);
        cloth.air = Air { drag: 4.0 * cloth.fabric.density, ..Air::default() };
        let side = |at: f64| {
            let on = |p: &DVec3| (p.x - at).abs() < 1e-9;
            (0..).zip(&shape.positions).filter(|(_, p)| on(p)).map(|(v, _)| v).collect::<Vec<u32>>()
        };
        (cloth, [side(0.0), side(size)])
    };
    let (lining, held) = sheet("lining", 0.24, 18, 0, 0.0, 0.0);
    let (coat, [left, _]) = sheet("coat", 0.26, 19, 1, -8.0_f64.to_radians(), 0.004);
    let pins = vec![PinDown::fixed(0, held.concat()), PinDown::fixed(1, left)];
    let contact = ContactSettings::default();
    let setup = Setup { cloths: vec![lining, coat], pins, contact, ..Setup::default() };
    let mut world = World::new(setup).expect("a world");
    assert!(!world.tangled().is_empty());
    run(&mut world, 30);
    assert!(world.tangled().is_empty(), "{} pairs are left", world.tangles().pairs.len());
    assert!(judged(&mut checker(&world), &world).0.is_empty());
}
