//! Animated GIF, for places that show nothing better.
//!
//! A GIF has 256 colours. One palette is chosen for the whole animation, so colours do not flicker, by
//! cutting the box of all used colours where it is longest (Heckbert 1982, median cut); an ordered pattern
//! mixes neighbours where the wanted colour lies between two.

use crate::encode::{changed_part, checked_fps, no_frames, same_size};
use crate::image::Image;
use rayon::prelude::*;
use std::io::{self, Error, ErrorKind, Write};

/// Colours are counted and looked up with this many bits a channel.
const BITS: u32 = 6;
const SIDE: usize = 1 << BITS;
/// Palette entry 0 is "as before"; the rest are colours.
const COLOURS: usize = 255;
const UNCHANGED: u8 = 0;

/// Writes an animated GIF of equally long frames that repeats for ever. GIF counts time in hundredths of a
/// second; frames are rounded so that the whole animation keeps its length.
pub fn write_gif(out: impl Write, frames: &[Image], fps: f64) -> io::Result<()> {
    checked_fps(fps)?;
    let first = frames.first().ok_or_else(no_frames)?;
    let size = (first.width(), first.height());
    let too_large = || Error::new(ErrorKind::InvalidInput, "a GIF has at most 65 535 px a side");
    let width = u16::try_from(size.0).map_err(|_| too_large())?;
    let height = u16::try_from(size.1).map_err(|_| too_large())?;
    frames.iter().try_for_each(|frame| same_size(frame, size))?;

    let palette = Palette::of(frames);
    let mut encoder = gif::Encoder::new(out, width, height, &palette.bytes()).map_err(Error::other)?;
    encoder.set_repeat(gif::Repeat::Infinite).map_err(Error::other)?;
    let parts: Vec<(usize, usize, Image)> = (0..frames.len())
        .into_par_iter()
        .map(|i| if i == 0 { (0, 0, first.clone()) } else { changed_part(&frames[i - 1], &frames[i]) })
        .collect();
    for (i, (x, y, part)) in parts.iter().enumerate() {
        let frame = gif::Frame {
            delay: ticks(i + 1, fps) - ticks(i, fps),
            dispose: gif::DisposalMethod::Keep,
            transparent: Some(UNCHANGED),
            left: *x as u16,
            top: *y as u16,
            width: part.width() as u16,
            height: part.height() as u16,
            buffer: palette.indices(part, *x, *y).into(),
            ..gif::Frame::default()
        };
        encoder.write_frame(&frame).map_err(Error::other)?;
    }
    Ok(())
}

/// An animated GIF as bytes; see [`write_gif`].
pub fn encode_gif(frames: &[Image], fps: f64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write_gif(&mut bytes, frames, fps)?;
    Ok(bytes)
}

/// Time of frame `i` in hundredths of a second, modulo the 16 bits a delay has.
fn ticks(i: usize, fps: f64) -> u16 {
    ((i as f64 * 100.0 / fps).round() as u64 & 0x7fff) as u16
}

struct Palette {
    colours: Vec<[u8; 3]>,
    /// Nearest palette entry for each cell of colour space.
    nearest: Vec<u8>,
}

impl Palette {
    fn of(frames: &[Image]) -> Palette {
        let mut cells = histogram(frames);
        let mut boxes = vec![ColourBox::new(&mut cells)];
        while boxes.len() < COLOURS {
            let widest = (0..boxes.len()).max_by_key(|i| (boxes[*i].cost, usize::MAX - i));
            let Some(index) = widest.filter(|i| boxes[*i].cost > 0) else { break };
            let (a, b) = boxes.swap_remove(index).cut();
            boxes.extend([a, b]);
        }
        let colours: Vec<[u8; 3]> = boxes.iter().map(ColourBox::mean).collect();
        let nearest = (0..SIDE * SIDE * SIDE).into_par_iter().map(|cell| nearest(&colours, cell)).collect();
        Palette { colours, nearest }
    }

    fn bytes(&self) -> Vec<u8> {
        std::iter::once([0; 3]).chain(self.colours.iter().copied()).flatten().collect()
    }

    /// Palette entries for a part of a picture whose corner lies at (x, y).
    fn indices(&self, part: &Image, x: usize, y: usize) -> Vec<u8> {
        let pixel = |(i, p): (usize, &[u8; 4])| {
            if p[3] == 0 {
                return UNCHANGED;
            }
            let nudge = pattern(x + i % part.width(), y + i / part.width());
            let shifted = |c: u8| (i32::from(c) + nudge).clamp(0, 255) as u8;
            self.nearest[cell_of([shifted(p[0]), shifted(p[1]), shifted(p[2])])]
        };
        part.pixels().iter().enumerate().map(pixel).collect()
    }
}

/// A used cell of colour space: its colour and how many pixels have it.
type Cell = ([u8; 3], u64);

fn histogram(frames: &[Image]) -> Vec<Cell> {
    let mut counts = vec![0u64; SIDE * SIDE * SIDE];
    for pixel in frames.iter().flat_map(|f| f.pixels()) {
        counts[cell_of([pixel[0], pixel[1], pixel[2]])] += 1;
    }
    (0..counts.len()).filter(|i| counts[*i] > 0).map(|i| (colour_of(i), counts[i])).collect()
}

fn cell_of(c: [u8; 3]) -> usize {
    let drop = 8 - BITS;
    c.iter().fold(0, |cell, channel| (cell << BITS) | (channel >> drop) as usize)
}

/// The colour in the middle of a cell.
fn colour_of(cell: usize) -> [u8; 3] {
    let channel = |shift: u32| (((cell >> shift) & (SIDE - 1)) << (8 - BITS)) as u8 + (1 << (7 - BITS));
    [channel(2 * BITS), channel(BITS), channel(0)]
}

/// Weights of the channels' squares: the eye sees green errors most.
const WEIGHT: [u64; 3] = [3, 6, 2];

struct ColourBox<'a> {
    cells: &'a mut [Cell],
    axis: usize,
    /// How much a cut is worth; 0 if there is nothing to cut.
    cost: u64,
}

impl<'a> ColourBox<'a> {
    fn new(cells: &'a mut [Cell]) -> ColourBox<'a> {
        let spread = |axis: usize| {
            let low = cells.iter().map(|c| c.0[axis]).min().unwrap_or(0);
            let high = cells.iter().map(|c| c.0[axis]).max().unwrap_or(0);
            u64::from(high - low) * u64::from(high - low) * WEIGHT[axis]
        };
        let spreads = [spread(0), spread(1), spread(2)];
        let axis = (0..3).max_by_key(|a| (spreads[*a], 3 - a)).unwrap_or(0);
        let count: u64 = cells.iter().map(|c| c.1).sum();
        // The square root lets small but distinct regions (a marker, a legend) have colours of their own.
        let cost = spreads[axis] * (count as f64).sqrt().ceil() as u64;
        ColourBox { cells, axis, cost }
    }

    /// Two halves with about equally many pixels.
    fn cut(self) -> (ColourBox<'a>, ColourBox<'a>) {
        let axis = self.axis;
        self.cells.sort_unstable_by_key(|c| (c.0[axis], c.0));
        let half = self.cells.iter().map(|c| c.1).sum::<u64>() / 2;
        let mut below = 0;
        let mut middle = 0;
        while middle < self.cells.len() && below < half {
            below += self.cells[middle].1;
            middle += 1;
        }
        let (a, b) = self.cells.split_at_mut(middle.clamp(1, self.cells.len() - 1));
        (ColourBox::new(a), ColourBox::new(b))
    }

    fn mean(&self) -> [u8; 3] {
        let count: u64 = self.cells.iter().map(|c| c.1).sum::<u64>().max(1);
        std::array::from_fn(|axis| {
            (self.cells.iter().map(|c| u64::from(c.0[axis]) * c.1).sum::<u64>() / count) as u8
        })
    }
}

/// Palette entry of the colour nearest to a cell.
fn nearest(colours: &[[u8; 3]], cell: usize) -> u8 {
    let c = colour_of(cell);
    let distance = |other: &[u8; 3]| -> u64 {
        (0..3).map(|a| u64::from(c[a].abs_diff(other[a])).pow(2) * WEIGHT[a]).sum()
    };
    let best = (0..colours.len()).min_by_key(|i| (distance(&colours[*i]), *i)).unwrap_or(0);
    best as u8 + 1
}

/// A fixed 4 × 4 pattern of small offsets whose mean is zero.
fn pattern(x: usize, y: usize) -> i32 {
    const BAYER: [[i32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
    (2 * BAYER[y % 4][x % 4] - 15) / 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::Colour;
    use glam::Vec2;

    fn decoded(bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut reader = options.read_info(bytes).expect("reads");
        let mut frames = Vec::new();
        while let Some(frame) = reader.read_next_frame().expect("decodes") {
            frames.push((frame.delay, frame.buffer.to_vec()));
        }
        frames
    }

    #[test]
    fn gif_decodes_to_as_many_frames_with_close_colours() {
        let frames: Vec<Image> = (0..6)
            .map(|i| {
                let mut image = Image::new(32, 24, Colour::hex(0xeae7e0));
                let at = Vec2::new(3.0 + 2.0 * i as f32, 8.0);
                image.panel(at, at + 7.0, 2.0, Colour::hex(0x2266aa), 1.0);
                image
            })
            .collect();
        let bytes = encode_gif(&frames, 30.0).expect("encodes");
        let decoded = decoded(&bytes);
        assert_eq!(decoded.len(), 6);
        // 6 frames at 30 a second last 20 hundredths, whatever single frames round to.
        assert_eq!(decoded.iter().map(|d| u32::from(d.0)).sum::<u32>(), 20);
        for (pixel, shown) in frames[0].pixels().iter().zip(decoded[0].1.chunks_exact(4)) {
            assert!((0..3).all(|c| pixel[c].abs_diff(shown[c]) <= 8), "{pixel:?} {shown:?}");
        }
    }

    #[test]
    fn the_same_frames_give_the_same_bytes() {
        let mut image = Image::new(64, 64, Colour::WHITE);
        for i in 0..64 {
            let c = Colour::hex(0x010305 * i + 0x402000);
            image.line(Vec2::new(i as f32, 0.0), Vec2::new(64.0, i as f32), 1.0, c, 0.8);
        }
        let frames = [image.clone(), image];
        assert_eq!(encode_gif(&frames, 12.0).expect("encodes"), encode_gif(&frames, 12.0).expect("encodes"));
    }

    #[test]
    fn wrong_animations_are_refused() {
        assert!(encode_gif(&[], 10.0).is_err());
        let image = Image::new(4, 4, Colour::WHITE);
        assert!(encode_gif(std::slice::from_ref(&image), f64::NAN).is_err());
        assert!(encode_gif(&[image.clone(), Image::new(4, 5, Colour::WHITE)], 10.0).is_err());
        assert_eq!(decoded(&encode_gif(&[image.clone(), image], 10.0).expect("encodes")).len(), 2);
    }
}
