//! Bodies faster than the contact response can follow sweep free cloth along instead of going through it.

use glam::{DMat3, DVec3};
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Kind};
use toile::collide::collider::{Body, Collider, Form};
use toile::drive::{Motion, Transform};
use toile::mesh::{Mesh, Pattern, shapes};
use toile::{Cloth, ContactSettings, Fabric, Obstacle, Probe, Setup, World};

const STEP: f64 = 1.0 / 90.0;
const STEPS: usize = 6;

/// Sheets of 11 × 11 vertices above each other, and a body that comes from below at `speed` [m/s].
fn struck(sheets: usize, form: Form, speed: f64) -> World {
    let fabric = Fabric::isotropic(0.1, 1300.0, 0.3, 2e-6);
    let sheet = |k: usize| {
        let made = shapes::sheet(0.8, 0.8, 10, 10, Pattern::Alternating).expect("a sheet");
        let mesh = Mesh::new(made.positions.len(), made.faces, made.rest).expect("a mesh");
        let place = |p: &DVec3| *p + DVec3::new(-0.4, 0.003 * k as f64, -0.4);
        Cloth::new(&format!("sheet{k}"), mesh, made.positions.iter().map(place).collect(), fabric)
    };
    let time = STEP * STEPS as f64;
    let motion = Motion::straight([DVec3::ZERO, DVec3::Y * speed * time], [0.0, time]);
    let stand = Transform { matrix: DMat3::from_rotation_x(0.6), offset: DVec3::new(0.05, -0.3, 0.02) };
    let collider = Collider::standing(Body::Form(form), stand, motion, 5e-3).expect("a body");
    World::new(Setup {
        cloths: (0..sheets).map(sheet).collect(),
        bodies: vec![Obstacle { name: "body".into(), collider }],
        contact: ContactSettings::default(),
        gravity: DVec3::ZERO,
        substeps: 1,
        ..Setup::default()
    })
    .expect("a world")
}

fn checked(world: &World) -> bool {
    let cloths = world
        .cloths()
        .iter()
        .map(|c| CheckSurface::new(c.name.clone(), Kind::Cloth, c.mesh.vertices(), c.mesh.faces().to_vec()));
    let bodies = world.bodies().iter().map(|b| {
        let facets = b.collider.facets();
        CheckSurface::new(b.name.clone(), Kind::Body, facets.positions.len(), facets.faces.clone())
    });
    let mut checker =
        Checker::new(cloths.chain(bodies).collect(), CheckOptions::default()).expect("a checker");
    let cloths = (0..world.cloths().len()).map(|c| world.positions(c));
    let all: Vec<Vec<DVec3>> =
        cloths.chain(world.bodies().iter().map(|b| b.collider.positions().to_vec())).collect();
    checker.check(&all.iter().map(Vec::as_slice).collect::<Vec<_>>()).pass()
}

#[test]
fn a_fast_body_takes_free_cloth_along() {
    let cube = Form::Box { size: DVec3::splat(0.2) };
    let needle = Form::Cone { radius_bottom: 0.05, radius_top: 0.0, height: 0.3 };
    for (sheets, form, speed) in [(1, cube, 36.0), (1, needle, 36.0), (3, cube, 36.0)] {
        let mut world = struck(sheets, form, speed);
        for step in 0..STEPS {
            world.step(STEP, &mut Probe::default()).expect("a step");
            let through = world.take_releases().len();
            assert_eq!(through, 0, "{sheets} sheets, {}: let through in step {step}", form.name());
            assert!(checked(&world), "{sheets} sheets, {}: step {step} intersects", form.name());
        }
        let high = world.positions(0).iter().fold(f64::NEG_INFINITY, |h, p| h.max(p.y));
        assert!(high > 1.5, "{sheets} sheets, {}: taken along to {high} m only", form.name());
    }
}
