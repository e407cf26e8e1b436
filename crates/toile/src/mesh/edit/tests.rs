//! What edits keep: areas, counts, joints, and tables that say where everything came from.

mod fuzz;
mod known;
mod lines;

use super::*;
use crate::math::random::Dice;
use crate::math::{DVec2, DVec3};
use crate::mesh::shapes::{Pattern, Shape, sheet};
use crate::mesh::topology::doubled_area;
use crate::mesh::{Mesh, NONE};
use std::collections::BTreeSet;

pub(super) fn mesh_of(shape: &Shape) -> Mesh {
    Mesh::new(shape.positions.len(), shape.faces.clone(), shape.rest.clone()).expect("sound")
}

/// A unit square of n × n cells.
pub(super) fn square(n: usize, pattern: Pattern) -> (Mesh, Vec<DVec3>) {
    let shape = sheet(1.0, 1.0, n, n, pattern).expect("a sheet");
    (mesh_of(&shape), shape.positions)
}

/// V − E + F over the vertices that have faces.
pub(super) fn euler(mesh: &Mesh) -> i64 {
    let used: BTreeSet<u32> = mesh.faces().iter().flatten().copied().collect();
    used.len() as i64 - mesh.edges().len() as i64 + mesh.faces().len() as i64
}

/// The number of closed borders, of meshes without pinched vertices.
pub(super) fn loops(mesh: &Mesh) -> usize {
    let border: Vec<[u32; 2]> = mesh.edges().iter().filter(|e| e.is_border()).map(|e| e.ends).collect();
    let mut root: Vec<usize> = (0..mesh.vertices()).collect();
    for [a, b] in &border {
        let (a, b) = (draft::find(&mut root, *a as usize), draft::find(&mut root, *b as usize));
        root[a] = b;
    }
    let roots: BTreeSet<usize> = border.iter().map(|[a, _]| draft::find(&mut root, *a as usize)).collect();
    roots.len()
}

/// The place of a point of the flat unit square.
pub(super) fn place(mesh: &Mesh, x: f64, y: f64) -> Place {
    let p = DVec2::new(x, y);
    let weights = |r: &[DVec2; 3]| {
        let of = |a: DVec2, b: DVec2| (a - p).perp_dot(b - p) / doubled_area(r);
        [of(r[1], r[2]), of(r[2], r[0]), of(r[0], r[1])]
    };
    let least = |f: usize| weights(&mesh.rest()[f]).into_iter().fold(f64::INFINITY, f64::min);
    let best = (0..mesh.faces().len()).max_by(|&a, &b| least(a).total_cmp(&least(b))).expect("a face");
    let w = weights(&mesh.rest()[best]).map(|w| w.max(0.0));
    Place { face: best as u32, weights: w.map(|each| each / (w[0] + w[1] + w[2])) }
}

/// The smallest angle of a rest triangle [degrees].
pub(super) fn least_angle(r: &[DVec2; 3]) -> f64 {
    let at = |k: usize| {
        let (a, b) = (r[(k + 1) % 3] - r[k], r[(k + 2) % 3] - r[k]);
        libm::atan2(a.perp_dot(b).abs(), a.dot(b)).to_degrees()
    };
    at(0).min(at(1)).min(at(2))
}

/// Asserts what every edit must keep: a mesh that `Mesh::new` accepts, no vertex that pinches more fans than before, and
/// a table in range whose weights sum to 1.
pub(super) fn check(old: &Mesh, new: &Edited) {
    let Edited { mesh, remap } = new;
    let again = Mesh::new(mesh.vertices(), mesh.faces().to_vec(), mesh.rest().to_vec());
    assert!(again.is_ok(), "{}", again.expect_err("unsound"));
    assert_eq!(remap.vertices.len(), mesh.vertices());
    assert_eq!((remap.faces.len(), remap.density.len()), (mesh.faces().len(), mesh.faces().len()));
    assert!(remap.faces.iter().all(|&f| f == NONE || (f as usize) < old.faces().len()));
    assert!(remap.density.iter().all(|d| d.is_finite() && *d > 0.0));
    for origin in &remap.vertices {
        let weights = origin.weights();
        let sum: f64 = weights.iter().map(|part| part.1).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{origin:?}");
        assert!(
            weights.iter().all(|part| (part.0 as usize) < old.vertices() && part.1 > -1e-12),
            "{origin:?}"
        );
    }
    assert_eq!(pinched(mesh), 0);
}

/// How many vertices join faces that share no edge.
pub(super) fn pinched(mesh: &Mesh) -> usize {
    let draft = draft::Draft::new(mesh);
    (0..mesh.vertices() as u32).filter(|&v| draft.fans(v, &BTreeSet::new()).len() > 1).count()
}

/// Asserts that the vertices of a flat sheet lie where its charts say, by their origins.
pub(super) fn check_places(edited: &Edited, positions: &[DVec3]) -> Vec<DVec3> {
    let carried = edited.remap.carry(positions);
    for (face, rest) in edited.mesh.faces().iter().zip(edited.mesh.rest()) {
        for k in 0..3 {
            let p = carried[face[k] as usize];
            assert!((DVec2::new(p.x, p.z) - rest[k]).length() < 1e-12, "vertex {}: {p} {}", face[k], rest[k]);
        }
    }
    carried
}

/// A random place on a mesh.
pub(super) fn any_place(mesh: &Mesh, dice: &mut Dice) -> Place {
    let face = dice.below(mesh.faces().len()) as u32;
    // Now and then exactly on a vertex or an edge.
    let kind = dice.below(8);
    let w = [dice.unit(), dice.unit(), dice.unit()];
    let w = [w[0], if kind == 0 { 0.0 } else { w[1] }, if kind < 2 { 0.0 } else { w[2] }];
    let sum = w[0] + w[1] + w[2];
    let weights = if sum > 1e-3 { w.map(|each| each / sum) } else { [1.0, 0.0, 0.0] };
    Place { face, weights }
}
