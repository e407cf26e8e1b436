//! Neighbours settled by the fan: all faces round a vertex at once, instead of every two of them.
//!
//! Seen along a direction n, let every face of a vertex turn the same way (n·N > 0 for all its normals), and let the
//! faces go round the vertex no more than once. Then no two of them cover the same place in that view, except along
//! the edges they share: they have nothing else in common in space either. This settles all pairs that share the
//! vertex, hinges included. Six faces make fifteen pairs, and two in three pairs of boxes that overlap in a sheet are
//! such neighbours.
//!
//! How often they go round is counted where they pass a half-line from below: with u across n, each face turns its
//! first spoke into its second by less than half a turn, so it passes the half-line when u·d changes sign from − to +.
//! A closed ring passes it once per turn; an open one that passes both half-lines together at most once makes less
//! than a full turn.
//!
//! Nothing here decides that faces *meet*: a fan that is not proven (a sharp fold, a sliver, doubt about a sign) leaves
//! its pairs to the exact predicates.

use super::arrange::Pieces;
use glam::DVec3;

/// Above the rounding of n·(d × e) relative to |n|₁|d|₁|e|₁ (about 2e-15), and of u·n, which tilts n by 5e-15 at most.
const TURN: f64 = 1e-13;
/// Above the rounding of u·d relative to |u|₁|d|₁ (about 1e-15).
const SIDE: f64 = 1e-14;
/// Products below this may have underflowed; a fan so small (edges below 1e-25 m) is left alone.
const TINY: f64 = 1e-100;
/// Directions to look from; one that is not along n serves. Their slopes keep clear of those of generated meshes.
const VIEWS: [DVec3; 2] =
    [DVec3::new(0.387_298_334_621, 0.565_685_424_949, 0.728_010_988_928), DVec3::new(0.9, -0.37, 0.23)];

/// The faces round every vertex, in turn.
#[derive(Default)]
pub(super) struct Fans {
    /// The far ends of the spokes of every vertex, one after the other; a closed ring repeats its first.
    spokes: Vec<u32>,
    /// Where each vertex' spokes begin; one more than vertices.
    begin: Vec<u32>,
    /// Whether the ring is closed.
    closed: Vec<bool>,
}

impl Fans {
    /// The rings of these faces. Where faces are not a single ring or a single open fan, there are no spokes.
    pub fn new(faces: &[[u32; 3]], judged: &[bool], vertices: usize) -> Fans {
        let mut corners: Vec<(u32, u32, u32)> = Vec::with_capacity(3 * faces.len());
        for (face, _) in faces.iter().zip(judged).filter(|(_, judged)| **judged) {
            for k in 0..3 {
                corners.push((face[k], face[(k + 1) % 3], face[(k + 2) % 3]));
            }
        }
        corners.sort_unstable();
        let mut fans = Fans { begin: vec![0], ..Fans::default() };
        let mut at = 0;
        for vertex in 0..vertices as u32 {
            let count = corners[at..].iter().take_while(|corner| corner.0 == vertex).count();
            let closed = fans.add_ring(&corners[at..at + count]);
            fans.closed.push(closed);
            fans.begin.push(fans.spokes.len() as u32);
            at += count;
        }
        fans
    }

    /// Appends the spokes of one vertex, in turn, whichever way its faces are wound; says whether they close.
    fn add_ring(&mut self, corners: &[(u32, u32, u32)]) -> bool {
        let mut sides: Vec<[u32; 2]> = corners.iter().map(|&(_, from, to)| [from, to]).collect();
        let times = |v: u32| corners.iter().filter(|c| c.1 == v || c.2 == v).count();
        if corners.is_empty() || corners.iter().any(|c| c.1 == c.2 || times(c.1) > 2 || times(c.2) > 2) {
            return false;
        }
        let ends = corners.iter().flat_map(|c| [c.1, c.2]);
        let open = ends.clone().find(|&v| times(v) == 1);
        let start = self.spokes.len();
        let first = open.unwrap_or(sides[0][0]);
        let mut last = first;
        self.spokes.push(last);
        while let Some(next) = sides.iter().position(|side| side.contains(&last)) {
            let [from, to] = sides.swap_remove(next);
            last = if from == last { to } else { from };
            self.spokes.push(last);
        }
        let closed = open.is_none();
        // Left-over faces make a second fan at the same vertex; fewer than three faces close only on themselves.
        if !sides.is_empty() || (closed && (corners.len() < 3 || last != first)) {
            self.spokes.truncate(start);
            return false;
        }
        closed
    }

    /// Whether all faces of a vertex surely have nothing in common but the edges they share, at positions `x` [m].
    #[inline]
    pub fn apart(&self, vertex: usize, x: &[DVec3]) -> bool {
        let spokes = &self.spokes[self.begin[vertex] as usize..self.begin[vertex + 1] as usize];
        let Some((&first, rest)) = spokes.split_first() else { return false };
        let origin = x[vertex];
        let spoke = |v: u32| {
            let d = x[v as usize] - origin;
            let size = d.abs();
            (d, size.x + size.y + size.z)
        };
        let mut normal = DVec3::ZERO;
        let mut last = x[first as usize] - origin;
        for &v in rest {
            let next = x[v as usize] - origin;
            normal += last.cross(next);
            last = next;
        }
        let size = normal.abs();
        let size = size.x + size.y + size.z;
        let mut across = VIEWS[0].cross(normal);
        if across.length_squared() < 0.1 * normal.length_squared() {
            across = VIEWS[1].cross(normal);
        }
        let wide = across.abs();
        let doubt = SIDE * (wide.x + wide.y + wide.z);
        let (mut last, mut long) = spoke(first);
        let mut side = across.dot(last);
        let mut sure = side.abs() > doubt * long + TINY;
        let (mut up, mut down) = (0, 0);
        for &v in rest {
            let (next, length) = spoke(v);
            sure &= normal.dot(last.cross(next)) > TURN * size * (long * length) + TINY;
            let now = across.dot(next);
            sure &= now.abs() > doubt * length + TINY;
            up += u32::from(side < 0.0 && now > 0.0);
            down += u32::from(side > 0.0 && now < 0.0);
            (last, long, side) = (next, length, now);
        }
        sure && if self.closed[vertex] { up == 1 } else { up + down <= 1 }
    }
}

/// Faces at a vertex up to which its pairs are listed; those of the tip of a large cone are found like any other.
const LISTED: usize = 48;

/// Two faces that share a vertex or an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Neighbours {
    /// The faces, by number, the lesser first.
    pub faces: [u32; 2],
    /// Vertices they share; twice the same where there is one.
    pub shared: [u32; 2],
    /// The corner of each face that is the shared one; where there are two, the corner that is not shared.
    pub corners: [u8; 2],
}

/// Every pair of faces that share a vertex of few faces and count (one of them is judged), in order.
pub(super) fn neighbours(pieces: &Pieces, judged: &[bool], vertices: usize) -> Vec<Neighbours> {
    let mut pairs: Vec<Neighbours> = Vec::new();
    for v in 0..vertices {
        let here = pieces.round(v);
        if here.len() > LISTED {
            continue;
        }
        for (i, &a) in here.iter().enumerate() {
            for &b in here[i + 1..].iter().filter(|&&b| b != a && (judged[a as usize] || judged[b as usize]))
            {
                let faces = [a.min(b), a.max(b)];
                let corners = faces.map(|f| pieces.corner(f, v as u32));
                pairs.push(Neighbours { faces, shared: [v as u32; 2], corners });
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup_by(|next, first| {
        let same = next.faces == first.faces;
        if same {
            first.shared[1] = next.shared[1];
        }
        same
    });
    for pair in pairs.iter_mut().filter(|pair| pair.shared[0] != pair.shared[1]) {
        pair.corners = pair.faces.map(|f| pieces.apex(f, pair.shared));
    }
    pairs
}
