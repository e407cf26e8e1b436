//! The one binary format of toile: named arrays under a checksum.
//!
//! Frames, topologies and checkpoints are all containers; they differ in `kind` and in the arrays
//! they hold. Everything is little-endian and starts on a multiple of 8 bytes, so a reader in any
//! language is a page long.
//!
//! ```text
//!  0  8 bytes  89 'T' 'O' 'I' 'L' 'E' 0D 0A   (the CR LF shows text-mode damage)
//!  8  u32      format version, 1
//! 12  u32      number of arrays
//! 16  8 bytes  kind, ASCII, padded with zeros: "frame", "topology", "state"
//! 24  u64      length of the whole file [bytes]
//! 32  directory, per array: u8 type (1 u8, 2 u32, 3 u64, 4 f32, 5 f64), u8 length of the name,
//!              6 zero bytes, u64 number of elements, the name padded to a multiple of 8
//!  …  the arrays in directory order, each padded with zeros to a multiple of 8
//! −8  u64      XXH3-64 of every byte before
//! ```

use crate::atomic;
use crate::error::{FileError, FileErrorKind};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// First bytes of every container.
pub const MAGIC: [u8; 8] = *b"\x89TOILE\r\n";
/// Version this program writes, and the newest it reads.
pub const VERSION: u32 = 1;
/// Largest container accepted [bytes]: 16 GiB, a frame of half a billion particles.
pub const MAX_BYTES: u64 = 1 << 34;

const HEADER: usize = 32;
const CHECKSUM: usize = 8;

/// An array to be written.
#[derive(Clone, Copy, Debug)]
pub enum ArrayRef<'a> {
    /// Raw bytes, or UTF-8 text.
    Bytes(&'a [u8]),
    /// 32-bit unsigned integers.
    U32(&'a [u32]),
    /// 64-bit unsigned integers.
    U64(&'a [u64]),
    /// 32-bit floats.
    F32(&'a [f32]),
    /// 64-bit floats, kept bit for bit.
    F64(&'a [f64]),
}

/// An array that was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Array {
    /// Raw bytes, or UTF-8 text.
    Bytes(Vec<u8>),
    /// 32-bit unsigned integers.
    U32(Vec<u32>),
    /// 64-bit unsigned integers.
    U64(Vec<u64>),
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 64-bit floats, kept bit for bit.
    F64(Vec<f64>),
}

/// A container that was read and verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    /// What the file is: "frame", "topology" or "state".
    pub kind: String,
    /// The arrays, in the order they were written.
    pub arrays: Vec<(String, Array)>,
}

/// What is wrong with the bytes of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// Family of the defect.
    pub kind: FileErrorKind,
    /// What is wrong.
    pub message: String,
}

fn defect<T>(kind: FileErrorKind, message: impl Into<String>) -> Result<T, Defect> {
    Err(Defect { kind, message: message.into() })
}

impl ArrayRef<'_> {
    fn code(&self) -> u8 {
        match self {
            ArrayRef::Bytes(_) => 1,
            ArrayRef::U32(_) => 2,
            ArrayRef::U64(_) => 3,
            ArrayRef::F32(_) => 4,
            ArrayRef::F64(_) => 5,
        }
    }

    fn len(&self) -> usize {
        match self {
            ArrayRef::Bytes(a) => a.len(),
            ArrayRef::U32(a) => a.len(),
            ArrayRef::U64(a) => a.len(),
            ArrayRef::F32(a) => a.len(),
            ArrayRef::F64(a) => a.len(),
        }
    }

    fn append_to(&self, out: &mut Vec<u8>) {
        match self {
            ArrayRef::Bytes(a) => out.extend_from_slice(a),
            ArrayRef::U32(a) => a.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
            ArrayRef::U64(a) => a.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
            ArrayRef::F32(a) => a.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
            ArrayRef::F64(a) => a.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes())),
        }
    }
}

fn element_size(code: u8) -> Option<usize> {
    match code {
        1 => Some(1),
        2 | 4 => Some(4),
        3 | 5 => Some(8),
        _ => None,
    }
}

fn padded(n: usize) -> Option<usize> {
    n.checked_add(7).map(|n| n & !7)
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(8), 0);
}

/// Lays out a container. Names longer than 255 bytes are cut; kinds longer than 8 too: both are
/// constants of the program, never input.
pub fn encode(kind: &str, arrays: &[(&str, ArrayRef<'_>)]) -> Vec<u8> {
    let bytes = |a: &ArrayRef<'_>| a.len() * element_size(a.code()).unwrap_or(8);
    let payload: usize = arrays.iter().map(|(name, a)| 32 + name.len() + bytes(a)).sum();
    let mut out = Vec::with_capacity(HEADER + payload + CHECKSUM);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&(arrays.len() as u32).to_le_bytes());
    let mut kind_field = [0; 8];
    kind.bytes().take(8).zip(&mut kind_field).for_each(|(b, slot)| *slot = b);
    out.extend_from_slice(&kind_field);
    out.extend_from_slice(&[0; 8]);
    for (name, array) in arrays {
        let name = &name.as_bytes()[..name.len().min(255)];
        out.extend_from_slice(&[array.code(), name.len() as u8, 0, 0, 0, 0, 0, 0]);
        out.extend_from_slice(&(array.len() as u64).to_le_bytes());
        out.extend_from_slice(name);
        pad(&mut out);
    }
    for (_, array) in arrays {
        array.append_to(&mut out);
        pad(&mut out);
    }
    let length = (out.len() + CHECKSUM) as u64;
    out[24..32].copy_from_slice(&length.to_le_bytes());
    let checksum = xxh3_64(&out);
    out.extend_from_slice(&checksum.to_le_bytes());
    out
}

/// Reads a container, verifying length, checksum, version and directory before any large allocation.
pub fn decode(bytes: &[u8]) -> Result<Container, Defect> {
    verify(bytes)?;
    let count = u32_at(bytes, 12);
    let kind: Vec<u8> = bytes[16..24].iter().copied().take_while(|&b| b != 0).collect();
    let kind = String::from_utf8_lossy(&kind).into_owned();
    let body = &bytes[..bytes.len() - CHECKSUM];
    let (directory, mut at) = read_directory(body, count)?;
    let mut arrays = Vec::with_capacity(directory.len());
    for entry in directory {
        let size = element_size(entry.code).unwrap_or(1);
        let end = entry.elements.checked_mul(size).and_then(|n| at.checked_add(n));
        let Some(payload) = end.and_then(|end| body.get(at..end)) else {
            return defect(FileErrorKind::Corrupt, format!("array \"{}\" runs past the end", entry.name));
        };
        at = padded(at + payload.len()).unwrap_or(usize::MAX);
        arrays.push((entry.name, read_array(entry.code, payload)));
    }
    if at != body.len() {
        return defect(FileErrorKind::Corrupt, "bytes are left over after the last array");
    }
    Ok(Container { kind, arrays })
}

fn verify(bytes: &[u8]) -> Result<(), Defect> {
    let known = bytes.len().min(MAGIC.len());
    if known == 0 || bytes[..known] != MAGIC[..known] {
        return defect(FileErrorKind::Format, "this is not a toile file (wrong first bytes)");
    }
    if bytes.len() < HEADER + CHECKSUM {
        let message = format!("the file is cut short: {} bytes, not even a header", bytes.len());
        return defect(FileErrorKind::Corrupt, message);
    }
    let declared = u64_at(bytes, 24);
    if declared != bytes.len() as u64 {
        let what = if declared > bytes.len() as u64 { "is cut short" } else { "has extra bytes" };
        let message = format!("the file {what}: {} bytes, its header says {declared}", bytes.len());
        return defect(FileErrorKind::Corrupt, message);
    }
    let (body, stored) = bytes.split_at(bytes.len() - CHECKSUM);
    let (found, expected) = (xxh3_64(body), u64_at(stored, 0));
    if found != expected {
        let message = format!("checksum {found:016x} where {expected:016x} was written: bytes have changed");
        return defect(FileErrorKind::Corrupt, message);
    }
    match u32_at(bytes, 8) {
        VERSION => Ok(()),
        v => defect(
            FileErrorKind::Version,
            format!("format version {v}; this program reads version {VERSION}"),
        ),
    }
}

struct Entry {
    code: u8,
    elements: usize,
    name: String,
}

/// The directory, and the offset of the first array.
fn read_directory(body: &[u8], count: u32) -> Result<(Vec<Entry>, usize), Defect> {
    let mut at = HEADER;
    // Each entry takes at least 16 bytes: a lying count cannot make us allocate more than the file.
    let mut entries = Vec::with_capacity((count as usize).min(body.len() / 16));
    for index in 0..count {
        let short = || Defect {
            kind: FileErrorKind::Corrupt,
            message: format!("entry {index} of {count} in the directory is cut short"),
        };
        let head = body.get(at..at + 16).ok_or_else(short)?;
        let (code, name_len) = (head[0], head[1] as usize);
        if element_size(code).is_none() {
            return defect(FileErrorKind::Corrupt, format!("entry {index} has unknown type {code}"));
        }
        let Ok(elements) = usize::try_from(u64_at(head, 8)) else { return Err(short()) };
        let name = body.get(at + 16..at + 16 + name_len).ok_or_else(short)?;
        let name = String::from_utf8_lossy(name).into_owned();
        at = padded(at + 16 + name_len).ok_or_else(short)?;
        entries.push(Entry { code, elements, name });
    }
    Ok((entries, at))
}

fn read_array(code: u8, bytes: &[u8]) -> Array {
    let words = |i: &[u8]| [i[0], i[1], i[2], i[3]];
    let longs = |i: &[u8]| [i[0], i[1], i[2], i[3], i[4], i[5], i[6], i[7]];
    match code {
        2 => Array::U32(bytes.chunks_exact(4).map(|c| u32::from_le_bytes(words(c))).collect()),
        3 => Array::U64(bytes.chunks_exact(8).map(|c| u64::from_le_bytes(longs(c))).collect()),
        4 => Array::F32(bytes.chunks_exact(4).map(|c| f32::from_le_bytes(words(c))).collect()),
        5 => Array::F64(bytes.chunks_exact(8).map(|c| f64::from_le_bytes(longs(c))).collect()),
        _ => Array::Bytes(bytes.to_vec()),
    }
}

/// Little-endian word at `at`; the caller has checked the length.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.iter_mut().zip(&bytes[at..]).for_each(|(w, b)| *w = *b);
    u32::from_le_bytes(word)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.iter_mut().zip(&bytes[at..]).for_each(|(w, b)| *w = *b);
    u64::from_le_bytes(word)
}

impl Container {
    /// The array called `name`.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.arrays.iter().find(|(n, _)| n == name).map(|(_, a)| a)
    }

    /// The 64-bit floats called `name`.
    pub fn f64s(&self, name: &str) -> Result<&[f64], Defect> {
        match self.get(name) {
            Some(Array::F64(a)) => Ok(a),
            other => self.absent(name, "f64", other),
        }
    }

    /// The 32-bit floats called `name`.
    pub fn f32s(&self, name: &str) -> Result<&[f32], Defect> {
        match self.get(name) {
            Some(Array::F32(a)) => Ok(a),
            other => self.absent(name, "f32", other),
        }
    }

    /// The 64-bit integers called `name`.
    pub fn u64s(&self, name: &str) -> Result<&[u64], Defect> {
        match self.get(name) {
            Some(Array::U64(a)) => Ok(a),
            other => self.absent(name, "u64", other),
        }
    }

    /// The 32-bit integers called `name`.
    pub fn u32s(&self, name: &str) -> Result<&[u32], Defect> {
        match self.get(name) {
            Some(Array::U32(a)) => Ok(a),
            other => self.absent(name, "u32", other),
        }
    }

    /// The bytes called `name`.
    pub fn bytes(&self, name: &str) -> Result<&[u8], Defect> {
        match self.get(name) {
            Some(Array::Bytes(a)) => Ok(a),
            other => self.absent(name, "byte", other),
        }
    }

    fn absent<T>(&self, name: &str, wanted: &str, found: Option<&Array>) -> Result<T, Defect> {
        let message = match found {
            None => format!("the {} file has no array \"{name}\"", self.kind),
            Some(_) => format!("array \"{name}\" of the {} file does not hold {wanted} values", self.kind),
        };
        defect(FileErrorKind::Format, message)
    }
}

impl Defect {
    /// The defect as an error about a file.
    pub fn in_file(self, path: &Path, help: &str) -> FileError {
        let help = match self.kind {
            FileErrorKind::Version => "update toile, or write the file again with this version",
            FileErrorKind::Format => "give a file written by toile",
            _ => help,
        };
        FileError::new(self.kind, path, self.message, help)
    }
}

/// Writes a container file, whole or not at all.
pub fn write(path: &Path, kind: &str, arrays: &[(&str, ArrayRef<'_>)]) -> Result<(), FileError> {
    atomic::write_atomic(path, &encode(kind, arrays))
}

/// Reads a container file of a given kind. `help` is what to do when it is damaged.
pub fn read(path: &Path, kind: &str, help: &str) -> Result<Container, FileError> {
    let bytes = atomic::read_capped(path, MAX_BYTES)?;
    let container = decode(&bytes).map_err(|d| d.in_file(path, help))?;
    if container.kind != kind {
        return Err(FileError::new(
            FileErrorKind::Format,
            path,
            format!("this is a toile {} file, a {kind} file is needed here", container.kind),
            format!("give the path of a {kind} file"),
        ));
    }
    Ok(container)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        encode(
            "state",
            &[
                ("x", ArrayRef::F64(&[0.1, -0.0, f64::MAX, f64::from_bits(0x7ff8_0000_dead_beef)])),
                ("n", ArrayRef::U64(&[u64::MAX, 0])),
                ("name", ArrayRef::Bytes("toile ✓".as_bytes())),
                ("p", ArrayRef::F32(&[1.5, 2.5, 3.5])),
                ("faces", ArrayRef::U32(&[0, 1, 2])),
                ("empty", ArrayRef::F64(&[])),
            ],
        )
    }

    #[test]
    fn round_trip_is_exact() {
        let c = decode(&sample()).expect("valid");
        assert_eq!(c.kind, "state");
        let x = c.f64s("x").expect("x");
        assert_eq!(x[3].to_bits(), 0x7ff8_0000_dead_beef);
        assert_eq!(x[1].to_bits(), (-0.0_f64).to_bits());
        assert_eq!(c.u64s("n").expect("n"), [u64::MAX, 0]);
        assert_eq!(c.bytes("name").expect("name"), "toile ✓".as_bytes());
        assert_eq!(c.f32s("p").expect("p"), [1.5, 2.5, 3.5]);
        assert_eq!(c.u32s("faces").expect("faces"), [0, 1, 2]);
        assert!(c.f64s("empty").expect("empty").is_empty());
        assert!(c.f64s("n").expect_err("wrong type").message.contains("does not hold f64"));
        assert!(c.f64s("y").expect_err("absent").message.contains("no array \"y\""));
    }

    #[test]
    fn every_flipped_bit_and_every_truncation_is_detected() {
        let good = sample();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&bad).is_err(), "bit {bit} of byte {} went unseen", bit / 8);
        }
        for length in 0..good.len() {
            assert!(decode(&good[..length]).is_err(), "cut at {length}");
        }
        let mut long = good.clone();
        long.push(0);
        assert!(decode(&long).expect_err("extra").message.contains("extra bytes"));
    }

    /// A file with a right checksum over wrong content, as a hostile writer would make it.
    fn forged(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut bytes = sample();
        bytes.truncate(bytes.len() - CHECKSUM);
        change(&mut bytes);
        let sum = xxh3_64(&bytes).to_le_bytes();
        bytes.extend_from_slice(&sum);
        bytes
    }

    #[test]
    fn lying_counts_do_not_allocate() {
        let counts = forged(|b| b[12..16].copy_from_slice(&u32::MAX.to_le_bytes()));
        assert!(decode(&counts).is_err());
        let elements = forged(|b| b[40..48].copy_from_slice(&(u64::MAX / 8).to_le_bytes()));
        assert!(decode(&elements).expect_err("huge").message.contains("runs past the end"));
        let overflow = forged(|b| b[40..48].copy_from_slice(&u64::MAX.to_le_bytes()));
        assert!(decode(&overflow).is_err());
        let version = forged(|b| b[8] = 9);
        assert_eq!(decode(&version).expect_err("newer").kind, FileErrorKind::Version);
    }
}
