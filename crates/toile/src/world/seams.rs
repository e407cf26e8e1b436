//! Seams that close: drawn together by elastics, sewn at the end of the frame in which they have met.

use super::{Heritage, ReshapeError, TailorError, World};
use crate::mesh::{Remap, edit};
use crate::setup::Seam;

/// How near the pairs of a seam must be to be sewn, over the mean edge at them: what G-18 leaves open.
const MET: f64 = 0.01;

/// The least that it can be, over the contact distance: three times what the guarantee keeps.
const NEAREST: f64 = 0.15;

/// A seam on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Closing {
    /// What it draws together.
    pub seam: Seam,
    /// Largest distance of its pairs now [m].
    pub distance: f64,
    /// Distance at which they are sewn [m]: a hundredth of the mean edge at its vertices, never more than the contact
    /// distance, and never less than 0.15 of it, for the guarantee keeps 0.05.
    pub sewn_at: f64,
}

impl World {
    /// Seams that have not closed yet, in the order they were made.
    pub fn seams(&self) -> Vec<Closing> {
        self.seams.iter().map(|seam| self.closing(seam)).collect()
    }

    fn closing(&self, seam: &Seam) -> Closing {
        let x = self.positions(seam.cloth);
        let apart = |[a, b]: &[u32; 2]| x[*a as usize].distance(x[*b as usize]);
        let distance = seam.pairs.iter().map(apart).fold(0.0, f64::max);
        Closing { seam: seam.clone(), distance, sewn_at: self.sewn_at(seam) }
    }

    /// Distance at which a seam is sewn [m].
    pub(super) fn sewn_at(&self, seam: &Seam) -> f64 {
        let mesh = &self.cloths[seam.cloth].mesh;
        let mut drawn = vec![false; mesh.vertices()];
        seam.pairs.as_flattened().iter().for_each(|v| drawn[*v as usize] = true);
        let at = mesh.edges().iter().filter(|edge| edge.ends.iter().any(|v| drawn[*v as usize]));
        let (sum, count) = at.fold((0.0, 0.0), |(sum, n), edge| (sum + mesh.rest_length(edge), n + 1.0));
        let met = MET * sum / f64::max(count, 1.0);
        let gap = self.contact.gap;
        match self.contact.is_off() || !self.contact.guarantee {
            true => met,
            false => met.clamp(NEAREST * gap, gap),
        }
    }

    /// Draws pairs of vertices of a cloth together within about 6.6 `time` [s] (V97-14), and sews them when all have met
    /// (G-18). Pairs that could not be sewn are refused now.
    pub fn seam(&mut self, cloth: usize, pairs: &[[u32; 2]], time: f64) -> Result<Remap, TailorError> {
        let cloths = self.cloths.len();
        let own = self.cloths.get(cloth).ok_or(ReshapeError::NoCloth { cloth, cloths })?;
        if own.is_solid() {
            return Err(ReshapeError::Solid { cloth: own.name.clone() }.into());
        }
        edit::sew(&own.mesh, pairs)?;
        let pairs = pairs.iter().copied().filter(|[a, b]| a != b).collect();
        let mut seams = self.seams.clone();
        seams.push(Seam { cloth, pairs, time });
        self.with_seams(seams)?;
        let mesh = &self.cloths[cloth].mesh;
        Ok(Remap::identity(mesh.vertices(), mesh.faces().len()))
    }

    /// Takes a seam away again, by its place in [`World::seams`].
    pub(super) fn unpick(&mut self, cloth: usize, seam: usize) -> Result<Remap, TailorError> {
        if self.seams.get(seam).is_none_or(|own| own.cloth != cloth) {
            let (cloth, seams) = (self.cloths[cloth].name.clone(), self.seams.len());
            return Err(TailorError::NoSeam { cloth, seam, seams });
        }
        let mut seams = self.seams.clone();
        seams.remove(seam);
        self.with_seams(seams)?;
        let mesh = &self.cloths[cloth].mesh;
        Ok(Remap::identity(mesh.vertices(), mesh.faces().len()))
    }

    fn with_seams(&mut self, seams: Vec<Seam>) -> Result<(), ReshapeError> {
        let mut setup = self.setup();
        setup.seams = seams;
        let (heritage, start) = (Heritage::all(&setup), self.start_before(None));
        // Cloths keep their numbers: what was reshaped since the last step stays known.
        let reshaped = self.reshaped.clone();
        self.revise(setup, &heritage).map_err(ReshapeError::Setup)?;
        self.reshaped = reshaped;
        self.formed_since(start);
        Ok(())
    }

    /// Sews the seams whose pairs have all met. One after which something would meet waits for the next frame, and so does
    /// one that no mesh allows any more since the cloth was changed: until then it is drawn together.
    pub(super) fn close_seams(&mut self) {
        let mut next = 0;
        while next < self.seams.len() {
            let Closing { seam, distance, sewn_at } = self.closing(&self.seams[next]);
            let met = distance < sewn_at;
            let edited = met.then(|| edit::sew(&self.cloths[seam.cloth].mesh, &seam.pairs).ok()).flatten();
            // A seam that is sewn has no pairs left and is gone.
            let sewn = edited.is_some_and(|edited| self.reshape(seam.cloth, &edited, None).is_ok());
            next += usize::from(!sewn);
        }
    }
}
