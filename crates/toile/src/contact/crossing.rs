//! Which faces go through which: a test that never says "apart" in error, and a box tree to find candidates.
//!
//! Two faces count as apart only if a direction is known along which their own vertices leave a gap: that is what the
//! filter needs to keep them so. The checker decides the same by exact predicates, and shares nothing with this.

use crate::math::DVec3;
use rayon::prelude::*;

/// A gap that counts as one [m], as for the filter.
pub const APART: f64 = 1e-12;

/// Fewer faces than this are not worth another thread.
const GRAIN: usize = 512;

/// Faces in a leaf.
const LEAF: usize = 4;

/// Whether a direction separates two convex sets of at most three points by more than `margin` [m].
pub fn apart(a: &[DVec3], b: &[DVec3], margin: f64) -> bool {
    let origin = a[0];
    let side = |points: &[DVec3], k: usize| points[(k + 1) % points.len()] - points[k];
    let normal = |points: &[DVec3]| match points {
        [p, q, r] => (*q - *p).cross(*r - *p),
        _ => DVec3::ZERO,
    };
    let splits = |axis: DVec3| {
        let n = axis.normalize_or_zero();
        let range = |points: &[DVec3]| {
            let along = points.iter().map(|p| n.dot(*p - origin));
            along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), h| (low.min(h), high.max(h)))
        };
        let ((a_low, a_high), (b_low, b_high)) = (range(a), range(b));
        n != DVec3::ZERO && (a_low - b_high).max(b_low - a_high) > margin
    };
    let mean = |points: &[DVec3]| {
        points.iter().fold(DVec3::ZERO, |sum, p| sum + (*p - origin)) / points.len() as f64
    };
    // Most that are apart are so from middle to middle.
    if splits(mean(b) - mean(a)) {
        return true;
    }
    let (na, nb) = (normal(a), normal(b));
    let sides_of = |points: &[DVec3]| if points.len() == 3 { 3 } else { points.len() - 1 };
    let (sa, sb) = (sides_of(a), sides_of(b));
    splits(na)
        || splits(nb)
        || (0..sa).any(|i| (0..sb).any(|j| splits(side(a, i).cross(side(b, j)))))
        // In one plane, and for what has no plane.
        || (0..sa).any(|i| splits(side(a, i).cross(nb)) || splits(side(a, i).cross(na)))
        || (0..sb).any(|j| splits(side(b, j).cross(na)) || splits(side(b, j).cross(nb)))
        || (0..a.len()).any(|i| (0..b.len()).any(|j| splits(b[j] - a[i])))
}

/// Whether two faces, given by their points, have nothing in common but the points they share, by more than `margin`.
/// The argument is that of lemma C in `docs/guarantee.md`.
pub fn clear(f: [u32; 3], g: [u32; 3], x: &[DVec3], margin: f64) -> bool {
    let at = |p: u32| x[p as usize];
    let all = |face: [u32; 3]| face.map(at);
    let own = |face: [u32; 3], other: [u32; 3]| -> Vec<DVec3> {
        face.into_iter().filter(|p| !other.contains(p)).map(at).collect()
    };
    let (a, b) = (own(f, g), own(g, f));
    match a.len() {
        3 => apart(&a, &b, margin),
        0 => false,
        _ => apart(&a, &all(g), margin) && apart(&b, &all(f), margin),
    }
}

/// Where the edge from `a` to `b` goes through a triangle: its part of the edge, and weights in the corners.
pub fn pierce(a: DVec3, b: DVec3, [p, q, r]: [DVec3; 3]) -> Option<(f64, [f64; 3])> {
    let n = (q - p).cross(r - p);
    let (from, to) = (n.dot(a - p), n.dot(b - p));
    if from * to > 0.0 || from == to {
        return None;
    }
    let t = from / (from - to);
    let at = a + (b - a) * t;
    let square = n.length_squared();
    let part = |u: DVec3, v: DVec3| n.dot((u - at).cross(v - at)) / square;
    let weights = [part(q, r), part(r, p), part(p, q)];
    weights.iter().all(|w| *w >= 0.0).then_some((t, weights))
}

/// A tree of boxes over faces.
pub struct Boxes {
    bounds: Vec<[DVec3; 2]>,
    order: Vec<u32>,
    /// Box, and either a run of faces in `order` or the right child; the left child follows.
    nodes: Vec<([DVec3; 2], u32, u32)>,
}

impl Boxes {
    /// A tree over `faces` with points at `x`.
    pub fn new(faces: &[[u32; 3]], x: &[DVec3]) -> Boxes {
        let bounds: Vec<[DVec3; 2]> = faces.iter().map(|face| bounds_of(*face, x)).collect();
        let mut tree = Boxes { order: (0..faces.len() as u32).collect(), bounds, nodes: Vec::new() };
        if !faces.is_empty() {
            tree.build(0, faces.len());
        }
        tree
    }

    fn build(&mut self, first: usize, last: usize) -> u32 {
        let own = &mut self.order[first..last];
        let none = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let bounds = own.iter().fold(none, |[low, high], f| {
            let [l, h] = self.bounds[*f as usize];
            [low.min(l), high.max(h)]
        });
        let at = self.nodes.len() as u32;
        self.nodes.push((bounds, first as u32, (last - first) as u32));
        if last - first > LEAF {
            let axis = (bounds[1] - bounds[0]).max_position();
            let middle = own.len() / 2;
            let key = |f: &u32| self.bounds[*f as usize][0][axis] + self.bounds[*f as usize][1][axis];
            // The number breaks ties, so that the tree is a function of the input.
            own.select_nth_unstable_by(middle, |a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
            self.build(first, first + middle);
            let right = self.build(first + middle, last);
            self.nodes[at as usize].1 = right;
            self.nodes[at as usize].2 = 0;
        }
        at
    }

    /// Calls `each` for every face whose box is within `margin` [m] of a box.
    pub fn near(&self, [low, high]: [DVec3; 2], margin: f64, mut each: impl FnMut(u32)) {
        let (low, high) = (low - DVec3::splat(margin), high + DVec3::splat(margin));
        let meets = |b: &[DVec3; 2]| b[0].cmple(high).all() && b[1].cmpge(low).all();
        let mut stack = vec![0u32];
        while let Some(at) = stack.pop() {
            let Some((bounds, link, count)) = self.nodes.get(at as usize) else { return };
            if !meets(bounds) {
                continue;
            }
            if *count == 0 {
                stack.push(*link);
                stack.push(at + 1);
                continue;
            }
            let own = &self.order[*link as usize..(*link + *count) as usize];
            own.iter().filter(|f| meets(&self.bounds[**f as usize])).for_each(|f| each(*f));
        }
    }
}

/// The box of a face.
pub fn bounds_of(face: [u32; 3], x: &[DVec3]) -> [DVec3; 2] {
    let [a, b, c] = face.map(|p| x[p as usize]);
    [a.min(b).min(c), a.max(b).max(c)]
}

/// Faces of two lists that are not clear of each other by `margin`, as numbers in the lists, ascending; `tree` is that of
/// the second. A face does not meet itself.
pub fn meeting(f: &[[u32; 3]], (g, tree): (&[[u32; 3]], &Boxes), x: &[DVec3], margin: f64) -> Vec<[u32; 2]> {
    let of = |(k, face): (usize, &[u32; 3])| {
        let mut found = Vec::new();
        tree.near(bounds_of(*face, x), margin, |other| {
            let other_face = g[other as usize];
            if *face != other_face && !clear(*face, other_face, x, margin) {
                found.push([k as u32, other]);
            }
        });
        found.sort_unstable();
        found
    };
    let each: Vec<Vec<[u32; 2]>> = f.par_iter().with_min_len(GRAIN).enumerate().map(of).collect();
    each.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    fn triangle(seed: u64, at: DVec3, size: f64) -> [DVec3; 3] {
        let die = |k: u64| random::signed(seed, k);
        [0, 3, 6].map(|k| at + size * DVec3::new(die(k), die(k + 1), die(k + 2)))
    }

    /// By edges and faces: whether an edge of one goes through the other.
    fn crosses(a: [DVec3; 3], b: [DVec3; 3]) -> bool {
        let through = |a: [DVec3; 3], b| (0..3).any(|k| pierce(a[k], a[(k + 1) % 3], b).is_some());
        through(a, b) || through(b, a)
    }

    #[test]
    fn apart_is_what_no_edge_goes_through() {
        let (mut yes, mut no) = (0, 0);
        for seed in 0..4000 {
            let a = triangle(2 * seed, DVec3::ZERO, 1.0);
            let b = triangle(2 * seed + 1, DVec3::new(0.6, 0.2, 0.0), 1.0);
            let apart = apart(&a, &b, APART);
            assert_eq!(apart, !crosses(a, b), "seed {seed}");
            if apart { yes += 1 } else { no += 1 }
        }
        assert!(yes > 500 && no > 500, "{yes} apart, {no} not");
    }

    #[test]
    fn neighbours_are_judged_by_what_they_do_not_share() {
        let x = [
            DVec3::ZERO,
            DVec3::X,
            DVec3::Z,
            DVec3::new(0.4, 0.1, 0.4),
            DVec3::new(0.4, -0.1, 0.4),
            DVec3::new(-1.0, 0.3, 0.0),
        ];
        assert!(!clear([0, 1, 2], [0, 3, 4], &x, APART), "the far side goes through");
        assert!(clear([0, 1, 2], [0, 3, 5], &x, APART), "one corner in common, and nothing else");
        assert!(clear([0, 1, 2], [1, 0, 5], &x, APART), "one side in common");
        let flat = [DVec3::ZERO, DVec3::X, DVec3::Z, DVec3::new(0.3, 0.0, 0.3)];
        assert!(!clear([0, 1, 2], [1, 0, 3], &flat, APART), "folded flat");
        assert!(!clear([0, 1, 2], [2, 1, 0], &flat, APART), "a copy");
    }

    #[test]
    fn the_tree_finds_what_brute_force_finds() {
        let mut x = Vec::new();
        let mut faces = Vec::new();
        for seed in 0..120 {
            let die = |k: u64| random::signed(999, 3 * seed + k);
            x.extend(triangle(seed, DVec3::new(die(0), die(1), die(2)), 0.2));
            let n = x.len() as u32;
            faces.push([n - 3, n - 2, n - 1]);
        }
        let found = meeting(&faces[..60], (&faces[60..], &Boxes::new(&faces[60..], &x)), &x, APART);
        let mut expected = Vec::new();
        for (k, f) in faces[..60].iter().enumerate() {
            let of = |face: [u32; 3]| face.map(|p| x[p as usize]);
            let met = (0..60).filter(|j| crosses(of(*f), of(faces[60 + j])));
            expected.extend(met.map(|j| [k as u32, j as u32]));
        }
        assert!(!found.is_empty());
        assert_eq!(found, expected);
    }
}
