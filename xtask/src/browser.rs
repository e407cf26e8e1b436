//! The studio's page in a real browser: Debian's Chromium, driven by Node.

use crate::python::{cache, fingerprint};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the page's tests found.
#[derive(Default)]
pub struct Found {
    pub passed: u64,
    pub failed: u64,
    /// Reasons.
    pub skipped: Vec<String>,
}

/// Checks the page's types and runs its tests, or says why that cannot be done here.
pub fn test(root: &Path) -> Result<Found, String> {
    let web = root.join("crates").join("toile-studio").join("web");
    let browser = chromium()?;
    let work = packages(&web)?;
    let mut found = Found::default();
    let node = |words: &[&str]| {
        let mut command = Command::new("node");
        command.args(words).current_dir(&work).stdin(Stdio::null());
        command
    };
    let typed = node(&["node_modules/typescript/bin/tsc", "--noEmit"]).status();
    if typed.is_ok_and(|status| status.success()) {
        found.passed += 1
    } else {
        found.failed += 1
    }
    let program = root.join("target").join("release").join(format!("toile{}", std::env::consts::EXE_SUFFIX));
    let output = node(&["--test", "--test-reporter=tap", "test/"])
        .env("TOILE_BIN", program)
        .env("TOILE_CHROMIUM", browser)
        .env("TOILE_SHOTS", root.join("target").join("studio-shots"))
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("node cannot be run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    for line in text.lines().filter(|line| line.trim_start().starts_with("not ok") || line.contains("error:"))
    {
        println!("{}", line.trim());
    }
    let number = |word: &str| -> u64 {
        let line = text.lines().rev().find_map(|line| line.strip_prefix(&format!("# {word} ")));
        line.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
    };
    found.passed += number("pass");
    found.failed += number("fail") + number("cancelled");
    found.skipped.extend((0..number("skipped")).map(|_| "a test of the page".to_string()));
    if !output.status.success() && found.failed == 0 {
        found.failed += 1;
    }
    Ok(found)
}

/// A browser, installed if it is missing and may be.
fn chromium() -> Result<PathBuf, String> {
    let known =
        || ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].map(PathBuf::from);
    if let Some(path) = known().into_iter().find(|path| path.exists()) {
        return Ok(path);
    }
    println!("installing a browser");
    for words in [vec!["update", "-qq"], vec!["install", "-qq", "-y", "--no-install-recommends", "chromium"]]
    {
        let _ = Command::new("apt-get").args(words).env("DEBIAN_FRONTEND", "noninteractive").status();
    }
    let found = known().into_iter().find(|path| path.exists());
    found.ok_or_else(|| "there is no browser; install one with: apt-get install chromium".into())
}

/// The page beside the packages that its tests need, which are installed once for each list of them.
fn packages(web: &Path) -> Result<PathBuf, String> {
    let read = |name: &str| std::fs::read_to_string(web.join(name)).map_err(|e| format!("{name}: {e}"));
    let (lock, list) = (read("package-lock.json")?, read("package.json")?);
    let work = cache()?.join(format!("web-{:016x}", fingerprint(&[&lock, &list])));
    for name in ["src", "test"] {
        // What was deleted must not be tested.
        let _ = std::fs::remove_dir_all(work.join(name));
    }
    copy(web, &work).map_err(|error| format!("cannot copy the page: {error}"))?;
    if work.join("complete").exists() {
        return Ok(work);
    }
    println!("installing the page's packages");
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    let status = Command::new(npm).args(words).current_dir(&work).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err("npm could not install the page's packages; it needs Node 20 and a registry".into());
    }
    std::fs::write(work.join("complete"), "").map_err(|error| error.to_string())?;
    Ok(work)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == "node_modules" || name == "dist" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to.join(name))?;
        } else {
            std::fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}
