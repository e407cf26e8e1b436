//! Changes in words, for people.

use crate::protocol::{Edit, Job};

/// An edit for the list of changes.
pub fn in_words(edit: &Edit) -> String {
    match edit {
        Edit::Grab { object, vertex, .. } => format!("took object {object} at vertex {vertex}"),
        Edit::Drag { .. } => "moved a hand".into(),
        Edit::Release { .. } => "let go".into(),
        Edit::Pin { object, vertices } => format!("pinned {} of object {object}", count(vertices.len())),
        Edit::Unpin { object, vertices } => format!("unpinned {} of object {object}", count(vertices.len())),
        Edit::Drop { form, size, mass, .. } => {
            format!("dropped a {} of {size} m, {mass} kg", format!("{form:?}").to_lowercase())
        }
        Edit::Import { mesh, role, .. } => {
            format!("imported {mesh} as {}", format!("{role:?}").to_lowercase())
        }
        Edit::Remove { object } => format!("removed object {object}"),
        Edit::Tailor { object, job, .. } => done(job, *object),
        Edit::Wind(wind) => format!("wind {} m/s", three(wind.velocity)),
        Edit::Gust { velocity, seconds } => format!("a gust of {} m/s for {seconds} s", three(*velocity)),
        Edit::Gravity { gravity } => format!("gravity {} m/s²", three(*gravity)),
        Edit::Fabric { object, fabric } => match &fabric.preset {
            Some(preset) => format!("object {object} is {preset}"),
            None => format!("changed the fabric of object {object}"),
        },
        Edit::Contact(_) => "changed how things meet".into(),
        Edit::Solver(solver) => format!("solver {}, {} substeps", solver.integrator, solver.substeps),
        Edit::Undo => "undid a change".into(),
        Edit::Redo => "made a change again".into(),
        Edit::Reset => "started over".into(),
    }
}

/// A job for the list of changes.
fn done(job: &Job, object: u32) -> String {
    match job {
        Job::Cut { .. } => format!("cut object {object}"),
        Job::Slit { .. } => format!("cut object {object} along edges"),
        Job::Trim { faces } => format!("removed {} faces of object {object}", faces.len()),
        Job::Discard { .. } => format!("removed a piece of object {object}"),
        Job::Resize { factor, radius, .. } => {
            format!("made object {object} {factor} times as large within {radius} m")
        }
        Job::Seam { pairs } => format!("sewed {} pairs of object {object}", pairs.len()),
        Job::Fill { .. } => format!("filled a hole of object {object}"),
    }
}

fn count(vertices: usize) -> String {
    if vertices == 1 { "a vertex".into() } else { format!("{vertices} vertices") }
}

fn three([x, y, z]: [f64; 3]) -> String {
    format!("({x}, {y}, {z})")
}
