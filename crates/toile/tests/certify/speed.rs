//! Prints what a check costs on one thread; asserts nothing about time.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "measuring needs a clock")]

use std::time::Instant;

use glam::DVec3;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Distance, Kind};
use toile::mesh::shapes::{Pattern, sheet};

use crate::support::Mesh;

/// A sheet folded like an accordion into layers 2 mm apart, waving in time.
fn accordion(flat: &Mesh, time: f64) -> Vec<DVec3> {
    let (straight, radius) = (0.2, 0.001);
    let period = straight + std::f64::consts::PI * radius;
    let fold = |p: &DVec3| {
        let (layer, along) = ((p.x / period).floor(), p.x % period);
        let (mut x, mut y) = (along.min(straight), 2.0 * radius * layer);
        if along > straight {
            let (sin, cos) = libm::sincos((along - straight) / radius);
            x += radius * sin;
            y += radius * (1.0 - cos);
        }
        let x = if layer % 2.0 == 0.0 { x } else { straight - x };
        DVec3::new(x, y + 0.02 * libm::sin(12.0 * x + 9.0 * p.z + time), p.z)
    };
    flat.x.iter().map(fold).collect()
}

fn measure(name: &str, flat: &Mesh, frame: impl Fn(f64) -> Vec<DVec3>, distance: Distance) {
    let surface = CheckSurface::new("cloth", Kind::Cloth, flat.x.len(), flat.faces.clone());
    let mut checker =
        Checker::new(vec![surface], CheckOptions { distance, ..CheckOptions::default() }).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let first = frame(0.0);
    let clock = Instant::now();
    let verdict = pool.install(|| checker.check(&[&first]));
    let cold = clock.elapsed().as_secs_f64() * 1e3;
    assert!(verdict.pass(), "{name}: {:?}", verdict.findings.first());
    let frames: Vec<Vec<DVec3>> = (1..=10).map(|i| frame(0.05 * f64::from(i))).collect();
    let mut times = Vec::new();
    for x in &frames {
        let clock = Instant::now();
        assert!(pool.install(|| checker.check(&[x])).pass());
        times.push(clock.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{name}, {} vertices, {} faces, distance {distance:?}: first {cold:.1} ms, then {:.1} ms (median of 10), closest {:?}",
        flat.x.len(),
        flat.faces.len(),
        times[5],
        verdict.min_distance(),
    );
}

#[test]
fn prints_the_cost_of_a_frame() {
    let sizes: &[usize] = if cfg!(debug_assertions) { &[100] } else { &[100, 224] };
    for &n in sizes {
        let flat = Mesh::from(sheet(2.0, 1.0, n * 141 / 100, n * 70 / 100, Pattern::Structured).unwrap());
        for distance in [Distance::Off, Distance::Within(0.003), Distance::Exact] {
            measure("flat", &flat, |_| flat.x.clone(), distance);
            let wave = |t: f64| {
                flat.x.iter().map(|p| *p + DVec3::Y * 0.1 * libm::sin(9.0 * p.x + 7.0 * p.z + t)).collect()
            };
            measure("waving", &flat, wave, distance);
            measure("accordion", &flat, |t| accordion(&flat, t), distance);
        }
    }
}
