//! 10,000 planted faults, each of which must be found, by its own pair of faces.

use glam::DVec3;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Finding, Kind, Meeting};

use toile::mesh::shapes::{Pattern, sheet};

use crate::support::{Mesh, Rng, exact_plane, meeting, wavy};

/// A point strictly inside a face.
fn inside(rng: &mut Rng, [a, b, c]: [DVec3; 3]) -> DVec3 {
    let (u, v, w) = (rng.between(0.1, 1.0), rng.between(0.1, 1.0), rng.between(0.1, 1.0));
    (a * u + b * v + c * w) / (u + v + w)
}

fn normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize()
}

/// Planting returns the pair of faces at fault.
type Plant = fn(&mut Rng, &mut Mesh) -> (usize, usize);

fn edge_through_face(rng: &mut Rng, mesh: &mut Mesh) -> (usize, usize) {
    let f = rng.below(mesh.faces.len());
    let (p, n) = (inside(rng, mesh.corners(f)), normal(mesh.corners(f)));
    let depth = [1e-3, 1e-6, 1e-9][rng.below(3)];
    let slant = n + 0.5 * rng.vector();
    let slant = if slant.dot(n) > 0.2 { slant } else { n };
    let added = mesh.add_face([p + slant * depth, p - slant * depth, p + slant * 0.05 + 0.02 * rng.vector()]);
    (f, added)
}

fn vertex_barely_through(rng: &mut Rng, mesh: &mut Mesh) -> (usize, usize) {
    *mesh = flat(rng);
    let f = rng.below(mesh.faces.len());
    let [a, b, c] = mesh.corners(f);
    // Exact in binary: weights 1/2, 1/4, 1/4 of dyadic coordinates.
    let p = a * 0.5 + b * 0.25 + c * 0.25;
    let depth = [1e-17, 1e-100, 1e-300, 5e-324][rng.below(4)];
    let added =
        mesh.add_face([p - DVec3::Y * depth, p + DVec3::new(0.1, 0.3, 0.0), p + DVec3::new(-0.1, 0.3, 0.1)]);
    (f, added)
}

fn vertex_exactly_on_face(rng: &mut Rng, mesh: &mut Mesh) -> (usize, usize) {
    *mesh = exact_plane(rng);
    let f = rng.below(mesh.faces.len());
    let [a, b, c] = mesh.corners(f);
    let p = [a, (a + b) * 0.5, (b + c) * 0.5, a * 0.5 + b * 0.25 + c * 0.25][rng.below(4)];
    let up = normal([a, b, c]);
    let added = mesh.add_face([p, p + up + 0.1 * rng.vector(), p + up + 0.1 * rng.vector()]);
    (f, added)
}

fn edges_crossing_exactly(rng: &mut Rng, mesh: &mut Mesh) -> (usize, usize) {
    *mesh = flat(rng);
    let f = rng.below(mesh.faces.len());
    let [a, b, c] = mesh.corners(f);
    // Through the middle of an edge, in a vertical plane across it, the third vertex outside.
    let m = (a + b) * 0.5;
    let out = (m - c) * 0.25 + DVec3::Y * 0.125;
    let added = mesh.add_face([m + DVec3::Y * 0.5, m - DVec3::Y * 0.5, m + out]);
    (f, added)
}

fn coplanar_overlap(rng: &mut Rng, mesh: &mut Mesh) -> (usize, usize) {
    *mesh = exact_plane(rng);
    let f = rng.below(mesh.faces.len());
    let [a, b, c] = mesh.corners(f);
    let shift = [(b - a) * 0.5, (c - b) * 0.25, (b - a) * 0.25 + (c - a) * 0.25][rng.below(3)];
    let added = mesh.add_face([a + shift, b + shift, c + shift]);
    (f, added)
}

fn contained(rng: &mut Rng, mesh: &mut Mesh) -> (usize, usize) {
    *mesh = exact_plane(rng);
    let f = rng.below(mesh.faces.len());
    let [a, b, c] = mesh.corners(f);
    let m = a * 0.5 + b * 0.25 + c * 0.25;
    let shrink = |p: DVec3| m * 0.75 + p * 0.25;
    let added = mesh.add_face([shrink(a), shrink(c), shrink(b)]);
    (f, added)
}

fn folded_flat(rng: &mut Rng, mesh: &mut Mesh) -> (usize, usize) {
    *mesh = exact_plane(rng);
    let f = rng.below(mesh.faces.len());
    let ([a, b, _], x) = (mesh.faces[f], mesh.corners(f));
    // A new neighbour over edge a–b whose apex lies on the same side, inside or beyond the face.
    let apex = match rng.below(3) {
        0 => x[0] * 0.5 + x[1] * 0.25 + x[2] * 0.25,
        1 => x[2] + (x[2] - x[0]),
        _ => x[2] + (x[1] - x[0]) * 8.0,
    };
    mesh.x.push(apex);
    mesh.faces.push([b, a, mesh.x.len() as u32 - 1]);
    (f, mesh.faces.len() - 1)
}

fn shared_vertex_through(rng: &mut Rng, mesh: &mut Mesh) -> (usize, usize) {
    let f = rng.below(mesh.faces.len());
    let (p, n) = (inside(rng, mesh.corners(f)), normal(mesh.corners(f)));
    let k = mesh.x.len() as u32;
    mesh.x.extend([p + 1e-3 * n, p - 1e-3 * n]);
    mesh.faces.push([mesh.faces[f][rng.below(3)], k, k + 1]);
    (f, mesh.faces.len() - 1)
}

fn shared_vertex_coplanar(rng: &mut Rng, mesh: &mut Mesh) -> (usize, usize) {
    *mesh = exact_plane(rng);
    let f = rng.below(mesh.faces.len());
    let [a, b, c] = mesh.corners(f);
    let k = mesh.x.len() as u32;
    // One new corner inside the angle at a, the other on either side of it.
    let far = 1.0 + rng.below(3) as f64;
    let outside = if rng.below(2) == 0 { a - (c - a) } else { a + (b - a) * 0.25 + (c - a) * 0.5 };
    mesh.x.extend([a + (b - a) * (0.5 * far) + (c - a) * (0.25 * far), outside]);
    mesh.faces.push([mesh.faces[f][0], k, k + 1]);
    (f, mesh.faces.len() - 1)
}

fn same_vertices_twice(rng: &mut Rng, mesh: &mut Mesh) -> (usize, usize) {
    let f = rng.below(mesh.faces.len());
    let [a, b, c] = mesh.faces[f];
    mesh.faces.push([[a, b, c], [b, c, a], [a, c, b]][rng.below(3)]);
    (f, mesh.faces.len() - 1)
}

fn same_places_twice(rng: &mut Rng, mesh: &mut Mesh) -> (usize, usize) {
    let f = rng.below(mesh.faces.len());
    let [a, b, c] = mesh.corners(f);
    let added = mesh.add_face([[a, b, c], [b, c, a], [a, c, b]][rng.below(3)]);
    (f, added)
}

/// A flat sheet in y = 0 with dyadic coordinates.
fn flat(rng: &mut Rng) -> Mesh {
    let n = [2, 4, 8][rng.below(3)];
    Mesh::from(sheet(1.0, 1.0, n, n, Pattern::Alternating).unwrap())
}

const PLANTS: [(&str, Plant, &[Meeting]); 11] = [
    ("edge through face", edge_through_face, &[Meeting::Crossing]),
    ("vertex barely through", vertex_barely_through, &[Meeting::Crossing]),
    ("vertex exactly on face", vertex_exactly_on_face, &[Meeting::Touching]),
    ("edges crossing exactly", edges_crossing_exactly, &[Meeting::Touching]),
    ("coplanar overlap", coplanar_overlap, &[Meeting::Coplanar]),
    ("contained", contained, &[Meeting::Coplanar]),
    ("folded flat", folded_flat, &[Meeting::FoldedFlat]),
    ("shared vertex, pushed through", shared_vertex_through, &[Meeting::Crossing]),
    ("shared vertex, coplanar", shared_vertex_coplanar, &[Meeting::Coplanar]),
    ("same vertices twice", same_vertices_twice, &[Meeting::Duplicate]),
    ("same places twice", same_places_twice, &[Meeting::Duplicate]),
];

#[test]
fn finds_every_planted_intersection() {
    let mut rng = Rng(2024);
    let mut found = [0; PLANTS.len()];
    for i in 0..10_000 {
        let (name, plant, kinds) = PLANTS[i % PLANTS.len()];
        let mut mesh = wavy(&mut rng);
        assert!(mesh.check().pass(), "the cloth is clean before planting");
        let (a, b) = plant(&mut rng, &mut mesh);
        let verdict = mesh.check();
        assert!(!verdict.pass(), "{name}: false PASS of {mesh:?}");
        let kind = meeting(&verdict, a, b);
        assert!(
            kind.is_some_and(|kind| kinds.contains(&kind)),
            "{name}: faces {a} {b} are {kind:?} in {mesh:?}"
        );
        found[i % PLANTS.len()] += 1;
    }
    for ((name, ..), count) in PLANTS.iter().zip(found) {
        println!("{name}: {count} planted, {count} found");
    }
}

/// The same faults between two cloths, and between cloth and body; bodies among themselves only when asked.
#[test]
fn finds_faults_between_surfaces() {
    let mut rng = Rng(77);
    for i in 0..500 {
        let (_, plant, _) = PLANTS[i % 6];
        let mut mesh = wavy(&mut rng);
        plant(&mut rng, &mut mesh);
        let (n, v) = (mesh.faces.len() - 1, mesh.x.len() - 3);
        let first = |kind| CheckSurface::new("first", kind, v, mesh.faces[..n].to_vec());
        let second = |kind| CheckSurface::new("second", kind, 3, vec![[0, 1, 2]]);
        let frame: [&[DVec3]; 2] = [&mesh.x[..v], &mesh.x[v..]];
        for (kinds, bodies, finds) in [
            ([Kind::Cloth, Kind::Cloth], false, true),
            ([Kind::Cloth, Kind::Body], false, true),
            ([Kind::Body, Kind::Cloth], false, true),
            ([Kind::Body, Kind::Body], false, false),
            ([Kind::Body, Kind::Body], true, true),
        ] {
            let options = CheckOptions { bodies, ..CheckOptions::default() };
            let mut checker = Checker::new(vec![first(kinds[0]), second(kinds[1])], options).unwrap();
            let verdict = checker.check(&frame);
            assert_eq!(!verdict.pass(), finds);
            for finding in &verdict.findings {
                let Finding::Intersection { edge, face, .. } = finding else { panic!("{finding:?}") };
                assert_ne!(edge.surface, face.surface);
                assert!(checker.describe(*finding).to_string().contains("second"));
            }
        }
    }
}
