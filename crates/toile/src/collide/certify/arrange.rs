//! Which faces go together in the tree: pieces of cloth, not pieces of space.
//!
//! Layers that lie on one another are nearer than the faces of one layer are wide; cut by place, four faces of three
//! layers would end up in one box that meets everything. Cut along the mesh, boxes stay flat and small however the
//! cloth folds. So pieces are cut along the mesh where they are folded, and by place, which is rounder, where they are
//! not; separate pieces are sorted by where they are.

use super::tree::Extent;
use glam::{Vec3A, Vec4};

/// The pieces of the meshes, and what is needed to cut them.
#[derive(Default)]
pub(super) struct Pieces {
    faces: Vec<[u32; 3]>,
    /// Faces round each vertex, as ranges of `round`.
    begin: Vec<u32>,
    round: Vec<u32>,
    /// The connected piece of each face.
    piece: Vec<u32>,
    /// How far each face is, in steps across the mesh, from four faces at the ends of its piece: coordinates on the
    /// cloth, whatever its shape.
    place: Vec<Vec4>,
}

/// Reaches faces from one another.
struct Flood {
    reached: Vec<bool>,
    seen: Vec<bool>,
    queue: Vec<(u32, u32)>,
}

impl Pieces {
    pub fn new(faces: &[[u32; 3]], vertices: usize) -> Pieces {
        let mut begin = vec![0_u32; vertices + 1];
        faces.iter().flatten().for_each(|&v| begin[v as usize + 1] += 1);
        (0..vertices).for_each(|v| begin[v + 1] += begin[v]);
        let (mut at, mut round) = (begin.clone(), vec![0_u32; 3 * faces.len()]);
        for (f, face) in faces.iter().enumerate() {
            for &v in face {
                round[at[v as usize] as usize] = f as u32;
                at[v as usize] += 1;
            }
        }
        let piece = vec![u32::MAX; faces.len()];
        let mut pieces =
            Pieces { faces: faces.to_vec(), begin, round, piece, place: vec![Vec4::ZERO; faces.len()] };
        let mut flood =
            Flood { reached: vec![false; faces.len()], seen: vec![false; vertices], queue: Vec::new() };
        for f in 0..faces.len() as u32 {
            if pieces.piece[f as usize] == u32::MAX {
                pieces.measure(f, &mut flood);
            }
        }
        pieces
    }

    /// Numbers a piece by its first face, and measures it from four faces as far from one another as can be.
    fn measure(&mut self, first: u32, flood: &mut Flood) {
        let mut from = self.flood(first, flood);
        for axis in 0..4 {
            self.flood(from, flood);
            // The next one: farthest from all before it.
            let mut best = -1.0;
            for &(face, steps) in &flood.queue {
                self.piece[face as usize] = first;
                let place = &mut self.place[face as usize];
                place[axis] = steps as f32;
                let least = (0..=axis).map(|k| place[k]).fold(f32::INFINITY, f32::min);
                if least > best {
                    (best, from) = (least, face);
                }
            }
        }
    }

    /// Faces round a vertex.
    pub fn round(&self, vertex: usize) -> &[u32] {
        &self.round[self.begin[vertex] as usize..self.begin[vertex + 1] as usize]
    }

    /// Which corner of a face is a vertex; the first where none is.
    pub fn corner(&self, face: u32, vertex: u32) -> u8 {
        self.faces[face as usize].iter().position(|&v| v == vertex).unwrap_or(0) as u8
    }

    /// Which corner of a face is none of two vertices; the first where there is no such.
    pub fn apex(&self, face: u32, vertices: [u32; 2]) -> u8 {
        self.faces[face as usize].iter().position(|v| !vertices.contains(v)).unwrap_or(0) as u8
    }

    /// Reorders faces so that those before the returned number and those after it go together: a multiple of `width`
    /// within a piece, a border of pieces where there are several.
    pub fn halve(&self, faces: &mut [u32], extents: &[Extent], width: usize) -> usize {
        let one = self.piece[faces[0] as usize];
        if faces.iter().any(|&f| self.piece[f as usize] != one) {
            return self.by_place(faces, extents);
        }
        let middle = (faces.len().div_ceil(width) / 2).max(1) * width;
        let start = (Vec4::INFINITY, Vec4::NEG_INFINITY);
        let span = |of: &dyn Fn(u32) -> Vec4| {
            let (low, high) = faces.iter().fold(start, |(low, high), &f| (low.min(of(f)), high.max(of(f))));
            high - low
        };
        let steps = |f: u32| self.place[f as usize];
        let centre = |f: u32| extents[f as usize].centre().extend(0.0);
        let (far, wide) = (span(&steps), span(&centre));
        // Folded: farther across the cloth than through space.
        let size = faces.iter().map(|&f| extents[f as usize].longest()).sum::<f32>() / faces.len() as f32;
        let folded = far.max_element() * size > 2.5 * wide.max_element();
        let axis = if folded { far.max_position() } else { wide.max_position() };
        let key = |f: u32| if folded { steps(f)[axis] } else { centre(f)[axis] };
        // The number breaks ties: a total order, the same for every run.
        let order = |f: &u32, g: &u32| key(*f).total_cmp(&key(*g)).then(f.cmp(g));
        faces.select_nth_unstable_by(middle.min(faces.len() - 1), order);
        middle
    }

    /// Orders whole pieces along the longest side of their middles; returns where to cut, between two of them.
    fn by_place(&self, faces: &mut [u32], extents: &[Extent]) -> usize {
        // Faces of a piece next to one another, pieces in the order of their first faces.
        faces.sort_unstable_by_key(|&f| (self.piece[f as usize], f));
        let middle =
            |of: &[u32]| of.iter().map(|&f| extents[f as usize].centre()).sum::<Vec3A>() / of.len() as f32;
        let mut groups: Vec<(Vec3A, Vec<u32>)> = faces
            .chunk_by(|&f, &g| self.piece[f as usize] == self.piece[g as usize])
            .map(|of| (middle(of), of.to_vec()))
            .collect();
        let start = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        let (low, high) = groups.iter().fold(start, |(low, high), (p, _)| (low.min(*p), high.max(*p)));
        let axis = (high - low).max_position();
        // Stable, so that ties keep the order of first faces: the same for every run.
        groups.sort_by(|p, q| p.0[axis].total_cmp(&q.0[axis]));
        let (half, mut cut, mut at) = (faces.len() / 2, 0, 0);
        for (k, (_, group)) in groups.iter().enumerate() {
            faces[at..at + group.len()].copy_from_slice(group);
            at += group.len();
            if k == 0 || (at <= half && k + 1 < groups.len()) {
                cut = at;
            }
        }
        cut
    }

    /// Fills the queue with all faces that are reached from one and their steps, nearest first; returns the last.
    fn flood(&self, from: u32, flood: &mut Flood) -> u32 {
        for (face, _) in flood.queue.drain(..) {
            flood.reached[face as usize] = false;
            self.faces[face as usize].iter().for_each(|&v| flood.seen[v as usize] = false);
        }
        flood.reached[from as usize] = true;
        flood.queue.push((from, 0));
        let mut next = 0;
        while let Some(&(face, steps)) = flood.queue.get(next) {
            next += 1;
            for v in self.faces[face as usize] {
                if std::mem::replace(&mut flood.seen[v as usize], true) {
                    continue;
                }
                for &other in self.round(v as usize) {
                    if !std::mem::replace(&mut flood.reached[other as usize], true) {
                        flood.queue.push((other, steps + 1));
                    }
                }
            }
        }
        flood.queue.last().map_or(from, |&(face, _)| face)
    }
}
