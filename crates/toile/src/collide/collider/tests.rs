use super::*;
use crate::drive::Key;
use crate::math::random;
use crate::math::rotation::euler_degrees;
use crate::mesh::{Surface, SurfaceError};

fn point(seed: u64, n: u64, size: f64) -> DVec3 {
    DVec3::new(random::signed(seed, 3 * n), random::signed(seed, 3 * n + 1), random::signed(seed, 3 * n + 2))
        * size
}

fn forms() -> Vec<Form> {
    vec![
        Form::Plane { size: 2.0 },
        Form::Sphere { radius: 0.4 },
        Form::Capsule { radius: 0.15, height: 0.6 },
        Form::Cylinder { radius: 0.3, height: 0.5 },
        Form::Cone { radius_bottom: 0.4, radius_top: 0.1, height: 0.7 },
        Form::Cone { radius_bottom: 0.0, radius_top: 0.3, height: 0.5 },
        Form::Box { size: DVec3::new(0.5, 0.8, 0.3) },
        Form::Torus { radius_ring: 0.4, radius_tube: 0.12 },
    ]
}

fn metaballs() -> Metaballs {
    let ball = |x: f64, y: f64, radius: f64| Ball { centre: DVec3::new(x, y, 0.1 * x), radius, weight: 1.0 };
    Metaballs {
        balls: vec![ball(-0.2, 0.0, 0.4), ball(0.2, 0.1, 0.35), ball(0.0, -0.3, 0.3)],
        threshold: 0.3,
    }
}

/// A closed surface with its faces outward, none without area.
fn assert_closed(name: &str, facets: &Facets) {
    let surface = Surface::new(facets.positions.clone(), facets.faces.clone()).expect("sound");
    assert!(surface.is_closed(), "{name} leaks");
    let mut edges: Vec<[u32; 2]> =
        facets.faces.iter().flat_map(|f| [[f[0], f[1]], [f[1], f[2]], [f[2], f[0]]]).collect();
    edges.sort_unstable();
    assert!(edges.windows(2).all(|pair| pair[0] != pair[1]), "{name}: more than two faces at an edge");
    let volume: f64 = (0..facets.faces.len() as u32)
        .map(|f| {
            let [a, b, c] = surface.corners(f);
            assert!((b - a).cross(c - a).length() > 0.0, "{name}: face {f} has no area");
            a.dot(b.cross(c)) / 6.0
        })
        .sum();
    assert!(volume > 0.0, "{name} is inside out: {volume}");
}

/// Largest distance from points of the mesh to the shape and back.
fn hausdorff(facets: &Facets, near: &dyn Fn(DVec3) -> Near) -> (f64, f64) {
    let surface = Surface::new(facets.positions.clone(), facets.faces.clone()).expect("sound");
    let mut there: f64 = 0.0;
    let stride = facets.faces.len() / 5000 + 1;
    for f in (0..facets.faces.len() as u32).step_by(stride) {
        let [a, b, c] = surface.corners(f);
        for (u, v) in [(0.0, 0.0), (0.5, 0.5), (0.5, 0.0), (0.0, 0.5), (1.0 / 3.0, 1.0 / 3.0), (0.2, 0.5)] {
            there = there.max(near(a * (1.0 - u - v) + b * u + c * v).distance.abs());
        }
    }
    let mut back: f64 = 0.0;
    for n in 0..3000 {
        let foot = near(point(1, n, 1.0)).point;
        back = back.max(surface.nearest(foot, f64::INFINITY).expect("unbounded").distance);
    }
    (there, back)
}

#[test]
fn meshes_keep_their_tolerance_and_are_closed() {
    for form in forms() {
        for tolerance in [0.02, 1e-3, 1e-4] {
            let facets = form.facets(tolerance).expect("sound");
            assert!(facets.tolerance <= tolerance);
            if matches!(form, Form::Plane { .. }) {
                assert!(facets.positions.iter().all(|p| p.y == 0.0));
                let surface = Surface::new(facets.positions, facets.faces).expect("sound");
                assert!((0..2).all(|f| surface.normal(f) == DVec3::Y));
                continue;
            }
            assert_closed(form.name(), &facets);
            let (there, back) = hausdorff(&facets, &|x| form.near(x));
            assert!(there <= tolerance + 1e-12, "{} mesh to shape: {there} > {tolerance}", form.name());
            assert!(back <= tolerance + 1e-12, "{} shape to mesh: {back} > {tolerance}", form.name());
        }
    }
}

/// Distance, point and normal agree with each other, and the normal with differences of the distance.
fn assert_distance(name: &str, near: &dyn Fn(DVec3) -> Near, loose: f64) {
    let (mut smooth, mut tried) = (0, 0);
    for n in 0..4000 {
        let x = point(2, n, 0.9);
        let here = near(x);
        assert!((here.normal.length() - 1.0).abs() < 1e-12, "{name}");
        assert!(((x - here.point).length() - here.distance.abs()).abs() < 1e-12, "{name}");
        assert!(near(here.point).distance.abs() < 1e-8, "{name}: the foot is not on the surface");
        if here.distance.abs() > 1e-6 {
            let along = (x - here.point).normalize() * here.distance.signum();
            assert!(along.dot(here.normal) > 1.0 - loose, "{name} at {x}: {along} {}", here.normal);
        }
        let h = 1e-6;
        let difference = |e: DVec3| (near(x + e * h).distance - near(x - e * h).distance) / (2.0 * h);
        let gradient = DVec3::new(difference(DVec3::X), difference(DVec3::Y), difference(DVec3::Z));
        tried += 1;
        smooth += i32::from((gradient - here.normal).length() < 1e-5 + loose);
    }
    // All but a few points sit off the edges and axes where the gradient jumps.
    assert!(smooth * 100 >= tried * 98, "{name}: {smooth} of {tried}");
}

#[test]
fn distances_have_their_gradients() {
    for form in forms() {
        assert_distance(form.name(), &|x| form.near(x), 1e-9);
    }
}

#[test]
fn the_sign_of_a_form_is_the_winding_number_of_its_mesh() {
    for form in forms().into_iter().skip(1) {
        let facets = form.facets(1e-3).expect("sound");
        let surface = Surface::new(facets.positions, facets.faces).expect("sound");
        for n in 0..600 {
            let x = point(3, n, 0.6);
            let distance = form.near(x).distance;
            if distance.abs() > 2e-3 {
                assert_eq!(surface.contains(x), distance < 0.0, "{} at {x}", form.name());
            }
        }
    }
}

#[test]
fn centres_axes_and_corners_have_an_answer() {
    for form in forms() {
        for x in [DVec3::ZERO, DVec3::Y * 0.1, DVec3::Y * 5.0, DVec3::X * 0.4, DVec3::new(0.25, 0.4, 0.15)] {
            let near = form.near(x);
            assert!(near.distance.is_finite() && near.point.is_finite(), "{} at {x}", form.name());
            assert!((near.normal.length() - 1.0).abs() < 1e-12, "{} at {x}", form.name());
        }
    }
}

#[test]
fn fields_have_meshes_and_distances() {
    let balls = metaballs();
    let exact = |x: DVec3| Form::Torus { radius_ring: 0.4, radius_tube: 0.15 }.near(x).distance;
    let grid = Grid::sample(DVec3::splat(-0.75), 0.05, [31, 31, 31], exact);
    for tolerance in [0.01, 1e-3] {
        for (name, body) in
            [("metaballs", Body::Metaballs(balls.clone())), ("grid", Body::Grid(grid.clone()))]
        {
            let collider = Collider::new(body, Motion::still(), tolerance).expect("sound");
            assert_closed(name, collider.facets());
            let near = |x: DVec3| {
                let t = collider.touch(x, f64::INFINITY).expect("unbounded");
                Near { distance: t.distance, point: t.point, normal: t.normal }
            };
            let (there, back) = hausdorff(collider.facets(), &near);
            assert!(there <= tolerance && back <= tolerance, "{name}: {there} {back} > {tolerance}");
        }
    }
}

#[test]
fn the_slope_of_metaballs_is_the_derivative_of_their_potential() {
    let balls = metaballs();
    for n in 0..500 {
        let (x, h) = (point(4, n, 0.5), 1e-6);
        let difference = |e: DVec3| (balls.potential(x + e * h) - balls.potential(x - e * h)) / (2.0 * h);
        let gradient = DVec3::new(difference(DVec3::X), difference(DVec3::Y), difference(DVec3::Z));
        assert!((gradient - balls.slope(x)).length() < 1e-7);
    }
    // One ball: the surface is a sphere of radius R √(1 − √(T/w)).
    let lone = Metaballs { balls: vec![Ball { centre: DVec3::X, radius: 0.5, weight: 2.0 }], threshold: 0.5 };
    let radius = 0.5 * 0.5_f64.sqrt();
    for n in 0..500 {
        let x = DVec3::X + point(5, n, 0.8);
        let near = lone.near(x);
        let expected = (x - DVec3::X).length() - radius;
        assert!((near.distance - expected).abs() < 1e-7, "{} {expected}", near.distance);
        assert!(near.normal.dot((x - DVec3::X).normalize()) > 1.0 - 1e-9);
    }
    assert!((lone.near(DVec3::X).distance + radius).abs() < 1e-7, "from the very centre");
    // Where the slope nearly vanishes: next to the centre, and next to where the influence ends.
    for r in [1e-9, 1e-4, 0.01, 0.499, 0.499_999] {
        for n in 0..50 {
            let x = DVec3::X + point(12, n, 1.0).normalize() * r;
            assert!((lone.near(x).distance - (r - radius)).abs() < 1e-7, "{r}: {}", lone.near(x).distance);
        }
    }
}

#[test]
fn hulls_hold_their_points() {
    for n in 0..60 {
        let count = 4 + random::bits(7, n) % 200;
        let snap = |v: f64| if n % 3 == 0 { (v * 4.0).round() / 4.0 } else { v };
        let points: Vec<DVec3> = (0..count)
            .map(|k| {
                let p = point(100 + n, k, 1.0);
                // Grids have many coplanar and equal points; spheres have every point as a corner.
                if n % 3 == 1 { p.normalize() } else { DVec3::new(snap(p.x), snap(p.y), snap(p.z)) }
            })
            .collect();
        let facets = match convex_hull(&points) {
            Ok(facets) => facets,
            Err(ColliderError::FlatHull { .. }) if n % 3 == 0 => continue,
            Err(error) => panic!("{error}"),
        };
        assert_closed("hull", &facets);
        assert_eq!(facets.positions.len() * 2 - 4, facets.faces.len(), "Euler");
        if n % 3 == 1 {
            assert_eq!(facets.positions.len(), points.len());
        }
        for face in &facets.faces {
            let [a, b, c] = face.map(|v| facets.positions[v as usize]);
            let coord = |p: DVec3| robust::Coord3D { x: p.x, y: p.y, z: p.z };
            for p in &points {
                assert!(
                    robust::orient3d(coord(a), coord(b), coord(c), coord(*p)) >= 0.0,
                    "case {n}: {p} sticks out"
                );
            }
        }
    }
}

#[test]
fn large_hulls_are_quick() {
    let points: Vec<DVec3> = (0..20_000).map(|k| point(8, k, 1.0).normalize()).collect();
    assert_eq!(convex_hull(&points).expect("sound").faces.len(), 2 * 20_000 - 4);
}

#[test]
fn hull_and_solid_mesh_agree_with_the_box_they_are() {
    let form = Form::Box { size: DVec3::new(0.5, 0.8, 0.3) };
    let facets = form.facets(1e-3).expect("sound");
    let mesh = Body::Mesh {
        faces: facets.faces.clone(),
        frames: vec![Frame { time: 0.0, positions: facets.positions.clone() }],
        solid: true,
    };
    for body in [Body::Hull(facets.positions.clone()), mesh] {
        let collider = Collider::new(body, Motion::still(), 1e-3).expect("sound");
        for n in 0..2000 {
            let x = point(9, n, 0.7);
            let (near, touch) = (form.near(x), collider.touch(x, f64::INFINITY).expect("unbounded"));
            assert!((near.distance - touch.distance).abs() < 1e-12, "{x}");
            assert!(
                near.distance > 0.0
                    || (near.point - touch.point).length() < 1e-6
                    || near.distance.abs() > 0.1
            );
            assert_eq!(collider.contains(x), near.distance < 0.0);
            assert_eq!(collider.touch(x, near.distance.abs() * 0.9).is_some(), near.distance < 0.0);
        }
    }
    let sheet = Body::Mesh {
        faces: vec![[0, 1, 2]],
        frames: vec![Frame { time: 0.0, positions: vec![DVec3::ZERO, DVec3::X, DVec3::Z] }],
        solid: false,
    };
    let sheet = Collider::new(sheet, Motion::still(), 1e-3).expect("sound");
    let below = sheet.touch(DVec3::new(0.2, -0.1, 0.2), 1.0).expect("near");
    assert!(below.distance > 0.0 && below.normal.y < -0.99, "a sheet pushes away from both sides");
}

#[test]
fn colliders_move_and_so_does_their_surface() {
    let key = |time, turn: f64, x: f64| Key {
        time,
        translate: DVec3::new(x, 0.2 * x, 0.0),
        rotate: DVec3::new(turn, 0.5 * turn, -turn),
        scale: DVec3::ONE,
    };
    let motion = Motion {
        keys: vec![key(0.0, 0.0, 0.0), key(1.0, 80.0, 0.5)],
        pivot: DVec3::new(0.1, 0.0, 0.0),
        smooth: false,
        basis: glam::DMat3::IDENTITY,
    };
    let still = Form::Capsule { radius: 0.2, height: 0.4 }.facets(1e-3).expect("sound");
    let swollen = Frame { time: 1.0, positions: still.positions.iter().map(|p| *p * 1.3).collect() };
    let frames = vec![Frame { time: 0.0, positions: still.positions.clone() }, swollen];
    let animated = Body::Mesh { faces: still.faces, frames, solid: true };
    for body in
        [Body::Form(Form::Capsule { radius: 0.2, height: 0.4 }), Body::Metaballs(metaballs()), animated]
    {
        let mut collider = Collider::new(body, motion.clone(), 2e-3).expect("sound");
        let (t, h) = (0.4, 1e-5);
        let at = |collider: &mut Collider, time: f64| {
            collider.place(time).expect("sound");
            collider.positions().to_vec()
        };
        let (before, after) = (at(&mut collider, t - h), at(&mut collider, t + h));
        collider.place(t).expect("sound");
        for v in 0..before.len() {
            let difference = (after[v] - before[v]) / (2.0 * h);
            assert!((collider.velocities()[v] - difference).length() < 1e-6);
        }
        // What a touching point is told is what the mesh does there.
        let surface =
            Surface::new(collider.positions().to_vec(), collider.facets().faces.clone()).expect("sound");
        for n in 0..100 {
            let x = collider.positions()[n] + point(11, n as u64, 1e-3);
            let touch = collider.touch(x, 1.0).expect("near");
            let foot = surface.nearest(x, 1.0).expect("near");
            let corners = surface.faces()[foot.face as usize];
            let speed: DVec3 =
                (0..3).map(|k| collider.velocities()[corners[k] as usize] * foot.weights[k]).sum();
            assert!((touch.velocity - speed).length() < 0.02, "{} {speed}", touch.velocity);
            assert!((touch.distance.abs() - foot.distance).abs() < 3e-3);
        }
        // Beyond its keys and frames it rests.
        collider.place(7.0).expect("sound");
        assert!(collider.velocities().iter().all(|v| *v == DVec3::ZERO));
    }
}

#[test]
fn bad_bodies_are_refused_with_their_fault() {
    let refuse = |body: Body| Collider::new(body, Motion::still(), 1e-3).expect_err("must be refused");
    for bad in [-1.0, 0.0, f64::NAN, f64::INFINITY, 1e9] {
        for form in [
            Form::Plane { size: bad },
            Form::Sphere { radius: bad },
            Form::Capsule { radius: bad, height: 1.0 },
            Form::Cylinder { radius: 1.0, height: bad },
            Form::Box { size: DVec3::new(1.0, bad, 1.0) },
            Form::Torus { radius_ring: bad, radius_tube: 0.1 },
            Form::Torus { radius_ring: 1.0, radius_tube: bad },
        ] {
            assert!(matches!(refuse(Body::Form(form)), ColliderError::Parameter { .. }), "{form:?}");
        }
        let cone = Form::Cone { radius_bottom: 1.0, radius_top: bad, height: 1.0 };
        assert_eq!(Collider::new(Body::Form(cone), Motion::still(), 1e-2).is_ok(), bad == 0.0, "{bad}");
        let sphere = Body::Form(Form::Sphere { radius: 1.0 });
        assert!(Collider::new(sphere, Motion::still(), bad).is_err());
    }
    assert!(matches!(
        refuse(Body::Form(Form::Torus { radius_ring: 1.0, radius_tube: 1.0 })),
        ColliderError::Parameter { .. }
    ));
    let fine = Collider::new(Body::Form(Form::Sphere { radius: 1e5 }), Motion::still(), 1e-6);
    assert!(matches!(fine, Err(ColliderError::TooFine { .. })));
    for (points, dimensions) in [
        (vec![], 0),
        (vec![DVec3::X; 9], 0),
        ((0..9).map(|k| DVec3::ONE * f64::from(k)).collect(), 1),
        ((0..9).map(|k| DVec3::new(f64::from(k % 3), f64::from(k / 3), 0.5)).collect::<Vec<_>>(), 2),
    ] {
        let count = points.len();
        assert_eq!(refuse(Body::Hull(points)), ColliderError::FlatHull { points: count, dimensions });
    }
    assert!(matches!(refuse(Body::Hull(vec![DVec3::NAN; 4])), ColliderError::NotFinite { element: 0, .. }));
    let mesh = |faces: Vec<[u32; 3]>, frames: Vec<Frame>| Body::Mesh { faces, frames, solid: true };
    let frame = |time: f64, n: usize| Frame { time, positions: vec![DVec3::X; n] };
    assert_eq!(refuse(mesh(vec![[0, 1, 2]], vec![])), ColliderError::NoFrames);
    assert_eq!(refuse(mesh(vec![], vec![frame(0.0, 3)])), ColliderError::Surface(SurfaceError::NoFaces));
    assert!(matches!(refuse(mesh(vec![[0, 1, 7]], vec![frame(0.0, 3)])), ColliderError::Surface(_)));
    assert!(matches!(
        refuse(mesh(vec![[0, 1, 2]], vec![frame(0.0, 3), frame(1.0, 4)])),
        ColliderError::FrameCount { frame: 1, .. }
    ));
    assert!(matches!(
        refuse(mesh(vec![[0, 1, 2]], vec![frame(0.0, 3), frame(0.0, 3)])),
        ColliderError::FrameTime { frame: 1, .. }
    ));
    let grid = |samples: Vec<f64>| Grid { origin: DVec3::ZERO, spacing: 0.1, size: [3, 3, 3], samples };
    assert!(matches!(refuse(Body::Grid(grid(vec![1.0; 26]))), ColliderError::GridCount { .. }));
    assert!(matches!(refuse(Body::Grid(grid(vec![1.0; 27]))), ColliderError::EmptyField { .. }));
    assert!(matches!(refuse(Body::Grid(grid(vec![-1.0; 27]))), ColliderError::GridOpen { sample: 0, .. }));
    let lone = |radius: f64, weight: f64, threshold: f64| {
        refuse(Body::Metaballs(Metaballs {
            balls: vec![Ball { centre: DVec3::ZERO, radius, weight }],
            threshold,
        }))
    };
    assert!(matches!(lone(-1.0, 1.0, 0.5), ColliderError::Parameter { .. }));
    assert!(matches!(lone(1.0, f64::NAN, 0.5), ColliderError::Parameter { .. }));
    assert!(matches!(lone(1.0, 1.0, 1.5), ColliderError::EmptyField { .. }));
    assert!(matches!(lone(1.0, 1.0, 0.0), ColliderError::Parameter { .. }));
    let growing = Motion {
        keys: vec![Key { time: 0.0, translate: DVec3::ZERO, rotate: DVec3::ZERO, scale: DVec3::ONE * 2.0 }],
        ..Motion::still()
    };
    let grown = Collider::new(Body::Form(Form::Sphere { radius: 1.0 }), growing, 1e-2);
    assert!(matches!(grown, Err(ColliderError::NotRigid { key: 0 })));
    assert!(!ColliderError::FlatHull { points: 3, dimensions: 2 }.to_string().is_empty());
}

#[test]
fn a_body_stands_turned_before_it_moves() {
    let stand =
        Transform { matrix: euler_degrees(DVec3::new(0.0, 0.0, 90.0)), offset: DVec3::new(1.0, 2.0, 3.0) };
    let key =
        |time, turn| Key { time, translate: DVec3::Y * time, rotate: DVec3::Y * turn, scale: DVec3::ONE };
    let motion = Motion { keys: vec![key(0.0, 0.0), key(1.0, 90.0)], pivot: stand.offset, ..Motion::still() };
    let upright = Body::Form(Form::Capsule { radius: 0.1, height: 1.0 });
    let mut lying = Collider::standing(upright, stand, motion, 1e-3).expect("sound");
    assert!(lying.moves());
    // Along x at first, along z after a quarter turn, half way up in between.
    let near = |body: &Collider, x: DVec3| body.touch(x, 9.0).expect("near").distance;
    assert!((near(&lying, DVec3::new(2.0, 2.0, 3.0)) - 0.4).abs() < 1e-12);
    lying.place(1.0).expect("placed");
    assert!((near(&lying, DVec3::new(1.0, 3.0, 4.0)) - 0.4).abs() < 1e-12);
    lying.place(0.5).expect("placed");
    let (h, before) = (1e-6, lying.positions().to_vec());
    let touch = lying.touch(DVec3::new(1.3, 2.6, 3.2), 9.0).expect("near");
    let velocities = lying.velocities().to_vec();
    lying.place(0.5 + h).expect("placed");
    for ((x, then), v) in before.iter().zip(lying.positions()).zip(&velocities) {
        assert!(((*then - *x) / h - *v).length() < 1e-4);
    }
    assert!((touch.velocity.y - 1.0).abs() < 1e-9, "{touch:?}");
    let stretched =
        Transform { matrix: DMat3::from_diagonal(DVec3::new(1.0, 2.0, 1.0)), offset: DVec3::ZERO };
    let refused =
        Collider::standing(Body::Form(Form::Sphere { radius: 1.0 }), stretched, Motion::still(), 1e-2);
    assert_eq!(refused.err(), Some(ColliderError::NotStanding));
}

#[test]
fn a_body_that_is_too_fast_jumps() {
    let key = |time, x| Key { time, translate: DVec3::X * x, rotate: DVec3::ZERO, scale: DVec3::ONE };
    let motion = Motion {
        keys: vec![key(0.0, 0.0), key(1.0, 1.0), key(1.1, 101.0), key(2.0, 102.0)],
        basis: DMat3::IDENTITY,
        ..Motion::still()
    };
    let mut ball = Collider::new(Body::Form(Form::Sphere { radius: 0.1 }), motion, 1e-2).expect("sound");
    assert_eq!(ball.jumps().collect::<Vec<_>>(), [1.1]);
    let start = ball.positions()[0].x;
    let at = |ball: &Collider, pose: fn(&Collider, f64, &mut Vec<DVec3>), time: f64| {
        let mut x = Vec::new();
        pose(ball, time, &mut x);
        x[0].x - start
    };
    // Substeps end where they should to within rounding.
    for off in [-1e-13, 0.0, 1e-13] {
        assert!((at(&ball, Collider::pose_until, 1.1 + off) - 1.0).abs() < 1e-9);
        assert!((at(&ball, Collider::pose, 1.1 + off) - 101.0).abs() < 1e-9);
    }
    for time in [0.3, 0.999, 1.5] {
        assert_eq!(at(&ball, Collider::pose_until, time), at(&ball, Collider::pose, time));
    }
    ball.place(1.05).expect("placed");
    assert!((ball.positions()[0].x - start - 1.0).abs() < 1e-12);
    assert!(ball.velocities().iter().all(|v| *v == DVec3::ZERO), "it stands still before it jumps");
    ball.place(1.5).expect("placed");
    assert!((ball.velocities()[0].x - 1.0 / 0.9).abs() < 1e-9);
}
