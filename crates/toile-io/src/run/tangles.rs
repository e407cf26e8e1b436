//! `tangles.jsonl`: what started through something else, what of it is exempt, and until when.

use super::log::read_stats;
use crate::error::{FileError, FileErrorKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use toile::World;
use toile::contact::Tangle;
use toile::contact::tangle::WHOLE;

/// A line of `tangles.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TangleEvent {
    /// Everything that intersects at the end of a frame: pairs of faces, and vertices of cloth inside bodies.
    Found {
        /// Each as two objects with their faces.
        pairs: Vec<[(String, u32); 2]>,
        /// Cloth, vertex and body.
        inside: Vec<(String, u32, String)>,
    },
    /// What is exempt of a tangle from this frame on; nothing once it is clear.
    Exempt {
        /// Its number.
        tangle: u32,
        /// Vertices of its two sides by object, ascending; an object with none is there as a whole.
        sides: [BTreeMap<String, Vec<u32>>; 2],
    },
}

/// A frame and what is said about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TangleLine {
    /// The frame at whose end it is so.
    pub frame: u32,
    /// What is said.
    #[serde(flatten)]
    pub event: TangleEvent,
}

/// What to write about a frame: tangles that are not as they were `before`, and on demand all that intersects.
pub fn tangle_lines(world: &World, before: &[Tangle], frame: u32, found: bool) -> Vec<TangleLine> {
    let name = |object: u32| {
        let (cloths, at) = (world.cloths(), object as usize);
        let body = |at: usize| world.bodies().get(at).map(|body| body.name.clone());
        cloths.get(at).map(|c| c.name.clone()).or_else(|| body(at - cloths.len())).unwrap_or_default()
    };
    let mut events = Vec::new();
    if found {
        let all = world.tangles();
        let face = |[object, face]: [u32; 2]| (name(object), face);
        let pairs = all.pairs.iter().map(|pair| pair.map(face)).collect();
        let inside = all.inside.iter().map(|[c, vertex, b]| (name(*c), *vertex, name(*b))).collect();
        events.push(TangleEvent::Found { pairs, inside });
    }
    let side = |names: &Vec<[u32; 2]>| {
        let mut side: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for [object, vertex] in names {
            side.entry(name(*object)).or_default().extend(Some(*vertex).filter(|v| *v != WHOLE));
        }
        side
    };
    let now = world.tangled();
    for tangle in now.iter().filter(|tangle| !before.contains(tangle)) {
        let sides = [side(&tangle.sides[0]), side(&tangle.sides[1])];
        events.push(TangleEvent::Exempt { tangle: tangle.number, sides });
    }
    for old in before.iter().filter(|old| now.iter().all(|tangle| tangle.number != old.number)) {
        events.push(TangleEvent::Exempt { tangle: old.number, sides: Default::default() });
    }
    events.into_iter().map(|event| TangleLine { frame, event }).collect()
}

/// The lines of a run's `tangles.jsonl` in the order they were written; none without the file.
pub(super) fn read_tangles(root: &Path) -> Result<Vec<TangleLine>, FileError> {
    let path = root.join("tangles.jsonl");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let (lines, _) = read_stats(&path)?;
    let each = lines.into_iter().enumerate().map(|(i, line)| {
        serde_json::from_value(line).map_err(|e| {
            let help = "delete the line; it is not needed to resume";
            FileError::new(FileErrorKind::Corrupt, &path, format!("not a tangle: {e}"), help)
                .at_line(i as u64 + 1)
        })
    });
    each.collect()
}

/// A frame, and the vertices of the two sides from then on, by cloth.
type Since = (i64, [BTreeMap<String, Vec<u32>>; 2]);

/// Tangles of a run, frame by frame.
#[derive(Clone, Debug, Default)]
pub struct Tangled {
    /// Of each, the frames from which its sides are these.
    tangles: BTreeMap<u32, Vec<Since>>,
}

impl Tangled {
    /// Of the lines of a run.
    pub fn of(lines: &[TangleLine]) -> Tangled {
        let mut tangled = Tangled::default();
        for line in lines {
            if let TangleEvent::Exempt { tangle, sides } = &line.event {
                tangled.tangles.entry(*tangle).or_default().push((i64::from(line.frame), sides.clone()));
            }
        }
        tangled
    }

    /// The sides of those that last at the end of a frame.
    fn at(&self, frame: i64) -> impl Iterator<Item = &[BTreeMap<String, Vec<u32>>; 2]> {
        let of = move |list: &'_ Vec<Since>| list.partition_point(|(from, _)| *from <= frame).checked_sub(1);
        let last = self.tangles.values().filter_map(move |list| Some(&list[of(list)?].1));
        last.filter(|sides| !sides[0].is_empty())
    }

    /// Whether anything is tangled at the end of a frame.
    pub fn any(&self, frame: i64) -> bool {
        self.at(frame).next().is_some()
    }

    /// Vertices of cloth that are drawn back at the end of a frame.
    pub fn drawn(&self, frame: i64) -> usize {
        self.at(frame).map(|sides| sides[0].values().map(Vec::len).sum::<usize>()).sum()
    }

    /// Whether two features, by the names of their objects and their vertices, may still meet at the end of a frame.
    pub fn excuses(&self, frame: i64, a: (&str, &[u32]), b: (&str, &[u32])) -> bool {
        let on = |side: &BTreeMap<String, Vec<u32>>, (object, vertices): (&str, &[u32])| {
            let own = side.get(object);
            own.is_some_and(|own| own.is_empty() || vertices.iter().any(|v| own.binary_search(v).is_ok()))
        };
        self.at(frame).any(|[first, second]| on(first, a) && on(second, b) || on(first, b) && on(second, a))
    }
}
