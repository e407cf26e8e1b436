//! What is drawn flat over a picture: caption, legends and markers.

use crate::camera::View;
use crate::colour::{Colour, ColourMap, MapTable, NO_VALUE};
use crate::font::{self, Pen};
use crate::image::Image;
use crate::scene::{Backdrop, Field, Look, Marker, Scene, Shape, Values};
use crate::ticks::Ticks;
use glam::Vec2;

/// Below this size there is no room for words.
const SMALLEST: usize = 96;

/// Draws everything that lies over the scene.
pub(crate) fn draw(image: &mut Image, scene: &Scene, view: &View, backdrop: &Backdrop) {
    let style = Style::new(image, backdrop);
    for marker in &scene.markers {
        draw_marker(image, marker, view, &style);
    }
    if image.width().min(image.height()) < SMALLEST {
        return;
    }
    let mut right = image.width() as f32 - 2.0 * style.unit;
    for field in legends(scene) {
        right = draw_legend(image, field, right, &style) - style.unit;
    }
    draw_footer(image, scene, &style);
}

/// Sizes and colours shared by everything flat.
struct Style {
    /// Basic length, which grows with the picture [px].
    unit: f32,
    ink: Colour,
    paper: Colour,
}

impl Style {
    fn new(image: &Image, backdrop: &Backdrop) -> Style {
        let size = (image.height() as f32).min(image.width() as f32 * 0.75);
        Style { unit: (size / 55.0).max(8.0), ink: backdrop.ink, paper: backdrop.horizon }
    }

    fn pen(&self) -> Pen {
        Pen { size: 0.78 * self.unit, colour: self.ink, halo: Some(self.paper) }
    }
}

/// Caption at the left, size of the ground's grid at the right.
fn draw_footer(image: &mut Image, scene: &Scene, style: &Style) {
    let baseline = image.height() as f32 - 1.7 * style.unit;
    let room = image.width() as f32 - 3.4 * style.unit;
    let mut used = 0.0;
    if let Some(caption) = &scene.caption {
        let size = fitting(caption, 0.92 * style.unit, room);
        used = font::width(caption, size);
        font::draw(image, caption, Vec2::new(1.7 * style.unit, baseline), &Pen { size, ..style.pen() });
    }
    let grid = scene.ground.map_or(0.0, |g| g.grid);
    if grid.is_finite() && grid > 0.0 {
        let text = format!("grid {}", length(grid));
        let size = 0.66 * style.unit;
        let width = font::width(&text, size);
        if used + width + style.unit < room {
            let at = Vec2::new(image.width() as f32 - 1.7 * style.unit - width, baseline);
            font::draw(image, &text, at, &Pen { size, colour: style.ink.mix(style.paper, 0.35), halo: None });
        }
    }
}

/// Largest text size up to `size` at which `text` is no wider than `room`.
fn fitting(text: &str, size: f32, room: f32) -> f32 {
    let width = font::width(text, size);
    if width > room { size * (room / width).max(0.0) } else { size }
}

/// A length [m] in the unit people would use.
fn length(metres: f32) -> String {
    if metres >= 1.0 {
        format!("{} m", round3(metres))
    } else if metres >= 0.01 {
        format!("{} cm", round3(metres * 100.0))
    } else {
        format!("{} mm", round3(metres * 1000.0))
    }
}

fn round3(x: f32) -> f32 {
    (x * 1000.0).round() / 1000.0
}

/// One legend for each different field of the scene.
fn legends<'a>(scene: &Scene<'a>) -> Vec<Field<'a>> {
    let mut fields: Vec<Field> = Vec::new();
    for surface in &scene.surfaces {
        let Look::Field(field) = surface.look else { continue };
        let same = |f: &Field| {
            f.title == field.title && f.unit == field.unit && f.map == field.map && f.range == field.range
        };
        if !fields.iter().any(same) {
            fields.push(field);
        }
    }
    fields
}

/// Draws a legend whose right edge is at `right`; returns its left edge.
fn draw_legend(image: &mut Image, field: Field, right: f32, style: &Style) -> f32 {
    let unit = style.unit;
    let ticks = match field.map {
        ColourMap::Kinds(kinds) => Ticks::named(kinds),
        ColourMap::Sequential | ColourMap::Diverging => Ticks::new(field.range),
    };
    let title = field.title.to_owned();
    let subtitle = ticks.unit_text(field.unit);
    let size = 0.74 * unit;
    let bar = Vec2::new(1.1 * unit, 0.46 * image.height() as f32);
    let numbers = ticks.marks.iter().map(|m| font::width(&m.text, size)).fold(0.0, f32::max);
    let title_size = fitting(&title, 0.82 * unit, 0.3 * image.width() as f32);
    let title_width = font::width(&title, title_size).max(font::width(&subtitle, size));
    let missing = has_missing(&field.values);
    let missing_width = if missing { bar.x + 0.5 * unit + font::width("no value", size) } else { 0.0 };
    let width = (bar.x + 0.7 * unit + numbers).max(title_width).max(missing_width);

    let head = if subtitle.is_empty() { 2.0 * unit } else { 3.3 * unit };
    let foot = if missing { 2.4 * unit } else { 0.0 };
    let left = right - width;
    let top = 0.5 * (image.height() as f32 - bar.y - head - foot) + head;
    let low = Vec2::new(left - unit, top - head - 0.6 * unit);
    let high = Vec2::new(right + unit, top + bar.y + foot + unit);
    image.panel(low, high, 0.6 * unit, style.paper, 0.62);

    let plain = Pen { size, colour: style.ink, halo: None };
    let title_at = Vec2::new(left, top - head + 0.75 * unit);
    font::draw(image, &title, title_at, &Pen { size: title_size, ..plain });
    let faint = Pen { colour: style.ink.mix(style.paper, 0.25), ..plain };
    font::draw(image, &subtitle, title_at + Vec2::Y * (1.35 * unit), &faint);
    draw_bar(image, &field, Vec2::new(left, top), bar, style);
    for mark in &ticks.marks {
        let y = top + bar.y * (1.0 - mark.position);
        let x = left + bar.x;
        image.line(Vec2::new(x, y), Vec2::new(x + 0.3 * unit, y), 1.0, style.ink, 0.8);
        font::draw(image, &mark.text, Vec2::new(x + 0.7 * unit, y + 0.5 * size), &plain);
    }
    if missing {
        let at = Vec2::new(left, top + bar.y + 1.2 * unit);
        let grey = Colour::from_linear(NO_VALUE);
        image.panel(at, at + Vec2::splat(bar.x), 0.0, grey, 1.0);
        font::draw(image, "no value", at + Vec2::new(bar.x + 0.5 * unit, 0.9 * unit), &faint);
    }
    low.x
}

fn draw_bar(image: &mut Image, field: &Field, at: Vec2, size: Vec2, style: &Style) {
    let table = MapTable::new(field.map);
    let rows = size.y.max(1.0) as usize;
    for row in 0..rows {
        let t = 1.0 - (row as f32 + 0.5) / rows as f32;
        let top = at.y.round() + row as f32;
        let low = Vec2::new(at.x, top);
        image.panel(low, low + Vec2::new(size.x, 1.0), 0.0, Colour::from_linear(table.at(t)), 1.0);
    }
    let (a, c) = (at, at + size);
    let (b, d) = (Vec2::new(c.x, a.y), Vec2::new(a.x, c.y));
    for (p, q) in [(a, b), (b, c), (c, d), (d, a)] {
        image.line(p, q, 1.0, style.ink, 0.55);
    }
}

fn has_missing(values: &Values) -> bool {
    let (Values::PerVertex(values) | Values::PerFace(values)) = values;
    values.iter().any(|v| v.is_nan())
}

fn draw_marker(image: &mut Image, marker: &Marker, view: &View, style: &Style) {
    let points: Vec<Vec2> = marker.shape.points().iter().filter_map(|p| view.project(*p)).collect();
    if points.len() < marker.shape.points().len() {
        return;
    }
    let line = (0.16 * style.unit).max(1.5);
    let casing = 2.2 * line;
    let outline = |image: &mut Image, width: f32, colour: Colour, alpha: f32| {
        for i in 0..points.len() {
            image.line(points[i], points[(i + 1) % points.len()], width, colour, alpha);
        }
    };
    match marker.shape {
        Shape::Point(_) => {
            image.line(points[0], points[0], 2.0 * line, Colour::WHITE, 0.85);
            image.line(points[0], points[0], 1.4 * line, marker.colour, 1.0);
        }
        Shape::Segment(_) => {
            outline(image, casing, Colour::WHITE, 0.85);
            outline(image, line, marker.colour, 1.0);
        }
        Shape::Triangle(_) => {
            image.triangle([points[0], points[1], points[2]], marker.colour, 0.45);
            outline(image, casing, Colour::WHITE, 0.7);
            outline(image, line, marker.colour, 1.0);
        }
    }
    // A ring finds what is too small to be seen: a point always, a triangle of the mesh usually.
    let middle = points.iter().sum::<Vec2>() / points.len() as f32;
    let extent = points.iter().map(|p| p.distance(middle)).fold(0.0, f32::max);
    if extent < style.unit {
        let radius = 0.75 * style.unit + extent;
        image.ring(middle, radius, casing, Colour::WHITE, 0.85);
        image.ring(middle, radius, line, marker.colour, 1.0);
    }
    if let Some(label) = &marker.label {
        draw_label(image, label, middle, 0.75 * style.unit + extent, marker.colour, style);
    }
}

/// Words beside a marker that reaches `extent` px around `middle`, on the side that has room.
fn draw_label(image: &mut Image, label: &str, middle: Vec2, extent: f32, colour: Colour, style: &Style) {
    let (width, height) = (image.width() as f32, image.height() as f32);
    let unit = style.unit;
    let size = 0.82 * unit;
    let text = font::width(label, size);
    let gap = extent + 1.6 * unit;
    let fits_right = middle.x + gap + text < width - unit;
    let x = if fits_right { middle.x + gap } else { (middle.x - gap - text).max(unit) };
    let y = (middle.y - extent - 0.6 * unit).clamp(2.0 * unit, (height - unit).max(2.0 * unit));
    let pad = Vec2::new(0.5, 0.45) * unit;
    let (low, high) = (Vec2::new(x, y - size) - pad, Vec2::new(x + text, y) + pad);
    let anchor = Vec2::new(if fits_right { low.x } else { high.x }, y - 0.5 * size);
    let start = middle + (anchor - middle).clamp_length_max(extent);
    image.line(start, anchor, 0.14 * unit, colour, 1.0);
    image.panel(low, high, 0.35 * unit, colour, 1.0);
    font::draw(image, label, Vec2::new(x, y), &Pen { size, colour: Colour::WHITE, halo: None });
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn drawn(scene: &Scene, width: usize, height: usize) -> Image {
        let mut image = Image::new(width, height, Colour::WHITE);
        let camera = crate::Camera { eye: Vec3::Z * 2.0, target: Vec3::ZERO, up: Vec3::Y, fov: 1.0 };
        draw(&mut image, scene, &View::new(&camera, width, height), &Backdrop::LIGHT);
        image
    }

    fn near(pixel: &[u8; 4], c: Colour) -> bool {
        let far = |(a, b): (&u8, u8)| a.abs_diff(b) > 40;
        !pixel.iter().zip([c.r, c.g, c.b]).any(far)
    }

    fn has(image: &Image, colour: Colour) -> bool {
        image.pixels().iter().any(|p| near(p, colour))
    }

    #[test]
    fn markers_are_drawn_where_the_point_is() {
        let marker = Marker { shape: Shape::Point(Vec3::ZERO), colour: Colour::ALERT, label: None };
        let image = drawn(&Scene { markers: vec![marker], ..Scene::default() }, 200, 100);
        assert!(near(&image.pixels()[50 * 200 + 100], Colour::ALERT));
        assert!(near(&image.pixels()[50 * 200 + 150], Colour::WHITE));
    }

    #[test]
    fn equal_fields_share_a_legend_and_missing_values_are_explained() {
        let values = [0.0, f32::NAN];
        let field = Field {
            values: Values::PerFace(&values),
            range: [0.0, 1.0],
            map: crate::ColourMap::Sequential,
            title: "gap",
            unit: "mm",
        };
        let surface = crate::Surface::new(&[], &[], Look::Field(field));
        let two = Scene { surfaces: vec![surface, surface], ..Scene::default() };
        assert_eq!(legends(&two).len(), 1);
        let image = drawn(&two, 400, 300);
        assert!(has(&image, Colour::from_linear(NO_VALUE)));
        assert!(has(&image, Colour::from_linear(MapTable::new(field.map).at(0.5))));
    }

    #[test]
    fn pictures_too_small_for_words_have_none() {
        let scene = Scene { caption: Some("much too long for this".into()), ..Scene::default() };
        assert_eq!(drawn(&scene, 60, 60), Image::new(60, 60, Colour::WHITE));
        assert_ne!(drawn(&scene, 160, 120), Image::new(160, 120, Colour::WHITE));
    }

    #[test]
    fn lengths_read_naturally() {
        assert_eq!(length(2.0), "2 m");
        assert_eq!(length(0.5), "50 cm");
        assert_eq!(length(0.1), "10 cm");
        assert_eq!(length(0.002), "2 mm");
    }
}
