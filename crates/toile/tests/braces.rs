//! Things that are more than a surface: springs between any of their vertices (V00-25).

use glam::{DVec2, DVec3};
use std::sync::Arc;
use toile::mesh::Mesh;
use toile::{Braces, Cloth, Fabric, Probe, RestShape, Setup, World};

const EDGE: f64 = 0.1;

fn cube(braced: bool) -> Cloth {
    let corner = |k: u32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * EDGE;
    let x: Vec<DVec3> = (0..8).map(corner).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let faces: Vec<[u32; 3]> = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
    let rest = faces.iter().map(|f| {
        let [a, b, c] = f.map(|v| x[v as usize]);
        let u = (b - a).normalize();
        let v = (c - a).reject_from(u).normalize();
        [DVec2::ZERO, DVec2::new((b - a).dot(u), 0.0), DVec2::new((c - a).dot(u), (c - a).dot(v))]
    });
    let mesh = Mesh::new(8, faces.clone(), rest.collect()).expect("a cube");
    let fabric = Fabric { damping: 4e-3, ..Fabric::isotropic(0.3, 2000.0, 0.3, 0.0) };
    let braces = Braces::across(&mesh, &x, 2000.0, 4e-3);
    // Twelve edges and six diagonals of its faces are in the mesh; six more of those and four through it are not.
    assert_eq!((mesh.edges().len(), braces.springs.len()), (18, 10));
    let mut cube = Cloth::new("cube", mesh, x, fabric);
    cube.rest_shape = RestShape::Start;
    if braced {
        cube.braces = Arc::new(braces);
    }
    cube
}

/// Largest change of a length across the cube, as a part of it, after it was squeezed and let go.
fn changed(braced: bool) -> f64 {
    let setup = Setup { cloths: vec![cube(braced)], gravity: DVec3::ZERO, ..Setup::default() };
    let mut world = World::new(setup).expect("a world");
    let x = world.positions(0);
    let rest = Braces::across(&world.cloths()[0].mesh, &x, 1.0, 0.0);
    for vertex in [0, 7] {
        let velocity = (x[7 - vertex] - x[vertex]) * 5.0;
        let edit = toile::Edit::Velocity { cloth: 0, vertex: vertex as u32, velocity };
        world.edit(&edit).expect("a blow");
    }
    let mut most = 0.0f64;
    for _ in 0..30 {
        world.step(1.0 / 240.0, &mut Probe::default()).expect("a frame");
        let x = world.positions(0);
        for brace in &rest.springs {
            let [a, b] = brace.ends.map(|v| x[v as usize]);
            most = most.max((a.distance(b) / brace.rest_length - 1.0).abs());
        }
    }
    let (_, _, momentum) = world.momentum();
    assert!(momentum.length() < 1e-12, "springs inside push nothing away: {momentum}");
    most
}

#[test]
fn braces_hold_a_thing_in_shape() {
    let (with, without) = (changed(true), changed(false));
    assert!(with < 0.5 * without, "{with} with, {without} without");
}

#[test]
fn braces_that_cannot_be_are_refused() {
    let mut bad = cube(true);
    let mut braces = (*bad.braces).clone();
    braces.springs[0].ends = [0, 99];
    braces.springs[1].stiffness = f64::NAN;
    bad.braces = Arc::new(braces);
    let error = World::new(Setup { cloths: vec![bad], ..Setup::default() }).err().expect("refused");
    assert_eq!(error.problems.len(), 2, "{error}");
}
