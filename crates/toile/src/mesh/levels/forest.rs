//! Levels as plain numbers, for files, and back.

use super::halves::MOST_AGAIN;
use super::tree::{depth_first, roots};
use super::{Closure, Counts, Face, Ground, Levels, LevelsError, Mark};
use crate::mesh::Mesh;
use std::sync::Arc;

/// How a face of the forest stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whether it is split: its children follow it, each with all below it.
    pub split: bool,
    /// The side at which it is halved, of 0 to 2; 0 if it is not.
    pub side: u8,
    /// What happened to it.
    pub mark: Mark,
    /// The tick at which it was split, or became a leaf.
    pub since: u64,
    /// See [`Levels::again`].
    pub again: u8,
}

/// All that levels are beyond their base mesh, their closure and how deep they may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forest {
    /// The base faces in order, each followed by all below it.
    pub faces: Vec<Standing>,
    /// What happened so far.
    pub counts: Counts,
    /// Ticks that passed.
    pub now: u64,
}

impl Levels {
    /// These levels as numbers.
    pub fn forest(&self) -> Forest {
        let standing = |node: &super::Node| Standing {
            split: node.is_split(),
            side: node.side,
            mark: node.mark,
            since: node.since,
            again: node.again,
        };
        Forest { faces: self.nodes.iter().map(standing).collect(), counts: self.counts, now: self.now }
    }

    /// The levels that [`Levels::forest`] was asked of, to the bit: over the same `base`, with the same limits.
    pub fn of(base: Mesh, most: u32, closure: Closure, forest: &Forest) -> Result<Levels, LevelsError> {
        let plain = Levels::new(base, most, closure)?;
        let ground: Arc<Ground> = plain.ground;
        let mut nodes = roots(&ground);
        let mut waiting: Vec<Face> = (0..nodes.len() as Face).rev().collect();
        let mut rest = forest.faces.iter();
        while let Some(face) = waiting.pop() {
            let Some(standing) = rest.next() else {
                return Err(LevelsError::Forest { faces: forest.faces.len() });
            };
            let first = nodes.len() as Face;
            let node = &mut nodes[face as usize];
            (node.mark, node.since) = (standing.mark, standing.since);
            node.again = standing.again.min(MOST_AGAIN);
            if standing.split {
                if node.level >= ground.deepest() {
                    return Err(LevelsError::Deepest { face, most });
                }
                let children = match closure {
                    Closure::Halves if standing.side > 2 => {
                        return Err(LevelsError::Forest { faces: forest.faces.len() });
                    }
                    Closure::Halves => node.halved(face, standing.side).to_vec(),
                    _ => node.quartered(face).to_vec(),
                };
                node.set_children(first, standing.side * u8::from(children.len() == 2));
                waiting.extend((first..first + children.len() as Face).rev());
                nodes.extend(children);
            }
        }
        if rest.next().is_some() {
            return Err(LevelsError::Forest { faces: forest.faces.len() });
        }
        let levels = Levels::grown(ground, depth_first(&nodes), forest.counts, forest.now)?;
        match levels.is_whole() {
            true => Ok(levels),
            false => Err(LevelsError::Forest { faces: forest.faces.len() }),
        }
    }
}
