//! Preconditioners: cheap approximate inverses.

use super::forms::System;
use super::named_choices;
use crate::math::{DMat3, DVec3};

named_choices! {
    /// Which preconditioner.
    PreconditionerKind {
        /// None.
        None = "none",
        /// Inverse of each particle's 3×3 block.
        BlockJacobi = "block-jacobi",
    }
}

/// A preconditioner that acts on each particle alone.
pub enum Preconditioner {
    /// z = r.
    Identity,
    /// z_i = D_i⁻¹ r_i.
    BlockJacobi(Vec<DMat3>),
}

impl Preconditioner {
    /// The preconditioner of `kind` for `system`.
    pub fn new(kind: PreconditionerKind, system: &System) -> Preconditioner {
        match kind {
            PreconditionerKind::None => Preconditioner::Identity,
            PreconditionerKind::BlockJacobi => Preconditioner::BlockJacobi(system.inverse_diagonal()),
        }
    }

    /// Entry i of the preconditioned residual.
    #[inline]
    pub fn apply(&self, i: usize, r: DVec3) -> DVec3 {
        match self {
            Preconditioner::Identity => r,
            Preconditioner::BlockJacobi(inverse) => inverse[i] * r,
        }
    }

    /// The same with the transposed preconditioner.
    #[inline]
    pub fn apply_transposed(&self, i: usize, r: DVec3) -> DVec3 {
        match self {
            Preconditioner::Identity => r,
            Preconditioner::BlockJacobi(inverse) => inverse[i].mul_transpose_vec3(r),
        }
    }
}
