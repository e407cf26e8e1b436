//! `toile convert`: a run in the formats other programs read.

use crate::Context;
use crate::fail::Failure;
use crate::picture::parse_smooth;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use toile_io::cache::{Cache, CacheOptions};
use toile_io::convert::{SMOOTHED, to_obj_sequence, to_pc2};
use toile_io::run::Role;

/// Options of `toile convert`.
#[derive(Args)]
pub struct ConvertArgs {
    /// Folder of the run.
    folder: PathBuf,
    /// Format: one PC2 and its OBJ mesh per cloth, or one OBJ per frame.
    #[arg(long, value_enum)]
    to: Format,
    /// Write the curved surface over each cloth, every side of a triangle split into N parts: 1 (off) to 8. For display only.
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_smooth)]
    smooth: u32,
    /// Write bodies too, where they are in every frame.
    #[arg(long)]
    bodies: bool,
    /// Where cloth is cut, sewn or refined, write PC2 with the mesh of this frame, each vertex followed by its place in the
    /// pattern. Default: the mesh that it starts with.
    #[arg(long, value_name = "FRAME")]
    topology: Option<i64>,
    /// Folder to write into. Default: pc2 or obj in the run's folder; smoothed, pc2-smooth-N or obj-smooth-N.
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Pc2,
    Obj,
}

/// Converts. Files are in the scene's own unit and axes.
pub fn convert(args: &ConvertArgs, context: Context) -> Result<(), Failure> {
    let mut cache = Cache::open(&args.folder, &CacheOptions::default())?;
    let axes = cache.axes;
    let name = if args.to == Format::Pc2 { "pc2" } else { "obj" };
    let smoothed = args.smooth > 1;
    // The simulated cloth and its display copy must not end in one folder.
    let name = if smoothed { format!("{name}-smooth-{}", args.smooth) } else { name.to_string() };
    let folder = args.out.clone().unwrap_or_else(|| args.folder.join(name));
    std::fs::create_dir_all(&folder)
        .map_err(|e| toile_io::error::FileError::from_io(&folder, "create", &e))?;
    let (mut files, mut notes) = (Vec::new(), Vec::new());
    match args.to {
        Format::Pc2 => {
            for object in 0..cache.objects.len() {
                let cloth = cache.objects[object].role == Role::Cloth;
                if !(cloth || args.bodies) {
                    continue;
                }
                let smooth = if cloth { args.smooth } else { 1 };
                let path = folder.join(format!("{}.pc2", cache.objects[object].name));
                let (mesh, followed) = to_pc2(&mut cache, object, &path, axes, smooth, args.topology)?;
                if followed > 0 {
                    let name = &cache.objects[object].name;
                    notes.push(format!(
                        "{name} has another mesh in {followed} frames: there, each vertex is where its place in the pattern \
                         is; cuts do not open and holes show their rims"
                    ));
                }
                files.extend([path.display().to_string(), mesh.display().to_string()]);
            }
        }
        Format::Obj => {
            let count = to_obj_sequence(&mut cache, &folder, "frame", axes, args.smooth, args.bodies)?;
            files.push(format!("{} ({count} files)", folder.join("frame_######.obj").display()));
        }
    }
    if !context.quiet {
        files.iter().for_each(|file| eprintln!("wrote {file}"));
        notes.iter().for_each(|note| eprintln!("note: {note}"));
        if smoothed {
            eprintln!("note: {SMOOTHED}");
        }
    }
    if context.json {
        let mut line = serde_json::json!({ "status": "ok", "files": files });
        if smoothed {
            line["note"] = SMOOTHED.into();
        }
        if !notes.is_empty() {
            line["notes"] = notes.into();
        }
        println!("{line}");
    }
    Ok(())
}
