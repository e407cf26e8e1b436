//! Whether two faces meet elsewhere than in the vertices they share, decided exactly.
//!
//! Faces are closed sets: a vertex exactly on a face meets it. What sharing means for each case:
//!
//! - no vertex shared: the faces meet when an edge of one meets the other;
//! - one vertex v shared: from any other common point x, the ray from v through x stays in both faces until it leaves
//!   one of them, through the edge opposite to v. So it is enough to test the two opposite edges;
//! - an edge shared: two planes through the edge have nothing else in common unless they coincide; the faces then
//!   overlap when both lie on the same side of the edge, folded flat.
//!
//! Faces without area are segments or points. Only pairs without a common vertex are judged for them: a face without
//! area is a finding of its own, and always touches the neighbours it shares an edge with.

use glam::{DVec2, DVec3};

use super::finding::Meeting;
use super::predicates::{Plane, orient2d, orient3d, projection};

/// A face ready to be tested.
#[derive(Clone, Copy)]
pub(super) struct Face<'a> {
    /// Vertices, numbered over all surfaces.
    pub vertices: [u32; 3],
    /// Corners [m].
    pub x: [DVec3; 3],
    pub plane: &'a Plane,
    /// Whether it has an area (exactly).
    pub open: bool,
}

/// Two faces meet: how, and along which edge (of the first face or not, from corner `corner` to the next).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Meet {
    pub kind: Meeting,
    pub first: bool,
    pub corner: usize,
}

/// How an edge meets a face.
#[derive(Clone, Copy, PartialEq)]
enum Pierce {
    /// The interior of the edge through the interior of the face.
    Through,
    /// Exactly on a boundary, or lying in the plane.
    Touch,
}

/// How two faces meet, `None` where they have nothing but shared vertices in common.
pub(super) fn meet(a: &Face, b: &Face) -> Option<Meet> {
    let shared = Shared::new(a.vertices, b.vertices);
    match shared.count() {
        3 => Some(Meet { kind: Meeting::Duplicate, first: true, corner: 0 }),
        0 if !(a.open && b.open) => meet_closed(a, b),
        _ if !(a.open && b.open) => None,
        2 => folded(a, b, &shared),
        _ => meet_open(a, b, &shared),
    }
}

/// Which corners of two faces are the same vertex.
struct Shared {
    a: [bool; 3],
    b: [bool; 3],
}

impl Shared {
    fn new(a: [u32; 3], b: [u32; 3]) -> Shared {
        Shared { a: a.map(|v| b.contains(&v)), b: b.map(|v| a.contains(&v)) }
    }

    /// The lesser count: a face that repeats a vertex sees it shared twice.
    fn count(&self) -> usize {
        let count = |of: &[bool; 3]| of.iter().filter(|&&s| s).count();
        count(&self.a).min(count(&self.b))
    }
}

/// Two faces with an area and at most one common vertex.
fn meet_open(a: &Face, b: &Face, shared: &Shared) -> Option<Meet> {
    let side_a = sides(a, b, &shared.a)?;
    let side_b = sides(b, a, &shared.b)?;
    if side_a == [0; 3] {
        return coplanar(a, b, shared);
    }
    let mut touch = None;
    for (first, edges_of, other, side, mine) in
        [(true, a, b, &side_a, &shared.a), (false, b, a, &side_b, &shared.b)]
    {
        for corner in free_edges(mine) {
            let (i, j) = (corner, (corner + 1) % 3);
            match pierce(edges_of.x[i], edges_of.x[j], side[i], side[j], &other.x) {
                Some(Pierce::Through) => return Some(Meet { kind: Meeting::Crossing, first, corner }),
                Some(Pierce::Touch) => {
                    touch = touch.or(Some(Meet { kind: Meeting::Touching, first, corner }))
                }
                None => {}
            }
        }
    }
    touch
}

/// Sides of the corners of `a` from the plane of `b`, shared corners being on it; `None` when all others are strictly
/// on one side, so that the faces cannot meet.
fn sides(a: &Face, b: &Face, shared: &[bool; 3]) -> Option<[i32; 3]> {
    let mut sides = [0; 3];
    let (mut above, mut below) = (true, true);
    for k in 0..3 {
        if !shared[k] {
            sides[k] = b.plane.side(&b.x, a.x[k]);
            above &= sides[k] > 0;
            below &= sides[k] < 0;
        }
    }
    (!above && !below).then_some(sides)
}

/// Edges (by first corner) without a shared vertex.
fn free_edges(shared: &[bool; 3]) -> impl Iterator<Item = usize> {
    let shared = *shared;
    (0..3).filter(move |&k| !shared[k] && !shared[(k + 1) % 3])
}

/// The edge p q against a closed face with an area, given the sides of p and q from its plane.
fn pierce(p: DVec3, q: DVec3, side_p: i32, side_q: i32, face: &[DVec3; 3]) -> Option<Pierce> {
    if side_p * side_q > 0 {
        return None;
    }
    if side_p == 0 && side_q == 0 {
        let axis = projection(face)?;
        let flat = face.map(|x| axis.drop(x));
        return segment_meets_triangle(axis.drop(p), axis.drop(q), &flat).then_some(Pierce::Touch);
    }
    // The line p q passes each side of the face on the same hand, or through it.
    let turns = [0, 1, 2].map(|k| orient3d(p, q, face[k], face[(k + 1) % 3]));
    if turns.contains(&1) && turns.contains(&-1) {
        return None;
    }
    let strict = side_p * side_q < 0 && !turns.contains(&0);
    Some(if strict { Pierce::Through } else { Pierce::Touch })
}

/// Two faces of one plane.
fn coplanar(a: &Face, b: &Face, shared: &Shared) -> Option<Meet> {
    let axis = projection(&a.x)?;
    let (flat_a, flat_b) = (a.x.map(|x| axis.drop(x)), b.x.map(|x| axis.drop(x)));
    let hit = |edges: &[DVec2; 3], other: &[DVec2; 3], shared: &[bool; 3]| {
        free_edges(shared).find(|&k| segment_meets_triangle(edges[k], edges[(k + 1) % 3], other))
    };
    let in_a = hit(&flat_a, &flat_b, &shared.a).map(|corner| (true, corner));
    let (first, corner) = in_a.or_else(|| hit(&flat_b, &flat_a, &shared.b).map(|corner| (false, corner)))?;
    let kind = if same_corners(a, b) { Meeting::Duplicate } else { Meeting::Coplanar };
    Some(Meet { kind, first, corner })
}

/// Two faces on a common edge.
fn folded(a: &Face, b: &Face, shared: &Shared) -> Option<Meet> {
    let apex = shared.a.iter().position(|s| !s)?;
    let (u, v, p) = (a.x[(apex + 1) % 3], a.x[(apex + 2) % 3], a.x[apex]);
    let q = b.x[shared.b.iter().position(|s| !s)?];
    if surely_unfolded(v - u, p - u, q - u) || orient3d(u, v, p, q) != 0 {
        return None;
    }
    let axis = projection(&a.x)?;
    let [u, v, p, q] = [u, v, p, q].map(|x| axis.drop(x));
    if orient2d(u, v, p) != orient2d(u, v, q) {
        return None;
    }
    let kind = if same_corners(a, b) { Meeting::Duplicate } else { Meeting::FoldedFlat };
    Some(Meet { kind, first: true, corner: (apex + 1) % 3 })
}

/// Whether the apices p and q surely lie on opposite sides of the edge e, which settles almost every hinge. Each
/// cross product is rounded by at most 8 ε of |e||p|, the dot product by 32 ε of |e|²|p||q|; L1 norms bound those.
fn surely_unfolded(e: DVec3, p: DVec3, q: DVec3) -> bool {
    let l1 = |v: DVec3| v.abs().element_sum();
    e.cross(p).dot(e.cross(q)) < -(1e-14 * l1(e) * l1(e) * l1(p) * l1(q) + 1e-240)
}

fn same_corners(a: &Face, b: &Face) -> bool {
    a.x.iter().all(|p| b.x.contains(p)) && b.x.iter().all(|p| a.x.contains(p))
}

/// Two faces without a common vertex, at least one without area: its edges are all of it.
fn meet_closed(a: &Face, b: &Face) -> Option<Meet> {
    let (first, thin, other) = if a.open { (false, b, a) } else { (true, a, b) };
    (0..3).find_map(|corner| {
        let (p, q) = (thin.x[corner], thin.x[(corner + 1) % 3]);
        let pierced = if other.open {
            let [side_p, side_q] = [p, q].map(|x| other.plane.side(&other.x, x));
            pierce(p, q, side_p, side_q, &other.x)
        } else {
            let crossed = (0..3).any(|k| segments_meet(p, q, other.x[k], other.x[(k + 1) % 3]));
            crossed.then_some(Pierce::Touch)
        };
        let kind = if pierced? == Pierce::Through { Meeting::Crossing } else { Meeting::Touching };
        Some(Meet { kind, first, corner })
    })
}

/// Closed segment against closed triangle in a plane; the triangle has an area.
fn segment_meets_triangle(p: DVec2, q: DVec2, t: &[DVec2; 3]) -> bool {
    let turn = orient2d(t[0], t[1], t[2]);
    let side = |k: usize, x: DVec2| turn * orient2d(t[k], t[(k + 1) % 3], x);
    let (of_p, of_q) = ([0, 1, 2].map(|k| side(k, p)), [0, 1, 2].map(|k| side(k, q)));
    if (0..3).any(|k| of_p[k] < 0 && of_q[k] < 0) {
        return false;
    }
    let inside = |of: [i32; 3]| of.iter().all(|&s| s >= 0);
    inside(of_p) || inside(of_q) || (0..3).any(|k| segments_meet_2d(p, q, t[k], t[(k + 1) % 3]))
}

/// Closed segments in a plane, points included.
fn segments_meet_2d(p: DVec2, q: DVec2, a: DVec2, b: DVec2) -> bool {
    let (of_p, of_q) = (orient2d(a, b, p), orient2d(a, b, q));
    let (of_a, of_b) = (orient2d(p, q, a), orient2d(p, q, b));
    if of_p * of_q > 0 || of_a * of_b > 0 {
        return false;
    }
    if [of_p, of_q, of_a, of_b] != [0; 4] {
        return true;
    }
    // On one line: they meet when their extents do.
    p.min(q).cmple(a.max(b)).all() && a.min(b).cmple(p.max(q)).all()
}

/// Closed segments in space, points included.
fn segments_meet(p: DVec3, q: DVec3, a: DVec3, b: DVec3) -> bool {
    if orient3d(p, q, a, b) != 0 {
        return false;
    }
    // The four points lie in one plane. Along an axis that shows three of them as a triangle, nothing is hidden.
    match [[p, q, a], [p, q, b], [a, b, p], [a, b, q]].iter().find_map(projection) {
        Some(axis) => segments_meet_2d(axis.drop(p), axis.drop(q), axis.drop(a), axis.drop(b)),
        None => p.min(q).cmple(a.max(b)).all() && a.min(b).cmple(p.max(q)).all(),
    }
}

/// Whether a face has an area, exactly.
pub(super) fn has_area(corners: &[DVec3; 3], plane: &Plane) -> bool {
    plane.surely_open() || projection(corners).is_some()
}
