//! PC2 point caches: positions of one mesh over time, read by Blender, 3ds Max and Marvelous Designer.
//!
//! ```text
//!  0  12 bytes "POINTCACHE2" and a zero
//! 12  i32      version, 1
//! 16  i32      points per sample
//! 20  f32      first frame
//! 24  f32      frames per sample
//! 28  i32      samples
//! 32  f32      samples × points × 3, little-endian
//! ```
//!
//! There is no topology inside: the vertex order must be that of the mesh it is played on.

use crate::atomic::PendingFile;
use crate::error::{FileError, FileErrorKind};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const HEADER: u64 = 32;
const MAGIC: &[u8; 12] = b"POINTCACHE2\0";
/// Most points per sample accepted.
pub const MAX_POINTS: u32 = 50_000_000;

/// An open point cache.
#[derive(Debug)]
pub struct Pc2Reader {
    file: File,
    path: PathBuf,
    /// Points per sample.
    pub points: u32,
    /// Frame of the first sample.
    pub start_frame: f32,
    /// Frames from one sample to the next.
    pub sample_rate: f32,
    /// Number of samples.
    pub samples: u32,
}

impl Pc2Reader {
    /// Opens a cache; its length must be what its header says.
    pub fn open(path: &Path) -> Result<Pc2Reader, FileError> {
        let mut file = File::open(path).map_err(|e| FileError::from_io(path, "open", &e))?;
        let length = file.metadata().map_err(|e| FileError::from_io(path, "read", &e))?.len();
        let mut head = Vec::new();
        let read = (&mut file).take(HEADER).read_to_end(&mut head);
        read.map_err(|e| FileError::from_io(path, "read", &e))?;
        let header =
            parse_header(&head).map_err(|(kind, message, help)| FileError::new(kind, path, message, help))?;
        let [points, samples] = header.counts;
        // i32 × i32 × 12 fits into u64 with room to spare.
        let expected = HEADER + u64::from(points) * u64::from(samples) * 12;
        if length != expected {
            let what = if length < expected { "is cut short" } else { "has extra bytes" };
            let message = format!(
                "the cache {what}: {length} bytes, {expected} are needed for {samples} samples of {points} points"
            );
            return Err(FileError::new(FileErrorKind::Corrupt, path, message, "export the cache again"));
        }
        let [start_frame, sample_rate] = header.times;
        Ok(Pc2Reader { file, path: path.to_path_buf(), points, start_frame, sample_rate, samples })
    }

    /// The points of a sample, counted from 0.
    pub fn read(&mut self, sample: u32) -> Result<Vec<[f32; 3]>, FileError> {
        if sample >= self.samples {
            let message = format!("sample {sample} does not exist: the cache has {}", self.samples);
            return Err(FileError::new(
                FileErrorKind::Format,
                &self.path,
                message,
                "samples are counted from 0",
            ));
        }
        let stride = u64::from(self.points) * 12;
        let mut bytes = vec![0; self.points as usize * 12];
        let read = self
            .file
            .seek(SeekFrom::Start(HEADER + u64::from(sample) * stride))
            .and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|e| FileError::from_io(&self.path, "read", &e))?;
        let (words, _) = bytes.as_chunks::<4>();
        let values: Vec<f32> = words.iter().map(|w| f32::from_le_bytes(*w)).collect();
        Ok(values.as_chunks::<3>().0.to_vec())
    }
}

struct Header {
    counts: [u32; 2],
    times: [f32; 2],
}

fn parse_header(head: &[u8]) -> Result<Header, (FileErrorKind, String, &'static str)> {
    let known = head.len().min(MAGIC.len());
    if known == 0 || head[..known] != MAGIC[..known] {
        return Err((
            FileErrorKind::Format,
            "this is not a PC2 cache (wrong first bytes)".into(),
            "give a .pc2 file",
        ));
    }
    if (head.len() as u64) < HEADER {
        let message = format!("the cache is cut short: {} bytes, its header has {HEADER}", head.len());
        return Err((FileErrorKind::Corrupt, message, "export the cache again"));
    }
    let word = |i: usize| [head[i], head[i + 1], head[i + 2], head[i + 3]];
    let version = i32::from_le_bytes(word(12));
    if version != 1 {
        let message = format!("PC2 version {version}; only version 1 exists");
        return Err((FileErrorKind::Version, message, "export the cache again"));
    }
    let points = i32::from_le_bytes(word(16));
    let samples = i32::from_le_bytes(word(28));
    let times = [f32::from_le_bytes(word(20)), f32::from_le_bytes(word(24))];
    let count = |n: i32, what: &str, limit: u32| match u32::try_from(n) {
        Ok(n) if n > limit => {
            let message = format!("the cache announces {n} {what}, the limit is {limit}");
            Err((FileErrorKind::Limit, message, "check that this is the right file"))
        }
        Ok(n) if n > 0 => Ok(n),
        _ => {
            Err((FileErrorKind::Format, format!("the cache announces {n} {what}"), "export the cache again"))
        }
    };
    if !times.iter().all(|t| t.is_finite()) {
        let message = format!("the cache starts at frame {} with {} frames per sample", times[0], times[1]);
        return Err((FileErrorKind::Format, message, "export the cache again"));
    }
    Ok(Header {
        counts: [count(points, "points", MAX_POINTS)?, count(samples, "samples", i32::MAX as u32)?],
        times,
    })
}

/// A point cache being written. It takes its name only when [`Pc2Writer::finish`] succeeds.
pub struct Pc2Writer {
    pending: PendingFile,
    path: PathBuf,
    points: u32,
    samples: u32,
}

impl Pc2Writer {
    /// Starts a cache of `points` particles whose first sample is frame `start_frame`.
    pub fn create(
        path: &Path,
        points: u32,
        start_frame: f32,
        sample_rate: f32,
    ) -> Result<Pc2Writer, FileError> {
        if points == 0 || points > MAX_POINTS {
            let message = format!("a PC2 cache of {points} points, the limit is 1 to {MAX_POINTS}");
            return Err(FileError::new(
                FileErrorKind::Limit,
                path,
                message,
                "export the objects one by one, or smooth less",
            ));
        }
        let mut pending = PendingFile::create(path)?;
        let mut head = Vec::with_capacity(HEADER as usize);
        head.extend_from_slice(MAGIC);
        head.extend_from_slice(&1i32.to_le_bytes());
        head.extend_from_slice(&(points as i32).to_le_bytes());
        head.extend_from_slice(&start_frame.to_le_bytes());
        head.extend_from_slice(&sample_rate.to_le_bytes());
        head.extend_from_slice(&0i32.to_le_bytes());
        pending.writer.write_all(&head).map_err(|e| FileError::from_io(path, "write", &e))?;
        Ok(Pc2Writer { pending, path: path.to_path_buf(), points, samples: 0 })
    }

    /// Appends a sample.
    pub fn push(&mut self, positions: &[[f32; 3]]) -> Result<(), FileError> {
        if positions.len() != self.points as usize {
            let message = format!(
                "sample {} has {} points, the cache was started with {}",
                self.samples,
                positions.len(),
                self.points
            );
            let help = "PC2 needs the same mesh in every frame";
            return Err(FileError::new(FileErrorKind::Refused, &self.path, message, help));
        }
        let mut bytes = Vec::with_capacity(positions.len() * 12);
        positions.as_flattened().iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
        self.pending.writer.write_all(&bytes).map_err(|e| FileError::from_io(&self.path, "write", &e))?;
        self.samples = self.samples.saturating_add(1);
        Ok(())
    }

    /// Completes the header and gives the file its name.
    pub fn finish(mut self) -> Result<(), FileError> {
        let samples = i32::try_from(self.samples).ok().filter(|&n| n > 0);
        let Some(samples) = samples else {
            let message = format!("a PC2 cache of {} samples cannot be written", self.samples);
            return Err(FileError::new(
                FileErrorKind::Refused,
                &self.path,
                message,
                "export at least one frame",
            ));
        };
        self.pending
            .rewind_to(28)
            .and_then(|()| self.pending.writer.write_all(&samples.to_le_bytes()))
            .map_err(|e| FileError::from_io(&self.path, "write", &e))?;
        self.pending.commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_is_exact_and_the_layout_is_the_published_one() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("a.pc2");
        let frames = [[[0.1f32, 0.2, 0.3], [1e-30, -0.0, 1e30]], [[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]];
        let mut w = Pc2Writer::create(&path, 2, 1001.0, 1.0).expect("create");
        assert!(w.push(&[[0.0; 3]]).is_err());
        for f in &frames {
            w.push(f).expect("push");
        }
        assert!(!path.exists());
        w.finish().expect("finish");
        let bytes = std::fs::read(&path).expect("file");
        assert_eq!(bytes.len(), 32 + 2 * 2 * 12);
        assert_eq!(&bytes[..12], b"POINTCACHE2\0");
        assert_eq!(bytes[16..20], 2i32.to_le_bytes());
        assert_eq!(bytes[28..32], 2i32.to_le_bytes());
        let mut r = Pc2Reader::open(&path).expect("open");
        assert_eq!((r.points, r.samples, r.start_frame, r.sample_rate), (2, 2, 1001.0, 1.0));
        // any order
        for k in [1, 0, 1] {
            let read = r.read(k).expect("sample");
            let same = read.as_flattened().iter().zip(frames[k as usize].as_flattened());
            assert!(same.clone().all(|(a, b)| a.to_bits() == b.to_bits()));
        }
        assert!(r.read(2).is_err());
    }

    #[test]
    fn damaged_headers_are_refused() {
        let dir = tempfile::tempdir().expect("tempdir");
        let path = dir.path().join("a.pc2");
        let mut w = Pc2Writer::create(&path, 1, 0.0, 1.0).expect("create");
        w.push(&[[1.0; 3]]).expect("push");
        w.finish().expect("finish");
        let good = std::fs::read(&path).expect("file");
        let refused = |change: &dyn Fn(&mut Vec<u8>), text: &str| {
            let mut bytes = good.clone();
            change(&mut bytes);
            std::fs::write(&path, &bytes).expect("write");
            let e = Pc2Reader::open(&path).expect_err(text);
            assert!(e.message.contains(text), "{e} should say {text}");
        };
        refused(&|b| b[0] = b'Q', "not a PC2");
        refused(&|b| b[12] = 2, "version 2");
        refused(&|b| b[16..20].copy_from_slice(&i32::MAX.to_le_bytes()), "limit");
        refused(&|b| b[16..20].copy_from_slice(&(-5i32).to_le_bytes()), "-5 points");
        refused(&|b| b[28..32].copy_from_slice(&i32::MAX.to_le_bytes()), "cut short");
        refused(&|b| b[20..24].copy_from_slice(&f32::NAN.to_le_bytes()), "NaN");
        refused(&|b| b.push(0), "extra bytes");
        for n in 0..good.len() {
            refused(&|b| b.truncate(n), "");
        }
    }
}
