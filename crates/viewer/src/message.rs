//! The JSON messages: what viewers ask for, what they are told.

use meniscus_core::{Camera, Style};
use meniscus_scene::{Command, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tokio::sync::mpsc;

/// What a viewer says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Request {
    /// It has drawn a picture and can take another.
    Shown {
        /// Number of the picture.
        sequence: u32,
    },
    /// It wants to see more, or no more of it.
    Extras {
        /// Tetrahedra of soft bodies.
        tets: bool,
        /// Gauss points.
        points: bool,
        /// Surfaces of liquids of particles.
        surfaces: bool,
    },
    /// Stop or go on.
    Pause {
        /// Whether to stop.
        on: bool,
    },
    /// Go on by one frame, then stop.
    Step,
    /// Begin again.
    Reset,
    /// Simulated seconds per second, at most.
    Speed {
        /// Dimensionless.
        factor: f64,
    },
    /// Show another scene of the gallery.
    Load {
        /// Its name.
        scene: String,
    },
    /// Show another frame of the record.
    Seek {
        /// Its place, counted from zero.
        place: u32,
    },
    /// Do something to the simulation.
    Command {
        /// What.
        command: Command,
    },
}

impl Request {
    /// Reads a message.
    ///
    /// # Errors
    /// With what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let request: Self = serde_json::from_str(text).map_err(|e| e.to_string())?;
        match request {
            Self::Speed { factor } if !(0.001..=1000.0).contains(&factor) => Err("speed: 0.001 to 1000".into()),
            sound => Ok(sound),
        }
    }
}

/// A request on its way to the thread that shows something.
pub(crate) struct Order {
    pub(crate) request: Request,
    pub(crate) from: mpsc::Sender<String>,
}

impl Order {
    /// Whether it changes a parameter, which lasts as long as the scene does.
    pub(crate) fn changes_setting(&self) -> bool {
        matches!(self.request, Request::Command { command: Command::Set(_) })
    }

    /// Tells the one who gave the order that it cannot be done.
    pub(crate) fn refuse(&self, why: &str) {
        // Whoever does not listen does not hear it.
        let _ = self.from.try_send(serde_json::json!({ "type": "refused", "why": why }).to_string());
    }
}

/// What is shown: sent before its first picture.
#[derive(Serialize)]
#[serde(tag = "type", rename = "scene")]
pub(crate) struct SceneMessage<'a> {
    pub(crate) protocol: u8,
    pub(crate) version: &'static str,
    pub(crate) generation: u32,
    pub(crate) mode: Mode,
    pub(crate) name: &'a str,
    pub(crate) title: &'a str,
    pub(crate) summary: &'a str,
    pub(crate) figure: &'a str,
    pub(crate) method: &'static str,
    pub(crate) gallery: Vec<CardMessage<'a>>,
    pub(crate) parameters: Vec<ParameterMessage>,
    pub(crate) camera: &'a Camera,
    pub(crate) picture: &'a Style,
    /// Speed to be expected \[m/s\].
    pub(crate) speed_scale: f64,
    pub(crate) warnings: &'a [String],
    /// Of a record.
    pub(crate) series: Option<&'a Series>,
}

#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    Live,
    Replay,
}

#[derive(Serialize)]
pub(crate) struct CardMessage<'a> {
    pub(crate) name: &'a str,
    pub(crate) title: &'a str,
    pub(crate) summary: &'a str,
    pub(crate) thumbnail: bool,
}

/// What was measured over a whole record.
#[derive(Serialize, Default)]
pub(crate) struct Series {
    /// \[s\].
    pub(crate) time: Vec<f64>,
    /// Kinetic and potential energy \[J\], and 0.
    pub(crate) energy: Vec<[f64; 3]>,
    /// Change of the liquid's volume, dimensionless.
    pub(crate) volume: Vec<f64>,
    pub(crate) particles: Vec<f64>,
}

/// A live parameter.
#[derive(Serialize)]
pub(crate) struct ParameterMessage {
    pub(crate) key: String,
    pub(crate) about: String,
    pub(crate) unit: String,
    pub(crate) default: Value,
    pub(crate) range: [f64; 2],
    pub(crate) logarithmic: bool,
}

impl From<meniscus_scene::live::Parameter> for ParameterMessage {
    fn from(parameter: meniscus_scene::live::Parameter) -> Self {
        let meniscus_scene::live::Parameter { key, about, unit, default, range, logarithmic } = parameter;
        Self { key, about, unit, default, range, logarithmic }
    }
}

/// A hand that holds a solid.
#[derive(Serialize)]
pub(crate) struct HandMessage {
    /// Where it holds it, and where it pulls it to \[m\].
    pub(crate) point: [f64; 3],
    pub(crate) target: [f64; 3],
    /// The force \[N\].
    pub(crate) force: [f64; 3],
}

/// How it goes: sent a few times per second and after every change.
#[derive(Serialize, Default)]
#[serde(tag = "type", rename = "status")]
pub(crate) struct Status<'a> {
    pub(crate) generation: u32,
    pub(crate) running: bool,
    /// Simulated seconds per second that were asked for.
    pub(crate) speed: f64,
    /// Simulated seconds per second, measured; nothing while it stands.
    pub(crate) rate: Option<f64>,
    /// Simulated time \[s\].
    pub(crate) time: f64,
    pub(crate) step: u64,
    pub(crate) frame: u32,
    pub(crate) particles: u64,
    pub(crate) tets: u64,
    pub(crate) cells: u64,
    /// Separate solids.
    pub(crate) pieces: Option<f64>,
    /// Kinetic, potential and elastic energy \[J\].
    pub(crate) energy: Option<[f64; 3]>,
    /// Change of the liquid's volume, dimensionless.
    pub(crate) volume: Option<f64>,
    /// Mean times of a step's stages \[ms\].
    pub(crate) stages: Vec<(&'a str, f64)>,
    /// Mean time per step that another thread spent on pictures \[ms\].
    pub(crate) encoding: f64,
    /// Steps that the means are over.
    pub(crate) steps: u64,
    /// Live parameters that are not as in the scene file.
    pub(crate) settings: BTreeMap<&'a str, &'a Value>,
    /// What hands do.
    pub(crate) hands: Vec<HandMessage>,
    /// Commands in the log.
    pub(crate) commands: usize,
    pub(crate) viewers: usize,
    /// Place and number of the record's frames.
    pub(crate) place: Option<[u32; 2]>,
    pub(crate) loading: Option<&'a str>,
    pub(crate) failed: Option<&'a str>,
    /// How long the step under way takes already \[s\], if that is long.
    pub(crate) busy: Option<f64>,
    /// What has become odd since the start.
    pub(crate) warning: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_and_nonsense_is_refused() {
        let poke = r#"{"type":"command","command":{"poke":{"center":[0,1,2],"radius":0.1,"velocity":[1,0,0]}}}"#;
        assert!(matches!(Request::parse(poke), Ok(Request::Command { command: Command::Poke(_) })));
        assert_eq!(Request::parse(r#"{"type":"step"}"#), Ok(Request::Step));
        assert_eq!(Request::parse(r#"{"type":"pause","on":true}"#), Ok(Request::Pause { on: true }));
        for bad in [
            "",
            "{",
            "[]",
            "null",
            r#"{"type":"format-disk"}"#,
            r#"{"type":"pause"}"#,
            r#"{"type":"pause","on":1}"#,
            r#"{"type":"pause","on":true,"more":1}"#,
            r#"{"type":"speed","factor":-1}"#,
            r#"{"type":"speed","factor":1e999}"#,
            r#"{"type":"seek","place":-3}"#,
            r#"{"type":"command","command":{"poke":{}}}"#,
            &"[".repeat(60_000),
        ] {
            assert!(Request::parse(bad).is_err(), "{}", &bad[..bad.len().min(60)]);
        }
    }
}
