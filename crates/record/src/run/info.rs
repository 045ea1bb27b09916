//! run.json: what was run, by which program, how far it came.

use std::time::SystemTime;

use meniscus_core::{Fault, StepError, StepReport};
use serde::{Deserialize, Deserializer, Serialize};

use super::clock::rfc3339_utc;
use crate::error::PROGRAM_VERSION;

/// Version of the folder layout and of run.json. New keys do not change it: readers pass over keys they do not know.
pub const RUN_FORMAT: u64 = 1;

/// The contents of run.json.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Version of the record format, see [`RUN_FORMAT`].
    pub format: u64,
    /// Version of the program.
    pub program: String,
    /// Name of the scene.
    pub scene: String,
    /// Name of the method.
    pub method: String,
    /// Gradients of its incompressible particle liquid, if it has one: "plain" or "corrected".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradients: Option<String>,
    /// Number of threads.
    pub threads: u32,
    /// How far it is.
    pub status: RunStatus,
    /// Why it failed.
    pub error: Option<RunFailure>,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// Simulated time asked for \[s\].
    #[serde(deserialize_with = "null_is_nan")]
    pub seconds: f64,
    /// Frames per simulated second \[1/s\].
    #[serde(deserialize_with = "null_is_nan")]
    pub fps: f64,
    /// Steps taken.
    pub steps: u64,
    /// Simulated time reached \[s\].
    #[serde(deserialize_with = "null_is_nan")]
    pub simulated_seconds: f64,
    /// Time it took \[s\].
    #[serde(deserialize_with = "null_is_nan")]
    pub wall_seconds: f64,
    /// Number of particles.
    pub particles: u64,
    /// Number of tetrahedra.
    pub tets: u64,
    /// Number of grid cells.
    pub cells: u64,
    /// Particles that have left the domain and are gone.
    #[serde(default)]
    pub lost_particles: u64,
    /// Fingerprint of the last state.
    pub digest: Option<String>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// The run that this one has left, and where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
    /// Time per stage of the step, all steps together.
    pub timings: Vec<StageTiming>,
}

/// Where a run has left another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// Folder of the other run.
    pub from: String,
    /// The last frame that both share.
    pub frame: u32,
    /// What was changed there, as `key=value`.
    pub set: Vec<String>,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// At work, or killed: which of the two, the file cannot know, but [`RunFolder::status`](crate::RunFolder::status).
    Running,
    /// Reached its end.
    Done,
    /// Stopped by an error.
    Failed,
    /// Stopped because it was asked to; it can go on.
    Stopped,
    /// Killed, or its machine has failed; it can go on. Never written, only found.
    BrokenOff,
}

impl std::fmt::Display for RunStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::BrokenOff => "broken off",
        })
    }
}

/// Why a run failed, in the form in which `--json` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFailure {
    /// Short name of the kind of failure, such as `not-finite`.
    pub code: String,
    /// The failure in words.
    pub message: String,
    /// Stage of the step.
    pub stage: Option<String>,
    /// Name of the body in the scene.
    pub body: Option<String>,
    /// Stable id of the particle, or number of the node or cell.
    pub index: Option<u64>,
}

/// Time spent in one stage of the step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageTiming {
    /// Name of the stage, as in the docs.
    pub name: String,
    /// Time, all calls together \[s\].
    #[serde(deserialize_with = "null_is_nan")]
    pub seconds: f64,
    /// Number of calls.
    pub calls: u64,
}

impl RunInfo {
    /// A run that starts now. The caller fills in counts and settings.
    #[must_use]
    pub fn start(scene: &str, method: &str) -> Self {
        Self {
            format: RUN_FORMAT,
            program: PROGRAM_VERSION.into(),
            scene: scene.into(),
            method: method.into(),
            gradients: None,
            threads: 1,
            status: RunStatus::Running,
            error: None,
            started: rfc3339_utc(SystemTime::now()),
            seconds: 0.0,
            fps: 0.0,
            steps: 0,
            simulated_seconds: 0.0,
            wall_seconds: 0.0,
            particles: 0,
            tets: 0,
            cells: 0,
            lost_particles: 0,
            digest: None,
            warnings: Vec::new(),
            branch: None,
            timings: Vec::new(),
        }
    }

    /// Takes the timings of a report that has [absorbed](StepReport::absorb) those of all steps.
    pub fn set_timings(&mut self, report: &StepReport) {
        self.timings = report
            .stages()
            .iter()
            .map(|s| StageTiming { name: s.name.into(), seconds: s.time.as_secs_f64(), calls: s.calls.into() })
            .collect();
    }

    /// Marks the run as failed.
    pub fn fail(&mut self, failure: impl Into<RunFailure>) {
        self.status = RunStatus::Failed;
        self.error = Some(failure.into());
    }
}

impl RunFailure {
    /// A failure outside of the simulation.
    #[must_use]
    pub fn from_words(code: &str, message: String) -> Self {
        Self { code: code.into(), message, stage: None, body: None, index: None }
    }
}

impl From<&StepError> for RunFailure {
    fn from(error: &StepError) -> Self {
        let code = match error.fault {
            Fault::NotFinite { .. } => "not-finite",
            Fault::TooFast { .. } => "too-fast",
            Fault::StepTooSmall { .. } => "step-too-small",
            _ => "step-failed",
        };
        Self {
            code: code.into(),
            message: error.to_string(),
            stage: Some(error.stage.clone()),
            body: Some(error.body.clone()),
            index: error.index,
        }
    }
}

/// JSON has no word for a number that is not finite: it is written as null.
fn null_is_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_tells_where() {
        let mut info = RunInfo::start("dam-break", "dfsph");
        info.fail(&StepError::not_finite("sum density", "water", 17, "density"));
        let json = serde_json::to_value(&info).unwrap();
        assert_eq!(json["status"], "failed");
        assert_eq!(json["error"]["code"], "not-finite");
        assert_eq!(json["error"]["index"], 17);
        assert_eq!(serde_json::from_value::<RunInfo>(json).unwrap(), info);
    }

    #[test]
    fn numbers_that_are_not_finite_come_back() {
        let info = RunInfo { simulated_seconds: f64::NAN, ..RunInfo::start("a", "b") };
        let json = serde_json::to_string(&info).unwrap();
        assert!(serde_json::from_str::<RunInfo>(&json).unwrap().simulated_seconds.is_nan());
    }

    #[test]
    fn timings_come_from_the_report() {
        let mut report = StepReport::default();
        report.stage("sum density", || ());
        report.stage("sum density", || ());
        let mut info = RunInfo::start("a", "b");
        info.set_timings(&report);
        assert_eq!((info.timings[0].name.as_str(), info.timings[0].calls), ("sum density", 2));
    }
}
