//! Generated cloth: sheets, strips, discs and tubes as plain arrays, in several triangulations.
//!
//! The pattern matters as much as the resolution: diagonals that all lean one way make a sheet stiffer along them,
//! union-jack diagonals lock in shear, and a result that changes with the pattern is a result about the mesh. Every
//! shape is therefore available in every pattern, from the same call.
//!
//! Y is up. Random patterns use counter-based numbers: each is splitmix64 of (seed, vertex index, lane), so a vertex
//! keeps its number whatever is generated before it, and the same arguments give the same bits everywhere.

mod counted;

pub use counted::{sheet_of, tube_of};

use std::f64::consts::PI;
use std::fmt;

use glam::{DVec2, DVec3};
use spade::{DelaunayTriangulation, Point2, Triangulation};

/// Most faces a generated shape may have; refused before anything is allocated.
pub const MAX_FACES: usize = 50_000_000;
/// Accepted lengths [m]: wide enough for any cloth, narrow enough that no product of two of them loses digits.
const LENGTHS: (f64, f64) = (1e-6, 1e6);
/// Largest [`Pattern::Jittered`] amount. Two vertices moving by 0.35 of a cell could flatten a half-square
/// (its altitude is 0.707 of a side), so 0.3 keeps every face open.
const MAX_JITTER: f64 = 0.3;
/// Jitter of the points handed to [`Pattern::Delaunay`]: enough to leave no lattice direction.
const DELAUNAY_JITTER: f64 = 0.3;

/// A generated surface: positions, faces, rest coordinates and named borders.
///
/// Sheets and discs lie in y = 0 with (u, v) = (x, z). Their faces turn counter-clockwise seen from +Y, hence
/// *clockwise* in the (u, v) plane: the sign of a rest area carries no meaning, its magnitude does.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Vertex positions [m].
    pub positions: Vec<DVec3>,
    /// Vertex indices of each face.
    pub faces: Vec<[u32; 3]>,
    /// Material coordinates [m] of each face corner; u runs along the warp, v along the weft.
    pub rest: Vec<[DVec2; 3]>,
    /// Named vertex sets, indices ascending.
    pub groups: Vec<(&'static str, Vec<u32>)>,
}

impl Shape {
    /// The vertices of a named border, ascending; `None` where the shape has no such border.
    pub fn group(&self, name: &str) -> Option<&[u32]> {
        self.groups.iter().find(|(n, _)| *n == name).map(|(_, vertices)| vertices.as_slice())
    }
}

/// How a shape is cut into triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// Square cells, every diagonal one way (from low x, low z to high x, high z).
    Structured,
    /// Square cells, every diagonal the other way.
    Flipped,
    /// Square cells, diagonals alternating like a union jack. For comparison only, never a default: cloth that
    /// hardly stretches cannot bend along the diagonals of such a mesh. Rolled up at 45°, κh = 0.2, it reaches 0.93
    /// of the curvature it should have at Yh²/D = 1e3 and 0.84 at 1e4 (`toile lab bending-patch`); on the axes
    /// it looks perfect.
    Alternating,
    /// Rows offset by half a cell, half triangles along the sides so that the border stays straight. The triangles
    /// are equilateral when a row is √3/2 as high as a cell is wide.
    Equilateral,
    /// [`Pattern::Structured`] with every interior vertex moved at random inside a disc.
    Jittered {
        /// Radius of the disc, as a fraction of the shorter cell side [-], 0 to 0.3.
        amount: f64,
        /// Seed of the random numbers.
        seed: u64,
    },
    /// Regular border points, scattered interior points, Delaunay faces: no preferred direction. The points come
    /// from [`Pattern::Equilateral`]: those of square cells would make union jacks here and there.
    Delaunay {
        /// Seed of the random numbers.
        seed: u64,
    },
}

/// Why a shape was refused.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeError {
    /// The argument at fault.
    pub what: &'static str,
    /// The value given.
    pub value: f64,
    /// What is accepted.
    pub limit: String,
    /// One way out.
    pub fix: &'static str,
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, must be {}: {}", self.what, self.value, self.limit, self.fix)
    }
}

impl std::error::Error for ShapeError {}

/// A rectangle in y = 0, from the origin to (width, 0, height) [m], of `nx` by `ny` cells.
///
/// Groups: `left` (x = 0), `right`, `bottom` (z = 0), `top` (z = height), `corners`, `border`.
pub fn sheet(width: f64, height: f64, nx: usize, ny: usize, pattern: Pattern) -> Result<Shape, ShapeError> {
    let flat = rectangle([("width [m]", width), ("height [m]", height)], [("nx", nx), ("ny", ny)], pattern)?;
    let on = |test: &dyn Fn(DVec2) -> bool| select(&flat.points, test);
    let (side_x, side_z) = (|p: DVec2| p.x == 0.0 || p.x == width, |p: DVec2| p.y == 0.0 || p.y == height);
    let groups = vec![
        ("left", on(&|p| p.x == 0.0)),
        ("right", on(&|p| p.x == width)),
        ("bottom", on(&|p| p.y == 0.0)),
        ("top", on(&|p| p.y == height)),
        ("corners", on(&|p| side_x(p) && side_z(p))),
        ("border", on(&|p| side_x(p) || side_z(p))),
    ];
    Ok(flat.lie_down(groups))
}

/// A [`sheet`] meant long (x) and narrow (z) [m], with `segments` cells along and as many across as make the cells
/// nearest to square (for [`Pattern::Equilateral`], the triangles nearest to equilateral).
pub fn strip(length: f64, width: f64, segments: usize, pattern: Pattern) -> Result<Shape, ShapeError> {
    check_length("length [m]", length)?;
    check_length("width [m]", width)?;
    check_count("segments", segments, 1)?;
    let row = if pattern == Pattern::Equilateral { 0.75_f64.sqrt() } else { 1.0 };
    let across = width * segments as f64 / (length * row);
    // The cast saturates, and `sheet` refuses what is too many.
    sheet(length, width, segments, (across.round() as usize).max(1), pattern)
}

/// A disc in y = 0 centred on the origin, of `rings` rings of near-equilateral triangles; ring k has 6 k vertices.
///
/// The rim is a polygon of 6 × `rings` vertices on the circle of that radius [m]. Rings have no diagonals to turn:
/// `Structured`, `Flipped`, `Alternating` and `Equilateral` give the same disc. Groups: `rim`, `centre`.
pub fn disc(radius: f64, rings: usize, pattern: Pattern) -> Result<Shape, ShapeError> {
    check_length("radius [m]", radius)?;
    check_count("rings", rings, 1)?;
    check_pattern(pattern)?;
    check_faces(6_usize.saturating_mul(rings).saturating_mul(rings))?;
    let mut flat = Flat { points: ring_points(radius, rings), faces: ring_faces(rings) };
    let rim = ring_start(rings);
    flat.scatter(pattern, radius / rings as f64, |i, _| i > 0 && i < rim);
    let (first, last) = (rim as u32, flat.points.len() as u32);
    flat.retriangulate(pattern)?;
    Ok(flat.lie_down(vec![("rim", (first..last).collect()), ("centre", vec![0])]))
}

/// A disc in y = 0 centred on the origin with exactly `vertices` vertices, `rim` of them on the circle of that radius
/// [m], Delaunay faces: 2 `vertices` − 2 − `rim` of them, and 3 `vertices` − 3 − `rim` edges.
///
/// K02's Table 4 gives such counts and no meshes. Inner points follow the sunflower's spiral, which spreads any number
/// evenly, and are numbered band by band so that neighbours are near in memory. Groups: `rim`.
pub fn disc_of(radius: f64, vertices: usize, rim: usize) -> Result<Shape, ShapeError> {
    check_length("radius [m]", radius)?;
    check_count("rim", rim, 3)?;
    check_count("vertices", vertices, rim)?;
    check_faces(vertices.saturating_mul(2))?;
    let turn = |part: f64| DVec2::from((libm::cos(2.0 * PI * part), libm::sin(2.0 * PI * part)));
    let inner = vertices - rim;
    // Within the polygon of the rim, half a spacing away from its sides.
    let reach = radius * (libm::cos(PI / rim as f64) - 0.5 * (PI / vertices as f64).sqrt());
    let golden = 0.5 * (3.0 - 5f64.sqrt());
    let spiral = |k: usize| {
        let r = reach * ((k as f64 + 0.5) / inner as f64).sqrt();
        r * turn((golden * k as f64).fract())
    };
    let band = 2.0 * radius / (vertices as f64).sqrt();
    let mut within: Vec<(i64, DVec2)> =
        (0..inner).map(spiral).map(|p| ((p.y / band).floor() as i64, p)).collect();
    within.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.x.total_cmp(&b.1.x)));
    let mut points: Vec<DVec2> = (0..rim).map(|k| radius * turn(k as f64 / rim as f64)).collect();
    points.extend(within.into_iter().map(|(_, p)| p));
    let mut flat = Flat { points, faces: Vec::new() };
    flat.retriangulate(Pattern::Delaunay { seed: 0 })?;
    Ok(flat.lie_down(vec![("rim", (0..rim as u32).collect())]))
}

/// A tube or truncated cone around the Y axis, from y = 0 (`radius_bottom`) to y = `height` (`radius_top`) [m], with
/// `around` cells around and `up` cells up, faces outward, the seam welded.
///
/// The rest triangles are the flat triangles of the shape itself, so it starts unstrained even as a cone; the warp
/// follows the generators (u up, v around) and each rest triangle is placed near its unrolled position.
/// Groups: `lower`, `upper`.
pub fn tube(
    radius_bottom: f64,
    radius_top: f64,
    height: f64,
    around: usize,
    up: usize,
    pattern: Pattern,
) -> Result<Shape, ShapeError> {
    check_length("radius_bottom [m]", radius_bottom)?;
    check_length("radius_top [m]", radius_top)?;
    check_length("height [m]", height)?;
    check_count("around", around, 3)?;
    // The unrolled rectangle: mean circumference by slant height.
    let girth = PI * (radius_bottom + radius_top);
    let taper = radius_top - radius_bottom;
    let slant = (height * height + taper * taper).sqrt();
    let mut flat = rectangle(
        [("mean girth [m]", girth), ("slant [m]", slant)],
        [("around", around), ("up", up)],
        pattern,
    )?;
    flat.weld_sides(girth);
    let (lower, upper) = (select(&flat.points, |p| p.y == 0.0), select(&flat.points, |p| p.y == slant));
    let roll = |p: DVec2| {
        let (sin, cos) = libm::sincos(2.0 * PI * p.x / girth);
        let t = p.y / slant;
        let r = radius_bottom * (1.0 - t) + radius_top * t;
        DVec3::new(r * cos, height * t, r * sin)
    };
    let positions: Vec<DVec3> = flat.points.iter().map(|&p| roll(p)).collect();
    let rest = flat
        .faces
        .iter()
        .map(|&face| flatten(face, &positions, &flat.points, girth, taper / height))
        .collect();
    Ok(Shape { positions, faces: flat.faces, rest, groups: vec![("lower", lower), ("upper", upper)] })
}

/// The triangle of three positions laid flat, u along the generator (slope = radial run per height), centred on its
/// unrolled place.
fn flatten(face: [u32; 3], positions: &[DVec3], unrolled: &[DVec2], girth: f64, slope: f64) -> [DVec2; 3] {
    let x = face.map(|i| positions[i as usize]);
    let flat = face.map(|i| unrolled[i as usize]);
    let centre = (x[0] + x[1] + x[2]) / 3.0;
    let outward = DVec3::new(centre.x, 0.0, centre.z).normalize_or_zero();
    let normal = (x[1] - x[0]).cross(x[2] - x[0]).normalize_or_zero();
    let generator = DVec3::Y + outward * slope;
    let u = (generator - normal * generator.dot(normal)).normalize_or_zero();
    let v = normal.cross(u);
    // Corners of the last column sit at x = 0 after the weld; bring them back next to the others.
    let far = flat.iter().any(|p| p.x > 0.5 * girth);
    let around = |p: DVec2| if far && p.x < 0.25 * girth { p.x + girth } else { p.x };
    let place =
        DVec2::new(flat.iter().map(|p| p.y).sum::<f64>(), flat.iter().map(|&p| around(p)).sum::<f64>()) / 3.0;
    x.map(|p| place + DVec2::new((p - centre).dot(u), (p - centre).dot(v)))
}

/// A triangulation of the plane: points (x, z) [m], faces counter-clockwise seen from +Y.
struct Flat {
    points: Vec<DVec2>,
    faces: Vec<[u32; 3]>,
}

impl Flat {
    /// Moves the vertices that `movable` names, if the pattern asks for it.
    fn scatter(&mut self, pattern: Pattern, edge: f64, movable: impl Fn(usize, DVec2) -> bool) {
        let (amount, seed) = match pattern {
            Pattern::Jittered { amount, seed } => (amount, seed),
            Pattern::Delaunay { seed } => (DELAUNAY_JITTER, seed),
            _ => return,
        };
        for (i, p) in self.points.iter_mut().enumerate() {
            if movable(i, *p) {
                let radius = amount * edge * random(seed, i, 0).sqrt();
                let (sin, cos) = libm::sincos(2.0 * PI * random(seed, i, 1));
                *p += radius * DVec2::new(cos, sin);
            }
        }
    }

    /// Replaces the faces by the Delaunay triangulation of the points, if the pattern asks for it.
    fn retriangulate(&mut self, pattern: Pattern) -> Result<(), ShapeError> {
        if !matches!(pattern, Pattern::Delaunay { .. }) {
            return Ok(());
        }
        let points = self.points.iter().map(|p| Point2::new(p.x, p.y)).collect();
        let cut = DelaunayTriangulation::<Point2<f64>>::bulk_load_stable(points);
        let cut = cut.ok().filter(|cut| cut.num_vertices() == self.points.len()).ok_or(ShapeError {
            what: "points of the Delaunay pattern",
            value: self.points.len() as f64,
            limit: "distinct and representable".into(),
            fix: "use fewer cells or another pattern",
        })?;
        // spade turns counter-clockwise in (x, z), which is clockwise seen from +Y.
        let turned = cut.inner_faces().map(|face| face.vertices().map(|v| v.fix().index() as u32));
        self.faces = turned.map(|[a, b, c]| smallest_first([a, c, b])).collect();
        self.faces.sort_unstable();
        Ok(())
    }

    /// Joins the vertices at x = girth to those at x = 0 of the same row.
    fn weld_sides(&mut self, girth: f64) {
        let mut twin = vec![0; self.points.len()];
        let mut kept: Vec<DVec2> = Vec::with_capacity(self.points.len());
        let mut seam: Vec<(u64, u32)> = Vec::new();
        for (i, p) in self.points.iter().enumerate().filter(|(_, p)| p.x != girth) {
            twin[i] = kept.len() as u32;
            if p.x == 0.0 {
                seam.push((p.y.to_bits(), twin[i]));
            }
            kept.push(*p);
        }
        seam.sort_unstable();
        for (i, p) in self.points.iter().enumerate().filter(|(_, p)| p.x == girth) {
            let row = seam.partition_point(|(bits, _)| *bits < p.y.to_bits());
            twin[i] = seam[row].1;
        }
        for face in &mut self.faces {
            *face = face.map(|i| twin[i as usize]);
        }
        self.points = kept;
    }

    /// Lays the triangulation in y = 0, material coordinates equal to (x, z).
    fn lie_down(self, groups: Vec<(&'static str, Vec<u32>)>) -> Shape {
        let rest = self.faces.iter().map(|face| face.map(|i| self.points[i as usize])).collect();
        let positions = self.points.iter().map(|p| DVec3::new(p.x, 0.0, p.y)).collect();
        Shape { positions, faces: self.faces, rest, groups }
    }
}

/// The rectangle [0, size.0] × [0, size.1] cut by a pattern; arguments come with their names for the errors.
fn rectangle(
    size: [(&'static str, f64); 2],
    cells: [(&'static str, usize); 2],
    pattern: Pattern,
) -> Result<Flat, ShapeError> {
    for (what, value) in size {
        check_length(what, value)?;
    }
    for (what, value) in cells {
        check_count(what, value, 1)?;
    }
    check_pattern(pattern)?;
    let ([(_, width), (_, height)], [(_, nx), (_, ny)]) = (size, cells);
    let offset = matches!(pattern, Pattern::Equilateral | Pattern::Delaunay { .. });
    let per_row = nx.saturating_mul(2).saturating_add(offset as usize);
    check_faces(per_row.saturating_mul(ny))?;
    let mut flat = match pattern {
        Pattern::Equilateral | Pattern::Delaunay { .. } => offset_rows(width, height, nx, ny),
        Pattern::Flipped => square_cells(width, height, nx, ny, |_, _| false),
        Pattern::Alternating => square_cells(width, height, nx, ny, |i, j| (i + j) % 2 == 0),
        _ => square_cells(width, height, nx, ny, |_, _| true),
    };
    let cell = (width / nx as f64).min(height / ny as f64);
    let inside = |_, p: DVec2| p.x != 0.0 && p.x != width && p.y != 0.0 && p.y != height;
    flat.scatter(pattern, cell, inside);
    flat.retriangulate(pattern)?;
    Ok(flat)
}

/// Square cells; `rising(i, j)` says whether the diagonal of a cell goes from its low to its high corner.
fn square_cells(
    width: f64,
    height: f64,
    nx: usize,
    ny: usize,
    rising: impl Fn(usize, usize) -> bool,
) -> Flat {
    let row = nx + 1;
    let mut flat =
        Flat { points: Vec::with_capacity(row * (ny + 1)), faces: Vec::with_capacity(2 * nx * ny) };
    for j in 0..=ny {
        flat.points.extend((0..=nx).map(|i| DVec2::new(tick(width, i, nx), tick(height, j, ny))));
    }
    for j in 0..ny {
        for i in 0..nx {
            let [a, b, c, d] =
                [j * row + i, j * row + i + 1, (j + 1) * row + i + 1, (j + 1) * row + i].map(|k| k as u32);
            let halves = if rising(i, j) { [[a, c, b], [a, d, c]] } else { [[a, d, b], [b, d, c]] };
            flat.faces.extend(halves);
        }
    }
    flat
}

/// Rows of `nx` cells, odd rows shifted by half a cell between two border vertices.
fn offset_rows(width: f64, height: f64, nx: usize, ny: usize) -> Flat {
    let mut flat = Flat { points: Vec::new(), faces: Vec::with_capacity((2 * nx + 1) * ny) };
    let mut starts = Vec::with_capacity(ny + 1);
    for j in 0..=ny {
        starts.push(flat.points.len() as u32);
        let z = tick(height, j, ny);
        // Odd rows in half cells: 0, 1, 3, …, 2 nx − 1, 2 nx.
        let halves =
            (0..=nx + j % 2).map(|i| if j % 2 == 0 { 2 * i } else { (2 * i).saturating_sub(1).min(2 * nx) });
        flat.points.extend(halves.map(|half| DVec2::new(tick(width, half, 2 * nx), z)));
    }
    for j in 0..ny {
        let odd_above = j % 2 == 0;
        let (even, odd) = if odd_above { (starts[j], starts[j + 1]) } else { (starts[j + 1], starts[j]) };
        for i in 0..=nx as u32 {
            let towards_even = [even + i, odd + i, odd + i + 1];
            flat.faces.push(if odd_above { towards_even } else { reverse(towards_even) });
            if i < nx as u32 {
                let towards_odd = [even + i, odd + i + 1, even + i + 1];
                flat.faces.push(if odd_above { towards_odd } else { reverse(towards_odd) });
            }
        }
    }
    flat
}

/// Index of the first vertex of ring k: 1 + 6 (1 + … + (k − 1)).
fn ring_start(k: usize) -> usize {
    if k == 0 { 0 } else { 1 + 3 * k * (k - 1) }
}

fn ring_points(radius: f64, rings: usize) -> Vec<DVec2> {
    let mut points = vec![DVec2::ZERO];
    for k in 1..=rings {
        let r = tick(radius, k, rings);
        points.extend((0..6 * k).map(|i| {
            let (sin, cos) = libm::sincos(2.0 * PI * i as f64 / (6 * k) as f64);
            r * DVec2::new(cos, sin)
        }));
    }
    points
}

/// Six sectors; in each, ring k offers k outer edges to the k − 1 inner edges of ring k − 1.
fn ring_faces(rings: usize) -> Vec<[u32; 3]> {
    let mut faces = Vec::with_capacity(6 * rings * rings);
    for k in 1..=rings {
        let outer = |i: usize| (ring_start(k) + i % (6 * k)) as u32;
        let inner = |i: usize| if k == 1 { 0 } else { (ring_start(k - 1) + i % (6 * (k - 1))) as u32 };
        for sector in 0..6 {
            let (o, n) = (sector * k, sector * (k - 1));
            for i in 0..k {
                faces.push([inner(n + i), outer(o + i + 1), outer(o + i)]);
                if i + 1 < k {
                    faces.push([inner(n + i), inner(n + i + 1), outer(o + i + 1)]);
                }
            }
        }
    }
    faces
}

/// The i-th of n equal divisions of [0, length]; exact at both ends, so that borders can be found by equality.
fn tick(length: f64, i: usize, n: usize) -> f64 {
    if i == n { length } else { length * (i as f64 / n as f64) }
}

fn reverse([a, b, c]: [u32; 3]) -> [u32; 3] {
    [a, c, b]
}

fn smallest_first(face: [u32; 3]) -> [u32; 3] {
    let [a, b, c] = face;
    if a < b && a < c {
        face
    } else if b < c {
        [b, c, a]
    } else {
        [c, a, b]
    }
}

fn select(points: &[DVec2], test: impl Fn(DVec2) -> bool) -> Vec<u32> {
    (0..points.len() as u32).filter(|&i| test(points[i as usize])).collect()
}

/// A number in [0, 1) that depends on nothing but its arguments.
fn random(seed: u64, index: usize, lane: u64) -> f64 {
    let bits = splitmix64(splitmix64(splitmix64(seed) ^ index as u64) ^ lane);
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

fn splitmix64(counter: u64) -> u64 {
    let mut z = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn check_length(what: &'static str, value: f64) -> Result<(), ShapeError> {
    let (least, most) = LENGTHS;
    if value >= least && value <= most {
        return Ok(());
    }
    Err(ShapeError {
        what,
        value,
        limit: format!("between {least:e} and {most:e} m"),
        fix: "give a finite, positive size in metres",
    })
}

fn check_count(what: &'static str, value: usize, least: usize) -> Result<(), ShapeError> {
    if value >= least {
        return Ok(());
    }
    Err(ShapeError {
        what,
        value: value as f64,
        limit: format!("at least {least}"),
        fix: "raise the resolution",
    })
}

fn check_faces(faces: usize) -> Result<(), ShapeError> {
    if faces <= MAX_FACES {
        return Ok(());
    }
    Err(ShapeError {
        what: "number of faces",
        value: faces as f64,
        limit: format!("at most {MAX_FACES}"),
        fix: "lower the resolution",
    })
}

fn check_pattern(pattern: Pattern) -> Result<(), ShapeError> {
    match pattern {
        Pattern::Jittered { amount, .. } if !(0.0..=MAX_JITTER).contains(&amount) => Err(ShapeError {
            what: "jitter amount",
            value: amount,
            limit: format!("between 0 and {MAX_JITTER}"),
            fix: "move the vertices less, or use the Delaunay pattern",
        }),
        _ => Ok(()),
    }
}
