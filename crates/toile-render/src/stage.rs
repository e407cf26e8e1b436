//! What surrounds a scene: the sun, the sky, the backdrop and the ground.

use crate::camera::{Bounds, View};
use crate::colour::luminance;
use crate::pattern::smooth;
use crate::sample::frame;
use crate::scene::{Backdrop, Scene, Up};
use glam::{Vec2, Vec3};

/// Light of the sun on a surface that faces it.
pub(crate) const SUN: Vec3 = Vec3::new(0.86, 0.80, 0.715);
/// Light of the sky overhead, at the horizon, and of nothing below a scene without ground.
const ZENITH: Vec3 = Vec3::new(0.41, 0.47, 0.57);
const HORIZON: Vec3 = Vec3::new(0.56, 0.56, 0.55);
const NADIR: Vec3 = Vec3::new(0.24, 0.22, 0.20);
/// Tangent of the sun's angular radius: a large soft box rather than the real 0.27°.
const SUN_SPREAD: f32 = 0.045;

/// Lights of one picture.
pub(crate) struct Light {
    up: Vec3,
    /// Unit direction to the middle of the sun.
    pub(crate) sun: Vec3,
    disk: (Vec3, Vec3),
}

impl Light {
    pub(crate) fn new(sun: Option<Vec3>, up: Up, view: &View) -> Light {
        let up = up.vector();
        let sun = sun.filter(|s| s.is_finite()).and_then(|s| s.try_normalize());
        let sun = sun.unwrap_or_else(|| over_left_shoulder(view, up));
        Light { up, sun, disk: frame(sun) }
    }

    /// Unit direction to a point of the sun's disk.
    pub(crate) fn towards_sun(&self, disk: Vec2) -> Vec3 {
        (self.sun + (self.disk.0 * disk.x + self.disk.1 * disk.y) * SUN_SPREAD).normalize()
    }

    /// Radiance of the open sky in a direction.
    pub(crate) fn sky(&self, direction: Vec3) -> Vec3 {
        let height = direction.dot(self.up);
        if height >= 0.0 {
            HORIZON.lerp(ZENITH, height)
        } else {
            HORIZON.lerp(NADIR, smooth(0.0, 0.35, -height))
        }
    }

    /// Mean sky light on open level ground: the cosine-weighted mean height of the sky is 2/3.
    pub(crate) fn open_sky(&self) -> Vec3 {
        HORIZON.lerp(ZENITH, 2.0 / 3.0)
    }

    /// All light on open level ground.
    pub(crate) fn open_ground(&self) -> Vec3 {
        self.open_sky() + SUN * self.sun.dot(self.up).max(0.05)
    }
}

/// High, to the left of and behind the camera: folds get a lit and a dark side, and shadows fall back and
/// to the right, where they can be seen.
fn over_left_shoulder(view: &View, up: Vec3) -> Vec3 {
    let ahead = (view.forward - up * view.forward.dot(up)).try_normalize().unwrap_or(view.up);
    let right = ahead.cross(up);
    (up * 1.0 - right * 0.72 - ahead * 0.42).normalize()
}

/// The picture behind the scene, in linear light.
pub(crate) struct Curtain {
    zenith: Vec3,
    horizon: Vec3,
}

impl Curtain {
    pub(crate) fn new(backdrop: &Backdrop) -> Curtain {
        Curtain { zenith: backdrop.zenith.linear(), horizon: backdrop.horizon.linear() }
    }

    /// Colour at height `v` of the picture: 0 top, 1 bottom.
    pub(crate) fn at(&self, v: f32) -> Vec3 {
        self.zenith.lerp(self.horizon, smooth(-0.35, 0.55, v))
    }
}

/// The ground.
pub(crate) struct Floor {
    pub(crate) up: Vec3,
    height: f32,
    grid: f32,
    axes: (Vec3, Vec3),
    /// Middle of the scene, and distance from it at which the ground has become horizon [m].
    centre: Vec3,
    reach: f32,
    pub(crate) colour: Vec3,
    /// Factor that turns ground into grid line: darker on light ground, lighter on dark.
    pub(crate) line_shade: f32,
}

impl Floor {
    pub(crate) fn new(scene: &Scene, bounds: &Bounds, backdrop: &Backdrop) -> Option<Floor> {
        let ground = scene.ground.filter(|g| g.height.is_finite() && g.height.abs() < 1e6)?;
        let empty = bounds.is_empty();
        let (centre, size) = if empty { (Vec3::ZERO, 1.0) } else { (bounds.centre(), bounds.diagonal()) };
        Some(Floor {
            up: scene.up.vector(),
            height: ground.height,
            grid: ground.grid,
            axes: scene.up.horizontal(),
            centre,
            reach: 3.2 * size.max(0.05),
            colour: backdrop.ground.linear(),
            line_shade: if luminance(backdrop.ground.linear()) > 0.18 { 0.72 } else { 1.5 },
        })
    }

    /// Distance at which a ray coming from above meets the ground.
    pub(crate) fn distance(&self, origin: Vec3, direction: Vec3) -> Option<f32> {
        let above = origin.dot(self.up) - self.height;
        let fall = -direction.dot(self.up);
        (above > 0.0 && fall > 1e-5).then(|| above / fall)
    }

    /// 0 near the scene, 1 where the ground has become horizon.
    pub(crate) fn fade(&self, p: Vec3) -> f32 {
        let d = p - self.centre;
        let level = d - self.up * d.dot(self.up);
        smooth(0.30, 1.0, level.length() / self.reach)
    }

    /// How much of a pixel is covered by grid lines.
    pub(crate) fn lines(&self, p: Vec3, footprint: f32, t: f32, eye: Vec3) -> f32 {
        if !(self.grid.is_finite() && self.grid > 0.0) {
            return 0.0;
        }
        // Seen at a shallow angle, a pixel covers a longer piece of ground in the direction of view.
        let view = (p - eye) / t.max(1e-6);
        let shallow = (-view.dot(self.up)).max(0.02);
        let half_width = 0.006 * self.grid;
        let cover = |axis: Vec3| {
            let along = view.dot(axis).abs();
            let spread = footprint * (1.0 + along * (1.0 / shallow - 1.0));
            let x = p.dot(axis) / self.grid;
            let distance = (x - (x + 0.5).floor()).abs() * self.grid;
            let reach = half_width + spread;
            // A tent over the pixel, keeping the line's share of the area whatever its width.
            (1.0 - distance / reach).max(0.0)
                * (half_width / reach * 2.0).min(1.0)
                * (1.0 - smooth(0.1, 0.5, spread / self.grid))
        };
        cover(self.axes.0).max(cover(self.axes.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Ground;

    fn floor(height: f32) -> Floor {
        let scene = Scene { ground: Some(Ground { height, grid: 0.1 }), ..Scene::default() };
        let bounds = Bounds { min: Vec3::ZERO, max: Vec3::ONE };
        Floor::new(&scene, &bounds, &Backdrop::LIGHT).expect("a floor")
    }

    #[test]
    fn ground_is_met_from_above_only() {
        let floor = floor(0.5);
        let down = Vec3::new(0.6, -0.8, 0.0);
        let distance = floor.distance(Vec3::Y * 1.3, down).expect("below");
        assert!((distance - 1.0).abs() < 1e-6);
        assert_eq!(floor.distance(Vec3::Y * 1.3, -down), None);
        assert_eq!(floor.distance(Vec3::ZERO, -down), None);
    }

    #[test]
    fn ground_fades_out_and_its_lines_with_it() {
        let floor = floor(0.0);
        assert_eq!(floor.fade(Vec3::new(0.5, 0.0, 0.5)), 0.0);
        assert_eq!(floor.fade(Vec3::new(50.0, 0.0, 0.0)), 1.0);
        let eye = Vec3::new(0.05, 2.0, 0.05);
        let lines = |p: Vec3, footprint: f32| floor.lines(p, footprint, 2.0, eye);
        assert!(lines(Vec3::new(0.1, 0.0, 0.05), 1e-4) > 0.9);
        assert_eq!(lines(Vec3::new(0.05, 0.0, 0.05), 1e-4), 0.0);
        assert_eq!(lines(Vec3::new(0.1, 0.0, 0.05), 0.2), 0.0);
    }

    #[test]
    fn the_sun_stands_above_the_camera_unless_told_otherwise() {
        let camera = crate::Camera { eye: Vec3::Z * 4.0, target: Vec3::ZERO, up: Vec3::Y, fov: 0.5 };
        let view = View::new(&camera, 64, 64);
        let sun = Light::new(None, Up::Y, &view).sun;
        assert!(sun.y > 0.5 && sun.x < -0.3 && sun.z > 0.0, "{sun}");
        assert_eq!(Light::new(Some(Vec3::X * 7.0), Up::Y, &view).sun, Vec3::X);
        assert_eq!(Light::new(Some(Vec3::NAN), Up::Y, &view).sun, sun);
    }
}
