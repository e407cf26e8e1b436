//! Preconditioners: cheap approximate inverses.

use super::forms::{Form, System};
use super::multifrontal::Factor;
use super::named_choices;
use crate::math::{DMat3, DVec3, parallel};

named_choices! {
    /// Which preconditioner.
    PreconditionerKind {
        /// None.
        None = "none",
        /// Inverse of each particle's 3×3 block.
        BlockJacobi = "block-jacobi",
        /// A Cholesky factor of the whole matrix, in single precision.
        Cholesky = "cholesky",
        /// D H D with D the accuracy wanted of each particle (V00-10).
        Accuracy = "accuracy",
    }
}

/// Where a linear solve is wanted more accurately: particles that start inside a box (V00-10).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// Least corner [m].
    pub min: DVec3,
    /// Greatest corner [m].
    pub max: DVec3,
    /// How many times more accurately.
    pub weight: f64,
}

impl Default for Accuracy {
    fn default() -> Self {
        Accuracy { min: DVec3::ZERO, max: DVec3::ZERO, weight: 1.0 }
    }
}

impl Accuracy {
    /// Accuracy wanted of a particle that started at `x`, relative to those outside the box.
    pub fn of(&self, x: DVec3) -> f64 {
        if x.cmpge(self.min).all() && x.cmple(self.max).all() { self.weight } else { 1.0 }
    }
}

/// A preconditioner, with what it needs to be applied.
pub enum Preconditioner<'a> {
    /// z = r.
    Identity,
    /// z_i = D_i⁻¹ r_i.
    BlockJacobi(Vec<DMat3>),
    /// z = (L Lᵀ)⁻¹ r, rewritten for the form at hand.
    Cholesky(&'a Factor, Form),
    /// z_i = d_i² r_i: conjugate gradients on D H D in terms of the unknown of H (V00-10).
    Accuracy(Vec<f64>),
}

impl<'a> Preconditioner<'a> {
    /// The preconditioner of `kind` for `system`. Cholesky needs a `factor`; without one, because the matrix has
    /// none, block-Jacobi takes its place.
    pub fn new(kind: PreconditionerKind, system: &System, factor: Option<&'a Factor>) -> Preconditioner<'a> {
        match (kind, factor) {
            (PreconditionerKind::None | PreconditionerKind::Accuracy, _) => Preconditioner::Identity,
            (PreconditionerKind::Cholesky, Some(factor)) => Preconditioner::Cholesky(factor, system.form()),
            (PreconditionerKind::BlockJacobi | PreconditionerKind::Cholesky, _) => {
                Preconditioner::BlockJacobi(system.inverse_diagonal())
            }
        }
    }

    /// The preconditioner by the accuracy wanted of particles that started at `start` (V00-10).
    pub fn by_accuracy(wanted: &Accuracy, start: &[DVec3]) -> Preconditioner<'a> {
        Preconditioner::Accuracy(start.iter().map(|x| wanted.of(*x)).collect())
    }

    /// Entry i of the preconditioned residual from entry i of the residual, where particles do not mix.
    #[inline]
    pub fn local(&self, i: usize, r: DVec3) -> Option<DVec3> {
        match self {
            Preconditioner::Identity => Some(r),
            Preconditioner::BlockJacobi(inverse) => Some(inverse[i] * r),
            Preconditioner::Accuracy(d) => Some(d[i] * d[i] * r),
            Preconditioner::Cholesky(..) => None,
        }
    }

    /// Whether [`Preconditioner::local`] answers, so that one pass over memory can do this and more.
    pub fn is_local(&self) -> bool {
        !matches!(self, Preconditioner::Cholesky(..))
    }

    /// `z` = the preconditioned residual.
    pub fn apply(&self, r: &[DVec3], z: &mut [DVec3]) {
        match self {
            Preconditioner::Identity => z.copy_from_slice(r),
            Preconditioner::BlockJacobi(inverse) => parallel::fill(z, |i| inverse[i] * r[i]),
            Preconditioner::Accuracy(d) => parallel::fill(z, |i| d[i] * d[i] * r[i]),
            Preconditioner::Cholesky(factor, form) => {
                let mass = factor.mass();
                match form {
                    Form::Mass => factor.solve(r, z),
                    // L + L A L = M⁻¹ H M⁻¹ where particles can move.
                    Form::Symmetric => factor.solve_scaled(r, z, |i| mass[i], |i| mass[i]),
                    // I + L A = M⁻¹ (M + P A), and every vector it meets is projected.
                    Form::Unsymmetric => factor.solve_scaled(r, z, |i| mass[i], |_| 1.0),
                }
            }
        }
    }

    /// The same with the transposed preconditioner.
    pub fn apply_transposed(&self, r: &[DVec3], z: &mut [DVec3]) {
        match self {
            Preconditioner::BlockJacobi(inverse) => {
                parallel::fill(z, |i| inverse[i].mul_transpose_vec3(r[i]));
            }
            Preconditioner::Cholesky(factor, Form::Unsymmetric) => {
                let mass = factor.mass();
                factor.solve_scaled(r, z, |_| 1.0, |i| mass[i]);
            }
            Preconditioner::Identity | Preconditioner::Cholesky(..) | Preconditioner::Accuracy(_) => {
                self.apply(r, z)
            }
        }
    }
}
