//! Cloth made larger or smaller at rest, by a brush.

use super::line::check_place;
use super::{EditError, Edited, Place, Remap};
use crate::math::DVec2;
use crate::mesh::Mesh;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The strongest shrinking of one edit.
pub const SMALLEST_FACTOR: f64 = 0.5;
/// The strongest expanding of one edit.
pub const LARGEST_FACTOR: f64 = 2.0;

/// What stays when cloth changes its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The mass: larger cloth is thinner.
    #[default]
    Mass,
    /// The mass per area: larger cloth is heavier.
    Density,
}

/// Multiplies the lengths at rest of each face by its factor, clamped to [`SMALLEST_FACTOR`]–[`LARGEST_FACTOR`]; its area
/// changes by the square. Faces are scaled about their middles in their own charts, so that the warp keeps its direction.
pub fn resize(mesh: &Mesh, factors: &[f64], keep: Keep) -> Result<Edited, EditError> {
    let faces = mesh.faces().len();
    if factors.len() != faces {
        return Err(EditError::Count { what: "the list of factors", given: factors.len(), wanted: faces });
    }
    let sound = |f: &f64| f.is_finite() && *f > 0.0;
    if let Some(index) = factors.iter().position(|f| !sound(f)) {
        let (what, limit) = ("the factor of face", "finite and above 0");
        return Err(EditError::BadNumber { what, index, value: factors[index], limit });
    }
    let mut remap = Remap::identity(mesh.vertices(), faces);
    let mut rest = mesh.rest().to_vec();
    for (f, factor) in factors.iter().map(|f| f.clamp(SMALLEST_FACTOR, LARGEST_FACTOR)).enumerate() {
        // Faces that keep their size keep their bits.
        if factor != 1.0 {
            let middle = (rest[f][0] + rest[f][1] + rest[f][2]) / 3.0;
            rest[f] = rest[f].map(|p| middle + (p - middle) * factor);
            if keep == Keep::Mass {
                remap.density[f] = 1.0 / (factor * factor);
            }
        }
    }
    let (vertices, corners) = (mesh.vertices(), mesh.faces().to_vec());
    let mesh = match super::draft::branching(mesh) {
        Some(_) => Mesh::branched(vertices, corners, rest, mesh.bent().to_vec())?,
        None => Mesh::new(vertices, corners, rest)?,
    };
    Ok(Edited { mesh, remap })
}

/// Factors for [`resize`] that fade with the distance from a point over the cloth at rest: `factor` within `hardness`
/// (0–1) of the radius [m], 1 beyond it, smooth between.
///
/// The distance is measured to the middles of faces, over the faces between: exact where the cloth is flat at rest and
/// nothing is in the way.
pub fn brush(
    mesh: &Mesh,
    centre: Place,
    radius: f64,
    factor: f64,
    hardness: f64,
) -> Result<Vec<f64>, EditError> {
    check_place(mesh, "the centre of the brush", 0, &centre)?;
    let bad = |what, value, limit| Err(EditError::BadNumber { what, index: 0, value, limit });
    if !(radius.is_finite() && radius > 0.0) {
        return bad("the radius [m] of brush", radius, "finite and above 0");
    }
    if !(SMALLEST_FACTOR..=LARGEST_FACTOR).contains(&factor) {
        return bad("the factor of brush", factor, "between 0.5 and 2");
    }
    if !(0.0..=1.0).contains(&hardness) {
        return bad("the hardness of brush", hardness, "between 0 and 1");
    }
    let fade = |distance: f64| {
        let x = distance / radius;
        if x >= 1.0 {
            return 1.0;
        }
        let s = if x <= hardness { 0.0 } else { (x - hardness) / (1.0 - hardness) };
        // Equal steps of the weight are equal ratios, so shrinking undoes expanding.
        libm::pow(factor, 1.0 - s * s * (3.0 - 2.0 * s))
    };
    let reach = distances(mesh, &centre, radius);
    Ok((0..mesh.faces().len()).map(|f| fade(to_middle(mesh, &reach, &centre, f))).collect())
}

/// Distances [m] of the vertices from a point over the cloth at rest; infinite beyond `radius` and some edges.
fn distances(mesh: &Mesh, centre: &Place, radius: f64) -> Vec<f64> {
    let mut star = vec![Vec::new(); mesh.vertices()];
    for (f, face) in mesh.faces().iter().enumerate() {
        for &v in face {
            star[v as usize].push(f);
        }
    }
    let mut distance = vec![f64::INFINITY; mesh.vertices()];
    // Bits of numbers that are not negative are in their order.
    let mut heap: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
    let (face, rest) = (mesh.faces()[centre.face as usize], &mesh.rest()[centre.face as usize]);
    let point = middle_by(rest, centre.weights);
    for k in 0..3 {
        distance[face[k] as usize] = (rest[k] - point).length();
        heap.push(Reverse((distance[face[k] as usize].to_bits(), face[k])));
    }
    while let Some(Reverse((bits, v))) = heap.pop() {
        let here = f64::from_bits(bits);
        if here > distance[v as usize] {
            continue;
        }
        if here > radius {
            break;
        }
        for &f in &star[v as usize] {
            for corner in 0..3 {
                let x = mesh.faces()[f][corner] as usize;
                let d = over_face(&mesh.rest()[f], mesh.faces()[f], corner, &distance);
                // At an obtuse corner the way leads over an end that is farther: what has been passed may still become
                // less. Steps too small to matter would go on for long.
                if d < distance[x] * (1.0 - 1e-12) {
                    distance[x] = d;
                    heap.push(Reverse((d.to_bits(), x as u32)));
                }
            }
        }
    }
    distance
}

fn middle_by(rest: &[DVec2; 3], weights: [f64; 3]) -> DVec2 {
    rest[0] * weights[0] + rest[1] * weights[1] + rest[2] * weights[2]
}

/// The distance of a corner of a face by way of the other two.
fn over_face(rest: &[DVec2; 3], face: [u32; 3], corner: usize, distance: &[f64]) -> f64 {
    let [i, j] = [(corner + 1) % 3, (corner + 2) % 3];
    let ends = [distance[face[i] as usize], distance[face[j] as usize]];
    over_edge(rest[corner], [rest[i], rest[j]], ends)
}

/// The distance of a point seen over an edge, whose ends have these: from where the source lies if everything is laid
/// flat, as far as that can be seen through the edge.
fn over_edge(point: DVec2, [a, b]: [DVec2; 2], [near, far]: [f64; 2]) -> f64 {
    let around = (near + (point - a).length()).min(far + (point - b).length());
    let edge = b - a;
    let length = edge.length();
    if !(near.is_finite() && far.is_finite()) {
        return around;
    }
    let along = 0.5 * (length + (near * near - far * far) / length);
    let depth = (near * near - along * along).max(0.0).sqrt();
    let (x, y) = ((point - a).dot(edge) / length, (edge.perp_dot(point - a) / length).abs());
    // Where the line from the source to the point crosses the edge.
    let crossing = along + (x - along) * depth / (depth + y);
    if !(0.0..=length).contains(&crossing) {
        return around;
    }
    let straight = ((x - along) * (x - along) + (y + depth) * (y + depth)).sqrt();
    straight.min(around)
}

/// The distance of the middle of a face.
fn to_middle(mesh: &Mesh, distance: &[f64], centre: &Place, f: usize) -> f64 {
    let (rest, face) = (&mesh.rest()[f], mesh.faces()[f]);
    let middle = (rest[0] + rest[1] + rest[2]) / 3.0;
    if f == centre.face as usize {
        return (middle - middle_by(rest, centre.weights)).length();
    }
    let by = |k: usize| {
        let [i, j] = [k, (k + 1) % 3];
        over_edge(middle, [rest[i], rest[j]], [distance[face[i] as usize], distance[face[j] as usize]])
    };
    by(0).min(by(1)).min(by(2))
}
