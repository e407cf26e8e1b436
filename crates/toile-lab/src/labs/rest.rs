//! Cloth on bodies and on cloth: it comes to rest and stays, without the guarantee holding it, and on its way there it
//! moves as it would in far smaller steps.

use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::{GRAVITY, Watched, farthest};
use glam::DVec3;
use rayon::prelude::*;
use toile::collide::proximity::{edge_edge, vertex_face};
use toile::contact::Touch;
use toile::probe::Counters;

/// A built-in scene, smaller where what is stated does not depend on it.
struct Case {
    name: &'static str,
    scene: &'static str,
    set: &'static [&'static str],
}

const SPHERE: Case = Case { name: "sphere", scene: "sphere", set: &["cloth.sheet.shape.resolution=30"] };
const TABLECLOTH: Case = Case { name: "tablecloth", scene: "tablecloth", set: &[] };
const STACK4: Case = Case { name: "stack 4", scene: "stack4", set: &[] };
const STACK16: Case = Case { name: "stack 16", scene: "stack", set: &COARSE };

/// Every sheet of the stack at half the resolution: 1,936 particles.
pub const COARSE: [&str; 16] = [
    "cloth.sheet1.shape.resolution=10",
    "cloth.sheet2.shape.resolution=10",
    "cloth.sheet3.shape.resolution=10",
    "cloth.sheet4.shape.resolution=10",
    "cloth.sheet5.shape.resolution=10",
    "cloth.sheet6.shape.resolution=10",
    "cloth.sheet7.shape.resolution=10",
    "cloth.sheet8.shape.resolution=10",
    "cloth.sheet9.shape.resolution=10",
    "cloth.sheet10.shape.resolution=10",
    "cloth.sheet11.shape.resolution=10",
    "cloth.sheet12.shape.resolution=10",
    "cloth.sheet13.shape.resolution=10",
    "cloth.sheet14.shape.resolution=10",
    "cloth.sheet15.shape.resolution=10",
    "cloth.sheet16.shape.resolution=10",
];

/// Time to come to rest, and to stay there [s].
const SETTLE: f64 = 5.0;
const STAY: f64 = 10.0;

/// What a scene at rest did.
struct Rested {
    /// Root mean square speed after settling [m/s], and at the end of the stay.
    speed: [f64; 2],
    /// Largest way of a vertex during the stay [m].
    drift: f64,
    /// Root mean square of the ways [m].
    mean_drift: f64,
    /// Part of the weight's impulse that the guarantee removed during the stay.
    removed: f64,
    /// Median distance of what lies on a body [m].
    gap: f64,
    bad_frames: u64,
    speeds: Vec<(f64, f64)>,
}

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let cases = [SPHERE, TABLECLOTH, STACK16];
    let found: Result<Vec<Rested>, LabError> = cases.par_iter().map(rest).collect();
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for (case, found) in cases.iter().zip(found?) {
        let name = case.name;
        session.at_most(format!("{name}: rms speed after {SETTLE} s"), 1e3 * found.speed[0], "mm/s", 0.1);
        session.info(format!("{name}: rms speed after {} s", SETTLE + STAY), 1e3 * found.speed[1], "mm/s");
        session.at_most(format!("{name}: largest drift in {STAY} s"), 1e3 * found.drift, "mm", 0.1);
        session.info(format!("{name}: rms drift in {STAY} s"), 1e3 * found.mean_drift, "mm");
        session.at_most(format!("{name}: resting gap"), 1e3 * found.gap, "mm", 1.5);
        session.at_most(
            format!("{name}: impulse removed at rest over the weight's"),
            found.removed,
            "",
            0.01,
        );
        session.equal(format!("{name}: frames that intersect"), found.bad_frames as f64, "", 0.0);
        rows.extend(found.speeds.iter().map(|(t, v)| format!("{name},{t},{v:e}")));
        curves.push(Curve { name: name.into(), points: found.speeds });
    }
    session.csv("rest", "scene,time [s],rms speed [m/s]", &rows)?;
    session.plot(
        "rest",
        Chart {
            title: "Speed of cloth that comes to rest".into(),
            x: "time [s]".into(),
            y: "rms speed [m/s]".into(),
            log: (false, true),
            curves,
        },
    )
}

fn rest(case: &Case) -> Result<Rested, LabError> {
    let mut watched = Watched::scene(case.scene, case.set)?;
    let mut speeds = Vec::new();
    let mut counted = Counters::default();
    let mut start = (Vec::new(), 0.0);
    let frames = |time: f64| (time / watched.dt).round() as usize;
    let (settle, end) = (frames(SETTLE), frames(SETTLE + STAY));
    for frame in 1..=end {
        let own = watched.step()?;
        speeds.push((frame as f64 * watched.dt, watched.speed().max(1e-9)));
        if frame > settle {
            counted.merge(&own);
        } else if frame == settle {
            start = (watched.positions(), watched.speed());
        }
    }
    let x = watched.positions();
    let squares = x.iter().zip(&start.0).map(|(a, b)| a.distance_squared(*b)).sum::<f64>();
    Ok(Rested {
        speed: [start.1, watched.speed()],
        drift: farthest(&start.0, &x),
        mean_drift: (squares / x.len() as f64).sqrt(),
        removed: counted.removed / (watched.weight() * STAY),
        gap: gap(&watched),
        bad_frames: watched.bad_frames,
        speeds,
    })
}

/// Median distance of what touches a body [m], feature from feature.
fn gap(watched: &Watched) -> f64 {
    let world = &watched.world;
    let cloths: Vec<Vec<DVec3>> = (0..world.cloths().len()).map(|c| world.positions(c)).collect();
    let at = |name: u64| {
        let (object, vertex) = ((name >> 32) as usize, name as u32 as usize);
        match cloths.get(object) {
            Some(cloth) => (false, cloth[vertex]),
            None => (true, world.bodies()[object - cloths.len()].collider.positions()[vertex]),
        }
    };
    let distance = |touch: &Touch| {
        let named = touch.features.iter().filter(|name| **name != u64::MAX);
        let (body, cloth): (Vec<_>, Vec<_>) = named.map(|name| at(*name)).partition(|(body, _)| *body);
        let [body, cloth] = [body, cloth].map(|side| side.into_iter().map(|(_, x)| x).collect::<Vec<_>>());
        match (&body[..], &cloth[..]) {
            ([], _) | (_, []) => None,
            ([p], t) | (t, [p]) => Some(vertex_face(*p, [0, 1, 2].map(|k| t[k.min(t.len() - 1)]))),
            (a, b) => Some(edge_edge([a[0], a[1]], [b[0], b[1]])),
        }
    };
    let touches = world.snapshot().touches;
    let mut all: Vec<f64> =
        touches.iter().flatten().filter_map(distance).map(|closest| closest.squared.sqrt()).collect();
    all.sort_by(f64::total_cmp);
    if all.is_empty() { f64::INFINITY } else { all[all.len() / 2] }
}

/// Cloth that falls and slides at 1/60 s as it does in steps of 1/960 s.
pub fn glue(session: &mut Session) -> Result<(), LabError> {
    let cases = [SPHERE, TABLECLOTH, STACK4];
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for case in &cases {
        let name = case.name;
        let runs = [(60.0, None), (60.0, Some(1)), (960.0, Some(1))];
        let found: Result<Vec<Fallen>, LabError> =
            runs.par_iter().map(|(rate, substeps)| fall(case, *rate, *substeps)).collect();
        let found = found?;
        let right = found[2].centre;
        let off = |fallen: &Fallen| (fallen.centre - right).abs() / right.abs();
        session.at_least(
            format!("{name}: kept motion outside impacts, frames of 1/60 s"),
            found[0].kept,
            "",
            0.95,
        );
        session.at_most(
            format!("{name}: drop of the centre at 0.5 s off that of steps of 1/960 s"),
            off(&found[0]),
            "",
            0.03,
        );
        session.info(format!("{name}: the same in one step per frame"), off(&found[1]), "");
        session.info(format!("{name}: kept motion in one step per frame"), found[1].kept, "");
        session.info(format!("{name}: kept motion, impacts included"), found[0].all, "");
        session.info(format!("{name}: kept motion in steps of 1/960 s"), found[2].kept, "");
        session.info(format!("{name}: drop of the centre in steps of 1/960 s"), right, "m");
        for (fallen, label) in found.into_iter().zip(["1/60 s", "1/60 s in one step", "1/960 s"]) {
            session.equal(
                format!("{name}, {label}: frames that intersect"),
                fallen.bad_frames as f64,
                "",
                0.0,
            );
            rows.extend(fallen.track.iter().map(|(t, y)| format!("{name},{label},{t},{y}")));
            curves.push(Curve { name: format!("{name}, {label}"), points: fallen.track });
        }
    }
    session.note("outside impacts: frames in which the centre is not braked by more than twice its weight");
    session.csv("glue", "scene,step,time [s],drop of the centre [m]", &rows)?;
    session.plot(
        "glue",
        Chart {
            title: "Drop of the centre of mass".into(),
            x: "time [s]".into(),
            y: "m".into(),
            log: (false, false),
            curves,
        },
    )
}

/// What the first half second did.
struct Fallen {
    /// Part of the solver's motion that was kept outside impacts, and in all.
    kept: f64,
    all: f64,
    /// Drop of the centre at the end [m].
    centre: f64,
    bad_frames: u64,
    track: Vec<(f64, f64)>,
}

fn fall(case: &Case, rate: f64, substeps: Option<u32>) -> Result<Fallen, LabError> {
    let mut set: Vec<String> = case.set.iter().map(|s| s.to_string()).collect();
    if rate != 60.0 {
        set.push(format!("fps={rate}"));
    }
    set.extend(substeps.map(|n| format!("solver.substeps={n}")));
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    let mut watched = Watched::scene(case.scene, &set)?;
    let top = watched.world.momentum().1.y;
    let (mut wished, mut kept) = (0.0, 0.0);
    let mut track = Vec::new();
    let mut before = 0.0;
    for frame in 1..=(0.5 * rate).round() as usize {
        let own = watched.step()?;
        let (mass, centre, momentum) = watched.world.momentum();
        let falling = -momentum.y / mass;
        let braked = before + GRAVITY * watched.dt - falling;
        if braked <= 2.0 * GRAVITY * watched.dt {
            wished += own.wished;
            kept += own.kept;
        }
        before = falling;
        track.push((frame as f64 * watched.dt, top - centre.y));
    }
    Ok(Fallen {
        kept: kept / wished,
        all: watched.counters.kept / watched.counters.wished,
        centre: track.last().map_or(0.0, |(_, drop)| *drop),
        bad_frames: watched.bad_frames,
        track,
    })
}
