//! Springs along edges (V00-8, V00-9), fitted to the fabric, which may be pulled out of shape (V97-20).

use crate::forces::{Fabric, Yield};
use crate::interaction::{Elements, Law, Memory, Response, Sample, Springs, Stress};
use crate::math::matrix::outer;
use crate::math::{DMat3, DVec2, DVec3};
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
    /// Springs on the edges of `mesh` that resist what the fabric does, as well as three springs per face can: see
    /// [`fitted`]. V97's own stiffness, the same in every direction, is that of coupled triangles with α = 0.
    pub fn elements(mesh: &Mesh, fabric: &Fabric, tangent: Tangent) -> Elements<2, 1, Spring> {
        let wanted = fabric.stiffness();
        let sides: Vec<[f64; 3]> =
            mesh.rest().iter().zip(mesh.area()).map(|(rest, area)| fitted(*rest, *area, wanted)).collect();
        let mut law = Spring {
            stiffness: Vec::new(),
            rest_length: Vec::new(),
            damping: fabric.damping,
            tangent,
            give: fabric.set,
        };
        for edge in mesh.edges() {
            let faces = edge.faces.iter().filter(|f| **f != NONE);
            law.stiffness.push(faces.fold(0.0, |sum, f| sum + sides[*f as usize][mesh.apex(*f, edge)]));
            law.rest_length.push(mesh.rest_length(edge));
        }
        let ends: Vec<[u32; 2]> = mesh.edges().iter().map(|e| e.ends).collect();
        Elements::new(mesh.vertices(), &ends, &vec![[[1.0, -1.0]]; ends.len()], law)
    }

    /// No springs yet.
    pub fn none(tangent: Tangent) -> Spring {
        Spring { stiffness: Vec::new(), rest_length: Vec::new(), damping: 0.0, tangent, give: None }
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

/// Stiffness [N/m] of springs along the sides of a triangle at rest, each opposite its corner, that together resist
/// uniform strain most like a sheet with (E₁₁, E₂₂, E₁₂, E₃₃) [N/m].
///
/// A spring with the unit vector n and a = k L²/A adds a m mᵀ, m = (n_u², n_v², n_u n_v), to the matrix that turns
/// strain into stress. The three a are the least squares fit of the whole matrix, none of them slack. Warp and weft
/// count relative to themselves: cloth that stretches looks like rubber. Shear counts less the softer it is beside them,
/// and what couples them least, because springs have E₁₂ = E₃₃ whatever they are (Cauchy). On equilateral triangles with
/// ν = ⅓ all three are E: V97's k.
pub fn fitted(rest: [DVec2; 3], area: f64, wanted: [f64; 4]) -> [f64; 3] {
    let [warp, weft, coupling, shear] = wanted;
    let scale = (warp * weft).sqrt();
    let apart = 1.0 / scale;
    // Entries uu, vv, ss, uv, us, vs of the matrix: weight and what is wanted.
    let entries = [
        (1.0 / warp, warp),
        (1.0 / weft, weft),
        (1.0 / (shear.max(1e-6 * scale) * scale).sqrt(), shear),
        (apart, coupling),
        (apart, 0.0),
        (apart, 0.0),
    ];
    let side = [0, 1, 2].map(|i| rest[(i + 2) % 3] - rest[(i + 1) % 3]);
    let columns = side.map(|d| {
        let n = d.normalize_or_zero();
        let m = [n.x * n.x, n.y * n.y, n.x * n.y];
        [m[0] * m[0], m[1] * m[1], m[2] * m[2], m[0] * m[1], m[0] * m[2], m[1] * m[2]]
    });
    let dot = |i: usize, other: &dyn Fn(usize) -> f64| {
        (0..6).fold(0.0, |sum, e| sum + entries[e].0 * entries[e].0 * columns[i][e] * other(e))
    };
    let normal = [0, 1, 2].map(|i| [0, 1, 2].map(|j| dot(i, &|e| columns[j][e])));
    // Every spring keeps a tenth of the stretch stiffness, or half of what a diagonal needs for the shear: with less,
    // triangles of irregular meshes would fold up within the plane.
    let least = (0.1 * scale).min(2.0 * shear).max(1e-6 * scale);
    let floor = |e: usize| least * (columns[0][e] + columns[1][e] + columns[2][e]);
    let right = DVec3::from_array([0, 1, 2].map(|i| dot(i, &|e| entries[e].1 - floor(e))));
    // Of all sets of sides that have more, the best.
    let mut best = (f64::INFINITY, DVec3::ZERO);
    for set in 0..8usize {
        let used = |i: usize| set >> i & 1 == 1;
        let entry = |i: usize, j: usize| match (used(i) && used(j), i == j) {
            (true, _) => normal[i][j],
            (false, same) => f64::from(u8::from(same)),
        };
        let column = |j: usize| DVec3::from_array([0, 1, 2].map(|i| entry(i, j)));
        let matrix = DMat3::from_cols(column(0), column(1), column(2));
        let part = DVec3::from_array([0, 1, 2].map(|i| if used(i) { right[i] } else { 0.0 }));
        let found = matrix.inverse() * part;
        let misfit = found.dot(matrix * found) - 2.0 * part.dot(found);
        if found.is_finite() && found.min_element() >= 0.0 && misfit < best.0 {
            best = (misfit, found);
        }
    }
    [0, 1, 2].map(|i| (least + best.1[i]) * area / side[i].length_squared())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Where springs can be the fabric they are: V97's stiffness on equilateral triangles with ν = ⅓, and warp, weft and
    /// shear of a loose weave on right-angled ones.
    #[test]
    fn springs_fit_what_springs_can() {
        let equilateral = [DVec2::ZERO, DVec2::X, DVec2::new(0.5, 0.75f64.sqrt())];
        let area = 0.25 * 3f64.sqrt();
        let sheet = Fabric::isotropic(0.1, 2.0, 1.0 / 3.0, 0.0).stiffness();
        for k in fitted(equilateral, area, sheet) {
            assert!((k - 0.5 * 2.0 * 0.75f64.sqrt()).abs() < 1e-12, "{k}");
        }
        let right = [DVec2::ZERO, DVec2::X, DVec2::Y];
        let [diagonal, along_v, along_u] = fitted(right, 0.5, [1500.0, 700.0, 150.0, 60.0]);
        // E₃₃ is ¼ a of the diagonal, E₁₁ is a of the side along u and the same quarter.
        let quarter = 0.25 * diagonal * 2.0 / 0.5;
        assert!((quarter / 60.0 - 1.0).abs() < 0.05, "{quarter}");
        assert!(((along_u / 0.5 + quarter) / 1500.0 - 1.0).abs() < 0.01, "{along_u}");
        assert!(((along_v / 0.5 + quarter) / 700.0 - 1.0).abs() < 0.01, "{along_v}");
    }

    /// Every triangle gets springs that push back, slivers and fabrics without shear included.
    #[test]
    fn springs_are_never_slack() {
        for k in 0..1000u64 {
            let r = |i| crate::math::random::signed(5, 8 * k + i);
            let rest = [DVec2::ZERO, DVec2::new(1.0 + 0.5 * r(0), 0.0), DVec2::new(r(1), 1e-3 + r(2).abs())];
            let area = 0.5 * rest[1].x * rest[2].y;
            let shear = 50.0 * r(3).max(0.0);
            let springs = fitted(rest, area, [1000.0, 1e4 + 9e3 * r(4), 100.0 * r(5).abs(), shear]);
            assert!(springs.iter().all(|k| *k > 0.0 && k.is_finite()), "{rest:?}: {springs:?}");
        }
    }
}
