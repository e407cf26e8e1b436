//! Lying headers must not make a reader ask for memory. Alone in its file, so that no other test's
//! memory is counted.

use std::path::Path;
use toile_io::container;
use toile_io::obj::{Limits, Obj};
use toile_io::pc2::Pc2Reader;
use toile_io::run::{Frame, Topology};

/// Largest address space this process ever had [KiB], where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmPeak:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// A container with a right checksum over a given body, whose header claims its true length.
fn sealed(mut body: Vec<u8>) -> Vec<u8> {
    let length = body.len() as u64 + 8;
    body[24..32].copy_from_slice(&length.to_le_bytes());
    let sum = xxhash_rust::xxh3::xxh3_64(&body);
    body.extend_from_slice(&sum.to_le_bytes());
    body
}

#[test]
fn lying_counts_ask_for_no_memory() {
    let dir = tempfile::tempdir().expect("tempdir");
    let path = dir.path().join("x");
    let Some(before) = peak() else { return eprintln!("skipped: no /proc/self/status here") };

    for (points, samples) in [(40_000_000, i32::MAX), (i32::MAX, i32::MAX), (49_999_999, 1)] {
        let mut pc2 = b"POINTCACHE2\0\x01\0\0\0".to_vec();
        pc2.extend_from_slice(&i32::to_le_bytes(points));
        pc2.extend_from_slice(&[0; 8]);
        pc2.extend_from_slice(&i32::to_le_bytes(samples));
        std::fs::write(&path, &pc2).expect("write");
        assert!(Pc2Reader::open(&path).is_err());
    }
    for (entries, elements) in [(u32::MAX, 1u64), (1, 1 << 60), (1, 1 << 33), (1 << 24, u64::MAX)] {
        let mut body = container::MAGIC.to_vec();
        body.extend_from_slice(&1u32.to_le_bytes());
        body.extend_from_slice(&entries.to_le_bytes());
        body.extend_from_slice(b"frame\0\0\0\0\0\0\0\0\0\0\0");
        body.extend_from_slice(&[5, 0, 0, 0, 0, 0, 0, 0]);
        body.extend_from_slice(&elements.to_le_bytes());
        let bytes = sealed(body);
        std::fs::write(&path, &bytes).expect("write");
        assert!(container::decode(&bytes).is_err());
        assert!(Frame::read(&path).is_err() && Topology::read(&path).is_err());
    }
    let far = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4294967295\nf 4000000000 1 2\n";
    assert!(Obj::parse(far.as_bytes(), Path::new("far.obj"), &Limits::default()).is_err());

    let grown = peak().unwrap_or(before).saturating_sub(before);
    assert!(grown < 64 << 10, "the address space grew by {grown} KiB");
}
