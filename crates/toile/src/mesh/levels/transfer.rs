//! What a change did, and what moves with it: where vertices and faces came from, and momentum that is not lost (G-3).

use super::lattice;
use super::tree::Node;
use super::{Levels, LevelsError, NONE};
use crate::math::DVec3;
use crate::mesh::Mesh;
use crate::mesh::edit::{Edited, Origin, Remap};

/// A changed mesh.
#[derive(Clone, Debug)]
pub struct Change {
    /// The new mesh, and where everything in it came from: old vertices in their old order, and midpoints of old edges. A
    /// face lies in the old one that its middle is in. Densities stay.
    pub edited: Edited,
    /// Where the mesh is not as it was. Regions do not overlap.
    pub regions: Vec<Region>,
}

/// A face of some level within which the mesh changed: the same cloth before and after, and the same surface if it was one
/// face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its corners, in the new mesh.
    pub corners: [u32; 3],
    /// Faces of the old mesh there: the first, and one past the last.
    pub old: [u32; 2],
    /// Faces of the new mesh there.
    pub new: [u32; 2],
}

/// Momentum that differs by less, over the most that a region could have, is the same.
const ROUNDING: f64 = 1e-15;

/// What changed between two forests over the same base.
pub(super) fn between(old: &Levels, new: &Levels) -> Change {
    let mut remap = Remap {
        vertices: kept(old, new),
        faces: vec![NONE; new.mesh().faces().len()],
        density: vec![1.0; new.mesh().faces().len()],
    };
    let mut regions = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.nodes.len() {
        let (before, after) = (&old.nodes[i], &new.nodes[j]);
        if before.is_split() && after.split_like(before) {
            (i, j) = (i + 1, j + 1);
            continue;
        }
        let (from, to) = (&old.closed.spots[range(before.span)], &new.closed.spots[range(after.span)]);
        for (k, triangle) in to.iter().enumerate() {
            let middle = lattice::thrice_middle(triangle);
            let place = from.iter().position(|t| lattice::contains(t, middle)).unwrap_or(0);
            remap.faces[after.span[0] as usize + k] = before.span[0] + place as u32;
        }
        if from != to {
            regions.push(Region { corners: after.corners, old: before.span, new: after.span });
        }
        born((old, before), (new, after), &mut remap.vertices);
        (i, j) = (before.end as usize, after.end as usize);
    }
    Change { edited: Edited { mesh: new.mesh().clone(), remap }, regions }
}

fn range([first, last]: [u32; 2]) -> std::ops::Range<usize> {
    first as usize..last as usize
}

/// Old vertices by their old numbers; vertices that are not old come as [`NONE`].
fn kept(old: &Levels, new: &Levels) -> Vec<Origin> {
    let base = (0..new.numbers.first as u32).map(Origin::Old);
    let later = new.numbers.places.iter().map(|&place| Origin::Old(old.numbers.of(place).unwrap_or(NONE)));
    base.chain(later).collect()
}

/// The vertices that are new in a face: between the corners of the old triangle that each is in.
fn born((old, before): (&Levels, &Node), (new, after): (&Levels, &Node), vertices: &mut [Origin]) {
    let is_new = |v: u32, vertices: &[Origin]| vertices[v as usize] == Origin::Old(NONE);
    for (face, spots) in range(after.span).map(|f| (new.mesh().faces()[f], &new.closed.spots[f])) {
        for (v, spot) in face.into_iter().zip(spots).filter(|(v, _)| is_new(*v, vertices)).collect::<Vec<_>>()
        {
            let within = range(before.span).find_map(|f| {
                let weights = lattice::weights(&old.closed.spots[f], *spot)?;
                Some(old.mesh().faces()[f].into_iter().zip(weights).collect())
            });
            if let Some(parts) = within {
                vertices[v as usize] = Origin::of_weights(parts);
            }
        }
    }
}

/// The mass of each vertex [kg]: a third of that of each face round it.
pub fn lumped(mesh: &Mesh, face_masses: &[f64]) -> Vec<f64> {
    let mut masses = vec![0.0; mesh.vertices()];
    for (face, mass) in mesh.faces().iter().zip(face_masses) {
        for &v in face {
            masses[v as usize] += mass / 3.0;
        }
    }
    masses
}

impl Change {
    /// Velocities [m/s] of the new vertices, from those of the old ones, with the momentum of every region as it was.
    ///
    /// Old vertices keep theirs and midpoints get the mean of their ends. With masses a third of their faces', that is exact
    /// where faces are split, for a linear field is as much on the whole as on its parts. Where vertices vanish, or a cut
    /// that closed a crack lies elsewhere, something is missing; the three corners of the region get it (G-3), shared
    /// such that all change by the same velocity. `masses` are those of the faces [kg] of the old and of the new mesh.
    pub fn transfer(
        &self,
        old: &Mesh,
        masses: [&[f64]; 2],
        velocities: &[DVec3],
    ) -> Result<Vec<DVec3>, LevelsError> {
        let new = &self.edited.mesh;
        Levels::check_count("old velocities", velocities.len(), old.vertices())?;
        Levels::check_count("masses of old faces", masses[0].len(), old.faces().len())?;
        Levels::check_count("masses of new faces", masses[1].len(), new.faces().len())?;
        let carried = self.edited.remap.carry(velocities);
        let lumps = lumped(new, masses[1]);
        let mut corrected = carried.clone();
        for region in &self.regions {
            let before = momentum(old, masses[0], velocities, region.old);
            let after = momentum(new, masses[1], &carried, region.new);
            let fastest =
                range(region.old).flat_map(|f| old.faces()[f]).map(|v| velocities[v as usize].length());
            let scale = fastest.fold(0.0, f64::max) * range(region.old).map(|f| masses[0][f]).sum::<f64>();
            let mass: f64 = region.corners.iter().map(|&v| lumps[v as usize]).sum();
            let gain = (before - after) / mass;
            // What is rounded off is not lost.
            if gain.is_finite() && (before - after).length() > ROUNDING * scale {
                region.corners.iter().for_each(|&v| corrected[v as usize] += gain);
            }
        }
        Ok(corrected)
    }
}

/// The momentum of some faces [kg m/s].
fn momentum(mesh: &Mesh, masses: &[f64], velocities: &[DVec3], faces: [u32; 2]) -> DVec3 {
    range(faces)
        .map(|f| masses[f] / 3.0 * mesh.faces()[f].iter().map(|&v| velocities[v as usize]).sum::<DVec3>())
        .sum()
}
