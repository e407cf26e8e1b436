//! The search over all face pairs of a frame: what meets, and what is closest.
//!
//! Fixed runs of blocks go to the threads and what comes back is sorted, so neither the number of threads nor the
//! history of the tree can be seen in the results.

use glam::DVec3;
use rayon::prelude::*;

use super::distance::{edge_edge_squared, edges_farther_than, point_face_squared, point_farther_than};
use super::fans::Neighbours;
use super::meet::{Face, Meet, Shared, fan, meet};
use super::reuse::{CROWD, Near, Way};
use super::sketch::{Sketch, Slab, View};
use super::tree::{Extent, Tree, each_pair};

/// Runs of blocks per search. Bounds what the runs may list together, whatever the mesh.
const RUNS: usize = 64;
/// Every how many blocks are looked at for a first bound of the distance.
const SAMPLE: usize = 24;

/// One frame, ready to be searched.
pub(super) struct Scan<'a> {
    pub tree: &'a Tree,
    pub faces: &'a [Face],
    pub sketches: &'a [[Sketch; 4]],
    pub slabs: &'a [Slab],
    pub view: View,
    pub extents: &'a [Extent],
    pub owned: &'a [Owned],
    /// The slot of each face: where it is in the three above.
    pub slots: &'a [u32],
    /// Vertices whose faces are proven apart from one another.
    pub fanned: &'a [bool],
    /// Pairs that the tree does not visit.
    pub neighbours: &'a [Neighbours],
}

/// The vertices and edges (by first corner) that a face answers for, so that each is measured once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Owned {
    pub vertices: [bool; 3],
    pub edges: [bool; 3],
}

/// Two faces, by number (a < b), and how they meet.
#[derive(Clone, Copy)]
pub(super) struct Hit {
    pub a: u32,
    pub b: u32,
    pub meet: Meet,
}

/// A vertex or an edge as a corner of a face (an edge runs to the next corner).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Corner {
    pub face: u32,
    pub corner: u32,
}

/// Two features by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pair {
    VertexFace(Corner, u32),
    EdgeEdge(Corner, Corner),
}

/// What a search found, or a run of it.
#[derive(Default)]
pub(super) struct Found {
    /// Pairs of faces that meet, in order.
    pub hits: Vec<Hit>,
    /// How many there are, listed or not.
    pub total: usize,
    /// The closest features, where asked for.
    pub nearest: Option<Nearest>,
    /// Blocks of this run to look at again in the next frames.
    near: Vec<Near>,
    /// Whether there would be too many of them.
    pub crowded: bool,
}

impl Found {
    /// Keeps nothing for the next frames.
    pub fn forget(&mut self) {
        (self.near, self.crowded) = (Vec::new(), false);
    }

    /// How far apart boxes may be and still be of interest [m].
    fn reach(&self) -> f64 {
        self.nearest.map_or(0.0, |best| best.reach())
    }

    fn list(&mut self, hit: Hit, most: usize) {
        self.hits.push(hit);
        self.total += 1;
        if self.hits.len() >= most.saturating_mul(2).saturating_add(1024) {
            keep_first(&mut self.hits, most);
        }
    }
}

impl Scan<'_> {
    /// Every pair of faces that meets (at most `most` are listed), and the closest pair of features without a common
    /// vertex, where there is something to start from. `runs` keeps what later frames may follow, and its memory; where
    /// that would be too much, it tells.
    pub fn search(
        &self,
        most: usize,
        start: Option<Nearest>,
        (way, path): (Way, f32),
        runs: &mut Vec<Found>,
    ) -> Found {
        let homes = self.tree.homes();
        let length = homes.len().div_ceil(RUNS).max(2);
        runs.resize_with(homes.len().div_ceil(length), Found::default);
        let share = self.neighbours.len().div_ceil(runs.len().max(1));
        // Nothing to settle and nothing to measure: the usual case.
        let idle = start.is_none() && self.fanned.iter().all(|&fanned| fanned);
        runs.par_iter_mut().enumerate().for_each(|(k, run)| {
            let part = |length: usize, all: usize| (k * length).min(all)..((k + 1) * length).min(all);
            run.hits.clear();
            (run.total, run.nearest) = (0, start);
            if !idle {
                self.beside_one_another(&self.neighbours[part(share, self.neighbours.len())], most, run);
            }
            self.pairs(&homes[part(length, homes.len())], most, (way, path), run);
        });
        let mut found = Found { nearest: start, ..Found::default() };
        for run in runs {
            found.hits.append(&mut run.hits);
            found.total += run.total;
            if let (Some(best), Some(Nearest { squared, pair: Some(pair), .. })) =
                (&mut found.nearest, run.nearest)
            {
                best.offer(squared, pair);
            }
        }
        keep_first(&mut found.hits, most);
        found
    }

    /// Judges neighbours; those of a proven fan only need to be measured.
    fn beside_one_another(&self, pairs: &[Neighbours], most: usize, found: &mut Found) {
        for pair in pairs {
            let settled = pair.shared.iter().any(|&v| self.fanned[v as usize]);
            if settled && found.nearest.is_none() {
                continue;
            }
            let [a, b] = pair.faces.map(|face| self.slots[face as usize]);
            if self.extents[a as usize].is_empty() || self.extents[b as usize].is_empty() {
                continue;
            }
            if !settled {
                self.decide(a, b, most, found);
            }
            if let Some(best) = &mut found.nearest {
                let (p, q, [i, j]) = (self.sketch(a), self.sketch(b), pair.corners.map(usize::from));
                let far = if pair.shared[0] == pair.shared[1] {
                    p.fanned(i, q, j, best.reach_up, &self.view)
                } else {
                    p.hinged(i, q, j, best.reach_up, &self.view)
                };
                if !far {
                    self.features_near(a, b, best);
                }
            }
        }
    }

    /// Judges the pairs of some homes.
    fn pairs(&self, homes: &[u32], most: usize, (way, path): (Way, f32), found: &mut Found) {
        let mut near = std::mem::take(&mut found.near);
        if way != Way::Follow {
            near.clear();
        }
        let crowd = CROWD * homes.len() + 1024;
        for &home in if way == Way::Follow { &[] } else { homes } {
            let margin = if let Way::List(margin) = way { margin } else { found.reach() };
            self.tree.walk(home, margin, |blocks| {
                let listed = way != Way::Walk && near.len() < crowd;
                if listed {
                    near.push(Near::new(blocks));
                } else {
                    found.crowded |= way != Way::Walk;
                    self.settle(&mut Near::new(blocks), path, most, found);
                }
            });
        }
        if near.capacity() < near.len() + near.len() / 4 {
            near.reserve(near.len() / 2);
        }
        near.iter_mut().for_each(|near| self.settle(near, path, most, found));
        found.near = near;
    }

    /// Judges the pairs of two blocks, unless they are known to be apart.
    #[inline]
    fn settle(&self, near: &mut Near, path: f32, most: usize, found: &mut Found) {
        let reach = found.nearest.map_or(0.0, |best| best.reach_up);
        if near.settled(path, reach) {
            return;
        }
        let (a, b) = (near.blocks.home as usize, near.blocks.other as usize);
        if !near.blocks.joined {
            let mut gap = self.tree.gap(&near.blocks);
            if gap <= reach {
                gap = self.slabs[a].gap(&self.sketches[b]);
            }
            if gap <= reach {
                gap = self.slabs[b].gap(&self.sketches[a]);
            }
            if gap > reach {
                near.settle(path, gap);
                return;
            }
        }
        let (pairs, mut least) = self.tree.near(&near.blocks, self.extents, reach);
        each_pair(&near.blocks, pairs, |a, b| least = least.min(self.judge(a, b, most, found)));
        near.settle(path, least);
    }

    #[inline]
    fn sketch(&self, slot: u32) -> &Sketch {
        &self.sketches[slot as usize / 4][slot as usize % 4]
    }

    /// Whether two faces meet, and how near their features are. The sketches tell most of them apart; then it tells how
    /// far [m], and 0 otherwise.
    #[inline]
    fn judge(&self, a: u32, b: u32, most: usize, found: &mut Found) -> f32 {
        let (p, q) = (self.sketch(a), self.sketch(b));
        let reach = found.nearest.map_or(0.0, |nearest| nearest.reach_up);
        // Faces with a common vertex are never told apart.
        let gap = p.gap(q, reach, &self.view);
        if gap > reach {
            return gap;
        }
        let far = found.nearest.is_some() && !self.extents[a as usize].overlaps(&self.extents[b as usize]);
        if !far {
            self.decide(a, b, most, found);
        }
        if let Some(best) = &mut found.nearest {
            self.features_near(a, b, best);
        }
        0.0
    }

    /// Whether two faces meet, exactly.
    fn decide(&self, a: u32, b: u32, most: usize, found: &mut Found) {
        // By number, not by slot: nothing of the tree may be seen in the results.
        let (a, b) = if self.sketch(a).number < self.sketch(b).number { (a, b) } else { (b, a) };
        let (p, q) = (&self.faces[a as usize], &self.faces[b as usize]);
        if let Some(meet) = meet(p, q, &Shared::new(&p.vertices, &q.vertices)) {
            found.list(Hit { a: p.number, b: q.number, meet }, most);
        }
    }

    /// A first upper bound: the guess, or what single blocks hold.
    pub fn start(&self, within: f64, guess: Option<Pair>) -> Nearest {
        let mut start = Nearest::new(within, self.slack());
        if let Some(pair) = guess {
            start.offer(self.measure(pair), pair);
            return start;
        }
        for block in (0..self.tree.blocks()).step_by(SAMPLE) {
            for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                let (a, b) = (4 * block + i, 4 * block + j);
                let empty = |slot: u32| self.extents[slot as usize].is_empty();
                if self.tree.counts(a, b) && !empty(a) && !empty(b) {
                    self.features_near(a, b, &mut start);
                }
            }
        }
        start
    }

    /// What rounding may do to a measured distance [m]: more than the error of the formulas, so that a pair is only
    /// passed over when no measurement of it could have been the smallest.
    fn slack(&self) -> f64 {
        let judged = self.faces.iter().zip(self.extents).filter(|(_, extent)| !extent.is_empty());
        let reach = |face: &Face| face.x.iter().fold(DVec3::ZERO, |most, p| most.max(p.abs())).max_element();
        1e-14 * judged.map(|(face, _)| reach(face)).fold(0.0, f64::max)
    }

    /// Offers every pair of features of two faces.
    fn features_near(&self, a: u32, b: u32, best: &mut Nearest) {
        // By number: a distance may have another last digit the other way round.
        let (a, b) = if self.sketch(a).number < self.sketch(b).number { (a, b) } else { (b, a) };
        let (p, q, reach) = (&self.faces[a as usize], &self.faces[b as usize], best.reach_squared);
        let shared = Shared::new(&p.vertices, &q.vertices);
        if shared.count == 1 && fanned_farther_than(reach, p, q, &shared) {
            return;
        }
        self.vertices_near(a, b, best);
        self.vertices_near(b, a, best);
        self.edges_near(a, b, best);
    }

    fn vertices_near(&self, of: u32, face: u32, best: &mut Nearest) {
        let (from, to) = (&self.faces[of as usize], &self.faces[face as usize]);
        for k in (0..3).filter(|&k| self.owned[of as usize].vertices[k]) {
            if to.vertices.contains(&from.vertices[k])
                || point_farther_than(best.reach_squared, from.x[k], &to.x)
            {
                continue;
            }
            let pair = Pair::VertexFace(Corner { face: from.number, corner: k as u32 }, to.number);
            best.offer(point_face_squared(from.x[k], &to.x), pair);
        }
    }

    fn edges_near(&self, a: u32, b: u32, best: &mut Nearest) {
        let (first, second) = (&self.faces[a as usize], &self.faces[b as usize]);
        for k in (0..3).filter(|&k| self.owned[a as usize].edges[k]) {
            let ([s, t], edge) = (first.ends(k), first.edge(k));
            for l in (0..3).filter(|&l| self.owned[b as usize].edges[l]) {
                let ([u, v], other) = (second.ends(l), second.edge(l));
                let joined = s == u || s == v || t == u || t == v;
                if joined || edges_farther_than(best.reach_squared, edge, other) {
                    continue;
                }
                let corner = |face: &Face, k: usize| Corner { face: face.number, corner: k as u32 };
                let (p, q) = (corner(first, k), corner(second, l));
                best.offer(edge_edge_squared(edge, other), Pair::EdgeEdge(p, q));
            }
        }
    }

    /// Squared distance of a pair [m²].
    fn measure(&self, pair: Pair) -> f64 {
        let face = |f: u32| &self.faces[self.slots[f as usize] as usize];
        let edge = |c: Corner| face(c.face).edge(c.corner as usize);
        match pair {
            Pair::VertexFace(v, other) => {
                point_face_squared(face(v.face).x[v.corner as usize], &face(other).x)
            }
            Pair::EdgeEdge(p, q) => edge_edge_squared(edge(p), edge(q)),
        }
    }
}

/// Whether, of two faces with one common vertex, each surely lies farther from the opposite edge of the other than a
/// distance given squared [m²]: seen across a plane through the vertex, that edge is at least as far as its ends.
fn fanned_farther_than(distance_squared: f64, a: &Face, b: &Face, shared: &Shared) -> bool {
    let corners = fan(a, b, shared);
    let across = -(corners[0] + corners[1] + corners[2] + corners[3]);
    let clear = corners.iter().fold(f64::INFINITY, |clear, &x| clear.min(-across.dot(x)));
    clear > 0.0 && clear * clear > distance_squared * across.length_squared()
}

/// The smallest of what was offered; of equals, the first in the order of pairs.
#[derive(Clone, Copy)]
pub(super) struct Nearest {
    squared: f64,
    /// What is farther apart than this is of no interest [m²].
    reach_squared: f64,
    /// The same, not squared, as an f32 that is no less [m].
    reach_up: f32,
    slack: f64,
    pub pair: Option<Pair>,
}

impl Nearest {
    fn new(within: f64, slack: f64) -> Nearest {
        let mut nearest =
            Nearest { squared: within * within, reach_squared: 0.0, reach_up: 0.0, slack, pair: None };
        nearest.update();
        nearest
    }

    #[inline]
    fn offer(&mut self, squared: f64, pair: Pair) {
        let nearer = squared < self.squared;
        if nearer || (squared == self.squared && self.pair.is_none_or(|best| pair < best)) {
            self.squared = squared;
            self.pair = Some(pair);
            self.update();
        }
    }

    fn update(&mut self) {
        let reach = self.reach();
        self.reach_squared = reach * reach;
        self.reach_up = (reach as f32).next_up();
    }

    /// Distance of the pair [m].
    pub fn distance(&self) -> f64 {
        self.squared.sqrt()
    }

    /// How far apart boxes may be and still hold a nearer pair [m].
    pub fn reach(&self) -> f64 {
        self.squared.sqrt() * (1.0 + 1e-12) + self.slack
    }
}

/// Keeps the first `most` hits, sorted.
fn keep_first(hits: &mut Vec<Hit>, most: usize) {
    hits.sort_unstable_by_key(|hit| (hit.a, hit.b));
    hits.truncate(most);
}
