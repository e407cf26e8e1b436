//! What is wrong with a file: which file, which line, which value, and one fix.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Family of a [`FileError`], for exit codes and tests; people read the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileErrorKind {
    /// The file or folder does not exist.
    Missing,
    /// The system refused to read or write.
    Io,
    /// No space left on the device; nothing half-written is visible.
    DiskFull,
    /// The content is not what the format asks for.
    Format,
    /// The content was right once: bytes were lost or changed.
    Corrupt,
    /// Written by a newer format version than this program reads.
    Version,
    /// Well formed but larger than the declared limits.
    Limit,
    /// Refused in order not to destroy or mix somebody's data.
    Refused,
    /// Another process is using the folder.
    Locked,
}

/// A refused file, with its place and one fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Family, for exit codes.
    pub kind: FileErrorKind,
    /// The file or folder, as the caller named it.
    pub path: PathBuf,
    /// Line in a text file, counted from 1.
    pub line: Option<u64>,
    /// What is wrong, with the value and the limit.
    pub message: String,
    /// One thing to do about it.
    pub help: String,
}

impl FileError {
    /// An error about the whole file.
    pub fn new(
        kind: FileErrorKind,
        path: impl AsRef<Path>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            path: path.as_ref().to_path_buf(),
            line: None,
            message: message.into(),
            help: help.into(),
        }
    }

    /// The same error, placed on a line counted from 1.
    pub fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// What the system answered while `doing` something ("read", "write", …) to `path`.
    pub fn from_io(path: impl AsRef<Path>, doing: &str, cause: &io::Error) -> Self {
        let (kind, help) = match cause.kind() {
            io::ErrorKind::NotFound => (FileErrorKind::Missing, "check the spelling and the folder"),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => (
                FileErrorKind::DiskFull,
                "free some space and resume the run; nothing half-written was left behind",
            ),
            io::ErrorKind::PermissionDenied => {
                (FileErrorKind::Io, "check the permissions of the file and of its folder")
            }
            io::ErrorKind::IsADirectory => (FileErrorKind::Io, "give a file, not a folder"),
            io::ErrorKind::NotADirectory => (FileErrorKind::Io, "give a folder, not a file"),
            _ => (FileErrorKind::Io, "check the disk and try again"),
        };
        let message = match kind {
            FileErrorKind::Missing => "no such file or folder".to_string(),
            _ => format!("could not {doing}: {cause}"),
        };
        Self::new(kind, path, message, help)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)?;
        if !self.help.is_empty() {
            write!(f, "\n  help: {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for FileError {}
