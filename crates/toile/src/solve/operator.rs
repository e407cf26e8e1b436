//! A = Σ Sᵀ (h² V + h W) S, applied element by element or assembled into 3×3 blocks.

use super::named_choices;
use crate::interaction::{Coupling, ForceModel, Interactions};
use crate::math::matrix::scaled_identity;
use crate::math::{DMat3, DVec3, parallel};

/// A linear map on particle vectors.
pub trait LinearOperator {
    /// Number of particles.
    fn len(&self) -> usize;

    /// Whether there is no particle.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `out` = H t.
    fn apply(&mut self, t: &[DVec3], out: &mut [DVec3]);

    /// `out` = Hᵀ t; symmetric operators need not say more.
    fn apply_transposed(&mut self, t: &[DVec3], out: &mut [DVec3]) {
        self.apply(t, out);
    }
}

/// A linear map whose blocks can be read: A itself, which preconditioners look into.
pub trait BlockOperator: LinearOperator {
    /// Diagonal blocks.
    fn diagonal(&self) -> Vec<DMat3>;
}

named_choices! {
    /// How A is applied.
    OperatorKind {
        /// Element by element, nothing assembled (V00-7).
        MatrixFree = "matrix-free",
        /// Assembled rows of 3×3 blocks: faster once an operator is applied more than a few times.
        BlockSparse = "block-sparse",
    }
}

/// A without assembling it (V00-7).
pub struct MatrixFree<'a> {
    particles: usize,
    terms: Vec<Term<'a>>,
    work: Vec<Vec<DVec3>>,
}

/// A family of forces in an operator: who is coupled, with which tangents, or with a constant one times a factor.
type Term<'a> = (Coupling<'a>, &'a [DMat3], f64);

impl<'a> MatrixFree<'a> {
    /// The operator of `forces` with their present answers.
    pub fn new(particles: usize, forces: &'a [Box<dyn ForceModel>], answers: &'a [Interactions]) -> Self {
        let terms = forces.iter().zip(answers).map(|(f, a)| (f.coupling(), &a.tangent[..], a.scale));
        Self::of(particles, terms.collect())
    }

    fn of(particles: usize, terms: Vec<Term<'a>>) -> Self {
        let work = terms.iter().map(|(coupling, ..)| match coupling {
            Coupling::Elements(stencil) => vec![DVec3::ZERO; stencil.len() * stencil.gauges()],
            Coupling::Constant(_) => Vec::new(),
        });
        MatrixFree { particles, work: work.collect(), terms }
    }

    /// Whether it has no element.
    fn is_idle(&self) -> bool {
        let idle =
            |term: &Term| matches!(term, (Coupling::Elements(s), t, _) if s.is_empty() || t.is_empty());
        self.terms.iter().all(idle)
    }
}

impl LinearOperator for MatrixFree<'_> {
    fn len(&self) -> usize {
        self.particles
    }

    fn apply(&mut self, t: &[DVec3], out: &mut [DVec3]) {
        out.fill(DVec3::ZERO);
        for ((coupling, tangent, scale), work) in self.terms.iter().zip(&mut self.work) {
            match coupling {
                Coupling::Elements(stencil) => {
                    stencil.multiply(tangent, t, work);
                    stencil.scatter(work, out);
                }
                Coupling::Constant(k) => {
                    parallel::update(out, |i, y| *y += *scale * k.row_times(i, t));
                }
            }
        }
    }
}

impl BlockOperator for MatrixFree<'_> {
    fn diagonal(&self) -> Vec<DMat3> {
        let mut diagonal = vec![DMat3::ZERO; self.particles];
        for (coupling, tangent, scale) in &self.terms {
            match coupling {
                Coupling::Elements(stencil) => stencil.add_diagonal(tangent, &mut diagonal),
                Coupling::Constant(k) => {
                    for (row, column, value) in k.entries().filter(|(row, column, _)| row == column) {
                        debug_assert_eq!(row, column);
                        diagonal[row as usize] += scaled_identity(scale * value);
                    }
                }
            }
        }
        diagonal
    }
}

/// A whose lasting part is assembled and whose passing part is not.
pub struct WithPassing<'a> {
    /// The lasting part.
    pub lasting: BlockSparse<'a>,
    passing: MatrixFree<'a>,
    work: Vec<DVec3>,
}

impl<'a> WithPassing<'a> {
    /// `lasting` with the families of `forces` that pass, as far as `left` by [`BlockSparse::take_in`].
    pub fn new(lasting: BlockSparse<'a>, forces: &'a [Box<dyn ForceModel>], left: &'a [Vec<DMat3>]) -> Self {
        let n = lasting.len();
        let passing = forces.iter().filter(|force| force.passes()).zip(left);
        let terms: Vec<Term> = passing.map(|(f, tangent)| (f.coupling(), &tangent[..], 0.0)).collect();
        WithPassing { lasting, passing: MatrixFree::of(n, terms), work: vec![DVec3::ZERO; n] }
    }
}

impl LinearOperator for WithPassing<'_> {
    fn len(&self) -> usize {
        self.lasting.len()
    }

    fn apply(&mut self, t: &[DVec3], out: &mut [DVec3]) {
        self.lasting.apply(t, out);
        if self.passing.is_idle() {
            return;
        }
        self.passing.apply(t, &mut self.work);
        let work = &self.work;
        parallel::update(out, |i, y| *y += work[i]);
    }
}

impl BlockOperator for WithPassing<'_> {
    fn diagonal(&self) -> Vec<DMat3> {
        let passing = self.passing.diagonal();
        self.lasting.diagonal().into_iter().zip(passing).map(|(a, b)| a + b).collect()
    }
}

/// Which blocks of A can be other than zero; fixed as long as nobody gains or loses a neighbour.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    start: Vec<usize>,
    columns: Vec<u32>,
    /// For each family of forces, where in its row each block of an element goes.
    place: Vec<Vec<u32>>,
}

impl Pattern {
    /// The pattern of `forces` on `particles` particles.
    pub fn new(particles: usize, forces: &[Box<dyn ForceModel>]) -> Pattern {
        let mut pairs: Vec<(u32, u32)> = (0..particles as u32).map(|i| (i, i)).collect();
        for force in forces.iter().filter(|force| !force.passes()) {
            pairs.extend(force.coupling().columns());
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut start = vec![0; particles + 1];
        for (row, _) in &pairs {
            start[*row as usize + 1] += 1;
        }
        for i in 0..particles {
            start[i + 1] += start[i];
        }
        let columns: Vec<u32> = pairs.iter().map(|(_, column)| *column).collect();
        let offset = |(row, column): (u32, u32)| {
            let row = row as usize;
            columns[start[row]..start[row + 1]].partition_point(|c| *c < column) as u32
        };
        let place = forces.iter().map(|force| match force.passes() {
            true => Vec::new(),
            false => force.coupling().columns().map(offset).collect(),
        });
        let place = place.collect();
        Pattern { start, columns, place }
    }

    /// Where the blocks of each row start, and where the last one ends.
    pub fn start(&self) -> &[usize] {
        &self.start
    }

    /// Column of each block, ascending in each row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Rows and columns, ascending, that families of `forces` which pass couple and this does not.
    pub fn lacks(&self, forces: &[Box<dyn ForceModel>]) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for force in forces.iter().filter(|force| force.passes()) {
            let Coupling::Elements(stencil) = force.coupling() else { continue };
            for (element, members) in stencil.elements().enumerate() {
                let on = |a: &usize| stencil.weight(element, 0, *a) != 0.0;
                for a in (0..members.len()).filter(on) {
                    let others = (0..members.len()).filter(on).map(|b| (members[a], members[b]));
                    pairs.extend(others.filter(|(row, column)| self.find(*row, *column).is_none()));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// This with more blocks at `pairs` of rows and columns, ascending, and where its own blocks go.
    pub fn with(&self, pairs: &[(u32, u32)]) -> (Pattern, Vec<u32>) {
        let rows = self.start.len() - 1;
        let len = self.columns.len() + pairs.len();
        let (mut start, mut columns) = (Vec::with_capacity(rows + 1), Vec::with_capacity(len));
        let mut place = Vec::with_capacity(self.columns.len());
        let mut more = pairs.iter().peekable();
        for row in 0..rows {
            start.push(columns.len());
            for column in &self.columns[self.start[row]..self.start[row + 1]] {
                let before = |pair: &&(u32, u32)| **pair < (row as u32, *column);
                while let Some((_, new)) = more.next_if(before) {
                    columns.push(*new);
                }
                place.push(columns.len() as u32);
                columns.push(*column);
            }
            while let Some((_, new)) = more.next_if(|pair| pair.0 == row as u32) {
                columns.push(*new);
            }
        }
        start.push(columns.len());
        (Pattern { start, columns, place: Vec::new() }, place)
    }

    /// Where the block of `row` and `column` is, if there is one.
    fn find(&self, row: u32, column: u32) -> Option<usize> {
        let from = self.start[row as usize];
        let columns = &self.columns[from..self.start[row as usize + 1]];
        columns.binary_search(&column).ok().map(|at| from + at)
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.columns.len()
    }
}

/// A assembled into rows of 3×3 blocks.
pub struct BlockSparse<'a> {
    pattern: &'a Pattern,
    blocks: &'a mut [DMat3],
}

impl<'a> BlockSparse<'a> {
    /// Assembles the operator into `blocks`, each row summing its elements in ascending order.
    pub fn assemble(
        pattern: &'a Pattern,
        forces: &[Box<dyn ForceModel>],
        answers: &[Interactions],
        blocks: &'a mut Vec<DMat3>,
    ) -> Self {
        blocks.clear();
        blocks.resize(pattern.blocks(), DMat3::ZERO);
        let mut rows = split_rows(blocks, &pattern.start);
        for ((force, answer), place) in forces.iter().zip(answers).zip(&pattern.place) {
            if force.passes() {
                continue;
            }
            match force.coupling() {
                Coupling::Elements(stencil) => {
                    stencil.add_rows(&answer.tangent, &mut rows, |row, key, block| {
                        row[place[key] as usize] += block;
                    });
                }
                Coupling::Constant(k) => parallel::update(&mut rows, |i, row| {
                    for key in k.start[i]..k.start[i + 1] {
                        row[place[key] as usize] += scaled_identity(answer.scale * k.values[key]);
                    }
                }),
            }
        }
        BlockSparse { pattern, blocks }
    }

    /// Takes in those elements of passing families whose particles are neighbours already: a contact with a body is one
    /// of them. Fills `left` with the tangents of the others, zero for those taken in; empty where none is left.
    pub fn take_in(
        &mut self,
        forces: &[Box<dyn ForceModel>],
        answers: &[Interactions],
        left: &mut Vec<Vec<DMat3>>,
    ) {
        let passing = || forces.iter().zip(answers).filter(|(force, _)| force.passes());
        left.resize(passing().count(), Vec::new());
        for ((force, answer), left) in passing().zip(left) {
            left.clone_from(&answer.tangent);
            let Coupling::Elements(stencil) = force.coupling() else { continue };
            let mut any = false;
            for (element, tangent) in left.iter_mut().enumerate() {
                if *tangent == DMat3::ZERO {
                    continue;
                }
                let weight = |a: usize| stencil.weight(element, 0, a);
                let on = |a: &usize| weight(*a) != 0.0;
                let members = stencil.members(element);
                let pairs = || {
                    let all = (0..members.len()).filter(on);
                    all.flat_map(|a| (0..members.len()).filter(on).map(move |b| (a, b)))
                };
                if pairs().any(|(a, b)| self.pattern.find(members[a], members[b]).is_none()) {
                    any = true;
                    continue;
                }
                for (a, b) in pairs() {
                    if let Some(at) = self.pattern.find(members[a], members[b]) {
                        self.blocks[at] += *tangent * (weight(a) * weight(b));
                    }
                }
                *tangent = DMat3::ZERO;
            }
            if !any {
                left.clear();
            }
        }
    }

    /// The operator whose `blocks` are assembled already.
    pub fn assembled(pattern: &'a Pattern, blocks: &'a mut [DMat3]) -> Self {
        BlockSparse { pattern, blocks }
    }

    /// The blocks, in the order of the pattern.
    pub fn blocks(&self) -> &[DMat3] {
        self.blocks
    }
}

fn split_rows<'b>(mut blocks: &'b mut [DMat3], start: &[usize]) -> Vec<&'b mut [DMat3]> {
    start
        .windows(2)
        .map(|bounds| {
            let (row, rest) = std::mem::take(&mut blocks).split_at_mut(bounds[1] - bounds[0]);
            blocks = rest;
            row
        })
        .collect()
}

impl LinearOperator for BlockSparse<'_> {
    fn len(&self) -> usize {
        self.pattern.start.len() - 1
    }

    fn apply(&mut self, t: &[DVec3], out: &mut [DVec3]) {
        let (pattern, blocks) = (self.pattern, &self.blocks[..]);
        parallel::fill(out, |i| {
            let row = pattern.start[i]..pattern.start[i + 1];
            let columns = &pattern.columns[row.clone()];
            blocks[row].iter().zip(columns).fold(DVec3::ZERO, |sum, (b, j)| sum + *b * t[*j as usize])
        });
    }
}

impl BlockOperator for BlockSparse<'_> {
    fn diagonal(&self) -> Vec<DMat3> {
        (0..self.len())
            .map(|i| {
                let row = self.pattern.start[i]..self.pattern.start[i + 1];
                let at = self.pattern.columns[row.clone()].partition_point(|j| (*j as usize) < i);
                self.blocks[row.start + at]
            })
            .collect()
    }
}
