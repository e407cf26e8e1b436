//! Meshes of any quality made fit for the engine, in their own vertices.
//!
//! Nothing is renumbered: the triangles of a repaired mesh name vertices of the input. Vertices that are the same place
//! written twice are no particles of their own; they go where the vertex goes that stands for them. So whatever is
//! written about the mesh afterwards has the vertices and polygons that came in. Faces that share an edge or a vertex
//! stay joined however many there are: cutting them apart would tear the polygons that are written.

mod faces;
mod report;
mod weld;
mod winding;

pub use faces::THIN;
pub use report::{Element, Fault, Finding, Findings, NAMED};
pub use weld::WELD;

use crate::obj::{NO_TEXCOORD, Obj, Polygons};
use faces::Face;
use glam::DVec3;
use std::fmt;

/// Largest coordinate [m]: worlds end there.
const FARTHEST: f64 = 1e6;

/// Least mean edge [m]: below, a unit is wrong, and products of lengths lose their digits.
const LEAST_EDGE: f64 = 1e-7;

/// A sound mesh over the vertices of the input.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// Triangles, as vertices of the input that stand for themselves.
    pub faces: Vec<[u32; 3]>,
    /// Texture coordinates of their corners; empty when the input has none.
    pub texcoords: Vec<[u32; 3]>,
    /// The polygon of the input that each triangle is part of.
    pub polygons: Vec<u32>,
    /// Pairs of triangles that bend as one across edges of more than two.
    pub bent: Vec<[u32; 2]>,
    /// For each vertex of the input, the one whose particle it is; itself for most.
    pub stands: Vec<u32>,
    /// Polygons of the input that are wound against what is simulated, ascending.
    pub turned: Vec<u32>,
    /// What was wrong and what was done about it.
    pub findings: Findings,
}

impl Repaired {
    /// Vertices that are no particles, each with the one it goes with.
    pub fn doubles(&self) -> Vec<[u32; 2]> {
        let each = self.stands.iter().enumerate().map(|(v, of)| [v as u32, *of]);
        each.filter(|[v, of]| v != of).collect()
    }

    /// Whether every edge has two triangles: there is an inside.
    pub fn is_closed(&self) -> bool {
        let face = |corners: &[u32; 3]| Face { corners: *corners, texcoords: [NO_TEXCOORD; 3], polygon: 0 };
        winding::is_closed(&self.faces.iter().map(face).collect::<Vec<_>>())
    }
}

/// Why a mesh cannot be repaired.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named by the variant's own sentence")]
pub enum RepairError {
    /// A polygon names a vertex that does not exist.
    Index { polygon: usize, index: u32, vertices: usize },
    /// A vertex is no place, or beyond the end of the world.
    Place { vertex: usize, value: DVec3 },
    /// No polygon has an area.
    Nothing { polygons: usize, vertices: usize },
    /// The mesh is too small to be cloth.
    Small { edge: f64, polygons: usize },
}

impl RepairError {
    /// A short name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            RepairError::Index { .. } => "missing-vertex",
            RepairError::Place { .. } => "no-place",
            RepairError::Nothing { .. } => "nothing-left",
            RepairError::Small { .. } => "too-small",
        }
    }
}

impl fmt::Display for RepairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] ", self.code())?;
        match self {
            RepairError::Index { polygon, index, vertices } => write!(
                f,
                "polygon {} names vertex {}, but there are {vertices}; export the mesh again",
                polygon + 1,
                u64::from(*index) + 1
            ),
            RepairError::Place { vertex, value } => write!(
                f,
                "vertex {} is at {value}, coordinates must be finite and within ±{FARTHEST:e} m; delete the vertex, or \
                 check the unit",
                vertex + 1
            ),
            RepairError::Nothing { polygons, vertices } => write!(
                f,
                "none of its {polygons} polygons over {vertices} vertices has an area, at least one must; export the mesh \
                 with its faces spread out"
            ),
            RepairError::Small { edge, polygons } => write!(
                f,
                "the edges of its {polygons} polygons are {edge:.1e} m long on average, the least is {LEAST_EDGE:e} m; \
                 check the unit (units or file_units)"
            ),
        }
    }
}

impl std::error::Error for RepairError {}

impl Obj {
    /// Makes the mesh, in metres, fit for the engine.
    pub fn repaired(&self) -> Result<Repaired, RepairError> {
        repair(&self.positions, &self.polygons, &[])
    }
}

/// Makes a mesh fit for the engine: sound triangles over `positions` [m], and what had to be done for it. `poses` are other
/// places of the same vertices, in time: what is one must be so in all of them.
pub fn repair(positions: &[DVec3], polygons: &Polygons, poses: &[&[DVec3]]) -> Result<Repaired, RepairError> {
    check(positions, polygons)?;
    let mut findings = Findings::default();
    let mut stands = weld::weld(positions, polygons);
    part_again(&mut stands, positions, poses);
    for (v, of) in stands.iter().enumerate().filter(|(v, of)| **of != *v as u32) {
        findings.moved(Fault::Coincident, v as u32, positions[v].distance(positions[*of as usize]));
    }
    let mut cut = faces::cut_all(positions, polygons, &stands, &mut findings);
    if poses.is_empty() {
        // What is thin in one pose may not be in another.
        cut = faces::without_thin(positions, cut, &mut findings);
    }
    let mut faces = faces::without_repeats(positions, cut, &mut findings);
    if faces.is_empty() {
        return Err(RepairError::Nothing { polygons: polygons.len(), vertices: positions.len() });
    }
    big_enough(positions, &faces, polygons.len())?;
    let wound = winding::wind(positions, &mut faces, &mut findings);
    let turned = turned_polygons(&faces, &wound.turned, polygons.len(), &mut findings);
    winding::bow_ties(&faces).iter().for_each(|v| findings.add(Fault::BowTie, Element::Vertex(*v), 0.0));
    lead_strays(positions, polygons, &faces, &mut stands, &mut findings);
    let charts = !polygons.all_texcoords().is_empty();
    Ok(Repaired {
        texcoords: faces.iter().filter(|_| charts).map(|face| face.texcoords).collect(),
        polygons: faces.iter().map(|face| face.polygon).collect(),
        faces: faces.iter().map(|face| face.corners).collect(),
        bent: wound.bent,
        stands,
        turned,
        findings,
    })
}

fn check(positions: &[DVec3], polygons: &Polygons) -> Result<(), RepairError> {
    for (polygon, corners) in polygons.iter().enumerate() {
        if let Some(&index) = corners.iter().find(|v| **v as usize >= positions.len()) {
            return Err(RepairError::Index { polygon, index, vertices: positions.len() });
        }
    }
    let bad = |p: &DVec3| !(p.is_finite() && p.abs().max_element() <= FARTHEST);
    match positions.iter().position(bad) {
        Some(vertex) => Err(RepairError::Place { vertex, value: positions[vertex] }),
        None => Ok(()),
    }
}

fn big_enough(positions: &[DVec3], faces: &[Face], polygons: usize) -> Result<(), RepairError> {
    let at = |v: u32| positions[v as usize];
    let sides =
        faces.iter().flat_map(|f| (0..3).map(|k| at(f.corners[k]).distance(at(f.corners[(k + 1) % 3]))));
    let edge = sides.sum::<f64>() / (3 * faces.len()) as f64;
    if edge < LEAST_EDGE { Err(RepairError::Small { edge, polygons }) } else { Ok(()) }
}

/// Undoes what is one in the first pose and not in another.
fn part_again(stands: &mut [u32], positions: &[DVec3], poses: &[&[DVec3]]) {
    for (v, stand) in stands.iter_mut().enumerate() {
        let of = *stand as usize;
        let near =
            1e-6 * positions[v].abs().max_element().max(1.0) + 2.0 * positions[v].distance(positions[of]);
        let apart = |pose: &&[DVec3]| pose[v].distance(pose[of]) > near;
        if of != v && poses.iter().any(apart) {
            *stand = v as u32;
        }
    }
}

/// The polygons most of whose triangles were turned.
fn turned_polygons(faces: &[Face], turned: &[bool], polygons: usize, findings: &mut Findings) -> Vec<u32> {
    let mut votes = vec![0i64; polygons];
    for (face, turned) in faces.iter().zip(turned) {
        votes[face.polygon as usize] += if *turned { 1 } else { -1 };
    }
    let all: Vec<u32> = (0..polygons as u32).filter(|p| votes[*p as usize] > 0).collect();
    all.iter().for_each(|p| findings.add(Fault::Flipped, Element::Polygon(*p), 0.0));
    all
}

/// Vertices that only left out polygons use go with the nearest corner of those that is simulated; what is written would
/// hang on to where they were otherwise. Vertices of no polygon stay.
fn lead_strays(
    positions: &[DVec3],
    polygons: &Polygons,
    faces: &[Face],
    stands: &mut [u32],
    findings: &mut Findings,
) {
    let mut used = vec![false; positions.len()];
    faces.iter().flat_map(|f| f.corners).for_each(|v| used[v as usize] = true);
    let mut nearest: Vec<Option<(f64, u32)>> = vec![None; positions.len()];
    let mut named = vec![false; positions.len()];
    for corners in polygons.iter() {
        corners.iter().for_each(|v| named[*v as usize] = true);
        let lost = corners.iter().filter(|v| !used[stands[**v as usize] as usize]);
        for v in lost {
            let x = positions[*v as usize];
            let here = corners.iter().map(|w| stands[*w as usize]).filter(|w| used[*w as usize]);
            let here = here.map(|w| (x.distance(positions[w as usize]), w));
            for found in here {
                let slot = &mut nearest[*v as usize];
                if slot.is_none_or(|old| found < old) {
                    *slot = Some(found);
                }
            }
        }
    }
    for v in 0..positions.len() {
        if let Some((distance, of)) = nearest[v] {
            stands[v] = of;
            findings.moved(Fault::Stray, v as u32, distance);
        } else if !named[v] {
            findings.add(Fault::Isolated, Element::Vertex(v as u32), 0.0);
        }
    }
    // Doubles of strays go with them.
    for v in 0..stands.len() {
        stands[v] = stands[stands[v] as usize];
    }
}

#[cfg(test)]
mod tests;
