//! A zoo of meshes that are wrong in every way we know: each is repaired and runs, or is refused by its name.

mod animals;
mod mesh;

pub use mesh::Draft;

use crate::session::{LabError, Session};
use crate::watched::Watched;
use animals::Animal;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;
use toile_io::build::build;
use toile_io::scene::{Scene, resolve};

/// Frames that each must run.
const FRAMES: usize = 60;

/// The mesh falls on a ball.
const SCENE: &str = "toile = 1\nunits = \"m\"\nup = \"y\"\nframes = \"1-60\"\nfps = 60\n\
    [[body]]\nname = \"ball\"\nshape = { kind = \"sphere\", radius = 0.15, subdivisions = 2 }\n\
    [air]\ndrag = 4.0\n[[cloth]]\nname = \"animal\"\nfile = \"mesh.obj\"\ntranslate = [0, 0.2, 0]\n";

/// How it ended.
pub enum End {
    /// Ran to the end.
    Ran(Course),
    /// Refused before anything moved.
    Refused {
        /// The words.
        text: String,
        /// Whether they say what, where and what to do.
        named: bool,
        /// How long it took [s].
        seconds: f64,
    },
    /// Stopped on the way.
    Stopped(String),
    /// Fell over.
    Panicked,
}

/// What was seen on the way.
#[derive(Default)]
pub struct Course {
    /// What was told at the start.
    pub notes: Vec<String>,
    /// Pairs that intersect at the start, and most in any frame, without those of bodies with vertices they are let through.
    pub tangled: [usize; 2],
    /// Most vertices that bodies were let through at once.
    pub let_through: usize,
    /// Coordinates that are no numbers, over all frames.
    pub not_finite: usize,
    /// Whether vertices or polygons are others than those of the file.
    pub strange: bool,
    /// Time [s].
    pub seconds: f64,
}

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let zoo = animals::all();
    let mut rows = Vec::new();
    let (mut ran, mut repaired, mut unnamed, mut panics, mut stopped) = (0, 0, 0, 0, 0);
    let (mut worse, mut not_finite, mut strange, mut refused) = (0, 0, 0, 0);
    let (mut refusals, mut runs) = (Vec::new(), Vec::new());
    let mut led_in = 0;
    for (number, animal) in zoo.iter().enumerate() {
        let folder = session.folder().join(format!("{number:03}"));
        let end = keep(animal, &folder)?;
        let (what, text) = match &end {
            End::Ran(course) => {
                ran += 1;
                repaired += usize::from(course.notes.iter().any(|note| note.contains("cloth `animal`: [")));
                if animal.name == animals::LED_IN {
                    led_in = course.tangled[1];
                } else {
                    worse += usize::from(course.tangled[1] > course.tangled[0]);
                }
                not_finite += course.not_finite;
                strange += usize::from(course.strange);
                runs.push(course.seconds);
                let [start, most] = course.tangled;
                let through = course.let_through;
                let figures =
                    format!("{start} pairs intersect at the start, {most} at most, {through} let through");
                ("ran", format!("{figures}, {:.2} s; {}", course.seconds, course.notes.join("; ")))
            }
            End::Refused { text, named, seconds } => {
                refused += 1;
                unnamed += usize::from(!named);
                refusals.push(*seconds);
                ("refused", text.clone())
            }
            End::Stopped(text) => {
                stopped += 1;
                ("stopped", text.clone())
            }
            End::Panicked => {
                panics += 1;
                ("panicked", String::new())
            }
        };
        let text = text.replace(['"', '\n'], " ");
        rows.push(format!("{number},\"{}\",{what},\"{text}\"", animal.name));
    }
    session.at_least("meshes", zoo.len() as f64, "", 60.0);
    session.at_least("meshes that ran 60 frames", f64::from(ran), "", 40.0);
    session.info("of these, meshes with something to repair or tell", repaired as f64, "");
    session.info("meshes that were refused", f64::from(refused), "");
    session.equal("refused without what, where and a fix", unnamed as f64, "", 0.0);
    session.equal("stopped on the way", f64::from(stopped), "", 0.0);
    session.equal("panics", f64::from(panics), "", 0.0);
    session.equal("runs with more intersections than the mesh had", worse as f64, "", 0.0);
    session.info("pairs that intersect where a pin is led into a body", led_in as f64, "");
    session.equal("coordinates that are no numbers", not_finite as f64, "", 0.0);
    session.equal("runs in other vertices or polygons than the file's", strange as f64, "", 0.0);
    let slowest = refusals.iter().copied().fold(0.0, f64::max);
    session.info("slowest refusal, under a second asked for", slowest, "s");
    session.time("refusal", "s", &refusals);
    session.time("run of 60 frames", "s", &runs);
    session.csv("zoo", "number,mesh,end,words", &rows)
}

fn keep(animal: &Animal, folder: &Path) -> Result<End, LabError> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("mesh.obj"), &animal.text)?;
    std::fs::write(folder.join("scene.toml"), format!("{SCENE}{}{}", animal.cloth, animal.scene))?;
    let count = |keyword: &str| animal.text.lines().filter(|line| line.starts_with(keyword)).count();
    Ok(play(folder, FRAMES, Some([count("v "), count("f ")])))
}

/// Loads the scene in a folder as users do, and runs it. `counts` are the vertices and polygons of its cloth's file.
pub fn play(folder: &Path, frames: usize, counts: Option<[usize; 2]>) -> End {
    let start = Instant::now();
    catch_unwind(AssertUnwindSafe(|| attempt(folder, frames, counts, start))).unwrap_or(End::Panicked)
}

fn attempt(folder: &Path, frames: usize, counts: Option<[usize; 2]>, start: Instant) -> End {
    let seconds = || start.elapsed().as_secs_f64();
    let scene = resolve(&folder.display().to_string())
        .map_err(|error| (error.to_string(), !error.help.is_empty()))
        .and_then(|source| {
            Scene::open(&source, &[]).map_err(|errors| {
                let named = errors.errors.iter().all(|e| !e.message.is_empty() && !e.help.is_empty());
                (errors.to_string(), named && !errors.errors.is_empty())
            })
        });
    let scene = match scene {
        Ok(scene) => scene,
        Err((text, named)) => return End::Refused { text, named, seconds: seconds() },
    };
    let built = match build(&scene) {
        Ok(built) => built,
        Err(error) => {
            // The object in backticks, and the fix after a semicolon.
            let text = error.to_string();
            let named = text.contains('`') && text.contains("; ");
            return End::Refused { text, named, seconds: seconds() };
        }
    };
    let polygons = built.exports[0].polygons.len();
    let mut course = Course { notes: built.notes, ..Course::default() };
    course.notes.extend(scene.notes.iter().map(|note| note.message.clone()));
    let mut watched = match Watched::of(built.world, scene.frame_time) {
        Ok(watched) => watched,
        Err(error) => return End::Stopped(error.to_string()),
    };
    course.strange = counts.is_some_and(|counts| counts != [watched.world.positions(0).len(), polygons]);
    course.tangled = [watched.intersections(); 2];
    for _ in 0..frames {
        if let Err(error) = watched.step() {
            return End::Stopped(error.to_string());
        }
        course.tangled[1] = course.tangled[1].max(watched.intersections());
        course.let_through = course.let_through.max(watched.world.let_through().len());
        course.not_finite += watched.positions().iter().filter(|p| !p.is_finite()).count();
    }
    course.seconds = seconds();
    End::Ran(course)
}
