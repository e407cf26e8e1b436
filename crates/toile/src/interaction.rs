//! The one idea of the engine: every force acts through weighted sums of particles, called *gauges*.
//!
//! An element with particles i and weights S_gi has gauges g = Σ S_gi x_i (V00 eq. 10; B14 eq. 3 is the
//! same with two sums). A [`Law`] answers (g, ġ) with a generalised force φ and the tangents V = −∂φ/∂g and
//! W = −∂φ/∂ġ. Forces scatter as f_i += Σ_g S_gi φ_g and the implicit operator as
//! H t = M t + Σ Sᵀ (h² V + h W) S t. Solvers see [`Stencil`]s and [`Interactions`] and nothing else.

use crate::math::{DMat3, DVec3, parallel, reduce};

/// What an element sees of the world.
#[derive(Clone, Copy, Debug)]
pub struct Sample<const P: usize, const G: usize> {
    /// Positions of its particles [m]. Laws use them for geometry only, such as the normal of a face.
    pub x: [DVec3; P],
    /// Gauges g = Σ S x.
    pub gauge: [DVec3; G],
    /// Their rates ġ = Σ S v.
    pub rate: [DVec3; G],
    /// Stress the element is expected to have after the coming step, if an integrator keeps it: the geometric
    /// part of the tangent is built from this instead of the present stress.
    pub foreseen: Option<Stress>,
    /// What the element remembers of the steps before; zeros if nothing.
    pub memory: Memory,
}

/// Stress of an element, in the components of its law.
pub type Stress = [f64; 3];

/// What an element remembers from step to step, in the components of its law. It starts as zeros, stays as it is
/// during a step, and follows once the step is accepted.
pub type Memory = [f64; 3];

/// What an element answers, in generalised units: forces are conjugate to the gauges.
#[derive(Clone, Copy, Debug)]
pub struct Response<const G: usize> {
    /// Stored energy [J]; of a law with memory, with what it would lose since the last step.
    pub energy: f64,
    /// Generalised force φ on each gauge.
    pub force: [DVec3; G],
    /// The part of φ that is not −∂E/∂g: viscosity, drag, wind.
    pub lossy: [DVec3; G],
    /// Stiffness V ⪰ 0, equal to −∂φ/∂g or above it.
    pub stiffness: [[DMat3; G]; G],
    /// Damping W ⪰ 0, equal to −∂φ/∂ġ or above it.
    pub damping: [[DMat3; G]; G],
}

impl<const G: usize> Response<G> {
    /// No force, no energy.
    pub const ZERO: Response<G> = Response {
        energy: 0.0,
        force: [DVec3::ZERO; G],
        lossy: [DVec3::ZERO; G],
        stiffness: [[DMat3::ZERO; G]; G],
        damping: [[DMat3::ZERO; G]; G],
    };
}

/// What a material author writes: a pure function from gauges to forces and tangents.
///
/// `testing::conformance` checks a law against its own energy, finite differences and rigid motion.
pub trait Law<const P: usize, const G: usize>: Send + Sync {
    /// Short name, used in energy reports.
    fn name(&self) -> &'static str;

    /// The answer of element `element` to what it sees.
    fn respond(&self, element: usize, at: &Sample<P, G>) -> Response<G>;

    /// The force alone, for those who need no tangents.
    fn force(&self, element: usize, at: &Sample<P, G>) -> [DVec3; G] {
        self.respond(element, at).force
    }

    /// Tells a law that depends on the outside (wind, moving targets) what the outside is at the end of the
    /// coming substep.
    fn drive(&mut self, _outside: &Outside) {}

    /// Whether any of its force is not −∂E/∂g.
    fn is_lossy(&self) -> bool {
        false
    }

    /// Whether [`Law::foresee`] says anything.
    fn foresees(&self) -> bool {
        false
    }

    /// The stress after the gauges change by `change` and their rates by `change` × `per_time` [1/s], with the
    /// strain linearised at `at`.
    fn foresee(&self, _element: usize, _at: &Sample<P, G>, _change: &[DVec3; G], _per_time: f64) -> Stress {
        [0.0; 3]
    }

    /// Whether its elements remember anything.
    fn remembers(&self) -> bool {
        false
    }

    /// What `element` remembers after a step that ended at `at`.
    fn remember(&self, _element: usize, at: &Sample<P, G>) -> Memory {
        at.memory
    }

    /// Its springs, if it is nothing but springs along edges: for solvers that know no other law (K02-1).
    fn springs(&self) -> Option<Springs<'_>> {
        None
    }

    /// Whether it resists stretching: the stiff part, which hybrid schemes treat implicitly (V00-23).
    fn stretches(&self) -> bool {
        false
    }

    /// The name of [`Law::part`], if it has one.
    fn part_name(&self) -> Option<&'static str> {
        None
    }

    /// A part of its force that people call by a name of its own, as shear is one of a membrane's.
    fn part(&self, _element: usize, _at: &Sample<P, G>) -> [DVec3; G] {
        [DVec3::ZERO; G]
    }

    /// Lets the place to which elements of number `source` are drawn go straight from one point of `way` [m] to the other
    /// within `span` [s].
    fn lead(&mut self, _source: usize, _way: [DVec3; 2], _span: [f64; 2]) {}
}

/// Springs along edges, each from its second particle to its first.
#[derive(Clone, Copy, Debug)]
pub struct Springs<'a> {
    /// Stiffness κ of each [N/m].
    pub stiffness: &'a [f64],
    /// Rest length of each [m].
    pub rest_length: &'a [f64],
    /// Viscosity along each, as a time constant [s]: c = κ·viscosity [N·s/m].
    pub viscosity: f64,
}

/// What acts on cloth from outside at the end of a substep.
#[derive(Clone, Copy, Debug)]
pub struct Outside {
    /// End of the substep [s].
    pub time: f64,
    /// Length of the substep [s].
    pub dt: f64,
    /// Velocity of the air [m/s].
    pub air: DVec3,
}

/// Positions and velocities at one instant, and what a family of forces remembers then.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// Positions [m].
    pub x: &'a [DVec3],
    /// Velocities [m/s].
    pub v: &'a [DVec3],
    /// What each element remembers; empty if nothing.
    pub memory: &'a [Memory],
}

impl<'a> Moment<'a> {
    /// An instant of which nothing is remembered.
    pub fn new(x: &'a [DVec3], v: &'a [DVec3]) -> Moment<'a> {
        Moment { x, v, memory: &[] }
    }
}

/// How a step mixes the tangents: the operator holds `stiffness`·V + `damping`·W, and the right-hand side
/// sees the force φ − `lag`·V ġ.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    /// Factor of V [s²].
    pub stiffness: f64,
    /// Factor of W [s].
    pub damping: f64,
    /// How far ahead along the present rate the force is taken [s].
    pub lag: f64,
}

impl Mix {
    /// Forces only.
    pub const NONE: Mix = Mix { stiffness: 0.0, damping: 0.0, lag: 0.0 };

    /// Implicit Euler with step `dt` [s] (V00 eq. 3).
    pub fn implicit_euler(dt: f64) -> Mix {
        Mix { stiffness: dt * dt, damping: dt, lag: dt }
    }
}

/// The answers of all elements of one model; thrown away after the step.
#[derive(Clone, Debug, Default)]
pub struct Interactions {
    /// Stored energy [J].
    pub energy: f64,
    /// φ of each gauge of each element; of each particle where the tangent is constant.
    pub force: Vec<DVec3>,
    /// φ − lag·V ġ, in the same places.
    pub push: Vec<DVec3>,
    /// The part of φ that is not −∂E/∂g; empty if there is none.
    pub lossy: Vec<DVec3>,
    /// The mixed tangent, G×G blocks per element, row by row; empty where it is constant.
    pub tangent: Vec<DMat3>,
    /// Factor of a constant tangent.
    pub scale: f64,
    energies: Vec<f64>,
}

/// How a family of forces couples particles.
#[derive(Clone, Copy)]
pub enum Coupling<'a> {
    /// Through the gauges of elements, with a tangent that changes from step to step.
    Elements(&'a Stencil),
    /// Through a matrix that does not change but for a factor.
    Constant(&'a ConstantTangent),
}

impl Coupling<'_> {
    /// Adds `values`, one of the vectors of [`Interactions`], to the particles.
    pub fn scatter(&self, values: &[DVec3], out: &mut [DVec3]) {
        match self {
            Coupling::Elements(stencil) => stencil.scatter(values, out),
            Coupling::Constant(_) => parallel::update(out, |i, total| *total += values[i]),
        }
    }

    /// Row and column of every block, in the order of its keys.
    pub fn columns(&self) -> Box<dyn Iterator<Item = (u32, u32)> + '_> {
        match self {
            Coupling::Elements(stencil) => Box::new(stencil.columns()),
            Coupling::Constant(k) => Box::new(k.entries().map(|(row, column, _)| (row, column))),
        }
    }
}

/// A tangent that does not change: a symmetric matrix K [N/m] that acts alike on x, y and z.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstantTangent {
    /// Where each row starts.
    pub start: Vec<usize>,
    /// Columns, ascending in each row.
    pub columns: Vec<u32>,
    /// Entries [N/m].
    pub values: Vec<f64>,
}

impl ConstantTangent {
    /// (row, column, entry) in order of rows.
    pub fn entries(&self) -> impl Iterator<Item = (u32, u32, f64)> {
        self.start.windows(2).enumerate().flat_map(move |(row, bounds)| {
            (bounds[0]..bounds[1]).map(move |k| (row as u32, self.columns[k], self.values[k]))
        })
    }

    /// Columns and entries of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.start[i]..self.start[i + 1];
        self.columns[range.clone()].iter().zip(&self.values[range]).map(|(j, value)| (*j as usize, *value))
    }

    /// (K t)_i.
    #[inline]
    pub fn row_times(&self, i: usize, t: &[DVec3]) -> DVec3 {
        self.row(i).fold(DVec3::ZERO, |sum, (j, k)| sum + k * t[j])
    }
}

/// A family of forces: one dynamic call per family and step, element loops inside are monomorphic.
pub trait ForceModel: Send + Sync {
    /// Short name, used in energy reports.
    fn name(&self) -> &'static str;
    /// Which particles interact, and how.
    fn coupling(&self) -> Coupling<'_>;
    /// Fills `out` with every element's answer at `at`; `foreseen` holds the stress kept by
    /// [`ForceModel::foresee`], or nothing.
    fn respond(&self, at: Moment, mix: Mix, foreseen: &[Stress], out: &mut Interactions);
    /// Fills only the forces of `out`: all that explicit steps ask for.
    fn push(&self, at: Moment, out: &mut Interactions) {
        self.respond(at, Mix::NONE, &[], out);
    }
    /// Stored energy at `at` [J].
    fn energy(&self, at: Moment) -> f64;
    /// See [`Law::drive`].
    fn drive(&mut self, outside: &Outside);
    /// See [`Law::is_lossy`].
    fn is_lossy(&self) -> bool;
    /// Moves each kept stress by `fraction` of the way to that after particles change by `change` [m] and
    /// their velocities by `change` × `per_time`. Families without a geometric tangent keep none.
    fn foresee(&self, at: Moment, change: &[DVec3], per_time: f64, fraction: f64, kept: &mut Vec<Stress>);
    /// How many elements remember; 0 for families without memory.
    fn remembering(&self) -> usize {
        0
    }
    /// Fills `memory` with what elements remember after a step that ended at `at`.
    fn remember(&self, _at: Moment, _memory: &mut Vec<Memory>) {}
    /// See [`Law::springs`].
    fn springs(&self) -> Option<Springs<'_>> {
        None
    }
    /// The ways apart that contacts keep, if it is contacts: what pushes where.
    fn pushes(&self, _at: Moment) -> Vec<[DVec3; 2]> {
        Vec::new()
    }
    /// See [`Law::part`]: for all elements, in the order of the forces of [`ForceModel::respond`].
    fn part(&self, _at: Moment) -> Option<(&'static str, Vec<DVec3>)> {
        None
    }
    /// See [`Law::lead`].
    fn lead(&mut self, _source: usize, _way: [DVec3; 2], _span: [f64; 2]) {}
    /// See [`Law::stretches`].
    fn stretches(&self) -> bool {
        false
    }
    /// Whether who interacts with whom changes from step to step: such a family has one gauge per element, and is no part of
    /// the lasting pattern of assembled matrices; it is taken in where it couples neighbours, or where that pays.
    fn passes(&self) -> bool {
        false
    }
    /// Itself, for whoever put it there and changes it between steps.
    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        None
    }
}

/// A law applied to many elements of the same shape.
pub struct Elements<const P: usize, const G: usize, L> {
    stencil: Stencil,
    /// The law. Its per-element constants are indexed by element.
    pub law: L,
}

impl<const P: usize, const G: usize, L: Law<P, G>> Elements<P, G, L> {
    /// Elements over `particles` particles; `members[e]` and `weights[e][g]` belong to element e.
    pub fn new(particles: usize, members: &[[u32; P]], weights: &[[[f64; P]; G]], law: L) -> Self {
        Elements { stencil: Stencil::new(particles, members, weights), law }
    }

    /// Which particles interact, and with which weights.
    pub fn stencil(&self) -> &Stencil {
        &self.stencil
    }

    /// What `element` sees at `at`.
    pub fn sample(&self, element: usize, at: Moment) -> Sample<P, G> {
        let members = &self.stencil.members[element * P..][..P];
        let mut x = [DVec3::ZERO; P];
        for a in 0..P {
            x[a] = at.x[members[a] as usize];
        }
        let (gauge, rate) = (self.gauges(element, at.x), self.gauges(element, at.v));
        let memory = at.memory.get(element).copied().unwrap_or_default();
        Sample { x, gauge, rate, foreseen: None, memory }
    }

    /// Gauges of `element` for particle values `t`.
    fn gauges(&self, element: usize, t: &[DVec3]) -> [DVec3; G] {
        let members = &self.stencil.members[element * P..][..P];
        let weights = &self.stencil.weights[element * P * G..][..P * G];
        let mut gauge = [DVec3::ZERO; G];
        for a in 0..P {
            let value = t[members[a] as usize];
            for g in 0..G {
                gauge[g] += weights[g * P + a] * value;
            }
        }
        gauge
    }
}

impl<const P: usize, const G: usize, L: Law<P, G>> ForceModel for Elements<P, G, L> {
    fn name(&self) -> &'static str {
        self.law.name()
    }

    fn coupling(&self) -> Coupling<'_> {
        Coupling::Elements(&self.stencil)
    }

    fn respond(&self, at: Moment, mix: Mix, foreseen: &[Stress], out: &mut Interactions) {
        let len = self.stencil.len();
        out.energies.resize(len, 0.0);
        for vectors in [&mut out.force, &mut out.push, &mut out.lossy] {
            vectors.resize(len * G, DVec3::ZERO);
        }
        out.tangent.resize(len * G * G, DMat3::ZERO);
        let slots = (
            (&mut out.energies[..], 1),
            (&mut out.force[..], G),
            (&mut out.push[..], G),
            (&mut out.lossy[..], G),
            (&mut out.tangent[..], G * G),
        );
        parallel::update_groups5(slots, |element, energy, force, push, lossy, tangent| {
            let mut sample = self.sample(element, at);
            sample.foreseen = foreseen.get(element).copied();
            let answer = self.law.respond(element, &sample);
            energy[0] = answer.energy;
            for g in 0..G {
                force[g] = answer.force[g];
                push[g] = answer.force[g];
                lossy[g] = answer.lossy[g];
                for k in 0..G {
                    push[g] -= mix.lag * (answer.stiffness[g][k] * sample.rate[k]);
                    tangent[g * G + k] =
                        answer.stiffness[g][k] * mix.stiffness + answer.damping[g][k] * mix.damping;
                }
            }
        });
        let energies = &out.energies;
        out.energy = reduce::sum(len, |e| energies[e]);
    }

    fn push(&self, at: Moment, out: &mut Interactions) {
        out.force.resize(self.stencil.len() * G, DVec3::ZERO);
        parallel::update_groups(&mut out.force, G, |element, force| {
            force.copy_from_slice(&self.law.force(element, &self.sample(element, at)));
        });
    }

    fn energy(&self, at: Moment) -> f64 {
        reduce::sum(self.stencil.len(), |e| self.law.respond(e, &self.sample(e, at)).energy)
    }

    fn drive(&mut self, outside: &Outside) {
        self.law.drive(outside);
    }

    fn is_lossy(&self) -> bool {
        self.law.is_lossy()
    }

    fn foresee(&self, at: Moment, change: &[DVec3], per_time: f64, fraction: f64, kept: &mut Vec<Stress>) {
        if !self.law.foresees() {
            return;
        }
        kept.resize(self.stencil.len(), [0.0; 3]);
        parallel::update(kept, |element, kept| {
            let change = self.gauges(element, change);
            let expected = self.law.foresee(element, &self.sample(element, at), &change, per_time);
            for (kept, expected) in kept.iter_mut().zip(expected) {
                *kept += fraction * (expected - *kept);
            }
        });
    }

    fn remembering(&self) -> usize {
        if self.law.remembers() { self.stencil.len() } else { 0 }
    }

    fn remember(&self, at: Moment, memory: &mut Vec<Memory>) {
        if self.law.remembers() {
            memory.resize(self.stencil.len(), Memory::default());
            parallel::fill(memory, |element| self.law.remember(element, &self.sample(element, at)));
        }
    }

    fn part(&self, at: Moment) -> Option<(&'static str, Vec<DVec3>)> {
        let name = self.law.part_name()?;
        let part = (0..self.stencil.len()).flat_map(|e| self.law.part(e, &self.sample(e, at)));
        Some((name, part.collect()))
    }

    fn lead(&mut self, source: usize, way: [DVec3; 2], span: [f64; 2]) {
        self.law.lead(source, way, span);
    }

    fn springs(&self) -> Option<Springs<'_>> {
        self.law.springs()
    }

    fn stretches(&self) -> bool {
        self.law.stretches()
    }
}

/// Who interacts with whom: P particles and G gauges per element, with constant weights.
#[derive(Clone, Debug)]
pub struct Stencil {
    shape: (usize, usize),
    /// P particles per element.
    members: Vec<u32>,
    /// G·P weights per element, gauge by gauge.
    weights: Vec<f64>,
    /// Where each particle's entries of `incident` start.
    start: Vec<u32>,
    /// Element·P + local index, ascending per particle: the fixed order in which a particle sums.
    incident: Vec<u32>,
}

/// Calls a const-generic kernel for the shape at hand. Shapes are few and closed; laws are open.
macro_rules! by_shape {
    ($stencil:expr, $kernel:ident ( $($argument:expr),* )) => {
        match $stencil.shape {
            (1, 1) => $stencil.$kernel::<1, 1>($($argument),*),
            (2, 1) => $stencil.$kernel::<2, 1>($($argument),*),
            (3, 1) => $stencil.$kernel::<3, 1>($($argument),*),
            (3, 2) => $stencil.$kernel::<3, 2>($($argument),*),
            (4, 1) => $stencil.$kernel::<4, 1>($($argument),*),
            (4, 3) => $stencil.$kernel::<4, 3>($($argument),*),
            (p, g) => unreachable!("no kernel for {p} particles and {g} gauges"),
        }
    };
}

impl Stencil {
    /// Elements with these members and weights, among `particles` particles.
    pub fn new<const P: usize, const G: usize>(
        particles: usize,
        members: &[[u32; P]],
        weights: &[[[f64; P]; G]],
    ) -> Stencil {
        assert_eq!(members.len(), weights.len(), "one set of weights per element");
        let members: Vec<u32> = members.iter().flatten().copied().collect();
        let weights = weights.iter().flatten().flatten().copied().collect();
        let mut start = vec![0u32; particles + 1];
        for &particle in &members {
            start[particle as usize + 1] += 1;
        }
        for i in 0..particles {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut incident = vec![0; members.len()];
        for (slot, &particle) in members.iter().enumerate() {
            incident[next[particle as usize] as usize] = slot as u32;
            next[particle as usize] += 1;
        }
        Stencil { shape: (P, G), members, weights, start, incident }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.members.len() / self.shape.0
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Gauges per element.
    pub fn gauges(&self) -> usize {
        self.shape.1
    }

    /// Particles per element.
    pub fn particles(&self) -> usize {
        self.shape.0
    }

    /// Particles of each element in turn.
    pub fn elements(&self) -> impl Iterator<Item = &[u32]> {
        self.members.chunks_exact(self.shape.0)
    }

    /// Particles of one element.
    pub fn members(&self, element: usize) -> &[u32] {
        &self.members[element * self.shape.0..][..self.shape.0]
    }

    /// Weight of local particle `a` in gauge `g` of `element`.
    pub fn weight(&self, element: usize, g: usize, a: usize) -> f64 {
        self.weights[(element * self.shape.1 + g) * self.shape.0 + a]
    }

    /// Adds Σ S φ to every particle, each summing its own entries in ascending order.
    pub fn scatter(&self, gauges: &[DVec3], out: &mut [DVec3]) {
        by_shape!(self, scatter_kernel(gauges, out));
    }

    fn scatter_kernel<const P: usize, const G: usize>(&self, gauges: &[DVec3], out: &mut [DVec3]) {
        parallel::update(out, |i, total| {
            for &slot in self.slots_of(i) {
                let (element, a) = (slot as usize / P, slot as usize % P);
                let weights = &self.weights[element * P * G..][..P * G];
                for g in 0..G {
                    *total += weights[g * P + a] * gauges[element * G + g];
                }
            }
        });
    }

    /// Sets `out` = T S t: the generalised force of each element for particle values `t`.
    pub fn multiply(&self, tangent: &[DMat3], t: &[DVec3], out: &mut [DVec3]) {
        by_shape!(self, multiply_kernel(tangent, t, out));
    }

    fn multiply_kernel<const P: usize, const G: usize>(
        &self,
        tangent: &[DMat3],
        t: &[DVec3],
        out: &mut [DVec3],
    ) {
        parallel::update_groups(out, G, |element, result| {
            let members = &self.members[element * P..][..P];
            let weights = &self.weights[element * P * G..][..P * G];
            let blocks = &tangent[element * G * G..][..G * G];
            let mut gauge = [DVec3::ZERO; G];
            for a in 0..P {
                let value = t[members[a] as usize];
                for g in 0..G {
                    gauge[g] += weights[g * P + a] * value;
                }
            }
            for g in 0..G {
                result[g] = blocks[g * G] * gauge[0];
                for k in 1..G {
                    result[g] += blocks[g * G + k] * gauge[k];
                }
            }
        });
    }

    /// Adds the diagonal block of Sᵀ T S of every particle to `out`.
    pub fn add_diagonal(&self, tangent: &[DMat3], out: &mut [DMat3]) {
        by_shape!(self, diagonal_kernel(tangent, out));
    }

    fn diagonal_kernel<const P: usize, const G: usize>(&self, tangent: &[DMat3], out: &mut [DMat3]) {
        parallel::update(out, |i, total| {
            for &slot in self.slots_of(i) {
                let (element, a) = (slot as usize / P, slot as usize % P);
                *total += self.block::<P, G>(tangent, element, a, a);
            }
        });
    }

    /// Adds the sum of each particle's row of Sᵀ T S to `out`: its share of the resistance to moving all together.
    /// Where weights are positive this is a bound on Sᵀ T S from above that couples nobody.
    pub fn add_row_sums(&self, tangent: &[DMat3], out: &mut [DMat3]) {
        by_shape!(self, row_sums_kernel(tangent, out));
    }

    fn row_sums_kernel<const P: usize, const G: usize>(&self, tangent: &[DMat3], out: &mut [DMat3]) {
        parallel::update(out, |i, total| {
            for &slot in self.slots_of(i) {
                let (element, a) = (slot as usize / P, slot as usize % P);
                for b in 0..P {
                    *total += self.block::<P, G>(tangent, element, a, b);
                }
            }
        });
    }

    /// For every particle i, calls `add(&mut rows[i], key, block)` for each block of row i of Sᵀ T S that
    /// its elements hold, in ascending order of elements. The key numbers (element, row, column) so that
    /// callers can look up where the block goes; [`Stencil::columns`] lists keys with their columns.
    pub fn add_rows(
        &self,
        tangent: &[DMat3],
        rows: &mut [&mut [DMat3]],
        add: impl Fn(&mut [DMat3], usize, DMat3) + Sync,
    ) {
        by_shape!(self, rows_kernel(tangent, rows, add));
    }

    fn rows_kernel<const P: usize, const G: usize>(
        &self,
        tangent: &[DMat3],
        rows: &mut [&mut [DMat3]],
        add: impl Fn(&mut [DMat3], usize, DMat3) + Sync,
    ) {
        parallel::update(rows, |i, row| {
            for &slot in self.slots_of(i) {
                let (element, a) = (slot as usize / P, slot as usize % P);
                for b in 0..P {
                    add(row, slot as usize * P + b, self.block::<P, G>(tangent, element, a, b));
                }
            }
        });
    }

    /// Row and column of every key of [`Stencil::add_rows`], in order of keys.
    pub fn columns(&self) -> impl Iterator<Item = (u32, u32)> {
        self.elements().flat_map(|members| {
            members.iter().flat_map(move |&row| members.iter().map(move |&column| (row, column)))
        })
    }

    /// Block (a, b) of Sᵀ T S of one element.
    #[inline]
    fn block<const P: usize, const G: usize>(
        &self,
        tangent: &[DMat3],
        element: usize,
        a: usize,
        b: usize,
    ) -> DMat3 {
        let weights = &self.weights[element * P * G..][..P * G];
        let blocks = &tangent[element * G * G..][..G * G];
        let mut sum = DMat3::ZERO;
        for g in 0..G {
            for k in 0..G {
                sum += blocks[g * G + k] * (weights[g * P + a] * weights[k * P + b]);
            }
        }
        sum
    }

    /// Element × (particles per element) + local index of every element that has `particle`, ascending: the order
    /// in which it sums.
    pub fn slots_of(&self, particle: usize) -> &[u32] {
        &self.incident[self.start[particle] as usize..self.start[particle + 1] as usize]
    }
}
