//! What gives way: a spring in series with a slider, the one element from which cloth that remembers is made.
//!
//! In units of its stiffness the spring carries e − p, where e is the strain and p its *set*: the strain at which it is
//! at rest. A second spring H pulls the set back to zero. While |e − p − H p| ≤ y the set stays; beyond, it follows.
//! For a set p₀ before a step,
//!
//! > W(e; p₀) = min over p of ½|e − p|² + ½ H|p|² + y|p − p₀|
//!
//! is convex in e, its slope e − p is the stress at the end of the step, and the last term is what the slider loses (the
//! return mapping of plasticity with kinematic hardening, in incremental form). So a step with frozen memory is one
//! of an elastic material, and no path of e, closed or not, gains energy.
//!
//! Beyond the limit, stress grows by the share h = H/(1 + H) of the stiffness. h = 0 beside another spring is
//! Coulomb friction: a loop of width 2 y. With h as the spring itself it is a crease, or cloth pulled out of shape.

/// Where a spring gives way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Yield {
    /// y: strain from rest at which the set begins to follow, in the unit of the strain.
    pub limit: f64,
    /// h: share of the stiffness that is left beyond, from 0 to below 1.
    pub hardening: f64,
}

impl Yield {
    /// The set after a step that ends at `strain`, if it was `before`.
    #[inline]
    pub fn set<const N: usize>(&self, strain: [f64; N], before: [f64; N]) -> [f64; N] {
        let soft = 1.0 - self.hardening;
        let mut excess = strain;
        let mut squares = 0.0;
        for (excess, before) in excess.iter_mut().zip(before) {
            *excess -= before / soft;
            squares += *excess * *excess;
        }
        let size = squares.sqrt();
        let mut set = before;
        // What is not a number is not remembered.
        if size > self.limit && size.is_finite() {
            let part = soft * (size - self.limit) / size;
            for (set, excess) in set.iter_mut().zip(excess) {
                *set += part * excess;
            }
        }
        set
    }

    /// ½ H|p|² + y|p − p₀|: what hardening stores, and what is lost on the way from `before` to `set`.
    #[inline]
    pub fn cost<const N: usize>(&self, before: [f64; N], set: [f64; N]) -> f64 {
        let (mut size, mut way) = (0.0, 0.0);
        for (set, before) in set.iter().zip(before) {
            size += set * set;
            way += (set - before) * (set - before);
        }
        0.5 * self.hardening / (1.0 - self.hardening) * size + self.limit * way.sqrt()
    }

    /// Derivative of the stress of a single strain: 1 while the set stays.
    #[inline]
    pub fn slope(&self, before: f64, set: f64) -> f64 {
        if set == before { 1.0 } else { self.hardening }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    #[test]
    fn return_mapping_by_hand() {
        // Stiffness 1, y = 2: at 5 a slider without hardening is at 3; with h = ¼ stress is 2 + ¼·3, so p = 2.25.
        let plain = Yield { limit: 2.0, hardening: 0.0 };
        assert_eq!(plain.set([5.0], [0.0]), [3.0]);
        assert_eq!(plain.set([1.9], [0.0]), [0.0]);
        assert_eq!(plain.set([1.5], [3.0]), [3.0], "1.5 − 3 is within the limit");
        assert_eq!(plain.set([0.0], [3.0]), [2.0], "and back");
        let hard = Yield { limit: 2.0, hardening: 0.25 };
        assert_eq!(hard.set([5.0], [0.0]), [2.25]);
        // Back stress ⅓·2.25 = 0.75: it yields backwards where e − 2.25 − 0.75 = −2.
        assert_eq!(hard.set([1.0], [2.25]), [2.25]);
        assert_eq!(hard.set([0.0], [2.25]), [1.5]);
        assert_eq!((hard.slope(0.0, 2.25), hard.slope(2.25, 2.25)), (0.25, 1.0));
        // ½·⅓·2.25² + 2·2.25.
        assert!((hard.cost([0.0], [2.25]) - 5.34375).abs() < 1e-15);
        // Along any direction alike: (3, 4) is 5 long.
        let [a, b, c] = plain.set([3.0, 0.0, 4.0], [0.0; 3]);
        assert!((a - 1.8).abs() < 1e-15 && b == 0.0 && (c - 2.4).abs() < 1e-15);
        assert_eq!(plain.set([f64::NAN], [1.0]), [1.0]);
        assert_eq!(plain.set([f64::INFINITY], [1.0]), [1.0]);
    }

    fn walk(seed: u64, k: u64) -> [f64; 3] {
        [0, 1, 2].map(|i| 4.0 * random::signed(seed, 3 * k + i))
    }

    #[test]
    fn the_set_is_the_minimum_and_stress_the_slope() {
        for (k, hardening) in [0.0, 0.1, 0.6].iter().cycle().take(60).enumerate() {
            let give = Yield { limit: 1.0, hardening: *hardening };
            let (e, before) = (walk(1, k as u64), walk(2, k as u64).map(|x| 0.3 * x));
            let value = |e: [f64; 3], p: [f64; 3]| {
                let elastic = [0, 1, 2].map(|i| (e[i] - p[i]) * (e[i] - p[i])).iter().fold(0.0, |s, x| s + x);
                0.5 * elastic + give.cost(before, p)
            };
            let set = give.set(e, before);
            for n in 0..40 {
                let other = [0, 1, 2].map(|i| set[i] + 0.05 * walk(3, 40 * k as u64 + n)[i]);
                assert!(value(e, set) <= value(e, other) + 1e-12, "{e:?} {before:?}");
            }
            for i in 0..3 {
                let at = |by: f64| {
                    let mut e = e;
                    e[i] += by;
                    value(e, give.set(e, before))
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope - (e[i] - set[i])).abs() < 1e-8, "{slope} {}", e[i] - set[i]);
            }
        }
    }

    /// Work along any path is at least the energy stored at its end: nothing comes from nowhere, in loops or not.
    #[test]
    fn no_path_gains_energy() {
        for (seed, hardening) in [(4, 0.0), (5, 0.3), (6, 0.9)] {
            let give = Yield { limit: 0.7, hardening };
            let (mut e, mut set, mut work) = ([0.0; 3], [0.0; 3], 0.0);
            for k in 0..400 {
                // Every tenth corner is the start, so that loops close.
                let goal = if k % 10 == 9 { [0.0; 3] } else { walk(seed, k) };
                let from = e;
                for n in 1..=50 {
                    let before = e;
                    e = [0, 1, 2].map(|i| from[i] + (goal[i] - from[i]) * f64::from(n) / 50.0);
                    set = give.set(e, set);
                    // The stress at the end, as in an implicit step: W is convex, so it pays for every rise of W.
                    work += (0..3).fold(0.0, |sum, i| sum + (e[i] - set[i]) * (e[i] - before[i]));
                }
                let elastic = (0..3).fold(0.0, |sum, i| sum + 0.5 * (e[i] - set[i]) * (e[i] - set[i]));
                let stored = elastic + give.cost(set, set);
                assert!(work >= stored - 1e-9, "step {k}: {work} for {stored}");
            }
        }
    }
}
