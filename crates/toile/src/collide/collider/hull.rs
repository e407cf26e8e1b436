//! The convex hull of points, exact: quickhull (Barber, Dobkin and Huhdanpaa 1996) on adaptive predicates (Shewchuk
//! 1997).
//!
//! A face is visible from a point strictly in front of it, decided without rounding; so the visible faces are always
//! one patch whose rim is one loop, and no face without area can arise: a new face of no area would need a point on
//! the line of a rim edge, hence in the plane of the visible face behind it, from which that face is not visible. Points
//! that are collinear or coplanar but for their rounding do give slivers: the hull is that of the points as given.

use super::error::{ColliderError, LARGEST};
use super::facets::Facets;
use crate::math::DVec3;
use robust::Coord3D;

/// An edge of the rim of what a point sees.
struct RimEdge {
    tail: u32,
    head: u32,
    /// The face that is not seen, and which of its sides this is.
    beyond: usize,
    slot: usize,
}

/// A triangle of the growing hull.
struct Face {
    corners: [u32; 3],
    /// Across the side from corner k to corner k + 1.
    neighbours: [usize; 3],
    /// Points in front of it that no earlier face has.
    outside: Vec<u32>,
    alive: bool,
}

/// The hull of `points` [m]: its corners and outward faces.
pub fn convex_hull(points: &[DVec3]) -> Result<Facets, ColliderError> {
    let bad = |p: &DVec3| !(p.abs().max_element() <= LARGEST && p.is_finite());
    if let Some(element) = points.iter().position(bad) {
        return Err(ColliderError::NotFinite { shape: "hull", element });
    }
    let mut hull = Hull { points, faces: Vec::new() };
    hull.start()?;
    let mut next = 0;
    while next < hull.faces.len() {
        if hull.faces[next].alive && !hull.faces[next].outside.is_empty() {
            hull.grow(next);
        }
        next += 1;
    }
    Ok(hull.finish())
}

struct Hull<'a> {
    points: &'a [DVec3],
    faces: Vec<Face>,
}

impl Hull<'_> {
    /// +1 where `p` is in front of the plane of three points (counter-clockwise from there), 0 on it, −1 behind.
    fn side(&self, [a, b, c]: [u32; 3], p: u32) -> i32 {
        let at = |v: u32| {
            let p = self.points[v as usize];
            Coord3D { x: p.x, y: p.y, z: p.z }
        };
        let below = robust::orient3d(at(a), at(b), at(c), at(p));
        i32::from(below < 0.0) - i32::from(below > 0.0)
    }

    /// Four points that span space.
    fn start(&mut self) -> Result<(), ColliderError> {
        let count = self.points.len();
        let flat = |dimensions| ColliderError::FlatHull { points: count, dimensions };
        let at = |v: usize| self.points[v];
        let furthest = |measure: &dyn Fn(DVec3) -> f64| {
            (0..count).fold((0, -1.0), |best, v| {
                let value = measure(at(v));
                if value > best.1 { (v, value) } else { best }
            })
        };
        if count == 0 {
            return Err(flat(0));
        }
        let a = furthest(&|p| (p - at(0)).length_squared()).0;
        let (b, apart) = furthest(&|p| (p - at(a)).length_squared());
        if apart == 0.0 {
            return Err(flat(0));
        }
        let (c, wide) = furthest(&|p| (p - at(a)).cross(at(b) - at(a)).length_squared());
        let normal = (at(b) - at(a)).cross(at(c) - at(a));
        let base = [a as u32, b as u32, c as u32];
        let (d, _) = furthest(&|p| (p - at(a)).dot(normal).abs());
        // Rounding may point to the wrong one; only the exact side decides.
        let fourth = [d].into_iter().chain(0..count).find(|&v| self.side(base, v as u32) != 0);
        let Some(d) = fourth else {
            // Collinear points span no plane with any fourth.
            return Err(flat(if wide > 0.0 { 2 } else { 1 }));
        };
        let [a, b, c] = if self.side(base, d as u32) > 0 { [base[0], base[2], base[1]] } else { base };
        let d = d as u32;
        let corners = [[a, b, c], [a, d, b], [b, d, c], [c, d, a]];
        let neighbours = [[1, 2, 3], [3, 2, 0], [1, 3, 0], [2, 1, 0]];
        for (corners, neighbours) in corners.into_iter().zip(neighbours) {
            self.faces.push(Face { corners, neighbours, outside: Vec::new(), alive: true });
        }
        self.assign((0..count as u32).collect(), 0);
        Ok(())
    }

    /// Gives each point to the first face from `first` on that it sees; points that see none are inside.
    fn assign(&mut self, points: Vec<u32>, first: usize) {
        for p in points {
            if let Some(f) = (first..self.faces.len()).find(|&f| self.side(self.faces[f].corners, p) > 0) {
                self.faces[f].outside.push(p);
            }
        }
    }

    /// Takes the furthest point in front of a face into the hull.
    fn grow(&mut self, start: usize) {
        let [a, b, c] = self.faces[start].corners.map(|v| self.points[v as usize]);
        let normal = (b - a).cross(c - a);
        let height = |v: u32| (self.points[v as usize] - a).dot(normal);
        let outside = &self.faces[start].outside;
        let apex =
            outside.iter().fold(outside[0], |best, &v| if height(v) > height(best) { v } else { best });
        let (visible, rim) = self.visible(start, apex);
        let first = self.faces.len();
        let mut orphans = Vec::new();
        for &f in &visible {
            self.faces[f].alive = false;
            orphans.append(&mut self.faces[f].outside);
        }
        for (n, &RimEdge { tail, head, beyond, slot }) in rim.iter().enumerate() {
            let (before, after) = ((n + rim.len() - 1) % rim.len(), (n + 1) % rim.len());
            let neighbours = [beyond, first + after, first + before];
            self.faces.push(Face {
                corners: [tail, head, apex],
                neighbours,
                outside: Vec::new(),
                alive: true,
            });
            self.faces[beyond].neighbours[slot] = first + n;
        }
        self.assign(orphans, first);
    }

    /// The faces that a point sees, and the rim round them in order.
    fn visible(&self, start: usize, apex: u32) -> (Vec<usize>, Vec<RimEdge>) {
        let mut seen = vec![start];
        let mut rim = Vec::new();
        // Depth first round each face's sides gives the rim in order.
        let mut stack = vec![(start, 0, 3)];
        while let Some((face, from, left)) = stack.pop() {
            if left == 0 {
                continue;
            }
            stack.push((face, (from + 1) % 3, left - 1));
            let beyond = self.faces[face].neighbours[from];
            if seen.contains(&beyond) {
                continue;
            }
            let back = self.faces[beyond].neighbours.iter().position(|&n| n == face).unwrap_or(0);
            if self.side(self.faces[beyond].corners, apex) > 0 {
                seen.push(beyond);
                stack.push((beyond, (back + 1) % 3, 2));
            } else {
                let corners = self.faces[face].corners;
                rim.push(RimEdge { tail: corners[from], head: corners[(from + 1) % 3], beyond, slot: back });
            }
        }
        (seen, rim)
    }

    /// The living faces over the points they use.
    fn finish(&self) -> Facets {
        let mut number = vec![u32::MAX; self.points.len()];
        let mut positions = Vec::new();
        let mut faces = Vec::new();
        for face in self.faces.iter().filter(|face| face.alive) {
            faces.push(face.corners.map(|v| {
                if number[v as usize] == u32::MAX {
                    number[v as usize] = positions.len() as u32;
                    positions.push(self.points[v as usize]);
                }
                number[v as usize]
            }));
        }
        Facets { positions, faces, tolerance: 0.0 }
    }
}
