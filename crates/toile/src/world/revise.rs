//! A world made of something else while it moves: cloths, bodies, pins and elastics come and go, fabrics and settings
//! change, and what stays goes on from where it is.

use super::World;
use super::reshape::Reshaped;
use super::whole::Whole;
use crate::contact::Tangle;
use crate::error::SetupError;
use crate::grouping::{self, Loose};
use crate::setup::{Cloth, Refine, Setup};
use crate::step::{Island, Part};

/// What the parts of a new setup were in the world before, each list in ascending order of what it names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heritage {
    /// For each cloth, which one it was; it has the same vertices and faces. Nothing for one that starts.
    pub cloths: Vec<Option<usize>>,
    /// For each body.
    pub bodies: Vec<Option<usize>>,
    /// For each pin; what it holds may be more or less than before.
    pub pins: Vec<Option<usize>>,
}

impl Heritage {
    /// Everything is what it was, in as many cloths, bodies and pins as `setup` has.
    pub fn all(setup: &Setup) -> Heritage {
        let same = |len: usize| (0..len).map(Some).collect();
        Heritage {
            cloths: same(setup.cloths.len()),
            bodies: same(setup.bodies.len()),
            pins: same(setup.pins.len()),
        }
    }

    /// The new number of something that was `old`.
    fn heir(list: &[Option<usize>], old: usize) -> Option<usize> {
        list.iter().position(|before| *before == Some(old))
    }
}

impl World {
    /// What the world is built from, as it is now.
    pub fn setup(&self) -> Setup {
        Setup {
            cloths: self.cloths.clone(),
            bodies: self.bodies.clone(),
            contact: self.contact.clone(),
            pins: self.pins.clone(),
            elastics: self.elastics.clone(),
            seams: self.seams.clone(),
            gravity: self.gravity,
            wind: self.wind,
            solver: self.solver,
            substeps: self.substeps,
        }
    }

    /// Makes the world one of `setup`, in which everything goes on that `heritage` says was there before: motion, what pins
    /// hold, what touches, and what elements remember unless their fabric or model is another. Elastics start anew.
    /// An error changes nothing.
    pub fn revise(&mut self, setup: Setup, heritage: &Heritage) -> Result<(), SetupError> {
        let mut new = self.revised(setup, heritage, None)?;
        for (cloth, old) in heritage.cloths.iter().enumerate() {
            let Some(levels) = old.and_then(|old| self.levels[old].as_ref()) else { continue };
            let own = &new.cloths[cloth];
            let alike = |r: &Refine| (r.most, r.closure) == (levels.most(), levels.closure());
            if own.refine.as_ref().is_some_and(alike) && own.mesh.faces() == levels.mesh().faces() {
                new.levels[cloth] = Some(levels.clone());
            }
        }
        new.make_levels()?;
        new.releases = std::mem::take(&mut self.releases);
        *self = new;
        Ok(())
    }

    /// The world of `setup`, in which one cloth may have another mesh.
    pub(super) fn revised(
        &self,
        setup: Setup,
        heritage: &Heritage,
        change: Option<&Reshaped>,
    ) -> Result<World, SetupError> {
        // Who changes a mesh keeps the bodies.
        let mut new = World::bare(setup, change.map(|_| self.shapes.clone()))?;
        (new.time, new.frames) = (self.time, self.frames);
        for body in &mut new.bodies {
            // A body that cannot be placed is refused by the frame that finds it so.
            let _ = body.collider.place(new.time);
        }
        let pin = |old: usize| Heritage::heir(&heritage.pins, old);
        let is_changed = |cloth: usize| change.is_some_and(|change| change.cloth == cloth);
        let mut loose = Vec::new();
        if let Some(change) = change {
            loose = self.carried(change, &new, pin);
        }
        for part in self.islands.iter().flat_map(grouping::parted) {
            let piece = &self.pieces[part.number()];
            if is_changed(piece.cloth) {
                continue;
            }
            let Some(cloth) = Heritage::heir(&heritage.cloths, piece.cloth) else { continue };
            let own =
                |p: &&(usize, &crate::setup::Piece)| p.1.cloth == cloth && p.1.vertices == piece.vertices;
            let pieces: Vec<(usize, &crate::setup::Piece)> = new.pieces.iter().enumerate().collect();
            let Some((number, _)) = pieces.iter().find(own) else { continue };
            let remembers = same_elements(&self.cloths[piece.cloth], &new.cloths[cloth]);
            loose.push(part.renumbered(*number, pin, remembers));
        }
        for (number, piece) in new.pieces.iter().enumerate() {
            if !loose.iter().any(|part| part.number() == number) {
                let cloth = &new.cloths[piece.cloth];
                let x = piece.vertices.iter().map(|v| cloth.positions[*v as usize]).collect();
                loose.push(Loose::starting(number, x, cloth.velocity));
            }
        }
        let (before, after) = (self.cloths.len(), new.cloths.len());
        let object = |old: u32| {
            let old = old as usize;
            let heir = match old.checked_sub(before) {
                None => Heritage::heir(&heritage.cloths, old),
                Some(body) => Heritage::heir(&heritage.bodies, body).map(|body| after + body),
            };
            heir.map(|new| new as u32)
        };
        let meetings = self.islands.iter().filter_map(|island| island.meeting.as_ref());
        let mut touches: Vec<_> =
            meetings.flat_map(|m| m.touches.iter().filter_map(|touch| touch.renumbered(object))).collect();
        if let Some(change) = change {
            touches = touches.into_iter().filter_map(|touch| change.touch(touch)).collect();
        }
        touches.sort_by_key(|touch| touch.features);
        let mut let_through: Vec<[u32; 2]> =
            self.let_through().iter().filter_map(|[cloth, v]| Some([object(*cloth)?, *v])).collect();
        if let Some(change) = change {
            let_through = let_through.into_iter().flat_map(|name| change.heirs_of(name)).collect();
        }
        for group in new.first_groups() {
            let mut island = new.joined(&group, &loose, &touches, &let_through);
            let cloths = &new.cloths;
            let same = |(old, new): (&Part, &Part)| {
                Heritage::heir(&heritage.cloths, old.cloth) == Some(new.cloth)
                    && !is_changed(old.cloth)
                    && old.vertices == new.vertices
                    && same_elements(&self.cloths[old.cloth], &cloths[new.cloth])
            };
            let same = |old: &&Island| {
                old.parts.len() == island.parts.len() && old.parts.iter().zip(&island.parts).all(same)
            };
            if let Some(old) = self.islands.iter().find(same) {
                island.foresee_as(old);
            }
            if let (Some(change), [part]) = (change, &island.parts[..])
                && part.cloth == change.cloth
            {
                let alone = |old: &&Island| old.parts.len() == 1 && old.parts[0].cloth == change.cloth;
                let mut before = self.islands.iter().filter(alone);
                if let (Some(old), None) = (before.next(), before.next()) {
                    island.foresee_through(old, &change.remap.faces);
                }
            }
            new.islands.push(island);
        }
        let renamed = |tangle: &Tangle| tangle.renumbered(object);
        new.tangles = self.tangles.iter().filter_map(renamed).collect();
        if change.is_none_or(|change| change.moves) {
            new.find_tangles();
        }
        Ok(new)
    }

    /// The parts of a cloth with another mesh, in motion as it was.
    fn carried(&self, change: &Reshaped, new: &World, pin: impl Fn(usize) -> Option<usize>) -> Vec<Loose> {
        let mut whole = Whole::new(self.cloths[change.cloth].positions.clone());
        for island in &self.islands {
            for (part, loose) in island.parts.iter().zip(grouping::parted(island)) {
                if part.cloth == change.cloth {
                    let mass = &island.model.mass[part.first..part.first + part.vertices.len()];
                    whole.add(&loose, &part.vertices, mass);
                }
            }
        }
        let mut whole = whole.carried(change.remap);
        whole.moved(&change.opened, change.velocities);
        whole.renumber(pin);
        let own = new.pieces.iter().enumerate().filter(|(_, piece)| piece.cloth == change.cloth);
        own.map(|(number, piece)| whole.part(number, &piece.vertices)).collect()
    }
}

/// Whether what the elements of a cloth remember means the same in another.
fn same_elements(old: &Cloth, new: &Cloth) -> bool {
    old.fabric == new.fabric && old.stretching == new.stretching && old.bending == new.bending
}
