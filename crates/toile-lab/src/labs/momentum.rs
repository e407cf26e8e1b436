//! Two free sheets collide in no gravity: contact takes momentum from neither and makes no energy.

use super::slide::lying;
use crate::material::PATTERNS;
use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::Watched;
use glam::DVec3;
use toile::{ContactSettings, Friction, Setup, World};

const FRAME: f64 = 1.0 / 60.0;
const FRAMES: usize = 60;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for (name, speed, mu) in [("slow", 0.5, 0.0), ("fast", 3.0, 0.0), ("with friction", 1.0, 0.4)] {
        let mut watched = Watched::of(world(speed, mu)?, FRAME)?;
        let (_, _, start) = watched.world.momentum();
        let mass = watched.world.momentum().0;
        // Both sheets weigh the same and one of them moves.
        let carried = 0.5 * mass * speed;
        let first = energy(&watched.world);
        let (mut last, mut rise, mut off) = (first, 0.0f64, 0.0f64);
        let mut points = Vec::new();
        for frame in 1..=FRAMES {
            let counted = watched.step()?;
            let now = energy(&watched.world);
            rise = rise.max((now - last) / first);
            off = off.max((watched.world.momentum().2 - start).length() / carried);
            last = now;
            points.push((frame as f64 * FRAME, now / first));
            rows.push(format!(
                "{name},{frame},{now},{:e},{}",
                (watched.world.momentum().2 - start).length() / carried,
                counted.removed
            ));
        }
        session.at_most(format!("{name}: momentum lost over what was carried"), off, "", 1e-10);
        session.at_most(format!("{name}: largest rise of energy in a frame over the start"), rise, "", 1e-9);
        session.equal(format!("{name}: frames that intersect"), watched.bad_frames as f64, "", 0.0);
        session.info(format!("{name}: energy left"), last / first, "");
        session.info(
            format!("{name}: impulse removed by the guarantee"),
            watched.counters.removed / carried,
            "",
        );
        curves.push(Curve { name: name.into(), points });
    }
    session.csv("momentum", "run,frame,energy [J],momentum lost over carried,removed [N·s]", &rows)?;
    session.plot(
        "energy",
        Chart {
            title: "Two free sheets collide: energy over that at the start".into(),
            x: "time [s]".into(),
            y: "energy".into(),
            log: (false, false),
            curves,
        },
    )
}

/// Kinetic and elastic energy [J]. What pairs in contact store is a means of the solver.
fn energy(world: &World) -> f64 {
    let all = world.energies();
    let stored = all.stored.iter().filter(|(name, _)| *name != "contact");
    stored.fold(all.kinetic, |sum, (_, energy)| sum + energy)
}

/// A sheet flies against another that rests, turned and beside its middle.
fn world(speed: f64, mu: f64) -> Result<World, LabError> {
    let contact = ContactSettings { friction: [Friction::of(mu); 2], ..ContactSettings::default() };
    let below = lying("below", (0.3, 0.3), 12, PATTERNS[5].1, 0.0, 0.0)?;
    let mut above = lying("above", (0.3, 0.3), 10, PATTERNS[4].1, 3.0, 0.03)?;
    above.positions.iter_mut().for_each(|p| *p += DVec3::new(0.05, 0.0, 0.03));
    above.velocity = DVec3::NEG_Y * speed;
    let setup =
        Setup { cloths: vec![below, above], contact, gravity: DVec3::ZERO, substeps: 2, ..Setup::default() };
    Ok(World::new(setup)?)
}
