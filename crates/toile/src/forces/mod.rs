//! Laws: what stretches, bends, blows and holds. Each formula cites its paper and has a test.

pub mod air;
pub mod attach;
pub mod bending;
pub mod brace;
pub mod elastic;
pub mod fabric;
pub mod give;
pub mod halfway;
pub mod membrane;
pub mod spring;
pub mod triangle_spring;

pub use air::{AirDrag, Wind, WindField};
pub use attach::Attach;
pub use bending::{DihedralHinge, LinearHinge, Recon, Rigidity};
pub use brace::{Brace, Braces};
pub use elastic::Elastic;
pub use fabric::{Bend, Curve, CurveError, Fabric, FabricError, FabricProblem, InPlane, Knee, Pull, Reply};
pub use give::Yield;
pub use halfway::Halfway;
pub use membrane::{Membrane, Strain};
pub use spring::{Spring, Tangent};
pub use triangle_spring::{CoupledOptions, Masses, TriangleSpring};
