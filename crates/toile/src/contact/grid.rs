//! The motion that neighbours have in common.

use crate::math::{DVec3, parallel};

/// A smooth motion that neighbours share: means over the cells of a coarse grid, linear between them.
#[derive(Default)]
pub struct Grid {
    sums: Vec<(DVec3, f64)>,
}

/// Size of the cells [m].
const CELL: f64 = 0.1;

/// Most cells along an axis.
const CELLS: f64 = 48.0;

impl Grid {
    /// Fills `out` with the common motion of each point, its own wish where it is led. False if there is none to
    /// speak of.
    pub fn fill(
        &mut self,
        x: &[DVec3],
        way: &[DVec3],
        led: &[bool],
        particles: usize,
        out: &mut Vec<DVec3>,
    ) -> bool {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for p in &x[..particles] {
            (low, high) = (low.min(*p), high.max(*p));
        }
        let extent = high - low;
        if !extent.is_finite() {
            return false;
        }
        let cell = CELL.max(extent.max_element() / CELLS);
        let size = (extent / cell).floor().as_uvec3() + glam::UVec3::splat(2);
        let index = |c: glam::UVec3| ((c.z * size.y + c.y) * size.x + c.x) as usize;
        self.sums.clear();
        self.sums.resize((size.x * size.y * size.z) as usize, (DVec3::ZERO, 0.0));
        let place = |p: DVec3| {
            let q = (p - low) / cell;
            let base = q.floor().max(DVec3::ZERO).as_uvec3().min(size - glam::UVec3::splat(2));
            (base, (q - base.as_dvec3()).clamp(DVec3::ZERO, DVec3::ONE))
        };
        let corner = |base: glam::UVec3, f: DVec3, k: u32| {
            let step = glam::UVec3::new(k & 1, k >> 1 & 1, k >> 2);
            let w = |axis: usize| if step[axis] == 1 { f[axis] } else { 1.0 - f[axis] };
            (index(base + step), w(0) * w(1) * w(2))
        };
        let margin = DVec3::splat(cell);
        for i in 0..x.len() {
            // Bodies count where cloth is.
            if i >= particles && !(x[i].cmpge(low - margin).all() && x[i].cmple(high + margin).all()) {
                continue;
            }
            let (base, f) = place(x[i]);
            for k in 0..8 {
                let (at, w) = corner(base, f, k);
                self.sums[at].0 += way[i] * w;
                self.sums[at].1 += w;
            }
        }
        out.resize(x.len(), DVec3::ZERO);
        let sums = &self.sums;
        parallel::fill(out, |i| {
            if led[i] {
                return way[i];
            }
            let (base, f) = place(x[i]);
            (0..8).fold(DVec3::ZERO, |sum, k| {
                let (at, w) = corner(base, f, k);
                if w > 0.0 && sums[at].1 > 0.0 { sum + sums[at].0 * (w / sums[at].1) } else { sum }
            })
        });
        true
    }
}
