//! Two faces kept apart by a plane: a test that spares most pairs of faces the comparison of their features.
//!
//! Any direction will do: if one projects two faces onto intervals farther apart than the limit, no features of theirs are
//! within it. Tried are both normals, which part the layers of folded cloth, and the line between the middles. Two faces
//! with a common vertex touch there; if a plane through it has the other vertices of both beyond the limit on
//! either side, then features without a common vertex are farther apart than the limit.

use crate::math::DVec3;

/// Which corners of two faces are the same vertex: bits of the first, bits of the second.
#[inline]
pub(super) fn shared(a: [u32; 3], b: [u32; 3]) -> (u8, u8) {
    let (mut of_a, mut of_b) = (0, 0);
    for i in 0..3 {
        for j in 0..3 {
            let same = u8::from(a[i] == b[j]);
            of_a |= same << i;
            of_b |= same << j;
        }
    }
    (of_a, of_b)
}

/// Whether all features of two faces that have no common vertex are farther apart than `limit` [m], as far as a few planes
/// can tell. `common` is what [`shared`] says.
#[inline(always)]
pub(super) fn faces(a: &[DVec3; 3], b: &[DVec3; 3], common: (u8, u8), limit: f64) -> bool {
    // More than projections and distances lose to rounding.
    let sum = a[0].abs() + a[1].abs() + a[2].abs() + b[0].abs() + b[1].abs() + b[2].abs();
    let limit = limit + 4e-15 * (sum.x + sum.y + sum.z);
    let middles = (b[0] + b[1] + b[2]) - (a[0] + a[1] + a[2]);
    match common {
        (0, 0) => {
            let normal = |t: &[DVec3; 3]| (t[1] - t[0]).cross(t[2] - t[0]);
            parts(a, b, normal(a), limit) || parts(a, b, normal(b), limit) || parts(a, b, middles, limit)
        }
        (i @ (1 | 2 | 4), j @ (1 | 2 | 4)) => {
            let (i, j) = (i as usize >> 1, j as usize >> 1);
            let p = a[i];
            let along = |x: DVec3| middles.dot(x - p);
            let before = along(a[(i + 1) % 3]).max(along(a[(i + 2) % 3]));
            let after = along(b[(j + 1) % 3]).min(along(b[(j + 2) % 3]));
            let far = after.min(-before);
            far > 0.0 && far * far > limit * limit * middles.length_squared()
        }
        _ => false,
    }
}

/// Whether the projections on n are farther apart than `limit` [m].
#[inline(always)]
fn parts(a: &[DVec3; 3], b: &[DVec3; 3], n: DVec3, limit: f64) -> bool {
    let along = |x: DVec3| n.dot(x - a[0]);
    let (a1, a2) = (along(a[1]), along(a[2]));
    let (b0, b1, b2) = (along(b[0]), along(b[1]), along(b[2]));
    let above = b0.min(b1).min(b2) - a1.max(a2).max(0.0);
    let below = a1.min(a2).min(0.0) - b0.max(b1).max(b2);
    let gap = above.max(below);
    gap > 0.0 && gap * gap > limit * limit * n.length_squared()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::proximity::{edge_edge, vertex_face};
    use crate::math::random;

    /// Least distance of features without a common vertex.
    fn least(x: &[DVec3], a: [u32; 3], b: [u32; 3]) -> f64 {
        let at = |t: [u32; 3]| t.map(|v| x[v as usize]);
        let mut least = f64::INFINITY;
        for (t, other) in [(a, b), (b, a)] {
            for v in t.into_iter().filter(|v| !other.contains(v)) {
                least = least.min(vertex_face(x[v as usize], at(other)).squared);
            }
        }
        for i in 0..3 {
            for j in 0..3 {
                let (e, f) = ([a[i], a[(i + 1) % 3]], [b[j], b[(j + 1) % 3]]);
                if !e.iter().any(|v| f.contains(v)) {
                    let ends = |e: [u32; 2]| e.map(|v| x[v as usize]);
                    least = least.min(edge_edge(ends(e), ends(f)).squared);
                }
            }
        }
        least.sqrt()
    }

    #[test]
    fn what_is_called_apart_is_apart() {
        let mut counts = [[0; 2]; 2];
        for i in 0..40_000_u64 {
            let at = |k: u64| random::signed(31, 18 * i + k);
            let thin = [1.0, 1e-6, 0.0][i as usize % 3];
            let point =
                |k: u64| DVec3::new(at(3 * k), at(3 * k + 1) * thin, at(3 * k + 2) + 500.0 * (i % 2) as f64);
            let x: Vec<DVec3> = (0..6).map(point).collect();
            let (a, b) = ([0, 1, 2], if i % 4 == 0 { [3, 2, 5] } else { [3, 4, 5] });
            let common = shared(a, b);
            let corners = |t: [u32; 3]| t.map(|v| x[v as usize]);
            let truth = least(&x, a, b);
            let limit = truth * (0.5 + random::unit(32, i));
            let apart = faces(&corners(a), &corners(b), common, limit);
            assert!(!apart || truth > limit, "{i}: {truth} within {limit}");
            if limit < truth {
                counts[usize::from(common.0 != 0)][usize::from(apart)] += 1;
            }
        }
        assert!(counts.iter().all(|c| c[1] > c[0] / 50), "it is of use: {counts:?}");
    }

    #[test]
    fn common_vertices_are_found() {
        assert_eq!(shared([1, 2, 3], [4, 5, 6]), (0, 0));
        assert_eq!(shared([1, 2, 3], [3, 5, 6]), (4, 1));
        assert_eq!(shared([1, 2, 3], [2, 1, 6]), (3, 3));
    }
}
