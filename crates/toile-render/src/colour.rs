//! Colours, colour maps and the way light becomes an 8-bit pixel.
//!
//! Shading happens in linear light ([`Vec3`], 1 = white paper in full sun). Users speak sRGB ([`Colour`]).

use glam::Vec3;
use std::sync::LazyLock;

/// An opaque sRGB colour, 8 bits a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Colour {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
}

impl Colour {
    /// White.
    pub const WHITE: Colour = Colour::hex(0xffffff);
    /// The strong red of markers: "look here".
    pub const ALERT: Colour = Colour::hex(0xe8112d);

    /// A colour from its usual web notation, `0xRRGGBB`.
    pub const fn hex(rgb: u32) -> Colour {
        Colour { r: (rgb >> 16) as u8, g: (rgb >> 8) as u8, b: rgb as u8 }
    }

    pub(crate) fn linear(self) -> Vec3 {
        Vec3::new(to_linear(self.r), to_linear(self.g), to_linear(self.b))
    }

    pub(crate) fn from_linear(c: Vec3) -> Colour {
        Colour::dithered(c, 0.5)
    }

    /// As [`Colour::from_linear`], rounding up above `threshold`: a threshold that varies from pixel to pixel
    /// keeps slow gradients free of bands.
    pub(crate) fn dithered(c: Vec3, threshold: f32) -> Colour {
        Colour { r: to_srgb8(c.x, threshold), g: to_srgb8(c.y, threshold), b: to_srgb8(c.z, threshold) }
    }

    /// `t = 0` gives `self`, `t = 1` gives `other`. Mixed as displayed, which is right for flat overlays.
    pub(crate) fn mix(self, other: Colour, t: f32) -> Colour {
        let m = |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * t + 0.5) as u8;
        Colour { r: m(self.r, other.r), g: m(self.g, other.g), b: m(self.b, other.b) }
    }
}

fn to_linear(byte: u8) -> f32 {
    let x = f32::from(byte) / 255.0;
    if x <= 0.04045 { x / 12.92 } else { libm::powf((x + 0.055) / 1.055, 2.4) }
}

/// Linear light of every byte: encoding searches it instead of raising to a power a pixel at a time.
static LINEAR: LazyLock<[f32; 256]> = LazyLock::new(|| std::array::from_fn(|i| to_linear(i as u8)));

/// The byte for an amount of linear light; rounds up where the remainder exceeds `threshold` (0 … 1).
/// NaN gives 0.
fn to_srgb8(x: f32, threshold: f32) -> u8 {
    let below = LINEAR.partition_point(|l| *l <= x).clamp(1, 256) - 1;
    if below == 255 {
        return 255;
    }
    let (low, high) = (LINEAR[below], LINEAR[below + 1]);
    below as u8 + u8::from((x - low) / (high - low) > threshold)
}

pub(crate) fn luminance(c: Vec3) -> f32 {
    c.dot(Vec3::new(0.2126, 0.7152, 0.0722))
}

/// Brings scene light between 0 and 1. Colours up to [`SHOULDER`] come out as they went in, so a fabric
/// keeps the colour its owner chose; brighter light rolls off smoothly and pales towards white, as on film.
/// (The highlight curve is the one of Khronos' "PBR Neutral" tone mapper, without its black offset.)
pub(crate) fn tone_map(c: Vec3) -> Vec3 {
    const SHOULDER: f32 = 0.76;
    const DESATURATION: f32 = 0.15;
    let c = c.max(Vec3::ZERO);
    let peak = c.max_element();
    if peak <= SHOULDER {
        return c;
    }
    let room = 1.0 - SHOULDER;
    let new_peak = 1.0 - room * room / (peak + room - SHOULDER);
    let pale = 1.0 - 1.0 / (DESATURATION * (peak - new_peak) + 1.0);
    (c * (new_peak / peak)).lerp(Vec3::splat(new_peak), pale)
}

/// How a number becomes a colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColourMap {
    /// Dark indigo through teal to yellow, for quantities that grow from a floor: speed, stress, gap.
    /// Lightness rises linearly in OKLab, so equal steps look equal and it survives greyscale printing.
    Sequential,
    /// Blue through near-white to red, for signed quantities: strain, curvature, error.
    /// Give it a range symmetric about zero.
    Diverging,
    /// A colour for each of a few kinds that have names but no order. Give it the range from 0 to the last kind.
    Kinds(&'static [Kind]),
}

/// What a whole number stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    /// Its name in the legend.
    pub name: &'static str,
    /// Its colour.
    pub colour: Colour,
}

/// Shown where a field has no value (NaN, or a missing entry).
pub(crate) const NO_VALUE: Vec3 = Vec3::new(0.16, 0.15, 0.17);

const TABLE: usize = 256;

/// A colour map sampled once per picture, in linear light.
pub(crate) struct MapTable([Vec3; TABLE]);

impl MapTable {
    pub(crate) fn new(map: ColourMap) -> MapTable {
        MapTable(std::array::from_fn(|i| map.at(i as f32 / (TABLE - 1) as f32)))
    }

    /// Colour at `t`, clamped to 0 … 1; NaN gives [`NO_VALUE`].
    pub(crate) fn at(&self, t: f32) -> Vec3 {
        if t.is_nan() {
            return NO_VALUE;
        }
        let x = t.clamp(0.0, 1.0) * (TABLE - 1) as f32;
        let i = (x as usize).min(TABLE - 2);
        self.0[i].lerp(self.0[i + 1], x - i as f32)
    }
}

impl ColourMap {
    /// Linear-light colour at `t` from 0 to 1.
    fn at(self, t: f32) -> Vec3 {
        match self {
            ColourMap::Sequential => sequential(t),
            ColourMap::Diverging => diverging(2.0 * t - 1.0),
            ColourMap::Kinds(kinds) => {
                let nearest = (t * kinds.len().saturating_sub(1) as f32).round() as usize;
                kinds.get(nearest).map_or(NO_VALUE, |kind| kind.colour.linear())
            }
        }
    }
}

/// Chroma and hue [degrees] at equal steps; lightness is linear.
const SEQUENTIAL: [(f32, f32); 6] =
    [(0.120, 305.0), (0.135, 275.0), (0.110, 238.0), (0.105, 188.0), (0.160, 142.0), (0.175, 103.0)];

fn sequential(t: f32) -> Vec3 {
    let x = t * (SEQUENTIAL.len() - 1) as f32;
    let i = (x as usize).min(SEQUENTIAL.len() - 2);
    let f = x - i as f32;
    let (a, b) = (SEQUENTIAL[i], SEQUENTIAL[i + 1]);
    oklch(0.27 + 0.66 * t, a.0 + (b.0 - a.0) * f, a.1 + (b.1 - a.1) * f)
}

fn diverging(s: f32) -> Vec3 {
    let m = s.abs();
    let hue = if s < 0.0 { 252.0 + 14.0 * m } else { 45.0 - 22.0 * m };
    oklch(0.945 - 0.50 * m, 0.006 + 0.19 * m.min(0.8), hue)
}

/// OKLab (Björn Ottosson, 2020) in polar form to linear sRGB. Chroma shrinks until the colour can be shown:
/// lightness, which carries the value, is never touched.
fn oklch(lightness: f32, chroma: f32, hue_degrees: f32) -> Vec3 {
    let (sin, cos) = libm::sincosf(hue_degrees.to_radians());
    let at = |c: f32| oklab(lightness, c * cos, c * sin);
    let fits = |c: Vec3| c.min_element() >= -1e-4 && c.max_element() <= 1.0 + 1e-4;
    let (mut low, mut high) = (0.0, chroma);
    if !fits(at(high)) {
        for _ in 0..12 {
            let mid = 0.5 * (low + high);
            if fits(at(mid)) { low = mid } else { high = mid }
        }
        high = low;
    }
    at(high).clamp(Vec3::ZERO, Vec3::ONE)
}

fn oklab(l: f32, a: f32, b: f32) -> Vec3 {
    let cube = |x: f32| x * x * x;
    let l_ = cube(l + 0.396_337_78 * a + 0.215_803_76 * b);
    let m_ = cube(l - 0.105_561_346 * a - 0.063_854_17 * b);
    let s_ = cube(l - 0.089_484_18 * a - 1.291_485_5 * b);
    Vec3::new(
        4.076_741_7 * l_ - 3.307_711_6 * m_ + 0.230_969_94 * s_,
        -1.268_438 * l_ + 2.609_757_4 * m_ - 0.341_319_4 * s_,
        -0.004_196_086_3 * l_ - 0.703_418_6 * m_ + 1.707_614_7 * s_,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_round_trips_every_byte() {
        for byte in 0..=255u8 {
            assert_eq!(to_srgb8(to_linear(byte), 0.5), byte);
        }
    }

    #[test]
    fn sequential_map_only_gets_brighter() {
        let table = MapTable::new(ColourMap::Sequential);
        let steps: Vec<f32> = (0..=64).map(|i| luminance(table.at(i as f32 / 64.0))).collect();
        assert!(steps.windows(2).all(|w| w[1] > w[0]), "{steps:?}");
    }

    #[test]
    fn diverging_map_peaks_in_the_middle() {
        let table = MapTable::new(ColourMap::Diverging);
        for i in 1..=32 {
            let m = i as f32 / 64.0;
            let (blue, red) = (table.at(0.5 - m), table.at(0.5 + m));
            assert!(blue.z > blue.x && red.x > red.z);
            assert!(luminance(blue) < luminance(table.at(0.5)));
            assert!(luminance(red) < luminance(table.at(0.5)));
        }
    }

    #[test]
    fn values_that_are_not_numbers_show_as_no_value() {
        let table = MapTable::new(ColourMap::Sequential);
        assert_eq!(table.at(f32::NAN), NO_VALUE);
        assert_eq!(table.at(f32::INFINITY), table.at(1.0));
    }

    #[test]
    fn tone_map_keeps_ordinary_colours_and_bounds_bright_ones() {
        let plain = Vec3::new(0.5, 0.2, 0.1);
        assert_eq!(tone_map(plain), plain);
        assert!(tone_map(Vec3::splat(50.0)).max_element() <= 1.0);
        assert_eq!(Colour::from_linear(tone_map(Vec3::NAN)).r, 0);
    }
}
