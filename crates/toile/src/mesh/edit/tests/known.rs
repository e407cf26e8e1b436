//! Edits whose result is known.

use super::*;
use crate::mesh::shapes::{disc, tube};

fn row(n: usize, j: usize, from: usize, to: usize) -> Vec<u32> {
    (from..=to).map(|i| (j * (n + 1) + i) as u32).collect()
}

#[test]
fn a_slit_keeps_its_ends() {
    let (mesh, x) = square(6, Pattern::Structured);
    let edited = cut_along(&mesh, &row(6, 3, 2, 4)).expect("a slit");
    check(&mesh, &edited);
    assert_eq!(edited.mesh.vertices(), mesh.vertices() + 1, "two edges have one vertex between");
    assert_eq!(euler(&edited.mesh), 0, "a sheet with a hole");
    assert_eq!(loops(&edited.mesh), 2);
    assert_eq!(edited.mesh.total_area(), mesh.total_area());
    assert_eq!(edited.remap.heirs(mesh.vertices())[24], vec![24, 49]);
    assert_eq!(edited.remap.carry(&x)[49], x[24]);
}

#[test]
fn a_full_cut_makes_two_pieces() {
    let (mesh, _) = square(6, Pattern::Structured);
    let edited = cut_along(&mesh, &row(6, 3, 0, 6)).expect("two pieces");
    check(&mesh, &edited);
    assert_eq!(edited.mesh.components().len(), 2);
    assert_eq!(edited.mesh.vertices(), mesh.vertices() + 7);
    assert_eq!(euler(&edited.mesh), 2);
    // A cut in one of the pieces up to the first cut: a T.
    let column: Vec<u32> = (0..=3).map(|j| j * 7 + 2).collect();
    let third = cut_along(&edited.mesh, &column).expect("three pieces");
    assert_eq!(third.mesh.components().len(), 3);
    check(&edited.mesh, &third);
}

#[test]
fn a_cross_parts_its_middle_in_four() {
    let (mesh, _) = square(4, Pattern::Structured);
    // Along the middle row, back to the centre, up and down the middle column.
    let path = [11, 12, 13, 12, 7, 12, 17];
    let edited = cut_along(&mesh, &path).expect("a cross");
    check(&mesh, &edited);
    assert_eq!(edited.remap.heirs(25)[12].len(), 4);
    assert_eq!(edited.mesh.vertices(), 28);
    assert_eq!((euler(&edited.mesh), loops(&edited.mesh)), (0, 2));
}

#[test]
fn a_ring_cuts_a_piece_out() {
    let shape = disc(1.0, 4, Pattern::Structured).expect("a disc");
    let mesh = mesh_of(&shape);
    // Ring 2 of a disc: vertices 7–18.
    let ring: Vec<u32> = (7..19).chain([7]).collect();
    let edited = cut_along(&mesh, &ring).expect("a ring");
    check(&mesh, &edited);
    assert_eq!(edited.mesh.components().len(), 2);
    assert_eq!(edited.mesh.vertices(), mesh.vertices() + 12);
    assert_eq!((euler(&edited.mesh), loops(&edited.mesh)), (1, 3), "a disc and a ring");
}

#[test]
fn a_tube_is_cut_open() {
    let shape = tube(0.2, 0.2, 0.5, 8, 4, Pattern::Structured).expect("a tube");
    let mesh = mesh_of(&shape);
    assert_eq!(euler(&mesh), 0);
    let along: Vec<u32> = (0..5).map(|j| j * 8).collect();
    let edited = cut_along(&mesh, &along).expect("open");
    check(&mesh, &edited);
    assert_eq!((euler(&edited.mesh), loops(&edited.mesh)), (1, 1), "a sheet again");
}

#[test]
fn sewing_undoes_cuts() {
    let (mesh, _) = square(6, Pattern::Jittered { amount: 0.2, seed: 3 });
    for path in [row(6, 3, 2, 5), row(6, 3, 0, 6), vec![16, 17, 24, 31, 30, 23, 16]] {
        let open = cut_along(&mesh, &path).expect("open");
        let heirs = open.remap.heirs(mesh.vertices());
        let pairs: Vec<[u32; 2]> = heirs.iter().filter(|h| h.len() == 2).map(|h| [h[1], h[0]]).collect();
        let sewn = sew(&open.mesh, &pairs).expect("closed");
        check(&open.mesh, &sewn);
        assert_eq!(sewn.mesh.faces(), mesh.faces());
        assert_eq!(sewn.mesh.rest(), mesh.rest());
        let both = open.remap.then(&sewn.remap);
        assert_eq!(both, Remap::identity(mesh.vertices(), mesh.faces().len()));
    }
}

#[test]
fn sewing_refuses_what_is_no_cloth() {
    let (mesh, _) = square(4, Pattern::Structured);
    assert!(matches!(sew(&mesh, &[[0, 1]]), Err(EditError::Collapses { .. })));
    assert!(matches!(sew(&mesh, &[[0, 24]]), Err(EditError::Pinches { fans: 2, .. })));
    assert!(matches!(sew(&mesh, &[[8, 16]]), Err(EditError::Pinches { .. })), "inside");
    assert!(matches!(sew(&mesh, &[[6, 18]]), Err(EditError::ThreeFaces { edge: [6, 12], .. })));
    assert!(matches!(sew(&mesh, &[[3, 3]]), Err(EditError::NothingToSew { .. })));
    // The lower border onto the upper one, the right way round and the wrong one.
    let pairs: Vec<[u32; 2]> = (0..5).map(|i| [i, 20 + i]).collect();
    let tube = sew(&mesh, &pairs).expect("a tube");
    check(&mesh, &tube);
    assert_eq!((euler(&tube.mesh), loops(&tube.mesh)), (0, 2));
    assert_eq!(tube.remap.vertices[2], Origin::Joined(vec![2, 22]));
    let band: Vec<[u32; 2]> = (0..5).map(|i| [i, 24 - i]).collect();
    assert!(matches!(sew(&mesh, &band), Err(EditError::AgainstWinding { .. })), "a Möbius band has no front");
    // Three strips at one edge.
    let (three, _) = square(2, Pattern::Structured);
    let rest = three.rest().to_vec();
    let all: Vec<[u32; 3]> =
        (0..3).flat_map(|k| three.faces().iter().map(move |f| f.map(|v| v + 9 * k))).collect();
    let sheets = Mesh::new(27, all, [rest.clone(), rest.clone(), rest].concat()).expect("three sheets");
    let seam = [[0, 9], [9, 18], [1, 10], [10, 19]];
    assert!(matches!(
        sew(&sheets, &seam),
        Err(EditError::ThreeFaces { .. } | EditError::AgainstWinding { .. })
    ));
    let on_top: Vec<[u32; 2]> = (0..9).map(|i| [i, i + 9]).collect();
    assert!(matches!(sew(&sheets, &on_top), Err(EditError::SameFace { .. })));
}

#[test]
fn removing_compacts_and_parts_pinches() {
    let (mesh, x) = square(4, Pattern::Structured);
    // Two opposite pairs of faces round vertex 12 go: what is left meets there only.
    let round: Vec<u32> =
        (0..mesh.faces().len() as u32).filter(|&f| mesh.faces()[f as usize].contains(&12)).collect();
    assert_eq!(round.len(), 6);
    let x_of = |f: u32| mesh.rest()[f as usize].iter().map(|p| p.x).sum::<f64>() / 3.0;
    let y_of = |f: u32| mesh.rest()[f as usize].iter().map(|p| p.y).sum::<f64>() / 3.0;
    let gone: Vec<u32> = round.into_iter().filter(|&f| (x_of(f) < 0.5) == (y_of(f) < 0.5)).collect();
    let edited = remove(&mesh, &gone).expect("pinched");
    check(&mesh, &edited);
    assert_eq!(edited.mesh.faces().len(), mesh.faces().len() - gone.len());
    assert_eq!(edited.remap.heirs(25)[12].len(), 2);
    check_places(&edited, &x);
    // A corner: its vertex goes and the others move up.
    let corner: Vec<u32> =
        (0..mesh.faces().len() as u32).filter(|&f| mesh.faces()[f as usize].contains(&0)).collect();
    let edited = remove(&mesh, &corner).expect("less a corner");
    check(&mesh, &edited);
    assert_eq!(edited.mesh.vertices(), 24);
    assert_eq!(edited.remap.vertices[0], Origin::Old(1));
    assert!(edited.remap.heirs(25)[0].is_empty());
    let all: Vec<u32> = (0..mesh.faces().len() as u32).collect();
    assert_eq!(remove(&mesh, &all).expect_err("all"), EditError::NothingLeft { faces: 32 });
}

#[test]
fn resizing_changes_areas_by_the_square() {
    let (mesh, _) = square(6, Pattern::Delaunay { seed: 5 });
    let mut dice = Dice::new(8);
    let factors: Vec<f64> = mesh.faces().iter().map(|_| 0.3 + 2.2 * dice.unit()).collect();
    let edited = resize(&mesh, &factors, Keep::Mass).expect("resized");
    check(&mesh, &edited);
    for (f, factor) in factors.iter().enumerate() {
        let factor = factor.clamp(0.5, 2.0);
        let ratio = edited.mesh.area()[f] / mesh.area()[f];
        assert!((ratio / (factor * factor) - 1.0).abs() < 1e-12);
        assert!((ratio * edited.remap.density[f] - 1.0).abs() < 1e-12, "mass");
    }
    let heavier = resize(&mesh, &factors, Keep::Density).expect("resized");
    assert!(heavier.remap.density.iter().all(|&d| d == 1.0));
    let same = resize(&mesh, &vec![1.0; factors.len()], Keep::Mass).expect("unchanged");
    assert_eq!(same.mesh.rest(), mesh.rest());
}

#[test]
fn a_brush_measures_over_the_cloth() {
    let (mesh, _) = square(20, Pattern::Delaunay { seed: 2 });
    let centre = DVec2::new(0.43, 0.51);
    let factors = brush(&mesh, place(&mesh, centre.x, centre.y), 0.3, 2.0, 0.25).expect("factors");
    let mut worst: f64 = 0.0;
    for (rest, factor) in mesh.rest().iter().zip(&factors) {
        let x = ((rest[0] + rest[1] + rest[2]) / 3.0 - centre).length() / 0.3;
        let s = ((x - 0.25) / 0.75).clamp(0.0, 1.0);
        let wanted = libm::pow(2.0, 1.0 - s * s * (3.0 - 2.0 * s));
        worst = worst.max((factor - wanted).abs());
    }
    assert!(worst < 1e-9, "exact where the cloth is flat: {worst}");
    assert!(factors.contains(&2.0) && factors.contains(&1.0));
    // A slit between is in the way: behind it the brush is weaker.
    let cut = cut(&mesh, &[place(&mesh, 0.55, 0.2), place(&mesh, 0.55, 0.8)]).expect("a slit").edited;
    let behind = brush(&cut.mesh, place(&cut.mesh, 0.43, 0.51), 0.3, 2.0, 0.25).expect("factors");
    let at = place(&cut.mesh, 0.65, 0.5).face as usize;
    assert_eq!(behind[at], 1.0);
    assert!(factors[place(&mesh, 0.65, 0.5).face as usize] > 1.01);
}

#[test]
fn holes_are_filled_like_the_cloth_round_them() {
    for pattern in [Pattern::Structured, Pattern::Equilateral, Pattern::Delaunay { seed: 4 }] {
        let (mesh, x) = square(12, pattern);
        let inside = |r: &[DVec2; 3]| {
            let p = (r[0] + r[1] + r[2]) / 3.0;
            // Not convex.
            p.x > 0.25 && p.x < 0.75 && p.y > 0.25 && p.y < 0.75 && !(p.x > 0.5 && p.y > 0.5)
        };
        let gone: Vec<u32> =
            (0..mesh.faces().len() as u32).filter(|&f| inside(&mesh.rest()[f as usize])).collect();
        let open = remove(&mesh, &gone).expect("a hole");
        assert_eq!(loops(&open.mesh), 2);
        let positions = open.remap.carry(&x);
        let on_rim = |v: &u32| {
            let p = positions[*v as usize];
            p.x > 0.1 && p.x < 0.9 && p.z > 0.1 && p.z < 0.9
        };
        let start = open.mesh.border().into_iter().find(on_rim).expect("a hole");
        let filled = fill(&open.mesh, &positions, start).expect("filled");
        check(&open.mesh, &filled);
        assert_eq!(loops(&filled.mesh), 1);
        assert_eq!(euler(&filled.mesh), 1);
        let patch = filled.mesh.faces().len() - open.mesh.faces().len();
        assert!((filled.mesh.total_area() - 1.0).abs() < 1e-12, "{pattern:?} {}", filled.mesh.total_area());
        assert!(patch * 2 > gone.len() && patch < 2 * gone.len(), "{patch} faces for {}", gone.len());
        let angle =
            filled.mesh.rest()[open.mesh.faces().len()..].iter().map(least_angle).fold(90.0, f64::min);
        assert!(angle > 10.0, "{pattern:?}: {angle}°");
        // The chart goes on over the patch.
        check_places(&filled, &positions);
        assert!(filled.remap.faces[open.mesh.faces().len()..].iter().all(|&f| f == NONE));
    }
}

#[test]
fn the_ends_of_a_tube_are_closed() {
    let shape = tube(0.3, 0.2, 0.4, 16, 5, Pattern::Structured).expect("a tube");
    let mesh = mesh_of(&shape);
    let lower = shape.group("lower").expect("a rim")[0];
    let upper = shape.group("upper").expect("a rim")[3];
    let once = fill(&mesh, &shape.positions, lower).expect("a bottom");
    let positions = once.remap.carry(&shape.positions);
    let twice = fill(&once.mesh, &positions, upper).expect("a lid");
    check(&mesh, &once);
    check(&once.mesh, &twice);
    assert_eq!((euler(&twice.mesh), loops(&twice.mesh)), (2, 0), "a closed surface");
    let lid = 8.0 * libm::sin(std::f64::consts::PI / 8.0) * 0.3 * 0.3;
    let bottom: f64 = once.mesh.area()[mesh.faces().len()..].iter().sum();
    assert!((bottom / lid - 1.0).abs() < 1e-9, "{bottom} {lid}");
    assert!(matches!(
        fill(&twice.mesh, &twice.remap.carry(&positions), 0),
        Err(EditError::NotOnBorder { .. })
    ));
}

#[test]
fn splitting_conforms() {
    let (mesh, x) = square(3, Pattern::Structured);
    let all: Vec<[u32; 2]> = mesh.edges().iter().map(|e| e.ends).collect();
    let edited = split(&mesh, &all).expect("four of each");
    check(&mesh, &edited);
    assert_eq!(edited.mesh.faces().len(), 4 * mesh.faces().len());
    assert_eq!(edited.mesh.vertices(), mesh.vertices() + mesh.edges().len());
    assert_eq!(euler(&edited.mesh), 1);
    check_places(&edited, &x);
    let one = split(&mesh, &[[5, 6], [6, 5]]).expect("two of two");
    assert_eq!((one.mesh.faces().len(), one.mesh.vertices()), (20, 17));
    assert_eq!(one.remap.vertices[16], Origin::Edge([5, 6], 0.5));
    assert!((one.mesh.total_area() - 1.0).abs() < 1e-12);
}

#[test]
fn welding_undoes_splitting() {
    let (mesh, _) = square(4, Pattern::Equilateral);
    for edge in mesh.edges() {
        let halved = split(&mesh, &[edge.ends]).expect("split");
        let middle = mesh.vertices() as u32;
        let welded = weld(&halved.mesh, &[[edge.ends[0], middle]]).expect("welded");
        check(&halved.mesh, &welded);
        assert_eq!(welded.mesh.faces().len(), mesh.faces().len());
        assert_eq!(welded.mesh.vertices(), mesh.vertices());
        assert!((welded.mesh.total_area() - mesh.total_area()).abs() < 1e-12);
    }
}

#[test]
fn welding_keeps_apart_what_is_apart() {
    // A strip of one row of cells: its rungs join both borders.
    let shape = sheet(4.0, 1.0, 4, 1, Pattern::Structured).expect("a strip");
    let mesh = mesh_of(&shape);
    assert!(matches!(weld(&mesh, &[[2, 7]]), Err(EditError::Link { .. })));
    // A tetrahedron has nothing to lose.
    let faces = vec![[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]];
    let rest = vec![[DVec2::ZERO, DVec2::X, DVec2::Y]; 4];
    let closed = Mesh::new(4, faces, rest).expect("closed");
    assert!(matches!(weld(&closed, &[[0, 1]]), Err(EditError::Link { .. })));
    let lone = Mesh::new(3, vec![[0, 1, 2]], vec![[DVec2::ZERO, DVec2::X, DVec2::Y]]).expect("lone");
    assert!(matches!(weld(&lone, &[[0, 1]]), Err(EditError::Link { .. })));
    // Beside a corner that points inwards, one end would turn a face over.
    let (grid, _) = square(4, Pattern::Structured);
    let edited = weld(&grid, &[[12, 13], [12, 13], [13, 12]]).expect("once");
    check(&grid, &edited);
    assert_eq!(edited.mesh.faces().len(), grid.faces().len() - 2);
    assert!((edited.mesh.total_area() - 1.0).abs() < 1e-12, "inside nothing is lost");
}

#[test]
fn branched_meshes_are_refused_by_name_or_kept() {
    let faces = vec![[0, 1, 2], [1, 0, 3], [0, 1, 4], [0, 2, 5], [5, 2, 6]];
    let rest = vec![[DVec2::ZERO, DVec2::X, DVec2::Y]; 5];
    let mesh = Mesh::branched(7, faces, rest, vec![[0, 1]]).expect("branched");
    let at = Place { face: 3, weights: [0.2, 0.3, 0.5] };
    let refused = |result: Result<(), EditError>| {
        assert!(matches!(result, Err(EditError::Branches { edge: [0, 1], .. })), "{result:?}");
    };
    refused(cut(&mesh, &[at, Place { face: 4, ..at }]).map(drop));
    refused(cut_along(&mesh, &[2, 0, 1]).map(drop));
    refused(sew(&mesh, &[[3, 4]]).map(drop));
    refused(fill(&mesh, &[DVec3::ZERO; 7], 3).map(drop));
    refused(split(&mesh, &[[0, 2]]).map(drop));
    refused(weld(&mesh, &[[0, 2]]).map(drop));
    let open = cut_along(&mesh, &[0, 2]).expect("beside the branch").mesh;
    assert_eq!((open.vertices(), open.components().len()), (9, 2));
    assert_eq!(open.edges()[open.edges_between([0, 1])].len(), 2, "the pair and the other");
    let less = remove(&mesh, &[3, 4]).expect("without").mesh;
    assert_eq!((less.vertices(), less.bent()), (5, &[[0, 1]][..]));
    let larger = resize(&mesh, &[2.0; 5], Keep::Mass).expect("larger").mesh;
    assert_eq!(larger.edges(), mesh.edges());
}

#[test]
fn tables_follow_one_another() {
    let (mesh, x) = square(5, Pattern::Jittered { amount: 0.25, seed: 9 });
    let first = cut(&mesh, &[place(&mesh, 0.1, 0.33), place(&mesh, 0.77, 0.61)]).expect("a slit").edited;
    let edges: Vec<[u32; 2]> = first.mesh.edges().iter().map(|e| e.ends).step_by(3).collect();
    let second = split(&first.mesh, &edges).expect("split");
    let third =
        cut(&second.mesh, &[place(&second.mesh, 0.0, 0.9), place(&second.mesh, 1.0, 0.2)]).expect("a cut");
    let both = first.remap.then(&second.remap).then(&third.edited.remap);
    let direct = both.carry(&x);
    let stepwise = third.edited.remap.carry(&second.remap.carry(&first.remap.carry(&x)));
    for (a, b) in direct.iter().zip(&stepwise) {
        assert!((*a - *b).length() < 1e-14);
    }
    check_places(&Edited { mesh: third.edited.mesh.clone(), remap: both.clone() }, &x);
    let area = |f: u32| mesh.area()[f as usize];
    let mut left: Vec<f64> = (0..mesh.faces().len() as u32).map(area).collect();
    for (&f, a) in both.faces.iter().zip(third.edited.mesh.area()) {
        left[f as usize] -= a;
    }
    assert!(left.iter().all(|rest| rest.abs() < 1e-15), "faces lie in the faces they came from");
    // Through a hole and its filling: resized cloth keeps its mass over all edits.
    let grown = resize(&mesh, &[1.5; 50], Keep::Mass).expect("grown");
    let smaller = resize(&grown.mesh, &[0.5; 50], Keep::Mass).expect("smaller");
    let both = grown.remap.then(&smaller.remap);
    assert!((both.density[7] - 1.0 / (0.75 * 0.75)).abs() < 1e-14);
}
