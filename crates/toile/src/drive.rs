//! Prescribed motion: what moves pins.

use crate::math::rotation::euler_degrees;
use crate::math::{DMat3, DVec3};

/// An affine map x ↦ A x + b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// A.
    pub matrix: DMat3,
    /// b [m].
    pub offset: DVec3,
}

impl Transform {
    /// Leaves everything in place.
    pub const IDENTITY: Transform = Transform { matrix: DMat3::IDENTITY, offset: DVec3::ZERO };

    /// The image of `x`.
    pub fn apply(&self, x: DVec3) -> DVec3 {
        self.matrix * x + self.offset
    }

    /// The point whose image is `x`; `x` itself if the map has collapsed.
    pub fn undo(&self, x: DVec3) -> DVec3 {
        if self.matrix.determinant() == 0.0 {
            return x;
        }
        self.matrix.inverse() * (x - self.offset)
    }
}

/// A pose at one instant. Angles are interpolated one by one, so full turns can be written as 360°.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// When [s].
    pub time: f64,
    /// Displacement [m].
    pub translate: DVec3,
    /// Turn about x, then y, then z [degrees], about the pivot.
    pub rotate: DVec3,
    /// Growth along x, y and z, about the pivot, before turning.
    pub scale: DVec3,
}

/// A motion through keys; constant before the first and after the last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    /// Poses in order of time.
    pub keys: Vec<Key>,
    /// Centre of turning and growing [m].
    pub pivot: DVec3,
    /// Ease in and out of every key instead of going straight.
    pub smooth: bool,
    /// Axes of the keys as columns, an orthonormal basis: scenes written Z up keep their own x, y and z.
    pub basis: DMat3,
}

impl Motion {
    /// No motion.
    pub fn still() -> Motion {
        Motion::default()
    }

    /// The map from places before any motion to places at `time` [s].
    pub fn at(&self, time: f64) -> Transform {
        let after = self.keys.partition_point(|key| key.time <= time);
        let (Some(first), Some(last)) = (self.keys.first(), self.keys.last()) else {
            return Transform::IDENTITY;
        };
        let (a, b) = match after {
            0 => (first, first),
            n if n == self.keys.len() => (last, last),
            n => (&self.keys[n - 1], &self.keys[n]),
        };
        let span = b.time - a.time;
        let mut part = if span > 0.0 { (time - a.time) / span } else { 0.0 };
        if self.smooth {
            part = part * part * (3.0 - 2.0 * part);
        }
        let mix = |p: DVec3, q: DVec3| p + (q - p) * part;
        let turned = euler_degrees(mix(a.rotate, b.rotate)) * DMat3::from_diagonal(mix(a.scale, b.scale));
        let matrix = self.basis * turned * self.basis.transpose();
        let shift = self.basis * mix(a.translate, b.translate);
        let offset = shift + self.pivot - matrix * self.pivot;
        Transform { matrix, offset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_met_and_the_pivot_stays() {
        let key =
            |time, x, turn| Key { time, translate: DVec3::X * x, rotate: DVec3::Z * turn, scale: DVec3::ONE };
        let motion = Motion {
            keys: vec![key(1.0, 0.0, 0.0), key(2.0, 4.0, 180.0)],
            pivot: DVec3::new(0.0, 1.0, 0.0),
            ..Motion::still()
        };
        assert_eq!(motion.at(0.0), Transform::IDENTITY);
        assert!(motion.at(1.5).apply(motion.pivot).abs_diff_eq(DVec3::new(2.0, 1.0, 0.0), 1e-15));
        assert!(motion.at(9.0).apply(DVec3::ZERO).abs_diff_eq(DVec3::new(4.0, 2.0, 0.0), 1e-15));
        let there = motion.at(1.3);
        assert!(there.undo(there.apply(DVec3::ONE)).abs_diff_eq(DVec3::ONE, 1e-14));
        assert_eq!(Motion::still().at(3.0), Transform::IDENTITY);
    }
}
