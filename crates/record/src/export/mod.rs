//! Files for other programs.
//!
//! * [`export_vtk`]: a run as VTP files with PVD time series, for ParaView, VisIt and PyVista.
//! * [`export_ply`]: a run as PLY files, one per frame and body, for Blender, Houdini, MeshLab and CloudCompare.
//! * [`export_usd`]: a run as USD, a root and a clip per frame and body, for Blender, Houdini, Maya.
//! * [`export_sequence`]: surfaces as OBJ or PLY files numbered without gaps. [`export_glb`]: moving bodies as one glTF file.
//! * [`PolyData`] (`.vtp`), [`UnstructuredGrid`] (`.vtu`), [`ImageData`] (`.vti`): single VTK files with binary arrays,
//!   for particles and surfaces, tetrahedra and grids.
//!
//! Every file is written [atomically](crate::write_atomic). A frame that is damaged is passed over and reported; the
//! others are exported.
//!
//! ```
//! use glam::DVec3;
//! use meniscus_record::export::{CellBlock, CellShape, DataArray, FieldData, UnstructuredGrid};
//!
//! let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
//! let bytes = UnstructuredGrid {
//!     points: (&points).into(),
//!     cells: vec![CellBlock { shape: CellShape::Tetrahedron, nodes: &[0, 1, 2, 3] }],
//!     point_data: vec![DataArray::scalars("temperature [K]", &[290.0f32, 291.0, 292.0, 293.0])],
//!     cell_data: vec![DataArray::scalars("body", &[0u16])],
//!     field: FieldData { time: Some(0.5), ..FieldData::default() },
//! }
//! .encode()?;
//! assert!(bytes.starts_with(b"<?xml"));
//! # Ok::<(), meniscus_record::RecordError>(())
//! ```

mod array;
mod gltf;
mod image_data;
mod ply;
mod poly_data;
mod rigid_motion;
mod sequence;
mod series;
mod unstructured_grid;
mod usd;
mod xml;

use std::fs;
use std::path::Path;

use meniscus_core::{Frame, Surface};

pub use array::{DataArray, FieldData, Points, Values};
pub use gltf::{GltfScene, export_glb};
pub use image_data::ImageData;
pub use ply::{export_ply, export_ply_of, ply_files};
pub use poly_data::PolyData;
pub use sequence::{SequenceFormat, export_sequence};
pub use series::{export_vtk, time_series};
pub use unstructured_grid::{CellBlock, CellShape, UnstructuredGrid};
pub use usd::{UsdCamera, UsdScene, export_usd};

use crate::error::{IoContext, Result, Skipped};
use crate::{RunFolder, write_atomic};

/// What an export has done.
#[derive(Debug, Default)]
pub struct ExportReport {
    /// Frames exported.
    pub frames: usize,
    /// Files written.
    pub files: usize,
    /// Bytes in these files.
    pub bytes: u64,
    /// Frames that could not be read.
    pub skipped: Vec<Skipped>,
    /// What the format cannot hold and is left out, in words.
    pub left_out: Vec<String>,
}

/// A folder that is being exported to.
struct Destination<'a> {
    dir: &'a Path,
    report: ExportReport,
}

impl<'a> Destination<'a> {
    /// Makes the folder and those in it.
    fn new(dir: &'a Path) -> Result<Self> {
        fs::create_dir_all(dir).while_trying("make the folder", dir)?;
        Ok(Self { dir, report: ExportReport::default() })
    }

    /// Writes a file under a name that may begin with one folder.
    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.dir.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).while_trying("make the folder", folder)?;
        }
        write_atomic(path, bytes)?;
        self.report.files += 1;
        self.report.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Hands every sound frame of a run to `work` and tells `progress` how many of how many are behind.
    fn each_frame(
        &mut self,
        run: &RunFolder,
        progress: &mut dyn FnMut(usize, usize),
        mut work: impl FnMut(&mut Self, &Frame) -> Result<()>,
    ) -> Result<()> {
        let numbers = run.frame_numbers()?;
        for (done, &number) in numbers.iter().enumerate() {
            progress(done, numbers.len());
            match run.read_frame(number) {
                Ok(frame) => {
                    work(self, &frame)?;
                    self.report.frames += 1;
                }
                Err(reason) => self.report.skipped.push(Skipped { path: run.frame_path(number), reason }),
            }
        }
        progress(numbers.len(), numbers.len());
        Ok(())
    }
}

/// All surfaces of a body as one.
fn joined(frame: &Frame, body: u16) -> Surface {
    let mut all = Surface { body, ..Surface::default() };
    for surface in frame.surfaces.iter().filter(|surface| surface.body == body) {
        let shift = all.positions.len() as u32;
        all.positions.extend_from_slice(&surface.positions);
        all.velocities.extend_from_slice(&surface.velocities);
        all.pressures.extend_from_slice(&surface.pressures);
        all.triangles.extend(surface.triangles.iter().map(|triangle| triangle.map(|corner| corner + shift)));
    }
    if all.pressures.len() < all.positions.len() {
        all.pressures.clear(); // some of its surfaces have none
    }
    all
}
