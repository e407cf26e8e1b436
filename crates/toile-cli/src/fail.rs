//! How commands fail: a message people can act on, and a code programs can act on.

use crate::Context;
use miette::{LabeledSpan, MietteDiagnostic, MietteHandlerOpts, NamedSource, Report};
use std::process::ExitCode;
use toile_io::error::{FileError, FileErrorKind};
use toile_io::scene::SceneErrors;

/// Why a command ended without success.
pub enum Failure {
    /// The verdict is no; the command has already said why.
    Verdict,
    /// The scene is refused, with places in its text.
    Scene(SceneErrors),
    /// The scene's content is refused, without a place.
    Refused(String),
    /// A file cannot be read or written.
    File(FileError),
    /// The simulation could not go on.
    Simulation(String),
    /// Stopped from outside.
    Interrupted,
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Failure::File(error)
    }
}

impl From<SceneErrors> for Failure {
    fn from(errors: SceneErrors) -> Self {
        Failure::Scene(errors)
    }
}

impl From<toile_io::build::BuildError> for Failure {
    fn from(error: toile_io::build::BuildError) -> Self {
        Failure::Refused(error.to_string())
    }
}

impl Failure {
    fn code(&self) -> u8 {
        match self {
            Failure::Verdict => 1,
            Failure::Scene(_) | Failure::Refused(_) => 3,
            Failure::File(error) if error.kind == FileErrorKind::DiskFull => 28,
            Failure::File(_) => 4,
            Failure::Simulation(_) => 5,
            Failure::Interrupted => 130,
        }
    }

    /// A short word for programs.
    pub fn reason(&self) -> &'static str {
        match self {
            Failure::Verdict => "verdict",
            Failure::Scene(_) | Failure::Refused(_) => "input",
            Failure::File(error) if error.kind == FileErrorKind::DiskFull => "disk-full",
            Failure::File(_) => "file",
            Failure::Simulation(_) => "step",
            Failure::Interrupted => "signal",
        }
    }

    /// The message alone.
    pub fn message(&self) -> String {
        match self {
            Failure::Verdict => "the verdict is no".into(),
            Failure::Scene(errors) => errors.to_string(),
            Failure::Refused(text) | Failure::Simulation(text) => text.clone(),
            Failure::File(error) => error.to_string(),
            Failure::Interrupted => "stopped from outside; `toile resume` goes on".into(),
        }
    }

    /// Says what is wrong on standard error and returns the exit code.
    pub fn report(self, context: Context) -> ExitCode {
        match &self {
            Failure::Verdict => {}
            Failure::Scene(errors) => show_scene(errors),
            Failure::Refused(text) | Failure::Simulation(text) => eprintln!("error: {}", with_help(text)),
            other => eprintln!("error: {}", other.message()),
        }
        if context.json && !matches!(self, Failure::Verdict | Failure::Interrupted) {
            let line = serde_json::json!({
                "status": "failed", "reason": self.reason(), "message": self.message(), "exit": self.code()
            });
            println!("{line}");
        }
        ExitCode::from(self.code())
    }
}

/// The engine says "problem; fix" in a sentence: the fix goes where every other message has it.
fn with_help(text: &str) -> String {
    let line = |line: &str| match line.split_once("; ") {
        Some((problem, fix)) => format!("{problem}\n  help: {fix}"),
        None => line.to_string(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Every error with the place in the file underlined.
fn show_scene(errors: &SceneErrors) {
    // A message on one line can be searched and copied; a terminal wraps it by itself. The hook can only be set
    // once, and a second attempt would set the same.
    let _ = miette::set_hook(Box::new(|_| Box::new(MietteHandlerOpts::new().wrap_lines(false).build())));
    for error in &errors.errors {
        let mut message = error.message.clone();
        if let Some(origin) = &error.from_override {
            message = format!("{message} (from --set {origin})");
        }
        let mut diagnostic = MietteDiagnostic::new(message).with_help(error.help.clone());
        if !error.span.is_empty() {
            diagnostic = diagnostic.with_label(LabeledSpan::underline(error.span.clone()));
        }
        let source = NamedSource::new(&errors.source_name, errors.text.clone());
        eprintln!("{:?}", Report::new(diagnostic).with_source_code(source));
    }
    let count = errors.errors.len();
    eprintln!("{} is refused: {count} problem{}", errors.source_name, if count == 1 { "" } else { "s" });
}
