//! Counter-based random numbers: the value depends on (seed, counter) only, never on the order of calls.

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
