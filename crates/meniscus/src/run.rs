//! The loop that turns a scene into a record: frames, pictures, probes, checkpoints.

use crate::film::Film;
use meniscus_core::{Frame, StepError, StepReport};
use meniscus_picture::PictureError;
use meniscus_record::{
    CheckpointHeader, CommandWriter, ProbeWriter, RecordError, RunFolder, RunInfo, RunStatus, Skipped,
};
use meniscus_scene::{Loaded, ProbeRate, SceneError};
use meniscus_sim::{BuildError, LoadError, Logged, Totals, World};
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

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
    #[error("the scene needs about {} of memory, but {} are free: make `sph.spacing`, `twophase.spacing` or the `edge` of solids larger, or the bodies smaller", gigabytes(*needed), gigabytes(*free))]
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
    /// There are no fields on a grid.
    #[error("{} has no fields: only `twophase` has a grid", dir.display())]
    NoGrid {
        /// The folder of the run.
        dir: PathBuf,
    },
    /// A command in a log does not suit the scene.
    #[error("cannot replay the commands: {0}")]
    Replay(String),
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
    /// Commands to repeat.
    pub replay: Vec<Logged>,
    /// Number of threads, for the record.
    pub threads: usize,
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
    let (scene, assets) = loaded.self_contained();
    let text = meniscus_scene::to_text(&scene).map_err(|e| RunError::Replay(e.to_string()))?;
    for asset in &assets {
        folder.write_asset(&asset.file, &asset.bytes)?;
    }
    folder.write_scene(&text)?;
    let mut info = RunInfo::start(&loaded.name, loaded.scene.method.name());
    info.threads = options.threads as u32;
    info.seconds = loaded.scene.seconds;
    info.fps = loaded.scene.fps;
    info.warnings = world.warnings().to_vec();
    folder.write_info(&info)?;
    let first = world.frame();
    let film = pictures(loaded, options).then(|| Film::new(loaded, &first));
    let mut recorder = Recorder::new(&folder, info, film, &world, digest_of(&text))?;
    recorder.write(&world, &first, tell)?;
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
    let search = folder.checkpoint_at_or_before(from_frame.unwrap_or(u32::MAX))?;
    search.skipped.iter().for_each(|skipped| tell(Event::Skipped(skipped)));
    let Some(checkpoint) = search.found else {
        return Err(RunError::NoCheckpoint { dir: folder.dir().to_owned(), skipped: search.skipped });
    };
    let scene_digest = digest_of(&folder.scene()?);
    if scene_digest != checkpoint.header.scene_digest {
        return Err(RunError::SceneChanged { path: folder.scene_path() });
    }
    let mut info = folder.info()?;
    let mut loaded = Loaded::from_file(&folder.scene_path(), &[])?;
    loaded.name.clone_from(&info.scene);
    let mut world = World::new(&loaded)?;
    let path = folder.checkpoint_path(checkpoint.header.frame);
    world.load(&checkpoint.payload).map_err(|source| RunError::Load { path, source })?;
    folder.rewind_to(&checkpoint.header)?;
    let later: Vec<Logged> = options.replay.iter().filter(|logged| logged.step >= world.steps()).cloned().collect();
    world.replay(later).map_err(RunError::Replay)?;
    info.status = RunStatus::Running;
    info.error = None;
    info.threads = options.threads as u32;
    folder.write_info(&info)?;
    let film = match pictures(&loaded, options) {
        true => Some(resumed_film(folder, &loaded, &world)?),
        false => None,
    };
    Recorder::new(folder, info, film, &world, scene_digest)?.go_on(world, tell)
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

fn digest_of(text: &str) -> String {
    format!("{:016x}", meniscus_core::checksum(text.as_bytes()))
}

/// Writes what a world does into its folder.
struct Recorder<'a> {
    folder: &'a RunFolder,
    info: RunInfo,
    probes: ProbeWriter,
    commands: CommandWriter,
    film: Option<Film>,
    scene_digest: String,
    profile: StepReport,
    logged: usize,
}

impl<'a> Recorder<'a> {
    fn new(
        folder: &'a RunFolder,
        info: RunInfo,
        film: Option<Film>,
        world: &World,
        scene_digest: String,
    ) -> Result<Self, RunError> {
        Ok(Self {
            folder,
            info,
            probes: folder.probe_writer(&world.columns())?,
            commands: folder.command_writer()?,
            film,
            scene_digest,
            profile: StepReport::default(),
            logged: 0,
        })
    }

    /// Steps to the end of the scene.
    fn go_on(&mut self, mut world: World, tell: &mut dyn FnMut(Event)) -> Result<Summary, RunError> {
        let frames = frame_count(world.scene().seconds, world.scene().fps);
        let (start, earlier) = (Instant::now(), self.info.wall_seconds);
        let at_start = world.totals();
        tell(Event::Start { world: &world, frames });
        while world.frame_number() < frames {
            let result = self.advance(&mut world, &at_start, tell);
            self.info.wall_seconds = earlier + start.elapsed().as_secs_f64();
            if let Err(error) = result {
                self.note(&world);
                self.info.fail(&error);
                self.folder.write_info(&self.info)?;
                return Err(error.into());
            }
            self.write(&world, &world.frame(), tell)?;
            let number = world.frame_number();
            if number.is_multiple_of(world.scene().output.checkpoint_every) || number == frames {
                self.write_checkpoint(&world)?;
            }
        }
        self.finish(&world, earlier, start.elapsed())
    }

    fn advance(&mut self, world: &mut World, at_start: &Totals, tell: &mut dyn FnMut(Event)) -> Result<(), StepError> {
        let every_step = world.scene().output.probes == ProbeRate::Step;
        let end = f64::from(world.frame_number() + 1) / world.scene().fps;
        let (profile, probes) = (&mut self.profile, &mut self.probes);
        world.advance_frame(|world| {
            profile.absorb(world.report());
            if every_step && world.time() < end {
                // A full disk is reported with the frame that follows.
                let _ = probes.write(&world.measure());
            }
            tell(Event::Step { world, at_start });
        })
    }

    /// Writes a frame with its picture, its row of probes and the commands given since the last one.
    fn write(&mut self, world: &World, frame: &Frame, tell: &mut dyn FnMut(Event)) -> Result<(), RunError> {
        self.folder.write_frame(frame)?;
        self.probes.write(&world.measure())?;
        for logged in &world.log()[self.logged..] {
            let row = serde_json::to_value(logged).map_err(|e| RunError::Replay(e.to_string()))?;
            self.commands.write(&row)?;
        }
        self.logged = world.log().len();
        let picture = match &mut self.film {
            Some(film) => film.shoot(frame, self.folder)?,
            None => None,
        };
        tell(Event::Frame { number: frame.number, picture });
        Ok(())
    }

    fn write_checkpoint(&mut self, world: &World) -> Result<(), RunError> {
        let header = CheckpointHeader {
            frame: world.frame_number(),
            step: world.steps(),
            time: world.time(),
            probes_rows: self.probes.rows(),
            commands_rows: self.commands.rows(),
            scene_digest: self.scene_digest.clone(),
        };
        let path = self.folder.checkpoint_path(header.frame);
        let payload = world.save().map_err(|source| RunError::Load { path, source })?;
        self.folder.write_checkpoint(&header, &payload)?;
        Ok(())
    }

    fn note(&mut self, world: &World) {
        let totals = world.totals();
        self.info.steps = world.steps();
        self.info.simulated_seconds = world.time();
        self.info.particles = totals.particles;
        self.info.tets = totals.tets;
        self.info.cells = totals.cells;
        self.info.set_timings(&self.profile);
    }

    fn finish(&mut self, world: &World, earlier: f64, now: Duration) -> Result<Summary, RunError> {
        if let Some(film) = self.film.take() {
            film.finish(self.folder, &self.info.scene)?;
        }
        self.note(world);
        self.info.wall_seconds = earlier + now.as_secs_f64();
        self.info.status = RunStatus::Done;
        let digest = world.digest();
        self.info.digest = Some(digest.clone());
        self.folder.write_info(&self.info)?;
        let info = &self.info;
        Ok(Summary {
            scene: info.scene.clone(),
            method: info.method.clone(),
            steps: info.steps,
            simulated_seconds: info.simulated_seconds,
            wall_seconds: info.wall_seconds,
            particles: info.particles,
            tets: info.tets,
            cells: info.cells,
            digest,
            warnings: info.warnings.clone(),
        })
    }
}

/// Frames after the first.
pub(crate) fn frame_count(seconds: f64, fps: f64) -> u32 {
    // A duration of 2 s at 30 fps is 60 frames, whatever 2.0 * 30.0 rounds to.
    (seconds * fps - 1e-9).ceil().max(1.0) as u32
}
