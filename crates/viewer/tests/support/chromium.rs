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
const PATIENCE: Duration = Duration::from_secs(180);

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
            .args(["--disable-background-networking", "--disable-quic"])
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
        self.resize(&tab, size, ratio);
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call(Some(&tab.session), "Emulation.setEmulatedMedia", media);
        self.call(Some(&tab.session), "Page.navigate", json!({ "url": link }));
        tab
    }

    /// Gives a page another size.
    pub(crate) fn resize(&mut self, tab: &Tab, size: [u32; 2], ratio: f64) {
        let metrics = json!({ "width": size[0], "height": size[1], "deviceScaleFactor": ratio, "mobile": false });
        self.call(Some(&tab.session), "Emulation.setDeviceMetricsOverride", metrics);
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

    /// Waits until an expression is true. A page that has not got that far may not know its names yet: that is no failure.
    pub(crate) fn wait(&mut self, tab: &Tab, expression: &str) {
        let start = Instant::now();
        let asked =
            format!("(() => {{ try {{ return Boolean({expression}); }} catch (e) {{ return String(e); }} }})()");
        loop {
            let answer = self.eval(tab, &asked);
            if answer == true {
                return;
            }
            if start.elapsed() > PATIENCE {
                let state = self.eval(tab, "JSON.stringify(globalThis.meniscus?.status)");
                panic!("waited in vain for {expression}: {answer}; {state}; {:?}", self.errors);
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
            "middle" => 4,
            _ => 0,
        };
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1 });
        self.call(Some(&tab.session), "Input.dispatchMouseEvent", event);
    }

    /// Turns the wheel; with the control key it is what a trackpad sends for two fingers that part.
    pub(crate) fn wheel(&mut self, tab: &Tab, [x, y]: [f64; 2], turn: f64, control: bool) {
        let event = json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": turn, "modifiers": 2 * u8::from(control) });
        self.call(Some(&tab.session), "Input.dispatchMouseEvent", event);
    }

    /// Presses a key that writes nothing.
    pub(crate) fn control_key(&mut self, tab: &Tab, key: &str, code: u32, modifiers: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let event =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers });
            self.call(Some(&tab.session), "Input.dispatchKeyEvent", event);
        }
    }

    /// Whether the person behind the page wants no motion.
    pub(crate) fn calm(&mut self, tab: &Tab, calm: bool) {
        let value = if calm { "reduce" } else { "no-preference" };
        let media = json!({ "features": [{ "name": "prefers-reduced-motion", "value": value }] });
        self.call(Some(&tab.session), "Emulation.setEmulatedMedia", media);
    }

    /// Where files that pages save go.
    pub(crate) fn save_into(&mut self, folder: &Path) {
        let place = json!({ "behavior": "allow", "downloadPath": folder });
        self.call(None, "Browser.setDownloadBehavior", place);
    }

    /// Fingers at places in pixels of the page: "touchStart", "touchMove" or "touchEnd".
    pub(crate) fn touch(&mut self, tab: &Tab, kind: &str, fingers: &[[f64; 2]]) {
        let points: Vec<Value> =
            fingers.iter().enumerate().map(|(id, [x, y])| json!({ "x": x, "y": y, "id": id })).collect();
        self.call(Some(&tab.session), "Input.dispatchTouchEvent", json!({ "type": kind, "touchPoints": points }));
    }

    /// What the page looks like: width and RGB rows.
    pub(crate) fn picture(&mut self, tab: &Tab, save: &Path) -> Picture {
        let shot = self.call(Some(&tab.session), "Page.captureScreenshot", json!({ "format": "png" }));
        let png = base64::engine::general_purpose::STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
        std::fs::create_dir_all(save.parent().unwrap()).unwrap();
        std::fs::write(save, &png).unwrap();
        Picture::read(&png)
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
    /// Reads a PNG.
    pub(crate) fn read(png: &[u8]) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        Self { width: info.width as usize, channels: info.color_type.samples(), bytes }
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> [usize; 2] {
        [self.width, self.bytes.len() / self.channels / self.width]
    }

    /// How many pixels within a part of the picture (left, top, right, bottom as parts) hold.
    pub(crate) fn count(&self, part: [f64; 4], holds: impl Fn([u8; 3]) -> bool) -> usize {
        self.pixels(part).filter(|&at| holds(self.pixel(at))).count()
    }

    /// How many pixels within a part differ by more than so much from those of another picture of the same size.
    pub(crate) fn differs(&self, other: &Self, part: [f64; 4], by: u8) -> usize {
        assert_eq!((self.width, self.bytes.len()), (other.width, other.bytes.len()));
        self.pixels(part).filter(|&at| apart(self.pixel(at), other.pixel(at)) > by).count()
    }

    /// How many pixels within a part are darker by more than so much in another picture of the same size.
    pub(crate) fn darker_in(&self, other: &Self, part: [f64; 4], by: u8) -> usize {
        assert_eq!((self.width, self.bytes.len()), (other.width, other.bytes.len()));
        let light = |[r, g, b]: [u8; 3]| u16::from(r) + u16::from(g) + u16::from(b);
        self.pixels(part).filter(|&at| light(self.pixel(at)) > light(other.pixel(at)) + 3 * u16::from(by)).count()
    }

    /// How many pixels within a part differ by more than so much from the one to their right.
    pub(crate) fn edges(&self, part: [f64; 4], by: u8) -> usize {
        self.pixels(part).filter(|&[x, y]| apart(self.pixel([x, y]), self.pixel([x + 1, y])) > by).count()
    }

    /// Columns and rows within a part; the last column of the picture has no neighbour and is left out.
    fn pixels(&self, [left, top, right, bottom]: [f64; 4]) -> impl Iterator<Item = [usize; 2]> + use<> {
        let [_, height] = self.size();
        let range = |low: f64, high: f64, size: usize| (low * size as f64) as usize..(high * size as f64) as usize;
        let (columns, rows) = (range(left, right, self.width - 1), range(top, bottom, height));
        rows.flat_map(move |y| columns.clone().map(move |x| [x, y]))
    }

    /// Half as wide and high: means of four pixels.
    pub(crate) fn halved(&self) -> Self {
        let [width, height] = self.size().map(|n| n / 2);
        let mean = |x: usize, y: usize| {
            let four = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[dx, dy]| self.pixel([2 * x + dx, 2 * y + dy]));
            [0, 1, 2].map(|k| (four.iter().map(|p| u32::from(p[k])).sum::<u32>() / 4) as u8)
        };
        let bytes = (0..width * height).flat_map(|k| mean(k % width, k / width)).collect();
        Self { width, channels: 3, bytes }
    }

    /// As a PNG.
    pub(crate) fn png(&self) -> Vec<u8> {
        let [width, height] = self.size();
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, width as u32, height as u32);
        encoder.set_color(if self.channels == 3 { png::ColorType::Rgb } else { png::ColorType::Rgba });
        encoder.set_compression(png::Compression::High);
        encoder.write_header().unwrap().write_image_data(&self.bytes).unwrap();
        out
    }

    /// How different another picture of the same size looks, of 255: the root mean square, over fields of five pixels a side, of the differences
    /// in mean colour and in how much the brightness varies. Where exactly an edge runs counts little; colours and textures count.
    pub(crate) fn away_from(&self, other: &Self) -> f64 {
        assert_eq!(self.size(), other.size());
        const FIELD: usize = 5;
        let [columns, rows] = self.size().map(|n| n / FIELD);
        let look = |picture: &Self, column: usize, row: usize| {
            let positions = (0..FIELD * FIELD).map(|k| [column * FIELD + k % FIELD, row * FIELD + k / FIELD]);
            let pixels: Vec<[f64; 3]> = positions.map(|at| picture.pixel(at).map(f64::from)).collect();
            let count = pixels.len() as f64;
            let mean = [0, 1, 2].map(|k| pixels.iter().map(|p| p[k]).sum::<f64>() / count);
            let middle = mean.iter().sum::<f64>() / 3.0;
            let spread = pixels.iter().map(|p| (p.iter().sum::<f64>() / 3.0 - middle).powi(2)).sum::<f64>() / count;
            [mean[0], mean[1], mean[2], spread.sqrt()]
        };
        let mut sum = 0.0;
        for row in 0..rows {
            for column in 0..columns {
                let (a, b) = (look(self, column, row), look(other, column, row));
                sum += (0..4).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>() / 4.0;
            }
        }
        (sum / (rows * columns) as f64).sqrt()
    }

    fn pixel(&self, [x, y]: [usize; 2]) -> [u8; 3] {
        let at = (y * self.width + x) * self.channels;
        [self.bytes[at], self.bytes[at + 1], self.bytes[at + 2]]
    }
}

/// The largest difference of two colours.
fn apart(a: [u8; 3], b: [u8; 3]) -> u8 {
    (0..3).map(|k| a[k].abs_diff(b[k])).max().unwrap_or(0)
}
