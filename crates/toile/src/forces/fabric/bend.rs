//! Bending stiffness of an orthotropic sheet from strips cut along warp, weft and bias.

/// Bending stiffness per width by direction [N·m], and how bending along one direction bends the other.
///
/// A sheet bent to one curvature at the angle θ from the warp has the stiffness
/// D(θ) = D₁₁ cos⁴θ + D₂₂ sin⁴θ + 2 (D₁₂ + 2 D₆₆) sin²θ cos²θ, which for θ = 45° is
/// (D₁₁ + D₂₂ + 2 D₁₂ + 4 D₆₆) / 4: a bias strip gives the twist D₆₆ = D_bias − (D₁₁ + D₂₂ + 2 D₁₂) / 4.
/// Energy is positive for D₁₂² ≤ D₁₁ D₂₂ and D₆₆ ≥ 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// Stiffness of a strip along the warp [N·m].
    pub warp: f64,
    /// Stiffness of a strip along the weft [N·m].
    pub weft: f64,
    /// Stiffness of a strip at 45° [N·m].
    pub bias: f64,
    /// D₁₂ / √(D₁₁ D₂₂), between −1 and 1. Yarns that slide on one another have about 0.
    pub poisson: f64,
}

impl Bend {
    /// From strips along warp and weft [N·m] alone. The bias is then what it is for a sheet that some change of
    /// scale makes isotropic (Huber): D₁₂ + 2 D₆₆ = √(D₁₁ D₂₂).
    pub fn of(warp: f64, weft: f64) -> Bend {
        let root = 0.5 * (warp.sqrt() + weft.sqrt());
        let bias = if warp == weft { warp } else { root * root };
        Bend { warp, weft, bias, poisson: 0.0 }
    }

    /// From three measured strips [N·m]. Where the bias is softer than no twist at all would make it, as measured
    /// triples can be, it is raised to that; the second value says by how much [N·m].
    pub fn fitted(warp: f64, weft: f64, bias: f64, poisson: f64) -> (Bend, f64) {
        let mut bend = Bend { warp, weft, bias, poisson };
        bend.bias = bend.bias.max(bend.least_bias());
        (bend, bend.bias - bias)
    }

    /// (D₁₁ warp, D₂₂ weft, D₁₂ coupling, D₆₆ twist) [N·m].
    pub fn stiffness(&self) -> [f64; 4] {
        let twist = self.bias - self.least_bias();
        [self.warp, self.weft, self.coupling(), twist.max(0.0)]
    }

    /// Stiffness [N·m] of a strip at `angle` [rad] from the warp.
    pub fn along(&self, angle: f64) -> f64 {
        let [warp, weft, coupling, twist] = self.stiffness();
        let (s, c) = (libm::sin(angle), libm::cos(angle));
        let (s, c) = (s * s, c * c);
        warp * c * c + weft * s * s + 2.0 * (coupling + 2.0 * twist) * s * c
    }

    /// The mean over all directions [N·m], for models without directions: (warp + weft)/4 + bias/2.
    pub fn mean(&self) -> f64 {
        0.25 * (self.warp + self.weft) + 0.5 * self.bias
    }

    /// Stiffness at 45° of a sheet whose twist costs nothing [N·m].
    pub fn least_bias(&self) -> f64 {
        0.25 * (self.warp + self.weft + 2.0 * self.coupling())
    }

    fn coupling(&self) -> f64 {
        self.poisson * (self.warp * self.weft).sqrt()
    }
}

impl From<f64> for Bend {
    /// The same stiffness [N·m] in every direction.
    fn from(stiffness: f64) -> Bend {
        Bend { warp: stiffness, weft: stiffness, bias: stiffness, poisson: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, TAU};

    #[test]
    fn one_number_is_the_same_in_every_direction() {
        for poisson in [-0.5, 0.0, 0.3, 1.0] {
            let bend = Bend { poisson, ..1e-5.into() };
            for n in 0..16 {
                let along = bend.along(f64::from(n) * 0.1);
                assert!((along - 1e-5).abs() < 1e-19, "{poisson} {along}");
            }
            assert_eq!(bend.mean(), 1e-5);
        }
        assert_eq!(Bend::of(1e-5, 1e-5), 1e-5.into());
        assert_eq!(Bend::from(1e-5).stiffness(), [1e-5, 1e-5, 0.0, 5e-6]);
    }

    #[test]
    fn strips_give_back_what_was_measured() {
        let bend = Bend { warp: 9e-6, weft: 4e-6, bias: 5e-6, poisson: 0.2 };
        let [warp, weft, coupling, twist] = bend.stiffness();
        assert!(
            (coupling - 1.2e-6).abs() < 1e-18 && (twist - (5e-6 - 0.25 * (13e-6 + 2.4e-6))).abs() < 1e-18
        );
        for (angle, want) in [(0.0, warp), (FRAC_PI_2, weft), (FRAC_PI_4, 5e-6), (3.0 * FRAC_PI_4, 5e-6)] {
            assert!((bend.along(angle) - want).abs() < 1e-18, "{angle}");
        }
        let mean = (0..360).map(|n| bend.along(TAU * f64::from(n) / 360.0)).sum::<f64>() / 360.0;
        assert!((bend.mean() - mean).abs() < 1e-18);
        assert!((Bend::of(9e-6, 4e-6).bias - 6.25e-6).abs() < 1e-18);
    }

    #[test]
    fn a_bias_too_soft_is_raised_to_no_twist() {
        let (bend, raised) = Bend::fitted(10e-6, 6e-6, 3e-6, 0.0);
        assert!((raised - 1e-6).abs() < 1e-18);
        assert_eq!(bend.stiffness()[3], 0.0);
        let (same, none) = Bend::fitted(10e-6, 6e-6, 5e-6, 0.0);
        assert_eq!((same.bias, none), (5e-6, 0.0));
    }
}
