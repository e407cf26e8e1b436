//! Tangled starts: found, drawn back, exempt as long as they last, and nothing else.

use glam::DVec3;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Distance, Kind as Role};
use toile::testing::tangles::{Kind, world};
use toile::{Probe, World};

fn checker(world: &World) -> Checker {
    let cloths = world.cloths().iter().map(|cloth| {
        CheckSurface::new(cloth.name.clone(), Role::Cloth, cloth.mesh.vertices(), cloth.mesh.faces().to_vec())
    });
    let bodies = world.bodies().iter().map(|body| {
        let facets = body.collider.facets();
        CheckSurface::new(body.name.clone(), Role::Body, facets.positions.len(), facets.faces.clone())
    });
    let options = CheckOptions { distance: Distance::Off, ..CheckOptions::default() };
    Checker::new(cloths.chain(bodies).collect(), options).expect("checker")
}

fn places(world: &World) -> Vec<Vec<DVec3>> {
    let cloths = (0..world.cloths().len()).map(|c| world.positions(c));
    cloths.chain(world.bodies().iter().map(|body| body.collider.positions().to_vec())).collect()
}

fn count(checker: &mut Checker, world: &World) -> usize {
    let all = places(world);
    checker.check(&all.iter().map(Vec::as_slice).collect::<Vec<_>>()).intersections()
}

#[test]
fn explore() {
    let want = std::env::var("KIND").ok().and_then(|k| k.parse::<usize>().ok());
    let seeds = std::env::var("SEEDS").ok().and_then(|k| k.parse::<u64>().ok()).unwrap_or(5);
    for (k, kind) in Kind::ALL.into_iter().enumerate() {
        if want.is_some_and(|w| w != k) {
            continue;
        }
        for seed in 0..seeds {
            let mut world = world(kind, seed).expect("start");
            let mut checker = checker(&world);
            let first = world.tangles();
            let vertices: usize = world.cloths().iter().map(|c| c.positions.len()).sum();
            print!(
                "{} {seed} ({vertices}): engine {} inside {} checker {} |",
                kind.name(),
                first.pairs.len(),
                first.inside.len(),
                count(&mut checker, &world)
            );
            for t in world.tangled() {
                print!(" [{} x {} sign {}]", t.sides[0].len(), t.sides[1].len(), t.sign);
            }
            let begun = std::time::Instant::now();
            for frame in 1..=60 {
                let mut probe = Probe::default();
                if let Err(error) = world.step(1.0 / 60.0, &mut probe) {
                    print!(" ERROR {error}");
                    break;
                }
                if frame % 6 == 0 {
                    let exempt: usize = world.tangled().iter().map(|t| t.sides[0].len()).sum();
                    let strain = (0..world.cloths().len()).flat_map(|c| world.strains(c)).fold(0.0, f64::max);
                    let c = probe.counters;
                    print!(" {}/{exempt}/{:.2}({},{},{},{},{})", count(&mut checker, &world), strain, c.substeps, c.halved, c.passes, c.iterations, c.solves);
                }
            }
            println!(" inside {} {:.1} s", world.tangles().inside.len(), begun.elapsed().as_secs_f64());
        }
    }
}
