//! The exact checker: one frame of any tool's cache, finite → topology → every pair of faces.
//!
//! It shares no code with the contact filter it judges. "Zero intersections" means: no vertex is NaN or infinite, no
//! face is degenerate, and no two faces have anything in common but the vertices they share, decided by exact
//! predicates on the stored values. Neighbours are judged like any other pair: a face folded flat on the next one, or
//! pushed through a face it shares a vertex with, is found. Faces are closed sets: touching exactly counts.
//!
//! Bodies are judged against cloth but, unless asked, not by themselves or against one another: scanned and animated
//! bodies overlap at the armpits, and that is no fault of the cloth.
//!
//! What a frame cannot show: cloth that passed through something *between* two frames and came out clean; that is what
//! [`SideTest`] is for. Seams that are closed but not welded (two vertices at one place) touch, and are reported.
//!
//! The cost is that of the overlapping face boxes: some milliseconds for 10,000 vertices, quadratic when every face
//! lies on every other. Neighbours are settled vertex by vertex (`fans.rs`), most other pairs in f32 (`sketch.rs`);
//! only what those cannot tell apart reaches the exact predicates. In slow motion, most of what was apart in one frame
//! needs no look in the next (`reuse.rs`).
//!
//! ```
//! use toile::collide::certify::{Checker, CheckOptions, CheckSurface, Kind};
//! use toile::mesh::shapes::{Pattern, sheet};
//!
//! let cloth = sheet(1.0, 1.0, 10, 10, Pattern::Structured).unwrap();
//! let surface = CheckSurface::new("sheet", Kind::Cloth, cloth.positions.len(), cloth.faces);
//! let mut checker = Checker::new(vec![surface], CheckOptions::default()).unwrap();
//! let verdict = checker.check(&[&cloth.positions]);
//! assert!(verdict.pass());
//! assert!(verdict.min_distance().unwrap() > 0.07);
//! ```

mod arrange;
mod audit;
mod distance;
mod exact;
mod fans;
mod finding;
mod meet;
mod predicates;
mod reuse;
mod scan;
mod sides;
mod sketch;
mod tree;

use std::fmt;

use glam::DVec3;
use rayon::prelude::*;

pub use audit::{Audit, Audited, Met};
pub use finding::{ClosePair, Closest, EdgeId, FaceId, Finding, Meeting, Named, VertexId};
pub use sides::{Passage, SideTest, Sides};

use arrange::Pieces;
use fans::{Fans, Neighbours, neighbours};
use meet::Face;
use predicates::LARGEST;
use reuse::{Reuse, Way};
use scan::{Corner, Found, Hit, Nearest, Owned, Pair, Scan};
use sketch::{Sketch, Slab, View};
use tree::{Extent, NO_FACE, Tree};

/// Most vertices and most faces of one checker: what is declared is allocated, so a wrong header must not be believed.
const MOST: usize = 1 << 26;
/// Below this many faces per task, handing them to another thread costs more than it saves.
const GRAIN: usize = 1024;

/// What a surface is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Judged by itself and against everything.
    Cloth,
    /// Judged against cloth.
    Body,
}

/// A surface to judge: fixed faces over vertices that move.
#[derive(Clone, Debug)]
pub struct CheckSurface {
    /// Name used in findings.
    pub name: String,
    /// Cloth or body.
    pub kind: Kind,
    /// Number of vertices.
    pub vertices: usize,
    /// Vertex indices of each face.
    pub faces: Vec<[u32; 3]>,
}

impl CheckSurface {
    /// A surface of `vertices` vertices.
    pub fn new(name: impl Into<String>, kind: Kind, vertices: usize, faces: Vec<[u32; 3]>) -> CheckSurface {
        CheckSurface { name: name.into(), kind, vertices, faces }
    }
}

/// How much of the smallest distance to look for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distance {
    /// Not at all.
    Off,
    /// Only if no larger than this [m]; the cheaper the smaller.
    Within(f64),
    /// Whatever it is.
    Exact,
}

/// What to check and how much to list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckOptions {
    /// Smallest distance between features.
    pub distance: Distance,
    /// Judge bodies by themselves and against one another too (degenerate faces, duplicates, intersections).
    pub bodies: bool,
    /// Most intersections listed; the rest is counted. Bounds the memory a hopeless frame can take.
    pub list: usize,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions { distance: Distance::Exact, bodies: false, list: 65_536 }
    }
}

/// Why a checker could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError {
    /// What there is too much of.
    pub what: &'static str,
    /// How many were given.
    pub value: usize,
    /// How many are accepted.
    pub limit: usize,
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} to check, at most {}: check the surfaces in groups",
            self.value, self.what, self.limit
        )
    }
}

impl std::error::Error for CheckError {}

/// The judgement of one frame. The same for any number of threads and whatever was checked before.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Everything wrong with the frame: vertices, then topology, then faces, then intersections, each in order.
    pub findings: Vec<Finding>,
    /// Intersections beyond [`CheckOptions::list`].
    pub unlisted: usize,
    /// The closest vertex and face (apart from its own) or two edges (without a common vertex): measured in f64, to
    /// about 1e-15 of the coordinates. Neighbours count, so that it never exceeds the size of an element. Where
    /// faces cross it is the distance of their features, not zero. `None` when not asked for, when nothing is as
    /// close as asked, or when some vertex or face could not be judged.
    pub closest: Option<Closest>,
    /// Intersections that [`Checker::excuse`] took out.
    pub exempt: usize,
}

impl Verdict {
    /// Whether the frame is finite, well-formed and free of intersections.
    pub fn pass(&self) -> bool {
        self.findings.is_empty() && self.unlisted == 0
    }

    /// Distance of the closest pair [m].
    pub fn min_distance(&self) -> Option<f64> {
        self.closest.map(|closest| closest.distance)
    }

    /// Number of intersecting pairs of faces, unlisted ones included.
    pub fn intersections(&self) -> usize {
        let listed = self.findings.iter().filter(|f| matches!(f, Finding::Intersection { .. })).count();
        listed + self.unlisted
    }
}

/// Judges frame after frame of the same surfaces; keeps its tree and buffers.
pub struct Checker {
    options: CheckOptions,
    names: Vec<String>,
    surfaces: Vec<Span>,
    /// Faces whose indices exist, with vertices numbered over all surfaces.
    triangles: Vec<[u32; 3]>,
    ids: Vec<FaceId>,
    /// Whether a face is judged by itself: cloth always, bodies when asked.
    judged: Vec<bool>,
    owners: Vec<Owned>,
    topology: Vec<Finding>,
    x: Vec<DVec3>,
    /// Whether a vertex is finite and in range.
    sound: Vec<bool>,
    /// Boxes of single vertices.
    points: Vec<Extent>,
    fans: Fans,
    neighbours: Vec<Neighbours>,
    /// Whether the faces of a vertex are proven to lie apart from one another.
    fanned: Vec<bool>,
    pieces: Pieces,
    tree: Tree,
    /// The slot of each face in the tree.
    slots: Vec<u32>,
    /// Faces, their boxes and what they own, by slot.
    faces: Vec<Face>,
    sketches: Vec<Sketch>,
    /// One per block of four slots.
    slabs: Vec<Slab>,
    extents: Vec<Extent>,
    owned: Vec<Owned>,
    view: View,
    /// What each run of the search found in the last frame; kept for its memory.
    runs: Vec<Found>,
    reuse: Reuse,
    guess: Option<Pair>,
}

/// Where the vertices of a surface are.
struct Span {
    first: u32,
    vertices: usize,
    kind: Kind,
}

impl Checker {
    /// A checker for these surfaces. Broken faces are no error: every verdict reports them.
    pub fn new(surfaces: Vec<CheckSurface>, options: CheckOptions) -> Result<Checker, CheckError> {
        let total =
            |count: fn(&CheckSurface) -> usize| surfaces.iter().map(count).fold(0, usize::saturating_add);
        for (what, value) in [("vertices", total(|s| s.vertices)), ("faces", total(|s| s.faces.len()))] {
            if value > MOST {
                return Err(CheckError { what, value, limit: MOST });
            }
        }
        let mut checker = Checker::empty(options);
        for surface in surfaces {
            checker.add(surface);
        }
        checker.tree = Tree::new(checker.judged.clone());
        checker.slots = vec![0; checker.triangles.len()];
        checker.pieces = Pieces::new(&checker.triangles, checker.vertices());
        checker.owners = owners(&checker.triangles, checker.vertices());
        checker.fans = Fans::new(&checker.triangles, &checker.judged, checker.vertices());
        checker.neighbours = neighbours(&checker.pieces, &checker.judged, checker.vertices());
        checker.points = vec![Extent::EMPTY; checker.vertices()];
        checker.fanned = vec![false; checker.vertices()];
        Ok(checker)
    }

    /// Judges one frame: positions [m] of each surface, in the order of the surfaces.
    pub fn check(&mut self, positions: &[&[DVec3]]) -> Verdict {
        let mut findings = self.load(positions);
        self.prepare();
        findings.extend_from_slice(&self.topology);
        self.without_area(&mut findings);
        let complete = findings.is_empty();
        let within = self.within().filter(|_| complete);
        let (most, guess) = (self.options.list, self.guess);
        let start = within.map(|within| self.scan().start(within, guess));
        let way = self.way(start.map_or(0.0, |start| start.reach()));
        let mut runs = std::mem::take(&mut self.runs);
        let found = self.scan().search(most, start, (way, self.reuse.path()), &mut runs);
        if runs.iter().any(|run| run.crowded) {
            self.reuse.crowd();
            runs.iter_mut().for_each(Found::forget);
        }
        self.runs = runs;
        findings.extend(found.hits.iter().map(|hit| self.intersection(hit)));
        let closest = found.nearest.and_then(|nearest| self.closest(nearest));
        Verdict { findings, unlisted: found.total - found.hits.len(), closest, exempt: 0 }
    }

    /// Takes intersections out of a verdict that are known and allowed: those of bodies with faces and edges of cloth of which
    /// a vertex is `pinched`, which bodies are let through because they left it no room. Cloth that meets cloth is never
    /// excused.
    pub fn excuse(&self, verdict: &mut Verdict, pinched: impl Fn(VertexId) -> bool) {
        let flagged = |surface: u32, vertices: [u32; 3]| {
            vertices.into_iter().any(|vertex| pinched(VertexId { surface, vertex }))
        };
        let before = verdict.findings.len();
        verdict.findings.retain(|finding| {
            let Finding::Intersection { edge, face, .. } = finding else { return true };
            let kinds = [edge.surface, face.surface].map(|surface| self.surfaces[surface as usize].kind);
            let [a, b] = edge.vertices;
            match kinds {
                [Kind::Cloth, Kind::Body] => !flagged(edge.surface, [a, b, b]),
                [Kind::Body, Kind::Cloth] => !self.corners(*face).is_some_and(|v| flagged(face.surface, v)),
                _ => true,
            }
        });
        verdict.exempt += before - verdict.findings.len();
    }

    /// Takes intersections out of a verdict that are known and allowed: of an edge and a face that started through one another
    /// and are not clear yet, as `tangled` says by their vertices.
    pub fn excuse_tangled(
        &self,
        verdict: &mut Verdict,
        tangled: impl Fn([VertexId; 2], [VertexId; 3]) -> bool,
    ) {
        let before = verdict.findings.len();
        verdict.findings.retain(|finding| {
            let Finding::Intersection { edge, face, .. } = finding else { return true };
            let id = |surface: u32| move |vertex: u32| VertexId { surface, vertex };
            let corners = self.corners(*face).map(|vertices| vertices.map(id(face.surface)));
            !corners.is_some_and(|corners| tangled(edge.vertices.map(id(edge.surface)), corners))
        });
        verdict.exempt += before - verdict.findings.len();
    }

    /// The vertices of a face, as indices in its surface.
    fn corners(&self, face: FaceId) -> Option<[u32; 3]> {
        let at = self.ids.binary_search(&face).ok()?;
        let first = self.surfaces[face.surface as usize].first;
        Some(self.triangles[at].map(|v| v - first))
    }

    /// A finding or a close pair in words, with the names of its surfaces.
    pub fn describe<T>(&self, item: T) -> Named<'_, T> {
        Named { names: &self.names, item }
    }

    fn empty(options: CheckOptions) -> Checker {
        Checker {
            options,
            names: Vec::new(),
            surfaces: Vec::new(),
            triangles: Vec::new(),
            ids: Vec::new(),
            judged: Vec::new(),
            owners: Vec::new(),
            topology: Vec::new(),
            x: Vec::new(),
            sound: Vec::new(),
            points: Vec::new(),
            fans: Fans::default(),
            neighbours: Vec::new(),
            fanned: Vec::new(),
            pieces: Pieces::default(),
            tree: Tree::default(),
            slots: Vec::new(),
            faces: Vec::new(),
            sketches: Vec::new(),
            slabs: Vec::new(),
            view: View::new(DVec3::ZERO, DVec3::ZERO),
            extents: Vec::new(),
            owned: Vec::new(),
            runs: Vec::new(),
            reuse: Reuse::new(),
            guess: None,
        }
    }

    fn vertices(&self) -> usize {
        self.surfaces.last().map_or(0, |span| span.first as usize + span.vertices)
    }

    fn add(&mut self, surface: CheckSurface) {
        let first = self.vertices() as u32;
        let number = self.surfaces.len() as u32;
        let judged = self.options.bodies || surface.kind == Kind::Cloth;
        for (f, face) in surface.faces.iter().enumerate() {
            let id = FaceId { surface: number, face: f as u32 };
            if let Some(&index) = face.iter().find(|&&v| v as usize >= surface.vertices) {
                self.topology.push(Finding::BadIndex { face: id, index });
                continue;
            }
            let [a, b, c] = *face;
            if judged && (a == b || b == c || c == a) {
                self.topology.push(Finding::RepeatedIndex { face: id });
            }
            self.triangles.push(face.map(|v| first + v));
            self.ids.push(id);
            self.judged.push(judged);
        }
        self.names.push(surface.name);
        self.surfaces.push(Span { first, vertices: surface.vertices, kind: surface.kind });
    }

    /// Takes the positions in; reports what is missing, not finite or out of range.
    fn load(&mut self, positions: &[&[DVec3]]) -> Vec<Finding> {
        let mut findings = Vec::new();
        self.x.clear();
        self.sound.clear();
        for (s, span) in self.surfaces.iter().enumerate() {
            let (surface, given) = (s as u32, positions.get(s).copied().unwrap_or_default());
            if given.len() != span.vertices || s >= positions.len() {
                findings.push(Finding::WrongCount { surface, expected: span.vertices, given: given.len() });
            }
            for (v, &value) in given.iter().take(span.vertices).enumerate() {
                let vertex = VertexId { surface, vertex: v as u32 };
                let sound = value.is_finite() && value.abs().max_element() <= LARGEST;
                if !value.is_finite() {
                    findings.push(Finding::NonFinite { vertex, value });
                } else if !sound {
                    findings.push(Finding::OutOfRange { vertex, value });
                }
                self.x.push(value);
                self.sound.push(sound);
            }
            self.x.resize(span.first as usize + span.vertices, DVec3::ZERO);
            self.sound.resize(self.x.len(), false);
        }
        for (s, given) in positions.iter().enumerate().skip(self.surfaces.len()) {
            findings.push(Finding::WrongCount { surface: s as u32, expected: 0, given: given.len() });
        }
        findings
    }

    /// Fans of every vertex, and corners, plane and box of every face, in the slots of the tree.
    fn prepare(&mut self) {
        let (x, sound, fans) = (&self.x, &self.sound, &self.fans);
        let of = |(v, (point, fanned)): (usize, (&mut Extent, &mut bool))| {
            *point = if sound[v] { Extent::point(x[v]) } else { Extent::EMPTY };
            *fanned = fans.apart(v, x);
        };
        self.points.par_iter_mut().zip(&mut self.fanned).with_min_len(GRAIN).enumerate().for_each(of);
        let inside = self.x.iter().zip(&self.sound).filter(|(_, sound)| **sound);
        let (low, high) = inside
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), (p, _)| (low.min(*p), high.max(*p)));
        self.view = View::new(low, high);
        if !self.tree.built() {
            self.rebuild();
        }
        self.fill();
        self.reuse.advance(&self.x);
    }

    /// How to find the pairs within `reach` [m], and what it takes: the tree, where it is walked, and slabs.
    fn way(&mut self, reach: f64) -> Way {
        let mut boxes = self.extents.iter().zip(self.tree.order());
        let whole = boxes.all(|(extent, &face)| face == NO_FACE || !extent.is_empty());
        let way = self.reuse.way(reach, whole);
        if way != Way::Follow && self.tree.refit_nodes(&self.extents) {
            self.rebuild();
            self.fill();
            self.tree.refit_nodes(&self.extents);
        }
        let view = &self.view;
        let of = |(slab, faces): (&mut Slab, &[Sketch; 4])| *slab = Slab::new(faces, view);
        self.slabs.par_iter_mut().zip(self.sketches.as_chunks::<4>().0).with_min_len(GRAIN).for_each(of);
        way
    }

    /// Chooses new slots for the faces.
    fn rebuild(&mut self) {
        let points = &self.points;
        let of = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(|v| points[v as usize]);
            a.union(&b).union(&c)
        };
        let extents: Vec<Extent> = self.triangles.iter().map(of).collect();
        self.tree.build(&extents, &self.pieces);
        let size: f64 = extents.iter().map(|extent| f64::from(extent.longest())).sum();
        self.reuse.restart(size / extents.len().max(1) as f64);
        let slots = self.tree.order().len();
        self.faces.resize(slots, Face::new(0, [0; 3], [DVec3::ZERO; 3]));
        self.sketches.resize(slots, Sketch::NONE);
        self.slabs.resize(slots / 4, Slab::NONE);
        self.extents.resize(slots, Extent::EMPTY);
        self.owned.resize(slots, Owned::default());
        for (slot, &face) in self.tree.order().iter().enumerate().filter(|(_, face)| **face != NO_FACE) {
            self.owned[slot] = self.owners[face as usize];
            self.slots[face as usize] = slot as u32;
        }
        let slots = &self.slots;
        self.tree.bar(self.neighbours.iter().map(|n| {
            let [a, b] = n.faces;
            (slots[a as usize], slots[b as usize])
        }));
    }

    /// Fills the slots. An empty box keeps a face from being paired: where a vertex is not sound, and where cloth has
    /// collapsed (a frame of zeros would otherwise pair every face with every other).
    fn fill(&mut self) {
        let (x, sound, points) = (&self.x, &self.sound, &self.points);
        let (triangles, judged) = (&self.triangles, &self.judged);
        let view = &self.view;
        let of = |(((face, sketch), extent), &number): (((&mut Face, &mut Sketch), &mut Extent), &u32)| {
            if number == NO_FACE {
                *extent = Extent::EMPTY;
                return;
            }
            let triangle = triangles[number as usize];
            if !triangle.iter().all(|&v| sound[v as usize]) {
                *face = Face::new(number, triangle, [DVec3::ZERO; 3]);
                *extent = Extent::EMPTY;
                return;
            }
            *face = Face::new(number, triangle, triangle.map(|v| x[v as usize]));
            *sketch = Sketch::new(number, &face.x, face.plane.normal, view);
            let [a, b, c] = triangle.map(|v| points[v as usize]);
            *extent =
                if face.open || !judged[number as usize] { a.union(&b).union(&c) } else { Extent::EMPTY };
        };
        self.faces
            .par_iter_mut()
            .zip(&mut self.sketches)
            .zip(&mut self.extents)
            .zip(self.tree.order())
            .with_min_len(GRAIN)
            .for_each(of);
        self.tree.refit_blocks(&self.extents);
    }

    /// Faces that have collapsed; those that repeat a vertex are reported as such.
    fn without_area(&self, findings: &mut Vec<Finding>) {
        let first = findings.len();
        for (face, &f) in self.faces.iter().zip(self.tree.order()) {
            if face.open || f == NO_FACE || !self.judged[f as usize] {
                continue;
            }
            let [a, b, c] = face.vertices;
            let sound = face.vertices.iter().all(|&v| self.sound[v as usize]);
            if sound && a != b && b != c && c != a {
                findings.push(Finding::ZeroArea { face: self.ids[f as usize] });
            }
        }
        findings[first..].sort_unstable_by_key(|finding| match finding {
            Finding::ZeroArea { face } => Some(*face),
            _ => None,
        });
    }

    fn scan(&self) -> Scan<'_> {
        Scan {
            tree: &self.tree,
            faces: &self.faces,
            sketches: self.sketches.as_chunks::<4>().0,
            slabs: &self.slabs,
            view: self.view,
            extents: &self.extents,
            owned: &self.owned,
            slots: &self.slots,
            fanned: &self.fanned,
            neighbours: &self.neighbours,
        }
    }

    /// Up to where the smallest distance is looked for [m]; `None` where it is not.
    fn within(&self) -> Option<f64> {
        match self.options.distance {
            Distance::Off => None,
            Distance::Within(limit) => (limit >= 0.0).then_some(limit),
            Distance::Exact => Some(f64::INFINITY),
        }
    }

    /// Names the closest pair, and remembers it: in the next frame it will be close again.
    fn closest(&mut self, nearest: Nearest) -> Option<Closest> {
        self.guess = Some(nearest.pair?);
        let pair = match nearest.pair? {
            Pair::VertexFace(corner, face) => {
                ClosePair::VertexFace(self.vertex(corner), self.ids[face as usize])
            }
            Pair::EdgeEdge(a, b) => ClosePair::EdgeEdge(self.edge(a), self.edge(b)),
        };
        Some(Closest { distance: nearest.distance(), pair })
    }

    fn intersection(&self, hit: &Hit) -> Finding {
        let (of, other) = if hit.meet.first { (hit.a, hit.b) } else { (hit.b, hit.a) };
        let edge = self.edge(Corner { face: of, corner: hit.meet.corner as u32 });
        Finding::Intersection { kind: hit.meet.kind, edge, face: self.ids[other as usize] }
    }

    fn vertex(&self, at: Corner) -> VertexId {
        let surface = self.ids[at.face as usize].surface;
        let vertex =
            self.triangles[at.face as usize][at.corner as usize] - self.surfaces[surface as usize].first;
        VertexId { surface, vertex }
    }

    fn edge(&self, at: Corner) -> EdgeId {
        let FaceId { surface, face } = self.ids[at.face as usize];
        let first = self.surfaces[surface as usize].first;
        let (triangle, k) = (&self.triangles[at.face as usize], at.corner as usize);
        EdgeId { surface, face, vertices: [triangle[k] - first, triangle[(k + 1) % 3] - first] }
    }
}

/// Gives each vertex and each edge to the first face that has it.
fn owners(faces: &[[u32; 3]], vertices: usize) -> Vec<Owned> {
    let mut owned = vec![Owned::default(); faces.len()];
    let mut taken = vec![false; vertices];
    let mut edges = Vec::with_capacity(3 * faces.len());
    for (f, face) in faces.iter().enumerate() {
        for k in 0..3 {
            let (u, v) = (face[k], face[(k + 1) % 3]);
            owned[f].vertices[k] = !std::mem::replace(&mut taken[u as usize], true);
            edges.push((u.min(v), u.max(v), f, k));
        }
    }
    edges.sort_unstable();
    edges.dedup_by_key(|&mut (u, v, _, _)| (u, v));
    for (_, _, f, k) in edges {
        owned[f].edges[k] = true;
    }
    owned
}
