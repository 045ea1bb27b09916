//! The same scene by several methods: one film strip, one table, one plot.
//!
//! Each method simulates the scene by itself, settings of other solvers left out, to the same moments; what is measured of it is
//! measured in the same way for all (`measure`).

mod measure;
mod plot;
mod report;

use crate::film::Film;
use crate::run::RunError;
use measure::Gauges;
use meniscus_core::Frame;
use meniscus_picture::{Image, Style, captioned, film_strip, worded};
use meniscus_record::{RecordError, write_atomic};
use meniscus_scene::{Loaded, Method, SceneError, Settings};
use meniscus_sim::World;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Size of a picture of the strip \[px\].
const CELL: [u32; 2] = [480, 320];

/// What is compared.
pub struct Task<'a> {
    /// The methods, in the order of the columns.
    pub methods: &'a [Method],
    /// Moments of the film strip.
    pub moments: usize,
    /// Loads the scene for a method.
    pub load: &'a (dyn Fn(&Settings) -> Result<Loaded, SceneError> + Sync),
    /// `key=value` settings for all of them.
    pub set: &'a [String],
}

/// What came out, a column per method.
pub struct Comparison {
    /// Name of the scene.
    pub scene: String,
    /// Columns.
    pub columns: Vec<Column>,
    strip: Image,
}

/// A method's part.
pub struct Column {
    /// The method.
    pub method: Method,
    /// What it gave, or why it does not simulate the scene.
    pub outcome: Result<Outcome, String>,
}

/// What a method gave.
pub struct Outcome {
    /// Names of quantities with their units; the first is the time.
    pub quantities: Vec<String>,
    /// Their values, a row per frame.
    pub rows: Vec<Vec<f64>>,
    /// Steps taken.
    pub steps: u64,
    /// Time that they took \[s\].
    pub wall_seconds: f64,
    /// What was odd.
    pub warnings: Vec<String>,
    /// Frames of the film strip.
    moments: Vec<u32>,
    pictures: Vec<Frame>,
}

impl Outcome {
    /// Time of a step \[ms\].
    #[must_use]
    pub fn ms_per_step(&self) -> f64 {
        1e3 * self.wall_seconds / (self.steps.max(1)) as f64
    }

    /// Simulated time \[s\].
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.rows.last().map_or(0.0, |row| row[0])
    }

    /// Rows of the moments of the film strip after the first.
    fn at_moments(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.moments.iter().skip(1).filter_map(|&frame| self.rows.get(frame as usize))
    }

    /// Time of a simulated second \[ms\].
    #[must_use]
    pub fn ms_per_second(&self) -> f64 {
        1e3 * self.wall_seconds / self.seconds().max(1e-9)
    }

    /// The mean of a quantity over the last quarter of the time.
    #[must_use]
    pub fn settled(&self, quantity: usize) -> f64 {
        let from = self.rows.len() - self.rows.len().div_ceil(4);
        let values: Vec<f64> = self.rows[from..].iter().map(|row| row[quantity]).collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    }
}

/// Simulates a scene by several methods. `tell` hears of each as it begins, and of each frame.
///
/// # Errors
/// When no method can, with the reason of the first.
pub fn compare(task: &Task, tell: &mut dyn FnMut(Method, f64)) -> Result<Comparison, RunError> {
    let mut columns = Vec::new();
    let (mut scene, mut film, mut refusal) = (String::new(), None, None);
    for &method in task.methods {
        let settings = Settings { set: task.set.to_vec(), method: Some(method) };
        let outcome = match simulate(task, &settings, &mut |time| tell(method, time)) {
            Ok((loaded, outcome)) => {
                scene.clone_from(&loaded.name);
                // Seen from one place, in one light.
                film = film.or_else(|| outcome.pictures.first().map(|first| Film::new(&small(loaded), first)));
                Ok(outcome)
            }
            Err(error) => {
                let message = reason(&error);
                refusal = refusal.or(Some(error));
                Err(message)
            }
        };
        columns.push(Column { method, outcome });
    }
    let Some(mut film) = film else {
        return Err(refusal.unwrap_or_else(|| RunError::Replay("no method is named".into())));
    };
    let strip = draw(&columns, task.moments, &mut film)?;
    Ok(Comparison { scene, columns, strip })
}

/// What a method says when it does not simulate a scene, in short.
fn reason(error: &RunError) -> String {
    match error {
        RunError::Scene(error @ SceneError::Invalid { message, .. }) => {
            error.line().map_or(message.clone(), |line| format!("line {line}: {message}"))
        }
        other => other.to_string(),
    }
}

fn small(mut loaded: Loaded) -> Loaded {
    let [width, height] = CELL;
    loaded.scene.picture = Style { width, height, supersample: 2, ..loaded.scene.picture };
    loaded
}

fn simulate(task: &Task, settings: &Settings, tell: &mut dyn FnMut(f64)) -> Result<(Loaded, Outcome), RunError> {
    let loaded = (task.load)(settings)?;
    let mut world = World::new(&loaded)?;
    let gauges = Gauges::new(&loaded.scene);
    let frames = crate::recorder::frame_count(loaded.scene.seconds, loaded.scene.fps);
    let moments: Vec<u32> = (0..task.moments).map(|k| moment(k, task.moments, frames)).collect();
    let first = world.frame();
    let mut outcome = Outcome {
        quantities: gauges.quantities(&first),
        rows: vec![gauges.read(&world, &first)],
        steps: 0,
        wall_seconds: 0.0,
        warnings: world.warnings().to_vec(),
        moments,
        pictures: vec![first],
    };
    while world.frame_number() < frames {
        let start = Instant::now();
        world.advance_frame(|_| {})?;
        outcome.wall_seconds += start.elapsed().as_secs_f64();
        let frame = world.frame();
        outcome.rows.push(gauges.read(&world, &frame));
        if outcome.moments.contains(&world.frame_number()) {
            outcome.pictures.push(frame);
        }
        tell(world.time());
    }
    outcome.steps = world.steps();
    Ok((loaded, outcome))
}

/// The frame of the k-th of so many moments.
fn moment(k: usize, moments: usize, frames: u32) -> u32 {
    (u64::from(frames) * k as u64 / (moments.max(2) - 1) as u64) as u32
}

/// A row for each moment, a column for each method, its name and its pace below.
fn draw(columns: &[Column], moments: usize, film: &mut Film) -> Result<Image, RunError> {
    let mut cells = Vec::new();
    for k in 0..moments {
        for column in columns {
            let shown = column.outcome.as_ref().map(|outcome| outcome.pictures.get(k));
            cells.push(match shown {
                Ok(Some(frame)) => film.picture(frame)?.clone(),
                // Why there is nothing to see stands where the first picture would, without marks that our letters do not have.
                Err(reason) if k == 0 => worded(CELL, &reason.replace(['`', '"'], "")),
                _ => worded(CELL, ""),
            });
        }
    }
    let captions: Vec<[String; 2]> = columns.iter().map(caption).collect();
    Ok(captioned(&film_strip(&cells, columns.len()), &captions))
}

fn caption(column: &Column) -> [String; 2] {
    let below = match &column.outcome {
        Ok(outcome) => format!("{:.1} ms per step, {} steps", outcome.ms_per_step(), outcome.steps),
        Err(_) => "cannot".to_owned(),
    };
    [column.method.name().to_owned(), below]
}

impl Comparison {
    /// How many methods simulated the scene.
    #[must_use]
    pub fn ran(&self) -> usize {
        self.columns.iter().filter(|column| column.outcome.is_ok()).count()
    }

    /// Writes strip, table and plot into a folder and returns their paths.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, RunError> {
        let io = |source| RecordError::Io { action: "make the folder", path: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(io)?;
        let json = serde_json::to_string_pretty(&self.json()).map_err(|e| RunError::Replay(e.to_string()))?;
        let files: [(&str, Vec<u8>); 5] = [
            ("compare.png", self.strip.to_png()?),
            ("compare.svg", plot::svg(self).into_bytes()),
            ("compare.csv", self.csv().into_bytes()),
            ("compare.json", json.into_bytes()),
            ("compare.txt", self.text().into_bytes()),
        ];
        let mut written = Vec::new();
        for (name, bytes) in files {
            let path = folder.join(name);
            write_atomic(&path, &bytes)?;
            written.push(path);
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: &str = "seconds = 0.1\nfps = 20\nresolution = 0.1\n[liquid.water]\n\
        fill = [{ box = { min = [0, 0, 0], max = [0.4, 0.4, 0.4] } }]\n\
        [rigid.box]\nshape = { box = { min = [0.5, 0.5, 0], max = [0.7, 0.7, 0.2] } }\ndensity = 500\n\
        [wall.tank]\nshape = { box = { min = [0, 0, 0], max = [0.8, 0.8, 0.4], open = [\"+y\"] } }\n\
        [probe.left]\ngauge = [0.2, 0, 0.2]\n";

    fn task(text: &str, methods: &[Method]) -> Result<Comparison, RunError> {
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let load = |settings: &Settings| Loaded::with_settings("c", "c.toml", text, settings, &none);
        compare(&Task { methods, moments: 3, load: &load, set: &[] }, &mut |_, _| {})
    }

    #[test]
    fn a_method_that_cannot_says_why_and_the_others_are_measured_alike() {
        let all = [Method::Gauss, Method::Unified, Method::Connections, Method::Twophase];
        let found = task(SCENE, &all).unwrap();
        assert_eq!(found.ran(), 3);
        let refused = found.columns[3].outcome.as_ref().err().unwrap();
        assert!(refused.contains("rigid.box") && refused.contains("line 6"), "{refused}");
        let outcomes: Vec<&Outcome> = found.columns.iter().filter_map(|c| c.outcome.as_ref().ok()).collect();
        for outcome in &outcomes {
            assert_eq!(outcome.quantities, outcomes[0].quantities);
            assert_eq!(outcome.rows.len(), 3);
            assert!(outcome.rows.iter().flatten().all(|value| value.is_finite()), "{:?}", outcome.rows);
            let at = |name: &str| outcome.quantities.iter().position(|q| q.starts_with(name)).unwrap();
            // All start from the same liquid.
            assert!((outcome.rows[0][at("front")] - 0.4).abs() < 0.06, "{:?}", outcome.rows[0]);
            assert!((outcome.rows[0][at("left.level")] - 0.4).abs() < 1e-4);
            assert!(outcome.rows[2][at("front")] > outcome.rows[0][at("front")], "it runs");
        }
        let folder = tempfile::tempdir().unwrap();
        let files = found.write(folder.path()).unwrap();
        assert_eq!(files.len(), 5);
        let csv = std::fs::read_to_string(&files[2]).unwrap();
        assert_eq!(csv.lines().count(), 1 + 3 * 3);
        let text = found.text();
        assert!(text.contains("unified") && text.contains("bodies that float in air and water are missing"), "{text}");
    }

    #[test]
    fn a_scene_that_no_method_can_is_an_error() {
        let text = SCENE.replace("density = 500", "densty = 500");
        assert!(task(&text, &[Method::Gauss, Method::Unified]).is_err());
        assert_eq!((moment(0, 3, 60), moment(1, 3, 60), moment(2, 3, 60)), (0, 30, 60));
    }

    /// A pool of water at rest is the same for particles and grid: level and energy.
    #[test]
    fn water_at_rest_is_measured_the_same_on_particles_and_grid() {
        let text = "seconds = 0.1\nfps = 20\nresolution = 0.05\n[liquid.water]\n\
            fill = [{ box = { min = [0, 0, 0], max = [0.8, 0.4, 0.4] } }]\n\
            [wall.tank]\nshape = { box = { min = [0, 0, 0], max = [0.8, 0.8, 0.4], open = [\"+y\"] } }\n[probe.left]\ngauge = [0.2, 0, 0.2]\n";
        let found = task(text, &[Method::Gauss, Method::Twophase]).unwrap();
        let values = |k: usize| found.columns[k].outcome.as_ref().unwrap_or_else(|e| panic!("{e}"));
        let (sph, grid) = (values(0), values(1));
        let pool = 0.5 * 1000.0 * 9.81 * 0.4 * (0.8 * 0.4 * 0.4);
        for (k, name) in sph.quantities.iter().enumerate().skip(1) {
            let (a, b) = (sph.settled(k), grid.settled(k));
            // Particles that settle move a little: a thousandth of the energy of the pool is little.
            let scale = if name.starts_with("kinetic") { 0.1 * pool } else { b.abs() };
            let scale = if name.starts_with("volume") { 1.0 } else { scale };
            assert!((a - b).abs() < 0.03 * scale, "{name}: {a} and {b}");
        }
    }
}
