//! Writing OBJ text: vertex order, polygons, texture coordinates, groups and loose edges as they are.

use super::{Group, NO_TEXCOORD, Obj, Polygons};
use crate::atomic::write_atomic;
use crate::error::FileError;
use glam::{DVec2, DVec3};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

/// How many digits numbers get. Both are the shortest text that reads back as the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Rounded to f32 first: what caches hold.
    Single,
    /// Full f64.
    Double,
}

/// An object to be written.
#[derive(Clone, Copy, Debug)]
pub struct ObjectRef<'a> {
    /// Name of the `o` line; empty writes none.
    pub name: &'a str,
    /// A comment above the object; empty writes none.
    pub note: &'a str,
    /// Vertex positions.
    pub positions: &'a [DVec3],
    /// Texture coordinates.
    pub texcoords: &'a [DVec2],
    /// Polygons, with vertices counted from 0 within this object.
    pub polygons: &'a Polygons,
    /// Groups of polygons.
    pub groups: &'a [Group],
    /// Loose edges.
    pub edges: &'a [[u32; 2]],
}

impl Obj {
    /// The mesh as an object to be written.
    pub fn as_object<'a>(&'a self, name: &'a str) -> ObjectRef<'a> {
        ObjectRef {
            name,
            note: "",
            positions: &self.positions,
            texcoords: &self.texcoords,
            polygons: &self.polygons,
            groups: &self.groups,
            edges: &self.edges,
        }
    }
}

/// Writes objects into one file, whole or not at all.
pub fn write(path: &Path, objects: &[ObjectRef<'_>], precision: Precision) -> Result<(), FileError> {
    write_atomic(path, &encode(objects, precision))
}

/// The text of a file holding these objects.
pub fn encode(objects: &[ObjectRef<'_>], precision: Precision) -> Vec<u8> {
    let vertices: usize = objects.iter().map(|o| o.positions.len()).sum();
    let mut out = Vec::with_capacity(64 + 32 * vertices);
    out.extend_from_slice(b"# toile\n");
    let (mut v0, mut t0) = (1u64, 1u64);
    for object in objects {
        for line in object.note.lines() {
            let _ = writeln!(out, "# {line}");
        }
        if !object.name.is_empty() {
            let _ = writeln!(out, "o {}", one_word(object.name));
        }
        for p in object.positions {
            out.extend_from_slice(b"v");
            p.to_array().iter().for_each(|&x| number(&mut out, x, precision));
            out.push(b'\n');
        }
        for t in object.texcoords {
            out.extend_from_slice(b"vt");
            t.to_array().iter().for_each(|&x| number(&mut out, x, precision));
            out.push(b'\n');
        }
        faces(&mut out, object, v0, t0);
        for [a, b] in object.edges {
            let _ = writeln!(out, "l {} {}", v0 + u64::from(*a), v0 + u64::from(*b));
        }
        v0 += object.positions.len() as u64;
        t0 += object.texcoords.len() as u64;
    }
    out
}

/// Names end at spaces in `g` lines.
fn one_word(name: &str) -> String {
    name.chars().map(|c| if c.is_whitespace() || c.is_control() || c == '#' { '_' } else { c }).collect()
}

fn number(out: &mut Vec<u8>, x: f64, precision: Precision) {
    let _ = match precision {
        Precision::Double if plain(x) => write!(out, " {x}"),
        Precision::Double => write!(out, " {x:e}"),
        Precision::Single => {
            let single = x as f32;
            // Read through f64, the shortest f32 text could in rare cases round twice and miss by one bit.
            let text = if plain(x) { format!("{single}") } else { format!("{single:e}") };
            let same = text.parse::<f64>().is_ok_and(|y| (y as f32).to_bits() == single.to_bits());
            if same { write!(out, " {text}") } else { write!(out, " {}", f64::from(single)) }
        }
    };
}

/// Whether the number is readable without an exponent.
fn plain(x: f64) -> bool {
    x == 0.0 || (1e-5..1e9).contains(&x.abs())
}

fn faces(out: &mut Vec<u8>, object: &ObjectRef<'_>, v0: u64, t0: u64) {
    let polygons = object.polygons;
    let mut groups = GroupLines::new(object.groups);
    for p in 0..polygons.len() {
        groups.advance(out, p as u32);
        out.push(b'f');
        let texcoords = polygons.texcoords(p);
        for (i, v) in polygons.vertices(p).iter().enumerate() {
            let _ = write!(out, " {}", v0 + u64::from(*v));
            if let Some(t) = texcoords.get(i).filter(|&&t| t != NO_TEXCOORD) {
                let _ = write!(out, "/{}", t0 + u64::from(*t));
            }
        }
        out.push(b'\n');
    }
}

/// Writes a `g` line wherever the set of groups changes.
struct GroupLines<'a> {
    groups: &'a [Group],
    /// Polygon, whether the group starts there, group; sorted, so that ends come before starts.
    events: Vec<(u32, bool, usize)>,
    next: usize,
    active: BTreeSet<usize>,
}

impl<'a> GroupLines<'a> {
    fn new(groups: &'a [Group]) -> Self {
        let ranges =
            groups.iter().enumerate().flat_map(|(g, group)| group.polygons.iter().map(move |r| (g, r)));
        let mut events: Vec<(u32, bool, usize)> =
            ranges.flat_map(|(g, r)| [(r.start, true, g), (r.end, false, g)]).collect();
        events.sort_unstable();
        Self { groups, events, next: 0, active: BTreeSet::new() }
    }

    fn advance(&mut self, out: &mut Vec<u8>, polygon: u32) {
        let before = self.next;
        while let Some(&(_, starts, group)) = self.events.get(self.next).filter(|e| e.0 <= polygon) {
            if starts {
                self.active.insert(group)
            } else {
                self.active.remove(&group)
            };
            self.next += 1;
        }
        if self.next > before {
            out.push(b'g');
            for &g in &self.active {
                let _ = write!(out, " {}", one_word(&self.groups[g].name));
            }
            out.push(b'\n');
        }
    }
}
