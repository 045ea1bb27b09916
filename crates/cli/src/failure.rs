//! What goes wrong, as the user sees it: a message and an exit code.

use meniscus::RunError;
use meniscus::record::{RecordError, RunFailure};
use meniscus::scene::SceneError;
use meniscus::sim::BuildError;
use serde_json::json;
use std::process::ExitCode;

/// Bad usage or bad input.
pub(crate) const BAD_INPUT: u8 = 2;
/// The simulation failed.
pub(crate) const SIMULATION_FAILED: u8 = 3;

/// Short name of what is no failure: it was asked for.
const STOPPED: &str = "stopped";

/// A failure on its way to the user.
#[derive(Debug)]
pub(crate) struct Failure {
    exit_code: u8,
    failure: Box<RunFailure>,
    /// The same with the lines of the file it is about.
    fancy: Option<miette::Report>,
}

impl Failure {
    /// Bad usage or bad input, with a short name for scripts.
    pub(crate) fn input(code: &str, message: impl Into<String>) -> Self {
        let failure = RunFailure { code: code.into(), message: message.into(), stage: None, body: None, index: None };
        Self { exit_code: BAD_INPUT, failure: Box::new(failure), fancy: None }
    }

    pub(crate) fn with_exit_code(self, exit_code: u8) -> Self {
        Self { exit_code, ..self }
    }

    /// Prints the failure, as JSON on standard output or as words on standard error.
    pub(crate) fn report(self, json: bool) -> ExitCode {
        if json {
            say!("{}", json!({ "error": self.failure }));
        } else if let Some(report) = self.fancy {
            note!("{report:?}");
        } else if self.failure.code == STOPPED {
            note!("{}", self.failure.message);
        } else {
            note!("error: {}", self.failure.message);
        }
        ExitCode::from(self.exit_code)
    }
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Self {
        let code = match &error {
            SceneError::Unreadable { .. } => "scene-unreadable",
            SceneError::Unknown { .. } => "no-such-scene",
            SceneError::Invalid { .. } => "scene-invalid",
            SceneError::Set { .. } => "set-invalid",
        };
        let message = match error.advice() {
            Some(advice) => format!("{error} (help: {advice})"),
            None => error.to_string(),
        };
        Self { fancy: Some(miette::Report::new(error)), ..Self::input(code, message) }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self::input("record", error.to_string())
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self::input("scene-impossible", error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Scene(error) => error.into(),
            RunError::Record(error) => error.into(),
            RunError::Build(error) => error.into(),
            RunError::Step(error) => {
                Self { exit_code: SIMULATION_FAILED, failure: Box::new(RunFailure::from(&error)), fancy: None }
            }
            RunError::Stopped { .. } => Self::input(STOPPED, error.to_string()),
            RunError::Memory { .. } => Self::input("memory", error.to_string()),
            RunError::Picture(_) => Self::input("picture", error.to_string()),
            RunError::Change { .. } => Self::input("set-invalid", error.to_string()),
            RunError::Replay(_) => Self::input("commands", error.to_string()),
            RunError::NoGrid { .. } => Self::input("no-grid", error.to_string()),
            RunError::NotBuiltIn { .. } => Self::input("not-built-in", error.to_string()),
            RunError::NoFrames { .. } => Self::input("no-frames", error.to_string()),
            RunError::Load { .. } | RunError::NoCheckpoint { .. } | RunError::SceneChanged { .. } => {
                Self::input("checkpoint", error.to_string())
            }
        }
    }
}
