//! `play` and `view`: the link, the browser, and the warning before others are let in.

mod program;

use program::Place;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// A program that serves until this goes.
struct Serving {
    child: Child,
    out: BufReader<ChildStdout>,
    /// The link that it printed.
    link: String,
}

impl Serving {
    /// Starts it where there is a screen, or none, with programs of `path` alone.
    fn start(place: &Place, arguments: &[&str], screen: Option<&str>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meniscus"));
        command.args(arguments).current_dir(place.path("")).env("PATH", place.path("")).env_remove("MENISCUS_TOKEN");
        command.env_remove("WAYLAND_DISPLAY").env("DISPLAY", screen.unwrap_or_default());
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let link = line(&mut out);
        assert!(link.starts_with("http://"), "{link}");
        Self { child, out, link }
    }

    /// Its port and what follows it in the link.
    fn door(&self) -> (u16, String) {
        let rest = self.link.rsplit_once(':').unwrap().1;
        let (port, path) = rest.split_once('/').unwrap();
        (port.parse().unwrap(), format!("/{path}"))
    }

    /// What it said on stderr until it was ended.
    fn end(mut self) -> String {
        self.child.kill().unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn line(out: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

/// The head of an answer to a request for the page.
fn page(serving: &Serving) -> String {
    let (port, path) = serving.door();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

const QUICK: [&str; 4] = ["--threads", "1", "--port", "0"];

#[test]
fn a_scene_is_played_at_this_machine_alone() {
    let place = Place::with_scene();
    let mut serving = Serving::start(&place, &[&["play", "small.toml"], &QUICK[..]].concat(), None);
    assert!(serving.link.starts_with("http://127.0.0.1:"), "{}", serving.link);
    let token = serving.door().1;
    assert!(token.len() >= 32, "a token of 128 bits: {token}");
    // No screen: how to open it from elsewhere.
    assert!(line(&mut serving.out).contains("open the link in a browser"));
    assert!(line(&mut serving.out).contains("ssh -L"));
    let page = page(&serving);
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<title>Meniscus</title>"), "{page:.200}");
    assert_eq!(serving.end(), "", "nothing to warn of");
    let again = Serving::start(&place, &[&["play", "small.toml"], &QUICK[..]].concat(), None);
    assert_ne!(again.door().1, token, "every start has another token");
}

#[test]
fn who_lets_others_in_is_warned() {
    let place = Place::with_scene();
    let others = ["--bind", "0.0.0.0", "--no-open"];
    let serving = Serving::start(&place, &[&["play", "small.toml"], &QUICK[..], &others].concat(), None);
    assert!(page(&serving).starts_with("HTTP/1.1 200"));
    let said = serving.end();
    assert!(said.starts_with("warning: listening at 0.0.0.0:") && said.contains("reach in"), "{said}");
    assert!(said.contains("unencrypted"), "{said}");
}

#[test]
fn a_record_is_viewed() {
    let place = Place::with_scene();
    assert_eq!(place.run(&["run", "small.toml", "--quiet", "--no-pictures", "--out", "r"]).code, 0);
    let serving = Serving::start(&place, &["view", "r", "--port", "0"], None);
    assert!(page(&serving).starts_with("HTTP/1.1 200"));
    let nothing = place.run(&["view", "nowhere"]);
    assert!(nothing.code == 2 && nothing.err.contains("nowhere"), "{}", nothing.err);
}

/// With a screen the page opens by itself; `--no-open` leaves it.
#[cfg(target_os = "linux")]
#[test]
fn a_browser_is_opened_where_there_is_a_screen() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_scene();
    place.write("xdg-open", "#!/bin/sh\necho \"$1\" > opened.part\n/bin/mv opened.part opened\n");
    std::fs::set_permissions(place.path("xdg-open"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let quiet = Serving::start(&place, &[&["play", "small.toml", "--no-open"], &QUICK[..]].concat(), Some(":9"));
    assert!(page(&quiet).starts_with("HTTP/1.1 200") && !place.exists("opened"));
    let mut serving = Serving::start(&place, &[&["play", "small.toml"], &QUICK[..]].concat(), Some(":9"));
    assert!(line(&mut serving.out).contains("opened in the browser"));
    let start = Instant::now();
    while !place.exists("opened") {
        assert!(start.elapsed() < Duration::from_secs(30), "no browser was opened");
        std::thread::sleep(Duration::from_millis(20));
    }
    // The link has a secret, and arguments are read by everybody on this machine: the browser is given a file with it.
    let given = String::from_utf8(place.read("opened")).unwrap().trim().to_owned();
    let token = serving.door().1.trim_matches('/').to_owned();
    assert!(!given.contains(&token), "the token is on a command line: {given}");
    assert!(std::fs::read_to_string(&given).unwrap().contains(&serving.link), "{given}");
    assert_eq!(std::fs::metadata(&given).unwrap().permissions().mode() & 0o077, 0, "nobody else may read it");
    std::fs::remove_file(given).unwrap();
}
