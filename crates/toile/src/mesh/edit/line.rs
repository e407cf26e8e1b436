//! Lines over the cloth, through its faces: scored into the mesh, and opened.

use super::draft::{Draft, Ends, ends, find};
use super::layout::TOUCH;
use super::strip::through_strip;
use super::trace::{Step, in_chart};
use super::{EditError, Edited, Place};
use crate::math::DVec2;
use crate::mesh::Mesh;
use std::collections::BTreeSet;

/// Lines that cross an edge nearer to one of its ends than this part of it go through the end instead.
pub const SNAP: f64 = 0.15;
/// Faces made by a line have no angle at rest below this [degrees]: where one would, the line goes through a vertex instead.
pub const LEAST_ANGLE: f64 = 5.0;
/// The tangent of [`LEAST_ANGLE`].
const LEAST_TANGENT: f64 = 0.087_488_663_525_924;

/// A mesh with a line in its edges.
#[derive(Clone, Debug)]
pub struct Scored {
    /// The new mesh.
    pub edited: Edited,
    /// The edges of the line as they are on either side of it, ends in the same order: pairs to [`super::sew`] again. Both
    /// sides are the same where nothing opened.
    pub line: Vec<[[u32; 2]; 2]>,
    /// Where the line was moved to a vertex.
    pub snaps: Vec<Snap>,
}

/// A place where a line was moved, to keep slivers out of the mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snap {
    /// The vertex it goes through, in the new mesh.
    pub vertex: u32,
    /// How far it was moved, at rest [m].
    pub distance: f64,
}

/// Cuts the cloth along straight lines at rest from point to point, through the faces on the way.
///
/// Ends inside the cloth make a slit, ends on a border open it. Where the line crosses an earlier cut, or a hole in the
/// same panel, it goes on behind it; across a seam it goes on straight as if the panels lay flat next to each other,
/// scaled to fit where one is gathered or resized. Where cloth is not flat at rest, it is the shortest line in the faces
/// between the points. See [`score`] for what it does to faces.
pub fn cut(mesh: &Mesh, line: &[Place]) -> Result<Scored, EditError> {
    let (mut draft, line, snaps) = scored(mesh, line, "cut")?;
    let sides = sides(&draft, &line);
    if draft.open(&line) == 0 {
        return Err(EditError::NothingToOpen { edges: line.len() });
    }
    let line = sides.iter().map(|edge| edge.map(|(face, ends)| ends.map(|k| draft.faces[face][k]))).collect();
    Ok(Scored { edited: draft.finish()?, line, snaps })
}

/// A side of an edge: a face, and its corners at the ends of the edge.
type Side = (usize, [usize; 2]);

/// Both sides of each edge; on a border twice the same.
fn sides(draft: &Draft, line: &BTreeSet<Ends>) -> Vec<[Side; 2]> {
    let side = |edge: &Ends, face: u32| -> Option<Side> {
        Some((face as usize, [draft.corner(face, edge[0])?, draft.corner(face, edge[1])?]))
    };
    let both = |edge: &Ends| {
        let faces = draft.beside(edge[0], edge[1]);
        Some([side(edge, *faces.first()?)?, side(edge, *faces.last()?)?])
    };
    line.iter().filter_map(both).collect()
}

/// Like [`cut`] without opening: the line becomes edges of the mesh, with new vertices where it crosses others.
///
/// New faces have angles of at least [`LEAST_ANGLE`] at rest. To keep that, the line goes through a vertex where it
/// passes near one ([`SNAP`]) or where a face would become too thin; the result says where and by how much.
pub fn score(mesh: &Mesh, line: &[Place]) -> Result<Scored, EditError> {
    let (draft, line, snaps) = scored(mesh, line, "score")?;
    let line = line.into_iter().map(|edge| [edge; 2]).collect();
    Ok(Scored { edited: draft.finish()?, line, snaps })
}

fn scored(
    mesh: &Mesh,
    line: &[Place],
    what: &'static str,
) -> Result<(Draft, BTreeSet<Ends>, Vec<Snap>), EditError> {
    if line.len() < 2 {
        return Err(EditError::TooFew { what: "the line", given: line.len(), least: 2 });
    }
    for (index, place) in line.iter().enumerate() {
        check_place(mesh, "the line", index, place)?;
    }
    let charts = charts(mesh);
    let draft = Draft::unbranched(mesh, what)?;
    let mut knife = Knife { mesh, draft, snaps: Vec::new(), line: BTreeSet::new() };
    let points: Vec<u32> = line.iter().map(|place| knife.insert(place)).collect();
    for (k, pair) in points.windows(2).enumerate() {
        let [from, to] = [pair[0], pair[1]];
        let steps = knife
            .plan(&charts, from, to)
            .ok_or(EditError::NotJoined { points: [k, k + 1], faces: [line[k].face, line[k + 1].face] })?;
        knife.follow(from, &steps)?;
    }
    if knife.line.is_empty() {
        return Err(EditError::TooFew { what: "the line, moved to vertices,", given: 1, least: 2 });
    }
    Ok((knife.draft, knife.line, knife.snaps))
}

/// Refuses places that are not on the mesh.
pub(super) fn check_place(
    mesh: &Mesh,
    what: &'static str,
    index: usize,
    place: &Place,
) -> Result<(), EditError> {
    let faces = mesh.faces().len();
    if place.face as usize >= faces {
        return Err(EditError::NoFace { what, face: place.face, faces });
    }
    let sum = place.weights[0] + place.weights[1] + place.weights[2];
    let worst = place.weights.iter().copied().find(|w| !(-1e-6..=1.0 + 1e-6).contains(w));
    if let Some(value) = worst {
        return Err(EditError::BadNumber {
            what: "a weight of point",
            index,
            value,
            limit: "between 0 and 1",
        });
    }
    if (sum - 1.0).abs() > 1e-6 {
        return Err(EditError::BadNumber {
            what: "the sum of the weights of point",
            index,
            value: sum,
            limit: "1",
        });
    }
    Ok(())
}

/// Which chart each face belongs to: neighbours that give their common edge the same coordinates share one.
fn charts(mesh: &Mesh) -> Vec<u32> {
    let mut root: Vec<usize> = (0..mesh.faces().len()).collect();
    for edge in mesh.edges().iter().filter(|edge| !edge.is_border()) {
        let place = |face: u32, v: u32| {
            let corner = mesh.faces()[face as usize].iter().position(|&c| c == v).unwrap_or(0);
            mesh.rest()[face as usize][corner]
        };
        let [f, g] = edge.faces;
        let close = TOUCH * mesh.rest_length(edge);
        if edge.ends.iter().all(|&v| (place(f, v) - place(g, v)).length() <= close) {
            let (a, b) = (find(&mut root, f as usize), find(&mut root, g as usize));
            root[a.max(b)] = a.min(b);
        }
    }
    (0..root.len()).map(|f| find(&mut root, f) as u32).collect()
}

/// Whether a rest triangle has no angle below [`LEAST_ANGLE`].
fn stout(r: &[DVec2; 3]) -> bool {
    (0..3).all(|k| {
        let (a, b) = (r[(k + 1) % 3] - r[k], r[(k + 2) % 3] - r[k]);
        a.perp_dot(b).abs() >= LEAST_TANGENT * a.dot(b)
    })
}

/// A draft with a line growing in it.
struct Knife<'a> {
    mesh: &'a Mesh,
    draft: Draft,
    snaps: Vec<Snap>,
    line: BTreeSet<Ends>,
}

impl Knife<'_> {
    /// The vertex for a point of the line: a new one in its face or on an edge, or one that is near.
    fn insert(&mut self, place: &Place) -> u32 {
        let (face, weights) = self.locate(place);
        let corners = self.draft.faces[face as usize];
        let rest = self.draft.rest[face as usize];
        let order = |a: &usize, b: &usize| weights[*a].total_cmp(&weights[*b]).then(a.cmp(b));
        let (least, most) = ((0..3).min_by(order).unwrap_or(0), (0..3).max_by(order).unwrap_or(0));
        let point = rest[0] * weights[0] + rest[1] * weights[1] + rest[2] * weights[2];
        if weights[most] >= 1.0 - SNAP {
            return self.snap(corners[most], (point - rest[most]).length());
        }
        let parts = [0, 1, 2].map(|k| {
            let mut part = rest;
            part[k] = point;
            part
        });
        if weights[least] > SNAP && parts.iter().all(stout) {
            return self.draft.split_face(face, weights);
        }
        let [i, j] = [(least + 1) % 3, (least + 2) % 3];
        let t = weights[j] / (weights[i] + weights[j]);
        let vertex = self.on_edge(corners[i], corners[j], t);
        self.moved(vertex, (point - (rest[i] + (rest[j] - rest[i]) * t)).length());
        vertex
    }

    /// The face that a point of an old face lies in now, and its weights there.
    fn locate(&self, place: &Place) -> (u32, [f64; 3]) {
        let mut parts = self.draft.within(place.face).peekable();
        let whole = parts.next().unwrap_or(place.face);
        let tidy = |w: [f64; 3]| {
            let w = w.map(|w| w.max(0.0));
            w.map(|each| each / (w[0] + w[1] + w[2]))
        };
        if parts.peek().is_none() {
            return (whole, tidy(place.weights));
        }
        // All parts of a face keep its chart.
        let old = &self.mesh.rest()[place.face as usize];
        let point = (0..3).fold(DVec2::ZERO, |sum, k| sum + old[k] * place.weights[k]);
        let weights = |face: u32| {
            let r = &self.draft.rest[face as usize];
            let area = (r[1] - r[0]).perp_dot(r[2] - r[0]);
            let of = |a: DVec2, b: DVec2| (a - point).perp_dot(b - point) / area;
            [of(r[1], r[2]), of(r[2], r[0]), of(r[0], r[1])]
        };
        let inside = |w: &[f64; 3]| w[0].min(w[1]).min(w[2]);
        let mut best = (whole, weights(whole));
        for face in parts {
            let there = weights(face);
            if inside(&there) > inside(&best.1) {
                best = (face, there);
            }
        }
        (best.0, tidy(best.1))
    }

    /// The vertex where a line crosses an edge: a new one, or an end where it is near or a face would become too thin.
    fn on_edge(&mut self, a: u32, b: u32, t: f64) -> u32 {
        let halves = self.draft.halves(a, b, t);
        if (SNAP..=1.0 - SNAP).contains(&t) && !halves.is_empty() && halves.iter().all(stout) {
            let middle = self.draft.split_edge(a, b, t);
            if self.line.remove(&ends(a, b)) {
                // The line crosses itself.
                self.line.extend([ends(a, middle), ends(middle, b)]);
            }
            return middle;
        }
        let length = self.length(a, b);
        if t <= 0.5 { self.snap(a, t * length) } else { self.snap(b, (1.0 - t) * length) }
    }

    fn length(&self, a: u32, b: u32) -> f64 {
        let face = self.draft.beside(a, b).first().copied();
        let place = |v| face.and_then(|f| self.draft.corner(f, v).map(|k| self.draft.rest[f as usize][k]));
        place(a).zip(place(b)).map_or(0.0, |(p, q)| (q - p).length())
    }

    fn snap(&mut self, vertex: u32, distance: f64) -> u32 {
        self.moved(vertex, distance);
        vertex
    }

    fn moved(&mut self, vertex: u32, distance: f64) {
        let size = self.draft.star[vertex as usize].first().map_or(0.0, |&f| {
            let rest = &self.draft.rest[f as usize];
            (rest[1] - rest[0]).length()
        });
        if distance > TOUCH * size {
            self.snaps.push(Snap { vertex, distance });
        }
    }

    /// What the line from one vertex to another meets.
    fn plan(&self, charts: &[u32], from: u32, to: u32) -> Option<Vec<Step>> {
        if from == to {
            return Some(Vec::new());
        }
        if !self.draft.beside(from, to).is_empty() {
            return Some(vec![Step::Vertex(to)]);
        }
        in_chart(&self.draft, charts, from, to).or_else(|| through_strip(&self.draft, from, to))
    }

    /// Puts the line into the mesh.
    fn follow(&mut self, from: u32, steps: &[Step]) -> Result<(), EditError> {
        let mut runs: Vec<Vec<u32>> = vec![vec![from]];
        for step in steps {
            let vertex = match *step {
                Step::Gap => {
                    runs.push(Vec::new());
                    continue;
                }
                Step::Vertex(v) => v,
                Step::Edge(a, b, t) => self.on_edge(a, b, t),
            };
            if let Some(run) = runs.last_mut() {
                // A line that was moved may go somewhere and straight back: that is no cut.
                if run.len() > 1 && run[run.len() - 2] == vertex {
                    run.pop();
                } else if run.last() != Some(&vertex) {
                    run.push(vertex);
                }
            }
        }
        for pair in runs.iter().flat_map(|run| run.windows(2)) {
            if self.draft.beside(pair[0], pair[1]).is_empty() {
                return Err(EditError::NoEdge { what: "the line", edge: [pair[0], pair[1]] });
            }
            self.line.insert(ends(pair[0], pair[1]));
        }
        Ok(())
    }
}
