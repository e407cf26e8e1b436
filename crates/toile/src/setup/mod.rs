//! What a world is built from, checks on it, and the islands it becomes.

mod check;
mod refine;
mod seam;

pub(crate) use check::check;
pub use refine::{Criterion, Every, Refine};
pub use seam::Seam;

use crate::collide::Role;
use crate::collide::collider::Collider;
use crate::contact::ContactSettings;
use crate::contact::space::Shape;
use crate::drive::Motion;
use crate::forces::attach::Hold;
use crate::forces::bending::recon::rest_angles;
use crate::forces::bending::{Clamp, ReconOptions};
use crate::forces::elastic::{Elastic, Pull};
use crate::forces::{
    AirDrag, Attach, Braces, CoupledOptions, DihedralHinge, Fabric, LinearHinge, Membrane, Recon, Rigidity,
    Spring, Strain, Tangent, TriangleSpring, Wind, WindField, Yield,
};
use crate::freedom::Freedom;
use crate::interaction::{Elements, ForceModel};
use crate::math::{DVec2, DVec3};
use crate::mesh::{Edge, Mesh};
use crate::model::{Model, Pin};
use crate::rigid::{self, Rigid};
use crate::solve::{Link, Net, SolverSettings};
use crate::state::{FARTHEST, State};
use crate::step::{Island, Kind, Part};
use std::ops::Range;
use std::sync::Arc;

/// How cloth resists stretching.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stretching {
    /// Finite elements.
    Membrane(Strain),
    /// Springs along edges.
    Springs(Tangent),
    /// Triangles whose edges pull together (V97).
    Coupled(CoupledOptions),
}

/// How cloth resists bending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bending {
    /// Not at all.
    None,
    /// One angle spring per edge, linear: cheap, biased by the mesh.
    Hinge,
    /// One angle spring per edge: biased by the mesh.
    Dihedral,
    /// Exact for constant curvature on every mesh, with a stiffness per direction.
    Recon,
}

/// The shape in which cloth bends not at all.
#[derive(Clone, Debug, PartialEq)]
pub enum RestShape {
    /// Flat.
    Flat,
    /// As it starts.
    Start,
    /// With these angles [rad] across the edges of the mesh: pleats, creases, rolled hems.
    Angles(Vec<f64>),
}

/// What the air does to a cloth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Air {
    /// Isotropic drag [N·s/m³].
    pub drag: f64,
    /// Drag across the face, linear in the speed [N·s/m³].
    pub normal: f64,
    /// Drag across the face, quadratic in the speed: ½ρC_D [kg/m³].
    pub quadratic: f64,
}

/// A piece of cloth.
#[derive(Clone, Debug)]
pub struct Cloth {
    /// Name, unique in its world.
    pub name: String,
    /// Faces and their shape at rest.
    pub mesh: Arc<Mesh>,
    /// Where the vertices start [m].
    pub positions: Vec<DVec3>,
    /// Velocity at the start [m/s].
    pub velocity: DVec3,
    /// What it is made of.
    pub fabric: Fabric,
    /// Model of stretching.
    pub stretching: Stretching,
    /// Model of bending.
    pub bending: Bending,
    /// Mass per area of each face at rest, over that of the fabric; empty where it is that of the fabric everywhere.
    pub density: Arc<[f64]>,
    /// Where it does not bend. Only [`Bending::Recon`] knows others than flat.
    pub rest_shape: RestShape,
    /// What the air does to it.
    pub air: Air,
    /// Layer, if it has one: where two cloths start through one another, the higher belongs where the faces of the lower look.
    pub layer: Option<u32>,
    /// Springs between any of its vertices, for things that are more than a surface (V00-25); none for cloth.
    pub braces: Arc<Braces>,
    /// Vertices without faces that are another's double, each with that other: files have them, cloth does not. They are
    /// wherever the other is.
    pub doubles: Arc<[[u32; 2]]>,
    /// Whether it keeps the shape it starts in, see [`Cloth::rigid`].
    pub rigid: bool,
    /// Where the corners of each face are in the pattern it was cut from [m], not a number for cloth that came later; empty
    /// where that is its shape at rest.
    pub chart: Arc<[[DVec2; 3]]>,
    /// How it is refined while it moves; nothing keeps its mesh.
    pub refine: Option<Refine>,
    /// Vertices that stay half way between two others, and those two: where levels of detail meet without triangles between
    /// them. Ends come before what hangs between them.
    pub hanging: Arc<[[u32; 3]]>,
}

impl Cloth {
    /// A cloth of finite elements and exact bending, at rest, in no air.
    pub fn new(name: &str, mesh: Mesh, positions: Vec<DVec3>, fabric: Fabric) -> Cloth {
        Cloth {
            name: name.to_string(),
            mesh: Arc::new(mesh),
            positions,
            velocity: DVec3::ZERO,
            fabric,
            stretching: Stretching::Membrane(Strain::Green),
            bending: Bending::Recon,
            density: Arc::default(),
            rest_shape: RestShape::Flat,
            air: Air::default(),
            layer: None,
            braces: Arc::default(),
            doubles: Arc::default(),
            rigid: false,
            chart: Arc::default(),
            refine: None,
            hanging: Arc::default(),
        }
    }

    /// Whether it is the surface of something solid, rigid or of springs, and no cloth to cut, sew or refine.
    pub fn is_solid(&self) -> bool {
        self.rigid || !self.braces.springs.is_empty()
    }

    /// Where the corners of each face are in the pattern [m].
    pub fn chart(&self) -> &[[DVec2; 3]] {
        if self.chart.is_empty() { self.mesh.rest() } else { &self.chart }
    }

    /// A solid of `mass` [kg] inside the closed surface `mesh` at `positions`, faces outward, that keeps its shape and
    /// is moved by what it meets. It has one vertex more than its surface, inside. Nothing where the surface has no inside, or
    /// is so thin or dented that no masses on it move as the solid would.
    pub fn rigid(name: &str, mesh: &Mesh, positions: &[DVec3], mass: f64) -> Option<Cloth> {
        let solid = rigid::solid(mesh, positions, mass)?;
        let (faces, rest) = (mesh.faces().to_vec(), mesh.rest().to_vec());
        let mesh = Mesh::new(positions.len() + 1, faces, rest).ok()?;
        let positions = [positions, &[solid.inside]].concat();
        let area = mesh.total_area();
        let fabric = Fabric { thickness: 0.0, ..Fabric::isotropic(mass / area, 1e3, 0.0, 0.0) };
        let mut thing = Cloth::new(name, mesh, positions, fabric);
        thing.bending = Bending::None;
        (thing.braces, thing.rigid) = (Arc::new(solid.braces), true);
        Some(thing)
    }
}

/// How firmly a pin holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Grip {
    /// Exactly, leaving this much freedom.
    Hard(Freedom),
    /// By springs of `stiffness` [N/m] and `damping` [N·s/m].
    Soft {
        /// [N/m]
        stiffness: f64,
        /// [N·s/m]
        damping: f64,
    },
}

/// Some vertices of a cloth held.
#[derive(Clone, Debug)]
pub struct PinDown {
    /// Number of the cloth.
    pub cloth: usize,
    /// Which of its vertices.
    pub vertices: Vec<u32>,
    /// How firmly.
    pub grip: Grip,
    /// How the pin moves.
    pub motion: Motion,
    /// When it holds [s].
    pub active: Range<f64>,
    /// Holds the slope too: border edges whose ends are both held leave the pin in the direction in which they
    /// start, turned by its motion. In a plane that leaves them free, along the normal: a plane of symmetry.
    /// It holds the slope even while the pin does not hold; only [`Bending::Recon`] knows slopes.
    pub clamp: bool,
}

impl PinDown {
    /// Holds `vertices` in place for ever.
    pub fn fixed(cloth: usize, vertices: Vec<u32>) -> PinDown {
        PinDown {
            cloth,
            vertices,
            grip: Grip::Hard(Freedom::Fixed),
            motion: Motion::still(),
            active: f64::NEG_INFINITY..f64::INFINITY,
            clamp: false,
        }
    }

    /// Holds `vertices` and the slope of the cloth along them for ever.
    pub fn clamped(cloth: usize, vertices: Vec<u32>) -> PinDown {
        PinDown { clamp: true, ..PinDown::fixed(cloth, vertices) }
    }
}

/// What draws a vertex to another or to a place, smoothly (V97-14).
#[derive(Clone, Debug, PartialEq)]
pub struct ElasticBetween {
    /// Cloth and vertex that is drawn.
    pub from: (usize, u32),
    /// What to.
    pub to: Anchor,
    /// Time constant [s]: what starts at rest is within a hundredth of its way after 6.6 of them.
    pub time: f64,
    /// When it pulls [s].
    pub active: Range<f64>,
    /// What it can carry [kg]: a hand that holds a whole cloth by one vertex is not held back by its weight. Without one,
    /// the masses of its ends.
    pub carries: Option<f64>,
}

impl ElasticBetween {
    /// The vertex that it draws to, if it is one.
    pub fn vertex(&self) -> Option<(usize, u32)> {
        match self.to {
            Anchor::Vertex(cloth, vertex) => Some((cloth, vertex)),
            Anchor::Place(..) => None,
        }
    }

    /// Gives its ends other vertices. One that has lost a vertex is joined to itself: it pulls nothing and keeps its number.
    pub(crate) fn join(&mut self, [from, to]: [Option<(usize, u32)>; 2]) {
        let lost = from.is_none() || to.is_none() && self.vertex().is_some();
        self.from = from.unwrap_or((self.from.0, 0));
        match (lost, to) {
            (true, _) => self.to = Anchor::Vertex(self.from.0, self.from.1),
            (false, Some((cloth, vertex))) => self.to = Anchor::Vertex(cloth, vertex),
            (false, None) => {}
        }
    }
}

/// What an elastic draws to.
#[derive(Clone, Debug, PartialEq)]
pub enum Anchor {
    /// Another vertex: cloth and vertex. Both are drawn.
    Vertex(usize, u32),
    /// A place [m] and how it moves.
    Place(DVec3, Motion),
}

/// A body that cloth meets.
#[derive(Clone, Debug)]
pub struct Obstacle {
    /// Name, unique in its world.
    pub name: String,
    /// Its shape and motion.
    pub collider: Collider,
}

/// Everything a world is built from.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Cloths.
    pub cloths: Vec<Cloth>,
    /// Bodies that cloth meets.
    pub bodies: Vec<Obstacle>,
    /// How cloth meets itself and bodies. Off by default; scene files have it on.
    pub contact: ContactSettings,
    /// What holds them.
    pub pins: Vec<PinDown>,
    /// What draws vertices together.
    pub elastics: Vec<ElasticBetween>,
    /// Seams that close.
    pub seams: Vec<Seam>,
    /// Gravity [m/s²].
    pub gravity: DVec3,
    /// Wind.
    pub wind: WindField,
    /// How systems are solved.
    pub solver: SolverSettings,
    /// Substeps per frame.
    pub substeps: u32,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            cloths: Vec::new(),
            bodies: Vec::new(),
            contact: ContactSettings::off(),
            pins: Vec::new(),
            elastics: Vec::new(),
            seams: Vec::new(),
            gravity: DVec3::new(0.0, -9.81, 0.0),
            wind: WindField::default(),
            solver: SolverSettings::default(),
            substeps: 4,
        }
    }
}

pub(crate) fn within_reach(p: DVec3) -> bool {
    p.is_finite() && p.abs().max_element() <= FARTHEST
}

/// A connected part of a cloth, before it belongs to an island.
pub(crate) struct Piece {
    /// Its cloth.
    pub cloth: usize,
    /// Faces of the cloth.
    pub faces: Vec<u32>,
    /// Vertices of the cloth, ascending.
    pub vertices: Vec<u32>,
    /// What it looks like to those it meets, its vertices counted from 0.
    pub shape: Arc<Shape>,
}

/// The connected parts of all cloths, in order.
pub(crate) fn pieces(cloths: &[Cloth]) -> Vec<Piece> {
    let mut all = Vec::new();
    for (number, cloth) in cloths.iter().enumerate() {
        for faces in cloth.mesh.components() {
            let vertices = with_inside(vertices_of(&cloth.mesh, &faces), &cloth.mesh, &cloth.braces);
            let local = |v: u32| vertices.partition_point(|w| *w < v) as u32;
            let own = faces.iter().map(|f| cloth.mesh.faces()[*f as usize].map(local)).collect();
            // Meshes are checked when they are made, so their parts are sound.
            if let Some(shape) = Shape::new(vertices.len(), own, Role::Cloth) {
                all.push(Piece { cloth: number, faces, vertices, shape: Arc::new(shape) });
            }
        }
    }
    all
}

/// Some vertices of a thing and those inside it: springs hold them, and no face has them. Both ascending.
fn with_inside(mut vertices: Vec<u32>, mesh: &Mesh, braces: &Braces) -> Vec<u32> {
    if braces.masses.is_empty() {
        return vertices;
    }
    let mut on_a_face = vec![false; mesh.vertices()];
    mesh.faces().iter().flatten().for_each(|v| on_a_face[*v as usize] = true);
    let inner = |v: u32| on_a_face.get(v as usize).is_some_and(|on| !on);
    loop {
        let has = |v: u32| vertices.binary_search(&v).is_ok();
        let next = |ends: [u32; 2]| match ends {
            [a, b] if has(a) && !has(b) && inner(b) => Some(b),
            [a, b] if has(b) && !has(a) && inner(a) => Some(a),
            _ => None,
        };
        let more: Vec<u32> = braces.springs.iter().filter_map(|brace| next(brace.ends)).collect();
        if more.is_empty() {
            return vertices;
        }
        vertices.extend(more);
        vertices.sort_unstable();
        vertices.dedup();
    }
}

/// Who is where in an island.
struct Crew<'a> {
    parts: &'a [Part],
    particles: usize,
}

impl Crew<'_> {
    /// The particle that is a vertex of a cloth.
    fn find(&self, cloth: usize, vertex: u32) -> Option<u32> {
        let parts = self.parts.iter().filter(|part| part.cloth == cloth);
        parts
            .into_iter()
            .find_map(|part| part.vertices.binary_search(&vertex).ok().map(|i| (part.first + i) as u32))
    }

    /// The particles of `pin` that are here.
    fn held(&self, pin: &PinDown) -> Vec<u32> {
        pin.vertices.iter().filter_map(|v| self.find(pin.cloth, *v)).collect()
    }

    /// The vertex of its cloth that a particle is.
    fn vertex(&self, particle: u32) -> u32 {
        let at = self.parts.partition_point(|part| part.first <= particle as usize) - 1;
        self.parts[at].vertices[particle as usize - self.parts[at].first]
    }
}

/// The island of some parts, which forces of the same kind take together.
pub(crate) fn island(
    numbers: &[usize],
    pieces: &[Piece],
    cloths: &[Cloth],
    (pins, elastics, seams): (&[PinDown], &[ElasticBetween], &[(&Seam, f64)]),
    (gravity, wind): (DVec3, WindField),
) -> Island {
    let mut parts: Vec<Part> = Vec::new();
    let mut n = 0;
    for &number in numbers {
        let piece = &pieces[number];
        let surface = piece.shape.surface();
        let elements = [surface.faces().len(), surface.edges().len()];
        let vertices = piece.vertices.clone();
        parts.push(Part { number, cloth: piece.cloth, vertices, first: n, elements });
        n += piece.vertices.len();
    }
    let crew = Crew { parts: &parts, particles: n };
    let place = |part: &Part| -> Vec<DVec3> {
        part.vertices.iter().map(|v| cloths[part.cloth].positions[*v as usize]).collect()
    };
    let x: Vec<DVec3> = parts.iter().flat_map(place).collect();
    let v = parts.iter().flat_map(|p| vec![cloths[p.cloth].velocity; p.vertices.len()]).collect();
    let here: Vec<(usize, &PinDown)> =
        pins.iter().enumerate().filter(|(_, pin)| !crew.held(pin).is_empty()).collect();
    let pins: Vec<&PinDown> = here.iter().map(|(_, pin)| *pin).collect();

    // Parts that forces cannot tell apart share one family of each force.
    let mut kinds: Vec<Kind> = Vec::new();
    for (k, part) in parts.iter().enumerate() {
        match kinds.iter_mut().find(|kind| alike(parts[kind.parts[0]].cloth, part.cloth, cloths)) {
            Some(kind) => kind.parts.push(k),
            None => kinds.push(Kind { parts: vec![k], families: 0..0 }),
        }
    }
    let (mut forces, mut mass) = (Vec::new(), vec![0.0; n]);
    let (mut links, mut lengths, mut edges, mut area) = (Vec::new(), 0.0, 0, 0.0);
    for kind in &mut kinds {
        let members: Vec<&Part> = kind.parts.iter().map(|k| &parts[*k]).collect();
        let cloth = &cloths[members[0].cloth];
        let mesh = mesh_of(&members, pieces, cloths, n);
        let first = forces.len();
        forces.extend(internal_forces(&mesh, &crew, &x, cloth, &pins));
        forces.extend(brace_forces(&members, cloths, n));
        kind.families = first..forces.len();
        for (m, a) in mass.iter_mut().zip(heavy_area(&mesh, &members, pieces, cloths)) {
            *m += a * cloth.fabric.density;
        }
        for part in &members {
            for (vertex, given) in &cloths[part.cloth].braces.masses {
                if let Ok(at) = part.vertices.binary_search(vertex) {
                    mass[part.first + at] = *given;
                }
            }
        }
        links.extend(mesh.edges().iter().map(|e| Link { ends: e.ends, rest: mesh.rest_length(e) }));
        lengths = mesh.edges().iter().fold(lengths, |sum, e| sum + mesh.rest_length(e));
        edges += mesh.edges().len();
        area = mesh.area().iter().fold(area, |sum, a| sum + a);
    }
    let mut hard = Vec::new();
    let (mut members, mut holds) = (Vec::new(), Vec::new());
    for (source, pin) in here {
        let particles = crew.held(pin);
        match pin.grip {
            Grip::Hard(freedom) => {
                let (motion, active) = (pin.motion.clone(), pin.active.clone());
                hard.push(Pin { particles, freedom, motion, source, active })
            }
            Grip::Soft { stiffness, damping } => {
                for p in particles {
                    members.push([p]);
                    let (motion, active) = (pin.motion.clone(), pin.active.clone());
                    holds.push(Hold { origin: x[p as usize], motion, active, stiffness, damping });
                }
            }
        }
    }
    if !holds.is_empty() {
        forces.push(Box::new(Attach::elements(n, &members, holds)));
    }
    if let Some(family) = elastic_forces(elastics, seam::pulls(seams, &crew, cloths), &crew, &mass) {
        forces.push(family);
    }
    let rigid = parts.iter().filter(|part| cloths[part.cloth].rigid);
    let rigid =
        rigid.map(|part| Rigid::new(part.first..part.first + part.vertices.len(), &mass, &x)).collect();
    let start = x.clone();
    let state = State { x, v, grips: vec![None; hard.len()], ..State::default() };
    let edge = lengths / edges.max(1) as f64;
    let (freedom, pins, net) = (vec![Freedom::Free; n], hard, Net::new(n, links));
    let size = area.sqrt();
    let own = |part: &Part, three: &[u32; 3]| {
        let place = three.map(|v| part.vertices.binary_search(&v).ok().map(|i| (part.first + i) as u32));
        let [Some(m), Some(a), Some(b)] = place else { return None };
        Some([m, a, b])
    };
    let hanging = parts
        .iter()
        .flat_map(|part| cloths[part.cloth].hanging.iter().filter_map(move |three| own(part, three)));
    let hanging = hanging.collect();
    let model = Model {
        mass,
        freedom,
        forces,
        rigid,
        hanging,
        pins,
        gravity,
        wind,
        net,
        start,
        gauges: None,
        edge,
        size,
    };
    Island::new(parts, kinds, model, state)
}

/// A third of the area of the faces round each vertex [m²], each counted by its own density.
fn heavy_area(mesh: &Mesh, members: &[&Part], pieces: &[Piece], cloths: &[Cloth]) -> Vec<f64> {
    if members.iter().all(|part| cloths[part.cloth].density.is_empty()) {
        return mesh.vertex_area();
    }
    let of = |part: &&Part| {
        let density = &cloths[part.cloth].density;
        pieces[part.number].faces.iter().map(|f| density.get(*f as usize).copied().unwrap_or(1.0))
    };
    let densities = members.iter().flat_map(of);
    let mut area = vec![0.0; mesh.vertices()];
    for ((face, a), density) in mesh.faces().iter().zip(mesh.area()).zip(densities) {
        face.iter().for_each(|v| area[*v as usize] += a * density / 3.0);
    }
    area
}

/// The elastics whose ends are all here, and then those of seams.
fn elastic_forces(
    elastics: &[ElasticBetween],
    seams: (Vec<[u32; 2]>, Vec<Pull>),
    crew: &Crew,
    mass: &[f64],
) -> Option<Box<dyn ForceModel>> {
    let (mut members, mut pulls) = (Vec::new(), Vec::new());
    for (source, elastic) in elastics.iter().enumerate() {
        let Some(first) = crew.find(elastic.from.0, elastic.from.1) else { continue };
        let own = mass[first as usize];
        let (second, mass, place) = match &elastic.to {
            Anchor::Vertex(cloth, vertex) => {
                let Some(second) = crew.find(*cloth, *vertex).filter(|second| *second != first) else {
                    continue;
                };
                (second, 1.0 / (1.0 / own + 1.0 / mass[second as usize]), None)
            }
            Anchor::Place(at, motion) => (first, own, Some((*at, motion.clone()))),
        };
        members.push([first, second]);
        let mass = elastic.carries.unwrap_or(mass);
        let (time, active) = (elastic.time, elastic.active.clone());
        pulls.push(Pull { time, active, mass, near: 0.0, source, place });
    }
    members.extend(seams.0);
    pulls.extend(seams.1);
    (!pulls.is_empty())
        .then(|| Box::new(Elastic::elements(crew.particles, &members, pulls)) as Box<dyn ForceModel>)
}

/// Whether forces take two cloths alike.
fn alike(a: usize, b: usize, cloths: &[Cloth]) -> bool {
    let (p, q) = (&cloths[a], &cloths[b]);
    a == b
        || p.fabric == q.fabric
            && p.stretching == q.stretching
            && p.bending == q.bending
            && p.rest_shape == q.rest_shape
            && !matches!(p.rest_shape, RestShape::Angles(_))
            && p.air == q.air
            && p.braces.damping == q.braces.damping
            && p.rigid == q.rigid
}

/// The springs inside some parts of one kind.
fn brace_forces(members: &[&Part], cloths: &[Cloth], particles: usize) -> Option<Box<dyn ForceModel>> {
    let (mut ends, mut law) = (Vec::new(), Spring::none(Tangent::Safe));
    for part in members {
        let Braces { springs, damping, .. } = &*cloths[part.cloth].braces;
        law.damping = *damping;
        let place = |v: u32| part.vertices.binary_search(&v).ok().map(|i| (part.first + i) as u32);
        for brace in springs {
            if let [Some(a), Some(b)] = brace.ends.map(place) {
                ends.push([a, b]);
                law.stiffness.push(brace.stiffness);
                law.rest_length.push(brace.rest_length);
            }
        }
    }
    let weights = vec![[[1.0, -1.0]]; ends.len()];
    (!ends.is_empty())
        .then(|| Box::new(Elements::new(particles, &ends, &weights, law)) as Box<dyn ForceModel>)
}

/// The faces of some parts in the numbering of an island of `n` particles.
fn mesh_of(kind: &[&Part], pieces: &[Piece], cloths: &[Cloth], n: usize) -> Mesh {
    let (mut faces, mut rest, mut bent) = (Vec::new(), Vec::new(), Vec::new());
    for part in kind {
        let mesh = &cloths[part.cloth].mesh;
        let local = |v: u32| (part.first + part.vertices.partition_point(|w| *w < v)) as u32;
        let (own, first) = (&pieces[part.number].faces, faces.len());
        // Both faces of a pair have the same vertices: they are in the same part or both elsewhere.
        let place = |f: u32| own.binary_search(&f).ok().map(|i| (first + i) as u32);
        bent.extend(mesh.bent().iter().filter_map(|[f, g]| Some([place(*f)?, place(*g)?])));
        for f in own {
            faces.push(mesh.faces()[*f as usize].map(local));
            rest.push(mesh.rest()[*f as usize]);
        }
    }
    Mesh::branched(n, faces, rest, bent).expect("parts of sound meshes are sound")
}

/// Slope conditions on the border edges of `mesh` that clamping pins hold by both ends.
fn clamps(mesh: &Mesh, crew: &Crew, x: &[DVec3], pins: &[&PinDown]) -> Vec<Clamp> {
    let mut all = Vec::new();
    for pin in pins.iter().filter(|pin| pin.clamp) {
        let mut held = vec![false; crew.particles];
        for p in crew.held(pin) {
            held[p as usize] = true;
        }
        let clamped = |e: &&Edge| e.is_border() && e.ends.iter().all(|v| held[*v as usize]);
        for edge in mesh.edges().iter().filter(clamped) {
            let [c, d] = edge.ends.map(|v| x[v as usize]);
            let face = edge.faces[0];
            let apex = x[mesh.faces()[face as usize][mesh.apex(face, edge)] as usize];
            let across = (apex - c).reject_from_normalized((d - c).normalize_or(DVec3::X));
            let direction = match pin.grip {
                Grip::Hard(Freedom::Plane(normal)) => normal * 1f64.copysign(normal.dot(across)),
                _ => across.normalize_or_zero(),
            };
            if direction != DVec3::ZERO {
                all.push(Clamp { edge: edge.ends, direction, motion: pin.motion.clone() });
            }
        }
    }
    all.sort_by_key(|clamp| clamp.edge);
    all.dedup_by_key(|clamp| clamp.edge);
    all
}

/// Rest angles of the edges of `mesh`, the part of `cloth` that has these vertices.
fn angles_at_rest(mesh: &Mesh, crew: &Crew, x: &[DVec3], cloth: &Cloth) -> Vec<f64> {
    match &cloth.rest_shape {
        RestShape::Flat => Vec::new(),
        RestShape::Start => rest_angles(mesh, x),
        RestShape::Angles(all) => {
            let angle = |(place, edge): (usize, &Edge)| {
                let whole = cloth.mesh.edges_between(edge.ends.map(|v| crew.vertex(v)));
                // Where the mesh branches, parts have their edges in the order of the whole.
                let nth = place - mesh.edges_between(edge.ends).start;
                whole.clone().nth(nth).map_or(0.0, |place| all[place])
            };
            mesh.edges().iter().enumerate().map(angle).collect()
        }
    }
}

fn internal_forces(
    mesh: &Mesh,
    crew: &Crew,
    x: &[DVec3],
    cloth: &Cloth,
    pins: &[&PinDown],
) -> Vec<Box<dyn ForceModel>> {
    let Cloth { fabric, air, .. } = cloth;
    let mut forces: Vec<Box<dyn ForceModel>> = Vec::new();
    match cloth.stretching {
        Stretching::Membrane(strain) => forces.push(Box::new(Membrane::elements(mesh, fabric, strain))),
        Stretching::Springs(tangent) => forces.push(Box::new(Spring::elements(mesh, fabric, tangent))),
        Stretching::Coupled(options) => {
            forces.push(Box::new(TriangleSpring::elements(mesh, fabric, options)));
        }
    }
    let [warp, weft, coupling, twist] = fabric.bending_stiffness();
    let recon = |damping: f64, give: Option<Yield>| ReconOptions {
        clamps: clamps(mesh, crew, x, pins),
        rest_angles: angles_at_rest(mesh, crew, x, cloth),
        damping,
        give,
    };
    match cloth.bending {
        _ if [warp, weft, twist] == [0.0; 3] => {}
        Bending::None => {}
        Bending::Hinge => forces.push(Box::new(LinearHinge::elements(mesh, fabric))),
        Bending::Dihedral => forces.push(Box::new(DihedralHinge::elements(mesh, fabric))),
        Bending::Recon => {
            let options = recon(fabric.bending_damping(), fabric.creasing());
            forces.push(Box::new(Recon::new(mesh, Rigidity { warp, weft, coupling, twist }, &options)));
        }
    }
    if let (Bending::Recon, Some((stiffness, give))) = (cloth.bending, fabric.bending_friction()) {
        let [warp, weft, coupling, twist] = stiffness;
        let rigidity = Rigidity { warp, weft, coupling, twist };
        forces.push(Box::new(Recon::new(mesh, rigidity, &recon(0.0, Some(give)))));
    }
    if air.drag > 0.0 {
        forces.push(Box::new(AirDrag::elements(mesh, air.drag)));
    }
    if air.normal > 0.0 || air.quadratic > 0.0 {
        forces.push(Box::new(Wind::elements(mesh, air.normal, air.quadratic)));
    }
    forces
}

/// The vertices of some faces, ascending.
fn vertices_of(mesh: &Mesh, faces: &[u32]) -> Vec<u32> {
    let mut vertices: Vec<u32> = faces.iter().flat_map(|f| mesh.faces()[*f as usize]).collect();
    vertices.sort_unstable();
    vertices.dedup();
    vertices
}
