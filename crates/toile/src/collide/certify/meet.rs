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
//! A face without area is a fault of its own and does not come here; except those of bodies, which are tolerated: as
//! needles, they must not pierce the cloth.
//!
//! Nearly all pairs are far from meeting. Before any exact predicate, a few products with a rounding bound look for a
//! plane that surely separates them.

use glam::{DVec2, DVec3};

use super::finding::Meeting;
use super::predicates::{Direction, Plane, orient2d, orient3d, projection};

/// A face ready to be tested.
#[derive(Clone, Copy)]
pub(super) struct Face {
    /// Number over all surfaces.
    pub number: u32,
    /// Vertices, numbered over all surfaces.
    pub vertices: [u32; 3],
    /// Whether it has an area (exactly).
    pub open: bool,
    /// Corners [m].
    pub x: [DVec3; 3],
    pub plane: Plane,
}

impl Face {
    pub fn new(number: u32, vertices: [u32; 3], x: [DVec3; 3]) -> Face {
        let plane = Plane::new(&x);
        Face { number, vertices, open: plane.surely_open() || projection(&x).is_some(), x, plane }
    }

    /// How far another face surely stays on one side of the plane of this one, times twice its area [m³]; not
    /// positive where it may reach it.
    #[inline]
    pub fn clearance(&self, other: &Face) -> f64 {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for &p in &other.x {
            let (height, doubt) = self.plane.height(&self.x, p);
            least = least.min(height - doubt);
            most = most.max(height + doubt);
        }
        least.max(-most)
    }

    /// Vertices of the edge that starts at a corner.
    #[inline]
    pub fn ends(&self, corner: usize) -> [u32; 2] {
        [self.vertices[corner], self.vertices[(corner + 1) % 3]]
    }

    /// Ends of the edge that starts at a corner [m].
    #[inline]
    pub fn edge(&self, corner: usize) -> [DVec3; 2] {
        [self.x[corner], self.x[(corner + 1) % 3]]
    }
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
pub(super) fn meet(a: &Face, b: &Face, shared: &Shared) -> Option<Meet> {
    match shared.count {
        0 if surely_apart(a, b) => None,
        1 if surely_fanned(a, b, shared) => None,
        3 => Some(Meet { kind: Meeting::Duplicate, first: true, corner: 0 }),
        0 if !a.open => needle(a, b).map(|(kind, corner)| Meet { kind, first: true, corner }),
        0 if !b.open => needle(b, a).map(|(kind, corner)| Meet { kind, first: false, corner }),
        _ if !(a.open && b.open) => None,
        2 => folded(a, b, shared),
        _ => meet_open(a, b, shared),
    }
}

/// Which corners of two faces are the same vertex.
pub(super) struct Shared {
    pub a: [bool; 3],
    b: [bool; 3],
    pub count: usize,
}

impl Shared {
    #[inline]
    pub fn new(a: &[u32; 3], b: &[u32; 3]) -> Shared {
        let has = |f: &[u32; 3], v: u32| f[0] == v || f[1] == v || f[2] == v;
        let in_a = [has(b, a[0]), has(b, a[1]), has(b, a[2])];
        let in_b = [has(a, b[0]), has(a, b[1]), has(a, b[2])];
        let count = |of: [bool; 3]| usize::from(of[0]) + usize::from(of[1]) + usize::from(of[2]);
        // The lesser count: a face that repeats a vertex sees it shared twice.
        Shared { a: in_a, b: in_b, count: count(in_a).min(count(in_b)) }
    }
}

/// Whether a plane surely separates two faces: that of one of them, or one across the line between their centres.
#[inline]
fn surely_apart(a: &Face, b: &Face) -> bool {
    a.clearance(b) > 0.0 || b.clearance(a) > 0.0 || {
        let origin = a.x[0];
        let [e, f] = [a.x[1] - origin, a.x[2] - origin];
        let [p, q, r] = [b.x[0] - origin, b.x[1] - origin, b.x[2] - origin];
        let across = Direction::new((p + q + r) - (e + f));
        // The farthest of a, at most, against the nearest of b, at least.
        let far = across.most(e).max(across.most(f)).max(0.0);
        across.least(p).min(across.least(q)).min(across.least(r)) > far
    }
}

/// Whether a plane through the one shared vertex surely separates all other corners, which settles almost every pair
/// of a fan: the plane across the mean of all corners, each weighted by its inverse square so that near and far ones
/// count alike. A direction that is not finite separates nothing.
#[inline]
fn surely_fanned(a: &Face, b: &Face, shared: &Shared) -> bool {
    let [p, q, r, s] = fan(a, b, shared);
    let alike = |x: DVec3| x * (1.0 / x.length_squared());
    let across = Direction::new(-(alike(p) + alike(q) + alike(r) + alike(s)));
    across.most(p) < 0.0 && across.most(q) < 0.0 && across.most(r) < 0.0 && across.most(s) < 0.0
}

/// The other corners of two faces as seen from the one vertex they share [m], those of b mirrored in it: a plane
/// through the vertex separates the faces when it has all four on one side.
#[inline]
pub(super) fn fan(a: &Face, b: &Face, shared: &Shared) -> [DVec3; 4] {
    let (v, p, q) = from_corner(&a.x, &shared.a);
    let (_, r, s) = from_corner(&b.x, &shared.b);
    [p - v, q - v, v - r, v - s]
}

/// The shared corner, then the two others.
#[inline]
fn from_corner(x: &[DVec3; 3], shared: &[bool; 3]) -> (DVec3, DVec3, DVec3) {
    if shared[0] {
        (x[0], x[1], x[2])
    } else if shared[1] {
        (x[1], x[2], x[0])
    } else {
        (x[2], x[0], x[1])
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
    let (i, j) = (shared.a.iter().position(|s| !s)?, shared.b.iter().position(|s| !s)?);
    // Both normals as edge × apex, for the edge as it runs in a.
    let turned = a.vertices[(i + 1) % 3] != b.vertices[(j + 1) % 3];
    if surely_unfolded(&a.plane, &b.plane, turned) {
        return None;
    }
    let (u, v, p, q) = (a.x[(i + 1) % 3], a.x[(i + 2) % 3], a.x[i], b.x[j]);
    if orient3d(u, v, p, q) != 0 {
        return None;
    }
    let axis = projection(&a.x)?;
    let [u, v, p, q] = [u, v, p, q].map(|x| axis.drop(x));
    if orient2d(u, v, p) != orient2d(u, v, q) {
        return None;
    }
    let kind = if same_corners(a, b) { Meeting::Duplicate } else { Meeting::FoldedFlat };
    Some(Meet { kind, first: true, corner: (i + 1) % 3 })
}

/// Whether two faces on an edge surely lie on opposite sides of it, which settles almost every hinge: folded flat,
/// their normals (as edge × apex) point the same way. `turned` tells that the edge runs the other way in b.
#[inline]
fn surely_unfolded(a: &Plane, b: &Plane, turned: bool) -> bool {
    let (p, q) = (a.normal.abs(), b.normal.abs());
    let dot = if turned { -a.normal.dot(b.normal) } else { a.normal.dot(b.normal) };
    // Each normal is off by its doubt; the products and sums of the dot product round by less than that again.
    dot < -(2.0 * (a.doubt.dot(q + b.doubt) + p.dot(b.doubt)) + 1e-100)
}

fn same_corners(a: &Face, b: &Face) -> bool {
    a.x.iter().all(|p| b.x.contains(p)) && b.x.iter().all(|p| a.x.contains(p))
}

/// A face without area, whose edges are all of it, against one with an area.
fn needle(thin: &Face, other: &Face) -> Option<(Meeting, usize)> {
    if !other.open {
        return None;
    }
    (0..3).find_map(|corner| {
        let [p, q] = thin.edge(corner);
        let (side_p, side_q) = (other.plane.side(&other.x, p), other.plane.side(&other.x, q));
        match pierce(p, q, side_p, side_q, &other.x)? {
            Pierce::Through => Some((Meeting::Crossing, corner)),
            Pierce::Touch => Some((Meeting::Touching, corner)),
        }
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
