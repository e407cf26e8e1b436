//! One linear system of a step, with what is kept from solve to solve.

use super::bodies::Bodies;
use super::forms::System;
use super::krylov::{self, End, Outcome, Stop};
use super::multifrontal::{Factor, Symbolic};
use super::operator::{BlockOperator, BlockSparse, MatrixFree, OperatorKind, Pattern, WithPassing};
use super::precondition::{Preconditioner, PreconditionerKind};
use super::settings::SolverSettings;
use crate::interaction::{ForceModel, Interactions};
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
    lasting: Lasting,
    joined: Joined,
    /// Whether the last solve was with what is joined.
    is_joined: bool,
    /// Tangents of passing families that are not in the blocks.
    left: Vec<Vec<DMat3>>,
    factored: bool,
    /// Whether the next solve has the matrix of the last one, so that its factor serves again.
    pub again: bool,
    unknown: Vec<DVec3>,
    work: Vec<DVec3>,
}

/// What forces couple for good.
#[derive(Default)]
struct Lasting {
    pattern: Option<Pattern>,
    blocks: Vec<DMat3>,
    factor: Option<Factor>,
}

/// The same with what contacts couple for now.
#[derive(Default)]
struct Joined {
    /// What contacts couple beyond the lasting pattern, rows and columns, ascending; empty for nothing.
    pairs: Vec<(u32, u32)>,
    /// Where particles were when they were ordered [m].
    at: Vec<DVec3>,
    pattern: Pattern,
    /// Where the lasting blocks go.
    place: Vec<u32>,
    blocks: Vec<DMat3>,
    factor: Option<Factor>,
    /// Whether its factor is worth its work.
    pays: bool,
}

/// Work of a factor with contacts, over that without, up to which it pays: without, a solve takes some thirty iterations
/// instead of three, each a tenth of a factor.
const WORTH: f64 = 6.0;

/// The same for little cloth, whose factor takes no time [flop].
const WORTH_FLOPS: f64 = 3e7;

/// What is to be solved.
pub struct Equation<'a> {
    /// Masses, forces and freedoms.
    pub bodies: Bodies<'a>,
    /// Where particles were at the start of the stage [m]: orders those that contacts join.
    pub at: &'a [DVec3],
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
        let Equation { bodies, at, answers, dt, lead, limit } = equation;
        let Bodies { mass, forces, mobility, .. } = bodies;
        let n = mass.len();
        let direct = settings.preconditioner == PreconditionerKind::Cholesky;
        let factored =
            direct && if self.again { self.factored } else { self.factorise(bodies, at, answers, probe) };
        self.factored = factored;
        let LinearSolver { lasting, joined, is_joined, left, unknown, work, .. } = self;
        let is_joined = direct && *is_joined;
        let factor = if is_joined { &joined.factor } else { &lasting.factor };
        let factor = factor.as_ref().filter(|_| factored);
        let (mut free, mut sparse);
        let inner: &mut dyn BlockOperator = match settings.operator {
            OperatorKind::MatrixFree => {
                free = MatrixFree::new(n, forces, answers);
                &mut free
            }
            OperatorKind::BlockSparse => {
                let Lasting { pattern, blocks, .. } = lasting;
                let pattern = pattern.get_or_insert_with(|| Pattern::new(n, forces));
                let lasting = match (direct, is_joined) {
                    (true, true) => BlockSparse::assembled(&joined.pattern, &mut joined.blocks),
                    (true, false) => BlockSparse::assembled(pattern, blocks),
                    (false, _) => {
                        let mut all = BlockSparse::assemble(pattern, forces, answers, blocks);
                        all.take_in(forces, answers, left);
                        all
                    }
                };
                sparse = WithPassing::new(lasting, forces, left);
                &mut sparse
            }
        };
        if let Some(lead) = lead {
            work.resize(n, DVec3::ZERO);
            inner.apply(lead, work);
            parallel::update(b, |i, b| *b -= work[i] + lead[i] * mass[i]);
        }
        let mut system = System::new(settings.form, mobility, mass, inner);
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

        let outcome = krylov::solve(settings.method, &mut system, &preconditioner, &y, unknown, &stop);
        change.resize(n, DVec3::ZERO);
        system.velocity_change(unknown, change);
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
    fn factorise(
        &mut self,
        bodies: Bodies,
        at: &[DVec3],
        answers: &[Interactions],
        probe: &mut Probe,
    ) -> bool {
        let Bodies { mass, forces, mobility, start, .. } = bodies;
        let LinearSolver { lasting, joined, left, .. } = self;
        let pattern = lasting.pattern.get_or_insert_with(|| Pattern::new(mass.len(), forces));
        let mut sparse = BlockSparse::assemble(pattern, forces, answers, &mut lasting.blocks);
        let order = || Symbolic::new(pattern.start(), pattern.columns(), start);
        let factor = lasting.factor.get_or_insert_with(|| Factor::new(order()));
        let most = (WORTH * factor.symbolic().flops()).max(WORTH_FLOPS);
        self.is_joined = joined.join(pattern, forces, at, most);
        let factored = if self.is_joined {
            let Joined { pattern, place, blocks, factor, .. } = joined;
            blocks.clear();
            blocks.resize(pattern.blocks(), DMat3::ZERO);
            place.iter().zip(sparse.blocks()).for_each(|(place, block)| blocks[*place as usize] = *block);
            let mut all = BlockSparse::assembled(pattern, blocks);
            all.take_in(forces, answers, left);
            probe.lap(Stage::Assemble);
            factor.as_mut().is_some_and(|factor| factor.refresh(all.blocks(), mass, mobility).is_ok())
        } else {
            sparse.take_in(forces, answers, left);
            probe.lap(Stage::Assemble);
            factor.refresh(sparse.blocks(), mass, mobility).is_ok()
        };
        probe.counters.indefinite += u64::from(!factored);
        probe.lap(Stage::Factor);
        factored
    }
}

impl Joined {
    /// Brings the pattern up to what passing families couple with particles at `at`. Whether there is any such, and a
    /// factor of it takes no more than `most` operations. Only what is given decides, never what was there before.
    fn join(&mut self, lasting: &Pattern, forces: &[Box<dyn ForceModel>], at: &[DVec3], most: f64) -> bool {
        let pairs = lasting.lacks(forces);
        if pairs == self.pairs && (pairs.is_empty() || at == self.at) {
            return self.pays;
        }
        self.pays = !pairs.is_empty();
        if self.pays {
            self.at.clear();
            self.at.extend_from_slice(at);
            (self.pattern, self.place) = lasting.with(&pairs);
            let symbolic = Symbolic::new(self.pattern.start(), self.pattern.columns(), at);
            self.pays = symbolic.flops() <= most;
            match &mut self.factor {
                Some(factor) => factor.order(symbolic),
                None => self.factor = Some(Factor::new(symbolic)),
            }
        }
        self.pairs = pairs;
        self.pays
    }
}

/// Mean weight of a particle at 9.81 m/s² [N].
pub fn mean_weight(mass: &[f64]) -> f64 {
    STANDARD_GRAVITY * reduce::sum(mass.len(), |i| mass[i]) / mass.len().max(1) as f64
}
