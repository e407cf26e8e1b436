//! `[[cloth]]`: shapes, mesh files and models.

use super::{FabricChoice, unit};
use crate::axes::{Units, Up};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toile::mesh::levels::{self, LevelsError};

/// A piece of cloth: a generated `shape`, or a mesh `file`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClothFile {
    /// Name, unique in the scene. Default: "cloth", then "cloth2", "cloth3", …
    pub name: Option<String>,
    /// A generated shape. Give this or `file`.
    pub shape: Option<Shape>,
    /// OBJ mesh, relative to the scene's folder. Give this or `shape`.
    pub file: Option<String>,
    /// Unit of the mesh file's lengths. Default: the scene's `units`.
    pub file_units: Option<Units>,
    /// Up axis of the mesh file. Default: the scene's `up`.
    pub file_up: Option<Up>,
    /// What a mesh file's unstretched state is: "shape" (its positions; vt, if any, only say where the warp runs)
    /// or "uv" (its vt coordinates, as lengths in `file_units`). Default "shape".
    pub rest: Option<Rest>,
    /// Whether a mesh file that is not sound is repaired, which is said; false refuses it instead. Default true.
    pub repair: Option<bool>,
    /// Position added after scale and rotation [units]. Default [0, 0, 0].
    #[serde(default)]
    pub translate: [f64; 3],
    /// Rotation [degrees] about the fixed x axis, then y, then z, in the file's axes. Default [0, 0, 0].
    #[serde(default)]
    pub rotate: [f64; 3],
    /// Uniform size factor of shape and rest state, applied first [-]. Default 1.
    #[serde(default = "unit")]
    pub scale: f64,
    /// Starting velocity of every particle [m/s]. Default [0, 0, 0].
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Layer, counted outward: where two cloths start through one another, the higher belongs where the faces of the lower
    /// look. Default: none; the smaller part gives way.
    #[serde(default)]
    pub layer: Option<u32>,
    /// The fabric: the name of a preset (`toile fabric list`), a fabric file, or a table of measured properties.
    #[serde(default)]
    pub fabric: FabricChoice,
    /// How in-plane forces are computed. Default "membrane".
    #[serde(default)]
    pub model: Model,
    /// Strain measure of the membrane model. Default "green"; "engineering" if a stiffness of the fabric is a curve,
    /// which laboratories draw over it.
    pub strain: Option<Strain>,
    /// Bending model. Default "recon".
    #[serde(default)]
    pub bending: Bending,
    /// The shape in which the cloth does not bend; others than "flat" need bending = "recon". Default "flat".
    #[serde(default)]
    pub bend_rest: RestShape,
    /// Options of the "springs" model.
    pub spring: Option<Spring>,
    /// Options of the "coupled" model.
    pub coupled: Option<Coupled>,
    /// Splits triangles while the cloth moves, where it needs them, and puts them back. Default: the mesh stays as it is.
    pub refine: Option<Refine>,
}

/// A generated piece of cloth, centred on the origin, with material coordinates u (warp) and v (weft).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shape {
    /// A rectangle. u runs along x; its borders are left, right (lowest and highest u), bottom and top (v).
    Sheet {
        /// Extent along u and v [units].
        size: [f64; 2],
        /// Quads along u and v, or one number for the longer side with square quads along the other. Default 20.
        #[serde(default)]
        resolution: Resolution,
        /// How the quads become triangles. Default "structured".
        #[serde(default)]
        pattern: Pattern,
        /// Strength of "jittered": particles move by up to this fraction of an edge [-]. Default 0.25.
        #[serde(default = "jitter")]
        amount: f64,
        /// Seed of "jittered" and "delaunay". Default: the scene's `seed`.
        seed: Option<u64>,
        /// Whether the shape stands ("upright": v points up) or lies ("flat": v points away from the viewer, the
        /// front faces up). Default "upright".
        #[serde(default)]
        plane: Plane,
    },
    /// A long rectangle for laboratory tests: u runs along the length.
    Strip {
        /// Extent along u [units].
        length: f64,
        /// Extent along v [units].
        width: f64,
        /// Quads along u and v, or one number along the length with square quads across. Default 20.
        #[serde(default)]
        resolution: Resolution,
        /// How the quads become triangles. Default "structured".
        #[serde(default)]
        pattern: Pattern,
        /// Strength of "jittered" [fraction of an edge]. Default 0.25.
        #[serde(default = "jitter")]
        amount: f64,
        /// Seed of "jittered" and "delaunay". Default: the scene's `seed`.
        seed: Option<u64>,
        /// "upright" or "flat". Default "upright".
        #[serde(default)]
        plane: Plane,
    },
    /// A round piece.
    Disc {
        /// Radius [units].
        radius: f64,
        /// Rings of triangles from the centre to the rim. Default 20.
        #[serde(default = "twenty")]
        resolution: u32,
        /// "structured" (rings), "jittered" or "delaunay". Default "structured".
        #[serde(default)]
        pattern: Pattern,
        /// Strength of "jittered" [fraction of an edge]. Default 0.25.
        #[serde(default = "jitter")]
        amount: f64,
        /// Seed of "jittered" and "delaunay". Default: the scene's `seed`.
        seed: Option<u64>,
        /// "upright" or "flat". Default "upright".
        #[serde(default)]
        plane: Plane,
    },
    /// A sleeve without ends, its axis along up: the warp u runs along the axis, the weft v around; its borders are
    /// bottom and top.
    Tube {
        /// Radius [units].
        radius: f64,
        /// Extent along the axis [units].
        length: f64,
        /// Quads around and along the axis, in this order, or one number around with square quads along. Default 20.
        #[serde(default)]
        resolution: Resolution,
        /// How the quads become triangles. Default "structured".
        #[serde(default)]
        pattern: Pattern,
        /// Strength of "jittered" [fraction of an edge]. Default 0.25.
        #[serde(default = "jitter")]
        amount: f64,
        /// Seed of "jittered" and "delaunay". Default: the scene's `seed`.
        seed: Option<u64>,
    },
    /// A part of a cone without ends, its axis along up, of exactly as many irregular triangles, flat when unrolled: the warp
    /// runs up along one side; its borders are bottom and top. A skirt, a dress.
    Cone {
        /// Radius of the lower border [units].
        radius_bottom: f64,
        /// Radius of the upper border [units].
        radius_top: f64,
        /// Extent along the axis [units].
        length: f64,
        /// Triangles. Default 1500.
        #[serde(default = "triangles")]
        triangles: u32,
        /// Seed of the mesh. Default: the scene's `seed`.
        seed: Option<u64>,
    },
    /// A strip laid along a smooth curve through points, and flat at rest: a tape, a scarf, a loose knot. u runs along the
    /// curve; its borders are those of a sheet. Not centred: it is where the points are.
    Ribbon {
        /// Points that its middle line goes through, in order, at least two [units].
        path: Vec<[f64; 3]>,
        /// Extent along v [units].
        width: f64,
        /// Where v points, as far as that is across the curve, which must not run along it; any length. Default: up.
        across: Option<[f64; 3]>,
        /// Quads along u and v, or one number along the curve with square quads across. Default 20.
        #[serde(default)]
        resolution: Resolution,
        /// How the quads become triangles. Default "structured".
        #[serde(default)]
        pattern: Pattern,
        /// Strength of "jittered" [fraction of an edge]. Default 0.25.
        #[serde(default = "jitter")]
        amount: f64,
        /// Seed of "jittered" and "delaunay". Default: the scene's `seed`.
        seed: Option<u64>,
    },
}

fn jitter() -> f64 {
    0.25
}

fn triangles() -> u32 {
    1500
}

fn twenty() -> u32 {
    20
}

/// Numbers of quads: one number, or one per direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Resolution {
    /// Quads along the first direction; the other is chosen so that quads are nearly square.
    One(u32),
    /// Quads along u and v.
    Two([u32; 2]),
}

impl Default for Resolution {
    fn default() -> Self {
        Resolution::One(20)
    }
}

choice! {
    /// How a grid becomes triangles.
    Pattern {
        /// Every quad is cut along the same diagonal.
        #[default]
        Structured,
        /// Every quad is cut along the other diagonal.
        Flipped,
        /// The diagonal alternates like a chessboard.
        Alternating,
        /// Rows of nearly equilateral triangles.
        Equilateral,
        /// Structured, with inner particles moved at random by `amount`.
        Jittered,
        /// Irregular, from random points: no preferred direction.
        Delaunay,
    }
}

choice! {
    /// How a generated shape stands.
    Plane {
        /// v points up; the front faces the viewer.
        #[default]
        Upright,
        /// v points away from the viewer; the front faces up.
        Flat,
    }
}

choice! {
    /// The unstretched state of a mesh file.
    Rest {
        /// The file's positions are unstretched.
        #[default]
        Shape,
        /// The vt coordinates are the flat pattern, as lengths in the file's unit.
        Uv,
    }
}

choice! {
    /// In-plane model.
    Model {
        /// Finite elements on triangles (B14 eq. 1–6): follows the fabric on any mesh.
        #[default]
        Membrane,
        /// Springs along the mesh edges (K02 eq. 9–11), fitted to the fabric: cheap, good on structured meshes.
        Springs,
        /// Triangles whose edges pull together (V97 eq. 4–11): two numbers per fabric, right on equilateral meshes.
        Coupled,
    }
}

choice! {
    /// Which masses share out the elongations of a coupled triangle.
    Masses {
        /// All three the same (V97 eq. 10).
        #[default]
        Equal,
        /// Those of the particles (V97 eq. 7).
        Full,
    }
}

/// Options of the "coupled" model. Young's modulus is the mean stretch of the fabric, Poisson's ratio (1 − alpha)/3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Coupled {
    /// Which masses share out the elongations. Default "equal".
    pub mass: Masses,
    /// Symmetrise the law, so that it neither drains nor pumps energy; false is as printed. Default true.
    pub symmetric: bool,
    /// How strongly edges are coupled [-]: 0 is plain springs, 1 no narrowing. Default: 1 − 3 × the fabric's poisson,
    /// at most 0.95.
    pub alpha: Option<f64>,
    /// Allow alpha above 0.95, where obtuse triangles become infinitely stiff at 1 and explode beyond. Default false.
    pub force: bool,
}

impl Default for Coupled {
    fn default() -> Self {
        Self { mass: Masses::default(), symmetric: true, alpha: None, force: false }
    }
}

choice! {
    /// Strain measure of the membrane.
    Strain {
        /// Green–Lagrange (B14 eq. 4).
        #[default]
        Green,
        /// Engineering: linear in the stretch, also in compression.
        Engineering,
    }
}

choice! {
    /// The shape in which cloth does not bend.
    RestShape {
        /// Flat, whatever it starts as.
        #[default]
        Flat,
        /// As it starts: pleats and creases stay.
        Start,
    }
}

choice! {
    /// Bending model.
    Bending {
        /// Exact for constant curvature on every mesh, with its own stiffness along warp, weft and bias.
        #[default]
        Recon,
        /// A linear spring on the angle of every inner edge: cheap, and biased by the mesh, up to three times
        /// too stiff at 45° on structured meshes.
        Hinge,
        /// The same with the true angle.
        Dihedral,
        /// No bending stiffness.
        None,
    }
}

choice! {
    /// Which derivative of the spring force enters the linear system.
    Tangent {
        /// Exact where positive, else cut to stay definite.
        #[default]
        Safe,
        /// The exact derivative, indefinite under compression.
        Exact,
        /// Rank one, as printed in K02 eq. 11.
        Paper,
        /// `blend` between rank one and isotropic (V00 §2.4).
        Blend,
    }
}

choice! {
    /// What decides where triangles are split.
    RefineBy {
        /// The size that they should have where they are: by curvature, contact with curved bodies, compression and
        /// change of strain.
        #[default]
        Size,
        /// How far their sides may be off the cloth that they stand for: long along folds and short across. Triangles are halved
        /// then, not split into four.
        Fold,
        /// The angle between neighbours (B14).
        Angle,
    }
}

choice! {
    /// What becomes of the cracks where finer triangles meet coarser ones.
    Closure {
        /// The coarser triangle is cut, so that there are none.
        #[default]
        Redgreen,
        /// The vertex in the crack is held half way between its neighbours. Cloth cannot meet itself then.
        Midpoint,
        /// They open, as in B14. Cloth cannot meet itself then.
        None,
    }
}

choice! {
    /// When the neighbours of a split triangle count as flat to it.
    FlatReading {
        /// When all of them do, as B14's text says.
        #[default]
        All,
        /// When one of them does, as B14's listing says.
        Any,
    }
}

/// Triangles split into four, or halved, while the cloth moves, and put back; see docs/refinement.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Refine {
    /// What decides where. Default "size".
    pub by: RefineBy,
    /// Times that a triangle of the mesh may be split, 10 at most; halved twice as often. Default 2.
    pub levels: u32,
    /// What becomes of cracks between levels; there are none by fold. Default "redgreen".
    pub closure: Closure,
    /// Triangles that the cloth may have. Default 200000.
    pub budget: u32,
    /// Frames between looks at the cloth; 0 looks after every substep. Default 4, or 1 with by = "fold", 0 with by = "angle".
    pub every: Option<u32>,
    /// Corners of what is split go back to where they were before the substep (B14). Default true with by = "angle".
    pub local_return: Option<bool>,
    /// By size: how far cloth may turn over one triangle [degrees]. Default 17.
    pub turn: f64,
    /// By size: how much strain may change over one triangle [-]. Default 0.05.
    pub strain_step: f64,
    /// By fold: how far the middle of a side may be from the cloth that it stands for [units]. Default 4 mm.
    pub sag: Option<f64>,
    /// By fold: times the force under which cloth as long as a side buckles that may compress it [-]. Default 8.
    pub load: f64,
    /// By fold: how many times longer along a fold than across it triangles may be [-]. Default 4.
    pub slender: f64,
    /// By size or fold: no triangle is split to get shorter sides than this [units]. Default 0.
    pub smallest: f64,
    /// By size or fold: every triangle with longer sides is split [units]. Default: no limit.
    pub largest: Option<f64>,
    /// By size or fold: frames, or substeps, before triangles are put back. Default 10, or 3 with by = "fold".
    pub patience: Option<u32>,
    /// By angle: to neighbours, above which a triangle of the mesh is split [degrees]. Default 70.
    pub alpha: f64,
    /// By angle: how much more it takes at each level [degrees]. Default 10.
    pub beta: f64,
    /// By angle: within which triangles count as flat and are put back [degrees]. Default 10.
    pub flat: f64,
    /// By angle: how many neighbours must be flat. Default "all".
    pub flat_neighbours: FlatReading,
}

impl Default for Refine {
    fn default() -> Self {
        Self {
            by: RefineBy::default(),
            levels: 2,
            closure: Closure::default(),
            budget: 200_000,
            every: None,
            local_return: None,
            turn: 17.0,
            strain_step: 0.05,
            sag: None,
            load: 8.0,
            slender: 4.0,
            smallest: 0.0,
            largest: None,
            patience: None,
            alpha: 70.0,
            beta: 10.0,
            flat: 10.0,
            flat_neighbours: FlatReading::default(),
        }
    }
}

impl Refine {
    /// For the engine, with lengths of `metres` to a unit.
    pub(crate) fn engine(&self, metres: f64) -> Result<toile::Refine, LevelsError> {
        let criterion = match self.by {
            RefineBy::Size => {
                let usual = levels::Sizing::default();
                let sizing = levels::Sizing {
                    turn: self.turn.to_radians(),
                    strain_step: self.strain_step,
                    smallest: self.smallest * metres,
                    largest: self.largest.map_or(f64::INFINITY, |length| length * metres),
                    patience: self.patience.map_or(usual.patience, u64::from),
                    ..usual
                };
                sizing.check()?;
                toile::Criterion::Sizing(sizing)
            }
            RefineBy::Fold => {
                let usual = levels::Folds::default();
                let folds = levels::Folds {
                    sag: self.sag.map_or(usual.sag, |length| length * metres),
                    load: self.load,
                    slender: self.slender,
                    smallest: self.smallest * metres,
                    largest: self.largest.map_or(f64::INFINITY, |length| length * metres),
                    patience: self.patience.map_or(usual.patience, u64::from),
                    ..usual
                };
                folds.check()?;
                toile::Criterion::Folds(folds)
            }
            RefineBy::Angle => {
                let reading = match self.flat_neighbours {
                    FlatReading::All => levels::Flat::All,
                    FlatReading::Any => levels::Flat::Any,
                };
                toile::Criterion::Paper(levels::Paper::new(self.alpha, self.beta, self.flat, reading)?)
            }
        };
        let by_angle = self.by == RefineBy::Angle;
        levels::Levels::check_most(self.levels)?;
        Ok(toile::Refine {
            criterion,
            most: self.levels,
            closure: match self.closure {
                _ if self.by == RefineBy::Fold => levels::Closure::Halves,
                Closure::Redgreen => levels::Closure::RedGreen,
                Closure::Midpoint => levels::Closure::Midpoint,
                Closure::None => levels::Closure::None,
            },
            budget: self.budget as usize,
            every: match self.every.unwrap_or(match self.by {
                RefineBy::Size => 4,
                RefineBy::Fold => 1,
                RefineBy::Angle => 0,
            }) {
                0 => toile::Every::Substep,
                frames => toile::Every::Frames(frames),
            },
            local_return: self.local_return.unwrap_or(by_angle),
        })
    }
}

/// Options of the "springs" model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Spring {
    /// Share of the isotropic derivative in the "blend" tangent, from 0 (directional) to 1 (isotropic) [-]. Default 0.05.
    pub blend: f64,
    /// Derivative used in the linear system. Default "safe".
    pub tangent: Tangent,
}

impl Default for Spring {
    fn default() -> Self {
        Self { blend: 0.05, tangent: Tangent::default() }
    }
}
