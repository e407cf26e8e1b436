//! Draping from coarse to fine: most of the way is gone on few triangles.

use super::World;
use crate::error::FrameError;
use crate::math::reduce;
use crate::probe::Probe;

/// How draping ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draped {
    /// Frames that it took, over all levels.
    pub frames: u32,
    /// Largest force left unbalanced on a vertex, in the directions in which it can go [N].
    pub force: f64,
}

impl World {
    /// Drapes from coarse to fine: steps frames of `frame_dt` [s] until no vertex feels more than `force` [N], or for `most`
    /// frames, then splits every face of the cloths that have [`Cloth::refine`](crate::Cloth::refine), as often as they
    /// may be split. A cloth without levels is draped as it is. With [`Integrator::QuasiStatic`](crate::solve::Integrator)
    /// a frame goes all the way. An error leaves the world as the last frame left it.
    pub fn drape(
        &mut self,
        frame_dt: f64,
        force: f64,
        most: u32,
        probe: &mut Probe,
    ) -> Result<Draped, FrameError> {
        let mut frames = 0;
        loop {
            let last = frames + most;
            while frames < last {
                self.frame(frame_dt, probe)?;
                frames += 1;
                if self.unbalanced() <= force {
                    break;
                }
            }
            let finer = (0..self.cloths.len()).filter(|cloth| self.refine_all(*cloth)).count();
            if finer == 0 {
                return Ok(Draped { frames, force: self.unbalanced() });
            }
        }
    }

    /// Largest force left unbalanced on a vertex, in the directions in which it can go [N].
    pub fn unbalanced(&self) -> f64 {
        let of = |island: &crate::step::Island| {
            let forces = island.model.forces_at(&island.now);
            reduce::max(forces.len(), |i| (island.bound(i) * forces[i]).length())
        };
        self.islands.iter().map(of).fold(0.0, f64::max)
    }
}
