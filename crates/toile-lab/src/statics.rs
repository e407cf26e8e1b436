//! Equilibrium by Newton's method with an exact factorisation: slow, plain, and independent of the engine's
//! solvers, so that what an experiment finds is a property of the laws and the mesh.

use crate::session::LabError;
use faer::linalg::solvers::Solve;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, Side};
use glam::{DMat3, DVec3};
use toile::interaction::{Coupling, ForceModel, Interactions, Mix, Moment, Stencil, Stress};

/// Entries of a symmetric positive definite matrix; only those on and below the diagonal are looked at, and
/// equal places add up.
#[derive(Default)]
pub struct Symmetric {
    size: usize,
    entries: Vec<Triplet<usize, usize, f64>>,
}

impl Symmetric {
    /// A zero matrix.
    pub fn new(size: usize) -> Symmetric {
        Symmetric { size, entries: Vec::new() }
    }

    /// Adds `value` at (row, column).
    pub fn add(&mut self, row: usize, col: usize, val: f64) {
        if row >= col && val != 0.0 {
            self.entries.push(Triplet { row, col, val });
        }
    }

    /// The solution of M y = `right`.
    pub fn solve(&self, right: &[f64]) -> Result<Vec<f64>, LabError> {
        let failed = |what: &str| LabError(format!("a stiffness matrix of {} unknowns {what}", self.size));
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(self.size, self.size, &self.entries)
            .map_err(|_| failed("could not be assembled"))?;
        let factor = matrix.sp_cholesky(Side::Lower).map_err(|_| failed("is not positive definite"))?;
        let solution = factor.solve(Mat::from_fn(self.size, 1, |i, _| right[i]));
        Ok((0..self.size).map(|i| solution[(i, 0)]).collect())
    }
}

/// Cloth under a dead load.
pub struct Statics {
    /// Elastic forces.
    pub forces: Vec<Box<dyn ForceModel>>,
    /// Load on each particle [N].
    pub load: Vec<DVec3>,
    /// Which coordinates of each particle are held where they start.
    pub held: Vec<[bool; 3]>,
    /// Stiffness of springs that tie every particle to where it starts [N/m]: zero, or just enough to stop a
    /// free body from drifting.
    pub tether: f64,
}

/// Where a search for equilibrium ended.
pub struct Equilibrium {
    /// Positions [m].
    pub x: Vec<DVec3>,
    /// Newton steps taken.
    pub steps: usize,
    /// Largest unbalanced force [N].
    pub residual: f64,
}

/// Forces and tangents at one state.
struct Answer {
    /// Unbalanced force on every coordinate, zero where held [N].
    force: Vec<DVec3>,
    matrix: Symmetric,
}

impl Statics {
    /// Goes downhill from `start` until no particle feels more than `tolerance` [N], in at most `most` steps.
    pub fn solve(&self, start: &[DVec3], tolerance: f64, most: usize) -> Result<Equilibrium, LabError> {
        let unknowns = self.unknowns();
        let still = vec![DVec3::ZERO; start.len()];
        let mut x = start.to_vec();
        let mut stress: Vec<Vec<Stress>> = vec![Vec::new(); self.forces.len()];
        let mut energy = self.energy(&x, start);
        let mut steps = 0;
        loop {
            let Answer { force, matrix } = self.respond(&x, start, &stress, &unknowns);
            let residual = force.iter().map(|f| f.abs().max_element()).fold(0.0, f64::max);
            if residual <= tolerance || steps == most {
                return Ok(Equilibrium { x, steps, residual });
            }
            let step = unknowns.scatter(&matrix.solve(&unknowns.gather(&force))?);
            let slope: f64 = force.iter().zip(&step).map(|(f, s)| f.dot(*s)).sum();
            // Near the end energies differ by less than their digits: a full step is then as good as any.
            let noise = 1e-13 * energy.abs();
            let mut length = 1.0;
            let (next, found) = loop {
                let next: Vec<DVec3> = x.iter().zip(&step).map(|(x, s)| *x + *s * length).collect();
                let found = self.energy(&next, start);
                if found <= energy - 1e-4 * length * slope + noise || length < 1e-6 {
                    break (next, found);
                }
                length *= 0.5;
            };
            for (force, stress) in self.forces.iter().zip(&mut stress) {
                force.foresee(Moment::new(&x, &still), &step, 0.0, length, stress);
            }
            (x, energy) = (next, found);
            steps += 1;
        }
    }

    fn unknowns(&self) -> Unknowns {
        let mut count = 0;
        let mut number = |held: bool| {
            count += usize::from(!held);
            (!held).then(|| count - 1)
        };
        let of = self.held.iter().map(|held| held.map(&mut number)).collect();
        Unknowns { of, count }
    }

    fn energy(&self, x: &[DVec3], start: &[DVec3]) -> f64 {
        let still = vec![DVec3::ZERO; x.len()];
        let at = Moment::new(x, &still);
        let elastic: f64 = self.forces.iter().map(|force| force.energy(at)).sum();
        let work: f64 = self.load.iter().zip(x).map(|(f, x)| f.dot(*x)).sum();
        let tied: f64 = x.iter().zip(start).map(|(x, s)| 0.5 * self.tether * x.distance_squared(*s)).sum();
        elastic + tied - work
    }

    fn respond(&self, x: &[DVec3], start: &[DVec3], stress: &[Vec<Stress>], unknowns: &Unknowns) -> Answer {
        let still = vec![DVec3::ZERO; x.len()];
        let mut force: Vec<DVec3> =
            (0..x.len()).map(|i| self.load[i] - self.tether * (x[i] - start[i])).collect();
        let mut matrix = Symmetric::new(unknowns.count);
        for i in 0..x.len() {
            unknowns.add(&mut matrix, i, i, DMat3::from_diagonal(DVec3::splat(self.tether)));
        }
        for (model, stress) in self.forces.iter().zip(stress) {
            let mut answer = Interactions::default();
            let mix = Mix { stiffness: 1.0, damping: 0.0, lag: 0.0 };
            model.respond(Moment::new(x, &still), mix, stress, &mut answer);
            model.coupling().scatter(&answer.force, &mut force);
            match model.coupling() {
                Coupling::Elements(stencil) => {
                    for (i, j, block) in blocks(stencil, &answer.tangent) {
                        unknowns.add(&mut matrix, i, j, block);
                    }
                }
                Coupling::Constant(k) => {
                    for (i, j, value) in k.entries() {
                        let block = DMat3::from_diagonal(DVec3::splat(value * answer.scale));
                        unknowns.add(&mut matrix, i as usize, j as usize, block);
                    }
                }
            }
        }
        for (force, held) in force.iter_mut().zip(&self.held) {
            (0..3).filter(|axis| held[*axis]).for_each(|axis| force[axis] = 0.0);
        }
        Answer { force, matrix }
    }
}

/// Row, column and block of every pair of particles of every element.
fn blocks<'a>(
    stencil: &'a Stencil,
    tangent: &'a [DMat3],
) -> impl Iterator<Item = (usize, usize, DMat3)> + 'a {
    let gauges = stencil.gauges();
    stencil.elements().enumerate().flat_map(move |(e, members)| {
        let pairs = (0..members.len()).flat_map(move |a| (0..members.len()).map(move |b| (a, b)));
        pairs.map(move |(a, b)| {
            let mut sum = DMat3::ZERO;
            for g in 0..gauges {
                for k in 0..gauges {
                    let weight = stencil.weight(e, g, a) * stencil.weight(e, k, b);
                    sum += tangent[(e * gauges + g) * gauges + k] * weight;
                }
            }
            (members[a] as usize, members[b] as usize, sum)
        })
    })
}

/// Numbers of the free coordinates.
struct Unknowns {
    of: Vec<[Option<usize>; 3]>,
    count: usize,
}

impl Unknowns {
    fn add(&self, matrix: &mut Symmetric, i: usize, j: usize, block: DMat3) {
        for r in 0..3 {
            for c in 0..3 {
                if let (Some(row), Some(column)) = (self.of[i][r], self.of[j][c]) {
                    matrix.add(row, column, block.col(c)[r]);
                }
            }
        }
    }

    fn gather(&self, vectors: &[DVec3]) -> Vec<f64> {
        let entries = self.of.iter().zip(vectors);
        entries.flat_map(|(of, v)| (0..3).filter(|a| of[*a].is_some()).map(|a| v[a])).collect()
    }

    fn scatter(&self, numbers: &[f64]) -> Vec<DVec3> {
        let coordinate = |number: &Option<usize>| number.map_or(0.0, |n| numbers[n]);
        self.of.iter().map(|of| DVec3::from_array(of.each_ref().map(coordinate))).collect()
    }
}
