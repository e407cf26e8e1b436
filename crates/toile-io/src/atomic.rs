//! Files that are either whole or absent.
//!
//! A reader, or a run resumed after a power cut, must never meet half a frame. So every file of a
//! run is written beside its final name, flushed to the disk, and renamed: rename is atomic within
//! one folder on every system we run on.

use crate::error::{FileError, FileErrorKind};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Distinguishes the temporary names of two threads writing in one folder.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Writes `bytes` to `path`, whole or not at all.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_atomic_with(path, |file| file.write_all(bytes))
        .map_err(|e| if e.kind == FileErrorKind::DiskFull { disk_full(e, bytes.len()) } else { e })
}

/// Runs `write` on a new file that takes the name `path` only after everything succeeded.
pub fn write_atomic_with(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), FileError> {
    let mut pending = PendingFile::create(path)?;
    match write(&mut pending.writer) {
        Ok(()) => pending.commit(),
        Err(e) => Err(FileError::from_io(path, "write", &e)),
    }
}

fn disk_full(mut e: FileError, needed: usize) -> FileError {
    e.message = format!("no space left on the disk: this file needs {needed} bytes");
    e
}

/// A file being written under a temporary name. Dropped without [`PendingFile::commit`], it vanishes.
pub(crate) struct PendingFile {
    pub(crate) writer: BufWriter<File>,
    temporary: PathBuf,
    target: PathBuf,
    committed: bool,
}

impl PendingFile {
    pub(crate) fn create(target: &Path) -> Result<Self, FileError> {
        let name = target.file_name().ok_or_else(|| {
            FileError::new(FileErrorKind::Io, target, "this is not a file name", "give the path of a file")
        })?;
        let serial = COUNTER.fetch_add(1, Ordering::Relaxed);
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{serial}.tmp", std::process::id()));
        let temporary = target.with_file_name(hidden);
        let file = File::create(&temporary).map_err(|e| {
            // The temporary name means nothing to the user: name the folder instead when it is missing.
            let shown = match e.kind() {
                io::ErrorKind::NotFound => folder_of(target),
                _ => target.to_path_buf(),
            };
            FileError::from_io(shown, "create", &e)
        })?;
        let writer = BufWriter::with_capacity(1 << 16, file);
        Ok(Self { writer, temporary, target: target.to_path_buf(), committed: false })
    }

    /// Moves back to `offset` [bytes], for formats whose header holds a count known last.
    pub(crate) fn rewind_to(&mut self, offset: u64) -> io::Result<()> {
        self.writer.seek(io::SeekFrom::Start(offset)).map(|_| ())
    }

    pub(crate) fn commit(mut self) -> Result<(), FileError> {
        let flushed = self.writer.flush().and_then(|()| self.writer.get_ref().sync_all());
        flushed
            .and_then(|()| fs::rename(&self.temporary, &self.target))
            .map_err(|e| FileError::from_io(&self.target, "write", &e))?;
        self.committed = true;
        sync_folder(&folder_of(&self.target));
        Ok(())
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if !self.committed {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Makes the rename itself survive a power cut. Some systems cannot open folders: then the file is
/// still whole, only its name may be lost, so a failure here is not an error.
fn sync_folder(folder: &Path) {
    if let Ok(handle) = File::open(folder) {
        let _ = handle.sync_all();
    }
}

/// Removes temporary files that a killed process left in `folder`; returns how many.
pub(crate) fn sweep(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .filter(|e| {
            let name = e.file_name();
            let name = name.to_string_lossy();
            name.starts_with('.') && name.ends_with(".tmp") && fs::remove_file(e.path()).is_ok()
        })
        .count()
}

/// Reads a whole file, refusing one larger than `limit` [bytes] before reading it.
pub(crate) fn read_capped(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let file = File::open(path).map_err(|e| FileError::from_io(path, "open", &e))?;
    let length = file.metadata().map_err(|e| FileError::from_io(path, "read", &e))?.len();
    let too_large = |n: u64| {
        FileError::new(
            FileErrorKind::Limit,
            path,
            format!("the file has {n} bytes, the limit is {limit}"),
            "split it, or check that this is the right file",
        )
    };
    if length > limit {
        return Err(too_large(length));
    }
    let mut bytes = Vec::new();
    // A pipe or a growing file says 0 or too little: the limit holds on what is really read.
    let mut capped = file.take(limit.saturating_add(1));
    capped.read_to_end(&mut bytes).map_err(|e| FileError::from_io(path, "read", &e))?;
    match bytes.len() as u64 {
        n if n > limit => Err(too_large(n)),
        _ => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut v: Vec<String> = fs::read_dir(folder)
            .expect("folder")
            .flatten()
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        v.sort();
        v
    }

    #[test]
    fn a_writer_that_fails_at_any_point_leaves_the_old_file_and_nothing_else() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("frame.toile");
        write_atomic(&path, b"old").expect("first write");
        for k in 0..20 {
            let result = write_atomic_with(&path, |f| {
                for i in 0..20 {
                    if i == k {
                        return Err(io::Error::from(io::ErrorKind::StorageFull));
                    }
                    f.write_all(&[i; 9000])?;
                }
                Ok(())
            });
            assert_eq!(result.expect_err("must fail").kind, FileErrorKind::DiskFull);
            assert_eq!(fs::read(&path).expect("old file"), b"old");
            assert_eq!(names(dir.path()), ["frame.toile"]);
        }
    }

    #[test]
    fn the_final_name_appears_only_when_whole() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("a.bin");
        write_atomic_with(&path, |f| {
            f.write_all(&[1; 100_000])?;
            f.flush()?;
            assert!(!path.exists(), "visible before it is whole");
            Ok(())
        })
        .expect("write");
        assert_eq!(fs::metadata(&path).expect("file").len(), 100_000);
    }

    #[test]
    fn missing_folder_and_leftovers() {
        let dir = tempfile::tempdir().expect("tempdir");
        let e = write_atomic(&dir.path().join("no/such/x"), b"").expect_err("no folder");
        assert_eq!(e.kind, FileErrorKind::Missing);
        fs::write(dir.path().join(".x.toile.99-0.tmp"), b"half").expect("leftover");
        fs::write(dir.path().join("keep.tmp"), b"user file").expect("user file");
        assert_eq!(sweep(dir.path()), 1);
        assert_eq!(names(dir.path()), ["keep.tmp"]);
    }

    #[test]
    fn limits_hold_before_reading() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("big");
        fs::write(&path, [0; 101]).expect("write");
        assert_eq!(read_capped(&path, 100).expect_err("too large").kind, FileErrorKind::Limit);
        assert_eq!(read_capped(&path, 101).expect("fits").len(), 101);
    }
}
