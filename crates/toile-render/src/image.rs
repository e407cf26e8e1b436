//! A picture in memory, and flat shapes drawn on it with smooth edges.

use crate::colour::Colour;
use glam::Vec2;

/// An sRGB picture with 8 bits a channel, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 4]>,
}

impl Image {
    /// An opaque picture of one colour. Sizes below one pixel become one pixel.
    pub fn new(width: usize, height: usize, colour: Colour) -> Image {
        let (width, height) = (width.max(1), height.max(1));
        Image { width, height, pixels: vec![rgba(colour); width * height] }
    }

    pub(crate) fn from_rows(width: usize, height: usize, pixels: Vec<[u8; 4]>) -> Image {
        debug_assert_eq!(pixels.len(), width * height);
        Image { width, height, pixels }
    }

    /// Width [px].
    pub fn width(&self) -> usize {
        self.width
    }

    /// Height [px].
    pub fn height(&self) -> usize {
        self.height
    }

    /// Red, green, blue and opacity of every pixel, row by row from the top left.
    pub fn pixels(&self) -> &[[u8; 4]] {
        &self.pixels
    }

    /// The pixels as bytes, four a pixel.
    pub fn bytes(&self) -> &[u8] {
        self.pixels.as_flattened()
    }

    /// Copies `other` with its top left corner at (x, y); what falls outside is left out.
    pub(crate) fn place(&mut self, other: &Image, x: usize, y: usize) {
        let columns = other.width.min(self.width.saturating_sub(x));
        for row in 0..other.height.min(self.height.saturating_sub(y)) {
            let to = (y + row) * self.width + x;
            let from = row * other.width;
            self.pixels[to..to + columns].copy_from_slice(&other.pixels[from..from + columns]);
        }
    }

    /// Mixes `colour` into all pixels between two corners; `cover` answers for pixel centres with 0 … 1.
    pub(crate) fn paint(&mut self, low: Vec2, high: Vec2, colour: Colour, cover: impl Fn(Vec2) -> f32) {
        if !(low.is_finite() && high.is_finite()) {
            return;
        }
        let clip = |x: f32, limit: usize| x.clamp(0.0, limit as f32) as usize;
        let (x0, x1) = (clip(low.x.floor(), self.width), clip(high.x.ceil(), self.width));
        let (y0, y1) = (clip(low.y.floor(), self.height), clip(high.y.ceil(), self.height));
        for y in y0..y1 {
            for x in x0..x1 {
                let amount = cover(Vec2::new(x as f32 + 0.5, y as f32 + 0.5));
                if amount > 0.0 {
                    let pixel = &mut self.pixels[y * self.width + x];
                    let under = Colour { r: pixel[0], g: pixel[1], b: pixel[2] };
                    *pixel = rgba(under.mix(colour, amount.min(1.0)));
                }
            }
        }
    }

    /// A line with round ends.
    pub(crate) fn line(&mut self, a: Vec2, b: Vec2, width: f32, colour: Colour, alpha: f32) {
        let reach = Vec2::splat(0.5 * width + 1.0);
        self.paint(a.min(b) - reach, a.max(b) + reach, colour, |p| {
            alpha * edge(0.5 * width - distance_to_segment(p, a, b))
        });
    }

    /// A circle line of the given radius and line width.
    pub(crate) fn ring(&mut self, centre: Vec2, radius: f32, width: f32, colour: Colour, alpha: f32) {
        let reach = Vec2::splat(radius + width + 1.0);
        self.paint(centre - reach, centre + reach, colour, |p| {
            alpha * edge(0.5 * width - (p.distance(centre) - radius).abs())
        });
    }

    /// A filled rectangle with rounded corners.
    pub(crate) fn panel(&mut self, low: Vec2, high: Vec2, round: f32, colour: Colour, alpha: f32) {
        let (centre, half) = (0.5 * (low + high), 0.5 * (high - low));
        let round = round.min(half.min_element()).max(0.0);
        self.paint(low - 1.0, high + 1.0, colour, |p| {
            let d = (p - centre).abs() - half + round;
            let outside = d.max(Vec2::ZERO).length() + d.max_element().min(0.0) - round;
            alpha * edge(-outside)
        });
    }

    /// A filled triangle, either way round.
    pub(crate) fn triangle(&mut self, [a, b, c]: [Vec2; 3], colour: Colour, alpha: f32) {
        let turn = (b - a).perp_dot(c - a).signum();
        let inside = |p: Vec2, q: Vec2, at: Vec2| turn * (q - p).normalize_or_zero().perp_dot(at - p);
        self.paint(a.min(b).min(c) - 1.0, a.max(b).max(c) + 1.0, colour, |p| {
            alpha * edge(inside(a, b, p).min(inside(b, c, p)).min(inside(c, a, p)))
        });
    }
}

fn rgba(c: Colour) -> [u8; 4] {
    [c.r, c.g, c.b, 255]
}

/// Share of a pixel covered by a shape whose edge is `depth` pixels away (positive: the centre is inside).
pub(crate) fn edge(depth: f32) -> f32 {
    (0.5 + depth).clamp(0.0, 1.0)
}

pub(crate) fn distance_to_segment(p: Vec2, a: Vec2, b: Vec2) -> f32 {
    let ab = b - a;
    let t = ((p - a).dot(ab) / ab.length_squared().max(1e-12)).clamp(0.0, 1.0);
    p.distance(a + ab * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ink(image: &Image) -> f32 {
        image.pixels().iter().map(|p| 1.0 - f32::from(p[0]) / 255.0).sum()
    }

    #[test]
    fn shapes_cover_their_area() {
        let black = Colour::hex(0);
        let blank = Image::new(100, 100, Colour::WHITE);
        let mut panel = blank.clone();
        panel.panel(Vec2::new(10.25, 20.5), Vec2::new(60.75, 70.5), 0.0, black, 1.0);
        assert!((ink(&panel) - 50.5 * 50.0).abs() < 5.0, "{}", ink(&panel));
        let mut triangle = blank.clone();
        let corners = [Vec2::new(10.0, 10.0), Vec2::new(10.0, 80.0), Vec2::new(90.0, 30.0)];
        triangle.triangle(corners, black, 1.0);
        assert!((ink(&triangle) - 2800.0).abs() < 30.0, "{}", ink(&triangle));
        let mut ring = blank.clone();
        ring.ring(Vec2::splat(50.0), 30.0, 4.0, black, 1.0);
        assert!((ink(&ring) - std::f32::consts::TAU * 30.0 * 4.0).abs() < 10.0, "{}", ink(&ring));
    }

    #[test]
    fn drawing_outside_or_at_nowhere_changes_nothing() {
        let blank = Image::new(8, 8, Colour::WHITE);
        let mut image = blank.clone();
        image.line(Vec2::splat(f32::NAN), Vec2::ZERO, 2.0, Colour::ALERT, 1.0);
        image.line(Vec2::splat(1e9), Vec2::splat(2e9), 2.0, Colour::ALERT, 1.0);
        image.place(&Image::new(4, 4, Colour::ALERT), 20, 20);
        assert_eq!(image, blank);
    }
}
