//! The nearest point of a surface.

use super::{Node, Surface, Waiting};
use crate::math::DVec3;

/// The point of a surface nearest to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foot {
    /// Its face.
    pub face: u32,
    /// Its weights in the corners of the face [-].
    pub weights: [f64; 3],
    /// Where it is [m].
    pub point: DVec3,
    /// How far away [m].
    pub distance: f64,
}

impl Surface {
    /// The nearest point within a distance [m], if any. Of equally near faces the first counts.
    pub fn nearest(&self, x: DVec3, within: f64) -> Option<Foot> {
        let mut best: Option<Foot> = None;
        let mut limit = within * within;
        let mut stack: Waiting<(u32, f64)> = Waiting::from((0, gap_squared(&self.nodes[0], x)));
        while let Some((index, gap)) = stack.pop() {
            if gap > limit {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.count == 0 {
                let (left, right) = (index + 1, node.link);
                let near = (left, gap_squared(&self.nodes[left as usize], x));
                let far = (right, gap_squared(&self.nodes[right as usize], x));
                let (near, far) = if near.1 <= far.1 { (near, far) } else { (far, near) };
                stack.push(far);
                stack.push(near);
                continue;
            }
            for &face in self.leaf(node) {
                let (point, weights) = nearest_on_triangle(x, &self.corners(face));
                let square = (x - point).length_squared();
                let first = best.is_none_or(|b| square < limit || face < b.face);
                if square <= limit && first {
                    limit = square;
                    best = Some(Foot { face, weights, point, distance: square.sqrt() });
                }
            }
        }
        best
    }
}

fn gap_squared(node: &Node, x: DVec3) -> f64 {
    let outside = (node.low - x).max(x - node.high).max(DVec3::ZERO);
    outside.length_squared()
}

/// The point of a triangle nearest to `x`, and its weights; any triangle, also one without area.
///
/// Regions of Ericson 2005, *Real-Time Collision Detection*, §5.1.5; a triangle without area ends on its sides.
pub fn nearest_on_triangle(x: DVec3, corners: &[DVec3; 3]) -> (DVec3, [f64; 3]) {
    let [a, b, c] = *corners;
    let (e, f) = (b - a, c - a);
    let normal = e.cross(f);
    let square = normal.length_squared();
    let d = x - a;
    let (s, t) = (d.cross(f).dot(normal), e.cross(d).dot(normal));
    if square > 0.0 && s >= 0.0 && t >= 0.0 && s + t <= square {
        let (s, t) = (s / square, t / square);
        return (a + e * s + f * t, [1.0 - s - t, s, t]);
    }
    let mut best = (a, [1.0, 0.0, 0.0]);
    let mut least = f64::INFINITY;
    for k in 0..3 {
        let next = (k + 1) % 3;
        let side = corners[next] - corners[k];
        let length = side.length_squared();
        let along = if length > 0.0 { ((x - corners[k]).dot(side) / length).clamp(0.0, 1.0) } else { 0.0 };
        let point = if along == 1.0 { corners[next] } else { corners[k] + side * along };
        let gap = (x - point).length_squared();
        if gap < least {
            least = gap;
            let mut weights = [0.0; 3];
            weights[k] = 1.0 - along;
            weights[next] = along;
            best = (point, weights);
        }
    }
    best
}
