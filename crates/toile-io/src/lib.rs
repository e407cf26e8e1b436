//! Scene files, meshes and caches: the only crate of toile that knows bytes.
//!
//! The engine computes in metres, Y up, and never sees a path. Everything that comes from or goes
//! to a disk passes here, is converted at the border, and is refused with a place and a fix when it
//! is wrong. Nothing in this crate panics on input, whatever the input.
//!
//! | module | what |
//! |---|---|
//! | [`scene`] | `scene.toml`: schema, checks, `--set` overrides, built-in scenes |
//! | [`fabric`] | fabrics with a name: presets, files, laboratory readings |
//! | [`build`] | a scene to a world ready to step |
//! | [`tailor`] | a scene's edits, done when their time has come |
//! | [`detect`] | a scene's options of detection as the engine takes them |
//! | [`axes`] | units and up axes, to metres and back |
//! | [`obj`] | OBJ meshes: vertex order, polygons, groups and stitches kept |
//! | [`run`] | the folder of a run: frames, checkpoints, statistics, outcome, lock |
//! | [`cache`] | any animated mesh: our runs, PC2, OBJ sequences |
//! | [`convert`] | a cache to PC2 or to an OBJ sequence |
//! | [`pc2`], [`sequence`] | point caches and numbered files |
//! | [`container`], [`atomic`] | named arrays under a checksum; files that are whole or absent |
//!
//! ```
//! use toile_io::scene::{Scene, resolve};
//!
//! let hang = resolve("hang")?;
//! let scene = Scene::open(&hang, &["cloth.sheet.shape.resolution=20"])?;
//! assert_eq!(scene.gravity.y, -9.81); // [m/s²], Y up, whatever the file's axes
//!
//! let error = Scene::open(&hang, &["cloth.sheet.fabric.density=-1"]).unwrap_err();
//! assert!(error.to_string().contains("density is -1 kg/m², it must be above 0"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod animation;
pub mod atomic;
pub mod axes;
mod body;
pub mod build;
pub mod cache;
mod chart;
pub mod container;
pub mod convert;
pub mod detect;
pub mod error;
pub mod fabric;
mod follow;
pub mod obj;
pub mod pc2;
pub mod repair;
mod ribbon;
pub mod run;
pub mod scene;
pub mod sequence;
mod solver;
pub mod tailor;
mod thing;

pub use axes::Axes;
pub use cache::{Cache, CacheFrame, CacheOptions};
pub use error::{FileError, FileErrorKind};
pub use obj::Obj;
pub use run::RunFolder;
pub use scene::{Scene, scene_schema};
