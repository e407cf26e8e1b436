//! Forces by source on every vertex sum to its mass times its acceleration, within what the solver says it left.

use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::Watched;
use glam::DVec3;
use std::collections::BTreeMap;
use toile::Probe;

/// Scenes, settings that make them quick, and frames.
const SCENES: [(&str, &[&str], usize); 5] = [
    ("sphere", &["cloth.sheet.shape.resolution=20"], 40),
    ("hang", &["cloth.sheet.shape.resolution=20"], 40),
    ("flag", &[], 20),
    ("tablecloth", &[], 60),
    ("twist", &["cloth.sheet.shape.resolution=12"], 60),
];

/// Frames between two looks.
const EVERY: usize = 5;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    for (name, set, frames) in SCENES {
        let mut watched = Watched::scene(name, set)?;
        // By how much what is unexplained exceeds what the solver left, both over the mean weight of a vertex.
        let (mut worst, mut most_left, mut points) = (f64::NEG_INFINITY, 0.0f64, Vec::new());
        let mut largest: BTreeMap<&str, f64> = BTreeMap::new();
        for frame in 1..=frames {
            let mut probe = Probe::default();
            watched.step_with(&mut probe)?;
            if frame % EVERY != 0 {
                continue;
            }
            let left = probe.counters.residual;
            let mut unexplained = 0.0f64;
            for cloth in 0..watched.world.cloths().len() {
                for vertex in 0..watched.world.cloths()[cloth].positions.len() as u32 {
                    let account = watched.world.account(cloth, vertex)?;
                    unexplained = unexplained.max(account.residual().length());
                    for (source, force) in account.forces.iter().filter(|(_, force)| *force != DVec3::ZERO) {
                        let slot = largest.entry(source).or_default();
                        *slot = slot.max(force.length());
                    }
                }
            }
            let vertices = watched.world.cloths().iter().map(|c| c.positions.len()).sum::<usize>();
            let weight = watched.weight() / vertices as f64;
            worst = worst.max((unexplained - left) / weight);
            most_left = most_left.max(left / weight);
            points.push((frame as f64, (unexplained / weight).max(1e-16)));
            rows.push(format!("{name},{frame},{:e},{:e}", unexplained / weight, left / weight));
        }
        session.at_most(
            format!("{name}: unexplained beyond the solver's residual"),
            worst,
            "of a weight",
            1e-6,
        );
        session.info(format!("{name}: the solver's residual"), most_left, "of a weight");
        for (source, force) in largest {
            session.info(format!("{name}: largest {source}"), force, "N");
        }
        curves.push(Curve { name: name.into(), points });
    }
    session.csv("explain", "scene,frame,unexplained over a weight,residual over a weight", &rows)?;
    session.plot(
        "explain",
        Chart {
            title: "Largest force that the sources leave unexplained".into(),
            x: "frame".into(),
            y: "over the mean weight of a vertex".into(),
            log: (false, true),
            curves,
        },
    )
}
