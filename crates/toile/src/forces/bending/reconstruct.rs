//! From hinge angles to a constant curvature per face, once at rest: the rows of [`super::recon`].

use super::rigidity::Rigidity;
use crate::math::{DMat3, DVec2, DVec3, parallel};
use crate::mesh::{Edge, Mesh};
use std::f64::consts::SQRT_2;

/// Most terms in the balance of one edge: itself and the four other edges of its faces.
const TERMS: usize = 5;
/// Singular values below this part of the largest count as zero: the directions they would fix are not there.
const RANK: f64 = 1e-9;
/// Offsets and residuals below this part of the edge count as zero.
const ROUND: f64 = 1e-12;
/// A balance that misses its target by more than this part of the edge asks the free borders for help.
const MISSED: f64 = 1e-9;

/// A symmetric tensor (xx, yy, √2 xy): its dot product is the double contraction, in any frame.
type Tensor = DVec3;

fn tensor(xx: f64, yy: f64, xy: f64) -> Tensor {
    DVec3::new(xx, yy, SQRT_2 * xy)
}

/// The tensor `t` given in the frame whose first axis is `of`, seen in the frame whose first axis is `seen`.
fn turned(t: Tensor, of: DVec2, seen: DVec2) -> Tensor {
    let (c, s) = (seen.dot(of), seen.perp_dot(of));
    let (xx, yy, xy) = (t.x, t.y, t.z / SQRT_2);
    tensor(
        c * c * xx + s * s * yy - 2.0 * c * s * xy,
        s * s * xx + c * c * yy + 2.0 * c * s * xy,
        c * s * (xx - yy) + (c * c - s * s) * xy,
    )
}

/// A side of a rest face, which lies on its left. The chart of a face is its (u, v), mirrored where its corners
/// run clockwise: D does not notice.
#[derive(Clone, Copy)]
struct Side {
    /// Unit direction in the chart.
    along: DVec2,
    /// [m].
    length: f64,
    /// Height of the face above it [m].
    height: f64,
    /// Foot of the opposite corner, from the middle of the side [m].
    foot: f64,
}

fn sides(rest: &[DVec2; 3]) -> [Side; 3] {
    let doubled = (rest[1] - rest[0]).perp_dot(rest[2] - rest[0]);
    let p = rest.map(|p| DVec2::new(p.x, p.y * doubled.signum()));
    [0, 1, 2].map(|k| {
        let (c, d) = (p[(k + 1) % 3], p[(k + 2) % 3]);
        let length = (d - c).length();
        let along = (d - c) / length;
        Side { along, length, height: doubled.abs() / length, foot: (p[k] - 0.5 * (c + d)).dot(along) }
    })
}

/// An edge that carries an angle: an interior edge, or a clamped border edge with a ghost for its second face.
pub(super) struct Hinge {
    /// c, d, A and B; a clamp repeats A, with weight zero.
    pub members: [u32; 4],
    /// ∂t/∂x of the members at rest, along the normal [1/m].
    pub weights: [f64; 4],
    /// Twice the rest area of each wing [m²].
    pub doubled: [f64; 2],
    /// Place in `mesh.edges()`.
    pub edge: usize,
    /// Height of the inner face [m].
    pub height: f64,
    /// Its faces, each with the corner opposite to the edge; one for a clamp.
    wings: [Option<(usize, usize)>; 2],
    /// R: the angle of curvature κ is R : κ, in the frame of the edge as the first face sees it.
    jump: Tensor,
    /// C: the true slope in the middle of the edge minus the mean of the two faces' slopes is C : κ.
    offset: Tensor,
}

fn interior(mesh: &Mesh, sides: &[[Side; 3]], edge: usize, e: &Edge) -> Hinge {
    let wings = e.faces.map(|face| (face as usize, mesh.apex(face, e)));
    let [(f, k), (g, j)] = wings;
    let (p, q) = (sides[f][k], sides[g][j]);
    let corners = mesh.faces()[f];
    // In the frame of the edge: A at (p.foot, p.height), B at (−q.foot, −q.height), the ends at ±length/2.
    let spread = |s: Side| 0.5 * (s.foot * s.foot - 0.25 * s.length * s.length) / s.height;
    let (a, b) = (0.5 + p.foot / p.length, 0.5 - q.foot / q.length);
    let (wa, wb) = (1.0 / p.height, 1.0 / q.height);
    Hinge {
        members: [corners[(k + 1) % 3], corners[(k + 2) % 3], corners[k], mesh.faces()[g][j]],
        weights: [-(1.0 - a) * wa - (1.0 - b) * wb, -a * wa - b * wb, wa, wb],
        doubled: [p.height * p.length, q.height * q.length],
        edge,
        height: p.height,
        wings: wings.map(Some),
        jump: tensor(spread(p) + spread(q), 0.5 * (p.height + q.height), 0.5 * (p.foot + q.foot)),
        offset: 0.5 * tensor(spread(p) - spread(q), 0.5 * (p.height - q.height), 0.5 * (p.foot - q.foot)),
    }
}

fn clamped(mesh: &Mesh, sides: &[[Side; 3]], edge: usize, e: &Edge) -> Hinge {
    let (f, k) = (e.faces[0] as usize, mesh.apex(e.faces[0], e));
    let p = sides[f][k];
    let corners = mesh.faces()[f];
    let (a, w) = (0.5 + p.foot / p.length, 1.0 / p.height);
    Hinge {
        members: [corners[(k + 1) % 3], corners[(k + 2) % 3], corners[k], corners[k]],
        // The ghost follows the middle of the edge: its share and the ends' share of it cancel.
        weights: [-(1.0 - a) * w, -a * w, w, 0.0],
        doubled: [p.height * p.length; 2],
        edge,
        height: p.height,
        wings: [Some((f, k)), None],
        jump: tensor(
            0.5 * (p.foot * p.foot - 0.25 * p.length * p.length) / p.height,
            0.5 * p.height,
            0.5 * p.foot,
        ),
        offset: Tensor::ZERO,
    }
}

/// Everything the rest shape says.
pub(super) struct Reconstruction {
    /// Interior edges in the order of the mesh, then clamps in the order given.
    pub hinges: Vec<Hinge>,
    /// For each face, (hinge, column of FB√A) pairs: E = Σ_T ½ |Σ column · t|². Ascending by hinge.
    pub rows: Vec<Vec<(u32, DVec3)>>,
}

/// Builds hinges and rows; `clamps` are places of border edges in `mesh.edges()`.
pub(super) fn reconstruct(mesh: &Mesh, rigidity: &Rigidity, clamps: &[usize]) -> Reconstruction {
    let sides: Vec<[Side; 3]> = mesh.rest().iter().map(sides).collect();
    let edges = mesh.edges().iter().enumerate();
    let mut hinges: Vec<Hinge> =
        edges.filter(|(_, e)| !e.is_border()).map(|(place, e)| interior(mesh, &sides, place, e)).collect();
    hinges.extend(clamps.iter().map(|&place| clamped(mesh, &sides, place, &mesh.edges()[place])));
    // The hinge on each side of each face.
    let mut on_side: Vec<[Option<u32>; 3]> = vec![[None; 3]; sides.len()];
    for (h, hinge) in hinges.iter().enumerate() {
        for (f, k) in hinge.wings.into_iter().flatten() {
            on_side[f][k] = Some(h as u32);
        }
    }
    let root = rigidity.root();
    let mut slopes = vec![Vec::new(); hinges.len()];
    parallel::fill(&mut slopes, |h| slope(h, &hinges[h], &hinges, &sides, &on_side, root));
    let mut rows = vec![Vec::new(); sides.len()];
    parallel::fill(&mut rows, |f| row(f, &hinges, &sides[f], &on_side[f], &slopes, root));
    Reconstruction { hinges, rows }
}

/// F·(n_u², n_v², 2n_u n_v) with n the normal of a side: what an angle across it does to the face's moments.
fn bent(along: DVec2, [f11, f12, f22, f33]: [f64; 4]) -> DVec3 {
    let (uu, vv, uv) = (along.y * along.y, along.x * along.x, -2.0 * along.x * along.y);
    DVec3::new(f11 * uu + f12 * vv, f22 * vv, f33 * uv)
}

/// What curvature that angles do not show counts, over the length of an edge, where they would have to be multiplied.
const UNSAID: f64 = 0.5;

/// Times that an angle may be multiplied. Sound triangles, however irregular, need less.
const MULTIPLIED: f64 = 8.0;

/// b of one edge: the least coefficients with Σ b_f R_f = C over its own angle and those around its two faces.
fn slope(
    own: usize,
    hinge: &Hinge,
    hinges: &[Hinge],
    sides: &[[Side; 3]],
    on_side: &[[Option<u32>; 3]],
    root: [f64; 4],
) -> Vec<(u32, f64)> {
    let [Some(first), Some(second)] = hinge.wings else { return Vec::new() };
    let length = sides[first.0][first.1].length;
    if hinge.offset.length() <= ROUND * length {
        return Vec::new();
    }
    let mut around = vec![own as u32];
    let mut columns = vec![hinge.jump];
    let mut borders = Vec::new();
    for (f, k) in [first, second] {
        let base = sides[f][k].along;
        for other in [(k + 1) % 3, (k + 2) % 3] {
            let along = sides[f][other].along;
            if let Some(h) = on_side[f][other] {
                around.push(h);
                columns.push(turned(hinges[h as usize].jump, along, base));
            } else {
                borders.push(turned(no_moment(along, root) * length, DVec2::X, base));
            }
        }
    }
    debug_assert!(around.len() <= TERMS);
    let (mut b, missed) = least_norm(&columns, hinge.offset);
    let largest = b.iter().fold(0.0f64, |most, b| most.max(b.abs()));
    if !borders.is_empty() && (missed > MISSED * length || largest > 1.0) {
        // Free borders carry no moment across: M_nn = 0 is one more thing known about κ, with value zero.
        columns.extend(&borders);
        (b, _) = least_norm(&columns, hinge.offset);
    }
    if borders.is_empty() && b.iter().any(|b| b.abs() > MULTIPLIED) {
        // Angles around slender triangles may say next to nothing about a curvature, and would be multiplied by
        // hundreds. What they cannot say cheaply is left unsaid there.
        columns.extend(DMat3::IDENTITY.to_cols_array_2d().map(|unit| DVec3::from(unit) * (UNSAID * length)));
        (b, _) = least_norm(&columns, hinge.offset);
    }
    around.into_iter().zip(b).collect()
}

/// The tensor whose contraction with κ is proportional to the moment across a side, in the face's chart; its
/// largest entry is one.
fn no_moment(along: DVec2, root: [f64; 4]) -> Tensor {
    let [f11, f12, f22, f33] = root;
    let m = bent(along, root);
    let (uu, vv, uv) = (f11 * m.x, f12 * m.x + f22 * m.y, f33 * m.z);
    let largest = uu.abs().max(vv.abs()).max(uv.abs());
    if largest > 0.0 { tensor(uu, vv, uv) / largest } else { Tensor::ZERO }
}

/// Columns of one face over hinges: √A F B, with the angles of free sides chosen so that they carry no moment,
/// then spread over hinges by α = ½ t ± φ (in full for a clamp).
fn row(
    face: usize,
    hinges: &[Hinge],
    sides: &[Side; 3],
    on_side: &[Option<u32>; 3],
    slopes: &[Vec<(u32, f64)>],
    root: [f64; 4],
) -> Vec<(u32, DVec3)> {
    let area = 0.5 * sides[0].length * sides[0].height;
    let mut columns = sides.map(|s| bent(s.along, root) * (s.length / area.sqrt()));
    // Minimising over a free angle is projecting its column out: the Schur complement in factored form.
    for k in (0..3).filter(|k| on_side[*k].is_none()) {
        let free = columns[k].normalize_or_zero();
        columns = columns.map(|column| column - free * free.dot(column));
        columns[k] = DVec3::ZERO;
    }
    let mut entries: Vec<(u32, DVec3)> = Vec::new();
    for k in 0..3 {
        let Some(h) = on_side[k] else { continue };
        let [first, second] = hinges[h as usize].wings;
        let half = if second.is_some() { 0.5 } else { 1.0 };
        entries.push((h, columns[k] * half));
        let sign = if first == Some((face, k)) { 1.0 } else { -1.0 };
        entries.extend(slopes[h as usize].iter().map(|&(f, b)| (f, columns[k] * (sign * b))));
    }
    merged(entries)
}

/// Sorted by index, entries of the same index added in the order given.
pub(super) fn merged(mut entries: Vec<(u32, DVec3)>) -> Vec<(u32, DVec3)> {
    entries.sort_by_key(|(index, _)| *index);
    entries.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 += later.1;
        }
        same
    });
    entries
}

/// The shortest b that brings Σ b_f column_f nearest to `target`, and by how much it misses.
///
/// Singular values by one-sided Jacobi rotations of the three rows: accurate for slivers, where the columns'
/// sizes differ by many orders of magnitude.
fn least_norm(columns: &[Tensor], target: Tensor) -> (Vec<f64>, f64) {
    let mut rows = [0, 1, 2].map(|r| columns.iter().map(|c| c[r]).collect::<Vec<f64>>());
    let mut axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b);
    for _ in 0..30 {
        let mut turned = false;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let (pp, qq, pq) = (dot(&rows[p], &rows[p]), dot(&rows[q], &rows[q]), dot(&rows[p], &rows[q]));
            if pq.abs() <= 1e-16 * (pp * qq).sqrt() {
                continue;
            }
            let zeta = (qq - pp) / (2.0 * pq);
            let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
            let c = 1.0 / (1.0 + t * t).sqrt();
            let s = c * t;
            for i in 0..columns.len() {
                let (a, b) = (rows[p][i], rows[q][i]);
                (rows[p][i], rows[q][i]) = (c * a - s * b, s * a + c * b);
                // A turn that is lost in rounding would be lost for ever.
                turned |= [a, b] != [rows[p][i], rows[q][i]];
            }
            let (a, b) = (axes[p], axes[q]);
            (axes[p], axes[q]) = (c * a - s * b, s * a + c * b);
            turned |= [a, b] != [axes[p], axes[q]];
        }
        if !turned {
            break;
        }
    }
    let squares = [0, 1, 2].map(|r| dot(&rows[r], &rows[r]));
    let floor = RANK * RANK * squares[0].max(squares[1]).max(squares[2]);
    let mut b = vec![0.0; columns.len()];
    for r in (0..3).filter(|r| squares[*r] > floor) {
        let along = axes[r].dot(target) / squares[r];
        for (b, entry) in b.iter_mut().zip(&rows[r]) {
            *b += along * entry;
        }
    }
    let reached = columns.iter().zip(&b).fold(DVec3::ZERO, |sum, (column, b)| sum + *column * *b);
    (b, (reached - target).length())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_norm_solves_truncates_and_is_shortest() {
        let columns = [DVec3::X, DVec3::Y * 2.0, DVec3::Z * 1e-7, DVec3::X];
        let (b, missed) = least_norm(&columns, DVec3::new(2.0, 4.0, 3e-7));
        for (got, want) in b.iter().zip([1.0, 2.0, 3.0, 1.0]) {
            assert!((got - want).abs() < 1e-9, "{b:?}");
        }
        assert!(missed < 1e-15);
        let (b, missed) = least_norm(&[DVec3::X, DVec3::X], DVec3::new(2.0, 0.5, 0.0));
        assert!((b[0] - 1.0).abs() < 1e-15 && (b[1] - 1.0).abs() < 1e-15 && (missed - 0.5).abs() < 1e-15);
        assert_eq!(least_norm(&[DVec3::ZERO], DVec3::X), (vec![0.0], 1.0));
    }

    #[test]
    fn no_angle_is_multiplied_around_slender_triangles() {
        use crate::math::random::Dice;
        use crate::mesh::shapes::{Pattern, sheet};
        use crate::mesh::{Closure, Levels};
        let shape = sheet(1.0, 1.0, 6, 6, Pattern::Delaunay { seed: 2 }).expect("a sheet");
        let base = Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("sound");
        let mut levels = Levels::new(base, 4, Closure::Halves).expect("levels");
        let mut dice = Dice::new(3);
        // Sides halved at random: far worse than what folds ask for.
        for _ in 0..400 {
            let edges = levels.mesh().edges();
            let side = edges[dice.below(edges.len())].ends;
            let _ = levels.halve(&[side], &[]);
        }
        let mesh = levels.mesh();
        let built = reconstruct(mesh, &Rigidity::isotropic(1.0, 0.3), &[]);
        // E = Σ ½ |Σ column t|² with columns of about √(D/A) l t: l²/A says how slender a face is.
        for (row, rest) in built.rows.iter().zip(mesh.rest()) {
            let area = 0.5 * (rest[1] - rest[0]).perp_dot(rest[2] - rest[0]).abs();
            let side = (0..3).map(|k| (rest[k] - rest[(k + 1) % 3]).length()).fold(0.0, f64::max);
            let most = row.iter().map(|(_, column)| column.length()).fold(0.0, f64::max);
            assert!(most < 10.0 * side / area.sqrt(), "{most}, side {side}, area {area}");
        }
        assert!(mesh.faces().len() > 500);
    }

    #[test]
    fn tensors_turn_with_their_frame() {
        let (n, frame) = (DVec2::new(0.6, 0.8), DVec2::new(0.28, 0.96));
        let dyad = |p: DVec2| tensor(p.x * p.x, p.y * p.y, p.x * p.y);
        let local = DVec2::new(frame.dot(n), frame.perp_dot(n));
        assert!(turned(dyad(n), DVec2::X, frame).abs_diff_eq(dyad(local), 1e-15));
        assert!(turned(dyad(local), frame, DVec2::X).abs_diff_eq(dyad(n), 1e-15));
    }
}
