//! `toile studio`: live cloth in a browser.

use crate::Context;
use crate::fail::Failure;
use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use toile_io::scene::{Scene, resolve};
use toile_studio::server::{Options, Server, token_from};

/// Options of `toile studio`.
#[derive(Args)]
pub struct StudioArgs {
    /// A built-in scene, a folder with a scene.toml, or a scene file.
    #[arg(default_value = "canopy")]
    scene: String,
    /// Override a field of the scene: `--set cloth.0.fabric.density=0.3`. May be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Port to listen at; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Address to listen at. Other machines reach any but 127.0.0.1 and ::1, which needs --token-file.
    #[arg(long, default_value = "127.0.0.1")]
    host: IpAddr,
    /// A name by which browsers may call this server besides its address. May be repeated.
    #[arg(long = "name", value_name = "HOST")]
    names: Vec<String>,
    /// File with the token of the server, readable by you alone; made if it is not there.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Encrypt, with a certificate made now: browsers ask once whether to trust it. Headsets need it.
    #[arg(long)]
    tls: bool,
    /// Do not open a browser.
    #[arg(long)]
    no_open: bool,
}

/// Serves until it is interrupted.
pub fn studio(args: &StudioArgs, context: Context) -> Result<(), Failure> {
    let set: Vec<&str> = args.set.iter().map(String::as_str).collect();
    let scene = Scene::open(&resolve(&args.scene)?, &set)?;
    let mut options = Options::new(scene);
    (options.host, options.port, options.tls) = (args.host, args.port, args.tls);
    options.names.clone_from(&args.names);
    options.token = args.token_file.as_deref().map(token_from).transpose().map_err(Failure::Refused)?;
    let server = Server::start(options).map_err(Failure::Refused)?;
    let link = server.launch().map_err(Failure::Refused)?;
    if !args.host.is_loopback() && !context.quiet {
        eprintln!(
            "warning: other machines can reach this studio; whoever has its link or token can change the cloth"
        );
        if !args.tls {
            eprintln!("warning: what is sent is not encrypted; --tls does that");
        }
    }
    if context.json {
        println!("{}", serde_json::json!({ "url": link, "address": server.address().to_string() }));
    } else {
        println!("{link}");
    }
    if !context.quiet {
        eprintln!("the link lets one browser in, once; Ctrl-C ends the studio");
    }
    if !args.no_open {
        open(&link);
    }
    let (stop, stopped) = channel();
    // A second signal ends at once, should the first not be enough.
    let mut asked = false;
    let handler = move || {
        if std::mem::replace(&mut asked, true) {
            std::process::exit(130);
        }
        let _ = stop.send(());
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::Simulation(format!("no signals: {error}")))?;
    let _ = stopped.recv();
    drop(server);
    if !context.quiet {
        eprintln!("the studio is closed");
    }
    Ok(())
}

/// Opens a link in a browser, if there is one.
fn open(link: &str) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Without a browser the printed link does.
    let _ = command.spawn();
}
