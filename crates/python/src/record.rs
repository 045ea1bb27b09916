//! Records on disk: written by `run`, read frame by frame.

use crate::errors;
use crate::frame::Frame;
use crate::source::{Source, open};
use crate::world::pool;
use meniscus::record::export::{SequenceFormat, export_vtk};
use meniscus::record::{RunFolder, read_probes};
use meniscus::scene::Loaded;
use meniscus::{Event, RunOptions};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[pyclass(module = "meniscus._meniscus", subclass, frozen)]
pub(crate) struct Record {
    folder: RunFolder,
    source: Arc<Source>,
}

#[pymethods]
impl Record {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let folder = RunFolder::open(path).map_err(errors::record)?;
        let mut loaded = Loaded::from_file(&folder.scene_path(), &[]).map_err(|error| errors::scene(py, &error))?;
        loaded.name = folder.info().map_err(errors::record)?.scene;
        let first = folder.frame_numbers().map_err(errors::record)?.first().copied();
        let first = first.map(|number| folder.read_frame(number)).transpose().map_err(errors::record)?;
        Ok(Self { folder, source: Arc::new(Source { loaded, first: first.unwrap_or_default() }) })
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.folder.dir().to_owned()
    }

    /// run.json.
    fn info(&self) -> PyResult<String> {
        let info = self.folder.info().map_err(errors::record)?;
        serde_json::to_string(&info).map_err(errors::record)
    }

    fn frame_numbers(&self) -> PyResult<Vec<u32>> {
        self.folder.frame_numbers().map_err(errors::record)
    }

    fn frame(&self, py: Python<'_>, number: u32) -> PyResult<Frame> {
        let frame = py.detach(|| self.folder.read_frame(number)).map_err(errors::record)?;
        Ok(Frame::new(frame, Vec::new(), Arc::clone(&self.source)))
    }

    /// Writes files for other programs into a folder, by default one in that of the run, and returns it and what was left out.
    #[pyo3(signature = (to, out=None))]
    fn export(&self, py: Python<'_>, to: &str, out: Option<PathBuf>) -> PyResult<(PathBuf, Vec<String>)> {
        let (run, quiet) = (&self.folder, &mut |_: usize, _: usize| {});
        let out = out.unwrap_or_else(|| run.dir().join(to));
        let report = match to {
            "vtk" => py.detach(|| Ok(export_vtk(run, &out, quiet)?)),
            "ply" => py.detach(|| meniscus::export_sequence(run, &out, SequenceFormat::Ply, quiet)),
            "obj" => py.detach(|| meniscus::export_sequence(run, &out, SequenceFormat::Obj, quiet)),
            "glb" => py.detach(|| meniscus::export_glb(run, &out, quiet)),
            "usd" => py.detach(|| meniscus::export_usd(run, &out, false, quiet)),
            "usda" => py.detach(|| meniscus::export_usd(run, &out, true, quiet)),
            "vti" => py.detach(|| meniscus::export_fields(run, &out, quiet)),
            other => {
                return Err(PyValueError::new_err(format!(
                    "no format `{other}`: vtk, ply, obj, glb, usd, usda or vti"
                )));
            }
        };
        let report = report.map_err(|error| errors::run(py, &error))?;
        let damaged = report.skipped.iter().map(|one| format!("{}: {}", one.path.display(), one.reason));
        let left_out = report.left_out.iter().cloned().chain(damaged).collect();
        Ok((out, left_out))
    }

    /// Names of the columns of the probe file, and its rows.
    fn probes<'py>(&self, py: Python<'py>) -> PyResult<(Vec<String>, Bound<'py, PyArray2<f64>>)> {
        let table = read_probes(self.folder.probes_path()).map_err(errors::record)?;
        let flat: Vec<f64> = table.rows.concat();
        let shape = [table.rows.len(), table.columns.len()];
        Ok((table.columns, PyArray1::from_vec(py, flat).reshape(shape)?))
    }
}

/// Runs a scene into a folder, as `meniscus run` does; `progress` is told the frame and how many there are.
#[pyfunction]
#[pyo3(signature = (scene, set, out=None, pictures=false, threads=None, progress=None))]
pub(crate) fn run(
    py: Python<'_>,
    scene: &str,
    set: Vec<String>,
    out: Option<PathBuf>,
    pictures: bool,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PathBuf> {
    let pool = pool(threads)?;
    let loaded = open(py, scene, &set)?;
    let stop = Arc::new(AtomicBool::new(false));
    let threads = pool.current_num_threads();
    let options =
        RunOptions { no_pictures: !pictures, threads, stop: Some(Arc::clone(&stop)), ..RunOptions::default() };
    let make_folder = || match &out {
        Some(dir) => RunFolder::create_at(dir),
        None => RunFolder::create("out", &loaded.name),
    };
    let mut frames = 0;
    let mut interrupted: Option<PyErr> = None;
    let mut tell = |event: Event<'_>| match event {
        Event::Start { frames: all, .. } => frames = all,
        Event::Frame { number, .. } => Python::attach(|py| {
            let told = progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (number, frames)).map(drop));
            // The run finishes its step, saves its state and ends.
            if let Err(error) = told.and_then(|()| py.check_signals()) {
                stop.store(true, Ordering::Relaxed);
                interrupted = Some(error);
            }
        }),
        _ => {}
    };
    let done = py.detach(|| pool.install(|| meniscus::run(&loaded, make_folder, &options, &mut tell)));
    if let Some(error) = interrupted {
        return Err(error);
    }
    let (folder, _) = done.map_err(|error| errors::run(py, &error))?;
    Ok(folder.dir().to_owned())
}
