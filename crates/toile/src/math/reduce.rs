//! The only place where numbers of many particles become one number.
//!
//! Partial sums over fixed chunks, added in order: the same bits for any number of threads, and for the
//! serial path. (Rayon's own `sum` gave up to four different bit patterns on 1–8 threads.)

use super::DVec3;
use super::parallel::SERIAL_BELOW;
use rayon::prelude::*;

/// Items per partial result. Part of the numerical contract: changing it changes every golden.
pub const CHUNK: usize = 1024;

/// Σ over chunks of `partial(range)`.
pub fn sum_by_chunks(len: usize, partial: impl Fn(std::ops::Range<usize>) -> f64 + Sync) -> f64 {
    fold_chunks(len, partial, 0.0, |a, b| a + b)
}

/// Largest of `value(i)`; zero for an empty range. A NaN anywhere gives NaN, so it cannot hide.
pub fn max(len: usize, value: impl Fn(usize) -> f64 + Sync) -> f64 {
    fold_chunks(len, |range| range.map(&value).fold(0.0, max_or_nan), 0.0, max_or_nan)
}

/// Σ `value(i)`.
pub fn sum(len: usize, value: impl Fn(usize) -> f64 + Sync) -> f64 {
    sum_by_chunks(len, |range| range.map(&value).fold(0.0, |a, b| a + b))
}

/// Σ `value(i)` of vectors.
pub fn sum_vectors(len: usize, value: impl Fn(usize) -> DVec3 + Sync) -> DVec3 {
    fold_chunks(len, |range| range.map(&value).fold(DVec3::ZERO, |a, b| a + b), DVec3::ZERO, |a, b| a + b)
}

/// Σ aᵢ·bᵢ.
pub fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    sum_by_chunks(a.len(), |range| {
        a[range.clone()].iter().zip(&b[range]).fold(0.0, |sum, (p, q)| sum + p.dot(*q))
    })
}

/// Calls `change(i, &mut a[i], &mut b[i], &mut c[i])` for every i; returns the sum of the first results and
/// the largest of the second.
pub fn update3(
    a: &mut [DVec3],
    b: &mut [DVec3],
    c: &mut [DVec3],
    change: impl Fn(usize, &mut DVec3, &mut DVec3, &mut DVec3) -> (f64, f64) + Sync,
) -> (f64, f64) {
    let join = |x: (f64, f64), y: (f64, f64)| (x.0 + y.0, max_or_nan(x.1, y.1));
    let chunk = |n: usize, a: &mut [DVec3], b: &mut [DVec3], c: &mut [DVec3]| {
        let items = a.iter_mut().zip(b).zip(c).enumerate();
        items.fold((0.0, 0.0), |sum, (k, ((a, b), c))| join(sum, change(n * CHUNK + k, a, b, c)))
    };
    if a.len() < SERIAL_BELOW {
        let chunks = a.chunks_mut(CHUNK).zip(b.chunks_mut(CHUNK)).zip(c.chunks_mut(CHUNK));
        return chunks.enumerate().map(|(n, ((a, b), c))| chunk(n, a, b, c)).fold((0.0, 0.0), join);
    }
    let chunks = a.par_chunks_mut(CHUNK).zip(b.par_chunks_mut(CHUNK)).zip(c.par_chunks_mut(CHUNK));
    let partials: Vec<(f64, f64)> = chunks.enumerate().map(|(n, ((a, b), c))| chunk(n, a, b, c)).collect();
    partials.into_iter().fold((0.0, 0.0), join)
}

fn max_or_nan(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

fn fold_chunks<T: Copy + Send>(
    len: usize,
    partial: impl Fn(std::ops::Range<usize>) -> T + Sync,
    zero: T,
    join: impl Fn(T, T) -> T,
) -> T {
    let chunk = |c: usize| partial(c * CHUNK..((c + 1) * CHUNK).min(len));
    let chunks = len.div_ceil(CHUNK);
    if len < SERIAL_BELOW {
        return (0..chunks).map(chunk).fold(zero, join);
    }
    let partials: Vec<T> = (0..chunks).into_par_iter().map(chunk).collect();
    partials.into_iter().fold(zero, join)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    #[test]
    fn same_bits_for_any_number_of_threads() {
        let values: Vec<f64> = (0..100_003).map(|i| random::unit(7, i) - 0.5).collect();
        let total = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
            pool.install(|| sum(values.len(), |i| values[i]).to_bits())
        };
        let serial = total(1);
        for threads in [2, 3, 4, 7, 8] {
            assert_eq!(total(threads), serial, "{threads} threads");
        }
    }

    #[test]
    fn max_shows_a_nan() {
        assert!(max(10, |i| if i == 3 { f64::NAN } else { i as f64 }).is_nan());
        assert_eq!(max(10, |i| i as f64), 9.0);
        assert_eq!(max(0, |_| 1.0), 0.0);
    }
}
