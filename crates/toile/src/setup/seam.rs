//! Seams: vertices of one cloth drawn together in pairs, to be sewn when they have met.

use super::{Cloth, Crew};
use crate::error::SetupProblem;
use crate::forces::elastic::Pull;

/// Vertices of one cloth that elastics draw together in pairs (V97-14). What belongs to both vertices of a pair does not
/// push itself apart, though nothing ever passes through; at the end of the frame in which all pairs have met they become
/// one vertex each, with the masses of both (G-18).
#[derive(Clone, Debug, PartialEq)]
pub struct Seam {
    /// Number of the cloth.
    pub cloth: usize,
    /// Pairs of its vertices.
    pub pairs: Vec<[u32; 2]>,
    /// Time constant of the elastics [s]: what starts at rest is within a hundredth of its way after 6.6 of them.
    pub time: f64,
}

impl Seam {
    /// Time constant where none is given [s]: from 0.2 m to a millimetre in a second.
    pub const TIME: f64 = 0.15;
}

/// The elastics of the seams whose ends are here, with the distance at which they are sewn: members and pulls. They draw
/// to half of that, for what the guarantee keeps apart would only be bent by more. Each can carry the whole cloth, as a hand that holds
/// it by one vertex does: else the weight below a seam would keep it open.
pub(super) fn pulls(seams: &[(&Seam, f64)], crew: &Crew, cloths: &[Cloth]) -> (Vec<[u32; 2]>, Vec<Pull>) {
    let (mut members, mut pulls) = (Vec::new(), Vec::new());
    for (seam, sewn_at) in seams {
        let cloth = &cloths[seam.cloth];
        let mass = cloth.mesh.total_area() * cloth.fabric.density;
        for pair in &seam.pairs {
            let [Some(first), Some(second)] = pair.map(|v| crew.find(seam.cloth, v)) else { continue };
            members.push([first, second]);
            let active = f64::NEG_INFINITY..f64::INFINITY;
            let (time, near, source) = (seam.time, 0.5 * sewn_at, usize::MAX);
            pulls.push(Pull { time, active, mass, near, source, place: None });
        }
    }
    (members, pulls)
}

/// What of some seams cannot be.
pub(super) fn unfit(seams: &[Seam], cloths: &[Cloth]) -> Vec<SetupProblem> {
    let mut all = Vec::new();
    for seam in seams {
        let Some(cloth) = cloths.get(seam.cloth) else {
            all.push(SetupProblem::UnknownCloth { index: seam.cloth, cloths: cloths.len() });
            continue;
        };
        let vertices = cloth.mesh.vertices();
        if let Some(&vertex) = seam.pairs.as_flattened().iter().find(|v| **v as usize >= vertices) {
            all.push(SetupProblem::UnknownVertex { cloth: cloth.name.clone(), vertex, vertices });
        }
        if !(seam.time > 0.0 && seam.time.is_finite()) {
            let (what, value) = ("time constant of a seam [s]", seam.time);
            all.push(SetupProblem::OutOfRange { what, value, limit: "above 0" });
        }
    }
    all
}
