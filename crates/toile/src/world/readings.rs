//! What people ask a world about one place of a cloth.

use super::World;
use crate::account::Account;
use crate::error::SetupError;
use crate::forces::membrane::{material_weights, principal_strain};
use crate::math::DVec3;
use crate::step::Island;

impl World {
    /// What acts on a vertex of a cloth, by source, and what it did in the last substep.
    pub fn account(&self, cloth: usize, vertex: u32) -> Result<Account, SetupError> {
        let found = self.find(cloth, vertex);
        let (island, particle) = found.map_err(|problem| SetupError { problems: vec![problem] })?;
        Ok(self.islands[island].account(particle))
    }

    /// Principal strains, and stress along warp, along weft and in shear [N/m], of the cloth around a vertex: the mean of
    /// its faces by area. Zeros where no face is.
    pub fn tension(&self, cloth: usize, vertex: u32) -> ([f64; 2], [f64; 3]) {
        let Some(owner) = self.cloths.get(cloth) else { return Default::default() };
        let (x, mesh) = (self.positions(cloth), &owner.mesh);
        let plane = owner.fabric.in_plane();
        let (mut strain, mut stress, mut area) = ([0.0; 2], [0.0; 3], 0.0);
        for (k, face) in mesh.faces().iter().enumerate().filter(|(_, face)| face.contains(&vertex)) {
            let (weights, corners) = (material_weights(&mesh.rest()[k]), face.map(|v| x[v as usize]));
            let image = |row: [f64; 3]| (0..3).fold(DVec3::ZERO, |sum, a| sum + corners[a] * row[a]);
            let [u, v] = weights.map(image);
            let green = [0.5 * (u.dot(u) - 1.0), 0.5 * (v.dot(v) - 1.0), u.dot(v)];
            let own = mesh.area()[k];
            let principal = principal_strain(&weights, corners);
            let reply = plane.reply(green).stress;
            (0..2).for_each(|r| strain[r] += own * principal[r]);
            (0..3).for_each(|r| stress[r] += own * reply[r]);
            area += own;
        }
        if area == 0.0 { Default::default() } else { (strain.map(|s| s / area), stress.map(|s| s / area)) }
    }

    /// Where pairs push [m]: the nearest points of the two sides of each.
    pub fn contact_places(&self) -> Vec<[DVec3; 2]> {
        let of = |island: &Island| island.model.contact_places(&island.now);
        self.islands.iter().flat_map(of).collect()
    }
}
