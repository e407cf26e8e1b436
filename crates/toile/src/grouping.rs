//! Which parts of cloths are solved together: those that may touch within a frame.
//!
//! Parts whose boxes, as far as they may go in the frame, overlap form an island. What an island really swept is
//! compared afterwards: if two islands came close after all, they are joined and the frame is done again.
//! Grouping depends on nothing but where parts are and how fast they go, so a world that is resumed groups alike,
//! and what is far away changes nothing.

use crate::freedom::Freedom;
use crate::interaction::Memory;
use crate::math::DVec3;
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
    pub(crate) number: usize,
    pub(crate) state: State,
    pub(crate) freedom: Vec<Freedom>,
    /// What pins hold of it: pin of the world, particle, where.
    pub(crate) grips: Vec<(usize, u32, DVec3)>,
    /// What its elements remember, by its own families of forces.
    pub(crate) memory: Vec<Vec<Memory>>,
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
