//! `toile convert`: a run in the formats other programs read.

use crate::Context;
use crate::fail::Failure;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use toile_io::cache::{Cache, CacheOptions};
use toile_io::convert::{to_obj_sequence, to_pc2};
use toile_io::run::Role;

/// Options of `toile convert`.
#[derive(Args)]
pub struct ConvertArgs {
    /// Folder of the run.
    folder: PathBuf,
    /// Format: one PC2 and its OBJ mesh per cloth, or one OBJ per frame.
    #[arg(long, value_enum)]
    to: Format,
    /// Folder to write into. Default: pc2 or obj in the run's folder.
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
    let folder = args.out.clone().unwrap_or_else(|| args.folder.join(name));
    std::fs::create_dir_all(&folder)
        .map_err(|e| toile_io::error::FileError::from_io(&folder, "create", &e))?;
    let mut files = Vec::new();
    match args.to {
        Format::Pc2 => {
            for object in 0..cache.objects.len() {
                if cache.objects[object].role != Role::Cloth {
                    continue;
                }
                let path = folder.join(format!("{}.pc2", cache.objects[object].name));
                let mesh = to_pc2(&mut cache, object, &path, axes)?;
                files.extend([path.display().to_string(), mesh.display().to_string()]);
            }
        }
        Format::Obj => {
            let count = to_obj_sequence(&mut cache, &folder, "frame", axes)?;
            files.push(format!("{} ({count} files)", folder.join("frame_######.obj").display()));
        }
    }
    if !context.quiet {
        files.iter().for_each(|file| eprintln!("wrote {file}"));
    }
    if context.json {
        println!("{}", serde_json::json!({ "status": "ok", "files": files }));
    }
    Ok(())
}
