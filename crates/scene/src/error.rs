//! What a scene file is told when it is wrong: file, line, the offending text, and what would be right.

use miette::{Diagnostic, NamedSource, SourceSpan};
use std::path::PathBuf;
use std::sync::Arc;

/// A scene could not be read.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum SceneError {
    /// The file itself could not be read.
    #[error("cannot read scene file {}: {reason}", path.display())]
    #[diagnostic(code(scene::unreadable), help("give the path of a TOML file, or a name that `meniscus list` shows"))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// There is no such scene.
    #[error("there is no scene `{name}`")]
    #[diagnostic(code(scene::unknown))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        #[help]
        help: String,
    },
    /// Something in it is wrong.
    #[error("{}: {message}", location(source_code, *span))]
    #[diagnostic(code(scene::invalid))]
    Invalid {
        /// What is wrong.
        message: String,
        /// The file.
        #[source_code]
        source_code: Arc<NamedSource<String>>,
        /// Where.
        #[label("here")]
        span: SourceSpan,
        /// The dotted key that is wrong, or the table that lacks something.
        key: Option<String>,
        /// What would be right.
        #[help]
        help: Option<String>,
    },
    /// A `--set` that is no `key=value`, or that the scene cannot take.
    #[error("--set {text}: {message}")]
    #[diagnostic(code(scene::set))]
    Set {
        /// The argument.
        text: String,
        /// What is wrong with it.
        message: String,
        /// What would be right.
        #[help]
        help: Option<String>,
    },
}

impl SceneError {
    /// The line of the scene file at which it is wrong, counted from one.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Invalid { source_code, span, .. } => Some(line_of(source_code.inner(), span.offset())),
            Self::Unreadable { .. } | Self::Unknown { .. } | Self::Set { .. } => None,
        }
    }

    /// The dotted key that is wrong, or the table that lacks something.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Invalid { key, .. } => key.as_deref(),
            Self::Set { text, .. } => text.split_once('=').map(|(key, _)| key.trim()),
            Self::Unreadable { .. } | Self::Unknown { .. } => None,
        }
    }

    /// What would be right.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        self.help().map(|help| help.to_string())
    }
}

fn location(source: &NamedSource<String>, span: SourceSpan) -> String {
    format!("{}:{}", source.name(), line_of(source.inner(), span.offset()))
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|&b| b == b'\n').count() + 1
}
