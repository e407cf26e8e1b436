//! One run per folder.
//!
//! The system's file lock does the work: it vanishes with the process, however that ends, so there
//! are no stale locks to guess about. The file names the holder, for the message. Where a file
//! system has no locks, the process id and the machine's boot decide whether the holder still lives.

use crate::error::{FileError, FileErrorKind};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

/// A held folder. Dropping it lets go; the file stays, empty, because deleting it would let two
/// processes lock two files of the same name.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    /// A word about a previous holder that did not let go.
    pub(super) note: Option<String>,
}

impl Lock {
    pub(super) fn take(path: &Path) -> Result<Lock, FileError> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = file.map_err(|e| FileError::from_io(path, "create", &e))?;
        let holder = read_holder(&mut file);
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(path, &holder)),
            Err(TryLockError::Error(_)) if holder.alive() => return Err(held(path, &holder)),
            Err(TryLockError::Error(_)) => {}
        }
        let note = (!holder.pid.is_empty())
            .then(|| format!("the previous run here (process {}) ended without finishing", holder.pid));
        let text = format!("{}\n{}\n", std::process::id(), boot_id());
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(text.as_bytes()))
            .and_then(|()| file.flush());
        written.map_err(|e| FileError::from_io(path, "write", &e))?;
        Ok(Lock { file, note })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

struct Holder {
    pid: String,
    boot: String,
}

impl Holder {
    /// Whether that process may still run: same boot, and still in the process table where there is one.
    fn alive(&self) -> bool {
        let same_boot = self.boot == boot_id();
        let table = Path::new("/proc/self").exists();
        !self.pid.is_empty() && same_boot && (!table || Path::new("/proc").join(&self.pid).exists())
    }
}

fn read_holder(file: &mut File) -> Holder {
    let mut text = String::new();
    // Unreadable content only costs the name of the holder.
    let _ = file.take(256).read_to_string(&mut text);
    let mut lines = text.lines().map(|l| l.trim().to_string());
    let pid = lines.next().filter(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()));
    Holder { pid: pid.unwrap_or_default(), boot: lines.next().unwrap_or_default() }
}

/// Distinguishes this start of the machine from earlier ones; empty where it is unknown.
fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|s| s.trim().to_string())
        .unwrap_or_default()
}

fn held(path: &Path, holder: &Holder) -> FileError {
    let folder = path.parent().unwrap_or(path);
    let who =
        if holder.pid.is_empty() { "another process".into() } else { format!("process {}", holder.pid) };
    FileError::new(
        FileErrorKind::Locked,
        folder,
        format!("{who} is running in this folder"),
        "wait for it, stop it, or give another folder",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder_at_a_time_and_a_note_after_a_crash() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join(".lock");
        let first = Lock::take(&path).expect("free");
        assert_eq!(first.note, None);
        let second = Lock::take(&path).expect_err("held");
        assert_eq!(second.kind, FileErrorKind::Locked);
        assert!(second.message.contains(&std::process::id().to_string()));
        drop(first);
        assert_eq!(Lock::take(&path).expect("free again").note, None);
        std::fs::write(&path, "999999999\nanother-boot\n").expect("crashed holder");
        let third = Lock::take(&path).expect("stale");
        assert!(third.note.as_deref().is_some_and(|n| n.contains("999999999")));
    }
}
