//! The guarantee under hostile wishes, and with each of its rules broken on purpose: the tests would tell.
//! `toile lab guarantee` does the same at length.

use toile::contact::filter::Fault;
use toile::testing::hostile::{Outcome, Scene, run};

/// So many trials of twenty passes, from this seed on.
fn trials(scene: Scene, seeds: std::ops::Range<u64>, fault: Fault) -> Outcome {
    seeds.fold(Outcome::none(), |mut sum, seed| {
        sum.add(&run(scene, seed, 20, fault));
        sum
    })
}

fn keeps(scene: Scene) {
    let found = trials(scene, 0..3, Fault::None);
    assert!(found.passes >= 60, "{scene:?} was not tried: {found:?}");
    assert_eq!(found.violations(), 0, "{scene:?}: {found:?}");
}

#[test]
fn stacks_over_moving_bodies_never_meet() {
    keeps(Scene::Stack);
}

#[test]
fn thin_cloth_never_meets() {
    keeps(Scene::Thin);
}

#[test]
fn a_folded_sheet_never_meets_itself() {
    keeps(Scene::Folded);
}

#[test]
fn faces_of_hardly_any_area_never_meet() {
    keeps(Scene::Degenerate);
}

#[test]
fn what_no_plane_can_split_stays() {
    let found = trials(Scene::Frozen, 0..3, Fault::None);
    assert_eq!(found.violations(), 0, "{found:?}");
    assert!(found.kept < 1e-3 * found.wished, "{found:?}");
}

fn is_caught(fault: Fault) {
    let mut seeds = 0;
    let mut found = Outcome::none();
    // Rare faults need more trials; the first violation is enough.
    while found.violations() == 0 && seeds < 60 {
        for scene in [Scene::Stack, Scene::Thin, Scene::Folded] {
            found.add(&run(scene, seeds, 20, fault));
        }
        seeds += 1;
    }
    println!("figure: {fault:?}: {} of {} passes", found.violations(), found.passes);
    assert!(found.violations() > 0, "{fault:?} went unnoticed in {} passes", found.passes);
}

#[test]
fn a_reach_that_is_too_short_is_caught() {
    is_caught(Fault::ShortReach);
}

#[test]
fn sides_from_closest_points_are_caught() {
    is_caught(Fault::ClosestPoints);
}

#[test]
fn pairs_of_the_pass_before_are_caught() {
    is_caught(Fault::OldPairs);
}

#[test]
fn led_points_outside_the_filter_are_caught() {
    is_caught(Fault::LedOutside);
}

#[test]
fn edges_left_out_are_caught() {
    is_caught(Fault::NoEdges);
}

#[test]
fn a_limit_on_pairs_is_caught() {
    is_caught(Fault::FewSlots);
}
