//! How steps are taken and systems solved.

use super::correct::Corrections;
use super::forms::Form;
use super::jacobi::K02Settings;
use super::krylov::Method;
use super::named_choices;
use super::operator::OperatorKind;
use super::precondition::{Accuracy, PreconditionerKind};

named_choices! {
    /// How time is stepped.
    Integrator {
        /// Second-order backward differences, solved to convergence: the default.
        Bdf2 = "bdf2",
        /// Trapezoid, then backward differences: two stages, a third of the error, for references.
        TrBdf2 = "tr-bdf2",
        /// Implicit Euler, solved to convergence.
        ImplicitEuler = "implicit-euler",
        /// Implicit Euler with one linearisation (V00-2).
        LinearEuler = "linear-euler",
        /// V00's λ-midpoint with one linearisation (V00-15).
        LambdaMidpoint = "lambda-midpoint",
        /// No motion: towards equilibrium (V00-14).
        QuasiStatic = "quasi-static",
        /// K02's implicit Euler on springs by sweeps of block Jacobi (K02-3).
        K02 = "k02",
        /// Implicit Euler with a constant isotropic matrix whose inverse is computed once (V00-12).
        Precomputed = "precomputed",
        /// Linearly implicit Runge–Kutta of third order with error control (V00-16).
        Rosenbrock = "rosenbrock",
        /// The same with the membrane implicit and all else explicit (V00-23).
        Hybrid = "hybrid",
        /// Velocity Verlet, explicit: B14 eq. 9–10 with the half kick that print left out (B14-8).
        Verlet = "verlet",
        /// Trapezoid with a predicted end, explicit: the textbook's modified Euler; grows without damping (B14-8).
        Heun = "heun",
        /// Symplectic Euler, explicit: B14 eq. 9–10 without the ½ (B14-8).
        Symplectic = "symplectic",
        /// B14 eq. 9–10 as printed, explicit: forces count half (E24).
        Literal = "literal",
        /// Midpoint, explicit (V97-10).
        Midpoint = "midpoint",
        /// Runge–Kutta's classical method, explicit (V97-7).
        Rk4 = "rk4",
    }
}

impl Integrator {
    /// Whether forces are linearised once per step and the rest is left over.
    pub fn linearises_once(self) -> bool {
        matches!(self, Integrator::LinearEuler | Integrator::LambdaMidpoint)
            || matches!(self, Integrator::K02 | Integrator::Precomputed)
    }
}

named_choices! {
    /// Right-hand side of the λ-midpoint step (V00 eq. 15).
    LambdaRhs {
        /// With the missing term restored (E2).
        Corrected = "corrected",
        /// As printed: damps like implicit Euler whatever λ is.
        Printed = "printed",
    }
}

/// How steps are taken and their systems posed and solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverSettings {
    /// How time is stepped.
    pub integrator: Integrator,
    /// λ of the λ-midpoint step, 0 (implicit Euler) to 1 (midpoint).
    pub lambda: f64,
    /// Its right-hand side.
    pub lambda_rhs: LambdaRhs,
    /// When Newton's method is content.
    pub newton: NewtonSettings,
    /// When draping is content.
    pub drape: DrapeSettings,
    /// K02's choices.
    pub k02: K02Settings,
    /// Iterations of conjugate gradients for each column of a precomputed inverse (V00-13); 0 for the whole inverse.
    pub inverse_iterations: usize,
    /// Error that a Rosenbrock or hybrid step may have by its own estimate: root mean square over particles [m].
    pub rosenbrock_tolerance: f64,
    /// Where the linear solve is wanted more accurately.
    pub accuracy: Accuracy,
    /// Explicit steps: largest error of one, estimated by doubling [m]; those above are redone shorter. Infinity takes
    /// steps as they come.
    pub error_limit: f64,
    /// What is done to a step's result before it is accepted.
    pub corrections: Corrections,
    /// Which linear system.
    pub form: Form,
    /// Which Krylov method.
    pub method: Method,
    /// How the operator is applied.
    pub operator: OperatorKind,
    /// Which preconditioner.
    pub preconditioner: PreconditionerKind,
    /// Largest unbalanced force a linear solve may leave, over the mean weight of a particle at 9.81 m/s² (G-4).
    pub tolerance: f64,
    /// Most iterations of one linear solve. Generous: reaching it is counted and shown.
    pub max_iterations: usize,
}

/// When Newton's method is content: both limits hold after a full step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonSettings {
    /// Largest distance of a particle from the solution [m], by the rate at which steps shrink; half a percent of
    /// the mean edge if that is less.
    pub step: f64,
    /// Largest root mean square of what is left unbalanced, as an acceleration [m/s²].
    pub residual: f64,
    /// Solves before a step is redone as two careful halves.
    pub max_solves: usize,
}

/// When quasi-static draping is content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrapeSettings {
    /// The h of V00 eq. 12 [s]: how far one iteration may go. Infinity is Newton's method.
    pub step: f64,
    /// Largest force left on a particle [N].
    pub residual: f64,
    /// Iterations per substep.
    pub max_solves: usize,
}

impl Default for SolverSettings {
    fn default() -> Self {
        SolverSettings {
            integrator: Integrator::Bdf2,
            lambda: 0.8,
            lambda_rhs: LambdaRhs::Corrected,
            newton: NewtonSettings { step: 1e-4, residual: 0.1, max_solves: 30 },
            drape: DrapeSettings { step: 1.0, residual: 1e-6, max_solves: 200 },
            k02: K02Settings::default(),
            inverse_iterations: 0,
            rosenbrock_tolerance: 1e-5,
            accuracy: Accuracy::default(),
            error_limit: f64::INFINITY,
            corrections: Corrections::default(),
            form: Form::Mass,
            method: Method::Cg,
            operator: OperatorKind::BlockSparse,
            preconditioner: PreconditionerKind::Cholesky,
            tolerance: 1e-3,
            max_iterations: 20_000,
        }
    }
}

impl SolverSettings {
    /// Whether the method suits the form: conjugate gradients need a symmetric one.
    pub fn is_sound(&self) -> bool {
        !(self.form == Form::Unsymmetric && self.method == Method::Cg)
    }
}
