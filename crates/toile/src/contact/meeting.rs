//! Contact of one island, substep by substep: which pairs may push, what they remember, and the guarantee.

use super::balance::Balance;
use super::drawn::Drawn;
use super::filter::{self, Filter, Wish};
use super::gauges::{Gauge, Gauges};
use super::heirs::{Chosen, Touch, hand_on};
use super::response::{self, Flight};
use super::settings::{ContactSettings, Response};
use super::space::{CORNER, Object, Pair, Range, Space};
use super::tangle::Tangle;
use super::untangle::{Instant, Untangle};
use crate::collide::collider::Collider;
use crate::freedom::Mobility;
use crate::math::{DMat3, DVec3, reduce};
use crate::probe::{Probe, Stage};
use crate::rigid::{Rigid, as_wholes};
use crate::solve::Place;
use crate::state::State;

/// A vertex that a body had to be let through, because it could not go on otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Release {
    /// When [s].
    pub time: f64,
    /// Number of the cloth.
    pub cloth: u32,
    /// The vertex.
    pub vertex: u32,
    /// Whether this is when it was let through, or when it counts again.
    pub through: bool,
}

/// Distance kept by the guarantee, over the contact distance.
const LEAST: f64 = 0.05;

/// Sine by which a pair may be beside the normal cones of its features: hardly, to begin to push, and more to go on. What
/// rests on a corner would fall from one edge of it to the next otherwise, and never lie still.
const FACING: f64 = 1e-3;
const BESIDE: f64 = 0.1;

/// How far from its foreseen way a point may go, over its motion against the mean [-]; never more than the gap.
const UNSURE: f64 = 0.2;

/// How far an island may go in a substep before it is halved, over the mean edge.
const LONGEST: f64 = 0.3;

/// The same beyond which nothing is even looked for.
const GROSS: f64 = 2.5;

/// Passes that led points may have beyond the others to arrive.
const EXTRA: u32 = 4;

/// Contact of one island.
pub struct Meeting {
    space: Space,
    /// For each object of the space that is a body, its number among the bodies of the world.
    bodies: Vec<usize>,
    /// Where the points are, and where they would be at the end of the substep.
    x: Vec<DVec3>,
    ends: Vec<DVec3>,
    led: Vec<bool>,
    range: Range,
    pairs: Vec<Pair>,
    epsilon: f64,
    struck: Vec<u32>,
    features: Vec<[u64; 4]>,
    /// Objects of each pair that may push.
    sides: Vec<[u32; 2]>,
    /// Pairs to be corrected after the substep.
    corrections: Vec<Gauge>,
    filter: Filter,
    balance: Balance,
    owed: Vec<DVec3>,
    /// Points that bodies were let through, if any.
    released: Vec<bool>,
    /// What started on the wrong side and is drawn back.
    untangle: Untangle,
    /// What seams draw together.
    drawn: Drawn,
    /// What was let through since they were last taken away.
    pub releases: Vec<Release>,
    /// What touching pairs keep, sorted by features.
    pub touches: Vec<Touch>,
    /// Corners of all that moved since [`Meeting::forget`], bodies apart.
    pub swept: [DVec3; 2],
}

/// The outside of a substep: who is led, who is bound, what pulls.
#[derive(Clone, Copy)]
pub struct Outing<'a> {
    /// How cloth meets.
    pub settings: &'a ContactSettings,
    /// Bodies of the world.
    pub bodies: &'a [&'a Collider],
    /// Masses [kg].
    pub mass: &'a [f64],
    /// Particles that keep their shape.
    pub rigid: &'a [Rigid],
    /// Velocities at the start [m/s].
    pub v: &'a [DVec3],
    /// Accelerations at the start without contact [m/s²], where the response asks for them.
    pub pull: &'a [DVec3],
    /// Whether the integrator feels stiff forces.
    pub feels: bool,
    /// Gravity [m/s²].
    pub gravity: DVec3,
    /// Freedoms.
    pub mobility: &'a Mobility,
    /// Where led particles will be.
    pub places: &'a [Place],
    /// Mean edge [m].
    pub edge: f64,
    /// Start of the substep [s].
    pub time: f64,
    /// Its length [s].
    pub dt: f64,
    /// Whether it will not be halved again: what cannot be done must be made do with.
    pub last: bool,
    /// What the step owes each particle [N·s], see `balance.rs`; empty if nothing.
    pub owed: &'a [DVec3],
}

/// Why a substep must be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLong {
    /// Something moves farther than an edge while close to something else.
    Far,
    /// What is led could not get where it must.
    Blocked,
}

impl Meeting {
    /// Contact among `objects` (cloths first) at `time`, particles at `x`; `bodies` numbers those that are bodies.
    pub fn new(
        objects: Vec<Object>,
        bodies: Vec<usize>,
        colliders: &[&Collider],
        x: &[DVec3],
        time: f64,
    ) -> Meeting {
        let mut all = x.to_vec();
        for body in &bodies {
            colliders[*body].pose(time, &mut all);
        }
        let space = Space::new(objects, &all);
        Meeting {
            space,
            bodies,
            ends: all.clone(),
            x: all,
            led: Vec::new(),
            range: Range::default(),
            pairs: Vec::new(),
            epsilon: 0.0,
            struck: Vec::new(),
            features: Vec::new(),
            sides: Vec::new(),
            corrections: Vec::new(),
            filter: Filter::default(),
            balance: Balance::default(),
            owed: Vec::new(),
            released: Vec::new(),
            untangle: Untangle::default(),
            drawn: Drawn::default(),
            releases: Vec::new(),
            touches: Vec::new(),
            swept: [DVec3::INFINITY, DVec3::NEG_INFINITY],
        }
    }

    /// Particles that may be struck in the coming substep.
    pub fn struck(&self) -> &[u32] {
        &self.struck
    }

    /// Vertices that bodies are let through now, as numbers of cloth and vertex.
    pub fn let_through(&self) -> Vec<[u32; 2]> {
        let all = self.released.iter().enumerate().filter(|(_, released)| **released);
        all.map(|(p, _)| self.space.named(p).into()).collect()
    }

    /// Lets bodies through those of its vertices that are in `list`, and through no others.
    pub fn set_let_through(&mut self, list: &[[u32; 2]]) {
        self.released.clear();
        let own = |p: usize| list.contains(&self.space.named(p).into());
        let own: Vec<usize> = match list.is_empty() {
            true => Vec::new(),
            false => (0..self.space.particles()).filter(|p| own(*p)).collect(),
        };
        if !own.is_empty() {
            self.released.resize(self.space.points(), false);
        }
        own.into_iter().for_each(|p| self.released[p] = true);
    }

    /// Lets vertices of its cloths be drawn together in pairs: what belongs to both of a pair does not push.
    pub fn set_seams<'a>(&mut self, seams: impl Iterator<Item = (usize, &'a [[u32; 2]])>) {
        self.drawn = Drawn::new(seams, &self.space);
    }

    /// Lets those tangles last that are here with both sides, and no others.
    pub fn set_tangles(&mut self, tangles: &[Tangle]) {
        if !(tangles.is_empty() && self.untangle.is_empty()) {
            self.untangle.set(&mut self.space, tangles);
        }
    }

    /// Tangles that last.
    pub fn tangles(&self) -> impl Iterator<Item = &Tangle> {
        self.untangle.tangles()
    }

    /// Bodies of the island as they stand at `time` [s]; none where nothing is tangled.
    fn standing(&self, outing: &Outing, time: f64) -> Vec<Collider> {
        if self.untangle.is_empty() {
            return Vec::new();
        }
        let mut there: Vec<Collider> = self.bodies.iter().map(|b| outing.bodies[*b].clone()).collect();
        for body in &mut there {
            // One that cannot stand there is refused by the frame.
            let _ = body.place(time);
        }
        there
    }

    /// What draws tangled points back in a substep.
    fn pulls(&self, outing: &Outing, inverse: &[f64]) -> Vec<Gauge> {
        if self.untangle.is_empty() {
            return Vec::new();
        }
        let bodies = self.standing(outing, outing.time);
        self.untangle.pulls(&Instant {
            x: &self.x,
            v: outing.v,
            ends: &self.ends,
            inverse,
            bodies: &bodies,
            distance: self.epsilon,
            dt: outing.dt,
        })
    }

    /// Starts a new record of where the island was.
    pub fn forget(&mut self) {
        self.swept = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    }

    /// Finds what may touch in the coming substep, and hands it to `gauges`.
    pub fn begin(
        &mut self,
        now: &State,
        outing: Outing,
        gauges: &mut Gauges,
        probe: &mut Probe,
    ) -> Result<(), TooLong> {
        let Outing { settings, dt, time, .. } = outing;
        let n = self.space.particles();
        self.x.truncate(0);
        self.x.extend_from_slice(&now.x);
        self.ends.truncate(0);
        let bound = &outing.mobility.projectors;
        let fall = outing.gravity * (dt * dt);
        self.ends.extend((0..n).map(|i| now.x[i] + dt * now.v[i] + fall));
        for (i, projector) in bound {
            let i = *i as usize;
            self.ends[i] = now.x[i] + *projector * (self.ends[i] - now.x[i]);
        }
        self.led.clear();
        self.led.resize(n, false);
        for place in outing.places {
            let p = place.particle as usize;
            self.ends[p] = place.settle(self.ends[p]);
            self.led[p] |= place.blocked == DMat3::IDENTITY || place.away(now.x[p]) != DVec3::ZERO;
        }
        for body in &self.bodies {
            outing.bodies[*body].pose(time, &mut self.x);
            outing.bodies[*body].pose_until(time + dt, &mut self.ends);
        }
        let points = self.space.points();
        self.led.resize(points, true);
        let way: Vec<DVec3> = (0..points).map(|i| self.ends[i] - self.x[i]).collect();
        let drift = filter::drift_of(n, &way, &self.led);
        self.epsilon = self.largest_distance(settings);
        self.range.reach.clear();
        let unsure = |w: &DVec3| (UNSURE * (*w - drift).length()).min(settings.gap);
        self.range.reach.extend(way.iter().map(unsure));
        self.range.way.clone_from(&way);
        let most = LONGEST * outing.edge;
        if settings.guarantee && !outing.last && self.races(&way, drift, GROSS * most) {
            self.pairs.clear();
            probe.lap(Stage::Detect);
            return Err(TooLong::Far);
        }
        let mut pairs = std::mem::take(&mut self.pairs);
        self.space.pairs(&self.x, &self.range, self.epsilon, settings.vertices_only, &mut pairs);
        pairs.retain(|pair| self.meets(pair, settings));
        self.pairs = pairs;
        probe.lap(Stage::Detect);
        self.choose(&way, outing, gauges);
        probe.counters.contacts = probe.counters.contacts.max(gauges.gauges().len() as u64);
        probe.lap(Stage::Contact);
        // Pairs are many, and their normals mean little, where things pass more than an edge in a substep.
        let far = |pair: &Pair| {
            let mean = pair.points.iter().fold(DVec3::ZERO, |sum, p| sum + way[*p as usize]) * 0.25;
            pair.points.iter().any(|p| (way[*p as usize] - mean).length() > most)
        };
        if settings.guarantee && !outing.last && self.pairs.iter().any(far) {
            Err(TooLong::Far)
        } else {
            Ok(())
        }
    }

    /// Whether a body and the particles, seen as boxes, meet while it moves by more than `most` [m] against their mean motion
    /// `drift`: all their pairs would be many, and the answer the same.
    fn races(&self, way: &[DVec3], drift: DVec3, most: f64) -> bool {
        let swept = |range: std::ops::Range<usize>| {
            let none = [DVec3::INFINITY, DVec3::NEG_INFINITY];
            let points = range.flat_map(|i| [self.x[i], self.ends[i]]);
            points.fold(none, |[low, high], p| [low.min(p), high.max(p)])
        };
        let cloth = swept(0..self.space.particles());
        self.space.objects().iter().filter(|object| object.is_body).any(|object| {
            let range = object.first..object.first + object.shape.surface().vertices();
            let fast = range.clone().any(|i| (way[i] - drift).length() > most);
            fast && {
                let [low, high] = swept(range);
                low.cmple(cloth[1]).all() && high.cmpge(cloth[0]).all()
            }
        })
    }

    /// Whether a pair counts by the settings.
    fn meets(&self, pair: &Pair, settings: &ContactSettings) -> bool {
        // Systems that compare vertices only compare those of the cloth.
        if settings.vertices_only && self.space.objects()[pair.objects[0] as usize].is_body {
            return false;
        }
        let body = pair.objects.iter().any(|o| self.space.objects()[*o as usize].is_body);
        if body { settings.bodies } else { settings.cloth }
    }

    /// Whether a pair is of cloth that gives when it is pressed. Stiff things have room to go to, and a pile of them needs all
    /// the push it had.
    fn yields(&self, objects: [u32; 2]) -> bool {
        objects.iter().all(|o| !self.space.objects()[*o as usize].stiff)
    }

    /// Distance that two objects keep [m].
    fn distance(&self, objects: [u32; 2], settings: &ContactSettings) -> f64 {
        let thickness = objects.map(|o| self.space.objects()[o as usize].thickness);
        settings.gap.max(0.5 * (thickness[0] + thickness[1]))
    }

    fn largest_distance(&self, settings: &ContactSettings) -> f64 {
        let thick = self.space.objects().iter().fold(0.0f64, |most, o| most.max(o.thickness));
        settings.gap.max(thick)
    }

    /// Makes gauges of the pairs that may push.
    fn choose(&mut self, way: &[DVec3], outing: Outing, gauges: &mut Gauges) {
        let Outing { settings, dt, .. } = outing;
        let n = self.space.particles();
        self.struck.clear();
        self.features.clear();
        let weight = |i: usize| if self.led[i] { 0.0 } else { outing.mobility.inverse_mass[i] };
        if matches!(settings.response, Response::None | Response::Projection) {
            let inverse: Vec<f64> = (0..n).map(weight).collect();
            let pulls = if outing.feels { self.pulls(&outing, &inverse) } else { Vec::new() };
            gauges.set(n, pulls, outing.time, dt);
            return;
        }
        let held = |features: &[u64; 4]| self.touches.binary_search_by_key(features, |t| t.features).is_ok();
        let (mut chosen, mut reserve): (Vec<Chosen>, Vec<Chosen>) = (Vec::new(), Vec::new());
        for pair in &self.pairs {
            let points = pair.points.map(|p| p as usize);
            if pair.normal == DVec3::ZERO || self.drawn.has(pair) {
                continue;
            }
            // Inside a body its faces would throw out whom it was let through.
            let let_through = |p: &usize| self.released.get(*p).is_some_and(|released| *released);
            if points.iter().any(|p| *p >= n) && points.iter().any(let_through) {
                continue;
            }
            let distance = self.distance(pair.objects, settings);
            let moved = (0..4).fold(DVec3::ZERO, |sum, k| sum + way[points[k]] * pair.weights[k]);
            // What neither is near nor comes near cannot push.
            if pair.distance > distance && pair.distance + pair.normal.dot(moved) > 2.0 * distance {
                continue;
            }
            // By speed alone: the fall of what rests will not happen.
            let free = (0..4).filter(|k| !self.led[points[*k]]).fold(0.0, |sum, k| sum + pair.weights[k]);
            let normal = self.facing(pair, moved - outing.gravity * (dt * dt * free), distance);
            let normal = self.space.upright(pair, normal, &self.x);
            let features = self.space.signature(pair);
            let slack = |features: &[u64; 4]| if held(features) { BESIDE } else { FACING };
            let faces = features.filter(|f| self.space.faces_out(pair, slack(f), &self.x));
            let whole = self.space.identity(pair);
            let (features, list) = match (faces, features) {
                (Some(faces), _) => (faces, &mut chosen),
                (None, Some(features)) if held(&features) => (features, &mut reserve),
                (None, _) if held(&whole) => (whole, &mut reserve),
                _ => continue,
            };
            let give = (0..4).fold(0.0, |sum, k| {
                sum + if points[k] < n { pair.weights[k] * pair.weights[k] * weight(points[k]) } else { 0.0 }
            });
            if give == 0.0 {
                continue;
            }
            let stiffness = match settings.response {
                Response::Penalty => settings.penalty,
                _ => settings.stiffness / (give * dt * dt),
            };
            let stand_in = points.iter().copied().find(|p| *p < n).unwrap_or(0) as u32;
            let mut gauge = Gauge {
                members: [stand_in; 4],
                weights: [0.0; 4],
                normal,
                distance,
                stiffness,
                outside: [DVec3::ZERO; 2],
                start: DVec3::ZERO,
                push: 0.0,
                load: 0.0,
                slip: DVec3::ZERO,
                friction: self.friction(pair, settings),
                given: None,
            };
            for k in 0..4 {
                if points[k] < n {
                    gauge.members[k] = points[k] as u32;
                    gauge.weights[k] = pair.weights[k];
                } else {
                    gauge.outside[0] += self.x[points[k]] * pair.weights[k];
                    gauge.outside[1] += self.ends[points[k]] * pair.weights[k];
                }
                gauge.start += self.x[points[k]] * pair.weights[k];
            }
            if settings.response == Response::Gauge {
                gauge.press(dt, self.yields(pair.objects));
            }
            list.push(Chosen { features, sides: pair.objects, gauge });
        }
        for list in [&mut chosen, &mut reserve] {
            list.sort_by_key(|pair| pair.features);
            list.dedup_by_key(|pair| pair.features);
        }
        if settings.response == Response::Gauge {
            hand_on(&self.touches, &mut chosen, &reserve);
        }
        for Chosen { gauge, .. } in &chosen {
            let moved = gauge.members.iter().zip(gauge.weights);
            let moved =
                moved.fold(gauge.outside[1] - gauge.outside[0], |sum, (p, w)| sum + way[*p as usize] * w);
            if gauge.act(gauge.start + moved, DVec3::ZERO).push > 0.0 || gauge.load > 0.0 {
                let cloth = gauge.members.iter().zip(gauge.weights).filter(|(_, w)| *w != 0.0);
                self.struck.extend(cloth.map(|(p, _)| *p));
            }
        }
        as_wholes(&mut self.struck, outing.rigid);
        self.sides.clear();
        let mut list: Vec<Gauge> = Vec::with_capacity(chosen.len());
        for Chosen { features, sides, gauge } in chosen {
            self.features.push(features);
            self.sides.push(sides);
            list.push(gauge);
        }
        let inverse: Vec<f64> = (0..n).map(weight).collect();
        let flight = Flight { inverse: &inverse, v: outing.v, a: outing.pull, dt };
        self.corrections.clear();
        match settings.response {
            Response::Constraint if outing.feels => {
                response::constrain(&mut list, flight, Some(settings.gain))
            }
            Response::Correction if outing.feels => {
                self.corrections.clone_from(&list);
                response::constrain(&mut list, flight, None);
            }
            _ if !outing.feels => {
                // Explicit steps and constant matrices know no stiff springs: corrected afterwards.
                self.corrections = std::mem::take(&mut list);
                self.features.clear();
                self.struck.clear();
            }
            _ => {}
        }
        let pulls = self.pulls(&outing, &inverse);
        if outing.feels {
            list.extend(pulls)
        } else {
            self.corrections.extend(pulls)
        }
        gauges.set(n, list, outing.time, dt);
    }

    /// Which way a pair faces that moves by `moved` in the substep. The inside of a face, and two edges that cross, face one
    /// way wherever they slide. Corners and ends do not: what comes head on faces as it does half the contact distance `d`
    /// apart; what passes by faces as it does where it is nearest, across its way. Seen from ahead it would be an obstacle.
    fn facing(&self, pair: &Pair, moved: DVec3, d: f64) -> DVec3 {
        let r = pair.normal * pair.distance;
        let mut on = (0..4).filter(|k| pair.weights[*k].abs() > CORNER && *k >= pair.first as usize);
        let moved = match (on.next(), on.next(), on.next(), pair.first) {
            (Some(_), None, None, 1) => moved,
            (Some(a), Some(b), None, 1) => {
                let edge = self.x[pair.points[b] as usize] - self.x[pair.points[a] as usize];
                moved.reject_from(edge)
            }
            _ => return pair.normal,
        };
        let (square, along) = (moved.length_squared(), r.dot(moved));
        // Not so either where an edge has no length, and nothing is a number.
        let closes = square > 0.0 && along < 0.0;
        if !closes {
            return pair.normal;
        }
        let nearest = r + moved * (-along / square).min(1.0);
        let half = 0.5 * d;
        if nearest.length() >= half {
            return nearest.normalize();
        }
        if r.length() <= half {
            return pair.normal;
        }
        // The first of the two places on the way that are `half` apart.
        let root = (along * along - square * (r.length_squared() - half * half)).max(0.0).sqrt();
        (r - moved * ((along + root) / square)).normalize()
    }

    fn friction(&self, pair: &Pair, settings: &ContactSettings) -> super::Friction {
        let [a, b] = pair.objects.map(|o| &self.space.objects()[o as usize]);
        settings.friction(a.number as usize, b.number as usize, a.is_body || b.is_body)
    }

    /// Lets `next` go only where nothing meets, and remembers what touched.
    pub fn end(
        &mut self,
        now: &State,
        next: &mut State,
        outing: Outing,
        gauges: &Gauges,
        probe: &mut Probe,
    ) -> Result<(), TooLong> {
        let settings = outing.settings;
        let n = self.space.particles();
        let mut restart = std::mem::take(&mut next.past.restart);
        let mut touches = Vec::new();
        let bound = &outing.mobility.projectors;
        let led = |i: usize| self.led[i] || bound.binary_search_by_key(&(i as u32), |(p, _)| *p).is_ok();
        self.balance.begin(&self.space, led);
        self.owed.clear();
        self.owed.resize(n, DVec3::ZERO);
        self.owed[..outing.owed.len()].copy_from_slice(outing.owed);
        for (k, features) in self.features.iter().enumerate() {
            let act = gauges.act(k, &next.x, &next.v);
            if act.push > 0.0 {
                let gauge = &gauges.gauges()[k];
                let vain = if self.yields(self.sides[k]) { gauges.in_vain(k, &next.x) } else { 0.0 };
                let push = act.push - vain;
                touches.push(Touch { features: *features, push, before: gauge.load, slip: act.slip });
                self.balance.join(self.sides[k][0] as usize, self.sides[k][1] as usize);
                let cloth = gauge.members.iter().zip(gauge.weights).filter(|(_, w)| *w != 0.0);
                restart.extend(cloth.map(|(p, _)| *p));
            }
        }
        let inverse = |i: usize| if self.led[i] { 0.0 } else { outing.mobility.inverse_mass[i] };
        let inverse: Vec<f64> = (0..n).map(inverse).collect();
        if !self.corrections.is_empty() {
            let State { x, v, .. } = &mut *next;
            restart.extend(response::correct(&self.corrections, &inverse, outing.dt, x, v));
        }
        if settings.response == Response::Projection && settings.bodies {
            restart.extend(self.project(next, outing));
        }
        if settings.guarantee {
            // What was foreseen says nothing about motions this much longer.
            let way: Vec<DVec3> = (0..n).map(|i| next.x[i] - now.x[i]).collect();
            let other: Vec<DVec3> = (0..n).map(|i| way[i] - self.range.way[i]).collect();
            let drift = filter::drift_of(n, &other, &self.led);
            let most = LONGEST * outing.edge;
            let strays = |i: usize| {
                let far = (other[i] - drift).length();
                far > most && far > self.range.reach[i] + self.epsilon && !self.led[i]
            };
            if !self.pairs.is_empty() && !outing.last && (0..n).any(strays) {
                return Err(TooLong::Far);
            }
            self.guard(now, next, outing, &mut restart, probe)?;
        }
        self.touches = touches;
        if self.owed.iter().any(|owed| *owed != DVec3::ZERO) {
            self.balance.settle(&self.space, outing.mass, &self.owed, &mut next.v);
        }
        as_wholes(&mut restart, outing.rigid);
        next.past.restart = restart;
        for p in now.x.iter().chain(&next.x[..n]) {
            self.swept = [self.swept[0].min(*p), self.swept[1].max(*p)];
        }
        probe.lap(Stage::Filter);
        Ok(())
    }

    /// Puts particles inside bodies back on their surfaces.
    fn project(&self, next: &mut State, outing: Outing) -> Vec<u32> {
        let mut moved = Vec::new();
        for &body in &self.bodies {
            let mut there = outing.bodies[body].clone();
            if there.place(outing.time + outing.dt).is_err() {
                continue;
            }
            let number =
                self.space.objects().iter().find(|o| o.is_body).map_or(0, |o| o.number as usize) + body;
            for i in (0..self.space.particles()).filter(|i| !self.led[*i]) {
                let cloth = self.space.named(i).0 as usize;
                let friction = outing.settings.friction(cloth, number, true).sliding;
                let law = (outing.settings.gap, friction);
                if response::project(&there, law, &mut next.x[i], &mut next.v[i]) {
                    moved.push(i as u32);
                }
            }
        }
        moved
    }

    /// Lets through what keeps led points from going on: cloth through bodies, with so many `rings` around it, and pins out
    /// of their hold where other cloth is in their way. Whether there was any.
    fn give_way(&mut self, time: f64, rings: u32) -> bool {
        let n = self.space.particles();
        let mut any = false;
        for points in std::mem::take(&mut self.filter.blockers) {
            let body = points.iter().any(|p| *p as usize >= n);
            let mut points: Vec<usize> = points.into_iter().map(|p| p as usize).filter(|p| *p < n).collect();
            for _ in 0..if body { rings } else { 0 } {
                let around: Vec<usize> = points.iter().flat_map(|p| self.space.beside(*p)).collect();
                points.extend(around);
                points.sort_unstable();
                points.dedup();
            }
            for p in points {
                if body && !self.led[p] {
                    self.released.resize(self.space.points(), false);
                    if !std::mem::replace(&mut self.released[p], true) {
                        let (cloth, vertex) = self.space.named(p);
                        self.releases.push(Release { time, cloth, vertex, through: true });
                        any = true;
                    }
                } else if !body && self.led[p] {
                    self.led[p] = false;
                    any = true;
                }
            }
        }
        any
    }

    /// Carries released points along with the body they are in, and lets those count again that are clear of all bodies, on the
    /// side of the cloth they belong to: what was never let through tells which side that is.
    fn rearm(&mut self, next: &mut State, outing: Outing, restart: &mut Vec<u32>) {
        if self.released.is_empty() {
            return;
        }
        let Outing { settings, time, dt, .. } = outing;
        let (near, end) = (2.0 * settings.gap, time + dt);
        let mut there: Vec<Collider> = self.bodies.iter().map(|b| outing.bodies[*b].clone()).collect();
        there.retain_mut(|body| body.place(end).is_ok());
        let (x, space) = (&self.x, &self.space);
        let crossed = space.crossed(&self.released, x, 0.5 * LEAST * settings.gap);
        let mut clear = Vec::new();
        for p in (0..space.particles()).filter(|p| self.released[*p]) {
            let touches = there.iter().filter_map(|body| body.touch(x[p], near));
            if let Some(touch) = touches.min_by(|a, b| a.distance.total_cmp(&b.distance)) {
                next.v[p] = touch.velocity;
                restart.push(p as u32);
                continue;
            }
            let armed = |q: &usize| !self.released[*q];
            let starts = space.beside(p).any(|q| armed(&q)) || !space.fellows(p).any(|q| armed(&q));
            if starts && !crossed[p] {
                clear.push(p);
            }
        }
        for p in clear {
            self.released[p] = false;
            let (cloth, vertex) = self.space.named(p);
            self.releases.push(Release { time: end, cloth, vertex, through: false });
        }
        if self.released.iter().all(|released| !released) {
            self.released.clear();
        }
    }

    fn guard(
        &mut self,
        now: &State,
        next: &mut State,
        outing: Outing,
        restart: &mut Vec<u32>,
        probe: &mut Probe,
    ) -> Result<(), TooLong> {
        let Outing { settings, dt, mass, .. } = outing;
        let n = self.space.particles();
        let xi = LEAST * settings.gap;
        self.ends[..n].copy_from_slice(&next.x);
        let mut bulk = reduce::max(n, |i| (next.x[i] - now.x[i]).length_squared()).sqrt() > settings.gap;
        let (mut before, mut arrived) = (f64::INFINITY, false);
        let (mut pass, mut gave_way, mut carries) = (0, 0, false);
        if !settings.vertices_only && settings.cloth && settings.bodies {
            self.filter.know(&self.pairs, &self.x, &self.range, self.epsilon);
        } else {
            self.filter.forget();
        }
        while pass < settings.passes + EXTRA {
            let wish = Wish {
                to: &self.ends,
                led: &self.led,
                bound: &outing.mobility.projectors,
                released: &self.released,
                rigid: outing.rigid,
                mass,
            };
            let passed = self.filter.pass(&mut self.space, &mut self.x, wish, (xi, &mut bulk));
            pass += 1;
            arrived |= passed.led == 1.0;
            let little = passed.left < 0.02 * settings.gap || passed.sum > 0.98 * before;
            if arrived && (little || pass >= settings.passes) {
                break;
            }
            before = passed.sum;
            if !arrived && (outing.last || pass >= settings.passes) {
                // The response did not get it out of the way: it is swept along.
                self.filter.carry(&self.x, &mut self.ends, &self.led, !carries);
                carries = true;
            }
            let stuck = pass == settings.passes + EXTRA && !arrived && outing.last;
            if stuck && self.give_way(outing.time, gave_way) {
                // Whoever stood in the way no longer does: as many passes again. If others do then, more make way, lest
                // it be one by one.
                (pass, before, gave_way) = (1, f64::INFINITY, 2 * gave_way + 1);
            }
        }
        probe.counters.passes += u64::from(pass);
        if !arrived {
            return Err(TooLong::Blocked);
        }
        let counters = &mut probe.counters;
        if !self.untangle.is_empty() {
            let there = self.standing(&outing, outing.time + dt);
            self.untangle.rearm(&mut self.space, &self.x, &there, 0.5 * xi);
        }
        let mut stopped = false;
        let before_cuts = restart.len();
        for i in 0..n {
            let (wanted, got) = (next.x[i] - now.x[i], self.x[i] - now.x[i]);
            let missing = wanted - got;
            if self.led[i] {
                continue;
            }
            let length = wanted.length();
            counters.wished += length;
            if length > 0.0 {
                counters.kept += wanted.dot(got) / length;
            }
            // What rounding leaves is not a cut.
            if missing.length() > 1e-9 {
                counters.cut += 1;
                counters.removed += mass[i] * missing.length() / dt;
                self.owed[i] += (next.v[i] - got / dt) * mass[i];
                stopped = true;
                next.v[i] = got / dt;
                restart.push(i as u32);
            }
            next.x[i] = self.x[i];
        }
        for thing in outing.rigid {
            let went = |i: usize| (self.x[i] - now.x[i]) / dt;
            // Stopped as a whole, it goes on as a whole.
            if restart[before_cuts..].iter().any(|p| thing.particles.contains(&(*p as usize))) {
                thing.particles.clone().for_each(|i| next.v[i] = went(i));
                thing.settle_motion(mass, &next.x, &mut next.v);
            }
        }
        self.rearm(next, outing, restart);
        if stopped {
            // Whoever was stopped leaned on whatever was near.
            self.pairs.iter().for_each(|p| self.balance.join(p.objects[0] as usize, p.objects[1] as usize));
        }
        Ok(())
    }
}
