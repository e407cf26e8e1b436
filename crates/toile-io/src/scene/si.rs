//! The scene as the engine wants it: metres, Y up, every default filled, every name resolved.

use super::schema::{self as file, *};
use super::things::count_of;
use super::{InputFile, Start};
use crate::axes::{Axes, Units};
use crate::ribbon;
use crate::sequence::is_pattern;
use glam::{DAffine3, DVec3};
use std::path::{Path, PathBuf};
use toile::ContactSettings;

/// Frames of a run, both ends included. The first one shows the starting state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRange {
    /// First frame.
    pub first: u32,
    /// Last frame, not before the first.
    pub last: u32,
}

impl FrameRange {
    /// Number of frames, the starting one included.
    pub fn count(self) -> u64 {
        u64::from(self.last) - u64::from(self.first) + 1
    }

    /// Every frame in order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        self.first..=self.last
    }
}

/// A piece of cloth.
#[derive(Clone, Debug, PartialEq)]
pub struct Cloth {
    /// Unique name.
    pub name: String,
    /// Where its mesh comes from.
    pub source: ClothSource,
    /// From mesh to world [m]: scale, rotation, translation.
    pub placement: DAffine3,
    /// The uniform scale inside `placement`: it also multiplies rest lengths [-].
    pub scale: f64,
    /// Starting velocity [m/s].
    pub velocity: DVec3,
    /// Layer, counted outward.
    pub layer: Option<u32>,
    /// Measured properties.
    pub fabric: toile::Fabric,
    /// The file the fabric comes from, if it does.
    pub fabric_file: Option<InputFile>,
    /// In-plane model.
    pub model: Model,
    /// Strain measure of the membrane.
    pub strain: Strain,
    /// Bending model.
    pub bending: Bending,
    /// Where it does not bend.
    pub bend_rest: RestShape,
    /// Options of the springs.
    pub spring: Spring,
    /// Options of the coupled triangles.
    pub coupled: Coupled,
    /// Whether a mesh file that is not sound is repaired.
    pub repair: bool,
    /// How it is refined while it moves.
    pub refine: Option<toile::Refine>,
}

/// Where a cloth's mesh comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ClothSource {
    /// A generated shape, lengths in metres, resolution and seed filled in.
    Shape(Shape),
    /// A mesh file and what its unstretched state is.
    File(MeshFile, Rest),
    /// A solid, lengths in metres, and how it is made.
    Thing(ThingShape, Solid),
}

/// How a thing is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    /// Mass [kg].
    pub mass: f64,
    /// How it holds together.
    pub hold: HoldTogether,
    /// Stiffness of its springs [N/m].
    pub stiffness: f64,
    /// Their viscosity, as a time constant [s].
    pub damping: f64,
}

/// Where a body's mesh comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum BodySource {
    /// A generated shape, lengths in metres, axes Y up, scaled.
    Shape(BodyShape),
    /// A mesh file.
    File(MeshFile),
    /// A numbered sequence of mesh files.
    Sequence(MeshFile, Pace),
    /// A mesh file and a PC2 cache of its motion.
    Points {
        /// The faces.
        mesh: MeshFile,
        /// The cache.
        cache: MeshFile,
        /// When its samples are.
        pace: Pace,
    },
}

impl BodySource {
    /// The mesh file or sequence, if it comes from files.
    pub fn file(&self) -> Option<&MeshFile> {
        match self {
            BodySource::Shape(_) => None,
            BodySource::File(file) | BodySource::Sequence(file, _) => Some(file),
            BodySource::Points { mesh, .. } => Some(mesh),
        }
    }
}

/// When the frames of an animated mesh are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Time of the first [s], counted from the scene's first frame.
    pub start: f64,
    /// Time between frames whose numbers follow each other [s].
    pub step: f64,
}

/// A mesh file of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshFile {
    /// The path as written in the scene.
    pub written: String,
    /// The path resolved against the scene's folder.
    pub path: PathBuf,
    /// Unit and up axis of the mesh file.
    pub axes: Axes,
}

/// Particles held or moved.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// Position of the cloth in [`super::Scene::cloths`].
    pub cloth: usize,
    /// Which particles.
    pub select: Select,
    /// How they are held.
    pub hold: Hold,
    /// How they may still move.
    pub slide: Slide,
    /// Whether it holds the slope too.
    pub clamp: bool,
    /// First frame that is held.
    pub from: u32,
    /// Last frame that is held.
    pub until: u32,
    /// Their motion; empty keys mean none.
    pub motion: Motion,
}

/// Particles drawn to others or to a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Elastic {
    /// Position of the cloth in [`super::Scene::cloths`].
    pub cloth: usize,
    /// Which of its particles.
    pub indices: Vec<u32>,
    /// Where to.
    pub to: End,
    /// Time constant [s].
    pub time: f64,
    /// First frame in which it pulls.
    pub from: u32,
    /// Last frame in which it pulls.
    pub until: u32,
}

/// Where an elastic draws to.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// Particles of a cloth, one for each that is drawn.
    Particles(usize, Vec<u32>),
    /// A place [m] and its motion.
    Place(DVec3, Motion),
}

/// Which particles a pin holds. Places are those of the start of the scene.
#[derive(Clone, Debug, PartialEq)]
pub enum Select {
    /// A border of a generated shape, or every border particle.
    Border(Border),
    /// Corners of a generated sheet or strip.
    Corners(Vec<Corner>),
    /// A group of the mesh file.
    Group(String),
    /// Particle numbers from 0.
    Indices(Vec<u32>),
    /// Inside a box [m].
    Box {
        /// Lowest corner.
        min: DVec3,
        /// Highest corner.
        max: DVec3,
    },
    /// Inside a ball [m].
    Ball {
        /// Centre.
        centre: DVec3,
        /// Radius.
        radius: f64,
    },
    /// Every particle.
    All,
}

/// How a pin holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hold {
    /// Exactly.
    Hard,
    /// By one spring per particle.
    Soft {
        /// Stiffness [N/m].
        stiffness: f64,
        /// Damping [N·s/m].
        damping: f64,
    },
}

/// How a held particle may still move. Directions have length 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Slide {
    /// Not at all.
    Fixed,
    /// Along a direction.
    Line(DVec3),
    /// In the plane with this normal.
    Plane(DVec3),
}

/// The motion of a pin or body as the file writes it: keys by frame, in the file's own axes and units.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    axes: Axes,
    keys: Vec<KeyFile>,
    smooth: bool,
    pivot: Option<DVec3>,
}

impl Motion {
    fn new(axes: Axes, keys: &[KeyFile], between: Interpolation, pivot: Option<[f64; 3]>) -> Self {
        Self {
            axes,
            keys: keys.to_vec(),
            smooth: between == Interpolation::Smooth,
            pivot: pivot.map(|p| axes.point_in(DVec3::from(p))),
        }
    }

    /// Whether nothing leaves the place where it starts.
    pub fn is_still(&self) -> bool {
        self.keys.is_empty()
    }

    /// The motion for the engine. `time` turns a frame into seconds; `centre` [m] is the pivot when the scene gives none:
    /// the mean of the pinned particles at the start, or the body's own origin.
    pub fn for_engine(&self, time: impl Fn(f64) -> f64, centre: DVec3) -> toile::drive::Motion {
        let key = |k: &KeyFile| toile::drive::Key {
            time: time(k.frame),
            translate: DVec3::from(k.translate) * self.axes.length_in(1.0),
            rotate: DVec3::from(k.rotate),
            scale: DVec3::from(k.scale.values()),
        };
        toile::drive::Motion {
            keys: self.keys.iter().map(key).collect(),
            pivot: self.pivot.unwrap_or(centre),
            smooth: self.smooth,
            basis: self.axes.basis(),
        }
    }
}

/// Moving air.
#[derive(Clone, Debug, PartialEq)]
pub struct Wind {
    /// Mean velocity [m/s].
    pub velocity: DVec3,
    /// Linear normal drag [N·s/m³].
    pub drag: f64,
    /// Quadratic drag coefficient [-], with air of 1.2 kg/m³.
    pub drag_coefficient: f64,
    /// Changes of speed and direction, seed filled in.
    pub gusts: Option<Gusts>,
}

/// A body around the cloth.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Unique name.
    pub name: String,
    /// Where its mesh comes from.
    pub source: BodySource,
    /// Size factor of mesh files; generated shapes have theirs already [-].
    pub scale: f64,
    /// From mesh to world [m]: rotation and translation.
    pub placement: DAffine3,
    /// How far triangles may be from a generated shape [m].
    pub tolerance: f64,
    /// Its motion from there; empty keys mean none.
    pub motion: Motion,
    /// Whether cloth meets it.
    pub collide: bool,
    /// Whether a mesh has an inside; if not said, one without borders has.
    pub solid: Option<bool>,
}

/// How far the triangles of a body may be from its shape, unless the scene says [m].
const BODY_TOLERANCE: f64 = 1e-3;

/// Pictures and animations.
#[derive(Clone, Debug, PartialEq)]
pub struct Render {
    /// Width and height [pixels].
    pub size: [u32; 2],
    /// What colours show.
    pub colour: Colour,
    /// Front colour, sRGB.
    pub front: [u8; 3],
    /// Back colour, sRGB.
    pub back: [u8; 3],
    /// Pattern on the cloth.
    pub pattern: Print,
    /// One repeat of the pattern [m].
    pub repeat: f64,
    /// Where the picture is taken from.
    pub camera: Camera,
    /// The ground.
    pub ground: Floor,
    /// The animation shows every n-th frame.
    pub every: u32,
    /// Parts that each side of a triangle is split into to draw it curved; 1 draws it flat.
    pub smooth: u32,
}

/// Where a picture is taken from. Angles in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Camera {
    /// From one point towards another [m], vertical opening angle [degrees].
    LookAt {
        /// Position.
        eye: DVec3,
        /// Point looked at.
        target: DVec3,
        /// Opening angle.
        fov: f64,
    },
    /// Around the whole scene, from far enough to see all of it.
    Orbit {
        /// Angle around the up axis; 0 is the front.
        yaw: f64,
        /// Height above the horizon.
        pitch: f64,
        /// Opening angle.
        fov: f64,
    },
}

/// The ground in pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Floor {
    /// No ground.
    None,
    /// Just below the lowest point of the scene.
    Below,
    /// At a height [m].
    Height(f64),
}

/// Parses "#rrggbb".
pub(crate) fn parse_colour(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#').filter(|d| d.len() == 6 && d.is_ascii())?;
    let channel = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).ok();
    Some([channel(0)?, channel(2)?, channel(4)?])
}

/// Parses the `frames` field.
pub(crate) fn parse_frames(frames: &Frames) -> Option<FrameRange> {
    match frames {
        Frames::Count(n) => Some(FrameRange { first: 1, last: *n }),
        Frames::Range(text) => {
            let (first, last) = text.split_once('-')?;
            Some(FrameRange { first: first.trim().parse().ok()?, last: last.trim().parse().ok()? })
        }
    }
}

/// Quads along u and v; a single number is the longer side, with nearly square quads along the other.
pub(crate) fn quads(resolution: &Resolution, extent: [f64; 2], first_is_given: bool) -> [u32; 2] {
    match *resolution {
        Resolution::Two(n) => n,
        Resolution::One(n) => {
            let along = |ratio: f64| (f64::from(n) * ratio).round().clamp(1.0, 4e9) as u32;
            let [u, v] = extent;
            if first_is_given || u >= v { [n, along(v / u)] } else { [along(u / v), n] }
        }
    }
}

/// Circumference over length decides the quads of a tube.
pub(crate) fn tube_quads(resolution: &Resolution, radius: f64, length: f64) -> [u32; 2] {
    quads(resolution, [std::f64::consts::TAU * radius, length], true)
}

/// A shape in metres, Y up, with explicit resolution and seed.
pub(crate) fn shape_in(shape: &Shape, axes: Axes, scene_seed: u64) -> Shape {
    let m = |x: f64| axes.length_in(x);
    let mut shape = shape.clone();
    match &mut shape {
        Shape::Sheet { size, resolution, seed, .. } => {
            *resolution = Resolution::Two(quads(resolution, *size, false));
            *size = size.map(m);
            *seed = seed.or(Some(scene_seed));
        }
        Shape::Strip { length, width, resolution, seed, .. } => {
            *resolution = Resolution::Two(quads(resolution, [*length, *width], true));
            (*length, *width) = (m(*length), m(*width));
            *seed = seed.or(Some(scene_seed));
        }
        Shape::Disc { radius, seed, .. } => {
            *radius = m(*radius);
            *seed = seed.or(Some(scene_seed));
        }
        Shape::Tube { radius, length, resolution, seed, .. } => {
            *resolution = Resolution::Two(tube_quads(resolution, *radius, *length));
            (*radius, *length) = (m(*radius), m(*length));
            *seed = seed.or(Some(scene_seed));
        }
        Shape::Cone { radius_bottom, radius_top, length, seed, .. } => {
            (*radius_bottom, *radius_top, *length) = (m(*radius_bottom), m(*radius_top), m(*length));
            *seed = seed.or(Some(scene_seed));
        }
        Shape::Ribbon { path, width, across, resolution, seed, .. } => {
            *resolution = Resolution::Two(quads(resolution, [ribbon::length(path), *width], true));
            path.iter_mut().for_each(|p| *p = axes.point_in(DVec3::from(*p)).into());
            *across = Some(across.map_or(DVec3::Y, |d| axes.direction_in(DVec3::from(d))).into());
            *width = m(*width);
            *seed = seed.or(Some(scene_seed));
        }
    }
    shape
}

fn body_shape_in(shape: &BodyShape, axes: Axes, scale: f64) -> BodyShape {
    let m = |x: f64| axes.length_in(x) * scale;
    let place = |p: [f64; 3]| -> [f64; 3] { (axes.point_in(DVec3::from(p)) * scale).into() };
    let mut shape = shape.clone();
    match &mut shape {
        BodyShape::Sphere { radius, .. } => *radius = m(*radius),
        BodyShape::Plane { size } => *size = size.map(m),
        // Extents have no sign: a Z-up box is as tall in Y as it was in Z.
        BodyShape::Box { size } => *size = place(*size).map(f64::abs),
        BodyShape::Capsule { radius, height } | BodyShape::Cylinder { radius, height, .. } => {
            (*radius, *height) = (m(*radius), m(*height));
        }
        BodyShape::Cone { radius, top, height } => {
            (*radius, *top, *height) = (m(*radius), m(*top), m(*height))
        }
        BodyShape::Torus { radius, tube } => (*radius, *tube) = (m(*radius), m(*tube)),
        BodyShape::Metaballs { balls, .. } => {
            for ball in balls {
                (ball.centre, ball.radius) = (place(ball.centre), m(ball.radius));
            }
        }
        BodyShape::Bowl { curvature, radius } => (*curvature, *radius) = (*curvature / m(1.0), m(*radius)),
        BodyShape::Lathe { profile } => profile.iter_mut().for_each(|p| *p = p.map(m)),
        BodyShape::Hull { points } => points.iter_mut().for_each(|p| *p = place(*p)),
    }
    shape
}

/// Builds the SI parts from a file that passed every check.
pub(crate) struct Builder<'a> {
    pub(crate) file: &'a SceneFile,
    pub(crate) axes: Axes,
    pub(crate) folder: Option<&'a std::path::Path>,
    pub(crate) frames: FrameRange,
}

/// Default names: "cloth", "cloth2", …
pub(crate) fn default_name(given: &Option<String>, base: &str, index: usize) -> String {
    match given {
        Some(name) => name.clone(),
        None if index == 0 => base.to_string(),
        None => format!("{base}{}", index + 1),
    }
}

/// Names of everything that can meet: cloths, things, each as often as there are copies, then the bodies that are met.
pub(crate) fn met_objects(file: &SceneFile) -> Vec<String> {
    let cloths = file.cloth.iter().enumerate().map(|(i, c)| default_name(&c.name, "cloth", i));
    let things = file
        .thing
        .iter()
        .enumerate()
        .flat_map(|(i, t)| std::iter::repeat_n(default_name(&t.name, "thing", i), count_of(t) as usize));
    let bodies = file.body.iter().enumerate().filter(|(_, b)| b.collide);
    cloths.chain(things).chain(bodies.map(|(i, b)| default_name(&b.name, "body", i))).collect()
}

impl Builder<'_> {
    fn mesh_file(&self, written: &str, units: Option<Units>, up: Option<crate::axes::Up>) -> MeshFile {
        let axes = Axes { units: units.unwrap_or(self.axes.units), up: up.unwrap_or(self.axes.up) };
        let path = self.folder.map_or_else(|| PathBuf::from(written), |f| f.join(written));
        MeshFile { written: written.to_string(), path, axes }
    }

    pub(crate) fn gravity(&self) -> DVec3 {
        match self.file.gravity {
            Gravity::Down(g) => DVec3::new(0.0, -g, 0.0),
            Gravity::Vector(v) => self.axes.direction_in(DVec3::from(v)),
        }
    }

    pub(crate) fn cloth(&self, index: usize, cloth: &ClothFile, start: &Start) -> Cloth {
        let fabric = start.with(&cloth.fabric);
        let curved = [fabric.stretch[0], fabric.stretch[1], fabric.shear].iter().any(|c| !c.is_linear());
        let strain = if curved { Strain::Engineering } else { Strain::Green };
        let source = match (&cloth.shape, &cloth.file) {
            (Some(shape), _) => ClothSource::Shape(shape_in(shape, self.axes, self.file.seed)),
            (None, file) => ClothSource::File(
                self.mesh_file(file.as_deref().unwrap_or_default(), cloth.file_units, cloth.file_up),
                cloth.rest.unwrap_or_default(),
            ),
        };
        Cloth {
            name: default_name(&cloth.name, "cloth", index),
            source,
            placement: self.axes.placement_in(
                DVec3::from(cloth.translate),
                DVec3::from(cloth.rotate),
                DVec3::splat(cloth.scale),
            ),
            scale: cloth.scale,
            velocity: self.axes.direction_in(DVec3::from(cloth.velocity)),
            layer: cloth.layer,
            fabric,
            fabric_file: start.input.clone(),
            model: cloth.model,
            strain: cloth.strain.unwrap_or(strain),
            bending: cloth.bending,
            bend_rest: cloth.bend_rest,
            spring: cloth.spring.clone().unwrap_or_default(),
            coupled: cloth.coupled.clone().unwrap_or_default(),
            repair: cloth.repair.unwrap_or(true),
            // What cannot be was refused before.
            refine: cloth.refine.as_ref().and_then(|refine| refine.engine(self.axes.length_in(1.0)).ok()),
        }
    }

    pub(crate) fn pin(&self, cloth: usize, pin: &PinFile) -> Pin {
        let direction =
            self.axes.direction_in(DVec3::from(pin.direction.unwrap_or_default())).normalize_or_zero();
        Pin {
            cloth,
            select: self.select(pin),
            hold: match pin.kind {
                PinKind::Hard => Hold::Hard,
                PinKind::Soft => Hold::Soft {
                    stiffness: pin.stiffness.unwrap_or_default(),
                    damping: pin.damping.unwrap_or_default(),
                },
            },
            clamp: pin.clamp,
            slide: match pin.freedom {
                Freedom::Fixed => Slide::Fixed,
                Freedom::Line => Slide::Line(direction),
                Freedom::Plane => Slide::Plane(direction),
            },
            from: pin.from.unwrap_or(self.frames.first),
            until: pin.until.unwrap_or(self.frames.last),
            motion: Motion::new(self.axes, &pin.motion, pin.interpolation, pin.pivot),
        }
    }

    /// An elastic on cloth number `cloth`, drawn to particles of cloth `to` if it names any.
    pub(crate) fn elastic(&self, cloth: usize, to: Option<usize>, elastic: &ElasticFile) -> Elastic {
        let motion = Motion::new(self.axes, &elastic.motion, elastic.interpolation, elastic.pivot);
        Elastic {
            cloth,
            indices: elastic.indices.clone(),
            to: match (&elastic.to, to) {
                (Some(end), Some(to)) => End::Particles(to, end.indices.clone()),
                _ => End::Place(self.axes.point_in(DVec3::from(elastic.place.unwrap_or_default())), motion),
            },
            time: elastic.time,
            from: elastic.from.unwrap_or(self.frames.first),
            until: elastic.until.unwrap_or(self.frames.last),
        }
    }

    fn select(&self, pin: &PinFile) -> Select {
        let place = |p: [f64; 3]| self.axes.point_in(DVec3::from(p));
        if let Some(border) = pin.border {
            Select::Border(border)
        } else if let Some(corners) = &pin.corners {
            Select::Corners(corners.clone())
        } else if let Some(group) = &pin.group {
            Select::Group(group.clone())
        } else if let Some(indices) = &pin.indices {
            Select::Indices(indices.clone())
        } else if let Some([a, b]) = pin.inside_box {
            let (a, b) = (place(a), place(b));
            Select::Box { min: a.min(b), max: a.max(b) }
        } else if let Some(ball) = &pin.sphere {
            Select::Ball { centre: place(ball.centre), radius: self.axes.length_in(ball.radius) }
        } else {
            Select::All
        }
    }

    pub(crate) fn wind(&self) -> Option<Wind> {
        self.file.wind.as_ref().map(|w| Wind {
            velocity: self.axes.direction_in(DVec3::from(w.velocity)),
            drag: w.drag,
            drag_coefficient: w.drag_coefficient,
            gusts: w.gusts.clone().map(|g| Gusts { seed: g.seed.or(Some(self.file.seed)), ..g }),
        })
    }

    /// Duration of a frame [s].
    pub(crate) fn frame_time(&self) -> f64 {
        self.file.frame_time.unwrap_or_else(|| 1.0 / self.file.fps.unwrap_or(60.0))
    }

    pub(crate) fn body(&self, index: usize, body: &BodyFile) -> Body {
        let file = |written: &str| self.mesh_file(written, body.file_units, body.file_up);
        let first = f64::from(self.frames.first);
        let pace = Pace {
            start: (body.start.unwrap_or(first) - first) * self.frame_time(),
            step: body.fps.map_or(self.frame_time(), |fps| 1.0 / fps),
        };
        let source = match (&body.shape, body.file.as_deref().unwrap_or_default(), &body.cache) {
            (Some(shape), ..) => BodySource::Shape(body_shape_in(shape, self.axes, body.scale)),
            (None, mesh, Some(cache)) => BodySource::Points { mesh: file(mesh), cache: file(cache), pace },
            (None, mesh, None) if is_pattern(Path::new(mesh)) => BodySource::Sequence(file(mesh), pace),
            (None, mesh, None) => BodySource::File(file(mesh)),
        };
        let (translate, rotate) = (DVec3::from(body.translate), DVec3::from(body.rotate));
        Body {
            name: default_name(&body.name, "body", index),
            source,
            scale: body.scale,
            placement: self.axes.placement_in(translate, rotate, DVec3::ONE),
            tolerance: body.tolerance.map_or(BODY_TOLERANCE, |t| self.axes.length_in(t)),
            motion: Motion::new(self.axes, &body.motion, body.interpolation, body.pivot),
            collide: body.collide,
            solid: body.solid,
        }
    }

    /// How cloth meets what. Objects are counted cloths first, then the bodies that are met.
    pub(crate) fn contact(&self, fabrics: &[Option<toile::Friction>]) -> ContactSettings {
        let table = match &self.file.contact {
            ContactChoice::Switch(false) => return ContactSettings::off(),
            ContactChoice::Switch(true) => &Contact::default(),
            ContactChoice::Table(table) => table,
        };
        let default = ContactSettings::default();
        let values = |friction: Option<FrictionFile>, other: toile::Friction| {
            friction.map_or(other, FrictionFile::values)
        };
        ContactSettings {
            cloth: table.cloth,
            bodies: table.bodies,
            response: match table.response {
                Response::Gauge => toile::Response::Gauge,
                Response::Constraint => toile::Response::Constraint,
                Response::Correction => toile::Response::Correction,
                Response::Projection => toile::Response::Projection,
                Response::Penalty => toile::Response::Penalty,
                Response::None => toile::Response::None,
            },
            guarantee: table.guarantee,
            gap: table.gap.map_or(default.gap, |gap| self.axes.length_in(gap)),
            stiffness: table.stiffness,
            penalty: table.penalty,
            gain: table.gain,
            vertices_only: table.vertices_only,
            passes: table.passes,
            friction: [
                values(table.friction, default.friction[0]),
                values(table.body_friction, default.friction[1]),
            ],
            pairs: self.friction_pairs(table, fabrics),
        }
    }

    /// What is said about two objects, the strongest word first: the first of a pair counts.
    fn friction_pairs(
        &self,
        table: &Contact,
        fabrics: &[Option<toile::Friction>],
    ) -> Vec<([usize; 2], toile::Friction)> {
        let objects = met_objects(self.file);
        let numbers = |name: &String| -> Vec<usize> {
            objects.iter().enumerate().filter(|(_, object)| *object == name).map(|(k, _)| k).collect()
        };
        let mut pairs: Vec<([usize; 2], toile::Friction)> = Vec::new();
        for pair in &table.pair {
            let [first, second] = [numbers(&pair.between[0]), numbers(&pair.between[1])];
            let each = first.iter().flat_map(|a| second.iter().map(|b| [*a, *b]));
            pairs.extend(each.map(|both| (both, pair.friction.values())));
        }
        let fabrics_of = self.file.cloth.len();
        let cloths = fabrics_of + self.file.thing.iter().map(|t| count_of(t) as usize).sum::<usize>();
        for (n, body) in self.file.body.iter().filter(|body| body.collide).enumerate() {
            if let Some(friction) = body.friction {
                pairs.extend((0..cloths).map(|c| ([c, cloths + n], friction.values())));
            }
        }
        if table.friction.is_none() {
            for a in 0..fabrics_of {
                for b in a..fabrics_of {
                    if let (Some(p), Some(q)) = (fabrics[a], fabrics[b]) {
                        let still = 0.5 * (p.still + q.still);
                        pairs.push((
                            [a, b],
                            toile::Friction { still, sliding: 0.5 * (p.sliding + q.sliding) },
                        ));
                    }
                }
            }
        }
        pairs
    }

    pub(crate) fn render(&self) -> Render {
        let r = &self.file.render;
        let place = |p: [f64; 3]| self.axes.point_in(DVec3::from(p));
        let fov = r.camera.fov.unwrap_or(35.0);
        let camera = match (r.camera.eye, r.camera.target) {
            (Some(eye), Some(target)) => Camera::LookAt { eye: place(eye), target: place(target), fov },
            _ => Camera::Orbit {
                yaw: r.camera.yaw.unwrap_or(30.0),
                pitch: r.camera.pitch.unwrap_or(15.0),
                fov,
            },
        };
        Render {
            size: r.size,
            colour: r.colour,
            front: parse_colour(&r.look.front).unwrap_or([200, 85, 61]),
            back: parse_colour(&r.look.back).unwrap_or([232, 196, 160]),
            pattern: r.look.pattern,
            repeat: r.look.repeat.unwrap_or(if r.look.pattern == Print::Weave { 0.005 } else { 0.1 }),
            camera,
            ground: match r.ground {
                file::Ground::Shown(false) => Floor::None,
                file::Ground::Shown(true) => Floor::Below,
                file::Ground::Height(h) => Floor::Height(self.axes.length_in(h)),
            },
            every: r.every,
            smooth: r.smooth,
        }
    }
}
