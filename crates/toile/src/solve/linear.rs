//! One linear system of a step, with what is kept from solve to solve.

use super::bodies::Bodies;
use super::forms::System;
use super::krylov::{self, End, Outcome, Stop};
use super::multifrontal::{Factor, Symbolic};
use super::operator::{BlockOperator, BlockSparse, MatrixFree, OperatorKind, Pattern, WithPassing};
use super::precondition::{Preconditioner, PreconditionerKind};
use super::settings::SolverSettings;
use crate::interaction::Interactions;
use crate::math::{DMat3, DVec3, parallel, reduce};
use crate::probe::{Probe, Stage};

/// The gravity in which residuals are weighed, so that a scene without gravity still has a scale [m/s²].
pub const STANDARD_GRAVITY: f64 = 9.81;

/// A solver of (M + A) Δv = b, A = h² V + h W from the answers of the forces.
///
/// A Cholesky factor is made anew for every solve: foreseen stress changes between them from slack to taut, and
/// with the factor of the solve before, conjugate gradients needed hundreds of iterations instead of two.
#[derive(Default)]
pub struct LinearSolver {
    pattern: Option<Pattern>,
    blocks: Vec<DMat3>,
    factor: Option<Factor>,
    factored: bool,
    /// Whether the next solve has the matrix of the last one, so that its factor serves again.
    pub again: bool,
    unknown: Vec<DVec3>,
    work: Vec<DVec3>,
}

/// What is to be solved.
pub struct Equation<'a> {
    /// Masses, forces and freedoms.
    pub bodies: Bodies<'a>,
    /// Answers whose tangents are mixed for `dt`.
    pub answers: &'a [Interactions],
    /// h [s].
    pub dt: f64,
    /// Velocities that held particles must have [m/s], if other than zero.
    pub lead: Option<&'a [DVec3]>,
    /// Largest force to leave unbalanced [N].
    pub limit: f64,
}

impl LinearSolver {
    /// Solves for the velocity change `change` under the impulses `b` [N·s], which it may alter.
    pub fn solve(
        &mut self,
        equation: Equation,
        settings: &SolverSettings,
        b: &mut [DVec3],
        change: &mut Vec<DVec3>,
        probe: &mut Probe,
    ) -> Outcome {
        let Equation { bodies, answers, dt, lead, limit } = equation;
        let Bodies { mass, forces, mobility, .. } = bodies;
        let n = mass.len();
        let direct = settings.preconditioner == PreconditionerKind::Cholesky;
        let factored =
            direct && if self.again { self.factored } else { self.factorise(bodies, answers, probe) };
        self.factored = factored;
        let (mut free, mut sparse);
        let inner: &mut dyn BlockOperator = match settings.operator {
            OperatorKind::MatrixFree => {
                free = MatrixFree::new(n, forces, answers);
                &mut free
            }
            OperatorKind::BlockSparse => {
                let pattern = self.pattern.get_or_insert_with(|| Pattern::new(n, forces));
                let lasting = match direct {
                    true => BlockSparse::assembled(pattern, &mut self.blocks),
                    false => BlockSparse::assemble(pattern, forces, answers, &mut self.blocks),
                };
                sparse = WithPassing::new(lasting, forces, answers);
                &mut sparse
            }
        };
        if let Some(lead) = lead {
            self.work.resize(n, DVec3::ZERO);
            inner.apply(lead, &mut self.work);
            let work = &self.work;
            parallel::update(b, |i, b| *b -= work[i] + lead[i] * mass[i]);
        }
        let mut system = System::new(settings.form, mobility, mass, inner);
        let factor = self.factor.as_ref().filter(|_| factored);
        let y = system.right_side(b);
        let mut scales = system.force_scales(dt);
        let preconditioner = match settings.preconditioner {
            PreconditionerKind::Accuracy => {
                let wanted = &settings.accuracy;
                scales.iter_mut().zip(bodies.start).for_each(|(scale, x)| *scale *= wanted.of(*x));
                Preconditioner::by_accuracy(wanted, bodies.start)
            }
            kind => Preconditioner::new(kind, &system, factor),
        };
        let stop = Stop { scale: &scales, limit, max_iterations: settings.max_iterations };
        probe.lap(Stage::Assemble);

        let outcome =
            krylov::solve(settings.method, &mut system, &preconditioner, &y, &mut self.unknown, &stop);
        change.resize(n, DVec3::ZERO);
        system.velocity_change(&self.unknown, change);
        if mobility.projectors.is_empty() {
            system.balance_momentum(b, change);
        }
        if let Some(lead) = lead {
            parallel::update(change, |i, v| *v += lead[i]);
        }
        let counters = &mut probe.counters;
        counters.solves += 1;
        counters.iterations += outcome.iterations as u64;
        counters.capped += u64::from(outcome.end == End::IterationLimit);
        counters.indefinite += u64::from(matches!(outcome.end, End::NotPositive | End::Breakdown));
        probe.lap(Stage::Solve);
        outcome
    }
}

impl LinearSolver {
    /// Assembles A and factors M + P A P; whether there is a factor.
    fn factorise(&mut self, bodies: Bodies, answers: &[Interactions], probe: &mut Probe) -> bool {
        let Bodies { mass, forces, mobility, start, .. } = bodies;
        let pattern = self.pattern.get_or_insert_with(|| Pattern::new(mass.len(), forces));
        let sparse = BlockSparse::assemble(pattern, forces, answers, &mut self.blocks);
        probe.lap(Stage::Assemble);
        let order = || Symbolic::new(pattern.start(), pattern.columns(), start);
        let factor = self.factor.get_or_insert_with(|| Factor::new(order()));
        let factored = factor.refresh(sparse.blocks(), mass, mobility).is_ok();
        probe.counters.indefinite += u64::from(!factored);
        probe.lap(Stage::Factor);
        factored
    }
}

/// Mean weight of a particle at 9.81 m/s² [N].
pub fn mean_weight(mass: &[f64]) -> f64 {
    STANDARD_GRAVITY * reduce::sum(mass.len(), |i| mass[i]) / mass.len().max(1) as f64
}
