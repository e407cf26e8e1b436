//! Rays for picking. A ray through a closed surface hits it, also exactly on an edge or a vertex.
//!
//! Vertices are sheared so that the ray is the z axis (Woop, Benthin and Wald 2013, *Watertight Ray/Triangle
//! Intersection*); a face is hit when the axis is not outside of any of its sides. Neighbours see the same sheared
//! vertices, and the side of the origin from a segment is decided exactly (adaptive predicates after Shewchuk 1997), so
//! no rounding can open a gap between them: in the plane, the sheared faces overlap at most on their borders.

use super::{Node, Surface, Waiting};
use crate::math::{DVec2, DVec3};
use robust::Coord;

/// A half line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Where it starts [m].
    pub origin: DVec3,
    /// Where it goes; of any length but zero.
    pub direction: DVec3,
}

/// Where a ray meets a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The face.
    pub face: u32,
    /// Weights of its corners [-].
    pub weights: [f64; 3],
    /// Distance from the ray's origin in units of its direction [-].
    pub along: f64,
}

/// A ray with its shear.
struct Sheared {
    ray: Ray,
    axes: [usize; 3],
    shear: DVec3,
    inverse: DVec3,
}

impl Surface {
    /// The first face that a ray meets, from either side. Of several at the same place the first in order counts.
    /// `None` also for a ray that is not finite or has no direction.
    pub fn cast(&self, ray: Ray) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        self.visit(ray, |hit| {
            if best.is_none_or(|b| hit.along < b.along || (hit.along == b.along && hit.face < b.face)) {
                best = Some(hit);
            }
            best.map_or(f64::INFINITY, |b| b.along)
        });
        best
    }

    /// Every face that a ray meets, sorted by distance and then by face. One crossing on an edge or a vertex is
    /// reported for every face there.
    pub fn cast_all(&self, ray: Ray) -> Vec<Hit> {
        let mut hits = Vec::new();
        self.visit(ray, |hit| {
            hits.push(hit);
            f64::INFINITY
        });
        hits.sort_by(|a, b| a.along.total_cmp(&b.along).then(a.face.cmp(&b.face)));
        hits
    }

    /// Calls `found` for every face that is met; it answers how far is still of interest.
    fn visit(&self, ray: Ray, mut found: impl FnMut(Hit) -> f64) {
        let Some(sheared) = Sheared::new(ray) else { return };
        let mut limit = f64::INFINITY;
        let mut stack = Waiting::from(0_u32);
        while let Some(index) = stack.pop() {
            let node = &self.nodes[index as usize];
            if sheared.entry(node) > limit {
                continue;
            }
            if node.count > 0 {
                for &face in self.leaf(node) {
                    if let Some(hit) = sheared.meet(face, &self.corners(face)) {
                        limit = limit.min(found(hit));
                    }
                }
                continue;
            }
            let (left, right) = (index + 1, node.link);
            let left_first =
                sheared.entry(&self.nodes[left as usize]) <= sheared.entry(&self.nodes[right as usize]);
            let [later, sooner] = if left_first { [right, left] } else { [left, right] };
            stack.push(later);
            stack.push(sooner);
        }
    }
}

impl Sheared {
    fn new(ray: Ray) -> Option<Sheared> {
        let d = ray.direction;
        let sound = ray.origin.is_finite() && d.is_finite() && d != DVec3::ZERO;
        if !sound {
            return None;
        }
        let z = d.abs().max_position();
        let axes = [(z + 1) % 3, (z + 2) % 3, z];
        let shear = DVec3::new(d[axes[0]] / d[z], d[axes[1]] / d[z], 1.0 / d[z]);
        Some(Sheared { ray, axes, shear, inverse: d.recip() })
    }

    /// Where the ray enters a box, a little early; infinity when it misses.
    fn entry(&self, node: &Node) -> f64 {
        // Widened against rounding here and in the shear: 2^-50 of the coordinates involved is several times both.
        let origin = self.ray.origin;
        let size = node.low.abs().max(node.high.abs()).max(origin.abs()).max_element();
        let slack = DVec3::splat(size * 8.9e-16);
        let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
        for k in 0..3 {
            let (low, high) = (node.low[k] - slack[k] - origin[k], node.high[k] + slack[k] - origin[k]);
            if self.ray.direction[k] == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return f64::INFINITY;
                }
                continue;
            }
            let (a, b) = (low * self.inverse[k], high * self.inverse[k]);
            // An infinite reciprocal times zero is not a number, which min and max leave out.
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        let slip = 1e-15 * (enter.abs() + leave.abs().min(1e300));
        if enter - slip <= leave + slip { enter - slip } else { f64::INFINITY }
    }

    /// Woop 2013, §3, with exact signs.
    fn meet(&self, face: u32, corners: &[DVec3; 3]) -> Option<Hit> {
        let [x, y, z] = self.axes;
        let local = corners.map(|p| p - self.ray.origin);
        let flat = local.map(|p| DVec2::new(p[x] - self.shear.x * p[z], p[y] - self.shear.y * p[z]));
        let sides: [f64; 3] = std::array::from_fn(|k| side(flat[(k + 1) % 3], flat[(k + 2) % 3]));
        if sides.iter().any(|s| *s < 0.0) && sides.iter().any(|s| *s > 0.0) {
            return None;
        }
        let total = sides[0] + sides[1] + sides[2];
        if total == 0.0 {
            // Seen edge-on, or without area: neighbours or a neighbouring ray answer.
            return None;
        }
        let weights = sides.map(|s| s / total);
        let along = (0..3).fold(0.0, |sum, k| sum + weights[k] * (self.shear.z * local[k][z]));
        (along >= 0.0).then_some(Hit { face, weights, along })
    }
}

/// Twice the area of (origin, a, b), with the exact sign.
fn side(a: DVec2, b: DVec2) -> f64 {
    let (p, q) = (a.x * b.y, a.y * b.x);
    let area = p - q;
    // Two products and a difference round by less than 3 ε of the products.
    if area.abs() > (p.abs() + q.abs()) * 4e-16 {
        return area;
    }
    let coord = |p: DVec2| Coord { x: p.x, y: p.y };
    robust::orient2d(coord(DVec2::ZERO), coord(a), coord(b))
}
