//! The guarantee under hostile wishes: ten thousand passes without a meeting, and every rule broken on purpose.

use crate::session::{Chart, Curve, LabError, Session};
use rayon::prelude::*;
use toile::contact::filter::Fault;
use toile::testing::hostile::{Outcome, Scene, run as trial};

/// Wishes per trial.
const WISHES: u64 = 20;

const FAULTS: [(Fault, &str); 6] = [
    (Fault::ShortReach, "points reach half as far as they go"),
    (Fault::ClosestPoints, "sides of the gap from closest points"),
    (Fault::OldPairs, "pairs of the pass before"),
    (Fault::LedOutside, "led points outside the filter"),
    (Fault::NoEdges, "edges do not meet edges"),
    (Fault::FewSlots, "at most 16 pairs at a point"),
];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let mut all = Outcome::none();
    let mut kept = Vec::new();
    let trials = if session.full { 1000 } else { 84 };
    for scene in Scene::ALL {
        let found = outcome(scene, trials, Fault::None);
        let name = scene.name();
        session.info(format!("{name}: passes"), found.passes as f64, "");
        session.equal(format!("{name}: passes that let something meet"), found.violations() as f64, "", 0.0);
        session.info(format!("{name}: kept motion"), found.kept / found.wished, "");
        session.info(format!("{name}: pairs split per pass"), found.pairs as f64 / found.passes as f64, "");
        session.info(format!("{name}: closest after a pass"), found.closest, "m");
        rows.push(row(name, "none", &found));
        kept.push((kept.len() as f64, found.kept / found.wished));
        all.add(&found);
    }
    session.at_least("passes", all.passes as f64, "", 1e4);
    session.equal("passes that let something meet", all.violations() as f64, "", 0.0);
    session.info("kept motion", all.kept / all.wished, "");
    for (fault, name) in FAULTS {
        let mut found = Outcome::none();
        for scene in [Scene::Stack, Scene::Thin, Scene::Folded] {
            found.add(&outcome(scene, 10, fault));
        }
        session.at_least(
            format!("rule broken: {name}: violations in {} passes", found.passes),
            found.violations() as f64,
            "",
            1.0,
        );
        rows.push(row("stack, thin, folded", name, &found));
    }
    session.csv(
        "guarantee",
        "scene,fault,passes,crossed,met,pairs,wished [m],kept [m],closest [m]",
        &rows,
    )?;
    session.plot(
        "kept",
        Chart {
            title: "Part of hostile wishes that the filter grants".into(),
            x: "scene".into(),
            y: "kept".into(),
            log: (false, false),
            curves: vec![Curve { name: "kept".into(), points: kept }],
        },
    )
}

fn outcome(scene: Scene, trials: u64, fault: Fault) -> Outcome {
    let each: Vec<Outcome> =
        (0..trials).into_par_iter().map(|seed| trial(scene, 100 + seed, WISHES, fault)).collect();
    each.iter().fold(Outcome::none(), |mut sum, found| {
        sum.add(found);
        sum
    })
}

fn row(scene: &str, fault: &str, found: &Outcome) -> String {
    format!(
        "\"{scene}\",{fault},{},{},{},{},{},{},{:e}",
        found.passes, found.crossed, found.met, found.pairs, found.wished, found.kept, found.closest
    )
}
