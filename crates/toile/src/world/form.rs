//! What a world is made of where that is no longer what it was built from: meshes that were changed while they moved, and
//! what names their vertices. Part of a snapshot, so that a world built from the same scene goes on alike.

use super::World;
use crate::error::{SetupError, SetupProblem};
use crate::math::DVec3;
use crate::mesh::{Mesh, NONE};
use crate::setup::{Cloth, RestShape, Seam};
use std::sync::Arc;

/// What a cloth is made of, as far as changes of its mesh change it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClothForm {
    /// Number of the cloth.
    pub cloth: usize,
    /// Faces and their shape at rest.
    pub mesh: Arc<Mesh>,
    /// Where its vertices would have started [m].
    pub positions: Vec<DVec3>,
    /// Mass per area of each face over that of the fabric; empty where it is the fabric's everywhere.
    pub density: Arc<[f64]>,
    /// Angles at rest across its edges [rad], where the cloth has its own.
    pub angles: Option<Vec<f64>>,
    /// Vertices without faces, each with the one it doubles.
    pub doubles: Arc<[[u32; 2]]>,
}

/// What names vertices of cloths, and those cloths whose vertices are not those that they were built with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Form {
    /// Cloths with other meshes, ascending.
    pub cloths: Vec<ClothForm>,
    /// Vertices that each pin holds.
    pub pins: Vec<Vec<u32>>,
    /// Vertices at both ends of each elastic; [`NONE`] where it draws to a place, the same twice where it draws nothing.
    pub elastics: Vec<[u32; 2]>,
    /// Seams that have not closed.
    pub seams: Vec<Seam>,
}

impl ClothForm {
    fn of(cloth: usize, own: &Cloth) -> ClothForm {
        let angles = match &own.rest_shape {
            RestShape::Angles(angles) => Some(angles.clone()),
            RestShape::Flat | RestShape::Start => None,
        };
        let (positions, density) = (own.positions.clone(), own.density.clone());
        ClothForm { cloth, mesh: own.mesh.clone(), positions, density, angles, doubles: own.doubles.clone() }
    }

    fn give(&self, cloth: &mut Cloth) {
        (cloth.mesh, cloth.positions) = (self.mesh.clone(), self.positions.clone());
        (cloth.density, cloth.doubles) = (self.density.clone(), self.doubles.clone());
        if let Some(angles) = &self.angles {
            cloth.rest_shape = RestShape::Angles(angles.clone());
        }
    }
}

impl World {
    /// What it was built from, as far as it will have changed once `cloth` has another mesh.
    pub(super) fn start_before(&self, cloth: Option<usize>) -> Arc<Form> {
        let mut start = self.start.clone().unwrap_or_else(|| Arc::new(self.form_of(&[])));
        if let Some(cloth) = cloth
            && let Err(at) = start.cloths.binary_search_by_key(&cloth, |own| own.cloth)
        {
            Arc::make_mut(&mut start).cloths.insert(at, ClothForm::of(cloth, &self.cloths[cloth]));
        }
        start
    }

    /// Remembers what it is made of now, after a change of what `start` holds.
    pub(super) fn formed_since(&mut self, start: Arc<Form>) {
        let changed: Vec<usize> = start.cloths.iter().map(|own| own.cloth).collect();
        self.form = Some(Arc::new(self.form_of(&changed)));
        self.start = Some(start);
    }

    fn form_of(&self, cloths: &[usize]) -> Form {
        Form {
            cloths: cloths.iter().map(|c| ClothForm::of(*c, &self.cloths[*c])).collect(),
            pins: self.pins.iter().map(|pin| pin.vertices.clone()).collect(),
            elastics: self.elastics.iter().map(|e| [e.from.1, e.vertex().map_or(NONE, |(_, v)| v)]).collect(),
            seams: self.seams.clone(),
        }
    }

    /// The world with another form, nothing moved; `None` if it has that form already.
    pub(super) fn with_form(&self, form: Option<&Arc<Form>>) -> Result<Option<World>, SetupError> {
        let same = match (&self.form, form) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            _ => false,
        };
        if same {
            return Ok(None);
        }
        let mut start = self.start_before(None);
        let target = form.unwrap_or(&start).clone();
        for (what, value, limit) in [
            (
                "number of cloths in the snapshot",
                target.cloths.last().map_or(0, |c| c.cloth + 1),
                self.cloths.len(),
            ),
            ("number of pins in the snapshot", target.pins.len(), self.pins.len()),
            ("number of elastics in the snapshot", target.elastics.len(), self.elastics.len()),
        ] {
            if value > limit || !what.contains("cloths") && value != limit {
                let (value, limit) = (value as f64, "that of the same scene");
                return Err(SetupError { problems: vec![SetupProblem::OutOfRange { what, value, limit }] });
            }
        }
        for own in &target.cloths {
            if let Err(at) = start.cloths.binary_search_by_key(&own.cloth, |own| own.cloth) {
                let form = ClothForm::of(own.cloth, &self.cloths[own.cloth]);
                Arc::make_mut(&mut start).cloths.insert(at, form);
            }
        }
        let mut setup = self.setup();
        // First all as it was built, and then what is changed.
        for own in start.cloths.iter().chain(&target.cloths) {
            own.give(&mut setup.cloths[own.cloth]);
        }
        for (pin, vertices) in setup.pins.iter_mut().zip(&target.pins) {
            pin.vertices.clone_from(vertices);
        }
        for (elastic, [from, to]) in setup.elastics.iter_mut().zip(&target.elastics) {
            let first = (elastic.from.0, *from);
            let second = elastic.vertex().map_or(first.0, |(cloth, _)| cloth);
            elastic.join([Some(first), (*to != NONE).then_some((second, *to))]);
        }
        setup.seams.clone_from(&target.seams);
        let mut world = World::apart(setup)?;
        (world.start, world.form) = (Some(start), form.cloned());
        Ok(Some(world))
    }
}
