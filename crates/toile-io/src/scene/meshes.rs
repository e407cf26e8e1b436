//! The mesh files of a scene: found, read, and held against what the scene says about them.

use super::document::{Document, SceneError, SceneErrors, nearest, quoted_list};
use super::overrides::Patched;
use super::schema::{BodyShape, Rest, Shape};
use super::{BodySource, ClothSource, End, MeshFile, Note, Scene, Select};
use crate::atomic::read_capped;
use crate::error::{FileError, FileErrorKind};
use crate::obj::{Limits, Obj};
use crate::pc2::Pc2Reader;
use crate::ribbon;
use crate::sequence;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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

/// Positions of an animated mesh as its file has them, how many frames after the first they are, and what people call them.
type Samples = Vec<(f64, Vec<DVec3>, String)>;

/// The meshes of a scene, by path.
#[derive(Clone, Debug, Default)]
pub struct SceneMeshes {
    meshes: BTreeMap<PathBuf, Obj>,
    /// How they move, by the path of the sequence or cache.
    samples: BTreeMap<PathBuf, Samples>,
    /// The files, in the order of the scene, each once.
    pub inputs: Vec<InputFile>,
}

impl SceneMeshes {
    /// The mesh of a file in metres, Y up, before placement.
    pub fn get(&self, file: &MeshFile) -> Option<Obj> {
        self.meshes.get(&file.path).map(|obj| obj.clone().into_si(file.axes))
    }

    /// Where the vertices of an animated body are, in metres, Y up, before placement, each with its time [s]. Nothing for
    /// bodies that are not animated.
    pub fn frames(&self, source: &BodySource) -> Vec<(f64, Vec<DVec3>)> {
        self.named_frames(source).into_iter().map(|(time, x, _)| (time, x)).collect()
    }

    /// The same, each with the name of its file or the number of its sample.
    pub(crate) fn named_frames(&self, source: &BodySource) -> Vec<(f64, Vec<DVec3>, String)> {
        let (key, axes, pace) = match source {
            BodySource::Sequence(file, pace) => (&file.path, file.axes, pace),
            BodySource::Points { mesh, cache, pace } => (&cache.path, mesh.axes, pace),
            BodySource::Shape(_) | BodySource::File(_) => return Vec::new(),
        };
        let samples = self.samples.get(key).map_or(&[][..], Vec::as_slice);
        let metres = |x: &Vec<DVec3>| x.iter().map(|p| axes.point_in(*p)).collect();
        let named = |(number, x, name): &(f64, Vec<DVec3>, String)| {
            (pace.start + number * pace.step, metres(x), name.clone())
        };
        samples.iter().map(named).collect()
    }

    fn add(&mut self, file: &MeshFile, motion: Role) -> Result<(), FileError> {
        match motion {
            Role::Still if self.meshes.contains_key(&file.path) => Ok(()),
            Role::Still => {
                let obj = self.read(&file.written, &file.path, Obj::parse)?;
                self.meshes.insert(file.path.clone(), obj);
                Ok(())
            }
            _ if self.samples.contains_key(&file.path) => Ok(()),
            Role::Sequence => self.add_sequence(file),
            Role::Points(mesh) => self.add_points(file, mesh),
        }
    }

    fn read(&mut self, written: &str, path: &Path, parse: Parse) -> Result<Obj, FileError> {
        let limits = Limits::default();
        let bytes = read_capped(path, limits.bytes)?;
        self.inputs.push(InputFile::of(written, &bytes));
        parse(&bytes, path, &limits)
    }

    fn add_sequence(&mut self, file: &MeshFile) -> Result<(), FileError> {
        let files = sequence::find(&file.path)?;
        let mut samples: Samples = Vec::with_capacity(files.len());
        let mut first: Option<Obj> = None;
        for one in &files {
            let name = one.path.file_name().unwrap_or_default();
            let written = Path::new(&file.written).with_file_name(name).display().to_string();
            // A coordinate that is no number costs a later frame, not the whole sequence.
            let parse: Parse = if first.is_none() { Obj::parse } else { Obj::parse_pose };
            let obj = self.read(&written, &one.path, parse)?;
            let reference = first.get_or_insert_with(|| obj.clone());
            let (now, before) = (obj.positions.len(), reference.positions.len());
            if now != before || obj.polygons != reference.polygons {
                let polygons = [obj.polygons.len(), reference.polygons.len()];
                let message = format!(
                    "{now} vertices in {} polygons differ from the first file, which has {before} in {}, or are joined \
                     otherwise",
                    polygons[0], polygons[1]
                );
                let help = "export every frame with the same vertices and faces in the same order";
                return Err(FileError::new(FileErrorKind::Format, &one.path, message, help));
            }
            let called = format!("frame {} ({written})", one.frame);
            samples.push(((one.frame - files[0].frame) as f64, obj.positions, called));
        }
        if let Some(obj) = first {
            self.meshes.insert(file.path.clone(), obj);
        }
        self.samples.insert(file.path.clone(), samples);
        Ok(())
    }

    fn add_points(&mut self, file: &MeshFile, mesh: &MeshFile) -> Result<(), FileError> {
        let mut reader = Pc2Reader::open(&file.path)?;
        self.inputs.push(InputFile::of(&file.written, &read_capped(&file.path, Limits::default().bytes)?));
        let (points, vertices) =
            (reader.points as usize, self.meshes.get(&mesh.path).map_or(0, |obj| obj.positions.len()));
        if points != vertices {
            let message = format!("the cache has {points} points, the mesh {} has {vertices}", mesh.written);
            let help = "export mesh and cache together; modifiers that change the mesh must be off";
            return Err(FileError::new(FileErrorKind::Format, &file.path, message, help));
        }
        let rate = f64::from(reader.sample_rate);
        let mut samples: Samples = Vec::with_capacity(reader.samples as usize);
        for k in 0..reader.samples {
            let wide = |p: &[f32; 3]| DVec3::new(p[0].into(), p[1].into(), p[2].into());
            let called = format!("sample {} of {}", k + 1, file.written);
            samples.push((f64::from(k) * rate, reader.read(k)?.iter().map(wide).collect(), called));
        }
        self.samples.insert(file.path.clone(), samples);
        Ok(())
    }
}

/// How a mesh file is read.
type Parse = fn(&[u8], &Path, &Limits) -> Result<Obj, FileError>;

/// What a file of a scene is to its object.
#[derive(Clone, Copy)]
enum Role<'a> {
    /// Its mesh.
    Still,
    /// Its mesh at every frame.
    Sequence,
    /// Positions of this mesh.
    Points(&'a MeshFile),
}

impl Scene {
    /// Every file of a mesh or its motion, with the path of the field that names it, meshes before what moves them.
    fn mesh_files(&self) -> Vec<(String, &MeshFile, Role<'_>)> {
        let cloths = self.cloths.iter().enumerate().filter_map(|(i, c)| match &c.source {
            ClothSource::File(file, _) => Some((format!("cloth.{i}.file"), file, Role::Still)),
            ClothSource::Shape(_) | ClothSource::Thing(..) => None,
        });
        let mut files: Vec<_> = cloths.collect();
        for (i, body) in self.bodies.iter().enumerate() {
            let field = format!("body.{i}.file");
            match &body.source {
                BodySource::Shape(_) => {}
                BodySource::File(file) => files.push((field, file, Role::Still)),
                BodySource::Sequence(file, _) => files.push((field, file, Role::Sequence)),
                BodySource::Points { mesh, cache, .. } => {
                    files.push((field, mesh, Role::Still));
                    files.push((format!("body.{i}.cache"), cache, Role::Points(mesh)));
                }
            }
        }
        files
    }

    /// Reads every mesh file of the scene.
    pub fn read_meshes(&self) -> Result<SceneMeshes, FileError> {
        let mut meshes = SceneMeshes::default();
        for (_, file, motion) in self.mesh_files() {
            meshes.add(file, motion)?;
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
    for (path, file, motion) in scene.mesh_files() {
        // A cache says nothing new about a mesh that could not be read.
        if matches!(motion, Role::Points(mesh) if !meshes.meshes.contains_key(&mesh.path)) {
            continue;
        }
        if let Err(e) = meshes.add(file, motion) {
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
            for (e, elastic) in scene.elastics.iter().enumerate() {
                if elastic.cloth == i {
                    report.indices(&format!("elastic.{e}"), "indices", &elastic.indices, &obj);
                }
                if let End::Particles(to, indices) = &elastic.to
                    && *to == i
                {
                    report.indices(&format!("elastic.{e}"), "to.indices", indices, &obj);
                }
            }
        }
    }
    for (i, body) in scene.bodies.iter().enumerate() {
        if let Some(file) = body.source.file()
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
            Select::Indices(indices) => self.indices(path, "indices", indices, obj),
            _ => {}
        }
    }

    fn indices(&mut self, path: &str, field: &str, indices: &[u32], obj: &Obj) {
        let count = obj.positions.len();
        if let Some(k) = indices.iter().position(|&i| i as usize >= count) {
            let message = format!(
                "{}: index {} is out of range, the mesh has vertices 0 to {}",
                self.doc.label(path),
                indices[k],
                count - 1
            );
            let help = "vertices are counted from 0, in file order";
            self.fail(&format!("{path}.{field}.{k}"), message, help);
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
                Shape::Cone { radius_bottom, radius_top, length, .. } => {
                    let wide = 2.0 * radius_bottom.max(*radius_top);
                    DVec3::new(wide, *length, wide)
                }
                Shape::Ribbon { path, width, .. } => DVec3::new(ribbon::length(path), *width, 0.0),
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
