//! The smallest distance against brute force over all features, by other formulas.

use std::collections::BTreeSet;

use glam::DVec3;
use toile::collide::certify::{CheckOptions, ClosePair, Distance};

use crate::support::{Mesh, Rng, wavy};

fn point_segment(p: DVec3, a: DVec3, b: DVec3) -> f64 {
    let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
    p.distance(a.lerp(b, t))
}

/// Normal equations for the foot in the plane, else the edges.
fn point_face(p: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let (e, f, d) = (b - a, c - a, p - a);
    let (ee, ef, ff, ed, fd) = (e.dot(e), e.dot(f), f.dot(f), e.dot(d), f.dot(d));
    let det = ee * ff - ef * ef;
    let (s, t) = ((ff * ed - ef * fd) / det, (ee * fd - ef * ed) / det);
    let rim = point_segment(p, a, b).min(point_segment(p, b, c)).min(point_segment(p, c, a));
    if s >= 0.0 && t >= 0.0 && s + t <= 1.0 { rim.min((d - e * s - f * t).length()) } else { rim }
}

/// The common perpendicular where it hits both, else the ends.
fn edge_edge([p, q]: [DVec3; 2], [u, v]: [DVec3; 2]) -> f64 {
    let ends = point_segment(p, u, v)
        .min(point_segment(q, u, v))
        .min(point_segment(u, p, q))
        .min(point_segment(v, p, q));
    let (d, e) = (q - p, v - u);
    let n = d.cross(e);
    let nn = n.length_squared();
    if nn < 1e-20 * d.length_squared() * e.length_squared() {
        return ends;
    }
    let s = (u - p).cross(e).dot(n) / nn;
    let t = (u - p).cross(d).dot(n) / nn;
    if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
        ends.min((u - p).dot(n).abs() / nn.sqrt())
    } else {
        ends
    }
}

fn brute_force(mesh: &Mesh) -> f64 {
    let mut least = f64::INFINITY;
    let edges: Vec<[u32; 2]> = mesh.faces.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    let used: BTreeSet<u32> = mesh.faces.iter().flatten().copied().collect();
    for (f, face) in mesh.faces.iter().enumerate() {
        for v in used.iter().copied().filter(|v| !face.contains(v)) {
            least = least.min(point_face(mesh.x[v as usize], mesh.corners(f)));
        }
    }
    for (i, a) in edges.iter().enumerate() {
        for b in edges[..i].iter().filter(|b| !b.contains(&a[0]) && !b.contains(&a[1])) {
            least = least.min(edge_edge(a.map(|v| mesh.x[v as usize]), b.map(|v| mesh.x[v as usize])));
        }
    }
    least
}

#[test]
fn closest_pair_is_that_of_brute_force() {
    let mut rng = Rng(21);
    for i in 0..200 {
        let mut mesh = wavy(&mut rng);
        if i % 2 == 0 {
            let mut lid = wavy(&mut rng);
            let first = mesh.x.len() as u32;
            lid.x.iter_mut().for_each(|p| *p = *p * 0.7 + 0.5 * DVec3::ONE);
            mesh.x.append(&mut lid.x);
            mesh.faces.extend(lid.faces.iter().map(|f| f.map(|v| v + first)));
        }
        let verdict = mesh.check();
        let (closest, want) = (verdict.closest.unwrap(), brute_force(&mesh));
        assert!(
            (closest.distance - want).abs() <= 1e-14 + 1e-9 * want,
            "{} against {want}",
            closest.distance
        );
        let named = match closest.pair {
            ClosePair::VertexFace(v, f) => {
                point_face(mesh.x[v.vertex as usize], mesh.corners(f.face as usize))
            }
            ClosePair::EdgeEdge(a, b) => {
                edge_edge(a.vertices.map(|v| mesh.x[v as usize]), b.vertices.map(|v| mesh.x[v as usize]))
            }
        };
        assert!((named - want).abs() <= 1e-14 + 1e-9 * want, "the named pair is the closest");
        let ask = |distance| mesh.check_with(CheckOptions { distance, ..CheckOptions::default() }).closest;
        assert_eq!(ask(Distance::Off), None);
        assert_eq!(ask(Distance::Within(0.99 * want)), None);
        assert_eq!(ask(Distance::Within(1.01 * want + 1e-12)), Some(closest));
        assert_eq!(ask(Distance::Within(f64::NAN)), None);
        assert_eq!(ask(Distance::Within(-1.0)), None);
    }
}

/// Loose faces that share vertices and edges at random: the closest features are often those of neighbours.
#[test]
fn closest_pair_of_neighbours_is_that_of_brute_force() {
    let mut rng = Rng(22);
    for _ in 0..3000 {
        let vertices = 5 + rng.below(5);
        let x: Vec<DVec3> = (0..vertices).map(|_| rng.vector()).collect();
        let face = |rng: &mut Rng| {
            let (a, step) = (rng.below(vertices), 1 + rng.below(vertices - 2));
            let b = (a + step) % vertices;
            let c = (0..vertices).cycle().skip(rng.below(vertices)).find(|&c| c != a && c != b).unwrap();
            [a, b, c].map(|v| v as u32)
        };
        let mesh = Mesh { faces: (0..2 + rng.below(3)).map(|_| face(&mut rng)).collect(), x };
        let (found, want) = (mesh.check().min_distance(), brute_force(&mesh));
        let found = found.unwrap_or(f64::INFINITY);
        assert!(
            found == want || (found - want).abs() <= 1e-14 + 1e-9 * want,
            "{found} against {want}: {mesh:?}"
        );
    }
}

/// A kilometre from the origin an f32 is 60 µm wide; the millimetre gaps are told apart all the same.
#[test]
fn closest_pair_is_found_far_from_the_origin() {
    let mut rng = Rng(23);
    for _ in 0..200 {
        let mut mesh = Mesh { x: Vec::new(), faces: Vec::new() };
        let mut least = f64::INFINITY;
        for i in 0..40 {
            let corner = DVec3::new(1000.0 + 0.1 * f64::from(i), 1000.0 + rng.unit(), 1000.0);
            let lid = corner + DVec3::Y * rng.between(1.0e-3, 1.1e-3);
            least = least.min(lid.y - corner.y);
            for base in [corner, lid] {
                mesh.add_face([base, base + DVec3::Z * 0.05, base + DVec3::X * 0.05]);
            }
        }
        let found = mesh.check().min_distance().unwrap();
        assert!((found - least).abs() < 1e-15, "{found} against {least}");
    }
}
