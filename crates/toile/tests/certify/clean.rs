//! Clean meshes, however tight, must pass; and every verdict is the same for any number of threads.

use glam::DVec3;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Kind, Verdict};
use toile::mesh::shapes::{Pattern, disc, sheet, tube};

use crate::support::{Mesh, Rng, exact_plane, wavy};

/// Copies of a mesh on top of one another.
fn stack(mesh: &Mesh, layers: usize, step: DVec3) -> Mesh {
    let mut all = Mesh { x: Vec::new(), faces: Vec::new() };
    for layer in 0..layers {
        let first = all.x.len() as u32;
        all.x.extend(mesh.x.iter().map(|&p| p + step * layer as f64));
        all.faces.extend(mesh.faces.iter().map(|f| f.map(|v| v + first)));
    }
    all
}

#[test]
fn tight_stacks_pass() {
    let mut rng = Rng(3);
    for gap in [1e-3, 1e-9, 1e-15, 1e-100, 1e-300, 5e-324] {
        // Flat layers at representable heights, near zero so that the gap survives.
        let flat = Mesh::from(sheet(1.0, 1.0, 9, 7, Pattern::Delaunay { seed: 3 }).unwrap());
        let verdict = stack(&flat, 3, DVec3::Y * gap).check();
        assert!(verdict.pass(), "gap {gap:e}: {:?}", verdict.findings.first());
        if gap > 1e-100 {
            let measured = verdict.min_distance().unwrap();
            assert!((measured / gap - 1.0).abs() < 1e-9, "gap {gap:e} measured {measured:e}");
        }
    }
    for _ in 0..100 {
        let plane = exact_plane(&mut rng);
        let [a, b, c] = plane.corners(0);
        let verdict = stack(&plane, 4, (b - a).cross(c - a).normalize() * 1e-9).check();
        assert!(verdict.pass(), "{:?}", verdict.findings.first());
    }
}

#[test]
fn generated_shapes_pass() {
    for pattern in [
        Pattern::Structured,
        Pattern::Flipped,
        Pattern::Alternating,
        Pattern::Equilateral,
        Pattern::Jittered { amount: 0.3, seed: 4 },
        Pattern::Delaunay { seed: 4 },
    ] {
        for shape in [
            sheet(1.0, 0.5, 20, 10, pattern).unwrap(),
            disc(0.5, 12, pattern).unwrap(),
            tube(0.3, 0.1, 0.7, 24, 16, pattern).unwrap(),
        ] {
            let verdict = Mesh::from(shape).check();
            assert!(verdict.pass(), "{pattern:?}: {:?}", verdict.findings.first());
        }
    }
}

/// Two halves of a sheet folded onto one another, open by an angle.
fn folded_sheet(angle: f64, n: usize) -> Mesh {
    let mut mesh = Mesh::from(sheet(1.0, 1.0, 2 * n, n, Pattern::Structured).unwrap());
    let (sin, cos) = libm::sincos(angle);
    for p in &mut mesh.x {
        p.x -= 0.5;
        if p.x > 0.0 {
            *p = DVec3::new(-p.x * cos, p.x * sin, p.z);
        }
    }
    mesh
}

#[test]
fn sharp_open_folds_pass_and_closed_ones_do_not() {
    for angle in [1.0, 1e-2, 1e-5, 1e-9, 1e-14] {
        let verdict = folded_sheet(angle, 8).check();
        assert!(verdict.pass(), "open by {angle:e} rad: {:?}", verdict.findings.first());
    }
    assert!(!folded_sheet(0.0, 8).check().pass());
    // Neighbours alone, folded by 179.999 degrees and closer.
    for open in [1e-3_f64.to_radians(), 1e-8, 1e-12] {
        let (sin, cos) = libm::sincos(open);
        let x = vec![DVec3::ZERO, DVec3::Z, DVec3::new(1.0, 0.0, 0.4), DVec3::new(cos, sin, 0.6)];
        let mesh = Mesh { x, faces: vec![[0, 1, 2], [1, 0, 3]] };
        assert!(mesh.check().pass());
    }
}

#[test]
fn wavy_cloth_passes_anywhere() {
    let mut rng = Rng(11);
    for _ in 0..300 {
        let mut mesh = wavy(&mut rng);
        let offset = rng.vector() * 100.0;
        mesh.x.iter_mut().for_each(|p| *p += offset);
        assert!(mesh.check().pass());
    }
}

/// Exactly representable scaling changes nothing, down to where determinants underflow and up to the limit.
#[test]
fn verdicts_do_not_depend_on_the_unit() {
    let mut rng = Rng(12);
    for _ in 0..30 {
        let clean = exact_plane(&mut rng);
        let mut dirty = clean.clone();
        let [a, b, c] = clean.corners(0);
        let m = a * 0.5 + b * 0.25 + c * 0.25;
        dirty.add_face([m, m + DVec3::splat(1.0), m + DVec3::new(1.0, 2.0, 0.0)]);
        let want = dirty.check();
        for exponent in [-1000, -400, -120, -60, 60, 95] {
            let scale = libm::exp2(f64::from(exponent));
            let scaled = |mesh: &Mesh| Mesh {
                x: mesh.x.iter().map(|&p| p * scale).collect(),
                faces: mesh.faces.clone(),
            };
            assert!(scaled(&clean).check().pass(), "2^{exponent}");
            assert_eq!(scaled(&dirty).check().findings, want.findings, "2^{exponent}");
        }
    }
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// A cloth crumpled into itself, over a body.
fn tangle(n: usize, seed: u64) -> (Mesh, Mesh) {
    let mut rng = Rng(seed);
    let mut cloth = Mesh::from(sheet(1.0, 1.0, n, n, Pattern::Delaunay { seed }).unwrap());
    let waves: Vec<(DVec3, DVec3)> = (0..6).map(|_| (12.0 * rng.vector(), 0.1 * rng.vector())).collect();
    for p in &mut cloth.x {
        *p += waves.iter().map(|(k, a)| *a * libm::sin(k.dot(*p))).sum::<DVec3>();
    }
    let body = Mesh::from(tube(0.2, 0.1, 0.5, 30, 20, Pattern::Equilateral).unwrap());
    (cloth, body)
}

fn checker(cloth: &Mesh, body: &Mesh, list: usize) -> Checker {
    let surfaces = vec![
        CheckSurface::new("cloth", Kind::Cloth, cloth.x.len(), cloth.faces.clone()),
        CheckSurface::new("body", Kind::Body, body.x.len(), body.faces.clone()),
    ];
    Checker::new(surfaces, CheckOptions { list, ..CheckOptions::default() }).unwrap()
}

#[test]
fn same_verdict_for_any_threads_and_any_past() {
    let (cloth, body) = tangle(60, 9);
    let (other, _) = tangle(60, 10);
    let nearly: Vec<DVec3> =
        cloth.x.iter().map(|p| DVec3::new(p.x, 0.9 * p.y + 0.05 * p.x, 1.05 * p.z)).collect();
    let frame: [&[DVec3]; 2] = [&cloth.x, &body.x];
    let fresh = |list| checker(&cloth, &body, list).check(&frame);
    let bits = |v: &Verdict| {
        (v.findings.clone(), v.unlisted, v.min_distance().map(f64::to_bits), v.closest.map(|c| c.pair))
    };
    for list in [usize::MAX, 65_536, 100, 0] {
        let want = bits(&fresh(list));
        assert!(want.1 + want.0.len() > 200, "the scene is a tangle");
        for threads in [1, 2, 3] {
            assert_eq!(with_threads(threads, || bits(&fresh(list))), want, "{threads} threads");
            // A checker that has seen other frames has another tree, refitted or rebuilt, and says the same.
            for past in [&other.x, &nearly] {
                let mut used = checker(&cloth, &body, list);
                used.check(&[past, &body.x]);
                assert_eq!(with_threads(threads, || bits(&used.check(&frame))), want);
            }
        }
    }
}
