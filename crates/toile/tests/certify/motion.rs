//! A checker that has seen other frames answers as a new one does: in motion, after faults, after jumps.

use glam::DVec3;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Distance, Kind};
use toile::mesh::shapes::{Pattern, sheet};

use crate::support::{Mesh, Rng};

/// Three pieces and a body, so that boxes of separate pieces drift apart and the tree is built again.
fn surfaces(mesh: &Mesh) -> Vec<CheckSurface> {
    let surface = |name: &str, kind| CheckSurface::new(name, kind, mesh.x.len(), mesh.faces.clone());
    vec![
        surface("a", Kind::Cloth),
        surface("b", Kind::Cloth),
        surface("c", Kind::Cloth),
        surface("body", Kind::Body),
    ]
}

/// Waves whose phase, size and place follow `time`: clean at times, tangled at others.
fn pose(mesh: &Mesh, piece: usize, time: f64) -> Vec<DVec3> {
    let (turn, k) = (0.7 * piece as f64 + time, 9.0 + piece as f64);
    let fold = |p: &DVec3| {
        let wave = (0.05 + 0.1 * libm::sin(3.0 * turn).abs()) * libm::sin(k * p.x + 5.0 * p.z + turn);
        let curl = 0.4 * (libm::sin(3.0 * turn) - 0.5).max(0.0) * libm::sin(11.0 * p.x + turn);
        DVec3::new(p.x + curl, wave + 0.5 * piece as f64 * (1.0 + 0.3 * libm::cos(time)), p.z + 0.1 * curl)
    };
    mesh.x.iter().map(fold).collect()
}

#[test]
fn history_is_not_seen() {
    let mut rng = Rng(41);
    let (mut clean, mut tangled) = (0, 0);
    for (n, distance) in [(6, Distance::Exact), (9, Distance::Off), (7, Distance::Within(0.01))] {
        let mesh = Mesh::from(sheet(1.0, 1.0, n, n, Pattern::Delaunay { seed: n as u64 }).unwrap());
        let options = CheckOptions { distance, ..CheckOptions::default() };
        let mut kept = Checker::new(surfaces(&mesh), options).unwrap();
        for frame in 0..120 {
            let time = if frame % 40 == 39 { 50.0 * rng.unit() } else { 0.03 * f64::from(frame) };
            let mut x: Vec<Vec<DVec3>> = (0..4).map(|piece| pose(&mesh, piece, time)).collect();
            let some = rng.below(mesh.x.len());
            match frame % 13 {
                3 => x[1][some].y = f64::NAN,
                5 => x[0][some] = x[0][(some + 1) % mesh.x.len()],
                7 => x[2] = x[1].clone(),
                9 => x[3].iter_mut().for_each(|p| *p = *p * 1e-7 + DVec3::splat(3.0)),
                11 => x[0].iter_mut().for_each(|p| *p = (*p * 8.0).round() / 8.0),
                _ => {}
            }
            let x: Vec<&[DVec3]> = x.iter().map(Vec::as_slice).collect();
            let verdict = kept.check(&x);
            let fresh = Checker::new(surfaces(&mesh), options).unwrap().check(&x);
            // As text, because a NaN is not equal to itself.
            let [verdict_text, fresh] = [&verdict, &fresh].map(|v| format!("{v:?}"));
            assert!(verdict_text == fresh, "frame {frame}");
            clean += usize::from(verdict.pass());
            tangled += usize::from(verdict.intersections() > 0);
        }
    }
    println!("motion: {clean} clean and {tangled} tangled frames judged alike by old and new checkers");
    assert!(clean > 10 && tangled > 100);
}

/// A strip folded into layers a tenth of an edge apart. They breathe slowly, so that lists and proofs of earlier frames
/// serve; `push` drives the upper layers into the lower ones.
fn layers(mesh: &Mesh, time: f64, push: f64) -> Vec<DVec3> {
    let fold = |p: &DVec3| {
        let (layer, along) = (libm::floor(3.0 * p.x), 3.0 * p.x - libm::floor(3.0 * p.x));
        let x = if layer % 2.0 == 0.0 { along } else { 1.0 - along };
        let rise = 0.006 * (layer + along * along * along * along);
        let wave = 0.1 * libm::sin(5.0 * x + 3.0 * p.z + time);
        let bump = push * layer * libm::exp(-40.0 * ((x - 0.5) * (x - 0.5) + (p.z - 0.5) * (p.z - 0.5)));
        DVec3::new(0.4 * x, rise + wave - bump, p.z)
    };
    mesh.x.iter().map(fold).collect()
}

/// What is taken over from slow frames, fast ones and faults changes no verdict, on clean cloth and on cloth that goes
/// through itself and comes out again.
#[test]
fn what_is_kept_is_not_seen() {
    let mesh = Mesh::from(sheet(1.2, 1.0, 54, 18, Pattern::Alternating).unwrap());
    let low = mesh.x.iter().fold(DVec3::INFINITY, |low, p| low.min(*p));
    let x = mesh.x.iter().map(|p| (*p - low) / DVec3::new(1.2, 1.0, 1.0)).collect();
    let mesh = Mesh { x, ..mesh };
    let surface = || vec![CheckSurface::new("cloth", Kind::Cloth, mesh.x.len(), mesh.faces.clone())];
    for distance in [Distance::Off, Distance::Exact, Distance::Within(0.004)] {
        let options = CheckOptions { distance, ..CheckOptions::default() };
        let mut kept = Checker::new(surface(), options).unwrap();
        let (mut time, mut clean, mut tangled) = (0.0, 0, 0);
        for frame in 0..120 {
            // Very slow, slow, still, and faster than any list allows.
            time += [0.0005, 0.005, 0.0, 0.3][frame / 7 % 4];
            let push = 0.012 * libm::sin(0.08 * frame as f64).max(0.0);
            let mut x = layers(&mesh, time, push);
            match frame % 31 {
                12 => x[frame].z = f64::NAN,
                20 => x[frame] = x[frame + 1],
                // A corner alone leaves a still cloth and goes through it.
                25 => x[0] = x[400] - 0.3 * (x[0] - x[400]),
                _ => {}
            }
            let verdict = kept.check(&[&x]);
            let fresh = Checker::new(surface(), options).unwrap().check(&[&x]);
            assert!(format!("{verdict:?}") == format!("{fresh:?}"), "{distance:?}, frame {frame}");
            clean += usize::from(verdict.pass());
            tangled += usize::from(verdict.intersections() > 0);
        }
        println!("kept, {distance:?}: {clean} clean and {tangled} tangled frames judged alike");
        assert!(clean > 20 && tangled > 20);
    }
}

/// A sheet sinks slowly through another from well beyond what is listed at first.
#[test]
fn what_comes_slowly_is_found() {
    let mesh = Mesh::from(sheet(1.0, 1.0, 12, 12, Pattern::Structured).unwrap());
    let surface = |name| CheckSurface::new(name, Kind::Cloth, mesh.x.len(), mesh.faces.clone());
    let surfaces = || vec![surface("upper"), surface("lower")];
    let options = CheckOptions { distance: Distance::Off, ..CheckOptions::default() };
    let mut kept = Checker::new(surfaces(), options).unwrap();
    let mut tangled = 0;
    for frame in 0..80 {
        let height = 0.2 - 0.005 * f64::from(frame);
        let sink = |p: &DVec3| *p + DVec3::new(0.01, height + 0.02 * libm::sin(9.0 * p.x), 0.013);
        let upper: Vec<DVec3> = mesh.x.iter().map(sink).collect();
        let verdict = kept.check(&[&upper, &mesh.x]);
        assert!(
            verdict == Checker::new(surfaces(), options).unwrap().check(&[&upper, &mesh.x]),
            "frame {frame}"
        );
        tangled += usize::from(verdict.intersections() > 0);
    }
    assert!((5..15).contains(&tangled), "{tangled}");
}

/// A checker at work takes no memory.
#[test]
fn steady_state_allocates_nothing() {
    let mesh = Mesh::from(sheet(1.0, 1.0, 30, 30, Pattern::Structured).unwrap());
    let surface = CheckSurface::new("cloth", Kind::Cloth, mesh.x.len(), mesh.faces.clone());
    let mut checker = Checker::new(vec![surface], CheckOptions::default()).unwrap();
    let wave = |t: f64| -> Vec<DVec3> {
        mesh.x.iter().map(|p| *p + DVec3::Y * 0.05 * libm::sin(9.0 * p.x + 7.0 * p.z + t)).collect()
    };
    let frames: Vec<Vec<DVec3>> = (0..6).map(|k| wave(0.1 * f64::from(k))).collect();
    assert!(checker.check(&[&frames[0]]).pass());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let counted = pool.install(|| {
        allocation_counter::measure(|| {
            for frame in &frames[1..] {
                assert!(checker.check(&[frame]).pass());
            }
        })
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
}
