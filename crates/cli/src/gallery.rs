//! `list` and `new`.

use crate::arguments::{List, New};
use crate::failure::Failure;
use crate::output;
use meniscus::gallery::{self, GALLERY};
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn list(arguments: &List) -> Result<ExitCode, Failure> {
    let mut rows = Vec::new();
    for scene in GALLERY {
        let loaded = gallery::load_gallery(scene, &[])?;
        let method = loaded.scene.method.name();
        rows.push((scene.name, method, loaded.scene.figure, scene.summary()));
    }
    if arguments.json {
        let row = |(name, method, figure, summary)| json!({ "name": name, "method": method, "figure": figure, "summary": summary });
        return output::print_json(&rows.into_iter().map(row).collect::<Vec<_>>());
    }
    for (name, method, figure, summary) in rows {
        let figure = if figure.is_empty() { String::new() } else { format!("   [{figure}]") };
        say!("{name:16} {method:12} {summary}{figure}");
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn new(arguments: &New) -> Result<ExitCode, Failure> {
    let Some(scene) = gallery::find(&arguments.name) else {
        return Err(gallery::unknown(&arguments.name).into());
    };
    let file = format!("{}.toml", scene.name);
    for (name, bytes) in scene.assets {
        // Scenes share files.
        if std::fs::read(name).is_ok_and(|there| there == *bytes) {
            continue;
        }
        write_new(Path::new(name), bytes)?;
    }
    write_new(Path::new(&file), scene.text.as_bytes())?;
    say!("{file}: edit it, then  meniscus check {file} · meniscus run {file}");
    Ok(ExitCode::SUCCESS)
}

/// Writes a file that does not exist yet: nothing of the user's is overwritten.
fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let fail = |e: std::io::Error| {
        let why = match e.kind() {
            std::io::ErrorKind::AlreadyExists => "it is there already, and nothing is overwritten".to_owned(),
            _ => e.to_string(),
        };
        Failure::input("cannot-write", format!("cannot write {}: {why}", path.display()))
    };
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(fail)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(fail)?;
    file.write_all(bytes).map_err(fail)
}
