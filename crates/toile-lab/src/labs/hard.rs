//! The hard scenes: certified in every frame like the others, and each does what it is there for.

use super::certified::{COLUMNS, Case, certify};
use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::{Watched, farthest};
use glam::DVec3;

/// Lowest part of the funnel, and highest of the ring [m].
const SPOUT: f64 = -0.1;
const RING: f64 = 0.012;
/// Where the needle and the box end below [m].
const FEET: [f64; 2] = [-0.8, -0.4243];
/// Rise over run of the ramp, and friction of the cards on it.
const RAMP: f64 = 0.3;
const SLIDES: f64 = 0.294;

/// How a scene is looked at, and what is said of it at its end.
struct Trial {
    case: Case,
    judge: fn() -> Box<dyn Judge>,
}

/// What a scene is there for.
trait Judge {
    /// Looks at a frame of a start.
    fn look(&mut self, start: u64, frame: usize, watched: &Watched);
    /// Says what was found.
    fn close(&self, session: &mut Session, name: &str);
}

const TRIALS: [Trial; 6] = [
    Trial {
        case: Case {
            scene: "funnel",
            short: &["cloth.sheet.shape.resolution=16"],
            frames: 150,
            whole: 180,
            starts: 10,
        },
        judge: || Box::new(Passage { along: DVec3::NEG_Y, gate: -SPOUT, last: Vec::new() }),
    },
    Trial {
        case: Case {
            scene: "ring",
            short: &["cloth.sheet.shape.resolution=24"],
            frames: 210,
            whole: 210,
            starts: 1,
        },
        judge: || Box::new(Passage { along: DVec3::Y, gate: RING, last: Vec::new() }),
    },
    Trial {
        case: Case { scene: "press", short: &PRESS, frames: 180, whole: 180, starts: 1 },
        judge: || Box::<Flat>::default(),
    },
    Trial {
        case: Case {
            scene: "knot",
            short: &["cloth.ribbon.shape.resolution=[200, 2]"],
            frames: 480,
            whole: 480,
            starts: 1,
        },
        judge: || Box::<Held>::default(),
    },
    Trial {
        case: Case {
            scene: "spike",
            short: &["cloth.pricked.shape.resolution=20", "cloth.ridden.shape.resolution=20"],
            frames: 120,
            whole: 120,
            starts: 1,
        },
        judge: || Box::<Off>::default(),
    },
    Trial {
        case: Case { scene: "cards", short: &[], frames: 180, whole: 180, starts: 1 },
        judge: || Box::<Stand>::default(),
    },
];

/// Every second layer is made coarse, which makes edges of the press cross everywhere.
const PRESS: [&str; 8] = [
    "cloth.layer1.shape.resolution=6",
    "cloth.layer3.shape.resolution=6",
    "cloth.layer5.shape.resolution=6",
    "cloth.layer7.shape.resolution=6",
    "cloth.layer9.shape.resolution=6",
    "cloth.layer11.shape.resolution=6",
    "cloth.layer13.shape.resolution=6",
    "cloth.layer15.shape.resolution=6",
];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let mut points = Vec::new();
    for Trial { case, judge } in &TRIALS {
        let mut judge = judge();
        let slowest = certify(session, case, &mut rows, &mut |start, frame, watched| {
            judge.look(start, frame, watched)
        })?;
        judge.close(session, case.scene);
        points.push((points.len() as f64 + 1.0, slowest));
    }
    session.csv("hard", COLUMNS, &rows)?;
    session.plot(
        "hard",
        Chart {
            title: "Slowest frame over the median, scene by scene".into(),
            x: "scene".into(),
            y: "x".into(),
            log: (false, false),
            curves: vec![Curve { name: "slowest".into(), points }],
        },
    )
}

/// Cloth that goes through something, completely: how far its last vertex is beyond the gate, for each start.
struct Passage {
    along: DVec3,
    /// Place of the gate along the way [m].
    gate: f64,
    last: Vec<f64>,
}

impl Judge for Passage {
    fn look(&mut self, start: u64, _: usize, watched: &Watched) {
        self.last.resize(start as usize + 1, f64::NAN);
        let way = |p: &DVec3| p.dot(self.along) - self.gate;
        self.last[start as usize] = watched.positions().iter().map(way).fold(f64::INFINITY, f64::min);
    }

    fn close(&self, session: &mut Session, name: &str) {
        let through = self.last.iter().filter(|last| **last > 0.0).count();
        session.equal(
            format!("{name}: starts from which it passes completely"),
            through as f64,
            "",
            self.last.len() as f64,
        );
        let least = self.last.iter().copied().fold(f64::INFINITY, f64::min);
        session.info(format!("{name}: last vertex beyond the end, from the worst start"), least, "m");
    }
}

/// Frames in which the layers lie before the plate comes to them.
const LIES: usize = 30;

/// Layers between plates: how near those came, and what the layers are like when they are gone.
#[derive(Default)]
struct Flat {
    nearest: Option<f64>,
    /// Largest distance of a vertex from the mean height of its layer [m], at rest before, when pressed and at the end: corners
    /// hang over the layers below.
    uneven: [f64; 3],
    /// Height of the top layer over that of the lowest, per layer between [m], at the end.
    spacing: f64,
}

impl Judge for Flat {
    fn look(&mut self, _: u64, frame: usize, watched: &Watched) {
        let world = &watched.world;
        let height = |k: usize, pick: fn(f64, f64) -> f64, from: f64| {
            world.bodies()[k].collider.positions().iter().fold(from, |h, p| pick(h, p.y))
        };
        let room = height(1, f64::min, f64::INFINITY) - height(0, f64::max, f64::NEG_INFINITY);
        let layers: Vec<Vec<DVec3>> = (0..world.cloths().len()).map(|c| world.positions(c)).collect();
        let mean = |x: &[DVec3]| x.iter().map(|p| p.y).sum::<f64>() / x.len() as f64;
        let off = |x: &Vec<DVec3>| x.iter().map(|p| (p.y - mean(x)).abs()).fold(0.0, f64::max);
        self.uneven[2] = layers.iter().map(off).fold(0.0, f64::max);
        if frame <= LIES {
            self.uneven[0] = self.uneven[2];
        }
        self.spacing = (mean(&layers[layers.len() - 1]) - mean(&layers[0])) / (layers.len() - 1) as f64;
        if self.nearest.is_none_or(|nearest| room <= nearest) {
            (self.nearest, self.uneven[1]) = (Some(room), self.uneven[2]);
        }
    }

    fn close(&self, session: &mut Session, name: &str) {
        let nearest = self.nearest.unwrap_or(f64::NAN);
        session.at_most(format!("{name}: room that was left to the layers"), 1e3 * nearest, "mm", 4.001);
        let [before, pressed, after] = self.uneven.map(|off| 1e3 * off);
        session.info(format!("{name}: largest unevenness before"), before, "mm");
        session.info(format!("{name}: largest unevenness, pressed"), pressed, "mm");
        session.at_most(format!("{name}: how much larger it is, let go"), after - before, "mm", 1.0);
        session.at_least(format!("{name}: distance of layers, let go"), 1e3 * self.spacing, "mm", 0.7);
    }
}

/// A knot under pull: how far the ends and all of it move in the last five seconds.
#[derive(Default)]
struct Held {
    then: Vec<DVec3>,
    ends: f64,
    all: f64,
    /// Distance of the ends, when it was loose and at the end [m].
    span: [f64; 2],
}

impl Judge for Held {
    fn look(&mut self, _: u64, frame: usize, watched: &Watched) {
        let x = watched.positions();
        let across = |x: &[DVec3]| x[0].distance(x[x.len() - 1]);
        if frame == 1 {
            self.span[0] = across(&x);
        }
        if frame == 180 {
            self.then = x.clone();
        }
        if frame > 180 {
            let ends = [0, x.len() - 1].map(|k| x[k].distance(self.then[k]));
            (self.ends, self.all) = (ends[0].max(ends[1]), farthest(&x, &self.then));
            self.span[1] = across(&x);
        }
    }

    fn close(&self, session: &mut Session, name: &str) {
        session.info(format!("{name}: distance of the ends, loose"), self.span[0], "m");
        session.info(format!("{name}: distance of the ends, tight"), self.span[1], "m");
        session.at_most(format!("{name}: slip at the ends in 5 s"), 1e3 * self.ends, "mm", 1.0);
        session.info(format!("{name}: largest way of a vertex in these 5 s"), 1e3 * self.all, "mm");
    }
}

/// Sheets on sharp things without friction: when the last vertex is below their feet [s].
#[derive(Default)]
struct Off {
    time: [Option<f64>; 2],
}

impl Judge for Off {
    fn look(&mut self, _: u64, frame: usize, watched: &Watched) {
        for (cloth, feet) in FEET.iter().enumerate() {
            let high = watched.world.positions(cloth).iter().fold(f64::NEG_INFINITY, |h, p| h.max(p.y));
            if high < *feet {
                self.time[cloth].get_or_insert(frame as f64 * watched.dt);
            }
        }
    }

    fn close(&self, session: &mut Session, name: &str) {
        for (time, thing) in self.time.iter().zip(["needle", "edge"]) {
            let time = time.unwrap_or(f64::INFINITY);
            session.at_most(format!("{name}: time in which the sheet leaves the {thing}"), time, "s", 2.0);
        }
    }
}

/// A house of cards and two cards on a ramp.
#[derive(Default)]
struct Stand {
    /// Middles of all cards at the first frame, and after one second and at each half second from there.
    start: Vec<DVec3>,
    tracks: Vec<Vec<DVec3>>,
}

impl Judge for Stand {
    fn look(&mut self, _: u64, frame: usize, watched: &Watched) {
        let middle = |c: usize| {
            let x = watched.world.positions(c);
            x.iter().fold(DVec3::ZERO, |sum, p| sum + *p) / x.len() as f64
        };
        let all = || (0..watched.world.cloths().len()).map(middle).collect();
        match frame {
            1 => self.start = all(),
            60.. if frame.is_multiple_of(60) => self.tracks.push(all()),
            _ => {}
        }
    }

    fn close(&self, session: &mut Session, name: &str) {
        let [first, middle, last] = &self.tracks[..] else { return };
        let house = self.start.len() - 2;
        let way = |a: &[DVec3], b: &[DVec3]| 1e3 * farthest(&a[..house], &b[..house]);
        session.at_most(format!("{name}: way of the house in 3 s"), way(&self.start, last), "mm", 1.0);
        session.at_most(format!("{name}: way of the house in the last 2 s"), way(first, last), "mm", 0.01);
        let held = 1e3 * first[house].distance(last[house]);
        session.at_most(
            format!("{name}: way of the card with 2 % more friction, last 2 s"),
            held,
            "mm",
            0.01,
        );
        let along = |a: &[DVec3], b: &[DVec3]| a[house + 1].distance(b[house + 1]);
        let speeding = along(middle, last) - along(first, middle);
        let exact = 9.81 * (RAMP - SLIDES) / RAMP.hypot(1.0);
        session.at_most(
            format!("{name}: acceleration of the card with 2 % less, off g (sin θ − μ cos θ)"),
            (speeding / exact - 1.0).abs(),
            "",
            0.05,
        );
    }
}
