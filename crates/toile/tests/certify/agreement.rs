//! Brute force over all pairs of random small meshes, in rational numbers, against the checker.

use glam::DVec3;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Finding, Kind};
use toile::mesh::shapes::{Pattern, sheet};

use crate::oracle;
use crate::support::{Mesh, Rng, meeting_faces};

/// Where the coordinates of a random mesh come from; integer grids are full of exact coincidences.
#[derive(Clone, Copy, Debug)]
enum Source {
    Grid(usize),
    Plane(usize),
    Real,
    /// A grid moved by a few units in the last place.
    Nudged,
    /// Zeros, ones, and values of 1e-120 and below, where expansions underflow.
    Tiny,
}

fn coordinate(rng: &mut Rng, source: Source) -> f64 {
    match source {
        Source::Grid(n) | Source::Plane(n) => rng.below(n) as f64,
        Source::Real => rng.between(-1.0, 1.0),
        Source::Nudged => {
            let c = 1.0 + rng.below(3) as f64;
            [c, c.next_up(), c.next_down(), c.next_up().next_up()][rng.below(4)]
        }
        Source::Tiny => {
            let some = [0.0, 1.0, -1.0, 1e-120, -3e-200, 5e-324, 2.5e-308];
            // Products of these are the smallest subnormals, rounded to one or two bits.
            let edge = [1.2e-162, 1.7e-162, -2.3e-162, 2.9e-162, -0.9e-162, 1.4e-108, -1.9e-108, 2.6e-108];
            if rng.below(3) == 0 { some[rng.below(some.len())] } else { edge[rng.below(edge.len())] }
        }
    }
}

fn random_mesh(rng: &mut Rng, source: Source) -> Mesh {
    let vertices = 6 + rng.below(6);
    let mut x: Vec<DVec3> = (0..vertices)
        .map(|_| DVec3::new(coordinate(rng, source), coordinate(rng, source), coordinate(rng, source)))
        .collect();
    if let Source::Plane(_) = source {
        x.iter_mut().for_each(|p| p.y = p.x + 2.0 * p.z);
    }
    let face = |rng: &mut Rng| {
        let [a, b, c] = [rng.below(vertices), rng.below(vertices), rng.below(vertices)];
        // Mostly three different vertices, now and then not.
        if (a == b || b == c || c == a) && rng.below(8) > 0 {
            let first = rng.below(vertices);
            [first, (first + 1) % vertices, (first + 2) % vertices].map(|v| v as u32)
        } else {
            [a, b, c].map(|v| v as u32)
        }
    };
    let faces = (0..4 + rng.below(5)).map(|_| face(rng)).collect();
    Mesh { x, faces }
}

fn agree(mesh: &Mesh) -> usize {
    let verdict = mesh.check();
    let collapsed: Vec<usize> = verdict
        .findings
        .iter()
        .filter_map(|f| match f {
            Finding::ZeroArea { face } | Finding::RepeatedIndex { face } => Some(face.face as usize),
            _ => None,
        })
        .collect();
    let mut sorted = collapsed.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, oracle::collapsed(mesh).into_iter().collect::<Vec<_>>(), "{mesh:?}");
    let (ours, theirs) = (meeting_faces(&verdict), oracle::meeting_faces(mesh));
    assert_eq!(ours, theirs, "{mesh:?}");
    assert_eq!(ours.len(), verdict.intersections());
    theirs.len()
}

fn agree_on(source: Source, meshes: usize) {
    let mut rng = Rng(meshes as u64);
    let (mut meeting, mut clean) = (0, 0);
    for _ in 0..meshes {
        let found = agree(&random_mesh(&mut rng, source));
        meeting += found;
        clean += usize::from(found == 0);
    }
    println!("{source:?}: {meshes} meshes, {meeting} meeting pairs, {clean} meshes without any");
}

#[test]
fn agrees_with_the_oracle_on_grids() {
    agree_on(Source::Grid(2), 1000);
    agree_on(Source::Grid(3), 1500);
    agree_on(Source::Grid(5), 1500);
    agree_on(Source::Plane(4), 1000);
}

#[test]
fn agrees_with_the_oracle_on_reals() {
    agree_on(Source::Real, 1000);
    agree_on(Source::Nudged, 1000);
    agree_on(Source::Tiny, 1000);
}

/// Faces of bodies without area are tolerated, but not through the cloth: they are needles.
#[test]
fn agrees_with_the_oracle_on_needles() {
    let mut rng = Rng(5);
    let mut pierced = 0;
    for _ in 0..2000 {
        let n = 3 + rng.below(3);
        let at = |rng: &mut Rng| DVec3::new(rng.below(n) as f64, rng.below(n) as f64, rng.below(n) as f64);
        let (p, step) = (at(&mut rng), at(&mut rng) - DVec3::splat(1.0));
        let cloth = [at(&mut rng), at(&mut rng), at(&mut rng)];
        let needle = [p, p + step * rng.below(3) as f64, p + step * rng.below(3) as f64];
        let surfaces = vec![
            CheckSurface::new("cloth", Kind::Cloth, 3, vec![[0, 1, 2]]),
            CheckSurface::new("needle", Kind::Body, 3, vec![[0, 1, 2]]),
        ];
        let verdict = Checker::new(surfaces, CheckOptions::default()).unwrap().check(&[&cloth, &needle]);
        let collapsed = verdict.findings.iter().any(|f| matches!(f, Finding::ZeroArea { .. }));
        let meets = oracle::triangles_meet(cloth, needle);
        assert_eq!(verdict.intersections() == 1, meets && !collapsed, "{cloth:?} {needle:?}");
        pierced += verdict.intersections();
    }
    assert!(pierced > 100);
    println!("needles: {pierced} of 2000 meet the cloth");
}

/// Crumpled sheets of some hundred faces: many leaves, every pair judged.
#[test]
fn agrees_with_the_oracle_on_tangles() {
    let mut rng = Rng(6);
    let mut meeting = 0;
    for i in 0..8 {
        let mut mesh = Mesh::from(sheet(1.0, 1.0, 10, 10, Pattern::Delaunay { seed: i }).unwrap());
        let waves: Vec<(DVec3, DVec3)> = (0..4).map(|_| (15.0 * rng.vector(), 0.1 * rng.vector())).collect();
        for p in &mut mesh.x {
            *p += waves.iter().map(|(k, a)| *a * libm::sin(k.dot(*p))).sum::<DVec3>();
            // Half of them on a grid, where faces also touch and overlap exactly.
            *p = if i % 2 == 0 { *p } else { (*p * 24.0).round() };
        }
        meeting += agree(&mesh);
    }
    assert!(meeting > 100);
    println!("tangles: 8 meshes of 200 faces, {meeting} meeting pairs");
}
