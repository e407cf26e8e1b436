//! The same cloth at every resolution: the free edge of `hang` and of a gathered curtain, from coarse to fine.

use crate::hang::{FRAME, Hang, Track};
use crate::material::{border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use toile::drive::{Key, Motion};
use toile::mesh::{Pattern, shapes};
use toile::solve::Integrator;
use toile::{Air, Fabric, PinDown, Probe, Setup, World};

/// Frames of 31.6 ms up to 0.7 s.
const LAST: usize = 22;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for (name, sizes) in [("hang", [16, 50, 100, 158]), ("curtain", [16, 48, 100, 156])] {
        let mut tracks: Vec<Track> = Vec::new();
        for n in sizes {
            let track = match name {
                "hang" => Hang::new(n, Integrator::Bdf2, 2).fall(LAST)?,
                _ => curtain(n)?,
            };
            let lowest =
                |f: usize| track.edge[f].iter().map(|p| p.y).sum::<f64>() / track.edge[f].len() as f64;
            let points: Vec<(f64, f64)> = (0..=LAST).map(|f| (f as f64 * FRAME, lowest(f))).collect();
            curves.push(Curve { name: format!("{name}, n = {n}"), points });
            tracks.push(track);
        }
        let finest = &tracks[tracks.len() - 1];
        for (n, track) in sizes.iter().zip(&tracks[..tracks.len() - 1]) {
            let apart = track.edge_distance(finest, LAST);
            rows.push(format!("{name},{n},{apart}"));
            let label = format!("{name}, n = {n}: free edge off the finest to 0.7 s");
            match *n == sizes[2] {
                true => session.at_most(label, apart, "of its size", 0.02),
                false => session.info(label, apart, "of its size"),
            }
        }
    }
    session.csv("resolution", "scene,n,root mean square distance from the finest [m]", &rows)?;
    session.plot(
        "resolution",
        Chart {
            title: "Mean height of the free edge".into(),
            x: "time [s]".into(),
            y: "m".into(),
            log: (false, false),
            curves,
        },
    )
}

/// A square metre hanging from five hooks that are drawn together, neighbours to opposite sides.
fn curtain(n: usize) -> Result<Track, LabError> {
    let shape = shapes::sheet(1.0, 1.0, n, n, Pattern::Structured)?;
    let fabric = Fabric { bend: 4e-5.into(), damping: 0.01, ..Fabric::default() };
    let mut sheet = cloth("curtain", &shape, fabric)?;
    // From the floor to the wall.
    sheet.positions.iter_mut().for_each(|p| *p = DVec3::new(p.z, p.x, 0.0));
    sheet.air = Air { normal: 0.4, ..Air::default() };
    let along = |v: &u32| shape.positions[*v as usize].z;
    let sorted = |name: &str| -> Result<Vec<u32>, LabError> {
        let mut edge = border(&shape, name)?;
        edge.sort_by(|a, b| along(a).total_cmp(&along(b)));
        Ok(edge)
    };
    let (top, bottom) = (sorted("right")?, sorted("left")?);
    let hook = |k: usize| {
        let vertex = top[k * n / 4];
        let side = if k.is_multiple_of(2) { 0.05 } else { -0.05 };
        let inwards = 0.25 * (0.5 - along(&vertex));
        let key =
            |time: f64, translate: DVec3| Key { time, translate, rotate: DVec3::ZERO, scale: DVec3::ONE };
        let keys = vec![key(0.0, DVec3::ZERO), key(0.5, DVec3::new(inwards, 0.0, side))];
        let motion = Motion { keys, smooth: true, ..Motion::still() };
        PinDown { motion, ..PinDown::fixed(0, vec![vertex]) }
    };
    let setup =
        Setup { cloths: vec![sheet], pins: (0..5).map(hook).collect(), substeps: 2, ..Setup::default() };
    let mut world = World::new(setup)?;
    let mut track = Track::default();
    for frame in 0..=LAST {
        if frame > 0 {
            world.step(FRAME, &mut Probe::default())?;
        }
        let x = world.positions(0);
        // Every eighth of the edge: a vertex, or the middle between two.
        track.edge.push(std::array::from_fn(|k| {
            let (a, b) = (k * n / 8, (k * n).div_ceil(8));
            x[bottom[a] as usize].midpoint(x[bottom[b] as usize])
        }));
    }
    Ok(track)
}
