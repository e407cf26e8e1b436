//! Ambient light of a whole picture: traced once a pixel, smoothed over each tile, shared by all samples.
//!
//! Ambient light changes slowly along a surface, so tracing it for every antialiasing sample would be
//! waste, and tracing few rays a pixel leaves grain. Each pixel of a 4 × 4 tile traces its own sixteenth
//! of one large sample set; a filter of exactly one tile, kept from crossing edges, restores the whole set.

use crate::tracer::{Spot, Tracer};
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// Weights of the filter: a tile is four pixels wide, so the two ends count half.
const KERNEL: [f32; 5] = [0.5, 1.0, 1.0, 1.0, 0.5];

/// What was found in the middle of a pixel.
#[derive(Clone, Copy)]
struct Probe {
    position: Vec3,
    normal: Vec3,
    light: Vec3,
    /// Width of the pixel on the surface [m].
    footprint: f32,
    /// 0 where there is nothing.
    key: u32,
}

/// Ambient light by pixel.
pub(crate) struct AmbientMap {
    width: usize,
    height: usize,
    probes: Vec<Probe>,
}

impl AmbientMap {
    pub(crate) fn new(tracer: &Tracer, width: usize, height: usize) -> AmbientMap {
        let trace_row = |y: usize| (0..width).map(move |x| probe(tracer, x, y));
        let probes: Vec<Probe> = (0..height).into_par_iter().flat_map_iter(trace_row).collect();
        let raw = AmbientMap { width, height, probes };
        let smooth_row = |y: usize| {
            let raw = &raw;
            (0..width).map(move |x| Probe { light: raw.smoothed(x, y), ..raw.probes[y * width + x] })
        };
        let probes = (0..height).into_par_iter().flat_map_iter(smooth_row).collect();
        AmbientMap { width, height, probes }
    }

    fn smoothed(&self, x: usize, y: usize) -> Vec3 {
        let own = &self.probes[y * self.width + x];
        if own.key == 0 {
            return Vec3::ZERO;
        }
        let (mut sum, mut total) = (Vec3::ZERO, 0.0);
        for (j, wy) in KERNEL.iter().enumerate() {
            for (i, wx) in KERNEL.iter().enumerate() {
                let Some(other) = self.at(x as isize + i as isize - 2, y as isize + j as isize - 2) else {
                    continue;
                };
                let weight = wx * wy * own.affinity(other);
                sum += other.light * weight;
                total += weight;
            }
        }
        // The middle pixel always counts fully.
        sum / total
    }

    fn at(&self, x: isize, y: isize) -> Option<&Probe> {
        let inside = x >= 0 && y >= 0 && x < self.width as isize && y < self.height as isize;
        inside.then(|| &self.probes[y as usize * self.width + x as usize])
    }

    /// Ambient light for a spot seen at picture position `at` [px], from the pixels around it; `None` if
    /// none of them sees the same surface.
    pub(crate) fn lookup(&self, tracer: &Tracer, spot: &Spot, at: Vec2) -> Option<Vec3> {
        let own = Probe {
            position: spot.position,
            normal: spot.normal,
            light: Vec3::ZERO,
            footprint: tracer.view.footprint(spot.t),
            key: tracer.key(spot),
        };
        let corner = at - 0.5;
        let base = corner.floor();
        let f = corner - base;
        let (mut sum, mut total) = (Vec3::ZERO, 0.0);
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let Some(other) = self.at(base.x as isize + dx, base.y as isize + dy) else { continue };
            let wx = if dx == 0 { 1.0 - f.x } else { f.x };
            let wy = if dy == 0 { 1.0 - f.y } else { f.y };
            let weight = (wx * wy + 1e-3) * own.affinity(other);
            sum += other.light * weight;
            total += weight;
        }
        (total > 1e-4).then(|| sum / total)
    }
}

impl Probe {
    /// 1 if `other` lies on the same smooth piece of surface, 0 if not. Exactly 1 for itself.
    fn affinity(&self, other: &Probe) -> f32 {
        if self.key != other.key {
            return 0.0;
        }
        let bend = ((self.normal.dot(other.normal) - 0.55) / 0.35).clamp(0.0, 1.0);
        let off_plane = self.normal.dot(other.position - self.position).abs();
        let near = (1.5 - off_plane / (4.0 * self.footprint)).clamp(0.0, 1.0);
        bend * near
    }
}

fn probe(tracer: &Tracer, x: usize, y: usize) -> Probe {
    let direction = tracer.view.direction(Vec2::new(x as f32 + 0.5, y as f32 + 0.5));
    match tracer.first(tracer.view.eye, direction) {
        Some(spot) => Probe {
            light: tracer.gather(&spot, tracer.samples.ambient(x, y)),
            position: spot.position,
            normal: spot.normal,
            footprint: tracer.view.footprint(spot.t),
            key: tracer.key(&spot),
        },
        None => Probe { position: Vec3::ZERO, normal: Vec3::ZERO, light: Vec3::ZERO, footprint: 0.0, key: 0 },
    }
}
