//! Closest points in closed form: vertex–face and edge–edge (M03-15).
//!
//! Both take the best of the interior solution, where it exists, and of all solutions on the border. That is a few
//! more operations than walking regions, but the answer is always a pair of points that exist, and degenerate
//! faces and parallel edges need no case of their own: where the interior solution is ill-conditioned, a border
//! solution is as close.

use crate::math::DVec3;

/// Closest points of two features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Square of their distance [m²]. Not a number where an input is not.
    pub squared: f64,
    /// Weights of the four vertices: the points are w₀x₀ and w₁x₁ + w₂x₂ + w₃x₃ for vertex–face, w₀x₀ + w₁x₁
    /// and w₂x₂ + w₃x₃ for edge–edge.
    pub weights: [f64; 4],
}

/// Vertex `p` and the face `t`.
#[inline]
pub fn vertex_face(p: DVec3, t: [DVec3; 3]) -> Closest {
    let (ab, ac, ap) = (t[1] - t[0], t[2] - t[0], p - t[0]);
    let n = ab.cross(ac);
    let area = n.length_squared();
    // Barycentric coordinates of the foot, times |n|².
    let w1 = ap.cross(ac).dot(n);
    let w2 = ab.cross(ap).dot(n);
    let w0 = area - w1 - w2;
    let mut best = if area > 0.0 && w0 >= 0.0 && w1 >= 0.0 && w2 >= 0.0 {
        let (u, v) = (w1 / area, w2 / area);
        let weights = [1.0, (1.0 - u) - v, u, v];
        Closest { squared: (ap - ab * u - ac * v).length_squared(), weights }
    } else {
        Closest { squared: f64::INFINITY, weights: [1.0, 1.0, 0.0, 0.0] }
    };
    if best.squared < f64::INFINITY && area > 1e-6 * ab.length_squared() * ac.length_squared() {
        return best;
    }
    for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        let (squared, s) = vertex_edge(p, t[i], t[j]);
        if squared < best.squared {
            best.squared = squared;
            best.weights[1 + i] = 1.0 - s;
            best.weights[1 + j] = s;
            best.weights[1 + k] = 0.0;
        }
    }
    best.or_lost(p + t[0] + t[1] + t[2])
}

/// Edges `a` and `b`.
#[inline]
pub fn edge_edge(a: [DVec3; 2], b: [DVec3; 2]) -> Closest {
    let (u, v, r) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let (uu, vv, uv) = (u.dot(u), v.dot(v), u.dot(v));
    let (ur, vr) = (u.dot(r), v.dot(r));
    let det = uu * vv - uv * uv;
    let (s, t) = (uv * vr - vv * ur, uu * vr - uv * ur);
    let inside = det > 0.0 && (0.0..=det).contains(&s) && (0.0..=det).contains(&t);
    if inside && det > 1e-6 * uu * vv {
        let (s, t) = (s / det, t / det);
        let squared = (r + u * s - v * t).length_squared();
        return Closest { squared, weights: [1.0 - s, s, 1.0 - t, t] };
    }
    let mut best = Closest { squared: f64::INFINITY, weights: [1.0, 0.0, 1.0, 0.0] };
    if inside {
        // Nearly parallel: s has few digits, so the other foot is found from the point itself.
        let s = (s / det).clamp(0.0, 1.0);
        let (squared, t) = vertex_edge(a[0] + u * s, b[0], b[1]);
        best = Closest { squared, weights: [1.0 - s, s, 1.0 - t, t] };
    }
    for (k, end) in [(0, 0.0), (1, 1.0)] {
        let (squared, t) = vertex_edge(a[k], b[0], b[1]);
        if squared < best.squared {
            best = Closest { squared, weights: [1.0 - end, end, 1.0 - t, t] };
        }
        let (squared, s) = vertex_edge(b[k], a[0], a[1]);
        if squared < best.squared {
            best = Closest { squared, weights: [1.0 - s, s, 1.0 - end, end] };
        }
    }
    best.or_lost(a[0] + a[1] + b[0] + b[1])
}

/// Squared distance [m²] of `p` from the edge `a`–`b`, and how far along the edge the closest point is [-].
#[inline]
pub fn vertex_edge(p: DVec3, a: DVec3, b: DVec3) -> (f64, f64) {
    let (u, r) = (b - a, p - a);
    let uu = u.length_squared();
    let s = if uu > 0.0 { (u.dot(r) / uu).clamp(0.0, 1.0) } else { 0.0 };
    // From the nearer end: the difference then has all its digits.
    let gap = if s <= 0.5 { r - u * s } else { (p - b) + u * (1.0 - s) };
    (gap.length_squared(), s)
}

impl Closest {
    /// Not a number when nothing could be compared, so that no caller takes garbage for a distance.
    #[inline]
    fn or_lost(self, sum: DVec3) -> Closest {
        if sum.is_finite() { self } else { Closest { squared: f64::NAN, ..self } }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::math::random;

    fn point(seed: u64, i: u64, size: f64) -> DVec3 {
        size * DVec3::new(
            random::signed(seed, 3 * i),
            random::signed(seed, 3 * i + 1),
            random::signed(seed, 3 * i + 2),
        )
    }

    fn gap(c: &Closest, x: [DVec3; 4], split: usize) -> f64 {
        let side = |from: usize, to: usize| (from..to).map(|k| x[k] * c.weights[k]).sum::<DVec3>();
        (side(0, split) - side(split, 4)).length()
    }

    /// Shapes of every kind: fat, sliver, collapsed to an edge or a point, flattened to a plane or a line.
    pub fn quad(i: u64) -> [DVec3; 4] {
        let mut x = [0, 1, 2, 3].map(|k| point(11, 4 * i + k, 1.0));
        match i % 8 {
            1 => x[3] = x[2] + 1e-9 * x[3],
            2 => x[3] = x[2],
            3 => x.iter_mut().for_each(|p| p.y = 0.0),
            4 => x.iter_mut().for_each(|p| *p = DVec3::X * p.x),
            5 => x[3] = x[2] + (x[1] - x[0]) * 0.7,
            6 => x[3] = x[2] + (x[1] - x[0]) * 0.7 + 1e-8 * x[3],
            7 => x[1] = x[2],
            _ => {}
        }
        x
    }

    #[test]
    fn weights_reach_the_distance_and_no_sample_is_closer() {
        for i in 0..8000 {
            let x = quad(i);
            let vf = vertex_face(x[0], [x[1], x[2], x[3]]);
            let ee = edge_edge([x[0], x[1]], [x[2], x[3]]);
            assert!((gap(&vf, x, 1) - vf.squared.sqrt()).abs() < 1e-7, "{i}: {vf:?}");
            assert!((gap(&ee, x, 2) - ee.squared.sqrt()).abs() < 1e-7, "{i}: {ee:?}");
            for w in [vf.weights, ee.weights] {
                assert!(w.iter().all(|w| (-1e-12..=1.0 + 1e-12).contains(w)), "{i}: {w:?}");
            }
            for k in 0..60 {
                let (a, b) = (random::unit(12, 120 * i + 2 * k), random::unit(12, 120 * i + 2 * k + 1));
                let (u, v) = if a + b > 1.0 { (1.0 - a, 1.0 - b) } else { (a, b) };
                let sample = x[1] * (1.0 - u - v) + x[2] * u + x[3] * v;
                assert!((x[0] - sample).length() > vf.squared.sqrt() - 1e-9, "{i}: vertex–face");
                let sample = x[0].lerp(x[1], a) - x[2].lerp(x[3], b);
                assert!(sample.length() > ee.squared.sqrt() - 1e-9, "{i}: edge–edge");
            }
        }
    }

    #[test]
    fn known_answers() {
        let t = [DVec3::ZERO, DVec3::X, DVec3::Y];
        assert_eq!(vertex_face(DVec3::new(0.25, 0.25, 2.0), t).squared, 4.0);
        assert_eq!(vertex_face(DVec3::new(2.0, 0.0, 0.0), t).weights, [1.0, 0.0, 1.0, 0.0]);
        let cross = edge_edge([-DVec3::X, DVec3::X], [DVec3::new(0.0, -1.0, 3.0), DVec3::new(0.0, 1.0, 3.0)]);
        assert_eq!((cross.squared, cross.weights), (9.0, [0.5; 4]));
        assert_eq!(edge_edge([DVec3::ZERO, DVec3::X], [DVec3::Y, DVec3::new(1.0, 1.0, 0.0)]).squared, 1.0);
        assert!(vertex_face(DVec3::splat(f64::NAN), t).squared.is_nan());
        assert!(edge_edge([DVec3::ZERO; 2], [DVec3::splat(f64::INFINITY), DVec3::X]).squared.is_nan());
    }
}
