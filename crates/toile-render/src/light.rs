//! The sun, the sky and the backdrop.

use crate::camera::View;
use crate::pattern::smooth;
use crate::sample::frame;
use crate::scene::{Backdrop, Up};
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
