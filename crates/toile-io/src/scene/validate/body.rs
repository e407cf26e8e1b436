//! `[[body]]`, `[contact]` and `[detect]`: can it be made, does it move as bodies do, does contact name what exists.

use super::super::document::{nearest, quoted_list};
use super::super::schema::*;
use super::super::si::{default_name, met_objects};
use super::Check;
use crate::sequence::is_pattern;
use std::path::Path;

impl Check<'_> {
    pub(super) fn body(&mut self, path: &str, body: &BodyFile) {
        let at = |field: &str| format!("{path}.{field}");
        self.one_source(path, body.shape.is_some(), body.file.as_deref());
        self.above_zero(&at("scale"), body.scale, "", "1 keeps the size");
        if let Some(tolerance) = body.tolerance {
            self.above_zero(&at("tolerance"), tolerance, "", "1 mm is the default");
        }
        if let Some(shape) = &body.shape {
            self.body_shape(path, shape);
            if body.solid.is_some() {
                self.fail(&at("solid"), "only applies to a mesh file", "remove it; shapes know their inside");
            }
        }
        self.body_animation(path, body);
        self.keys(path, &body.motion, body.pivot.is_some());
        for (i, _) in body.motion.iter().enumerate().filter(|(_, key)| key.scale.values() != [1.0; 3]) {
            let help = "leave it out; size belongs to the shape or to `scale`";
            self.fail(&at(&format!("motion.{i}.scale")), "changes the size of a body, which keeps it", help);
        }
        if let Some(friction) = &body.friction {
            self.coulomb(&at("friction"), friction);
            if !body.collide {
                self.note(&at("friction"), "has no effect without collide", "write collide = true");
            }
        }
    }

    fn body_shape(&mut self, path: &str, shape: &BodyShape) {
        let at = |field: &str| format!("{path}.shape.{field}");
        let lengths: Vec<(String, f64)> = match shape {
            BodyShape::Sphere { radius, subdivisions } => {
                if *subdivisions > 8 {
                    let what = format!("is {subdivisions}, the limit is 8 (1.3 million faces)");
                    self.fail(&at("subdivisions"), what, "4 looks round");
                }
                vec![("radius".into(), *radius)]
            }
            BodyShape::Plane { size } => (0..2).map(|i| (format!("size.{i}"), size[i])).collect(),
            BodyShape::Box { size } => (0..3).map(|i| (format!("size.{i}"), size[i])).collect(),
            BodyShape::Cylinder { radius, height, segments } => {
                if let Some(n) = segments.filter(|n| !(8..=100_000).contains(n)) {
                    let what = format!("is {n}, it must lie between 8 and 100000");
                    self.fail(&at("segments"), what, "64 looks round");
                }
                vec![("radius".into(), *radius), ("height".into(), *height)]
            }
            BodyShape::Capsule { radius, height } => {
                vec![("radius".into(), *radius), ("height".into(), *height)]
            }
            BodyShape::Cone { radius, top, height } => {
                self.not_negative(&at("radius"), *radius, "", "0 is a point");
                self.not_negative(&at("top"), *top, "", "0 is a point");
                vec![("height".into(), *height)]
            }
            BodyShape::Torus { radius, tube } => {
                vec![("radius".into(), *radius), ("tube".into(), *tube)]
            }
            BodyShape::Metaballs { balls, threshold } => {
                let each = |(i, ball): (usize, &Metaball)| {
                    [(format!("balls.{i}.radius"), ball.radius), (format!("balls.{i}.weight"), ball.weight)]
                };
                let threshold = [("threshold".to_string(), *threshold)];
                balls.iter().enumerate().flat_map(each).chain(threshold).collect()
            }
            BodyShape::Bowl { curvature, radius } => {
                if *curvature == 0.0 {
                    self.fail(&at("curvature"), "is 0, which is flat", "use kind = \"plane\"");
                }
                vec![("radius".into(), *radius)]
            }
            BodyShape::Lathe { profile } => {
                self.profile(&at("profile"), profile);
                Vec::new()
            }
            BodyShape::Hull { points } => {
                if points.len() < 4 {
                    let what = format!("has {} points, a body needs at least 4", points.len());
                    self.fail(&at("points"), what, "add points off the plane of the others");
                }
                Vec::new()
            }
        };
        for (field, x) in lengths {
            self.above_zero(&at(&field), x, "", "lengths are in the scene's units");
        }
    }

    /// The profile of a lathe: two points or more, none beyond the axis, the axis touched by its ends only.
    fn profile(&mut self, path: &str, profile: &[[f64; 2]]) {
        let mut distinct = profile.to_vec();
        distinct.dedup();
        let loops = distinct.len() > 1 && distinct.first() == distinct.last();
        if distinct.len() < if loops { 4 } else { 2 } {
            let what = format!("has {} different points in a row", distinct.len());
            return self.fail(path, what, "give two or more, or three and the first again for a ring");
        }
        for (i, [radius, height]) in profile.iter().enumerate() {
            let at = format!("{path}.{i}");
            self.not_negative(&format!("{at}.0"), *radius, "", "distances from the axis are 0 or more");
            if !height.is_finite() {
                self.fail(&format!("{at}.1"), format!("is {height}"), "give a finite height");
            }
            let end = !loops && (i == 0 || i + 1 == profile.len());
            if *radius == 0.0 && !end {
                let what = "lies on the axis, which only the ends of an open profile may";
                self.fail(&at, what, "move it off the axis, or end the profile there");
            }
        }
    }

    /// Sequences and caches of positions.
    fn body_animation(&mut self, path: &str, body: &BodyFile) {
        let at = |field: &str| format!("{path}.{field}");
        let sequence = body.file.as_deref().is_some_and(|file| is_pattern(Path::new(file)));
        match &body.cache {
            Some(_) if body.file.is_none() => {
                self.fail(
                    &at("cache"),
                    "has no mesh to move",
                    "add file = \"mesh.obj\", the mesh it was made for",
                );
            }
            Some(_) if sequence => {
                self.fail(&at("cache"), "and a sequence of files are both given", "keep one of the two");
            }
            Some(cache) if Path::new(cache).is_absolute() || cache.is_empty() => {
                let help = "write the path relative to the scene's folder";
                self.fail(&at("cache"), format!("is \"{cache}\", it must be a relative path"), help);
            }
            None if !sequence => {
                for (field, given) in [("fps", body.fps.is_some()), ("start", body.start.is_some())] {
                    if given {
                        let help = "add a cache, or name a sequence: file = \"walk_####.obj\"";
                        self.fail(&at(field), "only applies to an animated mesh", help);
                    }
                }
            }
            _ => {}
        }
        self.above_zero(&at("fps"), body.fps.unwrap_or(1.0), " frames per second", "film has 24");
    }

    /// One number, or two in order.
    fn coulomb(&mut self, path: &str, friction: &FrictionFile) {
        let help = "cloth on cloth has 0.2 to 0.5";
        match friction {
            FrictionFile::One(x) => self.not_negative(path, *x, "", help),
            FrictionFile::Each(FrictionTable { still, sliding }) => {
                self.not_negative(&format!("{path}.still"), *still, "", help);
                self.not_negative(&format!("{path}.sliding"), *sliding, "", help);
                if sliding > still {
                    let what = format!("is {sliding}, it cannot exceed what holds at rest, {still}");
                    self.fail(&format!("{path}.sliding"), what, "exchange the two");
                }
            }
        }
    }

    pub(super) fn contact(&mut self, scene: &SceneFile) {
        let Some(contact) = scene.contact.table() else { return };
        if let Some(gap) = contact.gap {
            self.above_zero("contact.gap", gap, "", "1 mm is the default");
        }
        for (field, x, unit, help) in [
            ("stiffness", contact.stiffness, "", "30 is the default"),
            ("penalty", contact.penalty, " N/m", "1000 is the default"),
        ] {
            self.above_zero(&format!("contact.{field}"), x, unit, help);
        }
        if !(contact.gain > 0.0 && contact.gain <= 2.0) {
            let what = format!("is {}, it must lie above 0 and not above 2", contact.gain);
            self.fail("contact.gain", what, "1.5 is the paper's, 1 stops what comes");
        }
        self.at_least_one("contact.passes", contact.passes);
        for (field, friction) in [("friction", &contact.friction), ("body_friction", &contact.body_friction)]
        {
            if let Some(friction) = friction {
                self.coulomb(&format!("contact.{field}"), friction);
            }
        }
        self.pairs(scene, contact);
    }

    pub(super) fn detect(&mut self, detect: &Detect) {
        if crate::detect::dop(detect.kdop).is_none() {
            let what = format!("is {}, there is no such k-DOP", detect.kdop);
            self.fail("detect.kdop", what, "the choices are 6, 8, 12, 14, 18 and 26");
        }
        if ![2, 4, 8].contains(&detect.tree) {
            let what = format!("is {}, nodes have other numbers of children", detect.tree);
            self.fail("detect.tree", what, "the choices are 2, 4 and 8");
        }
        self.not_negative("detect.v_min", detect.v_min, " m/s", "0.01 is the default");
        self.not_negative("detect.lazy", detect.lazy, "", "0 makes boxes anew every time");
        self.not_negative("detect.margin", detect.margin.unwrap_or(0.0), "", "1 mm is the default");
        if !(detect.apex > 0.0 && detect.apex <= 180.0) {
            let what = format!("is {}°, it must lie above 0 and not above 180", detect.apex);
            self.fail("detect.apex", what, "150 is the default");
        }
        self.at_least_one("detect.restart", detect.restart);
    }

    /// Pairs name two objects that can meet, each pair once.
    fn pairs(&mut self, scene: &SceneFile, contact: &Contact) {
        let objects = met_objects(scene);
        let body = |name: &str| objects[scene.cloth.len()..].iter().any(|object| object == name);
        for (i, pair) in contact.pair.iter().enumerate() {
            if self.full() {
                return;
            }
            let path = format!("contact.pair.{i}");
            self.coulomb(&format!("{path}.friction"), &pair.friction);
            for (k, name) in pair.between.iter().enumerate().filter(|(_, name)| !objects.contains(name)) {
                let hidden = scene.body.iter().enumerate().filter(|(_, b)| !b.collide);
                let shown = hidden.map(|(i, b)| default_name(&b.name, "body", i)).any(|other| other == *name);
                let help = match nearest(name, objects.iter().map(String::as_str)) {
                    _ if shown => "write collide = true for it, or remove the pair".to_string(),
                    Some(near) => {
                        format!("did you mean \"{near}\"? There are {}", quoted_list(&objects, "and"))
                    }
                    None => format!("there are {}", quoted_list(&objects, "and")),
                };
                let what =
                    if shown { "a body that cloth does not meet" } else { "no cloth or body of the scene" };
                self.fail(&format!("{path}.between.{k}"), format!("is \"{name}\", {what}"), help);
            }
            let [a, b] = &pair.between;
            if body(a) && body(b) {
                let what = format!("names two bodies, \"{a}\" and \"{b}\": bodies do not meet each other");
                self.fail(&format!("{path}.between"), what, "name at least one cloth");
            }
            let same = |other: &PairFile| {
                other.between == [a.clone(), b.clone()] || other.between == [b.clone(), a.clone()]
            };
            if contact.pair[..i].iter().any(same) {
                let what = format!("names \"{a}\" and \"{b}\", as an earlier pair does");
                self.fail(&format!("{path}.between"), what, "keep one of the two");
            }
        }
    }
}
