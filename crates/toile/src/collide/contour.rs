//! The outline of a patch, seen along a direction (M03-10, G-13).

use super::shell::Shell;
use crate::math::{DVec2, DVec3};

/// The outline of a patch of faces as one closed loop of vertices, or `None` when it has none or several, or touches
/// itself in a vertex. One loop is enough to know that the patch is in one piece: with a direction from which all
/// faces are seen from the front, every piece has a loop of its own.
pub fn outline(surface: &Shell, faces: &[u32]) -> Option<Vec<u32>> {
    let side = |f: &u32| {
        let (corners, edges) = (surface.faces()[*f as usize], surface.face_edges()[*f as usize]);
        [0, 1, 2].map(|k| (edges[k], [corners[k], corners[(k + 1) % 3]]))
    };
    let mut sides: Vec<(u32, [u32; 2])> = faces.iter().flat_map(side).collect();
    sides.sort_unstable();
    // Sides of one face only, as steps from vertex to vertex.
    let mut steps = Vec::new();
    for group in sides.chunk_by(|a, b| a.0 == b.0) {
        match group {
            [(_, step)] => steps.push(*step),
            [(_, a), (_, b)] if a[0] == b[1] => {}
            _ => return None,
        }
    }
    steps.sort_unstable();
    if steps.windows(2).any(|w| w[0][0] == w[1][0]) {
        return None;
    }
    let mut at = steps.first()?[0];
    let mut walk = Vec::with_capacity(steps.len());
    for _ in 0..steps.len() {
        walk.push(at);
        at = steps[steps.binary_search_by_key(&at, |s| s[0]).ok()?][1];
        if at == walk[0] {
            break;
        }
    }
    (walk.len() == steps.len() && at == walk[0]).then_some(walk)
}

/// Whether a closed loop, seen along `axis`, keeps more than `clearance` [m] from itself, sides with a common end
/// excepted. Rounding makes the answer "no" in doubt.
pub fn winds_clear(outline: &[u32], x: &[DVec3], axis: DVec3, clearance: f64) -> bool {
    let (right, up) = axis.any_orthonormal_pair();
    let flat: Vec<DVec2> =
        outline.iter().map(|v| DVec2::new(x[*v as usize].dot(right), x[*v as usize].dot(up))).collect();
    let count = flat.len();
    let size = flat.iter().fold(0.0, |m: f64, p| m.max(p.abs().max_element()));
    let limit = clearance + 1e-12 * size;
    let side = |i: usize| (flat[i], flat[(i + 1) % count]);
    for i in 0..count {
        for j in i + 2..count {
            if i == 0 && j + 1 == count {
                continue;
            }
            // Not "closer than", so that a distance that is not a number is not clear.
            let clear = distance(side(i), side(j)) > limit;
            if !clear {
                return false;
            }
        }
    }
    count >= 3
}

/// Distance of two segments in the plane.
fn distance((a, b): (DVec2, DVec2), (c, d): (DVec2, DVec2)) -> f64 {
    let turn = |p: DVec2, q: DVec2, r: DVec2| (q - p).perp_dot(r - p);
    let cross = |s: f64, t: f64| (s > 0.0) != (t > 0.0);
    if cross(turn(a, b, c), turn(a, b, d)) && cross(turn(c, d, a), turn(c, d, b)) {
        return 0.0;
    }
    let foot = |p: DVec2, q: DVec2, r: DVec2| {
        let u = r - q;
        let s = (u.dot(p - q) / u.length_squared()).clamp(0.0, 1.0);
        if s.is_nan() { (p - q).length() } else { (p - q - u * s).length() }
    };
    foot(a, c, d).min(foot(b, c, d)).min(foot(c, a, b)).min(foot(d, a, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::shell::Role;

    /// A flat ring of 2n faces with a gap, seen from above; its two ends overlap when `turn` exceeds a full turn.
    fn horseshoe(n: u32, turn: f64) -> (Shell, Vec<DVec3>) {
        let corner = |k: u32| {
            let (sin, cos) = libm::sincos(turn * f64::from(k / 2) / f64::from(n));
            let radius = if k.is_multiple_of(2) { 1.0 } else { 1.3 };
            DVec3::new(radius * cos, 0.02 * f64::from(k / 2), -radius * sin)
        };
        let x: Vec<DVec3> = (0..2 * (n + 1)).map(corner).collect();
        let faces =
            (0..n).flat_map(|k| [[2 * k, 2 * k + 1, 2 * k + 2], [2 * k + 1, 2 * k + 3, 2 * k + 2]]).collect();
        (Shell::new(x.len(), faces, Role::Cloth).expect("sound"), x)
    }

    #[test]
    fn an_outline_that_winds_into_itself_is_seen() {
        for (turn, clear) in [(5.0, true), (6.2, false), (7.0, false)] {
            let (surface, x) = horseshoe(30, turn);
            let faces: Vec<u32> = (0..60).collect();
            let outline = outline(&surface, &faces).expect("one loop");
            assert_eq!(outline.len(), 62);
            assert_eq!(winds_clear(&outline, &x, DVec3::Y, 0.1), clear, "{turn}");
        }
    }

    #[test]
    fn patches_without_a_single_loop_have_no_outline() {
        let (surface, _) = horseshoe(30, 5.0);
        assert!(outline(&surface, &[]).is_none());
        assert!(outline(&surface, &[0, 1, 10, 11]).is_none(), "two pieces");
        assert!(outline(&surface, &[0, 1, 2]).is_some());
    }
}
