//! A scene that people change while it moves. No clock and no thread: the same edits before the same ticks give the same
//! cloth, bit for bit.

use crate::protocol::{
    ContactPanel, Edit, Explanation, ObjectInfo, Panels, Role, SceneInfo, SolverPanel, WindSettings,
};
use glam::DVec3;
use toile::{Probe, World};
use toile_io::build::{Built, build};
use toile_io::scene::Scene;

/// A scene in motion.
pub struct Live {
    scene: Scene,
    built: Built,
    tick: u64,
    revision: u32,
}

impl Live {
    /// A scene at its start.
    pub fn new(scene: Scene) -> Result<Live, String> {
        let built = build(&scene).map_err(|error| error.to_string())?;
        Ok(Live { scene, built, tick: 0, revision: 1 })
    }

    /// The scene it began as.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Frames stepped, resets included.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// The cloth.
    pub fn world(&self) -> &World {
        &self.built.world
    }

    /// Counts changes of objects.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// Advances by a frame. On an error nothing has changed.
    pub fn step(&mut self, probe: &mut Probe) -> Result<(), String> {
        self.built.world.step(self.scene.frame_time, probe).map_err(|error| error.to_string())?;
        self.tick += 1;
        Ok(())
    }

    /// Makes a change, or says why not; then nothing has changed.
    pub fn apply(&mut self, edit: &Edit) -> Result<(), String> {
        match edit {
            Edit::Reset => {
                self.built = build(&self.scene).map_err(|error| error.to_string())?;
                self.revision += 1;
                Ok(())
            }
            other => Err(format!("{other:?} is not known yet")),
        }
    }

    /// What undo would take back and what redo would make again, in words.
    pub fn undoable(&self) -> [Option<String>; 2] {
        [None, None]
    }

    /// Keeps a mesh that a page sent, under the id that edits name it by.
    pub fn keep_mesh(&mut self, _id: &str, _obj: &str) -> Result<(), String> {
        Err("meshes are not taken yet".into())
    }

    /// What is in it.
    pub fn info(&self) -> SceneInfo {
        let world = self.world();
        let objects = world.cloths().iter().enumerate().map(|(k, cloth)| ObjectInfo {
            id: k as u32,
            name: cloth.name.clone(),
            role: Role::Cloth,
            guest: false,
            moves: true,
            vertices: cloth.positions.len() as u32,
            faces: cloth.mesh.faces().len() as u32,
            groups: Vec::new(),
            colours: ["#3d6b5c".into(), "#d9c9a3".into()],
        });
        let first = world.cloths().len();
        let bodies = world.bodies().iter().enumerate().map(|(k, body)| ObjectInfo {
            id: (first + k) as u32,
            name: body.name.clone(),
            role: Role::Body,
            guest: false,
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
            ground: None,
            objects: objects.chain(bodies).collect(),
        }
    }

    /// Where the vertices of object `index` of [`Live::info`] are [m].
    pub fn positions(&self, index: usize) -> Vec<[f32; 3]> {
        let world = self.world();
        match index.checked_sub(world.cloths().len()) {
            None => world.positions_f32(index),
            Some(body) => {
                world.bodies()[body].collider.positions().iter().map(|p| p.as_vec3().to_array()).collect()
            }
        }
    }

    /// Faces of object `index`.
    pub fn faces(&self, index: usize) -> Vec<[u32; 3]> {
        let world = self.world();
        match index.checked_sub(world.cloths().len()) {
            None => world.cloths()[index].mesh.faces().to_vec(),
            Some(body) => world.bodies()[body].collider.facets().faces.clone(),
        }
    }

    /// Texture coordinates of object `index` [m], or nothing.
    pub fn uv(&self, _index: usize) -> Vec<[f32; 2]> {
        Vec::new()
    }

    /// The nearest points of pairs that touch [m].
    pub fn contacts(&self) -> Vec<[DVec3; 2]> {
        Vec::new()
    }

    /// What acts on a vertex.
    pub fn explain(&self, _object: u32, _vertex: u32) -> Result<Explanation, String> {
        Err("not known yet".into())
    }

    /// What panels show.
    pub fn panels(&self) -> Panels {
        Panels {
            wind: WindSettings { velocity: [0.0; 3], gust: 0.0, frequency: 0.0 },
            gravity: self.scene.gravity.to_array(),
            contact: ContactPanel {
                gap: 1e-3,
                friction_cloth: 0.3,
                friction_body: 0.3,
                cloth: true,
                bodies: true,
                guarantee: true,
            },
            solver: SolverPanel { integrator: "bdf2".into(), substeps: self.scene.substeps() },
            fabrics: Vec::new(),
            pinned: Vec::new(),
        }
    }
}
