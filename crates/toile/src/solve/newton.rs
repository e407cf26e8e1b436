//! Newton's method for one implicit stage.
//!
//! Every implicit scheme here asks for the x with x = x_b + h v, v = v_b + h a and M a = f(x, v): a minimum of
//! the incremental potential Φ = ½|v − v_b|²_M + E(x) where forces have an energy. Forces and energy are
//! exact; the tangent takes its geometric part from the *foreseen* stress, which is kept from iteration to
//! iteration and from step to step. With the present stress instead, the stretch that a linear step adds to a
//! turning element is taken for tension, and cloth falls like honey.
//!
//! Full steps are taken as long as they find a new best Φ now and then (a watchdog); a line search at every
//! step would need two to three times the solves.

use super::bodies::Bodies;
use super::krylov::End;
use super::linear::{Equation, LinearSolver, mean_weight};
use super::settings::SolverSettings;
use crate::freedom::Mobility;
use crate::interaction::{Interactions, Mix, Moment, Stress};
use crate::math::{DVec3, parallel, reduce};
use crate::probe::{Probe, Stage};

/// What an implicit stage asks for: x = x_b + h v and v = v_b + h a.
#[derive(Clone, Copy)]
pub struct Goal<'a> {
    /// x_b [m].
    pub x: &'a [DVec3],
    /// v_b [m/s].
    pub v: &'a [DVec3],
    /// h [s].
    pub h: f64,
    /// What the inertia of each particle counts [-]; 1 where absent. A particle whose own step is longer than the
    /// stage's h by a factor f has 1/f².
    pub inertia: &'a [f64],
}

/// A stage to solve.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// What moves.
    pub bodies: Bodies<'a>,
    /// How to solve.
    pub settings: &'a SolverSettings,
    /// What is asked for.
    pub goal: Goal<'a>,
    /// Most linear solves.
    pub cap: usize,
}

/// What Newton's method reached.
#[derive(Clone, Copy, Debug)]
pub struct Reached {
    /// Whether both limits of [`super::settings::NewtonSettings`] hold.
    pub converged: bool,
    /// Whether a value stopped being a number.
    pub lost: bool,
    /// Stored energy at the start and at the end [J], without gravity.
    pub stored: [f64; 2],
    /// Work done by viscosity, air and moving pins [J].
    pub outside_work: f64,
    /// Largest unbalanced force at the start [N].
    pub at_start: f64,
}

/// Full steps without a new best before one careful step.
const PATIENCE: usize = 4;

/// Part of what a stage gained below which another step is not worth its cost, where contacts come and go, for who leaves
/// [`USUAL`] undone [m]. What is gained goes with the square of what is left to go.
const LITTLE: f64 = 1e-3;
const USUAL: f64 = 1e-4;

/// Part of the motion of a stage that may be left undone where things touch [-].
const FINE: f64 = 0.05;

/// The same over what may be left undone in any stage, at least.
const FINEST: f64 = 1e-3;

/// Newton's method, with the storage it keeps.
#[derive(Default)]
pub struct Newton {
    /// The linear solver.
    pub linear: LinearSolver,
    answers: Vec<Interactions>,
    v: Vec<DVec3>,
    lossy: Vec<DVec3>,
    /// f − M a of each particle [N], held ones included.
    unbalanced: Vec<DVec3>,
    impulse: Vec<DVec3>,
    change: Vec<DVec3>,
    lead: Vec<DVec3>,
    start: Vec<DVec3>,
    lossy_before: Vec<DVec3>,
    best: Best,
    /// Masses as the inertia counts them, and their inverses.
    inert: Vec<f64>,
    mobility: Mobility,
}

#[derive(Default)]
struct Best {
    x: Vec<DVec3>,
    kept: Vec<Vec<Stress>>,
    merit: Merit,
}

/// Φ, in parts.
#[derive(Clone, Copy, Default)]
struct Merit {
    /// ½|v − v_b|²_M + E(x) − m g·(x − start).
    potential: f64,
    /// Work done so far against forces without an energy.
    against: f64,
    /// E(x).
    stored: f64,
    /// Largest size of a term: what rounding is measured by.
    scale: f64,
}

impl Merit {
    fn total(&self) -> f64 {
        self.potential + self.against
    }

    /// Whether this is no worse than `other`, up to rounding.
    fn no_worse_than(&self, other: &Merit, allowance: f64) -> bool {
        self.total() <= other.total() + allowance + 1e-12 * (self.scale + other.scale)
    }
}

impl Newton {
    /// Finds the stage's positions from the start `x`, which it overwrites. `kept` is the foreseen stress of
    /// each family of forces.
    pub fn solve(
        &mut self,
        stage: Task,
        x: &mut Vec<DVec3>,
        kept: &mut Vec<Vec<Stress>>,
        probe: &mut Probe,
    ) -> Reached {
        let bodies = stage.bodies;
        kept.resize(bodies.forces.len(), Vec::new());
        self.start.clone_from(x);
        if !stage.goal.inertia.is_empty() {
            self.inert.clear();
            self.inert.extend(bodies.mass.iter().zip(stage.goal.inertia).map(|(m, f)| m * f));
            self.mobility.clone_from(bodies.mobility);
            let inverse = self.mobility.inverse_mass.iter_mut().zip(stage.goal.inertia);
            inverse.for_each(|(w, f)| *w /= f);
        }
        if kept.iter().all(|k| k.is_empty()) {
            self.foresee_present(bodies, x, kept);
        }
        let mut leading = self.lead_to_places(bodies, stage.goal.h, x);
        let mut merit = self.evaluate(&stage, x, kept, probe);
        let (first, led) = (merit, leading);
        let at_start = self.largest_force(bodies);
        self.best.note(x, kept, merit);
        let (mut stall, mut careful, mut converged, mut lost) = (0, false, false, false);
        // Friction about to give way hides behind a small step what a force shows.
        let struck = bodies.struck.is_some_and(|struck| !struck.is_empty());
        let coarse = stage.settings.newton.step.min(0.005 * bodies.edge);
        let finer = (stage.settings.newton.step / USUAL).min(1.0);
        let little = LITTLE * (finer * finer);
        let (mut previous, mut fine) = (f64::INFINITY, if struck { FINEST } else { 1.0 });
        for solve in 0..stage.cap {
            let end = self.change(&stage, leading, fine, probe);
            let size = reduce::max(x.len(), |i| self.change[i].length_squared()).sqrt();
            if matches!(end, End::NotFinite | End::Diverged) || !size.is_finite() {
                lost = true;
                break;
            }
            let before = merit;
            let mut fraction = 1.0;
            self.lossy_before.clone_from(&self.lossy);
            if careful {
                (merit, fraction) = self.careful_step(&stage, x, kept, before, probe);
                self.best.note(x, kept, merit);
                careful = false;
            } else {
                self.foresee(&stage, x, 1.0, kept);
                add(x, 1.0, &self.change);
                merit = self.evaluate(&stage, x, kept, probe);
                merit.against = before.against + self.lost_work(1.0);
                // With the pins still to move, the start was no point to compare with.
                if leading || merit.no_worse_than(&self.best.merit, 0.0) {
                    self.best.note(x, kept, merit);
                    stall = 0;
                } else {
                    stall += 1;
                }
            }
            leading = false;
            // What rests on something is to rest: the slower, the finer.
            let moved = reduce::max(x.len(), |i| (x[i] - self.start[i]).length_squared()).sqrt();
            fine = if struck { (FINE * moved / coarse).clamp(FINEST, 1.0) } else { 1.0 };
            let residual = fine * stage.settings.newton.residual;
            converged = fraction == 1.0
                && size * left_over(size / previous) <= fine * coarse
                && end == End::Converged
                && (!struck || self.residual(bodies) <= residual)
                && (led || merit.no_worse_than(&first, 0.0));
            // Cloth pushed together along itself bends away slowly, for the tangent knows no compression: with contact
            // it is enough that the last step gained little of all that was gained.
            let (gained, all) = (before.total() - merit.total(), first.total() - merit.total());
            let gains_little = gained >= 0.0 && gained <= little * all && solve >= 2;
            converged |= struck && !led && fraction == 1.0 && end == End::Converged && gains_little;
            if converged {
                break;
            }
            previous = if fraction == 1.0 { size } else { f64::INFINITY };
            if stall >= PATIENCE || !merit.total().is_finite() {
                x.clone_from(&self.best.x);
                kept.clone_from(&self.best.kept);
                let against = self.best.merit.against;
                merit = self.evaluate(&stage, x, kept, probe);
                merit.against = against;
                (careful, stall) = (true, 0);
            }
        }
        if struck && !converged && !lost {
            // Good enough to go on from: nothing is let through whatever this is.
            x.clone_from(&self.best.x);
            kept.clone_from(&self.best.kept);
            merit = self.evaluate(&stage, x, kept, probe);
        }
        for place in bodies.places {
            let p = place.particle as usize;
            x[p] = place.settle(x[p]);
        }
        Reached {
            converged,
            lost,
            stored: [first.stored, merit.stored],
            outside_work: self.pin_work(bodies) + self.outside_work(x),
            at_start,
        }
    }

    /// One linear solve: fills `change` [m].
    fn change(&mut self, stage: &Task, leading: bool, fine: f64, probe: &mut Probe) -> End {
        let Task { bodies, settings, goal, .. } = *stage;
        let n = bodies.mass.len();
        self.impulse.clone_from(&self.unbalanced);
        parallel::update(&mut self.impulse, |_, b| *b *= goal.h);
        let mean_mass = reduce::sum(n, |i| bodies.mass[i]) / n as f64;
        let bodies = match goal.inertia.is_empty() {
            true => bodies,
            false => Bodies { mass: &self.inert, mobility: &self.mobility, ..bodies },
        };
        let equation = Equation {
            bodies,
            at: &self.start,
            answers: &self.answers,
            dt: goal.h,
            lead: leading.then_some(&self.lead[..]),
            limit: settings.newton.residual * mean_mass * fine,
        };
        let outcome = self.linear.solve(equation, settings, &mut self.impulse, &mut self.change, probe);
        parallel::update(&mut self.change, |_, c| *c *= goal.h);
        outcome.end
    }

    /// Largest unbalanced force on a particle that can move [N].
    pub fn largest_force(&self, bodies: Bodies) -> f64 {
        let free = free_parts(bodies, &self.unbalanced);
        reduce::max(free.len(), |i| free[i].length_squared()).sqrt()
    }

    /// Books what is left unbalanced.
    pub fn count(&self, bodies: Bodies, probe: &mut Probe) {
        let counters = &mut probe.counters;
        let largest = self.largest_force(bodies);
        counters.residual = counters.residual.max(largest);
        counters.residual_ratio = counters.residual_ratio.max(largest / mean_weight(bodies.mass));
        counters.residual_rms = counters.residual_rms.max(self.residual(bodies));
    }

    /// Root mean square of the unbalanced acceleration [m/s²].
    fn residual(&self, bodies: Bodies) -> f64 {
        let free = free_parts(bodies, &self.unbalanced);
        let mass = bodies.mass;
        let sum = reduce::sum(free.len(), |i| free[i].length_squared() / mass[i]);
        (sum / reduce::sum(mass.len(), |i| mass[i])).sqrt()
    }

    /// Fills `lead` with the velocities that bring held particles to their places; whether any must move.
    fn lead_to_places(&mut self, bodies: Bodies, h: f64, x: &[DVec3]) -> bool {
        self.lead.clear();
        self.lead.resize(x.len(), DVec3::ZERO);
        for place in bodies.places {
            let p = place.particle as usize;
            self.lead[p] = place.away(x[p]) / h;
        }
        self.lead.iter().any(|v| *v != DVec3::ZERO)
    }

    /// Forces and tangents at `x`, and Φ.
    fn evaluate(&mut self, stage: &Task, x: &[DVec3], kept: &[Vec<Stress>], probe: &mut Probe) -> Merit {
        let Task { bodies, goal, .. } = *stage;
        let Bodies { mass, gravity, .. } = bodies;
        let n = mass.len();
        let h = goal.h;
        self.v.resize(n, DVec3::ZERO);
        parallel::fill(&mut self.v, |i| (x[i] - goal.x[i]) / h);
        let mix = Mix { stiffness: h * h, damping: h, lag: 0.0 };
        self.answers.resize_with(bodies.forces.len(), Interactions::default);
        self.unbalanced.resize(n, DVec3::ZERO);
        let v = &self.v;
        let inertia = |i: usize| goal.inertia.get(i).copied().unwrap_or(1.0);
        parallel::fill(&mut self.unbalanced, |i| (gravity - (v[i] - goal.v[i]) * inertia(i) / h) * mass[i]);
        self.lossy.clear();
        self.lossy.resize(n, DVec3::ZERO);
        let mut stored = 0.0;
        for (((force, memory), answer), kept) in bodies.families().zip(&mut self.answers).zip(kept) {
            force.respond(Moment { x, v: &self.v, memory }, mix, kept, answer);
            force.coupling().scatter(&answer.force, &mut self.unbalanced);
            if force.is_lossy() {
                force.coupling().scatter(&answer.lossy, &mut self.lossy);
            }
            stored += answer.energy;
        }
        let (v, start) = (&self.v, &self.start);
        let inertia = reduce::sum(n, |i| 0.5 * mass[i] * inertia(i) * (v[i] - goal.v[i]).length_squared());
        let weight = reduce::sum(n, |i| mass[i] * gravity.dot(x[i] - start[i]));
        probe.lap(Stage::Forces);
        Merit {
            potential: inertia + stored - weight,
            against: 0.0,
            stored,
            scale: inertia.abs() + stored.abs() + weight.abs(),
        }
    }

    /// Halves the step until Φ falls enough (Armijo); returns the new Φ and the fraction taken.
    fn careful_step(
        &mut self,
        stage: &Task,
        x: &mut [DVec3],
        kept: &mut [Vec<Stress>],
        before: Merit,
        probe: &mut Probe,
    ) -> (Merit, f64) {
        let slope = -reduce::dot(&self.unbalanced, &self.change);
        let from = x.to_vec();
        let mut fraction = 1.0;
        let merit = loop {
            parallel::fill(x, |i| from[i] + fraction * self.change[i]);
            let mut merit = self.evaluate(stage, x, kept, probe);
            merit.against = before.against + self.lost_work(fraction);
            if merit.no_worse_than(&before, 1e-4 * fraction * slope) || fraction < 1e-6 {
                break merit;
            }
            fraction *= 0.5;
            probe.counters.shortened += 1;
        };
        let goal = stage.goal;
        parallel::fill(&mut self.v, |i| (from[i] - goal.x[i]) / goal.h);
        self.foresee(stage, &from, fraction, kept);
        let against = merit.against;
        let merit = self.evaluate(stage, x, kept, probe);
        (Merit { against, ..merit }, fraction)
    }

    /// Moves the kept stress towards that after `change`, seen from `x` where the velocities are `self.v`.
    fn foresee(&self, stage: &Task, x: &[DVec3], part: f64, kept: &mut [Vec<Stress>]) {
        for ((force, memory), kept) in stage.bodies.families().zip(kept) {
            let at = Moment { x, v: &self.v, memory };
            force.foresee(at, &self.change, 1.0 / stage.goal.h, part, kept);
        }
    }

    /// Starts the kept stress from what the elements have now.
    fn foresee_present(&mut self, bodies: Bodies, x: &[DVec3], kept: &mut [Vec<Stress>]) {
        let still = vec![DVec3::ZERO; x.len()];
        for ((force, memory), kept) in bodies.families().zip(kept) {
            force.foresee(Moment { x, v: &still, memory }, &still, 0.0, 1.0, kept);
        }
    }

    /// Work done against forces without an energy over the last change: the mean of both ends times the way.
    fn lost_work(&self, fraction: f64) -> f64 {
        if self.lossy.iter().all(|f| *f == DVec3::ZERO) {
            return 0.0;
        }
        let (a, b, change) = (&self.lossy_before, &self.lossy, &self.change);
        -0.5 * fraction * reduce::sum(a.len(), |i| (a[i] + b[i]).dot(change[i]))
    }

    /// Work that air put in over the step: its force at the end times the way. What viscosity takes does not
    /// count: it is no excuse for energy from nowhere.
    fn outside_work(&self, x: &[DVec3]) -> f64 {
        let (lossy, start) = (&self.lossy, &self.start);
        reduce::sum(x.len(), |i| lossy[i].dot(x[i] - start[i])).max(0.0)
    }

    /// Work that pins do on the cloth over the step: their reaction at its end times their way.
    fn pin_work(&self, bodies: Bodies) -> f64 {
        bodies.places.iter().fold(0.0, |sum, place| {
            let p = place.particle as usize;
            sum - (place.blocked * self.unbalanced[p]).dot(place.away(self.start[p]))
        })
    }
}

impl Best {
    fn note(&mut self, x: &[DVec3], kept: &[Vec<Stress>], merit: Merit) {
        self.x.clear();
        self.x.extend_from_slice(x);
        self.kept.resize(kept.len(), Vec::new());
        self.kept.clone_from_slice(kept);
        self.merit = merit;
    }
}

/// What is left to go after a step, in parts of it, when steps shrink by `rate`: their sum is geometric. Two steps
/// tell the rate roughly, so never less than a fifth; the first step tells nothing.
fn left_over(rate: f64) -> f64 {
    if rate > 0.0 && rate < 0.5 { (rate / (1.0 - rate)).max(0.2) } else { 1.0 }
}

fn free_parts(bodies: Bodies, f: &[DVec3]) -> Vec<DVec3> {
    let mut free = f.to_vec();
    bodies.mobility.project(&mut free);
    free
}

fn add(x: &mut [DVec3], factor: f64, change: &[DVec3]) {
    parallel::update(x, |i, x| *x += factor * change[i]);
}
