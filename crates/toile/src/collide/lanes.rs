//! Eight boxes side by side in f32: one comparison of registers tests four of them, two test all.
//!
//! Boxes here are axis-aligned. They carry a fourth number, how far beyond ε their vertices reach, which unions keep the
//! largest of and comparisons ignore.

use crate::math::DVec3;
use glam::{Mat4, Vec4};

/// Boxes in a block.
pub const LANES: usize = 8;

/// Half a unit in the last place of 1: what rounding to f32 may lose, relatively.
const HALF_ULP: f32 = 0.5 * f32::EPSILON;

/// One box: x, y, z and minus or plus the reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub lo: Vec4,
    pub hi: Vec4,
}

impl Bounds {
    /// Contains nothing and overlaps nothing.
    pub const EMPTY: Bounds = Bounds {
        lo: Vec4::new(f32::INFINITY, f32::INFINITY, f32::INFINITY, 0.0),
        hi: Vec4::new(f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY, 0.0),
    };

    /// A ball of `radius` [m] round x, rounded outwards; its vertex reaches `reach` [m] farther, which is kept apart.
    ///
    /// The slack of eight half units covers the rounding of x, of the radius and of both subtractions, that of
    /// [`Bounds::reaching`] included. A coordinate that is not a number makes an empty slab.
    #[inline]
    pub fn ball(x: DVec3, radius: f64, reach: f64) -> Bounds {
        let (radius, reach) = (up(radius), up(reach));
        let side = |x: f64| {
            let y = x as f32;
            let out = radius + 8.0 * HALF_ULP * y.abs().min(f32::MAX);
            // `min` and `max` prefer the number: NaN becomes a slab from MAX down to −MAX.
            (y.min(f32::MAX) - out, y.max(-f32::MAX) + out)
        };
        let (x, y, z) = (side(x.x), side(x.y), side(x.z));
        Bounds { lo: Vec4::new(x.0, y.0, z.0, -reach), hi: Vec4::new(x.1, y.1, z.1, reach) }
    }

    /// The smallest box round two.
    #[inline(always)]
    pub fn union(&self, other: &Bounds) -> Bounds {
        Bounds { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// Moved out by the reach.
    #[inline(always)]
    pub fn reaching(&self) -> Bounds {
        let reach = self.hi.w * (1.0 + 4.0 * HALF_ULP);
        Bounds { lo: self.lo - reach, hi: self.hi + reach }
    }

    /// Moved out by a length, rounded outwards; as it is for none.
    #[inline(always)]
    pub fn grown(&self, by: f32) -> Bounds {
        if by == 0.0 {
            return *self;
        }
        let out = |side: Vec4| side.abs() * (4.0 * HALF_ULP) + by * (1.0 + 4.0 * HALF_ULP);
        Bounds { lo: self.lo - out(self.lo), hi: self.hi + out(self.hi) }
    }

    /// Whether three slabs overlap.
    #[inline]
    pub fn overlaps(&self, other: &Bounds) -> bool {
        (self.lo.cmple(other.hi) & other.lo.cmple(self.hi)).bitmask() & 7 == 7
    }

    /// Greatest magnitude of a coordinate [m]; infinite where it cannot be told.
    pub fn farthest(&self) -> f32 {
        let far = self.lo.abs().max(self.hi.abs()).truncate().max_element();
        if self.lo.x > self.hi.x { 0.0 } else { far }
    }
}

/// A length rounded up.
#[inline]
pub fn up(x: f64) -> f32 {
    let y = x as f32;
    y + (y * 4.0 * HALF_ULP + f32::MIN_POSITIVE)
}

/// Eight boxes, slab by slab.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Lanes {
    lo: [[f32; LANES]; 3],
    hi: [[f32; LANES]; 3],
}

impl Lanes {
    pub const EMPTY: Lanes = Lanes { lo: [[f32::INFINITY; LANES]; 3], hi: [[f32::NEG_INFINITY; LANES]; 3] };

    /// Box k is `of(k)`.
    #[inline(always)]
    pub fn of(of: impl Fn(usize) -> Bounds) -> Lanes {
        let mut out = Lanes::EMPTY;
        for half in [0, 4] {
            let b = [of(half), of(half + 1), of(half + 2), of(half + 3)];
            let lo = Mat4::from_cols(b[0].lo, b[1].lo, b[2].lo, b[3].lo).transpose();
            let hi = Mat4::from_cols(b[0].hi, b[1].hi, b[2].hi, b[3].hi).transpose();
            for (slab, (lo, hi)) in [(lo.x_axis, hi.x_axis), (lo.y_axis, hi.y_axis), (lo.z_axis, hi.z_axis)]
                .into_iter()
                .enumerate()
            {
                lo.write_to_slice(&mut out.lo[slab][half..half + 4]);
                hi.write_to_slice(&mut out.hi[slab][half..half + 4]);
            }
        }
        out
    }

    /// Box k, without reach.
    #[inline(always)]
    pub fn get(&self, k: usize) -> Bounds {
        let k = k % LANES;
        Bounds {
            lo: Vec4::new(self.lo[0][k], self.lo[1][k], self.lo[2][k], 0.0),
            hi: Vec4::new(self.hi[0][k], self.hi[1][k], self.hi[2][k], 0.0),
        }
    }

    /// The smallest box round all eight.
    pub fn whole(&self) -> Bounds {
        (1..LANES).fold(self.get(0), |sum, k| sum.union(&self.get(k)))
    }

    /// Bit k is set where box k overlaps `other`.
    #[inline(always)]
    pub fn overlaps(&self, width: impl Width, other: &Bounds) -> u32 {
        let (lo, hi) = (other.lo, other.hi);
        width.meeting(self, [lo.x, lo.y, lo.z], [hi.x, hi.y, hi.z])
    }

    /// Bit k is set where box k overlaps box l of `others`.
    #[inline(always)]
    pub fn overlaps_lane(&self, width: impl Width, others: &Lanes, l: usize) -> u32 {
        let l = l % LANES;
        let of = |sides: &[[f32; LANES]; 3]| [sides[0][l], sides[1][l], sides[2][l]];
        width.meeting(self, of(&others.lo), of(&others.hi))
    }

    /// All boxes moved out by a length, rounded outwards.
    #[inline(always)]
    pub fn grown(&self, by: f32) -> Lanes {
        let mut out = *self;
        let by = by * (1.0 + 4.0 * HALF_ULP);
        for slab in 0..3 {
            for k in 0..LANES {
                out.lo[slab][k] -= out.lo[slab][k].abs() * (4.0 * HALF_ULP) + by;
                out.hi[slab][k] += out.hi[slab][k].abs() * (4.0 * HALF_ULP) + by;
            }
        }
        out
    }
}

/// How many lanes a register has; the answer is the same.
pub trait Width: Copy {
    /// Bit k is set where box k overlaps the box from `lo` to `hi`.
    fn meeting(self, lanes: &Lanes, lo: [f32; 3], hi: [f32; 3]) -> u32;
}

/// Four lanes: everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Four;

impl Width for Four {
    #[inline(always)]
    fn meeting(self, lanes: &Lanes, lo: [f32; 3], hi: [f32; 3]) -> u32 {
        let half = |from: usize| {
            let slab = |i: usize| {
                let low = Vec4::from_slice(&lanes.lo[i][from..]);
                let high = Vec4::from_slice(&lanes.hi[i][from..]);
                low.cmple(Vec4::splat(hi[i])) & high.cmpge(Vec4::splat(lo[i]))
            };
            (slab(0) & slab(1) & slab(2)).bitmask()
        };
        half(0) | half(4) << 4
    }
}

/// Eight lanes, where the processor has them.
#[cfg(target_arch = "x86_64")]
impl Width for pulp::x86::V3 {
    #[inline(always)]
    fn meeting(self, lanes: &Lanes, lo: [f32; 3], hi: [f32; 3]) -> u32 {
        // "At most", false where either is no number.
        const AT_MOST: i32 = 18;
        let avx = self.avx;
        // Spelled out: a closure would be compiled without these lanes.
        let a = avx._mm256_cmp_ps::<AT_MOST>(pulp::cast(lanes.lo[0]), avx._mm256_set1_ps(hi[0]));
        let b = avx._mm256_cmp_ps::<AT_MOST>(avx._mm256_set1_ps(lo[0]), pulp::cast(lanes.hi[0]));
        let c = avx._mm256_cmp_ps::<AT_MOST>(pulp::cast(lanes.lo[1]), avx._mm256_set1_ps(hi[1]));
        let d = avx._mm256_cmp_ps::<AT_MOST>(avx._mm256_set1_ps(lo[1]), pulp::cast(lanes.hi[1]));
        let e = avx._mm256_cmp_ps::<AT_MOST>(pulp::cast(lanes.lo[2]), avx._mm256_set1_ps(hi[2]));
        let f = avx._mm256_cmp_ps::<AT_MOST>(avx._mm256_set1_ps(lo[2]), pulp::cast(lanes.hi[2]));
        let (ab, cd, ef) = (avx._mm256_and_ps(a, b), avx._mm256_and_ps(c, d), avx._mm256_and_ps(e, f));
        avx._mm256_movemask_ps(avx._mm256_and_ps(avx._mm256_and_ps(ab, cd), ef)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    fn around(i: u64) -> Bounds {
        let at = |k| random::signed(5, 3 * i + k);
        Bounds::ball(DVec3::new(at(0), at(1), at(2)), 0.3, 0.1 * at(0).abs())
    }

    #[test]
    fn eight_at_once_agree_with_one_at_a_time() {
        let mut met = 0;
        for i in 0..3000 {
            let boxes: Vec<Bounds> = (0..8).map(|k| around(9 * i + k)).collect();
            let (lanes, other) = (Lanes::of(|k| boxes[k]), around(9 * i + 8));
            for (k, one) in boxes.iter().enumerate() {
                let met_by = |mask: u32| mask >> k & 1 == 1;
                assert_eq!(met_by(lanes.overlaps(Four, &other)), one.overlaps(&other));
                #[cfg(target_arch = "x86_64")]
                if let Some(eight) = pulp::x86::V3::try_new() {
                    assert_eq!(met_by(lanes.overlaps(eight, &other)), one.overlaps(&other));
                }
                assert_eq!(lanes.get(k).lo.truncate(), one.lo.truncate());
                met += u32::from(one.overlaps(&other));
            }
            let whole = boxes.iter().fold(Bounds::EMPTY, |sum, b| sum.union(b));
            assert_eq!(lanes.whole().hi.truncate(), whole.hi.truncate());
        }
        assert!(met > 1000);
        assert_eq!(Lanes::EMPTY.overlaps(Four, &Lanes::EMPTY.get(0)), 0);
    }

    #[test]
    fn boxes_contain_their_balls() {
        for i in 0..200_000 {
            let scale = libm::exp2(60.0 * random::signed(1, 4 * i));
            let x = scale * random::signed(1, 4 * i + 1);
            let radius = libm::exp2(60.0 * random::signed(1, 4 * i + 2));
            let reach = radius * random::unit(1, 4 * i + 3);
            let ball = Bounds::ball(DVec3::splat(x), radius, reach).reaching();
            assert!(f64::from(ball.lo.y) < x - radius - reach && x + radius + reach < f64::from(ball.hi.y));
        }
    }

    #[test]
    fn what_is_no_number_is_nowhere_and_what_is_far_is_far() {
        let one = Bounds::ball(DVec3::ONE, 0.1, 0.0);
        let lost = Bounds::ball(DVec3::new(f64::NAN, 1.0, 1.0), 0.1, 0.0);
        assert!(!one.overlaps(&lost) && !lost.overlaps(&one));
        assert_eq!(one.union(&lost), one);
        let far = one.union(&Bounds::ball(DVec3::splat(1e60), 0.1, 0.0));
        assert!(far.overlaps(&Bounds::ball(DVec3::splat(1e30), 0.1, 0.0)));
    }
}
