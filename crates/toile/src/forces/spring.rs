//! Springs along edges (V00-8, V00-9), which may be pulled out of shape (V97-20).

use crate::forces::{Fabric, Yield};
use crate::interaction::{Elements, Law, Memory, Response, Sample, Springs, Stress};
use crate::math::matrix::outer;
use crate::math::{DMat3, DVec3};
use crate::mesh::{Mesh, NONE};

/// Which derivative of the spring force the solver sees. Forces are the same for all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tangent {
    /// k n nᵀ, as V00 prints: underestimates sideways stiffness and is singular for aligned springs.
    Paper,
    /// k[(1−b) n nᵀ + b I] (V00-9): b = 1 is isotropic and over-damped.
    Blend(f64),
    /// k[n nᵀ + max(0, 1 − l₀/l)(I − n nᵀ)]: exact in tension, positive in compression.
    Safe,
    /// The true derivative: indefinite in compression, where conjugate gradients may stop.
    Exact,
}

/// The law of a spring; its gauge is the vector from the second particle to the first.
pub struct Spring {
    /// Stiffness of each spring [N/m].
    pub stiffness: Vec<f64>,
    /// Rest length of each spring [m].
    pub rest_length: Vec<f64>,
    /// Viscosity along the spring, as a time constant [s]: c = k·damping [N·s/m].
    pub damping: f64,
    /// Derivative shown to the solver.
    pub tangent: Tangent,
    /// Strain beyond which the rest length follows.
    pub give: Option<Yield>,
}

impl Spring {
    /// Springs on the edges of `mesh`, as stiff as the fabric.
    ///
    /// Each face gives its side the stiffness ½ E · height / length (V97-2 with R = k · height), which on
    /// equilateral meshes is a sheet of Young's modulus E and Poisson ratio 1/3. Other meshes are biased:
    /// springs know no directions.
    pub fn elements(mesh: &Mesh, fabric: &Fabric, tangent: Tangent) -> Elements<2, 1, Spring> {
        let mut law = Spring {
            stiffness: Vec::new(),
            rest_length: Vec::new(),
            damping: fabric.damping,
            tangent,
            give: fabric.set,
        };
        let young = fabric.mean_stretch();
        for edge in mesh.edges() {
            let length = mesh.rest_length(edge);
            let height = |face: u32| 2.0 * mesh.area()[face as usize] / length;
            let heights = edge.faces.iter().filter(|f| **f != NONE).fold(0.0, |sum, f| sum + height(*f));
            law.stiffness.push(0.5 * young * heights / length);
            law.rest_length.push(length);
        }
        let ends: Vec<[u32; 2]> = mesh.edges().iter().map(|e| e.ends).collect();
        Elements::new(mesh.vertices(), &ends, &vec![[[1.0, -1.0]]; ends.len()], law)
    }

    /// A spring of `length` [m] as it has been pulled; the memory is the strain that is set.
    fn pulled(&self, element: usize, length: f64, memory: Memory) -> Pulled {
        let rest = self.rest_length[element];
        let Some(give) = self.give else { return Pulled { rest, set: 0.0, slope: 1.0, cost: 0.0 } };
        let [before, ..] = memory;
        let [set] = give.set([(length - rest) / rest], [before]);
        let cost = rest * rest * give.cost([before], [set]);
        Pulled { rest: rest + rest * set, set, slope: give.slope(before, set), cost }
    }
}

struct Pulled {
    /// Rest length now [m].
    rest: f64,
    set: f64,
    /// Share of the stiffness along the spring.
    slope: f64,
    /// Energy over k beside that of the spring [m²].
    cost: f64,
}

impl Law<2, 1> for Spring {
    fn name(&self) -> &'static str {
        "springs"
    }

    fn is_lossy(&self) -> bool {
        self.damping > 0.0
    }

    fn respond(&self, element: usize, at: &Sample<2, 1>) -> Response<1> {
        let k = self.stiffness[element];
        let length = at.gauge[0].length();
        let Pulled { rest, slope, cost, .. } = self.pulled(element, length, at.memory);
        if length == 0.0 {
            // Two particles in one place: no direction to push along, but the energy is there.
            return Response { energy: 0.5 * k * rest * rest + k * cost, ..Response::ZERO };
        }
        let n = at.gauge[0] / length;
        let along = outer(n, n);
        let viscosity = k * self.damping;
        let lateral = 1.0 - rest / length;
        let braking = -viscosity * n.dot(at.rate[0]);
        let expected = at.foreseen.map_or(lateral, |tension| tension[0] / (k * length));
        let stiffness = match self.tangent {
            Tangent::Paper => along * k,
            Tangent::Blend(b) => (along * (1.0 - b) + DMat3::IDENTITY * b) * k,
            Tangent::Safe => (along * slope + (DMat3::IDENTITY - along) * expected.max(0.0)) * k,
            Tangent::Exact => (along * slope + (DMat3::IDENTITY - along) * lateral) * k,
        };
        Response {
            energy: 0.5 * k * (length - rest) * (length - rest) + k * cost,
            force: [n * (k * (rest - length) + braking)],
            lossy: [n * braking],
            stiffness: [[stiffness]],
            damping: [[along * viscosity]],
        }
    }

    fn springs(&self) -> Option<Springs<'_>> {
        let Spring { stiffness, rest_length, damping, .. } = self;
        Some(Springs { stiffness, rest_length, viscosity: *damping })
    }

    fn stretches(&self) -> bool {
        true
    }

    fn remembers(&self) -> bool {
        self.give.is_some()
    }

    fn remember(&self, element: usize, at: &Sample<2, 1>) -> Memory {
        [self.pulled(element, at.gauge[0].length(), at.memory).set, 0.0, 0.0]
    }

    fn foresees(&self) -> bool {
        self.tangent == Tangent::Safe
    }

    /// Tension [N] in the first component.
    fn foresee(&self, element: usize, at: &Sample<2, 1>, change: &[DVec3; 1], per_time: f64) -> Stress {
        let k = self.stiffness[element];
        let length = at.gauge[0].length();
        if length == 0.0 {
            return [0.0; 3];
        }
        let Pulled { rest, slope, .. } = self.pulled(element, length, at.memory);
        let n = at.gauge[0] / length;
        let along = n.dot(change[0]);
        let viscous = k * self.damping * (n.dot(at.rate[0]) + along * per_time);
        [k * (length + slope * along - rest) + viscous, 0.0, 0.0]
    }
}
