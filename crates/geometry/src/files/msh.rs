//! Gmsh's .msh files, versions 2 and 4.1, as text or binary in either byte order.
//!
//! Sections begin with `$Name` and end with `$EndName`. Wanted are `Nodes`, `Elements`, `PhysicalNames` and, in version
//! 4.1, `Entities`, which tells the physical group of each volume; the others are stepped over.

use std::collections::HashMap;

use super::ImportOptions;
use super::cursor::{Cursor, Form, Number};
use super::error::{ParseError, Problem};
use super::tet_soup::TetSoup;
use super::tets::TetFile;

/// Gmsh's types of tetrahedra, with 4, 10, 20, 35 and 56 nodes. Corners come first.
const TETS: [i64; 5] = [4, 11, 29, 30, 31];

/// Nodes of an element of each of Gmsh's types, from 1 on.
const NODES_OF_TYPE: [usize; 31] =
    [2, 3, 4, 4, 8, 6, 5, 3, 6, 9, 10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5, 6, 20, 35, 56];

fn nodes_of_type(kind: i64) -> Option<usize> {
    match kind {
        // Quadrilaterals, prisms and hexahedra of higher order.
        36 => Some(16),
        37 => Some(25),
        38 => Some(36),
        90 => Some(40),
        91 => Some(75),
        92 => Some(64),
        93 => Some(125),
        _ => NODES_OF_TYPE.get(usize::try_from(kind.checked_sub(1)?).ok()?).copied(),
    }
}

/// Reads tetrahedra from the bytes of a file of Gmsh, version 2 or 4.1, text or binary. Physical groups become regions.
///
/// # Errors
/// The first line or byte that cannot be right, and why.
pub fn parse_msh(bytes: &[u8], options: &ImportOptions) -> Result<TetFile, ParseError> {
    let soup = TetSoup::new(options, bytes.len())?;
    let mut cursor = Cursor::new(bytes);
    let version = header(&mut cursor)?;
    let mut reader = Reader { cursor, soup, group_of_volume: HashMap::new(), nodes: Vec::new() };
    while let Some(name) = reader.next_section()? {
        match name {
            b"PhysicalNames" => reader.physical_names()?,
            b"Entities" if version == Version::Four => reader.entities()?,
            b"Nodes" if version == Version::Two => reader.nodes_2()?,
            b"Nodes" => reader.nodes_4()?,
            b"Elements" if version == Version::Two => reader.elements_2()?,
            b"Elements" => reader.elements_4()?,
            _ => {}
        }
        reader.end_section(name)?;
    }
    reader.soup.finish(&reader.cursor)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Two,
    Four,
}

/// Reads the first section: version, form of numbers and byte order.
fn header(cursor: &mut Cursor<'_>) -> Result<Version, ParseError> {
    let start = cursor.word();
    if start != Some(b"$MeshFormat") {
        return Err(cursor.error(Problem::OtherKind { expected: "`$MeshFormat`" }));
    }
    let word = cursor.word().unwrap_or_default();
    let version = match word {
        b"2" | b"2.0" | b"2.1" | b"2.2" => Version::Two,
        b"4.1" => Version::Four,
        _ => return Err(cursor.error(Problem::expected("version 2.2 or 4.1", word))),
    };
    let binary = cursor.whole(Number::I32)?;
    let size = cursor.whole(Number::I32)?;
    if size != 8 {
        return Err(cursor.error(Problem::expected("numbers of 8 bytes", size.to_string().as_bytes())));
    }
    cursor.line();
    match binary {
        0 => {}
        1 => {
            let form = byte_order(cursor)?;
            cursor.set_form(form);
        }
        other => {
            return Err(cursor.error(Problem::expected("0 for text or 1 for binary", other.to_string().as_bytes())));
        }
    }
    let end = cursor.word().unwrap_or_default();
    if end != b"$EndMeshFormat" {
        return Err(cursor.error(Problem::expected("`$EndMeshFormat`", end)));
    }
    Ok(version)
}

/// A binary file shows its byte order by a one.
fn byte_order(cursor: &mut Cursor<'_>) -> Result<Form, ParseError> {
    match cursor.take(4) {
        Some([1, 0, 0, 0]) => Ok(Form::Little),
        Some([0, 0, 0, 1]) => Ok(Form::Big),
        found => Err(cursor.error(Problem::expected("the number 1 in four bytes", found.unwrap_or_default()))),
    }
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    soup: TetSoup,
    /// The physical group of each volume of version 4.1; looked up, never iterated.
    group_of_volume: HashMap<i64, i64>,
    /// Nodes of the element that is read.
    nodes: Vec<i64>,
}

impl<'a> Reader<'a> {
    /// The name of the next section; its contents begin on the next line.
    fn next_section(&mut self) -> Result<Option<&'a [u8]>, ParseError> {
        let Some(word) = self.cursor.word() else { return Ok(None) };
        let Some(name) = word.strip_prefix(b"$") else {
            return Err(self.cursor.error(Problem::expected("a section such as `$Nodes`", word)));
        };
        self.cursor.line();
        Ok(Some(name))
    }

    /// Steps behind the end of a section.
    fn end_section(&mut self, name: &[u8]) -> Result<(), ParseError> {
        let end = [b"$End", name].concat();
        let known = [&b"PhysicalNames"[..], b"Nodes", b"Elements"].contains(&name);
        let at_end = self.cursor.peek() == Some(&end[..]);
        if known && !at_end {
            let word = self.cursor.word().unwrap_or_default();
            return Err(self.cursor.error(Problem::expected("the end of the section", word)));
        }
        let ends = self.cursor.skip_behind(&end);
        ends.ok_or_else(|| self.cursor.error(Problem::Ends { expected: "the end of the section" }))
    }

    /// Dimension, number and name of physical groups; always text.
    fn physical_names(&mut self) -> Result<(), ParseError> {
        let mut text = self.cursor.clone();
        text.set_form(Form::Text);
        let count = text.count("names", Number::I32, [5, 5])?;
        text.line();
        for _ in 0..count {
            let dimension = text.whole(Number::I32)?;
            let number = text.whole(Number::I32)?;
            let name = text.line();
            if dimension == 3 {
                let name = String::from_utf8_lossy(name.strip_prefix(b"\"").unwrap_or(name));
                self.soup.region_names.push((number, name.trim_end_matches('"').to_owned()));
            }
        }
        self.cursor.move_to(text.at());
        Ok(())
    }

    fn position(&mut self) -> Result<[f64; 3], ParseError> {
        let mut next = || self.cursor.real(Number::F64);
        Ok([next()?, next()?, next()?])
    }

    fn node(&mut self, number: i64) -> Result<(), ParseError> {
        let position = self.position()?;
        self.soup.node(number, position).map_err(|problem| self.cursor.error(problem))
    }

    fn nodes_2(&mut self) -> Result<(), ParseError> {
        let count = self.text_count("nodes", [8, 28])?;
        for _ in 0..count {
            let number = self.cursor.whole(Number::I32)?;
            self.node(number)?;
        }
        Ok(())
    }

    /// The number at the beginning of a section of version 2, which is text in binary files too.
    fn text_count(&mut self, what: &str, each: [usize; 2]) -> Result<usize, ParseError> {
        let mut text = self.cursor.clone();
        text.set_form(Form::Text);
        let start = text.start();
        let count = text.natural(Number::I32)?;
        text.line();
        self.cursor.move_to(text.at());
        self.cursor.check_room(what, count, each).map_err(|problem| text.error_at(start, problem))
    }

    fn elements_2(&mut self) -> Result<(), ParseError> {
        let count = self.text_count("elements", [6, 8])?;
        if self.cursor.is_text() {
            for _ in 0..count {
                let offset = self.cursor.start();
                self.cursor.whole(Number::I32)?;
                let kind = self.cursor.whole(Number::I32)?;
                let tags = self.cursor.count("tags", Number::I32, [1, 4])?;
                self.element_2(kind, tags, offset)?;
            }
            return Ok(());
        }
        // Binary elements come in groups of one type.
        let mut left = count;
        while left > 0 {
            let kind = self.cursor.whole(Number::I32)?;
            let group = self.cursor.count("elements", Number::I32, [1, 8])?;
            let tags = self.cursor.count("tags", Number::I32, [1, 4])?;
            if group == 0 || group > left {
                let found = group.to_string();
                return Err(self.cursor.error(Problem::expected("no more elements than announced", found.as_bytes())));
            }
            for _ in 0..group {
                let offset = self.cursor.start();
                self.cursor.whole(Number::I32)?;
                self.element_2(kind, tags, offset)?;
            }
            left -= group;
        }
        Ok(())
    }

    /// Tags, of which the first is the physical group, and nodes of an element of version 2.
    fn element_2(&mut self, kind: i64, tags: usize, offset: usize) -> Result<(), ParseError> {
        let mut region = 0;
        for tag in 0..tags {
            let value = self.cursor.whole(Number::I32)?;
            region = if tag == 0 { value } else { region };
        }
        self.element(kind, region, Number::I32, offset)
    }

    /// The nodes of an element.
    fn element(&mut self, kind: i64, region: i64, number: Number, offset: usize) -> Result<(), ParseError> {
        let count = self.nodes_of(kind)?;
        self.nodes.clear();
        for _ in 0..count {
            self.nodes.push(self.cursor.whole(number)?);
        }
        if TETS.contains(&kind) {
            self.soup.tet(&self.nodes, region, offset);
        } else {
            self.soup.other_element();
        }
        Ok(())
    }

    fn nodes_of(&self, kind: i64) -> Result<usize, ParseError> {
        let unknown = || Problem::expected("a type of element that Gmsh has", kind.to_string().as_bytes());
        nodes_of_type(kind).ok_or_else(|| self.cursor.error(unknown()))
    }

    /// The physical group of each volume.
    fn entities(&mut self) -> Result<(), ParseError> {
        let mut counts = [0; 4];
        for (dimension, count) in counts.iter_mut().enumerate() {
            let least = if dimension == 0 { [8, 36] } else { [16, 60] };
            *count = self.cursor.count("entities", Number::U64, least)?;
        }
        for (dimension, count) in counts.into_iter().enumerate() {
            for _ in 0..count {
                self.entity(dimension)?;
            }
        }
        Ok(())
    }

    fn entity(&mut self, dimension: usize) -> Result<(), ParseError> {
        let number = self.cursor.whole(Number::I32)?;
        // A point has a place, the others a box.
        for _ in 0..if dimension == 0 { 3 } else { 6 } {
            self.cursor.real(Number::F64)?;
        }
        let groups = self.cursor.count("physical groups", Number::U64, [1, 4])?;
        for group in 0..groups {
            let value = self.cursor.whole(Number::I32)?;
            if dimension == 3 && group == 0 {
                self.group_of_volume.insert(number, value);
            }
        }
        if dimension > 0 {
            let borders = self.cursor.count("borders", Number::U64, [1, 4])?;
            for _ in 0..borders {
                self.cursor.whole(Number::I32)?;
            }
        }
        Ok(())
    }

    fn nodes_4(&mut self) -> Result<(), ParseError> {
        let blocks = self.cursor.count("blocks", Number::U64, [8, 20])?;
        for _ in 0..3 {
            self.cursor.whole(Number::U64)?;
        }
        for _ in 0..blocks {
            let dimension = self.cursor.whole(Number::I32)?;
            self.cursor.whole(Number::I32)?;
            let parametric = self.cursor.whole(Number::I32)?;
            let count = self.cursor.count("nodes", Number::U64, [8, 32])?;
            let mut numbers = Vec::with_capacity(count);
            for _ in 0..count {
                numbers.push(self.cursor.whole(Number::U64)?);
            }
            for number in numbers {
                self.node(number)?;
                // Places on the entity follow: one number on a curve, two on a surface, three in a volume.
                for _ in 0..if parametric != 0 { dimension.clamp(0, 3) } else { 0 } {
                    self.cursor.real(Number::F64)?;
                }
            }
        }
        Ok(())
    }

    fn elements_4(&mut self) -> Result<(), ParseError> {
        let blocks = self.cursor.count("blocks", Number::U64, [8, 20])?;
        for _ in 0..3 {
            self.cursor.whole(Number::U64)?;
        }
        for _ in 0..blocks {
            self.cursor.whole(Number::I32)?;
            let entity = self.cursor.whole(Number::I32)?;
            let kind = self.cursor.whole(Number::I32)?;
            let nodes = self.nodes_of(kind)?;
            let count = self.cursor.count("elements", Number::U64, [2 + 2 * nodes, 8 + 8 * nodes])?;
            let region = self.group_of_volume.get(&entity).copied().unwrap_or(0);
            for _ in 0..count {
                let offset = self.cursor.start();
                self.cursor.whole(Number::U64)?;
                self.element(kind, region, Number::U64, offset)?;
            }
        }
        Ok(())
    }
}
