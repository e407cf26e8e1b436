//! The camera, and how it frames a whole action by itself.

use crate::scene::Up;
use glam::{Vec2, Vec3};

/// A perspective camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it stands [m].
    pub eye: Vec3,
    /// The point in the middle of the picture [m].
    pub target: Vec3,
    /// Which way is up in the picture; any length.
    pub up: Vec3,
    /// Full vertical angle of view [rad].
    pub fov: f32,
}

/// Where to look from and how much room to leave; the distance follows from what is to be seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Framing {
    /// Vertical axis of the scene.
    pub up: Up,
    /// Picture width over height.
    pub aspect: f32,
    /// Turn about the up axis [rad]: 0 is the front view, positive shows more of the scene's right side.
    pub yaw: f32,
    /// Height of the view [rad]: 0 is level, positive looks down.
    pub pitch: f32,
    /// Full vertical angle of view [rad].
    pub fov: f32,
    /// Room left free at the sides, as fractions of the picture's width and height.
    pub margins: Margins,
}

/// Fractions of the picture left free on each side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margins {
    /// Of the width.
    pub left: f32,
    /// Of the width.
    pub right: f32,
    /// Of the height.
    pub top: f32,
    /// Of the height.
    pub bottom: f32,
}

impl Margins {
    /// An even border, a little larger at the bottom where the caption and shadow are.
    pub const EVEN: Margins = Margins { left: 0.06, right: 0.06, top: 0.06, bottom: 0.10 };
    /// As [`Margins::EVEN`], with room for a legend on the right.
    pub const LEGEND: Margins = Margins { right: 0.17, ..Margins::EVEN };
}

impl Default for Framing {
    fn default() -> Framing {
        Framing {
            up: Up::Y,
            aspect: 16.0 / 9.0,
            yaw: 0.45,
            pitch: 0.25,
            fov: 0.52, // 30°: the calm perspective of an 80 mm lens
            margins: Margins::EVEN,
        }
    }
}

/// An axis-aligned box [m].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lowest coordinates.
    pub min: Vec3,
    /// Highest coordinates.
    pub max: Vec3,
}

impl Bounds {
    /// A box that contains nothing; the start of [`Bounds::include`].
    pub const EMPTY: Bounds = Bounds { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// Box around all points that can be drawn (see [`Surface`](crate::Surface)); others are left out.
    pub fn of(points: &[Vec3]) -> Bounds {
        points.iter().fold(Bounds::EMPTY, |bounds, p| bounds.include(*p))
    }

    /// The box grown to contain `p`.
    pub fn include(self, p: Vec3) -> Bounds {
        if !drawable(p) {
            return self;
        }
        Bounds { min: self.min.min(p), max: self.max.max(p) }
    }

    /// The smallest box containing both.
    pub fn union(self, other: Bounds) -> Bounds {
        Bounds { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Whether nothing was ever included.
    pub fn is_empty(&self) -> bool {
        !(self.min.cmple(self.max).all() && drawable(self.min) && drawable(self.max))
    }

    pub(crate) fn corners(&self) -> [Vec3; 8] {
        let (a, b) = (self.min, self.max);
        std::array::from_fn(|i| {
            let pick = |bit: usize, low: f32, high: f32| if i & bit == 0 { low } else { high };
            Vec3::new(pick(1, a.x, b.x), pick(2, a.y, b.y), pick(4, a.z, b.z))
        })
    }

    pub(crate) fn centre(&self) -> Vec3 {
        0.5 * (self.min + self.max)
    }

    /// Length of the diagonal [m].
    pub(crate) fn diagonal(&self) -> f32 {
        (self.max - self.min).length()
    }
}

/// Whether a position can take part in a picture. The limit keeps squares of lengths inside f32.
pub(crate) fn drawable(p: Vec3) -> bool {
    p.is_finite() && p.abs().max_element() <= 1e6
}

impl Camera {
    /// Places the camera as close as the corners of all `boxes` allow while staying inside the margins.
    /// Give it the bounds of every frame of an animation and the action never leaves the picture.
    /// Empty boxes are ignored; with nothing to see, the camera looks at a 1 m cube at the origin.
    pub fn frame_action(boxes: &[Bounds], framing: &Framing) -> Camera {
        let whole = boxes.iter().filter(|b| !b.is_empty()).fold(Bounds::EMPTY, |a, b| a.union(*b));
        if whole.is_empty() {
            let cube = Bounds { min: Vec3::splat(-0.5), max: Vec3::splat(0.5) };
            return Camera::frame_action(&[cube], framing);
        }
        // A point has no size to frame: give it the surroundings of a hand's breadth.
        let pad = if whole.diagonal() < 1e-4 { 0.05 } else { 0.0 };
        let points: Vec<Vec3> = boxes
            .iter()
            .filter(|b| !b.is_empty())
            .flat_map(|b| Bounds { min: b.min - pad, max: b.max + pad }.corners())
            .collect();
        Camera::closest(&points, framing)
    }

    /// As [`Camera::frame_action`], fitting the points themselves instead of boxes around them: tighter,
    /// at the price of looking at every one. Points that cannot be drawn are ignored.
    pub fn frame_points(points: &[Vec3], framing: &Framing) -> Camera {
        let bounds = Bounds::of(points);
        if bounds.is_empty() || bounds.diagonal() < 1e-4 {
            return Camera::frame_action(&[bounds], framing);
        }
        let points: Vec<Vec3> = points.iter().copied().filter(|p| drawable(*p)).collect();
        Camera::closest(&points, framing)
    }

    /// The closest eye from which every point lies inside the margins, for a fixed direction of view.
    ///
    /// In view coordinates (x right, y up, z ahead) a point p is inside if
    /// low·(p_z − e_z) ≤ p_x − e_x ≤ high·(p_z − e_z), and likewise for y. Each side is one linear bound on
    /// the eye e, so the largest e_z has a closed form: no iteration, and tight.
    fn closest(points: &[Vec3], framing: &Framing) -> Camera {
        let f = framing.sanitised();
        let up = f.up.vector();
        let (right0, front0) = f.up.horizontal();
        let (sin_yaw, cos_yaw) = libm::sincosf(f.yaw);
        let (sin_pitch, cos_pitch) = libm::sincosf(f.pitch);
        let back = (right0 * sin_yaw + front0 * cos_yaw) * cos_pitch + up * sin_pitch;
        let right = right0 * cos_yaw - front0 * sin_yaw;
        let view_up = back.cross(right);

        let tan = libm::tanf(0.5 * f.fov);
        let m = f.margins;
        let wide = tan * f.aspect;
        let x = Side::fit(points, right, back, -wide * (1.0 - 2.0 * m.left), wide * (1.0 - 2.0 * m.right));
        let y = Side::fit(points, view_up, back, -tan * (1.0 - 2.0 * m.bottom), tan * (1.0 - 2.0 * m.top));
        let nearest = points.iter().map(|p| -p.dot(back)).fold(f32::INFINITY, f32::min);
        let farthest = points.iter().map(|p| -p.dot(back)).fold(f32::NEG_INFINITY, f32::max);
        let depth = x.depth.min(y.depth).min(nearest - 0.01 * (farthest - nearest));
        let eye = right * x.middle(depth) + view_up * y.middle(depth) - back * depth;
        let distance = 0.5 * (nearest + farthest) - depth;
        Camera { eye, target: eye - back * distance, up, fov: f.fov }
    }
}

/// The two bounds of one picture axis on the eye: eye ≥ low_bound + high·e_z and eye ≤ high_bound + low·e_z.
struct Side {
    low: f32,
    high: f32,
    low_bound: f32,
    high_bound: f32,
    /// Largest depth coordinate of the eye that satisfies both.
    depth: f32,
}

impl Side {
    fn fit(points: &[Vec3], axis: Vec3, back: Vec3, low: f32, high: f32) -> Side {
        let mut low_bound = f32::NEG_INFINITY;
        let mut high_bound = f32::INFINITY;
        for p in points {
            let (x, z) = (p.dot(axis), -p.dot(back));
            low_bound = low_bound.max(x - high * z);
            high_bound = high_bound.min(x - low * z);
        }
        Side { low, high, low_bound, high_bound, depth: (high_bound - low_bound) / (high - low) }
    }

    fn middle(&self, depth: f32) -> f32 {
        0.5 * (self.low_bound + self.high * depth + self.high_bound + self.low * depth)
    }
}

impl Framing {
    /// Values a picture can be made with, whatever was asked for.
    fn sanitised(&self) -> Framing {
        let or = |x: f32, default: f32| if x.is_finite() { x } else { default };
        let margin = |x: f32| or(x, 0.0).clamp(0.0, 0.45);
        let default = Framing::default();
        let m = self.margins;
        Framing {
            aspect: or(self.aspect, 1.0).clamp(0.05, 20.0),
            yaw: or(self.yaw, default.yaw),
            pitch: or(self.pitch, default.pitch).clamp(-1.55, 1.55),
            fov: or(self.fov, default.fov).clamp(0.01, 2.6),
            margins: Margins {
                left: margin(m.left),
                right: margin(m.right),
                top: margin(m.top),
                bottom: margin(m.bottom),
            },
            up: self.up,
        }
    }
}

/// A camera made ready for one picture size.
#[derive(Clone, Copy)]
pub(crate) struct View {
    pub(crate) eye: Vec3,
    pub(crate) forward: Vec3,
    pub(crate) right: Vec3,
    pub(crate) up: Vec3,
    /// Picture half height at distance 1, over half the height in pixels: world units a pixel at distance 1.
    per_pixel: f32,
    centre: Vec2,
}

impl View {
    pub(crate) fn new(camera: &Camera, width: usize, height: usize) -> View {
        let eye = if camera.eye.is_finite() { camera.eye } else { Vec3::ZERO };
        let forward = (camera.target - eye).try_normalize().unwrap_or(Vec3::NEG_Z);
        let up = camera.up.try_normalize().unwrap_or(Vec3::Y);
        // Looking straight up or down leaves "right" open; any choice will do as long as there is one.
        let right = forward.cross(up).try_normalize();
        let right = right.filter(|r| r.is_finite()).unwrap_or_else(|| crate::sample::frame(forward).0);
        let fov = if camera.fov.is_finite() { camera.fov.clamp(0.005, 3.0) } else { 0.52 };
        View {
            eye,
            forward,
            right,
            up: right.cross(forward),
            per_pixel: 2.0 * libm::tanf(0.5 * fov) / height as f32,
            centre: 0.5 * Vec2::new(width as f32, height as f32),
        }
    }

    /// Unit direction through picture position `p` [px], measured from the top left corner.
    pub(crate) fn direction(&self, p: Vec2) -> Vec3 {
        let d = (p - self.centre) * self.per_pixel;
        (self.forward + self.right * d.x - self.up * d.y).normalize()
    }

    /// Picture position [px] of a point in front of the camera.
    pub(crate) fn project(&self, p: Vec3) -> Option<Vec2> {
        let d = p - self.eye;
        let depth = d.dot(self.forward);
        let ahead = p.is_finite() && depth > 1e-6;
        ahead.then(|| self.centre + Vec2::new(d.dot(self.right), -d.dot(self.up)) / (depth * self.per_pixel))
    }

    /// Width of a pixel at distance `t` [m].
    pub(crate) fn footprint(&self, t: f32) -> f32 {
        t * self.per_pixel
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(camera: &Camera, points: &[Vec3], framing: &Framing) -> bool {
        let (width, height) = (1000.0 * framing.aspect, 1000.0);
        let view = View::new(camera, width as usize, 1000);
        let m = framing.margins;
        points.iter().all(|p| {
            let q = view.project(*p).expect("in front of the camera");
            let slack = 1.0; // px
            q.x >= m.left * width - slack
                && q.x <= (1.0 - m.right) * width + slack
                && q.y >= m.top * height - slack
                && q.y <= (1.0 - m.bottom) * height + slack
        })
    }

    #[test]
    fn framing_keeps_every_corner_inside_the_margins_from_any_side() {
        let boxes = [
            Bounds { min: Vec3::new(-0.5, 0.0, -0.1), max: Vec3::new(0.5, 1.8, 0.2) },
            Bounds { min: Vec3::new(1.0, -0.2, 0.0), max: Vec3::new(1.2, 0.3, 3.0) },
        ];
        let corners: Vec<Vec3> = boxes.iter().flat_map(|b| b.corners()).collect();
        for up in [Up::Y, Up::Z] {
            for step in 0..24 {
                let framing = Framing {
                    up,
                    yaw: step as f32 * 0.27,
                    pitch: (step % 7) as f32 * 0.35 - 0.9,
                    aspect: 0.6 + 0.1 * step as f32,
                    margins: Margins::LEGEND,
                    ..Framing::default()
                };
                let camera = Camera::frame_action(&boxes, &framing);
                assert!(inside(&camera, &corners, &framing), "{framing:?}");
            }
        }
    }

    #[test]
    fn framing_is_tight_in_one_direction() {
        let bounds = Bounds { min: Vec3::new(-1.0, 0.0, -1.0), max: Vec3::new(1.0, 1.0, 1.0) };
        let framing = Framing::default();
        let camera = Camera::frame_action(&[bounds], &framing);
        let view = View::new(&camera, 1600, 900);
        let seen = bounds.corners().map(|p| view.project(p).expect("in front of the camera"));
        let low = seen.iter().fold(Vec2::MAX, |a, p| a.min(*p)) / Vec2::new(1600.0, 900.0);
        let high = seen.iter().fold(Vec2::MIN, |a, p| a.max(*p)) / Vec2::new(1600.0, 900.0);
        let m = framing.margins;
        let touches = |low: f32, high: f32, a: f32, b: f32| (low - a).abs() + (1.0 - high - b).abs() < 2e-3;
        let wide = touches(low.x, high.x, m.left, m.right);
        let tall = touches(low.y, high.y, m.top, m.bottom);
        assert!(wide || tall, "{low} {high}");
    }

    #[test]
    fn framing_survives_nothing_points_and_nonsense() {
        let point = Bounds::of(&[Vec3::splat(0.3)]);
        let strange = Framing { aspect: f32::NAN, fov: f32::INFINITY, pitch: 9.0, ..Framing::default() };
        for boxes in [&[][..], &[Bounds::EMPTY][..], &[point][..], &[Bounds::of(&[Vec3::NAN])][..]] {
            for framing in [Framing::default(), strange] {
                let camera = Camera::frame_action(boxes, &framing);
                assert!(camera.eye.is_finite() && camera.target.is_finite());
                assert!((camera.eye - camera.target).length() > 1e-3);
            }
        }
    }

    #[test]
    fn projection_inverts_direction() {
        let camera = Camera { eye: Vec3::new(1.0, 2.0, 3.0), target: Vec3::ZERO, up: Vec3::Y, fov: 0.7 };
        let view = View::new(&camera, 640, 360);
        let p = Vec2::new(100.5, 250.25);
        let q = view.project(view.eye + 4.0 * view.direction(p)).expect("ahead");
        assert!((p - q).length() < 1e-2, "{q}");
    }
}
