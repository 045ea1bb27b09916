//! Visitors who should not be there, and visitors who behave badly: refused or closed, and the simulation goes on.

mod support;

use meniscus_viewer::{Options, Server, ViewerError};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use support::{Client, TOKEN, options, play};
use tungstenite::Message;

const SMALL: &[&str] = &["sph.spacing=0.05"];

fn server() -> Server {
    play("dam-break", SMALL, &options())
}

/// Sends bytes and reads what comes back until the server closes.
fn ask(server: &Server, request: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(server: &Server, path: &str, host: &str) -> String {
    ask(server, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
}

fn status(answer: &str) -> u16 {
    answer.split_whitespace().nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
}

/// The simulation is alive: a viewer sees time pass.
fn goes_on(server: &Server) {
    let mut client = Client::connect(server);
    client.until("there is a frame", |c| c.frames > 0);
    let time = client.time();
    client.until("time has passed", |c| c.time() > time + 0.05);
}

#[test]
fn only_the_link_leads_in() {
    let server = server();
    let host = server.address().to_string();
    let page = get(&server, &format!("/{TOKEN}/"), &host);
    assert_eq!(status(&page), 200);
    assert!(page.contains("<title>Meniscus</title>"));
    assert!(server.link().ends_with(&format!("/{TOKEN}/")) && server.link().starts_with("http://127.0.0.1:"));
    for path in ["/", "/main.js", "/socket", "/index.html", "/00000000000000000000/", "/0123456789abcdef012/main.js"] {
        let answer = get(&server, path, &host);
        assert_eq!(status(&answer), 403, "{path}");
        assert!(!answer.contains(TOKEN) && !answer.contains("canvas"), "{path}");
    }
    let refused =
        |host: &str, origin: Option<&str>, token: &str| Client::try_connect(&server, host, origin, token).err();
    let own = format!("http://{host}");
    assert!(refused(&host, Some(&own), TOKEN).is_none());
    for token in ["", "wrong", "00000000000000000000", "0123456789abcdef01234"] {
        assert!(refused(&host, Some(&own), token).is_some_and(|e| e.contains("403")), "{token}");
    }
    for origin in [None, Some("http://evil.example"), Some("null"), Some("https://127.0.0.1"), Some("http://localhost")]
    {
        assert!(refused(&host, origin, TOKEN).is_some_and(|e| e.contains("403")), "{origin:?}");
    }
    goes_on(&server);
}

#[test]
fn only_our_own_name_is_answered() {
    let server = server();
    let port = server.address().port();
    let path = format!("/{TOKEN}/");
    for host in [format!("127.0.0.1:{port}"), format!("localhost:{port}"), "localhost:8080".into()] {
        assert_eq!(status(&get(&server, &path, &host)), 200, "{host}");
    }
    for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", ""] {
        assert_eq!(status(&get(&server, &path, host)), 403, "{host}");
        // A page whose name was made to point here cannot open a socket either.
        let origin = format!("http://{host}");
        assert!(Client::try_connect(&server, host, Some(&origin), TOKEN).is_err(), "{host}");
    }
    assert_eq!(status(&ask(&server, &format!("GET {path} HTTP/1.0\r\n\r\n"))), 403);
    goes_on(&server);
}

#[test]
fn no_file_can_be_reached() {
    let server = server();
    let host = server.address().to_string();
    for path in [
        "..%2f..%2fetc%2fpasswd",
        "../../etc/passwd",
        "%2e%2e/Cargo.toml",
        "/etc/passwd",
        "//etc/passwd",
        "page/main.js",
        "..\\Cargo.toml",
        "thumbnails/../main.js",
        "thumbnails/..%2f..%2fx.png",
        "thumbnails/dam-break",
        "main.js%00",
        "src/lib.rs",
    ] {
        let answer = get(&server, &format!("/{TOKEN}/{path}"), &host);
        assert!(matches!(status(&answer), 400 | 404), "{path}: {answer}");
        assert!(!answer.contains("root:") && !answer.contains("[package]"), "{path}");
    }
    assert_eq!(status(&get(&server, &format!("/{TOKEN}/thumbnails/dam-break.png"), &host)), 200);
    let post = format!("POST /{TOKEN}/ HTTP/1.1\r\nHost: {host}\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc");
    assert_eq!(status(&ask(&server, &post)), 405);
    goes_on(&server);
}

#[test]
fn the_page_is_kept_to_itself() {
    let server = server();
    let host = server.address().to_string();
    let head = get(&server, &format!("/{TOKEN}/"), &host).to_lowercase();
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self'",
        "frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(head.contains(header), "{header} is not in {head}");
    }
    assert!(!head.contains("unsafe-inline") && !head.contains("unsafe-eval") && !head.contains("access-control-allow"));
}

#[test]
fn nonsense_ends_that_connection_only() {
    let server = server();
    let mut witness = Client::connect(&server);
    witness.until("there is a frame", |c| c.frames > 0);
    for text in ["", "hello", "{}", r#"{"type":"format-disk"}"#, r#"{"type":"speed","factor":-1}"#, &"[".repeat(10_000)]
    {
        let mut bad = Client::connect(&server);
        bad.send(text);
        let why = std::iter::from_fn(|| Some(bad.read())).find_map(Result::err).unwrap();
        assert!(why.starts_with("1008"), "{text:.40}: {why}");
    }
    let mut bad = Client::connect(&server);
    bad.socket.send(Message::binary(vec![1, 2, 3])).unwrap();
    assert!(std::iter::from_fn(|| Some(bad.read())).find_map(Result::err).unwrap().starts_with("1003"));
    let frames = witness.frames;
    witness.until("the witness sees more", |c| c.frames > frames + 5);
}

#[test]
fn what_makes_no_sense_here_is_refused_and_nothing_ends() {
    let server = server();
    let mut client = Client::connect(&server);
    for (text, why) in [
        (r#"{"type":"command","command":{"set":{"key":"liquid.beer.viscosity","value":1}}}"#, "no live parameter"),
        (r#"{"type":"command","command":{"set":{"key":"liquid.water.viscosity","value":-1}}}"#, "negative"),
        (r#"{"type":"command","command":{"poke":{"center":[0,0,0],"radius":0,"velocity":[0,0,0]}}}"#, "radius"),
        (r#"{"type":"load","scene":"../secret"}"#, "no such scene"),
        (r#"{"type":"seek","place":3}"#, "no frames"),
    ] {
        client.refused = None;
        client.send(text);
        client.until("it is refused", |c| c.refused.is_some());
        assert!(client.refused.as_ref().unwrap().contains(why), "{:?}", client.refused);
    }
    let frames = client.frames;
    client.until("it goes on", |c| c.frames > frames);
}

#[test]
fn a_huge_message_is_not_read() {
    let server = server();
    let mut client = Client::connect(&server);
    let _ = client.socket.send(Message::text("x".repeat(10_000_000)));
    assert!(std::iter::from_fn(|| Some(client.read())).find_map(Result::err).is_some());
    goes_on(&server);
}

#[test]
fn a_flood_is_stopped() {
    let server = server();
    let mut witness = Client::connect(&server);
    witness.until("there is a frame", |c| c.frames > 0);
    let mut client = Client::connect(&server);
    for _ in 0..10_000 {
        let poke = r#"{"type":"command","command":{"poke":{"center":[9,9,9],"radius":0.1,"velocity":[0,0,0]}}}"#;
        if client.socket.write(Message::text(poke)).is_err() {
            break;
        }
    }
    let _ = client.socket.flush();
    assert!(std::iter::from_fn(|| Some(client.read())).find_map(Result::err).is_some());
    let frames = witness.frames;
    witness.until("the witness sees more", |c| c.frames > frames + 5);
}

#[test]
fn a_hand_behind_a_flood_lets_go() {
    // Its steps are long enough for more orders than may wait.
    let server = support::play("jelly-drop", &[], &options());
    let mut witness = Client::connect(&server);
    let mut client = Client::connect(&server);
    client.send(r#"{"type":"command","command":{"grab":{"at":{"point":[0,0.35,0]},"body":"jelly"}}}"#);
    let holding = |c: &Client| c.status["hands"].as_array().map_or(0, Vec::len);
    witness.until("the hand holds", |c| holding(c) == 1);
    let pull = Message::text(r#"{"type":"command","command":{"move":{"target":[0,0.5,0]}}}"#);
    while client.socket.write(pull.clone()).is_ok() {}
    witness.until("the hand is gone", |c| holding(c) == 0);
}

/// Before, 128 connections without a word took all places for five seconds.
#[test]
fn connections_without_a_token_lock_nobody_out() {
    let server = server();
    let silent: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    let mut client = Client::connect(&server);
    client.until("there is a frame", |c| c.frames > 0);
    // A wrong token is answered and shown the door at once, whatever it says about staying.
    let host = server.address().to_string();
    let answer = ask(&server, &format!("GET /wrong/ HTTP/1.1\r\nHost: {host}\r\nConnection: keep-alive\r\n\r\n"));
    assert_eq!(status(&answer), 403);
    assert!(answer.to_lowercase().contains("connection: close"), "{answer}");
    drop(silent);
}

#[test]
fn half_open_connections_are_dropped() {
    let server = server();
    // More than there are places; each says half a request and waits.
    let mut silent: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: loc");
            stream
        })
        .collect();
    let start = Instant::now();
    for stream in &mut silent {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    assert!(start.elapsed() < Duration::from_secs(30), "half a request keeps a place");
    goes_on(&server);
}

/// A viewer whose machine has gone without a word: its socket stays open and nothing comes from it.
#[test]
fn a_viewer_that_gives_no_sign_of_life_loses_its_seat() {
    let server = server();
    let mut witness = Client::connect(&server);
    let silent = Client::connect(&server);
    let seats = |c: &Client| c.status["viewers"].as_u64();
    witness.until("both are there", |c| seats(c) == Some(2));
    witness.until("the silent one is gone", |c| seats(c) == Some(1));
    drop(silent);
}

/// A viewer that reads nothing gets no more than two pictures, and holds up nobody.
#[test]
fn a_sleeping_viewer_holds_up_nobody() {
    let server = server();
    let mut witness = Client::connect(&server);
    let mut sleeper = Client::connect(&server);
    witness.until("many frames", |c| c.frames > 40);
    let mut frames = 0;
    let mut words = 0;
    while words < 20 {
        match sleeper.socket.read().unwrap() {
            Message::Binary(bytes) if bytes[4] == 2 => frames += 1,
            Message::Text(_) => words += 1,
            _ => {}
        }
    }
    assert_eq!(frames, 2);
}

#[test]
fn bad_tokens_and_taken_ports_are_told() {
    let start = |options: &Options| {
        let loaded = meniscus::gallery::load("dam-break", &["sph.spacing=0.1".into()]).unwrap();
        let show = meniscus_viewer::Show::Live {
            scene: Box::new(loaded),
            gallery: meniscus_viewer::Gallery::default(),
            threads: 1,
            sessions: None,
        };
        Server::start(show, options).err()
    };
    assert!(matches!(start(&Options { token: Some("short".into()), ..options() }), Some(ViewerError::Token)));
    let first = server();
    let same = Options { port: Some(first.address().port()), ..options() };
    assert!(matches!(start(&same), Some(ViewerError::Bind { .. })));
    // Without a wish for a port there is always one.
    assert!(start(&Options { port: None, ..options() }).is_none());
}
