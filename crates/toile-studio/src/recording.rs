//! What happened in a room, to be made again: a log of edits, and a tape of frames.
//!
//! The log is text, one JSON object a line:
//!
//! ```text
//! {"toile":"0.1.0","protocol":1,"scene":"…text of the scene…","source":"hang"}
//! {"mesh":"m1","obj":"…text of a mesh that a page sent…"}
//! {"tick":12,"by":1,"edit":{"do":"grab",…}}        made when 12 frames had been stepped
//! {"end":340,"fingerprint":"0123456789abcdef"}     the cloth after 340 frames
//! ```

use crate::live::Live;
use crate::protocol::{Edit, PROTOCOL};
use crate::show::{Picture, Stage, fingerprint};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;
use toile::Probe;
use toile_io::run::VERSION;
use toile_io::scene::Scene;

/// Most bytes of edits in a log: hours of dragging.
const LOG_BYTES: usize = 256 << 20;

/// A line of a log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Line {
    Head { toile: String, protocol: u32, scene: String, source: String },
    Mesh { mesh: String, obj: String },
    Edit { tick: u64, by: u32, edit: Edit },
    End { end: u64, fingerprint: String },
}

/// What was done to a scene since it was opened.
pub struct Log {
    head: String,
    lines: Vec<Kept>,
    bytes: usize,
}

enum Kept {
    Edit(String),
    Mesh(String, Arc<str>),
}

impl Log {
    /// The log of a scene to which nothing was done.
    pub fn new(scene: &Scene) -> Log {
        let head = Line::Head {
            toile: VERSION.into(),
            protocol: PROTOCOL,
            scene: scene.text.clone(),
            // A name, not a path: logs travel.
            source: scene.name.clone(),
        };
        Log { head: line(&head), lines: Vec::new(), bytes: 0 }
    }

    /// Whether another edit fits, or what to do.
    pub fn has_room(&self) -> Result<(), String> {
        if self.bytes < LOG_BYTES {
            return Ok(());
        }
        Err(format!(
            "the log of this room holds {} bytes of changes, at most {LOG_BYTES}; open the scene again",
            self.bytes
        ))
    }

    /// Adds an edit that was made after `tick` frames.
    pub fn edit(&mut self, tick: u64, by: u32, edit: &Edit) {
        let text = line(&Line::Edit { tick, by, edit: edit.clone() });
        self.bytes += text.len();
        self.lines.push(Kept::Edit(text));
    }

    /// Adds a mesh.
    pub fn mesh(&mut self, id: &str, obj: &Arc<str>) {
        self.lines.push(Kept::Mesh(id.into(), Arc::clone(obj)));
    }

    /// Edits and meshes in it.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether nothing was done.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Its text, ending with what the cloth is now.
    pub fn text(&self, live: &Live) -> String {
        let mut text = self.head.clone();
        for kept in &self.lines {
            match kept {
                Kept::Edit(edit) => text.push_str(edit),
                Kept::Mesh(id, obj) => {
                    text.push_str(&line(&Line::Mesh { mesh: id.clone(), obj: obj.to_string() }));
                }
            }
        }
        text.push_str(&line(&Line::End { end: live.tick(), fingerprint: fingerprint(live) }));
        text
    }
}

fn line(line: &Line) -> String {
    // Strings and finite numbers only: nothing in a line can fail to be written.
    serde_json::to_string(line).unwrap_or_default() + "\n"
}

/// What making a log again gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Frames stepped.
    pub ticks: u64,
    /// Edits made.
    pub edits: usize,
    /// The cloth as it is now.
    pub fingerprint: String,
    /// The cloth as the log has it.
    pub logged: String,
    /// Version that wrote the log.
    pub version: String,
}

impl Replayed {
    /// Whether the cloth is the same, bit for bit.
    pub fn agrees(&self) -> bool {
        self.fingerprint == self.logged
    }
}

/// Makes a log again: its scene, its edits, each before its frame. Mesh files that the scene names are looked for in
/// `folder`.
pub fn replay(reader: impl BufRead, folder: Option<&Path>) -> Result<Replayed, String> {
    let mut lines =
        reader.lines().enumerate().filter(|(_, text)| !matches!(text, Ok(t) if t.trim().is_empty()));
    let mut read = || -> Result<Option<(usize, Line)>, String> {
        let Some((number, text)) = lines.next() else { return Ok(None) };
        let text = text.map_err(|error| format!("line {}: {error}; the file cannot be read", number + 1))?;
        let parsed = serde_json::from_str(&text).map_err(|_| {
            format!("line {} is not a line of a replay; download the replay again", number + 1)
        })?;
        Ok(Some((number + 1, parsed)))
    };
    let Some((_, Line::Head { toile, protocol, scene, source })) = read()? else {
        return Err("the first line does not hold a scene; a replay begins with it".into());
    };
    if protocol != PROTOCOL {
        return Err(format!(
            "the replay speaks protocol {protocol}, this program {PROTOCOL}; use toile {toile} to replay it"
        ));
    }
    let mut scene = Scene::parse(&scene, &source).map_err(|errors| errors.to_string())?;
    scene.folder = folder.map(Path::to_path_buf);
    let mut live = Live::new(scene)?;
    let mut edits = 0;
    while let Some((number, line)) = read()? {
        match line {
            Line::Head { .. } => return Err(format!("line {number}: a second scene; a replay holds one")),
            Line::Mesh { mesh, obj } => {
                live.keep_mesh(&mesh, &obj).map_err(|error| format!("line {number}: {error}"))?;
            }
            Line::Edit { tick, edit, .. } => {
                advance(&mut live, tick).map_err(|error| format!("line {number}: {error}"))?;
                live.apply(&edit).map_err(|error| format!("line {number}: {error}"))?;
                edits += 1;
            }
            Line::End { end, fingerprint: logged } => {
                advance(&mut live, end).map_err(|error| format!("line {number}: {error}"))?;
                let fingerprint = fingerprint(&live);
                return Ok(Replayed { ticks: end, edits, fingerprint, logged, version: toile });
            }
        }
    }
    Err("the last line is missing: the replay is cut off; download it again".into())
}

fn advance(live: &mut Live, tick: u64) -> Result<(), String> {
    if tick < live.tick() {
        return Err(format!("tick {tick} comes after tick {}; lines must be in order", live.tick()));
    }
    while live.tick() < tick {
        let before = live.tick();
        live.step(&mut Probe::default())?;
        if live.tick() == before {
            return Err(format!("the scene does not go on after tick {before}"));
        }
    }
    Ok(())
}

/// A frame that can be shown again.
#[derive(Clone)]
pub struct Recorded {
    /// Where everything was.
    pub picture: Arc<Picture>,
    /// What was there.
    pub stage: Arc<Stage>,
    /// Its figures as a message.
    pub stats: Arc<str>,
}

/// The newest frames, as many as fit.
pub struct Tape {
    frames: VecDeque<(Recorded, usize)>,
    bytes: usize,
    limit: usize,
}

impl Tape {
    /// An empty one for so many bytes.
    pub fn new(limit: usize) -> Tape {
        Tape { frames: VecDeque::new(), bytes: 0, limit }
    }

    /// Adds a frame; the oldest make room.
    pub fn push(&mut self, frame: Recorded) {
        let known = self.frames.back().is_some_and(|(last, _)| Arc::ptr_eq(&last.stage, &frame.stage));
        let stage = if known { 0 } else { frame.stage.size() };
        let bytes = frame.picture.weight() + frame.stats.len() + stage;
        self.bytes += bytes;
        self.frames.push_back((frame, bytes));
        while self.bytes > self.limit && self.frames.len() > 1 {
            let Some((old, freed)) = self.frames.pop_front() else { return };
            self.bytes -= freed;
            // Its stage lives on if the next frame needs it: then that one carries the weight.
            if let Some((next, bytes)) =
                self.frames.front_mut().filter(|(n, _)| Arc::ptr_eq(&n.stage, &old.stage))
            {
                *bytes += next.stage.size();
                self.bytes += next.stage.size();
            }
        }
    }

    /// The frame of a tick, or the nearest one.
    pub fn nearest(&self, tick: u64) -> Option<&Recorded> {
        let after = self.frames.partition_point(|(frame, _)| frame.picture.tick < tick);
        let near =
            [after.checked_sub(1), Some(after)].into_iter().flatten().filter_map(|k| self.frames.get(k));
        near.map(|(frame, _)| frame).min_by_key(|frame| frame.picture.tick.abs_diff(tick))
    }

    /// First tick that is there.
    pub fn first(&self) -> Option<u64> {
        self.frames.front().map(|(frame, _)| frame.picture.tick)
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.frames.clear();
        self.bytes = 0;
    }
}
