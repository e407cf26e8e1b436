//! A scene that people change while it moves. No clock and no thread: the same edits before the same ticks give the same
//! cloth, bit for bit.

mod explain;
mod guests;
mod hands;
mod history;
mod panels;
mod seams;
mod stage;
mod tailor;
#[cfg(test)]
mod tests;

use crate::protocol::{Edit, Explanation, Group, ObjectInfo, Panels, Role, SceneInfo};
use glam::DVec3;
use hands::Hand;
use history::{History, Mended, Way};
use seams::Nearest;
use stage::{Looks, Stage};
use std::collections::BTreeMap;
use toile::{Edit as Change, Heritage, Obstacle, PinDown, Probe, World};
use toile_io::build::{Built, build};
use toile_io::obj::Obj;
use toile_io::run::marks_of;
use toile_io::scene::Scene;
use toile_io::tailor::Tailor as Plan;

/// Cloths and bodies that may be in one room.
const MOST_OBJECTS: usize = 256;

/// A scene in motion.
pub struct Live {
    scene: Scene,
    world: World,
    stage: Stage,
    /// Bodies that cloth does not meet: to look at.
    scenery: Vec<Obstacle>,
    hands: BTreeMap<u32, Hand>,
    gusts: Vec<Gust>,
    meshes: BTreeMap<String, Obj>,
    history: History,
    /// How near seams have come, in the order of the world's.
    nearest: Vec<Nearest>,
    /// Edits of the scene that are to come.
    plan: Plan,
    /// Number of the scene's frame that the cloth is in.
    frame: u32,
    next_id: u32,
    meshes_made: u32,
    /// Height of the ground to draw [m].
    ground: Option<f64>,
    tick: u64,
    revision: u32,
    notes: Vec<String>,
    /// What became of the scene's edits and was not told yet.
    said: Vec<String>,
}

/// Wind on top of the wind.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gust {
    velocity: DVec3,
    begin: f64,
    end: f64,
}

impl Gust {
    /// Its velocity at `time` [m/s]: it swells and dies smoothly.
    fn at(&self, time: f64) -> DVec3 {
        let part = (time - self.begin) / (self.end - self.begin);
        let swell = 4.0 * part * (1.0 - part);
        if (0.0..=1.0).contains(&part) { self.velocity * swell } else { DVec3::ZERO }
    }
}

impl Live {
    /// A scene at its start.
    pub fn new(scene: Scene) -> Result<Live, String> {
        let built = build(&scene).map_err(|error| error.to_string())?;
        let mut notes: Vec<String> =
            scene.notes.iter().map(|n| format!("{} — {}", n.message, n.help)).collect();
        notes.extend(built.notes.iter().cloned());
        let stage = Stage::of(&scene, &built);
        let next_id = (stage.cloths.len() + built.bodies.len()) as u32;
        let scenery = unmet(&built);
        let mut live = Live {
            plan: Plan::new(&scene, &[], &built.world),
            frame: scene.frames.first,
            scene,
            world: built.world,
            stage,
            scenery,
            hands: BTreeMap::new(),
            gusts: Vec::new(),
            meshes: BTreeMap::new(),
            history: History::default(),
            nearest: Vec::new(),
            next_id,
            meshes_made: 0,
            ground: None,
            tick: 0,
            revision: 1,
            notes,
            said: Vec::new(),
        };
        live.ground = live.find_ground();
        live.place_scenery();
        live.keep_to_plan(live.frame)?;
        live.notes.append(&mut live.said);
        Ok(live)
    }

    /// The scene it began as.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// What is worth knowing about the scene.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Frames stepped, resets included.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// The cloth.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Counts changes of objects: frames of another revision have other vertices.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// What became of the scene's edits since this was asked last, unless they were done.
    pub fn take_said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.said)
    }

    /// Advances by a frame, the scene's edits before it. On an error no time has passed.
    pub fn step(&mut self, probe: &mut Probe) -> Result<(), String> {
        self.keep_to_plan(self.frame + 1)?;
        self.lead_hands()?;
        self.blow()?;
        self.world.step(self.scene.frame_time, probe).map_err(|error| error.to_string())?;
        self.place_scenery();
        self.tick += 1;
        self.frame += 1;
        self.watch_seams();
        self.follow_world(0)
    }

    fn place_scenery(&mut self) {
        let time = self.world.time();
        for body in self.scenery.iter_mut().filter(|body| body.collider.moves()) {
            // What cannot be placed stays where it was: it is only looked at.
            let _ = body.collider.place(time);
        }
    }

    /// The wind of the coming frame: the panel's and the gusts of the moment.
    fn blow(&mut self) -> Result<(), String> {
        let (now, ahead) = (self.world.time(), 0.5 * self.scene.frame_time);
        let mut wind = self.stage.wind;
        wind.velocity += self.gusts.iter().fold(DVec3::ZERO, |sum, gust| sum + gust.at(now + ahead));
        self.gusts.retain(|gust| gust.end > now);
        self.world.edit(&Change::Wind(wind)).map_err(|error| error.to_string())
    }

    /// Makes a change, or says why not; then nothing has changed. Whoever logs what was accepted can have the same cloth
    /// again.
    pub fn apply(&mut self, edit: &Edit) -> Result<(), String> {
        if !matches!(edit, Edit::Grab { .. } | Edit::Drag { .. } | Edit::Release { .. } | Edit::Gust { .. }) {
            // Seams may be others now, or freed: they are given time anew.
            self.nearest.clear();
        }
        match edit {
            Edit::Grab { hand, object, vertex, to } => self.grab(*hand, *object, *vertex, place(*to)?),
            Edit::Drag { hand, to } => self.drag(*hand, place(*to)?),
            Edit::Release { hand } => self.release(*hand),
            Edit::Gust { velocity, seconds } => self.gust(place(*velocity)?, *seconds),
            Edit::Undo => self.take_back(true),
            Edit::Redo => self.take_back(false),
            Edit::Reset => self.reset(),
            Edit::Tailor { object, mesh, job } => {
                let (name, back) = self.tailor(*object, *mesh, job)?;
                self.history.made(name, back);
                Ok(())
            }
            lasting => {
                // What is refused leaves no trace, not even a number: a log of what was accepted must give the same ids.
                let next_id = self.next_id;
                let gone = self.removed(lasting);
                let changed = self.changed(lasting);
                let settled = changed.and_then(|(name, stage)| Ok((name, self.settle(stage, None)?)));
                let (name, mut before) = settled.inspect_err(|_| self.next_id = next_id)?;
                if let Some((cloth, positions)) = gone {
                    // Undo puts it back where it was.
                    before.cloths[cloth].positions = positions;
                    before.cloths[cloth].velocity = DVec3::ZERO;
                }
                self.history.made(name, Way::To(Box::new(before)));
                Ok(())
            }
        }
    }

    /// The cloth that a change removes, and where it is [m].
    fn removed(&self, edit: &Edit) -> Option<(usize, Vec<DVec3>)> {
        let Edit::Remove { object } = edit else { return None };
        let cloth = self.stage.cloth_ids.iter().position(|id| id == object)?;
        Some((cloth, self.world.positions(cloth)))
    }

    /// The stage after a lasting change, and what the change is called.
    fn changed(&mut self, edit: &Edit) -> Result<(String, Stage), String> {
        let mut stage = self.stage.clone();
        let name = match edit {
            Edit::Pin { object, vertices } => {
                let (cloth, name) = stage.cloth(*object)?;
                let vertices = known(vertices, stage.cloths[cloth].positions.len(), &name)?;
                let held = stage.held(cloth);
                let new: Vec<u32> = vertices.into_iter().filter(|v| held.binary_search(v).is_err()).collect();
                if new.is_empty() {
                    return Err(format!("these vertices of `{name}` are held already: choose others"));
                }
                let text = format!("pin {} of `{name}`", counted(new.len()));
                stage.add_pin(PinDown::fixed(cloth, new), &mut self.next_id);
                text
            }
            Edit::Unpin { object, vertices } => {
                let (cloth, name) = stage.cloth(*object)?;
                let vertices = known(vertices, stage.cloths[cloth].positions.len(), &name)?;
                let before = stage.held(cloth).len();
                for pin in stage.pins.iter_mut().filter(|pin| pin.cloth == cloth) {
                    pin.vertices.retain(|v| vertices.binary_search(v).is_err());
                }
                let freed = before - stage.held(cloth).len();
                if freed == 0 {
                    return Err(format!("no pin holds these vertices of `{name}`: choose held ones"));
                }
                format!("unpin {} of `{name}`", counted(freed))
            }
            Edit::Drop { form, size, mass, at, velocity } => {
                self.room_for_one()?;
                let thing = guests::Dropping {
                    form: *form,
                    size: *size,
                    mass: *mass,
                    at: place(*at)?,
                    velocity: place(*velocity)?,
                };
                self.drop_guest(&mut stage, thing)?
            }
            Edit::Import { mesh, role, at, scale } => {
                self.room_for_one()?;
                self.import(&mut stage, mesh, *role, place(*at)?, *scale)?
            }
            Edit::Remove { object } => self.remove(&mut stage, *object)?,
            Edit::Wind(wind) => panels::set_wind(&mut stage, wind)?,
            Edit::Gravity { gravity } => {
                stage.gravity = panels::limited(*gravity, "gravity", 100.0, "m/s²")?;
                "change gravity".into()
            }
            Edit::Fabric { object, fabric } => panels::set_fabric(&mut stage, *object, fabric)?,
            Edit::Contact(contact) => panels::set_contact(&mut stage, contact)?,
            Edit::Solver(solver) => panels::set_solver(&mut stage, solver)?,
            Edit::Grab { .. }
            | Edit::Drag { .. }
            | Edit::Release { .. }
            | Edit::Gust { .. }
            | Edit::Undo
            | Edit::Redo
            | Edit::Reset
            | Edit::Tailor { .. } => return Err("this change does not last".into()),
        };
        Ok((name, stage))
    }

    /// Makes the world that of `stage`; what stays goes on from where it is, but for an object that is mended and starts
    /// anew. Returns the stage before.
    fn settle(&mut self, stage: Stage, mended: Option<&Mended>) -> Result<Stage, String> {
        let anew = mended.map(|mended| mended.object);
        let same = |new: &[u32], old: &[u32]| -> Vec<Option<usize>> {
            let goes_on = |id: &u32| old.iter().position(|known| known == id);
            new.iter().map(goes_on).collect()
        };
        let mut cloths = same(&stage.cloth_ids, &self.stage.cloth_ids);
        let starts = stage.cloth_ids.iter().zip(&mut cloths).filter(|(id, _)| Some(**id) == anew);
        starts.for_each(|(_, before)| *before = None);
        let heritage = Heritage {
            cloths,
            bodies: same(&stage.body_ids, &self.stage.body_ids),
            pins: same(&stage.pin_ids, &self.stage.pin_ids),
        };
        let others = stage.cloth_ids != self.stage.cloth_ids || stage.body_ids != self.stage.body_ids;
        if others || anew.is_some() {
            guests::fits(&self.world, &stage, &heritage)?;
        }
        // Hands lose what is no longer there.
        let hands: BTreeMap<u32, Hand> = self
            .hands
            .iter()
            .filter(|(_, hand)| stage.cloth_ids.contains(&hand.object))
            .map(|(number, hand)| (*number, hand.clone()))
            .collect();
        let setup = stage.setup(&hands, self.seams_in(&stage, mended));
        self.world.revise(setup, &heritage).map_err(|error| error.to_string())?;
        self.hands = hands;
        self.revision += u32::from(others);
        Ok(std::mem::replace(&mut self.stage, stage))
    }

    fn reset(&mut self) -> Result<(), String> {
        let built = build(&self.scene).map_err(|error| error.to_string())?;
        self.stage = Stage::of(&self.scene, &built);
        self.scenery = unmet(&built);
        self.plan = Plan::new(&self.scene, &[], &built.world);
        self.frame = self.scene.frames.first;
        self.world = built.world;
        self.hands.clear();
        self.gusts.clear();
        self.history.clear();
        self.ground = self.find_ground();
        self.revision += 1;
        self.place_scenery();
        self.keep_to_plan(self.frame)
    }

    fn gust(&mut self, velocity: DVec3, seconds: f64) -> Result<(), String> {
        panels::limited(velocity.to_array(), "gust", panels::FASTEST_WIND, "m/s")?;
        if !(0.05..=60.0).contains(&seconds) {
            return Err(format!("a gust of {seconds} s: give 0.05 to 60 s"));
        }
        if self.gusts.len() >= 16 {
            return Err("16 gusts blow already: wait for one to die".into());
        }
        if self.stage.catch_wind() {
            let stage = self.stage.clone();
            self.settle(stage, None)?;
        }
        let begin = self.world.time();
        self.gusts.push(Gust { velocity, begin, end: begin + seconds });
        Ok(())
    }

    /// What undo would take back and what redo would make again, in words.
    pub fn undoable(&self) -> [Option<String>; 2] {
        self.history.names()
    }

    fn room_for_one(&self) -> Result<(), String> {
        let objects = self.stage.cloths.len() + self.stage.bodies.len();
        if objects >= MOST_OBJECTS {
            return Err(format!(
                "{objects} objects are in the room, {MOST_OBJECTS} is the limit: remove one"
            ));
        }
        Ok(())
    }

    /// Objects in the order of [`Live::info`]: cloths, bodies that are met, bodies that are only seen.
    fn at(&self, index: usize) -> Option<At<'_>> {
        let (cloths, bodies) = (self.world.cloths(), self.world.bodies());
        if index < cloths.len() {
            return Some(At::Cloth(index));
        }
        let rest = index - cloths.len();
        let body = bodies.get(rest).or_else(|| self.scenery.get(rest.checked_sub(bodies.len())?))?;
        Some(At::Body(body))
    }

    /// What is in it.
    pub fn info(&self) -> SceneInfo {
        let cloths = self.world.cloths().iter().enumerate().map(|(k, cloth)| {
            let Looks { guest, mesh, groups, colours, .. } = &self.stage.looks[k];
            let group = |(name, vertices): &(String, Vec<u32>)| Group {
                name: name.clone(),
                vertices: vertices.clone(),
            };
            ObjectInfo {
                id: self.stage.cloth_ids[k],
                name: cloth.name.clone(),
                role: Role::Cloth,
                solid: cloth.rigid || !cloth.braces.springs.is_empty(),
                mesh: *mesh,
                guest: *guest,
                moves: true,
                vertices: cloth.positions.len() as u32,
                faces: cloth.mesh.faces().len() as u32,
                groups: groups.iter().map(group).collect(),
                colours: colours.clone(),
            }
        });
        let met = self.world.bodies().iter().zip(self.stage.body_ids.iter().copied());
        let seen = self.scenery.iter().enumerate().map(|(k, body)| (body, u32::MAX - k as u32));
        let bodies = met.chain(seen).map(|(body, id)| ObjectInfo {
            id,
            name: body.name.clone(),
            role: Role::Body,
            solid: true,
            mesh: 0,
            guest: self.stage.guest_bodies.contains(&id),
            moves: body.collider.moves(),
            vertices: body.collider.positions().len() as u32,
            faces: body.collider.facets().faces.len() as u32,
            groups: Vec::new(),
            colours: ["#8a8f98".into(), "#8a8f98".into()],
        });
        SceneInfo {
            revision: self.revision,
            name: self.scene.name.clone(),
            frame_time: self.scene.frame_time,
            ground: self.ground,
            objects: cloths.chain(bodies).collect(),
        }
    }

    /// Height of the ground to draw [m], as the scene starts.
    fn find_ground(&self) -> Option<f64> {
        use toile_io::scene::Floor;
        match self.scene.render.ground {
            Floor::None => None,
            Floor::Height(height) => Some(height),
            Floor::Below => {
                let bodies = self.world.bodies().iter().flat_map(|b| b.collider.positions());
                let cloths = self.stage.cloths.iter().flat_map(|cloth| &cloth.positions);
                let lowest = bodies.chain(cloths).fold(f64::INFINITY, |low, p| low.min(p.y));
                // Cloth that hangs free falls by about its size.
                let size = self.stage.cloths.iter().map(|c| c.mesh.area().iter().sum::<f64>().sqrt());
                let hangs = self.world.bodies().is_empty();
                let below = if hangs { size.fold(0.0, f64::max) } else { 0.0 };
                lowest.is_finite().then_some(lowest - below - 1e-3)
            }
        }
    }

    /// Where the vertices of object `index` of [`Live::info`] are [m].
    pub fn positions(&self, index: usize) -> Vec<[f32; 3]> {
        match self.at(index) {
            Some(At::Cloth(cloth)) => self.world.positions_f32(cloth),
            Some(At::Body(body)) => {
                body.collider.positions().iter().map(|p| p.as_vec3().to_array()).collect()
            }
            None => Vec::new(),
        }
    }

    /// Faces of object `index`.
    pub fn faces(&self, index: usize) -> Vec<[u32; 3]> {
        match self.at(index) {
            Some(At::Cloth(cloth)) => self.world.cloths()[cloth].mesh.faces().to_vec(),
            Some(At::Body(body)) => body.collider.facets().faces.clone(),
            None => Vec::new(),
        }
    }

    /// What refinement did to each face of object `index`: 0 nothing, 1 split, 2 split and put back; or nothing.
    pub fn marks(&self, index: usize) -> Vec<u8> {
        match self.at(index) {
            Some(At::Cloth(cloth)) => self.world.levels(cloth).map_or(Vec::new(), marks_of),
            _ => Vec::new(),
        }
    }

    /// Texture coordinates of object `index` [m], or nothing.
    pub fn uv(&self, index: usize) -> Vec<[f32; 2]> {
        self.stage.looks.get(index).map_or(Vec::new(), |looks| looks.uv.to_vec())
    }

    /// The nearest points of pairs that push [m].
    pub fn contacts(&self) -> Vec<[DVec3; 2]> {
        self.world.contact_places()
    }

    /// What acts on a vertex.
    pub fn explain(&self, object: u32, vertex: u32) -> Result<Explanation, String> {
        explain::explain(self, object, vertex)
    }

    /// What panels show.
    pub fn panels(&self) -> Panels {
        panels::show(&self.stage)
    }

    /// Number of the cloth that has this id, and its name.
    fn cloth(&self, object: u32) -> Result<(usize, String), String> {
        self.stage.cloth(object)
    }
}

/// An object of the room.
enum At<'a> {
    Cloth(usize),
    Body(&'a Obstacle),
}

/// Bodies of a scene that cloth does not meet.
fn unmet(built: &Built) -> Vec<Obstacle> {
    let met = |body: &&Obstacle| built.world.bodies().iter().any(|other| other.name == body.name);
    built.bodies.iter().filter(|body| !met(body)).cloned().collect()
}

/// A vector of finite numbers of a size that means something.
fn place(vector: [f64; 3]) -> Result<DVec3, String> {
    let vector = DVec3::from(vector);
    if vector.is_finite() && vector.abs().max_element() <= 1e4 {
        Ok(vector)
    } else {
        Err(format!("{vector} is too far away: give numbers within ±10000"))
    }
}

/// Vertices of a cloth, ascending, each once.
fn known(vertices: &[u32], limit: usize, name: &str) -> Result<Vec<u32>, String> {
    if let Some(vertex) = vertices.iter().find(|v| **v as usize >= limit) {
        return Err(format!("`{name}` has no vertex {vertex}: it has {limit}, counted from 0"));
    }
    let mut all = vertices.to_vec();
    all.sort_unstable();
    all.dedup();
    if all.is_empty() { Err(format!("no vertex of `{name}` is named: choose at least one")) } else { Ok(all) }
}

fn counted(vertices: usize) -> String {
    if vertices == 1 { "a vertex".into() } else { format!("{vertices} vertices") }
}
