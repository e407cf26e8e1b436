//! Equilibrium by Newton's method with an exact factorisation: slow, plain, and independent of the engine's
//! solvers, so that what an experiment finds is a property of the laws and the mesh.

use crate::session::LabError;
use faer::linalg::solvers::Solve;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, Side};
use glam::DVec3;
use toile::forces::bending::Recon;
use toile::interaction::{ForceModel, Interactions, Mix, Moment};

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
    /// Patch-exact bending, if any.
    pub bending: Option<Recon>,
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

impl Statics {
    /// Goes downhill from `start` until no particle feels more than `tolerance` [N].
    pub fn solve(&self, start: &[DVec3], tolerance: f64, most: usize) -> Result<Equilibrium, LabError> {
        let mut x = start.to_vec();
        let (mut force, mut tangent) = self.respond(&x, start);
        let mut energy = self.energy(&x, start);
        for steps in 0..=most {
            let residual = force.iter().map(|f| f.abs().max_element()).fold(0.0, f64::max);
            if residual <= tolerance || steps == most {
                return Ok(Equilibrium { x, steps, residual });
            }
            let unknowns = self.unknowns();
            let mut matrix = Symmetric::new(unknowns.count);
            for (i, j, block) in tangent {
                for r in 0..3 {
                    for c in 0..3 {
                        if let (Some(row), Some(column)) = (unknowns.of[i][r], unknowns.of[j][c]) {
                            matrix.add(row, column, block[3 * r + c]);
                        }
                    }
                }
            }
            let right: Vec<f64> = unknowns.gather(&force);
            let step = unknowns.scatter(&matrix.solve(&right)?);
            let slope = force.iter().zip(&step).map(|(f, s)| f.dot(*s)).sum::<f64>();
            // Energies differ by less than their digits near the end: a full step is then as good as any.
            let noise = 1e-13 * energy.abs();
            let mut length = 1.0;
            loop {
                let next: Vec<DVec3> = x.iter().zip(&step).map(|(x, s)| *x + *s * length).collect();
                let found = self.energy(&next, start);
                if found <= energy - 1e-4 * length * slope + noise || length < 1e-6 {
                    (x, energy) = (next, found);
                    break;
                }
                length *= 0.5;
            }
            (force, tangent) = self.respond(&x, start);
        }
        unreachable!("the last step returns")
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
        let at = Moment { x, v: &vec![DVec3::ZERO; x.len()] };
        let elastic: f64 = self.forces.iter().map(|force| force.energy(at)).sum();
        let bent = self.bending.as_ref().map_or(0.0, |bending| bending.energy(x));
        let work: f64 = self.load.iter().zip(x).map(|(f, x)| f.dot(*x)).sum();
        let tied: f64 = x.iter().zip(start).map(|(x, s)| 0.5 * self.tether * x.distance_squared(*s)).sum();
        elastic + bent + tied - work
    }

    /// Unbalanced force on every free coordinate, and blocks (row, column, entries by rows) of the tangent.
    #[expect(clippy::type_complexity, reason = "used in one place")]
    fn respond(&self, x: &[DVec3], start: &[DVec3]) -> (Vec<DVec3>, Vec<(usize, usize, [f64; 9])>) {
        let v = vec![DVec3::ZERO; x.len()];
        let mut force: Vec<DVec3> =
            (0..x.len()).map(|i| self.load[i] - self.tether * (x[i] - start[i])).collect();
        let mut tangent = Vec::new();
        let multiple = |s: f64| [s, 0.0, 0.0, 0.0, s, 0.0, 0.0, 0.0, s];
        for model in &self.forces {
            let mut answer = Interactions::default();
            let mix = Mix { stiffness: 1.0, damping: 0.0, lag: 0.0 };
            model.respond(Moment { x, v: &v }, mix, &mut answer);
            let stencil = model.stencil();
            stencil.scatter(&answer.force, &mut force);
            let gauges = stencil.gauges();
            for (e, members) in stencil.elements().enumerate() {
                for (a, &i) in members.iter().enumerate() {
                    for (b, &j) in members.iter().enumerate() {
                        let mut sum = glam::DMat3::ZERO;
                        for g in 0..gauges {
                            for k in 0..gauges {
                                let weight = stencil.weight(e, g, a) * stencil.weight(e, k, b);
                                sum += answer.tangent[(e * gauges + g) * gauges + k] * weight;
                            }
                        }
                        tangent.push((i as usize, j as usize, sum.transpose().to_cols_array()));
                    }
                }
            }
        }
        if let Some(bending) = &self.bending {
            bending.add_force(x, &v, &mut force);
            for i in 0..x.len() {
                tangent.extend(bending.stiffness().row(i).map(|(j, value)| (i, j, multiple(value))));
            }
        }
        tangent.extend((0..x.len()).map(|i| (i, i, multiple(self.tether))));
        for (force, held) in force.iter_mut().zip(&self.held) {
            (0..3).filter(|axis| held[*axis]).for_each(|axis| force[axis] = 0.0);
        }
        (force, tangent)
    }
}

/// Numbers of the free coordinates.
struct Unknowns {
    of: Vec<[Option<usize>; 3]>,
    count: usize,
}

impl Unknowns {
    fn gather(&self, vectors: &[DVec3]) -> Vec<f64> {
        let entries = self.of.iter().zip(vectors);
        entries.flat_map(|(of, v)| (0..3).filter(|a| of[*a].is_some()).map(|a| v[a])).collect()
    }

    fn scatter(&self, numbers: &[f64]) -> Vec<DVec3> {
        let coordinate = |number: &Option<usize>| number.map_or(0.0, |n| numbers[n]);
        self.of.iter().map(|of| DVec3::from_array(of.each_ref().map(coordinate))).collect()
    }
}
