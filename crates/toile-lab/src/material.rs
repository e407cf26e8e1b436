//! What experiments build their cloth from.

use crate::session::LabError;
use glam::DVec3;
use toile::math::random;
use toile::mesh::{Mesh, Pattern, Shape};
use toile::solve::{Form, Method, OperatorKind, PreconditionerKind};
use toile::{Cloth, Fabric, SolverSettings};

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

/// A random vector with entries within ±`amount`.
pub fn shake(seed: u64, i: usize, amount: f64) -> DVec3 {
    let entry = |axis| amount * random::signed(seed, 3 * i as u64 + axis);
    DVec3::new(entry(0), entry(1), entry(2))
}

/// Every sound combination of form, method, operator and preconditioner, at `tolerance`.
pub fn solvers(tolerance: f64) -> Vec<(String, SolverSettings)> {
    let mut all = Vec::new();
    for &form in Form::ALL {
        for &method in Method::ALL {
            for &operator in OperatorKind::ALL {
                for &preconditioner in PreconditionerKind::ALL {
                    let settings = SolverSettings {
                        form,
                        method,
                        operator,
                        preconditioner,
                        tolerance,
                        ..Default::default()
                    };
                    if settings.is_sound() {
                        let parts = [form.name(), method.name(), operator.name(), preconditioner.name()];
                        all.push((parts.join(" "), settings));
                    }
                }
            }
        }
    }
    all
}
