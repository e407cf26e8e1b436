use super::*;
use glam::DVec2;
use proptest::prelude::*;
use toile::mesh::Mesh;

/// A sheet of n × n squares of 0.1 m as quads.
fn sheet(n: u32) -> (Vec<DVec3>, Vec<Vec<u32>>) {
    let at = |v: u32| DVec3::new(f64::from(v % (n + 1)), 0.0, f64::from(v / (n + 1))) * 0.1;
    let quad = |q: u32| {
        let v = q / n * (n + 1) + q % n;
        vec![v, v + n + 1, v + n + 2, v + 1]
    };
    ((0..(n + 1) * (n + 1)).map(at).collect(), (0..n * n).map(quad).collect())
}

fn polygons(faces: &[Vec<u32>]) -> Polygons {
    let counts: Vec<u32> = faces.iter().map(|f| f.len() as u32).collect();
    Polygons::from_counts(&counts, faces.concat(), Vec::new()).expect("polygons")
}

/// What every repaired mesh must be; the mesh the engine makes of it.
fn sound(x: &[DVec3], faces: &[Vec<u32>], repaired: &Repaired) -> Mesh {
    assert_eq!(repaired.stands.len(), x.len(), "a vertex for each vertex");
    assert_eq!(repaired.polygons.len(), repaired.faces.len());
    for (v, of) in repaired.stands.iter().enumerate() {
        assert_eq!(repaired.stands[*of as usize], *of, "vertex {v} goes with one that stands for itself");
    }
    for (face, p) in repaired.faces.iter().zip(&repaired.polygons) {
        assert!(face.iter().all(|v| repaired.stands[*v as usize] == *v), "{face:?}");
        assert!((*p as usize) < faces.len());
    }
    assert!(repaired.turned.iter().all(|p| (*p as usize) < faces.len()));
    let flat = |f: &[u32; 3]| {
        let [a, b, c] = f.map(|v| x[v as usize]);
        let u = (b - a).normalize();
        let w = (b - a).cross(c - a).normalize().cross(u);
        [a, b, c].map(|p| DVec2::new((p - a).dot(u), (p - a).dot(w)))
    };
    let rest = repaired.faces.iter().map(flat).collect();
    Mesh::branched(x.len(), repaired.faces.clone(), rest, repaired.bent.clone()).expect("sound")
}

fn repaired(x: &[DVec3], faces: &[Vec<u32>]) -> (Repaired, Mesh) {
    let repaired = repair(x, &polygons(faces), &[]).expect("repairable");
    let mesh = sound(x, faces, &repaired);
    (repaired, mesh)
}

fn count(repaired: &Repaired, fault: Fault) -> u64 {
    repaired.findings.get(fault).map_or(0, |finding| finding.count)
}

#[test]
fn sound_meshes_stay_as_they_are() {
    let (x, faces) = sheet(4);
    let (r, mesh) = repaired(&x, &faces);
    assert!(r.findings.all.is_empty(), "{:?}", r.findings);
    let obj = Obj { positions: x, polygons: polygons(&faces), ..Obj::default() };
    assert_eq!(r.faces, obj.triangulate().faces);
    assert_eq!((mesh.edges().len(), r.doubles().len(), r.bent.len()), (56, 0, 0));
}

#[test]
fn soups_are_welded_and_keep_their_vertices() {
    let (x, faces) = sheet(3);
    // Every quad with vertices of its own, off by a hair.
    let off = |n: usize| 1e-6 * DVec3::new((n % 3) as f64, (n % 5) as f64, (n % 7) as f64);
    let soup: Vec<DVec3> = faces.concat().iter().enumerate().map(|(n, v)| x[*v as usize] + off(n)).collect();
    let own: Vec<Vec<u32>> = (0..9).map(|q| (4 * q..4 * q + 4).collect()).collect();
    let (r, mesh) = repaired(&soup, &own);
    assert_eq!(count(&r, Fault::Coincident), 36 - 16);
    assert_eq!(mesh.edges().len(), 24 + 9);
    let moved = r.findings.get(Fault::Coincident).expect("welded").moved;
    assert!(moved > 0.0 && moved < 1e-5, "{moved}");
    // A centimetre is no coincidence.
    let apart: Vec<DVec3> =
        soup.iter().enumerate().map(|(n, p)| *p + DVec3::Y * (0.01 * (n / 4) as f64)).collect();
    assert_eq!(count(&repaired(&apart, &own).0, Fault::Coincident), 0);
}

#[test]
fn fine_and_coarse_parts_are_welded_each_by_their_own_edges() {
    // A square of 1 m and one of 0.1 mm: 1 µm is nothing to the first and much to the second.
    let square = |size: f64, at: f64| {
        [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
            .map(|[u, v]| DVec3::new(at + size * u, 0.0, size * v))
    };
    let mut x = square(1.0, 0.0).to_vec();
    x.extend(square(1.0, 1.0 + 1e-6));
    x.extend(square(1e-4, 5.0));
    x.extend(square(1e-4, 5.0 + 1e-4 + 1e-6));
    let faces: Vec<Vec<u32>> = (0..4).map(|q| (4 * q..4 * q + 4).collect()).collect();
    let (r, _) = repaired(&x, &faces);
    assert_eq!(r.doubles(), [[4, 1], [7, 2]]);
}

#[test]
fn repeated_and_empty_polygons_are_left_out() {
    let (mut x, mut faces) = sheet(2);
    faces.push(vec![0, 3, 4, 1]); // the first again
    faces.push(vec![4, 3, 0, 1]); // and from behind, started elsewhere
    faces.push(vec![0, 0, 1]);
    x.push(DVec3::new(0.05, 0.0, 0.0));
    faces.push(vec![0, 9, 1]); // in line
    let (r, mesh) = repaired(&x, &faces);
    assert_eq!(count(&r, Fault::Duplicate), 2);
    assert!((r.findings.get(Fault::Duplicate).expect("two").area - 0.02).abs() < 1e-12);
    assert_eq!(count(&r, Fault::RepeatedCorner), 1);
    assert_eq!(mesh.faces().len(), 8 + 1, "the triangle in line splits the face it lies on");
    assert!(count(&r, Fault::NoArea) == 1 && count(&r, Fault::Thin) == 1, "{:?}", r.findings);
    assert!((mesh.total_area() - 0.04).abs() < 1e-12);
    assert_eq!(mesh.border().len(), 9, "vertex 9 is on the border now: it belongs to the sheet");
}

#[test]
fn slivers_go_to_their_neighbours_and_open_no_slit() {
    // Two triangles that share a side, one of them cut by a sliver along it.
    for height in [0.0, 1e-13, 1e-9, 1e-6, 5e-5] {
        let x = [[0.0, 0.0], [1.0, 0.0], [0.4, height], [0.5, 1.0], [0.5, -1.0]];
        let x = x.map(|[u, v]| DVec3::new(u, 0.0, v)).to_vec();
        let faces = vec![vec![0, 2, 3], vec![2, 1, 3], vec![0, 1, 2], vec![1, 0, 4]];
        let (r, mesh) = repaired(&x, &faces);
        assert_eq!(count(&r, Fault::Thin), 1, "{height}");
        assert_eq!(mesh.faces().len(), 4, "{height}");
        assert_eq!(mesh.edges().iter().filter(|e| e.is_border()).count(), 4, "{height}: no slit");
        assert!(r.doubles().is_empty());
    }
    // A sliver at the border has nobody to go to; its own vertex goes with the nearest.
    let x = [[0.0, 0.0], [1.0, 0.0], [0.5, 1.0], [0.3, -1e-9]].map(|[u, v]| DVec3::new(u, 0.0, v));
    let (r, mesh) = repaired(&x, &[vec![0, 1, 2], vec![0, 3, 1]]);
    assert_eq!(mesh.faces().len(), 2, "the neighbour takes it over");
    assert_eq!(count(&r, Fault::Stray), 0);
    // A needle that hangs on by a vertex.
    let x =
        [[0.0, 0.0], [1.0, 0.0], [0.5, 1.0], [-1.0, 0.0], [-0.5, 1e-9]].map(|[u, v]| DVec3::new(u, 0.0, v));
    let (r, mesh) = repaired(&x, &[vec![0, 1, 2], vec![0, 3, 4]]);
    assert_eq!((mesh.faces().len(), r.doubles()), (1, vec![[3, 0], [4, 0]]));
    assert!((r.findings.get(Fault::Stray).expect("strays").moved - 1.0).abs() < 1e-9);
}

#[test]
fn the_minority_is_turned_and_one_sided_strips_are_cut() {
    let (x, mut faces) = sheet(3);
    faces[4].reverse();
    faces[8].reverse();
    let (r, _) = repaired(&x, &faces);
    assert_eq!((r.turned.as_slice(), count(&r, Fault::Flipped)), (&[4, 8][..], 2));
    // A Möbius strip of five triangles.
    let x: Vec<DVec3> = (0..5)
        .map(|k| DVec3::new(libm::cos(1.3 * f64::from(k)), libm::sin(2.1 * f64::from(k)), f64::from(k % 2)))
        .collect();
    let strip = [[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 0], [4, 0, 1]].map(|f| f.to_vec());
    let (r, mesh) = repaired(&x, &strip);
    assert_eq!(count(&r, Fault::OneSided), 1);
    assert_eq!(mesh.components().len(), 1);
}

#[test]
fn edges_of_many_faces_stay_joined_and_bend_straight_through() {
    for k in 3..=8u32 {
        // Pages round the y axis, the first two in line.
        let angle = |n: u32| match n {
            0 => 0.0,
            1 => std::f64::consts::PI,
            n => 0.35 * f64::from(n),
        };
        let mut x = vec![DVec3::ZERO, DVec3::Y];
        x.extend((0..k).map(|n| DVec3::new(libm::cos(angle(n)), 0.5, libm::sin(angle(n)))));
        let pages: Vec<Vec<u32>> =
            (0..k).map(|n| if n % 2 == 0 { vec![0, 1, n + 2] } else { vec![0, n + 2, 1] }).collect();
        let (r, mesh) = repaired(&x, &pages);
        assert_eq!(count(&r, Fault::Branch), 1);
        assert_eq!(r.bent[0], [0, 1], "the flattest pair");
        assert_eq!(mesh.components().len(), 1, "nothing comes apart");
        let at = mesh.edges_between([0, 1]);
        let hinges = mesh.edges()[at].iter().filter(|edge| !edge.is_border()).count();
        assert_eq!(hinges, r.bent.len(), "{k} faces");
    }
}

#[test]
fn bow_ties_and_isolated_vertices_are_told_and_left_alone() {
    let (mut x, mut faces) = sheet(1);
    x.extend([DVec3::new(-0.1, 0.0, 0.0), DVec3::new(0.0, 0.0, -0.1), DVec3::splat(7.0)]);
    faces.push(vec![0, 4, 5]);
    let (r, _) = repaired(&x, &faces);
    assert!(r.findings.is_sound());
    assert_eq!((count(&r, Fault::BowTie), count(&r, Fault::Isolated)), (1, 1));
    assert_eq!(r.findings.get(Fault::BowTie).expect("one").first, [Element::Vertex(0)]);
    assert_eq!(r.findings.get(Fault::Isolated).expect("one").first, [Element::Vertex(6)]);
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let (x, faces) = sheet(1);
    let refuse =
        |x: &[DVec3], faces: &[Vec<u32>]| repair(x, &polygons(faces), &[]).expect_err("refused").to_string();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e30] {
        let mut x = x.clone();
        x[2].y = bad;
        let text = refuse(&x, &faces);
        assert!(text.starts_with("[no-place] vertex 3 is at") && text.contains("±1e6 m; "), "{text}");
    }
    assert!(refuse(&x, &[vec![0, 1, 9]]).starts_with("[missing-vertex] polygon 1 names vertex 10"));
    assert!(refuse(&x, &[]).starts_with("[nothing-left] none of its 0 polygons"));
    assert!(refuse(&[], &[]).starts_with("[nothing-left]"));
    let flat: Vec<DVec3> = x.iter().map(|p| DVec3::X * p.x).collect();
    assert!(refuse(&flat, &faces).starts_with("[nothing-left] none of its 1 polygons over 4 vertices"));
    let tiny: Vec<DVec3> = x.iter().map(|p| *p * 1e-9).collect();
    assert!(refuse(&tiny, &faces).starts_with("[too-small] the edges of its 1 polygons are 1"));
    let denormal: Vec<DVec3> = x.iter().map(|p| *p * 1e-310).collect();
    assert!(refuse(&denormal, &faces).starts_with('['));
}

#[test]
fn what_comes_apart_later_is_not_one() {
    let (x, faces) = sheet(2);
    let soup: Vec<DVec3> = faces.concat().iter().map(|v| x[*v as usize]).collect();
    let own: Vec<Vec<u32>> = (0..4).map(|q| (4 * q..4 * q + 4).collect()).collect();
    let mut later = soup.clone();
    later[4..8].iter_mut().for_each(|p| p.y += 0.05);
    let r = repair(&soup, &polygons(&own), &[&later]).expect("sound");
    assert!((4..8).all(|v| r.stands[v] == v as u32), "{:?}", r.stands);
    assert_eq!(count(&r, Fault::Coincident), 7 - 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any list of indices over any vertices is a sound mesh, or refused by name; never a panic.
    #[test]
    fn garbage_is_repaired_or_refused(
        places in prop::collection::vec(
            prop::array::uniform3(prop_oneof![
                4 => (-4i32..4).prop_map(|n| f64::from(n) * 0.25),
                2 => -1.0..1.0f64,
                1 => (-4i32..4).prop_map(|n| f64::from(n) * 0.25 + 1e-7),
                1 => Just(1e-310),
            ]), 0..24),
        wild in prop::option::weighted(0.1, prop_oneof![Just(f64::NAN), Just(1e30), Just(f64::INFINITY)]),
        faces in prop::collection::vec(prop::collection::vec(0u32..26, 3..7), 0..40),
    ) {
        let mut x: Vec<DVec3> = places.into_iter().map(DVec3::from).collect();
        if let (Some(wild), Some(p)) = (wild, x.last_mut()) {
            p.z = wild;
        }
        match repair(&x, &polygons(&faces), &[]) {
            Ok(r) => {
                sound(&x, &faces, &r);
            }
            Err(error) => {
                let text = error.to_string();
                prop_assert!(text.starts_with('[') && text.contains("; "), "{}", text);
            }
        }
    }
}
