//! M03's scenes and V00's hanging sheet where cloth meets itself and bodies: nothing intersects in any frame, and what
//! the comparison modes let through.

use crate::hang::Hang;
use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::{GRAVITY, Watched};
use std::time::Instant;
use toile::solve::Integrator;
use toile::{ContactSettings, PinDown, Setup, SolverSettings, World};

/// V00-X1, acceptance 4 and 5: the hanging sheet with collision with itself.
pub fn hanging(session: &mut Session) -> Result<(), LabError> {
    // One swing and a half: the sheet folds up on itself on the way.
    let (dt, frames) = (1.0 / 60.0, if session.full { 300 } else { 90 });
    let lambda = |contact: ContactSettings| -> Result<World, LabError> {
        let hang = Hang::new(50, Integrator::LambdaMidpoint, 4);
        let shape = hang.shape()?;
        let pins = vec![PinDown::fixed(0, crate::material::border(&shape, "left")?)];
        let solver = SolverSettings { lambda: 0.8, tolerance: 1e-3, ..hang.solver };
        let cloths = vec![hang.cloth(&shape)?];
        Ok(World::new(Setup { cloths, pins, contact, solver, substeps: 4, ..Setup::default() })?)
    };
    let mut seconds = Vec::new();
    for (name, contact) in [("on", ContactSettings::default()), ("off", ContactSettings::off())] {
        let on = name == "on";
        let mut watched = Watched::of(lambda(contact)?, dt)?;
        let mut times = Vec::new();
        let mut contacts = 0;
        for _ in 0..frames {
            let start = Instant::now();
            let mut probe = toile::Probe::default();
            watched.world.step(dt, &mut probe)?;
            times.push(1e3 * start.elapsed().as_secs_f64());
            contacts = contacts.max(probe.counters.contacts);
            let found = watched.intersections();
            watched.bad_frames += u64::from(found > 0);
            watched.worst = watched.worst.max(found);
        }
        session.time(format!("hanging sheet, collision {name}: frame of 1/60 s"), "ms", &times);
        seconds.push(times.iter().sum::<f64>());
        let label = format!("hanging sheet, collision {name}: frames that intersect");
        if on {
            session.equal(label, watched.bad_frames as f64, "", 0.0);
            session.info("hanging sheet: most contacts in a step", contacts as f64, "");
        } else {
            session.info(label, watched.bad_frames as f64, "");
        }
    }
    session.time(
        "hanging sheet: time with collision over that without (the paper: 1.2 to 5)",
        "x",
        &[seconds[0] / seconds[1]],
    );
    Ok(())
}

/// M03-X1: the table cloth by faces, and by vertices only as systems before did.
pub fn tablecloth(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for (name, set) in [
        ("faces", &[][..]),
        ("faces without the guarantee", &["contact.guarantee=false"][..]),
        ("vertices only", &["contact.guarantee=false", "contact.vertices_only=true"][..]),
    ] {
        let mut watched = Watched::scene("tablecloth", set)?;
        let mut points = Vec::new();
        let mut resting = 0.0;
        let start = Instant::now();
        let frames = 300;
        for frame in 1..=frames {
            watched.step()?;
            let found = watched.intersections();
            points.push((frame as f64 * watched.dt, found as f64));
            rows.push(format!("{name},{frame},{found},{:e}", watched.world.energies().kinetic));
            resting = watched.world.energies().kinetic;
        }
        let real = frames as f64 * watched.dt;
        session.time(
            format!("{name}: wall time over simulated time"),
            "x",
            &[start.elapsed().as_secs_f64() / real],
        );
        let worst = watched.worst as f64;
        match name {
            "faces" => session.equal(
                format!("{name}, gap 1 mm: intersecting pairs in the worst frame"),
                worst,
                "",
                0.0,
            ),
            "vertices only" => {
                session.at_least(format!("{name}: intersecting pairs in the worst frame"), worst, "", 1.0)
            }
            _ => session.info(format!("{name}: intersecting pairs in the worst frame"), worst, ""),
        }
        let drop = 0.1 * watched.weight();
        // Its corners swing: there is no air in the scene, and they swing as long in steps of 1/960 s.
        session.info(format!("{name}: kinetic energy after 5 s over that of the drop"), resting / drop, "");
        session.info(format!("{name}: intersecting pairs at rest"), watched.intersections() as f64, "");
        curves.push(Curve { name: name.into(), points });
    }
    session.csv("m03-x1", "mode,frame,intersecting pairs,kinetic energy [J]", &rows)?;
    session.plot(
        "m03-x1",
        Chart {
            title: "Table cloth: intersecting pairs of faces".into(),
            x: "time [s]".into(),
            y: "pairs".into(),
            log: (false, false),
            curves,
        },
    )
}

/// M03-X4: sheets on a ball, a cone and a box, and on each other.
pub fn sheets(session: &mut Session) -> Result<(), LabError> {
    let mut watched = Watched::scene("sheets", &[])?;
    let start = watched.world.momentum().1.y;
    let mass = watched.world.momentum().0;
    let mut rows = Vec::new();
    let mut points = Vec::new();
    for frame in 1..=300 {
        watched.step()?;
        let kinetic = watched.world.energies().kinetic;
        rows.push(format!("{frame},{},{kinetic:e}", watched.worst));
        points.push((frame as f64 * watched.dt, kinetic.max(1e-12)));
    }
    let drop = mass * GRAVITY * (start - watched.world.momentum().1.y);
    let end = points.last().map_or(f64::NAN, |(_, kinetic)| *kinetic);
    session.info("sheets", watched.world.cloths().len() as f64, "");
    session.equal("frames that intersect", watched.bad_frames as f64, "", 0.0);
    session.at_most("kinetic energy after 5 s over that of the drop", end / drop, "", 1e-4);
    session.info("kept motion", watched.counters.kept / watched.counters.wished, "");
    session.csv("m03-x4", "frame,worst intersecting pairs so far,kinetic energy [J]", &rows)?;
    energy_plot(session, "m03-x4", "Sheets on bodies: kinetic energy", points)
}

/// M03-X5: a long tape runs into a bowl.
pub fn tape(session: &mut Session) -> Result<(), LabError> {
    let mut watched = Watched::scene("tape", &[])?;
    let frames = if session.full { 240 } else { 150 };
    let mut rows = Vec::new();
    let mut points = Vec::new();
    for frame in 1..=frames {
        let counted = watched.step()?;
        let kinetic = watched.world.energies().kinetic;
        rows.push(format!("{frame},{},{kinetic:e},{}", watched.worst, counted.contacts));
        points.push((frame as f64 * watched.dt, kinetic.max(1e-12)));
    }
    session.info("particles", watched.positions().len() as f64, "");
    session.info("frames", frames as f64, "");
    session.equal("frames that intersect", watched.bad_frames as f64, "", 0.0);
    session.at_least("most contacts in a step", watched.counters.contacts as f64, "", 100.0);
    session.info("kept motion", watched.counters.kept / watched.counters.wished, "");
    session.csv("m03-x5", "frame,worst intersecting pairs so far,kinetic energy [J],contacts", &rows)?;
    energy_plot(session, "m03-x5", "Tape in a bowl: kinetic energy", points)
}

fn energy_plot(
    session: &mut Session,
    name: &str,
    title: &str,
    points: Vec<(f64, f64)>,
) -> Result<(), LabError> {
    session.plot(
        name,
        Chart {
            title: title.into(),
            x: "time [s]".into(),
            y: "J".into(),
            log: (false, true),
            curves: vec![Curve { name: "kinetic".into(), points }],
        },
    )
}
