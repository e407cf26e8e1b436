//! The guarantee: whatever was wished for, what moves does not meet.
//!
//! One pass moves points from `x` towards where they wish to be. Every pair that could meet on the way is split by a
//! plane, and every point stays on its side of the planes of its pairs; so no vertex meets a face and no edge an
//! edge, at any instant of the pass. What is cut off is tried again in the next pass, from new planes.
//! `docs/guarantee.md` has the proof; its rules are:
//!
//! 1. *Reach.* A pair is left out only if it is farther apart than both sides can go, in a frame that moves with
//!    both.
//! 2. *Own projections.* Both ends of the gap along the normal are those of the vertices themselves, not of the
//!    closest points, whose rounding would tell.
//! 3. *Cells.* A point's half-spaces all hold its place in the common motion, so each point may be treated alone,
//!    in any order.
//! 4. *One fraction.* What is led goes the same part of its way everywhere.
//! 5. *New pairs.* Every pass looks for its pairs anew, or takes them from a list that holds all of them wherever points
//!    have gone since.
//! 6. *As a whole.* What is rigid goes to a pose on the way to the wished one in which every point of it is in its cell.

use super::grid::Grid;
use super::space::{Pair, Range, Space};
use crate::math::{DMat3, DVec3, parallel};
use crate::rigid::{Pose, Rigid};

/// How much farther than its wish a point may be taken [-]: projections onto planes turn a motion, and hardly
/// lengthen it.
const STRAY: f64 = 1.05;

/// Reach over the wish [-]: more than [`STRAY`].
const REACH: f64 = 1.06;

/// Part of the distance to its plane that a point may go.
const GAMMA: f64 = 0.9;

/// Each side's least share of the gap.
const SHARE: f64 = 0.05;

/// Cyclic projections onto a cell.
const SWEEPS: usize = 20;

/// How much farther than it must the filter looks for pairs [-].
const AHEAD: f64 = 1.25;

/// Poses tried on the way of a rigid thing.
const TRIES: usize = 12;

/// How far inside its half-spaces a projection aims, over the wish.
const AIM: f64 = 0.01;

/// Layers of cloth that a push goes through at once.
const LAYERS: usize = 4;

/// What is wished for.
#[derive(Clone, Copy)]
pub struct Wish<'a> {
    /// Where every point should end [m].
    pub to: &'a [DVec3],
    /// Points that are led: they must get there.
    pub led: &'a [bool],
    /// Projectors of the particles that are bound to lines and planes, ascending.
    pub bound: &'a [(u32, DMat3)],
    /// Points of pairs that are let through for now (see `release`), if any.
    pub released: &'a [bool],
    /// Things that keep their shape, where they are and where they should end.
    pub rigid: &'a [Rigid],
    /// Masses of the particles [kg], if anything is rigid.
    pub mass: &'a [f64],
}

/// What a pass reached.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    /// Part of their way that led points went.
    pub led: f64,
    /// Largest distance left to go [m].
    pub left: f64,
    /// Sum of distances left [m].
    pub sum: f64,
    /// Pairs that were split.
    pub pairs: usize,
}

/// Breaks a rule on purpose, to show that the tests would tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// None.
    #[default]
    None,
    /// Rule 1: points reach only half as far as they go.
    ShortReach,
    /// Rule 2: sides of the gap and of the motion from the closest points.
    ClosestPoints,
    /// Rule 5: pairs of the pass before.
    OldPairs,
    /// Rule 4: led points always go all the way.
    LedOutside,
    /// Edges do not meet edges.
    NoEdges,
    /// At most so many pairs at a point.
    FewSlots,
}

/// The filter with its storage.
#[derive(Default)]
pub struct Filter {
    /// Which rule is broken; none but in tests.
    pub fault: Fault,
    known: Known,
    pairs: Vec<Pair>,
    planes: Vec<Plane>,
    wish: Vec<DVec3>,
    bulk: Vec<DVec3>,
    range: Range,
    went: Vec<f64>,
    start: Vec<u32>,
    slots: Vec<u32>,
    moved: Vec<DVec3>,
    cut: Vec<bool>,
    led_part: Vec<f64>,
    /// How far beside its straight way each point of a rigid thing may be [m]; empty if nothing is rigid.
    beside: Vec<f64>,
    /// From where to where each rigid thing goes.
    ways: Vec<[Pose; 2]>,
    grid: Grid,
    /// Pairs of the last pass that kept led points from going on.
    pub blockers: Vec<[u32; 4]>,
    /// Points that push others on: those that are led, and those that [`Filter::carry`] has carried.
    pushing: Vec<bool>,
}

/// Points of the first feature of a pair that cannot meet.
const LEFT_OUT: u32 = 0;

/// What decides which pairs could meet in a pass.
struct Pass<'a> {
    space: &'a Space,
    x: &'a [DVec3],
    wish: Wish<'a>,
    way: &'a [DVec3],
    bulk: &'a [DVec3],
    beside: &'a [f64],
    went: &'a [f64],
    /// Whether points are where pairs were measured.
    still: bool,
    factor: f64,
    xi: f64,
    fault: Fault,
}

impl Pass<'_> {
    /// Whether a pair need not be looked at; if it must, its closest points are brought up to date.
    fn leaves_out(&self, pair: &mut Pair) -> bool {
        let Pass { wish, way, bulk, went, factor, .. } = self;
        let points = pair.points.map(|p| p as usize);
        let split = pair.first as usize;
        let all_led = points.iter().all(|p| wish.led[*p]);
        let free = !wish.released.is_empty() && points.iter().any(|p| wish.released[*p]) && {
            // A released vertex is let through bodies only.
            pair.objects.iter().any(|object| self.space.objects()[*object as usize].is_body)
        };
        if all_led || free || self.fault == Fault::NoEdges && split == 2 {
            return true;
        }
        // In the frame of the pair's own mean motion it needs less room.
        let mean = points.iter().fold(DVec3::ZERO, |sum, p| sum + bulk[*p]) * 0.25;
        let beside = |p: usize| self.beside.get(p).copied().unwrap_or(0.0);
        let own = |p: usize| factor * ((bulk[p] - mean).length() + (way[p] - bulk[p]).length() + beside(p));
        let most = |range: std::ops::Range<usize>, of: &dyn Fn(usize) -> f64| {
            points[range].iter().fold(0f64, |most, p| most.max(of(*p)))
        };
        let room = self.xi + most(0..split, &own) + most(split..4, &own);
        if !self.still {
            // Most are farther apart than that for sure, by how far they were and went since.
            let nearer = most(0..split, &|p| went[p]) + most(split..4, &|p| went[p]);
            if pair.distance - nearer > room * (1.0 + 1e-9) + 1e-12 {
                return true;
            }
            self.space.measure(self.x, pair);
        }
        pair.distance > room
    }
}

/// The plane between the two features of a pair.
#[derive(Clone, Copy, Debug, Default)]
struct Plane {
    normal: DVec3,
    /// How far each point may go against its side's normal [m].
    room: [f64; 4],
    /// Nothing separates them: all four points stay.
    frozen: bool,
    /// The common motion would close it.
    closes: bool,
}

impl Filter {
    /// Tells it all pairs at `x` that may come within `epsilon` [m] if points stay in `range`.
    pub fn know(&mut self, pairs: &[Pair], x: &[DVec3], range: &Range, epsilon: f64) {
        let known = &mut self.known;
        known.pairs.clear();
        known.pairs.extend_from_slice(pairs);
        known.x.clear();
        known.x.extend_from_slice(x);
        known.range.clone_from(range);
        known.epsilon = epsilon;
    }

    /// Lets it know nothing.
    pub fn forget(&mut self) {
        self.known.x.clear();
    }

    /// Moves `x` towards the wish without letting anything meet.
    pub fn pass(
        &mut self,
        space: &mut Space,
        x: &mut [DVec3],
        wish: Wish,
        (xi, bulk): (f64, &mut bool),
    ) -> Passed {
        let n = x.len();
        self.wish.resize(n, DVec3::ZERO);
        let moved = &mut self.wish;
        parallel::fill(moved, |i| wish.to[i] - x[i]);
        self.turn(x, wish);
        let mut common = *bulk && self.grid.fill(x, &self.wish, wish.led, space.particles(), &mut self.bulk);
        if common {
            for (i, _) in wish.bound {
                // What is bound to a line or plane shares no motion.
                self.bulk[*i as usize] = self.wish[*i as usize];
            }
            for thing in wish.rigid {
                // What is rigid is carried along without turning.
                let own = thing.particles.clone();
                let mean = own.clone().fold(DVec3::ZERO, |sum, i| sum + self.bulk[i]) / own.len() as f64;
                self.bulk[own].fill(mean);
            }
            self.find(space, x, wish, xi);
            self.split(x, xi, common);
            // If the common motion itself would bring something together: plain motion, for the rest of the step.
            common = !self.planes.iter().any(|plane| plane.closes);
            *bulk = common;
        }
        if !common {
            self.bulk.clear();
            self.bulk.resize(n, DVec3::ZERO);
            self.find(space, x, wish, xi);
            self.split(x, xi, common);
        }
        self.cells(n);
        self.go(x, wish)
    }

    /// Finds the ways of rigid things, and how far they lead beside straight lines.
    fn turn(&mut self, x: &[DVec3], wish: Wish) {
        self.beside.clear();
        self.ways.clear();
        if wish.rigid.is_empty() {
            return;
        }
        self.beside.resize(x.len(), 0.0);
        for thing in wish.rigid {
            let way = [x, wish.to].map(|at| thing.fit(wish.mass, at));
            // Between unit quaternions c apart lies an arc of at most c²/2 beside its chord, for a point one radius away;
            // twice that for turns that are not small.
            let [a, b] = way.map(|pose| pose.turn);
            let chord = if a.dot(b) < 0.0 { (a + b).length_squared() } else { (a - b).length_squared() };
            self.beside[thing.particles.clone()].fill(chord * thing.radius());
            self.ways.push(way);
        }
    }

    /// Fills `pairs` with all that could meet on the way. A point may end up anywhere within [`STRAY`] of its own wish from
    /// where the common motion takes it.
    fn find(&mut self, space: &mut Space, x: &[DVec3], wish: Wish, xi: f64) {
        let factor = if self.fault == Fault::ShortReach { 0.5 } else { REACH };
        let (way, bulk) = (&self.wish, &self.bulk);
        let Range { way: common, reach } = &mut self.range;
        common.resize(x.len(), DVec3::ZERO);
        parallel::fill(common, |i| factor * bulk[i]);
        reach.resize(x.len(), 0.0);
        let beside = |i: usize| self.beside.get(i).copied().unwrap_or(0.0);
        parallel::fill(reach, |i| factor * ((way[i] - bulk[i]).length() + beside(i)));
        if self.fault == Fault::OldPairs && !self.pairs.is_empty() {
            return;
        }
        if !self.known.covers(space.particles(), x, &self.range, wish.led, xi) {
            self.known.look(space, x, &self.range, xi);
        }
        // How far points went since the pairs were found.
        let still = self.known.x == x;
        let known = &self.known.x;
        self.went.resize(x.len(), 0.0);
        parallel::fill(&mut self.went, |i| if still { 0.0 } else { (x[i] - known[i]).length() });
        let Filter { wish: way, bulk, beside, went, fault, .. } = &*self;
        let pass = Pass { space, x, wish, way, bulk, beside, went, still, factor, xi, fault: *fault };
        let mut pairs = self.known.pairs.clone();
        parallel::update(&mut pairs, |_, pair| {
            if pass.leaves_out(pair) {
                pair.first = LEFT_OUT;
            }
        });
        self.pairs = pairs;
        self.pairs.retain(|pair| pair.first != LEFT_OUT);
        if self.fault == Fault::FewSlots {
            let mut count = vec![0u8; x.len()];
            self.pairs.retain(|pair| {
                let fits = pair.points.iter().all(|p| count[*p as usize] < 16);
                if fits {
                    pair.points.iter().for_each(|p| count[*p as usize] += 1);
                }
                fits
            });
        }
    }

    /// Puts a plane between the features of every pair.
    fn split(&mut self, x: &[DVec3], xi: f64, common: bool) {
        let (pairs, wish, bulk, fault) = (&self.pairs, &self.wish, &self.bulk, self.fault);
        self.planes.resize(pairs.len(), Plane::default());
        parallel::fill(&mut self.planes, |k| plane_of(&pairs[k], x, wish, bulk, xi, common, fault));
    }

    /// Lists for every point the planes it must stay behind, in the order of pairs.
    fn cells(&mut self, n: usize) {
        self.start.clear();
        self.start.resize(n + 1, 0);
        for pair in &self.pairs {
            for p in pair.points {
                self.start[p as usize + 1] += 1;
            }
        }
        for i in 0..n {
            self.start[i + 1] += self.start[i];
        }
        let mut next: Vec<u32> = self.start[..n].to_vec();
        self.slots.resize(4 * self.pairs.len(), 0);
        for (k, pair) in self.pairs.iter().enumerate() {
            for (a, p) in pair.points.iter().enumerate() {
                self.slots[next[*p as usize] as usize] = (4 * k + a) as u32;
                next[*p as usize] += 1;
            }
        }
    }

    /// Moves every point as far towards its wish as its cell allows.
    fn go(&mut self, x: &mut [DVec3], wish: Wish) -> Passed {
        let n = x.len();
        let Filter { pairs, planes, start, slots, bulk, fault, .. } = self;
        let (pairs, planes, start, slots, bulk) = (&*pairs, &*planes, &*start, &*slots, &*bulk);
        let way = &self.wish;
        let way_of = |i: usize| way[i];
        let cell = |i: usize| {
            slots[start[i] as usize..start[i + 1] as usize].iter().map(move |slot| {
                let (k, a) = (*slot as usize / 4, *slot as usize % 4);
                let plane = &planes[k];
                let side = if a < pairs[k].first as usize { 1.0 } else { -1.0 };
                Half { normal: plane.normal * side, room: plane.room[a], frozen: plane.frozen, pair: k }
            })
        };
        self.led_part.resize(n, 1.0);
        parallel::fill(&mut self.led_part, |i| {
            if !wish.led[i] {
                return 1.0;
            }
            let e = way[i] - bulk[i];
            if e == DVec3::ZERO {
                return 1.0;
            }
            cell(i).fold(1.0f64, |part, half| part.min(half.part(e)))
        });
        let led = match *fault {
            Fault::LedOutside => 1.0,
            _ => self.led_part.iter().fold(1.0f64, |least, part| least.min(*part)),
        };
        let moved = &mut self.moved;
        moved.resize(n, DVec3::ZERO);
        parallel::fill(moved, |i| {
            let e = way[i] - bulk[i];
            if wish.led[i] {
                return bulk[i] + e * led;
            }
            let projector = bound_of(wish.bound, i);
            bulk[i] + within(e, || cell(i), projector)
        });
        for (thing, way) in wish.rigid.iter().zip(&self.ways) {
            // Where it is after its common motion, and what it may do from there.
            let own = thing.particles.clone();
            let carried = Pose { centre: way[0].centre + bulk[own.start], ..way[0] };
            let beside = self.beside[own.start];
            let allowed = |i: usize, y: DVec3| {
                let reach = STRAY * ((way_of(i) - bulk[i]).length() + beside);
                let start: f64 = if y.length() > reach { 0.9 } else { 1.0 };
                cell(i).fold(start, |part, half| part.min(half.part(y)))
            };
            let mut part = 1.0;
            for _ in 0..TRIES {
                let pose = carried.towards(&way[1], part);
                let free = own
                    .clone()
                    .fold(1.0f64, |least, i| least.min(allowed(i, thing.point(&pose, i) - x[i] - bulk[i])));
                if free == 1.0 {
                    break;
                }
                part *= (0.98 * free).min(0.9);
            }
            let pose = carried.towards(&way[1], part);
            let inside = |i: usize| allowed(i, thing.point(&pose, i) - x[i] - bulk[i]) == 1.0;
            let goes = own.clone().all(inside);
            own.for_each(|i| moved[i] = if goes { thing.point(&pose, i) - x[i] } else { bulk[i] });
        }
        self.blockers.clear();
        if led < 0.9 {
            for (i, part) in self.led_part.iter().enumerate() {
                if *part < 0.9 {
                    let e = way[i] - bulk[i];
                    let stops = cell(i).filter(|half| half.part(e) < 0.9);
                    self.blockers.extend(stops.map(|half| pairs[half.pair].points));
                }
            }
        }
        let mut passed = Passed { led, pairs: pairs.len(), ..Passed::default() };
        self.cut.resize(n, false);
        for i in 0..n {
            let left = (way[i] - moved[i]).length();
            passed.left = passed.left.max(left);
            passed.sum += left;
            self.cut[i] = left > 1e-9 + 1e-6 * way[i].length();
            x[i] += moved[i];
        }
        passed
    }

    /// Lets free points in the way of led ones wish to go on as far as those, and what is in their way in turn, layer
    /// by layer. `x` is where the last pass ended; `anew` forgets who was carried before.
    pub fn carry(&mut self, x: &[DVec3], to: &mut [DVec3], led: &[bool], anew: bool) {
        if anew {
            self.pushing.clear();
            self.pushing.extend_from_slice(led);
        }
        // Nobody is carried farther than what carries: points that push each other to and fro would go on for ever.
        let far = |i: usize| if led[i] { (to[i] - x[i]).length_squared() } else { 0.0 };
        let farthest = (0..x.len()).map(far).fold(0.0, f64::max).sqrt();
        for _ in 0..LAYERS {
            let mut more = false;
            for (pair, plane) in self.pairs.iter().zip(&self.planes).filter(|(_, plane)| !plane.frozen) {
                let points = pair.points.map(|p| p as usize);
                let (one, other) = points.split_at(pair.first as usize);
                for (own, behind, out) in [(one, other, plane.normal), (other, one, -plane.normal)] {
                    let way = |p: usize| out.dot(to[p] - x[p]);
                    let pushed =
                        behind.iter().filter(|p| self.pushing[**p]).map(|p| way(*p)).fold(0.0, f64::max);
                    let reach = |side: &[usize], pick: fn(f64, f64) -> f64, from: f64| {
                        side.iter().fold(from, |level, p| pick(level, out.dot(x[*p] - x[points[0]])))
                    };
                    let gap =
                        reach(own, f64::min, f64::INFINITY) - reach(behind, f64::max, f64::NEG_INFINITY);
                    // Half of the gap may close: the planes of the next pass need the rest.
                    let due = pushed - 0.5 * gap.max(0.0);
                    for &p in own.iter().filter(|p| !led[**p]) {
                        let short = due - out.dot(to[p] - x[p]);
                        if pushed > 0.0 && short > 0.0 {
                            let before = to[p] - x[p];
                            let limit = farthest.max(before.length());
                            to[p] = x[p] + (before + out * short).clamp_length_max(limit);
                            self.pushing[p] = true;
                            more = true;
                        }
                    }
                }
            }
            if !more {
                break;
            }
        }
    }

    /// Which points the last pass did not let go all their way.
    pub fn cut(&self) -> &[bool] {
        &self.cut
    }
}

/// One half-space of a cell.
#[derive(Clone, Copy)]
struct Half {
    normal: DVec3,
    room: f64,
    frozen: bool,
    pair: usize,
}

impl Half {
    /// Part of the motion `e` that it allows.
    fn part(&self, e: DVec3) -> f64 {
        if self.frozen {
            return 0.0;
        }
        let against = -self.normal.dot(e);
        if against > self.room { self.room / against } else { 1.0 }
    }
}

/// The motion nearest to `e` in a cell that a few projections find, cut so that it surely is in it.
fn within<I: Iterator<Item = Half>>(e: DVec3, cell: impl Fn() -> I, projector: Option<DMat3>) -> DVec3 {
    let wished = e.length();
    if wished == 0.0 {
        return e;
    }
    let mut y = e;
    let inside = |y: DVec3| cell().all(|half| !half.frozen && -half.normal.dot(y) <= half.room);
    if inside(y) {
        return y;
    }
    for _ in 0..SWEEPS {
        let mut any = false;
        for half in cell() {
            if half.frozen {
                return DVec3::ZERO;
            }
            let beyond = -half.normal.dot(y) - half.room;
            if beyond > 0.0 {
                let step = half.normal * (beyond + AIM * wished);
                y += match projector {
                    Some(p) => {
                        // Along what freedom leaves, far enough to make up for the slant.
                        let along = p * half.normal;
                        let square = along.length_squared();
                        if square > 1e-12 { along * ((beyond + AIM * wished) / square) } else { DVec3::ZERO }
                    }
                    None => step,
                };
                any = true;
            }
        }
        if !any {
            break;
        }
    }
    let length = y.length();
    if length > STRAY * wished {
        y *= STRAY * wished / length;
    }
    let part = cell().fold(1.0f64, |part, half| part.min(half.part(y)));
    if part < 1.0 { y * (part * (1.0 - 1e-12)).max(0.0) } else { y }
}

fn bound_of(bound: &[(u32, DMat3)], i: usize) -> Option<DMat3> {
    bound.binary_search_by_key(&(i as u32), |(p, _)| *p).ok().map(|at| bound[at].1)
}

/// Mean motion of the particles that are not led: what they all share needs no room between them.
pub fn drift_of(particles: usize, way: &[DVec3], led: &[bool]) -> DVec3 {
    let (mut sum, mut count) = (DVec3::ZERO, 0);
    for i in 0..particles {
        if !led[i] {
            sum += way[i];
            count += 1;
        }
    }
    if count == 0 { DVec3::ZERO } else { sum / f64::from(count) }
}

/// Pairs that were looked for once, and where.
#[derive(Default)]
struct Known {
    pairs: Vec<Pair>,
    /// Where the points were [m]; empty if nothing is known.
    x: Vec<DVec3>,
    /// Where points were taken to go.
    range: Range,
    /// How far apart pairs might be besides [m].
    epsilon: f64,
}

impl Known {
    /// Whether all that could meet from `x` within `range` is among the pairs. What all points went together since then, and
    /// what all mean to go besides, brings none nearer to another.
    fn covers(&self, particles: usize, x: &[DVec3], range: &Range, led: &[bool], xi: f64) -> bool {
        let slack = 0.5 * (self.epsilon - xi);
        if slack < 0.0 || self.x.len() != x.len() {
            return false;
        }
        let went = |i: usize| x[i] - self.x[i];
        let besides = |i: usize| range.way[i] - self.range.way[i];
        let [together, all] = if (0..x.len()).any(|i| led[i] && i < particles) {
            [DVec3::ZERO; 2]
        } else {
            let mean = |of: &dyn Fn(usize) -> DVec3| {
                let each: Vec<DVec3> = (0..particles).map(of).collect();
                drift_of(particles, &each, led)
            };
            [mean(&went), mean(&besides)]
        };
        (0..x.len()).all(|i| {
            let more = (went(i) - together).length() + (besides(i) - all).length();
            range.reach[i] + more <= self.range.reach[i] + slack
        })
    }

    /// Looks anew, somewhat farther than these reaches, so that it need not be done again in the next pass.
    fn look(&mut self, space: &mut Space, x: &[DVec3], range: &Range, xi: f64) {
        self.x.clear();
        self.x.extend_from_slice(x);
        self.range.clone_from(range);
        self.range.reach.iter_mut().for_each(|reach| *reach = AHEAD * *reach + 2.0 * xi);
        self.epsilon = xi;
        space.pairs(x, &self.range, xi, false, &mut self.pairs);
    }
}

/// Whether `a` is above `b`; what is not a number is above nothing.
fn above(a: f64, b: f64) -> bool {
    a > b
}

/// The plane between the features of `pair`.
fn plane_of(
    pair: &Pair,
    x: &[DVec3],
    wish: &[DVec3],
    bulk: &[DVec3],
    xi: f64,
    common: bool,
    fault: Fault,
) -> Plane {
    let origin = x[pair.points[0] as usize];
    let at = pair.points.map(|p| x[p as usize] - origin);
    let carried = pair.points.map(|p| bulk[p as usize]);
    let own = pair.points.map(|p| wish[p as usize] - bulk[p as usize]);
    let split = pair.first as usize;
    // Where both sides begin along n, from the vertices' own places.
    let gap = |n: DVec3, moved: bool| {
        let (mut upper, mut lower) = (f64::INFINITY, f64::NEG_INFINITY);
        for k in 0..4 {
            let h = n.dot(at[k]) + if moved { n.dot(carried[k]) } else { 0.0 };
            if k < split { upper = upper.min(h) } else { lower = lower.max(h) }
        }
        (upper - lower, lower)
    };
    let mut normal = pair.normal;
    let mut wide = gap(normal, false).0;
    if normal == DVec3::ZERO || !above(wide, 0.5 * pair.distance) {
        // The direction of the closest points has no digits left: try the plane of the features.
        let across = match split {
            1 => (at[2] - at[1]).cross(at[3] - at[1]),
            _ => (at[1] - at[0]).cross(at[3] - at[2]),
        };
        if normal == DVec3::ZERO {
            wide = 0.0;
        }
        for n in [across.normalize_or_zero(), -across.normalize_or_zero()] {
            let other = gap(n, false).0;
            if n != DVec3::ZERO && other > wide {
                (normal, wide) = (n, other);
            }
        }
    }
    let frozen = Plane { frozen: true, closes: common, ..Plane::default() };
    if !above(wide, 1e-12) {
        return frozen;
    }
    let (room, lower) = gap(normal, true);
    let needed = if wide > xi { xi.max(0.25 * wide) } else { wide * (1.0 - 1e-9) };
    let closes = common && (room < needed || room.is_nan());
    if !above(room, 0.0) {
        return frozen;
    }
    let (mut down, mut up) = (0.0f64, 0.0f64);
    for k in 0..4 {
        if fault == Fault::ClosestPoints && pair.weights[k] == 0.0 {
            continue;
        }
        let along = normal.dot(own[k]);
        if k < split { down = down.max(-along) } else { up = up.max(along) }
    }
    let mut share = if down + up > 0.0 { up / (down + up) } else { 0.5 };
    if fault != Fault::ClosestPoints {
        share = share.clamp(SHARE, 1.0 - SHARE);
    }
    let level = lower + share * room;
    let mut rooms = [0.0; 4];
    for k in 0..4 {
        let side = if k < split { 1.0 } else { -1.0 };
        let to_plane = side * (normal.dot(at[k]) + normal.dot(carried[k]) - level);
        rooms[k] = GAMMA * (to_plane - 0.5 * xi).max(0.0);
        if fault == Fault::ClosestPoints && rooms[k] < 1e-10 {
            rooms[k] = f64::INFINITY;
        }
    }
    Plane { normal, room: rooms, frozen: false, closes }
}
