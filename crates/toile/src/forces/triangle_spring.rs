//! Triangles whose edges pull together (V97-2 … V97-6): springs along edges, each told what the other two already do.
//!
//! A triangle with edge i opposite its vertex i, lengths l, rest lengths L, elongations e = l − L and cosines
//! c_i = α cos of the angle at vertex i. Moving the ends of one edge lengthens the others, so the elongations are shared
//! out as d with d_i + c_k w_k/(w_k + w_i) d_j + c_j w_j/(w_j + w_i) d_k = e_i (eq. 4), w the inverse masses, and edge i
//! pulls with T_i = (R_i/L_i) d_i, R_i = k × its rest height. α = 0 is V97's plain spring triangle (eq. 2–3).
//!
//! On equilateral triangles Young's modulus is 2k [N/m] and Poisson's ratio (1 − α)/3; others are anisotropic. The
//! paper's T = B(l) e has no energy where B is not symmetric: a loop of strain costs or yields up to 98 % of the work
//! done along it. The default takes ½(B + Bᵀ), which leaves 0.7 % at 10 % strain, from B's change with l.

use crate::forces::Fabric;
use crate::interaction::{Elements, Law, Response, Sample};
use crate::math::matrix::outer;
use crate::math::{DMat3, DVec3};
use crate::mesh::Mesh;

/// α above which obtuse triangles come near the pole at α = 1: 4 − α² + p α²(α + 2) vanishes at p = −1.
pub const HIGHEST_ALPHA: f64 = 0.95;

/// Which masses share out the elongations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Masses {
    /// All three the same (V97 eq. 10): the elasticity is that of the fabric alone.
    #[default]
    Equal,
    /// Those of the particles (V97 eq. 7).
    Full,
}

/// How edges are coupled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoupledOptions {
    /// Which masses share out the elongations.
    pub masses: Masses,
    /// Symmetrise the law, so that it neither drains nor pumps energy. V97 does not.
    pub symmetric: bool,
    /// α; without one, 1 − 3ν of the fabric, at most [`HIGHEST_ALPHA`].
    pub alpha: Option<f64>,
}

impl Default for CoupledOptions {
    fn default() -> Self {
        CoupledOptions { masses: Masses::Equal, symmetric: true, alpha: None }
    }
}

impl CoupledOptions {
    /// The α that a cloth of `fabric` gets.
    pub fn alpha_for(&self, fabric: &Fabric) -> f64 {
        self.alpha.unwrap_or((1.0 - 3.0 * fabric.poisson).min(HIGHEST_ALPHA))
    }
}

/// What is constant about a triangle.
#[derive(Clone, Copy, Debug)]
struct Triangle {
    /// L [m].
    rest: [f64; 3],
    /// R/L [N/m].
    stiffness: [f64; 3],
    /// w, in any unit: only ratios count.
    give: [f64; 3],
}

/// A triangle as it is.
struct Pulled {
    n: [DVec3; 3],
    l: [f64; 3],
    e: [f64; 3],
    b: [[f64; 3]; 3],
    /// T [N], and what viscosity adds to it.
    tension: [f64; 3],
    braking: [f64; 3],
}

/// The law of coupled edges. Its gauges are x₁ − x₀ and x₂ − x₀.
pub struct TriangleSpring {
    triangles: Vec<Triangle>,
    alpha: f64,
    equal: bool,
    symmetric: bool,
    /// Viscosity along edges, as a time constant [s] (V97-20).
    viscosity: f64,
}

impl TriangleSpring {
    /// Coupled triangles for every face of `mesh`: k is half the mean stretch stiffness of the fabric.
    pub fn elements(mesh: &Mesh, fabric: &Fabric, options: CoupledOptions) -> Elements<3, 2, TriangleSpring> {
        let share = mesh.vertex_area();
        let k = 0.5 * fabric.mean_stretch();
        let triangle = |(f, face): (usize, &[u32; 3])| {
            let rest = [0, 1, 2].map(|i| mesh.rest_side(f, i));
            let stiffness = rest.map(|l| k * 2.0 * mesh.area()[f] / (l * l));
            Triangle { rest, stiffness, give: face.map(|v| 1.0 / share[v as usize]) }
        };
        let law = TriangleSpring {
            triangles: mesh.faces().iter().enumerate().map(triangle).collect(),
            alpha: options.alpha_for(fabric),
            equal: options.masses == Masses::Equal,
            symmetric: options.symmetric,
            viscosity: fabric.damping,
        };
        let weights = vec![[[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]; mesh.faces().len()];
        Elements::new(mesh.vertices(), mesh.faces(), &weights, law)
    }

    /// Unit vectors, lengths, elongations and B of an element; `None` where two corners are in one place: angles mean
    /// nothing there, and other forces must part them.
    #[inline]
    fn shape(&self, t: &Triangle, at: &Sample<3, 2>) -> Option<Pulled> {
        let [g, f] = at.gauge;
        let edges = [f - g, f, g];
        let l = edges.map(|d| d.length());
        if !l.iter().all(|l| *l > 0.0) {
            return None;
        }
        let n = [edges[0] / l[0], edges[1] / l[1], edges[2] / l[2]];
        let e = [l[0] - t.rest[0], l[1] - t.rest[1], l[2] - t.rest[2]];
        let b = self.coupling(t, l);
        let tension = [0, 1, 2].map(|i| b[i][0] * e[0] + b[i][1] * e[1] + b[i][2] * e[2]);
        let rates = [at.rate[1] - at.rate[0], at.rate[1], at.rate[0]];
        let braking = [0, 1, 2].map(|i| self.viscosity * t.stiffness[i] * n[i].dot(rates[i]));
        Some(Pulled { n, l, e, b, tension, braking })
    }

    /// B with T = B e at the present lengths [N/m].
    fn coupling(&self, t: &Triangle, l: [f64; 3]) -> [[f64; 3]; 3] {
        let cosine = |i: usize| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            self.alpha * (l[j] * l[j] + l[k] * l[k] - l[i] * l[i]) / (2.0 * l[j] * l[k])
        };
        let c = [cosine(0), cosine(1), cosine(2)];
        let shared = if self.equal { shared_equally(c) } else { shared_by_mass(c, t.give) };
        let b = |i: usize, j: usize| t.stiffness[i] * shared[i][j];
        let entry = |i: usize, j: usize| if self.symmetric { 0.5 * (b(i, j) + b(j, i)) } else { b(i, j) };
        [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)))
    }
}

/// d of each e for inverse masses w (V97 eq. 7, which is missing in print): with u = c w and N_i = w_j + w_k,
/// d_i = N_i [(N_jN_k − u_i²) e_i + (u_iu_j − N_ku_k) e_j + (u_iu_k − N_ju_j) e_k] / Δ.
fn shared_by_mass(c: [f64; 3], w: [f64; 3]) -> [[f64; 3]; 3] {
    let u = [c[0] * w[0], c[1] * w[1], c[2] * w[2]];
    let n = [w[1] + w[2], w[2] + w[0], w[0] + w[1]];
    let squares = n[0] * u[0] * u[0] + n[1] * u[1] * u[1] + n[2] * u[2] * u[2];
    let delta = n[0] * n[1] * n[2] + 2.0 * u[0] * u[1] * u[2] - squares;
    let mut d = [[0.0; 3]; 3];
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        d[i][i] = n[i] * (n[j] * n[k] - u[i] * u[i]) / delta;
        d[i][j] = n[i] * (u[i] * u[j] - n[k] * u[k]) / delta;
        d[i][k] = n[i] * (u[i] * u[k] - n[j] * u[j]) / delta;
    }
    d
}

/// The same for equal masses (V97 eq. 10, both signs turned).
fn shared_equally(c: [f64; 3]) -> [[f64; 3]; 3] {
    let below = 4.0 + c[0] * c[1] * c[2] - c[0] * c[0] - c[1] * c[1] - c[2] * c[2];
    let mut d = [[0.0; 3]; 3];
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        d[i][i] = (4.0 - c[i] * c[i]) / below;
        d[i][j] = (c[i] * c[j] - 2.0 * c[k]) / below;
        d[i][k] = (c[i] * c[k] - 2.0 * c[j]) / below;
    }
    d
}

/// The symmetric part of `b` if it is positive; else a diagonal above it: its rows' sums of sizes.
fn positive(b: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let s = [0, 1, 2].map(|i| [0, 1, 2].map(|j| 0.5 * (b[i][j] + b[j][i])));
    let second = s[0][0] * s[1][1] - s[0][1] * s[0][1];
    let third = s[2][2] * second - s[0][0] * s[1][2] * s[1][2] - s[1][1] * s[0][2] * s[0][2]
        + 2.0 * s[0][1] * s[1][2] * s[0][2];
    if s[0][0] > 0.0 && second > 0.0 && third > 0.0 {
        return s;
    }
    let row = |i: usize| s[i].iter().fold(0.0, |sum, e| sum + e.abs());
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| if i == j { row(i) } else { 0.0 }))
}

/// Signs of edges 0, 1, 2 in the gauges: edge 0 is g₁ − g₀, edge 1 is g₁, edge 2 is g₀.
const SIGNS: [[f64; 2]; 3] = [[-1.0, 1.0], [0.0, 1.0], [1.0, 0.0]];

impl Law<3, 2> for TriangleSpring {
    fn name(&self) -> &'static str {
        "coupled"
    }

    fn is_lossy(&self) -> bool {
        self.viscosity > 0.0
    }

    /// V97 eq. 11.
    #[inline]
    fn force(&self, element: usize, at: &Sample<3, 2>) -> [DVec3; 2] {
        let Some(Pulled { n, tension, braking, .. }) = self.shape(&self.triangles[element], at) else {
            return [DVec3::ZERO; 2];
        };
        let [a, b, c] = [0, 1, 2].map(|i| n[i] * (tension[i] + braking[i]));
        [a - c, -a - b]
    }

    fn respond(&self, element: usize, at: &Sample<3, 2>) -> Response<2> {
        let t = &self.triangles[element];
        let Some(Pulled { n, l, e, b, tension, braking }) = self.shape(t, at) else { return Response::ZERO };
        let tangent = positive(b);
        let mut answer = Response {
            energy: 0.5 * (tension[0] * e[0] + tension[1] * e[1] + tension[2] * e[2]),
            ..Response::ZERO
        };
        for i in 0..3 {
            // Viscous tension along the edge, in the stiffness that the edge has by itself.
            let viscosity = self.viscosity * t.stiffness[i];
            let braking = braking[i];
            let geometric = (DMat3::IDENTITY - outer(n[i], n[i])) * (tension[i].max(0.0) / l[i]);
            for a in 0..2 {
                answer.force[a] -= n[i] * (SIGNS[i][a] * (tension[i] + braking));
                answer.lossy[a] -= n[i] * (SIGNS[i][a] * braking);
                for k in 0..2 {
                    let sign = SIGNS[i][a] * SIGNS[i][k];
                    answer.stiffness[a][k] += geometric * sign;
                    answer.damping[a][k] += outer(n[i], n[i]) * (sign * viscosity);
                    for j in 0..3 {
                        let material = tangent[i][j] * SIGNS[i][a] * SIGNS[j][k];
                        answer.stiffness[a][k] += outer(n[i], n[j]) * material;
                    }
                }
            }
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interaction::Moment;
    use crate::math::{DVec2, random};

    const EQUILATERAL: [DVec2; 3] =
        [DVec2::ZERO, DVec2::new(1.0, 0.0), DVec2::new(0.5, 0.866_025_403_784_438_6)];
    const RIGHT: [DVec2; 3] = [DVec2::ZERO, DVec2::new(1.0, 0.0), DVec2::new(0.0, 1.0)];
    const IRREGULAR: [DVec2; 3] = [DVec2::ZERO, DVec2::new(1.0, 0.0), DVec2::new(0.3, 0.6)];

    fn triangle(rest: [DVec2; 3], alpha: f64, symmetric: bool) -> Elements<3, 2, TriangleSpring> {
        let mesh = Mesh::new(3, vec![[0, 1, 2]], vec![rest]).expect("a triangle");
        let fabric = Fabric::isotropic(0.1, 2.0, 0.0, 0.0);
        let options = CoupledOptions { alpha: Some(alpha), symmetric, ..CoupledOptions::default() };
        TriangleSpring::elements(&mesh, &fabric, options)
    }

    fn forces(law: &Elements<3, 2, TriangleSpring>, x: [DVec2; 3]) -> [DVec2; 3] {
        let x = x.map(|p| p.extend(0.0));
        let at = Moment::new(&x, &[DVec3::ZERO; 3]);
        let [a, b] = law.law.respond(0, &law.sample(0, at)).force.map(|f| f.truncate());
        [-a - b, a, b]
    }

    /// Cauchy stress (xx, yy, xy) [N/m] of the triangle stretched by I + ε.
    fn stress(law: &Elements<3, 2, TriangleSpring>, rest: [DVec2; 3], strain: [f64; 3]) -> [f64; 3] {
        let [xx, yy, xy] = strain;
        let place = |p: DVec2| p + DVec2::new(xx * p.x + xy * p.y, xy * p.x + yy * p.y);
        let x = rest.map(place);
        let f = forces(law, x);
        let area = 0.5 * (rest[1] - rest[0]).perp_dot(rest[2] - rest[0]);
        let sum = |r: fn(DVec2) -> f64, c: fn(DVec2) -> f64| {
            -(0..3).fold(0.0, |sum, i| sum + r(f[i]) * c(x[i])) / area
        };
        [sum(|p| p.x, |p| p.x), sum(|p| p.y, |p| p.y), sum(|p| p.x, |p| p.y)]
    }

    /// (E, ν) along x at small strain.
    fn moduli(law: &Elements<3, 2, TriangleSpring>, rest: [DVec2; 3]) -> (f64, f64) {
        let h = 1e-6;
        let column = |k: usize| {
            let at = |sign: f64| {
                let mut strain = [0.0; 3];
                strain[k] = sign * h * if k == 2 { 0.5 } else { 1.0 };
                stress(law, rest, strain)
            };
            let (ahead, behind) = (at(1.0), at(-1.0));
            DVec3::from_array([0, 1, 2].map(|r| (ahead[r] - behind[r]) / (2.0 * h)))
        };
        let compliance = DMat3::from_cols(column(0), column(1), column(2)).inverse();
        (1.0 / compliance.col(0).x, -compliance.col(0).y / compliance.col(0).x)
    }

    /// Work done by the forces around a loop of strain of size `size`, over the sum of its sizes.
    fn loop_work(law: &Elements<3, 2, TriangleSpring>, rest: [DVec2; 3], size: f64) -> f64 {
        let at = |s: f64| {
            let (sin, cos) = libm::sincos(s);
            let row = |p: DVec2| {
                let x = p.x * sin + p.y * 0.3 * cos;
                let y = p.x * 0.5 * libm::sin(s + 1.0) + p.y * cos;
                p + size * DVec2::new(x, y)
            };
            rest.map(row)
        };
        let n = 1500;
        let (mut net, mut gross) = (0.0, 0.0f64);
        for q in 0..n {
            let angle = |k: i32| std::f64::consts::TAU * f64::from(k) / f64::from(n);
            let (x, y) = (at(angle(q)), at(angle(q + 1)));
            let f = forces(law, [0, 1, 2].map(|i| 0.5 * (x[i] + y[i])));
            let work = (0..3).fold(0.0, |sum, i| sum + f[i].dot(y[i] - x[i]));
            net += work;
            gross += work.abs();
        }
        net / gross
    }

    /// V97-4: ν = (1 − α)/3 and E = 2k for every α.
    #[test]
    fn equilateral_triangles_have_the_poisson_ratio_of_alpha() {
        for alpha in [0.0, 0.3, 0.6, 0.9, 1.0, 1.2] {
            for symmetric in [false, true] {
                let law = triangle(EQUILATERAL, alpha, symmetric);
                let (young, poisson) = moduli(&law, EQUILATERAL);
                assert!((young - 2.0).abs() < 1e-6, "alpha {alpha}: E/k = {young}");
                assert!((poisson - (1.0 - alpha) / 3.0).abs() < 1e-6, "alpha {alpha}: nu = {poisson}");
            }
        }
        let fabric = Fabric::isotropic(0.1, 700.0, 0.2, 0.0);
        let options = CoupledOptions::default();
        assert!((options.alpha_for(&fabric) - 0.4).abs() < 1e-12);
        assert_eq!(options.alpha_for(&Fabric { poisson: 0.0, ..fabric }), HIGHEST_ALPHA);
    }

    /// V97-5: (7) at equal mass is (10), and both solve (4).
    #[test]
    fn equal_masses_give_equation_10() {
        for k in 0..200 {
            let c = [0, 1, 2].map(|i| random::signed(1, 3 * k + i));
            let (one, other) = (shared_by_mass(c, [0.7; 3]), shared_equally(c));
            let w = [0, 1, 2].map(|i| 0.5 + random::unit(2, 3 * k + i));
            let d = shared_by_mass(c, w);
            for i in 0..3 {
                let (j, m) = ((i + 1) % 3, (i + 2) % 3);
                for e in 0..3 {
                    assert!((one[i][e] - other[i][e]).abs() < 1e-12 * (1.0 + other[i][e].abs()));
                    let left = d[i][e]
                        + c[m] * w[m] / (w[m] + w[i]) * d[j][e]
                        + c[j] * w[j] / (w[j] + w[i]) * d[m][e];
                    let right = if i == e { 1.0 } else { 0.0 };
                    let size = d.iter().flatten().fold(1.0f64, |s, d| s.max(d.abs()));
                    assert!((left - right).abs() < 1e-12 * size, "{left} {right}");
                }
            }
        }
    }

    /// Around a loop of strain the symmetric law does no work, the paper's nearly all of it.
    #[test]
    fn closed_loops_of_strain() {
        for alpha in [0.6, 0.9] {
            for rest in [RIGHT, IRREGULAR] {
                for size in [0.01, 0.1] {
                    let work = loop_work(&triangle(rest, alpha, true), rest, size);
                    assert!(work.abs() < 0.01, "symmetric, alpha {alpha}, {size}: {work}");
                }
                let printed = loop_work(&triangle(rest, alpha, false), rest, 0.01);
                assert!(printed < -0.4, "printed, alpha {alpha}: {printed}");
            }
            assert!(loop_work(&triangle(EQUILATERAL, alpha, false), EQUILATERAL, 0.1).abs() < 0.01);
        }
        assert!(loop_work(&triangle(IRREGULAR, 0.0, false), IRREGULAR, 0.1).abs() < 1e-6);
    }

    /// The force alone is the force of the whole answer.
    #[test]
    fn the_short_way_is_the_long_way() {
        let law = triangle(IRREGULAR, 0.7, true);
        for k in 0..50 {
            let entry = |i: u64| random::signed(5, 18 * k + i);
            let at = |i: u64| DVec3::new(entry(3 * i), entry(3 * i + 1), entry(3 * i + 2));
            let (x, v) = ([at(0), at(1), at(2)], [at(3), at(4), at(5)]);
            let sample = law.sample(0, Moment::new(&x, &v));
            let (short, long) = (law.law.force(0, &sample), law.law.respond(0, &sample).force);
            let size = long[0].length() + long[1].length();
            assert!(short[0].distance(long[0]) + short[1].distance(long[1]) < 1e-13 * size);
        }
    }

    /// A collapsed triangle pushes nowhere and is no disaster; nor is one without area.
    #[test]
    fn degenerate_triangles_answer_with_numbers() {
        let law = triangle(IRREGULAR, 0.9, true);
        for x in
            [[DVec2::ZERO; 3], [DVec2::ZERO, DVec2::X, DVec2::X * 2.0], [DVec2::ZERO, DVec2::X, DVec2::X]]
        {
            assert!(forces(&law, x).iter().all(|f| f.is_finite()));
        }
    }
}
