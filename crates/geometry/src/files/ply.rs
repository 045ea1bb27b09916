//! PLY: a text header that describes elements of properties, then the elements as text or binary.
//!
//! Wanted are `x`, `y` and `z` of the element `vertex` and the list `vertex_indices` (or `vertex_index`) of the element
//! `face`; everything else is stepped over.

mod header;

use super::ImportOptions;
use super::error::{ParseError, Place, Problem};
use super::soup::Soup;
use super::words::{Words, number};
use crate::TriangleMesh;
use header::{Element, Encoding, Header, Kind, Scalar};

/// Reads a mesh from the bytes of a PLY file, text or binary in either byte order.
///
/// # Errors
/// The first line, vertex or face that cannot be right, and why.
pub fn parse_ply(bytes: &[u8], options: &ImportOptions) -> Result<TriangleMesh, ParseError> {
    ply_soup(bytes, options)?.finish()
}

pub(super) fn ply_soup(bytes: &[u8], options: &ImportOptions) -> Result<Soup, ParseError> {
    let mut soup = Soup::new(options, 0, bytes.len())?;
    let header = Header::parse(bytes)?;
    header.require(["vertex", "face"])?;
    let mut body = Body::new(bytes, &header);
    for element in &header.elements {
        body.check_room(element)?;
        match element.name.as_str() {
            "vertex" => read_vertices(element, &mut body, &mut soup)?,
            "face" => read_faces(element, &mut body, &mut soup)?,
            _ => skip(element, &mut body)?,
        }
    }
    Ok(soup)
}

fn read_vertices(element: &Element, body: &mut Body<'_>, soup: &mut Soup) -> Result<(), ParseError> {
    let columns = element.columns(["x", "y", "z"])?;
    // The body has room for them, so the count fits.
    soup.reserve(element.count as usize);
    for vertex in 0..element.count as usize {
        let mut position = [0.0; 3];
        for (i, property) in element.properties.iter().enumerate() {
            match (&property.kind, columns.iter().position(|&column| column == i)) {
                (Kind::Scalar(scalar), Some(axis)) => position[axis] = body.value(*scalar)?,
                (kind, _) => body.skip(kind)?,
            }
        }
        soup.vertex(position, body.place(Place::Vertex(vertex)))?;
    }
    Ok(())
}

fn read_faces(element: &Element, body: &mut Body<'_>, soup: &mut Soup) -> Result<(), ParseError> {
    let wanted = element.list(&["vertex_indices", "vertex_index"])?;
    let mut corners = Vec::new();
    for face in 0..element.count as usize {
        for (i, property) in element.properties.iter().enumerate() {
            match property.kind {
                Kind::List { length, item } if i == wanted => {
                    corners.clear();
                    for _ in 0..body.length(length, item)? {
                        let value = body.value(item)?;
                        let place = body.place(Place::Face(face));
                        corners.push(soup.corner(whole(value).map_err(|problem| problem.at(place))?, place)?);
                    }
                }
                ref kind => body.skip(kind)?,
            }
        }
        if corners.len() < 3 {
            let found = format!("{} corners", corners.len());
            let problem = Problem::expected("a face with at least three corners", found.as_bytes());
            return Err(problem.at(body.place(Place::Face(face))));
        }
        soup.polygon(&corners);
    }
    Ok(())
}

fn skip(element: &Element, body: &mut Body<'_>) -> Result<(), ParseError> {
    // Elements without properties take no room, however many they are.
    if element.properties.is_empty() {
        return Ok(());
    }
    for _ in 0..element.count {
        element.properties.iter().try_for_each(|property| body.skip(&property.kind))?;
    }
    Ok(())
}

/// A number without a fraction.
fn whole(value: f64) -> Result<i64, Problem> {
    const EXACT: f64 = (1u64 << 53) as f64;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        Ok(value as i64)
    } else {
        Err(Problem::expected("a whole number", value.to_string().as_bytes()))
    }
}

/// What follows the header.
enum Body<'a> {
    Text(Words<'a>),
    Binary { bytes: &'a [u8], at: usize, encoding: Encoding },
}

impl<'a> Body<'a> {
    fn new(bytes: &'a [u8], header: &Header) -> Self {
        match header.encoding {
            Encoding::Text => Self::Text(Words::new(&bytes[header.bytes..], header.lines)),
            encoding => Self::Binary { bytes, at: header.bytes, encoding },
        }
    }

    /// Where we are: a line of text, or the part of the binary that the caller knows.
    fn place(&self, part: Place) -> Place {
        match self {
            Self::Text(words) => words.place(),
            Self::Binary { .. } => part,
        }
    }

    fn here(&self) -> Place {
        match self {
            Self::Text(words) => words.place(),
            Self::Binary { at, .. } => Place::Byte(*at),
        }
    }

    fn left(&self) -> usize {
        match self {
            Self::Text(words) => words.left(),
            Self::Binary { bytes, at, .. } => bytes.len() - at,
        }
    }

    /// The least number of bytes that a value takes: as text a digit and a blank, the last one without.
    fn least(&self, scalar: Scalar) -> usize {
        match self {
            Self::Text(_) => 1,
            Self::Binary { .. } => scalar.size(),
        }
    }

    /// Whether what is left has room for all of an element.
    fn check_room(&self, element: &Element) -> Result<(), ParseError> {
        let least = |kind: &Kind| match *kind {
            Kind::Scalar(scalar) | Kind::List { length: scalar, .. } => self.least(scalar) as u128,
        };
        let row: u128 = element.properties.iter().map(|property| least(&property.kind)).sum();
        self.announce(&element.name, element.count, row)
    }

    fn announce(&self, what: &str, count: u64, each: u128) -> Result<(), ParseError> {
        let (needed, left) = (u128::from(count) * each, self.left());
        if needed <= left as u128 {
            return Ok(());
        }
        Err(Problem::Announced { what: format!("`{what}` elements"), count, needed, left }.at(self.here()))
    }

    fn value(&mut self, scalar: Scalar) -> Result<f64, ParseError> {
        let value = match self {
            Self::Text(words) => words.next().ok_or(Problem::Ends { expected: "a number" }).and_then(number),
            Self::Binary { bytes, at, encoding } => {
                let value = bytes.get(*at..).and_then(|rest| scalar.read(rest, *encoding));
                *at += scalar.size();
                value.ok_or(Problem::Ends { expected: "a number" })
            }
        };
        value.map_err(|problem| problem.at(self.here()))
    }

    /// The length of a list, if what is left has room for it.
    fn length(&mut self, length: Scalar, item: Scalar) -> Result<u64, ParseError> {
        let value = self.value(length)?;
        let here = self.here();
        let count = whole(value).ok().and_then(|count| u64::try_from(count).ok());
        let count =
            count.ok_or_else(|| Problem::expected("the length of a list", value.to_string().as_bytes()).at(here))?;
        self.announce("list", count, self.least(item) as u128)?;
        Ok(count)
    }

    fn skip(&mut self, kind: &Kind) -> Result<(), ParseError> {
        match *kind {
            Kind::Scalar(scalar) => self.value(scalar).map(drop),
            Kind::List { length, item } => {
                let count = self.length(length, item)?;
                (0..count).try_for_each(|_| self.value(item).map(drop))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    const HEADER: &str = "\
        comment a square with colours, a list to step over and an element that nobody knows\n\
        element vertex 4\nproperty float x\nproperty uchar red\nproperty float32 y\n\
        property list uchar short extra\nproperty float z\n\
        element camera 1\nproperty double fov\nproperty list int uint views\n\
        element face 1\nproperty list uint8 int32 vertex_indices\nproperty int16 flags\nend_header\n";

    fn parsed(bytes: &[u8]) -> Result<TriangleMesh, ParseError> {
        parse_ply(bytes, &ImportOptions::default())
    }

    fn text_file() -> String {
        let body = "0 255 0 0 0\n1 0 0 2 7 -8 0\r\n1 0 1 0 0\n0 0 1 0 0\n\n60.5 2 1 2\n4 0 1 2 3 -1\n";
        format!("ply\nformat ascii 1.0\n{HEADER}{body}")
    }

    /// The same square in binary, its numbers turned round for the other byte order.
    fn binary_file(encoding: Encoding) -> Vec<u8> {
        let little = encoding == Encoding::LittleEndian;
        let name = if little { "binary_little_endian" } else { "binary_big_endian" };
        let mut bytes = format!("ply\nformat {name} 1.0\n{HEADER}").into_bytes();
        let mut put = |mut raw: Vec<u8>| {
            if !little {
                raw.reverse();
            }
            bytes.extend(raw);
        };
        for (x, y, extra) in [(0f32, 0f32, &[][..]), (1.0, 0.0, &[7i16, -8]), (1.0, 1.0, &[]), (0.0, 1.0, &[])] {
            put(x.to_le_bytes().into());
            put(vec![255]);
            put(y.to_le_bytes().into());
            put(vec![extra.len() as u8]);
            extra.iter().for_each(|value| put(value.to_le_bytes().into()));
            put(0f32.to_le_bytes().into());
        }
        put(60.5f64.to_le_bytes().into());
        [2u32, 1, 2].iter().for_each(|value| put(value.to_le_bytes().into()));
        put(vec![4]);
        (0..4i32).for_each(|value| put(value.to_le_bytes().into()));
        put((-1i16).to_le_bytes().into());
        bytes
    }

    #[test]
    fn text_and_both_byte_orders_give_the_same_mesh() {
        let mesh = parsed(text_file().as_bytes()).unwrap();
        assert_eq!(mesh.triangles(), [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(mesh.vertices()[1..], [DVec3::X, DVec3::X + DVec3::Y, DVec3::Y]);
        assert_eq!(parsed(&binary_file(Encoding::LittleEndian)), Ok(mesh.clone()));
        assert_eq!(parsed(&binary_file(Encoding::BigEndian)), Ok(mesh));
    }

    #[test]
    fn lines_may_end_as_on_windows() {
        let mut text = text_file().replace("\r\n", "\n").replace('\n', "\r\n");
        assert_eq!(parsed(text.as_bytes()), parsed(text_file().as_bytes()));
        text.insert(0, '\u{feff}');
        assert!(parsed(text.as_bytes()).is_ok());
    }

    #[test]
    fn errors_say_where_and_what_would_be_right() {
        for (from, to, part) in [
            ("ply\n", "plx\n", "line 1: expected `ply` on the first line"),
            ("ascii 1.0", "ascii 2.0", "line 2: expected `format … 1.0`"),
            ("ascii", "utf8", "line 2: expected the format ascii, binary_little_endian or binary_big_endian"),
            ("format ascii 1.0", "", "line 16: expected a line with the format before the end, found `end_header`"),
            ("vertex 4", "vertex -4", "line 4: expected `element`, a name and a number that is not negative"),
            ("float x", "float32x x", "line 5: expected a property of type char"),
            (
                "float z",
                "float w",
                "line 4: expected an element `vertex` with the properties x, y and z, found `element vertex with x",
            ),
            ("vertex_indices", "corners", "line 13: expected an element `face` with a list `vertex_indices`"),
            ("end_header", "end_heade", "line 16: expected `format … 1.0`, `comment`"),
            (
                "\n4 0 1 2 3",
                "\n4 0 1 2 4",
                "line 23: a face uses vertex 4, but the file has 4 vertices, numbered from 0",
            ),
            ("\n4 0 1 2 3", "\n4 0 1 -2 3", "line 23: a face uses vertex -2"),
            ("\n4 0 1 2 3", "\n4 0 1.5 2 3", "line 23: expected a whole number, found `1.5`"),
            ("\n4 0 1 2 3", "\n2 0 1", "line 23: expected a face with at least three corners, found `2 corners`"),
            ("\n4 0 1 2 3", "\n-4 0 1 2 3", "line 23: expected the length of a list, found `-4`"),
            ("\n4 0 1 2 3 -1\n", "\n4 0 1 2 3\n", "line 24: a number should follow, but nothing does"),
            ("\n1 0 0 2", "\n1 0 x 2", "line 18: expected a number, found `x`"),
            ("\n1 0 0 2", "\nnan 0 0 2", "line 18: the coordinate NaN"),
        ] {
            let text = text_file();
            assert!(text.contains(from), "{from}");
            let error = parsed(text.replacen(from, to, 1).as_bytes()).unwrap_err().to_string();
            assert!(error.contains(part), "{error}\ninstead of\n{part}");
        }
        assert!(parsed(b"").unwrap_err().to_string().contains("`ply`"));
        let error = parsed(b"ply\nformat ascii 1.0\nelement vertex 0\nend_header\n").unwrap_err().to_string();
        assert!(error.contains("line 4: expected the elements `vertex` and `face`, found `vertex`"), "{error}");
        assert!(parsed(b"ply\nproperty int x\n").unwrap_err().to_string().contains("an element before"));
    }

    #[test]
    fn binary_errors_name_the_vertex_or_the_face() {
        let good = binary_file(Encoding::BigEndian);
        let body = good.len() - 2 - 17 - 20 - 4 * 14 - 4;
        let mut bad = good.clone();
        bad[body..body + 4].copy_from_slice(&f32::NAN.to_be_bytes());
        assert!(parsed(&bad).unwrap_err().to_string().contains("vertex 0 (counted from 0): the coordinate NaN"));
        let mut bad = good.clone();
        let last = good.len() - 3;
        bad[last] = 200;
        assert!(parsed(&bad).unwrap_err().to_string().contains("face 0 (counted from 0): a face uses vertex 200"));
        assert!(parsed(&good[..good.len() - 1]).unwrap_err().to_string().contains("a number should follow"));
    }

    #[test]
    fn announcements_are_checked_before_anything_is_reserved() {
        for format in ["ascii", "binary_little_endian"] {
            let text = format!(
                "ply\nformat {format} 1.0\nelement vertex 4000000000\n\
                 property float x\nproperty float y\nproperty float z\n\
                 element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0"
            );
            let error = parsed(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("4000000000 `vertex` elements are announced"), "{error}");
            // Without properties an element takes no room, and no time.
            let text = text.replacen("element face", "element nothing 18446744073709551615\nelement face", 1).replacen(
                "4000000000",
                "0",
                1,
            );
            assert!(parsed(text.as_bytes()).is_err());
        }
    }
}
