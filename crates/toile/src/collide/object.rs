//! One surface in a detector: its tree, its inflated boxes, and what lazy updates remember of it.

use super::cones::{ConeMerge, VelocityCone};
use super::detect::{Counters, Inflation, Motion, Query, Search, Settings};
use super::flatness::{Curvature, Flatness};
use super::kdop::{Kdop, lengths, normals};
use super::patches::Patches;
use super::shell::{Groups, Shell};
use super::traverse::{Place, Side};
use super::tree::Tree;
use crate::math::{DVec3, parallel};

/// A surface with its hierarchy.
#[derive(Clone, Debug)]
pub(super) struct Object<const S: usize> {
    pub id: u32,
    pub surface: Shell,
    /// Without nodes until first needed, when patches are searched.
    pub tree: Tree<S>,
    /// None when trees are searched.
    pub patches: Option<Patches>,
    pub flat: Flatness,
    pub vertex_boxes: Vec<Kdop<S>>,
    /// Edits so far.
    pub edits: u32,
    arity: usize,
    lazy: Lazy,
}

/// What a lazy update remembers (M03-8).
#[derive(Clone, Debug, Default)]
struct Lazy {
    /// Positions at the last update [m].
    x: Vec<DVec3>,
    /// How far each vertex went since then [m].
    steps: Vec<f64>,
    /// Sum of the largest steps in each block since its boxes were made [m].
    moved: Vec<f64>,
    /// What the boxes were made for: ε, b, dt [m, m, s] and the inflation.
    made_for: Option<(f64, f64, f64, Inflation)>,
}

impl<const S: usize> Object<S> {
    /// Builds what is searched over the surface as placed.
    pub fn new(id: u32, surface: Shell, x: &[DVec3], settings: Settings) -> Object<S> {
        let patches = (settings.search == Search::Patches).then(|| Patches::new(&surface, x));
        let mut object = Object {
            id,
            vertex_boxes: Vec::new(),
            surface,
            tree: Tree::default(),
            patches,
            flat: Flatness::default(),
            edits: 0,
            arity: settings.arity,
            lazy: Lazy::default(),
        };
        if object.patches.is_none() {
            object.plant(x);
        }
        object
    }

    /// Builds the tree over the surface as placed, unless there is one.
    pub fn plant(&mut self, x: &[DVec3]) {
        if self.tree.nodes().is_empty() {
            self.tree = Tree::new(&face_boxes(&self.surface, x), self.surface.groups(), self.arity);
            self.vertex_boxes.clear();
            self.vertex_boxes.resize(self.surface.vertices(), Kdop::EMPTY);
            self.flat.forget();
        }
    }

    /// Takes another mesh, whose face f came out of the old face `from[f]`. Returns whether what is searched was kept.
    pub fn edit(&mut self, mut surface: Shell, from: &[u32], x: &[DVec3]) -> bool {
        let mut kept = self.patches.as_mut().is_none_or(|patches| patches.edit(&surface, from, x));
        if !self.tree.nodes().is_empty() {
            let old = &self.surface.groups().of_face;
            let inherits = from.iter().all(|f| (*f as usize) < old.len());
            if inherits && self.tree.edit(from) {
                let labels = from.iter().map(|f| old[*f as usize]).collect();
                surface.regroup(Groups::from_labels(surface.vertices(), surface.faces(), labels));
                self.tree.relabel(&surface.groups().of_face);
            } else {
                kept = false;
                self.tree = Tree::new(&face_boxes(&surface, x), surface.groups(), self.arity);
            }
            self.vertex_boxes.clear();
            self.vertex_boxes.resize(surface.vertices(), Kdop::EMPTY);
        }
        self.surface = surface;
        self.edits += 1;
        self.flat.forget();
        self.lazy = Lazy::default();
        kept
    }

    /// The surface where it is.
    pub fn place<'a>(&'a self, motion: &Motion<'a>) -> Place<'a> {
        Place { surface: &self.surface, motion: *motion }
    }

    /// The surface as a walk over trees sees it.
    pub fn side<'a>(&'a self, motion: &Motion<'a>) -> Side<'a, S> {
        Side { place: self.place(motion), tree: &self.tree, vertex_boxes: &self.vertex_boxes }
    }

    /// The patches, if they can answer a question.
    pub fn patches(&self, query: &Query) -> Option<&Patches> {
        self.patches.as_ref().filter(|_| Patches::serve(query))
    }

    /// Brings all boxes up to date that a question needs.
    pub fn update(&mut self, motion: &Motion, query: &Query, counters: &mut Counters) {
        if let Some(patches) = self.patches.as_mut().filter(|_| Patches::serve(query)) {
            patches.refit(motion, query);
            counters.nodes += patches.nodes() as u64;
            counters.refitted += patches.nodes() as u64;
            return;
        }
        self.plant(motion.x);
        let inflate = Inflate::new(motion, query, 0.0);
        parallel::fill(&mut self.vertex_boxes, |v| inflate.vertex(v));
        counters.refitted += if query.lazy > 0.0 {
            self.refit_lazily(motion, query)
        } else {
            self.lazy.made_for = None;
            let (surface, vertex_boxes) = (&self.surface, &self.vertex_boxes);
            self.tree.refit(|face| inflate.face(surface, vertex_boxes, face))
        } as u64;
        counters.nodes += self.tree.nodes().len() as u64;
        if query.curvature != Curvature::Off {
            self.flat.update(&self.surface, &self.tree, motion.x, query.curvature, query.epsilon);
        }
    }

    /// Boxes are made larger by b, and kept while nothing in their block has gone farther than that. The way is
    /// summed up over steps as it was, not predicted.
    fn refit_lazily(&mut self, motion: &Motion, query: &Query) -> usize {
        let Lazy { x, steps, moved, made_for } = &mut self.lazy;
        let purpose = Some((query.epsilon, query.lazy, query.dt, query.inflation));
        let fresh = *made_for != purpose || x.len() != motion.x.len() || motion.moves();
        if fresh {
            *made_for = purpose;
            x.clear();
            x.extend_from_slice(motion.x);
            steps.resize(x.len(), 0.0);
            moved.clear();
            moved.resize(self.tree.blocks().len(), f64::INFINITY);
        } else {
            let (before, now) = (&*x, motion.x);
            parallel::fill(steps, |v| {
                let step = (now[v] - before[v]).length();
                if step.is_finite() { step } else { f64::INFINITY }
            });
            let (surface, tree, steps) = (&self.surface, &self.tree, &*steps);
            parallel::update(moved, |b, moved| {
                let block = tree.blocks()[b];
                let leaves =
                    tree.nodes()[block.from as usize..block.to as usize].iter().filter(|n| n.len == 0);
                let corners = leaves.filter_map(|n| surface.faces().get(n.first as usize)).flatten();
                let farthest =
                    corners.map(|v| steps[*v as usize]).fold(0.0, |a, b| if b > a { b } else { a });
                *moved += farthest;
            });
            x.copy_from_slice(motion.x);
        }
        let inflate = Inflate::new(motion, query, query.lazy);
        let surface = &self.surface;
        // 1e-9: the sum of steps is rounded.
        let still = |b: usize| moved[b] <= query.lazy * (1.0 - 1e-9);
        let refitted = self.tree.refit_lazily(still, |face| inflate.face_afresh(surface, face));
        for m in moved.iter_mut() {
            if *m > query.lazy * (1.0 - 1e-9) {
                *m = 0.0;
            }
        }
        refitted
    }
}

/// Boxes of the faces as placed, without inflation.
fn face_boxes<const S: usize>(surface: &Shell, x: &[DVec3]) -> Vec<Kdop<S>> {
    let corner = |v: u32| Kdop::around(x[v as usize], &[0.0; S], &[0.0; S]);
    let face = |f: &[u32; 3]| corner(f[0]).union(&corner(f[1])).union(&corner(f[2]));
    surface.faces().iter().map(face).collect()
}

/// Makes inflated boxes: d(n) of M03 eq. 1 and its variants.
struct Inflate<'a, const S: usize> {
    motion: Motion<'a>,
    query: &'a Query,
    lengths: [f64; S],
    /// ε/2 and what a lazy update adds [m].
    pad: f64,
}

impl<'a, const S: usize> Inflate<'a, S> {
    fn new(motion: &Motion<'a>, query: &'a Query, more: f64) -> Inflate<'a, S> {
        Inflate { motion: *motion, query, lengths: lengths::<S>(), pad: 0.5 * query.epsilon + more }
    }

    /// Everything a vertex may touch during the step.
    fn vertex(&self, v: usize) -> Kdop<S> {
        self.corner(v, self.motion.reaches(v))
    }

    /// The largest reach of the corners of a face: what the face as a whole is reported for [m].
    fn reach(&self, corners: [u32; 3]) -> f64 {
        corners.map(|c| self.motion.reaches(c as usize)).into_iter().fold(0.0, f64::max)
    }

    /// Everything that a vertex with the given reach [m] may touch.
    fn corner(&self, v: usize, reach: f64) -> Kdop<S> {
        let x = self.motion.x[v];
        let velocity = self.motion.v.map_or(DVec3::ZERO, |velocity| velocity[v]);
        let dt = self.query.dt;
        match self.query.inflation {
            Inflation::Still => self.ball(x, self.pad + reach),
            Inflation::Isotropic => self.ball(x, self.pad + reach + velocity.length() * dt),
            // One velocity is a cone of no width: the oriented form is the exact sweep.
            Inflation::Swept | Inflation::Oriented { .. } => {
                self.ball(x, self.pad + reach).union(&self.ball(x + velocity * dt, self.pad + reach))
            }
            Inflation::OrientedAsPrinted => self.printed(x, &VelocityCone::of(velocity, 0.0), reach),
        }
    }

    /// Everything a face may touch, its vertices' boxes being made.
    #[inline]
    fn face(&self, surface: &Shell, vertex_boxes: &[Kdop<S>], face: u32) -> Kdop<S> {
        match self.query.inflation {
            Inflation::Oriented { .. } | Inflation::OrientedAsPrinted => self.face_afresh(surface, face),
            _ if self.motion.reach.is_some() || self.motion.way.is_some() => self.face_afresh(surface, face),
            _ => {
                let [a, b, c] = surface.faces()[face as usize].map(|v| &vertex_boxes[v as usize]);
                a.union(b).union(c)
            }
        }
    }

    /// The same from positions.
    fn face_afresh(&self, surface: &Shell, face: u32) -> Kdop<S> {
        let corners = surface.faces()[face as usize];
        let reach = self.reach(corners);
        match (self.query.inflation, self.motion.v) {
            (Inflation::Oriented { v_min }, Some(v)) => self.oriented(corners, v, v_min),
            (Inflation::OrientedAsPrinted, Some(v)) => {
                let cone = self.cone(corners, v, 0.0);
                let join =
                    |sum: Kdop<S>, c: u32| sum.union(&self.printed(self.motion.x[c as usize], &cone, reach));
                corners.into_iter().fold(Kdop::EMPTY, join)
            }
            _ => corners.into_iter().fold(Kdop::EMPTY, |sum, c| sum.union(&self.corner(c as usize, reach))),
        }
    }

    fn cone(&self, corners: [u32; 3], v: &[DVec3], v_min: f64) -> VelocityCone {
        let join =
            |sum: VelocityCone, c: u32| sum.merge(&VelocityCone::of(v[c as usize], v_min), ConeMerge::Tight);
        corners.into_iter().fold(VelocityCone::STILL, join)
    }

    /// A face inflated along its velocity cone (M03 eq. 1; E21, E22), or on all sides where the cone is wide.
    fn oriented(&self, corners: [u32; 3], v: &[DVec3], v_min: f64) -> Kdop<S> {
        let cone = self.cone(corners, v, v_min);
        let rim = cone.rim();
        let (mut below, mut above) = ([0.0; S], [0.0; S]);
        for (i, n) in normals::<S>().iter().enumerate() {
            let n = DVec3::from_array(*n);
            above[i] = cone.advance(n, self.query.dt, v_min, rim);
            below[i] = cone.advance(-n, self.query.dt, v_min, rim);
        }
        let mut out = Kdop::EMPTY;
        for c in corners {
            let x = self.motion.x[c as usize];
            let pad = self.pad + self.reach(corners) + slack(x);
            let mut sides = (below, above);
            for i in 0..S {
                sides.0[i] += self.lengths[i] * pad;
                sides.1[i] += self.lengths[i] * pad;
            }
            out = out.union(&Kdop::around(x, &sides.0, &sides.1));
        }
        out
    }

    /// M03 eq. 1 as printed; the fallback is the larger of ε/2 and v̂Δt, not their sum. Lossy.
    fn printed(&self, x: DVec3, cone: &VelocityCone, reach: f64) -> Kdop<S> {
        let (mut below, mut above) = ([0.0; S], [0.0; S]);
        let pad = self.pad + reach;
        for (i, n) in normals::<S>().iter().enumerate() {
            let n = DVec3::from_array(*n);
            let side = |n: DVec3| {
                let far = cone.advance_as_printed(n, self.query.dt);
                if cone.is_wide() { pad.max(far) } else { pad + far }
            };
            (below[i], above[i]) = (side(-n), side(n));
        }
        Kdop::around(x, &below, &above)
    }

    /// A ball of `radius` [m] (M03-2; E20: |n| times the radius).
    #[inline]
    fn ball(&self, x: DVec3, radius: f64) -> Kdop<S> {
        let radius = radius + slack(x);
        let side = self.lengths.map(|length| length * radius);
        Kdop::around(x, &side, &side)
    }
}

/// More than projections and distances of points near x lose to rounding [m].
#[inline]
fn slack(x: DVec3) -> f64 {
    4e-15 * (x.x.abs() + x.y.abs() + x.z.abs())
}
