//! K02's solver: implicit Euler on springs by a few sweeps of block Jacobi, in O(n + e) and without a matrix.
//!
//! Of (M − h²J) Δv = h f + h² J v (K02 eq. 8) each spring keeps its symmetric block and each particle the inverse of
//! its own (K02-5), in the order of K02's Table 1: J, then W⁻¹, then the start p, then K sweeps (K02 eq. 17–20)
//!
//! ```text
//! D_ij  = h² J_ij + h c n nᵀ [+ h C_d I]                     J_ij = κ n nᵀ (eq. 11) or another
//! W_i   = m_i I + Σ_j D_ij
//! p_i   = W_i⁻¹ (h f_i + Σ_j D_ij (v_j − v_i))               signs as E13
//! Δv⁰_i = p_i ,  Δvᵏ⁺¹_i = p_i + W_i⁻¹ Σ_j D_ij Δvᵏ_j
//! ```
//!
//! Sweeps always converge: the sum of blocks minus the couplings is a signless Laplacian of positive blocks. After K of
//! them a mode has got the part 1 − (1 − μ)^(K+1) of its update, 0 < μ < 2: never more than all of it for odd K,
//! up to twice of it for even K. So odd K is stable for the linear model and even K is not (`toile lab k02-parity`).
//! Long waves have a small μ and get little of it: at large h²κ/m cloth is stable but sluggish, its own weight included.
//!
//! Springs and the air are all it knows. The air acts explicitly, with its damping on the diagonal; soft pins are
//! exact. [`crate::World`] refuses to build cloth of other laws; on a bare island those act explicitly.

use super::bodies::{Bodies, Course};
use super::integrate::Span;
use super::named_choices;
use crate::interaction::{Coupling, Interactions, Mix, Moment, Springs, Stencil};
use crate::math::{DMat3, DVec3, Symmetric, parallel, reduce};
use crate::probe::{Probe, Stage};
use crate::state::State;

named_choices! {
    /// Which derivative of the spring force a sweep sees (K02-2, K02-9). The force is the same for all.
    Jacobian {
        /// κ[n nᵀ + max(0, 1 − l₀/l)(I − n nᵀ)]: exact in tension, positive in compression. Stable undamped.
        Safe = "safe",
        /// κ n nᵀ, as printed (K02 eq. 11): needs damping at large steps.
        Rank1 = "rank1",
        /// The true derivative (K02 eq. 10 as E11): can lose positivity in compression, which is counted.
        Exact = "exact",
        /// κ[(1 − b) n nᵀ + b I] (V00-9).
        Blend = "blend",
        /// κ I, as the direct updates before K02: over-damped.
        Scalar = "scalar",
    }
}

named_choices! {
    /// What K is allowed.
    Parity {
        /// Even K is rounded up.
        Odd = "odd",
        /// Any, to see what even K does.
        Free = "free",
    }
}

named_choices! {
    /// What K02's damping resists (K02-8).
    Damping {
        /// Nothing.
        None = "none",
        /// Motion: −C_d v on each particle (K02 eq. 21–23).
        ModelA = "model-a",
        /// Relative motion: C_d Σ (v_j − v_i) over the springs of a particle (K02 eq. 24–25).
        ModelB = "model-b",
    }
}

named_choices! {
    /// How damping enters the step.
    DampingForm {
        /// In the matrix and on the right: it is a force (E14, E16).
        Consistent = "consistent",
        /// In the matrix only, as printed: it is inertia, and a falling body has no terminal velocity.
        Paper = "paper",
    }
}

/// K02's choices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct K02Settings {
    /// Sweeps K.
    pub iterations: u32,
    /// What K is allowed.
    pub parity: Parity,
    /// Which derivative.
    pub jacobian: Jacobian,
    /// b of [`Jacobian::Blend`].
    pub blend: f64,
    /// What damping resists.
    pub damping: Damping,
    /// How damping enters.
    pub damping_form: DampingForm,
    /// C_d [N·s/m], of each particle in model A and of each spring in model B.
    pub coefficient: f64,
}

impl Default for K02Settings {
    fn default() -> Self {
        K02Settings {
            iterations: 1,
            parity: Parity::Odd,
            jacobian: Jacobian::Safe,
            blend: 0.1,
            damping: Damping::None,
            damping_form: DampingForm::Consistent,
            coefficient: 0.0,
        }
    }
}

impl K02Settings {
    /// Sweeps to take.
    pub fn sweeps(&self) -> u32 {
        match self.parity {
            Parity::Odd => self.iterations.saturating_add(u32::from(self.iterations.is_multiple_of(2))),
            Parity::Free => self.iterations,
        }
    }

    /// Stiffness along and across a spring of stiffness `k` [N/m] whose rest length is `rest` times its length.
    #[inline]
    fn slopes(&self, k: f64, rest: f64) -> [f64; 2] {
        match self.jacobian {
            Jacobian::Rank1 => [k, 0.0],
            Jacobian::Safe => [k, k * (1.0 - rest).max(0.0)],
            Jacobian::Exact => [k, k * (1.0 - rest)],
            Jacobian::Blend => [k, k * self.blend],
            Jacobian::Scalar => [k, k],
        }
    }

    /// What damping adds in steps of `h` [s].
    fn added(&self, h: f64) -> Added {
        let (inertia, force) = (h * self.coefficient, self.damping_form == DampingForm::Consistent);
        let right = |on: bool| if on { inertia } else { 0.0 };
        match self.damping {
            Damping::None => Added::default(),
            Damping::ModelA => Added { particle: inertia, braking: right(force), ..Added::default() },
            // As printed, eq. 25 has J' = J + h C_d I where J + (C_d/h) I is meant (E16).
            Damping::ModelB => Added {
                spring: inertia,
                coupling: if force { inertia } else { h * h * inertia },
                relative: right(force),
                ..Added::default()
            },
        }
    }
}

/// What damping adds to the blocks [kg]: multiples of the identity.
#[derive(Clone, Copy, Default)]
struct Added {
    /// To the block of each particle.
    particle: f64,
    /// To it again for each of its springs.
    spring: f64,
    /// To the coupling through each spring.
    coupling: f64,
    /// To what brakes each particle, on the right.
    braking: f64,
    /// To what brakes each spring, on the right.
    relative: f64,
}

/// The integrator, with the storage it uses from step to step.
#[derive(Default)]
pub struct JacobiStep {
    families: Vec<Family>,
    rows: Vec<Row>,
    change: Vec<DVec3>,
    before: Vec<DVec3>,
    led: Vec<DVec3>,
    rest: Rest,
}

/// What the springs of one family of forces keep during a step.
#[derive(Default)]
struct Family {
    /// Which family.
    number: usize,
    /// h² J + h c n nᵀ of each spring [kg].
    block: Vec<Symmetric>,
    /// Impulse of each spring on its first particle [N·s].
    impulse: Vec<DVec3>,
}

/// What a particle keeps during a step.
#[derive(Clone, Copy, Default)]
struct Row {
    /// W⁻¹ [1/kg].
    inverse: Symmetric,
    /// p [m/s].
    start: DVec3,
}

/// What acts on particles besides springs.
#[derive(Default)]
struct Rest {
    answer: Interactions,
    /// Impulses [N·s].
    impulse: Vec<DVec3>,
    /// Their damping on the diagonal [kg]; empty if there is none.
    diagonal: Vec<DMat3>,
}

impl JacobiStep {
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
        let own = &settings.k02;
        course.go_to(time + dt, dt);
        let bodies = course.bodies();
        self.led.clone_from(&now.v);
        bodies.mobility.project(&mut self.led);
        for place in bodies.places {
            let p = place.particle as usize;
            self.led[p] += place.away(now.x[p]) / dt;
        }
        probe.lap(Stage::Drive);
        self.stretch(bodies, &now.x, dt, own);
        self.rest.act(bodies, Moment::new(&now.x, &self.led), dt);
        probe.lap(Stage::Forces);
        let lost = self.invert(bodies, own.added(dt));
        probe.lap(Stage::Assemble);
        let last = self.sweep(bodies, own.sweeps(), own.added(dt).coupling);
        let counters = &mut probe.counters;
        counters.stages += 1;
        counters.solves += 1;
        counters.iterations += u64::from(own.sweeps());
        counters.indefinite += u64::from(lost > 0);
        counters.residual_rms = counters.residual_rms.max(last / dt);
        probe.lap(Stage::Solve);
        let (led, change) = (&self.led, &self.change);
        parallel::fill(&mut next.v, |i| led[i] + change[i]);
        let v = &next.v;
        parallel::fill(&mut next.x, |i| now.x[i] + dt * v[i]);
        for place in bodies.places {
            let p = place.particle as usize;
            next.x[p] = place.settle(next.x[p]);
        }
        next.past.restart.clear();
        probe.lap(Stage::Update);
        last.is_finite()
    }

    /// Blocks and impulses of all springs: K02's loop over edges (Table 2).
    fn stretch(&mut self, bodies: Bodies, x: &[DVec3], h: f64, own: &K02Settings) {
        let mut kept = std::mem::take(&mut self.families).into_iter();
        for (number, force) in bodies.forces.iter().enumerate() {
            if let (Some(springs), Coupling::Elements(stencil)) = (force.springs(), force.coupling()) {
                let mut family = kept.next().unwrap_or_default();
                family.number = number;
                family.respond(stencil, springs, Moment::new(x, &self.led), h, own);
                self.families.push(family);
            }
        }
    }

    /// W⁻¹ and p of all particles, each summing its springs in order; how many blocks were not positive.
    fn invert(&mut self, bodies: Bodies, added: Added) -> usize {
        let (families, rest, led) = (&self.families, &self.rest, &self.led);
        let stencils: Vec<(&Stencil, &Family)> =
            families.iter().filter_map(|f| Some((f.stencil(bodies)?, f))).collect();
        let row = |i: usize, projector: Option<DMat3>| {
            let mut own = Symmetric::identity(added.particle);
            let mut right = rest.impulse[i] - led[i] * added.braking;
            if let Some(diagonal) = rest.diagonal.get(i) {
                own += Symmetric::of(*diagonal);
            }
            for (stencil, family) in &stencils {
                for &slot in stencil.slots_of(i) {
                    let (spring, second) = (slot as usize / 2, slot % 2 == 1);
                    own += family.block[spring].plus_identity(added.spring);
                    let mut impulse = family.impulse[spring];
                    if added.relative > 0.0 {
                        let ends = stencil.members(spring);
                        impulse += (led[ends[1] as usize] - led[ends[0] as usize]) * added.relative;
                    }
                    right += if second { -impulse } else { impulse };
                }
            }
            Row::new(own, bodies.mass[i], right, projector)
        };
        self.rows.resize(bodies.mass.len(), Row::default());
        parallel::fill(&mut self.rows, |i| row(i, None));
        for (i, projector) in &bodies.mobility.projectors {
            self.rows[*i as usize] = row(*i as usize, Some(*projector));
        }
        self.rows.iter().filter(|row| row.inverse == Symmetric::default()).count()
            - bodies.mobility.projectors.iter().filter(|(_, p)| *p == DMat3::ZERO).count()
    }

    /// K sweeps (K02 eq. 19, Table 3 as E13) from p; the root mean square of what the last one changed [m/s].
    fn sweep(&mut self, bodies: Bodies, sweeps: u32, coupling: f64) -> f64 {
        let JacobiStep { families, rows, change, before, .. } = self;
        let stencils: Vec<(&Stencil, &Family)> =
            families.iter().filter_map(|f| Some((f.stencil(bodies)?, f))).collect();
        change.resize(rows.len(), DVec3::ZERO);
        parallel::fill(change, |i| rows[i].start);
        before.resize(rows.len(), DVec3::ZERO);
        for _ in 0..sweeps {
            std::mem::swap(change, before);
            parallel::fill(change, |i| {
                let mut sum = DVec3::ZERO;
                for (stencil, family) in &stencils {
                    for &slot in stencil.slots_of(i) {
                        let spring = slot as usize / 2;
                        let other = stencil.members(spring)[1 - slot as usize % 2] as usize;
                        sum += family.block[spring] * before[other] + before[other] * coupling;
                    }
                }
                rows[i].start + rows[i].inverse * sum
            });
        }
        if sweeps == 0 {
            before.fill(DVec3::ZERO);
        }
        let n = rows.len().max(1) as f64;
        (reduce::sum(rows.len(), |i| change[i].distance_squared(before[i])) / n).sqrt()
    }
}

impl Family {
    fn stencil<'a>(&self, bodies: Bodies<'a>) -> Option<&'a Stencil> {
        match bodies.forces[self.number].coupling() {
            Coupling::Elements(stencil) => Some(stencil),
            Coupling::Constant(_) => None,
        }
    }

    /// K02 eq. 9 and 11, and f̃ = f + h J v of eq. 13, spring by spring.
    fn respond(&mut self, stencil: &Stencil, springs: Springs, at: Moment, h: f64, own: &K02Settings) {
        let Springs { stiffness, rest_length, viscosity } = springs;
        let drag = h * viscosity;
        self.block.resize(stencil.len(), Symmetric::default());
        self.impulse.resize(stencil.len(), DVec3::ZERO);
        parallel::update2(&mut self.block, &mut self.impulse, |e, block, impulse| {
            let ends = stencil.members(e);
            let (a, b) = (ends[0] as usize, ends[1] as usize);
            let apart = at.x[a] - at.x[b];
            let length = apart.length();
            if length == 0.0 {
                // Two particles in one place: no direction to push along.
                (*block, *impulse) = (Symmetric::default(), DVec3::ZERO);
                return;
            }
            let (k, n) = (stiffness[e], apart / length);
            let [along, across] = own.slopes(k, rest_length[e] / length);
            *block = Symmetric::axial(n, h * h * along + drag * k, h * h * across);
            *impulse = n * (h * k * (rest_length[e] - length)) + *block * (at.v[b] - at.v[a]);
        });
    }
}

impl Row {
    /// The row of a particle of mass `m` whose springs add `own` to it, under the impulse `right`. A block that is not
    /// positive moves its particle not at all.
    fn new(own: Symmetric, m: f64, right: DVec3, projector: Option<DMat3>) -> Row {
        let inverse = match projector {
            None => own.plus_identity(m).inverse().unwrap_or_default(),
            Some(p) => {
                let free = Symmetric::of(p * own.full() * p).plus_identity(m).inverse();
                Symmetric::of(p * free.unwrap_or_default().full() * p)
            }
        };
        Row { inverse, start: inverse * right }
    }
}

impl Rest {
    /// Gravity, the air and soft pins over a step of `h`.
    fn act(&mut self, bodies: Bodies, at: Moment, h: f64) {
        let Bodies { mass, gravity, .. } = bodies;
        self.impulse.resize(mass.len(), DVec3::ZERO);
        parallel::fill(&mut self.impulse, |i| gravity * mass[i]);
        self.diagonal.clear();
        for (force, memory) in bodies.families().filter(|(force, _)| force.springs().is_none()) {
            let alone = matches!(force.coupling(), Coupling::Elements(s) if s.particles() == 1);
            // What holds single particles is on the diagonal whole; of the rest only the damping is.
            let mix = match alone {
                true => Mix::implicit_euler(h),
                false => Mix { stiffness: 0.0, damping: h, lag: 0.0 },
            };
            force.respond(Moment { memory, ..at }, mix, &[], &mut self.answer);
            force.coupling().scatter(&self.answer.push, &mut self.impulse);
            if let Coupling::Elements(stencil) = force.coupling() {
                self.diagonal.resize(mass.len(), DMat3::ZERO);
                stencil.add_row_sums(&self.answer.tangent, &mut self.diagonal);
            }
        }
        parallel::update(&mut self.impulse, |_, b| *b *= h);
    }
}
