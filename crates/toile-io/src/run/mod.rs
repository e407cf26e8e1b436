//! The folder of a run: everything it wrote, in a layout that other programs can read.
//!
//! ```text
//! out/
//!   run.json            what ran: versions, input files, their hash
//!   scene.toml          the scene as simulated, overrides applied
//!   topology.toile      faces, names, material coordinates
//!   topologies/…        the same of meshes that came later, by the id that frames refer to
//!   frames/000123.toile one file per frame
//!   checkpoints/…       the two newest states to resume from
//!   stats.jsonl         one line per frame
//!   tangles.jsonl       what started through something else, and until when it was exempt
//!   edits.jsonl         what was done to cloths while they moved
//!   releases.jsonl      one line per vertex that a body was let through, and when it counts again
//!   outcome.json        how it ended
//!   certificate.json    the verdict on the frames
//!   picture.png, animation.png
//!   .lock               held while a run writes here
//! ```

mod checkpoint;
mod form;
mod frame;
mod lock;
mod log;
mod snapshot;
mod tangles;

pub use checkpoint::{Checkpoint, read_checkpoint, write_checkpoint};
pub use frame::{Frame, Role, Topology, TopologyObject, marks_of, single_precision};
pub use log::{Figures, Outcome, ReleaseLine, StatsWriter, Status, chain, read_stats};
pub use snapshot::{load_snapshot, save_snapshot};
pub use tangles::{TangleEvent, TangleLine, Tangled, tangle_lines};

use crate::atomic::{sweep, write_atomic};
use crate::container::ArrayRef;
use crate::error::{FileError, FileErrorKind};
use crate::scene::{InputFile, Scene, SceneErrors};
use crate::tailor::EditLine;
use lock::Lock;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// Version of this crate, written into runs.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The content of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Always "toile-run": marks the folder as ours.
    pub format: String,
    /// Version of the folder's layout.
    pub version: u32,
    /// Version of toile that started the run.
    pub toile: String,
    /// Name of the scene.
    pub scene: String,
    /// Folder that the scene's mesh files are relative to; none for built-in scenes.
    pub folder: Option<PathBuf>,
    /// Hash of the scene text and of every file it needs.
    pub input_hash: String,
    /// Files the scene needs.
    pub inputs: Vec<InputFile>,
}

/// What is made from the frames once they are all there. A verdict or a picture of other frames must not stay.
const RESULTS: &[&str] = &["certificate.json", "picture.png", "animation.png"];

/// What to do when the folder already holds a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Refuse.
    Refuse,
    /// Delete the old run's files, and nothing else.
    Replace,
    /// Go on with it; the scene and its files must be the same.
    Resume,
}

/// A run's folder.
#[derive(Debug)]
pub struct RunFolder {
    root: PathBuf,
    info: RunInfo,
    lock: Option<Lock>,
}

/// Hash of everything that decides a result: the scene as resolved, and the files it needs.
pub fn input_hash(scene: &Scene, inputs: &[InputFile]) -> String {
    let mut hash = Xxh3::new();
    hash.update(scene.text.as_bytes());
    for input in inputs {
        hash.update(input.path.as_bytes());
        hash.update(&input.bytes.to_le_bytes());
        hash.update(input.xxh3.as_bytes());
    }
    format!("{:016x}", hash.digest())
}

impl RunFolder {
    /// Makes, replaces or resumes a run's folder and locks it for this process.
    pub fn create(
        root: &Path,
        scene: &Scene,
        inputs: &[InputFile],
        existing: Existing,
    ) -> Result<RunFolder, FileError> {
        // Refuse before touching anything, and look again once nobody else can be writing here.
        Held::look(root)?.permit(root, existing)?;
        let info = RunInfo {
            format: "toile-run".into(),
            version: 1,
            toile: VERSION.into(),
            scene: scene.name.clone(),
            folder: scene.folder.as_ref().map(|f| std::path::absolute(f).unwrap_or_else(|_| f.clone())),
            input_hash: input_hash(scene, inputs),
            inputs: inputs.to_vec(),
        };
        for folder in [root.to_path_buf(), root.join("frames"), root.join("checkpoints")] {
            fs::create_dir_all(&folder).map_err(|e| FileError::from_io(&folder, "create", &e))?;
        }
        let lock = Lock::take(&root.join(".lock"))?;
        let held = Held::look(root)?;
        held.permit(root, existing)?;
        let run = RunFolder { root: root.to_path_buf(), info, lock: Some(lock) };
        for folder in [root.to_path_buf(), run.frames_folder(), run.checkpoints_folder()] {
            sweep(&folder);
        }
        match (held, existing) {
            (Held::Run(old), Existing::Resume) => run.same_inputs(&old)?,
            _ => run.clear()?,
        }
        write_atomic(&root.join("scene.toml"), scene.text.as_bytes())?;
        log::write_json(&root.join("run.json"), &run.info)?;
        Ok(run)
    }

    /// Opens a run's folder for reading; a run may still be writing to it.
    pub fn open(root: &Path) -> Result<RunFolder, FileError> {
        match Held::look(root)? {
            Held::Run(info) => Ok(RunFolder { root: root.to_path_buf(), info: *info, lock: None }),
            _ => Err(FileError::new(
                FileErrorKind::Missing,
                root,
                "this folder does not hold a toile run (no run.json)",
                "give the output folder of `toile run`",
            )),
        }
    }

    /// Whether a folder looks like a run.
    pub fn is_run(root: &Path) -> bool {
        matches!(Held::look(root), Ok(Held::Run(_)))
    }

    /// The scene of this run, from the copy in its folder; mesh files are read where they were.
    pub fn scene(&self) -> Result<Scene, SceneErrors> {
        let path = self.root.join("scene.toml");
        let mut scene = Scene::load_from(&path, self.info.folder.as_deref(), &[])?;
        scene.name.clone_from(&self.info.scene);
        Ok(scene)
    }

    fn same_inputs(&self, old: &RunInfo) -> Result<(), FileError> {
        if old.input_hash == self.info.input_hash {
            return Ok(());
        }
        let changed = self.info.inputs.iter().find(|i| !old.inputs.contains(i));
        let what = changed.map_or("the scene".to_string(), |i| format!("\"{}\"", i.path));
        Err(FileError::new(
            FileErrorKind::Refused,
            &self.root,
            format!("{what} has changed since this run started: a resumed run would mix two scenes"),
            "restore it, or start again in another folder",
        ))
    }

    /// Deletes the files of the old run, and only those.
    fn clear(&self) -> Result<(), FileError> {
        let numbered = [self.frames_folder(), self.checkpoints_folder()];
        let numbered = numbered.iter().flat_map(|f| checkpoint::numbered(f)).map(|(_, path)| path);
        let later = fs::read_dir(self.topologies_folder()).into_iter().flatten().flatten();
        let later = later.map(|entry| entry.path()).filter(|p| p.extension().is_some_and(|e| e == "toile"));
        let later: Vec<PathBuf> = later.collect();
        let single = [
            "run.json",
            "scene.toml",
            "topology.toile",
            "stats.jsonl",
            "edits.jsonl",
            "releases.jsonl",
            "tangles.jsonl",
            "outcome.json",
        ];
        let single = single.iter().chain(RESULTS);
        // run.json goes last: until then the folder is still known as a run and can be replaced again.
        let single = single.rev().map(|name| self.root.join(name));
        for path in numbered.chain(later).chain(single) {
            match fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(FileError::from_io(&path, "delete", &e));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What ran.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// A word about a run that ended without letting go of the folder.
    pub fn lock_note(&self) -> Option<&str> {
        self.lock.as_ref().and_then(|l| l.note.as_deref())
    }

    fn frames_folder(&self) -> PathBuf {
        self.root.join("frames")
    }

    fn checkpoints_folder(&self) -> PathBuf {
        self.root.join("checkpoints")
    }

    /// Where a frame is, or will be.
    pub fn frame_path(&self, frame: u32) -> PathBuf {
        self.frames_folder().join(format!("{frame:06}.toile"))
    }

    /// The frames on disk, in order.
    pub fn frames(&self) -> Vec<u32> {
        checkpoint::numbered(&self.frames_folder()).into_iter().map(|(f, _)| f).collect()
    }

    /// Writes a frame.
    pub fn write_frame(&self, frame: &Frame) -> Result<(), FileError> {
        frame.write(&self.frame_path(frame.frame))
    }

    /// Reads a frame; its number must be that of its name.
    pub fn read_frame(&self, number: u32) -> Result<Frame, FileError> {
        let path = self.frame_path(number);
        let frame = Frame::read(&path)?;
        if frame.frame != number {
            return Err(FileError::new(
                FileErrorKind::Corrupt,
                path,
                format!("the file holds frame {}, its name says {number}", frame.frame),
                "frames were renamed or swapped; delete them and resume the run",
            ));
        }
        Ok(frame)
    }

    /// Writes the topology, once per run.
    pub fn write_topology(&self, topology: &Topology) -> Result<(), FileError> {
        topology.write(&self.root.join("topology.toile"))
    }

    /// Reads the topology that the run started with.
    pub fn read_topology(&self) -> Result<Topology, FileError> {
        Topology::read(&self.root.join("topology.toile"))
    }

    fn topologies_folder(&self) -> PathBuf {
        self.root.join("topologies")
    }

    fn later_topology(&self, id: u64) -> PathBuf {
        self.topologies_folder().join(format!("{id:016x}.toile"))
    }

    /// Writes the topology of meshes that came later, once each.
    pub fn write_later_topology(&self, topology: &Topology) -> Result<(), FileError> {
        let (folder, path) = (self.topologies_folder(), self.later_topology(topology.id()));
        if path.exists() {
            return Ok(());
        }
        fs::create_dir_all(&folder).map_err(|e| FileError::from_io(&folder, "create", &e))?;
        topology.write(&path)
    }

    /// Reads the topology of meshes that came later, by the id that a frame has; nothing where there is none.
    pub fn read_later_topology(&self, id: u64) -> Result<Option<Topology>, FileError> {
        let path = self.later_topology(id);
        if path.exists() { Topology::read(&path).map(Some) } else { Ok(None) }
    }

    /// Appends to `edits.jsonl`; without any lines there is no such file.
    pub fn append_edits(&self, lines: &[EditLine]) -> Result<(), FileError> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut file = StatsWriter::append_to(&self.root.join("edits.jsonl"))?;
        lines.iter().try_for_each(|line| file.append(line))
    }

    /// The lines of `edits.jsonl`; none without the file.
    pub fn read_edits(&self) -> Result<Vec<EditLine>, FileError> {
        log::read_lines(
            &self.root.join("edits.jsonl"),
            "an edit",
            "start the run again: it would be done twice",
        )
    }

    /// Writes the state after a frame, and drops all but the two newest.
    pub fn save_checkpoint(&self, frame: u32, arrays: &[(&str, ArrayRef<'_>)]) -> Result<(), FileError> {
        checkpoint::save(&self.checkpoints_folder(), frame, arrays)
    }

    /// The newest checkpoint that can be read, not after frame `last`.
    pub fn newest_checkpoint(&self, last: u32) -> Option<Checkpoint> {
        checkpoint::newest(&self.checkpoints_folder(), last)
    }

    /// Opens `stats.jsonl` for more lines.
    pub fn stats(&self) -> Result<StatsWriter, FileError> {
        StatsWriter::append_to(&self.root.join("stats.jsonl"))
    }

    /// The lines of `stats.jsonl`, and whether the last one was incomplete.
    pub fn read_stats(&self) -> Result<(Vec<serde_json::Value>, bool), FileError> {
        read_stats(&self.root.join("stats.jsonl"))
    }

    /// Appends what was let through to `releases.jsonl`; without any there is no such file.
    pub fn append_releases(&self, lines: &[ReleaseLine]) -> Result<(), FileError> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut file = StatsWriter::append_to(&self.root.join("releases.jsonl"))?;
        lines.iter().try_for_each(|line| file.append(line))
    }

    /// Appends to `tangles.jsonl`; without any lines there is no such file.
    pub fn append_tangles(&self, lines: &[TangleLine]) -> Result<(), FileError> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut file = StatsWriter::append_to(&self.root.join("tangles.jsonl"))?;
        lines.iter().try_for_each(|line| file.append(line))
    }

    /// The lines of `tangles.jsonl`; none without the file.
    pub fn read_tangles(&self) -> Result<Vec<TangleLine>, FileError> {
        tangles::read_tangles(&self.root)
    }

    /// The lines of `releases.jsonl`; none without the file.
    pub fn read_releases(&self) -> Result<Vec<ReleaseLine>, FileError> {
        log::read_releases(&self.root)
    }

    /// Whether the scene asks for the guarantee of contact: what `contact.guarantee` says in the scene as simulated;
    /// `None` where it says nothing.
    pub fn guarantee(&self) -> Option<bool> {
        let text = fs::read_to_string(self.root.join("scene.toml")).ok()?;
        let scene: toml::Table = text.parse().ok()?;
        match scene.get("contact")?.get("guarantee")? {
            toml::Value::Boolean(on) => Some(*on),
            toml::Value::String(word) => Some(word != "off"),
            _ => None,
        }
    }

    /// What the run counted, frame by frame, for its certificate.
    pub fn figures(&self) -> Figures {
        Figures::read(&self.root)
    }

    /// Forgets frames and statistics after `last` (all of them if there is none), and what was concluded from
    /// them: a run resumed there writes them anew.
    pub fn rewind(&self, last: Option<u32>) -> Result<(), FileError> {
        let after = |frame: u32| last.is_none_or(|last| frame > last);
        for frame in self.frames().into_iter().filter(|&f| after(f)) {
            let path = self.frame_path(frame);
            fs::remove_file(&path).map_err(|e| FileError::from_io(&path, "delete", &e))?;
        }
        for (_, path) in
            checkpoint::numbered(&self.checkpoints_folder()).into_iter().filter(|(f, _)| after(*f))
        {
            let _ = fs::remove_file(path);
        }
        for name in RESULTS.iter().chain(&["outcome.json"]) {
            let _ = fs::remove_file(self.root.join(name));
        }
        log::trim_stats(&self.root.join("stats.jsonl"), last)?;
        for name in ["releases.jsonl", "tangles.jsonl", "edits.jsonl"] {
            let path = self.root.join(name);
            log::trim_stats(&path, last)?;
            // The file says that something was let through; empty, it would say so of nothing.
            if fs::metadata(&path).is_ok_and(|file| file.len() == 0) {
                fs::remove_file(&path).map_err(|e| FileError::from_io(&path, "delete", &e))?;
            }
        }
        Ok(())
    }

    /// Writes how the run ended.
    pub fn write_outcome(&self, outcome: &Outcome) -> Result<(), FileError> {
        outcome.write(&self.root.join("outcome.json"))
    }

    /// How the run ended; `None` while it goes, or if it was killed.
    pub fn outcome(&self) -> Result<Option<Outcome>, FileError> {
        match Outcome::read(&self.root.join("outcome.json")) {
            Err(e) if e.kind == FileErrorKind::Missing => Ok(None),
            other => other.map(Some),
        }
    }
}

/// What a folder holds.
enum Held {
    Nothing,
    Run(Box<RunInfo>),
    /// Something else; the name of one thing in it.
    Other(String),
}

impl Held {
    fn look(root: &Path) -> Result<Held, FileError> {
        match log::read_json::<RunInfo>(&root.join("run.json"), "delete the folder if it is not needed") {
            Ok(info) if info.format == "toile-run" && info.version == 1 => {
                return Ok(Held::Run(Box::new(info)));
            }
            Ok(info) if info.format == "toile-run" => {
                let message =
                    format!("a run folder of version {}, this program knows version 1", info.version);
                return Err(FileError::new(FileErrorKind::Version, root, message, "use a newer toile"));
            }
            Ok(_) => return Ok(Held::Other("run.json".into())),
            Err(e) if e.kind == FileErrorKind::Corrupt => return Ok(Held::Other("run.json".into())),
            Err(_) => {}
        }
        match fs::read_dir(root) {
            Ok(entries) => {
                // A lock and empty sub-folders are what a run killed in its first moment leaves.
                let ours = ["frames", "checkpoints", ".lock", "scene.toml"];
                let names = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned());
                let names: Vec<String> = names.filter(|n| !n.ends_with(".tmp")).collect();
                let started =
                    names.iter().any(|n| n == ".lock") && names.iter().all(|n| ours.contains(&n.as_str()));
                Ok(match names.into_iter().next() {
                    Some(name) if !started => Held::Other(name),
                    _ => Held::Nothing,
                })
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Held::Nothing),
            Err(e) => Err(FileError::from_io(root, "open", &e)),
        }
    }

    fn permit(&self, root: &Path, existing: Existing) -> Result<(), FileError> {
        match (self, existing) {
            (Held::Other(name), _) => {
                let mut error = not_ours(root);
                error.message = format!("this folder holds something else (\"{name}\"), not a toile run");
                Err(error)
            }
            (Held::Run(info), Existing::Refuse) => Err(FileError::new(
                FileErrorKind::Refused,
                root,
                format!("this folder already holds a run of \"{}\"", info.scene),
                "give another folder (--out), replace it (--force), or go on with it (toile resume)",
            )),
            (Held::Nothing, Existing::Resume) => Err(FileError::new(
                FileErrorKind::Missing,
                root,
                "there is no run to resume here",
                "give the folder of an interrupted run",
            )),
            _ => Ok(()),
        }
    }
}

fn not_ours(root: &Path) -> FileError {
    FileError::new(
        FileErrorKind::Refused,
        root,
        "this folder holds something else than a toile run",
        "give a new or empty folder: nothing of yours is ever overwritten",
    )
}
