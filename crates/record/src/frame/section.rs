//! Named arrays one behind the other.
//!
//! ```text
//! count     u32      number of sections, then for each:
//! name      u8 + UTF-8, such as "particles/positions"
//! type      u8 + "u8", "u16", "u32", "u64", "f32" or "f64"
//! filter    u8 + "shuffle" or "delta-shuffle"
//! columns   u32
//! rows      u64
//! stored    u64      bytes that follow
//! payload            see `shuffle`
//! ```
//! A reader passes over sections whose name it does not know: a later program can add some, as long as it does without
//! them in older files.

use std::collections::BTreeMap;

use bytemuck::Pod;
use glam::Vec3;

use super::shuffle::{Filter, MAX_RATIO, Word, pack, unpack};
use crate::envelope::{Reader, push_short_text};
use crate::error::{FileKind, RecordError, Result};

/// A plain value made of `COLUMNS` equal words: one row of a section.
pub(crate) trait Row: Pod {
    type Word: Word;
    /// Name of the type in files.
    const TYPE: &'static str;
    const COLUMNS: usize = size_of::<Self>() / size_of::<Self::Word>();
}

macro_rules! row {
    ($($row:ty, $word:ty, $name:literal);*) => {$(
        impl Row for $row {
            type Word = $word;
            const TYPE: &'static str = $name;
        }
    )*};
}
row!(u8, u8, "u8"; u16, u16, "u16"; u32, u32, "u32"; u64, u64, "u64"; f32, u32, "f32"; f64, u64, "f64";
    [u32; 3], u32, "u32"; [f32; 3], u32, "f32"; Vec3, u32, "f32"; [Vec3; 2], u32, "f32");

/// Appends sections to a file.
#[derive(Default)]
pub(crate) struct SectionWriter {
    count: u32,
    bytes: Vec<u8>,
}

impl SectionWriter {
    pub(crate) fn put<T: Row>(&mut self, name: &str, rows: &[T]) {
        let (filter, packed) = pack::<T::Word>(bytemuck::cast_slice(rows), T::COLUMNS);
        self.count += 1;
        for text in [name, T::TYPE, filter.name()] {
            push_short_text(&mut self.bytes, text);
        }
        self.bytes.extend((T::COLUMNS as u32).to_le_bytes());
        self.bytes.extend((rows.len() as u64).to_le_bytes());
        self.bytes.extend((packed.len() as u64).to_le_bytes());
        self.bytes.extend(packed);
    }

    /// Texts as their bytes one behind the other, and the end of each in a section of its own.
    pub(crate) fn put_texts<'a>(&mut self, name: &str, texts: impl Iterator<Item = &'a str>) {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for text in texts {
            bytes.extend_from_slice(text.as_bytes());
            ends.push(bytes.len() as u64);
        }
        self.put(name, &bytes);
        self.put(&format!("{name}/ends"), &ends);
    }

    pub(crate) fn append_to(&self, file: &mut Vec<u8>) {
        file.extend(self.count.to_le_bytes());
        file.extend_from_slice(&self.bytes);
    }
}

struct Section<'a> {
    kind: &'a str,
    filter: &'a str,
    columns: u32,
    rows: u64,
    packed: &'a [u8],
}

/// The sections of a file by name, still packed.
pub(crate) struct Sections<'a>(BTreeMap<&'a str, Section<'a>>);

impl<'a> Sections<'a> {
    pub(crate) fn read(mut reader: Reader<'a>) -> Result<Self> {
        let mut sections = BTreeMap::new();
        for _ in 0..reader.u32()? {
            let (name, section) = read_section(&mut reader)?;
            if sections.insert(name, section).is_some() {
                return Err(corrupt(name, "it is there twice"));
            }
        }
        reader.finish()?;
        Ok(Self(sections))
    }

    /// The rows of a section.
    pub(crate) fn get<T: Row>(&self, name: &str) -> Result<Vec<T>> {
        let section = self.0.get(name).ok_or_else(|| corrupt(name, "it is missing"))?;
        if section.kind != T::TYPE || section.columns as usize != T::COLUMNS {
            let found = format!("it holds {} × {}, not {} × {}", section.kind, section.columns, T::TYPE, T::COLUMNS);
            return Err(corrupt(name, found));
        }
        let filter = Filter::ALL.into_iter().find(|f| f.name() == section.filter);
        let filter = filter.ok_or_else(|| corrupt(name, format!("its filter {:?} is unknown", section.filter)))?;
        let mut rows = section.room_for_rows::<T>(name)?;
        let words: &mut [T::Word] = bytemuck::cast_slice_mut(&mut rows);
        unpack(filter, T::COLUMNS, section.packed, words).map_err(|reason| corrupt(name, reason))?;
        Ok(rows)
    }

    /// The rows of a section that older files lack.
    pub(crate) fn get_if_there<T: Row>(&self, name: &str) -> Result<Vec<T>> {
        if self.0.contains_key(name) { self.get(name) } else { Ok(Vec::new()) }
    }

    /// The only row of a section.
    pub(crate) fn get_one<T: Row>(&self, name: &str) -> Result<T> {
        match self.get(name)?[..] {
            [value] => Ok(value),
            _ => Err(corrupt(name, "it has not exactly one value")),
        }
    }

    /// Texts written by [`SectionWriter::put_texts`], at most `limit`.
    pub(crate) fn get_texts(&self, name: &str, limit: usize) -> Result<Vec<String>> {
        let bytes = self.get::<u8>(name)?;
        let ends = self.get::<u64>(&format!("{name}/ends"))?;
        if ends.len() > limit {
            return Err(corrupt(name, format!("it has {} entries, the most is {limit}", ends.len())));
        }
        let mut start = 0;
        let text = |end: u64| {
            let end = usize::try_from(end).unwrap_or(usize::MAX);
            let bytes = bytes.get(start..end).ok_or_else(|| corrupt(name, "its ends are out of order"))?;
            start = end;
            std::str::from_utf8(bytes).map(String::from).map_err(|_| corrupt(name, "it is not UTF-8"))
        };
        ends.into_iter().map(text).collect()
    }
}

impl Section<'_> {
    /// Rows of zeros, refused before any memory is taken when the stored bytes cannot hold that many.
    fn room_for_rows<T: Row>(&self, name: &str) -> Result<Vec<T>> {
        let most = (self.packed.len() as u64).saturating_mul(MAX_RATIO);
        let count = match self.rows.checked_mul(size_of::<T>() as u64) {
            Some(bytes) if bytes <= most => usize::try_from(self.rows).ok(),
            _ => None,
        };
        let reason = || corrupt(name, format!("{} rows cannot be in {} bytes", self.rows, self.packed.len()));
        let count = count.ok_or_else(reason)?;
        let mut rows = Vec::new();
        rows.try_reserve_exact(count).map_err(|_| corrupt(name, format!("no memory for its {count} rows")))?;
        rows.resize(count, T::zeroed());
        Ok(rows)
    }
}

fn read_section<'a>(reader: &mut Reader<'a>) -> Result<(&'a str, Section<'a>)> {
    let name = reader.short_text()?;
    let kind = reader.short_text()?;
    let filter = reader.short_text()?;
    let columns = reader.u32()?;
    let rows = reader.u64()?;
    let stored = reader.u64()?;
    Ok((name, Section { kind, filter, columns, rows, packed: reader.bytes(stored)? }))
}

fn corrupt(section: &str, reason: impl std::fmt::Display) -> RecordError {
    RecordError::Corrupt { kind: FileKind::Frame, reason: format!("section {section:?}: {reason}") }
}
