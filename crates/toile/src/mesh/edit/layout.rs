//! Faces laid out next to each other in one plane, however their charts lie.

use super::draft::Draft;
use crate::math::DVec2;
use crate::mesh::topology::doubled_area;

/// Lengths and angles that differ by less than this part count as the same.
pub(super) const TOUCH: f64 = 1e-9;

/// A face with its corners laid out in a plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Laid {
    pub face: u32,
    pub at: [DVec2; 3],
}

/// +1 where the corners of a rest triangle turn counter-clockwise, else −1.
pub(super) fn turning(rest: &[DVec2; 3]) -> f64 {
    if doubled_area(rest) < 0.0 { -1.0 } else { 1.0 }
}

/// Where a point of a chart comes to lie when the points `from` of it lie at `onto`: turned, moved and scaled, and turned
/// over if `side` is −1.
pub(super) fn carried(point: DVec2, from: [DVec2; 2], onto: [DVec2; 2], side: f64) -> DVec2 {
    let (edge, offset) = (from[1] - from[0], point - from[0]);
    let along = edge.dot(offset) / edge.length_squared();
    let aside = side * edge.perp_dot(offset) / edge.length_squared();
    let base = onto[1] - onto[0];
    onto[0] + base * along + base.perp() * aside
}

impl Draft {
    /// A face as it lies in its own chart.
    pub fn laid(&self, face: u32) -> Laid {
        Laid { face, at: self.rest[face as usize] }
    }

    /// The face across the edge `a`–`b` of a laid one, next to it. `side` is how laid faces turn. Where the two charts give
    /// the edge different lengths, the new face is scaled to the old one's.
    pub fn lay_across(&self, laid: &Laid, a: u32, b: u32, side: f64) -> Option<Laid> {
        let face = self.across(laid.face, a, b)?;
        let here = [laid.at[self.corner(laid.face, a)?], laid.at[self.corner(laid.face, b)?]];
        let (i, j) = (self.corner(face, a)?, self.corner(face, b)?);
        let rest = &self.rest[face as usize];
        let mut at = [here[0]; 3];
        at[j] = here[1];
        at[3 - i - j] = carried(rest[3 - i - j], [rest[i], rest[j]], here, side * turning(rest));
        Some(Laid { face, at })
    }

    /// The ends of the edge of a face that is opposite to a corner: its left and right one for whoever leaves the face
    /// there, where faces turn by `side`.
    pub fn gate(&self, face: u32, opposite: usize, side: f64) -> [u32; 2] {
        let corners = self.faces[face as usize];
        let (first, second) = (corners[(opposite + 1) % 3], corners[(opposite + 2) % 3]);
        if side > 0.0 { [second, first] } else { [first, second] }
    }
}
