//! How time is stepped: the solver, and options of single integrators.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How time is stepped and the equations are solved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// Time integrator. Default "bdf2".
    pub integrator: Integrator,
    /// Equal time steps per frame. Default: as many as keep a step at or below 1/120 s, below 1/240 s with
    /// contact and for the integrators that linearise once, and below 1/2000 s for the explicit ones, which a run tells
    /// if they need more.
    pub substeps: Option<u32>,
    /// λ of "lambda-midpoint" [-]: 0 is implicit Euler, 1 is midpoint; useful from 0.5 to 0.9. Default 0.8.
    pub lambda: f64,
    /// Right-hand side of "lambda-midpoint". Default "corrected".
    pub lambda_rhs: LambdaRhs,
    /// Newton's method stops when no particle has farther to go than this [m], by the rate at which its steps
    /// shrink; half a percent of the mean edge if that is less. Default 1e-4.
    pub newton_step: f64,
    /// Linear solves inside Newton's method leave at most this unbalanced, as an acceleration of a mean
    /// particle [m/s²]. Default 0.1.
    pub newton_residual: f64,
    /// Linear solves in one step before it is redone as two careful halves. 2 or 3 is an interactive setting.
    /// Default 30.
    pub max_solves: u32,
    /// "quasi-static": how far an iteration may go, as a time [s]; large is Newton's method. Default 1.
    pub drape_step: f64,
    /// "quasi-static": largest force left on a particle [N]. Default 1e-6.
    pub drape_residual: f64,
    /// "quasi-static": iterations per frame step. Default 200.
    pub drape_solves: u32,
    /// Options of the "k02" integrator.
    pub k02: K02,
    /// "precomputed": iterations of conjugate gradients for each column of the inverse, which reaches as many rings far;
    /// 0 computes the whole inverse, for up to 5000 vertices. Default 0.
    pub inverse_iterations: u32,
    /// "rosenbrock" and "hybrid": error that a step may have by its own estimate, root mean square over particles [m].
    /// With much more, errors shake stiff cloth and steps become shorter, not longer. Default 1e-5.
    pub rosenbrock_tolerance: f64,
    /// preconditioner = "accuracy": which part of the cloth is wanted more accurately (V00-10).
    pub accuracy: Option<Accuracy>,
    /// Explicit integrators: largest error of a step [m], by comparing it with two halves; steps above it are redone
    /// shorter, steps far below it get longer (V97 §2.3). Default: steps as they come.
    pub error_limit: Option<f64>,
    /// What is done to a step's result before it is accepted. Default: nothing.
    pub correct: Correct,
    /// Which of three equivalent linear systems is solved. Default "mass".
    pub form: Form,
    /// Iterative method of the linear solve. Default "cg".
    pub method: Method,
    /// How the matrix is applied. Default "block-sparse".
    pub operator: Operator,
    /// Preconditioner of the linear solve. Default "cholesky".
    pub preconditioner: Preconditioner,
    /// Integrators that linearise once: a linear solve stops when the largest unbalanced force falls below this
    /// fraction of the mean particle weight [-]. Default 1e-3.
    pub tolerance: f64,
    /// Most iterations of one linear solve. Reaching it is counted and shown. Default 20000.
    pub max_iterations: Option<u32>,
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            integrator: Integrator::default(),
            substeps: None,
            lambda: 0.8,
            lambda_rhs: LambdaRhs::default(),
            newton_step: 1e-4,
            newton_residual: 0.1,
            max_solves: 30,
            drape_step: 1.0,
            drape_residual: 1e-6,
            drape_solves: 200,
            k02: K02::default(),
            inverse_iterations: 0,
            rosenbrock_tolerance: 1e-5,
            accuracy: None,
            error_limit: None,
            correct: Correct::default(),
            form: Form::default(),
            method: Method::default(),
            operator: Operator::default(),
            preconditioner: Preconditioner::default(),
            tolerance: 1e-3,
            max_iterations: None,
        }
    }
}

choice! {
    /// Time integrator. The first three solve each step to convergence: the same fall at every stiffness. The
    /// next two linearise once per step, as the papers do, and fall like honey when stiff cloth meets large
    /// steps; a run says so. The last six are explicit: cheap steps that must be short.
    Integrator {
        /// Second-order backward differences: little damping, any stiffness.
        #[default]
        Bdf2,
        /// Trapezoid and backward differences: twice the work, a third of the error; for references.
        TrBdf2,
        /// Backward Euler: damps motion in proportion to the step.
        ImplicitEuler,
        /// Backward Euler with one linearisation per step (V00 eq. 1–3).
        LinearEuler,
        /// V00's λ-midpoint with one linearisation per step (V00 eq. 13–15).
        LambdaMidpoint,
        /// No motion: each frame goes on towards equilibrium (V00 eq. 11–12).
        QuasiStatic,
        /// Backward Euler on springs by a few sweeps of block Jacobi (K02): work in proportion to the mesh, stable and
        /// sluggish. Needs model = "springs" and bending = "none".
        K02,
        /// Backward Euler with derivatives alike in all directions, whose inverse is computed once (V00-12): fast steps
        /// for small cloth, over-damped. Needs model = "springs" and bending = "none" or "recon".
        Precomputed,
        /// Linearly implicit Runge–Kutta of third order that chooses its own steps by `rosenbrock_tolerance` (V00-16).
        Rosenbrock,
        /// The same with the membrane implicit; bending, drag and gravity explicit at third order (V00-23): stiff bending
        /// makes its steps short.
        Hybrid,
        /// Explicit, second order: velocity Verlet, which B14 eq. 9–10 are the first two lines of.
        Verlet,
        /// Explicit, second order: the textbook's modified Euler. Grows slowly where nothing damps.
        Heun,
        /// Explicit, first order: B14 eq. 9–10 without the factor ½.
        Symplectic,
        /// Explicit: B14 eq. 9–10 as printed. Forces count half: things fall at g/2.
        Literal,
        /// Explicit, second order: midpoint. Grows slowly where nothing damps (V97 §2.3, its predecessor).
        Midpoint,
        /// Explicit, fourth order: the classical Runge–Kutta method (V97 §2.3).
        Rk4,
    }
}

impl Integrator {
    /// Whether steps solve nothing and have a longest stable length.
    pub fn is_explicit(self) -> bool {
        use Integrator::*;
        matches!(self, Verlet | Heun | Symplectic | Literal | Midpoint | Rk4)
    }
}

/// What is done to a step's result before it is accepted, in the order of these fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Correct {
    /// Bring each edge to its rest length, then to rest, as far as the error of the step allows (V97 §2.3). Needs an
    /// explicit integrator, whose steps it makes two and a half times as dear. Default false.
    pub kinematic: bool,
    /// Shorten the way of particles that move too far in a step (B14 §4). Default "off".
    pub position: PositionCorrection,
    /// The way above which that is done [m]. Default 0.01.
    pub threshold: f64,
    /// Most halvings of the way. Default 10.
    pub passes: u32,
    /// Shorten edges that are too long. Default "off".
    pub strain: StrainLimit,
    /// Strain above which that is done [-]: 0.1 is 10 %. Default 0.1.
    pub strain_limit: f64,
    /// Damp velocities along edges directly, stable at any step: time in which they fall to 1/e [s] (V97 §3.2). Default:
    /// not at all.
    pub damping_time: Option<f64>,
}

impl Default for Correct {
    fn default() -> Self {
        Self {
            kinematic: false,
            position: PositionCorrection::default(),
            threshold: 0.01,
            passes: 10,
            strain: StrainLimit::default(),
            strain_limit: 0.1,
            damping_time: None,
        }
    }
}

choice! {
    /// Which reading of B14's position correction.
    PositionCorrection {
        /// None.
        #[default]
        Off,
        /// As printed: the velocity is corrected only where the last halving still acted.
        Paper,
        /// The velocity is that of the shortened way.
        Fixed,
        /// The same, on the way relative to the neighbours, so that free fall is not slowed.
        Relative,
    }
}

choice! {
    /// What is done about edges that are too long.
    StrainLimit {
        /// Nothing.
        #[default]
        Off,
        /// Each is shortened once, in turn (Provot); later ones may lengthen it again.
        Provot,
        /// Again and again until none is too long.
        Strict,
    }
}

choice! {
    /// Right-hand side of the λ-midpoint step (V00 eq. 15).
    LambdaRhs {
        /// With the term that is missing in print.
        #[default]
        Corrected,
        /// As printed: damps like implicit Euler at every λ, and can blow up above 0.9.
        Printed,
    }
}

choice! {
    /// The linear system of an implicit step (V00 eq. 4–7). All three have the same solution.
    Form {
        /// M − h C − h² K: symmetric, held particles are filtered (V00 eq. 7).
        #[default]
        Mass,
        /// L − h L C L − h² L K L: symmetric, constraints live in the inverse mass (V00 eq. 5–6).
        Symmetric,
        /// I − h L C − h² L K: needs "bicg" or "bicgstab" (V00 eq. 4).
        Unsymmetric,
    }
}

choice! {
    /// Iterative method.
    Method {
        /// Conjugate gradients; needs a symmetric form.
        #[default]
        Cg,
        /// Biconjugate gradients, as the paper used for the unsymmetric form.
        Bicg,
        /// Stabilised biconjugate gradients.
        Bicgstab,
    }
}

choice! {
    /// How the matrix of the linear system is applied.
    Operator {
        /// Assembled once per step into 3×3 blocks.
        #[default]
        BlockSparse,
        /// Summed over the interactions, never assembled.
        MatrixFree,
    }
}

choice! {
    /// Preconditioner of the linear solve.
    Preconditioner {
        /// Cholesky factors of the whole system: a handful of iterations at any stiffness.
        #[default]
        Cholesky,
        /// Inverse of each particle's own 3×3 block: light, but iterations grow with stiffness and size.
        BlockJacobi,
        /// No preconditioner.
        None,
        /// The accuracy wanted of each particle, see `accuracy`: a solve that stops early errs less there
        /// than elsewhere.
        Accuracy,
    }
}

/// Options of the "k02" integrator (Kang & Cho 2002).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct K02 {
    /// Sweeps of block Jacobi per step, K [-]. Default 1, as in the paper.
    pub iterations: u32,
    /// Which K is allowed. Default "odd".
    pub parity: K02Parity,
    /// Derivative of the spring force that sweeps see. Default "safe".
    pub jacobian: K02Jacobian,
    /// Share of the isotropic derivative in jacobian = "blend", from 0 to 1 [-]. Default 0.1.
    pub blend: f64,
    /// What damping resists. Default "none".
    pub damping: K02Damping,
    /// How damping enters the step. Default "consistent".
    pub damping_form: K02DampingForm,
    /// Damping C_d [N·s/m], of each particle in "model-a" and of each spring in "model-b". Default 0.
    pub coefficient: f64,
}

impl Default for K02 {
    fn default() -> Self {
        Self {
            iterations: 1,
            parity: K02Parity::default(),
            jacobian: K02Jacobian::default(),
            blend: 0.1,
            damping: K02Damping::default(),
            damping_form: K02DampingForm::default(),
            coefficient: 0.0,
        }
    }
}

/// Part of the cloth wanted more accurately: particles that start inside a box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accuracy {
    /// One corner of the box, in the scene's units and axes.
    pub min: [f64; 3],
    /// The opposite corner.
    pub max: [f64; 3],
    /// How many times more accurately [-]. Default 10.
    #[serde(default = "ten")]
    pub weight: f64,
}

fn ten() -> f64 {
    10.0
}

choice! {
    /// Which numbers of sweeps are allowed.
    K02Parity {
        /// Even numbers are rounded up: with them a step can overshoot, up to twice.
        #[default]
        Odd,
        /// Any, to see what even numbers do.
        Free,
    }
}

choice! {
    /// Derivative of the spring force that sweeps see. The force is the same for all.
    K02Jacobian {
        /// Exact in tension, without the part that turns negative in compression: stable undamped.
        #[default]
        Safe,
        /// Along the spring only, as printed (K02 eq. 11): needs damping at large steps.
        Rank1,
        /// Exact (K02 eq. 10): can lose positivity in compression.
        Exact,
        /// `blend` between along the spring only and alike in all directions.
        Blend,
        /// Alike in all directions, as methods before K02: over-damped.
        Scalar,
    }
}

choice! {
    /// What damping resists.
    K02Damping {
        /// Nothing.
        #[default]
        None,
        /// Motion of each particle (K02 eq. 21–23).
        ModelA,
        /// Motion of particles joined by a spring relative to each other (K02 eq. 24–25).
        ModelB,
    }
}

choice! {
    /// How damping enters the step.
    K02DampingForm {
        /// As a force: a falling cloth has a terminal velocity.
        #[default]
        Consistent,
        /// In the matrix only, as printed: it acts as inertia.
        Paper,
    }
}
