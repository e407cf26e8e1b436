//! What detection as a whole must do, beyond agreeing with the oracle.

use super::cones::ConeMerge;
use super::*;
use crate::math::{DVec3, random};

/// A sheet of n × m cells, wound into a spiral of `turns` turns: layers close to each other, and neighbours.
fn roll(n: u32, m: u32, turns: f64) -> (Shell, Vec<DVec3>) {
    let at = |i, j| i * (m + 1) + j;
    let cell = |c: u32| {
        let (i, j) = (c / m, c % m);
        [[at(i, j), at(i + 1, j), at(i, j + 1)], [at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]]
    };
    let place = |v: u32| {
        let (u, w) = (f64::from(v / (m + 1)) / f64::from(n), f64::from(v % (m + 1)) / f64::from(m));
        let (sin, cos) = libm::sincos(std::f64::consts::TAU * turns * u);
        DVec3::new(cos, 0.0, sin) * (0.1 + 0.02 * turns * u) + DVec3::Y * w
    };
    let x: Vec<DVec3> = (0..(n + 1) * (m + 1)).map(place).collect();
    let surface = Shell::new(x.len(), (0..n * m).flat_map(cell).collect(), Role::Cloth);
    (surface.expect("sound"), x)
}

const TREES: Settings = Settings { dop: Dop::K6, arity: 4, search: Search::Trees };

fn found(detector: &mut Detector, x: &[DVec3], query: &Query) -> (Vec<Contact>, Counters) {
    let mut contacts = Vec::new();
    let counters = detector.detect(&[Motion::still(x)], query, &mut contacts).expect("accepted");
    (contacts, counters)
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let (surface, x) = roll(120, 40, 3.0);
    let query = Query { epsilon: 0.022, ..Query::default() };
    for search in [Search::Patches, Search::Trees] {
        let mut first = None;
        for threads in [1, 2, 3, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
            let answer = pool.install(|| {
                let mut detector = Detector::new(Settings { search, ..Settings::default() });
                detector.add(surface.clone(), &x).expect("accepted");
                found(&mut detector, &x, &query)
            });
            assert!(answer.0.len() > 1000);
            assert_eq!(*first.get_or_insert_with(|| answer.clone()), answer, "{search:?}, {threads} threads");
        }
    }
}

/// Patches and trees answer every question alike, over several levels, within a surface and between two of different size,
/// with velocities and reaches.
#[test]
fn patches_and_trees_find_the_same() {
    let (sheet, x) = roll(120, 40, 3.0);
    let (tube, y) = roll(30, 10, 1.0);
    let y: Vec<DVec3> = y.iter().map(|p| *p * 1.15 + DVec3::new(0.01, -0.05, 0.0)).collect();
    let velocity = |n: usize, seed: u64| -> Vec<DVec3> {
        let at = |i: usize, k: u64| 0.03 * random::signed(seed, 3 * i as u64 + k);
        (0..n).map(|i| DVec3::new(at(i, 0), at(i, 1), at(i, 2) + 0.1)).collect()
    };
    let (vx, vy) = (velocity(x.len(), 3), velocity(y.len(), 4));
    let reach: Vec<f64> = (0..x.len()).map(|i| 0.002 * random::unit(5, i as u64)).collect();
    let mut total = 0;
    for role in [Role::Body, Role::Cloth] {
        let mut detectors = [Search::Patches, Search::Trees].map(|search| {
            let mut detector = Detector::new(Settings { search, ..Settings::default() });
            let body = Shell::new(tube.vertices(), tube.faces().to_vec(), role).expect("sound");
            detector.add(sheet.clone(), &x).expect("accepted");
            detector.add(body, &y).expect("accepted");
            detector
        });
        for report in [Report::Start, Report::End, Report::Ends, Report::Boxes] {
            for (inflation, reach) in [
                (Inflation::Swept, None),
                (Inflation::Isotropic, None),
                (Inflation::Swept, Some(reach.as_slice()).filter(|_| report != Report::Boxes)),
            ] {
                for features in [Features::All, Features::VerticesOnly] {
                    let query =
                        Query { epsilon: 0.012, dt: 0.02, inflation, report, features, ..Query::default() };
                    let motions = [Motion { x: &x, v: Some(&vx), reach, way: None }, Motion::moving(&y, &vy)];
                    let [patches, trees] = detectors.each_mut().map(|detector| {
                        let mut contacts = Vec::new();
                        detector.detect(&motions, &query, &mut contacts).expect("accepted");
                        contacts
                    });
                    total += trees.len();
                    let near = |c: &Contact| report != Report::Boxes || c.distance <= query.epsilon;
                    assert!(
                        patches.iter().filter(|c| near(c)).eq(trees.iter().filter(|c| near(c))),
                        "{query:?}"
                    );
                }
            }
        }
    }
    assert!(total > 100_000, "{total}");
}

/// What moves together is found as if it stood still, however fast it is; what does not is found as by trees, which know of no
/// frames.
#[test]
fn ways_that_are_shared_need_no_room() {
    let (sheet, x) = roll(120, 40, 3.0);
    let (tube, y) = roll(30, 10, 1.0);
    let y: Vec<DVec3> = y.iter().map(|p| *p * 1.15 + DVec3::new(0.01, -0.05, 0.0)).collect();
    let mut detectors = [Search::Patches, Search::Trees].map(|search| {
        let mut detector = Detector::new(Settings { search, ..Settings::default() });
        detector.add(sheet.clone(), &x).expect("accepted");
        detector.add(tube.clone(), &y).expect("accepted");
        detector
    });
    let query = Query { epsilon: 0.004, ..Query::default() };
    let reach: Vec<f64> = (0..x.len()).map(|i| 0.001 * random::unit(5, i as u64)).collect();
    let way = |at: &[DVec3], seed: u64, (drift, spin, rough): (DVec3, f64, f64)| -> Vec<DVec3> {
        let noise = |i: usize, k: u64| rough * random::signed(seed, 3 * i as u64 + k);
        let own = |i: usize| DVec3::new(noise(i, 0), noise(i, 1), noise(i, 2));
        at.iter().enumerate().map(|(i, p)| drift + DVec3::Z.cross(*p) * spin + own(i)).collect()
    };
    let fast = DVec3::new(0.03, -0.05, 0.02);
    for (motion, other, few) in [
        ((DVec3::ZERO, 0.0, 0.0), (DVec3::ZERO, 0.0, 0.0), true),
        ((1e3 * fast, 0.0, 0.0), (1e3 * fast, 0.0, 0.0), true),
        ((fast, 0.0, 0.0), (fast, 0.0, 0.0), true),
        ((fast, 0.05, 0.0), (fast, 0.04, 0.001), false),
        ((fast, 0.0, 0.004), (DVec3::ZERO, 0.0, 0.0), false),
        ((0.2 * fast, 0.02, 0.01), (-0.2 * fast, 0.0, 0.0), false),
    ] {
        let (wx, wy) = (way(&x, 8, motion), way(&y, 9, other));
        let motions = [
            Motion { reach: Some(&reach), way: Some(&wx), ..Motion::still(&x) },
            Motion { way: Some(&wy), ..Motion::still(&y) },
        ];
        // Ways of tens of metres are too much for trees.
        let trees = usize::from(motion.0.length() < 1.0);
        let [(patches, counters), (truth, _)] = [0, trees].map(|k| {
            let mut contacts = Vec::new();
            let counters = detectors[k].detect(&motions, &query, &mut contacts).expect("accepted");
            (contacts, counters)
        });
        assert!(patches == truth && !truth.is_empty(), "{motion:?}: {} of {}", patches.len(), truth.len());
        assert!(!few || counters.narrow_calls < 20_000, "{motion:?}: {}", counters.narrow_calls);
    }
}

/// Smooth cloth: the curvature criterion spares at least four fifths of the tests and loses nothing (M03-X6).
#[test]
fn flat_parts_are_spared() {
    let (surface, x) = roll(160, 80, 0.8);
    let mut detector = Detector::new(TREES);
    detector.add(surface, &x).expect("accepted");
    // Below the height of a face, so that neighbours on the surface are no contacts anyway.
    let off = Query { epsilon: 0.002, ..Query::default() };
    let (all, without) = found(&mut detector, &x, &off);
    for merge in [ConeMerge::Provot, ConeMerge::Tight] {
        let on = Query { curvature: Curvature::Cones { merge, apex: 2.6 }, ..off };
        let (spared, with) = found(&mut detector, &x, &on);
        assert_eq!(spared, all);
        assert!(5 * with.box_tests < without.box_tests, "{} of {}", with.box_tests, without.box_tests);
    }
    let (spared, _) = found(&mut detector, &x, &Query { curvature: Curvature::Exact, ..off });
    assert_eq!(spared, all);
}

/// M03 Fig. 5: flat cloth whose outline winds into itself. All normals agree, so cones alone see nothing; groups that do
/// not touch are compared all the same, and the outline is seen even inside one group.
#[test]
fn a_concave_outline_is_found() {
    let n = 40_u32;
    let corner = |k: u32| {
        // A horseshoe whose ends overlap after a full turn, one a little above the other.
        let (sin, cos) = libm::sincos(6.6 * f64::from(k / 2) / f64::from(n));
        let radius = if k.is_multiple_of(2) { 1.0 } else { 1.3 };
        DVec3::new(radius * cos, 0.002 * f64::from(k / 2), -radius * sin)
    };
    let x: Vec<DVec3> = (0..2 * (n + 1)).map(corner).collect();
    let faces: Vec<[u32; 3]> =
        (0..n).flat_map(|k| [[2 * k, 2 * k + 1, 2 * k + 2], [2 * k + 1, 2 * k + 3, 2 * k + 2]]).collect();
    let count = |group: usize, curvature: Curvature| {
        let surface = Shell::with_groups(x.len(), faces.clone(), Role::Cloth, group).expect("sound");
        let mut detector = Detector::new(Settings::default());
        detector.add(surface, &x).expect("accepted");
        found(&mut detector, &x, &Query { epsilon: 0.09, curvature, ..Query::default() }).0.len()
    };
    let all = count(16, Curvature::Off);
    assert!(all > 20, "{all}");
    assert_eq!(count(16, Curvature::default()), all, "groups");
    assert_eq!(count(1000, Curvature::Exact), all, "outline");
    assert_eq!(count(1000, Curvature::default()), 0, "one cone for all sees nothing: why groups are needed");
}

/// The S-shaped fold inside one group: layers one and three have the same normals and must be compared.
#[test]
fn a_fold_within_a_group_is_found() {
    let mut x = Vec::new();
    for (px, py) in [(0.0, 0.0), (1.0, 0.0), (1.0, 0.01), (0.0, 0.01), (0.0, 0.02), (1.0, 0.02)] {
        x.extend([0.0, 0.5, 1.0].map(|z| DVec3::new(px, py, z)));
    }
    let cell = |i: u32, j: u32| {
        let v = 3 * i + j;
        [[v, v + 1, v + 3], [v + 3, v + 1, v + 4]]
    };
    let faces = (0..5).flat_map(|i| (0..2).flat_map(move |j| cell(i, j))).collect();
    let surface = Shell::new(x.len(), faces, Role::Cloth).expect("sound");
    let mut detector = Detector::new(Settings::default());
    detector.add(surface, &x).expect("accepted");
    let query = Query { epsilon: 0.021, curvature: Curvature::default(), ..Query::default() };
    let (contacts, _) = found(&mut detector, &x, &query);
    let layers = |c: &Contact| {
        let of = |k: usize| x[c.vertices[k] as usize].y;
        (of(0) - of(3)).abs() > 0.015
    };
    assert!(contacts.iter().any(layers));
}

#[test]
fn lazy_updates_and_memory_save_work_and_lose_nothing() {
    let (surface, mut x) = roll(80, 40, 2.5);
    let plain = Query { epsilon: 0.021, ..Query::default() };
    let lazy = Query { lazy: 0.002, ..plain };
    let listed = Query { tracking: Tracking::Separations { restart: 10 }, ..plain };
    let memory = Query { tracking: Tracking::Coherent { margin: 0.004, restart: 50 }, ..plain };
    let mut detectors = [plain, lazy, listed, memory].map(|query| {
        let mut detector = Detector::new(TREES);
        detector.add(surface.clone(), &x).expect("accepted");
        (detector, query, Counters::default())
    });
    for step in 0..12 {
        // Slow everywhere, faster at one end.
        for (i, p) in x.iter_mut().enumerate() {
            let speed = if i < 400 { 6e-4 } else { 4e-5 };
            p.x += speed * random::signed(7, (step * 10_000 + i) as u64);
        }
        let (truth, _) = found(&mut detectors[0].0, &x, &plain);
        for (detector, query, counters) in &mut detectors {
            let (contacts, cost) = found(detector, &x, query);
            assert_eq!(contacts, truth, "{query:?}");
            counters.add(&cost);
        }
    }
    let [plain, lazy, listed, memory] = detectors.map(|d| d.2);
    assert!(2 * lazy.refitted < plain.refitted, "{} of {}", lazy.refitted, plain.refitted);
    assert!(listed.box_tests != plain.box_tests);
    assert!(2 * memory.box_tests < plain.box_tests, "{} of {}", memory.box_tests, plain.box_tests);
    // Most of what is remembered is settled by where it was closest before; the contacts are the same.
    assert!(memory.recalled > 2 * memory.narrow_calls, "{} and {}", memory.recalled, memory.narrow_calls);
}

#[test]
fn bad_questions_are_refused_and_bad_places_survive() {
    let (surface, mut x) = roll(10, 10, 1.0);
    let mut detector = Detector::new(Settings { arity: 0, ..Settings::default() });
    assert!(detector.add(surface.clone(), &x[1..]).is_err());
    let id = detector.add(surface.clone(), &x).expect("accepted");
    let mut contacts = Vec::new();
    let mut ask = |motions: &[Motion], query: Query| detector.detect(motions, &query, &mut contacts);
    assert!(matches!(ask(&[], Query::default()), Err(DetectError::Motions { .. })));
    assert!(matches!(ask(&[Motion::still(&x[1..])], Query::default()), Err(DetectError::Length { .. })));
    let query = Query { epsilon: f64::NAN, ..Query::default() };
    assert!(matches!(ask(&[Motion::still(&x)], query), Err(DetectError::Value { .. })));
    x[7] = DVec3::new(f64::NAN, 0.0, 1.0);
    x[50] = DVec3::splat(f64::INFINITY);
    x[60] = DVec3::splat(1e300);
    for curvature in [Curvature::Off, Curvature::default(), Curvature::Exact] {
        for tracking in [Tracking::Off, Tracking::Coherent { margin: 0.1, restart: 5 }] {
            let query = Query { epsilon: 0.1, curvature, tracking, lazy: 0.01, ..Query::default() };
            ask(&[Motion::still(&x)], query).expect("no complaint");
            ask(&[Motion::still(&x)], query).expect("no complaint");
        }
    }
    assert!(contacts.iter().all(|c| c.distance <= 0.1));
    detector.remove(id).expect("there");
    assert_eq!(detector.remove(id), Err(DetectError::NoObject { object: id }));
    assert_eq!(detector.detect(&[], &Query::default(), &mut contacts).map(|c| c.nodes), Ok(0));
    assert_eq!(detector.add(surface, &x), Ok(id + 1));
}
