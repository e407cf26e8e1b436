//! Forces within the sheet, from the curves of a fabric.

use super::{Curve, Fabric, Pull};

/// Answers strain with stress for a fabric whose moduli change with strain.
///
/// Measured curves are those of strips that may narrow freely. Here they become one energy of all strains:
/// W = ½ εᵀ E ε + Σ ∫ (Tᵢ − Yᵢ ε) dε, where E is the orthotropic matrix of plane stress (B14-2) with the
/// lowest modulus Yᵢ of each curve, and the rest of each curve acts along its own direction alone. So the
/// tangent E + diag(tᵢ − Yᵢ) is positive for every strain. For curves that start with their lowest modulus
/// (crimp first, then yarn) and ν ≥ 0, a pulled strip follows its curve exactly and narrows by ν at every
/// load, because across it is compressed, where curves are straight. Linear curves give E itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InPlane {
    /// E₁₁, E₂₂, E₁₂, E₃₃ from the lowest moduli [N/m].
    coupled: [f64; 4],
    curves: [Curve; 3],
}

/// What a sheet answers to a strain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reply {
    /// Energy per rest area [J/m²].
    pub energy: f64,
    /// Stress (warp, weft, shear) [N/m], the derivative of the energy.
    pub stress: [f64; 3],
    /// Entries (E₁₁, E₂₂, E₁₂, E₃₃) [N/m] of its derivative; E₁₃ = E₂₃ = 0. Never negative definite.
    pub tangent: [f64; 4],
}

impl InPlane {
    /// The in-plane law of a fabric.
    pub fn new(fabric: &Fabric) -> InPlane {
        let [warp, weft] = [fabric.stretch[0].lowest(), fabric.stretch[1].lowest()];
        let weft_poisson = fabric.poisson * weft / warp;
        let plane = 1.0 / (1.0 - fabric.poisson * weft_poisson);
        let shear = fabric.shear.lowest();
        InPlane {
            coupled: [warp * plane, weft * plane, weft_poisson * warp * plane, shear],
            curves: [fabric.stretch[0], fabric.stretch[1], fabric.shear],
        }
    }

    /// The answer to a strain (along warp, along weft, engineering shear), in whichever measure the model uses.
    pub fn reply(&self, strain: [f64; 3]) -> Reply {
        let [e11, e22, e12, e33] = self.coupled;
        let stress = [e11 * strain[0] + e12 * strain[1], e12 * strain[0] + e22 * strain[1], e33 * strain[2]];
        let energy = 0.5 * (strain[0] * stress[0] + strain[1] * stress[1] + strain[2] * stress[2]);
        let mut reply = Reply { energy, stress, tangent: self.coupled };
        for (r, slot) in [(0, 0), (1, 1), (2, 3)] {
            if !self.curves[r].is_linear() {
                let own = self.own(r, strain[r]);
                reply.energy += own.energy;
                reply.stress[r] += own.tension;
                reply.tangent[slot] += own.tangent;
            }
        }
        reply
    }

    /// Stress at `strain` [N/m], carried on along the tangent by `growth`.
    pub fn ahead(&self, strain: [f64; 3], growth: [f64; 3]) -> [f64; 3] {
        let [e11, e22, e12, e33] = self.coupled;
        let sum = [0, 1, 2].map(|r| strain[r] + growth[r]);
        let mut stress = [e11 * sum[0] + e12 * sum[1], e12 * sum[0] + e22 * sum[1], e33 * sum[2]];
        for r in 0..3 {
            if !self.curves[r].is_linear() {
                let pull = self.own(r, strain[r]);
                stress[r] += pull.tension + pull.tangent * growth[r];
            }
        }
        stress
    }

    /// What the curve of a direction carries beyond its lowest modulus.
    fn own(&self, r: usize, strain: f64) -> Pull {
        let curve = &self.curves[r];
        // Shear has no preferred sign.
        let side = if r == 2 { 1f64.copysign(strain) } else { 1.0 };
        let pull = curve.beyond(side * strain);
        let above = curve.initial() - curve.lowest();
        Pull {
            energy: pull.energy + 0.5 * above * strain * strain,
            tension: side * pull.tension + above * strain,
            tangent: pull.tangent + above,
        }
    }

    /// The tangent without strain [N/m].
    pub fn at_rest(&self) -> [f64; 4] {
        self.reply([0.0; 3]).tangent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stiffening() -> Fabric {
        Fabric {
            stretch: [Curve::bilinear(400.0, 0.02, 9000.0), Curve::bilinear(150.0, 0.06, 5000.0)],
            shear: Curve::through(&[[0.2, 8.0], [0.5, 50.0], [0.7, 300.0]]).expect("a curve"),
            poisson: 0.3,
            ..Fabric::default()
        }
    }

    fn softening() -> Fabric {
        Fabric {
            stretch: [Curve::bilinear(2000.0, 0.01, 60.0), Curve::bilinear(900.0, 0.02, 100.0)],
            shear: Curve::bilinear(80.0, 0.1, 20.0),
            poisson: -0.4,
            ..Fabric::default()
        }
    }

    fn strains() -> impl Iterator<Item = [f64; 3]> {
        let steps = |n: i32, by: f64| (-n..=n).map(move |k| f64::from(k) * by + 1e-7);
        steps(6, 0.013)
            .flat_map(move |a| steps(6, 0.017).flat_map(move |b| steps(3, 0.21).map(move |c| [a, b, c])))
    }

    #[test]
    fn linear_curves_give_the_matrix_bit_for_bit() {
        let fabric = Fabric { stretch: [930.0.into(), 410.0.into()], poisson: 0.27, ..Fabric::default() };
        let [warp, weft] = [930.0, 410.0];
        let weft_poisson = 0.27 * weft / warp;
        let plane = 1.0 / (1.0 - 0.27 * weft_poisson);
        let [e11, e22, e12, e33] = [warp * plane, weft * plane, weft_poisson * warp * plane, 60.0];
        assert_eq!(fabric.stiffness(), [e11, e22, e12, e33]);
        let law = fabric.in_plane();
        for s in strains() {
            let stress = [e11 * s[0] + e12 * s[1], e12 * s[0] + e22 * s[1], e33 * s[2]];
            let energy = 0.5 * (s[0] * stress[0] + s[1] * stress[1] + s[2] * stress[2]);
            assert_eq!(law.reply(s), Reply { energy, stress, tangent: [e11, e22, e12, e33] });
        }
    }

    #[test]
    fn stress_is_the_gradient_of_energy_and_tangent_its_hessian() {
        for fabric in [stiffening(), softening()] {
            let law = fabric.in_plane();
            for s in strains() {
                let reply = law.reply(s);
                let [t11, t22, t12, t33] = reply.tangent;
                let rows = [[t11, t12, 0.0], [t12, t22, 0.0], [0.0, 0.0, t33]];
                for k in 0..3 {
                    let d = 1e-6;
                    let shifted = |by: f64| {
                        let mut at = s;
                        at[k] += by;
                        law.reply(at)
                    };
                    let (low, high) = (shifted(-d), shifted(d));
                    let slope = (high.energy - low.energy) / (2.0 * d);
                    assert!((slope - reply.stress[k]).abs() < 1e-5 * (1.0 + slope.abs()), "{s:?} {slope}");
                    for r in 0..3 {
                        let slope = (high.stress[r] - low.stress[r]) / (2.0 * d);
                        assert!((slope - rows[r][k]).abs() < 1.0, "{s:?} {r}{k} {slope} {}", rows[r][k]);
                    }
                }
            }
        }
    }

    #[test]
    fn tangents_are_positive_at_every_strain() {
        for fabric in [stiffening(), softening()] {
            let law = fabric.in_plane();
            for s in strains() {
                let [t11, t22, t12, t33] = law.reply(s).tangent;
                assert!(t11 > 0.0 && t33 > 0.0 && t11 * t22 > t12 * t12, "{s:?}");
            }
        }
    }

    #[test]
    fn a_pulled_strip_follows_its_curve_and_narrows_by_poisson() {
        let fabric = stiffening();
        let law = fabric.in_plane();
        for strain in [0.004, 0.02, 0.05, 0.12] {
            let along = law.reply([strain, -0.3 * strain, 0.0]).stress;
            let want = fabric.stretch[0].at(strain).tension;
            assert!(
                (along[0] - want).abs() < 1e-9 * want && along[1].abs() < 1e-12 * want,
                "{along:?} {want}"
            );
            // Reciprocity: the weft's ratio is the warp's times the initial moduli.
            let weft = 0.3 * 150.0 / 400.0;
            let across = law.reply([-weft * strain, strain, 0.0]).stress;
            let want = fabric.stretch[1].at(strain).tension;
            assert!((across[1] - want).abs() < 1e-9 * want && across[0].abs() < 1e-12 * want, "{across:?}");
        }
    }

    #[test]
    fn ahead_is_the_tangent() {
        let law = stiffening().in_plane();
        let growth = [0.004, -0.003, 0.02];
        for s in strains() {
            let Reply { stress, tangent: [t11, t22, t12, t33], .. } = law.reply(s);
            let want = [
                stress[0] + t11 * growth[0] + t12 * growth[1],
                stress[1] + t12 * growth[0] + t22 * growth[1],
                stress[2] + t33 * growth[2],
            ];
            let got = law.ahead(s, growth);
            for r in 0..3 {
                assert!((got[r] - want[r]).abs() < 1e-9 * (1.0 + want[r].abs()), "{s:?} {got:?} {want:?}");
            }
        }
    }

    #[test]
    fn shear_answers_both_ways_alike() {
        let law = stiffening().in_plane();
        for shear in [0.05, 0.2, 0.4, 0.9] {
            let (left, right) = (law.reply([0.0, 0.0, -shear]), law.reply([0.0, 0.0, shear]));
            assert_eq!((left.energy, left.stress[2]), (right.energy, -right.stress[2]));
        }
    }
}
