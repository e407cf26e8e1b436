//! Cuts a surface into small patches, in an order in which neighbours stand close together.
//!
//! The faces are halved again and again: a set that hangs together across its longest extent, one that does not between
//! its parts. So layers that lie on each other end up in different patches as soon as a cut has parted them, and a patch
//! stays small when the cloth unfolds. Halves hold a power of two of patches wherever possible: then the hierarchy over
//! them needs no pointers.

use super::shell::{NONE, Shell};
use crate::math::DVec3;

/// The faces in order; every `size` of them are a patch.
pub(super) fn order(surface: &Shell, x: &[DVec3], size: usize) -> Vec<u32> {
    let middle = |face: &[u32; 3]| {
        let [a, b, c] = face.map(|v| x[v as usize]);
        (a + b + c).as_vec3().to_array()
    };
    let mut cutter = Cutter {
        surface,
        sides: sides(surface),
        middles: surface.faces().iter().map(middle).collect(),
        set: vec![NONE; surface.faces().len()],
        part: vec![NONE; surface.faces().len()],
        open: Vec::new(),
        parts: Vec::new(),
        rank: Vec::new(),
    };
    let mut faces: Vec<u32> = (0..surface.faces().len() as u32).collect();
    let mut sets = vec![(0, faces.len())];
    let mut name = 0;
    while let Some((from, to)) = sets.pop() {
        let patches = (to - from).div_ceil(size);
        if patches < 2 {
            continue;
        }
        let left = size * (patches.next_power_of_two() / 2);
        cutter.cut(&mut faces[from..to], left, name);
        name += 1;
        sets.extend([(from, from + left), (from + left, to)]);
    }
    faces
}

/// Faces at each edge: `.1[.0[e]..0[e + 1]]`.
pub(super) fn sides(surface: &Shell) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; surface.edges().len() + 1];
    for edge in surface.face_edges().iter().flatten() {
        starts[*edge as usize + 1] += 1;
    }
    for e in 1..starts.len() {
        starts[e] += starts[e - 1];
    }
    let mut place = starts.clone();
    let mut faces = vec![0; 3 * surface.faces().len()];
    for (f, edges) in surface.face_edges().iter().enumerate() {
        for edge in edges {
            faces[place[*edge as usize] as usize] = f as u32;
            place[*edge as usize] += 1;
        }
    }
    (starts, faces)
}

/// A connected part of a set: sum of the middles of its faces, and how many.
struct Part {
    sum: [f32; 3],
    count: f32,
}

struct Cutter<'a> {
    surface: &'a Shell,
    sides: (Vec<u32>, Vec<u32>),
    /// Three times the middle of each face.
    middles: Vec<[f32; 3]>,
    /// Set in which each face is at present.
    set: Vec<u32>,
    /// Part of that set.
    part: Vec<u32>,
    open: Vec<u32>,
    parts: Vec<Part>,
    rank: Vec<u32>,
}

impl Cutter<'_> {
    /// Orders the faces of a set so that the first `left` of them are one half.
    fn cut(&mut self, faces: &mut [u32], left: usize, name: u32) {
        self.divide(faces, name);
        let Cutter { middles, part, parts, rank, .. } = self;
        let axis = widest(faces.iter().map(|f| middles[*f as usize]));
        let mean = |p: &Part| p.sum.map(|s| s / p.count);
        let across = widest(parts.iter().map(mean));
        rank.clear();
        rank.resize(parts.len(), 0);
        let mut by_place: Vec<u32> = (0..parts.len() as u32).collect();
        let along = |p: u32| mean(&parts[p as usize])[across];
        by_place.sort_unstable_by(|a, b| along(*a).total_cmp(&along(*b)).then(a.cmp(b)));
        for (k, p) in by_place.iter().enumerate() {
            rank[*p as usize] = k as u32;
        }
        faces.select_nth_unstable_by(left, |a, b| {
            let of = |f: u32| (rank[part[f as usize] as usize], middles[f as usize][axis]);
            let ((rank_a, at_a), (rank_b, at_b)) = (of(*a), of(*b));
            rank_a.cmp(&rank_b).then(at_a.total_cmp(&at_b)).then(a.cmp(b))
        });
    }

    /// Finds the connected parts of a set.
    fn divide(&mut self, faces: &[u32], name: u32) {
        for f in faces {
            self.set[*f as usize] = name;
            self.part[*f as usize] = NONE;
        }
        self.parts.clear();
        for seed in faces {
            if self.part[*seed as usize] != NONE {
                continue;
            }
            let mut part = Part { sum: [0.0; 3], count: 0.0 };
            let id = self.parts.len() as u32;
            self.part[*seed as usize] = id;
            self.open.push(*seed);
            while let Some(f) = self.open.pop() {
                part.count += 1.0;
                (0..3).for_each(|i| part.sum[i] += self.middles[f as usize][i]);
                for e in self.surface.face_edges()[f as usize] {
                    let (from, to) = (self.sides.0[e as usize], self.sides.0[e as usize + 1]);
                    for g in &self.sides.1[from as usize..to as usize] {
                        if self.set[*g as usize] == name && self.part[*g as usize] == NONE {
                            self.part[*g as usize] = id;
                            self.open.push(*g);
                        }
                    }
                }
            }
            self.parts.push(part);
        }
    }
}

/// Axis along which points spread the most.
fn widest(points: impl Iterator<Item = [f32; 3]>) -> usize {
    let (mut lo, mut hi) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for p in points {
        for i in 0..3 {
            lo[i] = lo[i].min(p[i]);
            hi[i] = hi[i].max(p[i]);
        }
    }
    let width = |i: usize| hi[i] - lo[i];
    (1..3).fold(0, |best, i| if width(i) > width(best) { i } else { best })
}
