//! run.log: a line per frame, on a terminal or not.

use meniscus_record::{RecordError, RunFolder, rfc3339_utc};
use meniscus_sim::{Totals, World};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

/// How lines of run.log are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON document per line.
    Json,
}

/// Appends to run.log. What a resumed run says follows what the broken one said: a log is not taken back.
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    format: LogFormat,
    began: Instant,
    /// Frames written when it began.
    first: Option<u32>,
    /// Frames in all.
    pub(crate) frames: u32,
}

impl Log {
    pub(crate) fn open(folder: &RunFolder, format: LogFormat) -> Result<Self, RecordError> {
        let path = folder.log_path();
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let file = file.map_err(|source| RecordError::Io { action: "open", path: path.clone(), source })?;
        Ok(Self { path, file, format, began: Instant::now(), first: None, frames: 0 })
    }

    /// Writes the line of a frame.
    pub(crate) fn frame(&mut self, world: &World) -> Result<(), RecordError> {
        let line = match self.format {
            LogFormat::Text => self.text(world),
            LogFormat::Json => self.json(world),
        };
        let failed = |source| RecordError::Io { action: "append to", path: self.path.clone(), source };
        self.file.write_all(line.as_bytes()).map_err(failed)
    }

    /// Time that is left, if every frame takes as long as those so far \[s\].
    fn eta(&mut self, frame: u32) -> Option<f64> {
        let done = frame - *self.first.get_or_insert(frame);
        let left = self.frames.saturating_sub(frame);
        (done > 0).then(|| self.began.elapsed().as_secs_f64() / f64::from(done) * f64::from(left))
    }

    fn text(&mut self, world: &World) -> String {
        let (frame, report) = (world.frame_number(), world.report());
        let Totals { kinetic_energy, potential_energy, elastic_energy, volume_change, max_speed, .. } = world.totals();
        let mut line = format!(
            "{} frame {frame}/{} time {:.4} s step {} dt {:.3e} s ({}) retries {} energy {kinetic_energy:.4e} + \
             {potential_energy:.4e} + {elastic_energy:.4e} J unexplained {:.3} volume {:+.2} % fastest {max_speed:.3} m/s",
            rfc3339_utc(SystemTime::now()),
            self.frames,
            world.time(),
            world.steps(),
            report.dt,
            world.limited_by(),
            report.retries,
            world.unexplained_energy(),
            100.0 * volume_change,
        );
        for (name, value) in report.counters() {
            // Writing to a string does not fail.
            let _ = write!(line, " {name} {value:.4}");
        }
        if let Some(eta) = self.eta(frame) {
            let _ = write!(line, " ETA {eta:.0} s");
        }
        line.push('\n');
        line
    }

    fn json(&mut self, world: &World) -> String {
        let (frame, report) = (world.frame_number(), world.report());
        let totals = world.totals();
        let counters: Map<String, Value> =
            report.counters().iter().map(|&(name, value)| (name.to_owned(), json!(value))).collect();
        let line = json!({
            "at": rfc3339_utc(SystemTime::now()),
            "frame": frame,
            "frames": self.frames,
            "time": world.time(),
            "step": world.steps(),
            "dt": report.dt,
            "limited_by": world.limited_by(),
            "retries": report.retries,
            "kinetic_energy": totals.kinetic_energy,
            "potential_energy": totals.potential_energy,
            "elastic_energy": totals.elastic_energy,
            "unexplained_energy": world.unexplained_energy(),
            "volume_change": totals.volume_change,
            "max_speed": totals.max_speed,
            "particles": totals.particles,
            "lost": world.lost(),
            "counters": counters,
            "eta": self.eta(frame),
        });
        format!("{line}\n")
    }
}
