//! Distances of vertex–face and edge–edge pairs, in closed form and plain f64.
//!
//! These are measurements, not decisions: correct to about 1e-15 of the coordinates, while whether anything meets is
//! decided by exact predicates alone.

use glam::DVec3;

/// Squared distance of a point from a closed triangle [m²] (Ericson, Real-Time Collision Detection, 5.1.5); for a
/// triangle without area, from its edges.
pub(super) fn point_face_squared(p: DVec3, corners: &[DVec3; 3]) -> f64 {
    let [a, b, c] = *corners;
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let normal = ab.cross(ac);
    let size = normal.length_squared();
    if size > 0.0 && size.is_normal() {
        // Inside the prism over the triangle: the distance to the plane, free of cancellation along it.
        let (bp, cp) = (p - b, p - c);
        let inside = [ab.cross(ap), (c - b).cross(bp), (a - c).cross(cp)];
        if inside.iter().all(|side| side.dot(normal) >= 0.0) {
            let height = normal.dot(ap);
            return height * height / size;
        }
    }
    let edges = [(a, b), (b, c), (c, a)];
    edges.iter().map(|&(u, v)| point_segment_squared(p, u, v)).fold(f64::INFINITY, f64::min)
}

fn point_segment_squared(p: DVec3, u: DVec3, v: DVec3) -> f64 {
    let (e, d) = (v - u, p - u);
    let length = e.length_squared();
    let t = if length > 0.0 { (d.dot(e) / length).clamp(0.0, 1.0) } else { 0.0 };
    (d - e * t).length_squared()
}

/// Squared distance of two closed segments [m²] (Ericson, 5.1.9). For nearly parallel ones any s on the overlap is as
/// good, and t is always the best for its s.
pub(super) fn edge_edge_squared([p, q]: [DVec3; 2], [u, v]: [DVec3; 2]) -> f64 {
    let (d, e, r) = (q - p, v - u, p - u);
    let (dd, ee, de) = (d.length_squared(), e.length_squared(), d.dot(e));
    let (dr, er) = (d.dot(r), e.dot(r));
    if dd == 0.0 {
        return point_segment_squared(p, u, v);
    }
    if ee == 0.0 {
        return point_segment_squared(u, p, q);
    }
    let across = dd * ee - de * de;
    let free = if across > 0.0 { ((de * er - dr * ee) / across).clamp(0.0, 1.0) } else { 0.0 };
    let t = (de * free + er) / ee;
    // Where t leaves its segment, clamp it and take the best s for it.
    let (s, t) = if t < 0.0 {
        ((-dr / dd).clamp(0.0, 1.0), 0.0)
    } else if t > 1.0 {
        (((de - dr) / dd).clamp(0.0, 1.0), 1.0)
    } else {
        (free, t)
    };
    (r + d * s - e * t).length_squared()
}

/// Whether two edges are farther apart than a distance given squared [m²], seen across the line between their
/// middles: cheap, and true of almost all edges of neighbouring faces.
#[inline]
pub(super) fn edges_farther_than(distance_squared: f64, [p, q]: [DVec3; 2], [u, v]: [DVec3; 2]) -> bool {
    let (d, e, r) = (q - p, v - u, u - p);
    let across = r + r + e - d;
    let near = across.dot(r);
    let clear = near.min(near + across.dot(e)) - across.dot(d).max(0.0);
    clear > 0.0 && clear * clear > distance_squared * across.length_squared()
}

/// The same for a point and a face.
#[inline]
pub(super) fn point_farther_than(distance_squared: f64, p: DVec3, corners: &[DVec3; 3]) -> bool {
    let [a, b, c] = [corners[0] - p, corners[1] - p, corners[2] - p];
    let across = a + b + c;
    let clear = across.dot(a).min(across.dot(b)).min(across.dot(c));
    clear > 0.0 && clear * clear > distance_squared * across.length_squared()
}
