//! What a well-formed scene may still get wrong: impossible values, contradictions, unknown names.
//! Every problem is reported, not the first one.

mod body;
mod edit;
mod elastic;
mod fabric;
mod pin;
mod solver;
mod thing;

use super::document::{Document, MAX_ERRORS, SceneError};
use super::schema::*;
use super::si::{default_name, parse_colour, parse_frames, quads, tube_quads};
use super::{MAX_FACES, MAX_FRAMES, Note};
use crate::axes::Up;
use crate::ribbon;
pub(crate) use fabric::{Start, validate_fabric};
use std::collections::BTreeMap;
use toile::forces::triangle_spring::HIGHEST_ALPHA;
use toile::mesh::smooth::MOST_SPLITS;

/// Every semantic problem of a scene in the order of the text, and what is legal but worth a word.
pub(crate) fn validate(doc: &Document, scene: &SceneFile, starts: &[Start]) -> (Vec<SceneError>, Vec<Note>) {
    let mut check = Check { doc, up: scene.up, errors: Vec::new(), notes: Vec::new() };
    check.time(scene);
    check.solver(scene);
    check.names(scene);
    for (i, cloth) in scene.cloth.iter().enumerate() {
        if check.full() {
            break;
        }
        check.cloth(&format!("cloth.{i}"), cloth, starts.get(i).and_then(|start| start.fabric));
    }
    for (i, thing) in scene.thing.iter().enumerate() {
        if check.full() {
            break;
        }
        check.thing(&format!("thing.{i}"), thing);
    }
    for (i, pin) in scene.pin.iter().enumerate() {
        if check.full() {
            break;
        }
        check.pin(&format!("pin.{i}"), pin, scene);
    }
    for (i, edit) in scene.edit.iter().enumerate() {
        if check.full() {
            break;
        }
        check.edit(&format!("edit.{i}"), edit, scene);
    }
    for (i, elastic) in scene.elastic.iter().enumerate() {
        if check.full() {
            break;
        }
        check.elastic(&format!("elastic.{i}"), elastic, scene);
    }
    check.air(scene);
    for (i, body) in scene.body.iter().enumerate() {
        if check.full() {
            break;
        }
        check.body(&format!("body.{i}"), body);
    }
    check.contact(scene);
    check.detect(&scene.detect);
    check.render(&scene.render);
    check.errors.sort_by_key(|e| e.span.start);
    (check.errors, check.notes)
}

/// Which cloth a pin or an elastic means, if that is clear.
pub(crate) fn cloth_called(name: Option<&str>, scene: &SceneFile) -> Option<usize> {
    match name {
        Some(name) => {
            scene.cloth.iter().enumerate().position(|(i, c)| default_name(&c.name, "cloth", i) == name)
        }
        None if scene.cloth.len() == 1 => Some(0),
        None => None,
    }
}

struct Check<'a> {
    doc: &'a Document,
    /// The file's.
    up: Up,
    errors: Vec<SceneError>,
    notes: Vec<Note>,
}

impl Check<'_> {
    fn full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    /// A problem with the field at `path`; `what` continues the sentence that the field's name starts.
    fn fail(&mut self, path: &str, what: impl AsRef<str>, help: impl Into<String>) {
        let message = format!("{} {}", self.doc.label(path), what.as_ref());
        self.say(path, message, help);
    }

    fn say(&mut self, path: &str, message: String, help: impl Into<String>) {
        self.errors.push(SceneError {
            message,
            help: help.into(),
            span: self.doc.span_of(path),
            path: path.to_string(),
            from_override: None,
        });
    }

    fn note(&mut self, path: &str, what: &str, help: &str) {
        let message = format!("{} {what}", self.doc.label(path));
        self.notes.push(Note { message, help: help.into(), span: self.doc.span_of(path), path: path.into() });
    }

    fn above_zero(&mut self, path: &str, x: f64, unit: &str, help: &str) {
        if x <= 0.0 {
            self.fail(path, format!("is {x}{unit}, it must be above 0"), help);
        }
    }

    fn not_negative(&mut self, path: &str, x: f64, unit: &str, help: &str) {
        if x < 0.0 {
            self.fail(path, format!("is {x}{unit}, it cannot be negative"), help);
        }
    }

    fn at_least_one(&mut self, path: &str, n: u32) {
        if n == 0 {
            self.fail(path, "is 0, it must be 1 or more", "write 1");
        }
    }

    fn time(&mut self, scene: &SceneFile) {
        if scene.toile != 1 {
            let what = format!("is {}, this program reads version 1", scene.toile);
            self.fail("toile", what, "write toile = 1, or use a newer toile");
        }
        if let Some(name) = &scene.name
            && (name.trim().is_empty() || name.contains(['/', '\\']) || name.chars().any(char::is_control))
        {
            self.fail("name", format!("cannot be {name:?}"), "use letters, digits, spaces, - and _");
        }
        match parse_frames(&scene.frames) {
            None => self.fail(
                "frames",
                "is not a range of frames",
                "write \"first-last\", for example frames = \"1-250\", or a number of frames",
            ),
            Some(f) if f.last == 0 && f.first == 1 => {
                self.fail("frames", "is empty", "write at least one frame, for example frames = 250");
            }
            Some(f) if f.last < f.first => {
                let help = format!("the first frame comes first: \"{}-{}\"", f.last, f.first);
                self.fail("frames", format!("ends ({}) before it starts ({})", f.last, f.first), help);
            }
            Some(f) if f.count() > MAX_FRAMES => {
                let what = format!("has {} frames, the limit is {MAX_FRAMES}", f.count());
                self.fail("frames", what, "split the run");
            }
            Some(_) => {}
        }
        if scene.fps.is_some() && scene.frame_time.is_some() {
            self.fail("frame_time", "and fps are both given", "keep one of the two");
        }
        self.above_zero("fps", scene.fps.unwrap_or(1.0), " frames per second", "film has 24, video 25 or 30");
        self.above_zero(
            "frame_time",
            scene.frame_time.unwrap_or(1.0),
            " s",
            "60 frames per second are 0.016667 s",
        );
    }

    fn coupled(&mut self, path: &str, cloth: &ClothFile, coupled: &Coupled) {
        let at = format!("{path}.coupled");
        if cloth.model != Model::Coupled {
            return self.note(&at, "has no effect without model = \"coupled\"", "add model = \"coupled\"");
        }
        let alpha = coupled.alpha.unwrap_or(0.0);
        let field = format!("{at}.alpha");
        if !(-1.9..=2.0).contains(&alpha) {
            let what = format!("is {alpha}, it must lie between -1.9 and 2");
            self.fail(&field, what, "1 − 3 × Poisson's ratio is right on equilateral meshes");
        } else if alpha > HIGHEST_ALPHA && !coupled.force {
            let what = format!(
                "is {alpha}; above {HIGHEST_ALPHA} obtuse triangles become infinitely stiff or explode"
            );
            self.fail(&field, what, "add force = true to see it happen");
        } else if alpha > HIGHEST_ALPHA {
            self.note(
                &field,
                "is forced: expect infinite stiffness or explosions",
                "0.95 is the highest safe one",
            );
        }
        if !coupled.symmetric {
            let what = "is false, V97 as printed: loops of strain drain or pump energy";
            self.note(&format!("{at}.symmetric"), what, "true is the default");
        }
    }

    fn names(&mut self, scene: &SceneFile) {
        if scene.cloth.is_empty() {
            self.say("", "the scene has no cloth".into(), "add a [[cloth]] table with a shape or a file");
        }
        let cloths = scene.cloth.iter().enumerate().map(|(i, c)| default_name(&c.name, "cloth", i));
        let bodies = scene.body.iter().enumerate().map(|(i, b)| default_name(&b.name, "body", i));
        let all = cloths.enumerate().map(|(i, n)| (format!("cloth.{i}"), n));
        let things = scene.thing.iter().enumerate().map(|(i, t)| default_name(&t.name, "thing", i));
        let all = all.chain(things.enumerate().map(|(i, n)| (format!("thing.{i}"), n)));
        let all = all.chain(bodies.enumerate().map(|(i, n)| (format!("body.{i}"), n)));
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        for (path, name) in all.collect::<Vec<_>>() {
            if self.full() {
                break;
            }
            let field = format!("{path}.name");
            if name.trim().is_empty() || name.chars().any(char::is_control) {
                self.fail(&field, format!("cannot be {name:?}"), "use letters, digits, spaces, - and _");
            }
            if let Some(first) = seen.insert(name.clone(), path.clone()) {
                let message = format!("the name \"{name}\" is used twice, by {first} and {path}");
                self.say(&field, message, "give each cloth, thing and body its own name");
            }
        }
    }

    fn one_source(&mut self, path: &str, shape: bool, file: Option<&str>) {
        match (shape, file) {
            (true, Some(_)) => {
                let label = self.doc.label(path);
                self.say(
                    &format!("{path}.file"),
                    format!("{label} has both a shape and a file"),
                    "keep one of the two",
                );
            }
            (false, None) => {
                let help = "add shape = { kind = … } or file = \"mesh.obj\"";
                self.fail(path, "has neither a shape nor a file", help);
            }
            (false, Some(file)) if std::path::Path::new(file).is_absolute() || file.is_empty() => {
                let help = "write the path relative to the scene's folder";
                self.fail(
                    &format!("{path}.file"),
                    format!("is \"{file}\", it must be a relative path"),
                    help,
                );
            }
            _ => {}
        }
    }

    fn cloth(&mut self, path: &str, cloth: &ClothFile, start: Option<toile::Fabric>) {
        self.one_source(path, cloth.shape.is_some(), cloth.file.as_deref());
        if cloth.shape.is_some() {
            let extra = [
                ("file_units", cloth.file_units.is_some()),
                ("file_up", cloth.file_up.is_some()),
                ("rest", cloth.rest.is_some()),
                ("repair", cloth.repair.is_some()),
            ];
            for (field, _) in extra.iter().filter(|(_, given)| *given) {
                let help = "remove it; shapes use the scene's units and know their rest state";
                self.fail(&format!("{path}.{field}"), "only applies to a mesh file", help);
            }
        }
        if let Some(shape) = &cloth.shape {
            self.shape(&format!("{path}.shape"), shape);
        }
        self.above_zero(&format!("{path}.scale"), cloth.scale, "", "1 keeps the size");
        if let Some(table) = cloth.fabric.table() {
            self.fabric(&format!("{path}.fabric"), table, start);
            self.forgotten(&format!("{path}.fabric"), table, cloth.model, cloth.bending);
        }
        if let Some(spring) = &cloth.spring {
            if !(0.0..=1.0).contains(&spring.blend) {
                let what = format!("is {}, it must lie between 0 and 1", spring.blend);
                self.fail(&format!("{path}.spring.blend"), what, "0.05 is the default");
            }
            if cloth.model != Model::Springs {
                self.note(
                    &format!("{path}.spring"),
                    "has no effect without model = \"springs\"",
                    "add model = \"springs\"",
                );
            }
        }
        if cloth.model != Model::Membrane && cloth.strain.is_some() {
            self.note(&format!("{path}.strain"), "only acts on model = \"membrane\"", "remove it");
        }
        if let Some(coupled) = &cloth.coupled {
            self.coupled(path, cloth, coupled);
        }
        if let Some(Err(error)) = cloth.refine.as_ref().map(|refine| refine.engine(1.0)) {
            self.fail(
                &format!("{path}.refine"),
                format!("cannot be: {error}"),
                "the defaults are in docs/scene.md",
            );
        }
    }

    fn shape(&mut self, path: &str, shape: &Shape) {
        let at = |field: &str| format!("{path}.{field}");
        let mut lengths: Vec<(&str, f64)> = Vec::new();
        match shape {
            Shape::Sheet { size, .. } => lengths.extend([("size.0", size[0]), ("size.1", size[1])]),
            Shape::Strip { length, width, .. } => lengths.extend([("length", *length), ("width", *width)]),
            Shape::Disc { radius, .. } => lengths.push(("radius", *radius)),
            Shape::Tube { radius, length, .. } => lengths.extend([("radius", *radius), ("length", *length)]),
            Shape::Cone { radius_bottom, radius_top, length, .. } => {
                let radii = [("radius_bottom", *radius_bottom), ("radius_top", *radius_top)];
                lengths.extend(radii.into_iter().chain([("length", *length)]));
            }
            Shape::Ribbon { path: points, width, across, .. } => {
                lengths.push(("width", *width));
                let up = [0.0, f64::from(self.up == Up::Y), f64::from(self.up == Up::Z)];
                if let Err(fault) = ribbon::check(points, across.unwrap_or(up)) {
                    let (field, help) = match fault {
                        ribbon::Fault::Points(_) => {
                            ("path", "give two or more finite points, each elsewhere")
                        }
                        ribbon::Fault::Across => ("across", "give a direction; up is the default"),
                        ribbon::Fault::Along(_) => {
                            ("across", "turn it by at least 20° away from where the path goes")
                        }
                    };
                    self.fail(&at(field), fault.to_string(), help);
                }
            }
        }
        let before = self.errors.len();
        for (field, x) in lengths {
            self.above_zero(&at(field), x, "", "lengths are in the scene's units");
        }
        let mut counted = "triangles";
        if let Shape::Sheet { amount, pattern, .. }
        | Shape::Strip { amount, pattern, .. }
        | Shape::Disc { amount, pattern, .. }
        | Shape::Tube { amount, pattern, .. }
        | Shape::Ribbon { amount, pattern, .. } = shape
        {
            if !(0.0..=0.45).contains(amount) {
                let what =
                    format!("is {amount}, it must lie between 0 and 0.45: beyond, triangles turn over");
                self.fail(&at("amount"), what, "0.25 is the default");
            }
            self.pattern(path, shape, *pattern);
            counted = "resolution";
        }
        if self.errors.len() == before {
            self.resolution(&at(counted), shape);
        }
    }

    fn pattern(&mut self, path: &str, shape: &Shape, pattern: Pattern) {
        use Pattern::*;
        let rings = matches!(shape, Shape::Disc { .. });
        if rings && !matches!(pattern, Structured | Jittered | Delaunay) {
            let path = format!("{path}.pattern");
            self.fail(&path, "does not exist for a disc", "use \"structured\", \"jittered\" or \"delaunay\"");
        }
    }

    fn resolution(&mut self, path: &str, shape: &Shape) {
        let counts = shape_counts(shape);
        if counts.faces == 0 {
            self.fail(path, "is 0, it must be 1 or more", "20 is the default; 50 shows wrinkles");
        } else if counts.faces > MAX_FACES {
            let what = format!("makes {} faces, the limit is {MAX_FACES}", counts.faces);
            self.fail(path, what, "use a lower resolution; 200 makes 80,000 faces");
        }
        if let Shape::Tube { radius, length, resolution, .. } = shape
            && let [around @ 1..=2, _] = tube_quads(resolution, *radius, *length)
        {
            let what = format!("has {around} quads around, which closes no tube");
            self.fail(path, what, "use 3 or more around");
        }
    }

    fn air(&mut self, scene: &SceneFile) {
        if let Some(wind) = &scene.wind {
            self.not_negative("wind.drag", wind.drag, " N·s/m³", "1 is the default");
            self.not_negative("wind.drag_coefficient", wind.drag_coefficient, "", "a flat plate has 1.2");
            if wind.drag == 0.0 && wind.drag_coefficient == 0.0 {
                self.note("wind", "has no effect: both its drags are 0", "add drag = 1.0");
            }
            if let Some(gusts) = &wind.gusts {
                self.not_negative("wind.gusts.amplitude", gusts.amplitude, " m/s", "2 is a light breeze");
                self.above_zero("wind.gusts.frequency", gusts.frequency, " Hz", "0.5 is the default");
            }
        }
        self.not_negative("air.drag", scene.air.drag, " 1/s", "0 is a vacuum");
        self.not_negative("air.normal_drag", scene.air.normal_drag, " N·s/m³", "0 is a vacuum");
    }

    fn render(&mut self, render: &RenderFile) {
        for (i, &n) in render.size.iter().enumerate() {
            if !(16..=16384).contains(&n) {
                let what = format!("is {n} pixels, it must lie between 16 and 16384");
                self.fail(&format!("render.size.{i}"), what, "960 by 720 is the default");
            }
        }
        self.at_least_one("render.every", render.every);
        if !(1..=MOST_SPLITS).contains(&render.smooth) {
            let what = format!("is {}, it must lie between 1 and {MOST_SPLITS}", render.smooth);
            self.fail("render.smooth", what, "1 is off, 3 is usually enough");
        }
        self.above_zero(
            "render.look.repeat",
            render.look.repeat.unwrap_or(0.1),
            " m",
            "0.1 is the default, always in metres",
        );
        for (field, text) in [("front", &render.look.front), ("back", &render.look.back)] {
            if parse_colour(text).is_none() {
                let what = format!("is \"{text}\", which is not a colour");
                self.fail(
                    &format!("render.look.{field}"),
                    what,
                    "write \"#rrggbb\", for example \"#c8553d\"",
                );
            }
        }
        let camera = &render.camera;
        if camera.eye.is_some() != camera.target.is_some() {
            let (has, lacks) = if camera.eye.is_some() { ("eye", "target") } else { ("target", "eye") };
            self.fail(
                &format!("render.camera.{has}"),
                format!("is given without {lacks}"),
                format!("add {lacks} = [x, y, z]"),
            );
        }
        if camera.eye.is_some() && camera.eye == camera.target {
            self.fail("render.camera.target", "is the same point as eye", "move one of them");
        }
        if camera.eye.is_some() && (camera.yaw.is_some() || camera.pitch.is_some()) {
            let field = if camera.yaw.is_some() { "yaw" } else { "pitch" };
            self.fail(
                &format!("render.camera.{field}"),
                "and eye are both given",
                "keep eye and target, or yaw and pitch",
            );
        }
        if let Some(fov) = camera.fov.filter(|f| !(1.0..=170.0).contains(f)) {
            self.fail(
                "render.camera.fov",
                format!("is {fov}°, it must lie between 1 and 170"),
                "35 is the default",
            );
        }
        if let Some(pitch) = camera.pitch.filter(|p| p.abs() > 90.0) {
            self.fail(
                "render.camera.pitch",
                format!("is {pitch}°, it must lie between -90 and 90"),
                "15 is the default",
            );
        }
    }
}

/// Sizes of a generated mesh. Vertices are known only for regular patterns.
pub(crate) struct Counts {
    pub(crate) faces: u64,
    pub(crate) vertices: Option<u64>,
}

pub(crate) fn shape_counts(shape: &Shape) -> Counts {
    let grid = |[u, v]: [u32; 2], pattern: Pattern, closed: bool| {
        let (u, v) = (u64::from(u), u64::from(v));
        let faces = u.saturating_mul(v).saturating_mul(2);
        let regular = !matches!(pattern, Pattern::Equilateral | Pattern::Delaunay);
        let vertices = (u + u64::from(!closed)).saturating_mul(v + 1);
        Counts { faces, vertices: regular.then_some(vertices) }
    };
    match shape {
        Shape::Sheet { size, resolution, pattern, .. } => {
            grid(quads(resolution, *size, false), *pattern, false)
        }
        Shape::Strip { length, width, resolution, pattern, .. } => {
            grid(quads(resolution, [*length, *width], true), *pattern, false)
        }
        Shape::Ribbon { path, width, resolution, pattern, .. } => {
            grid(quads(resolution, [ribbon::length(path), *width], true), *pattern, false)
        }
        Shape::Tube { radius, length, resolution, pattern, .. } => {
            grid(tube_quads(resolution, *radius, *length), *pattern, true)
        }
        Shape::Cone { triangles, .. } => Counts { faces: u64::from(*triangles), vertices: None },
        Shape::Disc { resolution, .. } => {
            let n = u64::from(*resolution);
            Counts { faces: n.saturating_mul(n).saturating_mul(6), vertices: None }
        }
    }
}
