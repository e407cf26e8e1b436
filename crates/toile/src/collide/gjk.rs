//! Closest points of convex polygons (M03-15): the Gilbert–Johnson–Keerthi iteration, and every pair of features where
//! it does not come to a proven end (G-14).

use super::proximity::{edge_edge, vertex_edge, vertex_face};
use crate::math::DVec3;

/// Closest points of two polygons.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolygonClosest {
    /// Distance [m]; 0 where they meet, not a number where an input is not, infinite where a polygon has no vertex.
    pub distance: f64,
    /// Point of the first polygon [m].
    pub a: DVec3,
    /// Point of the second polygon [m].
    pub b: DVec3,
}

/// Relative distance between the bounds at which the iteration has come to its end.
const TIGHT: f64 = 1e-10;

/// Distance of two convex planar polygons, corners in order. Triangles are better served by the closed forms.
pub fn polygons(a: &[DVec3], b: &[DVec3]) -> PolygonClosest {
    if !a.iter().chain(b).all(|p| p.is_finite()) {
        return PolygonClosest { distance: f64::NAN, a: DVec3::ZERO, b: DVec3::ZERO };
    }
    iterate(a, b).unwrap_or_else(|| enumerate(a, b))
}

/// A corner of the difference of two polygons, and where it comes from.
#[derive(Clone, Copy)]
struct Support {
    w: DVec3,
    a: DVec3,
    b: DVec3,
}

/// The iteration; `None` where the bounds do not meet, which touching and parallel polygons can bring about.
fn iterate(a: &[DVec3], b: &[DVec3]) -> Option<PolygonClosest> {
    let farthest = |points: &[DVec3], d: DVec3| {
        let best = |m: DVec3, p: &DVec3| if p.dot(d) > m.dot(d) { *p } else { m };
        Some(points[1..].iter().fold(*points.first()?, best))
    };
    let support = |d: DVec3| {
        let (p, q) = (farthest(a, d)?, farthest(b, -d)?);
        Some(Support { w: p - q, a: p, b: q })
    };
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let scale = a.iter().chain(b).fold(0.0, |m: f64, p| m.max((*p - a[0]).length()));
    let mut simplex = vec![support(a[0] - b[0])?];
    let mut weights = vec![1.0];
    for _ in 0..64 {
        let sum = |of: fn(&Support) -> DVec3| {
            simplex.iter().zip(&weights).fold(DVec3::ZERO, |sum, (s, w)| sum + of(s) * *w)
        };
        let v = sum(|s| s.w);
        let next = support(-v)?;
        // v·w/|v| is below the distance, |v| above.
        let (upper, lower) = (v.length(), v.dot(next.w) / v.length());
        if upper - lower <= TIGHT * (upper + 1e-3 * scale) {
            return Some(PolygonClosest { distance: upper, a: sum(|s| s.a), b: sum(|s| s.b) });
        }
        if simplex.len() == 4 || simplex.iter().any(|s| s.w == next.w) {
            return None;
        }
        simplex.push(next);
        weights = nearest(&simplex.iter().map(|s| s.w).collect::<Vec<_>>());
        let keep: Vec<bool> = weights.iter().map(|w| *w > 0.0).collect();
        let mut at = keep.iter();
        simplex.retain(|_| at.next() == Some(&true));
        weights.retain(|w| *w > 0.0);
    }
    None
}

/// Weights of the point of a simplex that is nearest to the origin.
fn nearest(w: &[DVec3]) -> Vec<f64> {
    let mut best = (f64::INFINITY, vec![0.0; w.len()]);
    let mut offer = |squared: f64, parts: &[(usize, f64)]| {
        if squared < best.0 {
            best = (squared, vec![0.0; w.len()]);
            parts.iter().for_each(|(k, weight)| best.1[*k] += weight);
        }
    };
    match w.len() {
        1 => offer(0.0, &[(0, 1.0)]),
        2 => {
            let (squared, s) = vertex_edge(DVec3::ZERO, w[0], w[1]);
            offer(squared, &[(0, 1.0 - s), (1, s)]);
        }
        _ => {
            for skip in 0..if w.len() == 3 { 1 } else { 4 } {
                let [i, j, k] = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]][skip];
                let c = vertex_face(DVec3::ZERO, [w[i], w[j], w[k]]);
                offer(c.squared, &[(i, c.weights[1]), (j, c.weights[2]), (k, c.weights[3])]);
            }
        }
    }
    best.1
}

/// Every vertex with every face of a fan, every edge with every edge, and edges through faces. Slow, and always right.
pub fn enumerate(a: &[DVec3], b: &[DVec3]) -> PolygonClosest {
    let mut best = PolygonClosest { distance: f64::INFINITY, a: DVec3::ZERO, b: DVec3::ZERO };
    let mut offer = |squared: f64, p: DVec3, q: DVec3| {
        let distance = squared.sqrt();
        if distance < best.distance {
            best = PolygonClosest { distance, a: p, b: q };
        }
    };
    let sides = |p: &[DVec3]| (0..p.len()).map(|i| [p[i], p[(i + 1) % p.len()]]).collect::<Vec<_>>();
    for e in sides(a) {
        for f in sides(b) {
            let c = edge_edge(e, f);
            let (p, q) = (e[0].lerp(e[1], c.weights[1]), f[0].lerp(f[1], c.weights[3]));
            offer(c.squared, p, q);
        }
    }
    for (points, other, swapped) in [(a, b, false), (b, a, true)] {
        for t in fan(other) {
            for p in points {
                let c = vertex_face(*p, t);
                let q = t[0] * c.weights[1] + t[1] * c.weights[2] + t[2] * c.weights[3];
                if swapped { offer(c.squared, q, *p) } else { offer(c.squared, *p, q) }
            }
            for [p, q] in sides(points) {
                if let Some(at) = pierce(p, q, t) {
                    offer(0.0, at, at);
                }
            }
        }
    }
    best
}

fn fan(p: &[DVec3]) -> impl Iterator<Item = [DVec3; 3]> + '_ {
    (2..p.len()).map(|k| [p[0], p[k - 1], p[k]])
}

/// Where the segment p–q goes through a triangle.
fn pierce(p: DVec3, q: DVec3, t: [DVec3; 3]) -> Option<DVec3> {
    let n = (t[1] - t[0]).cross(t[2] - t[0]);
    let (hp, hq) = (n.dot(p - t[0]), n.dot(q - t[0]));
    if hp * hq >= 0.0 {
        return None;
    }
    let at = p.lerp(q, hp / (hp - hq));
    let inside = |i: usize, j: usize| n.dot((t[j] - t[i]).cross(at - t[i])) >= 0.0;
    (inside(0, 1) && inside(1, 2) && inside(2, 0)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    fn polygon(seed: u64, corners: usize, flat: bool) -> Vec<DVec3> {
        let at = |k| random::signed(seed, k);
        let (centre, u) = (DVec3::new(at(0), at(1), at(2)), DVec3::new(at(3), at(4), at(5)));
        let u = if flat { DVec3::X } else { u.normalize_or(DVec3::X) };
        let v = if flat { DVec3::Z } else { u.any_orthonormal_vector() };
        let centre =
            if flat { DVec3::new(centre.x, (4.0 * centre.y).round() / 4.0, centre.z) } else { centre };
        let size = 0.2 + 0.5 * random::unit(seed, 6);
        let turn = |k: usize| {
            std::f64::consts::TAU * (k as f64 + 0.4 * random::unit(seed, 10 + k as u64)) / corners as f64
        };
        (0..corners).map(|k| libm::sincos(turn(k))).map(|(s, c)| centre + (u * c + v * s) * size).collect()
    }

    #[test]
    fn the_iteration_agrees_with_every_pair_of_features() {
        let (mut met, mut finished) = (0, 0);
        for i in 0..4000 {
            // One in three pairs lies in parallel planes, some of them in the same.
            let (n, m, flat) = (3 + i as usize % 6, 3 + i as usize / 7 % 5, i % 3 == 0);
            let (a, b) = (polygon(2 * i, n, flat), polygon(2 * i + 1, m, flat));
            let (fast, slow) = (polygons(&a, &b), enumerate(&a, &b));
            assert!((fast.distance - slow.distance).abs() < 1e-7, "{i}: {fast:?} {slow:?}");
            assert!(((fast.a - fast.b).length() - fast.distance).abs() < 1e-7, "{i}: {fast:?}");
            met += u32::from(slow.distance == 0.0);
            finished += u32::from(iterate(&a, &b).is_some());
        }
        assert!(met > 100 && finished > 2000, "{met} meet, {finished} by iteration");
    }

    #[test]
    fn polygons_without_extent_or_place_are_answered() {
        let square = [DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::Y];
        let above = DVec3::new(0.5, 0.5, 2.0);
        assert!((polygons(&square, &[above]).distance - 2.0).abs() < 1e-9);
        assert!((polygons(&square, &[above; 5]).distance - 2.0).abs() < 1e-9);
        assert_eq!(polygons(&square, &square).distance, 0.0);
        assert!(polygons(&square, &[]).distance.is_infinite());
        assert!(polygons(&square, &[DVec3::splat(f64::NAN)]).distance.is_nan());
    }
}
