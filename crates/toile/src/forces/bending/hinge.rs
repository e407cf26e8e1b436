//! The linear hinge: one constant stencil per edge.

use crate::forces::Fabric;
use crate::interaction::{Elements, Law, Response, Sample};
use crate::math::matrix::{outer, scaled_identity};
use crate::mesh::{Edge, Mesh};

/// The linear hinge (G-1): one gauge R = Σ a_i x_i per interior edge, where a are the coefficients of
/// the flat four-point stencil, so R vanishes when the cloth is flat; E = ½ λ R².
///
/// The tangent is constant and positive. Within 3 % of ½ D κ² on equilateral meshes in all directions; on
/// others it is biased by the mesh: up to three times too stiff at 45° on structured right triangles.
pub struct LinearHinge {
    /// λ of each hinge [N/m].
    stiffness: Vec<f64>,
    /// Time constant of viscosity [s].
    damping: f64,
}

impl LinearHinge {
    /// Hinges on the interior edges of `mesh`; flat at rest.
    pub fn elements(mesh: &Mesh, fabric: &Fabric) -> Elements<4, 1, LinearHinge> {
        let mut members = Vec::new();
        let mut weights = Vec::new();
        let mut law = LinearHinge { stiffness: Vec::new(), damping: fabric.bending_damping() };
        let bend = fabric.bend.mean();
        for edge in mesh.edges().iter().filter(|e| !e.is_border()) {
            let wings = edge.faces.map(|face| wing(mesh, face, edge));
            let length = mesh.rest_length(edge);
            let [na, nb] = wings.map(|w| w.height * length);
            // The point where the line between the apexes crosses the edge has the same coordinates from
            // both sides: weights of the apexes (nb, na), and of the ends by linear interpolation.
            let (wa, wb) = (nb / (na + nb), na / (na + nb));
            let along = wa * wings[0].along + wb * wings[1].along;
            members.push([wings[0].apex, wings[1].apex, edge.ends[0], edge.ends[1]]);
            weights.push([[wa, wb, -(1.0 - along), -along]]);
            let l2 = length * length;
            law.stiffness.push(2.0 * bend * l2 * l2 * (na + nb) / ((na * nb) * (na * nb)));
        }
        Elements::new(mesh.vertices(), &members, &weights, law)
    }
}

/// A face seen from one of its edges.
#[derive(Clone, Copy)]
struct Wing {
    apex: u32,
    /// Distance of the apex from the edge [m].
    height: f64,
    /// Foot of the apex, as a fraction from the first to the second end.
    along: f64,
}

fn wing(mesh: &Mesh, face: u32, edge: &Edge) -> Wing {
    let corners = &mesh.faces()[face as usize];
    let rest = &mesh.rest()[face as usize];
    let corner = |v: u32| corners.iter().position(|c| *c == v).unwrap_or(0);
    let apex = mesh.apex(face, edge);
    let (c, d) = (rest[corner(edge.ends[0])], rest[corner(edge.ends[1])]);
    let side = d - c;
    Wing {
        apex: corners[apex],
        height: 2.0 * mesh.area()[face as usize] / side.length(),
        along: (rest[apex] - c).dot(side) / side.length_squared(),
    }
}

impl Law<4, 1> for LinearHinge {
    fn name(&self) -> &'static str {
        "bending"
    }

    fn is_lossy(&self) -> bool {
        self.damping > 0.0
    }

    fn respond(&self, element: usize, at: &Sample<4, 1>) -> Response<1> {
        let lambda = self.stiffness[element];
        let gauge = at.gauge[0];
        // Viscosity acts along the gauge only: across it, it would brake rigid rotation.
        let length = gauge.length();
        let along = if length > 0.0 { outer(gauge / length, gauge / length) } else { glam::DMat3::ZERO };
        let damping = along * (lambda * self.damping);
        let viscous = damping * -at.rate[0];
        Response {
            energy: 0.5 * lambda * gauge.length_squared(),
            force: [gauge * -lambda + viscous],
            lossy: [viscous],
            stiffness: [[scaled_identity(lambda)]],
            damping: [[damping]],
        }
    }
}
