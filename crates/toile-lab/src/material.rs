//! What experiments build their cloth from.

use crate::session::LabError;
use toile::mesh::{Mesh, Pattern, Shape};
use toile::{Cloth, Fabric};

/// Every pattern, with its name.
pub const PATTERNS: [(&str, Pattern); 6] = [
    ("structured", Pattern::Structured),
    ("flipped", Pattern::Flipped),
    ("alternating", Pattern::Alternating),
    ("equilateral", Pattern::Equilateral),
    ("jittered", Pattern::Jittered { amount: 0.25, seed: 11 }),
    ("delaunay", Pattern::Delaunay { seed: 12 }),
];

/// A cloth of a generated shape.
pub fn cloth(name: &str, shape: &Shape, fabric: Fabric) -> Result<Cloth, LabError> {
    let mesh = Mesh::new(shape.positions.len(), shape.faces.clone(), shape.rest.clone())?;
    Ok(Cloth::new(name, mesh, shape.positions.clone(), fabric))
}

/// A named border of a shape.
pub fn border(shape: &Shape, name: &str) -> Result<Vec<u32>, LabError> {
    let group = shape.group(name).ok_or_else(|| LabError(format!("the shape has no border `{name}`")))?;
    Ok(group.to_vec())
}
