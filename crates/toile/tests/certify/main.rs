//! The exact checker against a rational oracle, planted faults, clean meshes, garbage, and ipctk.

mod agreement;
mod clean;
mod distance;
mod garbage;
mod ipctk;
mod motion;
mod oracle;
mod planted;
mod sides;
mod speed;
mod support;
