//! Tangled starts of six kinds, five of each: drawn back within a second, and what is left is known to the pair.

use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::{surfaces, told};
use glam::DVec3;
use rayon::prelude::*;
use std::collections::BTreeSet;
use toile::collide::certify::{CheckOptions, Checker, Distance, Finding};
use toile::mesh::Surface;
use toile::testing::tangles::{CLEAN, Kind, world};
use toile::{Probe, World};

const SEEDS: u64 = 5;
const FRAMES: usize = 60;
const FRAME: f64 = 1.0 / 60.0;

/// What became of a start.
#[derive(Default)]
struct Outcome {
    vertices: usize,
    /// Pairs that intersect at the start and after every frame.
    pairs: Vec<usize>,
    /// Vertices inside bodies at the start and at the end.
    inside: [usize; 2],
    /// Pairs that the engine's list and the checker's do not share, at the start and at the end.
    unlike: usize,
    /// Pairs, summed over frames, that no tangle excuses.
    unexcused: usize,
    /// Frames in which the clean sheet met something.
    soiled: usize,
    not_finite: usize,
    /// Vertices of an upper layer below the lower one at the start and at the end.
    wrong: [usize; 2],
    strain: f64,
    tangles: usize,
    left: Vec<String>,
}

impl Outcome {
    fn cleared(&self) -> bool {
        self.pairs.last() == Some(&0) && self.inside[1] == 0 && self.wrong[1] == 0
    }

    fn worse(&self) -> bool {
        self.pairs.last() > self.pairs.first() || self.inside[1] > self.inside[0]
    }

    /// The frame after which nothing intersected any more.
    fn clear_in(&self) -> usize {
        self.pairs.iter().rposition(|n| *n > 0).map_or(0, |last| last + 1)
    }
}

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let starts: Vec<(Kind, u64)> = Kind::ALL.iter().flat_map(|kind| (0..SEEDS).map(|s| (*kind, s))).collect();
    let outcomes: Vec<Result<Outcome, LabError>> =
        starts.par_iter().map(|(kind, seed)| follow(*kind, *seed)).collect();
    let outcomes: Vec<Outcome> = outcomes.into_iter().collect::<Result<_, _>>()?;
    let count = |of: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|o| of(o)).count() as f64;
    let sum = |of: &dyn Fn(&Outcome) -> usize| outcomes.iter().map(of).sum::<usize>() as f64;
    session.at_least("starts cleared within 60 frames, of 30", count(&Outcome::cleared), "", 24.0);
    session.equal("starts worse at the end than at the start", count(&Outcome::worse), "", 0.0);
    session.equal("pairs that only one of engine and checker lists", sum(&|o| o.unlike), "", 0.0);
    session.equal("pairs outside all tangles, over all frames", sum(&|o| o.unexcused), "", 0.0);
    session.equal("frames in which the clean sheet met anything", sum(&|o| o.soiled), "", 0.0);
    session.equal("places that are no numbers", sum(&|o| o.not_finite), "", 0.0);
    session.info("vertices on the wrong side of a layer at the start", sum(&|o| o.wrong[0]), "");
    session.equal("vertices on the wrong side of a layer at the end", sum(&|o| o.wrong[1]), "", 0.0);
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    for (kind, own) in Kind::ALL.iter().zip(outcomes.chunks(SEEDS as usize)) {
        let name = kind.name();
        session.info(format!("{name}: cleared"), own.iter().filter(|o| o.cleared()).count() as f64, "");
        let last = own.iter().filter(|o| o.cleared()).map(Outcome::clear_in).max();
        session.info(format!("{name}: last frame that intersects, of those"), last.unwrap_or(0) as f64, "");
        let strain = own.iter().map(|o| o.strain).fold(0.0, f64::max);
        session.info(format!("{name}: largest strain"), strain, "");
        for (seed, o) in own.iter().enumerate() {
            rows.push(format!(
                "{name},{seed},{},{},{},{},{},{},{},{},{},{}",
                o.vertices,
                o.tangles,
                o.pairs[0],
                o.inside[0],
                o.pairs[FRAMES],
                o.inside[1],
                o.wrong[0],
                o.wrong[1],
                o.clear_in(),
                o.strain
            ));
            for left in &o.left {
                session.note(format!("{name}, seed {seed}: {left}"));
            }
        }
        let mean = |frame: usize| own.iter().map(|o| o.pairs[frame]).sum::<usize>() as f64 / SEEDS as f64;
        let points = (0..=FRAMES).map(|frame| (frame as f64, mean(frame))).collect();
        curves.push(Curve { name: name.into(), points });
    }
    session.csv(
        "tangles",
        "kind,seed,vertices,tangles,pairs at the start,vertices inside at the start,pairs at the end,vertices inside at the end,vertices on the wrong side at the start,at the end,last frame that intersects,largest strain",
        &rows,
    )?;
    session.plot(
        "tangles",
        Chart {
            title: "Intersecting pairs of faces, mean of five starts".into(),
            x: "frame".into(),
            y: "pairs".into(),
            log: (false, false),
            curves,
        },
    )
}

fn follow(kind: Kind, seed: u64) -> Result<Outcome, LabError> {
    let mut world = told(world(kind, seed))?;
    let options = CheckOptions { distance: Distance::Off, ..CheckOptions::default() };
    let mut checker = told(Checker::new(surfaces(&world), options))?;
    let vertices = world.cloths().iter().map(|cloth| cloth.positions.len()).sum();
    let mut outcome = Outcome { vertices, tangles: world.tangled().len(), ..Outcome::default() };
    outcome.inside[0] = world.tangles().inside.len();
    outcome.wrong[0] = wrong_side(&world)?;
    let clean = world.cloths().iter().position(|cloth| cloth.name == CLEAN);
    for frame in 0..=FRAMES {
        if frame > 0 {
            world.step(FRAME, &mut Probe::default())?;
        }
        let places = places(&world);
        outcome.not_finite += places.iter().flatten().filter(|p| !p.is_finite()).count();
        let mut verdict = checker.check(&places.iter().map(Vec::as_slice).collect::<Vec<_>>());
        outcome.pairs.push(verdict.intersections());
        let own: BTreeSet<[[u32; 2]; 2]> = verdict.findings.iter().filter_map(pair).collect();
        let soiled = own.iter().flatten().any(|[object, _]| Some(*object as usize) == clean);
        outcome.soiled += usize::from(soiled);
        if frame == 0 || frame == FRAMES {
            let listed: BTreeSet<[[u32; 2]; 2]> = world.tangles().pairs.into_iter().collect();
            outcome.unlike += own.symmetric_difference(&listed).count();
            if frame == FRAMES {
                let name = |[object, face]: &[u32; 2]| format!("{object} face {face}");
                let all: Vec<String> =
                    listed.iter().map(|[a, b]| format!("{} × {}", name(a), name(b))).collect();
                if !all.is_empty() {
                    outcome.left.push(format!(
                        "{} pairs are left (object and face): {}",
                        all.len(),
                        all.join(", ")
                    ));
                }
            }
        }
        let tangles = world.tangled();
        checker.excuse_tangled(&mut verdict, |edge, face| {
            let (edge, face) = (edge.map(|v| [v.surface, v.vertex]), face.map(|v| [v.surface, v.vertex]));
            tangles.iter().any(|tangle| tangle.excuses(&edge, &face))
        });
        outcome.unexcused += verdict.findings.len();
        let strains = (0..world.cloths().len()).flat_map(|c| world.strains(c));
        outcome.strain = strains.fold(outcome.strain, f64::max);
    }
    outcome.inside[1] = world.tangles().inside.len();
    outcome.wrong[1] = wrong_side(&world)?;
    Ok(outcome)
}

fn places(world: &World) -> Vec<Vec<DVec3>> {
    let cloths = (0..world.cloths().len()).map(|c| world.positions(c));
    cloths.chain(world.bodies().iter().map(|body| body.collider.positions().to_vec())).collect()
}

/// The two faces of an intersection, in order.
fn pair(finding: &Finding) -> Option<[[u32; 2]; 2]> {
    let Finding::Intersection { edge, face, .. } = finding else { return None };
    let mut pair = [[edge.surface, edge.face], [face.surface, face.face]];
    pair.sort_unstable();
    Some(pair)
}

/// Vertices of higher layers behind the faces of lower ones.
fn wrong_side(world: &World) -> Result<usize, LabError> {
    let mut wrong = 0;
    for (a, upper) in world.cloths().iter().enumerate() {
        for (b, lower) in world.cloths().iter().enumerate().filter(|(_, lower)| lower.layer < upper.layer) {
            if lower.layer.is_none() {
                continue;
            }
            let surface = told(Surface::new(world.positions(b), lower.mesh.faces().to_vec()))?;
            wrong += world.positions(a).iter().filter(|p| behind(&surface, **p)).count();
        }
    }
    Ok(wrong)
}

/// Whether a point is behind the inside of a surface; beside its border it is neither behind nor before it.
fn behind(surface: &Surface, p: DVec3) -> bool {
    let Some(foot) = surface.nearest(p, f64::INFINITY) else { return false };
    surface.normal(foot.face).dot(p - foot.point) < -0.5 * foot.distance
}
