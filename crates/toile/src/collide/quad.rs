//! The boxes of siblings side by side, four to a register: one comparison tests four children.

use super::build::Node;
use super::kdop::Kdop;
use super::shell::NONE;
use crate::math::parallel;
use glam::Vec4;

/// Four boxes, slab by slab.
#[derive(Clone, Copy, Debug)]
pub struct Quad<const S: usize> {
    lo: [Vec4; S],
    hi: [Vec4; S],
}

impl<const S: usize> Quad<S> {
    fn of(boxes: &[Kdop<S>]) -> Quad<S> {
        let (mut lo, mut hi) = ([Vec4::INFINITY; S], [Vec4::NEG_INFINITY; S]);
        for (k, b) in boxes.iter().enumerate() {
            for i in 0..S {
                lo[i][k] = b.lo[i];
                hi[i][k] = b.hi[i];
            }
        }
        Quad { lo, hi }
    }

    /// Bit k is set where box k overlaps `other`; leaves when no box is left, after every third slab.
    #[inline]
    pub fn overlaps(&self, other: &Kdop<S>) -> u32 {
        let slab = |i: usize| {
            self.lo[i].cmple(Vec4::splat(other.hi[i])) & self.hi[i].cmpge(Vec4::splat(other.lo[i]))
        };
        let mut meet = slab(0) & slab(1) & slab(2);
        let mut i = 3;
        while i < S {
            if meet.bitmask() == 0 {
                return 0;
            }
            meet &= slab(i);
            if i + 1 < S {
                meet &= slab(i + 1);
            }
            if i + 2 < S {
                meet &= slab(i + 2);
            }
            i += 3;
        }
        meet.bitmask()
    }
}

/// The quads of all nodes of a tree.
#[derive(Clone, Debug, Default)]
pub struct Quads<const S: usize> {
    quads: Vec<Quad<S>>,
    /// First quad of each node; [`NONE`] for leaves.
    first: Vec<u32>,
    /// First child and number of children in each quad.
    children: Vec<(u32, u32)>,
}

impl<const S: usize> Quads<S> {
    /// Places for the children of all nodes, to be filled by [`Quads::update`].
    pub fn new(nodes: &[Node]) -> Quads<S> {
        let mut quads = Quads { quads: vec![], first: Vec::with_capacity(nodes.len()), children: vec![] };
        for node in nodes {
            quads.first.push(if node.len == 0 { NONE } else { quads.children.len() as u32 });
            for k in (0..node.len).step_by(4) {
                quads.children.push((node.first + k, (node.len - k).min(4)));
            }
        }
        quads.quads = vec![Quad::of(&[]); quads.children.len()];
        quads
    }

    /// Takes over the boxes of all nodes.
    pub fn update(&mut self, boxes: &[Kdop<S>]) {
        let children = &self.children;
        parallel::fill(&mut self.quads, |q| {
            let (first, len) = children[q];
            Quad::of(&boxes[first as usize..(first + len) as usize])
        });
    }

    /// Calls `each` with every child of an inner node that overlaps `other`, in order.
    #[inline]
    pub fn meeting(&self, n: u32, node: Node, other: &Kdop<S>, mut each: impl FnMut(u32)) {
        let first = self.first[n as usize] as usize;
        let quads = &self.quads[first..first + (node.len as usize).div_ceil(4)];
        for (quad, start) in quads.iter().zip((node.first..).step_by(4)) {
            let mut mask = quad.overlaps(other);
            while mask != 0 {
                each(start + mask.trailing_zeros());
                mask &= mask - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{DVec3, random};

    #[test]
    fn four_at_once_agree_with_one_at_a_time() {
        fn check<const S: usize>() {
            let around = |i: u64| {
                let at = |k| random::signed(S as u64, 3 * i + k);
                Kdop::<S>::around(DVec3::new(at(0), at(1), at(2)), &[0.4; S], &[0.4; S])
            };
            let mut met = 0;
            for i in 0..2000 {
                let children: Vec<Kdop<S>> = (0..1 + i % 4).map(|k| around(5 * i + k)).collect();
                let (quad, other) = (Quad::of(&children), around(5 * i + 4));
                for k in 0..4 {
                    let alone = children.get(k).is_some_and(|c| c.overlaps(&other));
                    assert_eq!(quad.overlaps(&other) >> k & 1 == 1, alone);
                    met += u32::from(alone);
                }
            }
            assert!(met > 100);
        }
        check::<3>();
        check::<4>();
        check::<6>();
        check::<7>();
        check::<9>();
        check::<13>();
    }
}
