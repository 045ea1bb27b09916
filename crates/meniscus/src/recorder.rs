//! What a world does, written into its folder.

use crate::commands::as_row;
use crate::film::{Film, render};
use crate::log::Log;
use crate::run::{Event, RunError, RunOptions, Summary};
use crate::surfaces::{write_foam, write_surface};
use meniscus_core::{Frame, StepReport, par};
use meniscus_record::{CheckpointHeader, CommandWriter, ProbeWriter, RunFailure, RunFolder, RunInfo, RunStatus};
use meniscus_scene::ProbeRate;
use meniscus_sim::{Totals, World};
use meniscus_surface::{Extractor, Spray};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// How a warning about lost particles ends.
const LEFT: &str = " particles have left the domain and are gone: a larger `domain` keeps them";

/// Writes what a world does into its folder.
pub(crate) struct Recorder<'a> {
    folder: &'a RunFolder,
    info: RunInfo,
    probes: ProbeWriter,
    commands: CommandWriter,
    log: Log,
    film: Option<Film>,
    scene_digest: String,
    profile: StepReport,
    logged: usize,
    stop: Option<Arc<AtomicBool>>,
    spray: Spray,
    surfaces: Option<Extractor>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(
        folder: &'a RunFolder,
        (info, scene_digest): (RunInfo, String),
        film: Option<Film>,
        world: &World,
        options: &RunOptions,
    ) -> Result<Self, RunError> {
        let surface = world.scene().surface;
        let mut log = Log::open(folder, options.log)?;
        log.frames = frame_count(world.scene().seconds, world.scene().fps);
        Ok(Self {
            folder,
            info,
            probes: folder.probe_writer(&world.columns())?,
            commands: folder.command_writer()?,
            log,
            film,
            scene_digest,
            profile: StepReport::default(),
            logged: 0,
            stop: options.stop.clone(),
            // Drops that fly when a run stops fly on when it is resumed.
            spray: folder
                .read_frame(world.frame_number())
                .map_or_else(|_| Spray::default(), |last| Spray::after(&last)),
            surfaces: (surface.every > 0).then(|| Extractor::new(surface)),
        })
    }

    /// Steps to the end of the scene; what ends it before stands in run.json, as far as that can still be written.
    pub(crate) fn go_on(&mut self, mut world: World, tell: &mut dyn FnMut(Event)) -> Result<Summary, RunError> {
        let (start, earlier) = (Instant::now(), self.info.wall_seconds);
        let result = self.steps(&mut world, tell);
        self.note(&world);
        self.info.wall_seconds = earlier + start.elapsed().as_secs_f64();
        match result.and_then(|()| self.finish(&world)) {
            Ok(summary) => Ok(summary),
            Err(error) => {
                match &error {
                    RunError::Stopped { .. } => self.info.status = RunStatus::Stopped,
                    RunError::Step(error) => self.info.fail(error),
                    other => self.info.fail(RunFailure::from_words("record", other.to_string())),
                }
                // The first error is what the caller must hear of.
                let _ = self.folder.write_info(&self.info);
                Err(error)
            }
        }
    }

    fn steps(&mut self, world: &mut World, tell: &mut dyn FnMut(Event)) -> Result<(), RunError> {
        let frames = frame_count(world.scene().seconds, world.scene().fps);
        let at_start = world.totals();
        tell(Event::Start { world, frames });
        while world.frame_number() < frames {
            if self.advance(world, &at_start, tell)? {
                self.write(world, world.frame(), tell)?;
                if self.take_warnings(world) {
                    // A run that is killed later has told them.
                    self.folder.write_info(&self.info)?;
                }
                let number = world.frame_number();
                if number.is_multiple_of(world.scene().output.checkpoint_every) || number == frames {
                    self.write_checkpoint(world)?;
                }
            }
            if self.is_to_stop() && world.frame_number() < frames {
                return Err(self.stop_here(world)?);
            }
        }
        Ok(())
    }

    fn is_to_stop(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Steps to the next frame, or until it is to stop; whether the frame is reached.
    fn advance(&mut self, world: &mut World, at_start: &Totals, tell: &mut dyn FnMut(Event)) -> Result<bool, RunError> {
        let every_step = world.scene().output.probes == ProbeRate::Step;
        par::awake(|| {
            loop {
                let arrived = world.step_to_frame()?;
                self.profile.absorb(world.report());
                if every_step && !arrived {
                    self.probes.write(&world.measure())?;
                }
                tell(Event::Step { world, at_start });
                if arrived || self.is_to_stop() {
                    return Ok(arrived);
                }
            }
        })
    }

    /// Saves the state between two frames.
    fn stop_here(&mut self, world: &World) -> Result<RunError, RunError> {
        self.write_commands(world)?;
        let (header, payload) = self.state(world)?;
        self.folder.write_stop(&header, &payload)?;
        let dir = self.folder.dir().to_owned();
        Ok(RunError::Stopped { dir, frame: header.frame, time: header.time })
    }

    /// Writes a frame with its picture, its row of probes and the commands given since the last one.
    pub(crate) fn write(
        &mut self,
        world: &World,
        mut frame: Frame,
        tell: &mut dyn FnMut(Event),
    ) -> Result<(), RunError> {
        self.spray.mark(&mut frame);
        self.folder.write_frame(&frame)?;
        if let Some(extractor) = &mut self.surfaces
            && frame.number.is_multiple_of(world.scene().surface.every)
        {
            write_surface(self.folder, &frame, extractor)?;
        }
        self.probes.write(&world.measure())?;
        self.write_commands(world)?;
        self.log.frame(world)?;
        let picture = match &mut self.film {
            Some(film) => film.shoot(&frame, self.folder)?,
            None => None,
        };
        tell(Event::Frame { number: frame.number, picture });
        Ok(())
    }

    fn write_commands(&mut self, world: &World) -> Result<(), RunError> {
        for logged in &world.log()[self.logged..] {
            self.commands.write(&as_row(logged)?)?;
        }
        self.logged = world.log().len();
        Ok(())
    }

    pub(crate) fn write_checkpoint(&mut self, world: &World) -> Result<(), RunError> {
        let (header, payload) = self.state(world)?;
        self.folder.write_checkpoint(&header, &payload)?;
        Ok(())
    }

    /// Where the world is, and all that it is.
    fn state(&self, world: &World) -> Result<(CheckpointHeader, Vec<u8>), RunError> {
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
        Ok((header, payload))
    }

    /// Takes over what has become odd since the start; whether there is something new.
    fn take_warnings(&mut self, world: &World) -> bool {
        let before = self.info.warnings.len();
        let new = world.warnings().iter().filter(|warning| !self.info.warnings.contains(warning));
        let new: Vec<String> = new.cloned().collect();
        self.info.warnings.extend(new);
        self.info.warnings.len() > before
    }

    fn note(&mut self, world: &World) {
        self.take_warnings(world);
        let totals = world.totals();
        self.info.steps = world.steps();
        self.info.simulated_seconds = world.time();
        self.info.particles = totals.particles;
        self.info.tets = totals.tets;
        self.info.cells = totals.cells;
        self.info.lost_particles = world.lost();
        self.info.warnings.retain(|warning| !warning.ends_with(LEFT));
        if world.lost() > 0 {
            self.info.warnings.push(format!("{}{LEFT}", world.lost()));
        }
        self.info.set_timings(&self.profile);
    }

    fn finish(&mut self, world: &World) -> Result<Summary, RunError> {
        let foam = world.scene().surface.foam;
        match self.film.take() {
            // Foam is known when all frames are: then all pictures are taken again.
            Some(_) if foam => drop(render(self.folder, &[], &mut |_, _| {})?),
            Some(film) => drop(film.finish(self.folder, &self.info.scene)?),
            None => {}
        }
        if foam {
            write_foam(self.folder, world.scene())?;
        }
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
