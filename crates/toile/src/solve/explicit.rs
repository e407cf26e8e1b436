//! Explicit steps: B14's four readings of its integrator (B14-8), the midpoint rule (V97-10) and Runge–Kutta's classical
//! method (V97-7), with an error estimate by step doubling and steps that follow it (V97-9).
//!
//! They solve nothing, so they have a longest step: see [`super::stability`]. Held particles are settled in their
//! places at every stage and move with the mean velocity of their pin, so what is of fourth order stays so beside
//! a moving pin.

use super::bodies::{Bodies, Course};
use super::correct::{self, Leap};
use super::integrate::Span;
use super::settings::Integrator;
use crate::interaction::{Interactions, Moment};
use crate::math::{DVec3, parallel, reduce};
use crate::probe::{Probe, Stage};
use crate::state::State;

/// Halvings of a substep before one that errs too much is given up.
const FINEST: u32 = 20;

/// Room left under the error limit when a step is enlarged.
const SAFETY: f64 = 2.0;

/// Positions and velocities on the way.
#[derive(Clone, Default)]
struct Point {
    x: Vec<DVec3>,
    v: Vec<DVec3>,
}

/// The part of a substep that one step covers.
#[derive(Clone, Copy)]
struct Leg {
    /// How it is stepped.
    scheme: Integrator,
    /// Start [s].
    time: f64,
    /// Length [s].
    h: f64,
}

/// The explicit integrators, with the storage they use from step to step.
#[derive(Default)]
pub struct Explicit {
    answer: Interactions,
    /// Forces over masses, gravity apart, as last asked for [m/s²].
    pull: Vec<DVec3>,
    /// Accelerations at the start of a step and at its later stages [m/s²].
    start: Vec<DVec3>,
    stages: [Vec<DVec3>; 3],
    stage: Point,
    /// Error estimate of the last step: positions [m] and velocities [m/s].
    error: Point,
}

impl Integrator {
    /// Whether it takes forces as stiff as those of contact. The others are corrected after each step instead.
    pub fn feels_stiffness(self) -> bool {
        use Integrator::*;
        matches!(self, Bdf2 | TrBdf2 | ImplicitEuler | LinearEuler | LambdaMidpoint | QuasiStatic)
    }

    /// Whether steps solve nothing and have a longest stable length.
    pub fn is_explicit(self) -> bool {
        self.explicit_order().is_some()
    }

    /// Order of an explicit scheme. `literal` solves another equation to first order: as printed, forces count half
    /// (E24).
    pub fn explicit_order(self) -> Option<i32> {
        match self {
            Integrator::Symplectic | Integrator::Literal => Some(1),
            Integrator::Verlet | Integrator::Heun | Integrator::Midpoint => Some(2),
            Integrator::Rk4 => Some(4),
            _ => None,
        }
    }
}

impl Explicit {
    /// Computes `next`, a copy of `now`, one substep later; false if no step was short enough for the error limit.
    pub fn advance(
        &mut self,
        course: &mut dyn Course,
        span: Span,
        now: &State,
        next: &mut State,
        probe: &mut Probe,
    ) -> bool {
        let settings = span.settings;
        let mut point = Point { x: std::mem::take(&mut next.x), v: std::mem::take(&mut next.v) };
        let fresh = now.past.a.len() == point.x.len() && now.past.restart.is_empty();
        self.pull.clear();
        if fresh && settings.integrator == Integrator::Verlet {
            self.pull.extend_from_slice(&now.past.a);
        }
        let adaptive = settings.error_limit.is_finite();
        let mut level = if adaptive { level_of(span.dt, now.past.dt) } else { 0 };
        // Time passed, in steps of the present level.
        let mut passed: u64 = 0;
        let mut sound = true;
        while passed < 1 << level {
            let h = span.dt / (1u64 << level) as f64;
            let leg = Leg { scheme: settings.integrator, time: span.time + passed as f64 * h, h };
            let before = point.clone();
            let error = match adaptive || settings.corrections.kinematic {
                true => self.doubled(course, leg, &mut point, probe),
                false => {
                    self.lone(course, leg, &mut point, probe);
                    0.0
                }
            };
            if adaptive && error > settings.error_limit {
                point = before;
                self.pull.clear();
                probe.counters.rejected += 1;
                if level == FINEST {
                    sound = false;
                    break;
                }
                (level, passed) = (level + 1, 2 * passed);
                continue;
            }
            probe.counters.step_error = probe.counters.step_error.max(error);
            passed += 1;
            self.correct(course, span, h, &before, &mut point, probe);
            let growth = libm::ldexp(SAFETY, settings.integrator.explicit_order().unwrap_or(1) + 1);
            if adaptive && growth * error < settings.error_limit && level > 0 && passed.is_multiple_of(2) {
                (level, passed) = (level - 1, passed / 2);
            }
        }
        (next.x, next.v) = (point.x, point.v);
        next.past.restart.clear();
        next.past.dt = span.dt / (1u64 << level) as f64;
        next.past.a.clone_from(&self.pull);
        probe.lap(Stage::Forces);
        sound
    }

    /// What is done to a step before it is accepted; forces known at its end are forgotten if it moved anything.
    fn correct(
        &mut self,
        course: &mut dyn Course,
        span: Span,
        h: f64,
        before: &Point,
        point: &mut Point,
        probe: &mut Probe,
    ) {
        let estimated = self.error.x.len() == point.x.len();
        let leap = Leap {
            from: &before.x,
            dt: h,
            error: estimated.then_some((&self.error.x[..], &self.error.v[..])),
            x: &mut point.x,
            v: &mut point.v,
        };
        let touched = correct::apply(&span.settings.corrections, course.bodies(), leap);
        if !touched.is_empty() {
            self.pull.clear();
        }
        probe.counters.corrected += touched.len() as u64;
    }

    /// One step, then the same in two halves, which are kept: returns the error of the one, the larger of position
    /// and h × velocity [m] (V97-7).
    fn doubled(&mut self, course: &mut dyn Course, leg: Leg, point: &mut Point, probe: &mut Probe) -> f64 {
        let mut whole = point.clone();
        self.begin(course, leg, &mut whole, probe);
        let start = self.start.clone();
        self.leap(course, leg, &mut whole, probe);
        let half = Leg { h: 0.5 * leg.h, ..leg };
        lead(course, half, point);
        self.start = start;
        self.leap(course, half, point, probe);
        self.lone(course, Leg { time: leg.time + half.h, ..half }, point, probe);
        let n = point.x.len();
        self.error.x.resize(n, DVec3::ZERO);
        self.error.v.resize(n, DVec3::ZERO);
        parallel::fill(&mut self.error.x, |i| point.x[i] - whole.x[i]);
        parallel::fill(&mut self.error.v, |i| point.v[i] - whole.v[i]);
        let Point { x, v } = &self.error;
        // The larger as written would lose a value that is not a number.
        let both = |i: usize| x[i].length_squared() + leg.h * leg.h * v[i].length_squared();
        let lost = (0..n).any(|i| !both(i).is_finite());
        if lost { f64::INFINITY } else { reduce::max(n, both).sqrt() }
    }

    /// One step as it is.
    fn lone(&mut self, course: &mut dyn Course, leg: Leg, point: &mut Point, probe: &mut Probe) {
        self.begin(course, leg, point, probe);
        self.leap(course, leg, point, probe);
    }

    /// Leads held particles and fills the accelerations at the start, from the forces of the last step if known.
    fn begin(&mut self, course: &mut dyn Course, leg: Leg, point: &mut Point, probe: &mut Probe) {
        lead(course, leg, point);
        if self.pull.len() != point.x.len() {
            // A negative length looks ahead: what holds during this step holds at its start.
            self.ask(course, leg.time, -leg.h, point, probe);
        }
        free(course.bodies(), &self.pull, &mut self.start);
    }

    /// Forces over masses at an instant; settles the held particles of `point` there.
    fn ask(&mut self, course: &mut dyn Course, time: f64, dt: f64, point: &mut Point, probe: &mut Probe) {
        course.go_to(time, dt);
        let bodies = course.bodies();
        settle(bodies, &mut point.x);
        self.pull.clear();
        self.pull.resize(point.x.len(), DVec3::ZERO);
        for (force, memory) in bodies.families() {
            force.push(Moment { x: &point.x, v: &point.v, memory }, &mut self.answer);
            force.coupling().scatter(&self.answer.force, &mut self.pull);
        }
        let inverse = &bodies.mobility.inverse_mass;
        parallel::update(&mut self.pull, |i, f| *f *= inverse[i]);
        probe.counters.evaluations += 1;
    }

    /// Accelerations of stage `k` at x + `a`·h·(velocity of the stage before), in `stages[k]`; leaves the stage's
    /// own velocity in `stage.v`.
    fn further(
        &mut self,
        course: &mut dyn Course,
        leg: Leg,
        (k, part): (usize, f64),
        from: &Point,
        probe: &mut Probe,
    ) {
        let n = from.x.len();
        let h = part * leg.h;
        let before = if k == 0 { &self.start } else { &self.stages[k - 1] };
        let mut at = std::mem::take(&mut self.stage);
        if k == 0 {
            at.v.clone_from(&from.v);
        }
        at.x.resize(n, DVec3::ZERO);
        let v = &at.v;
        parallel::fill(&mut at.x, |i| from.x[i] + h * v[i]);
        parallel::fill(&mut at.v, |i| from.v[i] + h * before[i]);
        self.ask(course, leg.time + h, h, &mut at, probe);
        self.stage = at;
        free(course.bodies(), &self.pull, &mut self.stages[k]);
    }

    /// One step from a led point with known accelerations at its start.
    fn leap(&mut self, course: &mut dyn Course, leg: Leg, point: &mut Point, probe: &mut Probe) {
        let h = leg.h;
        match leg.scheme {
            // B14 eq. 9 as printed, with half the force, and without (E24); both then drift by eq. 10.
            Integrator::Literal => self.kick_and_drift(0.5 * h, h, point),
            Integrator::Symplectic => self.kick_and_drift(h, h, point),
            // The same half kick read as the first half of velocity Verlet; the second was left out in print.
            Integrator::Verlet => {
                self.kick_and_drift(0.5 * h, h, point);
                // Drag sees the velocity foreseen for the end, which is right to first order: enough for second.
                let mut at = point.clone();
                let start = &self.start;
                parallel::update(&mut at.v, |i, v| *v += 0.5 * h * start[i]);
                self.ask(course, leg.time + h, h, &mut at, probe);
                point.x.clone_from(&at.x);
                let Explicit { stages: [end, ..], pull, .. } = self;
                free(course.bodies(), pull, end);
                parallel::update(&mut point.v, |i, v| *v += 0.5 * h * end[i]);
                return;
            }
            // The textbook's modified Euler: trapezoid with a predicted end.
            Integrator::Heun => {
                self.further(course, leg, (0, 1.0), point, probe);
                let (start, end, after) = (&self.start, &self.stages[0], &self.stage.v);
                parallel::update(&mut point.x, |i, x| *x += 0.5 * h * (point.v[i] + after[i]));
                parallel::update(&mut point.v, |i, v| *v += 0.5 * h * (start[i] + end[i]));
            }
            Integrator::Midpoint => {
                self.further(course, leg, (0, 0.5), point, probe);
                let (middle, velocity) = (&self.stages[0], &self.stage.v);
                parallel::update(&mut point.x, |i, x| *x += h * velocity[i]);
                parallel::update(&mut point.v, |i, v| *v += h * middle[i]);
            }
            _ => self.runge_kutta(course, leg, point, probe),
        }
        self.pull.clear();
        course.go_to(leg.time + h, h);
        settle(course.bodies(), &mut point.x);
    }

    /// v⁺ = v + `kick`·a, x⁺ = x + `drift`·v⁺.
    fn kick_and_drift(&self, kick: f64, drift: f64, point: &mut Point) {
        let a = &self.start;
        parallel::update(&mut point.v, |i, v| *v += kick * a[i]);
        let v = &point.v;
        parallel::update(&mut point.x, |i, x| *x += drift * v[i]);
    }

    /// The classical method of fourth order on (x, v) (V97-7).
    fn runge_kutta(&mut self, course: &mut dyn Course, leg: Leg, point: &mut Point, probe: &mut Probe) {
        let h = leg.h;
        let mut way = point.v.clone();
        for (k, part, weight) in [(0, 0.5, 2.0), (1, 0.5, 2.0), (2, 1.0, 1.0)] {
            self.further(course, leg, (k, part), point, probe);
            let v = &self.stage.v;
            parallel::update(&mut way, |i, sum| *sum += weight * v[i]);
        }
        let (a, [b, c, d]) = (&self.start, &self.stages);
        parallel::update(&mut point.x, |i, x| *x += h / 6.0 * way[i]);
        parallel::update(&mut point.v, |i, v| *v += h / 6.0 * (a[i] + 2.0 * (b[i] + c[i]) + d[i]));
    }
}

/// The level whose steps are as long as those that were taken last.
fn level_of(dt: f64, last: f64) -> u32 {
    let mut level = 0;
    while level < FINEST && last > 0.0 && dt / (1u64 << level) as f64 > last * (1.0 + 1e-9) {
        level += 1;
    }
    level
}

/// Gives held particles the velocity that brings them to their places at the end of the leg.
fn lead(course: &mut dyn Course, leg: Leg, point: &mut Point) {
    course.go_to(leg.time + leg.h, leg.h);
    let bodies = course.bodies();
    bodies.mobility.project(&mut point.v);
    for place in bodies.places {
        let p = place.particle as usize;
        point.v[p] += place.away(point.x[p]) / leg.h;
    }
}

/// Puts held particles in their places.
fn settle(bodies: Bodies, x: &mut [DVec3]) {
    for place in bodies.places {
        let p = place.particle as usize;
        x[p] = place.settle(x[p]);
    }
}

/// Accelerations under `pull` and gravity, along the directions in which particles can move.
fn free(bodies: Bodies, pull: &[DVec3], out: &mut Vec<DVec3>) {
    out.resize(pull.len(), DVec3::ZERO);
    parallel::fill(out, |i| bodies.gravity + pull[i]);
    bodies.mobility.project(out);
}
