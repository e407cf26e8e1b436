//! Curved point-normal triangles: a coarse mesh as a smooth surface, for display only (K02-11).
//!
//! A. Vlachos, J. Peters, C. Boyd, J. L. Mitchell, "Curved PN Triangles", Symposium on Interactive 3D Graphics 2001.
//! Over each triangle lies a cubic Bézier patch, made from nothing but its corners and their normals, and a quadratic
//! patch of normals for shading. Here the cubic is written as what it adds to the flat triangle: 3u²v d_ab + … + 6uvw d,
//! with d_ab = −((B − A)·N_a) N_a / 3 from their b₂₁₀ and d a quarter of the sum of the six, from their b₁₁₁. What is
//! flat then stays exactly so.
//!
//! Neighbours share the points of their edge, so no crack can open, and the vertices of the coarse mesh stay where they
//! are. No point moves farther from its place on the flat triangle than a third of the triangle's longest side.
//!
//! We differ at borders: there the curve of an edge depends on the border alone, and on where it has corners. So outlines
//! are smooth, and two panels with the same points along a seam keep the same curve, from corner to corner. Nothing here
//! knows of thickness or contact: what holds of the coarse mesh (no intersection, above all) need not hold of the curved
//! surface.

use crate::math::{DVec3, parallel};
use std::fmt;
use std::ops::{Add, Mul, Sub};

/// Parts that a side of a triangle can be split into, at most.
pub const MOST_SPLITS: u32 = 8;

/// A border whose faces make up a straight angle to within 45° is smooth there; from 75° on it has a corner, where its
/// edges end straight. Between the two [rad] it changes gradually: moving cloth must not jump. The angle is measured on
/// the surface, because folds bend a hem without giving it corners.
const BORDER_TURNS: [f64; 2] = [45.0 * DEGREE, 75.0 * DEGREE];

const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// Less than this of a normal is left where faces pressed flat cancel each other [rad]: rounding, not a direction.
const CANCELLED: f64 = 1e-6;

/// An edge: its ends in ascending order, and how many faces are there.
type Counted = ([u32; 2], u32);

/// Triangles split into n² each. The vertices of the coarse mesh come first and keep their numbers; then follow the n − 1
/// points of each edge, sorted by the edge's ends; then the points inside each face. Faces are grouped by coarse face.
#[derive(Clone, Debug)]
pub struct Subdivision {
    splits: usize,
    vertices: usize,
    corners: Vec<[u32; 3]>,
    edges: Vec<Counted>,
    faces: Vec<[u32; 3]>,
    sides: Vec<[u32; 3]>,
}

impl Subdivision {
    /// Splits every side of `faces` into `splits` parts; 1 changes nothing. Any triangles will do, also those that no
    /// cloth can have: an edge of three faces is one curve of all three.
    pub fn new(vertices: usize, faces: &[[u32; 3]], splits: u32) -> Result<Subdivision, SmoothError> {
        if !(1..=MOST_SPLITS).contains(&splits) {
            return Err(SmoothError::Splits { splits });
        }
        for (face, corners) in faces.iter().enumerate() {
            if let Some(&index) = corners.iter().find(|&&v| v as usize >= vertices) {
                return Err(SmoothError::Index { face, index, vertices });
            }
        }
        let n = splits as usize;
        let most = vertices + faces.len() * (3 * (n - 1) + inside(n));
        if u32::try_from(most).is_err() {
            return Err(SmoothError::TooLarge { faces: faces.len(), splits });
        }
        let (edges, sides) = connect(faces);
        let mut out =
            Subdivision { splits: n, vertices, corners: faces.to_vec(), edges, faces: Vec::new(), sides };
        out.faces = out.split();
        Ok(out)
    }

    /// Parts of each side.
    pub fn splits(&self) -> usize {
        self.splits
    }

    /// Number of vertices after splitting.
    pub fn vertices(&self) -> usize {
        self.first_inside() + self.corners.len() * inside(self.splits)
    }

    /// Triangles after splitting: those of coarse face f are n²f to n²(f + 1) − 1, wound as it is.
    pub fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// The coarse face that a triangle is part of.
    pub fn coarse_face(&self, face: usize) -> usize {
        face / (self.splits * self.splits)
    }

    /// A quantity of the coarse vertices on all vertices, linear in each face.
    pub fn interpolate<T>(&self, values: &[T]) -> Vec<T>
    where
        T: Copy + Add<Output = T> + Sub<Output = T> + Mul<f64, Output = T>,
    {
        let mut out = Vec::with_capacity(self.vertices());
        out.extend_from_slice(&values[..self.vertices]);
        for (ends, _) in &self.edges {
            let [a, b] = ends.map(|v| values[v as usize]);
            out.extend(self.along().map(|s| a + (b - a) * s));
        }
        for corners in &self.corners {
            let values = corners.map(|v| values[v as usize]);
            out.extend(interior(self.splits).map(|at| flat(&values, at, self.splits)));
        }
        out
    }

    /// A quantity of the coarse faces' corners, such as material coordinates, on the corners of all triangles: linear in
    /// each face, with whatever jumps it has between faces.
    pub fn interpolate_corners<T>(&self, values: &[[T; 3]]) -> Vec<[T; 3]>
    where
        T: Copy + Add<Output = T> + Sub<Output = T> + Mul<f64, Output = T>,
    {
        let cells = cells(self.splits);
        let split = |corners| cells.iter().map(move |cell| cell.map(|at| flat(corners, at, self.splits)));
        values.iter().flat_map(split).collect()
    }

    /// Where the points of an edge are, from its first end to its second.
    fn along(&self) -> impl Iterator<Item = f64> + use<> {
        let n = self.splits;
        (1..n).map(move |step| step as f64 / n as f64)
    }

    fn first_inside(&self) -> usize {
        self.vertices + self.edges.len() * (self.splits - 1)
    }

    fn split(&self) -> Vec<[u32; 3]> {
        let cells = cells(self.splits);
        let mut faces = Vec::with_capacity(self.corners.len() * cells.len());
        for face in 0..self.corners.len() {
            faces.extend(cells.iter().map(|cell| cell.map(|at| self.number(face, at))));
        }
        faces
    }

    /// The number of the vertex `j` steps from the first corner towards the second and `k` towards the third.
    fn number(&self, face: usize, [j, k]: [usize; 2]) -> u32 {
        let n = self.splits;
        let i = n - j - k;
        let corners = &self.corners[face];
        if let Some(corner) = [i, j, k].iter().position(|&steps| steps == n) {
            return corners[corner];
        }
        // Side s runs from corner s to corner s + 1.
        let on_side = if k == 0 {
            Some((0, j))
        } else if i == 0 {
            Some((1, k))
        } else if j == 0 {
            Some((2, i))
        } else {
            None
        };
        let number = match on_side {
            Some((side, step)) => {
                let edge = self.sides[face][side] as usize;
                let step = if self.edges[edge].0[0] == corners[side] { step } else { n - step };
                self.vertices + edge * (n - 1) + step - 1
            }
            // Rows of constant k, each one shorter than the one before.
            None => {
                let before: usize = (1..k).map(|row| n - 1 - row).sum();
                self.first_inside() + face * inside(n) + before + j - 1
            }
        };
        number as u32
    }
}

/// Points inside a split triangle.
fn inside(n: usize) -> usize {
    (n - 1) * n.saturating_sub(2) / 2
}

/// The points inside a split triangle, in the order of their numbers.
fn interior(n: usize) -> impl Iterator<Item = [usize; 2]> {
    (1..n).flat_map(move |k| (1..n - k).map(move |j| [j, k]))
}

/// The n² triangles of a split triangle.
fn cells(n: usize) -> Vec<[[usize; 2]; 3]> {
    let mut cells = Vec::with_capacity(n * n);
    for k in 0..n {
        for j in 0..n - k {
            cells.push([[j, k], [j + 1, k], [j, k + 1]]);
            if j + k + 2 <= n {
                cells.push([[j + 1, k], [j + 1, k + 1], [j, k + 1]]);
            }
        }
    }
    cells
}

/// Linear in the triangle. Written so that what is equal at the corners is the same everywhere, bit for bit.
fn flat<T>(&[a, b, c]: &[T; 3], [j, k]: [usize; 2], n: usize) -> T
where
    T: Copy + Add<Output = T> + Sub<Output = T> + Mul<f64, Output = T>,
{
    if j == n {
        b
    } else if k == n {
        c
    } else {
        a + (b - a) * (j as f64 / n as f64) + (c - a) * (k as f64 / n as f64)
    }
}

/// Edges, sorted, with their number of faces; and the edge of each side of each face.
fn connect(faces: &[[u32; 3]]) -> (Vec<Counted>, Vec<[u32; 3]>) {
    let mut all: Vec<([u32; 2], usize)> = Vec::with_capacity(3 * faces.len());
    for (f, face) in faces.iter().enumerate() {
        for s in 0..3 {
            let (a, b) = (face[s], face[(s + 1) % 3]);
            all.push(([a.min(b), a.max(b)], 3 * f + s));
        }
    }
    all.sort_unstable();
    let mut sides = vec![[0; 3]; faces.len()];
    let mut edges = Vec::with_capacity(all.len() / 2 + 1);
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        for (_, side) in group {
            sides[side / 3][side % 3] = edges.len() as u32;
        }
        edges.push((group[0].0, group.len() as u32));
    }
    (edges, sides)
}

/// A curved surface over a coarse mesh: made once for a mesh, asked for every frame.
#[derive(Clone, Debug)]
pub struct Smoother {
    subdivision: Subdivision,
    /// Where the corners round each vertex start in `round`.
    starts: Vec<u32>,
    /// Corners round each vertex, ascending; corner c of face f is 3f + c.
    round: Vec<u32>,
    /// Neighbours along the border of each vertex that has two.
    border: Vec<Option<[u32; 2]>>,
}

/// What [`Smoother::surface`] finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Smoothed {
    /// Positions of all vertices [m], those of the coarse mesh first.
    pub positions: Vec<DVec3>,
    /// Unit normals for shading, continuous across edges; zero where no face tells.
    pub normals: Vec<DVec3>,
}

/// The tangent of a border at a vertex, and how far its edges follow it: 0 at a corner.
#[derive(Clone, Copy, Default)]
struct Tangent {
    direction: DVec3,
    follows: f64,
}

impl Smoother {
    /// Prepares the faces of a mesh to be drawn with every side split into `splits` parts.
    pub fn new(vertices: usize, faces: &[[u32; 3]], splits: u32) -> Result<Smoother, SmoothError> {
        let subdivision = Subdivision::new(vertices, faces, splits)?;
        let mut starts = vec![0u32; vertices + 1];
        for v in faces.as_flattened() {
            starts[*v as usize + 1] += 1;
        }
        for v in 0..vertices {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut round = vec![0; 3 * faces.len()];
        for (corner, v) in faces.as_flattened().iter().enumerate() {
            round[next[*v as usize] as usize] = corner as u32;
            next[*v as usize] += 1;
        }
        let border = border_neighbours(vertices, &subdivision.edges);
        Ok(Smoother { subdivision, starts, round, border })
    }

    /// The split mesh, the same in every frame.
    pub fn subdivision(&self) -> &Subdivision {
        &self.subdivision
    }

    /// The curved surface over the coarse positions `x` [m]. Collapsed triangles are harmless; a position that is not
    /// finite spoils the faces round it, no others.
    pub fn surface(&self, x: &[DVec3]) -> Smoothed {
        let mut around = vec![(DVec3::ZERO, Tangent::default()); x.len()];
        let shares = self.shares(x);
        parallel::fill(&mut around, |v| {
            let (normal, angle) = self.gather(v, &shares);
            let tangent = self.tangent(v, angle, x);
            (beside(normal, &tangent), tangent)
        });
        let mut arms = vec![[DVec3::ZERO; 2]; self.subdivision.edges.len()];
        parallel::fill(&mut arms, |e| self.arms(e, x, &around));
        let normals: Vec<DVec3> = around.iter().map(|(normal, _)| *normal).collect();
        Smoothed { positions: self.positions(x, &arms), normals: self.normals(&normals, &shares) }
    }

    /// Unit normal of each face, and its angles [rad]; zero where it is collapsed.
    fn shares(&self, x: &[DVec3]) -> Vec<(DVec3, [f64; 3])> {
        let faces = &self.subdivision.corners;
        let mut shares = vec![(DVec3::ZERO, [0.0; 3]); faces.len()];
        parallel::fill(&mut shares, |f| {
            let p = faces[f].map(|v| x[v as usize]);
            let Some(unit) = (p[1] - p[0]).cross(p[2] - p[0]).try_normalize() else {
                return Default::default();
            };
            let angle = |c: usize| {
                let (u, v) = (p[(c + 1) % 3] - p[c], p[(c + 2) % 3] - p[c]);
                libm::atan2(u.cross(v).length(), u.dot(v))
            };
            (unit, [0, 1, 2].map(angle))
        });
        shares
    }

    /// The normals of the faces round a vertex, weighted by their angles there, and the sum of these angles: how a
    /// surface happens to be cut into triangles changes neither.
    fn gather(&self, vertex: usize, shares: &[(DVec3, [f64; 3])]) -> (DVec3, f64) {
        let (mut normal, mut sum) = (DVec3::ZERO, 0.0);
        for corner in &self.round[self.starts[vertex] as usize..self.starts[vertex + 1] as usize] {
            let (unit, angles) = shares[*corner as usize / 3];
            let angle = angles[*corner as usize % 3];
            normal += unit * angle;
            sum += angle;
        }
        (if normal.length() > CANCELLED { normal.normalize_or_zero() } else { DVec3::ZERO }, sum)
    }

    fn tangent(&self, vertex: usize, angle: f64, x: &[DVec3]) -> Tangent {
        let Some([before, after]) = self.border[vertex] else { return Tangent::default() };
        let here = x[vertex];
        let towards = (here - x[before as usize]).normalize_or_zero();
        let away = (x[after as usize] - here).normalize_or_zero();
        let [smooth, corner] = BORDER_TURNS;
        let turn = (std::f64::consts::PI - angle).abs();
        let follows = ((corner - turn) / (corner - smooth)).clamp(0.0, 1.0);
        Tangent { direction: (towards + away).normalize_or_zero(), follows }
    }

    /// What the edge's two inner control points add to a straight edge.
    fn arms(&self, edge: usize, x: &[DVec3], around: &[(DVec3, Tangent)]) -> [DVec3; 2] {
        let ([a, b], faces) = self.subdivision.edges[edge];
        let arm = |from: u32, to: u32| {
            let (from, to) = (from as usize, to as usize);
            let step = x[to] - x[from];
            let (normal, Tangent { direction, follows }) = around[from];
            if faces == 1 {
                (direction * direction.dot(step) - step) * (follows / 3.0)
            } else {
                // Vlachos et al. §3.1: b₂₁₀ = (2A + B − (B − A)·N N)/3.
                normal * (-step.dot(normal) / 3.0)
            }
        };
        [arm(a, b), arm(b, a)]
    }

    fn positions(&self, x: &[DVec3], arms: &[[DVec3; 2]]) -> Vec<DVec3> {
        let Subdivision { splits: n, edges, corners, sides, .. } = &self.subdivision;
        let mut out = self.subdivision.interpolate(x);
        let (_, rest) = out.split_at_mut(self.subdivision.vertices);
        let (on_edges, on_faces) = rest.split_at_mut(edges.len() * (n - 1));
        for_groups(on_edges, n - 1, |e, points| {
            for (point, s) in points.iter_mut().zip(self.subdivision.along()) {
                let (u, v) = (1.0 - s, s);
                *point += arms[e][0] * (3.0 * u * u * v) + arms[e][1] * (3.0 * u * v * v);
            }
        });
        let places: Vec<[f64; 3]> = interior(*n).map(|at| weights(at, *n)).collect();
        for_groups(on_faces, inside(*n), |f, points| {
            // The arms of side s at its corner s and at its corner s + 1.
            let arms = [0, 1, 2].map(|s| {
                let edge = sides[f][s] as usize;
                let [first, second] = arms[edge];
                if edges[edge].0[0] == corners[f][s] { [first, second] } else { [second, first] }
            });
            // Vlachos et al. §3.1: b₁₁₁ = E + (E − V)/2, E the mean of the six and V that of the corners.
            let middle = arms.as_flattened().iter().fold(DVec3::ZERO, |sum, arm| sum + *arm) / 4.0;
            for (point, w) in points.iter_mut().zip(&places) {
                let mut add = middle * (6.0 * w[0] * w[1] * w[2]);
                for s in 0..3 {
                    let (u, v) = (w[s], w[(s + 1) % 3]);
                    add += arms[s][0] * (3.0 * u * u * v) + arms[s][1] * (3.0 * u * v * v);
                }
                *point += add;
            }
        });
        out
    }

    /// The quadratic patch of normals. Its ends are those of Vlachos et al. §3.3; its middle coefficients are not. Theirs
    /// reflect the ends' mean in the plane across the edge, which on a pleat tilts the normals of diagonals up or down.
    /// Ours come from the faces at the edge, whose mean normal F is the chord's: 3F − N_a − N_b makes the quadratic the
    /// slope of the cubic, to first order, on edges that bend both ways too.
    fn normals(&self, normals: &[DVec3], shares: &[(DVec3, [f64; 3])]) -> Vec<DVec3> {
        let Subdivision { splits: n, edges, corners, sides, .. } = &self.subdivision;
        let mut middles = vec![DVec3::ZERO; edges.len()];
        for (sides, (unit, _)) in sides.iter().zip(shares) {
            sides.iter().for_each(|e| middles[*e as usize] += *unit);
        }
        parallel::update(&mut middles, |e, middle| {
            let [a, b] = edges[e].0.map(|v| normals[v as usize]);
            let mean = if middle.length() > CANCELLED { middle.normalize_or_zero() } else { (a + b) / 2.0 };
            *middle = mean * 3.0 - a - b;
        });
        let mut out = vec![DVec3::ZERO; self.subdivision.vertices()];
        let (coarse, rest) = out.split_at_mut(self.subdivision.vertices);
        coarse.copy_from_slice(normals);
        let (on_edges, on_faces) = rest.split_at_mut(edges.len() * (n - 1));
        for_groups(on_edges, n - 1, |e, out| {
            let [a, b] = edges[e].0.map(|v| normals[v as usize]);
            for (normal, s) in out.iter_mut().zip(self.subdivision.along()) {
                let (u, v) = (1.0 - s, s);
                *normal = (a * (u * u) + b * (v * v) + middles[e] * (2.0 * u * v)).normalize_or_zero();
            }
        });
        let places: Vec<[f64; 3]> = interior(*n).map(|at| weights(at, *n)).collect();
        for_groups(on_faces, inside(*n), |f, out| {
            let corner = corners[f].map(|v| normals[v as usize]);
            let middle = sides[f].map(|e| middles[e as usize]);
            for (normal, w) in out.iter_mut().zip(&places) {
                let mut sum = DVec3::ZERO;
                for s in 0..3 {
                    sum += corner[s] * (w[s] * w[s]) + middle[s] * (2.0 * w[s] * w[(s + 1) % 3]);
                }
                *normal = sum.normalize_or_zero();
            }
        });
        out
    }
}

/// Weights of the three corners.
fn weights([j, k]: [usize; 2], n: usize) -> [f64; 3] {
    [n - j - k, j, k].map(|steps| steps as f64 / n as f64)
}

/// A normal turned until it stands on the border's tangent, as far as the border follows it: else the surface would
/// leave its own outline.
fn beside(normal: DVec3, tangent: &Tangent) -> DVec3 {
    (normal - tangent.direction * (tangent.follows * tangent.direction.dot(normal))).normalize_or_zero()
}

/// [`parallel::update_groups`], also of nothing.
fn for_groups(out: &mut [DVec3], width: usize, change: impl Fn(usize, &mut [DVec3]) + Sync) {
    if width > 0 {
        parallel::update_groups(out, width, change);
    }
}

/// The two neighbours along the border of every vertex where exactly two border edges meet.
fn border_neighbours(vertices: usize, edges: &[([u32; 2], u32)]) -> Vec<Option<[u32; 2]>> {
    let mut found = vec![([0; 2], 0usize); vertices];
    for ([a, b], _) in edges.iter().filter(|(ends, faces)| *faces == 1 && ends[0] != ends[1]) {
        for (v, other) in [(*a, *b), (*b, *a)] {
            let (neighbours, count) = &mut found[v as usize];
            if *count < 2 {
                neighbours[*count] = other;
            }
            *count += 1;
        }
    }
    found.into_iter().map(|(neighbours, count)| (count == 2).then_some(neighbours)).collect()
}

/// Why a mesh cannot be smoothed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are named by the variant's own sentence")]
pub enum SmoothError {
    /// A side cannot be split into so many parts.
    Splits { splits: u32 },
    /// A face names a vertex that does not exist.
    Index { face: usize, index: u32, vertices: usize },
    /// More vertices than can be numbered.
    TooLarge { faces: usize, splits: u32 },
}

impl fmt::Display for SmoothError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Splits { splits } => {
                write!(
                    f,
                    "smooth is {splits}, it must lie between 1 and {MOST_SPLITS}; 1 is off, 3 is usually enough"
                )
            }
            Self::Index { face, index, vertices } => {
                write!(
                    f,
                    "face {face} names vertex {index}, but there are {vertices}; renumber or remove the face"
                )
            }
            Self::TooLarge { faces, splits } => {
                write!(
                    f,
                    "{faces} faces split {splits} ways have more vertices than can be numbered; smooth less"
                )
            }
        }
    }
}

impl std::error::Error for SmoothError {}
