//! Implicit steps with one linearisation, as the papers take them: V00's implicit Euler (V00-2) and its
//! λ-midpoint (V00-15).
//!
//! (M + h² V + h W) Δv = h (f − h V v), then v⁺ = v + Δv and x⁺ = x + h v⁺. On stiff cloth with large steps it
//! falls too slowly, because turning an element also seems to stretch it; what one linearisation leaves
//! unbalanced is reported as an acceleration, so that a run can say so.

use super::bodies::{Bodies, Course};
use super::integrate::Span;
use super::krylov::End;
use super::linear::{Equation, LinearSolver, STANDARD_GRAVITY, mean_weight};
use super::operator::{LinearOperator, MatrixFree};
use super::settings::{Integrator, LambdaRhs};
use crate::interaction::{Interactions, Mix, Moment};
use crate::math::{DVec3, parallel, reduce};
use crate::probe::{Probe, Stage};
use crate::state::State;

/// What one linearisation leaves unbalanced, over the acceleration of the cloth and gravity, above which it falls
/// like honey. On `hang`, steps of 6 ms leave 1 at 5e3 m²/s² (0.4 % off) and over 100 at 5e5.
const HONEY: f64 = 10.0;

/// The integrator, with the storage it uses from step to step.
#[derive(Default)]
pub struct OneStep {
    linear: LinearSolver,
    answers: Vec<Interactions>,
    impulse: Vec<DVec3>,
    change: Vec<DVec3>,
    led: Vec<DVec3>,
}

impl OneStep {
    /// Computes `next` one substep after `now`; false if the numbers were lost.
    pub fn advance(
        &mut self,
        course: &mut dyn Course,
        span: Span,
        now: &State,
        next: &mut State,
        probe: &mut Probe,
    ) -> bool {
        let Span { settings, time, dt, .. } = span;
        course.go_to(time + dt, dt);
        let bodies = course.bodies();
        let n = bodies.mass.len();
        self.led.clone_from(&now.v);
        bodies.mobility.project(&mut self.led);
        for place in bodies.places {
            let p = place.particle as usize;
            self.led[p] += place.away(now.x[p]) / dt;
        }
        probe.lap(Stage::Drive);

        let history = settings.integrator == Integrator::LambdaMidpoint && now.past.x.len() == n;
        let lambda = self.lambdas(settings.lambda, now, history && now.past.dt == dt);
        let (dx, dv) = if lambda.is_empty() { Default::default() } else { differences(bodies, now) };
        let pull = match (lambda.is_empty(), settings.lambda_rhs) {
            (false, LambdaRhs::Corrected) => self.stiffness_times(bodies, now, &dx),
            _ => Vec::new(),
        };
        self.evaluate(bodies, &now.x, dt, Mix::implicit_euler(dt));
        if !lambda.is_empty() {
            let mass = bodies.mass;
            parallel::update(&mut self.impulse, |i, b| {
                let missing = pull.get(i).map_or(DVec3::ZERO, |p| *p * dt);
                *b = (1.0 + lambda[i]) * *b - 2.0 * lambda[i] * (mass[i] * dv[i] - missing);
            });
        }
        probe.lap(Stage::Forces);

        let limit = settings.tolerance * mean_weight(bodies.mass);
        let equation = Equation { bodies, at: &now.x, answers: &self.answers, dt, lead: None, limit };
        let outcome = self.linear.solve(equation, settings, &mut self.impulse, &mut self.change, probe);
        let counters = &mut probe.counters;
        counters.residual = counters.residual.max(outcome.residual);
        counters.residual_ratio = counters.residual_ratio.max(outcome.residual / mean_weight(bodies.mass));
        counters.stages += 1;
        if matches!(outcome.end, End::NotFinite | End::Diverged) {
            return false;
        }

        let (led, change, before) = (&self.led, &self.change, &now.past.v);
        if lambda.is_empty() {
            parallel::fill(&mut next.v, |i| led[i] + change[i]);
            let v = &next.v;
            parallel::fill(&mut next.x, |i| now.x[i] + dt * v[i]);
        } else {
            parallel::fill(&mut next.v, |i| led[i] + lambda[i] * dv[i] + change[i]);
            let v = &next.v;
            parallel::fill(&mut next.x, |i| {
                now.x[i] - lambda[i] * dx[i] + dt * (v[i] + lambda[i] * before[i])
            });
        }
        for place in bodies.places {
            let p = place.particle as usize;
            next.x[p] = place.settle(next.x[p]);
        }
        next.past.restart.clear();
        if settings.integrator == Integrator::LambdaMidpoint {
            next.past.dt = dt;
            next.past.x.clone_from(&now.x);
            next.past.v.clone_from(&now.v);
        }
        probe.lap(Stage::Update);
        self.count_unbalanced(bodies, now, next, dt, probe);
        true
    }

    /// Accelerations that the forces give [m/s²], zero where pins hold.
    pub fn accelerations(&mut self, bodies: Bodies, now: &State) -> Vec<DVec3> {
        self.led.clone_from(&now.v);
        self.evaluate(bodies, &now.x, 1.0, Mix::NONE);
        let mut a = std::mem::take(&mut self.impulse);
        bodies.mobility.project(&mut a);
        parallel::update(&mut a, |i, a| *a *= bodies.mobility.inverse_mass[i]);
        a
    }

    /// Largest force on a particle that can move, at rest at `x` [N].
    pub fn largest_force(&mut self, bodies: Bodies, x: &[DVec3]) -> f64 {
        self.led.clear();
        self.led.resize(x.len(), DVec3::ZERO);
        self.evaluate(bodies, x, 1.0, Mix::NONE);
        bodies.mobility.project(&mut self.impulse);
        let force = &self.impulse;
        reduce::max(x.len(), |i| force[i].length_squared()).sqrt()
    }

    /// λ of each particle: none at all without a state before; 0 for a particle moved by hand since (G-15).
    fn lambdas(&self, lambda: f64, now: &State, history: bool) -> Vec<f64> {
        if !history || lambda == 0.0 {
            return Vec::new();
        }
        let mut all = vec![lambda; now.x.len()];
        for p in &now.past.restart {
            all[*p as usize] = 0.0;
        }
        all
    }

    /// V dx [N].
    fn stiffness_times(&mut self, bodies: Bodies, now: &State, dx: &[DVec3]) -> Vec<DVec3> {
        self.evaluate(bodies, &now.x, 1.0, Mix { stiffness: 1.0, damping: 0.0, lag: 0.0 });
        let mut out = vec![DVec3::ZERO; dx.len()];
        MatrixFree::new(dx.len(), bodies.forces, &self.answers).apply(dx, &mut out);
        out
    }

    /// Answers of all forces at the led velocities, and the impulse h (f − lag V v) [N·s] on each particle.
    fn evaluate(&mut self, bodies: Bodies, x: &[DVec3], dt: f64, mix: Mix) {
        self.answers.resize_with(bodies.forces.len(), Interactions::default);
        self.impulse.clear();
        self.impulse.extend(bodies.mass.iter().map(|m| bodies.gravity * *m));
        for ((force, memory), answer) in bodies.families().zip(&mut self.answers) {
            let at = Moment { x, v: &self.led, memory };
            force.respond(at, mix, &[], answer);
            force.coupling().scatter(&answer.push, &mut self.impulse);
        }
        parallel::update(&mut self.impulse, |_, b| *b *= dt);
    }

    /// Books what the step left unbalanced: f(x⁺, v⁺) − M (v⁺ − v)/h, as an acceleration.
    fn count_unbalanced(&mut self, bodies: Bodies, now: &State, next: &State, dt: f64, probe: &mut Probe) {
        let started = now.v.clone();
        self.led.clone_from(&next.v);
        self.evaluate(bodies, &next.x, 1.0, Mix::NONE);
        let mass = bodies.mass;
        parallel::update(&mut self.impulse, |i, f| *f -= (next.v[i] - started[i]) * (mass[i] / dt));
        bodies.mobility.project(&mut self.impulse);
        let left = &self.impulse;
        let sum = reduce::sum(mass.len(), |i| left[i].length_squared() / mass[i]);
        let rms = (sum / reduce::sum(mass.len(), |i| mass[i])).sqrt();
        let moved = reduce::sum(mass.len(), |i| mass[i] * (next.v[i] - started[i]).length_squared());
        let moving = (moved / reduce::sum(mass.len(), |i| mass[i])).sqrt() / dt;
        probe.counters.residual_rms = probe.counters.residual_rms.max(rms);
        probe.counters.honey += u64::from(rms > HONEY * (STANDARD_GRAVITY + moving));
        probe.lap(Stage::Forces);
    }
}

/// Changes of position and velocity over the last step, along the directions in which particles can move.
fn differences(bodies: Bodies, now: &State) -> (Vec<DVec3>, Vec<DVec3>) {
    let change = |a: &[DVec3], b: &[DVec3]| {
        let mut d: Vec<DVec3> = a.iter().zip(b).map(|(a, b)| *a - *b).collect();
        bodies.mobility.project(&mut d);
        d
    };
    (change(&now.x, &now.past.x), change(&now.v, &now.past.v))
}
