//! How a cloth is refined while it moves: where, how far, how often.

use crate::mesh::levels::{Closure, Folds, Levels, LevelsError, Paper, Seen, Sizing, Wishes};

/// What decides where a cloth is split and where splits are cancelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// By the size that triangles should have [m]: the default.
    Sizing(Sizing),
    /// By how far chords may be off, with long triangles along folds; needs [`Closure::Halves`].
    Folds(Folds),
    /// By angles between neighbours, as B14 has it (B14-12, B14-13).
    Paper(Paper),
}

/// When a cloth is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// After every so many frames, 1 or more.
    Frames(u32),
    /// After every substep, as B14 does (B14-1).
    Substep,
}

/// How a cloth is refined while it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refine {
    /// What decides where.
    pub criterion: Criterion,
    /// Times that a face of the mesh as given may be split.
    pub most: u32,
    /// What becomes of the cracks between levels. Cloth that meets itself needs [`Closure::RedGreen`].
    pub closure: Closure,
    /// Faces that the cloth may have; those that need it most are split first.
    pub budget: usize,
    /// When it is looked at; [`Sizing::patience`] counts frames, or substeps.
    pub every: Every,
    /// Whether the corners of what is split or cancelled go back to where they were before the substep, as in B14-12:
    /// what went wrong there is tried again with other triangles.
    pub local_return: bool,
}

impl Default for Refine {
    fn default() -> Refine {
        Refine {
            criterion: Criterion::Sizing(Sizing::default()),
            most: 2,
            closure: Closure::RedGreen,
            budget: 200_000,
            every: Every::Frames(4),
            local_return: false,
        }
    }
}

impl Refine {
    /// B14's own way (B14-1, B14-12, B14-13): looked at after every substep, with local return and no triangles between
    /// levels (E29, G-2).
    pub fn paper(criterion: Paper, most: u32) -> Refine {
        let (every, closure) = (Every::Substep, Closure::Midpoint);
        let criterion = Criterion::Paper(criterion);
        Refine { criterion, most, closure, every, local_return: true, ..Refine::default() }
    }

    /// Triangles that are long along folds and short across them, halved up to twice as often as others are split into
    /// four.
    pub fn folds(folds: Folds, most: u32) -> Refine {
        let (criterion, closure) = (Criterion::Folds(folds), Closure::Halves);
        Refine { criterion, most, closure, every: Every::Frames(1), ..Refine::default() }
    }

    /// What to split and cancel, within the budget.
    pub fn wishes(&self, levels: &Levels, seen: &Seen) -> Result<Wishes, LevelsError> {
        let wishes = match &self.criterion {
            Criterion::Sizing(sizing) => sizing.wishes(levels, seen),
            Criterion::Folds(folds) => folds.wishes(levels, seen),
            Criterion::Paper(paper) => paper.wishes(levels, seen),
        };
        wishes?.within(levels, self.budget)
    }
}
