//! A strip held horizontally by one end, bent by its weight: the test by which bending stiffness is measured.
//!
//! One number governs it, Γ = σgL³/D. The reference is the elastica, φ'' = −Γ(1 − s) cos φ with φ(0) = 0 and
//! φ'(1) = 0, and what is compared is drop over reach, H/W. Lengths are in L and D = 1 N·m here. Between two
//! nodes cloth is straight, so a fold of radius c = (D/σg)^⅓ needs about eight edges per c; a chain of straight
//! links with the same number of links shows how much of an error is resolution.
//!
//! Plain strips have no Poisson coupling, so that their width does not matter. A woven strip cut off the grain
//! would twist and curl across; between two symmetry planes it bends as a cylinder and shows D(angle) itself.
//! Left free and narrow it is softer, down to 1/(D⁻¹)₁₁.

use crate::session::{Chart, Curve, LabError, Session};
use crate::statics::Statics;
use glam::{DVec2, DVec3};
use toile::Fabric;
use toile::drive::Motion;
use toile::forces::bending::{Clamp, Recon, ReconOptions, Rigidity};
use toile::forces::{Membrane, Strain};
use toile::mesh::{Mesh, Pattern, Shape, shapes};

const GAMMAS: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];
const WIDTH: f64 = 0.2;
/// Tensile stiffness [N/m] beside D/L² = 1 N/m: stretched by 1e-3 under the heaviest load.
const YOUNG: f64 = 1e6;
const SEEDS: u64 = 5;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let exact = GAMMAS.map(|gamma| elastica(gamma, 20_000));
    for (gamma, found) in GAMMAS.iter().zip(&exact) {
        let half = elastica(*gamma, 10_000).ratio();
        let change = (half / found.ratio() - 1.0).abs();
        session.at_most(format!("elastica, Γ = {gamma}: change when refined"), change, "relative", 1e-8);
    }
    cross_check(session, &exact);
    plain(session, &exact)?;
    woven(session)
}

fn cross_check(session: &mut Session, exact: &[Elastica; 4]) {
    let Some(text) = session.reference("validation/cantilever_master.csv") else { return };
    let mut met = 0;
    let mut worst = 0.0f64;
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').filter_map(|cell| cell.parse().ok()).collect();
        if let Some(k) = GAMMAS.iter().position(|gamma| cells.first() == Some(gamma)) {
            met += 1;
            worst = worst.max((exact[k].ratio() / cells[3] - 1.0).abs());
        }
    }
    session.equal("rows of the reference table met", f64::from(met), "", 4.0);
    session.at_most("elastica against the reference table", worst, "relative", 1e-7);
}

/// Isotropic strips on every kind of mesh, at several resolutions.
fn plain(session: &mut Session, exact: &[Elastica; 4]) -> Result<(), LabError> {
    let rigidity = Rigidity::isotropic(1.0, 0.0);
    let resolutions: &[usize] = if session.full { &[20, 40, 80] } else { &[20, 40] };
    let mut rows = Vec::new();
    let (mut fine, mut coarse, mut warned) = (0.0f64, 0.0f64, 0.0f64);
    let (mut beside, mut unbalanced) = (0.0f64, 0.0f64);
    let mut curves = Vec::new();
    for (k, gamma) in GAMMAS.into_iter().enumerate() {
        let mut points = Vec::new();
        for &cells in resolutions {
            let links = chain(gamma, cells) / exact[k].ratio() - 1.0;
            for (kind, pattern) in kinds() {
                // h is the longest cell: jitter by a quarter makes some half as long again.
                let uneven = matches!(pattern, Pattern::Jittered { .. });
                let shape = shapes::strip(1.0, WIDTH, if uneven { cells * 3 / 2 } else { cells }, pattern)?;
                let strip = Strip { shape, rigidity, grain: 0.0, cylinder: false };
                let found = strip.hang(gamma, &exact[k])?;
                let error = found.ratio / exact[k].ratio() - 1.0;
                unbalanced = unbalanced.max(found.residual / gamma);
                let per_edge = cells as f64 / gamma.cbrt();
                // Γ = 1000 at 40 and 80 cells is c/4 and c/8 itself.
                if per_edge > 7.999 {
                    fine = fine.max(error.abs());
                } else if per_edge > 3.999 {
                    coarse = coarse.max(error.abs());
                } else {
                    warned = warned.max(error.abs());
                }
                if matches!(pattern, Pattern::Structured | Pattern::Flipped) {
                    beside = beside.max((error - links).abs());
                }
                if pattern == Pattern::Structured {
                    points.push((1.0 / cells as f64, error.abs()));
                }
                rows.push(format!("{kind},{cells},{gamma},{},{error},{links},{}", found.ratio, found.steps));
            }
        }
        curves.push(Curve { name: format!("Γ = {gamma}"), points });
    }
    session.at_most("H/W where h ≤ c/8", fine, "relative", 0.01);
    session.at_most("H/W where h ≤ c/4", coarse, "relative", 0.035);
    session.info("H/W where h > c/4, not judged", warned, "relative");
    session.at_most("structured strips beside a chain of links", beside, "relative", 0.001);
    session.at_most("largest force left over the weight", unbalanced, "relative", 1e-7);
    session.csv("cantilever", "mesh,cells,Γ,H/W,error,error of a chain,steps", &rows)?;
    session.plot(
        "cantilever",
        Chart {
            title: "Cantilever on structured strips: error of H/W".into(),
            x: "edge over length".into(),
            y: "relative error".into(),
            log: (true, true),
            curves,
        },
    )
}

/// Every pattern fit for cloth, irregular ones with several seeds.
fn kinds() -> Vec<(String, Pattern)> {
    let mut all = vec![
        ("structured".to_string(), Pattern::Structured),
        ("flipped".to_string(), Pattern::Flipped),
        ("equilateral".to_string(), Pattern::Equilateral),
    ];
    for seed in 0..SEEDS {
        all.push((format!("jittered {seed}"), Pattern::Jittered { amount: 0.25, seed }));
        all.push((format!("delaunay {seed}"), Pattern::Delaunay { seed }));
    }
    all
}

/// A 4:1 cloth cut along warp, weft, bias and between.
fn woven(session: &mut Session) -> Result<(), LabError> {
    let rigidity = Rigidity { warp: 4.0, weft: 1.0, coupling: 0.3, twist: 0.35 };
    let mut rows = Vec::new();
    let mut worst = 0.0f64;
    for degrees in [0.0, 30.0, 45.0, 60.0, 90.0] {
        let grain = f64::to_radians(degrees);
        let along = rigidity.along(grain);
        let exact = elastica(10.0, 20_000);
        for (kind, pattern) in
            [("structured", Pattern::Structured), ("jittered", Pattern::Jittered { amount: 0.25, seed: 2 })]
        {
            let shape = shapes::strip(1.0, WIDTH, 40, pattern)?;
            let strip = Strip { shape, rigidity, grain, cylinder: true };
            let found = strip.hang(10.0 * along, &exact)?;
            let error = found.ratio / exact.ratio() - 1.0;
            worst = worst.max(error.abs());
            rows.push(format!("{kind},{degrees},cylinder,{along},{error}"));
        }
        // A tenth as wide as long, sides free: how stiff it seems, and how stiff a vanishing width would be.
        let shape = shapes::strip(1.0, 0.1, 40, Pattern::Structured)?;
        let strip = Strip { shape, rigidity, grain, cylinder: false };
        let found = strip.hang(10.0 * along, &exact)?;
        let seen = 10.0 * along / gamma_of(found.ratio);
        let narrow = narrow(&rigidity, grain);
        rows.push(format!("structured,{degrees},free,{seen},{narrow}"));
        session.info(format!("free strip at {degrees}°: stiffness seen over D(angle)"), seen / along, "");
        session.info(format!("vanishing width at {degrees}°: stiffness over D(angle)"), narrow / along, "");
    }
    session.at_most("4:1 cylinders in five directions: H/W", worst, "relative", 0.01);
    session.csv("woven", "mesh,direction [°],sides,stiffness [N·m],error or that of a vanishing width", &rows)
}

/// 1/(D⁻¹)₁₁ along `angle`: bending with nothing to stop the strip from twisting and curling across.
fn narrow(d: &Rigidity, angle: f64) -> f64 {
    let (s, c) = angle.sin_cos();
    // A moment along the strip is (c², s², cs) in the grain; its curvature along is that again.
    let (uu, vv, uv) = (c * c, s * s, c * s);
    let det = d.warp * d.weft - d.coupling * d.coupling;
    let threads = (d.weft * uu * uu - 2.0 * d.coupling * uu * vv + d.warp * vv * vv) / det;
    1.0 / (threads + uv * uv / d.twist)
}

/// The Γ whose elastica has this drop over reach.
fn gamma_of(ratio: f64) -> f64 {
    let (mut low, mut high) = (1e-3f64, 1e4f64);
    for _ in 0..40 {
        let middle = (low * high).sqrt();
        if elastica(middle, 2000).ratio() < ratio { low = middle } else { high = middle }
    }
    (low * high).sqrt()
}

struct Strip {
    shape: Shape,
    rigidity: Rigidity,
    /// Angle from the warp to the strip [rad].
    grain: f64,
    /// Between two symmetry planes along its sides.
    cylinder: bool,
}

struct Hung {
    ratio: f64,
    residual: f64,
    steps: usize,
}

impl Strip {
    /// Hangs it under the weight `gamma` per area, starting from the elastica `guess`.
    fn hang(&self, gamma: f64, guess: &Elastica) -> Result<Hung, LabError> {
        let rest = &self.shape.positions;
        let turn = DVec2::from_angle(self.grain);
        let charts = self.shape.rest.iter().map(|r| r.map(|p| turn.rotate(p))).collect();
        let mesh = Mesh::new(rest.len(), self.shape.faces.clone(), charts)?;
        let wide = rest.iter().map(|p| p.z).fold(0.0, f64::max);
        let mut clamps = Vec::new();
        for edge in mesh.edges().iter().filter(|e| e.is_border()) {
            let [c, d] = edge.ends.map(|i| rest[i as usize]);
            let direction = match 0.5 * (c + d) {
                m if m.x == 0.0 => DVec3::X,
                m if self.cylinder && m.z == 0.0 => DVec3::Z,
                m if self.cylinder && m.z == wide => DVec3::NEG_Z,
                _ => continue,
            };
            clamps.push(Clamp { edge: edge.ends, direction, motion: Motion::still() });
        }
        let options = ReconOptions { clamps, ..ReconOptions::default() };
        let stiffness = YOUNG * self.rigidity.along(self.grain);
        let fabric = Fabric::isotropic(1.0, stiffness, 0.0, 0.0);
        let side = |p: &DVec3| self.cylinder && (p.z == 0.0 || p.z == wide);
        let statics = Statics {
            forces: vec![
                Box::new(Membrane::elements(&mesh, &fabric, Strain::Green)),
                Box::new(Recon::new(&mesh, self.rigidity, &options)),
            ],
            load: mesh.vertex_area().iter().map(|area| DVec3::NEG_Y * (gamma * area)).collect(),
            held: rest.iter().map(|p| if p.x == 0.0 { [true; 3] } else { [false, false, side(p)] }).collect(),
            tether: 0.0,
        };
        let start: Vec<DVec3> = rest.iter().map(|p| guess.at(p.x) + DVec3::Z * p.z).collect();
        let end = statics.solve(&start, 1e-8 * gamma * wide, 200)?;
        let tip: Vec<DVec3> = (0..rest.len()).filter(|i| rest[*i].x == 1.0).map(|i| end.x[i]).collect();
        let mean = tip.iter().fold(DVec3::ZERO, |sum, p| sum + *p) / tip.len() as f64;
        Ok(Hung { ratio: -mean.y / mean.x, residual: end.residual, steps: end.steps })
    }
}

/// Places along a unit length, evenly spaced from the clamp to the tip: x ahead, y up.
pub(super) struct Elastica {
    places: Vec<DVec3>,
}

impl Elastica {
    /// Drop over reach of the tip.
    pub(super) fn ratio(&self) -> f64 {
        let tip = self.places[self.places.len() - 1];
        -tip.y / tip.x
    }

    /// The place at arc length `s`.
    fn at(&self, s: f64) -> DVec3 {
        let along = s * (self.places.len() - 1) as f64;
        let k = (along as usize).min(self.places.len() - 2);
        self.places[k].lerp(self.places[k + 1], along - k as f64)
    }
}

/// The heavy elastica by shooting from the tip, Runge–Kutta of fourth order in `steps` steps.
///
/// ψ = π/2 − φ obeys ψ'' = Γ(1 − s) sin ψ with ψ'(1) = 0 and ψ(0) = π/2; ψ(0) grows with ψ(1), which for heavy strips
/// is as small as exp(−⅔√Γ), hence the bisection by ratios.
pub(super) fn elastica(gamma: f64, steps: usize) -> Elastica {
    let quarter = std::f64::consts::FRAC_PI_2;
    let (mut low, mut high) = (1e-300f64, quarter);
    for _ in 0..90 {
        let middle = if low > 1e-3 { 0.5 * (low + high) } else { (low * high).sqrt() };
        if shoot(gamma, middle, steps).last().is_some_and(|s| s[0] < quarter) {
            low = middle;
        } else {
            high = middle;
        }
    }
    // From tip to clamp, seen from the tip: turn round.
    let states = shoot(gamma, high, steps);
    let end = states[states.len() - 1];
    let places = states.iter().rev().map(|s| DVec3::new(end[2] - s[2], s[3] - end[3], 0.0)).collect();
    Elastica { places }
}

/// States (ψ, ψ', reach, drop) at distances 0, 1/steps, … from the tip; stops growing ψ past a half turn.
fn shoot(gamma: f64, tip: f64, steps: usize) -> Vec<[f64; 4]> {
    let h = 1.0 / steps as f64;
    let slope = |r: f64, s: &[f64; 4]| {
        let (sin, cos) = s[0].min(3.0).sin_cos();
        [s[1], gamma * r * sin, sin, cos]
    };
    let ahead = |s: &[f64; 4], d: &[f64; 4], by: f64| [0, 1, 2, 3].map(|i| s[i] + by * d[i]);
    let mut states = vec![[tip, 0.0, 0.0, 0.0]];
    for k in 0..steps {
        let (r, s) = (k as f64 * h, states[k]);
        let a = slope(r, &s);
        let b = slope(r + 0.5 * h, &ahead(&s, &a, 0.5 * h));
        let c = slope(r + 0.5 * h, &ahead(&s, &b, 0.5 * h));
        let d = slope(r + h, &ahead(&s, &c, h));
        let mean = [0, 1, 2, 3].map(|i| (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]) / 6.0);
        states.push(ahead(&s, &mean, h));
    }
    states
}

/// Drop over reach of a chain of `links` straight links with a hinge D/h between neighbours and 2D/h at the clamp,
/// half a link away from the first middle; weights at the joints. Newton in the links' angles.
fn chain(gamma: f64, links: usize) -> f64 {
    let h = 1.0 / links as f64;
    // Weight that turns with link i: all joints from its far end on.
    let weight: Vec<f64> = (0..links).map(|i| gamma * h * ((links - 1 - i) as f64 + 0.5)).collect();
    let guess = elastica(gamma, 100 * links);
    let mut angle: Vec<f64> = (0..links)
        .map(|i| {
            let link = guess.places[100 * (i + 1)] - guess.places[100 * i];
            (-link.y).atan2(link.x)
        })
        .collect();
    for _ in 0..50 {
        let stiff = |i: usize| if i == 0 { 2.0 / h } else { 1.0 / h };
        let bend = |i: usize| stiff(i) * (angle[i] - if i == 0 { 0.0 } else { angle[i - 1] });
        let mut diagonal = vec![0.0; links];
        let mut right = vec![0.0; links];
        for i in 0..links {
            let beyond = if i + 1 < links { bend(i + 1) } else { 0.0 };
            right[i] = weight[i] * h * angle[i].cos() - bend(i) + beyond;
            let further = if i + 1 < links { stiff(i + 1) } else { 0.0 };
            diagonal[i] = stiff(i) + further + weight[i] * h * angle[i].sin();
        }
        // Tridiagonal elimination; the off-diagonal is −1/h.
        for i in 1..links {
            let factor = -1.0 / (h * diagonal[i - 1]);
            diagonal[i] += factor / h;
            right[i] -= factor * right[i - 1];
        }
        let mut step = 0.0;
        for i in (0..links).rev() {
            step = (right[i] + step / h) / diagonal[i];
            angle[i] += step;
        }
    }
    let (drop, reach) = angle.iter().fold((0.0, 0.0), |(d, r), a| (d + a.sin(), r + a.cos()));
    drop / reach
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_light_strip_drops_by_an_eighth_and_a_chain_converges() {
        assert!((elastica(1e-3, 2000).ratio() / 1.25e-4 - 1.0).abs() < 1e-5);
        let exact = elastica(10.0, 20_000).ratio();
        let errors = [20, 40].map(|n| (chain(10.0, n) / exact - 1.0).abs());
        assert!(errors[0] < 0.01 && (errors[0] / errors[1] - 4.0).abs() < 0.2, "second order: {errors:?}");
    }

    #[test]
    fn a_vanishing_width_is_never_stiffer_than_a_cylinder() {
        let d = Rigidity { warp: 4.0, weft: 1.0, coupling: 0.3, twist: 0.35 };
        for k in 0..12 {
            let angle = 0.2 * f64::from(k);
            assert!(narrow(&d, angle) <= d.along(angle) * (1.0 + 1e-12));
        }
        assert!((narrow(&Rigidity::isotropic(2.0, 0.3), 0.7) - 2.0 * (1.0 - 0.09)).abs() < 1e-12);
    }
}
