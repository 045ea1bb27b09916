//! Lines and words of text files that need not be valid text.

use super::error::{Place, Problem};

/// The lines of a file, with their numbers from 1.
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    /// Steps over the byte order mark that some editors put first.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), number: 0 }
    }

    /// What follows the lines that were taken.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&b| b == b'\n').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest.get(1..).unwrap_or_default();
        self.number += 1;
        Some((self.number, line.trim_ascii_end()))
    }
}

/// The words of a line.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// A whole file as words, whatever lines they stand on.
pub(super) struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Words<'a> {
    /// Starts after the first `line` lines.
    pub(super) fn new(bytes: &'a [u8], line: usize) -> Self {
        Self { bytes, at: 0, line: line + 1 }
    }

    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        while let Some(byte) = self.bytes.get(self.at).filter(|b| b.is_ascii_whitespace()) {
            self.line += usize::from(*byte == b'\n');
            self.at += 1;
        }
        let rest = self.bytes.get(self.at..)?;
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).filter(|word| !word.is_empty())
    }

    /// How many bytes are left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The line of the word that was taken last.
    pub(super) fn place(&self) -> Place {
        Place::Line(self.line)
    }
}

/// A number, finite or not.
pub(super) fn number(word: &[u8]) -> Result<f64, Problem> {
    let text = std::str::from_utf8(word).ok();
    text.and_then(|text| text.parse().ok()).ok_or_else(|| Problem::expected("a number", word))
}

/// The next three numbers.
pub(super) fn three<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> Result<[f64; 3], Problem> {
    let mut next = || words.next().ok_or(Problem::Ends { expected: "a coordinate" }).and_then(number);
    Ok([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_any_way() {
        let lines: Vec<_> = Lines::new(b"\xef\xbb\xbfa b\r\n\n c\td \nlast").collect();
        assert_eq!(lines, [(1, &b"a b"[..]), (2, b""), (3, b" c\td"), (4, b"last")]);
        assert_eq!(words(b" c\td ").collect::<Vec<_>>(), [b"c", b"d"]);
        assert_eq!(Lines::new(b"").next(), None);
    }

    #[test]
    fn words_know_their_lines() {
        let mut words = Words::new(b" a\n\nb c \n", 4);
        let mut next = || words.next().map(|word| (word.to_vec(), words.place()));
        assert_eq!(next(), Some((b"a".to_vec(), Place::Line(5))));
        assert_eq!(next(), Some((b"b".to_vec(), Place::Line(7))));
        assert_eq!(next(), Some((b"c".to_vec(), Place::Line(7))));
        assert_eq!(next(), None);
        assert_eq!(next(), None);
    }

    #[test]
    fn numbers_are_numbers() {
        assert_eq!(number(b"-1.5e3"), Ok(-1500.0));
        for word in [&b"1,5"[..], b"", b"0x10", b"\xff\xfe", b"--1"] {
            assert!(number(word).is_err(), "{word:?}");
        }
        let long = number(&[b'x'; 1000]).unwrap_err().to_string();
        assert!(long.len() < 100, "{long}");
    }
}
