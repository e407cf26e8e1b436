//! The three linear systems of V00-3 for one implicit step, in terms of A = h² V + h W ⪰ 0:
//!
//! | form | system | unknown |
//! |---|---|---|
//! | unsymmetric (V00 eq. 4) | (I + L A) Δv = L b | Δv |
//! | symmetric (V00 eq. 5–6) | (L + L A L) z = L b | Δv = L z |
//! | mass (V00 eq. 7) | P (M + A) P Δv = P b, filtered | Δv |
//!
//! b is an impulse [N·s]. All three have the same solution; held particles need no special case in the
//! first two because their inverse mass says it all.

use super::named_choices;
use super::operator::{BlockOperator, LinearOperator};
use crate::freedom::Mobility;
use crate::math::matrix::{inverse_spd, scaled_identity};
use crate::math::{DMat3, DVec3, parallel, reduce};

named_choices! {
    /// Which of the three systems is solved.
    Form {
        /// (I + L A) Δv = L b. Needs BiCG or BiCGStab.
        Unsymmetric = "unsymmetric",
        /// (L + L A L) z = L b, V00's own choice.
        Symmetric = "symmetric",
        /// P (M + A) P Δv = P b.
        Mass = "mass",
    }
}

/// One of the three systems as a linear operator.
pub struct System<'a> {
    form: Form,
    mobility: &'a Mobility,
    mass: &'a [f64],
    inner: &'a mut dyn BlockOperator,
    work: Vec<DVec3>,
}

impl<'a> System<'a> {
    /// The system of `form` round the operator `inner` = A.
    pub fn new(
        form: Form,
        mobility: &'a Mobility,
        mass: &'a [f64],
        inner: &'a mut dyn BlockOperator,
    ) -> Self {
        let work = vec![DVec3::ZERO; inner.len()];
        System { form, mobility, mass, inner, work }
    }

    /// Which system it is.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Right-hand side for the impulses `b` [N·s].
    pub fn right_side(&self, b: &[DVec3]) -> Vec<DVec3> {
        let mut y = b.to_vec();
        match self.form {
            Form::Unsymmetric | Form::Symmetric => self.mobility.apply(b, &mut y),
            Form::Mass => self.mobility.project(&mut y),
        }
        y
    }

    /// Velocity change [m/s] from the unknown of the system.
    pub fn velocity_change(&self, unknown: &[DVec3], out: &mut [DVec3]) {
        match self.form {
            Form::Symmetric => self.mobility.apply(unknown, out),
            Form::Unsymmetric | Form::Mass => {
                out.copy_from_slice(unknown);
                self.mobility.project(out);
            }
        }
    }

    /// Corrects `change` by the rigid translation that leaves no net impulse unbalanced.
    ///
    /// What an iterative solve leaves over may have a net sum: a freely falling cloth would drift sideways
    /// by it. Solving exactly for three translations on top removes that, and can only reduce the error.
    pub fn balance_momentum(&mut self, b: &[DVec3], change: &mut [DVec3]) {
        let n = change.len();
        self.inner.apply(change, &mut self.work);
        let (mass, work) = (self.mass, &self.work);
        let left = reduce::sum_vectors(n, |i| b[i] - change[i] * mass[i] - work[i]);
        let total = reduce::sum(n, |i| mass[i]);
        let axes = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| {
            self.inner.apply(&vec![axis; n], &mut self.work);
            let work = &self.work;
            reduce::sum_vectors(n, |i| work[i])
        });
        let whole = DMat3::from_cols(axes[0], axes[1], axes[2]) + scaled_identity(total);
        let Some(inverse) = inverse_spd(whole) else { return };
        let shift = inverse * left;
        parallel::update(change, |_, v| *v += shift);
    }

    /// Factors that turn the entries of the residual into forces [N].
    pub fn force_scales(&self, dt: f64) -> Vec<f64> {
        match self.form {
            Form::Unsymmetric | Form::Symmetric => self.mass.iter().map(|m| m / dt).collect(),
            Form::Mass => vec![1.0 / dt; self.mass.len()],
        }
    }

    /// Inverses of the diagonal blocks on the directions in which particles can move, for block-Jacobi
    /// preconditioning.
    pub fn inverse_diagonal(&self) -> Vec<DMat3> {
        let mut blocks = self.inner.diagonal();
        let mut projectors = self.mobility.projectors.iter().peekable();
        for (i, block) in blocks.iter_mut().enumerate() {
            let mut p = DMat3::IDENTITY;
            while let Some((_, own)) = projectors.next_if(|(at, _)| *at as usize == i) {
                p = *own;
            }
            let (m, w) = (self.mass[i], self.mobility.inverse_mass[i]);
            let free = p * *block * p;
            // The mass form's block; the others are the same up to powers of the mass.
            let inverse = inverse_spd(scaled_identity(m) + free).unwrap_or(scaled_identity(w));
            *block = match self.form {
                Form::Mass => p * inverse * p,
                // L + L A L = w (m I + P A P) w on the free directions, and nothing on the others: the unknown
                // must stay clear of them, or rounding piles up where the operator cannot see it.
                Form::Symmetric => p * inverse * p * (m * m),
                // I + L A: not symmetric with constraints, so take w (m I + A) unprojected.
                Form::Unsymmetric => (DMat3::IDENTITY + p * *block * w).inverse(),
            };
        }
        blocks
    }
}

impl LinearOperator for System<'_> {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn apply(&mut self, t: &[DVec3], out: &mut [DVec3]) {
        match self.form {
            Form::Unsymmetric => {
                self.inner.apply(t, &mut self.work);
                self.mobility.apply(&self.work, out);
                parallel::update(out, |i, y| *y += t[i]);
            }
            Form::Symmetric => {
                self.mobility.apply(t, &mut self.work);
                self.inner.apply(&self.work, out);
                let w = &self.mobility.inverse_mass;
                parallel::update(out, |i, y| *y = (*y + t[i]) * w[i]);
                self.mobility.project(out);
            }
            Form::Mass => {
                // Every vector of the iteration is a combination of projected ones, so t = P t already.
                self.inner.apply(t, out);
                let mass = self.mass;
                parallel::update(out, |i, y| *y += t[i] * mass[i]);
                self.mobility.project(out);
            }
        }
    }

    fn apply_transposed(&mut self, t: &[DVec3], out: &mut [DVec3]) {
        if self.form != Form::Unsymmetric {
            return self.apply(t, out);
        }
        // (I + L A)ᵀ = I + A L, because A and L are symmetric.
        self.mobility.apply(t, &mut self.work);
        self.inner.apply(&self.work, out);
        parallel::update(out, |i, y| *y += t[i]);
    }
}
