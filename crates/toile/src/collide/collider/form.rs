//! Shapes with a formula: how far, where, which way.

use super::error::{ColliderError, LARGEST, positive};
use crate::math::{DVec2, DVec3};

/// The nearest point of a body's surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// Signed distance [m], negative inside.
    pub distance: f64,
    /// The point on the surface [m].
    pub point: DVec3,
    /// Unit vector out of the body there; the gradient of the distance.
    pub normal: DVec3,
}

/// A shape centred on the origin, its axis along Y.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named by the variant's own sentence")]
pub enum Form {
    /// Everything below y = 0. Its mesh is a square of side `size` [m] round the origin.
    Plane { size: f64 },
    /// A ball of a radius [m].
    Sphere { radius: f64 },
    /// All within a radius [m] of a segment of a height [m]: a cylinder with round ends, radius + height + radius tall.
    Capsule { radius: f64, height: f64 },
    /// A cylinder of a radius and a height [m].
    Cylinder { radius: f64, height: f64 },
    /// A cone, or part of one, of two radii and a height [m]; one radius may be 0.
    Cone { radius_bottom: f64, radius_top: f64, height: f64 },
    /// A box of full side lengths [m].
    Box { size: DVec3 },
    /// A ring: all within `radius_tube` of a circle of `radius_ring` [m] round Y.
    Torus { radius_ring: f64, radius_tube: f64 },
}

impl Form {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Form::Plane { .. } => "plane",
            Form::Sphere { .. } => "sphere",
            Form::Capsule { .. } => "capsule",
            Form::Cylinder { .. } => "cylinder",
            Form::Cone { .. } => "cone",
            Form::Box { .. } => "box",
            Form::Torus { .. } => "torus",
        }
    }

    /// Refuses measures that make no body.
    pub fn check(&self) -> Result<(), ColliderError> {
        let name = self.name();
        let length = |what, value| positive(name, what, value);
        match *self {
            Form::Plane { size } => length("size [m]", size),
            Form::Sphere { radius } => length("radius [m]", radius),
            Form::Capsule { radius, height } | Form::Cylinder { radius, height } => {
                length("radius [m]", radius).and(length("height [m]", height))
            }
            Form::Cone { radius_bottom, radius_top, height } => {
                length("height [m]", height)?;
                length("the larger radius [m]", radius_bottom.max(radius_top))?;
                let least = radius_bottom.min(radius_top);
                // One that is not a number fails here even though `max` passed it over.
                if least >= 0.0 && (radius_bottom + radius_top).is_finite() && least <= LARGEST {
                    return Ok(());
                }
                let limit = "from 0 to 1e6 m";
                Err(ColliderError::Parameter {
                    shape: name,
                    what: "the smaller radius [m]",
                    value: least,
                    limit,
                })
            }
            Form::Box { size } => size.to_array().into_iter().try_for_each(|side| length("size [m]", side)),
            Form::Torus { radius_ring, radius_tube } => {
                length("ring radius [m]", radius_ring)?;
                length("tube radius [m]", radius_tube)?;
                if radius_tube < radius_ring {
                    return Ok(());
                }
                let limit = "less than the ring radius";
                Err(ColliderError::Parameter {
                    shape: name,
                    what: "tube radius [m]",
                    value: radius_tube,
                    limit,
                })
            }
        }
    }

    /// The nearest point of the surface. Where several are nearest (on an axis, at a centre) one of them counts.
    pub fn near(&self, x: DVec3) -> Near {
        match *self {
            Form::Plane { .. } => Near { distance: x.y, point: DVec3::new(x.x, 0.0, x.z), normal: DVec3::Y },
            Form::Sphere { radius } => round(DVec3::ZERO, radius, x, DVec3::Y),
            Form::Capsule { radius, height } => {
                let centre = DVec3::Y * x.y.clamp(-0.5 * height, 0.5 * height);
                round(centre, radius, x, DVec3::X)
            }
            Form::Cylinder { radius, height } => turned(x, |q| conical(q, [radius, radius], 0.5 * height)),
            Form::Cone { radius_bottom, radius_top, height } => {
                turned(x, |q| conical(q, [radius_bottom, radius_top], 0.5 * height))
            }
            Form::Box { size } => boxed(x, size * 0.5),
            Form::Torus { radius_ring, radius_tube } => turned(x, |q| {
                let centre = DVec2::new(radius_ring, 0.0);
                let out = (q - centre).try_normalize().unwrap_or(DVec2::Y);
                let distance = (q - centre).length() - radius_tube;
                Flat { distance, point: centre + out * radius_tube, normal: out }
            }),
        }
    }
}

/// Within a radius of a centre.
fn round(centre: DVec3, radius: f64, x: DVec3, fallback: DVec3) -> Near {
    let normal = (x - centre).try_normalize().unwrap_or(fallback);
    Near { distance: (x - centre).length() - radius, point: centre + normal * radius, normal }
}

/// The nearest point in the half plane (distance from Y, height).
struct Flat {
    distance: f64,
    point: DVec2,
    normal: DVec2,
}

/// A body of revolution from its profile.
fn turned(x: DVec3, profile: impl Fn(DVec2) -> Flat) -> Near {
    let from_axis = (x.x * x.x + x.z * x.z).sqrt();
    let out = if from_axis > 0.0 { DVec3::new(x.x / from_axis, 0.0, x.z / from_axis) } else { DVec3::X };
    let flat = profile(DVec2::new(from_axis, x.y));
    let lift = |p: DVec2| out * p.x + DVec3::Y * p.y;
    Near { distance: flat.distance, point: lift(flat.point), normal: lift(flat.normal) }
}

/// A cone between two radii at −half and +half: the nearest of bottom, side and top.
fn conical(q: DVec2, [bottom, top]: [f64; 2], half: f64) -> Flat {
    let corners =
        [DVec2::new(0.0, -half), DVec2::new(bottom, -half), DVec2::new(top, half), DVec2::new(0.0, half)];
    let mut best = Flat { distance: f64::INFINITY, point: corners[0], normal: DVec2::Y };
    let mut inside = true;
    for pair in corners.windows(2) {
        let side = pair[1] - pair[0];
        let square = side.length_squared();
        if square == 0.0 {
            continue;
        }
        // Bottom to top runs with the body on the left.
        let normal = DVec2::new(side.y, -side.x) / square.sqrt();
        inside &= (q - pair[0]).dot(normal) < 0.0;
        let point = pair[0] + side * ((q - pair[0]).dot(side) / square).clamp(0.0, 1.0);
        let distance = (q - point).length();
        if distance < best.distance {
            best = Flat { distance, point, normal };
        }
    }
    let sign = if inside { -1.0 } else { 1.0 };
    // On the surface the difference has no digits; there the side's own normal serves.
    if best.distance > 1e-12 * (half + bottom + top) {
        best.normal = (q - best.point) * (sign / best.distance);
    }
    best.distance *= sign;
    best
}

/// A box of half sides.
fn boxed(x: DVec3, half: DVec3) -> Near {
    let beyond = x.abs() - half;
    let sign = |v: f64| if v < 0.0 { -1.0 } else { 1.0 };
    if beyond.max_element() <= 0.0 {
        let axis = beyond.max_position();
        let mut normal = DVec3::ZERO;
        normal[axis] = sign(x[axis]);
        let mut point = x;
        point[axis] = normal[axis] * half[axis];
        return Near { distance: beyond[axis], point, normal };
    }
    let point = x.clamp(-half, half);
    let distance = (x - point).length();
    // Just outside, the difference has few digits but each of its components is exact.
    Near { distance, point, normal: (x - point).normalize_or(DVec3::Y) }
}
