//! `[[pin]]`: does it name a cloth, select particles once, and hold them in a way that makes sense.

use super::super::document::{nearest, quoted_list};
use super::super::schema::*;
use super::super::si::{default_name, parse_frames};
use super::{Check, cloth_called, shape_counts};

impl Check<'_> {
    pub(super) fn pin(&mut self, path: &str, pin: &PinFile, scene: &SceneFile) {
        let cloth = self.which_cloth(path, pin.cloth.as_deref(), scene, "holds");
        self.pin_selection(path, pin, cloth.map(|i| &scene.cloth[i]));
        self.pin_hold(path, pin);
        self.pin_time(path, pin, scene);
    }

    /// The cloth that `path` names or means; `does` is what it does to it.
    pub(super) fn which_cloth(
        &mut self,
        path: &str,
        name: Option<&str>,
        scene: &SceneFile,
        does: &str,
    ) -> Option<usize> {
        if let Some(i) = cloth_called(name, scene) {
            return Some(i);
        }
        let names: Vec<String> =
            scene.cloth.iter().enumerate().map(|(i, c)| default_name(&c.name, "cloth", i)).collect();
        match name {
            Some(name) => {
                let help = match nearest(name, names.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None if names.is_empty() => "the scene has no cloth".into(),
                    None => format!("the scene has {}", quoted_list(&names, "and")),
                };
                self.fail(&format!("{path}.cloth"), format!("is \"{name}\", there is no such cloth"), help);
            }
            None if names.len() > 1 => {
                let help = format!("add cloth = {}", quoted_list(&names, "or"));
                self.fail(path, format!("does not say which cloth it {does}"), help);
            }
            None => {}
        }
        None
    }

    fn pin_selection(&mut self, path: &str, pin: &PinFile, cloth: Option<&ClothFile>) {
        let given = [
            ("border", pin.border.is_some()),
            ("corners", pin.corners.is_some()),
            ("group", pin.group.is_some()),
            ("indices", pin.indices.is_some()),
            ("box", pin.inside_box.is_some()),
            ("sphere", pin.sphere.is_some()),
            ("all", pin.all.is_some()),
        ];
        let chosen: Vec<&str> = given.iter().filter(|(_, g)| *g).map(|(n, _)| *n).collect();
        match chosen.as_slice() {
            [_] => {}
            [] => self.fail(
                path,
                "does not say which particles it holds",
                "add one of border, corners, group, indices, box, sphere or all",
            ),
            [_, second, ..] => {
                let what = format!("selects particles in {} ways: {}", chosen.len(), chosen.join(", "));
                let message = format!("{} {what}", self.doc.label(path));
                self.say(
                    &format!("{path}.{second}"),
                    message,
                    "keep one; use several [[pin]] tables for more",
                );
            }
        }
        if pin.all == Some(false) {
            self.fail(
                &format!("{path}.all"),
                "is false, which holds nothing",
                "write all = true, or select particles",
            );
        }
        if pin.indices.as_ref().is_some_and(Vec::is_empty) || pin.corners.as_ref().is_some_and(Vec::is_empty)
        {
            let field = if pin.indices.is_some() { "indices" } else { "corners" };
            self.fail(&format!("{path}.{field}"), "is empty", "list at least one, or remove the pin");
        }
        if let Some(ball) = &pin.sphere {
            let help = "lengths are in the scene's units";
            self.above_zero(&format!("{path}.sphere.radius"), ball.radius, "", help);
        }
        if let Some(cloth) = cloth {
            self.pin_fits_cloth(path, pin, cloth);
        }
    }

    fn pin_fits_cloth(&mut self, path: &str, pin: &PinFile, cloth: &ClothFile) {
        use Border::*;
        let (kind, borders): (_, &[Border]) = match &cloth.shape {
            Some(Shape::Sheet { .. } | Shape::Strip { .. } | Shape::Ribbon { .. }) => {
                ("a sheet", &[Left, Right, Bottom, Top, All])
            }
            Some(Shape::Tube { .. } | Shape::Cone { .. }) => ("a tube", &[Bottom, Top, All]),
            Some(Shape::Disc { .. }) => ("a disc", &[All]),
            None => ("a mesh file", &[All]),
        };
        if pin.border.is_some_and(|b| !borders.contains(&b)) {
            let help = if borders.len() > 1 {
                "use \"bottom\", \"top\" or \"all\""
            } else {
                "use border = \"all\", or a box"
            };
            self.fail(&format!("{path}.border"), format!("does not exist on {kind}"), help);
        }
        if pin.corners.is_some() && borders.len() < 5 {
            self.fail(
                &format!("{path}.corners"),
                format!("do not exist on {kind}"),
                "select by indices, box or sphere",
            );
        }
        if pin.group.is_some() && cloth.shape.is_some() {
            let help = "select by border, corners, box or sphere; groups come from mesh files";
            self.fail(&format!("{path}.group"), format!("does not exist on {kind}"), help);
        }
        let known = cloth.shape.as_ref().and_then(|s| shape_counts(s).vertices);
        self.particles(&format!("{path}.indices"), pin.indices.as_deref().unwrap_or_default(), known);
    }

    /// Particle numbers within a cloth of as many as are known.
    pub(super) fn particles(&mut self, path: &str, indices: &[u32], known: Option<u64>) {
        let Some(count) = known else { return };
        if let Some(k) = indices.iter().position(|&i| u64::from(i) >= count) {
            let what = format!("is {}, the cloth has particles 0 to {}", indices[k], count.saturating_sub(1));
            self.fail(&format!("{path}.{k}"), what, "particles are counted from 0");
        }
    }

    fn pin_hold(&mut self, path: &str, pin: &PinFile) {
        let at = |field: &str| format!("{path}.{field}");
        match pin.kind {
            PinKind::Soft if pin.stiffness.is_none() => {
                self.fail(&at("kind"), "is \"soft\" without a stiffness", "add stiffness = 100.0 [N/m]");
            }
            PinKind::Hard if pin.stiffness.is_some() || pin.damping.is_some() => {
                let field = if pin.stiffness.is_some() { "stiffness" } else { "damping" };
                self.fail(&at(field), "only applies to soft pins", "add kind = \"soft\", or remove it");
            }
            _ => {}
        }
        self.above_zero(&at("stiffness"), pin.stiffness.unwrap_or(1.0), " N/m", "100 holds a shirt softly");
        self.not_negative(&at("damping"), pin.damping.unwrap_or(0.0), " N·s/m", "0 is no damping");
        if pin.kind == PinKind::Soft && pin.freedom != Freedom::Fixed {
            self.fail(&at("freedom"), "only applies to hard pins", "remove kind = \"soft\", or the freedom");
        }
        if pin.clamp && (pin.kind == PinKind::Soft || pin.freedom == Freedom::Line) {
            let help = "leave clamp out, or hold hard";
            self.fail(&at("clamp"), "needs a hard pin that is fixed or slides in a plane", help);
        }
        if pin.clamp && (pin.from.is_some() || pin.until.is_some()) {
            let help = "leave out from and until, or clamp";
            self.fail(&at("clamp"), "needs a pin that holds from the start to the end", help);
        }
        match (pin.freedom, pin.direction) {
            (Freedom::Fixed, Some(_)) => {
                self.fail(
                    &at("direction"),
                    "has no effect on a fixed pin",
                    "add freedom = \"line\" or \"plane\"",
                );
            }
            (Freedom::Line | Freedom::Plane, None) => {
                self.fail(&at("freedom"), "needs a direction", "add direction = [1, 0, 0]");
            }
            (Freedom::Line | Freedom::Plane, Some(d)) if d.iter().all(|x| x.abs() < 1e-12) => {
                self.fail(&at("direction"), "has no length", "give a vector such as [1, 0, 0]");
            }
            _ => {}
        }
    }

    fn pin_time(&mut self, path: &str, pin: &PinFile, scene: &SceneFile) {
        self.frames_in_order(path, pin.from, pin.until, scene, "pin");
        self.keys(path, &pin.motion, pin.pivot.is_some());
    }

    /// First and last frame in which something of a `kind` acts.
    pub(super) fn frames_in_order(
        &mut self,
        path: &str,
        from: Option<u32>,
        until: Option<u32>,
        scene: &SceneFile,
        kind: &str,
    ) {
        if let (Some(from), Some(until)) = (from, until)
            && until < from
        {
            let what = format!("is {until}, before from = {from}");
            self.fail(
                &format!("{path}.until"),
                what,
                format!("until is the last frame in which the {kind} acts"),
            );
        }
        if let (Some(from), Some(range)) = (from, parse_frames(&scene.frames))
            && from > range.last
        {
            let what = format!("is {from}, after the last frame ({}): the {kind} never acts", range.last);
            self.note(&format!("{path}.from"), &what, "use an earlier frame");
        }
    }

    /// Keys of a pin or body in order.
    pub(super) fn keys(&mut self, path: &str, keys: &[KeyFile], pivot: bool) {
        for (i, pair) in keys.windows(2).enumerate() {
            if pair[1].frame <= pair[0].frame {
                let what = format!("is {}, not after the key before it ({})", pair[1].frame, pair[0].frame);
                self.fail(&format!("{path}.motion.{}.frame", i + 1), what, "list the keys in order of frame");
            }
        }
        if pivot && keys.is_empty() {
            self.note(&format!("{path}.pivot"), "has no effect without motion", "add motion keys");
        }
    }
}
