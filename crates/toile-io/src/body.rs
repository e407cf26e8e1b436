//! Bodies of a scene as the engine takes them: one mesh that is simulated, drawn and judged.

use crate::animation::playable;
use crate::build::BuildError;
use crate::repair::{Fault, repair};
use crate::scene::schema::{BodyShape, Metaball};
use crate::scene::{self, BodySource, Scene, SceneMeshes};
use glam::DVec3;
use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};
use toile::Obstacle;
use toile::collide::collider::{
    Ball, Body, Collider, ColliderError, Form, Frame, JUMP, MAX_FACES, Metaballs, lathe,
};
use toile::drive::{Key, Motion, Transform};
use toile::mesh::Surface;

/// Vertices and faces.
type Triangles = (Vec<DVec3>, Vec<[u32; 3]>);

/// Every body of a scene, placed at its first frame.
/// `cloths` are the places where cloth starts: a closed mesh that looks inwards is a room if there is cloth inside, and
/// turned inside out otherwise.
pub(crate) fn bodies(
    scene: &Scene,
    meshes: &SceneMeshes,
    cloths: &[&[DVec3]],
    notes: &mut Vec<String>,
) -> Result<Vec<Obstacle>, BuildError> {
    let refuse = |name: &str, reason: &dyn std::fmt::Display| BuildError {
        message: format!("body `{name}`: {reason}"),
    };
    let mut obstacle = |body: &scene::Body| {
        let mut own = Vec::new();
        let (shape, tolerance) = match &body.source {
            BodySource::Shape(shape) => {
                of_shape(shape, body.tolerance).map_err(|e| refuse(&body.name, &e))?
            }
            source => {
                let shape = of_file(body, source, meshes, cloths, &mut own);
                (shape.map_err(|e| refuse(&body.name, &e))?, body.tolerance)
            }
        };
        let stand = Transform { matrix: body.placement.matrix3, offset: body.placement.translation };
        let time = |frame: f64| (frame - f64::from(scene.frames.first)) * scene.frame_time;
        let motion = body.motion.for_engine(time, stand.offset);
        own.extend(leaps(&motion));
        notes.extend(own.iter().map(|note| format!("body `{}`: {note}", body.name)));
        let collider =
            Collider::standing(shape, stand, motion, tolerance).map_err(|e| refuse(&body.name, &e))?;
        Ok(Obstacle { name: body.name.clone(), collider })
    };
    scene.bodies.iter().map(&mut obstacle).collect()
}

/// A note if keys are so far apart that the body jumps from one to the next.
fn leaps(motion: &Motion) -> Option<String> {
    let fast = |keys: &[Key]| {
        let way = keys[0].translate.distance(keys[1].translate);
        (way / (keys[1].time - keys[0].time) > JUMP).then_some(way)
    };
    let (k, way) = motion.keys.windows(2).enumerate().find_map(|(k, keys)| Some((k, fast(keys)?)))?;
    Some(format!(
        "[jump] from key {} to key {} of its motion it goes {way:.1} m, faster than {JUMP:.0} m/s; it is there at once, and \
         touches nothing on the way: put the keys farther apart if it is no cut",
        k + 1,
        k + 2
    ))
}

/// A mesh file, repaired, at rest or through its frames.
fn of_file(
    body: &scene::Body,
    source: &BodySource,
    meshes: &SceneMeshes,
    cloths: &[&[DVec3]],
    notes: &mut Vec<String>,
) -> Result<Body, String> {
    let obj = source.file().and_then(|file| meshes.get(file)).ok_or("its mesh file was not read")?;
    let scaled = |x: Vec<DVec3>| x.into_iter().map(|p| p * body.scale).collect::<Vec<_>>();
    let (mut frames, mut names) = (Vec::new(), Vec::new());
    for (time, x, name) in meshes.named_frames(source) {
        frames.push(Frame { time, positions: scaled(x) });
        names.push(name);
    }
    if frames.is_empty() {
        frames.push(Frame { time: 0.0, positions: scaled(obj.positions.clone()) });
        names.push("its mesh".into());
    }
    let frames = playable(frames, &obj.triangulate().faces, &|k| names[k].clone(), notes)?;
    let poses: Vec<&[DVec3]> = frames[1..].iter().map(|frame| frame.positions.as_slice()).collect();
    let mesh = repair(&frames[0].positions, &obj.polygons, &poses).map_err(|e| e.to_string())?;
    let told = mesh.findings.repairs().filter(|finding| finding.fault != Fault::Branch);
    notes.extend(told.map(|finding| finding.to_string()));
    let closed = mesh.is_closed();
    let mut faces = mesh.faces;
    if closed && volume(&frames[0].positions, &faces) < 0.0 {
        turn_out(body, &frames[0].positions, &mut faces, cloths, notes);
    }
    let solid = body.solid.unwrap_or(closed);
    Ok(Body::Mesh { faces, frames, solid })
}

/// Six times the volume that faces enclose, negative if they look inwards.
fn volume(x: &[DVec3], faces: &[[u32; 3]]) -> f64 {
    let tetra = |f: &[u32; 3]| {
        let [a, b, c] = f.map(|v| x[v as usize] - x[0]);
        a.dot(b.cross(c))
    };
    faces.iter().map(tetra).sum()
}

/// Turns the faces of a closed mesh outwards, unless there is cloth inside.
fn turn_out(
    body: &scene::Body,
    x: &[DVec3],
    faces: &mut [[u32; 3]],
    cloths: &[&[DVec3]],
    notes: &mut Vec<String>,
) {
    faces.iter_mut().for_each(|face| face.swap(1, 2));
    let placed = x.iter().map(|p| body.placement.matrix3 * *p + body.placement.translation).collect();
    let room = Surface::new(placed, faces.to_vec()).is_ok_and(|surface| {
        let some = |x: &&[DVec3]| x.iter().step_by(x.len().div_ceil(64).max(1)).any(|p| surface.contains(*p));
        cloths.iter().any(some)
    });
    if room {
        faces.iter_mut().for_each(|face| face.swap(1, 2));
    } else {
        notes.push("[inside-out] its faces look inwards; they were turned".into());
    }
}

/// A shape and the tolerance its mesh is made with [m].
fn of_shape(shape: &BodyShape, tolerance: f64) -> Result<(Body, f64), ColliderError> {
    let mesh = |(positions, faces): Triangles, solid: bool| Body::Mesh {
        faces,
        frames: vec![Frame { time: 0.0, positions }],
        solid,
    };
    let body = match *shape {
        BodyShape::Sphere { radius, subdivisions } => mesh(ball(radius, subdivisions), true),
        BodyShape::Plane { size } => mesh(rectangle(size), false),
        BodyShape::Bowl { curvature, radius } => mesh(bowl(curvature, radius, tolerance)?, false),
        BodyShape::Box { size } => Body::Form(Form::Box { size: DVec3::from(size) }),
        BodyShape::Capsule { radius, height } => Body::Form(Form::Capsule { radius, height }),
        BodyShape::Cylinder { radius, height, segments } => {
            let form = Body::Form(Form::Cylinder { radius, height });
            // The mesh has as many sides as the sagitta of one asks for; a little more than that of n sides asks for n.
            let sagitta = |n: u32| radius * (1.0 - libm::cos(PI / f64::from(n))) * (1.0 + 1e-6);
            return Ok((form, segments.map_or(tolerance, sagitta)));
        }
        BodyShape::Cone { radius, top, height } => {
            Body::Form(Form::Cone { radius_bottom: radius, radius_top: top, height })
        }
        BodyShape::Torus { radius, tube } => {
            Body::Form(Form::Torus { radius_ring: radius, radius_tube: tube })
        }
        BodyShape::Metaballs { ref balls, threshold } => {
            let ball =
                |b: &Metaball| Ball { centre: DVec3::from(b.centre), radius: b.radius, weight: b.weight };
            Body::Metaballs(Metaballs { balls: balls.iter().map(ball).collect(), threshold })
        }
        BodyShape::Lathe { ref profile } => {
            let (made, solid) = lathe(profile, tolerance)?;
            mesh((made.positions, made.faces), solid)
        }
        BodyShape::Hull { ref points } => Body::Hull(points.iter().map(|p| DVec3::from(*p)).collect()),
    };
    Ok((body, tolerance))
}

/// A horizontal rectangle facing up.
fn rectangle([width, depth]: [f64; 2]) -> Triangles {
    let corner = |x: f64, z: f64| DVec3::new(0.5 * x * width, 0.0, 0.5 * z * depth);
    let points = vec![corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0), corner(-1.0, -1.0)];
    (points, vec![[0, 1, 2], [0, 2, 3]])
}

/// The paraboloid y = curvature (x² + z²) up to a radius, seen from above. A triangle
/// inside a circle of radius R leaves it by at most a R², wherever it is: the same length serves everywhere.
fn bowl(curvature: f64, radius: f64, tolerance: f64) -> Result<Triangles, ColliderError> {
    let chord = (1.8 * tolerance / curvature.abs()).sqrt();
    let rings = (radius / chord).ceil().max(2.0);
    if 6.0 * rings * rings > MAX_FACES as f64 {
        return Err(ColliderError::TooFine { shape: "bowl", tolerance, limit: MAX_FACES });
    }
    let rings = rings as u32;
    let mut points = vec![DVec3::ZERO];
    let mut faces: Vec<[u32; 3]> = Vec::new();
    // Ring k has 6k vertices: triangles are as wide as long all the way.
    let first = |k: u32| if k == 0 { 0 } else { 1 + 3 * k * (k - 1) };
    for k in 1..=rings {
        let r = radius * f64::from(k) / f64::from(rings);
        for j in 0..6 * k {
            let (s, c) = libm::sincos(TAU * f64::from(j) / f64::from(6 * k));
            points.push(DVec3::new(r * c, curvature * r * r, -r * s));
        }
        for sector in 0..6 {
            for j in 0..k {
                let outer = |j: u32| first(k) + (sector * k + j) % (6 * k);
                let inner =
                    |j: u32| if k == 1 { 0 } else { first(k - 1) + (sector * (k - 1) + j) % (6 * (k - 1)) };
                faces.push([inner(j), outer(j), outer(j + 1)]);
                if j + 1 < k {
                    faces.push([inner(j), outer(j + 1), inner(j + 1)]);
                }
            }
        }
    }
    Ok((points, faces))
}

/// A ball from an icosahedron, each face cut in four `subdivisions` times, vertices on the sphere.
pub(crate) fn ball(radius: f64, subdivisions: u32) -> Triangles {
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

    fn collider(shape: &BodyShape, tolerance: f64) -> Result<Collider, ColliderError> {
        let (body, tolerance) = of_shape(shape, tolerance)?;
        Collider::new(body, Motion::still(), tolerance)
    }

    #[test]
    fn meshes_have_the_faces_that_are_documented_and_face_outwards() {
        let (points, faces) = ball(2.0, 4);
        let exact = 4.0 / 3.0 * PI * 8.0;
        let volume = signed_volume(&points, &faces);
        assert!(volume > 0.97 * exact && volume < exact, "{volume} of {exact}");
        assert_eq!(faces.len(), 5120);
        let cube = collider(&BodyShape::Box { size: [1.0, 2.0, 3.0] }, 1e-3).expect("sound");
        assert!((signed_volume(cube.positions(), &cube.facets().faces) - 6.0).abs() < 1e-14);
        assert_eq!(cube.facets().faces.len(), 12);
        let table = BodyShape::Cylinder { radius: 0.4, height: 0.05, segments: Some(64) };
        let table = collider(&table, 1e-3).expect("sound");
        assert_eq!(table.facets().faces.len(), 4 * 64, "64 sides, two lids of 64 triangles, two per side");
        let closed = |x: &[DVec3], faces: &[[u32; 3]]| {
            Surface::new(x.to_vec(), faces.to_vec()).expect("sound").is_closed()
        };
        assert!(closed(&points, &faces) && closed(table.positions(), &table.facets().faces));
        for (points, faces) in [rectangle([1.0, 3.0]), bowl(0.35, 0.9, 1e-3).expect("sound")] {
            let up = |f: &[u32; 3]| {
                let [a, b, c] = f.map(|v| points[v as usize]);
                (b - a).cross(c - a).y > 0.0
            };
            assert!(faces.iter().all(up) && !closed(&points, &faces));
        }
    }

    #[test]
    fn a_bowl_keeps_its_tolerance() {
        for tolerance in [1e-2, 1e-3, 1e-4] {
            let (points, faces) = bowl(0.35, 0.9, tolerance).expect("sound");
            let mut worst: f64 = 0.0;
            for face in &faces {
                let x = face.map(|v| points[v as usize]);
                for w in [[1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]] {
                    let p = (x[0] * w[0] + x[1] * w[1] + x[2] * w[2]) / w.iter().sum::<f64>();
                    worst = worst.max((p.y - 0.35 * (p.x * p.x + p.z * p.z)).abs());
                }
            }
            assert!(worst <= tolerance && worst > 0.2 * tolerance, "{worst} m of {tolerance} m");
        }
        assert!(bowl(0.35, 2.0, 1e-8).expect_err("too fine").to_string().contains("larger tolerance"));
    }

    #[test]
    fn round_bodies_keep_their_tolerance_and_bad_ones_are_refused() {
        for shape in [
            BodyShape::Capsule { radius: 0.2, height: 0.5 },
            BodyShape::Cylinder { radius: 0.2, height: 0.5, segments: None },
            BodyShape::Cone { radius: 0.3, top: 0.0, height: 0.5 },
            BodyShape::Torus { radius: 0.4, tube: 0.1 },
        ] {
            let volume = |tolerance| {
                let made = collider(&shape, tolerance).expect("sound");
                signed_volume(made.positions(), &made.facets().faces)
            };
            let (coarse, fine) = (volume(1e-2), volume(1e-4));
            assert!(coarse > 0.8 * fine && fine > coarse, "{shape:?}: {coarse}, {fine} m³");
        }
        let pinched = BodyShape::Torus { radius: 0.1, tube: f64::NAN };
        assert!(collider(&pinched, 1e-3).expect_err("no tube").to_string().contains("torus"));
        let flat =
            BodyShape::Hull { points: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]] };
        assert!(collider(&flat, 1e-3).expect_err("flat").to_string().contains("in a plane"));
    }
}
