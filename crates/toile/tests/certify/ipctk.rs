//! The checker and PyPI's ipctk on the same meshes. Where they differ, the oracle says who is right.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use glam::DVec3;
use toile::collide::certify::Meeting;

use crate::oracle;
use crate::support::{Mesh, Rng, exact_plane, meeting, wavy};

/// Random pairs of meshes compared.
const PAIRS: usize = 1000;

fn joined(mut a: Mesh, b: Mesh) -> Mesh {
    let first = a.x.len() as u32;
    a.x.extend(b.x);
    a.faces.extend(b.faces.iter().map(|f| f.map(|v| v + first)));
    a
}

/// Two meshes, apart, crossing or touching: smooth ones, planes of exact coincidences, and loose faces on a grid.
fn random_pair(rng: &mut Rng, i: usize) -> Mesh {
    match i % 4 {
        0 => {
            let (a, mut b) = (exact_plane(rng), exact_plane(rng));
            let shift = DVec3::new(rng.below(9) as f64, rng.below(9) as f64, rng.below(9) as f64) * 0.25;
            b.x.iter_mut().for_each(|p| *p += shift - DVec3::ONE);
            joined(a, b)
        }
        1 => joined(loose_faces(rng), loose_faces(rng)),
        _ => {
            let (a, mut b) = (wavy(rng), wavy(rng));
            let (shift, size) = (rng.vector() * 0.6, rng.between(0.3, 1.0));
            b.x.iter_mut().for_each(|p| *p = *p * size + shift);
            joined(a, b)
        }
    }
}

/// Two faces with corners on a grid, now and then with a common vertex.
fn loose_faces(rng: &mut Rng) -> Mesh {
    let x =
        (0..6).map(|_| DVec3::new(rng.below(8) as f64, rng.below(8) as f64, rng.below(8) as f64)).collect();
    Mesh { x, faces: vec![[0, 1, 2], [[3, 4, 5], [2, 4, 5], [1, 0, 5]][rng.below(3)]] }
}

fn write_obj(path: &Path, mesh: &Mesh) {
    let mut text = String::new();
    for p in &mesh.x {
        // `{:?}` is the shortest text that reads back to the same bits.
        writeln!(text, "v {:?} {:?} {:?}", p.x, p.y, p.z).unwrap();
    }
    for [a, b, c] in &mesh.faces {
        writeln!(text, "f {} {} {}", a + 1, b + 1, c + 1).unwrap();
    }
    std::fs::write(path, text).unwrap();
}

/// Numbers of the meshes for which ipctk and our verdict differ, and what the script said.
fn compare(python: &str, name: &str, meshes: &[Mesh], ours: &[bool]) -> (Vec<usize>, String) {
    let folder: PathBuf = [env!("CARGO_TARGET_TMPDIR"), name].iter().collect();
    std::fs::create_dir_all(&folder).unwrap();
    let mut verdicts = String::new();
    for (i, (mesh, &fault)) in meshes.iter().zip(ours).enumerate() {
        write_obj(&folder.join(format!("{i}.obj")), mesh);
        writeln!(verdicts, "{i}.obj {}", u8::from(fault)).unwrap();
    }
    std::fs::write(folder.join("verdicts.txt"), verdicts).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/certify_ipctk.py");
    let output = Command::new(python).arg(script).arg(&folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{python} failed: {}", String::from_utf8_lossy(&output.stderr));
    // The names are the only quoted strings that end in .obj.
    let names = said.split('"').filter_map(|part| part.strip_suffix(".obj"));
    (names.map(|number| number.parse().unwrap()).collect(), said.trim().to_owned())
}

fn python() -> Option<String> {
    let python = std::env::var("TOILE_PYTHON").ok();
    if python.is_none() {
        println!("skipped: TOILE_PYTHON not set (cargo xtask test sets it)");
    }
    python
}

fn at_fault(mesh: &Mesh) -> bool {
    !oracle::meeting_faces(mesh).is_empty() || !oracle::collapsed(mesh).is_empty()
}

#[test]
fn agrees_with_ipctk_where_ipctk_is_right() {
    let Some(python) = python() else { return };
    let mut rng = Rng(1000);
    let meshes: Vec<Mesh> = (0..PAIRS).map(|i| random_pair(&mut rng, i)).collect();
    let ours: Vec<bool> = meshes.iter().map(|mesh| !mesh.check().pass()).collect();
    let (differing, said) = compare(&python, "ipctk-pairs", &meshes, &ours);
    println!("{} of {PAIRS} pairs at fault; ipctk: {said}", ours.iter().filter(|&&fault| fault).count());
    for &i in &differing {
        let findings = meshes[i].check().findings;
        println!("pair {i}: ours {:?}, ipctk the opposite", findings.first());
        assert_eq!(
            ours[i],
            at_fault(&meshes[i]),
            "pair {i}: ipctk is right and we are wrong: {:?}",
            meshes[i]
        );
    }
    println!(
        "{} agree, {} differ, the oracle confirms ours in all",
        PAIRS - differing.len(),
        differing.len()
    );
}

/// Faults that ipctk is known to overlook, in one mesh each.
fn blind_spots() -> Vec<(&'static str, Mesh)> {
    let mut rng = Rng(8);
    let mut base = || wavy(&mut rng);
    let spoilt = |mut mesh: Mesh, bad: f64| {
        mesh.x[1].y = bad;
        mesh
    };
    let mut duplicate = base();
    duplicate.faces.push(duplicate.faces[0]);
    let mut reversed = base();
    let [a, b, c] = reversed.faces[0];
    reversed.faces.push([b, a, c]);
    let x = vec![DVec3::ZERO, DVec3::X, DVec3::new(0.5, 0.0, 1.0), DVec3::new(0.5, 0.0, 0.5)];
    let folded = Mesh { x, faces: vec![[0, 1, 2], [1, 0, 3]] };
    let mut copied = base();
    copied.add_face(copied.corners(0));
    vec![
        ("NaN", spoilt(base(), f64::NAN)),
        ("infinite", spoilt(base(), f64::INFINITY)),
        ("duplicate face", duplicate),
        ("duplicate face, reversed", reversed),
        ("folded flat on its neighbour", folded),
        ("copy on other vertices", copied),
    ]
}

#[test]
fn sees_what_ipctk_does_not() {
    let spots = blind_spots();
    for (name, mesh) in &spots {
        assert!(!mesh.check().pass(), "{name}");
    }
    assert_eq!(meeting(&spots[4].1.check(), 0, 1), Some(Meeting::FoldedFlat));
    let Some(python) = python() else { return };
    for (name, mesh) in spots {
        let (missed, _) = compare(&python, "ipctk-blind", &[mesh], &[true]);
        println!("{name}: ours finds it, ipctk {}", if missed.is_empty() { "too" } else { "does not" });
    }
}
