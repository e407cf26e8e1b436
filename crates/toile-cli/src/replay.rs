//! `toile replay`: a session of the studio again.

use crate::Context;
use crate::fail::Failure;
use clap::Args;
use serde_json::json;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use toile_io::error::{FileError, FileErrorKind};

/// Options of `toile replay`.
#[derive(Args)]
pub struct ReplayArgs {
    /// A replay as the studio gives it out.
    file: PathBuf,
}

/// Makes a session again; fails if the cloth is not the same.
pub fn replay(args: &ReplayArgs, context: Context) -> Result<(), Failure> {
    let file = File::open(&args.file).map_err(|error| {
        let help = "give a file that the studio's replay button saved";
        FileError::new(FileErrorKind::Missing, &args.file, error.to_string(), help)
    })?;
    let folder = args.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let replayed =
        toile_studio::recording::replay(BufReader::new(file), Some(folder)).map_err(Failure::Refused)?;
    let agrees = replayed.agrees();
    if !context.quiet {
        let verdict = if agrees { "the same cloth, bit for bit" } else { "NOT the same cloth" };
        eprintln!("{} frames, {} changes: {verdict}", replayed.ticks, replayed.edits);
        if !agrees {
            eprintln!("the replay has {} (toile {})", replayed.logged, replayed.version);
        }
    }
    if context.json {
        let line = json!({
            "agrees": agrees, "fingerprint": replayed.fingerprint, "logged": replayed.logged,
            "ticks": replayed.ticks, "edits": replayed.edits, "version": replayed.version,
        });
        println!("{line}");
    } else {
        println!("{}", replayed.fingerprint);
    }
    if agrees { Ok(()) } else { Err(Failure::Verdict) }
}
