//! Where scenes come from.

use crate::errors;
use meniscus::core::Frame;
use meniscus::scene::{Loaded, SceneError};
use meniscus::sim::{World, estimate};
use meniscus::{check_memory, gallery, geometry};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;

/// A scene and its first frame: what pictures and surfaces of later frames need.
pub(crate) struct Source {
    pub(crate) loaded: Loaded,
    pub(crate) first: Frame,
}

/// A scene by name, path or text: what has more than one line is text.
pub(crate) fn load(scene: &str, set: &[String]) -> Result<Loaded, SceneError> {
    if scene.contains('\n') {
        return Loaded::from_text("scene", "scene.toml", scene, set, &|file| {
            geometry::read_bytes(Path::new(file)).map_err(std::io::Error::other)
        });
    }
    gallery::load(scene, set)
}

/// Free memory \[bytes\], where the system tells.
fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kb| kb * 1024)
}

/// Loads a scene that fits into memory.
pub(crate) fn open(py: Python<'_>, scene: &str, set: &[String]) -> PyResult<Loaded> {
    let loaded = load(scene, set).map_err(|error| errors::scene(py, &error))?;
    check_memory(&loaded, free_memory()).map_err(|error| errors::run(py, &error))?;
    Ok(loaded)
}

/// What a scene will be, without a step: particles, tetrahedra, cells, memory, warnings.
#[pyfunction]
pub(crate) fn check<'py>(py: Python<'py>, scene: &str, set: Vec<String>) -> PyResult<Bound<'py, PyDict>> {
    let loaded = open(py, scene, &set)?;
    let world = py.detach(|| World::new(&loaded)).map_err(|error| errors::plain(py, &error))?;
    let (totals, estimate) = (world.totals(), estimate(&loaded));
    let told = PyDict::new(py);
    told.set_item("scene", &loaded.name)?;
    told.set_item("method", loaded.scene.method.name())?;
    told.set_item("particles", totals.particles)?;
    told.set_item("tets", totals.tets)?;
    told.set_item("cells", totals.cells)?;
    told.set_item("memory_bytes", estimate.bytes)?;
    told.set_item("warnings", world.warnings())?;
    Ok(told)
}

/// Names and titles of the gallery.
#[pyfunction]
pub(crate) fn scenes() -> Vec<(&'static str, String)> {
    let title = |scene: &meniscus::scene::Scene| scene.title.clone();
    let of = |scene: &'static str| (scene, load(scene, &[]).map(|l| title(&l.scene)).unwrap_or_default());
    gallery::GALLERY.iter().map(|scene| of(scene.name)).collect()
}
