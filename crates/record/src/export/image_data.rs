//! `.vti`: a regular grid of points and cells.

use super::array::{DataArray, FieldData};
use super::xml::Xml;
use crate::error::Result;

/// The contents of a `.vti` file. Points and cells are numbered with x running fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageData<'a> {
    /// Number of cells along x, y, z; there is one more point along each.
    pub cells: [u32; 3],
    /// The lowest corner \[m\].
    pub origin: [f64; 3],
    /// Size of a cell \[m\].
    pub spacing: [f64; 3],
    /// Arrays over the points.
    pub point_data: Vec<DataArray<'a>>,
    /// Arrays over the cells.
    pub cell_data: Vec<DataArray<'a>>,
    /// What is said about the whole file.
    pub field: FieldData<'a>,
}

impl ImageData<'_> {
    /// The bytes of the file.
    ///
    /// # Errors
    /// [`WrongLength`](crate::RecordError::WrongLength) when an array does not fit the points or cells.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let [nx, ny, nz] = self.cells;
        let extent = format!("0 {nx} 0 {ny} 0 {nz}");
        let (origin, spacing) = (triple(self.origin), triple(self.spacing));
        let product = |more: usize| self.cells.iter().fold(1usize, |n, &c| n.saturating_mul(c as usize + more));
        let mut xml = Xml::vtk_file("ImageData");
        xml.begin("ImageData", &[("WholeExtent", &extent), ("Origin", &origin), ("Spacing", &spacing)]);
        xml.field(&self.field);
        xml.begin("Piece", &[("Extent", &extent)]);
        xml.data("PointData", &self.point_data, product(1))?;
        xml.data("CellData", &self.cell_data, product(0))?;
        Ok(xml.finish())
    }
}

fn triple([x, y, z]: [f64; 3]) -> String {
    format!("{x:?} {y:?} {z:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RecordError;

    fn grid(point_data: &[f32], cell_data: &[f64]) -> Result<Vec<u8>> {
        let (point_data, cell_data) = (DataArray::scalars("φ", point_data), DataArray::scalars("vof", cell_data));
        ImageData {
            cells: [2, 1, 3],
            origin: [-0.5, 0.0, 1e-9],
            spacing: [0.1, 0.2, 0.3],
            point_data: vec![point_data],
            cell_data: vec![cell_data],
            field: FieldData::default(),
        }
        .encode()
    }

    #[test]
    fn arrays_must_fit_points_and_cells() {
        let text = String::from_utf8_lossy(&grid(&[0.0; 24], &[0.0; 6]).unwrap()).into_owned();
        let head = "WholeExtent=\"0 2 0 1 0 3\" Origin=\"-0.5 0.0 1e-9\" Spacing=\"0.1 0.2 0.3\"";
        assert!(text.contains(head), "{text}");
        assert!(matches!(grid(&[0.0; 6], &[0.0; 6]), Err(RecordError::WrongLength { expected: 24, .. })));
        assert!(matches!(grid(&[0.0; 24], &[0.0; 24]), Err(RecordError::WrongLength { expected: 6, .. })));
    }
}
