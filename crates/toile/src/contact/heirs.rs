//! What pairs that touch hand on from step to step: their force and their hold.
//!
//! What slides meets one feature after the other, and what rests on a corner now this edge beside it, now that. A force that
//! began anew each time would throw what rests to and fro, and friction would begin from nothing.

use super::gauges::Gauge;
use crate::math::DVec3;

/// What a pair that touches keeps from step to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The features, by number of object and vertex.
    pub features: [u64; 4],
    /// Normal force [N].
    pub push: f64,
    /// Normal force of the step before that [N].
    pub before: f64,
    /// How far it is from where it began to hold [m].
    pub slip: DVec3,
}

impl Touch {
    /// The same pair where objects have other numbers; nothing if one of them is gone. `renumber` keeps their order, so
    /// that sorted lists stay sorted.
    pub(crate) fn renumbered(mut self, renumber: impl Fn(u32) -> Option<u32>) -> Option<Touch> {
        for name in self.features.iter_mut().filter(|name| **name != u64::MAX) {
            *name = u64::from(renumber((*name >> 32) as u32)?) << 32 | *name & u64::from(u32::MAX);
        }
        Some(self)
    }
}

/// A pair that may push in the coming substep.
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    /// The features, by number of object and vertex.
    pub features: [u64; 4],
    /// Their objects.
    pub sides: [u32; 2],
    /// What they do.
    pub gauge: Gauge,
}

/// Gives `chosen` pairs, ascending by features, the force and the hold of the step before. The force of a pair that ended
/// goes to those that begin beside it. If none does, it goes on as it was if it is in `reserve`: a vertex in a fold leaves
/// a face over an edge that has no cone, and nothing takes its place. Else it goes to what is beside it.
pub fn hand_on(touches: &[Touch], chosen: &mut Vec<Chosen>, reserve: &[Chosen]) {
    let mut ended: Vec<&Touch> = Vec::new();
    let mut begins = vec![true; chosen.len()];
    for touch in touches {
        match chosen.binary_search_by_key(&touch.features, |pair| pair.features) {
            Ok(at) => {
                chosen[at].gauge.take(touch, 1.0);
                begins[at] = false;
            }
            Err(_) => ended.push(touch),
        }
    }
    if ended.is_empty() {
        return;
    }
    let mut all: Vec<(u64, usize)> = Vec::new();
    for (k, pair) in chosen.iter().enumerate() {
        all.extend(named(&pair.features).map(|v| (v, k)));
    }
    all.sort_unstable();
    let count = chosen.len();
    let mut near: Vec<(usize, u64)> = Vec::new();
    for touch in ended {
        near.clear();
        for vertex in named(&touch.features) {
            let from = all.partition_point(|(v, _)| *v < vertex);
            near.extend(all[from..].iter().take_while(|(v, _)| *v == vertex).map(|(v, k)| (*k, *v)));
        }
        near.sort_unstable();
        let mut heirs = closest(touch, &near, |k| begins[k]);
        if heirs.is_empty() {
            if let Ok(at) = reserve.binary_search_by_key(&touch.features, |pair| pair.features) {
                let mut same = reserve[at];
                same.gauge.take(touch, 1.0);
                chosen.push(same);
                continue;
            }
            heirs = closest(touch, &near, |_| true);
        }
        let part = 1.0 / heirs.len() as f64;
        heirs.into_iter().for_each(|k| chosen[k].gauge.take(touch, part));
    }
    if chosen.len() > count {
        chosen.sort_by_key(|pair| pair.features);
    }
}

fn named(features: &[u64; 4]) -> impl Iterator<Item = u64> {
    features.iter().copied().filter(|v| *v != u64::MAX)
}

/// Those pairs of `near`, each with the vertices it shares with `touch`, that share most, two at least, and some of either
/// object: a table is under many.
fn closest(touch: &Touch, near: &[(usize, u64)], counts: impl Fn(usize) -> bool) -> Vec<usize> {
    let object = |v: u64| v >> 32;
    let first = object(touch.features[0]);
    let two = named(&touch.features).any(|v| object(v) != first);
    let both = |run: &[(usize, u64)]| run.iter().any(|(_, v)| object(*v) != object(run[0].1));
    let beside = |run: &&[(usize, u64)]| counts(run[0].0) && run.len() >= 2 && (!two || both(run));
    let runs = || near.chunk_by(|a, b| a.0 == b.0).filter(beside);
    let most = runs().map(<[_]>::len).max().unwrap_or(0);
    runs().filter(|run| run.len() == most).map(|run| run[0].0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Friction;

    const CLOTH: u64 = 0;
    const BODY: u64 = 1 << 32;
    const NONE: u64 = u64::MAX;

    fn touch(features: [u64; 4], push: f64) -> Touch {
        Touch { features, push, before: push, slip: DVec3::ZERO }
    }

    fn pair(features: [u64; 4]) -> Chosen {
        let gauge = Gauge {
            members: [0; 4],
            weights: [1.0, 0.0, 0.0, 0.0],
            normal: DVec3::Y,
            distance: 1e-3,
            stiffness: 1.0,
            outside: [DVec3::ZERO; 2],
            start: DVec3::ZERO,
            push: 0.0,
            load: 0.0,
            slip: DVec3::ZERO,
            friction: Friction::NONE,
            given: None,
        };
        Chosen { features, sides: [0, 1], gauge }
    }

    fn pushes(chosen: &[Chosen]) -> Vec<f64> {
        chosen.iter().map(|pair| pair.gauge.push).collect()
    }

    #[test]
    fn a_force_follows_what_slides() {
        // Vertex 4 leaves face 0 1 2 of the body for face 1 2 3; vertex 5 stays on the face it left.
        let touches =
            [touch([CLOTH + 4, BODY, BODY + 1, BODY + 2], 3.0), touch([5, BODY, BODY + 1, BODY + 2], 1.0)];
        let next = [CLOTH + 4, BODY + 1, BODY + 2, BODY + 3];
        let mut chosen = vec![pair(next), pair(touches[1].features)];
        hand_on(&touches, &mut chosen, &[]);
        assert_eq!(pushes(&chosen), [3.0, 1.0]);
    }

    #[test]
    fn a_force_on_a_corner_goes_to_the_edge_beside_it() {
        // A cloth edge on a corner: it lies on two edges of the body, then on one of them, which has a force already.
        let [one, other] = [[4, 5, BODY, BODY + 1], [4, 5, BODY + 1, BODY + 2]];
        let touches = [touch(one, 2.0), touch(other, 1.0)];
        let mut chosen = vec![pair(other)];
        hand_on(&touches, &mut chosen, &[]);
        assert_eq!(pushes(&chosen), [3.0]);
    }

    #[test]
    fn what_has_no_heir_goes_on_as_it_was() {
        let left = [4, BODY, BODY + 1, BODY + 2];
        let touches = [touch(left, 2.0), touch([4, BODY + 1, BODY + 2, BODY + 3], 1.0)];
        let mut chosen = vec![pair(touches[1].features)];
        hand_on(&touches, &mut chosen, &[pair(left)]);
        assert_eq!(chosen.iter().map(|pair| pair.features).collect::<Vec<_>>(), [left, touches[1].features]);
        assert_eq!(pushes(&chosen), [2.0, 1.0]);
        // One that begins beside it takes its place.
        let new = [4, BODY, BODY + 1, NONE];
        let mut chosen = vec![pair(new)];
        hand_on(&touches[..1], &mut chosen, &[pair(left)]);
        assert_eq!((chosen.len(), pushes(&chosen)), (1, vec![2.0]));
    }

    #[test]
    fn vertices_of_one_table_do_not_push_each_other() {
        let face = [BODY, BODY + 1, BODY + 2];
        let touches = [touch([4, face[0], face[1], face[2]], 2.0)];
        let mut chosen = vec![pair([9, face[0], face[1], face[2]])];
        hand_on(&touches, &mut chosen, &[]);
        assert_eq!(pushes(&chosen), [0.0]);
        // Within one cloth two shared vertices are enough.
        let touches = [touch([4, 10, 11, 12], 2.0)];
        let mut chosen = vec![pair([4, 11, 13, 14])];
        hand_on(&touches, &mut chosen, &[]);
        assert_eq!(pushes(&chosen), [2.0]);
    }
}
