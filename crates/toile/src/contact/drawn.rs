//! What seams draw together: it may come as close as the guarantee lets it.

use super::space::{Object, Pair, Space};

/// Pairs of points that are drawn together, both ways, ascending.
#[derive(Default)]
pub struct Drawn(Vec<[u32; 2]>);

impl Drawn {
    /// Pairs of vertices of cloths, as far as they are in `space`.
    pub fn new<'a>(seams: impl Iterator<Item = (usize, &'a [[u32; 2]])>, space: &Space) -> Drawn {
        let mut all = Vec::new();
        for (cloth, pairs) in seams {
            let point = |v: u32| {
                let own = |object: &&Object| !object.is_body && object.number as usize == cloth;
                let mut parts = space.objects().iter().filter(own);
                parts.find_map(|o| o.names.binary_search(&v).ok().map(|k| (o.first + k) as u32))
            };
            for pair in pairs {
                if let [Some(a), Some(b)] = pair.map(point) {
                    all.extend([[a, b], [b, a]]);
                }
            }
        }
        all.sort_unstable();
        Drawn(all)
    }

    /// Whether one side of a pair has a point that is drawn to one of the other.
    pub fn has(&self, pair: &Pair) -> bool {
        let (first, second) = pair.points.split_at(pair.first as usize);
        !self.0.is_empty()
            && first.iter().any(|p| second.iter().any(|q| self.0.binary_search(&[*p, *q]).is_ok()))
    }
}
