//! A run as VTK files: one per frame for the particles, one for the surfaces, and time series of them.

use std::path::Path;

use meniscus_core::{Frame, Surface};

use super::array::{DataArray, FieldData};
use super::poly_data::PolyData;
use super::xml::Xml;
use super::{Destination, ExportReport};
use crate::RunFolder;
use crate::error::Result;
use crate::frame::FrameFault;

/// Exports a run for ParaView and its kin.
///
/// ```text
/// particles.pvd   particles/particles_00000.vtp …   id, body, velocity, density, pressure per particle
/// surfaces.pvd    surfaces/surfaces_00000.vtp …     velocity and (NaN but at liquids) pressure per vertex, body per triangle
/// all.pvd                                           both
/// ```
/// A kind that no frame has is left out. `progress` is told how many of how many frames are done.
///
/// # Errors
/// When the run cannot be listed or a file cannot be written. Frames that cannot be read are in the report.
pub fn export_vtk(
    run: &RunFolder,
    out_dir: impl AsRef<Path>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ExportReport> {
    let mut out = Destination::new(out_dir.as_ref())?;
    let (mut particles, mut surfaces) = (Series::new("particles"), Series::new("surfaces"));
    out.each_frame(run, progress, |out, frame| {
        particles.add(out, frame, !frame.particles.is_empty(), encode_particles)?;
        surfaces.add(out, frame, !frame.surfaces.is_empty(), encode_surfaces)
    })?;
    let mut all = Vec::new();
    for series in [&mut particles, &mut surfaces].into_iter().filter(|s| s.is_used) {
        series.fill_gaps(&mut out)?;
        out.write(&format!("{}.pvd", series.name), &collection(&[series]))?;
        all.push(&*series);
    }
    if !all.is_empty() {
        out.write("all.pvd", &collection(&all))?;
    }
    Ok(out.report)
}

/// The files of one kind over time.
struct Series {
    name: &'static str,
    is_used: bool,
    entries: Vec<Entry>,
}

struct Entry {
    time: f64,
    file: String,
    is_written: bool,
}

impl Series {
    fn new(name: &'static str) -> Self {
        Self { name, is_used: false, entries: Vec::new() }
    }

    fn add(
        &mut self,
        out: &mut Destination,
        frame: &Frame,
        has_content: bool,
        encode: fn(&Frame) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let file = format!("{0}/{0}_{1:05}.vtp", self.name, frame.number);
        if has_content {
            out.write(&file, &encode(frame)?)?;
            self.is_used = true;
        }
        self.entries.push(Entry { time: frame.time, file, is_written: has_content });
        Ok(())
    }

    /// Writes an empty file for each frame that had nothing: otherwise readers would go on showing the frame before.
    fn fill_gaps(&self, out: &mut Destination) -> Result<()> {
        for entry in self.entries.iter().filter(|e| !e.is_written) {
            let field = FieldData { time: Some(entry.time), ..FieldData::default() };
            out.write(&entry.file, &PolyData { field, ..PolyData::default() }.encode()?)?;
        }
        Ok(())
    }
}

/// The bytes of a PVD file that shows files, named relative to it, at their times \[s\].
#[must_use]
pub fn time_series(name: &'static str, files: Vec<(f64, String)>) -> Vec<u8> {
    let entry = |(time, file)| Entry { time, file, is_written: true };
    collection(&[&Series { name, is_used: true, entries: files.into_iter().map(entry).collect() }])
}

/// A PVD file with one part per series.
fn collection(parts: &[&Series]) -> Vec<u8> {
    let mut xml = Xml::vtk_file("Collection");
    xml.begin("Collection", &[]);
    for (part, series) in parts.iter().enumerate() {
        for entry in &series.entries {
            let time = format!("{:?}", entry.time);
            let attributes: [(&str, &dyn std::fmt::Display); 5] =
                [("timestep", &time), ("group", &""), ("part", &part), ("name", &series.name), ("file", &entry.file)];
            xml.empty("DataSet", &attributes);
        }
    }
    xml.finish()
}

fn field(frame: &Frame) -> FieldData<'_> {
    FieldData { time: Some(frame.time), body_names: frame.bodies.iter().map(|b| b.name.as_str()).collect() }
}

fn encode_particles(frame: &Frame) -> Result<Vec<u8>> {
    let particles = &frame.particles;
    let vertices: Vec<u32> = (0..).take(particles.len()).collect();
    PolyData {
        points: (&particles.positions).into(),
        vertices: &vertices,
        point_data: vec![
            DataArray::scalars("id", &particles.ids),
            DataArray::scalars("body", &particles.bodies),
            DataArray::vectors("velocity", &particles.velocities).in_unit("m/s"),
            DataArray::scalars("density", &particles.densities).in_unit("kg/m³"),
            DataArray::scalars("pressure", &particles.pressures).in_unit("Pa"),
        ],
        field: field(frame),
        ..PolyData::default()
    }
    .encode()
}

fn encode_surfaces(frame: &Frame) -> Result<Vec<u8>> {
    let surfaces = &frame.surfaces;
    let positions: Vec<_> = surfaces.iter().flat_map(|s| &s.positions).copied().collect();
    let velocities: Vec<_> = surfaces.iter().flat_map(|s| &s.velocities).copied().collect();
    let pressure = |s: &Surface, i: usize| s.pressures.get(i).copied().unwrap_or(f32::NAN);
    let pressures: Vec<f32> = surfaces.iter().flat_map(|s| (0..s.positions.len()).map(|i| pressure(s, i))).collect();
    let mut point_data = vec![DataArray::vectors("velocity", &velocities).in_unit("m/s")];
    if surfaces.iter().any(|s| !s.pressures.is_empty()) {
        point_data.push(DataArray::scalars("pressure", &pressures).in_unit("Pa"));
    }
    let bodies: Vec<u16> = surfaces.iter().flat_map(|s| std::iter::repeat_n(s.body, s.triangles.len())).collect();
    PolyData {
        points: (&positions).into(),
        triangles: &join_triangles(surfaces)?,
        point_data,
        cell_data: vec![DataArray::scalars("body", &bodies)],
        field: field(frame),
        ..PolyData::default()
    }
    .encode()
}

/// The triangles of all surfaces, with the vertices of all surfaces one behind the other.
fn join_triangles(surfaces: &[Surface]) -> Result<Vec<[u32; 3]>> {
    let vertices: usize = surfaces.iter().map(|s| s.positions.len()).sum();
    let limit = u32::MAX as usize;
    if vertices > limit {
        return Err(FrameFault::TooMany { what: "vertices of surfaces", limit, found: vertices }.into());
    }
    let mut joined = Vec::new();
    let mut first = 0;
    for surface in surfaces {
        joined.extend(surface.triangles.iter().map(|corners| corners.map(|c| first + c)));
        first += surface.positions.len() as u32;
    }
    Ok(joined)
}
