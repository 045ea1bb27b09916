//! The loop that turns a scene into a record: frames, pictures, probes, checkpoints.

use crate::commands::{keep_input, pending};
use crate::film::Film;
use crate::log::LogFormat;
use crate::recorder::Recorder;
use crate::shell::shell_word;
use meniscus_core::StepError;
use meniscus_picture::PictureError;
use meniscus_record::{RecordError, RunFolder, RunInfo, RunStatus, Skipped};
use meniscus_scene::{Loaded, SceneError};
use meniscus_sim::{BuildError, LoadError, Logged, Totals, World};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A run could not begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scene is wrong.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The scene cannot become a world.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The scene needs more memory than there is.
    #[error("the scene needs about {} of memory, but {} are free: make `resolution` or the `edge` of solids larger, or the bodies smaller", gigabytes(*needed), gigabytes(*free))]
    Memory {
        /// Estimate \[bytes\].
        needed: f64,
        /// Free memory \[bytes\].
        free: f64,
    },
    /// The record could not be written or read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A picture could not be made.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// A checkpoint does not belong to the scene beside it.
    #[error("{}: {source}", path.display())]
    Load {
        /// The checkpoint.
        path: PathBuf,
        /// Why.
        source: LoadError,
    },
    /// There is nothing to resume from.
    #[error("{} has no usable checkpoint{}: run the scene again", dir.display(), named(skipped))]
    NoCheckpoint {
        /// The folder of the run.
        dir: PathBuf,
        /// Checkpoints that cannot be used.
        skipped: Vec<Skipped>,
    },
    /// The scene beside the checkpoint is not the one that it was made from.
    #[error("{} has been changed since the run began: put the old text back, or run the new scene into another folder", path.display())]
    SceneChanged {
        /// The scene file of the record.
        path: PathBuf,
    },
    /// There is nothing to show.
    #[error("{} has no frames", dir.display())]
    NoFrames {
        /// The folder of the run.
        dir: PathBuf,
    },
    /// A format that this program was built without.
    #[error(
        "this program was built without {movie}: build it with `--features {movie}`, or take `--to y4m`, which encoders read, or the GIF"
    )]
    NotBuiltIn {
        /// The format, which is also the feature.
        movie: &'static str,
    },
    /// There are no fields on a grid.
    #[error("{} has no fields: only `twophase` has a grid", dir.display())]
    NoGrid {
        /// The folder of the run.
        dir: PathBuf,
    },
    /// A command in a log does not suit the scene.
    #[error("cannot replay the commands: {0}")]
    Replay(String),
    /// A key cannot be changed where a run branches.
    #[error("cannot change `{key}` in a branch: {reason}")]
    Change {
        /// The key.
        key: String,
        /// Why.
        reason: String,
    },
    /// It was asked to stop; its whole state is in the record.
    #[error("stopped at {time:.4} s, after frame {frame}; go on with: meniscus resume {}", shell_word(&dir.display().to_string()))]
    Stopped {
        /// The folder of the run.
        dir: PathBuf,
        /// The last frame written.
        frame: u32,
        /// Simulated time reached \[s\].
        time: f64,
    },
    /// The simulation failed; everything up to the last frame is in the record.
    #[error(transparent)]
    Step(#[from] StepError),
}

fn gigabytes(bytes: f64) -> String {
    format!("{:.1} GB", bytes / 1e9)
}

fn named(skipped: &[Skipped]) -> String {
    let names: Vec<String> = skipped.iter().map(|s| format!("{}: {}", s.path.display(), s.reason)).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join("; ")) }
}

/// What a run may be told.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// No pictures, whatever the scene says.
    pub no_pictures: bool,
    /// Commands to repeat, by a run that begins; one that is resumed has them in its folder.
    pub replay: Vec<Logged>,
    /// Number of threads, for the record.
    pub threads: usize,
    /// Set by another thread or a signal: the run finishes its step, saves its state and ends with [`RunError::Stopped`].
    pub stop: Option<Arc<AtomicBool>>,
    /// How lines of run.log are written.
    pub log: LogFormat,
}

/// What a run tells while it goes.
pub enum Event<'a> {
    /// It begins, or goes on.
    Start {
        /// The world at its first step.
        world: &'a World,
        /// Frames in all.
        frames: u32,
    },
    /// A step was taken.
    Step {
        /// The world after it.
        world: &'a World,
        /// Sums over the world when the run began.
        at_start: &'a Totals,
    },
    /// A frame was written.
    Frame {
        /// Its number.
        number: u32,
        /// The picture, if there is one.
        picture: Option<PathBuf>,
    },
    /// A damaged checkpoint is passed over.
    Skipped(&'a Skipped),
    /// A frame or the probes from before the checkpoint are damaged or gone, and stay so.
    Damaged(&'a Skipped),
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Name of the scene.
    pub scene: String,
    /// Name of the method.
    pub method: String,
    /// Steps taken, from the very start.
    pub steps: u64,
    /// Simulated time \[s\].
    pub simulated_seconds: f64,
    /// Time it took, all parts of a resumed run together \[s\].
    pub wall_seconds: f64,
    /// Particles at the end.
    pub particles: u64,
    /// Tetrahedra at the end.
    pub tets: u64,
    /// Grid cells.
    pub cells: u64,
    /// Fingerprint of the last state.
    pub digest: String,
    /// What was odd.
    pub warnings: Vec<String>,
}

/// Refuses a scene that needs more memory than is free; `free` \[bytes\] is `None` where that is not known.
///
/// # Errors
/// With both numbers.
pub fn check_memory(loaded: &Loaded, free: Option<u64>) -> Result<(), RunError> {
    let needed = meniscus_sim::estimate(loaded).bytes;
    match free {
        Some(free) if needed > free as f64 => Err(RunError::Memory { needed, free: free as f64 }),
        _ => Ok(()),
    }
}

/// Runs a scene into a new folder. Call it inside the thread pool that is to be used.
///
/// # Errors
/// When the scene, the folder or a step fails; the record then tells why.
pub fn run(
    loaded: &Loaded,
    make_folder: impl FnOnce() -> Result<RunFolder, RecordError>,
    options: &RunOptions,
    tell: &mut dyn FnMut(Event),
) -> Result<(RunFolder, Summary), RunError> {
    let mut world = World::new(loaded)?;
    world.replay(options.replay.clone()).map_err(RunError::Replay)?;
    let folder = make_folder()?;
    let _writer = folder.lock()?;
    let (scene, assets) = loaded.self_contained();
    let text = meniscus_scene::to_text(&scene).map_err(|e| RunError::Replay(e.to_string()))?;
    for asset in &assets {
        folder.write_asset(&asset.file, &asset.bytes)?;
    }
    folder.write_scene(&text)?;
    keep_input(&folder, &options.replay)?;
    let mut info = RunInfo::start(&loaded.name, loaded.scene.method.name());
    info.gradients = loaded.scene.named_gradients().map(str::to_owned);
    info.threads = options.threads as u32;
    info.seconds = loaded.scene.seconds;
    info.fps = loaded.scene.fps;
    info.warnings = world.warnings().to_vec();
    folder.write_info(&info)?;
    let first = world.frame();
    let film = pictures(loaded, options).then(|| Film::new(loaded, &first));
    let mut recorder = Recorder::new(&folder, (info, digest_of(&text)), film, &world, options)?;
    recorder.write(&world, first, tell)?;
    recorder.write_checkpoint(&world)?;
    let summary = recorder.go_on(world, tell)?;
    Ok((folder, summary))
}

/// Goes on with a run from its last checkpoint, or from the last at or before a frame.
///
/// # Errors
/// When there is no checkpoint to go on from, or a step fails.
pub fn resume(
    folder: &RunFolder,
    from_frame: Option<u32>,
    options: &RunOptions,
    tell: &mut dyn FnMut(Event),
) -> Result<Summary, RunError> {
    let _writer = folder.lock()?;
    let search = folder.checkpoint_at_or_before(from_frame.unwrap_or(u32::MAX))?;
    search.skipped.iter().for_each(|skipped| tell(Event::Skipped(skipped)));
    let Some(checkpoint) = search.found else {
        return Err(RunError::NoCheckpoint { dir: folder.dir().to_owned(), skipped: search.skipped });
    };
    let text = folder.scene()?;
    if digest_of(&text) != checkpoint.header.scene_digest {
        return Err(RunError::SceneChanged { path: folder.scene_path() });
    }
    let mut info = folder.info()?;
    let mut loaded = Loaded::from_file(&folder.scene_path(), &[])?;
    loaded.name.clone_from(&info.scene);
    let mut world = World::new(&loaded)?;
    let path = folder.checkpoint_path(checkpoint.header.frame);
    world.load(&checkpoint.payload).map_err(|source| RunError::Load { path, source })?;
    world.replay(pending(folder, world.steps())?).map_err(RunError::Replay)?;
    folder.rewind_to(&checkpoint.header)?;
    folder.damage_up_to(checkpoint.header.frame).iter().for_each(|damaged| tell(Event::Damaged(damaged)));
    info.status = RunStatus::Running;
    info.error = None;
    info.threads = options.threads as u32;
    folder.write_info(&info)?;
    let film = pictures(&loaded, options).then(|| resumed_film(folder, &loaded, &world)).transpose()?;
    Recorder::new(folder, (info, digest_of(&text)), film, &world, options)?.go_on(world, tell)
}

/// Whether a run takes pictures.
fn pictures(loaded: &Loaded, options: &RunOptions) -> bool {
    !options.no_pictures && loaded.scene.output.picture_every > 0
}

/// A resumed run is filmed as if it had never stopped.
fn resumed_film(folder: &RunFolder, loaded: &Loaded, world: &World) -> Result<Film, RunError> {
    let first = folder.read_frame(0).unwrap_or_else(|_| world.frame());
    let mut film = Film::new(loaded, &first);
    film.catch_up(folder, world.frame_number())?;
    Ok(film)
}

pub(crate) fn digest_of(text: &str) -> String {
    format!("{:016x}", meniscus_core::checksum(text.as_bytes()))
}
