//! What cloths became while they moved, in a checkpoint: bit for bit, and absent where nothing was changed.

use crate::container::{Array, Container};
use glam::{DVec2, DVec3};
use std::sync::Arc;
use toile::mesh::Mesh;
use toile::mesh::levels::{Closure, Counts, Forest, Levels, Mark, Standing};
use toile::{ClothForm, Form, Seam};

/// The arrays of a form.
pub(super) fn encode(form: &Form) -> Vec<(String, Array)> {
    let numbers = form.cloths.iter().map(|own| own.cloth as u64).collect();
    let mut arrays = vec![("form.cloths".to_string(), Array::U64(numbers))];
    for own in &form.cloths {
        let mut put = |name: &str, array: Array| arrays.push((format!("form.{}.{name}", own.cloth), array));
        put_mesh(&own.mesh, "", &mut put);
        put("positions", Array::F64(own.positions.iter().flat_map(|p| p.to_array()).collect()));
        put("density", Array::F64(own.density.to_vec()));
        if let Some(angles) = &own.angles {
            put("angles", Array::F64(angles.clone()));
        }
        put("doubles", Array::U32(own.doubles.as_flattened().to_vec()));
        put("chart", corners_of(&own.chart));
        put("hanging", Array::U32(own.hanging.as_flattened().to_vec()));
        if let Some(levels) = &own.levels {
            put_levels(levels, &mut put);
        }
    }
    let pins = form.pins.iter().flat_map(|own| [&[own.len() as u32], &own[..]].concat()).collect();
    arrays.push(("form.pins".into(), Array::U32(pins)));
    arrays.push(("form.elastics".into(), Array::U32(form.elastics.as_flattened().to_vec())));
    let seams = form
        .seams
        .iter()
        .flat_map(|seam| [&[seam.cloth as u32, seam.pairs.len() as u32], seam.pairs.as_flattened()].concat());
    arrays.push(("form.seams".into(), Array::U32(seams.collect())));
    arrays.push(("form.times".into(), Array::F64(form.seams.iter().map(|seam| seam.time).collect())));
    arrays
}

fn corners_of(all: &[[DVec2; 3]]) -> Array {
    Array::F64(all.as_flattened().iter().flat_map(|p| p.to_array()).collect())
}

fn put_mesh(mesh: &Mesh, prefix: &str, put: &mut dyn FnMut(&str, Array)) {
    put(&format!("{prefix}faces"), Array::U32(mesh.faces().as_flattened().to_vec()));
    put(&format!("{prefix}rest"), corners_of(mesh.rest()));
    put(&format!("{prefix}bent"), Array::U32(mesh.bent().as_flattened().to_vec()));
}

/// The order in which closures and marks are numbered.
const CLOSURES: [Closure; 4] = [Closure::None, Closure::Midpoint, Closure::RedGreen, Closure::Halves];
const MARKS: [Mark; 3] = [Mark::Plain, Mark::Split, Mark::Cancelled];

fn put_levels(levels: &Levels, put: &mut dyn FnMut(&str, Array)) {
    let Forest { faces, counts, now } = levels.forest();
    let Counts { performed, cancelled, forced, refused } = counts;
    let closure = CLOSURES.iter().position(|c| *c == levels.closure()).unwrap_or_default() as u64;
    let sizes = [levels.base().vertices() as u64, u64::from(levels.most()), closure];
    let numbers = [&sizes[..], &[performed, cancelled, forced, refused, now]].concat();
    put("levels", Array::U64(numbers));
    put_mesh(levels.base(), "levels.", put);
    let standing = |face: &Standing| {
        let mark = MARKS.iter().position(|m| *m == face.mark).unwrap_or_default() as u32;
        18 * u32::from(face.again) + 6 * u32::from(face.side) + 2 * mark + u32::from(face.split)
    };
    put("levels.standing", Array::U32(faces.iter().map(standing).collect()));
    put("levels.since", Array::U64(faces.iter().map(|face| face.since).collect()));
}

/// The form in a checkpoint: nothing if a part of it is missing, nothing in it if nothing was changed.
pub(super) fn decode(c: &Container) -> Option<Option<Arc<Form>>> {
    if c.get("form.cloths").is_none() {
        return Some(None);
    }
    let numbers = c.u64s("form.cloths").ok()?;
    let cloths = numbers.iter().map(|n| cloth(c, *n as usize)).collect::<Option<Vec<_>>>()?;
    let mut pins = Vec::new();
    let mut flat = c.u32s("form.pins").ok()?;
    while let [count, rest @ ..] = flat {
        let (own, after) = rest.split_at_checked(*count as usize)?;
        pins.push(own.to_vec());
        flat = after;
    }
    let mut seams = Vec::new();
    let (mut flat, mut times) = (c.u32s("form.seams").ok()?, c.f64s("form.times").ok()?.iter());
    while let [cloth, count, rest @ ..] = flat {
        let (own, after) = rest.split_at_checked(2 * *count as usize)?;
        let pairs = own.as_chunks::<2>().0.to_vec();
        seams.push(Seam { cloth: *cloth as usize, pairs, time: *times.next()? });
        flat = after;
    }
    let elastics = c.u32s("form.elastics").ok()?.as_chunks::<2>().0.to_vec();
    Some(Some(Arc::new(Form { cloths, pins, elastics, seams })))
}

fn corners(c: &Container, name: &str) -> Option<Vec<[DVec2; 3]>> {
    let (values, rest) = c.f64s(name).ok()?.as_chunks::<6>();
    let triangle = |v: &[f64; 6]| [DVec2::new(v[0], v[1]), DVec2::new(v[2], v[3]), DVec2::new(v[4], v[5])];
    rest.is_empty().then(|| values.iter().map(triangle).collect())
}

fn mesh(c: &Container, prefix: &str, vertices: usize) -> Option<Mesh> {
    let faces = c.u32s(&format!("{prefix}faces")).ok()?.as_chunks::<3>().0.to_vec();
    let bent = c.u32s(&format!("{prefix}bent")).ok()?.as_chunks::<2>().0.to_vec();
    Mesh::branched(vertices, faces, corners(c, &format!("{prefix}rest"))?, bent).ok()
}

fn levels(c: &Container, prefix: &str) -> Option<Levels> {
    let numbers = c.u64s(&format!("{prefix}levels")).ok()?;
    let [vertices, most, closure, performed, cancelled, forced, refused, now] = *numbers else { return None };
    let standing = c.u32s(&format!("{prefix}levels.standing")).ok()?;
    let since = c.u64s(&format!("{prefix}levels.since")).ok()?;
    let face = |(standing, since): (&u32, &u64)| {
        let mark = MARKS[(*standing as usize % 6) / 2];
        let (side, again) = ((standing % 18 / 6) as u8, u8::try_from(standing / 18).ok()?);
        Some(Standing { split: standing % 2 == 1, side, mark, since: *since, again })
    };
    let faces = standing.iter().zip(since).map(face).collect::<Option<Vec<_>>>()?;
    let forest = Forest { faces, counts: Counts { performed, cancelled, forced, refused }, now };
    let base = mesh(c, &format!("{prefix}levels."), vertices as usize)?;
    Levels::of(base, u32::try_from(most).ok()?, *CLOSURES.get(closure as usize)?, &forest).ok()
}

fn cloth(c: &Container, number: usize) -> Option<ClothForm> {
    let prefix = format!("form.{number}.");
    let name = |what: &str| format!("{prefix}{what}");
    let (positions, cut) = c.f64s(&name("positions")).ok()?.as_chunks::<3>();
    let positions: Vec<DVec3> = positions.iter().map(|p| DVec3::from_array(*p)).collect();
    let levels = match c.get(&name("levels")) {
        Some(_) => Some(Arc::new(levels(c, &prefix)?)),
        None => None,
    };
    Some(ClothForm {
        cloth: number,
        mesh: Arc::new(mesh(c, &prefix, positions.len())?),
        positions: cut.is_empty().then_some(positions)?,
        density: c.f64s(&name("density")).ok()?.into(),
        angles: c.f64s(&name("angles")).ok().map(<[f64]>::to_vec),
        doubles: c.u32s(&name("doubles")).ok()?.as_chunks::<2>().0.into(),
        chart: corners(c, &name("chart"))?.into(),
        hanging: c.u32s(&name("hanging")).ok()?.as_chunks::<3>().0.into(),
        levels,
    })
}
