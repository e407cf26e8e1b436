//! Where particles may go: inverse masses that carry constraints (V00-4).

use crate::math::matrix::outer;
use crate::math::{DMat3, DVec3, parallel};

/// Where a particle may go (V00-4). Directions are unit vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Freedom {
    /// Anywhere.
    #[default]
    Free,
    /// Along a line with this direction.
    Line(DVec3),
    /// In a plane with this normal.
    Plane(DVec3),
    /// Nowhere.
    Fixed,
}

impl Freedom {
    /// Projector on the directions in which the particle may go.
    pub fn projector(&self) -> DMat3 {
        match self {
            Freedom::Free => DMat3::IDENTITY,
            Freedom::Line(n) => outer(*n, *n),
            Freedom::Plane(n) => DMat3::IDENTITY - outer(*n, *n),
            Freedom::Fixed => DMat3::ZERO,
        }
    }
}

/// The inverse mass of each particle, L_i = P_i / m_i, P_i a projector (V00-4).
#[derive(Clone, Debug, Default)]
pub struct Mobility {
    /// 1/m of each particle [1/kg].
    pub inverse_mass: Vec<f64>,
    /// Projectors of the particles that are not free, ascending.
    pub projectors: Vec<(u32, DMat3)>,
}

impl Mobility {
    /// `out` = L t.
    pub fn apply(&self, t: &[DVec3], out: &mut [DVec3]) {
        parallel::fill(out, |i| t[i] * self.inverse_mass[i]);
        self.project(out);
    }

    /// Removes from `t` what the particles cannot follow.
    pub fn project(&self, t: &mut [DVec3]) {
        for (i, projector) in &self.projectors {
            t[*i as usize] = *projector * t[*i as usize];
        }
    }
}
