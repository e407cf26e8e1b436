//! `toile render`: pictures of a run that is on disk.

use crate::Context;
use crate::check::held;
use crate::fail::Failure;
use crate::picture::{Hierarchy, Painter, Shown, expect_extension, parse_smooth};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use toile::collide::{Dop, Search, Settings};
use toile_io::build::build;
use toile_io::cache::{Cache, CacheOptions};
use toile_io::convert::SMOOTHED;
use toile_io::error::{FileError, FileErrorKind};
use toile_io::run::RunFolder;
use toile_io::scene::schema;
use toile_render::Quality;

/// Options of `toile render`.
#[derive(Args)]
pub struct RenderArgs {
    /// Folder of the run.
    folder: PathBuf,
    /// Frame to draw. Default: the last.
    #[arg(long, conflicts_with = "animate")]
    frame: Option<i64>,
    /// Quantity in colours.
    #[arg(long, value_enum)]
    colour: Option<Quantity>,
    /// Picture size, as WIDTHxHEIGHT.
    #[arg(long, value_parser = parse_size)]
    size: Option<[u32; 2]>,
    /// Effort per pixel.
    #[arg(long, value_enum, default_value = "standard")]
    quality: Effort,
    /// Draw mesh lines.
    #[arg(long)]
    wire: bool,
    /// Draw cloth as curved triangles, every side split into N parts: 1 (off) to 8. For display only. Default: as the scene says.
    #[arg(long, value_name = "N", value_parser = parse_smooth, conflicts_with = "hierarchy")]
    smooth: Option<u32>,
    /// Draw a level of the hierarchy of collision detection in place of the cloth, each region in a colour of its own;
    /// level 0 is the whole.
    #[arg(long, value_name = "LEVEL", conflicts_with_all = ["animate", "colour"])]
    hierarchy: Option<u32>,
    /// Draw the boxes of the hierarchy instead of its regions.
    #[arg(long, requires = "hierarchy")]
    boxes: bool,
    /// Faces of the boxes: 6, 8, 12, 14, 18 or 26.
    #[arg(long, value_name = "K", requires = "hierarchy", default_value = "18", value_parser = parse_dop)]
    dop: Dop,
    /// Children of each node: 2, 4 or 8.
    #[arg(long, requires = "hierarchy", default_value = "4", value_parser = parse_arity)]
    arity: usize,
    /// Make an animation of all frames instead (.png is animated PNG, .gif is GIF).
    #[arg(long)]
    animate: bool,
    /// The animation shows every n-th frame. Default: as the scene says.
    #[arg(long, requires = "animate")]
    every: Option<usize>,
    /// File to write. Default: picture.png or animation.png in the run's folder, with frame and quantity in the name
    /// if they were chosen.
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Quantity {
    Material,
    Strain,
    Speed,
    Size,
    Marks,
}

#[derive(Clone, Copy, ValueEnum)]
enum Effort {
    Draft,
    Standard,
    Fine,
}

fn parse_dop(text: &str) -> Result<Dop, String> {
    let found = Dop::ALL.into_iter().find(|dop| text.parse() == Ok(dop.k()));
    found.ok_or_else(|| "give 6, 8, 12, 14, 18 or 26".to_string())
}

fn parse_arity(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| matches!(n, 2 | 4 | 8)).ok_or_else(|| "give 2, 4 or 8".to_string())
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let parse = |part: &str| part.parse::<u32>().ok().filter(|n| (1..=16_384).contains(n));
    let (w, h) = text.split_once('x').ok_or("write it as 1280x720")?;
    parse(w).zip(parse(h)).map(|(w, h)| [w, h]).ok_or_else(|| "both must lie between 1 and 16384".to_string())
}

/// A name that does not write over the run's own picture.
fn default_name(args: &RenderArgs) -> String {
    let mut name = String::from(if args.animate { "animation" } else { "picture" });
    if let Some(frame) = args.frame {
        name += &format!("-{frame:06}");
    }
    if let Some(level) = args.hierarchy {
        name += &format!("-level-{level}");
    }
    if let Some(splits) = args.smooth {
        name += &format!("-smooth-{splits}");
    }
    name += match args.colour {
        Some(Quantity::Strain) => "-strain",
        Some(Quantity::Speed) => "-speed",
        Some(Quantity::Size) => "-size",
        Some(Quantity::Marks) => "-marks",
        Some(Quantity::Material) | None => "",
    };
    name + ".png"
}

/// Draws.
pub fn render(args: &RenderArgs, context: Context) -> Result<(), Failure> {
    let run = RunFolder::open(&args.folder)?;
    let mut scene = run.scene()?;
    if let Some(quantity) = args.colour {
        scene.render.colour = match quantity {
            Quantity::Material => schema::Colour::Material,
            Quantity::Strain => schema::Colour::Strain,
            Quantity::Speed => schema::Colour::Speed,
            Quantity::Size => schema::Colour::Size,
            Quantity::Marks => schema::Colour::Marks,
        };
    }
    scene.render.smooth = args.smooth.unwrap_or(scene.render.smooth);
    let smoothed = scene.render.smooth > 1 && args.hierarchy.is_none();
    let built = build(&scene)?;
    let mut cache = Cache::open(&args.folder, &CacheOptions::default())?;
    let painter = Painter::new(&scene, &built, built.world.cloths())?;
    let out = args.out.clone().unwrap_or_else(|| args.folder.join(default_name(args)));
    expect_extension(&out, if args.animate { &["png", "gif"] } else { &["png"] })?;
    if args.animate {
        let every = args.every.unwrap_or(scene.render.every as usize);
        painter.animation(&mut cache, every, &out, context.quiet)?;
    } else {
        let index = match args.frame {
            None => cache.frames().len() - 1,
            Some(frame) => cache.frames().binary_search(&frame).map_err(|_| {
                let message = format!("frame {frame} is not there; the run holds {}", held(cache.frames()));
                FileError::new(FileErrorKind::Missing, &args.folder, message, "give one of these")
            })?,
        };
        let quality = match args.quality {
            Effort::Draft => Quality::Draft,
            Effort::Standard => Quality::Standard,
            Effort::Fine => Quality::Fine,
        };
        let hierarchy = args.hierarchy.map(|level| Hierarchy {
            level,
            boxes: args.boxes,
            settings: Settings { dop: args.dop, arity: args.arity, search: Search::Trees },
        });
        let shown = Shown { size: args.size, quality, wire: args.wire, hierarchy };
        painter.still(&mut cache, index, &shown, &out)?;
    }
    if !context.quiet {
        eprintln!("wrote {}", out.display());
        if smoothed {
            eprintln!("note: {SMOOTHED}");
        }
    }
    if context.json {
        let mut line = serde_json::json!({ "status": "ok", "files": [out.display().to_string()] });
        if smoothed {
            line["note"] = SMOOTHED.into();
        }
        println!("{line}");
    }
    Ok(())
}
