//! V97-X2: what a tailor does to a sheet of about 400 triangles while it moves (V97 Fig. 5), scripted: every mesh manifold,
//! every frame certified, areas as asked for, the seam closed before it is sewn, one fingerprint on any number of threads.

use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::{Watched, told};
use std::sync::Arc;
use std::time::Instant;
use toile::mesh::Mesh;
use toile::{Probe, Tailoring, World};
use toile_io::build::build;
use toile_io::scene::{Job, Scene, resolve};
use toile_io::tailor::{EditOutcome, Tailor};

const THREADS: [usize; 4] = [1, 2, 3, 8];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let scene = told(Scene::open(&told(resolve("scissors"))?, &[]))?;
    let mut watched = Watched::of(told(build(&scene))?.world, scene.frame_time)?;
    let mut tailor = Tailor::new(&scene, &[], &watched.world);
    session.info("triangles at the start", watched.world.cloths()[0].mesh.faces().len() as f64, "");
    let (mut rows, mut times, mut prints) = (Vec::new(), Vec::new(), Vec::new());
    let (mut open, mut bad, mut done, mut waited, mut sewn_at) = (Vec::new(), 0, 0, 0, None);
    let mut bumped = 0.0f64;
    for frame in scene.frames.first + 1..=scene.frames.last {
        let mesh = watched.world.cloths()[0].mesh.clone();
        let areas = rest_areas(&watched.world);
        for line in tailor.work(&mut watched.world, frame) {
            let world = &watched.world;
            match line.outcome {
                EditOutcome::Done => done += 1,
                EditOutcome::Waits => waited += 1,
                EditOutcome::Impossible => session.note(line.message.clone()),
            }
            bad += usize::from(!is_manifold(&world.cloths()[0].mesh));
            let number = line.edit.unwrap_or_default();
            rows.push(format!("{frame},{number},{},{:?},\"{}\"", line.what, line.outcome, line.message));
            if let Job::Resize { factor, .. } = scene.edits[number].job {
                // Where the brush is full; resizing keeps the numbers of faces.
                let grown =
                    rest_areas(world).iter().zip(&areas).map(|(new, old)| new / old).fold(1.0, |most, f| {
                        if (f - 1.0f64).abs() > (most - 1.0f64).abs() && (f > 1.0) == (factor > 1.0) {
                            f
                        } else {
                            most
                        }
                    });
                let off = (grown / (factor * factor) - 1.0).abs();
                session.at_most(format!("lengths × {factor}: area off what was asked for"), off, "", 0.05);
            }
        }
        let closing = watched.world.seams().first().cloned();
        if !Arc::ptr_eq(&mesh, &watched.world.cloths()[0].mesh) {
            watched = watched.renewed()?;
        }
        let mesh = watched.world.cloths()[0].mesh.clone();
        let start = Instant::now();
        watched.world.step(scene.frame_time, &mut Probe::default())?;
        times.push(start.elapsed().as_secs_f64());
        if !Arc::ptr_eq(&mesh, &watched.world.cloths()[0].mesh) {
            bad += usize::from(!is_manifold(&watched.world.cloths()[0].mesh));
            watched = watched.renewed()?;
            if let Some(closing) = closing {
                sewn_at = Some((frame, closing.sewn_at / mean_edge(&mesh)));
                rows.push(format!("{frame},,sew,Done,\"sewn below {:e} m\"", closing.sewn_at));
            }
        } else if let Some(closing) = watched.world.seams().first() {
            open.push((f64::from(frame) * scene.frame_time, 1e3 * closing.distance));
        }
        let found = watched.intersections();
        watched.bad_frames += u64::from(found > 0);
        let cube = watched.world.contact_forces(1);
        bumped = bumped.max(cube.iter().fold(glam::DVec3::ZERO, |sum, f| sum + *f).length());
        prints.push(watched.world.fingerprint());
    }
    let finite =
        (0..watched.world.cloths().len()).flat_map(|c| watched.world.positions(c)).all(|p| p.is_finite());
    session.equal("edits that were done", f64::from(done), "", scene.edits.len() as f64);
    session.info("edits that had to wait for a frame or more", f64::from(waited), "");
    session.equal("meshes that are not manifold", bad as f64, "", 0.0);
    session.equal("frames that intersect", watched.bad_frames as f64, "", 0.0);
    session.equal("all positions are numbers", f64::from(u8::from(finite)), "", 1.0);
    session.at_least("largest push on the cube", bumped, "N", 0.1);
    let (frame, part) = sewn_at.unwrap_or((0, f64::INFINITY));
    session.at_most("seam: distance below which it was sewn, over the mean edge", part, "", 0.01);
    session.info("seam: frame in which it was sewn", f64::from(frame), "");
    let rates: Vec<f64> = times.iter().map(|t| 1.0 / t).collect();
    session.time("frames per second (V97: 8 to 20)", "1/s", &rates);
    let last = prints.last().copied().unwrap_or_default();
    let mut differing = 0.0;
    for threads in THREADS {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        differing += f64::from(pool.install(|| ending(&scene, None))? != last);
    }
    session.equal("runs on 1, 2, 3 and 8 threads with another fingerprint", differing, "", 0.0);
    // In the middle: the sheet is cut and holed, and the seam is closing.
    let middle = scene.edits.iter().map(|edit| edit.frame).max().unwrap_or(2).saturating_sub(90);
    session.equal(
        "resumed in the middle: another fingerprint",
        f64::from(ending(&scene, Some(middle))? != last),
        "",
        0.0,
    );
    session.equal("undone edits that leave another fingerprint", undone(&scene)?, "", 0.0);
    session.csv("v97-x2", "frame,edit,what,outcome,message", &rows)?;
    session.plot(
        "v97-x2",
        Chart {
            title: "The seam closes".into(),
            x: "time [s]".into(),
            y: "largest distance [mm]".into(),
            log: (false, true),
            curves: vec![Curve { name: "seam".into(), points: open }],
        },
    )
}

fn rest_areas(world: &World) -> Vec<f64> {
    world.cloths()[0].mesh.area().to_vec()
}

fn mean_edge(mesh: &Mesh) -> f64 {
    let edges = mesh.edges();
    edges.iter().map(|edge| mesh.rest_length(edge)).sum::<f64>() / edges.len() as f64
}

/// At most two faces at each edge, wound alike, and one fan of faces round each vertex.
fn is_manifold(mesh: &Mesh) -> bool {
    let mut sides: Vec<([u32; 2], bool)> = Vec::new();
    let mut around: Vec<Vec<[u32; 2]>> = vec![Vec::new(); mesh.vertices()];
    for face in mesh.faces() {
        for k in 0..3 {
            let (a, b, c) = (face[k], face[(k + 1) % 3], face[(k + 2) % 3]);
            sides.push(([a.min(b), a.max(b)], a < b));
            around[a as usize].push([b, c]);
        }
    }
    sides.sort_unstable();
    let edges = sides.chunk_by(|a, b| a.0 == b.0).all(|same| match same {
        [_] => true,
        [a, b] => a.1 != b.1,
        _ => false,
    });
    // Each face leads from one neighbour to the next: one fan is one chain, open or closed.
    let fan = |links: &Vec<[u32; 2]>| {
        let Some(first) = links.iter().find(|l| links.iter().all(|m| m[1] != l[0])).or(links.first()) else {
            return true;
        };
        let (mut at, mut count) = (first[0], 0);
        while let Some(link) = links.iter().find(|l| l[0] == at).filter(|_| count < links.len()) {
            (at, count) = (link[1], count + 1);
        }
        count == links.len()
    };
    edges && around.iter().all(fan)
}

/// The fingerprint at the end; stored and taken up again by another world before frame `resumed`.
fn ending(scene: &Scene, resumed: Option<u32>) -> Result<u64, LabError> {
    let mut world = told(build(scene))?.world;
    let mut tailor = Tailor::new(scene, &[], &world);
    for frame in scene.frames.first + 1..=scene.frames.last {
        if resumed == Some(frame) {
            let snapshot = world.snapshot();
            world = told(build(scene))?.world;
            world.restore(snapshot)?;
        }
        tailor.work(&mut world, frame);
        world.step(scene.frame_time, &mut Probe::default())?;
    }
    Ok(world.fingerprint())
}

/// Edits that cannot be taken back by going back to the moment before, or after which the cloth would go on otherwise.
fn undone(scene: &Scene) -> Result<f64, LabError> {
    let mut world = told(build(scene))?.world;
    (0..60).try_for_each(|_| world.step(scene.frame_time, &mut Probe::default()))?;
    let before = world.snapshot();
    let print = world.fingerprint();
    let mut next = told(build(scene))?.world;
    next.restore(before.clone())?;
    next.step(scene.frame_time, &mut Probe::default())?;
    let mesh = world.cloths()[0].mesh.clone();
    let place = |face: u32| toile::mesh::edit::Place { face, weights: [0.4, 0.3, 0.3] };
    let middle = mesh.faces().len() as u32 / 2;
    let mut wrong = 0.0;
    for job in [
        Tailoring::Cut { line: vec![place(middle), place(middle + 12)] },
        Tailoring::Remove { faces: vec![middle, middle + 1] },
        Tailoring::Resize {
            at: place(middle),
            radius: 0.2,
            hardness: 0.5,
            factor: 1.5,
            keep: toile::mesh::edit::Keep::Mass,
        },
    ] {
        world.tailor(0, &job).map_err(|error| LabError(error.to_string()))?;
        world.step(scene.frame_time, &mut Probe::default())?;
        world.restore(before.clone())?;
        wrong += f64::from(world.fingerprint() != print);
        world.step(scene.frame_time, &mut Probe::default())?;
        wrong += f64::from(world.fingerprint() != next.fingerprint());
        world.restore(before.clone())?;
    }
    Ok(wrong)
}
