//! Which parts of cloths are solved together: those that may touch within a frame.
//!
//! Parts whose boxes, as far as they may go in the frame, overlap form an island. What an island really swept is
//! compared afterwards: if two islands came close after all, they are joined and the frame is done again.
//! Grouping depends on nothing but where parts are and how fast they go, so a world that is resumed groups alike,
//! and what is far away changes nothing.

use crate::freedom::Freedom;
use crate::interaction::Memory;
use crate::math::DVec3;
use crate::mesh::{Origin, Remap};
use crate::state::{Past, State};
use crate::step::Island;

/// A box, corners lowest and highest.
pub type Corners = [DVec3; 2];

/// Whether two boxes overlap.
pub fn overlap(a: Corners, b: Corners) -> bool {
    a[0].cmple(b[1]).all() && b[0].cmple(a[1]).all()
}

/// The groups of `boxes` that overlap, directly or through others, in order of their first members.
pub fn connected(boxes: &[Corners], joined: &[[usize; 2]]) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..boxes.len()).collect();
    fn root(group: &mut [usize], mut i: usize) -> usize {
        while group[i] != i {
            group[i] = group[group[i]];
            i = group[i];
        }
        i
    }
    let mut join = |a: usize, b: usize| {
        let (a, b) = (root(&mut group, a), root(&mut group, b));
        let (low, high) = (a.min(b), a.max(b));
        group[high] = low;
    };
    // Along x, so that far apart costs nothing.
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by(|a, b| boxes[*a][0].x.total_cmp(&boxes[*b][0].x).then(a.cmp(b)));
    for (k, &a) in order.iter().enumerate() {
        for &b in order[k + 1..].iter().take_while(|b| boxes[**b][0].x <= boxes[a][1].x) {
            if overlap(boxes[a], boxes[b]) {
                join(a, b);
            }
        }
    }
    for [a, b] in joined {
        join(*a, *b);
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); boxes.len()];
    for i in 0..boxes.len() {
        let first = root(&mut group, i);
        groups[first].push(i);
    }
    groups.retain(|g| !g.is_empty());
    groups
}

/// A part on its own, with all that moves of it.
#[derive(Clone, Debug, Default)]
pub struct Loose {
    number: usize,
    state: State,
    freedom: Vec<Freedom>,
    /// What pins hold of it: pin of the world, particle, where.
    grips: Vec<(usize, u32, DVec3)>,
    /// What its elements remember, by its own families of forces.
    memory: Vec<Vec<Memory>>,
}

impl Loose {
    /// A part that starts: at rest in its own past.
    pub fn starting(number: usize, x: Vec<DVec3>, v: DVec3) -> Loose {
        let (n, state) = (x.len(), State { v: vec![v; x.len()], x, ..State::default() });
        Loose { number, state, freedom: vec![Freedom::Free; n], ..Loose::default() }
    }

    /// Its number among the parts of the world.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The same part with another number, its pins renumbered; without its memory if its elements are others now.
    pub fn renumbered(
        mut self,
        number: usize,
        pin: impl Fn(usize) -> Option<usize>,
        remembers: bool,
    ) -> Loose {
        self.number = number;
        self.grips.retain_mut(|(source, ..)| pin(*source).map(|new| *source = new).is_some());
        if !remembers {
            self.memory.clear();
        }
        self
    }
}

/// All that moves of a whole cloth, vertex by vertex.
pub struct Whole {
    state: State,
    mass: Vec<f64>,
    freedom: Vec<Freedom>,
    restarts: Vec<bool>,
    grips: Vec<(usize, u32, DVec3)>,
}

impl Whole {
    /// A cloth at `x` of which nothing is known.
    pub fn new(x: Vec<DVec3>) -> Whole {
        let n = x.len();
        let state = State { v: vec![DVec3::ZERO; n], x, ..State::default() };
        let (freedom, mass) = (vec![Freedom::Free; n], vec![0.0; n]);
        Whole { state, mass, freedom, restarts: vec![false; n], grips: Vec::new() }
    }

    /// Takes over a part of the cloth that is `vertices` with these masses [kg].
    pub fn add(&mut self, part: &Loose, vertices: &[u32], mass: &[f64]) {
        let n = self.state.x.len();
        let put = |list: &mut Vec<DVec3>, own: &[DVec3]| {
            if own.len() == vertices.len() {
                list.resize(n, DVec3::ZERO);
                vertices.iter().zip(own).for_each(|(v, value)| list[*v as usize] = *value);
            }
        };
        put(&mut self.state.x, &part.state.x);
        put(&mut self.state.v, &part.state.v);
        put(&mut self.state.past.x, &part.state.past.x);
        put(&mut self.state.past.v, &part.state.past.v);
        put(&mut self.state.past.a, &part.state.past.a);
        self.state.past.dt = part.state.past.dt;
        for (k, v) in vertices.iter().map(|v| *v as usize).enumerate() {
            (self.mass[v], self.freedom[v]) = (mass[k], part.freedom[k]);
            self.restarts[v] = part.state.past.x.len() != vertices.len();
        }
        part.state.past.restart.iter().for_each(|p| self.restarts[vertices[*p as usize] as usize] = true);
        self.grips.extend(part.grips.iter().map(|(pin, p, at)| (*pin, vertices[*p as usize], *at)));
    }

    /// The same cloth with the vertices of `remap`; what is sewn keeps its momentum.
    pub fn carried(&self, remap: &Remap) -> Whole {
        let State { x, v, past, .. } = &self.state;
        let carry = |list: &Vec<DVec3>| if list.is_empty() { Vec::new() } else { remap.carry(list) };
        let mut velocities = remap.carry(v);
        for (new, origin) in velocities.iter_mut().zip(&remap.vertices) {
            if let Origin::Joined(all) = origin {
                let sum =
                    |of: &dyn Fn(usize) -> DVec3| all.iter().fold(DVec3::ZERO, |s, v| s + of(*v as usize));
                let mass = all.iter().fold(0.0, |s, v| s + self.mass[*v as usize]);
                if mass > 0.0 {
                    *new = sum(&|v| self.state.v[v] * self.mass[v]) / mass;
                }
            }
        }
        let (past_x, past_v, past_a) = (carry(&past.x), carry(&past.v), carry(&past.a));
        let past = Past { dt: past.dt, x: past_x, v: past_v, a: past_a, restart: Vec::new() };
        let state = State { x: remap.carry(x), v: velocities, past, ..State::default() };
        let all = |origin: &Origin, of: &dyn Fn(usize) -> bool| {
            origin.weights().iter().all(|(v, _)| of(*v as usize))
        };
        let restarts = remap.vertices.iter().map(|o| !all(o, &|v| !self.restarts[v])).collect();
        let freedom = remap.vertices.iter().map(|origin| {
            let from = origin.weights();
            let first = from.first().map_or(Freedom::Free, |(v, _)| self.freedom[*v as usize]);
            let alike = from.iter().all(|(v, _)| self.freedom[*v as usize] == first);
            if alike { first } else { Freedom::Free }
        });
        let mut grips = Vec::new();
        let mut pins: Vec<usize> = self.grips.iter().map(|(pin, ..)| *pin).collect();
        pins.sort_unstable();
        pins.dedup();
        for pin in pins {
            let held = |v: u32| self.grips.iter().find(|(p, w, _)| *p == pin && *w == v).map(|(.., at)| *at);
            for (new, origin) in remap.vertices.iter().enumerate() {
                let at: Option<Vec<DVec3>> =
                    origin.weights().iter().map(|(v, w)| held(*v).map(|at| at * *w)).collect();
                if let Some(at) = at {
                    grips.push((pin, new as u32, at.into_iter().fold(DVec3::ZERO, |sum, at| sum + at)));
                }
            }
        }
        Whole { mass: vec![0.0; remap.vertices.len()], freedom: freedom.collect(), restarts, grips, state }
    }

    /// Moves vertices elsewhere [m], and gives them other velocities [m/s] if there are any.
    pub fn moved(&mut self, by: &[DVec3], velocities: Option<&[DVec3]>) {
        for (v, by) in by.iter().enumerate().filter(|(_, by)| **by != DVec3::ZERO) {
            self.state.x[v] += *by;
            self.restarts[v] = true;
        }
        if let Some(velocities) = velocities {
            for (v, new) in velocities.iter().enumerate() {
                self.restarts[v] |= self.state.v[v] != *new;
            }
            self.state.v.copy_from_slice(velocities);
        }
    }

    /// The part of it that is `vertices`, ascending.
    pub fn part(&self, number: usize, vertices: &[u32]) -> Loose {
        let cut = |list: &Vec<DVec3>| -> Vec<DVec3> {
            if list.is_empty() { Vec::new() } else { vertices.iter().map(|v| list[*v as usize]).collect() }
        };
        let State { x, v, past, .. } = &self.state;
        let restart = (0..vertices.len() as u32).filter(|k| self.restarts[vertices[*k as usize] as usize]);
        let past = Past {
            dt: past.dt,
            x: cut(&past.x),
            v: cut(&past.v),
            a: cut(&past.a),
            restart: restart.collect(),
        };
        let place = |(pin, v, at): &(usize, u32, DVec3)| {
            vertices.binary_search(v).ok().map(|k| (*pin, k as u32, *at))
        };
        Loose {
            number,
            state: State { x: cut(x), v: cut(v), past, ..State::default() },
            freedom: vertices.iter().map(|v| self.freedom[*v as usize]).collect(),
            grips: self.grips.iter().filter_map(place).collect(),
            memory: Vec::new(),
        }
    }

    /// Renumbers what pins hold of it.
    pub fn renumber(&mut self, pin: impl Fn(usize) -> Option<usize>) {
        self.grips.retain_mut(|(source, ..)| pin(*source).map(|new| *source = new).is_some());
    }
}

/// The parts of an island.
pub fn parted(island: &Island) -> Vec<Loose> {
    let Island { parts, model, now, .. } = island;
    let n = now.x.len();
    let ends = parts.iter().skip(1).map(|part| part.first).chain([n]);
    let each = parts.iter().enumerate().zip(ends).map(|((k, part), end)| {
        let first = part.first;
        let cut = |list: &Vec<DVec3>| if list.len() == n { list[first..end].to_vec() } else { Vec::new() };
        let restart = now.past.restart.iter().filter(|p| (first..end).contains(&(**p as usize)));
        let past = Past {
            dt: now.past.dt,
            x: cut(&now.past.x),
            v: cut(&now.past.v),
            a: cut(&now.past.a),
            restart: restart.map(|p| *p - first as u32).collect(),
        };
        let mut grips = Vec::new();
        for (pin, grip) in model.pins.iter().zip(&now.grips) {
            let held = pin.particles.iter().zip(grip.iter().flatten());
            let own = held.filter(|(p, _)| (first..end).contains(&(**p as usize)));
            grips.extend(own.map(|(p, at)| (pin.source, *p - first as u32, *at)));
        }
        let state = State { x: cut(&now.x), v: cut(&now.v), past, ..State::default() };
        let freedom = model.freedom[first..end].to_vec();
        Loose { number: part.number, state, freedom, grips, memory: island.memory_of(k) }
    });
    each.collect()
}

/// Gives a new island what its parts had. What only some of them remember of the step before is dropped; stress is
/// foreseen anew.
pub fn rejoin(island: &mut Island, loose: &[Loose]) {
    let own: Vec<&Loose> = island
        .parts
        .iter()
        .filter_map(|part| loose.iter().find(|loose| loose.number == part.number))
        .collect();
    if own.len() != island.parts.len() {
        return;
    }
    let dt = own.first().map_or(0.0, |loose| loose.state.past.dt);
    let together = own.iter().all(|loose| loose.state.past.dt == dt);
    let join = |list: fn(&State) -> &Vec<DVec3>| -> Vec<DVec3> {
        let whole = own.iter().all(|loose| list(&loose.state).len() == loose.state.x.len());
        if whole {
            own.iter().flat_map(|loose| list(&loose.state).iter().copied()).collect()
        } else {
            Vec::new()
        }
    };
    let mut past = Past::default();
    if together {
        past = Past {
            dt,
            x: join(|s| &s.past.x),
            v: join(|s| &s.past.v),
            a: join(|s| &s.past.a),
            restart: vec![],
        };
    }
    let now = &mut island.now;
    (now.x, now.v, now.past) = (join(|s| &s.x), join(|s| &s.v), past);
    now.stress.clear();
    for (part, loose) in island.parts.iter().zip(&own) {
        let restart = loose.state.past.restart.iter().map(|p| *p + part.first as u32);
        now.past.restart.extend(restart);
        island.model.freedom[part.first..part.first + loose.freedom.len()].copy_from_slice(&loose.freedom);
    }
    for (pin, grip) in island.model.pins.iter().zip(&mut now.grips) {
        let find = |particle: &u32| {
            let at = island.parts.partition_point(|part| part.first <= *particle as usize) - 1;
            let local = *particle - island.parts[at].first as u32;
            let held = own[at].grips.iter().find(|(source, p, _)| *source == pin.source && *p == local);
            held.map(|(_, _, at)| *at)
        };
        *grip = pin.particles.iter().map(find).collect();
    }
    island.take_memory(&own.iter().map(|loose| &loose.memory).collect::<Vec<_>>());
}
