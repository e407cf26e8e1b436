//! Whatever is handed in, the checker answers; and it never passes what is broken.

use glam::DVec3;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Finding, Kind, VertexId};

use crate::support::{Mesh, Rng, wavy};

const WILD: [f64; 12] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    1e60,
    1e61,
    f64::MAX,
    5e-324,
    2.5e-308,
];

#[test]
fn never_panics_and_never_passes_what_is_not_finite() {
    let mut rng = Rng(31);
    for round in 0..5_000 {
        let surfaces: Vec<CheckSurface> = (0..rng.below(4))
            .map(|i| {
                let vertices = rng.below(12);
                let index =
                    |rng: &mut Rng| if rng.below(20) == 0 { rng.bits() as u32 } else { rng.below(12) as u32 };
                let faces =
                    (0..rng.below(16)).map(|_| [index(&mut rng), index(&mut rng), index(&mut rng)]).collect();
                CheckSurface::new(
                    format!("s{i}"),
                    if rng.below(2) == 0 { Kind::Cloth } else { Kind::Body },
                    vertices,
                    faces,
                )
            })
            .collect();
        let options =
            CheckOptions { bodies: rng.below(2) == 0, list: rng.below(5), ..CheckOptions::default() };
        let declared: Vec<usize> = surfaces.iter().map(|s| s.vertices).collect();
        let wrong_index =
            surfaces.iter().any(|s| s.faces.iter().flatten().any(|&v| v as usize >= s.vertices));
        let mut checker = Checker::new(surfaces, options).unwrap();
        let wild = rng.below(3);
        let value = |rng: &mut Rng| match wild {
            0 => WILD[rng.below(WILD.len())],
            1 => rng.between(-1.0, 1.0),
            _ => f64::from_bits(rng.bits()),
        };
        let mut frame = Vec::new();
        for &count in &declared {
            let given = if rng.below(10) == 0 { rng.below(12) } else { count };
            frame.push(
                (0..given)
                    .map(|_| DVec3::new(value(&mut rng), value(&mut rng), value(&mut rng)))
                    .collect::<Vec<_>>(),
            );
        }
        if rng.below(20) == 0 {
            frame.pop();
        }
        let slices: Vec<&[DVec3]> = frame.iter().map(Vec::as_slice).collect();
        let verdict = checker.check(&slices);
        let finite = frame.iter().flatten().all(|p| p.is_finite());
        let counts = frame.len() == declared.len() && frame.iter().zip(&declared).all(|(x, &n)| x.len() == n);
        assert!(!verdict.pass() || (finite && counts && !wrong_index), "round {round}");
        for finding in &verdict.findings {
            assert!(!checker.describe(*finding).to_string().is_empty());
        }
        if let Some(closest) = verdict.closest {
            assert!(!checker.describe(closest).to_string().is_empty());
        }
    }
}

#[test]
fn bad_vertices_are_named_and_the_rest_is_still_judged() {
    let mut rng = Rng(32);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e200] {
        let mut mesh = wavy(&mut rng);
        let f = mesh.faces.len() - 1;
        mesh.faces.push(mesh.faces[f]);
        let lone = mesh.faces[0][0];
        mesh.x[lone as usize].z = bad;
        let verdict = mesh.check();
        let vertex = VertexId { surface: 0, vertex: lone };
        assert!(verdict.findings.iter().any(|finding| match finding {
            Finding::NonFinite { vertex: v, value } | Finding::OutOfRange { vertex: v, value } => {
                *v == vertex && value.z.to_bits() == bad.to_bits()
            }
            _ => false,
        }));
        if !mesh.faces[f].contains(&lone) {
            assert_eq!(verdict.intersections(), 1, "the duplicate elsewhere is found too");
        }
        assert_eq!(verdict.closest, None);
    }
}

#[test]
fn broken_faces_are_named() {
    let x = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X * 2.0];
    let mesh = Mesh { x, faces: vec![[0, 1, 2], [0, 1, 9], [1, 1, 2], [0, 1, 3]] };
    let findings = mesh.check().findings;
    let face = |face| toile::collide::certify::FaceId { surface: 0, face };
    assert!(findings.contains(&Finding::BadIndex { face: face(1), index: 9 }));
    assert!(findings.contains(&Finding::RepeatedIndex { face: face(2) }));
    assert!(findings.contains(&Finding::ZeroArea { face: face(3) }));
    let empty = Checker::new(Vec::new(), CheckOptions::default()).unwrap().check(&[]);
    assert!(empty.pass() && empty.closest.is_none());
}

#[test]
fn too_many_vertices_are_refused() {
    let surface = || CheckSurface::new("huge", Kind::Cloth, usize::MAX, Vec::new());
    let error = Checker::new(vec![surface(), surface()], CheckOptions::default()).err().unwrap();
    assert!(error.to_string().contains("vertices"));
}

/// A simulation that collapsed or exploded as a whole is told at once, however many faces it has.
#[test]
fn hopeless_frames_are_told_quickly() {
    let shape =
        toile::mesh::shapes::sheet(1.0, 1.0, 100, 100, toile::mesh::shapes::Pattern::Structured).unwrap();
    let faces = shape.faces.len();
    let surface = CheckSurface::new("cloth", Kind::Cloth, shape.positions.len(), shape.faces);
    let mut checker = Checker::new(vec![surface], CheckOptions::default()).unwrap();
    let frame = |value: DVec3| vec![value; shape.positions.len()];
    assert_eq!(checker.check(&[&frame(DVec3::ZERO)]).findings.len(), faces);
    assert_eq!(checker.check(&[&frame(DVec3::splat(0.3))]).findings.len(), faces);
    assert_eq!(checker.check(&[&frame(DVec3::NAN)]).findings.len(), shape.positions.len());
    let exploded: Vec<DVec3> = shape.positions.iter().map(|p| (*p + DVec3::ONE) * 1e40).collect();
    assert_eq!(checker.check(&[&exploded]).findings.len(), shape.positions.len());
    assert!(checker.check(&[&shape.positions]).pass(), "and the next good frame passes");
}
