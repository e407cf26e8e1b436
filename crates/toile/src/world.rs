//! The world: cloths, what holds them, and time.

use crate::drive::Motion;
use crate::error::{FrameError, SetupError, SetupProblem};
use crate::forces::attach::Hold;
use crate::forces::membrane::{material_weights, principal_strain};
use crate::forces::{
    AirDrag, Attach, Fabric, LinearHinge, Membrane, Spring, Strain, Tangent, Wind, WindField,
};
use crate::freedom::Freedom;
use crate::interaction::{ForceModel, Moment};
use crate::math::{DVec3, reduce};
use crate::mesh::Mesh;
use crate::model::{Model, Pin};
use crate::probe::{Energies, Probe};
use crate::solve::SolverSettings;
use crate::state::{FARTHEST, State};
use crate::step::Island;
use rayon::prelude::*;
use std::ops::Range;

/// How cloth resists stretching.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stretching {
    /// Finite elements.
    Membrane(Strain),
    /// Springs along edges.
    Springs(Tangent),
}

/// How cloth resists bending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bending {
    /// Not at all.
    None,
    /// The linear hinge.
    Hinge,
}

/// What the air does to a cloth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Air {
    /// Isotropic drag [N·s/m³].
    pub drag: f64,
    /// Drag across the face, linear in the speed [N·s/m³].
    pub normal: f64,
    /// Drag across the face, quadratic in the speed: ½ρC_D [kg/m³].
    pub quadratic: f64,
}

/// A piece of cloth.
#[derive(Clone, Debug)]
pub struct Cloth {
    /// Name, unique in its world.
    pub name: String,
    /// Faces and their shape at rest.
    pub mesh: Mesh,
    /// Where the vertices start [m].
    pub positions: Vec<DVec3>,
    /// Velocity at the start [m/s].
    pub velocity: DVec3,
    /// What it is made of.
    pub fabric: Fabric,
    /// Model of stretching.
    pub stretching: Stretching,
    /// Model of bending.
    pub bending: Bending,
    /// What the air does to it.
    pub air: Air,
}

impl Cloth {
    /// A cloth of finite elements and hinges, at rest, in no air.
    pub fn new(name: &str, mesh: Mesh, positions: Vec<DVec3>, fabric: Fabric) -> Cloth {
        Cloth {
            name: name.to_string(),
            mesh,
            positions,
            velocity: DVec3::ZERO,
            fabric,
            stretching: Stretching::Membrane(Strain::Green),
            bending: Bending::Hinge,
            air: Air::default(),
        }
    }
}

/// How firmly a pin holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Grip {
    /// Exactly, leaving this much freedom.
    Hard(Freedom),
    /// By springs of `stiffness` [N/m] and `damping` [N·s/m].
    Soft {
        /// [N/m]
        stiffness: f64,
        /// [N·s/m]
        damping: f64,
    },
}

/// Some vertices of a cloth held.
#[derive(Clone, Debug)]
pub struct PinDown {
    /// Number of the cloth.
    pub cloth: usize,
    /// Which of its vertices.
    pub vertices: Vec<u32>,
    /// How firmly.
    pub grip: Grip,
    /// How the pin moves.
    pub motion: Motion,
    /// When it holds [s].
    pub active: Range<f64>,
}

impl PinDown {
    /// Holds `vertices` in place for ever.
    pub fn fixed(cloth: usize, vertices: Vec<u32>) -> PinDown {
        PinDown {
            cloth,
            vertices,
            grip: Grip::Hard(Freedom::Fixed),
            motion: Motion::still(),
            active: f64::NEG_INFINITY..f64::INFINITY,
        }
    }
}

/// Everything a world is built from.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Cloths.
    pub cloths: Vec<Cloth>,
    /// What holds them.
    pub pins: Vec<PinDown>,
    /// Gravity [m/s²].
    pub gravity: DVec3,
    /// Wind.
    pub wind: WindField,
    /// How systems are solved.
    pub solver: SolverSettings,
    /// Substeps per frame.
    pub substeps: u32,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            cloths: Vec::new(),
            pins: Vec::new(),
            gravity: DVec3::new(0.0, -9.81, 0.0),
            wind: WindField::default(),
            solver: SolverSettings::default(),
            substeps: 4,
        }
    }
}

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
}

/// The moving part of a world, enough to go on from exactly.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Time [s].
    pub time: f64,
    /// Frames stepped.
    pub frames: u64,
    /// Gravity [m/s²].
    pub gravity: DVec3,
    /// Wind.
    pub wind: WindField,
    /// State of each island.
    pub states: Vec<State>,
    /// Freedoms of each island.
    pub freedoms: Vec<Vec<Freedom>>,
}

/// Cloths in motion.
pub struct World {
    cloths: Vec<Cloth>,
    islands: Vec<Island>,
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
        check(&setup)?;
        let Setup { cloths, pins, gravity, wind, solver, substeps } = setup;
        let mut islands = Vec::new();
        for (number, cloth) in cloths.iter().enumerate() {
            let pins: Vec<&PinDown> = pins.iter().filter(|p| p.cloth == number).collect();
            for faces in cloth.mesh.components() {
                islands.push(build_island(number, cloth, &faces, &pins, gravity, wind));
            }
        }
        Ok(World { cloths, islands, solver, substeps, gravity, wind, time: 0.0, frames: 0 })
    }

    /// Advances by a frame of `frame_dt` [s] in equal substeps. A substep whose result is not finite is redone
    /// as two halves; if nothing helps, the world stays as it was before the frame.
    pub fn step(&mut self, frame_dt: f64, probe: &mut Probe) -> Result<(), FrameError> {
        let before = self.snapshot();
        let dt = frame_dt / f64::from(self.substeps);
        let (time, substeps, solver) = (self.time, self.substeps, self.solver);
        let own = *probe;
        let islands = &mut self.islands;
        let advance = |island: &mut Island| {
            let mut probe = own.fresh();
            let mut result = Ok(());
            for k in 0..substeps {
                result = island.advance(&solver, time + f64::from(k) * dt, dt, 0, &mut probe);
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
                let island = &self.islands[number];
                let error = FrameError {
                    cloth: self.cloths[island.cloth].name.clone(),
                    vertex: island.vertices[error.particle],
                    what: error.what,
                    value: error.value,
                    time,
                    smallest: *smallest,
                };
                self.take_over(before);
                return Err(error);
            }
        }
        self.time += frame_dt;
        self.frames += 1;
        Ok(())
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

    /// Number of islands.
    pub fn islands(&self) -> usize {
        self.islands.len()
    }

    /// Where the vertices of a cloth are now [m]. Vertices that no face uses stay where they started.
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
    /// pins and gravity. What hard pins must carry is minus this.
    pub fn forces(&self, cloth: usize) -> Vec<DVec3> {
        let mut out = vec![DVec3::ZERO; self.cloths[cloth].positions.len()];
        for island in self.islands.iter().filter(|i| i.cloth == cloth) {
            for (vertex, force) in island.vertices.iter().zip(island.model.forces_at(&island.now)) {
                out[*vertex as usize] = force;
            }
        }
        out
    }

    /// Where the energy is.
    pub fn energies(&self) -> Energies {
        let mut sum = Energies::default();
        for island in &self.islands {
            let Model { mass, forces, gravity, .. } = &island.model;
            let State { x, v, .. } = &island.now;
            sum.kinetic += reduce::sum(mass.len(), |i| 0.5 * mass[i] * v[i].length_squared());
            sum.gravity -= reduce::sum(mass.len(), |i| mass[i] * gravity.dot(x[i]));
            for force in forces {
                let energy = force.energy(Moment { x, v });
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
        for island in &self.islands {
            for value in island.now.x.iter().chain(&island.now.v).flat_map(|p| p.to_array()) {
                hash.update(&value.to_bits().to_le_bytes());
            }
        }
        hash.digest()
    }

    /// The moving part, to go on from later.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            time: self.time,
            frames: self.frames,
            gravity: self.gravity,
            wind: self.wind,
            states: self.islands.iter().map(|i| i.now.clone()).collect(),
            freedoms: self.islands.iter().map(|i| i.model.freedom.clone()).collect(),
        }
    }

    /// Goes back (or on) to a snapshot of the same world. A snapshot of another world is refused.
    pub fn restore(&mut self, snapshot: Snapshot) -> Result<(), SetupError> {
        let fits = snapshot.states.len() == self.islands.len()
            && snapshot.freedoms.len() == self.islands.len()
            && self.islands.iter().zip(&snapshot.states).zip(&snapshot.freedoms).all(
                |((island, state), freedom)| {
                    let n = island.vertices.len();
                    let grips = state.grips.iter().zip(&island.model.pins);
                    state.x.len() == n
                        && state.v.len() == n
                        && freedom.len() == n
                        && state.grips.len() == island.model.pins.len()
                        && grips
                            .into_iter()
                            .all(|(g, pin)| g.as_ref().is_none_or(|g| g.len() == pin.particles.len()))
                },
            );
        if !fits {
            let value = snapshot.states.iter().fold(0.0, |sum, state| sum + state.x.len() as f64);
            let limit = "that of the same scene";
            let what = "number of particles in the snapshot";
            return Err(SetupError { problems: vec![SetupProblem::OutOfRange { what, value, limit }] });
        }
        self.take_over(snapshot);
        Ok(())
    }

    fn take_over(&mut self, snapshot: Snapshot) {
        self.time = snapshot.time;
        self.frames = snapshot.frames;
        self.set_outside(snapshot.gravity, snapshot.wind);
        for ((island, state), freedom) in self.islands.iter_mut().zip(snapshot.states).zip(snapshot.freedoms)
        {
            island.now = state;
            island.model.freedom = freedom;
        }
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
                    self.islands[island].now.x[particle] = position;
                }
            }
            Edit::Velocity { cloth, vertex, velocity } if velocity.is_finite() => {
                if let Some((island, particle)) = find(self, cloth, vertex) {
                    self.islands[island].now.v[particle] = velocity;
                }
            }
            _ => problems.push(SetupProblem::OutOfRange {
                what: "a vector of the edit",
                value: f64::NAN,
                limit: "finite, positions within ±1e6 m",
            }),
        }
        if problems.is_empty() { Ok(()) } else { Err(SetupError { problems }) }
    }

    fn find(&self, cloth: usize, vertex: u32) -> Result<(usize, usize), SetupProblem> {
        let Some(owner) = self.cloths.get(cloth) else {
            return Err(SetupProblem::UnknownCloth { index: cloth, cloths: self.cloths.len() });
        };
        let place =
            self.islands.iter().enumerate().filter(|(_, i)| i.cloth == cloth).find_map(|(n, island)| {
                island.vertices.binary_search(&vertex).ok().map(|particle| (n, particle))
            });
        let vertices = owner.positions.len();
        place.ok_or(SetupProblem::UnknownVertex { cloth: owner.name.clone(), vertex, vertices })
    }

    fn collect(&self, cloth: usize, field: impl Fn(&State) -> &Vec<DVec3>, out: &mut [DVec3]) {
        for island in self.islands.iter().filter(|i| i.cloth == cloth) {
            for (vertex, value) in island.vertices.iter().zip(field(&island.now)) {
                out[*vertex as usize] = *value;
            }
        }
    }
}

fn within_reach(p: DVec3) -> bool {
    p.is_finite() && p.abs().max_element() <= FARTHEST
}

fn check(setup: &Setup) -> Result<(), SetupError> {
    let mut problems = Vec::new();
    if setup.cloths.is_empty() {
        problems.push(SetupProblem::NoCloth);
    }
    for (n, cloth) in setup.cloths.iter().enumerate() {
        let name = || cloth.name.clone();
        if setup.cloths[..n].iter().any(|other| other.name == cloth.name) {
            problems.push(SetupProblem::DuplicateName { cloth: name() });
        }
        let (vertices, positions) = (cloth.mesh.vertices(), cloth.positions.len());
        if vertices != positions {
            problems.push(SetupProblem::PositionCount { cloth: name(), vertices, positions });
        }
        let bad = cloth.positions.iter().position(|p| !within_reach(*p));
        if let Some(vertex) = bad {
            let value = cloth.positions[vertex];
            problems.push(SetupProblem::BadPosition { cloth: name(), vertex, value });
        }
        if let Err(error) = cloth.fabric.check() {
            problems.push(SetupProblem::Fabric { cloth: name(), error });
        }
        if !cloth.velocity.is_finite() {
            let value = cloth.velocity.max_element();
            problems.push(SetupProblem::OutOfRange { what: "initial velocity", value, limit: "finite" });
        }
        for (what, value) in [
            ("air drag", cloth.air.drag),
            ("normal drag", cloth.air.normal),
            ("quadratic drag", cloth.air.quadratic),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                problems.push(SetupProblem::OutOfRange { what, value, limit: "0 or more" });
            }
        }
    }
    for pin in &setup.pins {
        let Some(cloth) = setup.cloths.get(pin.cloth) else {
            problems.push(SetupProblem::UnknownCloth { index: pin.cloth, cloths: setup.cloths.len() });
            continue;
        };
        let vertices = cloth.mesh.vertices();
        if let Some(&vertex) = pin.vertices.iter().find(|v| **v as usize >= vertices) {
            problems.push(SetupProblem::UnknownVertex { cloth: cloth.name.clone(), vertex, vertices });
        }
    }
    if setup.substeps == 0 {
        problems.push(SetupProblem::OutOfRange { what: "substeps", value: 0.0, limit: "1 or more" });
    }
    if !setup.gravity.is_finite() || !setup.wind.velocity.is_finite() {
        let value = f64::NAN;
        problems.push(SetupProblem::OutOfRange { what: "gravity or wind", value, limit: "finite" });
    }
    if !setup.solver.is_sound() {
        let (value, limit) = (0.0, "bicg or bicgstab when the form is unsymmetric");
        problems.push(SetupProblem::OutOfRange { what: "solver method cg", value, limit });
    }
    if problems.is_empty() { Ok(()) } else { Err(SetupError { problems }) }
}

/// One connected part of a cloth with its own forces and pins.
fn build_island(
    number: usize,
    cloth: &Cloth,
    faces: &[u32],
    pins: &[&PinDown],
    gravity: DVec3,
    wind: WindField,
) -> Island {
    let (mesh, vertices) = part_of(&cloth.mesh, faces);
    let n = vertices.len();
    let local = |v: &u32| vertices.binary_search(v).ok().map(|i| i as u32);
    let x: Vec<DVec3> = vertices.iter().map(|v| cloth.positions[*v as usize]).collect();
    let mut forces = internal_forces(&mesh, cloth);
    let mut hard = Vec::new();
    let (mut members, mut holds) = (Vec::new(), Vec::new());
    for pin in pins {
        let particles: Vec<u32> = pin.vertices.iter().filter_map(local).collect();
        match pin.grip {
            Grip::Hard(freedom) if !particles.is_empty() => {
                hard.push(Pin { particles, freedom, motion: pin.motion.clone(), active: pin.active.clone() })
            }
            Grip::Hard(_) => {}
            Grip::Soft { stiffness, damping } => {
                for p in particles {
                    members.push([p]);
                    let (motion, active) = (pin.motion.clone(), pin.active.clone());
                    holds.push(Hold { origin: x[p as usize], motion, active, stiffness, damping });
                }
            }
        }
    }
    if !holds.is_empty() {
        forces.push(Box::new(Attach::elements(n, &members, holds)));
    }
    let mass = mesh.vertex_area().iter().map(|a| a * cloth.fabric.density).collect();
    let state = State { x, v: vec![cloth.velocity; n], grips: vec![None; hard.len()] };
    let model = Model { mass, freedom: vec![Freedom::Free; n], forces, pins: hard, gravity, wind };
    Island::new(number, vertices, model, state)
}

fn internal_forces(mesh: &Mesh, cloth: &Cloth) -> Vec<Box<dyn ForceModel>> {
    let mut forces: Vec<Box<dyn ForceModel>> = Vec::new();
    match cloth.stretching {
        Stretching::Membrane(strain) => {
            forces.push(Box::new(Membrane::elements(mesh, &cloth.fabric, strain)))
        }
        Stretching::Springs(tangent) => forces.push(Box::new(Spring::elements(mesh, &cloth.fabric, tangent))),
    }
    if cloth.bending == Bending::Hinge && cloth.fabric.bend.mean() > 0.0 {
        forces.push(Box::new(LinearHinge::elements(mesh, &cloth.fabric)));
    }
    if cloth.air.drag > 0.0 {
        forces.push(Box::new(AirDrag::elements(mesh, cloth.air.drag)));
    }
    if cloth.air.normal > 0.0 || cloth.air.quadratic > 0.0 {
        forces.push(Box::new(Wind::elements(mesh, cloth.air.normal, cloth.air.quadratic)));
    }
    forces
}

/// The mesh of some faces, renumbered, and the vertex of the whole that each of its vertices is.
fn part_of(mesh: &Mesh, faces: &[u32]) -> (Mesh, Vec<u32>) {
    let mut vertices: Vec<u32> = faces.iter().flat_map(|f| mesh.faces()[*f as usize]).collect();
    vertices.sort_unstable();
    vertices.dedup();
    let local = |v: u32| vertices.partition_point(|w| *w < v) as u32;
    let part = Mesh::new(
        vertices.len(),
        faces.iter().map(|f| mesh.faces()[*f as usize].map(local)).collect(),
        faces.iter().map(|f| mesh.rest()[*f as usize]).collect(),
    )
    .expect("a part of a sound mesh is sound");
    (part, vertices)
}
