//! Cloth that refines itself while it moves: looked at after frames or substeps, split where it needs it, put back where it
//! does not (B14-1, B14-12, B14-13).
//!
//! Splitting a face leaves every point of the surface where it is. What is put back flattens the cloth within its parent,
//! and so does a cut between levels that comes to lie elsewhere; where that would meet a body, new vertices are lifted off it,
//! and where it would meet something all the same, it is left for later. Nothing
//! can have passed through anything then: old and new surface enclose the space between them, and what crosses neither was not
//! in it.

use super::World;
use super::reshape::Reshaped;
use crate::error::FrameError;
use crate::forces::halfway;
use crate::forces::membrane::{material_weights, principal_strain};
use crate::freedom::{Freedom, Mobility};
use crate::math::{DMat3, DVec3};
use crate::mesh::levels::{Change, Levels, Seen, Wishes, lumped};
use crate::mesh::{Closure, Mesh, Origin};
use crate::probe::Probe;
use crate::setup::{Anchor, Cloth, Criterion, Every, Grip, Refine};
use std::f64::consts::PI;
use std::sync::Arc;

/// Times that what would meet something is left out and the rest tried again.
const TRIALS: usize = 5;

/// Times that new vertices are lifted off bodies, and by how much of a face's longest side at the most.
const LIFTS: usize = 4;
const HIGHEST: f64 = 0.25;

/// Bodies nearer than this many times what cloth keeps from them are touched.
const NEAR: f64 = 2.0;

impl World {
    /// Whether a cloth is looked at after every substep.
    pub(super) fn adapts_within_frames(&self) -> bool {
        let within = |cloth: &Cloth| cloth.refine.is_some_and(|refine| refine.every == Every::Substep);
        self.substeps > 1 && self.cloths.iter().any(within)
    }

    /// A frame of which every substep is one for itself, with a look at the cloths after each.
    pub(super) fn step_adapting(&mut self, frame_dt: f64, probe: &mut Probe) -> Result<(), FrameError> {
        let (before, substeps) = (self.snapshot(), self.substeps);
        let (time, frames) = (self.time, self.frames);
        self.substeps = 1;
        for k in 1..=substeps {
            if let Err(error) = self.frame(frame_dt / f64::from(substeps), probe) {
                self.go_back(before);
                self.substeps = substeps;
                return Err(error);
            }
            self.frames = frames + u64::from(k == substeps);
            self.look(frames * u64::from(substeps) + u64::from(k), k == substeps);
        }
        self.substeps = substeps;
        // The sum of its substeps is rounded otherwise.
        self.time = time + frame_dt;
        self.place_bodies();
        Ok(())
    }

    /// Looks at the cloths whose turn it is, after so many frames or substeps.
    pub(super) fn look(&mut self, tick: u64, frame_ends: bool) {
        for cloth in 0..self.cloths.len() {
            let Some(refine) = self.cloths[cloth].refine else { continue };
            let due = match refine.every {
                Every::Substep => true,
                Every::Frames(n) => frame_ends && self.frames.is_multiple_of(u64::from(n.max(1))),
            };
            let tick = if refine.every == Every::Substep { tick } else { self.frames };
            if due {
                // One entry into the thread pool, as for a frame.
                rayon::scope(|_| self.refine_by(cloth, &refine, tick));
            }
        }
    }

    /// Splits and cancels what the criterion of a cloth asks for, whatever its turn. Returns whether anything changed; the cloth
    /// must have [`Cloth::refine`].
    pub fn refine(&mut self, cloth: usize) -> bool {
        match (self.cloths.get(cloth).and_then(|cloth| cloth.refine), self.levels(cloth).map(Levels::now)) {
            (Some(refine), Some(now)) => self.refine_by(cloth, &refine, now),
            _ => false,
        }
    }

    /// Splits every face of a cloth that may be split: what was draped coarse goes on fine. Returns whether anything
    /// changed; the cloth must have [`Cloth::refine`].
    pub fn refine_all(&mut self, cloth: usize) -> bool {
        let Some(levels) = self.levels.get(cloth).cloned().flatten() else { return false };
        let may = |face: &u32| levels.level(*face) < Some(levels.most());
        let wishes = match levels.closure() {
            Closure::Halves => levels.halves_of_all(),
            _ => Wishes { split: levels.leaves().filter(may).collect(), ..Wishes::default() },
        };
        !wishes.is_empty() && self.is_clear(cloth) && self.change_levels(cloth, &levels, &wishes, false)
    }

    fn refine_by(&mut self, cloth: usize, refine: &Refine, tick: u64) -> bool {
        let Some(levels) = self.levels(cloth) else { return false };
        let mut levels = levels.clone();
        levels.pass(tick.saturating_sub(levels.now()));
        let positions = self.positions(cloth);
        let (mut touching, mut strains) = (Vec::new(), Vec::new());
        if !matches!(refine.criterion, Criterion::Paper(_)) {
            touching = self.curvatures_touched(cloth, &positions);
        }
        if let Criterion::Sizing(_) = refine.criterion {
            strains = strains_of(levels.mesh(), &positions);
        }
        let fabric = &self.cloths[cloth].fabric;
        let buckling = PI * PI * fabric.bend.mean() / fabric.mean_stretch();
        let seen = Seen { positions: &positions, touching: &touching, strains: &strains, buckling };
        // Settings were checked, and the lists are those of the mesh.
        let Ok(mut wishes) = refine.wishes(&levels, &seen) else { return false };
        let held = self.held_on_their_own(cloth);
        let keeps = |face: &u32| {
            let own = levels.corners(*face).unwrap_or_default();
            let below =
                levels.children(*face).into_iter().flatten().filter_map(|child| levels.corners(*child));
            below.flatten().any(|v| !own.contains(&v) && held[v as usize])
        };
        wishes.cancel.retain(|face| !keeps(face));
        !wishes.is_empty()
            && self.is_clear(cloth)
            && self.change_levels(cloth, &levels, &wishes, refine.local_return)
    }

    /// Whether a cloth is part of no tangle, whose vertices go by their numbers.
    fn is_clear(&self, cloth: usize) -> bool {
        !self.tangles.iter().any(|tangle| tangle.concerns(cloth as u32))
    }

    /// Does what can be done of some wishes without meeting anything; false if that is nothing.
    fn change_levels(&mut self, cloth: usize, levels: &Levels, wishes: &Wishes, go_back: bool) -> bool {
        let (mut left, mut levels) = (wishes.clone(), levels.clone());
        for _ in 0..TRIALS {
            let mut next = levels.clone();
            let Ok(change) = next.fulfil(&left) else { return false };
            if change.regions.is_empty() {
                return false;
            }
            next.refuse((wishes.cancel.len() - left.cancel.len()) as u64);
            let mut lifts = vec![DVec3::ZERO; change.edited.mesh.vertices()];
            let next = Arc::new(next);
            let made = |lifts: &[DVec3]| self.with_levels(cloth, &change, next.clone(), (go_back, lifts));
            let Ok(mut new) = made(&lifts) else { return false };
            let meets = |new: &World| new.tangles.len() != self.tangles.len();
            for _ in 0..LIFTS {
                if !meets(&new) || !new.lift(cloth, &change, &mut lifts) {
                    break;
                }
                let Ok(lifted) = made(&lifts) else { return false };
                new = lifted;
            }
            if !meets(&new) {
                self.become_reshaped(new, cloth, &change.edited.remap);
                return true;
            }
            let met = new.meeting_vertices(cloth);
            let heirs = change.edited.remap.heirs(levels.mesh().vertices());
            let is_met = |v: u32| heirs[v as usize].iter().any(|heir| met[*heir as usize]);
            let meets = |face: &u32| levels.corners(*face).is_some_and(|c| c.into_iter().any(is_met));
            let count = left.split.len() + left.cancel.len();
            let (waiting, rest): (Vec<u32>, Vec<u32>) = left.cancel.iter().partition(|face| meets(face));
            left.cancel = rest;
            if left.split.len() + left.cancel.len() == count {
                left.split.retain(|face| !meets(face));
            }
            if left.split.len() + left.cancel.len() == count {
                left.split.truncate(left.split.len() / 2);
                left.halve.truncate(left.halve.len() / 2);
                left.cancel.truncate(left.cancel.len() / 2);
            }
            levels.postpone(&waiting);
            if left.is_empty() {
                break;
            }
        }
        // What could not be put back is not tried again at every look.
        self.levels[cloth] = Some(Arc::new(levels));
        self.formed_since(self.start_before(Some(cloth)));
        false
    }

    /// This world with other levels of a cloth.
    fn with_levels(
        &self,
        cloth: usize,
        change: &Change,
        next: Arc<Levels>,
        (go_back, lifts): (bool, &[DVec3]),
    ) -> Result<World, Unable> {
        let (own, edited) = (&self.cloths[cloth], &change.edited);
        let density = |f: u32| own.density.get(f as usize).copied().unwrap_or(1.0) * own.fabric.density;
        let old: Vec<f64> = (0..).zip(own.mesh.area()).map(|(f, a)| density(f) * a).collect();
        let came = edited.remap.faces.iter().zip(edited.mesh.area());
        let new: Vec<f64> = came.map(|(f, a)| density(*f) * a).collect();
        let carried = change.transfer(&own.mesh, [&old, &new], &self.velocities(cloth));
        let velocities = carried.map_err(|_| Unable)?;
        let mut velocities = velocities;
        let mut opened = match go_back {
            true => self.way_back(cloth, change),
            false => vec![DVec3::ZERO; edited.mesh.vertices()],
        };
        opened.iter_mut().zip(lifts).for_each(|(by, lift)| *by += *lift);
        let heirs = edited.remap.heirs(own.mesh.vertices());
        let remap = &edited.remap;
        if !next.hanging().is_empty() {
            // What hangs from now on was free before.
            let free = self.mobility(cloth, &heirs, lumped(&edited.mesh, &new));
            let carried = remap.carry(&self.positions(cloth));
            let mut x: Vec<DVec3> = carried.iter().zip(&opened).map(|(x, by)| *x + *by).collect();
            let masses: Vec<f64> = free.inverse_mass.iter().map(|w| 1.0 / w).collect();
            let project = |gains: &mut [DVec3]| free.project(gains);
            halfway::close(next.hanging(), &masses, project, &mut x);
            halfway::close(next.hanging(), &masses, project, &mut velocities);
            opened = x.iter().zip(&carried).map(|(x, from)| *x - *from).collect();
        }
        let moves = go_back
            || lifts.iter().any(|lift| *lift != DVec3::ZERO)
            || change.regions.iter().any(|region| region.old[1] > region.old[0] + 1);
        let reshaped = Reshaped { cloth, remap, heirs, velocities: Some(&velocities), opened, moves };
        let mut new = self.with_mesh(edited, reshaped, next.hanging()).map_err(|_| Unable)?;
        new.levels[cloth] = Some(next);
        Ok(new)
    }

    /// Lifts new vertices of faces that a body is through off it, a little more each time; false where that is of no use. A face
    /// cut in two by the vertex of a finer neighbour has a ridge there, along which it may lie on a body; split into four
    /// it has none, and would go through.
    fn lift(&self, cloth: usize, change: &Change, lifts: &mut [DVec3]) -> bool {
        let (positions, mesh) = (self.positions(cloth), &change.edited.mesh);
        // What a pin holds stays.
        let mut free = vec![true; lifts.len()];
        let held = self.pins.iter().filter(|pin| pin.cloth == cloth).flat_map(|pin| &pin.vertices);
        held.for_each(|v| free[*v as usize] = false);
        let old = |v: u32| matches!(change.edited.remap.vertices[v as usize], Origin::Old(_));
        let is_new = |v: u32| free[v as usize] && !old(v);
        let near = self.contact.gap.max(self.cloths[cloth].fabric.thickness);
        let bodies = self.colliders();
        let mut wanted = vec![DVec3::ZERO; lifts.len()];
        for [own, other] in self.tangles().pairs {
            let body = (other[0] as usize).checked_sub(self.cloths.len()).and_then(|body| bodies.get(body));
            let (Some(body), true) = (body, own[0] as usize == cloth) else { continue };
            let face = mesh.faces()[own[1] as usize];
            let corners = face.map(|v| positions[v as usize]);
            let side = (0..3).map(|k| corners[k].distance(corners[(k + 1) % 3])).fold(0.0, f64::max);
            for weights in SPOTS {
                let place = (0..3).fold(DVec3::ZERO, |sum, k| sum + corners[k] * weights[k]);
                let share: f64 = (0..3).filter(|k| is_new(face[*k])).map(|k| weights[k]).sum();
                let Some(touch) = body.touch(place, near).filter(|_| share > 0.0) else { continue };
                let lift = touch.normal * ((near - touch.distance) / share);
                for v in face.into_iter().filter(|v| is_new(*v)).map(|v| v as usize) {
                    let higher = lift.length_squared() > wanted[v].length_squared();
                    if higher && (lifts[v] + lift).length() <= HIGHEST * side {
                        wanted[v] = lift;
                    }
                }
            }
        }
        lifts.iter_mut().zip(&wanted).for_each(|(lift, more)| *lift += *more);
        wanted.iter().any(|lift| *lift != DVec3::ZERO)
    }

    /// Where the vertices of a cloth that gets another mesh may go: what pins hold stays.
    fn mobility(&self, cloth: usize, heirs: &[Vec<u32>], masses: Vec<f64>) -> Mobility {
        let pins = self.pins.iter().filter(|pin| pin.cloth == cloth && matches!(pin.grip, Grip::Hard(_)));
        let held = pins.flat_map(|pin| &pin.vertices).flat_map(|v| &heirs[*v as usize]);
        let mut projectors: Vec<(u32, DMat3)> = held.map(|v| (*v, DMat3::ZERO)).collect();
        projectors.sort_by_key(|(v, _)| *v);
        projectors.dedup_by_key(|(v, _)| *v);
        Mobility { inverse_mass: masses.iter().map(|m| 1.0 / m).collect(), projectors }
    }

    /// The vertices of a cloth whose faces meet something.
    fn meeting_vertices(&self, cloth: usize) -> Vec<bool> {
        let faces = self.cloths[cloth].mesh.faces();
        let mut met = vec![false; self.cloths[cloth].mesh.vertices()];
        let found = self.tangles();
        for [_, face] in found.pairs.iter().flatten().filter(|[object, _]| *object as usize == cloth) {
            faces[*face as usize].iter().for_each(|v| met[*v as usize] = true);
        }
        for [_, vertex, _] in found.inside.iter().filter(|[object, ..]| *object as usize == cloth) {
            met[*vertex as usize] = true;
        }
        met
    }

    /// How far each new vertex goes to be where it was before the substep, at the corners of what changes [m] (B14-12).
    fn way_back(&self, cloth: usize, change: &Change) -> Vec<DVec3> {
        let remap = &change.edited.remap;
        let mut ways = vec![DVec3::ZERO; self.cloths[cloth].mesh.vertices()];
        for island in &self.islands {
            let before = &island.before().x;
            for part in
                island.parts.iter().filter(|part| part.cloth == cloth && before.len() == island.now.x.len())
            {
                for (k, v) in part.vertices.iter().enumerate() {
                    ways[*v as usize] = before[part.first + k] - island.now.x[part.first + k];
                }
            }
        }
        let mut returns = vec![false; ways.len()];
        for region in &change.regions {
            for corner in region.corners {
                if let Origin::Old(v) = remap.vertices[corner as usize] {
                    returns[v as usize] = true;
                }
            }
        }
        ways.iter_mut()
            .zip(&returns)
            .filter(|(_, returns)| !**returns)
            .for_each(|(way, _)| *way = DVec3::ZERO);
        remap.carry(&ways)
    }

    /// The curvature of the bodies that each vertex touches [1/m]: how far their normals turn over half an edge.
    fn curvatures_touched(&self, cloth: usize, positions: &[DVec3]) -> Vec<f64> {
        let mut all = vec![0.0; positions.len()];
        if !self.contact.bodies || self.bodies.is_empty() {
            return Vec::new();
        }
        let own = &self.cloths[cloth];
        let near = NEAR * self.contact.gap.max(own.fabric.thickness);
        let mut edge = vec![0.0_f64; positions.len()];
        for e in own.mesh.edges() {
            let length = own.mesh.rest_length(e);
            e.ends.iter().for_each(|v| edge[*v as usize] = edge[*v as usize].max(length));
        }
        for collider in self.colliders() {
            let corners = collider.positions();
            let low = corners.iter().fold(DVec3::INFINITY, |low, p| low.min(*p)) - near;
            let high = corners.iter().fold(DVec3::NEG_INFINITY, |high, p| high.max(*p)) + near;
            let inside = |p: &DVec3| p.cmpge(low).all() && p.cmple(high).all();
            for (v, p) in positions.iter().enumerate().filter(|(_, p)| inside(p)) {
                let Some(touch) = collider.touch(*p, near) else { continue };
                let (across, along) = touch.normal.any_orthonormal_pair();
                let reach = 0.5 * edge[v];
                for way in [across, -across, along, -along] {
                    let Some(other) = collider.touch(touch.point + way * reach, reach) else { continue };
                    let turn = libm::atan2(
                        touch.normal.cross(other.normal).length(),
                        touch.normal.dot(other.normal),
                    );
                    all[v] = f64::max(all[v], turn / reach);
                }
            }
        }
        all
    }

    /// Vertices that a pin or an elastic holds, or that are not free, without the vertices beside them: a cloth keeps them.
    fn held_on_their_own(&self, cloth: usize) -> Vec<bool> {
        let mesh = &self.cloths[cloth].mesh;
        let mut held = vec![false; mesh.vertices()];
        let own = self.pins.iter().filter(|pin| pin.cloth == cloth);
        let mut groups: Vec<Vec<u32>> = own.map(|pin| pin.vertices.clone()).collect();
        for island in &self.islands {
            for part in island.parts.iter().filter(|part| part.cloth == cloth) {
                let freedom = part.vertices.iter().zip(&island.model.freedom[part.first..]);
                groups.push(freedom.filter(|(_, f)| **f != Freedom::Free).map(|(v, _)| *v).collect());
            }
        }
        for group in groups.iter().filter(|group| !group.is_empty()) {
            let (mut is_in, mut beside) = (vec![false; held.len()], vec![0; held.len()]);
            group.iter().for_each(|v| is_in[*v as usize] = true);
            for edge in mesh.edges().iter().filter(|edge| edge.ends.iter().all(|v| is_in[*v as usize])) {
                edge.ends.iter().for_each(|v| beside[*v as usize] += 1);
            }
            // One in the middle of an edge that is held as a whole has both ends beside it.
            group.iter().filter(|v| beside[**v as usize] < 2).for_each(|v| held[*v as usize] = true);
        }
        for elastic in &self.elastics {
            let to = match elastic.to {
                Anchor::Vertex(cloth, vertex) => Some((cloth, vertex)),
                Anchor::Place(..) => None,
            };
            for (_, v) in [Some(elastic.from), to].into_iter().flatten().filter(|(own, _)| *own == cloth) {
                held[v as usize] = true;
            }
        }
        held
    }
}

/// Places in a face where it is asked how deep it is in a body: its middle, those of its sides, and half way to its corners.
const SPOTS: [[f64; 3]; 7] = [
    [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0],
    [0.5, 0.5, 0.0],
    [0.0, 0.5, 0.5],
    [0.5, 0.0, 0.5],
    [2.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0],
    [1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0],
    [1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0],
];

/// A change that cannot be made, which is left.
struct Unable;

/// The two principal strains of each face.
fn strains_of(mesh: &Mesh, x: &[DVec3]) -> Vec<[f64; 2]> {
    let strain = |(face, rest): (&[u32; 3], &[glam::DVec2; 3])| {
        principal_strain(&material_weights(rest), face.map(|v| x[v as usize]))
    };
    mesh.faces().iter().zip(mesh.rest()).map(strain).collect()
}
