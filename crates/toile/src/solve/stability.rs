//! The longest step of an explicit scheme: how fast the stiffest motion of an island swings and decays.

use super::bodies::Bodies;
use super::operator::{LinearOperator, MatrixFree};
use super::settings::Integrator;
use crate::interaction::{Interactions, Mix, Moment};
use crate::math::{DVec3, random, reduce};

/// Iterations of the power method, and the change at which it is content.
const ITERATIONS: usize = 300;
const CONTENT: f64 = 1e-4;

/// The fastest motion of an island.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fastest {
    /// Frequency ω [rad/s]: √ of the largest eigenvalue of M⁻¹V.
    pub frequency: f64,
    /// Rate of decay γ [1/s]: the largest eigenvalue of M⁻¹W.
    pub decay: f64,
}

/// The fastest motion at (x, v), by the tangents that the laws show.
pub fn fastest(bodies: Bodies, x: &[DVec3], v: &[DVec3]) -> Fastest {
    let stiffness = largest(bodies, x, v, Mix { stiffness: 1.0, damping: 0.0, lag: 0.0 });
    let damping = largest(bodies, x, v, Mix { stiffness: 0.0, damping: 1.0, lag: 0.0 });
    Fastest { frequency: stiffness.sqrt(), decay: damping }
}

/// The largest eigenvalue of M⁻¹(`mix` of V and W), by the power method with the Rayleigh quotient.
fn largest(bodies: Bodies, x: &[DVec3], v: &[DVec3], mix: Mix) -> f64 {
    let n = bodies.mass.len();
    let mut answers = vec![Interactions::default(); bodies.forces.len()];
    for ((force, memory), answer) in bodies.families().zip(&mut answers) {
        force.respond(Moment { x, v, memory }, mix, &[], answer);
    }
    let mut operator = MatrixFree::new(n, bodies.forces, &answers);
    let entry = |k: usize| random::signed(1, k as u64);
    let mut t: Vec<DVec3> =
        (0..n).map(|i| DVec3::new(entry(3 * i), entry(3 * i + 1), entry(3 * i + 2))).collect();
    bodies.mobility.project(&mut t);
    let mut image = vec![DVec3::ZERO; n];
    let mut value = 0.0;
    for _ in 0..ITERATIONS {
        let norm = reduce::sum(n, |i| bodies.mass[i] * t[i].length_squared()).sqrt();
        if !(norm > 0.0 && norm.is_finite()) {
            break;
        }
        t.iter_mut().for_each(|t| *t /= norm);
        operator.apply(&t, &mut image);
        let found = reduce::dot(&t, &image);
        bodies.mobility.apply(&image, &mut t);
        if (found - value).abs() <= CONTENT * found {
            value = found;
            break;
        }
        value = found;
    }
    value.max(0.0)
}

impl Integrator {
    /// The longest stable step [s] for a motion as fast as `fastest`; infinity for implicit schemes. Heun and
    /// midpoint grow at any step where nothing damps, by (ωh)⁴/8 per step; for them this is where that is a factor of e
    /// each second on top of what is damped.
    pub fn longest_step(self, fastest: Fastest) -> f64 {
        let Fastest { frequency, decay } = fastest;
        // x'' = −γ x' − ω² x with a kick, then a drift: 4 − 2γh − ω²h² > 0, γh < 2 (B14-8's table at γ = 0).
        let kicked = |square: f64, decay: f64| match square > 0.0 {
            true => ((decay * decay + 4.0 * square).sqrt() - decay) / square,
            false => 2.0 / decay,
        };
        // The largest root of λ² + γλ + ω² in size.
        let spread = (0.25 * decay * decay - frequency * frequency).max(0.0).sqrt();
        let root = frequency.max(0.5 * decay + spread);
        match self {
            Integrator::Verlet | Integrator::Symplectic => kicked(frequency * frequency, decay),
            // Half the force everywhere.
            Integrator::Literal => kicked(0.5 * frequency * frequency, 0.5 * decay),
            Integrator::Heun | Integrator::Midpoint => {
                let square = frequency * frequency;
                (2.0 / root).min(libm::cbrt(8.0 * (1.0 + 0.5 * decay) / (square * square)))
            }
            // On the imaginary axis 2√2, on the real one 2.785.
            Integrator::Rk4 => 2.785 / root,
            _ => f64::INFINITY,
        }
    }
}
