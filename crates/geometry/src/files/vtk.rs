//! VTK's legacy files with an unstructured grid, as text or binary.
//!
//! After four lines of header come keywords, each with its data: `POINTS`, `CELLS` and `CELL_TYPES` are wanted. Since
//! version 5, `CELLS` holds the ends of the cells and then all their points; before, each cell begins with its number of
//! points. Point and cell data come last and are not read.

use super::ImportOptions;
use super::cursor::{Cursor, Form, Number};
use super::error::{ParseError, Problem};
use super::tet_soup::TetSoup;
use super::tets::TetFile;

/// VTK's numbers for tetrahedra with four and with ten nodes.
const TETS: [i64; 2] = [10, 24];

/// How many points a cell of one of VTK's linear types or a quadratic tetrahedron has, if that is always the same.
fn points_of_type(kind: i64) -> Option<usize> {
    Some(match kind {
        1 => 1,
        3 => 2,
        5 => 3,
        8..=10 => 4,
        11 | 12 => 8,
        13 => 6,
        14 => 5,
        24 => 10,
        _ => return None,
    })
}

/// Reads tetrahedra from the bytes of a legacy file of VTK, text or binary.
///
/// # Errors
/// The first line or byte that cannot be right, and why.
pub fn parse_vtk(bytes: &[u8], options: &ImportOptions) -> Result<TetFile, ParseError> {
    let mut soup = TetSoup::new(options, bytes.len())?;
    let mut reader = Reader { cursor: Cursor::new(bytes), form: Form::Text, version: 0.0 };
    reader.header()?;
    let mut cells = None;
    let mut types = None;
    while let Some(word) = reader.keyword() {
        match word.to_ascii_uppercase().as_slice() {
            b"POINTS" => reader.points(&mut soup)?,
            b"CELLS" => cells = Some(reader.cells()?),
            b"CELL_TYPES" => types = Some(reader.types()?),
            b"FIELD" => reader.skip_field()?,
            b"METADATA" => reader.skip_metadata(),
            b"POINT_DATA" | b"CELL_DATA" => break,
            _ => return Err(reader.cursor.error(Problem::expected("POINTS, CELLS, CELL_TYPES or FIELD", word))),
        }
    }
    let missing = |expected| reader.cursor.error(Problem::Ends { expected });
    let cells = cells.ok_or_else(|| missing("CELLS"))?;
    let types = types.ok_or_else(|| missing("CELL_TYPES"))?;
    cells.add_to(&mut soup, &types).map_err(|(offset, problem)| reader.cursor.error_at(offset, problem))?;
    soup.finish(&reader.cursor)
}

/// Cells as runs of points.
pub(super) struct Cells {
    /// Where the points of each cell begin; one entry more than there are cells, the end of the last.
    pub(super) starts: Vec<i64>,
    pub(super) points: Vec<i64>,
    /// Where each point stands, as far as that is known \[bytes\].
    pub(super) places: Vec<usize>,
    /// Where they all stand \[bytes\].
    pub(super) offset: usize,
}

impl Cells {
    /// Adds the tetrahedra among the cells. What is wrong comes with the place where it stands \[bytes\].
    pub(super) fn add_to(&self, soup: &mut TetSoup, types: &[i64]) -> Result<(), (usize, Problem)> {
        let count = self.starts.len().saturating_sub(1);
        if types.len() != count {
            let found = format!("{} types for {count} cells", types.len());
            return Err((self.offset, Problem::expected("as many cell types as cells", found.as_bytes())));
        }
        for (ends, &kind) in self.starts.windows(2).zip(types) {
            let range = usize::try_from(ends[0]).ok().zip(usize::try_from(ends[1]).ok());
            let points = range.and_then(|(start, end)| self.points.get(start..end));
            let place = range.and_then(|(start, _)| self.places.get(start)).copied().unwrap_or(self.offset);
            let found = || format!("points {} to {} for type {kind}", ends[0], ends[1]);
            let wrong = |expected| (place, Problem::expected(expected, found().as_bytes()));
            let points = points.ok_or_else(|| wrong("a cell among the points of all cells"))?;
            if points_of_type(kind).is_some_and(|count| count != points.len()) {
                return Err(wrong("as many points as a cell of its type has"));
            }
            if TETS.contains(&kind) {
                soup.tet(points, 0, place);
            } else {
                soup.other_element();
            }
        }
        Ok(())
    }
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    /// How data are written; keywords are always text.
    form: Form,
    version: f64,
}

impl<'a> Reader<'a> {
    fn header(&mut self) -> Result<(), ParseError> {
        let first = self.cursor.line();
        let version = first.strip_prefix(b"# vtk DataFile Version");
        let version = version.and_then(|v| std::str::from_utf8(v.trim_ascii()).ok()).and_then(|v| v.parse().ok());
        let expected = "`# vtk DataFile Version 3.0` or another";
        self.version = version.ok_or_else(|| self.wrong_line(Problem::OtherKind { expected }))?;
        self.cursor.line();
        let form = self.cursor.line();
        self.form = match form.to_ascii_uppercase().as_slice() {
            b"ASCII" => Form::Text,
            b"BINARY" => Form::Big,
            _ => return Err(self.wrong_line(Problem::expected("ASCII or BINARY", form))),
        };
        let kind = [self.cursor.word(), self.cursor.word()].map(Option::unwrap_or_default);
        if !kind[0].eq_ignore_ascii_case(b"DATASET") || !kind[1].eq_ignore_ascii_case(b"UNSTRUCTURED_GRID") {
            return Err(self.cursor.error(Problem::expected("DATASET UNSTRUCTURED_GRID", &kind.join(&b' '))));
        }
        Ok(())
    }

    /// What is wrong on the line that was taken last.
    fn wrong_line(&self, problem: Problem) -> ParseError {
        self.cursor.error_at(self.cursor.at().saturating_sub(1), problem)
    }

    /// The next keyword.
    fn keyword(&mut self) -> Option<&'a [u8]> {
        self.cursor.set_form(Form::Text);
        self.cursor.word()
    }

    /// The type of the data that begin on the next line.
    fn data_type(&mut self) -> Result<Number, ParseError> {
        let word = self.cursor.word().unwrap_or_default();
        let number = number_named(&word.to_ascii_lowercase());
        let number = number.ok_or_else(|| {
            self.cursor.error(Problem::expected("a type of data such as float, double, int or vtktypeint64", word))
        })?;
        self.begin_data();
        Ok(number)
    }

    fn begin_data(&mut self) {
        self.cursor.line();
        self.cursor.set_form(self.form);
    }

    fn points(&mut self, soup: &mut TetSoup) -> Result<(), ParseError> {
        let start = self.cursor.start();
        let count = self.cursor.natural(Number::I64)?;
        let number = self.data_type()?;
        let room = self.cursor.check_room("points", count, [6, 3 * number.size()]);
        let count = room.map_err(|problem| self.cursor.error_at(start, problem))?;
        for _ in 0..count {
            let mut next = || self.cursor.real(number);
            let position = [next()?, next()?, next()?];
            let place = soup.node_count() as i64;
            soup.node(place, position).map_err(|problem| self.cursor.error(problem))?;
        }
        Ok(())
    }

    fn cells(&mut self) -> Result<Cells, ParseError> {
        let first = self.cursor.count("cells", Number::I64, [1, 1])?;
        let second = self.cursor.count("numbers", Number::I64, [1, 1])?;
        if self.version >= 5.0 { self.cells_5(first, second) } else { self.cells_3(first, second) }
    }

    /// `first` cells in `second` numbers: each cell begins with its number of points.
    fn cells_3(&mut self, first: usize, second: usize) -> Result<Cells, ParseError> {
        self.begin_data();
        self.room("numbers", second, Number::I32)?;
        let offset = self.cursor.start();
        let mut cells = Cells { starts: vec![0], points: Vec::new(), places: Vec::new(), offset };
        for _ in 0..first {
            let count = self.cursor.whole(Number::I32)?;
            let left = second.saturating_sub(cells.points.len() + cells.starts.len());
            if !u64::try_from(count).is_ok_and(|count| count <= left as u64) {
                let found = count.to_string();
                return Err(self.cursor.error(Problem::expected("the number of points of a cell", found.as_bytes())));
            }
            for _ in 0..count {
                cells.places.push(self.cursor.start());
                cells.points.push(self.cursor.whole(Number::I32)?);
            }
            cells.starts.push(cells.points.len() as i64);
        }
        Ok(cells)
    }

    /// `first` places in a list of `second` points.
    fn cells_5(&mut self, first: usize, second: usize) -> Result<Cells, ParseError> {
        let (starts, _) = self.list(b"OFFSETS", first)?;
        let offset = self.cursor.start();
        let (points, places) = self.list(b"CONNECTIVITY", second)?;
        Ok(Cells { starts, points, places, offset })
    }

    fn list(&mut self, name: &'static [u8], count: usize) -> Result<(Vec<i64>, Vec<usize>), ParseError> {
        let word = self.keyword().unwrap_or_default();
        if word != name {
            return Err(self.cursor.error(Problem::expected("OFFSETS, then CONNECTIVITY", word)));
        }
        let number = self.data_type()?;
        self.wholes(count, number)
    }

    /// Whole numbers, and where each stands \[bytes\].
    fn wholes(&mut self, count: usize, number: Number) -> Result<(Vec<i64>, Vec<usize>), ParseError> {
        self.room("numbers", count, number)?;
        let (mut values, mut places) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for _ in 0..count {
            places.push(self.cursor.start());
            values.push(self.cursor.whole(number)?);
        }
        Ok((values, places))
    }

    fn room(&self, what: &str, count: usize, number: Number) -> Result<(), ParseError> {
        let room = self.cursor.check_room(what, count as u64, [1, number.size()]);
        room.map(drop).map_err(|problem| self.cursor.error(problem))
    }

    fn types(&mut self) -> Result<Vec<i64>, ParseError> {
        let count = self.cursor.count("cell types", Number::I64, [1, 1])?;
        self.begin_data();
        Ok(self.wholes(count, Number::I32)?.0)
    }

    /// Arrays that belong to the file as a whole: each has a name, two sizes and a type.
    fn skip_field(&mut self) -> Result<(), ParseError> {
        self.cursor.word();
        let arrays = self.cursor.count("arrays", Number::I64, [4, 4])?;
        for _ in 0..arrays {
            self.cursor.set_form(Form::Text);
            self.cursor.word();
            let start = self.cursor.start();
            let count = self.cursor.natural(Number::I64)?.saturating_mul(self.cursor.natural(Number::I64)?);
            let number = self.data_type()?;
            let room = self.cursor.check_room("numbers", count, [1, number.size()]);
            let count = room.map_err(|problem| self.cursor.error_at(start, problem))?;
            for _ in 0..count {
                self.cursor.real(number)?;
            }
        }
        Ok(())
    }

    /// Ends with an empty line.
    fn skip_metadata(&mut self) {
        self.cursor.line();
        while self.cursor.left() > 0 && !self.cursor.line().is_empty() {}
    }
}

fn number_named(name: &[u8]) -> Option<Number> {
    Some(match name {
        b"char" => Number::I8,
        b"unsigned_char" => Number::U8,
        b"short" => Number::I16,
        b"unsigned_short" => Number::U16,
        b"int" => Number::I32,
        b"unsigned_int" => Number::U32,
        // Long has eight bytes in all files that are not decades old.
        b"long" | b"vtktypeint64" | b"vtkidtype" => Number::I64,
        b"unsigned_long" | b"vtktypeuint64" => Number::U64,
        b"float" => Number::F32,
        b"double" => Number::F64,
        _ => return None,
    })
}
