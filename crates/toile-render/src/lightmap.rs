//! Light on everything the picture shows: traced once a pixel, smoothed over each tile, shared by all samples.
//!
//! Ambient light changes slowly along a surface, so tracing it for every antialiasing sample would be
//! waste, and tracing few rays a pixel leaves grain. Each pixel of a 4 × 4 tile traces its own sixteenth
//! of one large sample set; a filter of exactly one tile, kept from crossing edges, restores the whole set.
//! The sun is asked for as well: where a whole neighbourhood is lit, or dark, no sample asks again, and
//! all the effort goes to the edges of shadows.

use crate::tracer::{Spot, Tracer};
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// Weights of the filter: a tile is four pixels wide, so the two ends count half.
const KERNEL: [f32; 5] = [0.5, 1.0, 1.0, 1.0, 0.5];

/// Light that reaches a spot.
#[derive(Clone, Copy)]
pub(crate) struct Incoming {
    /// From everywhere but the sun.
    pub(crate) ambient: Vec3,
    /// Visible share of the sun's disk, 0 … 1.
    pub(crate) sun: f32,
    /// Whether the sun is seen here and hidden close by.
    pub(crate) mixed: bool,
}

/// What was found in the middle of a pixel.
#[derive(Clone, Copy)]
struct Probe {
    position: Vec3,
    normal: Vec3,
    /// Width of the pixel on the surface [m].
    footprint: f32,
    /// 0 where there is nothing.
    key: u32,
    light: Incoming,
}

/// Light by pixel.
pub(crate) struct LightMap {
    width: usize,
    height: usize,
    probes: Vec<Probe>,
}

const DARK: Incoming = Incoming { ambient: Vec3::ZERO, sun: 0.0, mixed: false };

impl LightMap {
    pub(crate) fn new(tracer: &Tracer, width: usize, height: usize) -> LightMap {
        let trace_row = |y: usize| (0..width).map(move |x| Probe::trace(tracer, x, y));
        let probes: Vec<Probe> = (0..height).into_par_iter().flat_map_iter(trace_row).collect();
        let raw = LightMap { width, height, probes };
        let smooth_row = |y: usize| {
            let raw = &raw;
            (0..width).map(move |x| Probe { light: raw.smoothed(x, y), ..raw.probes[y * width + x] })
        };
        let probes = (0..height).into_par_iter().flat_map_iter(smooth_row).collect();
        LightMap { width, height, probes }
    }

    fn smoothed(&self, x: usize, y: usize) -> Incoming {
        let own = &self.probes[y * self.width + x];
        if own.key == 0 {
            return DARK;
        }
        let mut mean = Mean::default();
        for (j, wy) in KERNEL.iter().enumerate() {
            for (i, wx) in KERNEL.iter().enumerate() {
                let (x, y) = (x as isize + i as isize - 2, y as isize + j as isize - 2);
                if let Some(other) = self.at(x, y) {
                    mean.add(&other.light, wx * wy * own.affinity(other));
                }
            }
        }
        // The pixel itself always counts, so there is always a mean.
        mean.take().unwrap_or(own.light)
    }

    fn at(&self, x: isize, y: isize) -> Option<&Probe> {
        let inside = x >= 0 && y >= 0 && x < self.width as isize && y < self.height as isize;
        inside.then(|| &self.probes[y as usize * self.width + x as usize])
    }

    /// Whether pixel (x, y) may contain the edge of a thing, a crease or the edge of a shadow.
    pub(crate) fn busy(&self, x: usize, y: usize) -> bool {
        let own = &self.probes[y * self.width + x];
        let near = |i: isize, j: isize| self.at(x as isize + i, y as isize + j);
        let alike = |other: &Probe| other.key == own.key && (own.key == 0 || own.affinity(other) > 0.5);
        own.light.mixed || (-1..=1).any(|j| (-1..=1).any(|i| near(i, j).is_some_and(|other| !alike(other))))
    }

    /// Light at a spot seen at picture position `at` [px], from the pixels around it; `None` if none of them
    /// sees the same surface.
    pub(crate) fn lookup(&self, tracer: &Tracer, spot: &Spot, at: Vec2) -> Option<Incoming> {
        let own = Probe::new(tracer, spot, DARK);
        let corner = at - 0.5;
        let base = corner.floor();
        let f = corner - base;
        let mut mean = Mean::default();
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let Some(other) = self.at(base.x as isize + dx, base.y as isize + dy) else { continue };
            let wx = if dx == 0 { 1.0 - f.x } else { f.x };
            let wy = if dy == 0 { 1.0 - f.y } else { f.y };
            mean.add(&other.light, (wx * wy + 1e-3) * own.affinity(other));
        }
        mean.take()
    }
}

/// A weighted mean of light that remembers whether its parts agreed about the sun.
struct Mean {
    ambient: Vec3,
    sun: f32,
    total: f32,
    sun_range: [f32; 2],
    mixed: bool,
}

impl Default for Mean {
    fn default() -> Mean {
        Mean { ambient: Vec3::ZERO, sun: 0.0, total: 0.0, sun_range: [1.0, 0.0], mixed: false }
    }
}

impl Mean {
    fn add(&mut self, light: &Incoming, weight: f32) {
        if weight <= 0.0 {
            return;
        }
        self.ambient += light.ambient * weight;
        self.sun += light.sun * weight;
        self.total += weight;
        self.sun_range = [self.sun_range[0].min(light.sun), self.sun_range[1].max(light.sun)];
        self.mixed |= light.mixed;
    }

    fn take(self) -> Option<Incoming> {
        let [low, high] = self.sun_range;
        (self.total > 1e-4).then(|| Incoming {
            ambient: self.ambient / self.total,
            sun: self.sun / self.total,
            mixed: self.mixed || low != high || (low > 0.0 && low < 1.0),
        })
    }
}

impl Probe {
    fn new(tracer: &Tracer, spot: &Spot, light: Incoming) -> Probe {
        Probe {
            position: spot.position,
            normal: spot.normal,
            footprint: tracer.view.footprint(spot.t),
            key: tracer.key(spot),
            light,
        }
    }

    fn trace(tracer: &Tracer, x: usize, y: usize) -> Probe {
        let direction = tracer.view.direction(Vec2::new(x as f32 + 0.5, y as f32 + 0.5));
        match tracer.first(tracer.view.eye, direction) {
            Some(spot) => Probe::new(tracer, &spot, tracer.light_at(&spot, x, y)),
            None => Probe { position: Vec3::ZERO, normal: Vec3::ZERO, footprint: 0.0, key: 0, light: DARK },
        }
    }

    /// 1 if `other` lies on the same smooth piece of surface, 0 if not.
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
