//! The angle hinge: a spring on the angle across each edge.

use super::angle::{Fold, THIN};
use crate::forces::Fabric;
use crate::interaction::{Elements, Law, Response, Sample};
use crate::math::DVec3;
use crate::math::matrix::outer;
use crate::mesh::Mesh;

/// E = ½ k θ² per interior edge, k = D l²/(A₀ + A₁): the linear hinge carried to large angles, with the same
/// bias by the mesh, and the same cost per edge as [`super::Recon`] without its exactness.
///
/// The three gauges are d − c, A − c and B − c. The tangent is Gauss–Newton's k ∇θ∇θᵀ: always positive, and
/// short of the derivative by k θ ∇²θ, which has no sign.
pub struct DihedralHinge {
    /// k of each hinge [N·m].
    stiffness: Vec<f64>,
    /// [`THIN`] of twice the rest area of either wing [m²].
    thin: Vec<[f64; 2]>,
    /// Time constant of viscosity [s].
    damping: f64,
}

impl DihedralHinge {
    /// Hinges on the interior edges of `mesh`; flat at rest.
    pub fn elements(mesh: &Mesh, fabric: &Fabric) -> Elements<4, 3, DihedralHinge> {
        let mut members = Vec::new();
        let mut law =
            DihedralHinge { stiffness: Vec::new(), thin: Vec::new(), damping: fabric.bending_damping() };
        for edge in mesh.edges().iter().filter(|e| !e.is_border()) {
            let [k, j] = edge.faces.map(|face| mesh.apex(face, edge));
            let [f, g] = edge.faces.map(|face| mesh.faces()[face as usize]);
            members.push([f[(k + 1) % 3], f[(k + 2) % 3], f[k], g[j]]);
            let areas = edge.faces.map(|face| mesh.area()[face as usize]);
            let length = mesh.rest_length(edge);
            law.stiffness.push(fabric.bend.mean() * length * length / (areas[0] + areas[1]));
            law.thin.push(areas.map(|area| THIN * 2.0 * area));
        }
        let from_c = [[-1.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 1.0, 0.0], [-1.0, 0.0, 0.0, 1.0]];
        let weights = vec![from_c; members.len()];
        Elements::new(mesh.vertices(), &members, &weights, law)
    }
}

impl Law<4, 3> for DihedralHinge {
    fn name(&self) -> &'static str {
        "bending"
    }

    fn is_lossy(&self) -> bool {
        self.damping > 0.0
    }

    fn respond(&self, element: usize, at: &Sample<4, 3>) -> Response<3> {
        let [d, a, b] = at.gauge;
        let fold = Fold::of([DVec3::ZERO, d, a, b], self.thin[element]);
        let slopes = [fold.slopes[1], fold.slopes[2], fold.slopes[3]];
        let k = self.stiffness[element];
        let rate = (0..3).fold(0.0, |sum, g| sum + slopes[g].dot(at.rate[g]));
        let viscous = k * self.damping * rate;
        let tangent = slopes.map(|row| slopes.map(|column| outer(row, column) * k));
        Response {
            energy: 0.5 * k * fold.angle * fold.angle,
            force: slopes.map(|slope| slope * -(k * fold.angle + viscous)),
            lossy: slopes.map(|slope| slope * -viscous),
            stiffness: tangent,
            damping: tangent.map(|row| row.map(|block| block * self.damping)),
        }
    }
}
