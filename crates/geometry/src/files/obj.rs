//! Wavefront OBJ: `v x y z` and `f i j k …`, with indices from 1 or, negative, back from the last vertex.

use super::ImportOptions;
use super::error::{ParseError, Place, Problem};
use super::soup::Soup;
use super::words::{Lines, three, words};
use crate::TriangleMesh;

/// Statements of the format that say nothing about the shape of polygons.
const IGNORED: [&str; 39] = [
    "vt",
    "vn",
    "vp",
    "p",
    "l",
    "g",
    "s",
    "mg",
    "o",
    "usemtl",
    "mtllib",
    "usemap",
    "maplib",
    "cstype",
    "deg",
    "bmat",
    "step",
    "curv",
    "curv2",
    "surf",
    "parm",
    "trim",
    "hole",
    "scrv",
    "sp",
    "end",
    "con",
    "bevel",
    "c_interp",
    "d_interp",
    "lod",
    "shadow_obj",
    "trace_obj",
    "ctech",
    "stech",
    "call",
    "csh",
    "bsp",
    "bzp",
];

/// Reads a mesh from the bytes of an OBJ file.
///
/// # Errors
/// The first line that cannot be right, and why.
pub fn parse_obj(bytes: &[u8], options: &ImportOptions) -> Result<TriangleMesh, ParseError> {
    obj_soup(bytes, options)?.finish()
}

pub(super) fn obj_soup(bytes: &[u8], options: &ImportOptions) -> Result<Soup, ParseError> {
    let mut soup = Soup::new(options, 1, bytes.len())?;
    // Without a vertex before it, a line that is no statement may be one of any file.
    read(bytes, &mut soup).map_err(|error| if soup.vertex_count() > 0 { error } else { error.without_echo() })?;
    Ok(soup)
}

fn read(bytes: &[u8], soup: &mut Soup) -> Result<(), ParseError> {
    let mut lines = Lines::new(bytes);
    let mut corners = Vec::new();
    while let Some((number, statement)) = next_statement(&mut lines) {
        let place = Place::Line(number);
        let mut words = statement.iter().copied();
        match words.next() {
            None => {}
            Some(b"v") => {
                let position = three(words).map_err(|problem| problem.at(place))?;
                soup.vertex(position, place)?;
            }
            Some(b"f" | b"fo") => {
                corners.clear();
                for word in words {
                    corners.push(corner(word, soup, place)?);
                }
                if corners.len() < 3 {
                    return Err(
                        Problem::expected("a face with at least three corners", &statement.join(&b' ')).at(place)
                    );
                }
                soup.polygon(&corners);
            }
            Some(other) if IGNORED.iter().any(|known| known.as_bytes() == other) => {}
            Some(other) => {
                return Err(Problem::expected("a statement of the OBJ format such as v, vn, f or #", other).at(place));
            }
        }
    }
    Ok(())
}

/// The words of the next statement up to a comment, and the number of its first line. A backslash at the end of a line
/// joins it to the next.
fn next_statement<'a>(lines: &mut Lines<'a>) -> Option<(usize, Vec<&'a [u8]>)> {
    let (number, mut line) = lines.next()?;
    let mut statement = Vec::new();
    while let Some(joined) = line.strip_suffix(b"\\") {
        statement.extend(words(joined));
        line = lines.next().map_or(&[], |(_, next)| next);
    }
    statement.extend(words(line));
    let comment = statement.iter().position(|word| word.starts_with(b"#"));
    statement.truncate(comment.unwrap_or(statement.len()));
    Some((number, statement))
}

/// The vertex of a corner such as `3`, `3/1`, `3//2` or `-1/4/2`, counted from 0.
fn corner(word: &[u8], soup: &mut Soup, place: Place) -> Result<u32, ParseError> {
    let vertex = word.split(|&b| b == b'/').next().unwrap_or_default();
    let text = std::str::from_utf8(vertex).ok();
    let written: i64 = text
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Problem::expected("a corner such as 3, 3/1, 3//2 or -1", word).at(place))?;
    // Back from the last vertex: -1 is the last one, whose number is the count.
    let from_start =
        if written < 0 { (soup.vertex_count() as i64).saturating_add(written).saturating_add(1) } else { written };
    soup.corner(from_start, place).map_err(|_| missing(written, soup, place))
}

fn missing(index: i64, soup: &Soup, place: Place) -> ParseError {
    Problem::Index { index, vertices: soup.vertex_count(), first: 1 }.at(place)
}

#[cfg(test)]
mod tests {
    use super::super::UpAxis;
    use super::*;
    use glam::DVec3;

    const CORNERS: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n";

    fn parsed(text: &str) -> Result<TriangleMesh, ParseError> {
        parse_obj(text.as_bytes(), &ImportOptions::default())
    }

    fn problem(text: &str) -> String {
        parsed(text).unwrap_err().to_string()
    }

    #[test]
    fn faces_are_written_in_many_ways() {
        let plain = parsed(&format!("{CORNERS}f 1 2 4\nf 1 4 3\n")).unwrap();
        for faces in [
            "f 1 2 4 3",
            "f 1/9/9 2/9 4//9 3",
            "f -4 -3 -1 -2",
            "f 1 2 \\\n4 3 # a square",
            "# square\r\no square\ng a b\ns off\nusemtl red\nvn 0 0 1\nf\t1  2 4 3\r\n",
        ] {
            assert_eq!(parsed(&format!("{CORNERS}{faces}")), Ok(plain.clone()), "{faces}");
        }
        assert_eq!(parsed(&format!("f 1 2 4 3\n{CORNERS}")), Ok(plain), "faces before vertices");
    }

    #[test]
    fn colours_and_weights_after_the_coordinates_are_ignored() {
        let mesh = parsed("v 0 0 0 1.0\nv 1 0 0 0.5 0.5 0.5\nv 0 1 0\nf 1 2 3").unwrap();
        assert_eq!(mesh.vertices(), [DVec3::ZERO, DVec3::X, DVec3::Y]);
    }

    #[test]
    fn scale_and_axes_are_applied() {
        let options = ImportOptions { scale: 0.001, up: UpAxis::Z };
        let mesh = parse_obj(b"v 1 2 3\nv 2 2 3\nv 1 2 4\nf 1 2 3", &options).unwrap();
        assert_eq!(mesh.vertices()[0], DVec3::new(0.001, 0.003, -0.002));
        assert!((mesh.area() - 0.5e-6).abs() < 1e-20);
    }

    #[test]
    fn errors_say_where_and_what_would_be_right() {
        assert_eq!(problem("v 0 0\n"), "line 1: a coordinate should follow, but nothing does");
        for (faces, part) in [
            ("f 1 2 5", "line 5: a face uses vertex 5, but the file has 4 vertices, numbered from 1"),
            ("\nf 0 1 2", "line 6: a face uses vertex 0"),
            ("f -5 1 2", "line 5: a face uses vertex -5"),
            ("f -9223372036854775808 1 2", "uses vertex -9223372036854775808"),
            ("f 99999999999 1 2", "uses vertex 99999999999"),
            ("f 999999999999999999999 1 2", "expected a corner such as"),
            ("f 1 2", "line 5: expected a face with at least three corners, found `f 1 2`"),
            ("f a b c", "found `a`"),
            ("w 1 2 3", "line 5: expected a statement of the OBJ format such as v, vn, f or #, found `w`"),
            ("v 1 nan 2", "line 5: the coordinate NaN is not finite"),
            ("v 1 2 1e300", "beyond 1e40 m"),
        ] {
            let text = problem(&format!("{CORNERS}{faces}\n"));
            assert!(text.contains(part), "{text}");
        }
        assert!(problem("").contains("no triangle with an area (0 without"));
        assert!(problem(CORNERS).contains("no triangle"));
    }

    #[test]
    fn a_scale_must_be_positive() {
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(parse_obj(b"", &ImportOptions { scale, up: UpAxis::Y }).unwrap_err().to_string().contains("scale"));
        }
    }
}
