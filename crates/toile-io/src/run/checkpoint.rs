//! Checkpoints: the exact state from which a run resumes, two of them, so that one may be lost.

use crate::container::{self, ArrayRef, Container};
use crate::error::FileError;
use std::fs;
use std::path::{Path, PathBuf};

/// Checkpoints kept in a folder.
const KEPT: usize = 2;
const HELP: &str = "an older checkpoint is used instead; delete this file";

/// Writes named arrays, bit for bit and under a checksum, whole or not at all.
pub fn write_checkpoint(path: &Path, arrays: &[(&str, ArrayRef<'_>)]) -> Result<(), FileError> {
    container::write(path, "state", arrays)
}

/// Reads and verifies a checkpoint.
pub fn read_checkpoint(path: &Path) -> Result<Container, FileError> {
    container::read(path, "state", HELP)
}

/// A checkpoint that was found in a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The frame whose state it holds.
    pub frame: u32,
    /// The arrays.
    pub state: Container,
    /// Newer checkpoints that could not be read, and why.
    pub notes: Vec<String>,
}

/// Numbered container files in a folder, in order.
pub(super) fn numbered(folder: &Path) -> Vec<(u32, PathBuf)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<(u32, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let name = path.file_name()?.to_str()?;
            let digits = name.strip_suffix(".toile")?;
            let plain = digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit());
            Some((digits.parse().ok().filter(|_| plain)?, path))
        })
        .collect();
    found.sort();
    found
}

/// Writes the checkpoint of a frame, then drops all but the two newest.
pub(super) fn save(folder: &Path, frame: u32, arrays: &[(&str, ArrayRef<'_>)]) -> Result<(), FileError> {
    write_checkpoint(&folder.join(format!("{frame:06}.toile")), arrays)?;
    let all = numbered(folder);
    for (_, old) in all.iter().rev().skip(KEPT) {
        // A leftover costs space, not correctness.
        let _ = fs::remove_file(old);
    }
    Ok(())
}

/// The newest checkpoint that can be read, not after `last`.
pub(super) fn newest(folder: &Path, last: u32) -> Option<Checkpoint> {
    let mut notes = Vec::new();
    for (frame, path) in numbered(folder).into_iter().rev().filter(|(f, _)| *f <= last) {
        match read_checkpoint(&path) {
            Ok(state) => return Some(Checkpoint { frame, state, notes }),
            Err(e) => notes.push(format!("checkpoint of frame {frame} cannot be used: {}", e.message)),
        }
    }
    None
}
