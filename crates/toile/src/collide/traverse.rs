//! Walks down two trees, or one against itself, to the pairs of features that are close (M03-13, M03-14).

use super::apart;
use super::detect::{Counters, Features, Motion, Report};
use super::flatness::Flatness;
use super::kdop::Kdop;
use super::meet::{Batch, Step};
use super::proximity::{Closest, edge_edge, vertex_face};
use super::shell::{NONE, Shell};
use super::tree::Tree;
use crate::math::DVec3;

/// One surface where it is.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub surface: &'a Shell,
    pub motion: Motion<'a>,
}

impl<'a> std::ops::Deref for Place<'a> {
    type Target = Motion<'a>;

    fn deref(&self) -> &Motion<'a> {
        &self.motion
    }
}

/// One surface as a walk over trees sees it.
#[derive(Clone, Copy)]
pub(super) struct Side<'a, const S: usize> {
    pub place: Place<'a>,
    pub tree: &'a Tree<S>,
    /// Inflated box of each vertex.
    pub vertex_boxes: &'a [Kdop<S>],
}

impl<'a, const S: usize> std::ops::Deref for Side<'a, S> {
    type Target = Place<'a>;

    fn deref(&self) -> &Place<'a> {
        &self.place
    }
}

/// What is asked of a walk.
#[derive(Clone, Copy)]
pub(super) struct Ask {
    pub epsilon: f64,
    pub dt: f64,
    pub report: Report,
    pub features: Features,
}

/// Two surfaces, or one twice, and what is asked of them: everything that decides which features are close.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub a: Place<'a>,
    pub b: Place<'a>,
    /// Both are the same surface.
    pub own: bool,
    pub ask: Ask,
}

/// A walk over the pairs of two surfaces, or of one with itself.
#[derive(Clone, Copy)]
pub(super) struct Walk<'a, const S: usize> {
    pub a: Side<'a, S>,
    pub b: Side<'a, S>,
    /// Both sides are the same surface.
    pub own: bool,
    /// Which parts of a surface cannot meet themselves; `None` where that is not asked, and between two surfaces.
    pub flat: Option<&'a Flatness>,
    pub ask: Ask,
}

/// Two nodes to be looked at, and how deep the walk is there. Twice the same node means the node against itself; two
/// different nodes have been found to overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Visit {
    /// Both in one word: written in halves and read as a whole, a pair would wait for its own way to the cache.
    pair: u64,
    depth: u32,
}

impl Visit {
    /// The roots.
    pub const START: Visit = Visit { pair: 0, depth: 0 };

    #[inline]
    pub fn new(a: u32, b: u32, depth: u32) -> Visit {
        Visit { pair: key(a, b), depth }
    }

    /// The nodes, and the depth of the walk.
    #[inline]
    pub fn open(self) -> (u32, u32, u32) {
        let [a, b] = indices(self.pair);
        (a, b, self.depth)
    }
}

/// What one thread of a walk writes; kept from step to step, so nothing is allocated once it has grown.
#[derive(Clone, Debug, Default)]
pub(super) struct Worker {
    pub stack: Vec<Visit>,
    /// Vertex of a, face of b.
    pub vertex_face: Vec<u64>,
    /// Vertex of b, face of a.
    pub face_vertex: Vec<u64>,
    /// Edge of a, edge of b; the lower first within one surface.
    pub edge_edge: Vec<u64>,
    /// Sample of a, face of b, and the reverse (M03-16).
    pub samples: [Vec<u64>; 2],
    /// What a walk over patches has before it, and pairs it has not compared yet: as the first three lists.
    pub steps: Vec<Step>,
    pub waiting: [Batch; 3],
    pub counters: Counters,
}

impl Worker {
    pub fn clear(&mut self) {
        self.stack.clear();
        self.vertex_face.clear();
        self.face_vertex.clear();
        self.edge_edge.clear();
        self.samples.iter_mut().for_each(Vec::clear);
        self.steps.clear();
        self.waiting.iter_mut().for_each(|batch| batch.pairs.clear());
        self.counters = Counters::default();
    }
}

/// Two indices as one sortable key.
#[inline]
pub(super) fn key(a: u32, b: u32) -> u64 {
    u64::from(a) << 32 | u64::from(b)
}

/// The indices of a [`key`].
#[inline]
pub(super) fn indices(key: u64) -> [u32; 2] {
    [(key >> 32) as u32, key as u32]
}

impl<'a, const S: usize> Walk<'a, S> {
    /// Where the walk starts, if anywhere.
    pub fn start(&self, counters: &mut Counters) -> Option<Visit> {
        if self.a.tree.nodes().is_empty() || self.b.tree.nodes().is_empty() {
            return None;
        }
        if !self.own {
            counters.box_tests += 1;
            if !self.a.tree.boxes()[0].overlaps(&self.b.tree.boxes()[0]) {
                return None;
            }
        }
        Some(Visit::START)
    }

    /// What decides which features are close.
    #[inline]
    pub fn pair(&self) -> Pair<'a> {
        Pair { a: self.a.place, b: self.b.place, own: self.own, ask: self.ask }
    }

    /// Walks down from everything on the worker's stack.
    pub fn run(&self, worker: &mut Worker) {
        let mut stack = std::mem::take(&mut worker.stack);
        while let Some(visit) = stack.pop() {
            worker.counters.depth = worker.counters.depth.max(u64::from(visit.depth));
            if !self.expand(visit, &mut stack, &mut worker.counters) {
                self.leaves(visit, worker);
            }
        }
        worker.stack = stack;
    }

    /// Puts the overlapping pairs of children of a visit on `out`. False for two leaves, which have no children.
    #[inline]
    pub fn expand(&self, visit: Visit, out: &mut Vec<Visit>, counters: &mut Counters) -> bool {
        let (a, b, depth) = visit.open();
        let depth = depth + 1;
        if self.own && a == b {
            self.expand_self(a, depth, out, counters);
            return true;
        }
        if self.flat.is_some_and(|flat| flat.pair(self.a.surface, self.a.tree, [a, b], counters)) {
            return true;
        }
        let (na, nb) = (self.a.tree.nodes()[a as usize], self.b.tree.nodes()[b as usize]);
        if na.len == 0 && nb.len == 0 {
            return false;
        }
        let (boxes_a, boxes_b) = (self.a.tree.boxes(), self.b.tree.boxes());
        let (box_a, box_b) = (&boxes_a[a as usize], &boxes_b[b as usize]);
        // All children of the larger against the smaller (M03-13).
        if nb.len == 0 || (na.len > 0 && box_a.size() >= box_b.size()) {
            counters.box_tests += u64::from(na.len);
            let push = |a| out.push(Visit::new(a, b, depth));
            self.a.tree.quads().meeting(a, na, box_b, push);
        } else {
            counters.box_tests += u64::from(nb.len);
            let push = |b| out.push(Visit::new(a, b, depth));
            self.b.tree.quads().meeting(b, nb, box_a, push);
        }
        true
    }

    /// A node against itself: its children against themselves and each other, unless the node is too flat (M03-14).
    fn expand_self(&self, n: u32, depth: u32, out: &mut Vec<Visit>, counters: &mut Counters) {
        let node = self.a.tree.nodes()[n as usize];
        if node.len == 0 || self.flat.is_some_and(|flat| flat.alone(self.a.surface, self.a.tree, n, counters))
        {
            return;
        }
        let boxes = self.a.tree.boxes();
        let end = node.first + node.len;
        counters.box_tests += u64::from(node.len * (node.len - 1) / 2);
        for a in node.first..end {
            out.push(Visit::new(a, a, depth));
            self.a.tree.quads().meeting(n, node, &boxes[a as usize], |b| {
                if b > a {
                    out.push(Visit::new(a, b, depth));
                }
            });
        }
    }

    /// The features that two faces own, against each other.
    pub fn leaves(&self, visit: Visit, worker: &mut Worker) {
        let (a, b, _) = visit.open();
        let (leaf_a, leaf_b) = (self.a.tree.nodes()[a as usize], self.b.tree.nodes()[b as usize]);
        let (fa, fb) = (leaf_a.first, leaf_b.first);
        if fa == NONE || fb == NONE {
            return;
        }
        worker.counters.leaf_pairs += 1;
        if self.ask.report != Report::Boxes && self.apart(fa, fb) {
            return;
        }
        worker.counters.face_pairs += 1;
        let (box_a, box_b) = (&self.a.tree.boxes()[a as usize], &self.b.tree.boxes()[b as usize]);
        let Worker { vertex_face, face_vertex, edge_edge, samples, counters, .. } = worker;
        self.vertices((&self.a, fa), (&self.b, fb), box_b, vertex_face, counters);
        self.vertices((&self.b, fb), (&self.a, fa), box_a, face_vertex, counters);
        match self.ask.features {
            Features::All => self.edges(fa, fb, box_b, edge_edge, counters),
            Features::VerticesOnly => {}
            Features::Virtual => {
                self.samples(&self.a, fa, &self.b, fb, &mut samples[0], counters);
                self.samples(&self.b, fb, &self.a, fa, &mut samples[1], counters);
            }
        }
    }

    /// Whether a plane keeps two faces farther apart than anything reported, at every moment asked about.
    #[inline]
    fn apart(&self, fa: u32, fb: u32) -> bool {
        let (a, b) = (self.a.surface.faces()[fa as usize], self.b.surface.faces()[fb as usize]);
        let common = if self.own { apart::shared(a, b) } else { (0, 0) };
        let limit = self.pair().limit(&self.a, &a, &self.b, &b);
        let at = |t: f64| apart::faces(&self.a.face_at(a, t), &self.b.face_at(b, t), common, limit);
        match self.ask.report {
            Report::Boxes => false,
            Report::Start => at(0.0),
            Report::End => at(self.ask.dt),
            Report::Ends => at(0.0) && at(self.ask.dt),
        }
    }

    #[inline]
    fn vertices(
        &self,
        (near, face): (&Side<'a, S>, u32),
        (far, target): (&Side<'a, S>, u32),
        target_box: &Kdop<S>,
        out: &mut Vec<u64>,
        counters: &mut Counters,
    ) {
        let owned = near.surface.owned()[face as usize];
        if owned & 7 == 0 {
            return;
        }
        let corners = far.surface.faces()[target as usize];
        for (k, v) in near.surface.faces()[face as usize].into_iter().enumerate() {
            if owned >> k & 1 == 0 || (self.own && corners.contains(&v)) {
                continue;
            }
            counters.feature_tests += 1;
            if near.vertex_boxes[v as usize].overlaps(target_box) {
                counters.narrow_calls += 1;
                if self.pair().close_vertex(near, v, far, corners) {
                    out.push(key(v, target));
                }
            }
        }
    }

    #[inline]
    fn edges(&self, fa: u32, fb: u32, box_b: &Kdop<S>, out: &mut Vec<u64>, counters: &mut Counters) {
        let (owned_a, owned_b) =
            (self.a.surface.owned()[fa as usize] >> 3, self.b.surface.owned()[fb as usize] >> 3);
        if owned_a == 0 || owned_b == 0 {
            return;
        }
        let (corners_a, corners_b) =
            (self.a.surface.faces()[fa as usize], self.b.surface.faces()[fb as usize]);
        for i in (0..3).filter(|i| owned_a >> i & 1 == 1) {
            let ends_a = [corners_a[i], corners_a[(i + 1) % 3]];
            let box_a = self.a.edge_box(ends_a);
            counters.feature_tests += 1;
            if !box_a.overlaps(box_b) {
                continue;
            }
            for j in (0..3).filter(|j| owned_b >> j & 1 == 1) {
                let ends_b = [corners_b[j], corners_b[(j + 1) % 3]];
                if self.own && (ends_a.contains(&ends_b[0]) || ends_a.contains(&ends_b[1])) {
                    continue;
                }
                counters.feature_tests += 1;
                if !box_a.overlaps(&self.b.edge_box(ends_b)) {
                    continue;
                }
                counters.narrow_calls += 1;
                let mut pair = [
                    self.a.surface.face_edges()[fa as usize][i],
                    self.b.surface.face_edges()[fb as usize][j],
                ];
                if self.own {
                    pair.sort_unstable();
                }
                if self.pair().close_edges(pair) {
                    out.push(key(pair[0], pair[1]));
                }
            }
        }
    }

    /// Points inside the edges and faces of one side against a face of the other (M03-16).
    fn samples(
        &self,
        near: &Side<'a, S>,
        face: u32,
        far: &Side<'a, S>,
        target: u32,
        out: &mut Vec<u64>,
        counters: &mut Counters,
    ) {
        let corners = far.surface.faces()[target as usize];
        let edges = near.surface.edges().len() as u32;
        let own = near.surface.faces()[face as usize];
        let mut test = |sample: u32, vertices: &[u32]| {
            if self.own && vertices.iter().any(|v| corners.contains(v)) {
                return;
            }
            counters.narrow_calls += 1;
            if self.pair().close_sample(near, sample, far, corners) {
                out.push(key(sample, target));
            }
        };
        for k in (0..3).filter(|k| near.surface.owned()[face as usize] >> (3 + k) & 1 == 1) {
            test(near.surface.face_edges()[face as usize][k], &[own[k], own[(k + 1) % 3]]);
        }
        test(edges + face, &own);
    }
}

impl<'a> Pair<'a> {
    /// The same with the sides exchanged.
    pub fn reversed(&self) -> Pair<'a> {
        Pair { a: self.b, b: self.a, ..*self }
    }

    /// Greatest distance [m] at which features with these vertices are reported.
    #[inline]
    fn limit(&self, a: &Place<'a>, of_a: &[u32], b: &Place<'a>, of_b: &[u32]) -> f64 {
        let farthest = |side: &Place<'a>, vertices: &[u32]| {
            side.reach.map_or(0.0, |reach| vertices.iter().map(|v| reach[*v as usize]).fold(0.0, f64::max))
        };
        if a.way.is_none() && b.way.is_none() {
            return self.ask.epsilon + farthest(a, of_a) + farthest(b, of_b);
        }
        let mut most = 0.0f64;
        for v in of_a {
            let (reach, way) = a.goes(*v);
            for w in of_b {
                let (other, its) = b.goes(*w);
                most = most.max(reach + other + (way - its).length());
            }
        }
        self.ask.epsilon + most
    }

    /// Whether the distance at the asked ends of the step is within `limit` [m].
    #[inline]
    fn reported(&self, limit: f64, closest: impl Fn(f64) -> Closest) -> bool {
        let within = |time: f64| closest(time).squared <= limit * limit;
        match self.ask.report {
            Report::Boxes => true,
            Report::Start => within(0.0),
            Report::End => within(self.ask.dt),
            Report::Ends => within(0.0) || within(self.ask.dt),
        }
    }

    #[inline]
    pub fn close_vertex(&self, near: &Place<'a>, v: u32, far: &Place<'a>, face: [u32; 3]) -> bool {
        let limit = self.limit(near, &[v], far, &face);
        self.reported(limit, |t| vertex_face(near.at(v, t), far.face_at(face, t)))
    }

    #[inline]
    pub fn close_edges(&self, pair: [u32; 2]) -> bool {
        let a = self.a.surface.edges()[pair[0] as usize];
        let b = self.b.surface.edges()[pair[1] as usize];
        let limit = self.limit(&self.a, &a, &self.b, &b);
        self.reported(limit, |t| edge_edge(self.a.edge_at(a, t), self.b.edge_at(b, t)))
    }

    #[inline]
    pub fn close_sample(&self, near: &Place<'a>, sample: u32, far: &Place<'a>, face: [u32; 3]) -> bool {
        let limit = self.limit(near, near.sample_vertices(sample), far, &face);
        self.reported(limit, |t| vertex_face(near.sample(sample, t), far.face_at(face, t)))
    }
}

impl<'a> Place<'a> {
    /// Reach [m] and way [m] of a vertex.
    #[inline]
    fn goes(&self, v: u32) -> (f64, DVec3) {
        let v = v as usize;
        (self.reach.map_or(0.0, |reach| reach[v]), self.way.map_or(DVec3::ZERO, |way| way[v]))
    }

    /// Where a vertex is `t` [s] into the step.
    #[inline]
    pub fn at(&self, v: u32, t: f64) -> DVec3 {
        match self.v {
            Some(velocity) if t > 0.0 => self.x[v as usize] + velocity[v as usize] * t,
            _ => self.x[v as usize],
        }
    }

    /// Where the corners of a face are. Spelled out: `map` would pass each through memory in pieces.
    #[inline(always)]
    pub fn face_at(&self, face: [u32; 3], t: f64) -> [DVec3; 3] {
        [self.at(face[0], t), self.at(face[1], t), self.at(face[2], t)]
    }

    /// Where the ends of an edge are.
    #[inline(always)]
    pub fn edge_at(&self, edge: [u32; 2], t: f64) -> [DVec3; 2] {
        [self.at(edge[0], t), self.at(edge[1], t)]
    }

    /// The vertices that carry a sample: the ends of edge s, or the corners of face s − edges.
    pub fn sample_vertices(&self, sample: u32) -> &'a [u32] {
        let edges = self.surface.edges();
        match edges.get(sample as usize) {
            Some(ends) => ends,
            None => &self.surface.faces()[sample as usize - edges.len()],
        }
    }

    /// Where a sample is `t` [s] into the step: the mean of its vertices.
    pub fn sample(&self, sample: u32, t: f64) -> DVec3 {
        let vertices = self.sample_vertices(sample);
        vertices.iter().fold(DVec3::ZERO, |sum, v| sum + self.at(*v, t)) / vertices.len() as f64
    }
}

impl<const S: usize> Side<'_, S> {
    /// Inflated box of an edge. Where its ends reach differently far, both count with the farther.
    #[inline]
    fn edge_box(&self, ends: [u32; 2]) -> Kdop<S> {
        let [a, b] = ends.map(|v| v as usize);
        let both = self.vertex_boxes[a].union(&self.vertex_boxes[b]);
        let more = (self.reaches(a) - self.reaches(b)).abs();
        if more > 0.0 { both.grown(more) } else { both }
    }
}
