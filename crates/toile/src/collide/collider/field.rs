//! Bodies given by a field: a grid of distances, or metaballs.

use super::error::{ColliderError, LARGEST, positive};
use super::form::Near;
use crate::math::DVec3;

/// A smooth enough function of space, negative inside a body and positive outside.
pub(super) trait Field: Sync {
    /// The value, in any unit.
    fn value(&self, x: DVec3) -> f64;
    /// Its gradient.
    fn gradient(&self, x: DVec3) -> DVec3;
    /// A box that holds the whole body [m].
    fn bounds(&self) -> (DVec3, DVec3);
    /// A point inside, not far from `x`.
    fn inner(&self, x: DVec3) -> DVec3;
    /// Size of the smallest detail worth looking for [m].
    fn detail(&self) -> f64;

    /// A point of the surface nearest to `x` among its neighbours, reached down the slope. In a crease another fold may be
    /// nearer still; a mesh of the surface finds that one.
    fn near(&self, x: DVec3) -> Near {
        let inside = self.value(x) < 0.0;
        let mut point = self.land(x);
        let mut gap = (x - point).length_squared();
        // Slide along the surface towards x while that brings the foot nearer.
        let mut stride = 1.0;
        for _ in 0..40 {
            let normal = self.gradient(point).normalize_or_zero();
            let offset = x - point;
            let slide = offset - normal * offset.dot(normal);
            if slide.length_squared() <= 1e-20 * gap || stride < 1e-3 {
                break;
            }
            let next = self.pull(point + slide * stride, 6);
            let next_gap = (x - next).length_squared();
            if next_gap < gap && self.value(next).abs() <= 1e-9 * (1.0 + self.gradient(next).length()) {
                (point, gap) = (next, next_gap);
                stride = (stride * 1.5).min(1.0);
            } else {
                stride *= 0.5;
            }
        }
        let normal = self.gradient(point).normalize_or(DVec3::Y);
        let distance = if inside { -gap.sqrt() } else { gap.sqrt() };
        Near { distance, point, normal }
    }

    /// Newton's method along the gradient.
    fn pull(&self, mut x: DVec3, steps: usize) -> DVec3 {
        for _ in 0..steps {
            let (value, gradient) = (self.value(x), self.gradient(x));
            let square = gradient.length_squared();
            if square == 0.0 {
                break;
            }
            x -= gradient * (value / square);
        }
        x
    }

    /// Some point of the surface near `x`: down or up the slope in short steps until the sign changes, or where there
    /// is no slope a bisection towards a known place.
    fn land(&self, x: DVec3) -> DVec3 {
        let inside = self.value(x) < 0.0;
        let mut here = x;
        for _ in 0..64 {
            let (value, gradient) = (self.value(here), self.gradient(here));
            let slope = gradient.length();
            if slope == 0.0 {
                break;
            }
            // Newton's step, a little further so that it crosses, but never through a whole detail.
            let stride = (1.1 * value.abs() / slope).clamp(1e-9, 0.25 * self.detail());
            let next = here + gradient * (if inside { stride } else { -stride } / slope);
            if (self.value(next) < 0.0) != inside {
                return if inside { self.cross(here, next) } else { self.cross(next, here) };
            }
            here = next;
        }
        if !inside {
            return self.cross(self.inner(x), x);
        }
        let (low, high) = self.bounds();
        let reach = (high - low).length();
        let tries = [DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z, -DVec3::Z];
        let found = tries.map(|way| self.cross(x, x + way * reach));
        found
            .into_iter()
            .fold(found[0], |best, p| if (p - x).length() < (best - x).length() { p } else { best })
    }

    /// Where a segment from inside to outside leaves the body.
    fn cross(&self, mut inside: DVec3, mut outside: DVec3) -> DVec3 {
        for _ in 0..60 {
            let middle = (inside + outside) * 0.5;
            if self.value(middle) < 0.0 { inside = middle } else { outside = middle }
        }
        outside
    }
}

/// Distances sampled on a regular grid, linear between samples along each axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Lowest corner [m].
    pub origin: DVec3,
    /// Spacing [m].
    pub spacing: f64,
    /// Samples along x, y and z; at least 2 each.
    pub size: [usize; 3],
    /// Signed distances [m], x fastest, then y; negative inside. All on the border must be positive.
    pub samples: Vec<f64>,
}

impl Grid {
    /// Samples a signed distance.
    pub fn sample(origin: DVec3, spacing: f64, size: [usize; 3], distance: impl Fn(DVec3) -> f64) -> Grid {
        let [nx, ny, nz] = size;
        let mut samples = Vec::with_capacity(nx * ny * nz);
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    samples.push(distance(origin + DVec3::new(i as f64, j as f64, k as f64) * spacing));
                }
            }
        }
        Grid { origin, spacing, size, samples }
    }

    /// Refuses grids that hold no closed body.
    pub fn check(&self) -> Result<(), ColliderError> {
        positive("grid", "spacing [m]", self.spacing)?;
        let bad = |what, value| ColliderError::Parameter {
            shape: "grid",
            what,
            value,
            limit: "at least 2, at most 4096",
        };
        if let Some(&n) = self.size.iter().find(|n| !(2..=4096).contains(*n)) {
            return Err(bad("size", n as f64));
        }
        let expected = self.size.iter().product();
        if self.samples.len() != expected {
            return Err(ColliderError::GridCount { samples: self.samples.len(), expected });
        }
        if !(self.origin.is_finite() && self.origin.abs().max_element() <= LARGEST) {
            return Err(ColliderError::NotFinite { shape: "grid", element: 0 });
        }
        if let Some(element) = self.samples.iter().position(|v| !v.is_finite()) {
            return Err(ColliderError::NotFinite { shape: "grid", element });
        }
        let [nx, ny, nz] = self.size;
        let border = |n: usize| {
            let (i, j, k) = (n % nx, n / nx % ny, n / (nx * ny));
            i == 0 || j == 0 || k == 0 || i == nx - 1 || j == ny - 1 || k == nz - 1
        };
        if let Some(sample) = (0..expected).find(|&n| border(n) && self.samples[n] <= 0.0) {
            return Err(ColliderError::GridOpen { sample, value: self.samples[sample] });
        }
        if self.samples.iter().all(|v| *v >= 0.0) {
            return Err(ColliderError::EmptyField { shape: "grid" });
        }
        Ok(())
    }

    /// The cell of a point, the place in it from 0 to 1, and the eight samples there.
    fn cell(&self, x: DVec3) -> (DVec3, [f64; 8]) {
        let local = (x - self.origin) / self.spacing;
        let mut corner = [0; 3];
        let mut part = DVec3::ZERO;
        for k in 0..3 {
            let last = (self.size[k] - 2) as f64;
            let index = local[k].floor().clamp(0.0, last);
            corner[k] = index as usize;
            part[k] = (local[k] - index).clamp(0.0, 1.0);
        }
        let [nx, ny, _] = self.size;
        let at = |n: usize| {
            let (i, j, k) = (corner[0] + (n & 1), corner[1] + (n >> 1 & 1), corner[2] + (n >> 2));
            self.samples[i + nx * (j + ny * k)]
        };
        (part, std::array::from_fn(at))
    }
}

impl Field for Grid {
    /// Beyond the grid, the distance to it is added to the value on its border.
    fn value(&self, x: DVec3) -> f64 {
        let (p, s) = self.cell(x);
        let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
        let plane = |n: usize| mix(mix(s[n], s[n + 1], p.x), mix(s[n + 2], s[n + 3], p.x), p.y);
        let (low, high) = self.bounds();
        mix(plane(0), plane(4), p.z) + (x - x.clamp(low, high)).length()
    }

    fn gradient(&self, x: DVec3) -> DVec3 {
        let (p, s) = self.cell(x);
        let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
        let dx = |n: usize| s[n + 1] - s[n];
        let along_x = |n: usize| mix(s[n], s[n + 1], p.x);
        let dy = |n: usize| along_x(n + 2) - along_x(n);
        let along_xy = |n: usize| mix(along_x(n), along_x(n + 2), p.y);
        let inside = DVec3::new(
            mix(mix(dx(0), dx(2), p.y), mix(dx(4), dx(6), p.y), p.z),
            mix(dy(0), dy(4), p.z),
            along_xy(4) - along_xy(0),
        ) / self.spacing;
        let (low, high) = self.bounds();
        let beyond = x - x.clamp(low, high);
        if beyond == DVec3::ZERO {
            return inside;
        }
        let keep = DVec3::from_array(beyond.to_array().map(|v| if v == 0.0 { 1.0 } else { 0.0 }));
        inside * keep + beyond.normalize()
    }

    fn bounds(&self) -> (DVec3, DVec3) {
        let cells = self.size.map(|n| (n - 1) as f64);
        (self.origin, self.origin + DVec3::from_array(cells) * self.spacing)
    }

    fn inner(&self, x: DVec3) -> DVec3 {
        let [nx, ny, _] = self.size;
        let place = |n: usize| {
            self.origin
                + DVec3::new((n % nx) as f64, (n / nx % ny) as f64, (n / (nx * ny)) as f64) * self.spacing
        };
        let mut best = (f64::INFINITY, self.origin);
        for n in (0..self.samples.len()).filter(|&n| self.samples[n] < 0.0) {
            let gap = (place(n) - x).length_squared();
            if gap < best.0 {
                best = (gap, place(n));
            }
        }
        best.1
    }

    fn detail(&self) -> f64 {
        self.spacing
    }
}

/// One ball of a metaball field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Centre [m].
    pub centre: DVec3,
    /// Distance at which its influence ends [m].
    pub radius: f64,
    /// Influence at its centre [-].
    pub weight: f64,
}

/// Metaballs: the body is where Φ(x) = Σ w_i (1 − r²/R_i²)²₊ − T is positive (V00-21, G-22).
#[derive(Clone, Debug, PartialEq)]
pub struct Metaballs {
    /// The balls.
    pub balls: Vec<Ball>,
    /// T [-].
    pub threshold: f64,
}

impl Metaballs {
    /// Refuses balls that make no body. At least one centre must be inside.
    pub fn check(&self) -> Result<(), ColliderError> {
        let shape = "metaballs";
        for (element, ball) in self.balls.iter().enumerate() {
            positive(shape, "radius [m]", ball.radius)?;
            if !(ball.centre.is_finite() && ball.centre.abs().max_element() <= LARGEST) {
                return Err(ColliderError::NotFinite { shape, element });
            }
            if !(ball.weight > 0.0 && ball.weight <= 1e6) {
                let (what, limit) = ("weight", "positive and at most 1e6");
                return Err(ColliderError::Parameter { shape, what, value: ball.weight, limit });
            }
        }
        if !(self.threshold > 0.0 && self.threshold <= 1e6) {
            let (what, limit) = ("threshold", "positive and at most 1e6");
            return Err(ColliderError::Parameter { shape, what, value: self.threshold, limit });
        }
        if self.balls.iter().all(|ball| self.potential(ball.centre) <= 0.0) {
            return Err(ColliderError::EmptyField { shape });
        }
        Ok(())
    }

    /// Φ [-]: positive inside.
    pub fn potential(&self, x: DVec3) -> f64 {
        self.balls.iter().fold(-self.threshold, |sum, ball| {
            let part = 1.0 - (x - ball.centre).length_squared() / (ball.radius * ball.radius);
            if part > 0.0 { sum + ball.weight * part * part } else { sum }
        })
    }

    /// ∇Φ [1/m]: into the body. A penetrating particle is pushed against it (V00-21).
    pub fn slope(&self, x: DVec3) -> DVec3 {
        self.balls.iter().fold(DVec3::ZERO, |sum, ball| {
            let (d, square) = (x - ball.centre, ball.radius * ball.radius);
            let part = 1.0 - d.length_squared() / square;
            if part > 0.0 { sum - d * (4.0 * ball.weight * part / square) } else { sum }
        })
    }
}

impl Field for Metaballs {
    fn value(&self, x: DVec3) -> f64 {
        -self.potential(x)
    }

    fn gradient(&self, x: DVec3) -> DVec3 {
        -self.slope(x)
    }

    fn bounds(&self) -> (DVec3, DVec3) {
        self.balls.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), ball| {
            (low.min(ball.centre - ball.radius), high.max(ball.centre + ball.radius))
        })
    }

    fn inner(&self, x: DVec3) -> DVec3 {
        let mut best = (f64::INFINITY, DVec3::ZERO);
        for ball in self.balls.iter().filter(|ball| self.potential(ball.centre) > 0.0) {
            let gap = (x - ball.centre).length() - ball.radius;
            if gap < best.0 {
                best = (gap, ball.centre);
            }
        }
        best.1
    }

    fn detail(&self) -> f64 {
        0.25 * self.balls.iter().fold(f64::INFINITY, |least, ball| least.min(ball.radius))
    }
}
