use super::*;
use crate::math::random::Dice;
use crate::math::{DVec2, DVec3};
use crate::mesh::edit::Origin;
use crate::mesh::shapes::{self, Pattern, Shape};
use std::cmp::Reverse;
use std::collections::BTreeMap;

mod criteria;
mod halves;

const CLOSURES: [Closure; 3] = [Closure::None, Closure::Midpoint, Closure::RedGreen];

fn mesh(shape: &Shape) -> Mesh {
    Mesh::new(shape.positions.len(), shape.faces.clone(), shape.rest.clone()).expect("sound")
}

fn sheet(cells: usize) -> Shape {
    shapes::sheet(1.0, 1.0, cells, cells, Pattern::Delaunay { seed: 3 }).expect("made")
}

fn levels(cells: usize, most: u32, closure: Closure) -> Levels {
    Levels::new(mesh(&sheet(cells)), most, closure).expect("sound")
}

/// Two meshes are the same to the last bit.
fn same(a: &Mesh, b: &Mesh) -> bool {
    let bits = |mesh: &Mesh| -> Vec<u64> {
        let rest = mesh.rest().iter().flatten().flat_map(|p| [p.x.to_bits(), p.y.to_bits()]);
        rest.chain(mesh.area().iter().map(|a| a.to_bits())).collect()
    };
    a.vertices() == b.vertices() && a.faces() == b.faces() && a.edges() == b.edges() && bits(a) == bits(b)
}

/// A random change: each leaf that may is split, and each that can be is cancelled, with these chances.
fn random_change(levels: &Levels, dice: &mut Dice, split: f64, cancel: f64) -> [Vec<Face>; 2] {
    let may = |&f: &Face| levels.level(f) < Some(levels.most());
    let splits = levels.leaves().filter(may).filter(|_| dice.unit() < split).collect();
    let is_split = |&f: &Face| levels.children(f).is_some();
    let cancels = (0..levels.faces() as Face).filter(is_split).filter(|_| dice.unit() < cancel).collect();
    [splits, cancels]
}

/// Positions after a change.
fn moved(change: &Change, old: &[DVec3]) -> Vec<DVec3> {
    let at = |v: u32| old[v as usize];
    let place = |origin: &Origin| match origin {
        Origin::Old(v) => at(*v),
        Origin::Edge([a, b], part) => at(*a) * (1.0 - part) + at(*b) * *part,
        other => panic!("{other:?} does not come from levels"),
    };
    change.edited.remap.vertices.iter().map(place).collect()
}

/// Neighbours of a conforming mesh differ by a level at most, and every edge has the faces that the base's has.
fn assert_conforming(levels: &Levels) {
    let mesh = levels.mesh();
    let level = |f: u32| levels.level(levels.owners()[f as usize]).expect("a leaf");
    let mut length = 0.0;
    for edge in mesh.edges() {
        if edge.is_border() {
            length += mesh.rest_length(edge);
        } else {
            let [a, b] = edge.faces.map(level);
            assert!(a.abs_diff(b) <= 1, "levels {a} and {b} side by side");
        }
    }
    // A crack would be a border where the base mesh has none.
    let base = levels.base();
    let wanted: f64 = base.edges().iter().filter(|e| e.is_border()).map(|e| base.rest_length(e)).sum();
    assert!((length - wanted).abs() < 1e-12 * wanted.max(1.0), "border {length}, not {wanted}");
}

#[test]
fn splitting_and_cancelling_restores_every_bit() {
    for closure in CLOSURES {
        let mut levels = levels(4, 3, closure);
        let plain = levels.mesh().clone();
        assert!(same(&plain, levels.base()));
        let mut dice = Dice::new(9);
        let mut stages = Vec::new();
        for _ in 0..3 {
            stages.push(levels.mesh().clone());
            let [split, _] = random_change(&levels, &mut dice, 0.3, 0.0);
            levels.change(&split, &[]).expect("sound");
            assert!(levels.mesh().faces().len() > stages.last().expect("pushed").faces().len());
        }
        // All at once, and by another way: one level after the other.
        let all: Vec<Face> = (0..levels.faces() as Face).filter(|&f| levels.children(f).is_some()).collect();
        let mut slowly = levels.clone();
        levels.change(&[], &all).expect("sound");
        assert!(same(levels.mesh(), &plain), "{closure:?}");
        while slowly.leaf_count() > plain.faces().len() {
            let lowest = |&f: &Face| {
                let children = slowly.children(f);
                children.is_some_and(|all| all.iter().all(|&c| slowly.children(c).is_none()))
            };
            let ready: Vec<Face> = (0..slowly.faces() as Face).filter(lowest).collect();
            slowly.change(&[], &ready).expect("sound");
        }
        assert!(same(slowly.mesh(), &plain), "{closure:?}");
        assert_eq!(levels.leaves().filter(|&f| levels.mark(f) == Some(Mark::Split)).count(), 0);
        assert!(levels.leaves().any(|f| levels.mark(f) == Some(Mark::Cancelled)));
    }
}

#[test]
fn the_mesh_does_not_remember_how_it_came_about() {
    for closure in CLOSURES {
        let mut levels = levels(3, 3, closure);
        let split: Vec<Face> = levels.leaves().step_by(3).collect();
        levels.change(&split, &[]).expect("sound");
        let wanted = levels.mesh().clone();
        let before = levels.counts();
        // One leaf after the other and back, then the last of it in one change with something else.
        let mut dice = Dice::new(1);
        for _ in 0..40 {
            let free: Vec<Face> = levels.leaves().filter(|&f| levels.level(f) < Some(3)).collect();
            let face = free[dice.below(free.len())];
            let old = levels.clone();
            levels.change(&[face], &[]).expect("sound");
            let grown = (0..levels.faces() as Face).filter(|&f| levels.children(f).is_some()).count()
                - (0..old.faces() as Face).filter(|&f| old.children(f).is_some()).count();
            // Those that are split now and were not: found by their corners in the base face.
            let known: Vec<_> =
                old.nodes.iter().filter(|n| n.is_split()).map(|n| (n.base, n.spots)).collect();
            let undo: Vec<Face> = (0..levels.faces() as Face)
                .filter(|&f| {
                    let node = &levels.nodes[f as usize];
                    node.is_split() && !known.contains(&(node.base, node.spots))
                })
                .collect();
            assert_eq!(undo.len(), grown);
            levels.change(&[], &undo).expect("sound");
            assert!(same(levels.mesh(), &wanted));
        }
        let after = levels.counts();
        assert_eq!(after.performed - before.performed, after.cancelled - before.cancelled);
        assert_eq!(after.refused, 0);
    }
}

#[test]
fn midpoints_and_areas_are_exact() {
    for closure in CLOSURES {
        let shape = sheet(4);
        let mut levels = Levels::new(mesh(&shape), 3, closure).expect("sound");
        let mut x = shape.positions.clone();
        let mut dice = Dice::new(2);
        for round in 0..6 {
            let old = x.clone();
            let [split, cancel] = random_change(&levels, &mut dice, 0.3, if round > 2 { 0.2 } else { 0.0 });
            let change = levels.change(&split, &cancel).expect("sound");
            x = moved(&change, &x);
            let remap = &change.edited.remap;
            // Old vertices stay in their order.
            let kept: Vec<u32> = remap
                .vertices
                .iter()
                .filter_map(|o| if let Origin::Old(v) = o { Some(*v) } else { None })
                .collect();
            assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
            for origin in &remap.vertices {
                if let Origin::Edge([a, b], part) = origin {
                    assert_eq!(*part, 0.5);
                    assert!(a < b && (*b as usize) < old.len());
                }
            }
            // On a sheet places in space are those at rest: each vertex is where its faces say it is.
            let faces = levels.mesh().faces().iter().zip(levels.mesh().rest());
            for (face, rest) in faces {
                for k in 0..3 {
                    let p = x[face[k] as usize];
                    assert!((DVec2::new(p.x, p.z) - rest[k]).length() < 1e-15);
                }
            }
            let area = levels.mesh().total_area();
            assert!((area - 1.0).abs() < 1e-13, "{area}");
            let mut by_leaf: BTreeMap<Face, f64> = BTreeMap::new();
            for (f, owner) in levels.owners().iter().enumerate() {
                *by_leaf.entry(*owner).or_default() += levels.mesh().area()[f];
            }
            for (leaf, sum) in by_leaf {
                let base = levels.base().area()[levels.origin(leaf).expect("a leaf") as usize];
                let part = f64::from(1_u32 << (2 * levels.level(leaf).expect("a leaf")));
                assert!((sum * part / base - 1.0).abs() < 1e-11);
            }
        }
    }
}

#[test]
fn ten_thousand_changes_keep_the_mesh_conforming() {
    let bases = [
        mesh(&shapes::sheet(1.0, 1.0, 1, 1, Pattern::Structured).expect("made")),
        mesh(&shapes::sheet(1.0, 1.0, 2, 2, Pattern::Delaunay { seed: 5 }).expect("made")),
        mesh(&shapes::tube(0.3, 0.2, 0.4, 3, 2, Pattern::Structured).expect("made")),
        mesh(&shapes::disc(0.5, 1, Pattern::Structured).expect("made")),
    ];
    let mut done = 0;
    let mut totals = Counts::default();
    for trial in 0..250 {
        let mut dice = Dice::new(trial);
        let base = &bases[trial as usize % bases.len()];
        let mut levels = Levels::new(base.clone(), 1 + trial as u32 % 4, Closure::RedGreen).expect("sound");
        for _ in 0..40 {
            // Grows while small, shrinks while large.
            let small = levels.leaf_count() < 60;
            let (split, cancel) = if small { (0.15, 0.1) } else { (0.02, 0.5) };
            let [split, cancel] = random_change(&levels, &mut dice, split, cancel);
            let change = levels.change(&split, &cancel).expect("conforming, manifold, wound alike");
            assert_conforming(&levels);
            assert!(change.edited.remap.vertices.iter().all(|o| *o != Origin::Old(NONE)));
            assert!(change.edited.remap.faces.iter().all(|&f| f != NONE));
            done += 1;
        }
        let counts = levels.counts();
        totals.performed += counts.performed;
        totals.cancelled += counts.cancelled;
        totals.forced += counts.forced;
        totals.refused += counts.refused;
    }
    assert_eq!(done, 10_000);
    println!("{totals:?}");
    // All of it happened, not just the easy part.
    assert!(totals.performed > 10_000 && totals.cancelled > 10_000);
    assert!(totals.forced > 100 && totals.refused > 100, "{totals:?}");
}

#[test]
fn counters_follow_the_paper() {
    for closure in CLOSURES {
        let shape = shapes::tube_of(0.30, 0.16, 0.9, 1498, 14).expect("made");
        let mut levels = Levels::new(mesh(&shape), 3, closure).expect("sound");
        let mut dice = Dice::new(4);
        let mut splits = 0;
        for round in 0..12 {
            let grow = if round < 6 { 0.05 } else { 0.01 };
            let [split, cancel] = random_change(&levels, &mut dice, grow, 0.3);
            splits += split.len() as u64;
            levels.change(&split, &cancel).expect("sound");
            let counts = levels.counts();
            let net = (counts.performed - counts.cancelled) as usize;
            assert_eq!(levels.paper_count(), 1498 + 4 * net, "E29");
            assert_eq!(levels.leaf_count(), 1498 + 3 * net);
            assert_eq!(levels.leaves().count(), levels.leaf_count());
            assert_eq!(counts.performed, splits + counts.forced);
            if closure != Closure::RedGreen {
                assert_eq!(counts.forced, 0);
                assert_eq!(levels.mesh().faces().len(), levels.leaf_count());
            }
        }
        assert!(levels.counts().cancelled > 50);
    }
}

#[test]
fn hanging_vertices_are_half_way_in_order() {
    let shape = sheet(3);
    let mut levels = Levels::new(mesh(&shape), 4, Closure::Midpoint).expect("sound");
    let mut x = shape.positions.clone();
    // Down into one corner: neighbours three levels apart, ends that hang themselves.
    for _ in 0..4 {
        let deepest = levels.leaves().max_by_key(|&f| (levels.level(f), Reverse(f))).expect("some");
        let change = levels.change(&[deepest], &[]).expect("sound");
        x = moved(&change, &x);
    }
    // Bend it, then put hanging vertices where they belong, once through the list.
    for p in &mut x {
        p.y = p.x * p.x - p.x * p.z;
    }
    let hanging = levels.hanging();
    assert!(hanging.len() >= 8, "{}", hanging.len());
    assert!(hanging.iter().any(|[_, a, b]| hanging.iter().any(|h| h[0] == *a || h[0] == *b)));
    for &[v, a, b] in hanging {
        x[v as usize] = 0.5 * (x[a as usize] + x[b as usize]);
    }
    // Once was enough, and no crack is left: along every open edge, whatever lies between its ends lies on it.
    for &[v, a, b] in hanging {
        assert_eq!(x[v as usize], 0.5 * (x[a as usize] + x[b as usize]));
    }
    let ground = Ground { base: levels.base().clone(), branched: false, most: 4, closure: Closure::None };
    let none = Levels::grown(Arc::new(ground), levels.nodes.clone(), Counts::default(), 0).expect("sound");
    assert!(none.hanging().is_empty());
    assert!(same(none.mesh(), levels.mesh()));
    // Nothing is left out: a vertex inside the sheet on an open edge hangs, or is an end of what others hang on.
    let base = levels.base().vertices() as u32;
    let inside = |v: u32| {
        levels.mesh().faces().iter().zip(levels.mesh().rest()).any(|(face, rest)| {
            let at = face.iter().position(|&c| c == v).map(|k| rest[k]);
            at.is_some_and(|p| p.x > 0.0 && p.x < 1.0 && p.y > 0.0 && p.y < 1.0)
        })
    };
    for v in levels.mesh().border().into_iter().filter(|&v| v >= base && inside(v)) {
        assert!(hanging.iter().any(|h| h.contains(&v)), "vertex {v}");
    }
}

fn masses(mesh: &Mesh) -> Vec<f64> {
    mesh.area().iter().map(|area| 0.15 * area).collect()
}

fn total(masses: &[f64], velocities: &[DVec3]) -> DVec3 {
    masses.iter().zip(velocities).map(|(m, v)| *m * *v).sum()
}

#[test]
fn mass_and_momentum_are_kept() {
    for closure in CLOSURES {
        let mut levels = levels(4, 3, closure);
        let mut dice = Dice::new(7);
        let mut v: Vec<DVec3> = (0..levels.mesh().vertices()).map(|_| dice.vector()).collect();
        let mut lost: f64 = 0.0;
        for round in 0..40 {
            let chances = if round % 2 == 0 { (0.2, 0.0) } else { (0.05, 0.4) };
            let [split, cancel] = random_change(&levels, &mut dice, chances.0, chances.1);
            let old = levels.mesh().clone();
            let change = levels.change(&split, &cancel).expect("sound");
            let (before, after) = (masses(&old), masses(levels.mesh()));
            let (light, heavy) = (lumped(&old, &before), lumped(levels.mesh(), &after));
            assert!((light.iter().sum::<f64>() - heavy.iter().sum::<f64>()).abs() < 1e-12 * 0.15);
            let plain = moved(&change, &v);
            lost = lost.max((total(&heavy, &plain) - total(&light, &v)).length());
            let carried = change.transfer(&old, [&before, &after], &v).expect("counts agree");
            let error = (total(&heavy, &carried) - total(&light, &v)).length();
            assert!(error < 1e-12 * 0.15, "{closure:?}: {error:e}");
            // Splitting loses nothing where all midpoints are new, and corrects nothing.
            if round == 0 {
                assert!(lost < 1e-12 * 0.15, "{lost:e}");
                let most = carried.iter().zip(&plain).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
                assert!(most < 1e-12, "{most:e}");
            }
            // New motion, so that what vanishes next has something to lose.
            v = carried.iter().map(|v| *v + 0.3 * dice.vector()).collect();
        }
        assert!(lost > 1e-4, "the correction had something to do: {lost:e}");
    }
}

#[test]
fn rigid_motion_is_carried_over() {
    let shape = sheet(4);
    let mut levels = Levels::new(mesh(&shape), 3, Closure::RedGreen).expect("sound");
    let (mut x, mut dice) = (shape.positions.clone(), Dice::new(8));
    let spin = |x: &DVec3| DVec3::new(0.3, -2.0, 0.7).cross(*x) + DVec3::new(1.0, 2.0, 3.0);
    for _ in 0..20 {
        let [split, cancel] = random_change(&levels, &mut dice, 0.15, 0.3);
        let old = levels.mesh().clone();
        let v: Vec<DVec3> = x.iter().map(spin).collect();
        let change = levels.change(&split, &cancel).expect("sound");
        x = moved(&change, &x);
        let m = [masses(&old), masses(levels.mesh())];
        let carried = change.transfer(&old, [&m[0], &m[1]], &v).expect("counts agree");
        for (carried, x) in carried.iter().zip(&x) {
            assert!((*carried - spin(x)).length() < 1e-12);
        }
    }
}

#[test]
fn faces_know_where_they_lay() {
    let shape = sheet(4);
    for closure in CLOSURES {
        let mut levels = Levels::new(mesh(&shape), 3, closure).expect("sound");
        let mut dice = Dice::new(6);
        for _ in 0..10 {
            let old = levels.mesh().clone();
            let [split, cancel] = random_change(&levels, &mut dice, 0.15, 0.3);
            let change = levels.change(&split, &cancel).expect("sound");
            let mut changed = vec![false; levels.mesh().faces().len()];
            for region in &change.regions {
                let area =
                    |mesh: &Mesh, [a, b]: [u32; 2]| mesh.area()[a as usize..b as usize].iter().sum::<f64>();
                let (before, after) = (area(&old, region.old), area(levels.mesh(), region.new));
                assert!((before / after - 1.0).abs() < 1e-12);
                changed[region.new[0] as usize..region.new[1] as usize].fill(true);
            }
            for (f, &from) in change.edited.remap.faces.iter().enumerate() {
                let (rest, around) = (levels.mesh().rest()[f], old.rest()[from as usize]);
                if !changed[f] {
                    assert_eq!(rest, around);
                }
                let middle = (rest[0] + rest[1] + rest[2]) / 3.0;
                let turns = [0, 1, 2].map(|k| (around[(k + 1) % 3] - around[k]).perp_dot(middle - around[k]));
                // Sheets turn clockwise in their material coordinates.
                assert!(turns.iter().all(|t| *t <= 1e-15), "{turns:?}");
            }
        }
    }
}

#[test]
fn branched_meshes_keep_their_pairs() {
    let rest = vec![[DVec2::ZERO, DVec2::X, DVec2::Y]; 4];
    let faces = vec![[0, 1, 2], [1, 0, 3], [0, 1, 4], [1, 0, 5]];
    let base = Mesh::branched(6, faces, rest, vec![[0, 3], [2, 1]]).expect("sound");
    let mut levels = Levels::new(base, 2, Closure::RedGreen).expect("sound");
    levels.change(&[0], &[]).expect("sound");
    let corner = levels.children(0).expect("split")[0];
    levels.change(&[corner], &[]).expect("sound");
    assert_eq!(levels.counts().forced, 3, "all that share the edge had to follow");
    // The edge 0–1 is now 0–6–7–1, and on every part of it the four base faces bend in their two pairs.
    let of_base = |f: u32| levels.origin(levels.owners()[f as usize]).expect("a leaf");
    for ends in [[0, 6], [6, 7], [7, 1]] {
        let edges = &levels.mesh().edges()[levels.mesh().edges_between(ends)];
        let mut pairs: Vec<[u32; 2]> = edges.iter().map(|e| e.faces.map(of_base)).collect();
        pairs.sort_unstable();
        assert_eq!(pairs, [[0, 3], [1, 2]], "{ends:?}");
    }
}

#[test]
fn hostile_input_is_refused_and_changes_nothing() {
    assert!(matches!(
        Levels::new(mesh(&sheet(2)), DEEPEST + 1, Closure::None),
        Err(LevelsError::TooDeep { .. })
    ));
    let mut levels = levels(2, 1, Closure::RedGreen);
    levels.change(&[0, 0, 0], &[]).expect("named three times, split once");
    assert_eq!(levels.counts().performed, 1);
    let before = levels.clone();
    let faces = levels.faces() as Face;
    for (split, cancel) in [
        (vec![faces], vec![]),
        (vec![NONE], vec![]),
        (vec![], vec![NONE]),
        (vec![0], vec![]),
        (vec![1], vec![]),
        (vec![], vec![1]),
        (vec![5], vec![5]),
    ] {
        let error = levels.change(&split, &cancel).expect_err("refused");
        assert!(!error.to_string().is_empty());
        assert!(same(levels.mesh(), before.mesh()) && levels.counts() == before.counts());
    }
    assert_eq!(levels.level(NONE), None);
    assert_eq!(levels.children(1), None);
    // Splitting what is about to vanish: the split wins.
    let mut deep = self::levels(2, 2, Closure::RedGreen);
    deep.change(&[0], &[]).expect("sound");
    deep.change(&[1], &[0]).expect("sound");
    assert_eq!(deep.counts().refused, 1);
    assert!(deep.children(1).is_some());
    // Numbers of the wrong length or without sense.
    let x = vec![DVec3::ZERO; 3];
    assert!(Sizing::default().wishes(&levels, &Seen { positions: &x, ..Seen::default() }).is_err());
    let wild = vec![DVec3::splat(f64::NAN); levels.mesh().vertices()];
    let touching = vec![f64::INFINITY; levels.mesh().vertices()];
    let strains = vec![[f64::NAN, -f64::INFINITY]; levels.mesh().faces().len()];
    let seen = Seen { positions: &wild, touching: &touching, strains: &strains, buckling: 1e-6 };
    let wishes =
        Sizing::default().wishes(&levels, &seen).and_then(|w| w.within(&levels, 60)).expect("an answer");
    assert!(levels.faces_after(&wishes.split, &wishes.cancel).expect("sound") <= 60);
    let paper = Paper::new(40.0, 5.0, 5.0, Flat::All).expect("sound");
    levels.change(&wishes.split, &wishes.cancel).expect("sound");
    let wild = vec![DVec3::splat(f64::NAN); levels.mesh().vertices()];
    paper.wishes(&levels, &Seen { positions: &wild, ..Seen::default() }).expect("an answer");
    for (alpha, beta, flat) in [(f64::NAN, 1.0, 1.0), (40.0, -1.0, 1.0), (40.0, 1.0, 40.0), (200.0, 1.0, 1.0)]
    {
        assert!(matches!(Paper::new(alpha, beta, flat, Flat::All), Err(LevelsError::Setting { .. })));
    }
    for sizing in [
        Sizing { turn: f64::NAN, ..Sizing::default() },
        Sizing { hysteresis: 1.0, ..Sizing::default() },
        Sizing { smallest: f64::NAN, ..Sizing::default() },
    ] {
        assert!(matches!(sizing.wishes(&levels, &seen), Err(LevelsError::Setting { .. })));
    }
    // A triangle that is barely one can be split, but not cut in two beside a finer one.
    let thin = [DVec2::ZERO, DVec2::X, DVec2::new(0.5, 2.1e-9)];
    let base = Mesh::new(4, vec![[0, 1, 2], [1, 3, 2]], vec![thin; 2]).expect("barely");
    let mut slender = Levels::new(base, 1, Closure::RedGreen).expect("sound");
    assert!(matches!(slender.change(&[0], &[]), Err(LevelsError::Mesh(_))));
    assert!(same(slender.mesh(), slender.base()) && slender.counts() == Counts::default());
    slender.change(&[0, 1], &[]).expect("sound");
}
