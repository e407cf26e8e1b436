//! The angle by which cloth folds across an edge, and how it changes with the four particles around it.
//!
//! Edge c→d, face (c, d, A) on its left with normal N₀ = (d−c)×(A−c), face (d, c, B) on its right with
//! N₁ = (c−d)×(B−d): θ = atan2(−(N₀×N₁)·(d−c)/|d−c|, N₀·N₁), zero when flat, positive when both wings rise
//! towards their normals. With a and b the feet of A and B as fractions from c to d:
//!
//! ∂θ/∂A = |e| N₀/|N₀|², ∂θ/∂B = |e| N₁/|N₁|², ∂θ/∂c = −(1−a) ∂θ/∂A − (1−b) ∂θ/∂B, ∂θ/∂d = −a ∂θ/∂A − b ∂θ/∂B.

use crate::math::DVec3;
use std::f64::consts::{PI, TAU};

/// A wing thinner than this part of its height at rest no longer says where it points: below it the gradient
/// stops growing, so that a collapsed face pushes with a finite force.
pub const THIN: f64 = 1e-3;

/// The angle across an edge and its gradient.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    /// θ [rad], in (−π, π].
    pub angle: f64,
    /// ∂θ/∂x of c, d, A and B [rad/m].
    pub slopes: [DVec3; 4],
}

impl Fold {
    /// No angle, no slope.
    pub const FLAT: Fold = Fold { angle: 0.0, slopes: [DVec3::ZERO; 4] };

    /// The fold of positions c, d, A, B; `thin` is [`THIN`] of twice the rest area of either wing [m²].
    #[inline]
    pub fn of([c, d, a, b]: [DVec3; 4], thin: [f64; 2]) -> Fold {
        let edge = d - c;
        let n0 = edge.cross(a - c);
        let n1 = (b - c).cross(edge);
        let squared = edge.length_squared().max(f64::MIN_POSITIVE);
        let length = squared.sqrt();
        let sine = n1.cross(n0).dot(edge) / length;
        let angle = libm::atan2(sine, n0.dot(n1));
        let at_a = n0 * (length / n0.length_squared().max(thin[0] * thin[0]));
        let at_b = n1 * (length / n1.length_squared().max(thin[1] * thin[1]));
        let foot_a = (a - c).dot(edge) / squared;
        let foot_b = (b - c).dot(edge) / squared;
        let at_d = at_a * -foot_a - at_b * foot_b;
        Fold { angle, slopes: [-(at_a + at_b + at_d), at_d, at_a, at_b] }
    }
}

/// How far `angle` is from `rest` the short way round [rad], in (−π, π].
///
/// An angle knows no turns: cloth folded past a half turn from its rest angle, which means through itself,
/// is pushed on round instead of back.
#[inline]
pub fn turn(angle: f64, rest: f64) -> f64 {
    let difference = angle - rest;
    if difference > PI {
        difference - TAU
    } else if difference <= -PI {
        difference + TAU
    } else {
        difference
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_angles() {
        let fold = |y: f64, z: f64| {
            Fold::of([DVec3::ZERO, DVec3::X, DVec3::new(0.3, 1.0, 0.0), DVec3::new(0.6, y, z)], [1e-9; 2])
                .angle
        };
        assert!(fold(-1.0, 0.0).abs() < 1e-15, "flat");
        assert!((fold(0.0, 1.0) - 0.5 * PI).abs() < 1e-15, "a wing that rises counts positive");
        assert!((fold(0.0, -1.0) + 0.5 * PI).abs() < 1e-15);
        assert!((fold(1.0, 1e-3) - (PI - 1e-3)).abs() < 1e-6, "nearly closed");
    }

    #[test]
    fn the_gradient_is_the_derivative_and_collapse_is_finite() {
        let x = [
            DVec3::new(0.1, 0.0, 0.2),
            DVec3::new(1.1, 0.2, -0.1),
            DVec3::new(0.4, 0.9, 0.3),
            DVec3::new(0.9, -0.5, 0.7),
        ];
        let fold = Fold::of(x, [1e-9; 2]);
        for i in 0..4 {
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let moved = |by: f64| {
                    let mut y = x;
                    y[i] += axis * by;
                    Fold::of(y, [1e-9; 2]).angle
                };
                let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((slope - fold.slopes[i].dot(axis)).abs() < 1e-8, "{slope} {}", fold.slopes[i]);
            }
        }
        for broken in [[x[0]; 4], [x[0], x[1], x[0], x[1]], [x[0], x[0], x[1], x[2]]] {
            let fold = Fold::of(broken, [1e-6; 2]);
            assert!(fold.angle.is_finite() && fold.slopes.iter().all(|s| s.is_finite()), "{fold:?}");
        }
    }

    #[test]
    fn differences_go_the_short_way_round() {
        assert_eq!(turn(1.0, 0.5), 0.5);
        assert!((turn(-3.0, 3.0) - (TAU - 6.0)).abs() < 1e-15);
        assert!((turn(3.0, -3.0) - (6.0 - TAU)).abs() < 1e-15);
    }
}
