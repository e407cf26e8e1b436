//! What a run says about itself: a line per frame while it goes, and how it ended.

use super::tangles::Tangled;
use crate::atomic::{read_capped, write_atomic};
use crate::error::{FileError, FileErrorKind};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Largest log accepted [bytes].
const MAX_LOG: u64 = 1 << 30;

/// Appends one JSON object per frame to `stats.jsonl`; each line is on its way to the disk before the
/// next frame starts.
#[derive(Debug)]
pub struct StatsWriter {
    file: File,
    path: PathBuf,
}

impl StatsWriter {
    pub(super) fn append_to(path: &Path) -> Result<StatsWriter, FileError> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|e| FileError::from_io(path, "open", &e))?;
        Ok(StatsWriter { file, path: path.to_path_buf() })
    }

    /// Appends one line. The object should carry the frame's number as `frame`.
    pub fn append(&mut self, line: &impl Serialize) -> Result<(), FileError> {
        let mut text = serde_json::to_vec(line).map_err(|e| {
            let message = format!("a statistic cannot be written as JSON: {e}");
            FileError::new(
                FileErrorKind::Format,
                &self.path,
                message,
                "this is a fault of the calling program",
            )
        })?;
        text.push(b'\n');
        // One write per line: a kill leaves at most one incomplete line, at the end.
        self.file.write_all(&text).map_err(|e| FileError::from_io(&self.path, "write", &e))
    }
}

/// The lines of a `stats.jsonl`. An incomplete last line, as a killed run leaves it, is skipped; the
/// flag says whether there was one.
pub fn read_stats(path: &Path) -> Result<(Vec<Json>, bool), FileError> {
    let bytes = read_capped(path, MAX_LOG)?;
    let complete = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    let mut lines = Vec::new();
    for (i, line) in bytes[..complete].split(|&b| b == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let value = serde_json::from_slice(line).map_err(|e| {
            let help = "delete the line; statistics are not needed to resume";
            FileError::new(FileErrorKind::Corrupt, path, format!("not a JSON object: {e}"), help)
                .at_line(i as u64 + 1)
        })?;
        lines.push(value);
    }
    Ok((lines, complete < bytes.len()))
}

/// Keeps only the lines of frames up to `last` (none without it), so that a resumed run does not write them twice.
pub(super) fn trim_stats(path: &Path, last: Option<u32>) -> Result<(), FileError> {
    if !path.exists() {
        return Ok(());
    }
    // Bytes are kept as they are: numbers that go through a parser may come back with another last digit.
    let bytes = read_capped(path, MAX_LOG)?;
    let before = |frame: u64| last.is_some_and(|last| frame <= u64::from(last));
    let keeps = |line: &[u8]| match serde_json::from_slice::<Json>(line) {
        Ok(value) => value.get("frame").and_then(Json::as_u64).is_none_or(before),
        Err(_) => false,
    };
    let lines = bytes.split_inclusive(|&b| b == b'\n').filter(|line| line.ends_with(b"\n") && keeps(line));
    let kept: Vec<u8> = lines.flatten().copied().collect();
    write_atomic(path, &kept)
}

/// A line of `releases.jsonl`: a vertex that a body was let through, or that counts again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReleaseLine {
    /// The frame at whose end it is known.
    pub frame: u32,
    /// When it happened, within that frame [s].
    pub time: f64,
    /// Name of the cloth.
    pub cloth: String,
    /// The vertex.
    pub vertex: u32,
    /// Whether it was let through, or counts again.
    pub through: bool,
}

/// The lines of a run's `releases.jsonl` in the order they were written; none without the file.
pub(super) fn read_releases(root: &Path) -> Result<Vec<ReleaseLine>, FileError> {
    read_lines(&root.join("releases.jsonl"), "a release", "delete the line; it is not needed to resume")
}

/// The lines of a log, each `what`, in the order they were written; none without the file.
pub(super) fn read_lines<T: for<'de> Deserialize<'de>>(
    path: &Path,
    what: &str,
    help: &str,
) -> Result<Vec<T>, FileError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let (lines, _) = read_stats(path)?;
    let each = lines.into_iter().enumerate().map(|(i, line)| {
        serde_json::from_value(line).map_err(|e| {
            FileError::new(FileErrorKind::Corrupt, path, format!("not {what}: {e}"), help)
                .at_line(i as u64 + 1)
        })
    });
    each.collect()
}

/// What a run counted that belongs to the certificate of a frame, where the run counted it.
const CERTIFIED: &[&str] =
    &["strain_max", "residual", "removed_impulse", "wished_motion", "kept_motion", "cut"];

/// Figures of a run's frames, for its certificate.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    frames: BTreeMap<i64, serde_json::Map<String, Json>>,
    /// Vertices that bodies were let through within a frame or at its end, by frame.
    pinched: BTreeMap<i64, BTreeSet<(String, u32)>>,
    /// What started through something else.
    pub tangled: Tangled,
}

impl Figures {
    /// From `stats.jsonl`, and from `releases.jsonl` where there is one; what cannot be read is left out.
    pub(super) fn read(root: &Path) -> Figures {
        let mut figures = Figures::default();
        let frame_of = |line: &Json| line.get("frame").and_then(Json::as_i64);
        let (stats, _) = read_stats(&root.join("stats.jsonl")).unwrap_or_default();
        for line in &stats {
            let Some(frame) = frame_of(line) else { continue };
            let known =
                CERTIFIED.iter().filter_map(|&name| Some((name.to_string(), line.get(name)?.clone())));
            figures.frames.entry(frame).or_default().extend(known);
        }
        let releases = read_releases(root).unwrap_or_default();
        for line in &releases {
            figures.frames.entry(i64::from(line.frame)).or_default();
        }
        // A vertex is pinched from when it was let through to when it counts again, over as many frames as that takes.
        let mut lines = releases.iter().peekable();
        let mut pinched = BTreeSet::new();
        for (frame, of_frame) in &mut figures.frames {
            let mut released = BTreeSet::new();
            while let Some(line) = lines.next_if(|line| i64::from(line.frame) <= *frame) {
                let vertex = (line.cloth.as_str(), line.vertex);
                if line.through {
                    released.insert(vertex);
                    pinched.insert(vertex);
                } else {
                    pinched.remove(&vertex);
                }
            }
            of_frame.entry("exempt").or_insert(0.into());
            of_frame.insert("released".into(), released.len().into());
            of_frame.insert("pinched".into(), pinched.len().into());
            let all: BTreeSet<(String, u32)> =
                released.union(&pinched).map(|(cloth, vertex)| (cloth.to_string(), *vertex)).collect();
            if !all.is_empty() {
                figures.pinched.insert(*frame, all);
            }
        }
        figures.tangled = Tangled::of(&super::tangles::read_tangles(root).unwrap_or_default());
        for (frame, of_frame) in &mut figures.frames {
            if figures.tangled.any(*frame) {
                of_frame.insert("tangled".into(), figures.tangled.drawn(*frame).into());
            }
        }
        figures
    }

    /// Whether bodies were let through a vertex of a cloth within a frame or at its end.
    pub fn is_pinched(&self, frame: i64, cloth: &str, vertex: u32) -> bool {
        let of_frame = self.pinched.get(&frame);
        of_frame.is_some_and(|all| all.contains(&(cloth.to_string(), vertex)))
    }

    /// Whether any vertex was.
    pub fn any_pinched(&self, frame: i64) -> bool {
        self.pinched.contains_key(&frame)
    }

    /// Those of one frame, by name; empty where nothing is known.
    pub fn of(&self, frame: i64) -> serde_json::Map<String, Json> {
        self.frames.get(&frame).cloned().unwrap_or_default()
    }
}

/// Hash of the positions of a frame, chained to that of the frame before: XXH3-64 of the one before (8 bytes) and of
/// every coordinate as an f64, little-endian.
pub fn chain(before: u64, positions: &[&[glam::DVec3]]) -> u64 {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    hash.update(&before.to_le_bytes());
    for p in positions.iter().flat_map(|x| x.iter()) {
        p.to_array().iter().for_each(|x| hash.update(&x.to_le_bytes()));
    }
    hash.digest()
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Every frame was written.
    Ok,
    /// Stopped from outside; it can be resumed.
    Interrupted,
    /// Could not go on.
    Failed,
}

/// The content of `outcome.json`. Only `seconds` depends on the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// Short code for programs: "done", "signal", "disk-full", "step", …
    pub reason: String,
    /// The same for people.
    pub message: String,
    /// Last frame that is whole on disk.
    pub frame: Option<u32>,
    /// Seed of the scene.
    pub seed: u64,
    /// Version of toile.
    pub toile: String,
    /// Hash of the scene and of every file it needs.
    pub input_hash: String,
    /// Ways of the papers that the scene takes instead of the default's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paper_modes: Vec<String>,
    /// What was repaired, held or is worth knowing about what went in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Time the run took [s], this start only.
    pub seconds: f64,
}

impl Outcome {
    /// Writes `outcome.json`, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        write_json(path, self)
    }

    /// Reads an `outcome.json`.
    pub fn read(path: &Path) -> Result<Outcome, FileError> {
        read_json(path, "delete it; the run can still be resumed")
    }
}

pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), FileError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|e| {
        FileError::new(FileErrorKind::Format, path, e.to_string(), "this is a fault of the calling program")
    })?;
    text.push(b'\n');
    write_atomic(path, &text)
}

pub(super) fn read_json<T: for<'de> Deserialize<'de>>(path: &Path, help: &str) -> Result<T, FileError> {
    let bytes = read_capped(path, 64 << 20)?;
    serde_json::from_slice(&bytes)
        .map_err(|e| FileError::new(FileErrorKind::Corrupt, path, format!("not what toile wrote: {e}"), help))
}
