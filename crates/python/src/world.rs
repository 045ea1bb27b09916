//! A world that is stepped from Python. Whatever takes time lets other Python threads run.

use crate::errors;
use crate::frame::Frame;
use crate::source::{Source, open};
use meniscus::core::{StepError, par};
use meniscus::scene::Command;
use meniscus::sim;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long steps go on before Ctrl-C is looked for \[ms\].
const SLICE: Duration = Duration::from_millis(100);

#[pyclass(module = "meniscus._meniscus", subclass, frozen)]
pub(crate) struct World {
    world: Mutex<sim::World>,
    pool: ThreadPool,
    source: Arc<Source>,
}

impl World {
    fn lock(&self) -> MutexGuard<'_, sim::World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on the world in its own threads, without holding up Python.
    fn work<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut sim::World) -> T + Send) -> T {
        py.detach(|| self.pool.install(|| work(&mut self.lock())))
    }
}

pub(crate) fn pool(threads: Option<usize>) -> PyResult<ThreadPool> {
    let count = threads.unwrap_or(0);
    if threads.is_some_and(|threads| threads == 0 || threads > 1024) {
        return Err(PyValueError::new_err(format!("threads must be 1 to 1024, not {count}")));
    }
    let pool = ThreadPoolBuilder::new().num_threads(count).build();
    pool.map_err(|error| PyValueError::new_err(format!("cannot start threads: {error}")))
}

#[pymethods]
impl World {
    #[new]
    #[pyo3(signature = (scene, set, threads=None))]
    fn new(py: Python<'_>, scene: &str, set: Vec<String>, threads: Option<usize>) -> PyResult<Self> {
        let pool = pool(threads)?;
        let loaded = open(py, scene, &set)?;
        let world = py.detach(|| pool.install(|| sim::World::new(&loaded)));
        let world = world.map_err(|error| errors::plain(py, &error))?;
        let source = Arc::new(Source { first: world.frame(), loaded });
        Ok(Self { world: Mutex::new(world), pool, source })
    }

    #[getter]
    fn time(&self) -> f64 {
        self.lock().time()
    }

    #[getter]
    fn steps(&self) -> u64 {
        self.lock().steps()
    }

    #[getter]
    fn frame_number(&self) -> u32 {
        self.lock().frame_number()
    }

    #[getter]
    fn fps(&self) -> f64 {
        self.source.loaded.scene.fps
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.source.loaded.scene.seconds
    }

    #[getter]
    fn name(&self) -> &str {
        &self.source.loaded.name
    }

    #[getter]
    fn method(&self) -> &'static str {
        self.source.loaded.scene.method.name()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.lock().warnings().to_vec()
    }

    fn digest(&self, py: Python<'_>) -> String {
        self.work(py, |world| world.digest())
    }

    fn columns(&self) -> Vec<String> {
        self.lock().columns()
    }

    fn measure(&self, py: Python<'_>) -> Vec<f64> {
        self.work(py, |world| world.measure())
    }

    #[pyo3(signature = (until=None))]
    fn step(&self, py: Python<'_>, until: Option<f64>) -> PyResult<()> {
        let until = until.unwrap_or(f64::INFINITY);
        if until.is_nan() || until <= self.time() {
            return Err(PyValueError::new_err(format!("until must lie after {} s, not {until}", self.time())));
        }
        self.work(py, |world| world.step(until)).map_err(|error| errors::step(py, &error))
    }

    /// Steps to the next frame; Ctrl-C ends it between two steps.
    fn advance(&self, py: Python<'_>) -> PyResult<()> {
        loop {
            let arrived = self.work(py, |world| {
                let begin = Instant::now();
                par::awake(|| {
                    loop {
                        let arrived = world.step_to_frame()?;
                        if arrived || begin.elapsed() > SLICE {
                            return Ok::<_, StepError>(arrived);
                        }
                    }
                })
            });
            if arrived.map_err(|error| errors::step(py, &error))? {
                return Ok(());
            }
            py.check_signals()?;
        }
    }

    /// Gives a command, as JSON, before the next step.
    fn command(&self, json: &str) -> PyResult<()> {
        let command: Command = serde_json::from_str(json).map_err(|e| PyValueError::new_err(e.to_string()))?;
        self.lock().apply(command).map_err(PyValueError::new_err)
    }

    fn frame(&self, py: Python<'_>) -> Frame {
        let (frame, tets) = self.work(py, |world| (world.frame(), world.tets()));
        Frame::new(frame, tets, Arc::clone(&self.source))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let bytes = self.work(py, |world| world.save()).map_err(errors::record)?;
        meniscus::record::write_atomic(path, &bytes).map_err(errors::record)
    }

    fn load(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let bytes = std::fs::read(&path).map_err(|e| errors::record(format!("{}: {e}", path.display())))?;
        self.work(py, |world| world.load(&bytes)).map_err(|e| errors::record(format!("{}: {e}", path.display())))
    }
}
