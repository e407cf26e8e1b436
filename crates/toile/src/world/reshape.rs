//! A cloth with another mesh while it moves: cut, sewn, filled, resized or refined, it goes on from where it is.

use super::{Heritage, World};
use crate::contact::Touch;
use crate::error::SetupError;
use crate::math::{DVec2, DVec3};
use crate::mesh::{Edge, Edited, Mesh, NONE, Origin, Remap};
use crate::setup::{Cloth, RestShape};
use std::fmt;
use std::sync::Arc;

/// How far what is cut is opened, over the distance that cloth keeps; never more than this part of its shortest edge.
const OPENING: f64 = 0.25;
const OF_EDGE: f64 = 0.1;

/// Why a cloth cannot have another mesh now. The world is as it was.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named by the variant's own sentence")]
pub enum ReshapeError {
    /// There is no such cloth.
    NoCloth { cloth: usize, cloths: usize },
    /// It is a solid, which is no surface to cut or sew.
    Solid { cloth: String },
    /// The edit is not one of this cloth as it is now.
    OtherMesh { cloth: String, what: &'static str, found: usize, wanted: usize },
    /// It started through something and is not clear of it yet.
    Tangled { cloth: String },
    /// Its new faces would meet something.
    Meets { cloth: String, pairs: usize },
    /// No world can be made of it.
    Setup(SetupError),
}

impl fmt::Display for ReshapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCloth { cloth, cloths } => {
                write!(f, "there is no cloth {cloth}: there are {cloths}, counted from 0")
            }
            Self::Solid { cloth } => write!(f, "`{cloth}` is a solid: edit cloths"),
            Self::OtherMesh { cloth, what, found, wanted } => write!(
                f,
                "the edit of cloth `{cloth}` has {found} {what} where {wanted} are wanted: edit the mesh that it has now"
            ),
            Self::Tangled { cloth } => {
                write!(f, "cloth `{cloth}` is not yet clear of what it started through: edit it later")
            }
            Self::Meets { cloth, pairs } => {
                write!(
                    f,
                    "the edit of cloth `{cloth}` would make {pairs} pairs of faces meet: try again when it has moved"
                )
            }
            Self::Setup(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReshapeError {}

/// A cloth that gets another mesh, and where everything in it comes from.
pub(super) struct Reshaped<'a> {
    pub cloth: usize,
    pub remap: &'a Remap,
    /// New vertices of each old one, ascending.
    pub heirs: Vec<Vec<u32>>,
    /// Velocities of the new vertices [m/s], if they are not those of what they come from.
    pub velocities: Option<&'a [DVec3]>,
    /// How far new vertices are from where they come from [m].
    pub opened: Vec<DVec3>,
    /// Whether the surface may be elsewhere than it was.
    pub moves: bool,
}

impl World {
    /// Gives a cloth another mesh, of which `edited` says where everything comes from: motion, masses, pins, elastics, hold
    /// and force of what touches all go on. A new vertex is held by a pin if all that it comes from is. An elastic whose vertex is
    /// gone draws nothing any more. Elements of this
    /// cloth remember nothing afterwards. Where it is cut, its two sides are opened by a fraction of a millimetre, for
    /// nothing may touch. `velocities` [m/s] are those of the new vertices; without them they move like what they come
    /// from, and what is sewn keeps its momentum. An edit after which something would intersect is refused, and an error changes
    /// nothing: try again a frame later.
    pub fn reshape(
        &mut self,
        cloth: usize,
        edited: &Edited,
        velocities: Option<&[DVec3]>,
    ) -> Result<(), ReshapeError> {
        self.check_reshape(cloth, edited, velocities)?;
        let heirs = edited.remap.heirs(self.cloths[cloth].mesh.vertices());
        let opened = self.opening(cloth, edited, &heirs);
        let change = Reshaped { cloth, remap: &edited.remap, heirs, velocities, opened, moves: true };
        let mut new = self.with_mesh(edited, change, &[]).map_err(ReshapeError::Setup)?;
        if new.tangles.len() > self.tangles.len() {
            let pairs = new.tangles().pairs.len();
            return Err(ReshapeError::Meets { cloth: self.cloths[cloth].name.clone(), pairs });
        }
        // What is cut anew is refined from there.
        new.make_levels().map_err(ReshapeError::Setup)?;
        self.become_reshaped(new, cloth, &edited.remap);
        Ok(())
    }

    /// Takes over a world in which a cloth has another mesh.
    pub(super) fn become_reshaped(&mut self, mut new: World, cloth: usize, remap: &Remap) {
        new.formed_since(self.start_before(Some(cloth)));
        new.releases = std::mem::take(&mut self.releases);
        new.reshaped = std::mem::take(&mut self.reshaped);
        new.reshaped.push((cloth, remap.clone()));
        *self = new;
    }

    /// This world with another mesh for a cloth, of which the first of each of `hanging` is half way between the others.
    /// Levels of other cloths stay.
    pub(super) fn with_mesh(
        &self,
        edited: &Edited,
        change: Reshaped,
        hanging: &[[u32; 3]],
    ) -> Result<World, SetupError> {
        let Reshaped { cloth, remap, ref heirs, .. } = change;
        let old = &self.cloths[cloth];
        let mut setup = self.setup();
        setup.cloths[cloth] = Cloth { hanging: hanging.into(), ..reshaped(old, edited, heirs) };
        for pin in setup.pins.iter_mut().filter(|pin| pin.cloth == cloth) {
            let mut held = vec![false; old.mesh.vertices()];
            pin.vertices.iter().for_each(|v| held[*v as usize] = true);
            let all_held = |origin: &Origin| origin.weights().iter().all(|(v, _)| held[*v as usize]);
            let new = remap.vertices.iter().enumerate().filter(|(_, origin)| all_held(origin));
            pin.vertices = new.map(|(v, _)| v as u32).collect();
        }
        let first = |v: u32| heirs.get(v as usize).and_then(|heirs| heirs.first().copied());
        for elastic in &mut setup.elastics {
            let ends = [Some(elastic.from), elastic.vertex()].map(|end| match end {
                Some((own, v)) if own == cloth => first(v).map(|v| (own, v)),
                other => other,
            });
            elastic.join(ends);
        }
        for seam in setup.seams.iter_mut().filter(|seam| seam.cloth == cloth) {
            seam.pairs = seam.pairs.iter().filter_map(|[a, b]| Some([first(*a)?, first(*b)?])).collect();
            seam.pairs.retain(|[a, b]| a != b);
        }
        setup.seams.retain(|seam| !seam.pairs.is_empty());
        let heritage = Heritage::all(&setup);
        let mut new = self.revised(setup, &heritage, Some(&change))?;
        new.levels.clone_from(&self.levels);
        new.levels[cloth] = None;
        Ok(new)
    }

    fn check_reshape(
        &self,
        cloth: usize,
        Edited { mesh, remap }: &Edited,
        velocities: Option<&[DVec3]>,
    ) -> Result<(), ReshapeError> {
        let Some(old) = self.cloths.get(cloth) else {
            return Err(ReshapeError::NoCloth { cloth, cloths: self.cloths.len() });
        };
        let name = || old.name.clone();
        if old.is_solid() {
            return Err(ReshapeError::Solid { cloth: name() });
        }
        let (vertices, faces) = (old.mesh.vertices(), old.mesh.faces().len());
        let highest = remap.vertices.iter().flat_map(Origin::weights).map(|(v, _)| v as usize + 1).max();
        let face = remap.faces.iter().filter(|f| **f != NONE).map(|f| *f as usize + 1).max();
        for (what, found, wanted) in [
            ("vertices", remap.vertices.len(), mesh.vertices()),
            ("faces", remap.faces.len(), mesh.faces().len()),
            ("densities", remap.density.len(), mesh.faces().len()),
            ("velocities", velocities.map_or(mesh.vertices(), <[_]>::len), mesh.vertices()),
            ("vertices before", highest.unwrap_or(0).max(vertices), vertices),
            ("faces before", face.unwrap_or(0).max(faces), faces),
        ] {
            if found != wanted {
                return Err(ReshapeError::OtherMesh { cloth: name(), what, found, wanted });
            }
        }
        let number = cloth as u32;
        if self.tangles.iter().any(|tangle| tangle.concerns(number)) {
            return Err(ReshapeError::Tangled { cloth: name() });
        }
        Ok(())
    }

    /// How far each new vertex is moved from where it comes from [m]: copies of one vertex go apart, each into its own cloth.
    fn opening(&self, cloth: usize, edited: &Edited, heirs: &[Vec<u32>]) -> Vec<DVec3> {
        let Edited { mesh, remap } = edited;
        let mut opened = vec![DVec3::ZERO; mesh.vertices()];
        if self.contact.is_off() || !self.contact.guarantee {
            return opened;
        }
        let x = remap.carry(&self.positions(cloth));
        let (mut middle, mut around) = (vec![DVec3::ZERO; x.len()], vec![0.0; x.len()]);
        let mut shortest = vec![f64::INFINITY; x.len()];
        for face in mesh.faces() {
            let p = face.map(|v| x[v as usize]);
            let centre = (p[0] + p[1] + p[2]) / 3.0;
            for (k, v) in face.iter().map(|v| *v as usize).enumerate() {
                let sides = [1, 2].map(|d| p[k].distance(p[(k + d) % 3]));
                shortest[v] = sides.into_iter().fold(shortest[v], f64::min);
                middle[v] += centre;
                around[v] += 1.0;
            }
        }
        let thick = self.contact.gap.max(self.cloths[cloth].fabric.thickness);
        let mut part = |v: usize| {
            let inward = (middle[v] / around[v] - x[v]).normalize_or_zero();
            opened[v] = inward * (OPENING * thick).min(OF_EDGE * shortest[v]);
        };
        heirs.iter().filter(|copies| copies.len() > 1).flatten().for_each(|v| {
            // New vertices beside a cut come from the same old ones: only copies are in the same place.
            if matches!(remap.vertices[*v as usize], Origin::Old(_)) {
                part(*v as usize);
            }
        });
        twins(remap).into_iter().for_each(&mut part);
        opened
    }
}

/// New vertices in the middle of edges or faces that are in the place of another.
fn twins(remap: &Remap) -> Vec<usize> {
    let key = |v: &usize| {
        let weights = remap.vertices[*v].weights();
        weights.into_iter().map(|(v, w)| (v, w.to_bits())).collect::<Vec<_>>()
    };
    let new = |v: &usize| !matches!(remap.vertices[*v], Origin::Old(_) | Origin::Joined(_));
    let mut all: Vec<usize> = (0..remap.vertices.len()).filter(new).collect();
    all.sort_by_cached_key(key);
    let same = all.chunk_by(|a, b| key(a) == key(b));
    same.filter(|group| group.len() > 1).flatten().copied().collect()
}

/// The cloth with its new mesh, as it would have started.
fn reshaped(old: &Cloth, Edited { mesh, remap }: &Edited, heirs: &[Vec<u32>]) -> Cloth {
    let mut new = old.clone();
    let before = |face: u32| old.density.get(face as usize).copied().unwrap_or(1.0);
    let density: Vec<f64> = remap.faces.iter().zip(&remap.density).map(|(f, d)| before(*f) * d).collect();
    new.density = if density.iter().all(|d| *d == 1.0) { Arc::default() } else { density.into() };
    new.positions = remap.carry(&old.positions);
    if let RestShape::Angles(angles) = &old.rest_shape {
        new.rest_shape =
            RestShape::Angles(mesh.edges().iter().map(|e| angle(e, remap, &old.mesh, angles)).collect());
    }
    new.chart = charted(old, mesh, remap).into();
    new.mesh = Arc::new(mesh.clone());
    // Doubles of vertices that are no more have none; others follow.
    let first = |v: u32| heirs[v as usize].first().copied();
    new.doubles = old.doubles.iter().filter_map(|[a, b]| Some([first(*a)?, first(*b)?])).collect();
    new
}

/// Where the corners of the new faces are in the pattern [m]: in that of the face each lies in, or where its vertices were if
/// it is larger than that one; nowhere where there was no cloth before.
fn charted(old: &Cloth, mesh: &Mesh, remap: &Remap) -> Vec<[DVec2; 3]> {
    let (chart, faces) = (old.chart(), old.mesh.faces());
    let mut any = vec![DVec2::NAN; old.mesh.vertices()];
    for (face, places) in faces.iter().zip(chart) {
        face.iter().zip(places).for_each(|(v, place)| any[*v as usize] = *place);
    }
    let corner = |vertex: u32, parent: usize| {
        let within = |v: u32| faces[parent].iter().position(|w| *w == v).map(|k| chart[parent][k]);
        match &remap.vertices[vertex as usize] {
            // What is sewn is in the pattern of each of its faces as before.
            Origin::Joined(all) => all.iter().find_map(|v| within(*v)).unwrap_or(any[all[0] as usize]),
            origin => origin
                .weights()
                .into_iter()
                .fold(DVec2::ZERO, |sum, (v, w)| sum + within(v).unwrap_or(any[v as usize]) * w),
        }
    };
    let of = |(face, parent): (&[u32; 3], &u32)| match *parent {
        NONE => [DVec2::NAN; 3],
        parent => face.map(|v| corner(v, parent as usize)),
    };
    mesh.faces().iter().zip(&remap.faces).map(of).collect()
}

/// The angle at rest across an edge [rad]: that of the old edge it lies on; none where there was cloth before.
fn angle(edge: &Edge, remap: &Remap, old: &Mesh, angles: &[f64]) -> f64 {
    let mut on: Vec<u32> =
        edge.ends.iter().flat_map(|v| remap.vertices[*v as usize].weights()).map(|(v, _)| v).collect();
    on.sort_unstable();
    on.dedup();
    match on[..] {
        [a, b] => old.edges_between([a, b]).next().map_or(0.0, |k| angles[k]),
        _ => 0.0,
    }
}

impl Reshaped<'_> {
    /// What a vertex, by its object and itself, became.
    pub fn heirs_of(&self, [object, vertex]: [u32; 2]) -> Vec<[u32; 2]> {
        if object as usize != self.cloth {
            return vec![[object, vertex]];
        }
        let heirs = self.heirs.get(vertex as usize);
        heirs.into_iter().flatten().map(|heir| [object, *heir]).collect()
    }

    /// A pair that touched, by its new vertices; nothing where one of them is none or several.
    pub fn touch(&self, mut touch: Touch) -> Option<Touch> {
        for name in touch.features.iter_mut().filter(|name| **name != u64::MAX) {
            if (*name >> 32) as usize == self.cloth {
                let [heir] = self.heirs.get(*name as u32 as usize)?[..] else { return None };
                *name = (*name & !u64::from(u32::MAX)) | u64::from(heir);
            }
        }
        Some(touch)
    }
}
