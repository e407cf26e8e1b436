//! What people drop or bring: solids that move with the cloth, meshes of their own, and whether there is room.

use super::Live;
use super::stage::{Looks, Stage};
use crate::protocol::{Dropped, Role};
use std::path::Path;
use std::sync::Arc;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Distance, Kind};
use toile::collide::collider::{Body, Collider, Form, Frame};
use toile::drive::{Motion, Transform};
use toile::forces::bending::recon::rest_angles;
use toile::math::{DMat3, DVec3};
use toile::{Cloth, Fabric, Heritage, Obstacle, RestShape, World};
use toile_io::build::{BuildError, cloth_of};
use toile_io::obj::{Limits, Obj};

/// How far a guest is lifted at once where there is no room for it, over its size, and how often.
const LIFT: f64 = 0.25;
const LIFTS: usize = 24;
/// Most vertices and faces of a mesh that is sent, and most bytes of its text.
const MESH_LIMITS: Limits = Limits { bytes: 16 << 20, vertices: 200_000, corners: 1_600_000 };
/// Meshes that a room keeps.
const MOST_MESHES: usize = 16;

/// Something that is to be dropped.
pub struct Dropping {
    pub form: Dropped,
    pub size: f64,
    pub mass: f64,
    pub at: DVec3,
    pub velocity: DVec3,
}

impl Live {
    /// Keeps a mesh that a page sent, under the id that edits name it by.
    pub fn keep_mesh(&mut self, id: &str, obj: &str) -> Result<(), String> {
        if self.meshes.len() >= MOST_MESHES && !self.meshes.contains_key(id) {
            return Err(format!(
                "the room keeps {MOST_MESHES} meshes already: reset it or open another room"
            ));
        }
        let parsed = Obj::parse(obj.as_bytes(), Path::new("mesh.obj"), &MESH_LIMITS);
        let mesh = parsed.map_err(|error| error.to_string())?;
        if mesh.polygons.is_empty() {
            return Err("the mesh has no faces: export it with faces".into());
        }
        self.meshes.insert(id.to_string(), mesh);
        Ok(())
    }

    pub(super) fn drop_guest(&mut self, stage: &mut Stage, thing: Dropping) -> Result<String, String> {
        let Dropping { form, size, mass, at, velocity } = thing;
        for (what, value, [low, high], unit) in
            [("size", size, [0.01, 2.0], "m"), ("mass", mass, [1e-4, 100.0], "kg")]
        {
            if !(low..=high).contains(&value) {
                return Err(format!("the {what} is {value} {unit}: give {low} to {high} {unit}"));
            }
        }
        if velocity.length() > 100.0 {
            return Err(format!("{} m/s is too fast: give at most 100 m/s", velocity.length()));
        }
        let (kind, shape, tolerance) = match form {
            Dropped::Ball => ("ball", Form::Sphere { radius: 0.5 * size }, 0.01 * size),
            Dropped::Cube => ("cube", Form::Box { size: DVec3::splat(size) }, 0.01 * size),
        };
        let solid =
            Collider::new(Body::Form(shape), Motion::still(), tolerance).map_err(|e| e.to_string())?;
        let facets = solid.facets();
        let obj = Obj::of_triangles(facets.positions.clone(), &facets.faces);
        let name = free_name(stage, kind);
        let (hollow, ..) = cloth_of(obj, &name, Fabric::default()).map_err(said)?;
        let Some(mut solid) = Cloth::rigid(&name, &hollow.mesh, &hollow.positions, mass) else {
            return Err(format!("a {kind} of {size} m and {mass} kg cannot be made: choose another size"));
        };
        solid.velocity = velocity;
        solid.positions.iter_mut().for_each(|p| *p += at);
        self.lift_clear(stage, &mut solid.positions, solid.mesh.faces(), (size, Kind::Cloth))?;
        let looks = Looks { guest: true, colours: ["#d08a3c".into(), "#b06a20".into()], ..Looks::default() };
        stage.add_cloth(solid, looks, &mut self.next_id);
        Ok(format!("drop `{name}`"))
    }

    pub(super) fn import(
        &mut self,
        stage: &mut Stage,
        mesh: &str,
        role: Role,
        at: DVec3,
        scale: f64,
    ) -> Result<String, String> {
        if !(1e-4..=1e4).contains(&scale) {
            return Err(format!("the scale is {scale}: give 0.0001 to 10000"));
        }
        let Some(obj) = self.meshes.get(mesh) else {
            return Err("this mesh was not sent to the room: send it again".into());
        };
        let mut obj = obj.clone();
        let Some((low, high)) = obj.bounds() else { return Err("the mesh has no vertices".into()) };
        let size = scale * (high - low).max_element();
        if !(1e-3..=100.0).contains(&size) {
            return Err(format!(
                "the mesh would be {size} m large: choose a scale that makes it 1 mm to 100 m"
            ));
        }
        let middle = 0.5 * (low + high);
        obj.positions.iter_mut().for_each(|p| *p = (*p - middle) * scale + at);
        let kind = if role == Role::Cloth { "cloth" } else { "body" };
        let name = free_name(stage, kind);
        if role == Role::Body {
            let mesh = obj.repaired().map_err(|error| error.to_string())?;
            let (faces, solid) = (mesh.faces.clone(), mesh.is_closed());
            self.lift_clear(stage, &mut obj.positions, &faces, (size, Kind::Body))?;
            let frames = vec![Frame { time: 0.0, positions: obj.positions }];
            let body = Body::Mesh { faces, frames, solid };
            let stand = Transform { matrix: DMat3::IDENTITY, offset: DVec3::ZERO };
            let collider =
                Collider::standing(body, stand, Motion::still(), 1e-3).map_err(|e| e.to_string())?;
            stage.bodies.push(Obstacle { name: name.clone(), collider });
            stage.body_ids.push(self.next_id);
            stage.guest_bodies.push(self.next_id);
            self.next_id += 1;
            return Ok(format!("bring in `{name}`"));
        }
        let fabric = stage.cloths.first().map_or(Fabric::default(), |cloth| cloth.fabric);
        let (mut cloth, export, notes) = cloth_of(obj, &name, fabric).map_err(said)?;
        if let Some(first) = stage.cloths.first() {
            cloth.air = first.air;
        }
        cloth.rest_shape = RestShape::Angles(rest_angles(&cloth.mesh, &cloth.positions));
        let faces = cloth.mesh.faces().to_vec();
        self.lift_clear(stage, &mut cloth.positions, &faces, (size, Kind::Cloth))?;
        let looks = Looks {
            guest: true,
            mesh: 0,
            preset: None,
            uv: Arc::new(export.by_vertex(cloth.positions.len())),
            groups: Arc::new(export.groups),
            colours: ["#5b7fb5".into(), "#c9d3e6".into()],
        };
        stage.add_cloth(cloth, looks, &mut self.next_id);
        Ok(format!("bring in `{name}`{}", if notes.is_empty() { "" } else { ", repaired" }))
    }

    /// Takes a guest out.
    pub(super) fn remove(&self, stage: &mut Stage, object: u32) -> Result<String, String> {
        if let Some(at) = stage.body_ids.iter().position(|id| *id == object) {
            if !stage.guest_bodies.contains(&object) {
                return Err(
                    "this body belongs to the scene: only what was dropped or brought in can go".into()
                );
            }
            let body = stage.bodies.remove(at);
            stage.body_ids.remove(at);
            stage.guest_bodies.retain(|id| *id != object);
            return Ok(format!("remove `{}`", body.name));
        }
        let (cloth, name) = stage.cloth(object)?;
        if !stage.looks[cloth].guest {
            return Err(format!("`{name}` belongs to the scene: only what was dropped or brought in can go"));
        }
        stage.remove_cloth(cloth);
        Ok(format!("remove `{name}`"))
    }

    /// Lifts what comes in until nothing is in its way.
    fn lift_clear(
        &self,
        stage: &Stage,
        positions: &mut [DVec3],
        faces: &[[u32; 3]],
        (size, kind): (f64, Kind),
    ) -> Result<(), String> {
        let (mut surfaces, mut places) = shown(&self.world);
        surfaces.push(CheckSurface::new("guest", kind, positions.len(), faces.to_vec()));
        let guest = surfaces.len() - 1;
        if kind == Kind::Cloth && crossings(&surfaces[guest..], &[positions.to_vec()])? > 0 {
            return Err("the mesh intersects itself: repair it, or bring it in as a body".into());
        }
        // What intersects already is no reason: only what comes in. A little larger than it is, so that a gap is left.
        let before = crossings(&surfaces[..guest], &places)?;
        let middle = positions.iter().fold(DVec3::ZERO, |sum, p| sum + *p) / positions.len() as f64;
        let larger = 1.0 + 4.0 * stage.contact.gap / size;
        let mut lift = DVec3::ZERO;
        places.push(Vec::new());
        for _ in 0..LIFTS {
            let mut free = true;
            for scale in [1.0, larger] {
                places[guest] = positions.iter().map(|p| middle + (*p - middle) * scale + lift).collect();
                free &= crossings(&surfaces, &places)? <= before;
            }
            free &= !inside(self.world.bodies(), &places[guest]);
            if free {
                positions.iter_mut().for_each(|p| *p += lift);
                return Ok(());
            }
            lift.y += LIFT * size;
        }
        let height = LIFT * size * LIFTS as f64;
        Err(format!("there is no room for it here, nor {height:.2} m above: choose another place"))
    }
}

fn said(error: BuildError) -> String {
    error.message
}

/// A name that nothing has yet.
fn free_name(stage: &Stage, kind: &str) -> String {
    let taken = |name: &str| {
        stage.cloths.iter().any(|cloth| cloth.name == name)
            || stage.bodies.iter().any(|body| body.name == name)
    };
    let mut number = 1;
    while taken(&format!("{kind} {number}")) {
        number += 1;
    }
    format!("{kind} {number}")
}

/// Everything in the world as a checker sees it, and where it is.
fn shown(world: &World) -> (Vec<CheckSurface>, Vec<Vec<DVec3>>) {
    let cloths = world.cloths().iter().enumerate().map(|(k, cloth)| {
        let faces = cloth.mesh.faces().to_vec();
        (CheckSurface::new(&cloth.name, Kind::Cloth, cloth.positions.len(), faces), world.positions(k))
    });
    let bodies = world.bodies().iter().map(|body| {
        let (faces, x) = (body.collider.facets().faces.clone(), body.collider.positions().to_vec());
        (CheckSurface::new(&body.name, Kind::Body, x.len(), faces), x)
    });
    cloths.chain(bodies).unzip()
}

/// Whether some of `places` are inside a body.
fn inside(bodies: &[Obstacle], places: &[DVec3]) -> bool {
    bodies.iter().any(|body| places.iter().any(|p| body.collider.contains(*p)))
}

/// Pairs of faces that intersect.
fn crossings(surfaces: &[CheckSurface], places: &[Vec<DVec3>]) -> Result<usize, String> {
    let options = CheckOptions { distance: Distance::Off, list: 16, ..CheckOptions::default() };
    let mut checker = Checker::new(surfaces.to_vec(), options).map_err(|error| error.to_string())?;
    let places: Vec<&[DVec3]> = places.iter().map(Vec::as_slice).collect();
    Ok(checker.check(&places).intersections())
}

/// Whether what a stage brings back has room where it would be.
pub fn fits(world: &World, stage: &Stage, heritage: &Heritage) -> Result<(), String> {
    let new = |list: &[Option<usize>]| list.iter().position(Option::is_none);
    if new(&heritage.cloths).is_none() && new(&heritage.bodies).is_none() {
        return Ok(());
    }
    let cloths = stage.cloths.iter().zip(&heritage.cloths).map(|(cloth, before)| {
        let x = before.map_or_else(|| cloth.positions.clone(), |k| world.positions(k));
        (CheckSurface::new(&cloth.name, Kind::Cloth, x.len(), cloth.mesh.faces().to_vec()), x)
    });
    let bodies = stage.bodies.iter().zip(&heritage.bodies).map(|(body, before)| {
        let x = before.map_or(body.collider.positions(), |k| world.bodies()[k].collider.positions());
        let faces = body.collider.facets().faces.clone();
        (CheckSurface::new(&body.name, Kind::Body, x.len(), faces), x.to_vec())
    });
    let (surfaces, places): (Vec<CheckSurface>, Vec<Vec<DVec3>>) = cloths.chain(bodies).unzip();
    let (before, now) = shown(world);
    let back = stage.cloths.iter().zip(&heritage.cloths).filter(|(_, before)| before.is_none());
    let mut back = back.map(|(cloth, _)| &cloth.positions);
    if back.any(|x| inside(world.bodies(), x)) || crossings(&surfaces, &places)? > crossings(&before, &now)? {
        return Err("something is where it would come back: move it away first".into());
    }
    Ok(())
}
