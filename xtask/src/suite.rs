//! The whole test suite, part by part.

use crate::{browser, python, root, tidy};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// What the parts found so far.
#[derive(Default)]
struct Tally {
    passed: u64,
    failed: u64,
    /// Reasons.
    skipped: Vec<String>,
    /// Name and seconds of each part.
    times: Vec<(String, f64)>,
}

impl Tally {
    fn part(&mut self, name: &str, work: impl FnOnce(&mut Tally)) {
        println!("\n── {name}");
        let start = Instant::now();
        let failed = self.failed;
        work(self);
        let seconds = start.elapsed().as_secs_f64();
        let mark = if self.failed > failed { "FAILED" } else { "ok" };
        println!("── {name}: {mark} in {seconds:.0} s");
        self.times.push((name.into(), seconds));
    }

    fn count(&mut self, good: bool) {
        if good { self.passed += 1 } else { self.failed += 1 }
    }

    fn skip(&mut self, reason: String) {
        println!("skipped: {reason}");
        self.skipped.push(reason);
    }
}

/// `cargo xtask test`.
pub fn test() -> Result<(), String> {
    let mut tally = Tally::default();
    tally.part("rules of the tree", |t| match tidy::check(&root()) {
        Ok(()) => t.count(true),
        Err(problems) => {
            problems.iter().for_each(|p| println!("{p}"));
            t.failed += problems.len() as u64;
        }
    });
    tally.part("format", |t| lint(t, &["fmt", "--all", "--check"]));
    tally.part("clippy", |t| {
        let words =
            ["clippy", "--workspace", "--all-targets", "--features", "toile/testing", "--quiet", "--"];
        lint(t, &[&words[..], &["-D", "warnings"]].concat());
    });
    let python = python::interpreter();
    tally.part("tests, debug", |t| cargo_test(t, &[], python.as_deref().ok()));
    // The same goldens and the timing-sensitive paths again as they ship. This builds the program that the rest runs.
    tally.part("tests, release", |t| {
        cargo_test(t, &["--release", "-p", "toile-cli", "-p", "toile"], python.as_deref().ok());
    });
    tally.part("studio in a browser", studio);
    tally.part("experiments", labs);
    if let Err(reason) = python {
        tally.skip(format!("comparison with ipctk: {reason}"));
    }
    close(&tally)
}

fn close(tally: &Tally) -> Result<(), String> {
    println!("\npart                            seconds");
    for (name, seconds) in &tally.times {
        println!("{name:30} {seconds:8.0}");
    }
    for reason in &tally.skipped {
        println!("skipped: {reason}");
    }
    println!("\n{} passed, {} failed, {} skipped", tally.passed, tally.failed, tally.skipped.len());
    if tally.failed == 0 { Ok(()) } else { Err("the suite fails".into()) }
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    if let Some(data) = data() {
        command.env("TOILE_DATA", data);
    }
    command
}

/// The folder of independent references, where there is one beside the project.
fn data() -> Option<std::path::PathBuf> {
    let folder = root().parent()?.join("shared").join("data");
    folder.is_dir().then_some(folder)
}

/// A cargo subcommand that may not be installed everywhere.
fn lint(tally: &mut Tally, words: &[&str]) {
    let present = cargo().args([words[0], "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !present.is_ok_and(|status| status.success()) {
        return tally.skip(format!("cargo {}: not installed", words[0]));
    }
    let good = cargo().args(words).status().is_ok_and(|status| status.success());
    tally.count(good);
}

/// Runs `cargo test` and reads its closing lines, and the words of tests that skip themselves.
fn cargo_test(tally: &mut Tally, words: &[&str], python: Option<&Path>) {
    let mut command = cargo();
    command.args(["test", "--no-fail-fast", "--features", "toile/testing"]);
    if words.is_empty() {
        command.arg("--workspace");
    }
    command.args(words).args(["--", "--show-output"]);
    if let Some(python) = python {
        command.env("TOILE_PYTHON", python);
    }
    let child = command.stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        return tally.count(false);
    };
    let failed = tally.failed;
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            read_line(tally, &line);
        }
    }
    let good = child.wait().is_ok_and(|status| status.success());
    if !good && tally.failed == failed {
        // It did not even compile.
        tally.count(false);
    }
}

fn read_line(tally: &mut Tally, line: &str) {
    let number = |word: &str| -> u64 {
        let mut parts = line.split(';').filter_map(|part| part.trim().strip_suffix(word));
        parts.next().and_then(|p| p.split_whitespace().last()?.parse().ok()).unwrap_or(0)
    };
    if line.starts_with("test result:") {
        tally.passed += number("passed");
        tally.failed += number("failed");
        for _ in 0..number("ignored") {
            tally.skip("a test marked as ignored".into());
        }
        println!("{line}");
    } else if let Some(reason) = line.strip_prefix("skipped: ") {
        tally.skip(reason.into());
    } else if line.contains("panicked")
        || line.contains("FAILED")
        || line.starts_with("error")
        || line.starts_with("figure: ")
    {
        println!("{line}");
    }
}

/// Experiments that take minutes: run by hand, results in `validation/`.
const LONG: [&str; 28] = [
    "replay",
    "v00-x2",
    "fall",
    "resolution",
    "drape",
    "v00-x1",
    "solver",
    "integrators",
    "strip-modes",
    "quasistatic",
    "ccd",
    "v00-x4",
    "m03-table1",
    "hybrid",
    "guarantee",
    "certified",
    "hard",
    "friction",
    "rest",
    "glue",
    "m03-x4",
    "m03-x5",
    "tangles",
    "b14-x4",
    "b14-x5",
    "b14-x6",
    "b14-x7",
    "adaptive",
];

/// Every experiment that is not long, on the release build.
fn labs(tally: &mut Tally) {
    let toile = root().join("target").join("release").join("toile");
    let list = Command::new(&toile).args(["lab", "list"]).output();
    let Ok(list) = list else { return tally.count(false) };
    for id in String::from_utf8_lossy(&list.stdout).lines().filter_map(|line| line.split_whitespace().next())
    {
        if LONG.contains(&id) {
            println!("{id}: minutes long, not part of this; `toile lab {id}` runs it");
            continue;
        }
        let folder = root().join("target").join("lab").join(id);
        let mut command = Command::new(&toile);
        command.args(["lab", id, "--json", "--out"]).arg(folder);
        if let Some(data) = data() {
            command.env("TOILE_DATA", data);
        }
        let good = command.stdout(Stdio::null()).status().is_ok_and(|status| status.success());
        tally.count(good);
    }
}

/// The page's types and what people do in it, on the release build.
fn studio(tally: &mut Tally) {
    match browser::test(&root()) {
        Ok(found) => {
            tally.passed += found.passed;
            tally.failed += found.failed;
            found.skipped.into_iter().for_each(|reason| tally.skip(reason));
        }
        Err(reason) => tally.skip(format!("studio in a browser: {reason}")),
    }
}

/// `cargo xtask browser`: the studio's page alone.
pub fn browser() -> Result<(), String> {
    let mut tally = Tally::default();
    let good = cargo().args(["build", "--release", "-p", "toile-cli"]).status().is_ok_and(|s| s.success());
    tally.count(good);
    tally.part("studio in a browser", studio);
    close(&tally)
}

/// `cargo xtask golden`.
pub fn golden() -> Result<(), String> {
    let mut command = cargo();
    command.args(["test", "--release", "-p", "toile-cli", "--test", "golden"]).env("TOILE_GOLDEN", "write");
    let good = command.status().is_ok_and(|status| status.success());
    if good { Ok(()) } else { Err("the goldens could not be written".into()) }
}

/// `cargo xtask pictures`: runs every built-in scene and keeps its picture beside it.
pub fn pictures() -> Result<(), String> {
    let run = |words: &[&str]| {
        let good = cargo().args(["run", "--release", "--quiet", "--"]).args(words).status();
        if good.is_ok_and(|status| status.success()) {
            Ok(())
        } else {
            Err(format!("toile {} failed", words.join(" ")))
        }
    };
    let scenes = std::fs::read_dir(root().join("scenes")).map_err(|e| e.to_string())?;
    let mut names: Vec<String> = scenes
        .flatten()
        .filter(|e| e.path().is_dir())
        .map(|e| e.file_name().to_string_lossy().into())
        .collect();
    names.sort();
    for name in names {
        let folder = root().join("target").join("pictures").join(&name).display().to_string();
        run(&["run", &name, "--quiet", "--force", "--no-picture", "--out", &folder])?;
        let frame = crate::tidy::picture_frame(&root(), &name)?;
        let out = root().join("scenes").join(&name).join("picture.png").display().to_string();
        let scene = root().join("scenes").join(&name).join("scene.toml");
        let scene = std::fs::read_to_string(scene).map_err(|e| e.to_string())?;
        // Lines show what was refined.
        let refined = scene.lines().any(|line| line.starts_with("refine"));
        let wire: &[&str] = if refined { &["--wire"] } else { &[] };
        run(&[&["render", &folder, "--frame", &frame, "--out", &out], wire].concat())?;
    }
    Ok(())
}
