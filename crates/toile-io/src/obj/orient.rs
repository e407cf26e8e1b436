//! Winding made consistent, with a record of what was turned.

use super::{Obj, Polygons};

/// What [`Obj::orient_faces`] did and met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orientation {
    /// Polygons whose winding was reversed, sorted.
    pub flipped: Vec<u32>,
    /// Edges used by more than two polygons; winding is not carried across them.
    pub non_manifold: Vec<[u32; 2]>,
    /// Edges where no choice of winding agrees: the surface is one-sided there.
    pub one_sided: Vec<[u32; 2]>,
    /// Number of pieces, connected through shared edges.
    pub pieces: usize,
}

/// One use of an edge by a polygon.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    edge: [u32; 2],
    polygon: u32,
    /// Whether the polygon runs from the lower to the higher vertex.
    ascending: bool,
}

impl Obj {
    /// Gives neighbouring polygons the same side. In each connected piece the side that more polygons
    /// already have is kept. Vertex order and polygon order do not change.
    pub fn orient_faces(&mut self) -> Orientation {
        orient(&mut self.polygons)
    }
}

fn orient(polygons: &mut Polygons) -> Orientation {
    let uses = edge_uses(polygons);
    let (links, non_manifold) = neighbours(&uses, polygons.len());
    let mut report = Orientation { non_manifold, ..Orientation::default() };
    // None: not reached; Some(turn): must be reversed to agree with the piece's first polygon.
    let mut turn: Vec<Option<bool>> = vec![None; polygons.len()];
    for seed in 0..polygons.len() {
        if turn[seed].is_some() {
            continue;
        }
        let piece = spread(seed, &links, &mut turn, &mut report.one_sided);
        report.pieces += 1;
        let turned = piece.iter().filter(|&&p| turn[p] == Some(true)).count();
        let keep = turned * 2 <= piece.len();
        for &p in &piece {
            if turn[p] == Some(keep) {
                polygons.reverse(p);
                report.flipped.push(p as u32);
            }
        }
    }
    report.flipped.sort_unstable();
    report.one_sided.sort_unstable();
    report.one_sided.dedup();
    report
}

fn edge_uses(polygons: &Polygons) -> Vec<Use> {
    let mut uses = Vec::with_capacity(polygons.corner_count());
    for (p, vertices) in polygons.iter().enumerate() {
        for i in 0..vertices.len() {
            let (a, b) = (vertices[i], vertices[(i + 1) % vertices.len()]);
            uses.push(Use { edge: [a.min(b), a.max(b)], polygon: p as u32, ascending: a < b });
        }
    }
    uses.sort_unstable();
    uses
}

/// A neighbour across an edge, and whether the two windings disagree there.
struct Link {
    to: usize,
    disagree: bool,
    edge: [u32; 2],
}

fn neighbours(uses: &[Use], count: usize) -> (Vec<Vec<Link>>, Vec<[u32; 2]>) {
    let mut links: Vec<Vec<Link>> = (0..count).map(|_| Vec::new()).collect();
    let mut non_manifold = Vec::new();
    for group in uses.chunk_by(|a, b| a.edge == b.edge) {
        match group {
            [a, b] => {
                let disagree = a.ascending == b.ascending;
                let (pa, pb) = (a.polygon as usize, b.polygon as usize);
                links[pa].push(Link { to: pb, disagree, edge: a.edge });
                links[pb].push(Link { to: pa, disagree, edge: a.edge });
            }
            [_] => {}
            _ => non_manifold.push(group[0].edge),
        }
    }
    (links, non_manifold)
}

/// Carries the winding of `seed` through its piece; returns the piece.
fn spread(
    seed: usize,
    links: &[Vec<Link>],
    turn: &mut [Option<bool>],
    one_sided: &mut Vec<[u32; 2]>,
) -> Vec<usize> {
    let mut piece = vec![seed];
    turn[seed] = Some(false);
    let mut next = 0;
    while next < piece.len() {
        let p = piece[next];
        next += 1;
        let own = turn[p] == Some(true);
        for link in &links[p] {
            let wanted = own != link.disagree;
            match turn[link.to] {
                None => {
                    turn[link.to] = Some(wanted);
                    piece.push(link.to);
                }
                Some(t) if t != wanted => one_sided.push(link.edge),
                Some(_) => {}
            }
        }
    }
    piece
}

#[cfg(test)]
mod tests {
    use super::*;

    fn obj(faces: &[&[u32]]) -> Obj {
        let mut obj = Obj::default();
        for f in faces {
            obj.polygons.push(f, &[]);
        }
        obj
    }

    #[test]
    fn the_minority_is_turned() {
        let mut o = obj(&[&[0, 1, 2], &[0, 3, 2], &[2, 3, 4, 5], &[10, 11, 12]]);
        let report = o.orient_faces();
        assert_eq!(report.flipped, [0]);
        assert_eq!(report.pieces, 2);
        assert_eq!(o.polygons.vertices(0), [2, 1, 0]);
        assert_eq!(o.orient_faces().flipped, [] as [u32; 0]);
    }

    #[test]
    fn edges_of_three_faces_and_one_sided_strips_are_named() {
        let report = obj(&[&[0, 1, 2], &[1, 0, 3], &[0, 1, 4]]).orient_faces();
        assert_eq!(report.non_manifold, [[0, 1]]);
        // A Möbius strip of five triangles.
        let mut strip = obj(&[&[0, 1, 2], &[2, 1, 3], &[2, 3, 4], &[4, 3, 0], &[4, 0, 1]]);
        let report = strip.orient_faces();
        assert!(!report.one_sided.is_empty());
    }
}
