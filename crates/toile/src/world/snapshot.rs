//! The moving part of a world: taken, and gone back to.

use super::{Form, World};
use crate::contact::{Tangle, Touch};
use crate::error::{SetupError, SetupProblem};
use crate::forces::WindField;
use crate::freedom::Freedom;
use crate::math::DVec3;
use crate::model::Model;
use crate::state::State;
use std::sync::Arc;

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
    /// Parts of cloths that form each island.
    pub groups: Vec<Vec<usize>>,
    /// What touching pairs of each island keep.
    pub touches: Vec<Vec<Touch>>,
    /// Vertices that bodies are let through, as numbers of cloth and vertex, ascending.
    pub let_through: Vec<[u32; 2]>,
    /// Tangles that last, in order of their numbers.
    pub tangles: Vec<Tangle>,
    /// Whether vertices were placed by hand since the last step, which may have tangled them.
    pub placed: bool,
    /// What the world is made of, if that is not what it was built from.
    pub form: Option<Arc<Form>>,
}

impl World {
    /// The moving part, to go on from later.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            time: self.time,
            frames: self.frames,
            gravity: self.gravity,
            wind: self.wind,
            states: self.islands.iter().map(|i| i.now.clone()).collect(),
            freedoms: self.islands.iter().map(|i| i.model.freedom.clone()).collect(),
            groups: self.islands.iter().map(|i| i.parts.iter().map(|part| part.number).collect()).collect(),
            touches: self
                .islands
                .iter()
                .map(|i| i.meeting.as_ref().map_or(Vec::new(), |meeting| meeting.touches.clone()))
                .collect(),
            let_through: self.let_through(),
            tangles: self.tangles.clone(),
            placed: self.placed,
            form: self.form.clone(),
        }
    }

    /// Goes back (or on) to a snapshot of the same world, whatever its meshes have become since or were then. A snapshot of
    /// another world is refused.
    pub fn restore(&mut self, snapshot: Snapshot) -> Result<(), SetupError> {
        match self.with_form(snapshot.form.as_ref())? {
            Some(mut other) => {
                other.check_and_take_over(snapshot)?;
                *self = other;
            }
            None => self.check_and_take_over(snapshot)?,
        }
        self.releases.clear();
        Ok(())
    }

    fn check_and_take_over(&mut self, snapshot: Snapshot) -> Result<(), SetupError> {
        let mut parts: Vec<usize> = snapshot.groups.iter().flatten().copied().collect();
        parts.sort_unstable();
        if parts.into_iter().eq(0..self.pieces.len()) {
            self.regroup_as(&snapshot.groups);
        }
        let fits = snapshot.states.len() == self.islands.len()
            && snapshot.touches.len() == self.islands.len()
            && snapshot.freedoms.len() == self.islands.len()
            && self.islands.iter().zip(&snapshot.states).zip(&snapshot.freedoms).all(
                |((island, state), freedom)| {
                    let n = island.now.x.len();
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

    /// Becomes what it was when a snapshot was taken of it, whatever happened to its meshes.
    pub(super) fn go_back(&mut self, snapshot: Snapshot) {
        if let Ok(Some(mut other)) = self.with_form(snapshot.form.as_ref()) {
            other.releases = std::mem::take(&mut self.releases);
            *self = other;
        }
        self.take_over(snapshot);
    }

    /// Becomes what a snapshot of this world was, in the meshes that it has.
    pub(super) fn take_over(&mut self, snapshot: Snapshot) {
        self.time = snapshot.time;
        self.frames = snapshot.frames;
        self.set_outside(snapshot.gravity, snapshot.wind);
        self.regroup_as(&snapshot.groups);
        (self.tangles, self.placed) = (snapshot.tangles, snapshot.placed);
        let states = snapshot.states.into_iter().zip(snapshot.freedoms).zip(snapshot.touches);
        for (island, ((state, freedom), touches)) in self.islands.iter_mut().zip(states) {
            island.now = state;
            island.model.freedom = freedom;
            if let Some(meeting) = &mut island.meeting {
                meeting.touches = touches;
                meeting.set_let_through(&snapshot.let_through);
                // What was let through since then did not happen.
                meeting.releases.clear();
            }
        }
    }
}
