//! Detection allocates nothing once its lists have grown.

use glam::DVec3;
use toile::collide::{Detector, Motion, Query, Role, Search, Settings, Shell};

/// A sheet of n × n cells, wavy, in three layers.
fn sheet(n: u32) -> (Shell, Vec<DVec3>) {
    let at = |i, j| i * (n + 1) + j;
    let cell = |c: u32| {
        let (i, j) = (c / n, c % n);
        [[at(i, j), at(i + 1, j), at(i, j + 1)], [at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]]
    };
    let place = |v: u32| {
        let (u, w) = (f64::from(v / (n + 1)) / f64::from(n), f64::from(v % (n + 1)) / f64::from(n));
        let (sin, cos) = libm::sincos(std::f64::consts::TAU * 2.5 * u);
        DVec3::new(cos, 0.0, sin) * (0.1 + 0.01 * u) + DVec3::Y * w
    };
    let x: Vec<DVec3> = (0..(n + 1) * (n + 1)).map(place).collect();
    let surface = Shell::new(x.len(), (0..n * n).flat_map(cell).collect(), Role::Cloth);
    (surface.expect("sound"), x)
}

/// Allocations during the last of a few equal questions.
fn allocations(search: Search) -> u64 {
    let (cloth, x) = sheet(60);
    let (body, y) = sheet(40);
    let body = Shell::new(body.vertices(), body.faces().to_vec(), Role::Body).expect("sound");
    let y: Vec<DVec3> = y.iter().map(|p| *p * 1.03).collect();
    let mut detector = Detector::new(Settings { search, ..Settings::default() });
    detector.add(cloth, &x).expect("accepted");
    detector.add(body, &y).expect("accepted");
    let query = Query { epsilon: 6e-3, ..Query::default() };
    let motions = [Motion::still(&x), Motion::still(&y)];
    let mut contacts = Vec::new();
    for _ in 0..3 {
        detector.detect(&motions, &query, &mut contacts).expect("accepted");
    }
    assert!(contacts.len() > 1000, "{}", contacts.len());
    let counted = allocation_counter::measure(|| {
        detector.detect(&motions, &query, &mut contacts).expect("accepted");
    });
    counted.count_total
}

/// On one thread: what the pool of threads does for itself when it wakes workers is not counted.
#[test]
fn nothing_is_allocated_in_steady_state() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("pool");
    for search in [Search::Patches, Search::Trees] {
        assert_eq!(pool.install(|| allocations(search)), 0, "{search:?}");
    }
}
