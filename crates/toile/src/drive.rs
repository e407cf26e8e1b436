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

    /// Straight from one point of `way` [m] to the other within `span` [s].
    pub fn straight(way: [DVec3; 2], span: [f64; 2]) -> Motion {
        let key =
            |time: f64, translate: DVec3| Key { time, translate, rotate: DVec3::ZERO, scale: DVec3::ONE };
        let keys = vec![key(span[0], DVec3::ZERO), key(span[1], way[1] - way[0])];
        Motion { keys, basis: DMat3::IDENTITY, ..Motion::default() }
    }

    /// The map from places before any motion to places at `time` [s].
    pub fn at(&self, time: f64) -> Transform {
        let Some((a, b, span)) = self.span(time) else { return Transform::IDENTITY };
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

    /// The map from places before any motion to velocities at `time` [m/s]: the derivative of [`Motion::at`], at a key
    /// that of the way ahead.
    pub fn rate(&self, time: f64) -> Transform {
        let still = Transform { matrix: DMat3::ZERO, offset: DVec3::ZERO };
        let Some((a, b, span)) = self.span(time).filter(|(_, _, span)| *span > 0.0) else { return still };
        let (mut part, mut speed) = ((time - a.time) / span, 1.0 / span);
        if self.smooth {
            speed *= 6.0 * part * (1.0 - part);
            part = part * part * (3.0 - 2.0 * part);
        }
        let mix = |p: DVec3, q: DVec3| p + (q - p) * part;
        let (turn, scale) = (mix(a.rotate, b.rotate), mix(a.scale, b.scale));
        let rotation = euler_degrees(turn);
        // R = Rz Ry Rx turns at the rates of the three angles about z, the turned y and the twice turned x.
        let rates = (b.rotate - a.rotate) * speed.to_radians();
        let about_y = euler_degrees(DVec3::new(0.0, 0.0, turn.z)) * DVec3::Y;
        let about_x = euler_degrees(DVec3::new(0.0, turn.y, turn.z)) * DVec3::X;
        let spin = DVec3::Z * rates.z + about_y * rates.y + about_x * rates.x;
        let cross = DMat3::from_cols(spin.cross(DVec3::X), spin.cross(DVec3::Y), spin.cross(DVec3::Z));
        let growth = DMat3::from_diagonal((b.scale - a.scale) * speed);
        let turned = cross * rotation * DMat3::from_diagonal(scale) + rotation * growth;
        let matrix = self.basis * turned * self.basis.transpose();
        let offset = self.basis * ((b.translate - a.translate) * speed) - matrix * self.pivot;
        Transform { matrix, offset }
    }

    /// The keys before and after `time` and the time between them [s]; `None` where there is no key.
    fn span(&self, time: f64) -> Option<(&Key, &Key, f64)> {
        let after = self.keys.partition_point(|key| key.time <= time);
        let (first, last) = (self.keys.first()?, self.keys.last()?);
        let (a, b) = match after {
            0 => (first, first),
            n if n == self.keys.len() => (last, last),
            n => (&self.keys[n - 1], &self.keys[n]),
        };
        Some((a, b, b.time - a.time))
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

    #[test]
    fn the_rate_is_the_derivative() {
        let key = |time, turn: DVec3| Key { time, translate: turn * 0.01, rotate: turn, scale: DVec3::ONE };
        for smooth in [false, true] {
            let motion = Motion {
                keys: vec![key(0.0, DVec3::new(10.0, -20.0, 5.0)), key(2.0, DVec3::new(200.0, 70.0, -90.0))],
                pivot: DVec3::new(0.1, 1.0, -0.4),
                smooth,
                basis: euler_degrees(DVec3::new(90.0, 0.0, 0.0)),
            };
            let (x, h) = (DVec3::new(0.3, -0.7, 1.1), 1e-6);
            for time in [0.1, 0.7, 1.3, 1.9] {
                let difference = (motion.at(time + h).apply(x) - motion.at(time - h).apply(x)) / (2.0 * h);
                let rate = motion.rate(time);
                assert!((rate.matrix * x + rate.offset - difference).length() < 1e-7, "{smooth} {time}");
            }
            assert_eq!(motion.rate(3.0).apply(x), DVec3::ZERO);
        }
    }
}
