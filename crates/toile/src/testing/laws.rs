//! Every law of the engine, with what it claims.

use super::conformance::{Check, Claim, Claims, conformance};
use crate::drive::Motion;
use crate::forces::attach::Hold;
use crate::forces::{
    AirDrag, Attach, CoupledOptions, Curve, DihedralHinge, Fabric, Halfway, LinearHinge, Masses, Membrane,
    Spring, Strain, Tangent, TriangleSpring, Wind, Yield,
};
use crate::interaction::{Elements, ForceModel, Law, Memory, Moment, Outside};
use crate::math::{DVec3, random};
use crate::mesh::{Mesh, Pattern, shapes};

const ELASTIC: Claims =
    Claims { internal: true, conservative: true, stiffness: Claim::AtLeast, damping: Claim::Exact };
const OUTSIDE: Claims =
    Claims { internal: false, conservative: false, stiffness: Claim::Nothing, damping: Claim::Exact };

/// How far particles are shaken [m], with the seed: from nearly flat to crumpled, so that tension and compression
/// both occur.
const STATES: [(u64, f64); 4] = [(1, 1e-4), (2, 0.005), (3, 0.02), (4, 0.1)];

/// Holds every law to its claims on an irregular mesh in several states; the worst of each check.
pub fn check_all() -> Vec<(&'static str, Vec<Check>)> {
    let shape = shapes::sheet(0.3, 0.2, 5, 4, Pattern::Delaunay { seed: 3 }).expect("a sound shape");
    let x = shape.positions;
    let mesh = &Mesh::new(x.len(), shape.faces, shape.rest).expect("a sound mesh");
    let fabric = &Fabric {
        stretch: [900.0.into(), 400.0.into()],
        shear: 30.0.into(),
        poisson: 0.3,
        bend: 2e-5.into(),
        damping: 0.003,
        ..Fabric::default()
    };
    // Crimp first, then yarn, with knees where the shaken states reach them, blunt enough for differences.
    let crimped = &Fabric {
        stretch: [Curve::bilinear(400.0, 0.1, 1200.0), Curve::bilinear(200.0, 0.2, 700.0)],
        shear: Curve::bilinear(20.0, 0.3, 60.0),
        ..*fabric
    };
    // Yarns that stick and slide, and springs that are pulled out of shape, within what the states reach.
    let remembering = &Fabric {
        shear_hysteresis: 2.0,
        shear_onset: 0.03,
        set: Some(Yield { limit: 0.02, hardening: 0.2 }),
        ..*fabric
    };
    let exact = Claims { stiffness: Claim::Exact, ..ELASTIC };
    let mut all = vec![
        ("membrane, green", check(Membrane::elements(mesh, fabric, Strain::Green), &x, ELASTIC)),
        ("membrane, engineering", check(Membrane::elements(mesh, fabric, Strain::Engineering), &x, ELASTIC)),
        ("membrane, green, curves", check(Membrane::elements(mesh, crimped, Strain::Green), &x, ELASTIC)),
        (
            "membrane, engineering, curves",
            check(Membrane::elements(mesh, crimped, Strain::Engineering), &x, ELASTIC),
        ),
        (
            "membrane, green, friction",
            check(Membrane::elements(mesh, remembering, Strain::Green), &x, ELASTIC),
        ),
        (
            "membrane, engineering, friction",
            check(Membrane::elements(mesh, remembering, Strain::Engineering), &x, ELASTIC),
        ),
        ("linear hinge", check(LinearHinge::elements(mesh, fabric), &x, exact)),
        (
            "dihedral hinge",
            check(
                DihedralHinge::elements(mesh, fabric),
                &x,
                Claims { stiffness: Claim::Positive, damping: Claim::Exact, ..ELASTIC },
            ),
        ),
        ("air drag", check(AirDrag::elements(mesh, 0.4), &x, OUTSIDE)),
        ("wind", check(Wind::elements(mesh, 0.4, 0.6), &x, OUTSIDE)),
    ];
    for (name, tangent, stiffness) in [
        ("spring, safe tangent", Tangent::Safe, Claim::AtLeast),
        ("spring, exact tangent", Tangent::Exact, Claim::Exact),
        ("spring, paper's tangent", Tangent::Paper, Claim::Positive),
        ("spring, blend 0.1", Tangent::Blend(0.1), Claim::Positive),
        ("spring, isotropic", Tangent::Blend(1.0), Claim::AtLeast),
    ] {
        let claims = Claims { stiffness, ..ELASTIC };
        all.push((name, check(Spring::elements(mesh, fabric, tangent), &x, claims)));
    }
    for (name, tangent, stiffness) in [
        ("spring with a set, safe tangent", Tangent::Safe, Claim::AtLeast),
        ("spring with a set, exact tangent", Tangent::Exact, Claim::Exact),
    ] {
        let claims = Claims { stiffness, ..ELASTIC };
        all.push((name, check(Spring::elements(mesh, remembering, tangent), &x, claims)));
    }
    // No energy: the paper's law by construction, the symmetric one because its matrix moves with the lengths.
    let coupled = Claims { conservative: false, stiffness: Claim::Positive, ..ELASTIC };
    for (name, masses, symmetric) in [
        ("coupled edges", Masses::Equal, true),
        ("coupled edges, all masses", Masses::Full, true),
        ("coupled edges, as printed", Masses::Equal, false),
        ("coupled edges, all masses, as printed", Masses::Full, false),
    ] {
        let options = CoupledOptions { masses, symmetric, alpha: Some(0.6) };
        all.push((name, check(TriangleSpring::elements(mesh, fabric, options), &x, coupled)));
    }
    let plain = CoupledOptions { alpha: Some(0.0), ..CoupledOptions::default() };
    all.push(("coupled edges, alpha 0", check(TriangleSpring::elements(mesh, fabric, plain), &x, ELASTIC)));
    let pin =
        Hold { origin: DVec3::X, motion: Motion::still(), active: 0.0..1.0, stiffness: 50.0, damping: 0.2 };
    let pins = Attach::elements(x.len(), &[[0], [3]], vec![pin; 2]);
    all.push(("soft pin", check(pins, &x, Claims { internal: false, ..exact })));
    let halfway = Halfway::elements(&[[2, 0, 4], [7, 2, 9]], &vec![1e-3; x.len()]);
    all.push(("half way between two others", check(halfway, &x, exact)));
    all
}

fn check<const P: usize, const G: usize, L: Law<P, G>>(
    mut elements: Elements<P, G, L>,
    rest: &[DVec3],
    claims: Claims,
) -> Vec<Check> {
    elements.drive(&Outside { time: 0.5, dt: 0.01, air: DVec3::new(3.0, 1.0, -2.0) });
    let mut worst: Vec<Check> = Vec::new();
    for (seed, amount) in STATES {
        let x: Vec<DVec3> = rest.iter().enumerate().map(|(i, p)| *p + shake(seed, i, amount)).collect();
        let v: Vec<DVec3> = (0..rest.len()).map(|i| shake(seed + 100, i, 1.0)).collect();
        let memory: Vec<Memory> =
            (0..elements.remembering()).map(|e| shake(seed + 200, e, 0.1).to_array()).collect();
        for found in conformance(&elements, Moment { x: &x, v: &v, memory: &memory }, claims) {
            match worst.iter_mut().find(|c| c.name == found.name) {
                Some(c) => c.worst = c.worst.max(found.worst),
                None => worst.push(found),
            }
        }
    }
    worst
}

/// A random vector with entries within ±`amount`.
pub fn shake(seed: u64, i: usize, amount: f64) -> DVec3 {
    let entry = |axis| amount * random::signed(seed, 3 * i as u64 + axis);
    DVec3::new(entry(0), entry(1), entry(2))
}
