//! What a room is made of, as far as it lasts: all that undo can take back.

use super::hands::Hand;
use std::collections::BTreeMap;
use std::sync::Arc;
use toile::math::DVec3;
use toile::solve::SolverSettings;
use toile::{Cloth, ContactSettings, Friction, Obstacle, PinDown, Seam, Setup, WindField};
use toile_io::build::Built;
use toile_io::scene::Scene;

/// Half the density of air times a drag coefficient of about one [kg/m³]: what wind does to cloth whose scene has none.
const CATCHES: f64 = 0.6;

/// What a room is made of. Ids stay what they are while numbers change.
#[derive(Clone, Debug)]
pub struct Stage {
    pub cloths: Vec<Cloth>,
    pub cloth_ids: Vec<u32>,
    /// What each cloth looks like and is called.
    pub looks: Vec<Looks>,
    pub bodies: Vec<Obstacle>,
    pub body_ids: Vec<u32>,
    pub guest_bodies: Vec<u32>,
    pub pins: Vec<PinDown>,
    pub pin_ids: Vec<u32>,
    /// Elastics of the scene.
    pub elastics: Vec<toile::ElasticBetween>,
    /// Contact, but for pairs.
    pub contact: ContactSettings,
    /// Friction between objects by id, the strongest word first.
    pub frictions: Vec<([u32; 2], Friction)>,
    pub gravity: DVec3,
    pub wind: WindField,
    pub solver: SolverSettings,
    pub substeps: u32,
}

/// What is known of a cloth besides its mechanics.
#[derive(Clone, Debug, Default)]
pub struct Looks {
    /// Whether it may be removed.
    pub guest: bool,
    /// Counts changes of its mesh.
    pub mesh: u32,
    /// Its fabric by name, if it is a preset's.
    pub preset: Option<String>,
    /// Texture coordinates by vertex [m], or nothing.
    pub uv: Arc<Vec<[f32; 2]>>,
    /// Named vertices.
    pub groups: Arc<Vec<(String, Vec<u32>)>>,
    /// Front and back.
    pub colours: [String; 2],
}

impl Stage {
    /// That of a scene.
    pub fn of(scene: &Scene, built: &Built) -> Stage {
        let Setup { cloths, bodies, contact, pins, elastics, gravity, wind, solver, substeps, .. } =
            built.world.setup();
        let colour = |[r, g, b]: [u8; 3]| format!("#{r:02x}{g:02x}{b:02x}");
        let colours = [colour(scene.render.front), colour(scene.render.back)];
        let looks = cloths.iter().zip(&built.exports).map(|(cloth, export)| Looks {
            guest: false,
            mesh: 0,
            preset: None,
            uv: Arc::new(export.by_vertex(cloth.positions.len())),
            groups: Arc::new(export.groups.clone()),
            colours: colours.clone(),
        });
        let first = cloths.len() as u32;
        let frictions =
            contact.pairs.iter().map(|(pair, friction)| (pair.map(|k| k as u32), *friction)).collect();
        Stage {
            looks: looks.collect(),
            cloth_ids: (0..first).collect(),
            body_ids: (first..first + bodies.len() as u32).collect(),
            guest_bodies: Vec::new(),
            pin_ids: (0..pins.len() as u32).collect(),
            contact: ContactSettings { pairs: Vec::new(), ..contact },
            frictions,
            cloths,
            bodies,
            pins,
            elastics,
            gravity,
            wind,
            solver,
            substeps,
        }
    }

    /// Number and name of the cloth that has this id.
    pub fn cloth(&self, id: u32) -> Result<(usize, String), String> {
        match self.cloth_ids.iter().position(|known| *known == id) {
            Some(cloth) => Ok((cloth, self.cloths[cloth].name.clone())),
            None if self.body_ids.contains(&id) => Err(format!("object {id} is a body: choose cloth")),
            None => Err(format!("there is no object {id}: it may have been removed")),
        }
    }

    /// Vertices of a cloth that pins hold, ascending.
    pub fn held(&self, cloth: usize) -> Vec<u32> {
        let own = self.pins.iter().filter(|pin| pin.cloth == cloth);
        let mut all: Vec<u32> = own.flat_map(|pin| pin.vertices.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub fn add_pin(&mut self, pin: PinDown, next_id: &mut u32) {
        self.pins.push(pin);
        self.pin_ids.push(*next_id);
        *next_id += 1;
    }

    /// Puts a cloth after the others.
    pub fn add_cloth(&mut self, cloth: Cloth, looks: Looks, next_id: &mut u32) {
        self.cloths.push(cloth);
        self.looks.push(looks);
        self.cloth_ids.push(*next_id);
        *next_id += 1;
    }

    /// Takes a cloth out, with what holds it and draws at it.
    pub fn remove_cloth(&mut self, cloth: usize) {
        self.cloths.remove(cloth);
        self.looks.remove(cloth);
        self.cloth_ids.remove(cloth);
        let stays = |pin: &PinDown| pin.cloth != cloth;
        let ids = self.pins.iter().zip(&self.pin_ids).filter(|(pin, _)| stays(pin)).map(|(_, id)| *id);
        self.pin_ids = ids.collect();
        self.pins.retain(stays);
        for pin in self.pins.iter_mut().filter(|pin| pin.cloth > cloth) {
            pin.cloth -= 1;
        }
    }

    /// Lets cloth feel the wind that felt none; whether there was any. Scenes without wind leave it out to save time.
    pub fn catch_wind(&mut self) -> bool {
        let mut any = false;
        for cloth in self.cloths.iter_mut().filter(|c| c.air.normal == 0.0 && c.air.quadratic == 0.0) {
            cloth.air.quadratic = CATCHES;
            any = true;
        }
        any
    }

    /// What the engine is given, hands and seams included.
    pub fn setup(&self, hands: &BTreeMap<u32, Hand>, seams: Vec<Seam>) -> Setup {
        let object = |id: u32| {
            let cloth = self.cloth_ids.iter().position(|known| *known == id);
            cloth.or_else(|| Some(self.cloths.len() + self.body_ids.iter().position(|known| *known == id)?))
        };
        let pairs = self
            .frictions
            .iter()
            .filter_map(|([a, b], friction)| Some(([object(*a)?, object(*b)?], *friction)));
        let held = hands.values().flat_map(|hand| hand.elastics(&self.cloth_ids));
        Setup {
            cloths: self.cloths.clone(),
            bodies: self.bodies.clone(),
            contact: ContactSettings { pairs: pairs.collect(), ..self.contact.clone() },
            pins: self.pins.clone(),
            elastics: self.elastics.iter().cloned().chain(held).collect(),
            seams,
            gravity: self.gravity,
            wind: self.wind,
            solver: self.solver,
            substeps: self.substeps,
        }
    }
}
