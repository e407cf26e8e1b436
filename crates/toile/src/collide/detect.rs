//! Surfaces in motion in, sorted contacts out.
//!
//! A [`Detector`] holds [`Shell`]s, each with a hierarchy of k-DOPs. [`Detector::detect`] brings the hierarchies up to
//! date and reports every vertex–face and edge–edge pair within the contact distance: each pair once, sorted, the
//! same bits on any number of threads. It knows no masses and no forces. [`super::brute`] gives the same answer from
//! first principles; [`super::trial`] compares the two on random scenes.

use super::coherence::Tracking;
use super::engine::Engine;
use super::flatness::Curvature;
use super::kdop::Dop;
use super::level::Region;
use super::shell::Shell;
use crate::math::DVec3;
use std::fmt;

/// How hierarchies are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bounding volume.
    pub dop: Dop,
    /// Children per node: 2, 4 or 8 (M03-7). Other numbers become the next of these.
    pub arity: usize,
    /// What is walked.
    pub search: Search,
}

/// What a detector walks. The contacts are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Patches of sixteen faces in boxes, several times faster, for questions without curvature, lazy updates, tracking,
    /// oriented inflation and virtual particles. Such questions go to trees, which are built when first asked for.
    #[default]
    Patches,
    /// M03's trees down to single faces.
    Trees,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { dop: Dop::K6, arity: 4, search: Search::Patches }
    }
}

/// How boxes are made larger so that none of the pairs of a step is missed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Inflation {
    /// By ε/2 on all sides (M03-2): enough for positions at the start of the step.
    #[default]
    Still,
    /// By ε/2 + |v|Δt on all sides.
    Isotropic,
    /// By ε/2 on all sides and v̂Δt along the cone of velocities (M03-3, E21).
    Oriented {
        /// Speed [m/s] below which a vertex does not widen the cone; such vertices are covered on all sides.
        v_min: f64,
    },
    /// M03 eq. 1 as printed, for comparison. **Lossy**: misses pairs whenever the velocities of a face differ (E20–E22).
    OrientedAsPrinted,
    /// By ε/2 round both ends of every vertex's way: the tightest (M03-4).
    Swept,
}

impl Inflation {
    /// Whether pairs may be missed.
    pub fn is_lossy(self) -> bool {
        self == Inflation::OrientedAsPrinted
    }
}

/// Which pairs are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Report {
    /// Those whose boxes overlap: everything that could come within ε during the step, and more.
    Boxes,
    /// Those within ε at the start of the step.
    #[default]
    Start,
    /// Those within ε at its end.
    End,
    /// Those within ε at either end.
    Ends,
}

/// Which features are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Features {
    /// Vertices with faces and edges with edges: everything by which triangles can be close.
    #[default]
    All,
    /// Vertices with faces: what M03 compares itself with. Blind where edges cross (M03-16).
    VerticesOnly,
    /// Vertices, middles of edges and middles of faces, with faces: virtual particles (M03-16).
    Virtual,
}

/// One question to a detector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Query {
    /// Contact distance ε [m].
    pub epsilon: f64,
    /// Length of the step [s].
    pub dt: f64,
    /// How boxes are inflated.
    pub inflation: Inflation,
    /// Which pairs are reported.
    pub report: Report,
    /// Which features are compared.
    pub features: Features,
    /// Whether flat parts of a surface are spared the comparison with themselves.
    pub curvature: Curvature,
    /// How far vertices may go [m] before their boxes are made anew (M03-8); 0 makes all boxes anew each time. Boxes are
    /// larger by this much, so nothing is missed. For surfaces given without velocities and reaches only.
    pub lazy: f64,
    /// What is made of the step before.
    pub tracking: Tracking,
}

impl Default for Query {
    fn default() -> Query {
        Query {
            epsilon: 1e-3,
            dt: 0.0,
            inflation: Inflation::Still,
            report: Report::Start,
            features: Features::All,
            curvature: Curvature::Off,
            lazy: 0.0,
            tracking: Tracking::Off,
        }
    }
}

/// How one surface moves during a step.
#[derive(Clone, Copy, Debug)]
pub struct Motion<'a> {
    /// Positions at its start [m].
    pub x: &'a [DVec3],
    /// Velocities [m/s]; at rest where absent.
    pub v: Option<&'a [DVec3]>,
    /// By how much each vertex reaches beyond ε/2 [m]: a pair is reported if its distance does not exceed ε plus the largest
    /// reach on either side.
    pub reach: Option<&'a [f64]>,
    /// The way that each vertex goes [m], give or take its reach. What goes together needs no room: besides ε, a pair is
    /// reported up to the largest sum, over a vertex of either side, of both reaches and the length of the difference of both
    /// ways.
    pub way: Option<&'a [DVec3]>,
}

impl<'a> Motion<'a> {
    /// A surface at rest.
    pub fn still(x: &'a [DVec3]) -> Motion<'a> {
        Motion { x, v: None, reach: None, way: None }
    }

    /// A surface with velocities [m/s].
    pub fn moving(x: &'a [DVec3], v: &'a [DVec3]) -> Motion<'a> {
        Motion { x, v: Some(v), reach: None, way: None }
    }

    pub(super) fn moves(&self) -> bool {
        self.v.is_some() || self.reach.is_some() || self.way.is_some()
    }

    /// How far vertex v reaches, seen from where nothing moves [m].
    #[inline]
    pub(super) fn reaches(&self, v: usize) -> f64 {
        self.reach.map_or(0.0, |reach| reach[v]) + self.way.map_or(0.0, |way| way[v].length())
    }
}

/// What a contact is between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A vertex and a face.
    #[default]
    VertexFace,
    /// Two edges.
    EdgeEdge,
    /// A virtual particle and a face: particle s is the middle of edge s, or of face s − number of edges.
    SampleFace,
}

/// Two features that are close.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contact {
    /// What they are.
    pub kind: Kind,
    /// Objects of the two features.
    pub objects: [u32; 2],
    /// The features, by index in their surface: vertex and face, two edges, or virtual particle and face.
    pub features: [u32; 2],
    /// Vertices concerned: those of the first feature, then those of the second. A virtual particle is no vertex:
    /// [`super::shell::NONE`] stands for it.
    pub vertices: [u32; 4],
    /// Signed barycentric weights of the vertices: Σ w x points from the second feature to the first.
    pub weights: [f64; 4],
    /// Distance at the start of the step [m].
    pub distance: f64,
}

impl Contact {
    /// What contacts are sorted by: the pair of objects, lower id first, then the object of the first feature, kind, features.
    pub fn key(&self) -> ([u32; 2], u32, Kind, [u32; 2]) {
        let mut pair = self.objects;
        pair.sort_unstable();
        (pair, self.objects[0], self.kind, self.features)
    }
}

/// What a detection cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Nodes of all hierarchies.
    pub nodes: u64,
    /// Nodes whose boxes were made anew.
    pub refitted: u64,
    /// Pairs of nodes compared.
    pub box_tests: u64,
    /// Tests for flatness.
    pub cone_tests: u64,
    /// Pairs of faces reached.
    pub leaf_pairs: u64,
    /// Pairs of faces that no plane keeps apart.
    pub face_pairs: u64,
    /// Boxes of features compared.
    pub feature_tests: u64,
    /// Pairs of features whose boxes overlap, where patches are searched.
    pub candidates: u64,
    /// Closest points computed.
    pub narrow_calls: u64,
    /// Remembered pairs of features settled by where they were closest before (M03-18).
    pub recalled: u64,
    /// Deepest level of the walk.
    pub depth: u64,
}

impl Counters {
    /// Adds up; depth is the larger.
    pub fn add(&mut self, other: &Counters) {
        self.nodes += other.nodes;
        self.refitted += other.refitted;
        self.box_tests += other.box_tests;
        self.cone_tests += other.cone_tests;
        self.leaf_pairs += other.leaf_pairs;
        self.face_pairs += other.face_pairs;
        self.feature_tests += other.feature_tests;
        self.candidates += other.candidates;
        self.narrow_calls += other.narrow_calls;
        self.recalled += other.recalled;
        self.depth = self.depth.max(other.depth);
    }
}

/// Why a question was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum DetectError {
    /// There are not as many motions as objects.
    Motions {
        /// Objects in the detector.
        objects: usize,
        /// Motions given.
        motions: usize,
    },
    /// A list has not one entry per vertex.
    Length {
        /// The object.
        object: u32,
        /// Which list.
        what: &'static str,
        /// Its length.
        length: usize,
        /// Vertices of the object.
        vertices: usize,
    },
    /// A number that must be finite and not negative is not.
    Value {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// There is no such object.
    NoObject {
        /// What was asked for.
        object: u32,
    },
}

impl fmt::Display for DetectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Motions { objects, motions } => {
                write!(
                    f,
                    "{motions} motions for {objects} objects; give one per object, in order of their ids"
                )
            }
            Self::Length { object, what, length, vertices } => {
                write!(f, "object {object} has {vertices} vertices but {length} {what}; give one per vertex")
            }
            Self::Value { what, value } => write!(f, "{what} is {value}, must be finite and not negative"),
            Self::NoObject { object } => write!(f, "there is no object {object}; it may have been removed"),
        }
    }
}

impl std::error::Error for DetectError {}

/// Hierarchies over any number of surfaces. See the [module](self).
#[derive(Clone, Debug)]
pub struct Detector {
    settings: Settings,
    next_id: u32,
    inner: Inner,
}

/// One variant per number of slabs, so that loops are compiled for theirs.
#[derive(Clone, Debug)]
enum Inner {
    K6(Engine<3>),
    K8(Engine<4>),
    K12(Engine<6>),
    K14(Engine<7>),
    K18(Engine<9>),
    K26(Engine<13>),
}

macro_rules! with_engine {
    ($inner:expr, $engine:ident => $body:expr) => {
        match $inner {
            Inner::K6($engine) => $body,
            Inner::K8($engine) => $body,
            Inner::K12($engine) => $body,
            Inner::K14($engine) => $body,
            Inner::K18($engine) => $body,
            Inner::K26($engine) => $body,
        }
    };
}

impl Detector {
    /// A detector without surfaces.
    pub fn new(settings: Settings) -> Detector {
        let inner = match settings.dop {
            Dop::K6 => Inner::K6(Engine::default()),
            Dop::K8 => Inner::K8(Engine::default()),
            Dop::K12 => Inner::K12(Engine::default()),
            Dop::K14 => Inner::K14(Engine::default()),
            Dop::K18 => Inner::K18(Engine::default()),
            Dop::K26 => Inner::K26(Engine::default()),
        };
        let arity = settings.arity.clamp(2, 8).next_power_of_two();
        Detector { settings: Settings { arity, ..settings }, next_id: 0, inner }
    }

    /// How hierarchies are built.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Adds a surface placed at `x` [m] and returns its id; ids rise and are never used again.
    pub fn add(&mut self, surface: Shell, x: &[DVec3]) -> Result<u32, DetectError> {
        check_length(self.next_id, "positions", x.len(), &surface)?;
        let (id, settings) = (self.next_id, self.settings);
        with_engine!(&mut self.inner, engine => engine.add(id, surface, x, settings));
        self.next_id += 1;
        Ok(id)
    }

    /// Removes a surface.
    pub fn remove(&mut self, object: u32) -> Result<(), DetectError> {
        let found = with_engine!(&mut self.inner, engine => engine.remove(object));
        if found { Ok(()) } else { Err(DetectError::NoObject { object }) }
    }

    /// Gives an object another mesh, placed at `x` [m], whose face f came out of (or lies beside) the old face `from[f]`.
    /// The hierarchy is kept where that pays (M03-20); says whether it was.
    pub fn edit(
        &mut self,
        object: u32,
        surface: Shell,
        from: &[u32],
        x: &[DVec3],
    ) -> Result<bool, DetectError> {
        check_length(object, "positions", x.len(), &surface)?;
        if from.len() != surface.faces().len() {
            let (length, vertices) = (from.len(), surface.faces().len());
            return Err(DetectError::Length { object, what: "origins of faces", length, vertices });
        }
        let kept = with_engine!(&mut self.inner, engine => engine.edit(object, surface, from, x));
        kept.ok_or(DetectError::NoObject { object })
    }

    /// Ids of the objects, ascending: the order in which motions are given.
    pub fn objects(&self) -> Vec<u32> {
        with_engine!(&self.inner, engine => engine.ids().collect())
    }

    /// The surface of an object.
    pub fn surface(&self, object: u32) -> Option<&Shell> {
        with_engine!(&self.inner, engine => engine.surface(object))
    }

    /// Levels of the tree of an object; 0 while it has none, see [`Search`].
    pub fn depth(&self, object: u32) -> Option<u32> {
        with_engine!(&self.inner, engine => engine.depth(object))
    }

    /// One level of the tree of an object, as of the last update; level 0 is the whole. Nothing while it has none, see
    /// [`Search`].
    pub fn level(&self, object: u32, level: u32) -> Option<Vec<Region>> {
        with_engine!(&self.inner, engine => engine.level(object, level))
    }

    /// Brings the hierarchies up to date without asking anything.
    pub fn update(&mut self, motions: &[Motion], query: &Query) -> Result<Counters, DetectError> {
        self.check(motions, query)?;
        Ok(with_engine!(&mut self.inner, engine => engine.update(motions, query)))
    }

    /// Brings the hierarchies up to date and writes all contacts, sorted by [`Contact::key`].
    pub fn detect(
        &mut self,
        motions: &[Motion],
        query: &Query,
        contacts: &mut Vec<Contact>,
    ) -> Result<Counters, DetectError> {
        self.check(motions, query)?;
        contacts.clear();
        if let Some((margin, restart)) = coherent(motions, query) {
            return Ok(with_engine!(&mut self.inner, engine => {
                engine.recall(motions, query, (margin, restart), contacts)
            }));
        }
        let mut counters = self.update(motions, query)?;
        counters.add(&with_engine!(&mut self.inner, engine => engine.walk(motions, query, contacts)));
        Ok(counters)
    }

    /// Whether the features that two faces of an object own are left out against each other under the curvature
    /// criterion, as of the last update; false when the criterion is off.
    pub fn omits(&self, object: u32, a: u32, b: u32) -> bool {
        with_engine!(&self.inner, engine => engine.omits(object, a, b))
    }

    fn check(&self, motions: &[Motion], query: &Query) -> Result<(), DetectError> {
        for (what, value) in [("epsilon", query.epsilon), ("dt", query.dt), ("lazy", query.lazy)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(DetectError::Value { what, value });
            }
        }
        with_engine!(&self.inner, engine => {
            if engine.ids().len() != motions.len() {
                return Err(DetectError::Motions { objects: engine.ids().len(), motions: motions.len() });
            }
            for (object, motion) in engine.surfaces().zip(motions) {
                let (id, surface) = object;
                check_length(id, "positions", motion.x.len(), surface)?;
                check_length(id, "velocities", motion.v.map_or(motion.x.len(), <[_]>::len), surface)?;
                check_length(id, "reaches", motion.reach.map_or(motion.x.len(), <[_]>::len), surface)?;
                check_length(id, "ways", motion.way.map_or(motion.x.len(), <[_]>::len), surface)?;
            }
        });
        Ok(())
    }
}

/// Whether reuse applies to a question: its margin [m] and restart.
fn coherent(motions: &[Motion], query: &Query) -> Option<(f64, u32)> {
    let plain = query.report == Report::Start
        && query.features == Features::All
        && query.inflation == Inflation::Still
        && motions.iter().all(|m| m.reach.is_none() && m.way.is_none());
    match query.tracking {
        Tracking::Coherent { margin, restart } if plain && margin >= 0.0 && margin.is_finite() => {
            Some((margin, restart))
        }
        _ => None,
    }
}

fn check_length(object: u32, what: &'static str, length: usize, surface: &Shell) -> Result<(), DetectError> {
    let vertices = surface.vertices();
    if length == vertices { Ok(()) } else { Err(DetectError::Length { object, what, length, vertices }) }
}
