//! The header of a PLY file.

use super::super::error::{ParseError, Place, Problem};
use super::super::words::{Lines, words};

/// How the numbers after the header are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

/// A type of number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }

    /// Size in a binary file \[bytes\].
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The number at the beginning of `bytes`. Every type fits into a double without loss.
    pub(super) fn read(self, bytes: &[u8], encoding: Encoding) -> Option<f64> {
        let mut raw = [0; 8];
        let raw = raw.get_mut(..self.size())?;
        raw.copy_from_slice(bytes.get(..self.size())?);
        if encoding == Encoding::BigEndian {
            raw.reverse();
        }
        Some(match (self, &*raw) {
            (Self::I8, &[a]) => f64::from(i8::from_le_bytes([a])),
            (Self::U8, &[a]) => f64::from(a),
            (Self::I16, &[a, b]) => f64::from(i16::from_le_bytes([a, b])),
            (Self::U16, &[a, b]) => f64::from(u16::from_le_bytes([a, b])),
            (Self::I32, &[a, b, c, d]) => f64::from(i32::from_le_bytes([a, b, c, d])),
            (Self::U32, &[a, b, c, d]) => f64::from(u32::from_le_bytes([a, b, c, d])),
            (Self::F32, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            (Self::F64, &[a, b, c, d, e, f, g, h]) => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => return None,
        })
    }
}

/// What a property holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Scalar(Scalar),
    List { length: Scalar, item: Scalar },
}

/// A named column of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) name: Vec<u8>,
    pub(super) kind: Kind,
}

/// A table of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) properties: Vec<Property>,
    line: usize,
}

impl Element {
    /// The indices of three scalar properties.
    pub(super) fn columns(&self, names: [&str; 3]) -> Result<[usize; 3], ParseError> {
        let found = names.map(|name| {
            let wanted = |p: &Property| p.name == name.as_bytes() && matches!(p.kind, Kind::Scalar(_));
            self.properties.iter().position(wanted)
        });
        match found {
            [Some(x), Some(y), Some(z)] => Ok([x, y, z]),
            _ => Err(self.lacks("an element `vertex` with the properties x, y and z")),
        }
    }

    /// The index of a list with one of these names.
    pub(super) fn list(&self, names: &[&str]) -> Result<usize, ParseError> {
        let wanted =
            |p: &Property| names.iter().any(|name| p.name == name.as_bytes()) && matches!(p.kind, Kind::List { .. });
        let index = self.properties.iter().position(wanted);
        index.ok_or_else(|| self.lacks("an element `face` with a list `vertex_indices`"))
    }

    fn lacks(&self, expected: &'static str) -> ParseError {
        let properties: Vec<_> = self.properties.iter().map(|p| String::from_utf8_lossy(&p.name)).collect();
        let found = format!("element {} with {}", self.name, properties.join(", "));
        Problem::expected(expected, found.as_bytes()).at(Place::Line(self.line))
    }
}

/// All that the header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
    /// Its length \[bytes\].
    pub(super) bytes: usize,
    /// Its length in lines.
    pub(super) lines: usize,
}

impl Header {
    /// Whether there are elements with these names.
    pub(super) fn require(&self, names: [&str; 2]) -> Result<(), ParseError> {
        if names.iter().all(|name| self.elements.iter().any(|element| element.name == *name)) {
            return Ok(());
        }
        let found: Vec<_> = self.elements.iter().map(|element| element.name.as_str()).collect();
        let expected = "the elements `vertex` and `face`";
        Err(Problem::expected(expected, found.join(", ").as_bytes()).at(Place::Line(self.lines)))
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let mut lines = Lines::new(bytes);
        if lines.next().is_none_or(|(_, magic)| magic != b"ply") {
            return Err(Problem::OtherKind { expected: "`ply` on the first line" }.at(Place::Line(1)));
        }
        let mut encoding = None;
        let mut elements = Vec::new();
        let mut last = 1;
        while let Some((number, line)) = lines.next() {
            last = number;
            let statement: Vec<_> = words(line).collect();
            if statement == [b"end_header"] {
                let encoding = encoding.ok_or(Problem::expected("a line with the format before the end", line));
                let encoding = encoding.map_err(|problem| problem.at(Place::Line(number)))?;
                return Ok(Self { encoding, elements, bytes: bytes.len() - lines.rest().len(), lines: number });
            }
            let wrong = |expected| Problem::expected(expected, line).at(Place::Line(number));
            match statement.as_slice() {
                [] | [b"comment" | b"obj_info", ..] => {}
                [b"format", name, b"1.0"] => encoding = Some(encoding_named(name).map_err(wrong)?),
                [b"element", name, count] => elements.push(element(name, count, number).map_err(wrong)?),
                [b"property", description @ .., name] => {
                    let element = elements.last_mut().ok_or_else(|| wrong("an element before its properties"))?;
                    let kind = kind(description).map_err(wrong)?;
                    element.properties.push(Property { name: name.to_vec(), kind });
                }
                _ => return Err(wrong("`format … 1.0`, `comment`, `element`, `property` or `end_header`")),
            }
        }
        Err(Problem::Ends { expected: "`end_header`" }.at(Place::Line(last)))
    }
}

fn encoding_named(name: &[u8]) -> Result<Encoding, &'static str> {
    match name {
        b"ascii" => Ok(Encoding::Text),
        b"binary_little_endian" => Ok(Encoding::LittleEndian),
        b"binary_big_endian" => Ok(Encoding::BigEndian),
        _ => Err("the format ascii, binary_little_endian or binary_big_endian"),
    }
}

fn element(name: &[u8], count: &[u8], line: usize) -> Result<Element, &'static str> {
    let count = std::str::from_utf8(count).ok().and_then(|text| text.parse().ok());
    let count = count.ok_or("`element`, a name and a number that is not negative")?;
    Ok(Element { name: String::from_utf8_lossy(name).into_owned(), count, properties: Vec::new(), line })
}

fn kind(description: &[&[u8]]) -> Result<Kind, &'static str> {
    let expected = "a property of type char, uchar, short, ushort, int, uint, float or double, or a list of those";
    let scalar = |name: &[u8]| Scalar::named(name).ok_or(expected);
    match *description {
        [name] => Ok(Kind::Scalar(scalar(name)?)),
        [b"list", length, item] => Ok(Kind::List { length: scalar(length)?, item: scalar(item)? }),
        _ => Err(expected),
    }
}
