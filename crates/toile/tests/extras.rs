//! V00's alternatives against what they must agree with: a precomputed inverse with the linear solve, a solve that
//! favours a region with one that does not, Rosenbrock and hybrid steps with closed forms and converged ones.

use glam::DVec3;
use toile::drive::{Key, Motion};
use toile::forces::{Fabric, Tangent};
use toile::mesh::{Mesh, Pattern, shapes};
use toile::solve::{Accuracy, Integrator, PreconditionerKind};
use toile::{Air, Bending, Cloth, Edit, PinDown, Probe, Setup, SolverSettings, Stretching, World};

/// A sheet of 6 × 6 cells held by its left edge, pushed.
fn sheet(solver: SolverSettings, change: impl Fn(&mut Cloth, &mut Setup)) -> World {
    let shape = shapes::sheet(0.6, 0.6, 6, 6, Pattern::Jittered { amount: 0.2, seed: 4 }).expect("shape");
    let held = shape.group("left").expect("border").to_vec();
    let mesh = Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("mesh");
    let fabric = Fabric { stretch: [60.0.into(); 2], shear: 5.0.into(), ..Fabric::default() };
    let mut cloth = Cloth::new("sheet", mesh, shape.positions, fabric);
    let mut setup =
        Setup { pins: vec![PinDown::fixed(0, held)], solver, substeps: 1, ..Setup::default() };
    change(&mut cloth, &mut setup);
    setup.cloths.push(cloth);
    let mut world = World::new(setup).expect("world");
    for vertex in 20..40 {
        let velocity = DVec3::new(0.1, 0.5, -0.2) * f64::from(vertex % 3);
        world.edit(&Edit::Velocity { cloth: 0, vertex, velocity }).expect("edit");
    }
    world
}

fn run(mut world: World, dt: f64, steps: usize) -> World {
    (0..steps).for_each(|_| world.step(dt, &mut Probe::default()).expect("step"));
    world
}

fn off(a: &World, b: &World) -> f64 {
    a.velocities(0).iter().zip(b.velocities(0)).map(|(a, b)| a.distance(b)).fold(0.0, f64::max)
}

/// V00-12: with isotropic springs the matrix is constant, and its inverse gives the steps of the linear solve.
#[test]
fn a_precomputed_inverse_steps_like_the_linear_solve() {
    let springs = |cloth: &mut Cloth, _: &mut Setup| {
        cloth.stretching = Stretching::Springs(Tangent::Blend(1.0));
        cloth.air = Air { drag: 0.2, ..Air::default() };
    };
    let solver = |integrator| SolverSettings { integrator, tolerance: 1e-12, ..SolverSettings::default() };
    let exact = run(sheet(solver(Integrator::LinearEuler), springs), 0.01, 5);
    let whole = run(sheet(solver(Integrator::Precomputed), springs), 0.01, 5);
    assert!(off(&exact, &whole) < 1e-9, "{:e} m/s", off(&exact, &whole));
    let cut = |inverse_iterations| {
        let solver = SolverSettings { inverse_iterations, ..solver(Integrator::Precomputed) };
        off(&exact, &run(sheet(solver, springs), 0.01, 5))
    };
    let (few, more) = (cut(2), cut(8));
    assert!(more < few && few < 1.0, "{few} m/s with K = 2, {more} m/s with K = 8");
}

#[test]
fn a_precomputed_inverse_refuses_what_changes() {
    let refused = std::panic::catch_unwind(|| {
        sheet(SolverSettings { integrator: Integrator::Precomputed, ..Default::default() }, |_, _| {})
    });
    assert!(refused.is_err());
}

/// V00-10: the accuracy wanted decides where a solve that stops early errs, not where it ends.
#[test]
fn accuracy_decides_where_a_solve_errs() {
    let wanted = Accuracy { min: DVec3::splat(-1.0), max: DVec3::new(1.0, 1.0, 0.3), weight: 10.0 };
    let solver = |preconditioner, max_iterations| SolverSettings {
        integrator: Integrator::LinearEuler,
        accuracy: wanted,
        preconditioner,
        max_iterations,
        tolerance: 1e-12,
        ..SolverSettings::default()
    };
    let step = |kind, iterations| run(sheet(solver(kind, iterations), |_, _| {}), 0.01, 1);
    let right = step(PreconditionerKind::Cholesky, 20_000);
    let converged = step(PreconditionerKind::Accuracy, 20_000);
    assert!(off(&right, &converged) < 1e-9, "{:e}", off(&right, &converged));
    let ratio = |kind| {
        let (v, truth, x) = (step(kind, 6).velocities(0), right.velocities(0), &right.cloths()[0].positions);
        let error = |inside: bool| {
            let part = (0..v.len()).filter(|i| (wanted.of(x[*i]) > 1.0) == inside);
            part.map(|i| v[i].distance_squared(truth[i])).sum::<f64>().sqrt()
        };
        error(false) / error(true)
    };
    let (plain, weighted) = (ratio(PreconditionerKind::None), ratio(PreconditionerKind::Accuracy));
    assert!(weighted > 1.5 * plain, "outside over inside: {plain} without, {weighted} with D");
}

/// Free fall is a parabola for every Runge–Kutta method of second order or more, whatever its matrix.
#[test]
fn rosenbrock_and_hybrid_fall_on_a_parabola() {
    for integrator in [Integrator::Rosenbrock, Integrator::Hybrid] {
        let solver = SolverSettings { integrator, ..SolverSettings::default() };
        let free = |_: &mut Cloth, setup: &mut Setup| setup.pins.clear();
        let mut world = sheet(solver, free);
        let still = |vertex| Edit::Velocity { cloth: 0, vertex, velocity: DVec3::ZERO };
        (20..40).for_each(|v| world.edit(&still(v)).expect("edit"));
        let before = world.momentum().1;
        let world = run(world, 1.0 / 60.0, 30);
        let off = world.momentum().1 - (before - DVec3::Y * (0.5 * 9.81 * 0.25));
        assert!(off.length() < 1e-9, "{}: {off} off", integrator.name());
    }
}

/// Third order, though the tangents are not the derivatives (V00-16), and without bending and air in them (V00-23).
#[test]
fn rosenbrock_and_hybrid_are_of_third_order() {
    for integrator in [Integrator::Rosenbrock, Integrator::Hybrid] {
        let end = |steps: usize| {
            let solver = SolverSettings {
                integrator,
                rosenbrock_tolerance: 1e3,
                tolerance: 1e-9,
                ..SolverSettings::default()
            };
            let windy = |cloth: &mut Cloth, _: &mut Setup| cloth.air = Air { normal: 1.0, ..Air::default() };
            run(sheet(solver, windy), 0.1 / steps as f64, steps).positions(0)
        };
        let right = end(1600);
        let error = |steps| end(steps).iter().zip(&right).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        let (coarse, fine) = (error(100), error(200));
        let order = (coarse / fine).log2();
        assert!((order - 3.0).abs() < 0.3, "{}: order {order}, {coarse:e} m, {fine:e} m", integrator.name());
    }
}

/// Led pins are met exactly, also in steps that the tolerance cuts; and a run goes on from a snapshot with the same bits.
#[test]
fn rosenbrock_follows_pins_and_resumes() {
    let solver = SolverSettings {
        integrator: Integrator::Rosenbrock,
        rosenbrock_tolerance: 1e-6,
        ..SolverSettings::default()
    };
    let led = |_: &mut Cloth, setup: &mut Setup| {
        let key = |time, x| Key { time, translate: DVec3::X * x, rotate: DVec3::ZERO, scale: DVec3::ONE };
        let basis = glam::DMat3::IDENTITY;
        setup.pins[0].motion = Motion { keys: vec![key(0.0, 0.0), key(0.1, 0.05)], basis, ..Motion::still() };
    };
    let mut world = run(sheet(solver, led), 0.02, 3);
    let snapshot = world.snapshot();
    world = run(world, 0.02, 2);
    let x = world.positions(0)[0];
    assert!((x - DVec3::X * 0.05).length() < 1e-12, "{x}");
    let mut again = sheet(solver, led);
    again.restore(snapshot).expect("same scene");
    assert_eq!(run(again, 0.02, 2).fingerprint(), world.fingerprint());
}

/// The hybrid needs no bending in its matrix: cloth without any still moves, and springs count as membrane.
#[test]
fn the_hybrid_steps_springs_too() {
    let solver = SolverSettings { integrator: Integrator::Hybrid, ..SolverSettings::default() };
    let springs = |cloth: &mut Cloth, _: &mut Setup| {
        (cloth.stretching, cloth.bending) = (Stretching::Springs(Tangent::Safe), Bending::None);
    };
    let world = run(sheet(solver, springs), 0.005, 20);
    assert!(world.momentum().1.y < -0.01);
}
