//! Symmetric 3×3 blocks in six numbers (K02-5).

use super::{DMat3, DVec3};

/// A symmetric 3×3 block [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "the entries are named by their place")]
pub struct Symmetric {
    pub xx: f64,
    pub xy: f64,
    pub xz: f64,
    pub yy: f64,
    pub yz: f64,
    pub zz: f64,
}

impl Symmetric {
    /// `along` n nᵀ + `across` (I − n nᵀ), n a unit vector.
    #[inline]
    pub fn axial(n: DVec3, along: f64, across: f64) -> Symmetric {
        let s = along - across;
        Symmetric {
            xx: s * n.x * n.x + across,
            xy: s * n.x * n.y,
            xz: s * n.x * n.z,
            yy: s * n.y * n.y + across,
            yz: s * n.y * n.z,
            zz: s * n.z * n.z + across,
        }
    }

    /// The identity times `s`.
    #[inline]
    pub fn identity(s: f64) -> Symmetric {
        Symmetric { xx: s, yy: s, zz: s, ..Symmetric::default() }
    }

    /// The symmetric part of `m`.
    #[inline]
    pub fn of(m: DMat3) -> Symmetric {
        let [x, y, z] = [m.x_axis, m.y_axis, m.z_axis];
        Symmetric {
            xx: x.x,
            xy: 0.5 * (x.y + y.x),
            xz: 0.5 * (x.z + z.x),
            yy: y.y,
            yz: 0.5 * (y.z + z.y),
            zz: z.z,
        }
    }

    /// The same as a full matrix.
    #[inline]
    pub fn full(&self) -> DMat3 {
        let Symmetric { xx, xy, xz, yy, yz, zz } = *self;
        DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz))
    }

    /// This plus the identity times `s`.
    #[inline]
    pub fn plus_identity(self, s: f64) -> Symmetric {
        Symmetric { xx: self.xx + s, yy: self.yy + s, zz: self.zz + s, ..self }
    }

    /// The inverse by adjugate and determinant (K02-6), or `None` if the block is not positive definite: some leading
    /// minor is not a positive number.
    #[inline]
    pub fn inverse(&self) -> Option<Symmetric> {
        let Symmetric { xx: a, xy: b, xz: c, yy: d, yz: e, zz: f } = *self;
        let adj00 = d * f - e * e;
        let adj01 = c * e - b * f;
        let adj02 = b * e - c * d;
        let adj22 = a * d - b * b;
        let det = a * adj00 + b * adj01 + c * adj02;
        if !(a > 0.0 && adj22 > 0.0 && det > 0.0 && det.is_finite()) {
            return None;
        }
        let s = 1.0 / det;
        Some(Symmetric {
            xx: adj00 * s,
            xy: adj01 * s,
            xz: adj02 * s,
            yy: (a * f - c * c) * s,
            yz: (b * c - a * e) * s,
            zz: adj22 * s,
        })
    }
}

impl std::ops::AddAssign for Symmetric {
    #[inline]
    fn add_assign(&mut self, other: Symmetric) {
        self.xx += other.xx;
        self.xy += other.xy;
        self.xz += other.xz;
        self.yy += other.yy;
        self.yz += other.yz;
        self.zz += other.zz;
    }
}

impl std::ops::Mul<DVec3> for Symmetric {
    type Output = DVec3;

    #[inline]
    fn mul(self, t: DVec3) -> DVec3 {
        DVec3::new(
            self.xx * t.x + self.xy * t.y + self.xz * t.z,
            self.xy * t.x + self.yy * t.y + self.yz * t.z,
            self.xz * t.x + self.yz * t.y + self.zz * t.z,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::matrix::outer;

    #[test]
    fn six_numbers_do_what_nine_do() {
        let n = DVec3::new(2.0, -3.0, 6.0) / 7.0;
        let block = Symmetric::axial(n, 5.0, 0.5);
        let full = outer(n, n) * 5.0 + (DMat3::IDENTITY - outer(n, n)) * 0.5;
        assert!(block.full().abs_diff_eq(full, 1e-14));
        let t = DVec3::new(0.3, 0.7, -1.1);
        assert!((block * t).abs_diff_eq(full * t, 1e-14));
        assert_eq!(Symmetric::of(block.full()), block);
        let inverse = block.inverse().expect("positive definite");
        assert!((inverse.full() * full).abs_diff_eq(DMat3::IDENTITY, 1e-13));
    }

    #[test]
    fn what_is_not_positive_has_no_inverse() {
        assert!(Symmetric::identity(0.0).inverse().is_none());
        assert!(Symmetric::identity(f64::NAN).inverse().is_none());
        // Two negative eigenvalues: the determinant alone would not tell.
        assert!(Symmetric { xx: 1.0, yy: -1.0, zz: -1.0, ..Symmetric::default() }.inverse().is_none());
    }
}
