//! STL: loose triangles, as text or as 50 bytes each.

use super::ImportOptions;
use super::error::{ParseError, Place, Problem};
use super::soup::Soup;
use super::words::{Lines, three, words};
use crate::TriangleMesh;

/// A binary file begins with this many bytes of anything \[bytes\].
const HEADER: usize = 80;
/// Header and number of triangles \[bytes\].
const PREAMBLE: usize = HEADER + 4;
/// A triangle: normal, three corners, two bytes of anything \[bytes\].
const RECORD: usize = 50;

/// Reads a mesh from the bytes of an STL file, text or binary. Normals in the file are ignored: the order of the
/// corners counts.
///
/// # Errors
/// The first line or triangle that cannot be right, and why.
pub fn parse_stl(bytes: &[u8], options: &ImportOptions) -> Result<TriangleMesh, ParseError> {
    stl_soup(bytes, options)?.finish()
}

pub(super) fn stl_soup(bytes: &[u8], options: &ImportOptions) -> Result<Soup, ParseError> {
    let soup = Soup::new(options, 0, bytes.len())?;
    if is_text(bytes) { parse_text(bytes, soup) } else { parse_binary(bytes, soup) }
}

/// Binary files may begin with the word `solid` as well, so the size decides first, then a look for zero bytes.
fn is_text(bytes: &[u8]) -> bool {
    let fits = announced(bytes).is_some_and(|count| count * RECORD as u64 + PREAMBLE as u64 == bytes.len() as u64);
    let start = bytes.trim_ascii_start();
    let solid = start.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    !fits && solid && !bytes.iter().take(1024).any(|&b| b == 0)
}

fn announced(bytes: &[u8]) -> Option<u64> {
    let count = bytes.get(HEADER..PREAMBLE)?.try_into().ok()?;
    Some(u64::from(u32::from_le_bytes(count)))
}

fn parse_binary(bytes: &[u8], mut soup: Soup) -> Result<Soup, ParseError> {
    let Some(count) = announced(bytes) else {
        let problem = Problem::Ends { expected: "the word `solid` or a binary header of 84 bytes" };
        return Err(problem.at(Place::Byte(bytes.len())));
    };
    let body = &bytes[PREAMBLE..];
    let needed = u128::from(count) * RECORD as u128;
    if needed > body.len() as u128 {
        let problem = Problem::Announced { what: "triangles".into(), count, needed, left: body.len() };
        return Err(problem.at(Place::Byte(HEADER)));
    }
    // The body holds them all, so the count fits.
    let count = count as usize;
    soup.reserve(3 * count);
    for (face, record) in body.chunks_exact(RECORD).take(count).enumerate() {
        let mut corners = [0; 3];
        for (corner, floats) in corners.iter_mut().zip(record[12..].chunks_exact(12)) {
            *corner = soup.vertex(floats_of(floats), Place::Face(face))?;
        }
        soup.polygon(&corners);
    }
    Ok(soup)
}

/// Three single-precision numbers, lowest byte first.
fn floats_of(bytes: &[u8]) -> [f64; 3] {
    let float = |i: usize| f64::from(f32::from_le_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]]));
    [float(0), float(4), float(8)]
}

fn parse_text(bytes: &[u8], soup: Soup) -> Result<Soup, ParseError> {
    let mut text = Text { soup, in_solid: false, corners: None };
    let mut last = 0;
    for (number, line) in Lines::new(bytes) {
        text.statement(line, Place::Line(number))?;
        last = number;
    }
    if text.in_solid {
        return Err(Problem::Ends { expected: "`endsolid`" }.at(Place::Line(last)));
    }
    Ok(text.soup)
}

/// A text file under way.
struct Text {
    soup: Soup,
    in_solid: bool,
    /// The corners of the loop that is open.
    corners: Option<Vec<u32>>,
}

impl Text {
    fn statement(&mut self, line: &[u8], place: Place) -> Result<(), ParseError> {
        let mut words = words(line);
        let Some(keyword) = words.next() else { return Ok(()) };
        match (keyword.to_ascii_lowercase().as_slice(), &mut self.corners) {
            (b"solid", None) if !self.in_solid => self.in_solid = true,
            (b"endsolid", None) if self.in_solid => self.in_solid = false,
            (b"facet" | b"endfacet", None) if self.in_solid => {}
            (b"outer", corners @ None) if self.in_solid => *corners = Some(Vec::with_capacity(3)),
            (b"vertex", Some(corners)) => {
                let position = three(words).map_err(|problem| problem.at(place))?;
                corners.push(self.soup.vertex(position, place)?);
            }
            (b"endloop", Some(corners)) if corners.len() >= 3 => {
                self.soup.polygon(corners);
                self.corners = None;
            }
            (_, open) => return Err(Problem::expected(Self::allowed(self.in_solid, open.as_deref()), line).at(place)),
        }
        Ok(())
    }

    /// What may stand here.
    fn allowed(in_solid: bool, corners: Option<&[u32]>) -> &'static str {
        match corners {
            Some([_, _, _, ..]) => "`vertex x y z` or `endloop`",
            Some(_) => "`vertex x y z`",
            None if in_solid => "`facet`, `outer loop`, `endfacet` or `endsolid`",
            None => "`solid`",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solids;
    use glam::DVec3;

    const FACET: &str =
        "facet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 1 0\n endloop\nendfacet\n";

    fn parsed(bytes: &[u8]) -> Result<TriangleMesh, ParseError> {
        parse_stl(bytes, &ImportOptions::default())
    }

    fn binary(mesh: &TriangleMesh, header: &[u8]) -> Vec<u8> {
        let mut bytes = header.to_vec();
        bytes.resize(HEADER, b' ');
        bytes.extend((mesh.triangles().len() as u32).to_le_bytes());
        for corners in mesh.corners() {
            bytes.extend([0; 12]);
            bytes.extend(corners.iter().flat_map(|c| c.as_vec3().to_array()).flat_map(f32::to_le_bytes));
            bytes.extend([7, 7]);
        }
        bytes
    }

    #[test]
    fn binary_files_are_welded_whatever_their_header_says() {
        let sphere = solids::icosphere(DVec3::ZERO, 1.0, 2);
        for header in [&b"made by hand"[..], b"solid but binary all the same"] {
            let mesh = parsed(&binary(&sphere, header)).unwrap();
            assert!(mesh.closed().is_ok() && mesh.vertices().len() == 162 && mesh.triangles().len() == 320);
        }
        let mut with_a_tail = binary(&sphere, b"tail");
        with_a_tail.extend(b"more that some programs append");
        assert_eq!(parsed(&with_a_tail), parsed(&binary(&sphere, b"")));
    }

    #[test]
    fn text_files_may_hold_several_solids() {
        let other = FACET.replace("0 1 0", "0 -1 0").to_uppercase();
        let mesh = parsed(format!("solid one\n{FACET}endsolid one\n\nSOLID\n{other}ENDSOLID\n").as_bytes()).unwrap();
        assert_eq!((mesh.triangles().len(), mesh.vertices().len()), (2, 4));
    }

    #[test]
    fn text_errors_say_where_and_what_would_be_right() {
        for (text, part) in [
            (format!("solid\n{FACET}"), "line 8: `endsolid` should follow, but nothing does"),
            (
                "solid\nvertex 0 0 0\n".into(),
                "line 2: expected `facet`, `outer loop`, `endfacet` or `endsolid`, found `vertex 0 0 0`",
            ),
            (
                format!("solid\n{}", FACET.replace("vertex 0 1 0", "vertex 0 one 0")),
                "line 6: expected a number, found `one`",
            ),
            (
                format!("solid\n{}", FACET.replace("vertex 0 1 0", "")),
                "line 7: expected `vertex x y z`, found ` endloop`",
            ),
            (format!("solid\n{FACET}endsolid\nfacet\n"), "line 10: expected `solid`, found `facet`"),
            (format!("solid\n{}endsolid\n", FACET.replace("1 0 0", "inf 0 0")), "line 5: the coordinate inf"),
            ("solid\nendsolid\n".into(), "no triangle"),
        ] {
            let error = parsed(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn binary_errors_say_where_and_what_would_be_right() {
        let sphere = solids::icosphere(DVec3::ZERO, 1.0, 0);
        let mut bytes = binary(&sphere, b"");
        bytes[HEADER..PREAMBLE].copy_from_slice(&4_000_000_000u32.to_le_bytes());
        let error = parsed(&bytes).unwrap_err().to_string();
        assert_eq!(
            error,
            "byte 80: 4000000000 triangles are announced, which take at least 200000000000 bytes, but only 1000 follow"
        );
        let mut bytes = binary(&sphere, b"");
        bytes[PREAMBLE + 3 * RECORD + 12..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(parsed(&bytes).unwrap_err().to_string().contains("face 3 (counted from 0): the coordinate NaN"));
        assert!(parsed(b"").unwrap_err().to_string().contains("`solid`"));
        assert!(parsed(b"sol").is_err());
    }
}
