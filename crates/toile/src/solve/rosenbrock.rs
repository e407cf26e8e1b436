//! Linearly implicit Runge–Kutta steps of third order with an estimate of their error (V00-16), and V00's hybrid of an
//! implicit membrane with everything else explicit (V00-23).
//!
//! V00 names Rosenbrock's methods, whose order stands on the exact derivative of the forces; ours are made positive and
//! are not exact. So these are W-methods, of which Rosenbrock's are the special case: they keep their order with *any*
//! matrix, and the matrix decides over stability alone. Coefficients are those of ROS34PW2 (Rang & Angermann 2005): four
//! stages, third order, stiffly accurate, with an embedded solution of second order. For y' = f(y), y = (x, v),
//!
//! ```text
//! (I − γ h J) kᵢ = h f(y + Σ_j αᵢⱼ kⱼ) + h J Σ_j γᵢⱼ kⱼ        y⁺ = y + Σ bᵢ kᵢ
//! ```
//!
//! With J = [[0, I], [−M⁻¹V, −M⁻¹W]] and k = (p, q) the positions are eliminated, and each stage solves the matrix of an
//! implicit Euler step of γh, M + (γh)² V + γh W, the same in all four.
//!
//! Any matrix will do, so the hybrid leaves all but the membrane out of it: bending, drag and gravity are then
//! stepped by the explicit Runge–Kutta method of third order inside, and the matrix couples neighbours only. Its steps
//! must suit what is explicit; the estimate of the error sees to that too, because it grows when they do not.

use super::bodies::{Bodies, Course};
use super::integrate::Span;
use super::krylov::End;
use super::linear::{Equation, LinearSolver, STANDARD_GRAVITY, mean_weight};
use super::operator::{LinearOperator, MatrixFree};
use crate::interaction::{Interactions, Mix, Moment};
use crate::math::{DVec3, parallel, reduce};
use crate::probe::{Probe, Stage};
use crate::state::State;

const STAGES: usize = 4;
const GAMMA: f64 = 0.435_866_521_508_459;
const ALPHA: [[f64; STAGES]; STAGES] = [
    [0.0; 4],
    [0.871_733_043_016_918, 0.0, 0.0, 0.0],
    [0.844_570_600_153_694_2, -0.112_990_642_364_841_85, 0.0, 0.0],
    [0.0, 0.0, 1.0, 0.0],
];
const COUPLING: [[f64; STAGES]; STAGES] = [
    [0.0; 4],
    [-0.871_733_043_016_918, 0.0, 0.0, 0.0],
    [-0.903_380_570_130_440_8, 0.054_180_672_388_095_326, 0.0, 0.0],
    [0.242_123_807_060_953_46, -1.223_250_583_904_514_7, 0.545_260_255_335_102_1, 0.0],
];
const WEIGHT: [f64; STAGES] =
    [0.242_123_807_060_953_46, -1.223_250_583_904_514_7, 1.545_260_255_335_102, 0.435_866_521_508_459];
const EMBEDDED: [f64; STAGES] =
    [0.378_109_031_458_193_7, -0.096_042_292_212_423_18, 0.5, 0.217_933_260_754_229_5];

/// Steps may shrink to this part of a substep before it is given up.
const SHORTEST: f64 = 1e-6;

/// The integrator, with the storage it uses from step to step.
#[derive(Default)]
pub struct RosenbrockStep {
    /// With everything in the matrix, and with the membrane alone.
    linear: [LinearSolver; 2],
    /// Answers of the implicit families, mixed as the matrix, as V and as W.
    mixed: [Vec<Interactions>; 3],
    answer: Interactions,
    p: [Vec<DVec3>; STAGES],
    q: [Vec<DVec3>; STAGES],
    force: Vec<DVec3>,
    work: [Vec<DVec3>; 4],
}

/// One attempt at a step.
#[derive(Clone, Copy)]
struct Attempt {
    /// Start [s].
    time: f64,
    /// Length [s].
    h: f64,
    /// Whether only the membrane is implicit.
    hybrid: bool,
}

impl RosenbrockStep {
    /// Computes `next` one substep after `now`, in as many steps as the tolerance needs; false if the numbers were lost.
    pub fn advance(
        &mut self,
        course: &mut dyn Course,
        span: Span,
        now: &State,
        next: &mut State,
        probe: &mut Probe,
    ) -> bool {
        let Span { time, dt, settings, .. } = span;
        let hybrid = settings.integrator == super::Integrator::Hybrid;
        let tolerance = settings.rosenbrock_tolerance;
        let (mut done, mut h) = (0.0, dt);
        if now.past.dt > 0.0 && now.past.restart.is_empty() {
            h = now.past.dt.min(dt);
        }
        while done < dt {
            let whole = h >= (1.0 - 1e-9) * (dt - done);
            let step = if whole { dt - done } else { h };
            let attempt = Attempt { time: time + done, h: step, hybrid };
            let Some(error) = self.attempt(course, span, attempt, next, probe) else { return false };
            let size = error / tolerance;
            // The estimate is of third order in the step: aim at 0.9 of the step that just holds the tolerance.
            let factor = if size > 0.0 { (0.9 / libm::cbrt(size)).clamp(0.2, 5.0) } else { 5.0 };
            if size > 1.0 {
                probe.counters.shortened += 1;
                h = step * factor.min(0.9);
                if h <= SHORTEST * dt {
                    return false;
                }
                continue;
            }
            self.accept(course.bodies(), next);
            done = if whole { dt } else { done + step };
            // The last step of a substep is cut to fit: what comes after need not be as short.
            h = if whole { h.max(step * factor) } else { step * factor };
        }
        next.past.dt = h;
        next.past.restart.clear();
        probe.lap(Stage::Update);
        true
    }

    /// The stages of a step from `next`, left in p and q; the estimate of its error [m], or nothing if numbers were lost.
    fn attempt(
        &mut self,
        course: &mut dyn Course,
        span: Span,
        attempt: Attempt,
        next: &mut State,
        probe: &mut Probe,
    ) -> Option<f64> {
        let Attempt { time, h, hybrid } = attempt;
        course.go_to(time + h, h);
        let bodies = course.bodies();
        let n = bodies.mass.len();
        bodies.mobility.project(&mut next.v);
        for place in bodies.places {
            let p = place.particle as usize;
            next.v[p] += place.away(next.x[p]) / h;
        }
        probe.lap(Stage::Drive);
        let families = implicit_families(bodies, hybrid);
        let implicit = Bodies { forces: &bodies.forces[..families], ..bodies };
        self.tangents(implicit, Moment::new(&next.x, &next.v), h);
        // What solves leave over moves particles by less than a thousandth of the tolerance.
        let mean_mass = mean_weight(bodies.mass) / STANDARD_GRAVITY;
        let moved = 1e-3 * span.settings.rosenbrock_tolerance * mean_mass / (h * h);
        let limit = (span.settings.tolerance * mean_weight(bodies.mass)).min(moved);
        for stage in 0..STAGES {
            let share = ALPHA[stage].iter().fold(0.0, |sum, a| sum + a);
            course.go_to(time + share * h, h);
            let bodies = course.bodies();
            let implicit = Bodies { forces: &bodies.forces[..families], ..bodies };
            self.right_side(bodies, implicit, stage, h, next);
            probe.lap(Stage::Forces);
            let equation = Equation {
                bodies: implicit,
                at: bodies.start,
                answers: &self.mixed[0],
                dt: GAMMA * h,
                lead: None,
                limit,
            };
            let RosenbrockStep { linear, force, q, .. } = self;
            let linear = &mut linear[usize::from(hybrid)];
            linear.again = stage > 0;
            let outcome = linear.solve(equation, span.settings, force, &mut q[stage], probe);
            if matches!(outcome.end, End::NotFinite | End::Diverged) {
                return None;
            }
            let (q, ahead) = (&self.q[stage], &self.work[2]);
            self.p[stage].resize(n, DVec3::ZERO);
            parallel::fill(&mut self.p[stage], |i| h * (GAMMA * q[i] + ahead[i]));
            probe.counters.stages += 1;
            probe.lap(Stage::Update);
        }
        course.go_to(time + h, h);
        let (p, q) = (&self.p, &self.q);
        let gap = |k: &[Vec<DVec3>; STAGES], i: usize| {
            (0..STAGES).fold(DVec3::ZERO, |sum, s| sum + (WEIGHT[s] - EMBEDDED[s]) * k[s][i])
        };
        let rms = |k: &[Vec<DVec3>; STAGES]| {
            (reduce::sum(n, |i| gap(k, i).length_squared()) / n.max(1) as f64).sqrt()
        };
        let error = rms(p).max(h * rms(q));
        error.is_finite().then_some(error)
    }

    /// The matrix, V and W of the implicit families.
    fn tangents(&mut self, implicit: Bodies, at: Moment, h: f64) {
        let step = GAMMA * h;
        let mixes = [(step * step, step), (1.0, 0.0), (0.0, 1.0)];
        for (answers, (stiffness, damping)) in self.mixed.iter_mut().zip(mixes) {
            answers.resize_with(implicit.forces.len(), Interactions::default);
            for ((force, memory), answer) in implicit.families().zip(answers) {
                force.respond(Moment { memory, ..at }, Mix { stiffness, damping, lag: 0.0 }, &[], answer);
            }
        }
    }

    /// h f − h V (Σγᵢⱼpⱼ + γh u) − h W Σγᵢⱼqⱼ in `force`, with u = v + Σ(αᵢⱼ + γᵢⱼ)qⱼ left in the third work vector.
    fn right_side(&mut self, bodies: Bodies, implicit: Bodies, stage: usize, h: f64, from: &State) {
        let n = bodies.mass.len();
        let (p, q) = (&self.p, &self.q);
        let sum = |k: &[Vec<DVec3>; STAGES], row: &[f64; STAGES], i: usize| {
            (0..stage).fold(DVec3::ZERO, |sum, s| sum + row[s] * k[s][i])
        };
        let (alpha, coupling) = (&ALPHA[stage], &COUPLING[stage]);
        let [x, v, ahead, lag] = &mut self.work;
        for (out, value) in [
            (&mut *x, &(|i: usize| from.x[i] + sum(p, alpha, i)) as &(dyn Fn(usize) -> DVec3 + Sync)),
            (&mut *v, &|i: usize| from.v[i] + sum(q, alpha, i)),
            (&mut *ahead, &|i: usize| from.v[i] + sum(q, alpha, i) + sum(q, coupling, i)),
        ] {
            out.resize(n, DVec3::ZERO);
            parallel::fill(out, value);
        }
        self.force.resize(n, DVec3::ZERO);
        parallel::fill(&mut self.force, |i| bodies.gravity * bodies.mass[i]);
        for (force, memory) in bodies.families() {
            force.respond(Moment { x, v, memory }, Mix::NONE, &[], &mut self.answer);
            force.coupling().scatter(&self.answer.force, &mut self.force);
        }
        // The stage's place and velocity have done their duty: their storage holds V (…) and W (…) now.
        let terms = [(&self.mixed[1], true), (&self.mixed[2], false)];
        lag.resize(n, DVec3::ZERO);
        for ((answers, stiff), out) in terms.into_iter().zip([x, v]) {
            parallel::fill(lag, |i| match stiff {
                true => sum(p, coupling, i) + GAMMA * h * ahead[i],
                false => sum(q, coupling, i),
            });
            MatrixFree::new(n, implicit.forces, answers).apply(lag, out);
        }
        let [x, v, ..] = &self.work;
        parallel::update(&mut self.force, |i, f| *f = h * (*f - x[i] - v[i]));
    }

    /// Adds the stages to `next`, and puts led particles in place.
    fn accept(&self, bodies: Bodies, next: &mut State) {
        let sum = |k: &[Vec<DVec3>; STAGES], i: usize| {
            (0..STAGES).fold(DVec3::ZERO, |sum, s| sum + WEIGHT[s] * k[s][i])
        };
        parallel::update(&mut next.x, |i, x| *x += sum(&self.p, i));
        parallel::update(&mut next.v, |i, v| *v += sum(&self.q, i));
        for place in bodies.places {
            let p = place.particle as usize;
            next.x[p] = place.settle(next.x[p]);
        }
    }
}

/// How many of the families of forces, which list what stretches first, are in the matrix.
fn implicit_families(bodies: Bodies, hybrid: bool) -> usize {
    match hybrid {
        true => bodies.forces.iter().take_while(|force| force.stretches()).count(),
        false => bodies.forces.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conditions of third order for W-methods (Hairer & Wanner II, IV.7): every product of a weight with α or γ = α's
    /// coupling, because the matrix is free.
    #[test]
    fn coefficients_keep_third_order_with_any_matrix() {
        let gamma = |i: usize, j: usize| if i == j { GAMMA } else { COUPLING[i][j] };
        let alpha = |i: usize, j: usize| ALPHA[i][j];
        let over =
            |b: &[f64; STAGES], f: &dyn Fn(usize) -> f64| (0..STAGES).map(|i| b[i] * f(i)).sum::<f64>();
        let row = |m: &dyn Fn(usize, usize) -> f64, i: usize| (0..STAGES).map(|j| m(i, j)).sum::<f64>();
        for (b, order) in [(&WEIGHT, 3), (&EMBEDDED, 2)] {
            let mut conditions = vec![
                (over(b, &|_| 1.0), 1.0),
                (over(b, &|i| row(&alpha, i)), 0.5),
                (over(b, &|i| row(&gamma, i)), 0.0),
            ];
            if order == 3 {
                conditions.push((over(b, &|i| row(&alpha, i) * row(&alpha, i)), 1.0 / 3.0));
                let matrices: [&dyn Fn(usize, usize) -> f64; 2] = [&alpha, &gamma];
                for (first, outer) in matrices.iter().enumerate() {
                    for (second, inner) in matrices.iter().enumerate() {
                        let nested =
                            over(b, &|i| (0..STAGES).map(|j| outer(i, j) * row(inner, j)).sum::<f64>());
                        let right = if (first, second) == (0, 0) { 1.0 / 6.0 } else { 0.0 };
                        conditions.push((nested, right));
                    }
                }
            }
            for (k, (left, right)) in conditions.into_iter().enumerate() {
                assert!((left - right).abs() < 1e-12, "order {order}, condition {k}: {left} for {right}");
            }
        }
    }
}
