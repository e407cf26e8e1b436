//! `toile check`: the exact verdict on a cache of any tool.

use crate::Context;
use crate::certify::Judge;
use crate::fail::Failure;
use crate::picture::save;
use crate::run::judge_cache;
use clap::{Args, ValueEnum};
use glam::{DVec3, Vec3};
use std::path::{Path, PathBuf};
use toile::collide::certify::{ClosePair, Distance, FaceId, Finding, VertexId};
use toile_io::axes::{Axes, Units, Up};
use toile_io::cache::{Cache, CacheObject, CacheOptions, TrackPath};
use toile_io::error::FileError;
use toile_io::run::{Role, RunFolder};
use toile_render as draw;
use toile_render::{Bounds, Camera, Colour, Framing, Look, Marker, Options};

/// Options of `toile check`.
#[derive(Args)]
pub struct CheckArgs {
    /// A run's folder, a .pc2 (with --mesh), a folder or pattern of OBJ files (`cloth_####.obj`), or one OBJ.
    path: PathBuf,
    /// The OBJ mesh a .pc2 belongs to.
    #[arg(long)]
    mesh: Option<PathBuf>,
    /// A body to check against: an OBJ, or a sequence with the same frames. May be repeated.
    #[arg(long)]
    body: Vec<PathBuf>,
    /// Unit of OBJ and PC2 files.
    #[arg(long, value_enum, default_value = "m")]
    units: UnitChoice,
    /// Up axis of OBJ and PC2 files, for the picture.
    #[arg(long, value_enum, default_value = "y")]
    up: UpChoice,
    /// Only these frames: `10-20` or one number.
    #[arg(long)]
    frames: Option<String>,
    /// Judge bodies by themselves too (bodies often touch themselves at armpits and crotch).
    #[arg(long)]
    bodies: bool,
    /// Do not look for the smallest distance.
    #[arg(long)]
    no_distance: bool,
    /// Do not test whether anything changed sides between frames.
    #[arg(long)]
    no_sides: bool,
    /// Also list what may have met between frames if everything moved straight: nothing is missed, but not all of it
    /// did meet.
    #[arg(long)]
    audit: bool,
    /// Write the frames as raw f32 and their faces as JSON into this folder, for other checkers.
    #[arg(long, hide = true)]
    export: Option<PathBuf>,
    /// List the pairs of every bad frame, not only of the first.
    #[arg(long)]
    all: bool,
    /// Draw the worst place (or the closest, if all is well) into this PNG.
    #[arg(long)]
    picture: Option<PathBuf>,
}

/// Unit of a foreign cache.
#[derive(Clone, Copy, ValueEnum)]
pub enum UnitChoice {
    M,
    Cm,
    Mm,
    Inch,
}

/// Up axis of a foreign cache.
#[derive(Clone, Copy, ValueEnum)]
pub enum UpChoice {
    Y,
    Z,
}

/// Judges.
pub fn check(args: &CheckArgs, context: Context) -> Result<(), Failure> {
    if let Some(path) = &args.picture {
        crate::picture::expect_extension(path, &["png"])?;
    }
    let mut cache = open(args)?;
    for note in cache.notes.iter().filter(|_| !context.quiet) {
        eprintln!("note: {note}");
    }
    let distance = if args.no_distance { Distance::Off } else { Distance::Exact };
    let mut judge = Judge::new(cache.objects.clone(), args.bodies, distance).map_err(Failure::Refused)?;
    if args.no_sides {
        judge = judge.without_sides();
    }
    if args.audit {
        judge = judge.with_audit();
    }
    if let Ok(run) = RunFolder::open(&args.path) {
        judge = judge.of_run(&run);
    }
    let wanted = frame_filter(args.frames.as_deref())?;
    let indices: Vec<usize> = (0..cache.frames().len()).filter(|i| wanted(cache.frames()[*i])).collect();
    if indices.is_empty() {
        let held = held(cache.frames());
        return Err(Failure::Refused(format!(
            "no frame to check, the cache holds {held}; choose among these"
        )));
    }
    if let Some(folder) = &args.export {
        return export(&mut cache, &indices, folder);
    }
    judge_cache(&mut cache, indices.into_iter(), &mut judge);
    let certificate = judge.certificate().clone();
    say(&certificate, args.all, context);
    if let Some(path) = &args.picture {
        draw_worst(&mut cache, &mut judge, path)?;
        if !context.quiet {
            eprintln!("wrote {}", path.display());
        }
    }
    if context.json {
        println!("{}", serde_json::json!(certificate));
    }
    if certificate.pass { Ok(()) } else { Err(Failure::Verdict) }
}

/// Unit and up axis of a foreign cache.
pub fn axes_of(units: UnitChoice, up: UpChoice) -> Axes {
    let units = match units {
        UnitChoice::M => Units::M,
        UnitChoice::Cm => Units::Cm,
        UnitChoice::Mm => Units::Mm,
        UnitChoice::Inch => Units::Inch,
    };
    let up = match up {
        UpChoice::Y => Up::Y,
        UpChoice::Z => Up::Z,
    };
    Axes { units, up }
}

fn open(args: &CheckArgs) -> Result<Cache, FileError> {
    let axes = axes_of(args.units, args.up);
    let bodies = args.body.iter().map(|path| TrackPath { path: path.clone(), mesh: None }).collect();
    Cache::open(&args.path, &CacheOptions { mesh: args.mesh.clone(), bodies, axes })
}

/// Frames for a second opinion: `faces.json`, `faces-000123.json` from the frame on in which they are others, and a file of f32 per frame, all objects one after the other.
fn export(cache: &mut Cache, indices: &[usize], folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| FileError::from_io(folder, "create", &e))?;
    let faces = |objects: &[CacheObject]| {
        let each = objects.iter().map(|o| {
            let role = if o.role == Role::Cloth { "cloth" } else { "body" };
            serde_json::json!({ "name": o.name, "role": role, "vertices": o.vertex_count, "faces": o.faces })
        });
        serde_json::json!(each.collect::<Vec<_>>()).to_string()
    };
    let mut shown = cache.objects.clone();
    save(&folder.join("faces.json"), faces(&shown).as_bytes())?;
    for &index in indices {
        let frame = cache.read(index)?;
        if !std::sync::Arc::ptr_eq(&shown, &frame.objects) {
            shown = frame.objects.clone();
            save(&folder.join(format!("faces-{:06}.json", frame.number)), faces(&shown).as_bytes())?;
        }
        let narrow = frame.positions.iter().flatten().flat_map(|p| p.as_vec3().to_array());
        let bytes: Vec<u8> = narrow.flat_map(f32::to_le_bytes).collect();
        save(&folder.join(format!("{:06}.f32", frame.number)), &bytes)?;
    }
    Ok(())
}

/// "frames 1–20" for messages.
pub fn held(frames: &[i64]) -> String {
    match (frames.first(), frames.last()) {
        (Some(first), Some(last)) if first != last => format!("frames {first}–{last}"),
        (Some(only), _) => format!("frame {only}"),
        _ => "no frames".into(),
    }
}

/// Which frames `--frames` means.
pub fn frame_filter(text: Option<&str>) -> Result<impl Fn(i64) -> bool, Failure> {
    let range = match text {
        None => i64::MIN..=i64::MAX,
        Some(text) => {
            let parse = |part: &str| part.trim().parse::<i64>().ok();
            let both = match text.split_once('-') {
                Some((a, b)) => parse(a).zip(parse(b)),
                None => parse(text).map(|n| (n, n)),
            };
            let bad = || Failure::Refused(format!("--frames {text}: write 10-20 or one number"));
            let (a, b) = both.ok_or_else(bad)?;
            a..=b
        }
    };
    Ok(move |frame| range.contains(&frame))
}

/// Every pair of the first bad frame, a line for each other one (or all, if asked), and the verdict last, where it is
/// seen. Vertices and triangles count from 0.
fn say(certificate: &crate::certify::Certificate, all: bool, context: Context) {
    for (k, bad) in certificate.bad.iter().enumerate().filter(|_| !context.quiet) {
        println!("frame {}: {} finding{}", bad.frame, bad.count, if bad.count == 1 { "" } else { "s" });
        if k == 0 || all {
            bad.findings.iter().for_each(|finding| println!("  {finding}"));
            if bad.count > bad.findings.len() {
                println!("  and {} more", bad.count - bad.findings.len());
            }
        }
    }
    if let Some(audit) = certificate.audit.as_ref().filter(|_| !context.quiet) {
        audit.met.iter().for_each(|met| println!("may have met: {met}"));
    }
    println!("{}", certificate.headline());
}

/// Draws the neighbourhood of the worst frame's first finding, or of the closest pair if there is none.
fn draw_worst(cache: &mut Cache, judge: &mut Judge, path: &Path) -> Result<(), Failure> {
    let certificate = judge.certificate().clone();
    let number = certificate.worst_frame.or(certificate.closest_frame).unwrap_or(cache.frames()[0]);
    let index = cache.frames().binary_search(&number).unwrap_or(0);
    let frame = cache.read(index)?;
    let positions: Vec<&[DVec3]> = frame.positions.iter().map(Vec::as_slice).collect();
    judge.look_at(&frame.objects).map_err(Failure::Refused)?;
    let verdict = judge.judge(number, &positions);
    let count = verdict.findings.len() + verdict.unlisted;
    let at = |v: VertexId| place(&frame.positions, v.surface, v.vertex);
    let triangle = |f: FaceId| {
        let face = frame.objects.get(f.surface as usize).and_then(|o| o.faces.get(f.face as usize).copied());
        face.unwrap_or_default().map(|v| place(&frame.positions, f.surface, v))
    };
    let mut markers = Vec::new();
    let mut mark = |shape: draw::Shape, label: Option<String>| {
        markers.push(Marker { shape, colour: Colour::ALERT, label });
    };
    for finding in verdict.findings.iter().take(200) {
        match *finding {
            Finding::Intersection { edge, face, .. } => {
                let ends = edge.vertices.map(|v| place(&frame.positions, edge.surface, v));
                // Filled faces explain a few pairs and hide many.
                if count <= 10 {
                    mark(draw::Shape::Triangle(triangle(face)), None);
                }
                mark(draw::Shape::Segment(ends), None);
            }
            Finding::ZeroArea { face } | Finding::RepeatedIndex { face } => {
                mark(draw::Shape::Triangle(triangle(face)), None);
            }
            _ => {}
        }
    }
    if let (true, Some(closest)) = (verdict.pass(), verdict.closest) {
        let label = Some(format!("{:.3} mm", 1e3 * closest.distance));
        match closest.pair {
            ClosePair::VertexFace(v, f) => {
                mark(draw::Shape::Triangle(triangle(f)), None);
                mark(draw::Shape::Point(at(v)), label);
            }
            ClosePair::EdgeEdge(a, b) => {
                for (k, e) in [a, b].into_iter().enumerate() {
                    let ends = e.vertices.map(|v| place(&frame.positions, e.surface, v));
                    mark(draw::Shape::Segment(ends), label.clone().filter(|_| k == 0));
                }
            }
        }
    }
    let caption = match count {
        0 => format!("frame {number} · closest place"),
        1 => format!("frame {number} · 1 finding"),
        _ => format!("frame {number} · {count} findings"),
    };
    let image = close_up(&frame.objects, &frame.positions, markers, caption);
    save(path, &draw::encode_png(&image).map_err(|e| FileError::from_io(path, "encode", &e))?)
}

fn place(positions: &[Vec<DVec3>], surface: u32, vertex: u32) -> Vec3 {
    let found = positions.get(surface as usize).and_then(|x| x.get(vertex as usize));
    found.copied().unwrap_or(DVec3::NAN).as_vec3()
}

fn close_up(
    objects: &[CacheObject],
    positions: &[Vec<DVec3>],
    markers: Vec<Marker>,
    caption: String,
) -> draw::Image {
    let narrow: Vec<Vec<Vec3>> = positions.iter().map(|x| x.iter().map(|p| p.as_vec3()).collect()).collect();
    let cloth = Look::Cloth {
        front: Colour::hex(0x8fb3c9),
        back: Colour::hex(0xd9c7a8),
        pattern: draw::Pattern::Plain,
    };
    let body = Look::Body { colour: Colour::hex(0xb9b4ab) };
    let surfaces = objects.iter().zip(&narrow).map(|(object, x)| {
        let look = if object.role == Role::Cloth { cloth } else { body };
        let mut surface = draw::Surface::new(x, &object.faces, look);
        surface.wire = Some(Colour::hex(0x30343a));
        surface
    });
    let corners = |marker: &Marker| match marker.shape {
        draw::Shape::Point(p) => vec![p],
        draw::Shape::Segment(p) => p.to_vec(),
        draw::Shape::Triangle(p) => p.to_vec(),
    };
    let mut focus = Bounds::of(&markers.iter().flat_map(corners).collect::<Vec<_>>());
    if focus.is_empty() {
        focus = narrow.iter().fold(Bounds::EMPTY, |all, x| all.union(Bounds::of(x)));
    } else {
        // Room for a few faces round the place.
        let room = 0.4 * (focus.max - focus.min).length().max(1e-4);
        focus = Bounds { min: focus.min - room, max: focus.max + room };
    }
    let scene = draw::Scene {
        surfaces: surfaces.collect(),
        markers,
        caption: Some(caption),
        ..draw::Scene::default()
    };
    let framing = Framing { aspect: 4.0 / 3.0, ..Framing::default() };
    let camera = Camera::frame_action(&[focus], &framing);
    draw::render(&scene, &camera, &Options { width: 960, height: 720, ..Options::default() }).image
}
