//! Continuous detection that never misses: does a moving vertex come within a distance of a moving face, or a moving
//! edge of another?
//!
//! Points move straight from their place at t = 0 to their place at t = 1. The differences between the two features at
//! time t are the convex hull of a few corners p_i(t) (a vertex minus the three corners of a face; the ends of an edge
//! minus those of the other), and each corner is linear in t. So if a fixed direction n has
//!
//! n·p_i(t) > d |n|   for all corners i, at t = a and at t = b,
//!
//! then it holds at all times between, and the features are further apart than d throughout [a, b]: by convexity
//! nearest differences project on n at least as far as some corner. That is the whole proof, and it does not depend on
//! where n came from. [`vertex_face`] and [`edge_edge`] cover [0, 1] by such intervals from left to right: n is the
//! direction of closest approach at a, and b the last time for which n serves. An answer [`Passage::Clear`] is a
//! complete cover; anything else ends as [`Passage::Meets`], with everything before its time covered.
//!
//! The same idea bounds each step of additive continuous detection by a distance over a speed (Li, Kaufman and Jiang
//! 2021, *Codimensional IPC*, alg. 1) and each box of an inclusion search by axis-aligned intervals (Wang, Ferguson,
//! Schneider, Jiang, Attene and Panozzo 2021, *A large-scale benchmark and an inclusion-based algorithm for continuous
//! collision detection*, §4). A direction that fits the pair serves for longer than either: most pairs take one or two.
//!
//! # Rounding
//!
//! Every inequality is tested in f64 against a bound of its own rounding error, always towards [`Passage::Meets`]
//! ([`Slab`]). Values that are not finite, or overflow on the way, satisfy no strict inequality and so cannot be
//! cleared. `toile lab ccd` compares ten million answers with exact arithmetic.

use crate::math::DVec3;

/// What a pair does on its way from t = 0 to t = 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Passage {
    /// Further apart than the separation throughout: proven.
    Clear,
    /// May come within the separation.
    Meets {
        /// Not before this time, 0 to 1 [-]: a proven lower bound of the first.
        time: f64,
    },
}

impl Passage {
    /// Whether the pair is proven to stay apart.
    pub fn is_clear(self) -> bool {
        self == Passage::Clear
    }
}

/// When to give up proving that a pair stays apart. Giving up is safe: the pair counts as meeting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Most directions to try [-].
    pub directions: u32,
    /// Shortest advance of time that is worth another direction [-].
    pub advance: f64,
}

impl Default for Effort {
    /// Settles gaps down to about 1e-9 of the motion. A pair that passes at a distance d + g takes about
    /// π √(d/2g) directions round the turn, so 4096 settle g = 3e-7 d. The mean is 3: of random pairs that stay apart
    /// 7 in a million need more than 512, and the others pay nothing for the limit.
    fn default() -> Effort {
        Effort { directions: 4096, advance: 1e-9 }
    }
}

/// Whether a vertex comes within `separation` [m] of a face. Points are the vertex and the three corners [m].
pub fn vertex_face(start: &[DVec3; 4], end: &[DVec3; 4], separation: f64, effort: Effort) -> Passage {
    let corners = |[v, a, b, c]: &[DVec3; 4]| [*v - *a, *v - *b, *v - *c];
    sweep(&corners(start), &corners(end), separation, effort).0
}

/// Whether an edge comes within `separation` [m] of another. Points are the ends of the one and of the other [m].
pub fn edge_edge(start: &[DVec3; 4], end: &[DVec3; 4], separation: f64, effort: Effort) -> Passage {
    // In turn round the parallelogram of differences.
    let corners = |[a, b, c, d]: &[DVec3; 4]| [*a - *c, *b - *c, *b - *d, *a - *d];
    sweep(&corners(start), &corners(end), separation, effort).0
}

/// Half the distance from 1 to the next f64: the relative error of one operation.
const ROUND: f64 = f64::EPSILON / 2.0;
/// More than a handful of underflows can lose [m]: each is below 2^-1074 = 5e-324.
const UNDERFLOW: f64 = 1e-300;

/// Covers [0, 1]; also returns how many directions it took.
fn sweep<const N: usize>(
    p0: &[DVec3; N],
    p1: &[DVec3; N],
    separation: f64,
    effort: Effort,
) -> (Passage, u32) {
    // Not (separation >= 0) also catches a separation that is not a number; an infinite one clears nothing.
    let separation = if separation >= 0.0 { separation } else { f64::INFINITY };
    if clear_along_axes(p0, p1, separation) {
        return (Passage::Clear, 0);
    }
    let mut time = 0.0;
    for count in 1..=effort.directions {
        let slab = Slab::new(p0, p1, nearest_direction(&between(p0, p1, time)), separation);
        let reach = slab.reach(time);
        if reach >= 1.0 {
            return (Passage::Clear, count);
        }
        let onward = reach > time + effort.advance;
        if !onward {
            return (Passage::Meets { time: reach.max(time) }, count);
        }
        time = reach;
    }
    (Passage::Meets { time }, effort.directions)
}

/// Whether one of the six axis directions separates throughout: the boxes of the two motions are apart.
///
/// Rounding to nearest is monotone: a difference that rounds to more than an f64 is more than it.
#[inline]
fn clear_along_axes<const N: usize>(p0: &[DVec3; N], p1: &[DVec3; N], separation: f64) -> bool {
    let (mut low, mut high) = (p0[0], p0[0]);
    let mut sound = true;
    for p in p0.iter().chain(p1) {
        low = low.min(*p);
        high = high.max(*p);
        sound &= p.is_finite();
    }
    let apart = low.cmpgt(DVec3::splat(separation)) | high.cmplt(DVec3::splat(-separation));
    sound && apart.any()
}

/// The corners at a time, as near as rounding gives them: they only choose a direction.
#[inline]
fn between<const N: usize>(p0: &[DVec3; N], p1: &[DVec3; N], time: f64) -> [DVec3; N] {
    std::array::from_fn(|i| p0[i] + (p1[i] - p0[i]) * time)
}

/// How far each corner is beyond the separation along one direction, at both ends of the motion, from below.
struct Slab<const N: usize> {
    start: [f64; N],
    end: [f64; N],
}

impl<const N: usize> Slab<N> {
    /// Lower bounds of n·p_i − d |n|.
    ///
    /// `p` is one rounding off the true difference, a product another, the two sums two more: relative to Σ|n_k p_k|
    /// the dot product is off by at most (1 + ε)⁴ − 1 < 4.1 ε with ε = 2^-53. d |n| takes a dot product, a root and
    /// a product: below 4 ε. The bounds themselves and the last subtraction round too; 8 ε covers all of it.
    #[inline]
    fn new(p0: &[DVec3; N], p1: &[DVec3; N], direction: DVec3, separation: f64) -> Slab<N> {
        let size = direction.abs();
        let limit = separation * direction.length() * (1.0 + 8.0 * ROUND) + UNDERFLOW;
        let least = |p: &DVec3| {
            let (along, sum) = (direction.dot(*p), size.dot(p.abs()));
            (along - limit) - (sum + limit) * (8.0 * ROUND)
        };
        Slab { start: std::array::from_fn(|i| least(&p0[i])), end: std::array::from_fn(|i| least(&p1[i])) }
    }

    /// Whether the direction separates at `time`. Interpolating two numbers rounds by less than 4 ε of their sizes.
    #[inline]
    fn holds(&self, time: f64) -> bool {
        (0..N).all(|i| {
            let (a, b) = (self.start[i], self.end[i]);
            a + (b - a) * time > (a.abs() + b.abs()) * (8.0 * ROUND) + UNDERFLOW
        })
    }

    /// A time up to which the direction is proven to separate from `time` on; `time` itself where it proves nothing.
    #[inline]
    fn reach(&self, time: f64) -> f64 {
        if !self.holds(time) {
            return time;
        }
        if self.holds(1.0) {
            return 1.0;
        }
        let mut last = 1.0_f64;
        for (a, b) in self.start.iter().zip(&self.end) {
            if b < a {
                last = last.min(a / (a - b));
            }
        }
        // The root is as good as its rounding; what counts is the test.
        let mut shorter = 1.0;
        for _ in 0..6 {
            let reach = time + (last - time) * shorter;
            if self.holds(reach) {
                return reach.max(time);
            }
            shorter = 1.0 - (1.0 - shorter).max(1e-13) * 1e2;
        }
        time
    }
}

/// The direction of the point of a triangle or parallelogram (corners in turn) nearest to the origin, scaled to a
/// largest component of 1.
///
/// Any answer is safe; a good one reaches far. Inside the polygon it is the normal, which stays accurate where the
/// nearest point itself would be a difference of nearly equal numbers.
#[inline]
fn nearest_direction<const N: usize>(p: &[DVec3; N]) -> DVec3 {
    let largest = p.iter().fold(0.0_f64, |m, p| m.max(p.abs().max_element()));
    // Sizes around 1 keep products of four from underflow and overflow.
    let p = p.map(|p| p / largest);
    let (e, f) = (p[1] - p[0], p[N - 1] - p[0]);
    let normal = e.cross(f);
    let square = normal.length_squared();
    let (s, t) = (f.cross(p[0]).dot(normal), p[0].cross(e).dot(normal));
    let beyond = if N == 3 { s + t > square } else { s > square || t > square };
    let inside = square > 0.0 && s >= 0.0 && t >= 0.0 && !beyond;
    let direction = if inside { normal * normal.dot(p[0]).signum() } else { nearest_on_outline(&p) };
    direction / direction.abs().max_element()
}

/// The point nearest to the origin on the outline of a polygon.
#[inline]
fn nearest_on_outline<const N: usize>(p: &[DVec3; N]) -> DVec3 {
    let mut nearest = p[0];
    for i in 0..N {
        let (a, b) = (p[i], p[(i + 1) % N]);
        let e = b - a;
        let (along, square) = (-a.dot(e), e.length_squared());
        let point = if along <= 0.0 {
            a
        } else if along >= square {
            b
        } else {
            // Perpendicular to the side: projecting twice recovers the digits that a long side loses.
            let c = a + e * (along / square);
            c - e * (c.dot(e) / square)
        };
        if point.length_squared() < nearest.length_squared() {
            nearest = point;
        }
    }
    nearest
}

#[cfg(test)]
#[path = "ccd_tests.rs"]
mod tests;
