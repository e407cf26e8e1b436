//! `toile lab` and `toile bench`.

use crate::Context;
use crate::fail::Failure;
use clap::Args;
use std::path::PathBuf;
use toile_lab::{Lab, Session, find};

/// Options of `toile lab` and `toile bench`.
#[derive(Args)]
pub struct LabArgs {
    /// Which one; `list` names them all.
    #[arg(default_value = "list")]
    id: String,
    /// Take the long version.
    #[arg(long)]
    full: bool,
    /// Folder for tables and plots. Default: `out/lab/<id>`.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Runs one, or lists all.
pub fn run(args: &LabArgs, table: &'static [Lab], kind: &str, context: Context) -> Result<(), Failure> {
    if args.id == "list" {
        for lab in table {
            println!("{:10} {}", lab.id, lab.title);
        }
        return Ok(());
    }
    let Some(lab) = find(table, &args.id) else {
        let known: Vec<&str> = table.iter().map(|lab| lab.id).collect();
        let message = format!("there is no {kind} `{}`; there are {}", args.id, known.join(", "));
        return Err(Failure::Refused(message));
    };
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("out").join(kind).join(lab.id));
    let failed = |error: toile_lab::LabError| Failure::Simulation(format!("{kind} {}: {error}", lab.id));
    let mut session = Session::new(lab.id, &folder, args.full).map_err(failed)?;
    if !context.quiet {
        eprintln!("{}: {}", lab.id, lab.title);
    }
    (lab.run)(&mut session).map_err(failed)?;
    let report = session.finish();
    if !context.quiet {
        eprintln!("{report}");
    }
    if context.json {
        println!("{}", report.json());
    }
    if report.pass { Ok(()) } else { Err(Failure::Verdict) }
}
