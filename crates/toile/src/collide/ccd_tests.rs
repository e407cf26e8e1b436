use super::*;
use crate::math::random;

fn v(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

const FACE: [DVec3; 3] = [DVec3::new(-1.0, 0.0, -1.0), DVec3::new(1.0, 0.0, -1.0), DVec3::new(0.0, 0.0, 1.0)];

fn over_face(from: DVec3, to: DVec3, separation: f64) -> Passage {
    let [a, b, c] = FACE;
    vertex_face(&[from, a, b, c], &[to, a, b, c], separation, Effort::default())
}

fn time(passage: Passage) -> f64 {
    match passage {
        Passage::Clear => f64::INFINITY,
        Passage::Meets { time } => time,
    }
}

#[test]
fn a_vertex_falls_on_a_face() {
    let t = time(over_face(v(0.0, 1.0, 0.0), v(0.0, -1.0, 0.0), 0.0));
    assert!(t <= 0.5 && t > 0.5 - 1e-8, "{t}");
    let t = time(over_face(v(0.0, 1.0, 0.0), v(0.0, -1.0, 0.0), 0.25));
    assert!(t <= 0.375 && t > 0.375 - 1e-8, "{t}");
    assert!(over_face(v(0.0, 1.0, 0.0), v(0.0, 0.25, 0.0), 0.2).is_clear());
    assert!(!over_face(v(0.0, 1.0, 0.0), v(0.0, 0.2, 0.0), 0.2).is_clear(), "exactly the separation counts");
    assert!(over_face(v(2.0, 1.0, 0.0), v(2.0, -1.0, 0.0), 0.1).is_clear(), "past the face");
}

#[test]
fn a_vertex_grazes_a_face() {
    // Slides in the plane of the face: out of reach, along its border, across it.
    assert!(over_face(v(-2.0, 0.0, -1.5), v(2.0, 0.0, -1.5), 0.4).is_clear());
    assert!(!over_face(v(-2.0, 0.0, -1.0), v(2.0, 0.0, -1.0), 0.0).is_clear());
    assert!(!over_face(v(-2.0, 0.0, 0.0), v(2.0, 0.0, 0.0), 0.0).is_clear());
    // A hair over the plane, moving along it.
    assert!(over_face(v(-2.0, 1e-12, 0.0), v(2.0, 1e-12, 0.0), 0.0).is_clear());
    // Round a corner at little more than the separation.
    assert!(over_face(v(-2.0, 0.0, -1.1001), v(2.0, 0.0, -1.1001), 0.1).is_clear());
}

#[test]
fn edges_cross() {
    let start = [v(-1.0, 1.0, 0.0), v(1.0, 1.0, 0.0), v(0.0, 0.0, -1.0), v(0.0, 0.0, 1.0)];
    let fall = |drop: f64| [start[0] - DVec3::Y * drop, start[1] - DVec3::Y * drop, start[2], start[3]];
    let t = time(edge_edge(&start, &fall(2.0), 0.0, Effort::default()));
    assert!(t <= 0.5 && t > 0.5 - 1e-8, "{t}");
    assert!(edge_edge(&start, &fall(0.9), 0.05, Effort::default()).is_clear());
    // Parallel edges, end to end and side by side.
    let side = [v(0.0, 0.0, 0.0), v(1.0, 0.0, 0.0), v(0.0, 1.0, 0.0), v(1.0, 1.0, 0.0)];
    let closing = [side[0] + DVec3::Y * 0.9, side[1] + DVec3::Y * 0.9, side[2], side[3]];
    assert!(edge_edge(&side, &closing, 0.09, Effort::default()).is_clear());
    assert!(!edge_edge(&side, &closing, 0.11, Effort::default()).is_clear());
}

#[test]
fn what_has_no_size_is_judged_too() {
    // A face that is a segment, then a point; edges that are points.
    let p = v(0.3, 0.0, 0.0);
    let flat = [v(0.3, 1.0, 0.0), DVec3::ZERO, DVec3::X, DVec3::X * 0.5];
    let mut end = flat;
    end[0] = v(0.3, -1.0, 0.0);
    assert!(!vertex_face(&flat, &end, 0.0, Effort::default()).is_clear());
    end[0] = v(0.3, 0.1, 0.0);
    assert!(vertex_face(&flat, &end, 0.05, Effort::default()).is_clear());
    assert!(!edge_edge(&[p; 4], &[p; 4], 0.0, Effort::default()).is_clear());
    assert!(
        edge_edge(
            &[p, p, p + DVec3::X, p + DVec3::X],
            &[p, p, p + DVec3::Y, p + DVec3::Y],
            0.7,
            Effort::default()
        )
        .is_clear()
    );
}

#[test]
fn what_is_not_finite_is_never_clear() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
        for slot in 0..4 {
            for axis in 0..3 {
                let far = [v(0.0, 9.0, 0.0), v(-1.0, 0.0, -1.0), v(1.0, 0.0, -1.0), v(0.0, 0.0, 1.0)];
                let mut end = far;
                end[slot][axis] = bad;
                if bad == f64::MAX {
                    // Finite but overflowing: either answer must at least come.
                    let _ = vertex_face(&far, &end, 0.1, Effort::default());
                    continue;
                }
                assert!(!vertex_face(&far, &end, 0.1, Effort::default()).is_clear());
                assert!(!vertex_face(&end, &far, 0.1, Effort::default()).is_clear());
                assert!(!edge_edge(&far, &end, 0.1, Effort::default()).is_clear());
            }
        }
    }
    assert!(!over_face(v(0.0, 9.0, 0.0), v(0.0, 8.0, 0.0), f64::NAN).is_clear());
    assert!(!over_face(v(0.0, 9.0, 0.0), v(0.0, 8.0, 0.0), -1.0).is_clear());
}

/// The distance of two features at a time, by the slow road: dense samples of both, then descent.
fn distance(p: &[DVec3], steps: usize) -> f64 {
    let mut least = f64::INFINITY;
    for i in 0..=steps {
        for j in 0..=steps {
            let (s, t) = (i as f64 / steps as f64, j as f64 / steps as f64);
            let point = match p {
                [a, b, c] if s + t <= 1.0 => *a + (*b - *a) * s + (*c - *a) * t,
                [_, _, _] => continue,
                [a, b, c, d] => (*a * (1.0 - s) + *b * s) * (1.0 - t) + (*d * (1.0 - s) + *c * s) * t,
                _ => continue,
            };
            least = least.min(point.length());
        }
    }
    least
}

#[test]
fn clear_pairs_are_apart_and_times_are_lower_bounds() {
    let (mut clear, mut meets) = (0, 0);
    for n in 0..3000 {
        let point = |k: u64| {
            let at = |c| random::signed(n, 8 * k + c);
            v(at(0), at(1), at(2))
        };
        let start: [DVec3; 4] = std::array::from_fn(|k| point(k as u64));
        let end: [DVec3; 4] = std::array::from_fn(|k| point(k as u64 + 4));
        let d = 0.2 * random::unit(n, 99);
        let vf = |x: &[DVec3; 4]| vec![x[0] - x[1], x[0] - x[2], x[0] - x[3]];
        let ee = |x: &[DVec3; 4]| vec![x[0] - x[2], x[1] - x[2], x[1] - x[3], x[0] - x[3]];
        let mut judge = |passage: Passage, corners: &dyn Fn(&[DVec3; 4]) -> Vec<DVec3>| {
            let first = time(passage).min(1.0);
            if passage.is_clear() {
                clear += 1
            } else {
                meets += 1
            }
            for k in 0..=20 {
                if first == 0.0 {
                    break;
                }
                let t = first * f64::from(k) / 20.0;
                let x: [DVec3; 4] = std::array::from_fn(|i| start[i] + (end[i] - start[i]) * t);
                assert!(distance(&corners(&x), 16) >= d - 1e-12, "case {n} at {t}");
            }
            if !passage.is_clear() && first > 0.0 {
                // At the reported time the pair really is at the separation.
                let x: [DVec3; 4] = std::array::from_fn(|i| start[i] + (end[i] - start[i]) * first);
                assert!(distance(&corners(&x), 400) < d + 2e-2, "case {n} reports a far pair");
            }
        };
        judge(vertex_face(&start, &end, d, Effort::default()), &vf);
        if n % 4 == 0 {
            judge(edge_edge(&start, &end, d, Effort::default()), &ee);
        }
    }
    assert!(clear > 1000 && meets > 500, "{clear} {meets}");
}

#[test]
fn few_directions_suffice() {
    let mut total = 0;
    for n in 0..20_000 {
        let point = |k: usize| {
            let at = |c: u64| random::signed(n, 8 * k as u64 + c);
            v(at(0), at(1), at(2))
        };
        let p0: [DVec3; 3] = std::array::from_fn(|k| point(0) - point(k + 1));
        let p1: [DVec3; 3] = std::array::from_fn(|k| point(4) - point(k + 5));
        total += sweep(&p0, &p1, 0.0, Effort::default()).1;
    }
    assert!(total < 20_000 * 4, "{} directions a pair", f64::from(total) / 20_000.0);
}
