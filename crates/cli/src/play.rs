//! `play` and `view`.

use crate::arguments::{Play, Serve, View};
use crate::failure::Failure;
use crate::machine;
use meniscus::gallery::{self, GALLERY};
use meniscus::record::RunFolder;
use meniscus::{RunError, check_memory};
use meniscus_viewer::{Card, Gallery, Options, PLAY_RATE, Server, Show, ViewerError};
use std::process::{Command, ExitCode, Stdio};

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
    serve(Show::Record(RunFolder::open(&arguments.dir)?), &arguments.serve)
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
        eprintln!(
            "warning: listening at {}: whoever can reach this machine and knows the link can look and reach in; the link travels unencrypted",
            server.address()
        );
    }
    let link = server.link();
    println!("{link}");
    if !arguments.no_open && open_browser(&link) {
        println!("opened in the browser; Ctrl-C stops");
    } else {
        println!("open the link in a browser; Ctrl-C stops");
        println!("over SSH: ssh -L {0}:127.0.0.1:{0} THIS-MACHINE, then open it there", server.address().port());
    }
    server.wait();
    Ok(ExitCode::SUCCESS)
}

/// Opens a link where there is a screen; whether a browser was started.
fn open_browser(link: &str) -> bool {
    let (program, arguments): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else if ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty())) {
        ("xdg-open", &[])
    } else {
        return false;
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
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
