//! What joins the particles of frames: as the scene builds it, and as cloths become.

use glam::DVec3;
use std::sync::Arc;
use toile::mesh::Mesh;
use toile::{Cloth, World};
use toile_io::build::{Built, with_material};
use toile_io::run::{Role, Topology, TopologyObject, marks_of};
use toile_io::scene::Scene;

/// The topology of a scene as it starts.
pub fn first(scene: &Scene, built: &Built, start: &[Cloth]) -> Topology {
    let changes = !scene.edits.is_empty() || start.iter().any(|cloth| cloth.refine.is_some());
    let objects = start.iter().zip(&built.exports).map(|(cloth, export)| TopologyObject {
        name: cloth.name.clone(),
        role: Role::Cloth,
        moves: true,
        vertex_count: cloth.positions.len() as u32,
        triangles: cloth.mesh.faces().to_vec(),
        polygons: export.polygons.clone(),
        texcoords: export.texcoords.iter().map(|t| t.as_vec2().to_array()).collect(),
        triangle_texcoords: export.triangle_texcoords.clone(),
        start: narrow(&with_doubles(cloth)),
        // Runs whose meshes stay the same are written as they always were.
        chart: if changes { corners(cloth.chart()) } else { Vec::new() },
        rest: Vec::new(),
        marks: Vec::new(),
    });
    let bodies = built.bodies.iter().map(|body| TopologyObject {
        name: body.name.clone(),
        role: Role::Body,
        moves: body.collider.moves(),
        vertex_count: body.collider.positions().len() as u32,
        triangles: body.collider.facets().faces.clone(),
        polygons: toile_io::obj::Polygons::default(),
        texcoords: Vec::new(),
        triangle_texcoords: Vec::new(),
        start: narrow(body.collider.positions()),
        chart: Vec::new(),
        rest: Vec::new(),
        marks: Vec::new(),
    });
    let objects = objects.chain(bodies).collect();
    Topology { objects, frame_time: scene.frame_time, axes: scene.axes }
}

/// The topology now, of cloths that started as `start` in a run whose topology is `first`.
pub fn now(scene: &Scene, first: &Topology, start: &[Cloth], world: &World) -> Topology {
    let mut topology = first.clone();
    for (k, (cloth, before)) in world.cloths().iter().zip(start).enumerate() {
        if Arc::ptr_eq(&cloth.mesh, &before.mesh) {
            continue;
        }
        // Texture coordinates of generated shapes are those of the pattern before the scene scales it.
        let scale = scene.cloths[k].scale;
        let chart: Vec<_> = cloth.chart().iter().map(|t| t.map(|p| p / scale)).collect();
        let export = with_material(cloth.mesh.faces(), &chart);
        topology.objects[k] = TopologyObject {
            vertex_count: cloth.positions.len() as u32,
            triangles: cloth.mesh.faces().to_vec(),
            polygons: export.polygons,
            texcoords: export.texcoords.iter().map(|t| t.as_vec2().to_array()).collect(),
            triangle_texcoords: Vec::new(),
            start: narrow(&with_doubles(cloth)),
            chart: corners(cloth.chart()),
            rest: corners(cloth.mesh.rest()),
            marks: world.levels(k).map_or(Vec::new(), marks_of),
            ..topology.objects[k].clone()
        };
    }
    topology
}

/// Meshes of cloths, to tell when one is another.
pub fn meshes(cloths: &[Cloth]) -> Vec<Arc<Mesh>> {
    cloths.iter().map(|cloth| cloth.mesh.clone()).collect()
}

fn narrow(positions: &[DVec3]) -> Vec<[f32; 3]> {
    positions.iter().map(|p| p.as_vec3().to_array()).collect()
}

fn corners(all: &[[glam::DVec2; 3]]) -> Vec<[[f32; 2]; 3]> {
    all.iter().map(|t| t.map(|p| p.as_vec2().to_array())).collect()
}

/// Where the vertices of a cloth start, doubles with what they double.
fn with_doubles(cloth: &Cloth) -> Vec<DVec3> {
    let mut x = cloth.positions.clone();
    cloth.doubles.iter().for_each(|[double, of]| x[*double as usize] = x[*of as usize]);
    x
}
