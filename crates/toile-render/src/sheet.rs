//! Several pictures on one sheet, each with a caption.

use crate::font::{self, Pen};
use crate::image::Image;
use crate::scene::Backdrop;
use glam::Vec2;

/// A picture on a contact sheet and the words under it.
#[derive(Clone, Copy, Debug)]
pub struct Tile<'a> {
    /// The picture.
    pub image: &'a Image,
    /// One line under it.
    pub caption: &'a str,
}

/// Tiles pictures into one, `columns` a row, in the colours of `backdrop`. Cells are as large as the
/// largest picture. Captions too long for their cell are drawn smaller.
pub fn contact_sheet(tiles: &[Tile], columns: usize, backdrop: &Backdrop) -> Image {
    let columns = columns.clamp(1, tiles.len().max(1));
    let rows = tiles.len().div_ceil(columns).max(1);
    let cell_width = tiles.iter().map(|t| t.image.width()).max().unwrap_or(1);
    let cell_height = tiles.iter().map(|t| t.image.height()).max().unwrap_or(1);
    let gap = (cell_width / 40).max(6);
    let size = (cell_height as f32 / 26.0).clamp(8.0, 28.0);
    let line = (2.4 * size) as usize;
    let mut sheet = Image::new(
        columns * (cell_width + gap) + gap,
        rows * (cell_height + line + gap) + gap,
        backdrop.ground,
    );
    for (i, tile) in tiles.iter().enumerate() {
        let x = gap + (i % columns) * (cell_width + gap);
        let y = gap + (i / columns) * (cell_height + line + gap);
        sheet.place(tile.image, x, y);
        let width = font::width(tile.caption, size);
        let size = if width > cell_width as f32 { size * cell_width as f32 / width } else { size };
        let at = Vec2::new(x as f32 + 1.0, (y + cell_height) as f32 + 1.6 * size);
        font::draw(&mut sheet, tile.caption, at, &Pen { size, colour: backdrop.ink, halo: None });
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::Colour;

    #[test]
    fn every_tile_is_on_the_sheet() {
        let images: Vec<Image> =
            (0..5).map(|i| Image::new(60, 40, Colour { r: 10 * i, g: 200, b: 0 })).collect();
        let tiles: Vec<Tile> = images.iter().map(|image| Tile { image, caption: "frame" }).collect();
        let sheet = contact_sheet(&tiles, 3, &Backdrop::LIGHT);
        for image in &images {
            let colour = image.pixels()[0];
            assert_eq!(sheet.pixels().iter().filter(|p| **p == colour).count(), 60 * 40);
        }
    }

    #[test]
    fn an_empty_sheet_is_still_an_image() {
        assert!(contact_sheet(&[], 0, &Backdrop::DARK).width() > 0);
    }
}
