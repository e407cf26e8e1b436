//! The conformance suite on every law, on an irregular mesh in random states from nearly flat to crumpled.

use crate::material::{PATTERNS, shake};
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use toile::drive::Motion;
use toile::forces::attach::Hold;
use toile::forces::{AirDrag, Attach, Fabric, LinearHinge, Membrane, Spring, Strain, Tangent, Wind};
use toile::interaction::{Elements, ForceModel, Law, Outside};
use toile::mesh::{Mesh, shapes};
use toile::testing::conformance::{Check, Claim, Claims, conformance};

const ELASTIC: Claims =
    Claims { internal: true, conservative: true, stiffness: Claim::AtLeast, damping: Claim::Exact };
const OUTSIDE: Claims =
    Claims { internal: false, conservative: false, stiffness: Claim::Nothing, damping: Claim::Exact };

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let shape = shapes::sheet(0.3, 0.2, 5, 4, PATTERNS[5].1)?;
    let mesh = Mesh::new(shape.positions.len(), shape.faces, shape.rest)?;
    let x = &shape.positions;
    let fabric = Fabric {
        stretch: [900.0, 400.0],
        shear: 30.0,
        poisson: 0.3,
        bend: 2e-5,
        damping: 0.003,
        ..Fabric::default()
    };
    let mut all: Vec<(String, Vec<Check>)> = Vec::new();
    let mut hold = |name: &str, checks: Vec<Check>| all.push((name.to_string(), checks));
    for (name, strain) in [("membrane, green", Strain::Green), ("membrane, engineering", Strain::Engineering)]
    {
        hold(name, check(Membrane::elements(&mesh, &fabric, strain), x, ELASTIC));
    }
    let exact = Claims { stiffness: Claim::Exact, ..ELASTIC };
    hold("linear hinge", check(LinearHinge::elements(&mesh, &fabric), x, exact));
    for (name, tangent, stiffness) in [
        ("spring, safe tangent", Tangent::Safe, Claim::AtLeast),
        ("spring, exact tangent", Tangent::Exact, Claim::Exact),
        ("spring, paper's tangent", Tangent::Paper, Claim::Positive),
        ("spring, blend 0.1", Tangent::Blend(0.1), Claim::Positive),
        ("spring, isotropic", Tangent::Blend(1.0), Claim::AtLeast),
    ] {
        let claims = Claims { stiffness, ..ELASTIC };
        hold(name, check(Spring::elements(&mesh, &fabric, tangent), x, claims));
    }
    hold("air drag", check(AirDrag::elements(&mesh, 0.4), x, OUTSIDE));
    hold("wind", check(Wind::elements(&mesh, 0.4, 0.6), x, OUTSIDE));
    let pin =
        Hold { origin: DVec3::X, motion: Motion::still(), active: 0.0..1.0, stiffness: 50.0, damping: 0.2 };
    let attach = Attach::elements(x.len(), &[[0], [3]], vec![pin; 2]);
    hold("soft pin", check(attach, x, Claims { internal: false, ..exact }));

    let mut rows = Vec::new();
    let mut points = Vec::new();
    for (law, checks) in &all {
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

fn check<const P: usize, const G: usize, L: Law<P, G>>(
    mut elements: Elements<P, G, L>,
    rest: &[DVec3],
    claims: Claims,
) -> Vec<Check> {
    elements.drive(&Outside { time: 0.5, dt: 0.01, air: DVec3::new(3.0, 1.0, -2.0) });
    let mut worst: Vec<Check> = Vec::new();
    for (seed, amount) in [(1, 1e-4), (2, 0.005), (3, 0.02), (4, 0.1)] {
        let x: Vec<DVec3> = rest.iter().enumerate().map(|(i, p)| *p + shake(seed, i, amount)).collect();
        let v: Vec<DVec3> = (0..rest.len()).map(|i| shake(seed + 100, i, 1.0)).collect();
        for found in conformance(&elements, &x, &v, claims) {
            match worst.iter_mut().find(|c| c.name == found.name) {
                Some(c) => c.worst = c.worst.max(found.worst),
                None => worst.push(found),
            }
        }
    }
    worst
}
