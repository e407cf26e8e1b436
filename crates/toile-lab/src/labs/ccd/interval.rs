//! Whether two moving features touch, by interval arithmetic: an answer that is certain, or none.
//!
//! Over a stretch of time every quantity is an interval that surely holds it. With the normal N of the face, or the
//! product of the two edges, a touching point has weights wᵢ ≥ 0, and certain products equal wᵢ |N|²; where one is
//! surely negative nothing touches. Where all are surely positive and the volume of the four points surely changes sign,
//! something does. Else the stretch is halved.

use super::exact::Kind;

/// [low, high], rounded outward.
#[derive(Clone, Copy, Debug)]
struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    fn exactly(value: f64) -> Interval {
        Interval { low: value, high: value }
    }

    fn plus(self, o: Interval) -> Interval {
        Interval { low: (self.low + o.low).next_down(), high: (self.high + o.high).next_up() }
    }

    fn minus(self, o: Interval) -> Interval {
        Interval { low: (self.low - o.high).next_down(), high: (self.high - o.low).next_up() }
    }

    fn times(self, o: Interval) -> Interval {
        let p = [self.low * o.low, self.low * o.high, self.high * o.low, self.high * o.high];
        Interval {
            low: p[0].min(p[1]).min(p[2].min(p[3])).next_down(),
            high: p[0].max(p[1]).max(p[2].max(p[3])).next_up(),
        }
    }

    fn half(self) -> Interval {
        // Halving is exact but for subnormal numbers.
        Interval { low: (self.low * 0.5).next_down(), high: (self.high * 0.5).next_up() }
    }

    fn join(self, o: Interval) -> Interval {
        Interval { low: self.low.min(o.low), high: self.high.max(o.high) }
    }

    /// +1 or −1 where that is certain, else 0.
    fn sign(self) -> i32 {
        i32::from(self.low > 0.0) - i32::from(self.high < 0.0)
    }
}

type Vector = [Interval; 3];

fn map(a: &Vector, b: &Vector, f: impl Fn(Interval, Interval) -> Interval) -> Vector {
    std::array::from_fn(|k| f(a[k], b[k]))
}

fn sub(a: &Vector, b: &Vector) -> Vector {
    map(a, b, Interval::minus)
}

fn dot(a: &Vector, b: &Vector) -> Interval {
    a[0].times(b[0]).plus(a[1].times(b[1])).plus(a[2].times(b[2]))
}

fn cross(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        a[i].times(b[j]).minus(a[j].times(b[i]))
    })
}

/// Three vectors at one time: two that span the plane of both features, and one between the features.
type Spans = [Vector; 3];

/// Whether the features touch, if that is certain after looking at no more than `effort` stretches of time.
pub fn touches(kind: Kind, start: &[[f64; 3]; 4], end: &[[f64; 3]; 4], mut effort: u32) -> Option<bool> {
    let spans = |p: &[[f64; 3]; 4]| -> Spans {
        let [a, b, c, d] = p.map(|p| p.map(Interval::exactly));
        match kind {
            Kind::VertexFace => [sub(&c, &b), sub(&d, &b), sub(&a, &b)],
            Kind::EdgeEdge => [sub(&b, &a), sub(&d, &c), sub(&c, &a)],
        }
    };
    if boxes_apart(kind, start, end) {
        return Some(false);
    }
    search(kind, &spans(start), &spans(end), &mut effort)
}

/// Whether the boxes of the two features over the whole time are apart.
fn boxes_apart(kind: Kind, start: &[[f64; 3]; 4], end: &[[f64; 3]; 4]) -> bool {
    let split = if kind == Kind::VertexFace { 1 } else { 2 };
    (0..3).any(|k| {
        let bounds = |points: std::ops::Range<usize>| {
            let values = points.flat_map(|i| [start[i][k], end[i][k]]);
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
        };
        let (a, b) = (bounds(0..split), bounds(split..4));
        a.1 < b.0 || b.1 < a.0
    })
}

fn search(kind: Kind, start: &Spans, end: &Spans, effort: &mut u32) -> Option<bool> {
    if let Some(answer) = settle(kind, start, end) {
        return Some(answer);
    }
    if *effort == 0 {
        return None;
    }
    *effort -= 1;
    let middle: Spans = std::array::from_fn(|i| map(&start[i], &end[i], |a, b| a.plus(b).half()));
    match search(kind, start, &middle, effort)? {
        true => Some(true),
        false => search(kind, &middle, end, effort),
    }
}

/// The answer for a whole stretch of time.
fn settle(kind: Kind, start: &Spans, end: &Spans) -> Option<bool> {
    let volume = |a: &Vector, b: &Vector, c: &Vector| dot(&cross(a, b), c);
    // The volume is a cubic: these are its Bernstein coefficients, two of them threefold, and it lies between them.
    let ([a, b, c], [d, e, f]) = (start, end);
    let first = volume(a, b, c);
    let last = volume(d, e, f);
    let second = volume(d, b, c).plus(volume(a, e, c)).plus(volume(a, b, f));
    let third = volume(a, e, f).plus(volume(d, b, f)).plus(volume(d, e, c));
    let signs = [first.sign(), second.sign(), third.sign(), last.sign()];
    if signs[0] != 0 && signs.iter().all(|s| *s == signs[0]) {
        return Some(false);
    }
    let whole: Spans = std::array::from_fn(|i| map(&start[i], &end[i], Interval::join));
    let [along, across, between] = &whole;
    let normal = cross(along, across);
    let square = dot(&normal, &normal);
    // With `between` = s along + t across: s|N|² and t|N|². For edges `between` = s along − t across.
    let s = dot(&normal, &cross(between, across));
    let t = dot(&normal, &cross(along, between));
    let weights = match kind {
        Kind::VertexFace => [s, t, square.minus(s).minus(t), square],
        Kind::EdgeEdge => {
            let t = Interval { low: -t.high, high: -t.low };
            [s, t, square.minus(s), square.minus(t)]
        }
    };
    if weights.iter().any(|w| w.sign() < 0) {
        return Some(false);
    }
    let crossing = signs[0] * signs[3] < 0 && weights.iter().all(|w| w.sign() > 0);
    crossing.then_some(true)
}
