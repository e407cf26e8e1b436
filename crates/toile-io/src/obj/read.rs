//! Reading OBJ text: every error has a line, no input panics, memory stays proportional to the file.

use super::{Group, NO_TEXCOORD, Obj};
use crate::atomic::read_capped;
use crate::error::{FileError, FileErrorKind};
use glam::{DVec2, DVec3};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// Largest mesh accepted.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Size of the file [bytes].
    pub bytes: u64,
    /// Number of vertices.
    pub vertices: usize,
    /// Corners of all polygons together.
    pub corners: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 8 << 30, vertices: 50_000_000, corners: 200_000_000 }
    }
}

/// Largest coordinate accepted [file units]; beyond, a file is damaged and squares overflow f32.
const MAX_COORDINATE: f64 = 1e12;
/// Distinct statements counted one by one; the rest share a counter.
const MAX_IGNORED: usize = 24;
/// Notes written one by one; the rest are summed up.
const MAX_NOTES: usize = 8;

impl Obj {
    /// Reads a mesh file within the default limits.
    pub fn read(path: &Path) -> Result<Obj, FileError> {
        let limits = Limits::default();
        Obj::parse(&read_capped(path, limits.bytes)?, path, &limits)
    }

    /// Parses the bytes of a mesh file; `path` is only used in messages.
    pub fn parse(bytes: &[u8], path: &Path, limits: &Limits) -> Result<Obj, FileError> {
        Obj::parse_with(bytes, Reader::new(path, limits))
    }

    /// The same for a later frame of a sequence: coordinates that are no numbers become NaN, for the caller to judge.
    pub(crate) fn parse_pose(bytes: &[u8], path: &Path, limits: &Limits) -> Result<Obj, FileError> {
        Obj::parse_with(bytes, Reader { pose: true, ..Reader::new(path, limits) })
    }

    fn parse_with(bytes: &[u8], mut reader: Reader<'_>) -> Result<Obj, FileError> {
        let path = reader.path;
        for (line, text) in logical_lines(bytes) {
            reader.line = line;
            reader.statement(&text).map_err(|f| f.at(path, line))?;
        }
        reader.finish()
    }
}

/// Lines joined where they end in a backslash, with the number of the first.
fn logical_lines(bytes: &[u8]) -> impl Iterator<Item = (u64, Cow<'_, [u8]>)> {
    let mut rest = bytes.split(|&b| b == b'\n');
    let mut number = 0;
    std::iter::from_fn(move || {
        let first = rest.next()?;
        number += 1;
        let start = number;
        let mut text = Cow::Borrowed(trim_end(first));
        while text.ends_with(b"\\") {
            let joined = text.to_mut();
            joined.pop();
            joined.push(b' ');
            match rest.next() {
                Some(next) => {
                    number += 1;
                    joined.extend_from_slice(trim_end(next));
                }
                None => break,
            }
        }
        Some((start, text))
    })
}

fn trim_end(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A refused statement; its line is known to the caller.
struct Fault {
    kind: FileErrorKind,
    message: String,
    help: &'static str,
}

impl Fault {
    fn at(self, path: &Path, line: u64) -> FileError {
        FileError::new(self.kind, path, self.message, self.help).at_line(line)
    }
}

fn fault<T>(message: impl Into<String>, help: &'static str) -> Result<T, Fault> {
    Err(Fault { kind: FileErrorKind::Format, message: message.into(), help })
}

/// A reference to an element that had not been read yet when it was used.
#[derive(Clone, Copy, Default)]
struct Ahead {
    index: u32,
    line: u64,
}

struct Reader<'a> {
    path: &'a Path,
    limits: &'a Limits,
    /// Whether coordinates may be no numbers.
    pose: bool,
    obj: Obj,
    line: u64,
    group_index: BTreeMap<String, usize>,
    object: Option<usize>,
    active: Vec<usize>,
    opened: u32,
    ignored: BTreeMap<String, u64>,
    vertex_ahead: Ahead,
    texcoord_ahead: Ahead,
    repaired: u64,
    corners: (Vec<u32>, Vec<u32>),
}

impl<'a> Reader<'a> {
    fn new(path: &'a Path, limits: &'a Limits) -> Self {
        Self {
            path,
            limits,
            pose: false,
            obj: Obj::default(),
            line: 1,
            group_index: BTreeMap::new(),
            object: None,
            active: Vec::new(),
            opened: 0,
            ignored: BTreeMap::new(),
            vertex_ahead: Ahead::default(),
            texcoord_ahead: Ahead::default(),
            repaired: 0,
            corners: (Vec::new(), Vec::new()),
        }
    }

    fn statement(&mut self, text: &[u8]) -> Result<(), Fault> {
        let code = text.split(|&b| b == b'#').next().unwrap_or_default();
        let mut words = code.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        let Some(keyword) = words.next() else { return Ok(()) };
        match keyword {
            b"v" => self.vertex(words),
            b"vt" => self.texcoord(words),
            b"f" => self.face(words),
            b"l" => self.polyline(words),
            b"g" => {
                let names: Vec<String> = words.map(lossy).collect();
                self.switch_group(names);
                Ok(())
            }
            b"o" => {
                // An object's name is the rest of the line, spaces included.
                let name = words.map(lossy).collect::<Vec<_>>().join(" ");
                self.switch_object(name);
                Ok(())
            }
            other => {
                self.ignore(other);
                Ok(())
            }
        }
    }

    fn ignore(&mut self, keyword: &[u8]) {
        let known = keyword.len() <= 16 && keyword.is_ascii() && self.ignored.len() < MAX_IGNORED;
        let name = lossy(keyword);
        match self.ignored.get_mut(&name) {
            Some(count) => *count += 1,
            None if known => {
                self.ignored.insert(name, 1);
            }
            None => *self.ignored.entry("other".into()).or_insert(0) += 1,
        }
    }

    fn vertex<'w>(&mut self, mut words: impl Iterator<Item = &'w [u8]>) -> Result<(), Fault> {
        if self.obj.positions.len() >= self.limits.vertices {
            return too_many("vertices", self.limits.vertices);
        }
        let mut place = [0.0; 3];
        for (slot, name) in place.iter_mut().zip(["x", "y", "z"]) {
            let word = words.next();
            *slot = match coordinate(word, name) {
                Err(_) if self.pose && word.is_some_and(no_number) => f64::NAN,
                other => other?,
            };
        }
        self.obj.positions.push(DVec3::from(place));
        Ok(())
    }

    fn texcoord<'w>(&mut self, mut words: impl Iterator<Item = &'w [u8]>) -> Result<(), Fault> {
        if self.obj.texcoords.len() >= self.limits.corners {
            return too_many("texture coordinates", self.limits.corners);
        }
        let u = coordinate(words.next(), "u")?;
        // A one-dimensional texture coordinate is legal.
        let v = words.next().map_or(Ok(0.0), |w| coordinate(Some(w), "v"))?;
        self.obj.texcoords.push(DVec2::new(u, v));
        Ok(())
    }

    fn face<'w>(&mut self, words: impl Iterator<Item = &'w [u8]>) -> Result<(), Fault> {
        let (mut vertices, mut texcoords) = std::mem::take(&mut self.corners);
        vertices.clear();
        texcoords.clear();
        for word in words {
            let (v, t) = self.corner(word)?;
            vertices.push(v);
            texcoords.push(t);
        }
        if vertices.len() < 3 {
            let message = format!("a face needs at least 3 corners, this one has {}", vertices.len());
            return fault(message, "remove the line, or write an edge as \"l 1 2\"");
        }
        if vertices.len() > super::MAX_CORNERS {
            return Err(Fault {
                kind: FileErrorKind::Limit,
                message: format!(
                    "a face with {} corners, the limit is {}",
                    vertices.len(),
                    super::MAX_CORNERS
                ),
                help: "triangulate the mesh in the program that wrote it",
            });
        }
        if self.obj.polygons.corner_count() + vertices.len() > self.limits.corners {
            return too_many("face corners", self.limits.corners);
        }
        let written = (vertices.clone(), texcoords.clone());
        drop_repeats(&mut vertices, &mut texcoords);
        if vertices.len() < 3 {
            // It stays a polygon of the file, so that what is written has as many, but has no triangles.
            self.repair("it has no area");
            (vertices, texcoords) = written;
        } else {
            if vertices.len() < written.0.len() {
                self.repair("kept without the repeats");
            }
            if let Some(v) = repeated(&vertices) {
                let message = format!("a face goes through vertex {} twice", v + 1);
                return fault(message, "split the face in two where it touches itself");
            }
        }
        self.obj.polygons.push(&vertices, &texcoords);
        self.corners = (vertices, texcoords);
        Ok(())
    }

    fn repair(&mut self, outcome: &str) {
        self.repaired += 1;
        if self.repaired as usize <= MAX_NOTES {
            let note = format!("line {}: a face repeats a vertex; {outcome}", self.line);
            self.obj.notes.push(note);
        }
    }

    fn polyline<'w>(&mut self, words: impl Iterator<Item = &'w [u8]>) -> Result<(), Fault> {
        let mut previous = None;
        let mut count = 0usize;
        for word in words {
            let (v, _) = self.corner(word)?;
            if self.obj.edges.len() >= self.limits.corners {
                return too_many("loose edges", self.limits.corners);
            }
            if let Some(p) = previous.filter(|&p| p != v) {
                self.obj.edges.push([p, v]);
            }
            previous = Some(v);
            count += 1;
        }
        if count < 2 {
            return fault("an edge (l) needs two vertices", "remove the line, or add the second vertex");
        }
        Ok(())
    }

    /// Reads "7", "7/1", "7//3" or "7/1/3"; the normal is not used.
    fn corner(&mut self, word: &[u8]) -> Result<(u32, u32), Fault> {
        let mut parts = word.split(|&b| b == b'/');
        let vertex = parts.next().unwrap_or_default();
        let texcoord = parts.next().unwrap_or_default();
        let line = self.line;
        let v = index(word, vertex, self.obj.positions.len(), "vertex", line, &mut self.vertex_ahead)?;
        let t = if texcoord.is_empty() {
            NO_TEXCOORD
        } else {
            let count = self.obj.texcoords.len();
            index(word, texcoord, count, "texture coordinate", line, &mut self.texcoord_ahead)?
        };
        if parts.next().is_some_and(|n| !n.is_empty() && parse_integer(n).is_none()) || parts.next().is_some()
        {
            return fault(format!("\"{}\" is not a face corner", lossy(word)), CORNER_HELP);
        }
        Ok((v, t))
    }

    fn switch_group(&mut self, names: Vec<String>) {
        self.close_groups();
        let mut active: Vec<usize> = names.into_iter().map(|n| self.group(n)).collect();
        active.extend(self.object);
        self.activate(active);
    }

    fn switch_object(&mut self, name: String) {
        self.close_groups();
        self.object = if name.is_empty() { None } else { Some(self.group(name)) };
        self.activate(self.object.into_iter().collect());
    }

    fn activate(&mut self, mut active: Vec<usize>) {
        active.sort_unstable();
        active.dedup();
        self.active = active;
    }

    fn group(&mut self, name: String) -> usize {
        let next = self.obj.groups.len();
        let index = *self.group_index.entry(name.clone()).or_insert(next);
        if index == next {
            self.obj.groups.push(Group { name, polygons: Vec::new() });
        }
        index
    }

    fn close_groups(&mut self) {
        let end = self.obj.polygons.len() as u32;
        if end > self.opened {
            for &g in &self.active {
                self.obj.groups[g].polygons.push(self.opened..end);
            }
        }
        self.opened = end;
    }

    fn finish(mut self) -> Result<Obj, FileError> {
        self.close_groups();
        let whole =
            |message: String, help: &str| FileError::new(FileErrorKind::Format, self.path, message, help);
        let (vertices, texcoords) = (self.obj.positions.len(), self.obj.texcoords.len());
        if vertices == 0 {
            return Err(whole(
                "the file holds no vertices (v lines)".into(),
                "check that this is an OBJ mesh",
            ));
        }
        if self.obj.polygons.is_empty() {
            let message = format!("the file holds {vertices} vertices but no faces (f lines)");
            return Err(whole(message, "export the mesh with its faces"));
        }
        for (ahead, count, what) in
            [(self.vertex_ahead, vertices, "vertex"), (self.texcoord_ahead, texcoords, "texture coordinate")]
        {
            if ahead.index as usize >= count && ahead.line > 0 {
                return Err(out_of_range(what, i64::from(ahead.index) + 1, count).at(self.path, ahead.line));
            }
        }
        if self.repaired as usize > MAX_NOTES {
            self.obj.notes.push(format!("{} faces in all repeat a vertex", self.repaired));
        }
        self.obj.ignored = self.ignored.into_iter().collect();
        Ok(self.obj)
    }
}

const CORNER_HELP: &str = "corners are written v, v/vt, v//vn or v/vt/vn with numbers counted from 1";

fn lossy(word: &[u8]) -> String {
    String::from_utf8_lossy(&word[..word.len().min(200)]).into_owned()
}

fn too_many<T>(what: &str, limit: usize) -> Result<T, Fault> {
    Err(Fault {
        kind: FileErrorKind::Limit,
        message: format!("the file has more than {limit} {what}"),
        help: "use a coarser mesh, or check that this is the right file",
    })
}

fn coordinate(word: Option<&[u8]>, name: &str) -> Result<f64, Fault> {
    let Some(word) = word else {
        return fault(format!("the {name} coordinate is missing"), "write all coordinates on one line");
    };
    let number = std::str::from_utf8(word).ok().and_then(|w| w.parse::<f64>().ok());
    match number {
        Some(x) if x.is_finite() && x.abs() <= MAX_COORDINATE => Ok(x),
        Some(x) if x.is_finite() => {
            let message = format!("the {name} coordinate is {x:e}, the limit is {MAX_COORDINATE:e}");
            fault(message, "the file is probably damaged; export the mesh again")
        }
        Some(_) => fault(
            format!("the {name} coordinate is \"{}\", not a finite number", lossy(word)),
            "delete or repair the vertex in the program that wrote the file",
        ),
        None if word.contains(&b',') => fault(
            format!("the {name} coordinate is \"{}\", not a number", lossy(word)),
            "write decimals with a point: 1.5",
        ),
        None => fault(
            format!("the {name} coordinate is \"{}\", not a number", lossy(word)),
            "check that the file is an OBJ mesh",
        ),
    }
}

/// Whether a word is what programs write for a number that is none, or far too large.
fn no_number(word: &[u8]) -> bool {
    let text = String::from_utf8_lossy(word).to_ascii_lowercase();
    text.contains("nan") || text.contains("inf") || text.parse::<f64>().is_ok()
}

fn parse_integer(word: &[u8]) -> Option<i64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// An OBJ index (from 1, or from −1 backwards) as a position from 0.
fn index(
    corner: &[u8],
    word: &[u8],
    count: usize,
    what: &str,
    line: u64,
    ahead: &mut Ahead,
) -> Result<u32, Fault> {
    let Some(i) = parse_integer(word) else {
        return fault(format!("\"{}\" is not a face corner", lossy(corner)), CORNER_HELP);
    };
    if i == 0 {
        return fault(format!("{what} 0 does not exist"), "OBJ counts from 1; −1 is the latest one");
    }
    let position = if i > 0 { i - 1 } else { count as i64 + i };
    match u32::try_from(position) {
        Ok(p) if p < u32::MAX => {
            // Some programs write faces first: a positive index may still become valid.
            if p as usize >= count && (ahead.line == 0 || p > ahead.index) {
                *ahead = Ahead { index: p, line };
            }
            Ok(p)
        }
        _ => Err(out_of_range(what, i, count)),
    }
}

fn out_of_range(what: &str, index: i64, count: usize) -> Fault {
    Fault {
        kind: FileErrorKind::Format,
        message: format!("{what} {index} does not exist: the file has {count}"),
        help: "the file may be cut short; export it again",
    }
}

/// Removes corners that repeat the one before them, as triangles written as quads do.
fn drop_repeats(vertices: &mut Vec<u32>, texcoords: &mut Vec<u32>) {
    let mut kept = 0;
    for i in 0..vertices.len() {
        if kept == 0 || vertices[i] != vertices[kept - 1] {
            vertices[kept] = vertices[i];
            texcoords[kept] = texcoords[i];
            kept += 1;
        }
    }
    while kept > 1 && vertices[kept - 1] == vertices[0] {
        kept -= 1;
    }
    vertices.truncate(kept);
    texcoords.truncate(kept);
}

fn repeated(vertices: &[u32]) -> Option<u32> {
    if vertices.len() <= 8 {
        return (1..vertices.len()).find(|&i| vertices[..i].contains(&vertices[i])).map(|i| vertices[i]);
    }
    let mut sorted = vertices.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).find(|w| w[0] == w[1]).map(|w| w[0])
}
