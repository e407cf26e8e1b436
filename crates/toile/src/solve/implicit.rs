//! Implicit Euler with one linearisation per substep (V00-2).
//!
//! (M + h² V + h W) Δv = h (f − h V v), then v⁺ = v + Δv and x⁺ = x + h v⁺. One linearisation is what the
//! papers do; on stiff cloth with large steps it falls too slowly, because turning an element also seems to
//! stretch it. Small substeps are the remedy here.

use super::forms::{Form, System};
use super::krylov::{self, End, Method, Outcome, Stop};
use super::multifrontal::{Factor, Symbolic};
use super::operator::{BlockOperator, BlockSparse, MatrixFree, OperatorKind, Pattern};
use super::precondition::{Preconditioner, PreconditionerKind};
use crate::freedom::Mobility;
use crate::interaction::{ForceModel, Interactions, Mix, Moment};
use crate::math::{DMat3, DVec3, parallel, reduce};
use crate::probe::{Probe, Stage};
use crate::state::State;

/// How the linear systems are posed and solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverSettings {
    /// Which system.
    pub form: Form,
    /// Which Krylov method.
    pub method: Method,
    /// How the operator is applied.
    pub operator: OperatorKind,
    /// Which preconditioner.
    pub preconditioner: PreconditionerKind,
    /// Largest unbalanced force to accept, over the mean weight of a particle at 9.81 m/s² (G-4).
    pub tolerance: f64,
    /// Most iterations of one solve. Generous: reaching it is counted and shown.
    pub max_iterations: usize,
}

impl Default for SolverSettings {
    fn default() -> Self {
        SolverSettings {
            form: Form::Mass,
            method: Method::Cg,
            operator: OperatorKind::BlockSparse,
            preconditioner: PreconditionerKind::BlockJacobi,
            tolerance: 1e-3,
            max_iterations: 20_000,
        }
    }
}

impl SolverSettings {
    /// Whether the method suits the form: conjugate gradients need a symmetric one.
    pub fn is_sound(&self) -> bool {
        !(self.form == Form::Unsymmetric && self.method == Method::Cg)
    }
}

/// What is moved, and by what.
#[derive(Clone, Copy)]
pub struct Bodies<'a> {
    /// Mass of each particle [kg].
    pub mass: &'a [f64],
    /// Forces between particles and with the air.
    pub forces: &'a [Box<dyn ForceModel>],
    /// Gravity [m/s²].
    pub gravity: DVec3,
}

/// What a substep works on.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// Masses and forces.
    pub bodies: Bodies<'a>,
    /// Inverse masses, with what pins allow.
    pub mobility: &'a Mobility,
    /// How to solve.
    pub settings: &'a SolverSettings,
    /// Length of the substep [s].
    pub dt: f64,
}

/// The integrator, with the storage it uses from step to step.
#[derive(Default)]
pub struct ImplicitEuler {
    answers: Vec<Interactions>,
    pattern: Option<Pattern>,
    blocks: Vec<DMat3>,
    factor: Option<Factor>,
    impulse: Vec<DVec3>,
    unknown: Vec<DVec3>,
    change: Vec<DVec3>,
}

impl ImplicitEuler {
    /// Computes `next` one substep after `now`, whose held particles already have the
    /// velocities that lead to their places.
    pub fn advance(&mut self, task: Task, now: &State, next: &mut State, probe: &mut Probe) -> Outcome {
        let Task { bodies: Bodies { mass, forces, .. }, mobility, settings, dt } = task;
        self.evaluate(task.bodies, now, dt);
        probe.lap(Stage::Forces);

        let n = mass.len();
        let factored = settings.preconditioner == PreconditionerKind::Cholesky && self.factorise(task, now);
        let (mut free, mut sparse);
        let inner: &mut dyn BlockOperator = match settings.operator {
            OperatorKind::MatrixFree => {
                free = MatrixFree::new(n, forces, &self.answers);
                &mut free
            }
            OperatorKind::BlockSparse => {
                let pattern = self.pattern.get_or_insert_with(|| Pattern::new(n, forces));
                sparse = BlockSparse::assemble(pattern, forces, &self.answers, &mut self.blocks);
                &mut sparse
            }
        };
        let mut system = System::new(settings.form, mobility, mass, inner);
        let factor = self.factor.as_ref().filter(|_| factored);
        let preconditioner = Preconditioner::new(settings.preconditioner, &system, factor);
        probe.counters.indefinite +=
            u64::from(settings.preconditioner == PreconditionerKind::Cholesky && !factored);
        let y = system.right_side(&self.impulse);
        let scales = system.force_scales(dt);
        let weight = STANDARD_GRAVITY * reduce::sum(n, |i| mass[i]) / n as f64;
        let stop = Stop {
            scale: &scales,
            limit: settings.tolerance * weight,
            max_iterations: settings.max_iterations,
        };
        probe.lap(Stage::Assemble);

        let outcome =
            krylov::solve(settings.method, &mut system, &preconditioner, &y, &mut self.unknown, &stop);
        self.change.resize(n, DVec3::ZERO);
        system.velocity_change(&self.unknown, &mut self.change);
        if mobility.projectors.is_empty() {
            system.balance_momentum(&self.impulse, &mut self.change);
        }
        count(&outcome, weight, probe);
        probe.lap(Stage::Solve);

        next.v.resize(n, DVec3::ZERO);
        next.x.resize(n, DVec3::ZERO);
        let change = &self.change;
        parallel::fill(&mut next.v, |i| now.v[i] + change[i]);
        parallel::fill(&mut next.x, |i| now.x[i] + dt * (now.v[i] + change[i]));
        next.grips.clone_from(&now.grips);
        outcome
    }

    /// Factors the mass form of the system; whether it has a factor.
    fn factorise(&mut self, task: Task, now: &State) -> bool {
        let Bodies { mass, forces, .. } = task.bodies;
        let pattern = self.pattern.get_or_insert_with(|| Pattern::new(mass.len(), forces));
        let sparse = BlockSparse::assemble(pattern, forces, &self.answers, &mut self.blocks);
        let factor = self
            .factor
            .get_or_insert_with(|| Factor::new(Symbolic::new(pattern.start(), pattern.columns(), &now.x)));
        factor.refresh(sparse.blocks(), mass, task.mobility).is_ok()
    }

    /// Answers of all forces, and the impulse h (f − h V v) [N·s] on each particle.
    fn evaluate(&mut self, bodies: Bodies, now: &State, dt: f64) {
        let at = Moment { x: &now.x, v: &now.v };
        self.answers.resize_with(bodies.forces.len(), Interactions::default);
        self.impulse.clear();
        self.impulse.extend(bodies.mass.iter().map(|m| bodies.gravity * *m));
        for (force, answer) in bodies.forces.iter().zip(&mut self.answers) {
            force.respond(at, Mix::implicit_euler(dt), answer);
            force.stencil().scatter(&answer.push, &mut self.impulse);
        }
        parallel::update(&mut self.impulse, |_, b| *b *= dt);
    }
}

/// The gravity in which residuals are weighed, so that a scene without gravity still has a scale [m/s²].
const STANDARD_GRAVITY: f64 = 9.81;

fn count(outcome: &Outcome, weight: f64, probe: &mut Probe) {
    let counters = &mut probe.counters;
    counters.iterations += outcome.iterations as u64;
    counters.capped += u64::from(outcome.end == End::IterationLimit);
    counters.indefinite += u64::from(matches!(outcome.end, End::NotPositive | End::Breakdown));
    counters.residual = counters.residual.max(outcome.residual);
    counters.residual_ratio = counters.residual_ratio.max(outcome.residual / weight);
}
