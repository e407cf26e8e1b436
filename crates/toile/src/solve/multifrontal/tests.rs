//! The factor against dense oracles, on every kind of graph and constraint, thread count and instruction set.

use super::kernel::{Column, TILE, triangle, triangle_width};
use super::numeric::Tree;
use super::symbolic::Front;
use super::*;
use crate::freedom::Freedom;
use crate::math::matrix::outer;
use crate::math::random;

/// A random positive semi-definite A on a graph, with what is needed to pose H = M + P A P.
struct Problem {
    start: Vec<usize>,
    columns: Vec<u32>,
    blocks: Vec<DMat3>,
    mass: Vec<f64>,
    mobility: Mobility,
    coordinates: Vec<DVec3>,
}

fn vector(seed: u64, i: usize) -> DVec3 {
    let at = |k| random::signed(seed, 3 * i as u64 + k);
    DVec3::new(at(0), at(1), at(2))
}

impl Problem {
    /// Springs of random stiffness up to `stiffness` in random directions on the `edges`.
    fn new(particles: usize, edges: &[(usize, usize)], stiffness: f64, mass: f64) -> Problem {
        let mut pairs: Vec<(usize, usize)> = (0..particles).map(|i| (i, i)).collect();
        pairs.extend(edges.iter().flat_map(|&(i, j)| [(i, j), (j, i)]));
        pairs.sort_unstable();
        pairs.dedup();
        let mut start = vec![0; particles + 1];
        pairs.iter().for_each(|(i, _)| start[i + 1] += 1);
        (0..particles).for_each(|i| start[i + 1] += start[i]);
        let columns: Vec<u32> = pairs.iter().map(|(_, j)| *j as u32).collect();
        let mut blocks = vec![DMat3::ZERO; columns.len()];
        let find = |i: usize, j: usize| {
            start[i] + columns[start[i]..start[i + 1]].partition_point(|c| (*c as usize) < j)
        };
        for (e, &(i, j)) in edges.iter().enumerate() {
            let d = vector(5, e);
            let k = outer(d, d) * stiffness + scaled_identity(0.01 * stiffness * random::unit(6, e as u64));
            for (row, column, sign) in [(i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)] {
                blocks[find(row, column)] += k * sign;
            }
        }
        let mass: Vec<f64> = (0..particles).map(|i| mass * (0.5 + random::unit(8, i as u64))).collect();
        let inverse_mass = mass.iter().map(|m| 1.0 / m).collect();
        let mobility = Mobility { inverse_mass, projectors: Vec::new() };
        let coordinates = (0..particles).map(|i| vector(9, i)).collect();
        Problem { start, columns, blocks, mass, mobility, coordinates }
    }

    /// A sheet of n × n particles with neighbours up to `reach` steps away.
    fn sheet(n: usize, reach: usize, stiffness: f64, mass: f64) -> Problem {
        let mut edges = Vec::new();
        for i in 0..n * n {
            for j in i + 1..n * n {
                let (dx, dy) = ((i % n).abs_diff(j % n), j / n - i / n);
                if dy > reach {
                    break;
                }
                if dx <= reach {
                    edges.push((i, j));
                }
            }
        }
        let mut problem = Problem::new(n * n, &edges, stiffness, mass);
        problem.coordinates = (0..n * n).map(|i| DVec3::new((i % n) as f64, (i / n) as f64, 0.0)).collect();
        problem
    }

    fn hold(mut self, held: &[(u32, Freedom)]) -> Problem {
        self.mobility.projectors = held.iter().map(|(i, freedom)| (*i, freedom.projector())).collect();
        self
    }

    fn symbolic(&self) -> Symbolic {
        Symbolic::new(&self.start, &self.columns, &self.coordinates)
    }

    fn factor(&self) -> (Factor, Result<Precision, NotPositive>) {
        let mut factor = Factor::new(self.symbolic());
        let done = factor.refresh(&self.blocks, &self.mass, &self.mobility);
        (factor, done)
    }

    fn double(&self) -> Factor {
        let mut factor = Factor::new(self.symbolic());
        factor.refresh_in(Precision::Double, &self.blocks, &self.mass, &self.mobility).expect("positive");
        factor
    }

    /// H r.
    fn multiply(&self, r: &[DVec3]) -> Vec<DVec3> {
        let mut t = r.to_vec();
        self.mobility.project(&mut t);
        let mut out: Vec<DVec3> = (0..self.mass.len())
            .map(|i| {
                let row = self.start[i]..self.start[i + 1];
                row.fold(DVec3::ZERO, |sum, k| sum + self.blocks[k] * t[self.columns[k] as usize])
            })
            .collect();
        self.mobility.project(&mut out);
        out.iter().zip(r).zip(&self.mass).map(|((h, r), m)| *h + *r * *m).collect()
    }

    /// The dense solution of H z = r, by Cholesky in double precision.
    fn dense(&self, r: &[DVec3]) -> Vec<DVec3> {
        let n = 3 * self.mass.len();
        let mut h = vec![vec![0.0; n]; n];
        for j in 0..n {
            let mut unit = vec![DVec3::ZERO; self.mass.len()];
            unit[j / 3][j % 3] = 1.0;
            for (i, value) in self.multiply(&unit).iter().enumerate() {
                (0..3).for_each(|d| h[3 * i + d][j] = value[d]);
            }
        }
        let mut z: Vec<f64> = r.iter().flat_map(|r| r.to_array()).collect();
        for j in 0..n {
            for p in 0..j {
                for i in j..n {
                    h[i][j] -= h[i][p] * h[j][p];
                }
            }
            let root = h[j][j].sqrt();
            (j..n).for_each(|i| h[i][j] /= root);
        }
        for i in 0..n {
            (0..i).for_each(|j| z[i] -= h[i][j] * z[j]);
            z[i] /= h[i][i];
        }
        for i in (0..n).rev() {
            (i + 1..n).for_each(|j| z[i] -= h[j][i] * z[j]);
            z[i] /= h[i][i];
        }
        z.chunks_exact(3).map(DVec3::from_slice).collect()
    }

    fn load(&self) -> Vec<DVec3> {
        let mut r: Vec<DVec3> = (0..self.mass.len()).map(|i| vector(11, i)).collect();
        self.mobility.project(&mut r);
        r
    }
}

fn difference(a: &[DVec3], b: &[DVec3]) -> f64 {
    let norm = |v: &mut dyn Iterator<Item = DVec3>| v.fold(0.0, |sum, v| sum + v.length_squared()).sqrt();
    norm(&mut a.iter().zip(b).map(|(a, b)| *a - *b)) / norm(&mut b.iter().copied())
}

/// Asserts that both precisions solve `problem` as the dense oracle does.
fn check(name: &str, problem: &Problem) {
    let r = problem.load();
    let exact = problem.dense(&r);
    let mut z = vec![DVec3::ZERO; r.len()];
    let (factor, done) = problem.factor();
    assert_eq!(done, Ok(Precision::Single), "{name}");
    factor.solve(&r, &mut z);
    let off = difference(&z, &exact);
    assert!(off < 1e-4, "{name}: single precision is off by {off:e}");
    problem.double().solve(&r, &mut z);
    let off = difference(&z, &exact);
    assert!(off < 1e-11, "{name}: double precision is off by {off:e}");
}

fn random_edges(particles: usize, edges: usize, seed: u64) -> Vec<(usize, usize)> {
    let pick = |k: usize| (random::bits(seed, k as u64) % particles as u64) as usize;
    (0..edges).map(|e| (pick(2 * e), pick(2 * e + 1))).filter(|(i, j)| i != j).collect()
}

#[test]
fn random_graphs_agree_with_the_dense_oracle() {
    for (particles, edges) in [(2, 1), (5, 6), (17, 20), (40, 200), (70, 90), (90, 1000), (120, 300)] {
        let problem = Problem::new(particles, &random_edges(particles, edges, 3), 1.0, 0.1);
        check(&format!("{particles} particles, {edges} edges"), &problem);
    }
}

#[test]
fn sheets_agree_with_the_dense_oracle() {
    for (n, reach) in [(3, 1), (4, 1), (5, 2), (9, 1), (12, 2), (13, 3)] {
        check(&format!("sheet of {n}, reach {reach}"), &Problem::sheet(n, reach, 10.0, 0.1));
    }
}

#[test]
fn every_freedom_agrees_with_the_dense_oracle() {
    let line = Freedom::Line(DVec3::new(0.6, 0.0, 0.8));
    let plane = Freedom::Plane(DVec3::new(0.0, 0.6, 0.8));
    let held =
        [(0, Freedom::Fixed), (7, line), (8, Freedom::Fixed), (30, plane), (60, Freedom::Free), (80, line)];
    let problem = Problem::sheet(9, 2, 10.0, 0.1).hold(&held);
    check("all freedoms", &problem);
    let (factor, _) = problem.factor();
    let mut z = vec![DVec3::ZERO; 81];
    factor.solve(&vec![DVec3::ONE; 81], &mut z);
    assert_eq!(z[0], DVec3::ZERO);
    assert!(DVec3::new(0.0, 0.6, 0.8).dot(z[30]).abs() < 1e-15, "off its plane: {}", z[30]);
    let all: Vec<_> = (0..81).map(|i| (i, Freedom::Fixed)).collect();
    let (factor, done) = Problem::sheet(9, 2, 10.0, 0.1).hold(&all).factor();
    assert_eq!(done, Ok(Precision::Single));
    factor.solve(&vec![DVec3::ONE; 81], &mut z);
    assert!(z.iter().all(|z| *z == DVec3::ZERO), "what is fixed moves");
}

#[test]
fn degenerate_graphs_agree_with_the_dense_oracle() {
    check("one particle", &Problem::new(1, &[], 1.0, 0.1));
    check("isolated particles", &Problem::new(50, &[], 1.0, 0.1));
    let apart: Vec<_> = (0..80).filter(|i| i % 20 != 19).map(|i| (i, i + 1)).collect();
    check("four chains", &Problem::new(80, &apart, 1.0, 0.1));
    let mut folded = Problem::sheet(10, 2, 10.0, 0.1);
    folded.coordinates.fill(DVec3::ONE);
    check("coincident coordinates", &folded);
    folded.coordinates.fill(DVec3::NAN);
    check("lost coordinates", &folded);
    let all: Vec<_> = (0..60).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    check("everybody touches everybody", &Problem::new(60, &all, 1.0, 0.1));
    let star: Vec<_> = (1..100).map(|i| (0, i)).collect();
    check("a star", &Problem::new(100, &star, 1.0, 0.1));
    let (factor, done) = Problem::new(0, &[], 1.0, 1.0).factor();
    assert_eq!(done, Ok(Precision::Single));
    factor.solve(&[], &mut []);
}

/// Iterations of preconditioned conjugate gradients to a residual of `limit`, by the energy of the error.
fn iterations(problem: &Problem, factor: &Factor, limit: f64) -> usize {
    let r0 = problem.load();
    let n = r0.len();
    let (mut r, mut z) = (r0.clone(), vec![DVec3::ZERO; n]);
    factor.solve(&r, &mut z);
    let mut t = z.clone();
    let mut alpha = reduce::dot(&r, &z);
    let target = alpha * limit * limit;
    for iteration in 1..100 {
        let ht = problem.multiply(&t);
        let step = alpha / reduce::dot(&t, &ht);
        (0..n).for_each(|i| r[i] -= step * ht[i]);
        factor.solve(&r, &mut z);
        let next = reduce::dot(&r, &z);
        if next <= target {
            return iteration;
        }
        let turn = next / alpha;
        alpha = next;
        (0..n).for_each(|i| t[i] = z[i] + turn * t[i]);
    }
    usize::MAX
}

#[test]
fn units_do_not_matter() {
    let line = Freedom::Line(DVec3::new(0.6, 0.0, 0.8));
    for mass in [1e-12, 1e-6, 1.0, 1e6] {
        for stiffness in [1e-6, 1.0, 1e3, 1e9] {
            let problem = Problem::sheet(16, 2, stiffness, mass).hold(&[(0, Freedom::Fixed), (5, line)]);
            let (factor, done) = problem.factor();
            let count = iterations(&problem, &factor, 1e-6);
            assert!(
                done.is_ok() && count <= 20,
                "{mass:e} kg, {stiffness:e} kg: {done:?}, {count} iterations"
            );
        }
    }
}

#[test]
fn indefinite_matrices_are_reported() {
    let mut problem = Problem::sheet(12, 1, 10.0, 0.1);
    let at = problem.start[77];
    problem.blocks[at] += scaled_identity(-1e3);
    let back = problem.columns[at] as usize;
    let mirror = (problem.start[back]..problem.start[back + 1]).find(|k| problem.columns[*k] == 77);
    problem.blocks[mirror.expect("a symmetric pattern")] += scaled_identity(-1e3);
    let (factor, done) = problem.factor();
    assert!(matches!(done, Err(NotPositive { particle }) if particle < 144), "{done:?}");
    assert_eq!(factor.precision(), None);
    // The diagonal stands in, and is positive.
    let r = problem.load();
    let mut z = r.clone();
    factor.solve(&r, &mut z);
    assert!(reduce::dot(&r, &z) > 0.0);
    for broken in [f64::NAN, f64::INFINITY, -1e9] {
        let mut problem = Problem::sheet(6, 1, 10.0, 0.1);
        problem.mass[3] = broken;
        assert_eq!(problem.factor().1, Err(NotPositive { particle: 3 }), "{broken}");
    }
    let mut problem = Problem::sheet(6, 1, 10.0, 0.1);
    problem.blocks[1] = DMat3::NAN;
    assert!(problem.factor().1.is_err(), "not a number off the diagonal");
}

#[test]
fn rounding_to_single_precision_falls_back_to_double() {
    // A loose stiff sheet: its rigid modes carry 1e-10 of the stiffness, which 32 bits cannot hold.
    let problem = Problem::sheet(14, 1, 1e6, 1e-5);
    let (factor, done) = problem.factor();
    assert_eq!(done, Ok(Precision::Double));
    let count = iterations(&problem, &factor, 1e-8);
    assert!(count <= 10, "{count} iterations");
}

#[test]
fn a_refreshed_factor_is_a_new_factor() {
    let soft = Problem::sheet(12, 2, 1.0, 0.1).hold(&[(3, Freedom::Fixed)]);
    let stiff = Problem::sheet(12, 2, 1e4, 0.1);
    let (mut factor, _) = soft.factor();
    factor.refresh(&stiff.blocks, &stiff.mass, &stiff.mobility).expect("positive");
    let r = stiff.load();
    let (mut again, mut anew) = (r.clone(), r.clone());
    factor.solve(&r, &mut again);
    stiff.factor().0.solve(&r, &mut anew);
    assert_eq!(again, anew);
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let problem = Problem::sheet(70, 2, 1e3, 0.1).hold(&[(0, Freedom::Fixed), (69, Freedom::Fixed)]);
    let r = problem.load();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        pool.install(|| {
            let (factor, done) = problem.factor();
            assert_eq!(done, Ok(Precision::Single));
            let root = factor.symbolic.fronts.last().expect("a root");
            assert!(root.fork_factor && root.fork_solve && root.flops() > 1e6, "nothing runs in parallel");
            let mut z = r.clone();
            factor.solve(&r, &mut z);
            z
        })
    };
    let serial = run(1);
    for threads in [2, 3, 4] {
        assert_eq!(run(threads), serial, "{threads} threads");
    }
}

#[test]
fn portable_and_native_instructions_give_the_same_bits() {
    let problem = Problem::sheet(20, 2, 1e3, 0.1).hold(&[(0, Freedom::Fixed)]);
    let r = problem.load();
    let run = |instructions, precision| {
        let mut factor = Factor { instructions, ..Factor::new(problem.symbolic()) };
        factor.refresh_in(precision, &problem.blocks, &problem.mass, &problem.mobility).expect("positive");
        let mut z = r.clone();
        factor.solve(&r, &mut z);
        z
    };
    for precision in [Precision::Single, Precision::Double] {
        assert_eq!(run(Instructions::Native, precision), run(Instructions::Portable, precision));
    }
}

type Columns<S> = Vec<Column<S>>;

/// One front of random numbers, in tiles (panel and update) and as a dense lower triangle.
fn random_front<S: Scalar>(front: &Front) -> (Columns<S>, Columns<S>, Vec<Vec<S>>) {
    let (k, n) = (front.width(), front.width() + 3 * front.border);
    let mut panel = vec![Column::default(); front.panel_columns()];
    let mut update = vec![Column::default(); front.update_columns()];
    let mut dense = vec![vec![S::default(); n]; n];
    for i in 0..n {
        for j in 0..=i {
            let noise = random::signed(13, (i * n + j) as u64) / (n as f64);
            dense[i][j] = S::near(if i == j { 1.0 } else { noise });
            *slot(front, k, &mut panel, &mut update, i, j) = dense[i][j];
        }
    }
    (panel, update, dense)
}

fn slot<'a, S: Scalar>(
    front: &Front,
    k: usize,
    panel: &'a mut [Column<S>],
    update: &'a mut [Column<S>],
    i: usize,
    j: usize,
) -> &'a mut S {
    if i < k {
        &mut panel[triangle(i / TILE) + j].0[i % TILE]
    } else if j < k {
        &mut panel[triangle_width(k) + (i - k) / TILE * front.width() + j].0[(i - k) % TILE]
    } else {
        &mut update[triangle((i - k) / TILE) + j - k].0[(i - k) % TILE]
    }
}

/// The chain that the kernels promise, entry by entry.
fn eliminate_slowly<S: Scalar>(dense: &mut [Vec<S>], k: usize) -> Vec<S> {
    let mut inverse = vec![S::default(); k];
    for i in 0..dense.len() {
        for j in 0..=i {
            let mut sum = dense[i][j];
            for p in 0..j.min(k) {
                sum = dense[i][p].fused(-dense[j][p], sum);
            }
            if j < k {
                if i == j {
                    inverse[j] = sum.inverse_root();
                } else {
                    sum = sum * inverse[j];
                }
            }
            dense[i][j] = sum;
        }
    }
    inverse
}

fn fronts_follow_the_chain<S: Scalar + std::fmt::Debug>() {
    let problem = Problem::new(1, &[], 1.0, 1.0);
    let symbolic = problem.symbolic();
    let source = Scaled { blocks: &[], scale: &[], mass: &[], projectors: &[], held: &[] };
    for (pivots, border) in
        [(1, 0), (1, 1), (2, 9), (3, 5), (8, 8), (9, 17), (16, 20), (33, 40), (47, 0), (90, 70)]
    {
        let front = Front { pivots, border, ..Front::default() };
        for instructions in [Instructions::Native, Instructions::Portable] {
            let (mut panel, mut update, mut dense) = random_front::<S>(&front);
            let mut inverse = vec![S::default(); front.width()];
            let tree = Tree { symbolic: &symbolic, source: &source, instructions };
            assert_eq!(tree.eliminate(&front, &mut panel, &mut inverse, &mut update), Ok(()));
            let expected = eliminate_slowly(&mut dense, front.width());
            assert!(inverse == expected, "{pivots} pivots, border {border}: reciprocal diagonal");
            for i in 0..dense.len() {
                for j in (0..=i).filter(|j| i != *j || i >= front.width()) {
                    let found = *slot(&front, front.width(), &mut panel, &mut update, i, j);
                    assert!(found == dense[i][j], "{pivots} pivots, border {border}: entry {i}, {j}");
                }
            }
        }
    }
}

#[test]
fn tiles_follow_the_chain_bit_for_bit() {
    fronts_follow_the_chain::<f32>();
    fronts_follow_the_chain::<f64>();
}
