//! All triangles of a scene in one bounding-volume tree, with smooth normals and ray queries.

use crate::camera::{Bounds, drawable};
use crate::scene::{Look, Surface};
use glam::Vec3;
use parry3d::bounding_volume::Aabb;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhNode, TraversalAction};
use parry3d::query::Ray;

/// Edges of bodies sharper than this stay sharp: cos 50°.
const CREASE: f32 = 0.643;

/// A triangle as rays want it.
#[derive(Clone, Copy)]
struct Triangle {
    a: Vec3,
    ab: Vec3,
    ac: Vec3,
}

/// Which triangle of which surface.
#[derive(Clone, Copy)]
pub(crate) struct Face {
    pub(crate) surface: usize,
    pub(crate) index: usize,
}

/// The scene's triangles, ready for rays.
pub(crate) struct Geometry {
    tree: Bvh,
    triangles: Vec<Triangle>,
    faces: Vec<Face>,
    /// Vertices of each triangle, numbered through all surfaces.
    vertices: Vec<[u32; 3]>,
    vertex_count: u32,
    /// Which surfaces have sharp edges.
    creased: Vec<bool>,
    /// Smooth unit normals of each triangle's corners, on its front side.
    normals: Vec<[Vec3; 3]>,
    /// Box around everything that is drawn.
    pub(crate) bounds: Bounds,
    /// Distance that clears rounding at this scene's size [m].
    pub(crate) epsilon: f32,
    /// Triangles that could not be drawn.
    pub(crate) skipped: usize,
}

/// Where a ray meets a triangle.
#[derive(Clone, Copy)]
pub(crate) struct Hit {
    /// Index into the scene's drawable triangles.
    pub(crate) triangle: usize,
    /// Distance along the ray [m].
    pub(crate) t: f32,
    /// Barycentric weights of the corners.
    pub(crate) weights: [f32; 3],
}

impl Geometry {
    pub(crate) fn new(surfaces: &[Surface]) -> Geometry {
        let mut geometry = Geometry {
            tree: Bvh::new(),
            triangles: Vec::new(),
            faces: Vec::new(),
            vertices: Vec::new(),
            vertex_count: 0,
            creased: Vec::new(),
            normals: Vec::new(),
            bounds: Bounds::EMPTY,
            epsilon: 1e-6,
            skipped: 0,
        };
        for (index, surface) in surfaces.iter().enumerate() {
            geometry.add(index, surface);
        }
        if !geometry.bounds.is_empty() {
            let reach = geometry.bounds.min.abs().max(geometry.bounds.max.abs()).max_element();
            geometry.epsilon = (2e-5 * geometry.bounds.diagonal()).max(4e-7 * reach).max(1e-9);
        }
        geometry.tree = geometry.build_tree();
        geometry
    }

    fn add(&mut self, index: usize, surface: &Surface) {
        let first = self.triangles.len();
        let mut corners = Vec::new();
        for (face, ids) in surface.triangles.iter().enumerate() {
            let Some(triangle) = drawable_triangle(surface.positions, *ids) else {
                self.skipped += 1;
                continue;
            };
            self.triangles.push(triangle);
            self.faces.push(Face { surface: index, index: face });
            self.vertices.push(ids.map(|i| i.wrapping_add(self.vertex_count)));
            corners.push(ids.map(|i| i as usize));
            for i in ids {
                self.bounds = self.bounds.include(surface.positions[*i as usize]);
            }
        }
        self.vertex_count = self.vertex_count.wrapping_add(surface.positions.len() as u32);
        let creased = matches!(surface.look, Look::Body { .. });
        self.creased.push(creased);
        let crease = if creased { CREASE } else { -1.0 };
        let own = &self.triangles[first..];
        let mut normals = smooth_normals(own, &corners, surface.positions.len(), crease);
        if let Some(given) = surface.normals {
            for (normal, id) in normals.as_flattened_mut().iter_mut().zip(corners.as_flattened()) {
                let unit = given.get(*id).and_then(|n| n.try_normalize());
                *normal = unit.unwrap_or(*normal);
            }
        }
        self.normals.extend(normals);
    }

    /// Boxes are padded: it closes the cracks that rounding opens between neighbours, and gives the boxes
    /// of flat cloth a volume, without which parry's splitting cost is zero everywhere.
    fn build_tree(&self) -> Bvh {
        let pad = Vec3::splat(self.epsilon);
        let boxes: Vec<Aabb> = self
            .triangles
            .iter()
            .map(|t| {
                let (b, c) = (t.a + t.ab, t.a + t.ac);
                Aabb::new(t.a.min(b).min(c) - pad, t.a.max(b).max(c) + pad)
            })
            .collect();
        Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes)
    }

    /// Number of triangles in the picture.
    pub(crate) fn len(&self) -> usize {
        self.triangles.len()
    }

    pub(crate) fn face(&self, hit: &Hit) -> Face {
        self.faces[hit.triangle]
    }

    /// Unit normal of the hit triangle itself, on its front side.
    pub(crate) fn flat_normal(&self, hit: &Hit) -> Vec3 {
        self.triangles[hit.triangle].cross().normalize()
    }

    /// Interpolated unit normal at the hit, on the front side.
    pub(crate) fn smooth_normal(&self, hit: &Hit) -> Vec3 {
        let [a, b, c] = self.normals[hit.triangle];
        let [u, v, w] = hit.weights;
        (a * u + b * v + c * w).try_normalize().unwrap_or_else(|| self.flat_normal(hit))
    }

    /// Corner positions of the hit triangle.
    pub(crate) fn corners(&self, hit: &Hit) -> [Vec3; 3] {
        let t = &self.triangles[hit.triangle];
        [t.a, t.a + t.ab, t.a + t.ac]
    }

    /// Barycentric change (of the second and third corner) for a step `d` in the hit triangle's plane.
    pub(crate) fn weight_change(&self, hit: &Hit, d: Vec3) -> (f32, f32) {
        let t = &self.triangles[hit.triangle];
        let n = t.cross();
        let scale = 1.0 / n.length_squared();
        (n.dot(d.cross(t.ac)) * scale, n.dot(t.ab.cross(d)) * scale)
    }

    /// How far the smooth surface bulges over the flat triangle at `p`, on the given side (±1): shadow
    /// rays start there so that the facets of a coarse mesh do not shadow each other
    /// (J. Hanika, "Hacking the Shadow Terminator", Ray Tracing Gems II, 2021).
    pub(crate) fn bulge(&self, hit: &Hit, p: Vec3, side: f32) -> Vec3 {
        let corners = self.corners(hit);
        let normals = &self.normals[hit.triangle];
        let mut lift = Vec3::ZERO;
        for i in 0..3 {
            let n = normals[i] * side;
            lift += n * (hit.weights[i] * (-n.dot(p - corners[i])).max(0.0));
        }
        lift
    }

    /// First triangle along a ray of unit direction, up to distance `max`.
    pub(crate) fn nearest(&self, origin: Vec3, direction: Vec3, max: f32) -> Option<Hit> {
        let ray = Ray::new(origin, direction);
        let test = |leaf: u32, best: f32| self.triangles[leaf as usize].distance(origin, direction, best);
        let (leaf, t) = self.tree.cast_ray(&ray, max, test)?;
        let weights = self.triangles[leaf as usize].weights(origin + direction * t);
        Some(Hit { triangle: leaf as usize, t, weights })
    }

    /// Whether anything stands in the way of a ray. A ray that starts on a triangle is not stopped by it nor
    /// by triangles that smoothly continue it from a shared vertex: at that distance the mesh is coarser than
    /// the surface it stands for, and the smooth normal already tells light from dark.
    pub(crate) fn occluded(&self, origin: Vec3, direction: Vec3, from: Option<&Hit>) -> bool {
        let slabs = Slabs::new(origin, direction);
        let mut blocked = false;
        self.tree.traverse(|node| {
            if !slabs.meet(node) {
                return TraversalAction::Prune;
            }
            let Some(leaf) = node.leaf_data() else { return TraversalAction::Continue };
            let leaf = leaf as usize;
            blocked = self.triangles[leaf].distance(origin, direction, f32::MAX).is_some()
                && !from.is_some_and(|own| self.continues(own.triangle, leaf));
            if blocked { TraversalAction::EarlyExit } else { TraversalAction::Continue }
        });
        blocked
    }
}

impl Geometry {
    /// Whether two triangles share a vertex and are less than a right angle apart, or on a body less than a
    /// crease.
    fn continues(&self, a: usize, b: usize) -> bool {
        let shared = self.vertices[a].iter().any(|vertex| self.vertices[b].contains(vertex));
        shared && {
            let (n, m) = (self.triangles[a].cross(), self.triangles[b].cross());
            let limit = if self.creased[self.faces[a].surface] { CREASE } else { 0.0 };
            n.dot(m) >= limit * (n.length_squared() * m.length_squared()).sqrt()
        }
    }
}

/// A ray prepared for box tests.
struct Slabs {
    origin: Vec3,
    inverse: Vec3,
}

impl Slabs {
    fn new(origin: Vec3, direction: Vec3) -> Slabs {
        // A zero component would give 0·∞; a tiny one gives the right answer.
        let inverse = direction.map(|d| 1.0 / if d.abs() < 1e-12 { 1e-12f32.copysign(d) } else { d });
        Slabs { origin, inverse }
    }

    fn meet(&self, node: &BvhNode) -> bool {
        let t0 = (node.mins() - self.origin) * self.inverse;
        let t1 = (node.maxs() - self.origin) * self.inverse;
        let near = t0.min(t1).max_element().max(0.0);
        let far = t0.max(t1).min_element();
        near <= far
    }
}

impl Triangle {
    fn cross(&self) -> Vec3 {
        self.ab.cross(self.ac)
    }

    /// Distance at which the ray meets the triangle from either side, if in (0, `max`)
    /// (Möller & Trumbore 1997). Seen from 1000 edge lengths away, rounding moves an edge by 1e-4 of its length:
    /// the tolerance closes the cracks this would open between neighbours.
    fn distance(&self, origin: Vec3, direction: Vec3, max: f32) -> Option<f32> {
        const SLACK: f32 = 2e-4;
        let p = direction.cross(self.ac);
        let determinant = self.ab.dot(p);
        let inverse = 1.0 / determinant;
        let s = origin - self.a;
        let v = s.dot(p) * inverse;
        let q = s.cross(self.ab);
        let w = direction.dot(q) * inverse;
        let t = self.ac.dot(q) * inverse;
        // An edge-on triangle makes these infinite or NaN, and every comparison below false.
        let inside = v >= -SLACK && w >= -SLACK && v + w <= 1.0 + SLACK && t > 0.0 && t < max;
        inside.then_some(t)
    }

    /// Barycentric weights of the point of the triangle nearest to `p`, for `p` in or close to its plane.
    fn weights(&self, p: Vec3) -> [f32; 3] {
        let n = self.cross();
        let scale = 1.0 / n.length_squared();
        let d = p - self.a;
        let v = (n.dot(d.cross(self.ac)) * scale).clamp(0.0, 1.0);
        let w = (n.dot(self.ab.cross(d)) * scale).clamp(0.0, 1.0 - v);
        [1.0 - v - w, v, w]
    }
}

fn drawable_triangle(positions: &[Vec3], ids: [u32; 3]) -> Option<Triangle> {
    let get = |i: u32| positions.get(i as usize).copied().filter(|p| drawable(*p));
    let (a, b, c) = (get(ids[0])?, get(ids[1])?, get(ids[2])?);
    let triangle = Triangle { a, ab: b - a, ac: c - a };
    // Below this the normal is rounding noise; in metres it is far smaller than any thread.
    let area2 = triangle.cross().length_squared();
    let longest = triangle.ab.length_squared().max(triangle.ac.length_squared());
    (area2 > 1e-30 && area2 > 1e-12 * longest * longest).then_some(triangle)
}

/// Corner normals: the neighbours' normals weighted by their angle at the corner, which does not depend on
/// how the surface happens to be triangulated. Neighbours across a crease are left out.
fn smooth_normals(
    triangles: &[Triangle],
    corners: &[[usize; 3]],
    vertices: usize,
    crease: f32,
) -> Vec<[Vec3; 3]> {
    let flat: Vec<Vec3> = triangles.iter().map(|t| t.cross().normalize()).collect();
    let (starts, incident) = incidence(corners, vertices);
    let corner_normal = |face: usize, vertex: usize| {
        let mut sum = Vec3::ZERO;
        for &(other, angle) in &incident[starts[vertex]..starts[vertex + 1]] {
            if flat[other].dot(flat[face]) >= crease {
                sum += flat[other] * angle_at(&triangles[other], angle);
            }
        }
        // Opposite neighbours (a fold pressed flat) can cancel; the face's own normal is then the truth.
        if sum.length_squared() > 1e-6 { sum.normalize() } else { flat[face] }
    };
    (0..corners.len()).map(|face| corners[face].map(|vertex| corner_normal(face, vertex))).collect()
}

/// For each vertex, the faces around it and which of their corners it is.
fn incidence(corners: &[[usize; 3]], vertices: usize) -> (Vec<usize>, Vec<(usize, usize)>) {
    let mut starts = vec![0; vertices + 1];
    for vertex in corners.iter().flatten() {
        starts[vertex + 1] += 1;
    }
    for i in 0..vertices {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut incident = vec![(0, 0); corners.len() * 3];
    for (face, ids) in corners.iter().enumerate() {
        for (corner, vertex) in ids.iter().enumerate() {
            incident[next[*vertex]] = (face, corner);
            next[*vertex] += 1;
        }
    }
    (starts, incident)
}

/// Angle of a triangle at one of its corners [rad].
fn angle_at(t: &Triangle, corner: usize) -> f32 {
    let (u, v) = match corner {
        0 => (t.ab, t.ac),
        1 => (t.ac - t.ab, -t.ab),
        _ => (-t.ac, t.ab - t.ac),
    };
    libm::atan2f(u.cross(v).length(), u.dot(v))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::Colour;

    const BODY: Look = Look::Body { colour: Colour::WHITE };

    #[test]
    fn bad_triangles_are_skipped_and_counted() {
        let positions =
            [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(f32::NAN, 0.0, 0.0), Vec3::splat(1e20), Vec3::X * 2.0];
        let triangles = [[0, 1, 2], [0, 1, 3], [0, 1, 4], [0, 1, 5], [0, 1, 99], [1, 1, 2]];
        let g = Geometry::new(&[Surface::new(&positions, &triangles, BODY)]);
        assert_eq!((g.len(), g.skipped), (1, 5));
        assert!(g.nearest(Vec3::new(0.2, 0.2, 1.0), Vec3::NEG_Z, 10.0).is_some());
        assert!(g.occluded(Vec3::new(0.2, 0.2, 1.0), Vec3::NEG_Z, None));
        assert!(!g.occluded(Vec3::new(0.2, 0.2, 1.0), Vec3::Z, None));
    }

    #[test]
    fn an_empty_scene_stops_no_ray() {
        let g = Geometry::new(&[]);
        assert!(g.nearest(Vec3::ZERO, Vec3::X, 10.0).is_none());
        assert!(!g.occluded(Vec3::ZERO, Vec3::X, None));
    }

    #[test]
    fn tree_agrees_with_testing_every_triangle() {
        let hash = |i: u32, j: u32| crate::sample::hash01(i, j) * 2.0 - 1.0;
        let positions: Vec<Vec3> = (0..300).map(|i| Vec3::new(hash(i, 0), hash(i, 1), hash(i, 2))).collect();
        let triangles: Vec<[u32; 3]> = (0..100).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let g = Geometry::new(&[Surface::new(&positions, &triangles, BODY)]);
        for i in 0..500 {
            let origin = 2.0 * Vec3::new(hash(i, 3), hash(i, 4), hash(i, 5));
            let direction = Vec3::new(hash(i, 6), hash(i, 7), hash(i, 8)).normalize();
            let brute = g.triangles.iter().filter_map(|t| t.distance(origin, direction, 10.0));
            let brute = brute.fold(f32::INFINITY, f32::min);
            let tree = g.nearest(origin, direction, 10.0).map_or(f32::INFINITY, |hit| hit.t);
            assert_eq!(brute, tree);
            assert_eq!(brute.is_finite(), g.occluded(origin, direction, None));
        }
    }

    #[test]
    fn rays_aimed_at_edges_find_no_cracks() {
        let n = 60;
        let point = |i: u32, j: u32| {
            let (x, y) = (i as f32 / n as f32, j as f32 / n as f32);
            Vec3::new(x, y, 0.1 * libm::sinf(9.0 * x + 4.0 * y))
        };
        let positions: Vec<Vec3> = (0..=n).flat_map(|j| (0..=n).map(move |i| point(i, j))).collect();
        let id = |i: u32, j: u32| j * (n + 1) + i;
        let quads = (0..n).flat_map(|j| (0..n).map(move |i| (i, j)));
        let triangles: Vec<[u32; 3]> = quads
            .flat_map(|(i, j)| {
                let [a, b, c, d] = [id(i, j), id(i + 1, j), id(i + 1, j + 1), id(i, j + 1)];
                [[a, b, c], [a, c, d]]
            })
            .collect();
        let g = Geometry::new(&[Surface::new(&positions, &triangles, BODY)]);
        let eye = Vec3::new(0.3, 0.7, 9.0);
        for (k, t) in triangles.iter().enumerate() {
            // The diagonal and the upper edge have a triangle on either side of them.
            let (a, c) = (positions[t[0] as usize], positions[t[2] as usize]);
            for step in 0..20 {
                let aim = a.lerp(c, crate::sample::hash01(k as u32, step).clamp(0.01, 0.99));
                let border = aim.x < 0.01 || aim.x > 0.99 || aim.y < 0.01 || aim.y > 0.99;
                let direction = (aim - eye).normalize();
                assert!(border || g.nearest(eye, direction, 100.0).is_some(), "a crack at {aim}");
            }
        }
    }

    #[test]
    fn given_normals_are_used_where_they_are_normals() {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE];
        let triangles = [[0, 1, 2], [1, 3, 2]];
        let given = [Vec3::new(3.0, 0.0, 4.0), Vec3::ZERO, Vec3::NAN];
        let plain = Geometry::new(&[Surface::new(&positions, &triangles, BODY)]);
        let surface = Surface { normals: Some(&given), ..Surface::new(&positions, &triangles, BODY) };
        let g = Geometry::new(&[surface]);
        assert_eq!(g.normals[0][0], Vec3::new(0.6, 0.0, 0.8));
        assert_eq!((g.normals[0][1], g.normals[0][2]), (plain.normals[0][1], plain.normals[0][2]));
        assert_eq!(g.normals[1], plain.normals[1], "missing entries too");
    }

    #[test]
    fn bodies_keep_sharp_edges_and_cloth_is_smooth() {
        // Two faces of a roof with a right angle along the X axis.
        let positions = [Vec3::ZERO, Vec3::X, Vec3::new(0.5, -1.0, 1.0), Vec3::new(0.5, -1.0, -1.0)];
        let triangles = [[0, 2, 1], [0, 1, 3]];
        let cloth =
            Look::Cloth { front: Colour::WHITE, back: Colour::WHITE, pattern: crate::scene::Pattern::Plain };
        for (look, across) in [(BODY, 0.0), (cloth, 1.0)] {
            let g = Geometry::new(&[Surface::new(&positions, &triangles, look)]);
            let agreement = g.normals[0][0].dot(g.normals[1][0]);
            assert!((agreement - across).abs() < 1e-5, "{agreement}");
        }
    }
}
