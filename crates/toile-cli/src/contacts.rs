//! `toile contacts`: which parts of cloth are close, found with any option of detection.

use crate::Context;
use crate::check::{UnitChoice, UpChoice, axes_of, frame_filter, held};
use crate::fail::Failure;
use clap::{Args, ValueEnum};
use glam::DVec3;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toile::collide::{Contact, Counters, Detector, Kind, Motion, Query, Report, Role, Settings, Shell};
use toile_io::axes::Axes;
use toile_io::build::build;
use toile_io::cache::{Cache, CacheFrame, CacheOptions, TrackPath};
use toile_io::detect::{dop, question};
use toile_io::run::{self, RunFolder};
use toile_io::scene::schema::{ConeMerge, Curvature, Detect, Features, Inflation, Search, Tracking};
use toile_io::scene::{BUILTINS, Scene, resolve};

/// Options of `toile contacts`. Those of detection start from the `[detect]` table of the scene or run.
#[derive(Args)]
pub struct ContactsArgs {
    /// A run's folder, a scene (as it starts), a .pc2 (with --mesh), a folder or pattern of OBJ files, or one OBJ.
    path: String,
    /// Frame to look at. Default: the last.
    #[arg(long, conflicts_with = "frames")]
    frame: Option<i64>,
    /// Frames to look at in order: `10-20`, or `all`.
    #[arg(long)]
    frames: Option<String>,
    /// What counts as close: `1mm`, `0.5cm`, or metres.
    #[arg(long, default_value = "1mm", value_parser = parse_length)]
    distance: f64,
    /// Pairs to list of each frame, the closest first; all are counted.
    #[arg(long, default_value_t = 20)]
    list: usize,
    /// When a pair must be close: at the frame itself (start), at the next (end), at either (ends), or perhaps at any
    /// time between, by its boxes. For all but start, boxes are swept unless inflation says otherwise.
    #[arg(long, value_enum, default_value = "start")]
    report: When,
    /// The OBJ mesh a .pc2 belongs to.
    #[arg(long)]
    mesh: Option<PathBuf>,
    /// A body: an OBJ, or a sequence with the same frames. May be repeated.
    #[arg(long)]
    body: Vec<PathBuf>,
    /// Unit of OBJ and PC2 files.
    #[arg(long, value_enum, default_value = "m")]
    units: UnitChoice,
    /// Up axis of OBJ and PC2 files.
    #[arg(long, value_enum, default_value = "y")]
    up: UpChoice,
    #[command(flatten)]
    detect: DetectArgs,
}

/// `[detect]` from the command line.
#[derive(Args)]
struct DetectArgs {
    /// What is walked: patches or trees.
    #[arg(long, value_parser = choice::<Search>)]
    search: Option<Search>,
    /// Faces of the boxes in trees: 6, 8, 12, 14, 18 or 26.
    #[arg(long, value_name = "K", value_parser = parse_kdop)]
    kdop: Option<u32>,
    /// Children of each node in trees: 2, 4 or 8.
    #[arg(long, value_name = "N", value_parser = parse_tree)]
    tree: Option<u32>,
    /// How boxes are made larger for motion: still, isotropic, oriented, oriented-as-printed (lossy) or swept.
    #[arg(long, value_parser = choice::<Inflation>)]
    inflation: Option<Inflation>,
    /// Which features are compared: all, vertices-only or virtual.
    #[arg(long, value_parser = choice::<Features>)]
    features: Option<Features>,
    /// How flat parts are recognised and left out: off, cones or exact.
    #[arg(long, value_parser = choice::<Curvature>)]
    curvature: Option<Curvature>,
    /// How cones of normals are merged: tight or provot.
    #[arg(long, value_parser = choice::<ConeMerge>)]
    cone_merge: Option<ConeMerge>,
    /// How far vertices may go before their boxes are made anew: `1mm`, or metres.
    #[arg(long, value_parser = parse_length)]
    lazy: Option<f64>,
    /// What is made of the frame before: off, separations or coherent.
    #[arg(long, value_parser = choice::<Tracking>)]
    tracking: Option<Tracking>,
    /// "coherent": relative motion after which a pair of nodes is looked at again: `1mm`, or metres.
    #[arg(long, value_parser = parse_length)]
    margin: Option<f64>,
    /// "separations" and "coherent": frames after which everything is looked at again.
    #[arg(long)]
    restart: Option<u32>,
}

#[derive(Clone, Copy, ValueEnum)]
enum When {
    Start,
    End,
    Ends,
    Boxes,
}

/// A choice of the scene file by its name there.
fn choice<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(Value::from(text)).map_err(|e| e.to_string())
}

fn parse_kdop(text: &str) -> Result<u32, String> {
    let k = text.parse().ok().filter(|k| dop(*k).is_some());
    k.ok_or_else(|| "give 6, 8, 12, 14, 18 or 26".to_string())
}

fn parse_tree(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|n| matches!(n, 2 | 4 | 8)).ok_or_else(|| "give 2, 4 or 8".to_string())
}

/// A length with its unit, or in metres [m].
fn parse_length(text: &str) -> Result<f64, String> {
    let units = [("mm", 1e-3), ("cm", 1e-2), ("inch", 0.0254), ("um", 1e-6), ("µm", 1e-6), ("m", 1.0)];
    let with = units.iter().find_map(|(unit, metres)| Some((text.strip_suffix(unit)?, *metres)));
    let (number, metres) = with.unwrap_or((text, 1.0));
    let value = number.trim().parse::<f64>().ok().filter(|x| *x >= 0.0 && x.is_finite());
    value.map(|x| x * metres).ok_or_else(|| "write a length such as 1mm, 0.5cm or 0.001 (metres)".to_string())
}

/// What is looked at.
struct Subject {
    /// Name, role and faces of each object.
    objects: Vec<(String, Role, Vec<[u32; 3]>)>,
    /// Which objects of a frame these are: bodies that cloth does not meet are left out.
    places: Vec<usize>,
    frames: Frames,
    detect: Detect,
    /// Unit of the lengths of `detect`.
    axes: Axes,
    /// Time between frames, where they do not say theirs [s].
    frame_time: f64,
}

enum Frames {
    Stored(Box<Cache>),
    Start(CacheFrame),
}

impl Subject {
    fn open(args: &ContactsArgs) -> Result<Subject, Failure> {
        let path = Path::new(&args.path);
        let is_run = RunFolder::is_run(path);
        let is_scene = BUILTINS.iter().any(|b| b.name == args.path)
            || path.join("scene.toml").is_file()
            || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        if is_scene && !is_run {
            return Subject::scene(&Scene::open(&resolve(&args.path)?, &[])?);
        }
        let bodies = args.body.iter().map(|path| TrackPath { path: path.clone(), mesh: None }).collect();
        let axes = axes_of(args.units, args.up);
        let cache = Cache::open(path, &CacheOptions { mesh: args.mesh.clone(), bodies, axes })?;
        let scene = if is_run { Some(RunFolder::open(path)?.scene()?) } else { None };
        let hidden = |name: &str| {
            scene.as_ref().is_some_and(|s| s.bodies.iter().any(|b| b.name == name && !b.collide))
        };
        let places: Vec<usize> =
            (0..cache.objects.len()).filter(|k| !hidden(&cache.objects[*k].name)).collect();
        let object = |k: &usize| {
            let object = &cache.objects[*k];
            let role = if object.role == run::Role::Cloth { Role::Cloth } else { Role::Body };
            (object.name.clone(), role, object.faces.clone())
        };
        Ok(Subject {
            objects: places.iter().map(object).collect(),
            places,
            detect: scene.as_ref().map(|s| s.detect.clone()).unwrap_or_default(),
            axes: scene.as_ref().map_or(Axes::SI, |s| s.axes),
            frame_time: scene.as_ref().map_or(1.0 / 60.0, |s| s.frame_time),
            frames: Frames::Stored(Box::new(cache)),
        })
    }

    /// A scene as it starts.
    fn scene(scene: &Scene) -> Result<Subject, Failure> {
        let built = build(scene)?;
        let mut objects = Vec::new();
        let mut positions = Vec::new();
        for (k, cloth) in built.world.cloths().iter().enumerate() {
            objects.push((cloth.name.clone(), Role::Cloth, cloth.mesh.faces().to_vec()));
            positions.push(built.world.positions(k));
        }
        for body in built.world.bodies() {
            objects.push((body.name.clone(), Role::Body, body.collider.facets().faces.clone()));
            positions.push(body.collider.positions().to_vec());
        }
        let number = i64::from(scene.frames.first);
        let frame = CacheFrame { number, time: Some(0.0), positions, objects: Default::default() };
        Ok(Subject {
            places: (0..objects.len()).collect(),
            objects,
            detect: scene.detect.clone(),
            axes: scene.axes,
            frame_time: scene.frame_time,
            frames: Frames::Start(frame),
        })
    }

    fn numbers(&self) -> Vec<i64> {
        match &self.frames {
            Frames::Stored(cache) => cache.frames().to_vec(),
            Frames::Start(frame) => vec![frame.number],
        }
    }

    fn read(&mut self, index: usize) -> Result<CacheFrame, Failure> {
        let mut frame = match &mut self.frames {
            Frames::Stored(cache) => cache.read(index)?,
            Frames::Start(frame) => frame.clone(),
        };
        frame.positions = self.places.iter().map(|k| std::mem::take(&mut frame.positions[*k])).collect();
        Ok(frame)
    }
}

/// The scene's options with those of the command line on top, lengths in metres.
fn options(base: &Detect, axes: Axes, args: &DetectArgs) -> Detect {
    let metres = |x: f64| axes.length_in(x);
    Detect {
        search: args.search.unwrap_or(base.search),
        kdop: args.kdop.unwrap_or(base.kdop),
        tree: args.tree.unwrap_or(base.tree),
        inflation: args.inflation.unwrap_or(base.inflation),
        features: args.features.unwrap_or(base.features),
        curvature: args.curvature.unwrap_or(base.curvature),
        cone_merge: args.cone_merge.unwrap_or(base.cone_merge),
        lazy: args.lazy.unwrap_or(metres(base.lazy)),
        tracking: args.tracking.unwrap_or(base.tracking),
        margin: args.margin.or(base.margin.map(metres)),
        restart: args.restart.unwrap_or(base.restart),
        ..base.clone()
    }
}

/// Lists and counts.
pub fn contacts(args: &ContactsArgs, context: Context) -> Result<(), Failure> {
    let mut subject = Subject::open(args)?;
    let numbers = subject.numbers();
    let indices = wanted(args, &numbers)?;
    let mut detect = options(&subject.detect, subject.axes, &args.detect);
    // Boxes that do not move find nothing that comes later.
    if !matches!(args.report, When::Start) && detect.inflation == Inflation::Still {
        detect.inflation = Inflation::Swept;
    }
    let (settings, query) = question(&detect, Axes::SI, args.distance, subject.frame_time);
    let report = match args.report {
        When::Start => Report::Start,
        When::End => Report::End,
        When::Ends => Report::Ends,
        When::Boxes => Report::Boxes,
    };
    let query = Query { report, ..query };
    let mut search = Searcher::new(settings, query);
    let mut frames = Vec::new();
    for index in indices {
        let frame = subject.read(index)?;
        let next = if index + 1 < numbers.len() { Some(subject.read(index + 1)?) } else { None };
        let found = search.look(&subject, &frame, next.as_ref())?;
        if !context.json {
            found.say(&subject, args, context);
        }
        frames.push(found.json(&subject, args));
    }
    if query.inflation.is_lossy() && !context.quiet {
        eprintln!("note: oriented-as-printed misses pairs; oriented does not");
    }
    if context.json {
        let line = json!({
            "status": "ok", "distance": args.distance, "detect": detect, "lossy": query.inflation.is_lossy(),
            "frames": frames,
        });
        println!("{line}");
    }
    Ok(())
}

/// Positions of the frames asked for.
fn wanted(args: &ContactsArgs, numbers: &[i64]) -> Result<Vec<usize>, Failure> {
    let indices: Vec<usize> = match (args.frame, args.frames.as_deref()) {
        (Some(frame), _) => numbers.iter().position(|n| *n == frame).into_iter().collect(),
        (None, None) => numbers.len().checked_sub(1).into_iter().collect(),
        (None, Some("all")) => (0..numbers.len()).collect(),
        (None, range) => {
            let within = frame_filter(range)?;
            (0..numbers.len()).filter(|i| within(numbers[*i])).collect()
        }
    };
    if indices.is_empty() {
        let message = format!("no frame to look at, there are {}; choose among these", held(numbers));
        return Err(Failure::Refused(message));
    }
    Ok(indices)
}

/// A detector that goes through frames.
struct Searcher {
    detector: Detector,
    query: Query,
    added: bool,
    contacts: Vec<Contact>,
}

/// What one frame holds.
struct Found {
    frame: i64,
    contacts: Vec<Contact>,
    counters: Counters,
}

impl Searcher {
    fn new(settings: Settings, query: Query) -> Searcher {
        Searcher { detector: Detector::new(settings), query, added: false, contacts: Vec::new() }
    }

    fn look(
        &mut self,
        subject: &Subject,
        frame: &CacheFrame,
        next: Option<&CacheFrame>,
    ) -> Result<Found, Failure> {
        let refuse = |e: &dyn std::fmt::Display| Failure::Refused(format!("frame {}: {e}", frame.number));
        if !self.added {
            for ((name, role, faces), x) in subject.objects.iter().zip(&frame.positions) {
                let surface = Shell::new(x.len(), faces.clone(), *role)
                    .map_err(|e| Failure::Refused(format!("{name}: {e}")))?;
                self.detector.add(surface, x).map_err(|e| refuse(&e))?;
            }
            self.added = true;
        }
        let objects = subject.objects.iter().map(|(_, _, faces)| faces);
        let mut highest = objects.map(|faces| faces.as_flattened().iter().max().map_or(0, |v| *v as usize));
        if frame.positions.iter().any(|x| highest.next().is_some_and(|v| v >= x.len())) {
            return Err(refuse(&"cloth has another mesh than at the start; look at frames before that"));
        }
        if let Some(bad) = frame.positions.iter().position(|x| x.iter().any(|p| !p.is_finite())) {
            return Err(refuse(&format!("{} has positions that are not finite", subject.objects[bad].0)));
        }
        let time = |frame: &CacheFrame| frame.time;
        let dt = next.and_then(|next| Some(time(next)? - time(frame)?)).filter(|dt| *dt > 0.0);
        self.query.dt = dt.unwrap_or(subject.frame_time);
        // The way to the next frame; a frame alone stands still.
        let still =
            self.query.report == Report::Start && self.query.inflation == toile::collide::Inflation::Still;
        let velocities: Vec<Option<Vec<DVec3>>> = (0..frame.positions.len())
            .map(|k| {
                let (now, then) = (&frame.positions[k], &next.filter(|_| !still)?.positions[k]);
                Some(now.iter().zip(then).map(|(a, b)| (*b - *a) / self.query.dt).collect())
            })
            .collect();
        let motions: Vec<Motion<'_>> = frame
            .positions
            .iter()
            .zip(&velocities)
            .map(|(x, v)| Motion { x, v: v.as_deref(), reach: None, way: None })
            .collect();
        let counters =
            self.detector.detect(&motions, &self.query, &mut self.contacts).map_err(|e| refuse(&e))?;
        Ok(Found { frame: frame.number, contacts: self.contacts.clone(), counters })
    }
}

impl Found {
    /// The closest first; pairs as close as each other by object and feature.
    fn listed(&self, args: &ContactsArgs) -> Vec<&Contact> {
        let mut all: Vec<&Contact> = self.contacts.iter().collect();
        all.sort_by(|a, b| a.distance.total_cmp(&b.distance).then_with(|| a.key().cmp(&b.key())));
        all.truncate(args.list);
        all
    }

    fn count(&self, kind: Kind) -> usize {
        self.contacts.iter().filter(|c| c.kind == kind).count()
    }

    /// Number of pairs and least distance [m] of each two objects.
    fn by_objects(&self) -> BTreeMap<[u32; 2], (usize, f64)> {
        let mut all = BTreeMap::new();
        for contact in &self.contacts {
            let mut pair = contact.objects;
            pair.sort_unstable();
            let (count, least) = all.entry(pair).or_insert((0, f64::INFINITY));
            *count += 1;
            *least = f64::min(*least, contact.distance);
        }
        all
    }

    fn say(&self, subject: &Subject, args: &ContactsArgs, context: Context) {
        let name = |object: u32| &subject.objects[object as usize].0;
        let kinds = [
            (Kind::VertexFace, "vertex–face"),
            (Kind::EdgeEdge, "edge–edge"),
            (Kind::SampleFace, "virtual particle–face"),
        ];
        let parts: Vec<String> = kinds
            .iter()
            .filter(|(kind, _)| self.count(*kind) > 0)
            .map(|(kind, what)| format!("{} {what}", self.count(*kind)))
            .collect();
        let kinds = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
        let pairs = if self.contacts.len() == 1 { "pair" } else { "pairs" };
        println!(
            "frame {}: {} {pairs} within {} mm{kinds}",
            self.frame,
            self.contacts.len(),
            1e3 * args.distance
        );
        for ([a, b], (count, least)) in self.by_objects() {
            let who = if a == b {
                format!("{} with itself", name(a))
            } else {
                format!("{} with {}", name(a), name(b))
            };
            println!("  {who}: {count}, closest {:.4} mm", 1e3 * least);
        }
        if context.quiet {
            return;
        }
        for contact in self.listed(args) {
            let [a, b] = [0, 1].map(|side| feature(subject, contact, side));
            println!("    {:.4} mm  {a} – {b}", 1e3 * contact.distance);
        }
        let more = self.contacts.len().saturating_sub(args.list);
        if more > 0 {
            println!("    and {more} more; --list {} shows all", self.contacts.len());
        }
        let c = &self.counters;
        println!(
            "  {} box tests, {} pairs of faces, {} feature tests, {} closest points",
            c.box_tests, c.face_pairs, c.feature_tests, c.narrow_calls
        );
    }

    fn json(&self, subject: &Subject, args: &ContactsArgs) -> Value {
        let name = |object: u32| subject.objects[object as usize].0.as_str();
        let objects: Vec<Value> = self
            .by_objects()
            .into_iter()
            .map(|([a, b], (count, least))| json!({ "between": [name(a), name(b)], "count": count, "closest": least }))
            .collect();
        let contact = |c: &&Contact| {
            json!({
                "kind": kind_name(c.kind), "objects": c.objects.map(name), "features": c.features,
                "weights": c.weights, "distance": c.distance,
            })
        };
        let c = &self.counters;
        json!({
            "frame": self.frame, "count": self.contacts.len(), "vertex_face": self.count(Kind::VertexFace),
            "edge_edge": self.count(Kind::EdgeEdge), "virtual_face": self.count(Kind::SampleFace),
            "objects": objects, "contacts": self.listed(args).iter().map(contact).collect::<Vec<_>>(),
            "counters": {
                "nodes": c.nodes, "refitted": c.refitted, "box_tests": c.box_tests, "cone_tests": c.cone_tests,
                "leaf_pairs": c.leaf_pairs, "face_pairs": c.face_pairs, "feature_tests": c.feature_tests,
                "candidates": c.candidates, "narrow_calls": c.narrow_calls, "recalled": c.recalled, "depth": c.depth,
            },
        })
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::VertexFace => "vertex-face",
        Kind::EdgeEdge => "edge-edge",
        Kind::SampleFace => "virtual-face",
    }
}

/// One side of a pair in words; vertices and faces count from 0.
fn feature(subject: &Subject, contact: &Contact, side: usize) -> String {
    let name = &subject.objects[contact.objects[side] as usize].0;
    match (contact.kind, side) {
        (Kind::EdgeEdge, _) => {
            let [a, b] = [contact.vertices[2 * side], contact.vertices[2 * side + 1]];
            format!("{name} edge {a}–{b}")
        }
        (Kind::VertexFace, 0) => format!("{name} vertex {}", contact.features[0]),
        (Kind::SampleFace, 0) => format!("{name} virtual particle {}", contact.features[0]),
        _ => format!("{name} face {}", contact.features[1]),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_length;

    #[test]
    fn lengths_have_units() {
        for (text, metres) in [("1mm", 1e-3), ("0.5 cm", 5e-3), ("2m", 2.0), ("0.001", 1e-3), ("50um", 5e-5)]
        {
            assert!((parse_length(text).expect("length") - metres).abs() < 1e-12, "{text}");
        }
        for text in ["", "mm", "-1mm", "1km", "nan"] {
            assert!(parse_length(text).is_err(), "{text}");
        }
    }
}
