//! Makes the page and a table of its files, which the server carries inside it.
//!
//! Needs Node and npm. Without them, or with `TOILE_WEB=off`, a small page of our own takes its place (`web/fallback.html`),
//! so that a build never fails for the page's sake.

use std::collections::hash_map::DefaultHasher;
use std::error::Error;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Sources of the page; nothing else of `web/` goes into it.
const SOURCES: [&str; 6] =
    [".npmrc", "index.html", "package.json", "package-lock.json", "src", "vite.config.ts"];

/// The small page, and the names it is served under.
const FALLBACK: [(&str, &str); 2] = [("index.html", "fallback.html"), ("assets/fallback.js", "fallback.js")];

fn main() {
    println!("cargo::rerun-if-env-changed=TOILE_WEB");
    let web = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("web");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    for name in SOURCES.iter().chain(FALLBACK.iter().map(|(_, file)| file)) {
        println!("cargo::rerun-if-changed={}", web.join(name).display());
    }
    let made = if env::var("TOILE_WEB").is_ok_and(|value| value == "off") {
        Err("TOILE_WEB=off".into())
    } else {
        page(&web, &out)
    };
    let (files, fallback) = match made {
        Ok(files) => (files, false),
        Err(error) => {
            println!(
                "cargo::warning=the studio gets its small page only: {}",
                error.to_string().lines().next().unwrap_or_default()
            );
            (FALLBACK.map(|(name, file)| (name.to_string(), web.join(file))).to_vec(), true)
        }
    };
    fs::write(out.join("assets.rs"), table(&files, fallback)).expect("the build's folder can be written to");
}

/// Builds the page and lists its files by name.
fn page(web: &Path, out: &Path) -> Outcome<Vec<(String, PathBuf)>> {
    // Sources are copied: a build must not write into the folder it is built from.
    let work = out.join("web");
    fs::create_dir_all(&work)?;
    for name in SOURCES {
        let to = work.join(name);
        if to.is_dir() {
            fs::remove_dir_all(&to)?;
        }
        copy(&web.join(name), &to)?;
    }
    install(&work)?;
    let dist = out.join("dist");
    if dist.exists() {
        fs::remove_dir_all(&dist)?;
    }
    let vite = work.join("node_modules").join("vite").join("bin").join("vite.js");
    run(
        Command::new("node")
            .arg(vite)
            .args(["build", "--logLevel", "error", "--emptyOutDir", "--outDir"])
            .arg(&dist),
        &work,
    )?;
    let mut files = Vec::new();
    list(&dist, "", &mut files)?;
    if !files.iter().any(|(name, _)| name == "index.html") {
        return Err("vite made no index.html".into());
    }
    files.sort();
    Ok(files)
}

/// Installs packages once for each lock file. Not `npm ci`: it refuses locks that were made where some platforms' packages are
/// missing.
fn install(work: &Path) -> Outcome<()> {
    let mut hasher = DefaultHasher::new();
    fs::read(work.join("package-lock.json"))?.hash(&mut hasher);
    fs::read(work.join("package.json"))?.hash(&mut hasher);
    let wanted = format!("{:016x}", hasher.finish());
    let mark = work.join("installed");
    if fs::read_to_string(&mark).is_ok_and(|done| done == wanted) && work.join("node_modules").is_dir() {
        return Ok(());
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let quiet = ["install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    // A machine without a network must not wait for minutes.
    let brief = ["--fetch-retries=1", "--fetch-timeout=60000"];
    run(Command::new(npm).args(quiet).args(brief), work)?;
    fs::write(mark, wanted)?;
    Ok(())
}

fn run(command: &mut Command, folder: &Path) -> Outcome<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.current_dir(folder).stdin(Stdio::null()).output().map_err(|error| {
        format!("{name} cannot be run ({error}): install Node 20.19 or newer for the full page")
    })?;
    if done.status.success() {
        return Ok(());
    }
    let text = [String::from_utf8_lossy(&done.stderr), String::from_utf8_lossy(&done.stdout)].concat();
    // npm begins with warnings about settings; what failed comes after them.
    let why = text
        .lines()
        .find(|line| !line.trim().is_empty() && !line.contains("warn"))
        .unwrap_or("it does not say why");
    Err(format!("{name} failed ({}): {why}", done.status).into())
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    if !from.is_dir() {
        fs::copy(from, to).map_err(|error| format!("{}: {error}", from.display()))?;
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

fn list(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) -> Outcome<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            list(&path, &format!("{prefix}{name}/"), files)?;
        } else {
            files.push((format!("{prefix}{name}"), path));
        }
    }
    Ok(())
}

fn table(files: &[(String, PathBuf)], fallback: bool) -> String {
    let mut text = format!("const FALLBACK: bool = {fallback};\n\nstatic FILES: &[(&str, &[u8])] = &[\n");
    for (name, path) in files {
        let _ = writeln!(text, "    ({name:?}, include_bytes!({:?})),", path.display().to_string());
    }
    text.push_str("];\n");
    text
}
