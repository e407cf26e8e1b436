//! Bending: one physical stiffness ([`Rigidity`]) and three ways to act on it.
//!
//! | model | energy | for |
//! |---|---|---|
//! | [`Recon`] | exact for constant curvature in every direction, on every mesh, orthotropic | results |
//! | [`DihedralHinge`] | ½ k θ² per edge, isotropic, biased by the mesh | comparison |
//! | [`LinearHinge`] | the same for small angles, constant tangent | comparison |

pub mod angle;
pub mod dihedral;
pub mod hinge;
pub mod recon;
mod reconstruct;
pub mod rigidity;

pub use dihedral::DihedralHinge;
pub use hinge::LinearHinge;
pub use recon::{Clamp, Recon, ReconOptions};
pub use rigidity::{Rigidity, RigidityError};
