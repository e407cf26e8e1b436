//! Pictures of a run: from frames to PNG.

use crate::fail::Failure;
use glam::{DVec2, DVec3, Vec2, Vec3};
use indicatif::{ProgressBar, ProgressStyle};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use toile::Cloth;
use toile::collide::{Detector, Role, Settings, Shell};
use toile::forces::membrane::{material_weights, principal_strain};
use toile::mesh::smooth::MOST_SPLITS;
use toile::mesh::{SmoothError, Smoother};
use toile_io::build::Built;
use toile_io::cache::{Cache, CacheFrame, CacheObject};
use toile_io::error::FileError;
use toile_io::scene::schema::{Colour as Shows, Print};
use toile_io::scene::{Camera as CameraChoice, Floor, Scene};
use toile_render as draw;
use toile_render::{
    Bounds, Camera, Colour, ColourMap, Field, Framing, Kind, Look, Margins, Options, Quality, Values,
};

/// The animation is made at this part of the picture's size: it is watched, not studied.
const ANIMATION_WIDTH: u32 = 640;

/// What a picture shows beside the scene's own choice.
#[derive(Clone, Copy, Default)]
pub struct Shown {
    /// Width and height [px].
    pub size: Option<[u32; 2]>,
    /// Effort.
    pub quality: Quality,
    /// Draw mesh lines.
    pub wire: bool,
    /// Draw this of collision detection in place of the cloth.
    pub hierarchy: Option<Hierarchy>,
}

/// What to show of collision detection.
#[derive(Clone, Copy)]
pub struct Hierarchy {
    /// Which level; 0 is the whole.
    pub level: u32,
    /// Boxes instead of regions.
    pub boxes: bool,
    /// How hierarchies are built.
    pub settings: Settings,
}

/// Colours of things: wood and stone.
const THINGS: [u32; 5] = [0xd8b27a, 0x9db0b5, 0xe3d9c6, 0xb98d62, 0x8a9a86];

/// Draws frames of one scene.
pub struct Painter<'a> {
    scene: &'a Scene,
    built: &'a Built,
    /// The cloths as the scene builds them.
    start: &'a [Cloth],
    /// What is drawn of them, and of what they became.
    cloths: Rc<Vec<Drawn>>,
    later: RefCell<Option<Later>>,
}

/// Cloths as they became, and what is drawn of them.
type Later = (Arc<Vec<CacheObject>>, Rc<Vec<Drawn>>);

/// The mesh that is drawn for a cloth: its own, or the curved one over it.
struct Drawn {
    /// The simulated faces and their shape at rest.
    own: Vec<[u32; 3]>,
    rest: Vec<[DVec2; 3]>,
    faces: Vec<[u32; 3]>,
    /// Material coordinates of the faces' corners.
    material: Vec<[Vec2; 3]>,
    smoother: Option<Smoother>,
    /// What refinement did to each simulated face; empty where it did nothing.
    marks: Vec<u8>,
}

impl Drawn {
    fn new(
        (vertices, own): (usize, &[[u32; 3]]),
        rest: &[[DVec2; 3]],
        chart: &[[DVec2; 3]],
        smooth: u32,
    ) -> Result<Drawn, SmoothError> {
        // Cloth that was not in the pattern is printed like its first corner.
        let known = |p: DVec2| if p.is_finite() { p.as_vec2() } else { Vec2::ZERO };
        let narrow = |corners: &[DVec2; 3]| corners.map(known);
        let (own, rest) = (own.to_vec(), rest.to_vec());
        if smooth == 1 {
            let (faces, material) = (own.clone(), chart.iter().map(narrow).collect());
            return Ok(Drawn { own, rest, faces, material, smoother: None, marks: Vec::new() });
        }
        let smoother = Smoother::new(vertices, &own, smooth)?;
        let fine = smoother.subdivision();
        let material = fine.interpolate_corners(chart).iter().map(narrow).collect();
        let faces = fine.faces().to_vec();
        Ok(Drawn { own, rest, faces, material, smoother: Some(smoother), marks: Vec::new() })
    }

    fn of(cloth: &Cloth, smooth: u32) -> Result<Drawn, SmoothError> {
        let mesh = &cloth.mesh;
        // A box keeps its edges.
        let smooth = if cloth.is_solid() { 1 } else { smooth };
        Drawn::new((mesh.vertices(), mesh.faces()), mesh.rest(), cloth.chart(), smooth)
    }

    /// Positions to draw, and normals if the surface is curved.
    fn surface(&self, x: &[DVec3]) -> (Vec<Vec3>, Option<Vec<Vec3>>) {
        let narrow = |p: &[DVec3]| p.iter().map(|p| p.as_vec3()).collect::<Vec<_>>();
        let Some(smoother) = &self.smoother else { return (narrow(x), None) };
        let fine = smoother.surface(x);
        (narrow(&fine.positions), Some(narrow(&fine.normals)))
    }

    /// What was found on the simulated mesh, for what is drawn: strain by face, speed by vertex.
    fn values(&self, values: Vec<f32>, colour: Shows) -> Vec<f32> {
        let Some(fine) = self.smoother.as_ref().map(Smoother::subdivision) else { return values };
        match colour {
            Shows::Material => values,
            Shows::Strain | Shows::Size | Shows::Marks => {
                (0..fine.faces().len()).map(|f| values[fine.coarse_face(f)]).collect()
            }
            Shows::Speed => {
                let wide: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
                fine.interpolate(&wide).iter().map(|v| *v as f32).collect()
            }
        }
    }
}

impl<'a> Painter<'a> {
    /// A painter of `scene`.
    pub fn new(scene: &'a Scene, built: &'a Built, start: &'a [Cloth]) -> Result<Painter<'a>, Failure> {
        let drawn = |cloth: &Cloth| {
            let refused = |e| Failure::Refused(format!("{} cannot be drawn smooth: {e}", cloth.name));
            Drawn::of(cloth, scene.render.smooth).map_err(refused)
        };
        let cloths = Rc::new(start.iter().map(drawn).collect::<Result<_, _>>()?);
        Ok(Painter { scene, built, start, cloths, later: RefCell::new(None) })
    }

    /// What is drawn of the cloths as they are in a frame.
    fn drawn(&self, frame: &CacheFrame) -> Result<Rc<Vec<Drawn>>, Failure> {
        if frame.objects.iter().all(|object| object.rest.is_empty()) {
            return Ok(self.cloths.clone());
        }
        if let Some((objects, drawn)) = &*self.later.borrow()
            && Arc::ptr_eq(objects, &frame.objects)
        {
            return Ok(drawn.clone());
        }
        let smooth = self.scene.render.smooth;
        let one = |(object, cloth): (&CacheObject, &Cloth)| {
            let refused = |e| Failure::Refused(format!("{} cannot be drawn smooth: {e}", object.name));
            match object.rest.is_empty() {
                true => Drawn::of(cloth, smooth),
                false => {
                    let faces = (object.vertex_count, &object.faces[..]);
                    let drawn = Drawn::new(faces, &object.rest, &object.chart, smooth);
                    drawn.map(|drawn| Drawn { marks: object.marks.clone(), ..drawn })
                }
            }
            .map_err(refused)
        };
        let all = frame.objects.iter().zip(self.start).map(one).collect::<Result<Vec<_>, _>>()?;
        let all = Rc::new(all);
        *self.later.borrow_mut() = Some((frame.objects.clone(), all.clone()));
        Ok(all)
    }

    /// Draws the frame at position `index` of the cache into a PNG.
    pub fn still(&self, cache: &mut Cache, index: usize, shown: &Shown, path: &Path) -> Result<(), Failure> {
        let frame = cache.read(index)?;
        // The first frame has no past: its speed is that of the step after it.
        let other = if index > 0 { Some(index - 1) } else { (cache.frames().len() > 1).then_some(1) };
        let before = other.map(|i| cache.read(i)).transpose()?;
        let camera = self.camera(&[&frame], shown);
        let image = match &shown.hierarchy {
            Some(hierarchy) => self.draw_hierarchy(&frame, hierarchy, &camera, shown)?,
            None => self.draw(&frame, before.as_ref(), &camera, shown)?,
        };
        save(path, &draw::encode_png(&image).map_err(|e| FileError::from_io(path, "encode", &e))?)
    }

    /// Draws every `every`-th frame of the cache into an animated PNG, the camera still.
    pub fn animation(
        &self,
        cache: &mut Cache,
        every: usize,
        path: &Path,
        quiet: bool,
    ) -> Result<(), Failure> {
        let [w, h] = self.scene.render.size;
        let width = w.min(ANIMATION_WIDTH);
        let size = [width, (h * width / w.max(1)).max(1)];
        let shown = Shown { size: Some(size), quality: Quality::Draft, ..Shown::default() };
        let wanted: Vec<usize> = (0..cache.frames().len()).step_by(every.max(1)).collect();
        let frames = wanted.iter().map(|i| cache.read(*i)).collect::<Result<Vec<_>, _>>()?;
        let camera = self.camera(&frames.iter().collect::<Vec<_>>(), &shown);
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(frames.len() as u64) };
        if let Ok(style) =
            ProgressStyle::with_template("animation {wide_bar} {pos}/{len} · {eta_precise} left")
        {
            bar.set_style(style);
        }
        let mut images = Vec::with_capacity(frames.len());
        for (k, frame) in frames.iter().enumerate() {
            let before = k.checked_sub(1).map(|k| &frames[k]);
            images.push(self.draw(frame, before, &camera, &shown)?);
            bar.inc(1);
        }
        bar.finish_and_clear();
        let fps = 1.0 / (self.scene.frame_time * every.max(1) as f64);
        let gif = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gif"));
        let bytes = if gif { draw::encode_gif(&images, fps) } else { draw::encode_apng(&images, fps) };
        save(path, &bytes.map_err(|e| FileError::from_io(path, "encode", &e))?)
    }

    fn size(&self, shown: &Shown) -> [u32; 2] {
        shown.size.unwrap_or(self.scene.render.size)
    }

    fn camera(&self, frames: &[&CacheFrame], shown: &Shown) -> Camera {
        let [w, h] = self.size(shown);
        let radians = |degrees: f64| degrees.to_radians() as f32;
        match self.scene.render.camera {
            CameraChoice::LookAt { eye, target, fov } => {
                Camera { eye: eye.as_vec3(), target: target.as_vec3(), up: Vec3::Y, fov: radians(fov) }
            }
            CameraChoice::Orbit { yaw, pitch, fov } => {
                let legend = self.scene.render.colour != Shows::Material;
                let framing = Framing {
                    up: draw::Up::Y,
                    aspect: w as f32 / h.max(1) as f32,
                    yaw: radians(yaw),
                    pitch: radians(pitch),
                    fov: radians(fov),
                    margins: if legend { Margins::LEGEND } else { Margins::EVEN },
                };
                let points: Vec<Vec3> =
                    frames.iter().flat_map(|f| f.positions.iter().flatten()).map(|p| p.as_vec3()).collect();
                Camera::frame_points(&points, &framing)
            }
        }
    }

    fn draw(
        &self,
        frame: &CacheFrame,
        before: Option<&CacheFrame>,
        camera: &Camera,
        shown: &Shown,
    ) -> Result<draw::Image, Failure> {
        let drawn_cloths = self.drawn(frame)?;
        let narrow = |p: &Vec<DVec3>| p.iter().map(|p| p.as_vec3()).collect::<Vec<_>>();
        let positions: Vec<Vec<Vec3>> = frame.positions.iter().map(narrow).collect();
        let colour = self.scene.render.colour;
        let cloths = drawn_cloths.iter().zip(&frame.positions);
        let shapes: Vec<(Vec<Vec3>, Option<Vec<Vec3>>)> = cloths.map(|(c, x)| c.surface(x)).collect();
        let drawn = drawn_cloths.iter().enumerate();
        let values: Vec<Vec<f32>> = drawn
            .map(|(c, cloth)| cloth.values(self.values((c, cloth), frame, before, colour), colour))
            .collect();
        let range = range_of(&values, colour);
        let mut surfaces = Vec::new();
        for (c, cloth) in drawn_cloths.iter().enumerate() {
            let field = |values, title, unit, map| Look::Field(Field { values, range, map, title, unit });
            let look = match colour {
                Shows::Material => self.look(c),
                Shows::Strain => field(Values::PerFace(&values[c]), "strain", "%", ColourMap::Diverging),
                Shows::Speed => field(Values::PerVertex(&values[c]), "speed", "m/s", ColourMap::Sequential),
                Shows::Size => field(Values::PerFace(&values[c]), "triangles", "mm", ColourMap::Sequential),
                Shows::Marks => field(Values::PerFace(&values[c]), "triangles", "", ColourMap::Kinds(&MARKS)),
            };
            let (positions, normals) = &shapes[c];
            let mut surface = draw::Surface::new(positions, &cloth.faces, look);
            surface.material = Some(&cloth.material);
            surface.normals = normals.as_deref();
            surface.wire = shown.wire.then_some(Colour::hex(0x30343a));
            surfaces.push(surface);
        }
        let grey = Colour::hex(0xb9b4ab);
        for (body, x) in self.built.bodies.iter().zip(positions.iter().skip(self.cloths.len())) {
            surfaces.push(draw::Surface::new(x, &body.collider.facets().faces, Look::Body { colour: grey }));
        }
        let bounds = positions.iter().fold(Bounds::EMPTY, |all, p| all.union(Bounds::of(p)));
        let time = frame.time.map_or(String::new(), |t| format!(" · {t:.2} s"));
        let smoothed = if self.scene.render.smooth > 1 { " · smoothed for display" } else { "" };
        let scene = draw::Scene {
            surfaces,
            ground: self.ground(&bounds),
            caption: Some(format!("{} · frame {}{time}{smoothed}", self.scene.name, frame.number)),
            ..draw::Scene::default()
        };
        let [width, height] = self.size(shown).map(|n| n as usize);
        let options = Options { width, height, quality: shown.quality, ..Options::default() };
        Ok(draw::render(&scene, camera, &options).image)
    }

    /// A level of the hierarchy of every cloth, regions or boxes in colours by their order (M03 Fig. 2).
    fn draw_hierarchy(
        &self,
        frame: &CacheFrame,
        hierarchy: &Hierarchy,
        camera: &Camera,
        shown: &Shown,
    ) -> Result<draw::Image, Failure> {
        let mut pieces: Vec<(Vec<Vec3>, Vec<[u32; 3]>)> = Vec::new();
        let mut detector = Detector::new(hierarchy.settings);
        let refuse = |e: &dyn std::fmt::Display| Failure::Refused(e.to_string());
        for (cloth, x) in self.drawn(frame)?.iter().zip(&frame.positions) {
            let faces = &cloth.own;
            let surface = Shell::new(x.len(), faces.to_vec(), Role::Cloth).map_err(|e| refuse(&e))?;
            let object = detector.add(surface, x).map_err(|e| refuse(&e))?;
            for region in detector.level(object, hierarchy.level).unwrap_or_default() {
                let (points, triangles) = match (hierarchy.boxes, region.outline) {
                    (true, Some(outline)) => (outline.positions, outline.faces),
                    (true, None) => continue,
                    (false, _) => (x.clone(), region.faces.iter().map(|f| faces[*f as usize]).collect()),
                };
                pieces.push((points.iter().map(|p| p.as_vec3()).collect(), triangles));
            }
        }
        let colours = [0xc8553d, 0x588b8b, 0xf2b134, 0x4f5d95, 0x7a9e4f, 0xd98fb0, 0x8d6a4f, 0x3aa6b9];
        let surfaces = pieces.iter().enumerate().map(|(k, (points, triangles))| {
            let colour = Colour::hex(colours[k % colours.len()]);
            let mut surface = draw::Surface::new(points, triangles, Look::Body { colour });
            surface.wire = shown.wire.then_some(Colour::hex(0x30343a));
            surface
        });
        let Hierarchy { level, settings, .. } = hierarchy;
        let what = format!("level {level} of a {}-tree of {}-DOPs", settings.arity, settings.dop.k());
        let scene = draw::Scene {
            surfaces: surfaces.collect(),
            caption: Some(format!("{} · frame {} · {what}", self.scene.name, frame.number)),
            ..draw::Scene::default()
        };
        let [width, height] = self.size(shown).map(|n| n as usize);
        let options = Options { width, height, quality: shown.quality, ..Options::default() };
        Ok(draw::render(&scene, camera, &options).image)
    }

    /// How a cloth looks, or a thing among them: things have colours by their order and keep their edges.
    fn look(&self, cloth: usize) -> Look<'static> {
        if self.start[cloth].is_solid() {
            return Look::Body { colour: Colour::hex(THINGS[cloth % THINGS.len()]) };
        }
        let [front, back] = [self.scene.render.front, self.scene.render.back]
            .map(|[r, g, b]| Colour::hex(u32::from(r) << 16 | u32::from(g) << 8 | u32::from(b)));
        let repeat = self.scene.render.repeat as f32;
        let pattern = match self.scene.render.pattern {
            Print::Plain => draw::Pattern::Plain,
            Print::Weave => draw::Pattern::Weave { spacing: repeat },
            Print::Checker => draw::Pattern::Checker { cell: repeat },
            Print::Stripes => draw::Pattern::Stripes { width: repeat },
        };
        Look::Cloth { front, back, pattern }
    }

    fn ground(&self, bounds: &Bounds) -> Option<draw::Ground> {
        let mut ground = draw::Ground::under(&self.whole().union(*bounds), draw::Up::Y);
        match self.scene.render.ground {
            Floor::None => return None,
            Floor::Below => {
                // A little below the scene's start, so that cloth never touches it by accident of the frame.
                let room = 0.08 * (bounds.max - bounds.min).length();
                ground.height -= room;
            }
            Floor::Height(h) => ground.height = h as f32,
        }
        Some(ground)
    }

    /// Box round everything at the start.
    fn whole(&self) -> Bounds {
        let cloths = self.start.iter().flat_map(|c| &c.positions);
        let bodies = self.built.bodies.iter().flat_map(|b| b.collider.positions());
        cloths.chain(bodies).fold(Bounds::EMPTY, |all, p| all.include(p.as_vec3()))
    }

    fn values(
        &self,
        (cloth, drawn): (usize, &Drawn),
        frame: &CacheFrame,
        before: Option<&CacheFrame>,
        colour: Shows,
    ) -> Vec<f32> {
        let x = &frame.positions[cloth];
        match colour {
            Shows::Material => Vec::new(),
            Shows::Strain => drawn
                .own
                .iter()
                .zip(&drawn.rest)
                .map(|(f, r)| {
                    100.0 * principal_strain(&material_weights(r), f.map(|v| x[v as usize]))[0] as f32
                })
                .collect(),
            Shows::Size => {
                let side = |[a, b, c]: &[glam::DVec2; 3]| {
                    let area = 0.5 * (*b - *a).perp_dot(*c - *a).abs();
                    1e3 * (4.0 * area / 3f64.sqrt()).sqrt() as f32
                };
                drawn.rest.iter().map(side).collect()
            }
            Shows::Marks => (0..drawn.own.len())
                .map(|f| drawn.marks.get(f).map_or(0.0, |mark| f32::from(*mark)))
                .collect(),
            Shows::Speed => {
                // Where cloth was cut or sewn since, nobody knows who was where.
                let same = |before: &&CacheFrame| Arc::ptr_eq(&before.objects, &frame.objects);
                let Some(before) = before.filter(same) else { return vec![0.0; x.len()] };
                let dt = match (frame.time, before.time) {
                    (Some(a), Some(b)) if a != b => (a - b).abs(),
                    _ => self.scene.frame_time,
                };
                x.iter()
                    .zip(&before.positions[cloth])
                    .map(|(a, b)| ((*a - *b).length() / dt) as f32)
                    .collect()
            }
        }
    }
}

/// What B14's Fig. 11 tells apart (B14-16).
static MARKS: [Kind; 3] = [
    Kind { name: "as they were", colour: Colour::hex(0xd8d4cc) },
    Kind { name: "split", colour: Colour::hex(0xc8372d) },
    Kind { name: "put back", colour: Colour::hex(0x3f9a4a) },
];

/// Symmetric about zero for strain, from zero for speed; never empty.
fn range_of(values: &[Vec<f32>], colour: Shows) -> [f32; 2] {
    let most = values.iter().flatten().filter(|v| v.is_finite()).fold(0.0f32, |m, v| m.max(v.abs()));
    // Cloth at rest shows rest, not rounding: at least 0.1 % of strain, 1 mm/s of speed.
    let most = most.max(if colour == Shows::Strain { 0.1 } else { 1e-3 });
    match colour {
        Shows::Strain => [-most, most],
        Shows::Marks => [0.0, (MARKS.len() - 1) as f32],
        _ => [0.0, most],
    }
}

/// Parts of each side of a triangle.
pub fn parse_smooth(text: &str) -> Result<u32, String> {
    let splits = text.parse().ok().filter(|n| (1..=MOST_SPLITS).contains(n));
    splits.ok_or_else(|| format!("give 1 (off) to {MOST_SPLITS}; 3 is usually enough"))
}

/// Refuses a file name whose ending promises another format.
pub fn expect_extension(path: &Path, known: &[&str]) -> Result<(), Failure> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    if known.contains(&ending.as_str()) {
        return Ok(());
    }
    let endings = known.iter().map(|e| format!(".{e}")).collect::<Vec<_>>().join(" or ");
    Err(Failure::Refused(format!("{} cannot be written; let the name end in {endings}", path.display())))
}

/// Writes a file, whole or not at all.
pub fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|e| FileError::from_io(folder, "create", &e))?;
    }
    Ok(toile_io::atomic::write_atomic(path, bytes)?)
}
