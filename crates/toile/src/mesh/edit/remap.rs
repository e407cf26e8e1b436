//! Tables of origins: followed one after the other, turned round, applied.

use super::{Origin, Remap};
use crate::math::DVec3;
use crate::mesh::NONE;

impl Origin {
    /// Old vertices and their weights, which sum to 1. Vertices sewn together count alike.
    pub fn weights(&self) -> Vec<(u32, f64)> {
        match self {
            Self::Old(v) => vec![(*v, 1.0)],
            Self::Edge([a, b], t) => vec![(*a, 1.0 - t), (*b, *t)],
            Self::Face(corners, weights) => corners.iter().copied().zip(*weights).collect(),
            Self::Mix(parts) => parts.clone(),
            Self::Joined(all) => all.iter().map(|&v| (v, 1.0 / all.len() as f64)).collect(),
        }
    }

    /// The simplest origin with these weights; several of one vertex add up, zeros are left out.
    pub(in crate::mesh) fn of_weights(mut parts: Vec<(u32, f64)>) -> Origin {
        parts.sort_by_key(|part| part.0);
        let mut merged: Vec<(u32, f64)> = Vec::with_capacity(parts.len());
        for (v, w) in parts.into_iter().filter(|part| part.1 != 0.0) {
            match merged.last_mut() {
                Some(last) if last.0 == v => last.1 += w,
                _ => merged.push((v, w)),
            }
        }
        match merged[..] {
            [(v, _)] => Origin::Old(v),
            [(a, _), (b, t)] => Origin::Edge([a, b], t),
            [(a, u), (b, v), (c, w)] => Origin::Face([a, b, c], [u, v, w]),
            _ => Origin::Mix(merged),
        }
    }

    /// The point this part of the way from one origin to another.
    pub(super) fn between(from: &Origin, to: &Origin, t: f64) -> Origin {
        let scaled = |origin: &Origin, s: f64| origin.weights().into_iter().map(move |(v, w)| (v, w * s));
        Origin::of_weights(scaled(from, 1.0 - t).chain(scaled(to, t)).collect())
    }

    /// This origin, whose vertices have origins themselves.
    fn through(&self, earlier: &[Origin]) -> Origin {
        let at = |v: u32| earlier.get(v as usize).cloned().unwrap_or(Origin::Old(v));
        match self {
            Self::Old(v) => at(*v),
            Self::Joined(all) => join(all.iter().map(|&v| at(v)).collect()),
            _ => {
                let parts = self.weights().into_iter();
                let spread =
                    parts.flat_map(|(v, w)| at(v).weights().into_iter().map(move |(o, s)| (o, s * w)));
                Origin::of_weights(spread.collect())
            }
        }
    }
}

/// Several origins sewn into one: copies of one thing are that thing again.
fn join(all: Vec<Origin>) -> Origin {
    if all.windows(2).all(|pair| pair[0] == pair[1])
        && let Some(first) = all.first()
    {
        return first.clone();
    }
    let mut whole = Vec::new();
    for origin in &all {
        match origin {
            Origin::Old(v) => whole.push(*v),
            Origin::Joined(more) => whole.extend(more),
            _ => {
                let share = 1.0 / all.len() as f64;
                let parts = all.iter().flat_map(|origin| origin.weights());
                return Origin::of_weights(parts.map(|(v, w)| (v, w * share)).collect());
            }
        }
    }
    whole.sort_unstable();
    whole.dedup();
    if let [only] = whole[..] { Origin::Old(only) } else { Origin::Joined(whole) }
}

impl Remap {
    /// The table of an edit that changes nothing.
    pub fn identity(vertices: usize, faces: usize) -> Remap {
        Remap {
            vertices: (0..vertices as u32).map(Origin::Old).collect(),
            faces: (0..faces as u32).collect(),
            density: vec![1.0; faces],
        }
    }

    /// The table of this edit followed by another: from the vertices and faces before this one to those after `next`.
    pub fn then(&self, next: &Remap) -> Remap {
        let earlier = |f: u32| self.faces.get(f as usize).copied().unwrap_or(NONE);
        let scale = |f: u32| self.density.get(f as usize).copied().unwrap_or(1.0);
        Remap {
            vertices: next.vertices.iter().map(|origin| origin.through(&self.vertices)).collect(),
            faces: next.faces.iter().map(|&f| earlier(f)).collect(),
            density: next.faces.iter().zip(&next.density).map(|(&f, d)| d * scale(f)).collect(),
        }
    }

    /// For each of `old_vertices` old vertices, the new ones it became, ascending: itself, its copies along cuts, what
    /// it was sewn into. Empty where it is gone.
    pub fn heirs(&self, old_vertices: usize) -> Vec<Vec<u32>> {
        let mut heirs = vec![Vec::new(); old_vertices];
        for (new, origin) in self.vertices.iter().enumerate() {
            let whole: &[u32] = match origin {
                Origin::Old(v) => std::slice::from_ref(v),
                Origin::Joined(all) => all,
                _ => &[],
            };
            for &v in whole {
                if let Some(list) = heirs.get_mut(v as usize) {
                    list.push(new as u32);
                }
            }
        }
        heirs
    }

    /// Values at the new vertices, from those at the old ones by their weights. `values` has one for each old vertex.
    pub fn carry(&self, values: &[DVec3]) -> Vec<DVec3> {
        let at = |v: u32| values.get(v as usize).copied().unwrap_or(DVec3::NAN);
        let blend = |origin: &Origin| match origin {
            Origin::Old(v) => at(*v),
            _ => origin.weights().into_iter().fold(DVec3::ZERO, |sum, (v, w)| sum + at(v) * w),
        };
        self.vertices.iter().map(blend).collect()
    }
}
