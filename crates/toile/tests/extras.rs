//! V00's alternatives against what they must agree with: a precomputed inverse with the linear solve, a solve that
//! favours a region with one that does not, Rosenbrock and hybrid steps with closed forms and converged ones.

use glam::DVec3;
use toile::drive::{Key, Motion};
use toile::forces::{Fabric, Tangent};
use toile::mesh::{Mesh, Pattern, shapes};
use toile::solve::krylov::{self, Method, Stop};
use toile::solve::{Accuracy, Integrator, LinearOperator, Preconditioner, PreconditionerKind};
use toile::{Air, Bending, Cloth, Edit, PinDown, Probe, Setup, SolverSettings, Stretching, World};

/// A sheet of 6 × 6 cells held by its left edge, pushed.
fn sheet(solver: SolverSettings, change: impl Fn(&mut Cloth, &mut Setup)) -> World {
    let shape = shapes::sheet(0.6, 0.6, 6, 6, Pattern::Jittered { amount: 0.2, seed: 4 }).expect("shape");
    let held = shape.group("left").expect("border").to_vec();
    let mesh = Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("mesh");
    let fabric = Fabric { stretch: [60.0.into(); 2], shear: 5.0.into(), ..Fabric::default() };
    let mut cloth = Cloth::new("sheet", mesh, shape.positions, fabric);
    let mut setup = Setup { pins: vec![PinDown::fixed(0, held)], solver, substeps: 1, ..Setup::default() };
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

/// A row of coupled particles.
struct Row(Vec<f64>);

impl LinearOperator for Row {
    fn len(&self) -> usize {
        self.0.len()
    }

    /// D H D t, with H = tridiagonal (−1, 2.1 + i/10, −1).
    fn apply(&mut self, t: &[DVec3], out: &mut [DVec3]) {
        let (d, n) = (&self.0, t.len());
        for i in 0..n {
            let mut sum = (2.1 + 0.1 * i as f64) * d[i] * t[i];
            for j in [i.wrapping_sub(1), i + 1].into_iter().filter(|j| *j < n) {
                sum -= d[j] * t[j];
            }
            out[i] = d[i] * sum;
        }
    }
}

/// V00-10: x = D (D H D)⁻¹ D y, iteration by iteration.
#[test]
fn accuracy_is_conjugate_gradients_on_d_h_d() {
    let wanted = Accuracy { min: DVec3::ZERO, max: DVec3::X * 4.5, weight: 10.0 };
    let places: Vec<DVec3> = (0..12).map(|i| DVec3::X * f64::from(i)).collect();
    let d: Vec<f64> = places.iter().map(|x| wanted.of(*x)).collect();
    let y: Vec<DVec3> = (0..12).map(|i| DVec3::new(1.0, f64::from(i), f64::from(i % 5))).collect();
    for max_iterations in [1, 3, 6] {
        let stop = Stop { scale: &[1.0; 12], limit: 0.0, max_iterations };
        let (mut plain, mut scaled) = (Vec::new(), Vec::new());
        let by_accuracy = Preconditioner::by_accuracy(&wanted, &places);
        krylov::solve(Method::Cg, &mut Row(vec![1.0; 12]), &by_accuracy, &y, &mut plain, &stop);
        let dy: Vec<DVec3> = y.iter().zip(&d).map(|(y, d)| *d * *y).collect();
        krylov::solve(Method::Cg, &mut Row(d.clone()), &Preconditioner::Identity, &dy, &mut scaled, &stop);
        for i in 0..12 {
            assert!(plain[i].distance(d[i] * scaled[i]) < 1e-10 * plain[i].length(), "{max_iterations}: {i}");
        }
    }
}

/// The accuracy wanted decides where a solve that stops early errs, not where it ends.
#[test]
fn accuracy_changes_no_answer() {
    let wanted = Accuracy { min: DVec3::splat(-1.0), max: DVec3::new(1.0, 1.0, 0.3), weight: 10.0 };
    let solver = |preconditioner| SolverSettings {
        integrator: Integrator::LinearEuler,
        accuracy: wanted,
        preconditioner,
        tolerance: 1e-12,
        ..SolverSettings::default()
    };
    let step = |kind| run(sheet(solver(kind), |_, _| {}), 0.01, 1);
    let (right, found) = (step(PreconditionerKind::Cholesky), step(PreconditionerKind::Accuracy));
    assert!(off(&right, &found) < 1e-9, "{:e}", off(&right, &found));
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
        let order = libm::log2(coarse / fine);
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
