//! Discrete-oriented polytopes: one interval per fixed direction (M03-1).
//!
//! A k-DOP has k faces in k/2 parallel pairs, called slabs. The slab count names the set of directions, so it is a
//! const parameter and nothing is decided at run time inside a loop. Intervals are f32 and rounded outward: an
//! interval always contains the f64 values it was made from, and half the memory halves the time of refits.

use crate::math::DVec3;

/// (1 + √5)/2: the dodecahedron's faces look along (0, ±1, φ) and its cyclic permutations.
const PHI: f64 = 1.618_033_988_749_895;

const BOX: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const CORNERS: [[f64; 3]; 4] = [[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0], [1.0, -1.0, -1.0]];
const DODECA: [[f64; 3]; 6] =
    [[0.0, 1.0, PHI], [0.0, 1.0, -PHI], [1.0, PHI, 0.0], [1.0, -PHI, 0.0], [PHI, 0.0, 1.0], [PHI, 0.0, -1.0]];
const RIMS: [[f64; 3]; 6] =
    [[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, -1.0], [0.0, 1.0, 1.0], [0.0, 1.0, -1.0]];

const N14: [[f64; 3]; 7] = [BOX[0], BOX[1], BOX[2], CORNERS[0], CORNERS[1], CORNERS[2], CORNERS[3]];
const N18: [[f64; 3]; 9] = [BOX[0], BOX[1], BOX[2], RIMS[0], RIMS[1], RIMS[2], RIMS[3], RIMS[4], RIMS[5]];
const N26: [[f64; 3]; 13] = [
    BOX[0], BOX[1], BOX[2], CORNERS[0], CORNERS[1], CORNERS[2], CORNERS[3], RIMS[0], RIMS[1], RIMS[2],
    RIMS[3], RIMS[4], RIMS[5],
];

/// Which k-DOP bounds the nodes of a hierarchy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dop {
    /// Axis-aligned boxes: cheapest to refit and test, loosest round tilted cloth.
    K6,
    /// Octahedra.
    K8,
    /// The six axes of a dodecahedron (V00-17).
    K12,
    /// Boxes with clipped corners.
    K14,
    /// Boxes with clipped edges: what M03 uses.
    #[default]
    K18,
    /// Boxes with clipped edges and corners.
    K26,
}

impl Dop {
    /// All of them, by rising k.
    pub const ALL: [Dop; 6] = [Dop::K6, Dop::K8, Dop::K12, Dop::K14, Dop::K18, Dop::K26];

    /// Number of faces.
    pub fn k(self) -> usize {
        2 * self.normals().len()
    }

    /// One normal per slab, not normalised (E20 is about what that means for distances).
    pub fn normals(self) -> &'static [[f64; 3]] {
        match self {
            Dop::K6 => &BOX,
            Dop::K8 => &CORNERS,
            Dop::K12 => &DODECA,
            Dop::K14 => &N14,
            Dop::K18 => &N18,
            Dop::K26 => &N26,
        }
    }
}

/// The normals of the k-DOP with `S` slabs; none for an `S` that names no set.
#[inline]
pub fn normals<const S: usize>() -> &'static [[f64; 3]] {
    match S {
        3 => &BOX,
        4 => &CORNERS,
        6 => &DODECA,
        7 => &N14,
        9 => &N18,
        13 => &N26,
        _ => &[],
    }
}

/// Length of each normal.
pub fn lengths<const S: usize>() -> [f64; S] {
    let mut out = [1.0; S];
    for (length, n) in out.iter_mut().zip(normals::<S>()) {
        *length = DVec3::from_array(*n).length();
    }
    out
}

/// n·x for each slab.
#[inline]
pub fn project<const S: usize>(x: DVec3) -> [f64; S] {
    let mut out = [0.0; S];
    for (p, n) in out.iter_mut().zip(normals::<S>()) {
        *p = n[0] * x.x + n[1] * x.y + n[2] * x.z;
    }
    out
}

/// The intervals of a k-DOP with `S` = k/2 slabs: all points with `lo` ≤ n·x ≤ `hi` for every slab.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kdop<const S: usize> {
    /// Lower ends.
    pub lo: [f32; S],
    /// Upper ends.
    pub hi: [f32; S],
}

impl<const S: usize> Kdop<S> {
    /// Contains nothing and overlaps nothing.
    pub const EMPTY: Kdop<S> = Kdop { lo: [f32::INFINITY; S], hi: [f32::NEG_INFINITY; S] };

    /// A point, moved out by `below` against and by `above` along each normal, in units of |n|.
    #[inline]
    pub fn around(x: DVec3, below: &[f64; S], above: &[f64; S]) -> Kdop<S> {
        let p = project::<S>(x);
        let mut out = Kdop::EMPTY;
        for i in 0..S {
            out.lo[i] = round_down(p[i] - below[i]);
            out.hi[i] = round_up(p[i] + above[i]);
        }
        out
    }

    /// The smallest k-DOP round two (M03 eq. 2): what a parent is to its children.
    #[inline]
    pub fn union(&self, other: &Kdop<S>) -> Kdop<S> {
        let mut out = *self;
        for i in 0..S {
            out.lo[i] = if other.lo[i] < out.lo[i] { other.lo[i] } else { out.lo[i] };
            out.hi[i] = if other.hi[i] > out.hi[i] { other.hi[i] } else { out.hi[i] };
        }
        out
    }

    /// Moved out by `amount` [m] on all sides.
    pub fn grown(&self, amount: f64) -> Kdop<S> {
        let (mut out, length) = (*self, lengths::<S>());
        for i in 0..S {
            out.lo[i] = round_down(f64::from(out.lo[i]) - length[i] * amount);
            out.hi[i] = round_up(f64::from(out.hi[i]) + length[i] * amount);
        }
        out
    }

    /// Whether all slabs overlap; leaves at the first that does not.
    #[inline]
    pub fn overlaps(&self, other: &Kdop<S>) -> bool {
        // The first three slabs together: three compares are cheaper than two jumps.
        let first = S.min(3);
        let mut meet = true;
        for i in 0..first {
            meet &= (self.lo[i] <= other.hi[i]) & (other.lo[i] <= self.hi[i]);
        }
        if !meet {
            return false;
        }
        for i in first..S {
            if !(self.lo[i] <= other.hi[i] && other.lo[i] <= self.hi[i]) {
                return false;
            }
        }
        true
    }

    /// A measure of size that decides which of two nodes is the larger (M03-13): summed width of three slabs.
    #[inline]
    pub fn size(&self) -> f32 {
        let mut sum = 0.0;
        for i in 0..S.min(3) {
            sum += self.hi[i] - self.lo[i];
        }
        sum
    }

    /// Slab of the face pair of greatest distance, widths measured along unit normals, and its middle (M03-6).
    pub fn widest(&self) -> (usize, f32) {
        let length = lengths::<S>();
        let width = |i: usize| f64::from(self.hi[i] - self.lo[i]) / length[i];
        let mut best = 0;
        for i in 1..S {
            if width(i) > width(best) {
                best = i;
            }
        }
        (best, 0.5 * (self.lo[best] + self.hi[best]))
    }
}

/// Greatest f32 that is surely not above x, and at least one unit in the last place below: the slack also covers
/// the rounding of the f64 projection that produced x.
#[inline]
pub fn round_down(x: f64) -> f32 {
    let y = x as f32;
    y - (y.abs() * f32::EPSILON + f32::MIN_POSITIVE)
}

/// Counterpart of [`round_down`].
#[inline]
pub fn round_up(x: f64) -> f32 {
    let y = x as f32;
    y + (y.abs() * f32::EPSILON + f32::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    #[test]
    fn rounding_is_outward() {
        for i in 0..200_000 {
            let scale = libm::exp2(60.0 * random::signed(1, 2 * i));
            let x = scale * random::signed(1, 2 * i + 1);
            assert!(f64::from(round_down(x)) < x && x < f64::from(round_up(x)), "{x}");
        }
        for x in [0.0, 1.0, -1.0, 1e-40, -1e-40, 2.0_f64.sqrt(), 1e-300, 16_777_217.0] {
            assert!(f64::from(round_down(x)) < x && x < f64::from(round_up(x)), "{x}");
        }
    }

    #[test]
    fn every_set_has_its_slabs() {
        assert_eq!(Dop::ALL.map(Dop::k), [6, 8, 12, 14, 18, 26]);
        assert_eq!(normals::<9>(), Dop::K18.normals());
        assert_eq!(lengths::<3>(), [1.0; 3]);
        assert!((lengths::<6>()[0] - (1.0 + PHI * PHI).sqrt()).abs() < 1e-15);
        for dop in Dop::ALL {
            for (i, a) in dop.normals().iter().enumerate() {
                for b in &dop.normals()[..i] {
                    let (a, b) = (DVec3::from_array(*a), DVec3::from_array(*b));
                    assert!(a.cross(b).length() > 0.1, "{dop:?}: {a} and {b} are parallel");
                }
            }
        }
    }

    /// Two points just within ε along (1, 1, 1): inflation of un-normalised slabs must scale with |n| (E20).
    #[test]
    fn inflation_scales_with_the_normal() {
        let (a, b) = (DVec3::ZERO, DVec3::splat(0.99 / 3.0_f64.sqrt()));
        let scaled = lengths::<4>().map(|l| 0.5 * l);
        assert!(Kdop::<4>::around(a, &scaled, &scaled).overlaps(&Kdop::around(b, &scaled, &scaled)));
        let bare = [0.5; 4];
        assert!(!Kdop::<4>::around(a, &bare, &bare).overlaps(&Kdop::around(b, &bare, &bare)));
    }

    /// Mean gap before two parallel unit discs of random orientation separate: the claim of V00-17 (V00-X6).
    #[test]
    fn more_slabs_are_tighter() {
        let expected = [1.317, 1.121, 0.840, 0.779, 0.684, 0.559];
        for (dop, expected) in Dop::ALL.into_iter().zip(expected) {
            let mut sum = 0.0;
            let samples = 20_000;
            for i in 0..samples {
                let z = random::signed(3, 2 * i);
                let (sin, cos) = libm::sincos(std::f64::consts::TAU * random::unit(3, 2 * i + 1));
                let r = (1.0 - z * z).sqrt();
                let axis = DVec3::new(r * cos, r * sin, z);
                let along = |n: &[f64; 3]| DVec3::from_array(*n).normalize().dot(axis).abs();
                let c = dop.normals().iter().map(along).fold(0.0, f64::max);
                sum += 2.0 * (1.0 - c * c).max(0.0).sqrt() / c;
            }
            let mean = sum / samples as f64;
            assert!((mean - expected).abs() < 0.02, "{dop:?}: {mean}, expected {expected}");
        }
    }

    #[test]
    fn empty_overlaps_nothing_and_adds_nothing() {
        let one = Kdop::<7>::around(DVec3::ONE, &[0.1; 7], &[0.1; 7]);
        assert!(!one.overlaps(&Kdop::EMPTY) && !Kdop::EMPTY.overlaps(&one));
        assert_eq!(one.union(&Kdop::EMPTY), one);
        let lost = Kdop::<7>::around(DVec3::splat(f64::NAN), &[0.1; 7], &[0.1; 7]);
        assert!(!lost.overlaps(&one) && !one.overlaps(&lost));
        assert_eq!(one.union(&lost), one);
    }
}
