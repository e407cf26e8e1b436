//! The conformance suite on every law, on an irregular mesh in random states from nearly flat to crumpled.

use crate::session::{Chart, Curve, LabError, Session};
use toile::testing::laws::check_all;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let mut points = Vec::new();
    for (law, checks) in check_all() {
        for c in checks {
            session.at_most(format!("{law}: {}", c.name), c.worst, "relative", c.limit);
            points.push((points.len() as f64, c.worst.max(1e-18)));
            rows.push(format!("{law},{},{:e},{:e}", c.name, c.worst, c.limit));
        }
    }
    session.csv("laws", "law,check,largest relative error,limit", &rows)?;
    session.plot(
        "laws",
        Chart {
            title: "Largest relative error of each check".into(),
            x: "law and check (rows of laws.csv)".into(),
            y: "relative error".into(),
            log: (false, true),
            curves: vec![Curve { name: "error".into(), points }],
        },
    )
}
