//! Bending that is exact for constant curvature: angles across edges, one shared slope in the middle of each
//! edge, one curvature per face (G-1).
//!
//! Let w be the height of slightly bent cloth above its rest plane, quadratic with curvature κ. In the frame of
//! an edge of length l, its first face having its third corner at (ξ, h₀), its second at (η, −h₁), the faces'
//! slopes across the edge are g₀ : κ and g₁ : κ with
//!
//! > g₀ = (l²/4 xx − A⊗A)/(2h₀), g₁ = (B⊗B − l²/4 xx)/(2h₁), A = (ξ, h₀), B = (η, −h₁)
//!
//! since a face interpolates ½ p·κp linearly between its corners. The angle across the edge is R : κ with
//! R = g₁ − g₀, and the true slope in the middle, zero, is off the mean of the faces' by C : κ with
//! C = −½(g₀ + g₁). The shortest b with Σ b_f R_f = C over the edge and its four neighbours rebuilds that
//! offset from angles: φ = Σ b_f t_f, exact for every quadratic. Each face then turns by α = ½t + φ or ½t − φ
//! from its own slope to the shared one, and bends by
//!
//! > κ_T = Σ (l/A_T) α (n_u², n_v², 2n_u n_v), E = Σ_T ½ A_T κ_Tᵀ D κ_T = ½ tᵀ S t.
//!
//! Both faces' α add up to t, so a constant moment leaves no force inside; φ is exact, so constant curvature
//! costs exactly ½ κᵀDκ per area; and no curvature means no angle, so rigid motions are the only ones free of
//! energy. On uniform lattices C = 0 and S couples only the edges of a face.
//!
//! *Free borders* carry no moment: α of a free side minimises the energy of its face. *Clamps* give a border
//! edge a ghost beyond it, and its face the whole angle. *Rest angles* are subtracted from t. Sheets that *give way*
//! keep a set curvature per face: with c = √A F κ the energy of a face is ½|c|², its set p moves by the return mapping of
//! [`crate::forces::give`], alike in all directions of equal stiffness, and its moments are those of c − p. S is constant;
//! for large rotations t = θ is the true angle across the edge, so forces are exact and the energy does not
//! change under rigid motion.

use super::angle::{Fold, THIN, turn};
use super::reconstruct::{Hinge, merged, reconstruct};
use super::rigidity::Rigidity;
use crate::drive::Motion;
use crate::forces::give::Yield;
use crate::interaction::{
    ConstantTangent, Coupling, ForceModel, Interactions, Memory, Mix, Moment, Outside, Stress,
};
use crate::math::{DVec3, parallel, reduce};
use crate::mesh::Mesh;

/// A slope condition on a border edge: cloth leaves it in a given direction.
///
/// A ghost beyond the edge, at its middle minus `direction` times the height of the inner face, makes the hinge.
/// The ghost follows the edge, so the same thing serves as a symmetry plane in which the edge slides: its
/// direction is then the plane's normal.
#[derive(Clone, Debug, PartialEq)]
pub struct Clamp {
    /// Both ends of a border edge, in any order.
    pub edge: [u32; 2],
    /// Unit vector from the edge into the free cloth, not along the edge, before any motion.
    pub direction: DVec3,
    /// How it moves.
    pub motion: Motion,
}

/// What a sheet can have besides its stiffness.
#[derive(Clone, Debug, Default)]
pub struct ReconOptions {
    /// Border edges with a slope condition; all others are free.
    pub clamps: Vec<Clamp>,
    /// Rest angle [rad] of every edge in the order of [`Mesh::edges`]; none for flat cloth. Those of borders
    /// mean nothing. See [`rest_angles`].
    pub rest_angles: Vec<f64>,
    /// Time constant of viscosity [s]: the moment S t grows by this times its rate.
    pub damping: f64,
    /// Where it gives way, as √(κᵀDκ) [√N/m]; a sheet without is elastic.
    pub give: Option<Yield>,
}

/// Patch-exact bending of one mesh.
pub struct Recon {
    hinges: Vec<Joint>,
    clamps: Vec<Ghost>,
    /// Time constant of viscosity [s].
    damping: f64,
    /// S [N·m]: from angles to moments.
    coupling: ConstantTangent,
    /// J₀ᵀ S J₀.
    stiffness: ConstantTangent,
    /// Where each particle's entries of `incident` start.
    start: Vec<u32>,
    /// 4·hinge + member, ascending: the order in which a particle sums.
    incident: Vec<u32>,
    /// What lets it give way.
    creases: Option<Creases>,
}

/// How faces give way.
struct Creases {
    give: Yield,
    /// √A of each face [m].
    size: Vec<f64>,
    /// Hinges of each face with their columns, and faces of each hinge with the same: c = Σ column · t.
    of_face: Vec<Vec<(u32, DVec3)>>,
    of_hinge: Vec<Vec<(u32, DVec3)>>,
}

impl Creases {
    fn new(mesh: &Mesh, hinges: usize, rows: Vec<Vec<(u32, DVec3)>>, give: Yield) -> Creases {
        let mut of_hinge = vec![Vec::new(); hinges];
        for (face, row) in rows.iter().enumerate() {
            for &(h, column) in row {
                of_hinge[h as usize].push((face as u32, column));
            }
        }
        Creases { give, size: mesh.area().iter().map(|a| a.sqrt()).collect(), of_face: rows, of_hinge }
    }

    /// The set of each face at these angles, and what it adds to the energy of an elastic sheet [J].
    fn sets(&self, angles: &[f64], memory: &[Memory]) -> Vec<(DVec3, f64)> {
        let mut all = vec![(DVec3::ZERO, 0.0); self.of_face.len()];
        parallel::fill(&mut all, |face| {
            let bent = self.of_face[face]
                .iter()
                .fold(DVec3::ZERO, |c, (h, column)| c + *column * angles[*h as usize]);
            let before = memory.get(face).copied().unwrap_or_default();
            let give = Yield { limit: self.give.limit * self.size[face], ..self.give };
            let set = give.set(bent.to_array(), before);
            let cost = give.cost(before, set);
            let set = DVec3::from_array(set);
            (set, 0.5 * set.length_squared() - bent.dot(set) + cost)
        });
        all
    }

    /// What the sets take from the moment across hinge `h` [N·m].
    fn relief(&self, h: usize, sets: &[(DVec3, f64)]) -> f64 {
        self.of_hinge[h].iter().fold(0.0, |sum, (face, column)| sum + column.dot(sets[*face as usize].0))
    }
}

/// A hinge as evaluated: members c, d, A, B (of a clamp, B is the ghost), rest angle and thinness.
struct Joint {
    members: [u32; 4],
    rest: f64,
    thin: [f64; 2],
}

/// The ghost of a clamp: how far it is from the middle of its edge [m], and where it is seen from there.
struct Ghost {
    height: f64,
    direction: DVec3,
    motion: Motion,
    arm: DVec3,
}

impl Recon {
    /// Bending of `mesh`.
    ///
    /// # Panics
    /// If a clamp does not name a border edge, or there are rest angles but not one per edge.
    pub fn new(mesh: &Mesh, rigidity: Rigidity, options: &ReconOptions) -> Recon {
        let edges = mesh.edges();
        let given = options.rest_angles.len();
        assert!(given == 0 || given == edges.len(), "{given} rest angles for {} edges", edges.len());
        let places: Vec<usize> = options.clamps.iter().map(|clamp| border_edge(mesh, clamp.edge)).collect();
        let shape = reconstruct(mesh, &rigidity, &places);
        let interior = shape.hinges.len() - places.len();
        let joint = |(h, hinge): (usize, &Hinge)| Joint {
            members: hinge.members,
            rest: match options.rest_angles.get(hinge.edge) {
                Some(rest) if h < interior => libm::remainder(*rest, std::f64::consts::TAU),
                _ => 0.0,
            },
            thin: hinge.doubled.map(|doubled| THIN * doubled),
        };
        let hinges: Vec<Joint> = shape.hinges.iter().enumerate().map(joint).collect();
        let inner = shape.hinges[interior..].iter().zip(&options.clamps);
        let clamps = inner
            .map(|(Hinge { height, .. }, Clamp { direction, motion, .. })| Ghost {
                height: *height,
                direction: *direction,
                motion: motion.clone(),
                arm: *direction * *height,
            })
            .collect();
        let on_particles = |row: &Vec<(u32, DVec3)>| {
            let spread = |&(h, column): &(u32, DVec3)| {
                let Hinge { members, weights, .. } = &shape.hinges[h as usize];
                [0, 1, 2, 3].map(|a| (members[a], column * weights[a]))
            };
            merged(row.iter().flat_map(spread).collect())
        };
        let stiffness = gram(mesh.vertices(), &shape.rows.iter().map(on_particles).collect::<Vec<_>>());
        let (start, incident) = incidence(mesh.vertices(), &hinges, interior);
        let coupling = gram(hinges.len(), &shape.rows);
        let creases = options.give.map(|give| Creases::new(mesh, hinges.len(), shape.rows, give));
        Recon { hinges, clamps, damping: options.damping, coupling, stiffness, start, incident, creases }
    }

    /// Stored energy at positions `x` [J], of cloth that remembers nothing.
    pub fn energy(&self, x: &[DVec3]) -> f64 {
        ForceModel::energy(self, Moment::new(x, &[]))
    }

    /// The angles off rest of all hinges.
    fn angles(&self, x: &[DVec3]) -> Vec<f64> {
        let mut angles = vec![0.0; self.hinges.len()];
        parallel::fill(&mut angles, |h| turn(self.fold(h, x).angle, self.hinges[h].rest));
        angles
    }

    /// The angles off rest of all hinges and their slopes at `at`, with the rates of the angles.
    fn folds(&self, at: Moment) -> (Vec<Fold>, Vec<f64>) {
        let mut folds = vec![Fold::FLAT; self.hinges.len()];
        parallel::update(&mut folds, |h, fold| {
            *fold = self.fold(h, at.x);
            fold.angle = turn(fold.angle, self.hinges[h].rest);
        });
        let mut rates = Vec::new();
        if self.damping > 0.0 {
            rates.resize(folds.len(), 0.0);
            parallel::fill(&mut rates, |h| {
                let (slopes, members) = (&folds[h].slopes, self.hinges[h].members);
                (0..4).fold(0.0, |sum, a| sum + slopes[a].dot(at.v[members[a] as usize]))
            });
        }
        (folds, rates)
    }

    /// Sets `out` to −Jᵀ m for moments m across the hinges.
    fn gather(&self, folds: &[Fold], moments: &[f64], out: &mut Vec<DVec3>) {
        out.resize(self.start.len() - 1, DVec3::ZERO);
        parallel::fill(out, |i| {
            let slots = &self.incident[self.start[i] as usize..self.start[i + 1] as usize];
            slots.iter().fold(DVec3::ZERO, |total, slot| {
                let (h, a) = (*slot as usize / 4, *slot as usize % 4);
                total - folds[h].slopes[a] * moments[h]
            })
        });
    }

    /// K = J₀ᵀ S J₀, the tangent at rest, times the identity in space: positive and symmetric to the last
    /// bit. Rows sum to zero; rigid motions are its only zero modes, fewer where clamps hold.
    ///
    /// It stands in for the true tangent everywhere: the exact one is indefinite on bent cloth.
    pub fn stiffness(&self) -> &ConstantTangent {
        &self.stiffness
    }

    /// Moment across hinge `h` [N·m]: row h of S.
    fn moment(&self, h: usize, angles: &[f64]) -> f64 {
        self.coupling.row(h).fold(0.0, |sum, (g, s)| sum + s * angles[g])
    }

    /// The fold of hinge `h`; that of a clamp has the slopes of its ghost on the ends of the edge.
    #[inline]
    fn fold(&self, h: usize, x: &[DVec3]) -> Fold {
        let joint = &self.hinges[h];
        let [c, d, a, b] = joint.members.map(|i| x[i as usize]);
        let interior = self.hinges.len() - self.clamps.len();
        if h < interior {
            return Fold::of([c, d, a, b], joint.thin);
        }
        let ghost = 0.5 * (c + d) - self.clamps[h - interior].arm;
        let mut fold = Fold::of([c, d, a, ghost], joint.thin);
        let half = 0.5 * fold.slopes[3];
        fold.slopes[0] += half;
        fold.slopes[1] += half;
        fold.slopes[3] = DVec3::ZERO;
        fold
    }
}

impl ForceModel for Recon {
    fn name(&self) -> &'static str {
        "bending"
    }

    fn coupling(&self) -> Coupling<'_> {
        Coupling::Constant(&self.stiffness)
    }

    fn respond(&self, at: Moment, mix: Mix, _foreseen: &[Stress], out: &mut Interactions) {
        let (folds, rates) = self.folds(at);
        let angles: Vec<f64> = folds.iter().map(|fold| fold.angle).collect();
        let mut moments = vec![0.0; angles.len()];
        parallel::fill(&mut moments, |h| self.moment(h, &angles));
        out.energy = 0.5 * reduce::sum(angles.len(), |h| angles[h] * moments[h]);
        if let Some(creases) = &self.creases {
            let sets = creases.sets(&angles, at.memory);
            out.energy += reduce::sum(sets.len(), |face| sets[face].1);
            parallel::update(&mut moments, |h, moment| *moment -= creases.relief(h, &sets));
        }
        out.lossy.clear();
        if self.damping > 0.0 {
            let mut viscous = vec![0.0; rates.len()];
            parallel::fill(&mut viscous, |h| self.damping * self.moment(h, &rates));
            self.gather(&folds, &viscous, &mut out.lossy);
            parallel::update(&mut moments, |h, moment| *moment += viscous[h]);
        }
        self.gather(&folds, &moments, &mut out.force);
        let force = &out.force;
        out.push.resize(force.len(), DVec3::ZERO);
        parallel::fill(&mut out.push, |i| match mix.lag {
            0.0 => force[i],
            lag => force[i] - lag * self.stiffness.row_times(i, at.v),
        });
        out.scale = mix.stiffness + self.damping * mix.damping;
    }

    fn energy(&self, at: Moment) -> f64 {
        let angles = self.angles(at.x);
        let elastic = 0.5 * reduce::sum(angles.len(), |h| angles[h] * self.moment(h, &angles));
        self.creases.as_ref().map_or(elastic, |creases| {
            let sets = creases.sets(&angles, at.memory);
            elastic + reduce::sum(sets.len(), |face| sets[face].1)
        })
    }

    fn remembering(&self) -> usize {
        self.creases.as_ref().map_or(0, |creases| creases.of_face.len())
    }

    /// The set of each face, as √A F times its curvature [√J].
    fn remember(&self, at: Moment, memory: &mut Vec<Memory>) {
        if let Some(creases) = &self.creases {
            let sets = creases.sets(&self.angles(at.x), at.memory);
            memory.clear();
            memory.extend(sets.iter().map(|(set, _)| set.to_array()));
        }
    }

    fn drive(&mut self, outside: &Outside) {
        for ghost in &mut self.clamps {
            let turned = ghost.motion.at(outside.time).matrix * ghost.direction;
            ghost.arm = turned.normalize_or(ghost.direction) * ghost.height;
        }
    }

    fn is_lossy(&self) -> bool {
        self.damping > 0.0
    }

    fn foresee(&self, _: Moment, _: &[DVec3], _: f64, _: f64, _: &mut Vec<Stress>) {}
}

/// The angle [rad] across every edge of `mesh` at positions `x`, in the order of [`Mesh::edges`]; zero on
/// borders. Given to [`ReconOptions::rest_angles`], these positions cost no energy.
pub fn rest_angles(mesh: &Mesh, x: &[DVec3]) -> Vec<f64> {
    let angle = |edge: &crate::mesh::Edge| {
        if edge.is_border() {
            return 0.0;
        }
        let [k, j] = edge.faces.map(|face| mesh.apex(face, edge));
        let [f, g] = edge.faces.map(|face| mesh.faces()[face as usize]);
        Fold::of([f[(k + 1) % 3], f[(k + 2) % 3], f[k], g[j]].map(|i| x[i as usize]), [0.0; 2]).angle
    };
    mesh.edges().iter().map(angle).collect()
}

/// Place of the border edge with these ends.
fn border_edge(mesh: &Mesh, [a, b]: [u32; 2]) -> usize {
    let mut places = mesh.edges_between([a, b]);
    places.find(|p| mesh.edges()[*p].is_border()).unwrap_or_else(|| panic!("{a}–{b} is not a border edge"))
}

/// Σ over rows of columnᵢ·columnⱼ, for `len` unknowns.
fn gram(len: usize, rows: &[Vec<(u32, DVec3)>]) -> ConstantTangent {
    let mut of: Vec<Vec<(u32, DVec3)>> = vec![Vec::new(); len];
    for (r, row) in rows.iter().enumerate() {
        for &(i, column) in row {
            of[i as usize].push((r as u32, column));
        }
    }
    let mut all = ConstantTangent { start: vec![0], columns: Vec::new(), values: Vec::new() };
    let mut sums = vec![0.0; len];
    let mut touched = vec![false; len];
    let mut columns: Vec<u32> = Vec::new();
    for mine in &of {
        for (r, column) in mine {
            for (j, other) in &rows[*r as usize] {
                sums[*j as usize] += column.dot(*other);
                if !std::mem::replace(&mut touched[*j as usize], true) {
                    columns.push(*j);
                }
            }
        }
        columns.sort_unstable();
        for j in columns.drain(..) {
            all.columns.push(j);
            all.values.push(std::mem::take(&mut sums[j as usize]));
            touched[j as usize] = false;
        }
        all.start.push(all.columns.len());
    }
    all
}

/// Start and entries of the list of hinges of each particle.
fn incidence(particles: usize, hinges: &[Joint], interior: usize) -> (Vec<u32>, Vec<u32>) {
    let mut of: Vec<Vec<u32>> = vec![Vec::new(); particles];
    for (h, joint) in hinges.iter().enumerate() {
        let held = if h < interior { 4 } else { 3 };
        for a in 0..held {
            of[joint.members[a] as usize].push((4 * h + a) as u32);
        }
    }
    let mut start = vec![0];
    for entries in &of {
        start.push(start[start.len() - 1] + entries.len() as u32);
    }
    (start, of.into_iter().flatten().collect())
}
