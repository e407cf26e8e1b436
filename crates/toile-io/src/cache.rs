//! Any animated mesh, whoever wrote it: our runs, PC2 on an OBJ mesh, OBJ sequences, single meshes.
//!
//! Whatever it came from, a frame is positions in metres, Y up, of objects. Their faces change in runs in which cloth was cut,
//! sewn or refined, and in no others.

use crate::axes::Axes;
use crate::error::{FileError, FileErrorKind};
use crate::obj::{Obj, Polygons};
use crate::pc2::Pc2Reader;
use crate::run::{Frame, Role, RunFolder, Topology};
use crate::sequence::{self, Numbered, gap_note};
use glam::{DVec2, DVec3};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What to open as one animated object: an OBJ mesh, an OBJ sequence, or a PC2 with its mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackPath {
    /// A .pc2 file, an .obj file, a pattern (`cloth_####.obj`) or a folder.
    pub path: PathBuf,
    /// The mesh a .pc2 belongs to.
    pub mesh: Option<PathBuf>,
}

/// How to open a cache.
#[derive(Clone, Debug, Default)]
pub struct CacheOptions {
    /// The mesh a .pc2 belongs to.
    pub mesh: Option<PathBuf>,
    /// Bodies: static meshes, or sequences with the same frames.
    pub bodies: Vec<TrackPath>,
    /// Unit and up axis of OBJ and PC2 files; our own runs know theirs.
    pub axes: Axes,
}

/// An object of a cache.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheObject {
    /// Name: that of the scene, or of the file.
    pub name: String,
    /// Cloth or body.
    pub role: Role,
    /// Number of vertices in every frame.
    pub vertex_count: usize,
    /// Triangles.
    pub faces: Vec<[u32; 3]>,
    /// Polygons, for export.
    pub polygons: Polygons,
    /// Material coordinates [m] that polygons refer to.
    pub texcoords: Vec<DVec2>,
    /// Those of the triangles' corners; empty where the triangles are those of the polygons, in order.
    pub triangle_texcoords: Vec<[u32; 3]>,
    /// Where the triangles' corners are in the pattern [m], where meshes change; else empty.
    pub chart: Vec<[DVec2; 3]>,
    /// Shape of the triangles at rest [m], where it is no longer what the scene builds; else empty.
    pub rest: Vec<[DVec2; 3]>,
    /// What refinement did to each triangle: 0 nothing, 1 split, 2 split and cancelled; empty where it did nothing.
    pub marks: Vec<u8>,
}

/// One frame of a cache.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheFrame {
    /// Frame number.
    pub number: i64,
    /// Time since the start [s], where the source knows it.
    pub time: Option<f64>,
    /// Positions of each object [m], in the order of [`Cache::objects`].
    pub positions: Vec<Vec<DVec3>>,
    /// The objects as they are in this frame; the same list as in the frame before where nothing was changed.
    pub objects: Arc<Vec<CacheObject>>,
}

/// An open cache.
#[derive(Debug)]
pub struct Cache {
    /// The objects as they start, cloths first.
    pub objects: Arc<Vec<CacheObject>>,
    /// What is worth knowing: gaps, repairs, unused vertices.
    pub notes: Vec<String>,
    /// Unit and up axis of the source, for export.
    pub axes: Axes,
    frames: Vec<i64>,
    run: Option<(RunFolder, Arc<Topology>)>,
    /// Topologies that came later, by id, as far as they were met.
    later: Vec<(u64, Arc<Topology>, Arc<Vec<CacheObject>>)>,
    tracks: Vec<Track>,
}

/// One source of positions.
#[derive(Debug)]
struct Track {
    source: TrackSource,
    axes: Axes,
    path: PathBuf,
    polygons: Polygons,
    vertex_count: usize,
}

#[derive(Debug)]
enum TrackSource {
    Still(Vec<DVec3>),
    Sequence(Vec<Numbered>),
    Points(Pc2Reader),
}

impl Cache {
    /// Opens a run's folder, a .pc2 (with `mesh`), an OBJ sequence (folder or pattern), or one OBJ.
    pub fn open(path: &Path, options: &CacheOptions) -> Result<Cache, FileError> {
        let mut cache = if RunFolder::is_run(path) {
            Cache::from_run(path)?
        } else {
            let track = TrackPath { path: path.to_path_buf(), mesh: options.mesh.clone() };
            let mut cache = Cache::empty(options.axes);
            cache.add_track(&track, Role::Cloth, options.axes)?;
            cache.frames = cache.tracks[0].frames().unwrap_or_else(|| vec![1]);
            cache
        };
        cache.notes.extend(gap_note(&cache.frames));
        for body in &options.bodies {
            cache.add_track(body, Role::Body, options.axes)?;
        }
        Ok(cache)
    }

    fn empty(axes: Axes) -> Cache {
        Cache {
            objects: Arc::default(),
            notes: Vec::new(),
            axes,
            frames: Vec::new(),
            run: None,
            later: Vec::new(),
            tracks: Vec::new(),
        }
    }

    fn from_run(path: &Path) -> Result<Cache, FileError> {
        let run = RunFolder::open(path)?;
        let topology = run.read_topology()?;
        let mut cache = Cache::empty(topology.axes);
        cache.frames = run.frames().into_iter().map(i64::from).collect();
        if cache.frames.is_empty() {
            let help = "wait for the run to write its first frame, or start it again";
            return Err(FileError::new(FileErrorKind::Missing, path, "the run holds no frames yet", help));
        }
        cache.objects = Arc::new(objects_of(&topology));
        cache.run = Some((run, Arc::new(topology)));
        Ok(cache)
    }

    fn add_track(&mut self, from: &TrackPath, role: Role, axes: Axes) -> Result<(), FileError> {
        let (track, obj) = Track::open(from, axes)?;
        let name = from.path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let name = match track.source {
            TrackSource::Sequence(_) => {
                let stem = name.split(['#', '%', '*']).next().unwrap_or_default();
                stem.trim_end_matches(|c: char| c.is_ascii_digit() || "_-. ".contains(c)).to_string()
            }
            _ => name,
        };
        if let TrackSource::Points(reader) = &track.source
            && reader.sample_rate != 1.0
        {
            let note = format!(
                "{name}: one sample every {} frames; frames are numbered by sample",
                reader.sample_rate
            );
            self.notes.push(note);
        }
        self.notes.extend(obj.notes.iter().map(|n| format!("{name}: {n}")));
        if let (Some(frames), Role::Body) = (track.frames(), role)
            && let Some(missing) = self.frames.iter().find(|f| frames.binary_search(f).is_err())
        {
            return Err(FileError::new(
                FileErrorKind::Format,
                &from.path,
                format!("frame {missing} of the cloth has no frame of this body"),
                "give a body with the same frames, or a single mesh",
            ));
        }
        let unused = obj.unused_vertices();
        if let Some(first) = unused.first() {
            let note = format!(
                "{name}: {} vertices belong to no face, the first is number {}",
                unused.len(),
                first + 1
            );
            self.notes.push(note);
        }
        let triangles = obj.triangulate();
        if !triangles.doubtful.is_empty() {
            let note = format!("{name}: {} faces have no area or cross themselves", triangles.doubtful.len());
            self.notes.push(note);
        }
        let count = self.objects.len() + 1;
        Arc::make_mut(&mut self.objects).push(CacheObject {
            name: if name.is_empty() { format!("object{count}") } else { name },
            role,
            vertex_count: obj.positions.len(),
            faces: triangles.faces,
            polygons: obj.polygons.clone(),
            texcoords: obj.texcoords,
            triangle_texcoords: triangles.texcoords,
            chart: Vec::new(),
            rest: Vec::new(),
            marks: Vec::new(),
        });
        self.tracks.push(track);
        Ok(())
    }

    /// The frame numbers, in order.
    pub fn frames(&self) -> &[i64] {
        &self.frames
    }

    /// Reads the frame at a position of [`Cache::frames`].
    pub fn read(&mut self, index: usize) -> Result<CacheFrame, FileError> {
        let Some(&number) = self.frames.get(index) else {
            let message = format!("frame {index} of {} does not exist", self.frames.len());
            return Err(FileError::new(FileErrorKind::Format, "", message, "count frames from 0"));
        };
        let objects = self.objects.clone();
        let positions = Vec::with_capacity(objects.len());
        let mut frame = CacheFrame { number, time: None, positions, objects };
        if let Some((run, topology)) = &self.run {
            let stored = run.read_frame(u32::try_from(number).unwrap_or(u32::MAX))?;
            let mut topology = topology.clone();
            if stored.topology != topology.id() {
                if self.later.iter().all(|(id, ..)| *id != stored.topology)
                    && let Some(later) = run.read_later_topology(stored.topology)?
                {
                    // Bodies from elsewhere are the same in every frame.
                    let own = topology.objects.len();
                    let objects = [&objects_of(&later)[..], &self.objects[own..]].concat();
                    self.later.push((stored.topology, Arc::new(later), Arc::new(objects)));
                }
                if let Some((_, own, objects)) = self.later.iter().find(|(id, ..)| *id == stored.topology) {
                    (topology, frame.objects) = (own.clone(), objects.clone());
                }
            }
            read_run(run, &topology, &stored, &mut frame)?;
        }
        for track in &mut self.tracks {
            frame.positions.push(track.read(index, number)?);
        }
        Ok(frame)
    }

    /// Every frame in order; an unreadable one does not end the iteration.
    pub fn iter(&mut self) -> impl Iterator<Item = Result<CacheFrame, FileError>> + '_ {
        (0..self.frames.len()).map(move |i| self.read(i))
    }
}

fn wide(p: &[f32; 3]) -> DVec3 {
    DVec3::new(p[0].into(), p[1].into(), p[2].into())
}

/// The objects of a run, cloths first.
fn objects_of(topology: &Topology) -> Vec<CacheObject> {
    let wide = |p: [f32; 2]| DVec2::new(p[0].into(), p[1].into());
    let corners = |all: &[[[f32; 2]; 3]]| all.iter().map(|t| t.map(wide)).collect();
    let in_order = topology.cloths().chain(topology.bodies());
    in_order
        .map(|o| CacheObject {
            name: o.name.clone(),
            role: o.role,
            vertex_count: o.vertex_count as usize,
            faces: o.triangles.clone(),
            polygons: o.export_polygons(),
            texcoords: o.texcoords.iter().map(|t| wide(*t)).collect(),
            triangle_texcoords: o.triangle_texcoords.clone(),
            chart: corners(&o.chart),
            rest: corners(&o.rest),
            marks: o.marks.clone(),
        })
        .collect()
}

fn read_run(
    run: &RunFolder,
    topology: &Topology,
    frame: &Frame,
    out: &mut CacheFrame,
) -> Result<(), FileError> {
    let number = frame.frame;
    let counts: Vec<u32> = topology.cloths().map(|o| o.vertex_count).collect();
    let foreign = || {
        FileError::new(
            FileErrorKind::Corrupt,
            run.frame_path(number),
            "this frame belongs to another mesh than the run's topology",
            "frames of two runs were mixed; delete it and resume the run",
        )
    };
    if frame.topology != topology.id() || frame.counts != counts {
        return Err(foreign());
    }
    out.time = Some(frame.time);
    for i in 0..counts.len() {
        out.positions.push(frame.object(i).unwrap_or_default().iter().map(wide).collect());
    }
    let mut moved = frame.bodies.as_slice();
    for body in topology.bodies() {
        let count = if body.moves { body.vertex_count as usize } else { 0 };
        let Some((own, rest)) = moved.split_at_checked(count) else { return Err(foreign()) };
        let places = if body.moves { own } else { &body.start };
        out.positions.push(places.iter().map(wide).collect());
        moved = rest;
    }
    if moved.is_empty() { Ok(()) } else { Err(foreign()) }
}

impl Track {
    /// Opens a source; also returns its mesh (of the first frame), in metres, Y up.
    fn open(from: &TrackPath, axes: Axes) -> Result<(Track, Obj), FileError> {
        let path = &from.path;
        let is_pc2 = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("pc2"));
        let (source, obj) = if is_pc2 {
            let (reader, obj) = open_pc2(path, from.mesh.as_deref())?;
            (TrackSource::Points(reader), obj.into_si(axes))
        } else if path.is_file() {
            let obj = Obj::read(path)?.into_si(axes);
            (TrackSource::Still(obj.positions.clone()), obj)
        } else {
            let files = sequence::find(path)?;
            let obj = Obj::read(&files[0].path)?.into_si(axes);
            (TrackSource::Sequence(files), obj)
        };
        let (polygons, vertex_count) = (obj.polygons.clone(), obj.positions.len());
        Ok((Track { source, axes, path: path.clone(), polygons, vertex_count }, obj))
    }

    /// Frame numbers; none for a mesh that does not move.
    fn frames(&self) -> Option<Vec<i64>> {
        match &self.source {
            TrackSource::Still(_) => None,
            TrackSource::Sequence(files) => Some(files.iter().map(|f| f.frame).collect()),
            TrackSource::Points(reader) => {
                let first = f64::from(reader.start_frame).round() as i64;
                Some((0..i64::from(reader.samples)).map(|k| first.saturating_add(k)).collect())
            }
        }
    }

    fn read(&mut self, index: usize, number: i64) -> Result<Vec<DVec3>, FileError> {
        let axes = self.axes;
        match &mut self.source {
            TrackSource::Still(positions) => Ok(positions.clone()),
            TrackSource::Sequence(files) => {
                let at =
                    files.binary_search_by_key(&number, |f| f.frame).unwrap_or(index.min(files.len() - 1));
                let path = files[at].path.clone();
                self.read_obj(&path)
            }
            TrackSource::Points(reader) => {
                let first = f64::from(reader.start_frame).round() as i64;
                let sample = u32::try_from(number.saturating_sub(first)).unwrap_or(u32::MAX);
                Ok(reader.read(sample)?.iter().map(|p| axes.point_in(wide(p))).collect())
            }
        }
    }

    fn read_obj(&self, path: &Path) -> Result<Vec<DVec3>, FileError> {
        let obj = Obj::read(path)?;
        let changed = |message: String| {
            let help = "every frame needs the same vertices and faces in the same order as the first";
            Err(FileError::new(FileErrorKind::Format, path, message, help))
        };
        if obj.positions.len() != self.vertex_count {
            let (now, before) = (obj.positions.len(), self.vertex_count);
            return changed(format!("this frame has {now} vertices, the first frame has {before}"));
        }
        if obj.polygons.all_vertices() != self.polygons.all_vertices()
            || obj.polygons.len() != self.polygons.len()
        {
            return changed(format!(
                "the faces differ from those of the first frame of {}",
                self.path.display()
            ));
        }
        Ok(obj.into_si(self.axes).positions)
    }
}

fn open_pc2(path: &Path, mesh: Option<&Path>) -> Result<(Pc2Reader, Obj), FileError> {
    let reader = Pc2Reader::open(path)?;
    let Some(mesh) = mesh else {
        let help = "give the OBJ mesh that the cache was made for (--mesh)";
        return Err(FileError::new(FileErrorKind::Missing, path, "a PC2 cache holds no faces", help));
    };
    let obj = Obj::read(mesh)?;
    if obj.positions.len() != reader.points as usize {
        let message = format!(
            "the cache has {} points, the mesh {} has {} vertices",
            reader.points,
            mesh.display(),
            obj.positions.len()
        );
        let help = "export mesh and cache together; modifiers that change the mesh must be off";
        return Err(FileError::new(FileErrorKind::Format, path, message, help));
    }
    Ok((reader, obj))
}
