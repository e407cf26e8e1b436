//! Rotations built from `libm`, so that they have the same bits on every platform.

use super::{DMat3, DVec3};

/// Rotation about the x, then the y, then the z axis, by `angles` [rad].
pub fn euler_xyz(angles: DVec3) -> DMat3 {
    let (sx, cx) = libm::sincos(angles.x);
    let (sy, cy) = libm::sincos(angles.y);
    let (sz, cz) = libm::sincos(angles.z);
    let x = DMat3::from_cols(DVec3::X, DVec3::new(0.0, cx, sx), DVec3::new(0.0, -sx, cx));
    let y = DMat3::from_cols(DVec3::new(cy, 0.0, -sy), DVec3::Y, DVec3::new(sy, 0.0, cy));
    let z = DMat3::from_cols(DVec3::new(cz, sz, 0.0), DVec3::new(-sz, cz, 0.0), DVec3::Z);
    z * y * x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarter_turns() {
        let quarter = std::f64::consts::FRAC_PI_2;
        assert!((euler_xyz(DVec3::new(quarter, 0.0, 0.0)) * DVec3::Y).abs_diff_eq(DVec3::Z, 1e-15));
        assert!((euler_xyz(DVec3::new(0.0, quarter, 0.0)) * DVec3::Z).abs_diff_eq(DVec3::X, 1e-15));
        assert!((euler_xyz(DVec3::new(0.0, 0.0, quarter)) * DVec3::X).abs_diff_eq(DVec3::Y, 1e-15));
        let both = euler_xyz(DVec3::new(quarter, quarter, 0.0)) * DVec3::Y;
        assert!(both.abs_diff_eq(DVec3::X, 1e-15), "x first, then y: {both}");
    }
}
