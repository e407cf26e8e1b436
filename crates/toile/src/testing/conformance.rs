//! What every law must keep: force = −∇E, tangents exact or above the true ones, no net force or torque from
//! inside, and the same answer in every orientation (V00 §2.4: overestimating a tangent only damps,
//! underestimating it destabilises). A law that remembers must do all that for any memory, and what it remembers after
//! a step may neither change its force there nor add energy.

use super::eigen::symmetric_eigenvalues;
use crate::interaction::{Elements, Law, Moment, Response, Sample};
use crate::math::rotation::euler_degrees;
use crate::math::{DMat3, DVec3};

/// What a law promises about one of its tangents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is the derivative.
    Exact,
    /// It is positive and at least the derivative.
    AtLeast,
    /// It is positive; nothing more.
    Positive,
    /// Nothing.
    Nothing,
}

/// What a law promises.
#[derive(Clone, Copy, Debug)]
pub struct Claims {
    /// Its forces come from inside: they have no sum and no moment, and turn with the cloth.
    pub internal: bool,
    /// At zero rate its force is minus the gradient of its energy.
    pub conservative: bool,
    /// About V, at zero rate.
    pub stiffness: Claim,
    /// About W.
    pub damping: Claim,
}

/// One finding: the largest relative error met, and what is allowed.
#[derive(Clone, Debug)]
pub struct Check {
    /// What was checked.
    pub name: &'static str,
    /// Largest relative error.
    pub worst: f64,
    /// Largest allowed.
    pub limit: f64,
}

impl Check {
    /// Whether the promise was kept.
    pub fn pass(&self) -> bool {
        self.worst <= self.limit
    }
}

/// Step of the finite differences, relative to the size of an element; central, so errors are near 1e−9.
const STEP: f64 = 1e-5;

/// Holds every element of `elements` to the claims at `moving`, and at the same place without velocity.
pub fn conformance<const P: usize, const G: usize, L: Law<P, G>>(
    elements: &Elements<P, G, L>,
    moving: Moment,
    claims: Claims,
) -> Vec<Check> {
    let mut suite = Suite { elements, checks: Vec::new() };
    let still = Moment { v: &vec![DVec3::ZERO; moving.x.len()], ..moving };
    for element in 0..elements.stencil().len() {
        if claims.conservative {
            suite.gradient(element, still);
        }
        if claims.internal {
            suite.balance(element, moving);
            suite.rotation(element, moving);
        }
        suite.tangent(element, still, claims.stiffness, Wrt::Gauge);
        suite.tangent(element, moving, claims.damping, Wrt::Rate);
        suite.memory(element, moving);
    }
    suite.checks
}

#[derive(Clone, Copy, PartialEq)]
enum Wrt {
    Gauge,
    Rate,
}

struct Suite<'a, const P: usize, const G: usize, L> {
    elements: &'a Elements<P, G, L>,
    checks: Vec<Check>,
}

impl<const P: usize, const G: usize, L: Law<P, G>> Suite<'_, P, G, L> {
    fn note(&mut self, name: &'static str, error: f64, limit: f64) {
        let error = if error.is_nan() { f64::INFINITY } else { error };
        match self.checks.iter_mut().find(|c| c.name == name) {
            Some(check) => check.worst = check.worst.max(error),
            None => self.checks.push(Check { name, worst: error, limit }),
        }
    }

    fn respond(&self, element: usize, at: Moment) -> Response<G> {
        self.elements.law.respond(element, &self.elements.sample(element, at))
    }

    fn forces(&self, element: usize, at: Moment) -> [DVec3; P] {
        let answer = self.respond(element, at);
        std::array::from_fn(|a| {
            (0..G).fold(DVec3::ZERO, |sum, g| {
                sum + self.elements.stencil().weight(element, g, a) * answer.force[g]
            })
        })
    }

    fn gradient(&mut self, element: usize, at: Moment) {
        let forces = self.forces(element, at);
        let size = forces.iter().map(|f| f.length()).fold(0.0, f64::max);
        let members = self.elements.stencil().members(element);
        let step = STEP * extent(members, at.x);
        for (a, member) in members.iter().enumerate() {
            for axis in 0..3 {
                let energy = |sign: f64| {
                    let mut x = at.x.to_vec();
                    x[*member as usize][axis] += sign * step;
                    self.respond(element, Moment { x: &x, ..at }).energy
                };
                let slope = (energy(1.0) - energy(-1.0)) / (2.0 * step);
                let floor = 1e-12 * self.respond(element, at).energy.abs() / step;
                let error = (forces[a][axis] + slope).abs() / (size + floor).max(f64::MIN_POSITIVE);
                self.note("force = −∇E", if size + floor == 0.0 { 0.0 } else { error }, 1e-6);
            }
        }
    }

    fn memory(&mut self, element: usize, at: Moment) {
        let law = &self.elements.law;
        if !law.remembers() {
            return;
        }
        let before = self.elements.sample(element, at);
        let after = Sample { memory: law.remember(element, &before), ..before };
        let [old, new] = [&before, &after].map(|sample| law.respond(element, sample));
        let size = old.force.iter().map(|f| f.length()).fold(0.0, f64::max);
        let jump = (0..G).map(|g| old.force[g].distance(new.force[g])).fold(0.0, f64::max);
        self.note("memory makes no jump", if jump == 0.0 { 0.0 } else { jump / size }, 1e-9);
        let gain = (new.energy - old.energy).max(0.0);
        self.note("memory makes no energy", if gain == 0.0 { 0.0 } else { gain / old.energy.abs() }, 1e-12);
        let again = law.remember(element, &after);
        let change = (0..again.len()).map(|k| (again[k] - after.memory[k]).abs()).fold(0.0, f64::max);
        self.note("memory settles", change, 1e-12);
    }

    fn balance(&mut self, element: usize, at: Moment) {
        let forces = self.forces(element, at);
        let members = self.elements.stencil().members(element);
        let gross = forces.iter().fold(0.0, |sum, f| sum + f.length()).max(f64::MIN_POSITIVE);
        let centre = at.x[members[0] as usize];
        let net = forces.iter().fold(DVec3::ZERO, |sum, f| sum + *f);
        let torque = members
            .iter()
            .zip(&forces)
            .fold(DVec3::ZERO, |sum, (m, f)| sum + (at.x[*m as usize] - centre).cross(*f));
        let arm = extent(members, at.x);
        self.note("Σf = 0", net.length() / gross, 1e-12);
        self.note("Στ = 0", torque.length() / (gross * arm), 1e-12);
    }

    fn rotation(&mut self, element: usize, at: Moment) {
        let turn = euler_degrees(DVec3::new(40.0, -63.0, 132.0));
        let shift = DVec3::new(0.3, -0.2, 0.9);
        let x: Vec<DVec3> = at.x.iter().map(|p| turn * *p + shift).collect();
        let v: Vec<DVec3> = at.v.iter().map(|u| turn * *u).collect();
        let here = self.forces(element, at);
        let there = self.forces(element, Moment { x: &x, v: &v, ..at });
        let gross = here.iter().fold(0.0, |sum, f| sum + f.length()).max(f64::MIN_POSITIVE);
        let off = here.iter().zip(&there).map(|(f, g)| (turn * *f - *g).length()).fold(0.0, f64::max);
        self.note("turns with the cloth", off / gross, 1e-9);
    }

    fn tangent(&mut self, element: usize, at: Moment, claim: Claim, wrt: Wrt) {
        let answer = self.respond(element, at);
        let claimed = match wrt {
            Wrt::Gauge => matrix(&answer.stiffness),
            Wrt::Rate => matrix(&answer.damping),
        };
        let (symmetric, positive, exact, above) = match wrt {
            Wrt::Gauge => ("V symmetric", "V ⪰ 0", "V = −∂φ/∂g", "V ⪰ −∂φ/∂g"),
            Wrt::Rate => ("W symmetric", "W ⪰ 0", "W = −∂φ/∂ġ", "W ⪰ −∂φ/∂ġ"),
        };
        if claim == Claim::Nothing {
            return;
        }
        let n = 3 * G;
        let truth = self.derivative(element, at, wrt);
        let norm = claimed.iter().chain(&truth).flatten().fold(0.0, |m: f64, e| m.max(e.abs()));
        if norm == 0.0 {
            return;
        }
        let skew = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        let skew = skew.fold(0.0f64, |m, (i, j)| m.max((claimed[i][j] - claimed[j][i]).abs()));
        self.note(symmetric, skew / norm, 1e-12);
        if claim != Claim::Exact {
            self.note(positive, -symmetric_eigenvalues(&claimed)[0].min(0.0) / norm, 1e-10);
        }
        let difference: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| claimed[i][j] - truth[i][j]).collect()).collect();
        match claim {
            Claim::Exact => {
                let off = difference.iter().flatten().fold(0.0, |m: f64, e| m.max(e.abs()));
                self.note(exact, off / norm, 1e-6);
            }
            Claim::AtLeast => {
                self.note(above, -symmetric_eigenvalues(&difference)[0].min(0.0) / norm, 1e-6);
            }
            Claim::Positive | Claim::Nothing => {}
        }
    }

    /// −∂φ/∂g or −∂φ/∂ġ by central differences on the gauges themselves.
    fn derivative(&self, element: usize, at: Moment, wrt: Wrt) -> Vec<Vec<f64>> {
        let sample = self.elements.sample(element, at);
        let field = if wrt == Wrt::Gauge { sample.gauge } else { sample.rate };
        let size = field.iter().map(|g| g.length()).fold(0.0, f64::max);
        let step = STEP * if size > 0.0 { size } else { 1.0 };
        let mut columns = vec![vec![0.0; 3 * G]; 3 * G];
        for column in 0..3 * G {
            let force = |sign: f64| {
                let mut moved = sample;
                let field = if wrt == Wrt::Gauge { &mut moved.gauge } else { &mut moved.rate };
                field[column / 3][column % 3] += sign * step;
                self.elements.law.respond(element, &moved).force
            };
            let (ahead, behind) = (force(1.0), force(-1.0));
            for row in 0..3 * G {
                let slope = (ahead[row / 3][row % 3] - behind[row / 3][row % 3]) / (2.0 * step);
                columns[row][column] = -slope;
            }
        }
        columns
    }
}

fn extent(members: &[u32], x: &[DVec3]) -> f64 {
    let origin = x[members[0] as usize];
    let far = members.iter().map(|m| (x[*m as usize] - origin).length()).fold(0.0, f64::max);
    if far > 0.0 { far } else { 1.0 }
}

fn matrix<const G: usize>(blocks: &[[DMat3; G]; G]) -> Vec<Vec<f64>> {
    (0..3 * G).map(|i| (0..3 * G).map(|j| blocks[i / 3][j / 3].col(j % 3)[i % 3]).collect()).collect()
}
