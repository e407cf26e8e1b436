//! The audit: every vertex and face, and every two edges, that may have met between two frames.
//!
//! Points are taken to move straight from frame to frame. The continuous test ([`ccd`](crate::collide::ccd)) misses
//! nothing on such paths, so an empty list is a proof for them; what is listed *may* have met. True paths are not
//! straight: cloth that turns or slides round something cuts corners here that it did not cut, so a listed pair is a
//! place to look at, not a fault.

use super::arrange::Pieces;
use super::finding::{ClosePair, EdgeId, FaceId, VertexId};
use super::tree::{Extent, NO_FACE, Tree, each_pair};
use super::{CheckSurface, Kind, owners, scan::Owned};
use crate::collide::ccd::{Effort, Passage, edge_edge, vertex_face};
use glam::DVec3;
use rayon::prelude::*;

/// Boxes are taken in a moving frame, which rounds; this is far more [m].
const MARGIN: f64 = 1e-9;

/// Two features that may have met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Met {
    /// Which.
    pub pair: ClosePair,
    /// Not before this part of the step [-].
    pub time: f64,
}

/// What may have met between two frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audited {
    /// The first pairs, in order.
    pub met: Vec<Met>,
    /// How many there are, listed or not.
    pub total: usize,
}

/// Audits frame after frame of the same surfaces.
pub struct Audit {
    first: Vec<u32>,
    vertices: Vec<usize>,
    triangles: Vec<[u32; 3]>,
    ids: Vec<FaceId>,
    owned: Vec<Owned>,
    pieces: Pieces,
    tree: Tree,
    x: Vec<DVec3>,
    last: Vec<DVec3>,
    /// Vertices of cloth: their mean motion is taken out of the boxes.
    cloth: Vec<bool>,
    list: usize,
}

impl Audit {
    /// An audit of these surfaces, cloth against everything, that lists so many pairs per step.
    pub fn new(surfaces: &[CheckSurface], list: usize) -> Audit {
        let (mut first, mut cloth) = (Vec::new(), Vec::new());
        let (mut triangles, mut ids, mut judged) = (Vec::new(), Vec::new(), Vec::new());
        for (s, surface) in surfaces.iter().enumerate() {
            let start = cloth.len() as u32;
            first.push(start);
            cloth.resize(cloth.len() + surface.vertices, surface.kind == Kind::Cloth);
            for (f, face) in surface.faces.iter().enumerate() {
                if face.iter().all(|&v| (v as usize) < surface.vertices) {
                    triangles.push(face.map(|v| start + v));
                    ids.push(FaceId { surface: s as u32, face: f as u32 });
                    judged.push(surface.kind == Kind::Cloth);
                }
            }
        }
        Audit {
            vertices: surfaces.iter().map(|s| s.vertices).collect(),
            owned: owners(&triangles, cloth.len()),
            pieces: Pieces::new(&triangles, cloth.len()),
            tree: Tree::new(judged),
            first,
            triangles,
            ids,
            x: Vec::new(),
            last: Vec::new(),
            cloth,
            list,
        }
    }

    /// Forgets the frame seen last: what follows does not continue it.
    pub fn forget(&mut self) {
        self.last.clear();
    }

    /// What may have met since the frame before, if there is one. A frame that is not finite or lacks positions is
    /// forgotten.
    pub fn step(&mut self, positions: &[&[DVec3]]) -> Option<Audited> {
        let fits = positions.iter().map(|x| x.len()).eq(self.vertices.iter().copied());
        self.x.clear();
        self.x.extend(positions.iter().flat_map(|x| x.iter()));
        if !fits || !self.x.iter().all(|p| p.is_finite() && p.abs().max_element() < 1e30) {
            self.forget();
            return None;
        }
        let found = (!self.last.is_empty()).then(|| self.search());
        std::mem::swap(&mut self.x, &mut self.last);
        found
    }

    fn search(&mut self) -> Audited {
        let moved = self.x.iter().zip(&self.last).zip(&self.cloth).filter(|(_, cloth)| **cloth);
        let (sum, count) =
            moved.fold((DVec3::ZERO, 0.0), |(sum, n), ((now, last), _)| (sum + (*now - *last), n + 1.0));
        let bulk = if count > 0.0 { sum / count } else { DVec3::ZERO };
        let point = |v: u32| {
            let v = v as usize;
            Extent::point(self.last[v]).union(&Extent::point(self.x[v] - bulk))
        };
        let of = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(point);
            a.union(&b).union(&c)
        };
        let extents: Vec<Extent> = self.triangles.iter().map(of).collect();
        if !self.tree.built() {
            self.tree.build(&extents, &self.pieces);
        }
        let slot = |&face: &u32| if face == NO_FACE { Extent::EMPTY } else { extents[face as usize] };
        let slots: Vec<Extent> = self.tree.order().iter().map(slot).collect();
        self.tree.refit_blocks(&slots);
        self.tree.refit_nodes(&slots);
        let order = self.tree.order();
        let walk = |&home: &u32| {
            let mut met = Vec::new();
            self.tree.walk(home, MARGIN, |blocks| {
                let (near, _) = self.tree.near(&blocks, &slots, (MARGIN as f32).next_up());
                each_pair(&blocks, near, |a, b| {
                    let (a, b) = (order[a as usize], order[b as usize]);
                    self.judge(a.min(b), a.max(b), &mut met);
                });
            });
            met
        };
        let mut met: Vec<Met> = self.tree.homes().par_iter().flat_map_iter(walk).collect();
        met.sort_unstable_by_key(|m| m.pair);
        let total = met.len();
        met.truncate(self.list);
        Audited { met, total }
    }

    /// Every vertex of one face against the other, and every edge against every edge, where no vertex is shared.
    fn judge(&self, a: u32, b: u32, met: &mut Vec<Met>) {
        let points = |v: [u32; 4]| (v.map(|v| self.last[v as usize]), v.map(|v| self.x[v as usize]));
        for (of, face) in [(a, b), (b, a)] {
            let (mine, other) = (self.triangles[of as usize], self.triangles[face as usize]);
            for k in (0..3).filter(|&k| self.owned[of as usize].vertices[k] && !other.contains(&mine[k])) {
                let (start, end) = points([mine[k], other[0], other[1], other[2]]);
                if let Passage::Meets { time } = vertex_face(&start, &end, 0.0, Effort::default()) {
                    let surface = self.ids[of as usize].surface;
                    let vertex = VertexId { surface, vertex: mine[k] - self.first[surface as usize] };
                    met.push(Met { pair: ClosePair::VertexFace(vertex, self.ids[face as usize]), time });
                }
            }
        }
        let (p, q) = (self.triangles[a as usize], self.triangles[b as usize]);
        for k in (0..3).filter(|&k| self.owned[a as usize].edges[k]) {
            for l in (0..3).filter(|&l| self.owned[b as usize].edges[l]) {
                let (e, f) = ([p[k], p[(k + 1) % 3]], [q[l], q[(l + 1) % 3]]);
                if f.contains(&e[0]) || f.contains(&e[1]) {
                    continue;
                }
                let (start, end) = points([e[0], e[1], f[0], f[1]]);
                if let Passage::Meets { time } = edge_edge(&start, &end, 0.0, Effort::default()) {
                    met.push(Met { pair: ClosePair::EdgeEdge(self.edge(a, e), self.edge(b, f)), time });
                }
            }
        }
    }

    fn edge(&self, face: u32, ends: [u32; 2]) -> EdgeId {
        let FaceId { surface, face } = self.ids[face as usize];
        EdgeId { surface, face, vertices: ends.map(|v| v - self.first[surface as usize]) }
    }
}
