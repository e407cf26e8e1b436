//! Bodies that cloth must give way to: faster than the contact response can follow they sweep free cloth along instead of
//! going through it; closing, they press layers evenly.

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

/// Layers of a millimetre between plates, of which the upper comes down until they have an eighth of the room they need. Odd
/// ones are coarse: cloth meets cloth in more points than plates.
fn between_plates(layers: usize) -> World {
    let fabric = Fabric { thickness: 1e-3, ..Fabric::isotropic(0.2, 1000.0, 0.3, 1e-4) };
    let layer = |k: usize| {
        let cells = 6 - 2 * (k % 2);
        let made =
            shapes::sheet(0.2, 0.2, cells, cells, Pattern::Delaunay { seed: k as u64 }).expect("a layer");
        let mesh = Mesh::new(made.positions.len(), made.faces, made.rest).expect("a mesh");
        let turn = DMat3::from_rotation_y(0.12 * k as f64);
        let place =
            |p: &DVec3| turn * (*p - DVec3::new(0.1, 0.0, 0.1)) + DVec3::Y * (1.5e-3 * (k + 1) as f64);
        Cloth::new(&format!("layer{k}"), mesh, made.positions.iter().map(place).collect(), fabric)
    };
    let plate = |name: &str, height: f64, motion: Motion| {
        let body = Body::Form(Form::Box { size: DVec3::new(0.3, 0.02, 0.3) });
        let stand = Transform { offset: DVec3::Y * height, ..Transform::IDENTITY };
        Obstacle {
            name: name.into(),
            collider: Collider::standing(body, stand, motion, 1e-3).expect("a plate"),
        }
    };
    let [room, left] = [1.5e-3 * (layers + 1) as f64, 1e-3 * layers as f64 / 8.0];
    let down = Motion::straight([DVec3::ZERO, DVec3::Y * (left - room)], [0.0, 0.5]);
    World::new(Setup {
        cloths: (0..layers).map(layer).collect(),
        bodies: vec![plate("below", -0.01, Motion::still()), plate("above", room + 0.01, down)],
        contact: ContactSettings::default(),
        ..Setup::default()
    })
    .expect("a world")
}

#[test]
fn layers_between_plates_give_evenly() {
    let mut world = between_plates(8);
    let mut halved = 0;
    for frame in 0..36 {
        let mut probe = Probe::default();
        world.step(1.0 / 60.0, &mut probe).expect("a step");
        halved += probe.counters.halved;
        assert_eq!(world.take_releases().len(), 0, "a plate was let through in frame {frame}");
        assert!(checked(&world), "frame {frame} intersects");
    }
    // Forces that grow from step to step would throw layers aside, and halve steps by the hundred.
    assert!(halved < 40, "halved {halved} times");
    for cloth in 0..8 {
        let x = world.positions(cloth);
        let aside = (x.iter().sum::<DVec3>() / x.len() as f64).with_y(0.0).length();
        assert!(aside < 0.01, "layer {cloth} is {aside} m aside");
    }
}
