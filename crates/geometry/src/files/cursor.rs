//! A place in a file that is partly text and partly binary numbers.

use super::error::{ParseError, Place, Problem};

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    /// Lowest byte first.
    Little,
    /// Highest byte first.
    Big,
}

/// Kinds of binary numbers. In text all are written alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

/// The value of a binary number.
enum Value {
    Whole(i64),
    Real(f64),
}

impl Number {
    /// Its size \[bytes\].
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// The value of as many bytes as it has, lowest first; whole numbers too large for us become the largest.
    fn value(self, bytes: [u8; 8]) -> Value {
        let [a, b, c, d, ..] = bytes;
        match self {
            Self::I8 => Value::Whole(i64::from(a as i8)),
            Self::U8 => Value::Whole(i64::from(a)),
            Self::I16 => Value::Whole(i64::from(i16::from_le_bytes([a, b]))),
            Self::U16 => Value::Whole(i64::from(u16::from_le_bytes([a, b]))),
            Self::I32 => Value::Whole(i64::from(i32::from_le_bytes([a, b, c, d]))),
            Self::U32 => Value::Whole(i64::from(u32::from_le_bytes([a, b, c, d]))),
            Self::I64 => Value::Whole(i64::from_le_bytes(bytes)),
            Self::U64 => Value::Whole(i64::try_from(u64::from_le_bytes(bytes)).unwrap_or(i64::MAX)),
            Self::F32 => Value::Real(f64::from(f32::from_le_bytes([a, b, c, d]))),
            Self::F64 => Value::Real(f64::from_le_bytes(bytes)),
        }
    }
}

/// A place in a file.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    form: Form,
    /// Whether all so far was text, so that lines can be counted.
    has_lines: bool,
}

impl<'a> Cursor<'a> {
    /// The beginning of a file of text; steps over the byte order mark that some editors put first.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { bytes, at, form: Form::Text, has_lines: true }
    }

    /// Numbers are written like this from now on.
    pub(super) fn set_form(&mut self, form: Form) {
        self.form = form;
        self.has_lines &= form == Form::Text;
    }

    pub(super) fn is_text(&self) -> bool {
        self.form == Form::Text
    }

    /// Goes to an offset \[bytes\].
    pub(super) fn move_to(&mut self, at: usize) {
        self.at = at.min(self.bytes.len());
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// What is wrong at an offset \[bytes\].
    pub(super) fn error_at(&self, offset: usize, problem: Problem) -> ParseError {
        let before = self.bytes.get(..offset).unwrap_or(self.bytes);
        let lines = before.iter().filter(|&&b| b == b'\n').count();
        problem.at(if self.has_lines { Place::Line(lines + 1) } else { Place::Byte(offset) })
    }

    /// What is wrong here, before what was read last.
    pub(super) fn error(&self, problem: Problem) -> ParseError {
        let back = self.bytes[..self.at].iter().rev().take_while(|b| !b.is_ascii_whitespace()).count();
        self.error_at(if self.is_text() { self.at - back } else { self.at }, problem)
    }

    /// Where the next number begins \[bytes\].
    pub(super) fn start(&mut self) -> usize {
        if self.is_text() {
            self.skip_blanks();
        }
        self.at
    }

    fn skip_blanks(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(rest.len());
    }

    /// The next word.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then_some(&rest[..end])
    }

    /// The next word, without taking it.
    pub(super) fn peek(&self) -> Option<&'a [u8]> {
        self.clone().word()
    }

    /// The rest of the line, without blanks around it; steps to the next line.
    pub(super) fn line(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        rest[..end].trim_ascii()
    }

    /// Steps behind the next occurrence of some bytes.
    pub(super) fn skip_behind(&mut self, wanted: &[u8]) -> Option<()> {
        let rest = &self.bytes[self.at..];
        self.at += rest.windows(wanted.len()).position(|window| window == wanted)? + wanted.len();
        Some(())
    }

    /// The next so many bytes.
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    fn binary(&mut self, number: Number) -> Result<Value, ParseError> {
        let size = number.size();
        let Some(found) = self.take(size) else {
            return Err(self.error(Problem::Ends { expected: "a number" }));
        };
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(found);
        if self.form == Form::Big {
            bytes[..size].reverse();
        }
        Ok(number.value(bytes))
    }

    fn text<T: std::str::FromStr>(&mut self, expected: &'static str) -> Result<T, ParseError> {
        let Some(word) = self.word() else { return Err(self.error(Problem::Ends { expected })) };
        let parsed = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
        parsed.ok_or_else(|| self.error(Problem::expected(expected, word)))
    }

    /// The next number, which must be whole.
    pub(super) fn whole(&mut self, number: Number) -> Result<i64, ParseError> {
        const EXPECTED: &str = "a whole number";
        if self.form == Form::Text {
            return self.text(EXPECTED);
        }
        match self.binary(number)? {
            Value::Whole(value) => Ok(value),
            Value::Real(value) => Err(self.error(Problem::expected(EXPECTED, value.to_string().as_bytes()))),
        }
    }

    /// The next number.
    pub(super) fn real(&mut self, number: Number) -> Result<f64, ParseError> {
        if self.form == Form::Text {
            return self.text("a number");
        }
        Ok(match self.binary(number)? {
            Value::Whole(value) => value as f64,
            Value::Real(value) => value,
        })
    }

    /// A number of things to come, each of which takes at least so many bytes; in text, at least one for each of its
    /// numbers. Refused when the file has no room for them.
    pub(super) fn count(&mut self, what: &str, number: Number, each: [usize; 2]) -> Result<usize, ParseError> {
        let start = self.start();
        let count = self.natural(number)?;
        self.check_room(what, count, each).map_err(|problem| self.error_at(start, problem))
    }

    /// The next number, which must be whole and not negative.
    pub(super) fn natural(&mut self, number: Number) -> Result<u64, ParseError> {
        let start = self.start();
        let value = self.whole(number)?;
        let negative = |_| Problem::expected("a number that is not negative", value.to_string().as_bytes());
        u64::try_from(value).map_err(|error| self.error_at(start, negative(error)))
    }

    /// Whether so many things have room in what is left.
    pub(super) fn check_room(&self, what: &str, count: u64, each: [usize; 2]) -> Result<usize, Problem> {
        let [text, binary] = each;
        let each = if self.form == Form::Text { text } else { binary };
        let needed = u128::from(count) * each as u128;
        if needed > self.left() as u128 {
            return Err(Problem::Announced { what: what.into(), count, needed, left: self.left() });
        }
        // What has room in memory can be counted.
        Ok(count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lines_and_numbers_follow_each_other() {
        let mut cursor = Cursor::new(b"\xef\xbb\xbfname 12 -1.5e3\n  the rest \nlast");
        assert_eq!(cursor.peek(), Some(&b"name"[..]));
        assert_eq!(cursor.word(), Some(&b"name"[..]));
        assert_eq!((cursor.whole(Number::I32), cursor.real(Number::F64)), (Ok(12), Ok(-1500.0)));
        assert_eq!(
            (cursor.line(), cursor.line(), cursor.line(), cursor.line()),
            (&b""[..], &b"the rest"[..], &b"last"[..], &b""[..])
        );
        assert_eq!((cursor.word(), cursor.left()), (None, 0));
    }

    #[test]
    fn binary_numbers_have_either_byte_order() {
        let mut cursor = Cursor::new(b"\x01\x02\x00\x00\x00\x03\xff\xff");
        cursor.set_form(Form::Little);
        assert_eq!((cursor.whole(Number::U8), cursor.whole(Number::U16)), (Ok(1), Ok(2)));
        cursor.set_form(Form::Big);
        assert_eq!(
            (cursor.whole(Number::I16), cursor.whole(Number::U8), cursor.whole(Number::I16)),
            (Ok(0), Ok(3), Ok(-1))
        );
        let error = cursor.whole(Number::I32).unwrap_err().to_string();
        assert!(error.contains("byte 8"), "{error}");
        let mut cursor = Cursor::new(b"\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x80\x3f");
        cursor.set_form(Form::Little);
        assert_eq!((cursor.whole(Number::U64), cursor.real(Number::F32)), (Ok(i64::MAX), Ok(1.0)));
    }

    #[test]
    fn errors_name_the_line_of_the_word() {
        let mut cursor = Cursor::new(b"1\n2\nthree\n");
        assert!(cursor.whole(Number::I32).is_ok() && cursor.whole(Number::I32).is_ok());
        let error = cursor.whole(Number::I32).unwrap_err().to_string();
        assert_eq!(error, "line 3: expected a whole number, found `three`");
        let mut cursor = Cursor::new(b"a\n4000000000 1 2");
        cursor.word();
        let error = cursor.count("nodes", Number::I32, [4, 28]).unwrap_err().to_string();
        assert!(error.starts_with("line 2: 4000000000 nodes are announced"), "{error}");
        let error = Cursor::new(b"\n\n-3").count("nodes", Number::I32, [1, 1]).unwrap_err().to_string();
        assert_eq!(error, "line 3: expected a number that is not negative, found `-3`");
    }

    #[test]
    fn behind_binary_numbers_there_are_no_lines() {
        let mut cursor = Cursor::new(b"\n\n\n\nword");
        cursor.set_form(Form::Little);
        assert_eq!(cursor.whole(Number::I32), Ok(0x0a0a_0a0a));
        cursor.set_form(Form::Text);
        let error = cursor.whole(Number::I32).unwrap_err().to_string();
        assert_eq!(error, "byte 4: expected a whole number, found `word`");
    }
}
