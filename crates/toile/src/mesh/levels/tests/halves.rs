//! Faces halved at sides, and the criterion that makes them long along folds.

use super::*;
use crate::mesh::levels::lumped;

fn halves(cells: usize, most: u32) -> Levels {
    levels(cells, most, Closure::Halves)
}

/// Sides that can be halved, one after the other, and halved faces to put back.
fn random_halves(levels: &Levels, dice: &mut Dice, count: usize) -> (Vec<[u32; 2]>, Vec<Face>) {
    let deepest = 2 * levels.most();
    let may = |face: u32| levels.level(levels.owners()[face as usize]).is_some_and(|level| level < deepest);
    let edges = levels.mesh().edges();
    let free: Vec<[u32; 2]> = edges
        .iter()
        .filter(|edge| edge.faces.iter().filter(|f| **f != NONE).all(|f| may(*f)))
        .map(|edge| edge.ends)
        .collect();
    // No two of them in one face, so that each is still there when its turn comes.
    let mut used = vec![false; levels.mesh().faces().len()];
    let mut sides = Vec::new();
    for _ in 0..count.min(free.len()) {
        let side = free[dice.below(free.len())];
        let faces = edges[levels.mesh().edges_between(side).start].faces;
        let mut own = faces.iter().filter(|f| **f != NONE).map(|f| *f as usize);
        if own.clone().all(|f| !used[f]) {
            own.by_ref().for_each(|f| used[f] = true);
            sides.push(side);
        }
    }
    let split: Vec<Face> = (0..levels.faces() as Face).filter(|&f| levels.children(f).is_some()).collect();
    let cancel = split.into_iter().filter(|_| dice.unit() < 0.2).collect();
    (sides, cancel)
}

fn assert_whole(levels: &Levels) {
    let (mesh, base) = (levels.mesh(), levels.base());
    let border = |mesh: &Mesh| -> f64 {
        mesh.edges().iter().filter(|edge| edge.is_border()).map(|edge| mesh.rest_length(edge)).sum()
    };
    assert!((border(mesh) - border(base)).abs() < 1e-12, "a crack");
    assert!((mesh.total_area() - base.total_area()).abs() < 1e-12);
    assert_eq!(levels.leaf_count(), mesh.faces().len());
    let counts = levels.counts();
    assert_eq!(levels.leaf_count() as u64, base.faces().len() as u64 + counts.performed - counts.cancelled);
}

#[test]
fn halving_and_putting_back_restores_every_bit_and_momentum() {
    let mut levels = halves(5, 3);
    let plain = levels.mesh().clone();
    let mut dice = Dice::new(4);
    let mut x: Vec<DVec3> = sheet(5).positions.iter().map(|p| *p + 0.1 * dice.vector()).collect();
    let mut v: Vec<DVec3> = x.iter().map(|_| dice.vector()).collect();
    let momentum = |levels: &Levels, v: &[DVec3]| -> DVec3 {
        lumped(levels.mesh(), levels.mesh().area()).iter().zip(v).map(|(m, v)| *m * *v).sum()
    };
    let before = momentum(&levels, &v);
    for round in 0..60 {
        let (sides, cancel) = random_halves(&levels, &mut dice, 12);
        let old = levels.clone();
        let change = levels.halve(&sides, &cancel).expect("sound");
        assert_whole(&levels);
        let masses = [old.mesh().area(), levels.mesh().area()];
        v = change.transfer(old.mesh(), masses, &v).expect("as many");
        assert!((momentum(&levels, &v) - before).length() < 1e-12, "round {round}");
        x = change.edited.remap.carry(&x);
        assert_eq!(x.len(), levels.mesh().vertices());
        // As numbers and back.
        let again =
            Levels::of(levels.base().clone(), 3, Closure::Halves, &levels.forest()).expect("a forest");
        assert_eq!(again, levels);
    }
    assert!(levels.counts().cancelled > 20, "{:?}", levels.counts());
    while levels.leaf_count() > plain.faces().len() {
        let all: Vec<Face> = (0..levels.faces() as Face).filter(|&f| levels.children(f).is_some()).collect();
        levels.halve(&[], &all).expect("sound");
    }
    assert!(same(levels.mesh(), &plain));
}

#[test]
fn halving_leaves_the_surface_where_it_is() {
    let mut levels = halves(3, 3);
    let mut dice = Dice::new(8);
    let x: Vec<DVec3> = sheet(3).positions.iter().map(|p| *p + 0.2 * dice.vector()).collect();
    let area = |mesh: &Mesh, x: &[DVec3]| -> f64 {
        let face = |f: &[u32; 3]| {
            let [a, b, c] = f.map(|v| x[v as usize]);
            0.5 * (b - a).cross(c - a).length()
        };
        mesh.faces().iter().map(face).sum()
    };
    let wanted = area(levels.mesh(), &x);
    let wishes = levels.halves_of_all();
    let change = levels.fulfil(&wishes).expect("sound");
    assert!(wishes.halve.len() > 20 && levels.mesh().faces().len() > 60);
    assert!((area(levels.mesh(), &change.edited.remap.carry(&x)) - wanted).abs() < 1e-12);
    let longest = |mesh: &Mesh| mesh.edges().iter().map(|edge| mesh.rest_length(edge)).fold(0.0, f64::max);
    assert!(longest(levels.mesh()) <= 0.5 * longest(levels.base()) + 1e-12);
}

#[test]
fn what_was_put_back_too_early_stays_longer() {
    let mut levels = halves(3, 2);
    let (side, folds) = (levels.mesh().edges()[7].ends, Folds { patience: 3, ..Folds::default() });
    let wishes = |levels: &Levels| {
        let x = sheet(3).positions;
        let flat: Vec<DVec3> = (0..levels.mesh().vertices())
            .map(|v| x.get(v).copied().unwrap_or(0.5 * (x[side[0] as usize] + x[side[1] as usize])))
            .collect();
        let seen = Seen { positions: &flat, touching: &[], strains: &[], buckling: 1e-6 };
        folds.wishes(levels, &seen).expect("sound").cancel
    };
    for (wait, again) in [(3, 0), (12, 1), (48, 2)] {
        levels.halve(&[side], &[]).expect("a side");
        let halved = (0..levels.faces() as Face).find(|f| levels.children(*f).is_some()).expect("halved");
        assert_eq!(levels.again(halved), Some(again));
        levels.pass(wait - 3);
        assert!(wait == 3 || wishes(&levels).is_empty(), "too early");
        levels.pass(3);
        let cancel = wishes(&levels);
        assert!(!cancel.is_empty(), "{wait}");
        levels.halve(&[], &cancel).expect("halved");
        assert_eq!(levels.mesh().faces().len(), levels.base().faces().len());
    }
    // After a long time it counts as new.
    levels.pass(60);
    levels.halve(&[side], &[]).expect("a side");
    let halved = (0..levels.faces() as Face).find(|f| levels.children(*f).is_some()).expect("halved");
    assert_eq!(levels.again(halved), Some(0));
}

#[test]
fn nonsense_is_refused_and_changes_nothing() {
    let mut levels = halves(2, 1);
    let plain = levels.clone();
    assert_eq!(levels.change(&[0], &[]).unwrap_err(), LevelsError::Halves);
    assert_eq!(levels.halve(&[[0, 0]], &[]).unwrap_err(), LevelsError::NoSide { ends: [0, 0] });
    assert!(matches!(levels.halve(&[], &[0]), Err(LevelsError::NotSplit { face: 0 })));
    assert!(matches!(levels.halve(&[], &[9999]), Err(LevelsError::NoFace { .. })));
    assert_eq!(levels, plain);
    let mut quarters = super::levels(2, 1, Closure::RedGreen);
    assert_eq!(quarters.halve(&[], &[]).unwrap_err(), LevelsError::Halves);
    // A forest in which only one side of an edge is halved.
    let side = levels.mesh().edges().iter().find(|edge| !edge.is_border()).expect("inside").ends;
    levels.halve(&[side], &[]).expect("sound");
    let mut forest = levels.forest();
    let first = forest.faces.iter().position(|face| face.split).expect("halved");
    forest.faces.drain(first + 1..first + 3);
    forest.faces[first].split = false;
    let refused = Levels::of(levels.base().clone(), 1, Closure::Halves, &forest);
    assert!(matches!(refused, Err(LevelsError::Forest { .. })));
}

/// Halved until nothing is wished for any more.
fn settled(levels: &mut Levels, folds: &Folds, shape: impl Fn(DVec3) -> DVec3, flat: &[DVec3]) -> usize {
    let mut flat = flat.to_vec();
    for round in 0..12 {
        let x: Vec<DVec3> = flat.iter().map(|p| shape(*p)).collect();
        let seen = Seen { positions: &x, buckling: 1e-6, ..Seen::default() };
        levels.pass(folds.patience);
        let wishes = folds.wishes(levels, &seen).expect("sound");
        if wishes.is_empty() {
            return round;
        }
        let change = levels.fulfil(&wishes).expect("sound");
        flat = change.edited.remap.carry(&flat);
    }
    panic!("still at it after 12 rounds")
}

#[test]
fn triangles_are_long_along_a_fold_and_flat_cloth_has_none() {
    let start = sheet(6).positions;
    let folds = Folds { sag: 1e-3, ..Folds::default() };
    let mut flat = halves(6, 4);
    assert_eq!(settled(&mut flat, &folds, |p| p, &start), 0);
    // A roll of radius 0.2 m about z.
    let roll = |p: DVec3| DVec3::new(0.2 * libm::sin(p.x / 0.2), 0.2 * libm::cos(p.x / 0.2), p.z);
    let mut faces = Vec::new();
    for slender in [1.0, 4.0] {
        let mut levels = halves(6, 4);
        settled(&mut levels, &Folds { slender, ..folds }, roll, &start);
        let mesh = levels.mesh();
        for rest in mesh.rest() {
            let across = (0..3).map(|k| (rest[k] - rest[(k + 1) % 3]).x.abs()).fold(0.0, f64::max);
            // κ ℓ²/8; curvature on coarse triangles is not known exactly.
            assert!(across * across / (8.0 * 0.2) < 1.7 * folds.sag, "{across} m across");
        }
        faces.push(mesh.faces().len());
    }
    assert!(2 * faces[1] < faces[0], "{faces:?}");
}

#[test]
fn compressed_cloth_is_halved_across_the_folds_to_come_and_not_beyond_their_size() {
    let start = sheet(4).positions;
    let folds = Folds::default();
    // Pushed together along x by half a percent: sides along it buckle when they are longer than √(load π² D/(E ε)).
    let pushed = |p: DVec3| DVec3::new(0.995 * p.x, 0.0, p.z);
    let mut levels = halves(4, 5);
    settled(&mut levels, &folds, pushed, &start);
    let limit = (folds.load * 1e-6 / 0.005_f64).sqrt();
    let sides = levels.mesh().rest().iter().flat_map(|rest| [0, 1, 2].map(|k| rest[k] - rest[(k + 1) % 3]));
    let (mut along, mut across) = (0.0_f64, 0.0_f64);
    for side in sides {
        along = along.max(side.x.abs());
        across = across.max(side.y.abs());
    }
    assert!(along < 1.05 * limit && along > 0.4 * limit, "{along} m, limit {limit}");
    assert!(across > 3.0 * along, "{across} across, {along} along");
    // Let go, all of it goes.
    let places = levels.numbers.vertices();
    let mut flat = vec![DVec3::ZERO; places];
    for (face, rest) in levels.mesh().faces().iter().zip(levels.mesh().rest()) {
        face.iter().zip(rest).for_each(|(v, p)| flat[*v as usize] = DVec3::new(p.x, 0.0, p.y));
    }
    settled(&mut levels, &folds, |p| p, &flat);
    assert_eq!(levels.leaf_count(), levels.base().faces().len());
}
