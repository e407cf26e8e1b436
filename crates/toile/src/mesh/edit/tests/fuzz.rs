//! Edits in any order on any mesh, and arguments that make no sense.

use super::*;
use crate::mesh::shapes::{disc, tube};

/// A small mesh of one of several kinds.
fn seedling(dice: &mut Dice) -> (Mesh, Vec<DVec3>, bool) {
    let pattern = match dice.below(4) {
        0 => Pattern::Structured,
        1 => Pattern::Equilateral,
        2 => Pattern::Jittered { amount: 0.3, seed: dice.below(1000) as u64 },
        _ => Pattern::Delaunay { seed: dice.below(1000) as u64 },
    };
    let shape = match dice.below(6) {
        0 => tube(0.3, 0.2, 0.5, 5 + dice.below(3), 2 + dice.below(2), pattern).expect("a tube"),
        1 => disc(0.5, 2, pattern).expect("a disc"),
        _ => sheet(1.0, 1.0, 2 + dice.below(3), 2 + dice.below(3), pattern).expect("a sheet"),
    };
    // Tubes are not flat.
    let flat = shape.positions.iter().all(|p| p.y == 0.0);
    (mesh_of(&shape), shape.positions, flat)
}

/// A path of vertices joined by edges.
fn any_path(mesh: &Mesh, dice: &mut Dice) -> Vec<u32> {
    let draft = draft::Draft::new(mesh);
    let face = mesh.faces()[dice.below(mesh.faces().len())];
    let mut path = vec![face[dice.below(3)]];
    for _ in 0..1 + dice.below(6) {
        let spokes = draft.spokes(*path.last().expect("a vertex"));
        path.push(spokes[dice.below(spokes.len())].0);
    }
    path
}

/// One random edit, if it is possible, and whether it leaves every piece of cloth at rest where it was.
fn any_edit(mesh: &Mesh, x: &[DVec3], dice: &mut Dice) -> (&'static str, Result<Edited, EditError>, bool) {
    let edge = |dice: &mut Dice| mesh.edges()[dice.below(mesh.edges().len())].ends;
    match dice.below(9) {
        0 => ("cut_along", cut_along(mesh, &any_path(mesh, dice)), true),
        1 => {
            let line: Vec<Place> = (0..2 + dice.below(2)).map(|_| any_place(mesh, dice)).collect();
            ("cut", cut(mesh, &line).map(|cut| cut.edited), true)
        }
        2 => {
            let line: Vec<Place> = (0..2 + dice.below(2)).map(|_| any_place(mesh, dice)).collect();
            ("score", score(mesh, &line).map(|scored| scored.edited), true)
        }
        3 => {
            let faces: Vec<u32> =
                (0..1 + dice.below(3)).map(|_| dice.below(mesh.faces().len()) as u32).collect();
            ("remove", remove(mesh, &faces), true)
        }
        4 => {
            let centre = any_place(mesh, dice);
            let factor = 0.5 + 1.5 * dice.unit();
            let factors = brush(mesh, centre, 0.05 + 0.5 * dice.unit(), factor, dice.unit());
            ("resize", factors.and_then(|factors| resize(mesh, &factors, Keep::Mass)), false)
        }
        5 => ("sew", sew(mesh, &zip(mesh, dice)), false),
        6 => {
            let border = mesh.border();
            let start = if border.is_empty() { 0 } else { border[dice.below(border.len())] };
            ("fill", fill(mesh, x, start), false)
        }
        7 => {
            let edges: Vec<[u32; 2]> = (0..1 + dice.below(4)).map(|_| edge(dice)).collect();
            ("split", split(mesh, &edges), true)
        }
        _ => ("weld", weld(mesh, &[edge(dice)]), false),
    }
}

/// Pairs of border vertices as a seam has them: from a common tip, or from two ends, along the border both ways.
fn zip(mesh: &Mesh, dice: &mut Dice) -> Vec<[u32; 2]> {
    let mut next = vec![NONE; mesh.vertices()];
    let mut before = next.clone();
    for edge in mesh.edges().iter().filter(|edge| edge.is_border()) {
        let (face, apex) = (mesh.faces()[edge.faces[0] as usize], mesh.apex(edge.faces[0], edge));
        let (a, b) = (face[(apex + 1) % 3], face[(apex + 2) % 3]);
        (next[a as usize], before[b as usize]) = (b, a);
    }
    let border = mesh.border();
    if border.is_empty() {
        return Vec::new();
    }
    let a = border[dice.below(border.len())];
    let b = if dice.below(2) == 0 { a } else { border[dice.below(border.len())] };
    let mut pairs = vec![[a, b]];
    for _ in 0..1 + dice.below(3) {
        let [a, b] = pairs[pairs.len() - 1];
        let (a, b) = (next[a as usize], before[b as usize]);
        if a == NONE || b == NONE {
            break;
        }
        pairs.push([a, b]);
    }
    pairs
}

#[test]
fn ten_thousand_sequences_keep_meshes_sound() {
    let mut done = std::collections::BTreeMap::<&str, [usize; 2]>::new();
    for trial in 0..10_000 {
        let mut dice = Dice::new(trial);
        let (mut mesh, mut x, mut flat) = seedling(&mut dice);
        let (first_mesh, first) = (mesh.clone(), x.clone());
        let mut whole = Remap::identity(mesh.vertices(), mesh.faces().len());
        for _ in 0..1 + dice.below(6) {
            let (name, result, keeps) = any_edit(&mesh, &x, &mut dice);
            let counts = done.entry(name).or_default();
            let edited = match result {
                Ok(edited) => edited,
                Err(error) => {
                    counts[1] += 1;
                    assert!(!matches!(error, EditError::Unsound(_)), "trial {trial}, {name}: {error}");
                    assert!(!matches!(error, EditError::NoEdge { .. }), "trial {trial}, {name}: {error}");
                    continue;
                }
            };
            counts[0] += 1;
            check(&mesh, &edited);
            if matches!(name, "cut_along" | "cut" | "score" | "split") {
                let ratio = edited.mesh.total_area() / mesh.total_area();
                assert!((ratio - 1.0).abs() < 1e-12, "trial {trial}, {name}: {ratio}");
            }
            flat &= keeps;
            whole = whole.then(&edited.remap);
            x = edited.remap.carry(&x);
            mesh = edited.mesh;
            if flat {
                check_places(&Edited { mesh: mesh.clone(), remap: whole.clone() }, &first);
            }
        }
        check(&first_mesh, &Edited { mesh, remap: whole });
    }
    println!("done and refused: {done:?}");
    for (name, [made, _]) in &done {
        assert!(*made > 500, "{name} was done {made} times only");
    }
    assert_eq!(done.len(), 9);
}

#[test]
fn edits_are_the_same_each_time() {
    for trial in 0..200 {
        let once = |()| {
            let mut dice = Dice::new(trial);
            let (mesh, x, _) = seedling(&mut dice);
            let (_, result, _) = any_edit(&mesh, &x, &mut dice);
            result.map(|edited| (edited.mesh.faces().to_vec(), edited.mesh.rest().to_vec(), edited.remap))
        };
        assert_eq!(once(()), once(()));
    }
}

#[test]
fn nonsense_is_refused_by_name() {
    let (mesh, x) = square(3, Pattern::Structured);
    let (few, no_vertex) = (EditError::TooFew { what: "", given: 0, least: 0 }, 16);
    let same = |a: &EditError, b: &EditError| std::mem::discriminant(a) == std::mem::discriminant(b);
    let is = |result: Result<(), EditError>, wanted: &EditError| {
        let error = result.expect_err("nonsense");
        assert!(same(&error, wanted), "{error:?}");
        assert!(error.to_string().contains(';'), "a fix: {error}");
    };
    let good = Place { face: 0, weights: [0.2, 0.3, 0.5] };
    let out = EditError::NoVertex { what: "", vertex: 0, vertices: 0 };
    let face = EditError::NoFace { what: "", face: 0, faces: 0 };
    let edge = EditError::NoEdge { what: "", edge: [0, 0] };
    let number = EditError::BadNumber { what: "", index: 0, value: 0.0, limit: "" };
    let count = EditError::Count { what: "", given: 0, wanted: 0 };
    for path in [&[][..], &[3]] {
        is(cut_along(&mesh, path).map(drop), &few);
    }
    is(cut_along(&mesh, &[3, u32::MAX]).map(drop), &out);
    is(cut_along(&mesh, &[3, 3]).map(drop), &edge);
    is(cut_along(&mesh, &[0, 15]).map(drop), &edge);
    is(cut_along(&mesh, &[0, 1, 2]).map(drop), &EditError::NothingToOpen { edges: 2 });
    is(cut_along(&mesh, &[5, 6]).map(drop), &EditError::NothingToOpen { edges: 1 });
    is(remove(&mesh, &[]).map(drop), &few);
    is(remove(&mesh, &[18]).map(drop), &face);
    for line in [vec![], vec![good], vec![good, good]] {
        is(cut(&mesh, &line).map(drop), &few);
        is(score(&mesh, &line).map(drop), &few);
    }
    is(cut(&mesh, &[good, Place { face: NONE, ..good }]).map(drop), &face);
    for weights in
        [[f64::NAN, 0.5, 0.5], [f64::INFINITY, 0.0, 0.0], [-0.5, 1.0, 0.5], [0.2, 0.2, 0.2], [0.0; 3]]
    {
        is(cut(&mesh, &[good, Place { face: 3, weights }]).map(drop), &number);
        is(brush(&mesh, Place { face: 3, weights }, 1.0, 1.0, 1.0).map(drop), &number);
    }
    is(resize(&mesh, &[1.0; 3], Keep::Mass).map(drop), &count);
    for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        let mut factors = vec![1.0; 18];
        factors[7] = bad;
        is(resize(&mesh, &factors, Keep::Mass).map(drop), &number);
        is(brush(&mesh, good, bad, 1.0, 0.5).map(drop), &number);
        is(brush(&mesh, good, 1.0, bad, 0.5).map(drop), &number);
    }
    is(brush(&mesh, good, 1.0, 1.0, f64::NAN).map(drop), &number);
    is(sew(&mesh, &[]).map(drop), &few);
    is(sew(&mesh, &[[0, no_vertex]]).map(drop), &out);
    is(fill(&mesh, &x[1..], 0).map(drop), &count);
    is(fill(&mesh, &x, no_vertex).map(drop), &out);
    is(fill(&mesh, &x, 5).map(drop), &EditError::NotOnBorder { vertex: 5 });
    is(fill(&mesh, &[DVec3::NAN; 16], 0).map(drop), &number);
    is(fill(&mesh, &[DVec3::ZERO; 16], 0).map(drop), &EditError::CannotSpan { vertex: 0, rim: 0 });
    is(split(&mesh, &[]).map(drop), &few);
    is(split(&mesh, &[[0, no_vertex]]).map(drop), &out);
    is(split(&mesh, &[[0, 15]]).map(drop), &edge);
    is(weld(&mesh, &[]).map(drop), &few);
    is(weld(&mesh, &[[no_vertex, 0]]).map(drop), &out);
    is(weld(&mesh, &[[0, 0]]).map(drop), &edge);
    // Tables that do not belong together are followed without harm.
    let table = Remap::identity(3, 2).then(&Remap::identity(16, 18));
    assert_eq!((table.vertices.len(), table.faces[17]), (16, NONE));
    assert!(table.heirs(2).iter().all(|heirs| heirs.len() == 1));
}

#[test]
fn extreme_sizes_do_no_harm() {
    let mut made = 0;
    for trial in 0..300 {
        let mut dice = Dice::new(trial);
        let (mesh, x, _) = seedling(&mut dice);
        let scale = [1e-150, 1e-100, 1e-12, 1e12, 1e100, 1e150][dice.below(6)];
        let rest = mesh.rest().iter().map(|r| r.map(|p| p * scale)).collect();
        let Ok(mesh) = Mesh::new(mesh.vertices(), mesh.faces().to_vec(), rest) else { continue };
        let x: Vec<DVec3> = x.iter().map(|p| *p * scale).collect();
        if let (_, Ok(edited), _) = any_edit(&mesh, &x, &mut dice) {
            check(&mesh, &edited);
            made += 1;
        }
    }
    assert!(made > 150, "{made}");
}

#[test]
fn collapsed_shapes_do_no_harm() {
    // Positions on a point, on a line, folded over; charts stretched by a thousand.
    for trial in 0..300 {
        let mut dice = Dice::new(trial);
        let (mesh, mut x, _) = seedling(&mut dice);
        let kind = dice.below(3);
        for p in &mut x {
            *p = match kind {
                0 => DVec3::ONE,
                1 => DVec3::X * p.x,
                _ => DVec3::new((p.x - 0.5).abs(), 0.0, p.z),
            };
        }
        let rest: Vec<[DVec2; 3]> =
            mesh.rest().iter().map(|r| r.map(|p| p * DVec2::new(1000.0, 1.0))).collect();
        let mesh = Mesh::new(mesh.vertices(), mesh.faces().to_vec(), rest).expect("thin");
        for _ in 0..4 {
            if let (_, Ok(edited), _) = any_edit(&mesh, &x, &mut dice) {
                check(&mesh, &edited);
            }
        }
    }
}
