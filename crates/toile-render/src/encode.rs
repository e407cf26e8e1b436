//! Pictures as files: PNG, animated PNG and GIF. Everything goes to a [`Write`]; this crate knows no paths.

use crate::image::Image;
use std::io::{self, Error, ErrorKind, Write};

/// Writes a PNG. Opaque pictures are stored without the opacity channel.
pub fn write_png(out: impl Write, image: &Image) -> io::Result<()> {
    let opaque = image.pixels().iter().all(|p| p[3] == 255);
    let (colour, bytes) = if opaque {
        let rgb: Vec<u8> = image.pixels().iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
        (png::ColorType::Rgb, rgb)
    } else {
        (png::ColorType::Rgba, image.bytes().to_vec())
    };
    let mut writer = png_encoder(out, image.width(), image.height(), colour).write_header()?;
    writer.write_image_data(&bytes)?;
    Ok(writer.finish()?)
}

/// A PNG as bytes.
pub fn encode_png(image: &Image) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write_png(&mut bytes, image)?;
    Ok(bytes)
}

/// An animated PNG of equally long frames that repeats for ever, as bytes. For long animations,
/// [`ApngWriter`] keeps only one frame in memory.
pub fn encode_apng(frames: &[Image], fps: f64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let first = frames.first().ok_or_else(no_frames)?;
    let mut writer = ApngWriter::new(&mut bytes, first.width(), first.height(), frames.len(), fps)?;
    for frame in frames {
        writer.push(frame)?;
    }
    writer.finish()?;
    Ok(bytes)
}

/// Writes an animated PNG frame by frame. Pixels that do not change are not stored again.
pub struct ApngWriter<W: Write> {
    writer: png::Writer<W>,
    shown: Option<Image>,
    size: (usize, usize),
    left: usize,
}

impl<W: Write> ApngWriter<W> {
    /// Starts an animation of exactly `frames` frames, shown `fps` a second, repeating for ever.
    pub fn new(out: W, width: usize, height: usize, frames: usize, fps: f64) -> io::Result<ApngWriter<W>> {
        let count = u32::try_from(frames).ok().filter(|n| *n > 0).ok_or_else(no_frames)?;
        let (numerator, denominator) = delay(fps)?;
        let mut encoder = png_encoder(out, width, height, png::ColorType::Rgba);
        encoder.set_animated(count, 0)?;
        encoder.set_frame_delay(numerator, denominator)?;
        encoder.set_dispose_op(png::DisposeOp::None)?;
        encoder.set_blend_op(png::BlendOp::Source)?;
        let writer = encoder.write_header()?;
        Ok(ApngWriter { writer, shown: None, size: (width, height), left: frames })
    }

    /// Adds the next frame.
    pub fn push(&mut self, frame: &Image) -> io::Result<()> {
        same_size(frame, self.size)?;
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            Error::new(ErrorKind::InvalidInput, "more frames than the animation was started with")
        })?;
        match &self.shown {
            None => self.writer.write_image_data(frame.bytes())?,
            Some(shown) => {
                let (x, y, part) = changed_part(shown, frame);
                // The area must be moved to the corner first: size and position are checked one by one.
                self.writer.reset_frame_position()?;
                self.writer.set_frame_dimension(part.width() as u32, part.height() as u32)?;
                self.writer.set_frame_position(x as u32, y as u32)?;
                self.writer.set_blend_op(png::BlendOp::Over)?;
                self.writer.write_image_data(part.bytes())?;
            }
        }
        self.shown = Some(frame.clone());
        Ok(())
    }

    /// Ends the file.
    pub fn finish(self) -> io::Result<()> {
        if self.left > 0 {
            let message = format!("{} frames fewer than the animation was started with", self.left);
            return Err(Error::new(ErrorKind::InvalidInput, message));
        }
        Ok(self.writer.finish()?)
    }
}

fn png_encoder<W: Write>(
    out: W,
    width: usize,
    height: usize,
    colour: png::ColorType,
) -> png::Encoder<'static, W> {
    let mut encoder = png::Encoder::new(out, width as u32, height as u32);
    encoder.set_color(colour);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::Balanced);
    encoder
}

/// Corner and content of the smallest rectangle outside which two frames agree; pixels inside that did not
/// change are transparent. At least one pixel, as the formats demand.
pub(crate) fn changed_part(before: &Image, after: &Image) -> (usize, usize, Image) {
    let (width, height) = (after.width(), after.height());
    let row = |y: usize| y * width..(y + 1) * width;
    let differs = |y: &usize| before.pixels()[row(*y)] != after.pixels()[row(*y)];
    let top = (0..height).find(differs).unwrap_or(0);
    let bottom = (top..height).rev().find(differs).unwrap_or(top);
    let column =
        |x: &usize| (top..=bottom).any(|y| before.pixels()[y * width + x] != after.pixels()[y * width + x]);
    let left = (0..width).find(column).unwrap_or(0);
    let right = (left..width).rev().find(column).unwrap_or(left);
    let pixels = (top..=bottom).flat_map(|y| {
        (left..=right).map(move |x| {
            let i = y * width + x;
            if before.pixels()[i] == after.pixels()[i] { [0; 4] } else { after.pixels()[i] }
        })
    });
    (left, top, Image::from_rows(right - left + 1, bottom - top + 1, pixels.collect()))
}

/// Seconds a frame as a fraction of 16-bit numbers.
fn delay(fps: f64) -> io::Result<(u16, u16)> {
    checked_fps(fps)?;
    // Whole rates are exact, others are good to a thousandth as long as the numbers fit.
    let scale = [1.0, 1000.0, 100.0, 10.0];
    let exact = |s: f64| (fps * s).round() <= 65_535.0 && ((fps * s).round() / s / fps - 1.0).abs() < 1e-3;
    let scale = scale.into_iter().find(|s| exact(*s)).unwrap_or(1.0);
    Ok((scale as u16, (fps * scale).round().clamp(1.0, 65_535.0) as u16))
}

pub(crate) fn checked_fps(fps: f64) -> io::Result<()> {
    if (0.01..=1000.0).contains(&fps) {
        return Ok(());
    }
    let message = format!("{fps} frames a second: must be between 0.01 and 1000");
    Err(Error::new(ErrorKind::InvalidInput, message))
}

pub(crate) fn same_size(frame: &Image, (width, height): (usize, usize)) -> io::Result<()> {
    if (frame.width(), frame.height()) == (width, height) {
        return Ok(());
    }
    let message = format!(
        "frame is {} × {} px in an animation of {width} × {height} px",
        frame.width(),
        frame.height()
    );
    Err(Error::new(ErrorKind::InvalidInput, message))
}

pub(crate) fn no_frames() -> Error {
    Error::new(ErrorKind::InvalidInput, "an animation needs at least one frame")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::Colour;
    use glam::Vec2;
    use std::io::Cursor;

    fn frames(n: usize) -> Vec<Image> {
        let frame = |i: usize| {
            let mut image = Image::new(40, 30, Colour::hex(0xf0efe8));
            let at = Vec2::new(5.0 + 3.0 * i as f32, 12.0);
            image.panel(at, at + 6.0, 1.0, Colour::ALERT, 1.0);
            image
        };
        (0..n).map(frame).collect()
    }

    #[test]
    fn png_round_trips() {
        let image = &frames(1)[0];
        let bytes = encode_png(image).expect("encodes");
        let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().expect("reads");
        let mut buffer = vec![0; reader.output_buffer_size().expect("fits")];
        let info = reader.next_frame(&mut buffer).expect("decodes");
        assert_eq!((info.width, info.height), (40, 30));
        let rgb: Vec<u8> = image.pixels().iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
        assert_eq!(&buffer[..info.buffer_size()], rgb);
    }

    #[test]
    fn apng_decodes_to_the_frames_it_was_made_of() {
        let frames = frames(5);
        let bytes = encode_apng(&frames, 24.0).expect("encodes");
        let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().expect("reads");
        let control = *reader.info().animation_control().expect("animated");
        assert_eq!((control.num_frames, control.num_plays), (5, 0));
        let mut shown = vec![[0u8; 4]; 40 * 30];
        for frame in &frames {
            let mut buffer = vec![0; 40 * 30 * 4];
            let info = reader.next_frame(&mut buffer).expect("decodes");
            let place = *reader.info().frame_control().expect("frame control");
            assert_eq!((place.delay_num, place.delay_den), (1, 24));
            for (i, pixel) in buffer[..info.buffer_size()].chunks_exact(4).enumerate() {
                let x = place.x_offset as usize + i % info.width as usize;
                let y = place.y_offset as usize + i / info.width as usize;
                if pixel[3] == 255 {
                    shown[y * 40 + x].copy_from_slice(pixel);
                }
            }
            assert_eq!(shown, frame.pixels());
        }
    }

    #[test]
    fn frames_that_do_not_change_are_almost_free() {
        let still = vec![frames(1)[0].clone(); 4];
        let one = encode_apng(&still[..1], 10.0).expect("encodes").len();
        let four = encode_apng(&still, 10.0).expect("encodes").len();
        assert!(four < one + 400, "{one} {four}");
    }

    #[test]
    fn rates_become_fractions() {
        assert_eq!(delay(24.0).expect("valid"), (1, 24));
        assert_eq!(delay(29.97).expect("valid"), (1000, 29970));
        assert_eq!(delay(0.5).expect("valid"), (1000, 500));
        for bad in [0.0, -1.0, f64::NAN, 1e9] {
            assert!(delay(bad).is_err());
        }
    }

    #[test]
    fn wrong_frames_are_refused() {
        assert!(encode_apng(&[], 10.0).is_err());
        let odd = [Image::new(4, 4, Colour::WHITE), Image::new(5, 4, Colour::WHITE)];
        assert!(encode_apng(&odd, 10.0).is_err());
        let mut bytes = Vec::new();
        let writer = ApngWriter::new(&mut bytes, 4, 4, 2, 10.0).expect("starts");
        assert!(writer.finish().is_err());
    }
}
