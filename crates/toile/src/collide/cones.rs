//! Cones of directions: normals for the curvature criterion (M03-9), velocities for inflation (M03-12).
//!
//! Half-angles are kept, not apex angles: α here is half of M03's apex angle.

use crate::math::DVec3;
use std::f64::consts::PI;

/// How two cones become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConeMerge {
    /// Provot's rule, as in M03: axis = bisector, half-angle = β/2 + max(α₁, α₂).
    Provot,
    /// The smallest cone round both: half-angle (α₁ + α₂ + β)/2 with the axis turned accordingly.
    #[default]
    Tight,
}

/// All directions within `half` [rad] of `axis`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone {
    /// Unit axis; zero when the cone is empty.
    pub axis: DVec3,
    /// Half of the apex angle [rad]; negative when the cone is empty, π when it holds every direction.
    pub half: f64,
}

/// Added to every merged half-angle [rad]: more than acos and the turned axis can lose to rounding (acos loses
/// 1.5e-8 near parallel axes).
const SLACK: f64 = 5e-8;

impl Cone {
    /// No direction.
    pub const EMPTY: Cone = Cone { axis: DVec3::ZERO, half: -1.0 };
    /// Every direction.
    pub const ALL: Cone = Cone { axis: DVec3::X, half: PI };

    /// One direction; empty for a vector without one. A face without area has no normal to disagree with.
    pub fn of(direction: DVec3) -> Cone {
        match direction.try_normalize() {
            Some(axis) => Cone { axis, half: 0.0 },
            None if direction == DVec3::ZERO => Cone::EMPTY,
            None => Cone::ALL,
        }
    }

    /// A cone that contains both.
    pub fn merge(&self, other: &Cone, rule: ConeMerge) -> Cone {
        if self.half < 0.0 {
            return *other;
        }
        if other.half < 0.0 {
            return *self;
        }
        let cos = self.axis.dot(other.axis).clamp(-1.0, 1.0);
        let beta = libm::acos(cos);
        match rule {
            ConeMerge::Provot => {
                let half = 0.5 * beta + self.half.max(other.half) + SLACK;
                match (self.axis + other.axis).try_normalize() {
                    Some(axis) if half < PI => Cone { axis, half },
                    _ => Cone::ALL,
                }
            }
            ConeMerge::Tight => {
                if beta + other.half <= self.half {
                    return *self;
                }
                if beta + self.half <= other.half {
                    return *other;
                }
                let half = 0.5 * (self.half + other.half + beta) + SLACK;
                let turn = (half - self.half).min(beta);
                let sin = libm::sin(beta);
                if half >= PI || (sin < 1e-9 && cos < 0.0) {
                    return Cone::ALL;
                }
                if sin < 1e-9 {
                    return Cone { axis: self.axis, half: half + beta };
                }
                let axis = (self.axis * libm::sin(beta - turn) + other.axis * libm::sin(turn)) / sin;
                Cone { axis: axis.normalize(), half }
            }
        }
    }

    /// Whether the directions span less than `apex` [rad] in all.
    pub fn within(&self, apex: f64) -> bool {
        2.0 * self.half < apex
    }

    /// Whether a direction lies inside.
    pub fn contains(&self, direction: DVec3) -> bool {
        let n = direction.normalize_or_zero();
        self.half >= PI || (self.half >= 0.0 && libm::acos(self.axis.dot(n).clamp(-1.0, 1.0)) <= self.half)
    }
}

/// Where vertices are going: the significant directions, the greatest speed, and how slow is insignificant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VelocityCone {
    /// Directions of the velocities above the threshold.
    pub cone: Cone,
    /// Greatest speed v̂ [m/s].
    pub fastest: f64,
}

impl VelocityCone {
    /// Nothing moves.
    pub const STILL: VelocityCone = VelocityCone { cone: Cone::EMPTY, fastest: 0.0 };

    /// One velocity [m/s]; below `v_min` [m/s] its direction does not count.
    pub fn of(v: DVec3, v_min: f64) -> VelocityCone {
        let fastest = v.length();
        let cone = if fastest > v_min {
            Cone::of(v)
        } else if fastest.is_nan() {
            Cone::ALL
        } else {
            Cone::EMPTY
        };
        VelocityCone { cone, fastest }
    }

    /// A velocity cone that contains both (M03-12).
    pub fn merge(&self, other: &VelocityCone, rule: ConeMerge) -> VelocityCone {
        let fastest = if other.fastest > self.fastest { other.fastest } else { self.fastest };
        VelocityCone { cone: self.cone.merge(&other.cone, rule), fastest }
    }

    /// How far anything in the cone can get along `n` within `dt` [s], in units of |n| [m]:
    /// v̂ Δt |n| cos(max(0, θ − α))₊ + |n| v_min Δt (M03 eq. 1; E21). With a wide cone, |n| v̂ Δt (E22).
    ///
    /// A vertex is either in the cone or slow, so the larger of the two terms is enough. The last argument is
    /// [`VelocityCone::rim`].
    pub fn advance(&self, n: DVec3, dt: f64, v_min: f64, (sin_half, cos_half): (f64, f64)) -> f64 {
        let length = n.length();
        if self.cone.half < 0.0 || self.is_wide() {
            return length * self.fastest * dt;
        }
        let cos = (self.cone.axis.dot(n) / length).clamp(-1.0, 1.0);
        // cos(θ − α) without the angle θ itself; inside the cone the whole speed counts.
        let along =
            if cos >= cos_half { 1.0 } else { cos * cos_half + (1.0 - cos * cos).max(0.0).sqrt() * sin_half };
        let slow = v_min.min(self.fastest);
        // 1e-12: along is rounded.
        (length * self.fastest * dt * (along + 1e-12).max(0.0)).max(length * slow * dt)
    }

    /// Sine and cosine of the half-angle, the same for every direction.
    pub fn rim(&self) -> (f64, f64) {
        libm::sincos(self.cone.half)
    }

    /// M03 eq. 1 as printed: max(⟨v̄, n⟩ v̂ Δt, 0) [m]; with a wide cone v̂ Δt. Lossy (E21): 36 % of the
    /// intervals are short for a cone of 5°.
    pub fn advance_as_printed(&self, n: DVec3, dt: f64) -> f64 {
        if self.cone.half >= WIDE {
            return self.fastest * dt;
        }
        (self.cone.axis.dot(n) * self.fastest * dt).max(0.0)
    }

    /// Whether the directions are too different for an oriented inflation to pay.
    pub fn is_wide(&self) -> bool {
        self.cone.half >= WIDE
    }
}

/// Half-angle [rad] from which inflation is the same on all sides (60°).
const WIDE: f64 = PI / 3.0;

/// A vector with a positive dot product with every normal, if one exists (M03-10): the search keeps turning
/// towards the normal it agrees with least, in ever smaller steps, which approaches the axis of the smallest cone
/// round all of them.
pub fn positive_vector(normals: &[DVec3]) -> Option<DVec3> {
    let mut axis = normals.iter().fold(DVec3::ZERO, |sum, n| sum + *n).try_normalize()?;
    for round in 0..64 {
        let mut worst = (f64::INFINITY, DVec3::ZERO);
        for n in normals.iter().filter(|n| **n != DVec3::ZERO) {
            let along = axis.dot(*n);
            if along < worst.0 {
                worst = (along, *n);
            }
        }
        // A face seen this far from the side is as good as edge-on.
        if worst.0 > 0.02 {
            return Some(axis);
        }
        axis = axis.lerp(worst.1, 1.0 / f64::from(round + 2)).try_normalize()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    fn direction(seed: u64, i: u64) -> DVec3 {
        let at = |k| random::signed(seed, 3 * i + k);
        DVec3::new(at(0), at(1), at(2)).normalize_or(DVec3::X)
    }

    /// A merged cone contains both; the tight one is tighter.
    #[test]
    fn merging_is_a_superset() {
        let mut mean = [0.0; 2];
        let trials = 20_000;
        for i in 0..trials {
            let cone =
                |k: u64| Cone { axis: direction(1, 2 * i + k), half: 0.6 * random::unit(2, 2 * i + k) };
            let (a, b) = (cone(0), cone(1));
            for (which, rule) in [ConeMerge::Provot, ConeMerge::Tight].into_iter().enumerate() {
                let merged = a.merge(&b, rule);
                mean[which] += merged.half / trials as f64;
                for (k, c) in [a, b].into_iter().enumerate() {
                    let side = c.axis.cross(direction(3, 2 * i + k as u64)).normalize();
                    for rim in [side, -side, side.cross(c.axis), -side.cross(c.axis)] {
                        let (sin, cos) = libm::sincos(c.half - 1e-9);
                        assert!(merged.contains(c.axis * cos + rim * sin), "{rule:?} {a:?} {b:?}");
                    }
                }
            }
        }
        assert!((mean[0] - 1.186).abs() < 0.02 && (mean[1] - 1.086).abs() < 0.02, "{mean:?}");
    }

    #[test]
    fn extreme_cones_merge() {
        let a = Cone::of(DVec3::X);
        for rule in [ConeMerge::Provot, ConeMerge::Tight] {
            assert_eq!(a.merge(&Cone::EMPTY, rule), a);
            assert_eq!(Cone::EMPTY.merge(&a, rule), a);
            assert!(a.merge(&Cone::of(-DVec3::X), rule).half > 1.5);
            assert!(a.merge(&a, rule).half < 1e-6);
            assert!(a.merge(&Cone::ALL, rule).contains(-DVec3::X));
        }
        assert_eq!(Cone::of(DVec3::splat(f64::NAN)), Cone::ALL);
    }

    /// The oriented inflation covers every motion of the cone; the printed one does not (E21).
    #[test]
    fn oriented_inflation_is_conservative() {
        let (mut short, mut total) = (0, 0);
        for i in 0..3000 {
            let axis = direction(5, i);
            let half = [5.0_f64, 15.0, 30.0, 45.0][i as usize % 4].to_radians();
            let velocity = |k: u64| {
                let side = axis.cross(direction(6, 8 * i + k)).normalize();
                let (sin, cos) = libm::sincos(half * random::unit(7, 8 * i + k));
                // One in four is slow and goes anywhere.
                let fast = (axis * cos + side * sin) * (0.3 + 0.7 * random::unit(8, 8 * i + k));
                if k % 4 == 3 { direction(9, 8 * i + k) * 0.05 } else { fast }
            };
            let v: Vec<DVec3> = (0..8).map(velocity).collect();
            let v_min = 0.06;
            let cone = v
                .iter()
                .fold(VelocityCone::STILL, |c, v| c.merge(&VelocityCone::of(*v, v_min), ConeMerge::Tight));
            for k in 0..9 {
                let n = direction(10, 9 * i + k) * 1.7;
                let far = v.iter().map(|v| v.dot(n)).fold(0.0, f64::max);
                assert!(cone.advance(n, 1.0, v_min, cone.rim()) >= far, "{i}");
                short += u32::from(cone.advance_as_printed(n, 1.0) < far - 1e-12);
                total += 1;
            }
        }
        assert!(f64::from(short) > 0.3 * f64::from(total), "the printed form is lossy: {short} of {total}");
    }

    #[test]
    fn a_positive_vector_is_found_where_one_exists() {
        for i in 0..500 {
            let pole = direction(20, i);
            let tilt = |k: u64| {
                let n = direction(21, 40 * i + k);
                let n = if n.dot(pole) < 0.0 { -n } else { n };
                (n + pole * 0.35).normalize()
            };
            let normals: Vec<DVec3> = (0..40).map(tilt).collect();
            let found = positive_vector(&normals).expect("the pole is one");
            assert!(normals.iter().all(|n| n.dot(found) > 0.0));
        }
        assert_eq!(positive_vector(&[DVec3::X, -DVec3::X, DVec3::Y]), None);
        assert_eq!(positive_vector(&[]), None);
    }
}
