//! All that moves of a cloth whose parts may become others.

use crate::freedom::Freedom;
use crate::grouping::Loose;
use crate::math::DVec3;
use crate::mesh::{Origin, Remap};
use crate::state::{Past, State};

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

    /// Moves vertices elsewhere [m], and gives them other velocities [m/s] if there are any. Pins hold them there: copies of a
    /// held vertex must not be led back into one place. Where a pin has turned, they are led by as little another way.
    pub fn moved(&mut self, by: &[DVec3], velocities: Option<&[DVec3]>) {
        self.grips.iter_mut().for_each(|(_, v, at)| *at += by[*v as usize]);
        for (v, by) in by.iter().enumerate().filter(|(_, by)| **by != DVec3::ZERO) {
            self.state.x[v] += *by;
            self.restarts[v] = true;
        }
        let Some(velocities) = velocities else { return };
        let State { v, past, .. } = &mut self.state;
        let pushes: Vec<DVec3> = velocities.iter().zip(&*v).map(|(new, old)| *new - *old).collect();
        if pushes.iter().all(|push| *push == DVec3::ZERO) {
            return;
        }
        // As if it had moved like this all along: a scheme of two steps goes on, and loses no momentum.
        past.v.iter_mut().zip(&pushes).for_each(|(v, push)| *v += *push);
        past.x.iter_mut().zip(&pushes).for_each(|(x, push)| *x -= past.dt * *push);
        past.a.clear();
        v.copy_from_slice(velocities);
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
