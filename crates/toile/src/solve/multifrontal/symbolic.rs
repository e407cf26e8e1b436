//! The order of elimination and the fronts, from who touches whom and where particles are.
//!
//! Particles are halved near the median along a long side of their box, again and again; the particles of
//! one half that touch the other separate the two, and are eliminated after both. Each separator is a
//! *front*: a dense matrix over its own particles (the pivots) and those eliminated later that it
//! touches, directly or through what was eliminated before (the border).

use super::kernel::{PARTICLES, triangle_width};
use crate::math::DVec3;
use std::ops::Range;

/// Particles below which a set is not halved again.
const LEAF: usize = 16;

/// A cut may be off the median by this fraction of the set, if that makes it smaller.
const SLACK: usize = 10;

/// Other axes than the longest are tried if they are at least this fraction of it.
const OTHER_AXIS: f64 = 0.5;

/// Work [flop] of the smaller of two subtrees from which they are worth two threads.
const FORK_FLOPS: f64 = 4e6;

/// Columns of the smaller of two subtrees from which substitution is worth two threads.
const FORK_COLUMNS: usize = 1024;

/// No block of the matrix: the diagonal of a particle that touches nobody, itself included.
pub const NO_BLOCK: u32 = u32::MAX;

/// Where a block of the matrix goes in its front.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Index of the block of row `pivot`, column `other`, or [`NO_BLOCK`].
    pub block: u32,
    /// The other particle.
    pub other: u32,
    /// Its place in the front.
    pub row: u32,
    /// Place of the pivot in the front.
    pub column: u32,
}

/// One front. Sizes and places count particles, storage counts columns of tiles.
#[derive(Clone, Debug, Default)]
pub struct Front {
    /// Place of the first pivot in the order of elimination.
    pub first: usize,
    /// Number of pivots.
    pub pivots: usize,
    /// Number of particles in the border.
    pub border: usize,
    /// Fronts that pass their borders to this one, ascending: at most two.
    pub children: Vec<usize>,
    /// First front of the subtree that ends with this one.
    pub subtree: usize,
    /// Blocks of the matrix that start here.
    pub entries: Range<usize>,
    /// For each particle of the border, its place in the parent's front.
    pub up: Range<usize>,
    /// Where the columns of the front start in the factor.
    pub panel: usize,
    /// Where the values at the border start, in tiles.
    pub edge: usize,
    /// Columns of workspace that the subtree needs, its own update first.
    pub work: usize,
    /// Whether the children are factored on separate threads.
    pub fork_factor: bool,
    /// Whether the children are substituted on separate threads.
    pub fork_solve: bool,
}

impl Front {
    /// Scalar columns that are eliminated here.
    pub fn width(&self) -> usize {
        3 * self.pivots
    }

    /// Row tiles of the pivots.
    pub fn pivot_tiles(&self) -> usize {
        self.pivots.div_ceil(PARTICLES)
    }

    /// Row tiles of the border.
    pub fn border_tiles(&self) -> usize {
        self.border.div_ceil(PARTICLES)
    }

    /// Columns of the front in the factor.
    pub fn panel_columns(&self) -> usize {
        triangle_width(self.width()) + self.border_tiles() * self.width()
    }

    /// Columns of what is passed on to the parent.
    pub fn update_columns(&self) -> usize {
        triangle_width(3 * self.border)
    }

    /// Floating-point operations to eliminate the pivots.
    pub fn flops(&self) -> f64 {
        let (k, b) = (3.0 * self.pivots as f64, 3.0 * self.border as f64);
        k * k * k / 3.0 + k * k * b + k * b * b
    }
}

/// Everything about a factor that depends on the pattern and not on the numbers.
#[derive(Clone, Debug)]
pub struct Symbolic {
    /// The particle at each place of the order of elimination.
    pub(super) order: Vec<u32>,
    /// Fronts, each after all that pass something to it.
    pub(super) fronts: Vec<Front>,
    /// Blocks of the matrix, front by front.
    pub(super) entries: Vec<Entry>,
    /// Places of borders in parents.
    pub(super) up: Vec<u32>,
    /// Index of the diagonal block of each particle, or [`NO_BLOCK`].
    pub(super) diagonal: Vec<u32>,
    flops: f64,
}

impl Symbolic {
    /// Analysis of a symmetric pattern of 3×3 blocks: row i has the columns `columns[start[i]..start[i + 1]]`.
    /// `coordinates` [m] only steer the order; any will do, those near in space being near in the pattern helps.
    pub fn new(start: &[usize], columns: &[u32], coordinates: &[DVec3]) -> Symbolic {
        let particles = start.len().saturating_sub(1);
        let graph = Graph { start, columns };
        let mut halving = Halving {
            graph,
            coordinates,
            rank: vec![OUTSIDE; particles],
            fronts: Vec::new(),
            order: Vec::with_capacity(particles),
        };
        halving.gather(&graph.components());
        let mut symbolic = Symbolic {
            order: halving.order,
            fronts: halving.fronts,
            entries: Vec::new(),
            up: Vec::new(),
            diagonal: vec![NO_BLOCK; particles],
            flops: 0.0,
        };
        symbolic.find_borders(graph);
        symbolic.lay_out();
        symbolic
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no particle.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Floating-point operations of one factorisation.
    pub fn flops(&self) -> f64 {
        self.flops
    }

    /// Numbers that a factor holds, padding included.
    pub fn numbers(&self) -> usize {
        super::kernel::TILE * self.panel_columns()
    }

    /// Columns of all fronts.
    pub(super) fn panel_columns(&self) -> usize {
        self.fronts.last().map_or(0, |root| root.panel + root.panel_columns())
    }

    /// Tiles of values at all borders.
    pub(super) fn edge_tiles(&self) -> usize {
        self.fronts.last().map_or(0, |root| root.edge + root.border_tiles())
    }

    /// Columns of workspace.
    pub(super) fn work_columns(&self) -> usize {
        self.fronts.last().map_or(0, |root| root.work)
    }

    /// Finds the border of each front, where it goes in the parent, and which blocks start where.
    fn find_borders(&mut self, graph: Graph) {
        const NOWHERE: u32 = u32::MAX;
        let mut place = vec![0; self.len()];
        for (at, &particle) in self.order.iter().enumerate() {
            place[particle as usize] = at as u32;
        }
        let mut borders: Vec<Vec<u32>> = Vec::with_capacity(self.fronts.len());
        // Index in the present front of each place of the order.
        let mut local = vec![NOWHERE; self.len()];
        for t in 0..self.fronts.len() {
            let Front { first, pivots, .. } = self.fronts[t];
            let own = first..first + pivots;
            let mut border = Vec::new();
            let mut meet = |at: u32, local: &mut [u32]| {
                if at as usize >= own.end && local[at as usize] == NOWHERE {
                    local[at as usize] = 0;
                    border.push(at);
                }
            };
            for &particle in &self.order[own.clone()] {
                for &other in graph.neighbours(particle) {
                    meet(place[other as usize], &mut local);
                }
            }
            for &child in &self.fronts[t].children {
                for &at in &borders[child] {
                    meet(at, &mut local);
                }
            }
            border.sort_unstable();
            for (at, slot) in own.clone().map(|at| at as u32).chain(border.iter().copied()).zip(0..) {
                local[at as usize] = slot;
            }
            let entries = self.entries.len();
            for column in 0..pivots as u32 {
                self.add_entries(graph, first, column, &place, &local);
            }
            self.fronts[t].entries = entries..self.entries.len();
            for child in self.fronts[t].children.clone() {
                let up = self.up.len();
                self.up.extend(borders[child].iter().map(|at| local[*at as usize]));
                self.fronts[child].up = up..self.up.len();
                borders[child] = Vec::new();
            }
            for at in own.chain(border.iter().map(|at| *at as usize)) {
                local[at] = NOWHERE;
            }
            self.fronts[t].border = border.len();
            borders.push(border);
        }
    }

    /// The blocks of one pivot that lie on or below the diagonal of its front.
    fn add_entries(&mut self, graph: Graph, first: usize, column: u32, place: &[u32], local: &[u32]) {
        let particle = self.order[first + column as usize];
        let at = self.entries.len();
        self.entries.push(Entry { block: NO_BLOCK, other: particle, row: column, column });
        for block in graph.row(particle) {
            let other = graph.columns[block];
            if other == particle {
                self.entries[at].block = block as u32;
                self.diagonal[particle as usize] = block as u32;
            } else if place[other as usize] as usize > first + column as usize {
                let row = local[place[other as usize] as usize];
                self.entries.push(Entry { block: block as u32, other, row, column });
            }
        }
    }

    /// Gives every front its storage and decides which subtrees get threads of their own.
    fn lay_out(&mut self) {
        let mut flops: Vec<f64> = Vec::with_capacity(self.fronts.len());
        let (mut panel, mut edge) = (0, 0);
        for t in 0..self.fronts.len() {
            let mut front = std::mem::take(&mut self.fronts[t]);
            front.panel = panel;
            front.edge = edge;
            panel += front.panel_columns();
            edge += front.border_tiles();
            let mut work = 0;
            if let [a, b] = front.children[..] {
                front.fork_factor = flops[a].min(flops[b]) > FORK_FLOPS;
                let columns = |c: usize| {
                    let (last, first) = (&self.fronts[c], &self.fronts[self.fronts[c].subtree]);
                    last.panel + last.panel_columns() - first.panel
                };
                front.fork_solve = columns(a).min(columns(b)) > FORK_COLUMNS;
                let (a, b) = (&self.fronts[a], &self.fronts[b]);
                // What the first passes on waits for the second.
                let beside = if front.fork_factor { a.work } else { a.update_columns() };
                work = a.work.max(beside + b.work);
            } else if let [a] = front.children[..] {
                work = self.fronts[a].work;
            }
            front.work = front.update_columns() + work;
            flops.push(front.flops() + front.children.iter().fold(0.0, |sum, c| sum + flops[*c]));
            self.fronts[t] = front;
        }
        self.flops = flops.last().copied().unwrap_or(0.0);
    }
}

/// Who touches whom.
#[derive(Clone, Copy)]
struct Graph<'a> {
    start: &'a [usize],
    columns: &'a [u32],
}

impl<'a> Graph<'a> {
    fn row(&self, particle: u32) -> Range<usize> {
        self.start[particle as usize]..self.start[particle as usize + 1]
    }

    fn neighbours(&self, particle: u32) -> &'a [u32] {
        &self.columns[self.row(particle)]
    }

    /// Sets of particles that do not touch, each ascending, in order of their first; those that touch nobody are one.
    fn components(&self) -> Vec<Vec<u32>> {
        let n = self.start.len().saturating_sub(1);
        let mut seen = vec![false; n];
        let (mut sets, mut alone) = (Vec::new(), Vec::new());
        for first in 0..n as u32 {
            if seen[first as usize] {
                continue;
            }
            seen[first as usize] = true;
            let mut set = vec![first];
            let mut done = 0;
            while done < set.len() {
                for &other in self.neighbours(set[done]) {
                    if !seen[other as usize] {
                        seen[other as usize] = true;
                        set.push(other);
                    }
                }
                done += 1;
            }
            if set.len() == 1 {
                alone.push(first);
            } else {
                set.sort_unstable();
                sets.push(set);
            }
        }
        if sets.is_empty() || !alone.is_empty() {
            sets.push(alone);
        }
        sets
    }
}

/// Not in the set being halved.
const OUTSIDE: u32 = u32::MAX;

/// The halving of a set of particles. Each part is at most three fifths of the one before, so recursion
/// stays shallow.
struct Halving<'a> {
    graph: Graph<'a>,
    coordinates: &'a [DVec3],
    /// Rank along an axis of each particle of the set being halved, or [`OUTSIDE`].
    rank: Vec<u32>,
    fronts: Vec<Front>,
    order: Vec<u32>,
}

/// A way to halve a set.
struct Cut {
    /// The set, along an axis.
    line: Vec<u32>,
    /// Lowest and highest rank that each touches.
    reach: Vec<(u32, u32)>,
    /// Rank of the first of the right half.
    middle: usize,
    /// Whether the separator is part of the left half.
    left: bool,
    /// Particles in the separator.
    size: usize,
}

impl Halving<'_> {
    /// Orders sets that do not touch, so that none of them separates another.
    fn gather(&mut self, sets: &[Vec<u32>]) {
        if let [set] = sets {
            return self.split(set.clone());
        }
        let total: usize = sets.iter().map(Vec::len).sum();
        let mut left = 0;
        let middle = sets.iter().position(|set| {
            left += set.len();
            2 * left >= total
        });
        let middle = middle.map_or(0, |at| at + 1).clamp(1, sets.len().max(2) - 1);
        let subtree = self.fronts.len();
        let mut children = Vec::new();
        for half in [&sets[..middle.min(sets.len())], &sets[middle.min(sets.len())..]] {
            if !half.is_empty() {
                self.gather(half);
                children.push(self.fronts.len() - 1);
            }
        }
        self.fronts.push(Front { first: self.order.len(), children, subtree, ..Front::default() });
    }

    /// Orders `set` and makes its fronts; the last one made is the root of them.
    fn split(&mut self, set: Vec<u32>) {
        let subtree = self.fronts.len();
        let mut children = Vec::new();
        let mut pivots = if set.len() <= LEAF {
            set
        } else {
            let (halves, separator) = self.halve(set);
            for half in halves {
                if !half.is_empty() {
                    self.split(half);
                    children.push(self.fronts.len() - 1);
                }
            }
            separator
        };
        pivots.sort_unstable();
        self.fronts.push(Front {
            first: self.order.len(),
            pivots: pivots.len(),
            children,
            subtree,
            ..Front::default()
        });
        self.order.extend(pivots);
    }

    /// Two halves, and what separates them: the smallest separator found across the longer axes.
    fn halve(&mut self, set: Vec<u32>) -> ([Vec<u32>; 2], Vec<u32>) {
        let size = self.box_of(&set);
        let longest = (1..3).fold(0, |best, axis| if size[axis] > size[best] { axis } else { best });
        let mut cut = self.cut(set.clone(), longest);
        for axis in (0..3).filter(|axis| *axis != longest && size[*axis] > OTHER_AXIS * size[longest]) {
            let other = self.cut(set.clone(), axis);
            if other.size < cut.size {
                cut = other;
            }
        }
        let mut parts = ([Vec::new(), Vec::new()], Vec::new());
        for (rank, (&particle, &(low, high))) in cut.line.iter().zip(&cut.reach).enumerate() {
            let left = rank < cut.middle;
            let touches = if left { high as usize >= cut.middle } else { (low as usize) < cut.middle };
            if touches && left == cut.left {
                parts.1.push(particle);
            } else {
                parts.0[usize::from(!left)].push(particle);
            }
        }
        parts
    }

    /// The best cut across an axis, not far from the median: wherever the fewest particles of one half touch
    /// the other. Ties go to the cut nearest to the median, and to the lower one.
    fn cut(&mut self, mut line: Vec<u32>, axis: usize) -> Cut {
        let key = |i: u32| self.coordinates.get(i as usize).map_or(0.0, |x| x[axis]);
        line.sort_unstable_by(|a, b| key(*a).total_cmp(&key(*b)).then(a.cmp(b)));
        for (rank, i) in line.iter().enumerate() {
            self.rank[*i as usize] = rank as u32;
        }
        let reach = |(own, i): (usize, &u32)| {
            let ranks = self.graph.neighbours(*i).iter().map(|j| self.rank[*j as usize]);
            let inside = ranks.filter(|rank| *rank != OUTSIDE);
            inside.fold((own as u32, own as u32), |(low, high), rank| (low.min(rank), high.max(rank)))
        };
        let reach: Vec<(u32, u32)> = line.iter().enumerate().map(reach).collect();
        line.iter().for_each(|i| self.rank[*i as usize] = OUTSIDE);
        // A particle of the left half touches the right one for every cut between it and its highest neighbour.
        let mut change = vec![[0i32; 2]; line.len() + 1];
        for (rank, &(low, high)) in reach.iter().enumerate() {
            change[rank + 1][0] += 1;
            change[high as usize + 1][0] -= 1;
            change[low as usize + 1][1] += 1;
            change[rank + 1][1] -= 1;
        }
        let (half, slack) = (line.len() / 2, line.len() / SLACK);
        let mut touching = [0, 0];
        let mut best = (usize::MAX, usize::MAX, 0, true);
        for (middle, change) in change.iter().enumerate().take(half + slack + 1) {
            touching = [touching[0] + change[0], touching[1] + change[1]];
            let size = touching[0].min(touching[1]) as usize;
            let off = middle.abs_diff(half);
            if off <= slack && (size, off) < (best.0, best.1) {
                best = (size, off, middle, touching[0] <= touching[1]);
            }
        }
        let (size, _, middle, left) = best;
        Cut { line, reach, middle, left, size }
    }

    /// Sides of the box round a set.
    fn box_of(&self, set: &[u32]) -> DVec3 {
        let points = || set.iter().filter_map(|i| self.coordinates.get(*i as usize));
        let low = points().fold(DVec3::INFINITY, |low, x| low.min(*x));
        let high = points().fold(DVec3::NEG_INFINITY, |high, x| high.max(*x));
        high - low
    }
}
