//! Polygons into triangles, the same way every time.

use super::{Obj, Polygons};
use glam::{DVec2, DVec3};

/// Most corners a polygon may have: cutting ears costs the square of it.
pub const MAX_CORNERS: usize = 1024;

/// Triangles cut from polygons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Triangles {
    /// Vertices of each triangle, wound as the polygon was; none of them twice.
    pub faces: Vec<[u32; 3]>,
    /// Texture coordinates of each triangle's corners; empty when the mesh has none.
    pub texcoords: Vec<[u32; 3]>,
    /// The polygon each triangle was cut from, in increasing order.
    pub polygons: Vec<u32>,
    /// Polygons that cross themselves or have no area: cut, but not meaningfully.
    pub doubtful: Vec<u32>,
}

impl Obj {
    /// Cuts every polygon into triangles: by a fan from its first corner where that is valid, else by
    /// cutting ears in the polygon's plane. Depends on nothing but the mesh.
    pub fn triangulate(&self) -> Triangles {
        triangulate(&self.polygons, &self.positions)
    }
}

fn triangulate(polygons: &Polygons, positions: &[DVec3]) -> Triangles {
    let mut out = Triangles::default();
    let mut points = Vec::new();
    let mut cuts = Vec::new();
    for (p, vertices) in polygons.iter().enumerate() {
        points.clear();
        points.extend(vertices.iter().map(|&v| positions.get(v as usize).copied().unwrap_or(DVec3::ZERO)));
        cuts.clear();
        if !cut(&points, &mut cuts) {
            out.doubtful.push(p as u32);
        }
        let texcoords = polygons.texcoords(p);
        for c in &cuts {
            let face = c.map(|i| vertices[i]);
            if face[0] == face[1] || face[1] == face[2] || face[2] == face[0] {
                continue;
            }
            out.faces.push(face);
            out.polygons.push(p as u32);
            if !texcoords.is_empty() {
                out.texcoords.push(c.map(|i| texcoords[i]));
            }
        }
    }
    out
}

/// Cuts one polygon; false if it has no area or no valid cut was found.
pub(crate) fn cut(points: &[DVec3], cuts: &mut Vec<[usize; 3]>) -> bool {
    let n = points.len();
    let fan = |cuts: &mut Vec<[usize; 3]>| cuts.extend((2..n).map(|i| [0, i - 1, i]));
    let Some(flat) = project(points) else {
        fan(cuts);
        return false;
    };
    if n == 3 || (2..n).all(|i| area(flat[0], flat[i - 1], flat[i]) > 0.0) && winds_once(&flat) {
        fan(cuts);
        return true;
    }
    cut_ears(&flat, cuts)
}

/// Twice the signed area of a triangle.
fn area(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    (b - a).perp_dot(c - a)
}

/// The polygon seen along its normal, counter-clockwise. Drops a coordinate instead of turning: exact.
fn project(points: &[DVec3]) -> Option<Vec<DVec2>> {
    let origin = points[0];
    let normal = (1..points.len())
        .map(|i| (points[i] - origin).cross(points[(i + 1) % points.len()] - origin))
        .fold(DVec3::ZERO, |sum, c| sum + c);
    let size = normal.abs();
    if size.max_element() <= 0.0 || !size.max_element().is_finite() {
        return None;
    }
    let flat = |p: &DVec3| {
        if size.z >= size.x && size.z >= size.y {
            DVec2::new(p.x, p.y) * DVec2::new(normal.z.signum(), 1.0)
        } else if size.y >= size.x {
            DVec2::new(p.z, p.x) * DVec2::new(normal.y.signum(), 1.0)
        } else {
            DVec2::new(p.y, p.z) * DVec2::new(normal.x.signum(), 1.0)
        }
    };
    Some(points.iter().map(flat).collect())
}

/// Whether the fan's triangles lie side by side instead of going round twice.
fn winds_once(flat: &[DVec2]) -> bool {
    let first = flat[1] - flat[0];
    let mut upper = true;
    for p in &flat[2..] {
        let above = first.perp_dot(*p - flat[0]) > 0.0;
        if above && !upper {
            return false;
        }
        upper = above;
    }
    true
}

/// Cuts triangles whose third side lies inside the polygon, walking round it.
fn cut_ears(flat: &[DVec2], cuts: &mut Vec<[usize; 3]>) -> bool {
    let mut ring: Vec<usize> = (0..flat.len()).collect();
    let mut at = 0;
    let mut refused = 0;
    while ring.len() > 3 {
        let n = ring.len();
        let (a, b, c) = (ring[(at + n - 1) % n], ring[at % n], ring[(at + 1) % n]);
        if refused >= n {
            // Not a simple polygon: no cut is better than another, and searching on would cost n³.
            cuts.extend((2..n).map(|i| [ring[0], ring[i - 1], ring[i]]));
            return false;
        }
        if is_ear(flat, &ring, [a, b, c]) {
            cuts.push([a, b, c]);
            ring.remove(at % n);
            // Stepping over the next corner spreads the cuts instead of making a fan of slivers.
            at = if at >= ring.len() { 0 } else { at + 1 };
            refused = 0;
        } else {
            at = (at + 1) % n;
            refused += 1;
        }
        at %= ring.len().max(1);
    }
    cuts.push([ring[0], ring[1], ring[2]]);
    area(flat[ring[0]], flat[ring[1]], flat[ring[2]]) >= 0.0
}

fn is_ear(flat: &[DVec2], ring: &[usize], [a, b, c]: [usize; 3]) -> bool {
    let (pa, pb, pc) = (flat[a], flat[b], flat[c]);
    if area(pa, pb, pc) <= 0.0 {
        return false;
    }
    ring.iter().filter(|&&i| i != a && i != b && i != c).all(|&i| {
        let p = flat[i];
        let touches = p == pa || p == pb || p == pc;
        touches || area(pa, pb, p) < 0.0 || area(pb, pc, p) < 0.0 || area(pc, pa, p) < 0.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_flat(points: &[[f64; 2]]) -> (Vec<[usize; 3]>, bool) {
        // A slanted plane, so that the projection has something to do.
        let points: Vec<DVec3> = points.iter().map(|p| DVec3::new(p[0], 0.3 * p[0] + p[1], p[1])).collect();
        let mut cuts = Vec::new();
        let good = cut(&points, &mut cuts);
        (cuts, good)
    }

    fn total(points: &[[f64; 2]], cuts: &[[usize; 3]]) -> (f64, f64) {
        let p: Vec<DVec2> = points.iter().map(|&p| DVec2::from(p)).collect();
        let areas: Vec<f64> = cuts.iter().map(|c| 0.5 * area(p[c[0]], p[c[1]], p[c[2]])).collect();
        (areas.iter().sum(), areas.iter().map(|a| a.abs()).sum())
    }

    #[test]
    fn convex_polygons_become_fans() {
        assert_eq!(cut_flat(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]).0, [[0, 1, 2], [0, 2, 3]]);
        // the same quad wound the other way keeps its winding
        let (cuts, good) = cut_flat(&[[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]);
        assert!(good);
        assert_eq!(cuts, [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn concave_polygons_keep_their_area() {
        let arrow = [[0.0, 0.0], [2.0, -1.0], [1.0, 0.0], [2.0, 1.0]];
        let star: Vec<[f64; 2]> = (0..10)
            .map(|i| {
                let (s, c) = libm::sincos(f64::from(i) * std::f64::consts::TAU / 10.0);
                let r = if i % 2 == 0 { 1.0 } else { 0.3 };
                [r * c, r * s]
            })
            .collect();
        let comb: Vec<[f64; 2]> = (0..20)
            .map(|i| [f64::from(i), if i % 2 == 0 { 1.0 } else { 0.1 }])
            .chain([[19.0, 0.0], [0.0, 0.0]])
            .rev()
            .collect();
        for polygon in [arrow.to_vec(), star, comb] {
            let (cuts, good) = cut_flat(&polygon);
            assert!(good, "{polygon:?}");
            assert_eq!(cuts.len(), polygon.len() - 2);
            let (signed, absolute) = total(&polygon, &cuts);
            assert!((signed.abs() - absolute).abs() < 1e-12, "overlap in {polygon:?}");
            let shoelace: f64 = (0..polygon.len())
                .map(|i| {
                    let (a, b) = (polygon[i], polygon[(i + 1) % polygon.len()]);
                    0.5 * (a[0] * b[1] - a[1] * b[0])
                })
                .sum();
            assert!((shoelace - signed).abs() < 1e-12);
        }
    }

    #[test]
    fn corners_in_line_and_polygons_without_area() {
        // the middle of the first side lies on it: a fan from 0 would have a triangle without area
        let (cuts, good) = cut_flat(&[[0.0, 0.0], [0.5, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        assert!(good);
        assert_eq!(cuts.len(), 3);
        let (_, good) = cut_flat(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]);
        assert!(!good);
        let (cuts, good) = cut_flat(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.5]]);
        assert!(!good, "a bow tie is doubtful");
        assert_eq!(cuts.len(), 2);
    }

    #[test]
    fn the_largest_polygon_is_fast() {
        let n = MAX_CORNERS;
        let spiral: Vec<[f64; 2]> = (0..n)
            .map(|i| {
                let (side, t) = if i < n / 2 { (1.0, i) } else { (0.9, n - 1 - i) };
                let angle = t as f64 * 0.05;
                [side * angle * libm::cos(angle), side * angle * libm::sin(angle)]
            })
            .collect();
        let (cuts, _) = cut_flat(&spiral);
        assert_eq!(cuts.len(), n - 2);
    }
}
