//! Factorisation and substitution over the tree of fronts.
//!
//! The fronts of a subtree are neighbours in every array, so that two subtrees work on disjoint slices. Each
//! front adds what its children pass on in their fixed order; threads only decide who does it.

use super::kernel::{
    Backward, Column, Decompose, Eliminate, Forward, Instructions, PARTICLES, Scalar, TILE, Update, triangle,
    triangle_width,
};
use super::symbolic::{Entry, Front, Symbolic};

/// Tiles of columns that are eliminated together before the rows below see them.
const PANEL: usize = 4;

/// Work [flop] of a front from which its rows are shared among threads.
const SHARE_FLOPS: f64 = 2e7;

/// Row tiles handed to a thread at a time.
const ROWS: usize = 2;

/// The numbers of a factor L of a scaled matrix: strictly lower part, and the reciprocal diagonal.
#[derive(Clone, Debug, Default)]
pub struct Numbers<S> {
    panels: Vec<Column<S>>,
    inverse: Vec<S>,
    work: Vec<Column<S>>,
}

/// The scaled matrix that is factored.
pub trait Source: Sync {
    /// The block in row `entry.other` and column `pivot`, column by column.
    fn block(&self, entry: &Entry, pivot: u32) -> [[f64; 3]; 3];
}

impl<S: Scalar> Numbers<S> {
    /// Factors the matrix of `source`. On failure returns the place of the pivot that was not positive.
    pub fn factor(
        &mut self,
        symbolic: &Symbolic,
        source: &impl Source,
        instructions: Instructions,
    ) -> Result<(), usize> {
        self.panels.resize(symbolic.panel_columns(), Column::default());
        self.inverse.resize(3 * symbolic.len(), S::default());
        self.work.resize(symbolic.work_columns(), Column::default());
        let Some(root) = symbolic.fronts.len().checked_sub(1) else { return Ok(()) };
        let tree = Tree { symbolic, source, instructions };
        tree.factor(root, &mut self.panels, &mut self.inverse, &mut self.work)
    }

    /// Replaces `y`, in the order of elimination, by (L Lᵀ)⁻¹ y. `edges` is workspace.
    pub fn solve(&self, symbolic: &Symbolic, y: &mut [S], edges: &mut Vec<S>, instructions: Instructions) {
        edges.resize(TILE * symbolic.edge_tiles(), S::default());
        let Some(root) = symbolic.fronts.len().checked_sub(1) else { return };
        let substitution =
            Substitution { symbolic, panels: &self.panels, inverse: &self.inverse, instructions };
        substitution.forward(root, y, edges);
        substitution.backward(root, y, edges);
    }
}

/// What a factorisation works with.
pub struct Tree<'a, A> {
    /// The fronts.
    pub symbolic: &'a Symbolic,
    /// The matrix.
    pub source: &'a A,
    /// What to compute with.
    pub instructions: Instructions,
}

impl<A: Source> Tree<'_, A> {
    /// Factors the subtree of front `t`; its update is left at the start of `work`.
    fn factor<S: Scalar>(
        &self,
        t: usize,
        panels: &mut [Column<S>],
        inverse: &mut [S],
        work: &mut [Column<S>],
    ) -> Result<(), usize> {
        let fronts = &self.symbolic.fronts;
        let front = &fronts[t];
        let start = &fronts[front.subtree];
        let (below, panel) = panels.split_at_mut(front.panel - start.panel);
        let (below_inverse, inverse) = inverse.split_at_mut(3 * (front.first - start.first));
        let (update, rest) = work.split_at_mut(front.update_columns());
        match front.children[..] {
            [a, b] => {
                let (first, second) = (&fronts[a], &fronts[b]);
                let split = fronts[second.subtree].panel - start.panel;
                let (panels_a, panels_b) = below.split_at_mut(split);
                let split = 3 * (fronts[second.subtree].first - start.first);
                let (inverse_a, inverse_b) = below_inverse.split_at_mut(split);
                let (work_a, work_b) = if front.fork_factor {
                    let (work_a, work_b) = rest.split_at_mut(first.work);
                    let (done_a, done_b) = rayon::join(
                        || self.factor(a, panels_a, inverse_a, work_a),
                        || self.factor(b, panels_b, inverse_b, work_b),
                    );
                    done_a.and(done_b)?;
                    (work_a, work_b)
                } else {
                    self.factor(a, panels_a, inverse_a, &mut rest[..first.work])?;
                    let (work_a, work_b) = rest.split_at_mut(first.update_columns());
                    self.factor(b, panels_b, inverse_b, work_b)?;
                    (work_a, work_b)
                };
                self.add_matrix(front, panel, update);
                self.add_child(front, first, work_a, panel, update);
                self.add_child(front, second, work_b, panel, update);
            }
            [a] => {
                self.factor(a, below, below_inverse, rest)?;
                self.add_matrix(front, panel, update);
                self.add_child(front, &fronts[a], rest, panel, update);
            }
            _ => self.add_matrix(front, panel, update),
        }
        self.eliminate(front, panel, inverse, update)
    }

    /// Clears a front and puts the matrix in.
    fn add_matrix<S: Scalar>(&self, front: &Front, panel: &mut [Column<S>], update: &mut [Column<S>]) {
        panel.fill(Column::default());
        update.fill(Column::default());
        let pivots = &self.symbolic.order[front.first..][..front.pivots];
        for entry in &self.symbolic.entries[front.entries.clone()] {
            let block = self.source.block(entry, pivots[entry.column as usize]);
            let (start, lane) = cell(front, entry.row as usize, entry.column as usize);
            for (column, values) in panel[start..start + 3].iter_mut().zip(block) {
                for (slot, value) in column.0[lane..lane + 3].iter_mut().zip(values) {
                    *slot = S::near(value);
                }
            }
        }
    }

    /// Adds what `child` passes on.
    fn add_child<S: Scalar>(
        &self,
        front: &Front,
        child: &Front,
        passed: &[Column<S>],
        panel: &mut [Column<S>],
        update: &mut [Column<S>],
    ) {
        let up = &self.symbolic.up[child.up.clone()];
        for (tile, rows) in up.chunks(PARTICLES).enumerate() {
            let source = &passed[triangle(tile)..];
            let mut runs = [Run::default(); PARTICLES];
            let count = find_runs(front, rows, &mut runs);
            for (j, &column) in up[..PARTICLES * tile + rows.len()].iter().enumerate() {
                let source = &source[3 * j..3 * j + 3];
                // Of the last tile of columns, only what lies on and below the diagonal.
                let above = j.saturating_sub(PARTICLES * tile);
                let column = column as usize;
                for run in &runs[..count] {
                    let skip = above.saturating_sub(run.from);
                    if skip >= run.len {
                        continue;
                    }
                    let target = if column < front.pivots {
                        &mut panel[run.panel + 3 * column..][..3]
                    } else {
                        &mut update[run.update + 3 * (column - front.pivots)..][..3]
                    };
                    let (from, to) = (3 * (run.from + skip), run.lane + 3 * skip);
                    let len = 3 * (run.len - skip);
                    for (target, source) in target.iter_mut().zip(source) {
                        let source = &source.0[from..from + len];
                        target.0[to..to + len].iter_mut().zip(source).for_each(|(t, s)| *t += *s);
                    }
                }
            }
        }
    }

    /// Eliminates the pivots of a front and computes what it passes on.
    pub fn eliminate<S: Scalar>(
        &self,
        front: &Front,
        panel: &mut [Column<S>],
        inverse: &mut [S],
        update: &mut [Column<S>],
    ) -> Result<(), usize> {
        let (width, tiles) = (front.width(), front.pivot_tiles());
        if width == 0 {
            return Ok(());
        }
        let on = self.instructions;
        let grain = if front.flops() > SHARE_FLOPS { ROWS } else { usize::MAX };
        let rows_left = |count: usize, t: usize| TILE.min(3 * count - TILE * t);
        for head in (0..tiles).step_by(PANEL) {
            let end = (head + PANEL).min(tiles);
            for t in head..end {
                let (pivots, rest) = panel.split_at_mut(triangle(t));
                let (known, found) = inverse.split_at_mut(TILE * t);
                let rows = rows_left(front.pivots, t);
                let row = &mut rest[..TILE * t + rows];
                Eliminate { row, rows, pivots, inverse: known, columns: head..t }.on(on);
                let failed = Decompose { row, start: TILE * t, inverse: &mut found[..rows] }.on(on);
                if let Some(column) = failed {
                    return Err(front.first + (TILE * t + column) / 3);
                }
            }
            let done = triangle_width(width.min(TILE * end));
            let (pivots, rest) = panel.split_at_mut(done);
            let inverse = &inverse[..width.min(TILE * end)];
            let (rest, border) = rest.split_at_mut(triangle_width(width) - done);
            each_row(rest, end..tiles, grain, &|t| triangle_width(width.min(TILE * t)), &|t, row| {
                let rows = rows_left(front.pivots, t);
                Eliminate { row, rows, pivots, inverse, columns: head..end }.on(on);
            });
            each_row(border, 0..front.border_tiles(), grain, &|t| t * width, &|t, row| {
                let rows = rows_left(front.border, t);
                Eliminate { row, rows, pivots, inverse, columns: head..end }.on(on);
            });
        }
        let border = &panel[triangle_width(width)..];
        let start = |t: usize| triangle_width((3 * front.border).min(TILE * t));
        each_row(update, 0..front.border_tiles(), grain, &start, &|tile, row| {
            Update { row, rows: rows_left(front.border, tile), tile, border, width }.on(on);
        });
        Ok(())
    }
}

/// Rows of a tile that stay neighbours in the parent.
#[derive(Clone, Copy, Default)]
struct Run {
    /// Its first particle in the tile, and how many there are.
    from: usize,
    len: usize,
    /// Where the row tile of the parent starts in the panel and in the update, and the lane there.
    panel: usize,
    update: usize,
    lane: usize,
}

/// Cuts the `rows` of a tile, places in the parent's front, into runs; returns how many.
fn find_runs(front: &Front, rows: &[u32], runs: &mut [Run; PARTICLES]) -> usize {
    let mut count = 0;
    for (from, &row) in rows.iter().enumerate() {
        let row = row as usize;
        let (panel, lane) = cell(front, row, 0);
        let follows = from > 0 && rows[from - 1] as usize + 1 == row && lane > 0 && row != front.pivots;
        if follows {
            runs[count - 1].len += 1;
        } else {
            let update = row.checked_sub(front.pivots).map_or(0, |row| triangle(row / PARTICLES));
            runs[count] = Run { from, len: 1, panel, update, lane };
            count += 1;
        }
    }
    count
}

/// Start of the column and lane of a block of the panel, in places of the front.
fn cell(front: &Front, row: usize, column: usize) -> (usize, usize) {
    let start = if row < front.pivots {
        triangle(row / PARTICLES)
    } else {
        triangle_width(front.width()) + (row - front.pivots) / PARTICLES * front.width()
    };
    let lane = if row < front.pivots { row % PARTICLES } else { (row - front.pivots) % PARTICLES };
    (start + 3 * column, 3 * lane)
}

/// Calls `work(t, row tile t)` for the row tiles `rows` that fill `storage`, row t starting at `start(t)` less
/// `start(rows.start)`; on several threads if there are more than `grain`.
fn each_row<S: Scalar>(
    storage: &mut [Column<S>],
    rows: std::ops::Range<usize>,
    grain: usize,
    start: &(impl Fn(usize) -> usize + Sync),
    work: &(impl Fn(usize, &mut [Column<S>]) + Sync),
) {
    let from = start(rows.start);
    if rows.len() > grain {
        let middle = rows.start + rows.len() / 2;
        let (low, high) = storage.split_at_mut(start(middle) - from);
        rayon::join(
            || each_row(low, rows.start..middle, grain, start, work),
            || each_row(high, middle..rows.end, grain, start, work),
        );
    } else {
        for t in rows {
            work(t, &mut storage[start(t) - from..start(t + 1) - from]);
        }
    }
}

struct Substitution<'a, S> {
    symbolic: &'a Symbolic,
    panels: &'a [Column<S>],
    inverse: &'a [S],
    instructions: Instructions,
}

/// The parts of a slice that belong to the children of a front and to itself.
struct Parts<'a, S> {
    /// Empty where there is no child.
    children: [&'a mut [S]; 2],
    own: &'a mut [S],
}

impl<S: Scalar> Substitution<'_, S> {
    fn split<'b>(&self, t: usize, slice: &'b mut [S], at: impl Fn(&Front) -> usize) -> Parts<'b, S> {
        let fronts = &self.symbolic.fronts;
        let start = at(&fronts[fronts[t].subtree]);
        let (mut rest, own) = slice.split_at_mut(at(&fronts[t]) - start);
        let mut children: [&mut [S]; 2] = Default::default();
        let mut from = start;
        for (&child, part) in fronts[t].children.iter().zip(&mut children) {
            let end = at(&fronts[child + 1]);
            (*part, rest) = std::mem::take(&mut rest).split_at_mut(end - from);
            from = end;
        }
        Parts { children, own }
    }

    fn parts<'b>(&self, t: usize, y: &'b mut [S], edges: &'b mut [S]) -> (Parts<'b, S>, Parts<'b, S>) {
        (self.split(t, y, |front| 3 * front.first), self.split(t, edges, |front| TILE * front.edge))
    }

    /// Calls `go` for the children of front `t`.
    fn descend(
        &self,
        t: usize,
        y: &mut [&mut [S]; 2],
        edges: &mut [&mut [S]; 2],
        go: impl Fn(usize, &mut [S], &mut [S]) + Sync,
    ) {
        let front = &self.symbolic.fronts[t];
        match (&front.children[..], y, edges) {
            (&[a, b], [ya, yb], [ea, eb]) if front.fork_solve => {
                rayon::join(|| go(a, ya, ea), || go(b, yb, eb));
            }
            (children, y, edges) => {
                for ((child, y), edges) in children.iter().zip(y).zip(edges) {
                    go(*child, y, edges);
                }
            }
        }
    }

    fn panel(&self, front: &Front) -> (&[Column<S>], &[S]) {
        let panel = &self.panels[front.panel..][..front.panel_columns()];
        (panel, &self.inverse[3 * front.first..][..front.width()])
    }

    fn forward(&self, t: usize, y: &mut [S], edges: &mut [S]) {
        let front = &self.symbolic.fronts[t];
        let (mut y, mut edges) = self.parts(t, y, edges);
        self.descend(t, &mut y.children, &mut edges.children, |c, y, e| self.forward(c, y, e));
        edges.own.fill(S::default());
        for (&child, passed) in front.children.iter().zip(&edges.children) {
            let child = &self.symbolic.fronts[child];
            let passed = &passed[passed.len() - TILE * child.border_tiles()..];
            for (&at, values) in self.symbolic.up[child.up.clone()].iter().zip(passed.chunks_exact(3)) {
                let at = at as usize;
                let target = if at < front.pivots {
                    &mut y.own[3 * at..3 * at + 3]
                } else {
                    &mut edges.own[3 * (at - front.pivots)..][..3]
                };
                for (target, value) in target.iter_mut().zip(values) {
                    *target += *value;
                }
            }
        }
        let (panel, inverse) = self.panel(front);
        Forward { panel, inverse, y: y.own, border: edges.own }.on(self.instructions);
    }

    fn backward(&self, t: usize, y: &mut [S], edges: &mut [S]) {
        let front = &self.symbolic.fronts[t];
        let (mut y, mut edges) = self.parts(t, y, edges);
        let (panel, inverse) = self.panel(front);
        Backward { panel, inverse, y: y.own, border: edges.own }.on(self.instructions);
        for (&child, passed) in front.children.iter().zip(&mut edges.children) {
            let child = &self.symbolic.fronts[child];
            let from = passed.len() - TILE * child.border_tiles();
            let passed = &mut passed[from..];
            for (&at, values) in self.symbolic.up[child.up.clone()].iter().zip(passed.chunks_exact_mut(3)) {
                let at = at as usize;
                values.copy_from_slice(if at < front.pivots {
                    &y.own[3 * at..3 * at + 3]
                } else {
                    &edges.own[3 * (at - front.pivots)..][..3]
                });
            }
        }
        self.descend(t, &mut y.children, &mut edges.children, |c, y, e| self.backward(c, y, e));
    }
}
