//! Whether two moving features ever touch, without rounding.
//!
//! If a vertex touches a face, or two edges touch, the first time is 0 or one at which some polynomial of the motion
//! vanishes that does not vanish throughout:
//! * the volume of the four points; it vanishes throughout only for motions that stay in a (moving) plane;
//! * in a plane, a vertex enters a face over one of its sides, and edges first touch at an end: then a vertex is on an
//!   edge, and all components of (b − a) × (p − a) vanish;
//! * on a line, a vertex enters an edge at an end: (p − a)·(b − a) or (p − b)·(b − a) vanishes, or p − a where the edge
//!   has no length.
//!
//! Touching is decided exactly at each of these algebraic times by signs of further polynomials.

use super::polynomial::{Dyadic, Polynomial, Root};
use num_bigint::BigInt;
use num_traits::Zero;

/// What moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A vertex, then the corners of a face.
    VertexFace,
    /// The ends of an edge, then those of another.
    EdgeEdge,
}

type Vector = [Polynomial; 3];

/// The first time at which the features touch, if they do.
pub fn first_touch(kind: Kind, start: &[[BigInt; 3]; 4], end: &[[BigInt; 3]; 4]) -> Option<Root> {
    let points: [Vector; 4] =
        std::array::from_fn(|i| std::array::from_fn(|k| Polynomial::linear(&start[i][k], &end[i][k])));
    let [a, b, c, d] = &points;
    let volume = dot(&cross(&sub(b, a), &sub(c, a)), &sub(d, a));
    let pairs: &[(usize, [usize; 2])] = match kind {
        Kind::VertexFace => &[(0, [1, 2]), (0, [2, 3]), (0, [3, 1])],
        Kind::EdgeEdge => &[(0, [2, 3]), (1, [2, 3]), (2, [0, 1]), (3, [0, 1])],
    };
    let mut times = vec![Root::exactly(Dyadic::new(0))];
    if volume.is_zero() {
        for &(p, [a, b]) in pairs {
            let (p, a, b) = (&points[p], &points[a], &points[b]);
            let (side, from_a, from_b) = (sub(b, a), sub(p, a), sub(p, b));
            let area = cross(&side, &from_a);
            let ends = [dot(&from_a, &side), dot(&from_b, &side)];
            times.extend(area.iter().chain(&ends).chain(&from_a).flat_map(Polynomial::roots));
        }
    } else {
        times.extend(volume.roots());
    }
    let mut touching: Vec<Root> = Vec::new();
    for mut time in times {
        let met = time.sign_of(&volume) == 0
            && match kind {
                Kind::VertexFace => in_face(&mut time, &points),
                Kind::EdgeEdge => edges_meet(&mut time, &points),
            };
        if met {
            touching.push(time);
        }
    }
    // Roots of different polynomials may lie in overlapping intervals: narrow them all before choosing.
    for time in &mut touching {
        (0..64).for_each(|_| time.refine());
    }
    touching.into_iter().min_by(|a, b| a.low.to_f64().total_cmp(&b.low.to_f64()))
}

/// Whether a vertex in the plane of a face is in the face.
fn in_face(time: &mut Root, [p, a, b, c]: &[Vector; 4]) -> bool {
    let normal = cross(&sub(b, a), &sub(c, a));
    if normal.iter().all(|n| time.sign_of(n) == 0) {
        // A face without area is its sides.
        return [(a, b), (b, c), (c, a)].into_iter().any(|(a, b)| on_edge(time, p, a, b));
    }
    let inner = |a: &Vector, b: &Vector| dot(&normal, &cross(&sub(b, a), &sub(p, a)));
    [(a, b), (b, c), (c, a)].into_iter().all(|(a, b)| time.sign_of(&inner(a, b)) >= 0)
}

fn on_edge(time: &mut Root, p: &Vector, a: &Vector, b: &Vector) -> bool {
    let (side, from_a, from_b) = (sub(b, a), sub(p, a), sub(p, b));
    cross(&side, &from_a).iter().all(|n| time.sign_of(n) == 0)
        && time.sign_of(&dot(&from_a, &side)) >= 0
        && time.sign_of(&dot(&from_b, &side)) <= 0
        // On an edge without length the vertex must be at its place, which the cross product does not say.
        && (side.iter().any(|s| time.sign_of(s) != 0) || from_a.iter().all(|s| time.sign_of(s) == 0))
}

/// Whether two edges in one plane have a common point.
fn edges_meet(time: &mut Root, [a, b, c, d]: &[Vector; 4]) -> bool {
    if on_edge(time, a, c, d) || on_edge(time, b, c, d) || on_edge(time, c, a, b) || on_edge(time, d, a, b) {
        return true;
    }
    let (e, f) = (sub(b, a), sub(d, c));
    let normal = cross(&e, &f);
    if normal.iter().all(|n| time.sign_of(n) == 0) {
        return false; // parallel, or without length: only ends can touch
    }
    let side = |origin: &Vector, along: &Vector, p: &Vector| dot(&normal, &cross(along, &sub(p, origin)));
    let across = time.sign_of(&side(a, &e, c)) * time.sign_of(&side(a, &e, d));
    across <= 0 && time.sign_of(&side(c, &f, a)) * time.sign_of(&side(c, &f, b)) <= 0
}

fn sub(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|k| a[k].minus(&b[k]))
}

fn dot(a: &Vector, b: &Vector) -> Polynomial {
    a[0].times(&b[0]).plus(&a[1].times(&b[1])).plus(&a[2].times(&b[2]))
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        a[i].times(&b[j]).minus(&a[j].times(&b[i]))
    })
}

/// Finite numbers as integers in one common unit, a power of two.
pub fn integers<const N: usize>(values: &[f64; N]) -> [BigInt; N] {
    let split = |value: f64| {
        let bits = value.to_bits();
        let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
        let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        let trailing = i64::from(mantissa.trailing_zeros().min(63));
        (mantissa, exponent.max(1), trailing)
    };
    let unit = values
        .iter()
        .map(|v| split(*v))
        .filter(|(m, _, _)| *m != 0)
        .map(|(_, e, trailing)| e + trailing)
        .min()
        .unwrap_or(0);
    values.map(|value| {
        let (mantissa, exponent, _) = split(value);
        if mantissa == 0 {
            return BigInt::zero();
        }
        let shift = exponent - unit;
        let size =
            if shift >= 0 { BigInt::from(mantissa) << shift } else { BigInt::from(mantissa >> -shift) };
        if value < 0.0 { -size } else { size }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(kind: Kind, start: [[i64; 3]; 4], end: [[i64; 3]; 4]) -> Option<f64> {
        let big = |p: [[i64; 3]; 4]| p.map(|p| p.map(BigInt::from));
        first_touch(kind, &big(start), &big(end)).map(|root| root.low.to_f64())
    }

    #[test]
    fn known_answers() {
        let face = [[-3, 0, -3], [3, 0, -3], [0, 0, 3]];
        let over = |from: [i64; 3], to: [i64; 3]| {
            let [a, b, c] = face;
            touch(Kind::VertexFace, [from, a, b, c], [to, a, b, c])
        };
        let near = |found: Option<f64>, t: f64| found.is_some_and(|f| (f - t).abs() < 1e-12);
        assert!(near(over([0, 2, 0], [0, -1, 0]), 2.0 / 3.0));
        assert_eq!(over([0, 2, 0], [0, 1, 0]), None);
        assert_eq!(over([4, 2, 0], [4, -1, 0]), None);
        assert!(near(over([0, 2, -3], [0, -2, -3]), 0.5), "on a side");
        assert!(near(over([3, 2, -3], [3, -2, -3]), 0.5), "on a corner");
        assert!(near(over([-9, 0, -3], [3, 0, -3]), 0.5), "slides along a side");
        assert!(near(over([-9, 0, -1], [3, 0, -1]), 7.0 / 12.0), "slides in the plane");
        assert_eq!(over([-9, 0, -4], [9, 0, -4]), None, "slides past");
        assert!(near(over([0, 0, 0], [0, 5, 0]), 0.0), "starts inside");
        // Edges: crossing, parallel in a plane, collinear, points.
        let still = [[0, 0, -2], [0, 0, 2]];
        let edges = |a: [[i64; 3]; 2], b: [[i64; 3]; 2]| {
            touch(Kind::EdgeEdge, [a[0], a[1], still[0], still[1]], [b[0], b[1], still[0], still[1]])
        };
        assert!(near(edges([[-1, 1, 0], [1, 1, 0]], [[-1, -1, 0], [1, -1, 0]]), 0.5));
        assert_eq!(edges([[-1, 1, 3], [1, 1, 3]], [[-1, -1, 3], [1, -1, 3]]), None);
        assert!(near(edges([[4, 0, -1], [4, 0, 9]], [[-4, 0, -1], [-4, 0, 9]]), 0.5));
        assert!(near(edges([[0, 0, 4], [0, 0, 6]], [[0, 0, 0], [0, 0, 2]]), 0.5));
        assert_eq!(edges([[0, 0, 4], [0, 0, 6]], [[0, 0, 3], [0, 0, 5]]), None);
        assert!(near(edges([[3, 0, 1], [3, 0, 1]], [[-1, 0, 1], [-1, 0, 1]]), 0.75));
        assert_eq!(edges([[3, 0, 3], [3, 0, 3]], [[-1, 0, 3], [-1, 0, 3]]), None);
    }

    #[test]
    fn numbers_become_integers_in_proportion() {
        let [a, b, c, d] = integers(&[0.75, -3.0, 0.0, 1e-3]);
        assert_eq!(&a * -4, b.clone());
        assert!(c.is_zero() && d > BigInt::zero());
        assert_eq!(integers(&[6.0, -2.0, 0.0]), [3, -1, 0].map(BigInt::from));
        assert_eq!(integers(&[5e-324, 1.0])[0], BigInt::from(1));
    }
}
