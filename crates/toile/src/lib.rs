//! The cloth engine of toile: triangle meshes in, moving cloth out. It knows no files, no clock and no screen.
//!
//! # A tour
//!
//! A [`mesh::Mesh`] says which vertices form faces and what shape each face has at rest; [`mesh::shapes`] makes
//! some. A [`Fabric`] says in SI units what the cloth is made of. A [`Cloth`] is both together with a place
//! in space; a [`Setup`] is cloths, pins and weather; a [`World`] moves them:
//!
//! ```
//! use toile::mesh::{Mesh, Pattern, shapes};
//! use toile::{Cloth, Fabric, PinDown, Probe, Setup, World};
//!
//! let sheet = shapes::sheet(1.0, 1.0, 8, 8, Pattern::Structured)?;
//! let held = sheet.group("left").unwrap_or_default().to_vec();
//! let mesh = Mesh::new(sheet.positions.len(), sheet.faces, sheet.rest)?;
//! let cloth = Cloth::new("sheet", mesh, sheet.positions, Fabric::default());
//! let mut world = World::new(Setup {
//!     cloths: vec![cloth],
//!     pins: vec![PinDown::fixed(0, held)],
//!     ..Setup::default()
//! })?;
//! for _ in 0..6 {
//!     world.step(1.0 / 60.0, &mut Probe::default())?;
//! }
//! let (_, centre, _) = world.momentum();
//! assert!(centre.y < -0.03, "it falls");
//! let vertices: Vec<[f32; 3]> = world.positions_f32(0); // for a renderer or a file
//! # assert_eq!(vertices.len(), 81);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! Every force acts through weighted sums of particles, called *gauges* ([`interaction`]): a law answers the
//! gauges and their rates with forces and tangents, and the solver sees nothing else. Laws are in [`forces`]:
//! springs, finite-element membrane, hinges, air, soft pins. [`solve`] turns their answers into the next
//! state: operators, the three linear systems of the implicit step, Krylov methods. `step.rs` calls the stages
//! in order; [`World::step`] fills a frame with substeps, redoes those that fail as two halves, and leaves the
//! world untouched if nothing helps.
//!
//! [`collide::collider`] has the bodies that cloth meets, from planes to metaballs, at rest and in motion;
//! [`collide::ccd`] tells whether a moving pair stays apart, and is never wrong when it says so.
//! [`mesh::Surface`] answers rays, nearest points and inside tests for any triangles.
//!
//! [`collide::certify`] is the exact checker: it decides whether a frame of any origin is free of
//! intersections, and shares no code with what produced the frame.
//!
//! # What holds always
//!
//! * The same bits on any number of threads, in debug and release builds, and after [`World::restore`]:
//!   elements write their own slots, particles sum them in ascending order, sums go through [`math::reduce`].
//! * SI units, Y up in generated shapes; every public quantity names its unit.
//! * A step either ends in a finite state or changes nothing.

mod account;
pub mod collide;
pub mod contact;
pub mod drive;
pub mod error;
pub mod forces;
pub mod freedom;
mod grouping;
pub mod interaction;
pub mod math;
pub mod mesh;
pub mod model;
pub mod probe;
pub mod rigid;
pub mod setup;
pub mod solve;
pub mod state;
pub mod step;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod world;

pub use account::Account;
pub use contact::{ContactSettings, Friction, Response};
pub use error::{FrameError, SetupError, SetupProblem};
pub use forces::{Bend, Brace, Braces, Curve, Fabric, WindField, Yield};
pub use freedom::Freedom;
pub use probe::Probe;
pub use setup::{
    Air, Anchor, Bending, Cloth, Criterion, ElasticBetween, Every, Grip, Obstacle, PinDown, Refine,
    RestShape, Seam, Setup, Stretching,
};
pub use solve::SolverSettings;
pub use world::{
    Closing, ClothForm, Draped, Edit, Form, Heritage, ReshapeError, Snapshot, TailorError, Tailoring, World,
};
