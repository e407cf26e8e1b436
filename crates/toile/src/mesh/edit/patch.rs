//! The cloth that spans a hole: refined to the size of what is round it, with a chart for each face.

use super::draft::{Ends, ends};
use super::fill::normal;
use super::layout::carried;
use crate::math::{DVec2, DVec3};
use crate::mesh::surface::nearest_on_triangle;
use std::collections::{BTreeMap, VecDeque};

/// A triangle is refined where its middle is farther from its corners than this part of the size wanted there (P. Liepa,
/// Filling holes in meshes, 2003: 1/√2).
const COARSE: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Rounds of refining at most; each halves what is too large.
const ROUNDS: usize = 24;

/// Faces get no smaller height than this part of their longest side.
const THIN: f64 = 1e-3;

/// Triangles over the border of a hole, and vertices within.
pub(super) struct Patch {
    points: Vec<DVec3>,
    /// Edge length wanted at each vertex [m].
    sizes: Vec<f64>,
    faces: Vec<[usize; 3]>,
    rim: usize,
    /// The triangles of the border that the others lie on.
    span: Vec<[usize; 3]>,
    /// For each vertex within, the corners of the triangle it lies on and their weights.
    inner: Vec<([usize; 3], [f64; 3])>,
    /// Faces beside each edge.
    beside: BTreeMap<Ends, Vec<usize>>,
}

/// An edge of the cloth beside a patch: its ends in its chart, the lower first, and how that turns.
pub(super) type Beside = BTreeMap<Ends, ([DVec2; 2], f64)>;

impl Patch {
    pub fn new(points: Vec<DVec3>, sizes: Vec<f64>, span: Vec<[usize; 3]>) -> Patch {
        let mut patch = Patch {
            rim: points.len(),
            points,
            sizes,
            faces: span.clone(),
            span,
            inner: Vec::new(),
            beside: BTreeMap::new(),
        };
        for face in 0..patch.faces.len() {
            patch.link(face);
        }
        patch
    }

    pub fn faces(&self) -> &[[usize; 3]] {
        &self.faces
    }

    /// For each vertex within, three vertices of the border and their weights.
    pub fn inner(&self) -> impl Iterator<Item = ([usize; 3], [f64; 3])> + '_ {
        self.inner.iter().copied()
    }

    /// Adds vertices until faces are about as large as wanted. `joined` says which vertices of the border the cloth joins.
    pub fn refine(&mut self, joined: &dyn Fn(usize, usize) -> bool) {
        self.relax(joined);
        for _ in 0..ROUNDS {
            let large: Vec<usize> = (0..self.faces.len()).filter(|&f| self.is_large(f)).collect();
            if large.is_empty() {
                break;
            }
            for face in large {
                self.split(face);
            }
            self.relax(joined);
        }
    }

    fn is_large(&self, face: usize) -> bool {
        let corners = self.faces[face];
        let middle = self.middle(face);
        let size = (self.sizes[corners[0]] + self.sizes[corners[1]] + self.sizes[corners[2]]) / 3.0;
        size > 0.0
            && corners.iter().all(|&v| {
                let distance = (self.points[v] - middle).length();
                distance > COARSE * size && distance > COARSE * self.sizes[v]
            })
    }

    fn middle(&self, face: usize) -> DVec3 {
        let [a, b, c] = self.faces[face].map(|v| self.points[v]);
        (a + b + c) / 3.0
    }

    /// Splits a face into three round its middle, moved onto the span.
    fn split(&mut self, face: usize) {
        let middle = self.middle(face);
        let mut best = (f64::INFINITY, self.span[0], [1.0, 0.0, 0.0]);
        for &triangle in &self.span {
            let (foot, weights) = nearest_on_triangle(middle, &triangle.map(|v| self.points[v]));
            let distance = (foot - middle).length_squared();
            if distance < best.0 {
                best = (distance, triangle, weights);
            }
        }
        let (_, triangle, weights) = best;
        let point = (0..3).fold(DVec3::ZERO, |sum, k| sum + self.points[triangle[k]] * weights[k]);
        let corners = self.faces[face];
        let parts = [0, 1, 2].map(|k| {
            let mut part = corners;
            part[k] = self.points.len();
            part
        });
        // Where the span is folded the nearest point can lie outside of the face.
        let place = |v: usize| self.points.get(v).copied().unwrap_or(point);
        let up = normal(corners.map(place));
        let bad = |part: [DVec3; 3]| normal(part).dot(up) <= 0.0 || height(part) < THIN;
        if parts.iter().any(|part| bad(part.map(place))) {
            return;
        }
        self.sizes.push((self.sizes[corners[0]] + self.sizes[corners[1]] + self.sizes[corners[2]]) / 3.0);
        self.points.push(point);
        self.inner.push((triangle, weights));
        self.unlink(face);
        self.faces[face] = parts[0];
        self.link(face);
        for part in &parts[1..] {
            self.faces.push(*part);
            self.link(self.faces.len() - 1);
        }
    }

    fn link(&mut self, face: usize) {
        for edge in edges(self.faces[face]) {
            self.beside.entry(edge).or_default().push(face);
        }
    }

    fn unlink(&mut self, face: usize) {
        for edge in edges(self.faces[face]) {
            if let Some(faces) = self.beside.get_mut(&edge) {
                faces.retain(|&f| f != face);
                if faces.is_empty() {
                    self.beside.remove(&edge);
                }
            }
        }
    }

    /// Turns edges until each pair of faces is the better one of two, as a Delaunay triangulation is.
    fn relax(&mut self, joined: &dyn Fn(usize, usize) -> bool) {
        let mut waiting: VecDeque<Ends> = self.beside.keys().copied().collect();
        // Turning ends by itself in a plane; on a folded span it is stopped.
        let mut left = 16 * waiting.len() + 64;
        while let Some(edge) = waiting.pop_front() {
            if left == 0 {
                break;
            }
            left -= 1;
            if let Some(faces) = self.turned(edge, joined) {
                for (place, face) in faces {
                    self.unlink(place);
                    self.faces[place] = face;
                }
                for (place, face) in faces {
                    self.link(place);
                    waiting.extend(edges(face));
                }
            }
        }
    }

    /// The faces beside an edge with the edge turned, if that is better.
    fn turned(&self, edge: Ends, joined: &dyn Fn(usize, usize) -> bool) -> Option<[(usize, [usize; 3]); 2]> {
        let &[f, g] = self.beside.get(&edge)?.as_slice() else { return None };
        let [a, b] = edge.map(|v| v as usize);
        let third = |face: usize| self.faces[face].iter().position(|&v| v != a && v != b);
        let (i, j) = (third(f)?, third(g)?);
        let (c, d) = (self.faces[f][i], self.faces[g][j]);
        let taken = self.beside.contains_key(&ends(c as u32, d as u32));
        if c == d || taken || (c < self.rim && d < self.rim && joined(c, d)) {
            return None;
        }
        // Face f goes p, q, c round; g goes q, p, d.
        let (p, q) = (self.faces[f][(i + 1) % 3], self.faces[f][(i + 2) % 3]);
        let angle = |at: usize| {
            let (s, t) = (self.points[p] - self.points[at], self.points[q] - self.points[at]);
            libm::atan2(s.cross(t).length(), s.dot(t))
        };
        let place = |face: [usize; 3]| face.map(|v| self.points[v]);
        let (first, second) = ([p, d, c], [d, q, c]);
        if height(place(first)).min(height(place(second))) < THIN {
            return None;
        }
        let up = normal(place(self.faces[f])) + normal(place(self.faces[g]));
        let new = [normal(place(first)), normal(place(second))];
        let better = angle(c) + angle(d) > std::f64::consts::PI + 1e-9;
        let upright = new.iter().all(|n| n.dot(up) > 0.0) && new[0].dot(new[1]) > 0.0;
        (better && upright).then_some([(f, first), (g, second)])
    }

    /// Rest triangles of the faces: as long as they are, each laid to the face beside it, from the border inwards.
    pub fn charts(&self, mut laid: Beside) -> Vec<[DVec2; 3]> {
        let mut charts: Vec<Option<[DVec2; 3]>> = vec![None; self.faces.len()];
        let mut waiting: VecDeque<(Ends, usize)> = VecDeque::new();
        let sides = |face: usize| edges(self.faces[face]).map(move |edge| (edge, face));
        for face in 0..self.faces.len() {
            waiting.extend(sides(face).into_iter().filter(|(edge, _)| laid.contains_key(edge)));
        }
        while let Some((edge, face)) = waiting.pop_front() {
            if charts[face].is_some() {
                continue;
            }
            let Some(&(at, turn)) = laid.get(&edge) else { continue };
            let chart = self.chart(face, edge, at, turn);
            charts[face] = Some(chart);
            for (k, (side, _)) in sides(face).into_iter().enumerate() {
                // Edge k goes from corner k to the next.
                let (from, to) = (self.faces[face][k], self.faces[face][(k + 1) % 3]);
                let (p, q) = (chart[k], chart[(k + 1) % 3]);
                laid.entry(side).or_insert((if from < to { [p, q] } else { [q, p] }, turn));
                let others = self.beside.get(&side).into_iter().flatten();
                waiting.extend(others.filter(|&&f| charts[f].is_none()).map(|&f| (side, f)));
            }
        }
        charts.into_iter().map(|chart| chart.unwrap_or([DVec2::ZERO; 3])).collect()
    }

    /// A face laid flat with its own lengths, one edge in line with where it is laid beside.
    fn chart(&self, face: usize, edge: Ends, at: [DVec2; 2], turn: f64) -> [DVec2; 3] {
        let corners = self.faces[face];
        let [a, b, c] = corners.map(|v| self.points[v]);
        let along = (b - a).normalize_or_zero();
        let flat = |p: DVec3| {
            let x = (p - a).dot(along);
            DVec2::new(x, ((p - a) - along * x).length())
        };
        let own = [DVec2::ZERO, flat(b), flat(c)];
        let corner = |v: u32| corners.iter().position(|&c| c == v as usize).map_or(DVec2::ZERO, |k| own[k]);
        let from = edge.map(corner);
        let (middle, way) = (0.5 * (at[0] + at[1]), (at[1] - at[0]).normalize_or_zero());
        let half = 0.5 * (from[1] - from[0]).length() * way;
        own.map(|p| carried(p, from, [middle - half, middle + half], turn))
    }
}

/// The height of a triangle as a part of its longest side.
pub(super) fn height([a, b, c]: [DVec3; 3]) -> f64 {
    let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
    (b - a).cross(c - a).length() / longest
}

fn edges(face: [usize; 3]) -> [Ends; 3] {
    [0, 1, 2].map(|k| ends(face[k] as u32, face[(k + 1) % 3] as u32))
}
