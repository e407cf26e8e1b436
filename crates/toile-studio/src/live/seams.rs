//! Seams on their way: how far they still are, and why one comes no nearer.

use super::Live;
use crate::protocol::SeamInfo;
use toile::Closing;
use toile::math::DVec3;

/// Time constants of a seam within which it must come nearer: nothing else in its way, it is closed after 6.6 (V97-14).
const PATIENCE: f64 = 8.0;
/// What counts as nearer: this part of the way.
const NEARER: f64 = 0.02;

/// How near a seam has come, and when.
#[derive(Clone, Copy, Debug)]
pub struct Nearest {
    /// [m]
    distance: f64,
    /// [s]
    time: f64,
}

impl Live {
    /// Seams that have not closed, in the order they were made.
    pub fn seams(&self) -> Vec<SeamInfo> {
        let info = |(k, closing): (usize, Closing)| {
            let Closing { seam, distance, sewn_at } = &closing;
            let waited = self.nearest.get(k).map_or(0.0, |nearest| self.world.time() - nearest.time);
            SeamInfo {
                object: self.stage.cloth_ids[seam.cloth],
                pairs: seam.pairs.len() as u32,
                distance: *distance,
                sewn_at: *sewn_at,
                stuck: (waited > PATIENCE * seam.time).then(|| self.why_open(&closing)),
            }
        };
        self.world.seams().into_iter().enumerate().map(info).collect()
    }

    /// Takes down after a frame which seams have come nearer.
    pub(super) fn watch_seams(&mut self) {
        let (seams, time) = (self.world.seams(), self.world.time());
        // Seams have no names: when one is gone, the others are given time anew.
        if seams.len() != self.nearest.len() {
            self.nearest = vec![Nearest { distance: f64::INFINITY, time }; seams.len()];
        }
        for (nearest, Closing { distance, .. }) in self.nearest.iter_mut().zip(seams) {
            if distance < (1.0 - NEARER) * nearest.distance {
                *nearest = Nearest { distance, time };
            }
        }
    }

    /// What keeps a seam open, as far as it can be known, and one fix.
    fn why_open(&self, Closing { seam, distance, sewn_at }: &Closing) -> String {
        if distance < sewn_at {
            return "its pairs have met, but sewn it would meet something: move what is near, or undo".into();
        }
        let (x, time) = (self.world.positions(seam.cloth), self.world.time());
        let apart = |[a, b]: &[u32; 2]| x[*a as usize].distance(x[*b as usize]);
        let wide: Vec<[u32; 2]> =
            seam.pairs.iter().filter(|pair| apart(pair) > 0.5 * distance).copied().collect();
        let pins =
            || self.stage.pins.iter().filter(|pin| pin.cloth == seam.cloth && pin.active.contains(&time));
        let held = |v: &u32| pins().any(|pin| pin.vertices.contains(v));
        if let Some([a, b]) = wide.iter().find(|pair| pair.iter().all(held)) {
            return format!("pins hold vertices {a} and {b}, which are to meet: unpin one side");
        }
        let pushed = self.world.contact_forces(seam.cloth);
        if wide.as_flattened().iter().any(|v| pushed[*v as usize] != DVec3::ZERO) {
            return "cloth or a body lies between: move it away, or undo".into();
        }
        "nothing touches it there: the cloth swings or is held back; wait, let go what holds it, or undo"
            .into()
    }
}
