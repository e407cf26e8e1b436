//! A recorded run of people at the studio, made again from its inputs: the same bits; and many pages at once.

use crate::session::{Chart, Curve, LabError, Session};
use crate::watched::told;
use std::io::BufReader;
use toile::Probe;
use toile::math::random;
use toile_io::scene::{Scene, resolve};
use toile_studio::live::Live;
use toile_studio::protocol::{Dropped, Edit, FabricSettings, WindSettings};
use toile_studio::recording::{Log, replay};

/// Frames per second of the scene, seconds of the run, and changes in it.
const RATE: u64 = 60;
const SECONDS: u64 = 60;
const EDITS: u64 = 100;
const SCENE: (&str, &[&str]) = ("sphere", &["cloth.sheet.shape.resolution=12"]);

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let (name, set) = SCENE;
    let scene = told(Scene::open(&told(resolve(name))?, set))?;
    let mut live = told(Live::new(scene.clone()))?;
    let mut log = Log::new(&scene);
    let (mut made, mut refused, mut points) = (0u64, 0u64, Vec::new());
    let mut rows = Vec::new();
    for tick in 0..RATE * SECONDS {
        while made < EDITS && made * RATE * SECONDS / EDITS <= tick {
            let edit = edit(made, refused, &live);
            match live.apply(&edit) {
                Ok(()) => {
                    log.edit(tick, (made % 4) as u32, &edit);
                    rows.push(format!("{tick},{}", told(serde_json::to_string(&edit))?.replace(',', ";")));
                    made += 1;
                }
                // Another one then: what is refused changes nothing.
                Err(_) => refused += 1,
            }
        }
        told(live.step(&mut Probe::default()))?;
        if tick % 10 == 0 {
            points.push((tick as f64 / RATE as f64, live.world().momentum().1.y));
        }
    }
    let text = log.text(&live);
    let again = told(replay(BufReader::new(text.as_bytes()), None))?;
    session.equal("edits made again", again.edits as f64, "", EDITS as f64);
    session.equal("seconds of cloth", again.ticks as f64 / RATE as f64, "s", SECONDS as f64);
    session.equal("fingerprints that differ", f64::from(u8::from(!again.agrees())), "", 0.0);
    session.info("edits refused on the way", refused as f64, "");
    session.info("size of the recording", text.len() as f64, "bytes");
    session.csv("edits", "tick,edit", &rows)?;
    session.write("recording.jsonl", text.as_bytes())?;
    session.plot(
        "centre",
        Chart {
            title: "Centre of the cloth while people change it".into(),
            x: "time [s]".into(),
            y: "height [m]".into(),
            log: (false, false),
            curves: vec![Curve { name: "height".into(), points }],
        },
    )
}

/// What people do, the same for the same numbers.
fn edit(number: u64, tried: u64, live: &Live) -> Edit {
    let die = |k: u64| random::unit(77, 1000 * (number + 131 * tried) + k);
    let vertex = (die(1) * 168.0) as u32;
    let near = |k: u64| 0.6 * (die(k) - 0.5);
    let place = [near(2), 0.3 + 0.3 * die(3), near(4)];
    let hand = (number % 4) as u32;
    match (10.0 * die(0)) as u32 {
        0 => Edit::Pin { object: 0, vertices: vec![vertex, vertex + 1] },
        1 => {
            Edit::Unpin { object: 0, vertices: live.panels().pinned.first().map_or(vec![], |p| p.1.clone()) }
        }
        2 | 3 => Edit::Grab { hand, object: 0, vertex, to: place },
        4 => Edit::Drag { hand, to: place },
        5 => Edit::Release { hand },
        6 => Edit::Gust { velocity: [4.0 * near(5), 0.0, 4.0 * near(6)], seconds: 0.5 },
        7 if live.info().objects.len() < 5 => {
            let form = if die(7) < 0.5 { Dropped::Ball } else { Dropped::Cube };
            Edit::Drop { form, size: 0.06, mass: 0.05, at: [place[0], 0.8, place[2]], velocity: [0.0; 3] }
        }
        7 => {
            let guest = live.info().objects.iter().find(|o| o.guest).map_or(0, |o| o.id);
            Edit::Remove { object: guest }
        }
        8 => {
            let preset = ["silk", "cotton", "wool"][(3.0 * die(8)) as usize];
            Edit::Fabric {
                object: 0,
                fabric: FabricSettings { preset: Some(preset.into()), ..Default::default() },
            }
        }
        _ if die(9) < 0.5 => Edit::Undo,
        _ => Edit::Wind(WindSettings { velocity: [2.0 * near(5), 0.0, 0.5], gust: 0.2, frequency: 0.5 }),
    }
}
