//! `play` and `view`.

use crate::arguments::{Play, Serve, View};
use crate::failure::Failure;
use crate::machine;
use crate::run::tell_unless_done;
use meniscus::gallery::{self, GALLERY};
use meniscus::record::RunFolder;
use meniscus::{RunError, check_memory};
use meniscus_viewer::{Card, Gallery, Options, PLAY_RATE, Server, Show, ViewerError};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

pub(crate) fn play(arguments: Play) -> Result<ExitCode, Failure> {
    let threads = machine::threads(arguments.threads)?;
    // What is set by hand comes last and wins.
    let mut overrides = vec![format!("fps={PLAY_RATE:?}")];
    overrides.extend(arguments.set);
    let scene = gallery::load(&arguments.scene, &overrides)?;
    check_memory(&scene, machine::free_memory())?;
    let show = Show::Live { scene: Box::new(scene), gallery: all_scenes()?, threads, sessions: arguments.log };
    serve(show, &arguments.serve)
}

pub(crate) fn view(arguments: View) -> Result<ExitCode, Failure> {
    let folder = RunFolder::open(&arguments.dir)?;
    tell_unless_done(&folder)?;
    serve(Show::Record(folder), &arguments.serve)
}

fn all_scenes() -> Result<Gallery, Failure> {
    let mut cards = Vec::new();
    for scene in GALLERY {
        let loaded = gallery::load_gallery(scene, &[])?;
        cards.push(Card {
            name: scene.name.into(),
            title: loaded.scene.title,
            summary: scene.summary().into(),
            thumbnail: scene.thumbnail(),
        });
    }
    let load = |name: &str| {
        let scene = gallery::find(name).ok_or_else(|| format!("the gallery has no scene `{name}`"))?;
        let loaded = gallery::load_gallery(scene, &[format!("fps={PLAY_RATE:?}")]).map_err(|e| e.to_string())?;
        check_memory(&loaded, machine::free_memory()).map_err(|e| e.to_string())?;
        Ok(loaded)
    };
    Ok(Gallery { cards, load: Box::new(load) })
}

fn serve(show: Show, arguments: &Serve) -> Result<ExitCode, Failure> {
    let options = Options {
        bind: arguments.bind,
        port: arguments.port,
        names: arguments.hosts.clone(),
        token: std::env::var("MENISCUS_TOKEN").ok(),
    };
    let server = Server::start(show, &options)?;
    if !arguments.bind.is_loopback() {
        note!(
            "warning: listening at {}: whoever can reach this machine and knows the link can look and reach in; the link travels unencrypted",
            server.address()
        );
    }
    let link = server.link();
    say!("{link}");
    if !arguments.no_open && open_browser(&link) {
        say!("opened in the browser; Ctrl-C stops");
    } else {
        say!("open the link in a browser; Ctrl-C stops");
        say!("over SSH: ssh -L {0}:127.0.0.1:{0} THIS-MACHINE, then open it there", server.address().port());
    }
    server.wait();
    Ok(ExitCode::SUCCESS)
}

/// The program that opens a page where there is a screen, and its arguments.
pub(crate) fn browser() -> Option<(&'static str, &'static [&'static str])> {
    let screen =
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty()));
    if cfg!(target_os = "macos") {
        Some(("open", &[]))
    } else if cfg!(windows) {
        Some(("rundll32", &["url.dll,FileProtocolHandler"]))
    } else {
        screen().then_some(("xdg-open", &[]))
    }
}

/// Opens a link where there is a screen; whether a browser was started.
fn open_browser(link: &str) -> bool {
    let Some((program, arguments)) = browser() else { return false };
    // Whoever lists the processes of this machine reads their arguments: the link, with its token, is in a file instead.
    let Ok(page) = write_redirect(link) else { return false };
    let mut command = Command::new(program);
    command.args(arguments).arg(&page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let opened = command.spawn().is_ok();
    std::thread::spawn(move || {
        std::thread::sleep(REDIRECT_LIFE);
        let _ = std::fs::remove_file(page);
    });
    opened
}

/// How long a browser has to read the file that leads to the link.
const REDIRECT_LIFE: Duration = Duration::from_secs(60);

/// A page that only this user can read and that leads to a link.
fn write_redirect(link: &str) -> std::io::Result<PathBuf> {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
    let folder = folder.unwrap_or_else(std::env::temp_dir);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // A file of that name that is there already is not ours, or of a process long gone.
    for number in 0.. {
        let path = folder.join(format!("meniscus-{}-{number}.html", std::process::id()));
        match options.open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < 100 => {}
            Err(error) => return Err(error),
            Ok(mut file) => {
                let page = format!(
                    "<!doctype html><meta charset=utf-8><title>Meniscus</title>\
                     <meta http-equiv=refresh content=\"0; url={link}\"><a href=\"{link}\">{link}</a>\n"
                );
                return file.write_all(page.as_bytes()).map(|()| path);
            }
        }
    }
    Err(std::io::ErrorKind::AlreadyExists.into())
}

impl From<ViewerError> for Failure {
    fn from(error: ViewerError) -> Self {
        match error {
            ViewerError::Scene(error) => error.into(),
            ViewerError::Record(error) => error.into(),
            ViewerError::Build(error) => error.into(),
            ViewerError::NoFrames(dir) => RunError::NoFrames { dir }.into(),
            other => Self::input("viewer", other.to_string()),
        }
    }
}
