//! Hands: what takes hold of cloth, draws it along and lets it go. Each is a few elastics (V97-14), so that cloth follows
//! smoothly, stops at what is in its way, and never passes through.

use super::Live;
use std::collections::VecDeque;
use toile::drive::Motion;
use toile::math::DVec3;
use toile::mesh::Mesh;
use toile::{Anchor, Edit as Change, ElasticBetween};

/// Time constant of a hand [s]: cloth is within a hundredth of its way after a fifth of a second.
const TAU: f64 = 0.03;
/// Length of cloth around the vertex that is held with it [m]: a finger's width, so that no spike is drawn out.
const GRIP: f64 = 0.015;
/// Most vertices that one hand holds.
const MOST_HELD: usize = 64;
/// Most hands in a room.
const MOST_HANDS: usize = 64;
/// How far ahead of the cloth a hand pulls at most [m]: it does not tear.
const REACH: f64 = 0.1;
/// Part of the cloth's mass that a hand moves as firmly as a vertex moves itself: all its weight then lengthens
/// the way between hand and cloth by about 2.5 mm.
const STRENGTH: f64 = 1.0 / 30.0;

/// A hand that holds.
#[derive(Clone, Debug)]
pub struct Hand {
    /// Id of the cloth.
    pub object: u32,
    /// Its vertices, that which was taken first, and where each is seen from that one [m].
    held: Vec<(u32, DVec3)>,
    /// Where the hand is [m].
    to: DVec3,
    /// Where it pulls to now [m].
    lead: DVec3,
    /// What each elastic carries [kg].
    carries: f64,
}

impl Hand {
    /// Its elastics, cloths having these ids.
    pub fn elastics(&self, cloths: &[u32]) -> Vec<ElasticBetween> {
        let Some(cloth) = cloths.iter().position(|id| *id == self.object) else { return Vec::new() };
        let elastic = |(vertex, offset): &(u32, DVec3)| ElasticBetween {
            from: (cloth, *vertex),
            to: Anchor::Place(self.lead + *offset, Motion::still()),
            time: TAU,
            active: f64::NEG_INFINITY..f64::INFINITY,
            carries: Some(self.carries),
        };
        self.held.iter().map(elastic).collect()
    }

    /// Whether it holds a vertex of an object.
    pub fn holds(&self, object: u32, vertex: u32) -> bool {
        self.object == object && self.held.iter().any(|(held, _)| *held == vertex)
    }
}

impl Live {
    pub(super) fn grab(&mut self, hand: u32, object: u32, vertex: u32, to: DVec3) -> Result<(), String> {
        let (cloth, name) = self.cloth(object)?;
        let vertices = self.stage.cloths[cloth].mesh.vertices();
        if vertex as usize >= vertices {
            return Err(format!("`{name}` has no vertex {vertex}: it has {vertices}, counted from 0"));
        }
        if !self.hands.contains_key(&hand) && self.hands.len() >= MOST_HANDS {
            return Err(format!("{MOST_HANDS} hands hold cloth already: let one go"));
        }
        let taken = self.taken(cloth, vertex, to);
        let mut hands = self.hands.clone();
        hands.insert(hand, taken);
        self.hold(hands)
    }

    /// A hand that takes a vertex of a cloth.
    fn taken(&self, cloth: usize, vertex: u32, to: DVec3) -> Hand {
        let (x, owner) = (self.world().positions(cloth), &self.stage.cloths[cloth]);
        let around = around(&owner.mesh, vertex);
        let at = x[vertex as usize];
        let held: Vec<(u32, DVec3)> = around.iter().map(|v| (*v, x[*v as usize] - at)).collect();
        let mass = owner.fabric.density * owner.mesh.area().iter().sum::<f64>();
        let carries = STRENGTH * mass / held.len() as f64;
        Hand { object: self.stage.cloth_ids[cloth], held, to, lead: at, carries }
    }

    /// Hands that hold an object: number, vertex and where each is [m].
    pub(super) fn holding(&self, object: u32) -> Vec<(u32, u32, DVec3)> {
        let own = self.hands.iter().filter(|(_, hand)| hand.object == object);
        own.filter_map(|(number, hand)| Some((*number, hand.held.first()?.0, hand.to))).collect()
    }

    /// Lets these hands, and no others, hold an object whose mesh has changed.
    pub(super) fn take_again(&mut self, object: u32, held: Vec<(u32, u32, DVec3)>) -> Result<(), String> {
        let (cloth, _) = self.cloth(object)?;
        let mut hands = self.hands.clone();
        hands.retain(|_, hand| hand.object != object);
        if hands.len() == self.hands.len() && held.is_empty() {
            return Ok(());
        }
        hands.extend(held.into_iter().map(|(hand, vertex, to)| (hand, self.taken(cloth, vertex, to))));
        self.hold(hands)
    }

    pub(super) fn drag(&mut self, hand: u32, to: DVec3) -> Result<(), String> {
        let held = self.hands.get_mut(&hand);
        held.map(|hand| hand.to = to).ok_or_else(|| "this hand holds nothing: grab first".to_string())
    }

    pub(super) fn release(&mut self, hand: u32) -> Result<(), String> {
        let mut hands = self.hands.clone();
        if hands.remove(&hand).is_none() {
            return Err("this hand holds nothing".into());
        }
        self.hold(hands)
    }

    /// Builds the world with these hands.
    fn hold(&mut self, hands: std::collections::BTreeMap<u32, Hand>) -> Result<(), String> {
        let before = std::mem::replace(&mut self.hands, hands);
        let stage = self.stage.clone();
        let settled = self.settle(stage, None);
        if settled.is_err() {
            self.hands = before;
        }
        settled.map(|_| ())
    }

    /// Moves what hands pull to towards the hands for the coming frame.
    pub(super) fn lead_hands(&mut self) -> Result<(), String> {
        let mut number = self.stage.elastics.len();
        let time = self.scene.frame_time;
        for hand in self.hands.values_mut() {
            let Some(cloth) = self.stage.cloth_ids.iter().position(|id| *id == hand.object) else { continue };
            let Some((first, _)) = hand.held.first() else { continue };
            let at = self.world.positions(cloth)[*first as usize];
            hand.lead = at + (hand.to - at).clamp_length_max(REACH);
            for (_, offset) in &hand.held {
                let change = Change::Lead { elastic: number, to: hand.lead + *offset, time };
                self.world.edit(&change).map_err(|error| error.to_string())?;
                number += 1;
            }
        }
        Ok(())
    }
}

/// A vertex and those around it within a finger's width along the cloth at rest, at least its neighbours.
fn around(mesh: &Mesh, vertex: u32) -> Vec<u32> {
    let mut found: Vec<(u32, f64)> = vec![(vertex, 0.0)];
    let mut queue = VecDeque::from([(vertex, 0.0)]);
    while let Some((from, way)) = queue.pop_front() {
        for edge in mesh.edges().iter().filter(|edge| edge.ends.contains(&from)) {
            let to = if edge.ends[0] == from { edge.ends[1] } else { edge.ends[0] };
            let there = way + mesh.rest_length(edge);
            let near = there <= GRIP || from == vertex;
            if near && found.len() < MOST_HELD && !found.iter().any(|(known, _)| *known == to) {
                found.push((to, there));
                queue.push_back((to, there));
            }
        }
    }
    found.into_iter().map(|(v, _)| v).collect()
}
