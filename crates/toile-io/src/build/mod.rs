//! From a scene to a world ready to step. Dirty meshes are repaired where that is possible, and it is said.

mod file;

use crate::obj::{NO_TEXCOORD, Obj, Polygons};
use crate::ribbon;
use crate::scene::schema::{self, Border, Corner, Pattern, Plane, Resolution, Rest, Shape};
use crate::scene::{Cloth, ClothSource, Elastic, End, Hold, InputFile, Pin, Scene, Select, Slide};
use crate::thing::engine_thing;
pub(crate) use file::flatten;
use file::from_file;
use glam::{DVec2, DVec3};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use toile::forces::{CoupledOptions, Masses, Strain, Tangent};
use toile::mesh::{Mesh, shapes};
use toile::{
    Air, Anchor, Bending, ElasticBetween, Freedom, Grip, Obstacle, PinDown, RestShape, Setup, Stretching,
    WindField, World,
};

/// Half the density of air [kg/m³] times one: turns a drag coefficient into the engine's quadratic factor.
const HALF_AIR_DENSITY: f64 = 0.6;

/// A scene turned into things that move and things to look at.
pub struct Built {
    /// The world at its first frame.
    pub world: World,
    /// For each cloth, its faces as files should show them.
    pub exports: Vec<Export>,
    /// Every body, also those that cloth does not meet, at the time of the first frame; see [`Built::place`].
    pub bodies: Vec<Obstacle>,
    /// What was repaired or is worth knowing.
    pub notes: Vec<String>,
    /// Mesh files that went in.
    pub inputs: Vec<InputFile>,
}

/// The faces of a cloth as files should show them.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// Polygons: n-gons kept, winding made consistent.
    pub polygons: Polygons,
    /// Texture coordinates that the polygons refer to: those of the mesh file, or the material coordinates of a
    /// generated shape [m].
    pub texcoords: Vec<DVec2>,
    /// Named vertices: borders of shapes, groups of files.
    pub groups: Vec<(String, Vec<u32>)>,
    /// Texture coordinates of the corners of the simulated triangles, where a mesh was repaired; else empty.
    pub triangle_texcoords: Vec<[u32; 3]>,
}

impl Export {
    /// A texture coordinate for each vertex, for those who draw with one: the last of its corners where they differ.
    /// Nothing if there are none.
    pub fn by_vertex(&self, vertices: usize) -> Vec<[f32; 2]> {
        let corners = self.polygons.all_vertices().iter().zip(self.polygons.all_texcoords());
        let mut all = vec![[0.0; 2]; if self.texcoords.is_empty() { 0 } else { vertices }];
        for (vertex, texcoord) in corners {
            if let (Some(slot), Some(t)) =
                (all.get_mut(*vertex as usize), self.texcoords.get(*texcoord as usize))
            {
                *slot = t.as_vec2().to_array();
            }
        }
        all
    }
}

/// A cloth of its own made of a mesh, repaired, where the mesh is; its faces for files; and what was repaired. Each triangle
/// is at rest as it is.
pub fn cloth_of(
    obj: Obj,
    name: &str,
    fabric: toile::Fabric,
) -> Result<(toile::Cloth, Export, Vec<String>), BuildError> {
    let object = format!("cloth `{name}`");
    let mut notes = Vec::new();
    let part = from_file(obj, Rest::Shape, true, &object, &mut notes)?;
    let mesh = part.mesh().map_err(|error| refuse(&object, error))?;
    let doubles = part.doubles.clone().into();
    let cloth = toile::Cloth { doubles, ..toile::Cloth::new(name, mesh, part.positions.clone(), fabric) };
    Ok((cloth, part.into_export(), notes))
}

impl Built {
    /// Moves the bodies to where they are at `time` [s].
    pub fn place(&mut self, time: f64) -> Result<(), BuildError> {
        for body in self.bodies.iter_mut().filter(|body| body.collider.moves()) {
            let place = body.collider.place(time);
            place.map_err(|error| refuse(&format!("body `{}`", body.name), error))?;
        }
        Ok(())
    }
}

/// Why a checked scene still cannot be built.
#[derive(Debug)]
pub struct BuildError {
    /// What is wrong, with object, element, value and fix.
    pub message: String,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BuildError {}

fn refuse(object: &str, reason: impl fmt::Display) -> BuildError {
    BuildError { message: format!("{object}: {reason}") }
}

/// Builds the world of a scene.
pub fn build(scene: &Scene) -> Result<Built, BuildError> {
    let meshes = scene.read_meshes().map_err(|error| BuildError { message: error.to_string() })?;
    let mut notes = Vec::new();
    let mut cloths = Vec::new();
    let mut parts = Vec::new();
    for cloth in &scene.cloths {
        let kind = if matches!(cloth.source, ClothSource::Thing(..)) { "thing" } else { "cloth" };
        let object = format!("{kind} `{}`", cloth.name);
        let part = match &cloth.source {
            ClothSource::Shape(shape) => generated(shape).map_err(|error| refuse(&object, error))?,
            ClothSource::Thing(shape, _) => solid(shape),
            ClothSource::File(file, rest) => {
                let obj = meshes.get(file).ok_or_else(|| refuse(&object, "its mesh file was not read"))?;
                from_file(obj, *rest, cloth.repair, &object, &mut notes)?
            }
        };
        let mut part = part.placed(cloth);
        let made = match &cloth.source {
            ClothSource::Thing(_, solid) => engine_thing(cloth, *solid, &part.faces, &mut part.positions),
            _ => engine_cloth(scene, cloth, &part).map_err(|error| error.to_string()),
        };
        let made = made.map_err(|error| refuse(&object, error))?;
        notes.extend(coarseness(&made, scene.gravity.length()));
        notes.extend(crowding(scene, &made));
        cloths.push(made);
        parts.push(part);
    }
    let pins = scene.pins.iter().enumerate();
    let pins = pins.map(|(n, pin)| engine_pin(scene, n, pin, &parts[pin.cloth], &mut notes)).collect();
    let elastics =
        scene.elastics.iter().flat_map(|elastic| engine_elastics(scene, elastic, &parts)).collect();
    let starts: Vec<&[DVec3]> = parts.iter().map(|part| part.positions.as_slice()).collect();
    let bodies = crate::body::bodies(scene, &meshes, &starts, &mut notes)?;
    let met = scene.bodies.iter().zip(&bodies).filter(|(body, _)| body.collide);
    let setup = Setup {
        cloths,
        bodies: met.map(|(_, obstacle)| obstacle.clone()).collect(),
        contact: scene.contact.clone(),
        pins,
        gravity: scene.gravity,
        wind: wind(scene),
        solver: crate::solver::settings(scene),
        substeps: scene.substeps(),
        elastics,
        seams: Vec::new(),
    };
    let mut world = World::new(setup).map_err(|error| BuildError { message: error.to_string() })?;
    notes.extend(too_long(scene, &mut world));
    let exports = parts.into_iter().map(Part::into_export).collect();
    Ok(Built { world, exports, bodies, notes, inputs: meshes.inputs })
}

/// A note if the mesh is too coarse for the fabric's bending: edges above a quarter of its bending length.
fn coarseness(cloth: &toile::Cloth, gravity: f64) -> Option<String> {
    if cloth.bending == Bending::None || gravity == 0.0 {
        return None;
    }
    let length = cloth.fabric.bending_length(gravity).into_iter().fold(f64::MAX, f64::min);
    let area = cloth.mesh.area();
    // The side of a square cut into two such triangles.
    let edge = (2.0 * area.iter().sum::<f64>() / area.len() as f64).sqrt();
    (length > 0.0 && edge > 0.25 * length).then(|| {
        format!(
            "cloth `{}`: {COARSE} of its fabric: triangles of {:.1} mm, bending length {:.1} mm; folds \
             narrower than about {:.0} mm cannot form, and drape and bending come out too stiff; for results \
             use triangles of {:.1} mm",
            cloth.name,
            1e3 * edge,
            1e3 * length,
            4e3 * edge,
            250.0 * length
        )
    })
}

/// A note if cloth keeps more distance than its edges are long: it cannot fold as its mesh could.
fn crowding(scene: &Scene, cloth: &toile::Cloth) -> Option<String> {
    let length = |ends: [u32; 2]| {
        let [a, b] = ends.map(|v| cloth.positions[v as usize]);
        a.distance(b)
    };
    let edges = cloth.mesh.edges();
    let edge = edges.iter().map(|edge| length(edge.ends)).sum::<f64>() / edges.len() as f64;
    let distance = scene.contact.gap.max(cloth.fabric.thickness);
    (!scene.contact.is_off() && distance > edge).then(|| {
        let (name, fix) = match scene.contact.gap > cloth.fabric.thickness {
            true => ("contact.gap", "lower it"),
            false => ("the fabric's thickness", "use a coarser mesh"),
        };
        format!(
            "cloth `{}`: it keeps {:.2} mm from what it meets, by {name}, and its edges are {:.2} mm long on average; folds \
             narrower than that cannot form, and contact is slow: {fix}",
            cloth.name,
            1e3 * distance,
            1e3 * edge,
        )
    })
}

/// How a note on a coarse mesh begins.
pub(crate) const COARSE: &str = "the mesh is coarse for the bending";

/// A cloth's mesh before it becomes the engine's.
#[derive(Default)]
struct Part {
    positions: Vec<DVec3>,
    faces: Vec<[u32; 3]>,
    rest: Vec<[DVec2; 3]>,
    export: Export,
    /// Named vertex sets: borders of shapes, groups of files.
    groups: Vec<(String, Vec<u32>)>,
    /// Pairs of faces that bend as one where the mesh branches.
    bent: Vec<[u32; 2]>,
    /// Vertices that go with another, ascending.
    doubles: Vec<[u32; 2]>,
}

impl Part {
    fn mesh(&self) -> Result<Mesh, toile::mesh::MeshError> {
        Mesh::branched(self.positions.len(), self.faces.clone(), self.rest.clone(), self.bent.clone())
    }

    /// The vertex whose particle a vertex is.
    fn stand(&self, vertex: u32) -> u32 {
        self.doubles.binary_search_by_key(&vertex, |d| d[0]).map_or(vertex, |at| self.doubles[at][1])
    }

    fn placed(mut self, cloth: &Cloth) -> Part {
        self.positions.iter_mut().for_each(|p| *p = cloth.placement.transform_point3(*p));
        self.rest.as_flattened_mut().iter_mut().for_each(|r| *r *= cloth.scale);
        self
    }

    fn into_export(self) -> Export {
        Export { groups: self.groups, ..self.export }
    }

    fn group(&self, name: &str) -> Vec<u32> {
        self.groups.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone()).unwrap_or_default()
    }
}

fn generated(shape: &Shape) -> Result<Part, shapes::ShapeError> {
    let pattern = |pattern: Pattern, amount: f64, seed: Option<u64>| {
        let seed = seed.unwrap_or_default();
        match pattern {
            Pattern::Structured => shapes::Pattern::Structured,
            Pattern::Flipped => shapes::Pattern::Flipped,
            Pattern::Alternating => shapes::Pattern::Alternating,
            Pattern::Equilateral => shapes::Pattern::Equilateral,
            Pattern::Jittered => shapes::Pattern::Jittered { amount, seed },
            Pattern::Delaunay => shapes::Pattern::Delaunay { seed },
        }
    };
    let quads = |resolution: &Resolution| match *resolution {
        Resolution::Two(n) => n.map(|n| n as usize),
        Resolution::One(n) => [n as usize; 2],
    };
    let (made, lay): (shapes::Shape, Box<dyn Fn(DVec3) -> DVec3>) = match *shape {
        Shape::Sheet { size: [w, h], ref resolution, pattern: kind, amount, seed, plane } => {
            let [nx, ny] = quads(resolution);
            (shapes::sheet(w, h, nx, ny, pattern(kind, amount, seed))?, lay_out(plane, w, h))
        }
        Shape::Strip { length, width, ref resolution, pattern: kind, amount, seed, plane } => {
            let [nx, ny] = quads(resolution);
            (
                shapes::sheet(length, width, nx, ny, pattern(kind, amount, seed))?,
                lay_out(plane, length, width),
            )
        }
        Shape::Disc { radius, resolution, pattern: kind, amount, seed, plane } => {
            let made = shapes::disc(radius, resolution as usize, pattern(kind, amount, seed))?;
            (made, lay_out(plane, 0.0, 0.0))
        }
        Shape::Tube { radius, length, ref resolution, pattern: kind, amount, seed } => {
            let [around, up] = quads(resolution);
            let made = shapes::tube(radius, radius, length, around, up, pattern(kind, amount, seed))?;
            (made, Box::new(move |p| p - DVec3::Y * (0.5 * length)))
        }
        Shape::Cone { radius_bottom, radius_top, length, triangles, seed } => {
            let (count, seed) = (triangles as usize, seed.unwrap_or_default());
            let made = shapes::tube_of(radius_bottom, radius_top, length, count, seed)?;
            (made, Box::new(move |p| p - DVec3::Y * (0.5 * length)))
        }
        Shape::Ribbon { ref path, width, across, ref resolution, pattern: kind, amount, seed } => {
            let [nx, ny] = quads(resolution);
            let line = ribbon::Line::new(path, across.unwrap_or([0.0, 1.0, 0.0]));
            let made = shapes::sheet(line.length(), width, nx, ny, pattern(kind, amount, seed))?;
            (made, Box::new(move |p| line.place(p.x, p.z - 0.5 * width)))
        }
    };
    let mirrored = !matches!(shape, Shape::Tube { .. } | Shape::Cone { .. });
    let turn = |f: &[u32; 3]| if mirrored { [f[0], f[2], f[1]] } else { *f };
    let turn_rest = |r: &[DVec2; 3]| if mirrored { [r[0], r[2], r[1]] } else { *r };
    let faces: Vec<[u32; 3]> = made.faces.iter().map(turn).collect();
    let named = |name: &str| match name {
        "lower" => "bottom".to_string(),
        "upper" => "top".to_string(),
        other => other.to_string(),
    };
    let rest: Vec<[DVec2; 3]> = made.rest.iter().map(turn_rest).collect();
    Ok(Part {
        positions: made.positions.iter().map(|p| lay(*p)).collect(),
        export: with_material(&faces, &rest),
        rest,
        faces,
        groups: made.groups.iter().map(|(name, vertices)| (named(name), vertices.clone())).collect(),
        ..Part::default()
    })
}

/// The surface of a thing.
fn solid(shape: &schema::ThingShape) -> Part {
    let (positions, faces) = crate::thing::surface(shape);
    let mut export = Export::default();
    faces.iter().for_each(|face| export.polygons.push(face, &[]));
    Part { positions, faces, export, ..Part::default() }
}

/// Triangles whose texture coordinates are their material coordinates, each place once; none where that is not a number.
pub fn with_material(faces: &[[u32; 3]], rest: &[[DVec2; 3]]) -> Export {
    let mut numbers = BTreeMap::new();
    let mut export = Export::default();
    for (face, corners) in faces.iter().zip(rest) {
        let texcoords = corners.map(|p| match p.is_finite() {
            true => *numbers.entry((p.x.to_bits(), p.y.to_bits())).or_insert_with(|| {
                export.texcoords.push(p);
                export.texcoords.len() as u32 - 1
            }),
            false => NO_TEXCOORD,
        });
        export.polygons.push(face, &texcoords);
    }
    export
}

/// The engine's flat shapes lie in y = 0 with (u, v) = (x, z). Scenes want them centred, standing (v up, front
/// to the viewer) or lying (v away from the viewer, front up). Both are mirror images: faces turn round.
fn lay_out(plane: Plane, width: f64, height: f64) -> Box<dyn Fn(DVec3) -> DVec3> {
    Box::new(move |p| {
        let (u, v) = (p.x - 0.5 * width, p.z - 0.5 * height);
        match plane {
            Plane::Upright => DVec3::new(u, v, 0.0),
            Plane::Flat => DVec3::new(u, 0.0, -v),
        }
    })
}

fn engine_cloth(scene: &Scene, cloth: &Cloth, part: &Part) -> Result<toile::Cloth, toile::mesh::MeshError> {
    let mesh = part.mesh()?;
    let fabric = cloth.fabric;
    let (wind_drag, coefficient) = scene.wind.as_ref().map_or((0.0, 0.0), |w| (w.drag, w.drag_coefficient));
    Ok(toile::Cloth {
        velocity: cloth.velocity,
        layer: cloth.layer,
        refine: cloth.refine,
        stretching: match cloth.model {
            schema::Model::Membrane => Stretching::Membrane(match cloth.strain {
                schema::Strain::Green => Strain::Green,
                schema::Strain::Engineering => Strain::Engineering,
            }),
            schema::Model::Springs => Stretching::Springs(match cloth.spring.tangent {
                schema::Tangent::Safe => Tangent::Safe,
                schema::Tangent::Exact => Tangent::Exact,
                schema::Tangent::Paper => Tangent::Paper,
                schema::Tangent::Blend => Tangent::Blend(cloth.spring.blend),
            }),
            schema::Model::Coupled => Stretching::Coupled(CoupledOptions {
                masses: match cloth.coupled.mass {
                    schema::Masses::Equal => Masses::Equal,
                    schema::Masses::Full => Masses::Full,
                },
                symmetric: cloth.coupled.symmetric,
                alpha: cloth.coupled.alpha,
            }),
        },
        bending: match cloth.bending {
            schema::Bending::Recon => Bending::Recon,
            schema::Bending::Hinge => Bending::Hinge,
            schema::Bending::Dihedral => Bending::Dihedral,
            schema::Bending::None => Bending::None,
        },
        rest_shape: match cloth.bend_rest {
            schema::RestShape::Flat => RestShape::Flat,
            schema::RestShape::Start => RestShape::Start,
        },
        air: Air {
            drag: scene.air.drag * fabric.density,
            normal: scene.air.normal_drag + wind_drag,
            quadratic: HALF_AIR_DENSITY * coefficient,
        },
        doubles: part.doubles.clone().into(),
        ..toile::Cloth::new(&cloth.name, mesh, part.positions.clone(), fabric)
    })
}

fn engine_pin(scene: &Scene, number: usize, pin: &Pin, part: &Part, notes: &mut Vec<String>) -> PinDown {
    let mut vertices = selected(pin, part);
    if !part.doubles.is_empty() {
        vertices.iter_mut().for_each(|v| *v = part.stand(*v));
        vertices.sort_unstable();
        vertices.dedup();
    }
    if vertices.is_empty() {
        notes.push(format!(
            "pin {number} holds no particle of cloth `{}`: nothing lies where it looks; the cloth is free there",
            scene.cloths[pin.cloth].name
        ));
    }
    let count = vertices.len().max(1) as f64;
    let centre = vertices.iter().fold(DVec3::ZERO, |sum, v| sum + part.positions[*v as usize]) / count;
    PinDown {
        cloth: pin.cloth,
        vertices,
        grip: match (pin.hold, pin.slide) {
            (Hold::Soft { stiffness, damping }, _) => Grip::Soft { stiffness, damping },
            (Hold::Hard, Slide::Fixed) => Grip::Hard(Freedom::Fixed),
            (Hold::Hard, Slide::Line(n)) => Grip::Hard(Freedom::Line(n)),
            (Hold::Hard, Slide::Plane(n)) => Grip::Hard(Freedom::Plane(n)),
        },
        motion: pin.motion.for_engine(|frame| seconds(scene, frame), centre),
        active: active(scene, pin.from, pin.until),
        clamp: pin.clamp,
    }
}

/// Time of a frame [s].
fn seconds(scene: &Scene, frame: f64) -> f64 {
    (frame - f64::from(scene.frames.first)) * scene.frame_time
}

/// When something acts [s] that acts from one frame to another.
fn active(scene: &Scene, from: u32, until: u32) -> Range<f64> {
    let time = |frame: u32| seconds(scene, f64::from(frame));
    // Bounds at the ends of the run reach beyond it, so that `--frames` may go on.
    let start = if from <= scene.frames.first { f64::NEG_INFINITY } else { time(from) };
    let end = if until >= scene.frames.last { f64::INFINITY } else { time(until) };
    start..end
}

/// One elastic of the engine for each particle that is drawn.
fn engine_elastics(scene: &Scene, elastic: &Elastic, parts: &[Part]) -> Vec<ElasticBetween> {
    let each = elastic.indices.iter().enumerate();
    let stand = |cloth: usize, vertex: u32| parts.get(cloth).map_or(vertex, |part| part.stand(vertex));
    let to = |k: usize| match &elastic.to {
        End::Particles(cloth, indices) => {
            indices.get(k).map(|vertex| Anchor::Vertex(*cloth, stand(*cloth, *vertex)))
        }
        End::Place(place, motion) => {
            Some(Anchor::Place(*place, motion.for_engine(|frame| seconds(scene, frame), *place)))
        }
    };
    let each = each.filter_map(|(k, vertex)| {
        Some(ElasticBetween {
            from: (elastic.cloth, stand(elastic.cloth, *vertex)),
            to: to(k)?,
            time: elastic.time,
            active: active(scene, elastic.from, elastic.until),
            carries: None,
        })
    });
    each.collect()
}

fn selected(pin: &Pin, part: &Part) -> Vec<u32> {
    let within = |test: &dyn Fn(DVec3) -> bool| -> Vec<u32> {
        (0..part.positions.len() as u32).filter(|v| test(part.positions[*v as usize])).collect()
    };
    match &pin.select {
        Select::All => within(&|_| true),
        Select::Box { min, max } => within(&|p| p.cmpge(*min).all() && p.cmple(*max).all()),
        Select::Ball { centre, radius } => within(&|p| p.distance(*centre) <= *radius),
        Select::Indices(indices) => indices.clone(),
        Select::Group(name) => part.group(name),
        Select::Border(Border::Left) => part.group("left"),
        Select::Border(Border::Right) => part.group("right"),
        Select::Border(Border::Bottom) => part.group("bottom"),
        Select::Border(Border::Top) => part.group("top"),
        Select::Border(Border::All) => border_of(part),
        Select::Corners(corners) => corners.iter().flat_map(|corner| corner_of(part, *corner)).collect(),
    }
}

fn border_of(part: &Part) -> Vec<u32> {
    part.mesh().map(|m| m.border()).unwrap_or_default()
}

fn corner_of(part: &Part, corner: Corner) -> Option<u32> {
    let (side, end) = match corner {
        Corner::TopLeft => ("left", "top"),
        Corner::TopRight => ("right", "top"),
        Corner::BottomLeft => ("left", "bottom"),
        Corner::BottomRight => ("right", "bottom"),
    };
    let end = part.group(end);
    part.group(side).into_iter().find(|v| end.contains(v))
}

fn wind(scene: &Scene) -> WindField {
    let Some(wind) = &scene.wind else { return WindField::default() };
    let gusts = wind.gusts.as_ref();
    WindField {
        velocity: wind.velocity,
        gust: gusts.map_or(0.0, |g| g.amplitude),
        frequency: gusts.map_or(0.0, |g| g.frequency),
        seed: gusts.and_then(|g| g.seed).unwrap_or(scene.seed),
    }
}

/// A note if explicit steps are longer than stable.
fn too_long(scene: &Scene, world: &mut World) -> Option<String> {
    let (step, longest) = (scene.step(), world.longest_step());
    let adaptive = scene.solver.error_limit.is_some();
    (step > longest && !adaptive).then(|| {
        format!(
            "explicit steps of {step:.2e} s are longer than the longest stable one, about {longest:.2e} s: the cloth \
             will blow up; use solver.substeps = {:.0}, solver.error_limit, or an implicit integrator",
            (1.25 * scene.frame_time / longest).ceil()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_stand_or_lie_with_their_front_to_the_viewer() {
        let normal = |plane: &str| {
            let text = format!(
                "toile = 1\nunits = \"m\"\nup = \"y\"\n[[cloth]]\nshape = {{ kind = \"sheet\", size = [1, 2], resolution = [2, 4], plane = \"{plane}\" }}\n"
            );
            let scene = Scene::parse(&text, "test").expect("scene");
            let world = build(&scene).expect("world").world;
            let x = world.positions(0);
            let normals: Vec<DVec3> = world.cloths()[0]
                .mesh
                .faces()
                .iter()
                .map(|f| {
                    (x[f[1] as usize] - x[f[0] as usize])
                        .cross(x[f[2] as usize] - x[f[0] as usize])
                        .normalize()
                })
                .collect();
            assert!(normals.iter().all(|n| n.abs_diff_eq(normals[0], 1e-12)));
            normals[0]
        };
        assert!(normal("upright").abs_diff_eq(DVec3::Z, 1e-12));
        assert!(normal("flat").abs_diff_eq(DVec3::Y, 1e-12));
    }

    fn built(cloth: &str, more: &str) -> Built {
        let text = format!("toile = 1\nunits = \"m\"\nup = \"y\"\n[[cloth]]\n{cloth}\n{more}");
        build(&Scene::parse(&text, "test").expect("scene")).expect("world")
    }

    #[test]
    fn every_shape_in_every_pattern_starts_unstretched() {
        let patterns = ["structured", "flipped", "alternating", "equilateral", "jittered", "delaunay"];
        for pattern in patterns {
            for shape in [
                "kind = \"sheet\", size = [1, 2], resolution = 6",
                "kind = \"strip\", length = 2, width = 0.2, resolution = 20",
                "kind = \"disc\", radius = 0.5, resolution = 5",
                "kind = \"tube\", radius = 0.2, length = 1, resolution = 16",
            ] {
                // Rings have no diagonals to turn.
                if shape.contains("disc") && !["structured", "jittered", "delaunay"].contains(&pattern) {
                    continue;
                }
                let cloth = format!(
                    "shape = {{ {shape}, pattern = \"{pattern}\" }}\nscale = 1.5\nrotate = [10, 20, 30]"
                );
                let world = built(&cloth, "").world;
                let strain = world.strains(0).into_iter().fold(0.0, |m: f64, s| m.max(s.abs()));
                assert!(strain < 1e-12, "{shape}, {pattern}: {strain}");
            }
        }
    }

    #[test]
    fn files_keep_polygons_and_vt_and_may_take_their_rest_shape_from_them() {
        let folder = tempfile::tempdir().expect("folder");
        // A quad and a triangle, the quad's second half wound like the rest; the flat pattern is half as long in u.
        let obj = "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nv 2 0 0\nvt 0 0\nvt .5 0\nvt .5 1\nvt 0 1\nvt 1 0\ng left\nf 1/1 2/2 3/3 4/4\ng right\nf 5/5 3/3 2/2\n";
        std::fs::write(folder.path().join("two.obj"), obj).expect("mesh");
        let scene = |rest: &str| {
            let text = format!(
                "toile = 1\nunits = \"m\"\nup = \"y\"\n[[cloth]]\nfile = \"two.obj\"\nrest = \"{rest}\"\n[[pin]]\ngroup = \"left\"\n"
            );
            std::fs::write(folder.path().join("scene.toml"), text).expect("scene");
            build(&Scene::load(folder.path()).expect("scene")).expect("world")
        };
        let shape = scene("shape");
        assert_eq!(shape.exports[0].polygons.counts(), [4, 3]);
        assert_eq!(shape.exports[0].texcoords.len(), 5);
        assert!(shape.world.strains(0).iter().all(|s| s.abs() < 1e-12), "unstretched as it stands");
        let pattern = scene("uv");
        assert!(
            pattern.world.strains(0).iter().all(|s| (s - 1.0).abs() < 1e-12),
            "stretched to twice its pattern"
        );
        let mut world = shape.world;
        world.step(0.1, &mut toile::Probe::default()).expect("step");
        let fell: Vec<bool> = world.positions(0).iter().map(|p| p.y < 0.0).collect();
        assert_eq!(fell, [false, false, false, false, true], "the group holds its four particles");
    }

    #[test]
    fn generated_shapes_export_their_material_coordinates() {
        let built = built("shape = { kind = \"sheet\", size = [1, 2], resolution = [2, 4] }", "");
        let export = &built.exports[0];
        assert_eq!(export.texcoords.len(), 15, "one per particle of a flat sheet");
        for (k, rest) in built.world.cloths()[0].mesh.rest().iter().enumerate() {
            let listed = export.polygons.texcoords(k);
            assert!(rest.iter().zip(listed).all(|(r, t)| *r == export.texcoords[*t as usize]));
        }
    }

    #[test]
    fn pins_find_their_particles() {
        let sheet = "shape = { kind = \"sheet\", size = [1, 1], resolution = 4 }";
        for (pin, count) in [
            ("border = \"left\"", 5),
            ("border = \"all\"", 16),
            ("corners = [\"top-left\", \"bottom-right\"]", 2),
            ("indices = [0, 7, 9]", 3),
            ("box = [[-0.6, 0.2, -1], [0.6, 0.6, 1]]", 10),
            ("sphere = { centre = [0, 0, 0], radius = 0.26 }", 5),
            ("all = true", 25),
        ] {
            let mut world = built(sheet, &format!("[[pin]]\n{pin}\n")).world;
            let start = world.positions(0);
            world.step(0.1, &mut toile::Probe::default()).expect("step");
            let held = world.positions(0).iter().zip(&start).filter(|(a, b)| a == b).count();
            assert_eq!(held, count, "{pin}");
        }
    }

    #[test]
    fn a_scene_written_z_up_in_centimetres_is_the_same_world() {
        let y = "units = \"m\"\nup = \"y\"\n[[cloth]]\nshape = { kind = \"sheet\", size = [1, 1], resolution = 4 }\ntranslate = [0, 1, 0]\nrotate = [0, 30, 0]\n[[pin]]\nborder = \"top\"\nmotion = [{ frame = 1 }, { frame = 5, translate = [0, 0.1, 0.2], rotate = [0, 40, 0] }]\n";
        let z = "units = \"cm\"\nup = \"z\"\n[[cloth]]\nshape = { kind = \"sheet\", size = [100, 100], resolution = 4 }\ntranslate = [0, 0, 100]\nrotate = [0, 0, 30]\n[[pin]]\nborder = \"top\"\nmotion = [{ frame = 1 }, { frame = 5, translate = [0, -20, 10], rotate = [0, 0, 40] }]\n";
        let end = |text: &str| {
            let scene = Scene::parse(&format!("toile = 1\n{text}"), "test").expect("scene");
            let mut world = build(&scene).expect("world").world;
            for _ in 0..6 {
                world.step(scene.frame_time, &mut toile::Probe::default()).expect("step");
            }
            world.positions(0)
        };
        let off = end(y).iter().zip(end(z)).map(|(a, b)| (*a - b).length()).fold(0.0, f64::max);
        assert!(off < 1e-9, "{off}");
    }

    #[test]
    fn every_built_in_scene_builds_and_its_pins_hold_something() {
        for builtin in crate::scene::BUILTINS {
            let scene = Scene::parse(builtin.text, builtin.name).expect("scene");
            let built = build(&scene).expect("world");
            let pins = built.notes.iter().filter(|note| !note.contains(COARSE));
            assert_eq!(pins.count(), 0, "{}: {:?}", builtin.name, built.notes);
            let strain = built.world.strains(0).into_iter().fold(0.0, f64::max);
            // A ribbon is laid along a curve and widened to both sides: where the curve turns within it, its borders are strained.
            // A cone of so many triangles has the shape of the smooth one at rest, whose arcs are longer than its chords.
            let laid = matches!(
                scene.cloths[0].source,
                ClothSource::Shape(Shape::Ribbon { .. } | Shape::Cone { .. })
            );
            assert!(laid || strain.abs() < 1e-12, "{} starts with a strain of {strain}", builtin.name);
        }
    }
}
