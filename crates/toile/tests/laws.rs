//! Every law against the conformance suite, and the suite against laws that break their word.

use glam::{DMat3, DVec3};
use toile::forces::Wind;
use toile::interaction::{Elements, ForceModel, Law, Moment, Outside, Response, Sample};
use toile::mesh::{Mesh, Pattern, shapes};
use toile::testing::conformance::{Claim, Claims, conformance};
use toile::testing::laws::check_all;

#[test]
fn every_law_keeps_its_word() {
    let all = check_all();
    assert!(all.len() >= 11);
    for (law, checks) in all {
        assert!(!checks.is_empty(), "{law} was not checked");
        for check in checks {
            assert!(check.pass(), "{law}: {} is off by {:e}", check.name, check.worst);
        }
    }
}

/// A spring of stiffness 2 whose force, tangent or symmetry can be spoilt.
struct Spoilt {
    force: f64,
    stiffness: f64,
    sideways: f64,
}

impl Law<2, 1> for Spoilt {
    fn name(&self) -> &'static str {
        "spoilt"
    }

    fn respond(&self, _element: usize, at: &Sample<2, 1>) -> Response<1> {
        let g = at.gauge[0];
        Response {
            energy: g.length_squared(),
            force: [g * -self.force + DVec3::new(g.y, 0.0, 0.0) * self.sideways],
            stiffness: [[DMat3::IDENTITY * self.stiffness]],
            ..Response::ZERO
        }
    }
}

#[test]
fn the_suite_catches_laws_that_break_their_word() {
    let claims =
        |stiffness| Claims { internal: true, conservative: true, stiffness, damping: Claim::Nothing };
    let failing = |law: Spoilt, claim| -> Vec<&'static str> {
        let elements = Elements::new(2, &[[0, 1]], &[[[1.0, -1.0]]], law);
        let x = [DVec3::ZERO, DVec3::new(0.3, 0.5, -0.2)];
        let checks = conformance(&elements, Moment::new(&x, &[DVec3::ZERO; 2]), claims(claim));
        checks.iter().filter(|c| !c.pass()).map(|c| c.name).collect()
    };
    let good = || Spoilt { force: 2.0, stiffness: 2.0, sideways: 0.0 };
    assert!(failing(good(), Claim::Exact).is_empty());
    assert_eq!(failing(Spoilt { force: 2.1, ..good() }, Claim::Positive), ["force = −∇E"]);
    assert_eq!(failing(Spoilt { stiffness: 1.9, ..good() }, Claim::Exact), ["V = −∂φ/∂g"]);
    assert_eq!(failing(Spoilt { stiffness: 1.9, ..good() }, Claim::AtLeast), ["V ⪰ −∂φ/∂g"]);
    assert_eq!(failing(Spoilt { stiffness: -1.0, ..good() }, Claim::Positive), ["V ⪰ 0"]);
    let twisted = failing(Spoilt { sideways: 0.5, ..good() }, Claim::Positive);
    assert_eq!(twisted, ["force = −∇E", "Στ = 0", "turns with the cloth"]);
}

#[test]
fn the_wind_does_not_care_which_way_a_face_is_turned() {
    let shape = shapes::sheet(0.3, 0.2, 5, 4, Pattern::Delaunay { seed: 3 }).expect("shape");
    let x = shape.positions;
    let turned = shape.faces.iter().map(|f| [f[0], f[2], f[1]]).collect();
    let total = |faces: Vec<[u32; 3]>| {
        let mesh = Mesh::new(x.len(), faces, shape.rest.clone()).expect("mesh");
        let mut wind = Wind::elements(&mesh, 0.4, 0.6);
        wind.drive(&Outside { time: 0.0, dt: 0.01, air: DVec3::new(1.0, 2.0, 3.0) });
        let v = vec![DVec3::ZERO; x.len()];
        let force = |e: usize| wind.law.respond(e, &wind.sample(e, Moment::new(&x, &v))).force[0];
        (0..mesh.faces().len()).map(force).fold(DVec3::ZERO, |a, b| a + b)
    };
    let (front, back) = (total(shape.faces.clone()), total(turned));
    assert!(front.abs_diff_eq(back, 1e-14) && front.length() > 0.01, "{front} {back}");
}
