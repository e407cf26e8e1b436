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
mod solver;

pub use cloth::*;
pub use fabric::*;
pub use picture::*;
pub use pin::*;
pub use solver::*;

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
    /// Equal time steps per frame. Default: as many as keep a step at or below 1/120 s, and below 1/240 s for the
    /// integrators that linearise once.
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
    /// "rosenbrock" and "hybrid": error that a step may have by its own estimate, root mean square over particles [m]. Default 1e-4.
    pub rosenbrock_tolerance: f64,
    /// preconditioner = "accuracy": which part of the cloth is wanted more accurately (V00-10).
    pub accuracy: Option<Accuracy>,
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
            rosenbrock_tolerance: 1e-4,
            accuracy: None,
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
    /// steps; a run says so.
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
