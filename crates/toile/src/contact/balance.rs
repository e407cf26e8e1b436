//! Momentum of what flies free: pieces of cloth that touch each other, and nothing that is led, keep it to the last digit.
//!
//! Two things would take some of it: the guarantee, which stops one side of a pair and not the other, and a step in which some
//! particles are taken by one scheme and some by another. Both say what they owe; it is given back to the piece as a whole.

use super::space::Space;
use crate::math::DVec3;

/// Which pieces of cloth hang together, and which are led or lean on what is.
#[derive(Default)]
pub struct Balance {
    /// The piece each was joined to.
    joined: Vec<usize>,
    grounded: Vec<bool>,
}

impl Balance {
    /// Pieces that touch nothing, `led` where one of their points is.
    pub fn begin(&mut self, space: &Space, led: impl Fn(usize) -> bool) {
        self.joined.clear();
        self.grounded.clear();
        for (k, object) in space.objects().iter().enumerate() {
            self.joined.push(k);
            self.grounded.push(object.is_body || points_of(space, k).any(&led));
        }
    }

    fn root(&self, mut k: usize) -> usize {
        while self.joined[k] != k {
            k = self.joined[k];
        }
        k
    }

    /// Two objects push at each other.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        let (first, second) = (a.min(b), a.max(b));
        self.joined[second] = first;
        self.grounded[first] |= self.grounded[second];
    }

    /// Gives every free group of pieces what its particles are owed [N·s].
    pub fn settle(&self, space: &Space, mass: &[f64], owed: &[DVec3], v: &mut [DVec3]) {
        let len = self.joined.len();
        let mut sum = vec![(0.0, DVec3::ZERO); len];
        for k in 0..len {
            let root = self.root(k);
            if !self.grounded[root] {
                let (all, due) = &mut sum[root];
                points_of(space, k).for_each(|i| {
                    *all += mass[i];
                    *due += owed[i];
                });
            }
        }
        for k in 0..len {
            let (all, due) = sum[self.root(k)];
            if all > 0.0 && due != DVec3::ZERO {
                points_of(space, k).for_each(|i| v[i] += due / all);
            }
        }
    }
}

fn points_of(space: &Space, object: usize) -> std::ops::Range<usize> {
    let object = &space.objects()[object];
    object.first..object.first + object.shape.surface().vertices()
}
