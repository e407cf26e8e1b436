//! Numbered files: `cloth_0001.obj`, `cloth_0002.obj`, … found from a pattern or a folder.

use crate::error::{FileError, FileErrorKind};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A file of a sequence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Numbered {
    /// Frame number.
    pub frame: i64,
    /// The file.
    pub path: PathBuf,
}

/// What stands for the number in a file name.
struct Pattern {
    before: String,
    after: String,
    /// Fewest digits; 0 for any number of them.
    digits: usize,
}

/// Whether a path is a pattern: `cloth_####.obj`, `cloth_%04d.obj` or `cloth_*.obj`.
pub fn is_pattern(path: &Path) -> bool {
    name_of(path).and_then(|n| parse_pattern(&n)).is_some()
}

fn name_of(path: &Path) -> Option<String> {
    path.file_name().map(|n| n.to_string_lossy().into_owned())
}

fn parse_pattern(name: &str) -> Option<Pattern> {
    if let Some(start) = name.find('#') {
        let digits = name[start..].chars().take_while(|&c| c == '#').count();
        return Some(Pattern { before: name[..start].into(), after: name[start + digits..].into(), digits });
    }
    if let Some(start) = name.find('*') {
        return Some(Pattern { before: name[..start].into(), after: name[start + 1..].into(), digits: 0 });
    }
    let start = name.find('%')?;
    let rest = &name[start + 1..];
    let end = rest.find('d')?;
    let digits = if end == 0 { 0 } else { rest[..end].parse().ok()? };
    Some(Pattern { before: name[..start].into(), after: rest[end + 1..].into(), digits })
}

impl Pattern {
    fn frame_of(&self, name: &str) -> Option<i64> {
        let number = name.strip_prefix(&self.before)?.strip_suffix(&self.after)?;
        let digits = number.strip_prefix('-').unwrap_or(number);
        let plain = !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|b| b.is_ascii_digit());
        let enough = self.digits == 0 || digits.len() >= self.digits;
        if plain && enough { number.parse().ok() } else { None }
    }
}

/// The OBJ files of a pattern, or of a folder that holds one numbered sequence; sorted by frame.
pub fn find(path: &Path) -> Result<Vec<Numbered>, FileError> {
    if path.is_dir() { in_folder(path) } else { by_pattern(path) }
}

fn list(folder: &Path) -> Result<Vec<(String, PathBuf)>, FileError> {
    let entries = fs::read_dir(folder).map_err(|e| FileError::from_io(folder, "open", &e))?;
    Ok(entries.flatten().filter_map(|e| Some((e.file_name().into_string().ok()?, e.path()))).collect())
}

fn by_pattern(path: &Path) -> Result<Vec<Numbered>, FileError> {
    let pattern = name_of(path).and_then(|n| parse_pattern(&n)).ok_or_else(|| {
        FileError::new(
            FileErrorKind::Missing,
            path,
            "no such file",
            "write a sequence with # for each digit: cloth_####.obj",
        )
    })?;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let files = list(folder)?.into_iter();
    sorted(
        path,
        files.filter_map(|(n, path)| Some(Numbered { frame: pattern.frame_of(&n)?, path })).collect(),
    )
}

/// Splits "cloth_0012.obj" into "cloth_", 12, ".obj"; only OBJ files count.
fn split_name(name: &str) -> Option<(String, i64)> {
    let (stem, extension) = name.rsplit_once('.')?;
    if !extension.eq_ignore_ascii_case("obj") {
        return None;
    }
    let before = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &stem[before.len()..];
    let frame = digits.parse().ok().filter(|_| digits.len() <= 18)?;
    Some((before.to_string(), frame))
}

fn in_folder(folder: &Path) -> Result<Vec<Numbered>, FileError> {
    let mut sequences: BTreeMap<String, Vec<Numbered>> = BTreeMap::new();
    for (name, path) in list(folder)? {
        if let Some((before, frame)) = split_name(&name) {
            sequences.entry(before).or_default().push(Numbered { frame, path });
        }
    }
    let names: Vec<String> = sequences.keys().map(|b| format!("{b}#.obj")).collect();
    let mut all = sequences.into_values();
    match (all.next(), all.next()) {
        (Some(files), None) => sorted(folder, files),
        (None, _) => Err(FileError::new(
            FileErrorKind::Missing,
            folder,
            "this folder holds no numbered OBJ files and no toile run",
            "give a folder with files like cloth_0001.obj, or the output of `toile run`",
        )),
        _ => Err(FileError::new(
            FileErrorKind::Format,
            folder,
            format!("this folder holds {} sequences: {}", names.len(), names.join(", ")),
            "give one of them as a pattern",
        )),
    }
}

fn sorted(path: &Path, mut files: Vec<Numbered>) -> Result<Vec<Numbered>, FileError> {
    files.sort();
    if files.is_empty() {
        let help = "check the pattern: # stands for a digit, %04d for four of them, * for any number";
        return Err(FileError::new(FileErrorKind::Missing, path, "no file matches this pattern", help));
    }
    if let Some(twice) = files.windows(2).find(|w| w[0].frame == w[1].frame) {
        let (a, b) = (name_of(&twice[0].path), name_of(&twice[1].path));
        let message = format!(
            "frame {} exists twice: {} and {}",
            twice[0].frame,
            a.unwrap_or_default(),
            b.unwrap_or_default()
        );
        return Err(FileError::new(FileErrorKind::Format, path, message, "remove one of the two"));
    }
    Ok(files)
}

/// Numbers missing between the first and the last frame, as a short note.
pub(crate) fn gap_note(frames: &[i64]) -> Option<String> {
    let (first, last) = (frames.first()?, frames.last()?);
    let missing = last.checked_sub(*first)?.checked_add(1)?.checked_sub(frames.len() as i64)?;
    let gap = frames.windows(2).find(|w| w[1] > w[0] + 1)?;
    Some(format!("{missing} frames are missing, the first of them is {}", gap[0] + 1))
}

/// "out/cloth_0001.obj" for a folder, a stem and a frame.
pub(crate) fn numbered_name(folder: &Path, stem: &str, frame: i64) -> PathBuf {
    folder.join(format!("{stem}_{frame:06}.obj"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_and_folders_find_the_same_files() {
        let dir = tempfile::tempdir().expect("tempdir");
        let at = |name: &str| dir.path().join(name);
        for name in ["c_0010.obj", "c_0002.obj", "c_0003.obj", "notes.txt", "mesh.obj", "c_.obj"] {
            fs::write(at(name), "").expect("write");
        }
        let frames = |p: &Path| find(p).map(|f| f.iter().map(|n| n.frame).collect::<Vec<_>>());
        for pattern in ["c_####.obj", "c_%04d.obj", "c_%d.obj", "c_*.obj"] {
            assert_eq!(frames(&at(pattern)).expect(pattern), [2, 3, 10]);
        }
        assert_eq!(frames(dir.path()).expect("folder"), [2, 3, 10]);
        assert!(gap_note(&[2, 3, 10]).expect("gap").contains("6 frames are missing, the first of them is 4"));
        assert_eq!(gap_note(&[2, 3, 4]), None);
        assert!(frames(&at("c_#####.obj")).is_err());
        assert!(frames(&at("d_##.obj")).expect_err("none").message.contains("no file matches"));
        fs::write(at("d_1.obj"), "").expect("write");
        assert!(frames(dir.path()).expect_err("two").message.contains("c_#.obj, d_#.obj"));
        fs::write(at("c_00010.obj"), "").expect("write");
        assert!(frames(&at("c_*.obj")).expect_err("twice").message.contains("exists twice"));
    }
}
