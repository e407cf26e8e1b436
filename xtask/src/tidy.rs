//! Rules of the tree that no compiler checks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What each module of the engine may use of the others. Folders are the pipeline; nothing looks upwards.
const LAYERS: &[(&str, &[&str])] = &[
    ("math", &[]),
    ("probe", &[]),
    ("mesh", &["math"]),
    ("drive", &["math"]),
    ("freedom", &["math"]),
    ("state", &["math", "interaction"]),
    ("interaction", &["math"]),
    ("collide", &["math", "mesh", "drive"]),
    ("forces", &["math", "mesh", "drive", "interaction"]),
    ("rigid", &["math", "mesh", "forces"]),
    ("solve", &["math", "state", "freedom", "interaction", "probe"]),
    ("contact", &["math", "mesh", "rigid", "collide", "freedom", "interaction", "probe", "solve", "state"]),
    ("error", &["math", "forces"]),
    (
        "model",
        &[
            "math",
            "rigid",
            "collide",
            "contact",
            "drive",
            "forces",
            "freedom",
            "interaction",
            "solve",
            "state",
        ],
    ),
    ("step", &["math", "contact", "freedom", "interaction", "model", "probe", "solve", "state"]),
    ("account", &["math", "interaction", "solve", "step"]),
    ("grouping", &["math", "freedom", "interaction", "state", "step"]),
    (
        "setup",
        &[
            "collide",
            "contact",
            "math",
            "mesh",
            "drive",
            "error",
            "forces",
            "freedom",
            "interaction",
            "model",
            "rigid",
            "solve",
            "state",
            "step",
        ],
    ),
    (
        "world",
        &[
            "account",
            "collide",
            "contact",
            "drive",
            "grouping",
            "math",
            "mesh",
            "error",
            "forces",
            "freedom",
            "interaction",
            "model",
            "probe",
            "setup",
            "solve",
            "state",
            "step",
        ],
    ),
    ("testing", &["math", "mesh", "drive", "collide", "contact", "forces", "interaction", "solve"]),
];

/// What each crate may depend on of the others.
const CRATES: &[(&str, &[&str])] = &[
    ("toile", &[]),
    ("toile-render", &[]),
    ("toile-io", &["toile"]),
    ("toile-studio", &["toile", "toile-io"]),
    ("toile-lab", &["toile", "toile-io", "toile-render", "toile-studio"]),
    ("toile-cli", &["toile", "toile-io", "toile-lab", "toile-render", "toile-studio"]),
];

/// Lines past which a file stops being read.
const LONGEST: usize = 800;

/// Words that speak of work instead of cloth, spelled so that this file does not contain them.
const PROCESS_WORDS: &[[&str; 2]] = &[["TO", "DO"], ["FIX", "ME"], ["XX", "X:"], ["phase ", "2"]];

/// Everything that breaks a rule.
pub fn check(root: &Path) -> Result<(), Vec<String>> {
    let mut problems = Vec::new();
    layers(root, &mut problems);
    crates(root, &mut problems);
    architecture(root, &mut problems);
    paper_keys(root, &mut problems);
    paper_pages(root, &mut problems);
    texts(root, &mut problems);
    scenes(root, &mut problems);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Files that git tracks or would track, below `folder`.
fn tracked(root: &Path, folder: &str) -> Vec<PathBuf> {
    let words = ["ls-files", "--cached", "--others", "--exclude-standard", "--", folder];
    let output = Command::new("git").args(words).current_dir(root).output();
    let text = output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    text.lines().map(|line| root.join(line)).filter(|path| path.is_file()).collect()
}

fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// Modules of the engine use only the layers below them.
fn layers(root: &Path, problems: &mut Vec<String>) {
    let source = root.join("crates/toile/src");
    for path in tracked(root, "crates/toile/src") {
        let relative = path.strip_prefix(&source).unwrap_or(&path);
        let first = relative.components().next().map(|c| c.as_os_str().to_string_lossy().into_owned());
        let module = first.unwrap_or_default().trim_end_matches(".rs").to_string();
        if module == "lib" {
            continue;
        }
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == module) else {
            problems.push(format!(
                "{}: the module has no place in the layers of xtask/src/tidy.rs",
                shown(root, &path)
            ));
            continue;
        };
        let text = read(&path);
        // Tests may look anywhere.
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in text.lines().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//")) {
            for used in line.split("crate::").skip(1) {
                let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if !name.is_empty() && name != module && !allowed.contains(&name.as_str()) {
                    let place = format!("{}:{}", shown(root, &path), number + 1);
                    problems.push(format!("{place}: `{module}` must not use `{name}`"));
                }
            }
        }
    }
}

/// Crates depend only on the crates below them.
fn crates(root: &Path, problems: &mut Vec<String>) {
    for (name, allowed) in CRATES {
        let manifest = read(&root.join("crates").join(name).join("Cargo.toml"));
        let needed = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let needed = needed.split("\n[").next().unwrap_or_default();
        for line in needed.lines() {
            let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
            let ours = CRATES.iter().any(|(other, _)| *other == dependency);
            if ours && !allowed.contains(&dependency) {
                problems.push(format!("crates/{name}/Cargo.toml: must not depend on {dependency}"));
            }
        }
    }
}

/// ARCHITECTURE.md names every crate and every module of the engine, and nothing that does not exist.
fn architecture(root: &Path, problems: &mut Vec<String>) {
    let text = read(&root.join("ARCHITECTURE.md"));
    let quoted: BTreeSet<&str> = text.split('`').skip(1).step_by(2).collect();
    let paths =
        quoted.iter().filter(|word| word.contains('/') || word.ends_with(".rs") || word.ends_with(".md"));
    for word in paths.filter(|word| !word.contains(' ') && !word.contains('<') && !word.contains("::")) {
        let places = [root.join(word), root.join("crates/toile/src").join(word)];
        if !places.iter().any(|place| place.exists()) {
            problems.push(format!("ARCHITECTURE.md names `{word}`, which does not exist"));
        }
    }
    for entry in std::fs::read_dir(root.join("crates")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !text.contains(&format!("`crates/{name}")) {
            problems.push(format!("ARCHITECTURE.md does not name `crates/{name}`"));
        }
    }
    for (module, _) in LAYERS {
        if !text.contains(&format!("`{module}")) {
            problems.push(format!("ARCHITECTURE.md does not name the engine's `{module}`"));
        }
    }
}

/// Keys of papers (V00-3, G-4, E25) cited anywhere are explained in docs/papers.md or a page under docs/papers.
fn paper_keys(root: &Path, problems: &mut Vec<String>) {
    let mut known: BTreeSet<String> = keys(&read(&root.join("docs/papers.md"))).into_iter().collect();
    for page in tracked(root, "docs/papers") {
        known.extend(ranges(&read(&page)));
    }
    for folder in ["crates", "scenes", "docs", "xtask", "README.md", "ARCHITECTURE.md"] {
        for path in tracked(root, folder) {
            let text = read(&path);
            for (number, line) in text.lines().enumerate() {
                for key in keys(line).into_iter().filter(|key| !known.contains(key)) {
                    let place = format!("{}:{}", shown(root, &path), number + 1);
                    problems.push(format!("{place}: {key} is not explained in docs/papers"));
                }
            }
        }
    }
}

/// Keys of a text, and those between the ends of "V97-16 to V97-19".
fn ranges(text: &str) -> Vec<String> {
    let mut all = keys(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    for trio in words.windows(3).filter(|trio| trio[1] == "to") {
        let [first, last] =
            [trio[0], trio[2]].map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()));
        let prefix = first.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = |word: &str| word.strip_prefix(prefix).and_then(|digits| digits.parse::<u32>().ok());
        if let (true, Some(from), Some(to)) = (is_key(first), number(first), number(last)) {
            all.extend((from..=to).map(|number| format!("{prefix}{number}")));
        }
    }
    all
}

/// What the pages on the papers name is there: files, experiments, tests.
fn paper_pages(root: &Path, problems: &mut Vec<String>) {
    let mut sources = String::new();
    for path in tracked(root, "crates") {
        if path.extension().is_some_and(|e| e == "rs") {
            sources.push_str(&read(&path));
        }
    }
    for page in tracked(root, "docs/papers") {
        let text = read(&page);
        let name = shown(root, &page);
        for word in text.split('`').skip(1).step_by(2) {
            let there = if word.starts_with("crates/") {
                root.join(word).exists()
            } else if let Some(id) = word.strip_prefix("toile lab ") {
                sources.contains(&format!("id: \"{id}\""))
            } else if word.matches('_').count() >= 2
                && word.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit())
            {
                sources.contains(&format!("fn {word}("))
            } else {
                true
            };
            if !there {
                problems.push(format!("{name} names `{word}`, which does not exist"));
            }
        }
    }
}

/// Keys such as V00-3, V00-X3, G-4 and E25 in a text.
fn keys(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    words.filter(|word| is_key(word)).map(str::to_string).collect()
}

fn is_key(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match word.split_once('-') {
        Some(("V00" | "K02" | "M03" | "B14" | "V97", rest)) => digits(rest.strip_prefix('X').unwrap_or(rest)),
        Some(("G", rest)) => digits(rest),
        _ => false,
    }
}

/// Length, process words, machine paths, download addresses.
fn texts(root: &Path, problems: &mut Vec<String>) {
    let machine = [["/", "root/"], ["/", "home/"], ["/", "work/"]].map(|parts| parts.concat());
    let words = PROCESS_WORDS.iter().map(|parts| parts.concat()).collect::<Vec<_>>();
    for path in tracked(root, ".") {
        let known =
            ["rs", "md", "toml", "py", "ts"].iter().any(|e| path.extension().is_some_and(|x| x == *e));
        if !known {
            continue;
        }
        let text = read(&path);
        let name = shown(root, &path);
        if path.extension().is_some_and(|e| e == "rs") && text.lines().count() > LONGEST {
            problems.push(format!("{name}: more than {LONGEST} lines"));
        }
        for (number, line) in text.lines().enumerate() {
            let hit = words.iter().find(|w| line.contains(*w));
            let hit = hit.or_else(|| {
                machine.iter().find(|m| line.contains(&format!(" {m}")) || line.contains(&format!("\"{m}")))
            });
            if let Some(word) = hit {
                problems.push(format!("{name}:{}: contains `{word}`", number + 1));
            }
        }
    }
}

/// Every scene has its page and its picture.
fn scenes(root: &Path, problems: &mut Vec<String>) {
    for entry in std::fs::read_dir(root.join("scenes")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        for file in ["scene.toml", "README.md", "picture.png", "golden.txt"] {
            if !entry.path().join(file).exists() {
                problems.push(format!("scenes/{name} has no {file}"));
            }
        }
    }
}

/// The frame that a scene's picture shows: its page says so in a comment.
pub fn picture_frame(root: &Path, scene: &str) -> Result<String, String> {
    let page = read(&root.join("scenes").join(scene).join("README.md"));
    let frame = page.split("<!-- picture: frame ").nth(1).and_then(|rest| rest.split(' ').next());
    frame.map(str::to_string).ok_or(format!("scenes/{scene}/README.md lacks `<!-- picture: frame N -->`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_and_only_those() {
        assert_eq!(
            keys("as V00-3, (K02-X2) and G-4; not V00 eq. 10, x-1, G-x or MV00-1"),
            ["V00-3", "K02-X2", "G-4"]
        );
    }

    #[test]
    fn ranges_of_keys_are_filled_in() {
        assert_eq!(ranges("V97-16 to V97-18, and V00-X2 to V00-X3").len(), 4 + 3 + 2);
    }

    #[test]
    fn the_tree_is_tidy() {
        if let Err(problems) = check(&crate::root()) {
            panic!("{}", problems.join("\n"));
        }
    }
}
