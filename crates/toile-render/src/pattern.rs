//! What is woven into or printed on a cloth, filtered so that it never shimmers.
//!
//! Every pattern knows how much of it one pixel sees (`footprint`, in material metres) and answers with the
//! mean over that footprint: exactly for squares and stripes, by fading to the mean for threads.

use crate::sample::hash01;
use crate::scene::Pattern;
use glam::Vec2;

/// How a pattern changes the cloth at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Detail {
    /// Factor on the base colour.
    pub(crate) tone: f32,
    /// Lean of the surface along weft and warp, as a slope.
    pub(crate) lean: Vec2,
}

/// Cloth without a pattern, or with one too fine to see.
pub(crate) const PLAIN: Detail = Detail { tone: 1.0, lean: Vec2::ZERO };

/// Dark squares and stripes are this much of the base colour.
const DARK_TONE: f32 = 0.52;

impl Pattern {
    /// The pattern at material position `p` [m], averaged over `footprint` [m] along weft and warp.
    pub(crate) fn at(self, p: Vec2, footprint: Vec2) -> Detail {
        let scaled = |size: f32| (p / size, footprint / size);
        let usable = |size: f32| size.is_finite() && size > 0.0 && p.is_finite() && footprint.is_finite();
        let toned = |dark: f32| Detail { tone: 1.0 + (DARK_TONE - 1.0) * dark, lean: Vec2::ZERO };
        match self {
            Pattern::Checker { cell } if usable(cell) => {
                let (q, w) = scaled(cell);
                toned(0.5 - 0.5 * square_wave(q.x, w.x) * square_wave(q.y, w.y))
            }
            Pattern::Stripes { width } if usable(width) => {
                let (q, w) = scaled(width);
                toned(0.5 - 0.5 * square_wave(q.x, w.x))
            }
            Pattern::Weave { spacing } if usable(spacing) => {
                let (q, w) = scaled(spacing);
                weave(q, w.max_element())
            }
            _ => PLAIN,
        }
    }
}

/// Mean over a width `w` of the wave that is +1 from 0 to 1, −1 from 1 to 2, and repeats.
fn square_wave(x: f32, w: f32) -> f32 {
    let w = w.clamp(1e-3, 1e3);
    // Integral of the wave: a triangle between 0 and 1.
    let integral = |x: f32| {
        let y = x - 2.0 * (0.5 * x).floor();
        1.0 - (1.0 - y).abs()
    };
    (integral(x + 0.5 * w) - integral(x - 0.5 * w)) / w
}

/// Plain weave in thread units: round threads that pass over and under each other, each with its own shade.
fn weave(q: Vec2, w: f32) -> Detail {
    let threads = 1.0 - smooth(0.12, 0.40, w);
    let shades = 1.0 - smooth(0.7, 5.0, w);
    if shades <= 0.0 {
        return PLAIN;
    }
    let cell = q.floor();
    let f = q - cell - 0.5; // −½ … ½ across both threads
    let warp_on_top = (cell.x + cell.y).rem_euclid(2.0) < 1.0;
    // Across the upper thread the surface is round; along it, it dives under the next crossing.
    let (across, along, thread) = if warp_on_top { (f.x, f.y, cell.x) } else { (f.y, f.x, cell.y) };
    let round = 1.0 - 3.2 * across * across;
    let dive = 1.0 - 1.6 * along * along;
    let tone = 0.62 + 0.50 * round * dive;
    let slope = Vec2::new(1.3 * across, 0.6 * along);
    let lean = if warp_on_top { slope } else { Vec2::new(slope.y, slope.x) };
    let seed = thread as i32 as u32;
    let shade = 1.0 + 0.10 * (hash01(seed, u32::from(warp_on_top)) - 0.5);
    // The mean of `tone` over a cell is 0.942: dividing keeps near and far cloth equally bright.
    let tone = 1.0 + (tone / 0.942 - 1.0) * threads;
    Detail { tone: tone * (1.0 + (shade - 1.0) * shades), lean: lean * threads }
}

/// 0 below `low`, 1 above `high`, smooth between.
pub(crate) fn smooth(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_tone(pattern: Pattern, step: f32, n: usize, footprint: f32) -> f32 {
        let mut sum = 0.0;
        for i in 0..n {
            for j in 0..n {
                let p = Vec2::new(i as f32 + 0.5, j as f32 + 0.5) * step;
                sum += pattern.at(p, Vec2::splat(footprint)).tone;
            }
        }
        sum / (n * n) as f32
    }

    #[test]
    fn patterns_are_equally_bright_near_and_far() {
        let patterns = [
            Pattern::Checker { cell: 1.0 },
            Pattern::Stripes { width: 1.0 },
            Pattern::Weave { spacing: 1.0 },
        ];
        for pattern in patterns {
            let near = mean_tone(pattern, 0.1, 400, 0.01);
            let far = mean_tone(pattern, 0.1, 400, 50.0);
            assert!((near - far).abs() < 0.01, "{pattern:?}: {near} {far}");
        }
    }

    #[test]
    fn far_patterns_have_no_contrast() {
        for pattern in [Pattern::Checker { cell: 0.01 }, Pattern::Weave { spacing: 0.01 }] {
            let tones: Vec<f32> = (0..50)
                .map(|i| pattern.at(Vec2::new(0.0137, 0.0071) * i as f32, Vec2::splat(1.0)).tone)
                .collect();
            let spread = tones.iter().fold(0.0f32, |m, t| m.max((t - tones[0]).abs()));
            assert!(spread < 0.02, "{pattern:?} {spread}");
        }
    }

    #[test]
    fn nonsense_sizes_are_plain() {
        for size in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert_eq!(Pattern::Checker { cell: size }.at(Vec2::ONE, Vec2::ONE), PLAIN);
            assert_eq!(Pattern::Weave { spacing: size }.at(Vec2::ONE, Vec2::ONE), PLAIN);
        }
    }
}
