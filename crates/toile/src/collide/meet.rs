//! Walks the patches of two surfaces, or of one with itself, to the pairs of features that are close.

use super::cull::{self, Limit};
use super::detect::{Counters, Features, Report};
use super::lanes::{Bounds, Four, LANES, Lanes, Width};
use super::patches::{Blocks, Patches, Touching, apart};
use super::traverse::{Pair, Worker, indices, key};
use glam::Vec4;

/// Pairs kept until they are compared together.
const BATCH: usize = 512;

/// A walk over the patches of a pair of surfaces.
#[derive(Clone, Copy)]
pub(super) struct Meet<'a> {
    pub pair: Pair<'a>,
    pub a: &'a Patches,
    pub b: &'a Patches,
    pub limit: Limit,
}

/// Two nodes, each with its level, that overlap; or a node and itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    nodes: [u32; 2],
    levels: [u8; 2],
}

/// Pairs of features whose boxes overlap, waiting to be compared.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    pub pairs: Vec<u64>,
}

impl Batch {
    /// Keeps a pair, if it counts; decided without a jump, because nobody can foretell it.
    #[inline(always)]
    fn keep(&mut self, pair: u64, counts: bool) {
        let len = self.pairs.len();
        self.pairs.push(pair);
        self.pairs.truncate(len + usize::from(counts));
    }
}

impl<'a> Meet<'a> {
    pub fn new(pair: Pair<'a>, a: &'a Patches, b: &'a Patches) -> Meet<'a> {
        let farthest = a.whole().farthest().max(b.whole().farthest());
        Meet { pair, a, b, limit: Limit::new(pair.ask.epsilon, farthest) }
    }

    /// Where the walk starts, if anywhere.
    pub fn start(&self, counters: &mut Counters) -> Option<Step> {
        counters.box_tests += u64::from(!self.pair.own);
        let levels = [self.a.levels.len() as u8, self.b.levels.len() as u8];
        let more = apart(self.a.frame(u8::MAX, 0), self.b.frame(u8::MAX, 0));
        let there =
            !levels.contains(&0) && (self.pair.own || self.a.whole().grown(more).overlaps(&self.b.whole()));
        there.then_some(Step { nodes: [0; 2], levels })
    }

    /// Walks down from everything that the worker has before it.
    pub fn run(&self, worker: &mut Worker) {
        #[cfg(target_arch = "x86_64")]
        if let Some(eight) = pulp::x86::V3::try_new() {
            pulp::Simd::vectorize(eight, Run { meet: self, worker, width: eight });
            return;
        }
        self.walk(Four, worker);
    }

    #[inline(always)]
    fn walk(&self, width: impl Width, worker: &mut Worker) {
        let mut stack = std::mem::take(&mut worker.steps);
        while let Some(step) = stack.pop() {
            if !self.open(width, step, &mut stack, &mut worker.counters) {
                self.patches(width, step.nodes, worker);
            }
        }
        worker.steps = stack;
        self.settle(worker);
    }

    /// Puts the overlapping pairs of children on `out`. False for two patches, which have no children.
    pub fn expand(&self, step: Step, out: &mut Vec<Step>, counters: &mut Counters) -> bool {
        self.open(Four, step, out, counters)
    }

    #[inline(always)]
    fn open(&self, width: impl Width, step: Step, out: &mut Vec<Step>, counters: &mut Counters) -> bool {
        let ([i, j], [la, lb]) = (step.nodes, step.levels);
        if la == 0 && lb == 0 {
            return false;
        }
        counters.depth = counters.depth.max(u64::from(self.a.levels.len() as u8 + 1 - la));
        if self.pair.own && la == lb && i == j {
            let level = &self.a.levels[la as usize - 1];
            let lanes = &level.lanes[i as usize];
            let children = level.bounds.len().saturating_sub(LANES * i as usize).min(LANES);
            for k in 0..children {
                let child = LANES as u32 * i + k as u32;
                counters.box_tests += (LANES - 1 - k) as u64;
                out.push(Step { nodes: [child; 2], levels: [la - 1; 2] });
                each(lanes.overlaps(width, &lanes.get(k)) & !0 << (k + 1), |other| {
                    out.push(Step { nodes: [child, LANES as u32 * i + other], levels: [la - 1; 2] });
                });
            }
            return true;
        }
        let bounds = |patches: &Patches, level: u8, node: u32| match patches.levels.get(level as usize) {
            Some(level) => level.bounds[node as usize],
            None => patches.whole(),
        };
        counters.box_tests += LANES as u64;
        let more = apart(self.a.frame(la, i), self.b.frame(lb, j));
        if la >= lb {
            let lanes = &self.a.levels[la as usize - 1].lanes[i as usize];
            let mut rows = lanes.overlaps(width, &bounds(self.b, lb, j).grown(more));
            while rows != 0 {
                let child = LANES as u32 * i + rows.trailing_zeros();
                rows &= rows - 1;
                if la > lb {
                    out.push(Step { nodes: [child, j], levels: [la - 1, lb] });
                    continue;
                }
                counters.box_tests += LANES as u64;
                let others = &self.b.levels[lb as usize - 1].lanes[j as usize];
                let more = apart(self.a.frame(la - 1, child), self.b.frame(lb, j));
                let bounds = self.a.levels[la as usize - 1].bounds[child as usize].grown(more);
                each(others.overlaps(width, &bounds), |l| {
                    let nodes = [child, LANES as u32 * j + l];
                    out.push(Step { nodes, levels: [la - 1, lb - 1] });
                });
            }
        } else {
            let lanes = &self.b.levels[lb as usize - 1].lanes[j as usize];
            each(lanes.overlaps(width, &bounds(self.a, la, i).grown(more)), |l| {
                out.push(Step { nodes: [i, LANES as u32 * j + l], levels: [la, lb - 1] });
            });
        }
        true
    }

    /// The features of two patches against each other.
    #[inline(always)]
    fn patches(&self, width: impl Width, [p, q]: [u32; 2], worker: &mut Worker) {
        let Worker { waiting: [vertex_face, face_vertex, edge_edge], counters, .. } = worker;
        counters.leaf_pairs += 1;
        let alone = self.pair.own && p == q;
        let more = if alone { 0.0 } else { apart(self.a.frame(0, p), self.b.frame(0, q)) };
        if !alone && self.pair.ask.report != Report::Boxes {
            let (slab_a, slab_b) = (&self.a.slabs[p as usize], &self.b.slabs[q as usize]);
            if slab_a.clears(slab_b, more) || slab_b.clears(slab_a, more) {
                return;
            }
        }
        counters.face_pairs += 1;
        let all = self.pair.ask.features == Features::All;
        let (a, b) = (self.a, self.b);
        if alone {
            within(
                width,
                (&a.vertices, &a.faces),
                p,
                &a.faces_touch,
                false,
                counters,
                &mut vertex_face.pairs,
            );
            if all {
                within(width, (&a.edges, &a.edges), p, &a.edges_touch, true, counters, &mut edge_edge.pairs);
            }
        } else {
            let boxes =
                [a.levels[0].bounds[p as usize].grown(more), b.levels[0].bounds[q as usize].grown(more)];
            let [of_a, of_b] = &boxes;
            let how = (self.pair.own, more);
            cross(width, (&a.vertices, p, of_b), (&b.faces, q, of_a), how, counters, vertex_face);
            cross(width, (&b.vertices, q, of_a), (&a.faces, p, of_b), how, counters, face_vertex);
            if all {
                cross(width, (&a.edges, p, of_b), (&b.edges, q, of_a), how, counters, edge_edge);
            }
        }
        if worker.waiting.iter().any(|b| b.pairs.len() >= BATCH) {
            self.settle(worker);
        }
    }

    /// Compares what waits.
    #[inline(always)]
    fn settle(&self, worker: &mut Worker) {
        let Worker { waiting, vertex_face, face_vertex, edge_edge, counters, .. } = worker;
        let found = [vertex_face, face_vertex, edge_edge];
        for (kind, (batch, found)) in waiting.iter_mut().zip(found).enumerate() {
            let pairs = &mut batch.pairs;
            counters.candidates += pairs.len() as u64;
            if self.pair.ask.report != Report::Boxes {
                self.cull(kind, pairs);
                counters.narrow_calls += pairs.len() as u64;
            }
            for &pair in pairs.iter() {
                if let Some(key) = self.close(kind, pair) {
                    found.push(key);
                }
            }
            pairs.clear();
        }
    }

    /// The key of a pair of slots, if its features are close.
    fn close(&self, kind: usize, pair: u64) -> Option<u64> {
        let [i, j] = indices(pair).map(|slot| slot as usize);
        let (a, b) = (self.a, self.b);
        let (features, close) = match kind {
            0 => {
                let (v, face) = (a.vertices.ids[i], b.faces.of[j]);
                ([v, b.faces.ids[j]], self.pair.close_vertex(&self.pair.a, v, &self.pair.b, face))
            }
            1 => {
                let (v, face) = (b.vertices.ids[i], a.faces.of[j]);
                ([v, a.faces.ids[j]], self.pair.close_vertex(&self.pair.b, v, &self.pair.a, face))
            }
            _ => {
                let mut edges = [a.edges.ids[i], b.edges.ids[j]];
                if self.pair.own {
                    edges.sort_unstable();
                }
                (edges, self.pair.close_edges(edges))
            }
        };
        close.then_some(key(features[0], features[1]))
    }

    /// Drops pairs that are surely apart at every moment asked about.
    #[inline(always)]
    fn cull(&self, kind: usize, pairs: &mut Vec<u64>) {
        let mut kept = 0;
        let asked = match self.pair.ask.report {
            Report::Boxes => [false, false],
            Report::Start => [true, false],
            Report::End => [false, true],
            Report::Ends => [true, true],
        };
        for from in (0..pairs.len()).step_by(4) {
            let len = (pairs.len() - from).min(4);
            // The last ones stand in for what is missing.
            let at = |k: usize| indices(pairs[from + k.min(len - 1)]);
            let four = [at(0), at(1), at(2), at(3)];
            let more = match (self.a.ways.is_empty() && self.b.ways.is_empty(), kind) {
                (true, _) => Vec4::ZERO,
                (_, 0) => ways(four, (&self.a.vertices, &self.a.ways), (&self.b.faces, &self.b.ways)),
                (_, 1) => ways(four, (&self.b.vertices, &self.b.ways), (&self.a.faces, &self.a.ways)),
                _ => ways(four, (&self.a.edges, &self.a.ways), (&self.b.edges, &self.b.ways)),
            };
            let mut apart = 15;
            for (end, (a, b)) in self.a.places.iter().zip(&self.b.places).enumerate() {
                if asked[end] {
                    apart &= match kind {
                        0 => vertex_face(four, (&self.a.vertices, a), (&self.b.faces, b), more, self.limit),
                        1 => vertex_face(four, (&self.b.vertices, b), (&self.a.faces, a), more, self.limit),
                        _ => edges(four, (&self.a.edges, a), (&self.b.edges, b), more, self.limit),
                    };
                }
            }
            for k in 0..len {
                pairs[kept] = pairs[from + k];
                kept += usize::from(apart >> k & 1 == 0);
            }
        }
        pairs.truncate(kept);
    }
}

/// Features and where all vertices are.
type Placed<'a, const N: usize> = (&'a Blocks<N>, &'a [Vec4]);

/// Where vertex c of four features is. Spelled out: `map` would pass each through memory.
#[inline(always)]
fn gather<const N: usize>((blocks, places): Placed<N>, slots: [u32; 4], c: usize) -> [Vec4; 4] {
    let of = |k: usize| blocks.of[slots[k] as usize][c] as usize;
    let (i, j, k, l) = (of(0), of(1), of(2), of(3));
    [places[i], places[j], places[k], places[l]]
}

#[inline(always)]
fn vertex_face(four: [[u32; 2]; 4], near: Placed<1>, far: Placed<3>, more: Vec4, limit: Limit) -> u32 {
    let [p, f] = sides(four);
    cull::faces(gather(near, p, 0), [gather(far, f, 0), gather(far, f, 1), gather(far, f, 2)], more, limit)
}

#[inline(always)]
fn edges(four: [[u32; 2]; 4], near: Placed<2>, far: Placed<2>, more: Vec4, limit: Limit) -> u32 {
    let [e, f] = sides(four);
    cull::edges([gather(near, e, 0), gather(near, e, 1)], [gather(far, f, 0), gather(far, f, 1)], more, limit)
}

/// How far beyond ε each of four pairs is reported by its ways and reaches [m], rounded up.
fn ways<const N: usize, const M: usize>(four: [[u32; 2]; 4], near: Placed<N>, far: Placed<M>) -> Vec4 {
    let of = |list: &[Vec4], v: u32| list.get(v as usize).copied().unwrap_or(Vec4::ZERO);
    Vec4::from_array(four.map(|[i, j]| {
        let mut most = 0.0f32;
        for v in near.0.of[i as usize] {
            let a = of(near.1, v);
            for w in far.0.of[j as usize] {
                let b = of(far.1, w);
                // What rounding to f32 took from the ways.
                let lost = 2e-7 * (a.truncate().abs().max_element() + b.truncate().abs().max_element());
                most = most.max(a.w + b.w + (a - b).truncate().length() + lost);
            }
        }
        most * 1.000_01
    }))
}

/// First and second slots of four pairs.
#[inline(always)]
fn sides(four: [[u32; 2]; 4]) -> [[u32; 4]; 2] {
    let [a, b, c, d] = four;
    [[a[0], b[0], c[0], d[0]], [a[1], b[1], c[1], d[1]]]
}

/// Which of eight rows overlap which of eight columns: byte k is for row k; only rows that are asked for.
#[inline(always)]
fn table(width: impl Width, rows: u32, near: &Lanes, far: &Lanes) -> u64 {
    let (mut hits, mut rows) = (0, rows);
    while rows != 0 {
        let k = rows.trailing_zeros();
        hits |= u64::from(far.overlaps_lane(width, near, k as usize)) << (8 * k);
        rows &= rows - 1;
    }
    hits
}

/// Keeps every pair of slots within a patch whose boxes overlap and that does not touch.
#[inline(always)]
fn within<const N: usize, const M: usize>(
    width: impl Width,
    (near, far): (&Blocks<N>, &Blocks<M>),
    p: u32,
    touching: &Touching,
    alone: bool,
    counters: &mut Counters,
    out: &mut Vec<u64>,
) {
    let mut words = touching.of(p).iter();
    for block in near.blocks(p) {
        for other in far.blocks(p) {
            if alone && other < block {
                continue;
            }
            counters.feature_tests += (LANES * LANES) as u64;
            let touch = words.next().copied().unwrap_or(0);
            let mut hits = table(width, 0xFF, &near.lanes[block], &far.lanes[other]) & !touch;
            while hits != 0 {
                let at = hits.trailing_zeros();
                out.push(key((LANES * block) as u32 + at / 8, (LANES * other) as u32 + at % 8));
                hits &= hits - 1;
            }
        }
    }
}

/// Keeps every pair of slots of two patches, each given with the box of the other patch, whose boxes overlap and that have
/// no vertex in common, if both are of one surface: `own`. Boxes of one patch are moved out by `more` [m], those given are
/// already.
#[inline(always)]
fn cross<const N: usize, const M: usize>(
    width: impl Width,
    (near, p, near_meets): (&Blocks<N>, u32, &Bounds),
    (far, q, far_meets): (&Blocks<M>, u32, &Bounds),
    (own, more): (bool, f32),
    counters: &mut Counters,
    out: &mut Batch,
) {
    for block in near.blocks(p) {
        let mut lanes = &near.lanes[block];
        let rows = lanes.overlaps(width, near_meets);
        if rows == 0 {
            continue;
        }
        let moved;
        if more > 0.0 {
            moved = lanes.grown(more);
            lanes = &moved;
        }
        for other in far.blocks(q) {
            let others = &far.lanes[other];
            if others.overlaps(width, far_meets) == 0 {
                continue;
            }
            counters.feature_tests += u64::from(LANES as u32 * rows.count_ones());
            // One word for all rows, so that one loop, with one end to mispredict, goes over all of them.
            let mut hits = table(width, rows, lanes, others);
            while hits != 0 {
                let at = hits.trailing_zeros() as usize;
                let (first, second) = (LANES * block + at / 8, LANES * other + at % 8);
                let mut touch = false;
                for v in &near.of[first] {
                    for w in &far.of[second] {
                        touch |= v == w;
                    }
                }
                out.keep(key(first as u32, second as u32), !(own & touch));
                hits &= hits - 1;
            }
        }
    }
}

/// A walk compiled for eight lanes.
#[cfg(target_arch = "x86_64")]
struct Run<'m, 'a, 'w> {
    meet: &'m Meet<'a>,
    worker: &'w mut Worker,
    width: pulp::x86::V3,
}

#[cfg(target_arch = "x86_64")]
impl pulp::WithSimd for Run<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.meet.walk(self.width, self.worker);
    }
}

/// Calls `call` with the place of every bit that is set.
#[inline(always)]
fn each(mut mask: u32, mut call: impl FnMut(u32)) {
    while mask != 0 {
        call(mask.trailing_zeros());
        mask &= mask - 1;
    }
}
