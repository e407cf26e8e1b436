//! The world: cloths, what holds them, and time.

mod adapt;
mod drape;
mod form;
mod readings;
mod reshape;
mod revise;
mod seams;
mod snapshot;
mod tailor;
mod tangled;
mod whole;

pub use drape::Draped;
pub use form::{ClothForm, Form};
pub use reshape::ReshapeError;
pub use revise::Heritage;
pub use seams::Closing;
pub use snapshot::Snapshot;
pub use tailor::{TailorError, Tailoring};

use crate::collide::Role;
use crate::collide::collider::Collider;
use crate::contact::space::{Object, Shape};
use crate::contact::{ContactSettings, Meeting, Release, Tangle, Touch};
use crate::drive::Motion;
use crate::error::{FrameError, SetupError, SetupProblem};
use crate::forces::membrane::{material_weights, principal_strain};
use crate::forces::{Halfway, WindField};
use crate::freedom::Freedom;
use crate::grouping::{self, Corners, Loose};
use crate::interaction::Moment;
use crate::math::{DVec3, reduce};
use crate::mesh::{Levels, Remap};
use crate::model::{Model, Surroundings};
use crate::probe::{Energies, Probe};
use crate::setup::{
    self, Anchor, Cloth, ElasticBetween, Obstacle, Piece, PinDown, Seam, Setup, within_reach,
};
use crate::solve::{SolverSettings, families};
use crate::state::State;
use crate::step::{Island, Part};
use rayon::prelude::*;
use std::sync::Arc;

/// A change between frames.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named by the variant's own sentence")]
pub enum Edit {
    /// Changes where a vertex may go; pins come on top.
    Freedom { cloth: usize, vertex: u32, freedom: Freedom },
    /// Puts a vertex somewhere [m].
    Place { cloth: usize, vertex: u32, position: DVec3 },
    /// Gives a vertex a velocity [m/s].
    Velocity { cloth: usize, vertex: u32, velocity: DVec3 },
    /// Changes gravity [m/s²].
    Gravity(DVec3),
    /// Changes the wind.
    Wind(WindField),
    /// Lets the place to which an elastic draws go straight to another [m] within the coming `time` [s].
    Lead { elastic: usize, to: DVec3, time: f64 },
}

/// Cloths in motion.
pub struct World {
    cloths: Vec<Cloth>,
    bodies: Vec<Obstacle>,
    contact: ContactSettings,
    pins: Vec<PinDown>,
    elastics: Vec<ElasticBetween>,
    seams: Vec<Seam>,
    pieces: Vec<Piece>,
    /// What bodies look like to those they meet.
    shapes: Vec<Arc<Shape>>,
    islands: Vec<Island>,
    /// Levels of detail of each cloth that is refined.
    levels: Vec<Option<Arc<Levels>>>,
    /// What was let through in whole frames and not yet taken away.
    releases: Vec<Release>,
    /// Meshes that changed in the last frame and since.
    reshaped: Vec<(usize, Remap)>,
    /// What started through something else and is not yet clear of it.
    tangles: Vec<Tangle>,
    /// Whether vertices were placed by hand since the last step.
    placed: bool,
    /// What was changed as it was built, and as it is now; nothing where nothing was changed.
    start: Option<Arc<Form>>,
    form: Option<Arc<Form>>,
    solver: SolverSettings,
    substeps: u32,
    gravity: DVec3,
    wind: WindField,
    time: f64,
    frames: u64,
}

impl World {
    /// Builds a world, or says all that is wrong with `setup`.
    pub fn new(setup: Setup) -> Result<World, SetupError> {
        let mut world = World::apart(setup)?;
        world.make_levels()?;
        world.find_tangles();
        Ok(world)
    }

    /// A world whose tangles nobody looked for.
    fn apart(setup: Setup) -> Result<World, SetupError> {
        let mut world = World::bare(setup, None)?;
        world.islands = world.first_groups().iter().map(|parts| world.island(parts)).collect();
        Ok(world)
    }

    /// A world without islands. `shapes` are those of its bodies, if they are known.
    fn bare(setup: Setup, shapes: Option<Vec<Arc<Shape>>>) -> Result<World, SetupError> {
        setup::check(&setup)?;
        let Setup { cloths, bodies, contact, pins, elastics, seams, gravity, wind, solver, substeps } = setup;
        let pieces = setup::pieces(&cloths);
        let levels = vec![None; cloths.len()];
        let shape = |body: &Obstacle| {
            let facets = body.collider.facets();
            Shape::new(facets.positions.len(), facets.faces.clone(), Role::Body).map(Arc::new)
        };
        let shapes = shapes.unwrap_or_else(|| bodies.iter().filter_map(shape).collect());
        Ok(World {
            cloths,
            bodies,
            contact,
            pins,
            elastics,
            seams,
            pieces,
            shapes,
            islands: Vec::new(),
            levels,
            releases: Vec::new(),
            reshaped: Vec::new(),
            tangles: Vec::new(),
            placed: false,
            start: None,
            form: None,
            solver,
            substeps,
            gravity,
            wind,
            time: 0.0,
            frames: 0,
        })
    }

    /// The parts of each island as long as nothing is close to anything.
    fn first_groups(&self) -> Vec<Vec<usize>> {
        let apart = vec![[DVec3::INFINITY, DVec3::NEG_INFINITY]; self.pieces.len()];
        grouping::connected(&apart, &self.sewn())
    }

    /// A new island of some parts, as the cloths start.
    fn island(&self, parts: &[usize]) -> Island {
        let outside = (self.gravity, self.wind);
        let seams: Vec<(&Seam, f64)> = self.seams.iter().map(|seam| (seam, self.sewn_at(seam))).collect();
        let holding = (&self.pins[..], &self.elastics[..], &seams[..]);
        let mut island = setup::island(parts, &self.pieces, &self.cloths, holding, outside);
        let Model { hanging, mass, forces, .. } = &mut island.model;
        if !hanging.is_empty() && self.solver.integrator.feels_stiffness() {
            forces.push(Box::new(Halfway::elements(hanging, mass)));
        }
        self.let_meet(&mut island);
        island
    }

    /// Parts that elastics and seams join.
    fn sewn(&self) -> Vec<[usize; 2]> {
        let part = |cloth: usize, vertex: u32| {
            let has = |p: &Piece| p.cloth == cloth && p.vertices.binary_search(&vertex).is_ok();
            self.pieces.iter().position(has)
        };
        let both = |elastic: &ElasticBetween| match elastic.to {
            Anchor::Vertex(cloth, vertex) => {
                Some([part(elastic.from.0, elastic.from.1)?, part(cloth, vertex)?])
            }
            Anchor::Place(..) => None,
        };
        let seam =
            |seam: &Seam, pair: &[u32; 2]| Some([part(seam.cloth, pair[0])?, part(seam.cloth, pair[1])?]);
        let seams =
            self.seams.iter().flat_map(|own| own.pairs.iter().filter_map(move |pair| seam(own, pair)));
        self.elastics.iter().filter_map(both).chain(seams).collect()
    }

    /// Lets an island meet what is around it.
    fn let_meet(&self, island: &mut Island) {
        if self.contact.is_off() {
            return;
        }
        let mut objects: Vec<Object> = island
            .parts
            .iter()
            .map(|part| Object {
                number: part.cloth as u32,
                names: part.vertices.clone(),
                is_body: false,
                stiff: !self.cloths[part.cloth].braces.springs.is_empty(),
                thickness: self.cloths[part.cloth].fabric.thickness,
                first: 0,
                shape: self.pieces[part.number].shape.clone(),
            })
            .collect();
        let mut bodies = Vec::new();
        if self.contact.bodies {
            for (k, shape) in self.shapes.iter().enumerate() {
                let number = (self.cloths.len() + k) as u32;
                let shape = shape.clone();
                objects.push(Object {
                    number,
                    names: vec![],
                    is_body: true,
                    stiff: false,
                    thickness: 0.0,
                    first: 0,
                    shape,
                });
                bodies.push(k);
            }
        }
        let colliders = self.colliders();
        let mut meeting = Meeting::new(objects, bodies, &colliders, &island.now.x, self.time);
        meeting.set_seams(self.seams.iter().map(|seam| (seam.cloth, &seam.pairs[..])));
        island.meet(meeting);
    }

    fn colliders(&self) -> Vec<&Collider> {
        self.bodies.iter().map(|body| &body.collider).collect()
    }

    /// Advances by a frame of `frame_dt` [s] in equal substeps. A substep whose result is not finite is redone
    /// as two halves; if nothing helps, the world stays as it was before the frame. Seams that have closed are sewn at
    /// its end.
    pub fn step(&mut self, frame_dt: f64, probe: &mut Probe) -> Result<(), FrameError> {
        self.reshaped.clear();
        if self.adapts_within_frames() {
            return self.step_adapting(frame_dt, probe);
        }
        self.frame(frame_dt, probe)?;
        self.look(self.frames, true);
        Ok(())
    }

    /// A frame in which every cloth keeps its mesh.
    fn frame(&mut self, frame_dt: f64, probe: &mut Probe) -> Result<(), FrameError> {
        let before = self.snapshot();
        if std::mem::take(&mut self.placed) {
            self.find_tangles();
        }
        let mut joined = Vec::new();
        self.regroup(frame_dt, &joined);
        self.hand_out_tangles();
        loop {
            let start = (!joined.is_empty() || self.islands.len() > 1).then(|| self.snapshot());
            if let Err(error) = self.advance(frame_dt, probe) {
                self.take_over(before);
                let longest = self.longest_step();
                return Err(FrameError { longest, ..error });
            }
            let close = self.came_close();
            if close.is_empty() {
                break;
            }
            // Two islands touched that were taken for strangers: again, as one.
            joined.extend(close);
            if let Some(start) = start {
                self.take_over(start);
            }
            self.regroup(frame_dt, &joined);
            self.hand_out_tangles();
        }
        self.collect_tangles();
        // From here on the frame is what happened: islands may be rebuilt, the log stays.
        let meetings = self.islands.iter_mut().filter_map(|island| island.meeting.as_mut());
        let mut new: Vec<Release> = meetings.flat_map(|m| std::mem::take(&mut m.releases)).collect();
        new.sort_by(|a, b| a.time.total_cmp(&b.time).then((a.cloth, a.vertex).cmp(&(b.cloth, b.vertex))));
        self.releases.extend(new);
        self.time += frame_dt;
        self.frames += 1;
        self.place_bodies();
        self.close_seams();
        Ok(())
    }

    fn place_bodies(&mut self) {
        for body in &mut self.bodies {
            // It stood there a moment ago, so it can again.
            let placed = body.collider.place(self.time);
            debug_assert!(placed.is_ok());
        }
    }

    /// Fills a frame with substeps.
    fn advance(&mut self, frame_dt: f64, probe: &mut Probe) -> Result<(), FrameError> {
        let dt = frame_dt / f64::from(self.substeps);
        let (time, substeps, solver) = (self.time, self.substeps, self.solver);
        let own = *probe;
        let World { islands, bodies, contact, .. } = self;
        let colliders: Vec<&Collider> = bodies.iter().map(|body| &body.collider).collect();
        let around = Surroundings { contact, bodies: &colliders };
        let advance = |island: &mut Island| {
            let mut probe = own.fresh();
            let mut result = Ok(());
            if let Some(meeting) = &mut island.meeting {
                meeting.forget();
            }
            for k in 0..substeps {
                result = island.advance_among(&solver, around, time + f64::from(k) * dt, dt, &mut probe);
                if result.is_err() {
                    break;
                }
            }
            (result, probe)
        };
        // One entry into the thread pool per frame: from outside it, every small loop would pay for a wake-up.
        let results: Vec<_> = rayon::scope(|_| islands.par_iter_mut().map(advance).collect());
        for (number, (result, counted)) in results.iter().enumerate() {
            probe.counters.merge(&counted.counters);
            if let Err((error, smallest)) = result {
                let (cloth, vertex) = self.islands[number].vertex_of(error.particle);
                return Err(FrameError {
                    cloth: self.cloths[cloth].name.clone(),
                    vertex,
                    what: error.what,
                    value: error.value,
                    time,
                    smallest: *smallest,
                    longest: f64::INFINITY,
                });
            }
        }
        Ok(())
    }

    /// Parts of different islands whose ways in the last frame came close.
    fn came_close(&self) -> Vec<[usize; 2]> {
        if !self.contact.cloth {
            return Vec::new();
        }
        let thick = self.cloths.iter().fold(0.0f64, |most, c| most.max(c.fabric.thickness));
        let near = DVec3::splat(self.contact.gap.max(thick));
        let swept: Vec<Corners> = self
            .islands
            .iter()
            .map(|i| i.meeting.as_ref().map_or([DVec3::ZERO; 2], |m| [m.swept[0] - near, m.swept[1] + near]))
            .collect();
        let mut close = Vec::new();
        for group in grouping::connected(&swept, &[]).iter().filter(|group| group.len() > 1) {
            let first = |k: usize| self.islands[group[k]].parts[0].number;
            close.extend((1..group.len()).map(|k| [first(0), first(k)]));
        }
        close
    }

    /// Joins the parts that may touch in the coming frame, and parts those that cannot.
    fn regroup(&mut self, frame_dt: f64, joined: &[[usize; 2]]) {
        if !self.contact.cloth || self.pieces.len() < 2 {
            return;
        }
        let mut boxes = vec![[DVec3::INFINITY, DVec3::NEG_INFINITY]; self.pieces.len()];
        let fall = self.gravity.length() * frame_dt * frame_dt;
        for island in &self.islands {
            let State { x, v, .. } = &island.now;
            for part in &island.parts {
                let own = &mut boxes[part.number];
                for i in part.first..part.first + part.vertices.len() {
                    let way = 1.2 * frame_dt * v[i];
                    *own = [own[0].min(x[i]).min(x[i] + way), own[1].max(x[i]).max(x[i] + way)];
                }
                let margin = DVec3::splat(fall + 4.0 * self.contact.gap);
                *own = [own[0] - margin, own[1] + margin];
            }
        }
        let groups = grouping::connected(&boxes, &[joined, &self.sewn()[..]].concat());
        self.regroup_as(&groups);
    }

    /// Rebuilds the islands whose parts are not those of a group.
    fn regroup_as(&mut self, groups: &[Vec<usize>]) {
        let same = |island: &Island, group: &[usize]| {
            island.parts.len() == group.len() && island.parts.iter().zip(group).all(|(p, g)| p.number == *g)
        };
        let mut old: Vec<Option<Island>> = std::mem::take(&mut self.islands).into_iter().map(Some).collect();
        let kept: Vec<Option<usize>> = groups
            .iter()
            .map(|group| old.iter().position(|i| i.as_ref().is_some_and(|island| same(island, group))))
            .collect();
        let mut loose = Vec::new();
        let (mut touches, mut let_through) = (Vec::new(), Vec::new());
        for (k, island) in old.iter().enumerate() {
            if let (Some(island), false) = (island, kept.contains(&Some(k))) {
                loose.extend(grouping::parted(island));
                touches.extend(island.meeting.iter().flat_map(|m| m.touches.iter().copied()));
                let_through.extend(island.meeting.iter().flat_map(|m| m.let_through()));
            }
        }
        touches.sort_by_key(|touch| touch.features);
        for (group, kept) in groups.iter().zip(kept) {
            if let Some(island) = kept.and_then(|k| old[k].take()) {
                self.islands.push(island);
                continue;
            }
            let island = self.joined(group, &loose, &touches, &let_through);
            self.islands.push(island);
        }
    }

    /// A new island of parts that were in others, with what their contacts keep.
    fn joined(
        &self,
        group: &[usize],
        loose: &[Loose],
        touches: &[Touch],
        let_through: &[[u32; 2]],
    ) -> Island {
        let mut island = self.island(group);
        grouping::rejoin(&mut island, loose);
        if let Some(meeting) = &mut island.meeting {
            meeting.touches = touches.to_vec();
            meeting.set_let_through(let_through);
        }
        island
    }

    /// The longest stable step of the world's integrator as the cloth is now [s]; infinity if it is implicit.
    pub fn longest_step(&mut self) -> f64 {
        let (integrator, time) = (self.solver.integrator, self.time);
        let of = |island: &mut Island| island.longest_step(integrator, time, 1e-6);
        self.islands.iter_mut().map(of).fold(f64::INFINITY, f64::min)
    }

    /// Time [s].
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Frames stepped so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The cloths as they were given.
    pub fn cloths(&self) -> &[Cloth] {
        &self.cloths
    }

    /// The bodies, where they are now.
    pub fn bodies(&self) -> &[Obstacle] {
        &self.bodies
    }

    /// How cloth meets itself and bodies.
    pub fn contact(&self) -> &ContactSettings {
        &self.contact
    }

    /// Cloths whose meshes changed in the last frame and since, in order, and where everything in each new mesh came from.
    pub fn reshaped(&self) -> &[(usize, Remap)] {
        &self.reshaped
    }

    /// What bodies were let through since this was last asked, and what counts again.
    pub fn take_releases(&mut self) -> Vec<Release> {
        std::mem::take(&mut self.releases)
    }

    /// Vertices that bodies are let through now, as numbers of cloth and vertex, ascending.
    pub fn let_through(&self) -> Vec<[u32; 2]> {
        let meetings = self.islands.iter().filter_map(|island| island.meeting.as_ref());
        let mut all: Vec<[u32; 2]> = meetings.flat_map(Meeting::let_through).collect();
        all.sort_unstable();
        all
    }

    /// Number of islands.
    pub fn islands(&self) -> usize {
        self.islands.len()
    }

    /// Where the vertices of a cloth are now [m]. Vertices that no face uses stay where they started, or are with the vertex
    /// they double.
    pub fn positions(&self, cloth: usize) -> Vec<DVec3> {
        let mut out = self.cloths[cloth].positions.clone();
        self.collect(cloth, |state| &state.x, &mut out);
        out
    }

    /// Velocities of the vertices of a cloth [m/s].
    pub fn velocities(&self, cloth: usize) -> Vec<DVec3> {
        let mut out = vec![DVec3::ZERO; self.cloths[cloth].positions.len()];
        self.collect(cloth, |state| &state.v, &mut out);
        out
    }

    /// Positions for a renderer or a file.
    pub fn positions_f32(&self, cloth: usize) -> Vec<[f32; 3]> {
        self.positions(cloth).iter().map(|p| p.as_vec3().to_array()).collect()
    }

    /// Unit vertex normals for a renderer: area-weighted, towards the side from which faces run
    /// counter-clockwise; zero where no face is.
    pub fn normals_f32(&self, cloth: usize) -> Vec<[f32; 3]> {
        let x = self.positions(cloth);
        let mut normals = vec![DVec3::ZERO; x.len()];
        for face in self.cloths[cloth].mesh.faces() {
            let [a, b, c] = face.map(|v| x[v as usize]);
            let normal = (b - a).cross(c - a);
            for v in face {
                normals[*v as usize] += normal;
            }
        }
        normals.iter().map(|n| n.normalize_or_zero().as_vec3().to_array()).collect()
    }

    /// Largest principal strain of each face of a cloth (0.01 is 1 % longer).
    pub fn strains(&self, cloth: usize) -> Vec<f64> {
        let x = self.positions(cloth);
        let mesh = &self.cloths[cloth].mesh;
        let strain = |(face, rest): (&[u32; 3], &[glam::DVec2; 3])| {
            principal_strain(&material_weights(rest), face.map(|v| x[v as usize]))[0]
        };
        mesh.faces().iter().zip(mesh.rest()).map(strain).collect()
    }

    /// Forces on the vertices of a cloth [N] where it is now, at its present velocity: elasticity, air, soft
    /// pins, contacts and gravity. What hard pins must carry is minus this.
    pub fn forces(&self, cloth: usize) -> Vec<DVec3> {
        self.summed(cloth, |island| island.model.forces_at(&island.now))
    }

    /// Forces of contacts on the vertices of a cloth [N] where it is now: pushes and friction of the pairs that were
    /// close in the last substep. What cloth does to itself sums to nothing; what bodies carry is the rest. Zero before the
    /// first step, after [`World::restore`], and where contacts are corrected after the step instead of felt in it;
    /// what the guarantee took away is not a force and is counted by the probe.
    pub fn contact_forces(&self, cloth: usize) -> Vec<DVec3> {
        self.summed(cloth, |island| island.model.contact_forces_at(&island.now))
    }

    /// A force on each vertex of a cloth, from those on the particles of its islands.
    fn summed(&self, cloth: usize, of: impl Fn(&Island) -> Vec<DVec3>) -> Vec<DVec3> {
        let mut out = vec![DVec3::ZERO; self.cloths[cloth].positions.len()];
        for island in self.islands.iter().filter(|i| i.parts.iter().any(|p| p.cloth == cloth)) {
            let forces = of(island);
            for part in island.parts.iter().filter(|part| part.cloth == cloth) {
                for (vertex, force) in part.vertices.iter().zip(&forces[part.first..]) {
                    out[*vertex as usize] = *force;
                }
            }
        }
        out
    }

    /// Where the energy is.
    pub fn energies(&self) -> Energies {
        let mut sum = Energies::default();
        for island in &self.islands {
            let Model { mass, forces, gravity, .. } = &island.model;
            let State { x, v, memory, .. } = &island.now;
            sum.kinetic += reduce::sum(mass.len(), |i| 0.5 * mass[i] * v[i].length_squared());
            sum.gravity -= reduce::sum(mass.len(), |i| mass[i] * gravity.dot(x[i]));
            for (force, memory) in families(forces, memory) {
                let energy = force.energy(Moment { x, v, memory });
                match sum.stored.iter_mut().find(|(name, _)| *name == force.name()) {
                    Some((_, total)) => *total += energy,
                    None => sum.stored.push((force.name(), energy)),
                }
            }
        }
        sum
    }

    /// Total mass [kg], centre of mass [m] and momentum [kg·m/s].
    pub fn momentum(&self) -> (f64, DVec3, DVec3) {
        let (mut total, mut moment, mut momentum) = (0.0, DVec3::ZERO, DVec3::ZERO);
        for island in &self.islands {
            let (mass, state) = (&island.model.mass, &island.now);
            total += reduce::sum(mass.len(), |i| mass[i]);
            moment += reduce::sum_vectors(mass.len(), |i| mass[i] * state.x[i]);
            momentum += reduce::sum_vectors(mass.len(), |i| mass[i] * state.v[i]);
        }
        (total, moment / total, momentum)
    }

    /// A number that two worlds share exactly when they have the same time, positions and velocities, bit for
    /// bit (up to a chance of 2⁻⁶⁴).
    pub fn fingerprint(&self) -> u64 {
        let mut hash = xxhash_rust::xxh3::Xxh3::new();
        hash.update(&self.time.to_bits().to_le_bytes());
        // Part by part, however they are grouped.
        let parts =
            self.islands.iter().flat_map(|island| island.parts.iter().map(move |part| (part, island)));
        let mut parts: Vec<(&Part, &Island)> = parts.collect();
        parts.sort_by_key(|(part, _)| part.number);
        for (part, island) in parts {
            let own = part.first..part.first + part.vertices.len();
            let values = island.now.x[own.clone()].iter().chain(&island.now.v[own]);
            for value in values.flat_map(|p| p.to_array()) {
                hash.update(&value.to_bits().to_le_bytes());
            }
        }
        hash.digest()
    }

    fn set_outside(&mut self, gravity: DVec3, wind: WindField) {
        (self.gravity, self.wind) = (gravity, wind);
        for island in &mut self.islands {
            (island.model.gravity, island.model.wind) = (gravity, wind);
        }
    }

    /// Makes a change between frames; refuses one that names what does not exist or is not a number.
    pub fn edit(&mut self, edit: &Edit) -> Result<(), SetupError> {
        let mut problems = Vec::new();
        let mut find = |world: &World, cloth: usize, vertex: u32| {
            let found = world.find(cloth, vertex);
            found.map_err(|problem| problems.push(problem)).ok()
        };
        match *edit {
            Edit::Gravity(gravity) if gravity.is_finite() => self.set_outside(gravity, self.wind),
            Edit::Wind(wind) if wind.velocity.is_finite() => self.set_outside(self.gravity, wind),
            Edit::Freedom { cloth, vertex, freedom } => {
                if let Some((island, particle)) = find(self, cloth, vertex) {
                    self.islands[island].model.freedom[particle] = freedom;
                }
            }
            Edit::Place { cloth, vertex, position } if within_reach(position) => {
                if let Some((island, particle)) = find(self, cloth, vertex) {
                    self.islands[island].place(particle, position);
                    self.placed = true;
                }
            }
            Edit::Velocity { cloth, vertex, velocity } if velocity.is_finite() => {
                if let Some((island, particle)) = find(self, cloth, vertex) {
                    self.islands[island].push(particle, velocity);
                }
            }
            Edit::Lead { elastic, to, time } if within_reach(to) && time >= 0.0 && time.is_finite() => {
                problems.extend(self.lead(elastic, to, time));
            }
            _ => problems.push(SetupProblem::OutOfRange {
                what: "a vector of the edit",
                value: f64::NAN,
                limit: "finite, positions within ±1e6 m",
            }),
        }
        if problems.is_empty() { Ok(()) } else { Err(SetupError { problems }) }
    }

    fn lead(&mut self, elastic: usize, to: DVec3, time: f64) -> Option<SetupProblem> {
        let Some(Anchor::Place(at, motion)) = self.elastics.get_mut(elastic).map(|e| &mut e.to) else {
            let (what, limit) = ("number of an elastic that draws to a place", "one of the world's");
            return Some(SetupProblem::OutOfRange { what, value: elastic as f64, limit });
        };
        let (way, span) = ([motion.at(self.time).apply(*at), to], [self.time, self.time + time]);
        (*at, *motion) = (way[0], Motion::straight(way, span));
        for force in self.islands.iter_mut().flat_map(|island| &mut island.model.forces) {
            force.lead(elastic, way, span);
        }
        None
    }

    fn find(&self, cloth: usize, vertex: u32) -> Result<(usize, usize), SetupProblem> {
        let Some(owner) = self.cloths.get(cloth) else {
            return Err(SetupProblem::UnknownCloth { index: cloth, cloths: self.cloths.len() });
        };
        let place = self.islands.iter().enumerate().find_map(|(n, island)| {
            let parts = island.parts.iter().filter(|part| part.cloth == cloth);
            let mut found = parts
                .filter_map(|part| part.vertices.binary_search(&vertex).ok().map(|local| part.first + local));
            found.next().map(|particle| (n, particle))
        });
        let vertices = owner.positions.len();
        place.ok_or(SetupProblem::UnknownVertex { cloth: owner.name.clone(), vertex, vertices })
    }

    fn collect(&self, cloth: usize, field: impl Fn(&State) -> &Vec<DVec3>, out: &mut [DVec3]) {
        for island in &self.islands {
            for part in island.parts.iter().filter(|part| part.cloth == cloth) {
                for (vertex, value) in part.vertices.iter().zip(&field(&island.now)[part.first..]) {
                    out[*vertex as usize] = *value;
                }
            }
        }
        for [double, of] in self.cloths[cloth].doubles.iter() {
            out[*double as usize] = out[*of as usize];
        }
    }
}
