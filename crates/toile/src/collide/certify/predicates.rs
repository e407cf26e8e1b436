//! Signs of determinants, never wrong: a filter that settles almost every case in a few multiplications, then the
//! adaptive predicates of `robust` (Shewchuk 1997), then integers where those would underflow.
//!
//! Coordinates beyond [`LARGEST`] never come here, so nothing overflows.

use glam::{DVec2, DVec3};
use robust::{Coord, Coord3D};

use super::exact;

/// Largest coordinate magnitude judged [m]. A vertex beyond it has exploded; below it products of four differences fit
/// an f64, and the f32 boxes of the tree stay finite.
pub(super) const LARGEST: f64 = 1e30;
/// Smallest non-zero magnitude for which `robust` is exact, 2^-300: the last bit of a coordinate is then at least
/// 2^-352, and every term of a product of three is a multiple of 2^-1056, above the smallest subnormal, 2^-1074.
const SMALLEST: f64 = 4.909_093_465_297_727e-91;
/// Rounding of a computed triple product relative to the sum of its absolute terms. Shewchuk's bound for the same
/// operations (three differences, 2×2 minors, a dot product) is (7 + 56ε) ε with ε = 2^-53; 9 ε also covers the
/// rounding of the sum itself. The bound for the 2×2 determinant, (3 + 16ε) ε, is smaller.
const ROUNDING: f64 = 1e-15;
/// What underflow may add to a determinant: a handful of subnormal errors (2^-1075) times differences below 2^101.
const UNDERFLOW: f64 = 1e-240;

/// The plane through three corners, with the bound that tells when a computed side can be trusted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plane {
    /// (b − a) × (c − a) [m²].
    pub normal: DVec3,
    /// The same with every term taken absolute, times the rounding bound.
    pub doubt: DVec3,
}

impl Plane {
    #[inline]
    pub fn new([a, b, c]: &[DVec3; 3]) -> Plane {
        let (e, f) = (*b - *a, *c - *a);
        let (p, q) =
            (DVec3::new(e.y * f.z, e.z * f.x, e.x * f.y), DVec3::new(e.z * f.y, e.x * f.z, e.y * f.x));
        Plane { normal: p - q, doubt: (p.abs() + q.abs()) * ROUNDING }
    }

    /// Whether the face surely has an area: some component of the normal exceeds its own rounding.
    pub fn surely_open(&self) -> bool {
        self.normal.abs().cmpgt(self.doubt + DVec3::splat(UNDERFLOW)).any()
    }

    /// Height of `p` over the plane of `corners`, times twice its area [m³], and how far off it may be.
    #[inline]
    pub fn height(&self, corners: &[DVec3; 3], p: DVec3) -> (f64, f64) {
        let d = p - corners[0];
        (self.normal.dot(d), self.doubt.dot(d.abs()) + UNDERFLOW)
    }

    /// Side of `p` from the plane of `corners`: +1 where the normal points, 0 on it, −1 below.
    #[inline]
    pub fn side(&self, corners: &[DVec3; 3], p: DVec3) -> i32 {
        let (height, doubt) = self.height(corners, p);
        certain_sign(height, doubt).unwrap_or_else(|| settle3d(corners[0], corners[1], corners[2], p))
    }
}

/// A direction to look along, taken as it is: only what is projected on it rounds.
pub(super) struct Direction {
    along: DVec3,
    doubt: DVec3,
}

impl Direction {
    #[inline]
    pub fn new(along: DVec3) -> Direction {
        Direction { along, doubt: along.abs() * ROUNDING }
    }

    /// At most how far a difference of two positions reaches.
    #[inline]
    pub fn most(&self, difference: DVec3) -> f64 {
        self.along.dot(difference) + (self.doubt.dot(difference.abs()) + UNDERFLOW)
    }

    /// At least how far a difference of two positions reaches.
    #[inline]
    pub fn least(&self, difference: DVec3) -> f64 {
        self.along.dot(difference) - (self.doubt.dot(difference.abs()) + UNDERFLOW)
    }
}

/// Sign of (b − a) × (c − a) · (d − a).
#[inline]
pub(super) fn orient3d(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i32 {
    let corners = [a, b, c];
    Plane::new(&corners).side(&corners, d)
}

/// Sign of (b − a) × (c − a): +1 for a left turn.
#[inline]
pub(super) fn orient2d(a: DVec2, b: DVec2, c: DVec2) -> i32 {
    let (e, f) = (b - a, c - a);
    let (p, q) = (e.x * f.y, e.y * f.x);
    certain_sign(p - q, (p.abs() + q.abs()) * ROUNDING + UNDERFLOW).unwrap_or_else(|| settle2d(a, b, c))
}

/// An axis along which the triangle projects to a triangle, not a segment; `None` exactly when it has no area.
pub(super) fn projection(corners: &[DVec3; 3]) -> Option<Axis> {
    [Axis::Y, Axis::Z, Axis::X].into_iter().find(|axis| {
        let [a, b, c] = corners.map(|p| axis.drop(p));
        orient2d(a, b, c) != 0
    })
}

/// A coordinate axis to look along. Dropping a coordinate rounds nothing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    pub fn drop(self, p: DVec3) -> DVec2 {
        match self {
            Axis::X => DVec2::new(p.y, p.z),
            Axis::Y => DVec2::new(p.z, p.x),
            Axis::Z => DVec2::new(p.x, p.y),
        }
    }
}

#[inline]
fn certain_sign(det: f64, doubt: f64) -> Option<i32> {
    if det > doubt {
        Some(1)
    } else if det < -doubt {
        Some(-1)
    } else {
        None
    }
}

#[cold]
#[inline(never)]
fn settle3d(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i32 {
    // Cloth lying in a coordinate plane is common (every generated sheet) and needs no arithmetic.
    if (a.cmpeq(b) & a.cmpeq(c) & a.cmpeq(d)).any() {
        return 0;
    }
    if ![a, b, c, d].into_iter().flat_map(|p| p.to_array()).all(safe) {
        return exact::orient3d(a, b, c, d);
    }
    let coord = |p: DVec3| Coord3D { x: p.x, y: p.y, z: p.z };
    // `robust` is positive below the plane.
    -sign(robust::orient3d(coord(a), coord(b), coord(c), coord(d)))
}

#[cold]
#[inline(never)]
fn settle2d(a: DVec2, b: DVec2, c: DVec2) -> i32 {
    if ![a, b, c].into_iter().flat_map(|p| p.to_array()).all(safe) {
        return exact::orient2d(a, b, c);
    }
    let coord = |p: DVec2| Coord { x: p.x, y: p.y };
    sign(robust::orient2d(coord(a), coord(b), coord(c)))
}

fn safe(coordinate: f64) -> bool {
    coordinate == 0.0 || coordinate.abs() >= SMALLEST
}

fn sign(value: f64) -> i32 {
    i32::from(value > 0.0) - i32::from(value < 0.0)
}
