//! Loops over particles and elements: parallel when large, serial when small, the same bits either way.

use rayon::prelude::*;

/// Below this many items a loop runs on the calling thread: waking workers costs more than it gains.
pub const SERIAL_BELOW: usize = 2048;

/// Items handed to a worker at a time.
const GRAIN: usize = 512;

/// Sets `out[i] = value(i)` for every i. Each item is written by exactly one call, so order cannot matter.
pub fn fill<T: Send>(out: &mut [T], value: impl Fn(usize) -> T + Sync) {
    update(out, |i, slot| *slot = value(i));
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

/// Like [`update_groups`], over three arrays in step, each with its own group width.
pub fn update_groups3<A: Send, B: Send, C: Send>(
    (a, wa): (&mut [A], usize),
    (b, wb): (&mut [B], usize),
    (c, wc): (&mut [C], usize),
    change: impl Fn(usize, &mut [A], &mut [B], &mut [C]) + Sync,
) {
    if a.len() < SERIAL_BELOW {
        let groups = a.chunks_exact_mut(wa).zip(b.chunks_exact_mut(wb)).zip(c.chunks_exact_mut(wc));
        groups.enumerate().for_each(|(i, ((a, b), c))| change(i, a, b, c));
    } else {
        let groups =
            a.par_chunks_exact_mut(wa).zip(b.par_chunks_exact_mut(wb)).zip(c.par_chunks_exact_mut(wc));
        groups.with_min_len(GRAIN).enumerate().for_each(|(i, ((a, b), c))| change(i, a, b, c));
    }
}
