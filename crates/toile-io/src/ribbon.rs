//! Ribbons: strips laid along a smooth curve through points.
//!
//! The curve is Catmull and Rom's, known by arc length; the strip's width points where it is told as far as that is across
//! the curve. Bent about that direction the strip is as long in its middle as on its borders, and starts unstretched.

use glam::DVec3;
use std::fmt;

/// Chords per span in which the curve is measured: their sum is short by less than 1e-4 where it turns by 90°.
const CHORDS: usize = 32;
/// Least part of `across` that is across the curve: the sine of 20°.
const LEAST: f64 = 0.34;

/// Why there is no ribbon.
#[derive(Debug, PartialEq)]
pub(crate) enum Fault {
    /// Too few points, or one of them is not finite or where the one before is: its number.
    Points(usize),
    /// No direction.
    Across,
    /// The curve runs along `across` after this point.
    Along(usize),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Points(k) => write!(f, "makes no curve at point {k}, counted from 0"),
            Fault::Across => write!(f, "is not finite or has no length"),
            Fault::Along(k) => write!(f, "points along the path after its point {k}, counted from 0"),
        }
    }
}

/// Finds what keeps a ribbon from being made, in any unit and axes.
pub(crate) fn check(path: &[[f64; 3]], across: [f64; 3]) -> Result<(), Fault> {
    let bad = |k: &usize| !DVec3::from(path[*k]).is_finite() || (*k > 0 && path[*k] == path[*k - 1]);
    if let Some(k) = (0..path.len()).find(bad) {
        return Err(Fault::Points(k));
    }
    if path.len() < 2 {
        return Err(Fault::Points(path.len()));
    }
    let across = DVec3::from(across).try_normalize().ok_or(Fault::Across)?;
    let line = Line::new(path, across.into());
    let steep = |way: &[DVec3]| way[0].cross(way[1]).length() < LEAST * way[1].length();
    let way = |k: usize| [across, line.points[k + 1] - line.points[k]];
    match (0..line.points.len() - 1).find(|k| steep(&way(*k))) {
        Some(k) => Err(Fault::Along(k / CHORDS)),
        None => Ok(()),
    }
}

/// Length of the curve through points, in their unit; 0 if there is none.
pub(crate) fn length(path: &[[f64; 3]]) -> f64 {
    Line::new(path, [0.0, 1.0, 0.0]).length()
}

/// The middle line of a ribbon.
pub(crate) struct Line {
    points: Vec<DVec3>,
    /// Arc length at each point.
    along: Vec<f64>,
    across: DVec3,
}

impl Line {
    /// The curve through `path`. Its ends leave as if the next point beyond mirrored the one before.
    pub(crate) fn new(path: &[[f64; 3]], across: [f64; 3]) -> Line {
        let at = |k: isize| -> DVec3 {
            let last = path.len() as isize - 1;
            match k {
                k if k < 0 => 2.0 * DVec3::from(path[0]) - DVec3::from(path[1]),
                k if k > last => {
                    2.0 * DVec3::from(path[last as usize]) - DVec3::from(path[last as usize - 1])
                }
                k => DVec3::from(path[k as usize]),
            }
        };
        let mut points: Vec<DVec3> = path.first().map(|p| DVec3::from(*p)).into_iter().collect();
        for k in 0..path.len() as isize - 1 {
            let [a, b, c, d] = [at(k - 1), at(k), at(k + 1), at(k + 2)];
            points.extend((1..=CHORDS).map(|i| spline([a, b, c, d], i as f64 / CHORDS as f64)));
        }
        let mut along = vec![0.0];
        for pair in points.windows(2) {
            along.push(along[along.len() - 1] + pair[0].distance(pair[1]));
        }
        Line { points, along, across: DVec3::from(across) }
    }

    /// Length of the curve.
    pub(crate) fn length(&self) -> f64 {
        self.along[self.along.len() - 1]
    }

    /// The place `u` along the curve and `v` beside it.
    pub(crate) fn place(&self, u: f64, v: f64) -> DVec3 {
        let k = self.along.partition_point(|s| *s <= u).clamp(1, self.points.len() - 1) - 1;
        let part = (u - self.along[k]) / (self.along[k + 1] - self.along[k]);
        let middle = self.points[k].lerp(self.points[k + 1], part);
        let tangent = self.direction(k).lerp(self.direction(k + 1), part).normalize_or_zero();
        middle + v * self.across.reject_from_normalized(tangent).normalize_or_zero()
    }

    /// Where the curve goes at a point: the mean of its chords on both sides.
    fn direction(&self, k: usize) -> DVec3 {
        let last = self.points.len() - 1;
        (self.points[(k + 1).min(last)] - self.points[k.saturating_sub(1)]).normalize_or_zero()
    }
}

/// The curve of Catmull and Rom from b (t = 0) to c (t = 1).
fn spline([a, b, c, d]: [DVec3; 4], t: f64) -> DVec3 {
    let cubic = 3.0 * (b - c) + d - a;
    let square = 2.0 * a - 5.0 * b + 4.0 * c - d;
    b + 0.5 * t * ((c - a) + t * (square + t * cubic))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quarter of a circle of 1 m about y, by points 15° apart.
    fn arc() -> Vec<[f64; 3]> {
        (0..=6).map(|k| f64::to_radians(15.0 * f64::from(k))).map(|a| [a.sin(), 0.0, 1.0 - a.cos()]).collect()
    }

    #[test]
    fn a_ribbon_follows_its_path_and_is_as_wide_and_long_as_it_says() {
        let line = Line::new(&arc(), [0.0, 2.0, 0.3]);
        let quarter = std::f64::consts::FRAC_PI_2;
        assert!((line.length() - quarter).abs() < 2e-3, "{} m", line.length());
        for k in 0..=100 {
            let u = line.length() * f64::from(k) / 100.0;
            let (low, middle, high) = (line.place(u, -0.1), line.place(u, 0.0), line.place(u, 0.1));
            let radius = (middle - DVec3::Z).length();
            // The curve is led through seven points of a quarter of a circle only.
            assert!((radius - 1.0).abs() < 1e-2, "{radius} m from the middle");
            assert!((low.distance(high) - 0.2).abs() < 1e-12);
            assert!(low.midpoint(high).distance(middle) < 1e-12);
        }
        assert!((line.place(line.length(), 0.0) - DVec3::from(arc()[6])).length() < 1e-12);
    }

    #[test]
    fn what_makes_no_ribbon_is_named() {
        let up = [0.0, 1.0, 0.0];
        assert_eq!(check(&arc(), up), Ok(()));
        assert_eq!(check(&[], up), Err(Fault::Points(0)));
        assert_eq!(check(&[[0.0; 3]], up), Err(Fault::Points(1)));
        assert_eq!(check(&[[0.0; 3], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], up), Err(Fault::Points(2)));
        assert_eq!(check(&[[0.0; 3], [f64::NAN, 0.0, 0.0]], up), Err(Fault::Points(1)));
        assert_eq!(check(&arc(), [0.0; 3]), Err(Fault::Across));
        assert_eq!(check(&[[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]], up), Err(Fault::Along(1)));
        assert_eq!(length(&[]), 0.0);
        assert_eq!(length(&[[1.0; 3]]), 0.0);
    }
}
