//! From a scene to a picture.

use crate::camera::{Camera, View};
use crate::colour::Colour;
use crate::image::Image;
use crate::lightmap::LightMap;
use crate::overlay;
use crate::sample::{Effort, Samples};
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

impl Quality {
    fn effort(self) -> Effort {
        match self {
            Quality::Draft => Effort { busy: 4, calm: 1, ambient: 3, sun_probe: 2, sun: 0, careful: false },
            Quality::Standard => {
                Effort { busy: 10, calm: 2, ambient: 8, sun_probe: 2, sun: 4, careful: true }
            }
            Quality::Fine => Effort { busy: 32, calm: 6, ambient: 24, sun_probe: 4, sun: 4, careful: true },
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
    let samples = Samples::new(&effort);
    let size = Vec2::new(width as f32, height as f32);
    let tracer = Tracer::new(scene, view, samples, options.backdrop, size, effort.careful);
    let lights = LightMap::new(&tracer, width, height);
    let row = |y: usize| {
        let (tracer, lights) = (&tracer, &lights);
        (0..width).map(move |x| pixel(tracer, lights, x, y))
    };
    let pixels = (0..height).into_par_iter().flat_map_iter(row).collect();
    let mut image = Image::from_rows(width, height, pixels);
    overlay::draw(&mut image, scene, &view, &options.backdrop);
    Picture { image, drawn: tracer.geometry.len(), skipped: tracer.geometry.skipped }
}

fn pixel(tracer: &Tracer, lights: &LightMap, x: usize, y: usize) -> [u8; 4] {
    let centre = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
    let mut sum = Vec3::ZERO;
    let samples = &tracer.samples;
    let places = if lights.busy(x, y) { &samples.busy } else { &samples.calm };
    for (sample, offset) in places.iter().enumerate() {
        let at = centre + *offset;
        let direction = tracer.view.direction(at);
        let Some(spot) = tracer.first(tracer.view.eye, direction) else {
            sum += tracer.behind(at);
            continue;
        };
        let known = lights.lookup(tracer, &spot, at);
        let mut light = known.unwrap_or_else(|| tracer.light_at(&spot, x, y));
        if light.mixed {
            light.sun = tracer.sun_share(&spot, samples.sun(x, y, sample)).unwrap_or(light.sun);
        }
        sum += tracer.colour(at, direction, &spot, &light);
    }
    let mean = sum / places.len() as f32;
    let Colour { r, g, b } = Colour::dithered(mean, Samples::threshold(x, y));
    [r, g, b, 255]
}
