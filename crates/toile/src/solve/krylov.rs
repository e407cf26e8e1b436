//! Conjugate gradients as V00-5 lists them, with the guards the listing lacks, and the two methods for
//! unsymmetric systems (V00-6). Not converging is an outcome, never a panic.

use super::named_choices;
use super::operator::LinearOperator;
use super::precondition::Preconditioner;
use crate::math::{DVec3, parallel, reduce};

named_choices! {
    /// Which Krylov method.
    Method {
        /// Conjugate gradients; symmetric forms only.
        Cg = "cg",
        /// Biconjugate gradients, as V00 names it.
        Bicg = "bicg",
        /// Stabilised biconjugate gradients.
        Bicgstab = "bicgstab",
    }
}

/// Growth of the residual at which an unsymmetric method is given up.
pub const DIVERGED: f64 = 1e6;

/// How an iteration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The residual is below the limit.
    Converged,
    /// The iteration limit came first.
    IterationLimit,
    /// A direction t with tᵀHt ≤ 0 turned up: the operator is not positive (G-16).
    NotPositive,
    /// An inner product of BiCG vanished: the method cannot go on.
    Breakdown,
    /// The residual grew beyond [`DIVERGED`] times its start: the result is worthless.
    Diverged,
    /// A value stopped being a number.
    NotFinite,
}

/// What an iteration reached.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Iterations done.
    pub iterations: usize,
    /// Largest entry of the residual, in the measure of [`Stop`].
    pub residual: f64,
}

/// When to stop. The residual is measured as its largest entry, each times its scale; with the scales of
/// [`super::forms::System::force_scales`] that is the largest unbalanced force [N], the same in every form (G-4).
pub struct Stop<'a> {
    /// Scale of each entry.
    pub scale: &'a [f64],
    /// Largest residual to accept.
    pub limit: f64,
    /// Most iterations.
    pub max_iterations: usize,
}

impl Stop<'_> {
    fn measure(&self, r: &[DVec3]) -> f64 {
        reduce::max(r.len(), |i| self.squared(i, r[i])).sqrt()
    }

    #[inline]
    fn squared(&self, i: usize, r: DVec3) -> f64 {
        r.length_squared() * (self.scale[i] * self.scale[i])
    }
}

/// Solves H x = y from a zero start.
pub fn solve(
    method: Method,
    operator: &mut dyn LinearOperator,
    preconditioner: &Preconditioner,
    y: &[DVec3],
    x: &mut Vec<DVec3>,
    stop: &Stop,
) -> Outcome {
    x.clear();
    x.resize(y.len(), DVec3::ZERO);
    let residual = stop.measure(y);
    if residual.is_nan() {
        return Outcome { end: End::NotFinite, iterations: 0, residual };
    }
    if residual <= stop.limit || residual == 0.0 {
        return Outcome { end: End::Converged, iterations: 0, residual };
    }
    match method {
        Method::Cg => conjugate_gradient(operator, preconditioner, y, x, stop),
        Method::Bicg => biconjugate_gradient(operator, preconditioner, y, x, stop),
        Method::Bicgstab => stabilised(operator, preconditioner, y, x, stop),
    }
}

/// Decides after each iteration whether to end, and how.
fn verdict(iterations: usize, start: f64, residual: f64, stop: &Stop) -> Option<Outcome> {
    let end = if residual.is_nan() {
        End::NotFinite
    } else if residual > DIVERGED * start {
        End::Diverged
    } else if residual <= stop.limit {
        End::Converged
    } else if iterations >= stop.max_iterations {
        End::IterationLimit
    } else {
        return None;
    };
    Some(Outcome { end, iterations, residual })
}

fn conjugate_gradient(
    operator: &mut dyn LinearOperator,
    preconditioner: &Preconditioner,
    y: &[DVec3],
    x: &mut [DVec3],
    stop: &Stop,
) -> Outcome {
    let n = y.len();
    let mut r = y.to_vec();
    let mut z = vec![DVec3::ZERO; n];
    preconditioner.apply(&r, &mut z);
    let mut t = z.clone();
    let mut ht = vec![DVec3::ZERO; n];
    let mut alpha = reduce::dot(&r, &z);
    let start = stop.measure(&r);
    let mut residual = start;
    for iteration in 1.. {
        operator.apply(&t, &mut ht);
        let beta = reduce::dot(&t, &ht);
        if beta.is_nan() || alpha.is_nan() {
            return Outcome { end: End::NotFinite, iterations: iteration, residual };
        }
        if beta <= 0.0 || alpha <= 0.0 {
            return Outcome { end: End::NotPositive, iterations: iteration, residual };
        }
        let step = alpha / beta;
        // x, r, z and both of their measures in one pass over memory: vectors are half of the traffic.
        let (mut next, squared) = reduce::update3(x, &mut r, &mut z, |i, x, r, z| {
            *x += step * t[i];
            *r -= step * ht[i];
            *z = preconditioner.local(i, *r).unwrap_or(*z);
            (r.dot(*z), stop.squared(i, *r))
        });
        residual = squared.sqrt();
        if let Some(outcome) = verdict(iteration, start, residual, stop) {
            return outcome;
        }
        if !preconditioner.is_local() {
            preconditioner.apply(&r, &mut z);
            next = reduce::dot(&r, &z);
        }
        let turn = next / alpha;
        alpha = next;
        parallel::update(&mut t, |i, t| *t = z[i] + turn * *t);
    }
    unreachable!("the verdict ends the loop")
}

fn biconjugate_gradient(
    operator: &mut dyn LinearOperator,
    preconditioner: &Preconditioner,
    y: &[DVec3],
    x: &mut [DVec3],
    stop: &Stop,
) -> Outcome {
    let n = y.len();
    let (mut r, mut shadow) = (y.to_vec(), y.to_vec());
    let mut z = vec![DVec3::ZERO; n];
    let mut shadow_z = vec![DVec3::ZERO; n];
    let (mut t, mut shadow_t) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
    let (mut ht, mut shadow_ht) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
    let mut rho = 1.0;
    let start = stop.measure(&r);
    let mut residual = start;
    for iteration in 1.. {
        preconditioner.apply(&r, &mut z);
        preconditioner.apply_transposed(&shadow, &mut shadow_z);
        let next = reduce::dot(&z, &shadow);
        if next == 0.0 || !next.is_finite() {
            return Outcome { end: broken(next), iterations: iteration, residual };
        }
        let turn = if iteration == 1 { 0.0 } else { next / rho };
        rho = next;
        parallel::update(&mut t, |i, t| *t = z[i] + turn * *t);
        parallel::update(&mut shadow_t, |i, t| *t = shadow_z[i] + turn * *t);
        operator.apply(&t, &mut ht);
        operator.apply_transposed(&shadow_t, &mut shadow_ht);
        let bottom = reduce::dot(&shadow_t, &ht);
        if bottom == 0.0 || !bottom.is_finite() {
            return Outcome { end: broken(bottom), iterations: iteration, residual };
        }
        let step = rho / bottom;
        parallel::update(x, |i, x| *x += step * t[i]);
        parallel::update(&mut r, |i, r| *r -= step * ht[i]);
        parallel::update(&mut shadow, |i, r| *r -= step * shadow_ht[i]);
        residual = stop.measure(&r);
        if let Some(outcome) = verdict(iteration, start, residual, stop) {
            return outcome;
        }
    }
    unreachable!("the verdict ends the loop")
}

fn stabilised(
    operator: &mut dyn LinearOperator,
    preconditioner: &Preconditioner,
    y: &[DVec3],
    x: &mut [DVec3],
    stop: &Stop,
) -> Outcome {
    let n = y.len();
    let shadow = y.to_vec();
    let mut r = y.to_vec();
    let (mut t, mut ht) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
    let (mut t_hat, mut s_hat) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
    let mut hs = vec![DVec3::ZERO; n];
    let (mut rho, mut step, mut omega) = (1.0, 1.0, 1.0);
    let start = stop.measure(&r);
    let mut residual = start;
    for iteration in 1.. {
        let next = reduce::dot(&shadow, &r);
        if next == 0.0 || !next.is_finite() {
            return Outcome { end: broken(next), iterations: iteration, residual };
        }
        let turn = if iteration == 1 { 0.0 } else { (next / rho) * (step / omega) };
        rho = next;
        parallel::update(&mut t, |i, t| *t = r[i] + turn * (*t - omega * ht[i]));
        preconditioner.apply(&t, &mut t_hat);
        operator.apply(&t_hat, &mut ht);
        let bottom = reduce::dot(&shadow, &ht);
        if bottom == 0.0 || !bottom.is_finite() {
            return Outcome { end: broken(bottom), iterations: iteration, residual };
        }
        step = rho / bottom;
        parallel::update(&mut r, |i, r| *r -= step * ht[i]);
        preconditioner.apply(&r, &mut s_hat);
        operator.apply(&s_hat, &mut hs);
        let curvature = reduce::dot(&hs, &hs);
        // hs = 0 only when r = 0: the half step already solved it.
        omega = if curvature > 0.0 { reduce::dot(&hs, &r) / curvature } else { 0.0 };
        parallel::update(x, |i, x| *x += step * t_hat[i] + omega * s_hat[i]);
        parallel::update(&mut r, |i, r| *r -= omega * hs[i]);
        residual = stop.measure(&r);
        if let Some(outcome) = verdict(iteration, start, residual, stop) {
            return outcome;
        }
        if omega == 0.0 {
            return Outcome { end: End::Breakdown, iterations: iteration, residual };
        }
    }
    unreachable!("the verdict ends the loop")
}

fn broken(value: f64) -> End {
    if value.is_finite() { End::Breakdown } else { End::NotFinite }
}
