//! Cuts, seams and other jobs that give a cloth another mesh; what hangs on the old one follows.

use super::Live;
use super::history::{Mended, Way};
use super::stage::Stage;
use crate::protocol::{Job, Kept, Spot};
use std::collections::BTreeSet;
use std::sync::Arc;
use toile::math::DVec3;
use toile::mesh::edit::{Keep, Place};
use toile::mesh::{Mesh, Origin, Remap};
use toile::{Anchor, Cloth, Edit as Change, Seam, TailorError, Tailoring};
use toile_io::tailor::{EditLine, EditOutcome};

/// Most points of a line that is cut: each becomes a vertex.
const MOST_POINTS: usize = 500;
/// Most vertices or pairs that a job names.
const MOST_NAMED: usize = 20_000;
/// Most vertices of a cloth that may get more.
const MOST_VERTICES: usize = 200_000;
/// Radii of brushes [m].
const RADII: [f64; 2] = [1e-3, 100.0];

impl Live {
    /// Does a job; what it is called, and the way back.
    pub(super) fn tailor(&mut self, object: u32, mesh: u32, job: &Job) -> Result<(String, Way), String> {
        let (cloth, name) = self.cloth(object)?;
        let now = self.stage.looks[cloth].mesh;
        if mesh != now {
            return Err(format!(
                "the mesh of `{name}` is number {now}, the change is for {mesh}: try again with the cloth as it is now"
            ));
        }
        let tailoring = tailoring(job, &self.stage.cloths[cloth].mesh, &name)?;
        let (mut stage, velocities) = (self.stage.clone(), self.world.velocities(cloth));
        stage.cloths[cloth].positions = self.world.positions(cloth);
        let seams = self.world.seams().into_iter().map(|closing| closing.seam);
        let seams = seams.filter(|seam| seam.cloth == cloth).collect();
        let remap = self.world.tailor(cloth, &tailoring).map_err(|error| match error {
            TailorError::Edit(error) => format!("`{name}` stays as it is: {error}"),
            other => other.to_string(),
        })?;
        // A seam changes the mesh only when it closes.
        if !Arc::ptr_eq(&self.stage.cloths[cloth].mesh, &self.world.cloths()[cloth].mesh) {
            self.follow(&[(cloth, remap)])?;
        }
        let back = Mended { stage, object, velocities, seams, job: job.clone() };
        Ok((called(job, &name), Way::Mend(Box::new(back))))
    }

    /// Does what the scene has planned before a frame, just as a run does; what cannot be done is said.
    pub(super) fn keep_to_plan(&mut self, frame: u32) -> Result<(), String> {
        let known = self.world.reshaped().len();
        for line in self.plan.work(&mut self.world, frame) {
            let EditLine { cloth, what, message, outcome, .. } = line;
            let waits = match outcome {
                EditOutcome::Done => continue,
                EditOutcome::Waits => "waits",
                EditOutcome::Impossible => "is left out",
            };
            self.said.push(format!("the scene's {what} of `{cloth}` in frame {frame} {waits}: {message}"));
        }
        self.follow_world(known)
    }

    /// Meshes that became others by themselves since the first `known` of [`toile::World::reshaped`] are known everywhere.
    pub(super) fn follow_world(&mut self, known: usize) -> Result<(), String> {
        let reshaped = self.world.reshaped()[known..].to_vec();
        for (cloth, remap) in &reshaped {
            self.history.follow(self.stage.cloth_ids[*cloth], remap);
        }
        self.follow(&reshaped)
    }

    /// Cloths of the world have other meshes: stage and hands follow.
    fn follow(&mut self, reshaped: &[(usize, Remap)]) -> Result<(), String> {
        let cloths: BTreeSet<usize> = reshaped.iter().map(|(cloth, _)| *cloth).collect();
        let mut hands = Vec::new();
        for cloth in cloths {
            let object = self.stage.cloth_ids[cloth];
            let mut held = self.holding(object);
            for (_, remap) in reshaped.iter().filter(|(other, _)| *other == cloth) {
                self.stage.follow(object, remap);
                let heirs = heirs(remap);
                let heir = |vertex: u32| heirs.get(vertex as usize)?.first().copied();
                held = held
                    .into_iter()
                    .filter_map(|(hand, v, to)| Some((hand, heir(v)?, to)))
                    .collect::<Vec<_>>();
            }
            wear(&mut self.stage.cloths[cloth], &self.world.cloths()[cloth]);
            self.count_mesh(cloth);
            hands.push((object, held));
        }
        // Only now: a world is made of all cloths.
        hands.into_iter().try_for_each(|(object, held)| self.take_again(object, held))
    }

    /// Seams that have not closed, in the numbers of `stage`; of a cloth that is mended, those that it had.
    pub(super) fn seams_in(&self, stage: &Stage, mended: Option<&Mended>) -> Vec<Seam> {
        let now = self.world.seams().into_iter().map(|closing| closing.seam);
        let now = now.map(|seam| (self.stage.cloth_ids[seam.cloth], seam));
        let goes_on = now.filter(|(id, _)| mended.is_none_or(|mended| mended.object != *id));
        let had =
            mended.iter().flat_map(|mended| mended.seams.iter().map(|seam| (mended.object, seam.clone())));
        let number = |id: u32| stage.cloth_ids.iter().position(|known| *known == id);
        goes_on.chain(had).filter_map(|(id, seam)| Some(Seam { cloth: number(id)?, ..seam })).collect()
    }

    fn count_mesh(&mut self, cloth: usize) {
        self.meshes_made += 1;
        self.stage.looks[cloth].mesh = self.meshes_made;
        self.revision += 1;
    }

    /// Gives a cloth the mesh that it had before a job, where it was; all else goes on. Returns the way to do the job
    /// again.
    pub(super) fn mend(&mut self, mended: &Mended) -> Result<Way, String> {
        let Mended { stage, object, velocities, job, .. } = mended;
        let (cloth, _) = self.cloth(*object)?;
        let (places, held) = (self.world.positions(cloth), self.holding(*object));
        let hands = self.hands.clone();
        self.hands.retain(|_, hand| hand.object != *object);
        let stage = stage.with_meshes(&self.stage, *object);
        if let Err(error) = self.settle(stage, Some(mended)) {
            self.hands = hands;
            return Err(error);
        }
        for (vertex, velocity) in velocities.iter().enumerate() {
            // Vertices without faces have none.
            let _ = self.world.edit(&Change::Velocity { cloth, vertex: vertex as u32, velocity: *velocity });
        }
        self.count_mesh(cloth);
        let owner = &self.stage.cloths[cloth];
        let near = |at: DVec3| {
            let away = |v: &u32| owner.positions[*v as usize].distance_squared(at);
            owner.mesh.faces().iter().flatten().copied().min_by(|a, b| away(a).total_cmp(&away(b)))
        };
        let held = held.into_iter().filter_map(|(hand, v, to)| Some((hand, near(places[v as usize])?, to)));
        let held = held.collect();
        self.take_again(*object, held)?;
        let mesh = self.stage.looks[cloth].mesh;
        Ok(Way::Again { object: *object, mesh, job: job.clone() })
    }
}

impl Stage {
    /// The mesh of an object became another: what names its vertices follows. A new vertex is held by a pin if all that it
    /// comes from is, as in the world.
    pub fn follow(&mut self, object: u32, remap: &Remap) {
        let Some(cloth) = self.cloth_ids.iter().position(|id| *id == object) else { return };
        let heirs = heirs(remap);
        for pin in self.pins.iter_mut().filter(|pin| pin.cloth == cloth) {
            let held: BTreeSet<u32> = pin.vertices.iter().copied().collect();
            let all_held = |origin: &Origin| origin.weights().iter().all(|(v, _)| held.contains(v));
            let new = remap.vertices.iter().enumerate().filter(|(_, origin)| all_held(origin));
            pin.vertices = new.map(|(v, _)| v as u32).collect();
        }
        let first = |v: u32| heirs.get(v as usize).and_then(|heirs| heirs.first().copied());
        // One that has lost a vertex draws nothing and keeps its number, as in the world.
        for elastic in &mut self.elastics {
            let heir =
                |(own, v): (usize, u32)| if own == cloth { Some((own, first(v)?)) } else { Some((own, v)) };
            let ends = [heir(elastic.from), elastic.vertex().and_then(heir)];
            let lost = ends[0].is_none() || ends[1].is_none() && elastic.vertex().is_some();
            elastic.from = ends[0].unwrap_or((elastic.from.0, 0));
            if let Some((own, v)) = if lost { Some(elastic.from) } else { ends[1] } {
                elastic.to = Anchor::Vertex(own, v);
            }
        }
        let looks = &mut self.looks[cloth];
        if !looks.uv.is_empty() {
            let at = |v: u32| looks.uv.get(v as usize).map_or([0.0; 2], |uv| uv.map(f64::from));
            let blend = |sum: [f64; 2], (v, w): (u32, f64)| [0, 1].map(|k| sum[k] + w * at(v)[k]);
            let uv = |origin: &Origin| origin.weights().into_iter().fold([0.0; 2], blend).map(|x| x as f32);
            looks.uv = Arc::new(remap.vertices.iter().map(uv).collect());
        }
        let heirs_of = |v: &u32| heirs.get(*v as usize).cloned().unwrap_or_default();
        let group =
            |(name, all): &(String, Vec<u32>)| (name.clone(), all.iter().flat_map(heirs_of).collect());
        looks.groups = Arc::new(looks.groups.iter().map(group).collect());
    }

    /// This stage, in which cloths have the meshes that they have in another, but for one.
    pub fn with_meshes(&self, other: &Stage, but: u32) -> Stage {
        let mut stage = self.clone();
        for (id, cloth) in stage.cloth_ids.iter().zip(&mut stage.cloths).filter(|(id, _)| **id != but) {
            if let Some(k) = other.cloth_ids.iter().position(|known| known == id) {
                wear(cloth, &other.cloths[k]);
            }
        }
        stage
    }
}

/// New vertices of each old one that is still there.
fn heirs(remap: &Remap) -> Vec<Vec<u32>> {
    let named = remap.vertices.iter().flat_map(Origin::weights).map(|(v, _)| v as usize + 1);
    remap.heirs(named.max().unwrap_or(0))
}

/// Gives a cloth the mesh of another, and what hangs on it.
fn wear(cloth: &mut Cloth, other: &Cloth) {
    let Cloth { mesh, positions, density, rest_shape, doubles, chart, hanging, .. } = other.clone();
    *cloth = Cloth { mesh, positions, density, rest_shape, doubles, chart, hanging, ..cloth.clone() };
}

/// A job as the engine wants it.
fn tailoring(job: &Job, mesh: &Mesh, name: &str) -> Result<Tailoring, String> {
    let few = |what: &str, given: usize, most: usize| {
        let told = format!("the change of `{name}` names {given} {what}, at most {most}: make it in parts");
        if given <= most { Ok(()) } else { Err(told) }
    };
    if matches!(job, Job::Cut { .. } | Job::Fill { .. }) {
        few("vertices that the cloth has", mesh.vertices(), MOST_VERTICES)?;
    }
    Ok(match job {
        Job::Cut { line } => {
            few("points", line.len(), MOST_POINTS)?;
            Tailoring::Cut { line: line.iter().map(placed).collect() }
        }
        Job::Slit { path } => {
            few("vertices", path.len(), MOST_NAMED)?;
            Tailoring::CutAlong { path: path.clone() }
        }
        Job::Trim { faces } => Tailoring::Remove { faces: faces.clone() },
        Job::Discard { face } => Tailoring::Remove { faces: piece(mesh, *face, name)? },
        Job::Resize { at, radius, hardness, factor, keep } => {
            let [low, high] = RADII;
            if !(low..=high).contains(radius) {
                return Err(format!(
                    "the radius of the brush on `{name}` is {radius} m: give {low} to {high} m"
                ));
            }
            let keep = match keep {
                Kept::Mass => Keep::Mass,
                Kept::Density => Keep::Density,
            };
            let (at, radius, hardness, factor) = (placed(at), *radius, *hardness, *factor);
            Tailoring::Resize { at, radius, hardness, factor, keep }
        }
        Job::Seam { pairs } => {
            few("pairs", pairs.len(), MOST_NAMED)?;
            Tailoring::Seam { pairs: pairs.clone() }
        }
        Job::Fill { vertex } => Tailoring::Fill { start: *vertex },
    })
}

fn placed(spot: &Spot) -> Place {
    Place { face: spot.face, weights: spot.weights }
}

/// All faces of the piece that a face belongs to, if it is not all of the cloth.
fn piece(mesh: &Mesh, face: u32, name: &str) -> Result<Vec<u32>, String> {
    let faces = mesh.faces().len();
    let Some(all) = mesh.components().into_iter().find(|piece| piece.contains(&face)) else {
        return Err(format!("`{name}` has no face {face}: it has {faces}, counted from 0"));
    };
    if all.len() == faces {
        return Err(format!(
            "`{name}` is in one piece of {faces} faces: cut it apart first, or remove what is under the brush"
        ));
    }
    Ok(all)
}

/// What a job is called.
fn called(job: &Job, name: &str) -> String {
    match job {
        Job::Cut { .. } | Job::Slit { .. } => format!("cut `{name}`"),
        Job::Trim { .. } => format!("remove cloth of `{name}`"),
        Job::Discard { .. } => format!("remove a piece of `{name}`"),
        Job::Resize { factor, .. } if *factor < 1.0 => format!("shrink `{name}`"),
        Job::Resize { .. } => format!("expand `{name}`"),
        Job::Seam { .. } => format!("sew `{name}`"),
        Job::Fill { .. } => format!("fill a hole of `{name}`"),
    }
}
