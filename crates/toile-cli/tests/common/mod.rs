//! The built command in folders of its own.
#![allow(dead_code, reason = "each test file uses its part")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A scene small enough to run in a moment: 81 particles, 12 frames.
pub const TINY: &str = r#"toile = 1
units = "m"
up = "y"
frames = "1-12"
fps = 60

[[cloth]]
name = "rag"
shape = { kind = "sheet", size = [1.0, 1.0], resolution = 8, plane = "flat" }

[[pin]]
border = "left"

[render]
size = [120, 90]
"#;

/// A folder with the tiny scene in it.
pub struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    pub fn new() -> Desk {
        Desk::with(TINY)
    }

    pub fn with(scene: &str) -> Desk {
        let folder = tempfile::tempdir().expect("tempdir");
        let desk = Desk { folder };
        desk.write("rag.toml", scene);
        desk
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap_or_else(|e| panic!("{name}: {e}"));
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("UTF-8")
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.text(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toile"));
        command.args(line.split_whitespace()).current_dir(self.root());
        command.env("NO_COLOR", "1").stdin(Stdio::null());
        command
    }

    /// Runs `toile` with words separated by blanks.
    pub fn toile(&self, line: &str) -> Done {
        Done { line: line.into(), output: self.command(line).output().expect("start toile") }
    }

    pub fn start(&self, line: &str) -> Child {
        self.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("start toile")
    }

    /// Name and content of every file in a folder, in order.
    pub fn files(&self, name: &str) -> Vec<(String, Vec<u8>)> {
        let entries = std::fs::read_dir(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let read = |path: PathBuf| std::fs::read(path).expect("readable");
        let mut files: Vec<_> = entries
            .flatten()
            .map(|e| (e.file_name().to_string_lossy().into_owned(), read(e.path())))
            .collect();
        files.sort();
        files
    }
}

/// A command that has ended.
pub struct Done {
    line: String,
    output: Output,
}

impl Done {
    pub fn code(&self) -> Option<i32> {
        self.output.status.code()
    }

    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// Asserts the exit code, and that nothing panicked.
    #[track_caller]
    pub fn exits(self, code: i32) -> Done {
        assert_eq!(self.code(), Some(code), "toile {}\n{}{}", self.line, self.out(), self.err());
        assert!(!self.err().contains("panicked"), "toile {}\n{}", self.line, self.err());
        self
    }

    /// Asserts that standard output or error holds `text`.
    #[track_caller]
    pub fn says(self, text: &str) -> Done {
        let all = self.out() + &self.err();
        assert!(all.contains(text), "toile {} does not say {text:?}:\n{all}", self.line);
        self
    }

    /// The last line of standard output.
    #[track_caller]
    pub fn json(&self) -> Value {
        let out = self.out();
        let last = out.lines().last().unwrap_or_else(|| panic!("toile {} says nothing", self.line));
        serde_json::from_str(last).unwrap_or_else(|e| panic!("toile {}: {e}: {last}", self.line))
    }
}

/// Width and height of a PNG whose pixels all decode.
#[track_caller]
pub fn decode_png(bytes: &[u8]) -> (u32, u32) {
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "not a PNG");
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("PNG header");
    let mut pixels = vec![0; reader.output_buffer_size().expect("size")];
    let info = reader.next_frame(&mut pixels).expect("PNG pixels");
    let first = pixels[0];
    assert!(pixels.iter().any(|p| *p != first), "one colour only");
    (info.width, info.height)
}

/// Sends a signal by number to a child.
pub fn signal(child: &Child, number: &str) {
    let done = Command::new("kill").args([number, &child.id().to_string()]).status().expect("kill");
    assert!(done.success(), "kill {number}");
}

/// Waits until the child has written `path` or has ended.
pub fn wait_for(child: &mut Child, path: &Path) {
    while !path.exists() && child.try_wait().expect("child").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
