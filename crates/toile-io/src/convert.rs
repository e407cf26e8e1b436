//! From any cache to the formats other programs read.

use crate::axes::Axes;
use crate::cache::{Cache, CacheFrame, CacheObject};
use crate::error::{FileError, FileErrorKind};
use crate::obj::{self, ObjectRef, Precision};
use crate::pc2::Pc2Writer;
use crate::run::{Role, single_precision};
use crate::sequence::numbered_name;
use glam::{DVec2, DVec3};
use std::path::{Path, PathBuf};

/// Positions in the unit and axes of the output.
fn positions_out(positions: &[DVec3], axes: Axes) -> Vec<DVec3> {
    positions.iter().map(|&p| axes.point_out(p)).collect()
}

fn texcoords_out(texcoords: &[DVec2], axes: Axes) -> Vec<DVec2> {
    texcoords.iter().map(|t| DVec2::new(axes.units.from_metres(t.x), axes.units.from_metres(t.y))).collect()
}

/// Writes an object of a cache as a PC2, and its mesh (original polygons, first frame) as an OBJ
/// beside it. Returns the path of the mesh. `axes` is the unit and up axis of both files.
pub fn to_pc2(cache: &mut Cache, object: usize, path: &Path, axes: Axes) -> Result<PathBuf, FileError> {
    let Some(info) = cache.objects.get(object).cloned() else {
        let names: Vec<&str> = cache.objects.iter().map(|o| o.name.as_str()).collect();
        let message = format!("object {object} does not exist; the cache holds {}", names.join(", "));
        return Err(FileError::new(FileErrorKind::Refused, path, message, "give one of these"));
    };
    let count = u32::try_from(info.vertex_count).unwrap_or(u32::MAX);
    let first = cache.frames().first().copied().unwrap_or(1);
    let mut writer = Pc2Writer::create(path, count, first as f32, 1.0)?;
    let mesh_path = path.with_extension("obj");
    for i in 0..cache.frames().len() {
        let frame = cache.read(i)?;
        let positions = positions_out(&frame.positions[object], axes);
        if i == 0 {
            write_object(&mesh_path, &info, &positions, axes)?;
        }
        writer.push(&single_precision(&positions))?;
    }
    writer.finish()?;
    Ok(mesh_path)
}

fn write_object(path: &Path, info: &CacheObject, positions: &[DVec3], axes: Axes) -> Result<(), FileError> {
    let texcoords = texcoords_out(&info.texcoords, axes);
    let object = ObjectRef {
        name: &info.name,
        positions,
        texcoords: &texcoords,
        polygons: &info.polygons,
        groups: &[],
        edges: &[],
    };
    obj::write(path, &[object], Precision::Single)
}

/// Writes every frame of a cache as `stem_000123.obj` in `folder`, cloths only, one `o` per cloth,
/// original polygons. Returns how many files were written.
pub fn to_obj_sequence(cache: &mut Cache, folder: &Path, stem: &str, axes: Axes) -> Result<usize, FileError> {
    std::fs::create_dir_all(folder).map_err(|e| FileError::from_io(folder, "create", &e))?;
    let cloths: Vec<usize> =
        (0..cache.objects.len()).filter(|&i| cache.objects[i].role == Role::Cloth).collect();
    let texcoords: Vec<Vec<DVec2>> =
        cache.objects.iter().map(|o| texcoords_out(&o.texcoords, axes)).collect();
    for i in 0..cache.frames().len() {
        let frame = cache.read(i)?;
        let path = numbered_name(folder, stem, frame.number);
        write_frame(&path, cache, &frame, &cloths, &texcoords, axes)?;
    }
    Ok(cache.frames().len())
}

fn write_frame(
    path: &Path,
    cache: &Cache,
    frame: &CacheFrame,
    objects: &[usize],
    texcoords: &[Vec<DVec2>],
    axes: Axes,
) -> Result<(), FileError> {
    let positions: Vec<Vec<DVec3>> =
        objects.iter().map(|&o| positions_out(&frame.positions[o], axes)).collect();
    let refs: Vec<ObjectRef<'_>> = objects
        .iter()
        .zip(&positions)
        .map(|(&o, positions)| ObjectRef {
            name: &cache.objects[o].name,
            positions,
            texcoords: &texcoords[o],
            polygons: &cache.objects[o].polygons,
            groups: &[],
            edges: &[],
        })
        .collect();
    obj::write(path, &refs, Precision::Single)
}
