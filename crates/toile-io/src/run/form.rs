//! What cloths became while they moved, in a checkpoint: bit for bit, and absent where nothing was changed.

use crate::container::{Array, Container};
use glam::{DVec2, DVec3};
use std::sync::Arc;
use toile::mesh::Mesh;
use toile::{ClothForm, Form, Seam};

/// The arrays of a form.
pub(super) fn encode(form: &Form) -> Vec<(String, Array)> {
    let numbers = form.cloths.iter().map(|own| own.cloth as u64).collect();
    let mut arrays = vec![("form.cloths".to_string(), Array::U64(numbers))];
    for own in &form.cloths {
        let mut put = |name: &str, array: Array| arrays.push((format!("form.{}.{name}", own.cloth), array));
        let corners =
            |all: &[[DVec2; 3]]| Array::F64(all.as_flattened().iter().flat_map(|p| p.to_array()).collect());
        put("faces", Array::U32(own.mesh.faces().as_flattened().to_vec()));
        put("rest", corners(own.mesh.rest()));
        put("bent", Array::U32(own.mesh.bent().as_flattened().to_vec()));
        put("positions", Array::F64(own.positions.iter().flat_map(|p| p.to_array()).collect()));
        put("density", Array::F64(own.density.to_vec()));
        if let Some(angles) = &own.angles {
            put("angles", Array::F64(angles.clone()));
        }
        put("doubles", Array::U32(own.doubles.as_flattened().to_vec()));
        put("chart", corners(&own.chart));
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

fn cloth(c: &Container, number: usize) -> Option<ClothForm> {
    let name = |what: &str| format!("form.{number}.{what}");
    let corners = |what: &str| -> Option<Vec<[DVec2; 3]>> {
        let (values, rest) = c.f64s(&name(what)).ok()?.as_chunks::<6>();
        let triangle =
            |v: &[f64; 6]| [DVec2::new(v[0], v[1]), DVec2::new(v[2], v[3]), DVec2::new(v[4], v[5])];
        rest.is_empty().then(|| values.iter().map(triangle).collect())
    };
    let (positions, cut) = c.f64s(&name("positions")).ok()?.as_chunks::<3>();
    let positions: Vec<DVec3> = positions.iter().map(|p| DVec3::from_array(*p)).collect();
    let faces = c.u32s(&name("faces")).ok()?.as_chunks::<3>().0.to_vec();
    let bent = c.u32s(&name("bent")).ok()?.as_chunks::<2>().0.to_vec();
    let mesh = Mesh::branched(positions.len(), faces, corners("rest")?, bent).ok()?;
    Some(ClothForm {
        cloth: number,
        mesh: Arc::new(mesh),
        positions: cut.is_empty().then_some(positions)?,
        density: c.f64s(&name("density")).ok()?.into(),
        angles: c.f64s(&name("angles")).ok().map(<[f64]>::to_vec),
        doubles: c.u32s(&name("doubles")).ok()?.as_chunks::<2>().0.into(),
        chart: corners("chart")?.into(),
    })
}
