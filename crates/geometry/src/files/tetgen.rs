//! TetGen's pair of text files: .node with the nodes, .ele with the tetrahedra. Nodes are numbered from 0 or from 1, or
//! however the file likes; `#` begins a comment.

use super::ImportOptions;
use super::cursor::Cursor;
use super::error::{ParseError, Place, Problem};
use super::tet_soup::TetSoup;
use super::tets::TetFile;
use super::words::{Lines, words};

/// Something is wrong in one of TetGen's two files.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("in the .{} file, {error}", if *in_nodes { "node" } else { "ele" })]
pub struct TetGenError {
    /// Whether it is in the .node file, and not in the .ele file.
    pub in_nodes: bool,
    /// Where, and what.
    pub error: ParseError,
}

/// Reads tetrahedra from the bytes of TetGen's .node and .ele files. The first attribute of a tetrahedron is its region.
///
/// # Errors
/// The first line that cannot be right, and why.
pub fn parse_tetgen(nodes: &[u8], tets: &[u8], options: &ImportOptions) -> Result<TetFile, TetGenError> {
    let in_file = |in_nodes: bool| move |error: ParseError| TetGenError { in_nodes, error };
    let mut soup = TetSoup::new(options, nodes.len().max(tets.len())).map_err(in_file(true))?;
    read_nodes(nodes, &mut soup).map_err(in_file(true))?;
    read_tets(tets, &mut soup).map_err(in_file(false))?;
    soup.finish(&Cursor::new(tets)).map_err(in_file(false))
}

/// Lines with something on them but comments.
struct Rows<'a> {
    lines: Lines<'a>,
    bytes: &'a [u8],
    last: usize,
}

/// The numbers on a line.
struct Row<'a> {
    words: Vec<&'a [u8]>,
    line: usize,
    /// Where the line ends \[bytes\].
    offset: usize,
}

impl<'a> Rows<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { lines: Lines::new(bytes), bytes, last: 1 }
    }

    fn next(&mut self) -> Option<Row<'a>> {
        loop {
            let (line, text) = self.lines.next()?;
            self.last = line;
            let text = text.split(|&b| b == b'#').next().unwrap_or_default();
            let words: Vec<_> = words(text).collect();
            if !words.is_empty() {
                // The line break is the last byte that was taken.
                let offset = (self.bytes.len() - self.lines.rest().len()).saturating_sub(1);
                return Some(Row { words, line, offset });
            }
        }
    }

    fn require(&mut self, expected: &'static str) -> Result<Row<'a>, ParseError> {
        self.next().ok_or(Problem::Ends { expected }.at(Place::Line(self.last)))
    }

    /// The first line: how many rows follow, each with at least so many numbers, and what else it says.
    fn header(&mut self, what: &str, numbers: usize) -> Result<(usize, Row<'a>), ParseError> {
        let row = self.require("a line with the number of what follows")?;
        let count = row.whole(0).map_err(ParseError::without_echo)?;
        let place = Place::Line(row.line);
        let Ok(count) = u64::try_from(count) else {
            return Err(Problem::expected("a number that is not negative", row.words[0]).at(place));
        };
        let (needed, left) = (u128::from(count) * 2 * numbers as u128, self.lines.rest().len());
        // The last line may lack its line break.
        if needed > left as u128 + 1 {
            return Err(Problem::Announced { what: what.into(), count, needed, left }.at(place));
        }
        Ok((count as usize, row))
    }
}

impl Row<'_> {
    fn parsed<T: std::str::FromStr>(&self, column: usize, expected: &'static str) -> Result<T, ParseError> {
        let Some(word) = self.words.get(column) else {
            return Err(Problem::Ends { expected }.at(Place::Line(self.line)));
        };
        let value = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
        value.ok_or_else(|| Problem::expected(expected, word).at(Place::Line(self.line)))
    }

    fn whole(&self, column: usize) -> Result<i64, ParseError> {
        self.parsed(column, "a whole number")
    }

    /// A number of columns that the header may announce.
    fn announced(&self, column: usize) -> Result<u64, ParseError> {
        if column < self.words.len() { self.parsed(column, "a number of columns") } else { Ok(0) }
    }

    fn real(&self, column: usize) -> Result<f64, ParseError> {
        self.parsed(column, "a number")
    }
}

fn read_nodes(bytes: &[u8], soup: &mut TetSoup) -> Result<(), ParseError> {
    let mut rows = Rows::new(bytes);
    let (count, header) = rows.header("nodes", 4)?;
    if header.words.len() > 1 && header.whole(1).map_err(ParseError::without_echo)? != 3 {
        return Err(Problem::expected("nodes in 3 dimensions", header.words[1]).at(Place::Line(header.line)));
    }
    let more = header.announced(2)?.saturating_add(header.announced(3)?);
    for _ in 0..count {
        let row = rows.require("a node: its number, x, y and z")?;
        let position = [row.real(1)?, row.real(2)?, row.real(3)?];
        soup.node(row.whole(0)?, position).map_err(|problem| problem.at(Place::Line(row.line)))?;
        // They are not used, but a line without them has been cut off, maybe within a coordinate.
        if (row.words.len() as u64) < more.saturating_add(4) {
            let expected = "attributes and a marker, as announced on the first line,";
            return Err(Problem::Ends { expected }.at(Place::Line(row.line)));
        }
    }
    Ok(())
}

fn read_tets(bytes: &[u8], soup: &mut TetSoup) -> Result<(), ParseError> {
    let mut rows = Rows::new(bytes);
    let (count, header) = rows.header("tetrahedra", 5)?;
    let nodes = if header.words.len() > 1 { header.whole(1).map_err(ParseError::without_echo)? } else { 4 };
    if nodes != 4 && nodes != 10 {
        return Err(Problem::expected("4 or 10 nodes per tetrahedron", header.words[1]).at(Place::Line(header.line)));
    }
    let attributes = header.announced(2)?;
    for _ in 0..count {
        let row = rows.require("a tetrahedron: its number and its nodes")?;
        row.whole(0)?;
        let corners: Result<Vec<i64>, ParseError> = (1..=nodes as usize).map(|column| row.whole(column)).collect();
        // Attributes are written as numbers with or without a fraction.
        let region = if attributes > 0 { row.real(nodes as usize + 1)? as i64 } else { 0 };
        soup.tet(&corners?, region, row.offset);
    }
    Ok(())
}
