//! From any cache to the formats other programs read.

use crate::axes::Axes;
use crate::cache::{Cache, CacheObject};
use crate::error::{FileError, FileErrorKind};
use crate::follow::Follower;
use crate::obj::{self, NO_TEXCOORD, ObjectRef, Polygons, Precision};
use crate::pc2::Pc2Writer;
use crate::run::{Role, single_precision};
use crate::sequence::numbered_name;
use glam::{DVec2, DVec3};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toile::mesh::{SmoothError, Smoother, Subdivision};

/// What everything that was smoothed says of itself.
pub const SMOOTHED: &str = "smoothed for display; the certificate is of the simulated mesh";

/// An object as it is written: the mesh of the cache, or a smoothed one.
struct Written {
    name: String,
    polygons: Polygons,
    /// In the unit of the output.
    texcoords: Vec<DVec2>,
    smoother: Option<Smoother>,
    axes: Axes,
}

impl Written {
    fn new(info: &CacheObject, axes: Axes, smooth: u32) -> Result<Written, SmoothError> {
        let texcoords = |all: &[DVec2]| {
            all.iter().map(|t| DVec2::new(axes.units.from_metres(t.x), axes.units.from_metres(t.y))).collect()
        };
        let name = info.name.clone();
        if smooth == 1 {
            let (polygons, texcoords) = (info.polygons.clone(), texcoords(&info.texcoords));
            return Ok(Written { name, polygons, texcoords, smoother: None, axes });
        }
        let smoother = Smoother::new(info.vertex_count, &info.faces, smooth)?;
        let (polygons, all) = smoothed_polygons(info, smoother.subdivision(), smooth)?;
        Ok(Written { name, polygons, texcoords: texcoords(&all), smoother: Some(smoother), axes })
    }

    /// Positions in the unit and axes of the output.
    fn positions(&self, x: &[DVec3]) -> Vec<DVec3> {
        let out = |x: &[DVec3]| x.iter().map(|&p| self.axes.point_out(p)).collect();
        self.smoother.as_ref().map_or_else(|| out(x), |smoother| out(&smoother.surface(x).positions))
    }

    fn vertices(&self, coarse: usize) -> usize {
        self.smoother.as_ref().map_or(coarse, |smoother| smoother.subdivision().vertices())
    }

    fn object<'a>(&'a self, positions: &'a [DVec3]) -> ObjectRef<'a> {
        ObjectRef {
            name: &self.name,
            note: if self.smoother.is_some() { SMOOTHED } else { "" },
            positions,
            texcoords: &self.texcoords,
            polygons: &self.polygons,
            groups: &[],
            edges: &[],
        }
    }
}

/// The triangles of a smoothed mesh, and the texture coordinates that their corners refer to. Charts have seams of their
/// own: they are split as a mesh whose vertices are the texture coordinates.
fn smoothed_polygons(
    info: &CacheObject,
    fine: &Subdivision,
    smooth: u32,
) -> Result<(Polygons, Vec<DVec2>), SmoothError> {
    let mut charts = triangle_texcoords(info);
    let known = |chart: &[u32; 3]| chart.iter().all(|t| (*t as usize) < info.texcoords.len());
    let has: Vec<bool> = charts.iter().map(known).collect();
    charts.retain(known);
    if charts.is_empty() {
        return Ok((Polygons::from_triangles(fine.faces()), Vec::new()));
    }
    let charts = Subdivision::new(info.texcoords.len(), &charts, smooth)?;
    let mut corners = charts.faces().iter();
    let mut polygons = Polygons::default();
    for (k, face) in fine.faces().iter().enumerate() {
        let own = if has[fine.coarse_face(k)] { corners.next() } else { None };
        polygons.push(face, own.unwrap_or(&[NO_TEXCOORD; 3]));
    }
    Ok((polygons, charts.interpolate(&info.texcoords)))
}

/// Texture coordinates of the corners of each triangle. Unless they are known, a polygon of n corners is n − 2 triangles, in
/// its order.
fn triangle_texcoords(info: &CacheObject) -> Vec<[u32; 3]> {
    if info.triangle_texcoords.len() == info.faces.len() {
        return info.triangle_texcoords.clone();
    }
    let of_triangles = (0..info.polygons.len())
        .flat_map(|p| std::iter::repeat_n(p, info.polygons.vertices(p).len().saturating_sub(2)));
    let texcoord = |polygon: usize, vertex: u32| {
        let corner = info.polygons.vertices(polygon).iter().position(|v| *v == vertex);
        corner.and_then(|c| info.polygons.texcoords(polygon).get(c).copied()).unwrap_or(NO_TEXCOORD)
    };
    let mut found: Vec<[u32; 3]> =
        info.faces.iter().zip(of_triangles).map(|(face, p)| face.map(|v| texcoord(p, v))).collect();
    found.resize(info.faces.len(), [NO_TEXCOORD; 3]);
    found
}

fn refuse(path: &Path, name: &str, error: SmoothError) -> FileError {
    let message = format!("{name} cannot be smoothed: {error}");
    FileError::new(FileErrorKind::Refused, path, message, "convert without smoothing")
}

/// Writes an object of a cache as a PC2, and its mesh (original polygons, first frame) as an OBJ
/// beside it. Returns the path of the mesh, and in how many frames the cloth has another one: there, each vertex is followed by
/// its place in the pattern. The mesh is that of the frame `topology`, or the one it starts with. `axes` is the unit and up axis of both files.
///
/// With `smooth` above 1, both hold the curved surface over the mesh, every side split into `smooth` parts; the mesh's own
/// vertices come first and stay where they are.
pub fn to_pc2(
    cache: &mut Cache,
    object: usize,
    path: &Path,
    axes: Axes,
    smooth: u32,
    topology: Option<i64>,
) -> Result<(PathBuf, usize), FileError> {
    let target = match topology {
        None => cache.objects.clone(),
        Some(number) => match cache.frames().binary_search(&number) {
            Ok(index) => cache.read(index)?.objects,
            Err(_) => {
                let message = format!("there is no frame {number} to take the topology of");
                return Err(FileError::new(FileErrorKind::Refused, path, message, "give a frame of the run"));
            }
        },
    };
    let Some(info) = target.get(object) else {
        let names: Vec<&str> = cache.objects.iter().map(|o| o.name.as_str()).collect();
        let message = format!("object {object} does not exist; the cache holds {}", names.join(", "));
        return Err(FileError::new(FileErrorKind::Refused, path, message, "give one of these"));
    };
    let written = Written::new(info, axes, smooth).map_err(|e| refuse(path, &info.name, e))?;
    let count = u32::try_from(written.vertices(info.vertex_count)).unwrap_or(u32::MAX);
    let first = cache.frames().first().copied().unwrap_or(1);
    let mut writer = Pc2Writer::create(path, count, first as f32, 1.0)?;
    let mesh_path = path.with_extension("obj");
    let mut follower = Follower::new(target.clone(), object);
    for i in 0..cache.frames().len() {
        let frame = cache.read(i)?;
        let followed = follower.positions(&frame).map_err(|e| lost(path, e))?;
        let positions = written.positions(&followed);
        if i == 0 {
            obj::write(&mesh_path, &[written.object(&positions)], Precision::Single)?;
        }
        writer.push(&single_precision(&positions))?;
    }
    writer.finish()?;
    Ok((mesh_path, follower.followed))
}

fn lost(path: &Path, message: String) -> FileError {
    FileError::new(
        FileErrorKind::Refused,
        path,
        message,
        "convert to OBJ, or to the topology of another frame",
    )
}

/// Writes every frame of a cache as `stem_000123.obj` in `folder`, one `o` per cloth, and per body if `bodies` are wanted;
/// original polygons, or cloths smoothed as [`to_pc2`] does it. Returns how many files were written.
pub fn to_obj_sequence(
    cache: &mut Cache,
    folder: &Path,
    stem: &str,
    axes: Axes,
    smooth: u32,
    bodies: bool,
) -> Result<usize, FileError> {
    std::fs::create_dir_all(folder).map_err(|e| FileError::from_io(folder, "create", &e))?;
    let wanted = |info: &CacheObject| bodies || info.role == Role::Cloth;
    let all = |objects: &[CacheObject]| {
        let mut all = Vec::new();
        for (index, info) in objects.iter().enumerate().filter(|(_, info)| wanted(info)) {
            let smooth = if info.role == Role::Cloth { smooth } else { 1 };
            all.push((index, Written::new(info, axes, smooth).map_err(|e| refuse(folder, &info.name, e))?));
        }
        Ok(all)
    };
    let mut shown = cache.objects.clone();
    let mut cloths = all(&shown)?;
    for i in 0..cache.frames().len() {
        let frame = cache.read(i)?;
        if !Arc::ptr_eq(&shown, &frame.objects) {
            shown = frame.objects.clone();
            cloths = all(&shown)?;
        }
        let path = numbered_name(folder, stem, frame.number);
        let positions: Vec<Vec<DVec3>> =
            cloths.iter().map(|(index, written)| written.positions(&frame.positions[*index])).collect();
        let objects: Vec<ObjectRef<'_>> =
            cloths.iter().zip(&positions).map(|((_, written), x)| written.object(x)).collect();
        obj::write(&path, &objects, Precision::Single)?;
    }
    Ok(cache.frames().len())
}
