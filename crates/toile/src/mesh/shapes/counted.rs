//! Irregular shapes of exactly as many faces as a paper counts and draws no mesh of.
//!
//! Rows of points, as many in each as its length asks for, scattered a little and triangulated by Delaunay. How many faces
//! that gives follows from Euler's formula alone: 2 inner + border − 2 for a sheet, 2 inner + border for a tube.

use super::{
    DVec2, DVec3, DelaunayTriangulation, Flat, PI, Pattern, Point2, Shape, ShapeError, Triangulation,
    check_faces, check_length, random, select, smallest_first, tick,
};

/// How far points are scattered, in parts of their distance. More would leave triangles with angles below 20°.
const SCATTER: f64 = 0.2;

/// Fewest faces of these shapes: a few rows of a few points.
const FEWEST: usize = 64;

/// A rectangle in y = 0, from the origin to (width, 0, height) [m], of exactly `faces` irregular triangles. An odd number
/// takes one more point on one side.
///
/// B14 drops a sheet of 961 triangles on a sphere; by its way of counting (E29) that is the number before any is split.
/// Groups: `border`, `corners`.
pub fn sheet_of(width: f64, height: f64, faces: usize, seed: u64) -> Result<Shape, ShapeError> {
    check_length("width [m]", width)?;
    check_length("height [m]", height)?;
    check_range(faces)?;
    let edge = even_edge(width * height, faces);
    let cells = |length: f64| ((length / edge).round() as usize).max(1);
    let (nx, ny) = (cells(width), cells(height));
    // The far side takes the odd point.
    let odd = (faces + 2 * (nx + ny)) % 2;
    let border = 2 * (nx + ny) + odd;
    let inner = count_inner(faces + 2, border)?;
    let mut points: Vec<DVec2> = (0..=nx).map(|i| DVec2::new(tick(width, i, nx), 0.0)).collect();
    let rows = (height / (edge * 0.75_f64.sqrt())).round().max(2.0) as usize;
    // Every other row is shifted by half a cell, and has one point less.
    let weights: Vec<f64> = (1..rows).map(|row| nx as f64 - 0.9 * ((row + 1) % 2) as f64).collect();
    for (row, count) in (1..rows).zip(shares(inner, &weights)) {
        let [shift, cell] = if row % 2 == 0 {
            [1.0, width / (count as f64 + 1.0)]
        } else {
            [0.5, width / (count as f64).max(1.0)]
        };
        let at = |i: usize| DVec2::new(cell * (i as f64 + shift), tick(height, row, rows));
        points.extend((0..count).map(|i| at(i) + scattered(seed, row, i, edge)));
    }
    for j in 1..ny {
        points.extend([DVec2::new(0.0, tick(height, j, ny)), DVec2::new(width, tick(height, j, ny))]);
    }
    points.extend((0..=nx + odd).map(|i| DVec2::new(tick(width, i, nx + odd), height)));
    let mut flat = Flat { points, faces: Vec::new() };
    flat.retriangulate(Pattern::Delaunay { seed })?;
    check_made(flat.faces.len(), faces)?;
    let side = |p: DVec2| [p.x == 0.0 || p.x == width, p.y == 0.0 || p.y == height];
    let corners = select(&flat.points, |p| side(p) == [true, true]);
    let border = select(&flat.points, |p| side(p) != [false, false]);
    Ok(flat.lie_down(vec![("corners", corners), ("border", border)]))
}

/// A tube or truncated cone around the Y axis as [`super::tube`], of exactly `faces` irregular triangles, outward.
///
/// The rest triangles are parts of the surface unrolled into the plane, exactly: its warp (u) follows the generator at x < 0,
/// z = 0. They belong to corners of faces, so there is no seam where the ends of the plane meet, only a change of
/// grain, as in a skirt cut in one piece. Being chords of the cone, the triangles start shorter around than at rest: by
/// (π/n)²/6 with n of them around, 0.2 % with thirty.
///
/// B14's dress (G-9) is `tube_of(0.30, 0.16, 0.9, 1498, seed)`. Groups: `lower`, `upper`.
pub fn tube_of(
    radius_bottom: f64,
    radius_top: f64,
    height: f64,
    faces: usize,
    seed: u64,
) -> Result<Shape, ShapeError> {
    check_length("radius_bottom [m]", radius_bottom)?;
    check_length("radius_top [m]", radius_top)?;
    check_length("height [m]", height)?;
    check_range(faces)?;
    let cone = Cone::new(radius_bottom, radius_top, height);
    let edge = even_edge(PI * (radius_bottom + radius_top) * cone.slant, faces);
    let ring = |radius: f64| ((2.0 * PI * radius / edge).round() as usize).max(3);
    let (mut lower, upper) = (ring(radius_bottom), ring(radius_top));
    lower += (faces + lower + upper) % 2;
    let inner = count_inner(faces, lower + upper)?;
    let rows = (cone.slant / (edge * 0.75_f64.sqrt())).round().max(2.0) as usize;
    let girths: Vec<f64> = (1..rows).map(|row| cone.radius(tick(cone.slant, row, rows))).collect();
    let mut counts = vec![lower];
    counts.extend(shares(inner, &girths));
    counts.push(upper);
    // Points by their turn around [rad] and their way up the generator [m].
    let mut points: Vec<DVec2> = Vec::with_capacity(inner + lower + upper);
    for (row, &count) in counts.iter().enumerate() {
        let s = tick(cone.slant, row, rows);
        for i in 0..count {
            let turn = 2.0 * PI * (i as f64 + 0.5 * (row % 2) as f64) / count as f64;
            let moved = if row == 0 || row == rows { DVec2::ZERO } else { scattered(seed, row, i, edge) };
            points.push(DVec2::new(turn + moved.x / cone.radius(s), s + moved.y));
        }
    }
    let triangles = wrapped(&points.iter().map(|p| DVec2::new(p.x, cone.even(p.y))).collect::<Vec<_>>())?;
    check_made(triangles.len(), faces)?;
    Ok(cone.shape(&points, &triangles, lower as u32, upper as u32))
}

/// A truncated cone: from a radius [m] upwards along its generator [m].
struct Cone {
    bottom: f64,
    slope: f64,
    slant: f64,
    height: f64,
}

impl Cone {
    fn new(bottom: f64, top: f64, height: f64) -> Cone {
        let slant = (height * height + (top - bottom) * (top - bottom)).sqrt();
        Cone { bottom, slope: (top - bottom) / slant, slant, height }
    }

    fn radius(&self, s: f64) -> f64 {
        self.bottom + self.slope * s
    }

    /// The way up measured so that angles against the turn around are those on the surface: ∫ ds/r.
    fn even(&self, s: f64) -> f64 {
        let part = self.slope * s / self.bottom;
        let stretch = if part.abs() < 1e-9 { 1.0 } else { libm::log1p(part) / part };
        s / self.bottom * stretch
    }

    /// The surface unrolled; `turn` [rad] may be more than a whole one. Written so that a cylinder is no exception.
    fn unrolled(&self, turn: f64, s: f64) -> DVec2 {
        let angle = self.slope * (turn - PI);
        let (sin, half) = (libm::sin(angle), libm::sin(0.5 * angle));
        let [sinc, versed] = if self.slope == 0.0 {
            [turn - PI, 0.0]
        } else {
            [sin / self.slope, 2.0 * half * half / self.slope]
        };
        DVec2::new(s * libm::cos(angle) - self.bottom * versed, self.radius(s) * sinc)
    }

    fn placed(&self, turn: f64, s: f64) -> DVec3 {
        let (sin, cos) = libm::sincos(turn);
        let r = self.radius(s);
        DVec3::new(r * cos, self.height * (s / self.slant), r * sin)
    }

    fn shape(&self, points: &[DVec2], triangles: &[[(u32, i32); 3]], lower: u32, upper: u32) -> Shape {
        let last = points.len() as u32;
        let unrolled = |(i, wraps): (u32, i32)| {
            let p = points[i as usize];
            self.unrolled(p.x + 2.0 * PI * f64::from(wraps), p.y)
        };
        Shape {
            positions: points.iter().map(|p| self.placed(p.x, p.y)).collect(),
            faces: triangles.iter().map(|t| t.map(|corner| corner.0)).collect(),
            rest: triangles.iter().map(|t| t.map(unrolled)).collect(),
            groups: vec![("lower", (0..lower).collect()), ("upper", (last - upper..last).collect())],
        }
    }
}

/// Delaunay triangles of points that repeat with 2π in x; each corner with the number of times it goes around more than
/// the point itself. Found among three copies side by side.
fn wrapped(points: &[DVec2]) -> Result<Vec<[(u32, i32); 3]>, ShapeError> {
    let n = points.len() as u32;
    let copies = [-1, 0, 1].map(|copy| 2.0 * PI * f64::from(copy));
    let all = copies.iter().flat_map(|dx| points.iter().map(move |p| Point2::new(p.x + dx, p.y))).collect();
    let refused = || ShapeError {
        what: "points of the tube",
        value: f64::from(n),
        limit: "distinct and representable".into(),
        fix: "use fewer faces",
    };
    let cut = DelaunayTriangulation::<Point2<f64>>::bulk_load_stable(all).ok();
    let cut = cut.filter(|cut| cut.num_vertices() == 3 * points.len()).ok_or_else(refused)?;
    let mut triangles = Vec::new();
    for face in cut.inner_faces() {
        // Counter-clockwise in (turn, up) is inward on the cone.
        let [a, b, c] = face.vertices().map(|v| v.fix().index() as u32);
        let first = smallest_first([a % n, c % n, b % n]);
        let corners = [a, c, b];
        let turned = first.map(|i| corners.into_iter().find(|corner| corner % n == i).unwrap_or(a));
        // Of the copies of a triangle, the one whose first corner is in the middle.
        if turned[0] / n == 1 {
            triangles.push(turned.map(|corner| (corner % n, (corner / n) as i32 - 1)));
        }
    }
    triangles.sort_unstable();
    Ok(triangles)
}

/// The side of equilateral triangles of which so many have this area [m²].
fn even_edge(area: f64, faces: usize) -> f64 {
    (4.0 * area / (3.0_f64.sqrt() * faces as f64)).sqrt()
}

/// A total shared out by weights, to the last one.
fn shares(total: usize, weights: &[f64]) -> Vec<usize> {
    let whole: f64 = weights.iter().sum();
    let (mut sum, mut given) = (0.0, 0);
    let mut shares = Vec::with_capacity(weights.len());
    for weight in weights {
        sum += weight;
        let until = ((total as f64 * (sum / whole)).round() as usize).min(total);
        shares.push(until - given);
        given = until;
    }
    shares
}

/// A displacement within a disc [m].
fn scattered(seed: u64, row: usize, i: usize, edge: f64) -> DVec2 {
    let index = (row << 24) + i;
    let (sin, cos) = libm::sincos(2.0 * PI * random(seed, index, 1));
    SCATTER * edge * random(seed, index, 0).sqrt() * DVec2::new(cos, sin)
}

/// Points inside, from twice their number and those on the border.
fn count_inner(twice: usize, border: usize) -> Result<usize, ShapeError> {
    let refused = ShapeError {
        what: "points on the border",
        value: border as f64,
        limit: format!("fewer than {twice}"),
        fix: "use more faces or a shape less slender",
    };
    if border + 4 <= twice { Ok((twice - border) / 2) } else { Err(refused) }
}

fn check_range(faces: usize) -> Result<(), ShapeError> {
    super::check_count("faces", faces, FEWEST)?;
    check_faces(faces)
}

fn check_made(made: usize, faces: usize) -> Result<(), ShapeError> {
    let refused = ShapeError {
        what: "faces made",
        value: made as f64,
        limit: format!("{faces}"),
        fix: "use more faces or a shape less slender",
    };
    if made == faces { Ok(()) } else { Err(refused) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;

    fn smallest_angle(shape: &Shape) -> f64 {
        let mut least = f64::MAX;
        for t in &shape.rest {
            for k in 0..3 {
                let (p, q) = (t[(k + 1) % 3] - t[k], t[(k + 2) % 3] - t[k]);
                least = least.min(libm::atan2(p.perp_dot(q).abs(), p.dot(q)).to_degrees());
            }
        }
        least
    }

    fn mesh(shape: &Shape) -> Mesh {
        Mesh::new(shape.positions.len(), shape.faces.clone(), shape.rest.clone()).expect("sound")
    }

    #[test]
    fn the_dress_has_1498_triangles_and_unrolls_exactly() {
        let dress = tube_of(0.30, 0.16, 0.9, 1498, 14).expect("made");
        let mesh = mesh(&dress);
        assert_eq!(mesh.faces().len(), 1498);
        assert_eq!(mesh.vertices() as i64 - mesh.edges().len() as i64 + 1498, 0, "an open tube");
        assert_eq!(mesh.components().len(), 1);
        let border: Vec<u32> = dress.groups.iter().flat_map(|(_, group)| group.iter().copied()).collect();
        assert_eq!(mesh.border(), border);
        // Both faces of an edge agree about its length, also where the plane ends: one flat pattern.
        for edge in mesh.edges().iter().filter(|edge| !edge.is_border()) {
            let [a, b] = edge.faces.map(|f| mesh.rest_side(f as usize, mesh.apex(f, edge)));
            assert!((a - b).abs() < 1e-14, "{a} {b}");
        }
        // Its area is the cone's, but for what chords cut off at the two rings.
        let area = PI * 0.46 * (0.81_f64 + 0.14 * 0.14).sqrt();
        assert!((mesh.total_area() / area - 1.0).abs() < 1e-4, "{}", mesh.total_area() / area);
        // The triangles are chords: shorter than at rest, and not by much. The front is outside.
        for (face, t) in dress.faces.iter().zip(&dress.rest) {
            let x = face.map(|v| dress.positions[v as usize]);
            for k in 0..3 {
                let part = (x[(k + 1) % 3] - x[k]).length() / (t[(k + 1) % 3] - t[k]).length();
                assert!(part < 1.0 + 1e-12 && part > 0.99, "{part}");
            }
            let out = (x[0] + x[1] + x[2]) * DVec3::new(1.0, 0.0, 1.0);
            assert!((x[1] - x[0]).cross(x[2] - x[0]).dot(out) > 0.0);
        }
        assert!(smallest_angle(&dress) > 20.0, "{}", smallest_angle(&dress));
    }

    #[test]
    fn the_sheet_has_961_triangles() {
        let sheet = sheet_of(1.0, 1.0, 961, 14).expect("made");
        let mesh = mesh(&sheet);
        assert_eq!(mesh.faces().len(), 961);
        assert!((mesh.total_area() - 1.0).abs() < 1e-12);
        assert_eq!(sheet.group("corners").map(<[u32]>::len), Some(4));
        assert_eq!(sheet.group("border"), Some(&mesh.border()[..]));
        assert!(smallest_angle(&sheet) > 20.0, "{}", smallest_angle(&sheet));
    }

    #[test]
    fn any_number_of_faces_is_made_or_refused() {
        for faces in (64..400).chain([1000, 2001, 5000]) {
            for seed in 0..3 {
                assert_eq!(mesh(&sheet_of(0.7, 1.1, faces, seed).expect("made")).faces().len(), faces);
                for top in [0.2, 0.3, 0.45] {
                    let tube = tube_of(0.3, top, 0.8, faces, seed).expect("made");
                    assert_eq!(mesh(&tube).faces().len(), faces);
                }
            }
        }
        assert!(sheet_of(1.0, 1.0, 63, 0).is_err());
        assert!(sheet_of(1.0, f64::NAN, 961, 0).is_err());
        assert!(sheet_of(1.0, 1.0, usize::MAX, 0).is_err());
        assert!(tube_of(-1.0, 1.0, 1.0, 961, 0).is_err());
        for slender in [1e-6, 1e6] {
            // Whatever comes is what was asked for.
            let tube = tube_of(slender, 0.3, 1.0, 200, 0);
            assert!(tube.is_err() || tube.is_ok_and(|tube| tube.faces.len() == 200));
            let sheet = sheet_of(slender, 1.0, 200, 0);
            assert!(sheet.is_err() || sheet.is_ok_and(|sheet| sheet.faces.len() == 200));
        }
    }
}
