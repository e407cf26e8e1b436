//! H = M + P A P factored as L Lᵀ by fronts, in single precision: a preconditioner that leaves conjugate
//! gradients a handful of iterations at any stiffness.
//!
//! [`Symbolic`] finds the order and the fronts once per pattern; [`Factor`] holds the numbers and is refreshed
//! whenever its owner thinks the matrix has moved far enough. The matrix is scaled to a unit diagonal first,
//! so that its entries are at most one whatever the units, and single precision has all of its range left.

mod kernel;
mod numeric;
mod symbolic;
#[cfg(test)]
mod tests;

pub use symbolic::Symbolic;

use crate::freedom::Mobility;
use crate::math::matrix::scaled_identity;
use crate::math::{DMat3, DVec3, parallel, reduce};
use kernel::{Instructions, Scalar};
use numeric::{Numbers, Source};
use std::sync::{Mutex, PoisonError};
use symbolic::{Entry, NO_BLOCK};

/// The numbers a factor is held in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits: half the memory, twice the speed, and enough for nearly every cloth.
    Single,
    /// 64 bits, where rounding to 32 has made the matrix indefinite.
    Double,
}

/// The matrix has no Cholesky factor, even in double precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPositive {
    /// Particle at whose elimination it showed.
    pub particle: usize,
}

impl std::fmt::Display for NotPositive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the matrix is not positive definite at particle {}", self.particle)
    }
}

impl std::error::Error for NotPositive {}

/// A Cholesky factor of H = M + P A P, with the memory it is refreshed in.
#[derive(Debug)]
pub struct Factor {
    symbolic: Symbolic,
    precision: Option<Precision>,
    single: Numbers<f32>,
    double: Numbers<f64>,
    /// 1/√H_ii of each particle's three rows.
    scale: Vec<DVec3>,
    mass: Vec<f64>,
    projectors: Vec<(u32, DMat3)>,
    /// For each particle one more than its index among the projectors, or zero if it is free.
    held: Vec<u32>,
    workspace: Mutex<Workspace>,
    instructions: Instructions,
}

#[derive(Debug, Default)]
struct Workspace {
    single: Vectors<f32>,
    double: Vectors<f64>,
}

#[derive(Debug, Default)]
struct Vectors<S> {
    y: Vec<S>,
    edges: Vec<S>,
}

impl Factor {
    /// A factor for matrices of one pattern; empty until it is refreshed.
    pub fn new(symbolic: Symbolic) -> Factor {
        Factor {
            scale: vec![DVec3::ONE; symbolic.len()],
            mass: vec![1.0; symbolic.len()],
            held: vec![0; symbolic.len()],
            symbolic,
            precision: None,
            single: Numbers::default(),
            double: Numbers::default(),
            projectors: Vec::new(),
            workspace: Mutex::default(),
            instructions: Instructions::Native,
        }
    }

    /// Makes it one for another pattern, in the same memory; empty until it is refreshed.
    pub fn order(&mut self, symbolic: Symbolic) {
        self.precision = None;
        self.scale.resize(symbolic.len(), DVec3::ONE);
        self.held.resize(symbolic.len(), 0);
        self.symbolic = symbolic;
    }

    /// What it knows of the pattern.
    pub fn symbolic(&self) -> &Symbolic {
        &self.symbolic
    }

    /// What the numbers are held in; `None` before the first refresh and after a failed one.
    pub fn precision(&self) -> Option<Precision> {
        self.precision
    }

    /// Masses [kg] of the matrix that was factored.
    pub(super) fn mass(&self) -> &[f64] {
        &self.mass
    }

    /// Factors H = M + P A P anew from the `blocks` of A [kg] in the order of the pattern, the masses [kg] and the
    /// projectors P of `mobility`: in single precision or, if a pivot gets lost there, in double.
    pub fn refresh(
        &mut self,
        blocks: &[DMat3],
        mass: &[f64],
        mobility: &Mobility,
    ) -> Result<Precision, NotPositive> {
        self.take_in(blocks, mass, mobility)?;
        match self.compute(Precision::Single, blocks) {
            Ok(()) => Ok(Precision::Single),
            Err(_) => self.compute(Precision::Double, blocks).map(|()| Precision::Double),
        }
    }

    /// [`Factor::refresh`] in one precision only.
    pub fn refresh_in(
        &mut self,
        precision: Precision,
        blocks: &[DMat3],
        mass: &[f64],
        mobility: &Mobility,
    ) -> Result<(), NotPositive> {
        self.take_in(blocks, mass, mobility)?;
        self.compute(precision, blocks)
    }

    fn compute(&mut self, precision: Precision, blocks: &[DMat3]) -> Result<(), NotPositive> {
        let Factor { symbolic, single, double, scale, mass, projectors, held, instructions, .. } = self;
        let matrix = Scaled { blocks, scale, mass, projectors, held };
        let done = match precision {
            Precision::Single => single.factor(symbolic, &matrix, *instructions),
            Precision::Double => double.factor(symbolic, &matrix, *instructions),
        };
        done.map_err(|place| NotPositive { particle: symbolic.order[place] as usize })?;
        self.precision = Some(precision);
        Ok(())
    }

    /// Takes masses and constraints, and finds the scales.
    fn take_in(&mut self, blocks: &[DMat3], mass: &[f64], mobility: &Mobility) -> Result<(), NotPositive> {
        self.precision = None;
        self.mass.clear();
        self.mass.extend_from_slice(mass);
        self.held.fill(0);
        self.projectors.clone_from(&mobility.projectors);
        for (at, (particle, _)) in self.projectors.iter().enumerate() {
            self.held[*particle as usize] = at as u32 + 1;
        }
        self.scale.fill(DVec3::ONE);
        for i in 0..self.symbolic.len() {
            let block = diagonal(blocks, self.symbolic.diagonal[i]);
            let p = projector(&self.projectors, self.held[i]);
            let h = p.map_or(block, |p| p * block * p) + scaled_identity(mass[i]);
            let h = DVec3::new(h.x_axis.x, h.y_axis.y, h.z_axis.z);
            // Refuses what is not a number as well.
            if !(h.min_element() >= f64::MIN_POSITIVE && h.max_element() <= f64::MAX) {
                return Err(NotPositive { particle: i });
            }
            self.scale[i] = DVec3::new(h.x.sqrt(), h.y.sqrt(), h.z.sqrt()).recip();
        }
        Ok(())
    }

    /// z ≈ P H⁻¹ P r. Without a factor, the diagonal stands in for H.
    pub fn solve(&self, r: &[DVec3], z: &mut [DVec3]) {
        self.solve_scaled(r, z, |_| 1.0, |_| 1.0);
    }

    /// `z_i = after(i) (P H⁻¹ P before r)_i`, with `before` applied entry by entry too.
    pub(super) fn solve_scaled(
        &self,
        r: &[DVec3],
        z: &mut [DVec3],
        before: impl Fn(usize) -> f64 + Sync,
        after: impl Fn(usize) -> f64 + Sync,
    ) {
        let scale = &self.scale;
        // What a particle cannot follow would only set the scale for the rest of the vector.
        let free = |i: usize| projector(&self.projectors, self.held[i]).map_or(r[i], |p| p * r[i]);
        let load = |i: usize| free(i) * scale[i] * before(i);
        let size = reduce::max(r.len(), |i| load(i).abs().max_element());
        if size == 0.0 {
            z.fill(DVec3::ZERO);
            return;
        }
        let load = |i: usize| load(i) / size;
        let mut workspace = self.workspace.lock().unwrap_or_else(PoisonError::into_inner);
        match self.precision {
            Some(Precision::Single) => self.substitute(&self.single, &mut workspace.single, load, z),
            Some(Precision::Double) => self.substitute(&self.double, &mut workspace.double, load, z),
            None => parallel::fill(z, load),
        }
        parallel::update(z, |i, z| *z = *z * scale[i] * (size * after(i)));
        for (i, projector) in &self.projectors {
            z[*i as usize] = *projector * z[*i as usize];
        }
    }

    fn substitute<S: Scalar>(
        &self,
        numbers: &Numbers<S>,
        vectors: &mut Vectors<S>,
        load: impl Fn(usize) -> DVec3,
        z: &mut [DVec3],
    ) {
        let order = &self.symbolic.order;
        vectors.y.resize(3 * order.len(), S::default());
        for (y, &i) in vectors.y.chunks_exact_mut(3).zip(order) {
            y.copy_from_slice(&load(i as usize).to_array().map(S::near));
        }
        numbers.solve(&self.symbolic, &mut vectors.y, &mut vectors.edges, self.instructions);
        for (y, &i) in vectors.y.chunks_exact(3).zip(order) {
            z[i as usize] = DVec3::new(y[0].wide(), y[1].wide(), y[2].wide());
        }
    }
}

/// The matrix H scaled to a unit diagonal.
struct Scaled<'a> {
    blocks: &'a [DMat3],
    scale: &'a [DVec3],
    mass: &'a [f64],
    projectors: &'a [(u32, DMat3)],
    held: &'a [u32],
}

impl Source for Scaled<'_> {
    #[inline]
    fn block(&self, entry: &Entry, pivot: u32) -> [[f64; 3]; 3] {
        let (i, j) = (pivot as usize, entry.other as usize);
        let mut block = diagonal(self.blocks, entry.block);
        if self.held[i] != 0 || self.held[j] != 0 {
            let p = |at: u32| projector(self.projectors, at).unwrap_or(DMat3::IDENTITY);
            block = p(self.held[i]) * block * p(self.held[j]);
        }
        if i == j {
            block += scaled_identity(self.mass[i]);
        }
        // Row `pivot`, column `other` of H is at hand; its transpose is wanted.
        let rows = block.transpose();
        let (s, t) = (self.scale[i], self.scale[j]);
        [rows.x_axis * t * s.x, rows.y_axis * t * s.y, rows.z_axis * t * s.z].map(|column| column.to_array())
    }
}

fn diagonal(blocks: &[DMat3], at: u32) -> DMat3 {
    if at == NO_BLOCK { DMat3::ZERO } else { blocks[at as usize] }
}

fn projector(projectors: &[(u32, DMat3)], held: u32) -> Option<DMat3> {
    held.checked_sub(1).map(|at| projectors[at as usize].1)
}
