//! Determinant signs in integers of any length, for coordinates so small that floating-point expansions underflow.
//!
//! Damping takes coordinates through 1e-100 and further down, next to others of a metre; no power of two brings both
//! into range. Every f64 is an integer multiple of 2^-1074, so the sign of a determinant of differences can be had in
//! plain integers. Slow (microseconds) and rare.

use std::cmp::Ordering;

use glam::{DVec2, DVec3};

/// Sign of (b − a) × (c − a) · (d − a).
pub(super) fn orient3d(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i32 {
    let rows = [b, c, d].map(|p| {
        let (p, a) = (p.to_array(), a.to_array());
        [0, 1, 2].map(|k| Int::from_f64(p[k]).minus(&Int::from_f64(a[k])))
    });
    let [e, f, g] = &rows;
    let minor = |i: usize, j: usize| e[i].times(&f[j]).minus(&e[j].times(&f[i]));
    let tail = minor(2, 0).times(&g[1]).plus(&minor(0, 1).times(&g[2]));
    minor(1, 2).times(&g[0]).plus(&tail).sign()
}

/// Sign of (b − a) × (c − a) in the plane.
pub(super) fn orient2d(a: DVec2, b: DVec2, c: DVec2) -> i32 {
    let difference = |p: f64, q: f64| Int::from_f64(p).minus(&Int::from_f64(q));
    let left = difference(b.x, a.x).times(&difference(c.y, a.y));
    left.minus(&difference(b.y, a.y).times(&difference(c.x, a.x))).sign()
}

/// A signed integer: magnitude in 64-bit limbs, least significant first, no leading zeros; zero is never negative.
#[derive(Clone)]
struct Int {
    negative: bool,
    limbs: Vec<u64>,
}

impl Int {
    /// A finite value in units of 2^-1074.
    fn from_f64(value: f64) -> Int {
        let bits = value.to_bits();
        let (exponent, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
        let (shift, mantissa) =
            if exponent == 0 { (0, fraction) } else { (exponent - 1, fraction | (1 << 52)) };
        let mut limbs = vec![0; (shift / 64) as usize];
        let wide = u128::from(mantissa) << (shift % 64);
        limbs.extend([wide as u64, (wide >> 64) as u64]);
        Int::trimmed(value < 0.0, limbs)
    }

    fn trimmed(negative: bool, mut limbs: Vec<u64>) -> Int {
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        Int { negative: negative && !limbs.is_empty(), limbs }
    }

    fn sign(&self) -> i32 {
        match (self.limbs.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn minus(&self, other: &Int) -> Int {
        self.plus(&Int { negative: !other.negative, limbs: other.limbs.clone() })
    }

    fn plus(&self, other: &Int) -> Int {
        if self.negative == other.negative {
            return Int::trimmed(self.negative, add(&self.limbs, &other.limbs));
        }
        match compare(&self.limbs, &other.limbs) {
            Ordering::Less => Int::trimmed(other.negative, subtract(&other.limbs, &self.limbs)),
            _ => Int::trimmed(self.negative, subtract(&self.limbs, &other.limbs)),
        }
    }

    fn times(&self, other: &Int) -> Int {
        let mut limbs = vec![0_u64; self.limbs.len() + other.limbs.len()];
        for (i, &x) in self.limbs.iter().enumerate() {
            let mut carry = 0_u128;
            for (j, &y) in other.limbs.iter().enumerate() {
                // At most (2^64 − 1)² + 2 (2^64 − 1) = 2^128 − 1: never overflows.
                carry += u128::from(x) * u128::from(y) + u128::from(limbs[i + j]);
                limbs[i + j] = carry as u64;
                carry >>= 64;
            }
            limbs[i + other.limbs.len()] = carry as u64;
        }
        Int::trimmed(self.negative != other.negative, limbs)
    }
}

fn compare(a: &[u64], b: &[u64]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

fn add(a: &[u64], b: &[u64]) -> Vec<u64> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut sum = Vec::with_capacity(long.len() + 1);
    let mut carry = 0_u128;
    for (i, &x) in long.iter().enumerate() {
        carry += u128::from(x) + u128::from(short.get(i).copied().unwrap_or(0));
        sum.push(carry as u64);
        carry >>= 64;
    }
    sum.push(carry as u64);
    sum
}

/// a − b where a ≥ b.
fn subtract(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut borrow = false;
    let digit = |(i, &x): (usize, &u64)| {
        let (partial, under) = x.overflowing_sub(b.get(i).copied().unwrap_or(0));
        let (digit, under_again) = partial.overflowing_sub(u64::from(borrow));
        borrow = under || under_again;
        digit
    };
    a.iter().enumerate().map(digit).collect()
}
