//! Contacts inside the assembled matrix and its factor, against the same operator element by element.

use glam::{DMat3, DVec3};
use toile::contact::Friction;
use toile::contact::gauges::{Gauge, Gauges};
use toile::interaction::{Elements, ForceModel, Interactions, Law, Mix, Moment, Response, Sample};
use toile::math::random;
use toile::solve::BlockOperator;
use toile::solve::operator::{BlockSparse, MatrixFree, Pattern, WithPassing};

/// A chain of springs with a constant tangent.
struct Chain;

impl Law<2, 1> for Chain {
    fn name(&self) -> &'static str {
        "chain"
    }

    fn respond(&self, _: usize, at: &Sample<2, 1>) -> Response<1> {
        let energy = 0.5 * at.gauge[0].length_squared();
        Response { energy, force: [-at.gauge[0]], stiffness: [[DMat3::IDENTITY]], ..Response::ZERO }
    }
}

const PARTICLES: usize = 12;

/// A pair of particles `a` and `b` that push at each other, or one that pushes at a body.
fn gauge(k: u64, members: [u32; 4], weights: [f64; 4]) -> Gauge {
    let normal = DVec3::new(random::signed(1, k), 1.0, random::signed(2, k)).normalize();
    Gauge {
        members,
        weights,
        normal,
        distance: 1e-3,
        stiffness: 40.0 + k as f64,
        outside: [DVec3::ZERO; 2],
        start: DVec3::ZERO,
        push: 0.5,
        load: 0.5,
        slip: DVec3::ZERO,
        friction: Friction::of(0.3),
        given: None,
    }
}

/// Springs along a chain, and contacts: some within neighbours, some not.
fn forces() -> Vec<Box<dyn ForceModel>> {
    let members: Vec<[u32; 2]> = (1..PARTICLES as u32).map(|i| [i - 1, i]).collect();
    let chain = Elements::new(PARTICLES, &members, &vec![[[1.0, -1.0]]; members.len()], Chain);
    let mut gauges = Gauges::none(PARTICLES);
    let list = vec![
        gauge(0, [3, 3, 3, 3], [1.0, 0.0, 0.0, 0.0]),
        gauge(1, [5, 6, 5, 5], [0.4, 0.6, 0.0, 0.0]),
        gauge(2, [0, 1, 8, 9], [0.3, 0.7, -0.2, -0.8]),
        gauge(3, [11, 4, 5, 2], [1.0, -0.5, -0.25, -0.25]),
        // Held, but pushed by nobody.
        Gauge { push: -1e3, load: 0.0, ..gauge(4, [7, 1, 2, 3], [1.0, -0.5, -0.25, -0.25]) },
    ];
    gauges.set(PARTICLES, list, 0.0, 0.01);
    vec![Box::new(chain), Box::new(gauges)]
}

fn answers(forces: &[Box<dyn ForceModel>]) -> Vec<Interactions> {
    let x: Vec<DVec3> = (0..PARTICLES).map(|i| DVec3::X * i as f64 * 1e-4).collect();
    let v = vec![DVec3::ZERO; PARTICLES];
    let mix = Mix { stiffness: 1.0, damping: 0.0, lag: 0.0 };
    let answer = |force: &dyn ForceModel| {
        let mut out = Interactions::default();
        force.respond(Moment::new(&x, &v), mix, &[], &mut out);
        out
    };
    forces.iter().map(|force| answer(force.as_ref())).collect()
}

fn largest_difference(a: &mut dyn BlockOperator, b: &mut dyn BlockOperator) -> f64 {
    let mut most = 0.0f64;
    for k in 0..8 {
        let at = |i: usize| [0, 1, 2].map(|c| random::signed(3 + k, (3 * i + c) as u64));
        let t: Vec<DVec3> = (0..PARTICLES).map(|i| DVec3::from_array(at(i))).collect();
        let (mut y, mut z) = (vec![DVec3::ZERO; PARTICLES], vec![DVec3::ZERO; PARTICLES]);
        a.apply(&t, &mut y);
        b.apply(&t, &mut z);
        most = y.iter().zip(&z).fold(most, |most, (p, q)| most.max(p.distance(*q)));
    }
    let diagonals = a.diagonal().into_iter().zip(b.diagonal());
    diagonals.fold(most, |most, (p, q)| {
        (p - q).to_cols_array().iter().fold(most, |most, value| most.max(value.abs()))
    })
}

#[test]
fn contacts_among_neighbours_are_taken_in() {
    let forces = forces();
    let answers = answers(&forces);
    let pattern = Pattern::new(PARTICLES, &forces);
    let (mut blocks, mut left) = (Vec::new(), Vec::new());
    let mut sparse = BlockSparse::assemble(&pattern, &forces, &answers, &mut blocks);
    sparse.take_in(&forces, &answers, &mut left);
    let zero = |k: usize| left[0][k] == DMat3::ZERO;
    assert_eq!([0, 1, 2, 3].map(zero), [true, true, false, false], "a body's, a neighbour's, two strangers'");
    let mut all = WithPassing::new(sparse, &forces, &left);
    let off = largest_difference(&mut all, &mut MatrixFree::new(PARTICLES, &forces, &answers));
    assert!(off < 1e-12, "{off:e}");
}

#[test]
fn a_pattern_with_contacts_holds_all_of_them() {
    let forces = forces();
    let answers = answers(&forces);
    let lasting = Pattern::new(PARTICLES, &forces);
    let pairs = lasting.lacks(&forces);
    assert!(pairs.contains(&(0, 8)) && pairs.contains(&(9, 1)) && pairs.contains(&(2, 11)), "{pairs:?}");
    assert!(pairs.contains(&(7, 1)), "one that may push counts as well");
    assert!(!pairs.contains(&(5, 6)), "neighbours are there");
    let mut base = Vec::new();
    BlockSparse::assemble(&lasting, &forces, &answers, &mut base);
    let (joined, place) = lasting.with(&pairs);
    assert_eq!(joined.blocks(), lasting.blocks() + pairs.len());
    for row in 0..PARTICLES {
        let columns = &joined.columns()[joined.start()[row]..joined.start()[row + 1]];
        assert!(columns.is_sorted_by(|a, b| a < b), "row {row}: {columns:?}");
    }
    let mut blocks = vec![DMat3::ZERO; joined.blocks()];
    place.iter().zip(&base).for_each(|(place, block)| blocks[*place as usize] = *block);
    let mut left = Vec::new();
    let mut sparse = BlockSparse::assembled(&joined, &mut blocks);
    sparse.take_in(&forces, &answers, &mut left);
    assert!(left[0].is_empty(), "nothing is left to apply by itself");
    let off = largest_difference(&mut sparse, &mut MatrixFree::new(PARTICLES, &forces, &answers));
    assert!(off < 1e-12, "{off:e}");
}
