//! Fixed sample patterns. Nothing here depends on time, threads or a generator's state: a sample is a
//! function of the pixel and its index, which is what makes pictures the same bits on any machine load.

use glam::{Vec2, Vec3};

/// Ambient samples are shared out over tiles of `TILE` × `TILE` pixels: each pixel traces its own part of
/// one large well-spread set, and a filter of exactly one tile puts the set together again.
pub(crate) const TILE: usize = 4;

/// Order in which pixels of a tile take their part, spread out so neighbours get unlike directions.
const RANK: [[usize; TILE]; TILE] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// Rotations of the sun's sample disk to pick from.
const TURNS: usize = 64;

/// Rays spent on each pixel.
pub(crate) struct Effort {
    /// Places looked at in a pixel with edges of things or shadows in it, and in any other pixel.
    pub(crate) busy: usize,
    pub(crate) calm: usize,
    /// Rays into the surroundings.
    pub(crate) ambient: usize,
    /// Rays to the sun.
    pub(crate) sun_probe: usize,
    /// Rays to the sun from each place, where it is partly hidden.
    pub(crate) sun: usize,
    /// Whether bounced light is checked for shadow.
    pub(crate) careful: bool,
}

/// The sample sets of one picture.
pub(crate) struct Samples {
    /// Places to look at in a pixel with edges of things or shadows in it, relative to its centre [px].
    pub(crate) busy: Vec<Vec2>,
    /// Places to look at in a pixel that shows one smooth surface.
    pub(crate) calm: Vec<Vec2>,
    ambient: Vec<Vec3>,
    ambient_per_pixel: usize,
    sun_probe: Vec<Vec2>,
    sun_per_probe: usize,
    sun: Vec<Vec2>,
    sun_per_sample: usize,
    turns: Vec<(f32, f32)>,
}

impl Samples {
    pub(crate) fn new(effort: &Effort) -> Samples {
        let turn = |i: usize| libm::sincosf(std::f32::consts::TAU * i as f32 / TURNS as f32);
        Samples {
            busy: pixel_set(effort.busy),
            calm: pixel_set(effort.calm),
            ambient: (0..effort.ambient * TILE * TILE).map(|i| cosine_hemisphere(r2(i))).collect(),
            ambient_per_pixel: effort.ambient,
            sun_probe: (0..effort.sun_probe * TILE * TILE).map(|i| disk(r2(i))).collect(),
            sun_per_probe: effort.sun_probe,
            sun: (0..effort.busy * effort.sun).map(|i| disk(r2(i))).collect(),
            sun_per_sample: effort.sun,
            turns: (0..TURNS).map(turn).collect(),
        }
    }

    /// Directions about +Z, cosine-weighted, that pixel (x, y) traces for the light map.
    pub(crate) fn ambient(&self, x: usize, y: usize) -> &[Vec3] {
        let start = RANK[y % TILE][x % TILE] * self.ambient_per_pixel;
        &self.ambient[start..start + self.ambient_per_pixel]
    }

    /// Points on the unit disk of the sun that pixel (x, y) traces for the light map.
    pub(crate) fn sun_probe(&self, x: usize, y: usize) -> &[Vec2] {
        let start = RANK[y % TILE][x % TILE] * self.sun_per_probe;
        &self.sun_probe[start..start + self.sun_per_probe]
    }

    /// Threshold for rounding pixel (x, y) to a byte, 0 … 1.
    pub(crate) fn threshold(x: usize, y: usize) -> f32 {
        (RANK[y % TILE][x % TILE] as f32 + 0.5) / (TILE * TILE) as f32
    }

    /// Points on the unit disk of the sun for one sample of a busy pixel (x, y); none if the light map has to
    /// do.
    pub(crate) fn sun(&self, x: usize, y: usize, sample: usize) -> impl ExactSizeIterator<Item = Vec2> + '_ {
        let (sin, cos) = self.turns[hash(x as u32, y as u32) as usize % TURNS];
        let start = sample * self.sun_per_sample;
        let own = &self.sun[start..start + self.sun_per_sample];
        own.iter().map(move |p| Vec2::new(p.x * cos - p.y * sin, p.x * sin + p.y * cos))
    }
}

/// Well-spread places under a tent two pixels wide: softer edges than a box, and no sample is weighted.
fn pixel_set(n: usize) -> Vec<Vec2> {
    let tent = |u: f32| if u < 0.5 { (2.0 * u).sqrt() - 1.0 } else { 1.0 - (2.0 - 2.0 * u).sqrt() };
    if n <= 1 {
        return vec![Vec2::ZERO; n];
    }
    (0..n).map(|i| { let p = r2(i); Vec2::new(tent(p.x), tent(p.y)) } * 0.85).collect()
}

/// Point `i` of Roberts' R2 sequence on the unit square: any run of consecutive points is evenly spread.
fn r2(i: usize) -> Vec2 {
    const A1: f64 = 0.754_877_666_246_692_7;
    const A2: f64 = 0.569_840_290_998_053_3;
    let n = i as f64 + 1.0;
    let fract = |x: f64| (x - x.floor()) as f32;
    Vec2::new(fract(0.5 + A1 * n), fract(0.5 + A2 * n))
}

fn disk(u: Vec2) -> Vec2 {
    let (sin, cos) = libm::sincosf(std::f32::consts::TAU * u.x);
    Vec2::new(cos, sin) * u.y.sqrt()
}

fn cosine_hemisphere(u: Vec2) -> Vec3 {
    let p = disk(u);
    Vec3::new(p.x, p.y, (1.0 - p.length_squared()).max(0.0).sqrt())
}

/// A well-mixed number from two small ones (PCG's output function, applied twice).
pub(crate) fn hash(x: u32, y: u32) -> u32 {
    let mix = |v: u32| {
        let s = v.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let w = ((s >> ((s >> 28) + 4)) ^ s).wrapping_mul(277_803_737);
        (w >> 22) ^ w
    };
    mix(x ^ mix(y))
}

/// `hash` as a number from 0 up to 1.
pub(crate) fn hash01(x: u32, y: u32) -> f32 {
    (hash(x, y) >> 8) as f32 / (1 << 24) as f32
}

/// Two unit vectors that complete unit `n` to a frame (Duff et al. 2017), without a branch on direction.
pub(crate) fn frame(n: Vec3) -> (Vec3, Vec3) {
    let sign = 1.0f32.copysign(n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    (Vec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x), Vec3::new(b, sign + n.y * n.y * a, -n.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_together_covers_the_hemisphere_evenly() {
        let samples =
            Samples::new(&Effort { busy: 4, calm: 1, ambient: 8, sun_probe: 1, sun: 2, careful: false });
        let mut mean = Vec3::ZERO;
        for y in 0..TILE {
            for x in 0..TILE {
                mean += samples.ambient(x, y).iter().sum::<Vec3>();
            }
        }
        mean /= (TILE * TILE * 8) as f32;
        // The cosine-weighted mean direction is exactly (0, 0, 2/3).
        assert!((mean - Vec3::new(0.0, 0.0, 2.0 / 3.0)).length() < 0.02, "{mean}");
    }

    #[test]
    fn frames_are_orthonormal() {
        for n in [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::Z, Vec3::new(0.6, -0.48, 0.64)] {
            let (t, b) = frame(n);
            assert!(t.dot(b).abs() < 1e-6 && t.dot(n).abs() < 1e-6 && b.dot(n).abs() < 1e-6);
            assert!((t.length() - 1.0).abs() < 1e-6 && (b.length() - 1.0).abs() < 1e-6);
        }
    }
}
