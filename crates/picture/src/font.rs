//! A small alphabet of strokes, drawn for this crate in the manner of technical lettering.
//!
//! Units: capitals and digits are 7 high, small letters 5, descenders reach −2; y points up from the base line. A path
//! is a list of `M x y` (move), `L x y` (line), `Q cx cy x y` (quadratic curve) and `Z` (close).

use std::sync::LazyLock;

use glam::Vec2;

/// Height of capitals and digits.
pub(crate) const CAPITAL: f32 = 7.0;
/// Lowest point of any letter.
pub(crate) const DESCENT: f32 = -2.0;
/// Free space between letters.
const GAP: f32 = 1.55;
/// Straight pieces per curve.
const PIECES: usize = 6;

/// A letter: straight pieces, and the width they take.
#[derive(Debug, Clone, Default)]
pub(crate) struct Glyph {
    /// End points of the pieces.
    pub(crate) strokes: Vec<[Vec2; 2]>,
    width: f32,
}

/// The letters of a text with the position where each begins, and the width of all.
pub(crate) fn set(text: &str) -> (Vec<(f32, &'static Glyph)>, f32) {
    let mut x = 0.0;
    let letters: Vec<_> = text
        .chars()
        .map(|c| {
            let glyph = glyph(c);
            let letter = (x, glyph);
            x += glyph.width + GAP;
            letter
        })
        .collect();
    (letters, (x - GAP).max(0.0))
}

fn glyph(letter: char) -> &'static Glyph {
    static LETTERS: LazyLock<Vec<(char, Glyph)>> = LazyLock::new(|| {
        let mut letters: Vec<_> = PATHS.iter().map(|&(c, width, path)| (c, Glyph::new(width, path))).collect();
        letters.sort_by_key(|(c, _)| *c);
        letters
    });
    static UNKNOWN: LazyLock<Glyph> = LazyLock::new(|| Glyph::new(3.6, "M0 0 L3.6 0 L3.6 7 L0 7 Z"));
    match LETTERS.binary_search_by_key(&letter, |(c, _)| *c) {
        Ok(i) => LETTERS.get(i).map_or(&UNKNOWN, |(_, glyph)| glyph),
        Err(_) => &UNKNOWN,
    }
}

impl Glyph {
    fn new(width: f32, path: &str) -> Self {
        let mut glyph = Self { strokes: Vec::new(), width };
        let (mut start, mut at) = (Vec2::ZERO, Vec2::ZERO);
        for (command, points) in commands(path) {
            match (command, points.as_slice()) {
                ('M', &[to]) => (start, at) = (to, to),
                ('L', &[to]) => at = glyph.line(at, to),
                ('Q', &[control, to]) => at = glyph.curve(at, control, to),
                _ => at = glyph.line(at, start),
            }
        }
        glyph
    }

    fn line(&mut self, from: Vec2, to: Vec2) -> Vec2 {
        self.strokes.push([from, to]);
        to
    }

    fn curve(&mut self, from: Vec2, control: Vec2, to: Vec2) -> Vec2 {
        let at = |i: usize| {
            let t = i as f32 / PIECES as f32;
            from * ((1.0 - t) * (1.0 - t)) + control * (2.0 * t * (1.0 - t)) + to * (t * t)
        };
        self.strokes.extend((0..PIECES).map(|i| [at(i), at(i + 1)]));
        to
    }
}

/// The commands of a path with their points.
fn commands(path: &str) -> impl Iterator<Item = (char, Vec<Vec2>)> {
    let starts = path.char_indices().filter(|(_, c)| c.is_ascii_uppercase());
    starts.map(|(i, command)| {
        let rest = &path[i + 1..];
        let numbers = &rest[..rest.find(|c: char| c.is_ascii_uppercase()).unwrap_or(rest.len())];
        let numbers: Vec<f32> = numbers.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        (command, numbers.chunks_exact(2).map(|p| Vec2::new(p[0], p[1])).collect())
    })
}

/// Letter, width and path.
#[rustfmt::skip]
const PATHS: &[(char, f32, &str)] = &[
    (' ', 2.0, ""),
    ('0', 4.0, "M0 2 Q0 0 2 0 Q4 0 4 2 L4 5 Q4 7 2 7 Q0 7 0 5 Z"),
    ('1', 4.0, "M0.7 5.6 L2.4 7 L2.4 0"),
    ('2', 4.0, "M0 5.2 Q0 7 2 7 Q4 7 4 5.2 Q4 4 2.8 2.9 L0 0 L4 0"),
    ('3', 4.0, "M0.2 6.1 Q0.8 7 2 7 Q3.8 7 3.8 5.3 Q3.8 3.7 2 3.7 Q4 3.7 4 1.9 Q4 0 2 0 Q0.6 0 0 1"),
    ('4', 4.0, "M3 0 L3 7 L0 2.1 L4.1 2.1"),
    ('5', 4.0, "M3.6 7 L0.6 7 L0.3 3.8 Q1 4.5 2 4.5 Q4 4.5 4 2.3 Q4 0 2 0 Q0.6 0 0 0.9"),
    ('6', 4.0, "M3.5 6.4 Q3 7 2.1 7 Q0 7 0 4 L0 2.2 Q0 0 2 0 Q4 0 4 2.1 Q4 4.2 2 4.2 Q0.4 4.2 0 2.4"),
    ('7', 4.0, "M0 7 L4 7 L1.4 0"),
    ('8', 4.0, "M2 3.8 Q0.3 3.8 0.3 5.4 Q0.3 7 2 7 Q3.7 7 3.7 5.4 Q3.7 3.8 2 3.8 Q0 3.8 0 1.9 Q0 0 2 0 Q4 0 4 1.9 Q4 3.8 2 3.8"),
    ('9', 4.0, "M0.5 0.6 Q1 0 1.9 0 Q4 0 4 3 L4 4.8 Q4 7 2 7 Q0 7 0 4.9 Q0 2.8 2 2.8 Q3.6 2.8 4 4.6"),
    ('a', 3.5, "M0.3 4.2 Q0.9 5 1.9 5 Q3.5 5 3.5 3.4 L3.5 0 M3.5 2.9 L1.7 2.9 Q0 2.9 0 1.45 Q0 0 1.5 0 Q2.9 0 3.5 1.5"),
    ('b', 3.8, "M0 7 L0 0 M0 3 Q0 5 1.9 5 Q3.8 5 3.8 3 L3.8 2 Q3.8 0 1.9 0 Q0 0 0 2"),
    ('c', 3.4, "M3.4 4.1 Q2.9 5 1.9 5 Q0 5 0 3 L0 2 Q0 0 1.9 0 Q2.9 0 3.4 0.9"),
    ('d', 3.8, "M3.8 7 L3.8 0 M3.8 3 Q3.8 5 1.9 5 Q0 5 0 3 L0 2 Q0 0 1.9 0 Q3.8 0 3.8 2"),
    ('e', 3.8, "M0 2.7 L3.8 2.7 L3.8 3 Q3.8 5 1.9 5 Q0 5 0 3 L0 2 Q0 0 1.9 0 Q3.1 0 3.6 0.9"),
    ('f', 2.3, "M2.5 7 Q0.9 7 0.9 5.6 L0.9 0 M0 5 L2.3 5"),
    ('g', 3.8, "M3.8 5 L3.8 -0.4 Q3.8 -2 2 -2 Q0.9 -2 0.3 -1.4 M3.8 3 Q3.8 5 1.9 5 Q0 5 0 3 L0 2 Q0 0 1.9 0 Q3.8 0 3.8 2"),
    ('h', 3.6, "M0 7 L0 0 M0 3 Q0 5 1.9 5 Q3.6 5 3.6 3.2 L3.6 0"),
    ('i', 0.4, "M0.2 0 L0.2 5 M0.2 6.9 L0.2 7"),
    ('j', 1.2, "M1 5 L1 -0.6 Q1 -2 -0.3 -2 M1 6.9 L1 7"),
    ('k', 3.4, "M0 7 L0 0 M3.3 5 L0 1.9 M1.3 3.1 L3.4 0"),
    ('l', 0.4, "M0.2 7 L0.2 0"),
    ('m', 6.0, "M0 5 L0 0 M0 3.2 Q0 5 1.6 5 Q3 5 3 3.3 L3 0 M3 3.2 Q3 5 4.6 5 Q6 5 6 3.3 L6 0"),
    ('n', 3.6, "M0 5 L0 0 M0 3 Q0 5 1.9 5 Q3.6 5 3.6 3.2 L3.6 0"),
    ('o', 3.8, "M0 2 Q0 0 1.9 0 Q3.8 0 3.8 2 L3.8 3 Q3.8 5 1.9 5 Q0 5 0 3 Z"),
    ('p', 3.8, "M0 5 L0 -2 M0 3 Q0 5 1.9 5 Q3.8 5 3.8 3 L3.8 2 Q3.8 0 1.9 0 Q0 0 0 2"),
    ('q', 3.8, "M3.8 5 L3.8 -2 M3.8 3 Q3.8 5 1.9 5 Q0 5 0 3 L0 2 Q0 0 1.9 0 Q3.8 0 3.8 2"),
    ('r', 2.2, "M0 5 L0 0 M0 3 Q0 5 2.2 5"),
    ('s', 3.2, "M3.1 4.2 Q2.6 5 1.6 5 Q0.1 5 0.1 3.8 Q0.1 2.8 1.6 2.6 Q3.2 2.4 3.2 1.3 Q3.2 0 1.6 0 Q0.5 0 0 0.8"),
    ('t', 2.3, "M0.9 6.6 L0.9 1.4 Q0.9 0 2.3 0 M0 5 L2.3 5"),
    ('u', 3.6, "M0 5 L0 1.8 Q0 0 1.7 0 Q3.6 0 3.6 2 M3.6 5 L3.6 0"),
    ('v', 3.6, "M0 5 L1.8 0 L3.6 5"),
    ('w', 5.2, "M0 5 L1.3 0 L2.6 4.6 L3.9 0 L5.2 5"),
    ('x', 3.4, "M0 5 L3.4 0 M3.4 5 L0 0"),
    ('y', 3.6, "M0 5 L1.8 0.2 M3.6 5 L1.5 -1 Q1.1 -2 0 -2"),
    ('z', 3.4, "M0 5 L3.4 5 L0 0 L3.4 0"),
    ('A', 4.6, "M0 0 L2.3 7 L4.6 0 M0.8 2.3 L3.8 2.3"),
    ('B', 4.2, "M0 0 L0 7 L2.2 7 Q3.9 7 3.9 5.4 Q3.9 3.8 2.2 3.8 L0 3.8 M2.2 3.8 Q4.2 3.8 4.2 1.9 Q4.2 0 2.2 0 L0 0"),
    ('C', 4.2, "M4.2 5.6 Q3.6 7 2.2 7 Q0 7 0 4.6 L0 2.4 Q0 0 2.2 0 Q3.6 0 4.2 1.4"),
    ('D', 4.3, "M0 0 L0 7 L1.8 7 Q4.3 7 4.3 4.5 L4.3 2.5 Q4.3 0 1.8 0 Z"),
    ('E', 3.7, "M3.7 7 L0 7 L0 0 L3.7 0 M0 3.7 L3.1 3.7"),
    ('F', 3.6, "M3.6 7 L0 7 L0 0 M0 3.7 L3.1 3.7"),
    ('G', 4.4, "M4.2 5.6 Q3.6 7 2.2 7 Q0 7 0 4.6 L0 2.4 Q0 0 2.2 0 Q4.4 0 4.4 2.4 L4.4 3.1 L2.6 3.1"),
    ('H', 4.2, "M0 0 L0 7 M4.2 0 L4.2 7 M0 3.7 L4.2 3.7"),
    ('I', 0.4, "M0.2 0 L0.2 7"),
    ('J', 3.2, "M3.2 7 L3.2 1.8 Q3.2 0 1.6 0 Q0.4 0 0 1"),
    ('K', 4.2, "M0 7 L0 0 M4.1 7 L0 2.6 M1.4 4 L4.2 0"),
    ('L', 3.5, "M0 7 L0 0 L3.5 0"),
    ('M', 5.2, "M0 0 L0 7 L2.6 2.4 L5.2 7 L5.2 0"),
    ('N', 4.3, "M0 0 L0 7 L4.3 0 L4.3 7"),
    ('O', 4.5, "M0 2.4 Q0 0 2.25 0 Q4.5 0 4.5 2.4 L4.5 4.6 Q4.5 7 2.25 7 Q0 7 0 4.6 Z"),
    ('P', 4.1, "M0 0 L0 7 L2.1 7 Q4.1 7 4.1 5.1 Q4.1 3.1 2.1 3.1 L0 3.1"),
    ('Q', 4.5, "M0 2.4 Q0 0 2.25 0 Q4.5 0 4.5 2.4 L4.5 4.6 Q4.5 7 2.25 7 Q0 7 0 4.6 Z M2.8 1.7 L4.6 -0.6"),
    ('R', 4.2, "M0 0 L0 7 L2.1 7 Q4.1 7 4.1 5.2 Q4.1 3.4 2.1 3.4 L0 3.4 M2.2 3.4 L4.2 0"),
    ('S', 4.1, "M3.9 5.8 Q3.3 7 2 7 Q0.2 7 0.2 5.3 Q0.2 4 2 3.6 Q4.1 3.2 4.1 1.8 Q4.1 0 2 0 Q0.6 0 0 1.2"),
    ('T', 4.4, "M0 7 L4.4 7 M2.2 7 L2.2 0"),
    ('U', 4.2, "M0 7 L0 2.1 Q0 0 2.1 0 Q4.2 0 4.2 2.1 L4.2 7"),
    ('V', 4.4, "M0 7 L2.2 0 L4.4 7"),
    ('W', 6.4, "M0 7 L1.6 0 L3.2 6.2 L4.8 0 L6.4 7"),
    ('X', 4.2, "M0 7 L4.2 0 M4.2 7 L0 0"),
    ('Y', 4.4, "M0 7 L2.2 3.4 L4.4 7 M2.2 3.4 L2.2 0"),
    ('Z', 4.1, "M0 7 L4.1 7 L0 0 L4.1 0"),
    ('.', 0.6, "M0.3 0 L0.3 0.1"),
    (',', 0.8, "M0.5 0.1 L0.1 -1.2"),
    (':', 0.6, "M0.3 0.3 L0.3 0.4 M0.3 4 L0.3 4.1"),
    ('-', 2.6, "M0 2.9 L2.6 2.9"),
    ('−', 3.4, "M0 3.3 L3.4 3.3"),
    ('+', 3.6, "M0 3.3 L3.6 3.3 M1.8 1.5 L1.8 5.1"),
    ('=', 3.6, "M0 2.4 L3.6 2.4 M0 4.3 L3.6 4.3"),
    ('/', 3.2, "M0 -1 L3.2 7.6"),
    ('(', 1.5, "M1.5 8 Q0 6 0 3 Q0 0 1.5 -2"),
    (')', 1.5, "M0 8 Q1.5 6 1.5 3 Q1.5 0 0 -2"),
    ('[', 1.4, "M1.4 7.8 L0 7.8 L0 -1.6 L1.4 -1.6"),
    (']', 1.4, "M0 7.8 L1.4 7.8 L1.4 -1.6 L0 -1.6"),
    ('%', 5.2, "M0.6 0 L4.6 7 M0 5.6 Q0 4.2 1.1 4.2 Q2.2 4.2 2.2 5.6 Q2.2 7 1.1 7 Q0 7 0 5.6 M3 1.4 Q3 0 4.1 0 Q5.2 0 5.2 1.4 Q5.2 2.8 4.1 2.8 Q3 2.8 3 1.4"),
    ('²', 2.2, "M0 6.9 Q0 7.8 1.1 7.8 Q2.2 7.8 2.2 6.9 Q2.2 6.3 1.6 5.8 L0 4.4 L2.2 4.4"),
    ('³', 2.2, "M0.1 7.4 Q0.5 7.8 1.1 7.8 Q2.1 7.8 2.1 7 Q2.1 6.2 1.1 6.2 Q2.2 6.2 2.2 5.3 Q2.2 4.4 1.1 4.4 Q0.4 4.4 0 4.8"),
    ('·', 0.6, "M0.3 3 L0.3 3.1"),
    ('×', 3.2, "M0 1.7 L3.2 4.9 M3.2 1.7 L0 4.9"),
    ('°', 2.0, "M0 6 Q0 5 1 5 Q2 5 2 6 Q2 7 1 7 Q0 7 0 6"),
    ('µ', 3.8, "M0 5 L0 -2 M0 2 Q0 0 1.8 0 Q3.6 0 3.6 2 M3.6 5 L3.6 1 Q3.6 0 4.1 0"),
    ('ρ', 3.8, "M0 -2 L0 3 Q0 5 1.9 5 Q3.8 5 3.8 3 L3.8 2 Q3.8 0 1.9 0 Q0 0 0 2"),
    ('<', 3.4, "M3.4 5.4 L0 3.2 L3.4 1"),
    ('>', 3.4, "M0 5.4 L3.4 3.2 L0 1"),
    ('_', 4.0, "M0 -1 L4 -1"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_has_strokes_within_its_box() {
        for &(c, width, path) in PATHS {
            let glyph = Glyph::new(width, path);
            assert!(c == ' ' || !glyph.strokes.is_empty(), "{c}");
            for p in glyph.strokes.iter().flatten() {
                assert!((-0.5..=width + 0.5).contains(&p.x) && (DESCENT..=CAPITAL + 1.0).contains(&p.y), "{c}: {p}");
            }
        }
    }

    #[test]
    fn letters_are_found_and_differ() {
        let strokes = |c: char| glyph(c).strokes.clone();
        let unknown = strokes('€');
        let all: Vec<char> = ('0'..='9').chain('a'..='z').chain('A'..='Z').chain(".-+/=³²".chars()).collect();
        for (i, &c) in all.iter().enumerate() {
            assert_ne!(strokes(c), unknown, "{c}");
            assert!(all[..i].iter().all(|&other| strokes(other) != strokes(c)), "{c}");
        }
    }

    #[test]
    fn texts_are_as_wide_as_their_letters() {
        assert_eq!(set("").1, 0.0);
        assert_eq!(set("10").1, 8.0 + GAP);
    }
}
