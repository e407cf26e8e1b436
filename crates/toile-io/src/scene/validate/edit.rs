//! `[[edit]]`: does it name a cloth with a pattern, one thing to do, and lines and regions that are some.

use super::super::schema::*;
use super::super::si::parse_frames;
use super::Check;

const ONE: &str = "write one of cut, remove, resize, seam or fill in each [[edit]]";

impl Check<'_> {
    pub(super) fn edit(&mut self, path: &str, edit: &EditFile, scene: &SceneFile) {
        let at = |field: &str| format!("{path}.{field}");
        if let Some(cloth) = self.which_cloth(path, edit.cloth.as_deref(), scene, "changes") {
            let own = &scene.cloth[cloth];
            if own.shape.is_none() && own.rest != Some(Rest::Uv) {
                let help = "give the cloth rest = \"uv\", or use a generated shape";
                self.fail(&at("frame"), "changes a mesh file without a pattern", help);
            }
        }
        let given = [
            ("cut", edit.cut.is_some()),
            ("remove", edit.remove.is_some()),
            ("resize", edit.resize.is_some()),
            ("seam", edit.seam.is_some()),
            ("fill", edit.fill.is_some()),
        ];
        let given: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
        match given[..] {
            [] => self.fail(path, "does not say what it does", ONE),
            [_] => {}
            [_, second, ..] => {
                self.fail(
                    &at(second),
                    format!("is one of {} things to do: {}", given.len(), given.join(", ")),
                    ONE,
                );
            }
        }
        if let Some(range) = parse_frames(&scene.frames)
            && edit.frame > range.last
        {
            let what = format!("is {}, after the last frame ({}): it never happens", edit.frame, range.last);
            self.note(&at("frame"), &what, "use an earlier frame");
        }
        if let Some(line) = &edit.cut {
            self.points(&at("cut"), line, 2);
        }
        if let Some(region) = &edit.remove {
            match (&region.circle, &region.polygon) {
                (Some(circle), None) => {
                    self.above_zero(
                        &at("remove.circle.radius"),
                        circle.radius,
                        "",
                        "lengths are in the scene's units",
                    );
                }
                (None, Some(polygon)) => self.points(&at("remove.polygon"), polygon, 3),
                (None, None) => {
                    let help = "add circle = { centre = [0.5, 0.5], radius = 0.1 }, or polygon = [[0, 0], …]";
                    self.fail(&at("remove"), "does not say where", help);
                }
                (Some(_), Some(_)) => {
                    self.fail(&at("remove.polygon"), "and circle are both given", "keep one of the two");
                }
            }
        }
        if let Some(ResizeFile { radius, factor, hardness, .. }) = edit.resize {
            self.above_zero(&at("resize.radius"), radius, "", "lengths are in the scene's units");
            if !(0.5..=2.0).contains(&factor) {
                let what = format!("is {factor}, it must lie between 0.5 and 2");
                self.fail(&at("resize.factor"), what, "use several edits for more");
            }
            if !(0.0..=1.0).contains(&hardness) {
                self.fail(
                    &at("resize.hardness"),
                    format!("is {hardness}, it must lie between 0 and 1"),
                    "0.5 is the default",
                );
            }
        }
        if let Some(seam) = &edit.seam {
            self.seam(&at("seam"), seam);
        }
    }

    fn seam(&mut self, path: &str, seam: &SeamFile) {
        let lines = [("along", &seam.along), ("from", &seam.from), ("to", &seam.to)];
        for (name, line) in lines {
            if let Some(line) = line {
                self.points(&format!("{path}.{name}"), line, 2);
            }
        }
        match (&seam.along, &seam.from, &seam.to) {
            (Some(_), None, None) | (None, Some(_), Some(_)) => {}
            _ => {
                let help = "write along = [[0, 0], [1, 0]], or both from and to";
                self.fail(path, "needs the line of a cut, or two borders", help);
            }
        }
        self.above_zero(&format!("{path}.time"), seam.time.unwrap_or(1.0), " s", "0.15 is the default");
    }

    /// At least as many points as `least`.
    fn points(&mut self, path: &str, points: &[[f64; 2]], least: usize) {
        if points.len() < least {
            let what = format!("has {} points, it needs {least}", points.len());
            self.fail(path, what, "list them as [u, v] in the pattern");
        }
        if let Some(k) = points.windows(2).position(|pair| pair[0] == pair[1]) {
            self.fail(
                &format!("{path}.{}", k + 1),
                "is the point before it again",
                "leave one of the two out",
            );
        }
    }
}
