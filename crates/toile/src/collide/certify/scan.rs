//! The two searches over all face pairs of a frame: what meets, and what is closest.
//!
//! Both hand fixed runs of leaves to the threads and sort what comes back, so neither the number of threads nor the
//! history of the tree can be seen in the results.

use glam::DVec3;
use rayon::prelude::*;

use super::distance::{edge_edge_squared, point_face_squared};
use super::meet::{Face, Meet, meet};
use super::predicates::Plane;
use super::tree::{Extent, Tree};

/// Runs of leaves per search. Bounds what the runs may list together, whatever the mesh.
const RUNS: usize = 64;

/// One frame, ready to be searched.
pub(super) struct Scan<'a> {
    pub tree: &'a Tree,
    pub faces: &'a [[u32; 3]],
    pub x: &'a [DVec3],
    pub extents: &'a [Extent],
    pub planes: &'a [Plane],
    pub open: &'a [bool],
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

impl Scan<'_> {
    fn face(&self, f: u32) -> Face<'_> {
        let vertices = self.faces[f as usize];
        let x = vertices.map(|v| self.x[v as usize]);
        Face { vertices, x, plane: &self.planes[f as usize], open: self.open[f as usize] }
    }

    fn runs(&self) -> rayon::slice::Chunks<'_, u32> {
        let leaves = self.tree.leaves();
        leaves.par_chunks(leaves.len().div_ceil(RUNS).max(8))
    }

    /// Every pair of faces that meets, in order: at most `most` of them, and how many there are.
    pub fn meetings(&self, most: usize) -> (Vec<Hit>, usize) {
        let runs: Vec<(Vec<Hit>, usize)> = self.runs().map(|leaves| self.meetings_of(leaves, most)).collect();
        let total = runs.iter().map(|(_, count)| count).sum();
        let mut hits: Vec<Hit> = runs.into_iter().flat_map(|(hits, _)| hits).collect();
        keep_first(&mut hits, most);
        (hits, total)
    }

    fn meetings_of(&self, leaves: &[u32], most: usize) -> (Vec<Hit>, usize) {
        let (mut hits, mut total) = (Vec::new(), 0);
        for &leaf in leaves {
            self.tree.walk(leaf, self.extents, Extent::overlaps, |a, b| {
                if let Some(meet) = meet(&self.face(a), &self.face(b)) {
                    hits.push(Hit { a, b, meet });
                    total += 1;
                    if hits.len() >= most.saturating_mul(2).saturating_add(1024) {
                        keep_first(&mut hits, most);
                    }
                }
            });
        }
        (hits, total)
    }

    /// The closest pair of features without a common vertex, no farther than `within` [m]; `guess` is a pair that is
    /// likely close.
    pub fn closest(&self, within: f64, guess: Option<Pair>) -> Option<(f64, Pair)> {
        let mut start = Nearest::new(within, self.slack());
        if let Some(pair) = guess {
            start.offer(self.measure(pair), pair);
        }
        let runs: Vec<Nearest> = self.runs().map(|leaves| self.closest_of(leaves, start)).collect();
        for run in runs {
            if let Some(pair) = run.pair {
                start.offer(run.squared, pair);
            }
        }
        start.pair.map(|pair| (start.squared.sqrt(), pair))
    }

    /// What rounding may do to a measured distance [m]: more than the error of the formulas, so that a pair is only
    /// passed over when no measurement of it could have been the smallest.
    fn slack(&self) -> f64 {
        let reach =
            |e: &Extent| if e.min.x <= e.max.x { e.min.abs().max(e.max.abs()).max_element() } else { 0.0 };
        1e-14 * self.extents.iter().map(reach).fold(0.0, f64::max)
    }

    fn closest_of(&self, leaves: &[u32], start: Nearest) -> Nearest {
        let nearest = std::cell::Cell::new(start);
        for &leaf in leaves {
            let close = |a: &Extent, b: &Extent| a.gap_squared(b) <= nearest.get().reach_squared;
            self.tree.walk(leaf, self.extents, close, |a, b| {
                let mut best = nearest.get();
                self.vertices_near(a, b, &mut best);
                self.vertices_near(b, a, &mut best);
                self.edges_near(a, b, &mut best);
                nearest.set(best);
            });
        }
        nearest.get()
    }

    fn vertices_near(&self, of: u32, face: u32, best: &mut Nearest) {
        let (vertices, target) = (self.faces[of as usize], self.faces[face as usize]);
        for k in 0..3 {
            let v = vertices[k];
            if !self.owned[of as usize].vertices[k] || target.contains(&v) {
                continue;
            }
            if self.planes[face as usize].farther_than(best.reach_squared, self.x[v as usize]) {
                continue;
            }
            let pair = Pair::VertexFace(Corner { face: of, corner: k as u32 }, face);
            best.offer(self.measure(pair), pair);
        }
    }

    fn edges_near(&self, a: u32, b: u32, best: &mut Nearest) {
        for k in (0..3).filter(|&k| self.owned[a as usize].edges[k]) {
            for l in (0..3).filter(|&l| self.owned[b as usize].edges[l]) {
                let (p, q) = (Corner { face: a, corner: k as u32 }, Corner { face: b, corner: l as u32 });
                let ends = self.ends(q);
                if self.ends(p).iter().any(|v| ends.contains(v)) {
                    continue;
                }
                let pair = Pair::EdgeEdge(p, q);
                best.offer(self.measure(pair), pair);
            }
        }
    }

    /// Vertices of the edge that starts at a corner.
    pub fn ends(&self, edge: Corner) -> [u32; 2] {
        let face = self.faces[edge.face as usize];
        [face[edge.corner as usize], face[(edge.corner as usize + 1) % 3]]
    }

    /// Squared distance of a pair [m²].
    fn measure(&self, pair: Pair) -> f64 {
        let at = |v: u32| self.x[v as usize];
        match pair {
            Pair::VertexFace(Corner { face, corner }, other) => {
                point_face_squared(at(self.faces[face as usize][corner as usize]), self.face(other).x)
            }
            Pair::EdgeEdge(p, q) => edge_edge_squared(self.ends(p).map(at), self.ends(q).map(at)),
        }
    }
}

/// The smallest of what was offered; of equals, the first in the order of pairs.
#[derive(Clone, Copy)]
struct Nearest {
    squared: f64,
    /// Boxes farther apart than this cannot hold a nearer pair [m²].
    reach_squared: f64,
    slack: f64,
    pair: Option<Pair>,
}

impl Nearest {
    fn new(within: f64, slack: f64) -> Nearest {
        let mut nearest = Nearest { squared: within * within, reach_squared: 0.0, slack, pair: None };
        nearest.set_reach();
        nearest
    }

    #[inline]
    fn offer(&mut self, squared: f64, pair: Pair) {
        let nearer = squared < self.squared;
        if nearer || (squared == self.squared && self.pair.is_none_or(|best| pair < best)) {
            self.squared = squared;
            self.pair = Some(pair);
            self.set_reach();
        }
    }

    fn set_reach(&mut self) {
        let reach = self.squared.sqrt() * (1.0 + 1e-12) + self.slack;
        self.reach_squared = reach * reach;
    }
}

/// Keeps the first `most` hits, sorted.
fn keep_first(hits: &mut Vec<Hit>, most: usize) {
    hits.sort_unstable_by_key(|hit| (hit.a, hit.b));
    hits.truncate(most);
}
