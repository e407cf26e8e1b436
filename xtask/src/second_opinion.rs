//! `cargo xtask second-opinion RUN…`: every stored frame judged by ipctk as well, after what ipctk does not see.

use crate::{python, root};
use std::path::Path;
use std::process::{Command, Stdio};

const SCRIPT: &str = include_str!("second_opinion.py");

/// Judges runs (or any cache that `toile check` reads); fails if one does not pass.
pub fn run(runs: &[String]) -> Result<(), String> {
    if runs.is_empty() {
        return Err("usage: cargo xtask second-opinion RUN…, folders of runs".into());
    }
    let python = python::interpreter()?;
    let folder = root().join("target").join("second-opinion");
    let mut failed = Vec::new();
    for run in runs {
        let answer = judge(run, &folder, &python)?;
        let clean = ["topology", "not_finite", "intersecting"]
            .iter()
            .all(|key| answer.contains(&format!("\"{key}\": []")));
        println!("{run}: {} {answer}", if clean { "PASS" } else { "FAIL" });
        if !clean {
            failed.push(run.as_str());
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("{} of {} fail: {}", failed.len(), runs.len(), failed.join(", ")))
    }
}

fn judge(run: &str, folder: &Path, python: &Path) -> Result<String, String> {
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let script = folder.join("second_opinion.py");
    std::fs::write(&script, SCRIPT).map_err(|e| format!("cannot write {}: {e}", script.display()))?;
    let mut toile = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    toile.args(["run", "--release", "--quiet", "--manifest-path"]).arg(root().join("Cargo.toml"));
    toile.args(["-p", "toile-cli", "--", "check", run, "--quiet", "--export"]).arg(folder);
    if !toile.status().is_ok_and(|status| status.success()) {
        return Err(format!("{run}: the frames could not be exported"));
    }
    let output = Command::new(python).arg(&script).arg(folder).stderr(Stdio::inherit()).output();
    let output = output.map_err(|e| format!("{}: {e}", python.display()))?;
    if !output.status.success() {
        return Err(format!("{run}: ipctk could not judge the frames"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}
