//! `.vtp`: points, and vertices, lines and triangles between them.

use super::array::{DataArray, FieldData, Points};
use super::xml::{Connectivity, Xml};
use crate::error::{RecordError, Result};

/// The contents of a `.vtp` file. Cell data is given for the vertices, then the lines, then the triangles.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PolyData<'a> {
    /// Points \[m\].
    pub points: Points<'a>,
    /// Points that are drawn.
    pub vertices: &'a [u32],
    /// Pairs of points.
    pub lines: &'a [[u32; 2]],
    /// Triples of points.
    pub triangles: &'a [[u32; 3]],
    /// Arrays over the points.
    pub point_data: Vec<DataArray<'a>>,
    /// Arrays over the cells.
    pub cell_data: Vec<DataArray<'a>>,
    /// What is said about the whole file.
    pub field: FieldData<'a>,
}

impl PolyData<'_> {
    /// The bytes of the file.
    ///
    /// # Errors
    /// [`RecordError::WrongLength`] when an array does not fit the points or cells, [`RecordError::PointOutOfRange`] when a
    /// cell refers to a point that is not there.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let points = self.points.len();
        let vertices = connect(self.vertices, 1, points)?;
        let lines = connect(self.lines.as_flattened(), 2, points)?;
        let triangles = connect(self.triangles.as_flattened(), 3, points)?;
        let mut xml = Xml::vtk_file("PolyData");
        xml.begin("PolyData", &[]);
        xml.field(&self.field);
        xml.begin(
            "Piece",
            &[
                ("NumberOfPoints", &points),
                ("NumberOfVerts", &vertices.len()),
                ("NumberOfLines", &lines.len()),
                ("NumberOfStrips", &0),
                ("NumberOfPolys", &triangles.len()),
            ],
        );
        xml.data("PointData", &self.point_data, points)?;
        xml.data("CellData", &self.cell_data, vertices.len() + lines.len() + triangles.len())?;
        xml.points(self.points);
        xml.cells("Verts", &vertices, None);
        xml.cells("Lines", &lines, None);
        xml.cells("Strips", &Connectivity::default(), None);
        xml.cells("Polys", &triangles, None);
        Ok(xml.finish())
    }
}

/// Cells of so many nodes each, all of which must be there.
pub(super) fn connect(nodes: &[u32], per_cell: usize, points: usize) -> Result<Connectivity> {
    if let Some(&index) = nodes.iter().find(|&&node| node as usize >= points) {
        return Err(RecordError::PointOutOfRange { index: index.into(), points });
    }
    let mut cells = Connectivity::default();
    cells.push(nodes, per_cell);
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    const POINTS: [Vec3; 3] = [Vec3::ZERO, Vec3::X, Vec3::Y];

    #[test]
    fn cells_and_data_must_fit() {
        let sound = PolyData { points: (&POINTS).into(), triangles: &[[0, 1, 2]], ..PolyData::default() };
        assert!(sound.encode().is_ok());
        let missing = PolyData { triangles: &[[0, 1, 3]], ..sound.clone() };
        assert!(matches!(missing.encode(), Err(RecordError::PointOutOfRange { index: 3, points: 3 })));
        let short = PolyData { point_data: vec![DataArray::scalars("p", &[1.0f32, 2.0])], ..sound.clone() };
        assert!(matches!(short.encode(), Err(RecordError::WrongLength { expected: 3, found: 2, .. })));
        let long = PolyData { cell_data: vec![DataArray::vectors("v", &POINTS)], ..sound };
        assert!(matches!(long.encode(), Err(RecordError::WrongLength { expected: 3, found: 9, .. })));
    }

    #[test]
    fn the_pieces_are_counted() {
        let file = PolyData {
            points: (&POINTS).into(),
            vertices: &[0, 1, 2],
            lines: &[[0, 1], [1, 2]],
            triangles: &[[0, 1, 2]],
            ..PolyData::default()
        };
        let text = String::from_utf8_lossy(&file.encode().unwrap()).into_owned();
        let piece =
            "NumberOfPoints=\"3\" NumberOfVerts=\"3\" NumberOfLines=\"2\" NumberOfStrips=\"0\" NumberOfPolys=\"1\"";
        assert!(text.contains(piece), "{text}");
    }
}
