//! Rotations built from `libm`, so that they have the same bits on every platform.

use super::{DMat3, DVec3};

/// Rotation by `angles` [degrees] about the fixed x axis, then y, then z: R = Rz·Ry·Rx, the order
/// called "XYZ Euler" by Blender, Maya and Houdini. Whole quarter turns are exact.
pub fn euler_degrees(angles: DVec3) -> DMat3 {
    let (sx, cx) = sin_cos_degrees(angles.x);
    let (sy, cy) = sin_cos_degrees(angles.y);
    let (sz, cz) = sin_cos_degrees(angles.z);
    let rx = DMat3::from_cols(DVec3::X, DVec3::new(0.0, cx, sx), DVec3::new(0.0, -sx, cx));
    let ry = DMat3::from_cols(DVec3::new(cy, 0.0, -sy), DVec3::Y, DVec3::new(sy, 0.0, cy));
    let rz = DMat3::from_cols(DVec3::new(cz, sz, 0.0), DVec3::new(-sz, cz, 0.0), DVec3::Z);
    rz * ry * rx
}

/// Sine and cosine of an angle in degrees: exact at multiples of 90, the same bits on every machine.
fn sin_cos_degrees(degrees: f64) -> (f64, f64) {
    let turn = degrees % 360.0;
    let quarter = (turn / 90.0).round();
    let (s, c) = libm::sincos((turn - 90.0 * quarter).to_radians());
    match (quarter as i64).rem_euclid(4) {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarter_turns_are_exact_and_in_order() {
        let r = euler_degrees(DVec3::new(90.0, 0.0, 0.0));
        assert_eq!(r * DVec3::Y, DVec3::Z);
        assert_eq!(euler_degrees(DVec3::new(0.0, 0.0, 450.0)) * DVec3::X, DVec3::Y);
        assert_eq!(euler_degrees(DVec3::new(-270.0, 0.0, 0.0)) * DVec3::Y, DVec3::Z);
        // x first, then z: y → z (about x) → z (about z)
        assert_eq!(euler_degrees(DVec3::new(90.0, 0.0, 90.0)) * DVec3::Y, DVec3::Z);
        let (s, c) = sin_cos_degrees(30.0);
        assert!((s - 0.5).abs() < 1e-16 && (c - 0.75_f64.sqrt()).abs() < 1e-15);
    }
}
