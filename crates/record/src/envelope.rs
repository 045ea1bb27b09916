//! What all our binary files have in common.
//!
//! ```text
//! magic     8 bytes   tells the kind; begins with a byte that is no text and holds line ends that a text transfer spoils
//! version   u32       of the format
//! length    u64       of the whole file
//! contents
//! checksum  u64       xxh3 of everything before it
//! ```
//! All numbers are little endian.

use meniscus_core::checksum;

use crate::error::{FileKind, RecordError, Result};

const HEAD: usize = 20;
const TAIL: usize = 8;

/// One kind of file.
#[derive(Clone, Copy)]
pub(crate) struct Envelope {
    pub(crate) kind: FileKind,
    pub(crate) magic: [u8; 8],
    pub(crate) version: u32,
}

impl Envelope {
    /// A file begun: the contents are pushed behind, then it is [sealed](Self::seal).
    pub(crate) fn begin(&self) -> Vec<u8> {
        let mut bytes = self.magic.to_vec();
        bytes.extend(self.version.to_le_bytes());
        bytes.extend(0u64.to_le_bytes());
        bytes
    }

    /// Fills the length in and adds the checksum.
    pub(crate) fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
        let length = (bytes.len() + TAIL) as u64;
        for (to, from) in bytes.iter_mut().skip(12).zip(length.to_le_bytes()) {
            *to = from;
        }
        let sum = checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// The contents of a file whose kind, version, length and checksum are right.
    pub(crate) fn open<'a>(&self, bytes: &'a [u8]) -> Result<Reader<'a>> {
        let mut head = self.head(bytes)?;
        let version = head.u32()?;
        if version != self.version {
            return Err(RecordError::OtherFormat { kind: self.kind, found: version, supported: self.version });
        }
        let (expected, found) = (head.u64()?, bytes.len() as u64);
        if found < expected {
            return Err(RecordError::Truncated { kind: self.kind, expected, found });
        }
        if found > expected || bytes.len() < HEAD + TAIL {
            return Err(head.corrupt("its length is not the one it was written with"));
        }
        let (sealed, sum) = bytes.split_last_chunk().ok_or_else(|| head.corrupt("it has no checksum"))?;
        if checksum(sealed) != u64::from_le_bytes(*sum) {
            return Err(head.corrupt("its checksum does not agree with its contents"));
        }
        Ok(Reader { kind: self.kind, bytes: sealed.get(HEAD..).unwrap_or_default() })
    }

    fn head<'a>(&self, bytes: &'a [u8]) -> Result<Reader<'a>> {
        let known = bytes.len().min(self.magic.len());
        if bytes.get(..known) != self.magic.get(..known) {
            return Err(RecordError::NotThisKind { kind: self.kind });
        }
        if bytes.len() < HEAD + TAIL {
            let (expected, found) = ((HEAD + TAIL) as u64, bytes.len() as u64);
            return Err(RecordError::Truncated { kind: self.kind, expected, found });
        }
        Ok(Reader { kind: self.kind, bytes: bytes.get(known..).unwrap_or_default() })
    }
}

/// Takes a file apart from front to back.
pub(crate) struct Reader<'a> {
    kind: FileKind,
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// The error for contents that break the rules of the format.
    pub(crate) fn corrupt(&self, reason: impl Into<String>) -> RecordError {
        RecordError::Corrupt { kind: self.kind, reason: reason.into() }
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (chunk, rest) = self.bytes.split_first_chunk().ok_or_else(|| self.corrupt("its contents end too early"))?;
        self.bytes = rest;
        Ok(*chunk)
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        self.chunk().map(u8::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        self.chunk().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        self.chunk().map(u64::from_le_bytes)
    }

    /// The next `length` bytes.
    pub(crate) fn bytes(&mut self, length: u64) -> Result<&'a [u8]> {
        let split = usize::try_from(length).ok().and_then(|n| self.bytes.split_at_checked(n));
        let (bytes, rest) = split.ok_or_else(|| self.corrupt("a length in it reaches past its end"))?;
        self.bytes = rest;
        Ok(bytes)
    }

    /// A text of at most 255 bytes behind its length.
    pub(crate) fn short_text(&mut self) -> Result<&'a str> {
        let length = self.u8()?;
        let bytes = self.bytes(length.into())?;
        std::str::from_utf8(bytes).map_err(|_| self.corrupt("a name in it is not UTF-8"))
    }

    /// All must have been read.
    pub(crate) fn finish(self) -> Result<()> {
        if self.bytes.is_empty() { Ok(()) } else { Err(self.corrupt("it has bytes that belong to nothing")) }
    }
}

/// Pushes a text behind its length, cut to 255 bytes.
pub(crate) fn push_short_text(bytes: &mut Vec<u8>, text: &str) {
    let text = &text[..text.floor_char_boundary(255)];
    bytes.push(text.len() as u8);
    bytes.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENVELOPE: Envelope = Envelope { kind: FileKind::Frame, magic: *b"\x89TEST\r\n\n", version: 3 };

    fn sample() -> Vec<u8> {
        let mut bytes = ENVELOPE.begin();
        push_short_text(&mut bytes, "water");
        bytes.extend(7u64.to_le_bytes());
        Envelope::seal(bytes)
    }

    #[test]
    fn what_goes_in_comes_out() {
        let bytes = sample();
        let mut reader = ENVELOPE.open(&bytes).unwrap();
        assert_eq!((reader.short_text().unwrap(), reader.u64().unwrap()), ("water", 7));
        reader.finish().unwrap();
    }

    #[test]
    fn every_kind_of_damage_has_its_own_error() {
        let bytes = sample();
        assert!(matches!(ENVELOPE.open(b"not at all"), Err(RecordError::NotThisKind { .. })));
        assert!(matches!(ENVELOPE.open(b""), Err(RecordError::Truncated { .. })));
        assert!(matches!(ENVELOPE.open(&bytes[..bytes.len() - 1]), Err(RecordError::Truncated { .. })));
        assert!(matches!(ENVELOPE.open(&[&bytes[..], b"x"].concat()), Err(RecordError::Corrupt { .. })));
        let newer = Envelope { version: 4, ..ENVELOPE };
        assert!(matches!(newer.open(&bytes), Err(RecordError::OtherFormat { found: 3, supported: 4, .. })));
        let mut flipped = bytes;
        flipped[25] ^= 1;
        assert!(matches!(ENVELOPE.open(&flipped), Err(RecordError::Corrupt { .. })));
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let mut bytes = Vec::new();
        push_short_text(&mut bytes, &"ü".repeat(200));
        assert_eq!((bytes[0], bytes.len()), (254, 255));
    }
}
