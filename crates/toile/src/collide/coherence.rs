//! Using the last step: the list of separations (M03-17) and reuse where little has moved (M03-18).
//!
//! A walk ends in pairs of nodes: apart, flat, or leaves. Together they cover every pair of faces exactly once, so the
//! next walk may start from them instead of the roots. Only downwards: a pair that separates is not replaced by its
//! parents, which is why the list is started anew now and then.
//!
//! With a margin, pairs of nodes are not even looked at until they may have moved by the margin relative to each other:
//! what they contained within ε + margin is compared again, nothing else. Relative motion is bounded from the boxes
//! of the nodes' displacements, which is a velocity cone with both ends cut (M03-12), and summed up over steps as in a
//! lazy update (M03-8). Features are remembered, and where on them the closest points were: in their present places those
//! points bound the distance from above, and the plane between them may bound it from below. Mostly one of the two settles
//! whether a pair is close, without computing closest points anew (M03-18). Contacts come from present positions.

use super::detect::Counters;
use super::proximity::{Closest, edge_edge, vertex_face};
use super::shell::NONE;
use super::traverse::{Side, Visit, Walk, Worker, indices};
use super::tree::Tree;
use crate::math::DVec3;

/// What a detector does with the step before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Tracking {
    /// Nothing: every walk starts at the roots.
    #[default]
    Off,
    /// Walks start where the last one ended (M03-17).
    Separations {
        /// Steps after which walks start at the roots again.
        restart: u32,
    },
    /// Pairs of nodes with little relative motion are not walked at all (M03-18). Applies between objects, and within an
    /// object where the curvature criterion is off; for positions at the start of the step only.
    Coherent {
        /// Relative motion [m] after which a pair of nodes is looked at again.
        margin: f64,
        /// Steps after which everything is looked at again.
        restart: u32,
    },
}

/// Where the last walk over two objects ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Front {
    ends: Vec<Visit>,
    spare: Vec<Visit>,
    stack: Vec<Visit>,
    age: u32,
    /// Edits of both objects when the front was made.
    stamp: [u32; 2],
}

impl Front {
    /// Runs a walk from where the last one ended.
    pub fn run<const S: usize>(
        &mut self,
        walk: &Walk<S>,
        worker: &mut Worker,
        restart: u32,
        stamp: [u32; 2],
    ) {
        if self.ends.is_empty() || self.age >= restart || self.stamp != stamp {
            self.ends.clear();
            self.age = 0;
            self.stamp = stamp;
            if walk.a.tree.nodes().is_empty() || walk.b.tree.nodes().is_empty() {
                return;
            }
            self.ends.push(Visit::START);
        }
        self.age += 1;
        let Front { ends, spare, stack, .. } = self;
        spare.clear();
        for end in ends.iter() {
            stack.push(*end);
            while let Some(visit) = stack.pop() {
                walk.step(visit, stack, spare, worker);
            }
        }
        std::mem::swap(ends, spare);
    }
}

impl<const S: usize> Walk<'_, S> {
    /// One visit of a walk that remembers its ends: goes down to all children, or ends here.
    fn step(&self, visit: Visit, stack: &mut Vec<Visit>, ends: &mut Vec<Visit>, worker: &mut Worker) {
        let (a, b, depth) = visit.open();
        worker.counters.depth = worker.counters.depth.max(u64::from(depth));
        let (na, nb) = (self.a.tree.nodes()[a as usize], self.b.tree.nodes()[b as usize]);
        let alone = self.own && a == b;
        if alone && na.len == 0 {
            return;
        }
        let counters = &mut worker.counters;
        counters.box_tests += u64::from(!alone);
        let ends_here = if alone {
            self.flat.is_some_and(|f| f.alone(self.a.surface, self.a.tree, a, counters))
        } else {
            !self.a.tree.boxes()[a as usize].overlaps(&self.b.tree.boxes()[b as usize])
                || self.flat.is_some_and(|f| f.pair(self.a.surface, self.a.tree, [a, b], counters))
        };
        if ends_here {
            ends.push(visit);
        } else if na.len == 0 && nb.len == 0 {
            // The node above both may have become flat since the list went below it.
            let faces = [na.first, nb.first];
            let flat = self.flat.filter(|_| !faces.contains(&NONE));
            if !flat.is_some_and(|f| f.omits(self.a.surface, self.a.tree, faces[0], faces[1])) {
                self.leaves(visit, worker);
            }
            ends.push(visit);
        } else {
            self.children(visit, |child| stack.push(child));
        }
    }

    /// All pairs of children of a visit, overlapping or not.
    fn children(&self, visit: Visit, mut each: impl FnMut(Visit)) {
        let (a, b, depth) = visit.open();
        let depth = depth + 1;
        let (na, nb) = (self.a.tree.nodes()[a as usize], self.b.tree.nodes()[b as usize]);
        if self.own && a == b {
            for i in na.first..na.first + na.len {
                (i..na.first + na.len).for_each(|j| each(Visit::new(i, j, depth)));
            }
            return;
        }
        let (size_a, size_b) =
            (self.a.tree.boxes()[a as usize].size(), self.b.tree.boxes()[b as usize].size());
        if nb.len == 0 || (na.len > 0 && size_a >= size_b) {
            (na.first..na.first + na.len).for_each(|a| each(Visit::new(a, b, depth)));
        } else {
            (nb.first..nb.first + nb.len).for_each(|b| each(Visit::new(a, b, depth)));
        }
    }
}

/// How far the vertices below each node went since the last step: a box of displacements [m].
pub(super) type Drift = [DVec3; 2];

/// Nothing below.
const NO_DRIFT: Drift = [DVec3::INFINITY, DVec3::NEG_INFINITY];

/// What is remembered of one object.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    x: Vec<DVec3>,
    drift: Vec<Drift>,
}

impl Track {
    /// Measures the displacements since the last call; false if there was none, or the object has changed.
    pub fn follow<const S: usize>(&mut self, side: &Side<S>) -> bool {
        let known = self.x.len() == side.x.len() && self.drift.len() == side.tree.nodes().len();
        self.drift.resize(side.tree.nodes().len(), NO_DRIFT);
        if known {
            let before = &self.x;
            let of = |v: u32| side.x[v as usize] - before[v as usize];
            let face = |f: u32| {
                let [a, b, c] = side.surface.faces()[f as usize].map(of);
                [a.min(b).min(c), a.max(b).max(c)]
            };
            let join = |p: &Drift, q: &Drift| [p[0].min(q[0]), p[1].max(q[1])];
            side.tree.ascend(&mut self.drift, &face, &join, &NO_DRIFT);
        }
        self.x.clear();
        self.x.extend_from_slice(side.x);
        known
    }
}

/// Greatest change of distance [m] between points of two nodes.
fn relative(a: &Drift, b: &Drift) -> f64 {
    let far = (a[1] - b[0]).abs().max((b[1] - a[0]).abs()).length();
    // NaN where a place is not a number: looked at again each time.
    if far.is_nan() { f64::INFINITY } else { far }
}

/// A pair of nodes, how far it has moved since it was looked at [m], and what it then contained within ε + margin: the
/// features up to `to` of each list.
#[derive(Clone, Copy, Debug)]
struct Kept {
    visit: Visit,
    moved: f64,
    to: [usize; 3],
}

/// Where the closest points of two features were: for a vertex and a face the weights of the face's second and third corner,
/// for two edges the weight of each one's second end.
type Feet = [f32; 2];

/// Not known yet: every comparison with it fails.
const UNKNOWN: Feet = [f32::NAN; 2];

/// Features as keys, and where they were closest.
#[derive(Clone, Debug, Default)]
struct Remembered {
    keys: Vec<u64>,
    feet: Vec<Feet>,
}

impl Remembered {
    fn clear(&mut self) {
        self.keys.clear();
        self.feet.clear();
    }

    fn extend(&mut self, other: &Remembered, range: std::ops::Range<usize>) {
        self.keys.extend_from_slice(&other.keys[range.clone()]);
        self.feet.extend_from_slice(&other.feet[range]);
    }

    fn append(&mut self, keys: &mut Vec<u64>) {
        self.keys.append(keys);
        self.feet.resize(self.keys.len(), UNKNOWN);
    }
}

/// What is remembered of the pairs of two objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    kept: Vec<Kept>,
    lists: [Remembered; 3],
    spare: Vec<Kept>,
    spare_lists: [Remembered; 3],
    stack: Vec<Visit>,
    age: u32,
    stamp: [u32; 2],
    purpose: Option<(f64, f64)>,
}

impl Memory {
    /// Adds the motion of this step and says whether any pair must be looked at again, for which boxes must be made anew.
    pub fn age(
        &mut self,
        tracks: [&Track; 2],
        known: bool,
        stamp: [u32; 2],
        (epsilon, margin, restart): (f64, f64, u32),
    ) -> bool {
        self.age += 1;
        let purpose = Some((epsilon, margin));
        if !known
            || self.stamp != stamp
            || self.age > restart
            || self.purpose != purpose
            || self.kept.is_empty()
        {
            self.kept.clear();
            self.kept.push(Kept { visit: Visit::START, moved: f64::INFINITY, to: [0; 3] });
            self.lists.iter_mut().for_each(Remembered::clear);
            (self.age, self.stamp, self.purpose) = (0, stamp, purpose);
            return true;
        }
        let mut expired = false;
        for kept in &mut self.kept {
            let (a, b, _) = kept.visit.open();
            kept.moved += relative(&tracks[0].drift[a as usize], &tracks[1].drift[b as usize]);
            expired |= kept.is_stale(margin);
        }
        expired
    }

    /// Looks at what has moved too far, and compares what is remembered of the rest. `wide` reports pairs within ε +
    /// margin, `walk` those within ε.
    pub fn run<const S: usize>(&mut self, wide: &Walk<S>, walk: &Walk<S>, worker: &mut Worker, margin: f64) {
        let Memory { kept, lists, spare, spare_lists, stack, .. } = self;
        spare.clear();
        spare_lists.iter_mut().for_each(Remembered::clear);
        let mut from = [0; 3];
        for old in kept.iter() {
            if old.is_stale(margin) {
                stack.push(old.visit);
                while let Some(visit) = stack.pop() {
                    if !wide.ends(visit, &mut worker.counters) {
                        wide.children(visit, |child| stack.push(child));
                        continue;
                    }
                    wide.collect(visit, worker, spare_lists);
                    spare.push(Kept { visit, moved: 0.0, to: ends_of(spare_lists) });
                }
            } else {
                for k in 0..3 {
                    spare_lists[k].extend(&lists[k], from[k]..old.to[k]);
                }
                spare.push(Kept { to: ends_of(spare_lists), ..*old });
            }
            from = old.to;
        }
        std::mem::swap(kept, spare);
        std::mem::swap(lists, spare_lists);
        walk.recall(lists, worker);
    }
}

fn ends_of(lists: &[Remembered; 3]) -> [usize; 3] {
    [0, 1, 2].map(|k| lists[k].keys.len())
}

impl Kept {
    fn is_stale(&self, margin: f64) -> bool {
        // 1e-9: sums are rounded.
        self.moved > margin * (1.0 - 1e-9)
    }
}

impl<const S: usize> Walk<'_, S> {
    /// Whether a pair of nodes is remembered as one: apart, or small, or without children.
    fn ends(&self, visit: Visit, counters: &mut Counters) -> bool {
        let (a, b, _) = visit.open();
        if !(self.own && a == b) {
            counters.box_tests += 1;
            if !self.a.tree.boxes()[a as usize].overlaps(&self.b.tree.boxes()[b as usize]) {
                return true;
            }
        }
        let small = |tree: &Tree<S>, n: u32| tree.group(n) != NONE || tree.nodes()[n as usize].len == 0;
        small(self.a.tree, a) && small(self.b.tree, b)
    }

    /// Walks down from a pair of nodes and appends what is close to `lists`.
    fn collect(&self, visit: Visit, worker: &mut Worker, lists: &mut [Remembered; 3]) {
        let (a, b, _) = visit.open();
        let alone = self.own && a == b;
        let (box_a, box_b) = (&self.a.tree.boxes()[a as usize], &self.b.tree.boxes()[b as usize]);
        if alone || box_a.overlaps(box_b) {
            worker.stack.push(visit);
            self.run(worker);
            lists[0].append(&mut worker.vertex_face);
            lists[1].append(&mut worker.face_vertex);
            lists[2].append(&mut worker.edge_edge);
        }
    }

    /// Compares remembered features at their present places.
    fn recall(&self, lists: &mut [Remembered; 3], worker: &mut Worker) {
        let limit = self.ask.epsilon;
        let Worker { vertex_face: ahead, face_vertex: back, edge_edge: edges, counters, .. } = worker;
        let [first, second, third] = lists;
        for (list, near, far, out) in [(first, &self.a, &self.b, ahead), (second, &self.b, &self.a, back)] {
            for (&key, feet) in list.keys.iter().zip(&mut list.feet) {
                let [v, face] = indices(key);
                let (p, t) = (near.x[v as usize], far.face_at(far.surface.faces()[face as usize], 0.0));
                let [u, w] = feet.map(f64::from);
                let on_face = t[0] + (t[1] - t[0]) * u + (t[2] - t[0]) * w;
                // Rounded to f32, weights may add up to a little more than one: that point is not on the face.
                let known = if u + w <= 1.0 { settled([p, on_face], &[p], &t, limit) } else { None };
                let close = known.unwrap_or_else(|| {
                    let closest = vertex_face(p, t);
                    *feet = [closest.weights[2] as f32, closest.weights[3] as f32];
                    within(&closest, limit)
                });
                count(known, counters);
                if close {
                    out.push(key);
                }
            }
        }
        for (&key, feet) in third.keys.iter().zip(&mut third.feet) {
            let [e, f] = indices(key);
            let a = self.a.edge_at(self.a.surface.edges()[e as usize], 0.0);
            let b = self.b.edge_at(self.b.surface.edges()[f as usize], 0.0);
            let [s, t] = feet.map(f64::from);
            let points = [a[0] + (a[1] - a[0]) * s, b[0] + (b[1] - b[0]) * t];
            let known = settled(points, &a, &b, limit);
            let close = known.unwrap_or_else(|| {
                let closest = edge_edge(a, b);
                *feet = [closest.weights[1] as f32, closest.weights[3] as f32];
                within(&closest, limit)
            });
            count(known, counters);
            if close {
                edges.push(key);
            }
        }
    }
}

fn within(closest: &Closest, limit: f64) -> bool {
    closest.squared <= limit * limit
}

fn count(known: Option<bool>, counters: &mut Counters) {
    match known {
        Some(_) => counters.recalled += 1,
        None => counters.narrow_calls += 1,
    }
}

/// Whether two convex features are within `limit` [m], if a point of each says so: the features are no farther apart than the
/// points, and no nearer than along the line through them. Rounding is far below the millionth by which both must be sure.
#[inline]
fn settled([p, q]: [DVec3; 2], first: &[DVec3], second: &[DVec3], limit: f64) -> Option<bool> {
    let gap = p - q;
    let (square, bound) = (gap.length_squared(), limit * limit);
    if square <= bound * (1.0 - 1e-6) {
        return Some(true);
    }
    let along = |x: &DVec3| (*x - q).dot(gap);
    let low = first.iter().map(along).fold(f64::INFINITY, f64::min);
    let high = second.iter().map(along).fold(f64::NEG_INFINITY, f64::max);
    let between = low - high;
    (between > 0.0 && between * between > bound * square * (1.0 + 1e-6)).then_some(false)
}
