//! What is wrong with a mesh, where, and what was done about it.

use serde::Serialize;
use std::fmt;

/// Elements of each kind of fault that are named one by one.
pub const NAMED: usize = 8;

/// What can be wrong with a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Several vertices are in one place: they become one particle.
    Coincident,
    /// A polygon names a vertex twice: the repeat counts once.
    RepeatedCorner,
    /// A polygon has no area: it is not simulated.
    NoArea,
    /// A polygon has a triangle thinner than a ten-thousandth of its length: its neighbour takes it over, or it is left out.
    Thin,
    /// A polygon joins the vertices of another, on the same side or the other: it is not simulated.
    Duplicate,
    /// A polygon is wound against its neighbours: it is turned.
    Flipped,
    /// More than two faces meet in an edge: all stay joined, the flattest pairs bend as one, the others turn freely.
    Branch,
    /// No choice of fronts agrees across an edge: it stays joined and does not resist bending.
    OneSided,
    /// Vertices of left out polygons alone: they go with the nearest corner.
    Stray,
    /// A polygon crosses itself: it is cut somehow.
    Crossing,
    /// Parts meet in a single vertex: they stay joined there.
    BowTie,
    /// A vertex belongs to no polygon: it stays where it is.
    Isolated,
}

impl Fault {
    /// Whether the mesh had to be changed for it.
    pub fn is_repair(self) -> bool {
        !matches!(self, Fault::Crossing | Fault::BowTie | Fault::Isolated)
    }

    /// The short name.
    pub fn code(self) -> &'static str {
        match self {
            Fault::Coincident => "coincident",
            Fault::RepeatedCorner => "repeated-corner",
            Fault::NoArea => "no-area",
            Fault::Thin => "thin",
            Fault::Duplicate => "duplicate",
            Fault::Flipped => "flipped",
            Fault::Branch => "branch",
            Fault::OneSided => "one-sided",
            Fault::Stray => "stray",
            Fault::Crossing => "crossing",
            Fault::BowTie => "bow-tie",
            Fault::Isolated => "isolated",
        }
    }

    /// What it is, for many.
    pub fn what(self) -> &'static str {
        match self {
            Fault::Coincident => "vertices where another is",
            Fault::RepeatedCorner => "polygons that name a vertex twice",
            Fault::NoArea => "polygons without area",
            Fault::Thin => "polygons with triangles thinner than 1e-4 of their length",
            Fault::Duplicate => "polygons that repeat another",
            Fault::Flipped => "polygons wound against their neighbours",
            Fault::Branch => "edges of more than two faces",
            Fault::OneSided => "edges of a surface that has one side only",
            Fault::Stray => "vertices of left out polygons alone",
            Fault::Crossing => "polygons that cross themselves",
            Fault::BowTie => "vertices that join parts without a common edge",
            Fault::Isolated => "vertices of no polygon",
        }
    }

    /// What is done about it.
    pub fn done(self) -> &'static str {
        match self {
            Fault::Coincident => "they move as one",
            Fault::RepeatedCorner => "the repeat counts once",
            Fault::NoArea | Fault::Duplicate => "they are not simulated and go with what is",
            Fault::Thin => "their neighbours take them over, or they are left out",
            Fault::Flipped => "they were turned",
            Fault::Branch => "all stay joined, the flattest pairs bend as one, the others turn freely",
            Fault::OneSided => "they stay joined and do not resist bending",
            Fault::Stray => "they go with the nearest corner",
            Fault::Crossing => "they are cut somehow",
            Fault::BowTie => "they stay joined there",
            Fault::Isolated => "they stay where they are",
        }
    }
}

/// A vertex, polygon or edge, counted from 1 as in OBJ files when it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// A vertex, counted from 0.
    Vertex(u32),
    /// A polygon, counted from 0.
    Polygon(u32),
    /// An edge by its vertices, counted from 0.
    Edge([u32; 2]),
}

impl Element {
    /// Its numbers, counted from 1 as in OBJ files.
    pub fn numbers(self) -> Vec<u32> {
        match self {
            Element::Vertex(v) | Element::Polygon(v) => vec![v + 1],
            Element::Edge([a, b]) => vec![a + 1, b + 1],
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Vertex(v) => write!(f, "vertex {}", v + 1),
            Element::Polygon(p) => write!(f, "polygon {}", p + 1),
            Element::Edge([a, b]) => write!(f, "edge {}–{}", a + 1, b + 1),
        }
    }
}

/// One kind of fault in a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What.
    pub fault: Fault,
    /// How many elements.
    pub count: u64,
    /// The first of them.
    pub first: Vec<Element>,
    /// Largest distance that anything moved by it [m].
    pub moved: f64,
    /// Area that is no longer simulated [m²].
    pub area: f64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first: Vec<String> = self.first.iter().take(3).map(Element::to_string).collect();
        let more = if self.count > first.len() as u64 { ", …" } else { "" };
        write!(f, "[{}] {}: {} ", self.fault.code(), self.fault.what(), self.count)?;
        write!(f, "({}{more}); {}", first.join(", "), self.fault.done())?;
        if self.moved > 0.0 {
            write!(f, ", moved by at most {:.2e} m", self.moved)?;
        }
        if self.area > 0.0 {
            write!(f, ", {:.2e} m² less", self.area)?;
        }
        Ok(())
    }
}

/// All that is wrong with a mesh, by kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// One for each kind of fault that there is, in order.
    pub all: Vec<Finding>,
}

impl Findings {
    /// Whether nothing had to be changed.
    pub fn is_sound(&self) -> bool {
        self.repairs().next().is_none()
    }

    /// What had to be changed.
    pub fn repairs(&self) -> impl Iterator<Item = &Finding> {
        self.all.iter().filter(|finding| finding.fault.is_repair())
    }

    /// One kind of fault, if there is any of it.
    pub fn get(&self, fault: Fault) -> Option<&Finding> {
        self.all.iter().find(|finding| finding.fault == fault)
    }

    fn of(&mut self, fault: Fault) -> &mut Finding {
        let place = self.all.partition_point(|finding| finding.fault < fault);
        if self.all.get(place).is_none_or(|finding| finding.fault != fault) {
            let new = Finding { fault, count: 0, first: Vec::new(), moved: 0.0, area: 0.0 };
            self.all.insert(place, new);
        }
        &mut self.all[place]
    }

    /// Counts an element. The triangles of a polygon come one after the other and count once.
    pub(super) fn add(&mut self, fault: Fault, element: Element, area: f64) {
        let finding = self.of(fault);
        finding.area += area;
        if finding.first.last() == Some(&element) {
            return;
        }
        finding.count += 1;
        if finding.first.len() < NAMED {
            finding.first.push(element);
        }
    }

    /// Counts a vertex that is now where another is.
    pub(super) fn moved(&mut self, fault: Fault, vertex: u32, distance: f64) {
        self.add(fault, Element::Vertex(vertex), 0.0);
        let finding = self.of(fault);
        finding.moved = finding.moved.max(distance);
    }

    /// As JSON, elements counted from 1.
    pub fn to_json(&self) -> serde_json::Value {
        let one = |f: &Finding| {
            let first: Vec<_> = f.first.iter().map(|e| e.numbers()).collect();
            serde_json::json!({
                "fault": f.fault.code(), "count": f.count, "first": first, "moved": f.moved, "area": f.area,
                "repaired": f.fault.is_repair(), "what": f.fault.what(), "done": f.fault.done(),
            })
        };
        self.all.iter().map(one).collect()
    }
}
