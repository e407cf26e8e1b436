//! Random soup: worlds of any fabric, mesh, step, gravity and body. Each must end with an outcome, free of intersections.
//! And cloth at rest without gravity, or without friction, costs the same in every step.

use crate::material::cloth;
use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::{GRAVITY, Watched, surfaces, told};
use glam::{DMat3, DVec3};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use toile::collide::certify::{Passage, SideTest};
use toile::collide::collider::{Body, Collider, Form};
use toile::drive::{Motion, Transform};
use toile::math::random::Dice;
use toile::mesh::{Pattern, shapes};
use toile::{Cloth, ContactSettings, Fabric, Friction, Obstacle, PinDown, Setup, World};

/// Worlds by default, and of the long version.
const WORLDS: u64 = 50;
const ALL: u64 = 300;
/// Frames of each, one step each.
const FRAMES: usize = 6;
/// Vertices of the smallest world, and how many times more the largest has; in the long version every sixth may have many
/// more: a few of those take minutes.
const SMALLEST: f64 = 100.0;
const RANGE: f64 = 6.0;
const FULL_RANGE: f64 = 50.0;

/// What a world is made of.
#[derive(Clone, Debug)]
struct Recipe {
    seed: u64,
    fabric: Fabric,
    friction: f64,
    dt: f64,
    gravity: f64,
    speed: f64,
    vertices: f64,
    size: f64,
    pattern: Pattern,
    sheets: usize,
    pins: usize,
    form: Form,
}

/// What became of a world.
struct Outcome {
    /// The error or the panic, if it did not finish.
    failed: Option<String>,
    bad_frames: u64,
    passages: usize,
    released: usize,
    not_finite: usize,
    seconds: f64,
    contacts: u64,
}

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let count = if session.full { ALL } else { WORLDS };
    let range = |seed: u64| if session.full && seed.is_multiple_of(6) { FULL_RANGE } else { RANGE };
    let recipes: Vec<Recipe> = (0..count).map(|seed| Recipe::of(seed, range(seed))).collect();
    // The largest first, so that no thread is left with one at the end.
    let mut order: Vec<&Recipe> = recipes.iter().collect();
    order.sort_by(|a, b| b.vertices.total_cmp(&a.vertices));
    let mut found: Vec<(u64, Outcome)> =
        order.par_iter().with_max_len(1).map(|r| (r.seed, tried(r))).collect();
    found.sort_by_key(|(seed, _)| *seed);
    let mut rows = Vec::new();
    for (recipe, (seed, outcome)) in recipes.iter().zip(&found) {
        let Recipe { fabric, friction, dt, gravity, speed, vertices, sheets, pins, .. } = recipe;
        rows.push(format!(
            "{seed},{vertices:.0},{sheets},{:?},{pins},{},{:e},{:e},{},{:e},{friction},{dt},{gravity},{speed},{},{},{},{},{},{},{},{}",
            recipe.pattern,
            recipe.form.name(),
            fabric.stretch[0].initial(),
            fabric.bend.warp,
            fabric.density,
            fabric.thickness,
            outcome.contacts,
            outcome.bad_frames,
            outcome.passages,
            outcome.released,
            outcome.not_finite,
            outcome.seconds,
            outcome.failed.is_none(),
            outcome.failed.clone().unwrap_or_default().replace([',', '\n'], ";"),
        ));
        if let Some(reason) = &outcome.failed {
            session.note(format!("seed {seed} did not finish: {reason}"));
        } else if outcome.bad_frames > 0 || outcome.passages > 0 {
            session.note(format!(
                "seed {seed}: {} frames intersect, {} points changed sides",
                outcome.bad_frames, outcome.passages
            ));
        }
    }
    let sum = |of: fn(&Outcome) -> f64| found.iter().map(|(_, outcome)| of(outcome)).sum::<f64>();
    session.equal("worlds that finish", sum(|o| f64::from(o.failed.is_none())), "", count as f64);
    session.equal("frames that intersect", sum(|o| o.bad_frames as f64), "", 0.0);
    session.equal("points that changed sides", sum(|o| o.passages as f64), "", 0.0);
    session.equal("places that are no numbers", sum(|o| o.not_finite as f64), "", 0.0);
    session.info("worlds in which something met", sum(|o| f64::from(o.contacts > 0)), "");
    session.info("worlds in which bodies were let through", sum(|o| f64::from(o.released > 0)), "");
    session.info("vertices that bodies were let through", sum(|o| o.released as f64), "");
    session.csv(
        "soup",
        "seed,vertices,sheets,mesh,pins,body,stretch [N/m],bend [N·m],density [kg/m²],thickness [m],friction,step [s],gravity [m/s²],speed of the body [m/s],contacts,frames that intersect,points that changed sides,let through,not finite,seconds,finished,reason",
        &rows,
    )?;
    let points = recipes.iter().zip(&found).map(|(r, (_, o))| (r.vertices, o.seconds)).collect();
    session.plot(
        "soup",
        Chart {
            title: format!("{FRAMES} steps of worlds at random"),
            x: "vertices".into(),
            y: "s".into(),
            log: (true, true),
            curves: vec![Curve { name: "worlds".into(), points }],
        },
    )?;
    rest(session)
}

impl Recipe {
    /// The world of a seed, up to `range` times as large as the smallest.
    fn of(seed: u64, range: f64) -> Recipe {
        let mut dice = Dice::new(0x50f0 + seed);
        let mut log = |from: f64, to: f64| from * (to / from).powf(dice.unit());
        let (stretch, bend) = (log(1.0, 1e5), log(1e-9, 1e-2));
        let (density, thickness) = (log(0.03, 2.0), log(1e-4, 5e-3));
        let (dt, size) = (log(1.0 / 960.0, 1.0 / 24.0), log(0.2, 1.0));
        // Most are small: of a range of 50, half have less than 170 vertices, one in eight more than 1400.
        let vertices = SMALLEST * range.powf(dice.unit().powi(3));
        let poisson = 0.5 * dice.unit() - 0.1;
        let damping = if dice.below(3) == 0 { 0.0 } else { 0.01 * dice.unit() };
        let fabric = Fabric { thickness, damping, ..Fabric::isotropic(density, stretch, poisson, bend) };
        let form = {
            let r = size * (0.1 + 0.15 * dice.unit());
            match dice.below(5) {
                0 => Form::Sphere { radius: r },
                1 => Form::Box { size: r * (DVec3::splat(1.5) + dice.vector()) },
                2 => Form::Cone { radius_bottom: 0.5 * r, radius_top: 0.0, height: 3.0 * r },
                3 => Form::Torus { radius_ring: r, radius_tube: 0.2 * r },
                _ => Form::Capsule { radius: 0.4 * r, height: 2.0 * r },
            }
        };
        Recipe {
            seed,
            fabric,
            friction: 1.5 * dice.unit(),
            dt,
            // A tenth of the worlds has no gravity at all, and a tenth a body at rest.
            gravity: if dice.below(10) == 0 { 0.0 } else { 20.0 * GRAVITY * dice.unit() },
            speed: if dice.below(10) == 0 { 0.0 } else { 50.0 * dice.unit() },
            vertices,
            size,
            pattern: match dice.below(6) {
                0 => Pattern::Structured,
                1 => Pattern::Flipped,
                2 => Pattern::Alternating,
                3 => Pattern::Equilateral,
                4 => Pattern::Jittered { amount: 0.3, seed },
                _ => Pattern::Delaunay { seed },
            },
            sheets: 1 + dice.below(3),
            pins: dice.below(3),
            form,
        }
    }

    /// Sheets above each other, each turned its own way, and a body that goes through the middle of all that.
    fn world(&self) -> Result<World, LabError> {
        let mut dice = Dice::new(0xb0d1 + self.seed);
        let contact =
            ContactSettings { friction: [Friction::of(self.friction); 2], ..ContactSettings::default() };
        let apart = 3.0 * contact.gap.max(self.fabric.thickness);
        let cells = ((self.vertices / self.sheets as f64).sqrt().round() as usize).max(3) - 1;
        let turn = DMat3::from_axis_angle(dice.vector().normalize_or(DVec3::X), 3.0 * dice.unit());
        let mut cloths: Vec<Cloth> = Vec::new();
        for k in 0..self.sheets {
            let shape = shapes::sheet(self.size, self.size, cells, cells, self.pattern)?;
            let mut sheet = cloth(&format!("sheet{k}"), &shape, self.fabric)?;
            let own = DMat3::from_rotation_y(3.0 * dice.unit());
            let centre = DVec3::new(0.5 * self.size, -(k as f64 * apart), 0.5 * self.size);
            // Lifted along its own normal before all turn together: sheets stay apart.
            sheet.positions.iter_mut().for_each(|p| {
                let flat = *p - centre;
                *p = turn * (own * flat)
            });
            cloths.push(sheet);
        }
        let pins = match self.pins {
            0 => Vec::new(),
            n => {
                let shape = shapes::sheet(self.size, self.size, cells, cells, self.pattern)?;
                let left = shape.group("left").unwrap_or_default().to_vec();
                let right = shape.group("right").unwrap_or_default().to_vec();
                [left, right].into_iter().take(n).map(|held| PinDown::fixed(0, held)).collect()
            }
        };
        // From just clear of the sheets, or from where it is in the middle of them after half of the frames.
        let tolerance = 0.01 * self.size;
        let facets = told(self.form.facets(tolerance))?;
        let radius = facets.positions.iter().map(|p| p.length()).fold(0.0, f64::max);
        let way = (turn * DVec3::NEG_Y + 0.3 * dice.vector()).normalize();
        let time = FRAMES as f64 * self.dt;
        let clear = (radius + (self.sheets + 1) as f64 * apart) / way.dot(turn * DVec3::NEG_Y);
        let start = -way * clear.max(0.5 * self.speed * time);
        let motion = Motion::straight([DVec3::ZERO, way * self.speed * time], [0.0, time]);
        let spin = DMat3::from_axis_angle(dice.vector().normalize_or(DVec3::X), 3.0 * dice.unit());
        let stand = Transform { matrix: spin, offset: start };
        let collider = told(Collider::standing(Body::Form(self.form), stand, motion, tolerance))?;
        let gravity = self.gravity * dice.vector().normalize_or(DVec3::NEG_Y);
        let bodies = vec![Obstacle { name: "body".into(), collider }];
        Ok(World::new(Setup { cloths, bodies, contact, pins, gravity, substeps: 1, ..Setup::default() })?)
    }
}

/// A world tried; whatever happens, there is an outcome.
fn tried(recipe: &Recipe) -> Outcome {
    let before = Instant::now();
    let mut outcome = Outcome {
        failed: None,
        bad_frames: 0,
        passages: 0,
        released: 0,
        not_finite: 0,
        seconds: 0.0,
        contacts: 0,
    };
    let ended = catch_unwind(AssertUnwindSafe(|| watch(recipe, &mut outcome)));
    outcome.failed = match ended {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some("a panic".into()),
    };
    outcome.seconds = before.elapsed().as_secs_f64();
    outcome
}

fn watch(recipe: &Recipe, outcome: &mut Outcome) -> Result<(), LabError> {
    let mut watched = Watched::of(recipe.world()?, recipe.dt)?;
    if watched.intersections() > 0 {
        return Err(LabError("the start intersects".into()));
    }
    let mut sides = SideTest::new(&surfaces(&watched.world));
    for _ in 0..FRAMES {
        let counted = watched.step()?;
        outcome.contacts += counted.contacts;
        let places = watched.places();
        let places: Vec<&[DVec3]> = places.iter().map(Vec::as_slice).collect();
        outcome.not_finite += places.iter().flat_map(|p| p.iter()).filter(|p| !p.is_finite()).count();
        outcome.released += watched.world.take_releases().iter().filter(|release| release.through).count();
        // Where bodies were let through, only cloth must still keep its sides.
        let cloths = watched.world.cloths().len() as u32;
        let counts = |p: &&Passage| outcome.released == 0 || p.vertex.surface.max(p.surface) < cloths;
        outcome.passages += sides.step(&places).passages.iter().filter(counts).count();
        outcome.bad_frames = watched.bad_frames;
    }
    Ok(())
}

/// Two sheets on a floor, at rest: without gravity, and without friction.
fn rest(session: &mut Session) -> Result<(), LabError> {
    for (name, gravity, friction) in
        [("no gravity", 0.0, 0.3), ("no friction", GRAVITY, 0.0), ("neither", 0.0, 0.0)]
    {
        let contact = ContactSettings { friction: [Friction::of(friction); 2], ..ContactSettings::default() };
        let gap = contact.gap;
        let lying = |k: usize| {
            super::slide::lying(
                &format!("sheet{k}"),
                (0.3, 0.3),
                14,
                Pattern::Structured,
                0.0,
                (k + 1) as f64 * gap,
            )
        };
        let level = Transform { matrix: DMat3::IDENTITY, offset: DVec3::ZERO };
        let floor = crate::watched::body("floor", Form::Plane { size: 1.0 }, level, 1e-3)?;
        let setup = Setup {
            cloths: vec![lying(0)?, lying(1)?],
            bodies: vec![floor],
            contact,
            gravity: DVec3::NEG_Y * gravity,
            ..Setup::default()
        };
        let mut watched = Watched::of(World::new(setup)?, 1.0 / 60.0)?;
        let (mut solves, mut times) = (Vec::new(), Vec::new());
        for frame in 0..150 {
            let before = Instant::now();
            let counted = watched.step()?;
            // The first second is for settling.
            if frame >= 60 {
                times.push(1e3 * before.elapsed().as_secs_f64());
                solves.push(counted.solves as f64 / counted.substeps as f64);
            }
        }
        let most = solves.iter().copied().fold(0.0, f64::max);
        session.at_most(format!("rest, {name}: most linear solves per step"), most, "", 6.0);
        let (figure, speed) = (format!("rest, {name}: rms speed"), 1e3 * watched.speed());
        match gravity > 0.0 && friction == 0.0 {
            // Nothing holds what slides; why two flat sheets begin to is not known.
            true => session.info(figure, speed, "mm/s"),
            false => session.at_most(figure, speed, "mm/s", 0.1),
        }
        session.equal(format!("rest, {name}: frames that intersect"), watched.bad_frames as f64, "", 0.0);
        session.time(format!("rest, {name}: a frame"), "ms", &times);
    }
    Ok(())
}
