//! All objects of a detector, for one kind of k-DOP: which pairs of objects meet, and the walk on all threads.
//!
//! A walk is first driven breadth first until there are a few hundred visits, then each worker takes its share of
//! them. How many is fixed, so the work is cut in the same places on any number of threads; what workers found is
//! joined in order and sorted by integer keys.

use super::coherence::{Front, Memory, Track, Tracking};
use super::detect::{Contact, Counters, Kind, Motion, Query, Settings};
use super::flatness::Curvature;
use super::level::{Region, regions};
use super::meet::{Meet, Step};
use super::object::Object;
use super::proximity::{edge_edge, vertex_face};
use super::shell::{NONE, Role, Shell};
use super::traverse::{Ask, Pair, Visit, Walk, Worker, indices};
use crate::math::{DVec3, parallel};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Pieces into which a large walk is cut.
const PIECES: usize = 256;

/// Walks over fewer faces than this are not cut.
const SMALL: usize = 2048;

#[derive(Clone, Debug, Default)]
pub(super) struct Engine<const S: usize> {
    objects: Vec<Object<S>>,
    workers: Vec<Worker>,
    visits: [Vec<Visit>; 2],
    steps: [Vec<Step>; 2],
    keys: Vec<u64>,
    /// By pair of ids.
    fronts: BTreeMap<[u32; 2], Front>,
    memories: BTreeMap<[u32; 2], Memory>,
    /// By id.
    tracks: BTreeMap<u32, Track>,
}

impl<const S: usize> Engine<S> {
    pub fn add(&mut self, id: u32, surface: Shell, x: &[DVec3], settings: Settings) {
        self.objects.push(Object::new(id, surface, x, settings));
    }

    pub fn remove(&mut self, id: u32) -> bool {
        let before = self.objects.len();
        self.fronts.retain(|pair, _| !pair.contains(&id));
        self.memories.retain(|pair, _| !pair.contains(&id));
        self.tracks.remove(&id);
        self.objects.retain(|o| o.id != id);
        self.objects.len() < before
    }

    pub fn edit(&mut self, id: u32, surface: Shell, from: &[u32], x: &[DVec3]) -> Option<bool> {
        let object = self.objects.iter_mut().find(|o| o.id == id)?;
        Some(object.edit(surface, from, x))
    }

    pub fn ids(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.objects.iter().map(|o| o.id)
    }

    pub fn surfaces(&self) -> impl Iterator<Item = (u32, &Shell)> {
        self.objects.iter().map(|o| (o.id, &o.surface))
    }

    pub fn surface(&self, id: u32) -> Option<&Shell> {
        self.objects.iter().find(|o| o.id == id).map(|o| &o.surface)
    }

    pub fn depth(&self, id: u32) -> Option<u32> {
        self.objects.iter().find(|o| o.id == id).map(|o| o.tree.depth())
    }

    pub fn level(&self, id: u32, level: u32) -> Option<Vec<Region>> {
        self.objects.iter().find(|o| o.id == id).map(|o| regions(&o.tree, level))
    }

    pub fn omits(&self, id: u32, a: u32, b: u32) -> bool {
        let object = self.objects.iter().find(|o| o.id == id);
        object.is_some_and(|o| {
            let faces = o.surface.faces().len() as u32;
            a < faces && b < faces && o.flat.is_ready() && o.flat.omits(&o.surface, &o.tree, a, b)
        })
    }

    pub fn update(&mut self, motions: &[Motion], query: &Query) -> Counters {
        let mut counters = Counters::default();
        for (object, motion) in self.objects.iter_mut().zip(motions) {
            object.update(motion, query, &mut counters);
        }
        counters
    }

    /// All pairs of objects in ascending order, each object with itself first.
    pub fn walk(&mut self, motions: &[Motion], query: &Query, contacts: &mut Vec<Contact>) -> Counters {
        let Engine { objects, workers, visits, steps, keys, fronts, .. } = self;
        workers.resize_with(PIECES, Worker::default);
        let mut counters = Counters::default();
        let ask =
            Ask { epsilon: query.epsilon, dt: query.dt, report: query.report, features: query.features };
        for (i, (first, motion)) in objects.iter().zip(motions).enumerate() {
            for (j, (second, other)) in objects.iter().zip(motions).enumerate().skip(i) {
                if first.surface.role() == Role::Body && second.surface.role() == Role::Body {
                    continue;
                }
                let own = i == j;
                let found = Found {
                    pair: Pair { a: first.place(motion), b: second.place(other), own, ask },
                    objects: [first.id, second.id],
                };
                if let (Some(a), Some(b)) = (first.patches(query), second.patches(query)) {
                    let meet = Meet::new(found.pair, a, b);
                    let used = spread(&meet, workers, steps, &mut counters);
                    found.collect(&mut workers[..used], keys, contacts);
                    workers[..used].iter().for_each(|w| counters.add(&w.counters));
                    continue;
                }
                let flat = (own && query.curvature != Curvature::Off).then_some(&first.flat);
                let walk = Walk { a: first.side(motion), b: second.side(other), own, flat, ask };
                let used = if let Tracking::Separations { restart } = query.tracking {
                    workers[0].clear();
                    let front = fronts.entry([first.id, second.id]).or_default();
                    front.run(&walk, &mut workers[0], restart, [first.edits, second.edits]);
                    1
                } else {
                    spread(&walk, workers, visits, &mut counters)
                };
                found.collect(&mut workers[..used], keys, contacts);
                workers[..used].iter().for_each(|w| counters.add(&w.counters));
            }
        }
        counters
    }
}

impl<const S: usize> Engine<S> {
    /// Like [`Engine::update`] and [`Engine::walk`], looking only at pairs of nodes that may have moved by the margin.
    pub fn recall(
        &mut self,
        motions: &[Motion],
        query: &Query,
        (margin, restart): (f64, u32),
        contacts: &mut Vec<Contact>,
    ) -> Counters {
        let mut counters = Counters::default();
        let mut known = true;
        for (object, motion) in self.objects.iter_mut().zip(motions) {
            object.plant(motion.x);
            known &= self.tracks.entry(object.id).or_default().follow(&object.side(motion));
        }
        let purpose = (query.epsilon, margin, restart);
        let within = query.curvature == Curvature::Off;
        let mut stale = !within;
        self.each_pair(motions, |engine, [i, j]| {
            let (a, b) = (&engine.objects[i], &engine.objects[j]);
            let tracks = [&engine.tracks[&a.id], &engine.tracks[&b.id]];
            let memory = engine.memories.entry([a.id, b.id]).or_default();
            stale |= (i != j || within) && memory.age(tracks, known, [a.edits, b.edits], purpose);
        });
        let wide = Query { epsilon: query.epsilon + margin, ..*query };
        if stale {
            counters.add(&self.update(motions, &wide));
        }
        let mut keys = std::mem::take(&mut self.keys);
        let mut worker = self.workers.pop().unwrap_or_default();
        let ask = |epsilon| Ask { epsilon, dt: query.dt, report: query.report, features: query.features };
        self.each_pair(motions, |engine, [i, j]| {
            let (a, b) = (&engine.objects[i], &engine.objects[j]);
            let (own, flat) = (i == j, (i == j && !within).then_some(&a.flat));
            let (side_a, side_b) = (a.side(&motions[i]), b.side(&motions[j]));
            let walk = Walk { a: side_a, b: side_b, own, flat, ask: ask(query.epsilon) };
            worker.clear();
            if own && !within {
                worker.stack.extend(walk.start(&mut counters));
                walk.run(&mut worker);
            } else if let Some(memory) = engine.memories.get_mut(&[a.id, b.id]) {
                let wide = Walk { ask: ask(wide.epsilon), ..walk };
                memory.run(&wide, &walk, &mut worker, margin);
            }
            let found = Found { pair: walk.pair(), objects: [a.id, b.id] };
            found.collect(std::slice::from_mut(&mut worker), &mut keys, contacts);
            counters.add(&worker.counters);
        });
        self.keys = keys;
        self.workers.push(worker);
        counters
    }

    /// Calls `each` for every pair of objects with faces that may meet, in order.
    fn each_pair(&mut self, motions: &[Motion], mut each: impl FnMut(&mut Engine<S>, [usize; 2])) {
        for i in 0..motions.len() {
            for j in i..motions.len() {
                let of = |k: usize| (&self.objects[k].surface, self.objects[k].tree.nodes().is_empty());
                let ((a, no_a), (b, no_b)) = (of(i), of(j));
                if !(no_a || no_b || a.role() == Role::Body && b.role() == Role::Body) {
                    each(self, [i, j]);
                }
            }
        }
    }
}

/// A walk that can be cut into pieces.
trait Search: Sync {
    /// A place on its way.
    type Place: Copy + Send + Sync;

    /// Where it starts, if anywhere.
    fn start(&self, counters: &mut Counters) -> Option<Self::Place>;
    /// Puts what lies below a place on `out`; false at the end of the way.
    fn expand(&self, place: Self::Place, out: &mut Vec<Self::Place>, counters: &mut Counters) -> bool;
    /// The places that a worker has before it.
    fn ahead(worker: &mut Worker) -> &mut Vec<Self::Place>;
    /// Walks down from all of these.
    fn run(&self, worker: &mut Worker);
    /// Faces of both sides.
    fn faces(&self) -> usize;
}

impl<const S: usize> Search for Walk<'_, S> {
    type Place = Visit;

    fn start(&self, counters: &mut Counters) -> Option<Visit> {
        Walk::start(self, counters)
    }

    fn expand(&self, place: Visit, out: &mut Vec<Visit>, counters: &mut Counters) -> bool {
        Walk::expand(self, place, out, counters)
    }

    fn ahead(worker: &mut Worker) -> &mut Vec<Visit> {
        &mut worker.stack
    }

    fn run(&self, worker: &mut Worker) {
        Walk::run(self, worker);
    }

    fn faces(&self) -> usize {
        self.a.surface.faces().len() + self.b.surface.faces().len()
    }
}

impl Search for Meet<'_> {
    type Place = Step;

    fn start(&self, counters: &mut Counters) -> Option<Step> {
        Meet::start(self, counters)
    }

    fn expand(&self, place: Step, out: &mut Vec<Step>, counters: &mut Counters) -> bool {
        Meet::expand(self, place, out, counters)
    }

    fn ahead(worker: &mut Worker) -> &mut Vec<Step> {
        &mut worker.steps
    }

    fn run(&self, worker: &mut Worker) {
        Meet::run(self, worker);
    }

    fn faces(&self) -> usize {
        self.pair.a.surface.faces().len() + self.pair.b.surface.faces().len()
    }
}

/// Runs a walk on as many workers as it is worth; returns how many were used.
fn spread<W: Search>(
    walk: &W,
    workers: &mut [Worker],
    [now, next]: &mut [Vec<W::Place>; 2],
    counters: &mut Counters,
) -> usize {
    let Some(start) = walk.start(counters) else { return 0 };
    now.clear();
    now.push(start);
    if walk.faces() < SMALL {
        workers[0].clear();
        W::ahead(&mut workers[0]).append(now);
        walk.run(&mut workers[0]);
        return 1;
    }
    // Self visits multiply slowly at first: stop only when there is enough for every piece.
    let mut grows = true;
    while grows && now.len() < 4 * PIECES {
        next.clear();
        grows = false;
        for place in now.iter() {
            if walk.expand(*place, next, counters) {
                grows = true;
            } else {
                next.push(*place);
            }
        }
        std::mem::swap(now, next);
    }
    let places = &*now;
    workers.par_iter_mut().enumerate().for_each(|(w, worker)| {
        worker.clear();
        let share = w * places.len() / PIECES..(w + 1) * places.len() / PIECES;
        W::ahead(worker).extend_from_slice(&places[share]);
        walk.run(worker);
    });
    workers.len()
}

/// What a walk has found, to be made into contacts.
struct Found<'a> {
    pair: Pair<'a>,
    objects: [u32; 2],
}

impl Found<'_> {
    fn collect(&self, workers: &mut [Worker], keys: &mut Vec<u64>, contacts: &mut Vec<Contact>) {
        let first = contacts.len();
        let reverse = Found { pair: self.pair.reversed(), objects: [self.objects[1], self.objects[0]] };
        keys.clear();
        workers.iter().for_each(|w| keys.extend_from_slice(&w.vertex_face));
        if self.pair.own {
            // Both lists name a vertex and a face of the same surface.
            workers.iter().for_each(|w| keys.extend_from_slice(&w.face_vertex));
        }
        self.append(Kind::VertexFace, keys, contacts);
        gather(keys, workers, |w| &w.edge_edge);
        self.append(Kind::EdgeEdge, keys, contacts);
        gather(keys, workers, |w| &w.samples[0]);
        if self.pair.own {
            workers.iter().for_each(|w| keys.extend_from_slice(&w.samples[1]));
        }
        self.append(Kind::SampleFace, keys, contacts);
        if !self.pair.own {
            gather(keys, workers, |w| &w.face_vertex);
            reverse.append(Kind::VertexFace, keys, contacts);
            gather(keys, workers, |w| &w.samples[1]);
            reverse.append(Kind::SampleFace, keys, contacts);
        }
        debug_assert!(contacts[first..].windows(2).all(|w| w[0].key() != w[1].key()));
    }

    /// Sorts the keys and appends a contact for each.
    fn append(&self, kind: Kind, keys: &mut [u64], contacts: &mut Vec<Contact>) {
        keys.par_sort_unstable();
        let first = contacts.len();
        contacts.resize(first + keys.len(), Contact::default());
        parallel::fill(&mut contacts[first..], |k| self.contact(kind, indices(keys[k])));
    }

    fn contact(&self, kind: Kind, features: [u32; 2]) -> Contact {
        let (a, b) = (&self.pair.a, &self.pair.b);
        let face = |f: u32| b.surface.faces()[f as usize];
        let (closest, vertices) = match kind {
            Kind::EdgeEdge => {
                let (p, q) =
                    (a.surface.edges()[features[0] as usize], b.surface.edges()[features[1] as usize]);
                let closest = edge_edge(p.map(|v| a.at(v, 0.0)), q.map(|v| b.at(v, 0.0)));
                (closest, [p[0], p[1], q[0], q[1]])
            }
            Kind::VertexFace => {
                let f = face(features[1]);
                let closest = vertex_face(a.at(features[0], 0.0), f.map(|v| b.at(v, 0.0)));
                (closest, [features[0], f[0], f[1], f[2]])
            }
            Kind::SampleFace => {
                let f = face(features[1]);
                let closest = vertex_face(a.sample(features[0], 0.0), f.map(|v| b.at(v, 0.0)));
                (closest, [NONE, f[0], f[1], f[2]])
            }
        };
        let sides = if kind == Kind::EdgeEdge { [1.0, 1.0, -1.0, -1.0] } else { [1.0, -1.0, -1.0, -1.0] };
        let weights = [0, 1, 2, 3].map(|k| sides[k] * closest.weights[k]);
        Contact { kind, objects: self.objects, features, vertices, weights, distance: closest.squared.sqrt() }
    }
}

fn gather(keys: &mut Vec<u64>, workers: &[Worker], list: impl Fn(&Worker) -> &Vec<u64>) {
    keys.clear();
    workers.iter().for_each(|w| keys.extend_from_slice(list(w)));
}
