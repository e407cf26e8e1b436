//! Scene files: the unit of everything. An example, a test, a benchmark and a picture are each one
//! `scene.toml`.
//!
//! Text becomes a [`Scene`] in four passes, each reporting all its problems with their place:
//! overrides are spliced into the text, the text is parsed, its structure is held against the
//! schema, its values are checked. What comes out is in metres, Y up, with every default filled.

mod builtin;
mod document;
mod edits;
mod meshes;
mod overrides;
mod papers;
mod reference;
pub mod schema;
mod si;
mod structure;
mod things;
mod validate;

pub use builtin::{BUILTINS, Builtin, Resolved, resolve};
pub use document::{SceneError, SceneErrors};
pub use edits::{Edit, Job, Region, Stitch};
pub use meshes::{InputFile, SceneMeshes, size_note};
pub use reference::scene_reference;
pub use si::*;
pub use structure::scene_schema;

pub(crate) use document::{Document, nearest, quoted_list};
pub(crate) use structure::{Schema, check as structure_check};
pub(crate) use validate::{Start, validate_fabric};

use crate::axes::Axes;
use crate::error::FileErrorKind;
use crate::fabric::Unfit;
use document::MAX_SCENE_BYTES;
use glam::DVec3;
use overrides::Patched;
use schema::{Air, Integrator, Output, SceneFile, Solver};
use si::{Builder, parse_frames};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toile::ContactSettings;

/// Most frames of one run.
pub const MAX_FRAMES: u64 = 1_000_000;
/// Most faces of one generated cloth.
pub const MAX_FACES: u64 = 50_000_000;

/// Something legal but worth a word, with its place and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What was noticed.
    pub message: String,
    /// What to do if it was not meant.
    pub help: String,
    /// Bytes of the text it is about.
    pub span: Range<usize>,
    /// Path of the field, as `--set` takes it.
    pub path: String,
}

/// A scene ready for the engine: SI units, Y up, defaults filled, names resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Name for messages and folders.
    pub name: String,
    /// The text that was read, overrides applied: a run keeps this copy.
    pub text: String,
    /// Name of the source, as the user knows it.
    pub source_name: String,
    /// Folder that relative paths start from; built-in scenes have none.
    pub folder: Option<PathBuf>,
    /// The file's own unit and up axis, for output.
    pub axes: Axes,
    /// Frames to simulate.
    pub frames: FrameRange,
    /// Duration of a frame [s].
    pub frame_time: f64,
    /// Gravity [m/s²].
    pub gravity: DVec3,
    /// Seed of every random choice.
    pub seed: u64,
    /// How time is stepped and equations are solved.
    pub solver: Solver,
    /// Pieces of cloth, at least one, and after them things.
    pub cloths: Vec<Cloth>,
    /// Held particles.
    pub pins: Vec<Pin>,
    /// What draws particles to others or to a place.
    pub elastics: Vec<Elastic>,
    /// What is done to cloths while they move, in the order of the file.
    pub edits: Vec<Edit>,
    /// Moving air.
    pub wind: Option<Wind>,
    /// Resistance of the air at rest.
    pub air: Air,
    /// Bodies around the cloth.
    pub bodies: Vec<Body>,
    /// How cloth meets itself and bodies, objects counted cloths first, then the bodies that are met.
    pub contact: ContactSettings,
    /// How pairs that are close are found, as the file writes it; see [`crate::detect::question`].
    pub detect: schema::Detect,
    /// Pictures.
    pub render: Render,
    /// What a run writes.
    pub output: Output,
    /// What is legal but worth a word.
    pub notes: Vec<Note>,
}

impl Scene {
    /// Reads a scene from text. Mesh files it refers to are neither looked for nor read; fabric files are refused,
    /// because text has no folder to find them in.
    pub fn parse(text: &str, source_name: &str) -> Result<Scene, SceneErrors> {
        Scene::parse_with(text, source_name, &[])
    }

    /// [`Scene::parse`] with overrides.
    pub fn parse_with(text: &str, source_name: &str, overrides: &[&str]) -> Result<Scene, SceneErrors> {
        Scene::from_patched(&patch(text, source_name, overrides)?, source_name, None)
    }

    /// Reads a scene file, or a folder's `scene.toml`, and checks that its mesh files exist and fit.
    pub fn load(path: &Path) -> Result<Scene, SceneErrors> {
        Scene::load_with(path, &[])
    }

    /// [`Scene::load`] with overrides: `cloth.0.fabric.density=0.3`, `cloth.sheet.fabric.bend=1e-5`.
    pub fn load_with(path: &Path, overrides: &[&str]) -> Result<Scene, SceneErrors> {
        let path = if path.is_dir() { path.join("scene.toml") } else { path.to_path_buf() };
        // A bare "scene.toml" stands in the current folder, and runs must be able to say which that was.
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Scene::load_from(&path, Some(folder), overrides)
    }

    /// [`Scene::load_with`], with mesh files relative to a folder that need not be the scene's own.
    pub fn load_from(path: &Path, folder: Option<&Path>, overrides: &[&str]) -> Result<Scene, SceneErrors> {
        let shown = path.display().to_string();
        let bytes = crate::atomic::read_capped(path, MAX_SCENE_BYTES as u64).map_err(|e| {
            let help = match e.kind {
                FileErrorKind::Missing => builtin::known(),
                _ => e.help,
            };
            SceneErrors::whole(&shown, e.message, help)
        })?;
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(SceneErrors::whole(&shown, "the file is not UTF-8 text", "save it as UTF-8"));
        };
        let patched = patch(&text, &shown, overrides)?;
        let mut scene = Scene::from_patched(&patched, &shown, folder)?;
        meshes::check(&mut scene, &patched)?;
        Ok(scene)
    }

    /// Reads what [`resolve`] found: a built-in scene or a file.
    pub fn open(source: &Resolved, overrides: &[&str]) -> Result<Scene, SceneErrors> {
        match source {
            Resolved::Builtin(b) => {
                let name = format!("<built-in>/{}/scene.toml", b.name);
                Scene::from_patched(&patch(b.text, &name, overrides)?, &name, None)
            }
            Resolved::File(path) => Scene::load_with(path, overrides),
        }
    }

    fn from_patched(
        patched: &Patched,
        source_name: &str,
        folder: Option<&Path>,
    ) -> Result<Scene, SceneErrors> {
        let report = |mut errors: Vec<SceneError>| {
            patched.attribute(&mut errors);
            SceneErrors { source_name: source_name.into(), text: patched.text.clone(), errors }
        };
        let doc = Document::parse(&patched.text).map_err(&report)?;
        let errors = structure::check(&doc, &structure::SCENE);
        if !errors.is_empty() {
            return Err(report(errors));
        }
        let file: SceneFile = toml::from_str(&patched.text).map_err(|e| report(vec![last_resort(&e)]))?;
        let mut starts = Vec::new();
        let mut unknown = Vec::new();
        for (i, cloth) in file.cloth.iter().enumerate() {
            starts.push(match crate::fabric::start(&cloth.fabric, folder) {
                Ok(start) => start,
                Err(Unfit::Inside(errors)) => return Err(errors),
                Err(Unfit::Named { message, help }) => {
                    let path = format!("cloth.{i}.fabric");
                    let named = format!("{path}.preset");
                    let path = if doc.find(&named).is_some() { named } else { path };
                    unknown.push(doc.error(&path, format!("{}: {message}", doc.label(&path)), help));
                    Start::default()
                }
            });
        }
        let (mut errors, notes) = validate::validate(&doc, &file, &starts);
        if !unknown.is_empty() || !errors.is_empty() {
            errors.extend(unknown);
            errors.sort_by_key(|e| e.span.start);
            return Err(report(errors));
        }
        let mut scene = assemble(&file, folder, source_name, notes, &starts);
        scene.text = patched.text.clone();
        meshes::note_shape_sizes(&mut scene);
        Ok(scene)
    }

    /// Time of a frame since the start [s].
    pub fn time_of(&self, frame: u32) -> f64 {
        f64::from(frame.saturating_sub(self.frames.first)) * self.frame_time
    }

    /// Steps per frame: as written, or as many as keep a step at or below 1/120 s (1/240 s where things meet and for
    /// integrators that linearise once, 1/2000 s for explicit ones).
    pub fn substeps(&self) -> u32 {
        let once = matches!(self.solver.integrator, Integrator::LinearEuler | Integrator::LambdaMidpoint)
            || matches!(self.solver.integrator, Integrator::K02 | Integrator::Precomputed);
        let longest = match self.solver.integrator {
            Integrator::QuasiStatic => f64::INFINITY,
            explicit if explicit.is_explicit() => 1.0 / 2000.0,
            _ if once || !self.contact.is_off() => 1.0 / 240.0,
            _ => 1.0 / 120.0,
        };
        // A frame of 1/60 s must not become three steps by rounding.
        let enough = (self.frame_time / longest * (1.0 - 1e-9)).ceil();
        self.solver.substeps.unwrap_or(enough as u32).max(1)
    }

    /// Duration of one time step [s].
    pub fn step(&self) -> f64 {
        self.frame_time / f64::from(self.substeps())
    }
}

/// The text with overrides applied, if it is not too large to look at.
fn patch(text: &str, source_name: &str, overrides: &[&str]) -> Result<Patched, SceneErrors> {
    if text.len() > MAX_SCENE_BYTES {
        let message = format!("the scene has {} bytes, the limit is {MAX_SCENE_BYTES}", text.len());
        return Err(SceneErrors::whole(source_name, message, "put large data into mesh files"));
    }
    Patched::new(text, source_name, overrides)
}

/// A type error that the walk along the schema let through; it still has a place.
fn last_resort(error: &toml::de::Error) -> SceneError {
    SceneError {
        message: error.message().to_string(),
        help: "see the scene reference for this field".into(),
        span: error.span().unwrap_or(0..0),
        path: String::new(),
        from_override: None,
    }
}

/// Turns a checked file into a scene.
fn assemble(
    file: &SceneFile,
    folder: Option<&Path>,
    source_name: &str,
    notes: Vec<Note>,
    starts: &[Start],
) -> Scene {
    let axes = Axes { units: file.units, up: file.up };
    let frames = parse_frames(&file.frames).unwrap_or(FrameRange { first: 1, last: 1 });
    let build = Builder { file, axes, folder, frames };
    let friction = |(start, cloth): (&Start, &schema::ClothFile)| start.friction(&cloth.fabric);
    let frictions: Vec<_> = starts.iter().zip(&file.cloth).map(friction).collect();
    let cloth = |name: &Option<String>| validate::cloth_called(name.as_deref(), file);
    let pins = file.pin.iter().filter_map(|p| Some(build.pin(cloth(&p.cloth)?, p))).collect();
    let elastic = |e: &schema::ElasticFile| {
        let to = e.to.as_ref().map(|to| cloth(&to.cloth)).unwrap_or_default();
        Some(build.elastic(cloth(&e.cloth)?, to, e))
    };
    let elastics = file.elastic.iter().filter_map(elastic).collect();
    Scene {
        name: file.name.clone().unwrap_or_else(|| name_of(source_name, folder)),
        text: String::new(),
        source_name: source_name.to_string(),
        folder: folder.map(Path::to_path_buf),
        axes,
        frames,
        frame_time: build.frame_time(),
        gravity: build.gravity(),
        seed: file.seed,
        solver: file.solver.clone(),
        cloths: {
            let cloths = file.cloth.iter().enumerate().map(|(i, c)| build.cloth(i, c, &starts[i]));
            cloths.chain(file.thing.iter().enumerate().flat_map(|(i, t)| build.things(i, t))).collect()
        },
        pins,
        elastics,
        edits: file.edit.iter().filter_map(|e| build.edit(cloth(&e.cloth)?, e)).collect(),
        wind: build.wind(),
        air: file.air.clone(),
        bodies: file.body.iter().enumerate().map(|(i, b)| build.body(i, b)).collect(),
        contact: build.contact(&frictions),
        detect: file.detect.clone(),
        render: build.render(),
        output: file.output.clone(),
        notes,
    }
}

/// "scenes/hang/scene.toml" → "hang", "my.toml" → "my"; "scene.toml" is named after the folder it stands in.
fn name_of(source: &str, folder: Option<&Path>) -> String {
    let path = Path::new(source);
    let last = |p: &Path| p.file_name().map(|n| n.to_string_lossy().into_owned());
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = path.parent().and_then(last);
    let around = || folder.and_then(|f| std::path::absolute(f).ok()).and_then(|f| last(&f));
    let name = if stem == "scene" { beside.or_else(around).unwrap_or(stem) } else { stem };
    if name.is_empty() { "scene".into() } else { name }
}
