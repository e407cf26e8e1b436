//! Curved point-normal triangles: what stays, what gets closer, and that nothing tears.

use glam::{DVec2, DVec3};
use std::collections::BTreeMap;
use toile::mesh::smooth::{MOST_SPLITS, SmoothError, Smoother, Subdivision};

/// The 12 vertices of the unit icosahedron and its 20 faces, seen from outside counter-clockwise.
fn icosahedron() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let g = (1.0 + 5f64.sqrt()) / 2.0;
    let mut x = Vec::new();
    for s in [-1.0, 1.0] {
        for t in [-g, g] {
            x.extend([DVec3::new(0.0, s, t), DVec3::new(s, t, 0.0), DVec3::new(t, 0.0, s)]);
        }
    }
    let x: Vec<DVec3> = x.iter().map(|p| p.normalize()).collect();
    let near = |a: usize, b: usize| (x[a] - x[b]).length() < 1.1;
    let mut faces = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(c, a) {
                    let outside = (x[b] - x[a]).cross(x[c] - x[a]).dot(x[a]) > 0.0;
                    faces.push(if outside { [a, b, c] } else { [a, c, b] }.map(|v| v as u32));
                }
            }
        }
    }
    assert_eq!(faces.len(), 20);
    (x, faces)
}

/// A grid of `cells`² quads cut along their diagonals, at `place`.
fn sheet(cells: usize, place: impl Fn(DVec2) -> DVec3) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut x = Vec::new();
    let mut faces = Vec::new();
    let row = cells + 1;
    for j in 0..row {
        for i in 0..row {
            x.push(place(DVec2::new(i as f64, j as f64) / cells as f64));
            if i < cells && j < cells {
                let v = j * row + i;
                faces.extend(
                    [[v, v + 1, v + row + 1], [v, v + row + 1, v + row]].map(|f| f.map(|v| v as u32)),
                );
            }
        }
    }
    (x, faces)
}

fn smoother(x: &[DVec3], faces: &[[u32; 3]], splits: u32) -> Smoother {
    Smoother::new(x.len(), faces, splits).expect("sound")
}

/// How many faces use each edge.
fn edges(faces: &[[u32; 3]]) -> BTreeMap<[u32; 2], u32> {
    let mut edges = BTreeMap::new();
    for f in faces {
        for k in 0..3 {
            let (a, b) = (f[k], f[(k + 1) % 3]);
            *edges.entry([a.min(b), a.max(b)]).or_default() += 1;
        }
    }
    edges
}

fn bits(p: DVec3) -> [u64; 3] {
    p.to_array().map(f64::to_bits)
}

/// Counter-based noise in [−1, 1]³.
fn noise(i: usize) -> DVec3 {
    let mix = |k: usize| {
        let mut z = (3 * i + k + 1) as u64;
        z = z.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    DVec3::new(mix(0), mix(1), mix(2))
}

fn farthest(points: &[DVec3]) -> f64 {
    points.iter().map(|p| (p.length() - 1.0).abs()).fold(0.0, f64::max)
}

/// The patch over a face of the icosahedron is 0.059 off the sphere at its middle, the flat face 0.205: 3.49 times
/// better. With faces half as wide it is 10.3 times.
#[test]
fn an_icosahedron_gets_closer_to_its_sphere() {
    let (x, faces) = icosahedron();
    let quartered = Subdivision::new(x.len(), &faces, 2).expect("sound");
    let round: Vec<DVec3> = quartered.interpolate(&x).iter().map(|p| p.normalize()).collect();
    for (x, faces, least, degrees) in [(&x, &faces[..], 3.48, 3.3), (&round, quartered.faces(), 10.3, 2.7)] {
        let smoother = smoother(x, faces, 6);
        let fine = smoother.surface(x);
        let gain = farthest(&smoother.subdivision().interpolate(x)) / farthest(&fine.positions);
        let pairs = fine.positions.iter().zip(&fine.normals);
        let turned = pairs.map(|(p, n)| p.normalize().angle_between(*n)).fold(0.0, f64::max).to_degrees();
        assert!(gain > least, "{} faces: {gain} times closer, at least {least}", faces.len());
        assert!(turned < degrees, "{} faces: normals are {turned}° off, at most {degrees}°", faces.len());
    }
}

/// An octagon's sides are 0.076 off their circle; the border's own curves 0.0085.
#[test]
fn a_disc_gets_rounder_and_stays_flat() {
    let (mut x, mut faces) = (vec![DVec3::Z * 0.1], Vec::new());
    for i in 0..8 {
        let angle = std::f64::consts::TAU * f64::from(i) / 8.0;
        x.push(DVec3::new(libm::cos(angle), libm::sin(angle), 0.1));
        faces.push([0, i + 1, (i + 1) % 8 + 1]);
    }
    let smoother = smoother(&x, &faces, 4);
    let outline: Vec<u32> = border(smoother.subdivision().faces());
    let off = |points: &[DVec3]| {
        outline.iter().map(|v| (points[*v as usize].truncate().length() - 1.0).abs()).fold(0.0, f64::max)
    };
    let (flat, fine) = (smoother.subdivision().interpolate(&x), smoother.surface(&x).positions);
    let gain = off(&flat) / off(&fine);
    assert!(gain > 8.9, "{gain} times closer to the circle");
    assert!(fine.iter().all(|p| p.z == 0.1), "flat to the bit");
}

/// Vertices on edges of one face.
fn border(faces: &[[u32; 3]]) -> Vec<u32> {
    let mut border: Vec<u32> =
        edges(faces).into_iter().filter(|(_, faces)| *faces == 1).flat_map(|(ends, _)| ends).collect();
    border.sort_unstable();
    border.dedup();
    border
}

#[test]
fn flat_cloth_stays_flat() {
    // 0.1 has no exact binary form: a careless mean of equal heights would not be equal to them.
    let (x, faces) = sheet(5, |p| DVec3::new(p.x, 0.1, -p.y));
    for splits in 1..=MOST_SPLITS {
        let smoother = smoother(&x, &faces, splits);
        let fine = smoother.surface(&x);
        assert!(fine.positions.iter().all(|p| p.y == 0.1), "flat to the bit, {splits}");
        assert!(fine.normals.iter().all(|n| (*n - DVec3::Y).length() < 1e-15), "{splits}");
        for (p, q) in fine.positions.iter().zip(smoother.subdivision().interpolate(&x)) {
            assert!((*p - q).length() < 1e-15, "{p} {q}");
        }
    }
    let across = DVec3::new(0.48, 0.6, 0.64);
    let (u, v) = across.any_orthonormal_pair();
    let (x, faces) = sheet(7, |p| u * p.x + v * p.y + across);
    for p in smoother(&x, &faces, 3).surface(&x).positions {
        assert!((p.dot(across) - 1.0).abs() < 1e-15, "{p}");
    }
}

#[test]
fn what_is_closed_stays_closed_and_vertices_are_shared() {
    let (x, faces) = icosahedron();
    for splits in 1..=MOST_SPLITS {
        let n = splits as usize;
        let smoother = smoother(&x, &faces, splits);
        let fine = smoother.subdivision();
        let edges = edges(fine.faces());
        assert!(edges.values().all(|faces| *faces == 2), "{splits}: an edge is open");
        assert_eq!(fine.faces().len(), 20 * n * n);
        assert_eq!(fine.vertices() + fine.faces().len(), edges.len() + 2, "{splits}: Euler");
        let mut places: Vec<_> = smoother.surface(&x).positions.into_iter().map(bits).collect();
        assert_eq!(places.len(), fine.vertices());
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), fine.vertices(), "{splits}: two vertices in one place");
    }
    let (x, faces) = sheet(4, |p| p.extend(0.0));
    let fine = Subdivision::new(x.len(), &faces, 5).expect("sound");
    assert_eq!(border(fine.faces()).len(), 4 * 4 * 5, "one outline");
    assert!(edges(fine.faces()).values().all(|faces| *faces <= 2));
    let mut used: Vec<u32> = fine.faces().as_flattened().to_vec();
    used.sort_unstable();
    used.dedup();
    assert_eq!(used.len(), fine.vertices(), "every vertex has a face");
}

#[test]
fn coarse_vertices_stay_bit_for_bit_and_patches_stay_near() {
    let (mut x, faces) = sheet(9, |p| p.extend(0.0));
    for (i, p) in x.iter_mut().enumerate() {
        *p += noise(i) * 0.2;
    }
    for splits in 1..=MOST_SPLITS {
        let smoother = smoother(&x, &faces, splits);
        let fine = smoother.surface(&x);
        assert!(fine.positions.iter().zip(&x).all(|(p, q)| bits(*p) == bits(*q)));
        assert!(fine.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-12));
        let flat = smoother.subdivision().interpolate(&x);
        for (face, corners) in smoother.subdivision().faces().iter().enumerate() {
            let [a, b, c] = faces[smoother.subdivision().coarse_face(face)].map(|v| x[v as usize]);
            let longest = (b - a).length().max((c - b).length()).max((a - c).length());
            for v in corners.map(|v| v as usize) {
                assert!((fine.positions[v] - flat[v]).length() <= longest / 3.0);
            }
        }
        if splits == 1 {
            assert_eq!((fine.positions, smoother.subdivision().faces()), (x.clone(), &faces[..]));
        }
    }
}

/// The inside moves, the border does not: its curves are its own.
#[test]
fn borders_follow_nothing_but_themselves() {
    let bump = |p: DVec2, height: f64| height * p.x * (1.0 - p.x) * p.y * (1.0 - p.y);
    let (x, faces) = sheet(6, |p| DVec3::new(p.x, p.y, bump(p, 5.0)));
    let smoother = smoother(&x, &faces, 4);
    let outline = border(smoother.subdivision().faces());
    let fine = smoother.surface(&x).positions;
    assert!(fine.iter().any(|p| p.z > 0.25));
    for p in outline.iter().map(|v| fine[*v as usize]) {
        assert_eq!(p.z, 0.0, "the border leaves its plane");
        let side = [p.x, p.y, 1.0 - p.x, 1.0 - p.y].map(f64::abs).into_iter().fold(1.0, f64::min);
        assert!(side < 1e-15, "the border leaves its side: {p}");
    }
    // Two panels along the same curved seam with a corner at both ends, one hanging and one lying.
    let seam = |t: f64| DVec3::new(t, 0.05 - 0.05 * libm::cos(std::f64::consts::TAU * t), 0.0);
    let (hanging, _) = sheet(6, |p| seam(p.x) - DVec3::Y * p.y);
    let (lying, _) = sheet(6, |p| seam(p.x) + DVec3::Z * p.y + bump(p, 3.0));
    let [a, b] = [hanging, lying].map(|x| smoother.surface(&x).positions);
    let shared = outline.iter().map(|v| *v as usize).filter(|v| a[*v] == b[*v]).count();
    assert_eq!(shared, 6 * 4 + 1, "a gap opens along the seam");
}

/// Pleats run straight whatever the diagonals of their triangles do: shading is the same all the way down, and so is the
/// hem, which the pleats bend but which has no corner.
#[test]
fn pleats_run_straight_down_to_the_hem() {
    let zigzag = [0.0, 0.08, 0.0, -0.08, 0.0, 0.08, 0.0];
    let (x, faces) = sheet(6, |p| DVec3::new(0.5 * p.x, p.y, zigzag[libm::round(6.0 * p.x) as usize]));
    let smoother = smoother(&x, &faces, 4);
    let fine = smoother.surface(&x);
    let material = smoother.subdivision().interpolate(&x.iter().map(|p| p.x).collect::<Vec<_>>());
    let mut by_place: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (v, at) in material.iter().enumerate() {
        by_place.entry(libm::round(at * 48.0) as i64).or_default().push(v);
    }
    assert_eq!(by_place.len(), 25);
    let mut ripple = 0.0f64;
    for same in by_place.values() {
        for v in same {
            let off = (fine.normals[*v] - fine.normals[same[0]]).length();
            assert!(off < 1e-12, "shading differs by {off} down a pleat");
            let (p, q) = (fine.positions[*v], fine.positions[same[0]]);
            ripple = ripple.max(DVec2::new(p.x - q.x, p.z - q.z).length());
        }
    }
    // The cubic's one inner coefficient cannot know which way pleats run: 2 % of an edge of 0.115 m.
    assert!(ripple < 0.00251, "the surface ripples by {ripple}");
    let hem: Vec<usize> = (0..fine.positions.len()).filter(|v| fine.positions[*v].y.abs() < 1e-12).collect();
    assert_eq!(hem.len(), 25);
    let sharpest = hem.iter().map(|v| fine.positions[*v].z).fold(0.0, f64::max);
    assert!(sharpest < 0.081, "the hem overshoots its pleats: {sharpest}");
    let mut hem: Vec<DVec3> = hem.iter().map(|v| fine.positions[*v]).collect();
    hem.sort_by(|a, b| a.x.total_cmp(&b.x));
    let turn =
        hem.windows(3).map(|w| (w[1] - w[0]).angle_between(w[2] - w[1])).fold(0.0, f64::max).to_degrees();
    let before = (x[1] - x[0]).angle_between(x[2] - x[1]).to_degrees();
    assert!(before > 87.0 && turn < 46.0, "from {before}° to {turn}°");
}

#[test]
fn collapsed_triangles_are_harmless() {
    let (x, faces) = sheet(3, |p| p.extend(0.0));
    let finite = |x: &[DVec3], faces: &[[u32; 3]]| {
        for splits in 1..=MOST_SPLITS {
            let fine = smoother(x, faces, splits).surface(x);
            assert!(fine.positions.iter().chain(&fine.normals).all(|p| p.is_finite()), "{splits}");
        }
    };
    finite(&vec![DVec3::ONE; x.len()], &faces);
    finite(&x.iter().map(|p| DVec3::X * p.x).collect::<Vec<_>>(), &faces);
    finite(&x.iter().map(|p| *p * 1e-200).collect::<Vec<_>>(), &faces);
    finite(&x.iter().map(|p| *p * 1e60).collect::<Vec<_>>(), &faces);
    // folded flat onto itself: the normals of the fold cancel
    finite(&x.iter().map(|p| DVec3::new((p.x - 0.5).abs(), p.y, 0.0)).collect::<Vec<_>>(), &faces);
    let mut one = x.clone();
    one[5] = one[6];
    finite(&one, &faces);
    // a vertex twice in a face, three faces at an edge, a face twice, an unused vertex
    finite(&x, &[[0, 0, 1], [2, 2, 2], [0, 1, 4], [1, 0, 8], [0, 1, 9], [0, 1, 9]]);
    finite(&x, &[]);
    // what is not finite stays where it is
    let mut holed = x.clone();
    holed[0].y = f64::NAN;
    let smoother = smoother(&holed, &faces, 3);
    let fine = smoother.surface(&holed);
    for (face, corners) in smoother.subdivision().faces().iter().enumerate() {
        let touched = faces[smoother.subdivision().coarse_face(face)].contains(&0);
        let spoiled = corners.iter().any(|v| !fine.positions[*v as usize].is_finite());
        assert!(touched || !spoiled, "triangle {face}");
    }
}

#[test]
fn quantities_are_linear_in_each_face() {
    let (x, faces) = sheet(3, |p| p.extend(0.5 * p.x - 2.0 * p.y));
    let fine = Subdivision::new(x.len(), &faces, 3).expect("sound");
    let heights = fine.interpolate(&x.iter().map(|p| p.z).collect::<Vec<_>>());
    let points = fine.interpolate(&x);
    assert!(points.iter().zip(&heights).all(|(p, z)| (p.z - z).abs() < 1e-15));
    // charts with a jump at every edge keep it
    let chart = |f: usize| DVec2::splat(10.0 * f as f64);
    let corners: Vec<[DVec2; 3]> =
        (0..faces.len()).map(|f| faces[f].map(|v| x[v as usize].truncate() + chart(f))).collect();
    for (k, (face, material)) in fine.faces().iter().zip(fine.interpolate_corners(&corners)).enumerate() {
        for (v, m) in face.iter().zip(material) {
            let expected = points[*v as usize].truncate() + chart(fine.coarse_face(k));
            assert!((m - expected).length() < 1e-12, "{m} {expected}");
        }
    }
}

#[test]
fn wrong_input_is_refused() {
    for splits in [0, 9, u32::MAX] {
        let error = Smoother::new(3, &[[0, 1, 2]], splits).expect_err("out of range");
        assert_eq!(error, SmoothError::Splits { splits });
        assert!(error.to_string().contains("between 1 and 8"), "{error}");
    }
    let error = Subdivision::new(3, &[[0, 1, 2], [1, 2, 3]], 2).expect_err("index");
    assert_eq!(error, SmoothError::Index { face: 1, index: 3, vertices: 3 });
}
