//! Lines through faces.

use super::*;
use crate::mesh::shapes::{disc, tube};

/// The length [m] of the line of a score in the flat square.
fn length(scored: &Scored, positions: &[DVec3]) -> f64 {
    scored.line.iter().map(|[[a, b], _]| (positions[*a as usize] - positions[*b as usize]).length()).sum()
}

#[test]
fn a_line_through_faces_makes_two_pieces() {
    for pattern in [Pattern::Structured, Pattern::Equilateral, Pattern::Delaunay { seed: 6 }] {
        let (mesh, x) = square(8, pattern);
        let line = [place(&mesh, 0.0, 0.31), place(&mesh, 1.0, 0.72)];
        let cut = cut(&mesh, &line).expect("two pieces");
        check(&mesh, &cut.edited);
        assert_eq!(cut.edited.mesh.components().len(), 2);
        assert!((cut.edited.mesh.total_area() - 1.0).abs() < 1e-12);
        let places = check_places(&cut.edited, &x);
        assert!(length(&cut, &places) < 1.08 * DVec2::new(1.0, 0.41).length(), "{}", length(&cut, &places));
        for snap in &cut.snaps {
            assert!(snap.distance > 0.0 && snap.distance < 0.5 * 0.2, "{snap:?}");
        }
        // What the line does not meet is as it was.
        let scored = score(&mesh, &line).expect("scored").edited;
        let same = (0..mesh.faces().len()).filter(|&f| scored.mesh.faces()[f] == mesh.faces()[f]).count();
        assert!(same > mesh.faces().len() / 2);
        for f in (0..mesh.faces().len()).filter(|&f| scored.mesh.faces()[f] == mesh.faces()[f]) {
            assert_eq!(scored.mesh.rest()[f], mesh.rest()[f]);
        }
        assert_eq!(euler(&scored.mesh), 1);
    }
}

#[test]
fn lines_along_edges_and_through_vertices_add_nothing() {
    let (mesh, _) = square(6, Pattern::Structured);
    for (from, to, edges) in
        [((0.0, 0.5), (1.0, 0.5), 6), ((0.0, 0.0), (1.0, 1.0), 6), ((0.5, 0.0), (0.5, 0.5), 3)]
    {
        let scored = score(&mesh, &[place(&mesh, from.0, from.1), place(&mesh, to.0, to.1)]).expect("scored");
        assert_eq!(scored.edited.mesh.faces(), mesh.faces());
        assert_eq!(scored.line.len(), edges);
        assert!(scored.snaps.is_empty(), "{:?}", scored.snaps);
    }
    // The other diagonal goes through vertices and through the middles of edges.
    let scored = score(&mesh, &[place(&mesh, 0.0, 1.0), place(&mesh, 1.0, 0.0)]).expect("scored");
    assert_eq!(scored.edited.mesh.vertices(), mesh.vertices() + 6);
    assert_eq!(scored.line.len(), 12);
}

#[test]
fn a_slit_keeps_its_tips() {
    let (mesh, x) = square(8, Pattern::Equilateral);
    let slit = cut(&mesh, &[place(&mesh, 0.27, 0.4), place(&mesh, 0.66, 0.52)]).expect("a slit");
    check(&mesh, &slit.edited);
    assert_eq!((euler(&slit.edited.mesh), loops(&slit.edited.mesh)), (0, 2));
    assert!((slit.edited.mesh.total_area() - 1.0).abs() < 1e-12);
    // All inner vertices of the line twice.
    let scored = score(&mesh, &[place(&mesh, 0.27, 0.4), place(&mesh, 0.66, 0.52)]).expect("scored");
    assert_eq!(slit.edited.mesh.vertices(), scored.edited.mesh.vertices() + scored.line.len() - 1);
    check_places(&slit.edited, &x);
    // Sewn again it is only scored.
    let pairs: Vec<[u32; 2]> = slit.line.iter().flat_map(|[a, b]| [[a[0], b[0]], [a[1], b[1]]]).collect();
    let sewn = sew(&slit.edited.mesh, &pairs).expect("sewn");
    assert_eq!(sewn.mesh.faces(), scored.edited.mesh.faces());
    assert_eq!(slit.edited.remap.then(&sewn.remap), scored.edited.remap);
}

#[test]
fn lines_are_straight_but_for_snaps() {
    let mut crossed = 0;
    for trial in 0..300 {
        let mut dice = Dice::new(trial);
        let (mesh, x) = square(7, Pattern::Delaunay { seed: trial });
        // Half of them over an earlier slit.
        let (mesh, x) = if trial % 2 == 0 {
            (mesh, x)
        } else {
            let slit = cut(&mesh, &[place(&mesh, 0.2, 0.5), place(&mesh, 0.8, 0.5)]).expect("a slit").edited;
            let x = slit.remap.carry(&x);
            (slit.mesh, x)
        };
        let Ok(scored) = score(&mesh, &[any_place(&mesh, &mut dice), any_place(&mesh, &mut dice)]) else {
            continue;
        };
        let places = scored.edited.remap.carry(&x);
        let points: Vec<DVec2> = scored
            .line
            .iter()
            .flat_map(|edge| edge[0])
            .map(|v| DVec2::new(places[v as usize].x, places[v as usize].z))
            .collect();
        // The ends of the line are the two vertices farthest apart.
        let far = |p: &DVec2, q: &DVec2| (*p - *q).length();
        let mut ends = (points[0], points[1]);
        for p in &points {
            for q in &points {
                if far(p, q) > far(&ends.0, &ends.1) {
                    ends = (*p, *q);
                }
            }
        }
        let along = (ends.1 - ends.0).normalize();
        for (p, v) in points.iter().zip(scored.line.iter().flat_map(|edge| edge[0])) {
            let off = along.perp_dot(*p - ends.0).abs();
            let snap = scored.snaps.iter().find(|snap| snap.vertex == v);
            assert!(
                off < 1e-9 || snap.is_some_and(|snap| off <= snap.distance + 1e-9),
                "trial {trial}: {off} {snap:?}"
            );
            crossed += 1;
        }
    }
    assert!(crossed > 1000, "{crossed}");
}

#[test]
fn lines_cross_earlier_cuts_and_holes() {
    for pattern in [Pattern::Structured, Pattern::Delaunay { seed: 1 }] {
        let (mesh, x) = square(8, pattern);
        let first = cut(&mesh, &[place(&mesh, 0.0, 0.5), place(&mesh, 1.0, 0.5)]).expect("two").edited;
        // Across both pieces: an X makes four.
        let line = [place(&first.mesh, 0.43, 0.0), place(&first.mesh, 0.58, 1.0)];
        let second = cut(&first.mesh, &line).expect("four").edited;
        check(&first.mesh, &second);
        assert_eq!(second.mesh.components().len(), 4, "{pattern:?}");
        check_places(&Edited { remap: first.remap.then(&second.remap), mesh: second.mesh.clone() }, &x);
        // Up to the cut only: a T makes three.
        let to = place(&first.mesh, 0.5, 0.5 + 1e-12);
        let third = cut(&first.mesh, &[place(&first.mesh, 0.4, 1.0), to]).expect("three").edited;
        assert_eq!(third.mesh.components().len(), 3);
        // Over a hole.
        let near = |r: &[DVec2; 3]| ((r[0] + r[1] + r[2]) / 3.0 - DVec2::splat(0.5)).length() < 0.2;
        let gone: Vec<u32> =
            (0..mesh.faces().len() as u32).filter(|&f| near(&mesh.rest()[f as usize])).collect();
        let open = remove(&mesh, &gone).expect("a hole");
        let halves = cut(&open.mesh, &[place(&open.mesh, 0.0, 0.47), place(&open.mesh, 1.0, 0.55)])
            .expect("two")
            .edited;
        check(&open.mesh, &halves);
        assert_eq!(halves.mesh.components().len(), 2, "{pattern:?}");
    }
}

#[test]
fn lines_cross_themselves() {
    let (mesh, x) = square(10, Pattern::Delaunay { seed: 12 });
    // A loop with two tails cuts its inside out.
    let points = [(0.2, 0.2), (0.8, 0.75), (0.25, 0.8), (0.75, 0.2)];
    let line: Vec<Place> = points.iter().map(|p| place(&mesh, p.0, p.1)).collect();
    let cut = cut(&mesh, &line).expect("a loop").edited;
    check(&mesh, &cut);
    check_places(&cut, &x);
    assert_eq!(cut.mesh.components().len(), 2);
}

/// Two unit squares sewn together, the charts of the second turned, moved and mirrored.
fn two_panels() -> (Mesh, Vec<DVec3>) {
    let (mesh, x) = square(6, Pattern::Delaunay { seed: 7 });
    let count = mesh.vertices() as u32;
    let faces = mesh.faces().iter().map(|f| f.map(|v| v + count));
    let turned = |p: DVec2| DVec2::new(7.0 - p.y, -3.0 - p.x);
    let rest: Vec<[DVec2; 3]> =
        mesh.rest().iter().copied().chain(mesh.rest().iter().map(|r| r.map(turned))).collect();
    let all = mesh.faces().iter().copied().chain(faces).collect();
    let both = Mesh::new(2 * count as usize, all, rest).expect("two panels");
    let at = |wanted: f64, z: f64| {
        (0..count)
            .find(|&v| x[v as usize].x == wanted && (x[v as usize].z - z).abs() < 1e-9)
            .expect("a vertex")
    };
    let ticks: Vec<f64> = x.iter().filter(|p| p.x == 1.0).map(|p| p.z).collect();
    let pairs: Vec<[u32; 2]> = ticks.iter().map(|&z| [at(1.0, z), at(0.0, z) + count]).collect();
    let sewn = sew(&both, &pairs).expect("sewn");
    let positions: Vec<DVec3> = x.iter().copied().chain(x.iter().map(|p| *p + DVec3::X)).collect();
    (sewn.mesh, sewn.remap.carry(&positions))
}

#[test]
fn lines_go_straight_across_seams() {
    let (mesh, x) = two_panels();
    let corner = |wanted: DVec3| {
        let v = (0..x.len()).find(|&v| (x[v] - wanted).length() < 1e-9).expect("a vertex") as u32;
        let face = mesh.faces().iter().position(|f| f.contains(&v)).expect("a face");
        let weights = mesh.faces()[face].map(|c| if c == v { 1.0 } else { 0.0 });
        Place { face: face as u32, weights }
    };
    let line = [corner(DVec3::ZERO), corner(DVec3::new(2.0, 0.0, 1.0))];
    let scored = score(&mesh, &line).expect("scored");
    let places = scored.edited.remap.carry(&x);
    for v in scored.line.iter().flatten().flatten() {
        let p = places[*v as usize];
        let off = (p.z - 0.5 * p.x).abs();
        // Only where it was moved to a vertex is it off the line.
        let moved = scored.snaps.iter().any(|snap| snap.vertex == *v);
        assert!(off < 1e-9 || moved, "{p} is {off} off");
    }
    let halves = cut(&mesh, &line).expect("two").edited;
    check(&mesh, &halves);
    assert_eq!(halves.mesh.components().len(), 2);
    assert!((halves.mesh.total_area() - 2.0).abs() < 1e-12);
}

#[test]
fn lines_find_their_way_where_cloth_is_not_flat() {
    // A brush leaves faces whose charts fit nowhere.
    let (mesh, x) = square(10, Pattern::Delaunay { seed: 3 });
    let factors = brush(&mesh, place(&mesh, 0.5, 0.5), 0.4, 2.0, 0.2).expect("factors");
    let grown = resize(&mesh, &factors, Keep::Mass).expect("grown").mesh;
    let line = [place(&mesh, 0.0, 0.45), place(&mesh, 1.0, 0.56)];
    let halves = cut(&grown, &line).expect("two").edited;
    check(&grown, &halves);
    assert_eq!(halves.mesh.components().len(), 2);
    assert!((halves.mesh.total_area() / grown.total_area() - 1.0).abs() < 1e-12);
    assert_eq!(halves.remap.carry(&x).len(), halves.mesh.vertices());
    // Round a cone and a tube.
    let shape = tube(0.3, 0.1, 0.5, 12, 6, Pattern::Structured).expect("a cone");
    let cone = mesh_of(&shape);
    let mut dice = Dice::new(4);
    for trial in 0..50 {
        let line = [any_place(&cone, &mut dice), any_place(&cone, &mut dice)];
        let scored = score(&cone, &line);
        let Ok(scored) = scored else {
            assert!(matches!(scored, Err(EditError::TooFew { .. })), "trial {trial}: {scored:?}");
            continue;
        };
        check(&cone, &scored.edited);
        assert!((scored.edited.mesh.total_area() / cone.total_area() - 1.0).abs() < 1e-12);
    }
}

/// The length [m] of the shortest way along edges.
fn along_edges(mesh: &Mesh, x: &[DVec3], from: u32, to: u32) -> f64 {
    let mut far = vec![f64::INFINITY; x.len()];
    far[from as usize] = 0.0;
    loop {
        let mut less = false;
        for [a, b] in mesh.edges().iter().map(|edge| edge.ends.map(|v| v as usize)) {
            let length = (x[a] - x[b]).length();
            for (p, q) in [(a, b), (b, a)] {
                if far[p] + length < far[q] * (1.0 - 1e-12) {
                    far[q] = far[p] + length;
                    less = true;
                }
            }
        }
        if !less {
            return far[to as usize];
        }
    }
}

#[test]
fn lines_on_closed_surfaces_are_short() {
    // A cone with a bottom and a lid: the rims are not flat at rest, so lines over them bend.
    let shape = tube(0.3, 0.2, 0.3, 14, 4, Pattern::Delaunay { seed: 5 }).expect("a cone");
    let once =
        fill(&mesh_of(&shape), &shape.positions, shape.group("lower").expect("a rim")[0]).expect("a bottom");
    let x = once.remap.carry(&shape.positions);
    let closed = fill(&once.mesh, &x, shape.group("upper").expect("a rim")[0]).expect("a lid");
    let (mesh, x) = (closed.mesh, closed.remap.carry(&x));
    assert_eq!(loops(&mesh), 0);
    let mut dice = Dice::new(1);
    let mut worst: f64 = 0.0;
    for trial in 0..200 {
        let at = |face: usize, k: usize| {
            let mut weights = [0.0; 3];
            weights[k] = 1.0;
            (mesh.faces()[face][k], Place { face: face as u32, weights })
        };
        let (from, first) = at(dice.below(mesh.faces().len()), dice.below(3));
        let (to, last) = at(dice.below(mesh.faces().len()), dice.below(3));
        if from == to {
            continue;
        }
        let scored = score(&mesh, &[first, last]).expect("scored");
        check(&mesh, &scored.edited);
        let places = scored.edited.remap.carry(&x);
        let ratio = length(&scored, &places) / along_edges(&mesh, &x, from, to);
        assert!(ratio < 1.15, "trial {trial}: {ratio} of the way along edges");
        worst = worst.max(ratio);
        let slit = cut(&mesh, &[first, last]);
        assert!(
            slit.is_ok_and(|slit| euler(&slit.edited.mesh) == 1) || scored.line.len() == 1,
            "a hole in a sphere"
        );
    }
    println!("at most {worst:.3} of the way along edges");
}

#[test]
fn pieces_that_are_apart_are_named() {
    let (mesh, _) = square(4, Pattern::Structured);
    let all: Vec<[u32; 3]> =
        (0..2).flat_map(|k| mesh.faces().iter().map(move |f| f.map(|v| v + 25 * k))).collect();
    let far = mesh.rest().iter().map(|r| r.map(|p| p + DVec2::splat(5.0))).collect();
    let sheets = Mesh::new(50, all, [mesh.rest().to_vec(), far].concat()).expect("two sheets");
    let weights = [0.4, 0.3, 0.3];
    let error = cut(&sheets, &[Place { face: 3, weights }, Place { face: 40, weights }]).expect_err("apart");
    assert_eq!(error, EditError::NotJoined { points: [0, 1], faces: [3, 40] });
}

#[test]
fn no_line_makes_slivers() {
    let shapes = [
        mesh_of(&sheet(1.0, 1.0, 6, 6, Pattern::Structured).expect("a sheet")),
        mesh_of(&sheet(1.0, 1.0, 6, 6, Pattern::Jittered { amount: 0.3, seed: 1 }).expect("a sheet")),
        mesh_of(&sheet(1.0, 1.0, 6, 7, Pattern::Delaunay { seed: 2 }).expect("a sheet")),
        mesh_of(&disc(0.5, 4, Pattern::Structured).expect("a disc")),
        mesh_of(&tube(0.2, 0.2, 0.6, 9, 5, Pattern::Equilateral).expect("a tube")),
    ];
    let (mut made, mut least) = (0, 90.0_f64);
    for trial in 0..1000 {
        let mesh = &shapes[trial % shapes.len()];
        let mut dice = Dice::new(trial as u64);
        let line: Vec<Place> = (0..2 + dice.below(3)).map(|_| any_place(mesh, &mut dice)).collect();
        let Ok(scored) = score(mesh, &line) else { continue };
        let new = &scored.edited;
        assert!((new.mesh.total_area() / mesh.total_area() - 1.0).abs() < 1e-12);
        for (f, rest) in new.mesh.rest().iter().enumerate() {
            if new.mesh.faces().get(f) != mesh.faces().get(f) {
                least = least.min(least_angle(rest));
                made += 1;
            }
        }
    }
    println!("{made} faces made, least angle {least:.3}°");
    assert!(made > 10_000, "{made}");
    assert!(least >= LEAST_ANGLE - 1e-9, "{least}°");
}
