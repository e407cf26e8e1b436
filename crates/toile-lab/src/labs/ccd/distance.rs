//! Whether a pair is within a distance at one time, without rounding: what a missed pair would be convicted by.

use super::cases::Query;
use super::exact::{Kind, integers};
use glam::DVec3;
use num_bigint::{BigInt, Sign};

/// The smallest distance [m] over the whole way, and when: sampled and then narrowed, so an upper bound.
pub fn closest(q: &Query) -> (f64, f64) {
    let at = |t: f64| {
        let p: [DVec3; 4] = std::array::from_fn(|i| q.start[i] + (q.end[i] - q.start[i]) * t);
        distance(q.kind, &p)
    };
    let samples = 32;
    let mut best = (f64::INFINITY, 0.0);
    for n in 0..=samples {
        let t = f64::from(n) / f64::from(samples);
        let here = at(t);
        if here < best.0 {
            best = (here, t);
        }
    }
    let mut step = 1.0 / f64::from(samples);
    for _ in 0..24 {
        step *= 0.5;
        for t in [best.1 - step, best.1 + step] {
            let here = at(t.clamp(0.0, 1.0));
            if here < best.0 {
                best = (here, t.clamp(0.0, 1.0));
            }
        }
    }
    best
}

fn distance(kind: Kind, p: &[DVec3; 4]) -> f64 {
    let [a, b, c, d] = *p;
    match kind {
        Kind::VertexFace => (toile::mesh::surface::nearest_on_triangle(a, &[b, c, d]).0 - a).length(),
        Kind::EdgeEdge => {
            let to_edge = |p: DVec3, a: DVec3, b: DVec3| {
                let e = b - a;
                let s = ((p - a).dot(e) / e.length_squared()).clamp(0.0, 1.0);
                (a + e * if s.is_nan() { 0.0 } else { s } - p).length()
            };
            let ends = to_edge(a, c, d).min(to_edge(b, c, d)).min(to_edge(c, a, b)).min(to_edge(d, a, b));
            let (e, f, g) = (b - a, d - c, c - a);
            let n = e.cross(f);
            let (s, t) = (g.cross(f).dot(n), g.cross(e).dot(n));
            let square = n.length_squared();
            let inside = square > 0.0 && s >= 0.0 && t >= 0.0 && s <= square && t <= square;
            if inside { ends.min((g.dot(n) / square.sqrt()).abs()) } else { ends }
        }
    }
}

/// Whether the pair is within `separation` at `time`, exactly.
///
/// In integers: with everything scaled by the denominators, each squared distance is a fraction whose comparison
/// with the squared separation is a sign.
pub fn within(q: &Query, time: f64, separation: f64) -> bool {
    let coordinates: [f64; 24] = std::array::from_fn(|n| {
        let (i, k) = (n / 3, n % 3);
        if i < 4 { q.start[i][k] } else { q.end[i - 4][k] }
    });
    let mut all = [0.0; 25];
    all[..24].copy_from_slice(&coordinates);
    all[24] = separation;
    let all = integers(&all);
    let [one, t] = integers(&[1.0, time]);
    // p = start (1 − t) + end t, times `one`.
    let p: [V; 4] = std::array::from_fn(|i| {
        std::array::from_fn(|k| &all[3 * i + k] * (&one - &t) + &all[3 * i + k + 12] * &t)
    });
    let limit = &all[24] * &one;
    let limit = &limit * &limit;
    let [a, b, c, d] = &p;
    match q.kind {
        Kind::VertexFace => {
            near_edge(a, b, c, &limit) || near_edge(a, c, d, &limit) || near_edge(a, d, b, &limit) || {
                let n = cross(&sub(c, b), &sub(d, b));
                let inner = |x: &V, y: &V| dot(&cross(&sub(y, x), &sub(a, x)), &n).sign() != Sign::Minus;
                inner(b, c) && inner(c, d) && inner(d, b) && near_plane(&sub(a, b), &n, &limit)
            }
        }
        Kind::EdgeEdge => {
            near_edge(a, c, d, &limit)
                || near_edge(b, c, d, &limit)
                || near_edge(c, a, b, &limit)
                || near_edge(d, a, b, &limit)
                || {
                    let (e, f, g) = (sub(b, a), sub(d, c), sub(c, a));
                    let n = cross(&e, &f);
                    let square = dot(&n, &n);
                    let part = |v: BigInt| v.sign() != Sign::Minus && v <= square;
                    part(dot(&cross(&g, &f), &n))
                        && part(dot(&cross(&g, &e), &n))
                        && near_plane(&g, &n, &limit)
                }
        }
    }
}

type V = [BigInt; 3];

/// (g·n)² ≤ limit |n|², for a plane that is one.
fn near_plane(g: &V, n: &V, limit: &BigInt) -> bool {
    let (height, square) = (dot(g, n), dot(n, n));
    square.sign() == Sign::Plus && &height * &height <= limit * square
}

fn near_edge(p: &V, a: &V, b: &V, limit: &BigInt) -> bool {
    let (e, d) = (sub(b, a), sub(p, a));
    let (along, square) = (dot(&d, &e), dot(&e, &e));
    if along.sign() != Sign::Plus {
        return &dot(&d, &d) <= limit;
    }
    if along >= square {
        let d = sub(p, b);
        return &dot(&d, &d) <= limit;
    }
    // |d|² − along²/square ≤ limit
    dot(&d, &d) * &square - &along * &along <= limit * square
}

fn sub(a: &V, b: &V) -> V {
    std::array::from_fn(|k| &a[k] - &b[k])
}

fn dot(a: &V, b: &V) -> BigInt {
    &a[0] * &b[0] + &a[1] * &b[1] + &a[2] * &b[2]
}

fn cross(a: &V, b: &V) -> V {
    std::array::from_fn(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        &a[i] * &b[j] - &a[j] * &b[i]
    })
}

#[cfg(test)]
mod tests {
    use super::super::cases::query;
    use super::*;

    #[test]
    fn exact_and_rounded_distances_agree() {
        for n in 0..400 {
            let q = query(5, n * 7);
            if q.start.iter().any(|p| p.abs().max_element() > 10.0 || p.abs().max_element() < 1e-9) {
                continue;
            }
            let (least, time) = closest(&q);
            assert!(within(&q, time, least + 1e-9), "query {n}");
            assert!(least < 1e-9 || !within(&q, time, least * (1.0 - 1e-6) - 1e-12), "query {n}");
        }
    }
}
