//! Geometry as bytes, little-endian, everything on a multiple of four bytes from the start.
//!
//! A *key* says what there is, a *frame* where it is now. Layouts, offsets in bytes:
//!
//! ```text
//! key    0 u8 1, u8 1 (version), u16 0      4 u32 revision      8 u32 objects
//!        then for each object:  u32 vertices   u32 faces   u32 flags: 1 has_uv, 2 has_marks
//!                               f32 ×3 per vertex: where it is when the key is sent
//!                               f32 ×2 per vertex: texture coordinates [m], if has_uv
//!                               u32 ×3 per face
//!                               u8 per face, if has_marks: 0 as it was, 1 split, 2 put back; then nothing up to a multiple of 4
//!
//! frame  0 u8 2, u8 1 (version), u16 0      4 u32 serial        8 u32 revision
//!       12 u32 tick, low half              16 u32 tick, high    20 u32 flags
//!       24 f64 time [s]                    32 u32 objects that move
//!        then for each of them: u32 index in the key   u32 vertices
//!                               with flag U16: f32 ×6 box (lowest, highest corner), then u16 ×3 per vertex and 2 bytes
//!                               of nothing if their number is odd; without: f32 ×3 per vertex
//!                               with flag SCALAR: f32 per vertex
//!        then with flag CONTACTS: u32 number, then f32 ×6 each: the two nearest points
//! ```

use crate::protocol::Format;

/// Places are 16-bit parts of a box.
pub const U16: u32 = 1;
/// The frame is a recorded one, not the present.
pub const RECORDED: u32 = 2;
/// A number at each vertex follows the places.
pub const SCALAR: u32 = 4;
/// Pairs that touch follow the objects.
pub const CONTACTS: u32 = 8;

const VERSION: u8 = 1;

/// An object of a key.
pub struct Shown<'a> {
    /// Where its vertices are [m].
    pub positions: &'a [[f32; 3]],
    /// Texture coordinates [m], or nothing.
    pub uv: &'a [[f32; 2]],
    /// Faces.
    pub faces: &'a [[u32; 3]],
    /// What refinement did to each face, or nothing.
    pub marks: &'a [u8],
}

/// The bytes of a key.
pub fn key(revision: u32, objects: &[Shown]) -> Vec<u8> {
    let mut out = vec![1, VERSION, 0, 0];
    put(&mut out, [revision, objects.len() as u32]);
    for object in objects {
        let has_uv = object.uv.len() == object.positions.len() && !object.uv.is_empty();
        let has_marks = object.marks.len() == object.faces.len() && !object.marks.is_empty();
        let flags = u32::from(has_uv) + 2 * u32::from(has_marks);
        put(&mut out, [object.positions.len() as u32, object.faces.len() as u32, flags]);
        floats(&mut out, object.positions.as_flattened());
        if has_uv {
            floats(&mut out, object.uv.as_flattened());
        }
        put(&mut out, object.faces.as_flattened().iter().copied());
        if has_marks {
            out.extend_from_slice(object.marks);
            out.resize(out.len().next_multiple_of(4), 0);
        }
    }
    out
}

/// An object of a frame.
pub struct Moved<'a> {
    /// Its place in the key.
    pub index: u32,
    /// Where its vertices are [m].
    pub positions: &'a [[f32; 3]],
    /// A number at each vertex, or nothing.
    pub scalar: &'a [f32],
}

/// Which frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// Counts the frames sent to one page.
    pub serial: u32,
    /// Revision of the key it fits.
    pub revision: u32,
    /// Its tick.
    pub tick: u64,
    /// Its time [s].
    pub time: f64,
    /// Whether it is a recorded one.
    pub recorded: bool,
}

/// The bytes of a frame.
pub fn frame(head: Head, format: Format, objects: &[Moved], contacts: Option<&[[[f32; 3]; 2]]>) -> Vec<u8> {
    let scalar = objects.iter().any(|object| !object.scalar.is_empty());
    let mut flags = 0;
    for (flag, on) in [
        (U16, format == Format::U16),
        (RECORDED, head.recorded),
        (SCALAR, scalar),
        (CONTACTS, contacts.is_some()),
    ] {
        flags |= if on { flag } else { 0 };
    }
    let mut out = vec![2, VERSION, 0, 0];
    put(&mut out, [head.serial, head.revision, head.tick as u32, (head.tick >> 32) as u32, flags]);
    out.extend_from_slice(&head.time.to_le_bytes());
    put(&mut out, [objects.len() as u32]);
    for object in objects {
        put(&mut out, [object.index, object.positions.len() as u32]);
        match format {
            Format::F32 => floats(&mut out, object.positions.as_flattened()),
            Format::U16 => parts(&mut out, object.positions),
        }
        if scalar {
            // A page that asked for numbers gets one for every vertex, whatever it is.
            let missing = object.positions.len().saturating_sub(object.scalar.len());
            floats(&mut out, object.scalar);
            floats(&mut out, &vec![0.0; missing]);
        }
    }
    if let Some(contacts) = contacts {
        put(&mut out, [contacts.len() as u32]);
        floats(&mut out, contacts.as_flattened().as_flattened());
    }
    out
}

fn put(out: &mut Vec<u8>, values: impl IntoIterator<Item = u32>) {
    for value in values {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

fn floats(out: &mut Vec<u8>, values: &[f32]) {
    out.reserve(4 * values.len());
    for value in values {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// Places as parts of their box: within 1/131070 of its size.
fn parts(out: &mut Vec<u8>, positions: &[[f32; 3]]) {
    let mut low = [f32::INFINITY; 3];
    let mut high = [f32::NEG_INFINITY; 3];
    for p in positions {
        for k in 0..3 {
            low[k] = low[k].min(p[k]);
            high[k] = high[k].max(p[k]);
        }
    }
    if positions.is_empty() {
        (low, high) = ([0.0; 3], [0.0; 3]);
    }
    floats(out, &low);
    floats(out, &high);
    for p in positions {
        for k in 0..3 {
            let size = high[k] - low[k];
            let part = if size > 0.0 { (p[k] - low[k]) / size } else { 0.0 };
            out.extend_from_slice(&((part * 65535.0).round() as u16).to_le_bytes());
        }
    }
    if positions.len() % 2 == 1 {
        out.extend_from_slice(&[0, 0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(bytes: &[u8], at: usize) -> f32 {
        f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    }

    const PLACES: [[f32; 3]; 3] = [[0.0, 1.0, 2.0], [0.5, -1.0, 2.0], [1.0, 0.0, 2.0]];
    const HEAD: Head = Head { serial: 7, revision: 3, tick: 5_000_000_000, time: 1.5, recorded: true };

    #[test]
    fn a_key_has_everything_where_its_layout_says() {
        let faces = [[0, 1, 2]];
        let shown = |marks| Shown { positions: &PLACES, uv: &[], faces: &faces, marks };
        let marked = key(9, &[shown(&[2]), shown(&[])]);
        assert_eq!(marked.len(), 12 + 2 * (12 + 36 + 12) + 4);
        assert_eq!((marked[20], marked[72], marked[76], marked[84]), (2, 2, 3, 0));
        let bytes = key(9, &[shown(&[])]);
        assert_eq!(bytes.len(), 12 + 12 + 36 + 12);
        assert_eq!((bytes[0], bytes[4], bytes[8], bytes[12], bytes[16], bytes[20]), (1, 9, 1, 3, 1, 0));
        assert_eq!((float(&bytes, 24 + 16), bytes[24 + 36 + 8]), (-1.0, 2));
    }

    #[test]
    fn frames_say_the_same_in_both_formats() {
        let scalar = [0.1, 0.2, 0.3];
        let moved = [Moved { index: 1, positions: &PLACES, scalar: &scalar }];
        let contacts = [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]];
        let whole = frame(HEAD, Format::F32, &moved, Some(&contacts));
        assert_eq!(whole.len(), 36 + 8 + 36 + 12 + 4 + 24);
        assert_eq!((whole[4], whole[8], whole[20]), (7, 3, (RECORDED | SCALAR | CONTACTS) as u8));
        assert_eq!(u32::from_le_bytes([whole[12], whole[13], whole[14], whole[15]]), 5_000_000_000u64 as u32);
        assert_eq!(whole[16], 1);
        assert_eq!((float(&whole, 44 + 4), float(&whole, 80), float(&whole, 96)), (1.0, 0.1, 1.0));
        let small = frame(HEAD, Format::U16, &moved, None);
        assert_eq!(small.len(), 36 + 8 + 24 + 20 + 12);
        let low = [0, 4, 8].map(|k| float(&small, 44 + k));
        let high = [12, 16, 20].map(|k| float(&small, 44 + k));
        for (n, p) in PLACES.iter().enumerate() {
            for k in 0..3 {
                let at = 68 + 6 * n + 2 * k;
                let part = f32::from(u16::from_le_bytes([small[at], small[at + 1]])) / 65535.0;
                assert!((low[k] + part * (high[k] - low[k]) - p[k]).abs() <= 2.0 / 131_070.0 + 1e-6);
            }
        }
    }

    #[test]
    fn nothing_at_all_is_a_frame_too() {
        let moved = [Moved { index: 0, positions: &[], scalar: &[] }];
        assert_eq!(frame(HEAD, Format::U16, &moved, Some(&[])).len(), 36 + 8 + 24 + 4);
    }
}
