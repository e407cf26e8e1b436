//! From leaves to a mesh: what is done about midpoints that only one side of an edge knows (G-2).

use super::lattice::{self, Spot};
use super::tree::{Node, ascending, half, midpoints, quarters};
use super::{Closure, Face, Ground, LevelsError, Numbers};
use crate::math::DVec2;
use crate::mesh::Mesh;

/// The mesh that leaves make.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Closed {
    pub(super) mesh: Mesh,
    /// The leaf of each face.
    pub(super) owners: Vec<Face>,
    /// The corners of each face in the lattice of its base face.
    pub(super) spots: Vec<[Spot; 3]>,
    /// Vertices held half way between two others, and those two.
    pub(super) hanging: Vec<[u32; 3]>,
}

/// A corner of a face to be: its vertex, its spot, its material coordinates [m].
type Corner = (u32, Spot, DVec2);

/// The mesh of the leaves; each node is told which faces of the mesh it consists of.
pub(super) fn close(ground: &Ground, numbers: &Numbers, nodes: &mut [Node]) -> Result<Closed, LevelsError> {
    let (mut faces, mut rest, mut owners, mut spots) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut hanging = Vec::new();
    for f in 0..nodes.len() {
        let node = &nodes[f];
        if node.is_split() {
            continue;
        }
        let first = faces.len() as u32;
        let corners = [0, 1, 2].map(|k| (node.corners[k], node.spots[k], node.rest[k]));
        let mut add = |t: [Corner; 3]| {
            faces.push(t.map(|c| c.0));
            spots.push(t.map(|c| c.1));
            rest.push(t.map(|c| c.2));
            owners.push(f as Face);
        };
        match ground.closure {
            Closure::RedGreen => green(corners, middles(ground, numbers, node), &mut add),
            Closure::None | Closure::Halves => add(corners),
            Closure::Midpoint => {
                add(corners);
                hang(ground, numbers, node, &mut hanging);
            }
        }
        nodes[f].span = [first, faces.len() as u32];
    }
    spread(nodes);
    let bent = if ground.branched { bent(ground, nodes, &faces, &owners) } else { Vec::new() };
    let vertices = numbers.vertices();
    let mesh = match ground.branched {
        true => Mesh::branched(vertices, faces, rest, bent),
        false => Mesh::new(vertices, faces, rest),
    };
    // A vertex may hang on several faces where the mesh branches.
    hanging.sort_unstable();
    hanging.dedup();
    let hanging = hanging.into_iter().map(|(_, trio)| trio).collect();
    Ok(Closed { mesh: mesh.map_err(LevelsError::Mesh)?, owners, spots, hanging })
}

/// How many faces the mesh of the leaves has.
pub(super) fn count(ground: &Ground, numbers: &Numbers, nodes: &[Node]) -> usize {
    let leaves = nodes.iter().filter(|node| !node.is_split());
    match ground.closure {
        Closure::RedGreen => {
            leaves.map(|leaf| 1 + middles(ground, numbers, leaf).iter().flatten().count()).sum()
        }
        _ => leaves.count(),
    }
}

/// Split nodes consist of what their children consist of.
fn spread(nodes: &mut [Node]) {
    for f in (0..nodes.len()).rev() {
        if nodes[f].is_split() {
            let children = nodes[f].below().iter().map(|child| nodes[*child as usize].span);
            nodes[f].span = children.reduce(|first, last| [first[0], last[1]]).unwrap_or_default();
        }
    }
}

/// The vertices in the middle of a leaf's sides, where finer neighbours have one.
fn middles(ground: &Ground, numbers: &Numbers, node: &Node) -> [Option<u32>; 3] {
    if node.level == ground.most {
        return [None; 3];
    }
    midpoints(node.spots, lattice::midpoint).map(|spot| numbers.of(ground.place(node.base, spot)))
}

/// Cuts a leaf in as many triangles as use the midpoints `middle` of its sides; the leaf itself without any.
fn green(corners: [Corner; 3], middle: [Option<u32>; 3], add: &mut impl FnMut([Corner; 3])) {
    let at = |k: usize| {
        let (a, b) = (corners[k % 3], corners[(k + 1) % 3]);
        middle[k % 3].map(|number| (number, lattice::midpoint(a.1, b.1), half(a.2, b.2)))
    };
    let corner = |k: usize| corners[k % 3];
    match [at(0), at(1), at(2)] {
        [None, None, None] => add(corners),
        [Some(ab), Some(bc), Some(ca)] => quarters(corners, [ab, bc, ca]).into_iter().for_each(add),
        sides => {
            for k in 0..3 {
                match (sides[k], sides[(k + 1) % 3], sides[(k + 2) % 3]) {
                    (Some(m), None, None) => {
                        add([corner(k), m, corner(k + 2)]);
                        add([m, corner(k + 1), corner(k + 2)]);
                    }
                    (None, Some(m), Some(n)) => trisect([corner(k), corner(k + 1), corner(k + 2)], m, n, add),
                    _ => {}
                }
            }
        }
    }
}

/// Cuts the triangle p q r with midpoints m of q r and n of r p; the quadrilateral p q m n along its shorter diagonal.
fn trisect([p, q, r]: [Corner; 3], m: Corner, n: Corner, add: &mut impl FnMut([Corner; 3])) {
    if (m.2 - p.2).length_squared() <= (n.2 - q.2).length_squared() {
        add([p, q, m]);
        add([p, m, n]);
    } else {
        add([p, q, n]);
        add([q, m, n]);
    }
    add([n, m, r]);
}

/// Lists the vertices inside the sides of a leaf, each with the level at which it appears.
fn hang(ground: &Ground, numbers: &Numbers, node: &Node, hanging: &mut Vec<(u32, [u32; 3])>) {
    let corner = |k: usize| (node.corners[k % 3], node.spots[k % 3]);
    let mut waiting: Vec<_> = (0..3).map(|k| (node.level, corner(k), corner(k + 1))).collect();
    while let Some((level, p, q)) = waiting.pop() {
        let middle = lattice::midpoint(p.1, q.1);
        let found = || numbers.of(ground.place(node.base, middle));
        if let Some(m) = (level < ground.most).then(found).flatten() {
            let [low, high] = ascending(p.0, q.0);
            hanging.push((level + 1, [m, low, high]));
            waiting.extend([(level + 1, p, (m, middle)), (level + 1, (m, middle), q)]);
        }
    }
}

/// The pairs of faces that bend as one where the base mesh branches, from those of the base mesh.
fn bent(ground: &Ground, nodes: &[Node], faces: &[[u32; 3]], owners: &[Face]) -> Vec<[u32; 2]> {
    let mut pairs = ground.base.bent().to_vec();
    pairs.iter_mut().for_each(|pair| pair.sort_unstable());
    pairs.sort_unstable();
    let base = |face: u32| nodes[owners[face as usize] as usize].base;
    let mut sides: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * faces.len());
    for (f, face) in faces.iter().enumerate() {
        sides.extend((0..3).map(|k| (ascending(face[k], face[(k + 1) % 3]), f as u32)));
    }
    sides.sort_unstable();
    let mut bent = Vec::new();
    for group in sides.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
        for (i, &(_, f)) in group.iter().enumerate() {
            let others = group[i + 1..].iter().map(|side| side.1);
            bent.extend(
                others.filter(|&g| pairs.binary_search(&ascending(base(f), base(g))).is_ok()).map(|g| [f, g]),
            );
        }
    }
    bent
}
