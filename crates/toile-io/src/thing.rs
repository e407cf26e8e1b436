//! `[[thing]]`: solids that are moved by what they meet, as the engine wants them.

use crate::build::flatten;
use crate::scene::schema::{HoldTogether, ThingShape};
use crate::scene::{Cloth, Solid};
use glam::DVec3;
use std::sync::Arc;
use toile::mesh::Mesh;
use toile::{Braces, Fabric, RestShape};

/// The closed surface of a shape, faces outward.
pub(crate) fn surface(shape: &ThingShape) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    match *shape {
        ThingShape::Box { size } => {
            let corner =
                |k: u32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) - 0.5;
            let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
            let faces = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
            ((0..8).map(|k| corner(k) * DVec3::from(size)).collect(), faces)
        }
        ThingShape::Ball { radius, subdivisions } => crate::body::ball(radius, subdivisions),
    }
}

/// The thing with its surface at `positions`, which get another where it has one inside. What is wrong if there is none such.
pub(crate) fn engine_thing(
    thing: &Cloth,
    solid: Solid,
    faces: &[[u32; 3]],
    positions: &mut Vec<DVec3>,
) -> Result<toile::Cloth, String> {
    let rest = faces.iter().map(|f| {
        let x = f.map(|v| positions[v as usize]);
        flatten(x, x[1] - x[0])
    });
    let rest = rest.collect();
    let mesh = Mesh::new(positions.len(), faces.to_vec(), rest).map_err(|error| error.to_string())?;
    let Solid { mass, hold, stiffness, damping } = solid;
    let mut made = match hold {
        HoldTogether::Rigid => toile::Cloth::rigid(&thing.name, &mesh, positions, mass)
            .ok_or("it is so thin that no masses on its surface move as the solid would; make it thicker")?,
        HoldTogether::Springs => {
            let (area, braces) = (mesh.total_area(), Braces::across(&mesh, positions, stiffness, damping));
            let fabric =
                Fabric { damping, thickness: 0.0, ..Fabric::isotropic(mass / area, stiffness, 0.3, 0.0) };
            let mut made = toile::Cloth::new(&thing.name, mesh, positions.clone(), fabric);
            (made.braces, made.rest_shape) = (Arc::new(braces), RestShape::Start);
            made
        }
    };
    made.velocity = thing.velocity;
    positions.clone_from(&made.positions);
    Ok(made)
}
