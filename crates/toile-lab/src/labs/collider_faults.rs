//! Animated bodies with one thing wrong: each is refused by object and frame, or the pose before is held and that is said; the
//! cloth above stays a cloth.

use super::zoo::{Draft, End, play};
use crate::session::{LabError, Session};
use glam::DVec3;
use std::path::Path;
use toile_io::pc2::Pc2Writer;

/// Frames of the body's files, and that which is spoilt.
const FRAMES: usize = 30;
const SPOILT: usize = 14;

const SCENE: &str = "toile = 1\nunits = \"m\"\nup = \"y\"\nframes = \"1-40\"\nfps = 30\n\
    [air]\ndrag = 4.0\n\
    [[cloth]]\nname = \"sheet\"\nshape = { kind = \"sheet\", size = [0.5, 0.5], resolution = 8, plane = \"flat\" }\n\
    translate = [0, 0.2, 0]\n[[body]]\nname = \"ball\"\n";

/// What must come of it.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    /// Refused, with these words.
    Refused(&'static str),
    /// Runs, with these words among its notes and nothing that intersects.
    Held(&'static str),
    /// Runs and nothing intersects.
    Played,
    /// Runs with these words.
    Told(&'static str),
}

struct Case {
    name: &'static str,
    spoil: fn(&mut Vec<Draft>),
    wanted: Wanted,
}

const CASES: [Case; 14] = [
    Case { name: "sound", spoil: |_| {}, wanted: Wanted::Played },
    Case {
        name: "a vertex that is no number",
        spoil: |f| f[SPOILT].x[5].y = f64::NAN,
        wanted: Wanted::Held("[held]"),
    },
    Case {
        name: "three frames at infinity",
        spoil: |f| f[SPOILT..SPOILT + 3].iter_mut().for_each(|m| m.x[0].x = f64::INFINITY),
        wanted: Wanted::Held("3 frames"),
    },
    Case { name: "a vertex at 1e30 m", spoil: |f| f[SPOILT].x[2].z = 1e30, wanted: Wanted::Held("[held]") },
    Case {
        name: "the first frame is no number",
        spoil: |f| f[0].x[1].x = f64::NAN,
        wanted: Wanted::Refused("finite"),
    },
    Case {
        name: "100 m away for a frame",
        spoil: |f| f[SPOILT].x.iter_mut().for_each(|p| p.x += 100.0),
        wanted: Wanted::Held("comes back"),
    },
    Case {
        name: "100 m away for good",
        spoil: |f| f[SPOILT..].iter_mut().flat_map(|m| &mut m.x).for_each(|p| p.x += 100.0),
        wanted: Wanted::Told("[jump]"),
    },
    Case {
        name: "100 m up, through the cloth",
        spoil: |f| f[SPOILT..].iter_mut().flat_map(|m| &mut m.x).for_each(|p| p.y += 100.0),
        wanted: Wanted::Told("[jump]"),
    },
    Case {
        name: "from 100 m away into the cloth",
        spoil: |f| {
            f[..2].iter_mut().flat_map(|m| &mut m.x).for_each(|p| p.x += 100.0);
            f[2..].iter_mut().flat_map(|m| &mut m.x).for_each(|p| p.y += 0.17);
        },
        wanted: Wanted::Told("[jump]"),
    },
    Case {
        name: "a vertex more",
        spoil: |f| {
            f[SPOILT].vertex(0.0, -1.0, 0.0);
        },
        wanted: Wanted::Refused("differ"),
    },
    Case {
        name: "the vertices in another order",
        spoil: |f| {
            let x = f[SPOILT].x.clone();
            (0..x.len()).for_each(|v| f[SPOILT].x[v] = x[(5 * v + 3) % x.len()]);
        },
        wanted: Wanted::Refused("order"),
    },
    Case {
        name: "scaled to nothing",
        spoil: |f| f[SPOILT].x.iter_mut().for_each(|p| *p *= 0.0),
        wanted: Wanted::Refused("[no-size]"),
    },
    Case {
        name: "scaled to nothing, little by little",
        spoil: |f| (0..FRAMES).for_each(|k| f[k].x.iter_mut().for_each(|p| *p *= 1.0 - k as f64 / 29.0)),
        wanted: Wanted::Refused("[no-size]"),
    },
    Case { name: "two equal frames", spoil: |f| f[SPOILT] = f[SPOILT - 1].clone(), wanted: Wanted::Played },
];

/// Scenes whose body moves by keys or lacks a file, with what must come of them.
const KEYED: [(&str, &str, Wanted); 6] = [
    (
        "keys 100 m apart",
        "motion = [{ frame = 14 }, { frame = 15, translate = [100, 0, 0] }]",
        Wanted::Told("[jump]"),
    ),
    (
        "a key that is no number",
        "motion = [{ frame = 1 }, { frame = 9, translate = [nan, 0, 0] }]",
        Wanted::Refused(""),
    ),
    ("a key with a scale", "motion = [{ frame = 1 }, { frame = 9, scale = 0 }]", Wanted::Refused("scale")),
    (
        "two keys at one frame",
        "motion = [{ frame = 4 }, { frame = 4, translate = [0, 1, 0] }]",
        Wanted::Refused(""),
    ),
    ("a scale of 0", "scale = 0", Wanted::Refused("scale")),
    ("equal keys", "motion = [{ frame = 1 }, { frame = 9 }, { frame = 30 }]", Wanted::Played),
];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let mut rows = Vec::new();
    let (mut as_wanted, mut all, mut panics, mut not_finite) = (0, 0, 0, 0);
    let mut look = |name: String, folder: &Path, wanted: Wanted| {
        let end = play(folder, 39, None);
        let (good, words) = judge(&end, wanted);
        all += 1;
        as_wanted += usize::from(good);
        panics += usize::from(matches!(end, End::Panicked));
        not_finite += if let End::Ran(course) = &end { course.not_finite } else { 0 };
        rows.push(format!("\"{name}\",{good},\"{}\"", words.replace(['"', '\n'], " ")));
    };
    for (number, case) in CASES.iter().enumerate() {
        let mut frames: Vec<Draft> = (0..FRAMES).map(|k| Draft::ball(0.12).shifted(rise(k))).collect();
        (case.spoil)(&mut frames);
        let folder = session.folder().join(format!("files-{number:02}"));
        sequence(&folder, &frames)?;
        look(format!("{}, OBJ", case.name), &folder, case.wanted);
        // A cache cannot have more points in one frame.
        if frames.iter().all(|m| m.x.len() == frames[0].x.len()) {
            let folder = session.folder().join(format!("cache-{number:02}"));
            cache(&folder, &frames)?;
            look(format!("{}, PC2", case.name), &folder, case.wanted);
        }
    }
    for (number, (name, line, wanted)) in KEYED.iter().enumerate() {
        let folder = session.folder().join(format!("keys-{number:02}"));
        std::fs::create_dir_all(&folder)?;
        let body = "shape = { kind = \"sphere\", radius = 0.12, subdivisions = 2 }\n";
        std::fs::write(folder.join("scene.toml"), format!("{SCENE}{body}{line}\n"))?;
        look(name.to_string(), &folder, *wanted);
    }
    session.info("cases", all as f64, "");
    session.equal("cases that end as they should", as_wanted as f64, "", all as f64);
    session.equal("panics", panics as f64, "", 0.0);
    session.equal("coordinates of cloth that are no numbers", not_finite as f64, "", 0.0);
    session.csv("collider-faults", "case,as it should,words", &rows)
}

/// Where the ball is in a frame: it comes up to the cloth.
fn rise(frame: usize) -> DVec3 {
    DVec3::Y * (0.004 * frame as f64)
}

fn judge(end: &End, wanted: Wanted) -> (bool, String) {
    match end {
        End::Ran(course) => {
            let told = |words: &str| course.notes.iter().any(|note| note.contains(words));
            let clean = course.tangled == [0, 0] && course.not_finite == 0;
            let good = match wanted {
                Wanted::Refused(_) => false,
                Wanted::Held(words) => told(words) && clean,
                Wanted::Played => clean && !told("["),
                Wanted::Told(words) => told(words) && course.not_finite == 0,
            };
            let words = format!("{:?} {:.1} s; {}", course.tangled, course.seconds, course.notes.join("; "));
            (good, words)
        }
        End::Refused { text, named, .. } => {
            (*named && matches!(wanted, Wanted::Refused(words) if text.contains(words)), text.clone())
        }
        End::Stopped(text) => (false, format!("stopped: {text}")),
        End::Panicked => (false, "panicked".into()),
    }
}

fn sequence(folder: &Path, frames: &[Draft]) -> Result<(), LabError> {
    std::fs::create_dir_all(folder)?;
    for (k, frame) in frames.iter().enumerate() {
        std::fs::write(folder.join(format!("ball_{:04}.obj", k + 1)), frame.text())?;
    }
    std::fs::write(folder.join("scene.toml"), format!("{SCENE}file = \"ball_####.obj\"\n"))?;
    Ok(())
}

fn cache(folder: &Path, frames: &[Draft]) -> Result<(), LabError> {
    std::fs::create_dir_all(folder)?;
    let failed = |error: toile_io::FileError| LabError(error.to_string());
    std::fs::write(folder.join("ball.obj"), Draft::ball(0.12).text())?;
    let count = frames[0].x.len() as u32;
    let mut writer = Pc2Writer::create(&folder.join("ball.pc2"), count, 1.0, 1.0).map_err(failed)?;
    for frame in frames {
        let points: Vec<[f32; 3]> = frame.x.iter().map(|p| p.as_vec3().to_array()).collect();
        writer.push(&points).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    std::fs::write(folder.join("scene.toml"), format!("{SCENE}file = \"ball.obj\"\ncache = \"ball.pc2\"\n"))?;
    Ok(())
}
