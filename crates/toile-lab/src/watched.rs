//! Worlds in which cloth meets something, with every frame judged by the exact checker.

use crate::session::LabError;
use glam::DVec3;
use std::sync::Arc;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Distance, Kind, VertexId};
use toile::collide::collider::{Body, Collider, Form};
use toile::drive::{Motion, Transform};
use toile::mesh::Mesh;
use toile::probe::Counters;
use toile::{Obstacle, Probe, World};
use toile_io::build::build;
use toile_io::scene::{Scene, resolve};

/// Gravity [m/s²].
pub const GRAVITY: f64 = 9.81;

/// A world and its judge.
pub struct Watched {
    /// The world.
    pub world: World,
    /// Length of a frame [s].
    pub dt: f64,
    /// Frames in which something intersected.
    pub bad_frames: u64,
    /// Intersecting pairs in the worst frame.
    pub worst: usize,
    /// What was counted in all.
    pub counters: Counters,
    checker: Checker,
    /// The meshes that it judges.
    meshes: Vec<Arc<Mesh>>,
}

/// Any error of reading or building as one of an experiment.
pub fn told<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<T, LabError> {
    result.map_err(|error| LabError(error.to_string()))
}

impl Watched {
    /// A built-in scene with some settings changed.
    pub fn scene(name: &str, set: &[&str]) -> Result<Watched, LabError> {
        let scene = told(Scene::open(&told(resolve(name))?, set))?;
        let built = told(build(&scene))?;
        Watched::of(built.world, scene.frame_time)
    }

    /// Any world, in frames of `dt` [s].
    pub fn of(world: World, dt: f64) -> Result<Watched, LabError> {
        let (checker, meshes) = judge(&world)?;
        let counters = Counters::default();
        Ok(Watched { world, dt, bad_frames: 0, worst: 0, counters, checker, meshes })
    }

    /// The same with a judge of the meshes that cloths have by now.
    pub fn renewed(self) -> Result<Watched, LabError> {
        let Watched { world, dt, bad_frames, worst, counters, .. } = self;
        Ok(Watched { bad_frames, worst, counters, ..Watched::of(world, dt)? })
    }

    /// A frame, judged; what was counted in it.
    pub fn step(&mut self) -> Result<Counters, LabError> {
        let mut probe = Probe::default();
        self.step_with(&mut probe)?;
        Ok(probe.counters)
    }

    /// A frame, judged, counted by `probe` too.
    pub fn step_with(&mut self, probe: &mut Probe) -> Result<(), LabError> {
        let mut own = probe.fresh();
        self.world.step(self.dt, &mut own)?;
        self.counters.merge(&own.counters);
        probe.counters.merge(&own.counters);
        let mut cloths = self.world.cloths().iter().zip(&self.meshes);
        if !cloths.all(|(cloth, mesh)| Arc::ptr_eq(&cloth.mesh, mesh)) {
            (self.checker, self.meshes) = judge(&self.world)?;
        }
        let found = self.intersections();
        self.bad_frames += u64::from(found > 0);
        self.worst = self.worst.max(found);
        Ok(())
    }

    /// Frames until `time` [s] has passed from now.
    pub fn run(&mut self, time: f64) -> Result<Counters, LabError> {
        let mut sum = Counters::default();
        for _ in 0..(time / self.dt).round() as usize {
            sum.merge(&self.step()?);
        }
        Ok(sum)
    }

    /// Pairs of faces that intersect now, but for bodies with cloth that they are let through.
    pub fn intersections(&mut self) -> usize {
        let all = self.places();
        let all: Vec<&[DVec3]> = all.iter().map(Vec::as_slice).collect();
        let mut verdict = self.checker.check(&all);
        let through = self.world.let_through();
        let pinched = |id: VertexId| through.binary_search(&[id.surface, id.vertex]).is_ok();
        self.checker.excuse(&mut verdict, pinched);
        // What is not finite or lost its faces is no better.
        verdict.intersections().max(usize::from(!verdict.pass()))
    }

    /// Positions of every cloth, then of every body [m].
    pub fn places(&self) -> Vec<Vec<DVec3>> {
        let cloths = (0..self.world.cloths().len()).map(|c| self.world.positions(c));
        cloths.chain(self.world.bodies().iter().map(|body| body.collider.positions().to_vec())).collect()
    }

    /// All positions, cloth after cloth [m].
    pub fn positions(&self) -> Vec<DVec3> {
        (0..self.world.cloths().len()).flat_map(|c| self.world.positions(c)).collect()
    }

    /// Root mean square speed [m/s].
    pub fn speed(&self) -> f64 {
        let all: Vec<DVec3> = (0..self.world.cloths().len()).flat_map(|c| self.world.velocities(c)).collect();
        (all.iter().map(|v| v.length_squared()).sum::<f64>() / all.len() as f64).sqrt()
    }

    /// Weight [N].
    pub fn weight(&self) -> f64 {
        GRAVITY * self.world.momentum().0
    }
}

/// A checker for a world as it is, and the meshes of its cloths.
fn judge(world: &World) -> Result<(Checker, Vec<Arc<Mesh>>), LabError> {
    let options = CheckOptions { distance: Distance::Off, ..CheckOptions::default() };
    let checker = told(Checker::new(surfaces(world), options))?;
    Ok((checker, world.cloths().iter().map(|cloth| cloth.mesh.clone()).collect()))
}

/// What a checker is shown of a world: its cloths, then its bodies.
pub fn surfaces(world: &World) -> Vec<CheckSurface> {
    let cloths = world.cloths().iter().map(|cloth| {
        let faces = cloth.mesh.faces().to_vec();
        CheckSurface::new(cloth.name.clone(), Kind::Cloth, cloth.mesh.vertices(), faces)
    });
    let bodies = world.bodies().iter().map(|body| {
        let facets = body.collider.facets();
        CheckSurface::new(body.name.clone(), Kind::Body, facets.positions.len(), facets.faces.clone())
    });
    cloths.chain(bodies).collect()
}

/// A body with a formula, turned and shifted.
pub fn body(name: &str, form: Form, stand: Transform, tolerance: f64) -> Result<Obstacle, LabError> {
    let collider = told(Collider::standing(Body::Form(form), stand, Motion::still(), tolerance))?;
    Ok(Obstacle { name: name.into(), collider })
}

/// Largest distance between places [m].
pub fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max)
}
