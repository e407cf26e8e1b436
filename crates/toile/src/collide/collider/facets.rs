//! Triangle meshes of shapes, within a stated tolerance of them.
//!
//! Vertices lie on the surface, faces cut inside its bulges: a chord of a circle of radius r over an angle 2a leaves
//! it by the sagitta r (1 − cos a). Bodies of revolution have two such errors, along and around, which add at most.

use super::error::{ColliderError, LARGEST};
use super::form::Form;
use crate::math::DVec3;
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, TAU};

/// Most faces of a generated collider mesh.
pub const MAX_FACES: usize = 4_000_000;

/// A triangle mesh that stands for a shape, front sides outward.
#[derive(Clone, Debug, PartialEq)]
pub struct Facets {
    /// Vertices [m].
    pub positions: Vec<DVec3>,
    /// Corners of each face, counter-clockwise from outside.
    pub faces: Vec<[u32; 3]>,
    /// No point of the mesh is further from the shape than this, nor of the shape from the mesh [m].
    pub tolerance: f64,
}

impl Form {
    /// The mesh of a shape within `tolerance` [m] of it. Planes and boxes are met exactly.
    pub fn facets(&self, tolerance: f64) -> Result<Facets, ColliderError> {
        self.check()?;
        check_tolerance(self.name(), tolerance)?;
        let around = |radius: f64, part: f64| steps(TAU, radius, part * tolerance).max(8);
        let fine = |faces: f64| {
            let (shape, limit) = (self.name(), MAX_FACES);
            if faces <= limit as f64 {
                Ok(())
            } else {
                Err(ColliderError::TooFine { shape, tolerance, limit })
            }
        };
        match *self {
            Form::Plane { size } => Ok(plane(size * 0.5)),
            Form::Box { size } => Ok(boxed(size * 0.5)),
            Form::Sphere { radius } => {
                // Near the middle of an icosahedron's face the sides are about 1.25 of 63.4°/n; a triangle of
                // side s has the circumradius s/√3 and the sagitta s²/6r.
                let sections = (1.25 * 1.107 * (radius / (6.0 * tolerance)).sqrt()).ceil().max(1.0);
                fine(20.0 * sections * sections)?;
                let mut sections = sections as usize;
                loop {
                    let facets = geodesic(radius, sections);
                    if facets.tolerance <= tolerance {
                        return Ok(facets);
                    }
                    sections += sections.div_ceil(32);
                    fine(20.0 * (sections * sections) as f64)?;
                }
            }
            Form::Capsule { radius, height } => {
                let (n, m) = (around(radius, 0.5), steps(FRAC_PI_2, radius, 0.5 * tolerance).max(2));
                fine(n as f64 * (4 * m) as f64)?;
                let arc = |k: usize, end: f64| {
                    let (s, c) = libm::sincos(FRAC_PI_2 * k as f64 / m as f64);
                    [radius * if k == m { 0.0 } else { c }, end * (0.5 * height + radius * s)]
                };
                let lower = (0..=m).rev().map(|k| arc(k, -1.0));
                let profile: Vec<[f64; 2]> = lower.chain((0..=m).map(|k| arc(k, 1.0))).collect();
                Ok(revolve(&profile, n, false, tolerance))
            }
            Form::Cylinder { radius, height } => {
                cone([radius, radius], height, around(radius, 1.0), tolerance)
            }
            Form::Cone { radius_bottom, radius_top, height } => {
                let n = around(radius_bottom.max(radius_top), 1.0);
                fine(4.0 * n as f64)?;
                cone([radius_bottom, radius_top], height, n, tolerance)
            }
            Form::Torus { radius_ring, radius_tube } => {
                let n = around(radius_ring + radius_tube, 0.5);
                let m = steps(TAU, radius_tube, 0.5 * tolerance).max(8);
                fine(2.0 * n as f64 * m as f64)?;
                let loop_point = |k: usize| {
                    let (s, c) = libm::sincos(TAU * k as f64 / m as f64);
                    [radius_ring + radius_tube * c, radius_tube * s]
                };
                Ok(revolve(&(0..m).map(loop_point).collect::<Vec<_>>(), n, true, tolerance))
            }
        }
    }
}

pub(super) fn check_tolerance(shape: &'static str, tolerance: f64) -> Result<(), ColliderError> {
    if (1e-7..=1e3).contains(&tolerance) {
        return Ok(());
    }
    let (what, limit) = ("tolerance [m]", "from 1e-7 to 1e3 m");
    Err(ColliderError::Parameter { shape, what, value: tolerance, limit })
}

/// Equal parts of an arc whose chords leave it by at most `tolerance`.
fn steps(arc: f64, radius: f64, tolerance: f64) -> usize {
    let half = libm::acos((1.0 - tolerance / radius).max(0.0));
    // The cast saturates, and callers refuse what is too many.
    (arc / (2.0 * half)).ceil() as usize
}

fn plane(half: f64) -> Facets {
    let corner = |x: f64, z: f64| DVec3::new(x * half, 0.0, z * half);
    let positions = vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    Facets { positions, faces: vec![[0, 2, 1], [0, 3, 2]], tolerance: 0.0 }
}

fn boxed(half: DVec3) -> Facets {
    let sign = |bit: usize| if bit == 0 { -1.0 } else { 1.0 };
    let positions = (0..8).map(|n: usize| half * DVec3::new(sign(n & 1), sign(n & 2), sign(n & 4))).collect();
    let quads: [[u32; 4]; 6] =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let faces = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Facets { positions, faces, tolerance: 0.0 }
}

fn cone(
    [bottom, top]: [f64; 2],
    height: f64,
    around: usize,
    tolerance: f64,
) -> Result<Facets, ColliderError> {
    let half = 0.5 * height;
    let mut profile = vec![[0.0, -half], [bottom, -half], [top, half], [0.0, half]];
    profile.dedup();
    Ok(revolve(&profile, around, false, tolerance))
}

/// The mesh of a profile (distance from Y, height) [m] turned round Y, and whether it has an inside: profiles from axis to
/// axis, and those that end where they begin, enclose one, and face out of it whatever way they are given.
pub fn lathe(profile: &[[f64; 2]], tolerance: f64) -> Result<(Facets, bool), ColliderError> {
    check_tolerance("lathe", tolerance)?;
    let refuse = |what, value, limit| Err(ColliderError::Parameter { shape: "lathe", what, value, limit });
    let unfit = |p: &[f64; 2]| !(p.iter().all(|x| x.abs() <= LARGEST) && p[0] >= 0.0);
    if let Some(element) = profile.iter().position(unfit) {
        return Err(ColliderError::NotFinite { shape: "lathe", element });
    }
    let closed = profile.len() > 2 && profile.first() == profile.last();
    let mut points = profile[..profile.len() - usize::from(closed)].to_vec();
    points.dedup();
    if points.len() < if closed { 3 } else { 2 } {
        return refuse("number of different points", points.len() as f64, "at least 2, or 3 if it is closed");
    }
    let inner = if closed { &points[..] } else { &points[1..points.len() - 1] };
    if let Some(on) = inner.iter().position(|p| p[0] == 0.0) {
        return refuse("point on the axis", on as f64, "the first or last of an open profile");
    }
    let solid = closed || (points[0][0] == 0.0 && points[points.len() - 1][0] == 0.0);
    // Twice the area to the left of the way, the axis being its last side.
    let area = |a: &[f64; 2], b: &[f64; 2]| a[0] * b[1] - b[0] * a[1];
    let next = |k: usize| &points[(k + 1) % points.len()];
    let turning: f64 = points.iter().enumerate().map(|(k, p)| area(p, next(k))).sum();
    if solid && turning < 0.0 {
        points.reverse();
    }
    let widest = points.iter().fold(0.0, |most: f64, p| most.max(p[0]));
    let around = steps(TAU, widest, tolerance).max(8);
    if 2.0 * around as f64 * points.len() as f64 > MAX_FACES as f64 {
        return Err(ColliderError::TooFine { shape: "lathe", tolerance, limit: MAX_FACES });
    }
    Ok((revolve(&points, around, closed, tolerance), solid))
}

/// Turns a profile (distance from Y, height), given from bottom to top or, closed, counter-clockwise.
fn revolve(profile: &[[f64; 2]], around: usize, closed: bool, tolerance: f64) -> Facets {
    let mut positions = Vec::new();
    let mut first = Vec::with_capacity(profile.len());
    for &[radius, height] in profile {
        first.push((positions.len() as u32, radius == 0.0));
        let count = if radius == 0.0 { 1 } else { around };
        positions.extend((0..count).map(|k| {
            let (s, c) = libm::sincos(TAU * k as f64 / around as f64);
            DVec3::new(radius * c, height, radius * s)
        }));
    }
    let at = |row: usize, k: usize| {
        let (start, pole) = first[row % profile.len()];
        if pole { start } else { start + (k % around) as u32 }
    };
    let mut faces = Vec::new();
    let rows = if closed { profile.len() } else { profile.len() - 1 };
    for row in 0..rows {
        let (low, high) = (first[row].1, first[(row + 1) % profile.len()].1);
        for k in 0..around {
            if !high {
                faces.push([at(row, k), at(row + 1, k), at(row + 1, k + 1)]);
            }
            if !low {
                faces.push([at(row, k), at(row + 1, k + 1), at(row, k + 1)]);
            }
        }
    }
    Facets { positions, faces, tolerance }
}

/// A sphere from an icosahedron whose sides are cut in `sections`; its tolerance is what came out.
fn geodesic(radius: f64, sections: usize) -> Facets {
    let (corners, triangles) = icosahedron();
    let mut index: BTreeMap<[(u8, u32); 3], u32> = BTreeMap::new();
    let mut positions = Vec::new();
    let mut faces = Vec::with_capacity(20 * sections * sections);
    for [a, b, c] in triangles {
        let mut at = |i: usize, j: usize| {
            // Points of shared sides are the same mix of the same corners.
            let mut key = [(a, (sections - i - j) as u32), (b, i as u32), (c, j as u32)];
            key.iter_mut().filter(|(_, weight)| *weight == 0).for_each(|part| part.0 = u8::MAX);
            key.sort_unstable();
            *index.entry(key).or_insert_with(|| {
                let mixed = key.iter().filter(|part| part.1 > 0);
                let point = mixed.fold(DVec3::ZERO, |sum, &(v, w)| sum + corners[v as usize] * f64::from(w));
                positions.push(point.normalize() * radius);
                positions.len() as u32 - 1
            })
        };
        for i in 0..sections {
            for j in 0..sections - i {
                faces.push([at(i, j), at(i + 1, j), at(i, j + 1)]);
                if i + j + 1 < sections {
                    faces.push([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
                }
            }
        }
    }
    let depth = |f: &[u32; 3]| {
        let [a, b, c] = f.map(|v| positions[v as usize]);
        radius - (b - a).cross(c - a).normalize().dot(a)
    };
    let tolerance = faces.iter().map(depth).fold(0.0, f64::max);
    Facets { positions, faces, tolerance }
}

/// Two poles and two rings of five.
fn icosahedron() -> (Vec<DVec3>, Vec<[u8; 3]>) {
    let (height, radius) = (0.2_f64.sqrt(), 0.8_f64.sqrt());
    let ring = |k: u8, shift: f64, y: f64| {
        let (s, c) = libm::sincos(TAU * (f64::from(k) + shift) / 5.0);
        DVec3::new(radius * c, y, radius * s)
    };
    let upper = (0..5).map(|k| ring(k, 0.0, height));
    let lower = (0..5).map(|k| ring(k, 0.5, -height));
    let corners = [DVec3::Y].into_iter().chain(upper).chain(lower).chain([-DVec3::Y]).collect();
    let mut faces = Vec::new();
    for k in 0..5 {
        let next = (k + 1) % 5;
        faces.push([0, 1 + next, 1 + k]);
        faces.push([1 + k, 1 + next, 6 + k]);
        faces.push([1 + next, 6 + next, 6 + k]);
        faces.push([6 + k, 6 + next, 11]);
    }
    (corners, faces)
}
