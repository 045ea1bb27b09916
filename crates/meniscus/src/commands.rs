//! Logged commands as files: what was done, and what is still to be done.

use crate::run::RunError;
use meniscus_record::{RunFolder, read_commands};
use meniscus_sim::Logged;
use serde_json::Value;
use std::path::Path;

/// Reads logged commands, such as the commands.jsonl of a run; steps must not go backwards.
///
/// # Errors
/// With the line that is no command, or comes too late.
pub fn read_log(path: &Path) -> Result<Vec<Logged>, RunError> {
    let at = |row: usize, why: &str| RunError::Replay(format!("{}:{}: {why}", path.display(), row + 1));
    let rows = read_commands(path)?.into_iter().enumerate();
    let log: Vec<Logged> = rows
        .map(|(row, value)| serde_json::from_value(value).map_err(|e| at(row, &e.to_string())))
        .collect::<Result<_, _>>()?;
    match log.windows(2).position(|pair| pair[0].step > pair[1].step) {
        None => Ok(log),
        Some(row) => Err(at(row + 1, "the step goes backwards")),
    }
}

/// Keeps the commands that a run is to repeat beside what it has done: a run that is broken off still knows those to come.
pub(crate) fn keep_input(folder: &RunFolder, replay: &[Logged]) -> Result<(), RunError> {
    if replay.is_empty() {
        return Ok(());
    }
    let rows: Vec<Value> = replay.iter().map(as_row).collect::<Result<_, _>>()?;
    Ok(folder.write_input(&rows)?)
}

/// Commands that a resumed run still has to repeat.
pub(crate) fn pending(folder: &RunFolder, step: u64) -> Result<Vec<Logged>, RunError> {
    if !folder.input_path().exists() {
        if !folder.commands_path().exists() {
            return Ok(Vec::new());
        }
        // A run of an earlier version: what it has done is all that is known, and is kept before it is cut.
        keep_input(folder, &read_log(&folder.commands_path())?)?;
    }
    let mut log = if folder.input_path().exists() { read_log(&folder.input_path())? } else { Vec::new() };
    log.retain(|logged| logged.step >= step);
    Ok(log)
}

pub(crate) fn as_row(logged: &Logged) -> Result<Value, RunError> {
    serde_json::to_value(logged).map_err(|e| RunError::Replay(e.to_string()))
}
