//! Pictures and animations of cloth on a plain CPU.
//!
//! No GPU, no driver, no font file, no clock: a picture is a function of its scene, and the same scene gives
//! the same bits on any number of threads. The crate knows nothing of the engine; it takes plain arrays.
//!
//! ```
//! use toile_render::{Camera, Colour, Framing, Bounds, Look, Options, Pattern, Scene, Surface, Vec3};
//!
//! let positions = [Vec3::new(0.0, 0.0, 0.0), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.2)];
//! let linen = Look::Cloth {
//!     front: Colour::hex(0xc8553d),
//!     back: Colour::hex(0xe0a890),
//!     pattern: Pattern::Plain,
//! };
//! let scene = Scene {
//!     surfaces: vec![Surface::new(&positions, &[[0, 1, 2]], linen)],
//!     caption: Some("one triangle".to_owned()),
//!     ..Scene::default()
//! };
//! let camera = Camera::frame_action(&[Bounds::of(&positions)], &Framing::default());
//! let options = Options { width: 64, height: 36, ..Options::default() };
//! let picture = toile_render::render(&scene, &camera, &options);
//! assert_eq!((picture.drawn, picture.skipped), (1, 0));
//! let png: Vec<u8> = toile_render::encode_png(&picture.image)?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! How a picture comes about, in order: [`Camera::frame_action`] finds a view; the scene's triangles go into
//! one bounding-volume tree; ambient light is traced once a pixel and smoothed along surfaces; then every
//! pixel looks at several places, asks the sun, and mixes what it saw; caption, legends and markers are
//! drawn over. [`encode_png`], [`encode_apng`] and [`encode_gif`] turn the result into files.

mod camera;
mod colour;
mod encode;
mod font;
mod geometry;
mod gif;
mod image;
mod lightmap;
mod overlay;
mod pattern;
mod render;
mod sample;
mod scene;
mod sheet;
mod stage;
mod ticks;
mod tracer;

pub use camera::{Bounds, Camera, Framing, Margins};
pub use colour::{Colour, ColourMap, Kind};
pub use encode::{ApngWriter, encode_apng, encode_png, write_png};
pub use gif::{encode_gif, write_gif};
pub use glam::{Vec2, Vec3};
pub use image::Image;
pub use render::{Picture, render};
pub use scene::{
    Backdrop, Field, Ground, Look, Marker, Options, Pattern, Quality, Scene, Shape, Surface, Up, Values,
};
pub use sheet::{Tile, contact_sheet};
