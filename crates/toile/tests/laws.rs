//! Every law against the conformance suite, on irregular meshes in random states.
#![cfg(feature = "testing")]

use glam::DVec3;
use toile::drive::{Key, Motion};
use toile::forces::attach::Hold;
use toile::forces::{AirDrag, Attach, Fabric, LinearHinge, Membrane, Spring, Strain, Tangent, Wind};
use toile::interaction::{Elements, ForceModel, Law, Outside};
use toile::math::random;
use toile::mesh::{Mesh, Pattern, shapes};
use toile::testing::conformance::{Claim, Claims, conformance};

fn mesh() -> (Mesh, Vec<DVec3>) {
    let shape = shapes::sheet(0.3, 0.2, 5, 4, Pattern::Delaunay { seed: 3 }).expect("shape");
    (Mesh::new(shape.positions.len(), shape.faces, shape.rest).expect("mesh"), shape.positions)
}

fn shaken(x: &[DVec3], seed: u64, amount: f64) -> Vec<DVec3> {
    let value = |i: usize, axis: u64| amount * random::signed(seed, 3 * i as u64 + axis);
    x.iter().enumerate().map(|(i, p)| *p + DVec3::new(value(i, 0), value(i, 1), value(i, 2))).collect()
}

fn hold<const P: usize, const G: usize, L: Law<P, G>>(mut elements: Elements<P, G, L>, claims: Claims) {
    let (_, rest) = mesh();
    let air = DVec3::new(3.0, 1.0, -2.0);
    elements.drive(&Outside { time: 0.5, dt: 0.01, air });
    // From nearly flat to crumpled, so that tension and compression both occur.
    for (seed, amount) in [(1, 1e-4), (2, 0.005), (3, 0.02), (4, 0.1)] {
        let x = shaken(&rest, seed, amount);
        let v = shaken(&vec![DVec3::ZERO; rest.len()], seed + 100, 1.0);
        for check in conformance(&elements, &x, &v, claims) {
            let law = elements.name();
            assert!(check.pass(), "{law}, shaken {amount}: {} is off by {:e}", check.name, check.worst);
        }
    }
}

fn fabric() -> Fabric {
    Fabric {
        stretch: [900.0, 400.0],
        shear: 30.0,
        poisson: 0.3,
        bend: 2e-5,
        damping: 0.003,
        ..Fabric::default()
    }
}

const ELASTIC: Claims =
    Claims { internal: true, conservative: true, stiffness: Claim::AtLeast, damping: Claim::Exact };

#[test]
fn green_membrane() {
    hold(Membrane::elements(&mesh().0, &fabric(), Strain::Green), ELASTIC);
}

#[test]
fn engineering_membrane() {
    hold(Membrane::elements(&mesh().0, &fabric(), Strain::Engineering), ELASTIC);
}

#[test]
fn linear_hinge() {
    let claims = Claims { stiffness: Claim::Exact, ..ELASTIC };
    hold(LinearHinge::elements(&mesh().0, &fabric()), claims);
}

#[test]
fn springs_with_each_tangent() {
    for (tangent, stiffness) in [
        (Tangent::Safe, Claim::AtLeast),
        (Tangent::Exact, Claim::Exact),
        (Tangent::Paper, Claim::Positive),
        (Tangent::Blend(0.1), Claim::Positive),
        (Tangent::Blend(1.0), Claim::AtLeast),
    ] {
        hold(Spring::elements(&mesh().0, &fabric(), tangent), Claims { stiffness, ..ELASTIC });
    }
}

#[test]
fn air_and_wind() {
    let claims =
        Claims { internal: false, conservative: false, stiffness: Claim::Nothing, damping: Claim::Exact };
    hold(AirDrag::elements(&mesh().0, 0.4), claims);
    hold(Wind::elements(&mesh().0, 0.4, 0.6), claims);
}

#[test]
fn soft_pins() {
    let motion = Motion {
        keys: vec![Key { time: 0.0, translate: DVec3::Y, rotate: DVec3::ZERO, scale: DVec3::ONE }],
        ..Motion::still()
    };
    let holds = vec![Hold { origin: DVec3::X, motion, active: 0.0..1.0, stiffness: 50.0, damping: 0.2 }; 2];
    let claims = Claims { internal: false, conservative: true, ..ELASTIC };
    let claims = Claims { stiffness: Claim::Exact, ..claims };
    let elements = Attach::elements(mesh().1.len(), &[[0], [3]], holds);
    // Still air and a still pin: at zero rate the force is the gradient.
    hold(elements, claims);
}

#[test]
fn the_wind_does_not_care_which_way_a_face_is_turned() {
    let (mesh, x) = mesh();
    let turned =
        Mesh::new(x.len(), mesh.faces().iter().map(|f| [f[0], f[2], f[1]]).collect(), mesh.rest().to_vec());
    let total = |mesh: &Mesh| {
        let mut wind = Wind::elements(mesh, 0.4, 0.6);
        wind.drive(&Outside { time: 0.0, dt: 0.01, air: DVec3::new(1.0, 2.0, 3.0) });
        let v = vec![DVec3::ZERO; x.len()];
        let at = toile::interaction::Moment { x: &x, v: &v };
        (0..mesh.faces().len())
            .map(|e| wind.law.respond(e, &wind.sample(e, at)).force[0])
            .fold(DVec3::ZERO, |a, b| a + b)
    };
    let (front, back) = (total(&mesh), total(&turned.expect("mesh")));
    assert!(front.abs_diff_eq(back, 1e-14) && front.length() > 0.01, "{front} {back}");
}
