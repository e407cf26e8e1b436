//! A Python environment with what the tests compare against, made once per list of packages in the user's cache.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What the tests import.
const REQUIREMENTS: &[&str] = &["ipctk==1.6.1", "numpy<3"];

/// The interpreter of the environment, or why there is none.
pub fn interpreter() -> Result<PathBuf, String> {
    let folder = cache()?.join(format!("python-{:016x}", fingerprint(REQUIREMENTS)));
    let python = folder.join("bin").join("python");
    if folder.join("complete").exists() && python.exists() {
        return Ok(python);
    }
    println!("making a Python environment with {}", REQUIREMENTS.join(", "));
    make(&folder)?;
    let install = Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(REQUIREMENTS)
        .status();
    if !install.is_ok_and(|status| status.success()) {
        return Err(format!("pip could not install {}", REQUIREMENTS.join(", ")));
    }
    std::fs::write(folder.join("complete"), "").map_err(|e| e.to_string())?;
    Ok(python)
}

fn make(folder: &Path) -> Result<(), String> {
    let venv = || Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder).status();
    if venv().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    // Debian keeps venv in a package of its own.
    for words in
        [vec!["update", "-qq"], vec!["install", "-qq", "-y", "python3", "python3-venv", "python3-pip"]]
    {
        let _ = Command::new("apt-get").args(words).env("DEBIAN_FRONTEND", "noninteractive").status();
    }
    match venv() {
        Ok(status) if status.success() => Ok(()),
        _ => Err("python3 -m venv does not work; install it with: apt-get install python3-venv".into()),
    }
}

/// The folder for what tests install.
pub fn cache() -> Result<PathBuf, String> {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    let folder = base.ok_or("neither XDG_CACHE_HOME nor HOME is set")?.join("toile");
    std::fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    Ok(folder)
}

/// FNV-1a: enough to tell one list of packages from another.
pub fn fingerprint(words: &[&str]) -> u64 {
    words
        .join("\n")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}
