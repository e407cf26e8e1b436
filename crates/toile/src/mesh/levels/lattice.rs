//! Where the points of refined faces lie: exact places on a triangular lattice, the same seen from every face.
//!
//! A base face whose sides are cut into n = 2^most parts carries a lattice; a [`Spot`] counts in it the parts towards
//! the first and the second corner. Midpoints, and which triangle a point is in, are integer arithmetic.

use super::Face;

/// A lattice point of a base face: its weights of the first and second corner, in parts of n. The third has the rest.
pub(super) type Spot = [u32; 2];

/// Who a point is, whichever face looks at it. In this order the vertices of refined meshes are numbered, so that a mesh
/// depends on which faces are split and on nothing that happened before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// On a base edge, with its ends ascending: parts of the way from the first to the second.
    Edge([u32; 2], u32),
    /// Inside a base face.
    Inside(u32, Spot),
}

/// The spots of the corners of a base face.
pub(super) fn corners(n: u32) -> [Spot; 3] {
    [[n, 0], [0, n], [0, 0]]
}

/// The point half way. Ends of an edge that may be split are an even number of parts apart.
pub(super) fn midpoint(p: Spot, q: Spot) -> Spot {
    [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2]
}

/// The place of a spot of base face `face` with vertices `ends`, which must not be one of its corners.
pub(super) fn place(n: u32, face: Face, ends: [u32; 3], spot: Spot) -> Place {
    let weights = [spot[0], spot[1], n - spot[0] - spot[1]];
    let Some(opposite) = weights.iter().position(|&w| w == 0) else {
        return Place::Inside(face, spot);
    };
    let (a, b) = ((opposite + 1) % 3, (opposite + 2) % 3);
    if ends[a] < ends[b] {
        Place::Edge([ends[a], ends[b]], weights[b])
    } else {
        Place::Edge([ends[b], ends[a]], weights[a])
    }
}

/// Three times the middle of a triangle.
pub(super) fn thrice_middle(t: &[Spot; 3]) -> [i64; 2] {
    [0, 1].map(|axis| t.iter().map(|spot| i64::from(spot[axis])).sum())
}

/// Whether a triangle, turning as base faces do, contains a point given three times as large; its border counts.
pub(super) fn contains(t: &[Spot; 3], thrice: [i64; 2]) -> bool {
    (0..3).all(|k| {
        let [p, q] = [t[k], t[(k + 1) % 3]].map(|spot| spot.map(|x| 3 * i64::from(x)));
        (q[0] - p[0]) * (thrice[1] - p[1]) - (q[1] - p[1]) * (thrice[0] - p[0]) >= 0
    })
}

/// The weights of a triangle's corners in a point that it contains; `None` of any other point. Exact where its area is a power of two
/// of that of the base face.
pub(super) fn weights(t: &[Spot; 3], spot: Spot) -> Option<[f64; 3]> {
    if !contains(t, spot.map(|x| 3 * i64::from(x))) {
        return None;
    }
    let twice = |p: Spot, q: Spot, r: Spot| {
        let along = |to: Spot, axis: usize| i64::from(to[axis]) - i64::from(p[axis]);
        (along(q, 0) * along(r, 1) - along(q, 1) * along(r, 0)) as f64
    };
    let whole = twice(t[0], t[1], t[2]);
    Some([0, 1, 2].map(|k| twice(spot, t[(k + 1) % 3], t[(k + 2) % 3]) / whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_on_an_edge_is_one_place_for_both_faces() {
        // Faces (7, 3, 9) and (3, 7, 5) share the edge 3–7; a quarter of the way from 3.
        let first = place(4, 0, [7, 3, 9], [1, 3]);
        let second = place(4, 1, [3, 7, 5], [3, 1]);
        assert_eq!(first, second);
        assert_eq!(first, Place::Edge([3, 7], 1));
        assert_eq!(place(4, 6, [7, 3, 9], [1, 1]), Place::Inside(6, [1, 1]));
    }

    #[test]
    fn the_middle_is_in_one_child_only() {
        let [a, b, c] = corners(4);
        let [ab, bc, ca] = [midpoint(a, b), midpoint(b, c), midpoint(c, a)];
        let middle = thrice_middle(&[a, b, c]);
        let children = [[a, ab, ca], [ab, b, bc], [ca, bc, c], [bc, ca, ab]];
        assert_eq!(children.map(|t| contains(&t, middle)), [false, false, false, true]);
    }
}
