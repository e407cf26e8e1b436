//! Meshes of generated bodies.

use crate::scene::schema::{BodyShape, Metaball};
use glam::DVec3;
use std::collections::BTreeMap;
use toile::collide::collider::{Ball, Body, Collider, ColliderError, Form, Metaballs};
use toile::drive::Motion;

/// Vertices and faces.
type Triangles = (Vec<DVec3>, Vec<[u32; 3]>);

/// The triangles of a shape, within `tolerance` [m] of it where it is round.
pub(crate) fn body_mesh(shape: &BodyShape, tolerance: f64) -> Result<Triangles, ColliderError> {
    let body = match shape {
        BodyShape::Sphere { radius, subdivisions } => return Ok(ball(*radius, *subdivisions)),
        BodyShape::Plane { size } => return Ok(block(DVec3::new(size[0], 0.0, size[1]))),
        BodyShape::Box { size } => return Ok(block(DVec3::from(*size))),
        BodyShape::Capsule { radius, height } => {
            Body::Form(Form::Capsule { radius: *radius, height: *height })
        }
        BodyShape::Cylinder { radius, height } => {
            Body::Form(Form::Cylinder { radius: *radius, height: *height })
        }
        BodyShape::Cone { radius, top, height } => {
            Body::Form(Form::Cone { radius_bottom: *radius, radius_top: *top, height: *height })
        }
        BodyShape::Torus { radius, tube } => {
            Body::Form(Form::Torus { radius_ring: *radius, radius_tube: *tube })
        }
        BodyShape::Metaballs { balls, threshold } => {
            let ball =
                |b: &Metaball| Ball { centre: DVec3::from(b.centre), radius: b.radius, weight: b.weight };
            Body::Metaballs(Metaballs { balls: balls.iter().map(ball).collect(), threshold: *threshold })
        }
    };
    let collider = Collider::new(body, Motion::still(), tolerance)?;
    Ok((collider.positions().to_vec(), collider.facets().faces.clone()))
}

/// A box of the given extents, or a rectangle facing up if it has no height.
fn block(size: DVec3) -> Triangles {
    let h = 0.5 * size;
    let level = |y: f64| {
        [(-1.0, 1.0), (1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)].map(|(x, z)| DVec3::new(x * h.x, y, z * h.z))
    };
    if size.y == 0.0 {
        return (level(0.0).to_vec(), vec![[0, 1, 2], [0, 2, 3]]);
    }
    let points = [level(-h.y), level(h.y)].concat();
    let mut faces = vec![[4, 5, 6], [4, 6, 7], [0, 2, 1], [0, 3, 2]];
    for k in 0..4u32 {
        let next = (k + 1) % 4;
        faces.extend([[k, next, next + 4], [k, next + 4, k + 4]]);
    }
    (points, faces)
}

/// A ball from an icosahedron, each face cut in four `subdivisions` times, vertices on the sphere.
fn ball(radius: f64, subdivisions: u32) -> Triangles {
    let g = 0.5 * (1.0 + 5f64.sqrt());
    let mut points: Vec<DVec3> = [(-1.0, g), (1.0, g), (-1.0, -g), (1.0, -g)]
        .iter()
        .map(|&(a, b)| DVec3::new(a, b, 0.0))
        .chain([(-1.0, g), (1.0, g), (-1.0, -g), (1.0, -g)].iter().map(|&(a, b)| DVec3::new(0.0, a, b)))
        .chain([(g, -1.0), (g, 1.0), (-g, -1.0), (-g, 1.0)].iter().map(|&(a, b)| DVec3::new(a, 0.0, b)))
        .map(|p| p.normalize() * radius)
        .collect();
    let mut faces: Vec<[u32; 3]> = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    for _ in 0..subdivisions.min(8) {
        let mut middles = BTreeMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                points.push((points[a as usize] + points[b as usize]).normalize() * radius);
                points.len() as u32 - 1
            })
        };
        faces = faces
            .iter()
            .flat_map(|&[a, b, c]| {
                let (x, y, z) = (middle(a, b), middle(b, c), middle(c, a));
                [[a, x, z], [b, y, x], [c, z, y], [x, y, z]]
            })
            .collect();
    }
    (points, faces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed_volume(points: &[DVec3], faces: &[[u32; 3]]) -> f64 {
        let tetra = |f: &[u32; 3]| {
            let [a, b, c] = f.map(|v| points[v as usize]);
            a.dot(b.cross(c)) / 6.0
        };
        faces.iter().map(tetra).sum()
    }

    #[test]
    fn bodies_are_closed_and_face_outwards() {
        let (points, faces) = ball(2.0, 3);
        let exact = 4.0 / 3.0 * std::f64::consts::PI * 8.0;
        let volume = signed_volume(&points, &faces);
        assert!(volume > 0.97 * exact && volume < exact, "{volume} of {exact}");
        assert_eq!(faces.len(), 20 * 64);
        let (points, faces) = block(DVec3::new(1.0, 2.0, 3.0));
        assert!((signed_volume(&points, &faces) - 6.0).abs() < 1e-14);
        assert_eq!(faces.len(), 12);
        let (points, faces) = block(DVec3::new(1.0, 0.0, 3.0));
        let up = |f: &[u32; 3]| {
            let [a, b, c] = f.map(|v| points[v as usize]);
            (b - a).cross(c - a).y > 0.0
        };
        assert!(faces.iter().all(up) && faces.len() == 2);
    }

    #[test]
    fn round_bodies_keep_their_tolerance_and_bad_ones_are_refused() {
        for shape in [
            BodyShape::Capsule { radius: 0.2, height: 0.5 },
            BodyShape::Cylinder { radius: 0.2, height: 0.5 },
            BodyShape::Cone { radius: 0.3, top: 0.0, height: 0.5 },
            BodyShape::Torus { radius: 0.4, tube: 0.1 },
        ] {
            let volume = |tolerance| {
                let (points, faces) = body_mesh(&shape, tolerance).expect("sound");
                signed_volume(&points, &faces)
            };
            let (coarse, fine) = (volume(1e-2), volume(1e-4));
            assert!(coarse > 0.8 * fine && fine > coarse, "{shape:?}: {coarse}, {fine} m³");
        }
        let pinched = BodyShape::Torus { radius: 0.1, tube: f64::NAN };
        assert!(body_mesh(&pinched, 1e-3).expect_err("no tube").to_string().contains("torus"));
    }
}
