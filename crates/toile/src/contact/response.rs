//! Responses of the papers: V00's constraints (V00-18, V00-19), V97's correction of positions, velocities and forces
//! (V97-11 to V97-13), B14's projection (B14-11).

use super::gauges::{Gauge, Given};
use crate::collide::collider::Collider;
use crate::math::DVec3;

/// Sweeps over all contacts: many on one particle would each cancel the whole of its acceleration (G-5).
const SWEEPS: usize = 8;

/// What the response knows of the particles.
#[derive(Clone, Copy)]
pub struct Flight<'a> {
    /// Inverse masses [1/kg]; 0 where led.
    pub inverse: &'a [f64],
    /// Velocities [m/s].
    pub v: &'a [DVec3],
    /// Accelerations without contact [m/s²].
    pub a: &'a [DVec3],
    /// Length of the substep [s].
    pub dt: f64,
}

/// Σ w values over the members of a pair.
fn gather(gauge: &Gauge, values: &[DVec3]) -> DVec3 {
    (0..4).fold(DVec3::ZERO, |sum, k| sum + values[gauge.members[k] as usize] * gauge.weights[k])
}

/// Adds a force [N] or impulse along the weights of a pair to what particles have.
fn scatter(gauge: &Gauge, inverse: &[f64], value: DVec3, out: &mut [DVec3]) {
    for k in 0..4 {
        let p = gauge.members[k] as usize;
        out[p] += value * (gauge.weights[k] * inverse[p]);
    }
}

/// Mass that meets in a pair: 1/Σ w²/m [kg].
fn mass_of(gauge: &Gauge, inverse: &[f64]) -> f64 {
    let give = (0..4)
        .fold(0.0, |sum, k| sum + gauge.weights[k] * gauge.weights[k] * inverse[gauge.members[k] as usize]);
    if give > 0.0 { 1.0 / give } else { 0.0 }
}

/// The acceleration along the normal that brings a contact to its distance in two steps (V00 eq. 18 and 19, with the
/// signs that make it so), with `gain` 1.5 for positions that follow a Taylor step, 1 for x⁺ = x + h v⁺.
pub fn wanted(distance: f64, q: f64, rate: f64, acceleration: f64, gain: f64, dt: f64) -> f64 {
    (distance - q) / (dt * dt) - gain * rate / dt - acceleration
}

/// Gives each pair the force of V00's response, found together by sweeps, each pair only pushing (G-5); tangentially
/// what stops it, up to friction (G-6). `slopes` says whether they fall off as V00 has it, or are constant (V97 B).
pub fn constrain(gauges: &mut [Gauge], flight: Flight, gain: Option<f64>) {
    let Flight { inverse, v, a, dt } = flight;
    let mut extra = vec![DVec3::ZERO; v.len()];
    let mut forces = vec![(0.0f64, DVec3::ZERO); gauges.len()];
    for _ in 0..SWEEPS {
        for (gauge, force) in gauges.iter().zip(&mut forces) {
            let n = gauge.normal;
            let mass = mass_of(gauge, inverse);
            let moving = (gauge.outside[1] - gauge.outside[0]) / dt;
            let rate = gather(gauge, v) + moving;
            let (q, own, pushed) = (n.dot(gauge.start), gather(gauge, a), gather(gauge, &extra));
            let missing = match gain {
                Some(gain) => wanted(gauge.distance, q, n.dot(rate), n.dot(own), gain, dt),
                // V97 B: what accelerates into contact is cancelled.
                None if q <= gauge.distance => (-n.dot(own)).max(0.0),
                None => 0.0,
            };
            let push = (force.0 + mass * (missing - n.dot(pushed))).max(0.0);
            let along = |t: DVec3| t - n * n.dot(t);
            let stop = match gain {
                Some(_) => along(-rate / dt - own - pushed),
                None => along(-own - pushed),
            };
            let hold = (force.1 + stop * mass).clamp_length_max(gauge.friction.still * push);
            scatter(gauge, inverse, n * (push - force.0) + hold - force.1, &mut extra);
            *force = (push, hold);
        }
    }
    for (gauge, (push, hold)) in gauges.iter_mut().zip(forces) {
        let mass = mass_of(gauge, inverse);
        let rate = gather(gauge, v) + (gauge.outside[1] - gauge.outside[0]) / dt;
        let (stiffness, damping) = match gain {
            Some(gain) => (mass / (dt * dt), gain * mass / dt),
            None => (0.0, 0.0),
        };
        gauge.given = Some(Given { push, hold, rate, stiffness, damping, holds: false });
    }
}

/// V97 A: positions `x` and velocities `v` at the end of a substep, moved so that contacts keep their distance and do
/// not close, with friction; returns which particles were touched.
pub fn correct(gauges: &[Gauge], inverse: &[f64], dt: f64, x: &mut [DVec3], v: &mut [DVec3]) -> Vec<u32> {
    let mut touched = Vec::new();
    for _ in 0..SWEEPS {
        for gauge in gauges {
            let n = gauge.normal;
            let mass = mass_of(gauge, inverse);
            let r = gather(gauge, x) + gauge.outside[1];
            let short = gauge.distance - n.dot(r);
            if short <= 0.0 || mass == 0.0 {
                continue;
            }
            scatter(gauge, inverse, n * (short * mass), x);
            let rate = gather(gauge, v) + (gauge.outside[1] - gauge.outside[0]) / dt;
            let closing = (-n.dot(rate)).max(0.0);
            let slide = rate - n * n.dot(rate);
            let stop = (-slide).clamp_length_max(gauge.friction.sliding * closing);
            scatter(gauge, inverse, (n * closing + stop) * mass, v);
            touched
                .extend(gauge.members.iter().zip(gauge.weights).filter(|(_, w)| *w != 0.0).map(|(p, _)| *p));
        }
    }
    touched.sort_unstable();
    touched.dedup();
    touched
}

/// B14-11: a particle nearer to a body than `distance` goes to its surface, loses what speed it has into it, and
/// slides with friction (G-20). Whether it was.
pub fn project(body: &Collider, (distance, friction): (f64, f64), x: &mut DVec3, v: &mut DVec3) -> bool {
    let Some(touch) = body.touch(*x, distance) else { return false };
    *x += touch.normal * (distance - touch.distance);
    let rate = *v - touch.velocity;
    let closing = (-touch.normal.dot(rate)).max(0.0);
    let slide = rate - touch.normal * touch.normal.dot(rate);
    *v += touch.normal * closing + (-slide).clamp_length_max(friction * closing);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Friction;
    use crate::math::random;

    /// Where (q, q̇) go in one step: eigenvalues of the table in `docs/papers/v00.md`.
    fn step(gain: f64, taylor: bool, implicit: bool) -> [f64; 4] {
        let h = 0.01;
        let next = |q: f64, rate: f64| {
            let a = wanted(0.0, q, rate, 0.0, gain, h);
            // (1 + h²V + hW) Δv = h (a − h V v) with V = 1/h², W = gain/h.
            let dv = if implicit { (h * a - rate) / (2.0 + gain) } else { h * a };
            let v = rate + dv;
            let q = if taylor { q + h * rate + 0.5 * h * dv } else { q + h * v };
            [q, h * v]
        };
        let ([a, c], [b, d]) = (next(1.0, 0.0), next(0.0, 1.0 / h));
        [a, b, c, d]
    }

    /// Largest size of an eigenvalue.
    fn radius([a, b, c, d]: [f64; 4]) -> f64 {
        let (half, det) = (0.5 * (a + d), a * d - b * c);
        let root = half * half - det;
        if root < 0.0 { det.sqrt() } else { (half.abs() + root.sqrt()).abs() }
    }

    #[test]
    fn gains_settle_as_the_table_says() {
        for (gain, taylor, implicit, expected) in [
            (1.5, true, false, 0.0),
            (1.5, false, false, 1.0),
            (1.0, false, false, 0.0),
            (1.5, false, true, 0.5345),
            (1.0, false, true, 0.5774),
        ] {
            let found = radius(step(gain, taylor, implicit));
            assert!((found - expected).abs() < 1e-3, "gain {gain}: {found}, not {expected}");
        }
    }

    fn pair(k: u64) -> Gauge {
        let unit = |i| random::unit(5, 100 * k + i);
        let (s, t) = (unit(0), unit(1));
        Gauge {
            members: [0, 1, 2, 3],
            weights: [1.0 - s, s, t - 1.0, -t],
            normal: DVec3::new(unit(2) - 0.5, 1.0, unit(3) - 0.5).normalize(),
            distance: 1e-3,
            stiffness: 1.0,
            outside: [DVec3::ZERO; 2],
            start: DVec3::Y * 5e-4,
            push: 0.0,
            load: 0.0,
            slip: DVec3::ZERO,
            friction: Friction::of(0.3),
            given: None,
        }
    }

    #[test]
    fn forces_sum_to_nothing_and_stop_the_pair() {
        for k in 0..200 {
            let at = |i| DVec3::new(random::signed(6, 9 * k + i), random::signed(7, 9 * k + i), 0.3);
            let v: Vec<DVec3> = (0..4).map(at).collect();
            let a: Vec<DVec3> = (4..8).map(at).collect();
            let inverse: Vec<f64> = (0..4).map(|i| 10.0 + 90.0 * random::unit(8, 4 * k + i)).collect();
            let mut gauges = [pair(k)];
            constrain(&mut gauges, Flight { inverse: &inverse, v: &v, a: &a, dt: 0.01 }, Some(1.5));
            let given = gauges[0].given.expect("a force");
            let force = gauges[0].normal * given.push + given.hold;
            let sum = gauges[0].weights.iter().fold(DVec3::ZERO, |sum, w| sum + force * *w);
            assert!(sum.length() <= 1e-12 * force.length(), "{k}: {sum}");
            if given.push > 0.0 {
                let mut after = a.clone();
                scatter(&gauges[0], &inverse, force, &mut after);
                let n = gauges[0].normal;
                let rate = n.dot(gather(&gauges[0], &v));
                let expected = wanted(1e-3, n.dot(gauges[0].start), rate, 0.0, 1.5, 0.01);
                let found = n.dot(gather(&gauges[0], &after));
                assert!(
                    (found - expected).abs() < 1e-6 * expected.abs().max(1.0),
                    "{k}: {found}, not {expected}"
                );
            }
        }
    }
}
