//! The substep, in order. Whoever reads this has understood the program.

use crate::contact::gauges::Gauges;
use crate::contact::{ContactSettings, Meeting, Response, TooLong};
use crate::freedom::Mobility;
use crate::interaction::{Memory, Stress};
use crate::math::{DMat3, DVec3};
use crate::model::{Journey, Model, Surroundings};
use crate::probe::{Probe, Stage};
use crate::solve::{Course, Integrator, Ledger, Place, SolverSettings, Span, Stepper, stability};
use crate::state::{State, StepError};

/// Halvings of a substep before it is given up: 2⁻¹⁰ of it is tried last.
const DEEPEST: u32 = 10;

/// Halvings left when contact makes do with what it can reach.
const LAST: u32 = 4;

/// Storage that a substep uses and throws away.
#[derive(Default)]
struct Scratch {
    mobility: Mobility,
    places: Vec<Place>,
    stepper: Stepper,
    solved: Solved,
}

/// Where the solver left a substep, before contact let it go only where nothing meets.
#[derive(Default)]
pub(crate) struct Solved {
    /// Positions [m].
    pub x: Vec<DVec3>,
    /// Velocities [m/s].
    pub v: Vec<DVec3>,
    /// Length of the substep [s].
    pub dt: f64,
}

/// A connected part of a cloth within an island.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Its number among all parts of the world.
    pub number: usize,
    /// Which cloth it belongs to.
    pub cloth: usize,
    /// Vertex of the cloth that each of its particles is, ascending.
    pub vertices: Vec<u32>,
    /// Its first particle in the island.
    pub first: usize,
    /// Its faces and edges.
    pub elements: [usize; 2],
}

/// Parts that forces take alike, and the families of forces they share.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    /// The parts, by place in the island.
    pub parts: Vec<usize>,
    /// Their families.
    pub families: std::ops::Range<usize>,
}

/// Particles joined by forces and contacts, with all that moves them. Stopping, retries and substeps are decided per
/// island, so nothing unrelated changes a bit of it.
pub struct Island {
    /// Its parts, in order of their particles.
    pub(crate) parts: Vec<Part>,
    /// Its parts by kind.
    pub(crate) kinds: Vec<Kind>,
    /// What is fixed.
    pub model: Model,
    /// What moves.
    pub now: State,
    next: State,
    saved: State,
    scratch: Scratch,
    /// What it meets and how; nothing where it meets nothing.
    pub(crate) meeting: Option<Meeting>,
}

impl Island {
    /// An island that belongs to no cloth: any particles with any forces.
    pub fn alone(model: Model, now: State) -> Island {
        Island::new(Vec::new(), Vec::new(), model, now)
    }

    pub(crate) fn new(parts: Vec<Part>, kinds: Vec<Kind>, model: Model, now: State) -> Island {
        Island {
            parts,
            kinds,
            meeting: None,
            model,
            next: now.clone(),
            saved: now.clone(),
            now,
            scratch: Scratch::default(),
        }
    }

    /// Puts a particle somewhere by hand. Its past means nothing then, and stress is foreseen anew.
    pub(crate) fn place(&mut self, particle: usize, position: DVec3) {
        self.now.x[particle] = position;
        self.forget(particle);
    }

    /// Gives a particle another velocity.
    pub(crate) fn push(&mut self, particle: usize, velocity: DVec3) {
        self.now.v[particle] = velocity;
        self.forget(particle);
    }

    fn forget(&mut self, particle: usize) {
        let restart = &mut self.now.past.restart;
        if let Err(at) = restart.binary_search(&(particle as u32)) {
            restart.insert(at, particle as u32);
        }
        self.now.stress.clear();
    }

    /// Cloth and vertex of a particle.
    pub(crate) fn vertex_of(&self, particle: usize) -> (usize, u32) {
        let at = self.parts.partition_point(|part| part.first <= particle).saturating_sub(1);
        self.parts.get(at).map_or((0, 0), |part| (part.cloth, part.vertices[particle - part.first]))
    }

    /// What the elements of part `k` remember, family by family of its kind.
    pub(crate) fn memory_of(&self, k: usize) -> Vec<Vec<Memory>> {
        let Some(kind) = self.kinds.iter().find(|kind| kind.parts.contains(&k)) else { return Vec::new() };
        if self.now.memory.is_empty() {
            return Vec::new();
        }
        let own = kind.families.clone().map(|family| {
            let memory = &self.now.memory[family];
            let (first, len) = self.elements_of(kind, k, memory.len());
            memory[first..first + len].to_vec()
        });
        own.collect()
    }

    /// Takes over what the elements of its parts remember.
    pub(crate) fn take_memory(&mut self, parts: &[&Vec<Vec<Memory>>]) {
        self.now.memory.clear();
        if parts.iter().all(|memory| memory.is_empty()) {
            return;
        }
        self.now.memory.resize(self.model.forces.len(), Vec::new());
        for kind in &self.kinds {
            for (place, family) in kind.families.clone().enumerate() {
                let all = kind.parts.iter().flat_map(|k| parts[*k].get(place).into_iter().flatten().copied());
                let all: Vec<Memory> = all.collect();
                let expected = self.model.forces[family].remembering();
                // A part that nothing happened to remembers nothing yet: as zeros, in its place.
                self.now.memory[family] = match all.len() == expected {
                    true => all,
                    false => vec![Memory::default(); expected],
                };
            }
        }
    }

    /// Where the elements of part `k` are among the `total` of a family of its kind. Families have one element per
    /// face or one per edge, part by part.
    fn elements_of(&self, kind: &Kind, k: usize, total: usize) -> (usize, usize) {
        let count = |by: usize| kind.parts.iter().map(|p| self.parts[*p].elements[by]).sum::<usize>();
        let by = usize::from(total != count(0));
        let before = kind.parts.iter().take_while(|p| **p != k);
        let first = before.map(|p| self.parts[*p].elements[by]).sum::<usize>();
        if total == count(by) { (first, self.parts[k].elements[by]) } else { (0, 0) }
    }

    /// Foresees the stress that `old` foresaw, an island of the same parts in the same cloth.
    pub(crate) fn foresee_as(&mut self, old: &Island) {
        let alike = |(a, b): (&Kind, &Kind)| a.parts == b.parts && a.families == b.families;
        let same = self.kinds.len() == old.kinds.len() && self.kinds.iter().zip(&old.kinds).all(alike);
        let families = self.kinds.last().map_or(0, |kind| kind.families.end);
        if same && old.now.stress.len() >= families {
            self.now.stress = old.now.stress[..families].to_vec();
            self.now.stress.resize(self.model.forces.len(), Vec::new());
        }
    }

    /// Foresees the stress that `old` foresaw, an island of the same single part whose faces came from those in `faces`: a part of
    /// a face is stressed as the face is.
    pub(crate) fn foresee_through(&mut self, old: &Island, faces: &[u32]) {
        let ([kind], [before]) = (&self.kinds[..], &old.kinds[..]) else { return };
        let (families, stress) = (kind.families.clone(), &old.now.stress);
        if families != before.families || stress.len() < families.end || self.parts.len() != 1 {
            return;
        }
        let all: Option<Vec<Vec<Stress>>> = stress[..families.end]
            .iter()
            .map(|own| match own.is_empty() {
                true => Some(Vec::new()),
                // Families with an element for each edge have none that an edge within a face came from.
                false if own.len() != old.parts[0].elements[0] => None,
                false => faces.iter().map(|f| own.get(*f as usize).copied()).collect(),
            })
            .collect();
        if let Some(all) = all {
            self.now.stress = all;
            self.now.stress.resize(self.model.forces.len(), Vec::new());
        }
    }

    /// Lets it meet what `meeting` knows of.
    pub(crate) fn meet(&mut self, meeting: Meeting) {
        if self.meeting.is_none() {
            self.model.gauges = Some(self.model.forces.len());
            self.model.forces.push(Box::new(Gauges::none(self.now.x.len())));
            self.now.stress.clear();
            if !self.now.memory.is_empty() {
                self.now.memory.push(Vec::new());
            }
        }
        self.meeting = Some(meeting);
    }

    /// Advances by one substep. Each stage reads the previous stage's output only; on an error the state is
    /// as it was.
    fn step(
        &mut self,
        settings: &SolverSettings,
        around: Surroundings,
        (time, dt, last): (f64, f64, bool),
        probe: &mut Probe,
    ) -> Result<(), Refused> {
        let Island { model, now, next, saved, scratch, meeting, .. } = self;
        probe.start();
        saved.copy_from(now);
        model.begin(now, time, dt, &mut scratch.mobility); // pins take hold or let go
        let (feels, mut pull) = (settings.integrator.feels_stiffness(), Vec::new());
        if let Some(meeting) = meeting {
            model.go_to(&now.grips, time + dt, dt, &mut scratch.places);
            pull = match around.contact.response {
                Response::Constraint | Response::Correction if feels => model.pull(now),
                _ => Vec::new(),
            };
            let span = (time, dt, last, feels);
            let motion = (&now.v[..], &pull[..], &[][..]);
            let outing = model.outing(around, &scratch.mobility, &scratch.places, motion, span);
            let begun = outing.map_or(Ok(()), |(outing, gauges)| meeting.begin(now, outing, gauges, probe));
            if begun.is_err() {
                std::mem::swap(now, saved);
                return Err(Refused::TooLong);
            }
        }
        let mut journey = Journey {
            model,
            grips: &now.grips,
            memory: &now.memory,
            mobility: &scratch.mobility,
            places: &mut scratch.places,
            struck: meeting.as_ref().map(|meeting| meeting.struck()),
        };
        let span = Span { settings, time, dt, solves: settings.newton.max_solves };
        let mut sound = match scratch.stepper.advance(&mut journey, span, now, next, probe) {
            true => next.check_finite().map_err(Refused::NotFinite),
            false => Err(Refused::NotFinite(now.fastest())),
        };
        let Solved { x, v, dt: length } = &mut scratch.solved;
        x.clone_from(&next.x);
        v.clone_from(&next.v);
        *length = dt;
        if sound.is_ok() {
            model.settle(&scratch.mobility, next);
        }
        if let (Ok(()), Some(meeting)) = (&sound, meeting) {
            let span = (time, dt, last, feels);
            let motion = (&now.v[..], &pull[..], scratch.stepper.owed());
            let outing = model.outing(around, &scratch.mobility, &scratch.places, motion, span);
            let ended =
                outing.map_or(Ok(()), |(outing, gauges)| meeting.end(now, next, outing, gauges, probe));
            sound = ended.map_err(|_: TooLong| Refused::TooLong);
            if sound.is_ok() && !around.contact.guarantee {
                model.close_cracks(&scratch.mobility, next);
            }
        }
        if sound.is_ok() {
            model.remember(next);
        }
        std::mem::swap(now, if sound.is_ok() { next } else { saved });
        probe.counters.substeps += 1;
        probe.lap(Stage::Update);
        sound
    }

    /// Where the solver left the last substep.
    pub(crate) fn solved(&self) -> &Solved {
        &self.scratch.solved
    }

    /// What its forces met.
    pub(crate) fn ledger(&self) -> &Ledger {
        self.scratch.stepper.ledger()
    }

    /// The state before the last substep.
    pub(crate) fn before(&self) -> &State {
        &self.saved
    }

    /// Projector on the directions in which a particle could go in the last substep; before the first, by what holds it now.
    pub(crate) fn bound(&self, particle: usize) -> DMat3 {
        let Mobility { inverse_mass, projectors } = &self.scratch.mobility;
        if inverse_mass.is_empty() {
            return self.model.freedom[particle].projector();
        }
        let found = projectors.binary_search_by_key(&(particle as u32), |(p, _)| *p);
        found.map_or(DMat3::IDENTITY, |at| projectors[at].1)
    }

    /// The longest stable step of `integrator` from here [s]; infinity if it is implicit.
    pub fn longest_step(&mut self, integrator: Integrator, time: f64, dt: f64) -> f64 {
        if !integrator.is_explicit() {
            return f64::INFINITY;
        }
        let Island { model, now, scratch, .. } = self;
        let mut held = now.clone();
        model.begin(&mut held, time, dt, &mut scratch.mobility);
        let mut journey = Journey {
            model,
            grips: &held.grips,
            memory: &held.memory,
            mobility: &scratch.mobility,
            places: &mut scratch.places,
            struck: None,
        };
        journey.go_to(time, -dt);
        integrator.longest_step(stability::fastest(journey.bodies(), &held.x, &held.v))
    }

    /// Advances by `dt` meeting nothing, see [`Island::advance_among`].
    pub fn advance(
        &mut self,
        settings: &SolverSettings,
        time: f64,
        dt: f64,
        probe: &mut Probe,
    ) -> Result<(), (StepError, f64)> {
        let contact = ContactSettings::off();
        self.advance_among(settings, Surroundings { contact: &contact, bodies: &[] }, time, dt, probe)
    }

    /// Advances by `dt`, in two halves if that cannot be done at once, and so on. Returns the length of the
    /// smallest substep tried with the error if nothing helps.
    pub fn advance_among(
        &mut self,
        settings: &SolverSettings,
        around: Surroundings,
        time: f64,
        dt: f64,
        probe: &mut Probe,
    ) -> Result<(), (StepError, f64)> {
        // An explicit step is as long as it was asked to be, or follows its own error: blowing up is an answer.
        let halvings = if settings.integrator.is_explicit() { 0 } else { DEEPEST };
        self.advance_within(settings, around, time, dt, halvings, probe)
    }

    fn advance_within(
        &mut self,
        settings: &SolverSettings,
        around: Surroundings,
        time: f64,
        dt: f64,
        halvings: u32,
        probe: &mut Probe,
    ) -> Result<(), (StepError, f64)> {
        match self.step(settings, around, (time, dt, halvings <= LAST), probe) {
            Ok(()) => Ok(()),
            Err(refused) if halvings == 0 => Err((refused.error(&self.now), dt)),
            Err(refused) => {
                match refused {
                    Refused::NotFinite(_) => probe.counters.retries += 1,
                    Refused::TooLong => probe.counters.halved += 1,
                }
                let half = 0.5 * dt;
                self.advance_within(settings, around, time, half, halvings - 1, probe)?;
                self.advance_within(settings, around, time + half, half, halvings - 1, probe)
            }
        }
    }
}

/// Why a substep was not accepted.
enum Refused {
    /// Its numbers were lost.
    NotFinite(StepError),
    /// It is too long for what meets.
    TooLong,
}

impl Refused {
    fn error(self, now: &State) -> StepError {
        match self {
            Refused::NotFinite(error) => error,
            Refused::TooLong => StepError { what: "contact", ..now.fastest() },
        }
    }
}
