//! The side test: whether anything changed sides *between* two frames that are clean by themselves.
//!
//! Seen from a point p, a surface S fills a solid angle w (in units of 4π: its winding number round p, whole for a
//! closed surface, a fraction for an open one). While p and S move, w changes continuously, by what the border of S
//! sweeps over as seen from p; only where p passes through S it jumps by one. So for any two frames
//!
//! n = w(S₁, p₁) − w(S₀, p₀) + (what the border sweeps) / 4π
//!
//! is a whole number: how often p went through S, one way minus the other. For a closed surface there is no border,
//! and n ≠ 0 says that p went in or out. A sum that is not whole would betray an error of the arithmetic; it is, to
//! about 1e-12.
//!
//! How points moved between the frames is not known. Straight lines are assumed, but n depends on them very little:
//! bending the paths changes n only if the border of S comes over p on the way. Where the border stays farther from p
//! than both may have strayed from straight lines (their second differences from frame to frame, twice what a kink in
//! the middle of a frame would show), n ≠ 0 is a passage. Nearer, p may have gone round the border: *undecided*.
//!
//! A few points are taken of every connected piece. That is enough: a piece that is clear of S in both frames cannot
//! have a part of it elsewhere unless the border of S lies between. Passages of edges through edges alone, of two thin
//! strips for example, leave no trace here; the audit finds them.

use super::distance::point_face_squared;
use super::finding::VertexId;
use super::{CheckSurface, Kind};
use glam::DVec3;
use rayon::prelude::*;
use std::f64::consts::PI;

/// Points taken of all pieces together; each piece has at least one.
const PROBES: usize = 768;

/// A point that went through a surface between two frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The point.
    pub vertex: VertexId,
    /// Index of the surface it went through, in the order of the surfaces.
    pub surface: u32,
    /// How often, one way minus the other: positive in the direction of the faces' normals.
    pub turns: i32,
}

/// What happened between the last frame and this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// Points that went through something, in order.
    pub passages: Vec<Passage>,
    /// Points that either went through something or round its border.
    pub undecided: usize,
    /// Points of cloth that lie inside a closed surface, in this frame: no fault by itself (a room is closed too).
    pub inside: usize,
}

/// A connected piece of a surface.
struct Piece {
    surface: u32,
    cloth: bool,
    faces: Vec<[u32; 3]>,
    /// Edges from u to v and how often the piece ends there; none where it is closed.
    border: Vec<([u32; 2], f64)>,
}

/// A point and a piece it is watched against.
struct Watch {
    vertex: u32,
    piece: u32,
    /// Faces of the piece that belong to the point itself: it is judged against the rest.
    own: Vec<[u32; 3]>,
}

/// Watches frame after frame of the same surfaces.
pub struct SideTest {
    /// First vertex of each surface.
    first: Vec<u32>,
    vertices: Vec<usize>,
    pieces: Vec<Piece>,
    watches: Vec<Watch>,
    x: Vec<DVec3>,
    /// The frame before, and the one before that; empty where there is none.
    last: Vec<DVec3>,
    before: Vec<DVec3>,
    /// w of every watch in the last frame.
    angles: Vec<f64>,
}

impl SideTest {
    /// A test of these surfaces: cloth against everything, bodies against cloth. Faces that name missing vertices are
    /// left out.
    pub fn new(surfaces: &[CheckSurface]) -> SideTest {
        let (mut first, mut at) = (Vec::new(), 0);
        for surface in surfaces {
            first.push(at as u32);
            at += surface.vertices;
        }
        let mut pieces = Vec::new();
        for (s, surface) in surfaces.iter().enumerate() {
            add_pieces(&mut pieces, s as u32, first[s], surface);
        }
        let each = (PROBES / pieces.len().max(1)).clamp(1, 64);
        let mut watches = Vec::new();
        for piece in &pieces {
            let mut members: Vec<u32> = piece.faces.iter().flatten().copied().collect();
            members.sort_unstable();
            members.dedup();
            for &vertex in members.iter().step_by(members.len().div_ceil(each)) {
                for (k, other) in pieces.iter().enumerate().filter(|(_, other)| piece.cloth || other.cloth) {
                    let own = |face: &&[u32; 3]| face.contains(&vertex);
                    let own = if std::ptr::eq(piece, other) {
                        piece.faces.iter().filter(own).copied().collect()
                    } else {
                        Vec::new()
                    };
                    watches.push(Watch { vertex, piece: k as u32, own });
                }
            }
        }
        SideTest {
            first,
            vertices: surfaces.iter().map(|s| s.vertices).collect(),
            pieces,
            watches,
            x: Vec::new(),
            last: Vec::new(),
            before: Vec::new(),
            angles: Vec::new(),
        }
    }

    /// Forgets the frames seen so far: what follows does not continue them.
    pub fn forget(&mut self) {
        self.last.clear();
        self.before.clear();
    }

    /// Compares a frame, positions [m] of each surface in order, with the one before. A frame that is not finite or
    /// lacks positions is forgotten with all before it.
    pub fn step(&mut self, positions: &[&[DVec3]]) -> Sides {
        let fits = positions.iter().map(|x| x.len()).eq(self.vertices.iter().copied());
        self.x.clear();
        self.x.extend(positions.iter().flat_map(|x| x.iter()));
        if !fits || !self.x.iter().all(|p| p.is_finite() && p.abs().max_element() < 1e30) {
            self.forget();
            return Sides::default();
        }
        let now: Vec<f64> = self.watches.par_iter().map(|watch| self.angle(watch)).collect();
        let mut sides = Sides::default();
        for (watch, angle) in self.watches.iter().zip(&now) {
            let closed = self.pieces[watch.piece as usize].border.is_empty() && watch.own.is_empty();
            let cloth = self.pieces[watch.piece as usize].surface != self.surface(watch.vertex);
            sides.inside += usize::from(closed && cloth && angle.abs() > 0.5);
        }
        if !self.last.is_empty() {
            let judged: Vec<Option<i32>> = self
                .watches
                .par_iter()
                .zip(&now)
                .zip(&self.angles)
                .map(|((watch, now), last)| self.turns(watch, now - last))
                .collect();
            for (watch, turns) in self.watches.iter().zip(judged) {
                match turns {
                    Some(0) => {}
                    Some(turns) => sides.passages.push(self.passage(watch, turns)),
                    None => sides.undecided += 1,
                }
            }
        }
        self.angles = now;
        std::mem::swap(&mut self.before, &mut self.last);
        std::mem::swap(&mut self.last, &mut self.x);
        sides
    }

    fn surface(&self, vertex: u32) -> u32 {
        self.first.partition_point(|&first| first <= vertex) as u32 - 1
    }

    fn passage(&self, watch: &Watch, turns: i32) -> Passage {
        // Several surfaces may start at the same number when some are empty: the last of them has the vertex.
        let surface = self.surface(watch.vertex);
        let vertex = VertexId { surface, vertex: watch.vertex - self.first[surface as usize] };
        Passage { vertex, surface: self.pieces[watch.piece as usize].surface, turns }
    }

    /// The solid angle of a piece seen from a point, in units of 4π.
    fn angle(&self, watch: &Watch) -> f64 {
        let (p, x) = (self.x[watch.vertex as usize], &self.x);
        let corner = |v: u32| x[v as usize] - p;
        let faces = self.pieces[watch.piece as usize].faces.iter();
        let rest = faces.filter(|face| watch.own.is_empty() || !face.contains(&watch.vertex));
        rest.map(|face| solid_angle(face.map(corner))).sum::<f64>() / (4.0 * PI)
    }

    /// How often a point went through a piece, given how its solid angle changed; `None` where it may have gone round.
    fn turns(&self, watch: &Watch, change: f64) -> Option<i32> {
        let border = &self.pieces[watch.piece as usize].border;
        let mut swept: f64 = border.iter().map(|&(edge, times)| times * self.sweep(watch.vertex, edge)).sum();
        for face in &watch.own {
            for k in 0..3 {
                swept -= self.sweep(watch.vertex, [face[k], face[(k + 1) % 3]]);
            }
        }
        let through = change + swept / (4.0 * PI);
        let whole = through.round();
        if (through - whole).abs() > 0.2 {
            return None;
        }
        if whole == 0.0 {
            return Some(0);
        }
        let own = watch.own.iter().flat_map(|f| [[f[0], f[1]], [f[1], f[2]], [f[2], f[0]]]);
        let own = own.filter(|edge| !edge.contains(&watch.vertex));
        let mut edges = border.iter().map(|&(edge, _)| edge).chain(own);
        let round = edges.any(|edge| self.may_pass(watch.vertex, edge));
        (!round).then_some(whole as i32)
    }

    /// Two triangles that an edge sweeps from frame to frame, as seen from a point [m].
    fn swept(&self, vertex: u32, [u, v]: [u32; 2]) -> [[DVec3; 3]; 2] {
        let at = |x: &[DVec3], v: u32| x[v as usize] - x[vertex as usize];
        let [a, b] = [at(&self.last, u), at(&self.last, v)];
        let [c, d] = [at(&self.x, u), at(&self.x, v)];
        [[a, b, d], [a, d, c]]
    }

    fn sweep(&self, vertex: u32, edge: [u32; 2]) -> f64 {
        let [first, second] = self.swept(vertex, edge);
        solid_angle(first) + solid_angle(second)
    }

    /// Whether an edge of a border may have come over a point on its true way.
    fn may_pass(&self, vertex: u32, edge: [u32; 2]) -> bool {
        let [first, second] = self.swept(vertex, edge);
        let near =
            point_face_squared(DVec3::ZERO, &first).min(point_face_squared(DVec3::ZERO, &second)).sqrt();
        // The edge itself sweeps a twisted patch, which leaves the two triangles by a quarter of its twist at most.
        let twist = 0.25 * (first[1] - first[0] - (first[2] - second[2])).length();
        near <= twist + self.astray(vertex) + self.astray(edge[0]).max(self.astray(edge[1]))
    }

    /// How far a vertex may have been from its straight way between the two frames [m].
    fn astray(&self, v: u32) -> f64 {
        let v = v as usize;
        let step = self.x[v] - self.last[v];
        // In the first step there is nothing to compare with.
        self.before.get(v).map_or(0.25 * step.length(), |before| (step - (self.last[v] - *before)).length())
    }
}

fn add_pieces(pieces: &mut Vec<Piece>, number: u32, first: u32, surface: &CheckSurface) {
    let mut root: Vec<u32> = (0..surface.vertices as u32).collect();
    let find = |root: &mut Vec<u32>, mut v: u32| {
        while root[v as usize] != v {
            root[v as usize] = root[root[v as usize] as usize];
            v = root[v as usize];
        }
        v
    };
    let sound = |face: &&[u32; 3]| face.iter().all(|&v| (v as usize) < surface.vertices);
    for face in surface.faces.iter().filter(sound) {
        let [a, b, c] = face.map(|v| find(&mut root, v));
        let least = a.min(b).min(c);
        [a, b, c].into_iter().for_each(|v| root[v as usize] = least);
    }
    let mut faces: Vec<(u32, [u32; 3])> =
        surface.faces.iter().filter(sound).map(|face| (find(&mut root, face[0]), *face)).collect();
    faces.sort_by_key(|(piece, _)| *piece);
    for of in faces.chunk_by(|f, g| f.0 == g.0) {
        let faces: Vec<[u32; 3]> = of.iter().map(|(_, face)| face.map(|v| first + v)).collect();
        let border = border(&faces);
        pieces.push(Piece { surface: number, cloth: surface.kind == Kind::Cloth, faces, border });
    }
}

/// Edges that faces do not pass through the same way as often as the other way.
fn border(faces: &[[u32; 3]]) -> Vec<([u32; 2], f64)> {
    let mut edges: Vec<([u32; 2], f64)> = Vec::with_capacity(3 * faces.len());
    for face in faces {
        for k in 0..3 {
            let (u, v) = (face[k], face[(k + 1) % 3]);
            edges.push(if u < v { ([u, v], 1.0) } else { ([v, u], -1.0) });
        }
    }
    edges.sort_by_key(|(edge, _)| *edge);
    edges.dedup_by(|next, first| {
        let same = next.0 == first.0;
        if same {
            first.1 += next.1;
        }
        same
    });
    edges.retain(|(_, times)| *times != 0.0);
    edges
}

/// The solid angle [sr] of a triangle seen from the origin, positive from behind (van Oosterom and Strackee 1983, eq.
/// 8). Zero seen from one of its own corners.
fn solid_angle([a, b, c]: [DVec3; 3]) -> f64 {
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let volume = a.dot(b.cross(c));
    let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    2.0 * libm::atan2(volume, below)
}
