//! A triangle surface that can be asked: what is nearest, what does a ray hit, is a point inside?
//!
//! One compact box tree serves all three. It is built once per topology and refitted when vertices move.

mod nearest;
mod ray;
mod winding;

use crate::math::DVec3;
use std::fmt;

pub use nearest::{Foot, nearest_on_triangle};
pub use ray::{Hit, Ray};

/// Faces in a leaf of the tree: fewer cost memory, more cost tests.
const LEAF: usize = 4;

/// Triangles over shared vertices with a box tree over them.
#[derive(Clone, Debug)]
pub struct Surface {
    positions: Vec<DVec3>,
    faces: Vec<[u32; 3]>,
    /// Faces in the order of the leaves.
    order: Vec<u32>,
    /// Parents before children; the left child follows its parent.
    nodes: Vec<Node>,
    moments: Vec<winding::Moments>,
}

/// A box, and either a run of faces or two children.
#[derive(Clone, Copy, Debug)]
struct Node {
    low: DVec3,
    high: DVec3,
    /// First of a leaf's faces in `order`; the right child of others.
    link: u32,
    /// Faces of a leaf; 0 for others.
    count: u32,
}

/// Why triangles make no surface.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named by the variant's own sentence")]
pub enum SurfaceError {
    /// There is no face.
    NoFaces,
    /// A face names a vertex that does not exist.
    IndexOutOfRange { face: usize, index: u32, vertices: usize },
    /// A coordinate is not a number, or beyond 1e30 m.
    BadPosition { vertex: usize },
    /// There are more or fewer positions than vertices.
    PositionCount { vertices: usize, positions: usize },
}

impl fmt::Display for SurfaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFaces => write!(f, "the surface has no face; give it at least one triangle"),
            Self::IndexOutOfRange { face, index, vertices } => write!(
                f,
                "face {face} names vertex {index}, but there are {vertices}; renumber or remove the face"
            ),
            Self::BadPosition { vertex } => {
                write!(f, "vertex {vertex} is not a finite position below 1e30 m; repair or remove it")
            }
            Self::PositionCount { vertices, positions } => {
                write!(f, "{positions} positions for {vertices} vertices; give one for each")
            }
        }
    }
}

impl std::error::Error for SurfaceError {}

impl Surface {
    /// Builds the tree over `faces` of vertices at `positions` [m]. Faces without area are accepted.
    pub fn new(positions: Vec<DVec3>, faces: Vec<[u32; 3]>) -> Result<Surface, SurfaceError> {
        if faces.is_empty() {
            return Err(SurfaceError::NoFaces);
        }
        for (face, corners) in faces.iter().enumerate() {
            if let Some(&index) = corners.iter().find(|&&v| v as usize >= positions.len()) {
                return Err(SurfaceError::IndexOutOfRange { face, index, vertices: positions.len() });
            }
        }
        check_positions(&positions)?;
        let order = (0..faces.len() as u32).collect();
        let mut surface = Surface { positions, faces, order, nodes: Vec::new(), moments: Vec::new() };
        surface.build();
        surface.fit();
        Ok(surface)
    }

    /// Moves the vertices [m] and refits the tree, without allocating. The tree stays the one of the first
    /// positions: answers do not depend on it, only their cost does.
    pub fn set_positions(&mut self, positions: &[DVec3]) -> Result<(), SurfaceError> {
        if positions.len() != self.positions.len() {
            let (vertices, positions) = (self.positions.len(), positions.len());
            return Err(SurfaceError::PositionCount { vertices, positions });
        }
        check_positions(positions)?;
        self.positions.copy_from_slice(positions);
        self.fit();
        Ok(())
    }

    /// Vertex positions [m].
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Corners of each face.
    pub fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// Corner positions of a face [m].
    pub fn corners(&self, face: u32) -> [DVec3; 3] {
        self.faces[face as usize].map(|v| self.positions[v as usize])
    }

    /// Lowest and highest coordinates of the faces [m].
    pub fn bounds(&self) -> (DVec3, DVec3) {
        (self.nodes[0].low, self.nodes[0].high)
    }

    /// Unit normal of a face by its winding; zero for a face without area.
    pub fn normal(&self, face: u32) -> DVec3 {
        let [a, b, c] = self.corners(face);
        (b - a).cross(c - a).normalize_or_zero()
    }

    /// Whether every edge is used as often in one direction as in the other: the surface encloses something.
    pub fn is_closed(&self) -> bool {
        let mut sides: Vec<(u32, u32, i32)> = Vec::with_capacity(3 * self.faces.len());
        for face in &self.faces {
            for k in 0..3 {
                let (a, b) = (face[k], face[(k + 1) % 3]);
                sides.push((a.min(b), a.max(b), if a < b { 1 } else { -1 }));
            }
        }
        sides.sort_unstable();
        sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).all(|same| same.iter().map(|s| s.2).sum::<i32>() == 0)
    }

    /// Splits at the median of the centres along their widest axis until leaves are small.
    fn build(&mut self) {
        let centres: Vec<DVec3> =
            (0..self.faces.len() as u32).map(|f| self.corners(f).into_iter().sum::<DVec3>() / 3.0).collect();
        let blank = Node { low: DVec3::ZERO, high: DVec3::ZERO, link: 0, count: 0 };
        // Ranges still to place, and the parent whose right child they are.
        let mut pending: Vec<(usize, usize, Option<usize>)> = vec![(0, self.faces.len(), None)];
        while let Some((first, last, parent)) = pending.pop() {
            let index = self.nodes.len();
            if let Some(parent) = parent {
                self.nodes[parent].link = index as u32;
            }
            if last - first <= LEAF {
                self.nodes.push(Node { link: first as u32, count: (last - first) as u32, ..blank });
                continue;
            }
            self.nodes.push(blank);
            let range = &mut self.order[first..last];
            let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
            for &f in range.iter() {
                low = low.min(centres[f as usize]);
                high = high.max(centres[f as usize]);
            }
            let axis = (high - low).max_position();
            let middle = (last - first) / 2;
            // The face number breaks ties, so the tree is a function of the input.
            range.select_nth_unstable_by(middle, |&a, &b| {
                centres[a as usize][axis].total_cmp(&centres[b as usize][axis]).then(a.cmp(&b))
            });
            pending.push((first + middle, last, Some(index)));
            pending.push((first, first + middle, None));
        }
        self.moments = vec![winding::Moments::default(); self.nodes.len()];
    }

    /// Boxes and moments from the leaves up.
    fn fit(&mut self) {
        for index in (0..self.nodes.len()).rev() {
            let node = self.nodes[index];
            let (low, high) = if node.count > 0 {
                let mut bounds = (DVec3::INFINITY, DVec3::NEG_INFINITY);
                for &f in self.leaf(&node) {
                    for p in self.corners(f) {
                        bounds = (bounds.0.min(p), bounds.1.max(p));
                    }
                }
                bounds
            } else {
                let (a, b) = (&self.nodes[index + 1], &self.nodes[node.link as usize]);
                (a.low.min(b.low), a.high.max(b.high))
            };
            self.nodes[index].low = low;
            self.nodes[index].high = high;
            self.moments[index] = self.moments_of(index);
        }
    }

    fn leaf(&self, node: &Node) -> &[u32] {
        &self.order[node.link as usize..(node.link + node.count) as usize]
    }
}

/// Levels of the largest tree: each is half of the one above, and faces have 32-bit numbers.
const LEVELS: usize = 34;

/// Nodes that a walk has still to see, on the stack of the caller: one per level and the one it is at.
struct Waiting<T> {
    nodes: [T; LEVELS],
    count: usize,
}

impl<T: Copy> Waiting<T> {
    fn from(first: T) -> Waiting<T> {
        Waiting { nodes: [first; LEVELS], count: 1 }
    }

    fn push(&mut self, node: T) {
        self.nodes[self.count] = node;
        self.count += 1;
    }

    fn pop(&mut self) -> Option<T> {
        self.count = self.count.checked_sub(1)?;
        Some(self.nodes[self.count])
    }
}

fn check_positions(positions: &[DVec3]) -> Result<(), SurfaceError> {
    let sound = |p: &DVec3| p.abs().max_element() <= 1e30 && p.is_finite();
    match positions.iter().position(|p| !sound(p)) {
        Some(vertex) => Err(SurfaceError::BadPosition { vertex }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
