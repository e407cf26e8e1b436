//! Integrators on an oscillator, where all is known: what each reading of B14 does, what λ keeps, errors and steps that
//! follow them, and what is said about explicit steps that are too long.

use glam::DVec3;
use toile::forces::{Spring, Tangent};
use toile::interaction::Elements;
use toile::mesh::{Mesh, Pattern, shapes};
use toile::model::Model;
use toile::solve::{Integrator, LambdaRhs};
use toile::state::State;
use toile::step::Island;
use toile::{Cloth, Fabric, Freedom, Grip, PinDown, Probe, Setup, SolverSettings, World};

const EXPLICIT: [Integrator; 6] = [
    Integrator::Verlet,
    Integrator::Heun,
    Integrator::Symplectic,
    Integrator::Literal,
    Integrator::Midpoint,
    Integrator::Rk4,
];

fn settings(integrator: Integrator) -> SolverSettings {
    SolverSettings { integrator, ..SolverSettings::default() }
}

/// A kilogram on a spring of ω² [N/m] that runs along x from a fixed end, one metre long.
fn oscillator(square: f64, x: DVec3, gravity: DVec3) -> Island {
    let law = Spring {
        stiffness: vec![square],
        rest_length: vec![1.0],
        damping: 0.0,
        tangent: Tangent::Exact,
        give: None,
    };
    let start = vec![DVec3::ZERO, x];
    let model = Model {
        mass: vec![1.0; 2],
        freedom: vec![Freedom::Fixed, Freedom::Free],
        forces: vec![Box::new(Elements::new(2, &[[0, 1]], &[[[1.0, -1.0]]], law))],
        gravity,
        start: start.clone(),
        edge: 1.0,
        size: 1.0,
        ..Model::default()
    };
    Island::alone(model, State { x: start, v: vec![DVec3::ZERO; 2], ..State::default() })
}

fn advance(island: &mut Island, solver: &SolverSettings, dt: f64, steps: usize) -> Probe<'static> {
    let mut probe = Probe::default();
    for k in 0..steps {
        island.advance(solver, k as f64 * dt, dt, &mut probe).expect("a finite step");
    }
    probe
}

fn sheet(n: usize, solver: SolverSettings, pins: Vec<PinDown>) -> World {
    let shape = shapes::sheet(1.0, 1.0, n, n, Pattern::Structured).expect("shape");
    let mesh = Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("mesh");
    let cloths = vec![Cloth::new("sheet", mesh, shape.positions, Fabric::default())];
    World::new(Setup { cloths, pins, solver, substeps: 1, ..Setup::default() }).expect("world")
}

/// Free fall for a second in 1000 steps. The literal reading falls at g/2.
#[test]
fn free_fall_of_every_reading() {
    for (integrator, speed, way, off) in [
        (Integrator::Literal, 4.905, 2.455, 5e-4),
        (Integrator::Symplectic, 9.81, 4.910, 5e-4),
        (Integrator::Heun, 9.81, 4.905, 1e-9),
        (Integrator::Verlet, 9.81, 4.905, 1e-9),
        (Integrator::Midpoint, 9.81, 4.905, 1e-9),
        (Integrator::Rk4, 9.81, 4.905, 1e-9),
    ] {
        let mut island = oscillator(0.0, DVec3::X, DVec3::NEG_Y * 9.81);
        advance(&mut island, &settings(integrator), 1e-3, 1000);
        let State { x, v, .. } = &island.now;
        assert!((v[1].y + speed).abs() < 1e-9, "{}: {}", integrator.name(), v[1]);
        assert!((x[1].y + way).abs() < off, "{}: {}", integrator.name(), x[1]);
    }
}

/// ω = 2π: observed order, and the energy left after 50 periods of 200 steps.
#[test]
fn orders_and_energy_of_an_oscillator() {
    let omega = std::f64::consts::TAU;
    let after = |integrator, steps: usize, time: f64| {
        let mut island = oscillator(omega * omega, DVec3::X * 1.1, DVec3::ZERO);
        advance(&mut island, &settings(integrator), time / steps as f64, steps);
        let (x, v) = (island.now.x[1].x - 1.0, island.now.v[1].x);
        (x / 0.1, (omega * omega * x * x + v * v) / (omega * omega * 0.01))
    };
    for (integrator, order, energy, off) in [
        (Integrator::Symplectic, 1.0, 0.9996, 1e-3),
        (Integrator::Heun, 2.0, 1.0024, 1e-4),
        (Integrator::Verlet, 2.0, 1.0000, 1e-3),
        (Integrator::Midpoint, 2.0, 1.0024, 1e-4),
        (Integrator::Rk4, 4.0, 1.0000, 1e-4),
    ] {
        let right = libm::cos(omega * 0.8);
        let error = |n| (after(integrator, n, 0.8).0 - right).abs();
        let observed = libm::log2(error(320) / error(640));
        assert!((observed - order).abs() < 0.15, "{}: order {observed}", integrator.name());
        let left = after(integrator, 10_000, 50.0).1;
        assert!((left - energy).abs() < off, "{}: energy {left}", integrator.name());
    }
    // As printed it swings with ω/√2, to no order.
    let (there, _) = after(Integrator::Literal, 20_000, 0.8);
    assert!((there - libm::cos(omega * 0.8 / 2f64.sqrt())).abs() < 1e-3);
}

/// Size of the root of (1 − z) ζ² − (1 − λ) ζ − λ (1 + z) with z = i θ that is near e^z: what a step of the λ-midpoint
/// does to an oscillation, by the formula for quadratics in complex numbers.
fn principal_root(lambda: f64, theta: f64) -> f64 {
    let times = |a: [f64; 2], b: [f64; 2]| [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
    let square = times([1.0, -theta], [lambda, lambda * theta]);
    let under = [(1.0 - lambda) * (1.0 - lambda) + 4.0 * square[0], 4.0 * square[1]];
    let size = libm::hypot(under[0], under[1]);
    let root = [(0.5 * (size + under[0])).sqrt(), (0.5 * (size - under[0])).sqrt().copysign(under[1])];
    libm::hypot(1.0 - lambda + root[0], root[1]) / (2.0 * libm::hypot(1.0, theta))
}

/// V00-15: energy that the λ-midpoint leaves after 20 periods, next to that of its own recurrence, whose damping is
/// close to exp(−(1 − λ)/(1 + λ) ω²ht); the right-hand side as printed damps like λ = 0 at every λ (E2).
#[test]
fn lambda_keeps_energy() {
    let omega = std::f64::consts::TAU;
    let left = |lambda: f64, lambda_rhs, per_second: usize| {
        let mut island = oscillator(omega * omega, DVec3::X * 1.1, DVec3::ZERO);
        let solver = SolverSettings {
            integrator: Integrator::LambdaMidpoint,
            lambda,
            lambda_rhs,
            tolerance: 1e-12,
            ..SolverSettings::default()
        };
        advance(&mut island, &solver, 1.0 / per_second as f64, 20 * per_second);
        let (x, v) = (island.now.x[1].x - 1.0, island.now.v[1].x);
        (omega * omega * x * x + v * v) / (omega * omega * 0.01)
    };
    for per_second in [200, 100, 50] {
        for lambda in [0.0, 0.5, 0.8, 0.9, 1.0] {
            let found = left(lambda, LambdaRhs::Corrected, per_second);
            let root = principal_root(lambda, omega / per_second as f64);
            let energy = libm::pow(root, 40.0 * per_second as f64);
            assert!(
                (found / energy - 1.0).abs() < 0.05,
                "λ = {lambda}, {per_second} steps: {found} for {energy}"
            );
        }
        // In small steps, and as a damping that can be told to users.
        let half = left(0.5, LambdaRhs::Corrected, 2 * per_second);
        let rule = libm::exp(-20.0 * omega * omega / (3.0 * 2.0 * per_second as f64));
        assert!((half / rule - 1.0).abs() < 0.05, "{per_second} steps: {half} for {rule}");
    }
    for lambda in [0.0, 0.5, 0.8, 0.9] {
        let found = left(lambda, LambdaRhs::Printed, 200);
        assert!(
            (found / left(0.0, LambdaRhs::Corrected, 200) - 1.0).abs() < 0.05,
            "as printed, λ = {lambda}: {found}"
        );
    }
}

/// Swings at 0.99 of the limit stay bounded, at 1.01 they grow.
#[test]
fn the_longest_step_is_where_swings_start_to_grow() {
    for (integrator, limit) in [
        (Integrator::Verlet, 2.0),
        (Integrator::Symplectic, 2.0),
        (Integrator::Literal, 8f64.sqrt()),
        (Integrator::Rk4, 2.785),
    ] {
        let start = || oscillator(1e4, DVec3::X * 1.001, DVec3::ZERO);
        let longest = start().longest_step(integrator, 0.0, 1e-3);
        assert!((longest - limit / 100.0).abs() < 1e-4 * longest, "{}: {longest}", integrator.name());
        let size = |part: f64| {
            let mut island = start();
            let (solver, dt) = (settings(integrator), part * longest);
            let lost = (0..300).any(|_| island.advance(&solver, 0.0, dt, &mut Probe::default()).is_err());
            if lost { f64::INFINITY } else { (island.now.x[1].x - 1.0).abs() }
        };
        assert!(size(0.99) < 0.02, "{}: {}", integrator.name(), size(0.99));
        assert!(integrator == Integrator::Rk4 || size(1.01) > 0.1, "{}: {}", integrator.name(), size(1.01));
        assert!(integrator != Integrator::Rk4 || size(1.05) > 0.1, "{}", size(1.05));
    }
    assert_eq!(
        oscillator(1.0, DVec3::X, DVec3::ZERO).longest_step(Integrator::Bdf2, 0.0, 1.0),
        f64::INFINITY
    );
}

/// A step that is too long ends in an error that says so, and the world is as it was.
#[test]
fn a_step_that_is_too_long_is_told() {
    let held = vec![PinDown::fixed(0, (0..7).map(|k| 7 * k).collect())];
    for integrator in [Integrator::Verlet, Integrator::Symplectic, Integrator::Rk4] {
        let mut world = sheet(6, settings(integrator), held.clone());
        let longest = world.longest_step();
        assert!(longest > 1e-4 && longest < 1e-2, "{longest}");
        let mut probe = Probe::default();
        let error = (0..2000).find_map(|_| world.step(4.0 * longest, &mut probe).err());
        let text = error.expect("it blows up").to_string();
        assert!(text.contains("`sheet`") && text.contains("stable up to about"), "{text}");
        assert!(
            text.contains("solver.substeps") && world.positions(0).iter().all(|p| p.is_finite()),
            "{text}"
        );
        // At two thirds of the limit it hangs for a while.
        let mut world = sheet(6, settings(integrator), held.clone());
        for _ in 0..200 {
            world.step(longest / 1.5, &mut probe).expect("stable");
        }
    }
}

/// V97-7: the estimate is the error of the single step, and steps follow it (V97-9).
#[test]
fn errors_are_estimated_and_steps_follow_them() {
    let start = || oscillator(40.0, DVec3::X * 1.0, DVec3::NEG_Y * 9.81);
    let end = |dt: f64, steps: usize| {
        let mut island = start();
        advance(&mut island, &settings(Integrator::Rk4), dt, steps);
        (island.now.x[1], island.now.v[1])
    };
    let mut island = start();
    let loose = SolverSettings { error_limit: 1.0, ..settings(Integrator::Rk4) };
    let probe = advance(&mut island, &loose, 0.05, 1);
    let ((x, v), (right, speed)) = (end(0.05, 1), end(5e-5, 1000));
    let truth = (x.distance_squared(right) + 0.05 * 0.05 * v.distance_squared(speed)).sqrt();
    let ratio = probe.counters.step_error / truth;
    assert!(ratio > 0.85 && ratio < 1.15, "estimate over true error: {ratio}");
    assert_eq!(probe.counters.evaluations, 11);
    for limit in [1e-4, 1e-7, 1e-10] {
        for integrator in [Integrator::Rk4, Integrator::Verlet] {
            let run = || {
                let mut island = start();
                let tight = SolverSettings { error_limit: limit, ..settings(integrator) };
                let probe = advance(&mut island, &tight, 0.1, 10);
                (island.now.x[1], probe.counters)
            };
            let (x, counters) = run();
            assert!(counters.step_error <= limit && counters.rejected > 0);
            let off = x.distance(end(1e-4, 10_000).0);
            assert!(off < 2e3 * limit, "{}: {off} at {limit}", integrator.name());
            assert_eq!(run().0, x);
        }
    }
}

/// Pins and freedoms hold to the last bit, with every explicit integrator and correction at work.
#[test]
fn pins_and_freedoms_are_honoured() {
    use toile::drive::{Key, Motion};
    use toile::solve::{Corrections, PositionCorrection, StrainLimit};
    let key = |time, x| Key { time, translate: DVec3::X * x, rotate: DVec3::ZERO, scale: DVec3::ONE };
    let basis = glam::DMat3::IDENTITY;
    let moving = Motion { keys: vec![key(0.0, 0.0), key(1.0, 0.3)], basis, ..Motion::still() };
    for integrator in EXPLICIT {
        for kinematic in [false, true] {
            let corrections = Corrections {
                position: PositionCorrection::Relative,
                threshold: 1e-5,
                strain: StrainLimit::Strict,
                strain_limit: 1e-3,
                damping_time: 0.01,
                kinematic,
                ..Corrections::default()
            };
            let pins = vec![
                PinDown { motion: moving.clone(), ..PinDown::fixed(0, vec![0]) },
                PinDown { grip: Grip::Hard(Freedom::Plane(DVec3::Z)), ..PinDown::fixed(0, vec![4]) },
                PinDown { grip: Grip::Hard(Freedom::Line(DVec3::Y)), ..PinDown::fixed(0, vec![24]) },
            ];
            let mut world = sheet(4, SolverSettings { corrections, ..settings(integrator) }, pins);
            let start = world.positions(0);
            let dt = 0.2 * world.longest_step();
            let steps = 60;
            let mut probe = Probe::default();
            for _ in 0..steps {
                world.step(dt, &mut probe).expect("step");
            }
            let (x, name) = (world.positions(0), integrator.name());
            assert!(probe.counters.corrected > 0, "{name}");
            let lead = DVec3::X * (0.3 * world.time());
            assert!(x[0].distance(start[0] + lead) < 1e-12, "{name}: {}", x[0]);
            assert!((x[4].z - start[4].z).abs() < 1e-12, "{name}: {}", x[4]);
            assert!(
                (x[24].x - start[24].x).abs() + (x[24].z - start[24].z).abs() < 1e-12,
                "{name}: {}",
                x[24]
            );
        }
    }
}
