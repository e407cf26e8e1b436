//! Four pairs of features at a time in f32: which of them are surely apart.
//!
//! For each pair a closest direction d is found, roughly. Whatever d is, the gap between the projections of both features on
//! it is no more than their distance, so a gap above the limit proves them apart; and if d is the difference of the true
//! closest points, the gap is their distance, so little that is apart is kept. What is left is compared in f64.

use glam::{Mat4, Vec4};

/// Four points: the lanes of x, y, z, and of their vertices' reach.
#[derive(Clone, Copy)]
struct Points {
    x: Vec4,
    y: Vec4,
    z: Vec4,
    reach: Vec4,
}

impl Points {
    #[inline(always)]
    fn of(p: [Vec4; 4]) -> Points {
        let t = Mat4::from_cols(p[0], p[1], p[2], p[3]).transpose();
        Points { x: t.x_axis, y: t.y_axis, z: t.z_axis, reach: t.w_axis }
    }

    #[inline(always)]
    fn sub(self, o: Points) -> Points {
        Points { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z, reach: self.reach }
    }

    #[inline(always)]
    fn add(self, o: Points, s: Vec4) -> Points {
        Points { x: self.x + o.x * s, y: self.y + o.y * s, z: self.z + o.z * s, reach: self.reach }
    }

    #[inline(always)]
    fn dot(self, o: Points) -> Vec4 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    #[inline(always)]
    fn select(mask: glam::BVec4A, a: Points, b: Points) -> Points {
        let (x, y) = (Vec4::select(mask, a.x, b.x), Vec4::select(mask, a.y, b.y));
        Points { x, y, z: Vec4::select(mask, a.z, b.z), reach: a.reach }
    }
}

/// Distances that decide, for coordinates up to some size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    base: f32,
}

impl Limit {
    /// `epsilon` [m] and what is lost in f32 by coordinates of magnitude up to `farthest` [m]: rounding two points moves
    /// them by 2√3·2⁻²⁴ times that, and projections of differences lose eight units of 2⁻²⁴ of up to 2√3 times that.
    pub fn new(epsilon: f64, farthest: f32) -> Limit {
        Limit { base: super::lanes::up(epsilon) + 4e-6 * farthest }
    }

    /// Whether the gap `gap`·|d| of projections on d exceeds the limit. The small number is above what underflow loses.
    #[inline(always)]
    fn exceeded(self, gap: Vec4, dd: Vec4, reach: Vec4) -> u32 {
        let limit = (reach + self.base) * 1.000_01;
        (gap.cmpgt(Vec4::ZERO) & (gap * gap).cmpgt(limit * limit * dd + 1e-36)).bitmask()
    }
}

/// The part s ∈ [0, 1] of n/d; any number where that is none.
#[inline(always)]
fn part(n: Vec4, d: Vec4) -> Vec4 {
    (n / d).max(Vec4::ZERO).min(Vec4::ONE)
}

/// The shorter of two vectors.
#[inline(always)]
fn nearer(a: Points, b: Points) -> Points {
    Points::select(a.dot(a).cmple(b.dot(b)), a, b)
}

/// Which of four pairs of edges, from end a₀ to a₁ and from b₀ to b₁, are apart: bit k for pair k. Each may be farther apart
/// by its reaches, and by `more` if that is more.
#[inline(always)]
pub(super) fn edges(a: [[Vec4; 4]; 2], b: [[Vec4; 4]; 2], more: Vec4, limit: Limit) -> u32 {
    let (a0, a1) = (Points::of(a[0]), Points::of(a[1]));
    let (b0, b1) = (Points::of(b[0]), Points::of(b[1]));
    let (u, v, r) = (a1.sub(a0), b1.sub(b0), a0.sub(b0));
    let (uu, vv, uv, ur, vr) = (u.dot(u), v.dot(v), u.dot(v), u.dot(r), v.dot(r));
    let s = part(uv * vr - vv * ur, uu * vv - uv * uv);
    let t = part(uv * s + vr, vv);
    let s = part(uv * t - ur, uu);
    let d = r.add(u, s).add(v, -t);
    let low = d.dot(r).min(d.dot(a1.sub(b0)));
    let high = d.dot(v).max(Vec4::ZERO);
    limit.exceeded(low - high, d.dot(d), more.max(a0.reach.max(a1.reach) + b0.reach.max(b1.reach)))
}

/// Which of four pairs of a vertex and a face are apart: bit k for pair k; `more` as for edges.
#[inline(always)]
pub(super) fn faces(p: [Vec4; 4], t: [[Vec4; 4]; 3], more: Vec4, limit: Limit) -> u32 {
    let p = Points::of(p);
    let (a, b, c) = (Points::of(t[0]), Points::of(t[1]), Points::of(t[2]));
    let (pa, pb, pc) = (p.sub(a), p.sub(b), p.sub(c));
    let (ab, ac, bc) = (b.sub(a), c.sub(a), c.sub(b));
    let (g11, g12, g22) = (ab.dot(ab), ab.dot(ac), ac.dot(ac));
    let (d1, d2) = (ab.dot(pa), ac.dot(pa));
    // From the closest point of each side, then from the foot where it is inside.
    let of_ab = pa.add(ab, -part(d1, g11));
    let of_ac = pa.add(ac, -part(d2, g22));
    let of_bc = pb.add(bc, -part(bc.dot(pb), bc.dot(bc)));
    let d = nearer(nearer(of_ab, of_ac), of_bc);
    let det = g11 * g22 - g12 * g12;
    let (v, w) = (g22 * d1 - g12 * d2, g11 * d2 - g12 * d1);
    let inside = v.cmpge(Vec4::ZERO) & w.cmpge(Vec4::ZERO) & (v + w).cmple(det) & det.cmpgt(Vec4::ZERO);
    let foot = pa.add(ab, -(v / det)).add(ac, -(w / det));
    let d = Points::select(inside, foot, d);
    let gap = d.dot(pa).min(d.dot(pb)).min(d.dot(pc));
    limit.exceeded(gap, d.dot(d), more.max(p.reach + a.reach.max(b.reach).max(c.reach)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::proximity::tests::quad as shapes;
    use crate::collide::proximity::{edge_edge, vertex_face};
    use crate::math::{DVec3, random};

    /// The same shapes as the oracle's own tests have, large and small, near and far.
    fn quad(i: u64) -> [DVec3; 4] {
        let shift = [0.0, 10.0][i as usize / 16 % 2];
        let size = [1.0, 0.01][i as usize % 2];
        shapes(i / 2).map(|p| p * size + DVec3::new(shift, 0.0, -shift))
    }

    #[test]
    fn what_is_called_apart_is_apart() {
        let mut counts = [[0; 2]; 2];
        for i in 0..20_000 {
            let four = [0, 1, 2, 3].map(|k| quad(4 * i + k));
            let reach = |k: usize, l: usize| 0.01 * random::unit(43, 16 * i + (4 * k + l) as u64);
            let place = |k: usize, l: usize| four[k][l].as_vec3().extend(reach(k, l) as f32);
            let at = |l: usize| [place(0, l), place(1, l), place(2, l), place(3, l)];
            let farthest = four.iter().flatten().map(|p| p.abs().max_element()).fold(0.0, f64::max) as f32;
            let epsilon = 0.5 * random::unit(42, i) * [1.0, 0.01][i as usize % 2];
            let limit = Limit::new(epsilon, farthest);
            let more = Vec4::splat([0.0, 0.015][i as usize / 2 % 2]);
            let vf = faces(at(0), [at(1), at(2), at(3)], more, limit);
            let ee = edges([at(0), at(1)], [at(2), at(3)], more, limit);
            for (k, x) in four.iter().enumerate() {
                let r = [0, 1, 2, 3].map(|l| reach(k, l));
                for (kind, mask, truth, reaches) in [
                    (0, vf, vertex_face(x[0], [x[1], x[2], x[3]]), r[0] + r[1].max(r[2]).max(r[3])),
                    (1, ee, edge_edge([x[0], x[1]], [x[2], x[3]]), r[0].max(r[1]) + r[2].max(r[3])),
                ] {
                    let most = epsilon + reaches.max(f64::from(more.x));
                    let distance = truth.squared.sqrt();
                    let apart = mask >> k & 1 == 1;
                    assert!(!apart || distance > most, "{i} {k}: {distance} within {most}");
                    if distance > most * 1.01 + 1e-3 {
                        counts[kind][usize::from(apart)] += 1;
                    }
                }
            }
        }
        assert!(counts.iter().all(|c| c[1] > 50 * c[0]), "nearly all of what is apart: {counts:?}");
    }

    #[test]
    fn what_is_no_number_is_left_to_others() {
        let bad = [Vec4::NAN, Vec4::INFINITY, Vec4::ZERO, Vec4::ONE];
        let limit = Limit::new(0.1, f32::INFINITY);
        assert_eq!(edges([bad, bad], [[Vec4::X; 4], bad], Vec4::ZERO, limit), 0);
        assert_eq!(faces([Vec4::splat(9.0); 4], [bad, [Vec4::X; 4], bad], Vec4::ZERO, limit), 0);
    }
}
