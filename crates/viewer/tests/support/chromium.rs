//! A headless Chromium, driven through its debugging protocol.

use super::interrupted;
use base64::Engine;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// How long anything may take: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser of its own, which goes with this value.
pub(crate) struct Browser {
    process: Child,
    socket: WebSocket<TcpStream>,
    next: u64,
    /// What went wrong in pages, by session.
    errors: Vec<(String, String)>,
    _profile: tempfile::TempDir,
}

/// A page in a browser.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tab {
    session: String,
    target: String,
}

impl Browser {
    /// Starts Chromium; nothing where there is none.
    pub(crate) fn start() -> Option<Self> {
        let named = std::env::var("MENISCUS_CHROMIUM").ok();
        let names = named.iter().map(String::as_str).chain(["chromium", "chromium-browser", "google-chrome"]);
        names.into_iter().find_map(Self::launch)
    }

    fn launch(program: &str) -> Option<Self> {
        let profile = tempfile::tempdir().unwrap();
        let mut process = Command::new(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--no-first-run",
                "--disable-extensions",
                "--disable-dev-shm-usage",
            ])
            .args(["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--mute-audio"])
            .args(["--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows"])
            .args(["--disable-renderer-backgrounding", "--disable-component-update", "--disable-sync"])
            .args(["--remote-debugging-port=0", "--window-size=1280,800"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("DevTools listening on ").map(|address| address.trim().to_owned()))?;
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let host = address.trim_start_matches("ws://").split('/').next()?.to_owned();
        let stream = TcpStream::connect(host).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let config = tungstenite::protocol::WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let (socket, _) = tungstenite::client::client_with_config(address, stream, Some(config)).ok()?;
        Some(Self { process, socket, next: 0, errors: Vec::new(), _profile: profile })
    }

    /// Sends a command and waits for its answer; what pages complain about meanwhile is kept.
    fn call(&mut self, session: Option<&str>, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": parameters });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.socket.send(Message::text(message.to_string())).unwrap();
        loop {
            let text = match self.socket.read() {
                Ok(Message::Text(text)) => text,
                Ok(_) => continue,
                Err(error) if interrupted(&error) => continue,
                Err(error) => panic!("{method}: {error}"),
            };
            let answer: Value = serde_json::from_str(&text).unwrap();
            self.note(&answer);
            if answer["id"] == self.next {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    fn note(&mut self, event: &Value) {
        let parameters = &event["params"];
        let text = match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => parameters["exceptionDetails"].to_string(),
            Some("Runtime.consoleAPICalled") if parameters["type"] == "error" || parameters["type"] == "warning" => {
                parameters["args"].to_string()
            }
            Some("Log.entryAdded") if parameters["entry"]["level"] == "error" => parameters["entry"].to_string(),
            _ => return,
        };
        self.errors.push((event["sessionId"].as_str().unwrap_or_default().to_owned(), text));
    }

    /// Opens a page in a window of its own, `size` in pixels of the page, at so many real pixels each.
    pub(crate) fn open(&mut self, link: &str, size: [u32; 2], ratio: f64, dark: bool) -> Tab {
        let made = self.call(None, "Target.createTarget", json!({ "url": "about:blank", "newWindow": true }));
        let target = made["targetId"].as_str().unwrap().to_owned();
        let attached = self.call(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        let tab = Tab { session, target };
        for domain in ["Page", "Runtime", "Log"] {
            self.call(Some(&tab.session), &format!("{domain}.enable"), json!({}));
        }
        self.call(Some(&tab.session), "Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        let metrics = json!({ "width": size[0], "height": size[1], "deviceScaleFactor": ratio, "mobile": false });
        self.call(Some(&tab.session), "Emulation.setDeviceMetricsOverride", metrics);
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call(Some(&tab.session), "Emulation.setEmulatedMedia", media);
        self.call(Some(&tab.session), "Page.navigate", json!({ "url": link }));
        tab
    }

    /// Runs a script before the page's own.
    pub(crate) fn open_with(&mut self, link: &str, script: &str) -> Tab {
        let tab = self.open("about:blank", [900, 600], 1.0, false);
        self.call(Some(&tab.session), "Page.addScriptToEvaluateOnNewDocument", json!({ "source": script }));
        self.call(Some(&tab.session), "Page.navigate", json!({ "url": link }));
        tab
    }

    pub(crate) fn close(&mut self, tab: &Tab) {
        self.call(None, "Target.closeTarget", json!({ "targetId": tab.target }));
    }

    /// The value of an expression in a page.
    pub(crate) fn eval(&mut self, tab: &Tab, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call(Some(&tab.session), "Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    pub(crate) fn number(&mut self, tab: &Tab, expression: &str) -> f64 {
        let value = self.eval(tab, expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    /// Waits until an expression is true.
    pub(crate) fn wait(&mut self, tab: &Tab, expression: &str) {
        let start = Instant::now();
        while self.eval(tab, &format!("Boolean({expression})")) != true {
            if start.elapsed() > PATIENCE {
                let state = self.eval(tab, "JSON.stringify(globalThis.meniscus?.status)");
                panic!("waited in vain for {expression}; {state}; {:?}", self.errors);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn click(&mut self, tab: &Tab, id: &str) {
        let found = self.eval(
            tab,
            &format!("(() => {{ const e = document.getElementById('{id}'); e?.click(); return Boolean(e); }})()"),
        );
        assert_eq!(found, true, "there is no {id}");
    }

    /// Presses a key that writes something.
    pub(crate) fn key(&mut self, tab: &Tab, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { key } else { "" };
            self.call(Some(&tab.session), "Input.dispatchKeyEvent", json!({ "type": kind, "key": key, "text": text }));
        }
    }

    /// A mouse event: "mousePressed", "mouseMoved" or "mouseReleased" with a button, at a place in pixels of the page.
    pub(crate) fn mouse(&mut self, tab: &Tab, kind: &str, button: &str, [x, y]: [f64; 2]) {
        let buttons = match button {
            "left" => 1,
            "right" => 2,
            _ => 0,
        };
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1 });
        self.call(Some(&tab.session), "Input.dispatchMouseEvent", event);
    }

    /// What the page looks like: width and RGB rows.
    pub(crate) fn picture(&mut self, tab: &Tab, save: &Path) -> Picture {
        let shot = self.call(Some(&tab.session), "Page.captureScreenshot", json!({ "format": "png" }));
        let png = base64::engine::general_purpose::STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
        std::fs::create_dir_all(save.parent().unwrap()).unwrap();
        std::fs::write(save, &png).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        Picture { width: info.width as usize, channels: info.color_type.samples(), bytes }
    }

    /// What pages have complained about since the last call.
    pub(crate) fn complaints(&mut self, tab: &Tab) -> Vec<String> {
        // Events that are on their way come before the answer.
        self.eval(tab, "1");
        let (own, other) = std::mem::take(&mut self.errors).into_iter().partition(|(s, _)| *s == tab.session);
        self.errors = other;
        let own: Vec<(String, String)> = own;
        own.into_iter().map(|(_, text)| text).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A picture of a page.
pub(crate) struct Picture {
    width: usize,
    channels: usize,
    bytes: Vec<u8>,
}

impl Picture {
    /// How many pixels within a part of the picture (left, top, right, bottom as parts) hold.
    pub(crate) fn count(&self, [left, top, right, bottom]: [f64; 4], holds: impl Fn([u8; 3]) -> bool) -> usize {
        let height = self.bytes.len() / self.channels / self.width;
        let range = |low: f64, high: f64, size: usize| (low * size as f64) as usize..(high * size as f64) as usize;
        let rows = range(top, bottom, height);
        let pixel = |x: usize, y: usize| {
            let at = (y * self.width + x) * self.channels;
            [self.bytes[at], self.bytes[at + 1], self.bytes[at + 2]]
        };
        rows.map(|y| range(left, right, self.width).filter(|&x| holds(pixel(x, y))).count()).sum()
    }
}
