//! The world: cloths, what holds them, and time.

use crate::contact::ContactSettings;
use crate::error::{FrameError, SetupError, SetupProblem};
use crate::forces::WindField;
use crate::forces::membrane::{material_weights, principal_strain};
use crate::freedom::Freedom;
use crate::interaction::Moment;
use crate::math::{DVec3, reduce};
use crate::model::Model;
use crate::probe::{Energies, Probe};
use crate::setup::{self, Cloth, Obstacle, Setup, within_reach};
use crate::solve::{SolverSettings, families};
use crate::state::State;
use crate::step::Island;
use rayon::prelude::*;

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
    bodies: Vec<Obstacle>,
    contact: ContactSettings,
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
        setup::check(&setup)?;
        let Setup { cloths, bodies, contact, pins, gravity, wind, solver, substeps } = setup;
        let islands = cloths
            .iter()
            .enumerate()
            .flat_map(|(number, cloth)| setup::islands(number, cloth, &pins, gravity, wind))
            .collect();
        Ok(World { cloths, bodies, contact, islands, solver, substeps, gravity, wind, time: 0.0, frames: 0 })
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
                result = island.advance(&solver, time + f64::from(k) * dt, dt, &mut probe);
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
                    longest: f64::INFINITY,
                };
                self.take_over(before);
                let longest = self.longest_step();
                return Err(FrameError { longest, ..error });
            }
        }
        self.time += frame_dt;
        self.frames += 1;
        Ok(())
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
                    let past = &state.past;
                    state.x.len() == n
                        && state.v.len() == n
                        && [&past.x, &past.v, &past.a].iter().all(|p| p.is_empty() || p.len() == n)
                        && past.restart.iter().all(|p| (*p as usize) < n)
                        && (state.stress.is_empty() || state.stress.len() == island.model.forces.len())
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
        let forgetful = self.islands.iter().zip(&snapshot.states).position(|(island, state)| {
            let Model { forces, .. } = &island.model;
            let all =
                forces.iter().zip(&state.memory).all(|(force, memory)| memory.len() == force.remembering());
            !(state.memory.is_empty() || all && state.memory.len() == forces.len())
        });
        if let Some(island) = forgetful {
            let value = snapshot.states[island].memory.iter().fold(0.0, |sum, m| sum + m.len() as f64);
            let (what, limit) = ("number of remembering elements in the snapshot", "that of the same fabric");
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
                    self.islands[island].place(particle, position);
                }
            }
            Edit::Velocity { cloth, vertex, velocity } if velocity.is_finite() => {
                if let Some((island, particle)) = find(self, cloth, vertex) {
                    self.islands[island].push(particle, velocity);
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
