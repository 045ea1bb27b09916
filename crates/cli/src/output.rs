//! Words and progress.

use crate::failure::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use meniscus::scene::Loaded;
use meniscus::sim::{Totals, estimate, odd_sizes};
use meniscus::{Event, RunError};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

/// A line on standard output. If nobody reads it any more, it is nobody's loss, and no reason to end a simulation.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($words)*);
    }};
}

/// The same on standard error.
macro_rules! note {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

/// What the program can do, in a dozen lines.
pub(crate) const INTRODUCTION: &str = "\
Meniscus: liquids meet solids. This runs the default scene; there is more:
  meniscus list                        the gallery
  meniscus run SCENE                   simulate: frames, pictures, probes, checkpoints
  meniscus resume DIR                  go on after a crash or a kill, bit for bit
  meniscus play SCENE                  live in the browser; meniscus view DIR replays a run
  meniscus compare SCENE               the same scene by several methods, side by side
  meniscus render DIR                  pictures again, in other colours or from elsewhere
  meniscus surface DIR                 surfaces of the liquids of a run, as PLY files
  meniscus export DIR --to vtk|usd|... for ParaView, PyVista; Blender, Houdini, Maya; OBJ, PLY, glTF
  meniscus new SCENE                   copy a scene here to edit; meniscus check FILE tells what is wrong
  meniscus validate                    theory and experiment against us; meniscus bench: how fast it is here
  meniscus --help                      everything else
";

/// Particles that are built in about a second; more are announced.
const MANY_PARTICLES: f64 = 1e6;

/// Says what is odd about the sizes of a large scene before anything is built: that can take minutes.
pub(crate) fn warn_of_sizes(loaded: &Loaded) -> Result<(), RunError> {
    let particles = estimate(loaded).most_particles;
    let odd = odd_sizes(loaded)?;
    if particles > MANY_PARTICLES {
        note!("building about {} particles", count(particles as u64));
        odd.iter().for_each(|warning| note!("warning: {warning}"));
    }
    Ok(())
}

/// Prints a document.
pub(crate) fn print_json(document: &impl Serialize) -> Result<ExitCode, Failure> {
    let text = serde_json::to_string_pretty(document).map_err(|e| Failure::input("json", e.to_string()))?;
    print(format!("{text}\n").as_bytes())
}

/// Prints what was asked for: a reader that has seen enough is content, a full disk is told.
pub(crate) fn print(bytes: &[u8]) -> Result<ExitCode, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::input("output", format!("cannot write to standard output: {error}")))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// A number with thin spaces between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// The progress of a run: a bar on a terminal, nothing elsewhere.
pub(crate) struct Progress {
    bar: ProgressBar,
    shown: Instant,
    steps: u64,
    began: Instant,
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        let hidden = quiet || !std::io::stderr().is_terminal();
        let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr_with_hz(10) };
        let bar = ProgressBar::with_draw_target(Some(1), target);
        let style = ProgressStyle::with_template("{percent:>3} % {bar:24.cyan/blue} {msg} ETA {eta}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("█▌░"));
        let now = Instant::now();
        Self { bar, shown: now, steps: 0, began: now }
    }

    /// Says what goes on.
    pub(crate) fn say(&self, message: &str) {
        self.bar.set_message(message.to_owned());
        self.bar.tick();
    }

    /// A bar that counts files.
    pub(crate) fn files(&self, done: usize, of: usize) {
        self.bar.set_length(of as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(format!("{done}/{of}"));
    }

    /// A bar for work that has no name.
    pub(crate) fn part(&self, done: usize, of: usize) {
        self.bar.set_length(of as u64);
        self.bar.set_position(done as u64);
    }

    pub(crate) fn tell(&mut self, event: &Event) {
        match event {
            Event::Start { world, frames } => {
                self.bar.set_length(u64::from(*frames));
                self.bar.set_position(u64::from(world.frame_number()));
                self.bar.reset_eta();
            }
            Event::Step { world, at_start } => {
                self.steps += 1;
                if self.shown.elapsed().as_millis() >= 100 {
                    self.shown = Instant::now();
                    let (totals, scene) = (world.totals(), world.scene());
                    let per_step = self.began.elapsed().as_secs_f64() * 1e3 / self.steps as f64;
                    self.bar.set_message(format!(
                        "{:.2}/{:.2} s  {per_step:.1} ms/step  volume {:+.1} %  energy {:+.0} %  max {:.1} m/s ",
                        world.time(),
                        scene.seconds,
                        100.0 * totals.volume_change,
                        100.0 * energy_drift(&totals, at_start),
                        totals.max_speed,
                    ));
                }
            }
            Event::Frame { number, .. } => self.bar.set_position(u64::from(*number)),
            Event::Skipped(skipped) => {
                self.bar.suspend(|| note!("passing over {}: {}", skipped.path.display(), skipped.reason));
            }
            Event::Damaged(damaged) => self.bar.suspend(|| {
                note!("warning: {} is kept as it is: {}", damaged.path.display(), damaged.reason);
            }),
        }
    }

    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Change of kinetic, potential and elastic energy since the start, against the larger of the two then and now.
fn energy_drift(now: &Totals, start: &Totals) -> f64 {
    let energy = |t: &Totals| t.kinetic_energy + t.potential_energy + t.elastic_energy;
    let scale = energy(start).abs().max(now.kinetic_energy).max(1e-12);
    (energy(now) - energy(start)) / scale
}
