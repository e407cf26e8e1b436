//! Which faces continue each other across an edge, and which side is the front.

use super::faces::Face;
use super::report::{Element, Fault, Findings};
use glam::DVec3;

/// Edges of more faces than this have no pairs: something else is meant by them.
const MOST: usize = 64;

/// One use of an edge by a face.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    edge: [u32; 2],
    face: u32,
    /// Whether the face runs from the lower vertex to the higher.
    ascending: bool,
}

/// A neighbour across an edge, and whether the two windings disagree there.
struct Link {
    to: u32,
    disagree: bool,
    edge: [u32; 2],
}

/// Faces wound alike, and pairs that continue each other at edges of more than two.
pub struct Wound {
    /// Whether each face was turned.
    pub turned: Vec<bool>,
    /// Pairs that bend as one.
    pub bent: Vec<[u32; 2]>,
}

/// Turns faces so that neighbours have the same side; in each connected piece the side that more faces already have is
/// kept.
pub fn wind(positions: &[DVec3], faces: &mut [Face], findings: &mut Findings) -> Wound {
    let uses = uses(faces);
    let mut links: Vec<Vec<Link>> = (0..faces.len()).map(|_| Vec::new()).collect();
    let mut bent = Vec::new();
    for group in uses.chunk_by(|a, b| a.edge == b.edge) {
        match group {
            [_] => {}
            [a, b] => link(&mut links, a, b),
            many => {
                findings.add(Fault::Branch, Element::Edge(many[0].edge), 0.0);
                for [i, j] in pairs(positions, faces, many) {
                    bent.push([many[i].face, many[j].face]);
                    link(&mut links, &many[i], &many[j]);
                }
            }
        }
    }
    let mut turn: Vec<Option<bool>> = vec![None; faces.len()];
    let mut one_sided = Vec::new();
    for seed in 0..faces.len() {
        if turn[seed].is_some() {
            continue;
        }
        let piece = spread(seed, &links, &mut turn, &mut one_sided);
        let turned = piece.iter().filter(|f| turn[**f] == Some(true)).count();
        if turned * 2 > piece.len() {
            piece.iter().for_each(|f| turn[*f] = turn[*f].map(|t| !t));
        }
    }
    one_sided.sort_unstable();
    one_sided.dedup();
    one_sided.iter().for_each(|edge| findings.add(Fault::OneSided, Element::Edge(*edge), 0.0));
    let turned: Vec<bool> = turn.into_iter().map(|t| t == Some(true)).collect();
    for (face, _) in faces.iter_mut().zip(&turned).filter(|(_, turned)| **turned) {
        face.corners.swap(1, 2);
        face.texcoords.swap(1, 2);
    }
    Wound { turned, bent }
}

fn uses(faces: &[Face]) -> Vec<Use> {
    let mut uses = Vec::with_capacity(3 * faces.len());
    for (f, face) in faces.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (face.corners[k], face.corners[(k + 1) % 3]);
            uses.push(Use { edge: [a.min(b), a.max(b)], face: f as u32, ascending: a < b });
        }
    }
    uses.sort_unstable();
    uses
}

fn link(links: &mut [Vec<Link>], a: &Use, b: &Use) {
    let disagree = a.ascending == b.ascending;
    links[a.face as usize].push(Link { to: b.face, disagree, edge: a.edge });
    links[b.face as usize].push(Link { to: a.face, disagree, edge: a.edge });
}

/// Which faces at an edge continue each other: the flattest pairs first, none that folds by a right angle or more.
fn pairs(positions: &[DVec3], faces: &[Face], at: &[Use]) -> Vec<[usize; 2]> {
    if at.len() > MOST {
        return Vec::new();
    }
    let [a, b] = at[0].edge.map(|v| positions[v as usize]);
    let along = (b - a).normalize_or_zero();
    let across = |side: &Use| {
        let apex = faces[side.face as usize].corners.into_iter().find(|v| !side.edge.contains(v));
        let out = apex.map_or(DVec3::ZERO, |v| positions[v as usize] - a);
        (out - along * out.dot(along)).normalize_or_zero()
    };
    let away: Vec<DVec3> = at.iter().map(across).collect();
    let mut all: Vec<(f64, [usize; 2])> = Vec::new();
    for i in 0..at.len() {
        all.extend((i + 1..at.len()).map(|j| (away[i].dot(away[j]), [i, j])));
    }
    all.retain(|(fold, _)| *fold < -1e-9);
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut free = vec![true; at.len()];
    all.retain(|(_, [i, j])| {
        free[*i] && free[*j] && {
            (free[*i], free[*j]) = (false, false);
            true
        }
    });
    all.into_iter().map(|(_, pair)| pair).collect()
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
    while let Some(&f) = piece.get(next) {
        next += 1;
        let own = turn[f] == Some(true);
        for link in &links[f] {
            let wanted = own != link.disagree;
            match turn[link.to as usize] {
                None => {
                    turn[link.to as usize] = Some(wanted);
                    piece.push(link.to as usize);
                }
                Some(t) if t != wanted => one_sided.push(link.edge),
                Some(_) => {}
            }
        }
    }
    piece
}

/// Vertices where faces meet in nothing but that vertex.
pub fn bow_ties(faces: &[Face]) -> Vec<u32> {
    let mut corners: Vec<[u32; 3]> =
        faces.iter().flat_map(|f| (0..3).map(|k| [0, 1, 2].map(|i| f.corners[(k + i) % 3]))).collect();
    corners.sort_unstable();
    let mut found = Vec::new();
    for fan in corners.chunk_by(|a, b| a[0] == b[0]) {
        let mut around: Vec<u32> = fan.iter().flat_map(|c| [c[1], c[2]]).collect();
        around.sort_unstable();
        around.dedup();
        let mut root: Vec<usize> = (0..around.len()).collect();
        let mut parts = around.len();
        for c in fan {
            let mut ends = [c[1], c[2]].map(|v| around.partition_point(|w| *w < v));
            for end in &mut ends {
                while root[*end] != *end {
                    root[*end] = root[root[*end]];
                    *end = root[*end];
                }
            }
            if ends[0] != ends[1] {
                root[ends[0].max(ends[1])] = ends[0].min(ends[1]);
                parts -= 1;
            }
        }
        if parts > 1 {
            found.push(fan[0][0]);
        }
    }
    found
}

/// Whether every edge has two faces that agree on the front.
pub fn is_closed(faces: &[Face]) -> bool {
    uses(faces)
        .chunk_by(|a, b| a.edge == b.edge)
        .all(|group| matches!(group, [a, b] if a.ascending != b.ascending))
}
