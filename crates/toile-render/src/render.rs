//! From a scene to a picture.

use crate::ambient::AmbientMap;
use crate::camera::{Camera, View};
use crate::colour::Colour;
use crate::image::Image;
use crate::overlay;
use crate::sample::Samples;
use crate::scene::{Options, Quality, Scene};
use crate::tracer::Tracer;
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// Largest side of a picture [px].
const LARGEST: usize = 16_384;

/// A finished picture and what went into it.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The pixels.
    pub image: Image,
    /// Triangles the picture shows.
    pub drawn: usize,
    /// Triangles left out because they could not be drawn (see [`Surface`](crate::Surface)).
    pub skipped: usize,
}

/// Rays spent on each pixel.
struct Effort {
    /// Places looked at for smooth edges.
    samples: usize,
    /// Rays into the surroundings.
    ambient: usize,
    /// Rays to the sun from each sample.
    sun: usize,
    /// Whether bounced light is checked for shadow.
    careful: bool,
}

impl Quality {
    fn effort(self) -> Effort {
        match self {
            Quality::Draft => Effort { samples: 3, ambient: 3, sun: 1, careful: false },
            Quality::Standard => Effort { samples: 5, ambient: 8, sun: 3, careful: true },
            Quality::Fine => Effort { samples: 16, ambient: 24, sun: 4, careful: true },
        }
    }
}

/// Draws a scene. The same input gives the same bits on any number of threads.
///
/// Nothing in the input makes it fail: what cannot be drawn is left out and counted, sizes are brought
/// between 1 and 16 384 px.
pub fn render(scene: &Scene, camera: &Camera, options: &Options) -> Picture {
    let (width, height) = (options.width.clamp(1, LARGEST), options.height.clamp(1, LARGEST));
    let effort = options.quality.effort();
    let view = View::new(camera, width, height);
    let samples = Samples::new(effort.samples, effort.ambient, effort.sun);
    let size = Vec2::new(width as f32, height as f32);
    let tracer = Tracer::new(scene, view, samples, options.backdrop, size, effort.careful);
    let ambient = AmbientMap::new(&tracer, width, height);
    let row = |y: usize| {
        let (tracer, ambient) = (&tracer, &ambient);
        (0..width).map(move |x| pixel(tracer, ambient, x, y))
    };
    let pixels = (0..height).into_par_iter().flat_map_iter(row).collect();
    let mut image = Image::from_rows(width, height, pixels);
    overlay::draw(&mut image, scene, &view, &options.backdrop);
    Picture { image, drawn: tracer.geometry.len(), skipped: tracer.geometry.skipped }
}

fn pixel(tracer: &Tracer, ambient: &AmbientMap, x: usize, y: usize) -> [u8; 4] {
    let centre = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
    let mut sum = Vec3::ZERO;
    for (sample, offset) in tracer.samples.pixel.iter().enumerate() {
        let at = centre + *offset;
        let direction = tracer.view.direction(at);
        let spot = tracer.first(tracer.view.eye, direction);
        let seen = spot.as_ref().map(|spot| {
            let light = ambient.lookup(tracer, spot, at);
            (spot, light.unwrap_or_else(|| tracer.gather(spot, tracer.samples.ambient(x, y))))
        });
        sum += tracer.colour(at, direction, seen, (x, y, sample));
    }
    let Colour { r, g, b } = Colour::from_linear(sum / tracer.samples.pixel.len() as f32);
    [r, g, b, 255]
}
