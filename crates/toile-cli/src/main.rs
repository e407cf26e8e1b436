//! The `toile` command: scenes in, moving cloth, pictures, figures and a verdict out.

mod certify;
mod check;
mod contacts;
mod convert;
mod fabric;
mod fail;
mod lab;
mod picture;
mod render;
mod repair;
mod replay;
mod run;
mod studio;
mod topology;

use clap::{CommandFactory, Parser, Subcommand};
use fail::Failure;
use std::process::ExitCode;

const AFTER: &str = "\
Exit codes: 0 success · 1 the check or experiment fails · 2 wrong usage · 3 the scene or mesh is refused
            4 a file cannot be read or written · 5 the simulation failed · 28 disk full · 130 interrupted

`toile` alone simulates the built-in scene `canopy` and leaves frames, a picture, an animation and a certificate
under ./out/.";

/// Cloth you can trust: simulate, look, measure, check.
#[derive(Parser)]
#[command(name = "toile", version, about, after_help = AFTER)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Worker threads; 0 uses every core. The result has the same bits for any number.
    #[arg(long, global = true, default_value_t = 0)]
    threads: usize,
    /// No progress and no notes; errors still appear.
    #[arg(long, short, global = true)]
    quiet: bool,
    /// End with one line of JSON on standard output.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Simulate a scene.
    Run(run::RunArgs),
    /// Go on with an interrupted run, bit for bit as if it had never stopped.
    Resume(run::ResumeArgs),
    /// Make pictures of a run.
    Render(render::RenderArgs),
    /// Judge a cache of any tool: is every frame finite, well formed and free of intersections?
    Check(check::CheckArgs),
    /// List and count the parts of cloth that are close, with any option of detection.
    Contacts(contacts::ContactsArgs),
    /// Turn a run into PC2 or an OBJ sequence.
    Convert(convert::ConvertArgs),
    /// Say what is wrong with a mesh and what a run would make of it; write it repaired.
    Repair(repair::RepairArgs),
    /// Run an experiment with its own reference; `toile lab list` names them.
    Lab(lab::LabArgs),
    /// Run a benchmark; `toile bench list` names them.
    Bench(lab::LabArgs),
    /// Open live cloth in a browser: grab it, drop things, change wind and fabric, alone or together.
    Studio(studio::StudioArgs),
    /// Make a session of the studio again and compare fingerprints.
    Replay(replay::ReplayArgs),
    /// List, show and measure fabrics.
    Fabric(fabric::FabricArgs),
    /// List the built-in scenes.
    Scenes,
    /// Print the JSON schema of scene files, for editors.
    Schema {
        /// As a page for people instead.
        #[arg(long)]
        markdown: bool,
    },
    /// Print a completion script for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

/// What every command needs to know.
#[derive(Clone, Copy)]
pub struct Context {
    /// No progress, no notes.
    pub quiet: bool,
    /// End with a line of JSON.
    pub json: bool,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let context = Context { quiet: cli.quiet, json: cli.json };
    if let Err(error) = rayon::ThreadPoolBuilder::new().num_threads(cli.threads).build_global() {
        eprintln!("cannot start {} threads: {error}", cli.threads);
        return ExitCode::from(4);
    }
    let result = match cli.command {
        None => run::showcase(context),
        Some(Command::Run(args)) => run::run(&args, context),
        Some(Command::Resume(args)) => run::resume(&args, context),
        Some(Command::Render(args)) => render::render(&args, context),
        Some(Command::Check(args)) => check::check(&args, context),
        Some(Command::Contacts(args)) => contacts::contacts(&args, context),
        Some(Command::Convert(args)) => convert::convert(&args, context),
        Some(Command::Repair(args)) => repair::repair(&args, context),
        Some(Command::Lab(args)) => lab::run(&args, toile_lab::LABS, "lab", context),
        Some(Command::Bench(args)) => lab::run(&args, toile_lab::BENCHES, "bench", context),
        Some(Command::Studio(args)) => studio::studio(&args, context),
        Some(Command::Replay(args)) => replay::replay(&args, context),
        Some(Command::Fabric(args)) => fabric::run(&args, context),
        Some(Command::Scenes) => scenes(),
        Some(Command::Schema { markdown }) => schema(markdown),
        Some(Command::Completions { shell }) => {
            clap_complete::generate(shell, &mut Cli::command(), "toile", &mut std::io::stdout());
            Ok(())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(context),
    }
}

fn scenes() -> Result<(), Failure> {
    for scene in toile_io::scene::BUILTINS {
        println!("{:10} {}", scene.name, scene.summary);
    }
    Ok(())
}

fn schema(markdown: bool) -> Result<(), Failure> {
    if markdown {
        print!("{}", toile_io::scene::scene_reference());
    } else {
        println!("{:#}", toile_io::scene::scene_schema());
    }
    Ok(())
}
