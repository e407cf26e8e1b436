//! Faces in f32, four numbers at a time: what tells that two faces are surely apart before any f64 is touched.
//!
//! Positions are taken relative to the middle of the frame. With M the largest of their components, rounding them to
//! f32, projecting them on n and subtracting c errs by less than 5.4e-7 |n|₁ M; 1e-6 |n|₁ M also covers the rounding
//! of n and c themselves, which are taken as they are once they have been chosen. A sketch says "apart" or nothing.

use glam::{DVec3, Vec3A, Vec4};

/// Rounding of a projection relative to |n|₁ M.
const ROUNDING: f32 = 1e-6;

/// From where a frame is sketched, and how large it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    middle: DVec3,
    /// What rounding may do to a projection, relative to |n|₁ [m].
    doubt: f32,
}

impl View {
    /// A view of everything between two corners [m]. Of frames too large or too small for f32 nothing can be said.
    pub fn new(low: DVec3, high: DVec3) -> View {
        let middle = 0.5 * low + 0.5 * high;
        let size = (high - middle).abs().max((low - middle).abs()).max_element();
        // The f64 difference itself rounds by this much.
        let size = size + 1e-9 * low.abs().max(high.abs()).max_element();
        let fits = (1e-12..1e12).contains(&size);
        View { middle, doubt: if fits { ROUNDING * size as f32 } else { f32::INFINITY } }
    }
}

/// A face, roughly.
#[derive(Clone, Copy)]
pub(super) struct Sketch {
    /// Corners from the middle of the frame [m]: all x, all y, all z.
    x: Vec3A,
    y: Vec3A,
    z: Vec3A,
    /// n and c, scaled so that the face lies surely within |n·p − c| ≤ 1.
    plane: Vec4,
    /// At least |n| [1/m].
    steep: f32,
    /// Number of the face.
    pub number: u32,
}

impl Sketch {
    pub const NONE: Sketch = Sketch {
        x: Vec3A::ZERO,
        y: Vec3A::ZERO,
        z: Vec3A::ZERO,
        plane: Vec4::ZERO,
        steep: 0.0,
        number: u32::MAX,
    };

    #[inline]
    pub fn new(number: u32, corners: &[DVec3; 3], normal: DVec3, view: &View) -> Sketch {
        let [a, b, c] = corners.map(|p| (p - view.middle).as_vec3a());
        let (x, y, z) = (Vec3A::new(a.x, b.x, c.x), Vec3A::new(a.y, b.y, c.y), Vec3A::new(a.z, b.z, c.z));
        let mut sketch = Sketch { x, y, z, plane: Vec4::ZERO, steep: 0.0, number };
        // In f64: an f32 could not hold the square of a small area.
        let n = (normal * (1.0 / normal.length_squared().sqrt())).as_vec3a();
        let heights = sketch.along(n);
        if let Some((plane, steep)) = slab(n, heights.min_element(), heights.max_element(), view) {
            (sketch.plane, sketch.steep) = (plane, steep);
        }
        sketch
    }

    #[inline]
    fn along(&self, n: Vec3A) -> Vec3A {
        self.x * n.x + self.y * n.y + self.z * n.z
    }

    /// How far another face surely lies on one side of this one's plane, from this one [m]; not positive where it may
    /// reach it.
    #[inline]
    fn beside(&self, other: &Sketch) -> f32 {
        let heights = other.along(Vec3A::from_vec4(self.plane)) - self.plane.w;
        beyond(heights.min_element(), heights.max_element(), self.steep)
    }

    /// How far apart two faces surely are [m], as soon as it is more than `reach`: seen along the line between their
    /// centres, from the plane of one, or across an edge. Not more than `reach` where that is not known.
    #[inline]
    pub fn gap(&self, other: &Sketch, reach: f32, view: &View) -> f32 {
        let n = Vec3A::new(sum(other.x - self.x), sum(other.y - self.y), sum(other.z - self.z));
        let mut gap = self.before(other, n, view);
        if gap <= reach {
            gap = self.beside(other).max(other.beside(self));
        }
        if gap <= reach {
            gap = self.across_edges(other, view).max(other.across_edges(self, view));
        }
        gap
    }

    /// How far another face surely lies beyond this one along n [m]; not positive where it may not.
    #[inline]
    fn before(&self, other: &Sketch, n: Vec3A, view: &View) -> f32 {
        let gap = other.along(n).min_element() - self.along(n).max_element();
        let size = sum(n.abs());
        if gap > 0.0 { 0.9998 * (gap / size) - 2.0 * view.doubt } else { 0.0 }
    }

    /// Whether, of two faces with one common vertex (corner i of this one, j of the other), each surely lies farther
    /// than `reach` [m] from the opposite edge of the other: a plane through the vertex has both edges that far on
    /// either side.
    #[inline]
    pub fn fanned(&self, i: usize, other: &Sketch, j: usize, reach: f32, view: &View) -> bool {
        let v = Vec3A::new(self.x[i], self.y[i], self.z[i]);
        let from = |face: &Sketch| [face.x - v.x, face.y - v.y, face.z - v.z];
        let ([ax, ay, az], [bx, by, bz]) = (from(self), from(other));
        // Near and far corners count alike; the vertex itself is at zero, and does not.
        let alike = |x: Vec3A, y: Vec3A, z: Vec3A| (x * x + y * y + z * z).max(Vec3A::splat(1e-30)).recip();
        let (p, q) = (alike(ax, ay, az), alike(bx, by, bz));
        let n = Vec3A::new(sum(ax * p - bx * q), sum(ay * p - by * q), sum(az * p - bz * q));
        let here = ax * n.x + ay * n.y + az * n.z;
        let there = bx * n.x + by * n.y + bz * n.z;
        let limit = Vec3A::splat((reach * n.length() + 4.0 * view.doubt * sum(n.abs())) * 1.0001);
        here.cmpgt(limit).bitmask() == 0b111 ^ (1 << i) && there.cmplt(-limit).bitmask() == 0b111 ^ (1 << j)
    }

    /// Whether, of two faces on one edge with apexes i and j, all features without a common vertex are surely farther
    /// apart than `reach` [m]: each apex is beyond the edge as seen along the line between them, and each side of one face
    /// apart from the side of the other that starts at the other end.
    #[inline]
    pub fn hinged(&self, i: usize, other: &Sketch, j: usize, reach: f32, view: &View) -> bool {
        let at = |face: &Sketch, k: usize| Vec3A::new(face.x[k], face.y[k], face.z[k]);
        let (p, u, v, q) = (at(self, i), at(self, (i + 1) % 3), at(self, (i + 2) % 3), at(other, j));
        let doubt = 4.0 * view.doubt;
        let far = |n: Vec3A, gap: f32| gap > (reach * n.length() + doubt * sum(n.abs())) * 1.0001;
        let n = p - q;
        let [a, b, c, d] = [p, u, v, q].map(|x| n.dot(x));
        let apexes = (a - b.max(c).max(d)).min(a.min(b).min(c) - d);
        let sides = |u: Vec3A, v: Vec3A| {
            // The ends of the edge count twice: sides of right angles are parallel.
            let n = (v - u) + (v - u) + (p - q);
            far(n, n.dot(v).min(n.dot(p)) - n.dot(u).max(n.dot(q)))
        };
        far(n, apexes) && sides(u, v) && sides(v, u)
    }

    /// The same across the edges of this one, along its plane.
    fn across_edges(&self, other: &Sketch, view: &View) -> f32 {
        let corners = [0, 1, 2].map(|k| Vec3A::new(self.x[k], self.y[k], self.z[k]));
        let normal = Vec3A::from_vec4(self.plane);
        let across = |k: usize| {
            let edge = corners[(k + 1) % 3] - corners[k];
            self.before(other, edge.cross(normal), view)
        };
        across(0).max(across(1)).max(across(2))
    }
}

/// How far what lies between two heights over a slab, in units of its half thickness, surely is from it [m]; not
/// positive where it may reach it.
#[inline]
fn beyond(low: f32, high: f32, steep: f32) -> f32 {
    0.9999 * ((low.max(-high) - 1.0) / steep)
}

#[inline]
fn sum(v: Vec3A) -> f32 {
    v.x + v.y + v.z
}

/// A plane n·p = c through the middle of what lies between two heights along a unit n, scaled by its half thickness
/// so that all of it surely lies within |n·p − c| ≤ 1; and at least |n| [1/m].
#[inline]
fn slab(n: Vec3A, low: f32, high: f32, view: &View) -> Option<(Vec4, f32)> {
    let per = 1.0 / ((0.5 * (high - low) + 4.0 * view.doubt) * 1.0001);
    let sound = per.is_finite() && n.is_finite();
    sound.then(|| ((n * per).extend(0.5 * (low + high) * per), per * 1.0001))
}

/// A plane along four faces: layers of cloth are told apart four by four.
#[derive(Clone, Copy)]
pub(super) struct Slab {
    plane: Vec4,
    steep: f32,
}

impl Slab {
    pub const NONE: Slab = Slab { plane: Vec4::ZERO, steep: 0.0 };

    #[inline]
    pub fn new(faces: &[Sketch; 4], view: &View) -> Slab {
        // Slots without a face repeat the first; they are never visited, but must not count.
        let first = faces[0];
        let faces = &faces.map(|face| if face.number == u32::MAX { first } else { face });
        let normal = |face: &Sketch| Vec3A::from_vec4(face.plane) / face.steep;
        let first = normal(&first);
        let sum = faces[1..]
            .iter()
            .map(normal)
            .fold(first, |sum, n| if first.dot(n) < 0.0 { sum - n } else { sum + n });
        let n = sum.normalize_or_zero();
        let (low, high) = ends(faces, n);
        slab(n, low, high, view).map_or(Slab::NONE, |(plane, steep)| Slab { plane, steep })
    }

    /// How far all of four faces surely lie on one side [m]; not positive where they may reach it.
    #[inline]
    pub fn gap(&self, others: &[Sketch; 4]) -> f32 {
        let (low, high) = ends(others, Vec3A::from_vec4(self.plane));
        beyond(low - self.plane.w, high - self.plane.w, self.steep)
    }
}

/// The least and the largest height of four faces along n.
#[inline]
fn ends(faces: &[Sketch; 4], n: Vec3A) -> (f32, f32) {
    let [a, b, c, d] = faces.each_ref().map(|face| face.along(n));
    let (low, high) = (a.min(b).min(c.min(d)), a.max(b).max(c.max(d)));
    (low.min_element(), high.max_element())
}
