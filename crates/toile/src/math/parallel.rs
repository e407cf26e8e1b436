//! Loops over particles and elements: parallel when large, serial when small, the same bits either way.

use rayon::prelude::*;

/// Below this many items a loop runs on the calling thread: waking workers costs more than it gains.
pub const SERIAL_BELOW: usize = 512;

/// Items handed to a worker at a time.
const GRAIN: usize = 128;

/// Sets `out[i] = value(i)` for every i. Each item is written by exactly one call, so order cannot matter.
pub fn fill<T: Send>(out: &mut [T], value: impl Fn(usize) -> T + Sync) {
    update(out, |i, slot| *slot = value(i));
}

/// Like [`fill`], for values so costly that each is worth waking a worker for.
pub fn fill_heavy<T: Send>(out: &mut [T], value: impl Fn(usize) -> T + Sync) {
    out.par_iter_mut().enumerate().for_each(|(i, slot)| *slot = value(i));
}

/// Calls `change(i, &mut out[i])` for every i.
pub fn update<T: Send>(out: &mut [T], change: impl Fn(usize, &mut T) + Sync) {
    if out.len() < SERIAL_BELOW {
        out.iter_mut().enumerate().for_each(|(i, slot)| change(i, slot));
    } else {
        out.par_iter_mut().with_min_len(GRAIN).enumerate().for_each(|(i, slot)| change(i, slot));
    }
}

/// Calls `change(i, group)` for every group of `width` consecutive items of `out`.
pub fn update_groups<T: Send>(out: &mut [T], width: usize, change: impl Fn(usize, &mut [T]) + Sync) {
    if out.len() < SERIAL_BELOW {
        out.chunks_exact_mut(width).enumerate().for_each(|(i, group)| change(i, group));
    } else {
        out.par_chunks_exact_mut(width)
            .with_min_len(GRAIN.div_ceil(width))
            .enumerate()
            .for_each(|(i, group)| change(i, group));
    }
}

/// Calls `change(i, &mut a[i], &mut b[i])` for every i.
pub fn update2<A: Send, B: Send>(a: &mut [A], b: &mut [B], change: impl Fn(usize, &mut A, &mut B) + Sync) {
    if a.len() < SERIAL_BELOW {
        a.iter_mut().zip(b).enumerate().for_each(|(i, (a, b))| change(i, a, b));
    } else {
        let pairs = a.par_iter_mut().zip(b.par_iter_mut()).with_min_len(GRAIN);
        pairs.enumerate().for_each(|(i, (a, b))| change(i, a, b));
    }
}

/// Like [`update_groups`], over five arrays in step, each with its own group width.
#[allow(clippy::type_complexity, reason = "five slices with their widths")]
pub fn update_groups5<A: Send, B: Send, C: Send, D: Send, E: Send>(
    (a, b, c, d, e): (
        (&mut [A], usize),
        (&mut [B], usize),
        (&mut [C], usize),
        (&mut [D], usize),
        (&mut [E], usize),
    ),
    change: impl Fn(usize, &mut [A], &mut [B], &mut [C], &mut [D], &mut [E]) + Sync,
) {
    if b.0.len() < SERIAL_BELOW {
        let ab = a.0.chunks_exact_mut(a.1).zip(b.0.chunks_exact_mut(b.1));
        let cd = c.0.chunks_exact_mut(c.1).zip(d.0.chunks_exact_mut(d.1));
        let groups = ab.zip(cd).zip(e.0.chunks_exact_mut(e.1));
        groups.enumerate().for_each(|(i, (((a, b), (c, d)), e))| change(i, a, b, c, d, e));
    } else {
        let ab = a.0.par_chunks_exact_mut(a.1).zip(b.0.par_chunks_exact_mut(b.1));
        let cd = c.0.par_chunks_exact_mut(c.1).zip(d.0.par_chunks_exact_mut(d.1));
        let groups = ab.zip(cd).zip(e.0.par_chunks_exact_mut(e.1)).with_min_len(GRAIN);
        groups.enumerate().for_each(|(i, (((a, b), (c, d)), e))| change(i, a, b, c, d, e));
    }
}
