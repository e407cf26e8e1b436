//! K02's solver against its oracles: the linear solve it approximates, closed forms, its own stability.

use glam::DVec3;
use toile::forces::{Fabric, Spring, Tangent, WindField};
use toile::freedom::Freedom;
use toile::interaction::{Elements, ForceModel};
use toile::math::random;
use toile::mesh::{Mesh, Pattern, shapes};
use toile::model::Model;
use toile::solve::jacobi::{Damping, DampingForm, Jacobian, Parity};
use toile::solve::{Integrator, K02Settings};
use toile::state::State;
use toile::step::Island;
use toile::{Air, Bending, Cloth, Grip, PinDown, Probe, Setup, SolverSettings, Stretching, World};

fn free(iterations: u32, jacobian: Jacobian) -> K02Settings {
    K02Settings { iterations, parity: Parity::Free, jacobian, ..K02Settings::default() }
}

fn k02(k02: K02Settings) -> SolverSettings {
    SolverSettings { integrator: Integrator::K02, k02, ..SolverSettings::default() }
}

/// Springs of a fabric of 15 N/m on a crumpled sheet of 7 × 7 cells, some particles fixed, some on lines and planes, one on a
/// soft pin, all moving.
fn crumpled(solver: SolverSettings, tangent: Tangent) -> World {
    let shape = shapes::sheet(0.7, 0.7, 7, 7, Pattern::Jittered { amount: 0.2, seed: 4 }).expect("shape");
    let jolt = |i: usize, lane: u64| {
        DVec3::from_array([0, 1, 2].map(|k| random::unit(9 + lane, 3 * i as u64 + k) - 0.5))
    };
    let x: Vec<DVec3> = shape.positions.iter().enumerate().map(|(i, p)| *p + 0.05 * jolt(i, 0)).collect();
    let mesh = Mesh::new(x.len(), shape.faces.clone(), shape.rest.clone()).expect("mesh");
    let fabric = Fabric { stretch: [15.0.into(); 2], damping: 0.002, ..Fabric::default() };
    let cloth = Cloth {
        stretching: Stretching::Springs(tangent),
        bending: Bending::None,
        air: Air { drag: 0.3, ..Air::default() },
        ..Cloth::new("sheet", mesh, x, fabric)
    };
    let held = |vertex: u32, grip| PinDown { grip, ..PinDown::fixed(0, vec![vertex]) };
    let pins = vec![
        PinDown::fixed(0, shape.group("left").expect("border").to_vec()),
        held(20, Grip::Hard(Freedom::Line(DVec3::X))),
        held(30, Grip::Hard(Freedom::Plane(DVec3::new(0.6, 0.8, 0.0)))),
        held(40, Grip::Soft { stiffness: 30.0, damping: 0.1 }),
    ];
    let wind = WindField { velocity: DVec3::new(1.0, 0.5, 0.0), ..WindField::default() };
    let setup = Setup { cloths: vec![cloth], pins, wind, solver, substeps: 1, ..Setup::default() };
    let mut world = World::new(setup).expect("world");
    for vertex in 0..64 {
        let velocity = jolt(vertex as usize, 1);
        world.edit(&toile::Edit::Velocity { cloth: 0, vertex, velocity }).expect("edit");
    }
    world
}

/// With 200 sweeps the step is that of conjugate gradients.
#[test]
fn two_hundred_sweeps_are_the_linear_solve() {
    let cases = [
        (Jacobian::Rank1, Tangent::Paper),
        (Jacobian::Safe, Tangent::Safe),
        (Jacobian::Blend, Tangent::Blend(0.1)),
        (Jacobian::Scalar, Tangent::Blend(1.0)),
    ];
    for (jacobian, tangent) in cases {
        let exact =
            SolverSettings { integrator: Integrator::LinearEuler, tolerance: 1e-13, ..Default::default() };
        let after = |solver| {
            let mut world = crumpled(solver, tangent);
            world.step(0.01, &mut Probe::default()).expect("step");
            world.velocities(0)
        };
        let right = after(exact);
        let off = |found: &[DVec3]| {
            let squares = found.iter().zip(&right).map(|(a, b)| a.distance_squared(*b)).sum::<f64>();
            (squares / right.iter().map(|v| v.length_squared()).sum::<f64>()).sqrt()
        };
        let (few, many) = (off(&after(k02(free(1, jacobian)))), off(&after(k02(free(200, jacobian)))));
        assert!(few > 1e-3 && many < 1e-12, "{}: {few:e} after 1 sweep, {many:e} after 200", jacobian.name());
    }
}

/// Growth per step of a small disturbance in the plane of a sheet of 8 × 8 cells at h²κ/m = r.
fn growth(iterations: u32, r: f64) -> f64 {
    let shape = shapes::sheet(0.8, 0.8, 8, 8, Pattern::Structured).expect("shape");
    let mesh = Mesh::new(81, shape.faces, shape.rest).expect("mesh");
    let ends: Vec<[u32; 2]> = mesh.edges().iter().map(|e| e.ends).collect();
    let h = 0.01;
    let law = Spring {
        stiffness: vec![r / (h * h); ends.len()],
        rest_length: mesh.edges().iter().map(|e| mesh.rest_length(e)).collect(),
        damping: 0.0,
        tangent: Tangent::Paper,
        give: None,
    };
    let springs: Box<dyn ForceModel> =
        Box::new(Elements::new(81, &ends, &vec![[[1.0, -1.0]]; ends.len()], law));
    let mut freedom = vec![Freedom::Plane(DVec3::Y); 81];
    (freedom[0], freedom[8]) = (Freedom::Fixed, Freedom::Fixed);
    let start = shape.positions.clone();
    let model = Model {
        mass: vec![1.0; 81],
        freedom,
        forces: vec![springs],
        start: start.clone(),
        edge: 0.1,
        size: 0.8,
        ..Model::default()
    };
    let x: Vec<DVec3> = (0..81u64)
        .map(|i| {
            start[i as usize] + 1e-6 * DVec3::new(random::unit(1, i) - 0.5, 0.0, random::unit(2, i) - 0.5)
        })
        .collect();
    let mut island = Island::alone(model, State { x, v: vec![DVec3::ZERO; 81], ..State::default() });
    let settings = k02(free(iterations, Jacobian::Rank1));
    let mut sizes = Vec::new();
    for k in 0..400 {
        island.advance(&settings, f64::from(k) * h, h, &mut Probe::default()).expect("finite");
        sizes.push(island.now.x.iter().zip(&start).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max));
        if sizes[sizes.len() - 1] > 1e-4 {
            break;
        }
    }
    let half = sizes.len() / 2;
    let largest = |part: &[f64]| part.iter().copied().fold(0.0, f64::max);
    libm::pow(largest(&sizes[half..]) / largest(&sizes[..half]), 1.0 / half as f64)
}

/// Odd K never grows, even K does.
#[test]
fn odd_sweeps_never_grow() {
    for iterations in [1, 3, 5] {
        let odd = growth(iterations, 1e4);
        assert!(odd <= 1.0, "K = {iterations}: growth {odd}");
    }
    for iterations in [0, 2] {
        let even = growth(iterations, 1e4);
        assert!(even > 1.5, "K = {iterations}: growth {even}");
    }
}

#[test]
fn even_numbers_of_sweeps_are_rounded_up() {
    let sweeps = |iterations| K02Settings { iterations, ..K02Settings::default() }.sweeps();
    assert_eq!([0, 1, 2, 3, 4].map(sweeps), [1, 1, 3, 3, 5]);
    assert_eq!(free(2, Jacobian::Safe).sweeps(), 2);
}

/// Particles of 1 kg at `x`, moving, joined by weak springs in a row.
fn row(x: &[DVec3], v: &[DVec3], gravity: DVec3) -> Island {
    let n = x.len();
    let ends: Vec<[u32; 2]> = (1..n as u32).map(|i| [i - 1, i]).collect();
    let law = Spring {
        stiffness: vec![1e-12; ends.len()],
        rest_length: vec![1.0; ends.len()],
        damping: 0.0,
        tangent: Tangent::Paper,
        give: None,
    };
    let springs = Elements::new(n, &ends, &vec![[[1.0, -1.0]]; ends.len()], law);
    let model = Model {
        mass: vec![1.0; n],
        freedom: vec![Freedom::Free; n],
        forces: vec![Box::new(springs)],
        gravity,
        start: x.to_vec(),
        edge: 1.0,
        size: 1.0,
        ..Model::default()
    };
    Island::alone(model, State { x: x.to_vec(), v: v.to_vec(), ..State::default() })
}

/// E14: with damping as a force a body falls at mg/C_d in the end; as printed it never stops
/// gaining speed.
#[test]
fn terminal_velocity() {
    let fall = |damping_form| {
        let own = K02Settings {
            damping: Damping::ModelA,
            damping_form,
            coefficient: 2.0,
            ..K02Settings::default()
        };
        let mut island = row(&[DVec3::ZERO], &[DVec3::ZERO], DVec3::NEG_Y * 9.81);
        for k in 0..1200 {
            let h = 1.0 / 120.0;
            island.advance(&k02(own), f64::from(k) * h, h, &mut Probe::default()).expect("finite");
        }
        -island.now.v[0].y
    };
    let (consistent, paper) = (fall(DampingForm::Consistent), fall(DampingForm::Paper));
    assert!((consistent - 9.81 / 2.0).abs() < 1e-6, "{consistent} m/s");
    assert!((paper - 10.0 * 9.81 / (1.0 + 2.0 / 120.0)).abs() < 1e-6, "{paper} m/s");
}

/// Model B on two particles: implicit Euler on their relative velocity, u⁺ = u/(1 + 2hC/m); as printed nothing brakes.
#[test]
fn relative_damping() {
    let (h, coefficient) = (0.01, 30.0);
    let after = |damping_form| {
        let own =
            K02Settings { damping: Damping::ModelB, damping_form, coefficient, ..free(400, Jacobian::Safe) };
        let mut island = row(&[DVec3::ZERO, DVec3::X], &[DVec3::Y, DVec3::NEG_Y], DVec3::ZERO);
        island.advance(&k02(own), 0.0, h, &mut Probe::default()).expect("finite");
        island.now.v[0].y - island.now.v[1].y
    };
    let consistent = after(DampingForm::Consistent);
    assert!((consistent - 2.0 / (1.0 + 2.0 * h * coefficient)).abs() < 1e-12, "{consistent}");
    assert!((after(DampingForm::Paper) - 2.0).abs() < 1e-9);
}

/// Led pins are met exactly, and the same bits come out of any number of threads.
#[test]
fn pins_and_threads() {
    let run = |threads: usize| {
        let shape = shapes::sheet(1.0, 1.0, 50, 50, Pattern::Structured).expect("shape");
        let held = shape.group("left").expect("border").to_vec();
        let start = shape.positions.clone();
        let mesh = Mesh::new(start.len(), shape.faces, shape.rest).expect("mesh");
        let cloth = Cloth {
            stretching: Stretching::Springs(Tangent::Safe),
            bending: Bending::None,
            air: Air { normal: 1.0, quadratic: 0.6, ..Air::default() },
            ..Cloth::new("sheet", mesh, start.clone(), Fabric::default())
        };
        let wind = WindField { velocity: DVec3::new(2.0, 3.0, 1.0), ..WindField::default() };
        let pins = vec![PinDown::fixed(0, held.clone())];
        let solver = k02(K02Settings { iterations: 3, ..K02Settings::default() });
        let setup = Setup { cloths: vec![cloth], pins, wind, solver, substeps: 2, ..Setup::default() };
        let mut world = World::new(setup).expect("world");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        pool.install(|| (0..5).for_each(|_| world.step(1.0 / 60.0, &mut Probe::default()).expect("step")));
        let x = world.positions(0);
        assert!(held.iter().all(|v| x[*v as usize] == start[*v as usize]));
        world.fingerprint()
    };
    let one = run(1);
    assert!([2, 3, 7].iter().all(|threads| run(*threads) == one));
}

#[test]
fn what_it_cannot_step_is_refused() {
    let shape = shapes::sheet(1.0, 1.0, 2, 2, Pattern::Structured).expect("shape");
    let mesh = Mesh::new(9, shape.faces, shape.rest).expect("mesh");
    let cloths = vec![Cloth::new("flag", mesh, shape.positions, Fabric::default())];
    let solver = k02(K02Settings { blend: 2.0, ..K02Settings::default() });
    let refused =
        World::new(Setup { cloths, solver, ..Setup::default() }).err().expect("refused").to_string();
    for part in [
        "cloth `flag`: the integrator k02 cannot step a membrane; use model",
        "cannot step this model of bending",
        "k02 blend is 2",
    ] {
        assert!(refused.contains(part), "{refused}");
    }
}
