//! Lines where the charts lead nowhere: a strip of faces laid out, and the shortest line inside.

use super::draft::Draft;
use super::layout::{Laid, turning};
use super::trace::{Step, towards};
use crate::math::DVec2;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// A row of faces laid out next to each other, with the edges between them.
struct Strip {
    first: Laid,
    /// Ends of the edges crossed, the left one first, and where they lie.
    gates: Vec<([u32; 2], [DVec2; 2])>,
    /// Where the line ends.
    target: DVec2,
}

/// The line from one vertex to another through the laid-out faces between them: straight where that leads there, else the
/// shortest in a strip of faces, bent at vertices. None if no faces join the two.
pub(super) fn through_strip(draft: &Draft, from: u32, goal: u32) -> Option<Vec<Step>> {
    let strip = lay_out(draft, &find_strip(draft, from, goal)?, goal)?;
    towards(draft, strip.first, from, strip.target, goal).or_else(|| pull(draft, &strip, from, goal))
}

/// Faces from one round `from` to one round `goal`, the nearest way between their middles.
fn find_strip(draft: &Draft, from: u32, goal: u32) -> Option<Vec<u32>> {
    let middle =
        |f: u32| (draft.rest[f as usize][0] + draft.rest[f as usize][1] + draft.rest[f as usize][2]) / 3.0;
    let mut best: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
    let mut heap: BinaryHeap<Reverse<(u64, u32, u32)>> = BinaryHeap::new();
    // Bits of numbers that are not negative are in their order.
    for &f in &draft.star[from as usize] {
        let cost = (middle(f) - draft.rest[f as usize][draft.corner(f, from)?]).length();
        heap.push(Reverse((cost.to_bits(), f, f)));
    }
    while let Some(Reverse((bits, face, before))) = heap.pop() {
        if best.contains_key(&face) {
            continue;
        }
        let cost = f64::from_bits(bits);
        best.insert(face, (cost, before));
        if draft.corner(face, goal).is_some() {
            return Some(back(&best, face));
        }
        for k in 0..3 {
            let [a, b] = [(k + 1) % 3, (k + 2) % 3].map(|i| draft.faces[face as usize][i]);
            let Some(next) = draft.across(face, a, b).filter(|f| !best.contains_key(f)) else { continue };
            let half = |f: u32| {
                let corner = |v| draft.corner(f, v).map_or(DVec2::ZERO, |i| draft.rest[f as usize][i]);
                (0.5 * (corner(a) + corner(b)) - middle(f)).length()
            };
            heap.push(Reverse(((cost + half(face) + half(next)).to_bits(), next, face)));
        }
    }
    None
}

fn back(best: &BTreeMap<u32, (f64, u32)>, last: u32) -> Vec<u32> {
    let mut faces = vec![last];
    let mut face = last;
    while let Some(&(_, before)) = best.get(&face).filter(|(_, before)| *before != face) {
        faces.push(before);
        face = before;
    }
    faces.reverse();
    faces
}

fn lay_out(draft: &Draft, faces: &[u32], goal: u32) -> Option<Strip> {
    let first = draft.laid(*faces.first()?);
    let side = turning(&first.at);
    let (mut here, mut gates) = (first, Vec::with_capacity(faces.len()));
    for &face in &faces[1..] {
        let (gate, next) = (0..3).find_map(|k| {
            let gate = draft.gate(here.face, k, side);
            let next = draft.lay_across(&here, gate[0], gate[1], side)?;
            (next.face == face).then_some((gate, next))
        })?;
        let at = [here.at[draft.corner(here.face, gate[0])?], here.at[draft.corner(here.face, gate[1])?]];
        gates.push((gate, at));
        here = next;
    }
    let target = here.at[draft.corner(here.face, goal)?];
    Some(Strip { first, gates, target })
}

/// A bend of the shortest line: at which gate, at which vertex, where.
type Bend = (usize, u32, DVec2);

/// The shortest line in a strip, as the gates it crosses.
fn pull(draft: &Draft, strip: &Strip, from: u32, goal: u32) -> Option<Vec<Step>> {
    let start = strip.first.at[draft.corner(strip.first.face, from)?];
    let bends = bends(strip, from, start, goal);
    let mut steps = Vec::with_capacity(strip.gates.len() + 1);
    let (mut last, mut ahead) = (start, 0);
    for (place, ([left, right], [l, r])) in strip.gates.iter().enumerate() {
        if bends[ahead].0 == place {
            steps.push(Step::Vertex(bends[ahead].1));
            last = bends[ahead].2;
            ahead += 1;
            continue;
        }
        let (_, bend, towards) = bends[ahead];
        let way = towards - last;
        let (above, below) = (way.perp_dot(*l - last), way.perp_dot(*r - last));
        if above > below {
            steps.push(Step::Edge(*left, *right, (above / (above - below)).clamp(0.0, 1.0)));
        } else {
            // Along the gate itself.
            steps.push(Step::Vertex(bend));
        }
    }
    steps.push(Step::Vertex(goal));
    Some(steps)
}

/// The vertices where the shortest line in a strip bends, each at its own gate, and its end behind the last gate. A funnel
/// of what can be seen from the last bend is narrowed gate by gate; where its sides cross, the line bends.
fn bends(strip: &Strip, from: u32, start: DVec2, goal: u32) -> Vec<Bend> {
    let count = strip.gates.len();
    let gate = |i: usize| {
        let end = ([goal, goal], [strip.target; 2]);
        let (ids, at) = strip.gates.get(i).copied().unwrap_or(end);
        [(i, ids[0], at[0]), (i, ids[1], at[1])]
    };
    let mut bends: Vec<Bend> = Vec::new();
    let mut apex: Bend = (0, from, start);
    let [mut left, mut right] = gate(0);
    let mut i = 1;
    while i <= count {
        let [l, r] = gate(i);
        let turn = |a: &Bend, b: &Bend| (a.2 - apex.2).perp_dot(b.2 - apex.2);
        if turn(&right, &r) >= 0.0 {
            if apex.1 == right.1 || turn(&left, &r) < 0.0 {
                right = r;
            } else {
                (apex, right) = (left, left);
                i = apex.0 + 1;
                bends.push(apex);
                continue;
            }
        }
        if turn(&left, &l) <= 0.0 {
            if apex.1 == left.1 || turn(&right, &l) > 0.0 {
                left = l;
            } else {
                (apex, left) = (right, right);
                i = apex.0 + 1;
                bends.push(apex);
                continue;
            }
        }
        i += 1;
    }
    bends.push((count, goal, strip.target));
    bends
}
