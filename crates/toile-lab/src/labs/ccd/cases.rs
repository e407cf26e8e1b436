//! Queries of every kind: random, close, grazing, and degenerate to the last bit.

use super::exact::Kind;
use glam::DVec3;
use toile::math::random;

/// Four points on their way.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    pub kind: Kind,
    pub start: [DVec3; 4],
    pub end: [DVec3; 4],
}

/// Names of the families.
pub const FAMILIES: [&str; 8] =
    ["uniform", "close", "grazing", "coplanar", "lattice", "collapsed", "scaled", "parallel"];

/// The family of a query: most are generic, one in a hundred belongs to each hard kind.
pub fn family(n: u64) -> usize {
    match n % 100 {
        0..=59 => 0,
        60..=93 => 1,
        rest => rest as usize - 92,
    }
}

/// Numbers of one query.
struct Dice {
    seed: u64,
    next: u64,
}

impl Dice {
    fn unit(&mut self) -> f64 {
        self.next += 1;
        random::unit(self.seed, self.next)
    }

    fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.signed(), self.signed(), self.signed())
    }

    fn pick(&mut self, count: u64) -> u64 {
        self.next += 1;
        random::bits(self.seed, self.next) % count
    }

    /// ±10^x with x between two exponents.
    fn decade(&mut self, low: f64, high: f64) -> f64 {
        let size = libm::exp10(low + (high - low) * self.unit());
        if self.pick(2) == 0 { size } else { -size }
    }
}

/// Query `n` of a seed.
pub fn query(seed: u64, n: u64) -> Query {
    let dice = &mut Dice { seed: random::bits(seed, n), next: 0 };
    let kind = if dice.pick(2) == 0 { Kind::VertexFace } else { Kind::EdgeEdge };
    let mut q = Query { kind, start: [DVec3::ZERO; 4], end: [DVec3::ZERO; 4] };
    match family(n) {
        0 => q.each(|_| (dice.vector(), dice.vector())),
        1 => close(&mut q, dice),
        2 => grazing(&mut q, dice),
        3 => {
            // All heights are equal at both ends, hence at all times.
            let (low, high) = (dice.signed(), dice.signed());
            q.each(|_| {
                let (a, b) = (dice.vector(), dice.vector());
                (DVec3::new(a.x, low, a.z), DVec3::new(b.x, high, b.z))
            });
        }
        4 => q.each(|_| ((dice.vector() * 2.5).round(), (dice.vector() * 2.5).round())),
        5 => {
            q.each(|_| (dice.vector(), dice.vector()));
            let (i, j) = (dice.pick(4) as usize, dice.pick(4) as usize);
            (q.start[i], q.end[i]) = (q.start[j], q.end[j]);
            if dice.pick(2) == 0 {
                // Three points in a row.
                q.start[1] = (q.start[2] + q.start[3]) * 0.5;
                q.end[1] = (q.end[2] + q.end[3]) * 0.5;
            }
        }
        6 => {
            close(&mut q, dice);
            let (shift, size) = match dice.pick(4) {
                0 => (dice.vector() * 1e6, 1e-6),
                1 => (dice.vector() * 1e3, 1.0),
                2 => (DVec3::ZERO, 1e-60),
                _ => (DVec3::ZERO, 1e12),
            };
            (q.start, q.end) = (q.start.map(|p| p * size + shift), q.end.map(|p| p * size + shift));
        }
        _ => {
            // Small integers, so that edges stay parallel to the last bit; half of them pass through each other.
            let along = (dice.vector() * 8.0).round();
            q.each(|_| ((dice.vector() * 8.0).round(), (dice.vector() * 8.0).round()));
            if dice.pick(2) == 0 {
                let apart = q.start[2] - q.start[0];
                q.end[2] = q.end[0] - apart + along * (dice.signed() * 2.0).round();
            }
            for p in [&mut q.start, &mut q.end] {
                (p[1], p[3]) = (p[0] + along, p[2] + along);
            }
        }
    }
    q
}

impl Query {
    fn each(&mut self, mut point: impl FnMut(usize) -> (DVec3, DVec3)) {
        for i in 0..4 {
            (self.start[i], self.end[i]) = point(i);
        }
    }
}

/// Features of size 1 at a small distance, moving by as much.
fn close(q: &mut Query, dice: &mut Dice) {
    let reach = libm::exp10(-3.0 * dice.unit());
    let mut p = [dice.vector(), dice.vector(), dice.vector(), dice.vector()];
    let (s, t) = (dice.unit(), dice.unit());
    // Brings the first feature to the second.
    let gap = match q.kind {
        Kind::VertexFace => p[1] * (1.0 - s) + (p[2] * (1.0 - t) + p[3] * t) * s - p[0],
        Kind::EdgeEdge => p[2] * (1.0 - t) + p[3] * t - (p[0] * (1.0 - s) + p[1] * s),
    };
    p[0] += gap;
    if q.kind == Kind::EdgeEdge {
        p[1] += gap;
    }
    q.start = p;
    for p in &mut q.start {
        *p += dice.vector() * reach;
    }
    let start = q.start;
    q.each(|i| (start[i], start[i] + dice.vector() * (2.0 * reach)));
}

/// Meets, or nearly meets, at a time and a place on the border of a feature, within 1e-17 to 1e-2.
fn grazing(q: &mut Query, dice: &mut Dice) {
    let p = [dice.vector(), dice.vector(), dice.vector(), dice.vector()];
    let mut met = p;
    let slip = dice.decade(-17.0, -2.0);
    match q.kind {
        Kind::VertexFace => {
            let s = dice.unit();
            let w = [s, 1.0 - s - slip, slip];
            met[0] = p[1] * w[0] + p[2] * w[1] + p[3] * w[2];
        }
        Kind::EdgeEdge => {
            let t = dice.unit();
            let place = p[0] + (p[1] - p[0]) * t;
            let shift = place - (p[2] - (p[3] - p[2]) * slip);
            (met[2], met[3]) = (p[2] + shift, p[3] + shift);
        }
    }
    met[0] += dice.vector() * if dice.pick(2) == 0 { 0.0 } else { dice.decade(-17.0, -6.0) };
    let time = if dice.pick(8) == 0 { dice.pick(2) as f64 } else { dice.unit() };
    // Sometimes sliding in the plane of the features instead of through it.
    let slide = dice.pick(3) == 0;
    let (u, v) = (met[2] - met[1], met[3] - met[1]);
    q.each(|i| {
        let speed = if slide { u * dice.signed() + v * dice.signed() } else { dice.vector() };
        (met[i] - speed * time, met[i] + speed * (1.0 - time))
    });
}
