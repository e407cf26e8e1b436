//! Which faces meet, decided by a second method in integers of any length: build the intersection, then look at it.
//!
//! One face is clipped by the half-spaces that make up the other; what is left are the exact corners of the common
//! set. No case analysis, nothing shared with the checker. Points are homogeneous integers (x, y, z, w), w > 0, so
//! that clipping needs no division.

use std::collections::BTreeSet;

use glam::DVec3;
use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use crate::support::Mesh;

/// Integer coordinates, in a unit small enough for the whole mesh.
type Vector = [BigInt; 3];
/// x / w, y / w, z / w.
type Point = [BigInt; 4];
/// n · x ≥ c, as (n, −c): the sign of its product with a point tells the side.
type HalfSpace = [BigInt; 4];

/// Pairs of faces (low, high) that meet elsewhere than in shared vertices. Faces without area are faults of their own
/// and left out, as the checker does.
pub fn meeting_faces(mesh: &Mesh) -> BTreeSet<(usize, usize)> {
    let x = integers(&mesh.x);
    let faces: Vec<[Vector; 3]> = mesh.faces.iter().map(|f| f.map(|v| x[v as usize].clone())).collect();
    let open: Vec<usize> = (0..faces.len()).filter(|&f| !is_zero(&normal(&faces[f]))).collect();
    let mut meeting = BTreeSet::new();
    for (i, &b) in open.iter().enumerate() {
        let walls = half_spaces(&faces[b]);
        for &a in &open[..i] {
            let common = clip(&faces[a], &walls);
            let shared: BTreeSet<u32> =
                mesh.faces[a].into_iter().filter(|v| mesh.faces[b].contains(v)).collect();
            let shared: Vec<&Vector> = shared.into_iter().map(|v| &x[v as usize]).collect();
            let meets = match shared.as_slice() {
                [] => !common.is_empty(),
                [v] => common.iter().any(|p| !is_zero(&from(v, p))),
                [u, v] => common.iter().any(|p| !is_zero(&cross(&minus(v, u), &from(u, p)))),
                _ => true,
            };
            if meets {
                meeting.insert((a, b));
            }
        }
    }
    meeting
}

/// Whether two triangles without common vertices meet, either of them with or without area.
pub fn triangles_meet(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
    let x = integers(&[a, b].concat());
    let [p, q, r, s, t, u]: [Vector; 6] = x.try_into().unwrap();
    !clip(&[p, q, r], &half_spaces(&[s, t, u])).is_empty()
}

/// Faces without area.
pub fn collapsed(mesh: &Mesh) -> BTreeSet<usize> {
    let x = integers(&mesh.x);
    (0..mesh.faces.len())
        .filter(|&f| is_zero(&normal(&mesh.faces[f].map(|v| x[v as usize].clone()))))
        .collect()
}

/// Sutherland–Hodgman in space: corners of the part of a triangle (or segment, or point) in all half-spaces.
fn clip(face: &[Vector; 3], walls: &[HalfSpace]) -> Vec<Point> {
    let mut polygon: Vec<Point> =
        face.iter().map(|[x, y, z]| [x.clone(), y.clone(), z.clone(), 1.into()]).collect();
    for wall in walls {
        let height: Vec<BigInt> = polygon.iter().map(|p| (0..4).map(|k| &wall[k] * &p[k]).sum()).collect();
        let mut kept = Vec::new();
        for i in 0..polygon.len() {
            let j = (i + 1) % polygon.len();
            if !height[i].is_negative() {
                kept.push(polygon[i].clone());
            }
            if (&height[i] * &height[j]).is_negative() {
                // The combination that lies on the wall, with weights of one sign.
                let (s, t) = (height[j].abs(), height[i].abs());
                kept.push([0, 1, 2, 3].map(|k| &polygon[i][k] * &s + &polygon[j][k] * &t));
            }
        }
        polygon = kept;
    }
    polygon
}

/// The half-spaces whose intersection is the face, be it a triangle, a segment or a point.
fn half_spaces(face: &[Vector; 3]) -> Vec<HalfSpace> {
    let n = normal(face);
    if !is_zero(&n) {
        let mut walls = both_sides(&n, &face[0]).to_vec();
        walls.extend((0..3).map(|k| wall(&cross(&n, &minus(&face[(k + 1) % 3], &face[k])), &face[k])));
        return walls;
    }
    // The longest side holds the whole face.
    let square = |k: usize| {
        let e = minus(&face[(k + 1) % 3], &face[k]);
        dot(&e, &e)
    };
    let k = (0..3).max_by_key(|&k| square(k)).unwrap();
    let (u, v) = (&face[k], &face[(k + 1) % 3]);
    let d = minus(v, u);
    if is_zero(&d) {
        return (0..3).flat_map(|k| both_sides(&axis(k), u)).collect();
    }
    let mut walls: Vec<HalfSpace> = (0..3).flat_map(|k| both_sides(&cross(&d, &axis(k)), u)).collect();
    walls.push(wall(&d, u));
    walls.push(wall(&d.map(|c| -c), v));
    walls
}

fn both_sides(n: &Vector, p: &Vector) -> [HalfSpace; 2] {
    [wall(n, p), wall(&n.clone().map(|c| -c), p)]
}

fn wall(n: &Vector, p: &Vector) -> HalfSpace {
    let [x, y, z] = n.clone();
    [x, y, z, -dot(n, p)]
}

fn axis(k: usize) -> Vector {
    [0, 1, 2].map(|i| BigInt::from(u8::from(i == k)))
}

/// Positions in units of the smallest last bit among them.
fn integers(x: &[DVec3]) -> Vec<Vector> {
    let decode = |c: f64| {
        let (bits, negative) = (c.abs().to_bits(), c < 0.0);
        let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
        let mantissa = if exponent == 0 { fraction } else { fraction | (1 << 52) };
        let trim = if mantissa == 0 { 0 } else { mantissa.trailing_zeros() };
        (BigInt::from(mantissa >> trim) * if negative { -1 } else { 1 }, exponent.max(1) as u32 + trim)
    };
    let coordinates = x.iter().flat_map(|p| p.to_array()).filter(|&c| c != 0.0);
    let unit = coordinates.map(|c| decode(c).1).min().unwrap_or(0);
    let scale = |c: f64| {
        let (mantissa, exponent) = decode(c);
        if c == 0.0 { BigInt::zero() } else { mantissa << (exponent - unit) }
    };
    x.iter().map(|p| p.to_array().map(scale)).collect()
}

fn normal([a, b, c]: &[Vector; 3]) -> Vector {
    cross(&minus(b, a), &minus(c, a))
}

fn minus(a: &Vector, b: &Vector) -> Vector {
    [0, 1, 2].map(|k| &a[k] - &b[k])
}

/// A positive multiple of p − a.
fn from(a: &Vector, p: &Point) -> Vector {
    [0, 1, 2].map(|k| &p[k] - &a[k] * &p[3])
}

fn dot(a: &Vector, b: &Vector) -> BigInt {
    &a[0] * &b[0] + &a[1] * &b[1] + &a[2] * &b[2]
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| &a[i] * &b[j] - &a[j] * &b[i])
}

fn is_zero(a: &Vector) -> bool {
    a.iter().all(Zero::is_zero)
}
