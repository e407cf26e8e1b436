//! Dense arithmetic on fronts: tiles of 24 rows (eight particles), stored column by column.
//!
//! A front is a stack of *row tiles*. Column q of a tile holds 24 rows, so the innermost kernel streams
//! through two tiles from end to end, three columns (one particle) at a time: nine vector sums of eight
//! lanes are as many as it takes to keep two multiply-adds in flight, and as few as fit the registers.
//!
//! Every entry follows one chain, s = a_ij, s ← s − l_ip·l_jp for p = 0, 1, …, fused and in this order, whatever
//! the tiling, the instruction set and the number of threads. That is what makes the bits the same.

use pulp::{Arch, Simd, WithSimd};

/// Rows of a tile: eight particles.
pub const TILE: usize = 24;

/// Particles of a tile.
pub const PARTICLES: usize = TILE / 3;

/// Lanes of the vectors that the kernels are written in.
const LANES: usize = 8;

/// Columns that one sweep of the kernel goes through: two tiles of this depth share the first-level cache.
const DEPTH: usize = 128;

/// The numbers a factor is made of.
pub trait Scalar:
    Copy
    + Default
    + Send
    + Sync
    + PartialOrd
    + std::ops::Add<Output = Self>
    + std::ops::AddAssign
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Neg<Output = Self>
{
    /// The nearest number.
    fn near(value: f64) -> Self;

    /// The same number in double precision.
    fn wide(self) -> f64;

    /// self·a + b, rounded once.
    fn fused(self, a: Self, b: Self) -> Self;

    /// 1/√self.
    fn inverse_root(self) -> Self;
}

macro_rules! scalar {
    ($type:ty) => {
        impl Scalar for $type {
            #[inline(always)]
            fn near(value: f64) -> Self {
                value as $type
            }

            #[inline(always)]
            fn wide(self) -> f64 {
                self.into()
            }

            #[inline(always)]
            #[allow(clippy::disallowed_methods, reason = "the fused step of the fixed-order chains above")]
            fn fused(self, a: Self, b: Self) -> Self {
                self.mul_add(a, b)
            }

            #[inline(always)]
            fn inverse_root(self) -> Self {
                1.0 / self.sqrt()
            }
        }
    };
}
scalar!(f32);
scalar!(f64);

/// One column of a tile.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct Column<S>(pub [S; TILE]);

impl<S: Scalar> Default for Column<S> {
    fn default() -> Self {
        Column([S::default(); TILE])
    }
}

/// Columns before row tile `t` of a lower triangle in row tiles.
pub fn triangle(t: usize) -> usize {
    TILE / 2 * t * (t + 1)
}

/// Vectors that hold `rows` rows, at most a tile.
#[inline(always)]
fn vectors(rows: usize) -> usize {
    rows.min(TILE).div_ceil(LANES)
}

/// Three columns of COUNT vectors.
type Three<S, const COUNT: usize> = [[[S; LANES]; COUNT]; 3];

/// The vectors from LOW of three columns.
#[inline(always)]
fn load3<S: Scalar, const LOW: usize, const COUNT: usize>(c: &[Column<S>]) -> Three<S, COUNT> {
    let mut sums = [[[S::default(); LANES]; COUNT]; 3];
    for (sum, column) in sums.iter_mut().zip(c) {
        for v in 0..COUNT {
            sum[v].copy_from_slice(&column.0[LANES * (LOW + v)..][..LANES]);
        }
    }
    sums
}

#[inline(always)]
fn store3<S: Scalar, const LOW: usize, const COUNT: usize>(sums: &Three<S, COUNT>, c: &mut [Column<S>]) {
    for (sum, column) in sums.iter().zip(c) {
        for v in 0..COUNT {
            column.0[LANES * (LOW + v)..][..LANES].copy_from_slice(&sum[v]);
        }
    }
}

/// Subtracts a bᵀ for rows `b_row..b_row + 3` of b.
#[inline(always)]
fn accumulate3<S: Scalar, const LOW: usize, const COUNT: usize>(
    mut sums: Three<S, COUNT>,
    a: &[Column<S>],
    b: &[Column<S>],
    b_row: usize,
) -> Three<S, COUNT> {
    for (a, b) in a.iter().zip(b) {
        let factors = [b.0[b_row], b.0[b_row + 1], b.0[b_row + 2]];
        let mut rows = [[S::default(); LANES]; COUNT];
        for v in 0..COUNT {
            rows[v].copy_from_slice(&a.0[LANES * (LOW + v)..][..LANES]);
        }
        for j in 0..3 {
            let factor = -factors[j];
            for v in 0..COUNT {
                for l in 0..LANES {
                    sums[j][v][l] = rows[v][l].fused(factor, sums[j][v][l]);
                }
            }
        }
    }
    sums
}

/// c −= a bᵀ for three columns c and the vectors from LOW of the rows.
#[inline(always)]
fn subtract3<S: Scalar, const LOW: usize, const COUNT: usize>(
    c: &mut [Column<S>],
    a: &[Column<S>],
    b: &[Column<S>],
    b_row: usize,
) {
    let sums = accumulate3::<S, LOW, COUNT>(load3::<S, LOW, COUNT>(c), a, b, b_row);
    store3::<S, LOW, COUNT>(&sums, c);
}

/// Solves for three columns c after those in `before`, against rows `row..row + 3` of the diagonal tile `d`.
#[inline(always)]
fn divide3<S: Scalar, const COUNT: usize>(
    c: &mut [Column<S>],
    before: &[Column<S>],
    d: &[Column<S>],
    inverse: &[S],
    row: usize,
) {
    let mut sums = accumulate3::<S, 0, COUNT>(load3::<S, 0, COUNT>(c), before, d, row);
    for q in 0..3 {
        for p in 0..q {
            let factor = -d[row + p].0[row + q];
            for v in 0..COUNT {
                for l in 0..LANES {
                    sums[q][v][l] = sums[p][v][l].fused(factor, sums[q][v][l]);
                }
            }
        }
        for v in 0..COUNT {
            for l in 0..LANES {
                sums[q][v][l] = sums[q][v][l] * inverse[row + q];
            }
        }
    }
    store3::<S, 0, COUNT>(&sums, c);
}

/// [`subtract3`] for the vectors `low..high`.
#[inline(always)]
fn subtract_rows<S: Scalar>(
    c: &mut [Column<S>],
    a: &[Column<S>],
    b: &[Column<S>],
    b_row: usize,
    (low, high): (usize, usize),
) {
    match (low, high) {
        (0, 3) => subtract3::<S, 0, 3>(c, a, b, b_row),
        (1, 3) => subtract3::<S, 1, 2>(c, a, b, b_row),
        (2, 3) => subtract3::<S, 2, 1>(c, a, b, b_row),
        (0, 2) => subtract3::<S, 0, 2>(c, a, b, b_row),
        (1, 2) => subtract3::<S, 1, 1>(c, a, b, b_row),
        _ => subtract3::<S, 0, 1>(c, a, b, b_row),
    }
}

/// c −= a bᵀ for a tile `c` of at most 24 columns with `rows` rows; of a diagonal one, only what lies on and
/// below the diagonal.
#[inline(always)]
fn subtract<S: Scalar>(c: &mut [Column<S>], a: &[Column<S>], b: &[Column<S>], rows: usize, diagonal: bool) {
    let high = vectors(rows);
    for (a, b) in a.chunks(DEPTH).zip(b.chunks(DEPTH)) {
        for (g, c) in c.chunks_exact_mut(3).enumerate() {
            let low = if diagonal { 3 * g / LANES } else { 0 };
            subtract_rows(c, a, b, 3 * g, (low, high));
        }
    }
}

/// Solves x Lᵀ = c for the tile `c` against the diagonal tile `d` with reciprocal diagonal `inverse`.
#[inline(always)]
fn divide<S: Scalar>(c: &mut [Column<S>], d: &[Column<S>], inverse: &[S], rows: usize) {
    for row in (0..c.len()).step_by(3) {
        let (before, here) = c.split_at_mut(row);
        match vectors(rows) {
            3 => divide3::<S, 3>(&mut here[..3], before, d, inverse, row),
            2 => divide3::<S, 2>(&mut here[..3], before, d, inverse, row),
            _ => divide3::<S, 1>(&mut here[..3], before, d, inverse, row),
        }
    }
}

/// Cholesky factor of a diagonal tile: strictly lower part in place, zeros above, reciprocal diagonal in
/// `inverse`. Returns the first column whose pivot is not positive.
#[inline(always)]
fn decompose<S: Scalar>(c: &mut [Column<S>], inverse: &mut [S], rows: usize) -> Option<usize> {
    for g in 0..c.len() / 3 {
        let (before, here) = c.split_at_mut(3 * g);
        subtract_rows(&mut here[..3], before, before, 3 * g, (3 * g / LANES, vectors(rows)));
        for q in 0..3 {
            let row = 3 * g + q;
            let (done, this) = here.split_at_mut(q);
            for left in done.iter() {
                let factor = -left.0[row];
                for l in 0..TILE {
                    this[0].0[l] = left.0[l].fused(factor, this[0].0[l]);
                }
            }
            let pivot = this[0].0[row];
            let root = pivot.inverse_root();
            // Also refuses what is not a number.
            if !(pivot > S::default() && root > S::default()) {
                return Some(row);
            }
            inverse[row] = root;
            for l in 0..TILE {
                this[0].0[l] = if l > row { this[0].0[l] * root } else { S::default() };
            }
        }
    }
    None
}

/// Eliminates columns `columns` (tiles) of one row tile, given the finished tiles of the pivots.
pub struct Eliminate<'a, S> {
    /// The row tile.
    pub row: &'a mut [Column<S>],
    /// How many of its rows are in use.
    pub rows: usize,
    /// Finished row tiles of the triangle of pivots.
    pub pivots: &'a [Column<S>],
    /// Reciprocal diagonal of those.
    pub inverse: &'a [S],
    /// Which tiles of columns to eliminate.
    pub columns: std::ops::Range<usize>,
}

impl<S: Scalar> Eliminate<'_, S> {
    #[inline(always)]
    fn run(self) {
        let width = self.row.len();
        for j in self.columns {
            let (before, rest) = self.row.split_at_mut(TILE * j);
            let wide = TILE.min(width - TILE * j).min(self.inverse.len() - TILE * j);
            let pivot = &self.pivots[triangle(j)..][..TILE * j + wide];
            let (left, diagonal) = pivot.split_at(TILE * j);
            subtract(&mut rest[..wide], before, left, self.rows, false);
            divide(&mut rest[..wide], diagonal, &self.inverse[TILE * j..], self.rows);
        }
    }
}

/// Factors the diagonal tile at the end of a row tile of pivots whose earlier columns are done.
pub struct Decompose<'a, S> {
    /// The row tile.
    pub row: &'a mut [Column<S>],
    /// Where its diagonal tile starts.
    pub start: usize,
    /// Reciprocal diagonal, to be found.
    pub inverse: &'a mut [S],
}

impl<S: Scalar> Decompose<'_, S> {
    #[inline(always)]
    fn run(self) -> Option<usize> {
        let (before, tile) = self.row.split_at_mut(self.start);
        let rows = tile.len();
        subtract(tile, before, before, rows, true);
        decompose(tile, self.inverse, rows)
    }
}

/// Subtracts from one row tile of what is passed on to the parent: c −= a bᵀ for all tiles up to the diagonal.
pub struct Update<'a, S> {
    /// The row tile of the update.
    pub row: &'a mut [Column<S>],
    /// How many of its rows are in use.
    pub rows: usize,
    /// Which row tile it is.
    pub tile: usize,
    /// All row tiles of the border.
    pub border: &'a [Column<S>],
    /// Columns of each.
    pub width: usize,
}

impl<S: Scalar> Update<'_, S> {
    #[inline(always)]
    fn run(self) {
        let own = &self.border[self.tile * self.width..][..self.width];
        for (j, c) in self.row.chunks_mut(TILE).enumerate() {
            subtract(c, own, &self.border[j * self.width..][..self.width], self.rows, j == self.tile);
        }
    }
}

/// Forward substitution in one front: y ← L₁₁⁻¹ y, border ← border − L₂₁ y.
pub struct Forward<'a, S> {
    /// The front.
    pub panel: &'a [Column<S>],
    /// Reciprocal diagonal.
    pub inverse: &'a [S],
    /// Values at the pivots.
    pub y: &'a mut [S],
    /// Values at the border, padded to tiles.
    pub border: &'a mut [S],
}

impl<S: Scalar> Forward<'_, S> {
    #[inline(always)]
    fn run(self) {
        let width = self.y.len();
        let mut rest = self.panel;
        for start in (0..width).step_by(TILE) {
            let wide = TILE.min(width - start);
            let (row, after) = rest.split_at(start + wide);
            rest = after;
            let (done, own) = self.y.split_at_mut(start);
            let mut sum = [S::default(); TILE];
            sum[..wide].copy_from_slice(&own[..wide]);
            subtract_product(&row[..start], done, &mut sum);
            for q in 0..wide {
                let value = sum[q] * self.inverse[start + q];
                sum[q] = value;
                subtract_column(&row[start + q], value, &mut sum);
            }
            own[..wide].copy_from_slice(&sum[..wide]);
        }
        if width > 0 {
            for (row, border) in rest.chunks_exact(width).zip(self.border.chunks_exact_mut(TILE)) {
                let mut sum = [S::default(); TILE];
                sum.copy_from_slice(border);
                subtract_product(row, self.y, &mut sum);
                border.copy_from_slice(&sum);
            }
        }
    }
}

#[inline(always)]
fn subtract_column<S: Scalar>(column: &Column<S>, value: S, sum: &mut [S; TILE]) {
    let factor = -value;
    for l in 0..TILE {
        sum[l] = column.0[l].fused(factor, sum[l]);
    }
}

#[inline(always)]
fn subtract_product<S: Scalar>(row: &[Column<S>], values: &[S], sum: &mut [S; TILE]) {
    for (column, value) in row.iter().zip(values) {
        subtract_column(column, *value, sum);
    }
}

/// Backward substitution in one front: y ← L₁₁⁻ᵀ (y − L₂₁ᵀ border).
pub struct Backward<'a, S> {
    /// The front.
    pub panel: &'a [Column<S>],
    /// Reciprocal diagonal.
    pub inverse: &'a [S],
    /// Values at the pivots.
    pub y: &'a mut [S],
    /// Values at the border, padded to tiles.
    pub border: &'a [S],
}

/// Columns whose sums are kept apart at a time.
const SUMS: usize = 96;

impl<S: Scalar> Backward<'_, S> {
    #[inline(always)]
    fn run(self) {
        let width = self.y.len();
        let tiles = width.div_ceil(TILE);
        let (pivots, border) = self.panel.split_at(triangle_width(width));
        if width > 0 {
            for (chunk, y) in self.y.chunks_mut(SUMS).enumerate() {
                let mut sums = [[S::default(); LANES]; SUMS];
                for (row, values) in border.chunks_exact(width).zip(self.border.chunks_exact(TILE)) {
                    for (column, sum) in row[chunk * SUMS..][..y.len()].iter().zip(&mut sums) {
                        add_products(column, values, sum);
                    }
                }
                for (y, sum) in y.iter_mut().zip(&sums) {
                    *y = *y - total(sum);
                }
            }
        }
        for t in (0..tiles).rev() {
            let start = TILE * t;
            let row = &pivots[triangle(t)..];
            let wide = TILE.min(width - start);
            let mut values = [S::default(); TILE];
            let (above, own) = self.y.split_at_mut(start);
            for q in (0..wide).rev() {
                let mut sum = [S::default(); LANES];
                add_products(&row[start + q], &values, &mut sum);
                values[q] = (own[q] - total(&sum)) * self.inverse[start + q];
            }
            own[..wide].copy_from_slice(&values[..wide]);
            for (column, y) in row[..start].iter().zip(above) {
                let mut sum = [S::default(); LANES];
                add_products(column, &values, &mut sum);
                *y = *y - total(&sum);
            }
        }
    }
}

/// Columns in the triangle of `width` pivots.
pub fn triangle_width(width: usize) -> usize {
    let whole = width / TILE;
    triangle(whole) + if width > TILE * whole { width } else { 0 }
}

/// Lane by lane, the products of 24 rows with `values`.
#[inline(always)]
fn add_products<S: Scalar>(column: &Column<S>, values: &[S], sum: &mut [S; LANES]) {
    for v in 0..TILE / LANES {
        for l in 0..LANES {
            sum[l] = column.0[LANES * v + l].fused(values[LANES * v + l], sum[l]);
        }
    }
}

/// The lanes of a sum, added pairwise.
#[inline(always)]
fn total<S: Scalar>(sum: &[S; LANES]) -> S {
    let four = [sum[0] + sum[4], sum[1] + sum[5], sum[2] + sum[6], sum[3] + sum[7]];
    (four[0] + four[2]) + (four[1] + four[3])
}

/// Which instructions the kernels are compiled for. The bits do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// The best this machine has.
    Native,
    /// What every machine has; slow where that leaves out fused multiply-add.
    #[cfg_attr(not(test), allow(dead_code, reason = "the oracle of the other"))]
    Portable,
}

macro_rules! compiled_for_each_machine {
    ($($kernel:ident -> $result:ty),+) => {
        $(impl<S: Scalar> WithSimd for $kernel<'_, S> {
            type Output = $result;

            #[inline(always)]
            fn with_simd<A: Simd>(self, _: A) -> $result {
                self.run()
            }
        }

        impl<S: Scalar> $kernel<'_, S> {
            /// Does it.
            pub fn on(self, instructions: Instructions) -> $result {
                match instructions {
                    Instructions::Native => Arch::new().dispatch(self),
                    Instructions::Portable => Arch::Scalar.dispatch(self),
                }
            }
        })+
    };
}
compiled_for_each_machine!(Eliminate -> (), Decompose -> Option<usize>, Update -> (), Forward -> (), Backward -> ());
