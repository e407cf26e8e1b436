//! Options of single integrators.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
