//! Counter-based random numbers: the value depends on (seed, counter) only, never on the order of calls. For trials
//! that roll as many as they need, [`Dice`] counts.

use glam::DVec3;

/// SplitMix64 of a seed and a counter.
pub fn bits(seed: u64, counter: u64) -> u64 {
    let mut z = seed
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(counter.wrapping_add(1).wrapping_mul(0xD1B5_4A32_D192_ED03));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Uniform in [0, 1).
pub fn unit(seed: u64, counter: u64) -> f64 {
    (bits(seed, counter) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Uniform in [−1, 1).
pub fn signed(seed: u64, counter: u64) -> f64 {
    2.0 * unit(seed, counter) - 1.0
}

/// Random numbers of one trial, one after the other.
pub struct Dice {
    seed: u64,
    next: u64,
}

impl Dice {
    /// Dice of a seed; the same numbers each time.
    pub fn new(seed: u64) -> Dice {
        Dice { seed, next: 0 }
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.next += 1;
        unit(self.seed, self.next)
    }

    /// Uniform in [−1, 1).
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// Components uniform in [−1, 1).
    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.signed(), self.signed(), self.signed())
    }

    /// Uniform among the first `n` numbers, of which there must be one.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f64) as usize).min(n - 1)
    }
}
