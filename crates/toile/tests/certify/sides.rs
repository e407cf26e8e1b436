//! What changes sides between two clean frames is caught; what goes round, slides, folds and falls is not.

use glam::{DQuat, DVec3};
use toile::collide::certify::{Audit, CheckOptions, CheckSurface, Checker, Distance, Kind, SideTest, Sides};
use toile::mesh::shapes::{Pattern, sheet};

use crate::support::{Mesh, Rng};

/// A sphere of latitude and longitude, closed, normals outward.
fn ball(radius: f64, n: usize) -> Mesh {
    let mut mesh = Mesh { x: vec![DVec3::Y * radius], faces: Vec::new() };
    for i in 1..n {
        let (s, c) = libm::sincos(std::f64::consts::PI * i as f64 / n as f64);
        for j in 0..2 * n {
            let (t, u) = libm::sincos(std::f64::consts::PI * j as f64 / n as f64);
            mesh.x.push(radius * DVec3::new(s * t, c, s * u));
        }
    }
    mesh.x.push(-DVec3::Y * radius);
    let (ring, last) = (2 * n as u32, mesh.x.len() as u32 - 1);
    let at = |i: u32, j: u32| 1 + i * ring + j % ring;
    for j in 0..ring {
        mesh.faces.push([0, at(0, j), at(0, j + 1)]);
        mesh.faces.push([last, at(n as u32 - 2, j + 1), at(n as u32 - 2, j)]);
        for i in 0..n as u32 - 2 {
            mesh.faces.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            mesh.faces.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    mesh
}

/// A rotation with bits that are the same everywhere.
fn turn(axis: DVec3, angle: f64) -> DQuat {
    let (s, c) = libm::sincos(0.5 * angle);
    let v = axis * s;
    DQuat::from_xyzw(v.x, v.y, v.z, c)
}

fn flat(n: usize) -> Mesh {
    let mut mesh = Mesh::from(sheet(1.0, 1.0, n, n, Pattern::Alternating).unwrap());
    mesh.x.iter_mut().for_each(|p| *p -= DVec3::new(0.5, 0.0, 0.5));
    mesh
}

fn surface(name: &str, kind: Kind, mesh: &Mesh) -> CheckSurface {
    CheckSurface::new(name, kind, mesh.x.len(), mesh.faces.clone())
}

/// Runs frames through both tests; every frame must be clean by itself.
fn watch(surfaces: Vec<CheckSurface>, frames: &[Vec<Vec<DVec3>>]) -> Vec<Sides> {
    let mut sides = SideTest::new(&surfaces);
    let options = CheckOptions { distance: Distance::Off, ..CheckOptions::default() };
    let mut checker = Checker::new(surfaces, options).unwrap();
    let judge = |(k, x): (usize, &Vec<Vec<DVec3>>)| {
        let x: Vec<&[DVec3]> = x.iter().map(Vec::as_slice).collect();
        let verdict = checker.check(&x);
        assert!(verdict.pass(), "frame {k}: {:?}", verdict.findings.first());
        sides.step(&x)
    };
    frames.iter().enumerate().map(judge).collect()
}

fn moved(mesh: &Mesh, by: DVec3) -> Vec<DVec3> {
    mesh.x.iter().map(|p| *p + by).collect()
}

/// 50 m/s at 60 frames a second: above the sheet in one frame, below it in the next.
#[test]
fn a_ball_that_tunnels_is_caught() {
    let (ball, cloth) = (ball(0.1, 8), flat(12));
    let frames: Vec<Vec<Vec<DVec3>>> = (0..5)
        .map(|k| {
            vec![cloth.x.clone(), moved(&ball, DVec3::new(0.05, 2.0 - 50.0 / 60.0 * f64::from(k), 0.02))]
        })
        .collect();
    let surfaces = vec![surface("cloth", Kind::Cloth, &cloth), surface("ball", Kind::Body, &ball)];
    let seen = watch(surfaces, &frames);
    for (k, sides) in seen.iter().enumerate() {
        assert_eq!(!sides.passages.is_empty(), k == 3, "frame {k}: {sides:?}");
        assert_eq!((sides.undecided, sides.inside), (0, 0), "frame {k}");
    }
    assert!(
        seen[3]
            .passages
            .iter()
            .all(|p| p.vertex.surface == 1 && p.surface == 0 && p.turns == seen[3].passages[0].turns)
    );
    println!("tunnelling: {} points of the ball went through", seen[3].passages.len());
}

/// The ball ends up in the same places, but slowly, round the border of the sheet.
#[test]
fn a_ball_that_goes_round_is_not() {
    let (ball, cloth) = (ball(0.1, 6), flat(8));
    let frames: Vec<Vec<Vec<DVec3>>> = (0..60)
        .map(|k| {
            let (s, c) = libm::sincos(0.06 * f64::from(k));
            vec![cloth.x.clone(), moved(&ball, DVec3::new(0.1 + 0.7 * s, 0.5 * c, 0.03))]
        })
        .collect();
    let surfaces = vec![surface("cloth", Kind::Cloth, &cloth), surface("ball", Kind::Body, &ball)];
    for sides in watch(surfaces, &frames) {
        assert_eq!(sides, Sides::default());
    }
}

/// Two sheets swap their order between two frames, each barely moving.
#[test]
fn sheets_that_swap_are_caught() {
    let (above, below) = (flat(10), flat(10));
    let wave = |mesh: &Mesh, y: f64, t: f64| -> Vec<DVec3> {
        mesh.x.iter().map(|p| *p + DVec3::Y * (y + 0.03 * libm::sin(7.0 * p.x + 5.0 * p.z + t))).collect()
    };
    for gap in [0.01, 0.001] {
        let frames: Vec<Vec<Vec<DVec3>>> = (0..6)
            .map(|k| {
                let (t, side) = (0.002 * f64::from(k), if k < 3 { 0.5 } else { -0.5 });
                vec![wave(&above, side * gap, t), wave(&below, -side * gap, t)]
            })
            .collect();
        let surfaces = vec![surface("a", Kind::Cloth, &above), surface("b", Kind::Cloth, &below)];
        let seen = watch(surfaces, &frames);
        for (k, sides) in seen.iter().enumerate() {
            assert_eq!(!sides.passages.is_empty(), k == 3, "gap {gap}, frame {k}: {sides:?}");
        }
        println!("swapped at {gap} m: {} passages, {} undecided", seen[3].passages.len(), seen[3].undecided);
    }
}

/// Into a closed body, and out of it.
#[test]
fn cloth_that_enters_a_body_is_caught() {
    let (ball, mut cloth) = (ball(0.5, 12), flat(6));
    cloth.x.iter_mut().for_each(|p| *p *= 0.2);
    let heights = [1.0, 0.8, 0.7, 0.1, 0.0, -0.2, -0.9, -1.0];
    let frames: Vec<Vec<Vec<DVec3>>> =
        heights.iter().map(|&y| vec![moved(&cloth, DVec3::Y * y), ball.x.clone()]).collect();
    let surfaces = vec![surface("cloth", Kind::Cloth, &cloth), surface("ball", Kind::Body, &ball)];
    let seen = watch(surfaces, &frames);
    for (k, sides) in seen.iter().enumerate() {
        let through = sides.passages.iter().any(|p| p.vertex.surface == 0 && p.surface == 1);
        assert_eq!(through, k == 3 || k == 6, "frame {k}: {sides:?}");
        assert_eq!(sides.inside > 0, (3..6).contains(&k), "frame {k}");
    }
}

/// A sheet folded in two, one half over the other; then under it, without having gone round.
#[test]
fn cloth_that_passes_through_itself_is_caught() {
    let cloth = flat(16);
    let fold = |side: f64, t: f64| -> Vec<DVec3> {
        let half = |p: &DVec3| {
            let along = p.x.max(0.0);
            let wave = 0.02 * libm::sin(6.0 * p.x.abs() + 4.0 * p.z + t);
            DVec3::new(-p.x.abs(), wave + side * 0.05 * along.min(0.1) / 0.1, p.z)
        };
        cloth.x.iter().map(half).collect()
    };
    let frames: Vec<Vec<Vec<DVec3>>> =
        (0..6).map(|k| vec![fold(if k < 3 { 1.0 } else { -1.0 }, 0.01 * f64::from(k))]).collect();
    let seen = watch(vec![surface("cloth", Kind::Cloth, &cloth)], &frames);
    for (k, sides) in seen.iter().enumerate() {
        assert_eq!(!sides.passages.is_empty(), k == 3, "frame {k}: {sides:?}");
    }
    println!("folded through itself: {} passages, {} undecided", seen[3].passages.len(), seen[3].undecided);
}

/// Falling, turning, waving, folding, sliding: clean motion is never flagged.
#[test]
fn ordinary_motion_is_not_flagged() {
    let mut rng = Rng(12);
    let (mut frames_seen, mut undecided) = (0, 0);
    for round in 0..12 {
        let (cloth, under, ball) = (flat(8 + round % 3), flat(7), ball(0.3, 8));
        let (axis, speed, k) = (rng.vector().normalize(), rng.between(0.0, 0.3), rng.between(3.0, 9.0));
        let (height, drift) = (rng.between(0.0, 0.05), rng.between(0.0, 0.02));
        let frames: Vec<Vec<Vec<DVec3>>> = (0..30)
            .map(|f| {
                let t = f64::from(f);
                let fall = DVec3::Y * (-0.5 * 9.81 * (t / 60.0) * (t / 60.0)) + DVec3::Y * 0.6;
                let pose = turn(axis, speed * t);
                let top: Vec<DVec3> = cloth
                    .x
                    .iter()
                    .map(|p| {
                        let wave = DVec3::Y * height * libm::sin(k * p.x + 0.4 * t);
                        pose * (*p * 0.5 + wave) + fall + DVec3::Y * 1.2
                    })
                    .collect();
                // Slides over the ball at a millimetre, wrapped round it.
                let slide: Vec<DVec3> = under
                    .x
                    .iter()
                    .map(|p| {
                        let q = DVec3::new(p.x * 0.6 + drift * (t - 15.0) * 0.1, 0.0, p.z * 0.6);
                        let around = turn(DVec3::Z, -q.x / 0.31) * turn(DVec3::X, q.z / 0.31);
                        around * (DVec3::Y * 0.315)
                    })
                    .collect();
                let spin = turn(DVec3::Y, 0.2 * t);
                vec![top, slide, ball.x.iter().map(|p| spin * *p).collect()]
            })
            .collect();
        let surfaces = vec![
            surface("top", Kind::Cloth, &cloth),
            surface("slide", Kind::Cloth, &under),
            surface("ball", Kind::Body, &ball),
        ];
        for (k, sides) in watch(surfaces, &frames).iter().enumerate() {
            assert!(sides.passages.is_empty(), "round {round}, frame {k}: {sides:?}");
            undecided += sides.undecided;
            frames_seen += 1;
        }
    }
    println!("{frames_seen} frames of ordinary motion: no passage, {undecided} undecided points");
}

/// The audit lists the tunnelling ball, and nothing where all keep their distance.
#[test]
fn the_audit_lists_what_may_have_met() {
    let (ball, cloth) = (ball(0.1, 6), flat(8));
    let surfaces = vec![surface("cloth", Kind::Cloth, &cloth), surface("ball", Kind::Body, &ball)];
    let mut audit = Audit::new(&surfaces, 5);
    for k in 0..5 {
        let fall = DVec3::Y * (-0.3 * f64::from(k));
        let at = DVec3::new(0.05, 2.0 - 50.0 / 60.0 * f64::from(k), 0.02);
        let (cloth, ball) = (moved(&cloth, 0.1 * fall), moved(&ball, at));
        let found = audit.step(&[&cloth, &ball]);
        assert_eq!(found.is_some(), k > 0);
        let total = found.map_or(0, |found| {
            assert!(found.met.len() <= 5);
            found.total
        });
        assert_eq!(total > 0, k == 3, "step {k}: {total}");
        if total > 0 {
            println!("audit: {total} pairs may have met");
        }
    }
    assert!(audit.step(&[&[DVec3::NAN], &[]]).is_none());
}
