//! A run on disk, frame by frame. It may still be growing.

use crate::hub::{Camera, Hub, Source};
use crate::live::scene_text;
use crate::message::{Order, Request, Series, Status};
use crate::pace::{Meter, Pace};
use crate::protocol::Extras;
use crate::server::ViewerError;
use meniscus_core::Frame;
use meniscus_record::{ProbeTable, RunFolder, RunInfo, RunStatus, read_probes};
use meniscus_scene::Loaded;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long to wait for orders while nothing moves.
const REST: Duration = Duration::from_millis(100);
/// How often to look for new frames.
const LOOK: Duration = Duration::from_secs(1);

/// Most moments of a curve.
const MOMENTS: usize = 2000;

/// The columns of a table by what they measure.
struct Columns<'a> {
    table: &'a ProbeTable,
    time: Option<usize>,
    kinetic: Option<usize>,
    potential: Option<usize>,
    /// One for each body that has any.
    elastic: Vec<usize>,
    volume: Option<usize>,
    particles: Option<usize>,
}

impl<'a> Columns<'a> {
    fn new(table: &'a ProbeTable) -> Self {
        let column = |name: &str| table.columns.iter().position(|column| column == name);
        let is_elastic = |name: &str| name.ends_with(".elastic energy [J]");
        Self {
            time: column("time [s]"),
            kinetic: column("kinetic energy [J]"),
            potential: column("potential energy [J]"),
            elastic: (0..table.columns.len()).filter(|&k| is_elastic(&table.columns[k])).collect(),
            volume: column("volume change"),
            particles: column("particles"),
            table,
        }
    }

    fn energy(&self, row: &[f64]) -> Option<[f64; 3]> {
        let elastic = self.elastic.iter().filter_map(|&k| row.get(k)).filter(|energy| energy.is_finite()).sum();
        Some([*row.get(self.kinetic?)?, *row.get(self.potential?)?, elastic])
    }

    fn volume(&self, row: &[f64]) -> Option<f64> {
        row.get(self.volume?).copied()
    }

    /// The row of a time \[s\].
    fn row(&self, time: f64) -> Option<&'a Vec<f64>> {
        let column = self.time?;
        self.table.rows.iter().find(|row| row.get(column).is_some_and(|t| (t - time).abs() < 1e-9))
    }

    /// The curves of the record, its last moment among them.
    fn series(&self) -> Series {
        let rows = &self.table.rows;
        let every = rows.len().div_ceil(MOMENTS).max(1);
        let mut series = Series::default();
        for row in rows.iter().rev().step_by(every).collect::<Vec<_>>().into_iter().rev() {
            let value = |column: Option<usize>| row.get(column?).copied();
            let Some(time) = value(self.time) else { return Series::default() };
            series.time.push(time);
            series.energy.push(self.energy(row).unwrap_or([f64::NAN; 3]));
            series.volume.push(self.volume(row).unwrap_or(f64::NAN));
            series.particles.push(value(self.particles).unwrap_or(f64::NAN));
        }
        series
    }
}

/// The thread's own things.
pub(crate) struct Replay {
    hub: Arc<Hub>,
    camera: Camera,
    folder: RunFolder,
    loaded: Loaded,
    info: RunInfo,
    numbers: Vec<u32>,
    probes: Option<ProbeTable>,
    index: usize,
    frame: Frame,
    running: bool,
    pace: Pace,
    meter: Meter,
    looked: Instant,
    failed: Option<String>,
}

impl Replay {
    pub(crate) fn new(hub: Arc<Hub>, folder: RunFolder) -> Result<Self, ViewerError> {
        let numbers = folder.frame_numbers()?;
        let Some(&first) = numbers.first() else { return Err(ViewerError::NoFrames(folder.dir().to_owned())) };
        let frame = folder.read_frame(first)?;
        let mut info = folder.info()?;
        if let status @ (RunStatus::BrokenOff | RunStatus::Stopped | RunStatus::Failed) = folder.status()? {
            info.warnings.push(format!("the run is {status}: its end is missing"));
        }
        let mut loaded = Loaded::from_file(&folder.scene_path(), &[])?;
        loaded.name.clone_from(&info.scene);
        let probes = read_probes(folder.probes_path()).ok();
        // As many threads as the machine has: nothing else is computed.
        let camera = Camera::new(hub.clone(), Source::Record, 0).map_err(|e| ViewerError::Threads(e.to_string()))?;
        let mut replay = Self {
            hub,
            camera,
            probes,
            info,
            folder,
            loaded,
            numbers,
            index: 0,
            frame,
            running: true,
            pace: Pace::new(),
            meter: Meter::default(),
            looked: Instant::now(),
            failed: None,
        };
        replay.present();
        replay.show();
        Ok(replay)
    }

    /// Tells what is shown, with the curves of all that is there.
    fn present(&mut self) {
        let Self { camera, loaded, info, probes, .. } = self;
        let series = probes.as_ref().map(|table| Columns::new(table).series()).unwrap_or_default();
        let text = |generation: u32| scene_text(loaded, &info.warnings, &[], Some(&series), generation);
        camera.turn_to(loaded.scene.surface, text);
    }

    /// Plays until the server is gone.
    pub(crate) fn run(mut self, orders: &Receiver<Order>) {
        loop {
            let now = Instant::now();
            let wait = match self.next_time() {
                Some(time) if self.running => self.pace.due(time, now).saturating_duration_since(now),
                _ => REST,
            };
            match orders.recv_timeout(wait) {
                Ok(order) => self.obey(&order),
                Err(RecvTimeoutError::Timeout) if self.running => self.advance(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.looked.elapsed() > LOOK {
                self.look();
            }
        }
    }

    /// The time that the next frame shows \[s\].
    fn next_time(&self) -> Option<f64> {
        self.numbers.get(self.index + 1).map(|&number| f64::from(number) / self.info.fps)
    }

    fn advance(&mut self) {
        if self.index + 1 < self.numbers.len() {
            self.go_to(self.index + 1);
            self.meter.note(self.frame.time, Instant::now());
        } else {
            self.running = false;
        }
        self.show();
    }

    fn obey(&mut self, order: &Order) {
        match &order.request {
            Request::Pause { on } => {
                // At the end, going on means from the start.
                if !on && self.index + 1 == self.numbers.len() {
                    self.go_to(0);
                }
                self.running = !on;
            }
            Request::Step => {
                self.running = false;
                self.go_to((self.index + 1).min(self.numbers.len() - 1));
            }
            Request::Reset => self.go_to(0),
            Request::Speed { factor } => self.pace.speed = *factor,
            Request::Seek { place } => {
                self.running = false;
                self.go_to((*place as usize).min(self.numbers.len() - 1));
            }
            Request::Load { .. } | Request::Command { .. } => order.refuse("a record cannot be changed"),
            Request::Shown { .. } => return,
            // A record has neither tetrahedra nor Gauss points; the surfaces of its liquids may be wished for.
            Request::Extras { .. } => return self.show(),
        }
        self.pace.restart();
        self.meter.restart();
        self.show();
    }

    fn go_to(&mut self, index: usize) {
        self.index = index;
        match self.folder.read_frame(self.numbers[index]) {
            Ok(frame) => {
                self.frame = frame;
                self.failed = None;
            }
            Err(error) => self.failed = Some(error.to_string()),
        }
    }

    /// Looks whether the run has grown.
    fn look(&mut self) {
        self.looked = Instant::now();
        match self.folder.frame_numbers() {
            Ok(numbers) if numbers.len() > self.numbers.len() => {
                self.numbers = numbers;
                self.probes = read_probes(self.folder.probes_path()).ok();
                self.present();
                self.show();
            }
            _ => {}
        }
    }

    fn show(&mut self) {
        self.camera.shoot(self.frame.clone(), Extras::default());
        let columns = self.probes.as_ref().map(Columns::new);
        let measured = columns.as_ref().and_then(|columns| Some((columns, columns.row(self.frame.time)?)));
        self.hub.tell(&Status {
            generation: self.camera.generation(),
            running: self.running,
            speed: self.pace.speed,
            rate: if self.running { self.meter.rate() } else { None },
            time: self.frame.time,
            step: self.frame.step,
            frame: self.frame.number,
            particles: self.frame.particles.len() as u64,
            tets: self.info.tets,
            cells: self.info.cells,
            energy: measured.as_ref().and_then(|(columns, row)| columns.energy(row)),
            volume: measured.as_ref().and_then(|(columns, row)| columns.volume(row)),
            place: Some([self.index as u32, self.numbers.len() as u32]),
            viewers: self.hub.viewers(),
            failed: self.failed.as_deref(),
            ..Status::default()
        });
    }
}
