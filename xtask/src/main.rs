//! Automation. `cargo xtask test` is the whole test suite: it installs what it needs and prints what each part took.
//!
//! * `test`: everything
//! * `tidy`: the rules of the tree alone
//! * `golden`: writes the golden fingerprints anew
//! * `pictures`: draws the pictures of the built-in scenes anew
//! * `protocol`: writes the page's copy of the studio's protocol anew
//! * `second-opinion RUN…`: judges the frames of runs by ipctk as well

mod python;
mod second_opinion;
mod suite;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let command = std::env::args().nth(1);
    let result = match command.as_deref() {
        Some("test") => suite::test(),
        Some("tidy") => tidy::check(&root()).map_err(|problems| problems.join("\n")),
        Some("golden") => suite::golden(),
        Some("pictures") => suite::pictures(),
        Some("protocol") => protocol(),
        Some("second-opinion") => second_opinion::run(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("python") => python::interpreter().map(|path| println!("{}", path.display())),
        _ => {
            Err("usage: cargo xtask test | tidy | golden | pictures | protocol | second-opinion | python"
                .into())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().map(PathBuf::from).unwrap_or_default()
}

/// Lets the test that compares both copies of the protocol write the page's.
fn protocol() -> Result<(), String> {
    let mut cargo = std::process::Command::new("cargo");
    cargo
        .args(["test", "--quiet", "--package", "toile-studio", "--test", "protocol"])
        .env("TOILE_WRITE", "1");
    let status = cargo.current_dir(root()).status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("the protocol could not be written".into()) }
}
