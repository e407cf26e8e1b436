//! Frames and the topology they share.
//!
//! A frame holds positions in metres, Y up, as f32: half the size of f64 and finer than a hair at
//! any size a cloth has (0.1 µm at 1 m, 60 µm at 1 km). A run writes its topology once.

use crate::axes::{Axes, Units, Up};
use crate::container::{self, ArrayRef, Container, Defect};
use crate::error::{FileError, FileErrorKind};
use crate::obj::{NO_TEXCOORD, Polygons};
use glam::DVec3;
use std::path::Path;
use toile::mesh::levels::{Levels, Mark};
use xxhash_rust::xxh3::xxh3_64;

const FRAME_HELP: &str = "delete the frame and resume the run: it will be simulated again";
const TOPOLOGY_HELP: &str = "run the scene again; frames cannot be read without their topology";

/// One frame of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Frame number.
    pub frame: u32,
    /// Time since the start [s].
    pub time: f64,
    /// [`Topology::id`] of the faces that join these particles.
    pub topology: u64,
    /// Particles of each cloth, in the order of the topology's cloths.
    pub counts: Vec<u32>,
    /// Positions of all cloths, one after the other [m].
    pub positions: Vec<[f32; 3]>,
    /// Velocities [m/s], when the scene asks for them.
    pub velocities: Option<Vec<[f32; 3]>>,
    /// Positions of the bodies that move, one after the other in the order of the topology [m].
    pub bodies: Vec<[f32; 3]>,
}

impl Frame {
    /// Writes the frame, whole or not at all. Refuses values that are not finite.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let refuse =
            |message: String, help: &str| FileError::new(FileErrorKind::Refused, path, message, help);
        let total: u64 = self.counts.iter().map(|&n| u64::from(n)).sum();
        let lengths = std::iter::once(self.positions.len()).chain(self.velocities.as_ref().map(Vec::len));
        for length in lengths {
            if length as u64 != total {
                let message =
                    format!("frame {}: {length} particles where {total} were announced", self.frame);
                return Err(refuse(message, "this is a fault of the calling program"));
            }
        }
        for (name, values, help) in [
            ("position of particle", Some(&self.positions), "use more substeps, or a softer fabric"),
            ("velocity of particle", self.velocities.as_ref(), "use more substeps, or a softer fabric"),
            ("position of moving bodies' vertex", Some(&self.bodies), "look at the bodies' motion"),
        ] {
            let bad = values.and_then(|v| v.iter().position(|p| !p.iter().all(|x| x.is_finite())));
            if let Some(i) = bad {
                return Err(refuse(format!("frame {}: the {name} {i} is not finite", self.frame), help));
            }
        }
        container::write(
            path,
            "frame",
            &self.arrays([&[u64::from(self.frame)], &[self.topology]], &[self.time]),
        )
    }

    fn arrays<'a>(&'a self, words: [&'a [u64]; 2], time: &'a [f64]) -> Vec<(&'static str, ArrayRef<'a>)> {
        let mut arrays = vec![
            ("frame", ArrayRef::U64(words[0])),
            ("time", ArrayRef::F64(time)),
            ("topology", ArrayRef::U64(words[1])),
            ("counts", ArrayRef::U32(&self.counts)),
            ("positions", ArrayRef::F32(self.positions.as_flattened())),
        ];
        if let Some(v) = &self.velocities {
            arrays.push(("velocities", ArrayRef::F32(v.as_flattened())));
        }
        if !self.bodies.is_empty() {
            arrays.push(("bodies", ArrayRef::F32(self.bodies.as_flattened())));
        }
        arrays
    }

    /// Reads a frame and verifies every byte of it.
    pub fn read(path: &Path) -> Result<Frame, FileError> {
        let c = container::read(path, "frame", FRAME_HELP)?;
        Frame::decode(&c).map_err(|d| d.in_file(path, FRAME_HELP))
    }

    fn decode(c: &Container) -> Result<Frame, Defect> {
        let counts = c.u32s("counts")?.to_vec();
        let total: u64 = counts.iter().map(|&n| u64::from(n)).sum();
        let triples = |name: &str, total: Option<u64>| -> Result<Vec<[f32; 3]>, Defect> {
            let values = c.f32s(name)?;
            let (triples, rest) = values.as_chunks::<3>();
            let total = total.unwrap_or(triples.len() as u64);
            if triples.len() as u64 != total || !rest.is_empty() {
                return Err(corrupt(format!("{} {name} values for {total} particles", values.len())));
            }
            Ok(triples.to_vec())
        };
        let frame = first(c.u64s("frame")?, "frame")?;
        Ok(Frame {
            frame: u32::try_from(frame).map_err(|_| corrupt(format!("frame number {frame} is too large")))?,
            time: first(c.f64s("time")?, "time")?,
            topology: first(c.u64s("topology")?, "topology")?,
            positions: triples("positions", Some(total))?,
            velocities: c.get("velocities").map(|_| triples("velocities", Some(total))).transpose()?,
            // The topology knows how many there are; frames without moving bodies have none.
            bodies: c.get("bodies").map(|_| triples("bodies", None)).transpose()?.unwrap_or_default(),
            counts,
        })
    }

    /// The particles of one cloth.
    pub fn object(&self, index: usize) -> Option<&[[f32; 3]]> {
        let start: usize = self.counts.get(..index)?.iter().map(|&n| n as usize).sum();
        self.positions.get(start..start + *self.counts.get(index)? as usize)
    }
}

fn corrupt(message: impl Into<String>) -> Defect {
    Defect { kind: FileErrorKind::Corrupt, message: message.into() }
}

fn first<T: Copy>(values: &[T], name: &str) -> Result<T, Defect> {
    match values {
        [only] => Ok(*only),
        _ => Err(corrupt(format!("array \"{name}\" has {} values where one is needed", values.len()))),
    }
}

/// Positions or velocities in the precision of frames.
pub fn single_precision(points: &[DVec3]) -> Vec<[f32; 3]> {
    points.iter().map(|p| p.as_vec3().to_array()).collect()
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Simulated; has positions in every frame.
    Cloth,
    /// Stays where the topology says, or has positions in every frame if it moves.
    Body,
}

/// The faces of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct TopologyObject {
    /// Unique name.
    pub name: String,
    /// Cloth or body.
    pub role: Role,
    /// Whether frames hold its positions: every cloth, and bodies that move.
    pub moves: bool,
    /// Number of particles.
    pub vertex_count: u32,
    /// Triangles, as the engine uses them.
    pub triangles: Vec<[u32; 3]>,
    /// Polygons of the original mesh, for export; empty when they are the triangles.
    pub polygons: Polygons,
    /// Material coordinates [m] that the polygons' corners refer to.
    pub texcoords: Vec<[f32; 2]>,
    /// Material coordinates of the triangles' corners, where the mesh was repaired; else empty, and the triangles are those
    /// of the polygons, in order.
    pub triangle_texcoords: Vec<[u32; 3]>,
    /// Positions at the start [m]; a body that does not move keeps them.
    pub start: Vec<[f32; 3]>,
    /// Where the triangles' corners are in the pattern [m], where the mesh may become another; not a number for cloth that came
    /// later. Else empty.
    pub chart: Vec<[[f32; 2]; 3]>,
    /// Shape of the triangles at rest [m], where they are no longer as they were; else empty.
    pub rest: Vec<[[f32; 2]; 3]>,
    /// What refinement did to each triangle (B14-16): 0 nothing, 1 split, 2 split and cancelled. Empty where it did nothing.
    pub marks: Vec<u8>,
}

impl TopologyObject {
    /// 0 for a cloth, 1 for a body that stays, 2 for one that moves.
    fn code(&self) -> u8 {
        match self.role {
            Role::Cloth => 0,
            Role::Body => 1 + u8::from(self.moves),
        }
    }

    /// The polygons to export: the original ones, or the triangles.
    pub fn export_polygons(&self) -> Polygons {
        if self.polygons.is_empty() {
            Polygons::from_triangles(&self.triangles)
        } else {
            self.polygons.clone()
        }
    }
}

/// What refinement did to each face, as [`TopologyObject::marks`] has it.
pub fn marks_of(levels: &Levels) -> Vec<u8> {
    let code = |mark: Mark| match mark {
        Mark::Plain => 0,
        Mark::Split => 1,
        Mark::Cancelled => 2,
    };
    let marks: Vec<u8> = levels.marks().into_iter().map(code).collect();
    if marks.iter().all(|mark| *mark == 0) { Vec::new() } else { marks }
}

/// Everything about a run's objects that does not change from frame to frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Objects; frames hold the cloths among them, in this order.
    pub objects: Vec<TopologyObject>,
    /// Duration of a frame [s].
    pub frame_time: f64,
    /// Unit and up axis of the scene, for export.
    pub axes: Axes,
}

impl Topology {
    /// Hash of every face: frames carry it, so that frames of another mesh are not mixed in.
    pub fn id(&self) -> u64 {
        let mut bytes = Vec::new();
        for object in &self.objects {
            bytes.push(object.code());
            bytes.extend_from_slice(&object.vertex_count.to_le_bytes());
            bytes.extend_from_slice(&(object.triangles.len() as u64).to_le_bytes());
            object.triangles.as_flattened().iter().for_each(|i| bytes.extend_from_slice(&i.to_le_bytes()));
            // Cloth made larger or smaller has the same faces.
            let rest = object.rest.as_flattened().as_flattened();
            rest.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
            bytes.extend_from_slice(&object.marks);
        }
        xxh3_64(&bytes)
    }

    /// The cloths, in the order frames hold them.
    pub fn cloths(&self) -> impl Iterator<Item = &TopologyObject> {
        self.objects.iter().filter(|o| o.role == Role::Cloth)
    }

    /// The bodies, in the order frames hold those that move.
    pub fn bodies(&self) -> impl Iterator<Item = &TopologyObject> {
        self.objects.iter().filter(|o| o.role == Role::Body)
    }

    /// Writes the topology, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let counts: Vec<Vec<u32>> = self.objects.iter().map(|o| o.polygons.counts()).collect();
        let heads: Vec<[u32; 2]> =
            self.objects.iter().map(|o| [u32::from(o.code()), o.vertex_count]).collect();
        let names: Vec<[String; 7]> = (0..self.objects.len()).map(array_names).collect();
        let count = [self.objects.len() as u64];
        let time = [self.frame_time];
        let up: &str = if self.axes.up == Up::Z { "z" } else { "y" };
        let mut arrays = vec![
            ("objects", ArrayRef::U64(&count)),
            ("frame_time", ArrayRef::F64(&time)),
            ("units", ArrayRef::Bytes(self.axes.units.name().as_bytes())),
            ("up", ArrayRef::Bytes(up.as_bytes())),
        ];
        for (i, object) in self.objects.iter().enumerate() {
            let data = [
                ArrayRef::Bytes(object.name.as_bytes()),
                ArrayRef::U32(&heads[i]),
                ArrayRef::U32(object.triangles.as_flattened()),
                ArrayRef::U32(&counts[i]),
                ArrayRef::U32(object.polygons.all_vertices()),
                ArrayRef::U32(object.polygons.all_texcoords()),
                ArrayRef::F32(object.texcoords.as_flattened()),
            ];
            arrays.extend(names[i].iter().map(String::as_str).zip(data));
        }
        let named = |what: &str| (0..self.objects.len()).map(|i| format!("{i}.{what}")).collect::<Vec<_>>();
        let (starts, charts) = (named("start"), named("triangle_texcoords"));
        let (patterns, rests, marks) = (named("chart"), named("rest"), named("marks"));
        for (i, object) in self.objects.iter().enumerate() {
            arrays.push((&starts[i], ArrayRef::F32(object.start.as_flattened())));
            if !object.triangle_texcoords.is_empty() {
                arrays.push((&charts[i], ArrayRef::U32(object.triangle_texcoords.as_flattened())));
            }
            for (name, corners) in [(&patterns[i], &object.chart), (&rests[i], &object.rest)] {
                if !corners.is_empty() {
                    arrays.push((name, ArrayRef::F32(corners.as_flattened().as_flattened())));
                }
            }
            if !object.marks.is_empty() {
                arrays.push((&marks[i], ArrayRef::Bytes(&object.marks)));
            }
        }
        container::write(path, "topology", &arrays)
    }

    /// Reads a topology and verifies that every index is in range.
    pub fn read(path: &Path) -> Result<Topology, FileError> {
        let c = container::read(path, "topology", TOPOLOGY_HELP)?;
        Topology::decode(&c).map_err(|d| d.in_file(path, TOPOLOGY_HELP))
    }

    fn decode(c: &Container) -> Result<Topology, Defect> {
        let count = first(c.u64s("objects")?, "objects")?;
        let units = match c.bytes("units")? {
            b"cm" => Units::Cm,
            b"mm" => Units::Mm,
            b"inch" => Units::Inch,
            _ => Units::M,
        };
        let up = if c.bytes("up")? == b"z" { Up::Z } else { Up::Y };
        // The arrays themselves bound the count: a missing one ends the loop.
        let objects = (0..count).map(|i| decode_object(c, i as usize)).collect::<Result<Vec<_>, Defect>>()?;
        Ok(Topology {
            objects,
            frame_time: first(c.f64s("frame_time")?, "frame_time")?,
            axes: Axes { units, up },
        })
    }
}

fn array_names(i: usize) -> [String; 7] {
    let parts =
        ["name", "head", "triangles", "polygon_counts", "polygon_vertices", "polygon_texcoords", "texcoords"];
    parts.map(|part| format!("{i}.{part}"))
}

fn decode_object(c: &Container, i: usize) -> Result<TopologyObject, Defect> {
    let [name, head, triangles, counts, vertices, corners, texcoords] = array_names(i);
    let name = String::from_utf8_lossy(c.bytes(&name)?).into_owned();
    let [role, vertex_count] = *c.u32s(&head)? else {
        return Err(corrupt(format!("object {i} has a broken header")));
    };
    let whole = |ok: bool, what: &str| {
        if ok { Ok(()) } else { Err(corrupt(format!("object \"{name}\": {what}"))) }
    };
    let (triangles, rest) = c.u32s(&triangles)?.as_chunks::<3>();
    whole(rest.is_empty(), "a triangle lacks corners")?;
    let (texcoords, rest) = c.f32s(&texcoords)?.as_chunks::<2>();
    whole(rest.is_empty(), "a material coordinate is cut")?;
    let (start, rest) = c.f32s(&format!("{i}.start"))?.as_chunks::<3>();
    whole(rest.is_empty() && start.len() == vertex_count as usize, "its starting positions do not match")?;
    let (vertices, corners) = (c.u32s(&vertices)?.to_vec(), c.u32s(&corners)?.to_vec());
    let in_range = |&v: &u32| v < vertex_count;
    whole(triangles.as_flattened().iter().all(in_range), "a triangle refers to a missing particle")?;
    whole(vertices.iter().all(in_range), "a polygon refers to a missing particle")?;
    let known = |&t: &u32| t == NO_TEXCOORD || (t as usize) < texcoords.len();
    whole(corners.iter().all(known), "a polygon refers to a missing material coordinate")?;
    // Only meshes that were repaired have it.
    let charts = format!("{i}.triangle_texcoords");
    let charts = if c.get(&charts).is_some() { c.u32s(&charts)? } else { &[] };
    let (charts, rest) = charts.as_chunks::<3>();
    let fits = charts.is_empty() || charts.len() == triangles.len();
    whole(rest.is_empty() && fits, "its material coordinates do not match its triangles")?;
    whole(charts.as_flattened().iter().all(known), "a triangle refers to a missing material coordinate")?;
    let pattern = |what: &str| -> Result<Vec<[[f32; 2]; 3]>, Defect> {
        let name = format!("{i}.{what}");
        let values = if c.get(&name).is_some() { c.f32s(&name)? } else { &[] };
        let (places, rest) = values.as_chunks::<2>();
        let (all, more) = places.as_chunks::<3>();
        let fits = all.is_empty() || all.len() == triangles.len();
        whole(rest.is_empty() && more.is_empty() && fits, "its pattern does not match its triangles")?;
        Ok(all.to_vec())
    };
    let (chart, rest) = (pattern("chart")?, pattern("rest")?);
    // Only cloth that is refined has them, and only since they are written.
    let marks = format!("{i}.marks");
    let marks = if c.get(&marks).is_some() { c.bytes(&marks)? } else { &[] };
    whole(marks.is_empty() || marks.len() == triangles.len(), "its marks do not match its triangles")?;
    let polygons = Polygons::from_counts(c.u32s(&counts)?, vertices, corners);
    whole(polygons.is_some(), "its polygons do not add up")?;
    Ok(TopologyObject {
        role: if role == 0 { Role::Cloth } else { Role::Body },
        moves: role != 1,
        vertex_count,
        triangles: triangles.to_vec(),
        polygons: polygons.unwrap_or_default(),
        texcoords: texcoords.to_vec(),
        triangle_texcoords: charts.to_vec(),
        start: start.to_vec(),
        chart,
        rest,
        marks: marks.to_vec(),
        name,
    })
}
