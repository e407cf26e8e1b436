//! Wavefront OBJ: the mesh format everybody reads.
//!
//! Vertex order, polygons of any size, texture coordinates per corner, groups and loose edges are
//! kept as written: point caches, patterns and sewing all depend on them.

mod orient;
mod read;
mod triangulate;
mod write;

pub use orient::Orientation;
pub use read::Limits;
pub(crate) use triangulate::cut;
pub use triangulate::{MAX_CORNERS, Triangles};
pub use write::{ObjectRef, Precision, encode, write};

use crate::axes::Axes;
use glam::{DVec2, DVec3};
use std::collections::BTreeSet;
use std::ops::Range;

/// A corner without texture coordinate.
pub const NO_TEXCOORD: u32 = u32::MAX;

/// Polygons of any size, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polygons {
    /// Where each polygon's corners start; one more entry than polygons.
    starts: Vec<u32>,
    /// Vertex of each corner.
    vertices: Vec<u32>,
    /// Texture coordinate of each corner, or [`NO_TEXCOORD`]; empty when no corner has one.
    texcoords: Vec<u32>,
}

impl Default for Polygons {
    fn default() -> Self {
        Self { starts: vec![0], vertices: Vec::new(), texcoords: Vec::new() }
    }
}

impl Polygons {
    /// Polygons from corner counts and vertices. `None` if the counts do not add up to the corners,
    /// or texture coordinates are given but not one per corner.
    pub fn from_counts(counts: &[u32], vertices: Vec<u32>, texcoords: Vec<u32>) -> Option<Polygons> {
        let mut starts = Vec::with_capacity(counts.len() + 1);
        starts.push(0u32);
        let mut total = 0u32;
        for &n in counts {
            total = total.checked_add(n)?;
            starts.push(total);
        }
        let fits =
            vertices.len() == total as usize && (texcoords.is_empty() || texcoords.len() == vertices.len());
        fits.then_some(Polygons { starts, vertices, texcoords })
    }

    /// Triangles as polygons.
    pub fn from_triangles(triangles: &[[u32; 3]]) -> Polygons {
        let mut polygons = Polygons::default();
        for t in triangles {
            polygons.push(t, &[]);
        }
        polygons
    }

    /// Adds a polygon; `texcoords` is empty or one per corner.
    pub(crate) fn push(&mut self, vertices: &[u32], texcoords: &[u32]) {
        let known = !self.texcoords.is_empty();
        let given = texcoords.iter().any(|&t| t != NO_TEXCOORD);
        if given && !known {
            self.texcoords = vec![NO_TEXCOORD; self.vertices.len()];
        }
        self.vertices.extend_from_slice(vertices);
        if given {
            self.texcoords.extend_from_slice(texcoords);
        } else if known {
            self.texcoords.resize(self.vertices.len(), NO_TEXCOORD);
        }
        self.starts.push(self.vertices.len() as u32);
    }

    /// Number of polygons.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no polygon.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of corners of all polygons.
    pub fn corner_count(&self) -> usize {
        self.vertices.len()
    }

    /// Corners of a polygon, as positions in the corner arrays.
    pub fn corners(&self, polygon: usize) -> Range<usize> {
        self.starts[polygon] as usize..self.starts[polygon + 1] as usize
    }

    /// Vertices of a polygon, in order.
    pub fn vertices(&self, polygon: usize) -> &[u32] {
        &self.vertices[self.corners(polygon)]
    }

    /// Texture coordinates of a polygon's corners; empty when the mesh has none.
    pub fn texcoords(&self, polygon: usize) -> &[u32] {
        if self.texcoords.is_empty() { &[] } else { &self.texcoords[self.corners(polygon)] }
    }

    /// Every polygon's vertices.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|i| self.vertices(i))
    }

    /// Vertex of every corner.
    pub fn all_vertices(&self) -> &[u32] {
        &self.vertices
    }

    /// Texture coordinate of every corner; empty when there is none.
    pub fn all_texcoords(&self) -> &[u32] {
        &self.texcoords
    }

    /// Corners of each polygon.
    pub fn counts(&self) -> Vec<u32> {
        self.starts.windows(2).map(|w| w[1] - w[0]).collect()
    }

    /// Whether every polygon is a triangle.
    pub fn all_triangles(&self) -> bool {
        self.starts.windows(2).all(|w| w[1] - w[0] == 3)
    }

    /// Turns a polygon round.
    pub(crate) fn reverse(&mut self, polygon: usize) {
        let corners = self.corners(polygon);
        self.vertices[corners.clone()].reverse();
        if !self.texcoords.is_empty() {
            self.texcoords[corners].reverse();
        }
    }
}

/// A named group (`g`) or object (`o`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name.
    pub name: String,
    /// Its polygons.
    pub polygons: Vec<Range<u32>>,
}

/// A mesh as its file wrote it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Obj {
    /// Vertex positions [file units].
    pub positions: Vec<DVec3>,
    /// Texture coordinates; lengths in file units when they are a garment's flat pattern.
    pub texcoords: Vec<DVec2>,
    /// Polygons.
    pub polygons: Polygons,
    /// Loose edges (`l`): stitches, by the convention of Blender and ppf.
    pub edges: Vec<[u32; 2]>,
    /// Groups and objects in order of appearance.
    pub groups: Vec<Group>,
    /// What was repaired or is worth knowing, in words.
    pub notes: Vec<String>,
    /// Statements that were skipped (`vn`, `usemtl`, …) and how often.
    pub ignored: Vec<(String, u64)>,
}

impl Obj {
    /// A mesh of triangles.
    pub fn of_triangles(positions: Vec<DVec3>, faces: &[[u32; 3]]) -> Obj {
        Obj { positions, polygons: Polygons::from_triangles(faces), ..Obj::default() }
    }

    /// The vertices of a group, sorted.
    pub fn group_vertices(&self, name: &str) -> Option<Vec<u32>> {
        let group = self.groups.iter().find(|g| g.name == name)?;
        let mut vertices: Vec<u32> = group
            .polygons
            .iter()
            .flat_map(|range| range.clone())
            .flat_map(|p| self.polygons.vertices(p as usize).iter().copied())
            .collect();
        vertices.sort_unstable();
        vertices.dedup();
        Some(vertices)
    }

    /// Vertices that no polygon and no loose edge uses. They are no particles.
    pub fn unused_vertices(&self) -> Vec<u32> {
        let mut used = vec![false; self.positions.len()];
        let corners = self.polygons.all_vertices().iter();
        for &v in corners.chain(self.edges.as_flattened()) {
            if let Some(slot) = used.get_mut(v as usize) {
                *slot = true;
            }
        }
        (0..used.len() as u32).filter(|&v| !used[v as usize]).collect()
    }

    /// Lowest and highest corner of the box around all vertices [file units].
    pub fn bounds(&self) -> Option<(DVec3, DVec3)> {
        let first = *self.positions.first()?;
        Some(self.positions.iter().fold((first, first), |(lo, hi), &p| (lo.min(p), hi.max(p))))
    }

    /// The same mesh with positions in metres, Y up, and texture coordinates in metres.
    pub fn into_si(mut self, axes: Axes) -> Obj {
        self.positions.iter_mut().for_each(|p| *p = axes.point_in(*p));
        self.texcoords.iter_mut().for_each(|t| *t = DVec2::new(axes.length_in(t.x), axes.length_in(t.y)));
        self
    }

    /// Whether every corner has a texture coordinate, so that `rest = "uv"` is possible.
    pub fn has_all_texcoords(&self) -> bool {
        let all = self.polygons.all_texcoords();
        !all.is_empty() && !all.contains(&NO_TEXCOORD)
    }

    /// Names of all groups, sorted, for messages.
    pub fn group_names(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.groups.iter().map(|g| g.name.as_str()).collect();
        names.into_iter().collect()
    }
}
