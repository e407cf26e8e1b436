//! What one ray sees: the nearest point, the light that reaches it and the colour it sends back.

use crate::camera::View;
use crate::colour::{MapTable, luminance, tone_map};
use crate::geometry::{Geometry, Hit};
use crate::lightmap::Incoming;
use crate::pattern::{Detail, PLAIN, smooth};
use crate::sample::{Samples, frame};
use crate::scene::{Backdrop, Field, Look, Pattern, Scene, Surface, Values};
use crate::stage::{Curtain, Floor, Light, SUN};
use glam::{Vec2, Vec3};

/// Light that shines through cloth, relative to what it reflects.
const TRANSLUCENCY: f32 = 0.28;
/// Light assumed to reach the surfaces that indirect rays hit, beside the sun.
const BOUNCE: f32 = 0.55;

/// One picture being traced. Everything is read-only: rays can run in any order on any thread.
pub(crate) struct Tracer<'a> {
    pub(crate) view: View,
    pub(crate) geometry: Geometry,
    pub(crate) samples: Samples,
    light: Light,
    surfaces: &'a [Surface<'a>],
    finishes: Vec<Finish<'a>>,
    floor: Option<Floor>,
    curtain: Curtain,
    size: Vec2,
    /// Whether light that arrives by way of another surface is checked for shadow there.
    careful: bool,
}

/// A [`Look`] with its colours worked out once.
enum Finish<'a> {
    Cloth { front: Vec3, back: Vec3, pattern: Pattern },
    Body { colour: Vec3 },
    Field { field: Field<'a>, table: Box<MapTable> },
}

/// A point seen by a ray, its normals turned to the viewer.
pub(crate) struct Spot {
    pub(crate) position: Vec3,
    pub(crate) normal: Vec3,
    flat: Vec3,
    /// Distance from the viewer [m].
    pub(crate) t: f32,
    /// +1 for the front of a triangle, −1 for its back.
    side: f32,
    /// `None` on the ground.
    hit: Option<Hit>,
    surface: usize,
}

/// Sunlight at a spot, as fractions of full sun.
struct Sunlight {
    reflected: f32,
    through: f32,
}

impl<'a> Tracer<'a> {
    pub(crate) fn new(
        scene: &'a Scene<'a>,
        view: View,
        samples: Samples,
        backdrop: Backdrop,
        size: Vec2,
        careful: bool,
    ) -> Tracer<'a> {
        let geometry = Geometry::new(&scene.surfaces);
        let floor = Floor::new(scene, &geometry.bounds, &backdrop);
        Tracer {
            light: Light::new(scene.sun, scene.up, &view),
            finishes: scene.surfaces.iter().map(|s| Finish::new(&s.look)).collect(),
            surfaces: &scene.surfaces,
            view,
            geometry,
            samples,
            floor,
            curtain: Curtain::new(&backdrop),
            size,
            careful,
        }
    }

    /// The nearest thing along a ray of unit direction.
    pub(crate) fn first(&self, origin: Vec3, direction: Vec3) -> Option<Spot> {
        let ground = self.floor.as_ref().and_then(|f| f.distance(origin, direction));
        // Cloth that lies exactly on the ground must be seen, so the ground gives way by a hair.
        let limit = ground.map_or(f32::MAX, |t| t + 4.0 * self.geometry.epsilon);
        if let Some(hit) = self.geometry.nearest(origin, direction, limit) {
            return Some(self.spot(origin, direction, hit));
        }
        let (floor, t) = (self.floor.as_ref()?, ground?);
        let position = origin + direction * t;
        let surface = usize::MAX;
        Some(Spot { position, normal: floor.up, flat: floor.up, t, side: 1.0, hit: None, surface })
    }

    fn spot(&self, origin: Vec3, direction: Vec3, hit: Hit) -> Spot {
        let front = self.geometry.flat_normal(&hit);
        let side = if front.dot(direction) <= 0.0 { 1.0 } else { -1.0 };
        let mut normal = self.geometry.smooth_normal(&hit) * side;
        // Near silhouettes a smooth normal can point away from the viewer: bring it back to edge-on.
        let facing = -normal.dot(direction);
        if facing < 0.02 {
            normal = (normal - direction * (0.02 - facing)).normalize();
        }
        Spot {
            position: origin + direction * hit.t,
            normal,
            flat: front * side,
            t: hit.t,
            side,
            surface: self.geometry.face(&hit).surface,
            hit: Some(hit),
        }
    }

    /// Spots with the same key belong together when neighbours share their ambient light.
    pub(crate) fn key(&self, spot: &Spot) -> u32 {
        match spot.hit {
            None => 1,
            Some(_) => 2 + 2 * spot.surface as u32 + u32::from(spot.side > 0.0),
        }
    }

    /// Start of rays that leave `spot` on the viewer's side.
    fn lifted(&self, spot: &Spot) -> Vec3 {
        let bulge = spot.hit.map_or(Vec3::ZERO, |hit| self.geometry.bulge(&hit, spot.position, spot.side));
        spot.position + bulge + spot.flat * self.geometry.epsilon
    }

    /// Whether light from `direction` reaches the viewer's side of `spot`.
    fn open(&self, spot: &Spot, direction: Vec3) -> bool {
        // A ray that the smooth normal allows but that dives through its own flat triangle comes from
        // rounding a coarse fold: the triangles around it have no say.
        let dives = direction.dot(spot.flat) < 0.0;
        let from = if dives { spot.hit.as_ref() } else { None };
        !self.geometry.occluded(self.lifted(spot), direction, from)
    }

    /// Whether no light comes through: bodies and the ground.
    fn is_solid(&self, spot: &Spot) -> bool {
        spot.hit.is_none() || matches!(self.finishes[spot.surface], Finish::Body { .. })
    }

    /// Light from everywhere but the sun, as a mean over the cosine-weighted `directions` about +Z: the sky
    /// where it is open, else what the surface in the way sends on. One bounce is what gives folds
    /// the warm depth of cloth instead of grey.
    pub(crate) fn gather(&self, spot: &Spot, directions: &[Vec3]) -> Vec3 {
        if directions.is_empty() || self.beyond_reach(spot) {
            return self.light.open_sky();
        }
        let (tangent, bitangent) = frame(spot.normal);
        let origin = self.lifted(spot);
        let mut sum = Vec3::ZERO;
        for d in directions {
            let mut direction = tangent * d.x + bitangent * d.y + spot.normal * d.z;
            let height = direction.dot(spot.flat);
            if height < 0.0 {
                direction -= spot.flat * (2.0 * height);
            }
            sum += match self.first(origin, direction) {
                Some(other) => self.bounce(&other),
                None => self.light.sky(direction),
            };
        }
        sum / directions.len() as f32
    }

    /// Ground so far out that nothing of the scene shades it.
    fn beyond_reach(&self, spot: &Spot) -> bool {
        spot.hit.is_none() && self.floor.as_ref().is_none_or(|f| f.fade(spot.position) >= 1.0)
    }

    /// Light that `spot` passes on.
    fn bounce(&self, spot: &Spot) -> Vec3 {
        let facing = spot.normal.dot(self.light.sun).max(0.0);
        let lit = facing > 0.0 && (!self.careful || self.open(spot, self.light.sun));
        let sun = if lit { SUN * facing } else { Vec3::ZERO };
        let shade = if self.careful { 1.0 } else { 0.6 };
        self.base_colour(spot) * (sun * shade + self.light.open_sky() * BOUNCE)
    }

    /// Mean colour, without pattern, for light that bounces.
    fn base_colour(&self, spot: &Spot) -> Vec3 {
        let Some(hit) = &spot.hit else {
            return self.floor.as_ref().map_or(Vec3::ZERO, |f| f.colour.min(Vec3::splat(0.6)));
        };
        match &self.finishes[spot.surface] {
            Finish::Cloth { front, back, .. } => {
                if spot.side > 0.0 {
                    *front
                } else {
                    *back
                }
            }
            Finish::Body { colour } => *colour,
            Finish::Field { .. } => self.field_colour(spot, hit),
        }
    }

    /// Light at a spot, from the rays that pixel (x, y) has for the light map.
    pub(crate) fn light_at(&self, spot: &Spot, x: usize, y: usize) -> Incoming {
        let disk = self.samples.sun_probe(x, y);
        let sun = self.sun_share(spot, disk.iter().copied()).unwrap_or(1.0);
        let ambient = self.gather(spot, self.samples.ambient(x, y));
        Incoming { ambient, sun, mixed: sun > 0.0 && sun < 1.0 }
    }

    /// Visible share of the sun's disk, from the side of the surface that faces it: light from behind comes
    /// through cloth. `None` without rays to ask.
    pub(crate) fn sun_share(&self, spot: &Spot, disk: impl ExactSizeIterator<Item = Vec2>) -> Option<f32> {
        let count = disk.len();
        if count == 0 {
            return None;
        }
        if self.beyond_reach(spot) {
            return Some(1.0);
        }
        let behind = spot.normal.dot(self.light.sun) < 0.0;
        if behind && self.is_solid(spot) {
            return Some(0.0);
        }
        let away = Spot { normal: -spot.normal, flat: -spot.flat, side: -spot.side, ..*spot };
        let lit_side = if behind { &away } else { spot };
        let open = |d: &Vec2| self.open(lit_side, self.light.towards_sun(*d));
        Some(disk.filter(open).count() as f32 / count as f32)
    }

    /// Sunlight on a surface with this normal.
    fn sunlight(&self, spot: &Spot, normal: Vec3, light: &Incoming) -> Sunlight {
        // The shape decides which side the sun is on; threads only shade the lit side, less and less
        // towards the line where it ends.
        let shape = spot.normal.dot(self.light.sun);
        let thread = normal.dot(self.light.sun).max(0.0);
        let reflected = shape.max(0.0) + (thread - shape.max(0.0)) * smooth(0.0, 0.12, shape);
        let through = if self.is_solid(spot) { 0.0 } else { (-shape).max(0.0) };
        Sunlight { reflected: reflected * light.sun, through: through * light.sun }
    }

    /// What is seen where nothing is.
    pub(crate) fn behind(&self, at: Vec2) -> Vec3 {
        self.curtain.at(at.y / self.size.y)
    }

    /// Display-ready linear colour of a spot seen in `direction` at picture position `at` [px].
    pub(crate) fn colour(&self, at: Vec2, direction: Vec3, spot: &Spot, light: &Incoming) -> Vec3 {
        let Some(hit) = &spot.hit else { return self.ground_colour(spot, light, self.behind(at)) };
        let colour = match &self.finishes[spot.surface] {
            Finish::Cloth { front, back, pattern } => {
                let (detail, normal) = self.detail(*pattern, spot, hit, at);
                let base = if spot.side > 0.0 { *front } else { *back };
                let sun = self.sunlight(spot, normal, light);
                cloth_colour(base, detail.tone, &sun, light.ambient, edge_on(spot, direction))
            }
            Finish::Body { colour } => {
                let sun = self.sunlight(spot, spot.normal, light);
                let half = (self.light.sun - direction).normalize();
                let shine = spot.normal.dot(half).max(0.0);
                body_colour(*colour, &sun, shine, light.ambient, edge_on(spot, direction))
            }
            Finish::Field { .. } => {
                // Half of the shading is enough to see shape; more would belie the legend.
                let sun = self.sunlight(spot, spot.normal, light);
                let all = SUN * (sun.reflected + TRANSLUCENCY * sun.through) + light.ambient;
                self.field_colour(spot, hit) * (0.42 + 0.5 * luminance(all))
            }
        };
        self.wired(spot, hit, tone_map(colour), at)
    }

    fn ground_colour(&self, spot: &Spot, light: &Incoming, behind: Vec3) -> Vec3 {
        let Some(floor) = &self.floor else { return behind };
        let fade = floor.fade(spot.position);
        if fade >= 1.0 {
            return behind;
        }
        let all = light.ambient + SUN * self.sunlight(spot, spot.normal, light).reflected;
        let lines = floor.lines(spot.position, self.view.footprint(spot.t), spot.t, self.view.eye);
        let plain = floor.colour * (all / self.light.open_ground()).min(Vec3::splat(1.15));
        plain.lerp(plain * floor.line_shade, lines).lerp(behind, fade)
    }

    fn field_colour(&self, spot: &Spot, hit: &Hit) -> Vec3 {
        let Finish::Field { field, table } = &self.finishes[spot.surface] else { return Vec3::ZERO };
        let face = self.geometry.face(hit);
        let get = |values: &[f32], i: usize| values.get(i).copied().unwrap_or(f32::NAN);
        let value = match field.values {
            Values::PerFace(values) => get(values, face.index),
            Values::PerVertex(values) => {
                let ids = self.surfaces[face.surface].triangles[face.index];
                (0..3).map(|i| hit.weights[i] * get(values, ids[i] as usize)).sum()
            }
        };
        table.at(unit_position(value, field.range))
    }

    /// The pattern at a spot, and the normal it leans.
    fn detail(&self, pattern: Pattern, spot: &Spot, hit: &Hit, at: Vec2) -> (Detail, Vec3) {
        let face = self.geometry.face(hit);
        let material = self.surfaces[face.surface].material.and_then(|m| m.get(face.index));
        let (Some(corners), false) = (material, pattern == Pattern::Plain) else {
            return (PLAIN, spot.normal);
        };
        let [a, b, c] = *corners;
        let to_material = |d: Vec3| {
            let (v, w) = self.geometry.weight_change(hit, d);
            (b - a) * v + (c - a) * w
        };
        // The pixel's footprint on the cloth: where the neighbouring pixels' rays meet its plane.
        let across = to_material(self.step(spot, at + Vec2::X));
        let down = to_material(self.step(spot, at + Vec2::Y));
        let footprint = across.abs() + down.abs();
        let [u, v, w] = hit.weights;
        let detail = pattern.at(a * u + b * v + c * w, footprint);
        (detail, self.leaning(spot, corners, hit, detail.lean))
    }

    /// From `spot` to where the ray through another picture position meets the plane of its triangle.
    fn step(&self, spot: &Spot, at: Vec2) -> Vec3 {
        let direction = self.view.direction(at);
        let slope = direction.dot(spot.flat).min(-1e-3);
        let t = (spot.position - self.view.eye).dot(spot.flat) / slope;
        self.view.eye + direction * t - spot.position
    }

    /// The normal at `spot` leaning by slopes along weft and warp.
    fn leaning(&self, spot: &Spot, material: &[Vec2; 3], hit: &Hit, lean: Vec2) -> Vec3 {
        let (u, v) = (material[1] - material[0], material[2] - material[0]);
        let determinant = u.perp_dot(v);
        if lean == Vec2::ZERO || determinant.abs() < 1e-20 {
            return spot.normal;
        }
        let [a, b, c] = self.geometry.corners(hit);
        let weft = ((b - a) * v.y - (c - a) * u.y) / determinant;
        let warp = ((c - a) * u.x - (b - a) * v.x) / determinant;
        (spot.normal + weft * lean.x + warp * lean.y).try_normalize().unwrap_or(spot.normal)
    }

    /// Mesh lines over a colour: constant width on screen, fading out where triangles are too small.
    fn wired(&self, spot: &Spot, hit: &Hit, colour: Vec3, at: Vec2) -> Vec3 {
        let Some(ink) = self.surfaces[spot.surface].wire else { return colour };
        let corners = self.geometry.corners(hit).map(|p| self.view.project(p));
        let [Some(a), Some(b), Some(c)] = corners else { return colour };
        let width = (self.size.y / 900.0).max(0.7);
        let mut line: f32 = 0.0;
        for (p, q) in [(a, b), (b, c), (c, a)] {
            let height = (b - a).perp_dot(c - a).abs() / (q - p).length().max(1e-6);
            let visible = smooth(1.5, 6.0, height / width);
            let distance = ((q - p).perp_dot(at - p) / (q - p).length().max(1e-6)).abs();
            line = line.max(visible * (0.5 + 0.5 * width - distance).clamp(0.0, 1.0));
        }
        colour.lerp(ink.linear(), 0.75 * line)
    }
}

/// 0 where the surface faces the viewer, 1 at a silhouette.
fn edge_on(spot: &Spot, direction: Vec3) -> f32 {
    1.0 - (-spot.normal.dot(direction)).clamp(0.0, 1.0)
}

fn cloth_colour(base: Vec3, tone: f32, sun: &Sunlight, ambient: Vec3, edge: f32) -> Vec3 {
    let albedo = base * tone;
    let diffuse = albedo * (SUN * sun.reflected + ambient);
    let through = albedo * SUN * (TRANSLUCENCY * sun.through);
    // Fibres that stand out of the surface catch light at grazing angles.
    let fuzz = base.lerp(Vec3::ONE, 0.35) * (0.30 * edge * edge * edge);
    diffuse + through + fuzz * (ambient + SUN * (0.35 * (sun.reflected + sun.through)))
}

/// `shine` is the cosine between the normal and the direction halfway from viewer to sun.
fn body_colour(base: Vec3, sun: &Sunlight, shine: f32, ambient: Vec3, edge: f32) -> Vec3 {
    let diffuse = base * (SUN * sun.reflected + ambient);
    let shine2 = shine * shine;
    let shine8 = shine2 * shine2 * shine2 * shine2;
    let gloss = SUN * (0.10 * sun.reflected * shine8 * shine8 * shine8);
    diffuse + gloss + ambient * (0.12 * edge * edge * edge * edge)
}

impl<'a> Finish<'a> {
    fn new(look: &Look<'a>) -> Finish<'a> {
        match *look {
            Look::Cloth { front, back, pattern } => {
                Finish::Cloth { front: front.linear(), back: back.linear(), pattern }
            }
            Look::Body { colour } => Finish::Body { colour: colour.linear() },
            Look::Field(field) => Finish::Field { field, table: Box::new(MapTable::new(field.map)) },
        }
    }
}

/// Position of a value in a range, 0 … 1; the middle if the range has no length.
fn unit_position(value: f32, [low, high]: [f32; 2]) -> f32 {
    let length = high - low;
    if value.is_nan() {
        f32::NAN
    } else if length.is_finite() && length != 0.0 {
        (value - low) / length
    } else {
        0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fall_into_their_range() {
        assert_eq!(unit_position(5.0, [0.0, 10.0]), 0.5);
        assert_eq!(unit_position(5.0, [3.0, 3.0]), 0.5);
        assert!(unit_position(f32::NAN, [0.0, 1.0]).is_nan());
        assert_eq!(unit_position(1.0, [f32::NAN, 1.0]), 0.5);
    }
}
