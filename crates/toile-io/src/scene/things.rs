//! `[[thing]]`: every copy in metres, Y up, where it starts.

use super::schema::{Bending, Coupled, Model, RestShape, Spring, Strain, ThingFile, ThingShape};
use super::si::{Builder, Cloth, ClothSource, Solid, default_name};
use glam::{DAffine3, DVec3};

/// How many things a table stands for.
pub(crate) fn count_of(thing: &ThingFile) -> u32 {
    thing.copies.as_ref().map_or(1, |copies| copies.count)
}

impl Builder<'_> {
    /// All copies of a thing, each like a cloth of its own.
    pub(crate) fn things(&self, index: usize, thing: &ThingFile) -> Vec<Cloth> {
        let length = |l: f64| self.axes.length_in(l);
        let shape = match thing.shape {
            // Sides along the file's axes; a box has no other direction.
            ThingShape::Box { size } => {
                let size = self.axes.direction_in(DVec3::from(size)).abs() * length(1.0);
                ThingShape::Box { size: size.to_array() }
            }
            ThingShape::Ball { radius, subdivisions } => {
                ThingShape::Ball { radius: length(radius), subdivisions }
            }
        };
        let ThingFile { mass, hold, stiffness, damping, .. } = *thing;
        let name = default_name(&thing.name, "thing", index);
        let place = self.axes.placement_in(
            DVec3::from(thing.translate),
            DVec3::from(thing.rotate),
            DVec3::splat(thing.scale),
        );
        let one = |name: String, placement: DAffine3| Cloth {
            name,
            source: ClothSource::Thing(shape.clone(), Solid { mass, hold, stiffness, damping }),
            layer: None,
            placement,
            scale: thing.scale,
            velocity: self.axes.direction_in(DVec3::from(thing.velocity)),
            fabric: toile::Fabric::default(),
            fabric_file: None,
            model: Model::default(),
            strain: Strain::default(),
            bending: Bending::default(),
            bend_rest: RestShape::Start,
            spring: Spring::default(),
            coupled: Coupled::default(),
            repair: true,
            refine: None,
        };
        let Some(copies) = &thing.copies else { return vec![one(name, place)] };
        let seed = self.file.seed.wrapping_add(index as u64);
        let row = copies.row.map(u64::from);
        let each = (0..u64::from(copies.count)).map(|k| {
            let die = |n: u64| toile::math::random::signed(seed, 8 * k + n);
            let cell = [k % row[0], k / row[0] % row[1], k / (row[0] * row[1])].map(|c| c as f64);
            let level = |a: usize| (cell[a] - 0.5 * (row[a] as f64 - 1.0)) * copies.pitch[a];
            let side = [level(0) + copies.jitter * die(0), level(1) + copies.jitter * die(1)].map(length);
            let shift = DVec3::new(side[0], length(cell[2] * copies.pitch[2]), side[1]);
            let turn = copies.turn.to_radians();
            let turn =
                DAffine3::from_rotation_y(turn * die(2)) * DAffine3::from_rotation_x(turn / 3.0 * die(3));
            let placed = DAffine3 { translation: place.translation + shift, ..place * turn };
            one(format!("{name} {}", k + 1), placed)
        });
        each.collect()
    }
}
