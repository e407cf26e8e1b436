//! Cloth that remembers: creases, friction between yarns, lengths that stay. Nothing changes below the limits, loops have
//! the width that was asked for, no energy appears, and every bit comes back after a resume.

use glam::DVec3;
use toile::forces::bending::{Recon, ReconOptions, Rigidity};
use toile::forces::{Membrane, Spring, Strain, Tangent};
use toile::interaction::{ForceModel, Interactions, Memory, Mix, Moment};
use toile::mesh::{Mesh, Pattern, Shape, shapes};
use toile::solve::Integrator;
use toile::testing::laws::shake;
use toile::{Bending, Cloth, Fabric, PinDown, Probe, Setup, SolverSettings, Stretching, World, Yield};

/// Every kind of memory, with limits that a hanging sheet reaches.
fn forgetless() -> Fabric {
    Fabric {
        crease: Some(Yield { limit: 0.5, hardening: 0.1 }),
        set: Some(Yield { limit: 2e-5, hardening: 0.2 }),
        bend_hysteresis: [4e-5, 2e-5],
        bend_onset: 0.5,
        shear_hysteresis: 0.02,
        shear_onset: 2e-4,
        damping: 1e-3,
        ..Fabric::default()
    }
}

fn mesh(shape: &Shape) -> Mesh {
    Mesh::new(shape.positions.len(), shape.faces.clone(), shape.rest.clone()).expect("a sound mesh")
}

fn small() -> Shape {
    shapes::sheet(0.1, 0.08, 5, 4, Pattern::Delaunay { seed: 3 }).expect("a sound shape")
}

fn families(fabric: &Fabric) -> Vec<Box<dyn ForceModel>> {
    let mesh = mesh(&small());
    let recon = |[warp, weft, coupling, twist]: [f64; 4], give| {
        let options = ReconOptions { give, ..ReconOptions::default() };
        Box::new(Recon::new(&mesh, Rigidity { warp, weft, coupling, twist }, &options))
    };
    let (stiffness, give) = fabric.bending_friction().expect("friction");
    vec![
        recon(fabric.bending_stiffness(), fabric.creasing()),
        recon(stiffness, Some(give)),
        Box::new(Membrane::elements(&mesh, fabric, Strain::Green)),
        Box::new(Spring::elements(&mesh, fabric, Tangent::Safe)),
    ]
}

fn forces(model: &dyn ForceModel, x: &[DVec3], memory: &[Memory]) -> Vec<DVec3> {
    let mut answer = Interactions::default();
    let mut out = vec![DVec3::ZERO; x.len()];
    let still = vec![DVec3::ZERO; x.len()];
    model.respond(Moment { x, v: &still, memory }, Mix::NONE, &[], &mut answer);
    model.coupling().scatter(&answer.force, &mut out);
    out
}

fn energy(model: &dyn ForceModel, x: &[DVec3], memory: &[Memory]) -> f64 {
    model.energy(Moment { x, v: &vec![DVec3::ZERO; x.len()], memory })
}

fn remembered(model: &dyn ForceModel, x: &[DVec3], before: &[Memory]) -> Vec<Memory> {
    let mut memory = Vec::new();
    model.remember(Moment { x, v: &vec![DVec3::ZERO; x.len()], memory: before }, &mut memory);
    memory
}

fn shaken(seed: u64, amount: f64) -> Vec<DVec3> {
    small().positions.iter().enumerate().map(|(i, p)| *p + shake(seed, i, amount)).collect()
}

/// With any memory, forces are minus the gradient of the energy, and what is remembered then changes no force.
#[test]
fn forces_follow_from_the_energy_and_memory_makes_no_jump() {
    for (number, model) in families(&forgetless()).iter().enumerate() {
        let memory = remembered(model.as_ref(), &shaken(1, 0.004), &[]);
        assert_eq!(memory.len(), model.remembering());
        assert!(memory.iter().flatten().any(|m| *m != 0.0), "family {number} remembers nothing");
        let x = shaken(2, 0.004);
        let f = forces(model.as_ref(), &x, &memory);
        let size = f.iter().map(|f| f.length()).fold(0.0, f64::max);
        for i in 0..x.len() {
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let at = |by: f64| {
                    let mut y = x.clone();
                    y[i] += axis * by;
                    energy(model.as_ref(), &y, &memory)
                };
                let slope = (at(1e-8) - at(-1e-8)) / 2e-8;
                let off = (slope + f[i].dot(axis)).abs();
                assert!(off < 1e-5 * size, "family {number}, particle {i}: {slope} {}", f[i].dot(axis));
            }
        }
        let after = remembered(model.as_ref(), &x, &memory);
        let g = forces(model.as_ref(), &x, &after);
        let jump = f.iter().zip(&g).map(|(f, g)| f.distance(*g)).fold(0.0, f64::max);
        assert!(jump < 1e-11 * size, "family {number} jumps by {jump}");
        assert!(energy(model.as_ref(), &x, &after) <= energy(model.as_ref(), &x, &memory));
    }
}

/// Deformed along random ways that come back, cloth never returns more than was put in.
#[test]
fn closed_loops_cost_work() {
    for (number, model) in families(&forgetless()).iter().enumerate() {
        let rest = small().positions;
        let (mut x, mut memory, mut work) = (rest.clone(), Vec::new(), 0.0);
        for corner in 0..30 {
            let (from, goal) =
                (x.clone(), if corner % 3 == 2 { rest.clone() } else { shaken(corner, 0.003) });
            for n in 1..=40 {
                let before = x.clone();
                for i in 0..x.len() {
                    x[i] = from[i].lerp(goal[i], f64::from(n) / 40.0);
                }
                // The middle of the way: second order, like the way itself.
                let middle: Vec<DVec3> = x.iter().zip(&before).map(|(a, b)| 0.5 * (*a + *b)).collect();
                let f = forces(model.as_ref(), &middle, &memory);
                work -= (0..x.len()).fold(0.0, |sum, i| sum + f[i].dot(x[i] - before[i]));
                memory = remembered(model.as_ref(), &x, &memory);
            }
            let stored = energy(model.as_ref(), &x, &memory);
            assert!(work >= 0.999 * stored, "family {number}, corner {corner}: {work} for {stored}");
            if corner % 3 == 2 {
                assert!(work > 1.5 * stored, "family {number}: a loop beyond the limits costs");
            }
        }
    }
}

/// Moment per width [N] of a sheet rolled to curvature `k`, by virtual work, with the memory of the way there.
fn moment(
    models: &[Box<dyn ForceModel>],
    rest: &[DVec3],
    area: f64,
    k: f64,
    memory: &mut [Vec<Memory>],
) -> f64 {
    let rolled = |k: f64| -> Vec<DVec3> {
        let place = |p: &DVec3| {
            let (sine, cosine) = libm::sincos(k * p.x);
            if k == 0.0 { *p } else { DVec3::new(sine / k, (1.0 - cosine) / k, p.z) }
        };
        rest.iter().map(place).collect()
    };
    let (x, ahead, behind) = (rolled(k), rolled(k + 1e-3), rolled(k - 1e-3));
    models.iter().zip(memory).fold(0.0, |sum, (model, memory)| {
        let f = forces(model.as_ref(), &x, memory);
        *memory = remembered(model.as_ref(), &x, memory);
        sum - (0..x.len()).fold(0.0, |sum, i| sum + f[i].dot(ahead[i] - behind[i])) / (2e-3 * area)
    })
}

/// KES's pure bending: the loop between ±250 1/m is 2HB wide, along warp and weft, and B steep.
#[test]
fn bending_loops_have_the_width_that_was_asked_for() {
    let fabric =
        Fabric { bend: 8e-6.into(), bend_hysteresis: [6e-4, 3e-4], bend_onset: 25.0, ..Fabric::default() };
    for weft in [false, true] {
        let mut shape =
            shapes::sheet(0.01, 0.01, 20, 20, Pattern::Jittered { amount: 0.2, seed: 2 }).expect("shape");
        if weft {
            shape.rest.iter_mut().flatten().for_each(|p| *p = p.perp());
        }
        let mesh = mesh(&shape);
        let recon = |[warp, weft, coupling, twist]: [f64; 4], give| -> Box<dyn ForceModel> {
            let options = ReconOptions { give, ..ReconOptions::default() };
            Box::new(Recon::new(&mesh, Rigidity { warp, weft, coupling, twist }, &options))
        };
        let (stiffness, give) = fabric.bending_friction().expect("friction");
        let models = [recon(fabric.bending_stiffness(), None), recon(stiffness, Some(give))];
        // Faces at the ends bend for nothing: no moment crosses a free border.
        let area = moment(&models[..1], &shape.positions, 1.0, 10.0, &mut [Vec::new()]) / (8e-6 * 10.0);
        assert!((area / 1e-4 - 0.95).abs() < 0.02, "{area:e}");
        let mut memory = vec![Vec::new(); 2];
        let mut branch = |from: i32, to: i32| -> Vec<(i32, f64)> {
            let step = (to - from).signum() * 10;
            let stops = (1..=(to - from) / step).map(|n| from + n * step);
            stops.map(|k| (k, moment(&models, &shape.positions, area, f64::from(k), &mut memory))).collect()
        };
        branch(0, 250);
        let down = branch(250, -250);
        let up = branch(-250, 250);
        let at = |branch: &[(i32, f64)], k: i32| branch.iter().find(|(at, _)| *at == k).expect("a stop").1;
        let want = fabric.bend_hysteresis[usize::from(weft)];
        for k in [-100, -50, 0, 50, 100] {
            let width = at(&up, k) - at(&down, k);
            assert!((width / want - 1.0).abs() < 0.01, "weft {weft}, {k}: {width:e}, not {want:e}");
        }
        let slope = (at(&up, 150) - at(&up, 50)) / 100.0;
        assert!((slope / 8e-6 - 1.0).abs() < 0.02, "{slope:e}");
        assert!((at(&up, 250) + at(&down, -250)).abs() < 1e-9);
    }
}

fn hanging(fabric: Fabric, stretching: Stretching, integrator: Integrator, n: usize, substeps: u32) -> World {
    let shape = shapes::sheet(0.3, 0.3, n, n, Pattern::Jittered { amount: 0.2, seed: 5 }).expect("shape");
    let held = shape.group("left").expect("border").to_vec();
    let mesh = mesh(&shape);
    let mut cloth = Cloth { stretching, ..Cloth::new("sheet", mesh, shape.positions, fabric) };
    if integrator == Integrator::K02 {
        cloth.bending = Bending::None;
    }
    let pins = vec![PinDown::clamped(0, held)];
    let solver = SolverSettings { integrator, ..SolverSettings::default() };
    World::new(Setup { cloths: vec![cloth], pins, solver, substeps, ..Setup::default() }).expect("world")
}

fn run(world: &mut World, frames: usize) -> u64 {
    for _ in 0..frames {
        world.step(1.0 / 60.0, &mut Probe::default()).expect("step");
    }
    world.fingerprint()
}

fn substeps(integrator: Integrator) -> u32 {
    if integrator.is_explicit() { 400 } else { 2 }
}

const BOTH: [Stretching; 2] = [Stretching::Membrane(Strain::Green), Stretching::Springs(Tangent::Safe)];

/// Limits that are never reached change no bit, with any integrator.
#[test]
fn below_its_limits_cloth_is_elastic_bit_for_bit() {
    let plain = Fabric { damping: 1e-3, ..Fabric::default() };
    let tough = Fabric {
        crease: Some(Yield { limit: 1e4, hardening: 0.1 }),
        set: Some(Yield { limit: 10.0, hardening: 0.0 }),
        ..plain
    };
    for &integrator in Integrator::ALL {
        for stretching in BOTH {
            let springs = matches!(stretching, Stretching::Springs(_));
            if integrator == Integrator::K02 || integrator == Integrator::Precomputed && !springs {
                continue;
            }
            let print =
                |fabric| run(&mut hanging(fabric, stretching, integrator, 8, substeps(integrator)), 3);
            assert_eq!(print(tough), print(plain), "{} {stretching:?}", integrator.name());
        }
    }
}

/// Every integrator steps it, and goes on from a snapshot as if nothing had happened.
#[test]
fn every_integrator_remembers_and_resumes() {
    for &integrator in Integrator::ALL {
        for stretching in BOTH {
            let springs = matches!(stretching, Stretching::Springs(_));
            if integrator == Integrator::K02 || integrator == Integrator::Precomputed && !springs {
                continue;
            }
            let world = || hanging(forgetless(), stretching, integrator, 8, substeps(integrator));
            let mut whole = world();
            run(&mut whole, 4);
            let middle = whole.snapshot();
            let memory = &middle.states[0].memory;
            assert_eq!(memory.len(), 3, "{}", integrator.name());
            for (k, family) in memory.iter().enumerate() {
                let any = family.iter().flatten().any(|m| *m != 0.0);
                // A constant isotropic matrix brakes so much that cloth hardly moves in four frames.
                let any = any || integrator == Integrator::Precomputed;
                assert!(any, "{} {stretching:?}, family {k}", integrator.name());
            }
            let mut again = world();
            again.restore(middle.clone()).expect("a snapshot of the same scene");
            assert_eq!(run(&mut again, 3), run(&mut whole, 3), "{} {stretching:?}", integrator.name());
            assert_eq!(again.snapshot(), whole.snapshot());
        }
    }
}

#[test]
fn snapshots_of_other_fabrics_are_refused() {
    let creasing = Fabric { crease: forgetless().crease, ..Fabric::default() };
    let mut world = hanging(creasing, BOTH[0], Integrator::Bdf2, 4, 1);
    run(&mut world, 1);
    let mut plain = hanging(Fabric::default(), BOTH[0], Integrator::Bdf2, 4, 1);
    let error = plain.restore(world.snapshot()).expect_err("another fabric").to_string();
    assert!(error.contains("remembering elements"), "{error}");
    let mut older = world.snapshot();
    older.states[0].memory.clear();
    world.restore(older).expect("cloth that remembers nothing yet");
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        pool.install(|| {
            let mut world = hanging(forgetless(), BOTH[0], Integrator::Bdf2, 45, 2);
            run(&mut world, 2);
            world.snapshot()
        })
    };
    let one = on(1);
    for threads in [2, 3, 8] {
        assert!(on(threads) == one, "{threads} threads");
    }
}

/// Falling cloth without viscosity loses energy to friction and folds, and never gains any.
#[test]
fn motion_gains_no_energy() {
    for integrator in [Integrator::Bdf2, Integrator::ImplicitEuler, Integrator::Rk4] {
        let fabric = Fabric { damping: 0.0, ..forgetless() };
        let mut world =
            hanging(fabric, BOTH[0], integrator, 6, if integrator.is_explicit() { 800 } else { 8 });
        let start = world.energies().total();
        let mut least = start;
        for _ in 0..20 {
            run(&mut world, 1);
            let now = world.energies().total();
            // Of m g L: 18 g and 0.3 m.
            assert!(now <= least + 2e-3 * 0.053, "{}: {now} after {least}", integrator.name());
            least = least.min(now);
        }
        assert!(least < start - 1e-4, "{}: {least}", integrator.name());
    }
}

#[test]
fn springs_pulled_too_far_stay_long_and_others_come_back() {
    let fabric = Fabric { set: Some(Yield { limit: 0.02, hardening: 0.25 }), ..Fabric::default() };
    let mesh = mesh(&small());
    let springs = Spring::elements(&mesh, &fabric, Tangent::Safe);
    for (strain, want) in [(0.015, 0.0), (0.06, 0.75 * 0.04), (-0.06, -0.75 * 0.04)] {
        let x: Vec<DVec3> = small().positions.iter().map(|p| *p * (1.0 + strain)).collect();
        for [set, ..] in remembered(&springs, &x, &[]) {
            assert!((set - want).abs() < 1e-14, "{strain}: {set}");
        }
    }
}
