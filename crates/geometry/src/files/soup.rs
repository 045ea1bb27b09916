//! What all readers fill: vertices in our axes and units, polygons cut into fans.

use glam::DVec3;

use super::error::{ParseError, Place, Problem};
use super::{ImportOptions, LARGEST_FILE, UpAxis};
use crate::{LARGEST_COORDINATE, TriangleMesh};

/// Vertices and triangles as a file has them.
pub(crate) type Raw = (Vec<DVec3>, Vec<[u32; 3]>);

/// Vertices and triangles on their way from a file to a mesh.
pub(super) struct Soup {
    options: ImportOptions,
    /// Number of the first vertex in the kind of file that is read.
    first: u8,
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    /// The highest vertex that a face uses, from 0, and where it does so: vertices may follow later.
    highest: Option<(u32, Place)>,
}

impl Soup {
    /// `first` is the number of the first vertex in this kind of file, `bytes` the size of the file.
    pub(super) fn new(options: &ImportOptions, first: u8, bytes: usize) -> Result<Self, ParseError> {
        let scale = options.scale;
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(Problem::Scale { scale }.at(Place::File));
        }
        if bytes as u64 > LARGEST_FILE {
            return Err(Problem::TooLarge { bytes }.at(Place::File));
        }
        Ok(Self { options: *options, first, vertices: Vec::new(), triangles: Vec::new(), highest: None })
    }

    pub(super) fn vertex_count(&self) -> usize {
        self.vertices.len()
    }

    /// Makes room for vertices that are known to be in the file.
    pub(super) fn reserve(&mut self, vertices: usize) {
        self.vertices.reserve(vertices);
    }

    /// Adds a vertex and returns its number, from 0.
    pub(super) fn vertex(&mut self, position: [f64; 3], place: Place) -> Result<u32, ParseError> {
        let [x, y, z] = position.map(|value| self.options.scale * value);
        for (scaled, value) in [x, y, z].into_iter().zip(position) {
            // Also false for what is not a number.
            let good = scaled.abs() <= LARGEST_COORDINATE;
            if !good {
                return Err(Problem::Coordinate { value }.at(place));
            }
        }
        // A file is too small to hold more vertices than an index can name.
        let number = self.vertices.len() as u32;
        self.vertices.push(match self.options.up {
            UpAxis::Y => DVec3::new(x, y, z),
            UpAxis::Z => DVec3::new(x, z, -y),
        });
        Ok(number)
    }

    /// Checks a vertex number as written in the file and returns it counted from 0. Whether the vertex exists is known
    /// at the end only.
    pub(super) fn corner(&mut self, written: i64, place: Place) -> Result<u32, ParseError> {
        let from_zero = written.checked_sub(i64::from(self.first)).and_then(|index| u32::try_from(index).ok());
        let index = from_zero.ok_or_else(|| self.missing(written).at(place))?;
        if self.highest.is_none_or(|(highest, _)| index > highest) {
            self.highest = Some((index, place));
        }
        Ok(index)
    }

    fn missing(&self, index: i64) -> Problem {
        Problem::Index { index, vertices: self.vertices.len(), first: self.first }
    }

    /// Adds a polygon as a fan about its first corner.
    pub(super) fn polygon(&mut self, corners: &[u32]) {
        if let [hub, rim @ ..] = corners {
            self.triangles.extend(rim.windows(2).map(|edge| [*hub, edge[0], edge[1]]));
        }
    }

    /// The mesh, if every corner exists.
    pub(super) fn finish(self) -> Result<TriangleMesh, ParseError> {
        let (vertices, triangles) = self.raw()?;
        TriangleMesh::from_soup(vertices, triangles).map_err(|error| Problem::Mesh(error).at(Place::File))
    }

    /// Vertices and triangles as the file has them, if every corner exists.
    pub(super) fn raw(self) -> Result<Raw, ParseError> {
        if let Some((highest, place)) = self.highest.filter(|(highest, _)| *highest as usize >= self.vertices.len()) {
            return Err(self.missing(i64::from(highest) + i64::from(self.first)).at(place));
        }
        Ok((self.vertices, self.triangles))
    }
}
