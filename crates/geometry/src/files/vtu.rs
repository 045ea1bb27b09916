//! VTK's XML files with an unstructured grid: data as text, as base 64 between the tags, or raw at the end of the file.
//! Compressed data are refused.

use std::cell::Cell;

use super::ImportOptions;
use super::cursor::{Cursor, Form, Number};
use super::error::{ParseError, Place, Problem};
use super::tet_soup::TetSoup;
use super::tets::TetFile;
use super::vtk::Cells;
use super::xml::{Tag, Tags, from_base64};

/// Arrays do not overlap, but each is read twice, the first time for its size, and files may be a little odd: bytes are
/// read so many times on average, at most.
const READINGS: usize = 4;

/// Reads tetrahedra from the bytes of an XML file of VTK.
///
/// # Errors
/// The first line that cannot be right, and why.
pub fn parse_vtu(bytes: &[u8], options: &ImportOptions) -> Result<TetFile, ParseError> {
    let mut soup = TetSoup::new(options, bytes.len())?;
    let file = File::new(bytes)?;
    let mut group: &[u8] = b"";
    let mut piece = Piece::default();
    for tag in Tags::new(&bytes[..file.tags_end]) {
        match tag.name {
            b"Piece" => piece = Piece::new(&tag, soup.node_count() as i64),
            b"/Piece" => std::mem::take(&mut piece).finish(&file, &mut soup)?,
            b"Points" | b"Cells" | b"PointData" | b"CellData" => group = tag.name,
            b"DataArray" => match (group, tag.attribute("Name")) {
                (b"Points", _) => piece.points = Some(file.reals(&tag)?),
                (b"Cells", Some(b"connectivity")) => piece.points_of_cells = Some(file.wholes(&tag)?),
                (b"Cells", Some(b"offsets")) => piece.ends = Some(file.wholes(&tag)?),
                (b"Cells", Some(b"types")) => piece.types = Some(file.wholes(&tag)?),
                _ => {}
            },
            _ => {}
        }
    }
    soup.finish(&Cursor::new(bytes))
}

/// The numbers of an array.
struct Array<T> {
    values: Vec<T>,
    /// Where each stands, if they are text \[bytes\].
    places: Vec<usize>,
    /// Where the array stands \[bytes\].
    offset: usize,
}

impl<T> Array<T> {
    fn place(&self, i: usize) -> usize {
        self.places.get(i).copied().unwrap_or(self.offset)
    }
}

/// What a piece of a grid holds.
#[derive(Default)]
struct Piece {
    /// The number of its first node among all.
    first: i64,
    counts: [Option<u64>; 2],
    offset: usize,
    points: Option<Array<f64>>,
    points_of_cells: Option<Array<i64>>,
    ends: Option<Array<i64>>,
    types: Option<Array<i64>>,
}

impl Piece {
    fn new(tag: &Tag<'_>, first: i64) -> Self {
        let counts = ["NumberOfPoints", "NumberOfCells"].map(|name| tag.number(name));
        Self { first, counts, offset: tag.offset, ..Self::default() }
    }

    fn finish(self, file: &File<'_>, soup: &mut TetSoup) -> Result<(), ParseError> {
        let missing = |expected| file.error(self.offset, Problem::Ends { expected });
        let points = self.points.ok_or_else(|| missing("the Points of the piece"))?;
        let mut connectivity = self.points_of_cells.ok_or_else(|| missing("the connectivity of the Cells"))?;
        let ends = self.ends.ok_or_else(|| missing("the offsets of the Cells"))?.values;
        let types = self.types.ok_or_else(|| missing("the types of the Cells"))?.values;
        let coordinates = points.values.len();
        let found = [coordinates as u64 / 3, types.len() as u64];
        if coordinates % 3 != 0 || (0..2).any(|i| self.counts[i].is_some_and(|count| count != found[i])) {
            let found = format!("{coordinates} coordinates and {} cells", types.len());
            let problem = Problem::expected("as many points and cells as the piece announces", found.as_bytes());
            return Err(file.error(self.offset, problem));
        }
        for (i, point) in points.values.chunks_exact(3).enumerate() {
            let added = soup.node(self.first + i as i64, [point[0], point[1], point[2]]);
            added.map_err(|problem| file.error(points.place(3 * i), problem))?;
        }
        connectivity.values.iter_mut().for_each(|point| *point = point.saturating_add(self.first));
        let starts = std::iter::once(0).chain(ends).collect();
        let Array { values, places, offset } = connectivity;
        let cells = Cells { starts, points: values, places, offset };
        cells.add_to(soup, &types).map_err(|(offset, problem)| file.error(offset, problem))
    }
}

/// How the data of a file are written.
struct File<'a> {
    bytes: &'a [u8],
    form: Form,
    /// The number in front of binary data that tells their size.
    header: Number,
    /// Where the tags end \[bytes\]: behind, there may be raw data.
    tags_end: usize,
    /// How many bytes of the file may still be read as binary arrays.
    budget: Cell<usize>,
    /// Data at the end of the file, and whether they are raw.
    appended: Option<(&'a [u8], bool)>,
}

impl<'a> File<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let mut file = Self {
            bytes,
            form: Form::Little,
            header: Number::U32,
            tags_end: bytes.len(),
            budget: Cell::new(bytes.len().saturating_mul(READINGS)),
            appended: None,
        };
        let Some(tag) = Tags::new(bytes).next().filter(|tag| tag.name == b"VTKFile") else {
            return Err(Problem::OtherKind { expected: "`<VTKFile …>`" }.at(Place::Line(1)));
        };
        if tag.attribute("type") != Some(b"UnstructuredGrid") {
            let found = tag.attribute("type").unwrap_or_default();
            return Err(file.error(tag.offset, Problem::expected("type=\"UnstructuredGrid\"", found)));
        }
        if let Some(found) = tag.attribute("compressor") {
            return Err(file.error(tag.offset, Problem::expected("a file that is not compressed", found)));
        }
        if tag.attribute("byte_order") == Some(b"BigEndian") {
            file.form = Form::Big;
        }
        if tag.attribute("header_type") == Some(b"UInt64") {
            file.header = Number::U64;
        }
        file.find_appended();
        Ok(file)
    }

    /// Data at the end begin behind an underscore.
    fn find_appended(&mut self) {
        let Some(tag) = Tags::new(self.bytes).find(|tag| tag.name == b"AppendedData") else { return };
        let rest = &self.bytes[tag.end..];
        let start = rest.iter().position(|&b| b == b'_').map_or(rest.len(), |underscore| underscore + 1);
        self.tags_end = tag.offset;
        self.appended = Some((&rest[start..], tag.attribute("encoding") == Some(b"raw")));
    }

    fn error(&self, offset: usize, problem: Problem) -> ParseError {
        Cursor::new(self.bytes).error_at(offset, problem)
    }

    /// The numbers of an array.
    fn reals(&self, tag: &Tag<'_>) -> Result<Array<f64>, ParseError> {
        let name = tag.attribute("type").unwrap_or_default();
        let unknown = || Problem::expected("a type such as Float64, Int32 or UInt8", name);
        let number = number_named(name).ok_or_else(|| self.error(tag.offset, unknown()))?;
        let body = &self.bytes[tag.end..self.tags_end];
        let body = &body[..body.iter().position(|&b| b == b'<').unwrap_or(body.len())];
        let mut array = Array { values: Vec::new(), places: Vec::new(), offset: tag.offset };
        if tag.attribute("format") == Some(b"ascii") {
            let mut cursor = Cursor::new(body);
            while cursor.peek().is_some() {
                let place = tag.end + cursor.start();
                array.values.push(cursor.real(number).map_err(|error| self.error(place, error.problem))?);
                array.places.push(place);
            }
            return Ok(array);
        }
        let data = self.binary(tag, body)?;
        let mut cursor = Cursor::new(&data);
        cursor.move_to(0);
        cursor.set_form(self.form);
        for _ in 0..data.len() / number.size() {
            array.values.push(cursor.real(number).map_err(|error| self.error(tag.offset, error.problem))?);
        }
        Ok(array)
    }

    /// The bytes of an array that is not text.
    fn binary(&self, tag: &Tag<'_>, body: &[u8]) -> Result<Vec<u8>, ParseError> {
        let ends = |expected| self.error(tag.offset, Problem::Ends { expected });
        let (data, raw) = match tag.attribute("format") {
            Some(b"binary") => (body, false),
            Some(b"appended") => {
                let (data, raw) = self.appended.ok_or_else(|| ends("the AppendedData"))?;
                let offset = tag.number("offset").and_then(|offset| usize::try_from(offset).ok());
                (offset.and_then(|offset| data.get(offset..)).ok_or_else(|| ends("data at the offset"))?, raw)
            }
            found => {
                let problem = Problem::expected("the format ascii, binary or appended", found.unwrap_or_default());
                return Err(self.error(tag.offset, problem));
            }
        };
        self.sized(data, raw).ok_or_else(|| ends("as many data as announced"))
    }

    /// As many data as the number in front of them tells.
    fn sized(&self, data: &[u8], raw: bool) -> Option<Vec<u8>> {
        let first = |count: usize| {
            let (bytes, read) =
                if raw { (data.get(..count)?.to_vec(), count) } else { from_base64(data, count, self.budget.get()) };
            self.budget.set(self.budget.get().checked_sub(read)?);
            Some(bytes)
        };
        let header = first(self.header.size())?;
        let mut cursor = Cursor::new(&header);
        cursor.move_to(0);
        cursor.set_form(self.form);
        let size = usize::try_from(cursor.whole(self.header).ok()?).ok()?;
        let whole = size.checked_add(header.len())?;
        let mut bytes = first(whole)?;
        (bytes.len() == whole).then(|| bytes.split_off(header.len()))
    }

    /// The numbers of an array, which must be whole.
    fn wholes(&self, tag: &Tag<'_>) -> Result<Array<i64>, ParseError> {
        // Whole numbers up to here are exact.
        const EXACT: f64 = (1u64 << 53) as f64;
        let array = self.reals(tag)?;
        let whole = |(i, &value): (usize, &f64)| {
            let is_whole = value.fract() == 0.0 && value.abs() <= EXACT;
            let problem = || Problem::expected("a whole number", value.to_string().as_bytes());
            is_whole.then_some(value as i64).ok_or_else(|| self.error(array.place(i), problem()))
        };
        let values = array.values.iter().enumerate().map(whole).collect::<Result<_, _>>()?;
        Ok(Array { values, places: array.places, offset: array.offset })
    }
}

fn number_named(name: &[u8]) -> Option<Number> {
    Some(match name {
        b"Int8" => Number::I8,
        b"UInt8" => Number::U8,
        b"Int16" => Number::I16,
        b"UInt16" => Number::U16,
        b"Int32" => Number::I32,
        b"UInt32" => Number::U32,
        b"Int64" => Number::I64,
        b"UInt64" => Number::U64,
        b"Float32" => Number::F32,
        b"Float64" => Number::F64,
        _ => return None,
    })
}
