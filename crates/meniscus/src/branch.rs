//! A run that leaves another at one of its frames: all before is shared, what is changed there stands in its scene's script, so
//! that its folder is, bit for bit, that of a whole run of that scene.

use crate::commands::{as_row, read_log};
use crate::run::{Event, RunError, RunOptions, Summary, digest_of, resume};
use meniscus_record::{Branch, CheckpointHeader, RecordError, RunFolder, RunInfo};
use meniscus_scene::{Command, Loaded, Scene, Scripted, Set, live};
use meniscus_sim::{Logged, World};
use std::path::Path;

/// Branches off a run at a frame: `changes` are made there, and the commands of `options.replay` from there on are given. What was
/// done by hand in the old run is repeated up to that frame.
///
/// # Errors
/// When the run has no such frame or no checkpoint before it, a key cannot be changed while a scene runs, the folder cannot be
/// written, or a step fails.
pub fn branch(
    from: &RunFolder,
    frame: u32,
    changes: &[Set],
    make_folder: impl FnOnce() -> Result<RunFolder, RecordError>,
    options: &RunOptions,
    tell: &mut dyn FnMut(Event),
) -> Result<(RunFolder, Summary), RunError> {
    let leaves = from.read_frame(frame)?;
    let search = from.checkpoint_at_or_before(frame)?;
    let Some(checkpoint) = search.found else {
        return Err(RunError::NoCheckpoint { dir: from.dir().to_owned(), skipped: search.skipped });
    };
    if digest_of(&from.scene()?) != checkpoint.header.scene_digest {
        return Err(RunError::SceneChanged { path: from.scene_path() });
    }
    let mut loaded = Loaded::from_file(&from.scene_path(), &[])?;
    let (info, time) = (from.info()?, f64::from(frame) / loaded.scene.fps);
    let mut world = World::new(&loaded)?;
    for set in changes {
        world.apply(Command::Set(set.clone())).map_err(|reason| refused(from, &loaded.scene, set, reason))?;
        loaded.scene.script.push(Scripted { time, command: Command::Set(set.clone()) });
    }
    let (scene, assets) = loaded.self_contained();
    let text = meniscus_scene::to_text(&scene).map_err(|e| RunError::Replay(e.to_string()))?;
    let folder = make_folder()?;
    for asset in &assets {
        folder.write_asset(&asset.file, &asset.bytes)?;
    }
    folder.write_scene(&text)?;
    let commands = commands_around(from, leaves.step, &options.replay)?;
    folder.write_input(&commands.iter().map(as_row).collect::<Result<Vec<_>, _>>()?)?;
    share(from, &folder, checkpoint.header.frame)?;
    let branch = Branch { from: from.dir().display().to_string(), frame, set: changes.iter().map(shown).collect() };
    let started = RunInfo { branch: Some(branch), ..RunInfo::start(&info.scene, &info.method) };
    folder.write_info(&RunInfo { seconds: info.seconds, fps: info.fps, warnings: info.warnings, ..started })?;
    let header = CheckpointHeader { scene_digest: digest_of(&text), ..checkpoint.header };
    folder.write_checkpoint(&header, &checkpoint.payload)?;
    let summary = resume(&folder, None, options, tell)?;
    Ok((folder, summary))
}

/// Why a key cannot be set: scenes have no such key, it holds from the start, or `reason`, which the world has against its value.
fn refused(from: &RunFolder, scene: &Scene, set: &Set, reason: String) -> RunError {
    let key = set.key.clone();
    if live::find(scene, &key).is_ok() {
        return RunError::Change { key, reason };
    }
    match Loaded::from_file(&from.scene_path(), &[shown(set)]) {
        Err(error) => error.into(),
        Ok(_) => RunError::Change {
            reason: format!(
                "it holds from the start of a run, so begin anew by `meniscus run … --set {}`; what can change on the way: {}",
                shown(set),
                live::keys(scene).join(", ")
            ),
            key,
        },
    }
}

/// What was done by hand before a step, and what is to be done from there on.
fn commands_around(from: &RunFolder, step: u64, later: &[Logged]) -> Result<Vec<Logged>, RunError> {
    let path = if from.input_path().exists() { from.input_path() } else { from.commands_path() };
    let mut log = if path.exists() { read_log(&path)? } else { Vec::new() };
    log.retain(|logged| logged.step < step);
    log.extend(later.iter().filter(|logged| logged.step >= step).cloned());
    Ok(log)
}

/// Frames and pictures up to one, and the rows of probes and commands: resuming cuts those that come later.
fn share(from: &RunFolder, to: &RunFolder, last: u32) -> Result<(), RunError> {
    for number in from.frame_numbers()?.into_iter().filter(|&number| number <= last) {
        link(&from.frame_path(number), &to.frame_path(number))?;
    }
    for number in from.picture_numbers()?.into_iter().filter(|&number| number <= last) {
        link(&from.picture_path(number), &to.picture_path(number))?;
    }
    // Rows are appended in place: these two must not be shared.
    copy(&from.probes_path(), &to.probes_path())?;
    if from.commands_path().exists() {
        copy(&from.commands_path(), &to.commands_path())?;
    }
    Ok(())
}

/// One file under two names where the disk can do that; whoever writes it anew writes another.
fn link(from: &Path, to: &Path) -> Result<(), RunError> {
    if std::fs::hard_link(from, to).is_ok() { Ok(()) } else { copy(from, to) }
}

fn copy(from: &Path, to: &Path) -> Result<(), RunError> {
    let failed = |source| RecordError::Io { action: "copy", path: from.to_owned(), source };
    std::fs::copy(from, to).map_err(failed)?;
    Ok(())
}

fn shown(set: &Set) -> String {
    format!("{}={}", set.key, serde_json::to_string(&set.value).unwrap_or_default())
}
