//! `.vtu`: points, and cells of several shapes between them.

use super::array::{DataArray, FieldData, Points};
use super::poly_data::connect;
use super::xml::{Connectivity, Xml};
use crate::error::{RecordError, Result};

/// Shapes of cells, with nodes in the order of VTK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CellShape {
    /// One node.
    Vertex,
    /// Two nodes.
    Line,
    /// Three nodes.
    Triangle,
    /// Four nodes; seen from the fourth, the first three go round counter-clockwise.
    Tetrahedron,
    /// Eight nodes: the bottom face, then the top face, each going round the same way.
    Hexahedron,
}

impl CellShape {
    /// Number of nodes.
    #[must_use]
    pub fn nodes(self) -> usize {
        match self {
            Self::Vertex => 1,
            Self::Line => 2,
            Self::Triangle => 3,
            Self::Tetrahedron => 4,
            Self::Hexahedron => 8,
        }
    }

    /// The number that VTK files have for it.
    fn vtk_code(self) -> u8 {
        match self {
            Self::Vertex => 1,
            Self::Line => 3,
            Self::Triangle => 5,
            Self::Tetrahedron => 10,
            Self::Hexahedron => 12,
        }
    }
}

/// Cells of one shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellBlock<'a> {
    /// Their shape.
    pub shape: CellShape,
    /// Their nodes, cell by cell.
    pub nodes: &'a [u32],
}

/// The contents of a `.vtu` file. Cell data is given block by block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnstructuredGrid<'a> {
    /// Points \[m\].
    pub points: Points<'a>,
    /// Cells.
    pub cells: Vec<CellBlock<'a>>,
    /// Arrays over the points.
    pub point_data: Vec<DataArray<'a>>,
    /// Arrays over the cells.
    pub cell_data: Vec<DataArray<'a>>,
    /// What is said about the whole file.
    pub field: FieldData<'a>,
}

impl UnstructuredGrid<'_> {
    /// The bytes of the file.
    ///
    /// # Errors
    /// [`RecordError::WrongLength`] when an array does not fit the points or cells or a block its shape,
    /// [`RecordError::PointOutOfRange`] when a cell refers to a point that is not there.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let points = self.points.len();
        let (cells, types) = self.connectivity()?;
        let mut xml = Xml::vtk_file("UnstructuredGrid");
        xml.begin("UnstructuredGrid", &[]);
        xml.field(&self.field);
        xml.begin("Piece", &[("NumberOfPoints", &points), ("NumberOfCells", &cells.len())]);
        xml.data("PointData", &self.point_data, points)?;
        xml.data("CellData", &self.cell_data, cells.len())?;
        xml.points(self.points);
        xml.cells("Cells", &cells, Some(&types));
        Ok(xml.finish())
    }

    fn connectivity(&self) -> Result<(Connectivity, Vec<u8>)> {
        let (mut cells, mut types) = (Connectivity::default(), Vec::new());
        for block in &self.cells {
            let per_cell = block.shape.nodes();
            if !block.nodes.len().is_multiple_of(per_cell) {
                let expected = block.nodes.len().next_multiple_of(per_cell);
                let what = format!("a block of cells of the shape {:?}", block.shape);
                return Err(RecordError::WrongLength { what, expected, found: block.nodes.len() });
            }
            cells.append(connect(block.nodes, per_cell, self.points.len())?);
            types.resize(cells.len(), block.shape.vtk_code());
        }
        Ok((cells, types))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn blocks_must_fit_their_shape() {
        let points = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let grid = |nodes| UnstructuredGrid {
            points: (&points).into(),
            cells: vec![CellBlock { shape: CellShape::Tetrahedron, nodes }],
            ..UnstructuredGrid::default()
        };
        assert!(grid(&[0, 1, 2, 3]).encode().is_ok());
        assert!(matches!(grid(&[0, 1, 2]).encode(), Err(RecordError::WrongLength { expected: 4, found: 3, .. })));
        assert!(matches!(grid(&[0, 1, 2, 4]).encode(), Err(RecordError::PointOutOfRange { index: 4, .. })));
    }

    #[test]
    fn cell_data_counts_all_blocks() {
        let points = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let grid = UnstructuredGrid {
            points: (&points).into(),
            cells: vec![
                CellBlock { shape: CellShape::Triangle, nodes: &[0, 1, 2] },
                CellBlock { shape: CellShape::Line, nodes: &[0, 1, 1, 2] },
            ],
            cell_data: vec![DataArray::scalars("body", &[0u16, 1, 1])],
            ..UnstructuredGrid::default()
        };
        let text = String::from_utf8_lossy(&grid.encode().unwrap()).into_owned();
        assert!(text.contains("NumberOfPoints=\"3\" NumberOfCells=\"3\""), "{text}");
    }
}
