//! The mesh files of a scene: found, read, and held against what the scene says about them.

use super::document::{Document, SceneError, SceneErrors, nearest, quoted_list};
use super::overrides::Patched;
use super::schema::{BodyShape, Rest, Shape};
use super::{BodySource, ClothSource, MeshFile, Note, Scene, Select};
use crate::atomic::read_capped;
use crate::error::FileError;
use crate::obj::{Limits, Obj};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use xxhash_rust::xxh3::xxh3_64;

/// A file that a scene needs, as it was when the run started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Path as written in the scene.
    pub path: String,
    /// Size [bytes].
    pub bytes: u64,
    /// XXH3-64 of the content, in hexadecimal.
    pub xxh3: String,
}

impl InputFile {
    /// A file by the path the scene writes and its content.
    pub(crate) fn of(path: &str, bytes: &[u8]) -> InputFile {
        InputFile { path: path.into(), bytes: bytes.len() as u64, xxh3: format!("{:016x}", xxh3_64(bytes)) }
    }
}

/// The meshes of a scene, by path.
#[derive(Clone, Debug, Default)]
pub struct SceneMeshes {
    meshes: BTreeMap<PathBuf, Obj>,
    /// The files, in the order of the scene, each once.
    pub inputs: Vec<InputFile>,
}

impl SceneMeshes {
    /// The mesh of a file in metres, Y up, before placement.
    pub fn get(&self, file: &MeshFile) -> Option<Obj> {
        self.meshes.get(&file.path).map(|obj| obj.clone().into_si(file.axes))
    }

    fn add(&mut self, file: &MeshFile) -> Result<(), FileError> {
        if self.meshes.contains_key(&file.path) {
            return Ok(());
        }
        let limits = Limits::default();
        let bytes = read_capped(&file.path, limits.bytes)?;
        self.inputs.push(InputFile::of(&file.written, &bytes));
        let obj = Obj::parse(&bytes, &file.path, &limits)?;
        self.meshes.insert(file.path.clone(), obj);
        Ok(())
    }
}

impl Scene {
    /// Every mesh file of the scene with the path of the field that names it.
    pub fn mesh_files(&self) -> Vec<(String, &MeshFile)> {
        let cloths = self.cloths.iter().enumerate().filter_map(|(i, c)| match &c.source {
            ClothSource::File(file, _) => Some((format!("cloth.{i}.file"), file)),
            ClothSource::Shape(_) => None,
        });
        let bodies = self.bodies.iter().enumerate().filter_map(|(i, b)| match &b.source {
            BodySource::File(file) => Some((format!("body.{i}.file"), file)),
            BodySource::Shape(_) => None,
        });
        cloths.chain(bodies).collect()
    }

    /// Reads every mesh file of the scene.
    pub fn read_meshes(&self) -> Result<SceneMeshes, FileError> {
        let mut meshes = SceneMeshes::default();
        for (_, file) in self.mesh_files() {
            meshes.add(file)?;
        }
        // Fabric files were read with the scene, but belong to what a run depends on.
        for input in self.cloths.iter().filter_map(|cloth| cloth.fabric_file.as_ref()) {
            if !meshes.inputs.contains(input) {
                meshes.inputs.push(input.clone());
            }
        }
        Ok(meshes)
    }
}

/// Reads the mesh files and reports all that are missing, broken or do not fit the scene.
pub(super) fn check(scene: &mut Scene, patched: &Patched) -> Result<(), SceneErrors> {
    let Ok(doc) = Document::parse(&patched.text) else { return Ok(()) };
    let mut report = Report { doc: &doc, errors: Vec::new(), notes: Vec::new() };
    let mut meshes = SceneMeshes::default();
    for (path, file) in scene.mesh_files() {
        if let Err(e) = meshes.add(file) {
            let place = e.line.map_or(String::new(), |l| format!(":{l}"));
            let message = format!("{} \"{}\"{place}: {}", doc.label(&path), file.written, e.message);
            let at = format!("{} (looked for {})", e.help, file.path.display());
            report.fail(&path, message, if e.line.is_none() { at } else { e.help });
        }
    }
    for (i, cloth) in scene.cloths.iter().enumerate() {
        if let ClothSource::File(file, rest) = &cloth.source
            && let Some(obj) = meshes.get(file)
        {
            report.cloth_file(&format!("cloth.{i}"), file, &obj, *rest, cloth.scale);
            for (p, pin) in scene.pins.iter().enumerate().filter(|(_, p)| p.cloth == i) {
                report.pin(&format!("pin.{p}"), &pin.select, &obj);
            }
        }
    }
    for (i, body) in scene.bodies.iter().enumerate() {
        if let BodySource::File(file) = &body.source
            && let Some(obj) = meshes.get(file)
        {
            report.mesh_notes(&format!("body.{i}.file"), file, &obj);
        }
    }
    let Report { mut errors, notes, .. } = report;
    if errors.is_empty() {
        scene.notes.extend(notes);
        return Ok(());
    }
    errors.sort_by_key(|e| e.span.start);
    patched.attribute(&mut errors);
    Err(SceneErrors { source_name: scene.source_name.clone(), text: patched.text.clone(), errors })
}

struct Report<'a> {
    doc: &'a Document,
    errors: Vec<SceneError>,
    notes: Vec<Note>,
}

impl Report<'_> {
    fn fail(&mut self, path: &str, message: String, help: impl Into<String>) {
        let span = self.doc.span_of(path);
        self.errors.push(SceneError {
            message,
            help: help.into(),
            span,
            path: path.into(),
            from_override: None,
        });
    }

    fn note(&mut self, path: &str, message: String, help: &str) {
        let span = self.doc.span_of(path);
        self.notes.push(Note { message, help: help.into(), span, path: path.into() });
    }

    fn mesh_notes(&mut self, path: &str, file: &MeshFile, obj: &Obj) {
        for text in &obj.notes {
            self.note(
                path,
                format!("{}: {text}", file.written),
                "repair it in the program that wrote the file",
            );
        }
    }

    fn cloth_file(&mut self, path: &str, file: &MeshFile, obj: &Obj, rest: Rest, scale: f64) {
        let field = format!("{path}.file");
        self.mesh_notes(&field, file, obj);
        let unused = obj.unused_vertices();
        if let Some(&v) = unused.first() {
            let message = format!(
                "{}: {} vertices of \"{}\" belong to no face, the first is number {}: they have no mass and stay put",
                self.doc.label(path),
                unused.len(),
                file.written,
                v + 1
            );
            self.note(&field, message, "delete loose vertices before exporting");
        }
        if rest == Rest::Uv {
            self.uv(path, file, obj);
        }
        if let Some((lo, hi)) = obj.bounds()
            && let Some((message, help)) = size_note(&self.doc.label(path), (hi - lo) * scale)
        {
            self.note(&field, message, &help);
        }
    }

    fn uv(&mut self, path: &str, file: &MeshFile, obj: &Obj) {
        let field = format!("{path}.rest");
        if !obj.has_all_texcoords() {
            let message = format!(
                "{}: rest is \"uv\", but not every corner of \"{}\" has a vt",
                self.doc.label(path),
                file.written
            );
            return self.fail(&field, message, "export texture coordinates, or use rest = \"shape\"");
        }
        let (flat, solid) = areas(obj);
        let ratio = (flat / solid).sqrt();
        if !(0.5..=2.0).contains(&ratio) {
            let message = format!(
                "{}: the flat pattern (vt) is {ratio:.3} times the size of the mesh",
                self.doc.label(path)
            );
            self.note(
                &field,
                message,
                "vt must be lengths in the file's unit; use rest = \"shape\" for picture coordinates",
            );
        }
    }

    fn pin(&mut self, path: &str, select: &Select, obj: &Obj) {
        let label = self.doc.label(path);
        match select {
            Select::Group(name) if obj.group_vertices(name).is_none() => {
                let names = obj.group_names();
                let help = match nearest(name, names.iter().copied()) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None if names.is_empty() => "the mesh has no groups: select by box or indices".into(),
                    None => format!("the mesh has {}", quoted_list(&names[..names.len().min(12)], "and")),
                };
                self.fail(
                    &format!("{path}.group"),
                    format!("{label}: the mesh has no group \"{name}\""),
                    help,
                );
            }
            Select::Indices(indices) => {
                let count = obj.positions.len();
                if let Some(k) = indices.iter().position(|&i| i as usize >= count) {
                    let message = format!(
                        "{label}: index {} is out of range, the mesh has vertices 0 to {}",
                        indices[k],
                        count - 1
                    );
                    self.fail(
                        &format!("{path}.indices.{k}"),
                        message,
                        "vertices are counted from 0, in file order",
                    );
                }
            }
            _ => {}
        }
    }
}

/// Areas of the flat pattern and of the mesh [m²].
fn areas(obj: &Obj) -> (f64, f64) {
    let triangles = obj.triangulate();
    let at = |v: u32| obj.positions.get(v as usize).copied().unwrap_or_default();
    let uv = |t: u32| obj.texcoords.get(t as usize).copied().unwrap_or_default();
    let solid =
        triangles.faces.iter().map(|f| 0.5 * (at(f[1]) - at(f[0])).cross(at(f[2]) - at(f[0])).length());
    let flat =
        triangles.texcoords.iter().map(|t| 0.5 * (uv(t[1]) - uv(t[0])).perp_dot(uv(t[2]) - uv(t[0])).abs());
    (flat.sum(), solid.sum())
}

/// A word about a cloth whose size [m] suggests a wrong unit, and what to do.
pub fn size_note(label: &str, extent: DVec3) -> Option<(String, String)> {
    let size = extent.max_element();
    if size > 50.0 {
        let tall = if extent.y >= size { "tall" } else { "wide" };
        let unit = if size > 500.0 { "mm" } else { "cm" };
        Some((
            format!("{label} is {size:.0} m {tall}"),
            format!("are its lengths in {unit}? Then write units (or file_units) = \"{unit}\""),
        ))
    } else if size < 0.005 && size > 0.0 {
        Some((
            format!("{label} is only {:.2} mm in size", size * 1000.0),
            "are its lengths in metres? Then write units (or file_units) = \"m\"".into(),
        ))
    } else {
        None
    }
}

/// Adds a note for every generated shape of suspicious size.
pub(super) fn note_shape_sizes(scene: &mut Scene) {
    let Ok(doc) = Document::parse(&scene.text) else { return };
    let mut notes = Vec::new();
    let mut look = |path: String, extent: DVec3| {
        if let Some((message, help)) = size_note(&doc.label(&path), extent) {
            let path = format!("{path}.shape");
            notes.push(Note { message, help, span: doc.span_of(&path), path });
        }
    };
    for (i, cloth) in scene.cloths.iter().enumerate() {
        if let ClothSource::Shape(shape) = &cloth.source {
            let extent = match shape {
                Shape::Sheet { size, .. } => DVec3::new(size[0], size[1], 0.0),
                Shape::Strip { length, width, .. } => DVec3::new(*length, *width, 0.0),
                Shape::Disc { radius, .. } => DVec3::new(2.0 * radius, 2.0 * radius, 0.0),
                Shape::Tube { radius, length, .. } => DVec3::new(2.0 * radius, *length, 2.0 * radius),
            };
            look(format!("cloth.{i}"), extent * cloth.scale);
        }
    }
    for (i, body) in scene.bodies.iter().enumerate() {
        if let BodySource::Shape(BodyShape::Sphere { radius, .. }) = body.source {
            look(format!("body.{i}"), DVec3::splat(2.0 * radius));
        }
    }
    scene.notes.extend(notes);
}
