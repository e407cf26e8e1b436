//! Patch-exact bending against finite differences, rigid motion and closed forms.

use glam::{DVec2, DVec3};
use toile::drive::{Key, Motion};
use toile::forces::bending::recon::rest_angles;
use toile::forces::bending::{Clamp, Recon, ReconOptions, Rigidity};
use toile::forces::{DihedralHinge, Fabric, LinearHinge};
use toile::interaction::{ForceModel, Interactions, Mix, Moment, Outside};
use toile::math::random;
use toile::math::rotation::euler_degrees;
use toile::mesh::{Mesh, Pattern, Shape, shapes};
use toile::testing::eigen::symmetric_eigenvalues;
use toile::testing::laws::shake;

/// Four to one, with coupling and a twist that no isotropic sheet has.
const WOVEN: Rigidity = Rigidity { warp: 4e-5, weft: 1e-5, coupling: 3e-6, twist: 3.5e-6 };

const PATTERNS: [Pattern; 6] = [
    Pattern::Structured,
    Pattern::Flipped,
    Pattern::Alternating,
    Pattern::Equilateral,
    Pattern::Jittered { amount: 0.3, seed: 4 },
    Pattern::Delaunay { seed: 5 },
];

fn sheet(pattern: Pattern) -> Shape {
    shapes::sheet(0.3, 0.25, 6, 5, pattern).expect("a sound shape")
}

fn mesh(shape: &Shape) -> Mesh {
    Mesh::new(shape.positions.len(), shape.faces.clone(), shape.rest.clone()).expect("a sound mesh")
}

fn crumpled(rest: &[DVec3], amount: f64) -> Vec<DVec3> {
    rest.iter().enumerate().map(|(i, p)| *p + shake(9, i, amount)).collect()
}

/// Border edges whose middle satisfies `at`, with cloth leaving along `direction`.
fn clamps(mesh: &Mesh, x: &[DVec3], at: impl Fn(DVec3) -> bool, direction: DVec3) -> Vec<Clamp> {
    let middle = |e: [u32; 2]| 0.5 * (x[e[0] as usize] + x[e[1] as usize]);
    let border = mesh.edges().iter().filter(|e| e.is_border() && at(middle(e.ends)));
    border.map(|e| Clamp { edge: e.ends, direction, motion: Motion::still() }).collect()
}

fn forces(bending: &Recon, x: &[DVec3], v: &[DVec3]) -> Vec<DVec3> {
    let mut out = vec![DVec3::ZERO; x.len()];
    let mut answer = Interactions::default();
    bending.respond(Moment::new(x, v), Mix::NONE, &[], &mut answer);
    bending.coupling().scatter(&answer.force, &mut out);
    out
}

/// A sheet with a clamped side, rest angles everywhere and viscosity.
fn everything(pattern: Pattern) -> (Recon, Vec<DVec3>) {
    let shape = sheet(pattern);
    let mesh = mesh(&shape);
    let x = shape.positions;
    let options = ReconOptions {
        clamps: clamps(&mesh, &x, |p| p.x == 0.0, DVec3::new(0.8, 0.6, 0.0)),
        rest_angles: rest_angles(&mesh, &crumpled(&x, 0.01)),
        damping: 0.02,
        give: None,
    };
    assert_eq!(options.clamps.len(), 5);
    (Recon::new(&mesh, WOVEN, &options), x)
}

#[test]
fn the_force_is_minus_the_gradient_of_the_energy() {
    for pattern in PATTERNS {
        let (bending, rest) = everything(pattern);
        let x = crumpled(&rest, 0.02);
        let got = forces(&bending, &x, &vec![DVec3::ZERO; x.len()]);
        let scale = got.iter().map(|f| f.length()).fold(0.0, f64::max);
        for i in 0..x.len() {
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let energy = |by: f64| {
                    let mut y = x.clone();
                    y[i] += axis * by;
                    bending.energy(&y)
                };
                let slope = (energy(1e-6) - energy(-1e-6)) / 2e-6;
                assert!(
                    (got[i].dot(axis) + slope).abs() < 1e-6 * scale,
                    "{pattern:?} {i}: {slope} {}",
                    got[i]
                );
            }
        }
    }
}

#[test]
fn viscosity_only_takes_and_leaves_rigid_motion_alone() {
    let shape = sheet(PATTERNS[5]);
    let mesh = mesh(&shape);
    let x = crumpled(&shape.positions, 0.02);
    let still = forces(&Recon::new(&mesh, WOVEN, &ReconOptions::default()), &x, &x);
    let bending = Recon::new(&mesh, WOVEN, &ReconOptions { damping: 0.02, ..ReconOptions::default() });
    let viscous = |v: &[DVec3]| -> Vec<DVec3> {
        forces(&bending, &x, v).iter().zip(&still).map(|(f, s)| *f - *s).collect()
    };
    let v: Vec<DVec3> = (0..x.len()).map(|i| shake(3, i, 1.0)).collect();
    let brake = viscous(&v);
    let power: f64 = brake.iter().zip(&v).map(|(f, v)| f.dot(*v)).sum();
    let largest = |f: &[DVec3]| f.iter().map(|f| f.length()).fold(0.0, f64::max);
    assert!(power < -0.1 * largest(&brake), "{power}");
    let turning: Vec<DVec3> = x.iter().map(|p| DVec3::new(1.0, -2.0, 0.5).cross(*p) + DVec3::Y).collect();
    assert!(largest(&viscous(&turning)) < 1e-9 * largest(&brake));
    // Twice as fast, twice the force: the difference quotient of the angles' rates is exact.
    let twice: Vec<DVec3> = v.iter().map(|v| *v * 2.0).collect();
    for (a, b) in viscous(&twice).iter().zip(&brake) {
        assert!(a.abs_diff_eq(*b * 2.0, 1e-9 * largest(&brake)));
    }
}

#[test]
fn the_tangent_is_the_derivative_of_the_force_of_flat_cloth() {
    for pattern in PATTERNS {
        let shape = sheet(pattern);
        let mesh = mesh(&shape);
        let x = shape.positions;
        let options =
            ReconOptions { clamps: clamps(&mesh, &x, |p| p.x == 0.0, DVec3::X), ..ReconOptions::default() };
        let bending = Recon::new(&mesh, WOVEN, &options);
        let tangent = bending.stiffness();
        let scale = tangent.values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        for j in 0..x.len() {
            let pushed = |by: f64| {
                let mut y = x.clone();
                y[j].y += by;
                forces(&bending, &y, &y)
            };
            let (up, down) = (pushed(1e-6), pushed(-1e-6));
            for i in 0..x.len() {
                let entry = tangent.row(i).find(|(column, _)| *column == j).map_or(0.0, |(_, value)| value);
                let slope = (down[i].y - up[i].y) / 2e-6;
                assert!((entry - slope).abs() < 1e-7 * scale, "{pattern:?} {i} {j}: {entry} {slope}");
            }
        }
    }
}

#[test]
fn only_rigid_motion_is_free_and_nothing_is_negative() {
    for pattern in PATTERNS {
        let shape = sheet(pattern);
        let bending = Recon::new(&mesh(&shape), WOVEN, &ReconOptions::default());
        let tangent = bending.stiffness();
        let n = shape.positions.len();
        let mut dense = vec![vec![0.0; n]; n];
        for i in 0..n {
            tangent.row(i).for_each(|(j, value)| dense[i][j] = value);
        }
        for i in 0..n {
            assert!((0..n).all(|j| dense[i][j].to_bits() == dense[j][i].to_bits()), "symmetric to the bit");
            assert!(dense[i].iter().sum::<f64>().abs() < 1e-12 * dense[i][i]);
        }
        let values = symmetric_eigenvalues(&dense);
        let most = values[n - 1];
        assert!(values[..3].iter().all(|v| v.abs() < 1e-13 * most), "{pattern:?} {:?}", &values[..4]);
        assert!(values[3] > 1e-6 * most, "{pattern:?} {:?}", &values[..4]);
    }
}

#[test]
fn forces_balance_and_turn_with_the_cloth() {
    let shape = sheet(PATTERNS[4]);
    let mesh = mesh(&shape);
    let rest_angles = rest_angles(&mesh, &crumpled(&shape.positions, 0.01));
    let bending = Recon::new(&mesh, WOVEN, &ReconOptions { rest_angles, ..ReconOptions::default() });
    let x = crumpled(&shape.positions, 0.03);
    let f = forces(&bending, &x, &x);
    let scale: f64 = f.iter().map(|f| f.length()).sum();
    let total = f.iter().fold(DVec3::ZERO, |a, b| a + *b);
    let moment = f.iter().zip(&x).fold(DVec3::ZERO, |a, (f, x)| a + x.cross(*f));
    assert!(total.length() < 1e-13 * scale && moment.length() < 1e-13 * scale, "{total} {moment}");
    let turn = euler_degrees(DVec3::new(40.0, -70.0, 110.0));
    let turned: Vec<DVec3> = x.iter().map(|p| turn * *p + DVec3::new(1.0, 2.0, -3.0)).collect();
    assert!((bending.energy(&turned) / bending.energy(&x) - 1.0).abs() < 1e-12);
    for (a, b) in forces(&bending, &turned, &x).iter().zip(&f) {
        assert!(a.abs_diff_eq(turn * *b, 1e-12 * scale));
    }
}

#[test]
fn rest_angles_are_where_the_energy_vanishes() {
    let tube = shapes::tube(0.1, 0.14, 0.2, 14, 5, PATTERNS[4]).expect("a tube");
    let mesh = mesh(&tube);
    let flat = Recon::new(&mesh, WOVEN, &ReconOptions::default());
    let angles = rest_angles(&mesh, &tube.positions);
    let tubular = Recon::new(&mesh, WOVEN, &ReconOptions { rest_angles: angles, ..ReconOptions::default() });
    assert!(tubular.energy(&tube.positions) < 1e-28);
    assert!(flat.energy(&tube.positions) > 1e-5);
}

/// Energy over ½ κᵀDκ A of a sheet held in a parabola of curvature κ along `angle`, every border edge clamped at
/// its true slope; and the largest force on an interior particle times the width over the energy.
fn parabola(shape: &Shape, rigidity: Rigidity, angle: f64, expected: f64) -> (f64, f64) {
    let mesh = mesh(shape);
    let (sine, cosine) = libm::sincos(angle);
    let along = DVec3::new(cosine, 0.0, sine);
    // Small enough that slopes squared do not count, large enough for the digits.
    let curvature = 1e-4;
    let height = |p: DVec3| 0.5 * curvature * p.dot(along) * p.dot(along);
    let x: Vec<DVec3> = shape.positions.iter().map(|p| *p + DVec3::Y * height(*p)).collect();
    let mut held = Vec::new();
    for edge in mesh.edges().iter().filter(|e| e.is_border()) {
        let [c, d] = edge.ends.map(|i| shape.positions[i as usize]);
        let apex =
            shape.positions[mesh.faces()[edge.faces[0] as usize][mesh.apex(edge.faces[0], edge)] as usize];
        let side = (d - c).normalize();
        let inward = (apex - c - side * (apex - c).dot(side)).normalize();
        let middle = 0.5 * (c + d);
        let slope = curvature * middle.dot(along) * inward.dot(along);
        held.push(Clamp { edge: edge.ends, direction: inward + DVec3::Y * slope, motion: Motion::still() });
    }
    let bending = Recon::new(&mesh, rigidity, &ReconOptions { clamps: held, ..ReconOptions::default() });
    let energy = bending.energy(&x);
    let ratio = energy / (0.5 * expected * curvature * curvature * mesh.total_area());
    let border = mesh.border();
    let f = forces(&bending, &x, &x);
    let inside = (0..x.len()).filter(|i| border.binary_search(&(*i as u32)).is_err());
    let left = inside.map(|i| f[i].y.abs()).fold(0.0, f64::max);
    // A force of this size on one particle would lift it by curvature × area.
    (ratio, left * curvature * mesh.total_area() / energy)
}

#[test]
fn constant_curvature_costs_what_it_should_in_every_direction() {
    for pattern in PATTERNS {
        let shape = sheet(pattern);
        for k in 0..8 {
            let angle = f64::from(k) * std::f64::consts::PI / 8.0;
            let (ratio, left) = parabola(&shape, WOVEN, angle, WOVEN.along(angle));
            assert!((ratio - 1.0).abs() < 1e-7, "{pattern:?} {angle}: {ratio}");
            assert!(left < 1e-7, "{pattern:?} {angle}: {left}");
        }
    }
}

/// The sheet with the rest triangles of faces that `of` names sent through `map`.
fn recharted(shape: &Shape, of: impl Fn(usize) -> bool, map: impl Fn(DVec2) -> DVec2) -> Shape {
    let mut shape = shape.clone();
    let chosen = shape.rest.iter_mut().enumerate().filter(|(f, _)| of(*f));
    chosen.for_each(|(_, rest)| *rest = rest.map(&map));
    shape
}

#[test]
fn the_grain_turns_with_the_material_coordinates() {
    let grain = DVec2::from_angle(0.5);
    let shape = recharted(&sheet(PATTERNS[5]), |_| true, |p| grain.rotate(p));
    for k in 0..6 {
        let angle = 0.5 * f64::from(k);
        let (ratio, left) = parabola(&shape, WOVEN, angle, WOVEN.along(angle + 0.5));
        assert!((ratio - 1.0).abs() < 1e-7 && left < 1e-7, "{angle}: {ratio} {left}");
    }
}

#[test]
fn panels_may_lie_anywhere_and_be_mirrored() {
    let whole = sheet(PATTERNS[5]);
    let energy = |shape: &Shape, rigidity| {
        Recon::new(&mesh(shape), rigidity, &ReconOptions::default()).energy(&crumpled(&whole.positions, 0.01))
    };
    // A woven panel may be moved, turned round and mirrored; an isotropic one turned by any angle.
    let every_third = |f: usize| f.is_multiple_of(3);
    let moved = recharted(&whole, every_third, |p| DVec2::new(3.0, -1.0) - p);
    let mirrored = recharted(&whole, every_third, |p| DVec2::new(p.x, 7.0 - p.y));
    let turned = recharted(&whole, every_third, |p| DVec2::from_angle(1.0).rotate(p));
    let plain = Rigidity::isotropic(1e-5, 0.3);
    for (shape, rigidity) in [(&moved, WOVEN), (&mirrored, WOVEN), (&turned, plain)] {
        assert!((energy(shape, rigidity) / energy(&whole, rigidity) - 1.0).abs() < 1e-11);
    }
    assert!((energy(&turned, WOVEN) / energy(&whole, WOVEN) - 1.0).abs() > 1e-3, "the grain matters");
}

#[test]
fn slivers_fans_and_lone_faces_stay_finite_and_exact() {
    // A random fan: needle after needle, corners where every other edge is a border.
    for seed in 0..20 {
        let mut points = vec![DVec2::ZERO];
        let mut angle = 0.0;
        for k in 0..7 {
            angle += 1e-3 + 0.9 * random::unit(seed, 2 * k);
            points.push(DVec2::from_angle(angle) * (1e-2 + random::unit(seed, 2 * k + 1)));
        }
        let positions: Vec<DVec3> = points.iter().map(|p| DVec3::new(p.x, 0.0, p.y)).collect();
        let faces: Vec<[u32; 3]> = (1..7).map(|k| [0, k, k + 1]).collect();
        let rest: Vec<[DVec2; 3]> = faces.iter().map(|f| f.map(|i| points[i as usize])).collect();
        let fan = Shape { positions, faces, rest, groups: Vec::new() };
        let (ratio, left) = parabola(&fan, WOVEN, 0.3, WOVEN.along(0.3));
        assert!((ratio - 1.0).abs() < 1e-5 && left < 1e-5, "{seed}: {ratio} {left}");
        let free = Recon::new(&mesh(&fan), WOVEN, &ReconOptions::default());
        assert!(free.stiffness().values.iter().all(|v| v.is_finite()));
        assert!(free.energy(&crumpled(&fan.positions, 0.1)).is_finite());
    }
    let rest = vec![[DVec2::ZERO, DVec2::X, DVec2::Y]];
    let lone =
        Recon::new(&Mesh::new(3, vec![[0, 1, 2]], rest).expect("a face"), WOVEN, &ReconOptions::default());
    assert_eq!(lone.energy(&[DVec3::X, DVec3::Y, DVec3::Z]), 0.0);
    let limp = Recon::new(&mesh(&sheet(PATTERNS[5])), Rigidity::default(), &ReconOptions::default());
    assert_eq!(limp.energy(&crumpled(&sheet(PATTERNS[5]).positions, 0.1)), 0.0);
}

/// The same mesh, stiffness and deflection through an independent program that assembles the model from
/// dense least squares and sparse products; its ghosts, too, follow the middle of their edges.
#[test]
fn an_independent_program_finds_the_same_matrix() {
    let shape = sheet(PATTERNS[5]);
    let mesh = mesh(&shape);
    let x = &shape.positions;
    let free = ReconOptions::default();
    let held = ReconOptions { clamps: clamps(&mesh, x, |p| p.x == 0.0, DVec3::X), ..ReconOptions::default() };
    let height = |p: &DVec3| libm::sin(13.0 * p.x + 7.0 * p.z) + libm::cos(9.0 * p.x * p.z + 1.0);
    let w: Vec<f64> = x.iter().map(height).collect();
    for (options, energy, trace) in
        [(free, 0.04507388795021395, 5.320913515590418), (held, 0.07434439138028712, 6.353935531285983)]
    {
        let bending = Recon::new(&mesh, WOVEN, &options);
        let (mut got, mut diagonal) = (0.0, 0.0);
        for i in 0..w.len() {
            for (j, value) in bending.stiffness().row(i) {
                got += w[i] * value * w[j];
                diagonal += if i == j { value } else { 0.0 };
            }
        }
        assert!((got / energy - 1.0).abs() < 1e-12, "{got} {energy}");
        assert!((diagonal / trace - 1.0).abs() < 1e-12, "{diagonal} {trace}");
    }
}

#[test]
fn a_clamp_turns_the_cloth_behind_it() {
    let shape = sheet(PATTERNS[5]);
    let mesh = mesh(&shape);
    let x = shape.positions;
    let turn = |time: f64, degrees: f64| Key {
        time,
        translate: DVec3::ZERO,
        rotate: DVec3::new(0.0, 0.0, degrees),
        scale: DVec3::ONE,
    };
    let mut held = clamps(&mesh, &x, |p| p.x == 0.0, DVec3::X);
    for clamp in &mut held {
        clamp.motion = Motion { keys: vec![turn(0.0, 0.0), turn(1.0, 40.0)], ..Motion::still() };
    }
    let mut turning = Recon::new(&mesh, WOVEN, &ReconOptions { clamps: held, ..ReconOptions::default() });
    assert!(turning.energy(&x) < 1e-30);
    turning.drive(&Outside { time: 1.0, dt: 0.1, air: DVec3::ZERO });
    let sine = euler_degrees(DVec3::new(0.0, 0.0, 40.0)) * DVec3::X;
    let tilted = clamps(&mesh, &x, |p| p.x == 0.0, sine);
    let fixed = Recon::new(&mesh, WOVEN, &ReconOptions { clamps: tilted, ..ReconOptions::default() });
    assert!((turning.energy(&x) / fixed.energy(&x) - 1.0).abs() < 1e-12 && fixed.energy(&x) > 1e-6);
    // Cloth that turns along feels nothing.
    let along: Vec<DVec3> = x.iter().map(|p| euler_degrees(DVec3::new(0.0, 0.0, 40.0)) * *p).collect();
    assert!(turning.energy(&along) < 1e-30);
}

/// Hinges on truly equilateral triangles, for which they are calibrated (G-1): a sheet rolled up in any direction costs
/// ½ D κ² per area, to 3 %. Edges of the border carry nothing, which is a share of 1/n: fine enough that it is not what
/// is measured.
#[test]
fn hinges_are_calibrated_on_equilateral_triangles() {
    let shape = shapes::sheet(1.0, 0.75f64.sqrt(), 48, 48, Pattern::Equilateral).expect("a sound shape");
    let mesh = mesh(&shape);
    let fabric = Fabric { bend: 1e-5.into(), ..Fabric::default() };
    let hinges: [Box<dyn ForceModel>; 2] =
        [Box::new(LinearHinge::elements(&mesh, &fabric)), Box::new(DihedralHinge::elements(&mesh, &fabric))];
    let (curvature, still) = (0.1, vec![DVec3::ZERO; shape.positions.len()]);
    for degrees in [0.0, 30.0, 45.0, 60.0, 90.0f64] {
        let (sin, cos) = libm::sincos(degrees.to_radians());
        let (across, along) = (DVec3::new(cos, 0.0, sin), DVec3::new(-sin, 0.0, cos));
        let roll = |p: &DVec3| {
            let (sin, cos) = libm::sincos(curvature * p.dot(across));
            along * p.dot(along) + (across * sin + DVec3::Y * (1.0 - cos)) / curvature
        };
        let x: Vec<DVec3> = shape.positions.iter().map(roll).collect();
        let right = 0.5 * 1e-5 * curvature * curvature * mesh.total_area();
        for hinge in &hinges {
            let ratio = hinge.energy(Moment::new(&x, &still)) / right;
            assert!((ratio - 1.0).abs() < 0.03, "{degrees}°: {ratio}");
        }
    }
}
