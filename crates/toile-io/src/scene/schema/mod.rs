//! The scene file as it is written: one struct per table, one doc comment per field.
//!
//! These comments are the user's reference: they become the descriptions of the JSON schema that
//! editors read, so each says the unit in brackets and the default. Lengths are in the file's
//! `units` and vectors in its axes; every other quantity is SI. [`crate::scene::Scene`] is the same
//! content checked, defaulted and converted to metres, Y up.

/// Defines a choice written as text in the scene file.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$vdoc])* $variant),+ }
    };
}

mod cloth;
mod fabric;
mod picture;
mod pin;

pub use cloth::*;
pub use fabric::*;
pub use picture::*;
pub use pin::*;

use crate::axes::{Units, Up};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A toile scene: what is simulated, shown and written. Lengths are in `units`, vectors in the
/// file's own axes, every other quantity in SI units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneFile {
    /// Version of the scene format: 1.
    pub toile: u32,
    /// Name used in messages and output folders. Default: the name of the scene's folder or file.
    pub name: Option<String>,
    /// Unit of every length in this file: "m", "cm", "mm" or "inch". Required: guessing it is the
    /// most common way to be wrong by a factor of 100.
    pub units: Units,
    /// The axis that points up in this file and in its vectors: "y" or "z". Required.
    pub up: Up,
    /// Frames to simulate, both included: "1-250", "1001-1100", or a number of frames counted from 1.
    /// The first frame is the starting state. Default "1-250".
    #[serde(default)]
    pub frames: Frames,
    /// Frames per second [1/s]. Default 60. Give this or `frame_time`.
    pub fps: Option<f64>,
    /// Duration of one frame [s], for scenes defined by their step. Give this or `fps`.
    pub frame_time: Option<f64>,
    /// Acceleration of gravity [m/s²]: a number pulls down, a list of 3 is a vector in the file's axes. Default 9.81.
    #[serde(default)]
    pub gravity: Gravity,
    /// Seed of every random choice (irregular meshes, gusts). The same seed gives the same bits. Default 1.
    #[serde(default = "one")]
    pub seed: u64,
    /// How time is stepped and the equations are solved.
    #[serde(default)]
    pub solver: Solver,
    /// Pieces of cloth, at least one.
    #[serde(default)]
    pub cloth: Vec<ClothFile>,
    /// Particles held or moved by the scene.
    #[serde(default)]
    pub pin: Vec<PinFile>,
    /// Moving air. Default: none.
    pub wind: Option<WindFile>,
    /// Resistance of the air.
    #[serde(default)]
    pub air: Air,
    /// Bodies around the cloth: shown in pictures and used by `toile check`. Cloth does not collide with them yet.
    #[serde(default)]
    pub body: Vec<BodyFile>,
    /// Pictures and animations.
    #[serde(default)]
    pub render: RenderFile,
    /// What a run writes.
    #[serde(default)]
    pub output: Output,
}

fn one() -> u64 {
    1
}

fn unit() -> f64 {
    1.0
}

/// A number of frames counted from 1, or "first-last" with both included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Frames {
    /// A number of frames: 250 means 1-250.
    Count(u32),
    /// First and last frame, both included: "1001-1100".
    Range(String),
}

impl Default for Frames {
    fn default() -> Self {
        Frames::Range("1-250".into())
    }
}

/// A number pulling down along the up axis, or a vector in the file's axes [m/s²].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Gravity {
    /// Strength [m/s²], downwards along the file's up axis.
    Down(f64),
    /// Acceleration [m/s²] in the file's axes.
    Vector([f64; 3]),
}

impl Default for Gravity {
    fn default() -> Self {
        Gravity::Down(9.81)
    }
}

/// How time is stepped and the equations are solved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// Time integrator. Default "bdf2".
    pub integrator: Integrator,
    /// Equal time steps per frame. Default: as many as keep a step at or below 1/120 s, below 1/240 s for the
    /// integrators that linearise once, and below 1/2000 s for the explicit ones, which a run tells if they need more.
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
    }
}

/// Moving air. It pushes each face along its normal: force per area = (drag + ½·1.2 kg/m³·drag_coefficient·|w|) w,
/// where w is the normal part of the wind's velocity relative to the face.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindFile {
    /// Mean velocity of the air [m/s].
    pub velocity: [f64; 3],
    /// Linear normal drag [N·s/m³]. Default 1.
    #[serde(default = "unit")]
    pub drag: f64,
    /// Quadratic drag coefficient C_D [-]; a flat plate has about 1.2. Default 0.
    #[serde(default)]
    pub drag_coefficient: f64,
    /// Changes of speed and direction. Default: steady.
    pub gusts: Option<Gusts>,
}

/// Smooth random changes of the wind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gusts {
    /// Size of the velocity changes [m/s].
    pub amplitude: f64,
    /// Changes per second [Hz]. Default 0.5.
    #[serde(default = "half")]
    pub frequency: f64,
    /// Seed. Default: the scene's `seed`.
    pub seed: Option<u64>,
}

fn half() -> f64 {
    0.5
}

/// Resistance of the air to cloth that moves through it. With wind, relative to the wind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Air {
    /// Drag in every direction as a rate [1/s]: force = −drag × mass × velocity. Default 0.
    pub drag: f64,
    /// Drag along the normal of each face [N·s/m³]: force per area = −normal_drag × normal velocity. Default 0.
    pub normal_drag: f64,
}

/// What a run writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Output {
    /// Write velocities beside positions in every frame. Default false.
    pub velocities: bool,
    /// Frames between two checkpoints from which a run can resume; 0 writes none. Default 10.
    pub checkpoint_every: u32,
}

impl Default for Output {
    fn default() -> Self {
        Self { velocities: false, checkpoint_every: 10 }
    }
}
