//! Starting the program in a folder of its own.
#![allow(dead_code, reason = "each test file uses its part")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A small scene that runs in well under a second.
pub(crate) const SMALL: &str = r#"# A test.
seconds = 0.3
fps = 50
[sph]
spacing = 0.05
[output]
checkpoint_every = 2
picture_every = 5
[picture]
width = 160
height = 90
[liquid.water]
fill = [{ box = { min = [0, 0, 0], max = [0.4, 0.6, 0.4] } }]
[wall.tank]
shape = { box = { min = [0, 0, 0], max = [1, 1, 0.4] } }
"#;

/// A folder to work in; it goes when the value goes.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

/// What the program answered.
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err))
    }
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A place with the small scene in it.
    pub(crate) fn with_scene() -> Self {
        let place = Self::new();
        place.write("small.toml", SMALL);
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meniscus"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Answer { code: status.code().expect("no signal"), out: text(stdout), err: text(stderr) }
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Every file below a folder with its contents, in a fixed order.
    pub(crate) fn files(&self, folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
        fn visit(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    visit(&path, files);
                } else {
                    files.push((path.clone(), std::fs::read(path).unwrap()));
                }
            }
        }
        let root = self.path(folder);
        let mut files = Vec::new();
        visit(&root, &mut files);
        files.iter_mut().for_each(|(path, _)| *path = path.strip_prefix(&root).unwrap().to_owned());
        files.sort();
        files
    }
}
