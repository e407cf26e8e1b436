//! What can be taken back, and made again.

use super::Live;
use super::stage::Stage;
use crate::protocol::Job;
use toile::Seam;
use toile::math::DVec3;
use toile::mesh::Remap;

/// Changes that can be taken back.
const DEEPEST: usize = 64;

/// A way from how things are to how they were, or back again.
pub enum Way {
    /// To another stage.
    To(Box<Stage>),
    /// To a stage in which an object has the mesh that it had before a job, and is where it was.
    Mend(Box<Mended>),
    /// To do a job again, in the numbers of this mesh of the object.
    Again { object: u32, mesh: u32, job: Job },
}

/// How a cloth was just before a job.
pub struct Mended {
    /// All of the room; the cloth is where it was then.
    pub stage: Stage,
    pub object: u32,
    /// Velocities of its vertices [m/s].
    pub velocities: Vec<DVec3>,
    /// Seams of it that had not closed.
    pub seams: Vec<Seam>,
    pub job: Job,
}

/// What was changed, the newest last, and what was taken back. Each stage has the vertices that cloths have when it is
/// next.
#[derive(Default)]
pub struct History {
    undo: Vec<(String, Way)>,
    redo: Vec<(String, Way)>,
}

impl History {
    /// Adds a change; what was taken back before it is gone.
    pub fn made(&mut self, name: String, back: Way) {
        self.undo.push((name, back));
        self.redo.clear();
        if self.undo.len() > DEEPEST {
            self.undo.remove(0);
        }
    }

    pub fn clear(&mut self) {
        *self = History::default();
    }

    /// What undo would take back and what redo would make again, in words.
    pub fn names(&self) -> [Option<String>; 2] {
        [self.undo.last(), self.redo.last()].map(|change| change.map(|(name, _)| name.clone()))
    }

    /// The mesh of an object became another by itself: stages until the next job on it have the new vertices.
    pub fn follow(&mut self, object: u32, remap: &Remap) {
        for list in [&mut self.undo, &mut self.redo] {
            for (_, way) in list.iter_mut().rev() {
                let stage = match way {
                    Way::To(stage) => stage,
                    Way::Mend(mended) if mended.object != object => &mut mended.stage,
                    Way::Again { object: other, .. } if *other != object => continue,
                    Way::Mend(_) | Way::Again { .. } => break,
                };
                stage.follow(object, remap);
            }
        }
    }
}

impl Live {
    pub(super) fn take_back(&mut self, back: bool) -> Result<(), String> {
        let from = if back { &mut self.history.undo } else { &mut self.history.redo };
        let Some((name, way)) = from.pop() else {
            let what = if back { "undo" } else { "redo" };
            return Err(format!("there is nothing to {what}"));
        };
        let gone = self.go(&way);
        let History { undo, redo } = &mut self.history;
        let (from, to) = if back { (undo, redo) } else { (redo, undo) };
        match gone {
            Ok(opposite) => to.push((name, opposite)),
            Err(error) => {
                from.push((name, way));
                return Err(error);
            }
        }
        Ok(())
    }

    /// Goes a way, and gives that back. An error changes nothing.
    fn go(&mut self, way: &Way) -> Result<Way, String> {
        match way {
            Way::To(stage) => {
                let stage = stage.with_meshes(&self.stage, u32::MAX);
                Ok(Way::To(Box::new(self.settle(stage, None)?)))
            }
            Way::Mend(mended) => self.mend(mended),
            Way::Again { object, mesh, job } => Ok(self.tailor(*object, *mesh, job)?.1),
        }
    }
}
