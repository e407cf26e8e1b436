//! `[[thing]]`.

use super::Check;
use crate::scene::schema::{Copies, HoldTogether, ThingFile, ThingShape};

/// Most copies of one thing.
const MOST: u32 = 4096;

/// Refinements of a ball: 5120 triangles.
const FINEST: u32 = 4;

impl Check<'_> {
    pub(super) fn thing(&mut self, path: &str, thing: &ThingFile) {
        let at = |field: &str| format!("{path}.{field}");
        match &thing.shape {
            ThingShape::Box { size } => {
                for (k, side) in size.iter().enumerate() {
                    self.above_zero(
                        &at(&format!("shape.size.{k}")),
                        *side,
                        "",
                        "lengths are in the scene's units",
                    );
                }
            }
            ThingShape::Ball { radius, subdivisions } => {
                self.above_zero(&at("shape.radius"), *radius, "", "lengths are in the scene's units");
                if *subdivisions > FINEST {
                    let what = format!("is {subdivisions}, the most is {FINEST}");
                    self.fail(&at("shape.subdivisions"), what, "2 is the default");
                }
                if thing.hold == HoldTogether::Springs {
                    let help = "use hold = \"rigid\", or shape = { kind = \"box\", … }";
                    self.fail(&at("hold"), "is \"springs\", which only boxes have", help);
                }
            }
        }
        self.above_zero(&at("mass"), thing.mass, "kg", "a cube of wood with edges of 6 cm has about 0.1");
        self.above_zero(&at("stiffness"), thing.stiffness, "N/m", "2000 is the default");
        self.above_zero(&at("scale"), thing.scale, "", "1 keeps the size");
        if !(thing.damping >= 0.0 && thing.damping.is_finite()) {
            self.fail(
                &at("damping"),
                format!("is {}, it must be 0 or more", thing.damping),
                "0.004 is the default",
            );
        }
        if let Some(copies) = &thing.copies {
            self.copies(&at("copies"), copies);
        }
    }

    fn copies(&mut self, path: &str, copies: &Copies) {
        let at = |field: &str| format!("{path}.{field}");
        if !(1..=MOST).contains(&copies.count) {
            let what = format!("is {}, it must lie between 1 and {MOST}", copies.count);
            self.fail(&at("count"), what, "leave out copies for a single thing");
        }
        if copies.row.contains(&0) {
            self.fail(&at("row"), "has a 0", "row = [4, 4] has sixteen in a layer");
        }
        for (k, pitch) in copies.pitch.iter().enumerate() {
            self.above_zero(&at(&format!("pitch.{k}")), *pitch, "", "leave more than the thing's own size");
        }
        for (field, value) in [("jitter", copies.jitter), ("turn", copies.turn)] {
            if !(value >= 0.0 && value.is_finite()) {
                self.fail(&at(field), format!("is {value}, it must be 0 or more"), "0 is the default");
            }
        }
    }
}
