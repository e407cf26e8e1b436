//! What resists bending: a symmetric matrix from curvature to moment, in the directions of the grain.

use std::fmt;

/// Bending stiffness [N·m] on curvatures (κ_uu, κ_vv, 2κ_uv): ½ κᵀDκ is the energy per area [J/m²] and
/// D = [[warp, coupling, 0], [coupling, weft, 0], [0, 0, twist]].
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Rigidity {
    /// D₁ [N·m]: moment per width along the warp that holds unit curvature along the warp.
    pub warp: f64,
    /// D₂ [N·m]: the same along the weft.
    pub weft: f64,
    /// D₁₂ [N·m]: how much curvature along one asks for moment along the other.
    pub coupling: f64,
    /// D₆₆ [N·m]: resistance to twist.
    pub twist: f64,
}

impl Rigidity {
    /// The same stiffness `d` [N·m] in every direction, Poisson's ratio `nu` (−1 to 1).
    pub fn isotropic(d: f64, nu: f64) -> Rigidity {
        Rigidity { warp: d, weft: d, coupling: nu * d, twist: 0.5 * (1.0 - nu) * d }
    }

    /// Refuses what would release energy when bent: D₁, D₂, D₆₆ ≥ 0 and D₁₂² ≤ D₁D₂.
    pub fn check(&self) -> Result<(), RigidityError> {
        let bound = (self.warp * self.weft).sqrt();
        for (name, value, least, most) in [
            ("warp", self.warp, 0.0, f64::MAX),
            ("weft", self.weft, 0.0, f64::MAX),
            ("coupling", self.coupling, -bound, bound),
            ("twist", self.twist, 0.0, f64::MAX),
        ] {
            if !(value >= least && value <= most) {
                return Err(RigidityError { name, value, least, most });
            }
        }
        Ok(())
    }

    /// Stiffness [N·m] of cylindrical bending at `angle` [rad] from the warp:
    /// D₁c⁴ + D₂s⁴ + (2D₁₂ + 4D₆₆)c²s². What a wide cantilever cut in that direction measures.
    pub fn along(&self, angle: f64) -> f64 {
        let (s, c) = libm::sincos(angle);
        let (s2, c2) = (s * s, c * c);
        self.warp * c2 * c2 + self.weft * s2 * s2 + (2.0 * self.coupling + 4.0 * self.twist) * c2 * s2
    }

    /// Upper triangle F of D = FᵀF, as (F₁₁, F₁₂, F₂₂, F₃₃) [√(N·m)].
    pub(super) fn root(&self) -> [f64; 4] {
        let first = self.warp.sqrt();
        let cross = if first > 0.0 { self.coupling / first } else { 0.0 };
        [first, cross, (self.weft - cross * cross).max(0.0).sqrt(), self.twist.sqrt()]
    }
}

/// A stiffness no sheet can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidityError {
    /// Which one.
    pub name: &'static str,
    /// What it is [N·m].
    pub value: f64,
    /// The least it can be beside the others [N·m].
    pub least: f64,
    /// The most it can be beside the others [N·m].
    pub most: f64,
}

impl fmt::Display for RigidityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RigidityError { name, value, least, most } = self;
        write!(f, "bending stiffness {name} is {value:e} N·m, beside the others it must be ")?;
        if *most < f64::MAX {
            write!(f, "between {least:e} and {most:e} N·m")
        } else {
            write!(f, "{least:e} N·m or more")
        }?;
        write!(f, "; measure again, or set {name} to the limit")
    }
}

impl std::error::Error for RigidityError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isotropic_means_the_same_in_every_direction() {
        let d = Rigidity::isotropic(3.0, 0.3);
        for k in 0..16 {
            assert!((d.along(0.3 * f64::from(k)) - 3.0).abs() < 1e-14);
        }
        assert!(d.check().is_ok());
    }

    #[test]
    fn impossible_sheets_are_refused() {
        let stiff = Rigidity { warp: 4.0, weft: 1.0, coupling: 3.0, twist: 1.0 };
        assert_eq!(stiff.check().expect_err("D12² > D1 D2").name, "coupling");
        let soft = Rigidity { twist: -0.25, coupling: 0.0, ..stiff };
        assert_eq!(soft.check().expect_err("D66 < 0").name, "twist");
        assert_eq!(Rigidity { warp: f64::NAN, ..stiff }.check().expect_err("NaN").name, "warp");
    }

    #[test]
    fn the_root_squares_to_the_matrix() {
        let d = Rigidity { warp: 4.0, weft: 1.0, coupling: -1.2, twist: 0.35 };
        let [a, b, c, e] = d.root();
        assert!((a * a - 4.0).abs() < 1e-14 && (a * b + 1.2).abs() < 1e-14);
        assert!((b * b + c * c - 1.0).abs() < 1e-14 && (e * e - 0.35).abs() < 1e-15);
        assert_eq!(Rigidity::default().root(), [0.0; 4]);
    }
}
