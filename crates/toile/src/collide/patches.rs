//! A surface as patches of sixteen faces with the edges and vertices that belong to them: what the default search walks.
//!
//! Where [`super::tree`] goes down to single faces and then compares what they own, a patch is compared as a whole: the
//! boxes of its faces, edges and vertices stand side by side in blocks of eight ([`super::lanes`]), sixteen faces have
//! about 24 edges and eight vertices, so blocks are full. Neighbours on the surface, which are most of what any search
//! over cloth meets, cost a few register comparisons each instead of a way down a tree. Above the patches is a tree of
//! eight children per node, in which child k of node i is node 8i + k of the level below.

use super::detect::{Inflation, Motion, Query, Report};
use super::lanes::{Bounds, LANES, Lanes};
use super::partition;
use super::shell::{NONE, Shell};
use crate::math::{DVec3, parallel};
use glam::{Vec3A, Vec4};

/// Faces in a patch.
pub(super) const PATCH: usize = 16;

/// Features of N vertices each, patch by patch, in blocks. Where a feature stands is its slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks<const N: usize> {
    /// Blocks of patch p: from `starts[p]` up to `starts[p + 1]`.
    starts: Vec<u32>,
    /// Feature in each slot; [`NONE`] where a block is not full.
    pub ids: Vec<u32>,
    /// Its vertices.
    pub of: Vec<[u32; N]>,
    pub lanes: Vec<Lanes>,
}

impl<const N: usize> Blocks<N> {
    /// Blocks of the features that lie in each patch: `patch[i]` is the patch of feature i, or [`NONE`].
    fn new(patches: usize, patch: &[u32], vertices: impl Fn(usize) -> [u32; N]) -> Blocks<N> {
        let mut count = vec![0usize; patches];
        patch.iter().filter(|p| **p != NONE).for_each(|p| count[*p as usize] += 1);
        let mut starts = vec![0u32];
        for (p, count) in count.iter().enumerate() {
            starts.push(starts[p] + count.div_ceil(LANES) as u32);
        }
        let blocks = starts[patches] as usize;
        let (mut ids, mut of) = (vec![NONE; LANES * blocks], vec![[NONE; N]; LANES * blocks]);
        let mut place: Vec<usize> = starts.iter().map(|s| LANES * *s as usize).collect();
        for (i, p) in patch.iter().enumerate().filter(|(_, p)| **p != NONE) {
            let slot = &mut place[*p as usize];
            (ids[*slot], of[*slot]) = (i as u32, vertices(i));
            *slot += 1;
        }
        Blocks { starts, ids, of, lanes: vec![Lanes::EMPTY; blocks] }
    }

    /// The blocks of a patch.
    #[inline(always)]
    pub fn blocks(&self, patch: u32) -> std::ops::Range<usize> {
        self.starts[patch as usize] as usize..self.starts[patch as usize + 1] as usize
    }

    /// Makes the boxes anew from those of the vertices; those of patch p are larger by `more[p]`, if that is given.
    fn refit(&mut self, corners: &[Bounds], more: &[f32]) {
        let (of, starts) = (&self.of, &self.starts);
        parallel::fill(&mut self.lanes, |block| {
            let slots = &of[LANES * block..LANES * (block + 1)];
            let more = if more.is_empty() {
                0.0
            } else {
                more[starts.partition_point(|start| *start as usize <= block) - 1]
            };
            Lanes::of(|k| {
                let vertices = &slots[k % LANES];
                let Some(first) = corners.get(vertices[0] as usize) else { return Bounds::EMPTY };
                let mut sum = *first;
                for v in &vertices[1..] {
                    sum = sum.union(&corners[*v as usize]);
                }
                sum.reaching().grown(more)
            })
        });
    }
}

/// Which features of each patch have a vertex in common: what is close without being a contact.
#[derive(Clone, Debug, Default)]
pub(super) struct Touching {
    starts: Vec<u32>,
    /// For each pair of blocks of a patch, the later one not before the earlier in time, byte k bit l: slots k and l.
    words: Vec<u64>,
}

impl Touching {
    /// Between blocks of two kinds, or, `alone`, of one kind: then each pair of slots once, all others marked.
    fn new<const N: usize, const M: usize>(
        patches: usize,
        near: &Blocks<N>,
        far: &Blocks<M>,
        alone: bool,
    ) -> Touching {
        let (mut starts, mut words) = (vec![0], Vec::new());
        for p in 0..patches as u32 {
            for a in near.blocks(p) {
                for b in far.blocks(p).filter(|b| !alone || *b >= a) {
                    let mut word = 0u64;
                    for (k, l) in (0..LANES).flat_map(|k| (0..LANES).map(move |l| (k, l))) {
                        let (of_a, of_b) = (&near.of[LANES * a + k], &far.of[LANES * b + l]);
                        let touch = of_a.iter().any(|v| of_b.contains(v)) || (alone && a == b && l <= k);
                        word |= u64::from(touch) << (8 * k + l);
                    }
                    words.push(word);
                }
            }
            starts.push(words.len() as u32);
        }
        Touching { starts, words }
    }

    /// The words of a patch, in the order of its pairs of blocks.
    #[inline(always)]
    pub fn of(&self, patch: u32) -> &[u64] {
        &self.words[self.starts[patch as usize] as usize..self.starts[patch as usize + 1] as usize]
    }
}

/// What a patch is besides its box: flat, as a rule. A slab along its mean normal, round its centre, holds all its
/// vertices; across it they are within a radius of the centre. Layers of cloth are apart by their slabs long before their
/// boxes are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slab {
    /// Unit normal.
    normal: Vec4,
    centre: Vec4,
    /// Along the normal, from the centre [m].
    lo: f32,
    hi: f32,
    /// Of all vertices from the centre [m].
    radius: f32,
    /// How far beyond the vertices it reaches [m]: ε/2, reach and rounding.
    pad: f32,
}

impl Slab {
    /// Overlaps everything.
    const ALL: Slab = Slab {
        normal: Vec4::ZERO,
        centre: Vec4::ZERO,
        lo: 0.0,
        hi: 0.0,
        radius: f32::INFINITY,
        pad: f32::INFINITY,
    };

    /// Whether a plane along the normal of this patch keeps the other apart by `more` [m]. Where something is no number,
    /// it does not.
    #[inline(always)]
    pub fn clears(&self, other: &Slab, more: f32) -> bool {
        let cos = self.normal.dot(other.normal);
        // 1e-6: more than the cosine loses to rounding.
        let across = ((1.0 - cos * cos).max(0.0) + 1e-6).sqrt() * other.radius;
        let at = self.normal.dot(other.centre - self.centre);
        let (p, q) = (cos * other.lo, cos * other.hi);
        let pads = self.pad + other.pad + across + more;
        at + p.min(q) - pads > self.hi || at + p.max(q) + pads < self.lo
    }
}

/// One level of the hierarchy.
#[derive(Clone, Debug)]
pub(super) struct Level {
    /// Box of each node.
    pub bounds: Vec<Bounds>,
    /// The same, eight siblings at a time: block i holds the children of node i of the level above, seen from its frame.
    pub lanes: Vec<Lanes>,
    /// The way of each node [m], if vertices have one: its box is seen from a frame that goes this way.
    frames: Vec<Vec3A>,
}

/// The patches of one surface.
#[derive(Clone, Debug, Default)]
pub(super) struct Patches {
    /// Faces in order of patches.
    order: Vec<u32>,
    pub faces: Blocks<3>,
    pub edges: Blocks<2>,
    pub vertices: Blocks<1>,
    /// Edges of one patch that touch, vertices and faces that do.
    pub edges_touch: Touching,
    pub faces_touch: Touching,
    /// From the patches up to a level of at most eight nodes.
    pub levels: Vec<Level>,
    /// Of each patch.
    pub slabs: Vec<Slab>,
    /// Way of the whole [m].
    frame: Vec3A,
    /// How far the ways of the vertices of each patch are from its own [m], if they have any.
    spread: Vec<f32>,
    /// Way of each vertex [m], if they have any, and its reach.
    pub ways: Vec<Vec4>,
    /// Box of each vertex, reach apart.
    corners: Vec<Bounds>,
    /// Each vertex at the start and, where the question needs it, at the end of the step, and its reach [m].
    pub places: [Vec<Vec4>; 2],
    /// Faces added or lost by edits since the order was made.
    edited: usize,
}

impl Patches {
    pub fn new(surface: &Shell, x: &[DVec3]) -> Patches {
        Patches::assemble(surface, partition::order(surface, x, PATCH))
    }

    /// Follows an edit of the mesh: faces take the places of those they came out of. Made anew when a quarter has changed.
    /// Returns whether the order was kept.
    pub fn edit(&mut self, surface: &Shell, from: &[u32], x: &[DVec3]) -> bool {
        let before = self.order.len();
        let mut rank = vec![0u32; before];
        for (k, f) in self.order.iter().enumerate() {
            rank[*f as usize] = k as u32;
        }
        let mut heirs = vec![0u32; before];
        let mut known = true;
        for f in from {
            match heirs.get_mut(*f as usize) {
                Some(heirs) => *heirs += 1,
                None => known = false,
            }
        }
        let changed: usize = heirs.iter().map(|h| h.abs_diff(1) as usize).sum();
        let edited = self.edited + changed;
        let kept = known && 4 * edited <= before;
        *self = if kept {
            let mut order: Vec<u32> = (0..from.len() as u32).collect();
            order.sort_by_key(|f| rank[from[*f as usize] as usize]);
            Patches { edited, ..Patches::assemble(surface, order) }
        } else {
            Patches::new(surface, x)
        };
        kept
    }

    fn assemble(surface: &Shell, order: Vec<u32>) -> Patches {
        let patches = order.len().div_ceil(PATCH);
        let mut of_face = vec![NONE; order.len()];
        for (k, f) in order.iter().enumerate() {
            of_face[*f as usize] = (k / PATCH) as u32;
        }
        let mut levels = Vec::new();
        let mut nodes = patches;
        while nodes > 0 {
            let blocks = nodes.div_ceil(LANES);
            let (bounds, lanes) = (vec![Bounds::EMPTY; nodes], vec![Lanes::EMPTY; blocks]);
            levels.push(Level { bounds, lanes, frames: Vec::new() });
            nodes = if blocks > 1 { blocks } else { 0 };
        }
        let of_edge = share(patches, &of_face, surface.face_edges(), surface.edges().len());
        let of_vertex = share(patches, &of_face, surface.faces(), surface.vertices());
        let faces = Blocks::new(patches, &of_face, |f| surface.faces()[f]);
        let edges = Blocks::new(patches, &of_edge, |e| surface.edges()[e]);
        let vertices = Blocks::new(patches, &of_vertex, |v| [v as u32]);
        Patches {
            edges_touch: Touching::new(patches, &edges, &edges, true),
            faces_touch: Touching::new(patches, &vertices, &faces, false),
            faces,
            edges,
            vertices,
            order,
            levels,
            slabs: vec![Slab::ALL; patches],
            frame: Vec3A::ZERO,
            spread: Vec::new(),
            ways: Vec::new(),
            corners: vec![Bounds::EMPTY; surface.vertices()],
            places: Default::default(),
            edited: 0,
        }
    }

    /// Whether a question can be answered from patches: their boxes are unions of their vertices' boxes.
    pub fn serve(query: &Query) -> bool {
        use super::coherence::Tracking;
        use super::detect::Features;
        use super::flatness::Curvature;
        matches!(query.inflation, Inflation::Still | Inflation::Isotropic | Inflation::Swept)
            && query.features != Features::Virtual
            && query.curvature == Curvature::Off
            && query.tracking == Tracking::Off
            && query.lazy == 0.0
    }

    /// Number of nodes, patches included.
    pub fn nodes(&self) -> usize {
        self.levels.iter().map(|l| l.bounds.len()).sum()
    }

    /// The box round everything.
    pub fn whole(&self) -> Bounds {
        self.levels.last().map_or(Bounds::EMPTY, |top| top.lanes[0].whole())
    }

    /// Brings all boxes up to date.
    pub fn refit(&mut self, motion: &Motion, query: &Query) {
        let corner = Corner { motion, query };
        parallel::fill(&mut self.corners, |v| corner.bounds(v));
        let moves = matches!(query.report, Report::End | Report::Ends)
            || (query.inflation == Inflation::Swept && motion.v.is_some());
        for (end, places) in self.places.iter_mut().enumerate() {
            places.resize(if moves || end == 0 { motion.x.len() } else { 0 }, Vec4::ZERO);
            parallel::fill(places, |v| corner.place(v, end));
        }
        self.follow(motion);
        self.faces.refit(&self.corners, &self.spread);
        self.edges.refit(&self.corners, &self.spread);
        self.vertices.refit(&self.corners, &self.spread);
        for at in 0..self.levels.len() {
            let (below, level) = self.levels.split_at_mut(at);
            let (level, above) = level.split_at_mut(1);
            let Level { bounds, lanes, frames } = &mut level[0];
            let (above, whole) = (above.first().map(|above| &above.frames), self.frame);
            match below.last() {
                None => {
                    let faces = &self.faces;
                    parallel::fill(bounds, |p| {
                        let blocks = &faces.lanes[faces.blocks(p as u32)];
                        blocks.iter().fold(Bounds::EMPTY, |sum, block| sum.union(&block.whole()))
                    });
                }
                Some(below) => parallel::fill(bounds, |n| below.lanes[n].whole()),
            }
            let bounds = &*bounds;
            parallel::fill(lanes, |b| {
                Lanes::of(|k| {
                    let node = LANES * b + k;
                    let own = bounds.get(node).copied().unwrap_or(Bounds::EMPTY);
                    match frames.get(node) {
                        Some(frame) => own.grown(apart(*frame, above.map_or(whole, |frames| frames[b]))),
                        None => own,
                    }
                })
            });
        }
        let mut slabs = std::mem::take(&mut self.slabs);
        if query.inflation == Inflation::Isotropic {
            slabs.fill(Slab::ALL);
        } else {
            let pad = super::lanes::up(0.5 * query.epsilon);
            parallel::fill(&mut slabs, |p| self.slab(p as u32, pad));
        }
        self.slabs = slabs;
    }

    /// Finds a way for every node: the mean of what is in it. Seen from frames that go these ways, vertices go less far.
    fn follow(&mut self, motion: &Motion) {
        self.ways.clear();
        self.spread.clear();
        self.levels.iter_mut().for_each(|level| level.frames.clear());
        self.frame = Vec3A::ZERO;
        let Some(ways) = motion.way else { return };
        let reach = |v: usize| motion.reach.map_or(0.0, |reach| reach[v]);
        self.ways
            .extend(ways.iter().enumerate().map(|(v, way)| way.as_vec3().extend(super::lanes::up(reach(v)))));
        let faces = &self.faces;
        let own = |p: usize| {
            let blocks = faces.blocks(p as u32);
            let slots = &faces.of[LANES * blocks.start..LANES * blocks.end];
            slots.iter().filter(|face| face[0] != NONE).flatten().map(|v| ways[*v as usize])
        };
        let patches = self.slabs.len();
        let mut frames = vec![(Vec3A::ZERO, 0.0); patches];
        parallel::fill(&mut frames, |p| {
            let (sum, count) = own(p).fold((DVec3::ZERO, 0.0), |(sum, n), way| (sum + way, n + 1.0));
            let frame = (sum / count).as_vec3a();
            let off = own(p).fold(0.0f64, |most, way| most.max((way - frame.as_dvec3()).length()));
            (frame, super::lanes::up(off))
        });
        self.spread.extend(frames.iter().map(|(_, off)| *off));
        let mut frames: Vec<Vec3A> = frames.into_iter().map(|(frame, _)| frame).collect();
        for level in &mut self.levels {
            let above = frames.chunks(LANES).map(|own| own.iter().copied().sum::<Vec3A>() / own.len() as f32);
            let above = above.collect();
            level.frames = std::mem::replace(&mut frames, above);
        }
        self.frame = frames.first().copied().unwrap_or(Vec3A::ZERO);
    }

    /// The way of a node; of the whole above the highest level.
    #[inline(always)]
    pub fn frame(&self, level: u8, node: u32) -> Vec3A {
        match self.levels.get(level as usize) {
            Some(level) => level.frames.get(node as usize).copied().unwrap_or(Vec3A::ZERO),
            None => self.frame,
        }
    }

    /// The slab of a patch.
    fn slab(&self, p: u32, pad: f32) -> Slab {
        let bounds = self.levels[0].bounds[p as usize];
        let blocks = self.faces.blocks(p);
        let own = &self.faces.of[LANES * blocks.start..LANES * blocks.end];
        let own = &own[..own.iter().position(|f| f[0] == NONE).unwrap_or(own.len())];
        let mut sum = glam::Vec3A::ZERO;
        for face in own {
            let at = |k: usize| glam::Vec3A::from_vec4(self.places[0][face[k] as usize]);
            let a = at(0);
            sum += (at(1) - a).cross(at(2) - a);
        }
        let (normal, centre) = (sum.normalize().extend(0.0), 0.5 * (bounds.lo + bounds.hi));
        let (mut lo, mut hi, mut reach) = (f32::INFINITY, f32::NEG_INFINITY, 0.0_f32);
        for places in self.places.iter().filter(|places| !places.is_empty()) {
            for v in own.as_flattened() {
                let at = places[*v as usize];
                let along = normal.dot(at - centre);
                (lo, hi, reach) = (lo.min(along), hi.max(along), reach.max(at.w));
            }
        }
        reach += self.spread.get(p as usize).copied().unwrap_or(0.0);
        let radius = 0.5 * (bounds.hi - bounds.lo).truncate().length();
        // Places are rounded by 2⁻²⁴, differences and projections by a few more.
        let rounding = 2e-6 * bounds.farthest();
        Slab { normal, centre, lo, hi, radius: radius + rounding, pad: (pad + reach) * 1.000_01 + rounding }
    }
}

/// How far apart two ways end [m], rounded up.
#[inline(always)]
pub(super) fn apart(a: Vec3A, b: Vec3A) -> f32 {
    let apart = (a - b).length();
    if apart > 0.0 { apart * 1.000_01 + f32::MIN_POSITIVE } else { 0.0 }
}

/// Where vertices are and what they may touch.
struct Corner<'a> {
    motion: &'a Motion<'a>,
    query: &'a Query,
}

impl Corner<'_> {
    fn reach(&self, v: usize) -> f64 {
        self.motion.reach.map_or(0.0, |reach| reach[v])
    }

    #[inline]
    fn bounds(&self, v: usize) -> Bounds {
        let (x, dt, pad) = (self.motion.x[v], self.query.dt, 0.5 * self.query.epsilon);
        let reach = self.reach(v);
        match (self.query.inflation, self.motion.v) {
            (Inflation::Isotropic, Some(velocity)) => Bounds::ball(x, pad + velocity[v].length() * dt, reach),
            (Inflation::Swept, Some(velocity)) => {
                Bounds::ball(x, pad, reach).union(&Bounds::ball(x + velocity[v] * dt, pad, reach))
            }
            _ => Bounds::ball(x, pad, reach),
        }
    }

    #[inline]
    fn place(&self, v: usize, end: usize) -> Vec4 {
        let x = match self.motion.v {
            Some(velocity) if end == 1 => self.motion.x[v] + velocity[v] * self.query.dt,
            _ => self.motion.x[v],
        };
        x.as_vec3().extend(super::lanes::up(self.reach(v)))
    }
}

/// Gives each feature to a patch of one of its faces, of several to the one that has the fewest, so that blocks fill
/// evenly. `features` are those of each face; those without a face go to [`NONE`].
fn share(patches: usize, of_face: &[u32], features: &[[u32; 3]], count: usize) -> Vec<u32> {
    let mut of = vec![NONE; count];
    // Features of faces of different patches: which, and the other patch.
    let mut border = Vec::new();
    for (f, of_this) in features.iter().enumerate() {
        for i in of_this {
            let (patch, other) = (&mut of[*i as usize], of_face[f]);
            if *patch == NONE {
                *patch = other;
            } else if *patch != other {
                border.push((*i, other));
            }
        }
    }
    let mut load = vec![0u32; patches];
    of.iter().filter(|p| **p != NONE).for_each(|p| load[*p as usize] += 1);
    for (i, other) in border {
        let patch = &mut of[i as usize];
        if load[other as usize] + 1 < load[*patch as usize] {
            load[*patch as usize] -= 1;
            load[other as usize] += 1;
            *patch = other;
        }
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::shell::Role;
    use crate::math::random;

    fn sheet(n: u32) -> (Shell, Vec<DVec3>) {
        let at = |i, j| i * (n + 1) + j;
        let cell = |c: u32| {
            let (i, j) = (c / n, c % n);
            [[at(i, j), at(i + 1, j), at(i, j + 1)], [at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]]
        };
        let place = |v: u32| {
            DVec3::new(f64::from(v / (n + 1)), 0.3 * random::unit(1, v.into()), f64::from(v % (n + 1)))
        };
        let x = (0..(n + 1) * (n + 1)).map(place).collect::<Vec<_>>();
        let surface = Shell::new(x.len(), (0..n * n).flat_map(cell).collect(), Role::Cloth);
        (surface.expect("sound"), x)
    }

    fn holds_each_once<const N: usize>(blocks: &Blocks<N>, count: usize) {
        let mut ids: Vec<u32> = blocks.ids.iter().copied().filter(|i| *i != NONE).collect();
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..count as u32));
    }

    fn check(patches: &mut Patches, surface: &Shell, x: &[DVec3]) {
        holds_each_once(&patches.faces, surface.faces().len());
        holds_each_once(&patches.edges, surface.edges().len());
        holds_each_once(&patches.vertices, surface.vertices());
        patches.refit(&Motion::still(x), &Query::default());
        let inside = |small: &Bounds, large: &Bounds| {
            small.lo.truncate().cmpge(large.lo.truncate()).all()
                && small.hi.truncate().cmple(large.hi.truncate()).all()
        };
        for (at, level) in patches.levels.iter().enumerate() {
            for (n, bounds) in level.bounds.iter().enumerate() {
                let above = patches.levels.get(at + 1);
                let above = above.map_or(patches.whole(), |above| above.bounds[n / LANES]);
                assert!(inside(bounds, &above), "level {at}, node {n}");
            }
        }
        for (p, whole) in patches.levels[0].bounds.iter().enumerate() {
            let within = |lanes: &[Lanes]| lanes.iter().all(|lanes| inside(&lanes.whole(), whole));
            assert!(within(&patches.edges.lanes[patches.edges.blocks(p as u32)]));
            assert!(within(&patches.vertices.lanes[patches.vertices.blocks(p as u32)]));
        }
    }

    #[test]
    fn patches_hold_each_feature_once_in_full_blocks() {
        let (surface, x) = sheet(64);
        let mut patches = Patches::new(&surface, &x);
        check(&mut patches, &surface, &x);
        let fill = surface.edges().len() as f64 / patches.edges.ids.len() as f64;
        assert!(fill > 0.9, "{fill}");
        // Two by four squares have fifteen vertices.
        let corners = |p: u32| {
            let blocks = patches.faces.blocks(p);
            let mut own = patches.faces.of[LANES * blocks.start..LANES * blocks.end].concat();
            own.sort_unstable();
            own.dedup();
            own.len()
        };
        let count = patches.levels[0].bounds.len();
        let mean = (0..count as u32).map(corners).sum::<usize>() as f64 / count as f64;
        assert!(mean < 17.0, "{mean} vertices to a patch");
    }

    #[test]
    fn an_edit_keeps_the_order_until_a_quarter_has_changed() {
        let (surface, mut x) = sheet(20);
        let mut patches = Patches::new(&surface, &x);
        let mut faces = surface.faces().to_vec();
        let mut from: Vec<u32> = (0..faces.len() as u32).collect();
        for f in 0..40 {
            let [a, b, c] = faces[f];
            let centre = x.len() as u32;
            x.push((x[a as usize] + x[b as usize] + x[c as usize]) / 3.0);
            faces[f] = [a, b, centre];
            faces.extend([[b, c, centre], [c, a, centre]]);
            from.extend([f as u32; 2]);
        }
        let edited = Shell::new(x.len(), faces, Role::Cloth).expect("sound");
        assert!(patches.edit(&edited, &from, &x));
        check(&mut patches, &edited, &x);
        let all = vec![0; edited.faces().len()];
        assert!(!patches.edit(&edited, &all, &x));
        check(&mut patches, &edited, &x);
    }
}
