//! The search over all face pairs of a frame: what meets, and what is closest.
//!
//! Fixed runs of leaves go to the threads and what comes back is sorted, so neither the number of threads nor the
//! history of the tree can be seen in the results.

use glam::DVec3;
use rayon::prelude::*;

use super::distance::{edge_edge_squared, edges_farther_than, point_face_squared, point_farther_than};
use super::meet::{Face, Meet, Shared, fan, meet};
use super::tree::{Extent, Tree};

/// Runs of leaves per search. Bounds what the runs may list together, whatever the mesh.
const RUNS: usize = 64;
/// Every how many leaves are looked at for a first bound of the distance.
const SAMPLE: usize = 16;

/// One frame, ready to be searched.
pub(super) struct Scan<'a> {
    pub tree: &'a Tree,
    pub faces: &'a [Face],
    pub extents: &'a [Extent],
    pub owned: &'a [Owned],
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
pub(super) struct Found {
    /// Pairs of faces that meet, in order.
    pub hits: Vec<Hit>,
    /// How many there are, listed or not.
    pub total: usize,
    /// The closest features, where asked for.
    pub nearest: Option<Nearest>,
}

impl Found {
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
    /// vertex, no farther than `within` [m], where given; `guess` is a pair that is likely close.
    pub fn search(&self, most: usize, within: Option<f64>, guess: Option<Pair>) -> Found {
        let start = within.map(|within| self.start(within, guess));
        let leaves = self.tree.leaves();
        let runs = leaves.par_chunks(leaves.len().div_ceil(RUNS).max(8));
        let runs: Vec<Found> = runs.map(|leaves| self.run(leaves, most, start)).collect();
        let mut found = Found { hits: Vec::new(), total: 0, nearest: start };
        for run in runs {
            found.hits.extend(run.hits);
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

    fn run(&self, leaves: &[u32], most: usize, start: Option<Nearest>) -> Found {
        let mut found = Found { hits: Vec::new(), total: 0, nearest: start };
        for &leaf in leaves {
            let margin = found.nearest.map_or(0.0, |nearest| nearest.reach());
            self.tree.walk(leaf, margin, |a, b| {
                self.judge(a, b, most, &mut found);
            });
        }
        found
    }

    /// Whether two faces meet, and how near their features are. Most pairs lie beside one plane, which settles both.
    #[inline]
    fn judge(&self, a: u32, b: u32, most: usize, found: &mut Found) {
        let (p, q) = (&self.faces[a as usize], &self.faces[b as usize]);
        let shared = Shared::new(&p.vertices, &q.vertices);
        let beside = if shared.count == 0 { q.clearance(p) } else { 0.0 };
        if beside <= 0.0
            && self.extents[a as usize].overlaps(&self.extents[b as usize])
            && let Some(meet) = meet(p, q, &shared)
        {
            found.list(Hit { a, b, meet }, most);
        }
        if let Some(best) = &mut found.nearest
            && !q.clears(beside, best.reach_squared)
        {
            self.features_near(a, b, &shared, best);
        }
    }

    /// A first upper bound: the guess, or what single leaves hold.
    fn start(&self, within: f64, guess: Option<Pair>) -> Nearest {
        let mut start = Nearest::new(within, self.slack());
        if let Some(pair) = guess {
            start.offer(self.measure(pair), pair);
        } else {
            for &leaf in self.tree.leaves().iter().step_by(SAMPLE) {
                self.tree.walk_leaf(leaf, |a, b| {
                    let shared =
                        Shared::new(&self.faces[a as usize].vertices, &self.faces[b as usize].vertices);
                    self.features_near(a, b, &shared, &mut start);
                });
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
    fn features_near(&self, a: u32, b: u32, shared: &Shared, best: &mut Nearest) {
        let (p, q, reach) = (&self.faces[a as usize], &self.faces[b as usize], best.reach_squared);
        let far = match shared.count {
            0 => p.clears(p.clearance(q), reach),
            1 => fanned_farther_than(reach, p, q, shared),
            _ => false,
        };
        if far {
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
            let pair = Pair::VertexFace(Corner { face: of, corner: k as u32 }, face);
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
                let [p, q] = [(a, k), (b, l)].map(|(face, corner)| Corner { face, corner: corner as u32 });
                best.offer(edge_edge_squared(edge, other), Pair::EdgeEdge(p, q));
            }
        }
    }

    /// Squared distance of a pair [m²].
    fn measure(&self, pair: Pair) -> f64 {
        let face = |f: u32| &self.faces[f as usize];
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
    slack: f64,
    pub pair: Option<Pair>,
}

impl Nearest {
    fn new(within: f64, slack: f64) -> Nearest {
        let mut nearest = Nearest { squared: within * within, reach_squared: 0.0, slack, pair: None };
        nearest.reach_squared = nearest.reach() * nearest.reach();
        nearest
    }

    #[inline]
    fn offer(&mut self, squared: f64, pair: Pair) {
        let nearer = squared < self.squared;
        if nearer || (squared == self.squared && self.pair.is_none_or(|best| pair < best)) {
            self.squared = squared;
            self.pair = Some(pair);
            self.reach_squared = self.reach() * self.reach();
        }
    }

    /// Distance of the pair [m].
    pub fn distance(&self) -> f64 {
        self.squared.sqrt()
    }

    /// How far apart boxes may be and still hold a nearer pair [m].
    fn reach(&self) -> f64 {
        self.squared.sqrt() * (1.0 + 1e-12) + self.slack
    }
}

/// Keeps the first `most` hits, sorted.
fn keep_first(hits: &mut Vec<Hit>, most: usize) {
    hits.sort_unstable_by_key(|hit| (hit.a, hit.b));
    hits.truncate(most);
}
