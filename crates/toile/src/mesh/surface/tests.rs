use super::*;
use crate::math::random;

fn sphere(rings: usize, around: usize) -> Surface {
    let mut positions = vec![DVec3::Y];
    for r in 1..rings {
        let (s, c) = libm::sincos(std::f64::consts::PI * r as f64 / rings as f64);
        for k in 0..around {
            let (a, b) = libm::sincos(std::f64::consts::TAU * k as f64 / around as f64);
            positions.push(DVec3::new(s * a, c, s * b));
        }
    }
    positions.push(-DVec3::Y);
    let at = |r: usize, k: usize| match r {
        0 => 0,
        r if r == rings => (1 + (rings - 1) * around) as u32,
        r => (1 + (r - 1) * around + k % around) as u32,
    };
    let mut faces = Vec::new();
    for r in 0..rings {
        for k in 0..around {
            if r > 0 {
                faces.push([at(r, k), at(r + 1, k), at(r, k + 1)]);
            }
            if r + 1 < rings {
                faces.push([at(r, k + 1), at(r + 1, k), at(r + 1, k + 1)]);
            }
        }
    }
    Surface::new(positions, faces).expect("sound")
}

fn point(seed: u64, n: u64, size: f64) -> DVec3 {
    DVec3::new(random::signed(seed, 3 * n), random::signed(seed, 3 * n + 1), random::signed(seed, 3 * n + 2))
        * size
}

#[test]
fn nearest_is_what_trying_every_face_finds() {
    let surface = sphere(12, 17);
    assert!(surface.is_closed());
    for n in 0..500 {
        let x = point(1, n, 2.0);
        let foot = surface.nearest(x, f64::INFINITY).expect("unbounded");
        let brute = (0..surface.faces().len() as u32)
            .map(|f| (x - nearest_on_triangle(x, &surface.corners(f)).0).length())
            .fold(f64::INFINITY, f64::min);
        assert_eq!(foot.distance, brute);
        let [a, b, c] = surface.corners(foot.face);
        let [u, v, w] = foot.weights;
        assert!((a * u + b * v + c * w - foot.point).length() < 1e-14);
        assert!(surface.nearest(x, brute * 0.999).is_none());
    }
}

#[test]
fn nearest_on_a_triangle_is_stationary() {
    for n in 0..2000 {
        let mut corners = [0, 1, 2].map(|k| point(2, 4 * n + k, 1.0));
        if n % 5 == 0 {
            corners[2] = corners[0] * 0.3 + corners[1] * 0.7; // no area
        }
        let x = point(2, 4 * n + 3, 2.0);
        let (best, weights) = nearest_on_triangle(x, &corners);
        assert!(weights.iter().all(|w| (-1e-12..=1.0 + 1e-12).contains(w)));
        for k in 0..60 {
            let (s, t) = (random::unit(n, k), random::unit(n, k + 100));
            let (s, t) = if s + t > 1.0 { (1.0 - s, 1.0 - t) } else { (s, t) };
            let other = corners[0] + (corners[1] - corners[0]) * s + (corners[2] - corners[0]) * t;
            assert!((x - best).length() <= (x - other).length() + 1e-12);
        }
    }
}

#[test]
fn rays_do_not_slip_through_edges_and_vertices() {
    let surface = sphere(8, 9);
    let mut aims: Vec<DVec3> = surface.positions().to_vec();
    for face in surface.faces() {
        let [a, b, c] = face.map(|v| surface.positions()[v as usize]);
        aims.extend([(a + b) * 0.5, (b + c) * 0.5, a * 0.9 + c * 0.1, (a + b + c) / 3.0]);
    }
    for (n, aim) in aims.iter().enumerate() {
        for origin in [DVec3::ZERO, point(3, n as u64, 0.3), point(4, n as u64, 1.0).normalize() * 5.0] {
            let ray = Ray { origin, direction: *aim - origin };
            // From outside a ray may touch the outline and miss.
            if aim.normalize().dot(ray.direction.normalize()).abs() < 0.4 {
                continue;
            }
            let hit = surface.cast(ray).unwrap_or_else(|| panic!("ray {n} from {origin} slips through"));
            let [a, b, c] = surface.corners(hit.face);
            let [u, v, w] = hit.weights;
            let place = origin + ray.direction * hit.along;
            assert!((a * u + b * v + c * w - place).length() < 1e-12);
            assert!(hit.along <= 1.0 + 1e-12);
            let all = surface.cast_all(ray);
            assert_eq!(all.first().map(|h| h.along), Some(hit.along));
        }
    }
}

#[test]
fn rays_agree_with_trying_every_face() {
    let surface = sphere(14, 11);
    for n in 0..2000 {
        let ray = Ray { origin: point(5, n, 2.0), direction: point(6, n, 1.0) };
        let sheared = ray::Hit { face: 0, weights: [0.0; 3], along: f64::INFINITY };
        let mut brute = sheared;
        for f in 0..surface.faces().len() as u32 {
            // Plane, then weights by areas.
            let [a, b, c] = surface.corners(f);
            let m = (b - a).cross(c - a);
            let along = (a - ray.origin).dot(m) / ray.direction.dot(m);
            let p = ray.origin + ray.direction * along;
            let part = |u: DVec3, v: DVec3| (u - p).cross(v - p).dot(m) / m.length_squared();
            let weights = [part(b, c), part(c, a), part(a, b)];
            if along >= 0.0 && along < brute.along && weights.iter().all(|w| *w > 0.0) {
                brute = ray::Hit { face: f, weights, along };
            }
        }
        match surface.cast(ray) {
            None => assert_eq!(brute.along, f64::INFINITY, "ray {n}"),
            Some(hit) => {
                assert_eq!(hit.face, brute.face, "ray {n}");
                assert!((hit.along - brute.along).abs() < 1e-12);
                assert!((0..3).all(|k| (hit.weights[k] - brute.weights[k]).abs() < 1e-9));
            }
        }
    }
    assert!(surface.cast(Ray { origin: DVec3::ZERO, direction: DVec3::ZERO }).is_none());
    assert!(surface.cast(Ray { origin: DVec3::NAN, direction: DVec3::X }).is_none());
    let axis = surface.cast(Ray { origin: DVec3::new(0.1, 5.0, 0.2), direction: -DVec3::Y });
    assert!(axis.is_some(), "a ray along an axis");
}

#[test]
fn winding_numbers_agree_with_the_sum() {
    let surface = sphere(60, 80);
    let mut worst: f64 = 0.0;
    for n in 0..1000 {
        let x = point(7, n, 1.6);
        let exact = surface.winding_exact(x);
        worst = worst.max((surface.winding(x) - exact).abs());
        if (x.length() - 1.0).abs() > 0.01 {
            assert!((exact - f64::from(u8::from(x.length() < 1.0))).abs() < 1e-9);
            assert_eq!(surface.contains(x), x.length() < 1.0);
        }
    }
    assert!(worst < 0.03, "{worst}");
}

#[test]
fn open_and_overlapping_bodies_have_an_inside() {
    // A sphere without its top tenth, and two spheres of one surface that overlap.
    let whole = sphere(30, 40);
    let open: Vec<[u32; 3]> = (0..whole.faces().len() as u32)
        .filter(|&f| whole.corners(f).iter().all(|p| p.y < 0.8))
        .map(|f| whole.faces()[f as usize])
        .collect();
    let open = Surface::new(whole.positions().to_vec(), open).expect("sound");
    assert!(!open.is_closed());
    let (mut inside, mut outside) = (0, 0);
    for n in 0..2000 {
        let x = point(8, n, 1.5);
        if x.y < 0.5 && x.length() < 0.9 {
            inside += 1;
            assert!(open.contains(x), "{x}");
        }
        if x.length() > 1.15 {
            outside += 1;
            assert!(!open.contains(x), "{x}");
        }
    }
    assert!(inside > 100 && outside > 100);
    let count = whole.positions().len() as u32;
    let shift = DVec3::new(0.7, 0.1, 0.0);
    let positions: Vec<DVec3> =
        whole.positions().iter().copied().chain(whole.positions().iter().map(|p| *p + shift)).collect();
    let faces =
        whole.faces().iter().copied().chain(whole.faces().iter().map(|f| f.map(|v| v + count))).collect();
    let pair = Surface::new(positions, faces).expect("sound");
    for n in 0..1000 {
        let x = point(9, n, 2.0);
        let (a, b) = (x.length(), (x - shift).length());
        if (a - 1.0).abs() > 0.02 && (b - 1.0).abs() > 0.02 {
            assert_eq!(pair.contains(x), a < 1.0 || b < 1.0);
            let rounds = f64::from(u8::from(a < 1.0) + u8::from(b < 1.0));
            assert!((pair.winding_exact(x) - rounds).abs() < 1e-9);
        }
    }
}

#[test]
fn moved_surfaces_answer_for_where_they_are() {
    let mut surface = sphere(12, 12);
    let moved: Vec<DVec3> = surface.positions().iter().map(|p| *p * 2.0 + DVec3::X).collect();
    let fresh = Surface::new(moved.clone(), surface.faces().to_vec()).expect("sound");
    surface.set_positions(&moved).expect("as many");
    for n in 0..200 {
        let x = point(10, n, 4.0);
        let (a, b) = (surface.nearest(x, f64::INFINITY), fresh.nearest(x, f64::INFINITY));
        assert_eq!(a.map(|f| f.distance), b.map(|f| f.distance));
        assert_eq!(surface.contains(x), fresh.contains(x));
    }
    assert!(matches!(surface.set_positions(&moved[1..]), Err(SurfaceError::PositionCount { .. })));
}

#[test]
fn broken_surfaces_are_refused() {
    let p = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
    assert_eq!(Surface::new(p.clone(), vec![]).err(), Some(SurfaceError::NoFaces));
    let error = Surface::new(p.clone(), vec![[0, 1, 3]]).err();
    assert_eq!(error, Some(SurfaceError::IndexOutOfRange { face: 0, index: 3, vertices: 3 }));
    let error = Surface::new(vec![DVec3::ZERO, DVec3::NAN, DVec3::Y], vec![[0, 1, 2]]).err();
    assert_eq!(error, Some(SurfaceError::BadPosition { vertex: 1 }));
    let flat = Surface::new(vec![DVec3::X; 3], vec![[0, 1, 2]]).expect("no area is no crime");
    assert!(flat.cast(Ray { origin: DVec3::ZERO, direction: DVec3::X }).is_none());
    assert_eq!(flat.nearest(DVec3::ZERO, 2.0).map(|f| f.distance), Some(1.0));
}
