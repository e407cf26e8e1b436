//! Triangles of polygons of any quality: those without area, thin ones and repeated ones taken care of.

use super::report::{Element, Fault, Findings};
use super::{NO_TEXCOORD, Polygons};
use crate::obj::cut;
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};

/// Triangles whose height is below this part of their longest side are thin.
pub const THIN: f64 = 1e-4;

/// Times that thin triangles are given to their neighbours; rows of them take more than one.
const PASSES: usize = 4;

/// A triangle and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Face {
    /// Its corners, as vertices that stand for themselves.
    pub corners: [u32; 3],
    /// Texture coordinates of its corners.
    pub texcoords: [u32; 3],
    /// The polygon it was cut from.
    pub polygon: u32,
}

/// Cuts every polygon into triangles, none of them with a corner twice. Polygons that repeat another are left out.
pub fn cut_all(
    positions: &[DVec3],
    polygons: &Polygons,
    stands: &[u32],
    findings: &mut Findings,
) -> Vec<Face> {
    let mut faces = Vec::new();
    let mut seen: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    let (mut points, mut cuts) = (Vec::new(), Vec::new());
    for p in 0..polygons.len() {
        let written = polygons.vertices(p);
        let mut places: Vec<usize> = (0..written.len()).collect();
        let stand = |i: &usize| stands[written[*i] as usize];
        places.dedup_by_key(|i| stand(i));
        while places.len() > 1 && stand(&places[0]) == stand(&places[places.len() - 1]) {
            places.pop();
        }
        let corners: Vec<u32> = places.iter().map(stand).collect();
        let repeats = |v: &[u32]| (1..v.len()).any(|i| v[..i].contains(&v[i]));
        if written.len() <= 64 && repeats(written) {
            findings.add(Fault::RepeatedCorner, Element::Polygon(p as u32), 0.0);
        }
        if corners.len() < 3 {
            findings.add(Fault::NoArea, Element::Polygon(p as u32), 0.0);
            continue;
        }
        points.clear();
        points.extend(corners.iter().map(|v| positions[*v as usize]));
        if corners.len() > 3 && seen.insert(cycle(&corners), p as u32).is_some() {
            findings.add(Fault::Duplicate, Element::Polygon(p as u32), area(&points));
            continue;
        }
        cuts.clear();
        if !cut(&points, &mut cuts) && area(&points) > 0.0 {
            findings.add(Fault::Crossing, Element::Polygon(p as u32), 0.0);
        }
        let texcoords = polygons.texcoords(p);
        let before = faces.len();
        for c in &cuts {
            let face = Face {
                corners: c.map(|i| corners[i]),
                texcoords: c.map(|i| texcoords.get(places[i]).copied().unwrap_or(NO_TEXCOORD)),
                polygon: p as u32,
            };
            let [a, b, c] = face.corners;
            if a != b && b != c && c != a {
                faces.push(face);
            }
        }
        if faces.len() == before {
            findings.add(Fault::NoArea, Element::Polygon(p as u32), 0.0);
        }
    }
    faces
}

/// The same for a polygon that starts elsewhere or goes round the other way.
fn cycle(corners: &[u32]) -> Vec<u32> {
    let n = corners.len();
    let first = (0..n).min_by_key(|i| corners[*i]).unwrap_or(0);
    let forward: Vec<u32> = (0..n).map(|k| corners[(first + k) % n]).collect();
    let backward: Vec<u32> = (0..n).map(|k| corners[(first + n - k) % n]).collect();
    forward.min(backward)
}

/// Area of a polygon, nearly flat [m²].
fn area(points: &[DVec3]) -> f64 {
    let fan = (2..points.len()).map(|i| (points[i - 1] - points[0]).cross(points[i] - points[0]));
    0.5 * fan.fold(DVec3::ZERO, |sum, c| sum + c).length()
}

fn corners_of(face: &Face, positions: &[DVec3]) -> [DVec3; 3] {
    face.corners.map(|v| positions[v as usize])
}

/// Height over longest side, and the side opposite to which corner is the longest.
fn thickness([a, b, c]: [DVec3; 3]) -> (f64, usize) {
    let sides = [b.distance_squared(c), c.distance_squared(a), a.distance_squared(b)];
    let apex = (0..3).fold(0, |most, k| if sides[k] > sides[most] { k } else { most });
    let thickness = (b - a).cross(c - a).length() / sides[apex];
    (if thickness.is_finite() { thickness } else { 0.0 }, apex)
}

/// Gives thin triangles to the neighbours at their longest side, and leaves out those that have none.
pub fn without_thin(positions: &[DVec3], mut faces: Vec<Face>, findings: &mut Findings) -> Vec<Face> {
    let thin = |face: &Face| thickness(corners_of(face, positions)).0 <= THIN;
    if !faces.iter().any(thin) {
        return faces;
    }
    for _ in 0..PASSES {
        if !share_out(positions, &mut faces, findings) {
            break;
        }
    }
    faces.retain(|face| {
        let keep = !thin(face);
        if !keep {
            let fault = if area(&corners_of(face, positions)) > 0.0 { Fault::Thin } else { Fault::NoArea };
            findings.add(fault, Element::Polygon(face.polygon), area(&corners_of(face, positions)));
        }
        keep
    });
    faces
}

/// A thin triangle ABC, C nearly on AB, and its neighbour BAD become ACD and CBD: what was joined stays joined.
fn share_out(positions: &[DVec3], faces: &mut [Face], findings: &mut Findings) -> bool {
    let mut sides: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * faces.len());
    for (f, face) in faces.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (face.corners[k], face.corners[(k + 1) % 3]);
            sides.push(([a.min(b), a.max(b)], f as u32));
        }
    }
    sides.sort_unstable();
    let mut touched = vec![false; faces.len()];
    let mut any = false;
    for s in 0..faces.len() {
        let (thick, k) = thickness(corners_of(&faces[s], positions));
        if thick > THIN || touched[s] {
            continue;
        }
        let sliver = faces[s];
        let (a, b) = (sliver.corners[(k + 1) % 3], sliver.corners[(k + 2) % 3]);
        let ends = [a.min(b), a.max(b)];
        let first = sides.partition_point(|side| side.0 < ends);
        let at = &sides[first..first + sides[first..].partition_point(|side| side.0 == ends)];
        let [x, y] = at else { continue };
        let n = if x.1 == s as u32 { y.1 } else { x.1 } as usize;
        if n == s || touched[n] {
            continue;
        }
        if let Some([one, other]) = halves(&faces[n], &sliver, k)
            && [one, other].iter().all(|face| thickness(corners_of(face, positions)).0 > THIN)
        {
            (touched[n], touched[s], any) = (true, true, true);
            (faces[n], faces[s]) = (one, other);
            findings.add(Fault::Thin, Element::Polygon(sliver.polygon), 0.0);
        }
    }
    any
}

/// A face cut in two where the apex `k` of a sliver lies on their common side; not across a seam of charts.
fn halves(face: &Face, sliver: &Face, k: usize) -> Option<[Face; 2]> {
    let (c, chart) = (sliver.corners[k], sliver.texcoords[k]);
    let ends = [sliver.corners[(k + 1) % 3], sliver.corners[(k + 2) % 3]];
    let apex = (0..3).find(|i| !ends.contains(&face.corners[*i]))?;
    let (p, q) = ((apex + 1) % 3, (apex + 2) % 3);
    let same_chart = |i: usize| {
        let own = sliver.corners.iter().position(|v| *v == face.corners[i]);
        own.is_some_and(|j| sliver.texcoords[j] == face.texcoords[i])
    };
    if face.corners[apex] == c || !same_chart(p) || !same_chart(q) {
        return None;
    }
    let with = |at: usize| {
        let mut half = *face;
        half.corners[at] = c;
        half.texcoords[at] = chart;
        half
    };
    Some([with(q), with(p)])
}

/// Leaves out triangles that join the same vertices as one before.
pub fn without_repeats(positions: &[DVec3], mut faces: Vec<Face>, findings: &mut Findings) -> Vec<Face> {
    let mut seen: BTreeSet<[u32; 3]> = BTreeSet::new();
    faces.retain(|face| {
        let mut key = face.corners;
        key.sort_unstable();
        let new = seen.insert(key);
        if !new {
            findings.add(
                Fault::Duplicate,
                Element::Polygon(face.polygon),
                area(&corners_of(face, positions)),
            );
        }
        new
    });
    faces
}
