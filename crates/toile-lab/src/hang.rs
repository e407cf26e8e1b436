//! `hang`: a square metre of cloth held by one edge and released from horizontal, and its track through time.

use crate::material::{border, cloth};
use crate::session::LabError;
use glam::DVec3;
use toile::forces::Tangent;
use toile::mesh::{Pattern, Shape, shapes};
use toile::probe::Counters;
use toile::solve::{Integrator, NewtonSettings};
use toile::{Bending, Cloth, Fabric, PinDown, Probe, Setup, SolverSettings, Stretching, World};

/// Length of a frame [s].
pub const FRAME: f64 = 0.0316;

/// Places along the free edge that are followed.
pub const FOLLOWED: usize = 9;

/// One way to let it fall.
#[derive(Clone, Copy)]
pub struct Hang {
    /// Quads along a side.
    pub n: usize,
    /// Stretch stiffness over density [m²/s²].
    pub ratio: f64,
    /// Density [kg/m²].
    pub density: f64,
    /// Mesh.
    pub pattern: Pattern,
    /// Steps per frame.
    pub substeps: u32,
    /// How steps are taken.
    pub solver: SolverSettings,
    /// Springs along edges that bend freely, for solvers that know nothing else.
    pub springs: bool,
}

/// Where the cloth was at the end of each frame, the start included.
#[derive(Clone, Default)]
pub struct Track {
    /// Height of the centre of mass [m].
    pub centre: Vec<f64>,
    /// Followed places of the free edge [m].
    pub edge: Vec<[DVec3; FOLLOWED]>,
    /// Total energy over m g L.
    pub energy: Vec<f64>,
    /// What was counted in all.
    pub counters: Counters,
}

impl Hang {
    /// The usual one: structured mesh, 0.2 kg/m², 1000 N/m.
    pub fn new(n: usize, integrator: Integrator, substeps: u32) -> Hang {
        let solver = SolverSettings { integrator, ..SolverSettings::default() };
        Hang { n, ratio: 5e3, density: 0.2, pattern: Pattern::Structured, substeps, solver, springs: false }
    }

    /// The same, solved as finely as a reference must be.
    pub fn reference(&self, substeps: u32) -> Hang {
        let newton = NewtonSettings { step: 1e-6, residual: 1e-3, max_solves: 30 };
        let solver = SolverSettings { integrator: Integrator::TrBdf2, newton, ..self.solver };
        Hang { substeps, solver, ..*self }
    }

    /// Its fabric: everything in proportion to the density, so that the ratio alone decides the motion.
    pub fn fabric(&self) -> Fabric {
        let stretch = self.ratio * self.density;
        Fabric {
            density: self.density,
            stretch: [stretch.into(); 2],
            shear: (0.06 * stretch).into(),
            poisson: 0.0,
            bend: (5e-5 * self.density).into(),
            ..Fabric::default()
        }
    }

    /// The shape of the sheet.
    pub fn shape(&self) -> Result<Shape, LabError> {
        Ok(shapes::sheet(1.0, 1.0, self.n, self.n, self.pattern)?)
    }

    /// The sheet as a cloth.
    pub fn cloth(&self, shape: &Shape) -> Result<Cloth, LabError> {
        let mut sheet = cloth("sheet", shape, self.fabric())?;
        if self.springs {
            (sheet.stretching, sheet.bending) = (Stretching::Springs(Tangent::Safe), Bending::None);
        }
        Ok(sheet)
    }

    /// The world at the start.
    pub fn world(&self) -> Result<(World, Shape), LabError> {
        let shape = self.shape()?;
        let pins = vec![PinDown::fixed(0, border(&shape, "left")?)];
        let cloths = vec![self.cloth(&shape)?];
        let setup = Setup { cloths, pins, substeps: self.substeps, solver: self.solver, ..Setup::default() };
        Ok((World::new(setup)?, shape))
    }

    /// Lets it fall for `frames` frames.
    pub fn fall(&self, frames: usize) -> Result<Track, LabError> {
        let (mut world, shape) = self.world()?;
        let followed = followed(&shape)?;
        let mut track = Track::default();
        let mut probe = Probe::default();
        let (mass, _, _) = world.momentum();
        for frame in 0..=frames {
            if frame > 0 {
                world.step(FRAME, &mut probe)?;
            }
            let x = world.positions(0);
            track.centre.push(world.momentum().1.y);
            track.edge.push(followed.map(|(a, b, part)| x[a].lerp(x[b], part)));
            track.energy.push(world.energies().total() / (9.81 * mass));
        }
        track.counters = probe.counters;
        Ok(track)
    }
}

/// Nine equidistant places of the free edge, each between two vertices.
fn followed(shape: &Shape) -> Result<[(usize, usize, f64); FOLLOWED], LabError> {
    let mut edge = border(shape, "right")?;
    let along = |v: u32| shape.positions[v as usize].z;
    edge.sort_by(|a, b| along(*a).total_cmp(&along(*b)));
    let (first, last) = (along(edge[0]), along(edge[edge.len() - 1]));
    Ok(std::array::from_fn(|k| {
        let at = first + (last - first) * k as f64 / (FOLLOWED - 1) as f64;
        let after = edge.partition_point(|v| along(*v) <= at).clamp(1, edge.len() - 1);
        let (a, b) = (edge[after - 1], edge[after]);
        (a as usize, b as usize, (at - along(a)) / (along(b) - along(a)))
    }))
}

impl Track {
    /// Drop of the centre at the end of `frame` [m].
    pub fn drop(&self, frame: usize) -> f64 {
        self.centre[0] - self.centre[frame]
    }

    /// Root mean square distance of the free edge from that of `other` [m], over frames 1 to `last`.
    pub fn edge_distance(&self, other: &Track, last: usize) -> f64 {
        let of_frame = |frame: usize| {
            let pairs = self.edge[frame].iter().zip(&other.edge[frame]);
            pairs.fold(0.0, |sum, (a, b)| sum + a.distance_squared(*b)) / FOLLOWED as f64
        };
        ((1..=last).fold(0.0, |sum, frame| sum + of_frame(frame)) / last as f64).sqrt()
    }

    /// Mean linear solves per implicit stage.
    pub fn solves_per_stage(&self) -> f64 {
        self.counters.solves as f64 / self.counters.stages.max(1) as f64
    }
}
