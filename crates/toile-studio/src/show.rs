//! A live scene as pages see it: what is there, where it is now, what it measures, and the verdict on what is sent.

use crate::live::Live;
use crate::mailbox::text_of;
use crate::protocol::{CertificateInfo, Format, FromServer, Role, Scalar, SceneInfo, Stats};
use crate::wire::{self, Head, Moved};
use axum::body::Bytes;
use glam::{DVec2, DVec3, Vec3};
use std::sync::Arc;
use toile::Probe;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Distance, Finding, Kind};
use toile::probe::{COUNTER_CHANNELS, Stage as Part};
use toile_io::obj::{ObjectRef, Polygons, Precision};

/// Most intersections that are listed in a frame; the rest is counted.
const LISTED: usize = 4096;

/// What is in a room until its objects change.
pub struct Stage {
    /// Objects and their names.
    pub info: SceneInfo,
    /// The same as a message.
    pub text: Arc<str>,
    /// The faces as a message.
    pub key: Bytes,
    faces: Vec<Vec<[u32; 3]>>,
    /// Where objects were when this was made [m].
    start: Vec<Arc<[[f32; 3]]>>,
}

impl Stage {
    /// What `live` holds now, under another count of revisions.
    pub fn of(live: &Live, revision: u32) -> Stage {
        let mut info = live.info();
        info.revision = revision;
        let all = 0..info.objects.len();
        let start: Vec<Arc<[[f32; 3]]>> = all.clone().map(|k| live.positions(k).into()).collect();
        let faces: Vec<_> = all.clone().map(|k| live.faces(k)).collect();
        let uv: Vec<_> = all.clone().map(|k| live.uv(k)).collect();
        let marks: Vec<_> = all.clone().map(|k| live.marks(k)).collect();
        let shown =
            |k: usize| wire::Shown { positions: &start[k], uv: &uv[k], faces: &faces[k], marks: &marks[k] };
        let shown: Vec<wire::Shown> = all.map(shown).collect();
        let key = wire::key(revision, &shown).into();
        let text = text_of(&FromServer::Scene(info.clone()));
        Stage { info, text, key, faces, start }
    }

    /// Bytes that it takes, about.
    pub fn size(&self) -> usize {
        2 * self.key.len() + self.text.len()
    }

    /// A frame as OBJ text.
    pub fn obj(&self, picture: &Picture) -> Vec<u8> {
        let mut places: Vec<Vec<DVec3>> = self.start.iter().map(|p| wide(p)).collect();
        for object in &picture.objects {
            if let Some(place) = places.get_mut(object.index as usize) {
                *place = wide(&object.positions);
            }
        }
        let polygons: Vec<Polygons> = self.faces.iter().map(|f| Polygons::from_triangles(f)).collect();
        let none: &[DVec2] = &[];
        let objects: Vec<ObjectRef> = self
            .info
            .objects
            .iter()
            .enumerate()
            .map(|(k, object)| ObjectRef {
                name: &object.name,
                note: "",
                positions: &places[k],
                texcoords: none,
                polygons: &polygons[k],
                groups: &[],
                edges: &[],
            })
            .collect();
        toile_io::obj::encode(&objects, Precision::Single)
    }
}

fn wide(positions: &[[f32; 3]]) -> Vec<DVec3> {
    positions.iter().map(|p| Vec3::from_array(*p).as_dvec3()).collect()
}

/// Which numbers pages want besides places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Strain at each vertex.
    pub strain: bool,
    /// Speed of each vertex.
    pub speed: bool,
    /// Pairs that touch.
    pub contacts: bool,
}

/// Where everything is in one frame.
#[derive(Clone)]
pub struct Picture {
    /// Revision of the [`Stage`] it fits.
    pub revision: u32,
    /// Its tick.
    pub tick: u64,
    /// Its time [s].
    pub time: f64,
    /// What moves.
    pub objects: Vec<Placed>,
    /// Nearest points of pairs that touch [m], if wanted.
    pub contacts: Option<Vec<[[f32; 3]; 2]>>,
}

/// Where an object is.
#[derive(Clone)]
pub struct Placed {
    /// Its place in the stage.
    pub index: u32,
    /// Its vertices [m].
    pub positions: Arc<[[f32; 3]]>,
    /// Largest principal strain of the faces around each vertex, if wanted.
    pub strain: Vec<f32>,
    /// Speed of each vertex [m/s], if wanted.
    pub speed: Vec<f32>,
}

impl Picture {
    /// What `live` looks like now.
    pub fn of(live: &Live, stage: &Stage, wanted: Wanted) -> Picture {
        let world = live.world();
        let cloths = world.cloths().len();
        let mut objects = Vec::new();
        for (index, object) in stage.info.objects.iter().enumerate().filter(|(_, object)| object.moves) {
            let positions: Arc<[[f32; 3]]> = live.positions(index).into();
            let cloth = (object.role == Role::Cloth && index < cloths).then_some(index);
            let strain = match cloth.filter(|_| wanted.strain) {
                Some(cloth) => around(&world.strains(cloth), &stage.faces[index], positions.len()),
                None => Vec::new(),
            };
            let speed = match cloth.filter(|_| wanted.speed) {
                Some(cloth) => world.velocities(cloth).iter().map(|v| v.length() as f32).collect(),
                None => Vec::new(),
            };
            objects.push(Placed { index: index as u32, positions, strain, speed });
        }
        let narrow = |pair: [DVec3; 2]| pair.map(|p| p.as_vec3().to_array());
        let contacts = wanted.contacts.then(|| live.contacts().into_iter().map(narrow).collect());
        Picture { revision: stage.info.revision, tick: live.tick(), time: world.time(), objects, contacts }
    }

    /// The places alone.
    pub fn plain(&self) -> Picture {
        let bare = |object: &Placed| Placed { strain: Vec::new(), speed: Vec::new(), ..object.clone() };
        Picture { objects: self.objects.iter().map(bare).collect(), contacts: None, ..*self }
    }

    /// Bytes of its places.
    pub fn weight(&self) -> usize {
        self.objects.iter().map(|object| 12 * object.positions.len() + 96).sum::<usize>() + 128
    }

    /// Bytes of [`Picture::encode`].
    pub fn size(&self, format: Format, scalar: Option<Scalar>, contacts: bool) -> usize {
        let scalar = self.objects.iter().any(|object| !object.scalar(scalar).is_empty());
        let object = |object: &Placed| {
            let n = object.positions.len();
            let places = match format {
                Format::F32 => 12 * n,
                Format::U16 => 24 + 6 * n + 2 * (n % 2),
            };
            8 + places + if scalar { 4 * n } else { 0 }
        };
        let touching = self.contacts.as_ref().filter(|_| contacts).map_or(0, |all| 4 + 24 * all.len());
        36 + self.objects.iter().map(object).sum::<usize>() + touching
    }

    /// Its message.
    pub fn encode(
        &self,
        serial: u32,
        format: Format,
        scalar: Option<Scalar>,
        contacts: bool,
        recorded: bool,
    ) -> Vec<u8> {
        let head = Head { serial, revision: self.revision, tick: self.tick, time: self.time, recorded };
        let all = self.objects.iter().map(|object| Moved {
            index: object.index,
            positions: &object.positions,
            scalar: object.scalar(scalar),
        });
        let moved: Vec<Moved> = all.collect();
        wire::frame(head, format, &moved, self.contacts.as_deref().filter(|_| contacts))
    }
}

impl Placed {
    fn scalar(&self, which: Option<Scalar>) -> &[f32] {
        match which {
            Some(Scalar::Strain) => &self.strain,
            Some(Scalar::Speed) => &self.speed,
            Some(Scalar::None) | None => &[],
        }
    }
}

/// The largest value of the faces around each vertex.
fn around(values: &[f64], faces: &[[u32; 3]], vertices: usize) -> Vec<f32> {
    let mut out = vec![f32::NEG_INFINITY; vertices];
    for (face, value) in faces.iter().zip(values) {
        for vertex in face {
            if let Some(slot) = out.get_mut(*vertex as usize) {
                *slot = slot.max(*value as f32);
            }
        }
    }
    out.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = 0.0);
    out
}

/// The exact checker on what is sent.
pub struct Judge {
    checker: Result<Checker, String>,
    places: Vec<Vec<DVec3>>,
}

impl Judge {
    /// A judge of this stage: of its cloths and of the bodies that they meet, which come first in it.
    pub fn new(stage: &Stage, live: &Live) -> Judge {
        let met = live.world().cloths().len() + live.world().bodies().len();
        let surface = |k: usize| {
            let object = &stage.info.objects[k];
            let kind = if object.role == Role::Cloth { Kind::Cloth } else { Kind::Body };
            CheckSurface::new(object.name.clone(), kind, stage.start[k].len(), stage.faces[k].clone())
        };
        let surfaces: Vec<CheckSurface> = (0..met.min(stage.info.objects.len())).map(surface).collect();
        let places = stage.start.iter().take(surfaces.len()).map(|p| wide(p)).collect();
        let options = CheckOptions { distance: Distance::Off, list: LISTED, ..CheckOptions::default() };
        let checker = Checker::new(surfaces, options).map_err(|error| error.to_string());
        Judge { checker, places }
    }

    /// The verdict on a picture.
    pub fn judge(&mut self, picture: &Picture, live: &Live) -> CertificateInfo {
        for object in &picture.objects {
            if let Some(place) = self.places.get_mut(object.index as usize) {
                place.clear();
                place.extend(object.positions.iter().map(|p| Vec3::from_array(*p).as_dvec3()));
            }
        }
        let mut info = CertificateInfo {
            pass: false,
            guaranteed: guaranteed(live),
            intersections: 0,
            first: None,
            place: None,
            pinched: live.world().let_through().len() as u32,
        };
        match &mut self.checker {
            Err(error) => info.first = Some(error.clone()),
            Ok(checker) => {
                let places: Vec<&[DVec3]> = self.places.iter().map(Vec::as_slice).collect();
                let mut verdict = checker.check(&places);
                let pinched = live.world().let_through();
                checker.excuse(&mut verdict, |v| pinched.contains(&[v.surface, v.vertex]));
                let tangles = live.world().tangled();
                checker.excuse_tangled(&mut verdict, |edge, face| {
                    let (edge, face) =
                        (edge.map(|v| [v.surface, v.vertex]), face.map(|v| [v.surface, v.vertex]));
                    tangles.iter().any(|tangle| tangle.excuses(&edge, &face))
                });
                info.pass = verdict.pass();
                info.intersections = u32::try_from(verdict.intersections()).unwrap_or(u32::MAX);
                info.first = verdict.findings.first().map(|finding| checker.describe(*finding).to_string());
                info.place = verdict.findings.first().and_then(|finding| place(finding, &self.places));
            }
        }
        info
    }
}

/// Whether nothing that is judged may pass through: what does not meet is not kept apart either.
fn guaranteed(live: &Live) -> bool {
    let (contact, bodies) = (live.world().contact(), live.world().bodies());
    contact.guarantee && contact.cloth && (contact.bodies || bodies.is_empty())
}

/// Where two faces meet, about [m].
fn place(finding: &Finding, places: &[Vec<DVec3>]) -> Option<[f64; 3]> {
    let Finding::Intersection { edge, .. } = finding else { return None };
    let surface = places.get(edge.surface as usize)?;
    let [a, b] = edge.vertices.map(|vertex| surface.get(vertex as usize));
    let middle = 0.5 * (*a? + *b?);
    middle.is_finite().then(|| middle.to_array())
}

/// The figures of a frame.
pub fn stats(live: &Live, probe: &Probe, seconds: f64, checking: f64, certificate: CertificateInfo) -> Stats {
    let world = live.world();
    let mut stages: Vec<(String, f64)> =
        Part::ALL.iter().zip(probe.counters.seconds).map(|(part, t)| (part.name().into(), t)).collect();
    stages.push(("check".into(), checking));
    let energies = world.energies();
    let mut joules = vec![("kinetic".to_string(), energies.kinetic), ("gravity".into(), energies.gravity)];
    joules.extend(energies.stored.iter().map(|(name, value)| (name.to_string(), *value)));
    let counters = COUNTER_CHANNELS.iter().zip(probe.counters.values());
    let cloths = 0..world.cloths().len();
    let strain = cloths.clone().flat_map(|c| world.strains(c)).fold(0.0, f64::max);
    let speed = cloths.flat_map(|c| world.velocities(c)).map(|v| v.length()).fold(0.0, f64::max);
    Stats {
        tick: live.tick(),
        time: world.time(),
        seconds,
        stages,
        energies: joules,
        counters: counters.map(|(c, value)| (c.name.to_string(), value, c.unit.to_string())).collect(),
        max_strain: strain,
        max_speed: speed,
        certificate,
        fingerprint: fingerprint(live),
    }
}

/// The fingerprint of the cloth, as people compare it.
pub fn fingerprint(live: &Live) -> String {
    format!("{:016x}", live.world().fingerprint())
}
