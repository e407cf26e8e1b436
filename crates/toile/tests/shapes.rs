//! Generated cloth: areas, borders, winding, quality, and the same bits for the same arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;

use glam::DVec3;
use toile::mesh::shapes::{Pattern, Shape, disc, sheet, strip, tube};

const PATTERNS: [Pattern; 7] = [
    Pattern::Structured,
    Pattern::Flipped,
    Pattern::Alternating,
    Pattern::Equilateral,
    Pattern::Jittered { amount: 0.2, seed: 7 },
    Pattern::Jittered { amount: 0.3, seed: 1 },
    Pattern::Delaunay { seed: 7 },
];

/// Twice the area vector of a face [m²].
fn normal(shape: &Shape, face: [u32; 3]) -> DVec3 {
    let [a, b, c] = face.map(|i| shape.positions[i as usize]);
    (b - a).cross(c - a)
}

fn area(shape: &Shape) -> f64 {
    shape.faces.iter().map(|&f| 0.5 * normal(shape, f).length()).sum()
}

fn rest_area(shape: &Shape) -> f64 {
    shape.rest.iter().map(|[a, b, c]| 0.5 * (*b - *a).perp_dot(*c - *a).abs()).sum()
}

/// Smallest corner angle [degrees].
fn min_angle(shape: &Shape) -> f64 {
    let corner = |f: [u32; 3], k: usize| {
        let [a, b, c] = [f[k], f[(k + 1) % 3], f[(k + 2) % 3]].map(|i| shape.positions[i as usize]);
        (b - a).angle_between(c - a).to_degrees()
    };
    shape.faces.iter().flat_map(|&f| (0..3).map(move |k| corner(f, k))).fold(180.0, f64::min)
}

/// Each directed edge once (consistent winding), each edge on one or two faces; returns the Euler characteristic.
fn euler(shape: &Shape) -> i64 {
    let mut directed = BTreeSet::new();
    let mut edges: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for f in &shape.faces {
        for k in 0..3 {
            let (a, b) = (f[k], f[(k + 1) % 3]);
            assert_ne!(a, b);
            assert!(directed.insert((a, b)), "edge {a}-{b} runs the same way on two faces");
            *edges.entry((a.min(b), a.max(b))).or_default() += 1;
        }
    }
    assert!(edges.values().all(|&n| n <= 2));
    let used: BTreeSet<u32> = shape.faces.iter().flatten().copied().collect();
    assert_eq!(used.len(), shape.positions.len(), "every vertex belongs to a face");
    let points: BTreeSet<[u64; 3]> =
        shape.positions.iter().map(|p| p.to_array().map(|c| (c + 0.0).to_bits())).collect();
    assert_eq!(points.len(), shape.positions.len(), "no two vertices coincide");
    used.len() as i64 - edges.len() as i64 + shape.faces.len() as i64
}

/// Vertices of the edges that have one face only.
fn open_border(shape: &Shape) -> Vec<u32> {
    let directed: BTreeSet<(u32, u32)> =
        shape.faces.iter().flat_map(|f| (0..3).map(|k| (f[k], f[(k + 1) % 3]))).collect();
    let open = directed.iter().filter(|(a, b)| !directed.contains(&(*b, *a)));
    open.flat_map(|&(a, b)| [a, b]).collect::<BTreeSet<_>>().into_iter().collect()
}

fn group(shape: &Shape, name: &str) -> Vec<u32> {
    shape.group(name).expect("the group exists").to_vec()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs())
}

fn check_sheet(shape: &Shape, width: f64, height: f64) {
    assert_eq!(euler(shape), 1);
    assert!(close(area(shape), width * height) && close(rest_area(shape), width * height));
    assert!(shape.faces.iter().all(|&f| normal(shape, f).y > 0.0));
    for (face, rest) in shape.faces.iter().zip(&shape.rest) {
        for k in 0..3 {
            let x = shape.positions[face[k] as usize];
            assert!(x.y == 0.0 && x.x == rest[k].x && x.z == rest[k].y);
        }
    }
    assert_eq!(group(shape, "border"), open_border(shape));
    let all = |name, test: &dyn Fn(DVec3) -> bool| {
        let want: Vec<u32> =
            (0..shape.positions.len() as u32).filter(|&i| test(shape.positions[i as usize])).collect();
        assert!(want.len() >= 2);
        assert_eq!(group(shape, name), want, "{name}");
    };
    all("left", &|p| p.x == 0.0);
    all("right", &|p| p.x == width);
    all("bottom", &|p| p.z == 0.0);
    all("top", &|p| p.z == height);
    assert_eq!(group(shape, "corners").len(), 4);
}

#[test]
fn sheets_are_exact_in_every_pattern() {
    for pattern in PATTERNS {
        for (width, height, nx, ny) in
            [(1.0, 1.0, 1, 1), (0.3, 0.2, 6, 4), (0.7, 1.1, 13, 19), (2.0, 0.1, 40, 2)]
        {
            let shape = sheet(width, height, nx, ny, pattern).unwrap();
            check_sheet(&shape, width, height);
        }
    }
    let plain = sheet(0.3, 0.2, 6, 4, Pattern::Structured).unwrap();
    assert_eq!((plain.positions.len(), plain.faces.len()), (35, 48));
    assert!(plain.faces.contains(&[0, 8, 1]), "structured diagonals rise from the low corner");
    assert!(sheet(0.3, 0.2, 6, 4, Pattern::Flipped).unwrap().faces.contains(&[0, 7, 1]));
}

#[test]
fn angles_are_sane_in_every_pattern() {
    for (pattern, least) in PATTERNS.into_iter().zip([44.8, 44.8, 44.8, 26.0, 18.0, 7.0, 10.0]) {
        let mut smallest = 180.0_f64;
        for seed in 0..20 {
            let pattern = match pattern {
                Pattern::Jittered { amount, .. } => Pattern::Jittered { amount, seed },
                Pattern::Delaunay { .. } => Pattern::Delaunay { seed },
                other => other,
            };
            let rows = if pattern == Pattern::Equilateral { 46 } else { 40 };
            smallest = smallest.min(min_angle(&sheet(1.0, 1.0, 40, rows, pattern).unwrap()));
            smallest = smallest.min(min_angle(&tube(0.2, 0.2, 0.5, 60, 24, pattern).unwrap()));
            let round = min_angle(&disc(0.3, 20, pattern).unwrap());
            assert!(round > 10.0, "disc {pattern:?}: {round}");
        }
        println!("{pattern:?}: smallest angle {smallest:.1} degrees");
        assert!(smallest > least, "{pattern:?}: {smallest}");
    }
}

#[test]
fn strips_have_square_cells() {
    for pattern in PATTERNS {
        let shape = strip(1.0, 0.05, 100, pattern).unwrap();
        check_sheet(&shape, 1.0, 0.05);
    }
    assert_eq!(strip(1.0, 0.05, 100, Pattern::Structured).unwrap().faces.len(), 1000);
    assert_eq!(strip(1.0, 0.001, 10, Pattern::Structured).unwrap().faces.len(), 20);
}

#[test]
fn discs_are_the_polygon_of_their_rim() {
    for pattern in PATTERNS {
        for rings in [1, 2, 9] {
            let shape = disc(0.15, rings, pattern).unwrap();
            let n = 6.0 * rings as f64;
            let polygon = 0.5 * n * 0.15 * 0.15 * libm::sin(2.0 * PI / n);
            assert_eq!(euler(&shape), 1);
            assert!(close(area(&shape), polygon) && close(rest_area(&shape), polygon));
            assert!(shape.faces.iter().all(|&f| normal(&shape, f).y > 0.0));
            assert_eq!(group(&shape, "rim"), open_border(&shape));
            assert_eq!(group(&shape, "rim").len(), 6 * rings);
            assert!(
                shape
                    .group("rim")
                    .unwrap()
                    .iter()
                    .all(|&i| close(shape.positions[i as usize].length(), 0.15))
            );
            assert_eq!(shape.positions[group(&shape, "centre")[0] as usize], DVec3::ZERO);
        }
    }
}

#[test]
fn tubes_are_closed_outward_and_unstrained() {
    for pattern in PATTERNS {
        for (bottom, top, around, up) in [(0.2, 0.2, 3, 1), (0.2, 0.2, 24, 10), (0.4, 0.15, 32, 12)] {
            let shape = tube(bottom, top, 0.6, around, up, pattern).unwrap();
            assert_eq!(euler(&shape), 0, "{pattern:?}");
            let mut border = [group(&shape, "lower"), group(&shape, "upper")].concat();
            border.sort_unstable();
            assert_eq!(border, open_border(&shape));
            for (&face, rest) in shape.faces.iter().zip(&shape.rest) {
                let x = face.map(|i| shape.positions[i as usize]);
                let centre = (x[0] + x[1] + x[2]) / 3.0;
                assert!(normal(&shape, face).dot(DVec3::new(centre.x, 0.0, centre.z)) > 0.0);
                for k in 0..3 {
                    let (l, m) = (x[k].distance(x[(k + 1) % 3]), rest[k].distance(rest[(k + 1) % 3]));
                    assert!((l - m).abs() < 1e-12);
                }
                assert!((rest[1] - rest[0]).perp_dot(rest[2] - rest[0]) > 0.0, "(u, v) turns with the face");
            }
            assert!(close(area(&shape), rest_area(&shape)));
        }
    }
    // A prism of `around` flat sides.
    let prism = 24.0 * 2.0 * 0.2 * libm::sin(PI / 24.0) * 0.6;
    assert!(close(area(&tube(0.2, 0.2, 0.6, 24, 10, Pattern::Structured).unwrap()), prism));
    // The warp runs up: u grows with y by the slant.
    let shape = tube(0.2, 0.2, 0.6, 24, 1, Pattern::Structured).unwrap();
    for (face, rest) in shape.faces.iter().zip(&shape.rest) {
        for k in 0..3 {
            assert!((shape.positions[face[k] as usize].y - rest[k].x).abs() < 1e-12);
        }
    }
}

#[test]
fn same_arguments_same_bits() {
    let bits = |shape: &Shape| -> Vec<[u64; 3]> {
        shape.positions.iter().map(|p| p.to_array().map(f64::to_bits)).collect()
    };
    for pattern in PATTERNS {
        let (a, b) = (sheet(1.0, 0.7, 30, 21, pattern).unwrap(), sheet(1.0, 0.7, 30, 21, pattern).unwrap());
        assert!(bits(&a) == bits(&b) && a == b);
        assert_eq!(disc(1.0, 8, pattern).unwrap(), disc(1.0, 8, pattern).unwrap());
        assert_eq!(
            tube(1.0, 0.5, 1.0, 12, 8, pattern).unwrap(),
            tube(1.0, 0.5, 1.0, 12, 8, pattern).unwrap()
        );
    }
    let one = sheet(1.0, 1.0, 9, 9, Pattern::Delaunay { seed: 1 }).unwrap();
    let two = sheet(1.0, 1.0, 9, 9, Pattern::Delaunay { seed: 2 }).unwrap();
    assert_ne!(bits(&one), bits(&two));
}

#[test]
fn wrong_arguments_are_refused_with_a_way_out() {
    let s = Pattern::Structured;
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-300, 1e300] {
        for error in [
            sheet(bad, 1.0, 2, 2, s).unwrap_err(),
            sheet(1.0, bad, 2, 2, s).unwrap_err(),
            strip(bad, 1.0, 2, s).unwrap_err(),
            strip(1.0, bad, 2, s).unwrap_err(),
            disc(bad, 2, s).unwrap_err(),
            tube(bad, 1.0, 1.0, 4, 4, s).unwrap_err(),
            tube(1.0, bad, 1.0, 4, 4, s).unwrap_err(),
            tube(1.0, 1.0, bad, 4, 4, s).unwrap_err(),
        ] {
            assert!(error.to_string().contains("finite, positive"), "{error}");
        }
    }
    assert!(sheet(1.0, 1.0, 0, 2, s).is_err() && sheet(1.0, 1.0, 2, 0, s).is_err());
    assert!(strip(1.0, 1.0, 0, s).is_err() && disc(1.0, 0, s).is_err());
    assert!(tube(1.0, 1.0, 1.0, 2, 4, s).is_err() && tube(1.0, 1.0, 1.0, 4, 0, s).is_err());
    for huge in [5_001, 1 << 20, usize::MAX] {
        for pattern in PATTERNS {
            assert!(sheet(1.0, 1.0, huge, huge, pattern).is_err());
            assert!(strip(1.0, 1.0, huge, pattern).is_err());
            assert!(disc(1.0, huge, pattern).is_err());
            assert!(tube(1.0, 1.0, 1.0, huge, huge, pattern).is_err());
        }
    }
    for amount in [-0.1, 0.31, f64::NAN] {
        assert!(sheet(1.0, 1.0, 2, 2, Pattern::Jittered { amount, seed: 0 }).is_err());
    }
}

/// K02's Table 4: vertices, edges and faces of its four discs.
#[test]
fn a_disc_has_the_counts_asked_for() {
    for [v, e, t] in [[148, 404, 257], [405, 1161, 757], [1566, 4590, 3025], [2128, 6231, 4104]] {
        let shape = toile::mesh::shapes::disc_of(0.5, v, 2 * v - 2 - t).expect("shape");
        let mesh = toile::mesh::Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("mesh");
        assert_eq!([mesh.vertices(), mesh.edges().len(), mesh.faces().len()], [v, e, t]);
    }
    assert!(
        toile::mesh::shapes::disc_of(0.5, 2, 2).is_err() && toile::mesh::shapes::disc_of(0.5, 5, 6).is_err()
    );
}
