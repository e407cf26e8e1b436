//! Contact inside the solve: one quadratic gauge per pair, unilateral, with friction that holds.
//!
//! A pair of features has the gauge r = Σ w x, from the second to the first; its normal n is that at the start of
//! the step. Nearer than the distance d it is pushed apart by F = (λ + κ(d − n·r))₊, the gradient of
//! F²/(2κ): λ is the least force of the two steps before, so that what rests is where it is whatever κ is (an
//! augmented Lagrangian whose outer loop is time); d is the distance of the pair at the start of the step as long as it is
//! not pressed too near (`meeting.rs`). Along the surface a spring κ |u|²/2 holds up to μ times the force of
//! the step before; u is the way since the pair began to hold, and what goes beyond is lost to sliding (G-6).
//!
//! V00's constraint-based response (V00-18) and V97's forces (V97-11 B) are gauges with a given force and given slopes:
//! `response.rs` finds them.

use super::heirs::Touch;
use super::settings::Friction;
use crate::interaction::{Coupling, ForceModel, Interactions, Memory, Mix, Moment, Outside, Stencil, Stress};
use crate::math::matrix::{outer, scaled_identity};
use crate::math::{DMat3, DVec3, parallel, reduce};

/// Part of the contact distance to which what touches may be pressed before it is pushed out again. The distance to a
/// corner is another for each edge and face around it, by some hundredths: what rests there would be thrown to and fro.
const PRESSED: f64 = 0.75;

/// Part of what is missing beyond that which a substep makes good, and the rate at which it does at most [1/s]: in substeps
/// that were halved it would be thrown.
const RECOVERY: f64 = 0.1;
const RECOVERY_RATE: f64 = 24.0;

/// What is pressed hardens by the third power of how near it is, up to this part of what it is pressed to. Of layers between
/// plates those that meet in fewer points would be pressed to nothing before the others give at all.
const HARDEST: f64 = 0.1;

/// One pair that may push.
#[derive(Clone, Copy, Debug)]
pub struct Gauge {
    /// Particles; the first stands in for those that are not cloth, with weight 0.
    pub members: [u32; 4],
    /// Their weights.
    pub weights: [f64; 4],
    /// Unit normal, from the second feature to the first.
    pub normal: DVec3,
    /// Distance to keep [m].
    pub distance: f64,
    /// κ [N/m].
    pub stiffness: f64,
    /// Part of r that bodies have, at the start and the end of the substep [m].
    pub outside: [DVec3; 2],
    /// r at the start of the substep [m].
    pub start: DVec3,
    /// λ [N].
    pub push: f64,
    /// Force of the step before [N].
    pub load: f64,
    /// u at the start of the substep [m].
    pub slip: DVec3,
    /// Friction.
    pub friction: Friction,
    /// What it does instead of the above, if its force is given.
    pub given: Option<Given>,
}

/// A force at the start of the substep, and how it falls off.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// Along the normal [N].
    pub push: f64,
    /// Along the surface [N].
    pub hold: DVec3,
    /// ṙ there [m/s].
    pub rate: DVec3,
    /// Slope against r along the normal [N/m].
    pub stiffness: f64,
    /// Slope against ṙ along the normal [N·s/m].
    pub damping: f64,
    /// Whether it also holds back what moves faster than it would: what is drawn keeps its speed.
    pub holds: bool,
}

/// What one pair does.
#[derive(Clone, Copy, Debug)]
pub struct Act {
    /// Normal force [N].
    pub push: f64,
    /// Force along the surface [N].
    pub hold: DVec3,
    /// u, as far as it holds [m].
    pub slip: DVec3,
    /// Stored energy [J].
    pub energy: f64,
    /// −∂force/∂r.
    pub tangent: DMat3,
    /// −∂force/∂ṙ.
    pub damping: DMat3,
}

impl Act {
    /// Nothing.
    pub const NONE: Act = Act {
        push: 0.0,
        hold: DVec3::ZERO,
        slip: DVec3::ZERO,
        energy: 0.0,
        tangent: DMat3::ZERO,
        damping: DMat3::ZERO,
    };
}

impl Gauge {
    /// Lets the pair keep the distance it has at the start of a substep of `dt` [s]; pressed nearer it comes apart little by
    /// little, and harder if it `yields`.
    pub(super) fn press(&mut self, dt: f64, yields: bool) {
        let (gap, least) = (self.normal.dot(self.start), PRESSED * self.distance);
        let part = if yields { RECOVERY.min(RECOVERY_RATE * dt) } else { RECOVERY };
        self.distance = self.distance.min(gap + part * (least - gap).max(0.0));
        if yields {
            let nearer = (least / gap.max(HARDEST * least)).max(1.0);
            self.stiffness *= nearer * nearer * nearer;
        }
    }

    /// Takes over `part` of the force of a pair of the step before, and its hold.
    pub(super) fn take(&mut self, touch: &Touch, part: f64) {
        // A blow lasts a step: what it leaves as λ would throw back what came.
        self.push += part * touch.push.min(touch.before);
        self.load += part * touch.push;
        self.slip += (touch.slip - self.normal * self.normal.dot(touch.slip)) * part;
    }

    /// What the pair does at `r` [m] and `rate` [m/s].
    pub fn act(&self, r: DVec3, rate: DVec3) -> Act {
        let n = self.normal;
        if let Some(given) = self.given {
            let fallen = given.stiffness * n.dot(r - self.start) + given.damping * n.dot(rate - given.rate);
            let push = if given.holds { given.push - fallen } else { (given.push - fallen).max(0.0) };
            let limit = self.friction.sliding * push.max(0.0);
            let hold = given.hold.clamp_length_max(limit);
            if push == 0.0 {
                return Act::NONE;
            }
            let (tangent, damping) = (outer(n, n) * given.stiffness, outer(n, n) * given.damping);
            return Act { push, hold, tangent, damping, ..Act::NONE };
        }
        let push = (self.push + self.stiffness * (self.distance - n.dot(r))).max(0.0);
        if push == 0.0 && self.load == 0.0 {
            return Act::NONE;
        }
        let mut act = Act { push, energy: 0.5 * push * push / self.stiffness, ..Act::NONE };
        if push > 0.0 {
            act.tangent = outer(n, n) * self.stiffness;
        }
        let limit = self.friction.still * self.load;
        if limit > 0.0 {
            let way = r - self.start + self.slip;
            let u = way - n * n.dot(way);
            let length = u.length();
            let across = scaled_identity(1.0) - outer(n, n);
            if self.stiffness * length <= limit {
                act.slip = u;
                act.hold = u * -self.stiffness;
                act.energy += 0.5 * self.stiffness * length * length;
                act.tangent += across * self.stiffness;
            } else {
                let limit = self.friction.sliding * self.load;
                let along = u / length;
                act.slip = along * (limit / self.stiffness);
                act.hold = along * -limit;
                act.energy += limit * length - 0.5 * limit * limit / self.stiffness;
                act.tangent += (across - outer(along, along)) * (limit / length);
            }
        }
        act
    }
}

/// All pairs of an island that may push during a substep.
pub struct Gauges {
    stencil: Stencil,
    gauges: Vec<Gauge>,
    /// Start and length of the substep [s].
    span: (f64, f64),
    /// How far through it bodies are.
    part: f64,
}

impl Gauges {
    /// No pairs among `particles` particles.
    pub fn none(particles: usize) -> Gauges {
        Gauges {
            stencil: Stencil::new::<4, 1>(particles, &[], &[]),
            gauges: Vec::new(),
            span: (0.0, 1.0),
            part: 1.0,
        }
    }

    /// Takes over the pairs of the substep from `time` of length `dt` [s].
    pub fn set(&mut self, particles: usize, gauges: Vec<Gauge>, time: f64, dt: f64) {
        let members: Vec<[u32; 4]> = gauges.iter().map(|g| g.members).collect();
        let weights: Vec<[[f64; 4]; 1]> = gauges.iter().map(|g| [g.weights]).collect();
        self.stencil = Stencil::new(particles, &members, &weights);
        self.gauges = gauges;
        self.span = (time, dt);
    }

    /// The pairs.
    pub fn gauges(&self) -> &[Gauge] {
        &self.gauges
    }

    /// What pair `k` does with particles at `x` and velocities `v`, bodies at the end of the substep.
    pub fn act(&self, k: usize, x: &[DVec3], v: &[DVec3]) -> Act {
        self.act_at(k, Moment::new(x, v), 1.0)
    }

    /// Force with which pair `k` was to come apart farther than it did with particles at `x` [N]. It must not be remembered:
    /// between plates there is no room, and what pushes harder each time throws cloth out sideways.
    pub fn in_vain(&self, k: usize, x: &[DVec3]) -> f64 {
        let Gauge { members, weights, normal, distance, stiffness, outside, start, .. } = &self.gauges[k];
        let r = (0..4).fold(outside[1], |sum, a| sum + x[members[a] as usize] * weights[a]);
        stiffness * (distance - normal.dot(r)).min(distance - normal.dot(*start)).max(0.0)
    }

    fn act_at(&self, k: usize, at: Moment, part: f64) -> Act {
        let gauge = &self.gauges[k];
        let [from, to] = gauge.outside;
        let sum = |start: DVec3, values: &[DVec3]| {
            (0..4).fold(start, |sum, a| sum + values[gauge.members[a] as usize] * gauge.weights[a])
        };
        let rate = match gauge.given {
            Some(_) => sum((to - from) / self.span.1, at.v),
            None => DVec3::ZERO,
        };
        gauge.act(sum(from.lerp(to, part), at.x), rate)
    }
}

impl ForceModel for Gauges {
    fn name(&self) -> &'static str {
        "contact"
    }

    fn coupling(&self) -> Coupling<'_> {
        Coupling::Elements(&self.stencil)
    }

    fn respond(&self, at: Moment, mix: Mix, _foreseen: &[Stress], out: &mut Interactions) {
        let len = self.gauges.len();
        let mut acts = vec![Act::NONE; len];
        parallel::fill(&mut acts, |k| self.act_at(k, at, self.part));
        out.energy = reduce::sum(len, |k| acts[k].energy);
        out.lossy.clear();
        if self.is_lossy() {
            out.lossy.resize(len, DVec3::ZERO);
        }
        out.force.resize(len, DVec3::ZERO);
        out.push.resize(len, DVec3::ZERO);
        out.tangent.resize(len, DMat3::ZERO);
        for k in 0..len {
            let (gauge, act) = (&self.gauges[k], &acts[k]);
            out.force[k] = gauge.normal * act.push + act.hold;
            out.tangent[k] = act.tangent * mix.stiffness + act.damping * mix.damping;
            out.push[k] = out.force[k];
            if gauge.given.is_some() {
                out.lossy[k] = out.force[k];
            }
            if mix.lag != 0.0 {
                let rate = (0..4)
                    .fold(DVec3::ZERO, |sum, a| sum + at.v[gauge.members[a] as usize] * gauge.weights[a]);
                out.push[k] -= act.tangent * rate * mix.lag;
            }
        }
    }

    fn energy(&self, at: Moment) -> f64 {
        reduce::sum(self.gauges.len(), |k| self.act_at(k, at, self.part).energy)
    }

    fn drive(&mut self, outside: &Outside) {
        let (start, dt) = self.span;
        self.part = ((outside.time - start) / dt).clamp(0.0, 1.0);
    }

    /// Forces that are given have no energy: without the work they do, drawing cloth up against its weight looks like a loss.
    fn is_lossy(&self) -> bool {
        self.gauges.iter().any(|gauge| gauge.given.is_some())
    }

    fn pushes(&self, at: Moment) -> Vec<[DVec3; 2]> {
        let of = |k: usize| {
            let Gauge { members, weights, normal, .. } = &self.gauges[k];
            if self.act_at(k, at, self.part).push == 0.0 {
                return None;
            }
            let side = |sign: f64| {
                let (mut sum, mut weight) = (DVec3::ZERO, 0.0);
                for (p, w) in members.iter().zip(weights).filter(|(_, w)| *w * sign > 0.0) {
                    sum += at.x[*p as usize] * w.abs();
                    weight += w.abs();
                }
                (weight > 0.0).then(|| sum / weight)
            };
            // A side that bodies have is across the gap.
            let gap = *normal * self.gauges[k].distance;
            let first = side(1.0).or_else(|| Some(side(-1.0)? + gap))?;
            Some([first, side(-1.0).unwrap_or(first - gap)])
        };
        (0..self.gauges.len()).filter_map(of).collect()
    }

    fn part(&self, at: Moment) -> Option<(&'static str, Vec<DVec3>)> {
        let hold = (0..self.gauges.len()).map(|k| self.act_at(k, at, self.part).hold);
        Some(("friction", hold.collect()))
    }

    fn passes(&self) -> bool {
        true
    }

    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        Some(self)
    }

    fn foresee(&self, _: Moment, _: &[DVec3], _: f64, _: f64, _: &mut Vec<Stress>) {}

    fn remember(&self, _at: Moment, _memory: &mut Vec<Memory>) {}
}
