//! In-plane elasticity of a triangle by finite elements (B14 eq. 1–6).

use crate::forces::{Fabric, InPlane, Pull, Reply, Yield};
use crate::interaction::{Elements, Law, Memory, Response, Sample, Stress};
use crate::math::matrix::{clamp_symmetric2, outer, scaled_identity};
use crate::math::{DMat3, DVec3};
use crate::mesh::Mesh;
use crate::mesh::topology::doubled_area;

/// How deformation is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strain {
    /// Green–Lagrange: (½(U·U − 1), ½(V·V − 1), U·V), as B14 eq. 4. Stiffens in tension and softens in
    /// compression, where its slope vanishes at a stretch of 0.577.
    #[default]
    Green,
    /// Engineering: (|U| − 1, |V| − 1, U·V / |U||V|): linear in the stretch, also in compression, and equal
    /// to Biot strain when warp and weft stay square.
    Engineering,
}

/// The law of a membrane triangle. Its two gauges are U = Σ r_u x and V = Σ r_v x, the images of the warp
/// and weft directions.
pub struct Membrane {
    strain: Strain,
    /// Rest area of each element [m²].
    area: Vec<f64>,
    /// From strain to stress.
    plane: InPlane,
    /// Kelvin–Voigt time constant [s].
    damping: f64,
    /// Friction where yarns cross: stiffness [N/m] while they stick, and the shear at which they slide (B14-7).
    friction: Option<(f64, Yield)>,
}

impl Membrane {
    /// Membrane elements for every face of `mesh`.
    pub fn elements(mesh: &Mesh, fabric: &Fabric, strain: Strain) -> Elements<3, 2, Membrane> {
        let weights: Vec<[[f64; 3]; 2]> = mesh.rest().iter().map(material_weights).collect();
        let law = Membrane {
            strain,
            area: mesh.area().to_vec(),
            plane: fabric.in_plane(),
            damping: fabric.damping,
            friction: fabric.shear_friction(),
        };
        Elements::new(mesh.vertices(), mesh.faces(), &weights, law)
    }

    /// Strain (uu, vv, shear) and its derivative: ∂ε_r/∂(U, V) as two vectors per component.
    fn strain(&self, u: DVec3, v: DVec3) -> ([f64; 3], [[DVec3; 2]; 3]) {
        let zero = DVec3::ZERO;
        match self.strain {
            Strain::Green => {
                ([0.5 * (u.dot(u) - 1.0), 0.5 * (v.dot(v) - 1.0), u.dot(v)], [[u, zero], [zero, v], [v, u]])
            }
            Strain::Engineering => {
                let (lu, lv) = (u.length().max(f64::MIN_POSITIVE), v.length().max(f64::MIN_POSITIVE));
                let (nu, nv) = (u / lu, v / lv);
                let cosine = nu.dot(nv);
                let shear = [(nv - nu * cosine) / lu, (nu - nv * cosine) / lv];
                ([lu - 1.0, lv - 1.0, cosine], [[nu, zero], [zero, nv], shear])
            }
        }
    }

    /// What yarns that rub on one another add at a `shear`; the memory is their set.
    fn rubbing(&self, shear: f64, memory: Memory) -> Option<Pull> {
        let (stiffness, give) = self.friction?;
        let ([before, ..], set) = (memory, self.remembered(shear, memory)?);
        let stress = shear - set;
        Some(Pull {
            energy: stiffness * (0.5 * stress * stress + give.cost([before], [set])),
            tension: stiffness * stress,
            tangent: stiffness * give.slope(before, set),
        })
    }

    fn remembered(&self, shear: f64, memory: Memory) -> Option<f64> {
        let (_, give) = self.friction?;
        Some(give.set([shear], [memory[0]])[0])
    }

    /// The blocks that multiply the identity in the geometric stiffness, clamped to be positive.
    ///
    /// Green: exactly the 2×2 stress. Engineering: second derivatives of |U|, |V| and the cosine, bounded
    /// from above by the same form with the stress over the lengths.
    fn geometric(&self, stress: [f64; 3], u: DVec3, v: DVec3) -> (f64, f64, f64) {
        match self.strain {
            Strain::Green => clamp_symmetric2(stress[0], stress[1], stress[2]),
            Strain::Engineering => {
                let (lu, lv) = (u.length().max(f64::MIN_POSITIVE), v.length().max(f64::MIN_POSITIVE));
                // The Hessian of the cosine has norm at most 2/√3 on either diagonal block and 1 on the
                // mixed one (in units of the lengths), so 2/√3 + 1 on the diagonal bounds it.
                let shear = 2.155 * stress[2].abs();
                let uu = stress[0].max(0.0) / lu + shear / (lu * lu);
                let vv = stress[1].max(0.0) / lv + shear / (lv * lv);
                (uu, vv, 0.0)
            }
        }
    }
}

/// Rows r_u and r_v of a rest triangle (B14 eq. 1–2): Σr = 0, and they map material to space.
pub fn material_weights(rest: &[glam::DVec2; 3]) -> [[f64; 3]; 2] {
    let d = doubled_area(rest);
    let [a, b, c] = *rest;
    [[(b.y - c.y) / d, (c.y - a.y) / d, (a.y - b.y) / d], [(c.x - b.x) / d, (a.x - c.x) / d, (b.x - a.x) / d]]
}

impl Law<3, 2> for Membrane {
    fn name(&self) -> &'static str {
        "membrane"
    }

    fn is_lossy(&self) -> bool {
        self.damping > 0.0
    }

    fn respond(&self, element: usize, at: &Sample<3, 2>) -> Response<2> {
        let [u, v] = at.gauge;
        let area = self.area[element];
        let (strain, slope) = self.strain(u, v);
        let rate = slope.map(|[du, dv]| du.dot(at.rate[0]) + dv.dot(at.rate[1]));
        let Reply { mut energy, stress: mut elastic, mut tangent } = self.plane.reply(strain);
        let viscous = times(tangent, rate).map(|s| s * self.damping);
        let viscosity = tangent;
        if let Some(rubbing) = self.rubbing(strain[2], at.memory) {
            energy += rubbing.energy;
            elastic[2] += rubbing.tension;
            tangent[3] += rubbing.tangent;
        }

        let mut answer = Response { energy: area * energy, ..Response::ZERO };
        for g in 0..2 {
            for r in 0..3 {
                answer.force[g] -= area * (elastic[r] + viscous[r]) * slope[r][g];
                answer.lossy[g] -= area * viscous[r] * slope[r][g];
            }
        }
        let stress = at.foreseen.unwrap_or([0, 1, 2].map(|r| elastic[r] + viscous[r]));
        let (suu, svv, suv) = self.geometric(stress, u, v);
        let geometric = [[suu, suv], [suv, svv]];
        for g in 0..2 {
            for k in 0..2 {
                let stiffness = material(tangent, &slope, g, k) * area;
                answer.stiffness[g][k] = stiffness + scaled_identity(area * geometric[g][k]);
                answer.damping[g][k] = match self.friction {
                    None => stiffness * self.damping,
                    Some(_) => material(viscosity, &slope, g, k) * area * self.damping,
                };
            }
        }
        answer
    }

    fn stretches(&self) -> bool {
        true
    }

    fn part_name(&self) -> Option<&'static str> {
        Some("shear")
    }

    fn part(&self, element: usize, at: &Sample<3, 2>) -> [DVec3; 2] {
        let [u, v] = at.gauge;
        let (strain, slope) = self.strain(u, v);
        let rate = slope[2][0].dot(at.rate[0]) + slope[2][1].dot(at.rate[1]);
        let Reply { stress, tangent, .. } = self.plane.reply(strain);
        let rubbing = self.rubbing(strain[2], at.memory).map_or(0.0, |pull| pull.tension);
        let shear = stress[2] + self.damping * tangent[3] * rate + rubbing;
        slope[2].map(|along| along * (-self.area[element] * shear))
    }

    fn remembers(&self) -> bool {
        self.friction.is_some()
    }

    fn remember(&self, _element: usize, at: &Sample<3, 2>) -> Memory {
        let [u, v] = at.gauge;
        let (strain, _) = self.strain(u, v);
        self.remembered(strain[2], at.memory).map_or(at.memory, |set| [set, 0.0, 0.0])
    }

    fn foresees(&self) -> bool {
        true
    }

    /// Stress σ(ε) + E·G·dx along the tangent E, with viscosity: on the curve itself, a long step through crimp
    /// would foresee stiff yarns. Built from it, the geometric tangent does not take the stretch that
    /// a linear step adds to a turning element for tension: that mistake is what makes implicit cloth fall
    /// like honey. It is Newton's method on positions and stresses together, with the stresses eliminated.
    fn foresee(&self, _element: usize, at: &Sample<3, 2>, change: &[DVec3; 2], per_time: f64) -> Stress {
        let [u, v] = at.gauge;
        let (strain, slope) = self.strain(u, v);
        let along = |g: &[DVec3; 2]| slope.map(|[du, dv]| du.dot(g[0]) + dv.dot(g[1]));
        let (growth, rate) = (along(change), along(&at.rate));
        let mut elastic = self.plane.ahead(strain, growth);
        if let Some(rubbing) = self.rubbing(strain[2], at.memory) {
            elastic[2] += rubbing.tension + rubbing.tangent * growth[2];
        }
        let tangent = self.plane.reply(strain).tangent;
        let viscous = times(tangent, [0, 1, 2].map(|r| rate[r] + growth[r] * per_time));
        [0, 1, 2].map(|r| elastic[r] + self.damping * viscous[r])
    }
}

/// E ε for entries (E₁₁, E₂₂, E₁₂, E₃₃) of E.
fn times([e11, e22, e12, e33]: [f64; 4], strain: [f64; 3]) -> [f64; 3] {
    [e11 * strain[0] + e12 * strain[1], e12 * strain[0] + e22 * strain[1], e33 * strain[2]]
}

/// Block (g, k) of Gᵀ E G.
fn material([e11, e22, e12, e33]: [f64; 4], slope: &[[DVec3; 2]; 3], g: usize, k: usize) -> DMat3 {
    let pair = |r: usize, s: usize| outer(slope[r][g], slope[s][k]);
    pair(0, 0) * e11 + pair(1, 1) * e22 + (pair(0, 1) + pair(1, 0)) * e12 + pair(2, 2) * e33
}

/// Principal stretches minus one, largest first, of a triangle with weights `r` and corners `x`.
pub fn principal_strain(r: &[[f64; 3]; 2], x: [DVec3; 3]) -> [f64; 2] {
    let sum = |row: &[f64; 3]| row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
    let (u, v) = (sum(&r[0]), sum(&r[1]));
    let (a, b, c) = (u.dot(u), v.dot(v), u.dot(v));
    let mean = 0.5 * (a + b);
    let radius = (0.25 * (a - b) * (a - b) + c * c).sqrt();
    [(mean + radius).sqrt() - 1.0, (mean - radius).max(0.0).sqrt() - 1.0]
}
