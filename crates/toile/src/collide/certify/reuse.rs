//! What a frame may take over from the frames before it.
//!
//! Pairs of blocks that are within a margin of one another are listed. As long as no vertex has gone farther than half
//! of that margin, all others are apart, and the tree need not be walked. Each pair of the list that is found to be
//! apart keeps by how much: until vertices have gone half as far, it need not be looked at.
//!
//! How far vertices have gone is the sum over the frames of the largest step of any of them: more than the truth, never
//! less. Where cloth moves faster than a face is wide within a few frames, nothing is listed.

use super::tree::Blocks;
use glam::DVec3;

/// How many steps like the last one a list should serve, at most.
const STEPS: f64 = 32.0;
/// Most pairs of blocks listed per node. A heap of layers has about sixty; a hopeless frame must not be listed.
pub(super) const CROWD: usize = 400;

/// Two blocks near one another.
#[derive(Clone, Copy)]
pub(super) struct Near {
    pub blocks: Blocks,
    /// Apart while the path, and half of what is of interest, are below this [m].
    until: f32,
}

impl Near {
    /// Two blocks of which nothing is known.
    #[inline]
    pub fn new(blocks: Blocks) -> Near {
        Near { blocks, until: f32::NEG_INFINITY }
    }

    /// Whether the blocks are surely still farther than `reach` [m] apart.
    #[inline]
    pub fn settled(&self, path: f32, reach: f32) -> bool {
        (path + 0.5 * reach).next_up() < self.until
    }

    /// Takes note that the blocks are now surely farther than `gap` [m] apart; not positive where that is not known.
    /// Each of two vertices may use up half.
    #[inline]
    pub fn settle(&mut self, path: f32, gap: f32) {
        self.until = if gap > 0.0 { path.next_down() + 0.4999 * gap } else { f32::NEG_INFINITY };
    }
}

/// How the pairs of a frame are found.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Way {
    /// By the tree.
    Walk,
    /// By the tree, keeping all pairs within a margin [m].
    List(f64),
    /// By the list.
    Follow,
}

/// What is known from the frames before.
pub(super) struct Reuse {
    last: Vec<DVec3>,
    /// The largest step of a vertex since the last frame [m]; infinite where it is not known.
    step: f64,
    /// At least how far any vertex has gone since the list was made [m].
    path: f64,
    /// Within which pairs are listed [m]; where there is a list.
    margin: Option<f64>,
    /// Most to add to what is of interest [m].
    room: f64,
    crowded: bool,
}

impl Reuse {
    pub fn new() -> Reuse {
        Reuse { last: Vec::new(), step: f64::INFINITY, path: 0.0, margin: None, room: 0.0, crowded: false }
    }

    /// Forgets the list: the blocks are others. Faces are about `size` [m] long.
    pub fn restart(&mut self, size: f64) {
        (self.margin, self.room, self.crowded) = (None, 0.5 * size, false);
    }

    /// Takes a frame in.
    pub fn advance(&mut self, x: &[DVec3]) {
        let farthest = |most: f64, (p, q): (&DVec3, &DVec3)| most.max((*p - *q).length_squared());
        self.step = if self.last.len() == x.len() {
            x.iter().zip(&self.last).fold(0.0, farthest).sqrt() * (1.0 + 1e-12)
        } else {
            f64::INFINITY
        };
        self.path += self.step;
        self.last.clear();
        self.last.extend_from_slice(x);
    }

    /// How to find what is within `reach` [m]. Only a `whole` frame, of which every face has a box, is ever listed: what
    /// has no box is near nothing, but may have one in the next frame.
    pub fn way(&mut self, reach: f64, whole: bool) -> Way {
        if whole && self.margin.is_some_and(|margin| reach + 2.0 * self.path <= margin * (1.0 - 1e-12)) {
            return Way::Follow;
        }
        self.path = 0.0;
        let listed = whole && !self.crowded && 4.0 * self.step <= self.room;
        let margin = reach + (STEPS * self.step).min(self.room);
        self.margin = (listed && margin.is_finite()).then_some(margin);
        self.margin.map_or(Way::Walk, Way::List)
    }

    /// How far vertices have gone, as an f32 that is no less [m].
    pub fn path(&self) -> f32 {
        (self.path as f32).next_up()
    }

    /// Gives up listing until the blocks are others.
    pub fn crowd(&mut self) {
        (self.margin, self.crowded) = (None, true);
    }
}
