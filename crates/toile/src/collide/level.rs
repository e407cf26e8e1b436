//! One level of a hierarchy, to look at (M03 Fig. 2).

use super::collider::{Facets, convex_hull};
use super::kdop::{Kdop, normals};
use super::shell::NONE;
use super::tree::Tree;
use crate::math::{DMat3, DVec3};

/// What one node of a hierarchy holds.
#[derive(Clone, Debug)]
pub struct Region {
    /// Its faces, ascending.
    pub faces: Vec<u32>,
    /// Its k-DOP as a polyhedron; nothing where it is flat.
    pub outline: Option<Facets>,
}

/// The nodes at `level` (the root is level 0), and leaves that end above it: together they hold every face once.
pub(super) fn regions<const S: usize>(tree: &Tree<S>, level: u32) -> Vec<Region> {
    let mut found = Vec::new();
    let mut open: Vec<(u32, u32)> = if tree.nodes().is_empty() { Vec::new() } else { vec![(0, 0)] };
    while let Some((n, depth)) = open.pop() {
        let node = tree.nodes()[n as usize];
        if depth < level && node.len > 0 {
            open.extend((node.first..node.first + node.len).rev().map(|child| (child, depth + 1)));
        } else {
            let outline = outline(&tree.boxes()[n as usize]);
            found.push(Region { faces: faces_below(tree, n), outline });
        }
    }
    found.retain(|region| !region.faces.is_empty());
    found
}

fn faces_below<const S: usize>(tree: &Tree<S>, root: u32) -> Vec<u32> {
    let (mut faces, mut open) = (Vec::new(), vec![root]);
    while let Some(n) = open.pop() {
        let node = tree.nodes()[n as usize];
        match node.len {
            0 if node.first == NONE => {}
            0 => faces.push(node.first),
            _ => open.extend(node.first..node.first + node.len),
        }
    }
    faces.sort_unstable();
    faces
}

/// The polyhedron: every point where three of its planes meet and that no other plane cuts off.
fn outline<const S: usize>(dop: &Kdop<S>) -> Option<Facets> {
    let size = f64::from(dop.size()).max(f64::MIN_POSITIVE);
    let planes: Vec<(DVec3, f64)> = (0..S)
        .flat_map(|i| {
            let n = DVec3::from_array(normals::<S>()[i]);
            [(n, f64::from(dop.hi[i])), (-n, -f64::from(dop.lo[i]))]
        })
        .collect();
    let mut corners: Vec<DVec3> = Vec::new();
    for (a, first) in planes.iter().enumerate() {
        for (b, second) in planes.iter().enumerate().skip(a + 1) {
            for third in &planes[b + 1..] {
                let rows = DMat3::from_cols(first.0, second.0, third.0).transpose();
                if rows.determinant().abs() < 1e-6 {
                    continue;
                }
                let x = rows.inverse() * DVec3::new(first.1, second.1, third.1);
                let kept = planes.iter().all(|(n, limit)| n.dot(x) <= limit + 1e-6 * size);
                if kept && corners.iter().all(|c| c.distance(x) > 1e-5 * size) {
                    corners.push(x);
                }
            }
        }
    }
    convex_hull(&corners).ok()
}

#[cfg(test)]
mod tests {
    use super::super::{Detector, Dop, Role, Search, Settings, Shell};
    use super::*;
    use crate::mesh::{Pattern, shapes};

    #[test]
    fn every_level_holds_every_face_once_inside_its_box() {
        let sheet =
            shapes::sheet(1.0, 1.0, 12, 12, Pattern::Jittered { amount: 0.2, seed: 3 }).expect("sheet");
        let mut x = sheet.positions.clone();
        x.iter_mut().for_each(|p| p.y = 0.3 * p.x * p.x - 0.2 * p.z);
        for dop in [Dop::K6, Dop::K8, Dop::K12, Dop::K14, Dop::K18, Dop::K26] {
            let mut detector = Detector::new(Settings { dop, arity: 4, search: Search::Trees });
            let surface = Shell::new(x.len(), sheet.faces.clone(), Role::Cloth).expect("surface");
            let object = detector.add(surface, &x).expect("positions");
            for level in 0..4 {
                let regions = detector.level(object, level).expect("object");
                let mut all: Vec<u32> = regions.iter().flat_map(|r| r.faces.clone()).collect();
                all.sort_unstable();
                assert!(all.iter().copied().eq(0..sheet.faces.len() as u32), "{dop:?}, level {level}");
                for region in &regions {
                    let hull = region.outline.as_ref().expect("a box with volume");
                    let middle = hull.positions.iter().sum::<DVec3>() / hull.positions.len() as f64;
                    for v in region.faces.iter().flat_map(|f| sheet.faces[*f as usize]) {
                        for face in &hull.faces {
                            let [a, b, c] = face.map(|k| hull.positions[k as usize]);
                            let n = (b - a).cross(c - a).normalize_or_zero();
                            assert!(n.dot(middle - a) < 1e-9, "faces look out");
                            assert!(n.dot(x[v as usize] - a) < 1e-4, "{dop:?}, level {level}: {v} outside");
                        }
                    }
                }
            }
        }
    }
}
