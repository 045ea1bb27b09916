//! A frame, whose vectors become numpy arrays.

use crate::errors;
use crate::source::Source;
use glam::Vec3;
use meniscus::Film;
use meniscus::core::{self, BodyKind, Tets};
use meniscus::surface::Extractor;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

#[pyclass(module = "meniscus._meniscus", frozen)]
pub(crate) struct Frame {
    frame: core::Frame,
    tets: Vec<Tets>,
    source: Arc<Source>,
}

type Rows<'py, T> = PyResult<Bound<'py, PyArray2<T>>>;

/// Vectors as rows of three.
fn rows<'py>(py: Python<'py>, vectors: &[Vec3]) -> Rows<'py, f32> {
    let flat: &[f32] = bytemuck::cast_slice(vectors);
    PyArray1::from_slice(py, flat).reshape([vectors.len(), 3])
}

fn corners<'py, const N: usize>(py: Python<'py>, cells: &[[u32; N]]) -> Rows<'py, u32> {
    PyArray1::from_slice(py, cells.as_flattened()).reshape([cells.len(), N])
}

fn kind(kind: BodyKind) -> &'static str {
    match kind {
        BodyKind::Liquid => "liquid",
        BodyKind::Wall => "wall",
        BodyKind::Nozzle => "nozzle",
        BodyKind::Solid => "solid",
        _ => "other",
    }
}

impl Frame {
    pub(crate) fn new(frame: core::Frame, tets: Vec<Tets>, source: Arc<Source>) -> Self {
        Self { frame, tets, source }
    }

    fn name(&self, body: u16) -> &str {
        self.frame.bodies.get(usize::from(body)).map_or("", |info| &info.name)
    }

    fn surface_dict<'py>(&self, py: Python<'py>, surface: &core::Surface) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("name", self.name(surface.body))?;
        dict.set_item("vertices", rows(py, &surface.positions)?)?;
        dict.set_item("velocity", rows(py, &surface.velocities)?)?;
        let pressures = (!surface.pressures.is_empty()).then(|| PyArray1::from_slice(py, &surface.pressures));
        dict.set_item("pressure", pressures)?;
        dict.set_item("triangles", corners(py, &surface.triangles)?)?;
        Ok(dict)
    }

    /// A film that would show this frame in `width` × `height` pixels.
    fn film(&self, width: Option<u32>, height: Option<u32>) -> Film {
        let mut loaded = self.source.loaded.clone();
        let picture = &mut loaded.scene.picture;
        picture.width = width.unwrap_or(picture.width);
        picture.height = height.unwrap_or(picture.height);
        Film::new(&loaded, &self.source.first)
    }
}

#[pymethods]
impl Frame {
    #[getter]
    fn number(&self) -> u32 {
        self.frame.number
    }

    #[getter]
    fn time(&self) -> f64 {
        self.frame.time
    }

    #[getter]
    fn step(&self) -> u64 {
        self.frame.step
    }

    /// Name and kind of each body.
    fn bodies(&self) -> Vec<(String, &'static str)> {
        self.frame.bodies.iter().map(|info| (info.name.clone(), kind(info.kind))).collect()
    }

    fn particles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let particles = &self.frame.particles;
        let dict = PyDict::new(py);
        dict.set_item("position", rows(py, &particles.positions)?)?;
        dict.set_item("velocity", rows(py, &particles.velocities)?)?;
        dict.set_item("id", PyArray1::from_slice(py, &particles.ids))?;
        dict.set_item("body", PyArray1::from_slice(py, &particles.bodies))?;
        dict.set_item("density", PyArray1::from_slice(py, &particles.densities))?;
        dict.set_item("pressure", PyArray1::from_slice(py, &particles.pressures))?;
        dict.set_item("spacing", particles.spacing)?;
        Ok(dict)
    }

    fn surfaces<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.frame.surfaces.iter().map(|surface| self.surface_dict(py, surface)).collect()
    }

    fn tets<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let of = |tets: &Tets| {
            let dict = PyDict::new(py);
            dict.set_item("name", self.name(tets.body))?;
            dict.set_item("vertices", rows(py, &tets.positions)?)?;
            dict.set_item("tets", corners(py, &tets.corners)?)?;
            Ok(dict)
        };
        self.tets.iter().map(of).collect()
    }

    /// The surface of a body: as it is shown, or that of a liquid's particles.
    #[pyo3(signature = (name, cube=None))]
    fn surface<'py>(&self, py: Python<'py>, name: &str, cube: Option<f64>) -> PyResult<Bound<'py, PyDict>> {
        let mut settings = self.source.loaded.scene.surface;
        settings.cube = cube.unwrap_or(settings.cube);
        let found = py.detach(|| Extractor::new(settings).extract(&self.frame));
        let liquids = found.liquids.iter().map(|liquid| &liquid.surface);
        let all: Vec<&core::Surface> = self.frame.surfaces.iter().chain(liquids).collect();
        match all.iter().find(|surface| self.name(surface.body) == name) {
            Some(surface) => self.surface_dict(py, surface),
            None => {
                let names: Vec<&str> = all.iter().map(|surface| self.name(surface.body)).collect();
                Err(PyKeyError::new_err(format!("no surface of `{name}`; there are: {}", names.join(", "))))
            }
        }
    }

    #[pyo3(signature = (width=None, height=None))]
    fn render<'py>(
        &self,
        py: Python<'py>,
        width: Option<u32>,
        height: Option<u32>,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let image = py.detach(|| self.film(width, height).picture(&self.frame).cloned());
        let image = image.map_err(|error| errors::run(py, &error))?;
        let shape = [image.height() as usize, image.width() as usize, 3];
        image.pixels().to_vec().into_pyarray(py).reshape(shape)
    }

    #[pyo3(signature = (width=None, height=None))]
    fn png(&self, py: Python<'_>, width: Option<u32>, height: Option<u32>) -> PyResult<Vec<u8>> {
        let png = py.detach(|| {
            let mut film = self.film(width, height);
            Ok::<_, meniscus::RunError>(film.picture(&self.frame)?.to_png()?)
        });
        png.map_err(|error| errors::run(py, &error))
    }
}
