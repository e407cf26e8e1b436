//! One run of an experiment: where it writes and what it has found so far.

use crate::plot;
pub use crate::plot::{Chart, Curve};
use crate::report::{Figure, Op, Report, Timing};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Why an experiment could not be done. (One that is done and fails its limits is not an error.)
#[derive(Debug)]
pub struct LabError(pub String);

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LabError {}

macro_rules! lab_error_from {
    ($($error:ty),+) => {
        $(impl From<$error> for LabError {
            fn from(error: $error) -> Self {
                LabError(error.to_string())
            }
        })+
    };
}
lab_error_from!(
    std::io::Error,
    toile::SetupError,
    toile::FrameError,
    toile::mesh::ShapeError,
    toile::mesh::MeshError,
    rayon::ThreadPoolBuildError
);

/// One run.
pub struct Session {
    id: String,
    folder: PathBuf,
    /// Take the long version.
    pub full: bool,
    /// Independent references, if present.
    pub data: Option<PathBuf>,
    figures: Vec<Figure>,
    timing: Vec<Timing>,
    files: Vec<String>,
    notes: Vec<String>,
    start: Instant,
}

impl Session {
    /// Starts a run of `id` that writes into `folder`.
    pub fn new(id: &str, folder: &Path, full: bool) -> Result<Session, LabError> {
        std::fs::create_dir_all(folder)
            .map_err(|error| LabError(format!("cannot create the folder {}: {error}", folder.display())))?;
        let data = std::env::var_os("TOILE_DATA").map(PathBuf::from).filter(|path| path.is_dir());
        Ok(Session {
            id: id.to_string(),
            folder: folder.to_path_buf(),
            full,
            data,
            figures: Vec::new(),
            timing: Vec::new(),
            files: Vec::new(),
            notes: Vec::new(),
            start: Instant::now(),
        })
    }

    /// Records a figure that must be at most `limit`.
    pub fn at_most(&mut self, name: impl Into<String>, value: f64, unit: &'static str, limit: f64) {
        self.figures.push(Figure::new(name, value, unit, Op::AtMost, limit));
    }

    /// Records a figure that must be at least `limit`.
    pub fn at_least(&mut self, name: impl Into<String>, value: f64, unit: &'static str, limit: f64) {
        self.figures.push(Figure::new(name, value, unit, Op::AtLeast, limit));
    }

    /// Records a figure that must be `limit`.
    pub fn equal(&mut self, name: impl Into<String>, value: f64, unit: &'static str, limit: f64) {
        self.figures.push(Figure::new(name, value, unit, Op::Equal, limit));
    }

    /// Records a figure without judging it.
    pub fn info(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.figures.push(Figure::new(name, value, unit, Op::Info, 0.0));
    }

    /// Records times.
    pub fn time(&mut self, name: impl Into<String>, unit: &'static str, samples: &[f64]) {
        self.timing.push(Timing::of(name, unit, samples));
    }

    /// Records something a reader should know.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// The text of a file of independent references, or a note that it was not there.
    pub fn reference(&mut self, name: &str) -> Option<String> {
        let text = self.data.as_ref().and_then(|folder| std::fs::read_to_string(folder.join(name)).ok());
        if text.is_none() {
            self.note(format!("cross-check with {name} skipped: not under $TOILE_DATA"));
        }
        text
    }

    /// Writes a table.
    pub fn csv(&mut self, name: &str, header: &str, rows: &[String]) -> Result<(), LabError> {
        let mut text = format!("{header}\n");
        for row in rows {
            text.push_str(row);
            text.push('\n');
        }
        self.write(&format!("{name}.csv"), text.as_bytes())
    }

    /// Writes a plot.
    pub fn plot(&mut self, name: &str, chart: Chart) -> Result<(), LabError> {
        self.write(&format!("{name}.svg"), plot::svg(chart).as_bytes())
    }

    /// Where it writes.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file of any other kind.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), LabError> {
        let path = self.folder.join(name);
        std::fs::write(&path, bytes)
            .map_err(|error| LabError(format!("cannot write {}: {error}", path.display())))?;
        self.files.push(path.display().to_string());
        Ok(())
    }

    /// Ends the run.
    pub fn finish(self) -> Report {
        Report {
            id: self.id,
            pass: !self.figures.is_empty() && self.figures.iter().all(|figure| figure.pass),
            figures: self.figures,
            timing: self.timing,
            files: self.files,
            notes: self.notes,
            seconds: self.start.elapsed().as_secs_f64(),
        }
    }
}
