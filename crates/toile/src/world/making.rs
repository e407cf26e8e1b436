//! What of a world's making changes while it moves: the meshes of its cloths, and all that goes by their vertices.

use super::World;
use crate::error::{SetupError, SetupProblem};
use crate::math::DVec3;
use crate::mesh::{Levels, Mesh};
use crate::setup::{Cloth, ElasticBetween, Refine, RestShape, Setup};
use std::sync::Arc;

/// A cloth that was cut, sewn or refined: its mesh, and all that goes by vertices, faces and edges. Plain data, as in [`Cloth`].
#[derive(Clone, Debug, PartialEq)]
pub struct Tailored {
    /// Faces and their shape at rest.
    pub mesh: Arc<Mesh>,
    /// Where its vertices would have started [m].
    pub positions: Vec<DVec3>,
    /// Mass per area of each face, over that of the fabric; empty where it is that of the fabric.
    pub density: Arc<[f64]>,
    /// Where it does not bend.
    pub rest_shape: RestShape,
    /// Doubles of vertices.
    pub doubles: Arc<[[u32; 2]]>,
    /// Vertices half way between two others.
    pub hanging: Arc<[[u32; 3]]>,
    /// Its levels of detail, if it is refined; [`Levels::forest`] and [`Levels::of`] turn them into numbers and back.
    pub levels: Option<Arc<Levels>>,
}

impl Tailored {
    fn of(cloth: &Cloth, levels: Option<Arc<Levels>>) -> Tailored {
        Tailored {
            mesh: cloth.mesh.clone(),
            positions: cloth.positions.clone(),
            density: cloth.density.clone(),
            rest_shape: cloth.rest_shape.clone(),
            doubles: cloth.doubles.clone(),
            hanging: cloth.hanging.clone(),
            levels,
        }
    }
}

/// What of a world's making changes while it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Making {
    /// Each cloth.
    pub cloths: Vec<Arc<Tailored>>,
    /// Vertices that each pin holds.
    pub pins: Vec<Vec<u32>>,
    /// Elastics whose vertices there are.
    pub elastics: Vec<ElasticBetween>,
}

impl Making {
    /// That of a setup, without levels of detail.
    pub(super) fn of(setup: &Setup) -> Making {
        Making {
            cloths: setup.cloths.iter().map(|cloth| Arc::new(Tailored::of(cloth, None))).collect(),
            pins: setup.pins.iter().map(|pin| pin.vertices.clone()).collect(),
            elastics: setup.elastics.clone(),
        }
    }

    /// Makes a setup one with these meshes; refuses another number of cloths or pins.
    pub(super) fn apply(&self, setup: &mut Setup) -> Result<(), SetupError> {
        let counts = [
            ("number of cloths in the snapshot", self.cloths.len(), setup.cloths.len()),
            ("number of pins in the snapshot", self.pins.len(), setup.pins.len()),
        ];
        if let Some((what, given, _)) = counts.into_iter().find(|(_, given, wanted)| given != wanted) {
            let (value, limit) = (given as f64, "that of the same scene");
            return Err(SetupError { problems: vec![SetupProblem::OutOfRange { what, value, limit }] });
        }
        for (cloth, own) in setup.cloths.iter_mut().zip(&self.cloths) {
            cloth.mesh = own.mesh.clone();
            cloth.positions.clone_from(&own.positions);
            cloth.density = own.density.clone();
            cloth.rest_shape = own.rest_shape.clone();
            cloth.doubles = own.doubles.clone();
            cloth.hanging = own.hanging.clone();
        }
        for (pin, vertices) in setup.pins.iter_mut().zip(&self.pins) {
            pin.vertices.clone_from(vertices);
        }
        setup.elastics.clone_from(&self.elastics);
        Ok(())
    }
}

impl World {
    /// Levels of detail of a cloth, with what happened to each face and how often (B14-14, B14-16); nothing for a cloth that
    /// keeps its mesh.
    pub fn levels(&self, cloth: usize) -> Option<&Levels> {
        self.making.cloths.get(cloth)?.levels.as_deref()
    }

    /// Takes levels of detail for a cloth.
    pub(super) fn set_levels(&mut self, cloth: usize, levels: Option<Arc<Levels>>) {
        let mut making = (*self.making).clone();
        making.cloths[cloth] = Arc::new(Tailored::of(&self.cloths[cloth], levels));
        self.making = Arc::new(making);
    }

    /// Gives levels of detail to every cloth that wants them and has none.
    pub(super) fn make_levels(&mut self) -> Result<(), SetupError> {
        for cloth in 0..self.cloths.len() {
            let Some(refine) = self.cloths[cloth].refine else { continue };
            if self.levels(cloth).is_none() {
                let levels = fresh(&self.cloths[cloth], &refine)?;
                self.set_levels(cloth, Some(levels));
            }
        }
        Ok(())
    }
}

/// Levels over a cloth as it is, nothing split.
pub(super) fn fresh(cloth: &Cloth, refine: &Refine) -> Result<Arc<Levels>, SetupError> {
    let levels = Levels::new((*cloth.mesh).clone(), refine.most, refine.closure);
    levels.map(Arc::new).map_err(|error| {
        let (cloth, what, fix) = (cloth.name.clone(), error.to_string(), "use another mesh or fewer levels");
        SetupError { problems: vec![SetupProblem::Refinement { cloth, what, fix }] }
    })
}
