//! Small dense blocks.

use super::{DMat3, DVec3};

/// The dyad a bᵀ.
#[inline]
pub fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Identity scaled by `s`.
#[inline]
pub fn scaled_identity(s: f64) -> DMat3 {
    DMat3::from_diagonal(DVec3::splat(s))
}

/// Inverse of a symmetric positive definite block by adjugate and determinant (K02-6), or `None` when the
/// determinant is not a positive number.
#[inline]
pub fn inverse_spd(m: DMat3) -> Option<DMat3> {
    let (a, b, c) = (m.x_axis.x, m.y_axis.x, m.z_axis.x);
    let (d, e, f) = (m.y_axis.y, m.z_axis.y, m.z_axis.z);
    let adj00 = d * f - e * e;
    let adj01 = c * e - b * f;
    let adj02 = b * e - c * d;
    let det = a * adj00 + b * adj01 + c * adj02;
    if !(det > 0.0 && det.is_finite()) {
        return None;
    }
    let adj11 = a * f - c * c;
    let adj12 = b * c - a * e;
    let adj22 = a * d - b * b;
    Some(
        DMat3::from_cols(
            DVec3::new(adj00, adj01, adj02),
            DVec3::new(adj01, adj11, adj12),
            DVec3::new(adj02, adj12, adj22),
        ) * (1.0 / det),
    )
}

/// A symmetric 2×2 matrix [[a, c], [c, b]] with its negative eigenvalues set to zero. Returns (a, b, c).
///
/// The 2×2 stress of a membrane multiplies the identity in its geometric stiffness, so clamping it here is
/// what keeps the tangent positive (B14-2; clamping entry by entry would not).
#[inline]
pub fn clamp_symmetric2(a: f64, b: f64, c: f64) -> (f64, f64, f64) {
    let mean = 0.5 * (a + b);
    let half = 0.5 * (a - b);
    let radius = (half * half + c * c).sqrt();
    let (low, high) = (mean - radius, mean + radius);
    if low >= 0.0 {
        return (a, b, c);
    }
    if high <= 0.0 {
        return (0.0, 0.0, 0.0);
    }
    // high · q qᵀ, with q the eigenvector of the larger eigenvalue: (A − low I)/(high − low) = q qᵀ.
    let scale = high / (high - low);
    ((a - low) * scale, (b - low) * scale, c * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_times_matrix_is_identity() {
        let m = DMat3::from_cols(
            DVec3::new(4.0, 1.0, -0.5),
            DVec3::new(1.0, 3.0, 0.25),
            DVec3::new(-0.5, 0.25, 2.0),
        );
        let product = inverse_spd(m).expect("positive definite") * m;
        assert!(product.abs_diff_eq(DMat3::IDENTITY, 1e-14), "{product}");
        assert!(inverse_spd(DMat3::ZERO).is_none());
        assert!(inverse_spd(DMat3::from_diagonal(DVec3::splat(f64::NAN))).is_none());
    }

    #[test]
    fn clamped_stress_keeps_only_the_positive_part() {
        assert_eq!(clamp_symmetric2(2.0, 1.0, 0.5), (2.0, 1.0, 0.5));
        assert_eq!(clamp_symmetric2(-2.0, -1.0, 0.5), (0.0, 0.0, 0.0));
        let (a, b, c) = clamp_symmetric2(0.0, 0.0, 3.0);
        assert!((a - 1.5).abs() < 1e-15 && (b - 1.5).abs() < 1e-15 && (c - 1.5).abs() < 1e-15);
        // The result minus the input is positive semi-definite, and the result has no negative eigenvalue.
        let (a, b, c) = clamp_symmetric2(-1.0, 2.0, 0.7);
        assert!(a * b - c * c >= -1e-15 && a >= 0.0 && b >= 0.0);
        let (da, db, dc) = (a + 1.0, b - 2.0, c - 0.7);
        assert!(da * db - dc * dc >= -1e-15 && da >= 0.0);
    }
}
