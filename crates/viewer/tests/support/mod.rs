//! What the tests of the viewer share: a server with small scenes, and a client at its socket.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod chromium;
pub(crate) mod page;

use meniscus::gallery;
use meniscus_viewer::{Card, Gallery, Options, Server, Show};
use serde_json::Value;
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

/// A token for tests.
pub(crate) const TOKEN: &str = "0123456789abcdef0123";

/// Serves a scene of the gallery, with all the others to choose from.
pub(crate) fn play(scene: &str, set: &[&str], options: &Options) -> Server {
    play_into(scene, set, options, None)
}

/// The same with a folder for sessions.
pub(crate) fn play_into(scene: &str, set: &[&str], options: &Options, sessions: Option<std::path::PathBuf>) -> Server {
    serve(scene, set, options, sessions, all_scenes())
}

/// The same while nobody has taken pictures of the gallery.
pub(crate) fn play_without_thumbnails(scene: &str, set: &[&str], options: &Options) -> Server {
    let mut gallery = all_scenes();
    gallery.cards.iter_mut().for_each(|card| card.thumbnail = None);
    serve(scene, set, options, None, gallery)
}

fn serve(
    scene: &str,
    set: &[&str],
    options: &Options,
    sessions: Option<std::path::PathBuf>,
    gallery: Gallery,
) -> Server {
    let overrides: Vec<String> = ["fps=60"].iter().chain(set).map(|s| (*s).to_owned()).collect();
    let loaded = gallery::load(scene, &overrides).unwrap();
    let show = Show::Live { scene: Box::new(loaded), gallery, threads: 2, sessions };
    Server::start(show, options).unwrap()
}

/// Serves a scene that is in no gallery, with all of that to choose from.
pub(crate) fn serve_scene(loaded: meniscus::scene::Loaded, options: &Options) -> Server {
    let show = Show::Live { scene: Box::new(loaded), gallery: all_scenes(), threads: 2, sessions: None };
    Server::start(show, options).unwrap()
}

fn all_scenes() -> Gallery {
    let card = |scene: &meniscus_scenes::GalleryScene| Card {
        name: scene.name.into(),
        title: gallery::load_gallery(scene, &[]).unwrap().scene.title,
        summary: scene.summary().into(),
        thumbnail: scene.thumbnail(),
    };
    let load = |name: &str| gallery::load(name, &["fps=60".to_owned()]).map_err(|e| e.to_string());
    Gallery { cards: gallery::GALLERY.iter().map(card).collect(), load: Box::new(load) }
}

/// Any free port, the token of the tests.
pub(crate) fn options() -> Options {
    Options { port: Some(0), token: Some(TOKEN.into()), ..Options::default() }
}

/// Whether a read only has to be tried again: a process that was stopped and goes on.
pub(crate) fn interrupted(error: &tungstenite::Error) -> bool {
    matches!(error, tungstenite::Error::Io(error) if error.kind() == std::io::ErrorKind::Interrupted)
}

/// A WebSocket client that behaves as the page does.
pub(crate) struct Client {
    pub(crate) socket: WebSocket<TcpStream>,
    /// The last messages of their kinds.
    pub(crate) scene: Value,
    pub(crate) status: Value,
    pub(crate) refused: Option<String>,
    pub(crate) frames: u32,
    pub(crate) topologies: u32,
    /// Bytes of the last topology.
    pub(crate) topology: Vec<u8>,
    /// Bytes of the last frame.
    pub(crate) frame: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(server: &Server) -> Self {
        let host = server.address().to_string();
        Self::try_connect(server, &host, Some(&format!("http://{host}")), TOKEN).expect("the server lets its page in")
    }

    /// Tries to open a socket under a name, from an origin, with a token.
    pub(crate) fn try_connect(server: &Server, host: &str, origin: Option<&str>, token: &str) -> Result<Self, String> {
        let mut request = format!("ws://{}/{token}/socket", server.address()).into_client_request().unwrap();
        request.headers_mut().insert("host", host.parse().unwrap());
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        let stream = TcpStream::connect(server.address()).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(180))).unwrap();
        stream.set_nodelay(true).unwrap();
        let (socket, _) = tungstenite::client(request, stream).map_err(|e| e.to_string())?;
        let (scene, status) = (Value::Null, Value::Null);
        let (topology, frame) = (Vec::new(), Vec::new());
        Ok(Self { socket, scene, status, refused: None, frames: 0, topologies: 0, topology, frame })
    }

    pub(crate) fn send(&mut self, text: &str) {
        // A socket that the server has closed is found out when it is read.
        let _ = self.socket.send(Message::text(text));
    }

    /// Reads one message, and tells the server that a picture is drawn. An error when the server has closed.
    pub(crate) fn read(&mut self) -> Result<(), String> {
        let message = match self.socket.read() {
            Err(error) if interrupted(&error) => return Ok(()),
            read => read.map_err(|e| e.to_string())?,
        };
        match message {
            Message::Text(text) => {
                let value: Value = serde_json::from_str(&text).unwrap();
                match value["type"].as_str() {
                    Some("scene") => self.scene = value,
                    Some("status") => self.status = value,
                    Some("refused") => self.refused = Some(value["why"].as_str().unwrap().to_owned()),
                    other => panic!("an unknown message {other:?}"),
                }
            }
            Message::Binary(bytes) if bytes[4] == 1 => {
                self.topologies += 1;
                // What is sent again has changed.
                assert!(self.topology.get(12..) != Some(&bytes[12..]), "a topology came twice");
                self.topology = bytes.to_vec();
            }
            Message::Binary(bytes) => {
                self.frames += 1;
                self.frame = bytes.to_vec();
                let sequence = self.u32_at(12);
                self.send(&format!(r#"{{"type":"shown","sequence":{sequence}}}"#));
            }
            Message::Close(close) => return Err(close.map_or("closed".into(), |c| format!("{}: {}", c.code, c.reason))),
            _ => {}
        }
        Ok(())
    }

    /// Reads until something holds.
    pub(crate) fn until(&mut self, what: &str, mut holds: impl FnMut(&Self) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            assert!(start.elapsed() < Duration::from_secs(180), "waited in vain until {what}; {}", self.status);
            self.read().unwrap_or_else(|e| panic!("waiting until {what}: {e}"));
        }
    }

    pub(crate) fn u32_at(&self, at: usize) -> u32 {
        u32_in(&self.frame, at)
    }

    pub(crate) fn f32_at(&self, at: usize) -> f32 {
        f32::from_bits(self.u32_at(at))
    }

    /// Surfaces of the last topology: whether they are liquid, their vertices and triangles.
    pub(crate) fn surfaces(&self) -> Vec<(bool, usize, usize)> {
        let word = |at: usize| u32_in(&self.topology, at) as usize;
        let (count, text) = (word(12), word(20));
        let bodies: Value = serde_json::from_slice(&self.topology[24..24 + text]).unwrap();
        let mut at = 24 + text;
        (0..count)
            .map(|_| {
                let [body, vertices, triangles] = [0, 4, 8].map(|k| word(at + k));
                let corners = (0..3 * triangles).map(|k| word(at + 12 + 4 * k));
                assert!(corners.max().is_none_or(|corner| corner < vertices), "a triangle has its corners");
                at += 12 + 12 * triangles;
                (bodies["bodies"][body]["kind"] == "liquid", vertices, triangles)
            })
            .collect()
    }

    /// Whether the last frame has the size that its header and its topology tell, without tetrahedra.
    pub(crate) fn is_whole(&self) -> bool {
        let [particles, segments, points] = [20, 92, 100].map(|at| self.u32_at(at) as usize);
        let [liquids, panes] = [104, 108].map(|at| self.u32_at(at) as usize);
        let vertices: usize = self.surfaces().iter().map(|&(_, n, _)| n).sum();
        let size = (116 + 28 * segments + 12 * (vertices + points) + 48 * panes + 14 * particles).next_multiple_of(4);
        let complete = if liquids == 0 { self.frame.len() == size } else { self.frame.len() > size + 44 * liquids };
        self.u32_at(8) == u32_in(&self.topology, 8) && complete
    }

    fn three_at(&self, at: usize) -> [f32; 3] {
        [0, 4, 8].map(|k| self.f32_at(at + k))
    }

    /// Whether an outline of the last frame ends at a position: a hand's spring.
    pub(crate) fn shows_hand_at(&self, target: [f32; 3]) -> bool {
        (0..self.u32_at(92) as usize).any(|k| self.three_at(116 + 28 * k + 16) == target)
    }

    /// The Gauss points of the last frame: they come right before the particles.
    pub(crate) fn points(&self) -> Vec<[f32; 3]> {
        let (count, particles) = (self.u32_at(100) as usize, self.u32_at(20) as usize);
        let end = self.frame.len() - (14 * particles).next_multiple_of(4) - 48 * self.u32_at(108) as usize;
        (0..count).map(|k| self.three_at(end - 12 * (count - k))).collect()
    }

    /// Simulated time of the last frame \[s\].
    pub(crate) fn time(&self) -> f64 {
        f64::from_le_bytes(self.frame[24..32].try_into().unwrap())
    }
}

fn u32_in(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}
