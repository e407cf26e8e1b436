//! Straight lines over laid-out faces, from vertex to vertex.

use super::draft::Draft;
use super::layout::{Laid, TOUCH, turning};
use crate::math::DVec2;
use std::collections::BTreeSet;

/// What a line meets on its way; neighbours in a list of steps belong to one face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// It goes through a vertex.
    Vertex(u32),
    /// It crosses an edge, this part of the way from the first end to the second.
    Edge(u32, u32, f64),
    /// It leaves the cloth; the next step is where it comes back.
    Gap,
}

/// A line on its way. Left is where `perp_dot` is positive.
pub(super) struct Walk<'a> {
    draft: &'a Draft,
    /// Which chart each old face belongs to, if the line may jump over gaps.
    charts: Option<&'a [u32]>,
    /// Where the line ends, as laid out, and the vertex there.
    target: DVec2,
    goal: u32,
    /// How laid faces turn.
    side: f64,
    /// The last vertex passed, as laid out.
    start: DVec2,
    steps: Vec<Step>,
    seen: BTreeSet<u32>,
    /// Where the line could come back to the cloth; found when first needed.
    entries: Option<Vec<Entry>>,
}

/// Where a line could come back to the cloth: how far along, in which face, by a vertex or an edge.
#[derive(Clone, Copy, Debug)]
struct Entry {
    along: f64,
    face: u32,
    by: Step,
}

/// What comes next.
enum Next {
    /// From a vertex into the laid face.
    Out(u32, Laid),
    /// Into the laid face by an edge, from its left end to its right one.
    In([u32; 2], Laid),
    Arrived,
    Lost,
}

/// Lines in the charts as they are, from vertex `from` to vertex `goal`, over gaps too. None unless the line arrives.
pub(super) fn in_chart(draft: &Draft, charts: &[u32], from: u32, goal: u32) -> Option<Vec<Step>> {
    let mut targets: Vec<DVec2> = Vec::new();
    for &face in &draft.star[goal as usize] {
        let place = draft.rest[face as usize][draft.corner(face, goal)?];
        if targets.iter().all(|t| *t != place) {
            targets.push(place);
        }
    }
    let walk_from = |face: u32, target: DVec2| {
        let laid = draft.laid(face);
        let mut walk = Walk::new(draft, laid, from, target, goal)?;
        walk.charts = Some(charts);
        Some((walk, laid))
    };
    for target in targets {
        let mut looks = false;
        for &face in &draft.star[from as usize] {
            let (walk, laid) = walk_from(face, target)?;
            if walk.faces_target(from, &laid) {
                looks = true;
                if let Some(steps) = walk.run(Next::Out(from, laid)) {
                    return Some(steps);
                }
            }
        }
        if !looks {
            // On a border, with a gap ahead.
            let (mut walk, laid) = walk_from(*draft.star[from as usize].first()?, target)?;
            let first = walk.jump(walk.start, laid);
            if let Some(steps) = walk.run(first) {
                return Some(steps);
            }
        }
    }
    None
}

/// The line from vertex `from` of a laid face to `target`, where `goal` should be. None unless the line arrives.
pub(super) fn towards(draft: &Draft, laid: Laid, from: u32, target: DVec2, goal: u32) -> Option<Vec<Step>> {
    let mut walk = Walk::new(draft, laid, from, target, goal)?;
    let first = walk.leave(from, laid);
    walk.run(first)
}

impl<'a> Walk<'a> {
    fn new(draft: &'a Draft, laid: Laid, from: u32, target: DVec2, goal: u32) -> Option<Walk<'a>> {
        let start = laid.at[draft.corner(laid.face, from)?];
        let side = turning(&laid.at);
        let (steps, seen) = (Vec::new(), BTreeSet::new());
        Some(Walk { draft, charts: None, target, goal, side, start, steps, seen, entries: None })
    }

    fn run(mut self, first: Next) -> Option<Vec<Step>> {
        let mut next = first;
        // A face is entered at most once, so this ends.
        loop {
            next = match next {
                Next::Out(vertex, laid) => self.out(vertex, laid),
                Next::In(gate, laid) => self.enter(gate, laid),
                Next::Arrived => return Some(self.steps),
                Next::Lost => return None,
            };
        }
    }

    /// Whether the wedge of a laid face at a vertex looks towards the target.
    fn faces_target(&self, vertex: u32, laid: &Laid) -> bool {
        let Some(i) = self.draft.corner(laid.face, vertex) else { return false };
        let way = self.target - laid.at[i];
        let (p, q) = (laid.at[(i + 1) % 3] - laid.at[i], laid.at[(i + 2) % 3] - laid.at[i]);
        let turn = |a: DVec2, b: DVec2| self.side * a.perp_dot(b) / (a.length() * b.length());
        // Both turns vanish only for a wedge without width; straight back has one negative.
        turn(p, way) >= -TOUCH && turn(way, q) >= -TOUCH && (p.dot(way) > 0.0 || q.dot(way) > 0.0)
    }

    /// From a vertex through a laid face, which looks towards the target.
    fn out(&mut self, vertex: u32, laid: Laid) -> Next {
        let Some(i) = self.draft.corner(laid.face, vertex) else { return Next::Lost };
        if !self.seen.insert(laid.face) {
            return Next::Lost;
        }
        self.start = laid.at[i];
        let way = self.target - self.start;
        for k in [(i + 1) % 3, (i + 2) % 3] {
            let side = laid.at[k] - self.start;
            let off = way.perp_dot(side).abs() / way.length();
            if off <= TOUCH * side.length() && side.dot(way) > 0.0 {
                return self.pass(self.draft.faces[laid.face as usize][k], laid, k);
            }
        }
        let gate = self.draft.gate(laid.face, i, self.side);
        self.cross(gate, laid)
    }

    /// Into a laid face by the edge between its left and right end.
    fn enter(&mut self, gate: [u32; 2], laid: Laid) -> Next {
        if !self.seen.insert(laid.face) {
            return Next::Lost;
        }
        let corners = self.draft.faces[laid.face as usize];
        let Some(k) = corners.iter().position(|v| !gate.contains(v)) else { return Next::Lost };
        let apex = laid.at[k] - self.start;
        let way = self.target - self.start;
        let size = (laid.at[k] - laid.at[(k + 1) % 3]).length();
        let off = way.perp_dot(apex) / way.length();
        if off.abs() <= TOUCH * size {
            return self.pass(corners[k], laid, k);
        }
        let gate = if off > 0.0 { [corners[k], gate[1]] } else { [gate[0], corners[k]] };
        self.cross(gate, laid)
    }

    /// Out of a laid face by an edge.
    fn cross(&mut self, [left, right]: [u32; 2], laid: Laid) -> Next {
        let corner = |v| self.draft.corner(laid.face, v).map(|k| laid.at[k]);
        let (Some(l), Some(r)) = (corner(left), corner(right)) else { return Next::Lost };
        let way = self.target - self.start;
        let (above, below) = (way.perp_dot(l - self.start), way.perp_dot(r - self.start));
        let t = if above > below { (above / (above - below)).clamp(0.0, 1.0) } else { 0.5 };
        let point = l + (r - l) * t;
        // The target is a vertex: inside of a face the line has missed it.
        if (self.target - point).dot(way) < -TOUCH * (r - l).length() * way.length() {
            return Next::Lost;
        }
        self.steps.push(Step::Edge(left, right, t));
        match self.draft.lay_across(&laid, left, right, self.side) {
            Some(next) => Next::In([left, right], next),
            None => self.jump(point, laid),
        }
    }

    /// Through corner `k` of a laid face.
    fn pass(&mut self, vertex: u32, laid: Laid, k: usize) -> Next {
        let left = self.target - laid.at[k];
        let size = (laid.at[k] - laid.at[(k + 1) % 3]).length();
        if vertex == self.goal && left.length() <= 1e3 * TOUCH * size {
            self.steps.push(Step::Vertex(vertex));
            return Next::Arrived;
        }
        if left.length() <= 1e3 * TOUCH * size {
            // A copy of the goal on the other side of a cut.
            self.steps.push(Step::Vertex(vertex));
            return self.jump(laid.at[k], laid);
        }
        if left.dot(self.target - self.start) < 0.0 {
            return Next::Lost;
        }
        self.steps.push(Step::Vertex(vertex));
        self.leave(vertex, laid)
    }

    /// From a vertex of a laid face into the face round it that looks towards the target.
    fn leave(&mut self, vertex: u32, laid: Laid) -> Next {
        let Some(k) = self.draft.corner(laid.face, vertex) else { return Next::Lost };
        for first in [1, 2] {
            let (mut here, mut by) = (laid, self.draft.faces[laid.face as usize][(k + first) % 3]);
            loop {
                if self.faces_target(vertex, &here) {
                    return Next::Out(vertex, here);
                }
                let Some(next) = self.draft.lay_across(&here, vertex, by, self.side) else { break };
                let third =
                    self.draft.faces[next.face as usize].into_iter().find(|v| *v != vertex && *v != by);
                let Some(third) = third.filter(|_| next.face != laid.face) else { break };
                (here, by) = (next, third);
            }
        }
        self.jump(laid.at[k], laid)
    }

    /// From a border point of a laid face over the gap ahead: where cloth of the same chart lies behind it, or any cloth
    /// touches the point in its own chart, as along an earlier cut.
    fn jump(&mut self, point: DVec2, laid: Laid) -> Next {
        let Some(charts) = self.charts else { return Next::Lost };
        let rest = &self.draft.rest[laid.face as usize];
        let size = (rest[1] - rest[0]).length();
        let close = 1e3 * TOUCH * size;
        if (0..3).any(|k| (rest[k] - laid.at[k]).length() > close) {
            return Next::Lost;
        }
        self.steps.push(Step::Gap);
        if (self.target - point).length() <= close {
            self.steps.push(Step::Vertex(self.goal));
            return Next::Arrived;
        }
        let way = self.target - self.start;
        // Measured from one place whatever vertices the line has passed.
        let along = |p: DVec2| -(self.target - p).dot(way) / way.length();
        let here = along(point);
        let entries = match self.entries.take() {
            Some(entries) => entries,
            None => self.find_entries(),
        };
        let chart = |face: u32| charts[self.draft.parent[face as usize] as usize];
        let ahead = entries.iter().find(|entry| {
            let gap = entry.along - here;
            !self.seen.contains(&entry.face)
                && gap >= -close
                && (gap <= close || chart(entry.face) == chart(laid.face))
        });
        let next = ahead.copied();
        self.entries = Some(entries);
        let Some(entry) = next else { return Next::Lost };
        self.steps.push(entry.by);
        self.come_back(entry)
    }

    /// Back on the cloth after a gap.
    fn come_back(&self, entry: Entry) -> Next {
        let laid = self.draft.laid(entry.face);
        match entry.by {
            Step::Vertex(v) if v == self.goal => Next::Arrived,
            Step::Vertex(v) => Next::Out(v, laid),
            // Who enters sees the ends the other way round than who leaves.
            Step::Edge(left, right, _) => Next::In([right, left], laid),
            Step::Gap => Next::Lost,
        }
    }

    /// Border edges and border vertices that the rest of the line meets in the charts as they are, and goes on from into
    /// their faces; nearest first.
    fn find_entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let way = self.target - self.start;
        let unit = way / way.length();
        let along = |p: DVec2| (p - self.target).dot(unit);
        for face in 0..self.draft.faces.len() as u32 {
            let laid = self.draft.laid(face);
            if turning(&laid.at) != self.side {
                continue;
            }
            for k in 0..3 {
                let [l, r] = self.draft.gate(face, k, self.side);
                let (Some(i), Some(j)) = (self.draft.corner(face, l), self.draft.corner(face, r)) else {
                    continue;
                };
                let (a, b) = (laid.at[i], laid.at[j]);
                let (off_a, off_b) = (unit.perp_dot(a - self.start), unit.perp_dot(b - self.start));
                let close = TOUCH * (b - a).length();
                for (v, p, off) in [(l, a, off_a), (r, b, off_b)] {
                    let there = v == self.goal && (p - self.target).length() <= close;
                    if off.abs() <= close && (there || self.faces_target(v, &laid)) && self.draft.on_border(v)
                    {
                        entries.push(Entry { along: along(p), face, by: Step::Vertex(v) });
                    }
                }
                // Going in, the left end of whoever leaves is on the right.
                if off_a < -close && off_b > close && self.draft.beside(l, r).len() == 1 {
                    let t = off_a / (off_a - off_b);
                    entries.push(Entry { along: along(a + (b - a) * t), face, by: Step::Edge(l, r, t) });
                }
            }
        }
        // Beyond the target the line is over.
        entries.retain(|entry| entry.along <= 0.0 || entry.by == Step::Vertex(self.goal));
        entries.sort_by(|a, b| a.along.total_cmp(&b.along).then(a.face.cmp(&b.face)));
        entries
    }
}
