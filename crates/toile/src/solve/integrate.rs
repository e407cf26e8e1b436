//! Schemes: how a substep is made of implicit stages, and what is done when one fails.

use super::bodies::{Bodies, Course};
use super::correct::{self, Leap};
use super::explicit::Explicit;
use super::inverse::InverseStep;
use super::jacobi::JacobiStep;
use super::linear::STANDARD_GRAVITY;
use super::newton::{Goal, Newton, Reached, Task};
use super::one_step::OneStep;
use super::rosenbrock::RosenbrockStep;
use super::settings::{Integrator, SolverSettings};
use crate::math::{DVec3, parallel, reduce};
use crate::probe::{Probe, Stage};
use crate::state::{Past, State};

/// Energy a step may gain out of nothing, as a part of m g L or of the kinetic energy, before it is redone.
const FREE_ENERGY: f64 = 0.02;

/// Solves allowed in each half of a step that is redone.
const CAREFUL_SOLVES: usize = 100;

/// Solves allowed in a stage in which particles are struck.
const STRUCK_SOLVES: usize = 20;

/// A substep of any scheme, with the storage it uses from step to step.
#[derive(Default)]
pub struct Stepper {
    newton: Newton,
    one_step: OneStep,
    jacobi: JacobiStep,
    inverse: InverseStep,
    rosenbrock: RosenbrockStep,
    explicit: Explicit,
    base: (Vec<DVec3>, Vec<DVec3>),
    /// Inertia of each particle in the coming stage, if some are struck.
    inertia: Vec<f64>,
    owed: Vec<DVec3>,
    ledger: Ledger,
}

/// What the forces of the last stage met: m a = f at the positions found, but for what is left unbalanced.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Velocities that forces were asked at [m/s].
    pub v: Vec<DVec3>,
    /// Accelerations that they gave [m/s²].
    pub a: Vec<DVec3>,
}

/// The frame of a substep.
#[derive(Clone, Copy)]
pub struct Span<'a> {
    /// How to step.
    pub settings: &'a SolverSettings,
    /// Start [s].
    pub time: f64,
    /// Length [s].
    pub dt: f64,
    /// Solves allowed in each stage.
    pub solves: usize,
}

impl Stepper {
    /// What particles must be given back after the last step for its forces to have kept momentum [N·s]; empty if
    /// nothing.
    pub fn owed(&self) -> &[DVec3] {
        &self.owed
    }

    /// What the forces of the last step met. Explicit schemes and those that linearise once have the mean acceleration
    /// of the step instead.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Computes `next` one substep after `now`. False if the numbers were lost; `next` is worthless then.
    pub fn advance(
        &mut self,
        course: &mut dyn Course,
        span: Span,
        now: &State,
        next: &mut State,
        probe: &mut Probe,
    ) -> bool {
        next.copy_from(now);
        self.owed.clear();
        let sound = match span.settings.integrator {
            Integrator::LinearEuler | Integrator::LambdaMidpoint => {
                self.one_step.advance(course, span, now, next, probe)
            }
            Integrator::QuasiStatic => self.drape(course, span, next, probe),
            Integrator::K02 => self.jacobi.advance(course, span, now, next, probe),
            Integrator::Precomputed => self.inverse.advance(course, span, now, next, probe),
            Integrator::Rosenbrock | Integrator::Hybrid => {
                self.rosenbrock.advance(course, span, now, next, probe)
            }
            Integrator::ImplicitEuler | Integrator::Bdf2 | Integrator::TrBdf2 => {
                self.nonlinear(course, span, now, next, probe)
            }
            Integrator::Verlet
            | Integrator::Heun
            | Integrator::Symplectic
            | Integrator::Literal
            | Integrator::Midpoint
            | Integrator::Rk4 => {
                let sound = self.explicit.advance(course, span, now, next, probe);
                self.ledger.of_step(span, now, next);
                return sound;
            }
        };
        if !matches!(
            span.settings.integrator,
            Integrator::ImplicitEuler | Integrator::Bdf2 | Integrator::TrBdf2
        ) {
            self.ledger.of_step(span, now, next);
        }
        if sound && !span.settings.corrections.are_none() {
            self.correct(course.bodies(), span, now, next, probe);
        }
        sound
    }

    /// What is done to an implicit step before it is accepted; particles it moved have no past.
    fn correct(&mut self, bodies: Bodies, span: Span, now: &State, next: &mut State, probe: &mut Probe) {
        let State { x, v, past, .. } = next;
        let leap = Leap { from: &now.x, dt: span.dt, error: None, x, v };
        past.restart = correct::apply(&span.settings.corrections, bodies, leap);
        probe.counters.corrected += past.restart.len() as u64;
        probe.lap(Stage::Update);
    }

    fn nonlinear(
        &mut self,
        course: &mut dyn Course,
        span: Span,
        now: &State,
        next: &mut State,
        probe: &mut Probe,
    ) -> bool {
        let mut span = span;
        let struck = course.bodies().struck.map(|struck| union(struck, &now.past.restart));
        let hit = struck.as_ref().is_some_and(|struck| !struck.is_empty());
        if hit {
            span.solves = span.solves.min(STRUCK_SOLVES);
        }
        let reached = match span.settings.integrator {
            // Only a step that looks back at positions can take single particles by Euler's method.
            Integrator::Bdf2 if hit && now.past.connects(span.dt) => {
                self.struck(course, span, now, next, &struck.unwrap_or_default(), probe)
            }
            Integrator::Bdf2 | Integrator::TrBdf2 if hit => self.euler(course, span, next, probe),
            Integrator::Bdf2 if now.past.continues(span.dt) => {
                self.backward_differences(course, span, now, next, probe)
            }
            Integrator::Bdf2 => self.diagonal(course, span, now, next, probe),
            Integrator::TrBdf2 => self.trapezoid(course, span, now, next, probe),
            _ => self.euler(course, span, next, probe),
        };
        let bodies = course.bodies();
        // Where contacts come and go, more solves hardly help: the best state found is taken, and counted.
        let content = reached.converged || hit && !reached.lost;
        probe.counters.unconverged += u64::from(content && !reached.converged);
        if !(content && self.keeps_energy(bodies, now, next, &reached)) {
            probe.counters.guarded += 1;
            if !self.redo(course, span, now, next, probe) {
                return false;
            }
        }
        self.newton.count(course.bodies(), probe);
        let past = &mut next.past;
        past.dt = span.dt;
        past.restart.clear();
        if span.settings.integrator == Integrator::Bdf2 {
            past.x.clone_from(&now.x);
            past.v.clone_from(&now.v);
        }
        probe.lap(Stage::Update);
        true
    }

    /// BDF2: 3x⁺ − 4x + x⁻ = 2h v⁺, the same for v.
    fn backward_differences(
        &mut self,
        course: &mut dyn Course,
        span: Span,
        now: &State,
        next: &mut State,
        probe: &mut Probe,
    ) -> Reached {
        let (third, past) = (1.0 / 3.0, &now.past);
        fill(&mut self.base.0, now.x.len(), |i| now.x[i] + third * (now.x[i] - past.x[i]));
        fill(&mut self.base.1, now.x.len(), |i| now.v[i] + third * (now.v[i] - past.v[i]));
        let (end, h) = (span.time + span.dt, 2.0 * third * span.dt);
        self.stage(course, span, end, h, next, probe)
    }

    /// BDF2 with implicit Euler for the particles that are struck. A blow is over in a step: looking back across it,
    /// BDF2 would bounce off with up to half the speed. Both are x = x_b + h v, v = v_b + h a with h = 2/3 dt, the
    /// inertia of Euler's particles counting (2/3)².
    fn struck(
        &mut self,
        course: &mut dyn Course,
        span: Span,
        now: &State,
        next: &mut State,
        struck: &[u32],
        probe: &mut Probe,
    ) -> Reached {
        let (third, past) = (1.0 / 3.0, &now.past);
        fill(&mut self.base.0, now.x.len(), |i| now.x[i] + third * (now.x[i] - past.x[i]));
        fill(&mut self.base.1, now.x.len(), |i| now.v[i] + third * (now.v[i] - past.v[i]));
        self.inertia.clear();
        self.inertia.resize(now.x.len(), 1.0);
        for p in struck.iter().map(|p| *p as usize) {
            self.base.0[p] = now.x[p] + third * span.dt * now.v[p];
            self.base.1[p] = now.v[p];
            self.inertia[p] = 4.0 / 9.0;
        }
        let (end, h) = (span.time + span.dt, 2.0 * third * span.dt);
        let reached = self.stage(course, span, end, h, next, probe);
        self.inertia.clear();
        for p in struck.iter().map(|p| *p as usize) {
            next.v[p] = (next.x[p] - now.x[p]) / span.dt;
        }
        // In a step from t to t + dt a force counts dt in Euler's scheme; BDF2 has momentum m (3v⁺ − 4v + v⁻)/2 for it, which
        // is m ((v⁺ − v) + (v⁺ − 2v + v⁻)/2).
        let mass = course.bodies().mass;
        let v = &next.v;
        fill(&mut self.owed, v.len(), |i| (v[i] - 2.0 * now.v[i] + past.v[i]) * (0.5 * mass[i]));
        struck.iter().for_each(|p| self.owed[*p as usize] = DVec3::ZERO);
        reached
    }

    /// SDIRK2, to start BDF2: two stages of γh, γ = 1 − √½.
    fn diagonal(
        &mut self,
        course: &mut dyn Course,
        span: Span,
        now: &State,
        next: &mut State,
        probe: &mut Probe,
    ) -> Reached {
        let n = now.x.len();
        let gamma = 1.0 - std::f64::consts::FRAC_1_SQRT_2;
        let (h, rest) = (gamma * span.dt, (1.0 - gamma) * span.dt);
        fill(&mut self.base.0, n, |i| now.x[i]);
        fill(&mut self.base.1, n, |i| now.v[i]);
        let first = self.stage(course, span, span.time + h, h, next, probe);
        let middle = &next.v;
        fill(&mut self.base.0, n, |i| now.x[i] + rest * middle[i]);
        fill(&mut self.base.1, n, |i| now.v[i] + rest * ((middle[i] - now.v[i]) / h));
        let second = self.stage(course, span, span.time + span.dt, h, next, probe);
        both(first, second)
    }

    /// TR-BDF2: trapezoid over γh, then backward differences, γ = 2 − √2; both stages have h γ/2. The
    /// acceleration comes from the last stage, never from the forces, except at the start.
    fn trapezoid(
        &mut self,
        course: &mut dyn Course,
        span: Span,
        now: &State,
        next: &mut State,
        probe: &mut Probe,
    ) -> Reached {
        let n = now.x.len();
        let gamma = 2.0 - std::f64::consts::SQRT_2;
        let h = 0.5 * gamma * span.dt;
        if now.past.a.len() != n || !now.past.restart.is_empty() {
            course.go_to(span.time, span.dt);
            next.past.a = self.one_step.accelerations(course.bodies(), now);
        }
        let a = next.past.a.clone();
        fill(&mut self.base.0, n, |i| now.x[i] + h * now.v[i]);
        fill(&mut self.base.1, n, |i| now.v[i] + h * a[i]);
        let first = self.stage(course, span, span.time + gamma * span.dt, h, next, probe);
        let new = 1.0 / (gamma * (2.0 - gamma));
        let old = (1.0 - gamma) * (1.0 - gamma) * new;
        let (x, v) = (&next.x, &next.v);
        fill(&mut self.base.0, n, |i| new * x[i] - old * now.x[i]);
        fill(&mut self.base.1, n, |i| new * v[i] - old * now.v[i]);
        let second = self.stage(course, span, span.time + span.dt, h, next, probe);
        let (v, base) = (&next.v, &self.base.1);
        parallel::fill(&mut next.past.a, |i| (v[i] - base[i]) / h);
        both(first, second)
    }

    fn euler(&mut self, course: &mut dyn Course, span: Span, next: &mut State, probe: &mut Probe) -> Reached {
        self.base.0.clone_from(&next.x);
        self.base.1.clone_from(&next.v);
        self.stage(course, span, span.time + span.dt, span.dt, next, probe)
    }

    /// One stage that ends at `end`, from the positions of `next`, which it overwrites.
    fn stage(
        &mut self,
        course: &mut dyn Course,
        span: Span,
        end: f64,
        h: f64,
        next: &mut State,
        probe: &mut Probe,
    ) -> Reached {
        course.go_to(end, span.dt);
        probe.lap(Stage::Drive);
        let goal = Goal { x: &self.base.0, v: &self.base.1, h, inertia: &self.inertia };
        let State { x, v, stress, .. } = next;
        let task = Task { bodies: course.bodies(), settings: span.settings, goal, cap: span.solves };
        let reached = self.newton.solve(task, x, stress, probe);
        let base = &self.base;
        parallel::fill(v, |i| (x[i] - base.0[i]) / h);
        let weight = |i: usize| self.inertia.get(i).copied().unwrap_or(1.0);
        let Ledger { v: rates, a } = &mut self.ledger;
        rates.clone_from(v);
        fill(a, v.len(), |i| (v[i] - base.1[i]) * (weight(i) / h));
        probe.counters.stages += 1;
        reached
    }

    /// The step as two halves of implicit Euler with many solves: slow and sure.
    fn redo(
        &mut self,
        course: &mut dyn Course,
        span: Span,
        now: &State,
        next: &mut State,
        probe: &mut Probe,
    ) -> bool {
        next.copy_from(now);
        self.inertia.clear();
        self.owed.clear();
        let half = 0.5 * span.dt;
        for k in 0..2 {
            let span =
                Span { time: span.time + f64::from(k) * half, dt: half, solves: CAREFUL_SOLVES, ..span };
            let before = next.v.clone();
            let reached = self.euler(course, span, next, probe);
            if reached.lost {
                return false;
            }
            probe.counters.unconverged += u64::from(!reached.converged);
            let v = &next.v;
            fill(&mut next.past.a, before.len(), |i| (v[i] - before[i]) / half);
        }
        true
    }

    /// Whether the step gained no energy but what viscosity, air and pins put in.
    fn keeps_energy(&self, bodies: Bodies, now: &State, next: &State, reached: &Reached) -> bool {
        let Bodies { mass, gravity, size, .. } = bodies;
        let n = mass.len();
        let kinetic = |v: &[DVec3]| reduce::sum(n, |i| 0.5 * mass[i] * v[i].length_squared());
        let (before, after) = (kinetic(&now.v), kinetic(&next.v));
        let fallen = reduce::sum(n, |i| mass[i] * gravity.dot(next.x[i] - now.x[i]));
        let gain = after - before + reached.stored[1] - reached.stored[0] - fallen - reached.outside_work;
        let scale = (STANDARD_GRAVITY * size * reduce::sum(n, |i| mass[i])).max(before);
        gain <= FREE_ENERGY * scale
    }

    /// Towards equilibrium, without motion (V00-14): each step is one of implicit Euler from rest, which h keeps
    /// from going too far (V00 eq. 12). V00 takes one linear solve for it; here it is converged, because on stiff
    /// cloth the energy of a single linear step rises however short it is. h starts where cloth falls a
    /// tenth of its size, grows while steps converge, up to what was asked for, and is cut when one does not.
    fn drape(&mut self, course: &mut dyn Course, span: Span, next: &mut State, probe: &mut Probe) -> bool {
        course.go_to(span.time + span.dt, span.dt);
        probe.lap(Stage::Drive);
        let settings = span.settings.drape;
        let fall = (course.bodies().size / STANDARD_GRAVITY).sqrt();
        let mut h = settings.step.min(0.3 * fall);
        let before = probe.counters.solves;
        let solves = |probe: &Probe| (probe.counters.solves - before) as usize;
        self.base.1.clear();
        self.base.1.resize(next.x.len(), DVec3::ZERO);
        let mut content = false;
        while !content && solves(probe) < settings.max_solves && h > 1e-9 * fall {
            let kept = next.stress.clone();
            self.base.0.clone_from(&next.x);
            let goal = Goal { x: &self.base.0, v: &self.base.1, h, inertia: &[] };
            let bodies = course.bodies();
            let solver = self.draping(bodies, span.settings);
            let cap = solver.newton.max_solves.min(settings.max_solves - solves(probe));
            let task = Task { bodies, settings: &solver, goal, cap };
            let reached = self.newton.solve(task, &mut next.x, &mut next.stress, probe);
            probe.counters.stages += 1;
            if reached.converged {
                h = settings.step.min(2.0 * h);
            } else {
                next.x.clone_from(&self.base.0);
                next.stress = kept;
                h *= 0.25;
            }
            content = self.one_step.largest_force(bodies, &next.x) <= settings.residual;
        }
        next.v.fill(DVec3::ZERO);
        next.past = Past::default();
        probe.counters.unconverged += u64::from(!content);
        self.newton.count(course.bodies(), probe);
        probe.lap(Stage::Update);
        true
    }

    /// Settings of the steps of draping: linear solves fine enough for the force to be left in the end.
    fn draping(&self, bodies: Bodies, settings: &SolverSettings) -> SolverSettings {
        let mean_mass = reduce::sum(bodies.mass.len(), |i| bodies.mass[i]) / bodies.mass.len() as f64;
        let mut own = SolverSettings { tolerance: 0.0, ..*settings };
        own.newton.residual = own.newton.residual.min(0.3 * settings.drape.residual / mean_mass);
        own
    }
}

impl Ledger {
    /// The mean acceleration of a step; none where cloth is draped without motion.
    fn of_step(&mut self, span: Span, now: &State, next: &State) {
        self.v.clone_from(&next.v);
        let draped = span.settings.integrator == Integrator::QuasiStatic;
        let rate = if draped { 0.0 } else { 1.0 / span.dt };
        fill(&mut self.a, next.v.len(), |i| (next.v[i] - now.v[i]) * rate);
    }
}

fn fill(out: &mut Vec<DVec3>, len: usize, value: impl Fn(usize) -> DVec3 + Sync) {
    out.resize(len, DVec3::ZERO);
    parallel::fill(out, value);
}

/// All of two ascending lists, ascending.
fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    all
}

fn both(first: Reached, second: Reached) -> Reached {
    Reached {
        converged: first.converged && second.converged,
        lost: first.lost || second.lost,
        stored: [first.stored[0], second.stored[1]],
        outside_work: first.outside_work + second.outside_work,
        at_start: first.at_start,
    }
}
