//! Errors as Python exceptions that carry where something is wrong.

use meniscus::RunError;
use meniscus::core::StepError as Step;
use meniscus::scene::SceneError as Scene;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    meniscus,
    SceneError,
    PyValueError,
    "A scene is wrong. `file`, `line`, `key` and `help` say where and what would be right; each may be None."
);
create_exception!(
    meniscus,
    StepError,
    PyRuntimeError,
    "A step failed at every length allowed. `stage`, `body` and `index` say where; the world is as it was before."
);
create_exception!(meniscus, RecordError, PyOSError, "A record could not be read or written.");

/// Puts a value on an exception; one that cannot be put is left out, the message says it all.
fn put<'py>(py: Python<'py>, error: &PyErr, name: &str, value: impl IntoPyObject<'py>) {
    let _ = error.value(py).setattr(name, value);
}

pub(crate) fn scene(py: Python<'_>, error: &Scene) -> PyErr {
    let file = match error {
        Scene::Unreadable { path, .. } => Some(path.display().to_string()),
        Scene::Unknown { name, .. } => Some(name.clone()),
        Scene::Invalid { source_code, .. } => Some(source_code.name().to_owned()),
        Scene::Set { .. } => None,
    };
    let raised = SceneError::new_err(error.to_string());
    if let Some(help) = error.advice() {
        // A traceback shows it, from Python 3.11 on.
        let _ = raised.value(py).call_method1("add_note", (help,));
    }
    put(py, &raised, "file", file);
    put(py, &raised, "line", error.line());
    put(py, &raised, "key", error.key());
    put(py, &raised, "help", error.advice());
    raised
}

pub(crate) fn step(py: Python<'_>, error: &Step) -> PyErr {
    let raised = StepError::new_err(error.to_string());
    put(py, &raised, "stage", &error.stage);
    put(py, &raised, "body", &error.body);
    put(py, &raised, "index", error.index);
    raised
}

pub(crate) fn run(py: Python<'_>, error: &RunError) -> PyErr {
    match error {
        RunError::Scene(error) => scene(py, error),
        RunError::Step(error) => step(py, error),
        RunError::Build(_) | RunError::Memory { .. } | RunError::Replay(_) | RunError::Change { .. } => {
            plain(py, &error)
        }
        _ => RecordError::new_err(error.to_string()),
    }
}

/// A scene that is wrong at no line.
pub(crate) fn plain(py: Python<'_>, error: &dyn std::fmt::Display) -> PyErr {
    let raised = SceneError::new_err(error.to_string());
    for name in ["file", "line", "key", "help"] {
        put(py, &raised, name, None::<String>);
    }
    raised
}

pub(crate) fn record(error: impl std::fmt::Display) -> PyErr {
    RecordError::new_err(error.to_string())
}
